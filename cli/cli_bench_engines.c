/* `rigor bench engines`: scenes through rigor and, in the same run, other engines. Each engine is a
 * process; they take turns of a tenth of a second, so that a machine that is busy with other work
 * is so for all of them; one judge looks at the poses of all (cli_engine_judge.c). */
#include "cli_bench_engines.h"
#include "cli_gnuplot.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static const char engines_help[] =
    "Usage: rigor bench engines [OPTION ...] [SCENE [NAME=VALUE ...]]\n"
    "\n"
    "Runs scenes through rigor and, in the same run, Bullet, ODE (both steppers) and MuJoCo, as\n"
    "far as they were installed when rigor was built: the same step, masses, shapes, friction\n"
    "and gravity, one thread, no sleeping. The poses of all are judged by rigor's narrow phase.\n"
    "Without SCENE: a list of scenes.\n"
    "\n"
    "Columns: milliseconds of processor time a step (mean, median, worst; rigor's with its\n"
    "certificate), the mean's ratio to Bullet over the steps that both made, deepest penetration\n"
    "over the run and at its end, drift (farthest from the start) and creep (speed in the last\n"
    "fifth) where nothing should move, the largest rise of energy, and a measure of the scene.\n"
    "`rigor, pushed` gets a force of 1e-9 N on every body that changes each step, which leaves\n"
    "nothing of the last step to be used again unchanged; at rest only.\n"
    "\n"
    "Options:\n"
    "      --quick          small scenes: less than a minute\n"
    "      --engines LIST   some of rigor,rigor-pushed,bullet,ode-quick,ode-exact,mujoco\n"
    "      --duration S     seconds to simulate of each scene\n"
    "      --limit S        seconds of processor time of an engine on a scene (60); what takes\n"
    "                       longer is stopped, and its figures are those of the steps it made\n"
    "      --csv FILE       all figures as a table; `-` is standard output\n"
    "      --plot FILE      deepest penetration against cost, as SVG (needs gnuplot)\n"
    "      --record FILE    keeps rigor's time in each stage of a step\n"
    "      --against FILE   shows it beside what --record kept before\n"
    "  -f, --overwrite      replace files of --csv, --plot and --record that exist\n"
    "  -h, --help           this text\n"
    "\n"
    "Exit codes: 0 done, 1 no memory or no process, 2 usage, 3 the scene cannot be used,\n"
    "4 output cannot be written.\n"
    "\n"
    "Examples:\n"
    "  rigor bench engines --quick\n"
    "  rigor bench engines pyramid base=20 --csv pyramid.csv\n";

static const cli_engine_scene full_scenes[] = {
    {"pyramid base=20", 0, true, "max_move_m"},
    {"pyramid base=60", 2, true, "max_move_m"},
    {"tower", 0, true, "top_drift_m"},
    {"tower count=100", 5, true, "top_drift_m"},
    {"mass-ratio", 0, true, "top_drift_m"},
    {"kapla", 5, true, "max_move_m"},
    {"incline", 0, true, "creep_m"},
    {"incline mu=0.3 yaw=30", 0, false, "acceleration_error_rel"},
    {"bounce", 0, false, "apex_error_rel"},
    {"cradle", 0, false, "energy_error_rel"},
    {"rolling", 0, false, "velocity_error_sq"},
    {"chain links=20 bob=100", 0, false, "joint_gap_m"},
    {"balls-666", 4, false, "penetration_sq"},
    {"bouncing", 4, false, "energy_error_rel"},
    {"elastic-666", 2, false, "energy_error_rel"},
    {"dominoes count=50", 0, false, "fallen"},
    {"funnel", 0, false, "escaped"},
    {"wall", 2, false, "moved"},
    {"pyramid-hit", 2, false, "moved"},
    {"shaken-box", 2, false, "escaped"},
    {"pile count=300", 8, false, "escaped"},
    {"pile count=1000", 8, false, "escaped"},
};

static const cli_engine_scene quick_scenes[] = {
    {"pyramid base=8", 0.5, true, "max_move_m"},
    {"tower count=10", 0.5, true, "top_drift_m"},
    {"mass-ratio", 0.5, true, "top_drift_m"},
    {"kapla levels=6", 0.5, true, "max_move_m"},
    {"incline", 0.5, true, "creep_m"},
    {"incline mu=0.3 yaw=30", 0.5, false, "acceleration_error_rel"},
    {"bounce", 2, false, "apex_error_rel"},
    {"cradle", 0.5, false, "energy_error_rel"},
    {"rolling", 0.25, false, "velocity_error_sq"},
    {"chain links=20 bob=100", 0.5, false, "joint_gap_m"},
    {"balls-666", 0.05, false, "penetration_sq"},
    {"bouncing", 0.05, false, "energy_error_rel"},
    {"elastic-666", 0.05, false, "energy_error_rel"},
    {"dominoes count=5", 2, false, "fallen"},
    {"funnel count=40", 0.5, false, "escaped"},
    {"wall columns=3 rows=3", 0.5, false, "moved"},
    {"pyramid-hit base=4", 0.5, false, "moved"},
    {"shaken-box count=20", 0.25, false, "escaped"},
    {"pile count=20", 1, false, "escaped"},
};

enum { SCENES_MOST = sizeof full_scenes / sizeof full_scenes[0], JUDGED_ALWAYS = 500 };

typedef struct bench {
    cli_engine engines[CLI_ENGINES_MOST];
    bool chosen[CLI_ENGINES_MOST];
    size_t engine_count;
    double duration, limit;
    cli_engine_scene one; /* of the command line */
    char one_text[CLI_ENGINE_TEXT];
    const cli_engine_scene *scenes;
    size_t scene_count;
    const char *csv, *plot;
    FILE *csv_file;
    int plot_file;
    cli_engine_record record;
    cli_engine_race races[SCENES_MOST];
    size_t race_count;
} bench;

/* ---- one scene ---- */

const cli_engine_outcome *cli_engine_yardstick(const cli_engine_race *race) {
    const cli_engine_outcome *found = NULL;
    for (size_t i = 0; i < race->count; i++) {
        const cli_engine_outcome *outcome = &race->outcomes[i];
        if (!outcome->engine->is_rigor && outcome->ran &&
            (!found || strcmp(outcome->engine->name, "bullet") == 0))
            found = outcome;
    }
    return found;
}

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void sum_up(cli_engine_outcome *outcome) {
    outcome->mean = outcome->median = outcome->worst = outcome->ratio = NAN;
    double *sorted = outcome->ran ? malloc(outcome->steps * sizeof *sorted) : NULL;
    if (!sorted)
        return;
    memcpy(sorted, outcome->cpu, outcome->steps * sizeof *sorted);
    qsort(sorted, outcome->steps, sizeof *sorted, compare_doubles);
    outcome->mean = 1e3 * outcome->total / (double)outcome->steps;
    outcome->median = 1e3 * sorted[outcome->steps / 2];
    outcome->worst = 1e3 * sorted[outcome->steps - 1];
    free(sorted);
}

static void compare(const cli_engine_race *race, cli_engine_outcome *outcome) {
    const cli_engine_outcome *yardstick = cli_engine_yardstick(race);
    double ours = 0, theirs = 0;
    if (!yardstick || !outcome->ran)
        return;
    for (size_t i = 0; i < outcome->steps && i < yardstick->steps; i++)
        ours += outcome->cpu[i], theirs += yardstick->cpu[i];
    outcome->ratio = ours / theirs;
}

/* The one that the list names, or the first that has a closed form. */
static void find_measure(cli_engine_outcome *outcome, const char *name) {
    enum { MOST = 64 };
    rg_measure measures[MOST];
    size_t count = rg_scene_measures(outcome->judge.scene, measures, MOST);
    outcome->measure = outcome->expected = NAN;
    for (size_t i = 0; i < count && i < MOST; i++) {
        if (name ? strcmp(measures[i].name, name) != 0 : !measures[i].has_expected)
            continue;
        snprintf(outcome->measure_name, sizeof outcome->measure_name, "%s", measures[i].name);
        if (outcome->ran && !outcome->judge.broken) /* errors of joints: from the poses of all */
            outcome->measure = strcmp(measures[i].name, "joint_gap_m") == 0
                                   ? outcome->judge.joint_error
                                   : measures[i].value;
        outcome->expected = measures[i].has_expected ? measures[i].expected : NAN;
        return;
    }
}

/* A turn of one engine. */
static void take_turn(cli_engine_race *race, cli_engine_outcome *outcome, size_t total,
                      double limit, cli_engine_steps *steps) {
    size_t every = race->moving > JUDGED_ALWAYS ? 6 : 1;
    cli_engine_run(&outcome->process, total - outcome->steps, steps);
    for (size_t i = 0; i < steps->count; i++) {
        size_t made = outcome->steps + 1;
        outcome->cpu[outcome->steps] = steps->cpu[i];
        outcome->total += steps->cpu[i];
        outcome->steps = made, outcome->ran = true;
        if (made % every == 0 || made == total || i + 1 == steps->count)
            cli_engine_judge_look(&outcome->judge, steps->states + i * outcome->process.body_count,
                                  race->step * (double)made, race->duration);
    }
    if (outcome->total > limit && outcome->steps < total && outcome->process.to >= 0) {
        cli_engine_stop(&outcome->process);
        snprintf(outcome->process.end, sizeof outcome->process.end,
                 "stopped: over the limit of processor time");
    }
}

/* Engines that are not there, or do not go with the scene, have a note and no figures. */
static bool enter(bench *this, cli_engine_race *race, const cli_engine *engine_, size_t total,
                  rg_error *error) {
    cli_engine_outcome *outcome = &race->outcomes[race->count++];
    *outcome = (cli_engine_outcome){.engine = engine_, .process = {.to = -1, .from = -1}};
    if (!cli_engine_judge_begin(&outcome->judge, race->scene.text, error))
        return false;
    outcome->cpu = calloc(total, sizeof *outcome->cpu);
    snprintf(error->text, sizeof error->text, "no memory, or no process");
    if (!outcome->cpu)
        return false;
    cli_engine_judge_look(&outcome->judge, outcome->judge.states, 0, race->duration);
    if (engine_->absent[0])
        snprintf(outcome->process.end, sizeof outcome->process.end, "%s", engine_->absent);
    else if (!cli_engine_start(&outcome->process, engine_, race->scene.text, this->limit))
        return false;
    outcome->process.body_count = rg_world_body_count(rg_scene_world(outcome->judge.scene));
    return true;
}

static bool enter_all(bench *this, cli_engine_race *race, size_t total, rg_error *error) {
    for (size_t i = 0; i < this->engine_count; i++)
        if (this->chosen[i] && (race->scene.rest || !this->engines[i].pushed) &&
            !enter(this, race, &this->engines[i], total, error))
            return false;
    return true;
}

static bool race_is_on(const cli_engine_race *race, size_t total) {
    for (size_t i = 0; i < race->count; i++)
        if (race->outcomes[i].process.to >= 0 && race->outcomes[i].steps < total)
            return true;
    return false;
}

static int measure(bench *this, cli_engine_race *race) {
    rg_error error = {0};
    rg_scene *scene = NULL;
    if (cli_engine_open(race->scene.text, &scene, &error) != RG_OK) {
        cli_complain("bench: %s", error.text);
        return EXIT_BAD_INPUT;
    }
    const rg_world *world = rg_scene_world(scene);
    size_t bodies = rg_world_body_count(world);
    race->step = rg_scene_step_size(scene);
    race->duration = this->duration > 0         ? this->duration
                     : race->scene.duration > 0 ? race->scene.duration
                                                : rg_scene_duration(scene);
    for (size_t i = 0; i < bodies; i++)
        race->moving += rg_body_motion(world, rg_world_body_at(world, i)) == RG_MOTION_DYNAMIC;
    rg_scene_destroy(scene);
    size_t total = (size_t)fmax(1, round(race->duration / race->step));
    cli_engine_steps steps = {.states =
                                  calloc((bodies + 1) * CLI_ENGINE_BLOCK, sizeof *steps.states)};
    bool good = steps.states && enter_all(this, race, total, &error);
    while (good && race_is_on(race, total))
        for (size_t i = 0; i < race->count; i++)
            take_turn(race, &race->outcomes[i], total, this->limit, &steps);
    free(steps.states);
    for (size_t i = 0; i < race->count; i++) {
        cli_engine_stop(&race->outcomes[i].process);
        sum_up(&race->outcomes[i]);
        if (good)
            find_measure(&race->outcomes[i], race->scene.measure);
    }
    for (size_t i = 0; i < race->count; i++)
        compare(race, &race->outcomes[i]);
    if (good)
        return EXIT_GOOD;
    cli_complain("bench: %s", error.text[0] ? error.text : "no memory");
    return EXIT_FAILED;
}

/* What the outputs need is in the outcomes. */
static void release(cli_engine_race *race) {
    for (size_t i = 0; i < race->count; i++) {
        cli_engine_outcome *outcome = &race->outcomes[i];
        free(outcome->cpu);
        outcome->cpu = NULL;
        cli_engine_judge figures = outcome->judge;
        cli_engine_judge_end(&outcome->judge);
        outcome->judge = figures;
        outcome->judge.scene = NULL, outcome->judge.collision = NULL;
        outcome->judge.states = NULL, outcome->judge.late = NULL;
    }
}

/* ---- the command ---- */

static bool choose(bench *this, const char *list) {
    size_t count = this->engine_count;
    for (size_t i = 0; i < count; i++)
        this->chosen[i] = !list;
    for (const char *at = list; at;) {
        size_t length = strcspn(at, ","), i = 0;
        while (i < count && (strlen(this->engines[i].name) != length ||
                             strncmp(this->engines[i].name, at, length) != 0))
            i++;
        if (i == count) {
            cli_complain("bench: --engines: unknown engine '%.*s'; known are rigor, rigor-pushed, "
                         "bullet, ode-quick, ode-exact, mujoco",
                         (int)length, at);
            return false;
        }
        this->chosen[i] = true;
        at = at[length] ? at + length + 1 : NULL;
    }
    return true;
}

static bool choose_scenes(bench *this, bool quick, int count, const char **arguments) {
    this->scenes = quick ? quick_scenes : full_scenes;
    this->scene_count = quick ? sizeof quick_scenes / sizeof quick_scenes[0] : SCENES_MOST;
    if (count == 0)
        return true;
    size_t used = 0;
    for (int i = 0; i < count; i++) {
        size_t length = strlen(arguments[i]);
        if (used + length + 2 > sizeof this->one_text || strchr(arguments[i], ' ') ||
            (i > 0 && !strchr(arguments[i], '='))) {
            cli_complain("bench: '%s' is neither an option nor NAME=VALUE of one SCENE",
                         arguments[i]);
            return false;
        }
        used += (size_t)snprintf(this->one_text + used, sizeof this->one_text - used, "%s%s",
                                 i ? " " : "", arguments[i]);
    }
    this->one = (cli_engine_scene){.text = this->one_text};
    for (size_t i = 0; i < SCENES_MOST; i++) /* as the list has it, where it does */
        if (strcmp(full_scenes[i].text, this->one_text) == 0 ||
            (strncmp(full_scenes[i].text, arguments[0], strlen(arguments[0])) == 0 &&
             strcspn(full_scenes[i].text, " ") == strlen(arguments[0]) && !this->one.measure))
            this->one.rest = full_scenes[i].rest, this->one.measure = full_scenes[i].measure;
    this->scenes = &this->one, this->scene_count = 1;
    return true;
}

static int open_outputs(bench *this) {
    int code = cli_gnuplot_open("bench", this->plot, &this->plot_file);
    if (code == EXIT_GOOD && this->csv) {
        this->csv_file = strcmp(this->csv, "-") == 0 ? stdout : fopen(this->csv, "w");
        if (!this->csv_file) {
            cli_complain("bench: --csv: %s cannot be written: %s", this->csv, strerror(errno));
            return EXIT_UNWRITABLE;
        }
        cli_engine_csv_head(this->csv_file);
    }
    return code == EXIT_GOOD ? cli_engine_record_begin(&this->record, "bench") : code;
}

static int draw(const bench *this) {
    FILE *script = tmpfile();
    if (!script) {
        cli_complain("bench: --plot: no temporary file: %s", strerror(errno));
        return EXIT_UNWRITABLE;
    }
    int code = EXIT_GOOD;
    if (cli_engine_plot(script, this->races, this->race_count))
        code = cli_gnuplot_draw("bench", script, this->plot_file);
    else
        cli_complain("bench: --plot: nothing to plot");
    fclose(script);
    return code;
}

static int close_outputs(bench *this, int code) {
    if (this->csv_file && this->csv_file != stdout && fclose(this->csv_file) != 0) {
        cli_complain("bench: --csv: %s cannot be written: %s", this->csv, strerror(errno));
        code = EXIT_UNWRITABLE;
    }
    int kept = cli_engine_record_end(&this->record, "bench");
    if (code == EXIT_GOOD && this->plot_file >= 0)
        code = draw(this);
    if (code == EXIT_GOOD)
        code = kept;
    return code == EXIT_GOOD ? cli_flush() : code;
}

static void report(bench *this, const cli_engine_race *race) {
    const cli_engine_outcome *yardstick = cli_engine_yardstick(race);
    if (this->csv_file != stdout)
        cli_engine_print_race(race);
    if (this->csv_file)
        cli_engine_csv_race(this->csv_file, race);
    for (size_t i = 0; i < race->count; i++)
        if (race->outcomes[i].engine->is_rigor && race->outcomes[i].ran) {
            char name[CLI_ENGINE_TEXT + 16];
            snprintf(name, sizeof name, "%s%s", race->scene.text,
                     race->outcomes[i].engine->pushed ? " (pushed)" : "");
            cli_engine_record_add(&this->record, name, &race->outcomes[i].process.extra.profile,
                                  yardstick ? yardstick->mean : NAN);
        }
    fflush(NULL);
}

static int run(bench *this) {
    int code = open_outputs(this);
    signal(SIGPIPE, SIG_IGN); /* an engine that has ended is seen by what it does not answer */
    for (size_t i = 0; i < this->scene_count && code == EXIT_GOOD; i++) {
        cli_engine_race *race = &this->races[this->race_count];
        *race = (cli_engine_race){.scene = this->scenes[i]};
        code = measure(this, race);
        if (code == EXIT_GOOD) {
            report(this, race);
            this->race_count++;
        }
        release(race);
    }
    return close_outputs(this, code);
}

int cli_bench_engines(int count, const char **arguments) {
    enum { QUICK, ENGINES, DURATION, LIMIT, CSV, PLOT, RECORD, AGAINST, OVERWRITE, HELP, OPTIONS };
    cli_option options[OPTIONS] = {{"quick", 0, false, NULL},       {"engines", 0, true, NULL},
                                   {"duration", 0, true, NULL},     {"limit", 0, true, NULL},
                                   {"csv", 0, true, NULL},          {"plot", 0, true, NULL},
                                   {"record", 0, true, NULL},       {"against", 0, true, NULL},
                                   {"overwrite", 'f', false, NULL}, {"help", 'h', false, NULL}};
    if (!cli_parse_options("bench", options, OPTIONS, arguments, &count))
        return EXIT_USAGE;
    if (options[HELP].value) {
        fputs(engines_help, stdout);
        return cli_flush();
    }
    for (int i = CSV; i <= RECORD; i++)
        if (!cli_may_write("bench", options[i].value, &options[OVERWRITE]))
            return EXIT_UNWRITABLE;
    bench *this = calloc(1, sizeof *this);
    if (!this) {
        cli_complain("bench: out of memory");
        return EXIT_FAILED;
    }
    this->csv = options[CSV].value, this->plot = options[PLOT].value;
    this->record.record = options[RECORD].value, this->record.against = options[AGAINST].value;
    this->plot_file = -1;
    this->engine_count = cli_engine_list(this->engines);
    int code = EXIT_USAGE;
    if (cli_positive_option("bench", &options[DURATION], 0, &this->duration) &&
        cli_positive_option("bench", &options[LIMIT], 60, &this->limit) &&
        choose(this, options[ENGINES].value) &&
        choose_scenes(this, options[QUICK].value, count, arguments))
        code = run(this);
    free(this);
    return code;
}
