/* Chains of faces: cutting, volume, sides, components.
 *
 * A face that a plane cuts keeps what of its edges is on one side, and is closed along the line in
 * which the planes meet: the points where edges cross that line are sorted along it, and between
 * two of them there is face where more edges have left than entered. A corner on the plane counts
 * as on the other side, for either half, so that edges along the line are found in the same way.
 * What closes the faces of a half, reversed, is the outline of its section.
 *
 * A point that a cut makes is computed from the two ends of its edge in the order of their
 * coordinates, so that both faces of the edge get the same bits and the chain stays closed
 * exactly. Tested by tests/shape/test_decompose.c. */
#include "shape/shape_chain.h"

#include "base/base_math.h"
#include "base/base_memory.h"
#include "base/base_sets.h"
#include "base/base_sort.h"
#include "shape/shape_hull.h"
#include "shape/shape_mass.h"

#include <stdlib.h>
#include <string.h>

void rg_chain_free(rg_chain *chain, const rg_allocator *memory) {
    rg_release(memory, chain->faces);
    rg_release(memory, chain->edges);
    *chain = (rg_chain){0};
}

static int compare_points(rg_vec3 a, rg_vec3 b) {
    return rg_point_compare(&a, &b, NULL);
}

/* A face without edges, at the end. */
static rg_status begin_face(rg_chain *chain, rg_cut_plane plane, bool surface,
                            const rg_allocator *memory) {
    if (rg_array_grow(memory, &chain->faces, &chain->face_capacity, chain->face_count + 1))
        return RG_OUT_OF_MEMORY;
    chain->faces[chain->face_count++] = (rg_chain_face){plane, surface, chain->edge_count, 0};
    return RG_OK;
}

/* An edge of the last face. */
static rg_status add_edge(rg_chain *chain, rg_vec3 from, rg_vec3 to, const rg_allocator *memory) {
    if (compare_points(from, to) == 0)
        return RG_OK;
    if (rg_array_grow(memory, &chain->edges, &chain->edge_capacity, chain->edge_count + 1))
        return RG_OUT_OF_MEMORY;
    chain->edges[chain->edge_count++] = (rg_chain_edge){from, to};
    chain->faces[chain->face_count - 1].count++;
    return RG_OK;
}

static void drop_empty_face(rg_chain *chain) {
    if (chain->face_count > 0 && chain->faces[chain->face_count - 1].count == 0)
        chain->face_count--;
}

rg_status rg_chain_add_triangle(rg_chain *chain, const rg_vec3 corner[3],
                                const rg_allocator *memory) {
    rg_vec3 area = rg_cross(rg_sub(corner[1], corner[0]), rg_sub(corner[2], corner[0]));
    if (!(rg_length(area) > 0))
        return RG_OK;
    rg_cut_plane plane = {.normal = rg_normalised(area)};
    plane.offset = rg_dot(plane.normal, corner[0]);
    rg_status status = begin_face(chain, plane, true, memory);
    for (int i = 0; i < 3 && !status; i++)
        status = add_edge(chain, corner[i], corner[(i + 1) % 3], memory);
    return status;
}

double rg_chain_volume(const rg_chain *chain) {
    if (chain->edge_count == 0)
        return 0;
    rg_moment_sum sum = rg_moment_begin(chain->edges[0].from);
    for (size_t f = 0; f < chain->face_count; f++) {
        const rg_chain_edge *edges = chain->edges + chain->faces[f].first;
        for (size_t i = 1; i < chain->faces[f].count; i++)
            rg_moment_add_triangle(&sum, edges[0].from, edges[i].from, edges[i].to);
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
    rg_chain_side *sides = rg_allocate(memory, chain->edge_count, sizeof *sides);
    if (!sides)
        return NULL;
    for (size_t f = 0; f < chain->face_count; f++)
        for (size_t k = 0; k < chain->faces[f].count; k++) {
            size_t i = chain->faces[f].first + k;
            sides[i] = side_between(chain->edges[i].from, chain->edges[i].to);
            sides[i].face = (uint32_t)f;
            sides[i].edge = (uint32_t)i;
        }
    if (rg_sort(sides, chain->edge_count, sizeof *sides, compare_sides, NULL, memory) != RG_OK) {
        rg_release(memory, sides);
        return NULL;
    }
    return sides;
}

/* --- components ------------------------------------------------------------------------------- */

typedef struct edge_start {
    rg_vec3 point;
    uint32_t edge;
} edge_start;

static int compare_starts(const void *a, const void *b, const void *context) {
    (void)context;
    return compare_points(((const edge_start *)a)->point, ((const edge_start *)b)->point);
}

/* Joins the edges of a section's loops, each of which ends where another one starts. */
static rg_status join_loops(const rg_chain *chain, const rg_chain_face *face, uint32_t *parent,
                            const rg_allocator *memory) {
    edge_start *starts = rg_allocate(memory, 2 * face->count, sizeof *starts);
    if (!starts)
        return RG_OUT_OF_MEMORY;
    for (size_t k = 0; k < face->count; k++) {
        const rg_chain_edge *e = &chain->edges[face->first + k];
        starts[2 * k] = (edge_start){e->from, (uint32_t)(face->first + k)};
        starts[2 * k + 1] = (edge_start){e->to, (uint32_t)(face->first + k)};
    }
    rg_status status =
        rg_sort(starts, 2 * face->count, sizeof *starts, compare_starts, NULL, memory);
    for (size_t k = 1; k < 2 * face->count && !status; k++)
        if (compare_starts(&starts[k - 1], &starts[k], NULL) == 0)
            rg_sets_join(parent, starts[k - 1].edge, starts[k].edge);
    rg_release(memory, starts);
    return status;
}

/* Numbers the connected surfaces: number[i] of edge i, from 0. */
static rg_status number_edges(const rg_chain *chain, uint32_t *number, size_t *count,
                              const rg_allocator *memory) {
    rg_chain_side *sides = rg_chain_sides(chain, memory);
    uint32_t *parent = rg_allocate(memory, chain->edge_count, sizeof *parent);
    rg_status status = sides && parent ? RG_OK : RG_OUT_OF_MEMORY;
    if (!status)
        rg_sets_start(parent, chain->edge_count);
    for (size_t i = 1; i < chain->edge_count && !status; i++)
        if (rg_chain_same_edge(&sides[i - 1], &sides[i]))
            rg_sets_join(parent, sides[i - 1].edge, sides[i].edge);
    for (size_t f = 0; f < chain->face_count && !status; f++) {
        const rg_chain_face *face = &chain->faces[f];
        if (!face->surface)
            status = join_loops(chain, face, parent, memory);
        for (size_t k = 1; face->surface && k < face->count; k++)
            rg_sets_join(parent, (uint32_t)face->first, (uint32_t)(face->first + k));
    }
    *count = status ? 0 : rg_sets_number(parent, chain->edge_count, number);
    rg_release(memory, sides);
    rg_release(memory, parent);
    return status;
}

/* `last`: the face, plus 1, that a part began last. */
static rg_status share_out(const rg_chain *chain, const uint32_t *number, size_t *last,
                           rg_chain *parts, const rg_allocator *memory) {
    rg_status status = RG_OK;
    for (size_t f = 0; f < chain->face_count; f++) {
        const rg_chain_face *face = &chain->faces[f];
        for (size_t i = face->first; i < face->first + face->count && !status; i++) {
            rg_chain *part = &parts[number[i]];
            if (last[number[i]] != f + 1)
                status = begin_face(part, face->plane, face->surface, memory);
            last[number[i]] = f + 1;
            if (!status)
                status = add_edge(part, chain->edges[i].from, chain->edges[i].to, memory);
        }
    }
    return status;
}

rg_status rg_chain_split(const rg_chain *chain, rg_chain **parts, size_t *count,
                         const rg_allocator *memory) {
    uint32_t *number = rg_allocate(memory, chain->edge_count, sizeof *number);
    size_t *last = NULL;
    *parts = NULL;
    *count = 0;
    rg_status status = number ? number_edges(chain, number, count, memory) : RG_OUT_OF_MEMORY;
    if (!status) {
        *parts = rg_allocate_zeroed(memory, *count, sizeof **parts);
        last = rg_allocate_zeroed(memory, *count, sizeof *last);
        status = *parts && last ? share_out(chain, number, last, *parts, memory) : RG_OUT_OF_MEMORY;
    }
    for (size_t i = 0; *parts && status && i < *count; i++)
        rg_chain_free(&(*parts)[i], memory);
    if (status) {
        rg_release(memory, *parts);
        *parts = NULL;
        *count = 0;
    }
    rg_release(memory, number);
    rg_release(memory, last);
    return status;
}

/* --- cutting ---------------------------------------------------------------------------------- */

/* Where an edge leaves a half (turn 1) or enters it (-1). */
typedef struct crossing {
    double along; /* the line of both planes */
    rg_vec3 point;
    int turn;
} crossing;

typedef struct cut {
    const rg_cut_plane *plane;
    double near;
    int sign; /* of the distances in this half */
    rg_chain *half;
    rg_chain_side *closing; /* edges in the plane, as the half's faces run */
    size_t closing_count, closing_capacity;
    crossing *crossings; /* of one face */
    size_t crossing_count, crossing_capacity;
    const rg_allocator *memory;
} cut;

static double height_of(const cut *c, rg_vec3 p) {
    double d = rg_dot(c->plane->normal, p) - c->plane->offset;
    return fabs(d) <= c->near ? 0 : c->sign * d;
}

static rg_vec3 point_between(rg_vec3 a, double da, rg_vec3 b, double db) {
    if (da == 0 || db == 0)
        return da == 0 ? a : b;
    if (compare_points(a, b) > 0)
        return point_between(b, db, a, da);
    return rg_add_scaled(a, da / (da - db), rg_sub(b, a));
}

static int compare_crossings(const void *a, const void *b, const void *context) {
    const crossing *s = a, *t = b;
    (void)context;
    if (s->along != t->along)
        return s->along < t->along ? -1 : 1;
    return compare_points(s->point, t->point);
}

static rg_status note_closing(cut *c, rg_vec3 from, rg_vec3 to) {
    if (rg_array_grow(c->memory, &c->closing, &c->closing_capacity, c->closing_count + 1))
        return RG_OUT_OF_MEMORY;
    c->closing[c->closing_count++] = side_between(from, to);
    return RG_OK;
}

/* Closes the last face along the line, from where edges leave to where they enter. */
static rg_status close_face(cut *c) {
    int open = 0;
    rg_status status = rg_sort(c->crossings, c->crossing_count, sizeof *c->crossings,
                               compare_crossings, NULL, c->memory);
    for (size_t i = 0, end, last = 0; i < c->crossing_count && !status; i = end) {
        rg_vec3 a = c->crossings[last].point, b = c->crossings[i].point;
        int turn = 0;
        for (end = i; end < c->crossing_count &&
                      compare_points(c->crossings[i].point, c->crossings[end].point) == 0;
             end++)
            turn += c->crossings[end].turn;
        if (turn == 0)
            continue;
        for (int k = 0; k < abs(open) && !status; k++) {
            rg_vec3 from = open > 0 ? a : b, to = open > 0 ? b : a;
            status = add_edge(c->half, from, to, c->memory);
            if (!status)
                status = note_closing(c, from, to);
        }
        open += turn;
        last = i;
    }
    return status;
}

static rg_status cut_edge(cut *c, rg_vec3 line, const rg_chain_edge *e) {
    double from = height_of(c, e->from), to = height_of(c, e->to);
    if (from <= 0 && to <= 0)
        return RG_OK;
    if (from > 0 && to > 0)
        return add_edge(c->half, e->from, e->to, c->memory);
    rg_vec3 p = point_between(e->from, from, e->to, to);
    if (rg_array_grow(c->memory, &c->crossings, &c->crossing_capacity, c->crossing_count + 1))
        return RG_OUT_OF_MEMORY;
    c->crossings[c->crossing_count++] = (crossing){rg_dot(line, p), p, from > 0 ? 1 : -1};
    return from > 0 ? add_edge(c->half, e->from, p, c->memory)
                    : add_edge(c->half, p, e->to, c->memory);
}

/* A face in the plane: the solid is on the side that its normal points away from. */
static rg_status keep_face(cut *c, const rg_chain_face *face, const rg_chain_edge *edges) {
    rg_status status = begin_face(c->half, face->plane, face->surface, c->memory);
    for (size_t i = 0; i < face->count && !status; i++) {
        status = add_edge(c->half, edges[i].from, edges[i].to, c->memory);
        if (!status)
            status = note_closing(c, edges[i].from, edges[i].to);
    }
    return status;
}

static rg_status cut_face(cut *c, const rg_chain *chain, const rg_chain_face *face) {
    const rg_chain_edge *edges = chain->edges + face->first;
    bool flat = true;
    for (size_t i = 0; i < face->count && flat; i++)
        flat = height_of(c, edges[i].from) == 0;
    if (flat)
        return c->sign * rg_dot(face->plane.normal, c->plane->normal) < 0
                   ? keep_face(c, face, edges)
                   : RG_OK;
    rg_vec3 line = rg_cross(face->plane.normal, c->plane->normal);
    c->crossing_count = 0;
    rg_status status = begin_face(c->half, face->plane, face->surface, c->memory);
    for (size_t i = 0; i < face->count && !status; i++)
        status = cut_edge(c, line, &edges[i]);
    if (!status)
        status = close_face(c);
    drop_empty_face(c->half);
    return status;
}

/* The section: what closes the faces, where it does not cancel, reversed. */
static rg_status add_section(cut *c) {
    rg_cut_plane plane = {rg_scale(-c->sign, c->plane->normal), -c->sign * c->plane->offset};
    rg_status status =
        rg_sort(c->closing, c->closing_count, sizeof *c->closing, compare_sides, NULL, c->memory);
    if (!status)
        status = begin_face(c->half, plane, false, c->memory);
    for (size_t i = 0, end; i < c->closing_count && !status; i = end) {
        int net = 0;
        for (end = i;
             end < c->closing_count && rg_chain_same_edge(&c->closing[i], &c->closing[end]); end++)
            net += c->closing[end].turned ? -1 : 1;
        const rg_chain_side *e = &c->closing[i];
        for (int k = 0; k < abs(net) && !status; k++)
            status = net > 0 ? add_edge(c->half, e->high, e->low, c->memory)
                             : add_edge(c->half, e->low, e->high, c->memory);
    }
    drop_empty_face(c->half);
    return status;
}

rg_status rg_chain_cut(const rg_chain *chain, const rg_cut_plane *plane, double near,
                       rg_chain half[2], const rg_allocator *memory) {
    half[0] = half[1] = (rg_chain){0};
    rg_status status = RG_OK;
    for (int k = 0; k < 2 && !status; k++) {
        cut c = {plane, near, k == 0 ? -1 : 1, &half[k], .memory = memory};
        for (size_t f = 0; f < chain->face_count && !status; f++)
            status = cut_face(&c, chain, &chain->faces[f]);
        if (!status)
            status = add_section(&c);
        rg_release(memory, c.closing);
        rg_release(memory, c.crossings);
    }
    for (int k = 0; k < 2 && status; k++)
        rg_chain_free(&half[k], memory);
    return status;
}
