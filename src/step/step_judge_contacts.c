/* The judge of contacts: what they did to the energy, and whether the bodies overlap now.
 *
 * Work. An impulse P changes kinetic energy by P times the mean of the velocities before and after
 * of the point where it acts, exactly, as long as the body does not turn meanwhile. So the
 * velocities after are taken at the orientation of the beginning: angular momentum of the end,
 * inertia of the beginning. The turning itself brings nothing (no torque acts then), or it shows in
 * the closure. The formulas are the judge's own: inertia tensors in the origin frame as the user
 * gave them, prescribed motion from the poses of the bodies and not from the rows that the solver
 * saw.
 *
 * Gaps. Pairs are found by sorting bounds along x, apart from the broad phase, and measured by the
 * ratio metric's gap, a lower bound of the signed distance. Tested by tests/step/test_judge.c. */
#include "base/base_sort.h"
#include "rigor/contact_force.h"
#include "rigor/proximity.h"
#include "step/step_judge.h"

#include <string.h>

/* Pairs nearer than this share of the smaller circumradius are looked at. */
#define NEAR_SHARE 1e-2

rg_status rg_judge_remember(const rg_world_content *content, rg_arena *arena,
                            rg_judge_memory *memory) {
    size_t n = content->bodies.count;
    rg_vec3 *position = rg_arena_take(arena, n, sizeof *position);
    rg_vec3 *velocity = rg_arena_take(arena, n, sizeof *velocity);
    rg_vec3 *angular_velocity = rg_arena_take(arena, n, sizeof *angular_velocity);
    rg_pose *origin = rg_arena_take(arena, n, sizeof *origin);
    if (!position || !velocity || !angular_velocity || !origin)
        return RG_OUT_OF_MEMORY;
    for (size_t i = 0; i < n; i++) {
        position[i] = content->position[i];
        velocity[i] = content->velocity[i];
        angular_velocity[i] = content->angular_velocity[i];
        origin[i] = rg_body_origin_pose(content, i);
    }
    *memory = (rg_judge_memory){rg_judge_look(content), content->time, position, velocity,
                                angular_velocity,       origin};
    return RG_OK;
}

/* --- work ------------------------------------------------------------------------------------- */

/* Angular velocity that the body would have after the impulses, had it not turned. */
static rg_vec3 spin_before_turning(const rg_world_content *c, const rg_judge_memory *before,
                                   size_t i) {
    const rg_mat3 *inertia = &c->record[i].mass.inertia;
    rg_vec3 w = c->angular_velocity[i];
    if (c->planar)
        return w; /* turning changes nothing */
    rg_quat now = rg_body_origin_pose(c, i).orientation, then = before->origin[i].orientation;
    rg_vec3 momentum = rg_rotate(now, rg_mat3_apply(inertia, rg_rotate_back(now, w)));
    rg_mat3 inverse = rg_judge_inverse(inertia);
    return rg_rotate(then, rg_mat3_apply(&inverse, rg_rotate_back(then, momentum)));
}

typedef struct side_motion {
    bool dynamic;
    rg_vec3 before, after; /* m/s of the material at the contact point; the same if prescribed */
} side_motion;

static side_motion motion_at(const rg_world_content *c, const rg_judge_memory *before, double step,
                             size_t i, rg_vec3 p) {
    side_motion m = {.dynamic = c->record[i].motion == RG_MOTION_DYNAMIC};
    if (m.dynamic) {
        rg_vec3 arm = rg_sub(p, before->position[i]);
        m.before = rg_add(before->velocity[i], rg_cross(before->angular_velocity[i], arm));
        m.after = rg_add(c->velocity[i], rg_cross(spin_before_turning(c, before, i), arm));
    } else if (c->record[i].prescription1) {
        rg_vec3 local = rg_pose_apply_inverse(before->origin[i], p);
        rg_vec3 there = rg_pose_apply(rg_body_origin_pose(c, i), local);
        m.before = m.after = rg_scale(1 / step, rg_sub(there, p));
    }
    return m;
}

static void account(const rg_world_content *c, const rg_judge_memory *before, double step,
                    const rg_contact_force *f, rg_judge_contacts *sum) {
    size_t i = rg_body_dense(c, f->body_a), j = rg_body_dense(c, f->body_b);
    side_motion a = motion_at(c, before, step, i, f->position);
    side_motion b = motion_at(c, before, step, j, f->position);
    rg_vec3 mean = rg_scale(0.5, rg_sub(rg_add(a.before, a.after), rg_add(b.before, b.after)));
    double normal = rg_dot(f->impulse, f->normal) * rg_dot(mean, f->normal);
    double all = rg_dot(f->impulse, mean);
    sum->friction += all - normal;
    if (normal > 0)
        sum->stabilisation += normal;
    else
        sum->impact += normal;
    if (!a.dynamic) /* what moves by itself pushes back on nothing that we count */
        sum->prescribed -= rg_dot(f->impulse, a.before);
    if (!b.dynamic)
        sum->prescribed += rg_dot(f->impulse, b.before);
    if (a.dynamic == b.dynamic)
        return;
    rg_vec3 given = a.dynamic ? f->impulse : rg_neg(f->impulse);
    sum->impulse = rg_add(sum->impulse, given);
    sum->angular_impulse = rg_add(sum->angular_impulse, rg_cross(f->position, given));
}

rg_judge_contacts rg_judge_contact_work(const rg_world *world, const rg_judge_memory *before,
                                        double step, const uint8_t *whose) {
    const rg_world_content *c = &world->content;
    rg_judge_contacts sum = {0};
    size_t count;
    const rg_contact_force *forces = rg_world_contact_forces(world, &count);
    for (size_t i = 0; i < count; i++)
        if (!whose || whose[rg_body_dense(c, forces[i].body_a)] ||
            whose[rg_body_dense(c, forces[i].body_b)])
            account(c, before, step, &forces[i], &sum);
    for (size_t i = 0; i < c->bodies.count; i++) {
        if (c->record[i].motion != RG_MOTION_DYNAMIC)
            continue;
        rg_vec3 mean = rg_scale(0.5 * step, rg_add(before->velocity[i], c->velocity[i]));
        rg_vec3 off = rg_sub(mean, rg_sub(c->position[i], before->position[i]));
        double mass = c->record[i].mass.mass, scale = c->dynamics[i].gravity_scale;
        if (!whose || whose[i])
            sum.integration += mass * scale * rg_dot(c->gravity, off);
        double speed = step * fabs(scale) * rg_length(c->gravity);
        sum.stake += 0.5 * mass * speed * speed;
        sum.momentum_stake += mass * speed;
        sum.angular_stake += mass * speed * rg_length(before->position[i]);
    }
    return sum;
}

/* --- gaps ------------------------------------------------------------------------------------- */

/* A convex part of a collider, at its place. */
typedef struct judged_part {
    const rg_shape *shape;
    rg_pose pose;
    rg_bounds bounds;
    uint32_t body;
    bool dynamic;
    uint64_t category, mask;
} judged_part;

static size_t part_count(const rg_shape *shape) {
    return rg_shape_is_convex(shape) ? 1 : rg_shape_get_def(shape).part_count;
}

static void add_parts(const rg_world_content *c, const rg_collider *collider, judged_part *parts,
                      size_t *count) {
    size_t body = rg_body_dense(c, collider->body);
    rg_pose pose = rg_pose_compose(rg_body_origin_pose(c, body), collider->pose);
    rg_shape_def def = rg_shape_get_def(collider->shape);
    bool convex = rg_shape_is_convex(collider->shape);
    for (size_t k = 0; k < part_count(collider->shape); k++) {
        judged_part *part = &parts[(*count)++];
        *part = (judged_part){.shape = convex ? collider->shape : def.parts[k].shape,
                              .pose = convex ? pose : rg_pose_compose(pose, def.parts[k].pose),
                              .body = (uint32_t)body,
                              .dynamic = c->record[body].motion == RG_MOTION_DYNAMIC,
                              .category = collider->category,
                              .mask = collider->mask};
        part->bounds = rg_shape_bounds(part->shape, part->pose);
        double radius = rg_shape_circumradius(part->shape);
        double margin = isfinite(radius) ? NEAR_SHARE * radius : 0;
        rg_vec3 grow = {margin, margin, margin};
        part->bounds.lower = rg_sub(part->bounds.lower, grow);
        part->bounds.upper = rg_add(part->bounds.upper, grow);
    }
}

/* Ties may come in any order: the smallest gap does not depend on it. */
static bool lower_x_before(const judged_part *const *a, const judged_part *const *b) {
    return (*a)->bounds.lower.x < (*b)->bounds.lower.x;
}

typedef const judged_part *judged_part_place;
RG_DEFINE_HEAP_SORT(sort_parts, judged_part_place, lower_x_before)

static bool may_meet(const judged_part *a, const judged_part *b) {
    const rg_bounds *x = &a->bounds, *y = &b->bounds;
    return a->body != b->body && (a->dynamic || b->dynamic) && (a->category & b->mask) != 0 &&
           (b->category & a->mask) != 0 && x->lower.x <= y->upper.x && y->lower.x <= x->upper.x &&
           x->lower.y <= y->upper.y && y->lower.y <= x->upper.y && x->lower.z <= y->upper.z &&
           y->lower.z <= x->upper.z;
}

rg_status rg_judge_gap(const rg_world_content *content, rg_arena *arena, double *gap) {
    size_t total = 0, count = 0;
    *gap = INFINITY;
    for (size_t i = 0; i < content->colliders.count; i++)
        total += content->collider[i].sensor ? 0 : part_count(content->collider[i].shape);
    judged_part *parts = rg_arena_take(arena, total, sizeof *parts);
    const judged_part **order = rg_arena_take(arena, total, sizeof *order);
    if (!parts || !order)
        return RG_OUT_OF_MEMORY;
    for (size_t i = 0; i < content->colliders.count; i++)
        if (!content->collider[i].sensor)
            add_parts(content, &content->collider[i], parts, &count);
    for (size_t i = 0; i < count; i++)
        order[i] = &parts[i];
    sort_parts(order, count);
    for (size_t i = 0; i < count; i++)
        for (size_t k = i + 1; k < count; k++) {
            const judged_part *a = order[i], *b = order[k];
            if (b->bounds.lower.x > a->bounds.upper.x)
                break;
            rg_growth growth;
            if (may_meet(a, b) &&
                rg_growth_between(a->shape, a->pose, b->shape, b->pose, NULL, &growth) == RG_OK)
                *gap = fmin(*gap, growth.gap);
        }
    return RG_OK;
}
