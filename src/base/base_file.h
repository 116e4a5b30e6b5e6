/* Files that are read: opened so that nobody waits for the other end of a pipe. */
#ifndef RIGOR_BASE_FILE_H
#define RIGOR_BASE_FILE_H

#include <stdbool.h>
#include <stdio.h>

/* The end of the sentence `PATH: ...` for what RG_FILE_IRREGULAR stands for. */
#define RG_FILE_IRREGULAR_TEXT "is not a regular file; must be a readable file"

enum { RG_FILE_IRREGULAR = -1 };

/* Opens a regular file to be read. 0, an errno, or RG_FILE_IRREGULAR for pipes, sockets and
 * devices; EISDIR for a directory. */
int rg_file_open(const char *path, FILE **file);
/* Whether there is something at the path that may be read, without opening it. */
bool rg_file_is_there(const char *path);

#endif
