/* `rigor compare`: one scene by several methods, solvers and steps, one run after the other, and
 * what came out side by side. One list of figures makes the tables, the JSON and the CSV. */
#include "cli_runner.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char cli_compare_help[] =
    "Usage: rigor compare SCENE [NAME=VALUE ...] [OPTION ...]\n"
    "\n"
    "Runs a scene in every combination of the methods, solvers, impact laws, steps, gammas\n"
    "and kinds of friction given, one run after the other, and prints side by side: the\n"
    "certificate (worst of all steps), the energy ledger, the cost, and the scene's own\n"
    "measures. SCENE and NAME=VALUE as in `rigor run`. What is not given is as the scene has\n"
    "it.\n"
    "\n"
    "Options (lists are separated by commas):\n"
    "      --methods LIST   step methods: analytic, stepping, penalty\n"
    "      --solvers LIST   solvers of contact problems, or all: auto, dantzig, lemke, qp,\n"
    "                       gauss-seidel, newton, interior-point, admm, enumerate\n"
    "      --impacts LIST   laws of collisions of the analytic method, or all: simultaneous,\n"
    "                       propagation, poisson, energetic, reflection, dissipative\n"
    "      --steps LIST     seconds of a step: 0.01,1/240\n"
    "      --gammas LIST    shares of a penetration that a step takes back, 0 to 1\n"
    "      --friction LIST  cone, polygon:K (K corners)\n"
    "      --duration S     seconds to simulate instead of the scene's; the nearest whole\n"
    "                       number of steps is made\n"
    "      --threads N      threads; the results do not depend on it\n"
    "      --csv FILE       the table as CSV, a line for each run; - is standard output,\n"
    "                       instead of the tables\n"
    "  -f, --overwrite      replace FILE if it exists\n"
    "      --json           a line of JSON for each run, and a last one that sums up\n"
    "  -q, --quiet          no progress bar\n"
    "  -h, --help           this text\n"
    "\n"
    "Exit codes: 0 all runs reached their end, 1 one could not continue (the others\n"
    "are still made), 2 usage, 3 the scene cannot be used, 4 output cannot be written.\n"
    "\n"
    "Examples:\n"
    "  rigor compare tower count=10 --solvers auto,newton,gauss-seidel --duration 1\n"
    "  rigor compare dominoes --steps 1/120,1/240,1/480 --json\n"
    "  rigor compare billiard --impacts simultaneous,propagation\n"
    "  rigor compare two-planks --methods stepping,analytic,penalty\n"
    "  rigor compare incline yaw=30 mu=0.3 --friction cone,polygon:8,polygon:16 --duration 1\n";

enum { MOST_RUNS = 1024 };

/* ---- the figures ---- */

typedef enum figure_kind { NUMBER, COUNT } figure_kind;

typedef struct compared_figure {
    const char *block, *name, *title;
    size_t offset; /* in cli_outcome */
    figure_kind kind;
} compared_figure;

#define AT(member) offsetof(cli_outcome, member)
static const compared_figure figures[] = {
    {"certificate", "min_gap_m", "gap m", AT(summary.certificate.min_gap), NUMBER},
    {"certificate", "max_penetration_m", "penetration m", AT(summary.certificate.max_penetration),
     NUMBER},
    {"certificate", "complementarity", "complementarity", AT(summary.certificate.complementarity),
     NUMBER},
    {"certificate", "cone_violation", "cone", AT(summary.certificate.cone_violation), NUMBER},
    {"certificate", "momentum_error_rel", "momentum", AT(summary.certificate.momentum_error),
     NUMBER},
    {"certificate", "passed_through", "passed", AT(summary.passed_through), COUNT},
    {"energy", "initial_J", "start", AT(summary.energy.initial), NUMBER},
    {"energy", "final_J", "end", AT(summary.energy.final), NUMBER},
    {"energy", "impact_loss_J", "impacts", AT(summary.energy.impact_loss), NUMBER},
    {"energy", "friction_work_J", "friction", AT(summary.energy.friction_work), NUMBER},
    {"energy", "stabilisation_J", "stabilisation", AT(summary.energy.stabilisation), NUMBER},
    {"energy", "integration_J", "integration", AT(summary.energy.integration), NUMBER},
    {"energy", "closure_rel", "closure", AT(summary.energy.closure_rel), NUMBER},
    {"cost", "cpu_ms_per_step", "ms a step", AT(cpu_ms_per_step), NUMBER},
    {"cost", "wall_s", "took s", AT(wall), NUMBER},
    {"cost", "substeps", "substeps", AT(summary.substeps), COUNT},
    {"cost", "evaluations", "evaluations", AT(summary.evaluations), COUNT},
    {"cost", "contacts_max", "contacts", AT(summary.contacts_max), COUNT},
    {"cost", "solves", "solves", AT(summary.solves), COUNT},
    {"cost", "solver_iterations", "iterations", AT(summary.solver_iterations), COUNT},
    {"cost", "solver_failures", "failures", AT(summary.solver_failures), COUNT},
    {"cost", "fallbacks", "fallbacks", AT(summary.fallbacks), COUNT},
};
enum { FIGURES = sizeof figures / sizeof figures[0] };

static const struct {
    const char *name, *title;
} blocks[] = {{"certificate", "certificate, worst of all steps"},
              {"energy", "energy, J; closure relative"},
              {"cost", "cost"}};
enum { BLOCKS = sizeof blocks / sizeof blocks[0] };

static double number_of(const cli_outcome *outcome, const compared_figure *figure) {
    double value;
    memcpy(&value, (const char *)outcome + figure->offset, sizeof value);
    return value;
}

static uint64_t count_of(const cli_outcome *outcome, const compared_figure *figure) {
    uint64_t value;
    memcpy(&value, (const char *)outcome + figure->offset, sizeof value);
    return value;
}

/* ---- the runs ---- */

typedef struct comparison {
    cli_plan plan;
    bool json;
    const char *csv;
    const char *methods[CLI_LIST];
    const rg_solver *solvers[CLI_LIST];
    const rg_impact_law *impacts[CLI_LIST];
    double steps[CLI_LIST], gammas[CLI_LIST];
    int frictions[CLI_LIST];
    size_t method_count, solver_count, impact_count, step_count, gamma_count, friction_count;
    cli_outcome *outcomes;
    size_t count, failed;
} comparison;

enum {
    OPTION_METHODS,
    OPTION_SOLVERS,
    OPTION_IMPACTS,
    OPTION_STEPS,
    OPTION_GAMMAS,
    OPTION_FRICTION,
    OPTION_DURATION,
    OPTION_THREADS,
    OPTION_CSV,
    OPTION_JSON,
    OPTION_QUIET,
    OPTION_OVERWRITE,
    OPTION_HELP,
    OPTION_COUNT
};

static size_t run_count(const comparison *this) {
    return this->method_count * this->solver_count * this->impact_count * this->step_count *
           this->gamma_count * this->friction_count;
}

/* What is not given is one value: the scene's. */
static bool parse_lists(comparison *this, const cli_option *options) {
    const char *name = this->plan.command;
    this->method_count = this->solver_count = this->step_count = 1;
    this->gamma_count = this->friction_count = this->impact_count = 1;
    this->gammas[0] = NAN;
    this->frictions[0] = -1;
    const cli_option *option = &options[OPTION_METHODS];
    if (option->value && !(this->method_count = cli_list_methods(name, option, this->methods)))
        return false;
    option = &options[OPTION_SOLVERS];
    if (option->value && !(this->solver_count = cli_list_solvers(name, option, this->solvers)))
        return false;
    option = &options[OPTION_IMPACTS];
    if (option->value && !(this->impact_count = cli_list_impacts(name, option, this->impacts)))
        return false;
    option = &options[OPTION_STEPS];
    if (option->value && !(this->step_count = cli_list_steps(name, option, this->steps)))
        return false;
    option = &options[OPTION_GAMMAS];
    if (option->value && !(this->gamma_count = cli_list_gammas(name, option, this->gammas)))
        return false;
    option = &options[OPTION_FRICTION];
    if (option->value &&
        !(this->friction_count = cli_list_frictions(name, option, this->frictions)))
        return false;
    if (run_count(this) <= MOST_RUNS)
        return true;
    cli_complain("compare: %zu runs are more than %d; give shorter lists", run_count(this),
                 MOST_RUNS);
    return false;
}

static int parse(comparison *this, cli_option *options, int count, const char **arguments) {
    if (!cli_parse_options("compare", options, OPTION_COUNT, arguments, &count))
        return EXIT_USAGE;
    if (options[OPTION_HELP].value)
        return EXIT_GOOD;
    this->plan.quiet = options[OPTION_QUIET].value != NULL;
    this->json = options[OPTION_JSON].value != NULL;
    this->csv = options[OPTION_CSV].value;
    if (this->json && this->csv && strcmp(this->csv, "-") == 0) {
        cli_complain("compare: --json and --csv - both want standard output; give --csv FILE");
        return EXIT_USAGE;
    }
    return cli_plan_parse(&this->plan, count, arguments) &&
                   cli_plan_numbers(&this->plan, &options[OPTION_DURATION],
                                    &options[OPTION_THREADS]) &&
                   parse_lists(this, options)
               ? EXIT_GOOD
               : EXIT_USAGE;
}

static cli_variant variant_of(const comparison *this, size_t run) {
    size_t friction = run % this->friction_count;
    run /= this->friction_count;
    size_t gamma = run % this->gamma_count;
    run /= this->gamma_count;
    size_t step = run % this->step_count;
    run /= this->step_count;
    size_t impact = run % this->impact_count;
    run /= this->impact_count;
    return (cli_variant){.impact = this->impacts[impact],
                         .method = this->methods[run / this->solver_count],
                         .solver = this->solvers[run % this->solver_count],
                         .step = this->steps[step],
                         .gamma = this->gammas[gamma],
                         .directions = this->frictions[friction]};
}

/* ---- for programs ---- */

static void print_json_block(const cli_outcome *outcome, const char *block) {
    const char *separator = "";
    printf(", \"%s\": {", block);
    for (int i = 0; i < FIGURES; i++) {
        if (strcmp(figures[i].block, block) != 0)
            continue;
        printf("%s\"%s\": ", separator, figures[i].name);
        if (figures[i].kind == COUNT)
            printf("%" PRIu64, count_of(outcome, &figures[i]));
        else
            cli_print_json_number(number_of(outcome, &figures[i]));
        separator = ", ";
    }
    putchar('}');
}

static void print_json_value(double value, bool is_truth) {
    if (is_truth && !isnan(value))
        fputs(value != 0 ? "true" : "false", stdout);
    else
        cli_print_json_number(value);
}

static void print_json_run(const cli_outcome *outcome, size_t run) {
    char friction[CLI_NUMBER_SIZE];
    printf("{\"run\": %zu, \"scene\": ", run + 1);
    cli_print_json_text(outcome->scene);
    printf(", \"method\": \"%s\", \"solver\": \"%s\", \"step_s\": ", outcome->method,
           outcome->solver);
    cli_print_json_number(outcome->step);
    fputs(", \"gamma\": ", stdout);
    cli_print_json_number(outcome->gamma);
    printf(", \"friction\": \"%s\", \"impact\": ",
           cli_friction_name(outcome->directions, friction));
    if (outcome->impact)
        cli_print_json_text(outcome->impact);
    else
        fputs("null", stdout);
    printf(", \"status\": \"%s\"", outcome->done ? "done" : "failed");
    if (!outcome->done) {
        fputs(", \"failure\": ", stdout);
        cli_print_json_text(outcome->failure);
    }
    printf(", \"steps\": %" PRIu64 ", \"simulated_s\": ", outcome->steps);
    cli_print_json_number(outcome->simulated);
    for (int i = 0; i < BLOCKS; i++)
        print_json_block(outcome, blocks[i].name);
    printf(", \"state_hash\": \"%016" PRIx64 "\", \"measures\": {", outcome->state_hash);
    for (size_t i = 0; i < outcome->measure_count; i++) {
        const cli_run_measure *measure = &outcome->measures[i];
        fputs(i ? ", " : "", stdout);
        cli_print_json_text(measure->name);
        fputs(": ", stdout);
        print_json_value(measure->value, measure->is_truth);
        if (measure->has_expected) {
            printf(", \"%s_expected\": ", measure->name);
            print_json_value(measure->expected, measure->is_truth);
        }
    }
    puts("}}");
}

/* 1 + the run that has the least of a figure, 0: none. */
static size_t run_with_least(const comparison *this, const char *name) {
    size_t least = 0;
    const compared_figure *figure = figures;
    while (strcmp(figure->name, name) != 0)
        figure++;
    for (size_t i = 0; i < this->count; i++) {
        double value = number_of(&this->outcomes[i], figure);
        if (this->outcomes[i].done && !isnan(value) &&
            (!least || value < number_of(&this->outcomes[least - 1], figure)))
            least = i + 1;
    }
    return least;
}

static void print_json_best(const char *key, size_t run) {
    if (run)
        printf(", \"%s\": %zu", key, run);
    else
        printf(", \"%s\": null", key);
}

static void print_json_summary(const comparison *this) {
    bool same = this->failed == 0;
    for (size_t i = 1; i < this->count; i++)
        same &= this->outcomes[i].state_hash == this->outcomes[0].state_hash;
    printf("{\"runs\": %zu, \"done\": %zu, \"failed\": %zu", this->count,
           this->count - this->failed, this->failed);
    print_json_best("least_penetration_run", run_with_least(this, "max_penetration_m"));
    print_json_best("least_complementarity_run", run_with_least(this, "complementarity"));
    print_json_best("fastest_run", run_with_least(this, "wall_s"));
    printf(", \"same_state\": %s}\n", same ? "true" : "false");
}

/* ---- CSV ---- */

static void write_csv_number(FILE *file, double value) {
    char text[CLI_NUMBER_SIZE];
    fprintf(file, ",%s", isnan(value) ? "" : cli_exact(value, text));
}

static const cli_run_measure *find_measure(const cli_outcome *outcome, const char *name) {
    for (size_t i = 0; i < outcome->measure_count; i++)
        if (strcmp(outcome->measures[i].name, name) == 0)
            return &outcome->measures[i];
    return NULL;
}

static void write_csv(const comparison *this, FILE *file) {
    const cli_outcome *first = &this->outcomes[0];
    fputs("run,method,solver,impact,step_s,gamma,friction,status,steps,simulated_s", file);
    for (int i = 0; i < FIGURES; i++)
        fprintf(file, ",%s", figures[i].name);
    for (size_t i = 0; i < first->measure_count; i++)
        fprintf(file, ",%s", first->measures[i].name);
    fputs(",state_hash\n", file);
    for (size_t r = 0; r < this->count; r++) {
        const cli_outcome *outcome = &this->outcomes[r];
        char friction[CLI_NUMBER_SIZE];
        fprintf(file, "%zu,%s,%s,%s", r + 1, outcome->method, outcome->solver,
                outcome->impact ? outcome->impact : "");
        write_csv_number(file, outcome->step);
        write_csv_number(file, outcome->gamma);
        fprintf(file, ",%s,%s,%" PRIu64, cli_friction_name(outcome->directions, friction),
                outcome->done ? "done" : "failed", outcome->steps);
        write_csv_number(file, outcome->simulated);
        for (int i = 0; i < FIGURES; i++)
            if (figures[i].kind == COUNT)
                fprintf(file, ",%" PRIu64, count_of(outcome, &figures[i]));
            else
                write_csv_number(file, number_of(outcome, &figures[i]));
        for (size_t i = 0; i < first->measure_count; i++) {
            const cli_run_measure *measure = find_measure(outcome, first->measures[i].name);
            write_csv_number(file, measure ? measure->value : NAN);
        }
        fprintf(file, ",%016" PRIx64 "\n", outcome->state_hash);
    }
}

/* Opened before the runs, so that a file that cannot be written is reported at once. */
static int save_csv(const comparison *this, FILE *file) {
    if (file == stdout) {
        write_csv(this, stdout);
        return cli_flush();
    }
    write_csv(this, file);
    bool bad = ferror(file) != 0;
    if (fclose(file) == 0 && !bad)
        return EXIT_GOOD;
    cli_complain("compare: --csv: %s cannot be written: %s", this->csv, strerror(errno));
    return EXIT_UNWRITABLE;
}

/* ---- for people ---- */

enum { LABEL = 96, PARTS = 6, CELL = 40, MOST_COLUMNS = CLI_RUN_MEASURES };

/* What tells the runs apart. */
typedef struct run_labels {
    int width[PARTS]; /* 0: the same in all runs */
} run_labels;

static const char *const part_titles[PARTS] = {"method", "solver", "step s",
                                               "gamma",  "impact", "friction"};

static void part_text(const cli_outcome *outcome, int part, char text[CELL]) {
    char friction[CLI_NUMBER_SIZE];
    switch (part) {
    case 0:
        snprintf(text, CELL, "%s", outcome->method);
        break;
    case 1:
        snprintf(text, CELL, "%s", outcome->solver);
        break;
    case 2:
        snprintf(text, CELL, "%.6g", outcome->step);
        break;
    case 3:
        snprintf(text, CELL, "%.6g", outcome->gamma);
        break;
    case 4:
        snprintf(text, CELL, "%s", outcome->impact ? outcome->impact : "-");
        break;
    default:
        snprintf(text, CELL, "%s", cli_friction_name(outcome->directions, friction));
    }
}

static run_labels find_labels(const comparison *this) {
    run_labels labels = {{0}};
    bool any = false;
    for (int part = 0; part < PARTS; part++) {
        char first[CELL], text[CELL];
        bool varies = false;
        size_t width = strlen(part_titles[part]);
        part_text(&this->outcomes[0], part, first);
        for (size_t i = 0; i < this->count; i++) {
            part_text(&this->outcomes[i], part, text);
            varies |= strcmp(first, text) != 0;
            width = strlen(text) > width ? strlen(text) : width;
        }
        labels.width[part] = varies ? (int)width : 0;
        any |= varies;
    }
    if (!any) { /* one run, or all alike */
        char text[CELL];
        part_text(&this->outcomes[0], 1, text);
        labels.width[1] = (int)(strlen(text) > 6 ? strlen(text) : 6);
    }
    return labels;
}

static int print_label(const run_labels *labels, const cli_outcome *outcome) {
    int printed = printf("   ");
    for (int part = 0; part < PARTS; part++) {
        char text[CELL];
        if (!labels->width[part])
            continue;
        if (outcome)
            part_text(outcome, part, text);
        else
            snprintf(text, sizeof text, "%s", part_titles[part]);
        printed += printf(" %-*s ", labels->width[part], text);
    }
    return printed;
}

typedef void cell_function(const cli_outcome *outcome, const void *columns, size_t column,
                           char text[CELL]);

/* Columns that do not fit into a line go into a table below. */
static void print_table(const comparison *this, const run_labels *labels, const char *title,
                        const char *const *titles, size_t columns, cell_function *cell,
                        const void *user) {
    int most = cli_columns();
    printf("\n  %s\n", title);
    for (size_t from = 0, to; from < columns; from = to) {
        int line = print_label(labels, NULL), width[MOST_COLUMNS];
        for (to = from; to < columns; to++) {
            int wanted = (int)strlen(titles[to]) + 2;
            width[to] = wanted > 12 ? wanted : 12;
            if (to > from && line + width[to] > most)
                break;
            line += printf("%*s", width[to], titles[to]);
        }
        putchar('\n');
        for (size_t i = 0; i < this->count; i++) {
            (void)print_label(labels, &this->outcomes[i]);
            for (size_t k = from; k < to; k++) {
                char text[CELL];
                cell(&this->outcomes[i], user, k, text);
                printf("%*s", width[k], text);
            }
            putchar('\n');
        }
    }
}

static void number_text(double value, char text[CELL]) {
    if (isnan(value))
        snprintf(text, CELL, "-");
    else
        snprintf(text, CELL, "%.4g", value);
}

static void figure_cell(const cli_outcome *outcome, const void *user, size_t column,
                        char text[CELL]) {
    const compared_figure *const *list = user;
    if (list[column]->kind == COUNT)
        snprintf(text, CELL, "%" PRIu64, count_of(outcome, list[column]));
    else
        number_text(number_of(outcome, list[column]), text);
}

static void measure_cell(const cli_outcome *outcome, const void *user, size_t column,
                         char text[CELL]) {
    const cli_outcome *first = user;
    const cli_run_measure *measure = find_measure(outcome, first->measures[column].name);
    if (measure && measure->is_truth && !isnan(measure->value))
        snprintf(text, CELL, "%s", measure->value != 0 ? "yes" : "no");
    else
        number_text(measure ? measure->value : NAN, text);
}

/* Laws of impact differ in what they let expect. */
static bool expect_the_same(const comparison *this, const cli_run_measure *measure) {
    for (size_t i = 0; i < this->count; i++) {
        const cli_run_measure *other = find_measure(&this->outcomes[i], measure->name);
        if (!other || !other->has_expected || other->expected != measure->expected)
            return false;
    }
    return true;
}

static void print_expected(const comparison *this) {
    const cli_outcome *first = &this->outcomes[0];
    char text[CLI_RUN_MEASURES * 80] = "";
    size_t length = 0;
    for (size_t i = 0; i < first->measure_count && length < sizeof text; i++) {
        const cli_run_measure *measure = &first->measures[i];
        if (!measure->has_expected || !expect_the_same(this, measure))
            continue;
        char number[CLI_NUMBER_SIZE];
        snprintf(number, sizeof number, "%.6g", measure->expected);
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%s %s",
                                   length ? ", " : "expected: ", measure->name,
                                   !measure->is_truth       ? number
                                   : measure->expected != 0 ? "yes"
                                                            : "no");
    }
    if (length == 0)
        return;
    fputs("    ", stdout);
    cli_print_wrapped(text, 4, 4);
}

static void print_blocks(const comparison *this) {
    run_labels labels = find_labels(this);
    const cli_outcome *first = &this->outcomes[0];
    const char *titles[MOST_COLUMNS];
    for (int b = 0; b < BLOCKS; b++) {
        const compared_figure *list[FIGURES];
        size_t columns = 0;
        for (int i = 0; i < FIGURES; i++)
            if (strcmp(figures[i].block, blocks[b].name) == 0) {
                list[columns] = &figures[i];
                titles[columns++] = figures[i].title;
            }
        print_table(this, &labels, blocks[b].title, titles, columns, figure_cell, list);
    }
    for (size_t i = 0; i < first->measure_count; i++)
        titles[i] = first->measures[i].name;
    if (first->measure_count) {
        print_table(this, &labels, "measures", titles, first->measure_count, measure_cell, first);
        print_expected(this);
    }
}

static void print_report(const comparison *this) {
    const cli_outcome *first = &this->outcomes[0];
    run_labels labels = find_labels(this);
    printf("%s by rigor %s: %zu %s of %.6g s\n", first->scene, rg_version_text(), this->count,
           this->count == 1 ? "run" : "runs", first->simulated);
    fputs("  in all of them:", stdout);
    const char *separator = " ";
    for (int part = 0; part < PARTS; part++) {
        char text[CELL];
        part_text(first, part, text);
        if ((labels.width[part] && this->count > 1) || strcmp(text, "-") == 0)
            continue;
        printf("%s%s %s", separator, part_titles[part], text);
        separator = ", ";
    }
    putchar('\n');
    print_blocks(this);
    for (size_t i = 0; i < this->count; i++)
        if (!this->outcomes[i].done)
            printf("\n  run %zu could not continue %s\n", i + 1, this->outcomes[i].failure);
}

/* ---- the command ---- */

static int make_runs(comparison *this) {
    size_t runs = run_count(this);
    this->outcomes = calloc(runs, sizeof *this->outcomes);
    if (!this->outcomes) {
        cli_complain("compare: out of memory");
        return EXIT_FAILED;
    }
    for (size_t i = 0; i < runs; i++) {
        cli_variant variant = variant_of(this, i);
        cli_outcome *outcome = &this->outcomes[i];
        int code = cli_run_variant(&this->plan, &variant, outcome);
        if (code != EXIT_GOOD)
            return code;
        this->count++;
        this->failed += !outcome->done;
        if (this->json) {
            print_json_run(outcome, i);
            code = cli_flush();
            if (code != EXIT_GOOD)
                return code;
        }
    }
    return EXIT_GOOD;
}

static int execute(comparison *this) {
    FILE *csv = NULL;
    if (this->csv && strcmp(this->csv, "-") == 0)
        csv = stdout;
    else if (this->csv && !(csv = fopen(this->csv, "w"))) {
        cli_complain("compare: --csv: %s cannot be written: %s", this->csv, strerror(errno));
        return EXIT_UNWRITABLE;
    }
    int code = make_runs(this);
    if (code != EXIT_GOOD) {
        if (csv && csv != stdout)
            fclose(csv);
        return code;
    }
    if (this->json)
        print_json_summary(this);
    else if (csv != stdout)
        print_report(this);
    code = cli_flush();
    int saved = csv ? save_csv(this, csv) : EXIT_GOOD;
    if (code == EXIT_GOOD)
        code = saved;
    return code == EXIT_GOOD && this->failed ? EXIT_FAILED : code;
}

int cli_compare(int count, const char **arguments) {
    cli_option options[OPTION_COUNT] = {
        {"methods", 0, true, NULL},  {"solvers", 0, true, NULL},  {"impacts", 0, true, NULL},
        {"steps", 0, true, NULL},    {"gammas", 0, true, NULL},   {"friction", 0, true, NULL},
        {"duration", 0, true, NULL}, {"threads", 0, true, NULL},  {"csv", 0, true, NULL},
        {"json", 0, false, NULL},    {"quiet", 'q', false, NULL}, {"overwrite", 'f', false, NULL},
        {"help", 'h', false, NULL},
    };
    comparison this = {.plan = {.command = "compare"}};
    int code = parse(&this, options, count, arguments);
    if (code == EXIT_GOOD && options[OPTION_HELP].value) {
        fputs(cli_compare_help, stdout);
        code = cli_flush();
    } else if (code == EXIT_GOOD) {
        code = cli_may_write("compare", this.csv, &options[OPTION_OVERWRITE]) ? execute(&this)
                                                                              : EXIT_UNWRITABLE;
    }
    for (size_t i = 0; i < this.count; i++)
        cli_outcome_free(&this.outcomes[i]);
    free(this.outcomes);
    cli_plan_free(&this.plan);
    return code;
}
