/* What `rigor bench engines` and `rigor bench scale` share: scenes by their text, engines in
 * processes of their own, one judge for all, profiles to compare with. */
#ifndef RIGOR_CLI_ENGINE_H
#define RIGOR_CLI_ENGINE_H

#include "cli.h"
#include "cli_peer.h"
#include "rigor/profile.h"

#include <stdio.h>

enum { CLI_ENGINE_TEXT = 160, CLI_ENGINES_MOST = 8, CLI_ENGINE_BLOCK = 24 };

/* "pyramid base=20": a built-in scene or a file, with parameters. */
rg_status cli_engine_open(const char *text, rg_scene **scene, rg_error *error);
/* The same, with all memory from an allocator. */
rg_status cli_engine_open_in(const char *text, const rg_allocator *allocator, rg_scene **scene,
                             rg_error *error);

/* ---- cli_engine_model.c: a world as other engines get it ---- */

typedef struct cli_engine_model {
    engine_model model;
    engine_body *bodies;
    engine_joint *joints;
    double *friction, *restitution;
} cli_engine_model;

/* False where the other engines have nothing that is the same: `why` says what. */
bool cli_engine_model_make(cli_engine_model *model, const rg_world *world, double step,
                           char why[CLI_ENGINE_TEXT]);
void cli_engine_model_free(cli_engine_model *model);

/* ---- cli_engine_list.c: which engines there are ---- */

typedef struct cli_engine {
    const char *name, *title, *version;
    const engine *peer; /* null: rigor, or not there */
    bool is_rigor;
    bool pushed;                  /* rigor: RG_PUSH newtons on every body, another in every step */
    char absent[CLI_ENGINE_TEXT]; /* why it is not there; empty: it is */
} cli_engine;

#define CLI_ENGINE_PUSH 1e-9 /* N */

/* All that are known, in the order of tables; returns their number. */
size_t cli_engine_list(cli_engine list[CLI_ENGINES_MOST]);
/* Adds what the profile of a world has grown by, times `share`: stages are timed by the wall clock,
 * and other processes take what they take of all of them alike. */
void cli_engine_add_profile(rg_profile *sum, const rg_profile *before, const rg_world *world,
                            double share);
/* A new force on every dynamic body, for the next step only. */
void cli_engine_push(rg_world *world, rg_random *random);

/* ---- cli_engine_process.c: an engine in a process of its own ---- */

/* What rigor says of itself; zero for the others. */
typedef struct cli_engine_extra {
    rg_profile profile;
    rg_step_info summary;
} cli_engine_extra;

typedef struct cli_engine_process {
    int to, from; /* pipes; -1: it has ended */
    int pid;
    size_t body_count;
    cli_engine_extra extra;
    char end[CLI_ENGINE_TEXT]; /* why it ended before it was told to */
} cli_engine_process;

/* One step: s of processor time, and where all bodies are. */
typedef struct cli_engine_steps {
    double cpu[CLI_ENGINE_BLOCK];
    engine_state *states; /* CLI_ENGINE_BLOCK times the number of bodies */
    size_t count;
} cli_engine_steps;

/* Starts it on a scene. Processor time of the process is limited to `limit` s and a little more. */
bool cli_engine_start(cli_engine_process *process, const cli_engine *which, const char *scene,
                      double limit);
/* Up to CLI_ENGINE_BLOCK steps; fewer if it ended. */
void cli_engine_run(cli_engine_process *process, size_t count, cli_engine_steps *steps);
void cli_engine_stop(cli_engine_process *process);

/* ---- cli_engine_judge.c: what the poses of any engine are worth ---- */

typedef struct cli_engine_judge {
    rg_scene *scene; /* its world takes the poses */
    rg_collision *collision;
    engine_state *states; /* at the beginning; poses of fixed bodies */
    rg_vec3 *late;        /* centres at the beginning of the last part of the run */
    double late_time;     /* s; NaN: not yet */
    bool forced;          /* forces besides gravity and contact do work: energy says nothing */
    double time;
    double deepest, last_depth; /* m: penetration over the run, after the last step */
    double joint_error;         /* m: largest of the run (rg_joint_error); NaN: no joints */
    double drift;               /* m: farthest that a body is from its start, at the end */
    double creep;               /* m/s: mean speed of the fastest body in the last part */
    double energy_least, energy_scale, energy_rise; /* J; the rise: above the least before */
    bool broken;                                    /* numbers that are no poses */
} cli_engine_judge;

bool cli_engine_judge_begin(cli_engine_judge *judge, const char *scene, rg_error *error);
/* `duration` of the whole run, s. */
void cli_engine_judge_look(cli_engine_judge *judge, const engine_state *states, double time,
                           double duration);
void cli_engine_judge_end(cli_engine_judge *judge);

/* ---- cli_engine_record.c: stage profiles, kept and compared ---- */

typedef struct cli_engine_record {
    const char *record, *against; /* files; null: none */
    FILE *out;
    char *before; /* the text of `against` */
} cli_engine_record;

/* Opens both; exit codes. `command` for messages. */
int cli_engine_record_begin(cli_engine_record *record, const char *command);
/* Keeps the profile of a scene and prints it beside the one before, if there is one. `yardstick`:
 * ms a step of the first other engine in the same run, which says how fast the machine was; NaN:
 * none. */
void cli_engine_record_add(cli_engine_record *record, const char *scene, const rg_profile *profile,
                           double yardstick);
int cli_engine_record_end(cli_engine_record *record, const char *command);

#endif
