/* The pivoting solver against enumeration, closed forms, its own invariants, and on the problems
 * that are the normal case of contact: singular, degenerate, redundant. RIGOR_LONG=1 runs the full
 * counts. */
#include "test_support.h"

#include "rigor/solver.h"
#include "solve/solve_dantzig.h"
#include "solve_families.h"

#include <stdio.h>

static rg_solve_context *make_context(void) {
    rg_solve_context *context;
    assert_int_equal(rg_solve_context_create(NULL, &context), RG_OK);
    return context;
}

static rg_solve_info run(rg_solve_context *context, const rg_problem *problem, double *force,
                         double *velocity, double *ray) {
    rg_solution solution = {force, velocity, ray};
    rg_solve_info info;
    rg_error error = {0};
    if (rg_solve(context, &rg_solver_dantzig, problem, NULL, &solution, &info, &error) != RG_OK)
        fail_msg("%s", error.text);
    return info;
}

static void check_solved(const rg_solve_info *info, double tolerance) {
    if (info->outcome != RG_SOLVED || !(info->residual.natural <= tolerance))
        fail_msg("%s, residual %g: %s", rg_solve_outcome_name(info->outcome),
                 info->residual.natural, info->text);
}

/* --- random LCPs ------------------------------------------------------------------------------ */

enum { MOST = 12 };

typedef struct lcp {
    size_t n;
    double a[MOST * MOST], b[MOST];
} lcp;

/* A = J J', b = J x + gaps: solvable. Odd kinds are singular (fewer columns than rows, small
 * integers) or have duplicates; those with duplicates lie on a grid, which keeps rows from being
 * almost parallel. Among 100,000 with continuous entries there instead, one ended INEXACT at
 * 4.5e-10: rows 3e-4 from parallel, whose forces are ill-conditioned. */
static void make_lcp(lcp *p, int kind, rg_random *random) {
    double j[MOST][MOST + 2], x[MOST + 2];
    size_t n = p->n = 1 + rg_random_below(random, MOST);
    size_t m = kind % 2 ? 1 + rg_random_below(random, n) : n + 2;
    for (size_t k = 0; k < m; k++)
        x[k] = rg_random_normal(random);
    for (size_t i = 0; i < n; i++) {
        if (kind == 3 && i && rg_random_unit(random) < 0.4) {
            memcpy(j[i], j[rg_random_below(random, i)], sizeof j[i]);
            continue;
        }
        for (size_t k = 0; k < m; k++)
            j[i][k] = kind == 1 ? (double)rg_random_below(random, 5) - 2
                      : kind == 3
                          ? floor(16 * rg_random_between(random, -1, 1)) / 8 /* well apart */
                          : rg_random_normal(random);
    }
    for (size_t i = 0; i < n; i++) {
        p->b[i] = rg_random_unit(random) < 0.3 && kind != 1 ? rg_random_unit(random) : 0;
        for (size_t k = 0; k < m; k++)
            p->b[i] += j[i][k] * x[k];
        for (size_t l = 0; l < n; l++) {
            double sum = 0;
            for (size_t k = 0; k < m; k++)
                sum += j[i][k] * j[l][k];
            p->a[i * n + l] = sum;
        }
    }
}

/* The largest difference of A f and A g, relative to the largest of |b| and |A_ij f_j|. */
static double compare_motion(const lcp *p, const double *f, const double *g) {
    double worst = 0, size = 0;
    for (size_t i = 0; i < p->n; i++) {
        double sum = 0;
        for (size_t j = 0; j < p->n; j++) {
            sum += p->a[i * p->n + j] * (f[j] - g[j]);
            size = fmax(size, fabs(p->a[i * p->n + j] * f[j]));
        }
        worst = fmax(worst, fabs(sum));
        size = fmax(size, fabs(p->b[i]));
    }
    return size > 0 ? worst / size : worst;
}

/* The small method solves nearly all small problems by itself, to rounding: a, f >= 0 and one of
 * them 0 in every row. What is too large for the magnitudes that a caller allows, it leaves. */
static void small_problems_need_nothing_else(void **state) {
    (void)state;
    rg_solve_context *context = make_context();
    rg_random random = rg_random_make(29);
    int tried = 0, solved_count = 0;
    for (int i = 0; i < test_cases(4000, 100000); i++) {
        lcp p;
        make_lcp(&p, i % 4, &random);
        if (p.n < RG_SMALL_MIN)
            continue;
        double force[MOST], velocity[MOST], largest = 0;
        for (size_t k = 0; k < p.n; k++)
            largest = fmax(largest, fabs(p.b[k]));
        rg_linear_problem problem = {.size = p.n, .matrix = p.a, .b = p.b};
        rg_solution solution = {force, velocity, NULL};
        rg_solve_report report = {0};
        bool solved = false;
        assert_int_equal(
            rg_dantzig_solve_small(context, &problem, 1e6, &solution, &report, &solved, NULL),
            RG_OK);
        tried++, solved_count += solved;
        if (!solved)
            continue;
        for (size_t k = 0; k < p.n; k++) {
            double a = p.b[k], size = fabs(p.b[k]);
            for (size_t j = 0; j < p.n; j++) {
                a += p.a[k * p.n + j] * force[j];
                size += fabs(p.a[k * p.n + j] * force[j]);
            }
            assert_near(velocity[k], a, 1e-13 * size);
            assert_true(force[k] >= 0 && a >= -1e-11 * size);
            assert_true(force[k] == 0 || a <= 1e-11 * size);
        }
        if (largest > 0) {
            assert_int_equal(rg_dantzig_solve_small(context, &problem, 0.5 * largest, &solution,
                                                    &report, &solved, NULL),
                             RG_OK);
            assert_false(solved);
        }
    }
    print_message("small: %d of %d\n", solved_count, tried);
    assert_true(solved_count >= 0.99 * tried);
    rg_solve_context_destroy(context);
}

/* The oracle: every set of independent rows C, by deciding row after row whether it is in. A factor
 * of the rows that are in grows along the way (A_CC = R'R, row k of R' in factor[k]). */
typedef struct oracle {
    const lcp *p;
    double factor[MOST][MOST], y[MOST]; /* y: R' y = -b */
    size_t rows[MOST], count;
    double size;              /* what violations are relative to */
    double best, force[MOST]; /* the smallest violation, and its forces */
} oracle;

/* Violations up to this are rounding errors: the search is over. */
#define ORACLE_ENOUGH 1e-13
/* Rows whose pivot is below this, relative to their diagonal entry, depend on those before. */
#define ORACLE_SINGULAR 1e-10

static void try_set(oracle *o) {
    const lcp *p = o->p;
    double f[MOST] = {0}, x[MOST], worst = 0;
    for (size_t k = o->count; k-- > 0;) {
        double sum = o->y[k];
        for (size_t l = k + 1; l < o->count; l++)
            sum -= o->factor[l][k] * x[l];
        x[k] = sum / o->factor[k][k];
        f[o->rows[k]] = x[k];
        worst = fmax(worst, -x[k] * p->a[o->rows[k] * p->n + o->rows[k]]);
    }
    for (size_t i = 0; i < p->n && worst < o->best * o->size; i++) {
        double a = p->b[i];
        for (size_t k = 0; k < o->count; k++)
            a += p->a[i * p->n + o->rows[k]] * x[k];
        bool inside = f[i] != 0;
        worst = fmax(worst, inside ? fabs(a) : -a);
    }
    if (worst < o->best * o->size) {
        o->best = worst / o->size;
        memcpy(o->force, f, sizeof f);
    }
}

static void search(oracle *o, size_t row) {
    const lcp *p = o->p;
    if (row == p->n) {
        try_set(o);
        return;
    }
    size_t m = o->count;
    double *r = o->factor[m], pivot = p->a[row * p->n + row], y = -p->b[row];
    for (size_t k = 0; k < m; k++) {
        double sum = p->a[row * p->n + o->rows[k]];
        for (size_t l = 0; l < k; l++)
            sum -= r[l] * o->factor[k][l];
        r[k] = sum / o->factor[k][k];
        pivot -= r[k] * r[k];
        y -= r[k] * o->y[k];
    }
    if (pivot > ORACLE_SINGULAR * p->a[row * p->n + row]) {
        r[m] = sqrt(pivot);
        o->y[m] = y / r[m];
        o->rows[m] = row;
        o->count = m + 1;
        search(o, row + 1);
        o->count = m;
    }
    if (o->best > ORACLE_ENOUGH)
        search(o, row + 1);
}

/* Forces of one solution; A f is the same for all. */
static void enumerate(const lcp *p, oracle *o) {
    o->p = p;
    o->count = 0;
    o->best = INFINITY;
    o->size = 0;
    for (size_t i = 0; i < p->n; i++)
        o->size = fmax(o->size, fabs(p->b[i]));
    o->size = o->size > 0 ? o->size : 1;
    search(o, 0);
}

static void test_against_enumeration(void **state) {
    (void)state;
    rg_solve_context *context = make_context();
    rg_random random = rg_random_make(1);
    int count = test_cases(10000, 100000);
    uint64_t pivots = 0, rows = 0;
    double worst = 0, motion = 0, violation = 0;
    for (int t = 0; t < count; t++) {
        lcp p;
        make_lcp(&p, t % 4, &random);
        rg_problem problem = rg_problem_linear(p.n, p.a, p.b);
        double f[MOST];
        rg_solve_info info = run(context, &problem, f, NULL, NULL);
        check_solved(&info, 1e-10);
        worst = fmax(worst, info.residual.natural);
        pivots += info.iterations;
        rows += p.n;
        const uint8_t kinds[MOST] = {RG_ROW_UNILATERAL}; /* given, they keep it off the short way */
        double general[MOST];
        problem.linear.kinds = kinds;
        info = run(context, &problem, general, NULL, NULL);
        check_solved(&info, 1e-10);
        motion = fmax(motion, compare_motion(&p, f, general));
        oracle o;
        enumerate(&p, &o);
        assert_true(o.best <= 1e-10);
        violation = fmax(violation, o.best);
        motion = fmax(motion, compare_motion(&p, f, o.force));
        if (t % 100 == 0 && p.n <= 8) { /* and the solver of that name */
            double g[MOST];
            rg_solution other = {.force = g};
            assert_int_equal(
                rg_solve(context, &rg_solver_enumerate, &problem, NULL, &other, &info, NULL),
                RG_OK);
            check_solved(&info, 1e-8);
            motion = fmax(motion, compare_motion(&p, f, g));
        }
    }
    print_message(
        "%d LCPs: residual %.2g; A f differs by %.2g from enumeration's (violation %.2g); "
        "%.2f exchanges and pivots per row\n",
        count, worst, motion, violation, (double)pivots / (double)rows);
    assert_true(motion <= 1e-9);
    rg_solve_context_destroy(context);
}

/* The same from nothing, row by row as in the paper: pivots per row. */
static void test_pivots_per_row(void **state) {
    (void)state;
    rg_solve_context *context = make_context();
    rg_random random = rg_random_make(2);
    rg_solve_settings settings = rg_solve_settings_default();
    uint64_t pivots[MOST + 1] = {0}, cases[MOST + 1] = {0};
    for (int t = 0, count = test_cases(20000, 20000); t < count; t++) {
        lcp p;
        make_lcp(&p, t % 4, &random);
        rg_problem problem = rg_problem_linear(p.n, p.a, p.b);
        double f[MOST];
        rg_solution solution = {.force = f};
        rg_solve_report report = {0};
        rg_dantzig_options options = {.cold = true};
        assert_int_equal(
            rg_dantzig_solve(context, &problem, &settings, &solution, &report, &options, NULL),
            RG_OK);
        rg_arena_reset(&context->arena);
        assert_int_equal(report.outcome, RG_SOLVED);
        rg_residual residual;
        assert_int_equal(rg_judge(&problem, f, NULL, NULL, &residual, NULL), RG_OK);
        assert_true(residual.natural <= 1e-9);
        pivots[p.n] += options.pivots;
        cases[p.n]++;
    }
    for (size_t n = 2; n <= MOST; n += 5)
        print_message("n = %zu: %.2f pivots per row\n", n,
                      (double)pivots[n] / (double)(cases[n] * n));
    rg_solve_context_destroy(context);
}

static void test_permutation(void **state) {
    (void)state;
    rg_solve_context *context = make_context();
    rg_random random = rg_random_make(3);
    double worst = 0;
    for (int t = 0, count = test_cases(5000, 5000); t < count; t++) {
        lcp p, q;
        make_lcp(&p, t % 4, &random);
        size_t order[MOST];
        q.n = p.n;
        for (size_t i = 0; i < p.n; i++)
            order[i] = i;
        for (size_t i = p.n; i-- > 1;) {
            size_t j = rg_random_below(&random, i + 1), swap = order[i];
            order[i] = order[j], order[j] = swap;
        }
        for (size_t i = 0; i < p.n; i++) {
            q.b[i] = p.b[order[i]];
            for (size_t j = 0; j < p.n; j++)
                q.a[i * p.n + j] = p.a[order[i] * p.n + order[j]];
        }
        rg_problem one = rg_problem_linear(p.n, p.a, p.b), two = rg_problem_linear(q.n, q.a, q.b);
        double f[MOST], g[MOST], back[MOST];
        rg_solve_info info = run(context, &one, f, NULL, NULL);
        check_solved(&info, 1e-10);
        info = run(context, &two, g, NULL, NULL);
        check_solved(&info, 1e-10);
        for (size_t i = 0; i < p.n; i++)
            back[order[i]] = g[i];
        worst = fmax(worst, compare_motion(&p, f, back));
    }
    print_message("permuted rows: A f differs by %.2g\n", worst);
    assert_true(worst <= 1e-12);
    rg_solve_context_destroy(context);
}

/* --- closed forms ----------------------------------------------------------------------------- */

static void test_worked(void **state) {
    (void)state;
    rg_solve_context *context = make_context();
    double f[3], a[3];
    rg_problem p = rg_problem_linear(2, (double[]){1.15, 1.6, 1.6, 3.4}, (double[]){-9.81, -9.81});
    p.linear.b = (double[]){-9.81, -9.81 * 1}; /* a brick past a ledge: the second contact opens */
    rg_solve_info info = run(context, &p, f, a, NULL);
    check_solved(&info, 1e-12);
    assert_near(f[0], 8.530434782608696, 1e-12);
    assert_near(f[1], 0, 0);
    assert_near(a[1], 3.838695652173913, 1e-12);
    p = rg_problem_linear(3, (double[]){19, -2, 3, -2, 12, 2, 3, 2, 1}, (double[]){-11, -2, -3});
    info = run(context, &p, f, a, NULL);
    check_solved(&info, 1e-12);
    assert_near(f[0], 0.2, 1e-13);
    assert_near(f[1], 0, 0);
    assert_near(f[2], 2.4, 1e-13);
    assert_near(a[1], 2.4, 1e-12);
    /* No rows at all. */
    p = rg_problem_linear(0, f, f);
    info = run(context, &p, f, a, NULL);
    assert_int_equal(info.outcome, RG_SOLVED);
    rg_solve_context_destroy(context);
}

/* Four legs and a fifth: A of rank 3; the sum is the weight whatever the shares. */
static void test_table(void **state) {
    (void)state;
    rg_solve_context *context = make_context();
    const double x[5] = {-1, 1, 1, -1, 0.25}, y[5] = {-1, -1, 1, 1, 0.5};
    for (int e = -6; e <= 6; e += 6) {
        double a[25], b[5], f[5], unit = pow(10, e), sum = 0;
        for (int i = 0; i < 5; i++) {
            b[i] = -9.81 * unit;
            for (int j = 0; j < 5; j++)
                a[5 * i + j] = (1 + x[i] * x[j] * 3 + y[i] * y[j] * 3) * unit;
        }
        rg_problem p = rg_problem_linear(5, a, b);
        rg_solve_info info = run(context, &p, f, NULL, NULL);
        check_solved(&info, 1e-13);
        for (int i = 0; i < 5; i++)
            sum += f[i];
        assert_near(sum, 9.81, 1e-13);
    }
    rg_solve_context_destroy(context);
}

/* Free rows give A f = -b; a second copy of one is redundant, a contradictory one a proof. */
static void test_free_rows(void **state) {
    (void)state;
    rg_solve_context *context = make_context();
    double a[9] = {4, 1, 4, 1, 3, 1, 4, 1, 4}, b[3] = {-1, 2, -1}, f[3], v[3], ray[3];
    uint8_t kinds[3] = {RG_ROW_FREE, RG_ROW_FREE, RG_ROW_FREE};
    rg_problem p = rg_problem_linear(3, a, b);
    p.linear.kinds = kinds;
    rg_solve_info info = run(context, &p, f, v, ray);
    check_solved(&info, 1e-14);
    assert_near(f[0] + f[2], 5.0 / 11, 1e-14);
    assert_near(f[1], -9.0 / 11, 1e-14);
    b[2] = -1.5;
    info = run(context, &p, f, v, ray);
    assert_int_equal(info.outcome, RG_SOLVE_INFEASIBLE);
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        double product = 0;
        for (int j = 0; j < 3; j++)
            product += a[3 * i + j] * ray[j];
        assert_near(product, 0, 1e-12);
        sum += b[i] * ray[i];
    }
    assert_true(sum < -1e-3);
    rg_solve_context_destroy(context);
}

static void test_bounds(void **state) {
    (void)state;
    rg_solve_context *context = make_context();
    /* One row, a = 2 f + b: all five ways to be content. */
    const struct {
        double b, lower, upper, f;
    } cases[] = {{-4, -1, 5, 2},        {-4, -1, 1, 1},       {4, -1, 1, -1}, {4, 0.5, 1, 0.5},
                 {4, -INFINITY, 1, -2}, {-4, 0, INFINITY, 2}, {0, -1, 1, 0},  {1, 3, 3, 3}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        double matrix = 2, f;
        uint8_t kind = RG_ROW_BOUNDED;
        rg_problem p = rg_problem_linear(1, &matrix, &cases[k].b);
        p.linear.kinds = &kind;
        p.linear.lower = &cases[k].lower;
        p.linear.upper = &cases[k].upper;
        rg_solve_info info = run(context, &p, &f, NULL, NULL);
        check_solved(&info, 1e-14);
        assert_near(f, cases[k].f, 1e-14);
    }
    rg_solve_context_destroy(context);
}

/* A body between two walls that close: no accelerations meet both. */
static void test_closing_walls(void **state) {
    (void)state;
    rg_solve_context *context = make_context();
    double a[4] = {0.5, -0.5, -0.5, 0.5}, b[2] = {-1, 0.25}, f[2], ray[2] = {0};
    rg_problem p = rg_problem_linear(2, a, b);
    rg_solve_info info = run(context, &p, f, NULL, ray);
    assert_int_equal(info.outcome, RG_SOLVE_INFEASIBLE);
    assert_true(ray[0] >= 0 && ray[1] >= 0 && ray[0] * b[0] + ray[1] * b[1] < 0);
    assert_near(ray[0], ray[1], 1e-14 * ray[0]);
    b[1] = 1.5; /* now they do not */
    info = run(context, &p, f, NULL, ray);
    check_solved(&info, 1e-14);
    rg_solve_context_destroy(context);
}

/* --- families --------------------------------------------------------------------------------- */

static void test_families(void **state) {
    (void)state;
    static const size_t sizes[] = {10, 20, 50, 100, 150, 200, 400, 800};
    rg_solve_context *context = make_context();
    double worst = 0;
    for (int kind = FAMILY_STACK; kind <= FAMILY_PILE; kind++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (uint64_t seed = 0; seed < 4; seed++) {
                solve_family *family = family_make((family_kind)kind, sizes[s], seed, 0.5);
                double *f = family_zeros(sizes[s], sizeof(double));
                rg_solve_info info = run(context, family_linear(family), f, NULL, NULL);
                check_solved(&info, 1e-10);
                worst = fmax(worst, info.residual.natural);
                free(f);
                family_free(family);
            }
    print_message("stacks, walls, piles up to 800 rows: residual %.2g\n", worst);
    rg_solve_context_destroy(context);
}

/* --- other problems than those that the constants were chosen on ------------------------------ */

/* A force that is rounded to a double changes a by this, relative to the scale: with mass ratios of
 * 1e6 between neighbours more than the tolerance, and no method can do better. */
static double rounding_floor(const rg_linear_problem *p, const double *f) {
    double worst = 0, scale = 0;
    for (size_t i = 0; i < p->size; i++) {
        double sum = 0;
        for (size_t j = 0; j < p->size; j++)
            sum += fabs(p->matrix[i * p->size + j] * f[j]);
        worst = fmax(worst, sum);
        scale = fmax(scale, fabs(p->b[i]));
    }
    return 2.2e-16 * worst / scale;
}

static void check_held_out(rg_solve_context *context, const rg_problem *p, bool extreme,
                           double *worst, double *pivots) {
    size_t n = p->linear.size;
    double *f = family_zeros(n, sizeof *f);
    rg_solve_info info = run(context, p, f, NULL, NULL);
    double limit = extreme ? fmax(1e-10, 2 * rounding_floor(&p->linear, f)) : 1e-10;
    if (info.outcome != RG_SOLVED && limit > 1e-10)
        assert_true(info.residual.natural <= limit);
    else
        check_solved(&info, 1e-10);
    *worst = fmax(*worst, info.residual.natural);
    if (!extreme)
        *pivots = fmax(*pivots, (double)info.iterations / (double)n);
    free(f);
}

/* Unit squares, w x h of them, in a pit: two contacts with each neighbour and with the walls and
 * the floor; all equal. `push` is an acceleration to the right. */
static size_t make_pit(size_t w, size_t h, double push, double *a, double *b) {
    typedef struct row {
        size_t body[2]; /* w h: none */
        double j[2][3];
    } row;
    size_t n = 0, none = w * h;
    row *rows = family_zeros(4 * w * h + 2 * h, sizeof *rows);
    for (size_t y = 0; y < h; y++)
        for (size_t x = 0; x <= w; x++)
            for (int k = 0; k < 4; k++) { /* two with the left neighbour, two with the lower one */
                double t = k % 2 ? 0.5 : -0.5;
                if (x == w && k >= 2)
                    continue;
                row *r = &rows[n++];
                r->body[1] = x < w ? y * w + x : none;
                r->body[0] = k < 2 ? (x ? y * w + x - 1 : none) : y ? (y - 1) * w + x : none;
                for (int side = 0; side < 2; side++) {
                    double sign = side ? 1 : -1, *j = r->j[side];
                    j[0] = k < 2 ? sign : 0;
                    j[1] = k < 2 ? 0 : sign;
                    j[2] = k < 2 ? -sign * t : sign * t; /* arm x normal */
                }
            }
    for (size_t i = 0; i < n; i++) {
        b[i] = 0;
        for (int s = 0; s < 2; s++)
            if (rows[i].body[s] != none)
                b[i] += rows[i].j[s][0] * push - rows[i].j[s][1] * FAMILY_GRAVITY;
        for (size_t l = 0; l < n; l++) {
            double sum = 0;
            for (int s = 0; s < 2; s++)
                for (int t = 0; t < 2; t++)
                    if (rows[i].body[s] != none && rows[i].body[s] == rows[l].body[t])
                        sum += rows[i].j[s][0] * rows[l].j[t][0] +
                               rows[i].j[s][1] * rows[l].j[t][1] +
                               6 * rows[i].j[s][2] * rows[l].j[t][2];
            a[i * n + l] = sum;
        }
    }
    free(rows);
    return n;
}

static void test_held_out(void **state) {
    (void)state;
    rg_solve_context *context = make_context();
    rg_random random = rg_random_make(8);
    double worst[2] = {0}, pivots = 0;
    uint64_t seeds = (uint64_t)test_cases(20, 200);
    for (uint64_t seed = 101; seed < 101 + seeds; seed++)
        for (int kind = FAMILY_STACK; kind <= FAMILY_PLANAR; kind++)
            for (int ratios = 0; ratios < 3; ratios++) { /* of masses: 1.5, 1e3, 1e6 */
                size_t n = 5 + rg_random_below(&random, seed % 4 ? 90 : 300);
                solve_family *family = family_make((family_kind)kind, n, seed, 0);
                size_t block = (size_t)(family->freedom * family->freedom);
                for (size_t k = 0; k < family->bodies && ratios; k++) {
                    double factor = pow(10, 1.5 * ratios * rg_random_between(&random, -1, 1));
                    for (size_t e = 0; e < block; e++)
                        family->inverse[k * block + e] *= factor;
                }
                check_held_out(context, family_linear(family), ratios == 2, &worst[ratios == 2],
                               &pivots);
                family_free(family);
            }
    for (size_t w = 1; w <= 8; w++)
        for (size_t h = 1; h <= 8; h++) {
            size_t most = 4 * w * h + 2 * h;
            double *a = family_zeros(most * most, sizeof *a), *b = family_zeros(most, sizeof *b);
            for (int k = 0; k < 2; k++) {
                size_t n = make_pit(w, h, k ? 3.7 : 0, a, b);
                rg_problem p = rg_problem_linear(n, a, b);
                check_held_out(context, &p, false, &worst[0], &pivots);
            }
            free(a);
            free(b);
        }
    print_message(
        "seeds from 101, mass ratios to 1e3, pits: residual %.2g, at most %.1f pivots and "
        "exchanges per row; mass ratios to 1e6: residual %.2g\n",
        worst[0], pivots, worst[1]);
    rg_solve_context_destroy(context);
}

/* Units and mass ratios: rows scaled by anything give the same answer, scaled back. */
static void test_row_scales(void **state) {
    (void)state;
    rg_solve_context *context = make_context();
    rg_random random = rg_random_make(4);
    for (int kind = FAMILY_STACK; kind <= FAMILY_PILE; kind++) {
        enum { N = 60 };
        solve_family *family = family_make((family_kind)kind, N, 1, 0.5);
        const rg_linear_problem *p = &family_linear(family)->linear;
        double a[N * N], b[N], f[N], g[N], s[N];
        rg_solve_info info = run(context, family_linear(family), f, NULL, NULL);
        check_solved(&info, 1e-10);
        for (int i = 0; i < N; i++)
            s[i] = ldexp(1, (int)rg_random_below(&random, 41) - 20);
        for (int i = 0; i < N; i++) {
            b[i] = p->b[i] * s[i];
            for (int j = 0; j < N; j++)
                a[i * N + j] = p->matrix[i * N + j] * s[i] * s[j];
        }
        rg_problem scaled = rg_problem_linear(N, a, b);
        rg_solution solution = {.force = g};
        assert_int_equal(
            rg_solve(context, &rg_solver_dantzig, &scaled, NULL, &solution, &info, NULL), RG_OK);
        check_solved(&info, 1e-10);
        for (int i = 0; i < N; i++) /* powers of two: the same bits */
            assert_true(g[i] * s[i] == f[i]);
        family_free(family);
    }
    rg_solve_context_destroy(context);
}

/* The factor updated at every pivot, or made afresh: the same pivots. */
static void test_incremental_factor(void **state) {
    (void)state;
    rg_solve_context *context = make_context();
    rg_solve_settings settings = rg_solve_settings_default();
    for (int kind = FAMILY_STACK; kind <= FAMILY_PILE; kind++)
        for (size_t n = 20; n <= 100; n += 40)
            for (uint64_t seed = 1; seed <= 3; seed++) {
                solve_family *family = family_make((family_kind)kind, n, seed, 0.5);
                double f[100];
                rg_solution solution = {.force = f};
                rg_dantzig_options one = {.cold = true},
                                   two = {.cold = true, .refactor_always = true};
                rg_solve_report report = {0};
                const rg_problem *p = family_linear(family);
                assert_int_equal(
                    rg_dantzig_solve(context, p, &settings, &solution, &report, &one, NULL), RG_OK);
                assert_int_equal(report.outcome, RG_SOLVED);
                assert_int_equal(
                    rg_dantzig_solve(context, p, &settings, &solution, &report, &two, NULL), RG_OK);
                rg_arena_reset(&context->arena);
                assert_true(one.pivots > n / 4);
                assert_int_equal(one.pivots, two.pivots);
                assert_true(one.trace == two.trace);
                family_free(family);
            }
    rg_solve_context_destroy(context);
}

static void test_warm_start(void **state) {
    (void)state;
    counting_allocator counter;
    rg_allocator allocator = counting_allocator_make(&counter);
    rg_solve_context *context;
    assert_int_equal(rg_solve_context_create(&allocator, &context), RG_OK);
    enum { N = 120 };
    solve_family *family = family_make(FAMILY_WALL, N, 2, 0.5);
    const rg_problem *p = family_linear(family);
    double f[N];
    rg_solution solution = {.force = f};
    rg_solve_info info;
    for (int k = 0; k < 2; k++)
        assert_int_equal(rg_solve(context, &rg_solver_dantzig, p, NULL, &solution, &info, NULL),
                         RG_OK);
    size_t calls = counter.resizes;
    rg_solve_settings settings = rg_solve_settings_default();
    settings.warm = true;
    assert_int_equal(rg_solve(context, &rg_solver_dantzig, p, &settings, &solution, &info, NULL),
                     RG_OK);
    check_solved(&info, 1e-12);
    assert_int_equal(info.iterations, 0);
    assert_int_equal(counter.resizes, calls); /* a context that has seen the size takes nothing */
    for (int i = 0; i < N; i++)
        f[i] = i % 7 ? 3.0 : NAN; /* nonsense to start from */
    assert_int_equal(rg_solve(context, &rg_solver_dantzig, p, &settings, &solution, &info, NULL),
                     RG_OK);
    check_solved(&info, 1e-10);
    family_free(family);
    rg_solve_context_destroy(context);
}

/* --- matrices it cannot take ------------------------------------------------------------------ */

static void test_bad_matrices(void **state) {
    (void)state;
    rg_solve_context *context = make_context();
    rg_random random = rg_random_make(5);
    size_t outcomes[RG_SOLVE_OUTCOMES] = {0};
    for (int t = 0, count = test_cases(10000, 10000); t < count; t++) {
        size_t n = 2 + rg_random_below(&random, 15);
        double a[16 * 16], b[16], f[16], ray[16];
        for (size_t i = 0; i < n; i++) {
            b[i] = rg_random_normal(&random);
            for (size_t j = 0; j <= i; j++)
                a[i * n + j] = a[j * n + i] = rg_random_normal(&random);
            a[i * n + i] = fabs(a[i * n + i]); /* a negative one is seen at once */
        }
        rg_problem p = rg_problem_linear(n, a, b);
        rg_solve_info info = run(context, &p, f, NULL, ray);
        assert_true((unsigned)info.outcome < RG_SOLVE_OUTCOMES);
        assert_true(info.outcome == RG_SOLVED || info.text[0] != 0 ||
                    info.outcome == RG_SOLVE_INEXACT);
        outcomes[info.outcome]++;
    }
    for (int k = 0; k < RG_SOLVE_OUTCOMES; k++)
        if (outcomes[k])
            print_message("indefinite: %s %zu\n", rg_solve_outcome_name((rg_solve_outcome)k),
                          outcomes[k]);
    double f[2];
    rg_problem p = rg_problem_linear(2, (double[]){1, 0.5, 0.4, 1}, (double[]){-1, -1});
    rg_solve_info info = run(context, &p, f, NULL, NULL);
    assert_int_equal(info.outcome, RG_SOLVE_NOT_SYMMETRIC);
    p = rg_problem_linear(2, (double[]){-1, 0, 0, 1}, (double[]){-1, -1});
    info = run(context, &p, f, NULL, NULL);
    assert_int_equal(info.outcome, RG_SOLVE_INDEFINITE);
    p = rg_problem_linear(2, (double[]){1, 2, 2, 1}, (double[]){-1, -2});
    info = run(context, &p, f, NULL, NULL);
    assert_true(info.outcome == RG_SOLVE_INDEFINITE || info.outcome == RG_SOLVED);
    rg_solve_context_destroy(context);
}

/* --- friction --------------------------------------------------------------------------------- */

static void one_point(rg_solve_context *context, size_t rows, int count) {
    rg_random random = rg_random_make(6 + rows);
    double worst = 0;
    for (int t = 0; t < count; t++) {
        double j[3][6], a[9], b[3], mu[3], x[6], f[3];
        uint8_t kinds[3] = {RG_ROW_UNILATERAL, RG_ROW_STATIC, RG_ROW_STATIC};
        uint32_t normal[3] = {0, 0, 0};
        size_t freedom = rows + rg_random_below(&random, 5 - (uint64_t)rows + 2);
        for (size_t k = 0; k < freedom; k++)
            x[k] = rg_random_normal(&random);
        for (size_t i = 0; i < rows; i++) {
            mu[i] = rg_random_between(&random, 0, 3);
            b[i] = 0;
            for (size_t k = 0; k < freedom; k++) {
                j[i][k] = rg_random_normal(&random);
                b[i] += j[i][k] * x[k];
            }
        }
        for (size_t i = 0; i < rows; i++)
            for (size_t l = 0; l < rows; l++) {
                a[i * rows + l] = 0;
                for (size_t k = 0; k < freedom; k++)
                    a[i * rows + l] += j[i][k] * j[l][k];
            }
        rg_problem p = rg_problem_linear(rows, a, b);
        p.linear.kinds = kinds;
        p.linear.normal = normal;
        p.linear.mu = mu;
        rg_solve_info info = run(context, &p, f, NULL, NULL);
        check_solved(&info, 1e-10);
        worst = fmax(worst, info.residual.natural);
    }
    print_message("one point, %zu rows: %d solved, residual %.2g\n", rows, count, worst);
}

static void test_one_point(void **state) {
    (void)state;
    rg_solve_context *context = make_context();
    one_point(context, 2, test_cases(200000, 1000000));
    one_point(context, 3, test_cases(100000, 1000000));
    rg_solve_context_destroy(context);
}

/* A chain whose rows are mixed up, and rows that touch no other: the order has every row once, and
 * neighbours in the chain beside each other. */
static void test_order(void **state) {
    (void)state;
    enum { ROWS = 30, CHAIN = 23 };
    rg_solve_context *context = make_context();
    for (int first = 0; first < 2; first++) { /* the chain begins after the row that is alone */
        double a[ROWS * ROWS] = {0}, b[ROWS] = {0};
        size_t link[CHAIN], place[ROWS];
        for (size_t k = 0; k < CHAIN; k++)
            link[k] = 7 * k % CHAIN + (first ? 1 : 0);
        for (size_t i = 0; i < ROWS; i++)
            a[i * ROWS + i] = 2, place[i] = ROWS;
        for (size_t k = 0; k + 1 < CHAIN; k++)
            a[link[k] * ROWS + link[k + 1]] = a[link[k + 1] * ROWS + link[k]] = -1;
        rg_problem p = rg_problem_linear(ROWS, a, b);
        uint32_t order[ROWS];
        rg_entries entries;
        assert_int_equal(rg_dantzig_order(context, &p.linear, order, &entries, NULL), RG_OK);
        for (size_t i = 0; i < ROWS; i++) {
            assert_true(order[i] < ROWS && place[order[i]] == ROWS);
            place[order[i]] = i;
        }
        for (size_t k = 0; k + 1 < CHAIN; k++) {
            size_t x = place[link[k]], y = place[link[k + 1]];
            assert_int_equal(x > y ? x - y : y - x, 1);
        }
        rg_arena_reset(&context->arena);
    }
    rg_solve_context_destroy(context);
}

/* Rows with bounds beside friction, as motors and limits are: what the pivoting calls solved is,
 * and with little friction all are solved. */
static void test_bounds_beside_friction(void **state) {
    (void)state;
    rg_solve_context *context = make_context();
    rg_random random = rg_random_make(17);
    enum { CONTACTS = 3, BOUNDS = 3, N = 2 * CONTACTS + BOUNDS };
    size_t at_lower = 0, at_upper = 0, count = (size_t)test_cases(1000, 20000), pivots = 0;
    for (size_t t = 0; t < count; t++) {
        double j[N][N], a[N * N], b[N], mu[N] = {0}, lower[N] = {0}, upper[N], f[N], u[N];
        uint8_t kinds[N];
        uint32_t normal[N];
        for (size_t i = 0; i < N; i++) {
            for (size_t k = 0; k < N; k++)
                j[i][k] = rg_random_normal(&random);
            b[i] = 3 * rg_random_normal(&random);
            kinds[i] = i >= 2 * CONTACTS ? RG_ROW_BOUNDED
                       : i % 2           ? RG_ROW_STATIC
                                         : RG_ROW_UNILATERAL;
            normal[i] = (uint32_t)(kinds[i] == RG_ROW_STATIC ? i - 1 : i);
            mu[i] = kinds[i] == RG_ROW_STATIC ? 0.1 : 0;
            upper[i] = INFINITY;
            if (kinds[i] == RG_ROW_BOUNDED)
                lower[i] = rg_random_between(&random, -2, 0.5),
                upper[i] = lower[i] + rg_random_between(&random, 0.5, 2);
        }
        for (size_t i = 0; i < N; i++)
            for (size_t k = 0; k < N; k++) {
                double sum = i == k;
                for (size_t m = 0; m < N; m++)
                    sum += j[i][m] * j[k][m] / N;
                a[i * N + k] = sum;
            }
        rg_problem p = rg_problem_linear(N, a, b);
        p.linear.kinds = kinds, p.linear.normal = normal, p.linear.mu = mu;
        p.linear.lower = lower, p.linear.upper = upper;
        rg_solve_info info = run(context, &p, f, u, NULL);
        check_solved(&info, 1e-12);
        pivots += info.iterations;
        for (size_t i = 2 * CONTACTS; i < N; i++)
            at_lower += f[i] == lower[i], at_upper += f[i] == upper[i];
    }
    print_message("%.2f pivots a row\n", (double)pivots / (double)(N * count));
    assert_true(at_lower > count / 4 && at_upper > count / 4);
    rg_solve_context_destroy(context);
}

/* Not every system has a solution that the pivoting finds: the share is reported, and whatever is
 * not solved is said not to be. */
static void test_random_friction(void **state) {
    (void)state;
    rg_solve_context *context = make_context();
    rg_random random = rg_random_make(7);
    for (int space = 0; space < 2; space++) {
        int count = test_cases(10000, 100000);
        size_t outcomes[RG_SOLVE_OUTCOMES] = {0};
        uint64_t pivots = 0, rows = 0;
        for (int t = 0; t < count; t++) {
            size_t contacts = 1 + rg_random_below(&random, 10);
            solve_family *family =
                family_make(space ? FAMILY_PILE : FAMILY_PLANAR, contacts, (uint64_t)t + 1, -1);
            double f[30], ray[30];
            rg_solve_info info = run(context, family_static(family), f, NULL, ray);
            outcomes[info.outcome]++;
            pivots += info.iterations;
            rows += contacts * (space ? 3 : 2);
            if (info.outcome != RG_SOLVED)
                assert_true(info.text[0] != 0);
            family_free(family);
        }
        print_message("%s, 1 to 10 contacts: %zu of %d solved, %zu rays, %.2f pivots per row\n",
                      space ? "space (box)" : "plane", outcomes[RG_SOLVED], count,
                      outcomes[RG_SOLVE_RAY], (double)pivots / (double)rows);
        assert_int_equal(outcomes[RG_SOLVE_INEXACT], 0);
        assert_true(outcomes[RG_SOLVED] >= (size_t)(0.998 * count));
    }
    rg_solve_context_destroy(context);
}

/* Block on an incline, |f_T| <= mu f_N: sticks or slides. Rod at rest (Baraff 1994 survey,
 * section 7.2). */
static void test_static_worked(void **state) {
    (void)state;
    rg_solve_context *context = make_context();
    uint8_t kinds[2] = {RG_ROW_UNILATERAL, RG_ROW_STATIC};
    uint32_t normal[2] = {0, 0};
    double f[2], a[2], mu[2] = {0, 0.3}, c = sqrt(0.75), s = 0.5, g = 9.81;
    rg_problem p = rg_problem_linear(2, (double[]){1, 0, 0, 1}, (double[]){-g * c, -g * s});
    p.linear.kinds = kinds, p.linear.normal = normal, p.linear.mu = mu;
    rg_solve_info info = run(context, &p, f, a, NULL);
    check_solved(&info, 1e-14);
    assert_near(f[1], 0.3 * g * c, 1e-14 * g);
    assert_near(a[1], -2.356287, 1e-6);
    mu[1] = 0.6;
    info = run(context, &p, f, a, NULL);
    check_solved(&info, 1e-14);
    assert_near(f[1], g * s, 1e-14 * g);
    /* tan = 2, mu = 2, m = l = 1: arms (-c, s) l, inertia 1/3. */
    double cc = 1 / sqrt(5), ss = 2 / sqrt(5);
    p.linear.matrix = (double[]){1 + 3 * cc * cc, -3 * cc * ss, -3 * cc * ss, 1 + 3 * ss * ss};
    p.linear.b = (double[]){-g, 0};
    mu[1] = 2;
    info = run(context, &p, f, a, NULL);
    check_solved(&info, 1e-14);
    assert_near(f[0], 8.3385, 1e-12);
    assert_near(f[1], 2.943, 1e-12);
    rg_solve_context_destroy(context);
}

/* Painleve's rod (Baraff 1994 survey, section 7.1): A = 1.6 - 1.2 mu after the substitution. */
static void test_dynamic(void **state) {
    (void)state;
    rg_solve_context *context = make_context();
    uint8_t kinds[2] = {RG_ROW_UNILATERAL, RG_ROW_DYNAMIC};
    uint32_t normal[2] = {0, 0};
    double cc = 1 / sqrt(5), ss = 2 / sqrt(5), f[2], a[2], ray[2] = {0}, mu[2] = {0, -2};
    double b[2] = {-9.81, 0};
    rg_problem p = rg_problem_linear(
        2, (double[]){1 + 3 * cc * cc, 3 * cc * ss, 3 * cc * ss, 1 + 3 * ss * ss}, b);
    p.linear.kinds = kinds, p.linear.normal = normal, p.linear.mu = mu;
    rg_solve_info info = run(context, &p, f, a, ray);
    assert_int_equal(info.outcome, RG_SOLVE_RAY);
    assert_true(ray[0] > 0);
    assert_near(ray[1] / ray[0], -2, 1e-14);
    mu[1] = -1; /* 0.4 f = 9.81 */
    info = run(context, &p, f, a, ray);
    check_solved(&info, 1e-13);
    assert_near(f[0], 24.525, 1e-12);
    assert_near(f[1], -24.525, 1e-12);
    mu[1] = -2, b[0] = 16 * ss - 9.81; /* two solutions; from nothing the one without force */
    info = run(context, &p, f, a, ray);
    check_solved(&info, 1e-13);
    assert_near(f[0], 0, 0);
    assert_near(a[0], 4.500835, 1e-6);
    rg_solve_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_problems_need_nothing_else),
        cmocka_unit_test(test_against_enumeration),
        cmocka_unit_test(test_pivots_per_row),
        cmocka_unit_test(test_permutation),
        cmocka_unit_test(test_worked),
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_free_rows),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_closing_walls),
        cmocka_unit_test(test_families),
        cmocka_unit_test(test_held_out),
        cmocka_unit_test(test_row_scales),
        cmocka_unit_test(test_incremental_factor),
        cmocka_unit_test(test_warm_start),
        cmocka_unit_test(test_bad_matrices),
        cmocka_unit_test(test_one_point),
        cmocka_unit_test(test_random_friction),
        cmocka_unit_test(test_static_worked),
        cmocka_unit_test(test_dynamic),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_bounds_beside_friction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
