/* Which pairs of a group may meet during a step of its integrator, and which contacts there are
 * at an instant.
 *
 * Boxes around paths come from the polynomial of the step itself (its Bernstein coefficients
 * bound it), so that no speed has to be guessed: a pair whose boxes stay apart cannot meet.
 * (Prescribed motions are looked at in samples, with a margin: one that swings many times within
 * a step may be missed.)
 *
 * Tested by tests/step/test_events.c. */
#include "base/base_text.h"
#include "contact/contact.h"
#include "problem/problem_rows.h"
#include "step/step_analytic.h"

#include <float.h>
#include <string.h>

/* --- parts ------------------------------------------------------------------------------------ */

static size_t parts_of(const rg_shape *shape) {
    return rg_shape_is_convex(shape) ? 1 : rg_shape_get_def(shape).part_count;
}

rg_status rg_analysis_make_parts(rg_analysis *a, rg_analysis_view *view) {
    const rg_world_content *c = &view->world->content;
    size_t total = 0;
    for (size_t i = 0; i < c->colliders.count; i++)
        total += c->collider[i].sensor ? 0 : parts_of(c->collider[i].shape);
    view->parts = rg_arena_take(a->arena, total, sizeof *view->parts);
    a->bounds = rg_arena_take(a->arena, total, sizeof *a->bounds);
    a->order = rg_arena_take(a->arena, total, sizeof *a->order);
    if (!view->parts || !a->bounds || !a->order)
        return RG_OUT_OF_MEMORY;
    for (size_t i = 0; i < total; i++)
        a->order[i] = (uint32_t)i;
    view->part_count = 0;
    for (size_t i = 0; i < c->colliders.count; i++) {
        const rg_collider *collider = &c->collider[i];
        if (collider->sensor)
            continue;
        size_t body = rg_body_dense(c, collider->body);
        bool convex = rg_shape_is_convex(collider->shape);
        rg_shape_def def = rg_shape_get_def(collider->shape);
        rg_pose to_centre = rg_pose_inverse(c->record[body].local_centre);
        rg_pose pose = rg_pose_compose(to_centre, collider->pose);
        for (size_t k = 0; k < parts_of(collider->shape); k++) {
            rg_analysis_part *p = &view->parts[view->part_count++];
            rg_handle handle = rg_handle_at(&c->colliders, i);
            *p = (rg_analysis_part){.shape = convex ? collider->shape : def.parts[k].shape,
                                    .collider = {handle.index1, handle.generation},
                                    .material = collider->material,
                                    .index = (uint32_t)k,
                                    .body = (uint32_t)body,
                                    .local =
                                        convex ? pose : rg_pose_compose(pose, def.parts[k].pose),
                                    .dynamic = c->dynamics[body].inverse_mass > 0,
                                    .category = collider->category,
                                    .mask = collider->mask};
            p->radius = rg_shape_circumradius(p->shape);
            p->middle = rg_pose_apply(p->local, rg_shape_centre(p->shape));
        }
    }
    return RG_OK;
}

double rg_analysis_pair_size(const rg_analysis *a, uint32_t p, uint32_t q) {
    return fmin(a->view->parts[p].radius, a->view->parts[q].radius);
}

double rg_analysis_shell(const rg_analysis *a, uint32_t p, uint32_t q) {
    double far = fmax(rg_largest_entry(a->motion.position[a->view->parts[p].body]),
                      rg_largest_entry(a->motion.position[a->view->parts[q].body]));
    return fmax(RG_ANALYSIS_SHELL * rg_analysis_pair_size(a, p, q),
                RG_ANALYSIS_ROUNDING * DBL_EPSILON * far);
}

/* --- boxes around paths ----------------------------------------------------------------------- */

static rg_bounds path_bounds(const rg_analysis *a, const rg_dense_output *dense, size_t k) {
    bool planar = a->view->world->content.planar;
    rg_bounds bounds = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    double b[3][RG_DENSE_DEGREE_MAX + 1] = {{0}};
    rg_dense_bernstein(dense, k * a->flight.width, b[0]);
    rg_dense_bernstein(dense, k * a->flight.width + 1, b[planar ? 2 : 1]);
    if (!planar)
        rg_dense_bernstein(dense, k * a->flight.width + 2, b[2]);
    for (int i = 0; i <= dense->degree; i++) {
        rg_vec3 p = {b[0][i], b[1][i], b[2][i]};
        bounds.lower = rg_min(bounds.lower, p);
        bounds.upper = rg_max(bounds.upper, p);
    }
    return bounds;
}

/* Kinematic bodies: ends and middles; swings are bounded by what lies between by half as much
 * again. */
rg_bounds rg_analysis_prescribed_bounds(const rg_analysis *a, size_t body, double begin,
                                        double length) {
    rg_bounds bounds = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    enum { LOOKS = 8 };
    for (int i = 0; i <= LOOKS; i++) {
        rg_motion_state s =
            rg_prescription_evaluate(&a->view->world->content, body, begin + length * i / LOOKS);
        bounds.lower = rg_min(bounds.lower, s.position);
        bounds.upper = rg_max(bounds.upper, s.position);
    }
    rg_vec3 margin = rg_scale(0.5, rg_sub(bounds.upper, bounds.lower));
    return (rg_bounds){rg_sub(bounds.lower, margin), rg_add(bounds.upper, margin)};
}

/* Bounds of the group's parts: around their bodies' paths, or of the instant. */
static void make_bounds(rg_analysis *a, const rg_dense_output *dense) {
    const rg_world_content *c = &a->view->world->content;
    for (size_t k = 0; k < a->mine_count; k++) {
        uint32_t i = a->mine[k];
        const rg_analysis_part *p = &a->view->parts[i];
        if (!isfinite(p->radius)) {
            a->bounds[i] = rg_shape_bounds(p->shape, rg_analysis_part_pose(a, &a->motion, i));
            if (c->record[p->body].prescription1 || p->dynamic)
                a->bounds[i] =
                    (rg_bounds){{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, INFINITY}};
            continue;
        }
        bool prescribed = c->record[p->body].prescription1 != 0;
        if (!dense || !(p->dynamic || prescribed)) {
            a->bounds[i] = rg_shape_bounds(p->shape, rg_analysis_part_pose(a, &a->motion, i));
            double margin =
                2 * a->law->near * RG_ANALYSIS_SHELL * p->radius +
                RG_ANALYSIS_ROUNDING * DBL_EPSILON * rg_largest_entry(a->motion.position[p->body]);
            rg_vec3 grow = {margin, margin, margin};
            a->bounds[i].lower = rg_sub(a->bounds[i].lower, grow);
            a->bounds[i].upper = rg_add(a->bounds[i].upper, grow);
            continue;
        }
        rg_bounds path;
        if (prescribed) {
            path = rg_analysis_prescribed_bounds(a, p->body, dense->begin, dense->step);
        } else {
            path = path_bounds(a, dense, rg_analysis_place(a, p->body));
        }
        double reach = (rg_length(p->middle) + p->radius) * (1 + 8 * RG_ANALYSIS_SHELL);
        rg_vec3 grow = {reach, reach, reach};
        a->bounds[i] = (rg_bounds){rg_sub(path.lower, grow), rg_add(path.upper, grow)};
    }
}

bool rg_analysis_boxes_meet(const rg_analysis *a, uint32_t i, uint32_t j) {
    const rg_bounds *x = &a->bounds[i], *y = &a->bounds[j];
    return x->lower.y <= y->upper.y && y->lower.y <= x->upper.y && x->lower.z <= y->upper.z &&
           y->lower.z <= x->upper.z && x->lower.x <= y->upper.x && y->lower.x <= x->upper.x;
}

void rg_analysis_find_pairs(rg_analysis *a, const rg_dense_output *dense) {
    make_bounds(a, dense);
    a->pair_count = 0;
    for (size_t i = 0; i < a->candidate_count; i++)
        if (rg_analysis_boxes_meet(a, a->candidates[i][0], a->candidates[i][1]))
            memcpy(a->pairs[a->pair_count++], a->candidates[i], sizeof *a->pairs);
}

/* --- contacts of now -------------------------------------------------------------------------- */

enum { POINTS_MOST = 256 };

static rg_status room_for(rg_analysis *a, size_t count) {
    if (count <= a->contact_capacity)
        return RG_OK;
    size_t capacity = 2 * count > 64 ? 2 * count : 64;
    rg_analysis_contact *contacts = rg_arena_take(a->arena, capacity, sizeof *contacts);
    rg_analysis_contact *spare = rg_arena_take(a->arena, capacity, sizeof *spare);
    a->start.force = rg_arena_take(a->arena, capacity, sizeof *a->start.force);
    a->start.active = rg_arena_take(a->arena, capacity, sizeof *a->start.active);
    a->start.gap = rg_arena_take(a->arena, capacity, sizeof *a->start.gap);
    a->start.slip = rg_arena_take(a->arena, capacity, sizeof *a->start.slip);
    if (!contacts || !spare || !a->start.force || !a->start.active || !a->start.gap ||
        !a->start.slip)
        return RG_OUT_OF_MEMORY;
    if (a->contact_capacity) {
        memcpy(contacts, a->contacts, a->contact_capacity * sizeof *contacts);
        memcpy(spare, a->spare, a->contact_capacity * sizeof *spare);
    }
    a->contacts = contacts;
    a->spare = spare;
    a->contact_capacity = capacity;
    return RG_OK;
}

static const rg_analysis_contact *known(const rg_analysis_contact *old, size_t count,
                                        const rg_analysis_contact *c) {
    for (size_t i = 0; i < count; i++)
        if (old[i].part_b == c->part_b && old[i].part_a == c->part_a && old[i].id == c->id)
            return &old[i];
    return NULL;
}

static bool touched(const rg_analysis_contact *old, size_t count, uint32_t part_b,
                    uint32_t part_a) {
    for (size_t i = 0; i < count; i++)
        if (old[i].part_b == part_b && old[i].part_a == part_a)
            return true;
    return false;
}

/* Speeds below which an approach is none: see the thresholds. */
static double still_speed(const rg_analysis *a, double shell) {
    return fmax(RG_ANALYSIS_STILL * sqrt(2 * a->view->acceleration * shell),
                RG_ANALYSIS_SPEED * a->view->speed);
}

/* A contact of the last step of the world begins with the force that it had at its end. */
static void warm_start(const rg_analysis *a, rg_analysis_contact *c) {
    if (a->time > a->view->begin)
        return;
    const rg_memory_block *block = &a->view->world->content.memory[RG_MEMORY_FORCES];
    const rg_contact_force *forces = block->data;
    const rg_analysis_part *b = &a->view->parts[c->part_b], *other = &a->view->parts[c->part_a];
    for (size_t i = 0; i < block->size / sizeof *forces; i++) {
        const rg_contact_force *f = &forces[i];
        if (f->id != c->id || f->collider_b.index1 != b->collider.index1 ||
            f->collider_b.generation != b->collider.generation ||
            f->collider_a.index1 != other->collider.index1 ||
            f->collider_a.generation != other->collider.generation || f->part_b != b->index ||
            f->part_a != other->index)
            continue;
        rg_contact_tangents(c->motion.normal, a->view->world->content.planar, &c->basis[0],
                            &c->basis[1]);
        c->last = f->force;
        c->force[0] = rg_dot(f->force, c->motion.normal);
        c->force[1] = rg_dot(f->force, c->basis[0]);
        c->force[2] = rg_dot(f->force, c->basis[1]);
        return;
    }
}

/* Of materials, or what the material function of the world makes of it. */
static rg_contact_law law_of(const rg_analysis *a, uint32_t p, uint32_t q, double gap) {
    const rg_world_content *c = &a->view->world->content;
    bool swap = a->view->parts[p].collider.index1 > a->view->parts[q].collider.index1;
    const rg_analysis_part *b = &a->view->parts[swap ? q : p],
                           *other = &a->view->parts[swap ? p : q];
    rg_touch touch = {.collider_b = b->collider,
                      .collider_a = other->collider,
                      .body_b = rg_body_id_at(c, b->body),
                      .body_a = rg_body_id_at(c, other->body),
                      .touching = true,
                      .gap = gap};
    return rg_collision_law(a->view->machinery->collision, a->view->world, &touch);
}

static rg_status add_points(rg_analysis *a, uint32_t p, uint32_t q, const rg_growth *growth,
                            size_t old_count, size_t *count) {
    double size = rg_analysis_pair_size(a, p, q), shell = rg_analysis_shell(a, p, q);
    rg_pose pose_b = rg_analysis_part_pose(a, &a->motion, p);
    rg_pose pose_a = rg_analysis_part_pose(a, &a->motion, q);
    double near = a->law->near * shell;
    rg_contact_settings settings = {.near = 2 * near, .band = 2 * near, .inner = 2 * near};
    rg_contact_point points[POINTS_MOST];
    rg_manifold manifold;
    rg_contact_query query = {.one = {a->view->parts[p].shape, pose_b},
                              .two = {a->view->parts[q].shape, pose_a},
                              .settings = &settings,
                              .arena = a->arena,
                              .points = points,
                              .capacity = POINTS_MOST};
    rg_status status = rg_contact_of_growth(&query, growth, &manifold);
    if (!status)
        status = room_for(a, *count + manifold.point_count);
    if (status)
        return status;
    rg_contact_law law = law_of(a, p, q, growth->gap);
    for (uint32_t i = 0; i < manifold.point_count; i++) {
        if (points[i].gap > near)
            continue;
        rg_analysis_contact *c = &a->spare[*count];
        *c = (rg_analysis_contact){.part_b = p,
                                   .part_a = q,
                                   .body_b = a->view->parts[p].body,
                                   .body_a = a->view->parts[q].body,
                                   .id = points[i].id,
                                   .law = law,
                                   .size = size,
                                   .shell = shell,
                                   .still = still_speed(a, shell)};
        c->track = rg_contact_track_make(a->view->parts[p].shape, pose_b, a->view->parts[q].shape,
                                         pose_a, &manifold, &points[i]);
        c->track.planar = a->view->world->content.planar;
        rg_rigid_motion b = rg_analysis_rigid(a, &a->motion, p);
        rg_rigid_motion other = rg_analysis_rigid(a, &a->motion, q);
        c->motion = rg_contact_follow(&c->track, &b, &other);
        if (!c->motion.regular)
            continue;
        c->fresh = !touched(a->contacts, old_count, p, q);
        const rg_analysis_contact *old = known(a->contacts, old_count, c);
        if (old) {
            c->mode = old->mode;
            c->direction = old->direction;
            c->at_limit = old->at_limit;
            c->started = old->started;
            c->reference = old->reference;
            c->lightness = old->lightness;
            memcpy(c->force, old->force, sizeof c->force);
            memcpy(c->basis, old->basis, sizeof c->basis);
        } else {
            warm_start(a, c);
            double slip = rg_length(c->motion.slip);
            c->mode = slip > rg_analysis_creep(a, c) ? RG_ANALYSIS_SLIPS : RG_ANALYSIS_STICKS;
            if (c->mode == RG_ANALYSIS_SLIPS)
                c->direction = rg_scale(1 / slip, c->motion.slip);
        }
        (*count)++;
        if (c->fresh && rg_collision_mark(a->view->machinery->collision, a->view->parts[p].collider,
                                          a->view->parts[q].collider))
            return RG_OUT_OF_MEMORY;
    }
    return RG_OK;
}

const char *rg_analysis_body_name(const rg_analysis *a, uint32_t body) {
    const char *name = a->view->world->content.record[body].name;
    return name ? name : "(no name)";
}

static rg_status refuse_overlap(const rg_analysis *a, uint32_t p, uint32_t q, double gap,
                                rg_error *error) {
    return rg_fail(
        error, RG_INVALID_ARGUMENT,
        "at t = %.9g s \"%s\" and \"%s\" overlap by %.3g m: the analytic method needs "
        "bodies that do not; move them apart (`rigor check` lists all), or let the method "
        "stepping separate them",
        a->time, rg_analysis_body_name(a, a->view->parts[p].body),
        rg_analysis_body_name(a, a->view->parts[q].body), -gap);
}

rg_status rg_analysis_detect(rg_analysis *a, rg_error *error) {
    rg_status status = RG_OK;
    rg_analysis_find_pairs(a, NULL);
    size_t count = 0, old_count = a->contact_count;
    for (size_t i = 0; i < a->pair_count && !status; i++) {
        uint32_t p = a->pairs[i][0], q = a->pairs[i][1];
        rg_growth growth;
        status = rg_growth_between(a->view->parts[p].shape, rg_analysis_part_pose(a, &a->motion, p),
                                   a->view->parts[q].shape, rg_analysis_part_pose(a, &a->motion, q),
                                   NULL, &growth);
        if (status)
            break;
        if (growth.gap < -RG_ANALYSIS_OVERLAP * rg_analysis_pair_size(a, p, q))
            return refuse_overlap(a, p, q, growth.gap, error);
        if (growth.gap <= a->law->near * rg_analysis_shell(a, p, q))
            status = add_points(a, p, q, &growth, old_count, &count);
    }
    a->leaving_count = 0;
    rg_analysis_contact *now = a->spare;
    a->spare = a->contacts;
    a->contacts = now;
    a->contact_count = count;
    if (count > a->tally.contacts_most)
        a->tally.contacts_most = count;
    return status;
}
