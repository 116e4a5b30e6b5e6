/* Which pairs of a group may meet during a step of its integrator, and which contacts there are
 * at an instant.
 *
 * Boxes around paths come from the polynomial of the step itself (its Bernstein coefficients
 * bound it), so that no speed has to be guessed: a pair whose boxes stay apart cannot meet.
 * (Prescribed motions are looked at in samples, with a margin: one that swings many times within
 * a step may be missed.)
 *
 * Tested by tests/step/test_events.c and tests/step/test_seams.c. */
#include "base/base_text.h"
#include "contact/contact.h"
#include "problem/problem_rows.h"
#include "shape/shape_terrain.h"
#include "step/step_analytic.h"

#include <float.h>
#include <string.h>

/* --- parts ------------------------------------------------------------------------------------ */

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

/* Points whose hull holds the path of a body; returns how many. */
static int control_points(const rg_analysis *a, const rg_dense_output *dense, size_t k,
                          rg_vec3 points[RG_DENSE_DEGREE_MAX + 1]) {
    bool planar = a->view->world->content.planar;
    double b[3][RG_DENSE_DEGREE_MAX + 1] = {{0}};
    rg_dense_bernstein(dense, k * a->flight.width, b[0]);
    rg_dense_bernstein(dense, k * a->flight.width + 1, b[planar ? 2 : 1]);
    if (!planar)
        rg_dense_bernstein(dense, k * a->flight.width + 2, b[2]);
    for (int i = 0; i <= dense->degree; i++)
        points[i] = (rg_vec3){b[0][i], b[1][i], b[2][i]};
    return dense->degree + 1;
}

static rg_bounds path_bounds(const rg_analysis *a, const rg_dense_output *dense, size_t k) {
    rg_bounds bounds = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    rg_vec3 points[RG_DENSE_DEGREE_MAX + 1];
    int count = control_points(a, dense, k, points);
    for (int i = 0; i < count; i++) {
        bounds.lower = rg_min(bounds.lower, points[i]);
        bounds.upper = rg_max(bounds.upper, points[i]);
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

/* m: by which bounds of an instant are larger than the shape. */
static double instant_margin(const rg_analysis *a, const rg_convex_part *p) {
    return 2 * a->law->near * RG_ANALYSIS_SHELL * p->radius +
           RG_ANALYSIS_ROUNDING * DBL_EPSILON * rg_largest_entry(a->motion.position[p->body]);
}

static bool is_fixed(const rg_analysis *a, const rg_convex_part *p) {
    return isfinite(p->radius) && !p->dynamic &&
           !a->view->world->content.record[p->body].prescription1;
}

static void make_bounds_now(rg_analysis *a, uint32_t i) {
    const rg_convex_part *p = &a->view->parts[i];
    rg_bounds b = rg_shape_bounds(p->shape, rg_analysis_part_pose(a, &a->motion, i));
    double margin = instant_margin(a, p);
    rg_vec3 grow = {margin, margin, margin};
    a->bounds[i] = (rg_bounds){rg_sub(b.lower, grow), rg_add(b.upper, grow)};
}

/* What does not move has the same bounds until the law changes, and the margin with it. */
static void make_bounds_of_fixed(rg_analysis *a) {
    for (size_t k = 0; k < a->mine_count && a->bounded_for != a->law; k++)
        if (is_fixed(a, &a->view->parts[a->mine[k]]))
            make_bounds_now(a, a->mine[k]);
    a->bounded_for = a->law;
}

/* Bounds of the group's parts: around their bodies' paths, or of the instant. */
static void make_bounds(rg_analysis *a, const rg_dense_output *dense) {
    const rg_world_content *c = &a->view->world->content;
    make_bounds_of_fixed(a);
    for (size_t k = 0; k < a->mine_count; k++) {
        uint32_t i = a->mine[k];
        const rg_convex_part *p = &a->view->parts[i];
        if (is_fixed(a, p))
            continue;
        if (!isfinite(p->radius)) {
            a->bounds[i] = rg_shape_bounds(p->shape, rg_analysis_part_pose(a, &a->motion, i));
            if (c->record[p->body].prescription1 || p->dynamic)
                a->bounds[i] =
                    (rg_bounds){{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, INFINITY}};
            continue;
        }
        bool prescribed = c->record[p->body].prescription1 != 0;
        if (!dense) {
            make_bounds_now(a, i);
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

/* Of a ball about the centre of its body, which keeps to its path however it turns, and a triangle
 * of terrain: whether a plane shows that they stay apart. Boxes hold many more where triangles are
 * small. */
static bool stays_above(const rg_analysis *a, const rg_dense_output *dense, uint32_t ball,
                        uint32_t triangle) {
    const rg_convex_part *p = &a->view->parts[ball], *q = &a->view->parts[triangle];
    rg_vec3 points[RG_DENSE_DEGREE_MAX + 1] = {a->motion.position[p->body]};
    if (triangle < a->view->own_count || !p->dynamic ||
        rg_shape_get_kind(p->shape) != RG_SHAPE_SPHERE || rg_largest_entry(p->middle) > 0)
        return false;
    rg_terrain_path path = {.points = points, .count = 1, .radius = p->radius};
    path.slack = instant_margin(a, p) + instant_margin(a, q);
    if (dense) {
        path.count = control_points(a, dense, rg_analysis_place(a, p->body), points);
        path.slack += 8 * RG_ANALYSIS_SHELL * p->radius;
    }
    rg_pose ground = rg_analysis_part_pose(a, &a->motion, triangle);
    for (int i = 0; i < path.count; i++)
        points[i] = rg_pose_apply_inverse(ground, points[i]);
    return rg_prism_is_beyond(q->shape, &path);
}

void rg_analysis_find_pairs(rg_analysis *a, const rg_dense_output *dense) {
    make_bounds(a, dense);
    a->pair_count = 0;
    for (size_t i = 0; i < a->candidate_count; i++) {
        uint32_t p = a->candidates[i][0], q = a->candidates[i][1];
        if (rg_analysis_boxes_meet(a, p, q) && !stays_above(a, dense, p, q) &&
            !stays_above(a, dense, q, p))
            memcpy(a->pairs[a->pair_count++], a->candidates[i], sizeof *a->pairs);
    }
}

/* --- contacts of now -------------------------------------------------------------------------- */

enum { POINTS_MOST = 256 };
/* Normals that differ by less are those of flush faces. */
#define FLUSH 1e-8

static rg_status room_for(rg_analysis *a, size_t count) {
    if (count <= a->contact_capacity)
        return RG_OK;
    size_t capacity = 2 * count > 64 ? 2 * count : 64;
    rg_analysis_contact *contacts = rg_arena_take(a->arena, capacity, sizeof *contacts);
    rg_analysis_contact *spare = rg_arena_take(a->arena, capacity, sizeof *spare);
    a->start = rg_arena_take(a->arena, capacity, sizeof *a->start);
    if (!contacts || !spare || !a->start)
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

bool rg_analysis_is_among(rg_analysis_set set, uint32_t part_b, uint32_t part_a) {
    for (size_t i = 0; i < set.count; i++)
        if (set.contacts[i].part_b == part_b && set.contacts[i].part_a == part_a)
            return true;
    return false;
}

/* Speeds below which an approach is none: see the thresholds. */
static double still_speed(const rg_analysis *a, double shell) {
    return fmax(RG_ANALYSIS_STILL * sqrt(2 * a->view->acceleration * shell),
                RG_ANALYSIS_SPEED * a->view->speed);
}

/* m/s: slower approaches are rounding, and what integration leaves. */
static double felt_speed(const rg_analysis *a, double size) {
    return fmax(RG_ANALYSIS_SLIP * sqrt(a->view->acceleration * size),
                RG_ANALYSIS_SPEED * a->view->speed);
}

/* A contact of the last step of the world begins with the force that it had at its end. */
static void warm_start(const rg_analysis *a, rg_analysis_contact *c, rg_contact_memory *memory) {
    const rg_convex_part *b = &a->view->parts[c->part_b], *other = &a->view->parts[c->part_a];
    const rg_contact_force *f = rg_contact_memory_find(
        memory, &(rg_contact_key){b->collider, other->collider, b->index, other->index, c->id});
    if (!f)
        return;
    rg_contact_tangents(c->motion.normal, a->view->world->content.planar, &c->basis[0],
                        &c->basis[1]);
    c->last = f->force;
    c->force[0] = rg_dot(f->force, c->motion.normal);
    c->force[1] = rg_dot(f->force, c->basis[0]);
    c->force[2] = rg_dot(f->force, c->basis[1]);
}

/* Two parts that are near each other. */
typedef struct pair_look {
    uint32_t p, q;
    double size, shell, near; /* m */
    rg_contact_law law;
    rg_contact_query query;
    rg_contact_memory *memory; /* of the last step of the world, at its end; empty later */
} pair_look;

/* Of materials, or what the material function of the world makes of it. */
static rg_contact_law law_of(const rg_analysis *a, uint32_t p, uint32_t q, double gap) {
    const rg_world_content *c = &a->view->world->content;
    const rg_convex_part *b = &a->view->parts[p], *other = &a->view->parts[q];
    rg_touch touch = {.collider_b = b->collider,
                      .collider_a = other->collider,
                      .body_b = rg_body_id_at(c, b->body),
                      .body_a = rg_body_id_at(c, other->body),
                      .touching = true,
                      .gap = gap};
    return rg_collision_law(a->view->machinery->collision, a->view->world, &touch);
}

/* A contact at a point of a manifold, with what was known of it before; false if it cannot be
 * followed. */
static bool make_contact(rg_analysis *a, const pair_look *l, const rg_manifold *manifold,
                         const rg_contact_point *point, rg_analysis_contact *c) {
    const rg_convex_part *b = &a->view->parts[l->p], *other = &a->view->parts[l->q];
    *c = (rg_analysis_contact){.part_b = l->p,
                               .part_a = l->q,
                               .body_b = b->body,
                               .body_a = other->body,
                               .id = point->id,
                               .law = l->law,
                               .size = rg_analysis_pair_size(a, l->p, l->q),
                               .shell = l->shell,
                               .still = still_speed(a, l->shell),
                               .none = INFINITY};
    c->track = rg_contact_track_make(b->shape, l->query.one.pose, other->shape, l->query.two.pose,
                                     manifold, point);
    c->track.planar = a->view->world->content.planar;
    rg_rigid_motion motion_b = rg_analysis_rigid(a, &a->motion, l->p);
    rg_rigid_motion motion_a = rg_analysis_rigid(a, &a->motion, l->q);
    c->motion = rg_contact_follow(&c->track, &motion_b, &motion_a);
    if (!c->motion.regular)
        return false;
    const rg_analysis_contact *old = known(a->contacts, a->contact_count, c);
    if (old) {
        rg_analysis_go_on(old, c);
        c->reference = old->reference, c->lightness = old->lightness;
        memcpy(c->force, old->force, sizeof c->force);
        memcpy(c->basis, old->basis, sizeof c->basis);
    } else {
        warm_start(a, c, l->memory);
        rg_analysis_begin_friction(a, c, c->motion.slip);
    }
    return true;
}

/* Of all points that are near; *slowest: the least rate of their gaps. */
static rg_status make_contacts(rg_analysis *a, const pair_look *l, const rg_manifold *manifold,
                               size_t *count, double *slowest) {
    rg_status status = room_for(a, *count + manifold->point_count);
    if (status)
        return status;
    *slowest = INFINITY;
    for (uint32_t i = 0; i < manifold->point_count; i++) {
        rg_analysis_contact *c = &a->spare[*count];
        if (l->query.points[i].gap > l->near ||
            !make_contact(a, l, manifold, &l->query.points[i], c))
            continue;
        if (c->motion.gap <= RG_ANALYSIS_NEAR * c->shell) /* others mean forces stop in time */
            *slowest = fmin(*slowest, c->motion.gap_rate);
        (*count)++;
    }
    return RG_OK;
}

static rg_swept_shape swept(const rg_analysis *a, uint32_t part, rg_placed_shape placed) {
    uint32_t body = a->view->parts[part].body;
    return (rg_swept_shape){placed, a->motion.position[body], a->motion.velocity[body],
                            a->motion.angular_velocity[body]};
}

/* Two shapes are apart when some plane separates them, and where features are degenerate, as at
 * the seam of flush faces, several do. They approach along the one that was found: if they do not
 * along another one, nothing keeps them from going on, and their contact is along that one. It may
 * have no points yet: a ball before the edge of the next face is separated from it by the face
 * that both lie flush with. */
static rg_status go_round(rg_analysis *a, const pair_look *l, size_t *count, size_t first,
                          double approach) {
    rg_swept_shape b = swept(a, l->p, l->query.one), other = swept(a, l->q, l->query.two);
    rg_free_plane plane = rg_contact_free_plane(&b, &other, l->shell);
    if (!(plane.rate > approach / 2) || plane.rate < -still_speed(a, l->shell))
        return RG_OK;
    rg_manifold manifold;
    rg_status status = rg_contact_along(&l->query, plane.normal, &manifold);
    if (status)
        return status;
    manifold.features = plane.features;
    *count = first;
    double slowest;
    return make_contacts(a, l, &manifold, count, &slowest);
}

static rg_status add_points(rg_analysis *a, uint32_t p, uint32_t q, const rg_growth *growth,
                            rg_contact_memory *memory, size_t *count) {
    double shell = rg_analysis_shell(a, p, q), near = a->law->near * shell;
    rg_contact_settings settings = {.near = 2 * near, .band = 2 * near, .inner = 2 * near};
    rg_contact_point points[POINTS_MOST];
    pair_look l = {.p = p,
                   .q = q,
                   .size = rg_analysis_pair_size(a, p, q),
                   .shell = shell,
                   .near = near,
                   .memory = memory,
                   .law = law_of(a, p, q, growth->gap)};
    l.query = (rg_contact_query){
        .one = {a->view->parts[p].shape, rg_analysis_part_pose(a, &a->motion, p)},
        .two = {a->view->parts[q].shape, rg_analysis_part_pose(a, &a->motion, q)},
        .settings = &settings,
        .arena = a->arena,
        .points = points,
        .capacity = POINTS_MOST};
    rg_manifold manifold;
    rg_analysis_set old = {a->contacts, a->contact_count};
    size_t first = *count;
    double slowest;
    rg_status status = rg_contact_of_growth(&l.query, growth, &manifold);
    if (!status)
        status = make_contacts(a, &l, &manifold, count, &slowest);
    bool bounded = isfinite(a->view->parts[p].radius) && isfinite(a->view->parts[q].radius);
    if (!status && bounded && slowest < -felt_speed(a, l.size))
        status = go_round(a, &l, count, first, slowest);
    if (!status && *count > first && !rg_analysis_is_among(old, p, q) &&
        rg_collision_mark(a->view->machinery->collision, a->view->parts[p].collider,
                          a->view->parts[q].collider))
        return RG_OUT_OF_MEMORY;
    return status;
}

rg_body_id rg_analysis_body_id(const rg_analysis *a, uint32_t body) {
    const rg_world_content *c = &a->view->world->content;
    return body < c->bodies.count ? rg_body_id_at(c, body) : (rg_body_id){0, 0};
}

const char *rg_analysis_body_name(const rg_analysis *a, uint32_t body) {
    if (body >= a->view->world->content.bodies.count)
        return "the world";
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

/* --- crossings that others stand for ---------------------------------------------------------- */

uint32_t rg_analysis_carried(const rg_analysis *a, uint32_t body_b, uint32_t body_a) {
    const rg_world_content *w = &a->view->world->content;
    bool moves_a = w->dynamics[body_a].inverse_mass > 0,
         moves_b = w->dynamics[body_b].inverse_mass > 0;
    if (moves_a == moves_b || w->record[moves_a ? body_b : body_a].prescription1)
        return UINT32_MAX;
    return moves_a ? body_a : body_b;
}

static uint32_t carried_body(const rg_analysis *a, const rg_analysis_contact *c) {
    return rg_analysis_carried(a, c->body_b, c->body_a);
}

/* Whether a contact holds the body where another one of it does: by what stands still, along the
 * same normal, under the same law. */
static bool stands_beside(const rg_analysis *a, const rg_analysis_contact *c,
                          const rg_analysis_contact *other) {
    rg_vec3 turned =
        rg_sub(c->motion.normal,
               c->body_a == other->body_a ? other->motion.normal : rg_neg(other->motion.normal));
    return carried_body(a, other) == carried_body(a, c) && rg_largest_entry(turned) <= FLUSH &&
           fabs(rg_dot(c->motion.normal, rg_sub(c->motion.point, other->motion.point))) <=
               RG_ANALYSIS_NEAR * c->shell &&
           c->law.friction == other->law.friction &&
           c->law.static_friction == other->law.static_friction;
}

/* Whether contacts beside it surround a contact: it is not outside the hull of their points. It is
 * outside if, seen from it, all others lie within half a turn, counted from one of them. */
static bool is_surrounded(const rg_analysis *a, size_t count, size_t index, const bool *gone) {
    const rg_analysis_contact *c = &a->spare[index];
    double nearest = RG_CONTACT_LATERAL * c->size;
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        const rg_analysis_contact *first = &a->spare[i];
        rg_vec3 d = rg_sub(first->motion.point, c->motion.point);
        if (i == index || gone[i] || !stands_beside(a, c, first) || rg_length(d) <= nearest)
            continue;
        any = true;
        bool begins = true; /* all others come within half a turn after this one */
        for (size_t k = 0; k < count && begins; k++) {
            const rg_analysis_contact *next = &a->spare[k];
            rg_vec3 e = rg_sub(next->motion.point, c->motion.point);
            if (k == i || k == index || gone[k] || !stands_beside(a, c, next) ||
                rg_length(e) <= nearest)
                continue;
            double turn = rg_dot(c->motion.normal, rg_cross(d, e));
            double straight = nearest * rg_length(rg_sub(e, d));
            begins = turn > straight || (turn >= -straight && rg_dot(d, e) > 0);
        }
        if (begins)
            return false;
    }
    return any;
}

/* Where a body lies over several that stand still, flush as tiles are, its edges cross theirs. Such
 * a place moves over the body, and its gap is a mean of those of the points around it with weights
 * that change: at states that are not quite consistent, as inside a step of an integrator, its
 * acceleration contradicts theirs. What they hold need not be held there, too. */
static rg_status leave_out_crossings(rg_analysis *a, size_t *count) {
    if (a->law->mean)
        return RG_OK;
    rg_arena_mark mark = rg_arena_get_mark(a->arena);
    bool *gone = rg_arena_take(a->arena, *count, sizeof *gone);
    if (!gone)
        return RG_OUT_OF_MEMORY;
    memset(gone, 0, *count * sizeof *gone);
    for (size_t i = 0; i < *count; i++) {
        const rg_contact_piece *piece = a->spare[i].track.piece;
        if (piece[0].kind != RG_PIECE_FACE && piece[1].kind != RG_PIECE_FACE &&
            carried_body(a, &a->spare[i]) != UINT32_MAX)
            gone[i] = is_surrounded(a, *count, i, gone);
    }
    size_t kept = 0;
    for (size_t i = 0; i < *count; i++)
        if (!gone[i])
            a->spare[kept++] = a->spare[i];
    *count = kept;
    rg_arena_return(a->arena, mark);
    return RG_OK;
}

/* Ends of ranges of joints that are near. */
static rg_status add_limits(rg_analysis *a, size_t *count) {
    rg_status status = room_for(a, *count + rg_analysis_limit_count(a));
    for (size_t i = 0; i < rg_analysis_limit_count(a) && !status; i++) {
        rg_analysis_contact *c = &a->spare[*count];
        if (!rg_analysis_limit_contact(a, i, c))
            continue;
        c->still = still_speed(a, c->shell);
        const rg_analysis_contact *old = known(a->contacts, a->contact_count, c);
        if (old)
            memcpy(c->force, old->force, sizeof c->force);
        ++*count;
    }
    return status;
}

rg_status rg_analysis_detect(rg_analysis *a, rg_analysis_set *before, rg_error *error) {
    rg_status status = RG_OK;
    rg_analysis_find_pairs(a, NULL);
    size_t count = 0;
    rg_contact_memory memory = {0};
    if (a->time <= a->view->begin)
        memory.forces = rg_world_contact_forces(a->view->world, &memory.count);
    for (size_t i = 0; i < a->pair_count && !status; i++) {
        uint32_t p = a->pairs[i][0], q = a->pairs[i][1];
        rg_growth growth;
        status = rg_separation_between(
            a->view->parts[p].shape, rg_analysis_part_pose(a, &a->motion, p),
            a->view->parts[q].shape, rg_analysis_part_pose(a, &a->motion, q), NULL, &growth);
        if (status)
            break;
        if (growth.gap < -RG_ANALYSIS_OVERLAP * rg_analysis_pair_size(a, p, q))
            return refuse_overlap(a, p, q, growth.gap, error);
        if (growth.gap <= a->law->near * rg_analysis_shell(a, p, q))
            status = add_points(a, p, q, &growth, &memory, &count);
    }
    if (!status)
        status = leave_out_crossings(a, &count);
    if (!status)
        status = add_limits(a, &count);
    a->leaving_count = 0;
    rg_analysis_contact *now = a->spare;
    a->spare = a->contacts;
    a->contacts = now;
    *before = (rg_analysis_set){a->spare, a->contact_count};
    a->contact_count = count;
    if (count > a->tally.contacts_most)
        a->tally.contacts_most = count;
    return status;
}
