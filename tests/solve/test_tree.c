/* Joints that form a tree (solve_tree.c): random trees against the judge and the equations
 * themselves; loops and rows that depend on each other are left to others. */
#include "test_support.h"

#include "rigor/random.h"
#include "solve/solve_tree.h"

#include <math.h>
#include <string.h>

/* What rounding leaves, see rest_of; 5,000 trees leave at most 1.2e-13. */
#define EXACT 2e-13

enum { BODIES = 12, ROWS_EACH = 4, ROWS = BODIES * ROWS_EACH, FREEDOM = 6 };

typedef struct sample {
    size_t n, bodies, rows;
    double mass[BODIES * FREEDOM * FREEDOM], free_velocity[BODIES * FREEDOM];
    uint32_t blocks[2 * ROWS];
    double jacobian[2 * ROWS * FREEDOM], q[ROWS], compliance[ROWS];
} sample;

static double draw(rg_random *random) {
    return rg_random_between(random, -1, 1);
}

/* G G' + 1, times 1 or `heavy`. */
static void fill_mass(rg_random *random, size_t n, double heavy, double *mass) {
    double g[FREEDOM * FREEDOM];
    for (size_t i = 0; i < n * n; i++)
        g[i] = draw(random);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            double sum = i == j;
            for (size_t k = 0; k < n; k++)
                sum += g[i * n + k] * g[j * n + k];
            mass[i * n + j] = heavy * sum;
        }
}

/* Bodies in any order: each but the first is joined with one of those before, some of them with the
 * world instead, by one to four rows. */
static void fill(sample *s, uint64_t seed) {
    rg_random random = rg_random_make(seed);
    *s = (sample){.n = seed % 3 == 0 ? 3 : 6, .bodies = 1 + seed % BODIES};
    size_t most = s->n == 3 ? 2 : ROWS_EACH;
    for (size_t b = 0; b < s->bodies; b++) {
        double heavy = rg_random_below(&random, 4) == 0 ? 1e4 : 1;
        fill_mass(&random, s->n, heavy, s->mass + b * s->n * s->n);
        uint32_t with =
            b && rg_random_below(&random, 8) ? (uint32_t)rg_random_below(&random, b) : RG_NO_BLOCK;
        bool turned = rg_random_below(&random, 2) != 0;
        size_t count = 1 + rg_random_below(&random, most);
        for (size_t k = 0; k < count; k++) {
            size_t row = s->rows++;
            s->blocks[2 * row + turned] = (uint32_t)b;
            s->blocks[2 * row + !turned] = with;
            s->q[row] = draw(&random);
            s->compliance[row] = rg_random_below(&random, 3) ? 0 : fabs(draw(&random));
        }
    }
    for (size_t i = 0; i < s->bodies * s->n; i++)
        s->free_velocity[i] = draw(&random);
    for (size_t i = 0; i < 2 * s->rows * s->n; i++)
        s->jacobian[i] = draw(&random);
    for (size_t i = 0; i < 2 * s->rows; i++)
        if (s->blocks[i] == RG_NO_BLOCK)
            memset(s->jacobian + i * s->n, 0, s->n * sizeof *s->jacobian);
}

static rg_problem problem_of(const sample *s) {
    rg_problem p = {.kind = RG_PROBLEM_CONTACT, .scale = 1};
    p.contact = (rg_contact_problem){.dimension = s->n == 3 ? 2 : 3,
                                     .joints = s->rows,
                                     .compliance = s->compliance,
                                     .form = RG_FORM_GLOBAL,
                                     .q = s->q};
    p.contact.global = (rg_global_form){.blocks = s->bodies,
                                        .freedom = (int)s->n,
                                        .mass = s->mass,
                                        .free_velocity = s->free_velocity,
                                        .joint_blocks = s->blocks,
                                        .joint_jacobian = s->jacobian};
    return p;
}

/* The largest of |M (v - v_free) - J' r| and |J v + q + c r|, of each kind relative to the largest
 * sum of the sizes of what it is made of: of a body with a mass of 1e4 the rounding of v alone
 * leaves 1e-12 |v|, and where rows nearly depend on each other v = v_free + M^-1 J' r cancels (no M
 * is below 1, so M^-1 J' r is no larger than J' r). */
static double rest_of(const sample *s, const double *v, const double *r) {
    double f[BODIES * FREEDOM] = {0}, sizes[BODIES * FREEDOM] = {0}, pushes[BODIES * FREEDOM] = {0};
    double worst[2] = {0}, size[2] = {1, 1};
    for (size_t b = 0; b < s->bodies; b++)
        for (size_t i = 0; i < s->n; i++)
            for (size_t k = 0; k < s->n; k++) {
                size_t at = b * s->n + k;
                double m = s->mass[(b * s->n + i) * s->n + k];
                f[b * s->n + i] += m * (v[at] - s->free_velocity[at]);
                sizes[b * s->n + i] += fabs(m) * (fabs(v[at]) + fabs(s->free_velocity[at]));
            }
    for (size_t row = 0; row < s->rows; row++) {
        double u = s->q[row] + s->compliance[row] * r[row];
        double terms = fabs(s->q[row]) + fabs(s->compliance[row] * r[row]);
        for (size_t side = 0; side < 2; side++) {
            uint32_t b = s->blocks[2 * row + side];
            for (size_t k = 0; k < s->n && b != RG_NO_BLOCK; k++) {
                double j = s->jacobian[(2 * row + side) * s->n + k];
                u += j * v[b * s->n + k];
                terms += fabs(j * v[b * s->n + k]);
                f[b * s->n + k] -= j * r[row];
                pushes[b * s->n + k] += fabs(j * r[row]);
            }
        }
        worst[0] = fmax(worst[0], fabs(u));
        size[0] = fmax(size[0], terms);
    }
    for (size_t i = 0; i < s->bodies * s->n; i++) {
        worst[1] = fmax(worst[1], fabs(f[i]));
        size[0] = fmax(size[0], pushes[i]);
        size[1] = fmax(size[1], sizes[i] + pushes[i]);
    }
    return fmax(worst[0] / size[0], worst[1] / size[1]);
}

static void trees_are_solved(void **state) {
    (void)state;
    rg_solve_context *context;
    assert_int_equal(rg_solve_context_create(NULL, &context), RG_OK);
    double worst = 0;
    for (uint64_t seed = 1; seed <= (uint64_t)test_cases(200, 5000); seed++) {
        sample s;
        fill(&s, seed);
        rg_problem problem = problem_of(&s);
        rg_tree *tree;
        double v[BODIES * FREEDOM], r[ROWS], judged[ROWS];
        context->depth++;
        assert_true(rg_tree_takes(&problem));
        assert_int_equal(rg_tree_make(context, &problem, &tree), RG_OK);
        rg_tree_solve(tree, v, r);
        double most = 1;
        for (size_t i = 0; i < s.rows; i++)
            most = fmax(most, fabs(r[i]));
        double rest = rest_of(&s, v, r);
        worst = fmax(worst, rest);
        if (!(rest <= EXACT))
            fail_msg("seed %d: %.3g left, forces %.3g", (int)seed, rest, most);
        context->depth--;
        /* As the first solver that is tried. */
        rg_solve_settings settings = rg_solve_settings_default();
        rg_solution solution = {.force = judged};
        rg_solve_info info;
        settings.tolerance = 1e-10 * most;
        assert_int_equal(
            rg_solve(context, rg_solver_find("auto"), &problem, &settings, &solution, &info, NULL),
            RG_OK);
        assert_int_equal(info.outcome, RG_SOLVED);
        assert_string_equal(info.chain[0].solver->name, "tree");
    }
    print_message("rest of at most %.1e\n", worst);
    rg_solve_context_destroy(context);
}

/* A factor is used again for the same matrix, and for no other: forces have the bits that a context
 * without a past gives. */
static void factors_are_kept(void **state) {
    (void)state;
    rg_solve_context *context;
    assert_int_equal(rg_solve_context_create(NULL, &context), RG_OK);
    for (int change = 0; change < 5; change++) {
        sample s;
        rg_tree *tree, *kept;
        double v[BODIES * FREEDOM], r[ROWS], fresh[ROWS];
        fill(&s, 7);
        rg_problem problem = problem_of(&s);
        assert_int_equal(rg_tree_make(context, &problem, &kept), RG_OK);
        double before = kept->mass[0];
        kept->mass[0] = 2 * before; /* what is kept is not computed again */
        assert_int_equal(rg_tree_make(context, &problem, &kept), RG_OK);
        assert_true(kept->mass[0] == 2 * before);
        kept->mass[0] = before;
        s.q[0] += change == 1;
        s.jacobian[0] *= change == 2 ? 1.5 : 1;
        s.mass[0] *= change == 3 ? 1.5 : 1;
        s.compliance[0] += change == 4;
        assert_int_equal(rg_tree_make(context, &problem, &tree), RG_OK);
        rg_tree_solve(tree, v, r);
        rg_solve_context *other;
        assert_int_equal(rg_solve_context_create(NULL, &other), RG_OK);
        assert_int_equal(rg_tree_make(other, &problem, &tree), RG_OK);
        rg_tree_solve(tree, v, fresh);
        assert_memory_equal(r, fresh, s.rows * sizeof *r);
        rg_solve_context_destroy(other);
    }
    rg_solve_context_destroy(context);
}

static void others_are_left(void **state) {
    (void)state;
    rg_solve_context *context;
    assert_int_equal(rg_solve_context_create(NULL, &context), RG_OK);
    context->depth++;
    sample s;
    rg_tree *tree;
    fill(&s, 11);
    rg_problem problem = problem_of(&s);
    double lower[ROWS], upper[ROWS];
    for (size_t i = 0; i < s.rows; i++)
        lower[i] = -INFINITY, upper[i] = INFINITY;
    problem.contact.lower = lower, problem.contact.upper = upper;
    assert_true(rg_tree_takes(&problem));
    upper[s.rows - 1] = 5; /* a bound */
    assert_false(rg_tree_takes(&problem));
    problem.contact.lower = problem.contact.upper = NULL;
    assert_int_equal(rg_tree_make(context, &problem, &tree), RG_OK);
    /* A row twice, both hard. */
    s.compliance[0] = s.compliance[s.rows] = 0;
    memcpy(s.blocks + 2 * s.rows, s.blocks, 2 * sizeof *s.blocks);
    memcpy(s.jacobian + 2 * s.rows * s.n, s.jacobian, 2 * s.n * sizeof *s.jacobian);
    s.rows++;
    problem.contact.joints = s.rows;
    assert_int_equal(rg_tree_make(context, &problem, &tree), RG_SINGULAR);
    /* A loop of three bodies. */
    s = (sample){.n = 6, .bodies = 3, .rows = 3, .blocks = {0, 1, 1, 2, 2, 0}};
    rg_random random = rg_random_make(5);
    for (size_t b = 0; b < 3; b++)
        fill_mass(&random, 6, 1, s.mass + b * 36);
    for (size_t i = 0; i < 36; i++)
        s.jacobian[i] = draw(&random);
    problem = problem_of(&s);
    assert_int_equal(rg_tree_make(context, &problem, &tree), RG_UNSUPPORTED);
    context->depth--;
    rg_solve_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(trees_are_solved),
                                       cmocka_unit_test(factors_are_kept),
                                       cmocka_unit_test(others_are_left)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
