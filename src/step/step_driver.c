/* One step of the world: the table of contents. */
#include "base/base_text.h"
#include "contact/contact.h"
#include "step/step_judge.h"
#include "step/step_log.h"
#include "step/step_machinery.h"
#include "step/step_method.h"
#include "step/step_stage.h"

#include <assert.h>
#include <string.h>

_Static_assert((int)RG_JUDGE_LANES <= (int)RG_STEP_LANES, "the judge uses the arenas of islands");

/* Where a kinematic body will be at the end, which it gets to without a jump. */
static rg_status find_kinematic(const rg_world_content *c, size_t i, double end_time,
                                rg_motion_state *end, rg_error *error) {
    rg_status status = rg_prescription_find(c, i, end_time, end, error);
    if (status)
        return status;
    rg_motion_state states[2] = {{.position = c->position[i],
                                  .orientation = c->orientation[i],
                                  .velocity = c->velocity[i],
                                  .angular_velocity = c->angular_velocity[i]},
                                 *end};
    double times[2] = {c->time, end_time};
    return rg_prescription_check_step(c, i, states, times, error);
}

/* Where the kinematic bodies will be at the end, in the order of the bodies; null if there are
 * none. */
static rg_status prepare_kinematic(rg_world *world, double end_time, rg_motion_state **states,
                                   rg_error *error) {
    const rg_world_content *c = &world->content;
    *states = NULL;
    if (c->prescription_count == 0)
        return RG_OK;
    rg_motion_state *next =
        rg_arena_take(&world->scratch, c->prescription_count, sizeof(rg_motion_state));
    if (!next)
        return rg_fail(error, RG_OUT_OF_MEMORY, "no memory for the step");
    *states = next;
    rg_status status = RG_OK;
    for (size_t i = 0; i < c->bodies.count && !status; i++)
        if (c->record[i].prescription1)
            status = find_kinematic(c, i, end_time, next++, error);
    return status;
}

/* By the method. What a motion without a value led to is of no interest: the fault is. */
static rg_status make_step(rg_world *world, double step, double end_time, rg_step_report *report,
                           rg_error *error) {
    rg_status status = rg_method_of(world)->step(world, step, end_time, report, error),
              fault = rg_prescription_fault(&world->content, error);
    return fault ? fault : status;
}

static void move_kinematic(rg_world_content *c, const rg_motion_state *states) {
    for (size_t i = 0; states && i < c->bodies.count; i++) {
        if (!c->record[i].prescription1)
            continue;
        c->position[i] = states->position;
        c->orientation[i] = states->orientation;
        c->angle[i] = states->angle;
        c->velocity[i] = states->velocity;
        c->angular_velocity[i] = states->angular_velocity;
        states++;
    }
}

static void count_step(rg_world_content *c, const rg_step_report *report, rg_step_info *info) {
    rg_step_info *sum = &c->run.summary;
    info->steps = 1;
    info->time = c->time;
    info->substeps = report->substeps;
    info->rejected = report->rejected;
    info->evaluations = report->evaluations;
    info->contacts_max = report->contacts;
    info->impacts = report->impacts;
    info->solves = report->counts.solves;
    info->solver_iterations = report->counts.iterations;
    info->solver_failures = report->counts.failures;
    info->fallbacks = report->counts.fallbacks;
    rg_step_info_count(sum, info);
    sum->profile.step += info->profile.step;
    sum->profile.judge += info->profile.judge;
}

/* Where forces vary within the step, what the judge found as the method went takes the place of
 * what it finds from the forces of the end, but for bodies whose contacts had one impulse over the
 * step. */
static void tell_work(const rg_step_report *report, rg_judge_contacts *contacts) {
    rg_judge_contacts found = *contacts;
    contacts->friction = report->found.friction;
    contacts->drive = report->found.drive;
    contacts->impact = report->found.impact;
    contacts->stabilisation = report->found.stabilisation + report->stabilisation;
    contacts->prescribed = report->found.prescribed + report->prescribed_work;
    contacts->integration = report->integration;
    contacts->impulse = report->contact_impulse;
    contacts->angular_impulse = report->contact_angular_impulse;
    if (report->judged)
        rg_judge_contacts_add(contacts, &found);
}

static rg_overlap overlap_told(const rg_world_content *c, const rg_judge_overlap *found,
                               const double span[2]) {
    if (!(found->depth > 0))
        return (rg_overlap){0};
    return (rg_overlap){.depth = found->depth,
                        .size = found->size,
                        .time = found->time,
                        .body_a = rg_body_id_at(c, found->body[0]),
                        .body_b = rg_body_id_at(c, found->body[1]),
                        .within_step = span[0] < found->time && found->time < span[1]};
}

static void keep_overlaps(rg_world_content *c, const rg_judge_gaps *gaps) {
    rg_overlap_record *kept = &c->overlaps;
    rg_overlap deepest = overlap_told(c, &gaps->deepest, gaps->span);
    kept->last = overlap_told(c, &gaps->standing, gaps->span);
    if (deepest.depth * kept->deepest.size > kept->deepest.depth * deepest.size ||
        kept->deepest.depth == 0)
        kept->deepest = deepest;
}

/* The machinery keeps what a step that repeats this one has to tell. */
static void judge_step(rg_world *world, const rg_judge_memory *before, double step,
                       const rg_step_report *report, rg_step_machinery *machinery,
                       rg_step_info *info) {
    rg_world_content *c = &world->content;
    rg_step_rest *rest = &machinery->rest;
    rg_judge_totals after = rg_judge_arrive(c, NULL, before);
    machinery->judged = (rg_step_judged){true, world->revision, after};
    rg_judge_pushes forces = {.step = step,
                              .joints = report->joints,
                              .joint_count = report->joint_count,
                              .end_joints = report->end_joints,
                              .end_joint_count = report->end_joint_count,
                              .halved = report->halved,
                              .arrived = true,
                              .pool = world->pool};
    forces.forces = rg_world_contact_forces(world, &forces.count);
    rg_judge_contacts contacts;
    if (rg_judge_work(c, before, forces, report->judged, &world->scratch, &contacts)) {
        rg_judge_measure_nothing(info); /* no memory: nothing was measured */
        rg_judge_forget(&c->run);
        return;
    }
    if (report->varies)
        tell_work(report, &contacts);
    rg_judge_step(&before->totals, &after, report, &contacts, info);
    double open = rg_judge_joint_error(c, before->now); /* NaN without joints */
    info->certificate.joint_error = report->missed > open ? report->missed : open;
    if (c->joints.count && report->counts.solves)
        info->certificate.cone_violation =
            fmax(info->certificate.cone_violation, rg_judge_joint_bounds(c));
    rg_judge_gaps gaps;
    rg_judge_room room = {&world->scratch, machinery->arenas, world->pool, &machinery->order};
    /* Without memory for the search nothing was measured, and the figures stay missing. */
    if (rg_judge_find_gaps(c, before, report, &room, &gaps) == RG_OK && isfinite(gaps.least)) {
        info->certificate.min_gap = gaps.least;
        info->certificate.max_penetration = fmax(0, -gaps.end);
        info->passed_through = gaps.passed;
    }
    keep_overlaps(c, &gaps);
    rg_judge_record(&c->run, &before->totals, &after, &contacts, info);
    if (report->still)
        rest->totals = after, rest->contacts = contacts, rest->info = *info;
}

/* A step that does what the last one did: the clock goes on, and it is told once more. */
static void repeat_step(rg_world *world, const rg_world_content *clock, const rg_step_rest *rest,
                        rg_step_info *info) {
    rg_world_content *c = &world->content;
    c->time = clock->time;
    c->time_carry = clock->time_carry;
    c->step_count++;
    *info = rest->info;
    if (world->certify)
        rg_judge_record(&c->run, &rest->totals, &rest->totals, &rest->contacts, info);
    else
        rg_judge_forget(&c->run);
    info->profile = (rg_step_profile){0};
    count_step(c, &rest->report, info);
}

/* A step that has succeeded: time goes on, and what the next step and readers want to know is
 * kept. */
static void keep_step(rg_world *world, const rg_world_content *clock,
                      const rg_motion_state *kinematic, const rg_step_report *report) {
    rg_world_content *c = &world->content;
    /* Forces are those of the last step: a method without contacts leaves none of another's behind,
     * whose bodies may be gone. */
    if (report->contacts == 0)
        rg_memory_resize(world, RG_MEMORY_FORCES, 0);
    move_kinematic(c, kinematic);
    c->time = clock->time;
    c->time_carry = clock->time_carry;
    c->step_count++;
    rg_applied_end(c);
}

/* The part of a step that forces and motions may look at but not change. */
static rg_status step_closed(rg_world *world, double step, rg_step_info *info, rg_error *error) {
    rg_world_content *c = &world->content;
    rg_world_content clock = {.time = c->time, .time_carry = c->time_carry};
    rg_content_advance_time(&clock, step);
    if (!(clock.time > c->time && isfinite(clock.time)))
        return rg_fail(error, RG_STEP_TOO_SMALL, "a step of %g s does not move the clock at %g s",
                       step, c->time);
    rg_step_machinery *machinery;
    rg_status status = rg_machinery_of(world, &machinery, error);
    if (status)
        return status;
    if (rg_rest_holds(world, &machinery->rest, step)) {
        repeat_step(world, &clock, &machinery->rest, info);
        return RG_OK;
    }
    rg_arena_reset(&world->scratch);

    double judged = world->clock.profile.stage[RG_STAGE_JUDGE];
    rg_judge_memory before = {0};
    rg_stage_enter(world, RG_STAGE_JUDGE);
    rg_step_judged *last = &machinery->judged;
    bool known = last->known && last->revision == world->revision;
    last->known = false; /* unless this step comes to its end */
    if (world->certify &&
        rg_judge_remember(c, NULL, known ? &last->totals : NULL, &world->scratch, &before))
        return rg_fail(error, RG_OUT_OF_MEMORY, "no memory for the judge");

    rg_motion_state *kinematic;
    rg_step_report report = {0};
    rg_stage_enter(world, RG_STAGE_FORCES);
    status = rg_world_check_times(world, clock.time, error);
    if (!status)
        status = prepare_kinematic(world, clock.time, &kinematic, error);
    if (!status)
        status = rg_collision_begin(machinery->collision, world, error);
    rg_step_log_clear(world);
    if (!status)
        status = make_step(world, step, clock.time, &report, error);
    if (status)
        return status;
    report.still = report.still && !c->has_applied; /* the next step is without what was applied */
    rg_stage_enter(world, RG_STAGE_STORE);
    rg_log_sensors(world, c->time);
    keep_step(world, &clock, kinematic, &report);

    rg_stage_enter(world, RG_STAGE_JUDGE);
    if (world->certify) {
        judge_step(world, &before, step, &report, machinery, info);
    } else {
        rg_judge_measure_nothing(info);
        rg_judge_forget(&c->run);
        machinery->rest.info = *info;
    }
    rg_rest_note(world, &machinery->rest, step, &report);
    rg_stage_enter(world, RG_STAGE_STORE);
    info->profile.judge = world->clock.profile.stage[RG_STAGE_JUDGE] - judged;
    info->profile.step = world->clock.since - world->clock.begin - info->profile.judge;
    count_step(c, &report, info);
    return RG_OK;
}

static void call_back(rg_world *world, rg_step_callback *callback, double step) {
    world->in_callback = true;
    if (callback)
        callback(world->callback_user, world, step);
    world->in_callback = false;
}

/* Who asked is answered: the next step is made as usual. */
static rg_status tell_interrupted(rg_world *world, rg_error *error) {
    atomic_store_explicit(&world->stop, false, memory_order_relaxed);
    return rg_fail(error, RG_INTERRUPTED, "the step from t = %.9g s was interrupted",
                   world->content.time);
}

rg_status rg_world_step(rg_world *world, double step, rg_step_info *info, rg_error *error) {
    assert(world);
    rg_step_info local;
    info = info ? info : &local;
    *info = rg_step_info_nothing();
    if (!(step > 0 && step <= RG_STEP_LONGEST))
        return rg_fail(error, RG_INVALID_ARGUMENT, "step: %g s; give a positive number, at most %g",
                       step, RG_STEP_LONGEST);
    if (world->busy)
        return rg_fail(error, RG_BUSY, "%s", rg_status_text(RG_BUSY));
    if (world->in_callback)
        return rg_fail(error, RG_BUSY,
                       "a step callback cannot step its own world; step it after rg_world_step");
    if (rg_world_stops(world))
        return tell_interrupted(world, error);
    call_back(world, world->before_step, step);
    world->busy = true;
    world->step = step;
    rg_stages_begin(world);
    rg_status status = step_closed(world, step, info, error);
    rg_stages_end(world);
    world->busy = false;
    /* What was cut short may have failed of it in another way. */
    if (status && rg_world_stops(world))
        status = tell_interrupted(world, error);
    if (!status)
        call_back(world, world->after_step, step);
    return status;
}
