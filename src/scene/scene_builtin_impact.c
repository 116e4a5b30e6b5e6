/* Built-in scenes of impacts at several contacts at once, where laws of impact differ: the figures
 * of Baraff 1989, a cradle, and a rod that friction must not give energy.
 *
 * Balls are spheres of radius 0.1 m and 1 kg unless said otherwise, without gravity and friction.
 * Tested by tests/scene/test_impact.c. */
#include "base/base_math.h"
#include "base/base_text.h"
#include "base/base_trig.h"
#include "rigor/impact.h"
#include "scene/scene_builtin.h"

#include <stdio.h>
#include <string.h>

#define RADIUS 0.1

static rg_status add_ball(rg_scene *scene, const char *name, double mass, rg_vec3 position,
                          rg_vec3 velocity, rg_error *error) {
    rg_shape_def shape = rg_shape_def_sphere(RADIUS);
    rg_body_def def = rg_body_def_default();
    def.name = name;
    def.pose.position = position;
    def.velocity = velocity;
    def.total_mass = mass;
    return rg_builtin_add(scene, &shape, 1000, &def, NULL, error);
}

static const char *law_name(const rg_scene *scene) {
    const rg_impact_law *law = rg_world_settings(scene->world).impact;
    return law ? rg_impact_law_name(law) : "simultaneous";
}

static bool law_is(const rg_scene *scene, const char *a, const char *b) {
    return strcmp(law_name(scene), a) == 0 || strcmp(law_name(scene), b) == 0;
}

/* ---- billiard, cradle ---- */

/* A row of touching balls with restitution 1, hit by the first `moving` of them, which touch each
 * other, too. Solved at all contacts at once, the two groups bounce off each other as two bodies;
 * passed on from pair to pair, as many leave as came. */
enum { ROW_COUNT, ROW_MOVING };
static const rg_builtin_parameter billiard_parameters[] = {
    {"count", "3", "number of balls", 2, 1000, true, NULL},
    {"moving", "1", "how many of them arrive", 1, 999, true, NULL},
    RG_PARAMETER_LAW("simultaneous"),
};
static const rg_builtin_parameter cradle_parameters[] = {
    {"count", "5", "number of balls", 2, 1000, true, NULL},
    {"moving", "1", "how many of them arrive", 1, 999, true, NULL},
    RG_PARAMETER_LAW("propagation"),
};

enum { ROW_MOST_SHOWN = 12 };

typedef struct row_state {
    uint64_t count, moving;
    double speed; /* m/s */
} row_state;

static rg_status build_row(rg_scene *scene, const double *values, double speed, double gap,
                           rg_error *error) {
    row_state *state = scene->measuring;
    state->count = (uint64_t)values[ROW_COUNT], state->moving = (uint64_t)values[ROW_MOVING];
    state->speed = speed;
    if (state->moving >= state->count)
        return rg_fail(error, RG_INVALID_ARGUMENT,
                       "%s: moving=%llu: at least one of the %llu balls must be at rest",
                       scene->name, (unsigned long long)state->moving,
                       (unsigned long long)state->count);
    rg_status status = rg_builtin_set_law(scene, 0, 1, error);
    for (uint64_t i = 0; i < state->count && !status; i++) {
        char name[32];
        snprintf(name, sizeof name, "ball%llu", (unsigned long long)i + 1);
        bool moves = i < state->moving;
        status =
            add_ball(scene, name, 1, rg_vec3_make(2 * RADIUS * (double)i - (moves ? gap : 0), 0, 0),
                     rg_vec3_make(moves ? speed : 0, 0, 0), error);
    }
    return status;
}

/* Figure 11: 1 m/s from 0.5 m away. */
static rg_status build_billiard(rg_scene *scene, const double *values, rg_error *error) {
    return build_row(scene, values, 1, 0.5, error);
}

static rg_status build_cradle(rg_scene *scene, const double *values, rg_error *error) {
    return build_row(scene, values, 5, 1, error);
}

/* NaN: the law has no closed form here. */
static double row_expected(const rg_scene *scene, uint64_t ball) {
    const row_state *state = scene->measuring;
    double share = (double)state->moving / (double)state->count;
    if (law_is(scene, "simultaneous", "poisson"))
        return state->speed * (ball < state->moving ? 2 * share - 1 : 2 * share);
    if (law_is(scene, "propagation", "reflection") || law_is(scene, "energetic", "energetic"))
        return ball >= state->count - state->moving ? state->speed : 0;
    return NAN;
}

static size_t measure_row(rg_scene *scene, rg_measure measures[RG_MAX_MEASURES]) {
    static const char *const names[ROW_MOST_SHOWN] = {
        "velocity_1", "velocity_2", "velocity_3", "velocity_4",  "velocity_5",  "velocity_6",
        "velocity_7", "velocity_8", "velocity_9", "velocity_10", "velocity_11", "velocity_12"};
    const row_state *state = scene->measuring;
    rg_strided v = rg_world_velocities(scene->world);
    double momentum = 0, energy = 0, worst = 0;
    size_t n = 0;
    for (uint64_t i = 0; i < state->count && i < v.count; i++) {
        double speed = v.data[i * v.stride], expected = row_expected(scene, i);
        momentum += speed, energy += speed * speed;
        worst = isnan(expected) ? NAN : fmax(worst, fabs(speed - expected));
        if (i < ROW_MOST_SHOWN)
            measures[n++] = isnan(expected) ? rg_measure_of(names[i], speed)
                                            : rg_measure_beside(names[i], speed, expected);
    }
    double begin = (double)state->moving * state->speed;
    if (!isnan(worst))
        measures[n++] = rg_measure_beside("velocity_error", worst, 0);
    measures[n++] = rg_measure_beside("momentum_error_rel", fabs(momentum - begin) / begin, 0);
    measures[n++] = rg_measure_beside("energy_error_rel", energy / (begin * state->speed) - 1, 0);
    return n;
}

/* ---- mass-nine ---- */

/* Figure 12: a light ball (1 kg) leans on a wall; a heavy one (`ratio` kg) runs into it at 1 m/s,
 * without restitution. All comes to rest in one solve. Pair by pair, a round leaves the share
 * ratio/(ratio + 1) of the speed, and there is no end to it. */
static const rg_builtin_parameter nine_parameters[] = {
    {"ratio", "9", "mass of the heavy ball over that of the light one", 1e-9, 1e9, false, NULL},
    RG_PARAMETER_LAW("simultaneous"),
};

static rg_status build_nine(rg_scene *scene, const double *values, rg_error *error) {
    double ratio = *(double *)scene->measuring = values[0];
    rg_status status = rg_builtin_set_law(scene, 0, 0, error);
    if (!status)
        status = rg_builtin_add_wall(scene, "wall", rg_vec3_make(-1, 0, 0), 0, error);
    if (!status)
        status =
            add_ball(scene, "light", 1, rg_vec3_make(-RADIUS, 0, 0), rg_vec3_make(0, 0, 0), error);
    if (!status)
        status = add_ball(scene, "heavy", ratio, rg_vec3_make(-3 * RADIUS - 0.5, 0, 0),
                          rg_vec3_make(1, 0, 0), error);
    return status;
}

/* Impulses follow from the momenta: what the heavy ball lost, and what both lost. */
static size_t measure_nine(rg_scene *scene, rg_measure measures[RG_MAX_MEASURES]) {
    double ratio = *(const double *)scene->measuring;
    rg_strided v = rg_world_velocities(scene->world);
    double light = v.data[v.stride], heavy = v.data[2 * v.stride];
    measures[0] = rg_measure_beside("velocity_heavy", heavy, 0);
    measures[1] = rg_measure_beside("velocity_light", light, 0);
    measures[2] = rg_measure_beside("impulse_between_Ns", ratio * (1 - heavy), ratio);
    measures[3] = rg_measure_beside("impulse_wall_Ns", ratio * (1 - heavy) - light, ratio);
    return 4;
}

/* ---- pushed-off ---- */

/* Figure 13, with balls: A touches B; C runs into A from aside, at 1 m/s, 75 degrees from the line
 * from B to A, and knocks it away from B. Restitution is 1: A takes all of it, and B must feel
 * nothing at all. */
#define PUSH_ANGLE (75 * RG_PI / 180)

static rg_status build_pushed(rg_scene *scene, const double *values, rg_error *error) {
    (void)values;
    rg_vec3 none = rg_vec3_make(0, 0, 0), direction = {0};
    rg_sin_cos(PUSH_ANGLE, &direction.z, &direction.x);
    rg_status status = rg_builtin_set_law(scene, 0, 1, error);
    if (!status)
        status = add_ball(scene, "A", 1, none, none, error);
    if (!status)
        status = add_ball(scene, "B", 1, rg_vec3_make(-2 * RADIUS, 0, 0), none, error);
    if (!status)
        status = add_ball(scene, "C", 1, rg_scale(-2 * RADIUS - 0.5, direction), direction, error);
    return status;
}

static size_t measure_pushed(rg_scene *scene, rg_measure measures[RG_MAX_MEASURES]) {
    rg_vec3 direction = {0}, v[3];
    rg_sin_cos(PUSH_ANGLE, &direction.z, &direction.x);
    for (size_t i = 0; i < 3; i++)
        v[i] = rg_body_velocity(scene->world, rg_world_body_at(scene->world, i));
    measures[0] = rg_measure_beside("speed_A", rg_dot(v[0], direction), 1);
    measures[1] = rg_measure_beside("speed_C", rg_dot(v[2], direction), 0);
    measures[2] = rg_measure_beside("impulse_AB_Ns", rg_length(v[1]), 0);
    return 3;
}

/* ---- rod-impact ---- */

/* The rod of rg_builtin_add_rod, 1.2 rad from the floor, meets it with its lower end at 1 m/s down
 * and 0.2 m/s back; friction 1, restitution 1. Newton's restitution with friction fixed to the
 * direction of the slip before would add 34.7 J to an energy of 0.5 J. */
#define ROD_ANGLE 1.2

static const rg_builtin_parameter rod_parameters[] = {
    RG_PARAMETER_LAW("energetic"),
};

static rg_status build_rod(rg_scene *scene, const double *values, rg_error *error) {
    (void)values;
    rg_status status = rg_builtin_lay_floor(scene, 1, 1, error);
    rg_body_def def = rg_body_def_default();
    def.angle = -ROD_ANGLE;
    def.pose.position = rg_vec3_make(0, 0, rg_sin(ROD_ANGLE) + 0.1);
    def.velocity = rg_vec3_make(-0.2, 0, -1);
    return status ? status : rg_builtin_add_rod(scene, &def, error);
}

static size_t measure_rod(rg_scene *scene, rg_measure measures[RG_MAX_MEASURES]) {
    rg_body_id rod = rg_world_body_at(scene->world, 1);
    rg_vec3 v = rg_body_velocity(scene->world, rod);
    double w = rg_body_spin(scene->world, rod);
    double energy = 0.5 * (rg_length_squared(v) + w * w / 3);
    measures[0] = rg_measure_of("energy_change_J", energy - 0.5 * 1.04);
    measures[1] = rg_measure_truth("energy_grew", energy > 0.5 * 1.04 * (1 + 1e-12), false);
    measures[2] = rg_measure_of("velocity_x", v.x);
    measures[3] = rg_measure_of("velocity_z", v.z);
    measures[4] = rg_measure_of("spin", w);
    return 5;
}

/* ---- the list ---- */

const rg_builtin rg_builtin_impact[] = {
    {"billiard", "balls in a row, hit at one end (Baraff 1989, Figure 11)",
     RG_PARAMETERS(billiard_parameters), RG_ANALYTIC | RG_WEIGHTLESS, 1, sizeof(row_state),
     build_billiard, NULL, measure_row},
    {"cradle", "balls in a row: as many leave as came, at the same speed",
     RG_PARAMETERS(cradle_parameters), RG_ANALYTIC | RG_WEIGHTLESS, 1, sizeof(row_state),
     build_cradle, NULL, measure_row},
    {"mass-nine", "a heavy ball against a light one at a wall: at rest in one solve (Figure 12)",
     RG_PARAMETERS(nine_parameters), RG_ANALYTIC | RG_WEIGHTLESS, 1, sizeof(double), build_nine,
     NULL, measure_nine},
    {"pushed-off", "a ball knocked away from its neighbour, which feels nothing (Figure 13)",
     RG_NO_PARAMETERS, RG_ANALYTIC | RG_WEIGHTLESS, 1, 0, build_pushed, NULL, measure_pushed},
    {"rod-impact", "a slanted rod meets the floor with friction: it must not gain energy",
     RG_PARAMETERS(rod_parameters), RG_ANALYTIC | RG_PLANAR | RG_WEIGHTLESS, 0.15, 0, build_rod,
     NULL, measure_rod},
    {0},
};
