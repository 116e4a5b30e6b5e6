/* Built-in scenes of things that fly and meet something: a ball that bounces, a thrown cube, a
 * bullet.
 * Tested by tests/scene/test_impact.c. */
#include "base/base_math.h"
#include "base/base_text.h"
#include "base/base_trig.h"
#include "rigor/contact_force.h"
#include "rigor/event.h"
#include "scene/scene_builtin.h"

/* ---- bounce ---- */

/* A ball of radius 0.1 m, its lowest point 1 m above the floor, without friction. It meets the
 * floor at sqrt(2 h/g), rises to e^2 of its height each time, and with e < 1 comes to rest after
 * infinitely many bounces at sqrt(2 h/g) (1 + e)/(1 - e). */
#define BOUNCE_RADIUS 0.1
#define BOUNCE_HEIGHT 1.0 /* m */

static const rg_builtin_parameter bounce_parameters[] = {
    {"e", "1", "restitution", 0, 1, false, NULL},
};

typedef struct bounce_state {
    double restitution;
    double apex;  /* m: of this flight, by the law */
    double error; /* worst, relative to the height of the drop */
    double first; /* s: of the first bounce, 0: none yet */
    double rest;  /* s: when it came to rest, by the event; 0: not yet */
    uint64_t bounces;
} bounce_state;

static rg_status build_bounce(rg_scene *scene, const double *values, rg_error *error) {
    bounce_state *state = scene->measuring;
    state->restitution = values[0], state->apex = BOUNCE_HEIGHT;
    rg_status status = rg_builtin_lay_floor(scene, 0, values[0], error);
    rg_shape_def shape = rg_shape_def_sphere(BOUNCE_RADIUS);
    rg_body_def def = rg_body_def_default();
    def.name = "ball";
    def.pose.position = rg_vec3_make(0, 0, BOUNCE_RADIUS + BOUNCE_HEIGHT);
    return status ? status : rg_builtin_add(scene, &shape, 1000, &def, NULL, error);
}

/* Impacts of the step: by the log of events, or by the marks of contacts where there is no log. */
static uint64_t count_impacts(const rg_world *world) {
    size_t count, found = rg_builtin_event_count(world, RG_STEP_EVENT_IMPACT);
    const rg_contact_force *forces = rg_world_contact_forces(world, &count);
    for (size_t i = 0; i < count && !found; i++)
        found += forces[i].impact;
    return found;
}

static void observe_bounce(rg_scene *scene) {
    bounce_state *state = scene->measuring;
    rg_world *world = scene->world;
    if (rg_world_body_count(world) < 2)
        return;
    double time = rg_builtin_event_time(world, RG_STEP_EVENT_IMPACT, false, NULL);
    uint64_t impacts = count_impacts(world);
    if (impacts && state->first == 0)
        state->first = isnan(time) ? rg_world_time(world) : time;
    state->bounces += impacts;
    for (uint64_t i = 0; i < impacts; i++)
        state->apex *= state->restitution * state->restitution;
    double rest = 0;
    if (!isnan(rg_builtin_event_time(world, RG_STEP_EVENT_ACCUMULATION, true, &rest)))
        state->rest = rest;
    if (state->rest > 0)
        return;
    rg_body_id ball = rg_world_body_at(world, 1);
    double g = rg_length(rg_world_gravity(world)), v = rg_body_velocity(world, ball).z;
    double height = rg_body_centre_pose(world, ball).position.z - BOUNCE_RADIUS;
    double apex = height + 0.5 * v * v / g;
    state->error = fmax(state->error, fabs(apex - state->apex) / BOUNCE_HEIGHT);
}

static size_t measure_bounce(rg_scene *scene, rg_measure measures[RG_MAX_MEASURES]) {
    const bounce_state *state = scene->measuring;
    double e = state->restitution,
           fall = sqrt(2 * BOUNCE_HEIGHT / rg_length(rg_world_gravity(scene->world)));
    size_t n = 0;
    measures[n++] = rg_measure_beside("apex_error_rel", state->error, 0);
    measures[n++] = rg_measure_of("bounces", (double)state->bounces);
    measures[n++] =
        rg_measure_beside("first_bounce_s", state->first > 0 ? state->first : NAN, fall);
    if (e > 0 && e < 1)
        measures[n++] = rg_measure_beside("rest_s", state->rest > 0 ? state->rest : NAN,
                                          fall * (1 + e) / (1 - e));
    return n;
}

/* ---- thrown-cube ---- */

/* A cube of 0.2 m, thrown at 3 m/s, 1 m above the floor, spinning about an axis that is none of its
 * own. */
enum { CUBE_E, CUBE_MU };
static const rg_builtin_parameter cube_parameters[] = {
    {"e", "0.4", "restitution", 0, 1, false, NULL},
    {"mu", "0.5", "coefficient of friction", 0, 100, false, NULL},
};

typedef struct cube_state {
    bool settles;        /* within the duration, with some friction and little restitution */
    double energy, gain; /* J: of the last step, the largest rise of it */
} cube_state;

static rg_status build_cube(rg_scene *scene, const double *values, rg_error *error) {
    cube_state *state = scene->measuring;
    state->settles = values[CUBE_MU] >= 0.2 && values[CUBE_E] <= 0.6;
    rg_status status = rg_builtin_lay_floor(scene, values[CUBE_MU], values[CUBE_E], error);
    rg_shape_def shape = rg_shape_def_box(0.2, 0.2, 0.2);
    rg_body_def def = rg_body_def_default();
    def.name = "cube";
    def.pose.position = rg_vec3_make(0, 0, 1);
    def.pose.orientation = rg_quat_of_rotation_vector(rg_vec3_make(0.3, 0.5, 0.1));
    def.velocity = rg_vec3_make(3, 0, 1);
    def.angular_velocity = rg_vec3_make(1, 7, -2);
    if (!status)
        status = rg_builtin_add(scene, &shape, 1000, &def, NULL, error);
    state->energy = status ? 0 : rg_world_energy(scene->world);
    return status;
}

static void observe_cube(rg_scene *scene) {
    cube_state *state = scene->measuring;
    double energy = rg_world_energy(scene->world);
    state->gain = fmax(state->gain, energy - state->energy);
    state->energy = energy;
}

static size_t measure_cube(rg_scene *scene, rg_measure measures[RG_MAX_MEASURES]) {
    const cube_state *state = scene->measuring;
    rg_body_id cube = rg_world_body_at(scene->world, 1);
    double speed = rg_length(rg_body_velocity(scene->world, cube)) +
                   0.1 * rg_length(rg_body_angular_velocity(scene->world, cube));
    rg_step_info summary = rg_world_summary(scene->world);
    measures[0] = rg_measure_truth("at_rest", speed < 1e-6, true);
    measures[0].has_expected = state->settles;
    measures[1] = rg_measure_of("distance_m", rg_body_pose(scene->world, cube).position.x);
    measures[2] = rg_measure_beside("energy_gain_J", state->gain, 0);
    measures[3] = rg_measure_beside("penetration_m", summary.certificate.max_penetration, 0);
    return 4;
}

/* ---- bullet-pane ---- */

/* A ball of radius 5 mm at 1000 m/s against a pane 4 mm thick, half a metre away, without gravity
 * and restitution. In a step of 1/240 s it would come a thousand times as far as the pane is
 * thick. */
#define BULLET_RADIUS 0.005
#define PANE_FACE     0.5 /* m: from the bullet's foremost point at the start */

typedef struct bullet_state {
    double met; /* s; 0: not yet */
} bullet_state;

static rg_status build_bullet(rg_scene *scene, const double *values, rg_error *error) {
    (void)values;
    rg_shape_def pane = rg_shape_def_box(0.004, 1, 1);
    rg_body_def def = rg_body_def_default();
    def.name = "pane", def.motion = RG_MOTION_FIXED;
    def.pose.position = rg_vec3_make(BULLET_RADIUS + PANE_FACE + 0.002, 0, 0);
    rg_status status = rg_builtin_add(scene, &pane, 2500, &def, NULL, error);
    rg_shape_def ball = rg_shape_def_sphere(BULLET_RADIUS);
    def = rg_body_def_default();
    def.name = "bullet";
    def.velocity = rg_vec3_make(1000, 0, 0);
    return status ? status : rg_builtin_add(scene, &ball, 8000, &def, NULL, error);
}

static void observe_bullet(rg_scene *scene) {
    bullet_state *state = scene->measuring;
    double time = rg_builtin_event_time(scene->world, RG_STEP_EVENT_IMPACT, false, NULL);
    if (state->met == 0 && !isnan(time))
        state->met = time;
}

static size_t measure_bullet(rg_scene *scene, rg_measure measures[RG_MAX_MEASURES]) {
    const bullet_state *state = scene->measuring;
    rg_body_id bullet = rg_world_body_at(scene->world, 1);
    double past = rg_body_pose(scene->world, bullet).position.x - PANE_FACE;
    measures[0] = rg_measure_truth("caught", past < 0.002, true);
    measures[1] = rg_measure_of("past_the_face_m", past);
    measures[2] = rg_measure_beside("met_s", state->met > 0 ? state->met : NAN, PANE_FACE / 1000);
    return 3;
}

/* ---- the list ---- */

const rg_builtin rg_builtin_bounce[] = {
    {"bounce", "a ball that bounces: to the same height for ever, or to rest in a known time",
     RG_PARAMETERS(bounce_parameters), RG_ANALYTIC, 20, sizeof(bounce_state), build_bounce,
     observe_bounce, measure_bounce},
    {"thrown-cube", "a cube thrown along the floor: it tumbles, slides and comes to rest",
     RG_PARAMETERS(cube_parameters), RG_ANALYTIC, 4, sizeof(cube_state), build_cube, observe_cube,
     measure_cube},
    {"bullet-pane", "a bullet against a pane a thousandth of its way in a step: always caught",
     RG_NO_PARAMETERS, RG_ANALYTIC | RG_WEIGHTLESS, 0.1, sizeof(bullet_state), build_bullet,
     observe_bullet, measure_bullet},
    {0},
};
