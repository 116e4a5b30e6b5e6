/* Root finding: the paper's ball, counts, and the side of the answer. */
#include "test_support.h"

#include "base/base_root.h"

#include <math.h>

static double falling_ball(void *user, double t) {
    (*(int *)user)++;
    return 1 - 0.5 * 9.81 * t * t;
}

/* A ball from 1 m reaches the floor at sqrt(2 h / g) = 0.4515236 s (Baraff 1989, section 3,
 * footnote 2). */
static void ball_from_one_metre(void **state) {
    (void)state;
    int evaluations[3];
    for (int method = 0; method < 3; method++) {
        int calls = 0;
        rg_root root = rg_root_find(falling_ball, &calls, (rg_bracket){0, 1, 1, 1 - 0.5 * 9.81},
                                    (rg_root_settings){(rg_root_method)method, 1e-12, 0, 200});
        assert_true(root.converged);
        assert_near(root.x, 0.4515236, 5e-8);
        assert_near(root.x, sqrt(2 / 9.81), 1e-12);
        assert_true(root.f > 0);
        assert_true(falling_ball(&calls, root.upper) <= 0);
        assert_int_equal(root.evaluations, calls - 1);
        evaluations[method] = root.evaluations;
    }
    print_message("evaluations to 1e-12 s: ITP %d, Illinois %d, bisection %d\n",
                  evaluations[RG_ROOT_ITP], evaluations[RG_ROOT_ILLINOIS],
                  evaluations[RG_ROOT_BISECTION]);
    assert_true(evaluations[RG_ROOT_ILLINOIS] < evaluations[RG_ROOT_BISECTION] / 2);
    assert_true(evaluations[RG_ROOT_ITP] < evaluations[RG_ROOT_BISECTION] / 2);
}

typedef struct shape_of_function {
    int kind;
    double root;
} shape_of_function;

static double nasty(void *user, double x) {
    const shape_of_function *s = user;
    double d = s->root - x;
    switch (s->kind) {
    case 0:
        return d * d * d; /* flat at the root: slow for the chord */
    case 1:
        return exp(30 * d) - 1; /* one side steep, one flat */
    case 2:
        return d > 0 ? 1 : -1; /* a step */
    case 3:
        return atan(1e6 * d);
    default:
        return d > 0 ? 1e-300 : -1e300;
    }
}

/* Whatever the function, ITP takes at most two evaluations more than bisection (one is its
 * slack, one rounding), the answer is on the
 * free side, and the bracket is as short as asked. */
static void worst_cases_are_bounded(void **state) {
    (void)state;
    for (int kind = 0; kind < 5; kind++)
        for (double r = 0.013; r < 1; r += 0.031)
            for (int method = 0; method < 3; method++) {
                shape_of_function s = {kind, r};
                double fa = nasty(&s, 0), fb = nasty(&s, 1);
                rg_root root =
                    rg_root_find(nasty, &s, (rg_bracket){0, fa, 1, fb},
                                 (rg_root_settings){(rg_root_method)method, 1e-10, 0, 10000});
                assert_true(root.converged);
                assert_true(nasty(&s, root.x) > 0);
                assert_true(root.upper - root.x <= 1e-10);
                if (method == RG_ROOT_ITP)
                    assert_true(root.evaluations <= 34 + 2);
            }
}

static double rising(void *user, double x) {
    (void)user;
    return x - 0.25;
}

static void the_free_side_may_lie_above(void **state) {
    (void)state;
    for (int method = 0; method < 3; method++) {
        rg_root root = rg_root_find(rising, NULL, (rg_bracket){1, 0.75, 0, -0.25},
                                    (rg_root_settings){(rg_root_method)method, 1e-12, 0, 100});
        assert_true(root.x > 0.25);
        assert_near(root.x, 0.25, 1e-11);
        assert_true(root.upper <= 0.25);
    }
}

static void limits_stop_it(void **state) {
    (void)state;
    int calls = 0;
    rg_root root = rg_root_find(falling_ball, &calls, (rg_bracket){0, 1, 1, -3.9},
                                (rg_root_settings){RG_ROOT_BISECTION, 1e-15, 0, 5});
    assert_false(root.converged);
    assert_int_equal(calls, 5);
    assert_true(root.f > 0);
    root = rg_root_find(falling_ball, &calls, (rg_bracket){0, 1, 1, -3.9},
                        (rg_root_settings){RG_ROOT_ITP, 1e-15, 1e-3, 100});
    assert_true(root.converged);
    assert_true(root.f > 0 && root.f <= 1e-3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ball_from_one_metre),
        cmocka_unit_test(worst_cases_are_bounded),
        cmocka_unit_test(the_free_side_may_lie_above),
        cmocka_unit_test(limits_stop_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
