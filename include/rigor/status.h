/* What a call returns, and the message that goes with a failure.
 *
 * One list gives code, name and text, so they cannot drift apart. A programmer's mistake (a null
 * world, a size of an array that is not the array's) is an assertion; everything that comes from
 * input, resources or mathematics is a status. The library never prints, exits, or carries on. */
#ifndef RIGOR_STATUS_H
#define RIGOR_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

/* X(identifier, code, name, text). Codes are stable: new ones are appended. */
#define RG_STATUS_LIST(X)                                                                          \
    X(RG_OK, 0, "ok", "success")                                                                   \
    X(RG_OUT_OF_MEMORY, 1, "out-of-memory", "the allocator returned no memory")                    \
    X(RG_INVALID_ARGUMENT, 2, "invalid-argument", "an argument is outside its allowed range")      \
    X(RG_INVALID_HANDLE, 3, "invalid-handle", "the handle names nothing that exists now")          \
    X(RG_NOT_FOUND, 4, "not-found", "there is nothing of that name")                               \
    X(RG_DUPLICATE_NAME, 5, "duplicate-name", "the name is already taken")                         \
    X(RG_NOT_FINITE, 6, "not-finite", "a number is infinite or not a number")                      \
    X(RG_INVALID_SIZE, 7, "invalid-size", "a size, mass or density must be positive")              \
    X(RG_INVALID_INERTIA, 8, "invalid-inertia", "no distribution of mass has this inertia")        \
    X(RG_DEGENERATE_GEOMETRY, 9, "degenerate-geometry", "the geometry encloses no volume")         \
    X(RG_NOT_WATERTIGHT, 10, "not-watertight", "the surface is not closed")                        \
    X(RG_NOT_CONVEX, 11, "not-convex", "the shape is not convex")                                  \
    X(RG_SYNTAX, 12, "syntax", "the text does not follow its format")                              \
    X(RG_UNKNOWN_KEY, 13, "unknown-key", "the key is not known here")                              \
    X(RG_WRONG_TYPE, 14, "wrong-type", "the value has the wrong type")                             \
    X(RG_LIMIT_EXCEEDED, 15, "limit-exceeded", "the input is larger than the limit")               \
    X(RG_FILE_UNREADABLE, 16, "file-unreadable", "the file cannot be read")                        \
    X(RG_FILE_DAMAGED, 17, "file-damaged", "the file is truncated or damaged")                     \
    X(RG_WRITE_FAILED, 18, "write-failed", "the file cannot be written")                           \
    X(RG_UNSUPPORTED, 19, "unsupported", "this version does not support that")                     \
    X(RG_STEP_TOO_SMALL, 20, "step-too-small",                                                     \
      "the error tolerance needs a step below resolution")                                         \
    X(RG_ITERATION_LIMIT, 21, "iteration-limit", "no convergence within the iteration limit")      \
    X(RG_SINGULAR, 22, "singular", "the matrix is singular to working precision")                  \
    X(RG_BUSY, 23, "busy", "the world cannot be changed while it steps")                           \
    X(RG_VERSION_MISMATCH, 24, "version-mismatch", "made for another version of the interface")    \
    X(RG_THREAD_FAILED, 25, "thread-failed", "the system gave no thread")                          \
    X(RG_INTERRUPTED, 26, "interrupted", "the caller asked to stop")

typedef enum rg_status {
#define RG_STATUS_ENUM(identifier, code, name, text) identifier = code,
    RG_STATUS_LIST(RG_STATUS_ENUM)
#undef RG_STATUS_ENUM
} rg_status;

/* Short name ("not-found") and text of a status; "unknown" for a number that is none. */
const char *rg_status_name(rg_status status);
const char *rg_status_text(rg_status status);

enum { RG_ERROR_TEXT_SIZE = 1024 };

/* Filled by calls that can say more than a code. Every such parameter may be null. `text` is the
 * whole message, ready to print: `file:line:column: path: what is wrong; what would be right` where
 * the cause is in a file. Line and column count from 1; 0 means that there is none. */
typedef struct rg_error {
    rg_status status;
    int line;
    int column;
    char text[RG_ERROR_TEXT_SIZE];
} rg_error;

#ifdef __cplusplus
}
#endif
#endif
