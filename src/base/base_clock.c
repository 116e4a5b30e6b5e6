/* The clock of all timers: time that goes by. It is read without a call of the system, in some
 * 20 ns; that of processor time takes 500, as long as a small step.
 * Tested by tests/step/test_profile.c. */
#include "base/base_clock.h"

#include <time.h>

double rg_clock(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
