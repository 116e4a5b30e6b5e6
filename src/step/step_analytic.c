/* The analytic method: adaptive integration with error control, stopped and started again wherever
 * something happens (Baraff 1989, section 3; an integration step never spans a discontinuity). A step in
 * which nothing can meet is free flight, by either integrator; otherwise the event loop makes it
 * (step_analytic.h), with Dormand and Prince's method, whose polynomial events are found on.
 *
 * What the integrator learns (step size, differences of the multistep method) stays in the world's
 * memory from step to step, as long as nobody edits the world in between. */
#include "step/step_analytic.h"
#include "base/base_text.h"

#include <string.h>

typedef struct analytic_memory {
    uint64_t valid; /* 0: start afresh */
    uint64_t edits;
    uint64_t size; /* of the state vector */
    uint64_t integrator;
    double next_step;
    rg_adams_memory adams;
    uint64_t bounce_count; /* with contacts */
    rg_bounce bounces[RG_ANALYSIS_BOUNCING];
} analytic_memory;

static size_t memory_size(const rg_method_settings *settings, size_t n) {
    size_t vectors = settings->integrator == RG_INTEGRATOR_ADAMS ? RG_ADAMS_VECTORS : 0;
    return sizeof(analytic_memory) + vectors * n * sizeof(double);
}

static bool is_sound(const rg_adams_memory *adams) {
    return adams->order >= 0 && adams->order <= RG_ADAMS_ORDER_MAX && adams->count >= 0 &&
           adams->count < RG_ADAMS_VECTORS;
}

/* A copy, to work on, of the memory of the last step if it still holds, an empty one otherwise. The
 * world's own is replaced only when the step has succeeded. Memory may come from a file, so its
 * indices are checked. */
static analytic_memory *recall(rg_world *world, size_t n) {
    const rg_world_content *c = &world->content;
    const rg_memory_block *block = &c->memory[RG_MEMORY_METHOD];
    size_t size = memory_size(&c->settings, n);
    analytic_memory *memory = rg_arena_take(&world->scratch, size, 1);
    if (!memory)
        return NULL;
    const analytic_memory *old = block->size == size ? block->data : NULL;
    if (old && old->valid && old->edits == c->edits && old->size == n &&
        old->integrator == (uint64_t)c->settings.integrator && is_sound(&old->adams))
        memcpy(memory, old, size);
    else {
        memset(memory, 0, size);
        *memory = (analytic_memory){
            .edits = c->edits, .size = n, .integrator = (uint64_t)c->settings.integrator};
    }
    return memory;
}

/* Room in the world for what is to be remembered; false, and no change, without memory. */
static bool make_room(rg_world *world, size_t size) {
    return world->content.memory[RG_MEMORY_METHOD].size == size ||
           rg_memory_resize(world, RG_MEMORY_METHOD, size);
}

/* Differences that are not valid are not kept, so that saved bytes depend on the run alone. */
static void remember(rg_world *world, const analytic_memory *memory, size_t n) {
    rg_memory_block *block = &world->content.memory[RG_MEMORY_METHOD];
    size_t used = sizeof *memory;
    if (memory->integrator == RG_INTEGRATOR_ADAMS)
        used += ((size_t)memory->adams.count + 1) * n * sizeof(double);
    memcpy(block->data, memory, used);
    memset((char *)block->data + used, 0, block->size - used);
}

static rg_status integrate(const rg_ode *ode, double begin, double end, double *y,
                           analytic_memory *memory, rg_ode_info *info) {
    rg_world *world = ((rg_flight *)ode->user)->world;
    rg_ode_settings settings = {.tolerance = world->content.settings.tolerance};
    if (world->content.settings.integrator == RG_INTEGRATOR_DORMAND_PRINCE)
        return rg_dormand_prince(ode, begin, end, &settings, y, &memory->next_step, &world->scratch,
                                 info);
    return rg_adams(ode, begin, end, &settings, y, &memory->adams, (double *)(memory + 1),
                    &world->scratch, info);
}

static rg_status fail(const rg_world *world, rg_status status, double time, rg_error *error) {
    switch (status) {
    case RG_NOT_FINITE:
        return rg_fail(error, status,
                       "at t = %.9g s a force or the motion became infinite or not a number; look "
                       "at the forces of the scene",
                       time);
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

/* Free flight. `a` (null: nothing can ever meet) has looked how far bodies reach: *farther, and nothing
 * changed, if they went beyond. */
static rg_status fly(rg_world *world, double end_time, const rg_analysis *a, bool *farther,
                     rg_step_report *report, rg_error *error) {
    rg_flight flight;
    rg_status status = rg_flight_make(&flight, world);
    double *y = status ? NULL : rg_arena_take(&world->scratch, flight.size, sizeof *y);
    analytic_memory *memory = y ? recall(world, flight.size) : NULL;
    if (!memory)
        return fail(world, RG_OUT_OF_MEMORY, world->content.time, error);
    rg_flight_pack(&flight, y);
    rg_ode ode = {.n = flight.size,
                  .user = &flight,
                  .pool = world->pool,
                  .derivative = rg_flight_derivative,
                  .scale = rg_flight_scale,
                  .accept = rg_flight_accept};
    rg_ode_info info = {0};
    double time = world->content.time, phase_begin = time;
    while (!status && time < end_time) {
        phase_begin = time;
        double stop = rg_forces_next_break(&world->content, time, end_time);
        flight.phase_begin = time;
        flight.phase_end = stop;
        status = integrate(&ode, time, stop, y, memory, &info);
        if (status)
            return fail(world, status, time, error);
        if (stop < end_time)
            memory->adams.order = 0;
        time = stop;
    }
    if (!rg_flight_is_finite(&flight, y))
        return fail(world, RG_NOT_FINITE, time, error);
    *farther = a && rg_analysis_went_farther(a, y);
    if (*farther)
        return RG_OK;
    if (!make_room(world, memory_size(&world->content.settings, flight.size)))
        return fail(world, RG_OUT_OF_MEMORY, time, error);
    rg_flight_unpack(&flight, y);
    /* Applied forces end with the step: the next one starts afresh. A force that switches exactly
     * at the end does so too. */
    memory->valid = !world->content.has_applied &&
                    rg_forces_next_break(&world->content, phase_begin, INFINITY) != end_time;
    remember(world, memory, flight.size);
    rg_flight_ledger ledger = rg_flight_ledger_of(&flight, y);
    *report = (rg_step_report){.external_work = ledger.work,
                               .has_work = true,
                               .impulse = ledger.impulse,
                               .angular_impulse = ledger.angular_impulse,
                               .substeps = info.accepted,
                               .rejected = info.rejected,
                               .evaluations = info.evaluations};
    return RG_OK;
}

/* --- with contacts ------------------------------------------------------------------------------- */

static bool take_motion(rg_analysis *a, size_t n) {
    rg_analysis_motion *m = &a->motion;
    m->position = rg_arena_take(a->arena, n, sizeof(rg_vec3));
    m->velocity = rg_arena_take(a->arena, n, sizeof(rg_vec3));
    m->angular_velocity = rg_arena_take(a->arena, n, sizeof(rg_vec3));
    m->orientation = rg_arena_take(a->arena, n, sizeof(rg_quat));
    m->inverse_inertia = rg_arena_take(a->arena, n, sizeof(rg_mat3));
    m->acceleration = rg_arena_take(a->arena, n, sizeof(rg_vec3));
    m->angular_acceleration = rg_arena_take(a->arena, n, sizeof(rg_vec3));
    if (!m->position || !m->velocity || !m->angular_velocity || !m->orientation ||
        !m->inverse_inertia || !m->acceleration || !m->angular_acceleration)
        return false;
    if (n == 0)
        return true;
    const rg_world_content *c = &a->world->content;
    memcpy(m->position, c->position, n * sizeof(rg_vec3));
    memcpy(m->orientation, c->orientation, n * sizeof(rg_quat));
    memset(m->velocity, 0, n * sizeof(rg_vec3));
    memset(m->angular_velocity, 0, n * sizeof(rg_vec3));
    memset(m->inverse_inertia, 0, n * sizeof(rg_mat3));
    memset(m->acceleration, 0, n * sizeof(rg_vec3));
    memset(m->angular_acceleration, 0, n * sizeof(rg_vec3));
    return true;
}

/* Reference accelerations and speeds: what thresholds are relative to. */
static void take_references(rg_analysis *a) {
    const rg_world_content *c = &a->world->content;
    a->acceleration = rg_length(c->gravity);
    rg_arena_mark mark = rg_arena_get_mark(a->arena);
    double *dydt = rg_arena_take(a->arena, a->ode.n, sizeof *dydt);
    for (size_t i = 0; i < c->bodies.count; i++) {
        double spin = rg_length(c->angular_velocity[i]) * c->dynamics[i].gyration_radius;
        a->speed = fmax(a->speed, fmax(spin, rg_length(c->velocity[i])));
    }
    if (dydt) {
        rg_flight_derivative(&a->flight, a->begin, a->y, dydt);
        for (size_t k = 0; k < a->flight.body_count; k++) {
            const double *d = dydt + k * a->flight.width;
            double inverse = c->dynamics[a->flight.body[k]].inverse_mass;
            double force = c->planar ? fmax(fabs(d[3]), fabs(d[4]))
                                     : rg_largest_entry((rg_vec3){d[7], d[8], d[9]});
            a->acceleration = fmax(a->acceleration, inverse * force);
        }
    }
    rg_arena_return(a->arena, mark);
    /* Without any force: what would bring the fastest body to a stop in the step. */
    if (!(a->acceleration > 0))
        a->acceleration = a->speed > 0 ? a->speed / (a->end - a->begin) * 1e-3 : 1;
}

static rg_status make_analysis(rg_analysis *a, rg_world *world, double end_time, rg_error *error) {
    *a = (rg_analysis){.world = world,
                       .arena = &world->scratch,
                       .begin = world->content.time,
                       .time = world->content.time,
                       .end = end_time,
                       .coarser = 1};
    rg_status status = rg_machinery_of(world, &a->machinery, error);
    if (status)
        return status;
    a->context = a->machinery->contexts[0];
    status = rg_flight_make(&a->flight, world);
    if (!status) {
        a->ode = (rg_ode){.n = a->flight.size + RG_ANALYSIS_LEDGER,
                          .user = a,
                          .pool = world->pool,
                          .derivative = rg_analysis_derivative,
                          .scale = rg_analysis_scale,
                          .accept = rg_analysis_accept};
        a->flight.phase_begin = a->begin;
        a->flight.phase_end = end_time;
        a->y = rg_arena_take(a->arena, a->ode.n, sizeof(double));
        a->scratch_y = rg_arena_take(a->arena, a->ode.n, sizeof(double));
        if (!a->y || !a->scratch_y || !take_motion(a, world->content.bodies.count))
            status = RG_OUT_OF_MEMORY;
    }
    if (!status)
        status = rg_analysis_make_parts(a);
    if (status)
        return rg_fail(error, status, "no memory for the step");
    rg_flight_pack(&a->flight, a->y);
    memset(a->y + a->flight.size, 0, RG_ANALYSIS_LEDGER * sizeof(double));
    rg_analysis_move(a, a->begin, a->y, &a->motion);
    return RG_OK;
}

/* Whether anything could meet before the end of the step. */
static bool may_meet(rg_analysis *a) {
    if (a->part_count < 2)
        return false;
    take_references(a);
    return rg_analysis_may_meet(a, a->end - a->begin);
}

static rg_contact_mode mode_of(const rg_analysis_contact *c) {
    if (!c->active)
        return RG_MODE_SEPARATING;
    if (c->mode == RG_ANALYSIS_SLIPS && c->law.dynamic_friction > 0)
        return RG_MODE_SLIP;
    bool curved = c->track.feature.kind == RG_CONTACT_SMOOTH;
    return curved && rg_length(c->motion.point_rate) > 0 ? RG_MODE_ROLL : RG_MODE_STICK;
}

/* The forces of the last instant, for readers and recordings. */
static rg_status store_forces(rg_analysis *a, rg_error *error) {
    rg_world *world = a->world;
    a->judging = true;
    rg_analysis_evaluate(a, a->time, a->y);
    rg_contact_force *forces =
        rg_memory_resize(world, RG_MEMORY_FORCES, a->contact_count * sizeof *forces);
    if (a->contact_count && !forces)
        return rg_fail(error, RG_OUT_OF_MEMORY, "no memory for contact forces");
    double step = a->end - a->begin;
    for (size_t i = 0; i < a->contact_count; i++) {
        const rg_analysis_contact *c = &a->contacts[i];
        const rg_analysis_part *b = &a->parts[c->part_b], *other = &a->parts[c->part_a];
        rg_vec3 f = rg_scale(c->force[0], c->motion.normal);
        f = rg_add_scaled(f, c->force[1], c->basis[0]);
        f = rg_add_scaled(f, c->force[2], c->basis[1]);
        forces[i] =
            (rg_contact_force){.collider_b = b->collider,
                               .collider_a = other->collider,
                               .body_b = rg_body_id_at(&world->content, c->body_b),
                               .body_a = rg_body_id_at(&world->content, c->body_a),
                               .part_b = b->index,
                               .part_a = other->index,
                               .id = c->id,
                               .position = c->motion.point,
                               .normal = c->motion.normal,
                               .gap = c->motion.gap,
                               .impulse = rg_scale(step, f),
                               .force = f,
                               .normal_force = c->force[0],
                               .friction = c->mode == RG_ANALYSIS_SLIPS ? c->law.dynamic_friction
                                                                        : c->law.static_friction,
                               .slip_speed = rg_length(c->motion.slip),
                               .approach = -c->motion.gap_rate,
                               .mode = mode_of(c)};
    }
    return RG_OK;
}

static void tell(const rg_analysis *a, rg_step_report *report) {
    rg_flight_ledger ledger = rg_flight_ledger_of(&a->flight, a->y);
    const double *w = a->y + a->flight.size;
    *report = (rg_step_report){.external_work = ledger.work,
                               .impulse = ledger.impulse,
                               .angular_impulse = ledger.angular_impulse,
                               .substeps = a->ode_info.accepted,
                               .rejected = a->ode_info.rejected,
                               .evaluations = a->ode_info.evaluations,
                               .worst_residual = a->worst_residual,
                               .worst_cone = a->worst_cone,
                               .solves = a->solves,
                               .solver_iterations = a->iterations,
                               .solver_failures = a->failures,
                               .fallbacks = a->fallbacks,
                               .contacts = a->contacts_most,
                               .impacts = a->impacts,
                               .has_work = true,
                               .friction_work = w[0] + a->impact_friction,
                               .impact_work = a->impact_work,
                               .stabilisation = a->stabilisation + w[1],
                               .prescribed_work = w[2] + a->prescribed,
                               .contact_impulse = rg_add(a->impulse, (rg_vec3){w[3], w[4], w[5]}),
                               .contact_angular_impulse =
                                   rg_add(a->angular_impulse, (rg_vec3){w[6], w[7], w[8]})};
}

static rg_status step_analytic(rg_world *world, double end_time, rg_step_report *report,
                               rg_error *error) {
    rg_analysis a;
    rg_status status = make_analysis(&a, world, end_time, error);
    if (status)
        return status;
    if (!may_meet(&a)) {
        bool farther = false;
        status = fly(world, end_time, a.part_count < 2 ? NULL : &a, &farther, report, error);
        if (status || !farther)
            return status;
    }
    status = rg_dormand_prince_make(&a.ode, a.arena, &a.trial);
    if (status)
        return fail(world, status, a.time, error);
    analytic_memory *memory = recall(world, a.flight.size);
    if (!memory)
        return fail(world, RG_OUT_OF_MEMORY, a.time, error);
    a.next_step = memory->next_step;
    if (memory->valid && memory->bounce_count <= RG_ANALYSIS_BOUNCING) {
        a.bounce_count = memory->bounce_count;
        memcpy(a.bounces, memory->bounces, a.bounce_count * sizeof *a.bounces);
    }
    rg_error inner = {0};
    status = rg_analysis_run(&a, &inner);
    if (status) {
        if (inner.text[0] && error)
            *error = inner;
        return inner.text[0] ? status : fail(world, status, a.time, error);
    }
    if (!rg_flight_is_finite(&a.flight, a.y))
        return fail(world, RG_NOT_FINITE, a.time, error);
    if (!make_room(world, memory_size(&world->content.settings, a.flight.size)))
        return fail(world, RG_OUT_OF_MEMORY, a.time, error);
    status = store_forces(&a, error);
    if (status)
        return status;
    rg_flight_unpack(&a.flight, a.y);
    *memory = (analytic_memory){.valid = !world->content.has_applied,
                                .edits = world->content.edits,
                                .size = a.flight.size,
                                .integrator = (uint64_t)world->content.settings.integrator,
                                .next_step = a.next_step,
                                .bounce_count = a.bounce_count};
    memcpy(memory->bounces, a.bounces, a.bounce_count * sizeof *a.bounces);
    remember(world, memory, a.flight.size);
    tell(&a, report);
    return RG_OK;
}

const rg_method rg_method_analytic = {
    .name = "analytic",
    .summary = "event-driven: adaptive integration, exact contact forces, impacts",
    .step = step_analytic};
