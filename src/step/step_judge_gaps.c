/* The judge of gaps: which pairs of shapes may have come near each other during a step. Each of
 * them is followed along its motion (step_judge_follow.c).
 *
 * Pairs are found by sorting bounds along x, apart from the broad phase: those of the shapes at the
 * end of the step, drawn back by how far the bodies came and enlarged by how far they turned. Two
 * that moved straight are left out, too, if the bounds of the one do not meet those of the other
 * drawn back by their relative motion: bodies that move side by side are not compared. Of balls
 * that move straight the smallest gap is known in closed form.
 *
 * Tested by tests/step/test_judge_gaps.c. */
#include "base/base_sort.h"
#include "rigor/contact_force.h"
#include "shape/shape_terrain.h"
#include "step/step_judge.h"

#include <string.h>

/* Colliders that one chunk of a parallel loop places, at 0.1 microseconds each. */
enum { COLLIDERS_PER_CHUNK = 256 };
/* Points of a path that are looked at one by one. */
enum { MOST_PATH = 64 };
/* Pairs nearer than this share of their circumradii are looked at. */
#define NEAR_SHARE 1e-2
/* Of the size of a part: what may be nearer than is told, from rounding. */
#define UNDER_PLANE 1e-12

/* How a body moved. */
typedef struct judged_body {
    rg_judge_course course;
    rg_vec3 shift; /* m, over the step; straight */
    double angle;  /* rad */
    bool still;
} judged_body;

/* The gap of two parts in closed form, m: the smallest over the step, and that at its end. */
typedef struct closed_gap {
    double least, end;
} closed_gap;

typedef struct judged_part {
    rg_judge_part part;
    rg_bounds end;   /* with all that turning and being near add */
    rg_bounds swept; /* over the step */
    uint32_t body;
    uint32_t collider; /* its slot */
    bool dynamic;
    double near; /* m */
    uint64_t category, mask;
} judged_part;

/* What the search along x reads of a part. */
typedef struct judged_place {
    rg_bounds swept;
    size_t part;
} judged_place;

typedef struct gap_search {
    const rg_world_content *content;
    double begin, end; /* s */
    judged_body *bodies;
    judged_part *parts;
    judged_place *order;
    size_t count, capacity;
    const rg_contact_force *forces; /* of the step, sorted by colliders */
    size_t force_count;
    const rg_judge_memory *before;
    size_t *first; /* part of each collider */
    rg_arena *lane_arenas;
    struct pair_lane *lanes;
} gap_search;

/* Pairs that begin with a run of the sorted parts. */
typedef struct pair_lane {
    rg_judge_pair *pairs;
    size_t count, capacity;
    rg_judge_gaps gaps;
    rg_status status;
} pair_lane;

/* --- bodies ----------------------------------------------------------------------------------- */

static bool is_same(rg_vec3 x, rg_quat p, rg_vec3 y, rg_quat q) {
    return x.x == y.x && x.y == y.y && x.z == y.z && p.x == q.x && p.y == q.y && p.z == q.z &&
           p.w == q.w;
}

/* The prescribed motion itself: cubics between as many instants. */
enum { PRESCRIBED_PIECES = 8 };

static void track_prescribed(const gap_search *s, rg_judge_tracks *tracks, size_t i) {
    double length = (s->end - s->begin) / PRESCRIBED_PIECES;
    rg_motion_state ends[2] = {rg_prescription_evaluate(s->content, i, s->begin)};
    for (int k = 0; k < PRESCRIBED_PIECES; k++) {
        double begin = s->begin + k * length;
        ends[1] = rg_prescription_evaluate(s->content, i, begin + length);
        rg_judge_tracks_join(tracks, i, s->content->planar, begin, length, ends);
        ends[0] = ends[1];
    }
}

static judged_body body_of(const gap_search *s, const rg_judge_memory *before,
                           const rg_step_report *report, size_t i) {
    const rg_world_content *c = s->content;
    judged_body body = {.still = true};
    if (report->tracks && c->record[i].prescription1)
        track_prescribed(s, report->tracks, i);
    if (report->tracks)
        body.course.piece = report->tracks->first[i];
    rg_pose from = {before->position[i], before->orientation[i]};
    rg_pose to = {c->position[i], c->orientation[i]};
    if (!body.course.piece && is_same(from.position, from.orientation, to.position, to.orientation))
        return body;
    body.still = false;
    body.course.straight =
        rg_judge_leg_straight(s->begin, s->end, from, to, c->angular_velocity[i]);
    body.shift = rg_sub(to.position, from.position);
    body.angle = (s->end - s->begin) * body.course.straight.turning;
    return body;
}

/* --- parts ------------------------------------------------------------------------------------ */

static const rg_bounds everywhere = {{-INFINITY, -INFINITY, -INFINITY},
                                     {INFINITY, INFINITY, INFINITY}};

static rg_bounds grown(rg_bounds b, double by) {
    rg_vec3 grow = {by, by, by};
    return (rg_bounds){rg_sub(b.lower, grow), rg_add(b.upper, grow)};
}

/* Around both places of bounds that move by `shift`. */
static rg_bounds drawn(rg_bounds b, rg_vec3 shift) {
    rg_vec3 none = {0, 0, 0};
    return (rg_bounds){rg_add(b.lower, rg_min(none, shift)), rg_add(b.upper, rg_max(none, shift))};
}

static rg_bounds around_track(rg_bounds b, const rg_judge_piece *piece, double reach) {
    for (; piece; piece = piece->next)
        for (int i = 0; i <= piece->degree; i++) {
            rg_bounds at = grown((rg_bounds){piece->position[i], piece->position[i]}, reach);
            b = (rg_bounds){rg_min(b.lower, at.lower), rg_max(b.upper, at.upper)};
        }
    return b;
}

static void make_bounds(const judged_body *body, judged_part *p) {
    rg_bounds now = rg_shape_bounds(p->part.shape, p->part.end);
    double turned = body->angle > 0 ? p->part.swing * fmin(body->angle, 2) : 0;
    bool bounded = isfinite(p->part.reach);
    p->end = grown(now, (bounded ? turned : 0) + p->near);
    if (body->still)
        p->swept = p->end;
    else if (!bounded && (body->course.piece || body->angle > 0))
        p->swept = p->end = everywhere;
    else if (body->course.piece)
        p->swept = around_track(p->end, body->course.piece, p->part.reach + p->near);
    else
        p->swept = drawn(p->end, rg_neg(body->shift));
}

static bool is_terrain(const rg_collider *collider) {
    return rg_shape_get_kind(collider->shape) == RG_SHAPE_TERRAIN;
}

/* Of terrain, none: add_terrain adds those that may be met. */
static size_t part_count(const rg_collider *collider) {
    if (collider->sensor || is_terrain(collider))
        return 0;
    return rg_shape_is_convex(collider->shape) ? 1 : rg_shape_get_def(collider->shape).part_count;
}

/* A ball about its centre is where it was, however it turns. */
static double swing_of(const rg_shape *shape, rg_vec3 centre, double reach) {
    rg_shape_kind kind = rg_shape_get_kind(shape);
    return kind == RG_SHAPE_SPHERE || kind == RG_SHAPE_DISC
               ? rg_length(rg_sub(rg_shape_centre(shape), centre))
               : reach;
}

/* A convex part of a collider, with its pose in the frame of the body. */
static void fill_part(const gap_search *s, const rg_judge_memory *before, size_t number,
                      const rg_shape *shape, rg_pose in_body, judged_part *p) {
    const rg_world_content *c = s->content;
    const rg_collider *collider = &c->collider[number];
    size_t body = rg_body_dense(c, collider->body);
    const rg_pose *centre_pose = &c->record[body].local_centre;
    rg_pose to_centre =
        rg_pose_is_identity(centre_pose) ? *centre_pose : rg_pose_inverse(*centre_pose);
    *p = (judged_part){.body = (uint32_t)body,
                       .collider = rg_handle_at(&c->colliders, number).index1,
                       .dynamic = c->record[body].motion == RG_MOTION_DYNAMIC,
                       .category = collider->category,
                       .mask = collider->mask};
    p->part = (rg_judge_part){.shape = shape,
                              .local = rg_pose_compose_local(to_centre, &in_body),
                              .start = rg_pose_compose_local(before->origin[body], &in_body),
                              .end = rg_pose_compose_local(rg_body_origin_pose(c, body), &in_body),
                              .reach = INFINITY,
                              .still = s->bodies[body].still};
    if (rg_shape_is_bounded(shape)) {
        rg_vec3 centre = rg_pose_inverse(p->part.local).position;
        p->part.reach =
            rg_length(rg_sub(rg_shape_centre(shape), centre)) + rg_shape_circumradius(shape);
        p->part.swing = swing_of(shape, centre, p->part.reach);
        p->near = NEAR_SHARE * rg_shape_circumradius(shape);
    }
    make_bounds(&s->bodies[body], p);
}

static void add_parts(void *user, size_t begin, size_t end, size_t chunk) {
    (void)chunk;
    const gap_search *s = user;
    for (size_t i = begin; i < end; i++) {
        const rg_collider *collider = &s->content->collider[i];
        rg_shape_def def = rg_shape_get_def(collider->shape);
        bool convex = rg_shape_is_convex(collider->shape);
        for (size_t k = 0; k < part_count(collider); k++)
            fill_part(s, s->before, i, convex ? collider->shape : def.parts[k].shape,
                      convex ? collider->pose : rg_pose_compose(collider->pose, def.parts[k].pose),
                      &s->parts[s->first[i] + k]);
    }
}

static bool is_lower(const uint32_t *a, const uint32_t *b) {
    return *a < *b;
}

RG_DEFINE_HEAP_SORT(sort_numbers, uint32_t, is_lower)

/* Points whose hull holds the path of a ball's centre, in the frame of the terrain; 0 if there are
 * more than there is room for, or if the shape is no ball about the centre of its body. */
static int ball_path(const gap_search *s, const judged_part *p, rg_pose pose, rg_vec3 *points) {
    const rg_judge_piece *piece = s->bodies[p->body].course.piece;
    int count = 0;
    if (rg_shape_get_kind(p->part.shape) != RG_SHAPE_SPHERE || p->part.swing > 0)
        return 0;
    points[count++] = rg_pose_apply(p->part.start, rg_shape_centre(p->part.shape));
    for (; piece; piece = piece->next)
        for (int i = 0; i <= piece->degree; i++) {
            if (count == MOST_PATH - 1)
                return 0;
            points[count++] = piece->position[i];
        }
    points[count++] = rg_pose_apply(p->part.end, rg_shape_centre(p->part.shape));
    for (int i = 0; i < count; i++)
        points[i] = rg_pose_apply_inverse(pose, points[i]);
    return count;
}

/* A plane and triangles under it that cannot be nearer to a part in the step than the one that is
 * kept is at its end: over flat ground, however finely it is cut. The plane is that of the triangle
 * nearest to the middle of the part; a body that turns by the angle a leaves the chord of its
 * motion, along the normal n, by at most |n x axis| a^2 / 8 of its reach. False: none is found. */
static bool find_floor(const gap_search *s, const judged_part *p, const rg_shape *terrain,
                       rg_pose pose, rg_terrain_room *room, rg_terrain_floor *floor) {
    const judged_body *body = &s->bodies[p->body];
    const rg_shape *shape = p->part.shape;
    rg_pose into = rg_pose_inverse(pose);
    rg_pose placed[2] = {rg_pose_compose(into, p->part.start), rg_pose_compose(into, p->part.end)};
    uint32_t nearest;
    double size = rg_shape_circumradius(shape), height[2];
    if (body->course.piece || !rg_shape_is_bounded(shape) ||
        !rg_terrain_nearest(terrain, rg_pose_apply(placed[1], rg_shape_centre(shape)),
                            size + p->near, &nearest))
        return false;
    floor->plane = rg_terrain_plane(terrain, nearest, room);
    floor->slack = UNDER_PLANE * size;
    rg_vec3 n = floor->plane->def.normal, lowest;
    for (int i = 0; i < 2; i++) {
        rg_vec3 back = rg_rotate_back(placed[i].orientation, rg_neg(n));
        lowest = rg_pose_apply(placed[i], rg_shape_support(shape, back, NULL));
        height[i] = rg_dot(n, lowest) - floor->plane->def.offset;
    }
    rg_vec3 spin = rg_rotate_back(pose.orientation, body->course.straight.spin);
    double across = body->still ? 0 : (s->end - s->begin) * rg_length(rg_cross(n, spin));
    double bend = across * body->angle / 8 * p->part.swing;
    return height[1] >= -floor->slack &&
           fmin(height[0], height[1]) - bend >= height[1] - floor->slack &&
           rg_terrain_covers(terrain, floor->plane, lowest, floor->slack, 0, &floor->kept);
}

/* Triangles of a terrain that the motion of one part may meet. */
static bool find_along(const gap_search *s, const judged_part *p, const rg_shape *terrain,
                       rg_pose pose, rg_arena *arena, uint32_t **list, size_t *count) {
    rg_vec3 points[MOST_PATH];
    double near = NEAR_SHARE * rg_terrain_largest(terrain); /* what a prism adds */
    int on_path = ball_path(s, p, pose, points);
    if (on_path > 0) {
        double radius = rg_shape_circumradius(p->part.shape);
        rg_terrain_path path = {points, on_path, radius, p->near + near, {0, 0, 0}, 0};
        return rg_terrain_find_along(terrain, &path, true, arena, list, count);
    }
    rg_bounds path = grown(rg_bounds_into(&p->swept, pose), near);
    rg_terrain_room room;
    rg_terrain_floor floor;
    return find_floor(s, p, terrain, pose, &room, &floor)
               ? rg_terrain_find_above(terrain, &path, &floor, arena, list, count)
               : rg_terrain_find(terrain, &path, arena, list, count);
}

/* Triangles of a terrain that the motion of any of the first `others` parts may meet, each once. */
static rg_status find_triangles(const gap_search *s, const rg_collider *collider, size_t others,
                                rg_arena *arena, uint32_t **all, size_t *count) {
    size_t body = rg_body_dense(s->content, collider->body), capacity = 0, kept = 0;
    rg_pose pose = rg_pose_compose(rg_body_origin_pose(s->content, body), collider->pose);
    *all = NULL;
    *count = 0;
    for (size_t i = 0; i < others; i++) {
        uint32_t *list;
        size_t more;
        if (!s->parts[i].dynamic)
            continue;
        if (!find_along(s, &s->parts[i], collider->shape, pose, arena, &list, &more))
            return RG_OUT_OF_MEMORY;
        for (size_t k = 0; k < more; k++) {
            if (!rg_arena_grow(arena, all, *count, &capacity, sizeof **all))
                return RG_OUT_OF_MEMORY;
            (*all)[(*count)++] = list[k];
        }
    }
    sort_numbers(*all, *count);
    for (size_t i = 0; i < *count; i++)
        if (i == 0 || (*all)[i] != (*all)[i - 1])
            (*all)[kept++] = (*all)[i];
    *count = kept;
    return RG_OK;
}

static rg_status add_terrain(gap_search *s, const rg_judge_memory *before, size_t number,
                             size_t others, rg_arena *arena) {
    const rg_collider *collider = &s->content->collider[number];
    uint32_t *list;
    size_t count;
    if (find_triangles(s, collider, others, arena, &list, &count))
        return RG_OUT_OF_MEMORY;
    rg_terrain_room *rooms = rg_arena_take(arena, count, sizeof *rooms);
    for (size_t i = 0; i < count; i++) {
        if (!rooms || !rg_arena_grow(arena, &s->parts, s->count, &s->capacity, sizeof *s->parts))
            return RG_OUT_OF_MEMORY;
        fill_part(s, before, number, rg_terrain_part(collider->shape, list[i], &rooms[i]),
                  collider->pose, &s->parts[s->count++]);
    }
    return RG_OK;
}

/* --- pairs ------------------------------------------------------------------------------------ */

/* Ties may come in any order, up to the resolution of what is found. */
static bool lower_x_before(const judged_place *a, const judged_place *b) {
    double x = a->swept.lower.x, y = b->swept.lower.x;
    return x < y || (x == y && a->part < b->part);
}

RG_DEFINE_HEAP_SORT(sort_places, judged_place, lower_x_before)

static bool meet(const rg_bounds *x, const rg_bounds *y) {
    return x->lower.x <= y->upper.x && y->lower.x <= x->upper.x && x->lower.y <= y->upper.y &&
           y->lower.y <= x->upper.y && x->lower.z <= y->upper.z && y->lower.z <= x->upper.z;
}

static bool may_meet(const gap_search *s, const judged_part *a, const judged_part *b) {
    if (a->body == b->body || !(a->dynamic || b->dynamic) || (a->category & b->mask) == 0 ||
        (b->category & a->mask) == 0 || !(isfinite(a->part.reach) || isfinite(b->part.reach)))
        return false;
    const judged_body *x = &s->bodies[a->body], *y = &s->bodies[b->body];
    if (x->course.piece || y->course.piece)
        return true;
    rg_bounds relative = drawn(b->end, rg_sub(x->shift, y->shift));
    return meet(&a->end, &relative);
}

/* The normal of a contact of two parts, from the first to the second: a proposal, no more. Zero:
 * there is none. */
static rg_vec3 propose(const gap_search *s, const judged_part *x, const judged_part *y) {
    bool swapped = x->collider > y->collider;
    uint32_t b = swapped ? y->collider : x->collider, a = swapped ? x->collider : y->collider;
    size_t low = 0, high = s->force_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const rg_contact_force *f = &s->forces[middle];
        bool before =
            f->collider_b.index1 != b ? f->collider_b.index1 < b : f->collider_a.index1 < a;
        if (before)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == s->force_count || s->forces[low].collider_b.index1 != b ||
        s->forces[low].collider_a.index1 != a)
        return (rg_vec3){0, 0, 0};
    return swapped ? rg_neg(s->forces[low].normal) : s->forces[low].normal;
}

/* Whether a part is a ball whose centre went in a straight line. */
static bool is_ball(const gap_search *s, const judged_part *p) {
    rg_shape_kind kind = rg_shape_get_kind(p->part.shape);
    return (kind == RG_SHAPE_SPHERE || kind == RG_SHAPE_DISC) && p->part.swing == 0 &&
           !s->bodies[p->body].course.piece;
}

/* Two balls: the gap is |d| - R, with d the way between the centres, which is linear in time. */
static closed_gap between_balls(const judged_part *a, const judged_part *b) {
    double sum = rg_shape_circumradius(a->part.shape) + rg_shape_circumradius(b->part.shape);
    rg_vec3 from = rg_sub(b->part.start.position, a->part.start.position);
    rg_vec3 to = rg_sub(b->part.end.position, a->part.end.position), way = rg_sub(to, from);
    double square = rg_length_squared(way), closing = -rg_dot(from, way), end = rg_length(to);
    double least = fmin(rg_length(from), end);
    if (closing > 0 && closing < square)
        least = fmin(least, rg_length(rg_add_scaled(from, closing / square, way)));
    return (closed_gap){least - sum, end - sum};
}

/* A ball over a half-space that did not turn: the height is linear in time. */
static closed_gap over_plane(const judged_part *plane, const judged_part *ball) {
    rg_shape_def def = rg_shape_get_def(plane->part.shape);
    rg_vec3 up = rg_rotate(plane->part.end.orientation, def.normal);
    rg_vec3 from = rg_sub(ball->part.start.position, plane->part.start.position);
    rg_vec3 to = rg_sub(ball->part.end.position, plane->part.end.position);
    double below = def.offset + rg_shape_circumradius(ball->part.shape);
    double end = rg_dot(up, to) - below;
    return (closed_gap){fmin(rg_dot(up, from) - below, end), end};
}

/* Pairs whose smallest gap is known in closed form; false: it is not, or balls are so deep that
 * they may have passed through each other. */
static bool is_known(const gap_search *s, const judged_part *a, const judged_part *b,
                     rg_judge_gaps *gaps) {
    bool first = is_ball(s, a), second = is_ball(s, b);
    closed_gap gap;
    if (first && second) {
        gap = between_balls(a, b);
        if (gap.least < -fmin(rg_shape_inradius(a->part.shape), rg_shape_inradius(b->part.shape)))
            return false;
    } else if (first != second) {
        const judged_part *ball = first ? a : b, *other = first ? b : a;
        const judged_body *body = &s->bodies[other->body];
        if (isfinite(other->part.reach) || body->angle > 0 || body->course.piece)
            return false;
        gap = over_plane(other, ball);
    } else {
        return false;
    }
    gaps->least = fmin(gaps->least, gap.least);
    gaps->end = fmin(gaps->end, gap.end);
    return true;
}

static rg_status add_pair(const gap_search *s, rg_arena *arena, const judged_part *a,
                          const judged_part *b, pair_lane *lane) {
    if (!rg_arena_grow(arena, &lane->pairs, lane->count, &lane->capacity, sizeof *lane->pairs))
        return RG_OUT_OF_MEMORY;
    lane->pairs[lane->count++] =
        (rg_judge_pair){.part = {&a->part, &b->part},
                        .course = {&s->bodies[a->body].course, &s->bodies[b->body].course},
                        .near = a->near + b->near,
                        .hint = propose(s, a, b)};
    return RG_OK;
}

static rg_status find_pairs(const gap_search *s, size_t begin, size_t end, rg_arena *arena,
                            pair_lane *lane) {
    rg_status status = RG_OK;
    for (size_t i = begin; i < end && !status; i++) {
        const judged_place *x = &s->order[i];
        for (size_t k = i + 1; k < s->count && !status; k++) {
            const judged_place *y = &s->order[k];
            if (y->swept.lower.x > x->swept.upper.x)
                break;
            if (!meet(&x->swept, &y->swept))
                continue;
            const judged_part *a = &s->parts[x->part], *b = &s->parts[y->part];
            if (may_meet(s, a, b) &&
                !(s->content->joints.count && rg_joints_part(s->content, a->body, b->body)) &&
                !is_known(s, a, b, &lane->gaps))
                status = add_pair(s, arena, a, b, lane);
        }
    }
    return status;
}

/* The pairs of a lane, and their gaps at the end. */
static void look_in_lane(void *user, size_t begin, size_t end, size_t number) {
    const gap_search *s = user;
    pair_lane *lane = &s->lanes[number];
    rg_arena_reset(&s->lane_arenas[number]);
    lane->status = find_pairs(s, begin, end, &s->lane_arenas[number], lane);
    for (size_t i = 0; i < lane->count; i++)
        rg_judge_look_at_end(&lane->pairs[i], s->end, &lane->gaps);
}

static void follow_in_lane(void *user, size_t begin, size_t end, size_t chunk) {
    (void)chunk;
    const gap_search *s = user;
    for (size_t k = begin; k < end; k++) {
        pair_lane *lane = &s->lanes[k];
        for (size_t i = 0; i < lane->count; i++)
            if (!lane->pairs[i].part[0]->still || !lane->pairs[i].part[1]->still)
                rg_judge_follow(&lane->pairs[i], s->begin, s->end, &lane->gaps);
    }
}

static void join_lanes(const pair_lane *lanes, rg_judge_gaps *gaps) {
    for (int i = 0; i < RG_JUDGE_LANES; i++) {
        gaps->least = fmin(gaps->least, lanes[i].gaps.least);
        gaps->end = fmin(gaps->end, lanes[i].gaps.end);
        gaps->passed += lanes[i].gaps.passed;
    }
}

/* Each lane by itself, first at the end of the step; from there on all know the least that was
 * found. */
static rg_status follow_pairs(gap_search *s, const rg_judge_room *room, rg_judge_gaps *gaps) {
    pair_lane lanes[RG_JUDGE_LANES];
    size_t grain = rg_chunk_count(s->count, RG_JUDGE_LANES);
    for (int i = 0; i < RG_JUDGE_LANES; i++)
        lanes[i] = (pair_lane){.gaps = *gaps};
    s->lanes = lanes;
    s->lane_arenas = room->lanes;
    if (s->count)
        rg_parallel_for(room->pool, s->count, grain, look_in_lane, s);
    join_lanes(lanes, gaps);
    for (int i = 0; i < RG_JUDGE_LANES; i++) {
        if (lanes[i].status)
            return lanes[i].status;
        lanes[i].gaps = (rg_judge_gaps){.least = gaps->least, .end = gaps->end};
    }
    rg_parallel_for(room->pool, RG_JUDGE_LANES, 1, follow_in_lane, s);
    join_lanes(lanes, gaps);
    return RG_OK;
}

rg_status rg_judge_find_gaps(const rg_world_content *content, const rg_judge_memory *before,
                             const rg_step_report *report, const rg_judge_room *room,
                             rg_judge_gaps *gaps) {
    size_t total = 0, n = content->bodies.count;
    rg_arena *arena = room->arena;
    *gaps = (rg_judge_gaps){.least = INFINITY, .end = INFINITY};
    const rg_memory_block *forces = &content->memory[RG_MEMORY_FORCES];
    gap_search s = {.content = content,
                    .begin = before->time,
                    .end = content->time,
                    .before = before,
                    .forces = forces->data,
                    .force_count = forces->size / sizeof *s.forces};
    s.first = rg_arena_take(arena, content->colliders.count, sizeof *s.first);
    if (!s.first)
        return RG_OUT_OF_MEMORY;
    for (size_t i = 0; i < content->colliders.count; i++) {
        s.first[i] = total;
        total += part_count(&content->collider[i]);
    }
    s.bodies = rg_arena_take(arena, n, sizeof *s.bodies);
    s.parts = rg_arena_take(arena, total, sizeof *s.parts);
    s.capacity = total;
    if (!s.bodies || !s.parts)
        return RG_OUT_OF_MEMORY;
    for (size_t i = 0; i < n; i++)
        s.bodies[i] = body_of(&s, before, report, i);
    rg_parallel_for(room->pool, content->colliders.count, COLLIDERS_PER_CHUNK, add_parts, &s);
    s.count = total;
    for (size_t i = 0; i < content->colliders.count; i++)
        if (is_terrain(&content->collider[i]) && !content->collider[i].sensor &&
            add_terrain(&s, before, i, total, arena))
            return RG_OUT_OF_MEMORY;
    s.order = rg_arena_take(arena, s.count, sizeof *s.order);
    if (!s.order)
        return RG_OUT_OF_MEMORY;
    for (size_t i = 0; i < s.count; i++)
        s.order[i] = (judged_place){s.parts[i].swept, i};
    if (report->tracks && report->tracks->lost)
        return RG_OUT_OF_MEMORY;
    sort_places(s.order, s.count);
    return follow_pairs(&s, room, gaps);
}
