/* Forces by a basis that is known, beside the pivoting solver and the conditions themselves: towers
 * in the plane, whose rows depend on each other, and contacts of bodies at random. */
#include "test_world_support.h"

#include "rigor/solver.h"
#include "solve/solve_basis.h"

#include <string.h>

#define G 9.81

enum { BODIES = 7, MOST = 96 };

typedef struct problem {
    rg_arena arena;
    rg_body_dynamics dynamics[BODIES];
    rg_vec3 position[BODIES];
    rg_mat3 inverse[BODIES];
    uint32_t place[BODIES];
    rg_direction_system s;
    double raise[MOST], first[MOST]; /* of the diagonal; b of the first solve */
} problem;

/* Bodies of mass 1 but for the first one, which no force moves. */
static problem *make_problem(size_t contacts) {
    problem *p = calloc(1, sizeof *p);
    assert_non_null(p);
    p->arena = rg_arena_make(NULL);
    for (uint32_t i = 0; i < BODIES; i++) {
        double inverse = i ? 1 : 0;
        p->dynamics[i] = (rg_body_dynamics){.mass = inverse, .inverse_mass = inverse};
        p->inverse[i] = rg_mat3_diagonal((rg_vec3){0, 6 * inverse, 0});
        p->place[i] = i - 1;
    }
    assert_true(rg_direction_system_take(&p->arena, 2 * contacts, BODIES - 1, &p->s));
    return p;
}

static void free_problem(problem *p) {
    rg_arena_free(&p->arena);
    free(p);
}

/* Normal and tangent of a contact, and what other forces give their rates. */
static void put_contact(problem *p, size_t contact, uint32_t a, uint32_t b, rg_vec3 point,
                        rg_vec3 normal, double mu) {
    rg_vec3 e[2] = {normal, {normal.z, 0, -normal.x}};
    for (size_t k = 0; k < 2; k++) {
        size_t i = 2 * contact + k;
        p->s.rows[i] = rg_direction_along(p->position, p->inverse, a, b, point, e[k]);
        p->s.kinds[i] = k ? RG_ROW_STATIC : RG_ROW_UNILATERAL;
        p->s.normal[i] = (uint32_t)(2 * contact);
        p->s.mu[i] = k ? mu : 0;
        p->s.force[i] = 0;
    }
}

/* The matrix, its diagonal raised, after a look at that of all pairs of rows. */
static void couple(problem *p) {
    size_t n = p->s.count;
    double *dense = rg_arena_take(&p->arena, n * n, sizeof *dense);
    assert_non_null(dense);
    rg_direction_system_couple(p->dynamics, p->place, false, &p->s);
    rg_directions_couple(p->dynamics, p->place, p->s.rows, n, dense);
    for (size_t i = 0; i < n * n; i++)
        assert_near(p->s.matrix[i], dense[i], 1e-14);
    for (size_t i = 0; i < n; i++) {
        p->raise[i] = 1e-8 * p->s.matrix[i * n + i];
        p->s.matrix[i * n + i] += p->raise[i];
        p->first[i] = p->s.b[i];
    }
}

/* The conditions of Coulomb's law in the plane, and the equations, by sums of their own. */
static void check_conditions(const problem *p) {
    const rg_direction_system *s = &p->s;
    for (size_t i = 0; i < s->count; i++) {
        double a = s->b[i] - p->raise[i] * s->force[i];
        for (size_t k = 0; k < s->count; k++)
            a += s->matrix[i * s->count + k] * s->force[k];
        assert_near(a, s->rate[i], 1e-7);
        if (s->kinds[i] == RG_ROW_UNILATERAL) {
            assert_true(s->force[i] >= 0 && a > -1e-7);
            assert_near(s->force[i] * a, 0, 1e-6);
            continue;
        }
        double limit = s->mu[i] * s->force[s->normal[i]];
        assert_true(fabs(s->force[i]) <= limit + 1e-9);
        if (limit > 0 && fabs(s->force[i]) < limit * (1 - 1e-6))
            assert_near(a, 0, 1e-7);
        else if (limit > 0)
            assert_true(a * s->force[i] < 1e-7);
    }
}

/* Square on square, two points each, the highest one pushed sideways by `push` (m/s^2). */
static problem *make_tower(double push) {
    problem *p = make_problem(2 * (BODIES - 1));
    for (uint32_t i = 1; i < BODIES; i++)
        p->position[i] = (rg_vec3){0, 0, i - 0.5};
    for (uint32_t i = 1; i < BODIES; i++)
        for (uint32_t k = 0; k < 2; k++) {
            size_t contact = 2 * (i - 1) + k;
            put_contact(p, contact, i, i - 1, (rg_vec3){k ? 0.5 : -0.5, 0, i - 1},
                        (rg_vec3){0, 0, 1}, 0.5);
            p->s.b[2 * contact] = i == 1 ? -G : 0;
            p->s.b[2 * contact + 1] = i + 1 == BODIES ? push : 0;
        }
    couple(p);
    return p;
}

/* From nothing contacts would come in level by level: that is given up, and nothing has changed. If
 * all of them carry something, what they carry is found; from there none changes. */
static void towers_stand(void **state) {
    (void)state;
    static const double pushes[] = {0, 0.3, -0.5};
    for (size_t k = 0; k < 3; k++) {
        problem *p = make_tower(pushes[k]);
        assert_false(rg_basis_try(&p->arena, &p->s, p->first, p->raise, G));
        for (size_t i = 0; i < p->s.count; i++) {
            assert_true(p->s.force[i] == 0);
            p->s.force[i] = i % 2 ? 0 : 1;
        }
        assert_true(rg_basis_try(&p->arena, &p->s, p->first, p->raise, G));
        check_conditions(p);
        double weight = 0, push = 0, again[MOST];
        for (size_t i = 0; i < 4; i++)
            *(i % 2 ? &push : &weight) += p->s.force[i];
        assert_near(weight, (BODIES - 1) * G, 1e-6);
        assert_near(push, -pushes[k], 1e-6);
        memcpy(again, p->s.force, p->s.count * sizeof *again);
        assert_true(rg_basis_try(&p->arena, &p->s, p->first, p->raise, G));
        for (size_t i = 0; i < p->s.count; i++)
            assert_near(p->s.force[i], again[i], 1e-9 * G);
        free_problem(p);
    }
}

/* Forces and accelerations at random: where there is an answer, it keeps all conditions, and where
 * rows are independent it is that of the pivoting solver. */
static void contacts_at_random(void **state) {
    (void)state;
    rg_random random = rg_random_make(14);
    rg_solve_context *context;
    assert_int_equal(rg_solve_context_create(NULL, &context), RG_OK);
    int found = 0, cases = test_cases(400, 4000);
    for (int k = 0; k < cases; k++) {
        size_t contacts = 1 + (size_t)rg_random_between(&random, 0, 4.999);
        problem *p = make_problem(contacts);
        for (uint32_t i = 0; i < BODIES; i++) {
            double x = rg_random_between(&random, -1, 1), z = rg_random_between(&random, -1, 1);
            p->position[i] = (rg_vec3){x, 0, z};
        }
        for (size_t c = 0; c < contacts; c++) {
            uint32_t a = 1 + (uint32_t)rg_random_between(&random, 0, BODIES - 1.001);
            uint32_t b = (a + 1 + (uint32_t)rg_random_between(&random, 0, BODIES - 1.001)) % BODIES;
            double x = rg_random_between(&random, -1, 1), z = rg_random_between(&random, -1, 1);
            rg_vec3 n = rg_normalised((rg_vec3){x, 0, z});
            double mu = rg_random_between(&random, 0, 0.3);
            put_contact(p, c, a, b, rg_random_direction(&random), n, mu);
            p->s.b[2 * c] = rg_random_between(&random, -G, G);
            p->s.b[2 * c + 1] = rg_random_between(&random, -G, G);
        }
        couple(p);
        double pivoted[MOST] = {0}, rates[MOST];
        rg_problem whole = rg_direction_system_problem(&p->s, p->s.b, G);
        rg_solution solution = {.force = pivoted, .velocity = rates};
        rg_solve_info info;
        assert_int_equal(
            rg_solve(context, rg_solver_find("dantzig"), &whole, NULL, &solution, &info, NULL),
            RG_OK);
        if (rg_basis_try(&p->arena, &p->s, p->first, p->raise, G)) {
            found++;
            check_conditions(p);
            memcpy(p->s.force, pivoted, p->s.count * sizeof *pivoted);
            if (info.outcome == RG_SOLVED)
                assert_true(rg_basis_try(&p->arena, &p->s, p->first, p->raise, G));
            check_conditions(p);
        }
        free_problem(p);
    }
    assert_true(2 * found > cases);
    rg_solve_context_destroy(context);
}

/* A square that a growing force lifts: its basis is right until nothing presses it down. */
static void kept_until_it_is_wrong(void **state) {
    (void)state;
    static const double lifts[] = {0, 0.3, 0.9, 0.999, 1.001, 1.5};
    for (size_t k = 0; k < sizeof lifts / sizeof *lifts; k++) {
        problem *p = make_problem(2);
        p->position[1] = (rg_vec3){0, 0, 0.5};
        for (uint32_t c = 0; c < 2; c++) {
            put_contact(p, c, 1, 0, (rg_vec3){c ? 0.5 : -0.5, 0, 0}, (rg_vec3){0, 0, 1}, 0.5);
            p->s.b[2 * c] = -G * (1 - lifts[k]);
            p->s.b[2 * c + 1] = 0;
        }
        couple(p);
        const double begin[4] = {G / 2, 0, G / 2, 0};
        double margin;
        assert_true(rg_basis_keep(&p->arena, &p->s, begin, p->first, p->raise, G, &margin));
        assert_near(p->s.force[0], G / 2 * (1 - lifts[k]), 1e-6);
        assert_near(margin, 1 - lifts[k], 1e-5);
        assert_true((margin > 0) == (lifts[k] < 1));
        free_problem(p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(towers_stand),
                                       cmocka_unit_test(contacts_at_random),
                                       cmocka_unit_test(kept_until_it_is_wrong)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
