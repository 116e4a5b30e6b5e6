/* Built-in scenes of things that fall over and onto each other: dominoes, a pile in a pit, balls, a
 * funnel.
 * Tested by tests/scene/test_dominoes.c and tests/scene/test_builtin.c. */
#include "base/base_math.h"
#include "base/base_text.h"
#include "base/base_trig.h"
#include "rigor/contact_force.h"
#include "scene/scene_builtin.h"

#include <stdio.h>

/* ---- dominoes ---- */

static const rg_builtin_parameter domino_parameters[] = {
    {"count", "50", "number of dominoes", 1, 10000, true, NULL},
    {"mu", "0.5", "coefficient of friction", 0, 100, false, NULL},
};

/* A domino counts as fallen when it leans by more than 30 degrees. */
#define FALLEN_COSINE 0.86602540378443865

typedef struct domino_state {
    uint64_t count, fallen;
    double last; /* s: when the last one fell that has fallen */
} domino_state;

/* 0.1 x 0.5 x 1.0 m, 0.5 m apart along x; the first turns at 2 rad/s about its lower edge on the
 * side of its neighbour, towards it. */
static rg_status build_dominoes(rg_scene *scene, const double *values, rg_error *error) {
    domino_state *state = scene->measuring;
    state->count = (uint64_t)values[0];
    rg_status status = rg_builtin_lay_floor(scene, values[1], 0, error);
    rg_shape_def shape = rg_shape_def_box(0.1, 0.5, 1);
    for (uint64_t i = 0; i < state->count && !status; i++) {
        char name[32];
        snprintf(name, sizeof name, "domino%llu", (unsigned long long)i);
        rg_body_def def = rg_body_def_default();
        def.name = name;
        def.pose.position = rg_vec3_make(0.5 * (double)i, 0, 0.5);
        if (i == 0) {
            def.angular_velocity = rg_vec3_make(0, 2, 0);
            def.velocity = rg_cross(def.angular_velocity, rg_vec3_make(-0.05, 0, 0.5));
        }
        status = rg_builtin_add(scene, &shape, 1000, &def, NULL, error);
    }
    return status;
}

static void observe_dominoes(rg_scene *scene) {
    domino_state *state = scene->measuring;
    uint64_t fallen = 0;
    for (size_t i = 1; i < rg_world_body_count(scene->world); i++) {
        rg_quat q = rg_body_pose(scene->world, rg_world_body_at(scene->world, i)).orientation;
        fallen += rg_rotate(q, rg_vec3_make(0, 0, 1)).z < FALLEN_COSINE;
    }
    if (fallen > state->fallen)
        state->last = rg_world_time(scene->world);
    state->fallen = fallen;
}

static size_t measure_dominoes(rg_scene *scene, rg_measure measures[RG_MAX_MEASURES]) {
    const domino_state *state = scene->measuring;
    measures[0] = rg_measure_beside("fallen", (double)state->fallen, (double)state->count);
    measures[1] = rg_measure_of("t_last_s", state->last);
    return 2;
}

/* ---- pile ---- */

static const rg_builtin_parameter pile_parameters[] = {
    {"count", "1000", "number of bodies", 1, 100000, true, NULL},
    RG_PARAMETER_SEED,
};

enum { PILE_SIDE = 7, PILE_POINTS = 20, PIT_WALLS = 4 };
#define PIT_HALF    4.0  /* m: half the width of the pit */
#define PILE_PITCH  1.1  /* m between the centres */
#define PILE_RADIUS 0.5  /* m: of the largest stones */
#define PILE_REST_J 1e-6 /* kinetic energy per body below which the pile is at rest */

typedef struct pile_state {
    uint64_t count;
    double rest_penetration; /* m, deepest while at rest; NaN before */
    /* C of penetration <= C |v|^2 h^2 while things move: the largest that was needed, 1/m. |v| is
     * the largest speed of a stone's surface in the step, about. */
    double constant;
    double time, speed; /* s, m/s: at the end of the step before */
} pile_state;

/* Walls are half-spaces that face the middle. */
static rg_status add_pit(rg_scene *scene, rg_error *error) {
    static const rg_vec3 normals[PIT_WALLS] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}};
    rg_status status = rg_builtin_add_floor(scene, error);
    for (int i = 0; i < PIT_WALLS && !status; i++) {
        char name[16];
        snprintf(name, sizeof name, "wall%d", i);
        status = rg_builtin_add_wall(scene, name, normals[i], -PIT_HALF, error);
    }
    return status;
}

/* Hulls of 20 points on spheres of radius 0.25 to 0.5 m, in layers of 7 x 7, 1.1 m apart, turned at
 * random, the lowest layer just above the floor. */
static rg_status build_pile(rg_scene *scene, const double *values, rg_error *error) {
    pile_state *state = scene->measuring;
    state->count = (uint64_t)values[0], state->rest_penetration = NAN;
    rg_status status = add_pit(scene, error);
    rg_random random = rg_random_make(rg_world_seed(scene->world));
    for (uint64_t i = 0; i < state->count && !status; i++) {
        char name[32];
        snprintf(name, sizeof name, "stone%llu", (unsigned long long)i);
        rg_vec3 points[PILE_POINTS];
        double radius = rg_random_between(&random, 0.25, PILE_RADIUS);
        for (int k = 0; k < PILE_POINTS; k++)
            points[k] = rg_scale(radius, rg_random_direction(&random));
        rg_shape_def shape = rg_shape_def_hull(points, PILE_POINTS);
        uint64_t layer = i / (PILE_SIDE * PILE_SIDE), place = i % (PILE_SIDE * PILE_SIDE);
        rg_body_def def = rg_body_def_default();
        def.name = name;
        def.pose.position = rg_vec3_make(PILE_PITCH * ((double)(place % PILE_SIDE) - 3),
                                         PILE_PITCH * ((double)(place / PILE_SIDE) - 3),
                                         0.6 + PILE_PITCH * (double)layer);
        def.pose.orientation = rg_random_rotation(&random);
        status = rg_builtin_add(scene, &shape, 1000, &def, NULL, error);
    }
    return status;
}

static double largest_speed(const rg_world *world) {
    double speed = 0;
    for (size_t i = 0; i < rg_world_body_count(world); i++) {
        rg_body_id body = rg_world_body_at(world, i);
        speed = fmax(speed, rg_length(rg_body_velocity(world, body)) +
                                PILE_RADIUS * rg_length(rg_body_angular_velocity(world, body)));
    }
    return speed;
}

/* The gaps of a step's contacts are those that the step before left. */
static void observe_pile(rg_scene *scene) {
    pile_state *state = scene->measuring;
    size_t count;
    const rg_contact_force *forces = rg_world_contact_forces(scene->world, &count);
    double deepest = 0, time = rg_world_time(scene->world);
    for (size_t i = 0; i < count; i++)
        deepest = fmax(deepest, -forces[i].gap);
    if (rg_builtin_kinetic_energy(scene->world) <= PILE_REST_J * (double)state->count) {
        if (!(state->rest_penetration >= deepest))
            state->rest_penetration = deepest;
    } else if (state->speed > 0) {
        double way = state->speed * (time - state->time);
        state->constant = fmax(state->constant, deepest / (way * way));
    }
    state->time = time, state->speed = largest_speed(scene->world);
}

static size_t measure_pile(rg_scene *scene, rg_measure measures[RG_MAX_MEASURES]) {
    const pile_state *state = scene->measuring;
    uint64_t escaped = 0;
    rg_strided p = rg_world_centre_positions(scene->world);
    for (size_t i = PIT_WALLS + 1; i < p.count; i++) {
        const double *x = p.data + i * p.stride;
        escaped += !(fabs(x[0]) <= PIT_HALF && fabs(x[1]) <= PIT_HALF && x[2] >= 0);
    }
    size_t n = 0;
    measures[n++] = rg_measure_beside("escaped", (double)escaped, 0);
    measures[n++] = rg_measure_of("kinetic_J", rg_builtin_kinetic_energy(scene->world));
    measures[n++] = rg_measure_of("rest_penetration_m", state->rest_penetration);
    measures[n++] = rg_measure_of("penetration_constant_per_m", state->constant);
    return n;
}

/* ---- balls-666, elastic-666, bouncing: as SimBenchmark has them ---- */

enum { BALLS_SIDE = 6, BALLS = BALLS_SIDE * BALLS_SIDE * BALLS_SIDE, BOUNCING_SIDE = 7 };
#define BALL_RADIUS 0.1 /* m */
#define BALL_MASS   10  /* kg */

typedef struct balls_state {
    double sum; /* m^2 or J^2: of squared errors, over the observations */
    uint64_t observations;
    double energy;         /* J, at the beginning */
    size_t ordered;        /* balls that are in: */
    uint16_t order[BALLS]; /* by their x when last observed */
} balls_state;

static rg_status add_ball(rg_scene *scene, int index, rg_vec3 position, rg_error *error) {
    rg_shape_def shape = rg_shape_def_sphere(BALL_RADIUS);
    char name[32];
    snprintf(name, sizeof name, "ball%d", index);
    rg_body_def def = rg_body_def_default();
    def.name = name;
    def.pose.position = position;
    return rg_builtin_add(scene, &shape,
                          BALL_MASS / (4.0 / 3 * RG_PI * BALL_RADIUS * BALL_RADIUS * BALL_RADIUS),
                          &def, NULL, error);
}

/* 6 x 6 x 6 balls, spacing 0.21 with a jitter of 1 mm, without friction; the lowest centres at
 * `lowest`. */
static rg_status add_cube_of_balls(rg_scene *scene, double lowest, double restitution,
                                   rg_error *error) {
    balls_state *state = scene->measuring;
    rg_status status = rg_builtin_lay_floor(scene, 0, restitution, error);
    rg_random random = rg_random_make(rg_world_seed(scene->world));
    for (int i = 0; i < BALLS && !status; i++) {
        int x = i % BALLS_SIDE, y = i / BALLS_SIDE % BALLS_SIDE, z = i / (BALLS_SIDE * BALLS_SIDE);
        rg_vec3 at = {0.21 * x, 0.21 * y, lowest + 0.21 * z};
        at.x += rg_random_between(&random, -0.0005, 0.0005);
        at.y += rg_random_between(&random, -0.0005, 0.0005);
        status = add_ball(scene, i, at, error);
    }
    state->energy = status ? 0 : rg_world_energy(scene->world);
    return status;
}

static rg_status build_balls(rg_scene *scene, const double *values, rg_error *error) {
    (void)values;
    return add_cube_of_balls(scene, 0.101, 0, error);
}

static rg_status build_elastic_balls(rg_scene *scene, const double *values, rg_error *error) {
    (void)values;
    return add_cube_of_balls(scene, 1.101, 1, error);
}

/* 7 x 7 balls, 2 m apart, their centres at 5 m. */
static rg_status build_bouncing(rg_scene *scene, const double *values, rg_error *error) {
    (void)values;
    balls_state *state = scene->measuring;
    rg_status status = rg_builtin_lay_floor(scene, 0, 1, error);
    for (int i = 0; i < BOUNCING_SIDE * BOUNCING_SIDE && !status; i++)
        status = add_ball(scene, i,
                          rg_vec3_make(2 * (i % BOUNCING_SIDE), 2 * (i / BOUNCING_SIDE), 5), error);
    state->energy = status ? 0 : rg_world_energy(scene->world);
    return status;
}

static void observe_energy(rg_scene *scene) {
    balls_state *state = scene->measuring;
    double error = rg_world_energy(scene->world) - state->energy;
    state->sum += error * error;
    state->observations++;
}

/* The mean over time of the squared error, and the last relative error. */
static size_t measure_energy(rg_scene *scene, rg_measure measures[RG_MAX_MEASURES]) {
    const balls_state *state = scene->measuring;
    double mean = state->observations ? state->sum / (double)state->observations : NAN;
    measures[0] = rg_measure_beside("energy_error_sq", mean, 0);
    measures[1] =
        rg_measure_beside("energy_error_rel", rg_world_energy(scene->world) / state->energy - 1, 0);
    return 2;
}

/* By insertion: from observation to observation hardly any ball passes another one. */
static void sort_balls(balls_state *state, const double *const at[]) {
    uint16_t *order = state->order;
    for (size_t i = 1; i < state->ordered; i++) {
        uint16_t ball = order[i];
        size_t k = i;
        for (; k > 0 && at[order[k - 1]][0] > at[ball][0]; k--)
            order[k] = order[k - 1];
        order[k] = ball;
    }
}

/* Between all pairs of balls and with the floor, in closed form. Only balls whose x is within a
 * diameter can overlap. */
static void observe_balls(rg_scene *scene) {
    balls_state *state = scene->measuring;
    rg_strided p = rg_world_centre_positions(scene->world);
    const double *at[BALLS];
    double sum = 0;
    size_t count = 0; /* the first body is the floor */
    for (; count < BALLS && count + 1 < p.count; count++) {
        at[count] = p.data + (count + 1) * p.stride;
        double below = at[count][2] - BALL_RADIUS;
        sum += below < 0 ? below * below : 0;
    }
    for (size_t i = 0; i < count && state->ordered != count; i++)
        state->order[i] = (uint16_t)i;
    state->ordered = count;
    sort_balls(state, at);
    for (size_t i = 0; i < state->ordered; i++) {
        const double *a = at[state->order[i]];
        for (size_t j = i + 1; j < state->ordered; j++) {
            const double *b = at[state->order[j]];
            double dx = b[0] - a[0], dy = b[1] - a[1], dz = b[2] - a[2];
            if (dx >= 2 * BALL_RADIUS)
                break;
            double squared = dx * dx + dy * dy + dz * dz;
            if (squared >= 4 * BALL_RADIUS * BALL_RADIUS)
                continue;
            double depth = 2 * BALL_RADIUS - sqrt(squared);
            sum += depth * depth;
        }
    }
    state->sum += sum;
    state->observations++;
}

static size_t measure_balls(rg_scene *scene, rg_measure measures[RG_MAX_MEASURES]) {
    const balls_state *state = scene->measuring;
    double mean = state->observations ? state->sum / (double)state->observations : NAN;
    measures[0] = rg_measure_beside("penetration_sq", mean, 0);
    return 1;
}

/* ---- funnel ---- */

enum { FUNNEL_COUNT, FUNNEL_MU };
static const rg_builtin_parameter funnel_parameters[] = {
    {"count", "500", "number of balls", 1, 1000, true, NULL},
    {"mu", "0.3", "coefficient of friction", 0, 100, false, NULL},
    RG_PARAMETER_SEED,
};

enum { FUNNEL_SIDES = 4, FUNNEL_ROW = 10 };
#define FUNNEL_RADIUS 0.035 /* m: of the balls */
#define FUNNEL_PITCH  0.085 /* m between their centres at the start */
#define FUNNEL_JITTER 0.001 /* m: without it, columns of balls would balance on each other */
#define FUNNEL_MOUTH  0.2   /* m: half the width of the opening */
#define FUNNEL_WIDE   0.9   /* m: half the width at the upper edge */
#define FUNNEL_HIGH   1.0   /* m: height of the opening; the plates rise at 45 degrees from there */
#define FUNNEL_BOX    0.3   /* m: half the width of the box below */
#define FUNNEL_THICK  0.02  /* m: of plates and walls */
#define SQRT_HALF     0.70710678118654752

static rg_status add_plate(rg_scene *scene, const char *kind, int side, rg_vec3 size, rg_pose pose,
                           rg_error *error) {
    char name[16];
    snprintf(name, sizeof name, "%s%d", kind, side);
    rg_shape_def shape = rg_shape_def_box(size.x, size.y, size.z);
    rg_body_def def = rg_body_def_default();
    def.name = name;
    def.motion = RG_MOTION_FIXED;
    def.pose = pose;
    return rg_builtin_add(scene, &shape, 1000, &def, NULL, error);
}

/* A slanted plate and a wall of the box on each of the four sides. The plates are as wide as the
 * upper edge and pass through each other at the corners; so do the walls. */
static rg_status add_funnel(rg_scene *scene, rg_error *error) {
    rg_status status = RG_OK;
    for (int side = 0; side < FUNNEL_SIDES && !status; side++) {
        rg_quat turn = rg_quat_of_rotation_vector(rg_vec3_make(0, 0, 0.5 * RG_PI * side));
        rg_quat slant = rg_quat_of_rotation_vector(rg_vec3_make(0, -0.25 * RG_PI, 0));
        rg_vec3 inward = rg_vec3_make(-SQRT_HALF, 0, SQRT_HALF);
        double rise = FUNNEL_WIDE - FUNNEL_MOUTH;
        rg_vec3 middle = rg_vec3_make(FUNNEL_MOUTH + 0.5 * rise, 0, FUNNEL_HIGH + 0.5 * rise);
        rg_pose plate = {rg_rotate(turn, rg_add_scaled(middle, -0.5 * FUNNEL_THICK, inward)),
                         rg_quat_multiply(turn, slant)};
        rg_pose wall = {
            rg_rotate(turn, rg_vec3_make(FUNNEL_BOX + 0.5 * FUNNEL_THICK, 0, 0.5 * FUNNEL_HIGH)),
            turn};
        status =
            add_plate(scene, "plate", side,
                      rg_vec3_make(rise / SQRT_HALF, 2 * FUNNEL_WIDE, FUNNEL_THICK), plate, error);
        if (!status)
            status =
                add_plate(scene, "wall", side,
                          rg_vec3_make(FUNNEL_THICK, 2 * (FUNNEL_BOX + FUNNEL_THICK), FUNNEL_HIGH),
                          wall, error);
    }
    return status;
}

/* Layers of 10 x 10 balls of density 1000 above the opening, each shifted a little at random. */
static rg_status build_funnel(rg_scene *scene, const double *values, rg_error *error) {
    rg_status status = rg_builtin_lay_floor(scene, values[FUNNEL_MU], 0, error);
    if (!status)
        status = add_funnel(scene, error);
    rg_random random = rg_random_make(rg_world_seed(scene->world));
    rg_shape_def shape = rg_shape_def_sphere(FUNNEL_RADIUS);
    uint64_t count = (uint64_t)values[FUNNEL_COUNT];
    for (uint64_t i = 0; i < count && !status; i++) {
        char name[32];
        snprintf(name, sizeof name, "ball%llu", (unsigned long long)i);
        uint64_t layer = i / (FUNNEL_ROW * FUNNEL_ROW), place = i % (FUNNEL_ROW * FUNNEL_ROW);
        double middle = 0.5 * (FUNNEL_ROW - 1);
        rg_body_def def = rg_body_def_default();
        def.name = name;
        def.pose.position = rg_vec3_make(FUNNEL_PITCH * ((double)(place % FUNNEL_ROW) - middle),
                                         FUNNEL_PITCH * ((double)(place / FUNNEL_ROW) - middle),
                                         FUNNEL_HIGH + 0.3 + FUNNEL_PITCH * (double)layer);
        def.pose.position.x += rg_random_between(&random, -FUNNEL_JITTER, FUNNEL_JITTER);
        def.pose.position.y += rg_random_between(&random, -FUNNEL_JITTER, FUNNEL_JITTER);
        status = rg_builtin_add(scene, &shape, 1000, &def, NULL, error);
    }
    return status;
}

/* By their centres: balls in the box, and balls that are neither in it nor above the plates. */
static size_t measure_funnel(rg_scene *scene, rg_measure measures[RG_MAX_MEASURES]) {
    uint64_t passed = 0, escaped = 0;
    rg_strided p = rg_world_centre_positions(scene->world);
    for (size_t i = 1 + 2 * FUNNEL_SIDES; i < p.count; i++) {
        const double *x = p.data + i * p.stride;
        double across = fmax(fabs(x[0]), fabs(x[1])), above = x[2] - FUNNEL_HIGH;
        bool inside =
            above < 0 ? across <= FUNNEL_BOX && x[2] >= 0 : across <= FUNNEL_MOUTH + above;
        passed += above < 0 && inside;
        escaped += !inside;
    }
    size_t n = 0;
    measures[n++] = rg_measure_beside("escaped", (double)escaped, 0);
    measures[n++] = rg_measure_of("passed", (double)passed);
    measures[n++] = rg_measure_of("kinetic_J", rg_builtin_kinetic_energy(scene->world));
    return n;
}

/* ---- the list ---- */

const rg_builtin rg_builtin_fall[] = {
    {"dominoes", "a row of dominoes, the first one pushed", RG_PARAMETERS(domino_parameters), 0, 15,
     sizeof(domino_state), build_dominoes, observe_dominoes, measure_dominoes},
    {"pile", "irregular stones dropped into a pit", RG_PARAMETERS(pile_parameters), 0, 4,
     sizeof(pile_state), build_pile, observe_pile, measure_pile},
    {"balls-666", "216 balls without friction that fall apart", RG_NO_PARAMETERS, RG_FINE, 10,
     sizeof(balls_state), build_balls, observe_balls, measure_balls},
    {"elastic-666", "216 balls that bounce off each other and the floor and lose no energy",
     RG_NO_PARAMETERS, RG_FINE, 10, sizeof(balls_state), build_elastic_balls, observe_energy,
     measure_energy},
    {"bouncing", "49 balls that bounce and lose no energy", RG_NO_PARAMETERS, RG_FINE, 20,
     sizeof(balls_state), build_bouncing, observe_energy, measure_energy},
    {"funnel", "balls poured through four slanted plates into a box",
     RG_PARAMETERS(funnel_parameters), 0, 4, 0, build_funnel, NULL, measure_funnel},
    {0},
};
