/* Islands that rest while others move.
 *
 * What a step does with an island is a function of the state of its bodies, its contact points, the
 * forces of the step before and the settings. If in a step its problem and the forces it started
 * from were those of the step before (step_island_memory.c), and it left state and forces as they
 * were, to the last bit, then with the same contact points the next step must do the same. Its
 * contacts then have no rows: nothing is assembled, solved or described, its bodies stay where they
 * are, and its forces are those of the last step. Points are looked for as ever: an island that is
 * touched, or that loses a point, takes part again. No threshold, and the same bits as without it.
 *
 * Any edit, restored state or other length of the step ends it, and so do forces that may vary.
 * Tested by tests/step/test_rest.c. */
#include "contact/contact.h"
#include "problem/problem_rows.h"
#include "step/step_contacts.h"

#include <string.h>

/* Of an island: one of its contacts is not what it was. */
#define DISTURBED UINT32_MAX

/* --- who rests -------------------------------------------------------------------------------- */

static bool may_rest(const rg_contact_job *job) {
    const rg_contact_step *contacts = job->contacts;
    const rg_islands_at_rest *memory = &job->machinery->resting;
    return contacts->left.allowed && !contacts->member && contacts->rows == RG_ROWS_ALL &&
           memory->known && memory->step == contacts->step &&
           memory->revision == job->world->revision &&
           memory->bodies == job->world->content.bodies.count;
}

static bool is_of_touch(const rg_contact_force *f, const rg_touch *touch) {
    return rg_same_bits(&f->collider_b, &touch->collider_b, 1) &&
           rg_same_bits(&f->collider_a, &touch->collider_a, 1);
}

/* Whether a row from this point would be the one that the force is of. */
static bool is_of_point(const rg_contact_force *f, const rg_manifold *manifold,
                        const rg_contact_point *point, double share) {
    rg_vec3 position = rg_contact_place(point, share);
    return f->part_b == manifold->part1 && f->part_a == manifold->part2 && f->id == point->id &&
           rg_same_bits(&f->gap, &point->gap, 1) &&
           rg_same_bits(&f->normal, &manifold->normal, 3) &&
           rg_same_bits(&f->position, &position, 3);
}

/* How many contacts a touch has, if they are those of the forces from `first` on; otherwise
 * DISTURBED. */
static uint32_t same_contacts(const rg_contact_job *job, const rg_touch *touch, size_t first) {
    const rg_contact_step *contacts = job->contacts;
    const rg_world_content *c = &job->world->content;
    const rg_shape
        *b = c->collider[rg_handle_index(&c->colliders, RG_HANDLE(touch->collider_b))].shape,
        *a = c->collider[rg_handle_index(&c->colliders, RG_HANDLE(touch->collider_a))].shape;
    double share = rg_contact_share(b, a);
    size_t at = first;
    for (uint32_t m = 0; m < touch->manifold_count; m++) {
        const rg_manifold *manifold = &job->view.manifolds[touch->first_manifold + m];
        for (uint32_t p = 0; p < manifold->point_count; p++, at++)
            if (at >= contacts->last_count || !is_of_touch(&contacts->last[at], touch) ||
                !is_of_point(&contacts->last[at], manifold,
                             &job->view.points[manifold->first_point + p], share))
                return DISTURBED;
    }
    return (uint32_t)(at - first);
}

/* The leaders, plus 1, of the islands that the bodies of a touch were in; of what forces do not
 * move, and of those that did not repeat themselves, 0. */
static void leaders_of(const rg_contact_job *job, const rg_touch *touch, uint32_t leader1[2],
                       bool *all) {
    const rg_world_content *c = &job->world->content;
    const rg_body_id id[2] = {touch->body_b, touch->body_a};
    *all = true;
    for (int i = 0; i < 2; i++) {
        size_t body = rg_body_dense(c, id[i]);
        bool moves = c->dynamics[body].inverse_mass > 0;
        leader1[i] = moves ? job->machinery->resting.leader1[body] : 0;
        *all = *all && (leader1[i] || !moves);
    }
}

static size_t points_of(const rg_collision_view *view, const rg_touch *touch) {
    size_t count = 0;
    for (uint32_t m = 0; !touch->sensor && m < touch->manifold_count; m++)
        count += view->manifolds[touch->first_manifold + m].point_count;
    return count;
}

/* Adds the contacts of a touch to those of its island, or notes that the islands that it has to do
 * with are disturbed. */
static void count_touch(const rg_contact_job *job, size_t t, size_t first, uint32_t *counts) {
    const rg_touch *touch = &job->view.touches[t];
    rg_left_touch *left = &job->contacts->left.touches[t];
    uint32_t leader1[2];
    bool all;
    leaders_of(job, touch, leader1, &all);
    if (!leader1[0] && !leader1[1])
        return;
    bool one = all && (!leader1[0] || !leader1[1] || leader1[0] == leader1[1]);
    uint32_t found = one ? same_contacts(job, touch, first) : DISTURBED;
    for (int i = 0; i < 2; i++) {
        uint32_t *count = leader1[i] ? &counts[leader1[i] - 1] : NULL;
        if (!count || (i == 1 && leader1[0] == leader1[1]))
            continue;
        *count = found == DISTURBED || *count == DISTURBED ? DISTURBED : *count + found;
    }
    if (found != DISTURBED)
        *left = (rg_left_touch){(leader1[0] ? leader1[0] : leader1[1]), (uint32_t)first, found};
}

/* Touches and forces are both in the order of their colliders. */
static void count_touches(const rg_contact_job *job, uint32_t *counts) {
    const rg_contact_step *contacts = job->contacts;
    size_t at = 0;
    for (size_t t = 0; t < job->view.touch_count; t++) {
        const rg_touch *touch = &job->view.touches[t];
        if (points_of(&job->view, touch) == 0)
            continue;
        uint32_t b = touch->collider_b.index1, a = touch->collider_a.index1;
        while (at < contacts->last_count && (contacts->last[at].collider_b.index1 < b ||
                                             (contacts->last[at].collider_b.index1 == b &&
                                              contacts->last[at].collider_a.index1 < a)))
            at++;
        count_touch(job, t, at, counts);
    }
}

static void leave_out(rg_contact_job *job, const uint32_t *counts) {
    rg_contacts_left *left = &job->contacts->left;
    const rg_islands_at_rest *memory = &job->machinery->resting;
    for (size_t i = 0; i < memory->bodies; i++) {
        uint32_t leader1 = memory->leader1[i];
        const rg_resting_island *island = leader1 ? &memory->islands[leader1 - 1] : NULL;
        left->resting[i] = island && counts[leader1 - 1] == island->contacts;
        if (!left->resting[i] || leader1 != i + 1)
            continue;
        left->counts.solves++;
        rg_solve_counts_judged(&left->counts, &island->residual);
    }
    for (size_t t = 0; t < job->view.touch_count; t++) {
        rg_left_touch *touch = &left->touches[t];
        left->skips[t] = touch->leader1 && left->resting[touch->leader1 - 1];
        touch->count = left->skips[t] ? touch->count : 0;
        left->count += touch->count;
    }
}

/* Nothing is left out. */
static void reset(rg_contacts_left *left) {
    left->resting = left->skips = NULL;
    left->touches = NULL;
    left->count = 0;
    left->counts = rg_solve_counts_none();
}

rg_status rg_contacts_find_rest(rg_contact_job *job, bool again) {
    rg_contacts_left *left = &job->contacts->left;
    rg_arena *arena = &job->world->scratch;
    size_t bodies = job->world->content.bodies.count, touches = job->view.touch_count;
    left->rested = again ? left->resting : NULL;
    reset(left);
    left->touch_count = touches;
    if (!may_rest(job))
        return RG_OK;
    uint32_t *counts = rg_arena_take(arena, bodies, sizeof *counts);
    left->resting = rg_arena_take(arena, bodies, sizeof *left->resting);
    left->skips = rg_arena_take(arena, touches, sizeof *left->skips);
    left->touches = rg_arena_take(arena, touches, sizeof *left->touches);
    if (!counts || !left->resting || !left->skips || !left->touches)
        return RG_OUT_OF_MEMORY;
    memset(counts, 0, bodies * sizeof *counts);
    memset(left->touches, 0, touches * sizeof *left->touches);
    count_touches(job, counts);
    leave_out(job, counts);
    return RG_OK;
}

/* Residuals, and what counts as rest, are relative to a speed that fast bodies elsewhere may
 * change: to another one the answers need not be the same. */
bool rg_contacts_end_rest(rg_contact_job *job) {
    rg_contacts_left *left = &job->contacts->left;
    if (left->count == 0 || job->machinery->resting.speed == job->speed)
        return false;
    reset(left);
    return true;
}

/* --- what others ask of it -------------------------------------------------------------------- */

double rg_contacts_rest_speed(const rg_contact_job *job) {
    const rg_contact_step *contacts = job->contacts;
    double largest = 0;
    for (size_t i = 0; contacts->left.count && i < job->world->content.bodies.count; i++)
        if (contacts->left.resting[i])
            largest = fmax(largest, rg_length(contacts->free_velocity[i]));
    return largest;
}

void rg_contacts_rest_start(rg_contact_job *job) {
    rg_contact_step *contacts = job->contacts;
    const rg_islands_at_rest *memory = &job->machinery->resting;
    for (size_t i = 0; contacts->left.count && i < memory->bodies; i++)
        if (contacts->left.resting[i])
            contacts->residual[i] = memory->islands[memory->leader1[i] - 1].residual.natural;
    for (size_t i = 0; contacts->left.rested && i < contacts->set.count; i++) {
        const rg_contact_row *row = &contacts->set.rows[i];
        if (!job->start[i] && ((row->moves_a && contacts->left.rested[row->body_a]) ||
                               (row->moves_b && contacts->left.rested[row->body_b])))
            job->start[i] = job->last[i];
    }
}

/* --- all forces, and who rests next ----------------------------------------------------------- */

static rg_contact_force *take_room(const rg_contact_job *job, size_t count) {
    const rg_contact_step *contacts = job->contacts;
    rg_memory_block *room = job->machinery->force_room;
    if (!contacts->stores)
        return rg_arena_take(&job->world->scratch, count, sizeof *contacts->forces);
    room += room->data == contacts->forces;
    if (rg_array_reserve(&job->machinery->allocator, &room->data, &room->capacity,
                         (count + 1) * sizeof *contacts->forces, 1))
        return NULL;
    return room->data;
}

rg_status rg_contacts_all_forces(rg_contact_job *job, rg_contact_force **forces, size_t *count) {
    const rg_contact_step *contacts = job->contacts;
    size_t own = 0, at = 0;
    *forces = contacts->forces;
    *count = contacts->set.count + contacts->left.count;
    if (contacts->left.count == 0)
        return RG_OK;
    *forces = take_room(job, *count);
    if (!*forces)
        return RG_OUT_OF_MEMORY;
    for (size_t t = 0; t < contacts->left.touch_count; t++) {
        const rg_left_touch *left = &contacts->left.touches[t];
        size_t end = own;
        while (end < contacts->set.count && contacts->set.links[end].touch == t)
            end++;
        if (end > own)
            memcpy(*forces + at, contacts->forces + own, (end - own) * sizeof **forces);
        if (left->count)
            memcpy(*forces + at, contacts->last + left->first, left->count * sizeof **forces);
        at += end - own + left->count;
        own = end;
    }
    return RG_OK;
}

static bool is_where_it_was(const rg_world_content *c, const rg_bodies_after *after, size_t i) {
    return memcmp(&after->position[i], &c->position[i], sizeof *c->position) == 0 &&
           memcmp(&after->orientation[i], &c->orientation[i], sizeof *c->orientation) == 0 &&
           memcmp(&after->angle[i], &c->angle[i], sizeof *c->angle) == 0 &&
           memcmp(&after->momentum[i], &c->momentum[i], sizeof *c->momentum) == 0 &&
           memcmp(&after->angular_momentum[i], &c->angular_momentum[i],
                  sizeof *c->angular_momentum) == 0 &&
           memcmp(&after->velocity[i], &c->velocity[i], sizeof *c->velocity) == 0 &&
           memcmp(&after->angular_velocity[i], &c->angular_velocity[i],
                  sizeof *c->angular_velocity) == 0 &&
           rg_is_zero(c->velocity[i]) && rg_is_zero(c->angular_velocity[i]);
}

/* Did it leave everything as it was? Its solve was that of the step before. */
static bool repeats_itself(const rg_contact_job *job, const rg_island *island,
                           const rg_bodies_after *after) {
    const rg_contact_step *contacts = job->contacts;
    const uint32_t *bodies = contacts->islands.bodies + island->first_body;
    const uint32_t *list = contacts->islands.contacts + island->first_contact;
    if (island->joint_count || !island->body_count || !contacts->recalled[bodies[0]])
        return false;
    for (size_t k = 0; k < island->body_count; k++)
        if (!is_where_it_was(&job->world->content, after, bodies[k]))
            return false;
    for (size_t k = 0; k < island->contact_count; k++) {
        const rg_contact_force *last = job->last[list[k]];
        if (!last || memcmp(last, &contacts->forces[list[k]], sizeof *last) != 0)
            return false;
    }
    return true;
}

static bool make_room(rg_islands_at_rest *memory, const rg_allocator *allocator, size_t bodies) {
    return !rg_array_grow(allocator, &memory->leader1, &memory->leader_capacity, bodies) &&
           !rg_array_grow(allocator, &memory->islands, &memory->island_capacity, bodies);
}

void rg_contacts_note_rest(rg_contact_job *job, const rg_bodies_after *after) {
    const rg_contact_step *contacts = job->contacts;
    rg_islands_at_rest *memory = &job->machinery->resting;
    size_t bodies = job->world->content.bodies.count;
    memory->known = false;
    if (!contacts->left.allowed || contacts->member || contacts->rows != RG_ROWS_ALL ||
        !make_room(memory, &job->machinery->allocator, bodies))
        return;
    for (size_t i = 0; i < bodies; i++)
        if (!contacts->left.resting || !contacts->left.resting[i])
            memory->leader1[i] = 0;
    for (size_t k = 0; k < contacts->islands.count && contacts->set.count; k++) {
        const rg_island *island = &contacts->islands.islands[k];
        if (!repeats_itself(job, island, after))
            continue;
        const uint32_t *list = contacts->islands.bodies + island->first_body;
        for (size_t b = 0; b < island->body_count; b++)
            memory->leader1[list[b]] = list[0] + 1;
        memory->islands[list[0]] =
            (rg_resting_island){(uint32_t)island->contact_count, contacts->answers[list[0]]};
    }
    memory->known = true;
    memory->step = contacts->step;
    memory->speed = job->speed;
    memory->revision = job->world->revision;
    memory->bodies = bodies;
}
