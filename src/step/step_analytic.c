/* The analytic method: adaptive integration with error control, stopped and started again
 * wherever something happens (Baraff 1989, section 3; an integration step never spans a
 * discontinuity). The event loop makes it, group by group of bodies that can meet, and finds events
 * on the polynomial of the integrator, Dormand and Prince's or Adams'; bodies that can meet nothing
 * are a group without events.
 *
 * What it learns (step sizes, differences of the multistep method) stays in the world's memory
 * from step to step (step_analytic_memory.c), as long as the world is not edited in between.
 *
 * A step that cannot be made fails with the cause and changes nothing; if the settings allow it,
 * the stepping method makes that of the group that is in trouble instead
 * (step_analytic_handover.c), and the next one is tried here again.
 *
 * Tested by tests/step/test_analytic.c. */
#include "step/step_analytic.h"

#include "base/base_text.h"
#include "contact/contact.h"
#include "step/step_rolling.h"
#include "step/step_stage.h"

#include <string.h>

/* Reaches are this many times what speeds of now would bring; if that was too little, so many
 * times more. */
#define FARTHER      2.0
#define MUCH_FARTHER 8.0
/* Of what would stop the fastest body in the step: the scale of accelerations where there is no
 * force. */
#define WITHOUT_FORCE 1e-3
/* m/s^2: smaller ones are rounding of nothing. */
#define LEAST_ACCELERATION 1e-290

rg_status rg_analysis_fail(const rg_world *world, rg_status status, double time, rg_error *error) {
    switch (status) {
    case RG_NOT_FINITE:
        return rg_fail(error, status,
                       "at t = %.9g s a force or the motion became infinite, larger than %g (SI "
                       "units) or not a number; look at the forces of the scene",
                       time, RG_NUMBER_LARGEST);
    case RG_STEP_TOO_SMALL:
        return rg_fail(
            error, status,
            "after t = %.9g s the tolerance %g cannot be kept by any step; a force is too "
            "stiff or jumps (give it start and stop times), or the tolerance too small",
            time, world->content.settings.tolerance);
    case RG_ITERATION_LIMIT:
        return rg_fail(
            error, status,
            "after t = %.9g s the integrator needs more than %d steps of its own for one "
            "step; a force is far too stiff, or singular where a body is",
            time, RG_STEPS_MOST);
    default:
        return rg_fail(error, status, "analytic step: %s", rg_status_text(status));
    }
}

bool rg_analysis_make_motion(const rg_world_content *c, rg_arena *arena, rg_analysis_motion *m) {
    size_t n = c->bodies.count;
    rg_vec3 *vectors = rg_arena_take(arena, 5 * (n + 1), sizeof *vectors);
    m->orientation = rg_arena_take(arena, n + 1, sizeof *m->orientation);
    m->inverse_inertia = rg_arena_take(arena, n + 1, sizeof *m->inverse_inertia);
    if (!vectors || !m->orientation || !m->inverse_inertia)
        return false;
    memset(vectors, 0, 5 * (n + 1) * sizeof *vectors);
    memset(m->inverse_inertia, 0, (n + 1) * sizeof *m->inverse_inertia);
    m->position = vectors;
    m->velocity = m->position + n + 1;
    m->angular_velocity = m->velocity + n + 1;
    m->acceleration = m->angular_velocity + n + 1;
    m->angular_acceleration = m->acceleration + n + 1;
    for (size_t i = 0; i < n; i++) {
        m->position[i] = c->position[i];
        m->orientation[i] = c->orientation[i];
    }
    m->orientation[n] = (rg_quat){0, 0, 0, 1};
    return true;
}

/* Reference accelerations and speeds: what thresholds are relative to. */
static void take_references(rg_analysis *a, rg_analysis_view *view) {
    const rg_world_content *c = &view->world->content;
    view->acceleration = rg_length(c->gravity);
    rg_arena_mark mark = rg_arena_get_mark(a->arena);
    double *dydt = rg_arena_take(a->arena, a->ode.n, sizeof *dydt);
    for (size_t i = 0; i < c->bodies.count; i++) {
        double spin = rg_length(c->angular_velocity[i]) * c->dynamics[i].gyration_radius;
        view->speed = fmax(view->speed, fmax(spin, rg_length(c->velocity[i])));
    }
    if (dydt) {
        rg_flight_derivative(&a->flight, view->begin, a->y, dydt);
        for (size_t k = 0; k < a->flight.body_count; k++) {
            const double *d = dydt + k * a->flight.width;
            const rg_body_dynamics *body = &c->dynamics[a->flight.body[k]];
            double force = c->planar ? fmax(fabs(d[3]), fabs(d[4]))
                                     : rg_largest_entry((rg_vec3){d[7], d[8], d[9]});
            double torque =
                c->planar ? fabs(d[5]) : rg_largest_entry((rg_vec3){d[10], d[11], d[12]});
            if (torque > 0)
                force = fmax(force, torque / body->gyration_radius);
            view->acceleration = fmax(view->acceleration, body->inverse_mass * force);
        }
    }
    rg_arena_return(a->arena, mark);
    /* Shares of it must be numbers, too. */
    if (!(view->acceleration > LEAST_ACCELERATION))
        view->acceleration = view->speed / (view->end - view->begin) * WITHOUT_FORCE;
    if (!(view->acceleration > LEAST_ACCELERATION))
        view->acceleration = 1;
}

/* All bodies where they are at the beginning of the step: groups leave y and motion at its end. */
static void begin_anew(rg_analysis *a) {
    const rg_memory_block *joints = &a->view->world->content.memory[RG_MEMORY_JOINTS];
    if (a->view->mechanism)
        memcpy(rg_joint_memories(a->view->mechanism), joints->data, joints->size);
    rg_flight_pack(&a->flight, a->y);
    memset(a->y + a->flight.size, 0, RG_ANALYSIS_LEDGER * sizeof(double));
    if (a->judge)
        rg_judge_tracks_clear(&a->judge->tracks);
    rg_analysis_move(a, a->view->begin, a->y, &a->motion);
}

/* What joints need: dynamics per body, and of the world, which they hold on to; memories of their
 * own. */
static rg_status prepare_joints(rg_analysis_view *view, rg_arena *arena) {
    const rg_world_content *c = &view->world->content;
    view->dynamics = c->dynamics;
    if (c->joints.count == 0)
        return RG_OK;
    size_t n = c->bodies.count;
    rg_body_dynamics *all = rg_arena_take(arena, n + 1, sizeof *all);
    void *memories = rg_arena_take(arena, c->memory[RG_MEMORY_JOINTS].size, 1);
    view->mechanism = rg_arena_take(arena, 1, sizeof *view->mechanism);
    if (!all || !memories || !view->mechanism)
        return RG_OUT_OF_MEMORY;
    memcpy(all, c->dynamics, n * sizeof *all);
    all[n] = (rg_body_dynamics){0};
    view->dynamics = all;
    *view->mechanism = *c;
    view->mechanism->memory[RG_MEMORY_JOINTS].data = memories;
    return RG_OK;
}

static rg_status make_analysis(rg_analysis *a, rg_analysis_view *view, rg_world *world,
                               double end_time, rg_error *error) {
    bool cone = !world->content.planar && world->content.settings.friction_directions == 0;
    *view = (rg_analysis_view){.world = world, .begin = world->content.time, .end = end_time};
    *a = (rg_analysis){.view = view,
                       .arena = &world->scratch,
                       .time = world->content.time,
                       .law = cone ? &rg_law_cone : &rg_law_pivoting};
    a->active = a->law;
    rg_status status = rg_machinery_of(world, &view->machinery, error);
    if (status)
        return status;
    view->context = view->machinery->contexts[0];
    view->observer = view->machinery->observer;
    status = rg_flight_make(&a->flight, world);
    if (!status) {
        a->ode = (rg_ode){.n = a->flight.size + RG_ANALYSIS_LEDGER,
                          .user = a,
                          .pool = world->pool,
                          .derivative = rg_analysis_derivative,
                          .scale = rg_analysis_scale,
                          .accept = rg_analysis_accept};
        a->flight.phase_begin = a->view->begin;
        a->flight.phase_end = end_time;
        a->y = rg_arena_take(a->arena, a->ode.n, sizeof(double));
        a->scratch_y = rg_arena_take(a->arena, a->ode.n, sizeof(double));
        a->travel = rg_arena_take(a->arena, a->flight.body_count, sizeof *a->travel);
        a->place = rg_arena_take(a->arena, world->content.bodies.count, sizeof *a->place);
        if (!a->y || !a->scratch_y || !a->travel || !a->place ||
            !rg_analysis_make_motion(&world->content, a->arena, &a->motion) ||
            prepare_joints(view, a->arena))
            status = RG_OUT_OF_MEMORY;
        for (size_t k = 0; !status && k < a->flight.body_count; k++)
            a->place[a->flight.body[k]] = (uint32_t)k;
    }
    if (!status)
        status = rg_convex_parts_make(&world->content, a->arena, &view->parts, &view->part_count);
    if (!status) {
        view->own = view->parts;
        view->own_count = view->part_count;
        view->terrain = rg_convex_has_terrain(&world->content);
        a->bounds = rg_arena_take(a->arena, view->part_count, sizeof *a->bounds);
        status = a->bounds ? RG_OK : RG_OUT_OF_MEMORY;
    }
    if (!status)
        status = rg_analysis_judge_make(a);
    if (status)
        return rg_fail(error, status, "no memory for the step");
    begin_anew(a);
    return RG_OK;
}

static void tell(const rg_analysis *a, rg_step_report *report) {
    rg_flight_ledger ledger = rg_flight_ledger_of(&a->flight, a->y);
    const rg_analysis_tally *t = &a->tally;
    double w[RG_ANALYSIS_LEDGER]; /* impulse, angular impulse */
    for (int i = 0; i < RG_ANALYSIS_LEDGER; i++)
        w[i] = t->outside[i] + a->y[a->flight.size + (size_t)i];
    *report = (rg_step_report){.external_work = ledger.work + t->drive,
                               .impulse = ledger.impulse,
                               .angular_impulse = ledger.angular_impulse,
                               .substeps = a->ode_info.accepted,
                               .rejected = a->ode_info.rejected,
                               .evaluations = a->ode_info.evaluations,
                               .counts = t->counts,
                               .contacts = t->contacts_most,
                               .impacts = t->impacts,
                               .varies = true,
                               .tracks = a->judge ? &a->judge->tracks : NULL,
                               .found = a->found,
                               .stabilisation = t->stabilisation,
                               .prescribed_work = t->prescribed,
                               .contact_impulse = {w[0], w[1], w[2]},
                               .contact_angular_impulse = {w[3], w[4], w[5]}};
}

/* All groups, bodies in reach of each other as said; *strayed: nothing was changed; *longer:
 * because of bodies that were handed over, whose reach (a->least) is longer now. */
static rg_status step_groups(rg_analysis *a, const rg_analysis_groups *groups, bool *strayed,
                             bool *longer, rg_step_report *report, rg_error *error) {
    rg_world *world = a->view->world;
    rg_analysis_memory *memory = rg_analysis_recall(world, &a->flight);
    if (!memory)
        return rg_analysis_fail(world, RG_OUT_OF_MEMORY, a->time, error);
    a->bounce_count = memory->bounce_count;
    memcpy(a->bounces, memory->bounces, sizeof a->bounces);
    rg_analysis_forces list = {0};
    rg_analysis_handover handover = {0};
    if (rg_joints_begin(&world->content, world->step, a->arena, &list.joints))
        return rg_analysis_fail(world, RG_OUT_OF_MEMORY, a->time, error);
    rg_status status = rg_analysis_run_groups(a, groups, memory, &list, &handover, strayed, error);
    *longer = !status && !*strayed;
    if (*longer)
        status = rg_analysis_hand_over(a, groups, &handover, strayed, error);
    if (status || *strayed)
        return status;
    if (rg_analysis_join_forces(a, &handover, &list.forces, &list.count))
        return rg_analysis_fail(world, RG_OUT_OF_MEMORY, a->view->end, error);
    rg_contact_forces_sort(list.forces, list.count);
    rg_status confirmed = rg_step_confirm(world, error);
    if (confirmed)
        return confirmed;
    if (!rg_analysis_make_room(world, &a->flight) ||
        rg_contacts_store(world, list.forces, list.count, NULL))
        return rg_analysis_fail(world, RG_OUT_OF_MEMORY, a->view->end, error);
    rg_flight_unpack(&a->flight, a->y);
    rg_analysis_take_over(a, &handover, rg_analysis_known_of(memory), list.joints);
    rg_joints_store(world, list.joints);
    memory->valid = !world->content.has_applied;
    memory->bounce_count = a->bounce_count;
    memset(memory->bounces, 0, sizeof memory->bounces);
    memcpy(memory->bounces, a->bounces, a->bounce_count * sizeof *a->bounces);
    rg_analysis_remember_groups(world, memory);
    rg_step_log_sort(world);
    tell(a, report);
    rg_analysis_tell_hand_over(a, groups, &handover, report);
    return RG_OK;
}

static bool take_least(rg_analysis *a) {
    size_t n = a->flight.body_count;
    a->least = rg_arena_take(a->arena, n, sizeof *a->least);
    if (a->least)
        memset(a->least, 0, n * sizeof *a->least);
    return a->least != NULL;
}

/* Contact points at the beginning, from which touching pairs are told. */
static rg_status find_touches(rg_world *world, double end_time, rg_error *error) {
    rg_step_machinery *machinery;
    rg_status status = rg_machinery_of(world, &machinery, error);
    rg_stage outer = rg_stage_enter(world, RG_STAGE_PAIRS);
    if (!status)
        status = rg_collision_find_pairs(machinery->collision, world,
                                         end_time - world->content.time, NULL, error);
    rg_stage_enter(world, RG_STAGE_POINTS);
    if (!status)
        status = rg_collision_find_points(machinery->collision, world, false, error);
    rg_stage_enter(world, outer);
    return status;
}

static rg_status step_analytic(rg_world *world, double step, double end_time,
                               rg_step_report *report, rg_error *error) {
    (void)step; /* the times of events are sums of others */
    if (rg_rolling_refused(world, "analytic", error))
        return RG_UNSUPPORTED;
    for (size_t j = 0; j < world->content.joints.count; j++)
        if (world->content.joint[j].def.kind == RG_JOINT_TENDON)
            return rg_fail(error, RG_UNSUPPORTED,
                           "the method analytic does not know tendons; take the method stepping");
    rg_analysis_view view;
    rg_analysis start;
    rg_status status = find_touches(world, end_time, error);
    if (!status)
        status = make_analysis(&start, &view, world, end_time, error);
    if (status)
        return status;
    take_references(&start, &view);
    if (world->content.settings.hand_over && !take_least(&start))
        return rg_analysis_fail(world, RG_OUT_OF_MEMORY, start.time, error);
    for (double farther = FARTHER;;) {
        rg_arena_mark mark = rg_arena_get_mark(start.arena);
        rg_analysis a = start;
        rg_analysis_groups groups;
        bool strayed = false, longer = false;
        rg_stage_enter(world, RG_STAGE_PAIRS);
        if (rg_analysis_make_groups(&a, &view, farther, &groups))
            return rg_analysis_fail(world, RG_OUT_OF_MEMORY, a.time, error);
        rg_stage_enter(world, RG_STAGE_MOVE);
        status = step_groups(&a, &groups, &strayed, &longer, report, error);
        if (status || !strayed)
            return status;
        rg_arena_return(start.arena, mark);
        rg_step_log_clear(world);
        begin_anew(&start);
        if (!longer)
            farther *= MUCH_FARTHER;
    }
}

const rg_method rg_method_analytic = {
    .name = "analytic",
    .summary = "event-driven: adaptive integration, exact contact forces, impacts",
    .step = step_analytic};
