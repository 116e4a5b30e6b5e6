/* Numbers of two doubles: identities, and digits beyond those of a double. */
#include "test_support.h"

#include "base/base_long.h"
#include "rigor/random.h"

/* Identities that hold to 1e-30, from numbers that fill all digits. */
static void test_long_numbers(void **state) {
    (void)state;
    rg_random random = rg_random_make(123);
    const double tight = 1e-30;
    for (int i = 0; i < 10000; i++) {
        rg_long a = rg_long_add(rg_long_of(rg_random_between(&random, 0.5, 2)),
                                rg_long_of(rg_random_between(&random, -1e-17, 1e-17)));
        rg_long b = rg_long_add(rg_long_of(rg_random_between(&random, -2, -0.5)),
                                rg_long_of(rg_random_between(&random, -1e-17, 1e-17)));
        rg_long root = rg_long_sqrt(a), quotient = rg_long_div(a, b);
        assert_near(rg_long_round(rg_long_sub(rg_long_mul(root, root), a)), 0, tight);
        assert_near(rg_long_round(rg_long_sub(rg_long_mul(quotient, b), a)), 0, tight);
        /* (a + b)(a - b) = a^2 - b^2 */
        rg_long left = rg_long_mul(rg_long_add(a, b), rg_long_sub(a, b));
        rg_long right = rg_long_sub(rg_long_mul(a, a), rg_long_mul(b, b));
        assert_near(rg_long_round(rg_long_sub(left, right)), 0, tight);
        assert_true(rg_long_less(b, a) && !rg_long_less(a, b) && !rg_long_less(a, a));
        assert_true(rg_long_less(a, rg_long_add(a, rg_long_of(1e-25))));
    }
    /* 1/3 has the digits 3 to the end */
    rg_long third = rg_long_div(rg_long_of(1), rg_long_of(3));
    assert_true(third.lo != 0);
    assert_near(rg_long_round(rg_long_sub(rg_long_mul(third, rg_long_of(3)), rg_long_of(1))), 0,
                1e-31);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_long_numbers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
