/* Contact points in motion: the table of pairs of pieces, and what all of them share.
 *
 * With p_a and p_b the points of the two surfaces, p_a - p_b = chi n, the kinds of contact give n,
 * n', the points and their rates; c is half-way between them. Velocities of material points differ
 * from that by rotations about n alone between p_b, c and p_a, so chi' = n . u at each of them.
 *
 * How it fails: `regular` is false where the pieces do not determine a place and a normal. */
#include "contact/contact_motion_parts.h"

#include "contact/contact.h"

#include <assert.h>

static rg_track_side make_side(const rg_contact_track *track, int number,
                               const rg_rigid_motion *motion, rg_vec3 origin) {
    const rg_contact_piece *piece = &track->piece[number];
    rg_track_side s = {.piece = piece,
                       .motion = motion,
                       .shape = number == 0 ? track->shape_b : track->shape_a,
                       .sign = number == 0 ? 1 : -1,
                       .rotation = rg_mat3_of_quat(motion->pose.orientation),
                       .at = rg_sub(motion->pose.position, origin),
                       .lever = rg_sub(motion->pose.position, motion->centre)};
    s.point = rg_add(s.at, rg_mat3_apply(&s.rotation, piece->point));
    s.direction = rg_mat3_apply(&s.rotation, piece->direction);
    return s;
}

void rg_track_finish(const rg_track_pair *pair, const rg_vec3 p[2], const rg_vec3 rate[2],
                     rg_contact_motion *m) {
    const rg_track_side *b = &pair->side[0], *a = &pair->side[1];
    rg_vec3 c = rg_add_scaled(p[0], 0.5, rg_sub(p[1], p[0])), n = m->normal;
    rg_vec3 c_rate = rg_scale(0.5, rg_add(rate[0], rate[1]));
    rg_vec3 u = rg_sub(rg_track_velocity(a, c), rg_track_velocity(b, c));
    m->point = rg_add(pair->origin, c);
    m->point_rate = c_rate;
    m->gap_rate = rg_dot(n, u);
    m->slip = rg_add_scaled(u, -m->gap_rate, n);
    rg_vec3 drift_a = rg_cross(a->motion->angular_velocity, rg_sub(c_rate, a->motion->velocity));
    rg_vec3 drift_b = rg_cross(b->motion->angular_velocity, rg_sub(c_rate, b->motion->velocity));
    m->drift = rg_sub(drift_a, drift_b);
}

/* ------------------------------------------------------------------ borders */

static double inside_facet(const rg_polyhedron *p, uint32_t facet, rg_vec3 q) {
    uint32_t first = p->facet_start[facet], end = p->facet_start[facet + 1];
    double least = INFINITY;
    if (p->edge_count == 0) { /* the side of a polygon */
        rg_vec3 from = p->vertices[p->facet_vertices[first]],
                to = p->vertices[p->facet_vertices[first + 1]];
        rg_vec3 along = rg_sub(to, from);
        double length = sqrt(rg_length_squared(along));
        return fmin(rg_dot(along, rg_sub(q, from)), rg_dot(along, rg_sub(to, q))) / length;
    }
    rg_vec3 normal = p->normals[facet], a = p->vertices[p->facet_vertices[end - 1]];
    for (uint32_t i = first; i < end; i++) {
        rg_vec3 b = p->vertices[p->facet_vertices[i]], along = rg_sub(b, a);
        double inside = rg_dot(normal, rg_cross(along, rg_sub(q, a)));
        least = fmin(least, inside / sqrt(rg_length_squared(along)));
        a = b;
    }
    return least;
}

double rg_track_inside_face(const rg_track_side *side, rg_vec3 p) {
    const rg_contact_piece *piece = side->piece;
    if (piece->border == RG_BORDER_NONE)
        return INFINITY;
    rg_vec3 q = rg_track_to_local(side, rg_sub(p, side->at));
    if (piece->border == RG_BORDER_FACET)
        return inside_facet(rg_shape_polyhedron(side->shape), piece->index, q);
    rg_vec3 d = rg_sub(q, piece->point);
    d = rg_add_scaled(d, -rg_dot(d, piece->direction), piece->direction);
    if (piece->border == RG_BORDER_DISC)
        return piece->high - rg_length(d);
    double along = rg_dot(d, piece->size);
    rg_vec3 across = rg_add_scaled(d, -along, piece->size);
    return rg_min3(along - piece->low, piece->high - along, piece->radius - rg_length(across));
}

/* How far m is from leaving the normals of a vertex, as a sine. */
static double vertex_margin(const rg_polyhedron *p, uint32_t vertex, rg_vec3 m) {
    double most = -INFINITY;
    for (uint32_t k = p->vertex_start[vertex]; k < p->vertex_start[vertex + 1]; k++) {
        rg_vec3 along = rg_sub(p->vertices[p->vertex_neighbours[k]], p->vertices[vertex]);
        most = fmax(most, rg_dot(m, along) / sqrt(rg_length_squared(along)));
    }
    return -most;
}

double rg_track_margin(const rg_track_side *side, rg_vec3 m, double along, rg_vec3 out,
                       double size) {
    const rg_contact_piece *piece = side->piece;
    double margin = INFINITY;
    switch (piece->kind) {
    case RG_PIECE_POINT:
        if (piece->index != UINT32_MAX)
            return size * vertex_margin(rg_shape_polyhedron(side->shape), piece->index,
                                        rg_track_to_local(side, m));
        if (rg_largest_entry(piece->direction) > 0)
            return size * (rg_dot(m, side->direction) - piece->low);
        return INFINITY;
    case RG_PIECE_LINE:
        margin = fmin(along - piece->low, piece->high - along);
        if (piece->index != UINT32_MAX) {
            rg_vec3 local = rg_track_to_local(side, m);
            margin = fmin(margin, -size * fmax(rg_dot(local, piece->beside[0]),
                                               rg_dot(local, piece->beside[1])));
        }
        return margin;
    case RG_PIECE_RIM: {
        if (piece->index == UINT32_MAX)
            return INFINITY;
        rg_vec3 leave = rg_add_scaled(rg_scale(piece->size.x, side->direction), piece->size.y, out);
        return -size * fmax(-rg_dot(m, out), rg_dot(m, leave));
    }
    case RG_PIECE_CONE:
        return fmin(along - piece->low, piece->high - along);
    default:
        return margin;
    }
}

/* ------------------------------------------------------------------ the table */

static bool is_face(const rg_contact_piece *p) {
    return p->kind == RG_PIECE_FACE;
}

rg_contact_motion rg_contact_follow(const rg_contact_track *track, const rg_rigid_motion *b,
                                    const rg_rigid_motion *a) {
    rg_contact_motion motion = {.regular = true};
    rg_track_pair pair = {.track = track, .origin = b->pose.position};
    const rg_contact_piece *pb = &track->piece[0], *pa = &track->piece[1];
    pair.side[0] = make_side(track, 0, b, pair.origin);
    pair.side[1] = make_side(track, 1, a, pair.origin);
    if (is_face(pb) || is_face(pa))
        rg_track_of_face(&pair, is_face(pb) ? 0 : 1, &motion);
    else if (pb->kind == RG_PIECE_LINE && pa->kind == RG_PIECE_LINE)
        rg_track_of_lines(&pair, &motion);
    else if (pb->kind == RG_PIECE_POINT && pa->kind == RG_PIECE_POINT)
        rg_track_of_balls(&pair, &motion);
    else
        rg_track_of_curved(&pair, &motion);
    motion.inside += track->slack;
    return motion;
}

rg_contact_motion rg_track_at_rest(const rg_contact_track *track, rg_pose pose_b, rg_pose pose_a) {
    rg_rigid_motion b = {.pose = pose_b, .centre = pose_b.position},
                    a = {.pose = pose_a, .centre = pose_a.position};
    rg_contact_motion motion = rg_contact_follow(track, &b, &a);
    motion.inside -= track->slack;
    return motion;
}

void rg_contact_track_refresh(rg_contact_track *track, const rg_contact_motion *motion,
                              rg_pose pose_b, rg_pose pose_a) {
    assert(motion->regular);
    track->hint = rg_rotate_back(pose_b.orientation, motion->normal);
    track->hint_a = rg_rotate_back(pose_a.orientation, motion->normal);
    track->place[0] = rg_pose_apply_inverse(pose_b, motion->point);
    track->place[1] = rg_pose_apply_inverse(pose_a, motion->point);
}
