/* The outputs of `rigor bench engines`: tables, CSV, and the plot of error against cost. */
#include "cli_bench_engines.h"
#include "cli_gnuplot.h"

#include <math.h>
#include <string.h>

/* ---- tables ---- */

static void print_number(double value, int width, const char *format) {
    char text[CLI_NUMBER_SIZE];
    if (isnan(value))
        snprintf(text, sizeof text, "-");
    else if (isinf(value))
        snprintf(text, sizeof text, "no pose");
    else
        snprintf(text, sizeof text, format, value);
    printf(" %*s", width, text);
}

static void print_ms(double value) {
    print_number(value, 7,
                 value >= 100  ? "%.0f"
                 : value >= 10 ? "%.1f"
                 : value >= 1  ? "%.2f"
                               : "%.4f");
}

static void print_error(double value) {
    print_number(value, 8, value == 0 ? "%.0f" : "%.1e");
}

static double energy_of(const cli_engine_outcome *outcome) {
    const cli_engine_judge *judge = &outcome->judge;
    if (judge->broken)
        return INFINITY;
    return judge->forced || !(judge->energy_scale > 0) ? NAN
                                                       : judge->energy_rise / judge->energy_scale;
}

/* None of a run that ended before its last part. */
static double creep_of(const cli_engine_judge *judge) {
    return isnan(judge->late_time) ? NAN : judge->creep;
}

static void print_outcome(const cli_engine_race *race, const cli_engine_outcome *outcome) {
    const cli_engine_judge *judge = &outcome->judge;
    bool rest = race->scene.rest;
    printf(" %-13s", outcome->engine->title);
    if (!outcome->ran) {
        printf(" %s\n", outcome->process.end);
        return;
    }
    print_ms(outcome->mean);
    print_ms(outcome->median);
    print_ms(outcome->worst);
    print_ms(outcome->ratio);
    print_error(judge->deepest);
    print_error(judge->last_depth);
    print_error(rest ? judge->drift : NAN);
    print_error(rest ? creep_of(judge) : NAN);
    print_error(energy_of(outcome));
    print_error(outcome->measure);
    putchar('\n');
    if (outcome->process.end[0])
        printf("    at t = %.4g s %s\n", judge->time, outcome->process.end);
}

/* What rigor knows of itself. */
static void print_own(const cli_engine_outcome *outcome) {
    const rg_step_info *summary = &outcome->process.extra.summary;
    const rg_profile *profile = &outcome->process.extra.profile;
    double solves = (double)summary->solves;
    if (!outcome->engine->is_rigor || !outcome->ran)
        return;
    printf(" %s: certificate %.0f %% of the time; %.0f solves, %.2g %% failed, residual %.1e\n",
           outcome->engine->title, 100 * profile->stage[RG_STAGE_JUDGE] / profile->step, solves,
           solves > 0 ? 100 * (double)summary->solver_failures / solves : 0.0,
           summary->certificate.complementarity);
}

void cli_engine_print_race(const cli_engine_race *race) {
    printf("%s: %zu bodies, %.4g s, step %.4g ms; measure: %s\n", race->scene.text, race->moving,
           race->duration, 1e3 * race->step,
           race->outcomes[0].measure_name[0] ? race->outcomes[0].measure_name : "none");
    const cli_engine_outcome *yardstick = cli_engine_yardstick(race);
    char ratio[CLI_NUMBER_SIZE];
    snprintf(ratio, sizeof ratio, "/%.6s", yardstick ? yardstick->engine->title : "-");
    printf(" %-13s %7s %7s %7s %7s %8s %8s %8s %8s %8s %8s\n", "", "mean ms", "median", "worst",
           ratio, "deepest", "at end", "drift", "creep", "energy", "measure");
    for (size_t i = 0; i < race->count; i++)
        print_outcome(race, &race->outcomes[i]);
    for (size_t i = 0; i < race->count; i++)
        print_own(&race->outcomes[i]);
    putchar('\n');
}

/* ---- CSV ---- */

void cli_engine_csv_head(FILE *out) {
    fputs("scene,engine,version,bodies,step_s,steps,simulated_s,mean_ms,median_ms,worst_ms,"
          "ratio,ratio_to,deepest_m,end_depth_m,drift_m,creep_m_per_s,energy_rise_rel,measure,"
          "value,expected,solves,failures,residual",
          out);
    for (int i = 0; i < RG_STAGE_COUNT; i++)
        fprintf(out, ",%s_ms", rg_stage_name((rg_stage)i));
    fputs(",note\n", out);
}

/* Nothing for what was not measured. */
static void write_number(FILE *out, double value) {
    char text[CLI_NUMBER_SIZE];
    fprintf(out, ",%s", isnan(value) ? "" : cli_exact(value, text));
}

static void write_profile(FILE *out, const cli_engine_outcome *outcome) {
    const cli_engine_extra *extra = &outcome->process.extra;
    bool own = outcome->engine->is_rigor && outcome->ran;
    write_number(out, own ? (double)extra->summary.solves : NAN);
    write_number(out, own ? (double)extra->summary.solver_failures : NAN);
    write_number(out, own ? extra->summary.certificate.complementarity : NAN);
    for (int i = 0; i < RG_STAGE_COUNT; i++)
        write_number(out, own ? 1e3 * extra->profile.stage[i] / (double)extra->profile.steps : NAN);
}

void cli_engine_csv_race(FILE *out, const cli_engine_race *race) {
    const cli_engine_outcome *yardstick = cli_engine_yardstick(race);
    for (size_t i = 0; i < race->count; i++) {
        const cli_engine_outcome *outcome = &race->outcomes[i];
        const cli_engine_judge *judge = &outcome->judge;
        bool ran = outcome->ran;
        fprintf(out, "%s,%s,%s,%zu", race->scene.text, outcome->engine->name,
                outcome->engine->version, race->moving);
        write_number(out, race->step);
        write_number(out, (double)outcome->steps);
        write_number(out, judge->time);
        write_number(out, outcome->mean);
        write_number(out, outcome->median);
        write_number(out, outcome->worst);
        write_number(out, outcome->ratio);
        fprintf(out, ",%s", yardstick ? yardstick->engine->name : "");
        write_number(out, ran ? judge->deepest : NAN);
        write_number(out, ran ? judge->last_depth : NAN);
        write_number(out, ran ? judge->drift : NAN);
        write_number(out, ran ? creep_of(judge) : NAN);
        write_number(out, ran ? energy_of(outcome) : NAN);
        fprintf(out, ",%s", outcome->measure_name);
        write_number(out, outcome->measure);
        write_number(out, outcome->expected);
        write_profile(out, outcome);
        fputc(',', out); /* notes may have commas */
        for (const char *c = outcome->process.end; *c; c++)
            fputc(*c == ',' || *c == '\n' ? ';' : *c, out);
        fputc('\n', out);
    }
}

/* ---- the plot ---- */

#define LEAST_SHOWN 1e-16 /* m: where no penetration at all is drawn */

static bool is_shown(const cli_engine_race *race, size_t engine_) {
    const cli_engine_outcome *outcome = &race->outcomes[engine_];
    return outcome->ran && !outcome->judge.broken && isfinite(outcome->judge.deepest);
}

/* The outcome of an engine, found by name; races differ in who takes part. */
static const cli_engine_outcome *find(const cli_engine_race *race, const char *name) {
    for (size_t i = 0; i < race->count; i++)
        if (strcmp(race->outcomes[i].engine->name, name) == 0 && is_shown(race, i))
            return &race->outcomes[i];
    return NULL;
}

/* One pass draws the engines that made the whole run, the other those that were stopped: the means
 * of these are of the first part of the run. */
static bool is_drawn(const cli_engine_outcome *outcome, bool stopped) {
    return outcome && (outcome->process.end[0] != '\0') == stopped;
}

static void write_points(FILE *script, const cli_engine_race *races, size_t count, const char *name,
                         bool stopped) {
    for (size_t r = 0; r < count; r++) {
        const cli_engine_outcome *outcome = find(&races[r], name);
        if (is_drawn(outcome, stopped))
            fprintf(script, "%.6g %.6g %c\n", outcome->mean,
                    fmax(outcome->judge.deepest, LEAST_SHOWN), (char)('A' + r % 26));
    }
    fputs("e\n", script);
}

/* Full circles with white letters, or hollow ones. */
static void write_series(FILE *script, const char *separator, const char *colour, const char *title,
                         bool stopped) {
    fprintf(script, "%s'-' using 1:2 with points pt %d ps 1.5 lc rgb '%s' ", separator,
            stopped ? 6 : 7, colour);
    fputs(title ? "title " : "notitle", script);
    if (title)
        cli_gnuplot_quote(script, title);
    fprintf(script, ", '-' using 1:2:3 with labels font ',8' tc rgb '%s' notitle",
            stopped ? colour : "white");
}

static void write_frame(FILE *script, const cli_engine_race *races, size_t count) {
    fputs("set terminal svg size 960,640 noenhanced background rgb 'white' font 'sans,13'\n"
          "set logscale xy\nset format x '%g'\nset format y '%.0e'\nset grid\n"
          "set yrange [3e-17:]\nset ytics add ('0' 1e-16)\n"
          "set key outside right top\nset rmargin 28\n"
          "set xlabel 'ms of processor time a step (hollow: stopped before the end of the run)'\n"
          "set ylabel 'deepest penetration of the run (m); up to 1e-16: 0'\n",
          script);
    double line = fmin(0.032, 0.64 / (double)(count > 0 ? count : 1)); /* all of them fit */
    for (size_t r = 0; r < count; r++) {
        fprintf(script, "set label %zu at screen 0.80,%.3f ", r + 1, 0.66 - line * (double)r);
        char text[CLI_ENGINE_TEXT + 4];
        snprintf(text, sizeof text, "%c  %s", (char)('A' + r % 26), races[r].scene.text);
        cli_gnuplot_quote(script, text);
        fputs(" font ',11'\n", script);
    }
}

bool cli_engine_plot(FILE *script, const cli_engine_race *races, size_t count) {
    static const struct {
        const char *name, *title, *colour;
    } series[] = {
        {"rigor", "rigor", "#c00000"},         {"rigor-pushed", "rigor, pushed", "#ff8080"},
        {"bullet", "Bullet", "#0060a0"},       {"ode-quick", "ODE quick", "#009060"},
        {"ode-exact", "ODE exact", "#80b020"}, {"mujoco", "MuJoCo", "#806080"}};
    enum { SERIES = sizeof series / sizeof series[0] };
    size_t shown[SERIES][2] = {{0}};
    const char *separator = "plot ";
    write_frame(script, races, count);
    for (size_t s = 0; s < SERIES; s++) {
        const char *title = series[s].title;
        for (int stopped = 0; stopped < 2; stopped++) {
            for (size_t r = 0; r < count; r++)
                shown[s][stopped] += is_drawn(find(&races[r], series[s].name), stopped);
            if (!shown[s][stopped])
                continue;
            write_series(script, separator, series[s].colour, title, stopped);
            separator = ", ", title = NULL;
        }
    }
    fputc('\n', script);
    for (size_t s = 0; s < SERIES; s++)
        for (int pass = 0; pass < 4; pass++) /* circles, letters; the same of those stopped */
            if (shown[s][pass / 2])
                write_points(script, races, count, series[s].name, pass / 2);
    return strcmp(separator, ", ") == 0;
}
