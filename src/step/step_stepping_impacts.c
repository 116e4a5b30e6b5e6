/* Bodies that make a fixed step in parts: impacts with restitution, followed one after the other,
 * and motions that would let bodies pass through each other.
 *
 * One problem over a whole step knows the velocities of its beginning only: a ball that is struck
 * within it strikes the next one without restitution, and rebounds where it was when the step
 * began. So bodies that meet others with restitution make their step in parts. Bodies that have
 * contacts with each other are a group; of a group of which some meet with restitution
 *
 *     until the step is over:
 *         look for contacts for the rest of the step;
 *         do some touch that approach each other? They meet: an impact, at an instant;
 *         else all go on, by a step of the usual kind, to the time when the first meet.
 *
 * An impact is the usual problem, with restitution and friction, of the contacts that touch, at the
 * velocities of now and without gaps. In the steps between, contacts that meet with restitution
 * have no rows (they are not reached), so that bodies that fly move along their parabolas; all
 * others, such as those that rest, are part of a problem as ever. The time is exact for balls in
 * flight, and for bodies that turn it is late or early by the square of the angle; what is early
 * then goes on for another short part, what is late is deeper by the square of the step.
 *
 * Bodies that a whole step would let pass through each other, or come deeper than a share of their
 * thickness (step_stepping_held.c), are followed, too. A part that does not keep them apart is made
 * again, shorter: up to where it does, or by half; each one that does lets the next be longer. So
 * the rows of a part, which are linear in its velocities, are right for its motion. What a part
 * adds to an overlap the next one takes back.
 *
 * Parts are made in copies of the bodies' arrays, and no impact changes what others do: they are
 * stepped as a whole. If a group comes near one of them, or another group, both become one group,
 * and the step is made again. After PARTS_MOST parts the rest of the step is one problem with
 * restitution, as it would be for all of them otherwise.
 *
 * Tested by tests/step/test_several_impacts.c and test_slender.c. */
#include "base/base_memory.h"
#include "base/base_sets.h"
#include "base/base_sort.h"
#include "base/base_text.h"
#include "contact/contact.h"
#include "step/step_bodies.h"
#include "step/step_contact_memory.h"
#include "step/step_judge.h"
#include "step/step_stage.h"
#include "step/step_stepping.h"

#include <string.h>

/* Parts and impacts of a group in one step. */
enum { PARTS_MOST = 400 };
/* Of a step: parts are not made shorter than this. */
#define SHORTEST (1.0 / 65536)
/* Of a part that lets bodies pass: the next one is at least so long. */
#define SHORTER 0.25
/* After a part that holds, the next one is at most so much longer. */
#define LONGER 1.5

typedef struct follower {
    rg_world *world;
    rg_stepping *whole;
    rg_step_machinery *machinery;
    rg_world_content start; /* what the world is at the beginning of the step */
    uint8_t *member;        /* of the group that is followed */
    uint8_t *moved;         /* bodies that the next look for pairs has to place anew */
    double at;              /* s, since the beginning */
    int parts;
    double longest; /* s: of a part; shorter ones where bodies would pass through each other */
    size_t first_last, last_count; /* contact forces of the last part: in machinery->part_forces */
    double last_step;              /* s: its length; 0: there was none */
    rg_step_report *sum;
    rg_error *error;
} follower;

/* --- groups ----------------------------------------------------------------------------------- */

static void mark_groups(rg_stepping *job) {
    rg_stepping_groups *g = &job->groups;
    const rg_world_content *c = job->content;
    for (size_t i = 0; i < c->bodies.count; i++) {
        g->stepped[i] = c->dynamics[i].inverse_mass > 0 && (!job->member || job->member[i]);
        g->followed[i] = g->stepped[i] && g->followed[rg_sets_root(g->parent, (uint32_t)i)];
        g->rest[i] = g->stepped[i] && !g->followed[i];
    }
}

static rg_status take_groups(rg_stepping *job, rg_arena *arena) {
    rg_stepping_groups *g = &job->groups;
    size_t n = job->content->bodies.count;
    g->parent = rg_arena_take(arena, n, sizeof *g->parent);
    g->followed = rg_arena_take(arena, n, sizeof *g->followed);
    g->rest = rg_arena_take(arena, n, sizeof *g->rest);
    g->stepped = rg_arena_take(arena, n, sizeof *g->stepped);
    if (!g->parent || !g->followed || !g->rest || !g->stepped)
        return RG_OUT_OF_MEMORY;
    rg_sets_start(g->parent, n);
    memset(g->followed, 0, n);
    g->any = true;
    return RG_OK;
}

static void join_rows(rg_stepping *job) {
    const rg_row_set *set = &job->contacts.set;
    for (size_t i = 0; i < set->count; i++)
        if (set->rows[i].moves_a && set->rows[i].moves_b)
            rg_sets_join(job->groups.parent, set->rows[i].body_a, set->rows[i].body_b);
    const rg_joint_set *joints = &job->contacts.joints;
    for (size_t i = 0; i < joints->count; i++) {
        const rg_joint_row *row = &joints->rows[i];
        if (row->moves[0] && row->moves[1])
            rg_sets_join(job->groups.parent, row->body[0], row->body[1]);
        size_t first = i, end;
        if (row->link1)
            rg_joint_links_of(joints, i, &first, &end);
        if (row->moves[0] && first < i)
            rg_sets_join(job->groups.parent, joints->rows[first].body[0], row->body[0]);
    }
}

rg_status rg_stepping_group(rg_stepping *job, const rg_contact_job *contacts) {
    rg_stepping_groups *g = &job->groups;
    const rg_row_set *set = &job->contacts.set;
    double latest = (1 - RG_STEP_REACHED) * job->step;
    bool any = false;
    for (size_t i = 0; set->bounces && i < set->count; i++)
        any |= rg_contacts_time_of_impact(contacts, i) < latest;
    if (!any)
        return RG_OK;
    if (take_groups(job, &contacts->world->scratch))
        return RG_OUT_OF_MEMORY;
    join_rows(job);
    for (size_t i = 0; i < set->count; i++) {
        const rg_contact_row *row = &set->rows[i];
        if (rg_contacts_time_of_impact(contacts, i) < latest)
            g->followed[rg_sets_root(g->parent, row->moves_a ? row->body_a : row->body_b)] = 1;
    }
    mark_groups(job);
    return RG_OK;
}

rg_status rg_stepping_group_broken(rg_stepping *job, const rg_contact_job *contacts,
                                   const rg_stepping_breaks *breaks) {
    rg_stepping_groups *g = &job->groups;
    if (!g->any && take_groups(job, &contacts->world->scratch))
        return RG_OUT_OF_MEMORY;
    join_rows(job);
    for (size_t i = 0; i < breaks->count; i++) {
        const uint32_t *body = breaks->pairs[i].body;
        bool first = rg_stepping_moves(job, body[0]);
        if (first && rg_stepping_moves(job, body[1]))
            rg_sets_join(g->parent, body[0], body[1]);
        g->followed[rg_sets_root(g->parent, body[first ? 0 : 1])] = 1;
    }
    mark_groups(job);
    return RG_OK;
}

void rg_stepping_join(rg_stepping *job, uint32_t a, uint32_t b) {
    rg_stepping_groups *g = &job->groups;
    rg_sets_join(g->parent, a, b);
    g->followed[rg_sets_root(g->parent, a)] = 1;
    mark_groups(job);
}

/* --- the bodies meanwhile --------------------------------------------------------------------- */

/* Where all others are now: what is prescribed, and what is stepped as a whole, nearly. */
static void move_others(const follower *f) {
    rg_world_content *c = &f->world->content;
    c->time = f->start.time + f->at;
    for (size_t i = 0; i < c->bodies.count; i++) {
        if (c->record[i].prescription1) {
            rg_prescription_apply(c, i);
        } else if (c->dynamics[i].inverse_mass > 0 && !f->member[i]) {
            c->velocity[i] = f->whole->end.velocity[i];
            c->position[i] = rg_add_scaled(f->start.position[i], f->at, c->velocity[i]);
        }
    }
}

/* What the group came to, into the step of the world. */
static void keep_bodies(const follower *f) {
    const rg_world_content *c = &f->world->content;
    rg_stepping *w = f->whole;
    for (size_t i = 0; i < c->bodies.count; i++) {
        if (!f->member[i])
            continue;
        rg_stepping_keep(w, c, &w->end, i);
    }
}

/* --- what is told of it ----------------------------------------------------------------------- */

static rg_status keep_forces(follower *f, const rg_contact_step *contacts) {
    rg_step_machinery *m = f->machinery;
    if (contacts->set.count == 0)
        return RG_OK;
    if (rg_array_grow(&m->allocator, &m->part_forces, &m->part_force_capacity,
                      m->part_force_count + contacts->set.count))
        return rg_fail(f->error, RG_OUT_OF_MEMORY, "no memory for contacts");
    memcpy(m->part_forces + m->part_force_count, contacts->forces,
           contacts->set.count * sizeof *contacts->forces);
    m->part_force_count += contacts->set.count;
    return RG_OK;
}

/* Contacts, counts and, by the judge, work of a part that has been made, or of an instant. */
static rg_status tell_part(follower *f, const rg_stepping *part, bool instant,
                           const rg_judge_memory *before) {
    const rg_contact_step *contacts = &part->contacts;
    double length = instant ? 0 : part->step;
    rg_step_report *sum = f->sum;
    rg_solve_counts_add(&sum->counts, &contacts->counts);
    sum->impacts += contacts->impacts;
    if (f->world->certify) {
        rg_judge_pushes forces = {
            .forces = contacts->forces, .count = contacts->set.count, .step = length};
        rg_judge_joint *wrenches, *end_wrenches = NULL;
        rg_arena *arena = &f->world->scratch;
        const rg_world_content *c = &f->world->content;
        if (rg_joints_tell_held(c, &contacts->joints, part->held, arena, &wrenches,
                                &forces.joint_count) ||
            (!instant && rg_stepping_tell_end(part, arena, &end_wrenches, &forces.end_joint_count)))
            return rg_fail(f->error, RG_OUT_OF_MEMORY, "no memory for joints");
        forces.joints = wrenches, forces.end_joints = end_wrenches;
        rg_judge_contacts done;
        if (rg_judge_work(&f->world->content, before, forces, f->member, arena, &done))
            return rg_fail(f->error, RG_OUT_OF_MEMORY, "no memory for the judge");
        sum->found.friction += done.friction;
        sum->found.impact += done.impact;
        sum->found.stabilisation += done.stabilisation;
        sum->found.prescribed += done.prescribed;
        sum->found.drive += done.drive;
        sum->found.cone = fmax(sum->found.cone, done.twist_cone);
        sum->found.complementarity = fmax(sum->found.complementarity, done.twist_error);
        sum->integration += done.integration;
        sum->contact_impulse = rg_add(sum->contact_impulse, done.impulse);
        sum->contact_angular_impulse = rg_add(sum->contact_angular_impulse, done.angular_impulse);
    }
    if (f->whole->joints)
        rg_joints_add(&contacts->joints, f->whole->joints);
    if (f->whole->missed)
        rg_joints_add_missed(&contacts->joints, length, f->whole->missed);
    if (f->whole->joints && !instant)
        rg_joints_add(&part->end_joints, f->whole->joints);
    return keep_forces(f, contacts);
}

static rg_status remember(const follower *f, rg_judge_memory *memory) {
    if (f->world->certify &&
        rg_judge_remember(&f->world->content, f->member, NULL, &f->world->scratch, memory))
        return rg_fail(f->error, RG_OUT_OF_MEMORY, "no memory for the judge");
    return RG_OK;
}

/* One event for each pair of bodies that met. */
static void log_impacts(const follower *f, const rg_contact_job *contacts) {
    rg_step_machinery *m = f->machinery;
    const rg_contact_step *step = contacts->contacts;
    rg_step_event *event = NULL;
    for (size_t i = 0; i < step->set.count; i++) {
        const rg_contact_force *force = &step->forces[i];
        const rg_contact_law *law = &step->set.rows[i].law;
        if (!force->impact)
            continue;
        bool same = event && event->body_a.index1 == force->body_a.index1 &&
                    event->body_b.index1 == force->body_b.index1;
        if (!same && m->event_count++ >= RG_STEP_EVENTS_MOST)
            return;
        if (!same) {
            event = &m->events[m->event_count - 1];
            *event = (rg_step_event){.time = f->world->content.time,
                                     .kind = RG_STEP_EVENT_IMPACT,
                                     .body_b = force->body_b,
                                     .body_a = force->body_a,
                                     .friction = force->friction,
                                     .restitution = law->restitution};
        }
        event->contacts++;
        event->value = fmax(event->value, force->approach);
    }
}

/* --- one part --------------------------------------------------------------------------------- */

static rg_stepping part_of(const follower *f, double length, rg_contact_choice_of_rows rows) {
    const rg_stepping *w = f->whole;
    rg_stepping part = {.end_time =
                            length < w->step - f->at ? f->start.time + f->at + length : w->end_time,
                        .step = length,
                        .whole = w->step,
                        .rows = rows,
                        .member = f->member,
                        .apart = w->groups.stepped,
                        .last = w->last,
                        .last_count = w->last_count,
                        .last_step = w->step,
                        .shown = w->shown};
    if (f->last_step > 0) {
        part.last_step = f->last_step;
        part.last = rg_array_from(f->machinery->part_forces, f->first_last);
        part.last_count = f->last_count;
    }
    return part;
}

/* The contacts that touch, at an instant. */
static rg_status make_impact(follower *f, rg_stepping *part, rg_contact_job *contacts) {
    rg_world_content *c = &f->world->content;
    size_t n = c->bodies.count;
    rg_judge_memory before = {0};
    rg_status status = remember(f, &before);
    if (status)
        return status;
    memcpy(part->free.velocity, c->velocity, n * sizeof(rg_vec3));
    memcpy(part->free.angular_velocity, c->angular_velocity, n * sizeof(rg_vec3));
    memcpy(part->free.momentum, c->momentum, n * sizeof(rg_vec3));
    memcpy(part->free.angular_momentum, c->angular_momentum, n * sizeof(rg_vec3));
    part->contacts.rows = RG_ROWS_IN_IMPACT;
    part->contacts.step = part->contacts.whole;
    status = rg_stepping_rows(contacts, NULL, 0, f->error);
    if (!status)
        status = rg_stepping_forces(part, contacts, f->error);
    if (status)
        return status;
    for (size_t i = 0; i < n; i++) {
        if (!f->member[i])
            continue;
        c->velocity[i] = part->end.velocity[i];
        c->angular_velocity[i] = part->end.angular_velocity[i];
        c->momentum[i] = part->end.momentum[i];
        c->angular_momentum[i] = part->end.angular_momentum[i];
    }
    log_impacts(f, contacts);
    return tell_part(f, part, true, &before);
}

/* How the group moves in a part, for the judge: along parabolas, or straight. */
static void track(const follower *f, const rg_stepping *part) {
    const rg_world_content *c = &f->world->content;
    for (size_t i = 0; f->sum->tracks && i < c->bodies.count; i++) {
        if (!f->member[i])
            continue;
        rg_vec3 straight = rg_scale(1 / part->step, rg_sub(part->position[i], c->position[i]));
        bool flies = !part->near[i] && !part->force;
        rg_motion_state ends[2] = {
            {c->position[i], c->orientation[i], c->angle[i], flies ? c->velocity[i] : straight,
             rg_stepping_spin(c, i, part->end.angular_momentum[i])},
            {part->position[i], part->orientation[i], part->angle[i],
             flies ? part->end.velocity[i] : straight, part->end.angular_velocity[i]}};
        rg_judge_tracks_join(f->sum->tracks, i, c->planar, f->start.time + f->at, part->step, ends);
    }
}

/* One that cannot be made shorter has to do. */
static bool is_last_resort(const follower *f, const rg_stepping *part) {
    return f->parts >= PARTS_MOST || !(part->step > SHORTEST * f->whole->step);
}

/* Until when bodies stay apart in a part. */
static rg_status check_part(const follower *f, const rg_stepping *part,
                            const rg_contact_job *contacts, double *until) {
    rg_stepping_breaks breaks;
    *until = part->step;
    if (is_last_resort(f, part))
        return RG_OK;
    rg_status status = rg_stepping_check(part, contacts, &breaks);
    *until = breaks.until;
    return status ? rg_fail(f->error, status, "contacts: %s", rg_status_text(status)) : RG_OK;
}

/* All of the group go on by `length`, or less. */
static rg_status make_flight(follower *f, double length, rg_contact_job *contacts, bool *joined) {
    double left = f->whole->step - f->at;
    length = fmin(length, f->longest);
    bool last = !(length < left);
    rg_stepping part = part_of(f, last ? left : length,
                               f->parts < PARTS_MOST ? RG_ROWS_BETWEEN_IMPACTS : RG_ROWS_ALL);
    part.leaves_open = contacts->view.point_count > 0 && is_last_resort(f, &part);
    rg_judge_memory before = {0};
    rg_status status = remember(f, &before);
    if (!status)
        status = rg_stepping_begin(&part, contacts, f->error);
    if (!status)
        status = rg_stepping_passes(&part, contacts, true, f->error);
    if (!status && rg_joints_begin(&f->world->content, part.step, &f->world->scratch, &part.joints))
        status = rg_fail(f->error, RG_OUT_OF_MEMORY, "no memory for joints");
    if (status)
        return status;
    if (part.joints) /* limits that pushed in this part hold at its end, too */
        rg_joints_add(&part.contacts.joints, part.joints);
    if (part.contacts.joined) {
        rg_stepping_join(f->whole, part.contacts.join_a, part.contacts.join_b);
        *joined = true;
        return RG_OK;
    }
    rg_stage_enter(f->world, RG_STAGE_MOVE);
    status = rg_stepping_move(f->world, &part, f->error);
    if (status) {
        f->whole->failed_body = part.failed_body;
        return status;
    }
    double until;
    status = check_part(f, &part, contacts, &until);
    if (status)
        return status;
    if (until < part.step) {
        f->longest = fmin(0.5 * part.step, fmax(until, SHORTER * part.step));
        return RG_OK;
    }
    f->longest *= LONGER;
    track(f, &part);
    rg_stepping_commit(f->world, &part);
    f->at = last ? f->whole->step : f->at + length;
    move_others(f);
    f->sum->external_work += part.report.external_work;
    f->sum->impulse = rg_add(f->sum->impulse, part.report.impulse);
    f->sum->angular_impulse = rg_add(f->sum->angular_impulse, part.report.angular_impulse);
    f->sum->projected_kinetic += part.report.projected_kinetic;
    f->sum->projected_potential += part.report.projected_potential;
    f->sum->substeps++;
    f->sum->evaluations++;
    f->first_last = f->machinery->part_force_count;
    f->last_count = part.contacts.set.count;
    f->last_step = part.step;
    return tell_part(f, &part, false, &before);
}

static rg_status make_part(follower *f, bool *joined) {
    rg_contact_job contacts = {
        .world = f->world, .machinery = f->machinery, .collision = f->machinery->between};
    rg_stepping look = part_of(f, fmin(f->whole->step - f->at, f->longest), RG_ROWS_ALL);
    rg_status status = rg_stepping_begin(&look, &contacts, f->error);
    if (!status)
        status = rg_stepping_look(&look, &contacts, 0, f->error);
    /* The first look of a group was for all of the step: others go on as it expects. */
    memcpy(f->moved, f->member, f->world->content.bodies.count);
    if (!status)
        status = rg_stepping_rows(&contacts, NULL, 0, f->error);
    if (status)
        return status;
    if (look.contacts.joined) {
        rg_stepping_join(f->whole, look.contacts.join_a, look.contacts.join_b);
        *joined = true;
        return RG_OK;
    }
    bool most = f->parts >= PARTS_MOST;
    double first = INFINITY;
    for (size_t i = 0; !most && i < look.contacts.set.count; i++)
        first = fmin(first, rg_contacts_time_of_impact(&contacts, i));
    f->parts++;
    if (first == 0)
        return make_impact(f, &look, &contacts);
    return make_flight(f, first < (1 - RG_STEP_REACHED) * look.step ? first : INFINITY, &contacts,
                       joined);
}

/* --- all groups ------------------------------------------------------------------------------- */

static rg_status follow_group(follower *f, uint32_t group, bool *joined) {
    size_t n = f->world->content.bodies.count;
    rg_stepping_groups *g = &f->whole->groups;
    rg_arena *arena = &f->world->scratch;
    rg_status status = RG_OK;
    for (size_t i = 0; i < n; i++) {
        f->member[i] = g->followed[i] && rg_sets_root(g->parent, (uint32_t)i) == group;
        f->moved[i] |= f->member[i];
    }
    f->at = 0;
    f->parts = 0;
    f->longest = INFINITY;
    f->first_last = f->last_count = 0;
    f->last_step = 0;
    rg_bodies_copy(&f->world->content, &f->start);
    move_others(f);
    status = rg_collision_begin(f->machinery->between, f->world, f->error);
    while (!status && !*joined && f->at < f->whole->step) {
        rg_arena_mark mark = rg_arena_get_mark(arena);
        status = rg_step_confirm(f->world, f->error);
        if (!status)
            status = make_part(f, joined);
        rg_arena_return(arena, mark);
    }
    if (!status && !*joined)
        keep_bodies(f);
    return status;
}

typedef const rg_contact_force *force_pointer;
RG_DEFINE_MERGE_SORT(sort_forces, force_pointer, rg_contact_force_before)

/* A later part of the same contact: impulses add up, its mode is that of the last force. */
static void add_force(rg_contact_force *sum, const rg_contact_force *more, double step) {
    rg_contact_force before = *sum;
    if (more->mode != RG_MODE_SEPARATING || before.mode == RG_MODE_SEPARATING)
        *sum = *more;
    sum->gap = fmin(before.gap, more->gap);
    sum->impulse = rg_add(before.impulse, more->impulse);
    sum->force = rg_scale(1 / step, sum->impulse);
    sum->angular_impulse = rg_add(before.angular_impulse, more->angular_impulse);
    sum->torque = rg_scale(1 / step, sum->angular_impulse);
    sum->normal_force = before.normal_force + more->normal_force;
    sum->approach = fmax(before.approach, more->approach);
    sum->impact = before.impact | more->impact;
}

/* All forces of the step, each contact once, in the order of colliders, parts and points. */
static rg_status join_forces(follower *f) {
    rg_stepping *w = f->whole;
    const rg_step_machinery *m = f->machinery;
    rg_arena *arena = &f->world->scratch;
    size_t count = w->force_count + m->part_force_count;
    force_pointer *order = rg_arena_take(arena, count, sizeof *order);
    force_pointer *scratch = rg_arena_take(arena, count, sizeof *scratch);
    rg_contact_force *forces = rg_arena_take(arena, count, sizeof *forces);
    if (!order || !scratch || !forces)
        return rg_fail(f->error, RG_OUT_OF_MEMORY, "no memory for contacts");
    for (size_t i = 0; i < count; i++)
        order[i] = i < w->force_count ? &w->forces[i] : &m->part_forces[i - w->force_count];
    sort_forces(order, count, scratch);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && !rg_contact_force_before(order[i - 1], order[i]))
            add_force(&forces[kept - 1], order[i], w->step);
        else
            forces[kept++] = *order[i];
    }
    w->forces = forces;
    w->force_count = kept;
    return RG_OK;
}

/* Where the judge wants to know how bodies move: of a step of the whole world. */
static bool take_tracks(follower *f) {
    if (!f->world->certify || f->whole->member)
        return true;
    rg_arena *arena = &f->machinery->tracks;
    f->sum->tracks = rg_arena_take(&f->world->scratch, 1, sizeof *f->sum->tracks);
    if (!f->sum->tracks)
        return false;
    rg_arena_reset(arena);
    return rg_judge_tracks_make(arena, f->world->content.bodies.count, f->sum->tracks) == RG_OK;
}

rg_status rg_stepping_follow(rg_world *world, rg_stepping *whole, bool *joined, rg_error *error) {
    follower f = {.world = world,
                  .whole = whole,
                  .machinery = world->machinery,
                  .start = world->content,
                  .sum = &whole->parts,
                  .error = error};
    size_t events = f.machinery->event_count;
    rg_status status = RG_OK;
    if (!f.machinery->between)
        status =
            rg_collision_create(&world->collision, &world->allocator, &f.machinery->between, error);
    if (status)
        return status;
    whole->parts = (rg_step_report){.counts = rg_solve_counts_none()};
    f.machinery->part_force_count = 0;
    size_t n = world->content.bodies.count;
    for (size_t j = 0; whole->missed && j < world->content.joints.count; j++)
        whole->missed[j] = 0;
    f.member = rg_arena_take(&world->scratch, n, sizeof *f.member);
    f.moved = rg_arena_take(&world->scratch, n, sizeof *f.moved);
    if (!rg_bodies_take(&world->content, &world->scratch) || !f.member || !f.moved ||
        !take_tracks(&f))
        status = rg_fail(error, RG_OUT_OF_MEMORY, "no memory for the step");
    else
        memset(f.moved, 1, n);
    rg_collision_restrict(f.machinery->between, f.member, f.moved);
    rg_stepping_groups *g = &whole->groups;
    for (uint32_t i = 0; !status && !*joined && i < n; i++)
        if (g->followed[i] && rg_sets_root(g->parent, i) == i)
            status = follow_group(&f, i, joined);
    rg_bodies_return(&world->content, &f.start);
    rg_collision_restrict(f.machinery->between, NULL, NULL);
    if (*joined)
        f.machinery->event_count = events;
    else if (!status)
        status = join_forces(&f);
    return status;
}
