/* Small steps of HDF5 that the store is made of: quiet calls, attributes, whole datasets. Negative
 * answers are failures, as in HDF5 itself. */
#ifndef RIGOR_RECORD_HDF5_H
#define RIGOR_RECORD_HDF5_H

#include "base/base_memory.h"
#include "record/record_driver.h"

/* HDF5 prints an essay on standard error with every failure unless it is told not to. The setting
 * belongs to the thread (or to the program, in builds of HDF5 without threads), so it is put back.
 */
typedef struct rg_quiet {
    H5E_auto2_t function;
    void *data;
} rg_quiet;
rg_quiet rg_quiet_begin(void);
void rg_quiet_end(rg_quiet quiet);

/* Closes whatever the identifier stands for: true if that went well, or if it is negative. */
bool rg_close(hid_t id);
/* All of several, whether one fails or not. */
bool rg_close_all(const hid_t *ids, int count);

/* Whether HDF5 would go to other files for what is in this one: external links, external storage,
 * virtual datasets. Such a file decides which files of this machine are read. Negative: what is in
 * the file cannot be listed, and so not be told. */
int rg_refers_outside(hid_t file);

herr_t rg_attribute_put_text(hid_t object, const char *name, const char *text);
herr_t rg_attribute_put_double(hid_t object, const char *name, double value);
herr_t rg_attribute_put_u64(hid_t object, const char *name, uint64_t value);
/* As the type that h5py shows as a bool. */
herr_t rg_attribute_put_bool(hid_t object, const char *name, bool value);
/* Absent or of another type: a failure. */
herr_t rg_attribute_get_text(hid_t object, const char *name, const rg_allocator *allocator,
                             char **text);
herr_t rg_attribute_get_double(hid_t object, const char *name, double *value);
herr_t rg_attribute_get_u64(hid_t object, const char *name, uint64_t *value);
herr_t rg_attribute_get_bool(hid_t object, const char *name, bool *value);

/* A UTF-8 text type of `size` bytes, zero-padded; H5T_VARIABLE for any length. */
hid_t rg_text_type(size_t size);
/* A property list for chunks, compressed (shuffle, deflate) and with checksums. */
hid_t rg_chunk_properties(int rank, const hsize_t *chunk, bool compressed);

/* A new dataset of a file, with the groups of its path; takes space and properties with it. */
hid_t rg_dataset_create(hid_t file, const char *path, hid_t type, hid_t space, hid_t properties);

/* All bytes of a one-dimensional dataset of uint8, growing and shrinking by chunks. */
herr_t rg_bytes_create(hid_t group, const char *name, size_t chunk_size);
herr_t rg_bytes_put(hid_t group, const char *name, const rg_buffer *bytes);
herr_t rg_bytes_get(hid_t group, const char *name, rg_buffer *bytes);

/* Access to a file in memory, made from an image or empty. HDF5 refuses to open an image under the
 * name of a file that exists; this one cannot. */
#define RG_IMAGE_NAME "/dev/null/problem"
hid_t rg_image_access(const void *data, size_t size);

#endif
