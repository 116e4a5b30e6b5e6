/* Error exits of Qhull in a module that cannot jump out of functions.
 *
 * Qhull reports a failure by longjmp from any depth to qh_new_qhull, which returns its code. Here
 * the jump is an exception of the host, and the host catches it around the one call that may jump
 * (import `attempt`, which also puts the stack pointer back). The linker sends every call of
 * qh_new_qhull through the function below (--wrap). A restart with other jogglings, the second way
 * in which Qhull jumps, is such an exit as well. */
#include <libqhull_r/qhull_ra.h>

__attribute__((import_module("rigor"), import_name("attempt"))) int
rigor_attempt(void (*function)(void *), void *user); /* 0, or the code of a jump */
__attribute__((import_module("rigor"), import_name("jump"))) _Noreturn void rigor_jump(int code);

_Noreturn void longjmp(jmp_buf buffer, int code) {
    (void)buffer;
    rigor_jump(code);
}

typedef struct hull_call {
    qhT *qh;
    int dimension, count, code;
    coordT *points;
    boolT owned;
    char *options;
    FILE *out, *messages;
} hull_call;

int __real_qh_new_qhull(qhT *qh, int dimension, int count, coordT *points, boolT owned,
                        char *options, FILE *out, FILE *messages);
int __wrap_qh_new_qhull(qhT *qh, int dimension, int count, coordT *points, boolT owned,
                        char *options, FILE *out, FILE *messages);

static void make(void *user) {
    hull_call *c = user;
    c->code = __real_qh_new_qhull(c->qh, c->dimension, c->count, c->points, c->owned, c->options,
                                  c->out, c->messages);
}

int __wrap_qh_new_qhull(qhT *qh, int dimension, int count, coordT *points, boolT owned,
                        char *options, FILE *out, FILE *messages) {
    hull_call call = {qh, dimension, count, 0, points, owned, options, out, messages};
    int code = rigor_attempt(make, &call);
    qh->NOerrexit = True; /* as qh_new_qhull leaves it */
    return code ? code : call.code;
}
