/* Built-in scenes that stand only where contact is exact, each beside its closed form: a
 * semicircular arch at Heyman's thickness, an overhang of bricks at the harmonic limit, a castle of
 * cards.
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

enum { OVERHANG_BRICKS, OVERHANG_SHARE };
static const rg_builtin_parameter overhang_parameters[] = {
    {"bricks", "8", "number of bricks", 1, 1000, true, NULL},
    {"share", "0.999", "of the farthest that they can reach, 1/2 + 1/4 + 1/6 + ... lengths", 0, 2,
     false, NULL},
};

/* The k-th brick from the top reaches out over the next one by L / (2 k): the centre of mass of all
 * above is over its edge. The lowest reaches out over the edge of a table. */
static rg_status build_overhang(rg_scene *scene, const double *values, rg_error *error) {
    const double length = 0.24, height = 0.07;
    size_t count = (size_t)values[OVERHANG_BRICKS];
    double share = values[OVERHANG_SHARE], reach = 0;
    standing *state = begin(scene, count + 1, 0.5, 1e-3, error);
    rg_status status = state ? RG_OK : error ? error->status : RG_OUT_OF_MEMORY;
    const double table = 0.5; /* m: its height, and half its length */
    const rg_vec3 top[4] = {{-2 * table, 0, 0}, {0, 0, 0}, {0, 0, table}, {-2 * table, 0, table}};
    if (!status) {
        rg_shape_def shape = rg_shape_def_polygon(top, 4);
        rg_body_def def = rg_body_def_default();
        def.motion = RG_MOTION_FIXED;
        status = add_named(scene, "table", 0, &shape, 2000, &def, error);
    }
    for (size_t i = 0; i < count && !status; i++) { /* from below */
        reach += share * length / (2 * (double)(count - i));
        double low = table + height * (double)i, high = table + height * (double)(i + 1);
        const rg_vec3 corners[4] = {
            {reach - length, 0, low}, {reach, 0, low}, {reach, 0, high}, {reach - length, 0, high}};
        rg_shape_def shape = rg_shape_def_polygon(corners, 4);
        rg_body_def def = rg_body_def_default();
        status = add_named(scene, "brick", i, &shape, 2000, &def, error);
    }
    if (!status)
        finish(scene, share > 0 ? reach / share : 0, reach, share < 1 ? STANDS : FALLS);
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

/* ---- the list ---- */

const rg_builtin rg_builtin_gallery[] = {
    {"arch", "a semicircular arch of stones, a little thicker than the thinnest that stands",
     RG_PARAMETERS(arch_parameters), RG_PLANAR, 5, 0, build_arch, observe, measure},
    {"overhang", "bricks that reach out over a table nearly as far as they can",
     RG_PARAMETERS(overhang_parameters), RG_PLANAR, 5, 0, build_overhang, observe, measure},
    {"card-castle", "a castle of playing cards", RG_PARAMETERS(castle_parameters), 0, 60, 0,
     build_castle, observe, measure},
    {0},
};
