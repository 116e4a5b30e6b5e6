/* FCLIB, written: the format is described in record_problem_fclib.c.
 *
 * Method: HDF5 makes the file as an image in memory, and its bytes reach the disk through
 * record_disk, beside their place first. The same problem makes the same bytes.
 * How it fails: what the format cannot hold is said before anything is written; a disk that is full
 * leaves the file as it was.
 * Tested by tests/record/test_problem.c. */
#include "base/base_text.h"
#include "problem/problem.h"
#include "record/record_hdf5.h"
#include "record/record_problem.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <string.h>

/* ------------------------------------------------------------------ writing: pieces */

typedef struct writer {
    const rg_problem *problem;
    rg_problem_file *scratch; /* its arena holds what is put together */
    hid_t file, group;        /* the root: fclib_local or fclib_global */
    bool failed, no_memory;   /* of HDF5; of the arena */
} writer;

/* A dataset of that space, which is closed. */
static void put(writer *w, hid_t group, const char *name, hid_t stored, hid_t native, hid_t space,
                const void *values) {
    hid_t properties = H5Pcreate(H5P_DATASET_CREATE), dataset = -1;
    bool good = false;
    /* No time stamps: the same problem makes the same bytes. */
    if (stored >= 0 && space >= 0 && properties >= 0 && H5Pset_obj_track_times(properties, 0) >= 0)
        dataset = H5Dcreate2(group, name, stored, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    if (dataset >= 0)
        good = H5Sget_simple_extent_npoints(space) == 0 ||
               H5Dwrite(dataset, native, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0;
    good = rg_close(dataset) && good;
    rg_close(properties);
    rg_close(space);
    w->failed = w->failed || !good;
}

static hid_t space_of(size_t count) {
    hsize_t size = count;
    return H5Screate_simple(1, &size, NULL);
}

static void put_numbers(writer *w, hid_t group, const char *name, size_t count,
                        const double *values) {
    put(w, group, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, space_of(count), values);
}

static void put_integer(writer *w, hid_t group, const char *name, int32_t value) {
    put(w, group, name, H5T_STD_I32LE, H5T_NATIVE_INT32, space_of(1), &value);
}

/* FCLIB's texts are scalars of fixed length with a zero byte at the end. */
static void put_text(writer *w, hid_t group, const char *name, const char *text) {
    const char *value = text ? text : "";
    hid_t type = H5Tcopy(H5T_C_S1);
    w->failed = w->failed || H5Tset_size(type, strlen(value) + 1) < 0;
    put(w, group, name, type, type, H5Screate(H5S_SCALAR), value);
    rg_close(type);
}

static hid_t make_group(writer *w, hid_t parent, const char *name) {
    hid_t group = H5Gcreate2(parent, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (group < 0)
        w->failed = true;
    return group;
}

static void close_group(writer *w, hid_t group) {
    if (!rg_close(group))
        w->failed = true;
}

/* The three arrays of a matrix in one of FCLIB's forms. */
typedef struct fclib_matrix {
    size_t rows, columns;
    int32_t nz; /* the form: -2 compressed rows, otherwise the number of triplets */
    size_t p_count, count;
    const int32_t *p, *i; /* p_count and count numbers */
    const double *x;
} fclib_matrix;

static void put_matrix(writer *w, const char *name, const fclib_matrix *a) {
    hid_t group = make_group(w, w->group, name);
    if (group < 0)
        return;
    put_integer(w, group, "nzmax", (int32_t)a->count);
    put_integer(w, group, "m", (int32_t)a->rows);
    put_integer(w, group, "n", (int32_t)a->columns);
    put_integer(w, group, "nz", a->nz);
    put(w, group, "p", H5T_STD_I32LE, H5T_NATIVE_INT32, space_of(a->p_count), a->p);
    put(w, group, "i", H5T_STD_I32LE, H5T_NATIVE_INT32, space_of(a->count), a->i);
    put_numbers(w, group, "x", a->count, a->x);
    close_group(w, group);
}

/* Triplets that grow up to a room known beforehand. */
typedef struct collector {
    int32_t *i, *p;
    double *x;
    size_t count;
} collector;

static bool make_collector(writer *w, size_t room, collector *c) {
    *c = (collector){RG_PROBLEM_TAKE(w->scratch, int32_t, room),
                     RG_PROBLEM_TAKE(w->scratch, int32_t, room),
                     RG_PROBLEM_TAKE(w->scratch, double, room), 0};
    if (!c->i || !c->p || !c->x)
        w->no_memory = true;
    return !w->no_memory;
}

/* Zeros are left out, -0 is not: reading gives the same bits. */
static void collect(collector *c, size_t row, size_t column, double value) {
    if (value == 0 && !signbit(value))
        return;
    c->i[c->count] = (int32_t)row;
    c->p[c->count] = (int32_t)column;
    c->x[c->count++] = value;
}

static void put_collected(writer *w, const char *name, size_t rows, size_t columns,
                          const collector *c) {
    put_matrix(
        w, name,
        &(fclib_matrix){rows, columns, (int32_t)c->count, c->count, c->count, c->p, c->i, c->x});
}

/* ------------------------------------------------------------------ writing: problems */

static double entry_of(const rg_matrix *w, size_t row, size_t column) {
    double value;
    rg_matrix_row_part(w, row, column, 1, &value);
    return value;
}

static size_t row_length(const rg_matrix *w, size_t row) {
    return w->dense ? w->columns : w->starts[row + 1] - w->starts[row];
}

static size_t row_entry(const rg_matrix *w, size_t row, size_t k, double *value) {
    if (w->dense) {
        *value = w->dense[row * w->columns + k];
        return k;
    }
    *value = w->values[w->starts[row] + k];
    return w->indices[w->starts[row] + k];
}

/* The part of W with rows [row, row + rows) and columns [column, column + columns), as compressed
 * rows; all entries that W has. */
static void put_part(writer *w, const char *name, size_t row, size_t rows, size_t column,
                     size_t columns) {
    const rg_matrix *whole = &w->problem->contact.w;
    size_t room = 0, count = 0;
    for (size_t i = 0; i < rows; i++)
        room += row_length(whole, row + i);
    int32_t *p = RG_PROBLEM_TAKE(w->scratch, int32_t, rows + 1);
    int32_t *index = RG_PROBLEM_TAKE(w->scratch, int32_t, room);
    double *x = RG_PROBLEM_TAKE(w->scratch, double, room);
    if (!p || !index || !x) {
        w->no_memory = true;
        return;
    }
    p[0] = 0;
    for (size_t i = 0; i < rows; i++) {
        for (size_t k = 0; k < row_length(whole, row + i); k++) {
            double value;
            size_t j = row_entry(whole, row + i, k, &value);
            if (j < column || j >= column + columns)
                continue;
            index[count] = (int32_t)(j - column);
            x[count++] = value;
        }
        p[i + 1] = (int32_t)count;
    }
    put_matrix(w, name, &(fclib_matrix){rows, columns, -2, rows + 1, count, p, index, x});
}

static void put_local(writer *w, hid_t vectors) {
    const rg_contact_problem *p = &w->problem->contact;
    size_t rows = p->contacts * (size_t)p->dimension;
    put_part(w, "W", 0, rows, 0, rows);
    put_numbers(w, vectors, "q", rows, p->q);
    if (p->joints == 0)
        return;
    put_part(w, "V", 0, rows, rows, p->joints);
    put_part(w, "R", rows, p->joints, rows, p->joints);
    put_numbers(w, vectors, "s", p->joints, p->q + rows);
}

/* One side of a contact or joint: `height` rows of J over a block, as columns of H or G. */
static void collect_side(collector *c, uint32_t block, size_t freedom, size_t first_row,
                         size_t height, const double *jacobian) {
    for (size_t k = 0; block != RG_NO_BLOCK && k < height; k++)
        for (size_t j = 0; j < freedom; j++)
            collect(c, block * freedom + j, first_row + k, jacobian[k * freedom + j]);
}

static void put_jacobian(writer *w, const char *name, size_t count, size_t height,
                         const uint32_t *blocks, const double *jacobian) {
    const rg_global_form *g = &w->problem->contact.global;
    size_t freedom = (size_t)g->freedom;
    collector c;
    if (!make_collector(w, 2 * count * height * freedom, &c))
        return;
    for (size_t i = 0; i < 2 * count; i++)
        collect_side(&c, blocks[i], freedom, i / 2 * height, height,
                     jacobian + i * height * freedom);
    put_collected(w, name, g->blocks * freedom, count * height, &c);
}

static void put_global(writer *w, hid_t vectors) {
    const rg_contact_problem *p = &w->problem->contact;
    const rg_global_form *g = &p->global;
    size_t n = (size_t)g->freedom, size = g->blocks * n, rows = p->contacts * (size_t)p->dimension;
    collector c;
    double *f = RG_PROBLEM_TAKE(w->scratch, double, size);
    if (!f || !make_collector(w, size * n, &c)) {
        w->no_memory = true;
        return;
    }
    for (size_t i = 0; i < size; i++)
        for (size_t j = 0; j < n; j++)
            collect(&c, i, i / n * n + j, g->mass[i * n + j]);
    put_collected(w, "M", size, size, &c);
    put_jacobian(w, "H", p->contacts, (size_t)p->dimension, g->contact_blocks, g->contact_jacobian);
    rg_global_multiply_mass(g, g->free_velocity, f);
    put_numbers(w, vectors, "f", size, f);
    put_numbers(w, vectors, "w", rows, p->q);
    if (p->joints == 0)
        return;
    put_jacobian(w, "G", p->joints, 1, g->joint_blocks, g->joint_jacobian);
    put_numbers(w, vectors, "b", p->joints, p->q + rows);
}

static void put_pairs(writer *w, hid_t group, const char *name, size_t count,
                      const uint32_t *blocks) {
    int32_t *pairs = RG_PROBLEM_TAKE(w->scratch, int32_t, 2 * count);
    if (!pairs) {
        w->no_memory = true;
        return;
    }
    for (size_t i = 0; i < 2 * count; i++)
        pairs[i] = blocks[i] == RG_NO_BLOCK ? -1 : (int32_t)blocks[i];
    put(w, group, name, H5T_STD_I32LE, H5T_NATIVE_INT32, space_of(2 * count), pairs);
}

static void put_additions(writer *w) {
    const rg_contact_problem *p = &w->problem->contact;
    const rg_global_form *g = &p->global;
    hid_t group = make_group(w, w->file, "rigor");
    if (group < 0)
        return;
    if (rg_attribute_put_double(group, "scale", w->problem->scale) < 0 ||
        rg_attribute_put_u64(group, "directions", (uint64_t)p->directions) < 0)
        w->failed = true;
    if (p->form == RG_FORM_LOCAL) {
        if (rg_attribute_put_u64(group, "dense", p->w.dense != NULL) < 0)
            w->failed = true;
    } else {
        if (rg_attribute_put_u64(group, "freedom", (uint64_t)g->freedom) < 0)
            w->failed = true;
        put_numbers(w, group, "free_velocity", g->blocks * (size_t)g->freedom, g->free_velocity);
        put_pairs(w, group, "contact_blocks", p->contacts, g->contact_blocks);
        put_pairs(w, group, "joint_blocks", p->joints, g->joint_blocks);
    }
    close_group(w, group);
}

static void put_problem(writer *w, const rg_problem_text *text) {
    const rg_contact_problem *p = &w->problem->contact;
    bool local = p->form == RG_FORM_LOCAL;
    w->group = make_group(w, w->file, local ? "fclib_local" : "fclib_global");
    if (w->group < 0)
        return;
    put_integer(w, w->group, "spacedim", p->dimension);
    hid_t info = make_group(w, w->group, "info"), vectors = make_group(w, w->group, "vectors");
    if (info >= 0 && vectors >= 0) {
        put_text(w, info, "title", text ? text->title : NULL);
        put_text(w, info, "description", text ? text->description : NULL);
        put_text(w, info, "math_info", text ? text->math_info : NULL);
        double *zeros = rg_problem_take_zeroed(w->scratch, p->contacts, sizeof(double));
        if (!zeros)
            w->no_memory = true;
        else
            put_numbers(w, vectors, "mu", p->contacts, p->mu ? p->mu : zeros);
        local ? put_local(w, vectors) : put_global(w, vectors);
    }
    close_group(w, vectors);
    close_group(w, info);
    close_group(w, w->group);
    put_additions(w);
}

/* ------------------------------------------------------------------ writing: files */

/* The block V of a local problem stands in FCLIB once, for above and below the diagonal. */
static rg_status check_joint_block(const char *path, const rg_contact_problem *p, rg_error *error) {
    size_t rows = p->contacts * (size_t)p->dimension;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = rows; j < rows + p->joints; j++)
            if (entry_of(&p->w, i, j) != entry_of(&p->w, j, i))
                return rg_fail(error, RG_UNSUPPORTED,
                               "%s: W is not symmetric at (%zu, %zu), between a contact and a "
                               "joint; FCLIB has no form for that",
                               path, i, j);
    return RG_OK;
}

static rg_status check_writable(const char *path, const rg_problem *problem, rg_error *error) {
    rg_error inner;
    rg_status status = rg_problem_check(problem, &inner);
    if (status != RG_OK)
        return rg_fail(error, status, "%s: %s", path, inner.text);
    const rg_contact_problem *p = &problem->contact;
    if (problem->kind != RG_PROBLEM_CONTACT)
        return rg_fail(error, RG_UNSUPPORTED,
                       "%s: a linear problem; FCLIB holds contact problems only", path);
    if (p->lower)
        return rg_fail(error, RG_UNSUPPORTED,
                       "%s: joint rows with bounds; FCLIB has no form for them", path);
    if (p->compliance && p->joints)
        return rg_fail(error, RG_UNSUPPORTED,
                       "%s: joint rows with a compliance; FCLIB has no form for them", path);
    size_t most = INT32_MAX, rows = rg_problem_rows(problem), entries = 0, n;
    if (p->form == RG_FORM_LOCAL) {
        entries = p->w.dense || rows == 0 ? rows * rows : p->w.starts[rows];
    } else {
        n = (size_t)p->global.freedom;
        entries = (2 * rows + p->global.blocks * n) * n;
    }
    if (rows > RG_PROBLEM_MOST_ROWS || entries > most)
        return rg_fail(error, RG_LIMIT_EXCEEDED, "%s: %zu numbers; FCLIB counts them in 32 bits",
                       path, entries);
    return p->form == RG_FORM_LOCAL ? check_joint_block(path, p, error) : RG_OK;
}

static rg_status fail_writing(rg_error *error, const char *path, int number) {
    char text[RG_DISK_MESSAGE_SIZE];
    return rg_fail(error, number == ENOMEM ? RG_OUT_OF_MEMORY : RG_WRITE_FAILED,
                   "%s: cannot be written: %s", path, rg_disk_message(number, text));
}

/* The bytes of the file, in the scratch arena. */
static rg_status make_image(writer *w, const char *path, const rg_problem_text *text,
                            rg_error *error, size_t *size, char **image) {
    rg_quiet quiet = rg_quiet_begin();
    hid_t access = rg_image_access(NULL, 0);
    *size = 0;
    *image = NULL;
    w->file = access < 0 ? -1 : H5Fcreate(RG_IMAGE_NAME, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    if (w->file >= 0) {
        put_problem(w, text);
        ssize_t length = -1;
        if (!w->failed && !w->no_memory && H5Fflush(w->file, H5F_SCOPE_GLOBAL) >= 0)
            length = H5Fget_file_image(w->file, NULL, 0);
        if (length > 0) {
            *image = RG_PROBLEM_TAKE(w->scratch, char, (size_t)length);
            w->no_memory = !*image;
        }
        if (*image && H5Fget_file_image(w->file, *image, (size_t)length) == length)
            *size = (size_t)length;
        if (H5Fclose(w->file) < 0)
            w->failed = true;
    }
    rg_close(access);
    rg_quiet_end(quiet);
    if (w->no_memory)
        return fail_writing(error, path, ENOMEM);
    if (w->failed || *size == 0)
        return rg_fail(error, RG_WRITE_FAILED, "%s: HDF5 could not create the file", path);
    return RG_OK;
}

/* `new_path` is room for the name of the file beside (record_disk.h). */
static rg_status write_image(const char *path, char *new_path, const char *image, size_t size,
                             rg_error *error) {
    rg_disk_file file;
    int failed = rg_disk_open_beside(NULL, path, new_path, &file);
    if (failed)
        return fail_writing(error, path, failed);
    failed = rg_disk_write(&file, image, size, 0);
    if (!failed)
        failed = rg_disk_sync(&file);
    rg_disk_close(&file);
    if (!failed)
        failed = rg_disk_rename(NULL, new_path, path);
    if (!failed)
        return RG_OK;
    (void)rg_disk_remove(NULL, new_path);
    return fail_writing(error, path, failed);
}

rg_status rg_problem_write_fclib(const char *path, const rg_problem *problem,
                                 const rg_problem_text *text, const rg_allocator *allocator,
                                 rg_error *error) {
    assert(path && problem);
    rg_status status = check_writable(path, problem, error);
    if (status != RG_OK)
        return status;
    if (rg_disk_is_special(path))
        return rg_fail(error, RG_WRITE_FAILED, "%s: is not a regular file; name one", path);
    rg_problem_file scratch = {.arena = rg_arena_make(allocator)};
    writer w = {.problem = problem, .scratch = &scratch};
    size_t size;
    char *image, *new_path = RG_PROBLEM_TAKE(&scratch, char, strlen(path) + RG_DISK_BESIDE_SIZE);
    if (new_path) {
        status = make_image(&w, path, text, error, &size, &image);
        if (status == RG_OK)
            status = write_image(path, new_path, image, size, error);
    } else {
        status = fail_writing(error, path, ENOMEM);
    }
    rg_arena_free(&scratch.arena);
    return status;
}
