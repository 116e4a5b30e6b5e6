/* Seidel's linear programs: raw rows against brute force over all vertices, with certificates, in
 * one to four variables; degenerate, infeasible and unbounded ones; and the fallback of the ratio
 * metric against the fast methods. */
#include "narrow_helpers.h"

#include "narrow/narrow_ratio.h"

/* Gaussian elimination of the reference: k x k, false if nearly singular. */
static bool solve_dense(double m[4][5], int k, double *x) {
    for (int c = 0; c < k; c++) {
        int best = c;
        for (int r = c + 1; r < k; r++)
            best = fabs(m[r][c]) > fabs(m[best][c]) ? r : best;
        if (fabs(m[best][c]) < 1e-9)
            return false;
        for (int j = 0; j <= k; j++) {
            double swap = m[c][j];
            m[c][j] = m[best][j];
            m[best][j] = swap;
        }
        for (int r = 0; r < k; r++) {
            double f = r == c ? 0 : m[r][c] / m[c][c];
            for (int j = c; j <= k; j++)
                m[r][j] -= f * m[c][j];
        }
    }
    for (int i = 0; i < k; i++)
        x[i] = m[i][k] / m[i][i];
    return true;
}

/* The smallest last coordinate of all feasible vertices. */
static double best_vertex(const rg_lp_row *rows, int count, int k) {
    int pick[4] = {0, 1, 2, 3};
    double best = INFINITY;
    for (;;) {
        double m[4][5], x[4];
        for (int i = 0; i < k; i++) {
            for (int j = 0; j < k; j++)
                m[i][j] = rows[pick[i]].a[j];
            m[i][k] = rows[pick[i]].b;
        }
        if (solve_dense(m, k, x)) {
            bool feasible = true;
            for (int i = 0; feasible && i < count; i++) {
                double value = -rows[i].b;
                for (int j = 0; j < k; j++)
                    value += rows[i].a[j] * x[j];
                feasible = value <= 1e-9;
            }
            if (feasible)
                best = fmin(best, x[k - 1]);
        }
        int at = k - 1;
        while (at >= 0 && pick[at] == count - k + at)
            at--;
        if (at < 0)
            return best;
        pick[at]++;
        for (int j = at + 1; j < k; j++)
            pick[j] = pick[j - 1] + 1;
    }
}

/* Feasible (the origin is inside) and bounded (a box around). */
static int random_rows(rg_random *random, int k, int extra, rg_lp_row *rows) {
    int count = 0;
    for (int j = 0; j < k; j++)
        for (int s = -1; s <= 1; s += 2) {
            rows[count] = (rg_lp_row){.b = rg_random_between(random, 2, 3)};
            rows[count++].a[j] = s;
        }
    for (int i = 0; i < extra; i++) {
        double length = 0;
        rows[count] = (rg_lp_row){.b = rg_random_between(random, 0.2, 1.5)};
        for (int j = 0; j < k; j++) {
            rows[count].a[j] = rg_random_normal(random);
            length += rows[count].a[j] * rows[count].a[j];
        }
        for (int j = 0; j < k; j++)
            rows[count].a[j] /= sqrt(length);
        count++;
    }
    return count;
}

static void check_certificate(const rg_lp_row *rows, int k, const rg_lp_solution *s) {
    assert_true(s->primal_error <= 1e-12);
    assert_true(s->dual_error <= 1e-12);
    /* stationarity with the multipliers of the active rows, and b.lambda = -t: no gap */
    double value = 0;
    for (int j = 0; j < k; j++) {
        double sum = j == k - 1 ? 1 : 0;
        for (int i = 0; i < k; i++)
            sum += s->multiplier[i] * rows[s->active[i]].a[j];
        assert_near(sum, 0, 1e-12);
    }
    for (int i = 0; i < k; i++)
        value -= s->multiplier[i] * rows[s->active[i]].b;
    assert_near(value, s->x[k - 1], 1e-11 * (1 + fabs(value)));
}

static void random_programs(void **state) {
    (void)state;
    rg_random random = rg_random_make(4);
    for (int k = 1; k <= 4; k++)
        for (int i = 0; i < 400; i++) {
            rg_lp_row rows[24];
            uint32_t scratch[24];
            int count = random_rows(&random, k, (int)rg_random_below(&random, 12), rows);
            rg_lp_solution s;
            assert_int_equal(rg_lp_seidel(rows, (uint32_t)count, k, (uint64_t)i, scratch, &s),
                             RG_OK);
            assert_near(s.x[k - 1], best_vertex(rows, count, k), 1e-10);
            check_certificate(rows, k, &s);
        }
}

/* The answer does not depend on the order beyond rounding; equal seeds give equal bits. */
static void seeds(void **state) {
    (void)state;
    rg_random random = rg_random_make(5);
    enum { COUNT = 5008 };
    rg_lp_row *rows = malloc(COUNT * sizeof *rows);
    uint32_t *scratch = malloc(COUNT * sizeof *scratch);
    int count = random_rows(&random, 4, COUNT - 8, rows);
    rg_lp_solution first, s;
    assert_int_equal(rg_lp_seidel(rows, (uint32_t)count, 4, 0, scratch, &first), RG_OK);
    for (uint64_t seed = 0; seed < 50; seed++) {
        assert_int_equal(rg_lp_seidel(rows, (uint32_t)count, 4, seed, scratch, &s), RG_OK);
        assert_near(s.x[3], first.x[3], 1e-13);
        check_certificate(rows, 4, &s);
        if (seed == 0)
            assert_memory_equal(&s, &first, sizeof s);
    }
    free(rows);
    free(scratch);
}

/* Each row many times, and bundles through one point. */
static void degenerate_programs(void **state) {
    (void)state;
    rg_random random = rg_random_make(6);
    for (int i = 0; i < 500; i++) {
        rg_lp_row rows[120];
        uint32_t scratch[120];
        int count = random_rows(&random, 4, 10, rows);
        double expected = best_vertex(rows, count, 4);
        for (int j = 0; j < 60; j++)
            rows[count + j] = rows[(int)rg_random_below(&random, (uint64_t)count)];
        count += 60;
        rg_lp_solution s;
        assert_int_equal(rg_lp_seidel(rows, (uint32_t)count, 4, (uint64_t)i, scratch, &s), RG_OK);
        assert_near(s.x[3], expected, 1e-10);
        check_certificate(rows, 4, &s);
        /* more rows through the optimum, none of which cuts anything off it */
        for (int j = 0; j < 20; j++) {
            rg_lp_row mixed = {.b = 0};
            for (int m = 0; m < 4; m++) {
                double weight = rg_random_unit(&random);
                const rg_lp_row *active = &rows[s.active[m]];
                for (int c = 0; c < 4; c++)
                    mixed.a[c] += weight * active->a[c];
                mixed.b += weight * active->b;
            }
            rows[count++] = mixed;
        }
        assert_int_equal(rg_lp_seidel(rows, (uint32_t)count, 4, (uint64_t)i, scratch, &s), RG_OK);
        assert_near(s.x[3], expected, 1e-10);
    }
}

static void refused(void **state) {
    (void)state;
    uint32_t scratch[4];
    rg_lp_solution s;
    rg_lp_row apart[2] = {{{1}, -1}, {{-1}, -1}}; /* x <= -1 and x >= 1 */
    assert_int_equal(rg_lp_seidel(apart, 2, 1, 0, scratch, &s), RG_INVALID_ARGUMENT);
    rg_lp_row open[2] = {{{1}, 1}, {{1}, 2}};
    assert_int_equal(rg_lp_seidel(open, 2, 1, 0, scratch, &s), RG_SINGULAR);
    assert_int_equal(rg_lp_seidel(open, 1, 2, 0, scratch, &s), RG_INVALID_ARGUMENT);
    assert_int_equal(rg_lp_seidel(open, 2, 5, 0, scratch, &s), RG_INVALID_ARGUMENT);
    rg_lp_row nothing[2] = {{{0}, 1}, {{1}, 1}};
    assert_int_equal(rg_lp_seidel(nothing, 2, 1, 0, scratch, &s), RG_INVALID_ARGUMENT);
    rg_lp_row broken[2] = {{{NAN}, 1}, {{-1}, 1}};
    assert_int_equal(rg_lp_seidel(broken, 2, 1, 0, scratch, &s), RG_INVALID_ARGUMENT);
}

/* ------------------------------------------------------------------ the fallback of the ratio */

static rg_pair pair_of(const rg_shape *a, rg_pose pa, const rg_shape *b, rg_pose pb) {
    rg_pair pair = {
        .side = {{a, rg_shape_polyhedron(a), rg_mat3_of_quat(pa.orientation), rg_shape_centre(a)},
                 {b, rg_shape_polyhedron(b), rg_mat3_of_quat(pb.orientation), rg_shape_centre(b)}},
        .d = rg_sub(world_centre(b, pb), world_centre(a, pa))};
    return pair;
}

static void fallback_agrees(void **state) {
    (void)state;
    rg_random random = rg_random_make(9);
    for (int i = 0; i < 3000; i++) {
        bool planar = i % 5 == 4;
        double size = random_scale(&random, -6, 6);
        rg_vec3 axes = {size, size * rg_random_between(&random, 0.1, 1),
                        size * rg_random_between(&random, 0.1, 1)};
        rg_shape *a, *b;
        if (planar) {
            a = random_polygon(&random, size, 0.5, 8);
            b = random_polygon(&random, size, 1, 5);
        } else {
            a = i % 3 ? random_hull(&random, axes, 30)
                      : make_shape(rg_shape_def_box(axes.x, axes.y, axes.z));
            b = i % 2 ? random_hull(&random, axes, 10)
                      : make_shape(rg_shape_def_box(axes.x, axes.y, axes.z));
        }
        rg_pose pa = planar ? planar_pose(0, 0, 0.3) : random_pose(&random, size);
        rg_pose pb = planar ? planar_pose(size, 0.3 * size, rg_random_between(&random, 0, 7))
                            : random_pose(&random, size);
        if (i % 7 == 0)
            pb.orientation = pa.orientation; /* ties */
        rg_growth fast;
        assert_int_equal(rg_growth_between(a, pa, b, pb, NULL, &fast), RG_OK);
        rg_pair pair = pair_of(a, pa, b, pb);
        rg_ratio_frame frame;
        rg_ratio_answer sure = {0};
        assert_true(rg_ratio_frame_make(&pair, &frame));
        assert_true(rg_ratio_seidel(&frame, planar, &sure));
        assert_near(sure.ratio, fast.ratio, 1e-12 * fast.ratio);
        assert_true(rg_ratio_error(&sure) <= 1e-11);
        /* Its feature pair, where it is unique, gives the same ratio. */
        rg_growth features;
        assert_int_equal(rg_growth_of_features(a, pa, b, pb, sure.features, &features), RG_OK);
        if (i % 7)
            assert_near(features.ratio, fast.ratio, 1e-11 * fast.ratio);
        rg_shape_release(a);
        rg_shape_release(b);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_programs),     cmocka_unit_test(seeds),
        cmocka_unit_test(degenerate_programs), cmocka_unit_test(refused),
        cmocka_unit_test(fallback_agrees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
