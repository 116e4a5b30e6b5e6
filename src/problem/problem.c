/* Contact problems as data: is a problem well-formed, how many rows has it, what are its residuals
 * relative to. Everything that a solver may take for granted is checked here, once.
 * Tested by tests/problem/test_check.c. */
#include "problem/problem.h"

#include "base/base_math.h"
#include "base/base_small.h"
#include "base/base_text.h"
#include "base/base_trig.h"

#include <assert.h>
#include <string.h>

rg_problem rg_problem_linear(size_t size, const double *matrix, const double *b) {
    return (rg_problem){.kind = RG_PROBLEM_LINEAR,
                        .linear = {.size = size, .matrix = matrix, .b = b}};
}

size_t rg_problem_rows(const rg_problem *problem) {
    return problem->kind == RG_PROBLEM_LINEAR ? problem->linear.size
                                              : rg_contact_rows(&problem->contact);
}

/* --- pieces that solvers and judge need, too -------------------------------------------------- */

void rg_matrix_row_part(const rg_matrix *matrix, size_t row, size_t first, size_t count,
                        double *values) {
    if (matrix->dense) {
        for (size_t j = 0; j < count; j++)
            values[j] = matrix->dense[row * matrix->columns + first + j];
        return;
    }
    for (size_t j = 0; j < count; j++)
        values[j] = 0;
    for (size_t k = matrix->starts[row]; k < matrix->starts[row + 1]; k++)
        if (matrix->indices[k] >= first && matrix->indices[k] < first + count)
            values[matrix->indices[k] - first] = matrix->values[k];
}

/* A body about its centre of mass: three numbers of which none acts on another, and three that act
 * on each other. What is left out are products with zeros. */
static bool factor_body(const double *mass, double *lower) {
    double turning[9], factor[9];
    for (int i = 0; i < 3; i++) {
        if (!(mass[7 * i] > 0 && isfinite(mass[7 * i])))
            return false;
        for (int j = 0; j < 3; j++)
            turning[3 * i + j] = mass[6 * (3 + i) + 3 + j];
    }
    if (!rg_small_factor(turning, 3, 0, factor))
        return false;
    memset(lower, 0, 36 * sizeof *lower);
    for (int i = 0; i < 3; i++) {
        lower[7 * i] = 1 / sqrt(mass[7 * i]);
        for (int j = 0; j <= i; j++)
            lower[6 * (3 + i) + 3 + j] = factor[3 * i + j];
    }
    return true;
}

static void solve_body(const double *lower, double *x) {
    for (int i = 0; i < 3; i++)
        x[i] = x[i] * lower[7 * i] * lower[7 * i];
    double a = x[3] * lower[21];
    double b = (x[4] - lower[27] * a) * lower[28];
    double c = (x[5] - lower[33] * a - lower[34] * b) * lower[35];
    x[5] = c * lower[35];
    x[4] = (b - lower[34] * x[5]) * lower[28];
    x[3] = (a - lower[27] * x[4] - lower[33] * x[5]) * lower[21];
}

/* Six numbers are by far the most frequent: with the size known. */
bool rg_mass_factor(const double *mass, int freedom, double *lower) {
    if (freedom != 6)
        return rg_small_factor(mass, (size_t)freedom, 0, lower);
    return rg_mass_is_split(mass) ? factor_body(mass, lower) : rg_small_factor(mass, 6, 0, lower);
}

void rg_mass_solve(const double *lower, int freedom, double *x) {
    size_t n = (size_t)freedom;
    if (n == 6 && rg_mass_is_split(lower)) {
        solve_body(lower, x);
    } else if (n == 6) {
        rg_small_lower(lower, 6, x);
        rg_small_upper(lower, 6, x);
    } else {
        rg_small_lower(lower, n, x);
        rg_small_upper(lower, n, x);
    }
}

void rg_polygon_direction(int directions, int k, double direction[2]) {
    /* The second half turn is the first one with the sign changed, so that a direction and its
     * opposite cancel exactly (balanced D). */
    int half = directions / 2;
    double sign = k < half ? 1 : -1;
    double sine, cosine;
    rg_sin_cos(RG_PI * (k < half ? k : k - half) / half, &sine, &cosine);
    direction[0] = sign * cosine, direction[1] = sign * sine;
}

/* --- checks ----------------------------------------------------------------------------------- */

/* 0 x is 0 for all finite x and for no other: eight sums of it go side by side, in pairs. */
static bool all_finite(const double *values, size_t count) {
    typedef double pair __attribute__((vector_size(16)));
    pair sum[4] = {{0, 0}, {0, 0}, {0, 0}, {0, 0}}, x[4];
    double rest = 0;
    size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        memcpy(x, values + i, sizeof x);
        for (int k = 0; k < 4; k++)
            sum[k] += 0.0 * x[k];
    }
    for (; i < count; i++)
        rest += 0 * values[i];
    pair all = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    return all[0] + all[1] + rest == 0;
}

static rg_status check_finite(const double *values, size_t count, const char *what,
                              rg_error *error) {
    for (size_t i = 0; !all_finite(values, count) && i < count; i++)
        if (!isfinite(values[i]))
            return rg_fail(error, RG_NOT_FINITE, "%s: entry %zu is %g; it must be a finite number",
                           what, i, values[i]);
    return RG_OK;
}

static rg_status check_there(const void *array, const char *what, rg_error *error) {
    if (array)
        return RG_OK;
    return rg_fail(error, RG_INVALID_ARGUMENT, "%s: missing", what);
}

static rg_status check_bounds(const double *lower, const double *upper, size_t i, const char *what,
                              rg_error *error) {
    /* Written so that NaN fails. */
    if (!(lower[i] <= upper[i]) || lower[i] == INFINITY || upper[i] == -INFINITY)
        return rg_fail(error, RG_INVALID_ARGUMENT,
                       "%s %zu: bounds %g to %g; the lower one must not exceed the upper", what, i,
                       lower[i], upper[i]);
    return RG_OK;
}

static rg_status check_friction_row(const rg_linear_problem *p, size_t i, rg_error *error) {
    if (!p->normal || !p->mu)
        return rg_fail(error, RG_INVALID_ARGUMENT,
                       "row %zu: friction without `normal` and `mu` arrays", i);
    size_t normal = p->normal[i];
    if (normal >= p->size || (p->kinds && p->kinds[normal] != RG_ROW_UNILATERAL))
        return rg_fail(error, RG_INVALID_ARGUMENT,
                       "row %zu: friction of row %zu, which is not a unilateral row", i, normal);
    if (!isfinite(p->mu[i]))
        return rg_fail(error, RG_NOT_FINITE, "row %zu: friction coefficient %g", i, p->mu[i]);
    if (p->kinds[i] == RG_ROW_STATIC && p->mu[i] < 0)
        return rg_fail(error, RG_INVALID_ARGUMENT,
                       "row %zu: friction coefficient %g; it must not be negative", i, p->mu[i]);
    return RG_OK;
}

static rg_status check_linear(const rg_linear_problem *p, rg_error *error) {
    if (p->size == 0)
        return RG_OK;
    rg_status status = check_there(p->matrix, "matrix", error);
    if (!status)
        status = check_there(p->b, "b", error);
    if (status)
        return status;
    if (p->stride && p->stride < p->size)
        return rg_fail(error, RG_INVALID_ARGUMENT, "matrix: stride %zu for %zu columns", p->stride,
                       p->size);
    size_t stride = p->stride ? p->stride : p->size;
    for (size_t i = 0; i < p->size; i++)
        for (size_t j = 0; j < p->size; j++)
            if (!isfinite(p->matrix[i * stride + j]))
                return rg_fail(error, RG_NOT_FINITE,
                               "matrix: entry (%zu, %zu) is %g; it must be a finite number", i, j,
                               p->matrix[i * stride + j]);
    status = check_finite(p->b, p->size, "b", error);
    for (size_t i = 0; p->kinds && i < p->size && !status; i++) {
        switch (p->kinds[i]) {
        case RG_ROW_UNILATERAL:
        case RG_ROW_FREE:
            break;
        case RG_ROW_BOUNDED:
            if (!p->lower || !p->upper)
                return rg_fail(error, RG_INVALID_ARGUMENT, "row %zu: bounded, without bounds", i);
            status = check_bounds(p->lower, p->upper, i, "row", error);
            break;
        case RG_ROW_STATIC:
        case RG_ROW_DYNAMIC:
            status = check_friction_row(p, i, error);
            break;
        default:
            return rg_fail(error, RG_INVALID_ARGUMENT, "row %zu: there is no row kind %d", i,
                           p->kinds[i]);
        }
    }
    return status;
}

static rg_status check_sparse_rows(const rg_matrix *w, rg_error *error) {
    if (!w->starts || (!w->indices && w->rows) || (!w->values && w->rows))
        return rg_fail(error, RG_INVALID_ARGUMENT,
                       "W: neither dense nor with row starts, indices and values");
    if (w->starts[0] != 0)
        return rg_fail(error, RG_INVALID_ARGUMENT, "W: rows start at %zu; they must start at 0",
                       w->starts[0]);
    for (size_t i = 0; i < w->rows; i++) {
        if (w->starts[i + 1] < w->starts[i])
            return rg_fail(error, RG_INVALID_ARGUMENT, "W: row %zu ends before it begins", i);
        for (size_t k = w->starts[i]; k < w->starts[i + 1]; k++)
            if (w->indices[k] >= w->columns ||
                (k > w->starts[i] && w->indices[k] <= w->indices[k - 1]))
                return rg_fail(error, RG_INVALID_ARGUMENT,
                               "W: row %zu: columns must ascend and be less than %zu", i,
                               w->columns);
    }
    return check_finite(w->values, w->starts[w->rows], "W", error);
}

static rg_status check_local(const rg_contact_problem *p, rg_error *error) {
    size_t rows = rg_contact_rows(p);
    if (p->w.rows != rows || p->w.columns != rows)
        return rg_fail(error, RG_INVALID_ARGUMENT, "W is %zu by %zu; it must be %zu by %zu",
                       p->w.rows, p->w.columns, rows, rows);
    if (rows == 0)
        return RG_OK;
    return p->w.dense ? check_finite(p->w.dense, rows * rows, "W", error)
                      : check_sparse_rows(&p->w, error);
}

/* Entries that are equal, as all of a mass that the engine makes are, need no measure. */
static bool is_symmetric(const double *mass, size_t n, size_t i, size_t j) {
    double a = mass[i * n + j], b = mass[j * n + i];
    return a == b || fabs(a - b) <= RG_MASS_SYMMETRY * fmax(mass[i * n + i], mass[j * n + j]);
}

static rg_status check_mass(const rg_global_form *g, size_t block, rg_error *error) {
    int n = g->freedom;
    const double *mass = g->mass + block * (size_t)(n * n);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            if (!is_symmetric(mass, (size_t)n, (size_t)i, (size_t)j))
                return rg_fail(
                    error, RG_INVALID_ARGUMENT,
                    "mass of block %zu: entries (%d, %d) and (%d, %d) differ; it must be "
                    "symmetric",
                    block, i, j, j, i);
    double lower[36];
    if (!rg_mass_factor(mass, n, lower))
        return rg_fail(error, RG_INVALID_ARGUMENT,
                       "mass of block %zu: not positive definite; masses and inertias must be "
                       "positive",
                       block);
    return RG_OK;
}

static rg_status check_references(const uint32_t *blocks, size_t count, const rg_global_form *g,
                                  const char *what, rg_error *error) {
    for (size_t i = 0; i < count; i++) {
        const uint32_t *pair = blocks + 2 * i;
        for (int side = 0; side < 2; side++)
            if (pair[side] != RG_NO_BLOCK && pair[side] >= g->blocks)
                return rg_fail(error, RG_INVALID_ARGUMENT, "%s %zu: block %u; there are %zu blocks",
                               what, i, (unsigned)pair[side], g->blocks);
        if (pair[0] == pair[1] && pair[0] != RG_NO_BLOCK)
            return rg_fail(error, RG_INVALID_ARGUMENT,
                           "%s %zu: block %u with itself; put both parts into one", what, i,
                           (unsigned)pair[0]);
    }
    return RG_OK;
}

static rg_status check_global(const rg_contact_problem *p, rg_error *error) {
    const rg_global_form *g = &p->global;
    if (g->freedom < 1 || g->freedom > 6)
        return rg_fail(error, RG_INVALID_ARGUMENT,
                       "%d numbers per block; between 1 and 6 are possible", g->freedom);
    size_t freedom = (size_t)g->freedom, per_contact = 2 * (size_t)p->dimension * freedom;
    const struct {
        const void *array;
        size_t count;
        const char *name;
    } arrays[] = {
        {g->mass, g->blocks * freedom * freedom, "mass"},
        {g->free_velocity, g->blocks * freedom, "free velocity"},
        {g->contact_jacobian, p->contacts * per_contact, "contact Jacobian"},
        {g->joint_jacobian, p->joints * 2 * freedom, "joint Jacobian"},
    };
    rg_status status = RG_OK;
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays && !status; k++) {
        if (arrays[k].count == 0)
            continue;
        status = check_there(arrays[k].array, arrays[k].name, error);
        if (!status)
            status = check_finite(arrays[k].array, arrays[k].count, arrays[k].name, error);
    }
    if (!status && p->contacts)
        status = check_there(g->contact_blocks, "blocks of the contacts", error);
    if (!status && p->joints)
        status = check_there(g->joint_blocks, "blocks of the joints", error);
    if (!status)
        status = check_references(g->contact_blocks, p->contacts, g, "contact", error);
    if (!status)
        status = check_references(g->joint_blocks, p->joints, g, "joint row", error);
    for (size_t block = 0; block < g->blocks && !status; block++)
        status = check_mass(g, block, error);
    return status;
}

static rg_status check_contact(const rg_contact_problem *p, rg_error *error) {
    if (p->dimension < 1 || p->dimension > 3)
        return rg_fail(error, RG_INVALID_ARGUMENT, "%d rows per contact; 1, 2 or 3 are possible",
                       p->dimension);
    if (p->directions != 0 &&
        (p->directions < 4 || p->directions > RG_DIRECTIONS_MAX || p->directions % 2 != 0))
        return rg_fail(error, RG_INVALID_ARGUMENT,
                       "a friction polygon of %d corners; an even number from 4 to %d is possible",
                       p->directions, RG_DIRECTIONS_MAX);
    for (size_t i = 0; p->mu && i < p->contacts; i++)
        if (!(p->mu[i] >= 0 && isfinite(p->mu[i])))
            return rg_fail(error, isfinite(p->mu[i]) ? RG_INVALID_ARGUMENT : RG_NOT_FINITE,
                           "contact %zu: friction coefficient %g; it must be finite and not "
                           "negative",
                           i, p->mu[i]);
    if (!p->lower != !p->upper)
        return rg_fail(error, RG_INVALID_ARGUMENT, "joint rows: one bound without the other");
    rg_status status = RG_OK;
    for (size_t i = 0; p->lower && i < p->joints && !status; i++)
        status = check_bounds(p->lower, p->upper, i, "joint row", error);
    for (size_t i = 0; p->compliance && i < p->joints && !status; i++)
        if (!(p->compliance[i] >= 0 && isfinite(p->compliance[i])))
            status = rg_fail(error, RG_INVALID_ARGUMENT,
                             "joint row %zu: compliance %g; it must be finite and not negative", i,
                             p->compliance[i]);
    if (!status && p->compliance && p->joints && p->form == RG_FORM_LOCAL)
        status = rg_fail(error, RG_INVALID_ARGUMENT,
                         "joint rows: a compliance in local form; add it to the diagonal of W");
    if (!status && rg_contact_rows(p)) {
        status = check_there(p->q, "q", error);
        if (!status)
            status = check_finite(p->q, rg_contact_rows(p), "q", error);
    }
    if (status)
        return status;
    switch (p->form) {
    case RG_FORM_LOCAL:
        return check_local(p, error);
    case RG_FORM_GLOBAL:
        return check_global(p, error);
    default:
        return rg_fail(error, RG_INVALID_ARGUMENT, "form %d is none", (int)p->form);
    }
}

rg_status rg_problem_check(const rg_problem *problem, rg_error *error) {
    if (!(problem->scale >= 0 && isfinite(problem->scale)))
        return rg_fail(error, RG_INVALID_ARGUMENT,
                       "scale %g; it must be positive, or 0 to have it computed", problem->scale);
    switch (problem->kind) {
    case RG_PROBLEM_LINEAR:
        return check_linear(&problem->linear, error);
    case RG_PROBLEM_CONTACT:
        return check_contact(&problem->contact, error);
    default:
        return rg_fail(error, RG_INVALID_ARGUMENT, "there is no problem kind %d",
                       (int)problem->kind);
    }
}

rg_status rg_problem_check_made(const rg_problem *problem, rg_error *error) {
    const rg_contact_problem *p = &problem->contact;
    const rg_global_form *g = &p->global;
    rg_status status = RG_OK;
    if (rg_contact_rows(p))
        status = check_finite(p->q, rg_contact_rows(p), "q", error);
    if (!status && g->blocks)
        status =
            check_finite(g->free_velocity, g->blocks * (size_t)g->freedom, "free velocity", error);
    return status;
}

void rg_mass_units(const double *mass, int freedom, double *units) {
    size_t n = (size_t)freedom, turns = freedom == 6 ? 3 : freedom == 3 ? 2 : n;
    double inertia = 0;
    for (size_t i = turns; i < n; i++)
        inertia = fmax(inertia, mass[i * (n + 1)]);
    double unit =
        freedom == 6 && !rg_mass_is_split(mass) ? 1 : 1 / rg_length_unit(inertia / mass[0]);
    for (size_t i = 0; i < n; i++)
        units[i] = i < turns ? 1 : unit;
}

/* --- scale ------------------------------------------------------------------------------------ */

/* J v of one row over its two blocks. */
static double row_velocity(const rg_global_form *g, const uint32_t *pair, const double *row,
                           size_t side_stride) {
    double sum = 0;
    for (int side = 0; side < 2; side++) {
        if (pair[side] == RG_NO_BLOCK)
            continue;
        const double *v = g->free_velocity + (size_t)pair[side] * (size_t)g->freedom;
        for (int k = 0; k < g->freedom; k++)
            sum += row[(size_t)side * side_stride + (size_t)k] * v[k];
    }
    return sum;
}

static double largest_free_velocity(const rg_contact_problem *p) {
    size_t rows = rg_contact_rows(p), d = (size_t)p->dimension;
    double largest = 0;
    if (p->form == RG_FORM_LOCAL) {
        for (size_t i = 0; i < rows; i++)
            largest = fmax(largest, fabs(p->q[i]));
        return largest;
    }
    const rg_global_form *g = &p->global;
    size_t freedom = (size_t)g->freedom;
    for (size_t i = 0; i < rows; i++) {
        double u;
        if (i < p->contacts * d)
            u = row_velocity(g, g->contact_blocks + 2 * (i / d),
                             g->contact_jacobian + (i / d) * 2 * d * freedom + i % d * freedom,
                             d * freedom);
        else {
            size_t j = i - p->contacts * d;
            u = row_velocity(g, g->joint_blocks + 2 * j, g->joint_jacobian + j * 2 * freedom,
                             freedom);
        }
        largest = fmax(largest, fabs(u + p->q[i]));
    }
    return largest;
}

double rg_problem_largest(const rg_problem *problem) {
    double largest = 0;
    if (problem->kind == RG_PROBLEM_LINEAR)
        for (size_t i = 0; i < problem->linear.size; i++)
            largest = fmax(largest, fabs(problem->linear.b[i]));
    else
        largest = largest_free_velocity(&problem->contact);
    return largest;
}

double rg_problem_scale(const rg_problem *problem) {
    if (problem->scale > 0)
        return problem->scale;
    double largest = rg_problem_largest(problem);
    return largest > 0 ? largest : 1;
}
