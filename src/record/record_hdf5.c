/* Small steps of HDF5: see record_hdf5.h.
 * Tested by tests/record/test_recorder.c. */
#include "record/record_hdf5.h"

#include <string.h>

rg_quiet rg_quiet_begin(void) {
    rg_quiet quiet = {NULL, NULL};
    (void)H5Eget_auto2(H5E_DEFAULT, &quiet.function, &quiet.data);
    (void)H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    return quiet;
}

void rg_quiet_end(rg_quiet quiet) {
    (void)H5Eset_auto2(H5E_DEFAULT, quiet.function, quiet.data);
}

bool rg_close(hid_t id) {
    if (id < 0)
        return true;
    switch (H5Iget_type(id)) {
    case H5I_FILE:
        return H5Fclose(id) >= 0;
    case H5I_GROUP:
        return H5Gclose(id) >= 0;
    case H5I_DATASET:
        return H5Dclose(id) >= 0;
    case H5I_DATATYPE:
        return H5Tclose(id) >= 0;
    case H5I_DATASPACE:
        return H5Sclose(id) >= 0;
    case H5I_ATTR:
        return H5Aclose(id) >= 0;
    case H5I_GENPROP_LST:
        return H5Pclose(id) >= 0;
    default:
        return false;
    }
}

bool rg_close_all(const hid_t *ids, int count) {
    bool good = true;
    for (int i = 0; i < count; i++)
        good = rg_close(ids[i]) && good;
    return good;
}

/* ---- attributes ---- */

/* Opens the scalar attribute or makes it. */
static hid_t open_scalar(hid_t object, const char *name, hid_t type) {
    htri_t there = H5Aexists(object, name);
    if (there > 0)
        return H5Aopen(object, name, H5P_DEFAULT);
    if (there < 0)
        return -1;
    hid_t space = H5Screate(H5S_SCALAR);
    if (space < 0)
        return -1;
    hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    H5Sclose(space);
    return attribute;
}

static herr_t put_scalar(hid_t object, const char *name, hid_t file_type, hid_t memory_type,
                         const void *value) {
    hid_t attribute = open_scalar(object, name, file_type);
    if (attribute < 0)
        return -1;
    herr_t result = H5Awrite(attribute, memory_type, value);
    return H5Aclose(attribute) < 0 ? -1 : result;
}

hid_t rg_text_type(size_t size) {
    hid_t type = H5Tcopy(H5T_C_S1);
    if (type >= 0 && (H5Tset_size(type, size) < 0 || H5Tset_cset(type, H5T_CSET_UTF8) < 0 ||
                      (size != H5T_VARIABLE && H5Tset_strpad(type, H5T_STR_NULLPAD) < 0))) {
        H5Tclose(type);
        return -1;
    }
    return type;
}

herr_t rg_attribute_put_text(hid_t object, const char *name, const char *text) {
    hid_t type = rg_text_type(H5T_VARIABLE);
    if (type < 0)
        return -1;
    herr_t result = put_scalar(object, name, type, type, &text);
    H5Tclose(type);
    return result;
}

herr_t rg_attribute_put_double(hid_t object, const char *name, double value) {
    return put_scalar(object, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &value);
}

herr_t rg_attribute_put_u64(hid_t object, const char *name, uint64_t value) {
    return put_scalar(object, name, H5T_STD_U64LE, H5T_NATIVE_UINT64, &value);
}

herr_t rg_attribute_put_bool(hid_t object, const char *name, bool value) {
    const int8_t number = value, no = 0, yes = 1;
    hid_t type = H5Tenum_create(H5T_NATIVE_INT8);
    if (type < 0)
        return -1;
    herr_t result = -1;
    if (H5Tenum_insert(type, "FALSE", &no) >= 0 && H5Tenum_insert(type, "TRUE", &yes) >= 0)
        result = put_scalar(object, name, type, type, &number);
    H5Tclose(type);
    return result;
}

/* A scalar of the given class, or -1. */
static hid_t open_of_class(hid_t object, const char *name, H5T_class_t wanted) {
    hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    if (attribute < 0)
        return -1;
    hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
    bool good = type >= 0 && space >= 0 && H5Tget_class(type) == wanted &&
                H5Sget_simple_extent_npoints(space) == 1 &&
                (wanted != H5T_STRING || H5Tis_variable_str(type) > 0);
    rg_close(space);
    rg_close(type);
    if (!good) {
        H5Aclose(attribute);
        return -1;
    }
    return attribute;
}

herr_t rg_attribute_get_text(hid_t object, const char *name, const rg_allocator *allocator,
                             char **text) {
    *text = NULL;
    hid_t attribute = open_of_class(object, name, H5T_STRING);
    hid_t type = attribute < 0 ? -1 : rg_text_type(H5T_VARIABLE);
    char *stored = NULL;
    if (type >= 0 && H5Aread(attribute, type, &stored) >= 0) {
        *text = rg_copy_text(allocator, stored ? stored : "");
        H5free_memory(stored);
    }
    rg_close(type);
    rg_close(attribute);
    return *text ? 0 : -1;
}

static herr_t get_number(hid_t object, const char *name, H5T_class_t wanted, hid_t memory_type,
                         void *value) {
    hid_t attribute = open_of_class(object, name, wanted);
    if (attribute < 0)
        return -1;
    herr_t result = H5Aread(attribute, memory_type, value);
    H5Aclose(attribute);
    return result;
}

herr_t rg_attribute_get_double(hid_t object, const char *name, double *value) {
    return get_number(object, name, H5T_FLOAT, H5T_NATIVE_DOUBLE, value);
}

herr_t rg_attribute_get_u64(hid_t object, const char *name, uint64_t *value) {
    return get_number(object, name, H5T_INTEGER, H5T_NATIVE_UINT64, value);
}

herr_t rg_attribute_get_bool(hid_t object, const char *name, bool *value) {
    hid_t attribute = open_of_class(object, name, H5T_ENUM);
    if (attribute < 0)
        return -1;
    hid_t type = H5Aget_type(attribute);
    int8_t number = 0;
    herr_t result = -1;
    /* Read as it is stored: enums convert to nothing else. */
    if (type >= 0 && H5Tget_size(type) == sizeof number)
        result = H5Aread(attribute, type, &number);
    rg_close(type);
    H5Aclose(attribute);
    *value = number != 0;
    return result;
}

/* ---- other files ---- */

/* Opening a dataset reads its description only. */
static bool is_kept_outside(hid_t dataset) {
    hid_t properties = H5Dget_create_plist(dataset);
    bool outside = properties < 0 || H5Pget_external_count(properties) != 0 ||
                   H5Pget_layout(properties) == H5D_VIRTUAL;
    rg_close(properties);
    return outside;
}

/* H5Lvisit would go round for ever where a damaged group leads back to itself. */
enum { DEEPEST = 8, MOST_LINKS = 10000 }; /* ours: 3 deep, 60 links */

typedef struct look {
    bool outside;
    int depth, links;
} look;

static herr_t look_into(hid_t group, look *found);

/* Soft links lead to what is found by itself. */
static herr_t look_at_link(hid_t group, const char *name, const H5L_info_t *link, void *user) {
    look *found = user;
    if (++found->links > MOST_LINKS)
        return -1;
    if (link->type == H5L_TYPE_SOFT)
        return 0;
    found->outside = link->type != H5L_TYPE_HARD;
    hid_t object = found->outside ? -1 : H5Oopen(group, name, H5P_DEFAULT);
    herr_t result = 0;
    if (object >= 0 && H5Iget_type(object) == H5I_DATASET)
        found->outside = is_kept_outside(object);
    else if (object >= 0 && H5Iget_type(object) == H5I_GROUP)
        result = look_into(object, found);
    if (object >= 0)
        H5Oclose(object);
    return found->outside ? 1 : result;
}

static herr_t look_into(hid_t group, look *found) {
    if (found->depth == DEEPEST)
        return -1;
    found->depth++;
    herr_t result = H5Literate(group, H5_INDEX_NAME, H5_ITER_NATIVE, NULL, look_at_link, found);
    found->depth--;
    return result;
}

int rg_refers_outside(hid_t file) {
    look found = {0};
    herr_t result = look_into(file, &found);
    return found.outside ? 1 : result < 0 ? -1 : 0;
}

/* ---- datasets ---- */

/* Numbers that change shrink by a tenth, whatever the level; those at rest vanish at any. */
enum { DEFLATE_LEVEL = 1 };

hid_t rg_chunk_properties(int rank, const hsize_t *chunk, bool compressed) {
    hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    if (properties < 0)
        return -1;
    herr_t result = H5Pset_chunk(properties, rank, chunk);
    if (result >= 0 && compressed)
        result = H5Pset_shuffle(properties) < 0 ? -1 : H5Pset_deflate(properties, DEFLATE_LEVEL);
    if (result >= 0)
        result = H5Pset_fletcher32(properties);
    /* No time stamps: the same run makes the same bytes. */
    if (result >= 0)
        result = H5Pset_obj_track_times(properties, 0);
    if (result < 0) {
        H5Pclose(properties);
        return -1;
    }
    return properties;
}

hid_t rg_dataset_create(hid_t file, const char *path, hid_t type, hid_t space, hid_t properties) {
    hid_t links = H5Pcreate(H5P_LINK_CREATE), dataset = -1;
    if (type >= 0 && space >= 0 && properties >= 0 && links >= 0 &&
        H5Pset_create_intermediate_group(links, 1) >= 0)
        dataset = H5Dcreate2(file, path, type, space, links, properties, H5P_DEFAULT);
    rg_close(links);
    rg_close(properties);
    rg_close(space);
    return dataset;
}

herr_t rg_bytes_create(hid_t group, const char *name, size_t chunk_size) {
    const hsize_t size = 0, largest = H5S_UNLIMITED, chunk = chunk_size;
    hid_t space = H5Screate_simple(1, &size, &largest);
    /* Not compressed: chunks of one size are overwritten in place by every later checkpoint. */
    hid_t properties = rg_chunk_properties(1, &chunk, false);
    hid_t dataset = -1;
    if (space >= 0 && properties >= 0)
        dataset =
            H5Dcreate2(group, name, H5T_STD_U8LE, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    rg_close(properties);
    rg_close(space);
    return dataset < 0 ? -1 : H5Dclose(dataset);
}

herr_t rg_bytes_put(hid_t group, const char *name, const rg_buffer *bytes) {
    const hsize_t size = bytes->size;
    hid_t dataset = H5Dopen2(group, name, H5P_DEFAULT);
    if (dataset < 0)
        return -1;
    herr_t result = H5Dset_extent(dataset, &size);
    if (result >= 0 && size > 0)
        result = H5Dwrite(dataset, H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes->data);
    return H5Dclose(dataset) < 0 ? -1 : result;
}

herr_t rg_bytes_get(hid_t group, const char *name, rg_buffer *bytes) {
    bytes->size = 0;
    hid_t dataset = H5Dopen2(group, name, H5P_DEFAULT);
    if (dataset < 0)
        return -1;
    hid_t space = H5Dget_space(dataset);
    hssize_t size = space < 0 ? -1 : H5Sget_simple_extent_npoints(space);
    herr_t result = -1;
    if (size == 0)
        result = 0;
    else if (size > 0 && rg_array_reserve(&bytes->allocator, (void **)&bytes->data,
                                          &bytes->capacity, (size_t)size, 1) == RG_OK)
        result = H5Dread(dataset, H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes->data);
    if (result >= 0)
        bytes->size = (size_t)size;
    rg_close(space);
    H5Dclose(dataset);
    return result;
}

hid_t rg_image_access(const void *data, size_t size) {
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    if (access < 0)
        return -1;
    if (H5Pset_fapl_core(access, 1 << 16, 0) < 0 ||
        H5Pset_fclose_degree(access, H5F_CLOSE_STRONG) < 0 ||
        (data && H5Pset_file_image(access, (void *)(uintptr_t)data, size) < 0)) {
        H5Pclose(access);
        return -1;
    }
    return access;
}
