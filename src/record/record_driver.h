/* A file driver for HDF5 on top of record_disk.
 *
 * HDF5's own driver answers a full disk with an error from inside H5Fclose, after which the file
 * cannot be closed and the library complains at exit. This one remembers the first failure,
 * swallows the writes after it so that HDF5 can close everything in good order, and reports the
 * errno at the end; the caller then throws the (temporary) file away. It takes no locks: FILE is
 * never written in place, so there is nothing to lock, and reading works where locking does not
 * (read-only network shares). And it passes the gate of record_disk, so that the tests reach every
 * write. */
#ifndef RIGOR_RECORD_DRIVER_H
#define RIGOR_RECORD_DRIVER_H

#include "record/record_disk.h"
#include "record/record_seal.h"

#include <hdf5.h>
#if H5_VERSION_GE(1, 14, 0)
#include <H5FDdevelop.h>
#endif

typedef struct rg_driver_file {
    H5FD_t base; /* HDF5's part: first */
    rg_disk_file disk_file;
    rg_seal *seal;    /* what is read is compared with it; null: a new file */
    hid_t driver;     /* set by rg_driver_access */
    haddr_t eoa, eof; /* end of what HDF5 has allocated; end of the file */
    int failed;       /* first errno of a read or write, 0 for none; EBADMSG: the seal is broken */
} rg_driver_file;

/* A file access property list that makes H5Fcreate or H5Fopen use `file`, whose disk_file is open
 * and which must stay where it is until the HDF5 file is closed. Negative on failure. Objects left
 * open are closed with the file. */
hid_t rg_driver_access(rg_driver_file *file);
/* After the HDF5 file is closed, or could not be opened. */
void rg_driver_release(rg_driver_file *file);

#endif
