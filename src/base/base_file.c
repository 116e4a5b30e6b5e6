/* Files that other files name may be pipes, and to open a pipe is to wait until somebody writes
 * into it, for ever if nobody does. What is not a regular file is refused before anything is read.
 * The open file is examined: what is known of its path could be outdated by the time of
 * opening.
 *
 * How it fails: with an errno.
 * Tested by tests/base/test_file.c. */
#include "base/base_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

int rg_file_open(const char *path, FILE **file) {
    *file = NULL;
    int number;
    do /* without O_NONBLOCK, opening a pipe waits for its other end */
        number = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    while (number < 0 && errno == EINTR);
    if (number < 0)
        return errno == ENXIO ? RG_FILE_IRREGULAR : errno; /* ENXIO: a socket */
    struct stat about;
    int failed = fstat(number, &about) != 0 ? errno
                 : S_ISDIR(about.st_mode)   ? EISDIR
                 : !S_ISREG(about.st_mode)  ? RG_FILE_IRREGULAR
                                            : 0;
    if (!failed && !(*file = fdopen(number, "rb")))
        failed = errno;
    if (failed)
        close(number);
    return failed;
}

bool rg_file_is_there(const char *path) {
    return access(path, R_OK) == 0;
}
