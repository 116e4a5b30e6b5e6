/* Polyhedra in flat arrays: adjacency, planes, mass.
 *
 * Adjacency comes from the half-edges of the facet loops: sorted by their end points, the two
 * halves of each edge lie side by side. Turning about a vertex goes from a half-edge that leaves it
 * to the twin of the one before it in the loop, which visits the neighbours counter-clockwise. The
 * surface is that of one ball if every edge has two opposite halves, every vertex one ring, and V -
 * E + F = 2.
 *
 * Order is canonical: vertices as given, edges by (lower, higher vertex), rings from their lowest
 * neighbour; nothing depends on addresses or hash order.
 * Tested by tests/shape/test_hull.c. */
#include "shape/shape_polyhedron.h"

#include "base/base_long.h"
#include "base/base_math.h"
#include "base/base_memory.h"
#include "base/base_sort.h"
#include "shape/shape_mass.h"

#include <string.h>

/* ------------------------------------------------------------------ half-edges */

int rg_edge_side_compare(const void *a, const void *b, const void *context) {
    (void)context;
    const rg_edge_side *p = a, *q = b;
    if (p->low != q->low)
        return p->low < q->low ? -1 : 1;
    return (p->high > q->high) - (p->high < q->high);
}

static rg_status pair_sorted(const rg_edge_side *halves, size_t count, const rg_loops *loops,
                             uint32_t *twin) {
    for (size_t i = 0; i < count; i += 2) {
        const rg_edge_side *a = &halves[i], *b = a + 1;
        bool opposite = i + 1 < count && a->low != a->high &&
                        rg_edge_side_compare(a, b, NULL) == 0 &&
                        loops->facet_vertices[a->owner] != loops->facet_vertices[b->owner];
        bool third = i + 2 < count && rg_edge_side_compare(a, &halves[i + 2], NULL) == 0;
        if (!opposite || third)
            return RG_DEGENERATE_GEOMETRY;
        twin[a->owner] = b->owner;
        twin[b->owner] = a->owner;
    }
    return RG_OK;
}

rg_status rg_loops_pair(const rg_loops *loops, uint32_t *twin, const rg_allocator *allocator) {
    size_t count = loops->facet_start[loops->facet_count];
    rg_edge_side *halves = rg_allocate(allocator, count, sizeof *halves);
    if (!halves)
        return RG_OUT_OF_MEMORY;
    for (uint32_t f = 0; f < loops->facet_count; f++)
        for (uint32_t k = loops->facet_start[f]; k < loops->facet_start[f + 1]; k++) {
            uint32_t a = loops->facet_vertices[k];
            uint32_t b = loops->facet_vertices[rg_loop_next(loops->facet_start, f, k)];
            halves[k] = (rg_edge_side){a < b ? a : b, a < b ? b : a, k};
        }
    rg_status status =
        rg_sort(halves, count, sizeof *halves, rg_edge_side_compare, NULL, allocator);
    if (status == RG_OK)
        status = pair_sorted(halves, count, loops, twin);
    rg_release(allocator, halves);
    return status;
}

/* ------------------------------------------------------------------ memory */

/* Sizes of the arrays: vertices, facets, half-edges (corners), entries in the rings, edges. */
typedef struct counts {
    size_t vertices, facets, corners, ring, edges;
    bool ring_facets;
} counts;

static void *cut(char **rest, size_t count, size_t size) {
    void *piece = *rest;
    *rest += count * size;
    return piece;
}

/* One block for all arrays, numbers before indices so that all are aligned. */
static rg_status take_memory(rg_solid *solid, counts n, const rg_allocator *allocator) {
    size_t vectors = 2 * n.vertices + n.facets;
    size_t pairs = n.vertices <= RG_SCAN_VERTICES ? (n.vertices + 1) / 2 : 0;
    size_t indices = (n.facets + 1) + 2 * n.corners + (n.vertices + 1) +
                     n.ring * (n.ring_facets ? 2 : 1) + 4 * n.edges + RG_START_COUNT;
    size_t bytes = pairs * sizeof(rg_vertex_pair) + vectors * sizeof(rg_vec3) +
                   n.facets * sizeof(double) + indices * sizeof(uint32_t);
    memset(solid, 0, sizeof *solid);
    solid->memory = rg_allocate_zeroed(allocator, bytes, 1);
    if (!solid->memory)
        return RG_OUT_OF_MEMORY;
    char *rest = solid->memory;
    rg_polyhedron *p = &solid->view;
    if (pairs)
        solid->pairs = cut(&rest, pairs, sizeof(rg_vertex_pair));
    p->vertices = cut(&rest, n.vertices, sizeof(rg_vec3));
    solid->centred = cut(&rest, n.vertices, sizeof(rg_vec3));
    p->normals = cut(&rest, n.facets, sizeof(rg_vec3));
    p->offsets = cut(&rest, n.facets, sizeof(double));
    p->facet_start = cut(&rest, n.facets + 1, sizeof(uint32_t));
    p->facet_vertices = cut(&rest, n.corners, sizeof(uint32_t));
    p->facet_neighbours = cut(&rest, n.corners, sizeof(uint32_t));
    p->vertex_start = cut(&rest, n.vertices + 1, sizeof(uint32_t));
    p->vertex_neighbours = cut(&rest, n.ring, sizeof(uint32_t));
    if (n.ring_facets)
        solid->vertex_facets = cut(&rest, n.ring, sizeof(uint32_t));
    p->edge_vertices = cut(&rest, 2 * n.edges, sizeof(uint32_t));
    p->edge_facets = cut(&rest, 2 * n.edges, sizeof(uint32_t));
    solid->starts = cut(&rest, RG_START_COUNT, sizeof(uint32_t));
    p->vertex_count = (uint32_t)n.vertices;
    p->facet_count = (uint32_t)n.facets;
    p->edge_count = (uint32_t)n.edges;
    return RG_OK;
}

void rg_solid_free(rg_solid *solid, const rg_allocator *allocator) {
    rg_release(allocator, solid->memory);
    memset(solid, 0, sizeof *solid);
}

/* The view shows constant arrays; here they are filled. */
static uint32_t *writable(const uint32_t *array) {
    return (uint32_t *)array;
}

/* ------------------------------------------------------------------ adjacency */

typedef struct scratch {
    uint32_t *twin;  /* of each half-edge */
    uint32_t *facet; /* of each half-edge */
    uint32_t *leave; /* of each vertex: the half-edge that leaves it to its lowest neighbour */
} scratch;

static rg_status fill_rings(rg_solid *solid, const scratch *s, uint32_t corner_count) {
    const rg_polyhedron *p = &solid->view;
    uint32_t *start = writable(p->vertex_start), used = 0;
    uint32_t *neighbours = writable(p->vertex_neighbours);
    for (uint32_t v = 0; v < p->vertex_count; v++) {
        start[v] = used;
        uint32_t h = s->leave[v];
        if (h == UINT32_MAX)
            return RG_DEGENERATE_GEOMETRY; /* in no facet */
        do {
            if (used == corner_count)
                return RG_DEGENERATE_GEOMETRY;
            uint32_t f = s->facet[h];
            neighbours[used] = p->facet_vertices[rg_loop_next(p->facet_start, f, h)];
            solid->vertex_facets[used++] = f;
            h = s->twin[rg_loop_previous(p->facet_start, f, h)];
        } while (h != s->leave[v]);
        if (used - start[v] < 3)
            return RG_DEGENERATE_GEOMETRY;
    }
    start[p->vertex_count] = used;
    /* A vertex with two rings would have left half-edges unvisited. */
    return used == corner_count ? RG_OK : RG_DEGENERATE_GEOMETRY;
}

static void fill_edges(rg_solid *solid, const scratch *s) {
    const rg_polyhedron *p = &solid->view;
    uint32_t *vertices = writable(p->edge_vertices), *facets = writable(p->edge_facets), e = 0;
    for (uint32_t v = 0; v < p->vertex_count; v++) {
        uint32_t first = e;
        for (uint32_t k = p->vertex_start[v]; k < p->vertex_start[v + 1]; k++) {
            uint32_t u = p->vertex_neighbours[k];
            if (u <= v)
                continue;
            /* Insert in order of the higher vertex. The facet after the neighbour in the ring runs
             * along the edge from v to u; the one before it runs back. */
            uint32_t before = k > p->vertex_start[v] ? k - 1 : p->vertex_start[v + 1] - 1;
            uint32_t at = e++;
            for (; at > first && vertices[2 * at - 1] > u; at--) {
                memcpy(&vertices[2 * at], &vertices[2 * at - 2], 2 * sizeof *vertices);
                memcpy(&facets[2 * at], &facets[2 * at - 2], 2 * sizeof *facets);
            }
            vertices[2 * at] = v;
            vertices[2 * at + 1] = u;
            facets[2 * at] = solid->vertex_facets[k];
            facets[2 * at + 1] = solid->vertex_facets[before];
        }
    }
    (void)s;
}

static rg_status fill_adjacency(rg_solid *solid, const rg_loops *loops, const scratch *s,
                                const rg_allocator *allocator) {
    const rg_polyhedron *p = &solid->view;
    uint32_t corner_count = p->facet_start[p->facet_count];
    rg_status status = rg_loops_pair(loops, s->twin, allocator);
    if (status != RG_OK)
        return status;
    for (uint32_t v = 0; v < p->vertex_count; v++)
        s->leave[v] = UINT32_MAX;
    for (uint32_t f = 0; f < p->facet_count; f++)
        for (uint32_t k = p->facet_start[f]; k < p->facet_start[f + 1]; k++)
            s->facet[k] = f;
    for (uint32_t k = 0; k < corner_count; k++) {
        uint32_t v = p->facet_vertices[k], old = s->leave[v];
        uint32_t to = p->facet_vertices[rg_loop_next(p->facet_start, s->facet[k], k)];
        if (old == UINT32_MAX ||
            to < p->facet_vertices[rg_loop_next(p->facet_start, s->facet[old], old)])
            s->leave[v] = k;
        writable(p->facet_neighbours)[k] = s->facet[s->twin[k]];
    }
    status = fill_rings(solid, s, corner_count);
    if (status == RG_OK)
        fill_edges(solid, s);
    return status;
}

rg_status rg_solid_build(rg_solid *solid, const rg_loops *loops, const rg_allocator *allocator) {
    uint32_t corners = loops->facet_start[loops->facet_count];
    counts n = {loops->vertex_count, loops->facet_count, corners, corners, corners / 2, true};
    memset(solid, 0, sizeof *solid);
    if (corners % 2 || n.vertices + n.facets != n.edges + 2)
        return RG_DEGENERATE_GEOMETRY;
    for (uint32_t f = 0; f < loops->facet_count; f++)
        if (loops->facet_start[f + 1] - loops->facet_start[f] < 3)
            return RG_DEGENERATE_GEOMETRY;
    scratch s = {rg_allocate(allocator, corners, sizeof(uint32_t)),
                 rg_allocate(allocator, corners, sizeof(uint32_t)),
                 rg_allocate(allocator, n.vertices, sizeof(uint32_t))};
    rg_status status = RG_OUT_OF_MEMORY;
    if (s.twin && s.facet && s.leave)
        status = take_memory(solid, n, allocator);
    if (status == RG_OK) {
        memcpy((rg_vec3 *)solid->view.vertices, loops->vertices, n.vertices * sizeof(rg_vec3));
        memcpy(writable(solid->view.facet_start), loops->facet_start,
               (n.facets + 1) * sizeof(uint32_t));
        memcpy(writable(solid->view.facet_vertices), loops->facet_vertices,
               corners * sizeof(uint32_t));
        status = fill_adjacency(solid, loops, &s, allocator);
    }
    rg_release(allocator, s.twin);
    rg_release(allocator, s.facet);
    rg_release(allocator, s.leave);
    if (status != RG_OK)
        rg_solid_free(solid, allocator);
    return status;
}

rg_status rg_solid_build_polygon(rg_solid *solid, const rg_vec3 *corners, uint32_t count,
                                 const rg_allocator *allocator) {
    counts n = {count, count, 2 * (size_t)count, 2 * (size_t)count, 0, false};
    rg_status status = take_memory(solid, n, allocator);
    if (status != RG_OK)
        return status;
    const rg_polyhedron *p = &solid->view;
    memcpy((rg_vec3 *)p->vertices, corners, count * sizeof *corners);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t previous = i ? i - 1 : count - 1, next = i + 1 < count ? i + 1 : 0;
        writable(p->facet_start)[i] = writable(p->vertex_start)[i] = 2 * i;
        writable(p->facet_vertices)[2 * i] = i;
        writable(p->facet_vertices)[2 * i + 1] = next;
        writable(p->facet_neighbours)[2 * i] = writable(p->vertex_neighbours)[2 * i] = previous;
        writable(p->facet_neighbours)[2 * i + 1] = writable(p->vertex_neighbours)[2 * i + 1] = next;
    }
    writable(p->facet_start)[count] = writable(p->vertex_start)[count] = 2 * count;
    return RG_OK;
}

/* ------------------------------------------------------------------ planes */

/* In twice the precision: differences of coordinates are exact, so that a loop's area suffers from
 * nothing but the rounding of its result. */
rg_vec3 rg_loop_area(const rg_vec3 *points, const uint32_t *corners, uint32_t count) {
    rg_long area[3] = {{0, 0}, {0, 0}, {0, 0}};
    const rg_vec3 *a = &points[corners[0]];
    for (uint32_t k = 1; k + 1 < count; k++) {
        const rg_vec3 *b = &points[corners[k]], *c = &points[corners[k + 1]];
        rg_long u[3] = {rg_long_difference(b->x, a->x), rg_long_difference(b->y, a->y),
                        rg_long_difference(b->z, a->z)};
        rg_long v[3] = {rg_long_difference(c->x, a->x), rg_long_difference(c->y, a->y),
                        rg_long_difference(c->z, a->z)};
        for (int i = 0; i < 3; i++) {
            int j = (i + 1) % 3, l = (i + 2) % 3;
            rg_long cross = rg_long_sub(rg_long_mul(u[j], v[l]), rg_long_mul(u[l], v[j]));
            area[i] = rg_long_add(area[i], cross);
        }
    }
    return rg_vec3_make(area[0].hi, area[1].hi, area[2].hi);
}

/* Unit outward normal of a facet. */
static rg_vec3 loop_normal(const rg_solid *solid, uint32_t f) {
    const rg_polyhedron *p = &solid->view;
    const uint32_t *corners = p->facet_vertices + p->facet_start[f];
    uint32_t count = p->facet_start[f + 1] - p->facet_start[f];
    if (count > 2)
        return rg_normalised(rg_loop_area(p->vertices, corners, count));
    /* an edge of a polygon: outside is to the right, in x-z */
    rg_vec3 along = rg_sub(p->vertices[corners[1]], p->vertices[corners[0]]);
    return rg_normalised(rg_vec3_make(along.z, 0, -along.x));
}

void rg_solid_set_planes(rg_solid *solid, rg_vec3 centre, const rg_vec3 *normals) {
    rg_polyhedron *p = &solid->view;
    p->centre = centre;
    solid->circumradius = 0;
    for (uint32_t v = 0; v < p->vertex_count; v++) {
        solid->centred[v] = rg_sub(p->vertices[v], centre);
        solid->circumradius = fmax(solid->circumradius, rg_length(solid->centred[v]));
    }
    rg_solid_fill_pairs(solid);
    rg_solid_fill_starts(solid);
    solid->inradius = INFINITY;
    for (uint32_t f = 0; f < p->facet_count; f++) {
        rg_vec3 n = normals ? normals[f] : loop_normal(solid, f);
        uint32_t start = p->facet_vertices[p->facet_start[f]];
        uint32_t farthest = rg_length_squared(n) > 0 ? rg_solid_support(solid, n, &start) : start;
        ((rg_vec3 *)p->normals)[f] = n;
        ((double *)p->offsets)[f] = rg_dot(n, solid->centred[farthest]);
        solid->inradius = fmin(solid->inradius, p->offsets[f]);
    }
}

/* ------------------------------------------------------------------ mass */

static rg_moment_sum integrate(const rg_polyhedron *p, rg_vec3 reference) {
    rg_moment_sum moments = rg_moment_begin(reference);
    for (uint32_t f = 0; f < p->facet_count; f++) {
        rg_vec3 a = p->vertices[p->facet_vertices[p->facet_start[f]]];
        for (uint32_t k = p->facet_start[f] + 1; k + 1 < p->facet_start[f + 1]; k++)
            rg_moment_add_triangle(&moments, a, p->vertices[p->facet_vertices[k]],
                                   p->vertices[p->facet_vertices[k + 1]]);
    }
    return moments;
}

rg_mass_properties rg_solid_mass(const rg_solid *solid) {
    const rg_polyhedron *p = &solid->view;
    rg_vec3 low = p->vertices[0], high = low;
    for (uint32_t v = 1; v < p->vertex_count; v++) {
        low = rg_min(low, p->vertices[v]);
        high = rg_max(high, p->vertices[v]);
    }
    rg_moment_sum rough = integrate(p, rg_add_scaled(low, 0.5, rg_sub(high, low)));
    rg_moment_sum fine = integrate(p, rg_moment_centroid(&rough));
    return rg_moment_mass(&fine);
}
