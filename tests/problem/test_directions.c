/* Rows as directions on bodies: how they act on each other is J M^-1 J' of the problem that is made
 * of them, and their rates are J v. */
#include "dense_support.h"
#include "test_world_support.h"

#include "problem/problem_directions.h"

#include <string.h>

enum { BODIES = 5, CONTACTS = 6, JOINTS = 3 };

typedef struct bodies {
    rg_body_dynamics dynamics[BODIES];
    rg_vec3 position[BODIES], velocity[BODIES], spin[BODIES];
    rg_quat orientation[BODIES];
    rg_mat3 inverse[BODIES];
    uint32_t place[BODIES];
    rg_direction_space space;
} bodies;

static rg_vec3 draw_vector(rg_random *random, bool planar) {
    rg_vec3 v = rg_random_direction(random);
    return planar ? (rg_vec3){v.x, 0, v.z} : v;
}

/* The first one is moved by no force. */
static void make_bodies(bodies *s, rg_random *random, bool planar) {
    memset(s, 0, sizeof *s);
    for (uint32_t i = 0; i < BODIES; i++) {
        rg_body_dynamics *d = &s->dynamics[i];
        s->position[i] = draw_vector(random, planar);
        s->velocity[i] = draw_vector(random, planar);
        s->spin[i] = rg_random_direction(random);
        s->orientation[i] = rg_random_rotation(random);
        if (planar) {
            s->spin[i] = (rg_vec3){0, s->spin[i].y, 0};
            s->orientation[i] = rg_quat_of_planar_angle(s->spin[i].y);
        }
        s->inverse[i] = rg_mat3_diagonal((rg_vec3){0, 0, 0});
        if (i == 0) {
            s->velocity[0] = s->spin[0] = (rg_vec3){0, 0, 0};
            continue;
        }
        s->place[i] = BODIES - 1 - i;
        d->mass = rg_random_between(random, 0.5, 2);
        d->inertia.x = rg_random_between(random, 0.1, 1);
        d->inertia.y = rg_random_between(random, 0.1, 1);
        d->inertia.z = rg_random_between(random, 0.1, 1);
        d->inverse_mass = 1 / d->mass;
        d->inverse_inertia = (rg_vec3){1 / d->inertia.x, 1 / d->inertia.y, 1 / d->inertia.z};
        rg_mat3 r = rg_mat3_of_quat(s->orientation[i]), own = rg_mat3_diagonal(d->inverse_inertia);
        s->inverse[i] = planar ? rg_mat3_diagonal((rg_vec3){0, d->inverse_inertia.y, 0})
                               : rg_mat3_conjugate(&r, &own);
    }
    s->space = (rg_direction_space){s->dynamics, s->position, s->orientation, s->inverse,
                                    s->place,    BODIES - 1,  planar};
}

static uint32_t draw_body(rg_random *random, uint32_t other) {
    uint32_t body;
    do
        body = (uint32_t)rg_random_between(random, 0, BODIES - 1e-9);
    while (body == other);
    return body;
}

/* Row `row` of the problem over all velocities, from its blocks. */
static void spread(const rg_contact_problem *p, size_t row, double *wide) {
    size_t n = (size_t)p->global.freedom, d = (size_t)p->dimension;
    size_t rows = d * p->contacts, c = row / d;
    memset(wide, 0, n * p->global.blocks * sizeof *wide);
    for (size_t side = 0; side < 2; side++) {
        const uint32_t *blocks = row < rows ? p->global.contact_blocks + 2 * c
                                            : p->global.joint_blocks + 2 * (row - rows);
        const double *j = row < rows
                              ? p->global.contact_jacobian + ((2 * c + side) * d + row % d) * n
                              : p->global.joint_jacobian + (2 * (row - rows) + side) * n;
        for (size_t i = 0; blocks[side] != RG_NO_BLOCK && i < n; i++)
            wide[blocks[side] * n + i] += j[i];
    }
}

/* x with M x = wide, block by block. */
static void apply_inverse_mass(const rg_contact_problem *p, double *wide) {
    size_t n = (size_t)p->global.freedom;
    for (size_t b = 0; b < p->global.blocks; b++) {
        double m[36], *x = wide + b * n;
        memcpy(m, p->global.mass + b * n * n, n * n * sizeof *m);
        solve_dense(m, x, n);
    }
}

static void check(const bodies *s, const rg_direction_row *rows, size_t count,
                  const rg_contact_problem *p) {
    double wide[6 * BODIES], other[6 * BODIES];
    size_t n = (size_t)p->global.freedom;
    for (size_t i = 0; i < count; i++) {
        spread(p, i, wide);
        apply_inverse_mass(p, wide);
        for (size_t k = 0; k < count; k++) {
            double sum = 0;
            spread(p, k, other);
            for (size_t c = 0; c < n * p->global.blocks; c++)
                sum += wide[c] * other[c];
            assert_near(rg_direction_couple(s->dynamics, s->place, &rows[i], &rows[k]), sum, 1e-12);
        }
        /* Of velocities that grow by a unit force along the row. */
        rg_vec3 velocity[BODIES], spin[BODIES];
        for (uint32_t b = 0; b < BODIES; b++) {
            double sign = b == rows[i].a ? 1 : b == rows[i].b ? -1 : 0;
            velocity[b] = rg_scale(sign * s->dynamics[b].inverse_mass, rows[i].e);
            spin[b] = rg_scale(sign, b == rows[i].a ? rows[i].spin_a : rows[i].spin_b);
        }
        double rate = rg_direction_rate(&rows[i], velocity, spin);
        assert_near(rate, rg_direction_couple(s->dynamics, s->place, &rows[i], &rows[i]), 1e-12);
        rg_twist twist[BODIES - 1] = {0};
        rg_direction_add_twist(s->dynamics, s->place, &rows[i], 0.5, twist);
        for (size_t k = 0; k < count; k++)
            assert_near(rg_direction_twist_rate(s->dynamics, s->place, &rows[k], twist),
                        rg_direction_couple(s->dynamics, s->place, &rows[i], &rows[k]) / 2, 1e-12);
    }
}

static void rows_act_as_their_problem_says(void **state) {
    (void)state;
    rg_random random = rg_random_make(5);
    rg_arena arena = rg_arena_make(NULL);
    for (int round = 0; round < 40; round++) {
        bool planar = round % 2;
        size_t d = planar ? 2 : 3, rows = d * CONTACTS;
        bodies s;
        make_bodies(&s, &random, planar);
        rg_direction_row row[3 * CONTACTS + JOINTS];
        double compliance[JOINTS] = {0}, q[3 * CONTACTS + JOINTS] = {0}, mu[CONTACTS] = {0};
        for (size_t i = 0; i < CONTACTS; i++) {
            uint32_t a = draw_body(&random, UINT32_MAX), b = draw_body(&random, a);
            rg_vec3 point = draw_vector(&random, planar);
            for (size_t k = 0; k < d; k++)
                row[d * i + k] = rg_direction_along(s.position, s.inverse, a, b, point,
                                                    draw_vector(&random, planar));
        }
        for (size_t i = 0; i < JOINTS; i++) {
            uint32_t a = draw_body(&random, UINT32_MAX), b = draw_body(&random, a);
            rg_vec3 axis = planar ? (rg_vec3){0, 1, 0} : rg_random_direction(&random);
            row[rows + i] = rg_direction_about(s.inverse, a, b, axis);
        }
        rg_direction_set set = {.contacts = row,
                                .joints = row + rows,
                                .contact_count = CONTACTS,
                                .joint_count = JOINTS,
                                .compliance = compliance,
                                .q = q,
                                .mu = mu};
        rg_problem problem;
        assert_int_equal(rg_directions_problem(&s.space, &set, &arena, &problem), RG_OK);
        assert_true(problem.contact.global.blocks < BODIES);
        check(&s, row, rows + JOINTS, &problem.contact);
        rg_arena_reset(&arena);
    }
    rg_arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_act_as_their_problem_says)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
