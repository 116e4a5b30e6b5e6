/* What an answer means: are the forces determined, is the motion, and if friction leaves no answer
 * or several, why.
 *
 * Uniqueness. Rows that carry force, or may, are those with a = 0. Forces over them can change by
 * df without changing those accelerations exactly if A^ df = 0, A^ the matrix over these rows, the
 * friction of sliding contacts following its normal force (columns N + k T). A rank-revealing
 * elimination (full pivoting; on a symmetric positive semidefinite matrix the largest entry is on
 * the diagonal, so that it is the pivoted symmetric factor there) gives the rank and a basis of the
 * null space, island by island. A row is indeterminate if the null space reaches it (a table with
 * four legs: Baraff 1989, section 5 and appendix B). Without friction A df = 0 follows, and the
 * motion is the same; with friction that is looked at.
 *
 * Friction. Coulomb's law with sliding contacts can have no solution or several motions (Painleve;
 * Baraff 1994 survey, 7.1); all modes of a small problem are tried (rg_solve_all) and the result is
 * told in words. The cause is always the same: pushing at a contact makes it accelerate inwards,
 * once the friction that comes with the push is counted.
 *
 * How it fails: rank is decided at RANK_TOLERANCE on the equilibrated matrix. A null vector may be
 * blocked by f >= 0 at a row with f = a = 0; such forces are called indeterminate although they are
 * not. Ranges by linear programming (rigor-lp) settle that. */
#include "base/base_math.h"
#include "problem/problem.h"
#include "solve/solve.h"

#include <stdio.h>
#include <string.h>

/* Rows with |a| up to this, relative to the problem's scale, have a = 0. */
#define ACTIVE_TOLERANCE 1e-8
/* A pivot below this, of a matrix equilibrated to diagonal 1, is zero. */
#define RANK_TOLERANCE 1e-11
/* Entries of null vectors below this, in equilibrated forces, are zero. */
#define NULL_TOLERANCE 1e-7
/* Solutions differ in their motion if some a differs by this, relative to the scale. */
#define MOTION_TOLERANCE 1e-7

/* Solutions looked at; more are counted only. */
enum { KEPT_MAX = 64 };

/* --- the problem as rows ---------------------------------------------------------------------- */

/* Any problem whose matrix can be asked for rows: linear, or contact in local form. */
typedef struct rows_view {
    const rg_problem *problem;
    size_t rows;
    double scale;
    double *velocity, *diagonal;
} rows_view;

static void view_row(const rows_view *view, size_t row, double *values) {
    if (view->problem->kind == RG_PROBLEM_LINEAR)
        memcpy(values, rg_linear_row(&view->problem->linear, row), view->rows * sizeof *values);
    else
        rg_matrix_row_part(&view->problem->contact.w, row, 0, view->rows, values);
}

static rg_status view_make(rg_solve_context *context, const rg_problem *problem,
                           rg_conversion *local, rows_view *view, rg_error *error) {
    *view = (rows_view){.problem = problem, .scale = rg_problem_scale(problem)};
    if (problem->kind == RG_PROBLEM_CONTACT && problem->contact.form == RG_FORM_GLOBAL) {
        rg_status status = rg_convert(context, problem, RG_CONVERT_CONDENSE, local, error);
        if (status)
            return status;
        view->problem = &local->problem;
    }
    view->rows = rg_problem_rows(problem);
    RG_TAKE(view->velocity, context, view->rows, error);
    RG_TAKE(view->diagonal, context, view->rows, error);
    return RG_OK;
}

/* a = A f + b and the diagonal, `values` being room for a row. */
static void view_apply(rows_view *view, const double *force, double *values) {
    const double *b = view->problem->kind == RG_PROBLEM_LINEAR ? view->problem->linear.b
                                                               : view->problem->contact.q;
    for (size_t i = 0; i < view->rows; i++) {
        view_row(view, i, values);
        double sum = b[i];
        for (size_t j = 0; j < view->rows; j++)
            sum += values[j] * force[j];
        view->velocity[i] = sum;
        view->diagonal[i] = values[i];
    }
}

static bool problem_has_friction(const rg_problem *problem) {
    if (problem->kind == RG_PROBLEM_CONTACT) {
        const rg_contact_problem *p = &problem->contact;
        for (size_t i = 0; p->mu && p->dimension > 1 && i < p->contacts; i++)
            if (p->mu[i] > 0)
                return true;
        return false;
    }
    for (size_t i = 0; i < problem->linear.size; i++) {
        rg_row_kind kind = rg_row_kind_at(&problem->linear, i);
        if (kind == RG_ROW_STATIC || kind == RG_ROW_DYNAMIC)
            return true;
    }
    return false;
}

/* --- which rows may carry force --------------------------------------------------------------- */

/* Every row's force is `weight` times the unknown `owner`: itself, or the normal that it
 * follows. */
typedef struct active_rows {
    size_t count;
    uint32_t *row;   /* of each unknown */
    uint32_t *owner; /* of each row: an unknown, or RG_NO_BLOCK */
    double *weight;
} active_rows;

static rg_status active_make(rg_solve_context *context, size_t rows, active_rows *active,
                             rg_error *error) {
    active->count = 0;
    RG_TAKE(active->row, context, rows, error);
    RG_TAKE(active->owner, context, rows, error);
    RG_TAKE(active->weight, context, rows, error);
    for (size_t i = 0; i < rows; i++)
        active->owner[i] = RG_NO_BLOCK, active->weight[i] = 0;
    return RG_OK;
}

static void activate(active_rows *active, size_t row) {
    active->owner[row] = (uint32_t)active->count;
    active->weight[row] = 1;
    active->row[active->count++] = (uint32_t)row;
}

static void follow(active_rows *active, size_t row, size_t normal, double factor) {
    active->owner[row] = active->owner[normal];
    active->weight[row] = factor;
}

/* Is a zero beside a force that, in the unit of a, is `push`? */
static bool is_closed(const rows_view *view, double a, double push) {
    return a <= ACTIVE_TOLERANCE * view->scale || a < push;
}

static bool is_between(const rows_view *view, size_t row, double f, double lower, double upper) {
    double a = view->velocity[row], room = a > 0 ? f - lower : upper - f;
    if (lower == upper)
        return false;
    return fabs(a) <= ACTIVE_TOLERANCE * view->scale || fabs(a) < view->diagonal[row] * room;
}

static void activate_linear(const rows_view *view, const double *force, active_rows *active) {
    const rg_linear_problem *p = &view->problem->linear;
    for (size_t i = 0; i < p->size; i++) {
        double f = force[i], push = view->diagonal[i] * f;
        switch (rg_row_kind_at(p, i)) {
        case RG_ROW_UNILATERAL:
            if (is_closed(view, view->velocity[i], push))
                activate(active, i);
            break;
        case RG_ROW_FREE:
            activate(active, i);
            break;
        case RG_ROW_BOUNDED:
            if (is_between(view, i, f, p->lower[i], p->upper[i]))
                activate(active, i);
            break;
        default:
            break;
        }
    }
    for (size_t i = 0; i < p->size; i++) {
        rg_row_kind kind = rg_row_kind_at(p, i);
        if ((kind != RG_ROW_STATIC && kind != RG_ROW_DYNAMIC) || p->mu[i] == 0 ||
            active->owner[p->normal[i]] == RG_NO_BLOCK)
            continue;
        double limit = p->mu[i] * force[p->normal[i]];
        if (kind == RG_ROW_DYNAMIC)
            follow(active, i, p->normal[i], p->mu[i]);
        else if (is_between(view, i, force[i], -limit, limit) ||
                 fabs(view->velocity[i]) <= ACTIVE_TOLERANCE * view->scale)
            activate(active, i);
        else
            follow(active, i, p->normal[i], view->velocity[i] > 0 ? -p->mu[i] : p->mu[i]);
    }
}

/* A contact that sticks has all its components, one that slides its normal alone. */
static void activate_contact(const rows_view *view, const double *force, size_t contact,
                             active_rows *active) {
    const rg_contact_problem *p = &view->problem->contact;
    size_t d = (size_t)p->dimension, normal = contact * d;
    const double *r = force + normal, *u = view->velocity + normal;
    if (!is_closed(view, u[0], view->diagonal[normal] * r[0]))
        return;
    activate(active, normal);
    double mu = p->mu && d > 1 ? p->mu[contact] : 0, slip = 0, grip = 0, stiffness = 0;
    if (!(mu > 0))
        return;
    for (size_t k = 1; k < d; k++) {
        slip += u[k] * u[k], grip += r[k] * r[k];
        stiffness += view->diagonal[normal + k] / (double)(d - 1);
    }
    slip = sqrt(slip), grip = sqrt(grip);
    bool sticks =
        slip <= ACTIVE_TOLERANCE * view->scale || slip < stiffness * (mu * fmax(0, r[0]) - grip);
    for (size_t k = 1; k < d; k++) {
        if (sticks)
            activate(active, normal + k);
        else /* what the friction is to its normal, or would be */
            follow(active, normal + k, normal, r[0] > 0 ? r[k] / r[0] : -mu * u[k] / slip);
    }
}

static void activate_contacts(const rows_view *view, const double *force, active_rows *active) {
    const rg_contact_problem *p = &view->problem->contact;
    for (size_t i = 0; i < p->contacts; i++)
        activate_contact(view, force, i, active);
    for (size_t j = 0; j < p->joints; j++) {
        size_t row = p->contacts * (size_t)p->dimension + j;
        double lower = p->lower ? p->lower[j] : -INFINITY;
        double upper = p->upper ? p->upper[j] : INFINITY;
        if ((lower == -INFINITY && upper == INFINITY) ||
            is_between(view, row, force[row], lower, upper))
            activate(active, row);
    }
}

/* --- rank ------------------------------------------------------------------------------------- */

/* Gauss-Jordan with full pivoting on a (size x size, row-major), in place: afterwards column
 * order[c], c >= rank, holds minus the null vector's entries at order[0 .. rank), in row order of
 * the pivots. Returns the rank. `row_order` and `order` tell which row and column came at each
 * pivot. */
static size_t eliminate(size_t size, double *a, uint32_t *row_order, uint32_t *order) {
    for (size_t i = 0; i < size; i++)
        row_order[i] = order[i] = (uint32_t)i;
    size_t rank = 0;
    for (; rank < size; rank++) {
        size_t best_i = rank, best_j = rank;
        double best = 0;
        for (size_t i = rank; i < size; i++)
            for (size_t j = rank; j < size; j++) {
                double entry = fabs(a[row_order[i] * size + order[j]]);
                if (entry > best)
                    best = entry, best_i = i, best_j = j;
            }
        if (!(best > RANK_TOLERANCE))
            break;
        uint32_t swap = row_order[rank];
        row_order[rank] = row_order[best_i], row_order[best_i] = swap;
        swap = order[rank], order[rank] = order[best_j], order[best_j] = swap;
        double *pivot_row = a + row_order[rank] * size, inverse = 1 / pivot_row[order[rank]];
        for (size_t j = 0; j < size; j++)
            pivot_row[j] *= inverse;
        for (size_t i = 0; i < size; i++) {
            double *row = a + i * size, factor = row[order[rank]];
            if (row == pivot_row || factor == 0)
                continue;
            for (size_t j = 0; j < size; j++)
                row[j] -= factor * pivot_row[j];
        }
    }
    return rank;
}

typedef struct rank_work {
    const rows_view *view;
    const active_rows *active;
    double *matrix;   /* over the unknowns */
    double *scale;    /* of each unknown: 1 / sqrt(diagonal) */
    uint32_t *member; /* unknowns, island after island */
    double *island;   /* matrix of one */
    uint32_t *row_order, *order;
    double *change, *entries; /* of all rows: a null vector; a row of the matrix */
    bool look_at_motion;
    uint8_t *indeterminate; /* of the unknowns */
    rg_uniqueness *result;
} rank_work;

/* Does a change of forces that leaves the active rows alone move others? */
static bool moves_others(rank_work *work) {
    const rows_view *view = work->view;
    for (size_t i = 0; i < view->rows; i++) {
        view_row(view, i, work->entries);
        double sum = 0, size = 0;
        for (size_t j = 0; j < view->rows; j++) {
            double term = work->entries[j] * work->change[j];
            sum += term, size += fabs(term);
        }
        if (fabs(sum) > NULL_TOLERANCE * size)
            return true;
    }
    return false;
}

static void note_null_vector(rank_work *work, const uint32_t *member, size_t size, size_t rank,
                             size_t column) {
    const active_rows *active = work->active;
    uint32_t free_one = work->order[column];
    work->indeterminate[member[free_one]] = 1;
    for (size_t k = 0; k < rank; k++)
        if (fabs(work->island[work->row_order[k] * size + free_one]) > NULL_TOLERANCE)
            work->indeterminate[member[work->order[k]]] = 1;
    if (!work->look_at_motion || !work->result->motion_unique)
        return;
    memset(work->change, 0, work->view->rows * sizeof *work->change);
    for (size_t i = 0; i < work->view->rows; i++) {
        if (active->owner[i] == RG_NO_BLOCK)
            continue;
        double value = 0;
        for (size_t k = 0; k < size; k++) {
            if (member[work->order[k]] != active->owner[i])
                continue;
            if (k < rank)
                value = -work->island[work->row_order[k] * size + free_one];
            else if (k == column)
                value = 1;
        }
        work->change[i] = active->weight[i] * value * work->scale[active->owner[i]];
    }
    if (moves_others(work))
        work->result->motion_unique = false;
}

static void look_at_island(rank_work *work, const uint32_t *member, size_t size) {
    size_t count = work->active->count;
    for (size_t i = 0; i < size; i++)
        for (size_t j = 0; j < size; j++)
            work->island[i * size + j] = work->matrix[member[i] * count + member[j]];
    size_t rank = eliminate(size, work->island, work->row_order, work->order);
    work->result->rank += rank;
    for (size_t c = rank; c < size; c++)
        note_null_vector(work, member, size, rank, c);
}

/* Unknowns that are connected by entries of the matrix, one group after the other. */
static void look_at_islands(rank_work *work, uint8_t *seen) {
    size_t count = work->active->count, done = 0;
    memset(seen, 0, count);
    for (size_t start = 0; start < count; start++) {
        if (seen[start])
            continue;
        size_t first = done, next = done;
        seen[start] = 1;
        work->member[done++] = (uint32_t)start;
        for (; next < done; next++) {
            size_t i = work->member[next];
            for (size_t j = 0; j < count; j++)
                if (!seen[j] &&
                    (work->matrix[i * count + j] != 0 || work->matrix[j * count + i] != 0))
                    seen[j] = 1, work->member[done++] = (uint32_t)j;
        }
        look_at_island(work, work->member + first, done - first);
    }
}

/* A^: rows and columns of the unknowns, columns with what follows them, equilibrated. */
static void fill_matrix(rank_work *work) {
    const active_rows *active = work->active;
    const rows_view *view = work->view;
    size_t count = active->count;
    for (size_t i = 0; i < count; i++) {
        double diagonal = view->diagonal[active->row[i]];
        work->scale[i] = diagonal > 0 ? 1 / sqrt(diagonal) : 1;
    }
    memset(work->matrix, 0, count * count * sizeof *work->matrix);
    for (size_t i = 0; i < count; i++) {
        view_row(view, active->row[i], work->entries);
        for (size_t j = 0; j < view->rows; j++)
            if (active->owner[j] != RG_NO_BLOCK)
                work->matrix[i * count + active->owner[j]] += active->weight[j] * work->entries[j] *
                                                              work->scale[i] *
                                                              work->scale[active->owner[j]];
    }
}

static rg_status find_rank(rg_solve_context *context, const rows_view *view,
                           const active_rows *active, bool look_at_motion, rg_uniqueness *result,
                           uint8_t *indeterminate, rg_error *error) {
    size_t count = active->count;
    rank_work work = {.view = view,
                      .active = active,
                      .look_at_motion = look_at_motion,
                      .indeterminate = indeterminate,
                      .result = result};
    uint8_t *seen;
    RG_TAKE(work.matrix, context, count * count, error);
    RG_TAKE(work.island, context, count * count, error);
    RG_TAKE(work.scale, context, count, error);
    RG_TAKE(work.member, context, count, error);
    RG_TAKE(work.row_order, context, count, error);
    RG_TAKE(work.order, context, count, error);
    RG_TAKE(work.change, context, view->rows, error);
    RG_TAKE(work.entries, context, view->rows, error);
    RG_TAKE(seen, context, count, error);
    memset(indeterminate, 0, count);
    fill_matrix(&work);
    look_at_islands(&work, seen);
    return RG_OK;
}

/* --- several motions -------------------------------------------------------------------------- */

/* All solutions of a small problem, ordered by the sum of their normal forces. */
typedef struct solution_list {
    size_t rows, kept;
    rg_solution_set set;
    double *forces, *velocities; /* kept x rows */
    double *sum;                 /* of normal forces */
    uint32_t *order;
    bool several_motions;
} solution_list;

static bool is_normal(const rg_problem *problem, size_t row) {
    if (problem->kind == RG_PROBLEM_LINEAR)
        return rg_row_kind_at(&problem->linear, row) == RG_ROW_UNILATERAL;
    size_t d = (size_t)problem->contact.dimension;
    return row < problem->contact.contacts * d && row % d == 0;
}

static void compare_motions(solution_list *list, double scale) {
    for (size_t s = 1; s < list->kept; s++)
        for (size_t i = 0; i < list->rows; i++)
            if (fabs(list->velocities[s * list->rows + i] - list->velocities[i]) >
                MOTION_TOLERANCE * scale)
                list->several_motions = true;
}

/* RG_LIMIT_EXCEEDED or RG_UNSUPPORTED if there are too many modes. */
static rg_status list_solutions(rg_solve_context *context, const rg_problem *problem,
                                double tolerance, solution_list *list, rg_error *error) {
    *list = (solution_list){.rows = rg_problem_rows(problem)};
    RG_TAKE(list->forces, context, KEPT_MAX * list->rows, error);
    RG_TAKE(list->velocities, context, KEPT_MAX * list->rows, error);
    RG_TAKE(list->sum, context, KEPT_MAX, error);
    RG_TAKE(list->order, context, KEPT_MAX, error);
    rg_status status =
        rg_solve_all(context, problem, tolerance, list->forces, KEPT_MAX, &list->set, error);
    if (status)
        return status;
    list->kept = list->set.count < KEPT_MAX ? list->set.count : KEPT_MAX;
    for (size_t s = 0; s < list->kept; s++) {
        const double *f = list->forces + s * list->rows;
        list->sum[s] = 0;
        for (size_t i = 0; i < list->rows; i++)
            list->sum[s] += is_normal(problem, i) ? f[i] : 0;
        size_t at = s;
        for (; at > 0 && list->sum[list->order[at - 1]] > list->sum[s]; at--)
            list->order[at] = list->order[at - 1];
        list->order[at] = (uint32_t)s;
        status = rg_judge_velocity(problem, f, &context->allocator,
                                   list->velocities + s * list->rows, error);
        if (status)
            return status;
    }
    compare_motions(list, rg_problem_scale(problem));
    return RG_OK;
}

/* --- uniqueness ------------------------------------------------------------------------------- */

static rg_status find_uniqueness(rg_solve_context *context, const rg_problem *problem,
                                 const double *force, rg_uniqueness *result, uint8_t *indeterminate,
                                 rg_error *error) {
    rg_conversion local;
    rows_view view;
    active_rows active = {0};
    double *values;
    uint8_t *marks;
    rg_status status = view_make(context, problem, &local, &view, error);
    if (status)
        return status;
    RG_TAKE(values, context, view.rows, error);
    RG_TAKE(marks, context, view.rows, error);
    status = active_make(context, view.rows, &active, error);
    if (status)
        return status;
    view_apply(&view, force, values);
    if (problem->kind == RG_PROBLEM_LINEAR)
        activate_linear(&view, force, &active);
    else
        activate_contacts(&view, force, &active);
    bool symmetric =
        problem->kind == RG_PROBLEM_CONTACT || rg_linear_is_symmetric(&problem->linear);
    bool convex = symmetric && !problem_has_friction(problem);
    result->active_rows = active.count;
    result->motion_unique = true;
    status = find_rank(context, &view, &active, !convex, result, marks, error);
    if (status)
        return status;
    result->unique = result->rank == result->active_rows;
    for (size_t i = 0; i < view.rows; i++) {
        bool open =
            active.owner[i] != RG_NO_BLOCK && active.weight[i] != 0 && marks[active.owner[i]];
        result->indeterminate += open;
        if (indeterminate)
            indeterminate[i] = open;
    }
    if (convex || !result->motion_unique)
        return RG_OK;
    /* Other modes may hold other solutions. Where they can be counted, they are. */
    solution_list list;
    rg_error ignored;
    status = list_solutions(context, problem, ACTIVE_TOLERANCE, &list, &ignored);
    if (status == RG_LIMIT_EXCEEDED || status == RG_UNSUPPORTED)
        return RG_OK;
    if (status)
        return rg_fail(error, status, "%s", ignored.text);
    if (list.several_motions)
        result->motion_unique = result->unique = false;
    return RG_OK;
}

typedef struct nested {
    rg_arena_mark mark;
} nested;

static nested nested_begin(rg_solve_context *context) {
    context->depth++;
    return (nested){rg_arena_get_mark(&context->arena)};
}

static void nested_end(rg_solve_context *context, nested inside) {
    context->depth--;
    if (context->depth == 0)
        rg_arena_reset(&context->arena);
    else
        rg_arena_return(&context->arena, inside.mark);
}

rg_status rg_solution_uniqueness(rg_solve_context *context, const rg_problem *problem,
                                 const double *force, rg_uniqueness *uniqueness,
                                 uint8_t *indeterminate, rg_error *error) {
    *uniqueness = (rg_uniqueness){0};
    rg_status status = rg_problem_check(problem, error);
    if (status)
        return status;
    for (size_t i = 0; i < rg_problem_rows(problem); i++)
        if (!isfinite(force[i]))
            return rg_fail(error, RG_NOT_FINITE, "force[%zu] is not finite", i);
    nested inside = nested_begin(context);
    status = find_uniqueness(context, problem, force, uniqueness, indeterminate, error);
    nested_end(context, inside);
    return status;
}

/* --- friction in words ------------------------------------------------------------------------ */

/* The normal row at which a push, with the friction that comes along, is answered worst. */
typedef struct culprit {
    size_t row;
    double own, with_friction; /* acceleration of the row per unit of push */
    double b;
} culprit;

static rg_status find_culprit(rg_solve_context *context, const rg_problem *problem, culprit *worst,
                              rg_error *error) {
    rg_conversion local;
    rows_view view;
    double *values;
    rg_status status = view_make(context, problem, &local, &view, error);
    if (status)
        return status;
    RG_TAKE(values, context, view.rows, error);
    *worst = (culprit){.with_friction = INFINITY};
    for (size_t i = 0; i < view.rows; i++) {
        if (!is_normal(problem, i))
            continue;
        view_row(&view, i, values);
        double own = values[i], answer = own, b;
        if (problem->kind == RG_PROBLEM_LINEAR) {
            const rg_linear_problem *p = &problem->linear;
            b = p->b[i];
            for (size_t j = 0; j < p->size; j++) {
                rg_row_kind kind = rg_row_kind_at(p, j);
                if (kind == RG_ROW_DYNAMIC && p->normal[j] == i)
                    answer += p->mu[j] * values[j];
                else if (kind == RG_ROW_STATIC && p->normal[j] == i)
                    answer -= p->mu[j] * fabs(values[j]);
            }
        } else {
            const rg_contact_problem *p = &view.problem->contact;
            size_t d = (size_t)p->dimension;
            b = p->q[i];
            double grip = 0;
            for (size_t k = 1; k < d; k++)
                grip += values[i + k] * values[i + k];
            answer -= (p->mu ? p->mu[i / d] : 0) * sqrt(grip);
        }
        if (answer < worst->with_friction)
            *worst = (culprit){i, own, answer, b};
    }
    return RG_OK;
}

/* The direction of an impulse out of an inconsistent state: the ray on which the pivoting ended. */
static rg_status find_ray(rg_solve_context *context, const rg_problem *problem,
                          const rg_solve_settings *settings, double *ray, bool *found,
                          rg_error *error) {
    const rg_solver *const solvers[2] = {&rg_solver_dantzig, &rg_solver_lemke};
    size_t rows = rg_problem_rows(problem);
    double *force;
    RG_TAKE(force, context, rows, error);
    rg_solve_settings plain = *settings;
    plain.warm = false;
    *found = false;
    for (int k = 0; k < 2 && !*found; k++) {
        memset(ray, 0, rows * sizeof *ray);
        rg_solution solution = {.force = force, .ray = ray};
        rg_solve_info info;
        rg_status status = rg_solve(context, solvers[k], problem, &plain, &solution, &info, error);
        if (status)
            return status;
        double largest = 0;
        for (size_t i = 0; i < rows; i++)
            largest = fmax(largest, fabs(ray[i]));
        *found = info.outcome == RG_SOLVE_RAY && largest > 0;
    }
    if (!*found)
        memset(ray, 0, rows * sizeof *ray);
    return RG_OK;
}

static void tell_culprit(const culprit *worst, char *text, size_t size) {
    if (worst->with_friction < 0)
        snprintf(text, size,
                 " At row %zu a push of 1 by itself accelerates the contact outwards by %.6g, but "
                 "with the friction that it brings along by %.6g: inwards.",
                 worst->row, worst->own, worst->with_friction);
    else
        snprintf(text, size, " No single contact is to blame: they work through each other.");
}

static rg_status tell_inconsistent(rg_solve_context *context, const rg_problem *problem,
                                   const rg_solve_settings *settings, rg_friction_report *report,
                                   rg_error *error) {
    culprit worst;
    bool found = false;
    double *own_ray = report->ray;
    if (!own_ray)
        RG_TAKE(own_ray, context, rg_problem_rows(problem), error);
    rg_status status = find_culprit(context, problem, &worst, error);
    if (!status)
        status = find_ray(context, problem, settings, own_ray, &found, error);
    if (status)
        return status;
    char cause[192];
    tell_culprit(&worst, cause, sizeof cause);
    report->verdict = RG_FRICTION_INCONSISTENT;
    snprintf(report->text, sizeof report->text,
             "Inconsistent: no forces obey the laws of contact and friction (all %zu modes tried)."
             "%s Without force it has %.6g. Only an impulse helps%s.",
             report->set.modes, cause, worst.b,
             found ? "; its direction is given" : ", whose direction was not found");
    return RG_OK;
}

static rg_status tell_indeterminate(rg_solve_context *context, const rg_problem *problem,
                                    const solution_list *list, const rg_solve_settings *settings,
                                    rg_friction_report *report, rg_error *error) {
    culprit worst;
    rg_status status = find_culprit(context, problem, &worst, error);
    if (status)
        return status;
    size_t least = list->order[0], most = list->order[list->kept - 1], differs = 0;
    double largest = -1;
    for (size_t i = 0; i < list->rows; i++) {
        double difference = fabs(list->velocities[least * list->rows + i] -
                                 list->velocities[most * list->rows + i]);
        if (is_normal(problem, i) && difference > largest)
            largest = difference, differs = i;
    }
    char cause[192];
    tell_culprit(&worst, cause, sizeof cause);
    report->verdict = RG_FRICTION_INDETERMINATE;
    snprintf(report->text, sizeof report->text,
             "Indeterminate: %zu solutions%s with different motions (all %zu modes tried). Normal "
             "forces sum to %.7g at the least, row %zu then having the acceleration %.7g, or to "
             "%.7g at the most, then %.7g.%s The policy takes the %s.",
             list->set.count, list->set.continuum ? " and more between them" : "", list->set.modes,
             list->sum[least], differs, list->velocities[least * list->rows + differs],
             list->sum[most], list->velocities[most * list->rows + differs], cause,
             settings->policy == RG_POLICY_LARGEST_FORCE ? "largest" : "smallest");
    return RG_OK;
}

/* Solutions in the order of their sums; what the policy picks is among those that fit. */
static void hand_over(const solution_list *list, const rg_solve_settings *settings,
                      rg_friction_report *report) {
    if (!list->kept)
        return;
    size_t chosen = settings->policy == RG_POLICY_LARGEST_FORCE ? list->kept - 1 : 0;
    size_t count = list->kept < report->capacity ? list->kept : report->capacity;
    for (size_t s = 0; s < count; s++) {
        size_t from = s + 1 == count && chosen >= count ? chosen : s;
        memcpy(report->forces + s * list->rows, list->forces + list->order[from] * list->rows,
               list->rows * sizeof *report->forces);
    }
    report->chosen = count && chosen >= count ? count - 1 : chosen;
}

static rg_status explain(rg_solve_context *context, const rg_problem *problem,
                         const rg_solve_settings *settings, rg_friction_report *report,
                         rg_error *error) {
    solution_list list;
    rg_error inner = {0};
    rg_status status = list_solutions(context, problem, settings->tolerance, &list, &inner);
    if (status == RG_LIMIT_EXCEEDED || status == RG_UNSUPPORTED) {
        report->verdict = RG_FRICTION_UNDECIDED;
        snprintf(report->text, sizeof report->text, "Undecided: %.480s.", inner.text);
        return RG_OK;
    }
    if (status)
        return rg_fail(error, status, "%s", inner.text);
    report->set = list.set;
    hand_over(&list, settings, report);
    if (!list.kept && !list.set.continuum)
        return tell_inconsistent(context, problem, settings, report, error);
    if (list.several_motions)
        return tell_indeterminate(context, problem, &list, settings, report, error);
    report->verdict = RG_FRICTION_REGULAR;
    snprintf(report->text, sizeof report->text, "Regular: one motion (all %zu modes tried)%s",
             list.set.modes,
             list.set.count > 1 || list.set.continuum
                 ? "; the forces behind it are not the only ones."
                 : ".");
    return RG_OK;
}

rg_status rg_friction_explain(rg_solve_context *context, const rg_problem *problem,
                              const rg_solve_settings *settings, rg_friction_report *report,
                              rg_error *error) {
    *report = (rg_friction_report){
        .forces = report->forces, .capacity = report->capacity, .ray = report->ray};
    rg_solve_settings defaults = rg_solve_settings_default();
    rg_status status = rg_problem_check(problem, error);
    if (status)
        return status;
    nested inside = nested_begin(context);
    status = explain(context, problem, settings ? settings : &defaults, report, error);
    nested_end(context, inside);
    return status;
}
