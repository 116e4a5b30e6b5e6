/* Built-in scenes of things that stand: towers, pyramids, planks, bricks. What they show is that rest
 * is rest: nothing sinks, creeps or falls, at any mass ratio. */
#include "base/base_math.h"
#include "base/base_text.h"
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

static const rg_builtin_parameter tower_parameters[] = {{"count", "30", "number of boxes"}};
static const rg_builtin_range tower_ranges[] = {{1, 10000, true}};

static rg_status build_tower(rg_scene *scene, const double *values, rg_error *error) {
    return build_column(scene, (size_t)values[0], 1000, error);
}

const rg_builtin rg_builtin_tower = {
    .name = "tower",
    .summary = "boxes in one stack: it stands, and the top does not drift",
    .parameters = tower_parameters,
    .ranges = tower_ranges,
    .parameter_count = 1,
    .duration = 10,
    .build = build_tower,
    .observe = observe_stack,
    .measure = measure_stack,
};

static const rg_builtin_parameter ratio_parameters[] = {
    {"count", "5", "number of boxes"},
    {"ratio", "1000", "density of the top box over that of the others"},
};
static const rg_builtin_range ratio_ranges[] = {{1, 10000, true}, {1e-9, 1e9, false}};

static rg_status build_ratio(rg_scene *scene, const double *values, rg_error *error) {
    return build_column(scene, (size_t)values[0], 1000 * values[1], error);
}

const rg_builtin rg_builtin_mass_ratio = {
    .name = "mass-ratio",
    .summary = "a stack of boxes under one that is a thousand times heavier",
    .parameters = ratio_parameters,
    .ranges = ratio_ranges,
    .parameter_count = 2,
    .duration = 10,
    .build = build_ratio,
    .observe = observe_stack,
    .measure = measure_stack,
};

/* ---- pyramid ---- */

static const rg_builtin_parameter pyramid_parameters[] = {
    {"base", "20", "boxes in the lowest row"},
    {"gap", "0", "m between neighbours of a row"},
};
static const rg_builtin_range pyramid_ranges[] = {{1, 1000, true}, {0, 0.5, false}};

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

const rg_builtin rg_builtin_pyramid = {
    .name = "pyramid",
    .summary = "rows of boxes, one less in each: nothing moves",
    .parameters = pyramid_parameters,
    .ranges = pyramid_ranges,
    .parameter_count = 2,
    .duration = 5,
    .build = build_pyramid,
    .observe = observe_stack,
    .measure = measure_moves,
};

/* ---- kapla ---- */

static const rg_builtin_parameter kapla_parameters[] = {{"levels", "44", "of three planks each"}};
static const rg_builtin_range kapla_ranges[] = {{1, 1000, true}};

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

const rg_builtin rg_builtin_kapla = {
    .name = "kapla",
    .summary = "a tower of wooden planks, three a level",
    .parameters = kapla_parameters,
    .ranges = kapla_ranges,
    .parameter_count = 1,
    .duration = 60,
    .build = build_kapla,
    .observe = observe_stack,
    .measure = measure_stack,
};

/* ---- brick-stack ---- */

/* Figures 1 and 14a of Baraff 1989, and Figure 3 of his 1994 survey: planar bricks 2 m x 1 m of 1 kg,
 * each pushed out over the one below. */
static const rg_builtin_parameter brick_parameters[] = {
    {"offset", "0.7", "m: each brick to the right of the one below"},
    {"count", "5", "number of bricks"},
};
static const rg_builtin_range brick_ranges[] = {{-2, 2, false}, {1, 1000, true}};

static void prepare_planar(rg_world_def *def, const double *values) {
    (void)values;
    def->planar = true;
}

static rg_status build_bricks(rg_scene *scene, const double *values, rg_error *error) {
    size_t count = (size_t)values[1];
    rg_status status = begin_stack(scene, count, STANDING_DROP, error);
    const rg_vec3 corners[4] = {{-1, 0, -0.5}, {1, 0, -0.5}, {1, 0, 0.5}, {-1, 0, 0.5}};
    rg_shape_def shape = rg_shape_def_polygon(corners, 4);
    for (size_t i = 0; i < count && !status; i++) {
        char name[32];
        snprintf(name, sizeof name, "brick%zu", i);
        rg_body_def def = rg_body_def_default();
        def.name = name;
        def.pose.position = rg_vec3_make(values[0] * (double)i, 0, 0.5 + (double)i);
        status = rg_builtin_add(scene, &shape, 0.5, &def, NULL, error);
    }
    if (!status)
        finish_stack(scene);
    return status;
}

const rg_builtin rg_builtin_brick_stack = {
    .name = "brick-stack",
    .summary = "planar bricks, each pushed out over the one below",
    .parameters = brick_parameters,
    .ranges = brick_ranges,
    .parameter_count = 2,
    .duration = 3,
    .prepare = prepare_planar,
    .build = build_bricks,
    .observe = observe_stack,
    .measure = measure_moves,
};
