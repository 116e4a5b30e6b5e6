/* The file driver: see record_driver.h. Everything that HDF5 calls is below.
 * Tested by tests/record/test_fold.c. */
#include "record/record_driver.h"

#include <errno.h>
#include <string.h>

typedef struct driver_info {
    rg_driver_file *file;
} driver_info;

static H5FD_t *driver_open(const char *name, unsigned flags, hid_t access, haddr_t largest) {
    (void)name;
    (void)largest;
    const driver_info *info = H5Pget_driver_info(access);
    if (!info)
        return NULL;
    rg_driver_file *file = info->file;
    uint64_t size = 0;
    file->failed = rg_disk_size(&file->disk_file, &size);
    if (!file->failed && (flags & H5F_ACC_TRUNC)) {
        file->failed = rg_disk_truncate(&file->disk_file, 0);
        size = 0;
    }
    file->eoa = 0;
    file->eof = file->seal ? file->seal->content : size;
    return file->failed ? NULL : &file->base;
}

/* The owner closes the file itself. */
static herr_t driver_close(H5FD_t *file) {
    (void)file;
    return 0;
}

/* Never the same: HDF5 would share one open file between two that know nothing of each other. */
static int driver_compare(const H5FD_t *a, const H5FD_t *b) {
    return a < b ? -1 : a > b;
}

static herr_t driver_query(const H5FD_t *file, unsigned long *flags) {
    (void)file;
    if (flags)
        *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA |
                 H5FD_FEAT_DATA_SIEVE | H5FD_FEAT_AGGREGATE_SMALLDATA;
    return 0;
}

static haddr_t driver_get_eoa(const H5FD_t *file, H5FD_mem_t type) {
    (void)type;
    return ((const rg_driver_file *)file)->eoa;
}

static herr_t driver_set_eoa(H5FD_t *file, H5FD_mem_t type, haddr_t address) {
    (void)type;
    ((rg_driver_file *)file)->eoa = address;
    return 0;
}

static haddr_t driver_get_eof(const H5FD_t *file, H5FD_mem_t type) {
    (void)type;
    return ((const rg_driver_file *)file)->eof;
}

static herr_t driver_read(H5FD_t *base, H5FD_mem_t type, hid_t transfer, haddr_t address,
                          size_t size, void *data) {
    (void)type;
    (void)transfer;
    rg_driver_file *file = (rg_driver_file *)base;
    size_t got = 0;
    int failed = file->seal ? rg_seal_check(file->seal, &file->disk_file, address, size) : 0;
    if (!failed)
        failed = rg_disk_read(&file->disk_file, data, size, address, &got);
    if (failed && !file->failed)
        file->failed = failed;
    if (failed)
        return -1;
    memset((char *)data + got, 0, size - got); /* allocated, not yet written */
    return 0;
}

static herr_t driver_write(H5FD_t *base, H5FD_mem_t type, hid_t transfer, haddr_t address,
                           size_t size, const void *data) {
    (void)type;
    (void)transfer;
    rg_driver_file *file = (rg_driver_file *)base;
    if (!file->failed)
        file->failed = rg_disk_write(&file->disk_file, data, size, address);
    if (address + size > file->eof)
        file->eof = address + size;
    return 0;
}

static herr_t driver_truncate(H5FD_t *base, hid_t transfer, hbool_t closing) {
    (void)transfer;
    (void)closing;
    rg_driver_file *file = (rg_driver_file *)base;
    if (file->eoa != file->eof) {
        if (!file->failed)
            file->failed = rg_disk_truncate(&file->disk_file, file->eoa);
        file->eof = file->eoa;
    }
    return 0;
}

hid_t rg_driver_access(rg_driver_file *file) {
    static const H5FD_class_t driver = {
#if H5_VERSION_GE(1, 14, 0)
        .version = H5FD_CLASS_VERSION,
        .value = (H5FD_class_value_t)600, /* of the range for private use */
#endif
        .name = "rigor",
        .maxaddr = (haddr_t)INT64_MAX,
        .fc_degree = H5F_CLOSE_STRONG,
        .fapl_size = sizeof(driver_info),
        .open = driver_open,
        .close = driver_close,
        .cmp = driver_compare,
        .query = driver_query,
        .get_eoa = driver_get_eoa,
        .set_eoa = driver_set_eoa,
        .get_eof = driver_get_eof,
        .read = driver_read,
        .write = driver_write,
        .truncate = driver_truncate,
        .fl_map = H5FD_FLMAP_DICHOTOMY,
    };
    driver_info info = {file};
    /* HDF5 reads the driver's table once more after it has dropped the file's reference to it: ours
     * keeps it alive. */
    hid_t id = file->driver = H5FDregister(&driver);
    hid_t access = id < 0 ? -1 : H5Pcreate(H5P_FILE_ACCESS);
    /* Format 1.10: all of its metadata carries checksums, so that a damaged file is noticed. */
    if (access >= 0 && (H5Pset_driver(access, id, &info) < 0 ||
                        H5Pset_fclose_degree(access, H5F_CLOSE_STRONG) < 0 ||
                        H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110) < 0)) {
        H5Pclose(access);
        access = -1;
    }
    if (access < 0)
        rg_driver_release(file);
    return access;
}

void rg_driver_release(rg_driver_file *file) {
    if (file->driver > 0)
        H5FDunregister(file->driver);
    file->driver = -1;
}
