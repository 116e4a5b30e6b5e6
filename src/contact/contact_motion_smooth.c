/* Tracks where a shape is curved: which pieces of the two surfaces meet.
 *
 * The name of such a point says what it is where a region of contact has corners (a line crossed by
 * an edge, a point of a rim), but not which feature of a polyhedron lies under a ball: the point
 * stays the same when it passes from facet to edge. So there are candidates: the pieces of a curved
 * shape, the facets, edges and the vertex around the support vertex of a polyhedron. Of convex
 * bodies every pair of pieces that has its nearest points within its borders, with a normal that
 * both have there, gives a separation by a plane: the largest of them is the distance, and its
 * pieces are those that meet.
 *
 * How it fails: where no pair can be followed (a vertex on an edge, a rim along an edge) it says
 * so, and a plane takes its place.
 * Tested by tests/contact/test_motion_make.c. */
#include "contact/contact_motion_parts.h"

#include "base/base_trig.h"
#include "contact/contact.h"
#include "shape/shape.h"

enum { MOST_PIECES = 24 };
/* In smaller circumradii: how far the place of a pair may be from that of the point. */
#define PLACE 0.05
/* A candidate that is this much nearer (in slacks) to its border than another is not taken for a
 * gap that is larger by rounding only. */
#define SAME_GAP 1e-13
/* In slacks: pieces that are left by more do not meet. */
#define FAR_OUTSIDE 10
/* Facets, edges: cosine between the normal and theirs; sine between the normal and an edge. */
#define FACING 0.5

typedef struct candidates {
    uint32_t count;
    rg_contact_piece piece[MOST_PIECES];
} candidates;

static void add(candidates *c, rg_contact_piece piece) {
    if (c->count < MOST_PIECES)
        c->piece[c->count++] = piece;
}

/* ------------------------------------------------------------------ curved shapes */

/* Ball, ellipsoid: every normal has one point, and no direction is straight. */
static bool is_round(rg_shape_kind kind) {
    return kind == RG_SHAPE_SPHERE || kind == RG_SHAPE_DISC || kind == RG_SHAPE_ELLIPSOID;
}

static rg_contact_piece ellipsoid(const rg_shape *shape) {
    return (rg_contact_piece){
        .kind = RG_PIECE_ELLIPSOID, .index = UINT32_MAX, .size = shape->def.size};
}

static rg_contact_piece side_line(const rg_shape *shape) {
    double half = shape->def.length / 2;
    rg_contact_piece line =
        rg_piece_line(rg_vec3_make(0, 0, -half), rg_vec3_make(0, 0, half), shape->def.radius);
    return line;
}

/* The half-ball at an end of a capsule. */
static rg_contact_piece end_ball(const rg_shape *shape, double end) {
    rg_contact_piece ball =
        rg_piece_point(rg_vec3_make(0, 0, end * shape->def.length / 2), shape->def.radius);
    ball.direction = rg_vec3_make(0, 0, end);
    return ball;
}

/* z of the base of a cylinder (end +1 or -1) or a cone. */
static double base_height(const rg_shape *shape, double end) {
    return shape->kind == RG_SHAPE_CONE ? -0.25 * shape->def.length : end * shape->def.length / 2;
}

static double base_end(const rg_shape *shape, double end) {
    return shape->kind == RG_SHAPE_CONE ? -1 : end;
}

static rg_contact_piece base(const rg_shape *shape, double end) {
    rg_contact_piece face = rg_piece_plane(rg_vec3_make(0, 0, base_height(shape, end)),
                                           rg_vec3_make(0, 0, base_end(shape, end)));
    face.border = RG_BORDER_DISC;
    face.high = shape->def.radius;
    return face;
}

/* Half the angle of a cone. */
static void cone_angle(const rg_shape *shape, double *sine, double *cosine) {
    double r = shape->def.radius, l = shape->def.length, slant = sqrt(r * r + l * l);
    *sine = r / slant;
    *cosine = l / slant;
}

static rg_contact_piece rim(const rg_shape *shape, double end) {
    rg_contact_piece circle = {.kind = RG_PIECE_RIM,
                               .index = 0,
                               .point = {0, 0, base_height(shape, end)},
                               .direction = {0, 0, base_end(shape, end)},
                               .size = {-1, 0, 0},
                               .radius = shape->def.radius};
    double sine, cosine;
    if (shape->kind == RG_SHAPE_CONE) {
        cone_angle(shape, &sine, &cosine);
        circle.size = rg_vec3_make(-cosine, -sine, 0);
    }
    return circle;
}

static rg_contact_piece cone_side(const rg_shape *shape) {
    double sine, cosine;
    cone_angle(shape, &sine, &cosine);
    return (rg_contact_piece){.kind = RG_PIECE_CONE,
                              .index = UINT32_MAX,
                              .point = {0, 0, 0.75 * shape->def.length},
                              .direction = {0, 0, 1},
                              .size = {sine, cosine, 0},
                              .high = shape->def.length / cosine};
}

static rg_contact_piece apex(const rg_shape *shape) {
    double sine, cosine;
    cone_angle(shape, &sine, &cosine);
    rg_contact_piece point = rg_piece_point(rg_vec3_make(0, 0, 0.75 * shape->def.length), 0);
    point.direction = rg_vec3_make(0, 0, 1);
    point.low = sine;
    return point;
}

static rg_contact_piece rim_point(const rg_shape *shape, double end, uint32_t number) {
    double sine, cosine, r = shape->def.radius;
    rg_sin_cos(2 * RG_PI * number / RG_RIM_POINTS, &sine, &cosine);
    return rg_piece_point(rg_vec3_make(r * cosine, r * sine, base_height(shape, end)), 0);
}

static void add_all_curved(const rg_shape *shape, candidates *c) {
    if (shape->kind == RG_SHAPE_CAPSULE) {
        add(c, end_ball(shape, -1));
        add(c, end_ball(shape, 1));
        add(c, side_line(shape));
        return;
    }
    bool cone = shape->kind == RG_SHAPE_CONE;
    for (int i = 0; i < (cone ? 1 : 2); i++) {
        add(c, base(shape, i ? 1 : -1));
        add(c, rim(shape, i ? 1 : -1));
    }
    add(c, cone ? cone_side(shape) : side_line(shape));
    if (cone)
        add(c, apex(shape));
}

/* What a code means; false: nothing that is certain. */
static bool add_named(const rg_shape *shape, uint32_t code, rg_vec3 m, candidates *c) {
    bool cone = shape->kind == RG_SHAPE_CONE;
    double end = m.z < 0 ? -1 : 1, named = code == RG_CURVED_END ? -1 : 1;
    if (code == RG_CURVED_END || code == RG_CURVED_END + 1) {
        if (shape->kind == RG_SHAPE_CAPSULE)
            add(c, end_ball(shape, named));
        else if (cone && named > 0)
            add(c, apex(shape));
        else
            add(c, rim(shape, named));
    } else if (code == RG_CURVED_LINE || code == RG_CURVED_LINE + 1) {
        add(c, cone ? cone_side(shape) : side_line(shape));
    } else if (shape->kind == RG_SHAPE_CAPSULE) {
        return false;
    } else if (code == RG_CURVED_FLAT) {
        add(c, base(shape, end));
    } else if (code == RG_CURVED_RIM || code == RG_CURVED_RIM + 1) {
        rg_contact_piece crossing = rim(shape, end);
        crossing.index = UINT32_MAX; /* at the edge of its normals: that is no border */
        add(c, crossing);
    } else if (code >= RG_CURVED_RIM_POINT && code < RG_CURVED_RIM_POINT + RG_RIM_POINTS) {
        add(c, rim_point(shape, end, code - RG_CURVED_RIM_POINT));
    } else {
        return false;
    }
    return true;
}

/* ------------------------------------------------------------------ polyhedra */

static rg_contact_piece edge_between(const rg_shape *shape, uint32_t u, uint32_t v, uint32_t left,
                                     uint32_t right) {
    const rg_polyhedron *p = rg_shape_polyhedron(shape);
    rg_contact_piece line = rg_piece_line(p->vertices[u], p->vertices[v], 0);
    line.index = 0; /* it has faces beside it */
    line.beside[0] = rg_normalised(rg_cross(p->normals[left], line.direction));
    line.beside[1] = rg_normalised(rg_cross(line.direction, p->normals[right]));
    return line;
}

/* Facets, edges and the vertex around a vertex, as far as the normal m could be theirs. */
static void add_around(const rg_shape *shape, uint32_t v, rg_vec3 m, candidates *c) {
    const rg_polyhedron *p = rg_shape_polyhedron(shape);
    uint32_t first = p->vertex_start[v], count = p->vertex_start[v + 1] - first;
    for (uint32_t k = 0; k < count; k++) {
        uint32_t f = rg_contact_facet_at(shape, v, k);
        if (rg_dot(p->normals[f], m) > FACING)
            add(c, rg_piece_facet(p, f));
    }
    for (uint32_t k = 0; p->edge_count && k < count; k++) {
        uint32_t u = p->vertex_neighbours[first + k];
        rg_vec3 along = rg_normalised(rg_sub(p->vertices[u], p->vertices[v]));
        if (fabs(rg_dot(along, m)) < FACING) {
            uint32_t after = rg_contact_facet_at(shape, v, k),
                     before = rg_contact_facet_at(shape, v, k ? k - 1 : count - 1);
            add(c, edge_between(shape, v, u, after, before));
        }
    }
    rg_contact_piece vertex = rg_piece_vertex(p, v);
    vertex.index = v;
    add(c, vertex);
}

static double distance_to(const rg_contact_piece *line, rg_vec3 q) {
    rg_vec3 d = rg_sub(q, line->point);
    double s = fmin(line->high, fmax(line->low, rg_dot(d, line->direction)));
    return rg_length(rg_add_scaled(d, -s, line->direction));
}

/* The edge or vertex that the other's code says is there, if it is. */
static bool add_known(const rg_shape *shape, uint32_t index, uint32_t other_code, rg_vec3 q,
                      double near, candidates *c) {
    const rg_polyhedron *p = rg_shape_polyhedron(shape);
    rg_contact_piece piece;
    if (other_code == RG_CURVED_LINE + 1 || other_code == RG_CURVED_FLAT) {
        if (index >= p->vertex_count || rg_length(rg_sub(q, p->vertices[index])) > near)
            return false;
        piece = rg_piece_vertex(p, index);
        add(c, piece);
        return true;
    }
    if (other_code != RG_CURVED_LINE && other_code != RG_CURVED_RIM &&
        other_code != RG_CURVED_RIM + 1)
        return false;
    if (index & RG_CONTACT_CHORD) {
        index &= ~(uint32_t)RG_CONTACT_CHORD;
        if (index >= p->vertex_count || !(rg_length(rg_sub(q, p->vertices[index])) > near))
            return false;
        add(c, rg_piece_line(p->vertices[index], q, 0));
        return true;
    }
    if (index >= p->edge_count)
        return false;
    piece = rg_piece_edge(p, index);
    if (distance_to(&piece, q) > near)
        return false;
    add(c, piece);
    return true;
}

/* ------------------------------------------------------------------ choice */

static bool is_end(uint32_t code) {
    return code == RG_CURVED_END || code == RG_CURVED_END + 1;
}

static void collect(const rg_contact_track *track, int side, rg_vec3 m, rg_vec3 q, double gap,
                    bool all, candidates *c) {
    const rg_shape *shape = side == 0 ? track->shape_b : track->shape_a,
                   *other = side == 0 ? track->shape_a : track->shape_b;
    uint32_t code = side == 0 ? track->feature.index1 : track->feature.index2,
             other_code = side == 0 ? track->feature.index2 : track->feature.index1;
    bool single = all || is_round(other->kind); /* there is one point, whatever its name */
    c->count = 0;
    if (shape->kind == RG_SHAPE_HALFSPACE) {
        add(c, rg_piece_halfspace(shape));
    } else if (shape->kind == RG_SHAPE_SPHERE || shape->kind == RG_SHAPE_DISC) {
        add(c, rg_piece_point(rg_vec3_make(0, 0, 0), shape->def.radius));
    } else if (shape->kind == RG_SHAPE_ELLIPSOID) {
        add(c, ellipsoid(shape));
    } else if (rg_shape_polyhedron(shape)) {
        double near = 1e-5 * track->size + 2 * fabs(gap);
        if (single || !add_known(shape, code, other_code, q, near, c)) {
            uint32_t vertex = 0;
            rg_shape_support(shape, m, &vertex);
            add_around(shape, vertex, m, c);
        }
    } else if (single || !add_named(shape, code, m, c)) {
        add_all_curved(shape, c);
    } else if (is_end(code) && is_end(other_code) && !rg_shape_polyhedron(other)) {
        /* flush ends: the rims touch along each other, but the line is there, too */
        add(c, shape->kind == RG_SHAPE_CONE ? cone_side(shape) : side_line(shape));
    }
}

static void set_orientation(rg_contact_track *track, rg_pose pose_b, rg_pose pose_a, rg_vec3 n) {
    rg_vec3 eb = rg_rotate(pose_b.orientation, track->piece[0].direction),
            ea = rg_rotate(pose_a.orientation, track->piece[1].direction);
    track->orientation = rg_dot(rg_cross(ea, eb), n) < 0 ? -1 : 1;
}

/* Vertex, edge, rim: without any width. */
static bool is_sharp(const rg_contact_piece *p) {
    return p->kind == RG_PIECE_RIM ||
           ((p->kind == RG_PIECE_POINT || p->kind == RG_PIECE_LINE) && p->radius == 0);
}

/* Whether two pieces could determine a place and a normal where they touch. */
static bool can_meet(const rg_contact_piece *b, const rg_contact_piece *a) {
    bool face_b = b->kind == RG_PIECE_FACE, face_a = a->kind == RG_PIECE_FACE;
    if (face_b || face_a) {
        rg_piece_kind other = face_b ? a->kind : b->kind;
        return other == RG_PIECE_POINT || other == RG_PIECE_RIM || other == RG_PIECE_ELLIPSOID;
    }
    if (is_sharp(b) && is_sharp(a))
        return b->kind != RG_PIECE_POINT && a->kind != RG_PIECE_POINT;
    return true;
}

/* Along a line or rim at a place. */
static rg_vec3 tangent_of(const rg_contact_piece *p, rg_pose pose, rg_vec3 at) {
    rg_vec3 direction = rg_rotate(pose.orientation, p->direction);
    if (p->kind != RG_PIECE_RIM)
        return direction;
    return rg_normalised(rg_cross(direction, rg_sub(at, rg_pose_apply(pose, p->point))));
}

/* Lines of any width, and edges and rims, must cross. */
static bool do_cross(const rg_contact_track *t, rg_pose pose_b, rg_pose pose_a, rg_vec3 at) {
    const rg_contact_piece *b = &t->piece[0], *a = &t->piece[1];
    bool lines = b->kind == RG_PIECE_LINE && a->kind == RG_PIECE_LINE;
    if (!lines && !(is_sharp(b) && is_sharp(a)))
        return true;
    if (b->kind == RG_PIECE_FACE || a->kind == RG_PIECE_FACE)
        return true;
    return rg_length(rg_cross(tangent_of(b, pose_b, at), tangent_of(a, pose_a, at))) >
           RG_TRACK_SKEW;
}

typedef struct choice {
    bool found, within;
    double gap, inside;
    rg_contact_track track;
} choice;

/* Of pairs within their borders the one with the largest gap; else the one least outside. */
static bool is_better(const choice *best, bool within, const rg_contact_motion *m, double size) {
    if (!best->found || within != best->within)
        return !best->found || within;
    if (!within)
        return m->inside > best->inside;
    double more = m->gap - best->gap;
    return fabs(more) > SAME_GAP * size ? more > 0 : m->inside > best->inside;
}

/* Whether nothing of the other shape is nearer to a face than the piece that is followed. Corners
 * of a region need not be the nearest. */
static bool is_nearest(const rg_contact_track *t, rg_pose pose_b, rg_pose pose_a,
                       const rg_contact_motion *m) {
    bool face_b = t->piece[0].kind == RG_PIECE_FACE;
    if (!face_b && t->piece[1].kind != RG_PIECE_FACE)
        return true;
    const rg_shape *other = face_b ? t->shape_a : t->shape_b;
    rg_pose pose = face_b ? pose_a : pose_b, face = face_b ? pose_b : pose_a;
    rg_vec3 out = face_b ? m->normal : rg_neg(m->normal), on = t->piece[face_b ? 0 : 1].point;
    rg_vec3 p = rg_shape_support(other, rg_rotate_back(pose.orientation, rg_neg(out)), NULL);
    double gap = rg_dot(out, rg_sub(rg_pose_apply(pose, p), rg_pose_apply(face, on)));
    return gap >= m->gap - t->slack;
}

static void try_pair(choice *best, rg_contact_track *track, rg_pose pose_b, rg_pose pose_a,
                     const rg_manifold *manifold, const rg_contact_point *point) {
    if (!can_meet(&track->piece[0], &track->piece[1]))
        return;
    set_orientation(track, pose_b, pose_a, manifold->normal);
    rg_contact_motion m = rg_track_at_rest(track, pose_b, pose_a);
    double away = rg_length(rg_sub(m.point, point->position));
    if (!m.regular || !do_cross(track, pose_b, pose_a, m.point) ||
        away > PLACE * track->size + 2 * fabs(point->gap) ||
        rg_dot(m.normal, manifold->normal) < FACING)
        return;
    bool within = m.inside >= -0.5 * track->slack &&
                  (manifold->point_count > 1 || is_nearest(track, pose_b, pose_a, &m));
    if (is_better(best, within, &m, track->size)) {
        best->found = true;
        best->within = within;
        best->gap = m.gap;
        best->inside = m.inside;
        best->track = *track;
    }
}

/* The best pair of pieces at poses of B and A where the normal is n; `all`: whatever the names
 * say. */
static void choose(choice *best, const rg_contact_track *track, const rg_pose pose[2], rg_vec3 n,
                   bool all, const rg_manifold *manifold, const rg_contact_point *point) {
    candidates c[2];
    collect(track, 0, rg_rotate_back(pose[0].orientation, n),
            rg_pose_apply_inverse(pose[0], point->on_b), point->gap, all, &c[0]);
    collect(track, 1, rg_rotate_back(pose[1].orientation, rg_neg(n)),
            rg_pose_apply_inverse(pose[1], point->on_a), point->gap, all, &c[1]);
    for (uint32_t i = 0; i < c[0].count; i++)
        for (uint32_t k = 0; k < c[1].count; k++) {
            rg_contact_track tried = *track;
            tried.piece[0] = c[0].piece[i];
            tried.piece[1] = c[1].piece[k];
            try_pair(best, &tried, pose[0], pose[1], manifold, point);
        }
}

bool rg_track_make_smooth(rg_contact_track *track, rg_pose pose_b, rg_pose pose_a,
                          const rg_manifold *manifold, const rg_contact_point *point) {
    choice best = {.found = false};
    const rg_pose pose[2] = {pose_b, pose_a};
    choose(&best, track, pose, manifold->normal, false, manifold, point);
    bool corner = manifold->point_count > 1; /* of a region: it is what its name says */
    if (!best.within && !corner) {
        /* Apart, the manifold's normal is not quite that of the nearest points, and the features
         * beside them may be others. */
        rg_distance d;
        rg_vec3 n = manifold->normal;
        if (rg_distance_between(track->shape_b, pose_b, track->shape_a, pose_a, NULL, &d) ==
                RG_OK &&
            d.distance > 0)
            n = d.normal;
        choose(&best, track, pose, n, true, manifold, point);
    }
    if (!best.found || (!corner && !best.within && best.inside < -FAR_OUTSIDE * track->slack))
        return false;
    *track = best.track;
    return true;
}
