/* Mean forces over a short time, where forces of an instant cannot be followed.
 *
 * Many contacts near their limits of friction may change between stick and slip faster than
 * anything else moves, and the active set then takes longer to find than it lasts. So for a
 * short time forces are constant: those that bring all velocities to where the laws of contact
 * hold at its end (Moreau's step; with all slips in it, those that stop within the time, too).
 * They are integrated like any others: places, ledger and the search for parts that meet are as
 * exact as always; changes between stick and slip, and forces that reach zero, are not located
 * within that time, and approaches that a force of weight could stop in it are stopped without
 * an impact. With the exact law of friction alone: not with polygons.
 *
 * Tested by tests/step/test_events.c. */
#include "problem/problem_rows.h"
#include "step/step_analytic.h"
#include "step/step_stage.h"

/* Of the judge's residual, relative to speeds: what is good enough. */
#define ENOUGH 1e-7

/* m/s: the least rate of a gap at the end. It may close, but only so fast that a force which is
 * constant over the next time, too, can stop it before there is no room: with rate u of now and
 * u' at the end the room then is room + (u + u') length / 2, and what another time takes that is
 * GROWTH times as long is at most all of it. */
static double least_rate(const rg_analysis_contact *c, double rate, double length) {
    double room = fmax(0, c->motion.gap - RG_ANALYSIS_REST * c->shell);
    return -fmax(0, 2 / (1 + RG_ANALYSIS_MEAN_GROWTH) * (room / length + rate / 2));
}

/* Accelerations, as means over `length`: W f + q = 0 where the velocity at the end is. */
static void fill_rows(rg_analysis *a, const uint32_t *members, double length, rg_analysis_cone *s) {
    size_t k = 0;
    for (size_t j = 0; j < s->contacts; j++) {
        rg_analysis_contact *c = &a->contacts[members[j]];
        rg_vec3 last = rg_analysis_force_of(c);
        rg_contact_tangents(c->motion.normal, a->view->world->content.planar, &c->basis[0],
                            &c->basis[1]);
        s->mu[j] = rg_analysis_coefficient(c);
        for (uint32_t i = 0; i < s->dimension; i++, k++) {
            rg_vec3 e = i ? c->basis[i - 1] : c->motion.normal;
            s->rows[k] = rg_analysis_make_row(a, members[j], i, e);
            double rate = rg_analysis_rate(&a->motion, &s->rows[k]);
            s->q[k] = rg_analysis_own_rate(a, &s->rows[k]) + rate / length;
            if (i == 0)
                s->q[k] -= least_rate(c, rate, length) / length;
            s->force[k] = rg_dot(last, e);
        }
    }
}

static rg_status solve(rg_analysis *a, double length, rg_analysis_cone *s, rg_solve_info *info) {
    rg_problem problem;
    double scale = fmax(a->view->acceleration, a->view->speed / length);
    if (rg_analysis_cone_problem(a, s, scale, &problem))
        return RG_OUT_OF_MEMORY;
    rg_solution solution = {.force = s->force, .velocity = s->rate};
    rg_solve_settings settings = rg_solve_settings_default();
    settings.tolerance = ENOUGH;
    settings.warm = true;
    /* In the plane pivoting would go first, from nothing; and with that many contacts at the
     * limit go on for long. */
    static const char *const solvers[] = {"interior-point", "auto"};
    rg_status status = RG_OK;
    for (size_t i = a->view->world->content.planar ? 0 : 1; i < 2 && !status; i++) {
        status = rg_solve(a->view->context, rg_solver_find(solvers[i]), &problem, &settings,
                          &solution, info, NULL);
        a->tally.counts.iterations += info->iterations;
        a->tally.counts.fallbacks += info->fallbacks > 0;
        if (info->residual.natural <= ENOUGH)
            break;
    }
    a->tally.counts.solves++;
    return status;
}

/* Forces, and which contacts slip at the end of the time. */
static void store(rg_analysis *a, const uint32_t *members, double length,
                  const rg_analysis_cone *s) {
    const double *f = s->force, *rate = s->rate;
    size_t d = s->dimension;
    for (size_t j = 0; j < s->contacts; j++, f += d, rate += d) {
        rg_analysis_contact *c = &a->contacts[members[j]];
        /* Contacts that leave carry no force; and what is pressed before it is there is not at
         * rest. */
        const rg_analysis_row *normal = &s->rows[d * j];
        bool carries = f[0] > 0 && f[0] * rg_analysis_couple(a, normal, normal) > rate[0];
        for (size_t i = 0; i < 3; i++)
            c->force[i] = carries && i < d ? f[i] : 0;
        c->none = c->motion.gap <= RG_ANALYSIS_NEAR * c->shell ? 0 : INFINITY;
        c->reference = rg_analysis_force_of(c);
        c->normal_acceleration = rate[0];
        c->slip_acceleration = 0;
        rg_vec3 slip = rg_scale(length * rate[1], c->basis[0]);
        if (d > 2)
            slip = rg_add_scaled(slip, length * rate[2], c->basis[1]);
        rg_analysis_begin_friction(a, c, slip);
    }
}

static rg_status solve_island(rg_analysis *a, const uint32_t *members, size_t count,
                              double length) {
    rg_arena_mark mark = rg_arena_get_mark(a->arena);
    rg_analysis_cone s;
    rg_status status = rg_analysis_take_cone(a, count, &s) ? RG_OK : RG_OUT_OF_MEMORY;
    rg_solve_info info = {.residual.natural = INFINITY};
    if (!status) {
        fill_rows(a, members, length, &s);
        status = solve(a, length, &s, &info);
    }
    if (!status) {
        store(a, members, length, &s);
        rg_solve_counts_judged(&a->tally.counts, &info.residual);
        if (!(info.residual.natural <= RG_ANALYSIS_FAILED)) {
            a->tally.counts.failures++;
            rg_analysis_log(a, RG_STEP_EVENT_UNSOLVED, &a->contacts[members[0]], (uint32_t)count,
                            info.residual.natural);
        }
    }
    rg_arena_return(a->arena, mark);
    return status;
}

bool rg_analysis_may_average(const rg_analysis *a) {
    return a->law->exact_cone || a->view->world->content.planar;
}

/* Over the time that is left, or a little of it; they stay what they are. */
static rg_status take_means(rg_analysis *a, double *length) {
    *length = fmin(*length, a->mean_length);
    a->next_step = *length;
    rg_analysis_evaluate_free(a, a->time, a->y);
    rg_stage outer = rg_stage_enter(a->view->world, RG_STAGE_SOLVE);
    rg_arena_mark mark = rg_arena_get_mark(a->arena);
    rg_partition islands;
    rg_status status = rg_analysis_find_islands(a, &islands);
    for (size_t k = 0; k < islands.count && !status; k++)
        status = solve_island(a, islands.member + islands.first[k],
                              islands.first[k + 1] - islands.first[k], *length);
    rg_arena_return(a->arena, mark);
    rg_stage_enter(a->view->world, outer);
    return status;
}

const rg_force_law rg_law_mean = {.prepare = take_means,
                                  .evaluate = rg_analysis_keep_forces,
                                  .near = RG_ANALYSIS_MEAN_NEAR,
                                  .regular = RG_ANALYSIS_MEAN_REGULAR,
                                  .mean = true};
