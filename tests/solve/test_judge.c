/* The judge: exact answers have residual zero, wrong ones the residual that follows from the
 * formula; the same for any units; bad numbers never look good. */
#include "test_support.h"

#include "base/base_math.h"
#include "problem/problem.h"
#include "rigor/random.h"
#include "rigor/solver.h"
#include "solve/solve.h"
#include "solve/solve_judge.h"
#include "solve_families.h"

#include <string.h>

static rg_residual judge(const rg_problem *problem, const double *force) {
    rg_residual residual;
    rg_error error = {0};
    rg_status status = rg_judge(problem, force, NULL, NULL, &residual, &error);
    if (status)
        fail_msg("%s", error.text);
    return residual;
}

/* Baraff 1989, Figure 9 (a vanishing contact): f = (9.81 / 1.15, 0). */
static void linear_answers(void **state) {
    (void)state;
    double matrix[4] = {1.15, 1.6, 1.6, 3.4}, b[2] = {-9.81, -9.81};
    rg_problem problem = rg_problem_linear(2, matrix, b);
    double good[2] = {9.81 / 1.15, 0};
    assert_near(judge(&problem, good).natural, 0, 1e-15);

    /* Every contact closed: a = 0 and a pull of -3.27 at the second. */
    double pull[2] = {13.08, -3.27};
    rg_residual residual = judge(&problem, pull);
    assert_near(residual.natural, 3.27 * 3.4 / 9.81, 1e-12);
    assert_near(residual.force, 3.27 * 3.4 / 9.81, 1e-12);
    assert_near(residual.feasibility, 0, 1e-12);
    assert_int_equal(residual.worst, 1);

    /* No forces: both fall through the floor at g. */
    double none[2] = {0};
    residual = judge(&problem, none);
    assert_near(residual.natural, 1, 1e-15);
    assert_near(residual.feasibility, 1, 1e-15);
    assert_near(residual.force, 0, 0);

    /* Pushed off with twice the force: feasible, not complementary. */
    double hard[2] = {2 * 9.81 / 1.15, 0};
    residual = judge(&problem, hard);
    assert_near(residual.feasibility, 0, 0);
    assert_near(residual.complementarity, 1, 1e-12);
    assert_near(residual.natural, 1, 1e-12);
}

static void row_kinds(void **state) {
    (void)state;
    /* Row 0 normal, row 1 static friction of it, row 2 a motor, row 3 a joint: no coupling. */
    double matrix[16] = {1, 0, 0, 0, 0, 2, 0, 0, 0, 0, 1, 0, 0, 0, 0, 4};
    double b[4] = {-10, -8, -5, 2}, mu[4] = {0, 0.3, 0, 0};
    double lower[4] = {0, 0, -2, 0}, upper[4] = {0, 0, 2, 0};
    uint8_t kinds[4] = {RG_ROW_UNILATERAL, RG_ROW_STATIC, RG_ROW_BOUNDED, RG_ROW_FREE};
    uint32_t normal[4] = {0};
    rg_problem problem = rg_problem_linear(4, matrix, b);
    problem.linear.kinds = kinds, problem.linear.mu = mu, problem.linear.normal = normal;
    problem.linear.lower = lower, problem.linear.upper = upper;
    double answer[4] = {10, 3, 2, -0.5}; /* friction and motor at their limits */
    assert_near(judge(&problem, answer).natural, 0, 1e-15);
    double weak[4] = {10, 2, 2, -0.5};
    rg_residual residual = judge(&problem, weak);
    assert_int_equal(residual.worst, 1);
    assert_near(residual.natural, 2 * 1 / 10.0, 1e-15); /* in the unit of a: A_11 times 1 */
    double driving[4] = {10, -3, 2, -0.5};
    residual = judge(&problem, driving);
    assert_near(residual.dissipation, 0.6, 1e-15); /* min(2 * 3, 14) / 10 */
    double loose[4] = {10, 3, 1, -0.5};
    assert_int_equal(judge(&problem, loose).worst, 2);
    double drift[4] = {10, 3, 2, 0};
    residual = judge(&problem, drift);
    assert_near(residual.natural, 0.2, 1e-15);
    assert_near(residual.feasibility, 0.2, 1e-15);

    kinds[1] = RG_ROW_DYNAMIC, mu[1] = -0.3;
    double sliding[4] = {10, -3, 2, -0.5};
    assert_near(judge(&problem, sliding).natural, 0, 1e-15);
    assert_near(judge(&problem, answer).natural, 2 * 6 / 10.0, 1e-15);
}

/* A block on a plane as one contact of the exact cone: W = I / m. */
static rg_problem block(double *w, const double *q, const double *mu, double mass) {
    for (int i = 0; i < 9; i++)
        w[i] = i % 4 == 0 ? 1 / mass : 0;
    rg_problem problem = {.kind = RG_PROBLEM_CONTACT};
    problem.contact = (rg_contact_problem){.dimension = 3,
                                           .contacts = 1,
                                           .mu = mu,
                                           .form = RG_FORM_LOCAL,
                                           .w = {.rows = 3, .columns = 3, .dense = w},
                                           .q = q};
    return problem;
}

static void cone_modes(void **state) {
    (void)state;
    double w[9], mu = 0.5, mass = 4;
    double stuck[3] = {-2, 0.6, 0.8}, sliding[3] = {-2, 3, 4}, open[3] = {2, 3, 4};
    rg_problem problem = block(w, stuck, &mu, mass);
    double r[3] = {8, -2.4, -3.2};
    assert_near(judge(&problem, r).natural, 0, 1e-15);
    problem = block(w, sliding, &mu, mass);
    double friction[3] = {8, -4 * 0.6, -4 * 0.8};
    rg_residual residual = judge(&problem, friction);
    assert_near(residual.natural, 0, 1e-15);
    assert_near(residual.dissipation, 0, 0);
    /* A box instead of the cone: each component at mu N, too strong along the diagonal. */
    double box[3] = {8, -4, -4};
    residual = judge(&problem, box);
    assert_true(residual.force > 0.05);
    problem = block(w, open, &mu, mass);
    double none[3] = {0};
    assert_near(judge(&problem, none).natural, 0, 0);
    /* Friction that pushes. */
    problem = block(w, sliding, &mu, mass);
    double push[3] = {8, 4 * 0.6, 4 * 0.8};
    assert_true(judge(&problem, push).dissipation > 0.1);
}

/* For one isotropic contact the answer with a polygon is the corner that faces the slip most. */
static void polygon_modes(void **state) {
    (void)state;
    double w[9], mu = 0.5, sliding[3] = {-2, 3, 0.1};
    rg_problem problem = block(w, sliding, &mu, 1);
    problem.contact.directions = 8;
    double corner[3] = {2, -1, 0};
    assert_near(judge(&problem, corner).natural, 0, 1e-15);
    double exact[3] = {2, -3 / sqrt(9.01), -0.1 / sqrt(9.01)};
    assert_true(judge(&problem, exact).natural > 1e-3);
    problem.contact.directions = 0;
    assert_near(judge(&problem, exact).natural, 0, 1e-15);
    assert_true(judge(&problem, corner).natural > 1e-3);
    /* Sticking is the same in both, if the force is inside the polygon. */
    double slow[3] = {-2, 0.5, 0.5}, stick[3] = {2, -0.5, -0.5};
    problem = block(w, slow, &mu, 1);
    assert_near(judge(&problem, stick).natural, 0, 1e-15);
    problem.contact.directions = 8;
    assert_near(judge(&problem, stick).natural, 0, 1e-15);
    /* Forces that nothing determines may be large; rounding of them is no error while they
     * stick. */
    double still[3] = {0, 0, 0}, squeezed[3] = {1e9, 1e8, 0}, none[9] = {0};
    rg_problem loose = block(w, still, &mu, 1);
    loose.contact.w.dense = none, loose.contact.directions = 8, loose.scale = 1;
    assert_true(judge(&loose, squeezed).natural == 0);
    /* Between corners the chord is the limit, not the arc. */
    double arc[3] = {2, -rg_length((rg_vec3){0.92387953251128674, 0, 0}), -0.38268343236508977};
    assert_near(judge(&problem, arc).force, (1 - 0.92387953251128674) / 2, 1e-14);
}

/* Global form and the local one that it stands for are judged the same. */
static void forms_agree(void **state) {
    (void)state;
    rg_random random = rg_random_make(11);
    for (int trial = 0; trial < 200; trial++) {
        double mass[2][36] = {{0}}, velocity[12], jacobian[2 * 3 * 6], joint[12], q[4], mu = 0.4;
        for (int b = 0; b < 2; b++)
            for (int i = 0; i < 6; i++)
                mass[b][7 * i] = rg_random_between(&random, 0.5, 2);
        for (int i = 0; i < 12; i++)
            velocity[i] = rg_random_normal(&random), joint[i] = rg_random_normal(&random);
        for (int i = 0; i < 36; i++)
            jacobian[i] = rg_random_normal(&random);
        for (int i = 0; i < 4; i++)
            q[i] = rg_random_normal(&random);
        uint32_t blocks[2] = {1, 0}, joint_blocks[2] = {0, 1};
        rg_problem global = {.kind = RG_PROBLEM_CONTACT};
        global.contact = (rg_contact_problem){
            .dimension = 3, .contacts = 1, .joints = 1, .mu = &mu, .form = RG_FORM_GLOBAL, .q = q};
        global.contact.global =
            (rg_global_form){2, 6, mass[0], velocity, blocks, jacobian, joint_blocks, joint};
        double rows[4][12] = {{0}}, w[16], local_q[4], force[4];
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 6; k++)
                rows[i][6 + k] = jacobian[i * 6 + k], rows[i][k] = jacobian[18 + i * 6 + k];
        for (int k = 0; k < 12; k++)
            rows[3][k] = joint[k];
        for (int i = 0; i < 4; i++) {
            local_q[i] = q[i], force[i] = rg_random_normal(&random);
            for (int k = 0; k < 12; k++)
                local_q[i] += rows[i][k] * velocity[k];
            for (int j = 0; j < 4; j++) {
                w[4 * i + j] = 0;
                for (int k = 0; k < 12; k++)
                    w[4 * i + j] += rows[i][k] * rows[j][k] / mass[k / 6][7 * (k % 6)];
            }
        }
        rg_problem local = global;
        local.contact.form = RG_FORM_LOCAL, local.contact.q = local_q;
        local.contact.w = (rg_matrix){.rows = 4, .columns = 4, .dense = w};
        rg_residual a = judge(&global, force), b = judge(&local, force);
        assert_near(a.natural, b.natural, 1e-12 * (1 + b.natural));
        assert_near(a.feasibility, b.feasibility, 1e-12 * (1 + b.feasibility));
        assert_near(a.complementarity, b.complementarity, 1e-12 * (1 + b.complementarity));
        assert_near(a.dissipation, b.dissipation, 1e-12 * (1 + b.dissipation));
        assert_int_equal(a.worst, b.worst);
    }
}

/* Kilograms or tonnes, metres or millimetres: the same figure. */
static void units_do_not_matter(void **state) {
    (void)state;
    double q[3] = {-2, 3, 4}, mu = 0.5, w[9], r[3] = {7, -2, -3};
    rg_problem problem = block(w, q, &mu, 4);
    rg_residual reference = judge(&problem, r);
    for (int mass_exponent = -6; mass_exponent <= 6; mass_exponent += 3)
        for (int length_exponent = -6; length_exponent <= 6; length_exponent += 3) {
            double length = ldexp(1, length_exponent), kilo = ldexp(1, mass_exponent);
            double q2[3], r2[3], w2[9];
            for (int i = 0; i < 3; i++)
                q2[i] = q[i] * length, r2[i] = r[i] * length * kilo;
            rg_problem scaled = block(w2, q2, &mu, 4 * kilo);
            rg_residual residual = judge(&scaled, r2);
            assert_near(residual.natural, reference.natural, 1e-15);
            assert_near(residual.complementarity, reference.complementarity, 1e-15);
            assert_near(residual.force, reference.force, 1e-15);
        }
}

static void bad_numbers_look_bad(void **state) {
    (void)state;
    double matrix[1] = {1}, b[1] = {-1}, force[1] = {NAN};
    rg_problem problem = rg_problem_linear(1, matrix, b);
    assert_true(judge(&problem, force).natural == INFINITY);
    force[0] = INFINITY;
    assert_true(judge(&problem, force).natural == INFINITY);
    force[0] = 1e308;
    assert_true(judge(&problem, force).natural > 1e300);
    matrix[0] = NAN;
    rg_residual residual;
    assert_int_equal(rg_judge(&problem, force, NULL, NULL, &residual, NULL), RG_NOT_FINITE);
}

static void memory_failures_are_reported(void **state) {
    (void)state;
    double q[3] = {-2, 3, 4}, mu = 0.5, w[9], r[3] = {0};
    rg_problem problem = block(w, q, &mu, 4);
    counting_allocator counter;
    rg_allocator allocator = counting_allocator_make(&counter);
    rg_residual residual;
    assert_int_equal(rg_judge(&problem, r, NULL, &allocator, &residual, NULL), RG_OK);
    size_t calls = counter.resizes;
    assert_true(calls > 0);
    for (size_t k = 1; k < calls; k++) {
        counter = (counting_allocator){.fail_after = k};
        assert_int_equal(rg_judge(&problem, r, NULL, &allocator, &residual, NULL),
                         RG_OUT_OF_MEMORY);
    }
}

/* Plain arithmetic never finds less than there is, and says so only where its bound decides:
 * families with mass ratios to 1e6, forces from nearly right to nothing but wrong. */
static void plain_arithmetic_is_bounded(void **state) {
    (void)state;
    int count = test_cases(60, 2000), near = 0, exact = 0, wrong = 0;
    for (int k = 0; k < count; k++) {
        solve_family *family =
            family_make((family_kind)(k % FAMILY_KINDS), 20 + (size_t)k % 30, (uint64_t)k, 0.5);
        size_t n = (size_t)family->freedom, nn = n * n;
        rg_random random = rg_random_make((uint64_t)k);
        for (size_t b = 0; b < family->bodies; b++) {
            double ratio = k % 3 ? 1 : pow(10, rg_random_between(&random, -3, 3));
            for (size_t i = 0; i < nn; i++)
                family->mass[b * nn + i] *= ratio;
        }
        const rg_problem *problem = family_global(family);
        size_t rows = rg_problem_rows(problem);
        double *f = calloc(rows, sizeof *f), enough = 1e-9;
        rg_solve_context *context;
        rg_solution solution = {.force = f};
        assert_int_equal(rg_solve_context_create(NULL, &context), RG_OK);
        assert_int_equal(
            rg_solve(context, rg_solver_find("auto"), problem, NULL, &solution, NULL, NULL), RG_OK);
        double noise = k % 2 ? pow(10, rg_random_between(&random, -12, 0)) : 0;
        for (size_t i = 0; i < rows; i++)
            f[i] *= 1 + noise * rg_random_between(&random, -1, 1);
        rg_residual quick, close;
        rg_allocator memory = rg_allocator_or_default(NULL);
        bool rounding;
        assert_int_equal(rg_judge_forces(problem, f, enough, context, &quick, &rounding, NULL),
                         RG_OK);
        assert_int_equal(rg_judge_answer(problem, f, NULL, &memory, &close, NULL, NULL), RG_OK);
        assert_true(!rounding || close.natural < 1e-7);
        exact += rounding, wrong += close.natural > 1e-6;
        bool above = quick.natural >= close.natural * (1 - 1e-14);
        bool tight = quick.natural <= fmax(1.02 * close.natural, enough);
        if (!above || !tight)
            fail_msg("case %d: %.17g in plain doubles, %.17g", k, quick.natural, close.natural);
        near += close.natural < 1e-12;
        rg_solve_context_destroy(context);
        free(f);
        family_free(family);
    }
    assert_true(near > count / 20); /* rounding was what there was to find */
    assert_true(exact > 0 && wrong > count / 10);
}

static rg_verdict judge_plainly(const rg_contact_problem *p, const double *force,
                                const rg_judge_vectors *vectors, double *bound) {
    size_t links = p->contacts + p->joints;
    rg_judge_mass *masses = calloc(p->global.blocks, sizeof *masses);
    void *work = calloc(1, rg_judge_plain_size(p));
    double *numbers = calloc(rg_contact_rows(p) + links, sizeof *numbers);
    rg_judge_side side = {
        .velocity = numbers, .trace = numbers + rg_contact_rows(p), .bound = bound};
    rg_verdict v;
    memset(&v, 0, sizeof v);
    v.rounding = true;
    rg_judge_plain(p, force, masses, work, &side, vectors, &v);
    free(masses), free(work), free(numbers);
    return v;
}

/* Whatever vectors the processor has: every figure to the last bit. */
static void vectors_do_not_matter(void **state) {
    (void)state;
    int count = test_cases(60, 2000), bad = 0;
    for (int k = 0; k < count; k++) {
        solve_family *family =
            family_make((family_kind)(k % FAMILY_KINDS), 20 + (size_t)k % 30, (uint64_t)k, 0.5);
        const rg_contact_problem *p = &family_global(family)->contact;
        size_t rows = rg_contact_rows(p), links = p->contacts + p->joints;
        double *f = calloc(rows, sizeof *f), *bounds = calloc(2 * links, sizeof *bounds);
        rg_random random = rg_random_make((uint64_t)k);
        for (size_t i = 0; i < rows; i++)
            f[i] = k % 4 && rg_random_between(&random, 0, 1) > 0.3
                       ? rg_random_between(&random, -1, 1)
                       : 0;
        rg_verdict plain = judge_plainly(p, f, rg_judge_vectors_plain(), bounds),
                   best = judge_plainly(p, f, rg_judge_vectors_best(), bounds + links);
        assert_memory_equal(&plain.residual, &best.residual, sizeof plain.residual);
        assert_memory_equal(&plain.bound, &best.bound, sizeof plain.bound);
        assert_int_equal(plain.rounding, best.rounding);
        assert_memory_equal(bounds, bounds + links, links * sizeof *bounds);
        bad += plain.residual.natural > 0 && plain.bound > 0;
        free(f), free(bounds);
        family_free(family);
    }
    assert_true(bad > count / 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(linear_answers),
        cmocka_unit_test(row_kinds),
        cmocka_unit_test(cone_modes),
        cmocka_unit_test(polygon_modes),
        cmocka_unit_test(forms_agree),
        cmocka_unit_test(units_do_not_matter),
        cmocka_unit_test(bad_numbers_look_bad),
        cmocka_unit_test(memory_failures_are_reported),
        cmocka_unit_test(plain_arithmetic_is_bounded),
        cmocka_unit_test(vectors_do_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
