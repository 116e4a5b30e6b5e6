/* All points of two caps: where their outlines overlap, seen along the normal.
 *
 * The overlap of two convex outlines is a convex polygon. Its corners are corners of one outline
 * inside the other (vertex-face points) and crossings of their sides (edge-edge points). Each is
 * found and judged by itself, with the one tolerance `lateral`: there is no chain of corners that
 * rounding could break. A crossing is left out if it is next to a corner that already counts as
 * inside, and only then; so no corner of the overlap is lost, and what rounding decides is only
 * under which name it is found where outlines come within `lateral` of each other's corners.
 *
 * Sides are found by their interval in x: an outline is a lower and an upper chain, each sorted in
 * x, and bisection gives those that matter. Cost: O(k log k) for k corners.
 *
 * Where several facets are level, vertices inside the outline count if they are deeper than every
 * corner, not much higher where the caller looks ahead to what turning may bring down (`inner`), or
 * lower than the corners around them. Others ask for nothing new: the gap that a motion leaves is
 * the gap of now and an affine function of the place, so that on a flat patch no gap is smaller
 * than all those of its corners.
 * Tested by tests/contact/test_manifold.c. */
#include "contact/contact.h"

#include "base/base_sort.h"

#include <string.h>

/* Outlines this small are scanned. */
#define SCAN_CORNERS 8
enum { FIRST_EVENTS = 16 };
/* In `lateral`: up to where a corner counts as inside, so that corners that touch always do, and
 * how near to such a corner a crossing is the same point. */
#define INSIDE_FACTOR 2
#define CORNER_FACTOR 3

static bool make_room(rg_clip *clip) {
    uint32_t capacity = clip->capacity ? 2 * clip->capacity : FIRST_EVENTS;
    rg_clip_point *points = rg_arena_take(clip->arena, capacity, sizeof *points);
    if (!points) {
        clip->status = RG_OUT_OF_MEMORY;
        return false;
    }
    if (clip->count)
        memcpy(points, clip->points, clip->count * sizeof *points);
    clip->points = points;
    clip->capacity = capacity;
    return true;
}

void rg_clip_add(rg_clip *clip, rg_clip_point point) {
    point.gap = point.z[1] - point.z[0];
    point.id = rg_contact_id(point.feature);
    if (!(point.gap <= clip->most) || (clip->count == clip->capacity && !make_room(clip)))
        return;
    clip->points[clip->count++] = point;
}

/* ------------------------------------------------------------------ sides by interval */

typedef struct side_range {
    uint32_t first, end; /* positions in the chain */
} side_range;

/* i modulo n for i < 2 n. */
static uint32_t around(uint32_t i, uint32_t n) {
    return i < n ? i : i - n;
}

static uint32_t chain_length(const rg_cap *cap, int chain) {
    uint32_t n = cap->corner_count, lower = around(cap->rightmost + n - cap->leftmost, n);
    return chain == 0 ? lower : n - lower;
}

/* The corner at a position of a chain that runs from left to right: the lower chain goes
 * counter-clockwise from the leftmost corner, the upper one clockwise. */
static const rg_cap_corner *chain_corner(const rg_cap *cap, int chain, uint32_t position) {
    uint32_t n = cap->corner_count;
    uint32_t i = chain == 0 ? cap->leftmost + position : cap->leftmost + n - position;
    return &cap->corners[around(i, n)];
}

/* The number of the side at a position, that is of its first corner counter-clockwise. */
static uint32_t chain_side(const rg_cap *cap, int chain, uint32_t position) {
    uint32_t n = cap->corner_count;
    uint32_t i = chain == 0 ? cap->leftmost + position : cap->leftmost + n - position - 1;
    return around(i, n);
}

/* Of an outline of many corners: the sides of a chain that meet [low, high] in x, and one more on
 * either side: neighbouring corners may be out of order by rounding. */
static side_range sides_in(const rg_cap *cap, int chain, double low, double high) {
    uint32_t length = chain_length(cap, chain), first = 0, end = length;
    while (first < end) {
        uint32_t middle = first + (end - first) / 2;
        if (chain_corner(cap, chain, middle + 1)->x < low)
            first = middle + 1;
        else
            end = middle;
    }
    for (end = first; end < length && chain_corner(cap, chain, end)->x <= high; end++) {
    }
    return (side_range){first > 0 ? first - 1 : 0, end < length ? end + 1 : length};
}

static uint32_t side_number(const rg_cap *cap, int chain, uint32_t position) {
    return cap->corner_count <= SCAN_CORNERS ? position : chain_side(cap, chain, position);
}

static const rg_cap_corner *next_corner(const rg_cap *cap, uint32_t side) {
    return &cap->corners[side + 1 < cap->corner_count ? side + 1 : 0];
}

/* ------------------------------------------------------------------ inside */

static bool at_corner(const rg_cap_corner *c, double x, double y, double lateral) {
    return fabs(c->x - x) <= lateral && fabs(c->y - y) <= lateral;
}

typedef struct place {
    double x, y, lateral, slack;
} place;

static bool inside_sides(const rg_cap *cap, int chain, side_range range, const place *at,
                         const rg_cap_corner **touched) {
    double x = at->x, y = at->y, lateral = at->lateral;
    for (uint32_t k = range.first; k < range.end; k++) {
        uint32_t side = side_number(cap, chain, k);
        const rg_cap_corner *a = &cap->corners[side], *b = next_corner(cap, side);
        double dx = b->x - a->x, dy = b->y - a->y;
        double within = dx * (y - a->y) - dy * (x - a->x);
        if (within < 0 && within < -at->slack * sqrt(dx * dx + dy * dy))
            return false;
        if (at_corner(a, x, y, lateral))
            *touched = a;
        else if (at_corner(b, x, y, lateral))
            *touched = b;
    }
    return true;
}

/* Whether a place is on the inner side of every side near it; `touched` gets a corner there. */
static bool inside_outline(const rg_cap *cap, double x, double y, double lateral,
                           const rg_cap_corner **touched) {
    double slack = INSIDE_FACTOR * lateral;
    place at = {x, y, lateral, slack};
    if (x < cap->corners[cap->leftmost].x - slack || x > cap->corners[cap->rightmost].x + slack ||
        y < cap->low_y - slack || y > cap->high_y + slack)
        return false;
    if (cap->corner_count == 1) {
        *touched = &cap->corners[0];
        return true;
    }
    if (cap->corner_count <= SCAN_CORNERS)
        return inside_sides(cap, 0, (side_range){0, cap->corner_count}, &at, touched);
    for (int chain = 0; chain < 2; chain++)
        if (!inside_sides(cap, chain, sides_in(cap, chain, x - slack, x + slack), &at, touched))
            return false;
    return true;
}

static bool inside(const rg_cap *cap, double x, double y, double lateral,
                   const rg_cap_corner **touched) {
    if (cap->kind == RG_CAP_PLANE)
        return true;
    if (cap->kind == RG_CAP_DISC) {
        double dx = x - cap->centre_x, dy = y - cap->centre_y;
        return sqrt(dx * dx + dy * dy) <= cap->radius + INSIDE_FACTOR * lateral;
    }
    return inside_outline(cap, x, y, lateral, touched);
}

/* ------------------------------------------------------------------ corner points */

/* Names the meeting of a corner with what it lies over, where at least one is curved. A
 * polyhedron's facet, or what else lies under a corner of the curved shape, does not enter the
 * name: the point stays the same when it passes from facet to facet. */
static void name_smooth(const rg_cap *over, const rg_cap_corner *corner, const rg_cap *under,
                        const rg_cap_corner *touched, uint32_t *index, uint32_t *under_index) {
    if (touched) {
        *index = over->curved ? corner->index : 0;
        *under_index = under->curved ? touched->index : 0;
    } else if (under->curved) {
        *index = corner->index;
        *under_index = under->kind == RG_CAP_DISC ? RG_CURVED_FLAT : RG_CURVED_LINE + 1;
    } else {
        *index = corner->index;
        *under_index = 0;
    }
}

/* The name with the corner on shape 2. */
static rg_feature_pair name_corner(const rg_cap *over, const rg_cap_corner *corner,
                                   const rg_cap *under, const rg_cap_corner *touched,
                                   uint32_t plane) {
    rg_feature_pair f;
    if (over->curved || under->curved) {
        f.kind = RG_FEATURES_SMOOTH;
        name_smooth(over, corner, under, touched, &f.index2, &f.index1);
    } else if (touched) {
        f = (rg_feature_pair){RG_FEATURES_VERTEX_VERTEX, touched->index, corner->index};
    } else if (under->face) {
        uint32_t facet = under->planes[plane].facet;
        f = (rg_feature_pair){RG_FEATURES_FACE_VERTEX, facet, corner->index};
    } else {
        f = (rg_feature_pair){RG_FEATURES_EDGE_VERTEX, under->corners[0].edge, corner->index};
    }
    return f;
}

static rg_feature_pair swapped(rg_feature_pair f) {
    rg_feature_kind kind = f.kind;
    if (kind == RG_FEATURES_FACE_VERTEX)
        kind = RG_FEATURES_VERTEX_FACE;
    else if (kind == RG_FEATURES_EDGE_VERTEX)
        kind = RG_FEATURES_VERTEX_EDGE;
    return (rg_feature_pair){kind, f.index2, f.index1};
}

/* The point of one corner of the cap `over`; false if it is not over the other cap. */
static bool corner_point(const rg_cap *over, const rg_cap_corner *corner, const rg_cap *under,
                         double lateral, rg_clip_point *point) {
    const rg_cap_corner *touched = NULL;
    if (!inside(under, corner->x, corner->y, lateral, &touched))
        return false;
    uint32_t plane;
    double z = rg_cap_height(under, corner->x, corner->y, &plane);
    rg_feature_pair feature = name_corner(over, corner, under, touched, plane);
    bool second = over->sign < 0; /* the corner is shape 2's */
    *point = (rg_clip_point){.x = {corner->x, corner->x},
                             .y = {corner->y, corner->y},
                             .z = {second ? z : corner->z, second ? corner->z : z},
                             .feature = second ? feature : swapped(feature)};
    return true;
}

static void add_corners(const rg_cap *over, const rg_cap *under, rg_clip *clip) {
    if (over->kind == RG_CAP_PLANE)
        return;
    rg_clip_point point;
    for (uint32_t i = 0; i < over->corner_count; i++)
        if (corner_point(over, &over->corners[i], under, clip->lateral, &point))
            rg_clip_add(clip, point);
}

static double turn_of(const rg_ring_corner *a, const rg_ring_corner *b, double x, double y) {
    return (b->x - a->x) * (y - a->y) - (b->y - a->y) * (x - a->x);
}

/* Whether a point is lower than the surface over the corners of `ring`, a fan of triangles from the
 * first one; or outside it. */
static bool is_lower(const rg_clip *clip, const rg_ring *ring, const rg_clip_point *p) {
    double x = p->x[0], y = p->y[0];
    for (uint32_t k = 1; k + 1 < ring->count; k++) {
        const rg_ring_corner *c[3] = {&ring->corner[0], &ring->corner[k], &ring->corner[k + 1]};
        double part[3], sum = turn_of(c[0], c[1], c[2]->x, c[2]->y), gap = 0;
        for (int i = 0; i < 3; i++) {
            part[i] = turn_of(c[(i + 1) % 3], c[(i + 2) % 3], x, y) / sum;
            gap += part[i] * clip->points[c[i]->point].gap;
        }
        if (part[0] >= 0 && part[1] >= 0 && part[2] >= 0)
            return p->z[1] - p->z[0] < gap - clip->flat;
    }
    return true;
}

static void add_inner(const rg_cap *over, const rg_cap *under, const rg_ring *ring, double depth,
                      rg_clip *clip) {
    rg_clip_point point;
    for (uint32_t i = 0; i < over->inner_count; i++)
        if (corner_point(over, &over->inner[i], under, clip->lateral, &point) &&
            (point.z[1] - point.z[0] < depth + clip->inner || is_lower(clip, ring, &point)))
            rg_clip_add(clip, point);
}

/* ------------------------------------------------------------------ crossings */

/* A crossing at s of side a-b; height on a segment is its own, on a face the face's. */
static double side_height(const rg_cap *cap, const rg_cap_corner *a, const rg_cap_corner *b,
                          double s, double x, double y) {
    if (cap->plane_count > 1) /* an outline's chord may run below the surface */
        return rg_cap_height(cap, x, y, NULL);
    return a->z + s * (b->z - a->z);
}

static rg_feature_pair name_crossing(const rg_cap *cap1, uint32_t index1, const rg_cap *cap2,
                                     uint32_t index2) {
    bool smooth = cap1->curved || cap2->curved;
    return (rg_feature_pair){smooth ? RG_FEATURES_SMOOTH : RG_FEATURES_EDGE_EDGE, index1, index2};
}

/* Where two segments cross: at s and t of their lengths, which are given too. */
typedef struct crossing {
    double s, t, length1, length2;
} crossing;

static bool cross_segments(const rg_cap_corner *a, const rg_cap_corner *b, const rg_cap_corner *p,
                           const rg_cap_corner *q, crossing *c) {
    double ux = b->x - a->x, uy = b->y - a->y, vx = q->x - p->x, vy = q->y - p->y;
    double wx = p->x - a->x, wy = p->y - a->y;
    double across = ux * vy - uy * vx;
    c->s = (wx * vy - wy * vx) / across;
    c->t = (wx * uy - wy * ux) / across;
    if (!(c->s > 0 && c->s < 1 && c->t > 0 && c->t < 1))
        return false;
    c->length1 = sqrt(ux * ux + uy * uy);
    c->length2 = sqrt(vx * vx + vy * vy);
    /* Parallel sides that run along each other do so from corner to corner. */
    return fabs(across) > RG_CONTACT_ROUNDING * c->length1 * c->length2;
}

/* Whether a place at s of the side a-b is next to an end of it that counts as inside the other
 * outline. */
static bool is_taken(const rg_cap_corner *a, const rg_cap_corner *b, double s, double length,
                     const rg_cap *other, double lateral) {
    const rg_cap_corner *touched = NULL;
    double reach = CORNER_FACTOR * lateral;
    return (s * length <= reach && inside(other, a->x, a->y, lateral, &touched)) ||
           ((1 - s) * length <= reach && inside(other, b->x, b->y, lateral, &touched));
}

/* A side where the outline cuts through a facet that goes on beyond it, as a part of the skirt:
 * what the facet's own edges cross is there. */
static bool is_cut(const rg_cap *cap, const rg_cap_corner *first) {
    return cap->skirt.facet_count && (first->edge & RG_CONTACT_CHORD);
}

static void cross_sides(const rg_cap *cap1, uint32_t side1, const rg_cap *cap2, uint32_t side2,
                        rg_clip *clip) {
    const rg_cap_corner *a = &cap1->corners[side1], *b = next_corner(cap1, side1);
    const rg_cap_corner *p = &cap2->corners[side2], *q = next_corner(cap2, side2);
    crossing c;
    if (!cross_segments(a, b, p, q, &c) || is_cut(cap1, a) || is_cut(cap2, p) ||
        is_taken(a, b, c.s, c.length1, cap2, clip->lateral) ||
        is_taken(p, q, c.t, c.length2, cap1, clip->lateral))
        return;
    double x = a->x + c.s * (b->x - a->x), y = a->y + c.s * (b->y - a->y);
    rg_clip_add(clip, (rg_clip_point){.x = {x, x},
                                      .y = {y, y},
                                      .z = {side_height(cap1, a, b, c.s, x, y),
                                            side_height(cap2, p, q, c.t, x, y)},
                                      .feature = name_crossing(cap1, a->edge, cap2, p->edge)});
}

/* How many different sides an outline has: a segment has one. */
static uint32_t side_count(const rg_cap *cap) {
    return cap->corner_count > 2 ? cap->corner_count : cap->corner_count - 1;
}

static void cross_outlines(const rg_cap *cap1, const rg_cap *cap2, rg_clip *clip) {
    uint32_t count1 = side_count(cap1), count2 = side_count(cap2);
    bool scans = cap1->corner_count <= SCAN_CORNERS;
    for (uint32_t side2 = 0; side2 < count2; side2++) {
        for (uint32_t side1 = 0; scans && side1 < count1; side1++)
            cross_sides(cap1, side1, cap2, side2, clip);
        if (scans)
            continue;
        double x = cap2->corners[side2].x, next = next_corner(cap2, side2)->x;
        for (int chain = 0; chain < 2; chain++) {
            side_range range = sides_in(cap1, chain, fmin(x, next), fmax(x, next));
            for (uint32_t k = range.first; k < range.end; k++) {
                uint32_t side1 = side_number(cap1, chain, k);
                if (side1 < count1)
                    cross_sides(cap1, side1, cap2, side2, clip);
            }
        }
    }
}

/* A rim with the sides of an outline: at most twice each. */
static void cross_rim(const rg_cap *disc, const rg_cap *outline, rg_clip *clip) {
    for (uint32_t side = 0; side < side_count(outline); side++) {
        const rg_cap_corner *a = &outline->corners[side], *b = next_corner(outline, side);
        double dx = b->x - a->x, dy = b->y - a->y, length = sqrt(dx * dx + dy * dy);
        if (!(length > 0))
            continue;
        double wx = disc->centre_x - a->x, wy = disc->centre_y - a->y;
        double along = (wx * dx + wy * dy) / length, off = (wx * dy - wy * dx) / length;
        double half = (disc->radius - off) * (disc->radius + off);
        if (!(half > 0))
            continue;
        half = sqrt(half);
        for (uint32_t k = 0; k < 2; k++) {
            double at = along + (k == 0 ? -half : half);
            double s = at / length;
            if (!(s > 0 && s < 1) || is_taken(a, b, s, length, disc, clip->lateral))
                continue;
            double x = a->x + s * dx, y = a->y + s * dy;
            double z[2] = {rg_cap_height(disc, x, y, NULL), side_height(outline, a, b, s, x, y)};
            int first = disc->sign > 0 ? 0 : 1;
            rg_feature_pair f = name_crossing(disc, RG_CURVED_RIM + k, outline, a->edge);
            rg_clip_add(clip, (rg_clip_point){.x = {x, x},
                                              .y = {y, y},
                                              .z = {z[first], z[1 - first]},
                                              .feature = first == 0 ? f : swapped(f)});
        }
    }
}

static void cross_rims(const rg_cap *cap1, const rg_cap *cap2, rg_clip *clip) {
    double dx = cap2->centre_x - cap1->centre_x, dy = cap2->centre_y - cap1->centre_y;
    double apart = sqrt(dx * dx + dy * dy), r1 = cap1->radius, r2 = cap2->radius;
    if (!(apart > clip->lateral && apart < r1 + r2 && apart > fabs(r1 - r2)))
        return;
    double along = 0.5 * (apart + (r1 - r2) * (r1 + r2) / apart);
    double across = sqrt(fmax(0, (r1 - along) * (r1 + along)));
    dx /= apart;
    dy /= apart;
    for (uint32_t k = 0; k < 2; k++) {
        double side = k == 0 ? across : -across;
        double x = cap1->centre_x + along * dx - side * dy;
        double y = cap1->centre_y + along * dy + side * dx;
        rg_clip_add(
            clip,
            (rg_clip_point){.x = {x, x},
                            .y = {y, y},
                            .z = {rg_cap_height(cap1, x, y, NULL), rg_cap_height(cap2, x, y, NULL)},
                            .feature = {RG_FEATURES_SMOOTH, RG_CURVED_RIM + k, RG_CURVED_RIM + k}});
    }
}

static void add_crossings(const rg_cap *cap1, const rg_cap *cap2, rg_clip *clip) {
    if (cap1->kind == RG_CAP_PLANE || cap2->kind == RG_CAP_PLANE)
        return;
    bool disc1 = cap1->kind == RG_CAP_DISC, disc2 = cap2->kind == RG_CAP_DISC;
    if (disc1 && disc2)
        cross_rims(cap1, cap2, clip);
    else if (disc1)
        cross_rim(cap1, cap2, clip);
    else if (disc2)
        cross_rim(cap2, cap1, clip);
    else
        cross_outlines(cap1, cap2, clip);
}

/* ------------------------------------------------------------------ skirts */

static bool inside_facet(const rg_skirt *skirt, const rg_skirt_facet *f, double x, double y) {
    const rg_cap_corner *first = &skirt->corners[f->first];
    if (f->end - f->first == 2) /* in the plane: all y are 0 */
        return fmin(first[0].x, first[1].x) <= x && x <= fmax(first[0].x, first[1].x);
    for (uint32_t i = f->first; i < f->end; i++) {
        const rg_cap_corner *a = &skirt->corners[i],
                            *b = &skirt->corners[i + 1 < f->end ? i + 1 : f->first];
        if ((b->x - a->x) * (y - a->y) - (b->y - a->y) * (x - a->x) < 0)
            return false;
    }
    return true;
}

/* Corners of one cap over the gentle facets around the other. */
static void add_skirt_corners(const rg_cap *over, const rg_cap *under, rg_clip *clip) {
    if (over->kind != RG_CAP_OUTLINE || over->curved)
        return;
    for (uint32_t i = 0; i < over->corner_count; i++) {
        const rg_cap_corner *c = &over->corners[i], *touched = NULL;
        for (uint32_t k = 0; k < under->skirt.facet_count; k++) {
            const rg_skirt_facet *f = &under->skirt.facets[k];
            if (!inside_facet(&under->skirt, f, c->x, c->y) ||
                inside(under, c->x, c->y, clip->lateral, &touched))
                continue;
            double z = f->plane.height + f->plane.slope_x * c->x + f->plane.slope_y * c->y;
            bool second = over->sign < 0;
            rg_feature_pair feature = {RG_FEATURES_FACE_VERTEX, f->plane.facet, c->index};
            rg_clip_add(clip, (rg_clip_point){.x = {c->x, c->x},
                                              .y = {c->y, c->y},
                                              .z = {second ? z : c->z, second ? c->z : z},
                                              .feature = second ? feature : swapped(feature)});
        }
    }
}

static void cross_edges(const rg_cap_corner *a, const rg_cap_corner *b, const rg_cap_corner *p,
                        const rg_cap_corner *q, rg_feature_kind kind, rg_clip *clip) {
    crossing c;
    if (!cross_segments(a, b, p, q, &c) || fmin(c.s, 1 - c.s) * c.length1 <= clip->lateral ||
        fmin(c.t, 1 - c.t) * c.length2 <= clip->lateral)
        return;
    double x = a->x + c.s * (b->x - a->x), y = a->y + c.s * (b->y - a->y);
    rg_clip_add(clip, (rg_clip_point){.x = {x, x},
                                      .y = {y, y},
                                      .z = {a->z + c.s * (b->z - a->z), p->z + c.t * (q->z - p->z)},
                                      .feature = {kind, a->edge, p->edge}});
}

/* Edges down from one cap with the sides of the other, which may be the line of a curved shape. */
static void cross_skirt(const rg_cap *cap1, const rg_cap *cap2, rg_clip *clip) {
    bool smooth = cap1->curved || cap2->curved;
    rg_feature_kind kind = smooth ? RG_FEATURES_SMOOTH : RG_FEATURES_EDGE_EDGE;
    for (uint32_t i = 0; i < cap1->skirt.edge_count; i++) {
        const rg_skirt_edge *e = &cap1->skirt.edges[i];
        for (uint32_t side = 0; cap2->kind == RG_CAP_OUTLINE && side < side_count(cap2); side++)
            if (!(cap2->corners[side].edge & RG_CONTACT_CHORD))
                cross_edges(&e->from, &e->to, &cap2->corners[side], next_corner(cap2, side), kind,
                            clip);
        for (uint32_t k = 0; k < cap2->skirt.edge_count; k++)
            cross_edges(&e->from, &e->to, &cap2->skirt.edges[k].from, &cap2->skirt.edges[k].to,
                        kind, clip);
    }
    for (uint32_t side = 0; cap1->kind == RG_CAP_OUTLINE && side < side_count(cap1); side++)
        for (uint32_t k = 0; k < cap2->skirt.edge_count; k++)
            if (!(cap1->corners[side].edge & RG_CONTACT_CHORD))
                cross_edges(&cap1->corners[side], next_corner(cap1, side),
                            &cap2->skirt.edges[k].from, &cap2->skirt.edges[k].to, kind, clip);
}

/* ------------------------------------------------------------------ order */

static bool before(const rg_clip_point *a, const rg_clip_point *b) {
    return a->id != b->id ? a->id < b->id : a->gap < b->gap;
}

RG_DEFINE_HEAP_SORT(sort_points, rg_clip_point, before)

void rg_clip_sort(rg_clip *clip) {
    rg_clip_point *points = clip->points;
    sort_points(points, clip->count);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < clip->count; i++)
        if (kept == 0 || points[i].id != points[kept - 1].id)
            points[kept++] = points[i];
    clip->count = kept;
}

void rg_clip_caps(const rg_cap *cap1, const rg_cap *cap2, rg_clip *clip) {
    add_corners(cap2, cap1, clip);
    add_corners(cap1, cap2, clip);
    add_crossings(cap1, cap2, clip);
    add_skirt_corners(cap2, cap1, clip);
    add_skirt_corners(cap1, cap2, clip);
    cross_skirt(cap1, cap2, clip);
    double depth = INFINITY;
    for (uint32_t i = 0; i < clip->count; i++)
        depth = fmin(depth, clip->points[i].gap);
    rg_ring ring = {0};
    if (cap1->inner_count + cap2->inner_count > 0 &&
        rg_clip_ring(clip, INFINITY, clip->arena, &ring))
        clip->status = RG_OUT_OF_MEMORY;
    add_inner(cap2, cap1, &ring, depth, clip);
    add_inner(cap1, cap2, &ring, depth, clip);
    rg_clip_sort(clip);
}
