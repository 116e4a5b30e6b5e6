/* From sparse M and H to a problem.
 *
 * Problem: files hold M v = f + J' r, u = J v + q with a sparse M of any kind; the solvers want
 * bodies: equal blocks of at most six numbers, two of them to a contact. Deformable bodies have
 * blocks that are not so small, and some files number their unknowns in other ways.
 * Method: block sizes are tried, those of rigid bodies first; the first in which M is block
 * diagonal (each block symmetric positive definite) and every contact touches two blocks is taken.
 * If there is none, the velocities are eliminated, W = J M^-1 J', q + J M^-1 f (Acary, Bremond and
 * Huber 2018, On solving contact problems with Coulomb friction): connected parts of M one by one,
 * by Cholesky where a part is symmetric, so that its share of W is symmetric to the last bit,
 * otherwise by LU with partial pivoting.
 * How it fails: a singular M (RG_SINGULAR); a condensed matrix over the limit
 * (RG_LIMIT_EXCEEDED).
 * Tested by tests/record/test_problem.c. */
#include "record/record_problem.h"

#include "base/base_memory.h"
#include "base/base_sets.h"
#include "base/base_text.h"
#include "problem/problem.h"

#include <math.h>
#include <string.h>

/* ------------------------------------------------------------------ sparse matrices */

bool rg_triplets_make(rg_problem_file *file, size_t rows, size_t columns, size_t count,
                      rg_triplets *triplets) {
    *triplets = (rg_triplets){rows,
                              columns,
                              count,
                              RG_PROBLEM_TAKE(file, uint32_t, count),
                              RG_PROBLEM_TAKE(file, uint32_t, count),
                              RG_PROBLEM_TAKE(file, double, count)};
    return triplets->row && triplets->column && triplets->value;
}

rg_triplets rg_triplets_transpose(rg_triplets triplets) {
    rg_triplets turned = triplets;
    turned.rows = triplets.columns, turned.columns = triplets.rows;
    turned.row = triplets.column, turned.column = triplets.row;
    return turned;
}

void rg_global_multiply_mass(const rg_global_form *g, const double *v, double *f) {
    size_t n = (size_t)g->freedom;
    for (size_t block = 0; block < g->blocks; block++)
        for (size_t i = 0; i < n; i++) {
            double sum = 0;
            for (size_t j = 0; j < n; j++)
                sum += g->mass[(block * n + i) * n + j] * v[block * n + j];
            f[block * n + i] = sum;
        }
}

/* starts[i]: how many keys are below i. */
static void count_keys(const uint32_t *keys, size_t count, size_t *starts, size_t size) {
    memset(starts, 0, (size + 1) * sizeof *starts);
    for (size_t k = 0; k < count; k++)
        starts[keys[k] + 1]++;
    for (size_t i = 0; i < size; i++)
        starts[i + 1] += starts[i];
}

/* The order of the entries by row, then column, then as they came: two counting sorts. `order` and
 * `scratch` are `count` long, `starts` as long as the larger side and one. */
static void sort_triplets(const rg_triplets *t, size_t *order, size_t *scratch, size_t *starts) {
    count_keys(t->column, t->count, starts, t->columns);
    for (size_t k = 0; k < t->count; k++)
        scratch[starts[t->column[k]]++] = k;
    count_keys(t->row, t->count, starts, t->rows);
    for (size_t k = 0; k < t->count; k++)
        order[starts[t->row[scratch[k]]]++] = scratch[k];
}

bool rg_triplets_compress(rg_problem_file *file, const rg_triplets *t, rg_matrix *matrix) {
    size_t larger = t->rows > t->columns ? t->rows : t->columns;
    size_t *starts = RG_PROBLEM_TAKE(file, size_t, t->rows + 1);
    uint32_t *indices = RG_PROBLEM_TAKE(file, uint32_t, t->count);
    double *values = RG_PROBLEM_TAKE(file, double, t->count);
    rg_arena_mark mark = rg_arena_get_mark(&file->arena);
    size_t *order = RG_PROBLEM_TAKE(file, size_t, t->count);
    size_t *scratch = RG_PROBLEM_TAKE(file, size_t, t->count);
    size_t *keys = RG_PROBLEM_TAKE(file, size_t, larger + 1);
    if (!starts || !indices || !values || !order || !scratch || !keys)
        return false;
    sort_triplets(t, order, scratch, keys);
    size_t count = 0, row = 0;
    starts[0] = 0;
    for (size_t k = 0; k < t->count; k++) {
        size_t e = order[k];
        while (row < t->row[e])
            starts[++row] = count;
        if (count > starts[row] && indices[count - 1] == t->column[e]) {
            values[count - 1] += t->value[e];
        } else {
            indices[count] = t->column[e];
            values[count++] = t->value[e];
        }
    }
    while (row < t->rows)
        starts[++row] = count;
    rg_arena_return(&file->arena, mark);
    *matrix = (rg_matrix){.rows = t->rows,
                          .columns = t->columns,
                          .starts = starts,
                          .indices = indices,
                          .values = values};
    return true;
}

void rg_add_entry(double *cell, double value) {
    *cell = *cell == 0 ? value : *cell + value; /* 0 + -0 would lose the sign */
}

bool rg_triplets_spread(rg_problem_file *file, const rg_triplets *t, double **dense) {
    *dense = rg_problem_take_zeroed(file, t->rows * t->columns, sizeof(double));
    for (size_t k = 0; *dense && k < t->count; k++)
        rg_add_entry(&(*dense)[t->row[k] * t->columns + t->column[k]], t->value[k]);
    return *dense != NULL;
}

/* ------------------------------------------------------------------ blocks */

/* Whether block `block` is one of a pair, or can become one: the first that comes is the first of
 * the pair. */
static bool join_pair(uint32_t pair[2], uint32_t block, bool given, int *side) {
    for (*side = 0; *side < 2; ++*side) {
        if (pair[*side] == RG_NO_BLOCK && !given)
            pair[*side] = block;
        if (pair[*side] == block)
            return true;
    }
    return false;
}

/* Blocks and Jacobian of one group of rows: contacts (`height` rows each) or joints (one). */
typedef struct row_group {
    size_t first_row, count, height;
    const uint32_t *given; /* null: found here */
    uint32_t *blocks;
    double *jacobian;
} row_group;

static bool make_group(rg_problem_file *file, row_group *group, size_t freedom) {
    group->blocks = RG_PROBLEM_TAKE(file, uint32_t, 2 * group->count);
    group->jacobian =
        rg_problem_take_zeroed(file, 2 * group->count, group->height * freedom * sizeof(double));
    if (!group->blocks || !group->jacobian)
        return false;
    for (size_t i = 0; i < 2 * group->count; i++)
        group->blocks[i] = group->given ? group->given[i] : RG_NO_BLOCK;
    return true;
}

/* False if an entry of J does not fit the blocks. */
static bool fill_group(row_group *group, const rg_triplets *j, size_t freedom) {
    size_t end = group->first_row + group->count * group->height;
    for (size_t k = 0; k < j->count; k++) {
        if (j->row[k] < group->first_row || j->row[k] >= end)
            continue;
        size_t row = j->row[k] - group->first_row, at = row / group->height;
        uint32_t block = (uint32_t)(j->column[k] / freedom);
        int side;
        if (!join_pair(group->blocks + 2 * at, block, group->given != NULL, &side))
            return false;
        size_t place = (2 * at + (size_t)side) * group->height + row % group->height;
        rg_add_entry(&group->jacobian[place * freedom + j->column[k] % freedom], j->value[k]);
    }
    return true;
}

/* Symmetric to the tolerance of rg_problem_check, and positive definite. */
static bool is_mass(const double *block, int freedom) {
    double lower[36];
    for (int i = 0; i < freedom; i++)
        for (int j = 0; j < i; j++)
            if (!(fabs(block[i * freedom + j] - block[j * freedom + i]) <=
                  RG_MASS_SYMMETRY * fmax(block[i * freedom + i], block[j * freedom + j])))
                return false;
    return rg_mass_factor(block, freedom, lower);
}

static bool fill_mass(const rg_triplets *m, size_t freedom, double *mass) {
    for (size_t k = 0; k < m->count; k++) {
        size_t row = m->row[k], column = m->column[k], block = row / freedom;
        if (block != column / freedom)
            return false;
        rg_add_entry(&mass[row * freedom + column % freedom], m->value[k]);
    }
    for (size_t block = 0; block < m->rows / freedom; block++)
        if (!is_mass(mass + block * freedom * freedom, (int)freedom))
            return false;
    return true;
}

/* What both forms share. */
static void set_contacts(rg_problem_file *file, const rg_global_parts *parts, rg_contact_form form,
                         const double *q) {
    file->problem.kind = RG_PROBLEM_CONTACT;
    file->problem.contact = (rg_contact_problem){.dimension = parts->dimension,
                                                 .contacts = parts->contacts,
                                                 .joints = parts->joints,
                                                 .mu = parts->mu,
                                                 .form = form,
                                                 .q = q};
}

rg_status rg_problem_fill_blocks(rg_problem_reader *reader, const rg_global_parts *parts,
                                 size_t freedom, const uint32_t *contact_blocks,
                                 const uint32_t *joint_blocks, bool *fits) {
    rg_problem_file *file = reader->file;
    rg_arena_mark mark = rg_arena_get_mark(&file->arena);
    *fits = freedom > 0 && freedom <= 6 && parts->freedom % freedom == 0;
    if (!*fits)
        return RG_OK;
    size_t contact_rows = parts->contacts * (size_t)parts->dimension;
    row_group contacts = {0, parts->contacts, (size_t)parts->dimension, contact_blocks, NULL, NULL};
    row_group joints = {contact_rows, parts->joints, 1, joint_blocks, NULL, NULL};
    double *mass = rg_problem_take_zeroed(file, parts->freedom * freedom, sizeof(double));
    double *velocity = rg_problem_take_zeroed(file, parts->freedom, sizeof(double));
    if (!mass || !velocity || !make_group(file, &contacts, freedom) ||
        !make_group(file, &joints, freedom))
        return rg_problem_no_memory(reader);
    *fits = fill_mass(&parts->m, freedom, mass) && fill_group(&contacts, &parts->j, freedom) &&
            fill_group(&joints, &parts->j, freedom);
    if (!*fits) {
        rg_arena_return(&file->arena, mark);
        return RG_OK;
    }
    set_contacts(file, parts, RG_FORM_GLOBAL, parts->q);
    file->problem.contact.global = (rg_global_form){.blocks = parts->freedom / freedom,
                                                    .freedom = (int)freedom,
                                                    .mass = mass,
                                                    .free_velocity = velocity,
                                                    .contact_blocks = contacts.blocks,
                                                    .contact_jacobian = contacts.jacobian,
                                                    .joint_blocks = joints.blocks,
                                                    .joint_jacobian = joints.jacobian};
    return RG_OK;
}

/* v_free = M^-1 f, block by block. */
static void solve_blocks(const rg_global_form *g, const double *f, double *velocity) {
    size_t n = (size_t)g->freedom;
    double lower[36];
    memcpy(velocity, f, g->blocks * n * sizeof *f);
    for (size_t block = 0; block < g->blocks; block++)
        if (rg_mass_factor(g->mass + block * n * n, g->freedom, lower))
            rg_mass_solve(lower, g->freedom, velocity + block * n);
}

/* ------------------------------------------------------------------ condensing */

/* Numbers the connected parts of M in the order of their first row. `part[i]`: of row i;
 * `local[i]`: place of row i in its part; `sizes`: rows of each. Returns how many parts. */
static size_t find_parts(const rg_triplets *m, uint32_t *part, uint32_t *local, size_t *sizes) {
    uint32_t *parent = local; /* until the parts have numbers */
    rg_sets_start(parent, m->rows);
    for (size_t k = 0; k < m->count; k++)
        rg_sets_join(parent, m->row[k], m->column[k]);
    size_t count = rg_sets_number(parent, m->rows, part);
    for (size_t i = 0; i < count; i++)
        sizes[i] = 0;
    for (size_t i = 0; i < m->rows; i++)
        local[i] = (uint32_t)sizes[part[i]]++;
    return count;
}

/* Cholesky of a symmetric part in place, the lower half; false if it is not positive definite. */
static bool factor_symmetric(double *a, size_t n) {
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = a[i * n + j];
            for (size_t k = 0; k < j; k++)
                sum -= a[i * n + k] * a[j * n + k];
            if (j == i && !(sum > 0))
                return false;
            a[i * n + j] = j == i ? sqrt(sum) : sum / a[j * n + j];
        }
    return true;
}

/* x := L^-1 x */
static void forward(const double *a, size_t n, double *x) {
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < i; k++)
            x[i] -= a[i * n + k] * x[k];
        x[i] /= a[i * n + i];
    }
}

/* LU with partial pivoting in place; false if a pivot vanishes against its column. */
static bool factor_general(double *a, size_t n, size_t *pivots) {
    /* A pivot below this part of the largest entry of the matrix is rounding. */
    const double negligible = 1e-14;
    double largest = 0;
    for (size_t i = 0; i < n * n; i++)
        largest = fmax(largest, fabs(a[i]));
    for (size_t k = 0; k < n; k++) {
        size_t best = k;
        for (size_t i = k + 1; i < n; i++)
            if (fabs(a[i * n + k]) > fabs(a[best * n + k]))
                best = i;
        pivots[k] = best;
        for (size_t j = 0; best != k && j < n; j++) {
            double swap = a[k * n + j];
            a[k * n + j] = a[best * n + j], a[best * n + j] = swap;
        }
        if (!(fabs(a[k * n + k]) > negligible * largest))
            return false;
        for (size_t i = k + 1; i < n; i++) {
            double factor = a[i * n + k] /= a[k * n + k];
            for (size_t j = k + 1; factor != 0 && j < n; j++)
                a[i * n + j] -= factor * a[k * n + j];
        }
    }
    return true;
}

static void solve_general(const double *a, size_t n, const size_t *pivots, double *x) {
    for (size_t k = 0; k < n; k++) {
        double swap = x[k];
        x[k] = x[pivots[k]], x[pivots[k]] = swap;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++)
            x[i] -= a[i * n + k] * x[k];
    for (size_t i = n; i-- > 0;) {
        for (size_t k = i + 1; k < n; k++)
            x[i] -= a[i * n + k] * x[k];
        x[i] /= a[i * n + i];
    }
}

typedef struct condenser {
    rg_matrix m, jt; /* compressed rows of M and of J' */
    uint32_t *part, *local;
    size_t *sizes, parts;
    uint32_t *members; /* rows of M, part by part */
    size_t rows;       /* of J */
    uint32_t *touched; /* the rows of J that touch the part at hand, */
    size_t *slot;      /* their places in that list, */
    size_t *seen;      /* and the part, counted from 1, that they were last listed for */
    double *w, *q;
    const double *f;
} condenser;

static bool is_symmetric(const double *a, size_t n) {
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++)
            if (a[i * n + k] != a[k * n + i])
                return false;
    return true;
}

/* Work of one part: its matrix, its columns of J' and its share of f. */
typedef struct part_work {
    size_t size;             /* rows of the part */
    const uint32_t *members; /* they */
    size_t touching;         /* rows of J that touch it */
    double *matrix, *kept;   /* size x size */
    double *columns;         /* touching x size: rows of J over the part */
    double *solved;          /* touching x size */
    double *f;               /* size */
    size_t *pivots;          /* size */
} part_work;

static size_t list_touching(const condenser *c, size_t p, const uint32_t *members) {
    size_t count = 0;
    for (size_t i = 0; i < c->sizes[p]; i++)
        for (size_t k = c->jt.starts[members[i]]; k < c->jt.starts[members[i] + 1]; k++) {
            size_t row = c->jt.indices[k];
            if (c->seen[row] == p + 1)
                continue;
            c->seen[row] = p + 1;
            c->slot[row] = count;
            c->touched[count++] = (uint32_t)row;
        }
    return count;
}

static bool gather_part(rg_problem_file *file, const condenser *c, part_work *work) {
    size_t n = work->size;
    work->matrix = rg_problem_take_zeroed(file, n * n, sizeof(double));
    work->kept = RG_PROBLEM_TAKE(file, double, n *n);
    work->columns = rg_problem_take_zeroed(file, work->touching * n, sizeof(double));
    work->solved = RG_PROBLEM_TAKE(file, double, work->touching *n);
    work->f = RG_PROBLEM_TAKE(file, double, n);
    work->pivots = RG_PROBLEM_TAKE(file, size_t, n);
    if (!work->matrix || !work->kept || !work->columns || !work->solved || !work->f ||
        !work->pivots)
        return false;
    for (size_t i = 0; i < n; i++) {
        size_t row = work->members[i];
        work->f[i] = c->f[row];
        for (size_t k = c->m.starts[row]; k < c->m.starts[row + 1]; k++)
            work->matrix[i * n + c->local[c->m.indices[k]]] = c->m.values[k];
        for (size_t k = c->jt.starts[row]; k < c->jt.starts[row + 1]; k++)
            work->columns[c->slot[c->jt.indices[k]] * n + i] = c->jt.values[k];
    }
    return true;
}

static double dot(const double *a, const double *b, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Adds J M^-1 J' and J M^-1 f of one part. With M = L L': (L^-1 J')' (L^-1 J'). */
static bool condense_part(condenser *c, part_work *work) {
    size_t n = work->size;
    memcpy(work->kept, work->matrix, n * n * sizeof(double));
    bool symmetric = is_symmetric(work->matrix, n) && factor_symmetric(work->matrix, n);
    if (!symmetric) {
        memcpy(work->matrix, work->kept, n * n * sizeof(double));
        if (!factor_general(work->matrix, n, work->pivots))
            return false;
        solve_general(work->matrix, n, work->pivots, work->f);
    } else {
        forward(work->matrix, n, work->f);
    }
    memcpy(work->solved, work->columns, work->touching * n * sizeof(double));
    for (size_t t = 0; t < work->touching; t++)
        if (symmetric)
            forward(work->matrix, n, work->solved + t * n);
        else
            solve_general(work->matrix, n, work->pivots, work->solved + t * n);
    const double *left = symmetric ? work->solved : work->columns;
    for (size_t s = 0; s < work->touching; s++) {
        size_t row = c->touched[s];
        c->q[row] += dot(left + s * n, work->f, n);
        for (size_t t = 0; t < work->touching; t++)
            c->w[row * c->rows + c->touched[t]] += dot(left + s * n, work->solved + t * n, n);
    }
    return true;
}

static bool make_condenser(rg_problem_file *file, const rg_global_parts *parts, condenser *c) {
    size_t n = parts->freedom;
    rg_triplets turned = rg_triplets_transpose(parts->j);
    c->part = RG_PROBLEM_TAKE(file, uint32_t, n);
    c->local = RG_PROBLEM_TAKE(file, uint32_t, n);
    c->sizes = RG_PROBLEM_TAKE(file, size_t, n);
    c->members = RG_PROBLEM_TAKE(file, uint32_t, n);
    size_t *starts = RG_PROBLEM_TAKE(file, size_t, n + 1);
    c->touched = RG_PROBLEM_TAKE(file, uint32_t, c->rows);
    c->slot = RG_PROBLEM_TAKE(file, size_t, c->rows);
    c->seen = rg_problem_take_zeroed(file, c->rows, sizeof(size_t));
    if (!c->part || !c->local || !c->sizes || !c->members || !starts || !c->touched || !c->slot ||
        !c->seen || !rg_triplets_compress(file, &parts->m, &c->m) ||
        !rg_triplets_compress(file, &turned, &c->jt))
        return false;
    c->parts = find_parts(&parts->m, c->part, c->local, c->sizes);
    count_keys(c->part, n, starts, c->parts);
    for (size_t i = 0; i < n; i++)
        c->members[starts[c->part[i]] + c->local[i]] = (uint32_t)i;
    return true;
}

static rg_status condense(rg_problem_reader *reader, const rg_global_parts *parts, condenser *c) {
    rg_problem_file *file = reader->file;
    if (!make_condenser(file, parts, c))
        return rg_problem_no_memory(reader);
    const uint32_t *members = c->members;
    for (size_t p = 0; p < c->parts; members += c->sizes[p++]) {
        rg_arena_mark mark = rg_arena_get_mark(&file->arena);
        size_t n = c->sizes[p];
        part_work work = {.size = n, .members = members};
        work.touching = list_touching(c, p, members);
        if (n > RG_PROBLEM_MOST_DENSE / n || work.touching > RG_PROBLEM_MOST_DENSE / n)
            return rg_fail(reader->error, RG_LIMIT_EXCEEDED,
                           "%s: a part of M with %zu rows; it is too large to eliminate",
                           reader->name, n);
        if (!gather_part(file, c, &work))
            return rg_problem_no_memory(reader);
        if (!condense_part(c, &work))
            return rg_fail(reader->error, RG_SINGULAR,
                           "%s: M is singular in the part of row %u; it must have an inverse",
                           reader->name, (unsigned)members[0]);
        rg_arena_return(&file->arena, mark);
    }
    return RG_OK;
}

static rg_status fill_condensed(rg_problem_reader *reader, const rg_global_parts *parts) {
    rg_problem_file *file = reader->file;
    size_t rows = parts->contacts * (size_t)parts->dimension + parts->joints;
    if (rows > RG_PROBLEM_MOST_DENSE / (rows ? rows : 1))
        return rg_fail(reader->error, RG_LIMIT_EXCEEDED,
                       "%s: W would have %zu rows; this form of M is too large to eliminate",
                       reader->name, rows);
    condenser c = {.rows = rows, .f = parts->f};
    c.w = rg_problem_take_zeroed(file, rows * rows, sizeof(double));
    c.q = RG_PROBLEM_TAKE(file, double, rows);
    if (!c.w || !c.q)
        return rg_problem_no_memory(reader);
    memcpy(c.q, parts->q, rows * sizeof *c.q);
    rg_arena_mark mark = rg_arena_get_mark(&file->arena);
    rg_status status = condense(reader, parts, &c);
    rg_arena_return(&file->arena, mark);
    if (status != RG_OK)
        return status;
    file->info.condensed = true;
    set_contacts(file, parts, RG_FORM_LOCAL, c.q);
    file->problem.contact.w = (rg_matrix){.rows = rows, .columns = rows, .dense = c.w};
    return RG_OK;
}

/* ------------------------------------------------------------------ both */

rg_status rg_problem_fill_global(rg_problem_reader *reader, const rg_global_parts *parts) {
    /* Rigid bodies in space or in the plane first, then whatever fits, large blocks before small.
     * */
    static const size_t in_space[] = {6, 3, 5, 4, 2, 1}, in_plane[] = {3, 6, 5, 4, 2, 1};
    const size_t *sizes = parts->dimension == 3 ? in_space : in_plane;
    bool fits = false;
    reader->file->info.freedom = parts->freedom;
    for (int i = 0; i < 6 && !fits; i++) {
        rg_status status = rg_problem_fill_blocks(reader, parts, sizes[i], NULL, NULL, &fits);
        if (status != RG_OK)
            return status;
    }
    if (!fits)
        return fill_condensed(reader, parts);
    const rg_global_form *g = &reader->file->problem.contact.global;
    solve_blocks(g, parts->f, (double *)g->free_velocity);
    return RG_OK;
}
