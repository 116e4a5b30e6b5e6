/* A step that repeats the one before: where nothing has changed, nothing is computed again. */
#ifndef RIGOR_STEP_REST_H
#define RIGOR_STEP_REST_H

#include "step/step_judge.h"
#include "step/step_method.h"

/* What the last step was, if the next one can be no other. Beside the state: whether it is used
 * changes no bit. */
typedef struct rg_step_rest {
    bool known;   /* it left the bodies as they were, and what follows is its own */
    bool repeats; /* and the contact memory, too: the next one would do the same */
    double step;
    uint64_t revision; /* of the world */
    uint64_t memory;   /* hash of the contact memory that it left */
    /* What it told. */
    rg_step_report report;
    rg_step_info info;
    rg_judge_totals totals;
    rg_judge_contacts contacts;
} rg_step_rest;

/* What the judge saw at the end of the last step: true until an edit or a restored state. */
typedef struct rg_step_judged {
    bool known;
    uint64_t revision; /* of the world */
    rg_judge_totals totals;
} rg_step_judged;

/* Does nothing but the state and the edits of the world act on a step, and may it be remembered? */
bool rg_rest_is_closed(const rg_world *world);
/* True if a step of that length would do what the last one did, bit for bit. */
bool rg_rest_holds(const rg_world *world, const rg_step_rest *rest, double step);
/* A step was made: is it one that can be repeated? */
void rg_rest_note(const rg_world *world, rg_step_rest *rest, double step,
                  const rg_step_report *report);

#endif
