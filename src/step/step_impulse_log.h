/* The impulses of a step's impacts, round by round, for those who ask afterwards (rigor/event.h).
 * Kept in the machinery of the world; memory grows to the most that a step has needed. No result
 * depends on it. */
#ifndef RIGOR_STEP_IMPULSE_LOG_H
#define RIGOR_STEP_IMPULSE_LOG_H

#include "rigor/event.h"
#include "rigor/impact.h"
#include "step/step_machinery.h"

/* One impact. `contact` has for each of its contacts what does not change: time, bodies, position,
 * normal, coefficients. */
typedef struct rg_impulse_log {
    rg_step_machinery *machinery;
    const rg_step_impulse *contact;
    bool planar;
    size_t first; /* impulses before it: to go back to, if it fails */
} rg_impulse_log;

rg_impulse_log rg_impulse_log_begin(rg_step_machinery *machinery, const rg_step_impulse *contact,
                                    bool planar);
/* An rg_impact_observer, with the log as its user. */
void rg_impulse_log_round(void *log, const rg_impact_round *round);
/* The impact did not come about. */
void rg_impulse_log_undo(rg_impulse_log *log);

#endif
