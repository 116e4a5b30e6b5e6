/* The smallest gap of two convex shapes along the motion that was made in a step, and whether they
 * passed through each other.
 *
 * A plane is the proof. For any unit normal n the separation
 *
 *     g(n, t) = n . (c2 - c1) - s1(n) - s2(-n)      c: reference points, s: supports about them,
 *
 * is at most the signed gap of the shapes (their distance, or minus the least translation that
 * separates them). Narrow-phase functions only propose n; g is computed here. Between two instants
 * a and b, with normals na and nb, take n(t) on the chord from na to nb. For each pair of points,
 * one of either shape, f(t) = n(t) . u(t) is at least g at the ends, and in between it is below the
 * chord by at most max |f''| (b - a)^2 / 8 (the error of linear interpolation), with
 *
 *     |f''| <= 2 |n'| |u'| + |u''|
 *
 * from bounds of the motion; |n(t)| is at least sqrt(1 - |nb - na|^2 / 4). Other lower bounds are
 * those of either normal kept fixed, and that of the speed alone, (g(a) + g(b) - max|u'| (b - a)) /
 * 2, the conservative advance. Where none of them shows that the gap stays above what was found
 * before, the interval is halved. What is reported is the gap at an instant; it was never smaller
 * by more than the resolution: 1e-9 of the size, a tenth of the gap itself, or of what turns 5e-7
 * of its radius.
 *
 * Passed through. Two shapes have passed through each other if, along the motion, they were deeper
 * in each other than the inradius of the thinner one (half its thickness), and the shortest way
 * out after that, at the end of this depth or of the step, is not the one by which they came in:
 * in the frame of the body that turns less the normals differ by more than 60 degrees. What is
 * less deep is penetration, which the gap tells, and so is what leaves by the way it came. A half-
 * space has one side only: nothing passes through it.
 *
 * Deep. Depths are also compared with the size of the smaller body: an overlap of more than
 * RG_JUDGE_DEEP of it that was not there when the step began, or has grown in it, is one that the
 * step has made. Bodies that overlap from the start are no mistake of a step as long as they come
 * out of each other.
 *
 * Tested by tests/step/test_judge_gaps.c and tests/step/test_judge_deep.c. */
#include "step/step_judge_follow.h"

#include "rigor/proximity.h"
#include "shape/shape.h"

/* m per m of the smaller circumradius, and share of the smallest gap: differences of gaps that are
 * not resolved. */
#define RESOLUTION       1e-9
#define RESOLUTION_SHARE 0.1
/* Curvature that is not resolved, m per m that the surfaces travel between two looks: a body that
 * turns is looked at about every 8 FINE rad. */
#define FINE 2.5e-4
/* Where the depth passes the inradius, normals are taken as near to it as this share of it. */
#define CROSSING 0.25
/* Cosine of the largest angle between the way in and the way out. */
#define SAME_WAY 0.5
/* Halvings of an interval, and instants that a pair is looked at along a leg of its motion: what is
 * not resolved by then counts with its lower bound. */
enum { HALVINGS = 48, LOOKS_MOST = 1000 };
/* Facets, and directions of edges, up to which all normals of polyhedra are tried for the shortest
 * way out; sine of the angle of parallel ones. */
enum { FACETS_MOST = 256, EDGES_MOST = 32 };
#define PARALLEL 1e-6
/* Share of the inradius of the thinner one: an overlap that is no deeper is slight. */
#define SLIGHT 0.01

/* Of the smaller size: an overlap that was deep before the step and is no deeper by more than this
 * comes from before. Depths are found along other normals at other instants. */
#define GROWTH 1e-3

/* A look at a pair at an instant. */
typedef struct look {
    double time, gap;
    rg_pose pose[2];
    rg_vec3 normal; /* from 1 to 2 */
} look;

/* Bounds over an interval: most of |u'| and of the curvature of g along normals between two, |u''|.
 */
typedef struct motion_rates {
    double speed, bend;
} motion_rates;

typedef struct chase {
    const rg_judge_part *part[2];
    rg_judge_leg leg[2];
    int plane;            /* which one is a half-space; -1: none */
    rg_vec3 plane_normal; /* in its frame */
    double plane_offset;
    bool has_rates; /* of a plane that is still: those of a leg are those of its parts */
    motion_rates rates;
    double size, near;
    double deep; /* m: deeper than this may be passed through; infinity: never */
    int looks;   /* that are left */
    rg_judge_gaps *found;
    bool is_deep, has_way, has_passed;
    rg_vec3 way[2]; /* normal in the frames of the bodies, when they were last not deep */
    bool has_known;
    rg_vec3 known[2]; /* normal in their frames, of the last look */
    bool has_before;
    double before; /* m: the gap when the step began */
} chase;

/* --- deep overlaps ---------------------------------------------------------------------------- */

static double size_of_smaller(const rg_judge_part *const part[2]) {
    return part[0]->size < part[1]->size ? part[0]->size : part[1]->size;
}

static rg_judge_overlap overlap_of(const rg_judge_part *const part[2], double gap, double time) {
    double size = size_of_smaller(part);
    return (rg_judge_overlap){-gap / size, -gap, size, time, {part[0]->body, part[1]->body}};
}

rg_judge_gaps rg_judge_gaps_make(double begin, double end) {
    return (rg_judge_gaps){.span = {begin, end},
                           .least = INFINITY,
                           .end = INFINITY,
                           .deepest = {.share = RG_JUDGE_DEEP},
                           .standing = {.share = RG_JUDGE_DEEP}};
}

bool rg_judge_may_be_deepest(const rg_judge_gaps *found, const rg_judge_part *const part[2],
                             double gap) {
    return gap < 0 && -gap > found->deepest.share * size_of_smaller(part);
}

void rg_judge_note_deepest(rg_judge_gaps *found, const rg_judge_part *const part[2], double gap,
                           double before, double time) {
    double size = size_of_smaller(part);
    bool was_deep = -before > RG_JUDGE_DEEP * size;
    if (rg_judge_may_be_deepest(found, part, gap) && !(was_deep && before - gap <= GROWTH * size))
        found->deepest = overlap_of(part, gap, time);
}

void rg_judge_note_standing(rg_judge_gaps *found, const rg_judge_part *const part[2], double gap) {
    if (gap < 0 && -gap > found->standing.share * size_of_smaller(part))
        found->standing = overlap_of(part, gap, found->span[1]);
}

/* --- one instant ------------------------------------------------------------------------------ */

static double support_of(const rg_shape *shape, rg_quat orientation, rg_vec3 n) {
    rg_vec3 local = rg_rotate_back(orientation, n);
    return rg_dot(local, rg_shape_support(shape, local, NULL));
}

/* g of a half-space, whose normal it is. */
static double plane_gap(const chase *c, const rg_pose pose[2], rg_vec3 *normal) {
    int i = c->plane;
    rg_vec3 up = rg_rotate(pose[i].orientation, c->plane_normal);
    rg_vec3 d = rg_sub(pose[1 - i].position, pose[i].position);
    *normal = i == 0 ? up : rg_neg(up);
    return rg_dot(up, d) - c->plane_offset -
           support_of(c->part[1 - i]->shape, pose[1 - i].orientation, rg_neg(up));
}

/* g along n, relative to the first one's place: far from the origin nothing is lost. Where the
 * motion leaves the range of numbers no normal was found, and none shows anything. */
static double gap_along(const chase *c, const rg_pose pose[2], rg_vec3 n) {
    if (rg_is_zero(n))
        return -INFINITY;
    return rg_dot(n, rg_sub(pose[1].position, pose[0].position)) -
           support_of(c->part[0]->shape, pose[0].orientation, n) -
           support_of(c->part[1]->shape, pose[1].orientation, rg_neg(n));
}

static void propose(const chase *c, look *at, rg_vec3 n) {
    double gap = gap_along(c, at->pose, n);
    if (gap > at->gap) {
        at->gap = gap;
        at->normal = n;
    }
}

/* Directions of edges, parallel ones once, in space; how many, or 0 if there are too many. */
static int edge_directions(const rg_polyhedron *p, rg_quat orientation,
                           rg_vec3 directions[EDGES_MOST]) {
    int count = 0;
    for (uint32_t i = 0; i < p->edge_count; i++) {
        const uint32_t *e = &p->edge_vertices[2 * i];
        rg_vec3 d =
            rg_rotate(orientation, rg_normalised(rg_sub(p->vertices[e[1]], p->vertices[e[0]])));
        bool known = false;
        for (int k = 0; k < count && !known; k++)
            known = rg_length_squared(rg_cross(d, directions[k])) < PARALLEL * PARALLEL;
        if (known)
            continue;
        if (count == EDGES_MOST)
            return 0;
        directions[count++] = d;
    }
    return count;
}

static void propose_crosses(const chase *c, look *at, const rg_polyhedron *const p[2]) {
    rg_vec3 a[EDGES_MOST], b[EDGES_MOST];
    int m = edge_directions(p[0], at->pose[0].orientation, a);
    int n = m ? edge_directions(p[1], at->pose[1].orientation, b) : 0;
    for (int i = 0; i < m; i++)
        for (int k = 0; k < n; k++) {
            rg_vec3 cross = rg_cross(a[i], b[k]);
            double length = rg_length(cross);
            if (!(length > PARALLEL))
                continue;
            propose(c, at, rg_scale(1 / length, cross));
            propose(c, at, rg_scale(-1 / length, cross));
        }
}

/* The shortest way out of an overlap, among the normals of polyhedra, the line of the centres, and
 * of curved shapes the normal that the narrow phase proposes. A slight overlap is left by the plane
 * that the narrow phase found, or by a facet. */
static void look_for_way_out(const chase *c, look *at) {
    const rg_polyhedron *p[2];
    rg_vec3 centre[2];
    for (int i = 0; i < 2; i++) {
        p[i] = rg_shape_polyhedron(c->part[i]->shape);
        centre[i] = rg_pose_apply(at->pose[i], rg_shape_centre(c->part[i]->shape));
        for (uint32_t f = 0; p[i] && p[i]->facet_count <= FACETS_MOST && f < p[i]->facet_count; f++)
            propose(c, at,
                    rg_scale(i ? -1 : 1, rg_rotate(at->pose[i].orientation, p[i]->normals[f])));
    }
    if (at->gap >= -SLIGHT * c->deep)
        return;
    rg_vec3 d = rg_sub(centre[1], centre[0]);
    if (rg_length(d) > 0)
        propose(c, at, rg_normalised(d));
    rg_depth depth;
    if (p[0] && p[1] && !rg_shape_is_planar(c->part[0]->shape))
        propose_crosses(c, at, p);
    else if (rg_depth_between(c->part[0]->shape, at->pose[0], c->part[1]->shape, at->pose[1],
                              &depth) == RG_OK)
        propose(c, at, depth.normal);
}

/* A gap that matters, or an overlap whose way out may have to be compared with a later one: apart,
 * the distance; otherwise the shortest way out. */
static void look_closer(const chase *c, look *at) {
    rg_distance distance;
    if (at->gap <= SLIGHT * c->deep)
        look_for_way_out(c, at);
    else if (rg_distance_between(c->part[0]->shape, at->pose[0], c->part[1]->shape, at->pose[1],
                                 NULL, &distance) == RG_OK &&
             distance.distance > 0)
        propose(c, at, distance.normal);
}

/* What a gap must exceed not to matter: that it would be the smallest, the deepest relative to the
 * bodies' size, or be deep enough to pass through. */
static double bar_for(const rg_judge_gaps *found, const rg_judge_part *const part[2], double near,
                      double deep, double size) {
    double least = found->least < near ? found->least : near;
    double deepest = -found->deepest.share * size_of_smaller(part);
    double bar = least > -deep ? least : -deep;
    bar = bar > deepest ? bar : deepest;
    double resolved = RESOLUTION * size, share = RESOLUTION_SHARE * fabs(bar);
    return bar - (resolved > share ? resolved : share);
}

static double bar_of(const chase *c) {
    return bar_for(c->found, c->part, c->near, c->deep, c->size);
}

/* The plane of the last look, as it moves with either body: whether it shows that the shapes are no
 * nearer than was found before, nor deep. Then no better one is looked for. */
static bool look_along_known(const chase *c, look *at) {
    double enough = fmax(c->found->least, -SLIGHT * c->deep);
    for (int i = 0; i < 2 && c->has_known && at->gap < enough; i++)
        propose(c, at, rg_rotate(at->pose[i].orientation, c->known[i]));
    return at->gap >= enough;
}

static void know(chase *c, const rg_pose pose[2], rg_vec3 normal) {
    if (c->plane >= 0)
        return;
    for (int i = 0; i < 2; i++)
        c->known[i] = rg_rotate_back(pose[i].orientation, normal);
    c->has_known = true;
}

static void propose_growth(const chase *c, look *at) {
    rg_growth growth;
    if (rg_growth_between(c->part[0]->shape, at->pose[0], c->part[1]->shape, at->pose[1], NULL,
                          &growth) == RG_OK)
        propose(c, at, growth.normal);
}

/* m: the gap when the step began. */
static double gap_before(chase *c) {
    look at = {.gap = -INFINITY, .pose = {c->part[0]->start, c->part[1]->start}};
    if (c->has_before)
        return c->before;
    if (c->plane >= 0) {
        at.gap = plane_gap(c, at.pose, &at.normal);
    } else {
        propose_growth(c, &at);
        if (at.gap < -SLIGHT * c->deep)
            look_closer(c, &at);
    }
    c->has_before = true;
    c->before = at.gap;
    return at.gap;
}

static look look_at(chase *c, double time, const rg_pose pose[2]) {
    look at = {.time = time, .gap = -INFINITY, .pose = {pose[0], pose[1]}};
    c->looks--;
    if (c->plane >= 0) {
        at.gap = plane_gap(c, pose, &at.normal);
    } else if (!look_along_known(c, &at)) {
        propose_growth(c, &at);
        if (at.gap < c->found->least || at.gap < -SLIGHT * c->deep)
            look_closer(c, &at);
    }
    know(c, at.pose, at.normal);
    c->found->least = fmin(c->found->least, at.gap);
    if (rg_judge_may_be_deepest(c->found, c->part, at.gap))
        rg_judge_note_deepest(c->found, c->part, at.gap, gap_before(c), time);
    return at;
}

static rg_pose pose_of(const chase *c, int i, double time) {
    if (c->part[i]->still)
        return c->part[i]->end;
    if (!c->leg[i].piece && time == c->leg[i].begin)
        return c->part[i]->start;
    return rg_pose_compose(rg_judge_leg_pose(&c->leg[i], time), c->part[i]->local);
}

static void poses_of(const chase *c, double time, rg_pose pose[2]) {
    for (int i = 0; i < 2; i++)
        pose[i] = pose_of(c, i, time);
}

static look look_then(chase *c, double time) {
    rg_pose pose[2];
    poses_of(c, time, pose);
    return look_at(c, time, pose);
}

/* --- between two instants --------------------------------------------------------------------- */

/* Those rates times the length of the interval and its square. */
typedef struct motion_bounds {
    double travel, bend;
} motion_bounds;

/* The normal of a half-space that turns turns with it: what that adds. `rate`: m/s, of the rest. */
static void add_turning_plane(const chase *c, double middle, double length, double *rate,
                              double *bend) {
    const rg_judge_leg *leg = &c->leg[c->plane];
    int other = 1 - c->plane;
    rg_vec3 pivot = rg_judge_leg_pose(leg, middle).position;
    rg_vec3 centre =
        rg_pose_apply(pose_of(c, other, middle), rg_shape_centre(c->part[other]->shape));
    double far = rg_length(rg_sub(centre, pivot)) + c->size + length * *rate;
    *bend += (leg->turning * leg->turning + leg->bending) * far + 2 * leg->turning * *rate;
    *rate += leg->turning * far;
}

/* Whether a part is round about its z axis, and that goes through the centre of mass. */
static bool is_round(const rg_judge_part *part) {
    rg_shape_kind kind = rg_shape_get_kind(part->shape);
    rg_vec3 centre = rg_rotate_back(part->local.orientation, part->local.position);
    return centre.x == 0 && centre.y == 0 &&
           (kind == RG_SHAPE_CAPSULE || kind == RG_SHAPE_CYLINDER || kind == RG_SHAPE_CONE);
}

/* rad/s, rad/s^2: most of the first and the second derivative of a direction of the part. Of one
 * that is round and turns at a constant rate w only the axis n moves: w x n, w x (w x n), whose
 * lengths are those of any instant. */
static void bound_turning(const chase *c, int i, const look *at, double *first, double *second) {
    const rg_judge_leg *leg = &c->leg[i];
    *first = leg->turning;
    *second = leg->turning * leg->turning + leg->bending;
    if ((leg->piece && !leg->piece->steady) || !is_round(c->part[i]))
        return;
    rg_vec3 axis = rg_rotate(at->pose[i].orientation, (rg_vec3){0, 0, 1});
    *first = rg_length(rg_cross(leg->piece ? leg->piece->spin : leg->spin, axis));
    *second = leg->turning * *first;
}

/* Of the first look only the time and the normal are read. */
static motion_rates bound_rates(const chase *c, const look *a, const look *b) {
    double length = b->time - a->time, middle = a->time + 0.5 * length, rate = 0, bend = 0;
    rg_vec3 velocity = {0, 0, 0};
    bool turns = false;
    for (int i = 0; i < 2; i++) {
        const rg_judge_leg *leg = &c->leg[i];
        if (c->part[i]->still)
            continue;
        rg_vec3 v = rg_judge_leg_velocity(leg, middle);
        velocity = i == 0 ? rg_sub(velocity, v) : rg_add(velocity, v);
        rate += 0.5 * length * leg->acceleration;
        bend += fmax(rg_judge_leg_acceleration(leg, a->normal),
                     rg_judge_leg_acceleration(leg, b->normal));
        if (!(leg->turning > 0))
            continue;
        turns |= c->plane == i;
        double swing = c->plane == i ? 0 : c->part[i]->swing, first, second;
        bound_turning(c, i, b, &first, &second);
        rate += swing * first;
        bend += swing * second;
    }
    rate += rg_length(velocity);
    if (turns)
        add_turning_plane(c, middle, length, &rate, &bend);
    return (motion_rates){rate, bend};
}

static motion_bounds bound_motion(const chase *c, const look *a, const look *b) {
    double length = b->time - a->time;
    motion_rates rates = c->has_rates ? c->rates : bound_rates(c, a, b);
    return (motion_bounds){length * rates.speed, length * length * rates.bend};
}

/* A lower bound of the gap between two looks: `least` for straight motion, off by `curve` at most.
 */
typedef struct lower_bound {
    double least, curve;
} lower_bound;

static bool exceeds(lower_bound bound, const motion_bounds *m, double bar) {
    return bound.least - bound.curve >= bar ||
           (bound.least >= bar && bound.curve <= FINE * m->travel);
}

static double worth(lower_bound bound) {
    return bound.least - bound.curve;
}

/* Of gaps `a` and `b`, along normals that differ by the chord `turn`. */
static lower_bound chord_bound(double a, double b, double turn, const motion_bounds *m) {
    double shortest = turn < 2 ? sqrt(1 - 0.25 * turn * turn) : 0;
    lower_bound bound = {fmin(a, b), 0.125 * (2 * turn * m->travel + m->bend)};
    if (!(shortest > 0))
        return (lower_bound){-INFINITY, 0};
    bound.curve /= shortest;
    if (bound.least < 0)
        bound.least /= shortest;
    return bound;
}

static lower_bound along_chord(const chase *c, const look *a, const look *b,
                               const motion_bounds *m) {
    double turn = c->plane >= 0 ? 0 : rg_length(rg_sub(b->normal, a->normal));
    return chord_bound(a->gap, b->gap, turn, m);
}

/* With a normal that is kept: `at` has it, `other` is looked at along it. */
static lower_bound along_normal(const chase *c, const look *at, const look *other,
                                const motion_bounds *m) {
    return (lower_bound){fmin(at->gap, gap_along(c, other->pose, at->normal)), 0.125 * m->bend};
}

/* Whether the gap stays above the bar; `lower`: what it stays above. */
static bool stays_above(const chase *c, const look *a, const look *b, const motion_bounds *m,
                        double bar, double *lower) {
    lower_bound bound = along_chord(c, a, b, m);
    *lower = fmax(0.5 * (a->gap + b->gap - m->travel), worth(bound));
    if (*lower >= bar || exceeds(bound, m, bar))
        return true;
    for (int i = 0; i < 2 && c->plane < 0; i++) {
        bound = i == 0 ? along_normal(c, b, a, m) : along_normal(c, a, b, m);
        *lower = fmax(*lower, worth(bound));
        if (exceeds(bound, m, bar))
            return true;
    }
    return false;
}

/* --- what came of it -------------------------------------------------------------------------- */

static double rate_of_turning(const chase *c, int i) {
    return c->part[i]->still ? 0 : c->leg[i].turning;
}

/* In the frame of the body that turns less: normals are those of faces that stay, more or less. */
static bool is_other_way(const chase *c, const look *at) {
    int i = rate_of_turning(c, 0) <= rate_of_turning(c, 1) ? 0 : 1;
    return rg_dot(c->way[i], rg_rotate_back(at->pose[i].orientation, at->normal)) < SAME_WAY;
}

/* Looks in the order of time. */
static void note(chase *c, const look *at) {
    if (c->plane >= 0)
        return;
    bool deep = at->gap < -c->deep;
    if (!deep && c->is_deep && is_other_way(c, at))
        c->has_passed = true;
    c->is_deep = deep;
    if (deep && c->has_way)
        return;
    for (int i = 0; i < 2; i++)
        c->way[i] = rg_rotate_back(at->pose[i].orientation, at->normal);
    c->has_way = true;
}

/* Whether nothing between two looks matters; or nothing more can be done. */
static bool is_settled(chase *c, const look *a, const look *b, bool last) {
    bool deep = a->gap < -c->deep, crosses = deep != (b->gap < -c->deep);
    double bar = bar_of(c), lower;
    if (deep || crosses)
        bar = fmin(bar, c->found->least - RESOLUTION_SHARE * fabs(c->found->least));
    motion_bounds m = bound_motion(c, a, b);
    bool above = stays_above(c, a, b, &m, bar, &lower);
    if (last && !above)
        c->found->least = fmin(c->found->least, lower);
    return last || (above && (!crosses || m.travel <= CROSSING * c->deep));
}

static void follow_between(chase *c, look a, look b) {
    look ahead[HALVINGS];
    int top = 0;
    ahead[0] = b;
    note(c, &a);
    while (top >= 0) {
        b = ahead[top];
        double middle = 0.5 * (a.time + b.time);
        bool last = top + 1 == HALVINGS || c->looks <= 0 || !(a.time < middle && middle < b.time);
        if (is_settled(c, &a, &b, last)) {
            note(c, &b);
            a = b;
            top--;
        } else {
            ahead[++top] = look_then(c, middle);
        }
    }
}

/* Whether the plane of the end separated all along, or nearly: so it is with most pairs. */
static bool is_plain(const chase *c, double begin, const look *b) {
    double bar = bar_of(c);
    if (!(b->gap >= bar) || b->gap < -c->deep)
        return false;
    look a = {.time = begin, .normal = b->normal};
    motion_bounds m = bound_motion(c, &a, b);
    if (b->gap - m.travel >= bar) /* at rest */
        return true;
    poses_of(c, begin, a.pose);
    a.gap = c->plane >= 0 ? plane_gap(c, a.pose, &a.normal) : gap_along(c, a.pose, b->normal);
    return exceeds((lower_bound){fmin(a.gap, b->gap), 0.125 * m.bend}, &m, bar);
}

static void follow_leg(chase *c, double begin, const look *end) {
    c->looks = LOOKS_MOST;
    c->has_rates = false;
    if (c->plane >= 0 && c->part[c->plane]->still) {
        look at = {.time = begin, .normal = end->normal};
        c->rates = bound_rates(c, &at, end);
        c->has_rates = true;
    }
    if (is_plain(c, begin, end))
        note(c, end);
    else
        follow_between(c, look_then(c, begin), *end);
}

/* Along the legs of both bodies. */
static void follow_legs(chase *c, const rg_judge_course *const course[2], double begin,
                        const look *end) {
    const rg_judge_piece *piece[2] = {course[0]->piece, course[1]->piece};
    double time = begin;
    for (int i = 0; i < 2; i++)
        c->leg[i] = piece[i] ? rg_judge_leg_along(piece[i]) : course[i]->straight;
    while (time < end->time) {
        double stop = end->time;
        for (int i = 0; i < 2; i++)
            if (piece[i] && piece[i]->next)
                stop = fmin(stop, piece[i]->next->begin);
        if (stop > time) {
            look b = stop < end->time ? look_then(c, stop) : *end;
            follow_leg(c, time, &b);
        }
        time = stop;
        for (int i = 0; i < 2; i++)
            if (piece[i] && piece[i]->next && piece[i]->next->begin <= time) {
                piece[i] = piece[i]->next;
                c->leg[i] = rg_judge_leg_along(piece[i]);
            }
    }
}

static chase chase_of(const rg_judge_pair *pair, rg_judge_gaps *found) {
    chase c = {.plane = -1, .near = pair->near, .found = found};
    for (int i = 0; i < 2; i++) {
        c.part[i] = pair->part[i];
        if (isfinite(c.part[i]->reach))
            continue;
        rg_shape_def def = rg_shape_get_def(c.part[i]->shape);
        c.plane = i;
        c.plane_normal = def.normal;
        c.plane_offset = def.offset;
    }
    c.size = fmin(c.part[0]->shape->circumradius, c.part[1]->shape->circumradius);
    c.deep = c.plane >= 0
                 ? INFINITY
                 : fmin(rg_shape_inradius(c.part[0]->shape), rg_shape_inradius(c.part[1]->shape));
    return c;
}

/* --- pairs of which one look is enough -------------------------------------------------------- */

/* The support along n of a ball, capsule or box, or of a half-space against its normal. */
static double support_in_space(const rg_judge_part *p, const rg_pose *pose, const rg_vec3 arm[3],
                               rg_vec3 n) {
    if (p->arms < 0)
        return support_of(p->shape, pose->orientation, n);
    double sum = p->radius;
    for (int i = 0; i < p->arms; i++)
        sum += fabs(rg_dot(n, arm[i]));
    return sum;
}

/* g along n at the beginning or at the end of the step. */
static double gap_at(const rg_judge_pair *pair, bool begins, rg_vec3 n) {
    const rg_judge_part *a = pair->part[0], *b = pair->part[1];
    const rg_pose *x = begins ? &a->start : &a->end, *y = begins ? &b->start : &b->end;
    return rg_dot(n, rg_sub(y->position, x->position)) -
           support_in_space(a, x, begins ? a->start_arm : a->end_arm, n) -
           support_in_space(b, y, begins ? b->start_arm : b->end_arm, rg_neg(n));
}

static double depth_of(const rg_judge_pair *pair) {
    double a = pair->part[0]->shape->inradius, b = pair->part[1]->shape->inradius;
    return a < b ? a : b;
}

static bool is_bounded(const rg_judge_part *p) {
    return p->reach < INFINITY;
}

static double size_of(const rg_judge_pair *pair) {
    double a = pair->part[0]->shape->circumradius, b = pair->part[1]->shape->circumradius;
    return a < b ? a : b;
}

/* Which of the parts is a half-space, if what is over it has arms; -1: none. */
static int plane_of(const rg_judge_pair *pair) {
    for (int i = 0; i < 2; i++)
        if (!is_bounded(pair->part[i]) && pair->part[1 - i]->arms >= 0)
            return i;
    return -1;
}

/* The gap over a half-space, whose normal it is, at the beginning or at the end of the step. */
static double height_at(const rg_judge_pair *pair, int plane, bool begins, rg_vec3 *normal) {
    const rg_judge_part *below = pair->part[plane], *over = pair->part[1 - plane];
    const rg_pose *x = begins ? &below->start : &below->end,
                  *y = begins ? &over->start : &over->end;
    const rg_shape_def *def = &below->shape->def;
    rg_vec3 up = rg_rotate(x->orientation, def->normal);
    *normal = plane == 0 ? up : rg_neg(up);
    return rg_dot(up, rg_sub(y->position, x->position)) - def->offset -
           support_in_space(over, y, begins ? over->start_arm : over->end_arm, up);
}

static void propose_plane(rg_judge_pair *pair, double gap, rg_vec3 normal) {
    if (gap > pair->gap) {
        pair->gap = gap;
        pair->normal = normal;
    }
}

/* The planes of the faces of two boxes at the end: for most pairs one of them is the best plane, or
 * nearly. */
static void propose_faces(rg_judge_pair *pair) {
    const rg_judge_part *const *part = pair->part;
    rg_vec3 d = rg_sub(part[1]->end.position, part[0]->end.position);
    for (int k = 0; k < 2 && part[0]->arms == 3 && part[1]->arms == 3; k++)
        for (int i = 0; i < 3; i++) {
            const rg_vec3 *own = &part[k]->end_arm[i], *arm = part[1 - k]->end_arm;
            double ahead = rg_dot(*own, d), half = sqrt(rg_length_squared(*own)),
                   reach = fabs(rg_dot(*own, arm[0])) + fabs(rg_dot(*own, arm[1])) +
                           fabs(rg_dot(*own, arm[2]));
            if (!((fabs(ahead) - reach) / half - half > pair->gap))
                continue;
            rg_vec3 n = rg_scale((ahead < 0 ? -1 : 1) / half, *own);
            propose_plane(pair, gap_at(pair, false, n), n);
        }
}

/* A plane shows that the shapes are no nearer than was found before, nor deep. */
static bool is_enough(const rg_judge_pair *pair, rg_judge_gaps *found) {
    if (!(pair->gap >= found->least && pair->gap >= -SLIGHT * depth_of(pair)))
        return false;
    found->end = pair->gap < found->end ? pair->gap : found->end;
    return true;
}

void rg_judge_bound_at_end(rg_judge_pair *pair, rg_judge_gaps *found) {
    int plane = plane_of(pair);
    pair->gap = -INFINITY;
    pair->known = plane >= 0;
    if (pair->known) {
        rg_vec3 other;
        pair->gap = height_at(pair, plane, false, &pair->normal);
        found->least = pair->gap < found->least ? pair->gap : found->least;
        found->end = pair->gap < found->end ? pair->gap : found->end;
        rg_judge_note_standing(found, pair->part, pair->gap);
        if (rg_judge_may_be_deepest(found, pair->part, pair->gap))
            rg_judge_note_deepest(found, pair->part, pair->gap,
                                  height_at(pair, plane, true, &other), found->span[1]);
    } else if (!rg_is_zero(pair->hint) && is_bounded(pair->part[0]) && is_bounded(pair->part[1])) {
        propose_plane(pair, gap_at(pair, false, pair->hint), pair->hint);
    }
}

/* The plane of the end, as it moves with either body. */
static bool is_carried(const rg_judge_pair *pair, const motion_bounds *m, double bar) {
    for (int i = 0; i < 2; i++) {
        const rg_judge_part *part = pair->part[i];
        rg_vec3 n =
            rg_rotate(part->start.orientation, rg_rotate_back(part->end.orientation, pair->normal));
        double begin = gap_at(pair, true, n), turn = rg_length(rg_sub(pair->normal, n));
        if (!part->still && exceeds(chord_bound(begin, pair->gap, turn, m), m, bar))
            return true;
    }
    return false;
}

void rg_judge_course_bound(rg_judge_course *course) {
    course->smooth = true;
    course->acceleration = course->bending = 0;
    course->turning = course->straight.turning;
    for (const rg_judge_piece *piece = course->piece; piece; piece = piece->next) {
        rg_judge_leg leg = rg_judge_leg_along(piece);
        course->acceleration = fmax(course->acceleration, leg.acceleration);
        course->turning = fmax(course->turning, leg.turning);
        course->bending = fmax(course->bending, leg.bending);
    }
}

/* m/s^2: most of the acceleration along a normal. */
static double bend_along(const rg_judge_course *course, rg_vec3 n) {
    double most = 0;
    for (const rg_judge_piece *piece = course->piece; piece; piece = piece->next)
        most = fmax(most, rg_judge_leg_acceleration(&(rg_judge_leg){.piece = piece}, n));
    return most;
}

/* As is_plain, of two whose velocities are continuous: bodies that turn about their centres swing
 * no faster than their farthest points, and bend no more. */
static bool is_straight(const rg_judge_pair *pair, double length, const rg_judge_gaps *found) {
    const rg_judge_part *const *part = pair->part;
    int plane = plane_of(pair);
    bool closed = plane >= 0 ? part[plane]->still : is_bounded(part[0]) && is_bounded(part[1]);
    if (!closed || !pair->course[0]->smooth || !pair->course[1]->smooth)
        return false;
    double deep = plane >= 0 ? INFINITY : depth_of(pair);
    double bar = bar_for(found, part, pair->near, deep, size_of(pair));
    if (!(pair->gap >= bar && pair->gap >= -deep))
        return false;
    const rg_judge_course *x = pair->course[0], *y = pair->course[1];
    double swing[2] = {part[0]->swing * x->turning, part[1]->swing * y->turning};
    double speed = rg_length(rg_sub(y->straight.velocity, x->straight.velocity));
    double travel = length * (speed + swing[0] + swing[1]) +
                    length * length * (x->acceleration + y->acceleration);
    if (pair->gap - travel >= bar)
        return true;
    rg_vec3 same;
    double bend = swing[0] * x->turning + swing[1] * y->turning;
    if (x->piece || y->piece)
        bend += part[0]->swing * x->bending + part[1]->swing * y->bending +
                bend_along(x, pair->normal) + bend_along(y, pair->normal);
    motion_bounds m = {travel, length * length * bend};
    double begin =
        plane >= 0 ? height_at(pair, plane, true, &same) : gap_at(pair, true, pair->normal);
    lower_bound kept = {begin < pair->gap ? begin : pair->gap, 0.125 * m.bend};
    bool straight = !x->piece && !y->piece;
    return exceeds(kept, &m, bar) || (plane < 0 && straight && is_carried(pair, &m, bar));
}

void rg_judge_look_at_end(rg_judge_pair *pair, double end, rg_judge_gaps *found) {
    if (pair->known || is_enough(pair, found))
        return;
    propose_faces(pair);
    if (is_enough(pair, found))
        return;
    chase c = chase_of(pair, found);
    rg_pose pose[2] = {pair->part[0]->end, pair->part[1]->end};
    if (rg_largest_entry(pair->hint) > 0)
        know(&c, pose, pair->hint);
    look last = look_at(&c, end, pose);
    pair->gap = last.gap;
    pair->normal = last.normal;
    found->end = fmin(found->end, last.gap);
    rg_judge_note_standing(found, pair->part, last.gap);
}

void rg_judge_follow(const rg_judge_pair *pair, double begin, double end, rg_judge_gaps *found) {
    if (is_straight(pair, end - begin, found))
        return;
    chase c = chase_of(pair, found);
    look last = {.time = end,
                 .gap = pair->gap,
                 .pose = {pair->part[0]->end, pair->part[1]->end},
                 .normal = pair->normal};
    know(&c, last.pose, last.normal);
    follow_legs(&c, pair->course, begin, &last);
    if (c.has_passed || (c.is_deep && is_other_way(&c, &last)))
        found->passed++;
}
