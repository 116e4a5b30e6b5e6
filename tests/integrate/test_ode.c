/* The integrators against closed forms: observed order at fixed step, error control, dense output,
 * failure. */
#include "kepler.h"

#include "integrate/integrate_ode.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef struct problem {
    size_t calls;
    double poison_after; /* time from which the derivative is NaN */
    double dense_error, observed_steps;
} problem;

static void kepler(void *user, double t, const double *y, double *dydt) {
    problem *p = user;
    p->calls++;
    double r2 = y[0] * y[0] + y[1] * y[1], r3 = r2 * sqrt(r2);
    dydt[0] = y[2];
    dydt[1] = y[3];
    dydt[2] = -y[0] / r3;
    dydt[3] = t >= p->poison_after ? NAN : -y[1] / r3;
}

static void measure_dense(void *user, const rg_dense_output *dense) {
    problem *p = user;
    for (double theta = 0.125; theta < 1; theta += 0.125) {
        double y[4], exact[4];
        rg_dense_evaluate(dense, theta, y);
        kepler_exact(dense->begin + theta * dense->step, exact);
        p->dense_error = fmax(p->dense_error, distance(y, exact));
    }
    p->observed_steps++;
}

static rg_ode make_ode(problem *p) {
    *p = (problem){.poison_after = INFINITY};
    return (rg_ode){.n = 4, .user = p, .derivative = kepler, .scale = unit_scale};
}

typedef struct run {
    rg_status status;
    double error;
    rg_ode_info info;
} run;

static run run_dormand_prince(rg_ode *ode, double end, rg_ode_settings settings) {
    rg_arena scratch = rg_arena_make(NULL);
    double y[4], exact[4], step = 0;
    run r = {0};
    kepler_exact(0, y);
    r.status = rg_dormand_prince(&(rg_ode_run){ode, 0, end, settings, &scratch, &r.info}, y, &step);
    kepler_exact(end, exact);
    r.error = distance(y, exact);
    rg_arena_free(&scratch);
    return r;
}

static run run_adams(rg_ode *ode, double end, rg_ode_settings settings) {
    rg_arena scratch = rg_arena_make(NULL);
    double y[4], exact[4], phi[RG_ADAMS_VECTORS * 4];
    rg_adams_memory memory = {0};
    run r = {0};
    kepler_exact(0, y);
    r.status = rg_adams(&(rg_ode_run){ode, 0, end, settings, &scratch, &r.info}, y, &memory, phi);
    kepler_exact(end, exact);
    r.error = distance(y, exact);
    rg_arena_free(&scratch);
    return r;
}

static double order_between(double coarse, double fine) {
    return log2(coarse / fine);
}

static void dormand_prince_has_order_5(void **state) {
    (void)state;
    problem p;
    rg_ode ode = make_ode(&p);
    double coarse = run_dormand_prince(&ode, 6, (rg_ode_settings){.fixed_step = 0.01}).error;
    double fine = run_dormand_prince(&ode, 6, (rg_ode_settings){.fixed_step = 0.005}).error;
    assert_near(order_between(coarse, fine), 5, 0.2);
}

static void dense_output_has_order_4(void **state) {
    (void)state;
    double errors[2];
    for (int i = 0; i < 2; i++) {
        problem p;
        rg_ode ode = make_ode(&p);
        ode.observe = measure_dense;
        /* One short stretch near the pericentre, where the local error of the extension, of fifth
         * order in the step, stands above the error at the grid points. */
        run_dormand_prince(&ode, 0.4, (rg_ode_settings){.fixed_step = i ? 0.05 : 0.1});
        assert_int_equal((int)p.observed_steps, i ? 8 : 4);
        errors[i] = p.dense_error;
    }
    assert_near(order_between(errors[0], errors[1]), 5, 0.4);
}

static void adams_has_its_order(void **state) {
    (void)state;
    /* Steps small enough to show the order, large enough to stand above rounding. */
    for (int order = 2; order <= 8; order++) {
        problem p;
        rg_ode ode = make_ode(&p);
        double step = order < 7 ? 0.00625 : 0.025;
        double coarse =
            run_adams(&ode, 5, (rg_ode_settings){.fixed_step = step, .fixed_order = order}).error;
        double fine =
            run_adams(&ode, 5, (rg_ode_settings){.fixed_step = step / 2, .fixed_order = order})
                .error;
        print_message("Adams order %d: errors %.3g, %.3g: observed %.3f\n", order, coarse, fine,
                      order_between(coarse, fine));
        assert_near(order_between(coarse, fine), order, 0.2);
    }
}

/* The error after a revolution stays within a modest multiple of the tolerance per step, and falls
 * with it. */
static void error_follows_tolerance(void **state) {
    (void)state;
    for (int adams = 0; adams < 2; adams++) {
        double before = INFINITY;
        for (double tolerance = 1e-5; tolerance > 1e-13; tolerance /= 100) {
            problem p;
            rg_ode ode = make_ode(&p);
            rg_ode_settings settings = {.tolerance = tolerance};
            run r = adams ? run_adams(&ode, 6.2831853071795865, settings)
                          : run_dormand_prince(&ode, 6.2831853071795865, settings);
            print_message("%s, tolerance %.0e: error %.3g, %llu steps, %llu rejected, %llu f\n",
                          adams ? "adams" : "dormand-prince", tolerance, r.error,
                          (unsigned long long)r.info.accepted, (unsigned long long)r.info.rejected,
                          (unsigned long long)r.info.evaluations);
            assert_int_equal(r.status, RG_OK);
            assert_true(r.error < 2000 * tolerance);
            assert_true(r.error < before);
            assert_int_equal(r.info.evaluations, p.calls);
            assert_true(r.info.rejected * 4 < r.info.accepted + 8);
            before = r.error;
        }
    }
}

static void a_derivative_that_breaks_is_reported(void **state) {
    (void)state;
    for (int adams = 0; adams < 2; adams++) {
        problem p;
        rg_ode ode = make_ode(&p);
        p.poison_after = 1;
        rg_ode_settings settings = {.tolerance = 1e-8};
        run r = adams ? run_adams(&ode, 2, settings) : run_dormand_prince(&ode, 2, settings);
        assert_int_equal(r.status, RG_NOT_FINITE);
    }
}

/* y' = y^2 runs to infinity at t = 1: the step must give out before that, without a NaN in y. */
static void blow_up(void *user, double t, const double *y, double *dydt) {
    (void)user;
    (void)t;
    dydt[0] = y[0] * y[0];
}

static void relative_scale(void *user, const double *y, double *scale) {
    (void)user;
    scale[0] = fabs(y[0]);
}

static void a_singularity_is_not_stepped_over(void **state) {
    (void)state;
    rg_ode ode = {.n = 1, .derivative = blow_up, .scale = relative_scale};
    rg_ode_settings settings = {.tolerance = 1e-9};
    rg_ode_info info = {0};
    rg_arena scratch = rg_arena_make(NULL);
    double y = 1, step = 0, phi[RG_ADAMS_VECTORS];
    rg_adams_memory memory = {0};
    rg_status status =
        rg_dormand_prince(&(rg_ode_run){&ode, 0, 2, settings, &scratch, &info}, &y, &step);
    assert_true(status == RG_STEP_TOO_SMALL || status == RG_NOT_FINITE);
    assert_true(y == 1);
    status = rg_adams(&(rg_ode_run){&ode, 0, 2, settings, &scratch, &info}, &y, &memory, phi);
    assert_true(status == RG_STEP_TOO_SMALL || status == RG_NOT_FINITE);
    assert_true(y == 1);
    rg_arena_free(&scratch);
}

/* Stopping and going on at given times leaves a smooth run as accurate as before, and the multistep
 * method keeps its differences across the stops. */
static void stops_on_the_way_do_no_harm(void **state) {
    (void)state;
    for (int adams = 0; adams < 2; adams++) {
        problem p;
        rg_ode ode = make_ode(&p);
        rg_ode_settings settings = {.tolerance = 1e-10};
        rg_ode_info info = {0};
        rg_arena scratch = rg_arena_make(NULL);
        double y[4], exact[4], step = 0, phi[RG_ADAMS_VECTORS * 4];
        rg_adams_memory memory = {0};
        kepler_exact(0, y);
        for (int i = 0; i < 60; i++) {
            double begin = i / 10.0, end = (i + 1) / 10.0;
            rg_status status =
                adams ? rg_adams(&(rg_ode_run){&ode, begin, end, settings, &scratch, &info}, y,
                                 &memory, phi)
                      : rg_dormand_prince(
                            &(rg_ode_run){&ode, begin, end, settings, &scratch, &info}, y, &step);
            assert_int_equal(status, RG_OK);
        }
        if (adams)
            assert_true(memory.order >= 5);
        kepler_exact(6, exact);
        assert_true(distance(y, exact) < 1e-7);
        rg_arena_free(&scratch);
    }
}

static void memory_failure_is_a_status(void **state) {
    (void)state;
    problem p;
    rg_ode ode = make_ode(&p);
    rg_ode_settings settings = {.tolerance = 1e-8};
    rg_ode_info info = {0};
    rg_allocator allocator = {no_memory, no_release, NULL};
    rg_arena scratch = rg_arena_make(&allocator);
    double y[4], start[4], step = 0, phi[RG_ADAMS_VECTORS * 4];
    rg_adams_memory memory = {0};
    kepler_exact(0, y);
    memcpy(start, y, sizeof y);
    assert_int_equal(
        rg_dormand_prince(&(rg_ode_run){&ode, 0, 1, settings, &scratch, &info}, y, &step),
        RG_OUT_OF_MEMORY);
    assert_int_equal(
        rg_adams(&(rg_ode_run){&ode, 0, 1, settings, &scratch, &info}, y, &memory, phi),
        RG_OUT_OF_MEMORY);
    assert_memory_equal(y, start, sizeof y);
    rg_arena_free(&scratch);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dormand_prince_has_order_5),
        cmocka_unit_test(dense_output_has_order_4),
        cmocka_unit_test(adams_has_its_order),
        cmocka_unit_test(error_follows_tolerance),
        cmocka_unit_test(a_derivative_that_breaks_is_reported),
        cmocka_unit_test(a_singularity_is_not_stepped_over),
        cmocka_unit_test(stops_on_the_way_do_no_harm),
        cmocka_unit_test(memory_failure_is_a_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
