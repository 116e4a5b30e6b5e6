/* One contact through an impact, sliding included: Keller's equations in the normal impulse. */
#ifndef RIGOR_STEP_IMPACT_SLIDING_H
#define RIGOR_STEP_IMPACT_SLIDING_H

#include "rigor/types.h"

typedef enum rg_slide_end {
    RG_SLIDE_ENERGETIC, /* expansion gives back e^2 of the work of compression (Stronge) */
    RG_SLIDE_POISSON    /* e of the normal impulse of compression (Routh, Wang and Mason) */
} rg_slide_end;

/* Wang and Mason's modes of a planar impact; in space the same words for what happened. C: during
 * compression, R: during restitution. */
typedef enum rg_slide_mode {
    RG_SLIDE_SLIDING,
    RG_SLIDE_C_STICKING,
    RG_SLIDE_R_STICKING,
    RG_SLIDE_C_REVERSED,
    RG_SLIDE_R_REVERSED,
    RG_SLIDE_STUCK, /* sticking takes all mobility away (W singular): the approach stays */
    RG_SLIDE_MODES
} rg_slide_mode;

typedef struct rg_slide {
    double impulse[3];     /* whole */
    double compression[3]; /* of that: until the approach first ended */
    double normal_work;    /* integral of u_N dr_N */
    rg_slide_mode mode;
    bool slipped_off; /* stopped and slid on in another direction */
    int phases, steps;
} rg_slide;

/* w: 3 x 3 row-major (planar and one-dimensional contacts: the rest zero), symmetric positive
 * semidefinite; u: velocity before, u[0] <= 0. With u[0] = 0 nothing happens unless the contact
 * jams: that impulse is Painleve's. */
rg_slide rg_slide_through(const double w[9], const double u[3], double mu, double e,
                          rg_slide_end end, double scale);

#endif
