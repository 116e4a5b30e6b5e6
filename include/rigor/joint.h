/* Joints: two bodies, or a body and the world, held together at a frame on each.
 *
 * A joint's coordinates are the pose of B's frame as seen from A's frame. Its kind says which of
 * them are locked; each of the others is an axis, with limits, a spring, a motor, friction and
 * rotor inertia. The axes are along those of the frames:
 *
 *     kind         locked                        axes
 *     ball         x y z                         none: it turns freely
 *     hinge        x y z, turns about x y        angle about z
 *     slider       x y, all turns                distance along z
 *     universal    x y z, turn about z           angles about x of A and y of B
 *     cylindrical  x y, turns about x y          distance along z, angle about z
 *     planar       z, turns about x y            distances along x and y, angle about z
 *     fixed        everything                    none
 *     distance     nothing                       distance of the two points: with lower = upper a
 *                                                rod, with an upper limit alone a rope
 *     surface      nothing                       distance of B's point from a surface of A: with
 *                                                lower = upper = 0 it stays on it, with a lower
 *                                                limit alone outside
 *     gear         rolling of A on B             none
 *     rack         rolling of A along B          none
 *     tendon       nothing                       a sum of axes of other joints, each times a
 *                                                coefficient
 *
 * Gears are held by joints of their own; z of both frames is along their parallel axes, at their
 * centres. A and B roll on each other at the pitch point, which is on the line of the centres, so
 * that what carries them may move. A rack B moves along x of its frame.
 *
 * A tendon has no bodies and frames of its own; its force, times the coefficient, acts on each of
 * the axes that it sums. It holds nothing while one of their joints is broken, and goes with them.
 *
 * Planar worlds have hinges, gears and racks (z of both frames along y), sliders (z in the plane),
 * fixed joints, distances, surfaces and tendons.
 *
 * Springs, dampers and the gains of motors act with the values of the end of a step, so that they
 * are stable whatever their stiffness. */
#ifndef RIGOR_JOINT_H
#define RIGOR_JOINT_H

#include "rigor/body.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum rg_joint_kind {
    RG_JOINT_BALL,
    RG_JOINT_HINGE,
    RG_JOINT_SLIDER,
    RG_JOINT_UNIVERSAL,
    RG_JOINT_CYLINDRICAL,
    RG_JOINT_PLANAR,
    RG_JOINT_FIXED,
    RG_JOINT_DISTANCE,
    RG_JOINT_SURFACE,
    RG_JOINT_GEAR,
    RG_JOINT_RACK,
    RG_JOINT_TENDON,
    RG_JOINT_KIND_COUNT
} rg_joint_kind;
const char *rg_joint_kind_name(rg_joint_kind kind); /* "hinge", as in scene files */

typedef enum rg_motor_kind {
    RG_MOTOR_NONE,
    RG_MOTOR_VELOCITY, /* holds `target` (m/s, rad/s); with a gain: gain (target - velocity) */
    RG_MOTOR_POSITION, /* gain (target - coordinate) - gain_velocity velocity */
    RG_MOTOR_KIND_COUNT
} rg_motor_kind;
const char *rg_motor_kind_name(rg_motor_kind kind);

/* Metres, newtons and kilograms for distances; radians, newton metres and kg m^2 for angles. */
typedef struct rg_joint_axis {
    double lower, upper;             /* limits; infinite: none */
    double restitution;              /* at the limits, 0 to 1 */
    double stiffness, damping, rest; /* spring: -stiffness (x - rest) - damping x' */
    double friction;                 /* dry: the largest force that it resists with */
    double armature;                 /* inertia of what turns or slides with the axis */
    rg_motor_kind motor;
    double target;
    const char *target_of_time; /* "sin(2*t)": instead of `target`; null: none (rigor/force.h) */
    double gain, gain_velocity;
    double max_force; /* of the motor; infinite: no limit */
} rg_joint_axis;

/* The points x of A's frame with square.(x^2, y^2, z^2) + linear.(x, y, z) + constant = 0: planes,
 * spheres, ellipsoids, cylinders, cones, paraboloids. Outside is where it is positive. */
typedef struct rg_quadric {
    rg_vec3 square, linear;
    double constant;
} rg_quadric;

/* Of a tendon: an axis of another joint, which is no tendon. */
typedef struct rg_tendon_part {
    rg_joint_id joint;
    size_t axis;
    double coefficient; /* other than 0; m/rad, say, if the tendon's length is to be in m */
} rg_tendon_part;

enum { RG_JOINT_AXES_MOST = 3, RG_TENDON_PARTS_MOST = 12 };

typedef struct rg_joint_def {
    int api_version;
    rg_joint_kind kind;
    const char *name;          /* copied; null: none. Different from those of all other joints */
    rg_body_id body_a, body_b; /* null: the world; not both, but of a tendon */
    rg_pose frame_a, frame_b;  /* in the origin frame of the body, or in the world */
    bool collide;              /* the two bodies may touch each other */
    rg_quadric surface;        /* of a surface joint */
    /* Gear: turns of A for one of B in the opposite sense (negative: in the same sense, one in the
     * other); rack: m that B moves per rad of A. */
    double ratio;
    size_t part_count; /* of a tendon */
    rg_tendon_part part[RG_TENDON_PARTS_MOST];
    double break_force, break_torque; /* N, N m: it breaks beyond; infinite: it holds; tendons do */
    rg_joint_axis axis[RG_JOINT_AXES_MOST];
} rg_joint_def;

/* No limits, springs, motors, friction and armature; cannot break; its bodies do not touch. */
rg_joint_def rg_joint_def_default(rg_joint_kind kind);
size_t rg_joint_axis_count(rg_joint_kind kind);
bool rg_joint_axis_is_angle(rg_joint_kind kind, size_t axis);
/* Frames at a point of the world, with z along `axis` (any length but 0), from where the bodies of
 * the def are. */
rg_status rg_joint_def_place(const rg_world *world, rg_joint_def *def, rg_vec3 point, rg_vec3 axis);

/* RG_INVALID_ARGUMENT, with a message: no such kind, both bodies the same or the world, limits
 * reversed, a negative stiffness, damping, friction, armature, gain or largest force, an axis that
 * the kind does not have, a position motor without gain, a kind that planar worlds do not have, a
 * name that is taken, gears without ratio or with axes that are not parallel, a surface without
 * points or limits other than 0, a tendon with bodies, without parts or with an axis that is not
 * there; RG_SYNTAX and others: what a target of time cannot be.
 * RG_NOT_FINITE: NaN, or an infinity where none is allowed. The points of a joint need not meet:
 * the first step brings them together (rg_joint_error tells). Gears are in mesh as they stand. */
rg_status rg_world_add_joint(rg_world *world, const rg_joint_def *def, rg_joint_id *joint,
                             rg_error *error);
rg_status rg_world_remove_joint(rg_world *world, rg_joint_id joint);
bool rg_joint_exists(const rg_world *world, rg_joint_id joint);
size_t rg_world_joint_count(const rg_world *world);
/* Removing a joint, or a body of its, moves the last one to its place. */
rg_joint_id rg_world_joint_at(const rg_world *world, size_t index);
rg_status rg_world_find_joint(const rg_world *world, const char *name, rg_joint_id *joint);
/* The handle must exist (assert). The name is borrowed. */
rg_joint_def rg_joint_get_def(const rg_world *world, rg_joint_id joint);
/* Limits, spring, motor, friction and armature of an axis, from the next step on. */
rg_status rg_joint_set_axis(rg_world *world, rg_joint_id joint, size_t axis,
                            const rg_joint_axis *value, rg_error *error);
/* The target of its motor alone; it does not depend on time any more. */
rg_status rg_joint_set_target(rg_world *world, rg_joint_id joint, size_t axis, double target);
/* From now on it holds nothing, as if a force had broken it; or it holds again. */
rg_status rg_joint_set_broken(rg_world *world, rg_joint_id joint, bool broken);

/* What a joint is like now, and the forces of the last step. */
typedef struct rg_joint_state {
    bool broken;
    double coordinate[RG_JOINT_AXES_MOST]; /* m, rad: angles with turns counted */
    double velocity[RG_JOINT_AXES_MOST];
    double axis_force[RG_JOINT_AXES_MOST]; /* along the axis, on B: limits, spring, motor, friction,
                                               armature */
    double motor_force[RG_JOINT_AXES_MOST]; /* of these, the motor */
    rg_vec3 point;                          /* m, world: of B's frame */
    rg_vec3 force;  /* N on B, at `point`, of everything; on A the opposite, at the same place */
    rg_vec3 torque; /* N m */
} rg_joint_state;
rg_joint_state rg_joint_get_state(const rg_world *world, rg_joint_id joint);
/* How far a joint is from being closed: distance of the points along locked directions (m) plus
 * locked turns (rad, as if at 1 m). */
double rg_joint_error(const rg_world *world, rg_joint_id joint);
/* Moves dynamic bodies, by little in the metric of their masses, until joints are closed: for
 * mechanisms that are drawn loosely. *left: the largest rg_joint_error after it, below 1e-10 unless
 * joints contradict each other. Velocities stay. RG_OUT_OF_MEMORY is the only failure. */
rg_status rg_world_assemble(rg_world *world, double *left, rg_error *error);
/* Which forces of joints are not determined as the bodies stand, because other joints hold the
 * same: the motion is unique, how they share the force is not. `open` has room for all joints, in
 * their order; bits 0 to 2: the force along x, y, z of A's frame, 3 to 5: the torque about them, 6
 * to 8: that of an axis whose limits are equal. RG_OUT_OF_MEMORY is the only failure. */
rg_status rg_world_joint_forces_open(rg_world *world, uint16_t *open, rg_error *error);

#ifdef __cplusplus
}
#endif
#endif
