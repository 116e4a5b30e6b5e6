/* Which bodies may meet during a step of the world: bodies fall into groups that cannot reach each
 * other before its end. Each group is integrated by itself, with its own steps and its own
 * events: what happens in one corner costs nothing in another, and what rests is left to rest.
 *
 * Every body has a reach: how far any of its points can get, from its speed and the largest
 * acceleration of anything, with a margin. Bodies of a group can hand their speed on, so all of
 * them have the reach of the fastest; groups grow until that changes nothing. That is a guess,
 * as contacts may accelerate more: how far bodies travel is added up while they do, and a step
 * in which one left its reach is made again with longer ones (rg_analysis_run says so).
 *
 * Tested by tests/step/test_mixed.c. */
#include "base/base_sets.h"
#include "step/step_analytic.h"

#include <float.h>
#include <string.h>

static void make_extents(rg_analysis *a) {
    memset(a->travel, 0, a->flight.body_count * sizeof *a->travel);
    for (size_t i = 0; i < a->view->part_count; i++) {
        const rg_convex_part *p = &a->view->parts[i];
        if (!p->dynamic)
            continue;
        rg_analysis_travel *t = &a->travel[rg_analysis_place(a, p->body)];
        t->extent = fmax(t->extent, rg_length(p->middle) + p->radius);
    }
}

static rg_bounds grown(rg_bounds bounds, double by) {
    rg_vec3 grow = {by, by, by};
    return (rg_bounds){rg_sub(bounds.lower, grow), rg_add(bounds.upper, grow)};
}

static void reach_bounds(rg_analysis *a, const double *reach) {
    const rg_world_content *c = &a->view->world->content;
    for (size_t i = 0; i < a->view->part_count; i++) {
        const rg_convex_part *p = &a->view->parts[i];
        bool prescribed = c->record[p->body].prescription1 != 0;
        rg_bounds now =
            rg_shape_bounds(p->shape, rg_analysis_part_pose(a, &a->motion, (uint32_t)i));
        double margin =
            RG_ANALYSIS_ROUNDING * DBL_EPSILON * rg_largest_entry(a->motion.position[p->body]);
        if (isfinite(p->radius))
            margin += 4 * RG_ANALYSIS_SHELL * p->radius;
        if (prescribed && !isfinite(p->radius)) {
            now = (rg_bounds){{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, INFINITY}};
        } else if (prescribed) {
            now = rg_analysis_prescribed_bounds(a, p->body, a->view->begin,
                                                a->view->end - a->view->begin);
            margin += rg_length(p->middle) + p->radius;
        } else if (p->dynamic) {
            margin += reach[rg_analysis_place(a, p->body)];
        }
        a->bounds[i] = grown(now, margin);
    }
}

/* Bounds of all parts, and of the terrain within reach; `v` null: of the parts there are. */
static rg_status find_terrain(rg_analysis *a, rg_analysis_view *v, const double *reach) {
    if (!v) {
        reach_bounds(a, reach);
        return RG_OK;
    }
    v->parts = v->own;
    v->part_count = v->own_count;
    reach_bounds(a, reach);
    if (!v->terrain)
        return RG_OK;
    rg_status status =
        rg_convex_add_terrain(&v->world->content, a->bounds, a->arena, &v->parts, &v->part_count);
    a->bounds = status ? NULL : rg_arena_take(a->arena, v->part_count, sizeof *a->bounds);
    if (!a->bounds)
        return RG_OUT_OF_MEMORY;
    reach_bounds(a, reach);
    return RG_OK;
}

/* Joins what may meet; returns whether any two were not joined before. */
static bool join(const rg_analysis *a, const rg_broad_pairs *found, uint32_t *parent) {
    bool any = false;
    for (size_t i = 0; i < found->count; i++) {
        const rg_convex_part *p = &a->view->parts[found->pairs[i].a],
                             *q = &a->view->parts[found->pairs[i].b];
        if (!p->dynamic || !q->dynamic)
            continue;
        uint32_t x = rg_sets_root(parent, (uint32_t)rg_analysis_place(a, p->body));
        uint32_t y = rg_sets_root(parent, (uint32_t)rg_analysis_place(a, q->body));
        if (x == y)
            continue;
        any = true;
        rg_sets_join(parent, x, y);
    }
    return any;
}

size_t rg_analysis_joined_bodies(const rg_analysis *a, size_t joint, uint32_t bodies[2]) {
    const rg_world_content *c = &a->view->world->content;
    const rg_joint_def *def = &c->joint[joint].def;
    rg_body_id ids[2] = {def->body_a, def->body_b};
    size_t count = 0;
    for (int side = 0; side < 2 && rg_joint_memories(c)[joint].broken == 0; side++) {
        size_t body = ids[side].index1 ? rg_body_dense(c, ids[side]) : SIZE_MAX;
        if (body != SIZE_MAX && c->dynamics[body].inverse_mass > 0)
            bodies[count++] = (uint32_t)body;
    }
    return count;
}

/* All of a group have the reach of the one that has most. */
static void share_reach(const rg_analysis *a, uint32_t *parent, double *reach) {
    size_t n = a->flight.body_count;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t root = rg_sets_root(parent, k);
        reach[root] = fmax(reach[root], reach[k]);
    }
    for (uint32_t k = 0; k < n; k++)
        reach[k] = reach[rg_sets_root(parent, k)];
}

static uint32_t group_of_pair(const rg_analysis *a, const rg_analysis_groups *g,
                              const rg_broad_pair *pair) {
    const rg_convex_part *p = &a->view->parts[pair->a];
    const rg_convex_part *dynamic = p->dynamic ? p : &a->view->parts[pair->b];
    return g->label[rg_analysis_place(a, dynamic->body)];
}

/* By group, and within one in the order of parts, as they are found. */
static rg_status sort_pairs(rg_analysis *a, const rg_broad_pairs *found, rg_analysis_groups *g) {
    g->pair_end = rg_arena_take(a->arena, g->count + 1, sizeof *g->pair_end);
    g->pairs = rg_arena_take(a->arena, found->count, sizeof *g->pairs);
    if (!g->pair_end || !g->pairs)
        return RG_OUT_OF_MEMORY;
    memset(g->pair_end, 0, (g->count + 1) * sizeof *g->pair_end);
    for (size_t i = 0; i < found->count; i++)
        g->pair_end[group_of_pair(a, g, &found->pairs[i])]++;
    for (size_t k = 0, begin = 0; k <= g->count; k++) { /* where each begins, then ends */
        size_t own = g->pair_end[k];
        g->pair_end[k] = begin;
        begin += own;
    }
    for (size_t i = 0; i < found->count; i++) {
        uint32_t *pair = g->pairs[g->pair_end[group_of_pair(a, g, &found->pairs[i])]++];
        pair[0] = found->pairs[i].a, pair[1] = found->pairs[i].b;
    }
    return RG_OK;
}

/* Groups in the order of their first bodies; bodies that meet none are the last one, together. */
static rg_status number_groups(rg_analysis *a, const rg_broad_pairs *found, uint32_t *parent,
                               rg_analysis_groups *g) {
    size_t n = a->flight.body_count;
    rg_arena_mark mark = rg_arena_get_mark(a->arena);
    uint8_t *meets = rg_arena_take(a->arena, n, sizeof *meets);
    uint32_t *number = rg_arena_take(a->arena, n, sizeof *number);
    if (!meets || !number)
        return RG_OUT_OF_MEMORY;
    memset(meets, 0, n);
    for (size_t i = 0; i < found->count; i++)
        for (int side = 0; side < 2; side++) {
            const rg_convex_part *p = &a->view->parts[side ? found->pairs[i].b : found->pairs[i].a];
            if (p->dynamic)
                meets[rg_sets_root(parent, (uint32_t)rg_analysis_place(a, p->body))] = 1;
        }
    uint32_t bodies[2];
    for (size_t j = 0; j < a->view->world->content.joints.count; j++)
        if (rg_analysis_joined_bodies(a, j, bodies))
            meets[rg_sets_root(parent, a->place[bodies[0]])] = 1;
    g->count = 0;
    for (uint32_t k = 0; k < n; k++)
        if (rg_sets_root(parent, k) == k && meets[k])
            number[k] = (uint32_t)g->count++;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t root = rg_sets_root(parent, k);
        g->label[k] = meets[root] ? number[root] : (uint32_t)g->count;
    }
    rg_arena_return(a->arena, mark);
    return sort_pairs(a, found, g);
}

rg_status rg_analysis_make_groups(rg_analysis *a, rg_analysis_view *view, double farther,
                                  rg_analysis_groups *g) {
    size_t n = a->flight.body_count;
    double length = a->view->end - a->view->begin;
    *g = (rg_analysis_groups){.farther = farther,
                              .label = rg_arena_take(a->arena, n, sizeof *g->label),
                              .reach = rg_arena_take(a->arena, n, sizeof *g->reach)};
    uint32_t *parent = rg_arena_take(a->arena, n, sizeof *parent);
    if (!g->label || !g->reach || !parent)
        return RG_OUT_OF_MEMORY;
    const rg_world_content *c = &a->view->world->content;
    make_extents(a);
    for (size_t k = 0; k < n; k++) {
        parent[k] = (uint32_t)k;
        double speed = rg_analysis_point_speed(a, k, c->velocity, c->angular_velocity);
        g->reach[k] = farther * length * (speed + length * a->view->acceleration);
        if (a->least)
            g->reach[k] = fmax(g->reach[k], a->least[k]);
    }
    /* Springs and the like join bodies over any distance. */
    for (size_t k = 1; a->flight.forced && k < n; k++)
        parent[k] = 0;
    uint32_t bodies[2];
    for (size_t j = 0; j < c->joints.count; j++)
        if (rg_analysis_joined_bodies(a, j, bodies) == 2)
            rg_sets_join(parent, a->place[bodies[0]], a->place[bodies[1]]);
    rg_status status = RG_OK;
    rg_broad_pairs found;
    do {
        share_reach(a, parent, g->reach);
        status = find_terrain(a, view, g->reach);
        if (!status)
            status = rg_collision_meet_parts(a->view->machinery->collision, c, a->view->parts,
                                             a->bounds, a->view->part_count, a->arena, &found);
    } while (!status && join(a, &found, parent));
    return status ? status : number_groups(a, &found, parent, g);
}
