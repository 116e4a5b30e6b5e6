/* Built-in scenes of things that stand: towers, pyramids, planks, bricks. What they show is that
 * rest is rest: nothing sinks, creeps or falls, at any mass ratio.
 * Tested by tests/scene/test_builtin.c. */
#include "base/base_math.h"
#include "base/base_text.h"
#include "rigor/contact_force.h"
#include "scene/scene_builtin.h"

#include <stdio.h>

/* Metres that a top may be lower than its ideal height and still count as standing. */
#define STANDING_DROP 0.5

/* Where every body of the stack was at the start; body 0 of the world is the floor. */
typedef struct stack_state {
    size_t count;
    double top_drop;  /* m: what "standing" allows */
    double height;    /* m: of the top's centre at the start */
    double max_move;  /* m, over the run, of any centre */
    double max_drift; /* m, horizontal, of the top */
    double max_sink;  /* m, of the top */
    rg_vec3 start[];
} stack_state;

static rg_status begin_stack(rg_scene *scene, size_t count, double top_drop, rg_error *error) {
    stack_state *state = rg_builtin_remember(scene, sizeof *state + count * sizeof state->start[0]);
    if (!state)
        return rg_builtin_fail_memory(scene, error);
    state->count = count, state->top_drop = top_drop;
    return rg_builtin_add_floor(scene, error);
}

static rg_vec3 centre_of(const rg_scene *scene, size_t body) {
    rg_strided p = rg_world_centre_positions(scene->world);
    const double *x = p.data + body * p.stride;
    return rg_vec3_make(x[0], x[1], x[2]);
}

static void finish_stack(rg_scene *scene) {
    stack_state *state = scene->measuring;
    for (size_t i = 0; i < state->count; i++)
        state->start[i] = centre_of(scene, i + 1);
    state->height = state->start[state->count - 1].z;
}

static void observe_stack(rg_scene *scene) {
    stack_state *state = scene->measuring;
    if (rg_world_body_count(scene->world) <= state->count)
        return;
    for (size_t i = 0; i < state->count; i++) {
        rg_vec3 moved = rg_sub(centre_of(scene, i + 1), state->start[i]);
        state->max_move = fmax(state->max_move, rg_length(moved));
        if (i + 1 == state->count) {
            state->max_drift = fmax(state->max_drift, rg_length(rg_vec3_make(moved.x, moved.y, 0)));
            state->max_sink = fmax(state->max_sink, -moved.z);
        }
    }
}

static size_t measure_stack(rg_scene *scene, rg_measure measures[RG_MAX_MEASURES]) {
    const stack_state *state = scene->measuring;
    bool there = rg_world_body_count(scene->world) > state->count;
    double top = there ? centre_of(scene, state->count).z : -INFINITY;
    size_t n = 0;
    measures[n++] = rg_measure_truth("standing", top >= state->height - state->top_drop, true);
    measures[n++] = rg_measure_beside("top_drift_m", state->max_drift, 0);
    measures[n++] = rg_measure_beside("sink_m", state->max_sink, 0);
    measures[n++] = rg_measure_beside("max_move_m", state->max_move, 0);
    return n;
}

static size_t measure_moves(rg_scene *scene, rg_measure measures[RG_MAX_MEASURES]) {
    const stack_state *state = scene->measuring;
    measures[0] = rg_measure_beside("max_move_m", state->max_move, 0);
    return 1;
}

static rg_status add_named_box(rg_scene *scene, const char *stem, size_t index, rg_vec3 size,
                               rg_vec3 position, double density, rg_error *error) {
    char name[32];
    snprintf(name, sizeof name, "%s%zu", stem, index);
    rg_shape_def shape = rg_shape_def_box(size.x, size.y, size.z);
    rg_body_def def = rg_body_def_default();
    def.name = name;
    def.pose.position = position;
    return rg_builtin_add(scene, &shape, density, &def, NULL, error);
}

/* ---- tower, mass-ratio ---- */

static rg_status build_column(rg_scene *scene, size_t count, double top_density, rg_error *error) {
    rg_status status = begin_stack(scene, count, STANDING_DROP, error);
    for (size_t i = 0; i < count && !status; i++)
        status = add_named_box(scene, "box", i, rg_vec3_make(1, 1, 1),
                               rg_vec3_make(0, 0, 0.5 + (double)i),
                               i + 1 == count ? top_density : 1000, error);
    if (!status)
        finish_stack(scene);
    return status;
}

static const rg_builtin_parameter tower_parameters[] = {
    {"count", "30", "number of boxes", 1, 10000, true, NULL},
};

static rg_status build_tower(rg_scene *scene, const double *values, rg_error *error) {
    return build_column(scene, (size_t)values[0], 1000, error);
}

static const rg_builtin_parameter ratio_parameters[] = {
    {"count", "5", "number of boxes", 1, 10000, true, NULL},
    {"ratio", "1000", "density of the top box over that of the others", 1e-9, 1e9, false, NULL},
};

static rg_status build_ratio(rg_scene *scene, const double *values, rg_error *error) {
    return build_column(scene, (size_t)values[0], 1000 * values[1], error);
}

/* ---- pyramid ---- */

static const rg_builtin_parameter pyramid_parameters[] = {
    {"base", "20", "boxes in the lowest row", 1, 1000, true, NULL},
    {"gap", "0", "m between neighbours of a row", 0, 0.5, false, NULL},
};

static rg_status build_pyramid(rg_scene *scene, const double *values, rg_error *error) {
    size_t base = (size_t)values[0], count = base * (base + 1) / 2, index = 0;
    double pitch = 1 + values[1];
    rg_status status = begin_stack(scene, count, STANDING_DROP, error);
    for (size_t row = 0; row < base; row++)
        for (size_t i = 0; i < base - row && !status; i++) {
            double x = pitch * ((double)i - 0.5 * (double)(base - row - 1));
            status = add_named_box(scene, "box", index++, rg_vec3_make(1, 1, 1),
                                   rg_vec3_make(x, 0, 0.5 + (double)row), 1000, error);
        }
    if (!status)
        finish_stack(scene);
    return status;
}

/* ---- kapla ---- */

static const rg_builtin_parameter kapla_parameters[] = {
    {"levels", "44", "of three planks each", 1, 1000, true, NULL},
};

/* Planks 0.234 x 0.0468 x 0.0156 m, three a level, evenly spread over a square of the plank's
 * length, levels crossed. */
static rg_status build_kapla(rg_scene *scene, const double *values, rg_error *error) {
    const double length = 0.234, width = 0.0468, height = 0.0156;
    size_t levels = (size_t)values[0], index = 0;
    rg_status status = begin_stack(scene, 3 * levels, height, error);
    for (size_t level = 0; level < levels; level++)
        for (int k = -1; k <= 1 && !status; k++) {
            bool along_x = level % 2 == 0;
            double across = k * 0.5 * (length - width), z = height * (0.5 + (double)level);
            rg_vec3 size =
                along_x ? rg_vec3_make(length, width, height) : rg_vec3_make(width, length, height);
            rg_vec3 at = along_x ? rg_vec3_make(0, across, z) : rg_vec3_make(across, 0, z);
            status = add_named_box(scene, "plank", index++, size, at, 1000, error);
        }
    if (!status)
        finish_stack(scene);
    return status;
}

/* ---- brick-stack ---- */

/* Figures 1 and 14a of Baraff 1989, and Figure 3 of his 1994 survey: planar bricks 2 m x 1 m of 1
 * kg, each pushed out over the one below. Which contacts break is not obvious: up to five bricks
 * the forces at t = 0 are measures, from the floor upwards, left before right. */
enum { BRICK_OFFSET, BRICK_COUNT, BRICK_MU };
static const rg_builtin_parameter brick_parameters[] = {
    {"offset", "0.7", "m: each brick to the right of the one below", -2, 2, false, NULL},
    {"count", "5", "number of bricks", 1, 1000, true, NULL},
    {"mu", "0.5", "coefficient of friction", 0, 100, false, NULL},
};

enum { BRICKS_SHOWN = 5 };
#define BRICKS_AT_ONCE 1e-9 /* s: of the step that shows the forces at t = 0 */

/* Without friction, solved by enumerating which contacts break. */
static const struct {
    size_t count;
    double offset, force[2 * BRICKS_SHOWN];
} known_bricks[] = {
    {5,
     0.7,
     {4.905, 30.247334077531967, 0, 25.342334077531966, 3.421474450047618, 10.653396668279964,
      3.3918126180699755, 2.8163424458634525, 1.7421859143495027, 0}},
    {2, 0.9, {5.3955, 14.2245, 0.8918181818181818, 8.918181818181818}},
    {2, 1.1, {4.905, 14.485078125, 0, 9.580078125}},
};

static rg_status build_bricks(rg_scene *scene, const double *values, rg_error *error) {
    size_t count = (size_t)values[BRICK_COUNT];
    rg_status status = begin_stack(scene, count, STANDING_DROP, error);
    if (!status)
        status = rg_builtin_set_law(scene, values[BRICK_MU], 0, error);
    const rg_vec3 corners[4] = {{-1, 0, -0.5}, {1, 0, -0.5}, {1, 0, 0.5}, {-1, 0, 0.5}};
    rg_shape_def shape = rg_shape_def_polygon(corners, 4);
    for (size_t i = 0; i < count && !status; i++) {
        char name[32];
        snprintf(name, sizeof name, "brick%zu", i);
        rg_body_def def = rg_body_def_default();
        def.name = name;
        def.pose.position = rg_vec3_make(values[BRICK_OFFSET] * (double)i, 0, 0.5 + (double)i);
        status = rg_builtin_add(scene, &shape, 0.5, &def, NULL, error);
    }
    if (!status)
        finish_stack(scene);
    return status;
}

/* The force at a place; 0 if there is no contact any more. */
static double force_at(const rg_world *world, double x, double z) {
    size_t count;
    const rg_contact_force *forces = rg_world_contact_forces(world, &count);
    for (size_t i = 0; i < count; i++)
        if (fabs(forces[i].position.x - x) < 1e-3 && fabs(forces[i].position.z - z) < 1e-3)
            return forces[i].normal_force;
    return 0;
}

static const double *find_known(const rg_scene *scene, size_t count, double offset) {
    double mu = rg_world_material_law(scene->world, (rg_material_id){0}).friction;
    for (size_t i = 0; i < sizeof known_bricks / sizeof known_bricks[0] && mu == 0; i++)
        if (known_bricks[i].count == count && fabs(known_bricks[i].offset - offset) < 1e-12)
            return known_bricks[i].force;
    return NULL;
}

static size_t measure_bricks(rg_scene *scene, rg_measure measures[RG_MAX_MEASURES]) {
    static const char *const names[2 * BRICKS_SHOWN] = {
        "force_1_N", "force_2_N", "force_3_N", "force_4_N", "force_5_N",
        "force_6_N", "force_7_N", "force_8_N", "force_9_N", "force_10_N"};
    const stack_state *state = scene->measuring;
    size_t n = 0;
    measures[n++] = rg_measure_of("max_move_m", state->max_move);
    rg_scene *twin =
        state->count <= BRICKS_SHOWN ? rg_builtin_first_step(scene, BRICKS_AT_ONCE) : NULL;
    if (!twin)
        return n;
    double offset = state->count > 1 ? state->start[1].x - state->start[0].x : 0;
    const double *known = find_known(scene, state->count, offset);
    for (size_t i = 0; i < 2 * state->count; i++) {
        size_t level = i / 2;
        double at = state->start[level].x, below = level ? state->start[level - 1].x : at;
        double x = i % 2 ? fmin(at, below) + 1 : fmax(at, below) - 1;
        double force = force_at(twin->world, x, (double)level);
        measures[n++] =
            known ? rg_measure_beside(names[i], force, known[i]) : rg_measure_of(names[i], force);
    }
    rg_scene_destroy(twin);
    return n;
}

/* ---- the list ---- */

const rg_builtin rg_builtin_stack[] = {
    {"tower", "boxes in one stack: it stands, and the top does not drift",
     RG_PARAMETERS(tower_parameters), 0, 10, 0, build_tower, observe_stack, measure_stack},
    {"mass-ratio", "a stack of boxes under one that is a thousand times heavier",
     RG_PARAMETERS(ratio_parameters), 0, 10, 0, build_ratio, observe_stack, measure_stack},
    {"pyramid", "rows of boxes, one less in each: nothing moves", RG_PARAMETERS(pyramid_parameters),
     0, 5, 0, build_pyramid, observe_stack, measure_moves},
    {"kapla", "a tower of wooden planks, three a level", RG_PARAMETERS(kapla_parameters), 0, 60, 0,
     build_kapla, observe_stack, measure_stack},
    {"brick-stack", "planar bricks, each pushed out over the one below",
     RG_PARAMETERS(brick_parameters), RG_PLANAR, 3, 0, build_bricks, observe_stack, measure_bricks},
    {0},
};
