/* The command `rigor`: what its files share. It uses the library's public headers only. */
#ifndef RIGOR_CLI_H
#define RIGOR_CLI_H

#include "rigor/event.h"
#include "rigor/recording.h"
#include "rigor/rigor.h"
#include "rigor/scene.h"
#include "rigor/text.h"
#include "rigor/version.h"

#include <stdarg.h>
#include <stdio.h>

/* What the command exits with; in the help and the man page too. A run that a signal stopped exits
 * with 128 + the signal's number, as shells have it. */
enum {
    EXIT_GOOD = 0,
    EXIT_FAILED = 1,    /* a requirement or a check is not met, a problem is not solved, or a run
                           cannot go on */
    EXIT_USAGE = 2,     /* the command line makes no sense */
    EXIT_BAD_INPUT = 3, /* a scene, recording or problem cannot be used */
    EXIT_UNWRITABLE = 4 /* output cannot be written */
};

/* ---- cli_print.c ---- */

/* As fprintf, vfprintf and fputs; what goes to standard output or standard error becomes visible
 * (rg_text_visible): names of files and what is in them do not command a terminal. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
int cli_print(FILE *file, const char *format, ...);
#if defined(__GNUC__)
__attribute__((format(printf, 2, 0)))
#endif
int cli_print_list(FILE *file, const char *format, va_list values);
int cli_put(const char *text, FILE *file);

/* No file of the command can forget it: these names mean the functions above in all of them.
 * (fputs)(...) in parentheses is that of the C library. */
#undef printf
#undef fprintf
#undef fputs
#undef puts
#define printf(...)       cli_print(stdout, __VA_ARGS__)
#define fprintf(...)      cli_print(__VA_ARGS__)
#define fputs(text, file) cli_put(text, file)
#define puts(text)        cli_print(stdout, "%s\n", text)

/* ---- cli_text.c ---- */

/* `rigor: message` on standard error. */
#if defined(__GNUC__)
__attribute__((format(printf, 1, 2)))
#endif
void cli_complain(const char *format, ...);
/* The exit code that a failure of the library means. */
int cli_exit_code(rg_status status);
/* Whether everything on standard output got out: EXIT_GOOD or EXIT_UNWRITABLE. */
int cli_flush(void);
/* The candidate that `word` may be a misspelling of, or null. */
const char *cli_nearest(const char *word, const char *const *candidates, size_t count);
/* The whole of a text as a finite number: 0.01, 1e-3 or a fraction such as 1/240. The one reader of
 * numbers of all options. */
bool cli_parse_number(const char *text, double *value);
enum { CLI_NUMBER_SIZE = 32 };
/* The shortest text that reads back to the same number. */
const char *cli_exact(double value, char text[CLI_NUMBER_SIZE]);
/* A JSON number (null for what JSON has no number for) and a JSON string (U+FFFD for each byte that
 * is not UTF-8). */
void cli_print_json_number(double value);
void cli_print_json_text(const char *text);
void cli_print_json_value(double value, bool is_truth); /* true, false or a number */
/* s, from an arbitrary start. */
double cli_clock(void);
/* s of processor time of this process, all its threads included. */
double cli_processor_clock(void);
/* Whether a file is a recording, and not a scene. */
bool cli_is_recording(const char *path);
/* Whether the name is that of a built-in scene or ends as those of scene files do. */
bool cli_is_scene(const char *name);
/* rg_recording_open; of a file that is none by its looks, or a built-in scene, the message says how
 * to make one. */
rg_status cli_open_recording(const char *path, rg_recording **recording, rg_error *error);
/* And is longer than that end. */
bool cli_ends_with(const char *text, const char *end);

/* ---- cli_scene.c ---- */

/* rg_scene_create with all mistakes of a file: those before the last are printed behind `prefix`,
 * the last is in *error, for the caller to print. */
rg_status cli_create_scene(const char *name, const rg_scene_options *options, const char *prefix,
                           rg_scene **scene, rg_error *error);

/* ---- cli_columns.c ---- */

/* Of a line on standard output, 40 to 1000: COLUMNS of the environment, else that of the terminal,
 * else 80. */
int cli_columns(void);
/* The words of a text and a line break; the line has `at` columns already, further ones begin with
 * `indent`. */
void cli_print_wrapped(const char *text, int at, int indent);

/* ---- cli_warn.c ---- */

/* Steps and sizes that nobody means: true if there are some, which are said on `out` (null:
 * nowhere) behind `prefix`. `duration`: s, of the run. */
bool cli_warn_of_run(const char *prefix, rg_scene *scene, double duration, FILE *out);

/* ---- cli_options.c ---- */

typedef struct cli_option {
    const char *name; /* without the dashes */
    char letter;      /* -x, or 0 */
    bool takes_value;
    const char *value; /* set by parsing: the text, or "" for a switch; null if it was not given */
} cli_option;

/* Sorts the arguments into options and the others, which are moved to the front of `arguments`
 * (*count of them remain). Complains and returns false if it cannot. `command` names the command in
 * messages; `--help` and `-h` are left to the option table. */
bool cli_parse_options(const char *command, cli_option *options, size_t option_count,
                       const char **arguments, int *count);
/* The value of an option that must be a number > 0; `fallback` if it is not given. */
bool cli_positive_option(const char *command, const cli_option *option, double fallback,
                         double *value);
/* Likewise a whole number from 1 to `most`. */
bool cli_whole_option(const char *command, const cli_option *option, double most, double fallback,
                      double *value);

/* ---- cli_target.c ---- */

/* Whether a command may write to `path`: it complains of a file that is there unless `overwrite`,
 * its option -f, is given. Null and "-" are no file; devices and pipes are written to. */
bool cli_may_write(const char *command, const char *path, const cli_option *overwrite);

/* ---- the commands: arguments without their own name ---- */

int cli_run(int count, const char **arguments);
int cli_view(int count, const char **arguments);
int cli_new(int count, const char **arguments);
int cli_check(int count, const char **arguments);
/* cli_check_mesh.c: whether the name is that of a mesh file, and what is wrong with it. */
bool cli_is_mesh(const char *path);
int cli_check_mesh(const char *path, const char *out, const cli_option *overwrite, bool loud);
int cli_convert(int count, const char **arguments);
int cli_decompose(int count, const char **arguments);
/* What was left out of a robot description, on standard error. */
void cli_print_left_out(const rg_scene *scene);
int cli_scenes(int count, const char **arguments);
int cli_explain(int count, const char **arguments);
int cli_strip(int count, const char **arguments);
int cli_plot(int count, const char **arguments);
int cli_export(int count, const char **arguments);
int cli_distance(int count, const char **arguments);
int cli_solve(int count, const char **arguments);
int cli_bench(int count, const char **arguments);
int cli_completion(int count, const char **arguments);
int cli_bench_analytic(double duration); /* s of each scene; 0: all */
/* `rigor COMMAND --help`. */
extern const char cli_run_help[], cli_view_help[], cli_new_help[], cli_check_help[],
    cli_scenes_help[], cli_explain_help[], cli_strip_help[], cli_plot_help[], cli_export_help[],
    cli_distance_help[], cli_solve_help[], cli_bench_help[], cli_completion_help[],
    cli_convert_help[], cli_decompose_help[];

typedef struct cli_command {
    const char *name, *summary;
    int (*run)(int count, const char **arguments);
    const char *help;
} cli_command;
/* All of them, in the order of `rigor --help` (cli_main.c). */
extern const cli_command cli_commands[];
extern const size_t cli_command_count;

/* ---- cli_require.c ---- */

enum { CLI_REQUIREMENTS = 32, CLI_REQUIREMENT_SIZE = 64 };

typedef struct cli_requirement {
    char text[CLI_REQUIREMENT_SIZE];
    int figure;     /* index in the list of figures */
    int comparison; /* index in the list of comparisons */
    double limit;
    bool measured; /* it was a number at least once */
} cli_requirement;

typedef struct cli_requirements {
    cli_requirement list[CLI_REQUIREMENTS];
    int count;
    const cli_requirement *broken; /* the first that was */
    uint64_t broken_step;          /* 0: by the whole run */
    double broken_value;
} cli_requirements;

/* 'momentum_error_rel<1e-9,closure_rel<1e-9'. Complains and returns false if it makes no sense. */
bool cli_parse_requirements(const char *text, cli_requirements *requirements);
void cli_check_step(cli_requirements *requirements, const rg_step_info *info, uint64_t step);
void cli_check_run(cli_requirements *requirements, const rg_step_info *summary);
/* Says what was broken or never measured; EXIT_GOOD or EXIT_FAILED. */
int cli_report_requirements(const cli_requirements *requirements, bool quiet);

/* ---- cli_end.c ---- */

/* Says whether a run ends badly; EXIT_GOOD or EXIT_FAILED. */
int cli_report_end(const rg_world *world, const rg_step_info *summary);

/* ---- cli_dump.c: --dump-problem ---- */

typedef struct cli_dump {
    uint64_t step;    /* counted from 1, as in messages; 0: nothing is dumped */
    const char *file; /* null: named after scene and step; the island's number is added */
    const cli_option *overwrite; /* -f */
    rg_scene *scene;
    size_t written, islands;
    rg_status status; /* of the first file that could not be written */
    rg_error error;
} cli_dump;

/* 'STEP' or 'STEP:FILE'. Complains and returns false if it makes no sense. */
bool cli_parse_dump(const char *text, cli_dump *dump);
/* Complains if the first file exists and may not be replaced; EXIT_GOOD or EXIT_UNWRITABLE. */
int cli_dump_check(cli_dump *dump, rg_scene *scene);
/* Around the making of every step: before it, and after it with whether the files got out. */
rg_status cli_dump_before(cli_dump *dump, rg_scene *scene, uint64_t step, rg_error *error);
rg_status cli_dump_after(cli_dump *dump, uint64_t step, bool quiet, rg_error *error);

/* ---- cli_csv.c ---- */

/* Cuts a line of CSV into cells, in place; how many there are, `most` at most. The apostrophe by
 * which rg_text_csv guards a cell is taken away. */
size_t cli_csv_cut(char *line, char **cells, size_t most);
/* A cell, as rg_text_csv has it. */
void cli_csv_print(FILE *file, const char *text);

/* ---- cli_progress.c ---- */

typedef struct cli_progress {
    bool shown;
    double start, last;
    uint64_t first, total; /* steps */
    const char *unit;      /* or what else they are called */
} cli_progress;

cli_progress cli_progress_begin(uint64_t first, uint64_t total, bool quiet);
void cli_progress_update(cli_progress *progress, uint64_t done);
void cli_progress_clear(cli_progress *progress);

/* ---- cli_events.c ---- */

enum { CLI_EVENTS_TOLD = 20, CLI_EVENT_SIZE = 512 };

typedef struct cli_events {
    uint64_t count[RG_STEP_EVENT_KIND_COUNT];
    uint64_t unlisted; /* more than a step's log holds: of no known kind */
    size_t told;
    uint64_t untold; /* beyond those */
    char text[CLI_EVENTS_TOLD][CLI_EVENT_SIZE];
} cli_events;

void cli_events_note(cli_events *events, const rg_world *world); /* after every step */
void cli_events_print(const cli_events *events);
void cli_events_print_json(const cli_events *events); /* members of an object, ending with ", " */

/* ---- cli_heuristic.c: --solver lp ---- */

typedef struct rg_solve_context rg_solve_context; /* rigor/solver.h */

typedef struct cli_heuristic {
    rg_solve_context *context; /* null: another solver runs, nothing is counted */
    double *force;
    size_t capacity;
    rg_status status;  /* of the first problem that could not be counted */
    uint64_t problems; /* that were guessed at: the sum of the next four */
    uint64_t empty_right, predicted_right, mispredicted, infeasible;
    uint64_t without_force, with_friction;
} cli_heuristic;

bool cli_heuristic_is_built_in(void);
/* Makes lp the solver of the scene and counts from now on. EXIT_GOOD, or complains. */
int cli_heuristic_begin(cli_heuristic *heuristic, rg_scene *scene);
void cli_heuristic_end(cli_heuristic *heuristic);
void cli_heuristic_print(const cli_heuristic *heuristic);
/* A member of an object, ending with ", ". */
void cli_heuristic_print_json(const cli_heuristic *heuristic, uint64_t fallbacks);

/* ---- cli_profile.c ---- */

/* How long the stages of a step took, in this process. */
void cli_profile_print(const rg_world *world);
/* A member of an object, ending with ", ". */
void cli_profile_print_json(const rg_world *world);

/* ---- cli_summary.c ---- */

typedef struct cli_report {
    rg_scene *scene;
    rg_step_info summary;
    double wall, cpu;      /* s, of this process */
    uint64_t steps_here;   /* by this process */
    double simulated_here; /* s, by this process: less than all of it after a resume */
    const char *recording; /* null: none */
    bool profile;          /* tell how long the stages took */
    uint64_t frames;
    const cli_events *events;       /* of this process */
    const cli_heuristic *heuristic; /* likewise; null: not asked */
} cli_report;

void cli_print_summary(const cli_report *report);
void cli_print_json(const cli_report *report);

#endif
