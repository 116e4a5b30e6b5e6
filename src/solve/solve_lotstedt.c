/* Loetstedt's modification of Coulomb's law: friction is bounded by mu times a normal force that is
 * known beforehand.
 *
 * Coulomb's bound mu f_N ties friction to an unknown, and with it come inconsistency and
 * indeterminacy (Painleve; Baraff 1994 survey, 7.1). Loetstedt 1984 (as told there) takes the bound
 * from elsewhere: here from settings.reference_normal, such as the normal forces of the step
 * before, or else from the solution without friction. What is left is convex: the least of
 * 1/2 f'A f + b'f over f_N >= 0 and |f_T| <= c. With A symmetric positive semidefinite and b in
 * its range, which contacts without prescribed motion always have, the least is attained: there is
 * a solution, and its motion is unique.
 *
 * Rows:     static friction becomes a bounded row with constant bounds; dynamic friction a constant
 *           force, moved into b.
 * Contacts: in the plane as rows, for solvers that take rows. In space the disc |r_T| <= c must
 *           stay a disc: the contact is doubled. The first keeps the normal, without friction. The
 *           second has the same tangents, and a normal of its own that touches nothing:
 *           u' = w (r' - N) with N the reference, so that complementarity holds it at r' = N, and
 *           Coulomb's law at the second one is |r_T| <= mu N. No solver needs to know.
 *
 * How it fails: it does not follow f_N. Friction persists where a contact breaks, and is too weak
 * where the load grows; iterating with the normal forces that it found is the user's business.
 * Without a reference, and where the frictionless forces are not unique, the bound depends on which
 * were found. Global problems are condensed.
 * Tested by tests/solve/test_meaning.c. */
#include "solve/solve_lotstedt.h"

#include "base/base_math.h"
#include "problem/problem.h"

#include <stdio.h>
#include <string.h>

static bool is_friction(rg_row_kind kind) {
    return kind == RG_ROW_STATIC || kind == RG_ROW_DYNAMIC;
}

bool rg_lotstedt_applies(const rg_problem *problem) {
    if (problem->kind == RG_PROBLEM_LINEAR) {
        for (size_t i = 0; i < problem->linear.size; i++)
            if (is_friction(rg_row_kind_at(&problem->linear, i)))
                return true;
        return false;
    }
    const rg_contact_problem *p = &problem->contact;
    for (size_t i = 0; p->mu && p->dimension > 1 && i < p->contacts; i++)
        if (p->mu[i] > 0)
            return true;
    return false;
}

/* --- rows ------------------------------------------------------------------------------------- */

typedef struct replaced_rows {
    rg_problem problem;
    uint8_t *kinds;
    double *b, *lower, *upper;
    double *constant; /* friction that was moved into b */
} replaced_rows;

static rg_status take_rows(rg_solve_context *context, const rg_problem *problem,
                           replaced_rows *rows, rg_error *error) {
    const rg_linear_problem *p = &problem->linear;
    RG_TAKE(rows->kinds, context, p->size, error);
    RG_TAKE(rows->b, context, p->size, error);
    RG_TAKE(rows->lower, context, p->size, error);
    RG_TAKE(rows->upper, context, p->size, error);
    RG_TAKE(rows->constant, context, p->size, error);
    rows->problem = *problem;
    rows->problem.scale = rg_problem_scale(problem);
    rows->problem.linear.kinds = rows->kinds;
    rows->problem.linear.b = rows->b;
    rows->problem.linear.lower = rows->lower, rows->problem.linear.upper = rows->upper;
    return RG_OK;
}

/* `reference` null: no friction at all. A row whose force is given stays in the problem, bounded by
 * zero on both sides. */
static void replace_rows(const rg_linear_problem *p, const double *reference, replaced_rows *rows) {
    for (size_t i = 0; i < p->size; i++) {
        rg_row_kind kind = rg_row_kind_at(p, i);
        rows->kinds[i] = (uint8_t)kind;
        rows->constant[i] = 0;
        rows->lower[i] = kind == RG_ROW_BOUNDED ? p->lower[i] : 0;
        rows->upper[i] = kind == RG_ROW_BOUNDED ? p->upper[i] : 0;
        if (!is_friction(kind))
            continue;
        double normal = reference ? fmax(0, reference[p->normal[i]]) : 0;
        rows->kinds[i] = RG_ROW_BOUNDED;
        if (kind == RG_ROW_STATIC)
            rows->upper[i] = p->mu[i] * normal, rows->lower[i] = -rows->upper[i];
        else
            rows->constant[i] = p->mu[i] * normal;
    }
    for (size_t i = 0; i < p->size; i++) {
        const double *row = rg_linear_row(p, i);
        rows->b[i] = p->b[i];
        for (size_t j = 0; j < p->size; j++)
            if (rows->constant[j] != 0)
                rows->b[i] += row[j] * rows->constant[j];
    }
}

/* How the replaced problem is solved, and by which bounds. */
typedef struct replacement {
    rg_solve_context *context;
    const rg_solver *solver;
    const double *reference; /* normal forces, per row or contact; null: no friction */
    const rg_solve_settings *settings;
    rg_solve_info *info;
} replacement;

static bool has_ray(const replacement *r, const rg_solution *solution) {
    return solution->ray &&
           (r->info->outcome == RG_SOLVE_RAY || r->info->outcome == RG_SOLVE_INFEASIBLE);
}

static rg_status solve_rows(const replacement *r, const rg_problem *problem, double *force,
                            double *ray, rg_error *error) {
    replaced_rows rows = {0};
    rg_status status = take_rows(r->context, problem, &rows, error);
    if (status)
        return status;
    size_t n = problem->linear.size;
    replace_rows(&problem->linear, r->reference, &rows);
    for (size_t i = 0; i < n; i++)
        force[i] -= rows.constant[i];
    rg_solution solution = {.force = force, .ray = ray};
    status = rg_solve(r->context, r->solver, &rows.problem, r->settings, &solution, r->info, error);
    for (size_t i = 0; i < n; i++)
        force[i] += rows.constant[i];
    return status;
}

/* --- contacts --------------------------------------------------------------------------------- */

/* Contact problems in local form, contacts with friction doubled: the first `contacts` as they
 * were, then the doubles, then the joints. */
typedef struct doubled {
    const rg_contact_problem *original;
    rg_problem problem;
    size_t rows, doubles;
    uint32_t *source; /* doubles: the contact whose tangents they are */
    uint32_t *twin;   /* contacts: its double, or RG_NO_BLOCK */
    double *mu, *q, *values;
    size_t *starts;
    uint32_t *indices;
} doubled;

/* The row of the original that a row of the doubled problem is like. */
static size_t like(const doubled *two, size_t row) {
    const rg_contact_problem *p = two->original;
    size_t d = (size_t)p->dimension, contact = row / d;
    if (row >= (p->contacts + two->doubles) * d)
        return row - two->doubles * d;
    return contact < p->contacts ? row : two->source[contact - p->contacts] * d + row % d;
}

static bool is_own_normal(const doubled *two, size_t row) {
    size_t d = (size_t)two->original->dimension;
    return row >= two->original->contacts * d && row % d == 0 &&
           row < (two->original->contacts + two->doubles) * d;
}

/* Appends the entries of a row that is like a row of W (`entries`: its dense copy). Columns of the
 * first contacts, then of the doubles (tangents only), then of the joints: ascending. */
static size_t write_row(doubled *two, const double *entries, size_t at) {
    for (size_t column = 0; column < two->rows; column++) {
        double value = is_own_normal(two, column) ? 0 : entries[like(two, column)];
        if (value != 0) {
            if (two->values)
                two->values[at] = value, two->indices[at] = (uint32_t)column;
            at++;
        }
    }
    return at;
}

/* Stiffness of a double's own normal: that of its tangents, so that one scale fits the block. */
static double tangent_stiffness(const rg_contact_problem *p, size_t contact) {
    size_t d = (size_t)p->dimension;
    double sum = 0, entry;
    for (size_t k = 1; k < d; k++) {
        rg_matrix_row_part(&p->w, contact * d + k, contact * d + k, 1, &entry);
        sum += entry / (double)(d - 1);
    }
    return sum > 0 ? sum : 1;
}

/* Counts the entries if there are no arrays yet, otherwise writes them. */
static size_t write_matrix(doubled *two, const double *reference, double *entries) {
    const rg_contact_problem *p = two->original;
    size_t d = (size_t)p->dimension, at = 0;
    for (size_t row = 0; row < two->rows; row++) {
        if (two->values)
            two->starts[row] = at;
        if (is_own_normal(two, row)) {
            if (two->values) {
                size_t contact = two->source[row / d - p->contacts];
                two->values[at] = tangent_stiffness(p, contact);
                two->indices[at] = (uint32_t)row;
                two->q[row] = -two->values[at] * reference[contact];
            }
            at++;
            continue;
        }
        rg_matrix_row_part(&p->w, like(two, row), 0, rg_contact_rows(p), entries);
        at = write_row(two, entries, at);
        if (two->values)
            two->q[row] = p->q[like(two, row)];
    }
    if (two->values)
        two->starts[two->rows] = at;
    return at;
}

static rg_status double_contacts(rg_solve_context *context, const rg_problem *problem,
                                 const double *reference, doubled *two, rg_error *error) {
    const rg_contact_problem *p = &problem->contact;
    size_t d = (size_t)p->dimension;
    *two = (doubled){.original = p};
    RG_TAKE(two->source, context, p->contacts, error);
    RG_TAKE(two->twin, context, p->contacts, error);
    for (size_t i = 0; i < p->contacts; i++) {
        two->twin[i] = RG_NO_BLOCK;
        if (p->mu[i] > 0 && reference[i] > 0) {
            two->twin[i] = (uint32_t)(p->contacts + two->doubles);
            two->source[two->doubles++] = (uint32_t)i;
        }
    }
    size_t contacts = p->contacts + two->doubles;
    two->rows = contacts * d + p->joints;
    double *entries;
    RG_TAKE(entries, context, rg_contact_rows(p), error);
    RG_TAKE(two->mu, context, contacts, error);
    RG_TAKE(two->q, context, two->rows, error);
    RG_TAKE(two->starts, context, two->rows + 1, error);
    size_t count = write_matrix(two, reference, entries);
    double *values;
    RG_TAKE(two->indices, context, count, error);
    RG_TAKE(values, context, count, error);
    two->values = values;
    write_matrix(two, reference, entries);
    for (size_t i = 0; i < contacts; i++)
        two->mu[i] = i < p->contacts ? 0 : p->mu[two->source[i - p->contacts]];
    two->problem = *problem;
    two->problem.scale = rg_problem_scale(problem);
    two->problem.contact.contacts = contacts;
    two->problem.contact.mu = two->mu;
    two->problem.contact.q = two->q;
    two->problem.contact.w = (rg_matrix){.rows = two->rows,
                                         .columns = two->rows,
                                         .starts = two->starts,
                                         .indices = two->indices,
                                         .values = two->values};
    return RG_OK;
}

static void to_doubled(const doubled *two, const double *reference, const double *force,
                       double *out) {
    const rg_contact_problem *p = two->original;
    size_t d = (size_t)p->dimension;
    for (size_t row = 0; row < two->rows; row++)
        out[row] = is_own_normal(two, row) ? reference[two->source[row / d - p->contacts]]
                                           : force[like(two, row)];
    for (size_t i = 0; i < p->contacts; i++)
        for (size_t k = 1; k < d; k++)
            out[i * d + k] = 0;
}

static void from_doubled(const doubled *two, const double *force, double *out) {
    const rg_contact_problem *p = two->original;
    size_t d = (size_t)p->dimension;
    for (size_t i = 0; i < p->contacts; i++) {
        out[i * d] = force[i * d];
        for (size_t k = 1; k < d; k++)
            out[i * d + k] = two->twin[i] == RG_NO_BLOCK ? 0 : force[two->twin[i] * d + k];
    }
    for (size_t j = 0; j < p->joints; j++)
        out[p->contacts * d + j] = force[(p->contacts + two->doubles) * d + j];
}

static rg_status solve_doubled(const replacement *r, const rg_problem *problem,
                               rg_solution *solution, rg_error *error) {
    doubled two;
    rg_status status = double_contacts(r->context, problem, r->reference, &two, error);
    if (status)
        return status;
    rg_solution inner = {0};
    RG_TAKE(inner.force, r->context, two.rows, error);
    RG_TAKE(inner.ray, r->context, two.rows, error);
    memset(inner.ray, 0, two.rows * sizeof *inner.ray);
    to_doubled(&two, r->reference, solution->force, inner.force);
    status = rg_solve(r->context, r->solver, &two.problem, r->settings, &inner, r->info, error);
    if (status)
        return status;
    from_doubled(&two, inner.force, solution->force);
    if (has_ray(r, solution))
        from_doubled(&two, inner.ray, solution->ray);
    /* Counted in contacts of the doubled problem, joints behind: back to the caller's. */
    size_t contacts = problem->contact.contacts, *worst = &r->info->residual.worst;
    if (*worst >= contacts + two.doubles)
        *worst -= two.doubles;
    else if (*worst >= contacts)
        *worst = two.source[*worst - contacts];
    return RG_OK;
}

/* In the plane, as rows. */
static rg_status solve_planar(const replacement *r, const rg_problem *problem,
                              rg_solution *solution, rg_error *error) {
    rg_conversion conversion;
    rg_status status = rg_convert(r->context, problem, RG_CONVERT_ROWS, &conversion, error);
    if (status)
        return status;
    const rg_linear_problem *rows = &conversion.problem.linear;
    double *force, *ray, *normal;
    RG_TAKE(force, r->context, rows->size, error);
    RG_TAKE(ray, r->context, rows->size, error);
    RG_TAKE(normal, r->context, rows->size, error);
    memset(ray, 0, rows->size * sizeof *ray);
    memset(normal, 0, rows->size * sizeof *normal);
    for (size_t i = 0; i < problem->contact.contacts; i++)
        normal[2 * i] = r->reference[i];
    rg_convert_force(&conversion, solution->force, force);
    replacement by_rows = *r;
    by_rows.reference = normal;
    status = solve_rows(&by_rows, &conversion.problem, force, ray, error);
    if (status)
        return status;
    rg_convert_back(&conversion, force, solution->force);
    if (has_ray(r, solution))
        rg_convert_back(&conversion, ray, solution->ray);
    size_t contacts = problem->contact.contacts, *worst = &r->info->residual.worst;
    *worst = *worst < 2 * contacts ? *worst / 2 : *worst - contacts;
    return RG_OK;
}

/* --- the table of contents -------------------------------------------------------------------- */

/* Normal forces of the solution without friction, per row (linear) or contact. */
static rg_status frictionless_normals(rg_solve_context *context, const rg_problem *problem,
                                      const rg_solve_settings *settings, double *normal,
                                      rg_solution *solution, rg_solve_info *info, rg_error *error) {
    rg_solve_settings plain = *settings;
    plain.warm = false;
    if (problem->kind == RG_PROBLEM_LINEAR) {
        memset(normal, 0, problem->linear.size * sizeof *normal);
        replacement none = {context, &rg_solver_auto, NULL, &plain, info};
        return solve_rows(&none, problem, normal, solution->ray, error);
    }
    rg_problem slippery = *problem;
    slippery.contact.mu = NULL;
    double *force;
    RG_TAKE(force, context, rg_problem_rows(problem), error);
    rg_solution inner = {.force = force, .ray = solution->ray};
    rg_status status = rg_solve(context, &rg_solver_auto, &slippery, &plain, &inner, info, error);
    for (size_t i = 0; i < problem->contact.contacts; i++)
        normal[i] = force[i * (size_t)problem->contact.dimension];
    return status;
}

/* As given, checked; negative ones are none. Linear problems: given per unilateral row in the order
 * of the rows. */
static rg_status given_normals(const rg_problem *problem, const rg_solve_settings *settings,
                               double *normal, rg_error *error) {
    bool linear = problem->kind == RG_PROBLEM_LINEAR;
    size_t count = linear ? problem->linear.size : problem->contact.contacts, from = 0;
    for (size_t i = 0; i < count; i++) {
        normal[i] = 0;
        if (linear && rg_row_kind_at(&problem->linear, i) != RG_ROW_UNILATERAL)
            continue;
        double given = settings->reference_normal[from++];
        if (!isfinite(given))
            return rg_fail(error, RG_NOT_FINITE, "reference_normal[%zu] is not finite", from - 1);
        normal[i] = fmax(0, given);
    }
    return RG_OK;
}

rg_status rg_lotstedt_solve(rg_solve_context *context, const rg_solver *solver,
                            const rg_problem *problem, const rg_solve_settings *settings,
                            rg_solution *solution, rg_solve_info *info, rg_error *error) {
    rg_solve_settings inner = *settings;
    inner.friction_law = RG_FRICTION_COULOMB;
    inner.reference_normal = NULL;
    if (!settings->warm)
        memset(solution->force, 0, rg_problem_rows(problem) * sizeof *solution->force);
    bool linear = problem->kind == RG_PROBLEM_LINEAR;
    double *normal;
    RG_TAKE(normal, context, linear ? problem->linear.size : problem->contact.contacts, error);
    rg_status status;
    if (settings->reference_normal) {
        status = given_normals(problem, settings, normal, error);
    } else {
        status = frictionless_normals(context, problem, &inner, normal, solution, info, error);
        /* Without friction there is no solution: with bounded friction neither need there be. */
        if (!status && (info->outcome == RG_SOLVE_RAY || info->outcome == RG_SOLVE_INFEASIBLE))
            return RG_OK;
    }
    if (status)
        return status;
    replacement bounded = {context, solver, normal, &inner, info};
    if (linear)
        return solve_rows(&bounded, problem, solution->force, solution->ray, error);
    for (size_t i = 0; i < problem->contact.contacts; i++)
        normal[i] = fmax(0, normal[i]);
    rg_conversion local = {.problem = *problem};
    if (problem->contact.form == RG_FORM_GLOBAL) {
        status = rg_convert(context, problem, RG_CONVERT_CONDENSE, &local, error);
        if (status)
            return status;
    }
    bool planar = problem->contact.dimension == 2 && (solver->accepts & RG_ACCEPT_LINEAR) != 0;
    return (planar ? solve_planar : solve_doubled)(&bounded, &local.problem, solution, error);
}
