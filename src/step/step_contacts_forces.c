/* What a fixed step did at its contacts: forces and modes, for readers, for the judge and for the
 * next step. Tested by tests/step/test_contacts.c. */
#include "step/step_contacts.h"

#include "base/base_text.h"
#include "contact/contact.h"
#include "step/step_machinery.h"
#include "step/step_rolling.h"

#include <stddef.h>
#include <string.h>

static rg_contact_mode mode_of(const rg_contact_job *job, size_t i, double normal, double slip,
                               bool curved) {
    const rg_contact_row *row = &job->contacts->set.rows[i];
    const rg_world_content *c = &job->world->content;
    double mass = row->moves_a ? c->dynamics[row->body_a].mass : INFINITY;
    if (row->moves_b && c->dynamics[row->body_b].mass < mass)
        mass = c->dynamics[row->body_b].mass;
    if (!(normal > RG_STEP_NO_FORCE * mass * job->speed))
        return RG_MODE_SEPARATING;
    if (slip > RG_STEP_SLIP * job->speed)
        return RG_MODE_SLIP;
    if (!curved)
        return RG_MODE_STICK;
    rg_vec3 spin = rg_sub(c->angular_velocity[row->body_a], c->angular_velocity[row->body_b]);
    rg_vec3 rolling = rg_add_scaled(spin, -rg_dot(spin, row->normal), row->normal);
    double turning =
        rg_length(rolling) *
        rg_length(rg_sub(row->position, c->position[row->moves_a ? row->body_a : row->body_b]));
    return turning > RG_STEP_SLIP * job->speed ? RG_MODE_ROLL : RG_MODE_STICK;
}

/* Did the solver leave the components that it started from as they were? The vector that they came
 * from is then taken over: turned to and fro, it would change in its last bits for ever. */
static bool is_taken_over(const rg_contact_job *job, size_t i, const double *r) {
    const rg_contact_step *contacts = job->contacts;
    const rg_contact_force *start = job->start[i];
    double first[3];
    if (!start || !rg_same_bits(&start->normal.x, &contacts->set.rows[i].normal.x, 3))
        return false;
    rg_vec3 force = rg_scale(1 / contacts->step, start->impulse); /* steps of the same length? */
    if (!rg_same_bits(&force.x, &start->force.x, 3))
        return false;
    rg_row_components(&contacts->set, i, rg_scale(contacts->step, start->force), first);
    return rg_same_bits(first, r, contacts->set.dimension);
}

/* Rolling and torsional friction. */
static void tell_twist(const rg_contact_job *job, size_t i) {
    const rg_contact_step *contacts = job->contacts;
    const rg_contact_law *law = &contacts->set.rows[i].law;
    rg_contact_force *f = &contacts->forces[i];
    f->angular_impulse = rg_rolling_impulse(contacts, i);
    f->torque = rg_scale(1 / contacts->step, f->angular_impulse);
    f->rolling_friction = law->rolling_friction;
    f->torsional_friction = contacts->set.dimension == 3 ? law->torsional_friction : 0;
}

/* What is stored and compared as bytes has no padding. */
_Static_assert(sizeof(rg_contact_force) == 4 * sizeof(rg_body_id) + 4 * sizeof(uint32_t) +
                                               sizeof(uint64_t) + 6 * sizeof(rg_vec3) +
                                               7 * sizeof(double),
               "rg_contact_force has padding");

typedef struct description {
    const rg_contact_job *job;
    _Atomic uint64_t impacts;
} description;

static void describe_range(void *user, size_t begin, size_t end, size_t chunk) {
    (void)chunk;
    description *told = user;
    const rg_contact_job *job = told->job;
    const rg_contact_step *contacts = job->contacts;
    const rg_row_set *set = &contacts->set;
    size_t d = (size_t)set->dimension;
    uint64_t impacts = 0;
    for (size_t i = begin; i < end; i++) {
        const rg_contact_row *row = &set->rows[i];
        const rg_touch *touch = &job->view.touches[row->touch];
        const rg_manifold *manifold = &job->view.manifolds[row->manifold];
        const rg_contact_point *point = &job->view.points[row->point];
        const double *r = contacts->impulse + i * d;
        double u[3];
        rg_row_velocity(set, i, contacts->velocity, contacts->angular_velocity, u);
        double slip = rg_contact_slip(set, u);
        rg_vec3 impulse = rg_row_force(set, i, r), force = rg_scale(1 / contacts->step, impulse);
        if (is_taken_over(job, i, r))
            impulse = job->start[i]->impulse, force = job->start[i]->force;
        bool met = job->meets[i] && r[0] > 0;
        rg_contact_force *f = &contacts->forces[i];
        memset(&f->angular_impulse, 0, sizeof *f - offsetof(rg_contact_force, angular_impulse));
        f->collider_b = touch->collider_b, f->collider_a = touch->collider_a;
        f->body_b = touch->body_b, f->body_a = touch->body_a;
        f->part_b = manifold->part1, f->part_a = manifold->part2;
        f->id = point->id;
        f->position = row->position, f->normal = row->normal;
        f->gap = row->gap;
        f->impulse = impulse, f->force = force;
        f->normal_force = r[0] / contacts->step;
        f->friction = job->mu[i];
        f->slip_speed = slip;
        f->approach = -job->before[i * d];
        f->mode = mode_of(job, i, r[0], slip, point->feature.kind == RG_FEATURES_SMOOTH);
        f->impact = met;
        contacts->loaded[i] = f->mode != RG_MODE_SEPARATING;
        impacts += met;
        if (contacts->twists)
            tell_twist(job, i);
    }
    told->impacts += impacts;
}

void rg_contacts_describe(rg_contact_job *job) {
    description told = {.job = job};
    rg_parallel_for(job->world->pool, job->contacts->set.count, RG_STEP_CONTACTS_PER_CHUNK,
                    describe_range, &told);
    job->contacts->impacts = told.impacts;
}

/* The room of the machinery that forces are in, or null. */
static rg_memory_block *room_of(rg_step_machinery *machinery, const rg_contact_force *forces) {
    for (size_t i = 0; forces && i < 2; i++)
        if (machinery->force_room[i].data == forces)
            return &machinery->force_room[i];
    return NULL;
}

rg_status rg_contacts_store(rg_world *world, const rg_contact_force *forces, size_t count,
                            rg_error *error) {
    rg_step_machinery *machinery = world->machinery;
    rg_memory_block *room = room_of(machinery, forces),
                    *kept = &world->content.memory[RG_MEMORY_FORCES];
    size_t bytes = count * sizeof *forces;
    if ((!room && !rg_memory_reserve(world, RG_MEMORY_FORCES, bytes)) ||
        rg_collision_store(machinery->collision, world))
        return rg_fail(error, RG_OUT_OF_MEMORY, "no memory for contacts");
    if (room) {
        rg_memory_block made = {room->data, bytes, room->capacity};
        *room = *kept;
        *kept = made;
        return RG_OK;
    }
    void *memory = rg_memory_resize(world, RG_MEMORY_FORCES, bytes);
    if (bytes)
        memcpy(memory, forces, bytes);
    return RG_OK;
}

const rg_contact_force *rg_world_contact_forces(const rg_world *world, size_t *count) {
    const rg_memory_block *block = &world->content.memory[RG_MEMORY_FORCES];
    *count = block->size / sizeof(rg_contact_force);
    return block->data;
}

size_t rg_body_contact_force(const rg_world *world, rg_body_id body, rg_vec3 *force,
                             rg_vec3 *torque) {
    size_t count, found = 0;
    const rg_contact_force *forces = rg_world_contact_forces(world, &count);
    rg_vec3 sum = {0, 0, 0}, moment = {0, 0, 0};
    rg_vec3 centre = world->content.position[rg_body_dense(&world->content, body)];
    for (size_t i = 0; i < count; i++) {
        const rg_contact_force *f = &forces[i];
        bool is_a = f->body_a.index1 == body.index1 && f->body_a.generation == body.generation;
        bool is_b = f->body_b.index1 == body.index1 && f->body_b.generation == body.generation;
        if (!is_a && !is_b)
            continue;
        rg_vec3 given = is_a ? f->force : rg_neg(f->force);
        sum = rg_add(sum, given);
        moment = rg_add(moment, rg_cross(rg_sub(f->position, centre), given));
        moment = rg_add_scaled(moment, is_a ? 1 : -1, f->torque);
        found++;
    }
    if (force)
        *force = sum;
    if (torque)
        *torque = moment;
    return found;
}

const char *rg_contact_mode_name(rg_contact_mode mode) {
    static const char *const names[] = {"separating", "stick", "slip", "roll", "sensor"};
    return (unsigned)mode < RG_MODE_COUNT ? names[mode] : "unknown";
}
