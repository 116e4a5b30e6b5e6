/* One step of an integrator at a time, by either method, for those who look at a step before they
 * take it. A step may be tried again, shorter, from the same place; only what is kept is remembered
 * by a method that remembers. */
#ifndef RIGOR_INTEGRATE_TRIAL_H
#define RIGOR_INTEGRATE_TRIAL_H

#include "integrate/integrate_ode.h"

typedef enum rg_trial_method { RG_TRIAL_DORMAND_PRINCE, RG_TRIAL_ADAMS } rg_trial_method;

typedef struct rg_trial {
    rg_trial_method method, last; /* last: of the last step */
    rg_dormand_prince_trial one_step;
    rg_adams_trial adams;
    /* Of the last step, until the next one is tried: */
    const double *end;
    rg_dense_output output;
} rg_trial;

rg_status rg_trial_make(const rg_ode *ode, rg_trial_method method, rg_arena *scratch,
                        rg_trial *trial);
/* `method`: that of the trial, or, where the right-hand side is what it is for this step only, that
 * of Dormand and Prince. */
rg_status rg_trial_try(const rg_ode *ode, rg_trial *trial, rg_trial_method method,
                       rg_ode_try *step);
/* The step was taken, all of it, and the right-hand side goes on smoothly. */
void rg_trial_keep(rg_trial *trial);
/* It was not, or does not. */
void rg_trial_forget(rg_trial *trial);

#endif
