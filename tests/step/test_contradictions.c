/* Joints that contradict each other, with the least sum of their errors (step_joints_project.c;
 * Baraff 1989, Appendix B, 37), beside brute force: of the least sums of absolute values of linear
 * functions one is at a point where as many of them vanish as there are unknowns. */
#include "dense_support.h"
#include "test_world_support.h"

#include "rigor/joint.h"

enum { ANCHORS = 3, ROWS = 3 * ANCHORS, UNKNOWNS = 6, CASES = 20 };
/* m: how far anchors are from agreeing; what the second order of turns adds to errors is its
 * square. */
#define APART 1e-5
/* m: of sums of errors. */
#define TOLERANCE 1e-9

static rg_world *world_with(rg_joint_norm norm) {
    rg_world_def def = rg_world_def_default();
    def.gravity = rg_vec3_make(0, 0, 0);
    def.method = rg_method_find("stepping");
    def.settings.contradictions = norm;
    return world_of(&def);
}

static rg_body_id add_cube(rg_world *world, rg_vec3 position) {
    return add_masked_box(world, "cube", rg_vec3_make(1, 1, 1), position, 0);
}

static double coordinate(rg_vec3 v, size_t k) {
    return k == 0 ? v.x : k == 1 ? v.y : v.z;
}

/* Rows of x + turn x r - d. */
static void fill_rows(const rg_vec3 *arm, const rg_vec3 *d, double j[ROWS][UNKNOWNS],
                      double b[ROWS]) {
    for (size_t i = 0; i < ROWS; i++) {
        rg_vec3 axis = {i % 3 == 0, i % 3 == 1, i % 3 == 2}, about = rg_cross(arm[i / 3], axis);
        for (size_t k = 0; k < 3; k++)
            j[i][k] = coordinate(axis, k), j[i][3 + k] = coordinate(about, k);
        b[i] = -coordinate(d[i / 3], i % 3);
    }
}

static double least_sum(const rg_vec3 *arm, const rg_vec3 *d) {
    double j[ROWS][UNKNOWNS], b[ROWS], best = INFINITY;
    fill_rows(arm, d, j, b);
    for (unsigned met = 0; met < 1U << ROWS; met++) {
        double m[UNKNOWNS * UNKNOWNS], x[UNKNOWNS], sum = 0;
        size_t count = 0;
        for (size_t i = 0; i < ROWS; i++)
            count += met >> i & 1;
        if (count != UNKNOWNS)
            continue;
        count = 0;
        for (size_t i = 0; i < ROWS; i++) {
            if (!(met >> i & 1))
                continue;
            memcpy(m + UNKNOWNS * count, j[i], sizeof j[i]);
            x[count++] = -b[i];
        }
        solve_dense(m, x, UNKNOWNS);
        for (size_t i = 0; i < ROWS; i++) {
            double value = b[i];
            for (size_t k = 0; k < UNKNOWNS; k++)
                value += j[i][k] * x[k];
            sum += fabs(value);
        }
        if (sum < best) /* not where rows depend on each other */
            best = sum;
    }
    return best;
}

/* A cube whose corners are joined with points that do not fit them. */
static void corners_that_do_not_fit(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= CASES; seed++) {
        rg_random random = rg_random_make(seed);
        rg_world *world = world_with(RG_NORM_ONE);
        rg_body_id cube = add_cube(world, rg_vec3_make(0, 0, 0));
        rg_vec3 arm[ANCHORS] = {{0.5, 0.5, 0.5}, {-0.5, 0.5, -0.5}, {0.5, -0.5, -0.5}}, d[ANCHORS];
        for (size_t i = 0; i < ANCHORS; i++) {
            rg_joint_def def = rg_joint_def_default(RG_JOINT_BALL);
            rg_joint_id joint;
            double x = rg_random_between(&random, -APART, APART);
            double y = rg_random_between(&random, -APART, APART);
            double z = rg_random_between(&random, -APART, APART);
            d[i] = rg_vec3_make(x, y, z);
            def.body_b = cube;
            def.frame_a.position = rg_add(arm[i], d[i]), def.frame_b.position = arm[i];
            assert_int_equal(rg_world_add_joint(world, &def, &joint, NULL), RG_OK);
        }
        for (int k = 0; k < 10; k++)
            assert_int_equal(rg_world_step(world, 1.0 / 240, NULL, NULL), RG_OK);
        double sum = 0, best = least_sum(arm, d);
        for (size_t i = 0; i < ANCHORS; i++) {
            rg_vec3 at = rg_pose_apply(rg_body_pose(world, cube), arm[i]);
            rg_vec3 off = rg_sub(at, rg_add(arm[i], d[i]));
            sum += fabs(off.x) + fabs(off.y) + fabs(off.z);
        }
        assert_true(best > 0.01 * APART);
        if (!(fabs(sum - best) <= TOLERANCE))
            fail_msg("seed %d: sum %.12g, least %.12g", (int)seed, sum, best);
        rg_world_destroy(world);
    }
}

/* Of three welds two agree: with the least sum they are closed, with the least squares the cube is
 * a third of the way to the third. */
static void most_welds_agree(void **state) {
    (void)state;
    for (int norm = RG_NORM_ONE; norm <= RG_NORM_TWO; norm++) {
        rg_world *world = world_with((rg_joint_norm)norm);
        rg_body_id cube = add_cube(world, rg_vec3_make(0.03, 0.01, 0));
        for (int i = 0; i < 3; i++) {
            rg_joint_def def = rg_joint_def_default(RG_JOINT_FIXED);
            rg_joint_id joint;
            def.body_b = cube;
            def.frame_a.position = rg_vec3_make(i == 2 ? 0.1 : 0, i == 2 ? -0.05 : 0, 0);
            assert_int_equal(rg_world_add_joint(world, &def, &joint, NULL), RG_OK);
        }
        for (int k = 0; k < 10; k++)
            assert_int_equal(rg_world_step(world, 1.0 / 240, NULL, NULL), RG_OK);
        rg_vec3 at = rg_body_pose(world, cube).position;
        double share = norm == RG_NORM_ONE ? 0 : 1.0 / 3;
        assert_near(at.x, share * 0.1, norm == RG_NORM_ONE ? TOLERANCE : 1e-6);
        assert_near(at.y, share * -0.05, norm == RG_NORM_ONE ? TOLERANCE : 1e-6);
        rg_step_info info = rg_world_summary(world);
        assert_true(info.energy.closure_rel <= 1e-8);
        rg_world_destroy(world);
    }
}

/* Where joints agree both norms close them. */
static void joints_that_agree_are_closed(void **state) {
    (void)state;
    rg_world *world = world_with(RG_NORM_ONE);
    rg_body_id cube = add_cube(world, rg_vec3_make(0.03, 0.01, 0));
    for (int i = 0; i < 3; i++) {
        rg_joint_def def = rg_joint_def_default(i ? RG_JOINT_BALL : RG_JOINT_FIXED);
        rg_joint_id joint;
        def.body_b = cube;
        def.frame_a.position = def.frame_b.position = rg_vec3_make(0.5 * i, 0, 0.2);
        assert_int_equal(rg_world_add_joint(world, &def, &joint, NULL), RG_OK);
    }
    for (int k = 0; k < 5; k++)
        assert_int_equal(rg_world_step(world, 1.0 / 240, NULL, NULL), RG_OK);
    assert_true(rg_length(rg_body_pose(world, cube).position) <= 1e-11);
    rg_world_destroy(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(corners_that_do_not_fit),
                                       cmocka_unit_test(most_welds_agree),
                                       cmocka_unit_test(joints_that_agree_are_closed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
