/* Which plane separates two convex shapes over a motion.
 *
 * Two convex shapes do not overlap if and only if some plane separates them: with the separation
 * along a unit normal n,
 *
 *     g(n, t) = n . (c2 - c1) - s1(n) - s2(-n)      c: centres at time t, s: supports about them,
 *
 * max over n of g(n, t) >= 0. A step that fixes n at its beginning and asks for g(n, h) >= 0 is
 * safe but too strict: the plane is infinite, so a body that would pass beside a face is stopped at
 * it. Which n a pair is asked to respect is therefore chosen for its motion:
 *
 *   1. n of the beginning, if it still separates at the end; all pairs at rest stop here;
 *   2. else any of a few candidates (the feature of the end, the facets of either shape) that
 *      separates at the beginning and at the end: a shape that slides along a face goes on over
 *      the seam to the next face that lies flush, and one that passes beside a face passes. If
 *      another one than that of the beginning nearly does, nothing is asked for until a solve
 *      has found the velocities;
 *   3. else the pair meets, or no single plane does. The certified search for the first time of
 *      contact (narrow_continuous.c) tells: the feature that is met at that time is taken; if there
 *      is none, the pair asks for nothing, unless it ends so near that it grazes.
 *
 * Between beginning and end g(n, .) is linear but for rotation, which bends it by (w h)^2 r / 8.
 * Where a shape turns by more than RG_CONTACT_TURN, only the search tells; what less turning bends
 * is looked at when the motion of the step is known (contact_held.c).
 * Tested by tests/contact/test_plane.c, tests/step/test_whole_step.c and
 * tests/step/test_seams.c. */
#include "contact/contact.h"

#include "shape/shape.h"

/* Facets up to which all of a polyhedron's normals are candidates. */
enum { FACETS_MOST = 64 };
/* Safe advances of the search for the first time of contact. Where they do not suffice the feature
 * of the time that was reached counts as met: early, never late. */
enum { ADVANCES_MOST = 100 };

static double support_of(const rg_shape *shape, rg_pose pose, rg_vec3 n) {
    rg_vec3 local = rg_rotate_back(pose.orientation, n);
    return rg_dot(n, pose.position) + rg_dot(local, rg_shape_support(shape, local, NULL));
}

/* g(n) at two poses. Relative to the first one's position, so that far from the origin nothing is
 * lost. */
double rg_contact_separation(const rg_shape *shape1, rg_pose pose1, const rg_shape *shape2,
                             rg_pose pose2, rg_vec3 n) {
    rg_vec3 origin = pose1.position;
    pose1.position = (rg_vec3){0, 0, 0};
    pose2.position = rg_sub(pose2.position, origin);
    return -support_of(shape2, pose2, rg_neg(n)) - support_of(shape1, pose1, n);
}

rg_pose rg_swept_pose(const rg_swept_shape *s, double time) {
    rg_quat turn = rg_quat_of_rotation_vector(rg_scale(time, s->angular_velocity));
    rg_vec3 arm = rg_sub(s->placed.pose.position, s->centre);
    rg_pose pose;
    pose.orientation = rg_quat_multiply(turn, s->placed.pose.orientation);
    pose.position = rg_add(rg_add_scaled(s->centre, time, s->velocity), rg_rotate(turn, arm));
    return pose;
}

/* m: of the farthest point from the centre that it turns about; a ball about its own centre is
 * where it was, however it turns. */
double rg_swept_reach(const rg_swept_shape *s) {
    rg_shape_kind kind = rg_shape_get_kind(s->placed.shape);
    rg_vec3 centre = rg_pose_apply(s->placed.pose, rg_shape_centre(s->placed.shape));
    bool ball = kind == RG_SHAPE_SPHERE || kind == RG_SHAPE_DISC;
    return rg_length(rg_sub(centre, s->centre)) +
           (ball ? 0 : rg_shape_circumradius(s->placed.shape));
}

/* Whether a shape turns so far that what separates at both ends says nothing of the motion between
 * them. */
static bool turns_far(const rg_swept_shape *s, double time) {
    return time * rg_length(s->angular_velocity) > RG_CONTACT_TURN && rg_swept_reach(s) > 0;
}

/* Of the size of the smaller shape: what a shape that turns may stand out by and still count as
 * flush. */
#define TILTED 1e-6

/* m: by how much a plane may fail to separate. While a shape turns its faces tilt, and what it has
 * sunk in by, along arcs instead of tangents, is not told from what stands out. */
static double slack_of(const rg_swept_shape *one, const rg_swept_shape *two, double time,
                       double size) {
    const rg_swept_shape *sides[2] = {one, two};
    double angle = 0;
    for (int i = 0; i < 2; i++)
        if (rg_swept_reach(sides[i]) > 0)
            angle = fmax(angle, time * rg_length(sides[i]->angular_velocity));
    return (RG_CONTACT_FLAT + fmin(angle, TILTED)) * size;
}

typedef struct search {
    const rg_swept_shape *one, *two;
    rg_pose end1, end2;
    double best; /* the larger of the two separations' minimum so far */
    rg_vec3 normal;
    /* Of two boxes at the end: from one to two, how they reach out, and what rounding may do to
     * what follows from these. */
    bool boxes;
    rg_vec3 apart, arm[2][3];
    double slack;
} search;

/* Of lengths: rounding of some tens of operations. */
#define ARMS_ROUNDING 1e-13

static void find_arms(search *s) {
    const rg_shape *shape[2] = {s->one->placed.shape, s->two->placed.shape};
    const rg_pose *end[2] = {&s->end1, &s->end2};
    s->boxes = shape[0]->kind == RG_SHAPE_BOX && shape[1]->kind == RG_SHAPE_BOX;
    if (!s->boxes)
        return;
    s->apart = rg_sub(end[1]->position, end[0]->position);
    s->slack = ARMS_ROUNDING *
               (rg_largest_entry(s->apart) + shape[0]->circumradius + shape[1]->circumradius);
    for (int i = 0; i < 2; i++) {
        rg_mat3 r = rg_mat3_of_quat(end[i]->orientation);
        rg_vec3 size = shape[i]->def.size;
        s->arm[i][0] = rg_scale(0.5 * size.x, rg_vec3_make(r.m[0][0], r.m[1][0], r.m[2][0]));
        s->arm[i][1] = rg_scale(0.5 * size.y, rg_vec3_make(r.m[0][1], r.m[1][1], r.m[2][1]));
        s->arm[i][2] = rg_scale(0.5 * size.z, rg_vec3_make(r.m[0][2], r.m[1][2], r.m[2][2]));
    }
}

/* Whether a plane separates two boxes at the end no better than the best one so far: without their
 * supports, and sure. */
static bool is_worse(const search *s, rg_vec3 n) {
    double gap = rg_dot(n, s->apart);
    for (int i = 0; i < 3; i++)
        gap -= fabs(rg_dot(n, s->arm[0][i])) + fabs(rg_dot(n, s->arm[1][i]));
    return gap + s->slack <= s->best;
}

static double least(const search *s, rg_vec3 n) {
    double end =
        rg_contact_separation(s->one->placed.shape, s->end1, s->two->placed.shape, s->end2, n);
    if (end <= s->best)
        return end;
    return fmin(end, rg_contact_separation(s->one->placed.shape, s->one->placed.pose,
                                           s->two->placed.shape, s->two->placed.pose, n));
}

static void consider(search *s, rg_vec3 n) {
    if (s->boxes && is_worse(s, n))
        return;
    double value = least(s, n);
    if (value > s->best) {
        s->best = value;
        s->normal = n;
    }
}

/* A plane of a facet separates no better than a point of the other shape is above it: most facets
 * look away. */
static void consider_facets(search *s, int side, rg_vec3 point) {
    const rg_swept_shape *own = side == 0 ? s->one : s->two;
    const rg_pose *end = side == 0 ? &s->end1 : &s->end2;
    const rg_polyhedron *p = rg_shape_polyhedron(own->placed.shape);
    if (!p || p->facet_count > FACETS_MOST)
        return;
    /* Normals are those of the beginning, the point is of the end. */
    rg_vec3 local = rg_rotate_back(own->placed.pose.orientation, rg_sub(point, end->position));
    rg_vec3 centre =
        rg_rotate_back(own->placed.pose.orientation,
                       rg_rotate(end->orientation, rg_shape_centre(own->placed.shape)));
    local = rg_sub(local, centre);
    double inradius = rg_shape_inradius(own->placed.shape);
    for (uint32_t i = 0; i < p->facet_count; i++) {
        if (rg_dot(p->normals[i], local) - inradius <= s->best)
            continue;
        rg_vec3 n = rg_rotate(own->placed.pose.orientation, p->normals[i]);
        consider(s, side == 0 ? n : rg_neg(n));
    }
}

static bool is_still(const rg_swept_shape *a, const rg_swept_shape *b) {
    return rg_largest_entry(rg_sub(a->velocity, b->velocity)) == 0 &&
           rg_largest_entry(a->angular_velocity) == 0 && rg_largest_entry(b->angular_velocity) == 0;
}

static rg_status find_impact(const rg_swept_shape *one, const rg_swept_shape *two, double time,
                             double tolerance, rg_first_contact *impact) {
    const rg_swept_shape *sides[2] = {one, two};
    rg_linear_motion motion[2];
    for (int i = 0; i < 2; i++)
        motion[i] = (rg_linear_motion){
            .start = sides[i]->placed.pose,
            .reference = rg_pose_apply_inverse(sides[i]->placed.pose, sides[i]->centre),
            .velocity = sides[i]->velocity,
            .angular_velocity = sides[i]->angular_velocity};
    rg_path path1 = rg_path_linear(&motion[0]), path2 = rg_path_linear(&motion[1]);
    rg_first_contact_settings settings = rg_first_contact_settings_default(tolerance);
    settings.advance_limit = ADVANCES_MOST;
    return rg_first_contact_between((rg_moving_shape){one->placed.shape, &path1},
                                    (rg_moving_shape){two->placed.shape, &path2}, 0, time,
                                    &settings, impact);
}

/* A ball that goes straight to a face of a polyhedron that does not turn. It is at the polyhedron
 * when the last of the planes of its facets is reached, if that is within the facet. False: it goes
 * elsewhere, or it is not sure. */
static bool find_on_face(const rg_swept_shape *ball, const rg_swept_shape *flat, double time,
                         double gap, double *when) {
    const rg_polyhedron *p = rg_shape_polyhedron(flat->placed.shape);
    if (!p || p->facet_count > FACETS_MOST || rg_largest_entry(flat->angular_velocity) > 0 ||
        rg_swept_reach(ball) > 0 || rg_shape_get_kind(ball->placed.shape) != RG_SHAPE_SPHERE)
        return false;
    const rg_pose *pose = &flat->placed.pose;
    double away = rg_shape_circumradius(ball->placed.shape) + gap, last = -1;
    rg_vec3 c = rg_sub(rg_pose_apply_inverse(*pose, ball->centre), p->centre);
    rg_vec3 v = rg_rotate_back(pose->orientation, rg_sub(ball->velocity, flat->velocity));
    uint32_t facet = 0;
    for (uint32_t i = 0; i < p->facet_count; i++) {
        double above = rg_dot(p->normals[i], c) - p->offsets[i] - away;
        double rate = rg_dot(p->normals[i], v);
        if (above <= 0)
            continue;
        if (!(rate < 0) || -above / rate > time)
            return false;
        if (-above / rate > last) {
            last = -above / rate;
            facet = i;
        }
    }
    if (last < 0)
        return false;
    rg_vec3 foot = rg_add_scaled(rg_add_scaled(c, last, v), -away, p->normals[facet]);
    for (uint32_t i = 0; i < p->facet_count; i++)
        if (i != facet && !(rg_dot(p->normals[i], foot) < p->offsets[i]))
            return false;
    *when = last;
    return true;
}

/* The same as rg_first_contact_between, where it is in closed form; false elsewhere. */
static bool find_impact_on_face(const rg_swept_shape *one, const rg_swept_shape *two, double time,
                                double tolerance, rg_first_contact *impact) {
    rg_growth *growth = &impact->growth;
    double gap = 0.5 * tolerance, when;
    if (!find_on_face(one, two, time, gap, &when) && !find_on_face(two, one, time, gap, &when))
        return false;
    rg_status status = rg_growth_between(one->placed.shape, rg_swept_pose(one, when),
                                         two->placed.shape, rg_swept_pose(two, when), NULL, growth);
    impact->result = RG_FIRST_CONTACT_HIT;
    impact->time = when;
    return !status && growth->gap >= 0 && growth->gap <= tolerance;
}

/* m: how far a point of one shape can move towards the other in the motion, at most. */
static double travel(const rg_swept_shape *one, const rg_swept_shape *two, double time) {
    return time * (rg_length(rg_sub(one->velocity, two->velocity)) +
                   rg_length(one->angular_velocity) * rg_swept_reach(one) +
                   rg_length(two->angular_velocity) * rg_swept_reach(two));
}

/* The feature that is met first, if any is. `start`: the gap at the beginning. Shapes that touch
 * then meet there; the search would look at them once more to find it. */
static rg_status choose_by_search(const rg_swept_shape *one, const rg_swept_shape *two, double time,
                                  double tolerance, double start, rg_plane_choice *choice) {
    rg_first_contact impact = {0};
    rg_status status = RG_OK;
    if (!find_impact_on_face(one, two, time, tolerance, &impact)) {
        if (start <= tolerance)
            impact.result = RG_FIRST_CONTACT_TOUCHING;
        else
            status = find_impact(one, two, time, tolerance, &impact);
    }
    if (status)
        return status;
    bool grazes = impact.result == RG_FIRST_CONTACT_NONE &&
                  impact.growth.gap < RG_PLANE_GRAZING * travel(one, two, time);
    if (impact.result == RG_FIRST_CONTACT_NONE && !grazes)
        choice->result = RG_PLANE_NEVER;
    else if (impact.result != RG_FIRST_CONTACT_TOUCHING)
        *choice = (rg_plane_choice){.result = RG_PLANE_MEETS,
                                    .normal = impact.growth.normal,
                                    .time = impact.time,
                                    .growth = impact.growth};
    else
        choice->closes = true;
    return RG_OK;
}

rg_status rg_contact_plane(const rg_swept_shape *one, const rg_swept_shape *two, double time,
                           bool found, const rg_growth *start, rg_plane_choice *choice) {
    double size =
        fmin(rg_shape_circumradius(one->placed.shape), rg_shape_circumradius(two->placed.shape));
    double tolerance = RG_CONTACT_FLAT * size;
    *choice = (rg_plane_choice){.result = RG_PLANE_OF_START, .normal = start->normal};
    bool bounded = rg_shape_is_bounded(one->placed.shape) && rg_shape_is_bounded(two->placed.shape);
    if (!bounded || !(time > 0) || is_still(one, two))
        return RG_OK;
    search s = {.one = one, .two = two, .best = -INFINITY};
    s.end1 = rg_swept_pose(one, time);
    s.end2 = rg_swept_pose(two, time);
    if (turns_far(one, time) || turns_far(two, time))
        return choose_by_search(one, two, time, tolerance, start->gap, choice);
    double end =
        rg_contact_separation(one->placed.shape, s.end1, two->placed.shape, s.end2, start->normal);
    if (end >= -tolerance) {
        if (start->gap > tolerance)
            *choice =
                (rg_plane_choice){.result = RG_PLANE_APART, .normal = start->normal, .time = time};
        return RG_OK;
    }
    rg_growth last;
    rg_status status =
        rg_growth_between(one->placed.shape, s.end1, two->placed.shape, s.end2, NULL, &last);
    if (status)
        return status;
    find_arms(&s);
    consider(&s, start->normal);
    consider(&s, last.normal);
    consider_facets(&s, 0, last.on2);
    consider_facets(&s, 1, last.on1);
    if (s.best >= -slack_of(one, two, time, size)) {
        *choice = (rg_plane_choice){.result = RG_PLANE_APART, .normal = s.normal, .time = time};
        return RG_OK;
    }
    if (!found && s.best >= -RG_PLANE_UNDECIDED * size &&
        rg_dot(s.normal, start->normal) < RG_PLANE_ANOTHER) {
        choice->result = RG_PLANE_NEVER;
        return RG_OK;
    }
    return choose_by_search(one, two, time, tolerance, start->gap, choice);
}

/* --- at an instant ---------------------------------------------------------------------------- */

/* rad: turned by so much to see how supports change. What is lost to rounding is about as much as
 * to curvature. */
#define TURNED 1e-8

/* How fast the support of a shape along n, from a fixed point at its centre, grows, if n turns with
 * `spin`. */
static double support_rate(const rg_swept_shape *s, rg_vec3 n, rg_vec3 spin) {
    rg_vec3 turning = rg_sub(s->angular_velocity, spin);
    rg_pose pose = s->placed.pose;
    pose.position = rg_sub(pose.position, s->centre);
    double rate = rg_dot(n, s->velocity), speed = rg_length(turning);
    if (!(speed > 0))
        return rate;
    double time = TURNED / speed, before = support_of(s->placed.shape, pose, n);
    rg_quat turn = rg_quat_of_rotation_vector(rg_scale(time, turning));
    pose.orientation = rg_quat_multiply(turn, pose.orientation);
    pose.position = rg_rotate(turn, pose.position);
    return rate + (support_of(s->placed.shape, pose, n) - before) / time;
}

/* g'(n), n turning with `spin`. */
static double separation_rate(const rg_swept_shape *one, const rg_swept_shape *two, rg_vec3 n,
                              rg_vec3 spin) {
    double turning = rg_dot(rg_cross(spin, n), rg_sub(two->centre, one->centre));
    return turning - support_rate(two, rg_neg(n), spin) - support_rate(one, n, spin);
}

static void consider_faces(const rg_swept_shape *one, const rg_swept_shape *two, int side,
                           double tolerance, rg_free_plane *best) {
    const rg_swept_shape *own = side == 0 ? one : two;
    const rg_polyhedron *p = rg_shape_polyhedron(own->placed.shape);
    if (!p || p->facet_count > FACETS_MOST)
        return;
    for (uint32_t i = 0; i < p->facet_count; i++) {
        rg_vec3 n = rg_rotate(own->placed.pose.orientation, p->normals[i]);
        n = side == 0 ? n : rg_neg(n);
        if (rg_contact_separation(one->placed.shape, one->placed.pose, two->placed.shape,
                                  two->placed.pose, n) < -tolerance)
            continue;
        double rate = separation_rate(one, two, n, own->angular_velocity);
        if (rate > best->rate)
            *best = (rg_free_plane){
                .normal = n,
                .rate = rate,
                .features = {side == 0 ? RG_FEATURES_FACE_VERTEX : RG_FEATURES_VERTEX_FACE,
                             side == 0 ? i : 0, side == 0 ? 0 : i}};
    }
}

rg_free_plane rg_contact_free_plane(const rg_swept_shape *one, const rg_swept_shape *two,
                                    double tolerance) {
    rg_free_plane best = {.rate = -INFINITY};
    consider_faces(one, two, 0, tolerance, &best);
    consider_faces(one, two, 1, tolerance, &best);
    return best;
}
