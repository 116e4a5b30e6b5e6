/* What `rigor bench engines` found, for its outputs. */
#ifndef RIGOR_CLI_BENCH_ENGINES_H
#define RIGOR_CLI_BENCH_ENGINES_H

#include "cli_engine.h"

#include <stdio.h>

/* One engine on one scene. */
typedef struct cli_engine_outcome {
    const cli_engine *engine;
    cli_engine_process process;
    cli_engine_judge judge;
    bool ran; /* at least one step */
    double *cpu;
    size_t steps;
    double total;               /* s of processor time */
    double mean, median, worst; /* ms a step; NaN: none */
    double ratio;               /* to the yardstick, over the steps that both made */
    double measure, expected;   /* of the scene; NaN: none */
    char measure_name[48];
} cli_engine_outcome;

typedef struct cli_engine_scene {
    const char *text;    /* "pyramid base=20" */
    double duration;     /* s; 0: the scene's */
    bool rest;           /* nothing should move: drift and creep are errors */
    const char *measure; /* of the scene's own; null: the first that has a closed form */
} cli_engine_scene;

typedef struct cli_engine_race {
    cli_engine_scene scene;
    double step, duration; /* s */
    size_t moving;         /* dynamic bodies */
    cli_engine_outcome outcomes[CLI_ENGINES_MOST];
    size_t count;
} cli_engine_race;

/* The engine that the others are compared with: Bullet where it ran, else the first other engine;
 * null: none did. */
const cli_engine_outcome *cli_engine_yardstick(const cli_engine_race *race);

/* ---- cli_bench_engines_out.c ---- */

void cli_engine_print_race(const cli_engine_race *race);
void cli_engine_csv_head(FILE *out);
void cli_engine_csv_race(FILE *out, const cli_engine_race *race);
/* Error against cost: the lines of gnuplot. False: there is nothing to plot. */
bool cli_engine_plot(FILE *script, const cli_engine_race *races, size_t count);

int cli_bench_engines(int count, const char **arguments);
int cli_bench_scale(int count, const char **arguments);
int cli_bench_depth(int count, const char **arguments);
/* cli_bench.c: a hull of random points on an ellipsoid; null without memory. */
rg_shape *cli_bench_hull(rg_random *random, size_t vertices);

#endif
