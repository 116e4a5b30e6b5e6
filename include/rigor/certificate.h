/* What a step says about itself. The figures come from the judge, which recomputes them from
 * positions, velocities and forces by formulas of its own. */
#ifndef RIGOR_CERTIFICATE_H
#define RIGOR_CERTIFICATE_H

#include "rigor/status.h"
#include "rigor/types.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* NaN in a figure means that nothing was measured there (no pair, no joint ..., or no judge: a
 * world that is not certified). Infinity means that the figure is beyond the range of numbers. */
typedef struct rg_certificate {
    double min_gap;         /* m: smallest signed gap of a pair, at any time of the step */
    double max_penetration; /* m: how deep bodies overlap at the end of the step; 0: not */
    double complementarity; /* relative: worst residual of the contact conditions */
    double cone_violation;  /* relative: friction, motors beyond their limit; limits that pull */
    double joint_error;     /* m: distance of joint points, or what a joint missed that gave way */
    double momentum_error;  /* relative: linear and angular momentum minus external impulses */
} rg_certificate;

/* Joules. Kinetic energy and gravity's potential are state; the others are work done on the dynamic
 * bodies, each from its own formula. closure = final - initial - all work; in the summary of a run
 * it is the sum over its steps, so that energy which the caller brings in between steps (a velocity
 * set, a body added) does not count. All NaN without a judge. */
typedef struct rg_energy_ledger {
    double initial;       /* J: energy at the beginning */
    double final;         /* J: energy at the end */
    double impact_loss;   /* by the impulses of impacts */
    double friction_work; /* by friction */
    double stabilisation; /* by contacts that push overlapping bodies apart */
    double
        integration; /* of gravity: the displacement of a fixed step is not that of its velocity */
    double external_work;   /* by forces besides gravity */
    double prescribed_work; /* by kinematic bodies */
    double closure;         /* J: energy that no kind of work explains */
    double closure_rel;     /* closure over the largest energy or work of the step or run */
} rg_energy_ledger;

typedef struct rg_step_profile {
    double step;  /* s that went by, the judge excluded; 0: the step repeats the one before */
    double judge; /* s */
} rg_step_profile;

/* About one step; or, as the summary of a run, the worst (certificate), the sum (counts, profile,
 * work), the first and last (energy) over all steps. The judge fills certificate and energy, the
 * method the rest. */
typedef struct rg_step_info {
    uint64_t steps;
    double time; /* s, at the end */
    rg_certificate certificate;
    rg_energy_ledger energy;
    rg_step_profile profile;
    uint64_t substeps;     /* accepted steps of the integrator */
    uint64_t rejected;     /* its rejected trials */
    uint64_t evaluations;  /* of the forces */
    uint64_t contacts_max; /* most contact points at a time */
    uint64_t impacts;      /* collisions that were resolved by an impulse */
    uint64_t solves;       /* contact problems: one per island and step */
    uint64_t solver_iterations;
    uint64_t solver_failures; /* solves whose residual, by the judge, was above the tolerance */
    uint64_t fallbacks;       /* solves in which a solver failed and another one was tried */
    uint64_t passed_through;  /* pairs of shapes that passed through each other, by the judge */
} rg_step_info;

/* Two bodies that are deep in each other: by more than 5 % of the size of the smaller one, which is
 * its circumradius, or five times its inradius if that is less, as it is of sheets and rods. */
typedef struct rg_overlap {
    double depth; /* m; 0: no two bodies are */
    double size;  /* m: of the smaller one */
    double time;  /* s */
    rg_body_id body_a, body_b;
    /* Between the ends of a step. Of a kinematic body: on the path that is prescribed, which a
     * fixed step cuts short. */
    bool within_step;
} rg_overlap;

/* For summaries of a part of a run, such as the steps between two frames: begin with that of no
 * step (counts 0, figures NaN) and add the steps. As in the summary of a run, except that
 * closure_rel is the worst of the steps (the scale of a whole run means nothing for a part) and
 * that processor times are left out: the same run gives the same figures. */
rg_step_info rg_step_info_nothing(void);
void rg_step_info_add(rg_step_info *sum, const rg_step_info *step);

#ifdef __cplusplus
}
#endif
#endif
