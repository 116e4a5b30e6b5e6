/* The step of the penalty method (step_penalty.h): Dormand and Prince's integrator with the forces
 * of contact springs in its right-hand side. Its error control is the control for stiffness: a step
 * that is too long for the stiffest spring is rejected.
 *
 * Bodies are moved in copies of the world's arrays, so that contacts are looked for where an
 * evaluation puts them and a step that fails changes nothing. */
#include "step/step_penalty.h"
#include "base/base_text.h"
#include "step/step_bodies.h"
#include "step/step_contacts.h"
#include "step/step_method.h"
#include "step/step_rolling.h"
#include "step/step_stage.h"

#include <string.h>

/* Of the time 1 / w of the fastest spring: steps are not made shorter. Where contact points come
 * and go, forces jump, and no step is short enough for an error estimate; over so short a one a
 * force of the size of the weight changes a velocity by this share of the speed g / w with which
 * springs let a body down. */
#define SHORTEST (1.0 / 1024)
/* Steps of the integrator, tried or taken, in one step of the world. In 1/240 s the stiffest
 * springs of docs/penalty.md need 23, an ellipsoid that turns at 1e4 rad/s 78, at 1e7 rad/s
 * 71,000. */
enum { STEPS_MOST = 20000 };

/* Metres that the material of a body that forces do not move would go in one second. */
static rg_vec3 surface_velocity(const void *user, size_t body, rg_vec3 point) {
    const rg_world_content *c = user;
    if (!c->record[body].prescription1)
        return (rg_vec3){0, 0, 0};
    rg_vec3 arm = rg_sub(point, c->position[body]);
    return rg_add(c->velocity[body], rg_cross(c->angular_velocity[body], arm));
}

/* A state beyond the numbers that a world takes: there is nothing to be looked for. */
static rg_status fail_beyond(rg_penalty *p, double time) {
    return rg_fail(
        p->error, RG_NOT_FINITE,
        "penalty: at t = %.9g s the motion became infinite, larger than %g (SI units) or "
        "not a number; look at the forces of the scene",
        time, RG_NUMBER_LARGEST);
}

bool rg_penalty_look_at(rg_penalty *p, double t, const double *y, rg_penalty_look *look) {
    rg_world_content *c = &p->world->content;
    if (!p->status && !rg_flight_in_range(&p->flight, y))
        p->status = fail_beyond(p, t);
    rg_stage outer = rg_stage_enter(p->world, RG_STAGE_PAIRS);
    rg_arena_return(p->arena, p->mark);
    rg_flight_motions(&p->flight, t, y, c->position, c->orientation, c->velocity,
                      c->angular_velocity);
    rg_status status = p->status;
    if (!status)
        status = rg_collision_find_pairs(look->collision, p->world, 0, NULL, p->error);
    rg_stage_enter(p->world, RG_STAGE_POINTS);
    if (!status)
        status = rg_collision_find_points(look->collision, p->world, false, p->error);
    look->view = rg_collision_get(look->collision);
    rg_stage_enter(p->world, RG_STAGE_ROWS);
    look->set.count = 0;
    if (!status)
        status = rg_rows_build(p->world, &look->view, 1, surface_velocity, c, p->arena, &look->set);
    rg_stage_enter(p->world, RG_STAGE_FORCES);
    if (!status)
        status = rg_penalty_forces(p, look);
    if (status)
        look->set.count = 0;
    p->status = status;
    rg_stage_enter(p->world, outer);
    return !status;
}

/* --- the initial value problem ---------------------------------------------------------------- */

static void add3(double *y, rg_vec3 v) {
    y[0] += v.x;
    y[1] += v.y;
    y[2] += v.z;
}

static void push_body(const rg_penalty *p, uint32_t body, rg_vec3 point, rg_vec3 force,
                      double *dydt) {
    const rg_world_content *c = &p->world->content;
    rg_vec3 torque = rg_cross(rg_sub(point, c->position[body]), force);
    double *momenta = dydt + p->place[body] * p->flight.width + rg_flight_momenta(&p->flight);
    if (c->planar) {
        momenta[0] += force.x;
        momenta[1] += force.z;
        momenta[2] -= torque.y;
    } else {
        add3(momenta, force);
        add3(momenta + 3, torque);
    }
}

static rg_vec3 force_of(const rg_penalty_look *look, size_t i) {
    const rg_penalty_contact *contact = &look->contacts[i];
    return rg_add_scaled(contact->friction, contact->normal, look->set.rows[i].normal);
}

static void derivative(void *user, double t, const double *y, double *dydt) {
    rg_penalty *p = user;
    rg_flight_derivative(&p->flight, t, y, dydt);
    double *ledger = dydt + p->flight.size;
    memset(ledger, 0, RG_PENALTY_LEDGER * sizeof *ledger);
    if (!rg_flight_in_range(&p->flight, y))
        return; /* a trial step that is too long: the derivative is NaN, and it is rejected */
    rg_penalty_look_at(p, t, y, &p->now);
    p->fastest = 0;
    for (size_t i = 0; i < p->now.set.count; i++) {
        const rg_contact_row *row = &p->now.set.rows[i];
        if (row->gap < 0)
            p->fastest = fmax(p->fastest, p->now.contacts[i].stiffness / p->now.contacts[i].mass);
        rg_vec3 point = p->now.contacts[i].point, force = force_of(&p->now, i);
        if (row->moves_a)
            push_body(p, row->body_a, point, force, dydt);
        if (row->moves_b)
            push_body(p, row->body_b, point, rg_neg(force), dydt);
        if (row->moves_a == row->moves_b)
            continue;
        rg_vec3 given = row->moves_a ? force : rg_neg(force);
        add3(ledger, given);
        add3(ledger + 3, rg_cross(point, given));
    }
}

static void scale(void *user, const double *y, double *size) {
    rg_penalty *p = user;
    rg_flight_scale(&p->flight, y, size);
    for (size_t i = 0; i < RG_PENALTY_LEDGER; i++)
        size[p->flight.size + i] = INFINITY;
}

static void accept(void *user, double t, double *y) {
    rg_penalty *p = user;
    rg_flight_accept(&p->flight, t, y);
}

/* --- the step --------------------------------------------------------------------------------- */

static rg_status make(rg_penalty *p) {
    rg_world *world = p->world;
    size_t n = world->content.bodies.count;
    rg_status status = rg_flight_make(&p->flight, world);
    if (status)
        return status;
    rg_ode ode = {.derivative = derivative, .scale = scale, .accept = accept, .user = p};
    ode.n = p->flight.size + RG_PENALTY_LEDGER;
    ode.pool = world->pool;
    p->ode = ode;
    p->y = rg_arena_take(p->arena, p->ode.n, sizeof(double));
    p->scratch_y = rg_arena_take(p->arena, p->ode.n, sizeof(double));
    p->place = rg_arena_take(p->arena, n, sizeof *p->place);
    if (!p->y || !p->scratch_y || !p->place)
        return RG_OUT_OF_MEMORY;
    for (size_t i = 0; i < n; i++)
        p->place[i] = UINT32_MAX;
    for (size_t k = 0; k < p->flight.body_count; k++)
        p->place[p->flight.body[k]] = (uint32_t)k;
    rg_flight_pack(&p->flight, p->y);
    memset(p->y + p->flight.size, 0, RG_PENALTY_LEDGER * sizeof(double));
    status = rg_dormand_prince_make(&p->ode, p->arena, &p->trial);
    return status ? status : rg_penalty_judge_make(p);
}

static rg_status fail(rg_penalty *p, rg_status status, double time) {
    if (p->status)
        return p->status; /* with its message */
    if (status == RG_ITERATION_LIMIT)
        return rg_fail(
            p->error, status,
            "penalty: at t = %.9g s the integrator has taken %d steps in this one; springs "
            "are too stiff, or bodies turn too fast, for steps of this length",
            time, STEPS_MOST);
    if (status == RG_NOT_FINITE)
        return fail_beyond(p, time);
    if (status == RG_STEP_TOO_SMALL)
        return rg_fail(p->error, status,
                       "penalty: after t = %.9g s no step keeps the tolerance %g; springs are too "
                       "stiff for it, or a force jumps",
                       time, p->world->content.settings.penalty.tolerance);
    return rg_fail(p->error, status, "penalty: after t = %.9g s: %s", time, rg_status_text(status));
}

/* Up to `stop`, with no force that begins or ends in between. */
static rg_status integrate(rg_penalty *p, double *time, double stop, double *next) {
    const rg_penalty_settings *settings = &p->world->content.settings.penalty;
    while (*time < stop) {
        rg_ode_try step = {.begin = *time,
                           .most = stop - *time,
                           .tolerance = settings->tolerance,
                           .least = p->fastest > 0 ? SHORTEST / sqrt(p->fastest) : 0,
                           .y = p->y,
                           .next_step = *next,
                           .info = &p->info};
        rg_status status = rg_dormand_prince_try(&p->ode, &p->trial, &step);
        if (!status && p->info.accepted + p->info.rejected >= STEPS_MOST)
            status = RG_ITERATION_LIMIT;
        if (!status && rg_world_stops(p->world))
            status = RG_INTERRUPTED;
        if (status || p->status)
            return fail(p, status, *time);
        double length = step.length;
        memcpy(p->y, p->trial.end, p->ode.n * sizeof *p->y);
        if (settings->impulses)
            status = rg_penalty_collide(p, &length, p->y);
        else
            rg_penalty_judge_span(p, length);
        if (status || p->status)
            return fail(p, status, *time);
        p->contacts_most =
            p->now.set.count > p->contacts_most ? p->now.set.count : p->contacts_most;
        *next = step.next_step;
        *time = length == step.most ? stop : *time + length;
    }
    return RG_OK;
}

static rg_status run(rg_penalty *p, double end_time) {
    const rg_world_content *c = &p->world->content;
    double time = c->time, next = 0;
    rg_status status = RG_OK;
    rg_penalty_judge_begin(p, time, p->y);
    while (!status && time < end_time) {
        double stop = rg_forces_next_break(c, time, end_time);
        p->flight.phase_begin = time;
        p->flight.phase_end = stop;
        status = integrate(p, &time, stop, &next);
    }
    /* Forces of the end, for readers. */
    if (!status && !rg_penalty_look_at(p, end_time, p->y, &p->now))
        status = fail(p, p->status, time);
    return status;
}

/* --- what is told of it ----------------------------------------------------------------------- */

static rg_contact_force force_at(const rg_penalty *p, size_t i, double step) {
    const rg_penalty_look *look = &p->now;
    const rg_contact_row *row = &look->set.rows[i];
    const rg_penalty_contact *contact = &look->contacts[i];
    const rg_touch *touch = &look->view.touches[row->touch];
    const rg_manifold *manifold = &look->view.manifolds[row->manifold];
    rg_vec3 force = force_of(look, i);
    double u = rg_dot(row->normal, contact->velocity);
    double slip = rg_length(rg_add_scaled(contact->velocity, -u, row->normal));
    bool slips = slip >= p->world->content.settings.penalty.slip;
    return (rg_contact_force){.collider_b = touch->collider_b,
                              .collider_a = touch->collider_a,
                              .body_b = touch->body_b,
                              .body_a = touch->body_a,
                              .part_b = manifold->part1,
                              .part_a = manifold->part2,
                              .id = look->view.points[row->point].id,
                              .position = contact->point,
                              .normal = row->normal,
                              .gap = row->gap,
                              .impulse = rg_scale(step, force),
                              .force = force,
                              .normal_force = contact->normal,
                              .friction = row->law.friction,
                              .slip_speed = slip,
                              .approach = -u,
                              .mode = !(contact->normal > 0) ? RG_MODE_SEPARATING
                                      : slips                ? RG_MODE_SLIP
                                                             : RG_MODE_STICK};
}

/* Forces and what contact detection learnt, into the world. */
static rg_status store(rg_penalty *p, double step) {
    rg_world *world = p->world;
    size_t count = p->now.set.count;
    rg_contact_force *forces = rg_arena_take(p->arena, count, sizeof *forces);
    if (!forces)
        return fail(p, RG_OUT_OF_MEMORY, world->content.time);
    memset(forces, 0, count * sizeof *forces); /* padding is stored, too */
    for (size_t i = 0; i < count; i++) {
        forces[i] = force_at(p, i, step);
        if (forces[i].normal_force > 0 &&
            rg_collision_mark(p->now.collision, forces[i].collider_b, forces[i].collider_a))
            return fail(p, RG_OUT_OF_MEMORY, world->content.time);
    }
    return rg_contacts_store(world, forces, count, p->error);
}

static void tell(const rg_penalty *p, rg_step_report *report) {
    rg_flight_ledger ledger = rg_flight_ledger_of(&p->flight, p->y);
    const double *w = p->y + p->flight.size;
    *report = (rg_step_report){.external_work = ledger.work,
                               .impulse = ledger.impulse,
                               .angular_impulse = ledger.angular_impulse,
                               .substeps = p->info.accepted,
                               .rejected = p->info.rejected,
                               .evaluations = p->info.evaluations,
                               .counts = rg_solve_counts_none(),
                               .contacts = p->contacts_most,
                               .impacts = p->impacts,
                               .varies = true,
                               .found = p->found,
                               .contact_impulse = {w[0], w[1], w[2]},
                               .contact_angular_impulse = {w[3], w[4], w[5]},
                               .tracks = p->tracks};
}

static rg_status step_penalty(rg_world *world, double step, double end_time, rg_step_report *report,
                              rg_error *error) {
    if (world->content.joints.count)
        return rg_fail(error, RG_UNSUPPORTED,
                       "the method penalty does not support joints; use the method stepping");
    if (rg_rolling_refused(world, "penalty", error))
        return RG_UNSUPPORTED;
    rg_penalty p = {.world = world, .arena = &world->scratch, .restitution = NAN, .error = error};
    rg_status status = rg_machinery_of(world, &p.machinery, error);
    if (status)
        return status;
    p.now.collision = p.machinery->collision;
    rg_collision_look_deep(p.now.collision, true);
    rg_world_content start = world->content;
    if (make(&p) == RG_OK && rg_bodies_take(&world->content, p.arena)) {
        rg_bodies_copy(&world->content, &start);
        p.mark = rg_arena_get_mark(p.arena);
        status = run(&p, end_time);
    } else {
        status = fail(&p, RG_OUT_OF_MEMORY, start.time);
    }
    if (!status)
        status = rg_step_confirm(world, error);
    if (!status)
        status = store(&p, step);
    rg_bodies_return(&world->content, &start);
    rg_collision_look_deep(p.now.collision, false);
    if (p.judged.collision)
        rg_collision_look_deep(p.judged.collision, false);
    if (status)
        return status;
    rg_flight_unpack(&p.flight, p.y);
    tell(&p, report);
    return RG_OK;
}

const rg_method rg_method_penalty = {.name = "penalty",
                                     .summary = "springs and dampers at contacts, for comparison",
                                     .step = step_penalty};
