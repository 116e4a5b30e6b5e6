/* Compounds: every convex part of one with every convex part of the other.
 *
 * Each pair of parts has its own normal, points and cache; a point's identity is (part1, part2,
 * id). Parts whose boxes are farther apart than `near` are skipped. Pairs are visited in the order
 * of (part1, part2), so that caches stay sorted and those of the last step are found by going
 * along.
 *
 * Faces between two parts of one compound are not part of its surface. Nothing here knows that, and
 * nothing needs to in a step that looks ahead: a body that slides over such a seam is separated
 * from the next part by its upper face over the whole motion (contact_plane.c). Without a motion,
 * at the current poses, a point at the seam may have the normal of the inner face.
 *
 * Of terrain, the parts are the prisms of the triangles within reach, which its tree finds. Where
 * flush triangles are under all of a contact, their plane is the part, and neither they nor what is
 * below it count: a box on flat ground touches it with its corners, however finely it is cut.
 *
 * Cost: the number of parts of one times that of the other, in box tests. */
#include "base/base_memory.h"
#include "base/base_sort.h"
#include "contact/contact.h"
#include "shape/shape.h"
#include "shape/shape_terrain.h"

#include <string.h>

/* Points of a pair that were found while its parts were looked for: of a ball, and of what is over
 * flush triangles. */
enum { BALL_POINTS = 4, FLUSH_POINTS = 64 };
typedef struct found_pair {
    rg_contact_cache cache;
    rg_part_remarks remarks;
    rg_manifold manifold;
    rg_contact_point *points;
} found_pair;

/* Of the size of a shape: triangles count as flush if their corners are so near to one plane. What
 * rounding leaves of the corners of a slope is less; the way over such a seam bends by less than
 * what seams may be felt by (1e-9 m) over hundreds of metres. */
#define FLUSH 1e-12

typedef struct placed_part {
    rg_placed_shape part;
    rg_bounds bounds;
    uint32_t number;
    const found_pair *found; /* null: not yet */
} placed_part;

typedef struct part_list {
    placed_part *parts;
    size_t count;
} part_list;

/* Whether a plane across the line between the middles shows that a triangle is out of reach: then
 * there are no points, and it need not be made. `relative`: the pose of the other shape in the
 * frame of the terrain. */
static bool is_apart(const rg_shape *terrain, uint32_t triangle, const rg_shape *other,
                     rg_pose relative, double near) {
    if (!rg_shape_is_bounded(other) || !rg_shape_is_convex(other))
        return false;
    rg_vec3 n = rg_sub(rg_pose_apply(relative, rg_shape_centre(other)),
                       rg_terrain_middle(terrain, triangle));
    double length = rg_length(n);
    if (!(length > 0))
        return false;
    n = rg_scale(1 / length, n);
    rg_vec3 back = rg_rotate_back(relative.orientation, rg_neg(n));
    rg_vec3 lowest = rg_pose_apply(relative, rg_shape_support(other, back, NULL));
    return rg_dot(n, lowest) - rg_terrain_reach(terrain, triangle, n) > near;
}

/* m: how far apart parts may have contact points. */
static double near_of(const rg_contact_settings *settings, const rg_shape *a, const rg_shape *b) {
    return settings && settings->near > 0
               ? settings->near
               : RG_CONTACT_NEAR * fmin(rg_shape_circumradius(a), rg_shape_circumradius(b));
}

static bool within(const rg_bounds *a, const rg_bounds *b, double near) {
    return a->lower.x - near <= b->upper.x && b->lower.x - near <= a->upper.x &&
           a->lower.y - near <= b->upper.y && b->lower.y - near <= a->upper.y &&
           a->lower.z - near <= b->upper.z && b->lower.z - near <= a->upper.z;
}

/* The cache of the last step for these parts, going along with the sorted list; null: none. */
static const rg_contact_cache *find_cache(const rg_contact_cache *last, uint32_t count,
                                          uint32_t *at, uint32_t part1, uint32_t part2) {
    while (*at < count &&
           (last[*at].part1 < part1 || (last[*at].part1 == part1 && last[*at].part2 < part2)))
        ++*at;
    bool found = *at < count && last[*at].part1 == part1 && last[*at].part2 == part2;
    return found ? &last[*at] : NULL;
}

static void start_cache(const rg_contact_cache *last, uint32_t part1, uint32_t part2,
                        rg_contact_cache *cache) {
    if (last)
        *cache = *last;
    else
        *cache = (rg_contact_cache){.part1 = part1, .part2 = part2};
}

double rg_contact_share(const rg_shape *b, const rg_shape *a) {
    double size_a = rg_shape_circumradius(a), size_b = rg_shape_circumradius(b);
    if (size_a <= size_b)
        return 1 / (1 + size_a / size_b * (size_a / size_b));
    return 1 - 1 / (1 + size_b / size_a * (size_b / size_a));
}

static rg_vec3 velocity_at(const rg_swept_shape *s, rg_vec3 p) {
    return rg_add(s->velocity, rg_cross(s->angular_velocity, rg_sub(p, s->centre)));
}

/* A vertex or an edge turns with its body; on a curved surface the place of contact stays below as
 * it rolls, and the material does not. */
static rg_vec3 place_at_start(const rg_swept_shape *side, rg_pose later, rg_vec3 p) {
    rg_pose start = side->placed.pose;
    if (rg_shape_polyhedron(side->placed.shape))
        return rg_pose_apply(start, rg_pose_apply_inverse(later, p));
    return rg_add(p, rg_sub(start.position, later.position));
}

/* The points on either surface at the start. Across the normal they are apart by the slip until
 * then. A curved surface touches where it is nearest, at the start as well: there the impulse acts,
 * and what is flat is met straight below. */
static void meet_at_start(const rg_swept_shape side[2], const rg_pose later[2], rg_vec3 n,
                          rg_contact_point *p) {
    bool flat[2] = {rg_shape_polyhedron(side[0].placed.shape) != NULL,
                    rg_shape_polyhedron(side[1].placed.shape) != NULL};
    p->on_b = place_at_start(&side[0], later[0], p->on_b);
    p->on_a = place_at_start(&side[1], later[1], p->on_a);
    rg_vec3 slip = rg_sub(p->on_a, p->on_b);
    slip = rg_add_scaled(slip, -rg_dot(n, slip), n);
    if (flat[0] && !flat[1])
        p->on_b = rg_add(p->on_b, slip);
    if (flat[1] && !flat[0])
        p->on_a = rg_sub(p->on_a, slip);
}

/* Points that were found at the poses of a later time, as they are at the beginning: the place on
 * either shape is the same, the normal too. Of shapes that meet, the gap is that of the beginning:
 * their motion will be another one. Of shapes that stay apart it is such that, going on as a row
 * does, along tangents, the motion that was looked at ends with the gap that was found: what
 * turning bends asks for no force. */
static void bring_back(const rg_swept_shape side[2], double share, const rg_plane_choice *choice,
                       rg_contact_point *points, rg_manifold *manifold) {
    double time = manifold->time = choice->time;
    bool meet = manifold->meets = choice->result == RG_PLANE_MEETS || choice->closes;
    rg_pose later[2] = {rg_swept_pose(&side[0], time), rg_swept_pose(&side[1], time)};
    manifold->gap = INFINITY;
    for (uint32_t i = 0; i < manifold->point_count; i++) {
        rg_contact_point *p = &points[i];
        meet_at_start(side, later, manifold->normal, p);
        p->position = rg_add_scaled(p->on_b, share, rg_sub(p->on_a, p->on_b));
        rg_vec3 relative =
            rg_sub(velocity_at(&side[1], p->position), velocity_at(&side[0], p->position));
        p->gap = meet ? rg_dot(manifold->normal, rg_sub(p->on_a, p->on_b))
                      : p->gap - time * rg_dot(manifold->normal, relative);
        manifold->gap = fmin(manifold->gap, p->gap);
    }
}

static void sweep(const rg_contact_query *query, const rg_pair_motion *m, int i,
                  rg_swept_shape side[2]) {
    side[0] =
        (rg_swept_shape){query->one, m->centre[0], m->velocity[i][0], m->angular_velocity[i][0]};
    side[1] =
        (rg_swept_shape){query->two, m->centre[1], m->velocity[i][1], m->angular_velocity[i][1]};
}

/* The plane that the motion of two parts asks for: the first motion, or else the second. */
static rg_status choose_plane(const rg_contact_query *query, const rg_pair_motion *m,
                              const rg_growth *growth, rg_swept_shape side[2],
                              rg_plane_choice *choice) {
    rg_status status = RG_OK;
    choice->result = RG_PLANE_NEVER;
    for (int i = 0; i < m->count && !status && choice->result == RG_PLANE_NEVER; i++) {
        sweep(query, m, i, side);
        status = rg_contact_plane(&side[0], &side[1], m->time, m->found, growth, choice);
    }
    return status;
}

/* What an earlier look of the step found; false if it found nothing. */
static bool keep(const rg_kept_manifolds *kept, const rg_contact_cache *cache,
                 rg_contact_point *points, uint32_t capacity, rg_manifold *manifold) {
    for (uint32_t i = 0; i < kept->count; i++) {
        const rg_manifold *m = &kept->manifolds[i];
        if (m->part1 != cache->part1 || m->part2 != cache->part2)
            continue;
        *manifold = *m;
        if (m->point_count <= capacity)
            memcpy(points, kept->points + m->first_point, m->point_count * sizeof *points);
        return true;
    }
    return false;
}

/* Points of the plane of the beginning. Where features tie, edge to edge or vertex to vertex,
 * geometry leaves several planes, and at rest, or along a seam, the motion does not tell which is
 * theirs. A box whose side is exactly over a seam needs none: held along the inner faces on either
 * side of it, it would be clamped, and friction there would brake it. Two cards that lean against
 * each other need the mean of the planes (Baraff 1989, section 4.1). So such parts are left out
 * until the velocities of a solve push them together. */
static rg_status find_points_of_start(const rg_contact_query *query, const rg_growth *growth,
                                      bool meets, bool *left_out, rg_manifold *manifold) {
    rg_status status = rg_contact_of_growth(query, growth, manifold);
    if (status || !manifold->degenerate || meets)
        return status;
    *left_out = true;
    *manifold = (rg_manifold){.gap = growth->gap, .degenerate = true};
    return RG_OK;
}

/* Whether the plane that separated two parts at the last look still shows that they are out of
 * reach: two supports instead of a search. */
static bool is_out_of_reach(const rg_contact_query *query) {
    const rg_growth_cache *last = &query->cache->growth;
    if (!last->valid || rg_largest_entry(last->normal1) == 0 ||
        !rg_shape_is_bounded(query->one.shape) || !rg_shape_is_bounded(query->two.shape))
        return false;
    rg_vec3 n = rg_rotate(query->one.pose.orientation, last->normal1);
    return rg_contact_separation(query->one.shape, query->one.pose, query->two.shape,
                                 query->two.pose, n) > query->settings->near;
}

/* Points at the end of a motion, or at contact, as they are at the beginning. */
static rg_status find_points_later(const rg_contact_query *query, const rg_pair_motion *motion,
                                   const rg_swept_shape side[2], const rg_plane_choice *choice,
                                   rg_manifold *manifold) {
    rg_contact_query later = *query;
    later.one.pose = rg_swept_pose(&side[0], choice->time);
    later.two.pose = rg_swept_pose(&side[1], choice->time);
    rg_status status = choice->result == RG_PLANE_MEETS
                           ? rg_contact_of_growth(&later, &choice->growth, manifold)
                           : rg_contact_along(&later, choice->normal, manifold);
    if (!status)
        bring_back(side, motion->share, choice, query->points, manifold);
    return status;
}

/* The gaps of shapes that were expected to stay apart allow for what turning bends. If the motion
 * that a solve found turns otherwise and ends deeper than what counts as near, they are those of
 * the beginning. */
static rg_status find_points_kept(const rg_contact_query *query, const rg_pair_motion *motion,
                                  bool *bent, rg_manifold *manifold) {
    if (manifold->point_count > query->capacity)
        return RG_LIMIT_EXCEEDED;
    if (manifold->meets)
        return RG_OK;
    rg_swept_shape side[2];
    sweep(query, motion, 0, side);
    rg_plane_choice choice = {.result = RG_PLANE_APART,
                              .normal = manifold->normal,
                              .time = manifold->time,
                              .closes = true};
    double end = rg_contact_separation(query->one.shape, rg_swept_pose(&side[0], choice.time),
                                       query->two.shape, rg_swept_pose(&side[1], choice.time),
                                       choice.normal);
    *bent = end < -RG_CONTACT_NEAR * fmin(rg_shape_circumradius(query->one.shape),
                                          rg_shape_circumradius(query->two.shape));
    return *bent ? find_points_later(query, motion, side, &choice, manifold) : RG_OK;
}

rg_status rg_contact_find(const rg_contact_query *query, const rg_pair_motion *motion,
                          rg_part_remarks *remarks, rg_manifold *manifold) {
    if (!motion)
        return rg_contact_between(query, manifold);
    bool kept = keep(&motion->kept, query->cache, query->points, query->capacity, manifold);
    if (kept && (manifold->time > 0 || manifold->point_count > query->capacity))
        return find_points_kept(query, motion, &remarks->bent, manifold);
    if (!kept && is_out_of_reach(query)) {
        *manifold = (rg_manifold){.gap = INFINITY};
        return RG_OK;
    }
    rg_growth growth;
    rg_status status = rg_separation_between(query->one.shape, query->one.pose, query->two.shape,
                                             query->two.pose, &query->cache->growth, &growth);
    if (status)
        return status;
    /* A body that was struck turns faster: more points of the same feature may come down. */
    if (kept)
        return rg_contact_of_growth(query, &growth, manifold);
    *manifold = (rg_manifold){.gap = growth.gap};
    if (growth.gap > query->settings->near)
        return RG_OK;
    rg_swept_shape side[2];
    rg_plane_choice choice;
    status = choose_plane(query, motion, &growth, side, &choice);
    if (status)
        return status;
    bool meets = motion->found && (choice.result == RG_PLANE_MEETS || choice.closes);
    if (motion->rests) {
        status = find_points_of_start(query, &growth, meets, &remarks->left_out, manifold);
        if (status || manifold->degenerate || choice.result == RG_PLANE_OF_START)
            return status;
        *manifold = (rg_manifold){.gap = growth.gap};
    }
    if (choice.result == RG_PLANE_NEVER) {
        remarks->left_out = true;
        return RG_OK;
    }
    if (choice.result == RG_PLANE_OF_START)
        return find_points_of_start(query, &growth, choice.closes, &remarks->left_out, manifold);
    return find_points_later(query, motion, side, &choice, manifold);
}

/* In closed form where there is one. */
static rg_status find_points(const rg_contact_query *query, const rg_pair_motion *motion,
                             rg_part_remarks *remarks, rg_manifold *manifold) {
    if (motion && rg_contact_round(query, motion, remarks, manifold))
        return RG_OK;
    return rg_contact_find(query, motion, remarks, manifold);
}

/* Where a pair goes whose points were found before: false without room. */
static bool put_found(const found_pair *found, rg_contact_query *query, rg_part_remarks *remarks,
                      rg_manifold *manifold) {
    if (found->manifold.point_count > query->capacity)
        return false;
    *query->cache = found->cache;
    *remarks = found->remarks;
    *manifold = found->manifold;
    memcpy(query->points, found->points, found->manifold.point_count * sizeof *query->points);
    return true;
}

/* `query` without cache and points; `last`: the cache of the step before, or null. */
static rg_status add_pair(rg_contact_query *query, const rg_pair_motion *motion,
                          const rg_contact_cache *last, const uint32_t part[2],
                          const found_pair *found, rg_contact_list *list) {
    if (list->manifold_count == list->manifold_capacity ||
        list->point_count == list->point_capacity || list->cache_count == list->cache_capacity ||
        (motion && list->left_out_count == list->left_out_capacity))
        return RG_LIMIT_EXCEEDED;
    rg_manifold *manifold = &list->manifolds[list->manifold_count];
    query->cache = &list->caches[list->cache_count];
    query->points = rg_array_from(list->points, list->point_count);
    query->capacity = list->point_capacity - list->point_count;
    start_cache(last, part[0], part[1], query->cache);
    rg_part_remarks remarks = {0};
    rg_status status = found && put_found(found, query, &remarks, manifold)
                           ? RG_OK
                           : find_points(query, motion, &remarks, manifold);
    if (status != RG_OK)
        return status;
    list->cache_count++;
    list->bent += remarks.bent;
    if (remarks.left_out)
        list->left_out[list->left_out_count++] =
            (rg_part_pair){.part_b = part[0], .part_a = part[1]};
    if (manifold->point_count == 0)
        return RG_OK;
    manifold->part1 = part[0];
    manifold->part2 = part[1];
    manifold->first_point = list->point_count;
    list->point_count += manifold->point_count;
    list->manifold_count++;
    return RG_OK;
}

/* Which parts of `whole` are asked for. */
typedef struct part_query {
    rg_placed_shape whole, other;
    int side; /* of the other */
    double near;
    const rg_contact_settings *settings;
    const rg_pair_motion *motion; /* null: none */
    rg_cache_list last;
    rg_arena *arena;
} part_query;

/* Triangles that a ball may touch in the motions that are looked at, and in those that differ from
 * them by `margin`. From rest, and after an impact, in all that are no faster: where it goes on
 * along what it met is not known beforehand. */
static void ball_path(const part_query *q, rg_vec3 points[3], rg_terrain_path *path) {
    const rg_pair_motion *m = q->motion;
    int side = q->side;
    rg_vec3 centre = rg_pose_apply(q->other.pose, rg_shape_centre(q->other.shape));
    double arm = rg_length(rg_sub(centre, m->centre[side])), farthest = 0, turning = 0;
    for (int i = 0; i < m->count; i++) {
        rg_vec3 way = rg_scale(m->time, rg_sub(m->velocity[i][side], m->velocity[i][1 - side]));
        points[i + 1] = rg_add(centre, way);
        farthest = fmax(farthest, rg_length(way));
        turning = fmax(turning, m->time * rg_length(m->angular_velocity[i][side]) * arm);
    }
    bool anywhere = m->found || m->rests;
    points[0] = centre;
    *path = (rg_terrain_path){.points = points,
                              .count = anywhere ? 1 : 1 + m->count,
                              .radius = rg_shape_circumradius(q->other.shape),
                              .slack = m->margin + turning + (anywhere ? farthest : 0),
                              .height = turning};
    for (int i = 0; i < path->count; i++)
        points[i] = rg_pose_apply_inverse(q->whole.pose, points[i]);
}

/* A part that may be touched: a triangle, or the plane of flush ones. */
typedef struct near_triangle {
    double distance; /* m, from the centre of a ball */
    uint32_t number;
    const rg_shape *prism; /* null: not yet made */
    found_pair *found;
} near_triangle;

static bool is_nearer(const near_triangle *a, const near_triangle *b) {
    return a->distance < b->distance || (a->distance == b->distance && a->number < b->number);
}

static bool is_lower(const near_triangle *a, const near_triangle *b) {
    return a->number < b->number;
}

RG_DEFINE_HEAP_SORT(sort_by_distance, near_triangle, is_nearer)
RG_DEFINE_HEAP_SORT(sort_by_number, near_triangle, is_lower)

/* The contact points with a part; null where there is no room for them. */
static rg_status find_with(const part_query *q, uint32_t capacity, near_triangle *t) {
    rg_pose none;
    bool first = q->side == 1; /* the terrain is */
    uint32_t at = 0, part[2] = {first ? t->number : 0, first ? 0 : t->number};
    rg_terrain_room *room = rg_arena_take(q->arena, 1, sizeof *room);
    found_pair *f = t->found = rg_arena_take(q->arena, 1, sizeof *f);
    rg_contact_point *points = rg_arena_take(q->arena, capacity, sizeof *points);
    if (!room || !f || !points)
        return RG_OUT_OF_MEMORY;
    t->prism = rg_shape_part(q->whole.shape, t->number, room, &none);
    *f = (found_pair){.points = points};
    start_cache(find_cache(q->last.caches, q->last.count, &at, part[0], part[1]), part[0], part[1],
                &f->cache);
    rg_placed_shape prism = {t->prism, q->whole.pose};
    rg_contact_query query = {.one = first ? prism : q->other,
                              .two = first ? q->other : prism,
                              .settings = q->settings,
                              .cache = &f->cache,
                              .arena = q->arena,
                              .points = f->points,
                              .capacity = capacity};
    rg_status status = find_points(&query, q->motion, &f->remarks, &f->manifold);
    if (status == RG_LIMIT_EXCEEDED)
        t->found = NULL;
    return status == RG_LIMIT_EXCEEDED ? RG_OK : status;
}

/* Above the plane of a contact, as it was found, the ball will be held. A penetration is not made
 * larger. */
static bool stands_on(const part_query *q, const found_pair *found, rg_terrain_path *path) {
    if (!found || found->manifold.point_count == 0 || found->manifold.gap > q->near)
        return false;
    rg_vec3 n = q->side == 1 ? found->manifold.normal : rg_neg(found->manifold.normal);
    path->normal = rg_rotate_back(q->whole.pose.orientation, n);
    path->height += fmax(found->manifold.gap, 0);
    return true;
}

/* Of triangles in the order of their distance, those that the ball may touch if it is held above
 * the planes of its contacts with those before: *count of them, first. */
static rg_status leave_out_below(const part_query *q, const rg_terrain_path *path,
                                 near_triangle *list, size_t *count) {
    enum { FLOORS = 8 };
    rg_terrain_path floors[FLOORS];
    int floor_count = 0;
    size_t all = *count;
    rg_status status = RG_OK;
    *count = 0;
    for (size_t i = 0; i < all && !status; i++) {
        near_triangle *t = &list[*count];
        bool below = false;
        for (int k = 0; k < floor_count && !below; k++)
            below = rg_terrain_is_beyond(q->whole.shape, list[i].number, &floors[k]);
        if (below)
            continue;
        *t = list[i];
        ++*count;
        if (all == 1 || floor_count == FLOORS)
            continue;
        status = find_with(q, BALL_POINTS, t);
        floors[floor_count] = *path;
        if (!status && stands_on(q, t->found, &floors[floor_count]))
            floor_count++;
    }
    return status;
}

/* Triangles that a ball may touch. */
static rg_status find_under_ball(const part_query *q, near_triangle **list, size_t *count) {
    rg_vec3 points[3];
    rg_terrain_path path;
    uint32_t *numbers;
    ball_path(q, points, &path);
    if (!rg_terrain_find_along(q->whole.shape, &path, false, q->arena, &numbers, count))
        return RG_OUT_OF_MEMORY;
    *list = rg_arena_take(q->arena, *count, sizeof **list);
    if (!*list)
        return RG_OUT_OF_MEMORY;
    for (size_t i = 0; i < *count; i++)
        (*list)[i] = (near_triangle){rg_terrain_distance(q->whole.shape, numbers[i], points[0]),
                                     numbers[i], NULL, NULL};
    sort_by_distance(*list, *count);
    rg_status status = leave_out_below(q, &path, *list, count);
    sort_by_number(*list, *count);
    return status;
}

/* Whether flush triangles are under all points of a contact with their plane: then the hull of
 * those points is that of the whole region of contact, wherever the triangles end. */
static bool are_covered(const part_query *q, const near_triangle *plane, double size) {
    const rg_manifold *m = &plane->found->manifold;
    bool first = q->side == 1;
    uint32_t under;
    for (uint32_t i = 0; i < m->point_count; i++) {
        const rg_contact_point *p = &plane->found->points[i];
        rg_vec3 at = rg_pose_apply_inverse(q->whole.pose, first ? p->on_b : p->on_a);
        if (!rg_terrain_covers(q->whole.shape, plane->prism, at, FLUSH * size,
                               RG_CONTACT_LATERAL * size, &under))
            return false;
    }
    return m->point_count > 0 && m->point_count < FLUSH_POINTS;
}

/* The number of the plane of a triangle: that of the last step, if it was the same. */
static uint32_t number_of_plane(const part_query *q, uint32_t triangle, double size) {
    uint32_t count = rg_terrain_count(q->whole.shape);
    rg_terrain_room room;
    const rg_shape *plane = rg_terrain_plane(q->whole.shape, triangle, &room);
    for (uint32_t i = q->last.count; i > 0; i--) {
        uint32_t last = q->side == 1 ? q->last.caches[i - 1].part1 : q->last.caches[i - 1].part2;
        rg_terrain_room other;
        if (last < count || last - count >= count)
            break;
        const rg_shape *known = rg_terrain_plane(q->whole.shape, last - count, &other);
        if (rg_terrain_is_flush(q->whole.shape, triangle, known, FLUSH * size) &&
            rg_dot(known->def.normal, plane->def.normal) > 0)
            return last;
    }
    return count + triangle;
}

/* A plane that holds the whole shape, as a part of its own: that of the triangle that is nearest to
 * its middle. *found: there is one. Below a sheet, or deep in the ground, it is not looked for. */
static rg_status find_plane(const part_query *q, uint32_t nearest, near_triangle *plane,
                            bool *found) {
    const rg_shape *whole = q->whole.shape, *other = q->other.shape;
    double size = rg_shape_circumradius(other);
    rg_terrain_room room;
    *found = false;
    *plane = (near_triangle){.number = number_of_plane(q, nearest, size)};
    rg_pose none, relative = rg_pose_compose(rg_pose_inverse(q->whole.pose), q->other.pose);
    const rg_shape *half = rg_shape_part(whole, plane->number, &room, &none);
    rg_vec3 n = half->def.normal, back = rg_rotate_back(relative.orientation, rg_neg(n));
    rg_vec3 lowest = rg_pose_apply(relative, rg_shape_support(other, back, NULL));
    double gap = rg_dot(n, lowest) - half->def.offset;
    double deepest = fmin(q->near, 0.5 * rg_shape_get_def(whole).thickness);
    if (gap > q->near || gap < -deepest)
        return RG_OK;
    rg_status status = find_with(q, FLUSH_POINTS, plane);
    *found = !status && plane->found && are_covered(q, plane, size);
    return status;
}

/* Triangles of a terrain within reach of the other shape, and planes of flush ones. */
static rg_status find_within_reach(const part_query *q, near_triangle **list, size_t *count) {
    const rg_shape *whole = q->whole.shape, *other = q->other.shape;
    rg_pose relative = rg_pose_compose(rg_pose_inverse(q->whole.pose), q->other.pose);
    rg_bounds reach = rg_shape_bounds(other, relative);
    rg_vec3 grow = {q->near, q->near, q->near};
    reach = (rg_bounds){rg_sub(reach.lower, grow), rg_add(reach.upper, grow)};
    double size = rg_shape_circumradius(other);
    rg_vec3 middle = rg_pose_apply(relative, rg_shape_centre(other));
    bool merges = q->motion && rg_shape_is_bounded(other) && rg_shape_is_convex(other);
    near_triangle plane = {0};
    uint32_t *numbers, nearest;
    size_t found;
    *count = 0;
    if (merges && rg_terrain_nearest(whole, middle, size + q->near, &nearest)) {
        rg_status status = find_plane(q, nearest, &plane, &merges);
        if (status)
            return status;
    } else {
        merges = false;
    }
    rg_terrain_floor floor = {plane.prism, FLUSH * size, UINT32_MAX};
    if (merges ? !rg_terrain_find_above(whole, &reach, &floor, q->arena, &numbers, &found)
               : !rg_terrain_find(whole, &reach, q->arena, &numbers, &found))
        return RG_OUT_OF_MEMORY;
    *list = rg_arena_take(q->arena, found + 1, sizeof **list);
    for (size_t i = 0; *list && i < found; i++)
        if (!is_apart(whole, numbers[i], other, relative, q->near))
            (*list)[(*count)++] = (near_triangle){0, numbers[i], NULL, NULL};
    if (*list && merges)
        (*list)[(*count)++] = plane;
    return *list ? RG_OK : RG_OUT_OF_MEMORY;
}

/* Null stands for all parts of anything but terrain. */
static rg_status find_triangles(const part_query *q, near_triangle **list, size_t *count) {
    const rg_shape *whole = q->whole.shape;
    *list = NULL;
    *count = 1;
    if (rg_shape_get_kind(whole) == RG_SHAPE_COMPOUND)
        *count = rg_shape_get_def(whole).part_count;
    if (rg_shape_get_kind(whole) != RG_SHAPE_TERRAIN)
        return RG_OK;
    return q->motion && rg_shape_get_kind(q->other.shape) == RG_SHAPE_SPHERE
               ? find_under_ball(q, list, count)
               : find_within_reach(q, list, count);
}

static rg_status place_parts(const part_query *q, part_list *list) {
    near_triangle *triangles;
    rg_placed_shape whole = q->whole;
    rg_status status = find_triangles(q, &triangles, &list->count);
    list->parts = status ? NULL : rg_arena_take(q->arena, list->count, sizeof *list->parts);
    bool terrain = rg_shape_get_kind(whole.shape) == RG_SHAPE_TERRAIN;
    if (!list->parts)
        return RG_OUT_OF_MEMORY;
    for (size_t i = 0; i < list->count; i++) {
        placed_part *p = &list->parts[i];
        const near_triangle *t = terrain ? &triangles[i] : NULL;
        rg_terrain_room *room = NULL;
        rg_pose pose;
        if (t && !t->prism) {
            room = rg_arena_take(q->arena, 1, sizeof *room);
            if (!room)
                return RG_OUT_OF_MEMORY;
        }
        p->number = t ? t->number : (uint32_t)i;
        p->found = t ? t->found : NULL;
        p->part.shape =
            t && t->prism ? t->prism : rg_shape_part(whole.shape, p->number, room, &pose);
        p->part.pose = p->part.shape == whole.shape || terrain ? whole.pose
                                                               : rg_pose_compose(whole.pose, pose);
        p->bounds = rg_shape_bounds(p->part.shape, p->part.pose);
    }
    return RG_OK;
}

rg_status rg_contact_parts(rg_contact_query *whole, const rg_pair_motion *motion,
                           rg_cache_list last, rg_contact_list *found) {
    const rg_contact_settings *settings = whole->settings;
    const rg_shape *shape[2] = {whole->one.shape, whole->two.shape};
    rg_arena *arena = whole->arena;
    uint32_t at = 0;
    if (rg_shape_is_single(shape[0]) && rg_shape_is_single(shape[1])) {
        const rg_contact_cache *cache = find_cache(last.caches, last.count, &at, 0, 0);
        return add_pair(whole, motion, cache, (const uint32_t[2]){0, 0}, NULL, found);
    }
    rg_arena_mark mark = rg_arena_get_mark(arena);
    part_list list[2];
    double near = near_of(settings, shape[0], shape[1]);
    part_query query = {whole->one, whole->two, 1, near, settings, motion, last, arena};
    rg_status status = place_parts(&query, &list[0]);
    query.whole = whole->two, query.other = whole->one, query.side = 0;
    if (!status)
        status = place_parts(&query, &list[1]);
    for (size_t i = 0; !status && i < list[0].count; i++)
        for (size_t k = 0; k < list[1].count && !status; k++) {
            const placed_part *p = &list[0].parts[i], *q = &list[1].parts[k];
            if (!within(&p->bounds, &q->bounds, near_of(settings, p->part.shape, q->part.shape)))
                continue;
            rg_contact_query pair = {
                .one = p->part, .two = q->part, .settings = settings, .arena = arena};
            const uint32_t part[2] = {p->number, q->number};
            const rg_contact_cache *cache =
                find_cache(last.caches, last.count, &at, p->number, q->number);
            /* Of two parts at most one is a triangle. */
            status = add_pair(&pair, motion, cache, part, p->found ? p->found : q->found, found);
        }
    rg_arena_return(arena, mark);
    return status;
}
