/* The time-stepping method (Hart-Anitescu 2010): one fixed step, one complementarity problem per
 * island for the velocities, then positions with the new velocities, q+ = q + h v+ (the paper's
 * Algorithm 9 prints the old ones; section 4.1 is right). Bodies that meet with restitution make
 * their step in parts (step_stepping_impacts.c). rg_stepping_make is the table of contents. */
#include "step/step_stepping.h"
#include "base/base_text.h"
#include "contact/contact.h"
#include "step/step_rest.h"
#include "step/step_stage.h"

/* Contacts are looked for again after impacts, with the velocities that they gave: at most so
 * often. */
#define PASSES_MOST 4

/* Did impacts, or joints that became taut, change a velocity so much that bodies may meet which
 * were not looked at; or the square of the rate of turning, so that what it bends, h^2 w^2 r / 2,
 * is another? */
static bool has_impacts(const rg_stepping *job) {
    const rg_world_content *c = job->content;
    double fall = RG_CONTACT_AHEAD * rg_length(c->gravity) * job->step;
    for (size_t i = 0; i < c->bodies.count; i++) {
        if (!rg_stepping_moves(job, i))
            continue;
        rg_vec3 change = rg_sub(job->end.velocity[i], job->free.velocity[i]);
        rg_vec3 turn = rg_sub(job->end.angular_velocity[i], job->free.angular_velocity[i]);
        if (rg_length(change) + c->dynamics[i].gyration_radius * rg_length(turn) > fall)
            return true;
        rg_vec3 now = job->end.angular_velocity[i], then = job->free.angular_velocity[i];
        double squares = rg_dot(rg_sub(now, then), rg_add(now, then));
        if (0.5 * job->step * job->step * fabs(squares) > RG_CONTACT_NEAR)
            return true;
    }
    return false;
}

rg_status rg_stepping_look(rg_stepping *job, rg_contact_job *contacts, int pass, rg_error *error) {
    rg_world *world = contacts->world;
    rg_collision *collision = contacts->collision;
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

/* Those of joints without contacts and limits stay while nothing is edited or broken. */
static rg_status find_islands(rg_contact_job *contacts) {
    rg_world *world = contacts->world;
    rg_contact_step *step = contacts->contacts;
    rg_joints_seen *seen = &contacts->machinery->seen;
    size_t bodies = world->content.bodies.count;
    bool stay = step->set.count == 0 && !step->member && step->joints.count > 0 &&
                step->joints.count == seen->tree.rows &&
                rg_articulated_takes(&seen->tree, &world->content, NULL);
    if (!stay)
        return rg_islands_find(&step->set, &step->joints, bodies, &world->scratch, &step->islands);
    rg_status status = RG_OK;
    if (!seen->islands.islands)
        status = rg_islands_find(&step->set, &step->joints, bodies, &seen->memory, &seen->islands);
    step->islands = seen->islands;
    return status;
}

rg_status rg_stepping_rows(rg_contact_job *contacts, const rg_contact_force *first,
                           size_t first_count, rg_error *error) {
    rg_world *world = contacts->world;
    rg_stage_enter(world, RG_STAGE_ROWS);
    rg_status status = rg_contacts_rows(contacts, first, first_count);
    rg_stage_enter(world, RG_STAGE_ISLANDS);
    if (!status)
        status = find_islands(contacts);
    return status ? rg_fail(error, status, "no memory for contacts") : RG_OK;
}

rg_status rg_stepping_forces(rg_stepping *job, rg_contact_job *contacts, rg_error *error) {
    rg_world *world = contacts->world;
    rg_stage_enter(world, RG_STAGE_SOLVE);
    rg_status status = rg_contacts_solve(contacts, error);
    rg_stage_enter(world, RG_STAGE_APPLY);
    if (status)
        return status;
    rg_stepping_apply(job, world->pool);
    rg_contacts_describe(contacts);
    return RG_OK;
}

/* Whether islands that rest may be left out: of a whole step, of which nothing else is asked.
 * Speeds are those that gravity gives: others are relative to what rests, too. */
static bool may_rest(const rg_world *world, const rg_stepping *job) {
    return job->whole == 0 && !job->restless && !job->member && !job->apart &&
           rg_length(job->content->gravity) > 0 && rg_rest_is_closed(world);
}

rg_status rg_stepping_begin(rg_stepping *job, rg_contact_job *contacts, rg_error *error) {
    rg_stage_enter(contacts->world, RG_STAGE_FORCES);
    rg_status status = rg_stepping_free(contacts->world, job, error);
    if (status)
        return status;
    job->contacts = (rg_contact_step){.step = job->step,
                                      .end_time = job->end_time,
                                      .whole = job->whole > 0 ? job->whole : job->step,
                                      .stores = job->stores,
                                      .rows = job->rows,
                                      .external = job->force,
                                      .free_velocity = job->free.velocity,
                                      .free_angular_velocity = job->free.angular_velocity,
                                      .velocity = job->end.velocity,
                                      .angular_velocity = job->end.angular_velocity,
                                      .member = job->member,
                                      .apart = job->apart,
                                      .last = job->last,
                                      .last_count = job->last_count,
                                      .last_step = job->last_step > 0 ? job->last_step : job->step,
                                      .left.allowed = may_rest(contacts->world, job),
                                      .shown = job->shown,
                                      .counts = rg_solve_counts_none()};
    contacts->contacts = &job->contacts;
    return RG_OK;
}

static void leave_to_groups(rg_stepping *job) {
    if (!job->groups.any)
        return;
    job->contacts.member = job->groups.rest;
    job->contacts.apart = job->groups.stepped;
}

/* Rows of a pass. In the first one of a whole step, bodies whose impacts are followed leave. */
static rg_status make_rows(rg_stepping *job, rg_contact_job *contacts, int pass, rg_error *error) {
    leave_to_groups(job);
    rg_status status =
        rg_stepping_rows(contacts, job->contacts.forces, job->contacts.set.count, error);
    bool chooses = pass == 0 && job->whole == 0 && !job->groups.any &&
                   !job->content->settings.discrete_detection;
    if (status || !chooses)
        return status;
    if (rg_stepping_group(job, contacts))
        return rg_fail(error, RG_OUT_OF_MEMORY, "no memory for contacts");
    if (!job->groups.any)
        return RG_OK;
    leave_to_groups(job);
    return rg_stepping_rows(contacts, NULL, 0, error);
}

/* Forces of a pass. In the first one large islands are solved only as well as is needed to see who
 * meets; if contacts need not be looked for again, or this is the last pass, for good. */
static rg_status solve_pass(rg_stepping *job, rg_contact_job *contacts, int pass, bool *more,
                            rg_error *error) {
    rg_contact_step *step = &job->contacts;
    bool looks = !job->content->settings.discrete_detection;
    step->rough = looks && pass == 0;
    rg_status status = rg_stepping_forces(job, contacts, error);
    *more = !status && looks &&
            (contacts->view.left_out > 0 ||
             (step->set.count + step->left.count + step->joints.count > 0 && has_impacts(job)));
    if (status || *more || !step->unfinished)
        return status;
    step->rough = false;
    step->repeats = true;
    status = rg_stepping_forces(job, contacts, error);
    step->repeats = false;
    *more = !status && has_impacts(job);
    return status;
}

rg_status rg_stepping_passes(rg_stepping *job, rg_contact_job *contacts, bool looked,
                             rg_error *error) {
    rg_profile *profile = &contacts->world->clock.profile;
    rg_status status = RG_OK;
    bool more = true;
    job->contacts.unfinished = false;
    for (int pass = 0; pass < PASSES_MOST && more; pass++) {
        size_t seen = contacts->view.point_count, left_out = contacts->view.left_out;
        if (pass > 0 || !looked)
            status = rg_stepping_look(job, contacts, pass, error);
        bool same = contacts->view.point_count <= seen && contacts->view.left_out >= left_out &&
                    !rg_collision_bent(contacts->collision);
        if (status || (pass > 0 && same && !job->contacts.unfinished))
            break;
        *(job->whole > 0 ? &profile->parts : &profile->passes) += 1;
        status = make_rows(job, contacts, pass, error);
        if (!status)
            rg_stepping_halve(job);
        if (!status)
            status = solve_pass(job, contacts, pass, &more, error);
        if (status)
            break;
    }
    return status;
}

static bool is_of_pair(const rg_contact_force *x, const rg_contact_force *y) {
    return x && rg_same_bits(&x->collider_b, &y->collider_b, 1) &&
           rg_same_bits(&x->collider_a, &y->collider_a, 1);
}

/* For those who want to know who touches: pairs with contact forces. Where all bodies made the step
 * as a whole, only one force of each pair is read: they are many, and long. */
static rg_status mark_contacts(const rg_stepping *job, rg_collision *collision, rg_error *error) {
    const rg_contact_step *step = &job->contacts;
    bool whole = job->forces == step->forces && step->left.count == 0;
    uint32_t touch = UINT32_MAX;
    const rg_contact_force *last = NULL;
    for (size_t i = 0; i < job->force_count; i++) {
        const rg_contact_force *f = &job->forces[i];
        if (whole ? !step->loaded[i] || step->set.links[i].touch == touch
                  : f->mode == RG_MODE_SEPARATING || is_of_pair(last, f))
            continue;
        touch = whole ? step->set.links[i].touch : touch;
        last = f;
        if (rg_collision_mark(collision, f->collider_b, f->collider_a))
            return rg_fail(error, RG_OUT_OF_MEMORY, "no memory for contacts");
    }
    return RG_OK;
}

/* Groups are found by contacts: where some were left out, the step is made again with all, from
 * where it began. */
static rg_status join_broken(rg_stepping *job, rg_contact_job *contacts,
                             const rg_stepping_breaks *breaks, rg_error *error) {
    if (job->contacts.left.count == 0)
        return rg_stepping_group_broken(job, contacts, breaks);
    job->restless = true;
    return rg_collision_begin(contacts->collision, contacts->world, error);
}

static void note_rest(const rg_stepping *job, rg_contact_job *contacts) {
    rg_bodies_after after = {.position = job->position,
                             .orientation = job->orientation,
                             .angle = job->angle,
                             .momentum = job->end.momentum,
                             .angular_momentum = job->end.angular_momentum,
                             .velocity = job->end.velocity,
                             .angular_velocity = job->end.angular_velocity};
    rg_contacts_note_rest(contacts, &after);
}

/* Bodies that do not make their step in parts, with their motion; *again: some of them have to, and
 * so the step of all others is to be made again. */
static rg_status make_whole(rg_world *world, rg_stepping *job, rg_contact_job *contacts,
                            bool *again, rg_error *error) {
    rg_stepping_breaks breaks = {0};
    rg_status status = rg_stepping_begin(job, contacts, error);
    if (!status && rg_joints_begin(&world->content, job->step, &world->scratch, &job->joints))
        status = rg_fail(error, RG_OUT_OF_MEMORY, "no memory for joints");
    if (!status)
        status = rg_stepping_passes(job, contacts, false, error);
    if (status)
        return status;
    if (job->joints)
        rg_joints_add(&job->contacts.joints, job->joints);
    if (rg_contacts_all_forces(contacts, &job->forces, &job->force_count))
        return rg_fail(error, RG_OUT_OF_MEMORY, "no memory for contacts");
    *again = job->contacts.joined;
    if (*again) {
        rg_stepping_join(job, job->contacts.join_a, job->contacts.join_b);
        return RG_OK;
    }
    rg_stage_enter(world, RG_STAGE_MOVE);
    status = rg_stepping_move(world, job, error);
    if (status)
        return status;
    if (!job->content->settings.discrete_detection)
        status = rg_stepping_check(job, contacts, &breaks);
    *again = !status && breaks.count > 0;
    if (*again)
        status = join_broken(job, contacts, &breaks, error);
    else if (!status)
        note_rest(job, contacts);
    return status ? rg_fail(error, status, "contacts: %s", rg_status_text(status)) : RG_OK;
}

/* Again as long as groups of bodies that make their step in parts grow. */
static rg_status make_all(rg_world *world, rg_stepping *job, rg_contact_job *contacts,
                          rg_error *error) {
    for (;;) {
        bool again = false;
        rg_status status = rg_step_confirm(world, error);
        if (!status)
            status = make_whole(world, job, contacts, &again, error);
        if (!status && !again && job->groups.any)
            status = rg_stepping_follow(world, job, &again, error);
        if (status || !again)
            return status;
    }
}

static void tell(rg_stepping *job) {
    rg_step_report *r = &job->report;
    const rg_step_report *parts = &job->parts;
    r->contacts = job->force_count;
    r->counts = job->contacts.counts;
    r->impacts = job->contacts.impacts;
    if (!job->groups.any)
        return;
    r->found = rg_judge_findings_none();
    rg_step_report_add(r, parts);
    r->varies = true;
    r->judged = job->groups.rest;
    r->tracks = parts->tracks;
}

/* What joints did at the end of the step, too; and all of it for the judge. */
static rg_status tell_joints(rg_world *world, rg_stepping *job, rg_error *error) {
    rg_judge_joint *wrenches, *end;
    rg_joints_add_missed(&job->contacts.joints, job->step, job->missed);
    for (size_t j = 0; j < world->content.joints.count; j++)
        job->report.missed = fmax(job->report.missed, job->missed[j]);
    rg_joints_log_missed(world, job->missed, job->step, job->end_time);
    rg_joints_add(&job->end_joints, job->joints);
    if (!world->certify)
        return RG_OK;
    if (rg_joints_tell_held(&world->content, &job->contacts.joints, job->held, &world->scratch,
                            &wrenches, &job->report.joint_count) ||
        rg_stepping_tell_end(job, &world->scratch, &end, &job->report.end_joint_count))
        return rg_fail(error, RG_OUT_OF_MEMORY, "no memory for joints");
    job->report.joints = wrenches, job->report.end_joints = end;
    return RG_OK;
}

rg_status rg_stepping_make(rg_world *world, rg_stepping *job, rg_error *error) {
    rg_contact_job contacts = {.world = world};
    rg_stage_enter(world, RG_STAGE_FORCES);
    rg_status status = rg_machinery_of(world, &contacts.machinery, error);
    if (status)
        return status;
    contacts.collision = contacts.machinery->collision;
    if (world->content.joints.count) {
        size_t bytes = world->content.joints.count * sizeof *job->missed;
        job->missed = rg_arena_take(&world->scratch, bytes, 1);
        if (!job->missed)
            return rg_fail(error, RG_OUT_OF_MEMORY, "no memory for joints");
        memset(job->missed, 0, bytes);
    }
    status = make_all(world, job, &contacts, error);
    if (!status)
        status = mark_contacts(job, contacts.collision, error);
    if (!status)
        tell(job);
    if (!status && job->joints)
        status = tell_joints(world, job, error);
    return status;
}

static rg_status step_stepping(rg_world *world, double step, double end_time,
                               rg_step_report *report, rg_error *error) {
    rg_stepping job = {.step = step, .end_time = end_time, .stores = true};
    job.last = rg_world_contact_forces(world, &job.last_count);
    rg_status status = rg_stepping_make(world, &job, error);
    rg_stage_enter(world, RG_STAGE_STORE);
    if (!status)
        status = rg_step_confirm(world, error);
    if (!status)
        status = rg_contacts_store(world, job.forces, job.force_count, error);
    if (status)
        return status;
    bool moved = rg_stepping_commit(world, &job);
    rg_joints_store(world, job.joints);
    *report = job.report;
    report->still = !moved;
    return RG_OK;
}

const rg_method rg_method_stepping = {
    .name = "stepping",
    .summary = "fixed steps, one complementarity problem each (Hart-Anitescu 2010)",
    .step = step_stepping};
