/* Impacts: the list of laws and the driver. The driver checks the problem, takes the joints out,
 * lets the law add impulses, and makes up the account from the whole problem: energy by normals,
 * friction and joints, work of prescribed motion, what still approaches. */
#include "step/step_impact.h"

#include "base/base_long.h"
#include "base/base_math.h"
#include "base/base_registry.h"
#include "problem/problem.h"

#include <assert.h>
#include <string.h>

/* Of the sum of the sizes of its parts: more energy than this out of an impact is a failure. */
#define ENERGY_MADE 1e-10

static const rg_impact_law *const laws[] = {
    &rg_impact_law_simultaneous, &rg_impact_law_propagation, &rg_impact_law_poisson,
    &rg_impact_law_energetic,    &rg_impact_law_reflection,  &rg_impact_law_dissipative,
};

RG_DEFINE_REGISTRY(rg_impact_law, laws)

const char *rg_impact_outcome_name(rg_impact_outcome outcome) {
    static const char *const names[RG_IMPACT_OUTCOMES] = {"resolved", "rounds", "unsolved"};
    return (unsigned)outcome < RG_IMPACT_OUTCOMES ? names[outcome] : "unknown";
}

/* --- checks and accounts ---------------------------------------------------------------------- */

static rg_status check(const rg_impact_problem *problem, rg_error *error) {
    if (problem->contact.kind != RG_PROBLEM_CONTACT)
        return rg_fail(error, RG_INVALID_ARGUMENT,
                       "an impact needs a problem of contacts, not of rows");
    rg_status status = rg_problem_check(&problem->contact, error);
    if (status)
        return status;
    const rg_contact_problem *p = &problem->contact.contact;
    for (size_t i = 0; problem->restitution && i < p->contacts; i++)
        if (!(problem->restitution[i] >= 0 && problem->restitution[i] <= 1))
            return rg_fail(error, RG_INVALID_ARGUMENT,
                           "contact %zu: restitution %g; it must lie between 0 and 1", i,
                           problem->restitution[i]);
    for (size_t i = 0; problem->moving && i < rg_contact_rows(p); i++)
        if (!isfinite(problem->moving[i]))
            return rg_fail(error, RG_NOT_FINITE, "row %zu: prescribed velocity %g", i,
                           problem->moving[i]);
    if (!(problem->still >= 0 && problem->still < INFINITY))
        return rg_fail(error, RG_INVALID_ARGUMENT,
                       "an approach slower than %g is none: the limit must be 0 or more",
                       problem->still);
    return RG_OK;
}

/* u+ of the reduced rows comes from the whole problem as well: one truth for what is reported. */
static void account(const rg_impact_problem *problem, const rg_impact_reduction *reduction,
                    const rg_impact_state *state, const double *impulse, const double *after) {
    const rg_contact_problem *p = &problem->contact.contact;
    rg_impact_info *info = state->info;
    size_t rows = rg_contact_rows(p), contact_rows = p->contacts * (size_t)p->dimension;
    const double *before = rg_impact_before(reduction);
    rg_long contact = rg_long_of(0), joint = contact, outside = contact;
    for (size_t i = 0; i < rows; i++) {
        rg_long work = rg_long_mul(rg_long_of(0.5 * impulse[i]), rg_long_sum(after[i], before[i]));
        rg_long *sum = i < contact_rows ? &contact : &joint;
        *sum = rg_long_add(*sum, work);
        if (problem->moving)
            outside = rg_long_sub(outside, rg_long_product(impulse[i], problem->moving[i]));
    }
    info->energy_change = rg_long_round(rg_long_add(contact, joint));
    info->joint_change = rg_long_round(joint);
    info->normal_change = state->friction ? state->normal_work : rg_long_round(contact);
    info->friction_change =
        state->friction ? rg_long_round(rg_long_sub(contact, rg_long_of(state->normal_work))) : 0;
    info->prescribed_work = rg_long_round(outside);
    info->left = 0;
    for (size_t i = 0; i < p->contacts; i++)
        info->left = fmax(info->left, -after[i * (size_t)p->dimension]);
}

/* Contacts that no impulse moves, and energy out of nothing: neither may go unsaid. */
static void look_back(rg_impact_state *s, const double *impulse, const double *after) {
    rg_impact_info *info = s->info;
    double size = 0;
    for (size_t i = 0; i < s->contacts * (size_t)s->d; i++)
        size += fabs(impulse[i]) * (fabs(after[i]) + s->scale);
    if (info->energy_change > ENERGY_MADE * size)
        rg_impact_note(s, RG_IMPACT_UNSOLVED, "the impact created %.3g J of energy",
                       info->energy_change);
    for (size_t i = 0; s->all_count < s->contacts && i < s->contacts; i++) {
        size_t n = rg_impact_normal(s, i);
        if (rg_impact_row(s, n)[n] == 0 && s->u[n] < -s->still) {
            rg_impact_note(s, RG_IMPACT_UNSOLVED,
                           "contact %zu approaches at %.3g m/s, and no impulse moves it", i,
                           -s->u[n]);
            return;
        }
    }
}

rg_status rg_impact_finish(rg_impact_session *session, const rg_impact_problem *problem,
                           double *impulse, double *velocity, rg_error *error) {
    rg_impact_state *s = &session->state;
    size_t rows = rg_problem_rows(&problem->contact);
    rg_status status = rg_impact_restore(session->reduction, s, impulse, error);
    if (status)
        return status;
    for (size_t i = 0; i < rows; i++)
        if (!isfinite(impulse[i])) {
            memset(impulse, 0, rows * sizeof *impulse);
            rg_impact_note(s, RG_IMPACT_UNSOLVED, "the impulses overflowed");
            break;
        }
    double *after = velocity;
    if (!after)
        RG_TAKE(after, s->context, rows, error);
    rg_allocator in_arena = rg_solve_arena_allocator(s->context);
    status = rg_judge_velocity(&problem->contact, impulse, &in_arena, after, error);
    if (status)
        return status;
    account(problem, session->reduction, s, impulse, after);
    look_back(s, impulse, after);
    return RG_OK;
}

rg_status rg_impact_stop_all(rg_impact_state *state, rg_error *error) {
    rg_arena_mark mark = rg_arena_get_mark(&state->context->arena);
    double *impulse;
    RG_TAKE(impulse, state->context, state->rows, error);
    rg_impact_part part = {.list = state->all, .count = state->all_count, .friction = true};
    rg_status status = rg_impact_solve(state, &part, impulse, error);
    if (!status)
        status = rg_impact_apply(state, impulse, error);
    rg_arena_return(&state->context->arena, mark);
    return status;
}

/* --- the driver ------------------------------------------------------------------------------- */

/* Solves inside must not reset the arena that the state lives in: the depth is raised. */
rg_status rg_impact_begin(rg_impact_session *session, rg_solve_context *context,
                          const rg_impact_problem *problem, rg_impact_info *info, rg_error *error) {
    session->context = context;
    session->info = info ? info : &session->own;
    *session->info = (rg_impact_info){.scaled = 1};
    session->mark = rg_arena_get_mark(&context->arena);
    context->depth++;
    rg_status status = check(problem, error);
    return status ? status
                  : rg_impact_reduce(context, problem, session->info, &session->state,
                                     &session->reduction, error);
}

void rg_impact_end(rg_impact_session *session) {
    rg_solve_context *context = session->context;
    context->depth--;
    if (context->depth == 0)
        rg_arena_reset(&context->arena);
    else
        rg_arena_return(&context->arena, session->mark);
}

rg_status rg_impact_resolve(rg_solve_context *context, const rg_impact_law *law,
                            const rg_impact_problem *problem, double *impulse, double *velocity,
                            rg_impact_info *info, rg_error *error) {
    assert(context && law && problem && impulse);
    rg_impact_session now;
    rg_status status = rg_impact_begin(&now, context, problem, info, error);
    rg_impact_state *state = &now.state;
    if (!status) {
        uint64_t limit = problem->round_limit;
        state->own_limit = limit == 0;
        state->limit = limit ? limit : law->rounds * (state->contacts + 1);
        status = law->resolve(state, error);
    }
    if (!status && rg_impact_goes_on(state)) {
        rg_impact_note(state, RG_IMPACT_ROUNDS,
                       "%s: after %llu rounds contacts still approach at %.3g m/s%s", law->name,
                       (unsigned long long)now.info->rounds, rg_impact_fastest(state),
                       state->own_limit ? "; that was stopped without restitution" : "");
        if (state->own_limit)
            status = rg_impact_stop_all(state, error);
    }
    if (!status)
        status = rg_impact_finish(&now, problem, impulse, velocity, error);
    rg_impact_end(&now);
    return status;
}
