/* The heuristic of Baraff 1989 on the worked cases, its misprediction, and how often it is
 * right. */
#include "lp_support.h"
#include "solve_families.h"

/* To all printed digits. */
#define PRINTED 5e-7

typedef struct outcome {
    rg_lp_details details;
    double force[ROWS_MAX], velocity[ROWS_MAX], ray[ROWS_MAX];
    double guess[ROWS_MAX], approximate[ROWS_MAX], residual[ROWS_MAX];
    uint8_t vanishing[ROWS_MAX];
} outcome;

static void run_problem(const rg_problem *problem, outcome *o) {
    rg_solve_context *context = make_context();
    rg_error error;
    memset(o, 0, sizeof *o);
    o->details = (rg_lp_details){.guess = o->guess,
                                 .approximate = o->approximate,
                                 .residual = o->residual,
                                 .vanishing = o->vanishing};
    rg_solution solution = {o->force, o->velocity, o->ray};
    if (rg_lp_heuristic(context, problem, &solution, &o->details, &error))
        fail_msg("%s", error.text);
    rg_solve_context_destroy(context);
}

static void run(size_t n, const double *matrix, const double *b, outcome *o) {
    rg_problem problem = rg_problem_linear(n, matrix, b);
    run_problem(&problem, o);
}

static double judge(size_t n, const double *matrix, const double *b, const double *force) {
    rg_problem problem = rg_problem_linear(n, matrix, b);
    rg_residual residual;
    assert_int_equal(rg_judge(&problem, force, NULL, NULL, &residual, NULL), RG_OK);
    return residual.natural;
}

/* Figure 7: a block of 1 kg on a plane of 30 degrees. Twice the force is feasible for (12) and
 * wrong. */
static void test_incline(void **state) {
    (void)state;
    double matrix[] = {1}, b[] = {-9.81 * sqrt(3) / 2}, twice[] = {2 * 8.495709};
    outcome o;
    run(1, matrix, b, &o);
    assert_int_equal(o.details.stage, RG_LP_EMPTY);
    assert_int_equal(o.details.programs, 0); /* one equation, and its solution pushes */
    assert_near(o.force[0], 8.495709, PRINTED);
    assert_true(judge(1, matrix, b, o.force) <= 1e-14);
    assert_true(judge(1, matrix, b, twice) > 0.5);
}

/* Figure 8: supports at -0.4 and 0.6 under 2 kg; any moment of inertia. */
static void test_two_supports(void **state) {
    (void)state;
    for (double inertia = 0.01; inertia < 20; inertia *= 7) {
        double matrix[] = {0.5 + 0.16 / inertia, 0.5 - 0.24 / inertia, 0.5 - 0.24 / inertia,
                           0.5 + 0.36 / inertia};
        double b[] = {-9.81, -9.81};
        outcome o;
        run(2, matrix, b, &o);
        assert_int_equal(o.details.stage, RG_LP_EMPTY);
        assert_near(o.force[0], 11.772, 1e-12);
        assert_near(o.force[1], 7.848, 1e-12);
    }
}

/* Figure 9: the brick past a ledge, and everything that the heuristic sees on the way. */
static void test_vanishing_contact(void **state) {
    (void)state;
    double matrix[] = {1.15, 1.6, 1.6, 3.4}, b[] = {-9.81, -9.81};
    outcome o;
    run(2, matrix, b, &o);
    assert_near(o.guess[0], 13.08, 1e-12); /* V empty: infeasible, a contact would have to pull */
    assert_near(o.guess[1], -3.27, 1e-12);
    assert_near(o.approximate[0], 0, 0);
    assert_near(o.approximate[1], 6.13125, 1e-13);
    assert_near(o.residual[0], 0, 0);
    assert_near(o.residual[1], 11.03625, 1e-13);
    assert_int_equal(o.vanishing[0], 0);
    assert_int_equal(o.vanishing[1], 1);
    assert_int_equal(o.details.stage, RG_LP_PREDICTED);
    assert_int_equal(o.details.programs, 1); /* only that of the minimum-sum forces */
    assert_near(o.force[0], 8.530435, PRINTED);
    assert_near(o.force[0], 9.81 / 1.15, 1e-14);
    assert_near(o.force[1], 0, 0);
    assert_near(o.velocity[1], 3.838696, PRINTED);
    assert_near(o.details.work, 0, 1e-13);
}

/* The prediction fails: V = {1} is predicted, V = {2} is true. */
static const double wrong_matrix[] = {19, -2, 3, -2, 12, 2, 3, 2, 1}, wrong_b[] = {-11, -2, -3};

static void test_misprediction(void **state) {
    (void)state;
    outcome o;
    run(3, wrong_matrix, wrong_b, &o);
    const double approximate[] = {0.8, 0.3, 0}, residual[] = {3.6, 0, 0};
    for (int i = 0; i < 3; i++) {
        assert_near(o.approximate[i], approximate[i], 1e-14);
        assert_near(o.residual[i], residual[i], 1e-14);
        assert_int_equal(o.vanishing[i], i == 0);
        assert_near(o.force[i], approximate[i], 1e-14);
    }
    assert_int_equal(o.details.stage, RG_LP_FALLBACK);
    assert_int_equal(o.details.report.outcome, RG_SOLVE_INEXACT);
    assert_near(o.details.work, 2.88, 1e-13);
    assert_non_null(strstr(o.details.report.text, "f.a = 2.88"));
    double f[3], a[3];
    assert_true(enumerate_lcp(3, wrong_matrix, wrong_b, f, a));
    const double true_f[] = {0.2, 0, 2.4}, true_a[] = {0, 2.4, 0};
    for (int i = 0; i < 3; i++) {
        assert_near(f[i], true_f[i], 1e-13);
        assert_near(a[i], true_a[i], 1e-13);
    }
}

/* The driver says the same, and the judge does not let it pass. */
static void test_solver(void **state) {
    (void)state;
    assert_string_equal(rg_solver_name(rg_solver_lp()), "lp");
    rg_solve_context *context = make_context();
    double f[3], a[3];
    rg_solution solution = {.force = f, .velocity = a};
    rg_solve_info info;
    rg_problem problem = rg_problem_linear(3, wrong_matrix, wrong_b);
    assert_int_equal(rg_solve(context, rg_solver_lp(), &problem, NULL, &solution, &info, NULL),
                     RG_OK);
    assert_int_equal(info.outcome, RG_SOLVE_INEXACT);
    assert_true(info.residual.complementarity > 0.01);
    assert_non_null(strstr(info.text, "add energy"));
    double matrix[] = {1.15, 1.6, 1.6, 3.4}, b[] = {-9.81, -9.81};
    problem = rg_problem_linear(2, matrix, b);
    assert_int_equal(rg_solve(context, rg_solver_lp(), &problem, NULL, &solution, &info, NULL),
                     RG_OK);
    assert_int_equal(info.outcome, RG_SOLVED);
    assert_true(info.residual.natural <= 1e-15);
    rg_solve_context_destroy(context);
}

/* Two bricks, the upper one over the edge or not. */
static void check_two(double offset, const double *force, rg_lp_stage stage, double acceleration) {
    stack s;
    make_stack(&s, (double[]){0, offset}, 2);
    outcome o;
    run(s.rows, s.matrix, s.b, &o);
    assert_int_equal(o.details.stage, stage);
    for (size_t i = 0; i < s.rows; i++)
        assert_near(o.force[i], force[i], PRINTED);
    assert_near(o.velocity[2], acceleration, PRINTED);
    assert_true(judge(s.rows, s.matrix, s.b, o.force) <= 1e-13);
}

static void test_two_bricks(void **state) {
    (void)state;
    check_two(0.9, (double[]){5.3955, 14.2245, 0.891818, 8.918182}, RG_LP_EMPTY, 0);
    check_two(1.1, (double[]){4.905, 14.485078, 0, 9.580078}, RG_LP_PREDICTED, 2.069297);
}

/* Five bricks (survey, figure 3): a second case, and a natural one, in which the prediction is
 * wrong: V = {3, 9, 10} is predicted from the only optimum of the minimum-sum program, {3, 10}
 * is true. With the true V the linear program (18) gives the forces; with any other of 1024 sets
 * it must refuse. */
static void test_five_bricks(void **state) {
    (void)state;
    const double force[] = {4.905,     30.247334, 0,        25.342334, 3.421474,
                            10.653397, 3.391813,  2.816342, 1.742186,  0};
    stack s;
    make_stack(&s, (double[]){0, 0.7, 1.4, 2.1, 2.8}, 5);
    outcome o;
    run(s.rows, s.matrix, s.b, &o);
    assert_int_equal(o.details.stage, RG_LP_FALLBACK);
    double sum = 0;
    for (size_t i = 0; i < 10; i++) {
        assert_int_equal(o.vanishing[i], i == 2 || i == 8 || i == 9);
        sum += o.approximate[i];
    }
    assert_near(sum, 58.41866614048939, 1e-12); /* by another program (HiGHS) */
    rg_solve_context *context = make_context();
    rg_problem problem = rg_problem_linear(s.rows, s.matrix, s.b);
    rg_solution solution = {.force = o.force, .velocity = o.velocity};
    for (unsigned set = 0; set < 1024; set++) {
        uint8_t vanishing[10];
        for (unsigned i = 0; i < 10; i++)
            vanishing[i] = set >> i & 1;
        bool right;
        assert_int_equal(rg_lp_given(context, &problem, vanishing, &solution, &right, NULL), RG_OK);
        assert_int_equal(right, set == (1u << 2 | 1u << 9));
    }
    rg_solve_context_destroy(context);
    for (size_t i = 0; i < 10; i++)
        assert_near(o.force[i], force[i], PRINTED);
    assert_near(o.velocity[2], 6.315673, PRINTED);
    assert_near(o.velocity[9], 0.880053, PRINTED);
    assert_true(judge(s.rows, s.matrix, s.b, o.force) <= 1e-13);
}

/* Same answer in other units: masses and accelerations, forces with them. */
static void test_units(void **state) {
    (void)state;
    const double factors[] = {1e-6, 1e6};
    for (int p = 0; p < 2; p++)
        for (int q = 0; q < 2; q++) {
            stack s;
            make_stack(&s, (double[]){0, 0.7, 1.4, 2.1, 2.8}, 5);
            outcome plain, o;
            run(s.rows, s.matrix, s.b, &plain);
            for (size_t i = 0; i < s.rows * s.rows; i++)
                s.matrix[i] *= factors[p];
            for (size_t i = 0; i < s.rows; i++)
                s.b[i] *= factors[q];
            run(s.rows, s.matrix, s.b, &o);
            assert_int_equal(o.details.stage, plain.details.stage);
            for (size_t i = 0; i < s.rows; i++)
                assert_near(o.force[i] * factors[p] / factors[q], plain.force[i], 1e-12 * 40);
        }
}

/* Four legs, three equations: singular, V empty, found by linear programming (Appendix B). */
static void test_four_legs(void **state) {
    (void)state;
    const double x[] = {-1, 1, 1, -1}, y[] = {-0.5, -0.5, 0.5, 0.5};
    double matrix[16], b[4] = {-9.81, -9.81, -9.81, -9.81}, sum = 0;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            matrix[i * 4 + j] = 0.1 + x[i] * x[j] / 3 + y[i] * y[j] / 2;
    outcome o;
    run(4, matrix, b, &o);
    assert_int_equal(o.details.stage, RG_LP_EMPTY);
    for (int i = 0; i < 4; i++) {
        assert_true(o.force[i] >= 0);
        assert_near(o.velocity[i], 0, 1e-13);
        sum += o.force[i];
    }
    assert_near(sum, 98.1, 1e-12);
}

/* A pendulum: one joint row alone, pulling. Then a block that hangs on a joint and touches a
 * wall: the joint's force has either sign and is no part of the sum. */
static void test_free_rows(void **state) {
    (void)state;
    double one[] = {0.25}, pull[] = {3};
    uint8_t kinds[2] = {RG_ROW_FREE, RG_ROW_UNILATERAL};
    rg_problem problem = rg_problem_linear(1, one, pull);
    problem.linear.kinds = kinds;
    outcome o;
    run_problem(&problem, &o);
    assert_near(o.force[0], -12, 1e-14);
    assert_int_equal(o.details.stage, RG_LP_EMPTY);

    double matrix[] = {2, 1, 1, 1}, b[] = {5, 1};
    problem = rg_problem_linear(2, matrix, b);
    problem.linear.kinds = kinds;
    run_problem(&problem, &o);
    /* Without contact a_2 = 1 - 2.5 = -1.5 < 0; with it 2 f1 + f2 = -5, f1 + f2 = -1: f = (-4,
     * 3). */
    assert_near(o.force[0], -4, 1e-13);
    assert_near(o.force[1], 3, 1e-13);
    b[1] = 3; /* a_2 = 3 - 2.5 > 0: the contact vanishes */
    run_problem(&problem, &o);
    assert_int_equal(o.details.stage, RG_LP_PREDICTED);
    assert_near(o.force[0], -2.5, 1e-13);
    assert_near(o.force[1], 0, 0);
    assert_near(o.velocity[1], 0.5, 1e-13);
}

static void random_lcp(rg_random *random, size_t n, double *matrix, double *b) {
    double root[9];
    for (size_t i = 0; i < n * n; i++)
        root[i] = rg_random_normal(random);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            matrix[i * n + j] = 0;
            for (size_t k = 0; k < n; k++)
                matrix[i * n + j] += root[i * n + k] * root[j * n + k];
        }
        b[i] = -rg_random_normal(random);
    }
}

/* What lp_heuristic.c takes as solved, relative to the largest force; nearly all answers leave a
 * hundredth of that, but for one in so many of the long run (22 of 100,000). */
#define EQUATIONS_REST 1e-12
enum { ROUGH = 4000 };

/* How often which guess is right, on random problems with up to three contacts; what it calls
 * right must be right, and the fallback must keep bodies apart and do work. */
static void test_shares(void **state) {
    (void)state;
    size_t counts[4] = {0}, rough = 0, total = (size_t)test_cases(8000, 100000);
    rg_random random = rg_random_make(1989);
    rg_solve_context *context = make_context();
    for (size_t trial = 0; trial < total; trial++) {
        size_t n = 1 + (size_t)rg_random_below(&random, 3);
        double matrix[9], b[3], f[3], a[3], force[3], velocity[3];
        random_lcp(&random, n, matrix, b);
        rg_problem problem = rg_problem_linear(n, matrix, b);
        rg_solution solution = {.force = force, .velocity = velocity};
        rg_lp_details details = {0};
        assert_int_equal(rg_lp_heuristic(context, &problem, &solution, &details, NULL), RG_OK);
        counts[details.stage]++;
        double scale = 0;
        for (size_t i = 0; i < n; i++)
            scale = fmax(scale, fabs(b[i]));
        if (details.stage == RG_LP_FALLBACK) {
            assert_true(details.work > 0);
            for (size_t i = 0; i < n; i++)
                assert_true(force[i] >= 0 && velocity[i] >= -1e-9 * scale);
            continue;
        }
        assert_true(details.stage != RG_LP_NONE);
        /* Nearly singular A: forces of 1e7 cancel, and their rounding is what is left. */
        double term = 0;
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++)
                term = fmax(term, fabs(matrix[i * n + j] * force[j]));
        double left = judge(n, matrix, b, force);
        assert_true(left <= EQUATIONS_REST * (1 + term / scale));
        rough += left > EQUATIONS_REST + 1e-14 * term / scale;
        if (term > 1e4 * scale) /* the oracle's own tolerance ends here */
            continue;
        assert_true(enumerate_lcp(n, matrix, b, f, a));
        for (size_t i = 0; i < n; i++)
            assert_near(velocity[i], a[i], 1e-8 * scale);
    }
    rg_solve_context_destroy(context);
    printf("%zu random problems, n <= 3: V empty right %zu, prediction right %zu, wrong %zu\n",
           total, counts[RG_LP_EMPTY], counts[RG_LP_PREDICTED], counts[RG_LP_FALLBACK]);
    assert_true(rough <= (test_is_long() ? total / ROUGH : 0));
    assert_true(counts[RG_LP_EMPTY] > total / 10 && counts[RG_LP_PREDICTED] > total / 2);
    assert_true(counts[RG_LP_FALLBACK] > 0 && counts[RG_LP_FALLBACK] < total / 20);
}

/* Section 6.2: along a run V = {} is right but for single instants. Stacks whose bricks creep
 * sideways until the upper part tips; then the stack is built anew. */
static void test_empty_on_a_run(void **state) {
    (void)state;
    enum { BRICKS = 5, STEPS = 2000 };
    size_t counts[4] = {0};
    rg_random random = rg_random_make(62);
    rg_solve_context *context = make_context();
    double x[BRICKS] = {0}, drift[BRICKS] = {0};
    for (size_t step = 0; step < STEPS; step++) {
        stack s;
        make_stack(&s, x, BRICKS);
        double force[ROWS_MAX];
        rg_problem problem = rg_problem_linear(s.rows, s.matrix, s.b);
        rg_solution solution = {.force = force};
        rg_lp_details details = {0};
        assert_int_equal(rg_lp_heuristic(context, &problem, &solution, &details, NULL), RG_OK);
        counts[details.stage]++;
        if (details.stage != RG_LP_FALLBACK)
            assert_true(judge(s.rows, s.matrix, s.b, force) <= 1e-10);
        for (size_t i = 0; i < BRICKS; i++) {
            if (details.stage != RG_LP_EMPTY || step == 0) {
                x[i] = 0;
                drift[i] = rg_random_between(&random, -0.004, 0.004);
            }
            x[i] += drift[i];
        }
    }
    rg_solve_context_destroy(context);
    printf("creeping stacks, %d instants: V empty right %zu, prediction right %zu, wrong %zu\n",
           STEPS, counts[RG_LP_EMPTY], counts[RG_LP_PREDICTED], counts[RG_LP_FALLBACK]);
    assert_int_equal(counts[RG_LP_NONE], 0);
    assert_true(counts[RG_LP_EMPTY] > STEPS * 9 / 10);
    assert_true(counts[RG_LP_PREDICTED] > 0);
}

/* Singular, degenerate, all at once: random offsets with exact ties and duplicated contacts. */
static void test_degenerate(void **state) {
    (void)state;
    size_t counts[4] = {0};
    rg_random random = rg_random_make(7);
    rg_solve_context *context = make_context();
    for (int trial = 0; trial < 500; trial++) {
        double x[4] = {0};
        for (int i = 1; i < 4; i++) /* multiples of a quarter: centres exactly over edges occur */
            x[i] = x[i - 1] + 0.25 * ((double)rg_random_below(&random, 11) - 5);
        stack s;
        make_stack(&s, x, 4);
        /* Every contact twice. */
        size_t n = 2 * s.rows;
        double matrix[4 * ROWS_MAX * ROWS_MAX], b[2 * ROWS_MAX], force[2 * ROWS_MAX];
        for (size_t i = 0; i < n; i++) {
            b[i] = s.b[i / 2];
            for (size_t j = 0; j < n; j++)
                matrix[i * n + j] = s.matrix[i / 2 * s.rows + j / 2];
        }
        rg_problem problem = rg_problem_linear(n, matrix, b);
        rg_solution solution = {.force = force};
        rg_lp_details details = {0};
        assert_int_equal(rg_lp_heuristic(context, &problem, &solution, &details, NULL), RG_OK);
        counts[details.stage]++;
        assert_true(details.stage != RG_LP_NONE);
        if (details.stage != RG_LP_FALLBACK)
            assert_true(judge(n, matrix, b, force) <= 1e-10);
    }
    rg_solve_context_destroy(context);
    printf(
        "degenerate stacks, contacts doubled: V empty right %zu, prediction right %zu, wrong %zu\n",
        counts[RG_LP_EMPTY], counts[RG_LP_PREDICTED], counts[RG_LP_FALLBACK]);
}

/* Overdetermined structures: many legs of few bodies, held by known forces, so that V = {} is
 * right and A is of low rank. Linear programming must not call it wrong. */
static void test_many_legs(void **state) {
    (void)state;
    enum { LEGS = 80, FREEDOM = 12 };
    static double j[LEGS][FREEDOM], matrix[LEGS * LEGS], b[LEGS], force[LEGS];
    rg_random random = rg_random_make(80);
    rg_solve_context *context = make_context();
    for (int trial = 0; trial < 60; trial++) {
        size_t legs = 5 + (size_t)rg_random_below(&random, LEGS - 5);
        size_t freedom = 1 + (size_t)rg_random_below(&random, FREEDOM);
        double pushed[FREEDOM] = {0}, largest = 0;
        for (size_t i = 0; i < legs; i++) {
            double held = trial % 3 ? rg_random_unit(&random) : (double)rg_random_below(&random, 2);
            for (size_t k = 0; k < freedom; k++) {
                j[i][k] = rg_random_normal(&random);
                pushed[k] += j[i][k] * held;
            }
        }
        for (size_t i = 0; i < legs; i++) {
            b[i] = 0;
            for (size_t k = 0; k < freedom; k++)
                b[i] -= j[i][k] * pushed[k];
            largest = fmax(largest, fabs(b[i]));
            for (size_t m = 0; m < legs; m++) {
                matrix[i * legs + m] = 0;
                for (size_t k = 0; k < freedom; k++)
                    matrix[i * legs + m] += j[i][k] * j[m][k];
            }
        }
        if (!(largest > 0))
            continue;
        rg_problem problem = rg_problem_linear(legs, matrix, b);
        rg_solution solution = {.force = force};
        rg_lp_details details = {0};
        assert_int_equal(rg_lp_heuristic(context, &problem, &solution, &details, NULL), RG_OK);
        assert_int_equal(details.stage, RG_LP_EMPTY);
        assert_true(judge(legs, matrix, b, force) <= 1e-11);
    }
    rg_solve_context_destroy(context);
}

/* Stacks, walls and piles beside the exact solver: V = {} must be found right where nothing
 * breaks, a prediction that is right must pass its test, and answers must be as good as any. */
static void test_families(void **state) {
    (void)state;
    size_t counts[4] = {0};
    rg_solve_context *context = make_context();
    for (int kind = 0; kind < FAMILY_KINDS; kind++)
        for (size_t n = 10; n <= 120; n = 2 * n + 10)
            for (uint64_t seed = 0; seed < 4; seed++) {
                solve_family *family = family_make((family_kind)kind, n, seed, 0);
                const rg_problem *problem = family_linear(family);
                double force[256], exact[256], velocity[256];
                uint8_t vanishing[256];
                rg_solution solution = {.force = force};
                rg_lp_details details = {.vanishing = vanishing};
                assert_int_equal(rg_lp_heuristic(context, problem, &solution, &details, NULL),
                                 RG_OK);
                counts[details.stage]++;
                rg_solution other = {.force = exact, .velocity = velocity};
                rg_solve_info info;
                assert_int_equal(rg_solve(context, rg_solver_find("dantzig"), problem, NULL, &other,
                                          &info, NULL),
                                 RG_OK);
                assert_int_equal(info.outcome, RG_SOLVED);
                bool empty = true, predicted = true;
                for (size_t i = 0; i < n; i++) {
                    bool breaks = velocity[i] > 1e-7 * rg_problem_scale(problem);
                    empty = empty && !breaks;
                    predicted = predicted && breaks == vanishing[i];
                }
                rg_lp_stage expected = empty       ? RG_LP_EMPTY
                                       : predicted ? RG_LP_PREDICTED
                                                   : RG_LP_FALLBACK;
                assert_int_equal(details.stage, expected);
                if (details.stage != RG_LP_FALLBACK)
                    assert_true(judge(n, problem->linear.matrix, problem->linear.b, force) <=
                                1e-11);
                family_free(family);
            }
    rg_solve_context_destroy(context);
    printf("stacks, walls, piles: V empty right %zu, prediction right %zu, wrong %zu\n",
           counts[RG_LP_EMPTY], counts[RG_LP_PREDICTED], counts[RG_LP_FALLBACK]);
}

/* Random indefinite matrices end, and what is called right is right. */
static void test_indefinite(void **state) {
    (void)state;
    rg_random random = rg_random_make(11);
    rg_solve_context *context = make_context();
    size_t solved = 0, infeasible = 0, inexact = 0;
    for (int trial = 0; trial < 1000; trial++) {
        size_t n = 1 + (size_t)rg_random_below(&random, 8);
        double matrix[64], b[8], force[8];
        for (size_t i = 0; i < n * n; i++)
            matrix[i] = rg_random_normal(&random);
        for (size_t i = 0; i < n; i++)
            b[i] = rg_random_normal(&random);
        rg_problem problem = rg_problem_linear(n, matrix, b);
        rg_solution solution = {.force = force};
        rg_lp_details details = {0};
        assert_int_equal(rg_lp_heuristic(context, &problem, &solution, &details, NULL), RG_OK);
        solved += details.report.outcome == RG_SOLVED;
        infeasible += details.report.outcome == RG_SOLVE_INFEASIBLE;
        inexact += details.report.outcome == RG_SOLVE_INEXACT;
        if (details.report.outcome == RG_SOLVED)
            assert_true(judge(n, matrix, b, force) <= 1e-8);
    }
    rg_solve_context_destroy(context);
    printf("random matrices: solved %zu, infeasible %zu, mispredicted %zu\n", solved, infeasible,
           inexact);
    assert_int_equal(solved + infeasible + inexact, 1000);
}

static void test_unsuitable_and_bad(void **state) {
    (void)state;
    double matrix[] = {1, 0, 0, 1}, b[] = {-1, NAN}, mu[] = {0, 0.5};
    uint8_t kinds[] = {RG_ROW_UNILATERAL, RG_ROW_STATIC};
    uint32_t normal[] = {0, 0};
    rg_problem problem = rg_problem_linear(2, matrix, b);
    double force[2];
    rg_solution solution = {.force = force};
    rg_lp_details details = {0};
    rg_solve_context *context = make_context();
    rg_error error;
    assert_int_equal(rg_lp_heuristic(context, &problem, &solution, &details, &error),
                     RG_NOT_FINITE);
    b[1] = 0;
    problem.linear.kinds = kinds;
    problem.linear.normal = normal;
    problem.linear.mu = mu;
    assert_int_equal(rg_lp_heuristic(context, &problem, &solution, &details, &error), RG_OK);
    assert_int_equal(details.report.outcome, RG_SOLVE_UNSUITABLE);
    assert_non_null(strstr(details.report.text, "row 1 is friction"));
    /* Bounded rows in disguise are taken, others are not. */
    double lower[] = {0, -INFINITY}, upper[] = {INFINITY, INFINITY};
    kinds[0] = kinds[1] = RG_ROW_BOUNDED;
    problem.linear.lower = lower;
    problem.linear.upper = upper;
    b[1] = 2;
    assert_int_equal(rg_lp_heuristic(context, &problem, &solution, &details, &error), RG_OK);
    assert_int_equal(details.report.outcome, RG_SOLVED);
    assert_near(force[0], 1, 1e-15);
    assert_near(force[1], -2, 1e-15);
    upper[0] = 3;
    assert_int_equal(rg_lp_heuristic(context, &problem, &solution, &details, &error), RG_OK);
    assert_int_equal(details.report.outcome, RG_SOLVE_UNSUITABLE);
    rg_solve_context_destroy(context);
}

/* Memory: a context that has seen the size asks its allocator for nothing more, and any failure
 * of it is a status. */
static void test_memory(void **state) {
    (void)state;
    stack s;
    make_stack(&s, (double[]){0, 0.7, 1.4, 2.1, 2.8}, 5);
    rg_problem problem = rg_problem_linear(s.rows, s.matrix, s.b);
    double force[ROWS_MAX];
    rg_solution solution = {.force = force};
    rg_lp_details details = {0};
    counting_allocator counter;
    rg_allocator allocator = counting_allocator_make(&counter);
    rg_solve_context *context;
    assert_int_equal(rg_solve_context_create(&allocator, &context), RG_OK);
    for (int i = 0; i < 2; i++)
        assert_int_equal(rg_lp_heuristic(context, &problem, &solution, &details, NULL), RG_OK);
    size_t before = counter.resizes;
    assert_int_equal(rg_lp_heuristic(context, &problem, &solution, &details, NULL), RG_OK);
    assert_int_equal(counter.resizes, before);
    rg_solve_context_destroy(context);

    size_t failures = 0;
    for (size_t fail = 1; fail < 20; fail++) {
        allocator = counting_allocator_make(&counter);
        counter.fail_after = fail;
        assert_int_equal(rg_solve_context_create(&allocator, &context), RG_OK);
        rg_status status = rg_lp_heuristic(context, &problem, &solution, &details, NULL);
        assert_true(status == RG_OK || status == RG_OUT_OF_MEMORY);
        failures += status != RG_OK;
        rg_solve_context_destroy(context);
    }
    assert_true(failures > 0);
}

/* The same matrix in compressed rows, as contacts of dimension 1 with their last rows as joints:
 * the same bits. */
static void check_compressed(rg_solve_context *context, const rg_problem *dense,
                             const double *expected) {
    size_t n = dense->linear.size, count = 0, *starts = calloc(n + 1, sizeof *starts);
    uint32_t *indices = calloc(7 * n, sizeof *indices);
    double *values = calloc(7 * n, sizeof *values), *force = calloc(n, sizeof *force);
    assert_true(starts && indices && values && force);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++)
            if (dense->linear.matrix[i * n + j] != 0) {
                indices[count] = (uint32_t)j;
                values[count++] = dense->linear.matrix[i * n + j];
            }
        starts[i + 1] = count;
    }
    rg_problem problem = {.kind = RG_PROBLEM_CONTACT,
                          .contact = {.dimension = 1,
                                      .contacts = n,
                                      .w = {n, n, NULL, starts, indices, values},
                                      .q = dense->linear.b}};
    rg_solution solution = {.force = force};
    rg_lp_details details = {0};
    assert_int_equal(rg_lp_heuristic(context, &problem, &solution, &details, NULL), RG_OK);
    assert_int_equal(details.report.outcome, RG_SOLVED);
    assert_memory_equal(force, expected, n * sizeof *force);
    /* Joints without bounds are free rows; with bounds they are none of the heuristic's. */
    const double lower = -1, upper = 1;
    problem.contact.contacts--, problem.contact.joints++;
    assert_int_equal(rg_lp_heuristic(context, &problem, &solution, &details, NULL), RG_OK);
    assert_int_equal(details.report.outcome, RG_SOLVED);
    problem.contact.lower = &lower, problem.contact.upper = &upper;
    assert_int_equal(rg_lp_heuristic(context, &problem, &solution, &details, NULL), RG_OK);
    assert_int_equal(details.report.outcome, RG_SOLVE_UNSUITABLE);
    problem.contact.dimension = 2, problem.contact.contacts = n / 2, problem.contact.joints = 0;
    problem.contact.lower = problem.contact.upper = NULL;
    assert_int_equal(rg_lp_heuristic(context, &problem, &solution, &details, NULL), RG_UNSUPPORTED);
    free(starts);
    free(indices);
    free(values);
    free(force);
}

/* Bands of seven entries: `b` all pushed, or some rows that break. Work besides Clp's, counted and
 * not timed, follows the non-zeros; so do Clp's pivots. */
static void test_bands(void **state) {
    (void)state;
    enum { MOST = 1600, BAND = 3 };
    double *matrix = calloc((size_t)MOST * MOST, sizeof *matrix), *b = calloc(MOST, sizeof *b);
    double *force = calloc(MOST, sizeof *force);
    assert_true(matrix && b && force);
    rg_solve_context *context = make_context();
    for (int breaking = 0; breaking < 2; breaking++) {
        double before = 0;
        for (size_t n = 200; n <= MOST; n *= 2) {
            rg_random random = rg_random_make(7);
            memset(matrix, 0, n * n * sizeof *matrix);
            for (size_t i = 0; i < n; i++) {
                for (size_t j = i < BAND ? 0 : i - BAND; j <= i + BAND && j < n; j++)
                    matrix[i * n + j] = i == j ? 4 : -1.0 / (1 + fabs((double)i - (double)j));
                b[i] = rg_random_unit(&random) - (breaking ? 0.6 : 2);
            }
            rg_problem problem = rg_problem_linear(n, matrix, b);
            rg_solution solution = {.force = force};
            rg_lp_details details = {0};
            assert_int_equal(rg_lp_heuristic(context, &problem, &solution, &details, NULL), RG_OK);
            assert_int_equal(details.stage, breaking ? RG_LP_PREDICTED : RG_LP_EMPTY);
            assert_true(judge(n, matrix, b, force) <= 1e-14);
            assert_int_equal(details.nonzeros, (2 * BAND + 1) * n - BAND * (BAND + 1));
            assert_true(details.pivots <= n);
            if (n == 400)
                check_compressed(context, &problem, force);
            double each = details.operations / (double)details.nonzeros;
            assert_true(each < 200 && (before == 0 || each < 1.1 * before));
            before = each;
        }
    }
    rg_solve_context_destroy(context);
    free(matrix);
    free(b);
    free(force);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_incline),
        cmocka_unit_test(test_two_supports),
        cmocka_unit_test(test_vanishing_contact),
        cmocka_unit_test(test_misprediction),
        cmocka_unit_test(test_solver),
        cmocka_unit_test(test_two_bricks),
        cmocka_unit_test(test_five_bricks),
        cmocka_unit_test(test_units),
        cmocka_unit_test(test_four_legs),
        cmocka_unit_test(test_free_rows),
        cmocka_unit_test(test_shares),
        cmocka_unit_test(test_empty_on_a_run),
        cmocka_unit_test(test_degenerate),
        cmocka_unit_test(test_indefinite),
        cmocka_unit_test(test_many_legs),
        cmocka_unit_test(test_families),
        cmocka_unit_test(test_bands),
        cmocka_unit_test(test_unsuitable_and_bad),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
