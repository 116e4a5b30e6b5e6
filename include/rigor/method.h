/* Step methods: how a world is advanced in time. A method is a value that is chosen in the world
 * def, by name in scenes and on the command line. */
#ifndef RIGOR_METHOD_H
#define RIGOR_METHOD_H

#include "rigor/solver.h"
#include "rigor/status.h"
#include "rigor/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rg_method rg_method;

typedef enum rg_integrator {
    RG_INTEGRATOR_DORMAND_PRINCE, /* explicit Runge-Kutta 5(4) */
    RG_INTEGRATOR_ADAMS           /* Adams-Bashforth-Moulton, variable step and order: fewer
                                     evaluations where motion is smooth */
} rg_integrator;

typedef struct rg_impact_law rg_impact_law; /* rigor/impact.h */

/* What a contact spring of the method penalty is stretched by. */
typedef enum rg_penalty_measure {
    RG_PENALTY_DISTANCE, /* the depth of the point, along the normal */
    RG_PENALTY_RATIO     /* the ratio metric of Hart-Anitescu 2010, times the sum of the inradii */
} rg_penalty_measure;

/* penalty: springs and dampers at contact points. */
typedef struct rg_penalty_settings {
    double stiffness; /* N/m of a contact point where materials name none; 0: by the depth */
    double depth;     /* m: how deep the weight of the bodies presses one point in */
    double slip;      /* m/s: friction grows with slip up to this, and is Coulomb's beyond */
    double tolerance; /* relative error of the integrator per step */
    rg_penalty_measure measure;
    bool impulses; /* what meets fast is stopped by impulses; springs carry what rests (Moore and
                      Wilhelms 1988) */
} rg_penalty_settings;

typedef struct rg_method_settings {
    double tolerance;           /* analytic: relative error of the integrator per step */
    rg_integrator integrator;   /* analytic */
    rg_root_method root_finder; /* analytic: of the times of events */
    /* stepping (Hart-Anitescu 2010): */
    double gamma;            /* share of a penetration that one step takes back, 0 ... 1 */
    const rg_solver *solver; /* of contact problems, both methods; null: auto */
    double solver_tolerance; /* a solve whose residual, by the judge, is larger counts as failed */
    int friction_directions; /* 0: the exact cone; otherwise corners of a polygon, even, 4 to 256 */
    bool discrete_detection; /* contacts at the current poses only: fast bodies may pass through
                                thin ones */
    const rg_impact_law *impact; /* analytic: law of impacts; null: simultaneous */
    rg_solution_policy policy;   /* where friction leaves several solutions; both methods */
    bool hand_over; /* analytic: where a step fails for a group of bodies, the method stepping makes
                       the step of that group; otherwise rg_world_step returns the error */
    rg_joint_norm contradictions; /* stepping: of errors of joints that contradict each other */
    rg_penalty_settings penalty;
} rg_method_settings;

/* 1e-9, Dormand-Prince, ITP; gamma 1, auto, 1e-8, exact cone, continuous; nothing handed over;
 * least squares.
 * Penalty: a depth of 1 mm, slip 1 mm/s, 1e-6, by distance, springs alone. */
rg_method_settings rg_method_settings_default(void);
const char *rg_integrator_name(rg_integrator integrator);        /* "dormand-prince", "adams" */
const char *rg_penalty_measure_name(rg_penalty_measure measure); /* "distance", "ratio" */
const char *rg_root_method_name(rg_root_method finder); /* "itp", "illinois", "bisection" */

/* All methods, and one by name (null if there is none). */
size_t rg_method_count(void);
const rg_method *rg_method_at(size_t index);
const rg_method *rg_method_find(const char *name);
const char *rg_method_name(const rg_method *method);
const char *rg_method_summary(const rg_method *method); /* one line */

#ifdef __cplusplus
}
#endif
#endif
