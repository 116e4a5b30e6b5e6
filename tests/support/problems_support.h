/* Test only: contact problems from elsewhere, which lie beside the checkout, not in it. A test that needs
 * them is skipped where they are not, and says so; where they are, each of them must be there. */
#ifndef RIGOR_TEST_PROBLEMS_SUPPORT_H
#define RIGOR_TEST_PROBLEMS_SUPPORT_H

#include "test_support.h"

#include <unistd.h>

#define PROBLEMS_DIR RIGOR_SOURCE_DIR "/../shared/data/problems"
#define NO_PROBLEMS  "no folder shared/data/problems beside the checkout"

static inline bool has_problems(void) {
    return access(PROBLEMS_DIR, F_OK) == 0;
}

#endif
