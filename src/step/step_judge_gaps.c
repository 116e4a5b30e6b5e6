/* The judge of gaps: which pairs of shapes may have come near each other during a step. Each of
 * them is followed along its motion (step_judge_follow.c).
 *
 * Pairs are found by sorting bounds along one axis, apart from the broad phase: the axis along
 * which the bodies are spread out most, the bounds of the shapes at the end of the step, drawn back
 * by how far the bodies came and enlarged by how far they turned. Two that moved straight are left
 * out, too, if the bounds of the one do not meet those of the other drawn back by their relative
 * motion: bodies that move side by side are not compared. Of balls that move straight the smallest
 * gap is known in closed form.
 *
 * Tested by tests/step/test_judge_gaps.c. */
#include "base/base_sort.h"
#include "rigor/contact_force.h"
#include "shape/shape.h"
#include "shape/shape_terrain.h"
#include "step/step_contact_memory.h"
#include "step/step_judge.h"

#include <string.h>

/* What one chunk of a parallel loop takes, at 0.1 microseconds for a collider. */
enum { COLLIDERS_PER_CHUNK = 256, BODIES_PER_CHUNK = 256, FORCES_PER_CHUNK = 2048 };
/* Parts whose pairs one lane finds, at least: what one finds spares the next ones looks. */
enum { PARTS_PER_LANE = 64 };
/* Points of a path that are looked at one by one. */
enum { MOST_PATH = 64 };
/* Pairs nearer than this share of their circumradii are looked at. */
#define NEAR_SHARE 1e-2
/* The size of what is thin, over its inradius. */
#define SHEET 5.0
/* Of the size of a part: what may be nearer than is told, from rounding. */
#define UNDER_PLANE 1e-12

/* How a body moved. */
typedef struct judged_body {
    rg_judge_course course;
    rg_vec3 shift; /* m, over the step; straight */
    double angle;  /* rad */
    bool still;
    bool round; /* a ball that goes straight: how it turns is found for those who ask */
} judged_body;

/* The gap of two parts in closed form, m: the smallest over the step, and that at its end. */
typedef struct closed_gap {
    double least, end;
    double begin, time; /* at the beginning; when it is least: 0 to 1 */
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

/* What the search reads of a part, the axis of the search first, and what it is sorted by. */
typedef struct judged_place {
    rg_bounds swept;
    size_t part;
} judged_place;

typedef struct place_key {
    double along;
    uint32_t part;
} place_key;

/* Forces of a collider as B, from the first to before the last. */
typedef struct force_range {
    uint32_t first, end;
} force_range;

typedef struct gap_search {
    const rg_world_content *content;
    double begin, end; /* s */
    judged_body *bodies;
    judged_part *parts;
    judged_place *order;
    size_t count, capacity;
    const rg_contact_force *forces; /* of the step, sorted by colliders */
    size_t force_count;
    force_range *ranges; /* by slot of a collider */
    const rg_judge_memory *before;
    const rg_step_report *report;
    const rg_judge_tracks *prescribed; /* of prescribed bodies; null: there are none */
    size_t *first;                     /* part of each collider */
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

/* Bit by bit. */
static bool is_where_it_was(const gap_search *s, size_t i) {
    const rg_world_content *c = s->content;
    return memcmp(&s->before->position[i], &c->position[i], sizeof *c->position) == 0 &&
           memcmp(&s->before->orientation[i], &c->orientation[i], sizeof *c->orientation) == 0;
}

static void find_leg(const gap_search *s, size_t i, rg_judge_leg *leg) {
    const rg_world_content *c = s->content;
    rg_pose from = {s->before->position[i], s->before->orientation[i]};
    rg_pose to = {c->position[i], c->orientation[i]};
    rg_judge_leg_straight(s->begin, s->end, &from, &to, c->angular_velocity[i], leg);
}

static bool is_oscillation(const rg_world_content *c, size_t i) {
    uint32_t index1 = c->record[i].prescription1;
    return index1 && c->prescriptions[index1 - 1].prescription.kind == RG_PRESCRIBED_OSCILLATION;
}

static void fill_body(const gap_search *s, size_t i, judged_body *body) {
    const rg_world_content *c = s->content;
    const rg_step_report *report = s->report;
    const rg_judge_tracks *tracks = c->record[i].prescription1 ? s->prescribed : report->tracks;
    body->course.piece = tracks ? tracks->first[i] : NULL;
    body->still = !body->course.piece && is_where_it_was(s, i);
    body->round = false;
    body->angle = 0;
    if (body->still) {
        body->course.straight = (rg_judge_leg){0};
        rg_judge_course_bound(&body->course);
        body->shift = (rg_vec3){0, 0, 0};
        return;
    }
    body->shift = rg_sub(c->position[i], s->before->position[i]);
    body->round = !body->course.piece && rg_body_only_ball(c, i);
    body->course.smooth = false;
    if (body->round) /* how it turns is found where it shows (course_of) */
        return;
    find_leg(s, i, &body->course.straight);
    if (!body->course.piece || is_oscillation(c, i))
        rg_judge_course_bound(&body->course);
    body->angle = (s->end - s->begin) *
                  (body->course.smooth ? body->course.turning : body->course.straight.turning);
}

static void fill_bodies(void *user, size_t begin, size_t end, size_t chunk) {
    (void)chunk;
    const gap_search *s = user;
    for (size_t i = begin; i < end; i++)
        fill_body(s, i, &s->bodies[i]);
}

/* How prescribed bodies moved. By one thread: functions of the program may be called. */
static rg_status follow_prescribed(gap_search *s, rg_arena *arena) {
    const rg_world_content *c = s->content;
    if (c->prescription_count == 0)
        return RG_OK;
    rg_judge_tracks *tracks = rg_arena_take(arena, 1, sizeof *tracks);
    if (!tracks || rg_judge_tracks_make(arena, c->bodies.count, tracks))
        return RG_OUT_OF_MEMORY;
    for (size_t i = 0; i < c->bodies.count; i++)
        if (c->record[i].prescription1)
            rg_judge_tracks_prescribe(c, i, s->begin, s->end, tracks);
    s->prescribed = tracks;
    return tracks->lost ? RG_OUT_OF_MEMORY : RG_OK;
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

/* Around bounds at the end of a smooth course, wherever its pieces lie. */
static rg_bounds around_course(rg_bounds b, const rg_judge_piece *piece, rg_vec3 end) {
    rg_vec3 lower = {0, 0, 0}, upper = {0, 0, 0};
    for (; piece; piece = piece->next)
        for (int i = 0; i <= piece->degree; i++) {
            rg_vec3 shift = rg_sub(piece->position[i], end);
            lower = rg_min(lower, shift);
            upper = rg_max(upper, shift);
        }
    return (rg_bounds){rg_add(b.lower, lower), rg_add(b.upper, upper)};
}

static rg_bounds around_track(rg_bounds b, const rg_judge_piece *piece, double reach) {
    for (; piece; piece = piece->next)
        for (int i = 0; i <= piece->degree; i++) {
            rg_bounds at = grown((rg_bounds){piece->position[i], piece->position[i]}, reach);
            b = (rg_bounds){rg_min(b.lower, at.lower), rg_max(b.upper, at.upper)};
        }
    return b;
}

static rg_bounds bounds_at_end(const rg_judge_part *p) {
    if (p->arms < 0)
        return rg_shape_bounds(p->shape, p->end);
    rg_vec3 reach = {p->radius, p->radius, p->radius};
    for (int i = 0; i < p->arms; i++)
        reach = rg_add(reach, rg_vec3_make(fabs(p->end_arm[i].x), fabs(p->end_arm[i].y),
                                           fabs(p->end_arm[i].z)));
    return (rg_bounds){rg_sub(p->end.position, reach), rg_add(p->end.position, reach)};
}

static void make_bounds(const judged_body *body, rg_vec3 centre, judged_part *p) {
    rg_bounds now = bounds_at_end(&p->part);
    double turned = p->part.swing * (body->angle < 2 ? body->angle : 2);
    bool bounded = isfinite(p->part.reach);
    p->end = grown(now, (bounded ? turned : 0) + p->near);
    if (body->still)
        p->swept = p->end;
    else if (!bounded && (body->course.piece || body->angle > 0))
        p->swept = p->end = everywhere;
    else if (body->course.piece && body->course.smooth)
        p->swept = around_course(p->end, body->course.piece, centre);
    else if (body->course.piece)
        p->swept = around_track(p->end, body->course.piece, p->part.reach + p->near);
    else
        p->swept = drawn(p->end, rg_neg(body->shift));
}

static bool is_terrain(const rg_collider *collider) {
    return collider->shape->kind == RG_SHAPE_TERRAIN;
}

/* m: what an overlap is deep or slight against: the circumradius, of sheets and rods less. Parts
 * that compounds were cut into may be slivers; their thickest one counts. */
static double size_of(const rg_collider *collider) {
    const rg_shape *shape = collider->shape;
    double thick = shape->inradius;
    if (is_terrain(collider) || !rg_shape_is_bounded(shape))
        return INFINITY;
    for (size_t i = 0; !rg_shape_is_single(shape) && i < shape->def.part_count; i++)
        thick = fmax(thick, shape->def.parts[i].shape->inradius);
    return fmin(shape->circumradius, SHEET * thick);
}

/* Of terrain, none: add_terrain adds those that may be met. */
static size_t part_count(const rg_collider *collider) {
    if (collider->sensor || is_terrain(collider) || !rg_collider_meets(collider))
        return 0;
    return rg_shape_is_single(collider->shape) ? 1 : collider->shape->def.part_count;
}

/* How a shape whose support is known in closed form reaches out, turned by q. */
static void turn_arms(const rg_shape *shape, rg_quat q, rg_vec3 arm[3]) {
    const rg_shape_def *def = &shape->def;
    rg_mat3 r = rg_mat3_of_quat(q);
    double half[3] = {0.5 * def->size.x, 0.5 * def->size.y, 0.5 * def->size.z};
    if (shape->kind == RG_SHAPE_CAPSULE)
        arm[0] = rg_scale(0.5 * def->length, rg_vec3_make(r.m[0][2], r.m[1][2], r.m[2][2]));
    else
        for (int i = 0; i < 3; i++)
            arm[i] = rg_scale(half[i], rg_vec3_make(r.m[0][i], r.m[1][i], r.m[2][i]));
}

static void set_arms(rg_judge_part *p) {
    const rg_shape *shape = p->shape;
    p->arms = shape->kind == RG_SHAPE_SPHERE    ? 0
              : shape->kind == RG_SHAPE_CAPSULE ? 1
              : shape->kind == RG_SHAPE_BOX     ? 3
                                                : -1;
    p->radius = p->arms == 0 || p->arms == 1 ? shape->def.radius : 0;
    if (p->arms <= 0)
        return;
    turn_arms(shape, p->end.orientation, p->end_arm);
    if (p->still)
        memcpy(p->start_arm, p->end_arm, sizeof p->start_arm);
    else
        turn_arms(shape, p->start.orientation, p->start_arm);
}

/* The farthest points from the centre of mass. A ball about it is where it was, however it
 * turns. */
static void set_reach(rg_judge_part *p, bool plain) {
    rg_vec3 middle = plain ? p->shape->centre : rg_pose_apply(p->local, p->shape->centre);
    double off = rg_is_zero(middle) ? 0 : rg_length(middle);
    bool ball = p->shape->kind == RG_SHAPE_SPHERE || p->shape->kind == RG_SHAPE_DISC;
    p->reach = off + p->shape->circumradius;
    p->swing = ball ? off : p->reach;
}

/* A convex part of a collider, with its pose in the frame of the body. */
static void fill_part(const gap_search *s, size_t number, const rg_shape *shape,
                      const rg_pose *in_body, double size, judged_part *p) {
    const rg_world_content *c = s->content;
    const rg_collider *collider = &c->collider[number];
    size_t body = rg_body_dense(c, collider->body);
    const judged_body *own = &s->bodies[body];
    const rg_pose *centre = &c->record[body].local_centre;
    p->body = (uint32_t)body;
    p->collider = c->colliders.dense_slot[number] + 1;
    p->dynamic = c->record[body].motion == RG_MOTION_DYNAMIC;
    p->category = collider->category;
    p->mask = collider->mask;
    rg_judge_part *part = &p->part;
    part->shape = shape;
    part->body = p->body;
    part->size = size;
    bool plain = rg_pose_is_identity(in_body);
    const rg_pose *now = &s->before->now[body], *then = &s->before->origin[body];
    bool centred = rg_pose_is_identity(centre);
    if (!centred)
        part->local = rg_pose_compose_local(rg_pose_inverse(*centre), in_body);
    else
        part->local = *in_body;
    part->end = plain ? *now : rg_pose_compose(*now, *in_body);
    if (own->still)
        part->start = part->end;
    else
        part->start = plain ? *then : rg_pose_compose(*then, *in_body);
    part->still = own->still;
    part->reach = INFINITY;
    part->swing = p->near = 0;
    set_arms(part);
    if (shape->kind != RG_SHAPE_HALFSPACE) {
        set_reach(part, (plain && centred) || rg_pose_is_identity(&part->local));
        p->near = NEAR_SHARE * shape->circumradius;
    }
    make_bounds(own, c->position[body], p);
}

static void add_parts(void *user, size_t begin, size_t end, size_t chunk) {
    (void)chunk;
    const gap_search *s = user;
    for (size_t i = begin; i < end; i++) {
        const rg_collider *collider = &s->content->collider[i];
        judged_part *parts = &s->parts[s->first[i]];
        size_t count = part_count(collider);
        double size = count ? size_of(collider) : 0;
        if (count && rg_shape_is_single(collider->shape)) {
            fill_part(s, i, collider->shape, &collider->pose, size, parts);
            continue;
        }
        for (size_t k = 0; k < count; k++) {
            const rg_compound_part *part = &collider->shape->def.parts[k];
            rg_pose in_body = rg_pose_compose(collider->pose, part->pose);
            fill_part(s, i, part->shape, &in_body, size, &parts[k]);
        }
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
    rg_pose pose = rg_pose_compose(s->before->now[body], collider->pose);
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

static rg_status add_terrain(gap_search *s, size_t number, size_t others, rg_arena *arena) {
    const rg_collider *collider = &s->content->collider[number];
    uint32_t *list;
    size_t count;
    if (find_triangles(s, collider, others, arena, &list, &count))
        return RG_OUT_OF_MEMORY;
    rg_terrain_room *rooms = rg_arena_take(arena, count, sizeof *rooms);
    for (size_t i = 0; i < count; i++) {
        if (!rooms || !rg_arena_grow(arena, &s->parts, s->count, &s->capacity, sizeof *s->parts))
            return RG_OUT_OF_MEMORY;
        fill_part(s, number, rg_terrain_part(collider->shape, list[i], &rooms[i]), &collider->pose,
                  INFINITY, &s->parts[s->count++]);
    }
    return RG_OK;
}

/* --- pairs ------------------------------------------------------------------------------------ */

static bool is_before(place_key a, place_key b) {
    return a.along < b.along || (a.along == b.along && a.part < b.part);
}

RG_DEFINE_MERGE_SORT(sort_keys, place_key, is_before)

/* The axis along which the parts that move freely are spread out most, 0 to 2. In a column 100 m
 * high a part overlaps few others along z, and many along x. */
static int find_axis(const gap_search *s) {
    rg_vec3 sum = {0, 0, 0}, squares = {0, 0, 0};
    double count = 0;
    for (size_t i = 0; i < s->count; i++) {
        if (!s->parts[i].dynamic)
            continue;
        rg_vec3 at = s->parts[i].part.end.position;
        sum = rg_add(sum, at);
        squares = rg_add(squares, rg_vec3_make(at.x * at.x, at.y * at.y, at.z * at.z));
        count++;
    }
    double x = count * squares.x - sum.x * sum.x, y = count * squares.y - sum.y * sum.y,
           z = count * squares.z - sum.z * sum.z;
    return z > x && z > y ? 2 : y > x;
}

/* With the axis first, and the others behind it in their order. */
static rg_vec3 turned(rg_vec3 a, int axis) {
    return axis == 0 ? a : axis == 1 ? rg_vec3_make(a.y, a.z, a.x) : rg_vec3_make(a.z, a.x, a.y);
}

/* Parts in the order of the axis. Where they were in the last step is where to begin, since little
 * has changed; what comes of it is the same from any beginning. */
static rg_status sort_places(gap_search *s, rg_judge_order *last, rg_arena *arena) {
    place_key *keys = rg_arena_take(arena, s->count, sizeof *keys);
    place_key *scratch = rg_arena_take(arena, s->count, sizeof *scratch);
    s->order = rg_arena_take(arena, s->count, sizeof *s->order);
    if (!keys || !scratch || !s->order ||
        rg_array_grow(last->allocator, &last->parts, &last->capacity, s->count))
        return RG_OUT_OF_MEMORY;
    for (size_t i = 0; i < s->count && last->count != s->count; i++)
        last->parts[i] = (uint32_t)i;
    last->count = s->count;
    int axis = find_axis(s);
    for (size_t i = 0; i < s->count; i++) {
        rg_vec3 lower = turned(s->parts[last->parts[i]].swept.lower, axis);
        keys[i] = (place_key){lower.x, last->parts[i]};
    }
    sort_keys(keys, s->count, scratch);
    for (size_t i = 0; i < s->count; i++) {
        const rg_bounds *swept = &s->parts[keys[i].part].swept;
        last->parts[i] = keys[i].part;
        s->order[i] =
            (judged_place){{turned(swept->lower, axis), turned(swept->upper, axis)}, keys[i].part};
    }
    return RG_OK;
}

typedef double two __attribute__((vector_size(16), aligned(8), may_alias));
typedef long long two_masks __attribute__((vector_size(16)));

/* On the two other axes, which lie side by side; along the first the search knows. All four
 * comparisons are made, and one branch follows: one by one, what they say cannot be foreseen in a
 * heap. */
static inline bool meet(const rg_bounds *x, const rg_bounds *y) {
    two_masks below = *(const two *)&x->lower.y <= *(const two *)&y->upper.y,
              above = *(const two *)&y->lower.y <= *(const two *)&x->upper.y, both = below & above;
    return (both[0] & both[1]) != 0;
}

static bool may_meet(const gap_search *s, const judged_part *a, const judged_part *b) {
    if (a->body == b->body || !(a->dynamic || b->dynamic) || (a->category & b->mask) == 0 ||
        (b->category & a->mask) == 0 || !(isfinite(a->part.reach) || isfinite(b->part.reach)))
        return false;
    const judged_body *x = &s->bodies[a->body], *y = &s->bodies[b->body];
    if (x->course.piece || y->course.piece)
        return true;
    rg_bounds relative = drawn(b->end, rg_sub(x->shift, y->shift));
    return rg_bounds_overlap(&a->end, &relative);
}

/* Runs of forces that begin in a chunk. */
static void find_ranges_of_chunk(void *user, size_t begin, size_t last, size_t chunk) {
    (void)chunk;
    const gap_search *s = user;
    const rg_contact_force *forces = s->forces;
    size_t i = begin, end;
    while (i > 0 && i < last && forces[i].collider_b.index1 == forces[i - 1].collider_b.index1)
        i++;
    for (; i < last; i = end) {
        uint32_t slot = forces[i].collider_b.index1;
        for (end = i + 1; end < s->force_count && forces[end].collider_b.index1 == slot;)
            end++;
        s->ranges[slot] = (force_range){(uint32_t)i, (uint32_t)end};
    }
}

/* Where the forces of each collider are. */
static rg_status find_ranges(gap_search *s, rg_arena *arena, rg_pool *pool) {
    const rg_memory_block *block = &s->content->memory[RG_MEMORY_FORCES];
    size_t slots = s->content->colliders.slot_count + 1;
    s->forces = block->data;
    s->force_count = block->size / sizeof *s->forces;
    s->ranges = rg_arena_take(arena, slots, sizeof *s->ranges);
    if (!s->ranges)
        return RG_OUT_OF_MEMORY;
    memset(s->ranges, 0, slots * sizeof *s->ranges);
    rg_parallel_for(pool, s->force_count, FORCES_PER_CHUNK, find_ranges_of_chunk, s);
    return RG_OK;
}

/* The normal of a contact of two parts, from the first to the second: a proposal, no more. Zero:
 * there is none. A floor has the contacts of all that lie on it, so they are not gone through. */
static rg_vec3 propose(const gap_search *s, const judged_part *x, const judged_part *y) {
    bool swapped = x->collider > y->collider;
    uint32_t b = swapped ? y->collider : x->collider, a = swapped ? x->collider : y->collider;
    force_range range = s->ranges[b];
    if (range.first == range.end)
        return (rg_vec3){0, 0, 0};
    rg_contact_memory own = {.forces = s->forces + range.first, .count = range.end - range.first};
    size_t i =
        rg_contact_memory_first(&own, (rg_collider_id){.index1 = b}, (rg_collider_id){.index1 = a});
    if (i == own.count || own.forces[i].collider_a.index1 != a)
        return (rg_vec3){0, 0, 0};
    return swapped ? rg_neg(own.forces[i].normal) : own.forces[i].normal;
}

/* Whether a part is a ball whose centre went in a straight line. */
static bool is_ball(const gap_search *s, const judged_part *p) {
    rg_shape_kind kind = p->part.shape->kind;
    return (kind == RG_SHAPE_SPHERE || kind == RG_SHAPE_DISC) && p->part.swing == 0 &&
           !s->bodies[p->body].course.piece;
}

/* Two balls: the gap is |d| - R, with d the way between the centres, which is linear in time. */
static closed_gap between_balls(const judged_part *a, const judged_part *b) {
    double sum = a->part.shape->circumradius + b->part.shape->circumradius;
    rg_vec3 from = rg_sub(b->part.start.position, a->part.start.position);
    rg_vec3 to = rg_sub(b->part.end.position, a->part.end.position), way = rg_sub(to, from);
    double square = rg_length_squared(way), closing = -rg_dot(from, way), end = rg_length(to);
    double least = end, time = 1, begin = rg_length(from);
    if (closing < 0) { /* on the way away from each other, they were nearer at the beginning */
        least = begin, time = 0;
    } else if (closing < square) {
        time = closing / square;
        least = rg_length(rg_add_scaled(from, time, way));
    }
    return (closed_gap){least - sum, end - sum, begin - sum, time};
}

/* A ball over a half-space that did not turn: the height is linear in time. */
static closed_gap over_plane(const judged_part *plane, const judged_part *ball) {
    const rg_shape_def *def = &plane->part.shape->def;
    rg_vec3 up = rg_rotate(plane->part.end.orientation, def->normal);
    rg_vec3 from = rg_sub(ball->part.start.position, plane->part.start.position);
    rg_vec3 to = rg_sub(ball->part.end.position, plane->part.end.position);
    double below = def->offset + ball->part.shape->circumradius;
    double begin = rg_dot(up, from) - below, end = rg_dot(up, to) - below;
    return (closed_gap){begin < end ? begin : end, end, begin, begin < end ? 0 : 1};
}

/* Pairs whose smallest gap is known in closed form; false: it is not, or balls are so deep that
 * they may have passed through each other. */
static bool is_known(const gap_search *s, const judged_part *a, const judged_part *b,
                     rg_judge_gaps *gaps) {
    bool first = is_ball(s, a), second = is_ball(s, b);
    closed_gap gap;
    if (first && second) {
        gap = between_balls(a, b);
        if (gap.least < -a->part.shape->inradius || gap.least < -b->part.shape->inradius)
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
    const rg_judge_part *const part[2] = {&a->part, &b->part};
    gaps->least = gap.least < gaps->least ? gap.least : gaps->least;
    gaps->end = gap.end < gaps->end ? gap.end : gaps->end;
    if (rg_judge_may_be_deepest(gaps, part, gap.least))
        rg_judge_note_deepest(gaps, part, gap.least, gap.begin,
                              s->begin + gap.time * (s->end - s->begin));
    rg_judge_note_standing(gaps, part, gap.end);
    return true;
}

/* How the body of a part moved, all of it; null without memory. */
static const rg_judge_course *course_of(const gap_search *s, rg_arena *arena,
                                        const judged_part *p) {
    const judged_body *body = &s->bodies[p->body];
    if (!body->round)
        return &body->course;
    rg_judge_course *course = rg_arena_take(arena, 1, sizeof *course);
    if (course) {
        course->piece = NULL;
        find_leg(s, p->body, &course->straight);
        rg_judge_course_bound(course);
    }
    return course;
}

static rg_status add_pair(const gap_search *s, rg_arena *arena, const judged_part *a,
                          const judged_part *b, pair_lane *lane) {
    const rg_judge_course *course[2] = {course_of(s, arena, a), course_of(s, arena, b)};
    if (!course[0] || !course[1] ||
        !rg_arena_grow(arena, &lane->pairs, lane->count, &lane->capacity, sizeof *lane->pairs))
        return RG_OUT_OF_MEMORY;
    lane->pairs[lane->count++] = (rg_judge_pair){.part = {&a->part, &b->part},
                                                 .course = {course[0], course[1]},
                                                 .near = a->near + b->near,
                                                 .hint = propose(s, a, b)};
    return RG_OK;
}

static rg_status look_at_pair(const gap_search *s, const judged_part *a, const judged_part *b,
                              rg_arena *arena, pair_lane *lane) {
    if (!may_meet(s, a, b) ||
        (s->content->joints.count && rg_joints_part(s->content, a->body, b->body)) ||
        is_known(s, a, b, &lane->gaps))
        return RG_OK;
    return add_pair(s, arena, a, b, lane);
}

static rg_status find_pairs(const gap_search *s, size_t begin, size_t end, rg_arena *arena,
                            pair_lane *lane) {
    const judged_place *last = s->order + s->count;
    for (size_t i = begin; i < end; i++) {
        const judged_place *x = &s->order[i];
        rg_bounds own = x->swept;
        for (const judged_place *y = x + 1; y < last && y->swept.lower.x <= own.upper.x; y++) {
            if (!meet(&own, &y->swept))
                continue;
            rg_status status = look_at_pair(s, &s->parts[x->part], &s->parts[y->part], arena, lane);
            if (status)
                return status;
        }
    }
    return RG_OK;
}

/* Gaps at the end, the pair first whose plane says least. Of those that touch this is most often
 * the deepest one, and what is shown of the others by planes alone is then enough. */
static void look_at_pairs(const gap_search *s, pair_lane *lane) {
    size_t first = 0;
    double least = INFINITY;
    for (size_t i = 0; i < lane->count; i++) {
        rg_judge_pair *pair = &lane->pairs[i];
        rg_judge_bound_at_end(pair, &lane->gaps);
        if (!pair->known && pair->gap > -INFINITY && pair->gap < least) {
            least = pair->gap;
            first = i;
        }
    }
    for (size_t i = 0; i < lane->count; i++)
        rg_judge_look_at_end(&lane->pairs[i == 0       ? first
                                          : i == first ? 0
                                                       : i],
                             s->end, &lane->gaps);
}

/* The pairs of a lane, and their gaps at the end. */
static void look_in_lane(void *user, size_t begin, size_t end, size_t number) {
    const gap_search *s = user;
    pair_lane *lane = &s->lanes[number];
    rg_arena_reset(&s->lane_arenas[number]);
    lane->status = find_pairs(s, begin, end, &s->lane_arenas[number], lane);
    if (!lane->status)
        look_at_pairs(s, lane);
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
        if (lanes[i].gaps.deepest.share > gaps->deepest.share)
            gaps->deepest = lanes[i].gaps.deepest;
        if (lanes[i].gaps.standing.share > gaps->standing.share)
            gaps->standing = lanes[i].gaps.standing;
    }
}

/* Each lane by itself, first at the end of the step; from there on all know the least that was
 * found. */
static rg_status follow_pairs(gap_search *s, const rg_judge_room *room, rg_judge_gaps *gaps) {
    pair_lane lanes[RG_JUDGE_LANES];
    size_t grain = rg_chunk_count(s->count, RG_JUDGE_LANES);
    grain = grain > PARTS_PER_LANE ? grain : PARTS_PER_LANE;
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
        lanes[i].gaps = *gaps;
        lanes[i].gaps.passed = 0;
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
    *gaps = rg_judge_gaps_make(before->time, content->time);
    gap_search s = {
        .content = content, .begin = before->time, .end = content->time, .before = before};
    s.first = rg_arena_take(arena, content->colliders.count, sizeof *s.first);
    if (!s.first)
        return RG_OUT_OF_MEMORY;
    for (size_t i = 0; i < content->colliders.count; i++) {
        s.first[i] = total;
        total += part_count(&content->collider[i]);
    }
    if (total == 0) /* terrain alone does not move */
        return report->tracks && report->tracks->lost ? RG_OUT_OF_MEMORY : RG_OK;
    s.bodies = rg_arena_take(arena, n, sizeof *s.bodies);
    s.parts = rg_arena_take(arena, total, sizeof *s.parts);
    s.capacity = total;
    if (!s.bodies || !s.parts)
        return RG_OUT_OF_MEMORY;
    s.report = report;
    if (follow_prescribed(&s, arena))
        return RG_OUT_OF_MEMORY;
    rg_parallel_for(room->pool, n, BODIES_PER_CHUNK, fill_bodies, &s);
    rg_parallel_for(room->pool, content->colliders.count, COLLIDERS_PER_CHUNK, add_parts, &s);
    s.count = total;
    for (size_t i = 0; i < content->colliders.count; i++)
        if (is_terrain(&content->collider[i]) && !content->collider[i].sensor &&
            rg_collider_meets(&content->collider[i]) && add_terrain(&s, i, total, arena))
            return RG_OUT_OF_MEMORY;
    if ((report->tracks && report->tracks->lost) || find_ranges(&s, arena, room->pool) ||
        sort_places(&s, room->order, arena))
        return RG_OUT_OF_MEMORY;
    return follow_pairs(&s, room, gaps);
}
