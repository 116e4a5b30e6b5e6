/* One contact: every answer against the natural map, computed here in long double from the
 * definition; cases with a known answer; the polygon against its optimality conditions. */
#include "test_support.h"

#include "problem/problem.h"
#include "rigor/random.h"
#include "solve/solve_one_contact.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

static double largest(const double *values, int count) {
    double result = 0;
    for (int i = 0; i < count; i++)
        result = fmax(result, fabs(values[i]));
    return result;
}

/* |r - P_K(r - rho (u + mu |u_T| n))| / rho with rho = 3 / trace, and the size of the numbers in
 * it. */
static double natural_map(const double w[9], const double q[3], double mu, const double r[3],
                          double *size) {
    long double stiffness = ((long double)w[0] + w[4] + w[8]) / 3, u[3], y[3], f[3], p[3];
    for (int i = 0; i < 3; i++) {
        u[i] = q[i];
        for (int j = 0; j < 3; j++)
            u[i] += (long double)w[3 * i + j] * r[j];
        f[i] = stiffness * r[i];
        y[i] = f[i] - u[i];
    }
    y[0] -= mu * sqrtl(u[1] * u[1] + u[2] * u[2]);
    long double t = sqrtl(y[1] * y[1] + y[2] * y[2]);
    if (t <= mu * y[0]) {
        p[0] = y[0], p[1] = y[1], p[2] = y[2];
    } else if (mu * t <= -y[0]) {
        p[0] = p[1] = p[2] = 0;
    } else {
        p[0] = (y[0] + mu * t) / (1 + (long double)mu * mu);
        p[1] = mu * p[0] * y[1] / t, p[2] = mu * p[0] * y[2] / t;
    }
    long double sum = 0;
    for (int i = 0; i < 3; i++)
        sum += (f[i] - p[i]) * (f[i] - p[i]);
    /* mu |u_T| is among the numbers that are rounded. */
    *size = fmax(1, mu) * (largest(q, 3) + (double)stiffness * largest(r, 3));
    return (double)sqrtl(sum);
}

/* R diag(e) R' with random axes. */
static void random_matrix(rg_random *random, const double e[3], double w[9]) {
    rg_quat q = rg_random_rotation(random);
    double r[3][3] = {
        {1 - 2 * (q.y * q.y + q.z * q.z), 2 * (q.x * q.y - q.w * q.z), 2 * (q.x * q.z + q.w * q.y)},
        {2 * (q.x * q.y + q.w * q.z), 1 - 2 * (q.x * q.x + q.z * q.z), 2 * (q.y * q.z - q.w * q.x)},
        {2 * (q.x * q.z - q.w * q.y), 2 * (q.y * q.z + q.w * q.x),
         1 - 2 * (q.x * q.x + q.y * q.y)}};
    for (int i = 0; i < 3; i++)
        for (int j = i; j < 3; j++) {
            w[3 * i + j] = 0;
            for (int k = 0; k < 3; k++)
                w[3 * i + j] += r[i][k] * e[k] * r[j][k];
            w[3 * j + i] = w[3 * i + j];
        }
}

static double random_power(rg_random *random, double low, double high) {
    return pow(10, rg_random_between(random, low, high));
}

static void random_case(rg_random *random, double w[9], double q[3], double *mu) {
    double spread = rg_random_below(random, 4) == 0 ? -10 : -2, e[3];
    double unit = random_power(random, -6, 6), speed = random_power(random, -6, 6);
    for (int i = 0; i < 3; i++)
        e[i] = unit * random_power(random, spread, 0);
    random_matrix(random, e, w);
    for (int i = 0; i < 3; i++)
        q[i] = speed * rg_random_normal(random);
    if (rg_random_below(random, 4)) /* most of them closing */
        q[0] = -fabs(q[0]);
    *mu = rg_random_below(random, 8) ? rg_random_between(random, 0, 1.5)
                                     : random_power(random, -8, 3);
}

static void test_random_cases(void **state) {
    (void)state;
    rg_random random = rg_random_make(1);
    size_t modes[4] = {0};
    double worst = 0;
    for (int i = 0; i < 1000000; i++) {
        double w[9], q[3], mu, r[3], size;
        random_case(&random, w, q, &mu);
        rg_one_contact contact;
        rg_one_contact_prepare(&contact, 3, w, mu, 0);
        modes[rg_one_contact_solve(&contact, q, NULL, r)]++;
        double error = natural_map(w, q, mu, r, &size) / size;
        if (i % 4 == 0) { /* from a neighbour, or from anywhere */
            double near[3], again[3], away = i % 8 ? 1e-3 : 10;
            for (int k = 0; k < 3; k++)
                near[k] = r[k] * (1 + away * rg_random_normal(&random));
            rg_one_contact_solve(&contact, q, near, again);
            error = fmax(error, natural_map(w, q, mu, again, &size) / size);
        }
        worst = fmax(worst, error);
        if (!(error <= 1e-13))
            fail_msg("case %d: mu %g, r (%g, %g, %g): natural map %g of %g", i, mu, r[0], r[1],
                     r[2], error * size, size);
    }
    printf("open %zu, stick %zu, slip %zu, none %zu; worst natural map %.2g\n", modes[0], modes[1],
           modes[2], modes[3], worst);
    for (int mode = 0; mode < 3; mode++)
        assert_true(modes[mode] > 10000);
    assert_int_equal(modes[3], 0);
}

/* Constructed: choose r on the cone (or inside, or zero) and u by the law, then q = u - W r. */
static void test_constructed(void **state) {
    (void)state;
    rg_random random = rg_random_make(2);
    for (int i = 0; i < 100000; i++) {
        double e[3], w[9], r[3] = {0}, u[3] = {0}, q[3], found[3], mu;
        for (int k = 0; k < 3; k++)
            e[k] = random_power(&random, -1, 0);
        random_matrix(&random, e, w);
        /* Weak coupling: one answer only. */
        mu = rg_random_between(&random, 0.01, 0.1);
        double angle = rg_random_between(&random, 0, 6.283185307179586);
        int mode = (int)rg_random_below(&random, 3);
        if (mode == RG_ONE_CONTACT_OPEN) {
            for (int k = 0; k < 3; k++)
                u[k] = rg_random_normal(&random);
            u[0] = fabs(u[0]);
        } else {
            double share = mode == RG_ONE_CONTACT_STICK ? 0.99 * rg_random_unit(&random) : 1;
            r[0] = random_power(&random, -3, 3);
            r[1] = share * mu * r[0] * cos(angle), r[2] = share * mu * r[0] * sin(angle);
            double slip = mode == RG_ONE_CONTACT_SLIP ? random_power(&random, -3, 3) : 0;
            u[1] = -slip * cos(angle), u[2] = -slip * sin(angle);
        }
        for (int k = 0; k < 3; k++)
            q[k] = u[k] - (w[3 * k] * r[0] + w[3 * k + 1] * r[1] + w[3 * k + 2] * r[2]);
        rg_one_contact contact;
        rg_one_contact_prepare(&contact, 3, w, mu, 0);
        assert_int_equal(rg_one_contact_solve(&contact, q, NULL, found), mode);
        for (int k = 0; k < 3; k++)
            assert_near(found[k], r[k], 1e-11 * (r[0] + largest(u, 3)));
    }
}

/* Baraff 1994 survey, section 7.2: the rod at rest, tan = 2, mu = 2: f = (8.3385, 2.943),
 * sticks. */
static void test_rod(void **state) {
    (void)state;
    double c = 1 / sqrt(5), s = 2 / sqrt(5), g = 9.81;
    /* Tip ahead of the centre at (c, -s): normal (up) and tangent (along), m = l = 1, I = 1/3. */
    double w[4] = {1 + 3 * c * c, 3 * c * s, 3 * c * s, 1 + 3 * s * s}, q[3] = {-g, 0, 0}, r[3];
    rg_one_contact contact;
    rg_one_contact_prepare(&contact, 2, w, 2, 0);
    assert_int_equal(rg_one_contact_solve(&contact, q, NULL, r), RG_ONE_CONTACT_STICK);
    assert_near(r[0], 8.3385, 1e-12);
    assert_near(fabs(r[1]), 2.943, 1e-12);
    assert_true(r[2] == 0);
}

static void test_plain(void **state) {
    (void)state;
    rg_one_contact contact;
    double w1[1] = {2}, q[3] = {-3, 0, 0}, r[3];
    rg_one_contact_prepare(&contact, 1, w1, 0.5, 0);
    rg_one_contact_solve(&contact, q, NULL, r);
    assert_true(r[0] == 1.5 && r[1] == 0 && r[2] == 0);
    /* Ball on a plane, sliding: W = I / m, friction opposes the slip at mu m g h. */
    double w3[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, slide[3] = {-1, 3, -4};
    rg_one_contact_prepare(&contact, 3, w3, 0.5, 0);
    assert_int_equal(rg_one_contact_solve(&contact, slide, NULL, r), RG_ONE_CONTACT_SLIP);
    assert_near(r[0], 1, 1e-15);
    assert_near(r[1], -0.3, 1e-15);
    assert_near(r[2], 0.4, 1e-15);
    /* Exactly on the boundary of the cone: sticks. */
    double edge[3] = {-1, 0.3, -0.4};
    assert_int_equal(rg_one_contact_solve(&contact, edge, NULL, r), RG_ONE_CONTACT_STICK);
    assert_near(r[1], -0.3, 1e-15);
    /* Touching without closing. */
    double still[3] = {0, 1, 0};
    assert_int_equal(rg_one_contact_solve(&contact, still, NULL, r), RG_ONE_CONTACT_OPEN);
}

/* W of rank 2 and 1: where a force can meet the velocity, it is found. */
static void test_singular(void **state) {
    (void)state;
    rg_random random = rg_random_make(3);
    for (int i = 0; i < 20000; i++) {
        double e[3] = {1, i % 2 ? random_power(&random, -3, 0) : 0, 0}, w[9], q[3], r[3], size;
        random_matrix(&random, e, w);
        double x[3] = {rg_random_normal(&random), rg_random_normal(&random),
                       rg_random_normal(&random)};
        for (int k = 0; k < 3; k++) /* q in the range of W: r = -x makes u = 0 */
            q[k] = w[3 * k] * x[0] + w[3 * k + 1] * x[1] + w[3 * k + 2] * x[2];
        rg_one_contact contact;
        double mu = rg_random_between(&random, 0, 1);
        rg_one_contact_prepare(&contact, 3, w, mu, 0);
        rg_one_contact_mode mode = rg_one_contact_solve(&contact, q, NULL, r);
        for (int k = 0; k < 3; k++)
            assert_true(isfinite(r[k]));
        if (mode != RG_ONE_CONTACT_STUCK_BY_FORCE && largest(r, 3) < 1e6) {
            double error = natural_map(w, q, mu, r, &size) / size;
            if (!(error <= 1e-12))
                fail_msg("case %d, mode %d, mu %g, r %g %g %g: natural map %g", i, (int)mode, mu,
                         r[0], r[1], r[2], error);
        }
    }
    double zero[9] = {0}, open[3] = {1, 1, 0}, closing[3] = {-1, 0, 0}, r[3];
    rg_one_contact contact;
    rg_one_contact_prepare(&contact, 3, zero, 0.5, 0);
    assert_int_equal(rg_one_contact_solve(&contact, open, NULL, r), RG_ONE_CONTACT_OPEN);
    assert_int_equal(rg_one_contact_solve(&contact, closing, NULL, r),
                     RG_ONE_CONTACT_STUCK_BY_FORCE);
}

/* The law of the polygon: r_N >= 0, u_N >= 0, and no corner brakes more than r_T does. */
static void check_polygon(const double w[9], const double q[3], double mu, int directions,
                          const double r[3], double tolerance) {
    double u[3], size = largest(q, 3), stiffness = (w[0] + w[4] + w[8]) / 3;
    for (int i = 0; i < 3; i++)
        u[i] = q[i] + w[3 * i] * r[0] + w[3 * i + 1] * r[1] + w[3 * i + 2] * r[2];
    size += stiffness * largest(r, 3);
    assert_true(r[0] >= 0);
    assert_true(u[0] >= -tolerance * size);
    assert_true(fmin(stiffness * r[0], u[0]) <= tolerance * size);
    double least = INFINITY, half = acos(-1) / directions;
    for (int k = 0; k < directions; k++) {
        double d[2];
        rg_polygon_direction(directions, k, d);
        least = fmin(least, mu * r[0] * (d[0] * u[1] + d[1] * u[2]));
        /* Inside: along the normal of edge k not beyond the apothem. */
        double along = r[1] * cos((2 * k + 1) * half) + r[2] * sin((2 * k + 1) * half);
        assert_true(stiffness * (along - mu * r[0] * cos(half)) <= tolerance * size);
    }
    double braking = r[1] * u[1] + r[2] * u[2];
    assert_true((braking - least) * stiffness <= tolerance * size * size);
}

static void test_polygon(void **state) {
    (void)state;
    static const int sides[] = {4, 6, 8, 16, 256};
    rg_random random = rg_random_make(4);
    size_t modes[4] = {0};
    for (int i = 0; i < 40000; i++) {
        double e[3], w[9], q[3], r[3];
        for (int k = 0; k < 3; k++)
            e[k] = random_power(&random, -2, 0);
        random_matrix(&random, e, w);
        for (int k = 0; k < 3; k++)
            q[k] = rg_random_normal(&random);
        double mu = rg_random_between(&random, 0.01, 1.5);
        int directions = sides[i % 5];
        rg_one_contact contact;
        rg_one_contact_prepare(&contact, 3, w, mu, directions);
        modes[rg_one_contact_solve(&contact, q, NULL, r)]++;
        check_polygon(w, q, mu, directions, r, 1e-11);
    }
    for (int mode = 0; mode < 3; mode++)
        assert_true(modes[mode] > 1000);
    assert_int_equal(modes[3], 0);
}

/* Units do not matter: scaling by powers of two scales the answer exactly. */
static void test_scales(void **state) {
    (void)state;
    rg_random random = rg_random_make(5);
    for (int i = 0; i < 20000; i++) {
        double w[9], q[3], mu, r[3], big[9], fast[3], s[3];
        random_case(&random, w, q, &mu);
        rg_one_contact contact;
        rg_one_contact_prepare(&contact, 3, w, mu, 0);
        rg_one_contact_solve(&contact, q, NULL, r);
        for (int k = 0; k < 9; k++)
            big[k] = ldexp(w[k], 20);
        for (int k = 0; k < 3; k++)
            fast[k] = ldexp(q[k], -20);
        rg_one_contact_prepare(&contact, 3, big, mu, 0);
        rg_one_contact_solve(&contact, fast, NULL, s);
        for (int k = 0; k < 3; k++)
            assert_true(s[k] == ldexp(r[k], -40));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_cases), cmocka_unit_test(test_constructed),
        cmocka_unit_test(test_rod),          cmocka_unit_test(test_plain),
        cmocka_unit_test(test_singular),     cmocka_unit_test(test_polygon),
        cmocka_unit_test(test_scales),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
