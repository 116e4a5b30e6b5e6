/* A new FILE: description, bodies, and empty datasets that grow. See record_store.h.
 * Tested by tests/record/test_recorder.c. */
#include "record/record_layout.h"

#include "base/base_text.h"

#include <string.h>

static hsize_t smaller(hsize_t a, hsize_t b) {
    return a < b ? a : b;
}

herr_t rg_store_describe(hid_t object, const char *unit, const char *meaning) {
    return rg_attribute_put_text(object, "unit", unit) < 0
               ? -1
               : rg_attribute_put_text(object, "meaning", meaning);
}

static herr_t create_data(rg_store *store, int which) {
    const struct rg_data_kind *kind = &rg_data_kinds[which];
    hsize_t bodies = store->identity.body_count;
    int rank = kind->columns ? 3 : 1;
    hsize_t size[3] = {0, bodies, kind->columns};
    hsize_t largest[3] = {H5S_UNLIMITED, bodies ? bodies : H5S_UNLIMITED, kind->columns};
    hsize_t chunk[3] = {kind->columns ? store->chunk_frames : RG_CHUNK_FRAMES,
                        smaller(bodies ? bodies : 1, RG_CHUNK_BODIES), kind->columns};
    hid_t type = kind->is_integer ? H5T_STD_U64LE : H5T_IEEE_F64LE;
    store->data[which] =
        rg_dataset_create(store->file, kind->path, type, H5Screate_simple(rank, size, largest),
                          rg_chunk_properties(rank, chunk, true));
    if (store->data[which] < 0)
        return -1;
    return rg_store_describe(store->data[which], kind->unit, kind->meaning);
}

/* A dataset that is written once. Chunked (whole, or by RG_CHUNK_BODIES rows) for compression and
 * checksums. */
typedef struct fixed_table {
    const char *name, *unit, *meaning;
    hid_t type;
    hsize_t rows, columns; /* 0 columns: a list */
    const void *values;
} fixed_table;

static herr_t write_fixed(hid_t group, const fixed_table *table) {
    hsize_t rows = table->rows, columns = table->columns;
    int rank = columns ? 2 : 1;
    hsize_t size[2] = {rows, columns},
            chunk[2] = {smaller(rows ? rows : 1, RG_CHUNK_BODIES), columns};
    hsize_t largest[2] = {rows ? rows : H5S_UNLIMITED, columns};
    hid_t space = H5Screate_simple(rank, size, largest);
    hid_t properties = rg_chunk_properties(rank, chunk, true);
    hid_t dataset = -1;
    herr_t result = -1;
    if (space >= 0 && properties >= 0)
        dataset = H5Dcreate2(group, table->name, table->type, space, H5P_DEFAULT, properties,
                             H5P_DEFAULT);
    if (dataset >= 0)
        result = rg_store_describe(dataset, table->unit, table->meaning);
    if (result >= 0 && rows > 0)
        result = H5Dwrite(dataset, table->type, H5S_ALL, H5S_ALL, H5P_DEFAULT, table->values);
    if (!rg_close(dataset))
        result = -1;
    rg_close(properties);
    rg_close(space);
    return result;
}

static hid_t motion_type(void) {
    static const char *const names[] = {"dynamic", "fixed", "kinematic"};
    hid_t type = H5Tenum_create(H5T_NATIVE_INT8);
    for (int8_t i = 0; type >= 0 && i < 3; i++)
        if (H5Tenum_insert(type, names[i], &i) < 0) {
            H5Tclose(type);
            return -1;
        }
    return type;
}

/* Tables of the bodies, in memory of one allocation. */
typedef struct body_tables {
    double *mass, *local_centre;
    int8_t *motion;
    char *names;
    size_t name_size;
} body_tables;

static bool make_tables(body_tables *tables, const rg_world *world, const rg_allocator *allocator) {
    size_t count = rg_world_body_count(world);
    tables->name_size = 1;
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(rg_body_name(world, rg_world_body_at(world, i)));
        if (length > tables->name_size)
            tables->name_size = length;
    }
    tables->mass = rg_allocate(allocator, count, sizeof(double));
    tables->local_centre = rg_allocate(allocator, count, 7 * sizeof(double));
    tables->motion = rg_allocate(allocator, count, 1);
    tables->names = rg_allocate_zeroed(allocator, count, tables->name_size);
    if (!tables->mass || !tables->local_centre || !tables->motion || !tables->names)
        return false;
    for (size_t i = 0; i < count; i++) {
        rg_body_id body = rg_world_body_at(world, i);
        rg_pose centre = rg_body_local_centre(world, body);
        const char *name = rg_body_name(world, body);
        tables->mass[i] = rg_body_mass(world, body).mass;
        memcpy(tables->local_centre + 7 * i, &centre, sizeof centre);
        tables->motion[i] = (int8_t)rg_body_motion(world, body);
        memcpy(tables->names + i * tables->name_size, name, strlen(name));
    }
    return true;
}

static herr_t write_bodies(hid_t file, const rg_world *world, const rg_allocator *allocator) {
    body_tables tables = {0};
    hsize_t count = rg_world_body_count(world);
    herr_t result = -1;
    if (make_tables(&tables, world, allocator)) {
        hid_t group = H5Gcreate2(file, "bodies", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        hid_t text = rg_text_type(tables.name_size), motion = motion_type();
        if (group >= 0 && text >= 0 && motion >= 0 &&
            write_fixed(group,
                        &(fixed_table){"name", "1", "as in the scene; empty for bodies without one",
                                       text, count, 0, tables.names}) >= 0 &&
            write_fixed(group, &(fixed_table){"mass", "kg", "mass; 0 for a body that has none",
                                              H5T_NATIVE_DOUBLE, count, 0, tables.mass}) >= 0 &&
            write_fixed(group, &(fixed_table){"motion", "1", "dynamic, fixed or kinematic", motion,
                                              count, 0, tables.motion}) >= 0 &&
            write_fixed(group,
                        &(fixed_table){
                            "local_centre", "m, 1",
                            "centre-of-mass frame in the origin frame: position x y z, orientation "
                            "x y z w",
                            H5T_NATIVE_DOUBLE, count, 7, tables.local_centre}) >= 0)
            result = 0;
        rg_close(motion);
        rg_close(text);
        rg_close(group);
    }
    rg_release(allocator, tables.mass);
    rg_release(allocator, tables.local_centre);
    rg_release(allocator, tables.motion);
    rg_release(allocator, tables.names);
    return result;
}

static herr_t write_identity(hid_t file, const rg_store_identity *identity) {
    struct {
        const char *name, *text;
    } texts[] = {
        {"format", RG_FORMAT_NAME},           {"rigor_version", identity->version},
        {"scene_name", identity->scene_name}, {"method", identity->method},
        {"builtin", identity->builtin},       {"builtin_parameters", identity->builtin_parameters}};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (rg_attribute_put_text(file, texts[i].name, texts[i].text) < 0)
            return -1;
    uint64_t version = !identity->has_certificate                     ? 1
                       : !rg_rows_has(identity->rows, RG_ROWS_EVENTS) ? 2
                       : rg_rows_has(identity->rows, RG_ROWS_LOADS)   ? RG_FORMAT_VERSION
                       : !rg_rows_has(identity->rows, RG_ROWS_JOINTS) ? 3
                                                                      : 4;
    if (identity->partial && rg_attribute_put_text(file, "partial", identity->partial) < 0)
        return -1;
    if (rg_attribute_put_u64(file, "format_version", version) < 0 ||
        rg_attribute_put_u64(file, "run_id", identity->run_id) < 0 ||
        rg_attribute_put_bool(file, "planar", identity->planar) < 0 ||
        rg_attribute_put_bool(file, "finished", false) < 0 ||
        rg_attribute_put_double(file, "step", identity->step) < 0 ||
        rg_attribute_put_double(file, "duration", identity->duration) < 0 ||
        rg_attribute_put_double(file, "record_every", identity->record_every) < 0)
        return -1;
    /* A text type has at least one byte. */
    hid_t type = rg_text_type(identity->scene_size ? identity->scene_size : 1);
    if (type < 0)
        return -1;
    herr_t result =
        write_fixed(file, &(fixed_table){"scene", "1", "the scene file that this recording is of",
                                         type, 1, 0, identity->scene_text});
    H5Tclose(type);
    return result;
}

static herr_t create_checkpoint(hid_t file, const rg_store_identity *identity) {
    hid_t checkpoint = H5Gcreate2(file, "checkpoint", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    hid_t summary = H5Gcreate2(file, "summary", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    herr_t result = -1;
    if (checkpoint >= 0 && summary >= 0 && rg_bytes_create(checkpoint, "state", 1 << 14) >= 0 &&
        rg_bytes_create(checkpoint, "observations", 1 << 14) >= 0 &&
        (!identity->has_certificate || rg_bytes_create(checkpoint, "interval", 1 << 9) >= 0))
        result = 0;
    for (int i = RG_ROWS_EVENTS; i < RG_ROWS_COUNT && result >= 0; i++)
        if (rg_rows_has(identity->rows, i))
            result = rg_bytes_create(checkpoint, rg_rows_name(i), 1 << 14);
    rg_close(summary);
    rg_close(checkpoint);
    return result;
}

static herr_t create_contents(rg_store *store, const rg_world *world) {
    hid_t access = rg_driver_access(&store->driver);
    if (access < 0)
        return -1;
    store->file = H5Fcreate(store->driver.disk_file.path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    H5Pclose(access);
    if (store->file < 0 || write_identity(store->file, &store->identity) < 0 ||
        write_bodies(store->file, world, &store->allocator) < 0)
        return -1;
    unsigned parts = rg_store_parts(store);
    for (int i = 0; i < RG_DATA_COUNT; i++)
        if ((rg_data_kinds[i].part & parts) && create_data(store, i) < 0)
            return -1;
    return rg_tables_create(store) < 0 || rg_rows_create(store) < 0
               ? -1
               : create_checkpoint(store->file, &store->identity);
}

rg_status rg_store_create(rg_disk_file file, const rg_store_identity *identity,
                          const rg_world *world, const rg_allocator *allocator, rg_store **store,
                          rg_error *error) {
    *store = NULL;
    rg_store *made = rg_store_make(file, true, allocator);
    if (!made)
        return rg_fail(error, RG_OUT_OF_MEMORY, "%s: no memory for a recording", file.path);
    made->identity = *identity;
    made->chunk_frames = rg_store_frames_of_chunk(identity->body_count);
    rg_quiet quiet = rg_quiet_begin();
    rg_status status = RG_OK;
    if (create_contents(made, world) < 0) {
        (void)rg_store_close_handles(made);
        status = rg_store_fail_writing(made, error);
        rg_store_free(made);
    } else {
        *store = made;
    }
    rg_quiet_end(quiet);
    return status;
}
