/* Islands of one contact: the same answers and verdicts as the way of all problems. */
#include "test_support.h"

#include "base/base_math.h"
#include "problem/problem.h"
#include "rigor/random.h"
#include "solve/solve.h"
#include "solve/solve_single.h"

#include <string.h>

enum { FREEDOM = 6, BODIES = 2 };

/* The same contact twice: as rg_single, and as a problem in global form. */
typedef struct sample {
    double mass[BODIES * FREEDOM * FREEDOM], velocity[BODIES * FREEDOM];
    double jacobian[2 * 3 * FREEDOM], q[3], mu;
    uint32_t blocks[2];
    rg_single single;
    rg_problem problem;
} sample;

static rg_vec3 random_vector(rg_random *random, double size) {
    return (rg_vec3){size * rg_random_normal(random), size * rg_random_normal(random),
                     size * rg_random_normal(random)};
}

/* m and R I R', and their inverses. */
static void make_body(rg_random *random, double *mass, rg_single_body *body) {
    double m = pow(10, rg_random_between(random, -3, 3)), inertia[3];
    rg_mat3 r = rg_mat3_of_quat(rg_random_rotation(random));
    body->round = rg_random_below(random, 3) == 0;
    for (int k = 0; k < 3; k++)
        inertia[k] = body->round && k > 0 ? inertia[0] : m * rg_random_between(random, 0.1, 1);
    memset(mass, 0, FREEDOM * FREEDOM * sizeof *mass);
    memset(body->inverse_inertia, 0, sizeof body->inverse_inertia);
    for (int i = 0; i < 3; i++) {
        mass[i * FREEDOM + i] = m;
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 3; k++) {
                mass[(3 + i) * FREEDOM + 3 + j] += r.m[i][k] * inertia[k] * r.m[j][k];
                body->inverse_inertia[3 * i + j] += r.m[i][k] / inertia[k] * r.m[j][k];
            }
    }
    for (int i = 0; i < 3; i++) /* to the last bit */
        for (int j = 0; j < i; j++)
            mass[(3 + i) * FREEDOM + 3 + j] = mass[(3 + j) * FREEDOM + 3 + i];
    body->inverse_mass = 1 / m;
}

static void make_rows(rg_random *random, rg_vec3 normal, double sign, double *rows) {
    rg_vec3 arm = random_vector(random, 0.5), axis[3] = {normal};
    axis[1] = rg_cross(normal, rg_random_direction(random));
    axis[1] = rg_scale(1 / rg_length(axis[1]), axis[1]);
    axis[2] = rg_cross(normal, axis[1]);
    for (int k = 0; k < 3; k++) {
        rg_vec3 turn = rg_cross(arm, axis[k]);
        double row[FREEDOM] = {sign * axis[k].x, sign * axis[k].y, sign * axis[k].z,
                               sign * turn.x,    sign * turn.y,    sign * turn.z};
        memcpy(rows + k * FREEDOM, row, sizeof row);
    }
}

static void make(rg_random *random, sample *s) {
    uint32_t bodies = 1 + (uint32_t)rg_random_below(random, 2);
    rg_vec3 normal = rg_random_direction(random);
    memset(s, 0, sizeof *s);
    s->mu = rg_random_below(random, 3) ? rg_random_between(random, 0.05, 1) : 0;
    for (int k = 0; k < 3; k++)
        s->q[k] = 0.1 * rg_random_normal(random);
    s->single = (rg_single){.bodies = (int)bodies, .mu = s->mu, .scale = 0.04};
    memcpy(s->single.q, s->q, sizeof s->q);
    for (uint32_t b = 0; b < 2; b++) {
        s->blocks[b] = b < bodies ? b : RG_NO_BLOCK;
        make_rows(random, normal, b == 0 ? 1 : -1, s->jacobian + b * 3 * FREEDOM);
        make_body(random, s->mass + b * FREEDOM * FREEDOM, &s->single.body[b]);
        s->single.body[b].jacobian = s->jacobian + b * 3 * FREEDOM;
        for (int k = 0; k < FREEDOM; k++)
            s->velocity[b * FREEDOM + (uint32_t)k] = rg_random_normal(random);
        memcpy(s->single.body[b].free_velocity, s->velocity + b * FREEDOM,
               FREEDOM * sizeof *s->velocity);
    }
    s->problem = (rg_problem){.kind = RG_PROBLEM_CONTACT, .scale = s->single.scale};
    s->problem.contact = (rg_contact_problem){
        .dimension = 3, .contacts = 1, .mu = &s->mu, .form = RG_FORM_GLOBAL, .q = s->q};
    s->problem.contact.global =
        (rg_global_form){bodies, FREEDOM, s->mass, s->velocity, s->blocks, s->jacobian, NULL, NULL};
    assert_int_equal(rg_problem_check(&s->problem, NULL), RG_OK);
}

static const rg_single_aim cold = {.tolerance = 1e-9, .acceptable = 1e-8};

/* The judge of all problems, which computes in numbers of two doubles, finds no more than what was
 * told. */
static void answers_pass_the_judge(void **state) {
    (void)state;
    rg_random random = rg_random_make(11);
    size_t closed = 0, open = 0, cases = (size_t)test_cases(2000, 200000);
    for (size_t n = 0; n < cases; n++) {
        sample s;
        double force[3] = {0};
        rg_residual told, found;
        bool changed;
        make(&random, &s);
        assert_true(rg_single_solve(&s.single, &cold, force, &told, &changed));
        assert_int_equal(rg_judge(&s.problem, force, NULL, NULL, &found, NULL), RG_OK);
        assert_true(told.natural <= 1e-9);
        assert_true(found.natural <= told.natural + 1e-15);
        assert_true(fabs(found.force - told.force) <= told.natural + 1e-15);
        closed += force[0] > 0, open += force[0] == 0;
    }
    assert_true(closed > cases / 4 && open > cases / 8);
}

static void answers_are_those_of_any_problem(void **state) {
    (void)state;
    rg_random random = rg_random_make(12);
    rg_solve_context *context;
    assert_int_equal(rg_solve_context_create(NULL, &context), RG_OK);
    for (size_t n = 0; n < (size_t)test_cases(500, 50000); n++) {
        sample s;
        double force[3] = {0}, other[3] = {0};
        rg_residual told;
        rg_solve_info info;
        bool changed;
        make(&random, &s);
        assert_true(rg_single_solve(&s.single, &cold, force, &told, &changed));
        rg_solution solution = {.force = other};
        rg_solve_settings settings = {.tolerance = 1e-12};
        assert_int_equal(
            rg_solve(context, rg_solver_at(0), &s.problem, &settings, &solution, &info, NULL),
            RG_OK);
        double size = fmax(fabs(other[0]), 1e-3 / (s.single.body[0].inverse_mass));
        for (int k = 0; k < 3 && info.outcome == RG_SOLVED; k++)
            assert_near(force[k], other[k], 1e-6 * size);
    }
    rg_solve_context_destroy(context);
}

/* Forces that are exact up to rounding stay as they are, to the last bit; others do not, unless
 * they are allowed for. */
static void warm_forces_stay(void **state) {
    (void)state;
    rg_random random = rg_random_make(13);
    size_t kept = 0, cases = (size_t)test_cases(1000, 100000);
    for (size_t n = 0; n < cases; n++) {
        sample s;
        double force[3] = {0}, given[3];
        rg_residual told;
        bool changed;
        rg_single_aim warm = cold;
        make(&random, &s);
        assert_true(rg_single_solve(&s.single, &cold, force, &told, &changed));
        if (force[0] == 0)
            continue;
        warm.warm = true;
        memcpy(given, force, sizeof given);
        assert_true(rg_single_solve(&s.single, &warm, given, &told, &changed));
        kept += !changed;
        assert_int_equal(!changed, memcmp(given, force, sizeof given) == 0);
        given[0] *= 1 + 1e-6;
        double off = given[0];
        assert_true(rg_single_solve(&s.single, &warm, given, &told, &changed));
        assert_true(changed && given[0] != off);
        warm.keep = 1;
        given[0] = off;
        assert_true(rg_single_solve(&s.single, &warm, given, &told, &changed));
        assert_true(!changed && given[0] == off);
    }
    assert_true(kept > cases / 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_pass_the_judge),
        cmocka_unit_test(answers_are_those_of_any_problem),
        cmocka_unit_test(warm_forces_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
