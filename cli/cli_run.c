/* `rigor run`: a scene from its start, or a recording from where it stopped, to the end. */
#include "cli.h"

#include "rigor/impact.h"
#include "rigor/solver.h"

#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>

const char cli_run_help[] =
    "Usage: rigor run SCENE [NAME=VALUE ...] [OPTION ...]\n"
    "       rigor run --resume RECORDING [OPTION ...]\n"
    "\n"
    "Simulates a scene and reports the outcome: the certificate, the energy ledger,\n"
    "the scene's own measures and a hash of the final state. SCENE is a built-in scene\n"
    "(`rigor scenes` lists them) or a scene file (YAML or JSON); NAME=VALUE sets\n"
    "parameters of the scene, options replace what it says.\n"
    "\n"
    "Options:\n"
    "  -o, --out FILE       record into FILE (HDF5); without it nothing is recorded\n"
    "  -f, --overwrite      replace FILE (and those of --dump-problem) if it exists\n"
    "      --resume FILE    resume an unfinished recording from its last checkpoint\n"
    "      --method NAME    step method: analytic, stepping, penalty\n"
    "      --step S         seconds of a step, such as 1/240\n"
    "      --solver NAME    solver of contact problems: auto, dantzig, lemke, qp,\n"
    "                       gauss-seidel, newton, interior-point, admm, enumerate;\n"
    "                       lp, the heuristic of 1989, counts how often its guesses are right\n"
    "                       (analytic method, without --out)\n"
    "      --tolerance T    a solve whose residual is above T counts as failed\n"
    "      --impact LAW     law of impacts of the analytic method:\n"
    "                       simultaneous, propagation, poisson, energetic, reflection,\n"
    "                       dissipative; laws named by materials are kept\n"
    "      --integrator I   of the analytic method: dormand-prince, adams\n"
    "      --root-finder F  how the analytic method finds times of events: itp, illinois\n"
    "                       (that of 1989), bisection\n"
    "      --friction F     cone (exact), or polygon:K: a pyramid of K sides, K even\n"
    "      --gamma G        share of a penetration that a step takes back, 0 to 1\n"
    "      --detection D    continuous, or discrete: contacts at the current poses only\n"
    "      --points N       contact points of two convex parts: all, or at most N where\n"
    "                       that keeps the area to 1 %\n"
    "      --duration S     seconds to simulate, to the nearest whole number of steps; with\n"
    "                       --resume, in all\n"
    "      --threads N      threads; the results do not depend on it\n"
    "      --no-memory      also compute steps that can only repeat the last one\n"
    "      --lenient        of a robot, leave out what is not supported\n"
    "      --checkpoint S   seconds between checkpoints (default 2)\n"
    "      --time-limit S   stop after S seconds\n"
    "      --require LIST   limits that every step and the whole run must keep, such as\n"
    "                       'min_gap_m>-1e-6,passed_through<1'; names as in the\n"
    "                       JSON report; <, <=, >, >=\n"
    "      --accept-failures\n"
    "                       exit with 0 even if the run ends badly\n"
    "      --dump-problem STEP[:FILE]\n"
    "                       write the contact problems of a step, counted from 1, one file\n"
    "                       for each island, for `rigor solve`: FILE.h5 gives FILE-0.h5, ...\n"
    "      --profile        also report how long the stages took\n"
    "      --json           report as a JSON object on one line\n"
    "  -q, --quiet          no progress bar, notes, or report unless --json\n"
    "  -h, --help           this text\n"
    "\n"
    "Stopped by a signal or --time-limit it leaves its step and writes a checkpoint;\n"
    "killed, it has its last one.\n"
    "\n"
    "A run ends badly if two bodies come to overlap by more than 5 % of the smaller one's\n"
    "size, at any time, if any passed through each other, if more than 1 % of its contact\n"
    "problems were not solved, or if complementarity or cone violation exceed 1.\n"
    "\n"
    "Exit codes: 0 done, 1 a requirement was broken, the run cannot continue or ends badly,\n"
    "2 usage, 3 the scene or recording cannot be used, 4 output cannot be written, 130 and\n"
    "143 stopped by SIGINT and SIGTERM, 142 by --time-limit (recordings can be resumed).\n"
    "\n"
    "Examples:\n"
    "  rigor run dominoes --out dominoes.h5\n"
    "  rigor run projectiles count=100000 --duration 2 --threads 2 --json\n"
    "  rigor run tower count=10 --solver newton --require 'complementarity<1e-8'\n"
    "  rigor run my-scene.yaml --dump-problem 120:hard.h5 && rigor solve hard-0.h5\n"
    "  rigor run dominoes count=3 mu=0 --method analytic --solver lp --duration 1\n"
    "  rigor run --resume dominoes.h5\n";

enum {
    OPTION_OUT,
    OPTION_OVERWRITE,
    OPTION_RESUME,
    OPTION_METHOD,
    OPTION_STEP,
    OPTION_SOLVER,
    OPTION_TOLERANCE,
    OPTION_IMPACT,
    OPTION_INTEGRATOR,
    OPTION_ROOT_FINDER,
    OPTION_FRICTION,
    OPTION_GAMMA,
    OPTION_DETECTION,
    OPTION_POINTS,
    OPTION_DURATION,
    OPTION_THREADS,
    OPTION_NO_MEMORY,
    OPTION_LENIENT,
    OPTION_CHECKPOINT,
    OPTION_TIME_LIMIT,
    OPTION_REQUIRE,
    OPTION_ACCEPT_FAILURES,
    OPTION_DUMP_PROBLEM,
    OPTION_PROFILE,
    OPTION_JSON,
    OPTION_QUIET,
    OPTION_HELP,
    OPTION_COUNT
};
static const cli_option all_options[OPTION_COUNT] = {
    [OPTION_OUT] = {"out", 'o', true, NULL},
    [OPTION_OVERWRITE] = {"overwrite", 'f', false, NULL},
    [OPTION_RESUME] = {"resume", 0, true, NULL},
    [OPTION_METHOD] = {"method", 0, true, NULL},
    [OPTION_STEP] = {"step", 0, true, NULL},
    [OPTION_SOLVER] = {"solver", 0, true, NULL},
    [OPTION_TOLERANCE] = {"tolerance", 0, true, NULL},
    [OPTION_IMPACT] = {"impact", 0, true, NULL},
    [OPTION_INTEGRATOR] = {"integrator", 0, true, NULL},
    [OPTION_ROOT_FINDER] = {"root-finder", 0, true, NULL},
    [OPTION_FRICTION] = {"friction", 0, true, NULL},
    [OPTION_GAMMA] = {"gamma", 0, true, NULL},
    [OPTION_DETECTION] = {"detection", 0, true, NULL},
    [OPTION_POINTS] = {"points", 0, true, NULL},
    [OPTION_DURATION] = {"duration", 0, true, NULL},
    [OPTION_THREADS] = {"threads", 0, true, NULL},
    [OPTION_NO_MEMORY] = {"no-memory", 0, false, NULL},
    [OPTION_LENIENT] = {"lenient", 0, false, NULL},
    [OPTION_CHECKPOINT] = {"checkpoint", 0, true, NULL},
    [OPTION_TIME_LIMIT] = {"time-limit", 0, true, NULL},
    [OPTION_REQUIRE] = {"require", 0, true, NULL},
    [OPTION_ACCEPT_FAILURES] = {"accept-failures", 0, false, NULL},
    [OPTION_DUMP_PROBLEM] = {"dump-problem", 0, true, NULL},
    [OPTION_PROFILE] = {"profile", 0, false, NULL},
    [OPTION_JSON] = {"json", 0, false, NULL},
    [OPTION_QUIET] = {"quiet", 'q', false, NULL},
    [OPTION_HELP] = {"help", 'h', false, NULL},
};

typedef struct run {
    cli_option options[OPTION_COUNT];
    const char *scene_name;         /* null: resumed */
    rg_scene_parameter *parameters; /* names are copies that end at the '=' */
    size_t parameter_count;
    double step, duration, checkpoint, tolerance, time_limit; /* 0: not given */
    double gamma;
    int threads;
    cli_requirements requirements;
    cli_dump dump;
    cli_heuristic heuristic;

    rg_scene *scene;
    rg_recorder *recorder;
    const char *recording; /* path, null: none */
    uint64_t first, total; /* steps made before this process; steps in all */
    double first_time;     /* s, simulated before this process */
    uint64_t record_every; /* steps */
    double wall, cpu;      /* s */
    cli_events events;
} run;

/* ---- signals ---- */

#define LONGEST_LIMIT 1e9 /* s: every system's timer takes it */

/* Set by the handler, read by the loop; and the world whose step the handler interrupts. */
static volatile sig_atomic_t stop_signal;
static rg_world *volatile stepped;

static void note_signal(int number) {
    stop_signal = number;
    if (stepped)
        rg_world_interrupt(stepped);
}

/* Only when the loop that looks at the note is near: until then a signal shall end the process, in
 * particular one that waits for a scene from a pipe. */
static void watch_signals(void) {
    static const int watched[] = {SIGINT, SIGTERM, SIGALRM};
    struct sigaction action = {.sa_handler = note_signal}, before;
    sigemptyset(&action.sa_mask);
    /* A second signal of the kind ends the process at once, for the impatient. */
    action.sa_flags = (int)SA_RESETHAND | SA_RESTART;
    for (size_t i = 0; i < sizeof watched / sizeof watched[0]; i++)
        /* The parent process may have told this one to ignore a signal, as shells do with SIGINT
         * in the background. */
        if (sigaction(watched[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(watched[i], &action, NULL);
}

/* Writes past a limit or into a closed pipe shall fail, not kill. */
static void ignore_signals(void) {
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigemptyset(&ignore.sa_mask);
    sigaction(SIGXFSZ, &ignore, NULL);
    sigaction(SIGPIPE, &ignore, NULL);
}

/* ---- the command line ---- */

static bool given(const run *this, int option) {
    return this->options[option].value != NULL;
}

enum { MOST_NAMES = 16 };

static bool complain_name(const char *what, const char *name, const char *const *names,
                          size_t count) {
    const char *nearest = cli_nearest(name, names, count);
    fprintf(stderr, "rigor: run: --%s: unknown %s '%s'; ", what, what, name);
    if (nearest)
        fprintf(stderr, "did you mean %s?\n", nearest);
    else {
        fputs("known are", stderr);
        for (size_t i = 0; i < count; i++)
            fprintf(stderr, "%s %s", i ? "," : "", names[i]);
        fputc('\n', stderr);
    }
    return false;
}

static bool check_method(const char *name) {
    if (!name || rg_method_find(name))
        return true;
    const char *names[MOST_NAMES];
    size_t count = rg_method_count() < MOST_NAMES ? rg_method_count() : MOST_NAMES;
    for (size_t i = 0; i < count; i++)
        names[i] = rg_method_name(rg_method_at(i));
    return complain_name("method", name, names, count);
}

static bool is_lp(const run *this) {
    const char *name = this->options[OPTION_SOLVER].value;
    return name && strcmp(name, "lp") == 0;
}

static bool check_lp(const run *this) {
    if (!cli_heuristic_is_built_in())
        cli_complain("run: the solver lp is not built in: it needs Clp (RIGOR_LP)");
    else if (given(this, OPTION_OUT))
        cli_complain("run: --solver: lp does not go with --out, as a recording cannot name it; "
                     "leave one out");
    else
        return true;
    return false;
}

static bool check_solver(const run *this) {
    const char *name = this->options[OPTION_SOLVER].value;
    if (!name || rg_solver_find(name))
        return true;
    if (is_lp(this))
        return check_lp(this);
    const char *names[MOST_NAMES];
    size_t count = rg_solver_count() < MOST_NAMES ? rg_solver_count() : MOST_NAMES;
    for (size_t i = 0; i < count; i++)
        names[i] = rg_solver_name(rg_solver_at(i));
    return complain_name("solver", name, names, count);
}

static bool check_impact(const char *name) {
    if (!name || rg_impact_law_find(name))
        return true;
    const char *names[MOST_NAMES];
    size_t count = rg_impact_law_count() < MOST_NAMES ? rg_impact_law_count() : MOST_NAMES;
    for (size_t i = 0; i < count; i++)
        names[i] = rg_impact_law_name(rg_impact_law_at(i));
    return complain_name("impact", name, names, count);
}

static bool check_integrator(const char *name) {
    static const char *const names[] = {"dormand-prince", "adams"};
    if (!name || strcmp(name, names[0]) == 0 || strcmp(name, names[1]) == 0)
        return true;
    return complain_name("integrator", name, names, 2);
}

static bool check_root_finder(const char *name) {
    const char *names[RG_ROOT_METHOD_COUNT];
    for (int i = 0; i < RG_ROOT_METHOD_COUNT; i++) {
        names[i] = rg_root_method_name((rg_root_method)i);
        if (!name || strcmp(name, names[i]) == 0)
            return true;
    }
    return complain_name("root-finder", name, names, RG_ROOT_METHOD_COUNT);
}

static bool check_friction(const char *text) {
    static const char prefix[] = "polygon:";
    double corners;
    if (!text || strcmp(text, "cone") == 0 ||
        (strncmp(text, prefix, sizeof prefix - 1) == 0 &&
         cli_parse_number(text + sizeof prefix - 1, &corners) && corners >= 4 && corners <= 256 &&
         fmod(corners, 2) == 0))
        return true;
    cli_complain("run: --friction: '%s' is neither cone nor polygon:K with K even, from 4 to 256",
                 text);
    return false;
}

static bool check_detection(const char *text) {
    if (!text || strcmp(text, "continuous") == 0 || strcmp(text, "discrete") == 0)
        return true;
    cli_complain("run: --detection: '%s' is neither continuous nor discrete", text);
    return false;
}

static bool check_points(const char *text) {
    double most;
    if (!text || strcmp(text, "all") == 0 ||
        (cli_parse_number(text, &most) && most >= 1 && most <= 1e6 && fmod(most, 1) == 0))
        return true;
    cli_complain("run: --points: '%s' is neither all nor a number of contact points", text);
    return false;
}

static bool parse_parameters(run *this, int count, const char **arguments) {
    this->parameters = calloc((size_t)count + 1, sizeof *this->parameters);
    if (!this->parameters) {
        cli_complain("run: out of memory");
        return false;
    }
    for (int i = 0; i < count; i++) {
        const char *equals = strchr(arguments[i], '=');
        if (!equals || equals == arguments[i]) {
            cli_complain("run: '%s' is neither an option nor NAME=VALUE; see `rigor run --help`",
                         arguments[i]);
            return false;
        }
        size_t length = (size_t)(equals - arguments[i]);
        char *name = malloc(length + 1);
        if (!name) {
            cli_complain("run: out of memory");
            return false;
        }
        memcpy(name, arguments[i], length);
        name[length] = '\0';
        this->parameters[this->parameter_count++] = (rg_scene_parameter){name, equals + 1};
    }
    return true;
}

static bool check_resume_options(const run *this, int others) {
    static const int fixed[] = {OPTION_OUT,        OPTION_METHOD,      OPTION_STEP,
                                OPTION_SOLVER,     OPTION_TOLERANCE,   OPTION_IMPACT,
                                OPTION_INTEGRATOR, OPTION_ROOT_FINDER, OPTION_FRICTION,
                                OPTION_GAMMA,      OPTION_DETECTION,   OPTION_POINTS};
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
        if (given(this, fixed[i])) {
            cli_complain("run: --%s does not go with --resume: the run keeps what it was started "
                         "with",
                         this->options[fixed[i]].name);
            return false;
        }
    if (others > 0) {
        cli_complain("run: --resume takes the scene from the recording; leave out SCENE and "
                     "parameters");
        return false;
    }
    return true;
}

static bool parse_numbers(run *this) {
    enum { MOST_THREADS = 1024 };
    double threads;
    if (!cli_positive_option("run", &this->options[OPTION_STEP], 0, &this->step) ||
        !cli_positive_option("run", &this->options[OPTION_DURATION], 0, &this->duration) ||
        !cli_positive_option("run", &this->options[OPTION_TOLERANCE], 0, &this->tolerance) ||
        !cli_whole_option("run", &this->options[OPTION_THREADS], MOST_THREADS, 0, &threads))
        return false;
    const char *gamma = this->options[OPTION_GAMMA].value;
    if (gamma && !(cli_parse_number(gamma, &this->gamma) && this->gamma >= 0 && this->gamma <= 1)) {
        cli_complain("run: --gamma: '%s' is not a number from 0 to 1", gamma);
        return false;
    }
    this->threads = (int)threads;
    this->checkpoint = rg_recorder_options_default().checkpoint_every;
    const char *checkpoint = this->options[OPTION_CHECKPOINT].value;
    if (checkpoint && !(cli_parse_number(checkpoint, &this->checkpoint) && this->checkpoint >= 0)) {
        cli_complain("run: --checkpoint: '%s' is not a number of seconds, 0 or more", checkpoint);
        return false;
    }
    const char *limit = this->options[OPTION_TIME_LIMIT].value;
    if (limit && !(cli_parse_number(limit, &this->time_limit) && this->time_limit > 0 &&
                   this->time_limit <= LONGEST_LIMIT)) {
        cli_complain("run: --time-limit: '%s' is not a number of seconds above 0, up to %g", limit,
                     LONGEST_LIMIT);
        return false;
    }
    return true;
}

/* EXIT_GOOD, or why not. */
static int parse(run *this, int count, const char **arguments) {
    if (!cli_parse_options("run", this->options, OPTION_COUNT, arguments, &count))
        return EXIT_USAGE;
    if (given(this, OPTION_HELP))
        return EXIT_GOOD;
    bool resumed = given(this, OPTION_RESUME);
    if (!resumed && count == 0) {
        cli_complain("run: which SCENE? `rigor scenes` lists the built-in ones");
        return EXIT_USAGE;
    }
    if (resumed && !check_resume_options(this, count))
        return EXIT_USAGE;
    if (!resumed) {
        this->scene_name = arguments[0];
        if (!parse_parameters(this, count - 1, arguments + 1))
            return EXIT_USAGE;
    }
    if (given(this, OPTION_OVERWRITE) && !given(this, OPTION_OUT) &&
        !given(this, OPTION_DUMP_PROBLEM)) {
        cli_complain("run: --overwrite goes with --out or --dump-problem; add --out FILE.h5");
        return EXIT_USAGE;
    }
    if (!check_method(this->options[OPTION_METHOD].value) || !check_solver(this) ||
        !check_impact(this->options[OPTION_IMPACT].value) ||
        !check_integrator(this->options[OPTION_INTEGRATOR].value) ||
        !check_root_finder(this->options[OPTION_ROOT_FINDER].value) ||
        !check_friction(this->options[OPTION_FRICTION].value) ||
        !check_detection(this->options[OPTION_DETECTION].value) ||
        !check_points(this->options[OPTION_POINTS].value) || !parse_numbers(this))
        return EXIT_USAGE;
    const char *dump = this->options[OPTION_DUMP_PROBLEM].value;
    if (dump && !cli_parse_dump(dump, &this->dump))
        return EXIT_USAGE;
    this->dump.overwrite = &this->options[OPTION_OVERWRITE];
    const char *require = this->options[OPTION_REQUIRE].value;
    if (require && !cli_parse_requirements(require, &this->requirements))
        return EXIT_USAGE;
    return EXIT_GOOD;
}

/* ---- before the loop ---- */

/* Steps to make and to record; false if there are too many to count. */
static bool plan(run *this) {
    const rg_world *world = rg_scene_world(this->scene);
    double step = rg_scene_step_size(this->scene);
    double duration = this->duration > 0 ? this->duration : rg_scene_duration(this->scene);
    if (this->recorder)
        duration = rg_recorder_duration(this->recorder);
    double total = round(duration / step), every = round(rg_scene_record_every(this->scene) / step);
    if (!(total < 0x1p53)) {
        cli_complain("%s: %g s in steps of %g s are more steps than can be counted; give a larger "
                     "--step or a "
                     "shorter --duration",
                     rg_scene_name(this->scene), duration, step);
        return false;
    }
    this->total = total < 1 ? 1 : (uint64_t)total;
    this->record_every = every < 1 ? 1 : every < 0x1p53 ? (uint64_t)every : UINT64_MAX;
    this->first = rg_world_step_count(world);
    this->first_time = rg_world_time(world);
    return true;
}

static void warn(run *this) {
    double duration = this->duration > 0 ? this->duration : rg_scene_duration(this->scene);
    char prefix[160];
    snprintf(prefix, sizeof prefix, "rigor: %.120s", rg_scene_name(this->scene));
    cli_warn_of_run(prefix, this->scene, duration, stderr);
}

/* Whether the step to dump is one of this run's, and its files can be new. */
static int check_dump(run *this) {
    if (this->dump.step == 0)
        return EXIT_GOOD;
    const char *method = rg_method_name(rg_world_method(rg_scene_world(this->scene)));
    if (strcmp(method, "stepping") != 0) {
        cli_complain("run: --dump-problem: the method %s has no problems with a form in FCLIB; it "
                     "goes with --method stepping",
                     method);
        return EXIT_USAGE;
    }
    if (this->dump.step > this->first && this->dump.step <= this->total)
        return cli_dump_check(&this->dump, this->scene);
    cli_complain("run: --dump-problem: step %llu is not one of the steps %llu to %llu of this run",
                 (unsigned long long)this->dump.step, (unsigned long long)this->first + 1,
                 (unsigned long long)this->total);
    return EXIT_USAGE;
}

/* Whether a file that recording into `out` writes is the file `scene`. */
static bool would_overwrite(const char *out, const char *scene) {
    static const char *const suffixes[] = {"", ".new", ".journal", ".journal.new"};
    struct stat source, target;
    size_t room = strlen(out) + sizeof ".journal.new";
    char *path = malloc(room);
    bool same = false;
    for (size_t i = 0; path && i < sizeof suffixes / sizeof suffixes[0] && !same; i++) {
        snprintf(path, room, "%s%s", out, suffixes[i]);
        same = stat(scene, &source) == 0 && stat(path, &target) == 0 &&
               source.st_dev == target.st_dev && source.st_ino == target.st_ino;
    }
    free(path);
    return same;
}

static int complain_of(rg_status status, const rg_error *error) {
    cli_complain("%s", error->text);
    return cli_exit_code(status);
}

/* A scene from its start. Nothing is written before the run is known to be possible. */
static int open_scene(run *this, const rg_scene_options *options,
                      const rg_recorder_options *recording) {
    rg_error error = {0};
    rg_status status = cli_create_scene(this->scene_name, options, "rigor: ", &this->scene, &error);
    if (status != RG_OK)
        return complain_of(status, &error);
    if (!given(this, OPTION_QUIET))
        cli_print_left_out(this->scene);
    if (!plan(this))
        return EXIT_BAD_INPUT;
    if (!given(this, OPTION_QUIET))
        warn(this);
    int code = check_dump(this);
    if (code == EXIT_GOOD && is_lp(this))
        code = cli_heuristic_begin(&this->heuristic, this->scene);
    if (code != EXIT_GOOD)
        return code;
    this->recording = this->options[OPTION_OUT].value;
    watch_signals();
    if (!this->recording)
        return EXIT_GOOD;
    if (!rg_scene_get_origin(this->scene).builtin &&
        would_overwrite(this->recording, this->scene_name)) {
        cli_complain("run: --out: recording into %s would overwrite the scene %s; choose another "
                     "name",
                     this->recording, this->scene_name);
        return EXIT_USAGE;
    }
    struct stat there;
    if (!recording->overwrite && stat(this->recording, &there) == 0 && S_ISREG(there.st_mode)) {
        cli_complain(
            "run: %s exists; add -f (--overwrite) to replace it, --resume %s to go on with "
            "it, or choose another name",
            this->recording, this->recording);
        return EXIT_UNWRITABLE;
    }
    status = rg_recorder_open(this->scene, this->recording, recording, &this->recorder, &error);
    return status == RG_OK ? EXIT_GOOD : complain_of(status, &error);
}

static int resume(run *this, const rg_scene_options *options,
                  const rg_recorder_options *recording) {
    rg_error error = {0};
    this->recording = this->options[OPTION_RESUME].value;
    rg_status status = rg_recorder_resume(this->recording, recording, options, &this->scene,
                                          &this->recorder, &error);
    if (status != RG_OK)
        return complain_of(status, &error);
    watch_signals();
    int code = plan(this) ? check_dump(this) : EXIT_BAD_INPUT;
    if (code == EXIT_GOOD)
        return EXIT_GOOD;
    (void)rg_recorder_close(this->recorder, false, &error);
    this->recorder = NULL;
    return code;
}

static int open_run(run *this) {
    rg_scene_options options = {.parameters = this->parameters,
                                .parameter_count = this->parameter_count,
                                .method = this->options[OPTION_METHOD].value,
                                .step = this->step,
                                .threads = this->threads,
                                .no_memory = given(this, OPTION_NO_MEMORY),
                                .lenient = given(this, OPTION_LENIENT),
                                .solver = is_lp(this) ? NULL : this->options[OPTION_SOLVER].value,
                                .solver_tolerance = this->tolerance,
                                .impact = this->options[OPTION_IMPACT].value,
                                .integrator = this->options[OPTION_INTEGRATOR].value,
                                .root_finder = this->options[OPTION_ROOT_FINDER].value,
                                .friction = this->options[OPTION_FRICTION].value,
                                .detection = this->options[OPTION_DETECTION].value,
                                .points = this->options[OPTION_POINTS].value,
                                .gamma = given(this, OPTION_GAMMA) ? &this->gamma : NULL};
    rg_recorder_options recording = rg_recorder_options_default();
    recording.checkpoint_every = this->checkpoint;
    recording.overwrite = given(this, OPTION_OVERWRITE);
    recording.duration = this->duration;
    return given(this, OPTION_RESUME) ? resume(this, &options, &recording)
                                      : open_scene(this, &options, &recording);
}

static void print_notes(const run *this) {
    if (given(this, OPTION_QUIET))
        return;
    if (given(this, OPTION_RESUME))
        fprintf(stderr, "rigor: resumed %s at t = %.6g s, step %llu of %llu\n", this->recording,
                this->first_time, (unsigned long long)this->first, (unsigned long long)this->total);
}

/* ---- the loop ---- */

static rg_status step_once(run *this, uint64_t step_number, double step, rg_error *error) {
    rg_world *world = rg_scene_world(this->scene);
    rg_step_info info;
    rg_status status = cli_dump_before(&this->dump, this->scene, step_number, error);
    if (status == RG_OK)
        status = rg_world_step(world, step, &info, error);
    if (status == RG_OK)
        status = cli_dump_after(&this->dump, step_number, given(this, OPTION_QUIET), error);
    if (status != RG_OK)
        return status;
    if (this->heuristic.status != RG_OK) {
        *error = (rg_error){.status = this->heuristic.status};
        snprintf(error->text, sizeof error->text, "--solver lp: problems could not be counted: %s",
                 rg_status_text(this->heuristic.status));
        return this->heuristic.status;
    }
    rg_scene_observe(this->scene);
    cli_events_note(&this->events, world);
    cli_check_step(&this->requirements, &info, step_number);
    if (this->recorder)
        rg_recorder_step(this->recorder, &info);
    bool is_frame = step_number % this->record_every == 0 || step_number == this->total;
    return is_frame && this->recorder ? rg_recorder_frame(this->recorder, NULL, error) : RG_OK;
}

/* SIGALRM after so many seconds; 0: never. */
static void set_timer(double seconds) {
    double whole = floor(seconds);
    struct itimerval timer = {.it_value = {(time_t)whole, (suseconds_t)(1e6 * (seconds - whole))}};
    if (seconds > 0 && whole == 0 && timer.it_value.tv_usec == 0)
        timer.it_value.tv_usec = 1; /* 0 would mean never */
    setitimer(ITIMER_REAL, &timer, NULL);
}

static rg_status go(run *this, rg_error *error) {
    double step = rg_scene_step_size(this->scene);
    cli_progress progress = cli_progress_begin(this->first, this->total, given(this, OPTION_QUIET));
    double start = cli_clock(), cpu = cli_processor_clock();
    rg_status status = RG_OK;
    stepped = rg_scene_world(this->scene);
    set_timer(this->time_limit);
    for (uint64_t i = this->first; i < this->total && !stop_signal && status == RG_OK; i++) {
        status = step_once(this, i + 1, step, error);
        cli_progress_update(&progress, i + 1);
    }
    set_timer(0);
    stepped = NULL;
    if (status == RG_INTERRUPTED && stop_signal)
        status = RG_OK; /* the world is as it was after the last step */
    this->wall = cli_clock() - start, this->cpu = cli_processor_clock() - cpu;
    cli_progress_clear(&progress);
    return status;
}

/* ---- after the loop ---- */

static int close_recorder(run *this, bool finished) {
    rg_error error;
    if (!this->recorder)
        return EXIT_GOOD;
    rg_status status = rg_recorder_close(this->recorder, finished, &error);
    this->recorder = NULL;
    if (status == RG_OK)
        return EXIT_GOOD;
    cli_complain("%s", error.text);
    return cli_exit_code(status);
}

static int fail(run *this, rg_status status, const rg_error *error) {
    cli_complain("%s", error->text);
    if (this->recorder && status == RG_WRITE_FAILED && this->dump.status == RG_OK) {
        rg_error ignored; /* the recorder is broken and says so again */
        (void)rg_recorder_close(this->recorder, false, &ignored);
        this->recorder = NULL;
        cli_complain("what was recorded before can be read; with room on the disk, continue with "
                     "`rigor run --resume %s`",
                     this->recording);
    } else {
        (void)close_recorder(this, false);
    }
    /* The scene could be used; it is the run that cannot go on. */
    return status == RG_WRITE_FAILED ? EXIT_UNWRITABLE : EXIT_FAILED;
}

static int stop(run *this) {
    const rg_world *world = rg_scene_world(this->scene);
    int code = close_recorder(this, false);
    const char *name = stop_signal == SIGINT    ? "SIGINT"
                       : stop_signal == SIGALRM ? "its time limit"
                                                : "SIGTERM";
    if (code != EXIT_GOOD)
        return code;
    if (this->recording)
        cli_complain("stopped by %s at t = %.6g s; continue with `rigor run --resume %s`", name,
                     rg_world_time(world), this->recording);
    else
        cli_complain("stopped by %s at t = %.6g s", name, rg_world_time(world));
    return 128 + stop_signal;
}

static int report(run *this) {
    rg_world *world = rg_scene_world(this->scene);
    bool quiet = given(this, OPTION_QUIET), json = given(this, OPTION_JSON);
    cli_report figures = {.scene = this->scene,
                          .summary = rg_world_summary(world),
                          .wall = this->wall,
                          .cpu = this->cpu,
                          .steps_here = rg_world_step_count(world) - this->first,
                          .simulated_here = rg_world_time(world) - this->first_time,
                          .recording = this->recording,
                          .profile = given(this, OPTION_PROFILE),
                          .events = &this->events,
                          .heuristic = this->heuristic.context ? &this->heuristic : NULL};
    int code = close_recorder(this, true);
    if (code != EXIT_GOOD)
        return code;
    cli_check_run(&this->requirements, &figures.summary);
    if (json)
        cli_print_json(&figures);
    else if (!quiet)
        cli_print_summary(&figures);
    if (!quiet && figures.summary.solver_failures > 0)
        fprintf(
            stderr,
            "rigor: note: %llu of %llu contact problems were not solved to %.3g; the certificate "
            "has the worst\n",
            (unsigned long long)figures.summary.solver_failures,
            (unsigned long long)figures.summary.solves, rg_world_settings(world).solver_tolerance);
    if (!quiet && !json && !this->recording && !is_lp(this))
        fputs("rigor: nothing was recorded; --out FILE.h5 records\n", stderr);
    code = cli_flush();
    int kept = cli_report_requirements(&this->requirements, quiet);
    int ended =
        given(this, OPTION_ACCEPT_FAILURES) ? EXIT_GOOD : cli_report_end(world, &figures.summary);
    return code != EXIT_GOOD ? code : kept != EXIT_GOOD ? kept : ended;
}

static int execute(run *this) {
    rg_error error = {0};
    ignore_signals();
    int code = open_run(this);
    if (code != EXIT_GOOD)
        return code;
    print_notes(this);
    rg_status status = go(this, &error);
    if (status != RG_OK)
        return fail(this, status, &error);
    bool done = rg_world_step_count(rg_scene_world(this->scene)) >= this->total;
    return done ? report(this) : stop(this);
}

int cli_run(int count, const char **arguments) {
    run this = {0};
    memcpy(this.options, all_options, sizeof all_options);
    int code = parse(&this, count, arguments);
    if (code == EXIT_GOOD && given(&this, OPTION_HELP)) {
        fputs(cli_run_help, stdout);
        code = cli_flush();
    } else if (code == EXIT_GOOD) {
        code = execute(&this);
    }
    rg_scene_destroy(this.scene);
    cli_heuristic_end(&this.heuristic);
    for (size_t i = 0; i < this.parameter_count; i++)
        free((char *)this.parameters[i].name);
    free(this.parameters);
    return code;
}
