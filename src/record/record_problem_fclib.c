/* FCLIB: friction contact problems as HDF5 files, read (written: record_problem_fclib_write.c).
 *
 * Format (Acary, Bremond and Huber, FCLIB: a collection of discrete 3D frictional contact
 * problems): fclib_local/{W, V, R, vectors/{q, s, mu}, spacedim} with W r + V l + q = u, V' r + R l
 * + s = 0, or fclib_global/{M, H, G, vectors/{f, w, b, mu}, spacedim} with M v = H r + G l + f, u =
 * H' v + w, G' v + b = 0; V, R and G (joints) may be missing. A matrix is {m, n, nz, p, i, x}: nz
 * >= 0 triplets (i rows, p columns), -1 compressed columns, -2 compressed rows.
 * Method: the file is given to HDF5 as an image in memory, so that nothing is locked. Sizes are
 * compared with the length of the file before memory is taken: deflate cannot do better than 1032
 * to 1.
 * What FCLIB has no place for is in the group `rigor`: its attributes scale, directions, dense,
 * freedom; its datasets free_velocity, contact_blocks, joint_blocks (-1: none). They are used where
 * they agree with the rest (M free_velocity = f to the last bit, as it was written), so that the
 * file may be edited by others.
 * How it fails: a message with the path inside the file. HDF5 1.10 loses memory on some objects
 * that it cannot open (damaged headers), and then says "infinite loop closing library" when the
 * process ends; nothing else comes of it.
 * Tested by tests/record/test_problem.c. */
#include "record/record_problem.h"

#include "base/base_memory.h"
#include "base/base_text.h"
#include "problem/problem.h"
#include "record/record_hdf5.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The most that deflate makes of a byte, and what small files may need beside. */
enum { MOST_INFLATION = 1032, SLACK = 1 << 20 };
enum { LARGEST_NUMBER = 16 }; /* bytes of a number in a file */

static const char signature[] = "\x89HDF\r\n\x1a\n";

/* HDF5 looks for it at 0, 512, 1024, 2048, ... */
bool rg_problem_is_fclib(const char *data, size_t size) {
    size_t length = sizeof signature - 1;
    for (size_t at = 0; at + length <= size; at = at ? 2 * at : 512)
        if (memcmp(data + at, signature, length) == 0)
            return true;
    return false;
}

/* ------------------------------------------------------------------ reading: numbers */

typedef struct store {
    rg_problem_reader *reader;
    hid_t file;
    const char *root; /* "fclib_local" or "fclib_global" */
} store;

static rg_status fail_in(const store *s, rg_status status, const char *path, const char *message) {
    return rg_fail(s->reader->error, status, "%s: %s/%s: %s", s->reader->name, s->root, path,
                   message);
}

/* The whole of a dataset, of any shape, as `wanted` (integers as int64_t or floats as double). */
static rg_status read_opened(const store *s, hid_t dataset, const char *path, H5T_class_t wanted,
                             size_t *count, void **values) {
    hid_t type = H5Dget_type(dataset), space = H5Dget_space(dataset);
    H5T_class_t kind = type < 0 ? H5T_NO_CLASS : H5Tget_class(type);
    size_t size =
        type < 0 ? 0 : H5Tget_size(type); /* HDF5 converts them in a buffer of that much */
    hssize_t points = space < 0 ? -1 : H5Sget_simple_extent_npoints(space);
    rg_close(space);
    rg_close(type);
    if (kind != wanted || size > LARGEST_NUMBER)
        return fail_in(s, RG_WRONG_TYPE, path,
                       wanted == H5T_INTEGER ? "must be whole numbers" : "must be numbers");
    if (points < 0 || H5Dget_storage_size(dataset) > s->reader->size)
        return fail_in(s, RG_FILE_DAMAGED, path, "cannot be read");
    if ((uint64_t)points > ((uint64_t)s->reader->size * MOST_INFLATION + SLACK) / sizeof(double))
        return fail_in(s, RG_LIMIT_EXCEEDED, path, "is larger than the file can hold");
    *count = (size_t)points;
    *values = RG_PROBLEM_TAKE(s->reader->file, double, *count);
    if (!*values)
        return rg_problem_no_memory(s->reader);
    if (*count > 0 && H5Dread(dataset, wanted == H5T_INTEGER ? H5T_NATIVE_INT64 : H5T_NATIVE_DOUBLE,
                              H5S_ALL, H5S_ALL, H5P_DEFAULT, *values) < 0)
        return fail_in(s, RG_FILE_DAMAGED, path, "cannot be read");
    return RG_OK;
}

/* `path` below the root. A dataset that is missing is an error, or, if `optional`, an array of none
 * with *values null. */
static rg_status read_array(const store *s, const char *path, H5T_class_t wanted, bool optional,
                            size_t *count, void **values) {
    char whole[128];
    *count = 0;
    *values = NULL;
    snprintf(whole, sizeof whole, "%s/%s", s->root, path);
    hid_t dataset = H5Dopen2(s->file, whole, H5P_DEFAULT);
    if (dataset < 0)
        return optional ? RG_OK : fail_in(s, RG_FILE_DAMAGED, path, "is missing");
    rg_status status = read_opened(s, dataset, path, wanted, count, values);
    H5Dclose(dataset);
    return status;
}

static rg_status read_numbers(const store *s, const char *path, bool optional, size_t *count,
                              double **values) {
    void *data;
    rg_status status = read_array(s, path, H5T_FLOAT, optional, count, &data);
    *values = data;
    for (size_t i = 0; i < *count && status == RG_OK; i++)
        if (!isfinite((*values)[i]))
            status = rg_fail(s->reader->error, RG_NOT_FINITE,
                             "%s: %s/%s: number %zu is not finite; it must be", s->reader->name,
                             s->root, path, i);
    return status;
}

static rg_status read_whole_numbers(const store *s, const char *path, bool optional, size_t *count,
                                    int64_t **values) {
    void *data;
    rg_status status = read_array(s, path, H5T_INTEGER, optional, count, &data);
    *values = data;
    return status;
}

static rg_status read_integer(const store *s, const char *path, int64_t least, int64_t most,
                              int64_t *value) {
    size_t count;
    int64_t *values;
    rg_status status = read_whole_numbers(s, path, false, &count, &values);
    if (status != RG_OK)
        return status;
    if (count != 1)
        return fail_in(s, RG_INVALID_ARGUMENT, path, "must be one whole number");
    *value = values[0];
    if (*value >= least && *value <= most)
        return RG_OK;
    return rg_fail(s->reader->error, RG_INVALID_ARGUMENT,
                   "%s: %s/%s: is %lld; it must be from %lld to %lld", s->reader->name, s->root,
                   path, (long long)*value, (long long)least, (long long)most);
}

/* ------------------------------------------------------------------ reading: matrices */

static bool has_group(const store *s, const char *name) {
    char whole[64];
    snprintf(whole, sizeof whole, "%s/%s", s->root, name);
    return H5Lexists(s->file, whole, H5P_DEFAULT) > 0;
}

/* What the file has of a matrix. */
typedef struct raw_matrix {
    int64_t m, n, nz, *p, *i;
    size_t p_count, i_count, x_count;
    double *x;
} raw_matrix;

static rg_status read_raw(const store *s, const char *name, raw_matrix *raw) {
    char path[32];
    const int64_t most = (int64_t)RG_PROBLEM_MOST_ROWS;
    snprintf(path, sizeof path, "%s/m", name);
    rg_status status = read_integer(s, path, 0, most, &raw->m);
    snprintf(path, sizeof path, "%s/n", name);
    if (status == RG_OK)
        status = read_integer(s, path, 0, most, &raw->n);
    snprintf(path, sizeof path, "%s/nz", name);
    if (status == RG_OK)
        status = read_integer(s, path, -2, INT32_MAX, &raw->nz);
    snprintf(path, sizeof path, "%s/p", name);
    if (status == RG_OK)
        status = read_whole_numbers(s, path, false, &raw->p_count, &raw->p);
    snprintf(path, sizeof path, "%s/i", name);
    if (status == RG_OK)
        status = read_whole_numbers(s, path, false, &raw->i_count, &raw->i);
    snprintf(path, sizeof path, "%s/x", name);
    if (status == RG_OK)
        status = read_numbers(s, path, false, &raw->x_count, &raw->x);
    return status;
}

static rg_status fail_matrix(const store *s, const char *name, const char *message) {
    return fail_in(s, RG_INVALID_ARGUMENT, name, message);
}

/* Compressed columns, or rows where `rows` is set. */
static rg_status expand(const store *s, const char *name, const raw_matrix *raw, bool rows,
                        rg_triplets *t) {
    size_t major = (size_t)(rows ? raw->m : raw->n), minor = (size_t)(rows ? raw->n : raw->m);
    if (raw->p_count < major + 1 || raw->p[0] != 0)
        return fail_matrix(s, name,
                           "p must begin with 0 and have a number more than there are rows "
                           "or columns");
    for (size_t j = 0; j < major; j++)
        if (raw->p[j + 1] < raw->p[j])
            return fail_matrix(s, name, "p must ascend");
    if ((uint64_t)raw->p[major] > raw->i_count || (uint64_t)raw->p[major] > raw->x_count)
        return fail_matrix(s, name, "i and x are shorter than p says");
    if (!rg_triplets_make(s->reader->file, (size_t)raw->m, (size_t)raw->n, (size_t)raw->p[major],
                          t))
        return rg_problem_no_memory(s->reader);
    for (size_t j = 0; j < major; j++)
        for (size_t k = (size_t)raw->p[j]; k < (size_t)raw->p[j + 1]; k++) {
            if (raw->i[k] < 0 || (uint64_t)raw->i[k] >= minor)
                return fail_matrix(s, name, "an index in i is outside the matrix");
            t->row[k] = (uint32_t)(rows ? j : (size_t)raw->i[k]);
            t->column[k] = (uint32_t)(rows ? (size_t)raw->i[k] : j);
            t->value[k] = raw->x[k];
        }
    return RG_OK;
}

static rg_status read_matrix(const store *s, const char *name, rg_triplets *t) {
    raw_matrix raw;
    rg_status status = read_raw(s, name, &raw);
    if (status != RG_OK)
        return status;
    if (raw.nz < 0)
        return expand(s, name, &raw, raw.nz == -2, t);
    size_t count = (size_t)raw.nz;
    if (raw.p_count < count || raw.i_count < count || raw.x_count < count)
        return fail_matrix(s, name, "p, i and x are shorter than nz says");
    if (!rg_triplets_make(s->reader->file, (size_t)raw.m, (size_t)raw.n, count, t))
        return rg_problem_no_memory(s->reader);
    for (size_t k = 0; k < count; k++) {
        if (raw.i[k] < 0 || raw.i[k] >= raw.m || raw.p[k] < 0 || raw.p[k] >= raw.n)
            return fail_matrix(s, name, "an index in i or p is outside the matrix");
        t->row[k] = (uint32_t)raw.i[k];
        t->column[k] = (uint32_t)raw.p[k];
        t->value[k] = raw.x[k];
    }
    return RG_OK;
}

static rg_status need_size(const store *s, const char *name, size_t there, size_t wanted) {
    if (there == wanted)
        return RG_OK;
    return rg_fail(s->reader->error, RG_INVALID_ARGUMENT, "%s: %s/%s: %zu; it must be %zu",
                   s->reader->name, s->root, name, there, wanted);
}

static rg_status need_shape(const store *s, const char *name, const rg_triplets *t, size_t rows,
                            size_t columns) {
    if (t->rows == rows && t->columns == columns)
        return RG_OK;
    return rg_fail(s->reader->error, RG_INVALID_ARGUMENT,
                   "%s: %s/%s: is %zu by %zu; it must be %zu by %zu", s->reader->name, s->root,
                   name, t->rows, t->columns, rows, columns);
}

/* A vector of a known length. */
static rg_status read_vector(const store *s, const char *path, size_t wanted, double **values) {
    size_t count;
    rg_status status = read_numbers(s, path, false, &count, values);
    return status == RG_OK ? need_size(s, path, count, wanted) : status;
}

static rg_status read_friction(const store *s, size_t *contacts, double **mu) {
    rg_status status = read_numbers(s, "vectors/mu", false, contacts, mu);
    for (size_t i = 0; i < *contacts && status == RG_OK; i++)
        if ((*mu)[i] < 0)
            status = rg_fail(s->reader->error, RG_INVALID_ARGUMENT,
                             "%s: %s/vectors/mu: number %zu is negative; it must not be",
                             s->reader->name, s->root, i);
    return status;
}

/* ------------------------------------------------------------------ reading: problems */

/* What the group `rigor` adds; zero where it is not there. */
typedef struct additions {
    double scale;
    int directions;
    bool dense;
    size_t freedom, free_count, contact_count, joint_count;
    double *free_velocity;
    uint32_t *contact_blocks, *joint_blocks;
} additions;

/* Two blocks for each of `count` rows, -1 for none. */
static rg_status read_pairs(const store *s, const char *path, size_t *count, uint32_t **blocks) {
    int64_t *values;
    *blocks = NULL;
    rg_status status = read_whole_numbers(s, path, true, count, &values);
    if (status != RG_OK || !values)
        return status;
    *blocks = RG_PROBLEM_TAKE(s->reader->file, uint32_t, *count);
    if (!*blocks)
        return rg_problem_no_memory(s->reader);
    for (size_t i = 0; i < *count; i++) {
        if (values[i] < -1 || values[i] >= (int64_t)RG_PROBLEM_MOST_ROWS)
            return fail_in(s, RG_INVALID_ARGUMENT, path, "a block that cannot be");
        (*blocks)[i] = values[i] < 0 ? RG_NO_BLOCK : (uint32_t)values[i];
    }
    return RG_OK;
}

static rg_status read_additions(const store *problem, additions *more) {
    *more = (additions){0};
    store s = *problem;
    s.root = "rigor";
    if (H5Lexists(s.file, s.root, H5P_DEFAULT) <= 0)
        return RG_OK;
    hid_t group = H5Gopen2(s.file, s.root, H5P_DEFAULT);
    if (group < 0)
        return fail_in(&s, RG_FILE_DAMAGED, "", "cannot be read");
    uint64_t number;
    if (rg_attribute_get_double(group, "scale", &more->scale) < 0)
        more->scale = 0;
    if (rg_attribute_get_u64(group, "directions", &number) >= 0 && number <= RG_DIRECTIONS_MAX)
        more->directions = (int)number;
    if (rg_attribute_get_u64(group, "dense", &number) >= 0)
        more->dense = number == 1;
    if (rg_attribute_get_u64(group, "freedom", &number) >= 0 && number <= 6)
        more->freedom = (size_t)number;
    H5Gclose(group);
    if (!(more->scale >= 0 && isfinite(more->scale)))
        return fail_in(&s, RG_INVALID_ARGUMENT, "scale", "must be positive, or 0");
    rg_status status =
        read_numbers(&s, "free_velocity", true, &more->free_count, &more->free_velocity);
    if (status == RG_OK)
        status = read_pairs(&s, "contact_blocks", &more->contact_count, &more->contact_blocks);
    if (status == RG_OK)
        status = read_pairs(&s, "joint_blocks", &more->joint_count, &more->joint_blocks);
    return status;
}

/* Adds the entries of `from` at (row, column). */
static void paste(rg_triplets *to, const rg_triplets *from, size_t row, size_t column) {
    for (size_t k = 0; k < from->count; k++) {
        to->row[to->count] = (uint32_t)(from->row[k] + row);
        to->column[to->count] = (uint32_t)(from->column[k] + column);
        to->value[to->count++] = from->value[k];
    }
}

/* [W V; V' R] and (q, s). */
static rg_status join_local(const store *s, rg_triplets *w, double **q, size_t *joints) {
    rg_triplets v, r, whole;
    size_t rows = w->rows;
    double *small;
    rg_status status = read_matrix(s, "V", &v);
    if (status == RG_OK)
        status = need_shape(s, "V", &v, rows, *joints = v.columns);
    if (status == RG_OK)
        status = read_matrix(s, "R", &r);
    if (status == RG_OK)
        status = need_shape(s, "R", &r, *joints, *joints);
    if (status == RG_OK)
        status = read_vector(s, "vectors/s", *joints, &small);
    if (status != RG_OK)
        return status;
    size_t size = rows + *joints;
    double *joined = RG_PROBLEM_TAKE(s->reader->file, double, size);
    if (!joined ||
        !rg_triplets_make(s->reader->file, size, size, w->count + 2 * v.count + r.count, &whole))
        return rg_problem_no_memory(s->reader);
    rg_triplets turned = rg_triplets_transpose(v);
    whole.count = 0;
    paste(&whole, w, 0, 0);
    paste(&whole, &v, 0, rows);
    paste(&whole, &turned, rows, 0);
    paste(&whole, &r, rows, rows);
    memcpy(joined, *q, rows * sizeof *joined);
    memcpy(joined + rows, small, *joints * sizeof *joined);
    *w = whole;
    *q = joined;
    return RG_OK;
}

static rg_status read_local(const store *s, size_t dimension) {
    rg_problem_file *file = s->reader->file;
    size_t contacts, joints = 0;
    double *mu, *q;
    rg_triplets w;
    additions more;
    rg_status status = read_friction(s, &contacts, &mu);
    if (status == RG_OK)
        status = read_matrix(s, "W", &w);
    if (status == RG_OK)
        status = need_shape(s, "W", &w, dimension * contacts, dimension * contacts);
    if (status == RG_OK)
        status = read_vector(s, "vectors/q", w.rows, &q);
    if (status == RG_OK && has_group(s, "V"))
        status = join_local(s, &w, &q, &joints);
    if (status == RG_OK)
        status = read_additions(s, &more);
    if (status != RG_OK)
        return status;
    file->problem.kind = RG_PROBLEM_CONTACT;
    file->problem.scale = more.scale;
    rg_contact_problem *p = &file->problem.contact;
    *p = (rg_contact_problem){.dimension = (int)dimension,
                              .contacts = contacts,
                              .joints = joints,
                              .mu = mu,
                              .directions = more.directions,
                              .form = RG_FORM_LOCAL,
                              .w = {.rows = w.rows, .columns = w.columns},
                              .q = q};
    if (more.dense && (w.rows == 0 || w.rows <= RG_PROBLEM_MOST_DENSE / w.rows)) {
        double *dense;
        if (!rg_triplets_spread(file, &w, &dense))
            return rg_problem_no_memory(s->reader);
        p->w.dense = dense;
    } else if (!rg_triplets_compress(file, &w, &p->w)) {
        return rg_problem_no_memory(s->reader);
    }
    return RG_OK;
}

/* J = [H'; G'] and (w, b). */
static rg_status join_global(const store *s, rg_global_parts *parts) {
    rg_triplets g, whole;
    rg_triplets *h = &parts->j;
    double *b;
    rg_status status = read_matrix(s, "G", &g);
    if (status == RG_OK)
        status = need_shape(s, "G", &g, parts->freedom, g.columns);
    if (status == RG_OK)
        status = read_vector(s, "vectors/b", g.columns, &b);
    if (status != RG_OK)
        return status;
    size_t rows = h->rows, joints = g.columns;
    double *joined = RG_PROBLEM_TAKE(s->reader->file, double, rows + joints);
    if (!joined || !rg_triplets_make(s->reader->file, rows + joints, parts->freedom,
                                     h->count + g.count, &whole))
        return rg_problem_no_memory(s->reader);
    rg_triplets turned = rg_triplets_transpose(g);
    whole.count = 0;
    paste(&whole, h, 0, 0);
    paste(&whole, &turned, rows, 0);
    memcpy(joined, parts->q, rows * sizeof *joined);
    memcpy(joined + rows, b, joints * sizeof *joined);
    parts->j = whole;
    parts->q = joined;
    parts->joints = joints;
    return RG_OK;
}

/* Takes the blocks and free velocities of the group `rigor`, if they agree with the rest. */
static rg_status use_additions(const store *s, const rg_global_parts *parts, const additions *more,
                               bool *used) {
    rg_problem_file *file = s->reader->file;
    *used = false;
    if (more->freedom == 0 || more->free_count != parts->freedom ||
        more->contact_count != 2 * parts->contacts || more->joint_count != 2 * parts->joints)
        return RG_OK;
    double *f = RG_PROBLEM_TAKE(file, double, parts->freedom);
    if (!f)
        return rg_problem_no_memory(s->reader);
    rg_status status = rg_problem_fill_blocks(s->reader, parts, more->freedom, more->contact_blocks,
                                              more->joint_blocks, used);
    if (status != RG_OK || !*used)
        return status;
    rg_global_form *g = &file->problem.contact.global;
    rg_global_multiply_mass(g, more->free_velocity, f);
    for (size_t i = 0; i < parts->freedom && *used; i++)
        *used = f[i] == parts->f[i];
    if (*used)
        g->free_velocity = more->free_velocity;
    file->info.freedom = parts->freedom;
    return RG_OK;
}

static rg_status read_global(const store *s, size_t dimension) {
    rg_global_parts parts = {.dimension = (int)dimension};
    rg_triplets h;
    additions more;
    bool used;
    rg_status status = read_friction(s, &parts.contacts, &parts.mu);
    if (status == RG_OK)
        status = read_matrix(s, "M", &parts.m);
    if (status != RG_OK)
        return status;
    parts.freedom = parts.m.rows;
    status = need_shape(s, "M", &parts.m, parts.freedom, parts.freedom);
    if (status == RG_OK)
        status = read_matrix(s, "H", &h);
    if (status == RG_OK)
        status = need_shape(s, "H", &h, parts.freedom, dimension * parts.contacts);
    if (status == RG_OK)
        status = read_vector(s, "vectors/f", parts.freedom, &parts.f);
    if (status == RG_OK)
        status = read_vector(s, "vectors/w", h.columns, &parts.q);
    if (status != RG_OK)
        return status;
    parts.j = rg_triplets_transpose(h);
    if (has_group(s, "G"))
        status = join_global(s, &parts);
    if (status == RG_OK)
        status = read_additions(s, &more);
    if (status == RG_OK)
        status = use_additions(s, &parts, &more, &used);
    if (status == RG_OK && !used)
        status = rg_problem_fill_global(s->reader, &parts);
    s->reader->file->problem.scale = more.scale;
    s->reader->file->problem.contact.directions = more.directions;
    return status;
}

/* ------------------------------------------------------------------ reading: the rest */

/* A text of fixed length, as FCLIB writes it; "" if there is none. */
static rg_status read_text(const store *s, const char *path, const char **text) {
    char whole[64];
    *text = "";
    snprintf(whole, sizeof whole, "%s/%s", s->root, path);
    hid_t dataset = H5Dopen2(s->file, whole, H5P_DEFAULT);
    if (dataset < 0)
        return RG_OK;
    rg_status status = RG_OK;
    hid_t type = H5Dget_type(dataset), space = H5Dget_space(dataset);
    size_t size = type < 0 ? 0 : H5Tget_size(type);
    if (type >= 0 && space >= 0 && H5Tget_class(type) == H5T_STRING &&
        H5Tis_variable_str(type) == 0 && H5Sget_simple_extent_npoints(space) == 1 &&
        size <= s->reader->size) {
        char *copy = rg_problem_take_zeroed(s->reader->file, size + 1, 1);
        if (!copy)
            status = rg_problem_no_memory(s->reader);
        else if (H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, copy) >= 0) {
            size_t first = strspn(copy, " \t\r\n"), end = strlen(copy);
            while (end > first && strchr(" \t\r\n", copy[end - 1]))
                copy[--end] = '\0';
            *text = copy + first;
        }
    }
    rg_close(space);
    rg_close(type);
    H5Dclose(dataset);
    return status;
}

/* solution/r and solution/l, unless they are nothing but zeros, as Siconos leaves them before it
 * has solved anything. */
static rg_status read_solution(const store *problem) {
    rg_problem_file *file = problem->reader->file;
    const rg_contact_problem *p = &file->problem.contact;
    store s = *problem;
    size_t rows = p->contacts * (size_t)p->dimension, count, joint_count;
    double *r, *l;
    bool any = false;
    s.root = "solution";
    rg_status status = read_numbers(&s, "r", true, &count, &r);
    if (status == RG_OK)
        status = read_numbers(&s, "l", true, &joint_count, &l);
    if (status != RG_OK || !r || count != rows || joint_count != p->joints)
        return status == RG_OUT_OF_MEMORY ? status : RG_OK;
    double *reference = RG_PROBLEM_TAKE(file, double, rows + p->joints);
    if (!reference)
        return rg_problem_no_memory(s.reader);
    for (size_t i = 0; i < rows + p->joints; i++) {
        reference[i] = i < rows ? r[i] : l[i - rows];
        any = any || reference[i] != 0;
    }
    if (any)
        file->info.reference = reference;
    return RG_OK;
}

static rg_status read_root(store *s) {
    int64_t dimension;
    int outside = rg_refers_outside(s->file);
    if (outside)
        return rg_fail(s->reader->error, outside > 0 ? RG_UNSUPPORTED : RG_FILE_DAMAGED,
                       outside > 0 ? "%s: has data in another file; a problem must be one file "
                                     "that holds all of its data"
                                   : "%s: is damaged: what is in it cannot be listed",
                       s->reader->name);
    bool local = H5Lexists(s->file, "fclib_local", H5P_DEFAULT) > 0;
    if (!local && H5Lexists(s->file, "fclib_global", H5P_DEFAULT) <= 0)
        return rg_fail(s->reader->error, RG_SYNTAX,
                       "%s: an HDF5 file without fclib_local or fclib_global; one of them must be "
                       "there",
                       s->reader->name);
    s->root = local ? "fclib_local" : "fclib_global";
    rg_status status = read_integer(s, "spacedim", 1, 3, &dimension);
    if (status == RG_OK)
        status = local ? read_local(s, (size_t)dimension) : read_global(s, (size_t)dimension);
    if (status == RG_OK)
        status = read_text(s, "info/title", &s->reader->file->info.title);
    if (status == RG_OK)
        status = read_text(s, "info/description", &s->reader->file->info.remark);
    if (status == RG_OK)
        status = read_solution(s);
    return status;
}

rg_status rg_problem_read_fclib(rg_problem_reader *reader) {
    rg_quiet quiet = rg_quiet_begin();
    hid_t access = rg_image_access(reader->data, reader->size);
    store s = {.reader = reader, .file = -1, .root = ""};
    if (access >= 0)
        s.file = H5Fopen(RG_IMAGE_NAME, H5F_ACC_RDONLY, access);
    rg_status status;
    if (s.file < 0)
        status = rg_fail(reader->error, RG_FILE_DAMAGED,
                         "%s: is not an HDF5 file, or is cut short or damaged", reader->name);
    else
        status = read_root(&s);
    rg_close(s.file);
    rg_close(access);
    rg_quiet_end(quiet);
    return status;
}
