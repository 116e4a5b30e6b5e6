/* The judge: recomputes energy and momentum from poses and velocities, and says how far a step was
 * from the laws. It shares no formula with the methods: where they work with momenta along
 * principal axes, it takes the inertia tensor as the user gave it, in the body's own axes, and
 * turns it with the origin frame. */
#ifndef RIGOR_STEP_JUDGE_H
#define RIGOR_STEP_JUDGE_H

#include "step/step_method.h"

typedef struct rg_judge_totals {
    double kinetic, potential;
    rg_vec3 momentum, angular_momentum; /* the latter about the origin */
    double momentum_size, angular_size; /* sums of magnitudes: what errors are relative to */
} rg_judge_totals;

rg_judge_totals rg_judge_look(const rg_world_content *content);
/* Certificate and energy without figures: all NaN. */
void rg_judge_measure_nothing(rg_step_info *info);
/* Fills certificate and energy of `info` from what was before and what is now. */
void rg_judge_step(const rg_judge_totals *before, const rg_judge_totals *after,
                   const rg_step_report *report, rg_step_info *info);
/* Adds a step to the record of the run. */
void rg_judge_record(rg_run_record *run, const rg_judge_totals *before,
                     const rg_judge_totals *after, const rg_step_info *info);
/* The same for a step that nobody looked at: what was measured before does not stand for the run
 * any more, and the record begins anew. */
void rg_judge_forget(rg_run_record *run);

#endif
