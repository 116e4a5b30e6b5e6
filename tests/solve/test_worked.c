/* Worked cases with printed numbers (Baraff 1989 figures 7 to 10 and sections 5 and 6; Baraff 1994
 * survey, figure 3 and section 7), given to every solver in every form that the solver takes: as
 * rows, as contact blocks in local and global form, at scales from 1e-6 to 1e6.
 *
 * Two rules for all of them. A solver that applies must find the printed numbers. No solver may
 * ever report "solved" with other numbers where the answer is the only one. */
#include "test_support.h"

#include "rigor/solver.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 12 };
#define G       9.81
#define PRINTED 6e-7 /* half a unit of the sixth decimal, and what rounding to it may hide */
/* Against closed forms, relative to the largest number of the case; tolerance is 1e-10 of b. */
#define CLOSE 1e-8

static rg_solve_context *context;

static int open_context(void **state) {
    (void)state;
    return rg_solve_context_create(NULL, &context) == RG_OK ? 0 : -1;
}

static int close_context(void **state) {
    (void)state;
    rg_solve_context_destroy(context);
    return 0;
}

static const char LINEAR[] = "auto dantzig lemke qp gauss-seidel enumerate";
static const char LINEAR_FRICTION[] = "auto dantzig enumerate";
static const char CONTACT[] =
    "auto dantzig lemke qp gauss-seidel newton interior-point admm enumerate";
static const char FRICTION[] = "auto dantzig gauss-seidel newton admm enumerate";
static const char SPATIAL[] = "auto gauss-seidel newton admm";

static bool is_among(const char *name, const char *names) {
    size_t length = strlen(name);
    for (const char *at = names; (at = strstr(at, name)); at += length)
        if ((at == names || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
            return true;
    return false;
}

static double largest(size_t n, const double *x) {
    double most = 0;
    for (size_t i = 0; i < n; i++)
        most = fmax(most, fabs(x[i]));
    return most;
}

static rg_solve_info run(const rg_solver *solver, const rg_problem *problem,
                         const rg_solve_settings *settings, double *f, double *a, double *ray) {
    for (size_t i = 0; i < rg_problem_rows(problem); i++)
        f[i] = 0;
    rg_solution solution = {.force = f, .velocity = a, .ray = ray};
    rg_solve_info info;
    rg_error error = {0};
    rg_status status = rg_solve(context, solver, problem, settings, &solution, &info, &error);
    if (status != RG_OK)
        fail_msg("%s: %s", rg_solver_name(solver), error.text);
    return info;
}

/* `f`, `a` (null: not looked at) are the only answer. */
static void expect_only(const char *name, const rg_problem *problem, const char *must,
                        const double *f_true, const double *a_true, double f_tolerance,
                        double a_tolerance) {
    size_t n = rg_problem_rows(problem);
    for (size_t s = 0; s < rg_solver_count(); s++) {
        const rg_solver *solver = rg_solver_at(s);
        double f[MOST], a[MOST];
        rg_solve_info info = run(solver, problem, NULL, f, a, NULL);
        if (info.outcome != RG_SOLVED) {
            if (is_among(rg_solver_name(solver), must))
                fail_msg("%s by %s: %s (%s), residual %.3g", name, rg_solver_name(solver),
                         rg_solve_outcome_name(info.outcome), info.text, info.residual.natural);
            continue;
        }
        for (size_t i = 0; i < n; i++) {
            if (!(fabs(f[i] - f_true[i]) <= f_tolerance))
                fail_msg("%s by %s: f[%zu] = %.12g, should be %.12g", name, rg_solver_name(solver),
                         i, f[i], f_true[i]);
            if (a_true && !(fabs(a[i] - a_true[i]) <= a_tolerance))
                fail_msg("%s by %s: a[%zu] = %.12g, should be %.12g", name, rg_solver_name(solver),
                         i, a[i], a_true[i]);
        }
    }
}

/* Frictionless rows: as an LCP and as contacts of one component, A and b in nine scales. */
static void expect_frictionless(const char *name, size_t n, const double *matrix, const double *b,
                                const double *f, const double *a, double f_tolerance,
                                double a_tolerance) {
    static const double scales[3] = {1, 1e-6, 1e6};
    for (int k = 0; k < 9; k++) {
        double alpha = scales[k / 3], beta = scales[k % 3];
        double scaled[MOST * MOST], sb[MOST], sf[MOST], sa[MOST];
        for (size_t i = 0; i < n * n; i++)
            scaled[i] = alpha * matrix[i];
        for (size_t i = 0; i < n; i++) {
            sb[i] = beta * b[i];
            sf[i] = beta / alpha * f[i];
            sa[i] = beta * a[i];
        }
        char label[96];
        snprintf(label, sizeof label, "%s, A x %g, b x %g, rows", name, alpha, beta);
        rg_problem rows = rg_problem_linear(n, scaled, sb);
        expect_only(label, &rows, LINEAR, sf, sa, f_tolerance * beta / alpha, a_tolerance * beta);
        snprintf(label, sizeof label, "%s, A x %g, b x %g, contacts", name, alpha, beta);
        rg_problem contacts = {.kind = RG_PROBLEM_CONTACT,
                               .contact = {.dimension = 1,
                                           .contacts = n,
                                           .form = RG_FORM_LOCAL,
                                           .w = {.rows = n, .columns = n, .dense = scaled},
                                           .q = sb}};
        expect_only(label, &contacts, CONTACT, sf, sa, f_tolerance * beta / alpha,
                    a_tolerance * beta);
    }
}

/* The printed digits, at scale 1, and the closed form (null: none is known). */
static void expect_printed(const char *name, size_t n, const double *matrix, const double *b,
                           const double *f, const double *a, const double *exact_f,
                           const double *exact_a) {
    expect_frictionless(name, n, matrix, b, f, a, PRINTED, PRINTED);
    if (exact_f)
        expect_frictionless(name, n, matrix, b, exact_f, exact_a, CLOSE * largest(n, exact_f),
                            CLOSE * largest(n, b));
}

static rg_residual judge(const rg_problem *problem, const double *f) {
    rg_residual residual;
    assert_int_equal(rg_judge(problem, f, NULL, NULL, &residual, NULL), RG_OK);
    return residual;
}

/* --- Baraff 1989, section 5 and appendix B: a table with four legs ---------------------------- */

typedef struct table {
    double x[4], y[4]; /* legs, from the centre of mass */
    double mass, ix, iy;
} table;

static void table_rows(const table *t, const int *order, double *matrix, double *b) {
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++)
            matrix[4 * i + j] = 1 / t->mass + t->y[order[i]] * t->y[order[j]] / t->ix +
                                t->x[order[i]] * t->x[order[j]] / t->iy;
        b[i] = -G;
    }
}

static void table_motion(const table *t, const int *order, const double *f, double motion[3]) {
    motion[0] = -G, motion[1] = motion[2] = 0;
    for (int i = 0; i < 4; i++) {
        motion[0] += f[i] / t->mass;
        motion[1] += t->y[order[i]] * f[i] / t->ix;
        motion[2] -= t->x[order[i]] * f[i] / t->iy;
    }
}

static bool next_order(int *order) {
    int i = 2;
    while (i >= 0 && order[i] > order[i + 1])
        i--;
    if (i < 0)
        return false;
    int j = 3;
    while (order[j] < order[i])
        j--;
    int swap = order[i];
    order[i] = order[j], order[j] = swap;
    for (int a = i + 1, b = 3; a < b; a++, b--)
        swap = order[a], order[a] = order[b], order[b] = swap;
    return true;
}

/* All orders of the legs by one solver: the motion is `motion` in each. Returns how far apart the
 * forces of a leg are over the orders. */
static double try_orders(const rg_solver *solver, const table *t, const double motion[3],
                         bool as_contacts, double tolerance) {
    double low[4], high[4], spread = 0;
    for (int i = 0; i < 4; i++)
        low[i] = INFINITY, high[i] = -INFINITY;
    int order[4] = {0, 1, 2, 3};
    do {
        double matrix[16], b[4], f[4], a[4], found[3];
        table_rows(t, order, matrix, b);
        rg_problem problem = rg_problem_linear(4, matrix, b);
        if (as_contacts)
            problem = (rg_problem){.kind = RG_PROBLEM_CONTACT,
                                   .contact = {.dimension = 1,
                                               .contacts = 4,
                                               .w = {.rows = 4, .columns = 4, .dense = matrix},
                                               .q = b}};
        rg_solve_info info = run(solver, &problem, NULL, f, a, NULL);
        if (info.outcome != RG_SOLVED)
            fail_msg("table by %s: %s (%s), residual %.3g", rg_solver_name(solver),
                     rg_solve_outcome_name(info.outcome), info.text, info.residual.natural);
        table_motion(t, order, f, found);
        for (int k = 0; k < 3; k++)
            if (!(fabs(found[k] - motion[k]) <= tolerance * G))
                fail_msg("table by %s: motion[%d] = %.17g, should be %.17g", rg_solver_name(solver),
                         k, found[k], motion[k]);
        for (int i = 0; i < 4; i++) {
            low[order[i]] = fmin(low[order[i]], f[i]);
            high[order[i]] = fmax(high[order[i]], f[i]);
        }
    } while (next_order(order));
    for (int i = 0; i < 4; i++)
        spread = fmax(spread, high[i] - low[i]);
    return spread;
}

#define MOTION_EXACT     1e-12 /* of g: pivoting solvers */
#define MOTION_ITERATIVE 1e-9  /* those that stop at the tolerance, 1e-10 */

/* `several`: the forces are not unique, and at least one solver's depend on the order of the
 * legs. */
static void try_table(const table *t, const double motion[3], bool several) {
    double most = 0;
    for (size_t s = 0; s < rg_solver_count(); s++) {
        const rg_solver *solver = rg_solver_at(s);
        const char *name = rg_solver_name(solver);
        bool exact = is_among(name, "auto dantzig lemke qp enumerate");
        double tolerance = exact ? MOTION_EXACT : MOTION_ITERATIVE, spread = 0;
        if (is_among(name, LINEAR))
            spread = try_orders(solver, t, motion, false, tolerance);
        if (is_among(name, CONTACT))
            spread = fmax(spread, try_orders(solver, t, motion, true, tolerance));
        most = fmax(most, spread);
    }
    if (several)
        assert_true(most > 1);
    else
        assert_near(most, 0, 1e-7 * t->mass * G);
}

static void test_table_stands(void **state) {
    (void)state;
    /* The centre of mass between the legs, off the middle: no motion. Rank 3: many forces. */
    static const table middle = {{-.5, .5, .5, -.5}, {-.4, -.4, .4, .4}, 8, .5, .7};
    static const table aside = {{-.7, .3, .3, -.7}, {-.5, -.5, .3, .3}, 8, .5, .7};
    static const double none[3] = {0, 0, 0};
    try_table(&middle, none, true);
    try_table(&aside, none, true);
}

static void test_table_tips(void **state) {
    (void)state;
    /* The centre of mass 0.2 beyond two legs: the other two lift. Along y all is even. The pair
     * carries F with (1/m + x^2/Iy) F = g. */
    static const table tipping = {{-1.2, -.2, -.2, -1.2}, {-.4, -.4, .4, .4}, 8, .5, .7};
    double pair = G / (1 / 8. + .04 / .7);
    double motion[3] = {pair / 8 - G, 0, .2 * pair / .7};
    try_table(&tipping, motion, false);
}

/* --- Baraff 1989, figures 7 to 10 ------------------------------------------------------------- */

static void test_incline(void **state) {
    (void)state;
    /* Figure 7: f = m g cos(theta); 30 degrees, m = 1. */
    double cosine = sqrt(3) / 2, one = 1, b = -G * cosine, f = 8.495709, a = 0, exact = G * cosine;
    expect_printed("incline", 1, &one, &b, &f, &a, &exact, &a);
    /* With its tangents and no friction: the block slides with g sin(theta) = 4.905. */
    double w[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, q[3] = {b, G / 2, 0};
    double forces[3] = {exact, 0, 0}, accelerations[3] = {0, 4.905, 0}, mu = 0;
    rg_problem space = {.kind = RG_PROBLEM_CONTACT,
                        .contact = {.dimension = 3,
                                    .contacts = 1,
                                    .mu = &mu,
                                    .w = {.rows = 3, .columns = 3, .dense = w},
                                    .q = q}};
    expect_only("incline in space", &space, CONTACT, forces, accelerations, CLOSE * G, CLOSE * G);
    space.contact.mu = NULL;
    expect_only("incline in space, no mu", &space, CONTACT, forces, accelerations, CLOSE * G,
                CLOSE * G);
    double plane_w[4] = {1, 0, 0, 1};
    rg_problem plane = {.kind = RG_PROBLEM_CONTACT,
                        .contact = {.dimension = 2,
                                    .contacts = 1,
                                    .mu = &mu,
                                    .w = {.rows = 2, .columns = 2, .dense = plane_w},
                                    .q = q}};
    expect_only("incline in the plane", &plane, CONTACT, forces, accelerations, CLOSE * G,
                CLOSE * G);
    /* Twice the force also keeps the block out of the incline, but pushes it off. */
    double twice = 2 * exact;
    rg_problem rows = rg_problem_linear(1, &one, &b);
    rg_residual residual = judge(&rows, &twice);
    assert_near(residual.feasibility, 0, 0);
    assert_near(residual.force, 0, 0);
    assert_near(residual.complementarity, 1, 1e-12);
    assert_near(residual.natural, 1, 1e-12);
}

static void test_block_on_two_supports(void **state) {
    (void)state;
    /* Figure 8: A_ij = 1/m + x_i x_j / I, whatever I. */
    for (double inertia = .01; inertia < 20; inertia *= 7) {
        double x[2] = {-.4, .6}, mass = 2, matrix[4], b[2] = {-G, -G};
        for (int i = 0; i < 4; i++)
            matrix[i] = 1 / mass + x[i / 2] * x[i % 2] / inertia;
        double f[2] = {11.772, 7.848}, a[2] = {0, 0};
        expect_printed("block on two supports", 2, matrix, b, f, a, f, a);
    }
}

static const double vanishing_matrix[4] = {1.15, 1.6, 1.6, 3.4}, vanishing_b[2] = {-G, -G};

static void test_vanishing_contact(void **state) {
    (void)state;
    /* Figure 9: a brick of 2 x 1, mass 1, its centre .25 past the ledge. */
    double inertia = (4 + 1) / 12., x[2] = {-.25, -1};
    for (int i = 0; i < 4; i++)
        assert_near(1 + x[i / 2] * x[i % 2] / inertia, vanishing_matrix[i], 1e-15);
    double f[2] = {8.530435, 0}, a[2] = {0, 3.838696};
    double exact_f[2] = {G / 1.15, 0}, exact_a[2] = {0, 1.6 * G / 1.15 - G};
    expect_printed("vanishing contact", 2, vanishing_matrix, vanishing_b, f, a, exact_f, exact_a);
}

static void test_given_sets(void **state) {
    (void)state;
    /* Section 6.1, figure 10: with no vanishing contact all rows are equations. That answer
     * pulls. */
    rg_problem lcp = rg_problem_linear(2, vanishing_matrix, vanishing_b);
    uint8_t kinds[2] = {RG_ROW_FREE, RG_ROW_FREE};
    rg_problem equations = lcp;
    equations.linear.kinds = kinds;
    double pulling[2] = {13.08, -3.27}, none[2] = {0, 0};
    expect_only("no vanishing contact", &equations, LINEAR, pulling, none, 1e-8, 1e-8);
    rg_residual residual = judge(&lcp, pulling);
    assert_near(residual.force, 3.27 * 3.4 / G, 1e-9);
    assert_near(residual.natural, 3.27 * 3.4 / G, 1e-9);
    assert_int_equal(residual.worst, 1);
    /* Sections 6.3, 6.4: the minimum of the sum of forces that keeps apart, its residual, the
     * contact that it says vanishes, and the answer with it. */
    double least[2] = {0, 6.13125}, r[2];
    for (int i = 0; i < 2; i++)
        r[i] = vanishing_matrix[2 * i] * least[0] + vanishing_matrix[2 * i + 1] * least[1] - G;
    assert_near(r[0], 0, 1e-12);
    assert_near(r[1], 11.03625, 1e-12);
    assert_near(judge(&lcp, least).natural, 11.03625 / G, 1e-9);
    kinds[1] = RG_ROW_BOUNDED;
    double zero[2] = {0, 0};
    equations.linear.lower = equations.linear.upper = zero;
    double f[2] = {8.530435, 0}, a[2] = {0, 3.838696};
    expect_only("one vanishing contact", &equations, LINEAR, f, a, PRINTED, PRINTED);
}

static void test_misprediction(void **state) {
    (void)state;
    /* Section 6.5: where the heuristic of section 6 says that contact 1 vanishes. It is contact
     * 2. */
    static const double matrix[9] = {19, -2, 3, -2, 12, 2, 3, 2, 1}, b[3] = {-11, -2, -3};
    double f[3] = {.2, 0, 2.4}, a[3] = {0, 2.4, 0};
    expect_printed("misprediction", 3, matrix, b, f, a, f, a);
    /* What the heuristic would go on with: its forces do work. */
    double least[3] = {.8, .3, 0}, work = 0;
    for (int i = 0; i < 3; i++) {
        double acceleration = b[i];
        for (int j = 0; j < 3; j++)
            acceleration += matrix[3 * i + j] * least[j];
        work += least[i] * acceleration;
    }
    assert_near(work, 2.88, 1e-12);
    rg_problem problem = rg_problem_linear(3, matrix, b);
    assert_near(judge(&problem, least).natural, 3.6 / 11, 1e-12);
}

/* --- Baraff 1994 survey, figure 3: a stack of bricks, not obvious which contacts break -------- */

typedef struct stack {
    size_t bricks;
    double mass[5 * 9], velocity[5 * 3], jacobian[10 * 2 * 3];
    uint32_t blocks[10 * 2];
    double matrix[100], b[10];
} stack;

/* Bricks of 2 x 1, mass 1; each lies on the one below (the first on the floor), left and right end
 * of the overlap. Blocks are (x, z, turn). */
static void stack_make(stack *s, size_t bricks, const double *centres) {
    *s = (stack){.bricks = bricks};
    for (size_t i = 0; i < bricks; i++) {
        s->mass[9 * i] = s->mass[9 * i + 4] = 1;
        s->mass[9 * i + 8] = 5 / 12.;
        s->velocity[3 * i + 1] = -G;
        for (size_t side = 0; side < 2; side++) {
            size_t row = 2 * i + side;
            double x = !side ? centres[i] - 1 : centres[i ? i - 1 : 0] + 1;
            s->blocks[2 * row] = (uint32_t)i;
            s->blocks[2 * row + 1] = i ? (uint32_t)(i - 1) : RG_NO_BLOCK;
            double *j = s->jacobian + 6 * row;
            j[1] = 1, j[2] = x - centres[i];
            if (i)
                j[4] = -1, j[5] = -(x - centres[i - 1]);
        }
    }
    for (size_t row = 0; row < 2 * bricks; row++)
        for (size_t column = 0; column < 2 * bricks; column++)
            for (int p = 0; p < 2; p++)
                for (int q = 0; q < 2; q++) {
                    uint32_t block = s->blocks[2 * row + p];
                    if (block == RG_NO_BLOCK || s->blocks[2 * column + q] != block)
                        continue;
                    const double *j = s->jacobian + 6 * row + 3 * p;
                    const double *k = s->jacobian + 6 * column + 3 * q;
                    for (int c = 0; c < 3; c++)
                        s->matrix[2 * bricks * row + column] +=
                            j[c] * k[c] / s->mass[9 * block + 4 * c];
                }
    s->b[0] = s->b[1] = -G;
}

static void try_stack(const char *name, size_t bricks, const double *centres, const double *f,
                      const double *a) {
    stack s;
    stack_make(&s, bricks, centres);
    expect_printed(name, 2 * bricks, s.matrix, s.b, f, a, NULL, NULL);
    double zero[10] = {0};
    rg_problem global = {.kind = RG_PROBLEM_CONTACT,
                         .contact = {.dimension = 1,
                                     .contacts = 2 * bricks,
                                     .form = RG_FORM_GLOBAL,
                                     .q = zero,
                                     .global = {.blocks = bricks,
                                                .freedom = 3,
                                                .mass = s.mass,
                                                .free_velocity = s.velocity,
                                                .contact_blocks = s.blocks,
                                                .contact_jacobian = s.jacobian}}};
    expect_only(name, &global, CONTACT, f, a, PRINTED, PRINTED);
}

static void test_stack_of_bricks(void **state) {
    (void)state;
    static const double five[5] = {0, .7, 1.4, 2.1, 2.8}, two[2] = {0, .9}, over[2] = {0, 1.1};
    static const double f[10] = {4.905,     30.247334, 0,        25.342334, 3.421474,
                                 10.653397, 3.391813,  2.816342, 1.742186,  0};
    static const double a[10] = {0, 0, 6.315673, 0, 0, 0, 0, 0, 0, .880053};
    try_stack("five bricks", 5, five, f, a);
    static const double still_f[4] = {5.3955, 14.2245, .891818, 8.918182}, still_a[4] = {0};
    try_stack("two bricks, .9 out", 2, two, still_f, still_a);
    static const double tip_f[4] = {4.905, 14.485078, 0, 9.580078}, tip_a[4] = {0, 0, 2.069297, 0};
    try_stack("two bricks, 1.1 out", 2, over, tip_f, tip_a);
}

/* --- Baraff 1994 survey, section 7: a rod that slides on its tip ------------------------------ */

/* Half-length 1, mass 1, tan(theta) = 2, the tip ahead of the centre of mass: rows N, T. */
static const double rod[4] = {1.6, 1.2, 1.2, 3.4};
static const uint8_t dynamic_kinds[2] = {RG_ROW_UNILATERAL, RG_ROW_DYNAMIC};
static const uint8_t static_kinds[2] = {RG_ROW_UNILATERAL, RG_ROW_STATIC};
static const uint32_t rod_normal[2] = {0, 0};
static const double sliding_mu[2] = {0, -2},
                    resting_mu[2] = {0, 2}; /* slip along +: braking is - */

static rg_problem rod_problem(const uint8_t *kinds, const double *mu, const double *b) {
    rg_problem problem = rg_problem_linear(2, rod, b);
    problem.linear.kinds = kinds;
    problem.linear.normal = rod_normal;
    problem.linear.mu = mu;
    return problem;
}

static void test_rod_inconsistent(void **state) {
    (void)state;
    double sine = 2 / sqrt(5), cosine = 1 / sqrt(5);
    assert_near(rod[0], 1 + 3 * cosine * cosine, 1e-15);
    assert_near(rod[1], 3 * cosine * sine, 1e-15);
    assert_near(rod[3], 1 + 3 * sine * sine, 1e-15);
    for (double scale = 1e-6; scale < 1e7; scale *= 1e6) {
        double b[2] = {-G * scale, 0};
        rg_problem problem = rod_problem(dynamic_kinds, sliding_mu, b);
        for (size_t s = 0; s < rg_solver_count(); s++) {
            const rg_solver *solver = rg_solver_at(s);
            const char *name = rg_solver_name(solver);
            double f[2], a[2], ray[2] = {0, 0};
            rg_solve_info info = run(solver, &problem, NULL, f, a, ray);
            if (info.outcome == RG_SOLVED)
                fail_msg("%s solved what has no solution: f = %g, %g", name, f[0], f[1]);
            if (is_among(name, LINEAR_FRICTION) && info.outcome != RG_SOLVE_RAY &&
                info.outcome != RG_SOLVE_INFEASIBLE)
                fail_msg("inconsistent rod by %s: %s (%s)", name,
                         rg_solve_outcome_name(info.outcome), info.text);
            if (is_among(name, "auto dantzig")) {
                /* The direction of the impulse: it presses, brakes, and only drives the tip in. */
                if (!(ray[0] > 0 && fabs(ray[1] + 2 * ray[0]) <= 1e-12 * ray[0] &&
                      1.6 * ray[0] + 1.2 * ray[1] < 0))
                    fail_msg("inconsistent rod by %s: ray %g, %g", name, ray[0], ray[1]);
                assert_true(info.text[0] != 0);
            }
        }
        /* The same with friction put in: A = -.8, an LCP. */
        double negative = -.8;
        rg_problem lcp = rg_problem_linear(1, &negative, b);
        for (size_t s = 0; s < rg_solver_count(); s++) {
            const rg_solver *solver = rg_solver_at(s);
            double f, a, ray = 0;
            rg_solve_info info = run(solver, &lcp, NULL, &f, &a, &ray);
            bool proved = info.outcome == RG_SOLVE_RAY || info.outcome == RG_SOLVE_INFEASIBLE;
            if (info.outcome == RG_SOLVED ||
                (is_among(rg_solver_name(solver), "auto lemke enumerate") && !proved))
                fail_msg("A = -.8, b = -9.81 by %s: %s (%s)", rg_solver_name(solver),
                         rg_solve_outcome_name(info.outcome), info.text);
        }
    }
}

static void test_rod_impulse(void **state) {
    (void)state;
    /* Out of it: slip v0 is stopped by N = .3 m v0, T = .4 m v0, and the contact sticks. At the
     * very start of the approach, rest of the normal velocity 0, no impulse is an answer too. */
    for (double v0 = 1e-6; v0 < 1e7; v0 *= 1e6) {
        double b[2] = {0, v0}, forces[8];
        rg_problem problem = rod_problem(static_kinds, resting_mu, b);
        rg_solution_set set;
        assert_int_equal(rg_solve_all(context, &problem, 1e-10, forces, 4, &set, NULL), RG_OK);
        bool stopped = false, nothing = false;
        for (size_t i = 0; i < set.count && i < 4; i++) {
            const double *f = forces + 2 * i;
            stopped |= fabs(f[0] - .3 * v0) <= 1e-12 * v0 && fabs(f[1] + .4 * v0) <= 1e-12 * v0;
            nothing |= fabs(f[0]) <= 1e-12 * v0 && fabs(f[1]) <= 1e-12 * v0;
        }
        assert_true(stopped && nothing);
        /* Approaching, however slowly, only the first is left: in the limit. */
        double approach[2] = {-1e-7 * v0, v0}, f[2] = {.3 * v0, -.4 * v0};
        rg_problem approaching = rod_problem(static_kinds, resting_mu, approach);
        expect_only("impulse", &approaching, LINEAR_FRICTION, f, NULL, 1e-6 * v0, 0);
    }
}

static void test_rod_indeterminate(void **state) {
    (void)state;
    /* Turning at 4 rad/s the tip would lift off: f = 0, or f = 5.626044 which keeps it down. */
    double b[2] = {16 * 2 / sqrt(5) - G, -16 / sqrt(5)};
    assert_near(b[0], 4.500835, PRINTED);
    rg_problem problem = rod_problem(dynamic_kinds, sliding_mu, b);
    double forces[8];
    rg_solution_set set;
    assert_int_equal(rg_solve_all(context, &problem, 1e-10, forces, 4, &set, NULL), RG_OK);
    assert_int_equal(set.count, 2);
    assert_false(set.continuum);
    double small = fmin(forces[0], forces[2]), large = fmax(forces[0], forces[2]);
    assert_near(small, 0, 1e-12);
    assert_near(large, 5.626044, PRINTED);
    for (size_t s = 0; s < rg_solver_count(); s++) {
        const rg_solver *solver = rg_solver_at(s);
        for (int k = 0; k < 2; k++) {
            rg_solve_settings settings = rg_solve_settings_default();
            settings.policy = k ? RG_POLICY_LARGEST_FORCE : RG_POLICY_SMALLEST_FORCE;
            double f[2], a[2];
            rg_solve_info info = run(solver, &problem, &settings, f, a, NULL);
            bool must = is_among(rg_solver_name(solver), LINEAR_FRICTION);
            if (must && info.outcome != RG_SOLVED)
                fail_msg("indeterminate rod by %s: %s (%s)", rg_solver_name(solver),
                         rg_solve_outcome_name(info.outcome), info.text);
            if (info.outcome != RG_SOLVED)
                continue;
            bool lifts = fabs(f[0]) <= 1e-9 && fabs(a[0] - 4.500835) <= PRINTED;
            bool stays = fabs(f[0] - 5.626044) <= PRINTED && fabs(a[0]) <= 1e-8;
            assert_near(f[1], -2 * f[0], 1e-12 * fabs(f[0]));
            if (!lifts && !stays)
                fail_msg("indeterminate rod by %s: f = %.9g, a = %.9g", rg_solver_name(solver),
                         f[0], a[0]);
            /* The policy decides for those that look for all solutions. */
            if (is_among(rg_solver_name(solver), "auto enumerate"))
                if (k ? !stays : !lifts)
                    fail_msg("indeterminate rod by %s: not what the policy asked for",
                             rg_solver_name(solver));
        }
    }
}

static void test_rod_at_rest(void **state) {
    (void)state;
    static const double scales[3] = {1, 1e-6, 1e6};
    static const double w3[9] = {1.6, 1.2, 0, 1.2, 3.4, 0, 0, 0, 4};
    for (int k = 0; k < 9; k++) {
        double alpha = scales[k / 3], beta = scales[k % 3];
        double matrix[4], w[9], b[3] = {-G * beta, 0, 0}, mu = 2;
        for (int i = 0; i < 4; i++)
            matrix[i] = alpha * rod[i];
        for (int i = 0; i < 9; i++)
            w[i] = alpha * w3[i];
        double f[3] = {8.3385 * beta / alpha, -2.943 * beta / alpha, 0}, a[3] = {0, 0, 0};
        rg_problem rows = rod_problem(static_kinds, resting_mu, b);
        rows.linear.matrix = matrix;
        expect_only("rod at rest", &rows, LINEAR_FRICTION, f, a, CLOSE * f[0], CLOSE * beta * G);
        rg_problem plane = {.kind = RG_PROBLEM_CONTACT,
                            .contact = {.dimension = 2,
                                        .contacts = 1,
                                        .mu = &mu,
                                        .w = {.rows = 2, .columns = 2, .dense = matrix},
                                        .q = b}};
        expect_only("rod at rest in the plane", &plane, FRICTION, f, a, CLOSE * f[0],
                    CLOSE * beta * G);
        rg_problem space = {.kind = RG_PROBLEM_CONTACT,
                            .contact = {.dimension = 3,
                                        .contacts = 1,
                                        .mu = &mu,
                                        .w = {.rows = 3, .columns = 3, .dense = w},
                                        .q = b}};
        expect_only("rod at rest in space", &space, SPATIAL, f, a, CLOSE * f[0], CLOSE * beta * G);
        space.contact.directions = 8;
        expect_only("rod at rest in space, polygon", &space, "auto", f, a, CLOSE * f[0],
                    CLOSE * beta * G);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table_stands),      cmocka_unit_test(test_table_tips),
        cmocka_unit_test(test_incline),           cmocka_unit_test(test_block_on_two_supports),
        cmocka_unit_test(test_vanishing_contact), cmocka_unit_test(test_given_sets),
        cmocka_unit_test(test_misprediction),     cmocka_unit_test(test_stack_of_bricks),
        cmocka_unit_test(test_rod_inconsistent),  cmocka_unit_test(test_rod_impulse),
        cmocka_unit_test(test_rod_indeterminate), cmocka_unit_test(test_rod_at_rest),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
