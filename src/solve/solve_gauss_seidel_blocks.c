/* Set-up of block Gauss-Seidel: which rows are solved together, under which law, with which columns
 * of the matrix (local and linear form) or bodies (global form). Costs one pass over the problem.
 * Tested by tests/solve/test_gauss_seidel.c. */
#include "solve/solve_gauss_seidel.h"

#include "base/base_math.h"
#include "problem/problem.h"

#include <stdio.h>
#include <string.h>

/* --- contact problems ------------------------------------------------------------------------- */

static void add_contact(rg_sweep_block *b, int width, const double *w, double mu, int directions) {
    double trace = 0;
    for (int k = 0; k < width; k++)
        trace += w[k * width + k];
    b->law = RG_SWEEP_CONTACT;
    b->width = width;
    rg_one_contact_prepare(&b->one, width, w, mu, directions);
    b->movable = b->one.normal_inverse > 0;
    b->stiffness = trace > 0 ? trace / width : 1;
}

static void add_interval(rg_sweep_block *b, double diagonal, double lower, double upper) {
    b->law = RG_SWEEP_INTERVAL;
    b->width = 1;
    b->movable = diagonal > 0;
    b->stiffness = b->diagonal = diagonal > 0 ? diagonal : 1;
    b->lower = lower, b->upper = upper;
}

static void joint_bounds(const rg_contact_problem *p, size_t joint, double *lower, double *upper) {
    *lower = p->lower ? p->lower[joint] : -INFINITY;
    *upper = p->upper ? p->upper[joint] : INFINITY;
}

/* A block of a contact problem: its law, from its diagonal block of W. */
static void add_contact_or_joint(const rg_contact_problem *p, size_t index, const double *w,
                                 rg_sweep_block *b) {
    int d = p->dimension;
    if (index < p->contacts) {
        add_contact(b, d, w, p->mu ? p->mu[index] : 0, p->directions);
        for (int k = 0; k < d; k++)
            b->rows[k] = (uint32_t)(index * (size_t)d + (size_t)k);
    } else {
        double lower, upper;
        joint_bounds(p, index - p->contacts, &lower, &upper);
        add_interval(b, w[0], lower, upper);
        b->rows[0] = (uint32_t)(p->contacts * (size_t)d + index - p->contacts);
    }
}

/* J and M^-1 J' of one block, and W_ii. `lower`: factors of the masses. */
static void prepare_pair(rg_sweeper *s, const rg_contact_problem *p, const double *lower,
                         size_t index) {
    const rg_global_form *g = &p->global;
    bool contact = index < p->contacts;
    size_t n = (size_t)g->freedom, d = (size_t)p->dimension, joint = index - p->contacts;
    size_t width = contact ? d : 1;
    const uint32_t *bodies = contact ? g->contact_blocks + 2 * index : g->joint_blocks + 2 * joint;
    const double *rows =
        contact ? g->contact_jacobian + index * 2 * d * n : g->joint_jacobian + joint * 2 * n;
    double w[9] = {0}, *j = s->j + index * 8 * n, *y = s->y + index * 6 * n;
    memset(j, 0, 8 * n * sizeof *j);
    for (size_t side = 0; side < 2; side++) {
        s->blocks[index].bodies[side] = bodies[side];
        for (size_t k = 0; k < width && bodies[side] != RG_NO_BLOCK; k++) {
            const double *row = rows + (side * width + k) * n;
            double *solved = y + (side * 3 + k) * n;
            for (size_t i = 0; i < n; i++)
                j[(side * n + i) * 4 + k] = solved[i] = row[i];
            rg_mass_solve(lower + bodies[side] * n * n, g->freedom, solved);
        }
    }
    for (size_t side = 0; side < 2; side++)
        for (size_t other = 0; other < 2; other++) { /* both may be the same body */
            if (bodies[side] == RG_NO_BLOCK || bodies[side] != bodies[other])
                continue;
            for (size_t a = 0; a < width; a++)
                for (size_t b = 0; b < width; b++)
                    for (size_t i = 0; i < n; i++)
                        w[a * width + b] +=
                            rows[(side * width + a) * n + i] * y[(other * 3 + b) * n + i];
        }
    add_contact_or_joint(p, index, w, &s->blocks[index]);
}

static rg_status prepare_global(rg_sweeper *s, rg_solve_context *context,
                                const rg_contact_problem *p, rg_error *error) {
    const rg_global_form *g = s->global = &p->global;
    size_t n = s->freedom = (size_t)g->freedom;
    s->bodies = g->blocks;
    double *lower;
    RG_TAKE(lower, context, g->blocks * n * n, error);
    RG_TAKE(s->velocity, context, g->blocks * n, error);
    RG_TAKE(s->j, context, s->block_count * 8 * n, error);
    RG_TAKE(s->y, context, s->block_count * 6 * n, error);
    for (size_t body = 0; body < g->blocks; body++)
        if (!rg_mass_factor(g->mass + body * n * n, g->freedom, lower + body * n * n))
            return rg_fail(error, RG_INVALID_ARGUMENT, "mass block %zu is not positive definite",
                           body);
    for (size_t index = 0; index < s->block_count; index++)
        prepare_pair(s, p, lower, index);
    return RG_OK;
}

/* Columns of a matrix where a row of the block is not zero, ascending; values, three (or for a
 * single row one) a column, if `value` is there. */
static size_t gather_columns(const rg_matrix *m, const rg_sweep_block *b, uint32_t *column,
                             double *value) {
    size_t at[3] = {0}, count = 0, stride = b->width == 1 ? 1 : 3;
    for (int k = 0; k < b->width; k++)
        at[k] = m->dense ? 0 : m->starts[b->rows[k]];
    for (size_t next = 0; next < m->columns; next++) {
        double x[3] = {0};
        bool any = false;
        if (!m->dense) { /* on to the next column that is stored in one of the rows */
            next = m->columns;
            for (int k = 0; k < b->width; k++)
                if (at[k] < m->starts[b->rows[k] + 1] && m->indices[at[k]] < next)
                    next = m->indices[at[k]];
            if (next == m->columns)
                break;
        }
        for (int k = 0; k < b->width; k++) {
            if (m->dense)
                x[k] = m->dense[b->rows[k] * m->columns + next];
            else if (at[k] < m->starts[b->rows[k] + 1] && m->indices[at[k]] == next)
                x[k] = m->values[at[k]++];
            any = any || x[k] != 0;
        }
        if (any && value) {
            column[count] = (uint32_t)next;
            for (size_t k = 0; k < stride; k++)
                value[stride * count + k] = x[k];
        }
        count += any;
    }
    return count;
}

static rg_status prepare_local(rg_sweeper *s, rg_solve_context *context,
                               const rg_contact_problem *p, rg_error *error) {
    size_t d = (size_t)p->dimension, total = 0;
    for (size_t index = 0; index < s->block_count; index++) {
        bool contact = index < p->contacts;
        size_t width = contact ? d : 1;
        size_t first = contact ? index * d : p->contacts * d + index - p->contacts;
        double w[9];
        for (size_t k = 0; k < width; k++)
            rg_matrix_row_part(&p->w, first + k, first, width, w + k * width);
        rg_sweep_block *b = &s->blocks[index];
        add_contact_or_joint(p, index, w, b);
        b->panel = total;
        b->columns = gather_columns(&p->w, b, NULL, NULL);
        total += b->columns;
    }
    RG_TAKE(s->column, context, total, error);
    RG_TAKE(s->value, context, 3 * total, error);
    for (size_t index = 0; index < s->block_count; index++) {
        rg_sweep_block *b = &s->blocks[index];
        gather_columns(&p->w, b, s->column + b->panel, s->value + 3 * b->panel);
    }
    return RG_OK;
}

/* --- linear problems -------------------------------------------------------------------------- */

/* Which friction rows a normal row has. */
typedef struct companions {
    uint32_t *statics; /* rows: how many static rows a normal row has */
    uint32_t *only;    /* rows: the last of them */
} companions;

/* Entries of a row with the dynamic rows' columns joined to their normals'. */
static void substituted_row(const rg_linear_problem *p, size_t row, double *out) {
    memcpy(out, rg_linear_row(p, row), p->size * sizeof *out);
    for (size_t k = 0; p->kinds && k < p->size; k++)
        if (p->kinds[k] == RG_ROW_DYNAMIC) {
            out[p->normal[k]] += p->mu[k] * out[k];
            out[k] = 0;
        }
}

static void linear_bounds(const rg_linear_problem *p, size_t row, double *lower, double *upper) {
    rg_row_kind kind = rg_row_kind_at(p, row);
    *lower = kind == RG_ROW_UNILATERAL ? 0 : kind == RG_ROW_FREE ? -INFINITY : p->lower[row];
    *upper = kind == RG_ROW_BOUNDED ? p->upper[row] : INFINITY;
}

/* The law of the block of `row`; `scratch` has the block's rows (3 x size). */
static void add_linear_block(const rg_linear_problem *p, const companions *c, size_t row,
                             const double *scratch, rg_sweep_block *b) {
    size_t n = p->size;
    double own = rg_linear_row(p, row)[row];
    b->rows[0] = (uint32_t)row;
    if (rg_row_kind_at(p, row) == RG_ROW_STATIC) {
        b->law = RG_SWEEP_STATIC;
        b->width = 1;
        b->movable = scratch[row] > 0;
        b->diagonal = scratch[row];
        b->mu = p->mu[row];
        b->normal = p->normal[row];
    } else if (rg_row_kind_at(p, row) == RG_ROW_UNILATERAL && c->statics[row] == 1) {
        uint32_t f = c->only[row];
        double w[4] = {scratch[row], scratch[f], scratch[n + row], scratch[n + f]};
        add_contact(b, 2, w, p->mu[f], 0);
        b->rows[1] = f;
    } else {
        double lower, upper;
        linear_bounds(p, row, &lower, &upper);
        add_interval(b, scratch[row], lower, upper);
    }
    if (b->width == 1)
        b->stiffness = own > 0 ? own : 1;
}

static bool is_row_zero(const double *row, size_t size) {
    for (size_t j = 0; j < size; j++)
        if (row[j] != 0)
            return false;
    return true;
}

/* Is the row solved with another, or not at all? */
static bool has_no_block(const rg_linear_problem *p, const companions *c, size_t row) {
    rg_row_kind kind = rg_row_kind_at(p, row);
    return kind == RG_ROW_DYNAMIC || (kind == RG_ROW_STATIC && c->statics[p->normal[row]] == 1);
}

static rg_status prepare_linear(rg_sweeper *s, rg_solve_context *context,
                                const rg_linear_problem *p, rg_solve_report *report,
                                rg_error *error) {
    size_t n = p->size, total = 0;
    double *scratch;
    companions c;
    RG_TAKE(scratch, context, 3 * n, error);
    RG_TAKE(c.statics, context, n, error);
    RG_TAKE(c.only, context, n, error);
    memset(c.statics, 0, n * sizeof *c.statics);
    for (size_t row = 0; row < n; row++)
        if (rg_row_kind_at(p, row) == RG_ROW_STATIC)
            c.statics[p->normal[row]]++, c.only[p->normal[row]] = (uint32_t)row;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            total += rg_linear_row(p, i)[j] != 0;
    /* Substitution moves entries and adds none; a block has the columns of its rows at most. */
    RG_TAKE(s->column, context, total, error);
    RG_TAKE(s->value, context, 3 * total, error);
    total = s->block_count = 0;
    for (size_t row = 0; row < n; row++) {
        if (has_no_block(p, &c, row))
            continue;
        rg_sweep_block *b = &s->blocks[s->block_count++];
        substituted_row(p, row, scratch);
        memset(scratch + n, 0, 2 * n * sizeof *scratch);
        if (c.statics[row] == 1)
            substituted_row(p, c.only[row], scratch + n);
        add_linear_block(p, &c, row, scratch, b);
        if (!b->movable && !is_row_zero(scratch, n)) {
            report->outcome = RG_SOLVE_UNSUITABLE;
            snprintf(report->text, sizeof report->text,
                     "row %zu has no positive diagonal entry: its force cannot be found alone",
                     row);
            return RG_OK;
        }
        size_t stride = b->width == 1 ? 1 : 3;
        b->panel = total;
        b->columns = 0;
        for (size_t j = 0; j < n; j++)
            if (scratch[j] != 0 || (stride == 3 && scratch[n + j] != 0)) {
                s->column[total + b->columns] = (uint32_t)j;
                for (size_t k = 0; k < stride; k++)
                    s->value[3 * total + stride * b->columns + k] = scratch[k * n + j];
                b->columns++;
            }
        total += b->columns;
    }
    return RG_OK;
}

/* --- either ----------------------------------------------------------------------------------- */

rg_status rg_sweeper_prepare(rg_sweeper *s, rg_solve_context *context, const rg_problem *problem,
                             rg_solution *solution, rg_solve_report *report, rg_error *error) {
    const rg_contact_problem *contact = &problem->contact;
    bool linear = problem->kind == RG_PROBLEM_LINEAR;
    *s = (rg_sweeper){.context = context,
                      .problem = problem,
                      .rows = rg_problem_rows(problem),
                      .q = linear ? problem->linear.b : contact->q,
                      .force = solution->force,
                      .scale = rg_problem_scale(problem)};
    s->block_count = linear ? s->rows : contact->contacts + contact->joints;
    RG_TAKE(s->blocks, context, s->block_count, error);
    memset(s->blocks, 0, s->block_count * sizeof *s->blocks);
    if (linear)
        return prepare_linear(s, context, &problem->linear, report, error);
    return contact->form == RG_FORM_GLOBAL ? prepare_global(s, context, contact, error)
                                           : prepare_local(s, context, contact, error);
}
