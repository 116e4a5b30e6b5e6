/* What bench_bunnies and its shim of Bullet share. */
#ifndef RIGOR_BENCH_BUNNIES_H
#define RIGOR_BENCH_BUNNIES_H

#include "rigor/decompose.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bunny_run {
    size_t count, steps;
    double step, wall;
    rg_pose *poses; /* in: at the start; out: at the end */
    double time;    /* s of processor, for all steps */
} bunny_run;

/* Bullet: the triangles themselves, or the hulls of the parts. */
void bunny_run_bullet(const rg_mesh *mesh, const rg_decomposition *d, bool triangles,
                      bunny_run *run);

#ifdef __cplusplus
}
#endif
#endif
