/* The least depth where a shape is curved.
 *
 * Balls, discs and capsules are points and segments with a radius, and the depth of the shapes is
 * that of these cores plus the radii. Cores that are apart by s: radii - s, from the distance
 * (narrow_distance.c). Cores that overlap: a point inside a polyhedron is nearest to one of its
 * facets; points and segments without volume leave across both; otherwise a polytope inside K is
 * expanded: the facet nearest to d is replaced by the support point of K beyond it until there is
 * none (van den Bergen, Proximity Queries and Penetration Depth Computation on 3D Game Objects,
 * GDC 2001). The nearest facet bounds the depth from below, the support beyond it from above, so
 * the search is global. d need not be inside at first: then the distance of a facet is negative.
 *
 * How it fails: where K is round about d almost everywhere, the limit of corners ends the search;
 * depth - at_least tells by how much it may be off.
 * Tested by tests/narrow/test_depth.c. */
#include "narrow/narrow_depth.h"

/* Corners of the polytope at most. Two ellipsoids take 60 to 150. */
enum { MOST_CORNERS = 250, MOST_FACES = 2 * MOST_CORNERS };
/* Lengths in units of the pair's size. Bounds this close end the search: */
#define ENOUGH 1e-13
/* Faces narrower than this have no normal that could be relied on. They are left out: what they
 * hide is no nearer than their longest edge, but for this. */
#define SLIVER 1e-11
/* A corner this near to another one is the same. */
#define SAME 1e-13
/* Cores nearer than this count as overlapping: the direction between them is rounding. */
#define TOUCHING 1e-9
/* What is higher than a facet by no more than this is in its plane. */
#define FLAT 1e-13
/* Sine below which the axes of two capsules are parallel. */
#define PARALLEL 1e-9

typedef struct corner {
    rg_vec3 at;       /* of K, relative to d */
    rg_vec3 point[2]; /* on the cores: at + d is their sum */
} corner;

typedef struct face {
    uint32_t v[3]; /* counter-clockwise from outside */
    rg_vec3 n;
    double height; /* n.at of its corners: the distance from d; infinite if it is left out */
} face;

typedef struct polytope {
    rg_cores *cores;
    uint32_t corner_count, face_count;
    corner corners[MOST_CORNERS];
    face faces[MOST_FACES];
    uint8_t seen[MOST_FACES]; /* by a new corner: see mark_seen */
} polytope;

static corner support(rg_cores *cores, rg_vec3 n) {
    corner c;
    for (int i = 0; i < 2; i++) {
        uint32_t label;
        c.point[i] = rg_surface_support(&cores->side[i], n, &label);
    }
    c.at = rg_sub(rg_add(c.point[0], c.point[1]), cores->d);
    return c;
}

static face face_of(const polytope *p, uint32_t a, uint32_t b, uint32_t c) {
    face f = {.v = {a, b, c}, .height = INFINITY};
    rg_vec3 x = p->corners[a].at, y = p->corners[b].at, z = p->corners[c].at;
    f.n = rg_cross(rg_sub(y, x), rg_sub(z, x));
    double area = rg_length(f.n);
    double longest = sqrt(rg_max3(rg_length_squared(rg_sub(y, x)), rg_length_squared(rg_sub(z, y)),
                                  rg_length_squared(rg_sub(x, z))));
    if (area > SLIVER * p->cores->size * longest) {
        f.n = rg_scale(1 / area, f.n);
        f.height = rg_max3(rg_dot(f.n, x), rg_dot(f.n, y), rg_dot(f.n, z));
    }
    return f;
}

/* ------------------------------------------------------------------ the first tetrahedron */

/* Of the supports along n and -n the one farther from `from` along it. */
static corner farther(rg_cores *cores, rg_vec3 n, rg_vec3 from) {
    corner up = support(cores, n), down = support(cores, rg_neg(n));
    return rg_dot(n, rg_sub(up.at, from)) >= rg_dot(n, rg_sub(from, down.at)) ? up : down;
}

/* K has volume, so that it is wide along every direction. */
static void begin(polytope *p, rg_cores *cores) {
    corner *c = p->corners;
    p->cores = cores;
    p->corner_count = p->face_count = 4;
    c[0] = support(cores, rg_vec3_make(1, 0, 0));
    c[1] = support(cores, rg_vec3_make(-1, 0, 0));
    rg_vec3 b[2];
    rg_tangents(rg_normalised(rg_sub(c[1].at, c[0].at)), false, b);
    c[2] = farther(cores, b[0], c[0].at);
    rg_vec3 n = rg_normalised(rg_cross(rg_sub(c[1].at, c[0].at), rg_sub(c[2].at, c[0].at)));
    c[3] = farther(cores, n, c[0].at);
    bool below = rg_dot(n, rg_sub(c[3].at, c[0].at)) < 0;
    static const uint32_t loops[4][3] = {{0, 1, 2}, {0, 3, 1}, {1, 3, 2}, {2, 3, 0}};
    for (int i = 0; i < 4; i++)
        p->faces[i] = below ? face_of(p, loops[i][0], loops[i][1], loops[i][2])
                            : face_of(p, loops[i][0], loops[i][2], loops[i][1]);
}

/* ------------------------------------------------------------------ expansion */

enum { NOT_SEEN, ABOVE, SEEN };

/* Whether a seen face has the edge. */
static bool is_seen_at(const polytope *p, uint32_t from, uint32_t to) {
    for (uint32_t f = 0; f < p->face_count; f++)
        for (int k = 0; k < 3 && p->seen[f] == SEEN; k++)
            if (p->faces[f].v[k] == from && p->faces[f].v[(k + 1) % 3] == to)
                return true;
    return false;
}

/* The faces that have the corner above them and hang together with the first one: in rounding
 * others may have it above them, too, and without them the hole has one rim. */
static void mark_seen(polytope *p, uint32_t first, rg_vec3 at) {
    double flat = FLAT * p->cores->size;
    for (uint32_t f = 0; f < p->face_count; f++)
        p->seen[f] = rg_dot(p->faces[f].n, at) > p->faces[f].height + flat ? ABOVE : NOT_SEEN;
    p->seen[first] = SEEN;
    for (bool more = true; more;) {
        more = false;
        for (uint32_t f = 0; f < p->face_count; f++)
            for (int k = 0; k < 3 && p->seen[f] == ABOVE; k++)
                if (is_seen_at(p, p->faces[f].v[(k + 1) % 3], p->faces[f].v[k])) {
                    p->seen[f] = SEEN;
                    more = true;
                }
    }
}

/* Replaces what the new corner sees by faces to it; false if there is no room. */
static bool expand(polytope *p, uint32_t nearest, corner c) {
    if (p->corner_count == MOST_CORNERS)
        return false;
    uint32_t rim[MOST_FACES][2], edges = 0, kept = 0, apex = p->corner_count;
    mark_seen(p, nearest, c.at);
    for (uint32_t f = 0; f < p->face_count; f++)
        for (int k = 0; k < 3 && p->seen[f] == SEEN; k++) {
            uint32_t from = p->faces[f].v[k], to = p->faces[f].v[(k + 1) % 3];
            if (is_seen_at(p, to, from))
                continue;
            if (edges == MOST_FACES)
                return false;
            rim[edges][0] = from;
            rim[edges++][1] = to;
        }
    for (uint32_t f = 0; f < p->face_count; f++)
        kept += p->seen[f] != SEEN;
    if (kept + edges > MOST_FACES)
        return false;
    kept = 0;
    for (uint32_t f = 0; f < p->face_count; f++)
        if (p->seen[f] != SEEN)
            p->faces[kept++] = p->faces[f];
    p->corners[p->corner_count++] = c;
    for (uint32_t e = 0; e < edges; e++)
        p->faces[kept++] = face_of(p, rim[e][0], rim[e][1], apex);
    p->face_count = kept;
    return true;
}

static uint32_t nearest_face(const polytope *p) {
    uint32_t nearest = 0;
    for (uint32_t f = 1; f < p->face_count; f++)
        if (p->faces[f].height < p->faces[nearest].height)
            nearest = f;
    return nearest;
}

/* What was found along a normal: the depth of the cores, and points on them. */
typedef struct found {
    double depth, at_least;
    rg_vec3 n, point[2];
} found;

/* The points of the cores whose sum is nearest to the foot of d on a face, at the height of their
 * supports beyond it. */
static void take_points(const polytope *p, const face *f, const corner *beyond, found *out) {
    const corner *c[3] = {&p->corners[f->v[0]], &p->corners[f->v[1]], &p->corners[f->v[2]]};
    double weight[3], sum = 0;
    for (int k = 0; k < 3; k++) {
        rg_vec3 x = c[(k + 1) % 3]->at, y = c[(k + 2) % 3]->at;
        weight[k] = fmax(0, rg_dot(rg_cross(x, y), f->n));
        sum += weight[k];
    }
    for (int i = 0; i < 2; i++) {
        out->point[i] = rg_vec3_make(0, 0, 0);
        for (int k = 0; k < 3; k++)
            out->point[i] =
                rg_add_scaled(out->point[i], sum > 0 ? weight[k] / sum : 1.0 / 3, c[k]->point[i]);
        double higher = rg_dot(f->n, rg_sub(beyond->point[i], out->point[i]));
        out->point[i] = rg_add_scaled(out->point[i], higher, f->n);
    }
}

static bool is_known(const polytope *p, rg_vec3 at) {
    for (uint32_t i = 0; i < p->corner_count; i++)
        if (rg_largest_entry(rg_sub(p->corners[i].at, at)) <= SAME * p->cores->size)
            return true;
    return false;
}

static void expand_all(rg_cores *cores, found *out) {
    polytope p;
    begin(&p, cores);
    *out = (found){.depth = INFINITY, .at_least = -INFINITY};
    for (;;) {
        uint32_t f = nearest_face(&p);
        corner c = support(cores, p.faces[f].n);
        double beyond = rg_dot(p.faces[f].n, c.at);
        if (beyond < out->depth) {
            out->depth = beyond;
            out->n = p.faces[f].n;
            take_points(&p, &p.faces[f], &c, out);
        }
        /* The nearest face of a growing polytope only goes away; what rounding does to the normals
         * of small ones does not count. */
        out->at_least = fmin(fmax(out->at_least, p.faces[f].height), out->depth);
        if (!(out->depth - out->at_least > ENOUGH * cores->size))
            return;
        if (is_known(&p, c.at))
            p.faces[f].height = INFINITY;
        else if (!expand(&p, f, c))
            return;
    }
}

/* ------------------------------------------------------------------ by kind of the cores */

/* A point inside a polyhedron; `side` is that of the polyhedron. */
static void leave_polyhedron(const rg_cores *cores, int side, found *out) {
    const rg_surface *s = &cores->side[side];
    rg_mat3 back = rg_mat3_transpose(&s->rotation);
    /* K is the polyhedron, reflected if it is the second */
    rg_vec3 at = rg_mat3_apply(&back, rg_scale(s->sign, cores->d)), n = {0, 0, 0};
    *out = (found){.depth = INFINITY};
    for (uint32_t f = 0; f < s->polyhedron->facet_count; f++) {
        double depth = s->scale * s->polyhedron->offsets[f] - rg_dot(s->polyhedron->normals[f], at);
        if (depth < out->depth) {
            out->depth = depth;
            n = s->polyhedron->normals[f];
        }
    }
    out->at_least = out->depth;
    out->n = rg_scale(s->sign, rg_mat3_apply(&s->rotation, n));
    out->point[side] = rg_add_scaled(cores->d, out->depth, out->n);
}

static bool is_thin(const rg_surface *s) {
    return s->kind == RG_SHAPE_SPHERE || s->kind == RG_SHAPE_DISC || s->kind == RG_SHAPE_CAPSULE;
}

/* Points and segments that touch: out across both. */
static void leave_thin(const rg_cores *cores, bool planar, found *out) {
    rg_vec3 axis[2], n = {1, 0, 0}, b[2];
    int segments = 0;
    for (int i = 0; i < 2; i++)
        if (cores->side[i].kind == RG_SHAPE_CAPSULE)
            axis[segments++] = cores->side[i].axis;
    rg_vec3 cross = segments == 2 ? rg_cross(axis[0], axis[1]) : n;
    if (segments == 2 && rg_length(cross) > PARALLEL)
        n = rg_normalised(cross);
    else if (segments) {
        rg_tangents(axis[0], planar, b);
        n = b[0];
    }
    /* cores that only count as touching leave the way they lie */
    if (rg_dot(n, rg_sub(cores->d, rg_add(cores->y[0], cores->y[1]))) < 0)
        n = rg_neg(n);
    *out = (found){.n = n, .point = {cores->y[0], cores->y[1]}};
}

static void leave(const rg_pair *pair, rg_cores *cores, found *out) {
    bool thin[2] = {is_thin(&cores->side[0]), is_thin(&cores->side[1])};
    bool planar = rg_shape_is_planar(pair->side[0].shape);
    for (int i = 0; i < 2; i++)
        if (cores->side[i].polyhedron && thin[1 - i] &&
            cores->side[1 - i].kind != RG_SHAPE_CAPSULE) {
            leave_polyhedron(cores, i, out);
            return;
        }
    if (thin[0] && thin[1])
        leave_thin(cores, planar, out);
    else
        expand_all(cores, out);
}

void rg_depth_curved(const rg_pair *pair, rg_cores *cores, rg_depth *depth) {
    found way;
    rg_vec3 apart = rg_sub(cores->d, rg_add(cores->y[0], cores->y[1]));
    double distance = cores->overlap ? 0 : rg_length(apart), unit = 1 / cores->scale;
    if (distance > TOUCHING * cores->size) {
        way.n = rg_scale(1 / distance, apart);
        way.depth = way.at_least = -distance;
        way.point[0] = cores->y[0];
        way.point[1] = cores->y[1];
    } else {
        leave(pair, cores, &way);
    }
    double radius = cores->radius[0] + cores->radius[1];
    rg_vec3 on1 = rg_add_scaled(way.point[0], cores->radius[0], way.n);
    rg_vec3 on2 = rg_add_scaled(rg_sub(cores->d, way.point[1]), -cores->radius[1], way.n);
    *depth = (rg_depth){.depth = unit * (way.depth + radius),
                        .at_least = unit * (way.at_least + radius),
                        .normal = way.n,
                        .on1 = rg_scale(unit, on1),
                        .on2 = rg_scale(unit, on2),
                        .features = {RG_FEATURES_SMOOTH, 0, 0}};
}
