/* File operations of recordings: see record_disk.h.
 *
 * Writes are made at once and whole: what a process has written is in the page cache, which a
 * SIGKILL does not touch. Only a power failure or a crash of the system can lose it, and against
 * those a file is synced before it is renamed into place, and its directory after.
 * Tested by tests/record/test_disk.c and test_fold.c. */
#include "record/record_disk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static int pass_gate(const rg_disk *disk, const char *operation, const char *path) {
    return disk && disk->gate ? disk->gate(disk->user, operation, path) : 0;
}

int rg_disk_open(const rg_disk *disk, const char *path, rg_disk_mode mode, rg_disk_file *file) {
    *file = (rg_disk_file){disk, path, -1};
    int refused = mode == RG_DISK_READ ? 0 : pass_gate(disk, "open", path);
    if (refused)
        return refused;
    static const int flags[] = {O_RDONLY, O_RDWR, O_RDWR | O_CREAT | O_TRUNC,
                                O_RDWR | O_CREAT | O_EXCL};
    do /* without O_NONBLOCK, opening a pipe waits for its other end */
        file->fd = open(path, flags[mode] | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666);
    while (file->fd < 0 && errno == EINTR);
    if (file->fd < 0)
        return errno;
    struct stat status;
    int failed = fstat(file->fd, &status) != 0 ? errno
                 : S_ISDIR(status.st_mode)     ? EISDIR
                 : !S_ISREG(status.st_mode)    ? RG_DISK_NOT_REGULAR
                                               : 0;
    if (failed)
        rg_disk_close(file);
    return failed;
}

int rg_disk_open_beside(const rg_disk *disk, const char *path, char *name, rg_disk_file *file) {
    enum { TRIES = 1000 };
    size_t room = strlen(path) + RG_DISK_BESIDE_SIZE;
    snprintf(name, room, "%s.new", path);
    int failed = rg_disk_open(disk, name, RG_DISK_FIRST, file);
    for (int i = 1; i < TRIES && failed == EEXIST; i++) {
        snprintf(name, room, "%s.new-%d", path, i);
        failed = rg_disk_open(disk, name, RG_DISK_FIRST, file);
    }
    return failed;
}

void rg_disk_close(rg_disk_file *file) {
    if (file->fd >= 0)
        close(file->fd);
    file->fd = -1;
}

/* Linux moves at most 0x7ffff000 bytes in one call; stay below. */
static const size_t largest_transfer = (size_t)1 << 30;

int rg_disk_write(rg_disk_file *file, const void *data, size_t size, uint64_t offset) {
    int refused = pass_gate(file->disk, "write", file->path);
    if (refused)
        return refused;
    const char *next = data;
    while (size > 0) {
        size_t part = size < largest_transfer ? size : largest_transfer;
        ssize_t written = pwrite(file->fd, next, part, (off_t)offset);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return written < 0 ? errno : ENOSPC;
        next += written;
        offset += (uint64_t)written;
        size -= (size_t)written;
    }
    return 0;
}

int rg_disk_read(const rg_disk_file *file, void *data, size_t size, uint64_t offset, size_t *got) {
    char *next = data;
    *got = 0;
    while (*got < size) {
        size_t left = size - *got;
        size_t part = left < largest_transfer ? left : largest_transfer;
        ssize_t count = pread(file->fd, next + *got, part, (off_t)(offset + *got));
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return errno;
        if (count == 0)
            break;
        *got += (size_t)count;
    }
    return 0;
}

int rg_disk_size(const rg_disk_file *file, uint64_t *size) {
    struct stat status;
    if (fstat(file->fd, &status) != 0)
        return errno;
    *size = (uint64_t)status.st_size;
    return 0;
}

int rg_disk_truncate(rg_disk_file *file, uint64_t size) {
    int refused = pass_gate(file->disk, "truncate", file->path);
    if (refused)
        return refused;
    int result;
    do
        result = ftruncate(file->fd, (off_t)size);
    while (result != 0 && errno == EINTR);
    return result == 0 ? 0 : errno;
}

int rg_disk_sync(rg_disk_file *file) {
    int refused = pass_gate(file->disk, "sync", file->path);
    if (refused)
        return refused;
    int result;
    do
        result = fsync(file->fd);
    while (result != 0 && errno == EINTR);
    /* Pipes and some special file systems have nothing to sync. */
    return result == 0 || errno == EINVAL || errno == ENOTSUP ? 0 : errno;
}

/* A rename is in the directory, so that is what has to be synced. Best effort: not every file
 * system lets a directory be opened. */
static void sync_directory_of(const char *path) {
    char directory[4096];
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) : 0;
    if (length >= sizeof directory)
        return;
    if (!slash)
        snprintf(directory, sizeof directory, ".");
    else if (length == 0)
        snprintf(directory, sizeof directory, "/");
    else
        snprintf(directory, sizeof directory, "%.*s", (int)length, path);
    int fd = open(directory, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        (void)fsync(fd);
        close(fd);
    }
}

int rg_disk_rename(const rg_disk *disk, const char *from, const char *to) {
    int refused = pass_gate(disk, "rename", to);
    if (refused)
        return refused;
    if (rename(from, to) != 0)
        return errno;
    sync_directory_of(to);
    return 0;
}

int rg_disk_remove(const rg_disk *disk, const char *path) {
    int refused = pass_gate(disk, "remove", path);
    if (refused)
        return refused;
    return unlink(path) == 0 || errno == ENOENT ? 0 : errno;
}

bool rg_disk_exists(const char *path) {
    struct stat status;
    return stat(path, &status) == 0;
}

bool rg_disk_is_special(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && !S_ISREG(status.st_mode);
}

bool rg_disk_is_same(const char *path, const char *other) {
    struct stat here, there;
    return stat(path, &here) == 0 && stat(other, &there) == 0 && here.st_dev == there.st_dev &&
           here.st_ino == there.st_ino;
}

int rg_disk_lock(rg_disk_file *file) {
    int result;
    do
        result = flock(file->fd, LOCK_EX | LOCK_NB);
    while (result != 0 && errno == EINTR);
    return result != 0 && errno == EWOULDBLOCK ? EBUSY : 0;
}

bool rg_disk_is_at(const rg_disk_file *file, const char *path) {
    struct stat here, there;
    return fstat(file->fd, &here) == 0 && stat(path, &there) == 0 && here.st_dev == there.st_dev &&
           here.st_ino == there.st_ino;
}

const char *rg_disk_message(int number, char text[RG_DISK_MESSAGE_SIZE]) {
    if (number == RG_DISK_NOT_REGULAR)
        snprintf(text, RG_DISK_MESSAGE_SIZE, "it is not a regular file");
    else if (strerror_r(number, text, RG_DISK_MESSAGE_SIZE) != 0)
        snprintf(text, RG_DISK_MESSAGE_SIZE, "error %d", number);
    return text;
}
