/* Caps: the part of a shape that is level, to a tolerance, with its farthest point along the
 * normal.
 *
 * On a polyhedron the vertices above a level are connected by edges above it (superlevel sets of a
 * linear function on the graph of a polytope are connected), so a search from the support vertex
 * finds them all without looking at the others. Seen along the normal they give a convex outline: a
 * point, a segment, the loop of one facet, or, where several facets are level, the hull of the
 * vertices; then the vertices inside it are kept beside it.
 *
 * Cost: O(k log k) for k vertices in the cap, and one bit per vertex of the shape to clear.
 * Fails: only for want of memory.
 * Tested by tests/contact/test_manifold.c. */
#include "contact/contact.h"

#include "base/base_sort.h"
#include "shape/shape.h"

#include <string.h>

/* Facets steeper than this (cosine) carry no surface over a place. */
#define STEEPEST 1e-6

static const rg_shape_def *def_of(const rg_contact_side *side) {
    return &side->shape->def;
}

void rg_contact_pair_make(const rg_shape *shape1, rg_pose pose1, const rg_shape *shape2,
                          rg_pose pose2, rg_contact_pair *pair) {
    const rg_shape *shape[2] = {shape1, shape2};
    rg_pose pose[2] = {pose1, pose2};
    rg_vec3 offset[2]; /* of the centre from the shape frame's origin, world axes */
    for (int i = 0; i < 2; i++) {
        rg_contact_side *side = &pair->side[i];
        side->shape = shape[i];
        side->polyhedron = rg_shape_polyhedron(shape[i]);
        side->rotation = rg_mat3_of_quat(pose[i].orientation);
        side->sign = i == 0 ? 1 : -1;
        offset[i] = rg_mat3_apply(&side->rotation, rg_shape_centre(shape[i]));
    }
    /* A half-space's centre may be anywhere on its plane, far from the contact. */
    int home = rg_shape_is_bounded(shape1) ? 0 : 1;
    for (int i = 0; i < 2; i++) {
        rg_contact_side *side = &pair->side[i];
        rg_vec3 apart = rg_sub(pose[i].position, pose[home].position);
        side->position = rg_sub(apart, offset[home]);
        side->centre =
            i == home ? rg_vec3_make(0, 0, 0) : rg_add(apart, rg_sub(offset[i], offset[home]));
    }
    pair->origin = rg_add(pose[home].position, offset[home]);
    pair->d = rg_sub(pair->side[1].centre, pair->side[0].centre);
    pair->planar = rg_shape_is_planar(shape1) || rg_shape_is_planar(shape2);
    double r1 = rg_shape_circumradius(shape1), r2 = rg_shape_circumradius(shape2);
    pair->size = fmin(r1, r2);
    double larger = isfinite(r1) && isfinite(r2) ? fmax(r1, r2) : pair->size;
    pair->lateral = fmax(RG_CONTACT_LATERAL * pair->size, RG_CONTACT_DISTANT * larger);
}

rg_contact_frame rg_contact_frame_make(rg_vec3 n, bool planar) {
    if (planar)
        return (rg_contact_frame){{n.z, 0, -n.x}, {0, 1, 0}, n};
    /* The axis least along n, crossed with it. */
    double x = fabs(n.x), y = fabs(n.y), z = fabs(n.z);
    rg_vec3 axis = x <= y && x <= z ? rg_vec3_make(1, 0, 0)
                   : y <= z         ? rg_vec3_make(0, 1, 0)
                                    : rg_vec3_make(0, 0, 1);
    rg_vec3 u = rg_normalised(rg_cross(axis, n));
    return (rg_contact_frame){u, rg_cross(n, u), n};
}

/* ------------------------------------------------------------------ search */

/* The axes of the contact in a shape's own frame, and its centre in the contact's: places of
 * vertices are three dot products. */
typedef struct local_frame {
    rg_vec3 u, v, n;
    double x, y, z;
} local_frame;

static local_frame to_local(const rg_contact_side *side, const rg_contact_frame *frame) {
    rg_mat3 back = rg_mat3_transpose(&side->rotation);
    return (local_frame){rg_mat3_apply(&back, frame->u), rg_mat3_apply(&back, frame->v),
                         rg_mat3_apply(&back, frame->n), rg_dot(frame->u, side->centre),
                         rg_dot(frame->v, side->centre), rg_dot(frame->n, side->centre)};
}

static rg_cap_corner corner_of(const rg_shape *shape, const local_frame *local, uint32_t vertex) {
    rg_vec3 p = shape->solid.centred[vertex];
    return (rg_cap_corner){local->x + rg_dot(local->u, p), local->y + rg_dot(local->v, p),
                           local->z + rg_dot(local->n, p), vertex, 0};
}

static bool mark(uint64_t *marks, uint32_t i) {
    uint64_t bit = (uint64_t)1 << (i & 63), *word = &marks[i >> 6];
    bool was = (*word & bit) != 0;
    *word |= bit;
    return !was;
}

static bool is_marked(const uint64_t *marks, uint32_t i) {
    return (marks[i >> 6] >> (i & 63)) & 1;
}

static uint64_t *take_marks(rg_arena *arena, uint32_t count) {
    size_t words = count / 64 + 1;
    uint64_t *marks = rg_arena_take(arena, words, sizeof *marks);
    if (marks)
        memset(marks, 0, words * sizeof *marks);
    return marks;
}

typedef struct vertex_list {
    uint32_t count;
    uint32_t *vertex;
    uint64_t *marks; /* of those in the list */
    uint32_t box_vertex[8];
    uint64_t box_marks;
} vertex_list;

/* Of boxes vertices are sets of bits: 4, 2 and 1 stand for the positive end along x, y and z. */
enum { BOX_FACETS = 6 };
static const uint64_t box_facets[BOX_FACETS] = {0x0f, 0x55, 0x33, 0xaa, 0xcc, 0xf0};
/* The edge from the lower end along z, y or x, by its lower vertex and that bit. */
static const uint8_t box_edges[8][5] = {{0, 0, 1, 0, 2}, {0, 0, 3, 0, 4}, {0, 5, 0, 0, 6},
                                        {0, 0, 0, 0, 7}, {0, 8, 9, 0, 0}, {0, 0, 10, 0, 0},
                                        {0, 11, 0, 0, 0}};

static bool is_box(const rg_contact_side *side) {
    return side->shape->kind == RG_SHAPE_BOX;
}

/* The vertices above a level at once: those that have a coordinate in common have that product in
 * common, with the bits of the sum of each. */
static uint64_t box_above(const rg_vec3 *half, rg_vec3 outward, double level) {
    double x = outward.x * half->x, y = outward.y * half->y, z = outward.z * half->z;
    uint64_t above = 0;
    for (uint32_t v = 0; v < 8; v += 2) {
        double sum = (v & 4 ? x : -x) + (v & 2 ? y : -y);
        above |= (uint64_t)(sum - z >= level) << v | (uint64_t)(sum + z >= level) << (v + 1);
    }
    return above;
}

static rg_status search_box(const rg_contact_side *side, rg_vec3 outward, double band,
                            vertex_list *found) {
    const rg_vec3 *at = side->shape->solid.centred;
    found->vertex = found->box_vertex;
    found->marks = &found->box_marks;
    uint32_t top = 0;
    rg_box_support(side->shape, outward, &top);
    uint64_t above = box_above(&at[7], outward, rg_dot(outward, at[top]) - band);
    const uint32_t *neighbours = side->polyhedron->vertex_neighbours;
    found->count = 0;
    found->vertex[found->count++] = top;
    found->box_marks = (uint64_t)1 << top;
    for (uint32_t i = 0; i < found->count && found->box_marks != above; i++)
        for (uint32_t k = 0; k < 3; k++) {
            uint32_t u = neighbours[3 * found->vertex[i] + k];
            if (!(above & ~found->box_marks & (uint64_t)1 << u))
                continue;
            found->box_marks |= (uint64_t)1 << u;
            found->vertex[found->count++] = u;
        }
    return RG_OK;
}

/* Breadth first from the support vertex. */
static rg_status search(const rg_contact_side *side, rg_vec3 outward, double band, rg_arena *arena,
                        vertex_list *found) {
    if (is_box(side))
        return search_box(side, outward, band, found);
    const rg_polyhedron *p = side->polyhedron;
    const rg_vec3 *at = side->shape->solid.centred;
    found->vertex = rg_arena_take(arena, p->vertex_count, sizeof *found->vertex);
    found->marks = take_marks(arena, p->vertex_count);
    if (!found->vertex || !found->marks)
        return RG_OUT_OF_MEMORY;
    uint32_t top = 0;
    rg_shape_support(side->shape, outward, &top);
    double level = rg_dot(outward, at[top]) - band;
    found->count = 0;
    found->vertex[found->count++] = top;
    mark(found->marks, top);
    for (uint32_t i = 0; i < found->count; i++) {
        uint32_t v = found->vertex[i];
        for (uint32_t k = p->vertex_start[v]; k < p->vertex_start[v + 1]; k++) {
            uint32_t u = p->vertex_neighbours[k];
            if (rg_dot(outward, at[u]) >= level && mark(found->marks, u))
                found->vertex[found->count++] = u;
        }
    }
    return RG_OK;
}

/* ------------------------------------------------------------------ outlines */

/* Edges are sorted by (lower, higher) vertex. */
static uint32_t find_edge(const rg_polyhedron *p, uint32_t a, uint32_t b) {
    uint32_t low = a < b ? a : b, high = a < b ? b : a, first = 0, end = p->edge_count;
    while (first < end) {
        uint32_t e = first + (end - first) / 2, u = p->edge_vertices[2 * e];
        if (u < low || (u == low && p->edge_vertices[2 * e + 1] < high))
            first = e + 1;
        else
            end = e;
    }
    bool here = first < p->edge_count && p->edge_vertices[2 * first] == low &&
                p->edge_vertices[2 * first + 1] == high;
    return here ? first : (RG_CONTACT_CHORD | a);
}

static uint32_t find_box_edge(uint32_t a, uint32_t b) {
    uint32_t along = a ^ b;
    return along == 1 || along == 2 || along == 4 ? box_edges[a & b][along]
                                                  : (RG_CONTACT_CHORD | a);
}

static uint32_t edge_between(const rg_contact_side *side, uint32_t a, uint32_t b) {
    return is_box(side) ? find_box_edge(a, b) : find_edge(side->polyhedron, a, b);
}

static void name_edges(const rg_contact_side *side, rg_cap *cap) {
    for (uint32_t i = 0; i < cap->corner_count; i++) {
        uint32_t next = i + 1 < cap->corner_count ? i + 1 : 0;
        cap->corners[i].edge = edge_between(side, cap->corners[i].index, cap->corners[next].index);
    }
}

uint32_t rg_contact_facet_at(const rg_shape *shape, uint32_t vertex, uint32_t k) {
    const rg_polyhedron *p = &shape->solid.view;
    if (shape->solid.vertex_facets)
        return shape->solid.vertex_facets[p->vertex_start[vertex] + k];
    return k == 0 ? vertex : (vertex ? vertex - 1 : p->vertex_count - 1);
}

static uint32_t facet_count_at(const rg_polyhedron *p, uint32_t vertex) {
    return p->vertex_start[vertex + 1] - p->vertex_start[vertex];
}

/* False if the facet is too steep to have a height. */
static bool plane_of(const rg_contact_side *side, const local_frame *local, uint32_t facet,
                     rg_cap_plane *plane) {
    const rg_polyhedron *p = side->polyhedron;
    rg_vec3 a = p->normals[facet];
    double c = rg_dot(a, local->n), x = rg_dot(a, local->u) / c, y = rg_dot(a, local->v) / c;
    if (side->sign * c < STEEPEST)
        return false;
    *plane = (rg_cap_plane){local->z + p->offsets[facet] / c + x * local->x + y * local->y, -x, -y,
                            facet};
    return true;
}

/* The facet whose corners are exactly those found, or none. */
static uint32_t single_facet(const rg_contact_side *side, const vertex_list *found) {
    const rg_polyhedron *p = side->polyhedron;
    uint32_t v = found->vertex[0];
    for (uint32_t f = 0; is_box(side) && f < BOX_FACETS; f++)
        if (box_facets[f] == found->box_marks)
            return f;
    if (is_box(side))
        return RG_CONTACT_NO_FACET;
    for (uint32_t k = 0; k < facet_count_at(p, v); k++) {
        uint32_t f = rg_contact_facet_at(side->shape, v, k), in = 0;
        if (p->facet_start[f + 1] - p->facet_start[f] != found->count)
            continue;
        for (uint32_t i = p->facet_start[f]; i < p->facet_start[f + 1]; i++) {
            uint32_t u = p->facet_vertices[i];
            in += is_marked(found->marks, u);
        }
        if (in == found->count)
            return f;
    }
    return RG_CONTACT_NO_FACET;
}

static rg_status facet_outline(const rg_contact_side *side, const local_frame *local, uint32_t f,
                               rg_arena *arena, rg_cap *cap) {
    const rg_polyhedron *p = side->polyhedron;
    uint32_t count = p->facet_start[f + 1] - p->facet_start[f];
    cap->corners = rg_arena_take(arena, count, sizeof *cap->corners);
    cap->planes = rg_arena_take(arena, 1, sizeof *cap->planes);
    if (!cap->corners || !cap->planes)
        return RG_OUT_OF_MEMORY;
    cap->corner_count = count;
    for (uint32_t i = 0; i < count; i++) {
        /* Seen against its outward normal, a loop runs clockwise. */
        uint32_t k = side->sign > 0 ? i : count - 1 - i;
        cap->corners[i] = corner_of(side->shape, local, p->facet_vertices[p->facet_start[f] + k]);
    }
    if (p->edge_count)
        name_edges(side, cap);
    cap->plane_count = 1;
    cap->face = true;
    return RG_OK;
}

/* ------------------------------------------------------------------ several facets */

static bool before(const rg_cap_corner *a, const rg_cap_corner *b) {
    if (a->x != b->x)
        return a->x < b->x;
    if (a->y != b->y)
        return a->y < b->y;
    return a->index < b->index;
}

RG_DEFINE_HEAP_SORT(sort_corners, rg_cap_corner, before)

static double turn(const rg_cap_corner *a, const rg_cap_corner *b, const rg_cap_corner *c) {
    return (b->x - a->x) * (c->y - a->y) - (b->y - a->y) * (c->x - a->x);
}

static bool same_place(const rg_cap_corner *a, const rg_cap_corner *b, double lateral) {
    return fabs(a->x - b->x) <= lateral && fabs(a->y - b->y) <= lateral;
}

/* One half of the hull (Andrew's monotone chain) over sorted corners, from either end. Corners that
 * leave the hull go to `inner`; of two at one place the one nearer to the other shape stays. */
static uint32_t half_hull(const rg_cap_corner *sorted, uint32_t count, bool backward, double sign,
                          double lateral, rg_cap_corner *hull) {
    uint32_t used = 0;
    for (uint32_t i = 0; i < count; i++) {
        const rg_cap_corner *c = &sorted[backward ? count - 1 - i : i];
        if (used && same_place(&hull[used - 1], c, lateral)) {
            if (sign * c->z > sign * hull[used - 1].z)
                hull[used - 1] = *c;
            continue;
        }
        while (used >= 2 && turn(&hull[used - 2], &hull[used - 1], c) <= 0)
            used--;
        hull[used++] = *c;
    }
    return used;
}

/* Outline of many vertices: their hull; what is inside is kept apart. */
static rg_status hull_outline(const rg_contact_pair *pair, const rg_contact_side *side,
                              const local_frame *local, const vertex_list *found, rg_arena *arena,
                              rg_cap *cap) {
    uint32_t count = found->count;
    rg_cap_corner *sorted = rg_arena_take(arena, count, sizeof *sorted);
    cap->corners = rg_arena_take(arena, 2 * (size_t)count, sizeof *cap->corners);
    cap->inner = rg_arena_take(arena, count, sizeof *cap->inner);
    uint64_t *marks = take_marks(arena, side->polyhedron->vertex_count);
    if (!sorted || !cap->corners || !cap->inner || !marks)
        return RG_OUT_OF_MEMORY;
    for (uint32_t i = 0; i < count; i++)
        sorted[i] = corner_of(side->shape, local, found->vertex[i]);
    sort_corners(sorted, count);
    uint32_t used = half_hull(sorted, count, false, side->sign, pair->lateral, cap->corners);
    if (used >= 2) {
        /* The upper half starts and ends where the lower one ends and starts. */
        rg_cap_corner *upper = cap->corners + used - 1, last = *upper;
        uint32_t more = half_hull(sorted, count, true, side->sign, pair->lateral, upper);
        *upper = last;
        used = used - 1 + (more > 1 ? more - 1 : 1);
    }
    cap->corner_count = used;
    for (uint32_t i = 0; i < used; i++)
        mark(marks, cap->corners[i].index);
    for (uint32_t i = 0; i < count; i++)
        if (mark(marks, sorted[i].index))
            cap->inner[cap->inner_count++] = sorted[i];
    if (side->polyhedron->edge_count && used > 1)
        name_edges(side, cap);
    return RG_OK;
}

/* The planes of all facets around the vertices of the cap that face the other shape. */
static rg_status collect_planes(const rg_contact_side *side, const local_frame *local,
                                const vertex_list *found, rg_arena *arena, rg_cap *cap) {
    const rg_polyhedron *p = side->polyhedron;
    uint32_t most = 0;
    for (uint32_t i = 0; i < found->count; i++)
        most += facet_count_at(p, found->vertex[i]);
    cap->planes = rg_arena_take(arena, most, sizeof *cap->planes);
    uint64_t *marks = take_marks(arena, p->facet_count);
    if (!cap->planes || !marks)
        return RG_OUT_OF_MEMORY;
    for (uint32_t i = 0; i < found->count; i++)
        for (uint32_t k = 0; k < facet_count_at(p, found->vertex[i]); k++) {
            uint32_t f = rg_contact_facet_at(side->shape, found->vertex[i], k);
            if (mark(marks, f) && plane_of(side, local, f, &cap->planes[cap->plane_count]))
                cap->plane_count++;
        }
    cap->face = cap->plane_count > 0;
    return RG_OK;
}

/* ------------------------------------------------------------------ skirt */

static bool is_gentle(const rg_contact_side *side, const local_frame *local, uint32_t facet) {
    return side->sign * rg_dot(side->polyhedron->normals[facet], local->n) >= RG_CONTACT_GENTLE;
}

/* A facet that lies partly below the cap. */
static bool leaves_cap(const rg_polyhedron *p, const vertex_list *found, uint32_t facet) {
    for (uint32_t i = p->facet_start[facet]; i < p->facet_start[facet + 1]; i++)
        if (!is_marked(found->marks, p->facet_vertices[i]))
            return true;
    return false;
}

static void add_skirt_facet(const rg_contact_side *side, const local_frame *local, uint32_t facet,
                            rg_skirt *skirt) {
    const rg_polyhedron *p = side->polyhedron;
    uint32_t first = p->facet_start[facet], count = p->facet_start[facet + 1] - first;
    rg_skirt_facet *f = &skirt->facets[skirt->facet_count++];
    f->first = skirt->corner_count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t k = side->sign > 0 ? i : count - 1 - i;
        skirt->corners[skirt->corner_count++] =
            corner_of(side->shape, local, p->facet_vertices[first + k]);
    }
    f->end = skirt->corner_count;
    plane_of(side, local, facet, &f->plane);
}

/* Edges from the cap down between two facets of which one is gentle; with `ridges` also those
 * within the cap, each once. */
static void add_skirt_edges(const rg_contact_side *side, const local_frame *local,
                            const vertex_list *found, uint32_t v, bool ridges, rg_skirt *skirt) {
    const rg_polyhedron *p = side->polyhedron;
    uint32_t count = facet_count_at(p, v);
    for (uint32_t k = 0; k < count; k++) {
        uint32_t u = p->vertex_neighbours[p->vertex_start[v] + k];
        uint32_t after = rg_contact_facet_at(side->shape, v, k),
                 before = rg_contact_facet_at(side->shape, v, k > 0 ? k - 1 : count - 1);
        bool within = is_marked(found->marks, u);
        if (within ? !ridges || u < v
                   : !(is_gentle(side, local, after) || is_gentle(side, local, before)))
            continue;
        rg_skirt_edge *e = &skirt->edges[skirt->edge_count++];
        e->from = corner_of(side->shape, local, v);
        e->to = corner_of(side->shape, local, u);
        e->from.edge = edge_between(side, v, u);
    }
}

/* Whether a box has a gentle facet that leaves the cap. */
static bool has_box_skirt(const rg_contact_side *side, const local_frame *local,
                          const vertex_list *found) {
    for (uint32_t f = 0; f < BOX_FACETS; f++)
        if ((box_facets[f] & found->box_marks) && (box_facets[f] & ~found->box_marks) &&
            is_gentle(side, local, f))
            return true;
    return false;
}

/* The gentle facets that leave the cap, each looked at once; returns how many corners they have. */
static uint32_t find_skirt_facets(const rg_contact_side *side, const local_frame *local,
                                  const vertex_list *found, uint64_t *marks, uint32_t *list,
                                  uint32_t *count) {
    const rg_polyhedron *p = side->polyhedron;
    uint32_t corners = 0;
    for (uint32_t i = 0; i < found->count; i++)
        for (uint32_t k = 0; k < facet_count_at(p, found->vertex[i]); k++) {
            uint32_t f = rg_contact_facet_at(side->shape, found->vertex[i], k);
            if (is_gentle(side, local, f) && mark(marks, f) && leaves_cap(p, found, f)) {
                list[(*count)++] = f;
                corners += p->facet_start[f + 1] - p->facet_start[f];
            }
        }
    return corners;
}

/* Where a facet leaves the cap gently, the band reaches farther than the cap's outline. */
static rg_status make_skirt(const rg_contact_side *side, const local_frame *local,
                            const vertex_list *found, bool ridges, rg_arena *arena,
                            rg_skirt *skirt) {
    const rg_polyhedron *p = side->polyhedron;
    uint32_t most = 0, count = 0;
    if (is_box(side) && !ridges && !has_box_skirt(side, local, found))
        return RG_OK;
    for (uint32_t i = 0; i < found->count; i++)
        most += facet_count_at(p, found->vertex[i]);
    uint32_t *list = rg_arena_take(arena, most, sizeof *list);
    uint64_t *marks = take_marks(arena, p->facet_count);
    if (!list || !marks)
        return RG_OUT_OF_MEMORY;
    uint32_t corners = find_skirt_facets(side, local, found, marks, list, &count);
    if (count == 0 && !ridges)
        return RG_OK;
    skirt->facets = rg_arena_take(arena, count, sizeof *skirt->facets);
    skirt->corners = rg_arena_take(arena, corners, sizeof *skirt->corners);
    skirt->edges = rg_arena_take(arena, most, sizeof *skirt->edges);
    if (!skirt->facets || !skirt->corners || !skirt->edges)
        return RG_OUT_OF_MEMORY;
    for (uint32_t i = 0; i < count; i++)
        add_skirt_facet(side, local, list[i], skirt);
    if (p->edge_count)
        for (uint32_t i = 0; i < found->count; i++)
            add_skirt_edges(side, local, found, found->vertex[i], ridges, skirt);
    return RG_OK;
}

static rg_status few_corners(const rg_contact_side *side, const local_frame *local,
                             const vertex_list *found, rg_arena *arena, rg_cap *cap) {
    cap->corners = rg_arena_take(arena, 2, sizeof *cap->corners);
    if (!cap->corners)
        return RG_OUT_OF_MEMORY;
    cap->corner_count = found->count;
    for (uint32_t i = 0; i < found->count; i++)
        cap->corners[i] = corner_of(side->shape, local, found->vertex[i]);
    if (found->count == 2 && side->polyhedron->edge_count)
        name_edges(side, cap);
    return RG_OK;
}

static rg_status make_polyhedral(const rg_contact_pair *pair, const rg_contact_side *side,
                                 const rg_contact_frame *frame, double band, rg_arena *arena,
                                 rg_cap *cap) {
    local_frame local = to_local(side, frame);
    vertex_list found; /* not cleared: found by the search, all of it */
    rg_status status = search(side, rg_scale(side->sign, local.n), band, arena, &found);
    if (status != RG_OK)
        return status;
    cap->top = corner_of(side->shape, &local, found.vertex[0]).z;
    rg_cap_plane plane;
    bool ridges = false; /* edges within the cap: only where several facets are level */
    uint32_t facet =
        found.count >= (pair->planar ? 2u : 3u) ? single_facet(side, &found) : RG_CONTACT_NO_FACET;
    if (facet != RG_CONTACT_NO_FACET && plane_of(side, &local, facet, &plane)) {
        status = facet_outline(side, &local, facet, arena, cap);
        if (status == RG_OK)
            cap->planes[0] = plane;
    } else if (found.count <= 2) {
        status = few_corners(side, &local, &found, arena, cap);
    } else {
        ridges = pair->ahead;
        status = hull_outline(pair, side, &local, &found, arena, cap);
        if (status == RG_OK)
            status = collect_planes(side, &local, &found, arena, cap);
    }
    /* A plane lies over all of the cap, and its band ends where the cap does. */
    bool over_plane = pair->side[side->sign > 0].shape->kind == RG_SHAPE_HALFSPACE;
    if (status == RG_OK && !over_plane)
        status = make_skirt(side, &local, &found, ridges, arena, &cap->skirt);
    return status;
}

/* ------------------------------------------------------------------ common */

void rg_cap_finish(rg_cap *cap) {
    if (cap->kind != RG_CAP_OUTLINE)
        return;
    uint32_t left = 0, right = 0;
    double low = INFINITY, high = -INFINITY;
    for (uint32_t i = 0; i < cap->corner_count; i++) {
        const rg_cap_corner *c = &cap->corners[i];
        low = c->y < low ? c->y : low;
        high = c->y > high ? c->y : high;
        if (c->x < cap->corners[left].x)
            left = i;
        if (c->x > cap->corners[right].x)
            right = i;
    }
    cap->leftmost = left;
    cap->rightmost = right;
    cap->low_y = low;
    cap->high_y = high;
}

double rg_cap_height(const rg_cap *cap, double x, double y, uint32_t *plane) {
    if (plane)
        *plane = 0;
    if (cap->plane_count == 0) {
        const rg_cap_corner *a = &cap->corners[0];
        if (cap->corner_count == 1)
            return a->z;
        const rg_cap_corner *b = &cap->corners[1];
        double dx = b->x - a->x, dy = b->y - a->y, l = dx * dx + dy * dy;
        double s = l > 0 ? ((x - a->x) * dx + (y - a->y) * dy) / l : 0;
        s = s < 0 ? 0 : s > 1 ? 1 : s;
        return a->z + s * (b->z - a->z);
    }
    double best = INFINITY;
    for (uint32_t i = 0; i < cap->plane_count; i++) {
        const rg_cap_plane *p = &cap->planes[i];
        double z = cap->sign * (p->height + p->slope_x * x + p->slope_y * y);
        if (z < best) {
            best = z;
            if (plane)
                *plane = i;
        }
    }
    return cap->sign * best;
}

static rg_status make_halfspace(const rg_contact_side *side, const rg_contact_frame *frame,
                                rg_arena *arena, rg_cap *cap) {
    rg_vec3 a = rg_mat3_apply(&side->rotation, def_of(side)->normal);
    double offset = rg_dot(a, side->position) + def_of(side)->offset, c = rg_dot(a, frame->n);
    cap->planes = rg_arena_take(arena, 1, sizeof *cap->planes);
    if (!cap->planes)
        return RG_OUT_OF_MEMORY;
    cap->kind = RG_CAP_PLANE;
    cap->face = true;
    cap->plane_count = 1;
    cap->planes[0] =
        (rg_cap_plane){offset / c, -rg_dot(a, frame->u) / c, -rg_dot(a, frame->v) / c, 0};
    cap->top = offset / c;
    return RG_OK;
}

rg_status rg_cap_make(const rg_contact_pair *pair, int number, const rg_contact_frame *frame,
                      double band, rg_arena *arena, rg_cap *cap) {
    const rg_contact_side *side = &pair->side[number];
    *cap = (rg_cap){.kind = RG_CAP_OUTLINE, .sign = side->sign};
    rg_status status;
    if (side->polyhedron)
        status = make_polyhedral(pair, side, frame, band, arena, cap);
    else if (rg_shape_get_kind(side->shape) == RG_SHAPE_HALFSPACE)
        status = make_halfspace(side, frame, arena, cap);
    else
        status = rg_cap_make_curved(pair, side, frame, band, arena, cap);
    if (status == RG_OK)
        rg_cap_finish(cap);
    return status;
}
