/* Newton's method on the closed contacts. The equations are those of Alart and Curnier
 * (solve_polish.c), in velocity space: r = p(r - rho u). A contact that is open and carries no
 * force costs one scalar product; all others are in the matrix (solve_active_matrix.c).
 *
 * Far from a solution the modes (open, sticks, slips) are wrong. With friction the matrix is not
 * symmetric, and for wrong modes it may be nearly singular: its step is then of any length, and a
 * line search along it finds nothing. Instead every step has a proximal term delta, which holds
 * forces where they are, and is taken in full, up or down. delta follows the error:
 *
 *     delta = SHARE error^(3/4).
 *
 * This is one implicit step in time of dr/dt = p(r - rho u) - r, with steps that grow as the
 * solution comes near (pseudo-transient continuation: C. T. Kelley, D. E. Keyes, SIAM J. Numer.
 * Anal. 35, 1998): it settles where the law of contact is stable. In a crush of a thousand contacts
 * the error goes up and down by powers of ten, and its least values fall: 1e-3 after 30
 * factorisations, 1e-5 after 100. A line search instead, monotone or not, ends at 1e-2 there, as do
 * a term of its own for every contact, smoothing of p, and sweeps in between (docs/solvers.md).
 *
 * The steps with the factor of the last success (chord steps) cost a solve each and gain the digits
 * that delta left: what rests then passes the look of the next step untouched.
 *
 * How it fails: modes go on changing until the limit. The best forces seen are the answer.
 * Tested by tests/solve/test_active.c. */
#include "solve/solve_active.h"

#include "base/base_math.h"
#include "solve/solve_polish.h"
#include "solve/solve_system_parts.h"

#include <string.h>

/* Proximal term, relative to 1 / rho. With 0.002 to 0.01 and powers of 0.7 to 0.8 a crush ends the
 * same; with less the easy problems take one factorisation less, and the crush does not end. */
#define DELTA_SHARE    0.005
#define DELTA_LEAST    1e-9
#define DELTA_MOST     1.0
#define DELTA_SINGULAR 10.0 /* times so much, after a matrix that was singular */
/* The proximal term of joint rows without bounds, whose mode is known. A step leaves the share
 * delta / lambda of the error along an eigenvector of rho W with eigenvalue lambda, and rounding of
 * about 1e-16 / delta; lambda is 1e-8 in a chain of 10,000 links or under a mass 1e6 times that of
 * the links. */
#define DELTA_JOINT 1e-11
enum { CHORD_STEPS = 4, ROWS = RG_SYSTEM_DIMENSION_MAX };
/* What chord steps aim at, and the share of the residual that each must get below. */
#define CHORD_GAIN 0.3
#define CHORD_AIM  1e-15

bool rg_active_takes(const rg_problem *problem) {
    const rg_contact_problem *p = &problem->contact;
    return problem->kind == RG_PROBLEM_CONTACT && p->form == RG_FORM_GLOBAL &&
           (p->directions == 0 || p->dimension < 3);
}

rg_status rg_active_create(rg_active *active, const rg_system *system, rg_solve_context *context,
                           rg_error *error) {
    *active = (rg_active){.context = context,
                          .system = system,
                          .blocks = rg_system_blocks(system),
                          .residual = INFINITY,
                          .best_residual = INFINITY};
    double **by_rows[] = {&active->force, &active->best, &active->u, &active->error, &active->dr};
    for (size_t k = 0; k < sizeof by_rows / sizeof *by_rows; k++)
        RG_TAKE(*by_rows[k], context, system->rows, error);
    RG_TAKE(active->v, context, system->velocities, error);
    RG_TAKE(active->dv, context, system->velocities, error);
    RG_TAKE(active->work, context, system->velocities, error);
    RG_TAKE(active->inverse, context, rg_system_block_numbers(system), error);
    RG_TAKE(active->slope, context, rg_system_block_numbers(system), error);
    RG_TAKE(active->state, context, active->blocks, error);
    RG_TAKE(active->live, context, active->blocks, error);
    memset(active->force, 0, system->rows * sizeof *active->force);
    return rg_active_graph_make(active, error);
}

/* --- residuals -------------------------------------------------------------------------------- */

static bool has_force(const rg_active *active, size_t block) {
    const double *r = active->force + rg_system_block_row(active->system, block);
    for (size_t k = 0; k < rg_system_block_size(active->system, block); k++)
        if (r[k] != 0)
            return true;
    return false;
}

static double normal_velocity(const rg_active *active, size_t contact, const double *v) {
    const rg_global_form *g = &active->system->problem->global;
    size_t f = (size_t)g->freedom, per = (size_t)active->system->dimension * f;
    double sum = 0;
    for (size_t side = 0; side < 2; side++) {
        uint32_t body = g->contact_blocks[2 * contact + side];
        if (body == RG_NO_BLOCK)
            continue;
        const double *j = g->contact_jacobian + (2 * contact + side) * per, *part = v + body * f;
        for (size_t m = 0; m < f; m++)
            sum += j[m] * part[m];
    }
    return sum;
}

/* u of a contact or joint; false if it is open without force, and u[0] alone was computed. */
static bool find_velocity(const rg_active *active, size_t block, const double *v, double *u) {
    const rg_system *s = active->system;
    const double *q = s->problem->q + rg_system_block_row(s, block);
    if (block < s->contacts && !has_force(active, block)) {
        u[0] = normal_velocity(active, block, v) + q[0];
        if (u[0] >= 0)
            return false;
    }
    rg_system_rows(s, block, v, u);
    for (size_t k = 0; k < rg_system_block_size(s, block); k++)
        u[k] += q[k];
    if (block >= s->contacts)
        u[0] += rg_system_compliance(s, block) * active->force[rg_system_block_row(s, block)];
    return true;
}

void rg_active_look(rg_active *active) {
    const rg_system *s = active->system;
    double worst = 0;
    rg_active_velocities(active);
    for (size_t i = 0; i < active->blocks; i++) {
        if (!find_velocity(active, i, active->v, active->u + rg_system_block_row(s, i)))
            continue;
        double one = i < s->contacts
                         ? rg_polish_contact(s, i, active->force, active->u)
                         : rg_polish_joint(s, i - s->contacts, active->force, active->u);
        worst = one <= worst ? worst : one; /* NaN wins */
    }
    active->residual = isfinite(worst) ? worst / s->scale : INFINITY;
}

static void keep_best(rg_active *active) {
    active->best_residual = active->residual;
    memcpy(active->best, active->force, active->system->rows * sizeof *active->best);
}

/* --- the map of Alart and Curnier ------------------------------------------------------------- */

/* Where y = r - rho u lies, and what follows of it. */
typedef struct place {
    rg_active_state state;
    double direction[2]; /* of slip */
    double share;        /* slip: (mu y_N) / |y_T| */
} place;

static place joint_error(const rg_system *s, size_t joint, double r, double u, double *e) {
    double rho = s->rho[s->contacts + joint], y = r - rho * u;
    const rg_contact_problem *p = s->problem;
    double lower = p->lower ? p->lower[joint] : -INFINITY,
           upper = p->upper ? p->upper[joint] : INFINITY;
    bool inside = y > lower && y < upper;
    /* In a row that is held its velocity, which large forces would hide. */
    e[0] = inside ? rho * u : r - (y <= lower ? lower : upper);
    return (place){.state = inside ? RG_ACTIVE_HOLD : RG_ACTIVE_RELEASE};
}

static place slides_freely(const double *r, double *e, size_t d) {
    for (size_t k = 1; k < d; k++)
        e[k] = r[k];
    return (place){.state = RG_ACTIVE_SLIP, .direction = {1, 0}};
}

/* e = r - p(r - rho u); inside the cone the velocity itself, which large forces would hide. */
static place contact_error(const rg_system *s, size_t i, const double *r, const double *u,
                           double *e) {
    size_t d = (size_t)s->dimension;
    double rho = s->rho[i], mu = s->mu[i], normal = r[0] - rho * u[0], y[2] = {0, 0};
    if (normal <= 0) {
        bool force = false;
        for (size_t k = 0; k < d; k++) {
            e[k] = r[k];
            force = force || r[k] != 0;
        }
        return (place){.state = force ? RG_ACTIVE_RELEASE : RG_ACTIVE_OPEN};
    }
    e[0] = rho * u[0];
    for (size_t k = 1; k < d; k++)
        y[k - 1] = r[k] - rho * u[k];
    double radius = mu * normal, length = sqrt(y[0] * y[0] + y[1] * y[1]);
    if (length == 0 && mu == 0) /* no friction: no direction, either */
        return slides_freely(r, e, d);
    if (length <= radius) {
        for (size_t k = 1; k < d; k++)
            e[k] = rho * u[k];
        return (place){.state = RG_ACTIVE_HOLD};
    }
    place at = {.state = RG_ACTIVE_SLIP,
                .direction = {y[0] / length, y[1] / length},
                .share = radius / length};
    for (size_t k = 1; k < d; k++)
        e[k] = r[k] - radius * at.direction[k - 1];
    return at;
}

static place block_error(const rg_system *s, size_t block, const double *r, const double *u,
                         double *e) {
    return block < s->contacts ? contact_error(s, block, r, u, e)
                               : joint_error(s, block - s->contacts, *r, *u, e);
}

static double joint_delta(const rg_system *s, size_t block, double delta) {
    const rg_contact_problem *p = s->problem;
    size_t j = block - s->contacts;
    bool is_free =
        (!p->lower || p->lower[j] == -INFINITY) && (!p->upper || p->upper[j] == INFINITY);
    return is_free ? DELTA_JOINT : delta;
}

/* A^-1 and B of a block: A = (1 + delta) 1 - p', B = rho p'. Slip along t, n across it:
 * p' = (1, 0; mu t, share n n'). A joint row that is held: A = delta + rho c, B = rho. What is
 * released goes where it has to at once. */
static void block_slopes(const rg_active *active, size_t block, const place *at, double delta) {
    const rg_system *s = active->system;
    size_t d = rg_system_block_size(s, block), offset = rg_system_block_offset(s, block);
    double *inverse = active->inverse + offset, *slope = active->slope + offset;
    double rho = s->rho[block], mu = block < s->contacts ? s->mu[block] : 0;
    memset(inverse, 0, d * d * sizeof *inverse);
    memset(slope, 0, d * d * sizeof *slope);
    if (block >= s->contacts && at->state == RG_ACTIVE_HOLD) {
        *inverse = 1 / (joint_delta(s, block, delta) + rho * rg_system_compliance(s, block));
        *slope = rho;
        return;
    }
    if (at->state == RG_ACTIVE_SLIP) {
        const double *t = at->direction, n[2] = {-t[1], t[0]};
        double along = 1 / (1 + delta), across = 1 / (1 + delta - at->share);
        inverse[0] = 1 / delta, slope[0] = rho;
        for (size_t k = 1; k < d; k++) {
            inverse[k * d] = mu * along * t[k - 1] / delta;
            slope[k * d] = rho * mu * t[k - 1];
            for (size_t m = 1; m < d; m++) {
                double nn = n[k - 1] * n[m - 1];
                inverse[k * d + m] = along * t[k - 1] * t[m - 1] + across * nn;
                slope[k * d + m] = d > 2 ? rho * at->share * nn : 0;
            }
        }
        return;
    }
    for (size_t k = 0; k < d; k++) {
        inverse[k * d + k] = at->state == RG_ACTIVE_HOLD ? 1 / delta : 1;
        slope[k * d + k] = at->state == RG_ACTIVE_HOLD ? rho : 0;
    }
}

/* The equations at `force`: who is live, their errors and slopes. True if a contact slips with
 * friction, which makes the matrix unsymmetric. */
static bool linearise(rg_active *active, double delta) {
    const rg_system *s = active->system;
    bool slips = false;
    active->live_count = 0;
    for (size_t i = 0; i < active->blocks; i++) {
        size_t row = rg_system_block_row(s, i);
        place at = block_error(s, i, active->force + row, active->u + row, active->error + row);
        active->state[i] = (uint8_t)at.state;
        if (at.state == RG_ACTIVE_OPEN)
            continue;
        active->live[active->live_count++] = (uint32_t)i;
        block_slopes(active, i, &at, delta);
        slips = slips || (at.state == RG_ACTIVE_SLIP && s->mu[i] > 0);
    }
    return slips;
}

/* --- the loop --------------------------------------------------------------------------------- */

/* Length of the errors, in the unit of the scale. */
static double error_length(const rg_active *active) {
    const rg_system *s = active->system;
    double sum = 0;
    for (size_t n = 0; n < active->live_count; n++) {
        size_t i = active->live[n];
        const double *e = active->error + rg_system_block_row(s, i);
        for (size_t k = 0; k < rg_system_block_size(s, i); k++)
            sum += e[k] * e[k] / (s->rho[i] * s->rho[i]);
    }
    return sqrt(sum) / s->scale;
}

static void move(rg_active *active) {
    const rg_system *s = active->system;
    for (size_t n = 0; n < active->live_count; n++) {
        size_t i = active->live[n], row = rg_system_block_row(s, i);
        bool gone = active->state[i] == RG_ACTIVE_RELEASE && i < s->contacts;
        for (size_t k = row; k < row + rg_system_block_size(s, i); k++)
            active->force[k] = gone ? 0 : active->force[k] + active->dr[k];
    }
    rg_active_look(active);
}

/* Steps with the factor that is there, as long as they gain a digit each. */
static void chord_steps(rg_active *active) {
    const rg_system *s = active->system;
    for (int k = 0; k < CHORD_STEPS && active->best_residual > CHORD_AIM; k++) {
        double before = active->best_residual;
        for (size_t n = 0; n < active->live_count; n++) {
            size_t i = active->live[n], row = rg_system_block_row(s, i);
            block_error(s, i, active->force + row, active->u + row, active->error + row);
        }
        rg_active_step(active);
        move(active);
        if (active->residual < active->best_residual)
            keep_best(active);
        if (!(active->residual < CHORD_GAIN * before))
            break;
    }
}

/* error^(3/4), by roots alone: the same bits everywhere. */

static double delta_of(double error) {
    double root = sqrt(error);
    return fmin(DELTA_MOST, fmax(DELTA_LEAST, DELTA_SHARE * root * sqrt(root)));
}

/* The states and errors at `force`, then slopes with the delta that follows from them. */
static bool linearise_at(rg_active *active, double least, double *delta) {
    linearise(active, 1);
    *delta = fmax(least, delta_of(error_length(active)));
    return linearise(active, *delta);
}

rg_status rg_active_run(rg_active *active, rg_active_aim aim) {
    bool factored = false;
    double least = 0, delta;
    rg_active_look(active);
    keep_best(active);
    for (int k = 0; k < aim.limit && (k == 0 || active->residual > aim.tolerance); k++) {
        bool slips = linearise_at(active, least, &delta);
        rg_status status = rg_active_factor(active, slips);
        if (status == RG_OUT_OF_MEMORY)
            return status;
        factored = !status;
        least = status ? fmin(DELTA_MOST, DELTA_SINGULAR * delta) : 0;
        if (status)
            continue;
        rg_active_step(active);
        move(active);
        if (active->residual < active->best_residual)
            keep_best(active);
        if (!isfinite(active->residual)) {
            memcpy(active->force, active->best, active->system->rows * sizeof *active->force);
            rg_active_look(active);
            least = DELTA_MOST;
        }
    }
    if (factored && active->best_residual <= aim.tolerance)
        chord_steps(active);
    memcpy(active->force, active->best, active->system->rows * sizeof *active->force);
    return RG_OK;
}
