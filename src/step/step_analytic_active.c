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
enum { FOLLOWING = 32 };
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

/* The contacts that decide together. */
typedef struct island {
    rg_analysis *a;
    const uint32_t *members;
    size_t count;
    /* Per contact, relative: how far inside its cone a force must be to be held. One that was at
     * the limit, or close to it, is held again only if there is room, so that none goes back and
     * forth by rounding; where friction drops at the limit, it cannot. */
    double *room;
} island;

static rg_analysis_contact *member(const island *s, size_t j) {
    return &s->a->contacts[s->members[j]];
}

static bool sticks(const rg_analysis_contact *c) {
    return !rg_analysis_slips(c) && rg_analysis_has_friction(c);
}

/* Whether friction leaves it open which contacts stick. */
static bool needs_decision(const island *s) {
    for (size_t j = 0; j < s->count; j++)
        if (sticks(member(s, j)))
            return true;
    return false;
}

static void take_decision(const island *s, const decision *d) {
    const double *force = d->force;
    for (size_t j = 0; j < s->count; j++, force += 3) {
        rg_analysis_contact *c = member(s, j);
        rg_vec3 across =
            rg_add(rg_scale(force[1], d->basis[2 * j]), rg_scale(force[2], d->basis[2 * j + 1]));
        c->reference = rg_add_scaled(across, force[0], c->motion.normal);
        double size = rg_length(across);
        double held = rg_analysis_friction_drops(c) ? DECIDES : HELD;
        if (rg_analysis_slips(c))
            ;
        else if (size > 0 && size >= rg_analysis_coefficient(c) * force[0] * (1 - held))
            rg_analysis_note_limit(c, rg_scale(-1 / size, across));
        else
            rg_analysis_note_friction(c, RG_FRICTION_TURNS_BACK);
        /* The quick way starts from here: where many points share the load, rows would stay at
         * the bounds at which they were, outside the cone. */
        rg_analysis_make_basis(s->a, c);
        c->force[0] = force[0];
        c->force[1] = rg_dot(across, c->basis[0]);
        c->force[2] = rg_dot(across, c->basis[1]);
    }
}

/* The problem of the exact cone at this instant. */
static bool decide(const island *i, decision *d) {
    rg_analysis *a = i->a;
    rg_analysis_cone s;
    d->basis = rg_arena_take(a->arena, 2 * i->count, sizeof *d->basis);
    if (!d->basis || !rg_analysis_take_cone(a, i->count, &s))
        return false;
    d->force = s.force;
    size_t k = 0;
    for (size_t j = 0; j < i->count; j++) {
        rg_analysis_contact *c = member(i, j);
        rg_vec3 last = rg_analysis_force_of(c);
        rg_analysis_make_basis(a, c);
        memcpy(d->basis + 2 * j, c->basis, sizeof c->basis);
        s.mu[j] = rg_analysis_coefficient(c);
        for (uint32_t e = 0; e < 3; e++, k++) {
            s.rows[k] =
                rg_analysis_make_row(a, i->members[j], e, e ? c->basis[e - 1] : c->motion.normal);
            s.q[k] = rg_analysis_own_rate(a, &s.rows[k]);
            s.force[k] = rg_dot(last, s.rows[k].e);
        }
        if (rg_analysis_slips(c))
            s.q[k - 2] += DWARFS * a->view->acceleration;
    }
    rg_problem problem;
    if (rg_analysis_cone_problem(a, &s, a->view->acceleration, &problem))
        return false;
    rg_solve_settings settings = rg_solve_settings_default();
    settings.tolerance = DECIDES;
    rg_solution solution = {.force = s.force, .velocity = s.rate};
    rg_solve_info info;
    settings.warm = true; /* from the last forces it is a few steps of Newton's */
    if (rg_solve(a->view->context, rg_solver_find("newton"), &problem, &settings, &solution, &info,
                 NULL))
        return false;
    a->tally.counts.iterations += info.iterations;
    a->tally.counts.solves++;
    /* Contacts that leave carry no force. */
    for (size_t j = 0; j < i->count; j++)
        if (s.force[3 * j] * rg_analysis_couple(a, &s.rows[3 * j], &s.rows[3 * j]) < s.rate[3 * j])
            s.force[3 * j] = s.force[3 * j + 1] = s.force[3 * j + 2] = 0;
    if (!(info.residual.natural <= RG_ANALYSIS_FAILED))
        a->tally.counts.failures++;
    return true;
}

static bool is_near_limit(const rg_analysis_contact *c) {
    return rg_analysis_cone_margin(c) < HELD;
}

static void measure_room(const island *s) {
    for (size_t j = 0; j < s->count; j++) {
        const rg_analysis_contact *c = member(s, j);
        bool tight = rg_analysis_at_limit(c) || (rg_analysis_carries(c) && is_near_limit(c));
        s->room[j] = tight && !rg_analysis_friction_drops(c) ? HELD : 0;
    }
}

static bool exceeds(const island *s, size_t j) {
    return rg_analysis_cone_margin(member(s, j)) < s->room[j];
}

static bool any_exceeds(const island *s) {
    for (size_t j = 0; j < s->count; j++) {
        const rg_analysis_contact *c = member(s, j);
        if (sticks(c) && !rg_analysis_at_limit(c) && exceeds(s, j))
            return true;
    }
    return false;
}

/* What was got wrong: held contacts whose force leaves the cone after all; if there are none,
 * contacts at their limit that turn back: those that do so most, all of them, for contacts that
 * are symmetric must stay so. Where friction drops at the limit, those that are as good as there
 * go there together: how many points of a face share their load is known to 1e-8 only, and their
 * sum, which decides, far better. */
static bool correct(const island *s) {
    bool any = any_exceeds(s);
    double most = -BACK * s->a->view->acceleration;
    for (size_t j = 0; j < s->count; j++) {
        rg_analysis_contact *c = member(s, j);
        if (!sticks(c))
            continue;
        if (rg_analysis_at_limit(c)) {
            if (rg_analysis_carries(c))
                most = fmin(most, c->slip_acceleration);
            continue;
        }
        if (!any || !(exceeds(s, j) || (rg_analysis_friction_drops(c) && is_near_limit(c))))
            continue;
        rg_vec3 f = rg_add(rg_scale(c->force[1], c->basis[0]), rg_scale(c->force[2], c->basis[1]));
        rg_analysis_note_limit(c, rg_scale(-1 / rg_length(f), f));
    }
    if (any || !(most < -BACK * s->a->view->acceleration))
        return any;
    for (size_t j = 0; j < s->count; j++) {
        rg_analysis_contact *c = member(s, j);
        if (rg_analysis_at_limit(c) && rg_analysis_carries(c) &&
            c->slip_acceleration < ALIKE * most) {
            rg_analysis_note_friction(c, RG_FRICTION_TURNS_BACK);
            s->room[j] = 0;
        }
    }
    return true;
}

/* Forces that are held in many ways are best held in the middle, by as little as it takes: then
 * the load is shared, bodies that are symmetric stay so, and it takes long until one of them
 * leaves its cone. Friction is shared in proportion to what contacts can hold. */
static void centre(const island *s) {
    double heaviest = 0;
    for (size_t j = 0; j < s->count; j++)
        heaviest = fmax(heaviest, member(s, j)->force[0]);
    for (size_t j = 0; j < s->count; j++) {
        rg_analysis_contact *c = member(s, j);
        double share = heaviest > 0 ? c->force[0] / heaviest : 1;
        c->reference = (rg_vec3){0, 0, 0};
        c->lightness = share * NEAR_LIGHT > 1 ? 1 / share - 1 : NEAR_LIGHT - 1;
    }
}

/* The contacts as they are, with their room behind them; null without memory. */
static rg_analysis_contact *keep(const island *s) {
    rg_analysis_contact *kept =
        rg_arena_take(s->a->arena, s->count, sizeof *kept + sizeof *s->room);
    for (size_t j = 0; kept && j < s->count; j++)
        kept[j] = *member(s, j);
    if (kept)
        memcpy(kept + s->count, s->room, s->count * sizeof *s->room);
    return kept;
}

/* As they were, or some of them: */
static void put_back(const island *s, const rg_analysis_contact *kept,
                     bool (*whether)(const rg_analysis_contact *c)) {
    for (size_t j = 0; j < s->count; j++)
        if (!whether || whether(member(s, j)))
            *member(s, j) = kept[j];
    memcpy(s->room, kept + s->count, s->count * sizeof *s->room);
}

static bool keeps_coefficient(const rg_analysis_contact *c) {
    return !rg_analysis_friction_drops(c);
}

static bool solves(const island *s, rg_effort effort, rg_solve_info *info) {
    rg_analysis_solve_island(s->a, s->members, s->count, effort, info);
    return info->residual.natural <= RG_ANALYSIS_FAILED;
}

/* Whether all contacts that do not slip can be held: mostly they can. Otherwise nothing is
 * changed, but for contacts whose friction drops when they slip: those are held up to the limit,
 * and go there from these forces. */
static bool try_all_sticking(const island *s, rg_solve_info *info) {
    rg_arena_mark mark = rg_arena_get_mark(s->a->arena);
    const rg_analysis_contact *kept = keep(s);
    if (!kept)
        return false;
    for (size_t j = 0; j < s->count; j++) {
        rg_analysis_contact *c = member(s, j);
        if (rg_analysis_slips(c))
            continue;
        rg_analysis_note_friction(c, RG_FRICTION_TURNS_BACK);
        c->force[1] = c->force[2] = 0;
    }
    bool held = false, solved = true;
    /* How friction is shared depends on normal forces, which are not known the first time. */
    for (int pass = 0; pass < 2 && solved && !held; pass++) {
        centre(s);
        solved = solves(s, RG_EFFORT_EXCHANGE, info);
        held = solved && !any_exceeds(s);
    }
    if (!held)
        put_back(s, kept, solved ? keeps_coefficient : NULL);
    rg_arena_return(s->a->arena, mark);
    return held;
}

/* Contacts at their limits turn to where they accelerate, by the forces across their directions
 * that were found to be missing. Returns the largest turn, in radians. */
static double turn_limits(const island *s) {
    double largest = 0;
    for (size_t j = 0; j < s->count; j++) {
        rg_analysis_contact *c = member(s, j);
        double limit = rg_analysis_coefficient(c) * c->force[0];
        if (!rg_analysis_at_limit(c) || !rg_analysis_carries(c) || !(limit > 0))
            continue;
        double turn = c->force[2] / limit, size = sqrt(1 + turn * turn);
        largest = fmax(largest, fabs(turn));
        rg_vec3 turned = rg_add_scaled(c->basis[0], -turn, c->basis[1]);
        rg_analysis_note_limit(c, rg_scale(1 / size, turned));
    }
    return largest;
}

/* How forces are shared that are held in many ways. */
typedef enum sharing { EVENLY, NEAR_REFERENCES } sharing;

/* From the active set of a moment ago: mostly one or two change. Step by step, so that nothing else
 * does. Returns whether that came to an end; if not, nothing is changed. */
static bool follow_limits(const island *s, sharing share, rg_solve_info *info) {
    rg_arena_mark mark = rg_arena_get_mark(s->a->arena);
    const rg_analysis_contact *kept = keep(s);
    bool done = false, straight = false;
    for (int round = 0; kept && round < FOLLOWING && !done; round++) {
        if (share == EVENLY)
            centre(s);
        if (!solves(s, straight ? RG_EFFORT_EXCHANGE : RG_EFFORT_TURN, info))
            break;
        bool corrected = correct(s);
        done = straight && !corrected;
        straight = !corrected && turn_limits(s) < TURNED;
    }
    if (kept && !done)
        put_back(s, kept, NULL);
    rg_arena_return(s->a->arena, mark);
    return done;
}

/* Step by step; or from what a solver of the exact cone says. */
static bool finds_limits(const island *s, rg_solve_info *info) {
    rg_analysis *a = s->a;
    a->decisions--;
    if (follow_limits(s, EVENLY, info))
        return true;
    a->decisions -= s->count > RG_ANALYSIS_MANY ? RG_ANALYSIS_HARD : 1;
    decision d;
    if (decide(s, &d))
        take_decision(s, &d);
    return follow_limits(s, EVENLY, info) || follow_limits(s, NEAR_REFERENCES, info);
}

/* Between steps. */
void rg_analysis_decide_island(rg_analysis *a, const uint32_t *members, size_t member_count,
                               rg_solve_info *info) {
    rg_arena_mark mark = rg_arena_get_mark(a->arena);
    island s = {a, members, member_count, rg_arena_take(a->arena, member_count, sizeof *s.room)};
    if (!needs_decision(&s)) {
        rg_analysis_solve_island(a, members, member_count, RG_EFFORT_SOLVE, info);
    } else if (s.room) {
        measure_room(&s);
        if (!try_all_sticking(&s, info) && !finds_limits(&s, info)) { /* forces are left to means */
            a->evaluation.finding = RG_FOUND_NOT;
            a->decisions = -1;
        }
    }
    rg_arena_return(a->arena, mark);
}
