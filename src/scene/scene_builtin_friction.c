/* Built-in scenes of friction: Painleve's rod, a block that slides to a stop, a ball that begins to
 * roll.
 * Tested by tests/scene/test_force.c. */
#include "base/base_math.h"
#include "base/base_text.h"
#include "base/base_trig.h"
#include "rigor/contact_force.h"
#include "rigor/event.h"
#include "scene/scene_builtin.h"

/* s: of the step that shows what happens at t = 0. */
#define AT_ONCE 1e-12

/* ---- painleve ---- */

/* The rod of rg_builtin_add_rod, leaning at tan = 2 with its lower end on the floor, mu = 2. With
 * s, c = sin, cos the contact's acceleration is a = A f + b, A = 1 + 3 c (c - mu s) = -0.8 while
 * its end slides ahead of its centre, and b = w^2 s - g.
 *
 *   inconsistent   sliding at 1 m/s, w = 0: b < 0, no force f >= 0 will do. The impulse that
 *                  stops the end: N = 0.3, T = 0.4 kg m/s.
 *   indeterminate  sliding at 1 m/s, w = 4 rad/s: b = 4.5, and both f = 0 and f = 5.626 will do.
 *   rest           at rest: sticks, f = (8.3385, 2.943) N. */
enum { CASE_INCONSISTENT, CASE_INDETERMINATE, CASE_REST };
static const char *const painleve_cases[] = {"inconsistent", "indeterminate", "rest", NULL};
static const rg_builtin_parameter painleve_parameters[] = {
    {"case", "inconsistent", "inconsistent, indeterminate or rest", .words = painleve_cases},
};

#define ROD_MU   2.0
#define ROD_TAN  2.0
#define ROD_SLIP 1.0 /* m/s */
#define ROD_SPIN 4.0 /* rad/s */

typedef struct painleve_state {
    int which;
} painleve_state;

static rg_status build_painleve(rg_scene *scene, const double *values, rg_error *error) {
    painleve_state *state = scene->measuring;
    state->which = (int)values[0];
    rg_status status = rg_builtin_lay_floor(scene, ROD_MU, 0, error);
    double c = 1 / sqrt(1 + ROD_TAN * ROD_TAN), s = ROD_TAN * c;
    double slip = state->which == CASE_REST ? 0 : ROD_SLIP;
    double spin = state->which == CASE_INDETERMINATE ? ROD_SPIN : 0;
    rg_body_def def = rg_body_def_default();
    def.angle = rg_atan2(-s, c);
    def.pose.position = rg_vec3_make(0, 0, s);
    /* The lower end, at (c, -s) from the centre, moves at (slip, 0). */
    def.velocity = rg_vec3_make(slip - spin * s, 0, -spin * c);
    def.angular_velocity = rg_vec3_make(0, -spin, 0);
    return status ? status : rg_builtin_add_rod(scene, &def, error);
}

static size_t measure_impulse(const rg_scene *twin, rg_measure *measures) {
    double tangential = NAN, normal = NAN, after = NAN, c = 1 / sqrt(1 + ROD_TAN * ROD_TAN);
    if (twin) {
        rg_body_id rod = rg_world_body_at(twin->world, 1);
        rg_vec3 v = rg_body_velocity(twin->world, rod);
        /* What gravity did in the step is no impulse. */
        normal = v.z + rg_length(rg_world_gravity(twin->world)) * AT_ONCE;
        tangential = ROD_SLIP - v.x;
        after = v.x + ROD_TAN * c * rg_body_spin(twin->world, rod);
    }
    double inconsistent =
        twin ? (double)rg_builtin_event_count(twin->world, RG_STEP_EVENT_INCONSISTENT) : NAN;
    measures[0] = rg_measure_beside("impulse_normal_Ns", normal, 0.3 * ROD_SLIP);
    measures[1] = rg_measure_beside("impulse_tangential_Ns", tangential, 0.4 * ROD_SLIP);
    measures[2] = rg_measure_beside("slip_after", after, 0);
    measures[3] = rg_measure_beside("inconsistent_events", inconsistent, 1);
    return 4;
}

static size_t measure_painleve(rg_scene *scene, rg_measure measures[RG_MAX_MEASURES]) {
    const painleve_state *state = scene->measuring;
    rg_scene *twin = rg_builtin_first_step(scene, AT_ONCE);
    double c = 1 / sqrt(1 + ROD_TAN * ROD_TAN), s = ROD_TAN * c;
    double g = rg_length(rg_world_gravity(scene->world));
    size_t n = 0, count = 0;
    const rg_contact_force *forces = twin ? rg_world_contact_forces(twin->world, &count) : NULL;
    double normal = twin ? 0 : NAN, friction = normal;
    if (count)
        normal = forces[0].force.z, friction = fabs(forces[0].force.x);
    if (state->which == CASE_INCONSISTENT) {
        n = measure_impulse(twin, measures);
    } else if (state->which == CASE_REST) {
        /* Held by friction, about its lower end: alpha = g c/(4/3), f = m (a + g). */
        double alpha = 0.75 * g * c;
        measures[n++] = rg_measure_beside("force_normal_N", normal, g - alpha * c);
        measures[n++] = rg_measure_beside("force_friction_N", friction, alpha * s);
        measures[n++] =
            rg_measure_truth("sticks", count > 0 && forces[0].mode == RG_MODE_STICK, true);
    } else {
        double b = ROD_SPIN * ROD_SPIN * s - g, kept = b / 0.8;
        bool is_either = fabs(normal) < 1e-6 * kept || fabs(normal - kept) < 1e-6 * kept;
        measures[n++] = rg_measure_of("force_normal_N", normal);
        measures[n++] = rg_measure_of("solution_apart_N", 0);
        measures[n++] = rg_measure_of("solution_kept_N", kept);
        measures[n++] = rg_measure_truth("is_a_solution", is_either, true);
        double found =
            twin ? (double)rg_builtin_event_count(twin->world, RG_STEP_EVENT_INDETERMINATE) : NAN;
        measures[n++] = rg_measure_beside("indeterminate_events", found, 1);
    }
    rg_scene_destroy(twin);
    return n;
}

/* ---- what slides until it stops or rolls ---- */

enum { SLIDE_SPEED, SLIDE_MU };
#define PARAMETER_SPEED                                                                            \
    { "speed", "3", "m/s at the start", 0.01, 100, false, NULL }
#define PARAMETER_MU(most)                                                                         \
    { "mu", "0.4", "coefficient of friction", 0.01, most, false, NULL }

typedef struct slide_state {
    double speed, mu, ended; /* m/s; 1; s, 0: not yet */
} slide_state;

/* A body of this shape on the floor, its origin so high. */
static rg_status build_slide(rg_scene *scene, const double *values, const char *name,
                             const rg_shape_def *shape, double height, rg_error *error) {
    slide_state *state = scene->measuring;
    state->speed = values[SLIDE_SPEED], state->mu = values[SLIDE_MU];
    rg_status status = rg_builtin_lay_floor(scene, state->mu, 0, error);
    rg_body_def def = rg_body_def_default();
    def.name = name;
    def.pose.position = rg_vec3_make(0, 0, height);
    def.velocity = rg_vec3_make(state->speed, 0, 0);
    return status ? status : rg_builtin_add(scene, shape, 1000, &def, NULL, error);
}

/* When it ended, by the event or, with a method that has none, by the slip that is left. */
static void observe_slide(rg_scene *scene, double slip(const rg_scene *scene)) {
    slide_state *state = scene->measuring;
    double stick = rg_builtin_event_time(scene->world, RG_STEP_EVENT_STICK, false, NULL);
    if (state->ended > 0 || rg_world_body_count(scene->world) < 2)
        return;
    if (!isnan(stick))
        state->ended = stick;
    else if (slip(scene) < 1e-9 * state->speed)
        state->ended = rg_world_time(scene->world);
}

static rg_measure end_beside(const char *name, const slide_state *state, double expected) {
    return rg_measure_beside(name, state->ended > 0 ? state->ended : NAN, expected);
}

/* ---- block-stop ---- */

/* A cube of 1 m sliding at `speed` stops after v^2/(2 mu g), in v/(mu g). From mu = 1 on it would
 * tip. */
static const rg_builtin_parameter stop_parameters[] = {PARAMETER_SPEED, PARAMETER_MU(0.99)};

static rg_status build_stop(rg_scene *scene, const double *values, rg_error *error) {
    rg_shape_def shape = rg_shape_def_box(1, 1, 1);
    double g = rg_length(rg_world_gravity(scene->world));
    scene->duration = 1.25 * values[SLIDE_SPEED] / (values[SLIDE_MU] * g);
    return build_slide(scene, values, "block", &shape, 0.5, error);
}

static double block_speed(const rg_scene *scene) {
    return rg_length(rg_body_velocity(scene->world, rg_world_body_at(scene->world, 1)));
}

static void observe_stop(rg_scene *scene) {
    observe_slide(scene, block_speed);
}

static size_t measure_stop(rg_scene *scene, rg_measure measures[RG_MAX_MEASURES]) {
    const slide_state *state = scene->measuring;
    double g = rg_length(rg_world_gravity(scene->world)), pull = state->mu * g;
    rg_vec3 x = rg_body_pose(scene->world, rg_world_body_at(scene->world, 1)).position;
    measures[0] = end_beside("stopped_s", state, state->speed / pull);
    measures[1] = rg_measure_beside("distance_m", x.x, 0.5 * state->speed * state->speed / pull);
    measures[2] = rg_measure_beside("lateral_m", fabs(x.y), 0);
    measures[3] = rg_measure_beside("speed", block_speed(scene), 0);
    return 4;
}

/* ---- slide-to-roll ---- */

/* A ball of radius 0.1 m that slides at `speed` without turning rolls from 2 v/(7 mu g) on, at 5
 * v/7. */
static const rg_builtin_parameter roll_parameters[] = {PARAMETER_SPEED, PARAMETER_MU(100)};
#define ROLL_RADIUS 0.1

static rg_status build_roll(rg_scene *scene, const double *values, rg_error *error) {
    rg_shape_def shape = rg_shape_def_sphere(ROLL_RADIUS);
    double g = rg_length(rg_world_gravity(scene->world));
    scene->duration = 4 * values[SLIDE_SPEED] / (7 * values[SLIDE_MU] * g);
    return build_slide(scene, values, "ball", &shape, ROLL_RADIUS, error);
}

static double ball_slip(const rg_scene *scene) {
    rg_body_id ball = rg_world_body_at(scene->world, 1);
    return fabs(rg_body_velocity(scene->world, ball).x -
                ROLL_RADIUS * rg_body_angular_velocity(scene->world, ball).y);
}

static void observe_roll(rg_scene *scene) {
    observe_slide(scene, ball_slip);
}

static size_t measure_roll(rg_scene *scene, rg_measure measures[RG_MAX_MEASURES]) {
    const slide_state *state = scene->measuring;
    double g = rg_length(rg_world_gravity(scene->world));
    rg_body_id ball = rg_world_body_at(scene->world, 1);
    measures[0] = end_beside("rolls_s", state, 2 * state->speed / (7 * state->mu * g));
    measures[1] =
        rg_measure_beside("speed", rg_body_velocity(scene->world, ball).x, 5 * state->speed / 7);
    measures[2] = rg_measure_beside("slip", ball_slip(scene), 0);
    return 3;
}

/* ---- the list ---- */

const rg_builtin rg_builtin_friction[] = {
    {"painleve", "a rod pushed along like chalk: no force will do, or two will, or one",
     RG_PARAMETERS(painleve_parameters), RG_ANALYTIC | RG_PLANAR, 0.2, sizeof(painleve_state),
     build_painleve, NULL, measure_painleve},
    {"block-stop", "a block slides to a stop", RG_PARAMETERS(stop_parameters), RG_ANALYTIC, 0,
     sizeof(slide_state), build_stop, observe_stop, measure_stop},
    {"slide-to-roll", "a ball slides until it rolls, at 5/7 of its speed",
     RG_PARAMETERS(roll_parameters), RG_ANALYTIC, 0, sizeof(slide_state), build_roll, observe_roll,
     measure_roll},
    {0},
};
