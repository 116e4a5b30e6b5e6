/* Runs of one scene in several ways: what `rigor compare` and `rigor converge` share. */
#ifndef RIGOR_CLI_RUNNER_H
#define RIGOR_CLI_RUNNER_H

#include "cli.h"
#include "rigor/impact.h"
#include "rigor/solver.h"

enum {
    CLI_LIST = 64,        /* values of an option */
    CLI_RUN_MEASURES = 64 /* of a scene */
};

/* What all runs have in common. */
typedef struct cli_plan {
    const char *command; /* for messages */
    const char *scene;
    rg_scene_parameter *parameters; /* names are copies */
    size_t parameter_count;
    double duration; /* s; 0: the scene's */
    int threads;     /* 0: the scene's */
    /* Steps are changed so that a whole number of them ends at the duration exactly; otherwise the
     * nearest whole number of steps as given is made. */
    bool exact_end;
    bool quiet;
} cli_plan;

/* One way to run it. */
typedef struct cli_variant {
    const char *method;          /* null: the scene's */
    const rg_solver *solver;     /* null: the scene's */
    double step;                 /* s; 0: the scene's */
    double gamma;                /* NaN: the scene's */
    int directions;              /* of friction; -1: the scene's, 0: the exact cone */
    const rg_impact_law *impact; /* null: the scene's */
} cli_variant;

typedef struct cli_run_measure {
    char name[48];
    double value, expected;
    bool is_truth, has_expected;
} cli_run_measure;

/* What came out. */
typedef struct cli_outcome {
    /* As it was run, the scene's own choices included. */
    const char *method, *solver; /* names */
    const char *impact;          /* likewise; null: the method has none */
    double step, gamma;
    int directions;
    char scene[64];

    bool done;          /* reached the end */
    char failure[1100]; /* why not */
    uint64_t steps, state_hash;
    double simulated, wall, cpu; /* s */
    double cpu_ms_per_step;
    double top_speed; /* m/s: of any body's centre at the end of any step */
    rg_step_info summary;
    cli_run_measure measures[CLI_RUN_MEASURES];
    size_t measure_count;
    double *centres; /* x y z of all bodies at the end; cli_outcome_free */
    size_t body_count;
} cli_outcome;

/* SCENE and NAME=VALUE ... Complains and returns false if they make no sense. */
bool cli_plan_parse(cli_plan *plan, int count, const char **arguments);
void cli_plan_free(cli_plan *plan);
/* --duration and --threads. */
bool cli_plan_numbers(cli_plan *plan, const cli_option *duration, const cli_option *threads);

/* Options that are lists, separated by commas. Each returns the number of values, 0 after a
 * complaint. */
size_t cli_list_steps(const char *command, const cli_option *option, double steps[CLI_LIST]);
size_t cli_list_gammas(const char *command, const cli_option *option, double gammas[CLI_LIST]);
size_t cli_list_methods(const char *command, const cli_option *option,
                        const char *methods[CLI_LIST]);
size_t cli_list_solvers(const char *command, const cli_option *option,
                        const rg_solver *solvers[CLI_LIST]);
size_t cli_list_impacts(const char *command, const cli_option *option,
                        const rg_impact_law *laws[CLI_LIST]);
size_t cli_list_frictions(const char *command, const cli_option *option, int directions[CLI_LIST]);

/* Runs it to the end. EXIT_GOOD even where the run could not go on (the outcome says so); otherwise
 * the scene cannot be used, which has been complained of. */
int cli_run_variant(const cli_plan *plan, const cli_variant *variant, cli_outcome *outcome);
void cli_outcome_free(cli_outcome *outcome);

/* "cone" or "polygon:8". */
const char *cli_friction_name(int directions, char text[CLI_NUMBER_SIZE]);

/* ---- the commands ---- */

int cli_compare(int count, const char **arguments);
int cli_converge(int count, const char **arguments);
extern const char cli_compare_help[], cli_converge_help[];

#endif
