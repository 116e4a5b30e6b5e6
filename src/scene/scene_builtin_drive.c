/* Built-in scenes of surfaces that run and of friction against rolling and spinning, each beside
 * its closed form.
 * Tested by tests/scene/test_drive.c. */
#include "base/base_math.h"
#include "scene/scene_builtin.h"

#include <stdio.h>

/* ---- conveyor ---- */

/* Boxes on a belt that runs: each has its speed after v / (mu g), and the belt has then done m v^2
 * of work, half of it heat. They fall on a second belt, which runs across. */
enum { CONVEYOR_SPEED, CONVEYOR_MU, CONVEYOR_BOXES };
static const rg_builtin_parameter conveyor_parameters[] = {
    {"speed", "1.5", "of the belts, m/s", 0.01, 100, false, NULL},
    {"mu", "0.4", "coefficient of friction", 0.001, 100, false, NULL},
    {"boxes", "3", "number of boxes", 1, 5, true, NULL},
};

typedef struct conveyor_state {
    double speed, mu, mass;
    double arrived;    /* s: the first box has the speed of the belt; NaN: not yet */
    double work, heat; /* J, until then */
    size_t boxes;
} conveyor_state;

/* Of the speed of the belt: slower than this short of it is not there yet. */
#define CONVEYOR_SAME 1e-6

static rg_status add_belt(rg_scene *scene, const char *name, rg_vec3 size, rg_vec3 top,
                          rg_vec3 velocity, rg_error *error) {
    rg_shape_def shape = rg_shape_def_box(size.x, size.y, size.z);
    rg_collider_def collider = rg_collider_def_default();
    collider.surface_velocity = velocity;
    rg_body_def def = rg_body_def_default();
    def.name = name;
    def.motion = RG_MOTION_FIXED;
    def.pose.position = rg_vec3_make(top.x, top.y, top.z - size.z / 2);
    return rg_builtin_add_collider(scene, &shape, &collider, &def, NULL, error);
}

static rg_status build_conveyor(rg_scene *scene, const double *values, rg_error *error) {
    conveyor_state *state = scene->measuring;
    *state = (conveyor_state){.speed = values[CONVEYOR_SPEED],
                              .mu = values[CONVEYOR_MU],
                              .arrived = NAN,
                              .boxes = (size_t)values[CONVEYOR_BOXES]};
    rg_vec3 along = rg_vec3_make(state->speed, 0, 0), across = rg_vec3_make(0, state->speed, 0);
    rg_status status = rg_builtin_lay_floor(scene, state->mu, 0, error);
    if (!status)
        status = add_belt(scene, "belt", rg_vec3_make(6, 0.8, 0.1), rg_vec3_make(0, 0, 0.9), along,
                          error);
    if (!status)
        status = add_belt(scene, "second belt", rg_vec3_make(1.2, 6, 0.1),
                          rg_vec3_make(3.6, 2, 0.5), across, error);
    for (size_t i = 0; i < state->boxes && !status; i++) {
        char name[32];
        snprintf(name, sizeof name, "box%zu", i);
        rg_vec3 size = rg_vec3_make(0.4, 0.3, 0.2);
        status = rg_builtin_add_box(scene, name, size,
                                    rg_vec3_make(-2.5 + 1.1 * (double)i, 0, 0.9 + size.z / 2), NULL,
                                    error);
    }
    if (!status)
        state->mass = rg_body_mass(scene->world, rg_world_body_at(scene->world, 3)).mass;
    return status;
}

static void observe_conveyor(rg_scene *scene) {
    conveyor_state *state = scene->measuring;
    if (!isnan(state->arrived) || rg_world_body_count(scene->world) < 4)
        return;
    double v = rg_body_velocity(scene->world, rg_world_body_at(scene->world, 3)).x;
    if (v < (1 - CONVEYOR_SAME) * state->speed)
        return;
    rg_energy_ledger energy = rg_world_summary(scene->world).energy;
    state->arrived = rg_world_time(scene->world);
    state->work = energy.prescribed_work;
    state->heat = -energy.friction_work;
}

static size_t measure_conveyor(rg_scene *scene, rg_measure measures[RG_MAX_MEASURES]) {
    const conveyor_state *state = scene->measuring;
    double g = rg_length(rg_world_gravity(scene->world));
    double energy = (double)state->boxes * state->mass * state->speed * state->speed;
    size_t n = 0;
    measures[n++] =
        rg_measure_beside("time_to_belt_speed_s", state->arrived, state->speed / (state->mu * g));
    measures[n++] = rg_measure_beside("belt_work_J", state->work, energy);
    measures[n++] = rg_measure_beside("heat_J", state->heat, energy / 2);
    return n;
}

/* ---- rolling-stop ---- */

/* Three balls that roll side by side, with rolling friction of a, a / 2 and none, and one that
 * spins: slowed down by 5/7 a g / R, and by 5/2 b g / R^2. */
enum { STOP_ROLLING, STOP_TORSIONAL, STOP_SPEED };
static const rg_builtin_parameter stop_parameters[] = {
    {"rolling", "0.005", "rolling friction, m", 0, 0.05, false, NULL},
    {"torsional", "0.002", "torsional friction, m", 0, 0.05, false, NULL},
    {"speed", "1", "of the balls, m/s", 0, 100, false, NULL},
};
static const double stop_radius = 0.1;

typedef struct stop_state {
    double rolling, torsional, speed;
} stop_state;

static rg_status add_roller(rg_scene *scene, const char *name, double y, double rolling,
                            double torsional, rg_body_def *def, rg_error *error) {
    rg_contact_law law = {
        .friction = 0.5, .rolling_friction = rolling, .torsional_friction = torsional};
    rg_collider_def collider = rg_collider_def_default();
    rg_shape_def ball = rg_shape_def_sphere(stop_radius);
    rg_status status = rg_world_add_material(scene->world, name, &law, &collider.material, error);
    def->name = name;
    def->pose.position = rg_vec3_make(0, y, stop_radius);
    return status ? status : rg_builtin_add_collider(scene, &ball, &collider, def, NULL, error);
}

static rg_status build_stop(rg_scene *scene, const double *values, rg_error *error) {
    stop_state *state = scene->measuring;
    *state = (stop_state){values[STOP_ROLLING], values[STOP_TORSIONAL], values[STOP_SPEED]};
    static const char *const names[] = {"slow", "half as slow", "free"};
    rg_status status = rg_builtin_lay_floor(scene, 0.5, 0, error);
    for (int i = 0; i < 3 && !status; i++) {
        rg_body_def def = rg_body_def_default();
        def.velocity.x = state->speed;
        def.angular_velocity.y = state->speed / stop_radius;
        status = add_roller(scene, names[i], 0.3 * i, i == 2 ? 0 : state->rolling / (i + 1), 0,
                            &def, error);
    }
    rg_body_def def = rg_body_def_default();
    def.angular_velocity.z = state->speed / stop_radius;
    return status ? status : add_roller(scene, "spinning", 0.9, 0, state->torsional, &def, error);
}

static size_t measure_stop(rg_scene *scene, rg_measure measures[RG_MAX_MEASURES]) {
    const stop_state *state = scene->measuring;
    double g = rg_length(rg_world_gravity(scene->world)), t = rg_world_time(scene->world);
    static const char *const names[] = {"speed_slow", "speed_half_as_slow", "speed_free"};
    size_t n = 0;
    if (rg_world_body_count(scene->world) < 5)
        return 0;
    for (size_t i = 0; i < 3; i++) {
        double a = i == 2 ? 0 : state->rolling / (double)(i + 1);
        rg_vec3 v = rg_body_velocity(scene->world, rg_world_body_at(scene->world, i + 1));
        measures[n++] = rg_measure_beside(
            names[i], rg_length(v), fmax(0, state->speed - 5.0 / 7 * a * g / stop_radius * t));
    }
    rg_vec3 w = rg_body_angular_velocity(scene->world, rg_world_body_at(scene->world, 4));
    double brake = 2.5 * state->torsional * g / (stop_radius * stop_radius);
    measures[n++] = rg_measure_beside("spin_rad_s", rg_length(w),
                                      fmax(0, state->speed / stop_radius - brake * t));
    return n;
}

/* ---- the list ---- */

const rg_builtin rg_builtin_drive[] = {
    {"conveyor", "boxes on a belt: they have its speed after v / (mu g)",
     RG_PARAMETERS(conveyor_parameters), 0, 5, sizeof(conveyor_state), build_conveyor,
     observe_conveyor, measure_conveyor},
    {"rolling-stop", "balls that rolling and torsional friction bring to rest",
     RG_PARAMETERS(stop_parameters), 0, 2, sizeof(stop_state), build_stop, NULL, measure_stop},
    {0},
};
