/* Problems in another form, for solvers that take only that: global contact problems condensed to
 * W = J M^-1 J', frictionless and planar contacts as rows, the friction polygon as a mixed LCP
 * (Hart-Anitescu 2010, 4.11-4.12). Each changes the form and not the problem; rg_convert_back
 * brings the forces home. */
#include "base/base_math.h"
#include "problem/problem.h"
#include "solve/solve.h"
#include "solve/solve_dantzig.h"

#include <assert.h>
#include <string.h>

/* --- global to local -------------------------------------------------------------------------- */

/* Rows of the contact problem that appear in the linear one: all in the plane with friction,
 * normals and joints otherwise. */
static size_t kept_per_contact(const rg_contact_problem *p) {
    bool friction = false;
    for (size_t i = 0; p->mu && p->dimension == 2 && i < p->contacts; i++)
        friction |= p->mu[i] > 0;
    return friction ? 2 : 1;
}

static size_t original_row(const rg_contact_problem *p, size_t kept, size_t row) {
    size_t d = (size_t)p->dimension;
    if (row < p->contacts * kept)
        return row / kept * d + row % kept;
    return p->contacts * d + (row - p->contacts * kept);
}

/* The Jacobian of a row at one of its two blocks. */
typedef struct row_part {
    const double *jacobian;
    uint32_t block;
} row_part;

/* Those of the first `kept` rows of every contact, and of the joints: two each. */
static void list_parts(const rg_contact_problem *p, size_t kept, row_part *parts) {
    const rg_global_form *g = &p->global;
    size_t d = (size_t)p->dimension, n = (size_t)g->freedom;
    for (size_t i = 0; i < p->contacts; i++)
        for (size_t k = 0; k < kept; k++)
            for (size_t side = 0; side < 2; side++)
                *parts++ = (row_part){g->contact_jacobian + ((2 * i + side) * d + k) * n,
                                      g->contact_blocks[2 * i + side]};
    for (size_t side = 0; side < 2 * p->joints; side++)
        *parts++ = (row_part){g->joint_jacobian + side * n, g->joint_blocks[side]};
}

/* The parts of rows that touch each block: parts [first[b], first[b + 1]) of `list`. A row with
 * both sides at one block is there twice. */
typedef struct block_rows {
    size_t *first;
    uint32_t *list;
} block_rows;

static rg_status list_rows(rg_solve_context *context, const row_part *parts, size_t rows,
                           size_t blocks, block_rows *touching, rg_error *error) {
    RG_TAKE(touching->first, context, blocks + 2, error);
    RG_TAKE(touching->list, context, 2 * rows, error);
    size_t *first = touching->first;
    memset(first, 0, (blocks + 2) * sizeof *first);
    for (size_t k = 0; k < 2 * rows; k++)
        if (parts[k].block != RG_NO_BLOCK)
            first[parts[k].block + 2]++;
    for (size_t b = 0; b < blocks; b++)
        first[b + 2] += first[b + 1];
    for (size_t k = 0; k < 2 * rows; k++)
        if (parts[k].block != RG_NO_BLOCK)
            touching->list[first[parts[k].block + 1]++] = (uint32_t)k;
    return RG_OK;
}

/* What one side of a row adds to the lower half of its row of W: x = M^-1 J' of that block, times
 * the rows that touch it, which are in ascending order. */
static void add_side(const row_part *parts, size_t n, const block_rows *touching, size_t row,
                     uint32_t block, const double *x, double *w) {
    for (size_t k = touching->first[block]; k < touching->first[block + 1]; k++) {
        size_t column = touching->list[k] / 2;
        if (column > row)
            break;
        /* Of two sides at one block the first, twice. */
        const row_part *at = &parts[2 * column];
        const double *there = at->block == block ? at->jacobian : at[1].jacobian;
        for (size_t c = 0; c < n; c++)
            w[column] += x[c] * there[c];
    }
}

/* What the rows of W are made of. */
typedef struct condensing {
    const rg_contact_problem *problem;
    size_t kept, rows;
    row_part *parts;
    double *lower; /* factors of the masses */
    block_rows touching;
} condensing;

static rg_status begin_condensing(rg_solve_context *context, const rg_contact_problem *p,
                                  size_t kept, condensing *c, rg_error *error) {
    const rg_global_form *g = &p->global;
    size_t n = (size_t)g->freedom;
    c->problem = p, c->kept = kept;
    c->rows = p->contacts * kept + p->joints;
    RG_TAKE(c->lower, context, g->blocks * n * n, error);
    RG_TAKE(c->parts, context, 2 * c->rows, error);
    list_parts(p, kept, c->parts);
    for (size_t b = 0; b < g->blocks; b++)
        rg_mass_factor(g->mass + b * n * n, g->freedom, c->lower + b * n * n);
    return list_rows(context, c->parts, c->rows, g->blocks, &c->touching, error);
}

/* Adds to the lower half of a row of W, which is zero as yet, and returns its entry of q. */
static double condense_row(const condensing *c, size_t row, double *w) {
    const rg_global_form *g = &c->problem->global;
    size_t n = (size_t)g->freedom;
    double q = c->problem->q[original_row(c->problem, c->kept, row)];
    for (size_t side = 0; side < 2; side++) {
        uint32_t block = c->parts[2 * row + side].block;
        const double *jacobian = c->parts[2 * row + side].jacobian;
        if (block == RG_NO_BLOCK)
            continue;
        double x[6];
        for (size_t k = 0; k < n; k++) {
            x[k] = jacobian[k];
            q += jacobian[k] * g->free_velocity[block * n + k];
        }
        rg_mass_solve(c->lower + block * n * n, g->freedom, x);
        add_side(c->parts, n, &c->touching, row, block, x, w);
    }
    return q;
}

/* W_ij = sum over shared blocks of J_i M^-1 J_j' and q_i = q + J_i v, of the first `kept` rows of
 * every contact and the joints. Row i times M^-1 first, then only the rows j that touch the same
 * blocks matter; a list of rows per block finds them. */
static rg_status condense(rg_solve_context *context, const rg_contact_problem *p, size_t kept,
                          double **matrix, double **shift, rg_error *error) {
    condensing c;
    double *w, *q;
    rg_status status = begin_condensing(context, p, kept, &c, error);
    if (status)
        return status;
    size_t rows = c.rows;
    RG_TAKE(w, context, rows * rows, error);
    RG_TAKE(q, context, rows, error);
    memset(w, 0, rows * rows * sizeof *w);
    for (size_t row = 0; row < rows; row++)
        q[row] = condense_row(&c, row, w + row * rows);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = i + 1; j < rows; j++)
            w[i * rows + j] = w[j * rows + i];
    size_t joint_row = rows - p->joints;
    for (size_t j = 0; p->compliance && j < p->joints; j++)
        w[(joint_row + j) * (rows + 1)] += p->compliance[j];
    *matrix = w, *shift = q;
    return RG_OK;
}

/* --- the same by its entries ------------------------------------------------------------------ */

/* Lower halves of rows, as they are made. */
typedef struct lower_rows {
    size_t *starts;
    uint32_t *columns;
    double *values;
    double *row;    /* zero, between two rows */
    uint8_t *taken; /* likewise: columns of the row */
} lower_rows;

/* At most, and with those of the upper half: two rows have an entry if they share a block. */
static size_t count_entries(const condensing *c) {
    size_t sum = 0;
    for (size_t b = 0; b < c->problem->global.blocks; b++) {
        size_t rows = c->touching.first[b + 1] - c->touching.first[b];
        sum += rows * rows;
    }
    return sum;
}

/* Columns up to `row` of one block of it, put where they belong: two lists, and there are few. */
static size_t take_columns(const condensing *c, size_t row, uint32_t block, size_t first,
                           size_t next, lower_rows *lower) {
    for (size_t k = c->touching.first[block]; k < c->touching.first[block + 1]; k++) {
        uint32_t column = c->touching.list[k] / 2;
        if (column > row)
            break;
        if (lower->taken[column])
            continue;
        lower->taken[column] = 1;
        size_t at = next++;
        for (; at > first && lower->columns[at - 1] > column; at--)
            lower->columns[at] = lower->columns[at - 1];
        lower->columns[at] = column;
    }
    return next;
}

/* Row by row into a row of zeros, of which only the entries are looked at. */
static void make_lower_rows(const condensing *c, lower_rows *lower, double *q) {
    size_t next = 0;
    memset(lower->row, 0, c->rows * sizeof *lower->row);
    memset(lower->taken, 0, c->rows);
    for (size_t row = 0; row < c->rows; row++) {
        size_t first = lower->starts[row] = next, end = next;
        q[row] = condense_row(c, row, lower->row);
        for (size_t side = 0; side < 2; side++)
            if (c->parts[2 * row + side].block != RG_NO_BLOCK)
                end = take_columns(c, row, c->parts[2 * row + side].block, first, end, lower);
        for (size_t k = first; k < end; k++) {
            uint32_t column = lower->columns[k];
            lower->columns[next] = column;
            lower->values[next] = lower->row[column];
            next += lower->row[column] != 0;
            lower->row[column] = 0;
            lower->taken[column] = 0;
        }
    }
    lower->starts[c->rows] = next;
}

/* Both halves: rows get their own entries, then those of later rows in their order. */
static void mirror(const lower_rows *lower, size_t n, size_t *starts, uint32_t *columns,
                   double *values) {
    memset(starts, 0, (n + 2) * sizeof *starts);
    for (size_t i = 0; i < n; i++)
        for (size_t k = lower->starts[i]; k < lower->starts[i + 1]; k++) {
            starts[i + 2]++;
            starts[lower->columns[k] + 2] += lower->columns[k] != i;
        }
    for (size_t i = 0; i < n; i++)
        starts[i + 2] += starts[i + 1];
    for (size_t i = 0; i < n; i++)
        for (size_t k = lower->starts[i]; k < lower->starts[i + 1]; k++) {
            size_t column = lower->columns[k], at = starts[i + 1]++;
            columns[at] = (uint32_t)column, values[at] = lower->values[k];
            if (column == i)
                continue;
            at = starts[column + 1]++;
            columns[at] = (uint32_t)i, values[at] = lower->values[k];
        }
}

/* The normal rows of contacts without joints. The entries are null if they are not few. */
static rg_status condense_entries(rg_solve_context *context, const rg_contact_problem *p,
                                  rg_entries *entries, double **shift, rg_error *error) {
    condensing c;
    lower_rows lower;
    size_t *starts;
    uint32_t *columns;
    double *values;
    *entries = (rg_entries){0};
    rg_status status = begin_condensing(context, p, 1, &c, error);
    if (status)
        return status;
    size_t n = c.rows, most = count_entries(&c);
    if (most / 2 > n * n / RG_ENTRIES_SHARE) /* two rows share two blocks at most */
        return RG_OK;
    RG_TAKE(lower.starts, context, n + 1, error);
    RG_TAKE(lower.columns, context, most, error);
    RG_TAKE(lower.values, context, most, error);
    RG_TAKE(lower.row, context, n, error);
    RG_TAKE(lower.taken, context, n, error);
    RG_TAKE(starts, context, n + 2, error);
    RG_TAKE(columns, context, most, error);
    RG_TAKE(values, context, most, error);
    RG_TAKE(*shift, context, n, error);
    make_lower_rows(&c, &lower, *shift);
    mirror(&lower, n, starts, columns, values);
    /* As where the entries of a matrix are listed: those of its last row do not count. */
    if (starts[n - 1] <= n * n / RG_ENTRIES_SHARE)
        *entries = (rg_entries){starts, columns, values};
    return RG_OK;
}

static rg_status to_local(rg_solve_context *context, const rg_problem *problem,
                          rg_conversion *conversion, rg_error *error) {
    const rg_contact_problem *p = &problem->contact;
    size_t rows = rg_contact_rows(p);
    double *w, *q;
    rg_status status = condense(context, p, (size_t)p->dimension, &w, &q, error);
    if (status)
        return status;
    conversion->problem.contact.compliance = NULL;
    conversion->problem.contact.form = RG_FORM_LOCAL;
    conversion->problem.contact.w = (rg_matrix){.rows = rows, .columns = rows, .dense = w};
    conversion->problem.contact.q = q;
    return RG_OK;
}

/* --- contacts to rows ------------------------------------------------------------------------- */

typedef struct row_laws {
    uint8_t *kinds;
    double *lower, *upper, *mu;
    uint32_t *normal;
} row_laws;

static rg_status take_laws(rg_solve_context *context, size_t size, row_laws *laws,
                           rg_error *error) {
    RG_TAKE(laws->kinds, context, size, error);
    RG_TAKE(laws->lower, context, size, error);
    RG_TAKE(laws->upper, context, size, error);
    RG_TAKE(laws->mu, context, size, error);
    RG_TAKE(laws->normal, context, size, error);
    for (size_t i = 0; i < size; i++) {
        laws->kinds[i] = RG_ROW_UNILATERAL;
        laws->lower[i] = 0, laws->upper[i] = INFINITY, laws->mu[i] = 0, laws->normal[i] = 0;
    }
    return RG_OK;
}

static void set_joint_law(const rg_contact_problem *p, size_t joint, row_laws *laws, size_t row) {
    laws->lower[row] = p->lower ? p->lower[joint] : -INFINITY;
    laws->upper[row] = p->upper ? p->upper[joint] : INFINITY;
    if (laws->lower[row] == -INFINITY && laws->upper[row] == INFINITY)
        laws->kinds[row] = RG_ROW_FREE;
    else if (!(laws->lower[row] == 0 && laws->upper[row] == INFINITY))
        laws->kinds[row] = RG_ROW_BOUNDED;
}

static void set_linear(rg_conversion *conversion, size_t size, const double *matrix,
                       const double *b, const row_laws *laws) {
    conversion->problem.kind = RG_PROBLEM_LINEAR;
    conversion->problem.linear = (rg_linear_problem){
        .size = size,
        .matrix = matrix,
        .stride = size,
        .b = b,
        .kinds = laws->kinds,
        .lower = laws->lower,
        .upper = laws->upper,
        .normal = laws->normal,
        .mu = laws->mu,
    };
}

/* The rows of a local problem that are kept. */
static rg_status pick_rows(rg_solve_context *context, const rg_contact_problem *p, size_t kept,
                           double **matrix, double **b, rg_error *error) {
    size_t size = p->contacts * kept + p->joints;
    double *row_values;
    RG_TAKE(*matrix, context, size * size, error);
    RG_TAKE(*b, context, size, error);
    RG_TAKE(row_values, context, rg_contact_rows(p), error);
    for (size_t i = 0; i < size; i++) {
        size_t from = original_row(p, kept, i);
        rg_matrix_row_part(&p->w, from, 0, rg_contact_rows(p), row_values);
        for (size_t j = 0; j < size; j++)
            (*matrix)[i * size + j] = row_values[original_row(p, kept, j)];
        (*b)[i] = p->q[from];
    }
    return RG_OK;
}

static rg_status to_rows(rg_solve_context *context, const rg_contact_problem *p,
                         rg_conversion *conversion, rg_error *error) {
    size_t kept = kept_per_contact(p), size = p->contacts * kept + p->joints;
    double *matrix, *b;
    row_laws laws;
    rg_status status = p->form == RG_FORM_GLOBAL ? condense(context, p, kept, &matrix, &b, error)
                                                 : pick_rows(context, p, kept, &matrix, &b, error);
    if (!status)
        status = take_laws(context, size, &laws, error);
    if (status)
        return status;
    for (size_t i = 0; i < size; i++) {
        if (i >= p->contacts * kept) {
            set_joint_law(p, i - p->contacts * kept, &laws, i);
        } else if (i % kept == 1) {
            laws.kinds[i] = RG_ROW_STATIC;
            laws.normal[i] = (uint32_t)(i - 1), laws.mu[i] = p->mu[i / kept];
        }
    }
    set_linear(conversion, size, matrix, b, &laws);
    return RG_OK;
}

/* Without friction and joints: the matrix by its entries, if they are few. */
static rg_status to_entries(rg_solve_context *context, const rg_contact_problem *p,
                            rg_conversion *conversion, rg_error *error) {
    double *b = NULL;
    row_laws laws;
    conversion->kind = RG_CONVERT_ROWS;
    if (p->contacts < RG_ENTRIES_ROWS)
        return to_rows(context, p, conversion, error);
    rg_arena_mark mark = rg_arena_get_mark(&context->arena);
    rg_status status = condense_entries(context, p, &conversion->entries, &b, error);
    if (!status && !conversion->entries.starts) {
        rg_arena_return(&context->arena, mark);
        return to_rows(context, p, conversion, error);
    }
    if (!status)
        status = take_laws(context, p->contacts, &laws, error);
    if (!status)
        set_linear(conversion, p->contacts, NULL, b, &laws);
    return status;
}

/* --- the polygon as a mixed LCP --------------------------------------------------------------- */

/* Unknowns: r_N per contact; beta, `corners` per contact; lambda per contact; joints. Planar
 * friction has two corners, +1 and -1. */
static int corners_of(const rg_contact_problem *p) {
    return p->dimension == 2 ? 2 : p->directions;
}

static void corner(const rg_contact_problem *p, int k, double direction[2]) {
    if (p->dimension == 2)
        direction[0] = k == 0 ? 1 : -1, direction[1] = 0;
    else
        rg_polygon_direction(p->directions, k, direction);
}

/* Column c of the mixed problem as a combination of columns of W: returns how many. */
static int combination(const rg_contact_problem *p, size_t c, size_t columns[2],
                       double weights[2]) {
    size_t nc = p->contacts, k = (size_t)corners_of(p), d = (size_t)p->dimension;
    if (c < nc) {
        columns[0] = c * d, weights[0] = 1;
        return 1;
    }
    if (c < nc + nc * k) {
        size_t contact = (c - nc) / k;
        double direction[2];
        corner(p, (int)((c - nc) % k), direction);
        for (size_t t = 0; t + 1 < d; t++)
            columns[t] = contact * d + 1 + t, weights[t] = direction[t];
        return (int)d - 1;
    }
    if (c < 2 * nc + nc * k)
        return 0; /* lambda */
    columns[0] = nc * d + (c - 2 * nc - nc * k), weights[0] = 1;
    return 1;
}

/* The trivial blocks: E, mu, -E'. */
static void fill_polygon_laws(const rg_contact_problem *p, size_t size, double *matrix) {
    size_t nc = p->contacts, k = (size_t)corners_of(p);
    for (size_t i = 0; i < nc; i++) {
        size_t lambda = nc + nc * k + i;
        matrix[lambda * size + i] = p->mu ? p->mu[i] : 0;
        for (size_t j = 0; j < k; j++) {
            size_t beta = nc + i * k + j;
            matrix[beta * size + lambda] = 1;
            matrix[lambda * size + beta] = -1;
        }
    }
}

static rg_status to_polygon(rg_solve_context *context, const rg_contact_problem *p,
                            rg_conversion *conversion, rg_error *error) {
    size_t nc = p->contacts, k = (size_t)corners_of(p), rows = rg_contact_rows(p);
    size_t size = nc * (k + 2) + p->joints;
    double *matrix, *b, *half;
    row_laws laws;
    RG_TAKE(matrix, context, size * size, error);
    RG_TAKE(b, context, size, error);
    RG_TAKE(half, context, rows * size, error); /* W times the combinations of its columns */
    rg_status status = take_laws(context, size, &laws, error);
    if (status)
        return status;
    memset(matrix, 0, size * size * sizeof *matrix);
    size_t columns[2];
    double weights[2], *values;
    RG_TAKE(values, context, rows, error);
    for (size_t i = 0; i < rows; i++) {
        rg_matrix_row_part(&p->w, i, 0, rows, values);
        for (size_t c = 0; c < size; c++) {
            int count = combination(p, c, columns, weights);
            half[i * size + c] = 0;
            for (int t = 0; t < count; t++)
                half[i * size + c] += weights[t] * values[columns[t]];
        }
    }
    for (size_t i = 0; i < size; i++) {
        int count = combination(p, i, columns, weights);
        b[i] = 0;
        for (int t = 0; t < count; t++) {
            b[i] += weights[t] * p->q[columns[t]];
            for (size_t c = 0; c < size; c++)
                matrix[i * size + c] += weights[t] * half[columns[t] * size + c];
        }
        if (i >= size - p->joints)
            set_joint_law(p, i - (size - p->joints), &laws, i);
    }
    fill_polygon_laws(p, size, matrix);
    set_linear(conversion, size, matrix, b, &laws);
    return RG_OK;
}

/* --- the table of contents -------------------------------------------------------------------- */

rg_status rg_convert(rg_solve_context *context, const rg_problem *problem, rg_conversion_kind kind,
                     rg_conversion *conversion, rg_error *error) {
    assert(problem->kind == RG_PROBLEM_CONTACT);
    *conversion = (rg_conversion){.kind = kind, .problem = *problem, .original = problem};
    /* Residuals stay relative to what they were. */
    conversion->problem.scale = rg_problem_scale(problem);
    if (kind == RG_CONVERT_CONDENSE)
        return to_local(context, problem, conversion, error);
    if (kind == RG_CONVERT_ROWS)
        return to_rows(context, &problem->contact, conversion, error);
    if (kind == RG_CONVERT_ENTRIES)
        return to_entries(context, &problem->contact, conversion, error);
    rg_conversion local = {.problem = *problem};
    rg_status status =
        problem->contact.form == RG_FORM_GLOBAL ? to_local(context, problem, &local, error) : RG_OK;
    return status ? status : to_polygon(context, &local.problem.contact, conversion, error);
}

void rg_convert_force(const rg_conversion *conversion, const double *original, double *converted) {
    const rg_contact_problem *p = &conversion->original->contact;
    size_t nc = p->contacts, d = (size_t)p->dimension;
    if (conversion->kind == RG_CONVERT_CONDENSE) {
        memcpy(converted, original, rg_contact_rows(p) * sizeof *converted);
        return;
    }
    if (conversion->kind == RG_CONVERT_ROWS) {
        size_t kept = kept_per_contact(p);
        for (size_t i = 0; i < nc * kept + p->joints; i++)
            converted[i] = original[original_row(p, kept, i)];
        return;
    }
    size_t k = (size_t)corners_of(p);
    for (size_t i = 0; i < nc; i++) {
        converted[i] = original[i * d];
        converted[nc + nc * k + i] = 0;
        /* The force along the two corners on either side of it. */
        double t[2] = {original[i * d + 1], d > 2 ? original[i * d + 2] : 0};
        for (size_t j = 0; j < k; j++)
            converted[nc + i * k + j] = 0;
        for (size_t j = 0; j < k; j++) {
            double a[2], b[2];
            corner(p, (int)j, a), corner(p, (int)((j + 1) % k), b);
            double determinant = a[0] * b[1] - a[1] * b[0];
            if (d == 2) {
                converted[nc + i * k + j] = fmax(0, t[0] * a[0]);
                continue;
            }
            double alpha = (t[0] * b[1] - t[1] * b[0]) / determinant;
            double beta = (a[0] * t[1] - a[1] * t[0]) / determinant;
            if (alpha >= 0 && beta >= 0) {
                converted[nc + i * k + j] = alpha, converted[nc + i * k + (j + 1) % k] = beta;
                break;
            }
        }
    }
    for (size_t j = 0; j < p->joints; j++)
        converted[nc * (k + 2) + j] = original[nc * d + j];
}

void rg_convert_back(const rg_conversion *conversion, const double *converted, double *original) {
    const rg_contact_problem *p = &conversion->original->contact;
    size_t nc = p->contacts, d = (size_t)p->dimension, rows = rg_contact_rows(p);
    if (conversion->kind == RG_CONVERT_CONDENSE) {
        memcpy(original, converted, rows * sizeof *original);
        return;
    }
    memset(original, 0, rows * sizeof *original);
    if (conversion->kind == RG_CONVERT_ROWS) {
        size_t kept = kept_per_contact(p);
        for (size_t i = 0; i < nc * kept + p->joints; i++)
            original[original_row(p, kept, i)] = converted[i];
        return;
    }
    size_t k = (size_t)corners_of(p);
    for (size_t i = 0; i < nc; i++) {
        original[i * d] = converted[i];
        for (size_t j = 0; j < k; j++) {
            double direction[2];
            corner(p, (int)j, direction);
            for (size_t t = 0; t + 1 < d; t++)
                original[i * d + 1 + t] += direction[t] * converted[nc + i * k + j];
        }
    }
    for (size_t j = 0; j < p->joints; j++)
        original[nc * d + j] = converted[nc * (k + 2) + j];
}
