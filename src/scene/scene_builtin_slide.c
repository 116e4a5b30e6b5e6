/* Built-in scenes of friction with a closed form: a box on a slope, and balls on a slab that is
 * pushed.
 * Tested by tests/scene/test_builtin.c. */
#include "base/base_math.h"
#include "base/base_text.h"
#include "base/base_trig.h"
#include "scene/scene_builtin.h"

#include <stdio.h>

/* ---- incline ---- */

/* A box on a half-space tilted by `angle`. The slope falls along (cos yaw, -sin yaw) and the box's
 * edges lie as the axes x and y are turned onto the slope: so they make the angle `yaw` with the
 * line of fall, and so do the first two directions of a friction polygon. It sticks if tan(angle)
 * <= mu and slides with g (sin - mu cos) otherwise. */
enum { INCLINE_ANGLE, INCLINE_MU, INCLINE_YAW };
static const rg_builtin_parameter incline_parameters[] = {
    {"angle", "20", "degrees of the slope", 0, 89, false, NULL},
    {"mu", "0.5", "coefficient of friction", 0, 100, false, NULL},
    {"yaw", "0", "degrees between the box's edges and the line of fall", -360, 360, false, NULL},
};

typedef struct incline_state {
    double angle, mu;
    rg_vec3 start, fall, side; /* centre at the start; unit vectors on the slope */
    double creep, lateral;     /* m, largest */
    double first_time, first_speed, time, speed;
} incline_state;

static bool slides(const incline_state *state) {
    double s, c;
    rg_sin_cos(state->angle, &s, &c);
    return s > state->mu * c;
}

static rg_status build_incline(rg_scene *scene, const double *values, rg_error *error) {
    incline_state *state = scene->measuring;
    state->angle = values[INCLINE_ANGLE] * RG_PI / 180, state->mu = values[INCLINE_MU];
    double yaw = values[INCLINE_YAW] * RG_PI / 180, s, c, ys, yc;
    rg_sin_cos(state->angle, &s, &c);
    rg_sin_cos(yaw, &ys, &yc);
    rg_vec3 down = rg_vec3_make(yc, -ys, 0); /* horizontal part of the line of fall */
    rg_vec3 normal = rg_normalised(rg_add_scaled(rg_scale(s, down), c, rg_vec3_make(0, 0, 1)));
    state->fall = rg_normalised(rg_add_scaled(rg_scale(c, down), -s, rg_vec3_make(0, 0, 1)));
    state->side = rg_cross(normal, state->fall);
    rg_status status = rg_builtin_set_law(scene, state->mu, 0, error);
    if (!status)
        status = rg_builtin_add_wall(scene, "slope", normal, 0, error);
    /* The shortest turn that takes z to the normal. */
    rg_vec3 axis = rg_cross(rg_vec3_make(0, 0, 1), normal);
    double sine = rg_length(axis);
    rg_shape_def box = rg_shape_def_box(1, 1, 1);
    rg_body_def def = rg_body_def_default();
    def.name = "box";
    if (sine > 0)
        def.pose.orientation = rg_quat_of_rotation_vector(rg_scale(state->angle / sine, axis));
    def.pose.position = rg_scale(0.5, normal);
    if (!status)
        status = rg_builtin_add(scene, &box, 1000, &def, NULL, error);
    state->start = def.pose.position;
    scene->duration = slides(state) ? 1 : 10;
    return status;
}

static void observe_incline(rg_scene *scene) {
    incline_state *state = scene->measuring;
    if (rg_world_body_count(scene->world) < 2)
        return;
    rg_body_id box = rg_world_body_at(scene->world, 1);
    rg_vec3 moved = rg_sub(rg_body_centre_pose(scene->world, box).position, state->start);
    state->creep = fmax(state->creep, rg_length(moved));
    state->lateral = fmax(state->lateral, fabs(rg_dot(moved, state->side)));
    state->time = rg_world_time(scene->world);
    state->speed = rg_dot(rg_body_velocity(scene->world, box), state->fall);
    if (state->first_time == 0)
        state->first_time = state->time, state->first_speed = state->speed;
}

static size_t measure_incline(rg_scene *scene, rg_measure measures[RG_MAX_MEASURES]) {
    const incline_state *state = scene->measuring;
    double s, c, g = rg_length(rg_world_gravity(scene->world));
    rg_sin_cos(state->angle, &s, &c);
    double expected = slides(state) ? g * (s - state->mu * c) : 0;
    double acceleration = state->time > state->first_time ? (state->speed - state->first_speed) /
                                                                (state->time - state->first_time)
                                                          : NAN;
    size_t n = 0;
    if (!slides(state))
        measures[n++] = rg_measure_beside("creep_m", state->creep, 0);
    measures[n++] = rg_measure_beside("acceleration", acceleration, expected);
    if (expected > 0)
        measures[n++] = rg_measure_beside("acceleration_error_rel",
                                          fabs(acceleration - expected) / expected, 0);
    measures[n++] = rg_measure_beside("lateral_m", state->lateral, 0);
    return n;
}

/* ---- rolling ---- */

/* A slab (10 kg) on the floor (mu 0.4) with 25 balls (1 kg, radius 0.5) on top (mu 0.8), pushed by
 * F = 150 N along `direction`. Balls roll: their acceleration is 2/7 of the slab's, so that
 * (M + 25 m 2/7) a = F - 0.4 (M + 25 m) g. */
enum { BALLS = 25 };
static const rg_builtin_parameter rolling_parameters[] = {
    {"direction", "60", "degrees of the push, from the x axis", -360, 360, false, NULL},
};

typedef struct rolling_state {
    rg_vec3 direction;
    double slab, ball; /* m/s^2, exact */
    double sum;        /* of squared errors, over the observations */
    uint64_t observations;
} rolling_state;

static rg_contact_law law_of(double mu) {
    rg_contact_law law = rg_contact_law_default();
    law.friction = mu;
    return law;
}

static rg_status set_friction(rg_scene *scene, const char *name, double mu,
                              rg_material_id *material, rg_error *error) {
    rg_contact_law law = law_of(mu);
    return rg_world_add_material(scene->world, name, &law, material, error);
}

static rg_status add_of_material(rg_scene *scene, const rg_shape_def *shape, double mass,
                                 rg_material_id material, rg_body_def *def, rg_error *error) {
    rg_collider_def collider = rg_collider_def_default();
    collider.material = material;
    def->total_mass = mass;
    return rg_builtin_add_collider(scene, shape, &collider, def, NULL, error);
}

static rg_status build_rolling(rg_scene *scene, const double *values, rg_error *error) {
    rolling_state *state = scene->measuring;
    const double push = 150, slab_mass = 10, ball_mass = 1;
    double s, c, g = rg_length(rg_world_gravity(scene->world));
    rg_sin_cos(values[0] * RG_PI / 180, &s, &c);
    state->direction = rg_vec3_make(c, s, 0);
    state->slab = (push - 0.4 * (slab_mass + BALLS * ball_mass) * g) /
                  (slab_mass + BALLS * ball_mass * 2 / 7);
    state->ball = state->slab * 2 / 7;
    rg_material_id floor, slab, ball;
    rg_status status = set_friction(scene, "floor", 0.4, &floor, error);
    if (!status)
        status = set_friction(scene, "slab", 0.4, &slab, error);
    if (!status)
        status = set_friction(scene, "ball", 0.8, &ball, error);
    rg_contact_law on_top = law_of(0.8);
    if (!status)
        status = rg_world_set_pair_law(scene->world, slab, ball, &on_top, error);
    rg_shape_def plane = rg_shape_def_halfspace(rg_vec3_make(0, 0, 1), 0);
    rg_body_def def = rg_body_def_default();
    def.name = "floor", def.motion = RG_MOTION_FIXED;
    if (!status)
        status = add_of_material(scene, &plane, 0, floor, &def, error);
    rg_shape_def board = rg_shape_def_box(20, 20, 1);
    def = rg_body_def_default();
    def.name = "slab", def.pose.position = rg_vec3_make(0, 0, 0.5);
    if (!status)
        status = add_of_material(scene, &board, slab_mass, slab, &def, error);
    rg_shape_def sphere = rg_shape_def_sphere(0.5);
    for (int i = 0; i < BALLS && !status; i++) {
        char name[32];
        snprintf(name, sizeof name, "ball%d", i);
        def = rg_body_def_default();
        def.name = name;
        def.pose.position = rg_vec3_make(2 * (i % 5 - 2), 2 * (i / 5 - 2), 1.5);
        status = add_of_material(scene, &sphere, ball_mass, ball, &def, error);
    }
    if (status)
        return status;
    rg_force_def force = rg_force_def_default(RG_FORCE_CONSTANT);
    force.body = rg_world_body_at(scene->world, 1);
    force.force = rg_scale(push, state->direction);
    return rg_world_add_force(scene->world, &force, &(rg_force_id){0}, error);
}

static void observe_rolling(rg_scene *scene) {
    rolling_state *state = scene->measuring;
    double t = rg_world_time(scene->world), sum = 0;
    for (size_t i = 1; i < rg_world_body_count(scene->world); i++) {
        rg_vec3 exact = rg_scale((i == 1 ? state->slab : state->ball) * t, state->direction);
        rg_vec3 v = rg_body_velocity(scene->world, rg_world_body_at(scene->world, i));
        sum += rg_length_squared(rg_sub(v, exact));
    }
    state->sum += sum;
    state->observations++;
}

static size_t measure_rolling(rg_scene *scene, rg_measure measures[RG_MAX_MEASURES]) {
    const rolling_state *state = scene->measuring;
    double t = rg_world_time(scene->world), mean = NAN;
    if (state->observations)
        mean = state->sum / (double)state->observations;
    size_t n = 0;
    measures[n++] = rg_measure_beside("velocity_error_sq", mean, 0);
    if (t > 0 && rg_world_body_count(scene->world) > 2) {
        rg_vec3 slab = rg_body_velocity(scene->world, rg_world_body_at(scene->world, 1));
        rg_vec3 ball = rg_body_velocity(scene->world, rg_world_body_at(scene->world, 2));
        measures[n++] =
            rg_measure_beside("slab_acceleration", rg_dot(slab, state->direction) / t, state->slab);
        measures[n++] =
            rg_measure_beside("ball_acceleration", rg_dot(ball, state->direction) / t, state->ball);
    }
    return n;
}

/* ---- the list ---- */

const rg_builtin rg_builtin_slide[] = {
    {"incline", "a box on a slope: it sticks without creeping, or slides at the right rate",
     RG_PARAMETERS(incline_parameters), 0, 0, sizeof(incline_state), build_incline, observe_incline,
     measure_incline},
    {"rolling", "balls on a slab that is pushed: they roll, whatever the direction",
     RG_PARAMETERS(rolling_parameters), 0, 4, sizeof(rolling_state), build_rolling, observe_rolling,
     measure_rolling},
    {0},
};
