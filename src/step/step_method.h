/* The table of step methods. Adding one touches one file and the list in step_method.c. */
#ifndef RIGOR_STEP_METHOD_H
#define RIGOR_STEP_METHOD_H

#include "solve/solve_counts.h"
#include "step/step_judge_motion.h"
#include "world/world.h"

/* What the judge found of contacts within a step (step_judge.h): the worst of each law, relative,
 * NaN without any; work in J. */
typedef struct rg_judge_findings {
    double complementarity, cone;
    double friction, impact, stabilisation, prescribed, drive;
} rg_judge_findings;

/* What a method says of its step: for the certificate and the counters. Impulses are those of all
 * forces on dynamic bodies, gravity's included; the angular one is about the origin. */
typedef struct rg_step_report {
    double external_work; /* J, of the forces besides gravity */
    rg_vec3 impulse, angular_impulse;
    uint64_t substeps, rejected, evaluations;
    rg_solve_counts counts; /* of contact problems */
    uint64_t contacts, impacts;
    bool still; /* bodies are as they were, to the last bit */
    /* A method whose contact forces vary within the step shows them to the judge as it goes, who
     * cannot tell from their values at one instant. `stabilisation`, `prescribed_work`: J, of
     * corrections that are no contact forces; impulses by what forces do not move. */
    bool varies;
    rg_judge_findings found;
    double stabilisation, prescribed_work;
    double integration; /* J: gravity along the paths of parts of a fixed step (step_judge.h) */
    rg_vec3 contact_impulse, contact_angular_impulse;
    /* With `varies`: bodies (per body 1, in scratch memory) whose contacts had one impulse over the
     * step, so that the judge can tell, and adds it. Null: none. */
    const uint8_t *judged;
    /* Joints with one impulse over the step, in scratch memory. */
    const struct rg_judge_joint *joints;
    size_t joint_count;
    /* What joints did at the end of it, at the new places. */
    const struct rg_judge_joint *end_joints;
    size_t end_joint_count;
    /* Bodies (per body 1, in scratch memory) on which half of gravity acted at the end, together
     * with these. Null: none. */
    const uint8_t *halved;
    /* J: what the projection of joint errors did to kinetic energy and gravity's potential. */
    double projected_kinetic, projected_potential;
    /* m, rad: by how much a joint gave way to contacts, at most. What a motor misses cannot be seen
     * in where the bodies are. */
    double missed;
    /* How the bodies moved; null: straight. */
    rg_judge_tracks *tracks;
} rg_step_report;

/* Adds what another method, or a part of the step, says of other bodies: work, impulses, counts. */
void rg_step_report_add(rg_step_report *report, const rg_step_report *part);

struct rg_method {
    const char *name;
    const char *summary;
    /* Moves the dynamic bodies by `step` seconds, from content.time to `end_time`. Changes nothing
     * in the content on failure. Gets its scratch memory from the world's arena. Kinematic bodies,
     * time and applied forces are the driver's. */
    rg_status (*step)(rg_world *world, double step, double end_time, rg_step_report *report,
                      rg_error *error);
};

extern const rg_method rg_method_analytic;
extern const rg_method rg_method_stepping;
extern const rg_method rg_method_penalty;

/* The world's method, the default if it has none. */
const rg_method *rg_method_of(const rg_world *world);

/* RG_INTERRUPTED if a caller asks the step to end (rg_world_interrupt), RG_NOT_FINITE if a
 * prescribed motion had no value. A method looks in its loops, and once more when it has everything
 * and has not changed the world yet: a solve that was cut short may have been taken for one that
 * failed, and another answer taken in its place. */
rg_status rg_step_confirm(const rg_world *world, rg_error *error);

#endif
