/* Impact laws: worked numbers of the papers, in both forms of the problem. */
#include "test_support.h"

#include "impact_support.h"
#include "step/step_impact.h"

#include <stdio.h>

static rg_solve_context *context;

static int start(void **state) {
    (void)state;
    return rg_solve_context_create(NULL, &context);
}

static int stop(void **state) {
    (void)state;
    rg_solve_context_destroy(context);
    return 0;
}

static void resolve_limited(scene *s, const char *law, uint64_t limit, impact_answer *out) {
    impact_answer other;
    assert_int_equal(scene_try(context, s, law, limit, RG_FORM_GLOBAL, &other), RG_OK);
    assert_int_equal(scene_try(context, s, law, limit, RG_FORM_LOCAL, out), RG_OK);
    double size = 1e-300;
    for (size_t i = 0; i < 6 * s->bodies; i++)
        size = fmax(size, fabs(s->v[i]));
    for (size_t i = 0; i < 6 * s->bodies; i++)
        assert_near(out->v[i], other.v[i], 1e-9 * size);
    /* W = 1/m1 + 1/m2 has lost digits of the heavier mass: a matter of the local form. */
    double heavy = 0, light = INFINITY;
    for (size_t i = 0; i < s->bodies; i++)
        heavy = fmax(heavy, s->mass[36 * i]), light = fmin(light, s->mass[36 * i]);
    double change = scene_energy(s, out->v) - scene_energy(s, s->v);
    double allowed = fmax(1e-12, 1e-15 * heavy / light) * scene_energy(s, s->v);
    assert_near(out->info.energy_change, change, allowed);
    assert_near(out->info.normal_change + out->info.friction_change + out->info.joint_change,
                change, allowed);
    assert_true(change <= 1e-13 * scene_energy(s, s->v));
}

static void resolve(scene *s, const char *law, impact_answer *out) {
    resolve_limited(s, law, 0, out);
    assert_int_equal(out->info.outcome, RG_IMPACT_RESOLVED);
    assert_true(out->info.left <= s->still);
}

static void check_speeds(const impact_answer *a, size_t count, const double *speeds) {
    for (size_t i = 0; i < count; i++)
        assert_near(a->v[6 * i], speeds[i], 1e-13);
}

static void table(void **state) {
    (void)state;
    static const char *const names[] = {"simultaneous", "propagation", "poisson",
                                        "energetic",    "reflection",  "dissipative"};
    assert_int_equal(rg_impact_law_count(), 6);
    for (size_t i = 0; i < 6; i++) {
        assert_string_equal(rg_impact_law_name(rg_impact_law_at(i)), names[i]);
        assert_ptr_equal(rg_impact_law_find(names[i]), rg_impact_law_at(i));
        assert_true(strlen(rg_impact_law_summary(rg_impact_law_at(i))) > 10);
    }
    assert_null(rg_impact_law_at(6));
    assert_null(rg_impact_law_find("newton"));
    assert_string_equal(rg_impact_outcome_name(RG_IMPACT_ROUNDS), "rounds");
}

/* Baraff 1989, figure 11. */
static void billiard(void **state) {
    (void)state;
    double mass[5] = {1, 1, 1, 1, 1};
    static const char *const spreading[] = {"simultaneous", "poisson", "dissipative"};
    static const char *const passing[] = {"propagation", "energetic", "reflection"};
    for (int d = 1; d <= 3; d++)
        for (int k = 0; k < 3; k++) {
            scene *s = scene_chain(d, 3, mass, (double[]){1, 0, 0}, 0.3, 1);
            impact_answer a;
            resolve(s, spreading[k], &a);
            check_speeds(&a, 3, (double[]){-1.0 / 3, 2.0 / 3, 2.0 / 3});
            assert_near(a.r[0], 4.0 / 3, 1e-13);
            assert_near(a.r[d], 2.0 / 3, 1e-13);
            assert_near(a.info.energy_change, 0, 1e-13);
            resolve(s, passing[k], &a);
            check_speeds(&a, 3, (double[]){0, 0, 1});
            assert_near(a.info.energy_change, 0, 1e-13);
            free(s);
            s = scene_chain(d, 5, mass, (double[]){1, 0, 0, 0, 0}, 0, 1);
            resolve(s, spreading[k], &a);
            check_speeds(&a, 5, (double[]){-0.6, 0.4, 0.4, 0.4, 0.4});
            resolve(s, passing[k], &a);
            check_speeds(&a, 5, (double[]){0, 0, 0, 0, 1});
            free(s);
            s = scene_chain(d, 5, mass, (double[]){1, 1, 0, 0, 0}, 0, 1);
            resolve(s, spreading[k], &a);
            check_speeds(&a, 5, (double[]){-0.2, -0.2, 0.8, 0.8, 0.8});
            assert_near(a.info.energy_change, 0, 1e-13);
            resolve(s, passing[k], &a);
            check_speeds(&a, 5, (double[]){0, 0, 0, 1, 1});
            free(s);
        }
}

/* Baraff 1989, figure 12: a heavy ball onto a light one that lies on the floor. */
static scene *heavy_on_light(double ratio) {
    scene *s = scene_make(1);
    uint32_t heavy = scene_body(s, ratio, (rg_vec3){1, 1, 1});
    uint32_t light = scene_body(s, 1, (rg_vec3){1, 1, 1});
    rg_vec3 up = {0, 0, 1}, zero = {0, 0, 0};
    scene_velocity(s, heavy, (rg_vec3){0, 0, -1}, zero);
    scene_contact(s, heavy, light, up, zero, zero, 0, 0);
    scene_contact(s, light, FIXED, up, zero, zero, 0, 0);
    return s;
}

static void mass_nine(void **state) {
    (void)state;
    double ratios[3] = {9, 1e3, 1e6};
    static const char *const one_solve[] = {"simultaneous", "poisson", "reflection", "dissipative"};
    for (int i = 0; i < 3; i++) {
        scene *s = heavy_on_light(ratios[i]);
        impact_answer a;
        for (int k = 0; k < 4; k++) {
            resolve(s, one_solve[k], &a);
            assert_int_equal(a.info.rounds, 1);
            assert_int_equal(a.info.solves, 1);
            assert_near(a.r[0], ratios[i], fmax(1e-12, 1e-15 * ratios[i]) * ratios[i]);
            assert_near(a.r[1], ratios[i], fmax(1e-12, 1e-15 * ratios[i]) * ratios[i]);
            assert_near(a.v[2], 0, 1e-15 * ratios[i]);
            assert_near(a.v[8], 0, 1e-15 * ratios[i]);
        }
        free(s);
    }
    scene *s = heavy_on_light(9);
    impact_answer a;
    double power = 1;
    for (uint64_t n = 1; n <= 44; n++) {
        power *= 0.9;
        resolve_limited(s, "propagation", 2 * n - 1, &a);
        assert_near(a.v[2], -power, 1e-14);
        assert_int_equal(a.info.outcome, RG_IMPACT_ROUNDS);
        assert_near(a.info.left, power, 1e-14);
        assert_true(strstr(a.info.text, "still approach") != NULL);
    }
    assert_true(-a.v[2] < 0.01); /* 44 rounds to 1 % */
    resolve(s, "propagation", &a);
    free(s);
    s = heavy_on_light(1e6); /* hopeless pair by pair: stopped at the cap */
    resolve_limited(s, "propagation", 0, &a);
    assert_int_equal(a.info.outcome, RG_IMPACT_ROUNDS);
    assert_near(a.v[2], 0, 1e-9);
    assert_true(a.info.left <= s->still);
    free(s);
}

/* Baraff 1989, figure 13: A is struck from below by C and pushed away from B on which it also
 * rests. */
static void pushed_off(void **state) {
    (void)state;
    for (size_t k = 0; k < rg_impact_law_count(); k++) {
        scene *s = scene_make(1);
        rg_vec3 up = {0, 0, 1}, zero = {0, 0, 0};
        uint32_t a = scene_body(s, 1, (rg_vec3){1, 1, 1});
        uint32_t c = scene_body(s, 3, (rg_vec3){1, 1, 1});
        scene_velocity(s, c, (rg_vec3){0, 0, 2}, zero);
        scene_contact(s, a, FIXED, up, zero, zero, 0, 0.5);
        scene_contact(s, a, c, up, zero, zero, 0, 0.5);
        impact_answer out;
        resolve(s, rg_impact_law_name(rg_impact_law_at(k)), &out);
        assert_true(out.r[0] == 0);
        assert_near(out.v[2] - out.v[8], 1, 1e-14);
        free(s);
    }
}

/* Giang 2003, eq. 1-21: a unit square of unit mass (inertia 1/6) that lands on one corner, or
 * two. */
static void square(void **state) {
    (void)state;
    for (int d = 1; d <= 3; d++)
        for (size_t k = 0; k < rg_impact_law_count(); k++)
            for (int corners = 1; corners <= 2; corners++) {
                scene *s = scene_make(d);
                uint32_t body = scene_body(s, 1, (rg_vec3){1.0 / 6, 1.0 / 6, 1.0 / 6});
                scene_velocity(s, body, (rg_vec3){0, -1, 0}, (rg_vec3){0, 0, 0});
                for (int i = 0; i < corners; i++)
                    scene_contact(s, body, FIXED, (rg_vec3){0, 1, 0},
                                  (rg_vec3){i == 0 ? -0.5 : 0.5, -0.5, 0}, (rg_vec3){0, 0, 0}, 0,
                                  0.5);
                impact_answer a;
                resolve(s, rg_impact_law_name(rg_impact_law_at(k)), &a);
                for (int i = 0; i < corners; i++)
                    assert_near(a.r[i * d], corners == 1 ? 0.6 : 0.75, 1e-13);
                if (corners == 2)
                    assert_near(a.v[5], 0, 1e-14);
                free(s);
            }
}

/* Baraff 1994 survey, section 6: a cube on its four lower corners at once, also with friction.
 * Redundant: W is singular. */
static void cube(void **state) {
    (void)state;
    for (size_t k = 0; k < rg_impact_law_count(); k++)
        for (int i = 0; i < 9; i++) {
            double e = 0.5 * (i % 3), mu = 0.4 * (i / 3);
            scene *s = scene_make(3);
            uint32_t body = scene_body(s, 2, (rg_vec3){1.0 / 3, 1.0 / 3, 1.0 / 3});
            scene_velocity(s, body, (rg_vec3){0, 0, -3}, (rg_vec3){0, 0, 0});
            for (int c = 0; c < 4; c++)
                scene_contact(s, body, FIXED, (rg_vec3){0, 0, 1},
                              (rg_vec3){c & 1 ? 0.5 : -0.5, c & 2 ? 0.5 : -0.5, -0.5},
                              (rg_vec3){0, 0, 0}, mu, e);
            impact_answer a;
            resolve(s, rg_impact_law_name(rg_impact_law_at(k)), &a);
            assert_near(a.r[0] + a.r[3] + a.r[6] + a.r[9], (1 + e) * 2 * 3, 1e-9);
            for (int j = 3; j < 6; j++)
                assert_near(a.v[j], 0, 1e-9);
            assert_near(a.v[2], 3 * e, 1e-9);
            free(s);
        }
}

/* A cube or a planar square of side 1 that lands flat at 2 m/s while it slides at 3 m/s, e = 0.5,
 * mu = 0.2: it leaves flat at 1 m/s, slowed by mu (1 + e) 2 m/s to 2.4 m/s along its way, its front
 * corners loaded more. */
static void sliding_flat(void **state) {
    (void)state;
    static const char *const laws[] = {"reflection", "dissipative", "simultaneous"};
    static const double headings[] = {0, 0.3, 0.785398163397448, 2};
    for (int k = 0; k < 3; k++)
        for (int h = 0; h < 8; h++) {
            bool planar = h >= 4;
            double x = planar ? 1 - 2 * (h % 2) : cos(headings[h]),
                   z = planar ? 0 : sin(headings[h]);
            scene *s = scene_make(planar ? 2 : 3);
            uint32_t body = scene_body(s, 2, (rg_vec3){1.0 / 3, 1.0 / 3, 1.0 / 3});
            scene_velocity(s, body, (rg_vec3){3 * x, -2, 3 * z}, (rg_vec3){0, 0, 0});
            for (int c = 0; c < (planar ? 2 : 4); c++)
                scene_contact(s, body, FIXED, (rg_vec3){0, 1, 0},
                              (rg_vec3){c & 1 ? 0.5 : -0.5, -0.5,
                                        planar  ? 0
                                        : c & 2 ? 0.5
                                                : -0.5},
                              (rg_vec3){0, 0, 0}, 0.2, 0.5);
            impact_answer a;
            resolve(s, laws[k], &a);
            const double expected[6] = {2.4 * x, 1, 2.4 * z, 0, 0, 0};
            for (int j = 0; j < 6; j++)
                assert_near(a.v[j], expected[j], 1e-9);
            assert_near(a.info.energy_change, 5.76 + 1 - 9 - 4, 1e-9);
            free(s);
        }
}

/* The rod for which Newton's law, with friction along the first slip, gains 34.7 J. */
static void rod(void **state) {
    (void)state;
    double sine = sin(1.2), cosine = cos(1.2);
    for (size_t k = 0; k < rg_impact_law_count(); k++)
        for (int side = -1; side <= 1; side += 2)
            for (int d = 2; d <= 3; d++) {
                scene *s = scene_make(d);
                uint32_t body = scene_body(s, 1, (rg_vec3){1.0 / 3, 1.0 / 3, 1.0 / 3});
                scene_velocity(s, body, (rg_vec3){-0.2, -1, 0}, (rg_vec3){0, 0, 0});
                scene_contact(s, body, FIXED, (rg_vec3){0, 1, 0},
                              (rg_vec3){side * cosine, -sine, 0}, (rg_vec3){0, 0, 0}, 1, 1);
                impact_answer a;
                resolve(s, rg_impact_law_name(rg_impact_law_at(k)), &a);
                assert_true(a.info.energy_change <= 1e-15);
                assert_true(a.r[0] > 0);
                free(s);
            }
}

/* Baraff 1989, end of section 8: two links on a pivot, the end of the second struck: joints and one
 * contact are one linear system. */
static void articulated(void **state) {
    (void)state;
    for (size_t k = 0; k < rg_impact_law_count(); k++) {
        scene *s = scene_make(1);
        rg_vec3 x = {1, 0, 0}, y = {0, 1, 0}, zero = {0, 0, 0};
        rg_vec3 inertia = {1.0 / 12, 1.0 / 12, 1.0 / 12};
        uint32_t first = scene_body(s, 1, inertia), second = scene_body(s, 2, inertia);
        /* both turn about the pivot at the origin, links along +x */
        scene_velocity(s, first, (rg_vec3){0, -0.5, 0}, (rg_vec3){0, 0, -1});
        scene_velocity(s, second, (rg_vec3){0, -1.5, 0}, (rg_vec3){0, 0, -1});
        rg_vec3 left = {-0.5, 0, 0}, right = {0.5, 0, 0};
        scene_joint(s, first, FIXED, x, left, zero);
        scene_joint(s, first, FIXED, y, left, zero);
        scene_joint(s, second, first, x, left, right);
        scene_joint(s, second, first, y, left, right);
        scene_joint(s, second, first, rg_normalised((rg_vec3){1, 1, 0}), left, right); /* again */
        scene_contact(s, second, FIXED, y, (rg_vec3){0.3, 0, 0}, zero, 0, 0.25);
        impact_answer a;
        resolve(s, rg_impact_law_name(rg_impact_law_at(k)), &a);
        /* In angles t1, t2: M = [[1/3 + 2, 1], [1, 2/3 - ...]]; the contact's row c = (1, 0.8). */
        double m11 = 1.0 / 12 + 0.25 + 2, m12 = 2 * 1 * 0.5, m22 = 1.0 / 12 + 2 * 0.25;
        double det = m11 * m22 - m12 * m12, c1 = 1, c2 = 0.8;
        double d1 = (m22 * c1 - m12 * c2) / det, d2 = (m11 * c2 - m12 * c1) / det;
        double speed = -1.8, j = -1.25 * speed / (c1 * d1 + c2 * d2);
        assert_near(a.r[0], j, 1e-12);
        assert_near(a.v[5], -1 + d1 * j, 1e-12);
        assert_near(a.v[11], -1 + d2 * j, 1e-12);
        for (size_t i = 1; i < 6; i++)
            assert_near(a.u[i], 0, 1e-12);
        free(s);
    }
}

/* Joint rows that move before the impact are stopped, and that is said. */
static void joint_that_moves(void **state) {
    (void)state;
    scene *s = scene_make(1);
    rg_vec3 x = {1, 0, 0}, y = {0, 1, 0}, zero = {0, 0, 0};
    uint32_t body = scene_body(s, 2, (rg_vec3){1, 1, 1});
    scene_velocity(s, body, (rg_vec3){3, -1, 0}, zero);
    scene_joint(s, body, FIXED, x, zero, zero);
    scene_contact(s, body, FIXED, y, zero, zero, 0, 1);
    impact_answer a;
    for (size_t k = 0; k < rg_impact_law_count(); k++) {
        resolve(s, rg_impact_law_name(rg_impact_law_at(k)), &a);
        assert_near(a.v[0], 0, 1e-15);
        assert_near(a.v[1], 1, 1e-15);
        assert_near(a.info.joint_change, -9, 1e-14);
        assert_near(a.info.normal_change, 0, 1e-14);
    }
    free(s);
}

/* A wall that moves as prescribed: its work is told apart, the rest is as at rest. */
static void moving_wall(void **state) {
    (void)state;
    for (size_t k = 0; k < rg_impact_law_count(); k++) {
        scene *s = scene_make(2);
        uint32_t body = scene_body(s, 2, (rg_vec3){1, 1, 1});
        scene_velocity(s, body, (rg_vec3){0, 1, 0}, (rg_vec3){0, 0, 0});
        scene_contact(s, body, FIXED, (rg_vec3){0, 1, 0}, (rg_vec3){0, -1, 0}, (rg_vec3){0, 0, 0},
                      0.5, 0.5);
        s->q[0] = s->moving[0] = -4; /* the wall rises at 4 m/s */
        for (int form = 0; form < 2; form++) {
            rg_impact_problem p = scene_problem(s, (rg_contact_form)form);
            p.moving = s->moving;
            double r[2], v[6];
            rg_impact_info info;
            assert_int_equal(
                rg_impact_resolve(context, rg_impact_law_at(k), &p, r, NULL, &info, NULL), RG_OK);
            scene_after(s, r, v);
            assert_near(v[1], 5.5, 1e-13); /* leaves at 0.5 x 3 from the wall */
            double change = scene_energy(s, v) - scene_energy(s, s->v);
            assert_near(info.prescribed_work, 4 * r[0], 1e-13);
            assert_near(info.energy_change + info.prescribed_work, change, 1e-12);
            assert_near(info.energy_change, -0.5 * 2 * 9 * 0.75, 1e-12);
        }
        free(s);
    }
}

/* A ball that strikes a wall while it slides along it: its normal and its friction do not know of
 * each other. The normal takes (1 - e^2) m v^2 / 2; friction slips to the end, or makes it roll
 * (2/7 of the slip is left to the spin of a ball with 2/5 m r^2). */
static void work_of_normals_and_friction(void **state) {
    (void)state;
    const double mass = 2, v = 3, slip = 1.5;
    for (size_t k = 0; k < rg_impact_law_count(); k++)
        for (int i = 0; i < 8; i++) {
            double e = i % 2 ? 0.5 : 0, mu = i % 4 < 2 ? 0.05 : 2, radius = i < 4 ? 1 : 0.25;
            double inertia = 0.4 * mass * radius * radius, push = (1 + e) * mass * v;
            scene *s = scene_make(3);
            uint32_t body = scene_body(s, mass, (rg_vec3){inertia, inertia, inertia});
            scene_velocity(s, body, (rg_vec3){slip, -v, 0}, (rg_vec3){0, 0, 0});
            scene_contact(s, body, FIXED, (rg_vec3){0, 1, 0}, (rg_vec3){0, -radius, 0},
                          (rg_vec3){0, 0, 0}, mu, e);
            impact_answer a;
            resolve(s, rg_impact_law_name(rg_impact_law_at(k)), &a);
            double p = fmin(mu * push, 2 * mass * slip / 7); /* along the wall */
            assert_near(a.info.normal_change, -(1 - e * e) * mass * v * v / 2, 1e-12);
            assert_near(a.info.friction_change, -p * slip + 3.5 * p * p / (2 * mass), 1e-12);
            free(s);
        }
}

/* Nothing approaches: nothing happens. Slower than `still` counts as that. */
static void nothing(void **state) {
    (void)state;
    for (size_t k = 0; k < rg_impact_law_count(); k++)
        for (int i = 0; i < 3; i++) {
            scene *s = scene_chain(3, 3, (double[]){1, 2, 3},
                                   i == 0   ? (double[]){0, 0, 0}
                                   : i == 1 ? (double[]){0, 1, 2}
                                            : (double[]){1e-4, 0, 1},
                                   0.5, 0.5);
            s->still = 1e-3;
            impact_answer a;
            resolve(s, rg_impact_law_name(rg_impact_law_at(k)), &a);
            for (int j = 0; j < 6; j++)
                assert_true(a.r[j] == 0);
            assert_int_equal(a.info.rounds, 0);
            free(s);
        }
    for (size_t k = 0; k < rg_impact_law_count(); k++) { /* no contacts at all */
        scene *s = scene_make(3);
        scene_body(s, 1, (rg_vec3){1, 1, 1});
        impact_answer a;
        resolve(s, rg_impact_law_name(rg_impact_law_at(k)), &a);
        free(s);
    }
}

/* Footnote 9: a contact that separates is discarded, pushed into, and met in a second round. */
static void second_round(void **state) {
    (void)state;
    double mass[3] = {1, 1, 1};
    scene *s = scene_chain(1, 3, mass, (double[]){3, 0, 1}, 0, 1);
    impact_answer a;
    resolve(s, "simultaneous", &a);
    assert_int_equal(a.info.rounds, 2);
    check_speeds(&a, 3, (double[]){0, 1, 3});
    assert_near(a.info.energy_change, 0, 1e-14);
    free(s);
}

/* No impulse can move it: said, not looped over. */
static void immovable(void **state) {
    (void)state;
    double w[4] = {0, 0, 0, 1}, q[2] = {-1, -1}, r[2], u[2], e[2] = {1, 1};
    for (size_t k = 0; k < rg_impact_law_count(); k++) {
        rg_impact_problem p = {.restitution = e, .contact.kind = RG_PROBLEM_CONTACT};
        p.contact.contact = (rg_contact_problem){
            .dimension = 1, .contacts = 2, .w = {.rows = 2, .columns = 2, .dense = w}, .q = q};
        rg_impact_info info;
        assert_int_equal(rg_impact_resolve(context, rg_impact_law_at(k), &p, r, u, &info, NULL),
                         RG_OK);
        assert_int_equal(info.outcome, RG_IMPACT_UNSOLVED);
        assert_true(r[0] == 0);
        assert_near(u[1], 1, 1e-15);
        assert_near(info.left, 1, 1e-15);
        assert_true(strstr(info.text, "contact 0") != NULL);
    }
}

/* Joint rows with bounds: a motor that can give 0.3 N s against a ball that pushes 1, and a stop.
 */
static void bounded_joints(void **state) {
    (void)state;
    double lower[2] = {-0.3, 0}, upper[2] = {0.3, INFINITY};
    for (size_t k = 0; k < rg_impact_law_count(); k++) {
        scene *s = scene_make(1);
        rg_vec3 x = {1, 0, 0}, zero = {0, 0, 0};
        uint32_t ball = scene_body(s, 1, (rg_vec3){1, 1, 1});
        uint32_t cart = scene_body(s, 1, (rg_vec3){1, 1, 1});
        uint32_t stop_block = scene_body(s, 2, (rg_vec3){1, 1, 1});
        scene_velocity(s, ball, (rg_vec3){1, 0, 0}, zero);
        scene_velocity(s, stop_block, (rg_vec3){-1, 0, 0}, zero);
        scene_contact(s, cart, ball, x, zero, zero, 0, 0);
        scene_joint(s, cart, FIXED, x, zero, zero);
        scene_joint(s, stop_block, FIXED, x, zero, zero);
        rg_impact_problem p = scene_problem(s, RG_FORM_LOCAL);
        p.contact.contact.lower = lower, p.contact.contact.upper = upper;
        double r[3], u[3];
        rg_impact_info info;
        assert_int_equal(rg_impact_resolve(context, rg_impact_law_at(k), &p, r, u, &info, NULL),
                         RG_OK);
        /* ball and cart go on together with what the motor leaves of the momentum */
        assert_near(u[0], 0, 2e-9);
        assert_near(u[1], 0.35, 2e-9);
        assert_near(r[1], -0.3, 1e-12);
        assert_near(r[2], 2, 1e-12);
        assert_near(u[2], 0, 1e-12);
        assert_int_equal(info.outcome, RG_IMPACT_RESOLVED);
        assert_true(info.energy_change < 0);
        s->v[0] = -1; /* the ball goes away: only the stop acts */
        p = scene_problem(s, RG_FORM_LOCAL);
        p.contact.contact.lower = lower, p.contact.contact.upper = upper;
        assert_int_equal(rg_impact_resolve(context, rg_impact_law_at(k), &p, r, u, &info, NULL),
                         RG_OK);
        assert_true(r[0] == 0 && r[1] == 0);
        assert_near(r[2], 2, 1e-12);
        assert_int_equal(info.outcome, RG_IMPACT_RESOLVED);
        free(s);
    }
}

/* A ball between two walls that close: there is no answer, and that is said. */
static void closing_walls(void **state) {
    (void)state;
    for (size_t k = 0; k < rg_impact_law_count(); k++) {
        double w[4] = {1, -1, -1, 1}, q[2] = {-1, -1}, e[2] = {0.5, 0.5}, r[2], u[2];
        rg_impact_problem p = {.restitution = e, .moving = q, .contact.kind = RG_PROBLEM_CONTACT};
        p.contact.contact = (rg_contact_problem){
            .dimension = 1, .contacts = 2, .w = {.rows = 2, .columns = 2, .dense = w}, .q = q};
        rg_impact_info info;
        assert_int_equal(rg_impact_resolve(context, rg_impact_law_at(k), &p, r, u, &info, NULL),
                         RG_OK);
        assert_int_equal(info.outcome, RG_IMPACT_UNSOLVED);
        assert_true(info.left > 0.1 && info.text[0] != 0);
        for (int i = 0; i < 2; i++)
            assert_true(isfinite(r[i]) && isfinite(u[i]) && r[i] >= 0);
    }
}

/* Corners of one face that do not arrive equally fast: told to be one pair, they are one impact. */
static void pairs(void **state) {
    (void)state;
    static const char *const names[] = {"propagation", "energetic"};
    for (int k = 0; k < 2; k++)
        for (int friction = 0; friction < 2; friction++) {
            scene *s = scene_make(3);
            uint32_t body = scene_body(s, 2, (rg_vec3){0.4, 0.4, 0.4});
            scene_velocity(s, body, (rg_vec3){0.3, 0, -3}, (rg_vec3){0.2, -0.1, 0});
            for (int c = 0; c < 4; c++)
                scene_contact(s, body, FIXED, (rg_vec3){0, 0, 1},
                              (rg_vec3){c & 1 ? 0.5 : -0.5, c & 2 ? 0.5 : -0.5, -0.5},
                              (rg_vec3){0, 0, 0}, 0.4 * friction, 0);
            rg_impact_problem p = scene_problem(s, RG_FORM_GLOBAL);
            double r[12], v[6];
            rg_impact_info info;
            assert_int_equal(
                rg_impact_resolve(context, rg_impact_law_find(names[k]), &p, r, NULL, &info, NULL),
                RG_OK);
            uint64_t alone = info.rounds;
            uint32_t pair[4] = {7, 7, 7, 7};
            p.pair = pair;
            assert_int_equal(
                rg_impact_resolve(context, rg_impact_law_find(names[k]), &p, r, NULL, &info, NULL),
                RG_OK);
            assert_true(alone > 2);
            assert_int_equal(info.rounds, 1);
            scene_after(s, r, v);
            assert_near(v[2], 0, 1e-9); /* flat on the floor */
            assert_near(v[3], 0, 1e-9);
            assert_near(v[4], 0, 1e-9);
            free(s);
        }
}

/* Baraff 1994 survey, section 7.1: the rod at tan = 2 with mu = 2, which no forces hold. */
static void along_the_ray(void **state) {
    (void)state;
    double c = 1 / sqrt(5), sine = 2 / sqrt(5), v0 = 3, m = 2;
    for (int d = 2; d <= 3; d++)
        for (int with_ray = 0; with_ray < 2; with_ray++) {
            scene *s = scene_make(d);
            uint32_t body = scene_body(s, m, (rg_vec3){m / 3, m / 3, m / 3});
            /* the tip ahead of the centre of mass, sliding along x; the tangent is n x z = x */
            scene_velocity(s, body, (rg_vec3){v0, 0, 0}, (rg_vec3){0, 0, 0});
            scene_contact(s, body, FIXED, (rg_vec3){0, 1, 0}, (rg_vec3){c, -sine, 0},
                          (rg_vec3){0, 0, 0}, 2, 0.7);
            rg_impact_problem p = scene_problem(s, RG_FORM_GLOBAL);
            double r[3], u[3], ray[3] = {1, 0, 0};
            rg_impact_info info;
            assert_int_equal(
                rg_impact_along_ray(context, &p, with_ray ? ray : NULL, r, u, &info, NULL), RG_OK);
            assert_near(r[0], 0.3 * m * v0, 1e-14);
            assert_near(r[1], -0.4 * m * v0, 1e-14);
            assert_near(u[0], 0, 1e-14);
            assert_near(u[1], 0, 1e-14);
            assert_int_equal(info.outcome, RG_IMPACT_RESOLVED);
            assert_true(info.energy_change < 0);
            free(s);
        }
}

/* Two such rods that know nothing of each other, and a ray over both: each its own impulse. Then a
 * contact that does not jam, which has none. */
static void along_a_shared_ray(void **state) {
    (void)state;
    double c = 1 / sqrt(5), sine = 2 / sqrt(5);
    scene *s = scene_make(2);
    for (int i = 0; i < 2; i++) {
        uint32_t body = scene_body(s, 1, (rg_vec3){1.0 / 3, 1.0 / 3, 1.0 / 3});
        scene_velocity(s, body, (rg_vec3){1 + i, 0, 0}, (rg_vec3){0, 0, 0});
        scene_contact(s, body, FIXED, (rg_vec3){0, 1, 0}, (rg_vec3){c, -sine, 0},
                      (rg_vec3){0, 0, 0}, 2, 0);
    }
    rg_impact_problem p = scene_problem(s, RG_FORM_LOCAL);
    double r[4], u[4], ray[4] = {1, -2, 2, -4};
    rg_impact_info info;
    assert_int_equal(rg_impact_along_ray(context, &p, ray, r, u, &info, NULL), RG_OK);
    for (int i = 0; i < 2; i++) {
        assert_near(r[2 * i], 0.3 * (1 + i), 1e-13);
        assert_near(r[2 * i + 1], -0.4 * (1 + i), 1e-13);
    }
    s->v[0] = s->v[6] = -1; /* drawn, not pushed */
    p = scene_problem(s, RG_FORM_LOCAL);
    rg_error error;
    assert_int_equal(rg_impact_along_ray(context, &p, NULL, r, u, &info, &error), RG_NOT_FOUND);
    free(s);
}

/* Three contacts of a heap that jams (heap 15 of test_events, at 2.5933 s): the second one slides,
 * the third carries most. Straight along normals as they are loaded the energy first falls, by the
 * friction of the second one, then grows by 0.02 J before that has stopped: no impulse goes that
 * far. A thousand times slower the same happens, a thousand times smaller. */
static void along_a_ray_that_gains(void **state) {
    (void)state;
    double w[9][9] = {{0.131374, -0.0237636, -0.0599767, -0.0815319, 0.0233155, -0.11521,
                       -0.00326508, -0.0219797, -0.0609033},
                      {-0.0237636, 0.0886597, -0.0376675, -0.0348336, -0.083489, 0.0350322,
                       -0.00703165, 0.0348235, -0.00970253},
                      {-0.0599767, -0.0376675, 0.102648, 0.110592, 0.0329343, 0.0325889, 0.027177,
                       0.00774769, 0.079057},
                      {-0.0815319, -0.0348336, 0.110592, 0.213457, 0.0614682, -0.00625794,
                       0.0232264, 0.0147016, 0.0848616},
                      {0.0233155, -0.083489, 0.0329343, 0.0614682, 0.193096, -0.0153853, 0.00523599,
                       -0.0320476, 0.00621334},
                      {-0.11521, 0.0350322, 0.0325889, -0.00625794, -0.0153853, 0.228593,
                       -0.00405151, 0.021629, 0.039551},
                      {-0.00326508, -0.00703165, 0.027177, 0.0232264, 0.00523599, -0.00405151,
                       0.0413632, -0.00941347, 0.0284142},
                      {-0.0219797, 0.0348235, 0.00774769, 0.0147016, -0.0320476, 0.021629,
                       -0.00941347, 0.059839, -0.00524652},
                      {-0.0609033, -0.00970253, 0.079057, 0.0848616, 0.00621334, 0.039551,
                       0.0284142, -0.00524652, 0.0767423}};
    double q[9] = {0, -4.23273e-5, 5.57782e-5, 0, 0.053548, -0.172041, 0, 5.72392e-6, 3.08182e-5};
    double mu[3] = {0.916265, 0.916265, 0.916265}, e[3] = {0};
    double ray[9] = {[3] = 129.937, [6] = 472.535}, r[9], u[9], slow_r[9], slow_u[9];
    rg_impact_problem p = {.restitution = e, .still = 2.3e-4};
    p.contact.kind = RG_PROBLEM_CONTACT;
    p.contact.contact = (rg_contact_problem){.dimension = 3,
                                             .contacts = 3,
                                             .mu = mu,
                                             .form = RG_FORM_LOCAL,
                                             .w = {.rows = 9, .columns = 9, .dense = w[0]},
                                             .q = q};
    rg_impact_info info;
    assert_int_equal(rg_impact_along_ray(context, &p, ray, r, u, &info, NULL), RG_OK);
    assert_true(info.energy_change < 0);
    for (int i = 0; i < 3; i++)
        assert_true(u[3 * i] >= -p.still);
    for (int i = 0; i < 9; i++)
        q[i] *= 1e-3;
    p.still *= 1e-3;
    assert_int_equal(rg_impact_along_ray(context, &p, ray, slow_r, slow_u, &info, NULL), RG_OK);
    for (int i = 0; i < 9; i++) {
        assert_near(1e3 * slow_r[i], r[i], 1e-9);
        assert_near(1e3 * slow_u[i], u[i], 1e-9);
    }
}

/* A body between two walls that push with a thousand tonnes metre per second each, and differ by
 * the last digit: what is left of it is rounding, and no approach. A part in a million is one. */
static void rounding_is_no_approach(void **state) {
    (void)state;
    const double push = 1e6, more[] = {push * DBL_EPSILON, push * 1e-6};
    for (int k = 0; k < 2; k++) {
        scene *s = scene_make(2);
        uint32_t body = scene_body(s, 1, (rg_vec3){1, 1, 1});
        scene_contact(s, body, FIXED, (rg_vec3){1, 0, 0}, (rg_vec3){-1, 0, 0}, (rg_vec3){0, 0, 0},
                      0, 0);
        scene_contact(s, body, FIXED, (rg_vec3){-1, 0, 0}, (rg_vec3){1, 0, 0}, (rg_vec3){0, 0, 0},
                      0, 0);
        s->still = 1e-12;
        rg_impact_problem p = scene_problem(s, RG_FORM_LOCAL);
        rg_impact_session now;
        assert_int_equal(rg_impact_begin(&now, context, &p, NULL, NULL), RG_OK);
        double impulse[4] = {0};
        impulse[rg_impact_normal(&now.state, 0)] = push;
        impulse[rg_impact_normal(&now.state, 1)] = push + more[k];
        assert_int_equal(rg_impact_apply(&now.state, impulse, NULL), RG_OK);
        assert_true(rg_impact_fastest(&now.state) > s->still);
        assert_int_equal(rg_impact_goes_on(&now.state), k);
        rg_impact_end(&now);
        free(s);
    }
}

enum { PUSHES = 5 };

/* The least sum of squares of r >= 0 with sum r_i n_i = p: of all sets of directions in the plane
 * that can carry p, r_i = n_i . x with (sum n_i n_i') x = p. */
static double least_pushes(const rg_vec3 *n, rg_vec3 p, double *least) {
    double best = INFINITY;
    for (unsigned set = 1; set < 1U << PUSHES; set++) {
        double xx = 0, xy = 0, yy = 0, r[PUSHES] = {0}, sum = 0;
        bool pulls = false;
        for (int i = 0; i < PUSHES; i++)
            if (set >> i & 1)
                xx += n[i].x * n[i].x, xy += n[i].x * n[i].y, yy += n[i].y * n[i].y;
        double det = xx * yy - xy * xy;
        if (!(det > 1e-9))
            continue;
        rg_vec3 x = {(yy * p.x - xy * p.y) / det, (xx * p.y - xy * p.x) / det, 0};
        for (int i = 0; i < PUSHES; i++) {
            r[i] = set >> i & 1 ? rg_dot(n[i], x) : 0;
            pulls |= r[i] < 0;
            sum += r[i] * r[i];
        }
        if (!pulls && sum < best) {
            best = sum;
            memcpy(least, r, sizeof r);
        }
    }
    return best;
}

/* A ball pushed from several sides at once, some of them against each other, all around or nearly
 * along a line, where the rounds of the method of multipliers are just enough (of all seeds one
 * case in some hundred needs more, and its impulses stand): shared, the impulses are the smallest
 * that move it alike. */
static void shared_pushes_are_the_least(void **state) {
    (void)state;
    rg_random random = rg_random_make(1);
    for (int k = 0; k < 100; k++) {
        scene *s = scene_make(2);
        uint32_t body = scene_body(s, 1, (rg_vec3){1, 1, 1}), list[PUSHES];
        rg_vec3 n[PUSHES], all = {0, 0, 0};
        double impulse[2 * PUSHES] = {0}, least[PUSHES] = {0};
        for (int i = 0; i < PUSHES; i++) {
            double r = rg_random_unit(&random), spread = k % 2 ? 0.02 : RG_PI;
            double angle = rg_random_between(&random, -spread, spread) + (i < 3 ? 0 : RG_PI);
            n[i] = (rg_vec3){cos(angle), sin(angle), 0};
            scene_contact(s, body, FIXED, n[i], rg_neg(n[i]), (rg_vec3){0, 0, 0}, 0, 0);
            list[i] = (uint32_t)i;
            impulse[2 * i] = r;
            all = rg_add_scaled(all, r, n[i]);
        }
        rg_impact_problem p = scene_problem(s, RG_FORM_LOCAL);
        rg_impact_session now;
        assert_int_equal(rg_impact_begin(&now, context, &p, NULL, NULL), RG_OK);
        assert_int_equal(rg_impact_share(&now.state, list, PUSHES, impulse, NULL), RG_OK);
        assert_true(least_pushes(n, all, least) < INFINITY);
        for (int i = 0; i < PUSHES; i++)
            assert_near(impulse[2 * i], least[i], 1e-8);
        rg_impact_end(&now);
        free(s);
    }
}

static void bad_input(void **state) {
    (void)state;
    double mass[2] = {1, 1};
    scene *s = scene_chain(1, 2, mass, (double[]){1, 0}, 0, 1);
    double r[1];
    rg_error error;
    const rg_impact_law *law = rg_impact_law_at(0);
    rg_impact_problem p = scene_problem(s, RG_FORM_LOCAL);
    s->e[0] = 1.5;
    assert_int_equal(rg_impact_resolve(context, law, &p, r, NULL, NULL, &error),
                     RG_INVALID_ARGUMENT);
    assert_true(strstr(error.text, "contact 0") != NULL);
    s->e[0] = NAN;
    assert_int_equal(rg_impact_resolve(context, law, &p, r, NULL, NULL, NULL), RG_INVALID_ARGUMENT);
    s->e[0] = 1;
    p.still = -1;
    assert_int_equal(rg_impact_resolve(context, law, &p, r, NULL, NULL, NULL), RG_INVALID_ARGUMENT);
    p.still = 0;
    double moving[1] = {INFINITY};
    p.moving = moving;
    assert_int_equal(rg_impact_resolve(context, law, &p, r, NULL, NULL, NULL), RG_NOT_FINITE);
    p.moving = NULL;
    s->u[0] = NAN;
    assert_int_not_equal(rg_impact_resolve(context, law, &p, r, NULL, NULL, NULL), RG_OK);
    s->u[0] = -1;
    p.contact.kind = RG_PROBLEM_LINEAR;
    assert_int_equal(rg_impact_resolve(context, law, &p, r, NULL, NULL, NULL), RG_INVALID_ARGUMENT);
    p.contact.kind = RG_PROBLEM_CONTACT;
    assert_int_equal(rg_impact_resolve(context, law, &p, r, NULL, NULL, NULL), RG_OK);
    assert_near(r[0], 1, 1e-15);
    free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table),
        cmocka_unit_test(billiard),
        cmocka_unit_test(mass_nine),
        cmocka_unit_test(pushed_off),
        cmocka_unit_test(square),
        cmocka_unit_test(cube),
        cmocka_unit_test(sliding_flat),
        cmocka_unit_test(rod),
        cmocka_unit_test(articulated),
        cmocka_unit_test(joint_that_moves),
        cmocka_unit_test(moving_wall),
        cmocka_unit_test(work_of_normals_and_friction),
        cmocka_unit_test(nothing),
        cmocka_unit_test(second_round),
        cmocka_unit_test(immovable),
        cmocka_unit_test(bounded_joints),
        cmocka_unit_test(closing_walls),
        cmocka_unit_test(pairs),
        cmocka_unit_test(along_the_ray),
        cmocka_unit_test(along_a_shared_ray),
        cmocka_unit_test(along_a_ray_that_gains),
        cmocka_unit_test(rounding_is_no_approach),
        cmocka_unit_test(shared_pushes_are_the_least),
        cmocka_unit_test(bad_input),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
