/* Adams' method one step at a time: its dense output against a closed form, with its order; that
 * what is not kept leaves no trace; that it goes on where y is put back and starts again where f
 * jumps; that it agrees with the method that runs by itself; and out of memory. Dormand and
 * Prince's beside it. */
#include "kepler.h"

#include "integrate/integrate_trial.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* With a push along x from a time on. */
typedef struct problem {
    double push_from, push;
    size_t calls;
} problem;

static void kepler(void *user, double t, const double *y, double *dydt) {
    problem *p = user;
    double r2 = y[0] * y[0] + y[1] * y[1], r3 = r2 * sqrt(r2);
    p->calls++;
    dydt[0] = y[2];
    dydt[1] = y[3];
    dydt[2] = -y[0] / r3 + (t >= p->push_from ? p->push : 0);
    dydt[3] = -y[1] / r3;
}

/* A run in steps, each of which is looked at. */
typedef struct run {
    problem problem;
    rg_ode ode;
    rg_arena scratch;
    rg_trial trial;
    rg_ode_info info;
    double y[4], time, next_step, tolerance;
    int highest; /* degree */
} run;

static void begin_run(run *r, rg_trial_method method, double tolerance) {
    *r = (run){.problem = {.push_from = INFINITY}, .tolerance = tolerance};
    r->ode = (rg_ode){.n = 4, .user = &r->problem, .derivative = kepler, .scale = unit_scale};
    r->scratch = rg_arena_make(NULL);
    assert_int_equal(rg_trial_make(&r->ode, method, &r->scratch, &r->trial), RG_OK);
    kepler_exact(0, r->y);
}

static double try_step(run *r, bool alone, double most) {
    rg_trial_method method = alone ? RG_TRIAL_DORMAND_PRINCE : r->trial.method;
    rg_ode_try step = {.begin = r->time,
                       .most = most,
                       .tolerance = r->tolerance,
                       .y = r->y,
                       .next_step = r->next_step,
                       .info = &r->info};
    assert_int_equal(rg_trial_try(&r->ode, &r->trial, method, &step), RG_OK);
    r->next_step = step.next_step;
    double length = step.length;
    assert_true(length > 0 && length <= most);
    r->highest = r->trial.output.degree > r->highest ? r->trial.output.degree : r->highest;
    return length;
}

static void take(run *r, double length) {
    memcpy(r->y, r->trial.end, sizeof r->y);
    r->time += length;
    rg_trial_keep(&r->trial);
}

static void go_to(run *r, double end) {
    while (r->time < end) {
        double left = end - r->time, length = try_step(r, false, left);
        take(r, length);
        if (length >= left)
            r->time = end;
    }
}

static void end_run(run *r) {
    rg_arena_free(&r->scratch);
}

/* Half a period at several tolerances: at the points and between them the error stays near the
 * tolerance, and the polynomial begins and ends where the step does. */
static void dense_output_is_as_good_as_the_steps(void **state) {
    (void)state;
    for (int remembers = 0; remembers < 2; remembers++)
        for (double tolerance = 1e-6; tolerance > 1e-12; tolerance /= 100) {
            run r;
            double at_points = 0, between = 0, seams = 0;
            begin_run(&r, (rg_trial_method)remembers, tolerance);
            while (r.time < 3) {
                double length = try_step(&r, false, 10), y[4], exact[4];
                const rg_dense_output *dense = &r.trial.output;
                assert_true(dense->begin == r.time);
                assert_near(dense->step, length, 1e-15);
                rg_dense_evaluate(dense, 0, y);
                seams = fmax(seams, distance(y, r.y));
                rg_dense_evaluate(dense, 1, y);
                seams = fmax(seams, distance(y, r.trial.end));
                for (double theta = 0.0625; theta < 1; theta += 0.0625) {
                    rg_dense_evaluate(dense, theta, y);
                    kepler_exact(r.time + theta * length, exact);
                    between = fmax(between, distance(y, exact));
                    assert_true(rg_dense_value(dense, theta, 2) == y[2]);
                }
                take(&r, length);
                kepler_exact(r.time, exact);
                at_points = fmax(at_points, distance(r.y, exact));
            }
            print_message("%s, tolerance %.0e: error %.3g at points, %.3g between; degree up to "
                          "%d, %llu evaluations\n",
                          remembers ? "adams" : "dormand-prince", tolerance, at_points, between,
                          r.highest, (unsigned long long)r.info.evaluations);
            assert_true(seams <= 8 * DBL_EPSILON);
            assert_true(at_points < 50 * tolerance);
            assert_true(between < 50 * tolerance);
            if (remembers)
                assert_true(between < 1.5 * at_points + 1e-14);
            assert_int_equal(r.info.evaluations, r.problem.calls);
            end_run(&r);
        }
}

/* At the tolerance of contacts it takes a fraction of the evaluations, and gets to high orders. */
static void it_takes_fewer_evaluations(void **state) {
    (void)state;
    uint64_t evaluations[2];
    for (int remembers = 0; remembers < 2; remembers++) {
        run r;
        double exact[4];
        begin_run(&r, (rg_trial_method)remembers, 1e-10);
        go_to(&r, 6.25);
        kepler_exact(6.25, exact);
        assert_true(distance(r.y, exact) < 1e-8);
        evaluations[remembers] = r.info.evaluations;
        if (remembers)
            assert_true(r.highest >= 9);
        end_run(&r);
    }
    assert_true(3 * evaluations[1] < evaluations[0]);
}

/* Bernstein coefficients of any degree: their polynomial is the dense output, they bound it, the
 * first and the last are its ends. */
static void coefficients_bound_the_polynomial(void **state) {
    (void)state;
    run r;
    int seen = 0;
    begin_run(&r, RG_TRIAL_ADAMS, 1e-11);
    while (r.time < 3) {
        double length = try_step(&r, false, 10), b[RG_DENSE_DEGREE_MAX + 1];
        const rg_dense_output *dense = &r.trial.output;
        seen |= 1 << dense->degree;
        for (size_t i = 0; i < 4; i++) {
            rg_dense_bernstein(dense, i, b);
            double least = INFINITY, most = -INFINITY;
            for (int k = 0; k <= dense->degree; k++) {
                least = fmin(least, b[k]);
                most = fmax(most, b[k]);
            }
            assert_near(b[0], r.y[i], 1e-14);
            assert_near(b[dense->degree], r.trial.end[i], 1e-14);
            for (double theta = 0; theta <= 1; theta += 0.125) {
                double value = rg_dense_value(dense, theta, i), sum = 0, choose = 1;
                assert_true(value >= least - 1e-14 && value <= most + 1e-14);
                for (int k = 0; k <= dense->degree; k++) {
                    sum += choose * b[k] * pow(theta, k) * pow(1 - theta, dense->degree - k);
                    choose = choose * (dense->degree - k) / (k + 1);
                }
                assert_near(sum, value, 1e-14);
            }
        }
        take(&r, length);
    }
    assert_true(seen & 1 << 4);                     /* Dormand and Prince's */
    assert_true(seen >> (RG_DENSE_DEGREE_MAX - 2)); /* high ones */
    end_run(&r);
}

static void get_going(run *r) {
    begin_run(r, RG_TRIAL_ADAMS, 1e-10);
    for (int i = 0; i < 25; i++)
        take(r, try_step(r, false, 10));
    assert_true(r->trial.output.powers);
}

/* Steps that are tried and not kept change nothing, not a bit, of those that are. */
static void what_is_not_kept_leaves_no_trace(void **state) {
    (void)state;
    run plain, curious;
    get_going(&plain);
    get_going(&curious);
    for (int i = 0; i < 60; i++) {
        double wanted = curious.next_step;
        for (int k = 1; k <= 3; k++) {
            try_step(&curious, false, wanted / (4 * k));
            curious.next_step = wanted;
        }
        double length = try_step(&plain, false, 10);
        assert_true(try_step(&curious, false, 10) == length);
        take(&plain, length);
        take(&curious, length);
        assert_memory_equal(plain.y, curious.y, sizeof plain.y);
    }
    assert_true(curious.info.evaluations > plain.info.evaluations);
    end_run(&plain);
    end_run(&curious);
}

/* After what is taken in part only, or alone, it starts again, and is as exact as before. */
static void it_starts_again_where_it_is_told_to(void **state) {
    (void)state;
    for (int alone = 0; alone < 2; alone++) {
        run r;
        double exact[4];
        get_going(&r);
        for (int i = 0; i < 3; i++) {
            if (alone) {
                take(&r, try_step(&r, true, 0.01));
            } else {
                double length = try_step(&r, false, 10);
                rg_dense_evaluate(&r.trial.output, 0.37, r.y);
                r.time += 0.37 * length;
                rg_trial_forget(&r.trial);
            }
            try_step(&r, false, 10);
            assert_false(r.trial.output.powers); /* Dormand and Prince's */
            go_to(&r, r.time + 1);
            assert_true(r.trial.output.powers);
            kepler_exact(r.time, exact);
            assert_true(distance(r.y, exact) < 2e-8);
        }
        end_run(&r);
    }
}

/* As projection does it: y is put back by a little after every step. */
static void y_may_be_put_back(void **state) {
    (void)state;
    run plain, kicked;
    begin_run(&plain, RG_TRIAL_ADAMS, 1e-10);
    begin_run(&kicked, RG_TRIAL_ADAMS, 1e-10);
    go_to(&plain, 6);
    for (int i = 0; kicked.time < 6; i++) {
        double length = try_step(&kicked, false, 6 - kicked.time);
        take(&kicked, length);
        kicked.y[i % 4] += i % 3 ? -0.5e-10 : 1e-10; /* no less, on the average, than none */
    }
    assert_true(distance(plain.y, kicked.y) < 1e-8);
    assert_true(kicked.info.evaluations < 1.5 * (double)plain.info.evaluations);
    end_run(&plain);
    end_run(&kicked);
}

/* A law that is adjusted between steps, and stays what it is during each: the method follows, and
 * does not take it for an error of its own. */
static void f_may_be_adjusted_between_steps(void **state) {
    (void)state;
    run plain, adjusted;
    begin_run(&plain, RG_TRIAL_ADAMS, 1e-10);
    begin_run(&adjusted, RG_TRIAL_ADAMS, 1e-10);
    go_to(&plain, 6);
    adjusted.problem.push_from = -1;
    while (adjusted.time < 6) {
        adjusted.problem.push = 1e-6 * adjusted.time;
        take(&adjusted, try_step(&adjusted, false, 6 - adjusted.time));
    }
    assert_true(distance(plain.y, adjusted.y) > 1e-6); /* it does something */
    assert_true(adjusted.info.evaluations < 1.5 * (double)plain.info.evaluations);
    end_run(&plain);
    end_run(&adjusted);
}

/* A force that jumps where nobody said so: the error sees to it, as it does with Dormand and
 * Prince's. */
static void a_jump_is_seen(void **state) {
    (void)state;
    run reference;
    double error[2];
    begin_run(&reference, RG_TRIAL_DORMAND_PRINCE, 1e-13);
    go_to(&reference, 1.5);
    reference.problem = (problem){.push = 0.5, .push_from = 1.5};
    go_to(&reference, 3);
    for (int remembers = 0; remembers < 2; remembers++) {
        run r;
        begin_run(&r, (rg_trial_method)remembers, 1e-10);
        r.problem = reference.problem;
        go_to(&r, 3);
        error[remembers] = distance(r.y, reference.y);
        print_message("over a jump: error %.3g, %llu steps refused\n", error[remembers],
                      (unsigned long long)r.info.rejected);
        assert_true(r.info.rejected > 3);
        end_run(&r);
    }
    assert_true(error[0] < 1e-7);
    assert_true(error[1] < 1e-7);
    end_run(&reference);
}

/* It agrees with the method that runs by itself. */
static void both_ways_agree(void **state) {
    (void)state;
    run r;
    begin_run(&r, RG_TRIAL_ADAMS, 1e-11);
    double y[4], phi[RG_ADAMS_VECTORS * 4];
    rg_adams_memory memory = {0};
    memcpy(y, r.y, sizeof y);
    assert_int_equal(
        rg_adams(&(rg_ode_run){&r.ode, 0, 6, {.tolerance = 1e-12}, &r.scratch, &(rg_ode_info){0}},
                 y, &memory, phi),
        RG_OK);
    go_to(&r, 6);
    assert_true(distance(r.y, y) < 1e-9);
    end_run(&r);
}

static void memory_failure_is_a_status(void **state) {
    (void)state;
    problem p = {.push_from = INFINITY};
    rg_ode ode = {.n = 4, .user = &p, .derivative = kepler, .scale = unit_scale};
    rg_allocator allocator = {no_memory, no_release, NULL};
    rg_arena scratch = rg_arena_make(&allocator);
    rg_trial trial;
    for (int remembers = 0; remembers < 2; remembers++)
        assert_int_equal(rg_trial_make(&ode, (rg_trial_method)remembers, &scratch, &trial),
                         RG_OUT_OF_MEMORY);
    rg_arena_free(&scratch);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dense_output_is_as_good_as_the_steps),
        cmocka_unit_test(it_takes_fewer_evaluations),
        cmocka_unit_test(coefficients_bound_the_polynomial),
        cmocka_unit_test(what_is_not_kept_leaves_no_trace),
        cmocka_unit_test(it_starts_again_where_it_is_told_to),
        cmocka_unit_test(y_may_be_put_back),
        cmocka_unit_test(f_may_be_adjusted_between_steps),
        cmocka_unit_test(a_jump_is_seen),
        cmocka_unit_test(both_ways_agree),
        cmocka_unit_test(memory_failure_is_a_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
