/* Built-in scenes of joints: pendulum, chain, double-pendulum, four-bar, door, gripper. Bodies that
 * joints hold do not touch each other.
 * Tested by tests/scene/test_joint.c. */
#include "base/base_math.h"
#include "base/base_text.h"
#include "base/base_trig.h"
#include "rigor/joint.h"
#include "scene/scene_builtin.h"

#include <stdio.h>

#define GRAVITY 9.81

/* What all of them measure. */
typedef struct swing_state {
    double energy, swing; /* J: at the beginning; what is in the motion */
    double error;         /* worst so far, relative to the swing */
    double gap;           /* m */
    double other;         /* of the scene's own measure, worst so far */
} swing_state;

/* A box along z, turned by `angle` about -y (from -z towards x), that touches nothing. */
typedef struct bar_def {
    const char *name;
    rg_vec3 size, position;
    double density, angle;
} bar_def;

static rg_status add_bar(rg_scene *scene, const bar_def *b, rg_body_id *body, rg_error *error) {
    rg_shape_def shape = rg_shape_def_box(b->size.x, b->size.y, b->size.z);
    rg_collider_def kind = rg_collider_def_default();
    rg_body_def def = rg_body_def_default();
    kind.density = b->density;
    kind.mask = 0;
    def.name = b->name;
    def.pose.position = b->position;
    def.pose.orientation = rg_quat_of_rotation_vector(rg_vec3_make(0, -b->angle, 0));
    return rg_builtin_add_collider(scene, &shape, &kind, &def, body, error);
}

static void observe_swing(rg_scene *scene) {
    swing_state *state = scene->measuring;
    rg_step_info summary = rg_world_summary(scene->world);
    double off = fabs(rg_world_energy(scene->world) - state->energy) / state->swing;
    state->error = fmax(state->error, off);
    state->gap = summary.certificate.joint_error;
}

static size_t measure_swing(rg_scene *scene, rg_measure measures[RG_MAX_MEASURES]) {
    const swing_state *state = scene->measuring;
    measures[0] = rg_measure_beside("joint_gap_m", state->gap, 0);
    measures[1] = rg_measure_beside("energy_error_rel", state->error, 0);
    return 2;
}

static const rg_body_id the_world = {0, 0};
static const rg_vec3 y_axis = {0, 1, 0};

static rg_vec3 downwards(double angle) {
    double sine, cosine;
    rg_sin_cos(angle, &sine, &cosine);
    return rg_vec3_make(sine, 0, -cosine);
}

/* ---- pendulum ---- */

/* A bar of 0.1 x 0.1 x 1 m on a hinge at its upper end. Tension along it: m (g cos + l w^2). */
#define PENDULUM_LENGTH 0.5 /* m: to the centre of mass */

static const rg_builtin_parameter pendulum_parameters[] = {
    {"angle", "90", "degrees from the vertical", -180, 180, false, NULL},
};

static rg_status build_pendulum(rg_scene *scene, const double *values, rg_error *error) {
    swing_state *state = scene->measuring;
    double angle = values[0] * RG_PI / 180;
    rg_vec3 place = rg_scale(PENDULUM_LENGTH, downwards(angle));
    rg_body_id bar;
    rg_status status = add_bar(
        scene, &(bar_def){"bar", rg_vec3_make(0.1, 0.1, 1), place, 1000, angle}, &bar, error);
    if (!status)
        status = rg_builtin_join(scene, rg_builtin_joint_of(RG_JOINT_HINGE, the_world, bar),
                                 rg_vec3_make(0, 0, 0), y_axis, error);
    if (status)
        return status;
    state->energy = rg_world_energy(scene->world);
    state->swing = state->energy + rg_body_mass(scene->world, bar).mass * GRAVITY * PENDULUM_LENGTH;
    state->swing = state->swing > 0 ? state->swing : 1;
    return RG_OK;
}

static void observe_pendulum(rg_scene *scene) {
    swing_state *state = scene->measuring;
    const rg_world *world = scene->world;
    rg_body_id bar = rg_world_body_at(world, 0);
    observe_swing(scene);
    /* The force of a fixed step acts at its beginning, half a step of velocity before its end. */
    rg_joint_state joint = rg_joint_get_state(world, rg_world_joint_at(world, 0));
    bool fixed = rg_world_method(world) == rg_method_find("stepping");
    double h = fixed ? rg_scene_step_size(scene) : 0, w = rg_body_angular_velocity(world, bar).y;
    rg_vec3 rod = rg_scale(1 / PENDULUM_LENGTH, rg_body_pose(world, bar).position);
    rod = rg_normalised(rg_add_scaled(rod, -h * w, rg_cross(y_axis, rod)));
    double mass = rg_body_mass(world, bar).mass;
    double expected = mass * (-GRAVITY * rod.z + PENDULUM_LENGTH * w * w);
    state->other =
        fmax(state->other, fabs(-rg_dot(joint.force, rod) - expected) / (mass * GRAVITY));
}

static size_t measure_pendulum(rg_scene *scene, rg_measure measures[RG_MAX_MEASURES]) {
    const swing_state *state = scene->measuring;
    size_t n = measure_swing(scene, measures);
    measures[n++] = rg_measure_beside("tension_error_rel", state->other, 0);
    return n;
}

/* ---- chain ---- */

/* Links of 0.1 x 0.1 x 0.5 m (5 kg) on ball joints from a fixed point, straight at an angle from
 * the vertical, with a cube of 0.5 m at the end. */
enum { CHAIN_LINKS, CHAIN_BOB, CHAIN_ANGLE };
#define LINK_LENGTH 0.5 /* m */

static const rg_builtin_parameter chain_parameters[] = {
    {"links", "20", "links", 1, 100000, true, NULL},
    {"bob", "100", "mass of the bob over that of a link", 1e-6, 1e12, false, NULL},
    {"angle", "45", "degrees from the vertical", -180, 180, false, NULL},
};

static rg_status build_chain(rg_scene *scene, const double *values, rg_error *error) {
    swing_state *state = scene->measuring;
    double angle = values[CHAIN_ANGLE] * RG_PI / 180, lowest = 0;
    size_t links = (size_t)values[CHAIN_LINKS];
    rg_vec3 along = downwards(angle);
    rg_body_id last = the_world, link;
    rg_status status = RG_OK;
    for (size_t i = 0; i <= links && !status; i++) {
        char name[32] = "bob";
        double at = LINK_LENGTH * ((double)i + 0.5), edge = i < links ? 0.1 : 0.5;
        if (i < links)
            snprintf(name, sizeof name, "link%zu", i);
        status =
            add_bar(scene,
                    &(bar_def){name, rg_vec3_make(edge, edge, LINK_LENGTH), rg_scale(at, along),
                               i < links ? 1000 : 40 * values[CHAIN_BOB], angle},
                    &link, error);
        if (!status)
            status = rg_builtin_join(scene, rg_builtin_joint_of(RG_JOINT_BALL, last, link),
                                     rg_scale(LINK_LENGTH * (double)i, along), y_axis, error);
        if (!status)
            lowest -= rg_body_mass(scene->world, link).mass * GRAVITY * at;
        last = link;
    }
    state->energy = rg_world_energy(scene->world);
    state->swing = state->energy - lowest > 0 ? state->energy - lowest : 1;
    return status;
}

/* ---- double-pendulum ---- */

/* Two bars of 0.1 x 0.1 x 1 m on hinges, one below the other. */
static rg_status build_double(rg_scene *scene, const double *values, rg_error *error) {
    swing_state *state = scene->measuring;
    double angle = values[0] * RG_PI / 180;
    rg_vec3 along = downwards(angle), size = {0.1, 0.1, 1};
    rg_body_id upper, lower = the_world;
    rg_status status =
        add_bar(scene, &(bar_def){"upper", size, rg_scale(0.5, along), 1000, angle}, &upper, error);
    if (!status)
        status = add_bar(scene, &(bar_def){"lower", size, rg_scale(1.5, along), 1000, angle},
                         &lower, error);
    if (!status)
        status = rg_builtin_join(scene, rg_builtin_joint_of(RG_JOINT_HINGE, the_world, upper),
                                 rg_vec3_make(0, 0, 0), y_axis, error);
    if (!status)
        status = rg_builtin_join(scene, rg_builtin_joint_of(RG_JOINT_HINGE, upper, lower), along,
                                 y_axis, error);
    if (status)
        return status;
    state->energy = rg_world_energy(scene->world);
    state->swing = state->energy + 10 * GRAVITY * 2;
    state->swing = state->swing > 0 ? state->swing : 1;
    return RG_OK;
}

static const rg_builtin_parameter double_parameters[] = {
    {"angle", "10", "degrees from the vertical", -180, 180, false, NULL},
};

/* ---- four-bar ---- */

/* A parallelogram: two bars of 1 m side by side, 0.8 m apart, and a coupler at their ends, which
 * does not turn. A closed loop of four hinges, redundant in space. */
static rg_status build_four_bar(rg_scene *scene, const double *values, rg_error *error) {
    swing_state *state = scene->measuring;
    double angle = values[0] * RG_PI / 180;
    rg_vec3 along = downwards(angle), size = {0.1, 0.1, 1}, across = {0.8, 0, 0};
    rg_vec3 middle = rg_add_scaled(along, 0.5, across);
    rg_body_id left, right = the_world, coupler = the_world;
    rg_status status =
        add_bar(scene, &(bar_def){"left", size, rg_scale(0.5, along), 1000, angle}, &left, error);
    if (!status)
        status = add_bar(scene,
                         &(bar_def){"right", size, rg_add_scaled(across, 0.5, along), 1000, angle},
                         &right, error);
    if (!status)
        status = add_bar(scene, &(bar_def){"coupler", rg_vec3_make(0.8, 0.1, 0.1), middle, 1000, 0},
                         &coupler, error);
    const struct {
        rg_body_id a, b;
        rg_vec3 point;
    } hinges[] = {{the_world, left, {0, 0, 0}},
                  {the_world, right, across},
                  {left, coupler, along},
                  {right, coupler, rg_add(along, across)}};
    for (size_t i = 0; i < sizeof hinges / sizeof *hinges && !status; i++)
        status =
            rg_builtin_join(scene, rg_builtin_joint_of(RG_JOINT_HINGE, hinges[i].a, hinges[i].b),
                            hinges[i].point, y_axis, error);
    if (status)
        return status;
    state->energy = rg_world_energy(scene->world);
    state->swing = state->energy + GRAVITY * (2 * 10 * 0.5 + 8);
    state->swing = state->swing > 0 ? state->swing : 1;
    return RG_OK;
}

static void observe_four_bar(rg_scene *scene) {
    swing_state *state = scene->measuring;
    rg_quat q = rg_body_pose(scene->world, rg_world_body_at(scene->world, 2)).orientation;
    observe_swing(scene);
    state->other = fmax(state->other, 2 * rg_length(rg_vec3_make(q.x, q.y, q.z)));
}

static size_t measure_four_bar(rg_scene *scene, rg_measure measures[RG_MAX_MEASURES]) {
    const swing_state *state = scene->measuring;
    size_t n = measure_swing(scene, measures);
    measures[n++] = rg_measure_beside("coupler_turn_rad", state->other, 0);
    return n;
}

/* ---- door ---- */

/* A leaf of 0.9 x 0.05 x 2 m on three hinges along a post that leans by 5 degrees; it swings about
 * it for ever. How the hinges share the weight is not determined, the motion is. */
static rg_status build_door(rg_scene *scene, const double *values, rg_error *error) {
    swing_state *state = scene->measuring;
    (void)values;
    rg_vec3 post = {0, 0, 0};
    rg_sin_cos(RG_PI / 36, &post.y, &post.z);
    rg_body_id leaf;
    rg_shape_def shape = rg_shape_def_box(0.9, 0.05, 2);
    rg_collider_def kind = rg_collider_def_default();
    rg_body_def def = rg_body_def_default();
    kind.mask = 0;
    def.name = "leaf";
    def.pose.position = rg_vec3_make(0.45, 0, 1);
    rg_status status = rg_builtin_add_collider(scene, &shape, &kind, &def, &leaf, error);
    for (int i = 0; i < 3 && !status; i++)
        status = rg_builtin_join(scene, rg_builtin_joint_of(RG_JOINT_HINGE, the_world, leaf),
                                 rg_scale(0.2 + 0.7 * i, post), post, error);
    state->energy = status ? 0 : rg_world_energy(scene->world);
    state->swing = 90 * GRAVITY * 0.45 * post.y;
    return status;
}

/* ---- gripper ---- */

/* Two fingers on sliders of a palm press a cube of 0.1 m (1 kg) between them, so hard that a
 * friction of 0.4 would just hold it, while the palm rises at 5 cm/s. `share` is the friction over
 * that. */
#define GRIP_FRICTION 0.4
#define GRIP_RISE     0.05 /* m/s */

static const rg_builtin_parameter gripper_parameters[] = {
    {"share", "1.01", "friction over the least that holds the cube", 0, 100, false, NULL},
};

typedef struct gripper_state {
    double share, creep; /* m: how far the cube has slipped against the palm */
    double gap;
} gripper_state;

static rg_status build_gripper(rg_scene *scene, const double *values, rg_error *error) {
    gripper_state *state = scene->measuring;
    state->share = values[0];
    rg_status status = rg_builtin_set_law(scene, GRIP_FRICTION * values[0], 0, error);
    rg_shape_def cube = rg_shape_def_box(0.1, 0.1, 0.1),
                 finger = rg_shape_def_box(0.02, 0.08, 0.08);
    rg_body_def def = rg_body_def_default();
    rg_body_id palm = the_world, fingers[2] = {the_world, the_world};
    def.name = "palm", def.motion = RG_MOTION_KINEMATIC;
    def.prescription.kind = RG_PRESCRIBED_VELOCITY;
    def.velocity = rg_vec3_make(0, 0, GRIP_RISE);
    def.pose.position = rg_vec3_make(0, 0, 0.3);
    if (!status)
        status = rg_world_add_body(scene->world, &def, &palm, error);
    def = rg_body_def_default();
    def.velocity = rg_vec3_make(0, 0, GRIP_RISE);
    for (int i = 0; i < 2 && !status; i++) {
        def.name = i ? "right" : "left";
        def.pose.position = rg_vec3_make(i ? 0.06 : -0.06, 0, 0);
        status = rg_builtin_add(scene, &finger, 1000, &def, &fingers[i], error);
        rg_joint_def slider = rg_builtin_joint_of(RG_JOINT_SLIDER, palm, fingers[i]);
        slider.axis[0].motor = RG_MOTOR_VELOCITY;
        slider.axis[0].target = i ? -1 : 1;
        slider.axis[0].max_force = 0.5 * GRAVITY / GRIP_FRICTION;
        if (!status)
            status =
                rg_builtin_join(scene, slider, def.pose.position, rg_vec3_make(1, 0, 0), error);
    }
    def.name = "cube";
    def.pose.position = rg_vec3_make(0, 0, 0);
    return status ? status : rg_builtin_add(scene, &cube, 1000, &def, NULL, error);
}

static void observe_gripper(rg_scene *scene) {
    gripper_state *state = scene->measuring;
    const rg_world *world = scene->world;
    rg_vec3 cube = rg_body_pose(world, rg_world_body_at(world, 3)).position;
    state->creep = cube.z - GRIP_RISE * rg_world_time(world);
    state->gap = rg_world_summary(world).certificate.joint_error;
}

static size_t measure_gripper(rg_scene *scene, rg_measure measures[RG_MAX_MEASURES]) {
    const gripper_state *state = scene->measuring;
    measures[0] = rg_measure_truth("held", fabs(state->creep) < 1e-6, state->share >= 1);
    measures[1] = rg_measure_of("creep_m", fabs(state->creep));
    measures[2] = rg_measure_beside("joint_gap_m", state->gap, 0);
    return 3;
}

/* ---- the list ---- */

const rg_builtin rg_builtin_joint[] = {
    {"pendulum", "a bar on a hinge: its tension in closed form", RG_PARAMETERS(pendulum_parameters),
     0, 10, sizeof(swing_state), build_pendulum, observe_pendulum, measure_pendulum},
    {"chain", "links on ball joints with a heavy bob at the end, which swing",
     RG_PARAMETERS(chain_parameters), 0, 10, sizeof(swing_state), build_chain, observe_swing,
     measure_swing},
    {"double-pendulum", "two bars on hinges, one below the other", RG_PARAMETERS(double_parameters),
     0, 10, sizeof(swing_state), build_double, observe_swing, measure_swing},
    {"four-bar", "a parallelogram of bars: a loop of hinges, more than it needs in space",
     RG_PARAMETERS(double_parameters), 0, 10, sizeof(swing_state), build_four_bar, observe_four_bar,
     measure_four_bar},
    {"door", "a door on three hinges along a leaning post", RG_NO_PARAMETERS, 0, 10,
     sizeof(swing_state), build_door, observe_swing, measure_swing},
    {"gripper", "two fingers that lift a cube by friction alone", RG_PARAMETERS(gripper_parameters),
     0, 60, sizeof(gripper_state), build_gripper, observe_gripper, measure_gripper},
    {0},
};
