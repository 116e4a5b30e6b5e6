/* The active set in the exact cone: which contacts are held, and which are at the limit of stick
 * and in which direction, decided between steps.
 *
 * First it is tried whether all contacts can be held. Then those that leave their cones are put at
 * their limits and those that turn back are held again, round by round; at the limit friction turns
 * against the acceleration by Newton's method (turn_rows in step_analytic_forces.c). If that does
 * not end, a solver of the exact cone is asked; contacts that slip enter it with a velocity that
 * dwarfs every acceleration, so that their friction has the direction it must have. If that does
 * not lead to an end either, forces are left to means.
 *
 * Tested by tests/step/test_onset.c and tests/step/test_events.c. */
#include "step/step_analytic.h"

#include <string.h>

/* Relative: a force this much inside its cone is held. */
#define HELD 2e-6
/* Of the judge's residual: what is good enough for deciding which contacts are held. */
#define DECIDES 1e-8
/* Tangents of contacts that carry less are raised by up to this many times more: what they can
 * hold is less, too. */
#define NEAR_LIGHT 100
/* Contacts at their limits that turn back by more than this share of the most do so together. */
#define ALIKE 0.999
enum { FOLLOWING = 32, TURNS = 2 };
/* 1 - cos of the angle between directions that are the same but for rounding. */
#define ALIGNED 1e-9
/* Radians: directions at the limit that turn by less are right. */
#define TURNED 1e-7
/* Slip of the cone problem, in `acceleration`. */
#define DWARFS 1e4
/* In `acceleration`: a contact at its limit that turns back by less does so by the error of the
 * decision. */
#define BACK 1e-5

/* What a solver of the exact cone says. */
typedef struct decision {
    double *force;  /* three of each contact */
    rg_vec3 *basis; /* two tangents of each */
} decision;

/* Whether friction leaves it open which contacts stick. */
static bool needs_decision(const rg_analysis *a, const uint32_t *members, size_t member_count) {
    for (size_t j = 0; j < member_count; j++) {
        const rg_analysis_contact *c = &a->contacts[members[j]];
        if (c->mode == RG_ANALYSIS_STICKS && rg_analysis_has_friction(c))
            return true;
    }
    return false;
}

static void take_decision(rg_analysis *a, const uint32_t *members, size_t member_count,
                          const decision *d) {
    const double *force = d->force;
    for (size_t j = 0; j < member_count; j++, force += 3) {
        rg_analysis_contact *c = &a->contacts[members[j]];
        rg_vec3 across =
            rg_add(rg_scale(force[1], d->basis[2 * j]), rg_scale(force[2], d->basis[2 * j + 1]));
        c->reference = rg_add_scaled(across, force[0], c->motion.normal);
        if (c->mode == RG_ANALYSIS_STICKS) {
            double size = rg_length(across);
            double held = rg_analysis_friction_drops(c) ? DECIDES : HELD;
            c->at_limit = size > 0 && size >= rg_analysis_coefficient(c) * force[0] * (1 - held);
            if (c->at_limit)
                c->direction = rg_scale(-1 / size, across);
        }
        /* The quick way starts from here: where many points share the load, rows would stay at
         * the bounds at which they were, outside the cone. */
        rg_analysis_make_basis(a, c);
        c->force[0] = force[0];
        c->force[1] = rg_dot(across, c->basis[0]);
        c->force[2] = rg_dot(across, c->basis[1]);
    }
}

/* The velocity that slips were given in the problem has turned by what they accelerate: that is
 * taken back. If that makes it too hard, the answer stays. `q` is the problem's. */
static void turn_slips(rg_analysis *a, const uint32_t *members, size_t member_count,
                       const rg_problem *problem, double *q, rg_solution *solution,
                       rg_solve_info *info) {
    size_t n = 3 * member_count;
    double *force = rg_arena_take(a->arena, n, sizeof *force);
    double *rate = rg_arena_take(a->arena, n, sizeof *rate);
    rg_solve_settings settings = rg_solve_settings_default();
    settings.tolerance = DECIDES;
    settings.warm = true;
    for (int turn = 0; force && rate && turn < TURNS && info->residual.natural <= DECIDES; turn++) {
        bool any = false;
        memcpy(force, solution->force, n * sizeof *force);
        memcpy(rate, solution->velocity, n * sizeof *rate);
        for (size_t j = 0; j < member_count; j++) {
            if (a->contacts[members[j]].mode != RG_ANALYSIS_SLIPS)
                continue;
            q[3 * j + 1] -= rate[3 * j + 1] - DWARFS * a->view->acceleration;
            q[3 * j + 2] -= rate[3 * j + 2];
            any = true;
        }
        rg_solve_info turned;
        if (!any || rg_solve(a->view->context, rg_solver_find("newton"), problem, &settings,
                             solution, &turned, NULL))
            return;
        a->tally.counts.iterations += turned.iterations;
        if (!(turned.residual.natural <= DECIDES)) {
            memcpy(solution->force, force, n * sizeof *force);
            memcpy(solution->velocity, rate, n * sizeof *rate);
            return;
        }
    }
}

/* The problem of the exact cone at this instant. */
static bool decide(rg_analysis *a, const uint32_t *members, size_t member_count, decision *d) {
    rg_analysis_cone s;
    d->basis = rg_arena_take(a->arena, 2 * member_count, sizeof *d->basis);
    if (!d->basis || !rg_analysis_take_cone(a, member_count, &s))
        return false;
    d->force = s.force;
    size_t k = 0;
    for (size_t j = 0; j < member_count; j++) {
        rg_analysis_contact *c = &a->contacts[members[j]];
        rg_vec3 last = rg_analysis_force_of(c);
        rg_analysis_make_basis(a, c);
        memcpy(d->basis + 2 * j, c->basis, sizeof c->basis);
        s.mu[j] = rg_analysis_coefficient(c);
        for (uint32_t i = 0; i < 3; i++, k++) {
            s.rows[k] =
                rg_analysis_make_row(a, members[j], i, i ? c->basis[i - 1] : c->motion.normal);
            s.q[k] = rg_analysis_own_rate(a, &s.rows[k]);
            s.force[k] = rg_dot(last, s.rows[k].e);
        }
        if (c->mode == RG_ANALYSIS_SLIPS)
            s.q[k - 2] += DWARFS * a->view->acceleration;
    }
    rg_problem problem;
    if (rg_analysis_cone_problem(a, &s, a->view->acceleration, &problem))
        return false;
    rg_solve_settings settings = rg_solve_settings_default();
    settings.tolerance = DECIDES;
    rg_solution solution = {.force = s.force, .velocity = s.rate};
    rg_solve_info info;
    /* From the last forces it is a few steps of Newton's. If that fails: from nothing. */
    settings.warm = true;
    static const char *const solvers[] = {"newton", "interior-point"};
    rg_status status = RG_OK;
    for (size_t i = 0; i < sizeof solvers / sizeof *solvers && !status; i++) {
        status = rg_solve(a->view->context, rg_solver_find(solvers[i]), &problem, &settings,
                          &solution, &info, NULL);
        settings.warm = false;
        a->tally.counts.iterations += info.iterations;
        a->tally.counts.fallbacks += i > 0;
        if (info.residual.natural <= DECIDES)
            break;
    }
    if (status)
        return false;
    a->tally.counts.solves++;
    turn_slips(a, members, member_count, &problem, s.q, &solution, &info);
    /* Contacts that leave carry no force. */
    for (size_t j = 0; j < member_count; j++)
        if (s.force[3 * j] * rg_analysis_couple(a, &s.rows[3 * j], &s.rows[3 * j]) < s.rate[3 * j])
            s.force[3 * j] = s.force[3 * j + 1] = s.force[3 * j + 2] = 0;
    if (info.residual.natural > RG_ANALYSIS_FAILED)
        a->tally.counts.failures++;
    return true;
}

static bool is_near_limit(const rg_analysis_contact *c) {
    return rg_analysis_cone_margin(c) < HELD;
}

/* A contact that was at the limit is held again only if there is room: none goes back and forth by
 * rounding. Where friction drops at the limit, it cannot. */
static bool exceeds(const rg_analysis_contact *c) {
    return rg_analysis_cone_margin(c) < (c->tight && !rg_analysis_friction_drops(c) ? HELD : 0);
}

static void mark_tight(rg_analysis *a, const uint32_t *members, size_t member_count) {
    for (size_t j = 0; j < member_count; j++) {
        rg_analysis_contact *c = &a->contacts[members[j]];
        c->tight = c->at_limit || (c->active && is_near_limit(c));
    }
}

static bool any_exceeds(const rg_analysis *a, const uint32_t *members, size_t member_count) {
    for (size_t j = 0; j < member_count; j++) {
        const rg_analysis_contact *c = &a->contacts[members[j]];
        if (c->mode == RG_ANALYSIS_STICKS && !c->at_limit && rg_analysis_has_friction(c) &&
            exceeds(c))
            return true;
    }
    return false;
}

/* The direction at the limit of member `j`, where friction drops then: that of a contact of the
 * same bodies which is there already, if it is the same but for rounding. Points of a face that
 * begin to slide together must not turn it. */
static rg_vec3 common_direction(const rg_analysis *a, const uint32_t *members, size_t j,
                                rg_vec3 own) {
    const rg_analysis_contact *c = &a->contacts[members[j]];
    for (size_t i = 0; i < j && rg_analysis_friction_drops(c); i++) {
        const rg_analysis_contact *o = &a->contacts[members[i]];
        if (o->at_limit && o->mode == RG_ANALYSIS_STICKS && o->body_a == c->body_a &&
            o->body_b == c->body_b && rg_dot(o->direction, own) > 1 - ALIGNED)
            return o->direction;
    }
    return own;
}

/* What was got wrong: held contacts whose force leaves the cone after all; if there are none,
 * contacts at their limit that turn back: those that do so most, all of them, for contacts that
 * are symmetric must stay so. Where friction drops at the limit, those that are as good as there
 * go there together: how many points of a face share their load is known to 1e-8 only, and their
 * sum, which decides, far better. */
static bool correct(rg_analysis *a, const uint32_t *members, size_t member_count) {
    bool any = any_exceeds(a, members, member_count);
    double most = -BACK * a->view->acceleration;
    for (size_t j = 0; j < member_count; j++) {
        rg_analysis_contact *c = &a->contacts[members[j]];
        if (c->mode != RG_ANALYSIS_STICKS || !rg_analysis_has_friction(c))
            continue;
        if (c->at_limit) {
            if (c->active)
                most = fmin(most, c->slip_acceleration);
            continue;
        }
        if (!any || !(exceeds(c) || (rg_analysis_friction_drops(c) && is_near_limit(c))))
            continue;
        rg_vec3 f = rg_add(rg_scale(c->force[1], c->basis[0]), rg_scale(c->force[2], c->basis[1]));
        c->at_limit = true;
        c->direction = common_direction(a, members, j, rg_scale(-1 / rg_length(f), f));
    }
    if (any || !(most < -BACK * a->view->acceleration))
        return any;
    for (size_t j = 0; j < member_count; j++) {
        rg_analysis_contact *c = &a->contacts[members[j]];
        if (c->mode == RG_ANALYSIS_STICKS && c->at_limit && c->active &&
            c->slip_acceleration < ALIKE * most)
            c->at_limit = c->tight = false;
    }
    return true;
}

/* Forces that are held in many ways are best held in the middle, by as little as it takes: then
 * the load is shared, bodies that are symmetric stay so, and it takes long until one of them
 * leaves its cone. Friction is shared in proportion to what contacts can hold. */
static void centre(rg_analysis *a, const uint32_t *members, size_t member_count) {
    double heaviest = 0;
    for (size_t j = 0; j < member_count; j++)
        heaviest = fmax(heaviest, a->contacts[members[j]].force[0]);
    for (size_t j = 0; j < member_count; j++) {
        rg_analysis_contact *c = &a->contacts[members[j]];
        double share = heaviest > 0 ? c->force[0] / heaviest : 1;
        c->reference = (rg_vec3){0, 0, 0};
        c->lightness = share * NEAR_LIGHT > 1 ? 1 / share - 1 : NEAR_LIGHT - 1;
    }
}

/* Whether all contacts that do not slip can be held: mostly they can. Otherwise nothing is
 * changed, but for contacts whose friction drops when they slip: those are held up to the limit,
 * and go there from these forces. */
static bool try_all_sticking(rg_analysis *a, const uint32_t *members, size_t member_count,
                             rg_solve_info *info) {
    rg_arena_mark mark = rg_arena_get_mark(a->arena);
    rg_analysis_contact *kept = rg_arena_take(a->arena, member_count, sizeof *kept);
    if (!kept)
        return false;
    for (size_t j = 0; j < member_count; j++) {
        rg_analysis_contact *c = &a->contacts[members[j]];
        kept[j] = *c;
        if (c->mode == RG_ANALYSIS_STICKS) {
            c->at_limit = false;
            c->force[1] = c->force[2] = 0;
        }
    }
    bool held = false;
    /* How friction is shared depends on normal forces, which are not known the first time. */
    for (int pass = 0; pass < 2 && !held; pass++) {
        centre(a, members, member_count);
        rg_analysis_solve_island(a, members, member_count, RG_EFFORT_EXCHANGE, info);
        if (!(info->residual.natural <= RG_ANALYSIS_FAILED))
            break;
        held = !any_exceeds(a, members, member_count);
    }
    bool solved = info->residual.natural <= RG_ANALYSIS_FAILED;
    for (size_t j = 0; j < member_count && !held; j++)
        if (!solved || !rg_analysis_friction_drops(&a->contacts[members[j]]))
            a->contacts[members[j]] = kept[j];
    rg_arena_return(a->arena, mark);
    return held;
}

/* Contacts at their limits turn to where they accelerate, by the forces across their directions
 * that were found to be missing. Returns the largest turn, in radians. */
static double turn_limits(rg_analysis *a, const uint32_t *members, size_t member_count) {
    double largest = 0;
    for (size_t j = 0; j < member_count; j++) {
        rg_analysis_contact *c = &a->contacts[members[j]];
        double limit = rg_analysis_coefficient(c) * c->force[0];
        if (c->mode != RG_ANALYSIS_STICKS || !c->at_limit || !c->active || !(limit > 0))
            continue;
        double turn = c->force[2] / limit, size = sqrt(1 + turn * turn);
        largest = fmax(largest, fabs(turn));
        c->direction = rg_scale(1 / size, rg_add_scaled(c->basis[0], -turn, c->basis[1]));
    }
    return largest;
}

/* From the active set of a moment ago: mostly one or two change. Step by
 * step, so that nothing else does. Forces are shared evenly, or as near to the references as can
 * be. Returns whether that came to an end; if not, nothing is changed. */
static bool follow_limits(rg_analysis *a, const uint32_t *members, size_t member_count, bool evenly,
                          rg_solve_info *info) {
    rg_arena_mark mark = rg_arena_get_mark(a->arena);
    rg_analysis_contact *kept = rg_arena_take(a->arena, member_count, sizeof *kept);
    bool done = false, straight = false;
    for (size_t j = 0; kept && j < member_count; j++)
        kept[j] = a->contacts[members[j]];
    for (int round = 0; kept && round < FOLLOWING && !done; round++) {
        if (evenly)
            centre(a, members, member_count);
        rg_analysis_solve_island(a, members, member_count,
                                 straight ? RG_EFFORT_EXCHANGE : RG_EFFORT_TURN, info);
        if (!(info->residual.natural <= RG_ANALYSIS_FAILED))
            break;
        bool corrected = correct(a, members, member_count);
        done = straight && !corrected;
        straight = !corrected && turn_limits(a, members, member_count) < TURNED;
    }
    for (size_t j = 0; kept && j < member_count && !done; j++)
        a->contacts[members[j]] = kept[j];
    rg_arena_return(a->arena, mark);
    return done;
}

/* Between steps. */
void rg_analysis_decide_island(rg_analysis *a, const uint32_t *members, size_t member_count,
                               rg_solve_info *info) {
    if (!needs_decision(a, members, member_count)) {
        rg_analysis_solve_island(a, members, member_count, RG_EFFORT_SOLVE, info);
        return;
    }
    mark_tight(a, members, member_count);
    if (try_all_sticking(a, members, member_count, info))
        return;
    a->decisions--;
    if (follow_limits(a, members, member_count, true, info))
        return;
    a->decisions -= member_count > RG_ANALYSIS_MANY ? RG_ANALYSIS_HARD : 1;
    rg_arena_mark mark = rg_arena_get_mark(a->arena);
    decision d;
    if (decide(a, members, member_count, &d))
        take_decision(a, members, member_count, &d);
    bool done = follow_limits(a, members, member_count, true, info) ||
                follow_limits(a, members, member_count, false, info);
    rg_arena_return(a->arena, mark);
    if (!done) { /* forces are left to means */
        a->evaluation.finding = RG_FOUND_NOT;
        a->decisions = -1;
    }
}
