/* Rows of an island that contradict each other, and which of them yield.
 *
 * Velocities that keep all conditions of a step need not exist: a box between two fixed jaws that
 * are nearer to each other than it is wide cannot be pushed out of both, and what a motor or a rope
 * asks for may be where a wall is. Nature has an answer, because nothing is quite rigid: what is
 * asked for is missed by a little, in proportion to the force, and forces are large. So rows that
 * have no bound to their force get a small compliance c,
 *
 *     u_i + c_i r_i    in the place of    u_i,
 *
 * with which the problem has an answer whatever is asked for (W + C is positive definite on the
 * rows that may contradict each other). With q'_i = q_i + c_i r_i that answer is exactly one of
 * Coulomb's law with other gaps: those of the least change, in the metric of 1 / c, that contradict
 * nothing, held by forces that press. It is told, and judged, as the answer to the problem q'.
 *
 * First only joints yield: where a joint and a contact contradict each other, the contact wins. If
 * there is no answer then, contacts contradict each other, and yield too, a hundred times less.
 *
 * A problem that a solver merely failed at has another answer than none: with a tenth of the
 * compliance it misses a tenth, and where rows contradict each other as much as before. That tells
 * them apart, and answers of the former kind are not taken.
 *
 * How it fails: the softened problem may be one that no solver solves, like any other; between
 * masses of 1 to 1e5 and more, forces have too few digits for it.
 * Tested by tests/step/test_yield.c. */
#include "step/step_yield.h"

#include "base/base_math.h"
#include "problem/problem.h"
#include "solve/solve.h"

#include <string.h>

/* Compliance of a row, relative to its own mobility W_ii and to the share that the lightest body
 * has of all mass: a light link that stops a heavy bob does not count as soft. What asks for a
 * speed that it does not get presses with 1 / GIVE times the impulse that would give its bodies
 * that speed: a vice that is too tight holds what friction can, down to mu = GIVE |g| h over the
 * speed of the push. Larger forces cost digits: of velocities 1e-16 / GIVE of that speed are
 * rounding, and 1e-10 is what solvers are asked for. */
#define GIVE_CONTACT 1e-5
#define GIVE_JOINT   1e-3
/* Rows contradict each other if they miss by more than this share of what they miss with LOOSER
 * times the compliance: 1 if they do, 1 / LOOSER if not. */
#define AS_MUCH 0.5
#define LOOSER  10.0
/* Of what is missed by most: rows that miss less have only carried along. */
#define PART 0.1
/* Of what rows ask for: joints that would miss more, with the forces that they have, are strained.
 * A rope that is pulled straight through a wall can move a ball along the wall only, the faster the
 * straighter it is pulled: at an angle phi by 1 / phi of the pull, with 1 / phi^2 of the force. */
#define STRAINED 0.3

/* Has it no bound to its force on one side at least, and no compliance of its own? */
static bool yields(const rg_contact_problem *p, size_t joint) {
    bool soft = p->compliance && p->compliance[joint] > 0;
    bool bounded = p->lower && isfinite(p->lower[joint]) && p->upper && isfinite(p->upper[joint]);
    return !soft && !bounded;
}

/* Of the lightest body, by all of them. */
static double lightest_share(const rg_global_form *g) {
    size_t n = (size_t)g->freedom;
    double least = INFINITY, sum = 0;
    for (size_t b = 0; b < g->blocks; b++) {
        least = fmin(least, g->mass[b * n * n]);
        sum += g->mass[b * n * n];
    }
    return least / sum;
}

/* A row of a block: J v, and with the factor of its mass J M^-1 J'. */
static void add_block(const rg_global_form *g, uint32_t block, const double *jacobian,
                      double *velocity, double *mobility) {
    size_t n = (size_t)g->freedom;
    double lower[36], x[6];
    if (block == RG_NO_BLOCK)
        return;
    if (mobility)
        rg_mass_factor(g->mass + block * n * n, g->freedom, lower);
    memcpy(x, jacobian, n * sizeof *x);
    if (mobility)
        rg_mass_solve(lower, g->freedom, x);
    for (size_t k = 0; k < n; k++) {
        *velocity += jacobian[k] * g->free_velocity[block * n + k];
        if (mobility)
            *mobility += jacobian[k] * x[k];
    }
}

bool rg_yield_is_strained(const rg_problem *problem, const double *force) {
    const rg_contact_problem *p = &problem->contact;
    const rg_global_form *g = &p->global;
    size_t d = (size_t)p->dimension, n = (size_t)g->freedom, first = p->contacts * d;
    double share = GIVE_JOINT * lightest_share(g), asked = 0, missed = 0;
    for (size_t i = 0; i < p->contacts; i++) {
        double u = p->q[i * d];
        for (size_t side = 0; side < 2; side++)
            add_block(g, g->contact_blocks[2 * i + side],
                      g->contact_jacobian + (2 * i + side) * d * n, &u, NULL);
        asked = fmax(asked, -u);
    }
    for (size_t j = 0; j < p->joints; j++) {
        double u = p->q[first + j], mobility = 0;
        for (size_t side = 0; side < 2; side++)
            add_block(g, g->joint_blocks[2 * j + side], g->joint_jacobian + (2 * j + side) * n, &u,
                      &mobility);
        if (!yields(p, j))
            continue;
        asked = fmax(asked, p->upper && p->upper[j] == 0   ? u
                            : p->lower && p->lower[j] == 0 ? -u
                                                           : fabs(u));
        missed = fmax(missed, share * mobility * fabs(force[first + j]));
    }
    return missed > STRAINED * asked && missed > RG_YIELD_LEAST * problem->scale;
}

rg_status rg_yield_soften(rg_solve_context *context, rg_arena *arena, const rg_problem *problem,
                          rg_yielder who, bool loose, rg_yielding *y) {
    const rg_contact_problem *p = &problem->contact;
    size_t rows = rg_contact_rows(p), d = (size_t)p->dimension, first = p->contacts * d;
    double factor = loose ? LOOSER : 1, light = lightest_share(&p->global);
    rg_conversion local;
    y->problem = *problem;
    y->give = rg_arena_take(arena, rows, sizeof *y->give);
    double *q = rg_arena_take(arena, rows, sizeof *q);
    double *w = rg_arena_take(arena, rows * rows, sizeof *w);
    if (!y->give || !q || !w)
        return RG_OUT_OF_MEMORY;
    rg_arena_mark mark = rg_arena_get_mark(&context->arena);
    if (rg_convert(context, problem, RG_CONVERT_CONDENSE, &local, NULL))
        return RG_OUT_OF_MEMORY;
    memcpy(w, local.problem.contact.w.dense, rows * rows * sizeof *w);
    memcpy(q, local.problem.contact.q, rows * sizeof *q);
    rg_arena_return(&context->arena, mark);
    for (size_t i = 0; i < rows; i++) {
        bool contact = i < first && i % d == 0 && who == RG_YIELD_CONTACTS;
        double share = contact ? GIVE_CONTACT : i >= first && yields(p, i - first) ? GIVE_JOINT : 0;
        y->give[i] = factor * share * light * w[i * (rows + 1)];
        w[i * (rows + 1)] += y->give[i];
    }
    rg_contact_problem *soft = &y->problem.contact;
    soft->form = RG_FORM_LOCAL;
    soft->compliance = NULL;
    soft->w = (rg_matrix){.rows = rows, .columns = rows, .dense = w};
    soft->q = q;
    return RG_OK;
}

double rg_yield_most(const rg_yielding *y, const double *force) {
    double most = 0;
    for (size_t i = 0; i < y->problem.contact.w.rows; i++)
        most = fmax(most, fabs(y->give[i] * force[i]));
    return most;
}

bool rg_yield_is_needed(const rg_yielding *y, const double *force, double loosely) {
    double most = rg_yield_most(y, force);
    return most > RG_YIELD_LEAST * y->problem.scale && most > AS_MUCH * loosely;
}

double rg_yield_of(const rg_yielding *y, size_t row, const double *force) {
    double speed = y->give[row] * force[row];
    return fabs(speed) > PART * rg_yield_most(y, force) ? speed : 0;
}
