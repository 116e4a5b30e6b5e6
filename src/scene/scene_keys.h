/* The words of the scene format: every mapping of a scene file has its table of known keys here, in
 * one list each that gives enum and names. docs/scene.schema.json is tested against these tables.
 */
#ifndef RIGOR_SCENE_KEYS_H
#define RIGOR_SCENE_KEYS_H

#include <stddef.h>

#define RG_KEYS_TOP(X)                                                                             \
    X(TOP_RIGOR, "rigor")                                                                          \
    X(TOP_NAME, "name")                                                                            \
    X(TOP_PARAMETERS, "parameters")                                                                \
    X(TOP_PLANAR, "planar")                                                                        \
    X(TOP_GRAVITY, "gravity")                                                                      \
    X(TOP_SEED, "seed")                                                                            \
    X(TOP_METHOD, "method")                                                                        \
    X(TOP_SOLVER, "solver")                                                                        \
    X(TOP_IMPACT, "impact")                                                                        \
    X(TOP_DURATION, "duration")                                                                    \
    X(TOP_RECORD, "record")                                                                        \
    X(TOP_MATERIALS, "materials")                                                                  \
    X(TOP_PAIRS, "pairs")                                                                          \
    X(TOP_SHAPES, "shapes")                                                                        \
    X(TOP_BODIES, "bodies")                                                                        \
    X(TOP_JOINTS, "joints")                                                                        \
    X(TOP_FORCES, "forces")
#define RG_KEYS_METHOD(X)                                                                          \
    X(METHOD_NAME, "name")                                                                         \
    X(METHOD_STEP, "step")                                                                         \
    X(METHOD_TOLERANCE, "tolerance")                                                               \
    X(METHOD_INTEGRATOR, "integrator")                                                             \
    X(METHOD_ROOT_FINDER, "root_finder")                                                           \
    X(METHOD_GAMMA, "gamma")                                                                       \
    X(METHOD_DETECTION, "detection")                                                               \
    X(METHOD_POINTS, "points")                                                                     \
    X(METHOD_HAND_OVER, "hand_over")                                                               \
    X(METHOD_CONTRADICTIONS, "contradictions")                                                     \
    X(METHOD_PENALTY, "penalty")
#define RG_KEYS_PENALTY(X)                                                                         \
    X(PENALTY_STIFFNESS, "stiffness")                                                              \
    X(PENALTY_DEPTH, "depth")                                                                      \
    X(PENALTY_SLIP, "slip")                                                                        \
    X(PENALTY_TOLERANCE, "tolerance")                                                              \
    X(PENALTY_MEASURE, "measure")                                                                  \
    X(PENALTY_COLLISIONS, "collisions")
#define RG_KEYS_SOLVER(X)                                                                          \
    X(SOLVER_NAME, "name")                                                                         \
    X(SOLVER_TOLERANCE, "tolerance")                                                               \
    X(SOLVER_FRICTION, "friction")                                                                 \
    X(SOLVER_POLICY, "policy")
#define RG_KEYS_SOLVER_FRICTION(X) X(SOLVER_FRICTION_POLYGON, "polygon")
#define RG_KEYS_RECORD(X)          X(RECORD_EVERY, "every")
#define RG_KEYS_MATERIAL(X)                                                                        \
    X(MATERIAL_FRICTION, "friction")                                                               \
    X(MATERIAL_RESTITUTION, "restitution")                                                         \
    X(MATERIAL_IMPACT, "impact")                                                                   \
    X(MATERIAL_STIFFNESS, "stiffness")                                                             \
    X(MATERIAL_ROLLING, "rolling_friction")                                                        \
    X(MATERIAL_TORSIONAL, "torsional_friction")
#define RG_KEYS_FRICTION(X)                                                                        \
    X(FRICTION_STATIC, "static")                                                                   \
    X(FRICTION_DYNAMIC, "dynamic")
#define RG_KEYS_PAIR(X)                                                                            \
    X(PAIR_BETWEEN, "between")                                                                     \
    X(PAIR_FRICTION, "friction")                                                                   \
    X(PAIR_RESTITUTION, "restitution")                                                             \
    X(PAIR_IMPACT, "impact")                                                                       \
    X(PAIR_STIFFNESS, "stiffness")                                                                 \
    X(PAIR_ROLLING, "rolling_friction")                                                            \
    X(PAIR_TORSIONAL, "torsional_friction")
/* In the order of rg_shape_kind, then the ones that are read into another kind. */
#define RG_KEYS_SHAPE(X)                                                                           \
    X(SHAPE_HALFSPACE, "halfspace")                                                                \
    X(SHAPE_BOX, "box")                                                                            \
    X(SHAPE_SPHERE, "sphere")                                                                      \
    X(SHAPE_CAPSULE, "capsule")                                                                    \
    X(SHAPE_CYLINDER, "cylinder")                                                                  \
    X(SHAPE_CONE, "cone")                                                                          \
    X(SHAPE_ELLIPSOID, "ellipsoid")                                                                \
    X(SHAPE_HULL, "hull")                                                                          \
    X(SHAPE_COMPOUND, "compound")                                                                  \
    X(SHAPE_POLYGON, "polygon")                                                                    \
    X(SHAPE_DISC, "disc")                                                                          \
    X(SHAPE_TERRAIN, "terrain")                                                                    \
    X(SHAPE_MESH, "mesh")
#define RG_KEYS_HALFSPACE(X)                                                                       \
    X(HALFSPACE_NORMAL, "normal")                                                                  \
    X(HALFSPACE_OFFSET, "offset")
#define RG_KEYS_ROUND(X) X(ROUND_RADIUS, "radius")
#define RG_KEYS_CAPSULE(X)                                                                         \
    X(CAPSULE_RADIUS, "radius")                                                                    \
    X(CAPSULE_LENGTH, "length")
#define RG_KEYS_CYLINDER(X)                                                                        \
    X(CYLINDER_RADIUS, "radius")                                                                   \
    X(CYLINDER_HEIGHT, "height")
#define RG_KEYS_FILE(X)                                                                            \
    X(FILE_FILE, "file")                                                                           \
    X(FILE_SCALE, "scale")                                                                         \
    X(FILE_UNIT, "unit")                                                                           \
    X(FILE_UP, "up")                                                                               \
    X(FILE_PARTS, "parts")                                                                         \
    X(FILE_GROUPS, "groups")                                                                       \
    X(FILE_ERROR, "error")
#define RG_KEYS_TERRAIN(X)                                                                         \
    X(TERRAIN_FILE, "file")                                                                        \
    X(TERRAIN_SCALE, "scale")                                                                      \
    X(TERRAIN_UNIT, "unit")                                                                        \
    X(TERRAIN_POINTS, "points")                                                                    \
    X(TERRAIN_TRIANGLES, "triangles")                                                              \
    X(TERRAIN_SIZE, "size")                                                                        \
    X(TERRAIN_CELLS, "cells")                                                                      \
    X(TERRAIN_HEIGHT, "height")                                                                    \
    X(TERRAIN_THICKNESS, "thickness")                                                              \
    X(TERRAIN_SIDES, "sides")                                                                      \
    X(TERRAIN_UP, "up")
#define RG_KEYS_PART(X)                                                                            \
    X(PART_SHAPE, "shape")                                                                         \
    X(PART_POSITION, "position")                                                                   \
    X(PART_ORIENTATION, "orientation")                                                             \
    X(PART_ANGLE, "angle")                                                                         \
    X(PART_ANGLE_DEGREES, "angle_degrees")                                                         \
    X(PART_DENSITY, "density")
#define RG_KEYS_COLLIDER(X)                                                                        \
    X(COLLIDER_SHAPE, "shape")                                                                     \
    X(COLLIDER_POSITION, "position")                                                               \
    X(COLLIDER_ORIENTATION, "orientation")                                                         \
    X(COLLIDER_ANGLE, "angle")                                                                     \
    X(COLLIDER_ANGLE_DEGREES, "angle_degrees")                                                     \
    X(COLLIDER_MATERIAL, "material")                                                               \
    X(COLLIDER_DENSITY, "density")                                                                 \
    X(COLLIDER_SENSOR, "sensor")                                                                   \
    X(COLLIDER_CATEGORY, "category")                                                               \
    X(COLLIDER_MASK, "mask")                                                                       \
    X(COLLIDER_SURFACE_VELOCITY, "surface_velocity")
#define RG_KEYS_BODY(X)                                                                            \
    X(BODY_NAME, "name")                                                                           \
    X(BODY_REPEAT, "repeat")                                                                       \
    X(BODY_SHAPE, "shape")                                                                         \
    X(BODY_COLLIDERS, "colliders")                                                                 \
    X(BODY_MOTION, "motion")                                                                       \
    X(BODY_DENSITY, "density")                                                                     \
    X(BODY_MASS, "mass")                                                                           \
    X(BODY_INERTIA, "inertia")                                                                     \
    X(BODY_CENTRE_OF_MASS, "centre_of_mass")                                                       \
    X(BODY_POSITION, "position")                                                                   \
    X(BODY_ORIENTATION, "orientation")                                                             \
    X(BODY_ANGLE, "angle")                                                                         \
    X(BODY_ANGLE_DEGREES, "angle_degrees")                                                         \
    X(BODY_VELOCITY, "velocity")                                                                   \
    X(BODY_ANGULAR_VELOCITY, "angular_velocity")                                                   \
    X(BODY_GRAVITY_SCALE, "gravity_scale")                                                         \
    X(BODY_MATERIAL, "material")                                                                   \
    X(BODY_SENSOR, "sensor")                                                                       \
    X(BODY_CATEGORY, "category")                                                                   \
    X(BODY_MASK, "mask")                                                                           \
    X(BODY_SURFACE_VELOCITY, "surface_velocity")
#define RG_KEYS_REPEAT(X)                                                                          \
    X(REPEAT_I, "i")                                                                               \
    X(REPEAT_J, "j")                                                                               \
    X(REPEAT_K, "k")
#define RG_KEYS_MOTION(X) X(MOTION_KINEMATIC, "kinematic")
#define RG_KEYS_KINEMATIC(X)                                                                       \
    X(KINEMATIC_OSCILLATE, "oscillate")                                                            \
    X(KINEMATIC_MOVE, "move")                                                                      \
    X(KINEMATIC_TURN, "turn")
#define RG_KEYS_OSCILLATE(X)                                                                       \
    X(OSCILLATE_AMPLITUDE, "amplitude")                                                            \
    X(OSCILLATE_ROTATION_AMPLITUDE, "rotation_amplitude")                                          \
    X(OSCILLATE_FREQUENCY, "frequency")                                                            \
    X(OSCILLATE_PHASE, "phase")
#define RG_KEYS_ORIENTATION(X)                                                                     \
    X(ORIENTATION_AXIS, "axis")                                                                    \
    X(ORIENTATION_DEGREES, "degrees")                                                              \
    X(ORIENTATION_RADIANS, "radians")                                                              \
    X(ORIENTATION_QUATERNION, "quaternion")
#define RG_KEYS_JOINT(X)                                                                           \
    X(JOINT_KIND, "kind")                                                                          \
    X(JOINT_REPEAT, "repeat")                                                                      \
    X(JOINT_NAME, "name")                                                                          \
    X(JOINT_BODIES, "bodies")                                                                      \
    X(JOINT_POINT, "point")                                                                        \
    X(JOINT_AXIS, "axis")                                                                          \
    X(JOINT_FRAME_A, "frame_a")                                                                    \
    X(JOINT_FRAME_B, "frame_b")                                                                    \
    X(JOINT_COLLIDE, "collide")                                                                    \
    X(JOINT_BREAK_FORCE, "break_force")                                                            \
    X(JOINT_BREAK_TORQUE, "break_torque")                                                          \
    X(JOINT_BROKEN, "broken")                                                                      \
    X(JOINT_AXES, "axes")                                                                          \
    X(JOINT_RATIO, "ratio")                                                                        \
    X(JOINT_SURFACE, "surface")                                                                    \
    X(JOINT_SUM, "sum")
#define RG_KEYS_JOINT_SUM(X)                                                                       \
    X(JOINT_SUM_JOINT, "joint")                                                                    \
    X(JOINT_SUM_AXIS, "axis")                                                                      \
    X(JOINT_SUM_COEFFICIENT, "coefficient")
#define RG_KEYS_JOINT_SURFACE(X)                                                                   \
    X(JOINT_SURFACE_SQUARE, "square")                                                              \
    X(JOINT_SURFACE_LINEAR, "linear")                                                              \
    X(JOINT_SURFACE_CONSTANT, "constant")
#define RG_KEYS_JOINT_FRAME(X)                                                                     \
    X(JOINT_FRAME_POSITION, "position")                                                            \
    X(JOINT_FRAME_ORIENTATION, "orientation")
#define RG_KEYS_JOINT_AXIS(X)                                                                      \
    X(JOINT_AXIS_LOWER, "lower")                                                                   \
    X(JOINT_AXIS_UPPER, "upper")                                                                   \
    X(JOINT_AXIS_RESTITUTION, "restitution")                                                       \
    X(JOINT_AXIS_STIFFNESS, "stiffness")                                                           \
    X(JOINT_AXIS_DAMPING, "damping")                                                               \
    X(JOINT_AXIS_REST, "rest")                                                                     \
    X(JOINT_AXIS_FRICTION, "friction")                                                             \
    X(JOINT_AXIS_ARMATURE, "armature")                                                             \
    X(JOINT_AXIS_MOTOR, "motor")
#define RG_KEYS_JOINT_MOTOR(X)                                                                     \
    X(JOINT_MOTOR_VELOCITY, "velocity")                                                            \
    X(JOINT_MOTOR_POSITION, "position")                                                            \
    X(JOINT_MOTOR_GAIN, "gain")                                                                    \
    X(JOINT_MOTOR_GAIN_VELOCITY, "gain_velocity")                                                  \
    X(JOINT_MOTOR_MAX_FORCE, "max_force")
/* Every kind of force begins with these five, in this order. */
#define RG_KEYS_ANY_FORCE(X, PREFIX)                                                               \
    X(PREFIX##_KIND, "kind")                                                                       \
    X(PREFIX##_REPEAT, "repeat")                                                                   \
    X(PREFIX##_BODY, "body")                                                                       \
    X(PREFIX##_START, "start")                                                                     \
    X(PREFIX##_STOP, "stop")
#define RG_KEYS_CONSTANT(X)                                                                        \
    RG_KEYS_ANY_FORCE(X, CONSTANT)                                                                 \
    X(CONSTANT_POINT, "point")                                                                     \
    X(CONSTANT_FORCE, "force")                                                                     \
    X(CONSTANT_TORQUE, "torque")
#define RG_KEYS_SPRING(X)                                                                          \
    RG_KEYS_ANY_FORCE(X, SPRING)                                                                   \
    X(SPRING_OTHER, "other")                                                                       \
    X(SPRING_POINT, "point")                                                                       \
    X(SPRING_OTHER_POINT, "other_point")                                                           \
    X(SPRING_STIFFNESS, "stiffness")                                                               \
    X(SPRING_DAMPING, "damping")                                                                   \
    X(SPRING_REST_LENGTH, "rest_length")
#define RG_KEYS_DRAG(X)                                                                            \
    RG_KEYS_ANY_FORCE(X, DRAG)                                                                     \
    X(DRAG_LINEAR, "linear")                                                                       \
    X(DRAG_QUADRATIC, "quadratic")                                                                 \
    X(DRAG_ANGULAR, "angular")
#define RG_KEYS_FIELD(X)                                                                           \
    RG_KEYS_ANY_FORCE(X, FIELD)                                                                    \
    X(FIELD_ACCELERATION, "acceleration")
#define RG_KEYS_CENTRAL(X)                                                                         \
    RG_KEYS_ANY_FORCE(X, CENTRAL)                                                                  \
    X(CENTRAL_CENTRE, "centre")                                                                    \
    X(CENTRAL_STRENGTH, "strength")

/* X(list, count identifier, table identifier, name of the table) */
#define RG_KEY_TABLE_LIST(X)                                                                       \
    X(RG_KEYS_TOP, TOP_COUNT, rg_keys_top, "scene")                                                \
    X(RG_KEYS_METHOD, METHOD_COUNT, rg_keys_method, "method")                                      \
    X(RG_KEYS_SOLVER, SOLVER_COUNT, rg_keys_solver, "solver")                                      \
    X(RG_KEYS_PENALTY, PENALTY_COUNT, rg_keys_penalty, "penalty")                                  \
    X(RG_KEYS_SOLVER_FRICTION, SOLVER_FRICTION_COUNT, rg_keys_solver_friction, "solver_friction")  \
    X(RG_KEYS_RECORD, RECORD_COUNT, rg_keys_record, "record")                                      \
    X(RG_KEYS_MATERIAL, MATERIAL_COUNT, rg_keys_material, "material")                              \
    X(RG_KEYS_FRICTION, FRICTION_COUNT, rg_keys_friction, "friction")                              \
    X(RG_KEYS_PAIR, PAIR_COUNT, rg_keys_pair, "pair")                                              \
    X(RG_KEYS_SHAPE, SHAPE_COUNT, rg_keys_shape, "shape")                                          \
    X(RG_KEYS_HALFSPACE, HALFSPACE_COUNT, rg_keys_halfspace, "halfspace")                          \
    X(RG_KEYS_ROUND, ROUND_COUNT, rg_keys_round, "round")                                          \
    X(RG_KEYS_CAPSULE, CAPSULE_COUNT, rg_keys_capsule, "capsule")                                  \
    X(RG_KEYS_CYLINDER, CYLINDER_COUNT, rg_keys_cylinder, "cylinder")                              \
    X(RG_KEYS_FILE, FILE_COUNT, rg_keys_file, "file")                                              \
    X(RG_KEYS_TERRAIN, TERRAIN_COUNT, rg_keys_terrain, "terrain")                                  \
    X(RG_KEYS_PART, PART_COUNT, rg_keys_part, "part")                                              \
    X(RG_KEYS_COLLIDER, COLLIDER_COUNT, rg_keys_collider, "collider")                              \
    X(RG_KEYS_BODY, BODY_COUNT, rg_keys_body, "body")                                              \
    X(RG_KEYS_REPEAT, REPEAT_COUNT, rg_keys_repeat, "repeat")                                      \
    X(RG_KEYS_MOTION, MOTION_COUNT, rg_keys_motion, "motion")                                      \
    X(RG_KEYS_KINEMATIC, KINEMATIC_COUNT, rg_keys_kinematic, "kinematic")                          \
    X(RG_KEYS_OSCILLATE, OSCILLATE_COUNT, rg_keys_oscillate, "oscillate")                          \
    X(RG_KEYS_ORIENTATION, ORIENTATION_COUNT, rg_keys_orientation, "orientation")                  \
    X(RG_KEYS_JOINT, JOINT_COUNT, rg_keys_joint, "joint")                                          \
    X(RG_KEYS_JOINT_SURFACE, JOINT_SURFACE_COUNT, rg_keys_joint_surface, "joint_surface")          \
    X(RG_KEYS_JOINT_SUM, JOINT_SUM_COUNT, rg_keys_joint_sum, "joint_sum")                          \
    X(RG_KEYS_JOINT_FRAME, JOINT_FRAME_COUNT, rg_keys_joint_frame, "joint_frame")                  \
    X(RG_KEYS_JOINT_AXIS, JOINT_AXIS_COUNT, rg_keys_joint_axis, "joint_axis")                      \
    X(RG_KEYS_JOINT_MOTOR, JOINT_MOTOR_COUNT, rg_keys_joint_motor, "joint_motor")                  \
    X(RG_KEYS_CONSTANT, CONSTANT_COUNT, rg_keys_constant, "constant")                              \
    X(RG_KEYS_SPRING, SPRING_COUNT, rg_keys_spring, "spring")                                      \
    X(RG_KEYS_DRAG, DRAG_COUNT, rg_keys_drag, "drag")                                              \
    X(RG_KEYS_FIELD, FIELD_COUNT, rg_keys_field, "field")                                          \
    X(RG_KEYS_CENTRAL, CENTRAL_COUNT, rg_keys_central, "central")

#define RG_KEY_ENUM(identifier, name)          identifier,
#define RG_KEY_ENUMS(list, count, table, name) enum { list(RG_KEY_ENUM) count };
RG_KEY_TABLE_LIST(RG_KEY_ENUMS)
#undef RG_KEY_ENUMS
#undef RG_KEY_ENUM

enum { RG_MAX_KEYS = 24 }; /* in any table */

typedef struct rg_key_table {
    const char *name;
    const char *const *keys;
    size_t count;
} rg_key_table;

#define RG_KEY_TABLE_DECLARATION(list, count, table, name) extern const rg_key_table table;
RG_KEY_TABLE_LIST(RG_KEY_TABLE_DECLARATION)
#undef RG_KEY_TABLE_DECLARATION

size_t rg_key_table_count(void);
const rg_key_table *rg_key_table_at(size_t index);

#endif
