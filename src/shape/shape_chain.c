/* Chains of triangles: cutting, volume, sides, components.
 *
 * A corner that a cut makes is computed from the two ends of its edge in the order of their
 * coordinates, so that both triangles of the edge get the same bits and the chain stays closed
 * exactly. Tested by tests/shape/test_decompose.c. */
#include "shape/shape_chain.h"

#include "base/base_math.h"
#include "base/base_memory.h"
#include "base/base_sets.h"
#include "base/base_sort.h"
#include "shape/shape_hull.h"
#include "shape/shape_mass.h"

#include <string.h>

void rg_chain_free(rg_chain *chain, const rg_allocator *memory) {
    rg_release(memory, chain->triangles);
    *chain = (rg_chain){0};
}

static int compare_points(rg_vec3 a, rg_vec3 b) {
    return rg_point_compare(&a, &b, NULL);
}

rg_status rg_chain_add(rg_chain *chain, const rg_vec3 corner[3], bool surface,
                       const rg_allocator *memory) {
    if (compare_points(corner[0], corner[1]) == 0 || compare_points(corner[1], corner[2]) == 0 ||
        compare_points(corner[2], corner[0]) == 0)
        return RG_OK; /* its sides cancel each other */
    if (rg_array_grow(memory, &chain->triangles, &chain->capacity, chain->count + 1) != RG_OK)
        return RG_OUT_OF_MEMORY;
    rg_chain_triangle *t = &chain->triangles[chain->count++];
    memcpy(t->corner, corner, sizeof t->corner);
    t->surface = surface;
    return RG_OK;
}

double rg_chain_volume(const rg_chain *chain) {
    if (chain->count == 0)
        return 0;
    rg_moment_sum sum = rg_moment_begin(chain->triangles[0].corner[0]);
    for (size_t i = 0; i < chain->count; i++) {
        const rg_vec3 *p = chain->triangles[i].corner;
        rg_moment_add_triangle(&sum, p[0], p[1], p[2]);
    }
    return rg_moment_volume(&sum);
}

/* --- sides ------------------------------------------------------------------------------------ */

static int compare_sides(const void *a, const void *b, const void *context) {
    const rg_chain_side *s = a, *t = b;
    (void)context;
    int order = compare_points(s->low, t->low);
    return order ? order : compare_points(s->high, t->high);
}

bool rg_chain_same_edge(const rg_chain_side *a, const rg_chain_side *b) {
    return compare_sides(a, b, NULL) == 0;
}

static rg_chain_side side_between(rg_vec3 from, rg_vec3 to) {
    bool turned = compare_points(from, to) > 0;
    return (rg_chain_side){.low = turned ? to : from, .high = turned ? from : to, .turned = turned};
}

rg_chain_side *rg_chain_sides(const rg_chain *chain, const rg_allocator *memory) {
    rg_chain_side *sides = rg_allocate(memory, 3 * chain->count, sizeof *sides);
    if (!sides)
        return NULL;
    for (size_t i = 0; i < 3 * chain->count; i++) {
        const rg_vec3 *p = chain->triangles[i / 3].corner;
        sides[i] = side_between(p[i % 3], p[(i + 1) % 3]);
        sides[i].triangle = (uint32_t)(i / 3);
        sides[i].corner = (uint8_t)((i + 2) % 3);
    }
    if (rg_sort(sides, 3 * chain->count, sizeof *sides, compare_sides, NULL, memory) != RG_OK) {
        rg_release(memory, sides);
        return NULL;
    }
    return sides;
}

rg_status rg_chain_components(const rg_chain *chain, uint32_t *piece, size_t *count,
                              const rg_allocator *memory) {
    rg_chain_side *sides = rg_chain_sides(chain, memory);
    uint32_t *parent = rg_allocate(memory, chain->count, sizeof *parent);
    bool ready = sides && parent;
    *count = 0;
    if (ready) {
        rg_sets_start(parent, chain->count);
        for (size_t i = 1; i < 3 * chain->count; i++)
            if (rg_chain_same_edge(&sides[i - 1], &sides[i]))
                rg_sets_join(parent, sides[i - 1].triangle, sides[i].triangle);
        *count = rg_sets_number(parent, chain->count, piece);
    }
    rg_release(memory, sides);
    rg_release(memory, parent);
    return ready ? RG_OK : RG_OUT_OF_MEMORY;
}

/* --- cutting ---------------------------------------------------------------------------------- */

typedef struct cut_half {
    rg_chain *chain;
    rg_chain_side *edges; /* on the plane, as the chain's triangles run */
    size_t count, capacity;
} cut_half;

/* A part of a triangle on one side: a convex polygon. */
typedef struct fragment {
    rg_vec3 corner[4];
    bool on[4]; /* the plane */
    size_t count;
} fragment;

static void put_corner(fragment *f, rg_vec3 p, bool on) {
    f->corner[f->count] = p;
    f->on[f->count++] = on;
}

static rg_vec3 crossing(rg_vec3 a, double da, rg_vec3 b, double db) {
    if (compare_points(a, b) > 0)
        return crossing(b, db, a, da);
    return rg_add_scaled(a, da / (da - db), rg_sub(b, a));
}

static rg_status add_fragment(cut_half *half, const fragment *f, bool surface,
                              const rg_allocator *memory) {
    rg_status status = RG_OK;
    for (size_t i = 2; i < f->count && !status; i++) {
        rg_vec3 corner[3] = {f->corner[0], f->corner[i - 1], f->corner[i]};
        status = rg_chain_add(half->chain, corner, surface, memory);
    }
    for (size_t i = 0; i < f->count && !status; i++) {
        size_t next = (i + 1) % f->count;
        if (!f->on[i] || !f->on[next] || compare_points(f->corner[i], f->corner[next]) == 0)
            continue;
        status = rg_array_grow(memory, &half->edges, &half->capacity, half->count + 1);
        if (!status)
            half->edges[half->count++] = side_between(f->corner[i], f->corner[next]);
    }
    return status;
}

static rg_status cut_triangle(const rg_chain_triangle *t, const rg_cut_plane *plane, double near,
                              cut_half half[2], const rg_allocator *memory) {
    double d[3];
    bool below = false, above = false;
    fragment part[2] = {{.count = 0}, {.count = 0}};
    for (int i = 0; i < 3; i++) {
        d[i] = rg_dot(plane->normal, t->corner[i]) - plane->offset;
        if (fabs(d[i]) <= near)
            d[i] = 0;
        below |= d[i] < 0;
        above |= d[i] > 0;
    }
    /* In the plane: the solid is on the side that the triangle's normal points away from. */
    if (!below && !above) {
        rg_vec3 area =
            rg_cross(rg_sub(t->corner[1], t->corner[0]), rg_sub(t->corner[2], t->corner[0]));
        below = rg_dot(area, plane->normal) > 0;
        above = !below;
    }
    for (int i = 0; i < 3; i++) {
        int k = (i + 1) % 3;
        if (d[i] <= 0 && below)
            put_corner(&part[0], t->corner[i], d[i] == 0);
        if (d[i] >= 0 && above)
            put_corner(&part[1], t->corner[i], d[i] == 0);
        if ((d[i] < 0 && d[k] > 0) || (d[i] > 0 && d[k] < 0)) {
            rg_vec3 p = crossing(t->corner[i], d[i], t->corner[k], d[k]);
            put_corner(&part[0], p, true);
            put_corner(&part[1], p, true);
        }
    }
    rg_status status = below ? add_fragment(&half[0], &part[0], t->surface, memory) : RG_OK;
    return status || !above ? status : add_fragment(&half[1], &part[1], t->surface, memory);
}

/* The fan over the edges that do not cancel each other, against their direction. */
static rg_status close_half(cut_half *half, const rg_allocator *memory) {
    if (half->count == 0)
        return RG_OK;
    rg_status status =
        rg_sort(half->edges, half->count, sizeof *half->edges, compare_sides, NULL, memory);
    const rg_vec3 *apex = NULL;
    for (size_t i = 0, end; i < half->count && !status; i = end) {
        int net = 0;
        for (end = i; end < half->count && rg_chain_same_edge(&half->edges[i], &half->edges[end]);
             end++)
            net += half->edges[end].turned ? -1 : 1;
        const rg_chain_side *e = &half->edges[i];
        if (net != 0 && !apex)
            apex = &e->low;
        for (; net != 0 && !status; net -= net > 0 ? 1 : -1) {
            rg_vec3 corner[3] = {*apex, net > 0 ? e->high : e->low, net > 0 ? e->low : e->high};
            status = rg_chain_add(half->chain, corner, false, memory);
        }
    }
    return status;
}

rg_status rg_chain_cut(const rg_chain *chain, const rg_cut_plane *plane, double near,
                       rg_chain half[2], const rg_allocator *memory) {
    cut_half side[2] = {{.chain = &half[0]}, {.chain = &half[1]}};
    half[0] = half[1] = (rg_chain){0};
    rg_status status = RG_OK;
    for (size_t i = 0; i < chain->count && !status; i++)
        status = cut_triangle(&chain->triangles[i], plane, near, side, memory);
    for (int k = 0; k < 2; k++) {
        if (!status)
            status = close_half(&side[k], memory);
        rg_release(memory, side[k].edges);
    }
    for (int k = 0; k < 2 && status; k++)
        rg_chain_free(&half[k], memory);
    return status;
}
