/* Tests that are run with both integrators of the analytic method. */
#ifndef RIGOR_TEST_BOTH_INTEGRATORS_H
#define RIGOR_TEST_BOTH_INTEGRATORS_H

#include "test_support.h"

#include "rigor/method.h"

/* Of the test that runs. */
static rg_integrator test_integrator = RG_INTEGRATOR_DORMAND_PRINCE;

static inline int with_dormand_prince(void **state) {
    (void)state;
    test_integrator = RG_INTEGRATOR_DORMAND_PRINCE;
    return 0;
}

static inline int with_adams(void **state) {
    (void)state;
    test_integrator = RG_INTEGRATOR_ADAMS;
    return 0;
}

#define WITH_INTEGRATOR(test, setup)                                                               \
    { #test ", " #setup, test, setup, NULL, NULL }
#define WITH_BOTH(test)                                                                            \
    WITH_INTEGRATOR(test, with_dormand_prince), WITH_INTEGRATOR(test, with_adams)

#endif
