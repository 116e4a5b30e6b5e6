/* One contact through an impact with friction: planar impacts in every mode of the Routh diagram,
 * impacts in space, and jamming, each against a plain integration of the sliding equations in small
 * steps of the normal impulse that knows nothing of phases. */
#include "test_support.h"

#include "impact_support.h"
#include "step/step_impact_sliding.h"

#include <stdio.h>

/* Explicit integration (fourth order where the slip is smooth): friction against the slip, sticking
 * by what would make the slip zero at the end of the step, cut to the cone. */
typedef struct fine {
    double u[3], r[3], lost, gained, compressed, work;
} fine;

static void fine_rate(const double w[9], double mu, const double u[3], double a[3], double f[3]) {
    double slip = sqrt(u[1] * u[1] + u[2] * u[2]);
    f[0] = 1, f[1] = -mu * u[1] / slip, f[2] = -mu * u[2] / slip;
    for (int i = 0; i < 3; i++)
        a[i] = w[3 * i] + w[3 * i + 1] * f[1] + w[3 * i + 2] * f[2];
}

/* The force that stops the slip within dp, or as near as the cone allows (projected gradient). */
static void fine_stop(const double w[9], double mu, const double u[3], double dp, double f[3]) {
    double x = 0, y = 0, rho = 1 / (w[4] + w[8]);
    for (int i = 0; i < 20000; i++) {
        double a = u[1] / dp + w[3] + w[4] * x + w[5] * y;
        double b = u[2] / dp + w[6] + w[7] * x + w[8] * y;
        double nx = x - rho * a, ny = y - rho * b, size = sqrt(nx * nx + ny * ny);
        if (size > mu)
            nx *= mu / size, ny *= mu / size;
        double moved = fabs(nx - x) + fabs(ny - y);
        x = nx, y = ny;
        if (moved < 1e-15)
            break;
    }
    f[0] = 1, f[1] = x, f[2] = y;
}

static void fine_step(const double w[9], double mu, double dp, fine *s) {
    double slip = sqrt(s->u[1] * s->u[1] + s->u[2] * s->u[2]), a[3], f[3], sum[3] = {0, 0, 0};
    double size = w[4] + w[8] + fabs(w[1]) + fabs(w[2]);
    if (slip > 4 * dp * size * (1 + mu)) {
        double c[4] = {0, 0.5, 0.5, 1}, b[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
        double last[3] = {0, 0, 0};
        for (int k = 0; k < 4; k++) {
            double at[3];
            for (int i = 0; i < 3; i++)
                at[i] = s->u[i] + c[k] * dp * last[i];
            fine_rate(w, mu, at, a, f);
            for (int i = 0; i < 3; i++)
                sum[i] += b[k] * f[i], last[i] = a[i];
        }
    } else {
        fine_stop(w, mu, s->u, dp, sum);
    }
    double before = s->u[0];
    for (int i = 0; i < 3; i++) {
        s->r[i] += dp * sum[i];
        s->u[i] += dp * (w[3 * i] * sum[0] + w[3 * i + 1] * sum[1] + w[3 * i + 2] * sum[2]);
    }
    double work = 0.5 * dp * (before + s->u[0]);
    s->work += work;
    if (before < 0)
        s->lost -= work, s->compressed += dp;
    else
        s->gained += work;
}

static fine fine_through(const double w[9], const double u[3], double mu, double e,
                         rg_slide_end end, double dp) {
    fine s = {.u = {u[0], u[1], u[2]}};
    bool started = false;
    for (long i = 0; i < 20000000; i++) {
        bool done = s.u[0] >= 0 && (end == RG_SLIDE_ENERGETIC ? s.gained >= e * e * s.lost
                                                              : s.r[0] >= (1 + e) * s.compressed);
        if (done && started)
            break;
        started = true;
        fine_step(w, mu, dp, &s);
    }
    return s;
}

/* A planar contact of a body of mass 1 and inertia k^2, at (x, -y) from the centre of mass. */
static void planar(double x, double y, double k, double w[9]) {
    memset(w, 0, 9 * sizeof *w);
    w[0] = 1 + x * x / (k * k), w[4] = 1 + y * y / (k * k);
    w[1] = w[3] = x * y / (k * k);
}

static double energy_of(const double w[9], const double u[3], const double r[3]) {
    double sum = 0;
    for (int i = 0; i < 3; i++)
        sum += r[i] * (u[i] + 0.5 * (w[3 * i] * r[0] + w[3 * i + 1] * r[1] + w[3 * i + 2] * r[2]));
    return sum;
}

static void velocity_after(const double w[9], const double u[3], const double r[3], double v[3]) {
    for (int i = 0; i < 3; i++)
        v[i] = u[i] + w[3 * i] * r[0] + w[3 * i + 1] * r[1] + w[3 * i + 2] * r[2];
}

/* In closed form by Routh's lines in the plane of impulses (Wang and Mason 1992): the line of
 * sticking u_T = 0, of maximum compression u_N = 0, of limiting friction; which is crossed first
 * says the mode. Poisson's hypothesis. */
static rg_slide_mode routh(const double w[9], const double u[3], double mu, double e, double *pn,
                           double *pt) {
    double sigma = u[1] > 0 ? 1 : u[1] < 0 ? -1 : 0;
    double b1 = w[4], b2 = w[0], b3 = -w[1] * sigma; /* along the slip */
    double slip = fabs(u[1]), into = -u[0];
    double braking = b3 + mu * b1, stopping = b2 + mu * b3;
    double ps = braking > 0 ? slip / braking : INFINITY; /* normal impulse at which slip ends */
    double pd = stopping > 0 ? into / stopping : INFINITY;
    double mus = fabs(w[1]) / b1;
    double reverse = w[1] > 0 ? 1 : -1; /* slides on this way if it cannot stick */
    if (pd < ps) {                      /* compression ends first */
        double whole = (1 + e) * pd;
        if (whole <= ps) {
            *pn = whole, *pt = -sigma * mu * whole;
            return RG_SLIDE_SLIDING;
        }
        double rest = whole - ps;
        *pn = whole;
        if (mus <= mu) {
            *pt = -sigma * mu * ps - w[1] / b1 * rest;
            return RG_SLIDE_R_STICKING;
        }
        *pt = -sigma * mu * ps - reverse * mu * rest;
        return RG_SLIDE_R_REVERSED;
    }
    double left = into - stopping * ps; /* approach when the slip ends */
    double rate = mus <= mu ? b2 - w[1] * w[1] / b1 : b2 - mu * fabs(w[1]);
    double pc = ps + left / rate;
    *pn = (1 + e) * pc;
    *pt = -sigma * mu * ps + (*pn - ps) * (mus <= mu ? -w[1] / b1 : -reverse * mu);
    return mus <= mu ? RG_SLIDE_C_STICKING : RG_SLIDE_C_REVERSED;
}

static void planar_modes(void **state) {
    (void)state;
    int seen[RG_SLIDE_MODES] = {0};
    rg_random random = rg_random_make(37);
    for (int i = 0; i < 20000; i++) {
        double w[9], k = rg_random_between(&random, 0.1, 2);
        planar(rg_random_between(&random, -2, 2), rg_random_between(&random, 0, 2), k, w);
        double u[3] = {-rg_random_between(&random, 0.1, 3), rg_random_between(&random, -3, 3), 0};
        if (i % 20 == 0)
            u[1] = 0;
        double mu = rg_random_between(&random, 0, 1.5), e = rg_random_unit(&random), pn, pt;
        rg_slide s = rg_slide_through(w, u, mu, e, RG_SLIDE_POISSON, 0);
        rg_slide_mode mode = routh(w, u, mu, e, &pn, &pt);
        assert_near(s.impulse[0], pn, 1e-12 * pn);
        assert_near(s.impulse[1], pt, 1e-12 * pn);
        assert_int_equal(s.mode, mode);
        assert_true(s.impulse[2] == 0);
        seen[s.mode]++;
    }
    for (int mode = RG_SLIDE_SLIDING; mode <= RG_SLIDE_R_REVERSED; mode++) {
        if (seen[mode] < 100)
            fail_msg("mode %d was seen %d times", mode, seen[mode]);
    }
    assert_int_equal(seen[RG_SLIDE_STUCK], 0);
}

static void planar_against_integration(void **state) {
    (void)state;
    rg_random random = rg_random_make(38);
    for (int i = 0; i < 60; i++) {
        double w[9], k = rg_random_between(&random, 0.3, 1.5);
        planar(rg_random_between(&random, -1, 1), rg_random_between(&random, 0, 1), k, w);
        double u[3] = {-1, rg_random_between(&random, -2, 2), 0};
        double mu = rg_random_between(&random, 0, 1.5), e = rg_random_unit(&random);
        rg_slide_end end = i % 2 ? RG_SLIDE_POISSON : RG_SLIDE_ENERGETIC;
        rg_slide s = rg_slide_through(w, u, mu, e, end, 0);
        fine f = fine_through(w, u, mu, e, end, 1e-5 * s.impulse[0]);
        for (int j = 0; j < 2; j++)
            assert_near(s.impulse[j], f.r[j], 1e-4 * s.impulse[0]);
        assert_near(s.normal_work, f.work, 2e-4);
    }
}

/* Stronge: the work of expansion is e^2 that of compression, exactly; energy never grows. */
static void energetic(void **state) {
    (void)state;
    rg_random random = rg_random_make(39);
    for (int i = 0; i < 3000; i++) {
        double w[9], a[9], u[3];
        bool flat = i % 2 == 0;
        for (int j = 0; j < 9; j++)
            a[j] = rg_random_between(&random, -1, 1);
        if (flat)
            a[2] = a[5] = a[6] = a[7] = 0;
        for (int j = 0; j < 9; j++) {
            w[j] = j % 4 == 0 ? 0.05 : 0;
            for (int k = 0; k < 3; k++)
                w[j] += a[j / 3 * 3 + k] * a[j % 3 * 3 + k];
        }
        u[0] = -rg_random_between(&random, 0.1, 2), u[1] = rg_random_between(&random, -2, 2);
        u[2] = flat ? 0 : rg_random_between(&random, -2, 2);
        double mu = rg_random_between(&random, 0, 2), e = (i % 5) / 4.0;
        rg_slide s = rg_slide_through(w, u, mu, e, RG_SLIDE_ENERGETIC, 0);
        assert_int_not_equal(s.mode, RG_SLIDE_STUCK);
        double v[3], size = 0.5 * u[0] * u[0] / w[0] + 0.5 * (u[1] * u[1] + u[2] * u[2]) / w[4];
        velocity_after(w, u, s.impulse, v);
        assert_true(v[0] >= -1e-11);
        if (e == 0)
            assert_near(v[0], 0, 1e-11);
        double change = energy_of(w, u, s.impulse);
        assert_true(change <= 1e-12 * size);
        assert_true(change <= s.normal_work + 1e-11 * size); /* friction only takes */
        assert_true(s.normal_work <= 1e-12 * size);
        if (e == 1)
            assert_near(s.normal_work, 0, 1e-10 * size);
        double t = sqrt(s.impulse[1] * s.impulse[1] + s.impulse[2] * s.impulse[2]);
        assert_true(t <= mu * s.impulse[0] * (1 + 1e-12));
        double vc[3]; /* the compression ends where nothing approaches */
        velocity_after(w, u, s.compression, vc);
        assert_near(vc[0], 0, 1e-11);
        double lost = energy_of(w, u, s.compression);
        assert_true(lost <= 0);
        if (s.mode >= RG_SLIDE_C_STICKING && !s.slipped_off) /* it stuck, and stayed so */
            assert_near(fabs(v[1]) + fabs(v[2]), 0, 1e-10);
    }
}

/* Keller's equations in space. */
static void space_against_integration(void **state) {
    (void)state;
    rg_random random = rg_random_make(40);
    int stuck = 0, slid_on = 0, slid = 0;
    for (int i = 0; i < 60; i++) {
        double w[9], a[9];
        for (int j = 0; j < 9; j++)
            a[j] = rg_random_between(&random, -1, 1);
        for (int j = 0; j < 9; j++) {
            w[j] = j % 4 == 0 ? 0.1 : 0;
            for (int k = 0; k < 3; k++)
                w[j] += a[j / 3 * 3 + k] * a[j % 3 * 3 + k];
        }
        double u[3] = {-1, rg_random_between(&random, -1, 1), rg_random_between(&random, -1, 1)};
        double mu = rg_random_between(&random, 0.05, 1), e = rg_random_unit(&random);
        rg_slide_end end = i % 2 ? RG_SLIDE_POISSON : RG_SLIDE_ENERGETIC;
        rg_slide s = rg_slide_through(w, u, mu, e, end, 0);
        fine f = fine_through(w, u, mu, e, end, 1e-5 * s.impulse[0]);
        for (int j = 0; j < 3; j++)
            assert_near(s.impulse[j], f.r[j], 3e-4 * s.impulse[0]);
        stuck += s.mode != RG_SLIDE_SLIDING && !s.slipped_off;
        slid_on += s.slipped_off, slid += s.mode == RG_SLIDE_SLIDING;
    }
    assert_true(stuck >= 5 && slid_on >= 2 && slid >= 5);
}

/* Slip that never stops: smooth, so that the plain integration shows the order of the agreement. */
static void space_smooth(void **state) {
    (void)state;
    double w[9] = {2, 0.3, -0.2, 0.3, 1.5, 0.4, -0.2, 0.4, 0.8}, u[3] = {-1, 2, 1.5};
    rg_slide s = rg_slide_through(w, u, 0.4, 0, RG_SLIDE_ENERGETIC, 0);
    assert_int_equal(s.mode, RG_SLIDE_SLIDING);
    fine f = {.u = {u[0], u[1], u[2]}};
    for (int i = 0; i < 2000; i++)
        fine_step(w, 0.4, s.impulse[0] / 2000, &f);
    for (int j = 0; j < 3; j++)
        assert_near(f.r[j], s.impulse[j], 1e-12);
    assert_near(f.u[0], 0, 1e-12);
    /* the work of compression by Simpson-like refinement is of second order: compare loosely */
    assert_near(f.work, s.normal_work, 1e-6);
}

/* In isotropic W the slip keeps its direction: the planar answer along it. */
static void space_like_plane(void **state) {
    (void)state;
    double w[9] = {1, 0, 0, 0, 3.5, 0, 0, 0, 3.5}, u[3] = {-2, 0.6, 0.8};
    rg_slide s = rg_slide_through(w, u, 0.05, 0.5, RG_SLIDE_ENERGETIC, 0);
    assert_near(s.impulse[0], 3, 1e-14); /* (1 + e) m v; friction mu of it: slides through */
    assert_near(s.impulse[1], -0.09, 1e-14);
    assert_near(s.impulse[2], -0.12, 1e-14);
    assert_int_equal(s.mode, RG_SLIDE_SLIDING);
    s = rg_slide_through(w, u, 0.5, 0.5, RG_SLIDE_ENERGETIC, 0); /* a sphere: sticks after 1/3.5 */
    assert_near(s.impulse[1], -0.6 / 3.5, 1e-14);
    assert_near(s.impulse[2], -0.8 / 3.5, 1e-14);
    assert_int_equal(s.mode, RG_SLIDE_C_STICKING);
}

/* Baraff 1994 survey, section 7.1: out of Painleve's inconsistency. tan = 2, mu = 2: N = 0.3 m v0,
 * T = 0.4 m v0, and it sticks. */
static void painleve(void **state) {
    (void)state;
    double w[9] = {1.6, 1.2, 0, 1.2, 3.4, 0, 0, 0, 1}, u[3] = {0, 1, 0};
    rg_slide s = rg_slide_through(w, u, 2, 0, RG_SLIDE_ENERGETIC, 0);
    assert_near(s.impulse[0], 0.3, 1e-15);
    assert_near(s.impulse[1], -0.4, 1e-15);
    double v[3];
    velocity_after(w, u, s.impulse, v);
    assert_near(v[0], 0, 1e-15);
    assert_near(v[1], 0, 1e-15);
    assert_int_equal(s.mode, RG_SLIDE_C_STICKING);
    u[1] = -1; /* the other way it does not jam: nothing happens */
    s = rg_slide_through(w, u, 2, 0, RG_SLIDE_ENERGETIC, 0);
    assert_true(s.impulse[0] == 0 && s.impulse[1] == 0);
    fine f = fine_through(w, (double[]){0, 1, 0}, 2, 0, RG_SLIDE_ENERGETIC, 1e-6);
    assert_near(f.r[0], 0.3, 1e-5);
    assert_near(f.r[1], -0.4, 1e-5);
}

/* In space the slip turns while it jams. */
static void painleve_in_space(void **state) {
    (void)state;
    double w[9] = {1.6, 1.2, 0, 1.2, 3.4, 0, 0, 0, 1};
    for (int i = 1; i < 5; i++) {
        double u[3] = {0, 1, 0.15 * i}, v[3];
        rg_slide s = rg_slide_through(w, u, 2, 0, RG_SLIDE_ENERGETIC, 0);
        fine f = fine_through(w, u, 2, 0, RG_SLIDE_ENERGETIC, 1e-5);
        for (int j = 0; j < 3; j++)
            assert_near(s.impulse[j], f.r[j], 1e-4);
        velocity_after(w, u, s.impulse, v);
        assert_near(v[0], 0, 1e-11);
        if (i == 1) { /* sticks, which says what the impulse is: -W^-1 u */
            assert_int_equal(s.mode, RG_SLIDE_C_STICKING);
            assert_near(s.impulse[0], 0.3, 1e-11);
            assert_near(s.impulse[1], -0.4, 1e-11);
            assert_near(s.impulse[2], -u[2], 1e-11);
        }
        assert_true(energy_of(w, u, s.impulse) < 0);
    }
}

/* Nearly singular W, much friction: jams, second compressions, stiff turning; always to the end. */
static void extremes(void **state) {
    (void)state;
    rg_random random = rg_random_make(41);
    int again = 0;
    for (int i = 0; i < 5000; i++) {
        double w[9], a[9], least = i % 3 == 0 ? 1e-4 : i % 3 == 1 ? 0.01 : 0.1;
        for (int j = 0; j < 9; j++)
            a[j] = rg_random_between(&random, -1, 1);
        for (int j = 0; j < 9; j++) {
            w[j] = j % 4 == 0 ? least : 0;
            for (int k = 0; k < 2 + i % 2; k++)
                w[j] += a[j / 3 * 3 + k] * a[j % 3 * 3 + k];
        }
        double u[3] = {-rg_random_between(&random, 0.01, 2), rg_random_between(&random, -2, 2),
                       rg_random_between(&random, -2, 2)};
        double mu = rg_random_between(&random, 0, 5), e = (i % 5) / 4.0, v[3];
        rg_slide s = rg_slide_through(w, u, mu, e, RG_SLIDE_ENERGETIC, 0);
        velocity_after(w, u, s.impulse, v);
        double size =
            fabs(u[0] * s.impulse[0]) + fabs(u[1] * s.impulse[1]) + fabs(u[2] * s.impulse[2]);
        assert_true(v[0] >= -1e-9);
        assert_true(energy_of(w, u, s.impulse) <= 1e-10 * size);
        assert_true(s.normal_work <= 1e-10 * size);
        assert_true(s.steps < 2000 && s.phases < 20);
        again += s.phases > 5;
    }
    assert_true(again > 50);
}

/* Nothing that moves along the normal, nothing at all, locked tangents, singular W. */
static void degenerate(void **state) {
    (void)state;
    double none[9] = {0}, u[3] = {-1, 1, 1};
    rg_slide s = rg_slide_through(none, u, 0.5, 0.5, RG_SLIDE_ENERGETIC, 0);
    assert_true(s.impulse[0] == 0);
    double locked[9] = {2, 0, 0, 0, 0, 0, 0, 0, 0};
    s = rg_slide_through(locked, u, 0.5, 0.5, RG_SLIDE_ENERGETIC, 0);
    assert_near(s.impulse[0], 0.75, 1e-15);
    double half[9] = {2, 0, 0.5, 0, 0, 0, 0.5, 0, 1}; /* the first tangent is locked */
    for (int i = 0; i < 20; i++) {
        s = rg_slide_through(half, u, 0.1 * i, 0.5, RG_SLIDE_ENERGETIC, 0);
        double v[3];
        velocity_after(half, u, s.impulse, v);
        assert_true(v[0] > 0);
        assert_true(energy_of(half, u, s.impulse) < 0);
    }
    double line[9] = {1, 2, 0, 2, 4, 0, 0, 0, 0}; /* one direction of mobility, jams and sticks */
    s = rg_slide_through(line, (double[]){-1, 1, 0}, 3, 0, RG_SLIDE_ENERGETIC, 0);
    assert_int_equal(s.mode, RG_SLIDE_STUCK);
    for (int i = 0; i < 3; i++)
        assert_true(isfinite(s.impulse[i]));
}

/* Units do not matter: W and u scaled over a wide range. */
static void scales(void **state) {
    (void)state;
    double w[9] = {2, 0.3, -0.9, 0.3, 1.5, 0.4, -0.9, 0.4, 0.8}, u[3] = {-1, 0.3, 0.4};
    rg_slide s = rg_slide_through(w, u, 0.7, 0.6, RG_SLIDE_ENERGETIC, 0);
    for (int i = -12; i <= 12; i += 6)
        for (int j = -12; j <= 12; j += 6) {
            double a = pow(10, i), b = pow(10, j), ws[9], us[3];
            for (int k = 0; k < 9; k++)
                ws[k] = a * w[k];
            for (int k = 0; k < 3; k++)
                us[k] = b * u[k];
            rg_slide t = rg_slide_through(ws, us, 0.7, 0.6, RG_SLIDE_ENERGETIC, 0);
            for (int k = 0; k < 3; k++)
                assert_near(t.impulse[k] * a / b, s.impulse[k], 1e-11);
            assert_int_equal(t.mode, s.mode);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planar_modes), cmocka_unit_test(planar_against_integration),
        cmocka_unit_test(energetic),    cmocka_unit_test(space_against_integration),
        cmocka_unit_test(space_smooth), cmocka_unit_test(space_like_plane),
        cmocka_unit_test(painleve),     cmocka_unit_test(painleve_in_space),
        cmocka_unit_test(extremes),     cmocka_unit_test(degenerate),
        cmocka_unit_test(scales),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
