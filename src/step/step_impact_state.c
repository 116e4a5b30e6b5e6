/* The impact problem in one small dense form: free joints eliminated, velocities and impulses of
 * the contacts, complementarity problems over some of them, and the account of energy.
 *
 * Joints. Rows with u+ = 0 and impulses of any sign are taken out by a Schur complement: with W_jj
 * = L L' and B = L^-1 W_jc, the contacts feel W_cc - B'B. Joint rows that depend on others get no
 * impulse of their own. A velocity that the joints have before is stopped first, which loses energy
 * and makes none.
 *
 * Energy. Impulses r change the kinetic energy by E(r) = r.u + 1/2 r.W r. A base without
 * restitution has E <= 0: its friction opposes the slip and its normals carry nothing where they
 * open. E is convex along the line from the base to the whole, so the largest share of the
 * expansion that makes no energy is a root of a quadratic.
 *
 * How it fails: W is dense, rows x rows numbers; an impact over thousands of contacts costs
 * accordingly. Where both bodies are immovable (W = 0) an approach stays, and is reported.
 * Tested by tests/step/test_impact.c and tests/step/test_impact_random.c. */
#include "step/step_impact.h"

#include "base/base_long.h"
#include "base/base_math.h"
#include "problem/problem.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A pivot, or what is left of a diagonal entry, below this share of itself is rounding. */
#define LOCKED 1e-11
/* Residuals of the complementarity problems, relative to the fastest velocity: what is asked for,
 * what will do after the quick attempts, and what counts as not solved. */
#define SOLVE_TOLERANCE  1e-13
#define SOLVE_ACCEPTABLE 1e-11
#define SOLVE_FAILED     1e-7
/* Islands of so many contacts are rows and stacks, which share impulses. */
enum { MANY_CONTACTS = 16 };
/* Velocities below this share of the fastest are rounding. */
#define VELOCITY_ROUNDING 1e-12
/* Energy up to this share of the sum of its parts' sizes is rounding. */
#define ENERGY_ROUNDING (64 * DBL_EPSILON)

struct rg_impact_reduction {
    const rg_contact_problem *contact;
    size_t rows, joints; /* of the whole; free joints that carry impulses */
    double *whole;       /* rows x rows */
    double *before;      /* u- */
    size_t *kept;        /* rows of the whole that the state has, in its order */
    size_t *joint;       /* rows of the whole of those free joints */
    double *lower;       /* L, joints x joints */
};

static double *whole_row(const rg_impact_reduction *m, size_t row) {
    return m->whole + row * m->rows;
}

/* --- reduction -------------------------------------------------------------------------------- */

static rg_status take_whole(rg_solve_context *context, const rg_impact_problem *problem,
                            rg_impact_reduction *m, rg_error *error) {
    const rg_contact_problem *p = &problem->contact.contact;
    rg_conversion local;
    local.problem = problem->contact;
    if (p->form == RG_FORM_GLOBAL) {
        rg_status status =
            rg_convert(context, &problem->contact, RG_CONVERT_CONDENSE, &local, error);
        if (status)
            return status;
    }
    const rg_contact_problem *q = &local.problem.contact;
    RG_TAKE(m->whole, context, m->rows * m->rows, error);
    RG_TAKE(m->before, context, m->rows, error);
    for (size_t i = 0; i < m->rows; i++) {
        rg_matrix_row_part(&q->w, i, 0, m->rows, whole_row(m, i));
        m->before[i] = q->q[i];
    }
    for (size_t i = 0; i < m->rows; i++)
        for (size_t j = 0; j < i; j++) {
            double mean = 0.5 * (whole_row(m, i)[j] + whole_row(m, j)[i]);
            whole_row(m, i)[j] = whole_row(m, j)[i] = mean;
        }
    return RG_OK;
}

static bool is_free(const rg_contact_problem *p, size_t joint) {
    return !(p->lower && p->lower[joint] > -INFINITY) && !(p->upper && p->upper[joint] < INFINITY);
}

/* L of the free joints; those that depend on the ones before are left out. */
static void factor_joints(rg_impact_reduction *m, const size_t *candidates, size_t count,
                          double *row) {
    m->joints = 0;
    for (size_t c = 0; c < count; c++) {
        size_t n = m->joints;
        double pivot = whole_row(m, candidates[c])[candidates[c]], entry = pivot;
        for (size_t i = 0; i < n; i++) {
            double sum = whole_row(m, candidates[c])[m->joint[i]];
            for (size_t k = 0; k < i; k++)
                sum -= m->lower[i * count + k] * row[k];
            row[i] = sum / m->lower[i * count + i];
            pivot -= row[i] * row[i];
        }
        if (!(pivot > LOCKED * entry))
            continue;
        memcpy(m->lower + n * count, row, n * sizeof *row);
        m->lower[n * count + n] = sqrt(pivot);
        m->joint[m->joints++] = candidates[c];
    }
    for (size_t i = 1; i < m->joints; i++) /* close the rows up */
        memmove(m->lower + i * m->joints, m->lower + i * count, (i + 1) * sizeof *m->lower);
}

static void forward(const rg_impact_reduction *m, double *x) {
    for (size_t i = 0; i < m->joints; i++) {
        for (size_t k = 0; k < i; k++)
            x[i] -= m->lower[i * m->joints + k] * x[k];
        x[i] /= m->lower[i * m->joints + i];
    }
}

static void backward(const rg_impact_reduction *m, double *x) {
    for (size_t i = m->joints; i-- > 0;) {
        for (size_t k = i + 1; k < m->joints; k++)
            x[i] -= m->lower[k * m->joints + i] * x[k];
        x[i] /= m->lower[i * m->joints + i];
    }
}

/* W - B'B and u - B' L^-1 u_j. Rows that the joints lock become exactly zero. */
static rg_status eliminate(rg_solve_context *context, const rg_impact_reduction *m,
                           rg_impact_state *s, rg_error *error) {
    double *b, *y;
    RG_TAKE(b, context, s->rows * m->joints, error);
    RG_TAKE(y, context, m->joints, error);
    for (size_t j = 0; j < m->joints; j++)
        y[j] = m->before[m->joint[j]];
    forward(m, y);
    for (size_t i = 0; i < s->rows; i++) {
        double *column = b + i * m->joints;
        for (size_t j = 0; j < m->joints; j++)
            column[j] = whole_row(m, m->kept[i])[m->joint[j]];
        forward(m, column);
        s->u[i] = m->before[m->kept[i]];
        for (size_t j = 0; j < m->joints; j++)
            s->u[i] -= column[j] * y[j];
        for (size_t k = 0; k <= i; k++) {
            double sum = whole_row(m, m->kept[i])[m->kept[k]];
            for (size_t j = 0; j < m->joints; j++)
                sum -= column[j] * b[k * m->joints + j];
            rg_impact_row(s, i)[k] = rg_impact_row(s, k)[i] = sum;
        }
    }
    for (size_t i = 0; i < s->rows && m->joints > 0; i++)
        if (!(rg_impact_row(s, i)[i] > LOCKED * whole_row(m, m->kept[i])[m->kept[i]]))
            for (size_t k = 0; k < s->rows; k++)
                rg_impact_row(s, i)[k] = rg_impact_row(s, k)[i] = 0;
    return RG_OK;
}

static void set_laws(const rg_impact_problem *problem, const rg_impact_reduction *m,
                     rg_impact_state *s) {
    const rg_contact_problem *p = &problem->contact.contact;
    s->scale = 0;
    for (size_t i = 0; i < m->rows; i++)
        s->scale = fmax(s->scale, fabs(m->before[i]));
    s->still = fmax(problem->still, VELOCITY_ROUNDING * s->scale);
    for (size_t i = 0; i < p->contacts; i++) {
        s->e[i] = problem->restitution ? problem->restitution[i] : 0;
        s->mu[i] = p->mu && p->dimension > 1 ? p->mu[i] : 0;
        s->friction |= s->mu[i] > 0;
        size_t n = rg_impact_normal(s, i);
        if (rg_impact_row(s, n)[n] > 0)
            s->all[s->all_count++] = (uint32_t)i;
    }
    for (size_t i = 0; i < s->bounded; i++) {
        size_t joint = m->kept[p->contacts * (size_t)s->d + i] - p->contacts * (size_t)s->d;
        s->lower[i] = p->lower ? p->lower[joint] : -INFINITY;
        s->upper[i] = p->upper ? p->upper[joint] : INFINITY;
    }
}

static rg_status take_state(rg_solve_context *context, rg_impact_state *s, rg_error *error) {
    RG_TAKE(s->w, context, s->rows * s->rows, error);
    RG_TAKE(s->u, context, s->rows, error);
    RG_TAKE(s->r, context, s->rows, error);
    RG_TAKE(s->e, context, s->contacts, error);
    RG_TAKE(s->mu, context, s->contacts, error);
    RG_TAKE(s->all, context, s->contacts, error);
    RG_TAKE(s->lower, context, s->bounded, error);
    RG_TAKE(s->upper, context, s->bounded, error);
    if (s->observer) {
        RG_TAKE(s->before, context, s->rows, error);
        RG_TAKE(s->given, context, s->rows, error);
    }
    memset(s->r, 0, s->rows * sizeof *s->r);
    return RG_OK;
}

rg_status rg_impact_reduce(rg_solve_context *context, const rg_impact_problem *problem,
                           rg_impact_info *info, rg_impact_state *state,
                           rg_impact_reduction **reduction, rg_error *error) {
    const rg_contact_problem *p = &problem->contact.contact;
    rg_impact_reduction *m;
    RG_TAKE(m, context, 1, error);
    *m = (rg_impact_reduction){.contact = p, .rows = rg_contact_rows(p)};
    rg_status status = take_whole(context, problem, m, error);
    if (status)
        return status;
    size_t contact_rows = p->contacts * (size_t)p->dimension, free = 0;
    size_t *candidates;
    double *row;
    RG_TAKE(candidates, context, p->joints, error);
    RG_TAKE(m->kept, context, m->rows, error);
    RG_TAKE(m->joint, context, p->joints, error);
    *state = (rg_impact_state){.context = context,
                               .info = info,
                               .d = p->dimension,
                               .contacts = p->contacts,
                               .rows = contact_rows,
                               .directions = p->directions,
                               .pair = problem->pair,
                               .observer = problem->observer,
                               .observer_user = problem->observer_user};
    for (size_t i = 0; i < contact_rows; i++)
        m->kept[i] = i;
    for (size_t j = 0; j < p->joints; j++) {
        if (is_free(p, j))
            candidates[free++] = contact_rows + j;
        else
            m->kept[state->rows++] = contact_rows + j;
    }
    state->bounded = state->rows - contact_rows;
    RG_TAKE(m->lower, context, free * free, error);
    RG_TAKE(row, context, free, error);
    factor_joints(m, candidates, free, row);
    status = take_state(context, state, error);
    if (!status)
        status = eliminate(context, m, state, error);
    if (status)
        return status;
    set_laws(problem, m, state);
    *reduction = m;
    return RG_OK;
}

/* Solved twice: the second time for what rounding left of the joints' velocities. */
rg_status rg_impact_restore(const rg_impact_reduction *m, const rg_impact_state *s, double *impulse,
                            rg_error *error) {
    memset(impulse, 0, m->rows * sizeof *impulse);
    for (size_t i = 0; i < s->rows; i++)
        impulse[m->kept[i]] = s->r[i];
    rg_arena_mark mark = rg_arena_get_mark(&s->context->arena);
    double *x;
    RG_TAKE(x, s->context, m->joints, error);
    for (int pass = 0; pass < 2; pass++) {
        for (size_t j = 0; j < m->joints; j++) {
            const double *row = whole_row(m, m->joint[j]);
            rg_long sum = rg_long_of(m->before[m->joint[j]]);
            for (size_t k = 0; k < m->rows; k++)
                sum = rg_long_add(sum, rg_long_product(row[k], impulse[k]));
            x[j] = -rg_long_round(sum);
        }
        forward(m, x);
        backward(m, x);
        for (size_t j = 0; j < m->joints; j++)
            impulse[m->joint[j]] += x[j];
    }
    rg_arena_return(&s->context->arena, mark);
    return RG_OK;
}

const double *rg_impact_before(const rg_impact_reduction *reduction) {
    return reduction->before;
}

/* --- applying --------------------------------------------------------------------------------- */

void rg_impact_change(const rg_impact_state *s, const double *impulse, double *change) {
    for (size_t i = 0; i < s->rows; i++) {
        const double *row = rg_impact_row(s, i);
        double sum = 0;
        for (size_t j = 0; j < s->rows; j++)
            sum += row[j] * impulse[j];
        change[i] = sum;
    }
}

static void remember_velocities(const rg_impact_state *s) {
    if (s->observer)
        memcpy(s->before, s->u, s->rows * sizeof *s->u);
}

/* `impulse`: of all contacts' rows. */
static void tell_observer(rg_impact_state *s, const double *impulse) {
    s->applied++;
    if (!s->observer)
        return;
    rg_impact_round round = {.number = s->applied,
                             .contacts = s->contacts,
                             .dimension = s->d,
                             .impulse = impulse,
                             .before = s->before,
                             .after = s->u};
    s->observer(s->observer_user, &round);
}

rg_status rg_impact_apply(rg_impact_state *s, const double *impulse, rg_error *error) {
    rg_arena_mark mark = rg_arena_get_mark(&s->context->arena);
    double *change;
    RG_TAKE(change, s->context, s->rows, error);
    rg_impact_change(s, impulse, change);
    for (size_t i = 0; i < s->contacts; i++) {
        size_t n = rg_impact_normal(s, i);
        s->normal_work += impulse[n] * (s->u[n] + 0.5 * change[n]);
        double parts = 0; /* what the sum's rounding may be is no approach */
        for (size_t j = 0; j < s->rows; j++)
            parts += fabs(rg_impact_row(s, n)[j] * impulse[j]);
        s->still = fmax(s->still, 8 * DBL_EPSILON * parts);
    }
    remember_velocities(s);
    for (size_t i = 0; i < s->rows; i++)
        s->u[i] += change[i], s->r[i] += impulse[i];
    tell_observer(s, impulse);
    rg_arena_return(&s->context->arena, mark);
    return RG_OK;
}

void rg_impact_apply_one(rg_impact_state *s, size_t contact, const double *impulse,
                         double normal_work) {
    size_t n = rg_impact_normal(s, contact);
    s->normal_work += normal_work;
    remember_velocities(s);
    for (size_t k = 0; k < (size_t)s->d; k++) {
        const double *row = rg_impact_row(s, n + k);
        for (size_t i = 0; i < s->rows; i++)
            s->u[i] += row[i] * impulse[k];
        s->r[n + k] += impulse[k];
    }
    if (s->observer) {
        memset(s->given, 0, s->rows * sizeof *s->given);
        memcpy(s->given + n, impulse, (size_t)s->d * sizeof *s->given);
    }
    tell_observer(s, s->given);
}

void rg_impact_one(const rg_impact_state *s, size_t contact, double w[9], double u[3]) {
    size_t n = rg_impact_normal(s, contact), d = (size_t)s->d;
    memset(w, 0, 9 * sizeof *w);
    memset(u, 0, 3 * sizeof *u);
    for (size_t i = 0; i < d * d; i++)
        w[i / d * 3 + i % d] = rg_impact_row(s, n + i / d)[n + i % d];
    memcpy(u, s->u + n, d * sizeof *u);
}

double rg_impact_fastest(const rg_impact_state *s) {
    double fastest = 0;
    for (size_t i = 0; i < s->contacts; i++)
        fastest = fmax(fastest, -s->u[rg_impact_normal(s, i)]);
    return fastest;
}

bool rg_impact_goes_on(const rg_impact_state *s) {
    for (size_t i = 0; i < s->all_count; i++)
        if (s->u[rg_impact_normal(s, s->all[i])] < -s->still)
            return true;
    for (size_t i = 0; i < s->bounded; i++) {
        size_t row = s->rows - s->bounded + i;
        bool pushes = s->u[row] < -s->still && s->r[row] < s->upper[i];
        bool pulls = s->u[row] > s->still && s->r[row] > s->lower[i];
        if (rg_impact_row(s, row)[row] > 0 && (pushes || pulls))
            return true;
    }
    return false;
}

void rg_impact_note(rg_impact_state *s, rg_impact_outcome outcome, const char *format, ...) {
    if (s->info->outcome == RG_IMPACT_UNSOLVED)
        return;
    s->info->outcome = outcome;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(s->info->text, sizeof s->info->text, format, arguments);
    va_end(arguments);
}

/* --- complementarity problems over some contacts ---------------------------------------------- */

typedef struct small_problem {
    rg_problem problem;
    size_t rows, kept; /* kept: rows per contact, d or 1 */
    size_t *source;    /* rows of the state */
    double *w, *q, *mu, *lower, *upper, *force, *trial;
} small_problem;

static rg_status make_small(const rg_impact_state *s, const rg_impact_part *part, small_problem *t,
                            rg_error *error) {
    t->kept = part->friction && s->friction ? (size_t)s->d : 1;
    t->rows = part->count * t->kept + s->bounded;
    RG_TAKE(t->source, s->context, t->rows, error);
    RG_TAKE(t->w, s->context, t->rows * t->rows, error);
    RG_TAKE(t->q, s->context, t->rows, error);
    RG_TAKE(t->mu, s->context, part->count, error);
    RG_TAKE(t->lower, s->context, s->bounded, error);
    RG_TAKE(t->upper, s->context, s->bounded, error);
    RG_TAKE(t->force, s->context, t->rows, error);
    RG_TAKE(t->trial, s->context, t->rows, error);
    const double *from = part->from ? part->from : s->u;
    for (size_t i = 0; i < part->count; i++) {
        size_t n = rg_impact_normal(s, part->list[i]);
        for (size_t k = 0; k < t->kept; k++) {
            t->source[i * t->kept + k] = n + k;
            t->q[i * t->kept + k] = from[n + k];
        }
        t->q[i * t->kept] += part->shift ? part->shift[i] : 0;
        t->mu[i] = s->mu[part->list[i]];
    }
    for (size_t i = 0; i < s->bounded; i++) {
        size_t row = part->count * t->kept + i, source = s->rows - s->bounded + i;
        t->source[row] = source, t->q[row] = from[source];
        t->lower[i] = fmin(s->lower[i] - s->r[source], 0);
        t->upper[i] = fmax(s->upper[i] - s->r[source], 0);
    }
    for (size_t i = 0; i < t->rows; i++)
        for (size_t j = 0; j < t->rows; j++)
            t->w[i * t->rows + j] = rg_impact_row(s, t->source[i])[t->source[j]];
    t->problem = (rg_problem){.kind = RG_PROBLEM_CONTACT, .scale = s->scale};
    t->problem.contact = (rg_contact_problem){
        .dimension = (int)t->kept,
        .contacts = part->count,
        .joints = s->bounded,
        .mu = t->kept > 1 ? t->mu : NULL,
        .directions = t->kept > 2 ? s->directions : 0,
        .lower = s->bounded ? t->lower : NULL,
        .upper = s->bounded ? t->upper : NULL,
        .form = RG_FORM_LOCAL,
        .w = {.rows = t->rows, .columns = t->rows, .dense = t->w},
        .q = t->q,
    };
    return RG_OK;
}

/* The residual that rounding alone makes: large impulses between heavy bodies at small velocities.
 */
static double unavoidable(const rg_impact_state *s, const small_problem *t) {
    double most = 0;
    for (size_t i = 0; i < t->rows; i++) {
        double sum = 0;
        for (size_t j = 0; j < t->rows; j++)
            sum += fabs(t->w[i * t->rows + j] * t->force[j]);
        most = fmax(most, sum);
    }
    return s->scale > 0 ? 4 * DBL_EPSILON * most / s->scale : 0;
}

/* Keeps the better of the answers; content at SOLVE_ACCEPTABLE. */
static rg_status try_solver(rg_impact_state *s, small_problem *t, const rg_impact_part *part,
                            const char *name, double tolerance, double *residual, rg_error *error) {
    if (*residual <= fmax(SOLVE_ACCEPTABLE, unavoidable(s, t)))
        return RG_OK;
    rg_solve_settings settings = rg_solve_settings_default();
    settings.tolerance = tolerance, settings.acceptable = SOLVE_ACCEPTABLE;
    if (part->reference && t->kept > 1) {
        settings.friction_law = RG_FRICTION_LOTSTEDT;
        settings.reference_normal = part->reference;
    }
    memset(t->trial, 0, t->rows * sizeof *t->trial);
    rg_solution solution = {.force = t->trial};
    rg_solve_info info;
    rg_status status =
        rg_solve(s->context, rg_solver_find(name), &t->problem, &settings, &solution, &info, error);
    if (status)
        return status;
    s->info->solves++, s->info->iterations += info.iterations;
    bool finite = true;
    for (size_t i = 0; i < t->rows; i++)
        finite &= isfinite(t->trial[i]) != 0;
    if (finite && info.solver && info.residual.natural < *residual) {
        *residual = info.residual.natural;
        memcpy(t->force, t->trial, t->rows * sizeof *t->force);
    }
    return RG_OK;
}

/* What the solver's tolerance left outside the cone. */
static void put_into_cone(const rg_impact_state *s, const small_problem *t,
                          const rg_impact_part *part) {
    for (size_t i = 0; i < part->count; i++) {
        double *f = t->force + i * t->kept;
        f[0] = fmax(f[0], 0);
        if (t->kept == 1)
            continue;
        double bound = t->mu[i] * (part->reference ? fmax(part->reference[i], 0) : f[0]);
        double size = t->kept > 2 ? sqrt(f[1] * f[1] + f[2] * f[2]) : fabs(f[1]);
        for (size_t k = 1; k < t->kept; k++)
            f[k] = size > bound ? f[k] * (bound / size) : f[k];
    }
    for (size_t i = 0; i < s->bounded; i++) {
        double *f = t->force + part->count * t->kept + i;
        *f = fmin(fmax(*f, t->lower[i]), t->upper[i]);
    }
}

rg_status rg_impact_solve(rg_impact_state *s, const rg_impact_part *part, double *impulse,
                          rg_error *error) {
    memset(impulse, 0, s->rows * sizeof *impulse);
    if (part->count + s->bounded == 0)
        return RG_OK;
    rg_arena_mark mark = rg_arena_get_mark(&s->context->arena);
    small_problem t = {0};
    rg_status status = make_small(s, part, &t, error);
    if (status)
        return status;
    memset(t.force, 0, t.rows * sizeof *t.force);
    double residual = INFINITY;
    bool rows = t.kept < 3;
    if (rows)
        status = try_solver(s, &t, part, "dantzig", SOLVE_TOLERANCE, &residual, error);
    /* Where impulses can be shared in many ways: in the middle, so that what is symmetric stays so.
     * The last digits would take as long again. */
    else if (!part->reference && part->count >= MANY_CONTACTS)
        status = try_solver(s, &t, part, "interior-point", SOLVE_ACCEPTABLE, &residual, error);
    if (!status)
        status = try_solver(s, &t, part, "auto", SOLVE_TOLERANCE, &residual, error);
    if (!status) {
        if (!(residual <= SOLVE_FAILED))
            rg_impact_note(s, RG_IMPACT_UNSOLVED,
                           "the impact over %zu contacts was not solved: residual %.3g of the "
                           "fastest velocity",
                           part->count, residual);
        s->info->residual = fmax(s->info->residual, residual);
        put_into_cone(s, &t, part);
        for (size_t i = 0; i < t.rows; i++)
            impulse[t.source[i]] = t.force[i];
    }
    rg_arena_return(&s->context->arena, mark);
    return status;
}

/* --- energy ----------------------------------------------------------------------------------- */

rg_status rg_impact_energy(const rg_impact_state *s, const double *impulse, double *energy,
                           rg_error *error) {
    rg_arena_mark mark = rg_arena_get_mark(&s->context->arena);
    double *change;
    RG_TAKE(change, s->context, s->rows, error);
    rg_impact_change(s, impulse, change);
    *energy = 0;
    for (size_t i = 0; i < s->rows; i++)
        *energy += impulse[i] * (s->u[i] + 0.5 * change[i]);
    rg_arena_return(&s->context->arena, mark);
    return RG_OK;
}

/* The largest s in [0, 1] with a s^2 + b s + c <= 0, given c <= 0, a >= 0. */
static double largest_share(double a, double b, double c) {
    double root = sqrt(fmax(b * b - 4 * a * c, 0));
    double s = b > 0 ? -2 * c / (b + root) : a > 0 ? (root - b) / (2 * a) : 1;
    return s >= 0 && s <= 1 ? s : s > 1 ? 1 : 0;
}

rg_status rg_impact_limit_energy(rg_impact_state *s, const double *base, double *total,
                                 rg_error *error) {
    rg_arena_mark mark = rg_arena_get_mark(&s->context->arena);
    double *delta, *of_delta, *of_base;
    RG_TAKE(delta, s->context, s->rows, error);
    RG_TAKE(of_delta, s->context, s->rows, error);
    RG_TAKE(of_base, s->context, s->rows, error);
    for (size_t i = 0; i < s->rows; i++)
        delta[i] = total[i] - base[i];
    rg_impact_change(s, delta, of_delta);
    rg_impact_change(s, base, of_base);
    double a = 0, b = 0, c = 0, size = 0;
    for (size_t i = 0; i < s->rows; i++) {
        a += 0.5 * delta[i] * of_delta[i];
        b += delta[i] * (s->u[i] + of_base[i]);
        c += base[i] * (s->u[i] + 0.5 * of_base[i]);
        size += fabs(delta[i]) * (fabs(of_delta[i]) + fabs(s->u[i]) + fabs(of_base[i])) +
                fabs(base[i]) * (fabs(s->u[i]) + fabs(of_base[i]));
    }
    if (a + b + c > ENERGY_ROUNDING * size) {
        double share = largest_share(fmax(a, 0), b, fmin(c, 0));
        for (size_t i = 0; i < s->rows; i++)
            total[i] = base[i] + share * delta[i];
        s->info->scaled = fmin(s->info->scaled, share);
    }
    rg_arena_return(&s->context->arena, mark);
    return RG_OK;
}
