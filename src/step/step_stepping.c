/* The time-stepping method (Hart-Anitescu 2010): one fixed step, one complementarity problem per
 * island for the velocities, then positions with the new velocities, q+ = q + h v+ (the paper's
 * Algorithm 9 prints the old ones; section 4.1 is right). rg_stepping_make is the table of
 * contents. */
#include "step/step_stepping.h"
#include "base/base_text.h"
#include "contact/contact.h"
#include "step/step_stage.h"

/* Contacts are looked for again after impacts, with the velocities that they gave: at most so
 * often. */
#define PASSES_MOST 4

/* Did impacts change a velocity so much that bodies may meet which were not looked at? */
static bool has_impacts(const rg_stepping *job) {
    const rg_world_content *c = job->content;
    double fall = RG_CONTACT_AHEAD * rg_length(c->gravity) * job->step;
    for (size_t i = 0; i < c->bodies.count; i++) {
        rg_vec3 change = rg_sub(job->end.velocity[i], job->free.velocity[i]);
        rg_vec3 turn = rg_sub(job->end.angular_velocity[i], job->free.angular_velocity[i]);
        if (rg_length(change) + c->dynamics[i].gyration_radius * rg_length(turn) > fall)
            return true;
    }
    return false;
}

/* Contact points at the poses of the beginning, as far ahead as velocities reach: those of the
 * beginning, those that forces other than gravity give, and those after impacts of an earlier
 * pass. */
static rg_status find_contacts(rg_stepping *job, rg_contact_job *contacts, int pass,
                               rg_error *error) {
    rg_world *world = contacts->world;
    rg_collision *collision = contacts->machinery->collision;
    const rg_stepping_velocities *v = pass > 0 ? &job->end : job->force ? &job->free : NULL;
    rg_collision_velocities after = {v ? v->velocity : NULL, v ? v->angular_velocity : NULL};
    double ahead = job->content->settings.discrete_detection ? 0 : job->step;
    rg_stage_enter(world, RG_STAGE_PAIRS);
    rg_status status = rg_collision_find_pairs(collision, world, ahead, v ? &after : NULL, error);
    rg_stage_enter(world, RG_STAGE_POINTS);
    if (!status)
        status = rg_collision_find_points(collision, world, pass > 0, error);
    contacts->view = rg_collision_get(collision);
    return status;
}

/* From contact points to velocities. `first`: forces of the pass before. */
static rg_status find_forces(rg_stepping *job, rg_contact_job *contacts,
                             const rg_contact_force *first, size_t first_count, rg_error *error) {
    rg_world *world = contacts->world;
    rg_contact_step *step = &job->contacts;
    rg_stage_enter(world, RG_STAGE_ROWS);
    rg_status status = rg_contacts_rows(contacts, first, first_count);
    rg_stage_enter(world, RG_STAGE_ISLANDS);
    if (!status)
        status = rg_islands_find(&step->set, world->content.bodies.count, &world->scratch,
                                 &step->islands);
    if (status)
        return rg_fail(error, status, "no memory for contacts");
    rg_stage_enter(world, RG_STAGE_SOLVE);
    status = rg_contacts_solve(contacts, error);
    rg_stage_enter(world, RG_STAGE_APPLY);
    if (status)
        return status;
    rg_stepping_apply(job);
    rg_contacts_describe(contacts);
    return RG_OK;
}

static void begin_contacts(rg_stepping *job) {
    job->contacts = (rg_contact_step){.step = job->step,
                                      .end_time = job->end_time,
                                      .free_velocity = job->free.velocity,
                                      .free_angular_velocity = job->free.angular_velocity,
                                      .velocity = job->end.velocity,
                                      .angular_velocity = job->end.angular_velocity,
                                      .member = job->member,
                                      .last = job->last,
                                      .last_count = job->last_count,
                                      .shown = job->shown,
                                      .counts = rg_solve_counts_none()};
}

/* For those who want to know who touches: pairs with contact forces. */
static rg_status mark_contacts(const rg_contact_step *contacts, rg_collision *collision,
                               rg_error *error) {
    for (size_t i = 0; i < contacts->set.count; i++) {
        const rg_contact_force *f = &contacts->forces[i];
        if (f->mode != RG_MODE_SEPARATING &&
            rg_collision_mark(collision, f->collider_b, f->collider_a))
            return rg_fail(error, RG_OUT_OF_MEMORY, "no memory for contacts");
    }
    return RG_OK;
}

static void tell_contacts(rg_step_report *report, const rg_contact_step *contacts) {
    report->contacts = contacts->set.count;
    report->counts = contacts->counts;
    report->impacts = contacts->impacts;
}

rg_status rg_stepping_make(rg_world *world, rg_stepping *job, rg_error *error) {
    rg_contact_job contacts = {.world = world, .contacts = &job->contacts};
    rg_stage_enter(world, RG_STAGE_FORCES);
    rg_status status = rg_machinery_of(world, &contacts.machinery, error);
    if (!status)
        status = rg_stepping_free(world, job, error);
    if (status)
        return status;
    begin_contacts(job);
    for (int pass = 0; pass < PASSES_MOST; pass++) {
        const rg_contact_force *first = job->contacts.forces;
        size_t first_count = job->contacts.set.count, seen = contacts.view.point_count;
        status = find_contacts(job, &contacts, pass, error);
        if (status || (pass > 0 && contacts.view.point_count <= seen))
            break;
        status = find_forces(job, &contacts, first, first_count, error);
        bool more =
            !status && !world->content.settings.discrete_detection &&
            (contacts.view.left_out > 0 || (job->contacts.set.count > 0 && has_impacts(job)));
        if (!more)
            break;
    }
    if (!status)
        status = mark_contacts(&job->contacts, contacts.machinery->collision, error);
    rg_stage_enter(world, RG_STAGE_MOVE);
    if (!status)
        status = rg_stepping_move(world, job, error);
    if (!status)
        tell_contacts(&job->report, &job->contacts);
    return status;
}

static rg_status step_stepping(rg_world *world, double end_time, rg_step_report *report,
                               rg_error *error) {
    rg_stepping job = {.end_time = end_time};
    job.last = rg_world_contact_forces(world, &job.last_count);
    rg_status status = rg_stepping_make(world, &job, error);
    rg_stage_enter(world, RG_STAGE_STORE);
    if (!status)
        status = rg_contacts_store(world, job.contacts.forces, job.contacts.set.count, error);
    if (status)
        return status;
    rg_stepping_commit(world, &job);
    *report = job.report;
    return RG_OK;
}

const rg_method rg_method_stepping = {
    .name = "stepping",
    .summary = "fixed steps, one complementarity problem each (Hart-Anitescu 2010)",
    .step = step_stepping};
