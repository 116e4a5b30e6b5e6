/* Rows of contact problems from contact points. The normal row is the gradient of the gap: at a
 * point, n.(velocity of A's material - velocity of B's), whichever of the two surfaces the point is
 * taken on, since moving it along n does not change n.(w x r). So one point serves both bodies, and
 * momentum and angular momentum balance exactly (Hart-Anitescu 2010; the gradient of the ratio
 * metric, divided by |N| / t^2, is this row: impulses are in N s and gaps in metres). */
#include "problem/problem_rows.h"

#include "base/base_math.h"
#include "contact/contact.h"
#include "problem/problem_directions.h"

#include <string.h>

/* Rows of a touch take about half a microsecond. */
enum { TOUCHES_PER_CHUNK = 128 };

/* Sine of the angle to the x axis below which the y axis takes over for the tangents. */
#define TANGENT_STEEP 0.1

void rg_contact_tangents(rg_vec3 normal, bool planar, rg_vec3 *tangent1, rg_vec3 *tangent2) {
    if (planar) {
        *tangent1 = (rg_vec3){normal.z, 0, -normal.x};
        *tangent2 = (rg_vec3){0, 0, 0};
        return;
    }
    double across = 1 - normal.x * normal.x;
    rg_vec3 axis = across > TANGENT_STEEP * TANGENT_STEEP ? (rg_vec3){1, 0, 0} : (rg_vec3){0, 1, 0};
    rg_vec3 t = rg_add_scaled(axis, -rg_dot(axis, normal), normal);
    *tangent1 = rg_scale(1 / rg_length(t), t);
    *tangent2 = rg_cross(normal, *tangent1);
}

/* One row of a Jacobian: n.v + (r x n).w, times the sign of the side. */
static inline void fill_row(bool planar, rg_vec3 direction, rg_vec3 arm, double sign, double *row) {
    rg_direction_jacobian(planar, sign, direction, rg_cross(arm, direction), row);
}

static inline void fill_side(const rg_world_content *c, const rg_contact_row *row, uint32_t body,
                             double sign, double *out) {
    rg_vec3 arm = rg_sub(row->position, c->position[body]);
    size_t n = c->planar ? 3 : 6;
    fill_row(c->planar, row->normal, arm, sign, out);
    fill_row(c->planar, row->tangent1, arm, sign, out + n);
    if (!c->planar)
        fill_row(false, row->tangent2, arm, sign, out + 2 * n);
}

/* Of known sizes: no call is needed. */
static inline void clear_side(bool planar, double *out) {
    if (planar)
        memset(out, 0, 2 * 3 * sizeof *out);
    else
        memset(out, 0, 3 * 6 * sizeof *out);
}

static void fill_jacobian(const rg_world_content *c, rg_row_set *set, size_t i) {
    const rg_contact_row *row = &set->rows[i];
    size_t size = (size_t)set->dimension * (size_t)set->freedom;
    double *out = set->jacobian + i * 2 * size;
    if (row->moves_a)
        fill_side(c, row, row->body_a, 1, out);
    else
        clear_side(c->planar, out);
    if (row->moves_b)
        fill_side(c, row, row->body_b, -1, out + size);
    else
        clear_side(c->planar, out + size);
}

typedef struct builder {
    const rg_world_content *content;
    const rg_collision_view *view;
    const uint8_t *without;
    const rg_row_motion *motion;
    rg_row_set *set;
    size_t *first; /* rows of the chunks of touches */
    _Atomic bool bounces, twists;
} builder;

static bool has_rows(const builder *b, size_t t) {
    return !b->view->touches[t].sensor && !(b->without && b->without[t]);
}

static size_t points_of(const builder *b, size_t t) {
    const rg_touch *touch = &b->view->touches[t];
    size_t count = 0;
    for (uint32_t m = 0; has_rows(b, t) && m < touch->manifold_count; m++)
        count += b->view->manifolds[touch->first_manifold + m].point_count;
    return count;
}

/* How many rows a chunk has, and which laws there are. */
static void count_points(void *user, size_t begin, size_t end, size_t chunk) {
    builder *b = user;
    size_t count = 0;
    bool bounces = false, twists = false;
    for (size_t t = begin; t < end; t++) {
        const rg_touch *touch = &b->view->touches[t];
        count += points_of(b, t);
        bounces |= touch->law.restitution > 0;
        twists |= touch->law.rolling_friction > 0 || touch->law.torsional_friction > 0;
    }
    b->first[chunk] = count;
    if (bounces)
        b->bounces = true;
    if (twists)
        b->twists = true;
}

/* From counts to first rows; how many there are in all. */
static size_t add_counts(size_t *first, size_t chunks) {
    size_t sum = 0;
    for (size_t i = 0; i < chunks; i++) {
        size_t count = first[i];
        first[i] = sum;
        sum += count;
    }
    return sum;
}

static rg_vec3 surface_velocity(const builder *b, uint32_t body, bool moves, rg_vec3 point) {
    if (moves || !b->motion->displacement || !b->content->record[body].prescription1)
        return (rg_vec3){0, 0, 0};
    return rg_scale(1 / b->motion->step, b->motion->displacement(b->motion->user, body, point));
}

static const rg_collider *collider_of(const rg_world_content *c, rg_collider_id id) {
    return &c->collider[rg_handle_index(&c->colliders, RG_HANDLE(id))];
}

/* Of surfaces that run along their bodies, A's less B's, across the normal. */
static rg_vec3 belt_velocity(const rg_world_content *c, const rg_touch *touch, const rg_collider *b,
                             const rg_collider *a, rg_vec3 normal) {
    rg_vec3 sum = {0, 0, 0};
    if (rg_is_zero(a->surface_velocity) && rg_is_zero(b->surface_velocity))
        return sum;
    sum = rg_sub(rg_rotate(rg_body_origin_pose(c, rg_body_dense(c, touch->body_a)).orientation,
                           a->surface_velocity),
                 rg_rotate(rg_body_origin_pose(c, rg_body_dense(c, touch->body_b)).orientation,
                           b->surface_velocity));
    return rg_add_scaled(sum, -rg_dot(sum, normal), normal);
}

/* Rows of a manifold, from row number `at`. */
static void add_manifold(const builder *b, size_t t, size_t m, size_t at) {
    const rg_world_content *c = b->content;
    const rg_touch *touch = &b->view->touches[t];
    const rg_manifold *manifold = &b->view->manifolds[m];
    uint32_t body_a = (uint32_t)rg_body_dense(c, touch->body_a);
    uint32_t body_b = (uint32_t)rg_body_dense(c, touch->body_b);
    bool moves_a = c->dynamics[body_a].inverse_mass > 0;
    bool moves_b = c->dynamics[body_b].inverse_mass > 0;
    rg_vec3 tangent1, tangent2;
    rg_contact_tangents(manifold->normal, c->planar, &tangent1, &tangent2);
    const rg_collider *b_side = collider_of(c, touch->collider_b),
                      *a_side = collider_of(c, touch->collider_a);
    double share = rg_contact_share(b_side->shape, a_side->shape);
    rg_vec3 belt = belt_velocity(c, touch, b_side, a_side, manifold->normal);
    for (uint32_t p = 0; p < manifold->point_count; p++) {
        const rg_contact_point *point = &b->view->points[manifold->first_point + p];
        rg_contact_row *row = &b->set->rows[at];
        rg_vec3 position = rg_contact_place(point, share);
        /* Field by field: as a whole it would be made elsewhere and copied. */
        row->touch = (uint32_t)t, row->manifold = (uint32_t)m;
        row->point = manifold->first_point + p;
        row->body_a = body_a, row->body_b = body_b;
        row->moves_a = moves_a, row->moves_b = moves_b;
        row->normal = manifold->normal;
        row->tangent1 = tangent1, row->tangent2 = tangent2;
        row->position = position;
        row->gap = point->gap;
        row->law = touch->law;
        row->surface = rg_sub(surface_velocity(b, body_a, moves_a, position),
                              surface_velocity(b, body_b, moves_b, position));
        row->surface = rg_add(row->surface, belt);
        b->set->links[at] = (rg_row_link){
            {moves_a ? body_a : RG_NO_BLOCK, moves_b ? body_b : RG_NO_BLOCK}, (uint32_t)t};
        fill_jacobian(c, b->set, at++);
    }
}

static void add_touches(void *user, size_t begin, size_t end, size_t chunk) {
    const builder *b = user;
    size_t at = b->first[chunk];
    for (size_t t = begin; t < end; t++) {
        const rg_touch *touch = &b->view->touches[t];
        for (uint32_t m = 0; has_rows(b, t) && m < touch->manifold_count; m++) {
            add_manifold(b, t, touch->first_manifold + m, at);
            at += b->view->manifolds[touch->first_manifold + m].point_count;
        }
    }
}

rg_status rg_rows_build(const rg_world *world, const rg_collision_view *view, double step,
                        rg_displacement_function *displacement, const void *user, rg_arena *arena,
                        rg_row_set *set) {
    return rg_rows_build_some(world, view, NULL, &(rg_row_motion){step, displacement, user}, arena,
                              set);
}

rg_status rg_rows_build_some(const rg_world *world, const rg_collision_view *view,
                             const uint8_t *without, const rg_row_motion *motion, rg_arena *arena,
                             rg_row_set *set) {
    const rg_world_content *content = &world->content;
    *set = (rg_row_set){.dimension = content->planar ? 2 : 3, .freedom = content->planar ? 3 : 6};
    size_t chunks = rg_chunk_count(view->touch_count, TOUCHES_PER_CHUNK);
    builder b = {content, view, without, motion, set, NULL, false, false};
    b.first = rg_arena_take(arena, chunks, sizeof *b.first);
    if (!b.first)
        return RG_OUT_OF_MEMORY;
    rg_parallel_for(world->pool, view->touch_count, TOUCHES_PER_CHUNK, count_points, &b);
    size_t count = add_counts(b.first, chunks);
    if (count == 0)
        return RG_OK;
    set->rows = rg_arena_take(arena, count, sizeof *set->rows);
    set->links = rg_arena_take(arena, count, sizeof *set->links);
    set->jacobian = rg_arena_take(arena, count * 2 * (size_t)set->dimension * (size_t)set->freedom,
                                  sizeof *set->jacobian);
    if (!set->rows || !set->links || !set->jacobian)
        return RG_OUT_OF_MEMORY;
    rg_parallel_for(rg_world_motion_pool(world), view->touch_count, TOUCHES_PER_CHUNK, add_touches,
                    &b);
    set->count = count;
    set->bounces = b.bounces, set->twists = b.twists;
    return RG_OK;
}

void rg_rows_keep(rg_row_set *set, const uint8_t *keep) {
    size_t size = 2 * (size_t)set->dimension * (size_t)set->freedom, kept = 0;
    for (size_t i = 0; i < set->count; i++) {
        const rg_contact_row *row = &set->rows[i];
        if (!keep[i])
            continue;
        if (kept < i) {
            set->rows[kept] = *row;
            set->links[kept] = set->links[i];
            memcpy(set->jacobian + kept * size, set->jacobian + i * size,
                   size * sizeof *set->jacobian);
        }
        kept++;
    }
    set->count = kept;
}
