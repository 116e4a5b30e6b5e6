/* `rigor converge`: one scene with steps of several sizes; how fast the infeasibility and the
 * differences between trajectories shrink.
 *
 * Infeasibility is the deepest penetration of any pair at any step. Hart and Anitescu 2010, Theorem
 * 10: at most C |v|^2 h^2, so that its order should be 2 for gamma > 0, 1 for gamma = 0, and
 * I / (v h)^2 the same for all steps (v: the top speed of any body's centre).
 *
 * The trajectory is judged by the centres of all bodies at the end. With no reference its error is
 * estimated by differences between runs, D = C |a^p - b^p| for steps a and b; orders p are fitted
 * to that, so that they are right for any list of steps (for errors of the form C h^p). Motion that
 * depends sensitively on its beginning, as of a heap of bodies after impacts, has no order: the
 * differences show that. The analytic method is a reference of its own kind: nothing of it depends
 * on the step, so that the differences are errors and not estimates of them. */
#include "cli_converge.h"
#include "cli_gnuplot.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char cli_converge_help[] =
    "Usage: rigor converge SCENE [NAME=VALUE ...] --steps LIST [OPTION ...]\n"
    "\n"
    "Runs a scene with steps of several sizes and prints how the errors shrink with the step:\n"
    "the infeasibility (deepest penetration of any pair at any step) and the difference\n"
    "between the trajectories (centres of all bodies at the end), with the observed orders,\n"
    "pair by pair and by least squares over the finer half of the steps. SCENE and NAME=VALUE\n"
    "as in `rigor run`. Steps are changed a little where that makes all runs end at the same\n"
    "time.\n"
    "\n"
    "Options (lists are separated by commas):\n"
    "      --steps LIST     seconds of a step, at least two: 0.01,1/240\n"
    "      --gammas LIST    shares of a penetration that a step takes back, 0 to 1: a grid\n"
    "      --reference R    what trajectories are compared with: successive (the next finer\n"
    "                       step), finest, or analytic (the event-driven method, whose\n"
    "                       error is that of its tolerance, not of the step)\n"
    "      --method NAME    step method instead of the scene's; with --reference analytic,\n"
    "                       stepping unless said otherwise\n"
    "      --solver NAME    solver of contact problems instead of the scene's\n"
    "      --friction F     cone, or polygon:K\n"
    "      --duration S     seconds to simulate instead of the scene's\n"
    "      --threads N      threads; the results do not depend on it\n"
    "      --plot FILE      plot of it all as SVG (needs gnuplot)\n"
    "  -f, --overwrite      replace FILE if it exists\n"
    "      --json           report as one JSON object on one line\n"
    "  -q, --quiet          no progress bar\n"
    "  -h, --help           this text\n"
    "\n"
    "Exit codes: 0 done, 1 a run could not continue, 2 usage, 3 the scene cannot be used,\n"
    "4 output cannot be written, or gnuplot is missing.\n"
    "\n"
    "Examples:\n"
    "  rigor converge pyramid1 --steps 0.02,0.01,0.005,0.002 --plot pyramid1.svg\n"
    "  rigor converge scenes/pivoting-rod.yaml --steps 0.02,0.01,0.005 --gammas 0,0.5,1\n"
    "  rigor converge spinning-top --steps 1/60,1/120,1/240 --reference analytic\n"
    "  rigor converge brick-stack mu=0 --steps 0.01,0.005,0.002 --reference analytic\n";

/* Infeasibility below this, in metres times the size of the scene (at least 1), is rounding and the
 * tolerance of solvers: it has no order. */
#define ROUNDING 1e-10
/* Likewise of differences from the analytic method, which keeps resting bodies a gap apart (of
 * 2e-10 of their size) that the stepping method closes. */
#define AGREEMENT 1e-9
/* Orders are looked for in this range. */
#define LEAST_ORDER -4.0
#define MOST_ORDER  12.0

static const char *const reference_names[] = {"successive", "finest", "analytic"};

/* A figure that is C |a^p - b^p|. */
typedef struct sample {
    double a, b; /* s; b is 0 where the reference is exact */
    double value;
} sample;

enum {
    OPTION_STEPS,
    OPTION_GAMMAS,
    OPTION_REFERENCE,
    OPTION_METHOD,
    OPTION_SOLVER,
    OPTION_FRICTION,
    OPTION_DURATION,
    OPTION_THREADS,
    OPTION_PLOT,
    OPTION_JSON,
    OPTION_QUIET,
    OPTION_OVERWRITE,
    OPTION_HELP,
    OPTION_COUNT
};

/* ---- orders ---- */

/* log of |a^p - b^p| / |p|, which goes smoothly through p = 0. */
static double log_model(const sample *s, double p) {
    if (s->b == 0)
        return p * log(s->a);
    double ratio = log(s->a / s->b);
    /* a^p - b^p = b^p (e^(p ratio) - 1) */
    double factor = fabs(p) * ratio < 1e-9 ? ratio : expm1(p * ratio) / p;
    return p * log(s->b) + log(fabs(factor));
}

/* How badly C |a^p - b^p| fits with the best C: variance of the logarithms. */
static double misfit(const sample *samples, size_t count, double p) {
    double sum = 0, squares = 0;
    for (size_t i = 0; i < count; i++)
        sum += log(samples[i].value) - log_model(&samples[i], p);
    for (size_t i = 0; i < count; i++) {
        double rest = log(samples[i].value) - log_model(&samples[i], p) - sum / (double)count;
        squares += rest * rest;
    }
    return squares;
}

/* The order that fits best, by least squares; NaN where there is none (fewer than two figures above
 * zero, or an order out of all range). A scan finds the valley, golden sections its bottom. */
static double fit_order(const sample *samples, size_t count) {
    enum { SCAN = 256, SECTIONS = 80 };
    const double golden = 0.6180339887498949, wide = (MOST_ORDER - LEAST_ORDER) / SCAN;
    double best = LEAST_ORDER, least = INFINITY;
    for (size_t i = 0; i < count; i++)
        if (!(samples[i].value > 0))
            return NAN;
    if (count < 2)
        return NAN;
    for (int i = 0; i <= SCAN; i++) {
        double p = LEAST_ORDER + i * wide, bad = misfit(samples, count, p);
        if (bad < least) {
            least = bad;
            best = p;
        }
    }
    double low = best - wide, high = best + wide;
    for (int i = 0; i < SECTIONS; i++) {
        double left = high - golden * (high - low), right = low + golden * (high - low);
        if (misfit(samples, count, left) < misfit(samples, count, right))
            high = right;
        else
            low = left;
    }
    double order = 0.5 * (low + high);
    return order > LEAST_ORDER && order < MOST_ORDER ? order : NAN;
}

/* ---- what came out ---- */

static double largest_difference(const cli_outcome *a, const cli_outcome *b) {
    double largest = 0;
    if (!a->done || !b->done || a->body_count != b->body_count)
        return NAN;
    for (size_t i = 0; i < a->body_count; i++) {
        double square = 0;
        for (size_t k = 3 * i; k < 3 * i + 3; k++)
            square += (a->centres[k] - b->centres[k]) * (a->centres[k] - b->centres[k]);
        largest = fmax(largest, sqrt(square));
    }
    return largest;
}

static double scene_size(const cli_outcome *outcome) {
    double size = 1;
    for (size_t i = 0; i < 3 * outcome->body_count; i++)
        size = fmax(size, fabs(outcome->centres[i]));
    return size;
}

/* The other run that row i is compared with, and its step; null: none. */
static const cli_outcome *reference_of(const cli_study *this, const cli_study_series *series,
                                       size_t i, double *step) {
    size_t other = this->reference == CLI_SUCCESSIVE ? i + 1 : this->step_count - 1;
    *step = 0;
    if (this->reference == CLI_ANALYTIC)
        return this->has_analytic ? &this->analytic : NULL;
    if (other >= this->step_count || other == i)
        return NULL;
    *step = series->rows[other].outcome.step;
    return &series->rows[other].outcome;
}

static sample infeasibility_sample(const cli_study_series *series, size_t i) {
    const cli_study_row *row = &series->rows[i];
    return (sample){row->outcome.step, 0, row->rounding ? NAN : row->infeasibility};
}

static sample difference_sample(const cli_study *this, const cli_study_series *series, size_t i) {
    double step;
    (void)reference_of(this, series, i, &step);
    const cli_study_row *row = &series->rows[i];
    return (sample){row->outcome.step, step, row->agrees ? NAN : row->difference};
}

/* Rows of the finer half that have a figure; a figure of NaN ends nothing but is left out. */
static size_t finer_half(const cli_study *this, const cli_study_series *series, bool infeasibility,
                         sample samples[CLI_LIST]) {
    size_t count = 0, n = this->step_count;
    /* The last rows have no difference to anything. */
    size_t usable = infeasibility || this->reference == CLI_ANALYTIC ? n : n - 1;
    size_t from = usable - (usable + 1) / 2;
    if (usable >= 2 && usable - from < 2)
        from = usable - 2;
    for (size_t i = from; i < usable; i++) {
        sample s =
            infeasibility ? infeasibility_sample(series, i) : difference_sample(this, series, i);
        if (s.value > 0)
            samples[count++] = s;
    }
    return count;
}

static void evaluate(const cli_study *this, cli_study_series *series) {
    sample samples[CLI_LIST];
    for (size_t i = 0; i < this->step_count; i++) {
        cli_study_row *row = &series->rows[i];
        const cli_outcome *outcome = &row->outcome;
        double step, moved = outcome->top_speed * outcome->step;
        const cli_outcome *other = reference_of(this, series, i, &step);
        row->infeasibility = outcome->done ? outcome->summary.certificate.max_penetration : NAN;
        row->rounding = row->infeasibility <= ROUNDING * scene_size(outcome);
        row->difference = other ? largest_difference(outcome, other) : NAN;
        row->agrees =
            this->reference == CLI_ANALYTIC && row->difference <= AGREEMENT * scene_size(outcome);
        row->constant = moved > 0 ? row->infeasibility / (moved * moved) : NAN;
    }
    for (size_t i = 0; i < this->step_count; i++) {
        cli_study_row *row = &series->rows[i];
        row->infeasibility_order = row->difference_order = NAN;
        if (i == 0)
            continue;
        samples[0] = infeasibility_sample(series, i - 1);
        samples[1] = infeasibility_sample(series, i);
        row->infeasibility_order = fit_order(samples, 2);
        samples[0] = difference_sample(this, series, i - 1);
        samples[1] = difference_sample(this, series, i);
        row->difference_order = fit_order(samples, 2);
    }
    series->infeasibility_order = fit_order(samples, finer_half(this, series, true, samples));
    series->difference_order = fit_order(samples, finer_half(this, series, false, samples));
}

/* ---- the command line ---- */

static bool parse_reference(cli_study *this, const char *text) {
    this->reference = CLI_SUCCESSIVE;
    if (!text)
        return true;
    for (int i = 0; i < 3; i++)
        if (strcmp(text, reference_names[i]) == 0) {
            this->reference = (cli_reference)i;
            return true;
        }
    const char *nearest = cli_nearest(text, reference_names, 3);
    if (nearest)
        cli_complain("converge: --reference: unknown reference '%s'; did you mean %s?", text,
                     nearest);
    else
        cli_complain("converge: --reference: '%s' is not successive, finest or analytic", text);
    return false;
}

static bool one_value(const cli_option *option, size_t count) {
    if (count > 1)
        cli_complain("converge: --%s: one at a time; `rigor compare` takes several", option->name);
    return count == 1;
}

static bool parse_variant(cli_study *this, const cli_option *options) {
    const char *methods[CLI_LIST];
    const rg_solver *solvers[CLI_LIST];
    int frictions[CLI_LIST] = {-1};
    const cli_option *method = &options[OPTION_METHOD], *solver = &options[OPTION_SOLVER];
    const cli_option *friction = &options[OPTION_FRICTION];
    methods[0] = NULL;
    solvers[0] = NULL;
    if (method->value && !one_value(method, cli_list_methods("converge", method, methods)))
        return false;
    if (solver->value && !one_value(solver, cli_list_solvers("converge", solver, solvers)))
        return false;
    if (friction->value &&
        !one_value(friction, cli_list_frictions("converge", friction, frictions)))
        return false;
    this->variant =
        (cli_variant){.method = methods[0], .solver = solvers[0], .directions = frictions[0]};
    if (this->reference == CLI_ANALYTIC && !method->value)
        this->variant.method = "stepping"; /* the analytic method beside itself shows nothing */
    return true;
}

static void sort_downwards(double *values, size_t count) {
    for (size_t i = 1; i < count; i++)
        for (size_t j = i; j > 0 && values[j - 1] < values[j]; j--) {
            double other = values[j];
            values[j] = values[j - 1];
            values[j - 1] = other;
        }
}

static bool parse_steps(cli_study *this, const cli_option *options) {
    const cli_option *steps = &options[OPTION_STEPS], *gammas = &options[OPTION_GAMMAS];
    if (!steps->value) {
        cli_complain("converge: which steps? --steps 0.02,0.01,0.005");
        return false;
    }
    this->step_count = cli_list_steps("converge", steps, this->steps);
    if (this->step_count == 1)
        cli_complain("converge: --steps: one step shows no order; give two or more");
    if (this->step_count < 2)
        return false;
    sort_downwards(this->steps, this->step_count);
    for (size_t i = 1; i < this->step_count; i++)
        if (this->steps[i] == this->steps[i - 1]) {
            cli_complain("converge: --steps: %g is there twice; leave one out", this->steps[i]);
            return false;
        }
    this->gamma_count = 1;
    this->gammas[0] = NAN;
    if (gammas->value && !(this->gamma_count = cli_list_gammas("converge", gammas, this->gammas)))
        return false;
    return true;
}

static int parse(cli_study *this, cli_option *options, int count, const char **arguments) {
    if (!cli_parse_options("converge", options, OPTION_COUNT, arguments, &count))
        return EXIT_USAGE;
    if (options[OPTION_HELP].value)
        return EXIT_GOOD;
    this->plan.quiet = options[OPTION_QUIET].value != NULL;
    this->json = options[OPTION_JSON].value != NULL;
    this->plot = options[OPTION_PLOT].value;
    bool good =
        cli_plan_parse(&this->plan, count, arguments) &&
        cli_plan_numbers(&this->plan, &options[OPTION_DURATION], &options[OPTION_THREADS]) &&
        parse_reference(this, options[OPTION_REFERENCE].value) && parse_variant(this, options) &&
        parse_steps(this, options);
    return good ? EXIT_GOOD : EXIT_USAGE;
}

/* ---- for people ---- */

static void print_cell(int width, double value, const char *format) {
    char text[CLI_NUMBER_SIZE];
    if (isnan(value))
        snprintf(text, sizeof text, "-");
    else
        snprintf(text, sizeof text, format, value);
    printf("%*s", width, text);
}

static void print_order(size_t i, bool rounding, double order) {
    if (i > 0 && rounding)
        printf("%10s", "rounding");
    else
        print_cell(10, order, "%.2f");
}

/* Behind the step, in the order of importance; what does not fit goes into a table below. */
static const struct {
    const char *title;
    int width;
} series_columns[] = {{"infeasibility m", 18}, {"order", 10},       {"trajectory m", 15},
                      {"order", 10},           {"failures", 10},    {"steps", 10},
                      {"ms a step", 11},       {"I/(v h)^2 /m", 14}};
enum { STEP_WIDTH = 12, SERIES_COLUMNS = sizeof series_columns / sizeof series_columns[0] };

static void print_column(const cli_study_series *series, size_t i, size_t column) {
    const cli_study_row *row = &series->rows[i];
    const cli_outcome *outcome = &row->outcome;
    const double numbers[SERIES_COLUMNS] = {row->infeasibility,
                                            NAN,
                                            row->difference,
                                            NAN,
                                            (double)outcome->summary.solver_failures,
                                            (double)outcome->steps,
                                            outcome->cpu_ms_per_step,
                                            row->constant};
    static const char *const formats[SERIES_COLUMNS] = {"%.4g", "",     "%.4g", "",
                                                        "%.0f", "%.0f", "%.3g", "%.3g"};
    if (column == 1)
        print_order(i, row->rounding, row->infeasibility_order);
    else if (column == 3)
        print_order(i, row->agrees, row->difference_order);
    else
        print_cell(series_columns[column].width, numbers[column], formats[column]);
}

static void print_series(const cli_study *this, const cli_study_series *series) {
    int most = cli_columns();
    for (size_t from = 0, to; from < SERIES_COLUMNS; from = to) {
        int line = printf("\n%*s", STEP_WIDTH, "step s") - 1;
        for (to = from; to < SERIES_COLUMNS; to++) {
            if (to > from && line + series_columns[to].width > most)
                break;
            line += printf("%*s", series_columns[to].width, series_columns[to].title);
        }
        putchar('\n');
        for (size_t i = 0; i < this->step_count; i++) {
            printf("%*.6g", STEP_WIDTH, series->rows[i].outcome.step);
            for (size_t k = from; k < to; k++)
                print_column(series, i, k);
            putchar('\n');
        }
    }
    fputs("\n  orders by least squares over the finer half: infeasibility", stdout);
    print_cell(6, series->infeasibility_order, "%.2f");
    fputs(", trajectory", stdout);
    print_cell(6, series->difference_order, "%.2f");
    putchar('\n');
    if (series->rows[this->step_count - 1].rounding)
        puts("  the infeasibility of the finest step is rounding, which has no order");
    if (series->rows[this->step_count - 1].agrees)
        puts("  with the finest step both methods agree up to rounding and the gap at which the "
             "analytic\n  method keeps resting bodies");
}

typedef double grid_function(const cli_study *this, size_t gamma, size_t step);

static double grid_infeasibility(const cli_study *this, size_t gamma, size_t step) {
    return this->series[gamma].rows[step].infeasibility;
}

static double grid_difference(const cli_study *this, size_t gamma, size_t step) {
    return this->series[gamma].rows[step].difference;
}

static size_t largest_gamma(const cli_study *this) {
    size_t largest = 0;
    for (size_t g = 1; g < this->gamma_count; g++)
        if (this->gammas[g] > this->gammas[largest])
            largest = g;
    return largest;
}

static double grid_ratio(const cli_study *this, size_t gamma, size_t step) {
    return grid_infeasibility(this, gamma, step) /
           grid_infeasibility(this, largest_gamma(this), step);
}

/* `order` is the offset of a number in the series, 0: no such column. */
static void print_grid(const cli_study *this, const char *title, grid_function *value,
                       const char *format, int order) {
    enum { GAMMA = 12, CELL = 14, ORDER = 10 };
    size_t fit = (size_t)(cli_columns() - GAMMA - ORDER) / CELL;
    printf("\n  %s\n", title);
    for (size_t from = 0, to; from < this->step_count; from = to) {
        to = this->step_count - from > fit ? from + fit : this->step_count;
        bool last = order && to == this->step_count;
        printf("%*s", GAMMA, "gamma");
        for (size_t i = from; i < to; i++) {
            char head[CLI_NUMBER_SIZE];
            snprintf(head, sizeof head, "h=%.4g", this->series[0].rows[i].outcome.step);
            printf("%*s", CELL, head);
        }
        puts(last ? "     order" : "");
        for (size_t g = 0; g < this->gamma_count; g++) {
            const cli_study_series *series = &this->series[g];
            printf("%*.4g", GAMMA, series->gamma);
            for (size_t i = from; i < to; i++)
                print_cell(CELL, value(this, g, i), format);
            if (last)
                print_cell(ORDER,
                           order == 1 ? series->infeasibility_order : series->difference_order,
                           "%.2f");
            putchar('\n');
        }
    }
}

static void print_report(const cli_study *this) {
    const cli_outcome *first = &this->series[0].rows[0].outcome;
    char friction[CLI_NUMBER_SIZE];
    printf("%s by rigor %s: %.6g s, method %s, solver %s, friction %s", first->scene,
           rg_version_text(), first->simulated, first->method, first->solver,
           cli_friction_name(first->directions, friction));
    if (this->gamma_count == 1)
        printf(", gamma %.4g", first->gamma);
    printf("\n  infeasibility: deepest penetration of any pair at any step\n"
           "  trajectory: largest distance of a body's centre at the end\n"
           "    from that %s\n",
           this->reference == CLI_SUCCESSIVE ? "with the next finer step"
           : this->reference == CLI_FINEST   ? "with the finest step"
                                             : "by the analytic method");
    if (this->gamma_count == 1) {
        print_series(this, &this->series[0]);
    } else {
        char title[64];
        print_grid(this, "infeasibility m", grid_infeasibility, "%.4g", 1);
        snprintf(title, sizeof title, "infeasibility, relative to gamma %.4g",
                 this->gammas[largest_gamma(this)]);
        print_grid(this, title, grid_ratio, "%.3f", 0);
        print_grid(this, "trajectory m", grid_difference, "%.4g", 2);
        puts("\n  orders by least squares over the finer half of the steps");
    }
    for (size_t g = 0; g < this->gamma_count; g++)
        for (size_t i = 0; i < this->step_count; i++) {
            const cli_outcome *outcome = &this->series[g].rows[i].outcome;
            if (!outcome->done)
                printf("\n  the run with gamma %.4g and steps of %.6g s could not continue %s\n",
                       outcome->gamma, outcome->step, outcome->failure);
        }
    if (this->has_analytic && !this->analytic.done)
        printf("\n  the run by the analytic method could not continue %s\n",
               this->analytic.failure);
}

/* ---- for programs ---- */

static void print_member(const char *name, double value) {
    printf(", \"%s\": ", name);
    cli_print_json_number(value);
}

static void print_json_row(const cli_study_row *row) {
    const cli_outcome *outcome = &row->outcome;
    fputs("{\"step_s\": ", stdout);
    cli_print_json_number(outcome->step);
    printf(", \"status\": \"%s\", \"steps\": %" PRIu64, outcome->done ? "done" : "failed",
           outcome->steps);
    print_member("infeasibility_m", row->infeasibility);
    print_member("infeasibility_order", row->infeasibility_order);
    printf(", \"rounding\": %s", row->rounding ? "true" : "false");
    print_member("constant_per_m", row->constant);
    print_member("difference_m", row->difference);
    print_member("difference_order", row->difference_order);
    printf(", \"difference_rounding\": %s", row->agrees ? "true" : "false");
    print_member("top_speed", outcome->top_speed);
    print_member("complementarity", outcome->summary.certificate.complementarity);
    printf(", \"solver_failures\": %" PRIu64, outcome->summary.solver_failures);
    print_member("cpu_ms_per_step", outcome->cpu_ms_per_step);
    fputs(", \"measures\": {", stdout);
    for (size_t i = 0; i < outcome->measure_count; i++) {
        const cli_run_measure *measure = &outcome->measures[i];
        fputs(i ? ", " : "", stdout);
        cli_print_json_text(measure->name);
        fputs(": ", stdout);
        cli_print_json_value(measure->value, measure->is_truth);
    }
    fputs("}}", stdout);
}

static void print_json(const cli_study *this) {
    const cli_outcome *first = &this->series[0].rows[0].outcome;
    char friction[CLI_NUMBER_SIZE];
    fputs("{\"scene\": ", stdout);
    cli_print_json_text(first->scene);
    printf(", \"method\": \"%s\", \"solver\": \"%s\", \"friction\": \"%s\", \"reference\": \"%s\"",
           first->method, first->solver, cli_friction_name(first->directions, friction),
           reference_names[this->reference]);
    print_member("simulated_s", first->simulated);
    fputs(", \"reference_failure\": ", stdout);
    if (this->has_analytic && !this->analytic.done)
        cli_print_json_text(this->analytic.failure);
    else
        fputs("null", stdout);
    fputs(", \"series\": [", stdout);
    for (size_t g = 0; g < this->gamma_count; g++) {
        const cli_study_series *series = &this->series[g];
        fputs(g ? ", {\"gamma\": " : "{\"gamma\": ", stdout);
        cli_print_json_number(series->gamma);
        print_member("infeasibility_order", series->infeasibility_order);
        print_member("difference_order", series->difference_order);
        fputs(", \"rows\": [", stdout);
        for (size_t i = 0; i < this->step_count; i++) {
            fputs(i ? ", " : "", stdout);
            print_json_row(&series->rows[i]);
        }
        fputs("]}", stdout);
    }
    printf("], \"failed\": %zu}\n", this->failed);
}

/* ---- the command ---- */

static int make_series(cli_study *this, size_t g) {
    cli_study_series *series = &this->series[g];
    series->rows = calloc(this->step_count, sizeof *series->rows);
    if (!series->rows) {
        cli_complain("converge: out of memory");
        return EXIT_FAILED;
    }
    for (size_t i = 0; i < this->step_count; i++) {
        cli_variant variant = this->variant;
        cli_outcome *outcome = &series->rows[i].outcome;
        variant.gamma = this->gammas[g];
        variant.step = this->steps[i];
        int code = cli_run_variant(&this->plan, &variant, outcome);
        if (code != EXIT_GOOD)
            return code;
        this->failed += !outcome->done;
        if (i > 0 && !(outcome->step < series->rows[i - 1].outcome.step)) {
            cli_complain("converge: --steps: %g and %g make the same number of steps in %g s; "
                         "leave one out, or give a longer --duration",
                         this->steps[i - 1], this->steps[i], outcome->simulated);
            return EXIT_USAGE;
        }
    }
    series->gamma = series->rows[0].outcome.gamma;
    evaluate(this, series);
    return EXIT_GOOD;
}

static int make_runs(cli_study *this) {
    this->series = calloc(this->gamma_count, sizeof *this->series);
    if (!this->series) {
        cli_complain("converge: out of memory");
        return EXIT_FAILED;
    }
    if (this->reference == CLI_ANALYTIC) {
        cli_variant variant = this->variant;
        variant.method = "analytic";
        variant.solver = NULL;         /* --solver is for the method that is judged */
        variant.step = this->steps[0]; /* its error does not depend on it, its cost does */
        variant.gamma = NAN;
        int code = cli_run_variant(&this->plan, &variant, &this->analytic);
        if (code != EXIT_GOOD)
            return code;
        this->has_analytic = true;
        this->failed += !this->analytic.done;
    }
    for (size_t g = 0; g < this->gamma_count; g++) {
        int code = make_series(this, g);
        if (code != EXIT_GOOD)
            return code;
    }
    return EXIT_GOOD;
}

static int execute(cli_study *this) {
    int output;
    int code = cli_gnuplot_open("converge", this->plot, &output);
    if (code == EXIT_GOOD)
        code = make_runs(this);
    if (code == EXIT_GOOD) {
        if (this->json)
            print_json(this);
        else
            print_report(this);
        code = cli_flush();
        int drawn = output >= 0 ? cli_study_plot(this, output) : EXIT_GOOD;
        code = code == EXIT_GOOD ? drawn : code;
        if (code == EXIT_GOOD && this->failed)
            code = EXIT_FAILED;
    }
    if (output >= 0)
        close(output);
    return code;
}

static void free_study(cli_study *this) {
    for (size_t g = 0; this->series && g < this->gamma_count; g++) {
        for (size_t i = 0; this->series[g].rows && i < this->step_count; i++)
            cli_outcome_free(&this->series[g].rows[i].outcome);
        free(this->series[g].rows);
    }
    free(this->series);
    cli_outcome_free(&this->analytic);
    cli_plan_free(&this->plan);
}

int cli_converge(int count, const char **arguments) {
    cli_option options[OPTION_COUNT] = {
        {"steps", 0, true, NULL},    {"gammas", 0, true, NULL},   {"reference", 0, true, NULL},
        {"method", 0, true, NULL},   {"solver", 0, true, NULL},   {"friction", 0, true, NULL},
        {"duration", 0, true, NULL}, {"threads", 0, true, NULL},  {"plot", 0, true, NULL},
        {"json", 0, false, NULL},    {"quiet", 'q', false, NULL}, {"overwrite", 'f', false, NULL},
        {"help", 'h', false, NULL},
    };
    cli_study this = {.plan = {.command = "converge", .exact_end = true}};
    int code = parse(&this, options, count, arguments);
    if (code == EXIT_GOOD && options[OPTION_HELP].value) {
        fputs(cli_converge_help, stdout);
        code = cli_flush();
    } else if (code == EXIT_GOOD) {
        code = cli_may_write("converge", this.plot, &options[OPTION_OVERWRITE]) ? execute(&this)
                                                                                : EXIT_UNWRITABLE;
    }
    free_study(&this);
    return code;
}
