/* Built-in scenes of many bodies that are struck or shaken: a wall and a pyramid hit by a heavy
 * ball, boxes in a box that is moved to and fro.
 * Tested by tests/scene/test_builtin.c. */
#include "base/base_math.h"
#include "scene/scene_builtin.h"

#include <stdio.h>

enum { HIT_FIRST = 1 };    /* the floor is the first body, the ball the last */
#define HIT_RADIUS  1.0    /* m: of the ball */
#define HIT_DENSITY 4000.0 /* kg/m^3 */
#define HIT_AWAY    2.5    /* m between ball and boxes at the start */
#define HIT_MOVED   0.5    /* m: a box that went farther counts as moved */

typedef struct hit_state {
    size_t count;
    rg_vec3 start[]; /* of the boxes */
} hit_state;

static rg_status add_box(rg_scene *scene, size_t index, rg_vec3 size, rg_vec3 at, rg_error *error) {
    char name[32];
    snprintf(name, sizeof name, "box%zu", index);
    hit_state *state = scene->measuring;
    state->start[index] = at;
    return rg_builtin_add_box(scene, name, size, at, NULL, error);
}

static rg_status begin_hit(rg_scene *scene, size_t count, rg_error *error) {
    hit_state *state = rg_builtin_remember(scene, sizeof(hit_state) + count * sizeof *state->start);
    if (!state)
        return rg_builtin_fail_memory(scene, error);
    state->count = count;
    return rg_builtin_lay_floor(scene, 0.5, 0, error);
}

/* A ball of 1 m that flies along y at the plane y = 0 of the boxes, which are `thick`. */
static rg_status add_ball(rg_scene *scene, double thick, double height, double speed,
                          rg_error *error) {
    rg_shape_def shape = rg_shape_def_sphere(HIT_RADIUS);
    rg_body_def def = rg_body_def_default();
    def.name = "ball";
    def.pose.position = rg_vec3_make(0, -(0.5 * thick + HIT_AWAY + HIT_RADIUS), height);
    def.velocity = rg_vec3_make(0, speed, 0);
    return rg_builtin_add(scene, &shape, HIT_DENSITY, &def, NULL, error);
}

static size_t measure_hit(rg_scene *scene, rg_measure measures[RG_MAX_MEASURES]) {
    const hit_state *state = scene->measuring;
    rg_strided p = rg_world_centre_positions(scene->world);
    uint64_t moved = 0;
    for (size_t i = 0; i < state->count; i++) {
        const double *x = p.data + (HIT_FIRST + i) * p.stride;
        rg_vec3 way = rg_sub(rg_vec3_make(x[0], x[1], x[2]), state->start[i]);
        moved += rg_length(way) > HIT_MOVED;
    }
    measures[0] = rg_measure_of("moved", (double)moved);
    measures[1] = rg_measure_of("kinetic_J", rg_builtin_kinetic_energy(scene->world));
    return 2;
}

/* ---- wall ---- */

static const rg_builtin_parameter wall_parameters[] = {
    {"columns", "20", "bricks in a row", 1, 200, true, NULL},
    {"rows", "16", "of bricks", 1, 200, true, NULL},
    {"speed", "10", "m/s of the ball", 0, 1000, false, NULL},
};

/* Bricks of 1 x 0.5 x 0.5 m, every second row shifted by half a brick; the ball comes at a third of
 * the height, or as low as it can. */
static rg_status build_wall(rg_scene *scene, const double *values, rg_error *error) {
    const rg_vec3 size = {1, 0.5, 0.5};
    size_t columns = (size_t)values[0], rows = (size_t)values[1];
    rg_status status = begin_hit(scene, columns * rows, error);
    for (size_t i = 0; i < columns * rows && !status; i++) {
        size_t row = i / columns;
        double x = (double)(i % columns) - 0.5 * (double)(columns - 1) + (row % 2 ? 0.5 : 0);
        rg_vec3 at = {x, 0, size.z * (0.5 + (double)row)};
        status = add_box(scene, i, size, at, error);
    }
    double height = fmax(HIT_RADIUS, size.z * (double)rows / 3);
    return status ? status : add_ball(scene, size.y, height, values[2], error);
}

/* ---- pyramid-hit ---- */

static const rg_builtin_parameter pyramid_parameters[] = {
    {"base", "20", "boxes in the lowest row", 1, 200, true, NULL},
    {"speed", "10", "m/s of the ball", 0, 1000, false, NULL},
};

/* The scene `pyramid` without gaps; the ball comes at a quarter of the height, or as low as it can.
 */
static rg_status build_pyramid(rg_scene *scene, const double *values, rg_error *error) {
    size_t base = (size_t)values[0], index = 0;
    rg_status status = begin_hit(scene, base * (base + 1) / 2, error);
    for (size_t row = 0; row < base; row++)
        for (size_t i = 0; i < base - row && !status; i++) {
            rg_vec3 at = {(double)i - 0.5 * (double)(base - row - 1), 0, 0.5 + (double)row};
            status = add_box(scene, index++, rg_vec3_make(1, 1, 1), at, error);
        }
    double height = fmax(HIT_RADIUS, (double)base / 4);
    return status ? status : add_ball(scene, 1, height, values[1], error);
}

/* ---- shaken-box ---- */

enum { SHAKEN_COUNT, SHAKEN_AMPLITUDE, SHAKEN_FREQUENCY, SHAKEN_SIDES = 5, SHAKEN_ROW = 8 };
static const rg_builtin_parameter shaken_parameters[] = {
    {"count", "500", "number of boxes", 1, 10000, true, NULL},
    {"amplitude", "0.1", "m, to and fro along x", 0, 10, false, NULL},
    {"frequency", "2", "Hz", 0, 100, false, NULL},
    RG_PARAMETER_SEED,
};
#define SHAKEN_HALF  2.0  /* m: half the inner width */
#define SHAKEN_HIGH  6.0  /* m: of the walls, more for more boxes */
#define SHAKEN_THICK 0.5  /* m: of walls and floor */
#define SHAKEN_PITCH 0.45 /* m between the centres of boxes at the start */

static double shaken_height(uint64_t count) {
    return fmax(SHAKEN_HIGH, SHAKEN_PITCH * (2 + (double)count / (SHAKEN_ROW * SHAKEN_ROW)));
}

/* A floor and four walls, which pass through each other at the edges and move as one. */
static rg_status add_shaken_walls(rg_scene *scene, const double *values, rg_error *error) {
    double half = SHAKEN_HALF + 0.5 * SHAKEN_THICK, wide = 2 * (SHAKEN_HALF + SHAKEN_THICK);
    double high = shaken_height((uint64_t)values[SHAKEN_COUNT]);
    rg_status status = RG_OK;
    for (int i = 0; i < SHAKEN_SIDES && !status; i++) {
        double x = i == 1 ? half : i == 2 ? -half : 0, y = i == 3 ? half : i == 4 ? -half : 0;
        rg_vec3 size = {x != 0 ? SHAKEN_THICK : wide, y != 0 ? SHAKEN_THICK : wide,
                        i == 0 ? SHAKEN_THICK : high};
        rg_shape_def shape = rg_shape_def_box(size.x, size.y, size.z);
        char name[16];
        snprintf(name, sizeof name, "wall%d", i);
        rg_body_def def = rg_body_def_default();
        def.name = name;
        def.motion = RG_MOTION_KINEMATIC;
        def.pose.position = rg_vec3_make(x, y, i == 0 ? -0.5 * SHAKEN_THICK : 0.5 * high);
        def.prescription.kind = RG_PRESCRIBED_OSCILLATION;
        def.prescription.amplitude = rg_vec3_make(values[SHAKEN_AMPLITUDE], 0, 0);
        def.prescription.frequency = values[SHAKEN_FREQUENCY];
        status = rg_builtin_add(scene, &shape, 1000, &def, NULL, error);
    }
    return status;
}

/* Boxes of edges between 0.15 and 0.3 m, turned at random, in layers of 8 x 8 over each other. */
static rg_status build_shaken(rg_scene *scene, const double *values, rg_error *error) {
    rg_status status = rg_builtin_set_law(scene, 0.5, 0, error);
    if (!status)
        status = add_shaken_walls(scene, values, error);
    rg_random random = rg_random_make(rg_world_seed(scene->world));
    for (uint64_t i = 0; i < (uint64_t)values[SHAKEN_COUNT] && !status; i++) {
        uint64_t layer = i / (SHAKEN_ROW * SHAKEN_ROW), place = i % (SHAKEN_ROW * SHAKEN_ROW);
        char name[32];
        snprintf(name, sizeof name, "box%llu", (unsigned long long)i);
        double x = rg_random_between(&random, 0.15, 0.3);
        double y = rg_random_between(&random, 0.15, 0.3);
        double z = rg_random_between(&random, 0.15, 0.3);
        rg_shape_def shape = rg_shape_def_box(x, y, z);
        rg_body_def def = rg_body_def_default();
        def.name = name;
        def.pose.position =
            rg_vec3_make(SHAKEN_PITCH * ((double)(place % SHAKEN_ROW) - 0.5 * (SHAKEN_ROW - 1)),
                         SHAKEN_PITCH * ((double)(place / SHAKEN_ROW) - 0.5 * (SHAKEN_ROW - 1)),
                         SHAKEN_PITCH * ((double)layer + 0.6));
        def.pose.orientation = rg_random_rotation(&random);
        status = rg_builtin_add(scene, &shape, 1000, &def, NULL, error);
    }
    return status;
}

/* By their centres, relative to the walls. */
static size_t measure_shaken(rg_scene *scene, rg_measure measures[RG_MAX_MEASURES]) {
    rg_strided p = rg_world_centre_positions(scene->world);
    uint64_t escaped = 0;
    double middle = p.data[0];
    for (size_t i = SHAKEN_SIDES; i < p.count; i++) {
        const double *x = p.data + i * p.stride;
        escaped += !(fabs(x[0] - middle) <= SHAKEN_HALF && fabs(x[1]) <= SHAKEN_HALF && x[2] >= 0);
    }
    measures[0] = rg_measure_beside("escaped", (double)escaped, 0);
    measures[1] = rg_measure_of("kinetic_J", rg_builtin_kinetic_energy(scene->world));
    return 2;
}

/* ---- the list ---- */

const rg_builtin rg_builtin_hit[] = {
    {"wall", "a wall of bricks, hit by a heavy ball", RG_PARAMETERS(wall_parameters), 0, 3, 0,
     build_wall, NULL, measure_hit},
    {"pyramid-hit", "a pyramid of boxes, hit by a heavy ball", RG_PARAMETERS(pyramid_parameters), 0,
     3, 0, build_pyramid, NULL, measure_hit},
    {"shaken-box", "boxes in a box that is moved to and fro", RG_PARAMETERS(shaken_parameters), 0,
     4, 0, build_shaken, NULL, measure_shaken},
    {0},
};
