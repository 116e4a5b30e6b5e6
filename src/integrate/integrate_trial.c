/* The event loop's way to both integrators: the one that remembers is told which of its steps were
 * taken. */
#include "integrate/integrate_trial.h"

rg_status rg_trial_make(const rg_ode *ode, rg_trial_method method, rg_arena *scratch,
                        rg_trial *trial) {
    *trial = (rg_trial){.method = method};
    rg_status status = rg_dormand_prince_make(ode, scratch, &trial->one_step);
    return status || method != RG_TRIAL_ADAMS ? status : rg_adams_make(ode, scratch, &trial->adams);
}

rg_status rg_trial_try(const rg_ode *ode, rg_trial *trial, rg_trial_method method,
                       rg_ode_try *step) {
    bool adams = method == RG_TRIAL_ADAMS;
    rg_status status = adams ? rg_adams_try(ode, &trial->adams, &trial->one_step, step)
                             : rg_dormand_prince_try(ode, &trial->one_step, step);
    trial->last = method;
    trial->end = adams ? trial->adams.end : trial->one_step.end;
    trial->output = adams ? trial->adams.output : trial->one_step.output;
    return status;
}

void rg_trial_keep(rg_trial *trial) {
    if (trial->last == RG_TRIAL_ADAMS)
        rg_adams_keep(&trial->adams);
    else
        rg_trial_forget(trial);
}

void rg_trial_forget(rg_trial *trial) {
    if (trial->method == RG_TRIAL_ADAMS)
        rg_adams_forget(&trial->adams);
}
