/* Joint rows with a compliance, u = J v + q + c r (complementarity.h): the judge and every solver
 * against the same problem in local form, with c on the diagonal of a W that is computed here. */
#include "test_support.h"

#include "rigor/random.h"
#include "rigor/solver.h"

#include <math.h>

enum { BODIES = 6, FREEDOM = 6, JOINTS = 12, CONTACTS = 4, ROWS = 3 * CONTACTS + JOINTS };

typedef struct sample {
    double mass[BODIES * FREEDOM * FREEDOM], free_velocity[BODIES * FREEDOM];
    uint32_t contact_blocks[2 * CONTACTS], joint_blocks[2 * JOINTS];
    double contact_jacobian[CONTACTS * 2 * 3 * FREEDOM], joint_jacobian[JOINTS * 2 * FREEDOM];
    double q[ROWS], mu[CONTACTS], lower[JOINTS], upper[JOINTS], compliance[JOINTS];
    double w[ROWS * ROWS], local_q[ROWS];
} sample;

static double draw(rg_random *random) {
    return rg_random_between(random, -1, 1);
}

/* Diagonal masses, so that W is a plain sum. */
static void fill(sample *s, uint64_t seed) {
    rg_random random = rg_random_make(seed);
    memset(s, 0, sizeof *s);
    for (size_t b = 0; b < BODIES; b++)
        for (size_t k = 0; k < FREEDOM; k++) {
            s->mass[(b * FREEDOM + k) * FREEDOM + k] = rg_random_between(&random, 0.5, 3);
            s->free_velocity[b * FREEDOM + k] = draw(&random);
        }
    for (size_t i = 0; i < CONTACTS; i++) {
        s->contact_blocks[2 * i] = (uint32_t)i;
        s->contact_blocks[2 * i + 1] = i == 0 ? RG_NO_BLOCK : (uint32_t)i + 1;
        s->mu[i] = 0.4;
    }
    for (size_t i = 0; i < CONTACTS * 2 * 3 * FREEDOM; i++)
        s->contact_jacobian[i] = draw(&random);
    for (size_t j = 0; j < JOINTS; j++) {
        s->joint_blocks[2 * j] = (uint32_t)(j % BODIES);
        s->joint_blocks[2 * j + 1] =
            j < 2 ? RG_NO_BLOCK : (uint32_t)((j + 1 + j / BODIES) % BODIES);
        s->lower[j] = j % 3 == 1 ? -0.2 : -INFINITY;
        s->upper[j] = j % 3 == 1 ? 0.3 : INFINITY;
        s->compliance[j] = j % 4 == 0 ? 0 : pow(10, rg_random_between(&random, -12, 6));
    }
    for (size_t i = 0; i < JOINTS * 2 * FREEDOM; i++)
        s->joint_jacobian[i] = draw(&random);
    for (size_t i = 0; i < ROWS; i++)
        s->q[i] = draw(&random);
}

static const double *row_of(const sample *s, size_t row, size_t side, uint32_t *block) {
    if (row < 3 * CONTACTS) {
        *block = s->contact_blocks[2 * (row / 3) + side];
        return s->contact_jacobian + ((row / 3 * 2 + side) * 3 + row % 3) * FREEDOM;
    }
    size_t j = row - 3 * CONTACTS;
    *block = s->joint_blocks[2 * j + side];
    return s->joint_jacobian + (j * 2 + side) * FREEDOM;
}

static void condense(sample *s) {
    for (size_t i = 0; i < ROWS; i++) {
        s->local_q[i] = s->q[i];
        for (size_t a = 0; a < 2; a++) {
            uint32_t block, other;
            const double *left = row_of(s, i, a, &block);
            if (block == RG_NO_BLOCK)
                continue;
            for (size_t k = 0; k < FREEDOM; k++)
                s->local_q[i] += left[k] * s->free_velocity[block * FREEDOM + k];
            for (size_t j = 0; j < ROWS; j++)
                for (size_t b = 0; b < 2; b++) {
                    const double *right = row_of(s, j, b, &other);
                    for (size_t k = 0; k < FREEDOM && other == block; k++)
                        s->w[i * ROWS + j] +=
                            left[k] * right[k] / s->mass[(block * FREEDOM + k) * FREEDOM + k];
                }
        }
    }
    for (size_t j = 0; j < JOINTS; j++)
        s->w[(3 * CONTACTS + j) * (ROWS + 1)] += s->compliance[j];
}

static rg_problem soft_problem(const sample *s) {
    rg_problem p = {.kind = RG_PROBLEM_CONTACT};
    p.contact = (rg_contact_problem){.dimension = 3,
                                     .contacts = CONTACTS,
                                     .joints = JOINTS,
                                     .mu = s->mu,
                                     .lower = s->lower,
                                     .upper = s->upper,
                                     .compliance = s->compliance,
                                     .form = RG_FORM_GLOBAL,
                                     .q = s->q};
    p.contact.global = (rg_global_form){.blocks = BODIES,
                                        .freedom = FREEDOM,
                                        .mass = s->mass,
                                        .free_velocity = s->free_velocity,
                                        .contact_blocks = s->contact_blocks,
                                        .contact_jacobian = s->contact_jacobian,
                                        .joint_blocks = s->joint_blocks,
                                        .joint_jacobian = s->joint_jacobian};
    p.scale = 1;
    return p;
}

static rg_problem local_problem(const sample *s) {
    rg_problem p = soft_problem(s);
    p.contact.form = RG_FORM_LOCAL;
    p.contact.compliance = NULL;
    p.contact.w = (rg_matrix){.rows = ROWS, .columns = ROWS, .dense = s->w};
    p.contact.q = s->local_q;
    return p;
}

/* Any forces, right or wrong, have the residuals of the local form. */
static void the_judge_knows_compliance(void **state) {
    (void)state;
    sample s;
    for (uint64_t seed = 1; seed <= (uint64_t)test_cases(20, 200); seed++) {
        fill(&s, seed);
        condense(&s);
        rg_problem soft = soft_problem(&s), local = local_problem(&s);
        rg_random random = rg_random_make(1000 + seed);
        double force[ROWS];
        for (size_t i = 0; i < ROWS; i++) {
            double c = i < 3 * CONTACTS ? 0 : s.compliance[i - 3 * CONTACTS];
            force[i] = draw(&random) / (1 + c);
        }
        rg_residual a, b;
        assert_int_equal(rg_judge(&soft, force, NULL, NULL, &a, NULL), RG_OK);
        assert_int_equal(rg_judge(&local, force, NULL, NULL, &b, NULL), RG_OK);
        assert_true(fabs(a.natural - b.natural) <= 1e-12 * (1 + b.natural));
        assert_int_equal(a.worst, b.worst);
    }
}

static void every_solver_takes_it(void **state) {
    (void)state;
    static const char *const names[] = {"auto", "gauss-seidel", "newton", "interior-point", "admm"};
    sample s;
    rg_solve_context *context;
    assert_int_equal(rg_solve_context_create(NULL, &context), RG_OK);
    for (uint64_t seed = 1; seed <= (uint64_t)test_cases(10, 100); seed++) {
        fill(&s, seed);
        condense(&s);
        rg_problem soft = soft_problem(&s), local = local_problem(&s);
        for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
            double force[ROWS] = {0};
            rg_solve_settings settings = rg_solve_settings_default();
            settings.tolerance = 1e-8;
            rg_solution solution = {.force = force};
            rg_solve_info info;
            rg_residual residual;
            assert_int_equal(rg_solve(context, rg_solver_find(names[k]), &soft, &settings,
                                      &solution, &info, NULL),
                             RG_OK);
            assert_int_equal(rg_judge(&local, force, NULL, NULL, &residual, NULL), RG_OK);
            if (info.outcome == RG_SOLVED)
                assert_true(residual.natural <= 1.01e-8);
            else if (k == 0)
                fail_msg("seed %d: auto: %s, %.3g", (int)seed, info.text, residual.natural);
        }
    }
    rg_solve_context_destroy(context);
}

/* A mass on a spring, k and d taken at the end of the step: (m + h d + h^2 k) v+ = m v - h k x. */
static void a_spring_by_hand(void **state) {
    (void)state;
    double h = 1.0 / 240, x = 0.3, v = -0.7, m = 2;
    rg_solve_context *context;
    assert_int_equal(rg_solve_context_create(NULL, &context), RG_OK);
    for (double k = 1; k <= 1e12; k *= 10) {
        double d = 0.01 * k, j[2] = {1, 0}, c = 1 / (h * h * k + h * d), q = h * k * x * c, r = 0;
        double u = 0;
        uint32_t blocks[2] = {0, RG_NO_BLOCK};
        rg_problem p = {.kind = RG_PROBLEM_CONTACT};
        p.contact = (rg_contact_problem){
            .dimension = 1, .joints = 1, .compliance = &c, .form = RG_FORM_GLOBAL, .q = &q};
        p.contact.global = (rg_global_form){.blocks = 1,
                                            .freedom = 1,
                                            .mass = &m,
                                            .free_velocity = &v,
                                            .joint_blocks = blocks,
                                            .joint_jacobian = j};
        rg_solution solution = {.force = &r, .velocity = &u};
        rg_solve_info info;
        assert_int_equal(
            rg_solve(context, rg_solver_find("auto"), &p, NULL, &solution, &info, NULL), RG_OK);
        assert_int_equal(info.outcome, RG_SOLVED);
        double after = (m * v - h * k * x) / (m + h * d + h * h * k);
        assert_true(fabs(v + r / m - after) <= 1e-12 * (fabs(v) + fabs(after)));
        assert_true(fabs(u) <= 1e-10 * (fabs(q) + fabs(v)));
    }
    rg_solve_context_destroy(context);
}

static void bad_compliance_is_refused(void **state) {
    (void)state;
    sample s;
    fill(&s, 1);
    condense(&s);
    rg_problem soft = soft_problem(&s), local = local_problem(&s);
    rg_error error;
    s.compliance[3] = -1;
    assert_int_equal(rg_problem_check(&soft, &error), RG_INVALID_ARGUMENT);
    assert_string_equal(error.text,
                        "joint row 3: compliance -1; it must be finite and not negative");
    s.compliance[3] = NAN;
    assert_int_equal(rg_problem_check(&soft, &error), RG_INVALID_ARGUMENT);
    s.compliance[3] = 0;
    assert_int_equal(rg_problem_check(&soft, &error), RG_OK);
    local.contact.compliance = s.compliance;
    assert_int_equal(rg_problem_check(&local, &error), RG_INVALID_ARGUMENT);
    assert_string_equal(error.text,
                        "joint rows: a compliance in local form; add it to the diagonal of W");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_judge_knows_compliance),
        cmocka_unit_test(every_solver_takes_it),
        cmocka_unit_test(a_spring_by_hand),
        cmocka_unit_test(bad_compliance_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
