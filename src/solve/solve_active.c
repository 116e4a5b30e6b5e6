/* Newton's method on the closed contacts. The equations are those of Alart and Curnier
 * (solve_polish.c), in velocity space: r = p(r - rho u). A contact that is open and carries no
 * force costs one scalar product; all others are in the matrix (solve_active_matrix.c).
 *
 * Far from a solution the modes are wrong and a full step may overshoot: a line search on the sum
 * of squares, not monotone (it may rise above the last value, not above the largest of the last
 * few: L. Grippo, F. Lampariello, S. Lucidi, "A nonmonotone line search technique for Newton's
 * method", SIAM J. Numer. Anal. 23, 1986), and a proximal term delta that shrinks with success and
 * grows on short steps. The steps with the factor of the last success (chord steps) cost a solve
 * each and gain the digits that delta left: what rests then passes the look of the next step
 * untouched.
 *
 * In most steps of a simulation no mode changes. Then the least proximal term at once, with chord
 * steps behind it, gives the answer with one factorisation (rg_active_leap); where modes do change,
 * that step is not taken.
 *
 * How it fails: the modes of a few contacts cycle, and the residual stays. It ends after a number
 * of factorisations without progress, with the best forces seen.
 *
 * In a crush of hundreds of contacts that is the rule: with friction the matrix of wrong modes may
 * be nearly singular, and a line search along its step finds nothing. There (rg_active_relax) every
 * step is taken in full, up or down, with a proximal term that follows the error:
 *
 *     delta = RELAX_SHARE error^(3/4).
 *
 * This is one implicit step in time of dr/dt = p(r - rho u) - r, with steps that grow as the
 * solution comes near (pseudo-transient continuation: C. T. Kelley, D. E. Keyes, SIAM J. Numer.
 * Anal. 35, 1998). The error goes up and down by powers of ten, and its least values fall: to 1e-3
 * in 30 factorisations, to 1e-5 in 100, where a line search ends at 1e-2. In small problems with
 * several solutions it may choose another one than its neighbour does, and is not used.
 * Tested by tests/solve/test_active.c. */
#include "solve/solve_active.h"

#include "base/base_math.h"
#include "solve/solve_polish.h"
#include "solve/solve_system_parts.h"

#include <string.h>

/* Proximal term, relative to 1 / rho: at first a share of the residual, within bounds; after a full
 * step it falls by one of two factors, after a short one or a singular matrix it grows. */
#define DELTA_SHARE    0.1
#define DELTA_LEAST    1e-6
#define DELTA_FIRST    1e-2
#define DELTA_MOST     0.1
#define DELTA_FALL     0.3
#define DELTA_FALL_FAR 0.03 /* where the merit fell below FALL_FAR of what it was */
#define FALL_FAR       0.3
#define DELTA_GROW     5.0
#define DELTA_SINGULAR 10.0 /* likewise, after a matrix that was singular */
#define SHORT          0.3  /* a step of less than this share is short */
/* The same of relaxation. With 0.002 to 0.01 and powers of 0.7 to 0.8 a crush ends the same; with
 * less it does not end. */
#define RELAX_SHARE 0.005
#define RELAX_LEAST 1e-9
#define RELAX_MOST  1.0
/* A leap, the first step with DELTA_LEAST, is tried where a run would begin with more than
 * LEAP_FROM times that; it is taken if it leaves less than LEAP_LEAVES of the merit (48 runs of
 * dominoes, docs/solvers.md, take as long with 1e-4 to 3e-3), and is the end at a residual of
 * LEAP_AIM, which is rounding: a slip that turns leaves more, and what is left adds up over the
 * steps; or within the tolerance if chord steps gain nothing any more, where a run would find the
 * same forces again. */
#define LEAP_FROM   10.0
#define LEAP_LEAVES 1e-3
#define LEAP_AIM    1e-12
/* The proximal term of joint rows without bounds, whose mode is known. A step leaves the share
 * delta / lambda of the error along an eigenvector of rho W with eigenvalue lambda, and rounding of
 * about 1e-16 / delta; lambda is 1e-8 in a chain of 10,000 links or under a mass 1e6 times that of
 * the links. */
#define DELTA_JOINT 1e-11
/* Line search: sufficient decrease, halvings, values that may be returned to. */
#define DECREASE 0.01
/* Progress: the residual falls below this share of the best. */
#define PROGRESS 0.5
enum { HALVINGS = 4, MEMORY = 4, CHORD_STEPS = 4, ROWS = RG_SYSTEM_DIMENSION_MAX };
/* What chord steps aim at, and the share of the residual that each must get below. */
#define CHORD_GAIN 0.3
#define CHORD_AIM  1e-15
/* A step that leaves more than this share gained nothing. */
#define CHORD_IDLE 0.9

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
    double **by_rows[] = {&active->force, &active->best, &active->u,
                          &active->error, &active->du,   &active->dr};
    for (size_t k = 0; k < sizeof by_rows / sizeof *by_rows; k++)
        RG_TAKE(*by_rows[k], context, system->rows, error);
    RG_TAKE(active->v, context, system->velocities, error);
    RG_TAKE(active->dv, context, system->velocities, error);
    RG_TAKE(active->work, context, system->velocities, error);
    RG_TAKE(active->inverse, context, rg_system_block_numbers(system), error);
    RG_TAKE(active->slope, context, rg_system_block_numbers(system), error);
    RG_TAKE(active->middle, context, rg_system_block_numbers(system), error);
    RG_TAKE(active->figures, context, active->blocks, error);
    RG_TAKE(active->place, context, active->blocks, error);
    RG_TAKE(active->state, context, active->blocks, error);
    RG_TAKE(active->live, context, active->blocks, error);
    memset(active->force, 0, system->rows * sizeof *active->force);
    return rg_active_graph_make(active, error);
}

/* --- residuals -------------------------------------------------------------------------------- */

static bool is_loaded(const double *r, size_t d) {
    for (size_t k = 0; k < d; k++)
        if (r[k] != 0)
            return true;
    return false;
}

static double normal_velocity(const rg_active *active, rg_usual usual, size_t contact,
                              const double *v) {
    const rg_global_form *g = &active->system->problem->global;
    size_t f = (size_t)g->freedom, per = (size_t)active->system->dimension * f;
    double sum = 0;
    if (contact < usual.contacts) {
        rg_usual_rows(usual, contact, 1, v, &sum);
        return sum;
    }
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
static bool find_velocity(const rg_active *active, rg_usual usual, size_t block, const double *v,
                          double *u) {
    const rg_system *s = active->system;
    const double *q = s->problem->q + rg_system_block_row(s, block);
    if (block < s->contacts &&
        !is_loaded(active->force + rg_system_block_row(s, block), (size_t)s->dimension)) {
        u[0] = normal_velocity(active, usual, block, v) + q[0];
        if (u[0] >= 0)
            return false;
    }
    rg_system_rows(s, usual, block, v, u);
    for (size_t k = 0; k < rg_system_block_size(s, block); k++)
        u[k] += q[k];
    if (block >= s->contacts)
        u[0] += rg_system_compliance(s, block) * active->force[rg_system_block_row(s, block)];
    return true;
}

/* The larger one; NaN wins. */
static double worse(double a, double b) {
    return isnan(a) || b <= a ? a : b;
}

static void look_at_range(void *user, size_t begin, size_t end, size_t chunk) {
    rg_active *active = user;
    const rg_system *s = active->system;
    const rg_usual usual = rg_usual_of(s);
    double worst = 0;
    for (size_t i = begin; i < end; i++) {
        if (!find_velocity(active, usual, i, active->v, active->u + rg_system_block_row(s, i)))
            continue;
        worst = i < s->contacts
                    ? rg_polish_worse(s, i, active->force, active->u, worst)
                    : worse(worst, rg_polish_joint(s, i - s->contacts, active->force, active->u));
    }
    active->figures[chunk] = worst;
}

/* Loops over contacts and joints, or over the live ones. */
static void in_chunks(rg_active *active, size_t count, rg_range_function *function, void *user) {
    rg_parallel_for(active->system->pool, count, RG_SYSTEM_ROWS_PER_CHUNK, function, user);
}

void rg_active_look(rg_active *active) {
    const rg_system *s = active->system;
    double worst = 0;
    rg_active_velocities(active);
    in_chunks(active, active->blocks, look_at_range, active);
    for (size_t i = 0; i < rg_chunk_count(active->blocks, RG_SYSTEM_ROWS_PER_CHUNK); i++)
        worst = worse(worst, active->figures[i]);
    active->residual = isfinite(worst) ? worst / s->scale : INFINITY;
}

static void keep_best(rg_active *active) {
    active->best_residual = active->residual;
    memcpy(active->best, active->force, active->system->rows * sizeof *active->best);
}

/* --- the map of Alart and Curnier ------------------------------------------------------------- */

typedef rg_active_place place;

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

static place lets_go(const double *r, double *e, size_t d) {
    memcpy(e, r, d * sizeof *e);
    return (place){.state = is_loaded(r, d) ? RG_ACTIVE_RELEASE : RG_ACTIVE_OPEN};
}

/* e = r - p(r - rho u); inside the cone the velocity itself, which large forces would hide. p puts
 * what is outside the cone onto its boundary: at the same normal force or, if the law is the
 * associated one, at the nearest point (unless the contact is open without force, where the
 * tangential velocity is not known). */
static place contact_error(const rg_active *active, size_t i, const double *r, const double *u,
                           double *e) {
    const rg_system *s = active->system;
    size_t d = (size_t)s->dimension;
    double rho = s->rho[i], mu = s->mu[i], normal = r[0] - rho * u[0], y[2] = {0, 0};
    if (normal <= 0 && !(active->associated && is_loaded(r, d)))
        return lets_go(r, e, d);
    for (size_t k = 1; k < d; k++)
        y[k - 1] = r[k] - rho * u[k];
    double length = sqrt(y[0] * y[0] + y[1] * y[1]), onto = normal;
    if (active->associated && length > mu * normal)
        onto = (normal + mu * length) / (1 + mu * mu);
    if (onto <= 0)
        return lets_go(r, e, d);
    e[0] = onto == normal ? rho * u[0] : r[0] - onto;
    if (length == 0 && mu == 0) /* no friction: no direction, either */
        return slides_freely(r, e, d);
    if (length <= mu * normal) {
        for (size_t k = 1; k < d; k++)
            e[k] = rho * u[k];
        return (place){.state = RG_ACTIVE_HOLD};
    }
    place at = {.state = RG_ACTIVE_SLIP,
                .direction = {y[0] / length, y[1] / length},
                .share = mu * onto / length};
    for (size_t k = 1; k < d; k++)
        e[k] = r[k] - mu * onto * at.direction[k - 1];
    return at;
}

static place block_error(const rg_active *active, size_t block, const double *r, const double *u,
                         double *e) {
    const rg_system *s = active->system;
    return block < s->contacts ? contact_error(active, block, r, u, e)
                               : joint_error(s, block - s->contacts, *r, *u, e);
}

static double joint_delta(const rg_system *s, size_t block, double delta) {
    const rg_contact_problem *p = s->problem;
    size_t j = block - s->contacts;
    bool is_free =
        (!p->lower || p->lower[j] == -INFINITY) && (!p->upper || p->upper[j] == INFINITY);
    return is_free ? DELTA_JOINT : delta;
}

/* Of a contact that slips along t, n across it, as the nearest point of the cone: with
 * g = (1, mu t) / sqrt(1 + mu^2), which is along the boundary, and h = (mu, -t) / sqrt(1 + mu^2),
 * which is normal to it, p' = g g' + share n n'. */
static void associated_slopes(size_t d, double mu, double rho, const place *at, double delta,
                              double *inverse, double *slope) {
    double unit = 1 / sqrt(1 + mu * mu);
    const double *t = at->direction, n[3] = {0, -t[1], t[0]};
    double g[3] = {unit, unit * mu * t[0], unit * mu * t[1]},
           h[3] = {unit * mu, -unit * t[0], -unit * t[1]};
    double across = d > 2 ? at->share : 0;
    for (size_t k = 0; k < d; k++)
        for (size_t m = 0; m < d; m++) {
            inverse[k * d + m] = g[k] * g[m] / delta + h[k] * h[m] / (1 + delta) +
                                 n[k] * n[m] / (1 + delta - across);
            slope[k * d + m] = rho * (g[k] * g[m] + across * n[k] * n[m]);
        }
}

/* A^-1 and B of a block: A = (1 + delta) 1 - p', B = rho p'. Slip along t, n across it:
 * p' = (1, 0; mu t, share n n'). A joint row that is held: A = delta + rho c, B = rho. */
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
    if (at->state == RG_ACTIVE_SLIP && active->associated) {
        associated_slopes(d, mu, rho, at, delta, inverse, slope);
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
        inverse[k * d + k] = at->state == RG_ACTIVE_HOLD ? 1 / delta : 1 / (1 + delta);
        slope[k * d + k] = at->state == RG_ACTIVE_HOLD ? rho : 0;
    }
}

static void find_place_range(void *user, size_t begin, size_t end, size_t chunk) {
    (void)chunk;
    const rg_active *active = user;
    for (size_t i = begin; i < end; i++) {
        size_t row = rg_system_block_row(active->system, i);
        active->place[i] =
            block_error(active, i, active->force + row, active->u + row, active->error + row);
        active->state[i] = (uint8_t)active->place[i].state;
    }
}

/* The equations at `force`: who is live, and their errors. True if the matrix is unsymmetric: a
 * contact slips with friction at a given normal force. */
static bool find_places(rg_active *active) {
    bool slips = false;
    in_chunks(active, active->blocks, find_place_range, active);
    active->live_count = 0;
    for (size_t i = 0; i < active->blocks; i++) {
        if (active->state[i] == RG_ACTIVE_OPEN)
            continue;
        active->live[active->live_count++] = (uint32_t)i;
        slips = slips || (active->state[i] == RG_ACTIVE_SLIP && active->system->mu[i] > 0);
    }
    return slips && !active->associated;
}

typedef struct linearisation {
    const rg_active *active;
    double delta;
} linearisation;

static void find_slope_range(void *user, size_t begin, size_t end, size_t chunk) {
    const linearisation *l = user;
    const rg_active *active = l->active;
    bool regular = true;
    for (size_t n = begin; n < end; n++) {
        uint32_t i = active->live[n];
        block_slopes(active, i, &active->place[i], l->delta);
        if (!rg_active_has_slope(active->state[i]))
            continue;
        if (i < active->system->contacts && active->graph.leaf[i])
            regular = rg_active_leaf_inverse(active, i, l->delta) && regular;
        size_t at = rg_system_block_offset(active->system, i);
        rg_kernel_multiply(rg_system_block_size(active->system, i), active->inverse + at,
                           active->slope + at, active->middle + at);
    }
    active->figures[chunk] = regular;
}

/* Of those who are live. */
static void find_slopes(rg_active *active, double delta) {
    in_chunks(active, active->live_count, find_slope_range, &(linearisation){active, delta});
    active->singular = false;
    for (size_t i = 0; i < rg_chunk_count(active->live_count, RG_SYSTEM_ROWS_PER_CHUNK); i++)
        active->singular = active->singular || active->figures[i] == 0;
}

static bool linearise(rg_active *active, double delta) {
    bool general = find_places(active);
    find_slopes(active, delta);
    return general;
}

/* --- line search ------------------------------------------------------------------------------ */

static double squared_error(const rg_active *active, size_t block, const double *r,
                            const double *u) {
    const rg_system *s = active->system;
    double e[ROWS], sum = 0, rho = s->rho[block];
    block_error(active, block, r, u, e);
    for (size_t k = 0; k < rg_system_block_size(s, block); k++)
        sum += e[k] * e[k];
    return sum / (rho * rho);
}

/* Length of the errors now, in the unit of u. */
static double merit_now(const rg_active *active) {
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

typedef struct trial {
    rg_active *active;
    double share; /* of the step */
} trial;

static void try_range(void *user, size_t begin, size_t end, size_t chunk) {
    (void)chunk;
    const trial *t = user;
    rg_active *active = t->active;
    const rg_system *s = active->system;
    const rg_usual usual = rg_usual_of(s);
    double share = t->share;
    for (size_t i = begin; i < end; i++) {
        size_t row = rg_system_block_row(s, i), d = rg_system_block_size(s, i);
        double r[ROWS] = {0}, u[ROWS], du[ROWS];
        active->figures[i] = 0;
        if (active->state[i] == RG_ACTIVE_OPEN) {
            if (active->u[row] + share * active->du[row] >= 0)
                continue;
            rg_system_rows(s, usual, i, active->v, u); /* of the tangents nothing is known yet */
            rg_system_rows(s, usual, i, active->dv, du);
            for (size_t k = 0; k < d; k++)
                u[k] += s->problem->q[row + k] + share * du[k];
        } else {
            for (size_t k = 0; k < d; k++) {
                r[k] = active->force[row + k] + share * active->dr[row + k];
                u[k] = active->u[row + k] + share * active->du[row + k];
            }
        }
        active->figures[i] = squared_error(active, i, r, u);
    }
}

/* The same after `share` of the step. */
static double merit_at(rg_active *active, double share) {
    double sum = 0;
    in_chunks(active, active->blocks, try_range, &(trial){active, share});
    for (size_t i = 0; i < active->blocks; i++)
        sum += active->figures[i];
    return sqrt(sum) / active->system->scale;
}

/* What the step does to the velocities. */
static void find_changes(void *user, size_t begin, size_t end, size_t chunk) {
    (void)chunk;
    const rg_active *active = user;
    const rg_system *s = active->system;
    const rg_usual usual = rg_usual_of(s);
    for (size_t i = begin; i < end; i++) {
        double *du = active->du + rg_system_block_row(s, i);
        if (active->state[i] == RG_ACTIVE_OPEN)
            du[0] = normal_velocity(active, usual, i, active->dv);
        else
            rg_system_rows(s, usual, i, active->dv, du);
        if (i >= s->contacts)
            du[0] += rg_system_compliance(s, i) * active->dr[rg_system_block_row(s, i)];
    }
}

/* The share of the step that is taken: the first whose merit falls below `reference`, or the best
 * of those tried. */
static double search_line(rg_active *active, double reference, double *merit) {
    in_chunks(active, active->blocks, find_changes, active);
    double share = 1, best = 1;
    *merit = INFINITY;
    for (int k = 0; k <= HALVINGS; k++, share *= 0.5) {
        double value = merit_at(active, share);
        if (value < *merit)
            *merit = value, best = share;
        if (value < (1 - DECREASE * share) * reference)
            break;
    }
    return best;
}

static void move_range(void *user, size_t begin, size_t end, size_t chunk) {
    (void)chunk;
    const trial *t = user;
    rg_active *active = t->active;
    const rg_system *s = active->system;
    double share = t->share;
    for (size_t n = begin; n < end; n++) {
        size_t i = active->live[n], row = rg_system_block_row(s, i);
        bool gone = share == 1 && active->state[i] == RG_ACTIVE_RELEASE && i < s->contacts;
        for (size_t k = row; k < row + rg_system_block_size(s, i); k++)
            active->force[k] = gone ? 0 : active->force[k] + share * active->dr[k];
    }
}

static void move(rg_active *active, double share) {
    in_chunks(active, active->live_count, move_range, &(trial){active, share});
    rg_active_look(active);
}

/* --- the loop --------------------------------------------------------------------------------- */

static void find_errors(void *user, size_t begin, size_t end, size_t chunk) {
    (void)chunk;
    const rg_active *active = user;
    const rg_system *s = active->system;
    for (size_t n = begin; n < end; n++) {
        size_t i = active->live[n], row = rg_system_block_row(s, i);
        block_error(active, i, active->force + row, active->u + row, active->error + row);
    }
}

/* Steps with the factor that is there, as long as they gain a digit each; `known`: the errors of
 * live blocks are those of the forces that there are. True if the last one gained nothing: no
 * forces with these modes do better, because what is left of the rows contradicts itself. */
static bool chord_steps(rg_active *active, bool known) {
    double before = INFINITY;
    for (int k = 0; k < CHORD_STEPS && active->best_residual > CHORD_AIM; k++) {
        before = active->best_residual;
        if (k > 0 || !known)
            in_chunks(active, active->live_count, find_errors, active);
        rg_active_step(active);
        move(active, 1);
        if (active->residual < active->best_residual)
            keep_best(active);
        if (!(active->residual < CHORD_GAIN * before))
            break;
    }
    return active->residual > CHORD_IDLE * before;
}

/* Length of the errors of the forces that were just looked at, of live blocks and of those that
 * the last step has closed. */
static double merit_after(rg_active *active) {
    const rg_system *s = active->system;
    double sum = 0;
    in_chunks(active, active->live_count, find_errors, active);
    for (size_t i = 0; i < active->blocks; i++) {
        size_t row = rg_system_block_row(s, i);
        if (active->state[i] != RG_ACTIVE_OPEN) {
            double one = 0;
            for (size_t k = row; k < row + rg_system_block_size(s, i); k++)
                one += active->error[k] * active->error[k];
            sum += one / (s->rho[i] * s->rho[i]);
        } else if (active->u[row] < 0) {
            sum += squared_error(active, i, active->force + row, active->u + row);
        }
    }
    return sqrt(sum) / s->scale;
}

static double first_delta(const rg_active *active) {
    return fmin(DELTA_FIRST, fmax(DELTA_LEAST, DELTA_SHARE * active->residual));
}

rg_status rg_active_leap(rg_active *active, double tolerance, bool *there) {
    *there = false;
    rg_active_look(active);
    keep_best(active);
    if (!(first_delta(active) > LEAP_FROM * DELTA_LEAST))
        return RG_OK;
    rg_status status = rg_active_factor(active, linearise(active, DELTA_LEAST));
    if (status)
        return status == RG_OUT_OF_MEMORY ? status : RG_OK;
    double before = merit_now(active);
    rg_active_step(active);
    move(active, 1); /* three of four are taken: tried by going there */
    if (!(merit_after(active) < LEAP_LEAVES * before)) {
        memcpy(active->force, active->best, active->system->rows * sizeof *active->force);
        return RG_OK;
    }
    if (active->residual < active->best_residual)
        keep_best(active);
    bool idle = chord_steps(active, true);
    memcpy(active->force, active->best, active->system->rows * sizeof *active->force);
    *there = active->best_residual <= (idle ? fmax(LEAP_AIM, tolerance) : LEAP_AIM);
    return RG_OK;
}

static double next_delta(double delta, double share, bool far) {
    if (share == 1)
        return fmax(DELTA_LEAST, delta * (far ? DELTA_FALL_FAR : DELTA_FALL));
    return share < SHORT ? fmin(DELTA_MOST, DELTA_GROW * delta) : delta;
}

rg_status rg_active_run(rg_active *active, rg_active_aim aim) {
    double history[MEMORY], merit;
    int last = 0;
    bool factored = false;
    rg_active_look(active);
    keep_best(active);
    double delta = first_delta(active);
    for (int k = 0; k < aim.limit && (k == 0 || active->residual > aim.tolerance); k++) {
        bool slips = linearise(active, delta);
        history[k % MEMORY] = merit_now(active);
        double reference = 0;
        for (int m = 0; m <= k && m < MEMORY; m++)
            reference = fmax(reference, history[m]);
        rg_status status = rg_active_factor(active, slips);
        if (status == RG_OUT_OF_MEMORY)
            return status;
        factored = !status;
        if (status) {
            delta = fmin(DELTA_MOST, DELTA_SINGULAR * delta);
            continue;
        }
        rg_active_step(active);
        rg_active_changes(active);
        double share = search_line(active, reference, &merit);
        move(active, share);
        if (active->residual < PROGRESS * active->best_residual)
            last = k;
        if (active->residual < active->best_residual)
            keep_best(active);
        if (k - last >= aim.idle)
            break;
        delta = next_delta(delta, share, merit < FALL_FAR * history[k % MEMORY]);
    }
    if (factored && active->best_residual <= aim.tolerance)
        chord_steps(active, false);
    memcpy(active->force, active->best, active->system->rows * sizeof *active->force);
    return RG_OK;
}

/* --- relaxation ------------------------------------------------------------------------------- */

/* error^(3/4), by roots alone: the same bits everywhere. */
static double relax_delta(double error) {
    double root = sqrt(error);
    return fmin(RELAX_MOST, fmax(RELAX_LEAST, RELAX_SHARE * root * sqrt(root)));
}

/* Has relaxation had its share of work after `made` factorisations? */
static bool is_spent(const rg_active *active, uint64_t made) {
    if (made < RG_ACTIVE_FEWEST || !active->graph.sparse)
        return false;
    double each = rg_sparse_get_stats(active->graph.sparse).flops +
                  RG_ACTIVE_WORK_EACH * (double)active->blocks;
    return (double)(made + 1) * each > RG_ACTIVE_WORK;
}

static void return_to_best(rg_active *active) {
    memcpy(active->force, active->best, active->system->rows * sizeof *active->force);
    rg_active_look(active);
}

rg_status rg_active_relax(rg_active *active, double tolerance, uint64_t limit) {
    bool factored = false; /* a limit of 0 leaves no factor for the last digits */
    double least = 0;
    rg_active_look(active);
    keep_best(active);
    for (uint64_t k = 0; k < limit && (k == 0 || active->residual > tolerance); k++) {
        if (is_spent(active, k))
            break;
        bool general = find_places(active);
        double delta = fmax(least, relax_delta(merit_now(active)));
        find_slopes(active, delta);
        rg_status status = rg_active_factor(active, general);
        if (status == RG_OUT_OF_MEMORY)
            return status;
        factored = !status;
        least = status ? fmin(RELAX_MOST, DELTA_SINGULAR * delta) : 0;
        if (status)
            continue;
        rg_active_step(active);
        move(active, 1);
        if (active->residual < active->best_residual)
            keep_best(active);
        if (!isfinite(active->residual)) {
            return_to_best(active);
            least = RELAX_MOST;
        }
    }
    if (factored && active->best_residual <= tolerance)
        chord_steps(active, false);
    return_to_best(active);
    return RG_OK;
}
