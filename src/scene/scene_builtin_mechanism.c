/* Built-in scenes of mechanisms that touch things: chain-pivot, chain-wrecks and chain-blocks
 * (Baraff 1989, Figure 14c to f), struck-pendulum, watt, particle, ragdoll, rover, humanoid,
 * contradictory-welds. Neighbours that a joint holds do not touch each other.
 * Tested by tests/scene/test_mechanism.c. */
#include "base/base_math.h"
#include "base/base_text.h"
#include "base/base_trig.h"
#include "rigor/joint.h"
#include "scene/scene_builtin.h"

#include <stdio.h>

#define GRAVITY 9.81

static const rg_body_id the_world = {0, 0};
static const rg_vec3 along_x = {1, 0, 0}, along_y = {0, 1, 0}, along_z = {0, 0, 1};

/* What all of them measure. */
typedef struct touch_state {
    double energy; /* J: of the step before */
    double rise;   /* J: its largest rise in a step, work of motors taken away */
    double size;   /* J: what the energy is measured by */
    double other;  /* of the scene's own measure */
    double travel; /* m: the length of the chain, or where something began */
} touch_state;

static void begin_state(rg_scene *scene, double size) {
    touch_state *state = scene->measuring;
    state->energy = rg_world_energy(scene->world);
    state->size = size;
}

static void observe_energy(rg_scene *scene) {
    touch_state *state = scene->measuring;
    rg_step_info sum = rg_world_summary(scene->world);
    double energy = rg_world_energy(scene->world) - sum.energy.external_work;
    state->rise = fmax(state->rise, energy - state->energy);
    state->energy = energy;
}

static size_t measure_common(rg_scene *scene, rg_measure measures[RG_MAX_MEASURES]) {
    const touch_state *state = scene->measuring;
    rg_certificate worst = rg_world_summary(scene->world).certificate;
    measures[0] = rg_measure_beside("joint_gap_m", worst.joint_error, 0);
    measures[1] = rg_measure_of("penetration_m", worst.max_penetration);
    measures[2] = rg_measure_of("energy_rise_rel", state->rise / state->size);
    return 3;
}

/* A hinge about y with limits, in degrees. */
static rg_joint_def limited(rg_body_id a, rg_body_id b, double lower, double upper) {
    rg_joint_def def = rg_builtin_joint_of(RG_JOINT_HINGE, a, b);
    def.axis[0].lower = lower * RG_PI / 180, def.axis[0].upper = upper * RG_PI / 180;
    return def;
}

static rg_status add_fixed(rg_scene *scene, const char *name, const rg_shape_def *shape,
                           rg_pose pose, rg_error *error) {
    rg_body_def def = rg_body_def_default();
    def.name = name, def.motion = RG_MOTION_FIXED, def.pose = pose;
    return rg_builtin_add(scene, shape, 1000, &def, NULL, error);
}

/* From x to `to`, a unit vector in the plane x-z. */
static rg_quat turn_from_x(rg_vec3 to) {
    return rg_quat_normalised(rg_quat_make(0, -to.z, 0, 1 + to.x));
}

/* --- chains ----------------------------------------------------------------------------------- */

typedef struct chain_def {
    size_t links;
    rg_vec3 from, along; /* the first end, and the direction, in the plane x-z */
    rg_vec3 size;        /* of a link: along, across, thickness */
    rg_body_id last;     /* body that it is joined with; out: its last link */
    bool held;           /* the first link is joined with `last` */
} chain_def;

/* Links on hinges about y, one after the other; numbered from `number` on. */
static rg_status add_chain(rg_scene *scene, chain_def *c, size_t number, rg_error *error) {
    rg_shape_def shape = rg_shape_def_box(0.94 * c->size.x, c->size.y, c->size.z);
    rg_status status = RG_OK;
    for (size_t i = 0; i < c->links && !status; i++) {
        char name[32];
        rg_body_id link;
        rg_body_def def = rg_body_def_default();
        snprintf(name, sizeof name, "link%zu", number + i);
        rg_vec3 end = rg_add_scaled(c->from, c->size.x * (double)i, c->along);
        def.name = name;
        def.pose.position = rg_add_scaled(end, 0.5 * c->size.x, c->along);
        def.pose.orientation = turn_from_x(c->along);
        status = rg_builtin_add(scene, &shape, 1000, &def, &link, error);
        if (!status && (i > 0 || c->held))
            status = rg_builtin_join(scene, rg_builtin_joint_of(RG_JOINT_HINGE, c->last, link), end,
                                     along_y, error);
        c->last = link;
    }
    return status;
}

/* Figure 14d: it falls on a fixed pivot, more of it to the right, and runs over it. */
static const rg_builtin_parameter pivot_parameters[] = {
    {"links", "24", "links", 2, 1000, true, NULL},
    {"friction", "0.1", "coefficient", 0, 10, false, NULL},
};

static rg_status build_pivot(rg_scene *scene, const double *values, rg_error *error) {
    double length = 0.25 * values[0];
    rg_shape_def pin = rg_shape_def_cylinder(0.3, 1);
    rg_quat across = rg_quat_make(sqrt(0.5), 0, 0, sqrt(0.5)); /* z to -y */
    rg_status status = rg_builtin_set_law(scene, values[1], 0, error);
    if (!status)
        status =
            add_fixed(scene, "pivot", &pin, rg_pose_make(rg_vec3_make(0, 0, 0), across), error);
    chain_def chain = {.links = (size_t)values[0],
                       .from = rg_vec3_make(-0.4 * length, 0, 0.5),
                       .along = along_x,
                       .size = {0.25, 0.5, 0.08}};
    if (!status)
        status = add_chain(scene, &chain, 0, error);
    begin_state(scene, 20 * 0.25 * values[0] * GRAVITY * length);
    return status;
}

/* Figure 14c: a heavy ball at the end of a chain swings into a wall of blocks. */
static rg_status build_wrecks(rg_scene *scene, const double *values, rg_error *error) {
    (void)values;
    rg_shape_def ball = rg_shape_def_sphere(0.35);
    rg_status status = rg_builtin_lay_floor(scene, 0.4, 0, error);
    chain_def chain = {.links = 10,
                       .from = rg_vec3_make(0, 0, 3.4),
                       .along = rg_vec3_make(-1, 0, 0),
                       .size = {0.25, 0.1, 0.1},
                       .held = true};
    if (!status)
        status = add_chain(scene, &chain, 0, error);
    rg_body_def def = rg_body_def_default();
    rg_body_id end;
    def.name = "ball", def.pose.position = rg_vec3_make(-2.5 - 0.35, 0, 3.4);
    if (!status)
        status = rg_builtin_add(scene, &ball, 4000, &def, &end, error);
    if (!status)
        status = rg_builtin_join(scene, rg_builtin_joint_of(RG_JOINT_BALL, chain.last, end),
                                 rg_vec3_make(-2.5, 0, 3.4), along_y, error);
    for (int row = 0; row < 4 && !status; row++)
        for (int column = 0; column < 4 && !status; column++) {
            char name[32];
            snprintf(name, sizeof name, "block%d", 4 * row + column);
            double shift = row % 2 ? 0.25 : 0;
            status = rg_builtin_add_box(
                scene, name, rg_vec3_make(0.5, 0.5, 0.5),
                rg_vec3_make(0.6, -0.76 + shift + 0.505 * column, 0.25 + 0.5 * row), NULL, error);
        }
    begin_state(scene, 718 * GRAVITY * 2.85);
    return status;
}

/* Figure 14e and f: blocks fall into a chain that hangs between two points. */
static const rg_builtin_parameter blocks_parameters[] = {
    {"blocks", "2", "blocks", 1, 200, true, NULL},
};

static rg_status build_blocks(rg_scene *scene, const double *values, rg_error *error) {
    const double length = 0.3, run = 2, half = 8 * length;
    double drop = sqrt(half * half - run * run);
    rg_status status = rg_builtin_set_law(scene, 0.3, 0, error);
    chain_def chain = {.links = 8,
                       .from = rg_vec3_make(-run, 0, 0),
                       .along = rg_vec3_make(run / half, 0, -drop / half),
                       .size = {length, 0.8, 0.06},
                       .held = true};
    if (!status)
        status = add_chain(scene, &chain, 0, error);
    chain.from = rg_vec3_make(0, 0, -drop), chain.along.z = drop / half;
    if (!status)
        status = add_chain(scene, &chain, 8, error);
    if (!status)
        status = rg_builtin_join(scene, rg_builtin_joint_of(RG_JOINT_HINGE, chain.last, the_world),
                                 rg_vec3_make(run, 0, 0), along_y, error);
    size_t count = (size_t)values[0];
    for (size_t i = 0; i < count && !status; i++) {
        char name[32];
        snprintf(name, sizeof name, "block%zu", i);
        rg_vec3 at = {count > 1 ? -0.6 + 0.6 * (double)(i % 3) : 0, 0, 0.6 + 0.5 * (double)(i / 3)};
        status = rg_builtin_add_box(scene, name, rg_vec3_make(0.35, 0.35, 0.35), at, NULL, error);
    }
    begin_state(scene, (230 + 43 * values[0]) * GRAVITY * 2);
    return status;
}

/* --- struck-pendulum -------------------------------------------------------------------------- */

/* Two bars hang at rest; a ball strikes the lower one at its end. */
static rg_status build_struck(rg_scene *scene, const double *values, rg_error *error) {
    rg_shape_def bar = rg_shape_def_box(0.1, 0.1, 1), ball = rg_shape_def_sphere(0.15);
    rg_body_def def = rg_body_def_default();
    rg_body_id upper = the_world, lower = the_world;
    rg_status status = rg_builtin_set_law(scene, 0, values[1], error);
    def.name = "upper", def.pose.position = rg_vec3_make(0, 0, -0.5);
    if (!status)
        status = rg_builtin_add(scene, &bar, 1000, &def, &upper, error);
    def.name = "lower", def.pose.position = rg_vec3_make(0, 0, -1.5);
    if (!status)
        status = rg_builtin_add(scene, &bar, 1000, &def, &lower, error);
    if (!status)
        status = rg_builtin_join(scene, rg_builtin_joint_of(RG_JOINT_HINGE, the_world, upper),
                                 rg_vec3_make(0, 0, 0), along_y, error);
    if (!status)
        status = rg_builtin_join(scene, rg_builtin_joint_of(RG_JOINT_HINGE, upper, lower),
                                 rg_vec3_make(0, 0, -1), along_y, error);
    def.name = "ball", def.pose.position = rg_vec3_make(-0.5, 0, -1.8);
    def.velocity = rg_vec3_make(values[0], 0, 0);
    if (!status)
        status = rg_builtin_add(scene, &ball, 1000, &def, NULL, error);
    begin_state(scene, 7 * values[0] * values[0] + 1);
    return status;
}

static const rg_builtin_parameter struck_parameters[] = {
    {"speed", "5", "of the ball, m/s", 0, 1000, false, NULL},
    {"restitution", "0.5", "coefficient", 0, 1, false, NULL},
};

/* --- watt ------------------------------------------------------------------------------------- */

/* Two arms of 1 m and a coupler of 0.5 m between them, whose middle goes nearly straight up and
 * down while a motor moves one arm by a sine of time. */
static rg_status build_watt(rg_scene *scene, const double *values, rg_error *error) {
    const rg_vec3 size[3] = {{1, 0.1, 0.1}, {0.1, 0.1, 0.5}, {1, 0.1, 0.1}};
    const rg_vec3 place[3] = {{-0.5, 0, 0.25}, {0, 0, 0}, {0.5, 0, -0.25}};
    static const char *const names[3] = {"left", "coupler", "right"};
    rg_body_id body[3] = {the_world, the_world, the_world};
    rg_status status = RG_OK;
    char target[64];
    for (int i = 0; i < 3 && !status; i++)
        status = rg_builtin_add_box(scene, names[i], size[i], place[i], &body[i], error);
    rg_joint_def driven = rg_builtin_joint_of(RG_JOINT_HINGE, the_world, body[0]);
    snprintf(target, sizeof target, "%.17g*sin(2*t)", values[0] * RG_PI / 180);
    driven.axis[0].motor = RG_MOTOR_POSITION;
    driven.axis[0].gain = 1e5, driven.axis[0].gain_velocity = 2e3, driven.axis[0].max_force = 1e4;
    driven.axis[0].target_of_time = target;
    if (!status)
        status = rg_builtin_join(scene, driven, rg_vec3_make(-1, 0, 0.25), along_y, error);
    if (!status)
        status = rg_builtin_join(scene, rg_builtin_joint_of(RG_JOINT_HINGE, body[0], body[1]),
                                 rg_vec3_make(0, 0, 0.25), along_y, error);
    if (!status)
        status = rg_builtin_join(scene, rg_builtin_joint_of(RG_JOINT_HINGE, body[1], body[2]),
                                 rg_vec3_make(0, 0, -0.25), along_y, error);
    if (!status)
        status = rg_builtin_join(scene, rg_builtin_joint_of(RG_JOINT_HINGE, the_world, body[2]),
                                 rg_vec3_make(1, 0, -0.25), along_y, error);
    begin_state(scene, 25 * GRAVITY);
    return status;
}

static const rg_builtin_parameter watt_parameters[] = {
    {"amplitude", "20", "degrees that the motor moves an arm by", 0, 30, false, NULL},
};

static void observe_watt(rg_scene *scene) {
    touch_state *state = scene->measuring;
    rg_vec3 middle = rg_body_pose(scene->world, rg_world_body_at(scene->world, 1)).position;
    observe_energy(scene);
    state->other = fmax(state->other, fabs(middle.x));
    state->travel = fmax(state->travel, fabs(middle.z));
}

static size_t measure_watt(rg_scene *scene, rg_measure measures[RG_MAX_MEASURES]) {
    const touch_state *state = scene->measuring;
    size_t n = measure_common(scene, measures);
    measures[n++] = rg_measure_of("off_line_m", state->other);
    measures[n++] = rg_measure_of("travel_m", state->travel);
    return n;
}

/* --- particle --------------------------------------------------------------------------------- */

/* The survey's particle (section 2.1): on an ellipsoid, x^2 + y^2 + 4 z^2 = 4, as an equality or as
 * two inequalities. */
static rg_status build_particle(rg_scene *scene, const double *values, rg_error *error) {
    rg_shape_def shape = rg_shape_def_sphere(0.05);
    rg_collider_def kind = rg_collider_def_default();
    rg_body_def def = rg_body_def_default();
    rg_body_id body = the_world;
    kind.mask = 0;
    def.name = "particle", def.pose.position = rg_vec3_make(0, 2, 0);
    def.velocity = rg_vec3_make(1, 0, 0.5);
    rg_status status = rg_builtin_add_collider(scene, &shape, &kind, &def, &body, error);
    for (int side = values[0] > 0 ? 1 : 0; side <= (values[0] > 0 ? 2 : 0) && !status; side++) {
        rg_joint_def joint = rg_builtin_joint_of(RG_JOINT_SURFACE, the_world, body);
        rg_joint_id id;
        joint.surface = (rg_quadric){{1, 1, 4}, {0, 0, 0}, -4};
        joint.axis[0].lower = side == 2 ? -INFINITY : 0;
        joint.axis[0].upper = side == 1 ? INFINITY : 0;
        status = rg_world_add_joint(scene->world, &joint, &id, error);
    }
    begin_state(scene, status ? 1 : rg_body_mass(scene->world, body).mass * GRAVITY);
    return status;
}

static const rg_builtin_parameter particle_parameters[] = {
    {"inequalities", "0", "1: two inequalities instead of the equality", 0, 1, true, NULL},
};

/* --- figures ---------------------------------------------------------------------------------- */

/* A limb: a capsule along z, joined at its upper end with another. */
typedef struct limb_def {
    const char *name;
    double radius, length; /* of all of it, m */
    rg_vec3 top;           /* where its upper end is */
    int parent;            /* among the limbs; -1: none */
    double lower, upper;   /* degrees about y */
} limb_def;

static rg_status add_limbs(rg_scene *scene, const limb_def *limbs, size_t count, rg_vec3 shift,
                           rg_body_id *bodies, rg_error *error) {
    rg_status status = RG_OK;
    for (size_t i = 0; i < count && !status; i++) {
        const limb_def *l = &limbs[i];
        rg_shape_def shape = rg_shape_def_capsule(l->radius, l->length - 2 * l->radius);
        rg_body_def def = rg_body_def_default();
        rg_vec3 top = rg_add(l->top, shift);
        def.name = l->name;
        def.pose.position = rg_sub(top, rg_vec3_make(0, 0, 0.5 * l->length));
        status = rg_builtin_add(scene, &shape, 1000, &def, &bodies[i], error);
        if (!status && l->parent >= 0)
            status =
                rg_builtin_join(scene, limited(bodies[l->parent], bodies[i], l->lower, l->upper),
                                rg_sub(top, rg_vec3_make(0, 0, l->radius)), along_y, error);
    }
    return status;
}

/* A figure of ten limbs falls down a flight of stairs. */
static rg_status build_ragdoll(rg_scene *scene, const double *values, rg_error *error) {
    static const limb_def limbs[] = {{"torso", 0.15, 0.7, {0, 0, 0.7}, -1, 0, 0},
                                     {"head", 0.12, 0.26, {0, 0, 0.95}, 0, -40, 40},
                                     {"left-arm", 0.05, 0.34, {0, 0.26, 0.66}, 0, -170, 60},
                                     {"left-hand", 0.045, 0.34, {0, 0.26, 0.41}, 2, -140, 0},
                                     {"right-arm", 0.05, 0.34, {0, -0.26, 0.66}, 0, -170, 60},
                                     {"right-hand", 0.045, 0.34, {0, -0.26, 0.41}, 4, -140, 0},
                                     {"left-thigh", 0.08, 0.5, {0, 0.1, 0.12}, 0, -120, 30},
                                     {"left-shin", 0.06, 0.5, {0, 0.1, -0.26}, 6, 0, 140},
                                     {"right-thigh", 0.08, 0.5, {0, -0.1, 0.12}, 0, -120, 30},
                                     {"right-shin", 0.06, 0.5, {0, -0.1, -0.26}, 8, 0, 140}};
    enum { LIMBS = sizeof limbs / sizeof *limbs };
    rg_body_id bodies[LIMBS];
    rg_status status = rg_builtin_lay_floor(scene, 0.4, 0, error);
    for (int i = 0; i < 6 && !status; i++) {
        char name[32];
        double top = 0.25 * (6 - i);
        rg_shape_def step = rg_shape_def_box(0.4, 3, top);
        snprintf(name, sizeof name, "stair%d", i);
        status =
            add_fixed(scene, name, &step,
                      rg_pose_make(rg_vec3_make(0.4 * i, 0, 0.5 * top), rg_quat_identity()), error);
    }
    if (!status)
        status = add_limbs(scene, limbs, LIMBS, rg_vec3_make(0, 0, 1.5 + 0.8), bodies, error);
    for (size_t i = 0; i < LIMBS && !status; i++)
        status = rg_body_set_velocity(scene->world, bodies[i],
                                      rg_vec3_make(values[0] * (0.5 + 0.05 * (double)i), 0.05, 0));
    begin_state(scene, 90 * GRAVITY * 2);
    return status;
}

static const rg_builtin_parameter ragdoll_parameters[] = {
    {"push", "2", "m/s: how fast it is pushed", -20, 20, false, NULL},
};

/* Legs on three motors each carry a body; springs of the motors keep it upright. */
typedef struct leg_part {
    const char *name;
    rg_vec3 size;
    double middle, joint; /* height of its centre, and of the joint above it */
} leg_part;

static rg_status add_leg(rg_scene *scene, rg_body_id pelvis, double y, const char *side,
                         const double *gain, rg_error *error) {
    static const leg_part parts[] = {{"thigh", {0.12, 0.12, 0.4}, 0.7, 0.9},
                                     {"shin", {0.1, 0.1, 0.4}, 0.3, 0.5},
                                     {"foot", {0.26, 0.12, 0.1}, 0.05, 0.1}};
    rg_body_id above = pelvis;
    rg_status status = RG_OK;
    for (int i = 0; i < 3 && !status; i++) {
        char name[32];
        rg_body_id body;
        snprintf(name, sizeof name, "%s-%s", side, parts[i].name);
        status =
            rg_builtin_add_box(scene, name, parts[i].size,
                               rg_vec3_make(i == 2 ? 0.04 : 0, y, parts[i].middle), &body, error);
        rg_joint_def motor = rg_builtin_joint_of(RG_JOINT_HINGE, above, body);
        motor.axis[0].motor = RG_MOTOR_POSITION;
        motor.axis[0].gain = *gain, motor.axis[0].gain_velocity = 0.05 * *gain;
        motor.axis[0].max_force = 300;
        if (!status)
            status =
                rg_builtin_join(scene, motor, rg_vec3_make(0, y, parts[i].joint), along_y, error);
        above = body;
    }
    return status;
}

static rg_status build_humanoid(rg_scene *scene, const double *values, rg_error *error) {
    rg_body_id torso = the_world, head;
    rg_status status = rg_builtin_lay_floor(scene, 0.8, 0, error);
    if (!status)
        status = rg_builtin_add_box(scene, "torso", rg_vec3_make(0.2, 0.36, 0.6),
                                    rg_vec3_make(0, 0, 1.2), &torso, error);
    if (!status)
        status = rg_builtin_add_box(scene, "head", rg_vec3_make(0.18, 0.16, 0.22),
                                    rg_vec3_make(0, 0, 1.63), &head, error);
    if (!status)
        status = rg_builtin_join(scene, rg_builtin_joint_of(RG_JOINT_FIXED, torso, head),
                                 rg_vec3_make(0, 0, 1.51), along_z, error);
    if (!status)
        status = add_leg(scene, torso, 0.12, "left", values, error);
    if (!status)
        status = add_leg(scene, torso, -0.12, "right", values, error);
    begin_state(scene, 80 * GRAVITY);
    return status;
}

static const rg_builtin_parameter humanoid_parameters[] = {
    {"gain", "3000", "of the motors, N m/rad", 1, 1e6, false, NULL},
};

static size_t measure_humanoid(rg_scene *scene, rg_measure measures[RG_MAX_MEASURES]) {
    size_t n = measure_common(scene, measures);
    double height = rg_body_pose(scene->world, rg_world_body_at(scene->world, 1)).position.z;
    measures[n++] = rg_measure_truth("stands", height > 1.1, true);
    measures[n++] = rg_measure_of("height_m", height);
    return n;
}

/* --- rover ------------------------------------------------------------------------------------ */

/* A chassis on four wheels with motors drives over steps of 6 cm. */
static rg_status add_wheel(rg_scene *scene, rg_body_id chassis, int i, const double *values,
                           rg_error *error) {
    rg_shape_def wheel = rg_shape_def_cylinder(0.2, 0.12);
    rg_body_def def = rg_body_def_default();
    rg_body_id body;
    char name[32];
    snprintf(name, sizeof name, "wheel%d", i);
    def.name = name;
    def.pose.position = rg_vec3_make(i < 2 ? 0.4 : -0.4, i % 2 ? 0.38 : -0.38, 0.2);
    def.pose.orientation = rg_quat_make(sqrt(0.5), 0, 0, sqrt(0.5));
    rg_status status = rg_builtin_add(scene, &wheel, 500, &def, &body, error);
    rg_joint_def motor = rg_builtin_joint_of(RG_JOINT_HINGE, chassis, body);
    motor.axis[0].motor = RG_MOTOR_VELOCITY, motor.axis[0].target = values[0] / 0.2;
    motor.axis[0].max_force = 60;
    return status ? status : rg_builtin_join(scene, motor, def.pose.position, along_y, error);
}

static rg_status build_rover(rg_scene *scene, const double *values, rg_error *error) {
    rg_body_id chassis = the_world;
    rg_status status = rg_builtin_lay_floor(scene, 0.9, 0, error);
    for (int i = 0; i < 3 && !status; i++) {
        char name[32];
        double height = 0.06 * (i + 1);
        rg_shape_def step = rg_shape_def_box(1 + 2 * (2 - i), 2, height);
        snprintf(name, sizeof name, "step%d", i);
        status =
            add_fixed(scene, name, &step,
                      rg_pose_make(rg_vec3_make(3.5, 0, 0.5 * height), rg_quat_identity()), error);
    }
    if (!status)
        status = rg_builtin_add_box(scene, "chassis", rg_vec3_make(0.9, 0.5, 0.15),
                                    rg_vec3_make(0, 0, 0.3), &chassis, error);
    for (int i = 0; i < 4 && !status; i++)
        status = add_wheel(scene, chassis, i, values, error);
    begin_state(scene, 100 * GRAVITY);
    return status;
}

static const rg_builtin_parameter rover_parameters[] = {
    {"speed", "0.8", "m/s that the wheels turn for", -5, 5, false, NULL},
};

static size_t measure_rover(rg_scene *scene, rg_measure measures[RG_MAX_MEASURES]) {
    const rg_world *world = scene->world;
    size_t n = measure_common(scene, measures);
    rg_body_id chassis;
    rg_vec3 at = {NAN, NAN, NAN};
    if (rg_world_find_body(world, "chassis", &chassis) == RG_OK)
        at = rg_body_pose(world, chassis).position;
    measures[n++] = rg_measure_of("travelled_m", at.x);
    measures[n++] = rg_measure_of("height_m", at.z);
    return n;
}

/* --- contradictory-welds ---------------------------------------------------------------------- */

/* A cube is welded to two places 0.1 m apart: it stays between them, and the certificate says that
 * both joints are open by half of that. */
static rg_status build_welds(rg_scene *scene, const double *values, rg_error *error) {
    rg_body_id cube = the_world;
    rg_status status = rg_builtin_add_box(scene, "cube", rg_vec3_make(1, 1, 1),
                                          rg_vec3_make(0, 0, 2), &cube, error);
    for (int i = 0; i < 2 && !status; i++) {
        rg_joint_def weld = rg_builtin_joint_of(RG_JOINT_FIXED, the_world, cube);
        rg_joint_id joint;
        weld.name = i ? "right" : "left";
        weld.frame_a.position = rg_vec3_make((i ? 0.5 : -0.5) * values[0], 0, 2);
        status = rg_world_add_joint(scene->world, &weld, &joint, error);
    }
    if (!status && values[1] == 1) {
        rg_method_settings settings = rg_world_settings(scene->world);
        settings.contradictions = RG_NORM_ONE;
        status = rg_world_set_method(scene->world, rg_world_method(scene->world), &settings, error);
    }
    begin_state(scene, 1000 * GRAVITY);
    return status;
}

static const rg_builtin_parameter welds_parameters[] = {
    {"apart", "0.1", "m between the two places", 0, 1, false, NULL},
    {"norm", "2", "1: the least sum of errors, 2: of their squares", 1, 2, true, NULL},
};

static size_t measure_welds(rg_scene *scene, rg_measure measures[RG_MAX_MEASURES]) {
    const rg_world *world = scene->world;
    rg_vec3 at = rg_body_pose(world, rg_world_body_at(world, 0)).position;
    double gap = rg_joint_error(world, rg_world_joint_at(world, 0));
    rg_joint_def def = rg_joint_get_def(world, rg_world_joint_at(world, 1));
    measures[0] = rg_measure_beside("joint_gap_m", gap, def.frame_a.position.x);
    measures[1] = rg_measure_beside("sideways_m", at.x, 0);
    measures[2] = rg_measure_beside("height_m", at.z, 2);
    return 3;
}

/* --- the list --------------------------------------------------------------------------------- */

#define TOUCHING sizeof(touch_state)

const rg_builtin rg_builtin_mechanism[] = {
    {"chain-pivot", "a chain falls on a fixed pivot and runs over it (Baraff 1989, Figure 14d)",
     RG_PARAMETERS(pivot_parameters), 0, 4, TOUCHING, build_pivot, observe_energy, measure_common},
    {"chain-wrecks", "a ball on a chain swings into a wall (Baraff 1989, Figure 14c)",
     RG_NO_PARAMETERS, 0, 4, TOUCHING, build_wrecks, observe_energy, measure_common},
    {"chain-blocks", "blocks fall into a hanging chain (Baraff 1989, Figure 14e and f)",
     RG_PARAMETERS(blocks_parameters), 0, 5, TOUCHING, build_blocks, observe_energy,
     measure_common},
    {"struck-pendulum", "two bars on hinges that a ball strikes", RG_PARAMETERS(struck_parameters),
     0, 4, TOUCHING, build_struck, observe_energy, measure_common},
    {"watt", "Watt's linkage: a motor moves its middle along a line",
     RG_PARAMETERS(watt_parameters), 0, 10, TOUCHING, build_watt, observe_watt, measure_watt},
    {"particle", "a point on an ellipsoid (survey, section 2.1)",
     RG_PARAMETERS(particle_parameters), 0, 5, TOUCHING, build_particle, observe_energy,
     measure_common},
    {"ragdoll", "a figure of ten limbs falls down stairs", RG_PARAMETERS(ragdoll_parameters), 0, 5,
     TOUCHING, build_ragdoll, observe_energy, measure_common},
    {"rover", "four driven wheels over steps", RG_PARAMETERS(rover_parameters), 0, 8, TOUCHING,
     build_rover, observe_energy, measure_rover},
    {"humanoid", "stands on two legs with a motor in each joint",
     RG_PARAMETERS(humanoid_parameters), 0, 5, TOUCHING, build_humanoid, observe_energy,
     measure_humanoid},
    {"contradictory-welds", "a cube welded to two places", RG_PARAMETERS(welds_parameters), 0, 1,
     TOUCHING, build_welds, observe_energy, measure_welds},
    {0},
};
