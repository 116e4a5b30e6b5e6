/* From contact points to rows of a fixed step: which law holds at each, what its gap adds, and
 * where the solver starts.
 *
 * Of the traps in Hart and Anitescu 2010: the gap is that of the event itself, not of the pair
 * (each vertex of a face may approach as far as it is away); gaps that are open count in full,
 * penetrations by gamma; all events of the one separating feature are used, and no other feature.
 *
 * Tested by tests/step/test_contacts.c and test_recovery.c. */
#include "step/step_contacts.h"

#include "shape/shape.h"
#include "step/step_contact_memory.h"
#include "step/step_joints.h"
#include "step/step_rolling.h"

#include <string.h>

/* --- prescribed motion ------------------------------------------------------------------------ */

typedef struct displacement_job {
    const rg_world_content *content;
    const rg_contact_step *contacts;
} displacement_job;

static rg_vec3 displacement_of(const void *user, size_t body, rg_vec3 p) {
    const displacement_job *job = user;
    const rg_world_content *c = job->content;
    if (!c->record[body].prescription1)
        return (rg_vec3){0, 0, 0};
    if (job->contacts->rows == RG_ROWS_IN_IMPACT) {
        rg_vec3 arm = rg_sub(p, c->position[body]);
        return rg_scale(job->contacts->step,
                        rg_add(c->velocity[body], rg_cross(c->angular_velocity[body], arm)));
    }
    rg_motion_state end = rg_prescription_evaluate(c, body, job->contacts->end_time);
    rg_vec3 local = rg_rotate_back(c->orientation[body], rg_sub(p, c->position[body]));
    return rg_sub(rg_add(end.position, rg_rotate(end.orientation, local)), p);
}

/* --- what was there before -------------------------------------------------------------------- */

typedef struct old_search {
    const rg_contact_job *job;
    const rg_contact_force *old;
    size_t count;
    const rg_contact_force **found;
} old_search;

static void find_old_range(void *user, size_t begin, size_t end, size_t chunk) {
    (void)chunk;
    const old_search *search = user;
    const rg_contact_job *job = search->job;
    rg_contact_memory memory = {.forces = search->old, .count = search->count};
    const rg_row_set *set = &job->contacts->set;
    for (size_t i = begin; i < end; i++) {
        const rg_contact_row *row = &set->rows[i];
        const rg_touch *touch = &job->view.touches[row->touch];
        const rg_manifold *manifold = &job->view.manifolds[row->manifold];
        search->found[i] = rg_contact_memory_find(
            &memory, &(rg_contact_key){touch->collider_b, touch->collider_a, manifold->part1,
                                       manifold->part2, job->view.points[row->point].id});
    }
}

static void find_old(const rg_contact_job *job, const rg_contact_force *old, size_t count,
                     const rg_contact_force **found) {
    rg_parallel_for(job->world->pool, job->contacts->set.count, RG_STEP_CONTACTS_PER_CHUNK,
                    find_old_range, &(old_search){job, old, count, found});
}

/* The deepest contact that the colliders of row i had in the step before, or null. */
static const rg_contact_force *deepest_of_pair(const rg_contact_job *job, size_t i) {
    const rg_contact_step *contacts = job->contacts;
    const rg_touch *touch = &job->view.touches[contacts->set.rows[i].touch];
    rg_contact_memory memory = {.forces = contacts->last, .count = contacts->last_count};
    const rg_contact_force *deepest = NULL;
    for (size_t k = rg_contact_memory_first(&memory, touch->collider_b, touch->collider_a);
         k < memory.count && contacts->last[k].collider_b.index1 == touch->collider_b.index1 &&
         contacts->last[k].collider_a.index1 == touch->collider_a.index1;
         k++) {
        const rg_contact_force *f = &contacts->last[k];
        if (f->collider_b.generation == touch->collider_b.generation &&
            f->collider_a.generation == touch->collider_a.generation &&
            (!deepest || f->gap < deepest->gap))
            deepest = f;
    }
    return deepest;
}

/* Velocity of a body's material at a place of the beginning of the last step. */
static rg_vec3 velocity_then(const rg_contact_job *job, size_t body, rg_vec3 place) {
    const rg_world_content *c = &job->world->content;
    rg_vec3 v = c->velocity[body];
    rg_vec3 centre = rg_add_scaled(c->position[body], -job->contacts->last_step, v);
    return rg_add(v, rg_cross(c->angular_velocity[body], rg_sub(place, centre)));
}

/* What the last step, along its tangents, left of the share gamma of the overlap of row i that it
 * was to take back; of its pair if the point is new. */
static double old_depth(const rg_contact_job *job, size_t i) {
    const rg_contact_force *f = job->last[i] ? job->last[i] : deepest_of_pair(job, i);
    const rg_contact_row *row = &job->contacts->set.rows[i];
    if (!f || !(f->gap < 0))
        return 0;
    rg_vec3 a = velocity_then(job, row->body_a, f->position),
            b = velocity_then(job, row->body_b, f->position);
    return fmax(0, -job->world->content.settings.gamma * f->gap -
                       job->contacts->last_step * rg_dot(f->normal, rg_sub(a, b)));
}

/* --- laws ------------------------------------------------------------------------------------- */

double rg_contact_slip(const rg_row_set *set, const double *u) {
    return set->dimension == 3 ? sqrt(u[1] * u[1] + u[2] * u[2]) : fabs(u[1]);
}

/* Static friction where the surfaces stuck in the step before, or meet without slip. */
static double coefficient(const rg_contact_job *job, size_t i) {
    const rg_row_set *set = &job->contacts->set;
    const rg_contact_law *law = &set->rows[i].law;
    const rg_contact_force *last = job->last[i];
    bool stuck;
    if (law->static_friction == law->friction)
        return law->friction;
    if (last && last->mode != RG_MODE_SEPARATING)
        stuck = last->mode != RG_MODE_SLIP;
    else
        stuck = rg_contact_slip(set, job->before + i * (size_t)set->dimension) <=
                RG_STEP_SLIP * job->speed;
    return stuck ? law->static_friction : law->friction;
}

/* How fast a gap may close within a step although the linear problem holds it: surfaces that turn
 * or slide follow arcs, and leave their tangents by (speed^2 / arm) h^2 / 2. */
static double drift_speed(const rg_contact_job *job, size_t i) {
    const rg_row_set *set = &job->contacts->set;
    const rg_world_content *c = &job->world->content;
    const rg_contact_row *row = &set->rows[i];
    double speed = rg_contact_slip(set, job->before + i * (size_t)set->dimension),
           shortest = INFINITY;
    for (int side = 0; side < 2; side++) {
        if (!(side == 0 ? row->moves_a : row->moves_b))
            continue;
        uint32_t body = side == 0 ? row->body_a : row->body_b;
        double arm = rg_length(rg_sub(row->position, c->position[body]));
        speed += rg_length(c->angular_velocity[body]) * arm;
        shortest = fmin(shortest, arm);
    }
    return speed > 0
               ? fmin(speed, RG_STEP_DRIFT * job->contacts->last_step * speed * speed / shortest)
               : 0;
}

/* A gap that cannot be told from none: it is the difference of points of the two bodies, whose
 * coordinates are sums of a centre and an arm. */
static bool is_rounding(const rg_contact_job *job, const rg_contact_row *row, double gap) {
    if (gap == 0)
        return true;
    rg_vec3 p = row->position, a = job->world->content.position[row->body_a],
            b = job->world->content.position[row->body_b];
    /* The length of a vector is at least its largest entry, and less than twice that: in most cases
     * no root is needed. */
    double least = rg_largest_entry(p) + rg_largest_entry(a) + rg_largest_entry(b);
    double unit = RG_STEP_GAP_ROUNDING * DBL_EPSILON;
    if (fabs(gap) > 2 * unit * least)
        return false;
    return fabs(gap) <= unit * (rg_length(p) + rg_length(a) + rg_length(b));
}

static double circumradius(const rg_world_content *c, rg_collider_id id) {
    return rg_shape_circumradius(c->collider[rg_handle_index(&c->colliders, RG_HANDLE(id))].shape);
}

/* m: the smaller circumradius of the colliders of a row. */
static double smaller_size(const rg_contact_job *job, const rg_contact_row *row) {
    const rg_touch *touch = &job->view.touches[row->touch];
    const rg_world_content *c = &job->world->content;
    return fmin(circumradius(c, touch->collider_a), circumradius(c, touch->collider_b));
}

/* The rows of one manifold, which follow each other: of their gaps, the mean of those that are
 * larger than the least by RG_STEP_FLUSH at most. */
typedef struct flush_rows {
    size_t end;
    bool level; /* all gaps are equal */
    double least, flush, mean;
} flush_rows;

static flush_rows find_flush(const rg_contact_job *job, size_t begin) {
    const rg_row_set *set = &job->contacts->set;
    const rg_contact_row *rows = set->rows;
    double most = rows[begin].gap, sum = 0;
    flush_rows f = {.end = begin + 1, .least = most};
    size_t count = 0;
    for (; f.end < set->count && rows[f.end].manifold == rows[begin].manifold; f.end++) {
        double gap = rows[f.end].gap;
        f.least = gap < f.least ? gap : f.least;
        most = gap > most ? gap : most;
    }
    f.level = f.least == most;
    if (f.level)
        return f;
    f.flush = RG_STEP_FLUSH * smaller_size(job, &rows[begin]);
    for (size_t k = begin; k < f.end; k++)
        if (rows[k].gap - f.least <= f.flush)
            sum += rows[k].gap, count++;
    f.mean = sum / (double)count;
    return f;
}

static double flush_gap(const flush_rows *f, double gap) {
    return f->level || gap - f->least > f->flush ? gap : f->mean;
}

/* What the gap adds to the velocity of the normal row. */
static double stabilisation(const rg_contact_job *job, size_t i, double gap) {
    const rg_contact_step *contacts = job->contacts;
    const rg_world_content *c = &job->world->content;
    const rg_contact_row *row = &contacts->set.rows[i];
    double h = contacts->step;
    if (contacts->rows == RG_ROWS_IN_IMPACT || is_rounding(job, row, gap))
        return 0;
    if (gap >= 0)
        return gap / h;
    double depth = -gap;
    double gravity = rg_length(c->gravity), gamma = c->settings.gamma;
    double most =
        gravity > 0 ? sqrt(RG_STEP_PUSH_RISE * gravity * depth) : depth / RG_STEP_PUSH_TIME;
    /* A part of a step pushes no faster than all of it would. */
    most = fmin(most, gamma * depth / contacts->whole);
    /* What was there before is not taken back as if the motion had caused it: that would throw
     * bodies that move only because they are pushed apart. */
    double old = fmax(0, old_depth(job, i) - h * most);
    double fresh = fmax(0, depth - old);
    return -fmax(most, fmin(gamma * fresh / fmax(h, contacts->last_step), drift_speed(job, i)));
}

/* The largest gap or overlap at a row that counts as none in a heap. */
static double level_of(const rg_contact_job *job, const rg_contact_row *row) {
    double size = smaller_size(job, row), whole = job->contacts->whole;
    double fall = RG_STEP_LEVEL * rg_length(job->world->content.gravity) * whole * whole;
    return fmin(RG_STEP_LEVEL_MOST * size, fmax(RG_STEP_LEVEL_LEAST * size, fall));
}

typedef struct levelled {
    const rg_contact_job *job;
    const rg_island *island;
} levelled;

static void level_range(void *user, size_t begin, size_t end, size_t chunk) {
    (void)chunk;
    const levelled *l = user;
    const rg_contact_step *contacts = l->job->contacts;
    const rg_row_set *set = &contacts->set;
    for (size_t k = begin; k < end; k++) {
        uint32_t i = contacts->islands.contacts[l->island->first_contact + k];
        const rg_contact_row *row = &set->rows[i];
        double *shift = l->job->shift + i * (size_t)set->dimension;
        double surface = rg_dot(row->surface, row->normal),
               moved = (*shift - surface) * contacts->step;
        if (moved != 0 && fabs(moved) <= level_of(l->job, row))
            *shift = surface;
    }
}

void rg_contacts_level(rg_contact_job *job, const rg_island *island, rg_pool *pool) {
    if (island->contact_count > RG_STEP_SMALL && island->body_count > RG_STEP_HEAP)
        rg_parallel_for(pool, island->contact_count, RG_STEP_CONTACTS_PER_CHUNK, level_range,
                        &(levelled){job, island});
}

/* The first row of the manifold that row i belongs to. */
static size_t first_of_manifold(const rg_row_set *set, size_t i) {
    while (i > 0 && set->rows[i - 1].manifold == set->rows[i].manifold)
        i--;
    return i;
}

static void prepare_range(void *user, size_t begin, size_t end, size_t chunk) {
    (void)chunk;
    rg_contact_job *job = user;
    rg_contact_step *contacts = job->contacts;
    const rg_row_set *set = &contacts->set;
    const rg_world_content *c = &job->world->content;
    size_t d = (size_t)set->dimension;
    flush_rows flush = find_flush(job, first_of_manifold(set, begin));
    for (size_t i = begin; i < end; i++) {
        const rg_contact_row *row = &set->rows[i];
        double free[3], *u = job->before + i * d, *shift = job->shift + i * d;
        if (i == flush.end)
            flush = find_flush(job, i);
        rg_row_velocity(set, i, c->velocity, c->angular_velocity, u);
        bool bounces = row->law.restitution > 0;
        if (bounces)
            rg_row_velocity(set, i, contacts->free_velocity, contacts->free_angular_velocity, free);
        rg_row_components(set, i, row->surface, shift);
        shift[0] += stabilisation(job, i, flush_gap(&flush, row->gap));
        job->mu[i] = coefficient(job, i);
        job->meets[i] =
            bounces && -u[0] > job->impact_speed &&
            (contacts->rows == RG_ROWS_IN_IMPACT ||
             row->gap + contacts->step * free[0] < RG_STEP_REACHED * contacts->step * u[0]);
        contacts->passes[i] = bounces && fabs(u[0]) > job->impact_speed ? u[0] : 0;
        double *impulse = contacts->impulse + i * d;
        if (job->start[i])
            rg_row_components(set, i, rg_scale(contacts->step, job->start[i]->force), impulse);
        else
            memset(impulse, 0, d * sizeof *impulse);
    }
}

/* Room for the forces of this pass, other than that of the pass before. They have 256 bytes each:
 * what is to be stored is made in memory that can become the world's. */
static rg_contact_force *take_forces(const rg_contact_job *job, rg_arena *arena,
                                     const rg_contact_force *first) {
    rg_memory_block *room = job->machinery->force_room;
    size_t count = job->contacts->set.count;
    if (!job->contacts->stores)
        return rg_arena_take(arena, count, sizeof *first);
    room += first && room->data == first;
    if (rg_array_reserve(&job->machinery->allocator, &room->data, &room->capacity,
                         (count + 1) * sizeof *first, 1))
        return NULL;
    return room->data;
}

static rg_status prepare(rg_contact_job *job, rg_arena *arena, const rg_contact_force *first,
                         size_t first_count) {
    rg_contact_step *contacts = job->contacts;
    const rg_row_set *set = &contacts->set;
    const rg_world_content *c = &job->world->content;
    size_t d = (size_t)set->dimension, rows = set->count * d;
    contacts->impulse = rg_arena_take(arena, rows, sizeof *contacts->impulse);
    contacts->forces = take_forces(job, arena, first);
    contacts->loaded = rg_arena_take(arena, set->count, sizeof *contacts->loaded);
    contacts->passes = rg_arena_take(arena, set->count, sizeof *contacts->passes);
    contacts->kept = rg_arena_take(arena, c->bodies.count, sizeof *contacts->kept);
    contacts->earlier = first ? contacts->residual : NULL;
    contacts->residual = rg_arena_take(arena, c->bodies.count, sizeof *contacts->residual);
    contacts->rushed = rg_arena_take(arena, c->bodies.count, sizeof *contacts->rushed);
    contacts->recalled = rg_arena_take(arena, c->bodies.count, sizeof *contacts->recalled);
    contacts->answers = rg_arena_take(arena, c->bodies.count, sizeof *contacts->answers);
    job->before = rg_arena_take(arena, rows, sizeof *job->before);
    job->shift = rg_arena_take(arena, rows, sizeof *job->shift);
    job->mu = rg_arena_take(arena, set->count, sizeof *job->mu);
    job->meets = rg_arena_take(arena, set->count, sizeof *job->meets);
    job->last = rg_arena_take(arena, set->count, sizeof *job->last);
    job->start = rg_arena_take(arena, set->count, sizeof *job->start);
    if (!contacts->impulse || !contacts->forces || !contacts->loaded || !contacts->passes ||
        !contacts->kept || !contacts->residual || !contacts->rushed || !contacts->recalled ||
        !contacts->answers || !job->before || !job->shift || !job->mu || !job->meets ||
        !job->last || !job->start)
        return RG_OUT_OF_MEMORY;
    memset(contacts->kept, 0, c->bodies.count * sizeof *contacts->kept);
    memset(contacts->residual, 0, c->bodies.count * sizeof *contacts->residual);
    memset(contacts->rushed, 0, c->bodies.count * sizeof *contacts->rushed);
    memset(contacts->recalled, 0, c->bodies.count * sizeof *contacts->recalled);
    find_old(job, contacts->last, contacts->last_count, job->last);
    if (first)
        find_old(job, first, first_count, job->start);
    else
        memcpy(job->start, job->last, set->count * sizeof *job->start);
    rg_contacts_rest_start(job);
    rg_parallel_for(job->world->pool, set->count, RG_STEP_CONTACTS_PER_CHUNK, prepare_range, job);
    return RG_OK;
}

/* --- speeds that others are relative to ------------------------------------------------------- */

/* The largest speed of a body's material at a contact: what relative speeds are rounded against. */
static double largest_speed_of_rows(const rg_contact_job *job, size_t begin, size_t end) {
    const rg_row_set *set = &job->contacts->set;
    const rg_world_content *c = &job->world->content;
    double largest = 0;
    uint32_t seen[2] = {UINT32_MAX, UINT32_MAX}; /* of the row before, if they do not turn */
    for (size_t i = begin; i < end; i++) {
        const rg_contact_row *row = &set->rows[i];
        for (int side = 0; side < 2; side++) {
            uint32_t body = side == 0 ? row->body_a : row->body_b;
            if (!(side == 0 ? row->moves_a : row->moves_b) || body == seen[side])
                continue;
            double speed = rg_length(job->contacts->free_velocity[body]),
                   spin = rg_length(job->contacts->free_angular_velocity[body]);
            if (spin > 0)
                speed += spin * rg_length(rg_sub(row->position, c->position[body]));
            seen[side] = spin > 0 ? UINT32_MAX : body;
            largest = speed > largest ? speed : largest;
        }
    }
    return largest;
}

typedef struct speed_search {
    const rg_contact_job *job;
    double *largest; /* of each chunk */
} speed_search;

static void find_largest_speed(void *user, size_t begin, size_t end, size_t chunk) {
    const speed_search *search = user;
    search->largest[chunk] = largest_speed_of_rows(search->job, begin, end);
}

static rg_status largest_speed(const rg_contact_job *job, rg_arena *arena, double *speed) {
    const rg_world_content *c = &job->world->content;
    size_t count = job->contacts->set.count,
           chunks = rg_chunk_count(count, RG_STEP_CONTACTS_PER_CHUNK);
    double largest = 0;
    speed_search search = {job, rg_arena_take(arena, chunks, sizeof *search.largest)};
    if (!search.largest)
        return RG_OUT_OF_MEMORY;
    rg_parallel_for(job->world->pool, count, RG_STEP_CONTACTS_PER_CHUNK, find_largest_speed,
                    &search);
    for (size_t i = 0; i < chunks; i++)
        largest = search.largest[i] > largest ? search.largest[i] : largest;
    const rg_joint_set *joints = &job->contacts->joints;
    for (size_t i = 0; i < joints->count; i++)
        for (int side = 0; side < 2; side++) {
            const rg_joint_row *row = &joints->rows[i];
            uint32_t body = row->body[side];
            bool again = i > 0 && row->joint != RG_NO_JOINT && row->joint == row[-1].joint;
            if (!row->moves[side] || again) /* once for each joint */
                continue;
            if (row->link1)
                largest = fmax(largest, fabs(rg_joint_link_velocity(
                                            joints, i, c->planar, job->contacts->free_velocity,
                                            job->contacts->free_angular_velocity)));
            rg_vec3 v = job->contacts->free_velocity[body],
                    arm = rg_sub(row->point, c->position[body]),
                    w = job->contacts->free_angular_velocity[body];
            /* A length is less than twice the largest entry: of few bodies it is needed. */
            if (2 * rg_largest_entry(v) + 4 * rg_largest_entry(w) * rg_largest_entry(arm) <=
                largest)
                continue;
            double own = rg_length(v) + rg_length(w) * rg_length(arm);
            largest = own <= largest ? largest : own;
        }
    *speed = largest;
    return RG_OK;
}

static double reference_speed(const rg_contact_job *job, double largest) {
    double rounding = RG_STEP_ROUNDING * largest;
    double speed = rg_length(job->world->content.gravity) * job->contacts->whole;
    if (speed > 0)
        return fmax(speed, rounding);
    const rg_row_set *set = &job->contacts->set;
    for (size_t i = 0; i < set->count; i++) {
        double u[3];
        rg_row_velocity(set, i, job->contacts->free_velocity, job->contacts->free_angular_velocity,
                        u);
        for (int k = 0; k < set->dimension; k++)
            speed = fmax(speed, fabs(u[k]));
    }
    rg_joint_set *joints = &job->contacts->joints;
    /* Rates are read from Jacobians, which rows of locks need not have yet. */
    rg_joint_set_fill(&job->world->content, joints, job->world->content.position);
    for (size_t i = 0; i < joints->count; i++)
        speed = fmax(speed, fabs(joints->rows[i].shift +
                                 rg_joint_velocity(joints, i, job->world->content.planar,
                                                   job->contacts->free_velocity,
                                                   job->contacts->free_angular_velocity)));
    return fmax(speed, rounding);
}

/* --- which contacts have rows ----------------------------------------------------------------- */

static bool has_external_force(const rg_contact_step *contacts, const rg_contact_row *row) {
    if (!contacts->external)
        return false;
    return (row->moves_a && rg_largest_entry(contacts->external[row->body_a]) != 0) ||
           (row->moves_b && rg_largest_entry(contacts->external[row->body_b]) != 0);
}

/* m/s^2: by how much turning bends a gap n.(x_a - x_b) between corners, edges and faces. The normal
 * turns with the body whose face it is; where it is not that of a face, with the one that makes the
 * gap smaller. */
static double turning_bend(const rg_contact_job *job, const rg_contact_row *row) {
    const rg_world_content *c = &job->world->content;
    uint32_t kind = job->view.manifolds[row->manifold].features.kind;
    const uint32_t body[2] = {row->body_a, row->body_b};
    rg_vec3 velocity[2], acceleration[2];
    double turning[2];
    for (int i = 0; i < 2; i++) {
        rg_vec3 w = c->angular_velocity[body[i]];
        rg_vec3 turn = rg_cross(w, rg_sub(row->position, c->position[body[i]]));
        velocity[i] = rg_add(c->velocity[body[i]], turn);
        acceleration[i] = rg_cross(w, turn);
    }
    for (int i = 0; i < 2; i++) {
        rg_vec3 turn = rg_cross(c->angular_velocity[body[i]], row->normal);
        turning[i] =
            2 * rg_dot(turn, rg_sub(velocity[0], velocity[1])) - row->gap * rg_dot(turn, turn);
    }
    double normal = kind == RG_FEATURES_VERTEX_FACE   ? turning[0]
                    : kind == RG_FEATURES_FACE_VERTEX ? turning[1]
                                                      : fmin(turning[0], turning[1]);
    return rg_dot(row->normal, rg_sub(acceleration[0], acceleration[1])) + normal;
}

/* Whether a body turns that is not a ball about its centre. */
static bool rolls(const rg_contact_job *job, const rg_contact_row *row) {
    const rg_world_content *c = &job->world->content;
    const rg_touch *touch = &job->view.touches[row->touch];
    const rg_collider_id id[2] = {touch->collider_a, touch->collider_b};
    const uint32_t body[2] = {row->body_a, row->body_b};
    for (int i = 0; i < 2; i++) {
        const rg_collider *own = &c->collider[rg_handle_index(&c->colliders, RG_HANDLE(id[i]))];
        rg_shape_kind kind = rg_shape_get_kind(own->shape);
        bool ball = (kind == RG_SHAPE_SPHERE || kind == RG_SHAPE_DISC) &&
                    rg_largest_entry(
                        rg_sub(own->pose.position, c->record[body[i]].local_centre.position)) == 0;
        if (!ball && rg_largest_entry(c->angular_velocity[body[i]]) > 0)
            return true;
    }
    return false;
}

/* Bodies fly as in step_stepping_bodies.c, gravity bending their path by g t^2 / 2, other forces by
 * twice as much. */
double rg_contacts_time_of_impact(const rg_contact_job *job, size_t i) {
    const rg_contact_step *contacts = job->contacts;
    const rg_world_content *c = &job->world->content;
    const rg_contact_row *row = &contacts->set.rows[i];
    double u[3], free[3];
    if (!(row->law.restitution > 0))
        return INFINITY;
    rg_row_velocity(&contacts->set, i, c->velocity, c->angular_velocity, u);
    if (!(-u[0] > job->impact_speed))
        return INFINITY;
    if (row->gap <= RG_STEP_TOUCHES * smaller_size(job, row))
        return 0;
    rg_row_velocity(&contacts->set, i, contacts->free_velocity, contacts->free_angular_velocity,
                    free);
    bool smooth = job->view.points[row->point].feature.kind == RG_FEATURES_SMOOTH;
    double bend = (free[0] - u[0]) / contacts->step * (has_external_force(contacts, row) ? 2 : 1) +
                  (smooth ? 0 : turning_bend(job, row));
    double square = u[0] * u[0] - 2 * bend * row->gap;
    double time = square < 0 ? INFINITY : 2 * row->gap / (sqrt(square) - u[0]);
    /* Where curved bodies that turn meet is not where they were nearest; the search for the plane
     * knows when. */
    double found = job->view.manifolds[row->manifold].time;
    if (found > 0 && smooth && rolls(job, row))
        time = job->view.manifolds[row->manifold].meets ? found : INFINITY;
    else if (found > 0 && found < (1 - RG_STEP_EARLIER) * time && (smooth || time == INFINITY))
        time = found;
    return time > RG_STEP_REACHED * contacts->whole ? time : 0;
}

static bool is_wanted(const rg_contact_job *job, size_t i) {
    const rg_contact_row *row = &job->contacts->set.rows[i];
    double time = rg_contacts_time_of_impact(job, i);
    if (job->contacts->rows == RG_ROWS_BETWEEN_IMPACTS)
        return time == 0 || time == INFINITY;
    return time == 0 || row->gap <= RG_STEP_TOUCHES * smaller_size(job, row);
}

/* Contacts of members, each with its row; and who else is near them. */
static void keep_members(rg_contact_step *contacts, uint8_t *keep) {
    const uint8_t *member = contacts->member, *apart = contacts->apart;
    for (size_t i = 0; i < contacts->set.count; i++) {
        const rg_contact_row *row = &contacts->set.rows[i];
        bool a = !row->moves_a || member[row->body_a], b = !row->moves_b || member[row->body_b];
        keep[i] = a && b;
        if (apart && row->moves_a && row->moves_b && a != b &&
            apart[a ? row->body_b : row->body_a]) {
            contacts->joined = true;
            contacts->join_a = row->body_a;
            contacts->join_b = row->body_b;
        }
    }
    rg_rows_keep(&contacts->set, keep);
}

static rg_status choose_rows(rg_contact_job *job, rg_arena *arena) {
    rg_contact_step *contacts = job->contacts;
    uint8_t *keep = rg_arena_take(arena, contacts->set.count, sizeof *keep);
    if (!keep)
        return RG_OUT_OF_MEMORY;
    if (contacts->member)
        keep_members(contacts, keep);
    double largest;
    if (largest_speed(job, arena, &largest))
        return RG_OUT_OF_MEMORY;
    largest = fmax(largest, rg_contacts_rest_speed(job));
    job->impact_speed =
        fmax(RG_STEP_IMPACT * rg_length(job->world->content.gravity) * contacts->whole,
             RG_STEP_ROUNDING * largest);
    if (contacts->rows != RG_ROWS_ALL) {
        for (size_t i = 0; i < contacts->set.count; i++)
            keep[i] = is_wanted(job, i);
        rg_rows_keep(&contacts->set, keep);
    }
    job->speed = reference_speed(job, largest);
    return RG_OK;
}

/* --- the stage -------------------------------------------------------------------------------- */

/* Rows of joints; in a second pass they start from what the first one found. */
static rg_status make_joints(rg_contact_job *job, rg_arena *arena, bool again) {
    rg_contact_step *contacts = job->contacts;
    const rg_world_content *c = &job->world->content;
    rg_joint_set first = contacts->joints;
    first.count -= contacts->twists;
    contacts->twists = 0;
    rg_joints_input input = {.step = contacts->step,
                             .end_time = contacts->end_time,
                             .impact = contacts->rows == RG_ROWS_IN_IMPACT,
                             .impact_speed =
                                 RG_STEP_IMPACT * rg_length(c->gravity) * contacts->whole,
                             .member = contacts->member,
                             .seen = &job->machinery->seen};
    rg_status status = rg_joints_seen_begin(input.seen, job->world);
    if (!status)
        status = rg_joints_rows(c, &input, arena, &contacts->joints);
    contacts->inertia = NULL;
    if (!status && !input.impact)
        status = rg_joints_stiffen(c, &contacts->joints, contacts->step, arena, &contacts->inertia);
    if (!status && again && first.count && first.count == contacts->joints.count)
        memcpy(contacts->joints.impulse, first.impulse, first.count * sizeof *first.impulse);
    return status;
}

static rg_status build_rows(rg_contact_job *job) {
    rg_contact_step *contacts = job->contacts;
    displacement_job displacement = {&job->world->content, contacts};
    rg_row_motion motion = {contacts->step, displacement_of, &displacement};
    return rg_rows_build_some(job->world, &job->view, contacts->left.skips, &motion,
                              &job->world->scratch, &contacts->set);
}

rg_status rg_contacts_rows(rg_contact_job *job, const rg_contact_force *first, size_t first_count) {
    rg_contact_step *contacts = job->contacts;
    rg_arena *arena = &job->world->scratch;
    rg_status status = rg_contacts_find_rest(job, first != NULL);
    if (!status)
        status = build_rows(job);
    if (!status)
        status = make_joints(job, arena, first != NULL);
    size_t rows = contacts->set.count + contacts->left.count + contacts->joints.count;
    if (!status && rows > 0)
        status = choose_rows(job, arena);
    if (!status && rg_contacts_end_rest(job)) {
        status = build_rows(job);
        if (!status)
            status = choose_rows(job, arena);
    }
    if (status || rows == 0)
        return status;
    status = prepare(job, arena, first, first_count);
    return status ? status : rg_rolling_rows(job, arena);
}
