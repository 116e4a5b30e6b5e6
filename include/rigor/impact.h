/* Impact laws: what a collision does, at one or many contacts at once. A law is a value, chosen by
 * name (scene, material, command line). Laws know no bodies: they are given a contact problem with
 * the velocities before, and return impulses.
 *
 *   simultaneous  Newton's restitution at all contacts in one complementarity problem (Baraff 1989,
 *                 eq. 27-29; Giang 2003); with friction, the exact cone on the velocities after
 *   propagation   pair by pair, fastest approach first, until nothing approaches
 *   poisson       compression and expansion, each a complementarity problem
 *   energetic     Stronge: expansion gives back the share e^2 of the work of compression; with
 *                 friction by integrating the sliding through the impact
 *   reflection    generalised reflections (Smith et al. 2012)
 *   dissipative   as much loss as friction can make with convex friction bounds (Loetstedt): never
 *                 inconsistent
 */
#ifndef RIGOR_IMPACT_H
#define RIGOR_IMPACT_H

#include "rigor/solver.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rg_impact_law rg_impact_law;

typedef struct rg_impact_round {
    uint64_t number; /* from 1 */
    size_t contacts;
    int dimension;
    const double *impulse, *before, *after; /* of each contact's rows: N s, m/s, m/s */
} rg_impact_round;
/* Told of impulses as they are applied: laws that go contact by contact apply them many times. */
typedef void rg_impact_observer(void *user, const rg_impact_round *round);

/* A contact problem whose q (local form) or J v_free + q (global form) are the velocities before
 * the impact, u-; the law makes r and u+ = W r + u-. Rows that are not approaching take part (they
 * may be pushed into, Baraff's footnote 9), as do joints (u+ = 0 there). */
typedef struct rg_impact_problem {
    rg_problem contact;        /* of kind RG_PROBLEM_CONTACT */
    const double *restitution; /* per contact, 0 ... 1; null: 0 */
    const double *moving;      /* rows: velocity of prescribed motion, the part of u- that is not
                                  the bodies'; null: 0 */
    double still;              /* m/s: an approach slower than this is none */
    /* Per contact a number that is the same for contacts of the same two bodies: propagation and
     * energetic treat them together. Null: only contacts that approach equally fast are. */
    const uint32_t *pair;
    /* Rounds at most, and then the law stops where it is. 0: the law's own cap, and what still
     * approaches then is stopped without restitution in one solve. */
    uint64_t round_limit;
    rg_impact_observer *observer; /* null: nobody */
    void *observer_user;
} rg_impact_problem;

typedef enum rg_impact_outcome {
    RG_IMPACT_RESOLVED,
    RG_IMPACT_ROUNDS,   /* the cap of rounds was reached; what approaches is slower than `left` */
    RG_IMPACT_UNSOLVED, /* a complementarity problem was not solved; impulses are the best known */
    RG_IMPACT_OUTCOMES
} rg_impact_outcome;
/* "resolved", "rounds", "unsolved" */
const char *rg_impact_outcome_name(rg_impact_outcome outcome);

typedef struct rg_impact_info {
    rg_impact_outcome outcome;
    uint64_t rounds, solves, iterations;
    /* J: 1/2 sum r.(u+ + u-): the change of kinetic energy with prescribed motion's work taken out.
     * Never positive but for rounding. That of the bodies is energy_change + prescribed_work. */
    double energy_change;
    double normal_change;   /* of that: by normal impulses ... */
    double friction_change; /* ... by friction ... */
    double joint_change;    /* ... and by joint rows whose velocity was not zero before */
    double prescribed_work; /* J: done on the bodies by what moves as prescribed, -sum r.moving */
    double scaled;   /* 1; less: the share of the expansion that was kept so that energy does not
                        grow, the least over the rounds */
    double left;     /* m/s: fastest approach that is left */
    double residual; /* worst natural residual of its solves, by the judge */
    char text[RG_SOLVE_TEXT_SIZE]; /* in plain words, if not resolved plainly */
} rg_impact_info;

/* The laws in the order above, and one by name (null if there is none). */
size_t rg_impact_law_count(void);
const rg_impact_law *rg_impact_law_at(size_t index);
const rg_impact_law *rg_impact_law_find(const char *name);
const char *rg_impact_law_name(const rg_impact_law *law);
const char *rg_impact_law_summary(const rg_impact_law *law);

/* `impulse` and `velocity` (after; may be null): rg_problem_rows(&problem->contact) numbers.
 * Kinetic energy never grows but for the work of prescribed motion. */
rg_status rg_impact_resolve(rg_solve_context *context, const rg_impact_law *law,
                            const rg_impact_problem *problem, double *impulse, double *velocity,
                            rg_impact_info *info, rg_error *error);

/* The impulse out of Painleve's inconsistency: contacts that slide, do not approach, and for which
 * no forces exist (rg_friction_explain). `ray` (rows; may be null): the direction of the impulse
 * that a solver found; its normal parts are enough, friction follows the slip. It is followed until
 * the first sliding contact stops; the approach that this made is then stopped without restitution.
 * Where the ray has one contact only, or there is no ray and a contact jams by itself, its sliding
 * is integrated through the impact instead, which in the plane is the same. RG_NOT_FOUND if no
 * contact would stop. Restitution is not read. */
rg_status rg_impact_along_ray(rg_solve_context *context, const rg_impact_problem *problem,
                              const double *ray, double *impulse, double *velocity,
                              rg_impact_info *info, rg_error *error);

#ifdef __cplusplus
}
#endif
#endif
