/* Error exits of Qhull. A jump is an exception of the host (wasm_qhull.c), caught around the one
 * call that may jump; so nothing has to be kept at setjmp. */
#ifndef RIGOR_WASM_SETJMP_H
#define RIGOR_WASM_SETJMP_H

typedef int jmp_buf[1];
#define setjmp(buffer) 0
_Noreturn void longjmp(jmp_buf buffer, int value);

#endif
