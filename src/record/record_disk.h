/* The few file operations that recordings stand on, each answering with 0 or an errno, each passing
 * a gate first.
 *
 * The gate is how the tests break things: it may refuse an operation with an errno (a full disk),
 * or refuse everything from a moment on, which leaves on the disk exactly what a kill at that
 * moment would leave. Outside the tests there is none. */
#ifndef RIGOR_RECORD_DISK_H
#define RIGOR_RECORD_DISK_H

#include "rigor/status.h"
#include "rigor/types.h"

/* `operation` is "open", "write", "sync", "truncate", "rename" or "remove". 0 lets it happen. */
typedef int rg_disk_gate(void *user, const char *operation, const char *path);

typedef struct rg_disk {
    rg_disk_gate *gate; /* null: everything may happen */
    void *user;
} rg_disk;

/* An open file; fd -1 is none. `path` is borrowed and only named in gates. */
typedef struct rg_disk_file {
    const rg_disk *disk;
    const char *path;
    int fd;
} rg_disk_file;

/* Read only, read and write, read and write with the old content gone (made if missing), or read
 * and write a file that was not there (EEXIST if it was). */
typedef enum rg_disk_mode { RG_DISK_READ, RG_DISK_CHANGE, RG_DISK_NEW, RG_DISK_FIRST } rg_disk_mode;

/* Anything but a regular file is refused, with EISDIR or RG_DISK_NOT_REGULAR: reading a pipe would
 * wait for a writer that may never come. */
enum { RG_DISK_NOT_REGULAR = -1 }; /* no errno has this value */
int rg_disk_open(const rg_disk *disk, const char *path, rg_disk_mode mode, rg_disk_file *file);
/* A new file beside `path`, for what is renamed into its place when it is whole: PATH.new, or
 * PATH.new-1 and so on where there is such a file, which stays as it is. `name` is room for
 * strlen(path) + RG_DISK_BESIDE_SIZE bytes that last as long as the file is open. */
enum { RG_DISK_BESIDE_SIZE = sizeof ".new-999" };
int rg_disk_open_beside(const rg_disk *disk, const char *path, char *name, rg_disk_file *file);
void rg_disk_close(rg_disk_file *file);
int rg_disk_write(rg_disk_file *file, const void *data, size_t size, uint64_t offset);
/* *got < size only at the end of the file. */
int rg_disk_read(const rg_disk_file *file, void *data, size_t size, uint64_t offset, size_t *got);
int rg_disk_size(const rg_disk_file *file, uint64_t *size);
int rg_disk_truncate(rg_disk_file *file, uint64_t size);
/* To the storage itself. */
int rg_disk_sync(rg_disk_file *file);
/* Replaces `to` as a whole and makes that last. */
int rg_disk_rename(const rg_disk *disk, const char *from, const char *to);
int rg_disk_remove(const rg_disk *disk, const char *path); /* nothing there is no error */
bool rg_disk_exists(const char *path);
/* A directory, device, pipe ...: something that a rename must not replace. */
bool rg_disk_is_special(const char *path);
/* Whether both paths name the same existing file. */
bool rg_disk_is_same(const char *path, const char *other);
/* Takes the file for this process; EBUSY if another holds it. Where the file system knows no locks,
 * everybody gets it. Let go when the file is closed. */
int rg_disk_lock(rg_disk_file *file);
/* Whether `path` still names this open file. */
bool rg_disk_is_at(const rg_disk_file *file, const char *path);

enum { RG_DISK_MESSAGE_SIZE = 128 };
/* strerror, thread safe. */
const char *rg_disk_message(int number, char text[RG_DISK_MESSAGE_SIZE]);

#endif
