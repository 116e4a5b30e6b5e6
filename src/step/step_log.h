/* What happened in a step, for programs and people: events of all methods. */
#ifndef RIGOR_STEP_LOG_H
#define RIGOR_STEP_LOG_H

#include "step/step_machinery.h"

void rg_step_log_clear(rg_world *world);
/* After those that are there. */
void rg_step_log_add(rg_step_machinery *machinery, const rg_step_event *event);
/* To forget what a trial that failed has logged. */
typedef struct rg_log_mark {
    size_t events, impulses;
} rg_log_mark;
rg_log_mark rg_step_log_mark(const rg_step_machinery *machinery);
void rg_step_log_return(rg_step_machinery *machinery, const rg_log_mark *mark);
/* In the order of time. */
void rg_step_log_sort(rg_world *world);
/* At the beginning of the step, before all others: that of `count` bodies, of which the first
 * two are told, is made by the stepping method, because of an error; 0: that of the whole world. */
void rg_step_log_hand_over(rg_world *world, const rg_body_id bodies[2], uint32_t count,
                           const rg_error *cause);

#endif
