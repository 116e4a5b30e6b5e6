/* The analytic method, as far as it goes without contact: free flight by an adaptive integrator
 * with error control, stopped and started again wherever a force switches on or off (Baraff 1989,
 * section 3; an integration step never spans a discontinuity).
 *
 * What the integrator learns (step size, differences of the multistep method) stays in the world's
 * memory from step to step, as long as nobody edits the world in between. */
#include "base/base_text.h"
#include "step/step_flight.h"
#include "step/step_method.h"

#include <string.h>

typedef struct analytic_memory {
    uint64_t valid; /* 0: start afresh */
    uint64_t edits;
    uint64_t size; /* of the state vector */
    uint64_t integrator;
    double next_step;
    rg_adams_memory adams;
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
    else
        *memory = (analytic_memory){
            .edits = c->edits, .size = n, .integrator = (uint64_t)c->settings.integrator};
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

static rg_status step_analytic(rg_world *world, double end_time, rg_step_report *report,
                               rg_error *error) {
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
                               .impulse = ledger.impulse,
                               .angular_impulse = ledger.angular_impulse,
                               .substeps = info.accepted,
                               .rejected = info.rejected,
                               .evaluations = info.evaluations};
    return RG_OK;
}

const rg_method rg_method_analytic = {
    .name = "analytic",
    .summary = "adaptive integration with error control (free flight; contacts are to come)",
    .step = step_analytic};
