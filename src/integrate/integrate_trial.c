/* The event loop's way to both integrators: the one that remembers is told which of its steps were
 * taken. */
#include "integrate/integrate_trial.h"

rg_status rg_trial_make(const rg_ode *ode, bool remembers, rg_arena *scratch, rg_trial *trial) {
    *trial = (rg_trial){.remembers = remembers};
    rg_status status = rg_dormand_prince_make(ode, scratch, &trial->one_step);
    return status || !remembers ? status : rg_adams_make(ode, scratch, &trial->adams);
}

rg_status rg_trial_try(const rg_ode *ode, rg_trial *trial, bool alone, rg_ode_try *step) {
    bool adams = trial->remembers && !alone;
    rg_status status = adams ? rg_adams_try(ode, &trial->adams, &trial->one_step, step)
                             : rg_dormand_prince_try(ode, &trial->one_step, step);
    trial->alone = alone;
    trial->end = adams ? trial->adams.end : trial->one_step.end;
    trial->output = adams ? trial->adams.output : trial->one_step.output;
    return status;
}

void rg_trial_keep(rg_trial *trial) {
    if (trial->remembers && !trial->alone)
        rg_adams_keep(&trial->adams);
    else
        rg_trial_forget(trial);
}

void rg_trial_forget(rg_trial *trial) {
    if (trial->remembers)
        rg_adams_forget(&trial->adams);
}
