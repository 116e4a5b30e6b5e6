/* Tracks: which pieces of surface meet in a point of a manifold.
 *
 * A vertex on a face and two edges are what they are called. Where the features alone have no
 * normal (vertex on vertex or edge, edges along each other), or none to rely on (edges nearly
 * parallel), a face stands for one side: the separating face itself if there is one, and otherwise
 * the plane across the manifold's normal that extends B there (Baraff 1989, section 4.1). Its
 * border is then where the meeting was found, a few tolerances wide: when the point leaves it, the
 * features are other ones.
 *
 * How it fails: it does not; a track that could not be followed becomes one against a plane. */
#include "contact/contact_motion_parts.h"

#include "contact/contact.h"
#include "shape/shape.h"

/* Hulls with more vertices are not searched for the far end of a chord. */
#define CHORD_SEARCH 4096
/* Relative: how far off a chord its far end may be. */
#define CHORD_WIDTH 1e-6

/* ------------------------------------------------------------------ pieces */

rg_contact_piece rg_piece_point(rg_vec3 p, double radius) {
    return (rg_contact_piece){
        .kind = RG_PIECE_POINT, .index = UINT32_MAX, .point = p, .radius = radius};
}

rg_contact_piece rg_piece_vertex(const rg_polyhedron *p, uint32_t vertex) {
    return rg_piece_point(p->vertices[vertex], 0);
}

rg_contact_piece rg_piece_line(rg_vec3 from, rg_vec3 to, double radius) {
    rg_vec3 along = rg_sub(to, from);
    return (rg_contact_piece){.kind = RG_PIECE_LINE,
                              .index = UINT32_MAX,
                              .point = from,
                              .direction = rg_normalised(along),
                              .radius = radius,
                              .high = rg_length(along)};
}

rg_contact_piece rg_piece_edge(const rg_polyhedron *p, uint32_t edge) {
    return rg_piece_line(p->vertices[p->edge_vertices[2 * edge]],
                         p->vertices[p->edge_vertices[2 * edge + 1]], 0);
}

rg_contact_piece rg_piece_plane(rg_vec3 point, rg_vec3 normal) {
    return (rg_contact_piece){
        .kind = RG_PIECE_FACE, .index = UINT32_MAX, .point = point, .direction = normal};
}

rg_contact_piece rg_piece_facet(const rg_polyhedron *p, uint32_t facet) {
    rg_vec3 normal = p->normals[facet];
    rg_contact_piece f =
        rg_piece_plane(rg_add_scaled(p->centre, p->offsets[facet], normal), normal);
    f.border = RG_BORDER_FACET;
    f.index = facet;
    return f;
}

rg_contact_piece rg_piece_halfspace(const rg_shape *shape) {
    rg_vec3 normal = shape->def.normal;
    return rg_piece_plane(rg_scale(shape->def.offset, normal), normal);
}

/* ------------------------------------------------------------------ polyhedra */

typedef struct making {
    rg_contact_track *track;
    rg_pose pose[2];
    const rg_shape *shape[2];
    const rg_polyhedron *polyhedron[2];
    const rg_manifold *manifold;
    const rg_contact_point *point;
    rg_vec3 on[2];     /* the surfaces' points, in the shapes' frames */
    rg_vec3 normal[2]; /* outward normals, likewise */
    double lateral;
} making;

static uint32_t index_of(const making *k, int side) {
    return side == 0 ? k->point->feature.index1 : k->point->feature.index2;
}

static bool has_vertex(const making *k, int side) {
    const rg_polyhedron *p = k->polyhedron[side];
    return p && index_of(k, side) < p->vertex_count;
}

/* The face of `side` and the vertex of the other. */
static bool set_face_vertex(making *k, int side) {
    rg_contact_track *t = k->track;
    const rg_polyhedron *p = k->polyhedron[side];
    if (!has_vertex(k, 1 - side))
        return false;
    if (rg_shape_get_kind(k->shape[side]) == RG_SHAPE_HALFSPACE)
        t->piece[side] = rg_piece_halfspace(k->shape[side]);
    else if (p && index_of(k, side) < p->facet_count)
        t->piece[side] = rg_piece_facet(p, index_of(k, side));
    else
        return false;
    t->piece[1 - side] = rg_piece_vertex(k->polyhedron[1 - side], index_of(k, 1 - side));
    return true;
}

/* The side of an outline from its first vertex through the point; its end is the vertex farthest
 * along it. */
static rg_contact_piece chord(const making *k, int side) {
    const rg_polyhedron *p = k->polyhedron[side];
    uint32_t first = index_of(k, side) & ~(uint32_t)RG_CONTACT_CHORD;
    rg_contact_piece line = rg_piece_line(p->vertices[first], k->on[side], 0);
    for (uint32_t v = 0; p->vertex_count <= CHORD_SEARCH && v < p->vertex_count; v++) {
        rg_vec3 d = rg_sub(p->vertices[v], p->vertices[first]);
        double along = rg_dot(d, line.direction), length = rg_length(d);
        if (along > line.high && rg_length(rg_cross(d, line.direction)) <= CHORD_WIDTH * length)
            line.high = along;
    }
    return line;
}

static bool make_line(const making *k, int side, rg_contact_piece *line) {
    const rg_polyhedron *p = k->polyhedron[side];
    uint32_t index = index_of(k, side);
    if (!p)
        return false;
    if (index & RG_CONTACT_CHORD) {
        if ((index & ~(uint32_t)RG_CONTACT_CHORD) >= p->vertex_count)
            return false;
        *line = chord(k, side);
        return line->high > k->lateral;
    }
    if (index >= p->edge_count)
        return false;
    *line = rg_piece_edge(p, index);
    return true;
}

static bool set_edges(making *k) {
    rg_contact_track *t = k->track;
    if (k->manifold->degenerate || !make_line(k, 0, &t->piece[0]) || !make_line(k, 1, &t->piece[1]))
        return false;
    rg_vec3 eb = rg_rotate(k->pose[0].orientation, t->piece[0].direction),
            ea = rg_rotate(k->pose[1].orientation, t->piece[1].direction);
    rg_vec3 across = rg_cross(ea, eb);
    t->orientation = rg_dot(across, k->manifold->normal) < 0 ? -1 : 1;
    return rg_length(across) > RG_TRACK_SKEW;
}

/* ------------------------------------------------------------------ planes instead */

/* The side that gets the plane: A's if a face of A separates, or if its edge meets a vertex of B.
 */
static int plane_side(const making *k) {
    rg_feature_kind separating = k->manifold->features.kind;
    if (separating == RG_FEATURES_FACE_VERTEX)
        return 0;
    if (separating == RG_FEATURES_VERTEX_FACE)
        return 1;
    return k->point->feature.kind == RG_FEATURES_VERTEX_EDGE ? 1 : 0;
}

static bool has_facet(const making *k, int side) {
    const rg_feature_pair *e = &k->manifold->features;
    const rg_polyhedron *p = k->polyhedron[side];
    if (e->kind != (side == 0 ? RG_FEATURES_FACE_VERTEX : RG_FEATURES_VERTEX_FACE))
        return false;
    return p && (side == 0 ? e->index1 : e->index2) < p->facet_count;
}

/* The point of the other side, fixed in it: its vertex, or where the manifold has it. */
static rg_contact_piece other_point(const making *k, int side) {
    rg_feature_kind kind = k->point->feature.kind;
    bool vertex = kind == RG_FEATURES_VERTEX_VERTEX ||
                  kind == (side == 0 ? RG_FEATURES_VERTEX_EDGE : RG_FEATURES_EDGE_VERTEX);
    if (vertex && has_vertex(k, side))
        return rg_piece_vertex(k->polyhedron[side], index_of(k, side));
    return rg_piece_point(k->on[side], 0);
}

/* Along an edge the point may slide. */
static void limit_to_edge(making *k, int side, rg_contact_piece *face) {
    rg_feature_kind kind = k->point->feature.kind;
    rg_contact_piece line;
    if (kind != (side == 0 ? RG_FEATURES_EDGE_VERTEX : RG_FEATURES_VERTEX_EDGE) ||
        !make_line(k, side, &line))
        return;
    double at = rg_dot(line.direction, rg_sub(face->point, line.point));
    face->border = RG_BORDER_STRIP;
    face->size = line.direction;
    face->low = line.low - at;
    face->high = line.high - at;
    face->radius = 0;
}

static void set_plane(making *k) {
    rg_contact_track *t = k->track;
    int side = plane_side(k);
    t->extended = true;
    t->piece[1 - side] = other_point(k, 1 - side);
    if (has_facet(k, side)) {
        uint32_t facet = side == 0 ? k->manifold->features.index1 : k->manifold->features.index2;
        t->piece[side] = rg_piece_facet(k->polyhedron[side], facet);
        if (k->point->feature.kind == RG_FEATURES_EDGE_EDGE)
            return;
        /* at the facet's corner or edge: its own border would let the point go on into the facet,
         * where it is another feature, but no other contact */
        t->piece[side].point = rg_add_scaled(
            k->on[side],
            -rg_dot(t->piece[side].direction, rg_sub(k->on[side], t->piece[side].point)),
            t->piece[side].direction);
    } else {
        rg_feature_kind kind = k->point->feature.kind;
        bool vertex = kind == RG_FEATURES_VERTEX_VERTEX && has_vertex(k, side);
        t->piece[side] =
            rg_piece_plane(vertex ? k->polyhedron[side]->vertices[index_of(k, side)] : k->on[side],
                           k->normal[side]);
    }
    t->piece[side].border = RG_BORDER_DISC;
    t->piece[side].high = 0;
    limit_to_edge(k, side, &t->piece[side]);
}

/* ------------------------------------------------------------------ all kinds */

static bool set_pieces(making *k) {
    switch (k->point->feature.kind) {
    case RG_FEATURES_FACE_VERTEX:
        return set_face_vertex(k, 0);
    case RG_FEATURES_VERTEX_FACE:
        return set_face_vertex(k, 1);
    case RG_FEATURES_EDGE_EDGE:
        return set_edges(k);
    case RG_FEATURES_SMOOTH:
        return rg_track_make_smooth(k->track, k->pose[0], k->pose[1], k->manifold, k->point);
    default:
        return false;
    }
}

rg_contact_track rg_contact_track_make(const rg_shape *shape_b, rg_pose pose_b,
                                       const rg_shape *shape_a, rg_pose pose_a,
                                       const rg_manifold *manifold, const rg_contact_point *point) {
    rg_contact_pair pair;
    rg_contact_pair_make(shape_b, pose_b, shape_a, pose_a, &pair);
    rg_contact_track track = {.shape_b = shape_b,
                              .shape_a = shape_a,
                              .feature = point->feature,
                              .planar = pair.planar,
                              .orientation = 1,
                              .size = pair.size};
    making k = {.track = &track,
                .pose = {pose_b, pose_a},
                .shape = {shape_b, shape_a},
                .polyhedron = {rg_shape_polyhedron(shape_b), rg_shape_polyhedron(shape_a)},
                .manifold = manifold,
                .point = point,
                .on = {rg_pose_apply_inverse(pose_b, point->on_b),
                       rg_pose_apply_inverse(pose_a, point->on_a)},
                .normal = {rg_rotate_back(pose_b.orientation, manifold->normal),
                           rg_rotate_back(pose_a.orientation, rg_neg(manifold->normal))},
                .lateral = pair.lateral};
    double slack = RG_TRACK_SLACK * pair.lateral;
    track.local_normal = track.hint = k.normal[0];
    track.hint_a = rg_neg(k.normal[1]);
    track.place[0] = rg_pose_apply_inverse(pose_b, point->position);
    track.place[1] = rg_pose_apply_inverse(pose_a, point->position);
    track.slack = slack;
    if (!set_pieces(&k))
        set_plane(&k);
    rg_contact_motion now = rg_track_at_rest(&track, pose_b, pose_a);
    if (!now.regular && !track.extended) {
        set_plane(&k);
        now = rg_track_at_rest(&track, pose_b, pose_a);
    }
    /* every track starts inside */
    track.slack = fmax(slack, slack - now.inside);
    return track;
}
