/* Built-in scenes that stand only where contact is exact, each beside its closed form: a
 * semicircular arch at Heyman's thickness, an overhang of bricks at the harmonic limit or, with
 * counterweights, at the spinal one, a castle of cards, a dry-stone wall that holds back earth.
 * Tested by tests/scene/test_gallery.c. */
#include "base/base_math.h"
#include "base/base_text.h"
#include "base/base_trig.h"
#include "scene/scene_builtin.h"

#include <stdio.h>

typedef enum verdict { FALLS, STANDS, OPEN } verdict;

/* Something that should stand, and how far any centre has moved. Body 0 is the floor. */
typedef struct standing {
    size_t count;
    double slip; /* m: what a standing one may move by */
    verdict expected;
    double max_move; /* m, over the run */
    double limit, value;
    rg_vec3 start[];
} standing;

static standing *begin(rg_scene *scene, size_t count, double mu, double slip, rg_error *error) {
    standing *state = rg_builtin_remember(scene, sizeof *state + count * sizeof state->start[0]);
    if (!state) {
        rg_builtin_fail_memory(scene, error);
        return NULL;
    }
    state->count = count, state->slip = slip;
    return rg_builtin_lay_floor(scene, mu, 0, error) == RG_OK ? state : NULL;
}

static rg_vec3 centre_of(const rg_scene *scene, size_t body) {
    rg_strided p = rg_world_centre_positions(scene->world);
    const double *x = p.data + body * p.stride;
    return rg_vec3_make(x[0], x[1], x[2]);
}

static void finish(rg_scene *scene, double limit, double value, verdict expected) {
    standing *state = scene->measuring;
    for (size_t i = 0; i < state->count; i++)
        state->start[i] = centre_of(scene, i + 1);
    state->limit = limit, state->value = value, state->expected = expected;
}

static void observe(rg_scene *scene) {
    standing *state = scene->measuring;
    for (size_t i = 0; i < state->count && i + 1 < rg_world_body_count(scene->world); i++)
        state->max_move =
            fmax(state->max_move, rg_length(rg_sub(centre_of(scene, i + 1), state->start[i])));
}

static size_t measure(rg_scene *scene, rg_measure measures[RG_MAX_MEASURES]) {
    const standing *state = scene->measuring;
    bool stands = state->max_move < state->slip;
    size_t n = 0;
    measures[n++] = rg_measure_truth("standing", stands, state->expected == STANDS);
    measures[0].has_expected = state->expected != OPEN;
    measures[n++] = state->expected == STANDS ? rg_measure_beside("max_move_m", state->max_move, 0)
                                              : rg_measure_of("max_move_m", state->max_move);
    if (state->limit > 0) {
        measures[n++] = rg_measure_of("share_of_limit", state->value / state->limit);
        measures[n++] = rg_measure_of("limit", state->limit);
    }
    return n;
}

static rg_status add_named(rg_scene *scene, const char *stem, size_t index,
                           const rg_shape_def *shape, double density, rg_body_def *def,
                           rg_error *error) {
    char name[32];
    snprintf(name, sizeof name, "%s%zu", stem, index);
    def->name = name;
    return rg_builtin_add(scene, shape, density, def, NULL, error);
}

/* ---- arch ---- */

/* The least thickness of a semicircular arch under its own weight, over the radius of its centre
 * line, without slip: a thrust line just fits (Milankovitch 1907; Heyman 1969 has 0.106 with the
 * weight on the centre line). */
#define ARCH_LIMIT 0.1075

enum { ARCH_THICKNESS, ARCH_STONES, ARCH_MU };
static const rg_builtin_parameter arch_parameters[] = {
    {"thickness", "0.11", "over the radius of the centre line; 0.1075 is the least", 0.02, 0.5,
     false, NULL},
    {"stones", "36", "number of voussoirs", 3, 500, true, NULL},
    {"mu", "1", "coefficient of friction", 0, 100, false, NULL},
};

static rg_status build_arch(rg_scene *scene, const double *values, rg_error *error) {
    size_t count = (size_t)values[ARCH_STONES];
    double inner = 1 - values[ARCH_THICKNESS] / 2, outer = 1 + values[ARCH_THICKNESS] / 2;
    standing *state = begin(scene, count, values[ARCH_MU], 1e-3, error);
    rg_status status = state ? RG_OK : error ? error->status : RG_OUT_OF_MEMORY;
    for (size_t i = 0; i < count && !status; i++) {
        double a = RG_PI * (double)i / (double)count, b = RG_PI * (double)(i + 1) / (double)count;
        /* Neighbours share their corners to the last bit; the feet are level. */
        double sin_a = i ? rg_sin(a) : 0, sin_b = i + 1 < count ? rg_sin(b) : 0;
        rg_vec3 corners[4] = {{inner * rg_cos(a), 0, inner * sin_a},
                              {outer * rg_cos(a), 0, outer * sin_a},
                              {outer * rg_cos(b), 0, outer * sin_b},
                              {inner * rg_cos(b), 0, inner * sin_b}};
        rg_shape_def shape = rg_shape_def_polygon(corners, 4);
        rg_body_def def = rg_body_def_default();
        status = add_named(scene, "stone", i, &shape, 2000, &def, error);
    }
    if (!status)
        finish(scene, ARCH_LIMIT, values[ARCH_THICKNESS],
               values[ARCH_THICKNESS] > ARCH_LIMIT ? STANDS : FALLS);
    return status;
}

/* ---- overhang ---- */

static const char *const overhang_stacks[] = {"harmonic", "spinal", NULL};
enum { OVERHANG_BRICKS, OVERHANG_SHARE, OVERHANG_STACK };
static const rg_builtin_parameter overhang_parameters[] = {
    {"bricks", "8", "weight of the stack in bricks", 1, 1000, true, NULL},
    {"share", "0.999", "of the farthest that they can reach", 0, 2, false, NULL},
    {"stack", "harmonic", "harmonic, or spinal: fewer bricks, with counterweights at their backs",
     .words = overhang_stacks},
};

/* Of a stack with one brick a level, in weights and lengths of a brick, from the top: what level i
 * weighs with all above it, load[i + 1], and load[0] = 0. */
typedef struct spine {
    size_t levels;
    double reach, load[1001];
} spine;

/* Level i reaches out over the next by (1/2 + w) / W, where w is the counterweight at the rear edge
 * of its brick and W what it weighs with all above: then the centre of mass is over the edge. */
static double spine_offset(const spine *of, size_t level) {
    return 1 - (of->load[level] + 0.5) / of->load[level + 1];
}

/* The sum of the offsets is stationary where W[i + 1] = W[i]^2 / (W[i - 1] + 1/2): from W[1] on all
 * others follow. Returns whether the last one is beyond `weight`. */
static bool spine_from(spine *of, double first, double weight) {
    of->load[0] = 0, of->load[1] = first;
    for (size_t i = 1; i < of->levels; i++) {
        of->load[i + 1] = of->load[i] * of->load[i] / (of->load[i - 1] + 0.5);
        if (of->load[i + 1] > weight)
            return true;
    }
    return of->load[of->levels] > weight;
}

/* The spinal stack of this weight that reaches farthest (Paterson and Zwick, Overhang, 2009:
 * loaded spinal stacks): with more levels as long as that helps and the uppermost brick
 * can be as light as a brick. One brick a level and no counterweights is the harmonic stack. */
static void find_spine(spine *best, double weight) {
    *best = (spine){.levels = 1, .reach = 1 - 0.5 / weight, .load = {0, weight}};
    spine next;
    for (size_t levels = 2; levels <= (size_t)weight; levels++) {
        double low = 1, high = weight;
        next.levels = levels, next.reach = 0;
        if (spine_from(&next, low, weight))
            break;
        for (double middle; middle = low + (high - low) / 2, low < middle && middle < high;)
            *(spine_from(&next, middle, weight) ? &high : &low) = middle;
        spine_from(&next, low, weight);
        next.load[levels] = weight;
        for (size_t i = 0; i < levels; i++)
            next.reach += spine_offset(&next, i);
        if (next.reach <= best->reach)
            break;
        *best = next;
    }
}

/* The k-th brick from the top reaches out over the next one by L / (2 k): the centre of mass of all
 * above is over its edge. */
static void find_harmonic(spine *of, size_t bricks) {
    of->levels = bricks, of->reach = 0;
    for (size_t i = 0; i <= bricks; i++)
        of->load[i] = (double)i;
    for (size_t i = 0; i < bricks; i++)
        of->reach += spine_offset(of, i);
}

/* A rectangle in the plane, standing on z = low. */
typedef struct slab {
    double left, right, low, high, density;
} slab;

static rg_status add_slab(rg_scene *scene, const char *stem, size_t index, slab of, bool fixed,
                          rg_error *error) {
    const rg_vec3 corners[4] = {
        {of.left, 0, of.low}, {of.right, 0, of.low}, {of.right, 0, of.high}, {of.left, 0, of.high}};
    rg_shape_def shape = rg_shape_def_polygon(corners, 4);
    rg_body_def def = rg_body_def_default();
    if (fixed)
        def.motion = RG_MOTION_FIXED;
    return add_named(scene, stem, index, &shape, of.density, &def, error);
}

/* The counterweight of a level: half of it on its brick, less the share of its half-width by which
 * the stack keeps off its limit, and low enough to stay below the counterweight of the level above,
 * whose brick ends `room` farther out. */
static rg_status add_counterweight(rg_scene *scene, const spine *of, size_t level, slab brick,
                                   double share, rg_error *error) {
    double weight = of->load[level + 1] - of->load[level] - 1, length = brick.right - brick.left;
    double half = 0.4 * length * spine_offset(of, level ? level - 1 : 0);
    double middle = brick.left + (1 - share) * half, height = 0.8 * (brick.high - brick.low);
    slab lead = {middle - half, middle + half, brick.high, brick.high + height, 0};
    lead.density = brick.density * weight * length * (brick.high - brick.low) / (2 * half * height);
    return add_slab(scene, "weight", level, lead, false, error);
}

static rg_status build_overhang(rg_scene *scene, const double *values, rg_error *error) {
    const double length = 0.24, height = 0.07, density = 2000;
    const double table = 0.5; /* m: its height, and half its length */
    double share = values[OVERHANG_SHARE], reach = 0;
    bool spinal = values[OVERHANG_STACK] == 1 && values[OVERHANG_BRICKS] > 1;
    spine best;
    if (spinal)
        find_spine(&best, values[OVERHANG_BRICKS]);
    else
        find_harmonic(&best, (size_t)values[OVERHANG_BRICKS]);
    standing *state = begin(scene, 1 + (spinal ? 2 : 1) * best.levels, 0.5, 1e-3, error);
    rg_status status = state ? RG_OK : error ? error->status : RG_OUT_OF_MEMORY;
    if (!status)
        status = add_slab(scene, "table", 0, (slab){-2 * table, 0, 0, table, density}, true, error);
    for (size_t i = 0; i < best.levels && !status; i++) { /* from below */
        size_t level = best.levels - 1 - i;
        reach += share * length * spine_offset(&best, level);
        double low = table + height * (double)i, high = table + height * (double)(i + 1);
        slab brick = {reach - length, reach, low, high, density};
        status = add_slab(scene, "brick", i, brick, false, error);
        if (spinal && !status)
            status = add_counterweight(scene, &best, level, brick, share, error);
    }
    if (!status)
        finish(scene, length * best.reach, reach, share < 1 ? STANDS : FALLS);
    return status;
}

/* ---- card-castle ---- */

enum { CASTLE_STOREYS, CASTLE_LEAN, CASTLE_MU };
static const rg_builtin_parameter castle_parameters[] = {
    {"storeys", "4", "of leaning cards", 1, 20, true, NULL},
    {"lean", "15", "degrees from the vertical", 5, 40, false, NULL},
    {"mu", "0.5", "coefficient of friction", 0, 100, false, NULL},
};

static rg_status add_card(rg_scene *scene, size_t *index, rg_vec3 position, double turn,
                          rg_vec3 size, rg_error *error) {
    rg_shape_def shape = rg_shape_def_box(size.x, size.y, size.z);
    rg_body_def def = rg_body_def_default();
    def.pose.position = position;
    def.pose.orientation = rg_quat_of_rotation_vector(rg_vec3_make(0, turn, 0));
    return add_named(scene, "card", (*index)++, &shape, 1100, &def, error);
}

/* Cards 88 x 63 x 0.3 mm, in pairs that lean against each other; on each storey, cards from top to
 * top carry the next, which has one pair less. */
static rg_status build_castle(rg_scene *scene, const double *values, rg_error *error) {
    const double length = 0.088, width = 0.063, thick = 3e-4, play = 2e-4;
    size_t storeys = (size_t)values[CASTLE_STOREYS], index = 0;
    size_t count = storeys * (storeys + 1) + storeys * (storeys - 1) / 2;
    double lean = values[CASTLE_LEAN] * RG_PI / 180, s = rg_sin(lean), c = rg_cos(lean);
    double tall = length * c + thick * s;        /* of a storey */
    double reach = (length * s + thick * c) / 2; /* from a card's centre to where two meet */
    standing *state = begin(scene, count, values[CASTLE_MU], 1e-3, error);
    rg_status status = state ? RG_OK : error ? error->status : RG_OUT_OF_MEMORY;
    double pitch = length + play;
    for (size_t storey = 0; storey < storeys; storey++) {
        size_t pairs = storeys - storey;
        double z = (tall + thick) * (double)storey;
        for (size_t i = 0; i < pairs && !status; i++) {
            double x = pitch * ((double)i - 0.5 * (double)(pairs - 1));
            for (int side = -1; side <= 1 && !status; side += 2)
                status = add_card(scene, &index, rg_vec3_make(x + side * reach, 0, z + tall / 2),
                                  -side * lean, rg_vec3_make(thick, width, length), error);
        }
        for (size_t i = 0; i + 1 < pairs && !status; i++) {
            double x = pitch * ((double)i - 0.5 * (double)(pairs - 2));
            status = add_card(scene, &index, rg_vec3_make(x, 0, z + tall + thick / 2), 0,
                              rg_vec3_make(length, width, thick), error);
        }
    }
    /* A card of weight W under a load P on its upper edge pushes with (W / 2 + P) tan(lean) and is
     * pushed up by W + P. */
    double mu = values[CASTLE_MU], most = s / c;
    if (!status)
        finish(scene, 0, 0, mu > 1.01 * most ? STANDS : mu < 0.49 * most ? FALLS : OPEN);
    return status;
}

/* ---- dry-wall ---- */

enum { WALL_FLUID, WALL_COURSES, WALL_MU };
static const rg_builtin_parameter dry_wall_parameters[] = {
    {"fluid", "700", "kg/m^3: of a fluid that would press as the earth behind the wall does", 0,
     1e5, false, NULL},
    {"courses", "12", "number of courses", 1, 100, true, NULL},
    {"mu", "0.8", "coefficient of friction", 0, 100, false, NULL},
};

/* A wall of courses without mortar, its back at x = 0, on which the earth presses. */
typedef struct courses {
    size_t count;
    double height, base, top, density; /* m: of the wall, its width below and above; kg/m^3 */
} courses;

static double course_width(const courses *of, size_t i) { /* from below */
    return of->base + (of->top - of->base) * (double)i / (double)of->count;
}

/* The density of fluid at which the wall gives way. At each joint the forces of what is above are
 * known: the earth pushes by fluid g b^2 / 2 at a third of the depth b above the joint, and weights
 * hold. It slides, or it rocks about the joint's front edge, at whichever joint is the weakest. */
static double wall_limit(const courses *of, double mu) {
    double limit = INFINITY, mass = 0, moment = 0; /* per metre; about x = 0, without g */
    for (size_t i = of->count; i-- > 0;) {
        double width = course_width(of, i), step = of->height / (double)of->count;
        double part = of->density * width * step, depth = step * (double)(of->count - i);
        mass += part, moment += part * width / 2;
        double rocks = 6 * (mass * width - moment) / (depth * depth * depth);
        limit = fmin(limit, fmin(rocks, 2 * mu * mass / (depth * depth)));
    }
    return limit;
}

/* The pressure of the earth on the back of a course, as one force where its resultant acts. */
static rg_status press(rg_scene *scene, const courses *of, size_t i, double fluid,
                       rg_error *error) {
    double g = rg_length(rg_world_gravity(scene->world)), step = of->height / (double)of->count;
    double below = step * (double)(of->count - i), above = below - step; /* m under the top */
    double squares = below * below - above * above;
    double cubes = below * below * below - above * above * above;
    rg_force_def push = rg_force_def_default(RG_FORCE_CONSTANT);
    push.body = rg_world_body_at(scene->world, i + 1);
    push.force.x = fluid * g * squares / 2;
    push.point.z = of->height - 2 * cubes / (3 * squares);
    return rg_world_add_force(scene->world, &push, &(rg_force_id){0}, error);
}

static rg_status build_dry_wall(rg_scene *scene, const double *values, rg_error *error) {
    const courses of = {(size_t)values[WALL_COURSES], 1.2, 0.5, 0.35, 2200};
    double step = of.height / (double)of.count, fluid = values[WALL_FLUID];
    standing *state = begin(scene, of.count, values[WALL_MU], 1e-3, error);
    rg_status status = state ? RG_OK : error ? error->status : RG_OUT_OF_MEMORY;
    for (size_t i = 0; i < of.count && !status; i++) {
        double low = step * (double)i, high = step * (double)(i + 1);
        slab course = {0, course_width(&of, i), low, high, of.density};
        status = add_slab(scene, "course", i, course, false, error);
        if (!status)
            status = press(scene, &of, i, fluid, error);
    }
    double limit = wall_limit(&of, values[WALL_MU]);
    if (!status)
        finish(scene, limit, fluid, fluid < limit ? STANDS : FALLS);
    return status;
}

/* ---- the list ---- */

const rg_builtin rg_builtin_gallery[] = {
    {"arch", "a semicircular arch of stones, a little thicker than the thinnest that stands",
     RG_PARAMETERS(arch_parameters), RG_PLANAR, 5, 0, build_arch, observe, measure},
    {"overhang", "bricks that reach out over a table nearly as far as they can",
     RG_PARAMETERS(overhang_parameters), RG_PLANAR, 5, 0, build_overhang, observe, measure},
    {"card-castle", "a castle of playing cards", RG_PARAMETERS(castle_parameters), 0, 60, 0,
     build_castle, observe, measure},
    {"dry-wall", "courses of stone without mortar that hold back earth",
     RG_PARAMETERS(dry_wall_parameters), RG_PLANAR, 5, 0, build_dry_wall, observe, measure},
    {0},
};
