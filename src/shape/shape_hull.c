/* Convex hull of points, coplanar facets merged into polygons.
 *
 * Qhull (Barber, Dobkin and Huhdanpaa, The Quickhull algorithm for convex hulls, ACM TOMS 1996)
 * finds the facets. Around it:
 *
 * - Points are sorted and equal ones dropped, so that the result does not depend on their order.
 * - Qhull sees them scaled to unit size about the middle of their box, so that its tolerances mean
 *   the same at every size and place. The vertices of the result are the caller's points, bit for
 *   bit.
 * - Qhull merges what is coplanar to rounding. Points from files are coplanar to a few more digits
 *   than that, so facets are merged again: from the largest facet on, neighbours whose corners all
 *   lie within COPLANAR of its plane join it. A vertex where fewer than three merged facets meet is
 *   no vertex and is dropped. Thickness is measured from the first facet's plane, so that it cannot
 *   add up along a chain of merges.
 * - Noise in coordinates leaves slivers along edges. Their normals are found from the caller's
 * points in double length arithmetic (rg_loop_area); rounding would tilt them by 1e-16 over their
 * width.
 *
 * Centre: the centroid. In every direction it lies at least a quarter of the width inside
 * (Minkowski and Radon; a third in the plane), and no ball inside has a radius above half the
 * smallest width; so the inradius about the centroid is at least half the largest possible one (two
 * thirds in the plane), and nothing is gained by looking for a better centre.
 *
 * Fails: RG_DEGENERATE_GEOMETRY if the points have no volume to speak of. Qhull takes its memory
 * from malloc, for the time of the call; when it runs out the status is RG_OUT_OF_MEMORY. It prints
 * into a buffer that is thrown away, and its error exits come back as return codes. Its time is
 * O(n log n), but quadratic in the number of corners of one facet (2 s for 5000). */
#include "shape/shape_hull.h"

#include "base/base_math.h"
#include "base/base_memory.h"
#include "base/base_sort.h"
#include "base/base_text.h"
#include "shape/shape.h"

#include <libqhull_r/qhull_ra.h>

#include <stdio.h>
#include <string.h>

/* In units of the largest extent of the points. Facets within COPLANAR of a plane are one facet. A
 * set of points thinner than FLAT has no volume; it must be well above COPLANAR. CONVEX is what a
 * neighbour's corner may stick out of a facet's plane at most, or the hull is not accepted. */
#define COPLANAR 1e-11
#define FLAT     1e-9
#define CONVEX   1e-10

/* Loops that own their arrays; vertex numbers refer to the sorted points. */
typedef struct loop_list {
    uint32_t *start, *vertices;
    uint32_t facet_count;
    size_t start_capacity, vertex_capacity;
    uint32_t used; /* entries in `vertices` */
} loop_list;

typedef struct builder {
    const rg_allocator *allocator;
    rg_error *error;
    rg_vec3 *points; /* sorted, without duplicates: the caller's coordinates */
    size_t count;
    rg_vec3 middle;
    double size;
    double coplanar; /* metres */
    rg_vec3 *unit;   /* the points scaled to unit size */
    loop_list raw, merged;
} builder;

static void free_loops(builder *b, loop_list *loops) {
    rg_release(b->allocator, loops->start);
    rg_release(b->allocator, loops->vertices);
    memset(loops, 0, sizeof *loops);
}

static rg_status add_corner(builder *b, loop_list *loops, uint32_t vertex) {
    rg_status status = rg_array_grow(b->allocator, &loops->vertices, &loops->vertex_capacity,
                                     (size_t)loops->used + 1);
    if (status == RG_OK)
        loops->vertices[loops->used++] = vertex;
    return status;
}

/* Ends the facet whose corners were added since the last one ended. */
static rg_status end_facet(builder *b, loop_list *loops) {
    rg_status status = rg_array_grow(b->allocator, &loops->start, &loops->start_capacity,
                                     (size_t)loops->facet_count + 2);
    if (status != RG_OK)
        return status;
    if (loops->facet_count == 0)
        loops->start[0] = 0;
    loops->start[++loops->facet_count] = loops->used;
    return RG_OK;
}

/* ------------------------------------------------------------------ points */

int rg_point_compare(const void *a, const void *b, const void *context) {
    (void)context;
    const rg_vec3 *p = a, *q = b;
    if (p->x != q->x)
        return p->x < q->x ? -1 : 1;
    if (p->y != q->y)
        return p->y < q->y ? -1 : 1;
    if (p->z != q->z)
        return p->z < q->z ? -1 : 1;
    return 0;
}

static rg_status take_points(builder *b, const rg_vec3 *points, size_t count) {
    b->points = rg_allocate(b->allocator, count, sizeof *b->points);
    b->unit = rg_allocate(b->allocator, count, sizeof *b->unit);
    if (!b->points || !b->unit)
        return RG_OUT_OF_MEMORY;
    for (size_t i = 0; i < count; i++) /* + 0: no negative zeros, which would sort as equal */
        b->points[i] = rg_vec3_make(points[i].x + 0.0, points[i].y + 0.0, points[i].z + 0.0);
    rg_status status =
        rg_sort(b->points, count, sizeof *b->points, rg_point_compare, NULL, b->allocator);
    if (status != RG_OK)
        return status;
    for (size_t i = 0; i < count; i++)
        if (b->count == 0 || rg_point_compare(&b->points[b->count - 1], &b->points[i], NULL) != 0)
            b->points[b->count++] = b->points[i];
    rg_vec3 low = b->points[0], high = low;
    for (size_t i = 1; i < b->count; i++) {
        low = rg_min(low, b->points[i]);
        high = rg_max(high, b->points[i]);
    }
    rg_vec3 extent = rg_sub(high, low);
    b->middle = rg_add_scaled(low, 0.5, extent);
    b->size = rg_largest_entry(extent);
    for (size_t i = 0; i < b->count; i++) {
        rg_vec3 p = rg_sub(b->points[i], b->middle);
        b->unit[i] = rg_vec3_make(p.x / b->size, p.y / b->size, p.z / b->size);
    }
    return RG_OK;
}

/* Farthest from the first point, then from the line, then from the plane so found: if the last is
 * nothing, all points are in that plane. */
static rg_status check_thickness(const builder *b, size_t given) {
    const rg_vec3 *p = b->unit, first = p[0];
    rg_vec3 along = {0, 0, 0}, across = {0, 0, 0};
    double thickness = 0;
    for (size_t i = 0; i < b->count; i++)
        if (rg_length(rg_sub(p[i], first)) > rg_length(along))
            along = rg_sub(p[i], first);
    along = rg_normalised(along);
    for (size_t i = 0; i < b->count; i++) {
        rg_vec3 off = rg_cross(along, rg_sub(p[i], first));
        if (rg_length(off) > rg_length(across))
            across = off;
    }
    if (!(rg_length(across) > FLAT))
        return rg_fail(b->error, RG_DEGENERATE_GEOMETRY,
                       "hull: all %zu points lie on one line; a hull needs volume", given);
    across = rg_normalised(across);
    for (size_t i = 0; i < b->count; i++)
        thickness = fmax(thickness, fabs(rg_dot(across, rg_sub(p[i], first))));
    if (!(thickness > FLAT))
        return rg_fail(b->error, RG_DEGENERATE_GEOMETRY,
                       "hull: all %zu points lie in one plane; a hull needs volume", given);
    return RG_OK;
}

/* ------------------------------------------------------------------ Qhull */

/* The corners of a facet that Qhull has merged: its ridges are its edges, in no order. Chains them.
 */
static rg_status chain_ridges(builder *b, qhT *qh, facetT *facet) {
    ridgeT *ridge, **ridgep;
    uint32_t *ends, at, first, remaining = 0;
    uint32_t count = (uint32_t)qh_setsize(qh, facet->ridges);
    ends = rg_allocate(b->allocator, count, 2 * sizeof *ends);
    if (!ends)
        return RG_OUT_OF_MEMORY;
    FOREACHridge_(facet->ridges) {
        for (int k = 0; k < 2; k++)
            ends[2 * remaining + (uint32_t)k] =
                (uint32_t)qh_pointid(qh, SETelemt_(ridge->vertices, k, vertexT)->point);
        remaining++;
    }
    rg_status status = count < 3 ? RG_DEGENERATE_GEOMETRY : RG_OK;
    if (status == RG_OK) {
        first = ends[0];
        at = first;
        do { /* take the edge that has an end here, and go to its other end */
            uint32_t i = 0;
            while (i < remaining && ends[2 * i] != at && ends[2 * i + 1] != at)
                i++;
            if (i == remaining) {
                status = RG_DEGENERATE_GEOMETRY;
                break;
            }
            status = add_corner(b, &b->raw, at);
            at = ends[2 * i] == at ? ends[2 * i + 1] : ends[2 * i];
            remaining--;
            ends[2 * i] = ends[2 * remaining];
            ends[2 * i + 1] = ends[2 * remaining + 1];
        } while (status == RG_OK && at != first);
        if (status == RG_OK && remaining)
            status = RG_DEGENERATE_GEOMETRY; /* more than one loop */
    }
    rg_release(b->allocator, ends);
    return status;
}

static rg_status read_facet(builder *b, qhT *qh, facetT *facet) {
    vertexT *vertex, **vertexp;
    uint32_t first = b->raw.used;
    rg_status status = RG_OK;
    if (facet->simplicial) {
        FOREACHvertex_(facet->vertices) {
            if (status == RG_OK)
                status = add_corner(b, &b->raw, (uint32_t)qh_pointid(qh, vertex->point));
        }
    } else
        status = chain_ridges(b, qh, facet);
    if (status != RG_OK)
        return status;
    rg_vec3 normal = {facet->normal[0], facet->normal[1], facet->normal[2]};
    uint32_t count = b->raw.used - first, *corners = b->raw.vertices + first;
    if (rg_dot(normal, rg_loop_area(b->points, corners, count)) < 0)
        for (uint32_t i = 0; i < count / 2; i++) {
            uint32_t swap = corners[i];
            corners[i] = corners[count - 1 - i];
            corners[count - 1 - i] = swap;
        }
    return end_facet(b, &b->raw);
}

static rg_status run_qhull(builder *b, char *options) {
    char messages[256];
    FILE *sink = fmemopen(messages, sizeof messages, "w");
    if (!sink)
        return RG_OUT_OF_MEMORY;
    qhT state;
    memset(&state, 0, sizeof state);
    b->raw.used = b->raw.facet_count = 0;
    qh_zero(&state, sink);
    int code = qh_new_qhull(&state, 3, (int)b->count, &b->unit[0].x, False, options, NULL, sink);
    rg_status status = code == 0           ? RG_OK
                       : code == qh_ERRmem ? RG_OUT_OF_MEMORY
                                           : RG_DEGENERATE_GEOMETRY;
    if (status == RG_OK) {
        qhT *qh = &state;
        facetT *facet;
        FORALLfacets {
            if (status == RG_OK)
                status = read_facet(b, qh, facet);
        }
    }
    int blocks, bytes;
    qh_freeqhull(&state, !qh_ALL);
    qh_memfreeshort(&state, &blocks, &bytes);
    fclose(sink);
    return status;
}

/* ------------------------------------------------------------------ merging */

typedef struct ranked_facet {
    double area;
    uint32_t facet;
} ranked_facet;

static int compare_ranked(const void *a, const void *b, const void *context) {
    (void)context;
    const ranked_facet *p = a, *q = b;
    return p->area > q->area ? -1 : p->area < q->area ? 1 : 0;
}

typedef struct merger {
    uint32_t *twin;    /* of each half-edge of the raw loops */
    uint32_t *facet;   /* of each half-edge */
    uint32_t *region;  /* of each facet */
    uint32_t *border;  /* of each facet as a region: one half-edge on its border */
    uint32_t *borders; /* of each facet as a region: number of half-edges on its border */
    uint32_t *degree;  /* of each point: regions that meet there */
    uint32_t *stack;
    ranked_facet *order;
} merger;

static bool facet_within(const builder *b, uint32_t f, rg_vec3 normal, rg_vec3 origin) {
    for (uint32_t k = b->raw.start[f]; k < b->raw.start[f + 1]; k++)
        if (fabs(rg_dot(normal, rg_sub(b->points[b->raw.vertices[k]], origin))) > b->coplanar)
            return false;
    return true;
}

static void grow_regions(const builder *b, merger *m) {
    const loop_list *raw = &b->raw;
    for (uint32_t f = 0; f < raw->facet_count; f++)
        m->region[f] = UINT32_MAX;
    for (uint32_t i = 0; i < raw->facet_count; i++) {
        uint32_t seed = m->order[i].facet, depth = 0;
        if (m->region[seed] != UINT32_MAX)
            continue;
        const uint32_t *corners = raw->vertices + raw->start[seed];
        rg_vec3 normal = rg_normalised(
            rg_loop_area(b->points, corners, raw->start[seed + 1] - raw->start[seed]));
        rg_vec3 origin = b->points[corners[0]];
        m->region[seed] = seed;
        m->stack[depth++] = seed;
        while (depth) {
            uint32_t f = m->stack[--depth];
            for (uint32_t k = raw->start[f]; k < raw->start[f + 1]; k++) {
                uint32_t other = m->facet[m->twin[k]];
                if (m->region[other] == UINT32_MAX && facet_within(b, other, normal, origin)) {
                    m->region[other] = seed;
                    m->stack[depth++] = other;
                }
            }
        }
    }
}

static bool on_border(const merger *m, uint32_t k) {
    return m->region[m->facet[k]] != m->region[m->facet[m->twin[k]]];
}

static void find_borders(const builder *b, merger *m) {
    memset(m->borders, 0, b->raw.facet_count * sizeof *m->borders);
    memset(m->degree, 0, b->count * sizeof *m->degree);
    for (uint32_t k = 0; k < b->raw.used; k++)
        if (on_border(m, k)) {
            uint32_t region = m->region[m->facet[k]];
            m->border[region] = k;
            m->borders[region]++;
            m->degree[b->raw.vertices[k]]++;
        }
}

/* A region of one facet: all sides of that facet are on the border. */
static bool is_single(const builder *b, const merger *m, uint32_t region) {
    for (uint32_t k = b->raw.start[region]; k < b->raw.start[region + 1]; k++)
        if (!on_border(m, k))
            return false;
    return true;
}

/* Every corner of the loop turns left, or right by no more than the tolerance. */
static bool is_loop_convex(const builder *b, const uint32_t *corners, uint32_t count) {
    rg_vec3 normal = rg_normalised(rg_loop_area(b->points, corners, count));
    for (uint32_t i = 0; i < count; i++) {
        rg_vec3 p = b->points[corners[i]], q = b->points[corners[(i + 1) % count]];
        rg_vec3 r = b->points[corners[(i + 2) % count]];
        double turn = rg_dot(normal, rg_cross(rg_sub(q, p), rg_sub(r, q)));
        if (turn < -b->coplanar * rg_length(rg_sub(r, p)))
            return false;
    }
    return true;
}

/* Walks round a region and keeps the corners where at least three regions meet. *good tells whether
 * its border is one convex loop; otherwise nothing is added. */
static rg_status trace_region(builder *b, const merger *m, uint32_t region, bool *good) {
    uint32_t first = m->border[region], k = first, walked = 0, begin = b->merged.used;
    *good = false;
    if (m->borders[region] < 3)
        return RG_OK;
    do {
        uint32_t vertex = b->raw.vertices[k];
        rg_status status = m->degree[vertex] >= 3 ? add_corner(b, &b->merged, vertex) : RG_OK;
        if (status != RG_OK)
            return status;
        walked++;
        k = rg_loop_next(b->raw.start, m->facet[k], k);
        while (!on_border(m, k)) {
            k = m->twin[k];
            k = rg_loop_next(b->raw.start, m->facet[k], k);
        }
    } while (k != first && walked <= m->borders[region]);
    uint32_t count = b->merged.used - begin;
    *good = walked == m->borders[region] && count >= 3 &&
            is_loop_convex(b, b->merged.vertices + begin, count);
    if (*good)
        return end_facet(b, &b->merged);
    b->merged.used = begin;
    return RG_OK;
}

/* Traces all regions. One that is not convex (where the noise of the points is about the tolerance,
 * regions have ragged borders) falls back into its facets, and all are traced again. A single facet
 * that has lost its corners spoils the merge. */
static rg_status trace_regions(builder *b, merger *m) {
    const uint32_t broken = UINT32_MAX;
    for (bool again = true; again;) {
        again = false;
        find_borders(b, m);
        b->merged.used = b->merged.facet_count = 0;
        for (uint32_t region = 0; region < b->raw.facet_count; region++) {
            bool good;
            if (m->region[region] != region)
                continue;
            rg_status status = trace_region(b, m, region, &good);
            if (status != RG_OK)
                return status;
            if (!good) {
                if (is_single(b, m, region))
                    return RG_DEGENERATE_GEOMETRY;
                m->borders[region] = broken;
                again = true;
            }
        }
        for (uint32_t f = 0; f < b->raw.facet_count; f++)
            m->stack[f] = m->borders[m->region[f]] == broken ? f : m->region[f];
        memcpy(m->region, m->stack, b->raw.facet_count * sizeof *m->region);
    }
    return RG_OK;
}

static rg_status merge_with(builder *b, merger *m) {
    const loop_list *raw = &b->raw;
    rg_loops loops = {(uint32_t)b->count, raw->facet_count, b->unit, raw->start, raw->vertices};
    rg_status status = rg_loops_pair(&loops, m->twin, b->allocator);
    if (status != RG_OK)
        return status;
    for (uint32_t f = 0; f < raw->facet_count; f++) {
        for (uint32_t k = raw->start[f]; k < raw->start[f + 1]; k++)
            m->facet[k] = f;
        rg_vec3 area = rg_loop_area(b->points, raw->vertices + raw->start[f],
                                    raw->start[f + 1] - raw->start[f]);
        m->order[f] = (ranked_facet){rg_length(area), f};
    }
    status =
        rg_sort(m->order, raw->facet_count, sizeof *m->order, compare_ranked, NULL, b->allocator);
    if (status != RG_OK)
        return status;
    grow_regions(b, m);
    return trace_regions(b, m);
}

static rg_status merge_coplanar(builder *b) {
    size_t corners = b->raw.used, facets = b->raw.facet_count, word = sizeof(uint32_t);
    const rg_allocator *a = b->allocator;
    merger m = {.twin = rg_allocate(a, corners, word),
                .facet = rg_allocate(a, corners, word),
                .region = rg_allocate(a, facets, word),
                .border = rg_allocate(a, facets, word),
                .borders = rg_allocate(a, facets, word),
                .degree = rg_allocate(a, b->count, word),
                .stack = rg_allocate(a, facets, word),
                .order = rg_allocate(a, facets, sizeof(ranked_facet))};
    rg_status status = RG_OUT_OF_MEMORY;
    if (m.twin && m.facet && m.region && m.border && m.borders && m.degree && m.stack && m.order)
        status = merge_with(b, &m);
    rg_release(a, m.twin);
    rg_release(a, m.facet);
    rg_release(a, m.region);
    rg_release(a, m.border);
    rg_release(a, m.borders);
    rg_release(a, m.degree);
    rg_release(a, m.stack);
    rg_release(a, m.order);
    return status;
}

/* ------------------------------------------------------------------ result */

/* Turns every loop so that it begins with its lowest vertex. */
static void rotate_loops(loop_list *loops, uint32_t *room) {
    for (uint32_t f = 0; f < loops->facet_count; f++) {
        uint32_t *corners = loops->vertices + loops->start[f];
        uint32_t count = loops->start[f + 1] - loops->start[f], low = 0;
        for (uint32_t i = 1; i < count; i++)
            if (corners[i] < corners[low])
                low = i;
        for (uint32_t i = 0; i < count; i++)
            room[i] = corners[(low + i) % count];
        memcpy(corners, room, count * sizeof *corners);
    }
}

/* Facets in lexicographic order; two of them never share their first three corners. */
static int compare_facets(const void *a, const void *b, const void *context) {
    const loop_list *loops = context;
    const uint32_t *p = loops->vertices + loops->start[*(const uint32_t *)a];
    const uint32_t *q = loops->vertices + loops->start[*(const uint32_t *)b];
    for (int i = 0; i < 3; i++)
        if (p[i] != q[i])
            return p[i] < q[i] ? -1 : 1;
    return 0;
}

typedef struct result_arrays {
    rg_vec3 *vertices;
    uint32_t *number; /* new number of each point */
    uint32_t *order, *start, *corners;
} result_arrays;

static rg_status fill_result(builder *b, loop_list *loops, result_arrays *r, rg_solid *solid) {
    uint32_t vertex_count = 0;
    memset(r->number, 0, b->count * sizeof *r->number);
    for (uint32_t k = 0; k < loops->used; k++)
        r->number[loops->vertices[k]] = 1;
    for (size_t i = 0; i < b->count; i++)
        if (r->number[i]) {
            r->vertices[vertex_count] = b->points[i];
            r->number[i] = vertex_count++;
        }
    for (uint32_t k = 0; k < loops->used; k++)
        loops->vertices[k] = r->number[loops->vertices[k]];
    rotate_loops(loops, r->corners);
    for (uint32_t f = 0; f < loops->facet_count; f++)
        r->order[f] = f;
    rg_status status = rg_sort(r->order, loops->facet_count, sizeof *r->order, compare_facets,
                               loops, b->allocator);
    if (status != RG_OK)
        return status;
    uint32_t used = 0;
    for (uint32_t f = 0; f < loops->facet_count; f++) {
        uint32_t from = loops->start[r->order[f]], to = loops->start[r->order[f] + 1];
        r->start[f] = used;
        memcpy(r->corners + used, loops->vertices + from, (to - from) * sizeof *r->corners);
        used += to - from;
    }
    r->start[loops->facet_count] = used;
    rg_loops sorted = {vertex_count, loops->facet_count, r->vertices, r->start, r->corners};
    return rg_solid_build(solid, &sorted, b->allocator);
}

/* No corner of a facet's neighbours outside its plane, and the centre inside all planes. */
static bool is_convex(const builder *b, const rg_solid *solid) {
    const rg_polyhedron *p = &solid->view;
    double slack = CONVEX * b->size;
    if (!(solid->inradius > 0))
        return false;
    for (uint32_t f = 0; f < p->facet_count; f++) {
        /* Offsets touch the farthest vertex; the facet's own corners must be as far. */
        for (uint32_t k = p->facet_start[f]; k < p->facet_start[f + 1]; k++)
            if (p->offsets[f] - rg_dot(p->normals[f], solid->centred[p->facet_vertices[k]]) > slack)
                return false;
    }
    return true;
}

/* The polyhedron of the loops, with planes; RG_DEGENERATE_GEOMETRY if they do not make a good one.
 */
static rg_status make_solid(builder *b, loop_list *loops, rg_solid *solid,
                            rg_mass_properties *mass) {
    const rg_allocator *a = b->allocator;
    result_arrays r = {rg_allocate(a, b->count, sizeof *r.vertices),
                       rg_allocate(a, b->count, sizeof *r.number),
                       rg_allocate(a, loops->facet_count, sizeof *r.order),
                       rg_allocate(a, (size_t)loops->facet_count + 1, sizeof *r.start),
                       rg_allocate(a, loops->used, sizeof *r.corners)};
    rg_status status = RG_OUT_OF_MEMORY;
    if (r.vertices && r.number && r.order && r.start && r.corners)
        status = fill_result(b, loops, &r, solid);
    rg_release(a, r.vertices);
    rg_release(a, r.number);
    rg_release(a, r.order);
    rg_release(a, r.start);
    rg_release(a, r.corners);
    if (status != RG_OK)
        return status;
    *mass = rg_solid_mass(solid);
    if (mass->mass > 0) {
        rg_solid_set_planes(solid, mass->centre, NULL);
        if (is_convex(b, solid))
            return RG_OK;
    }
    rg_solid_free(solid, a);
    return RG_DEGENERATE_GEOMETRY;
}

/* Qhull's own merging is exact to rounding and nearly always right; if what comes out is no proper
 * polyhedron, joggled input (which Qhull never needs to merge) gets a second chance, and so do the
 * facets without our merging. */
static rg_status build(builder *b, rg_solid *solid, rg_mass_properties *mass) {
    static const char *const attempts[] = {"qhull Pp", "qhull QJ Pp"};
    rg_status status = RG_DEGENERATE_GEOMETRY;
    for (size_t i = 0; i < sizeof attempts / sizeof *attempts; i++) {
        char options[16];
        snprintf(options, sizeof options, "%s", attempts[i]);
        status = run_qhull(b, options);
        if (status == RG_OK)
            status = merge_coplanar(b);
        if (status == RG_OK)
            status = make_solid(b, &b->merged, solid, mass);
        if (status == RG_DEGENERATE_GEOMETRY && b->raw.facet_count >= 4)
            status = make_solid(b, &b->raw, solid, mass);
        if (status != RG_DEGENERATE_GEOMETRY)
            return status;
    }
    return rg_fail(b->error, status,
                   "hull: %zu points, too thin or too close together for a hull; spread them out",
                   b->count);
}

rg_status rg_hull_build(const rg_vec3 *points, size_t count, const rg_allocator *allocator,
                        rg_solid *solid, rg_mass_properties *mass, rg_error *error) {
    memset(solid, 0, sizeof *solid);
    if (count < 4)
        return rg_fail(error, RG_DEGENERATE_GEOMETRY,
                       "hull: %zu points; must be at least 4 that are not in one plane", count);
    builder b = {.allocator = allocator, .error = error};
    rg_status status = take_points(&b, points, count);
    if (status == RG_OK && b.count < 4)
        status = rg_fail(error, RG_DEGENERATE_GEOMETRY,
                         "hull: only %zu different points; must be at least 4 that are not in one "
                         "plane",
                         b.count);
    if (status == RG_OK && b.size < RG_SHAPE_SMALLEST)
        status = rg_fail(error, RG_INVALID_SIZE, "hull: smaller than 1e-50 m; must be larger");
    if (status == RG_OK)
        status = check_thickness(&b, count);
    b.coplanar = COPLANAR * b.size;
    if (status == RG_OK)
        status = build(&b, solid, mass);
    rg_release(allocator, b.points);
    rg_release(allocator, b.unit);
    free_loops(&b, &b.raw);
    free_loops(&b, &b.merged);
    return status;
}

rg_status rg_hull_make(rg_shape *shape, const rg_shape_def *def, rg_error *error) {
    rg_status status = rg_shape_take_points(shape, def, "point", error);
    if (status == RG_OK)
        status = rg_hull_build(shape->points, def->point_count, &shape->allocator, &shape->solid,
                               &shape->unit, error);
    if (status != RG_OK)
        return status;
    shape->centre = shape->solid.view.centre;
    shape->inradius = shape->solid.inradius;
    shape->circumradius = shape->solid.circumradius;
    shape->volume = shape->unit.mass;
    return RG_OK;
}
