/* Assembly of mechanisms that are drawn loosely (step_assemble.c). */
#include "test_world_support.h"

#include "rigor/joint.h"

static rg_body_id link_at(rg_world *world, rg_vec3 position, double angle) {
    rg_body_def def = rg_body_def_default();
    rg_collider_def collider = rg_collider_def_default();
    def.pose.position = position;
    def.pose.orientation = rg_quat_make(0, sin(angle / 2), 0, cos(angle / 2));
    collider.mask = 0;
    return add_collider(world, rg_shape_def_box(0.1, 0.1, 1), collider, &def);
}

/* Frames on the bodies, as they are to meet. */
static void hinge(rg_world *world, rg_body_id a, rg_vec3 at_a, rg_body_id b, rg_vec3 at_b) {
    rg_joint_def def = rg_joint_def_default(RG_JOINT_HINGE);
    rg_joint_id joint;
    rg_quat up = rg_quat_make(-sqrt(0.5), 0, 0, sqrt(0.5));
    def.body_a = a, def.body_b = b;
    def.frame_a = rg_pose_make(at_a, up), def.frame_b = rg_pose_make(at_b, up);
    assert_int_equal(rg_world_add_joint(world, &def, &joint, NULL), RG_OK);
}

static const rg_vec3 top = {0, 0, 0.5}, bottom = {0, 0, -0.5};

/* Four links around, and chains, at random places and turns nearby. */
static void loose_mechanisms_close(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= (uint64_t)test_cases(60, 1000); seed++) {
        rg_random random = rg_random_make(seed);
        rg_world *world = default_world();
        bool loop = seed % 2 == 0;
        size_t links = loop ? 4 : 1 + seed % 12;
        rg_body_id before = {0, 0};
        rg_vec3 at = {0, 0, 3};
        rg_body_id first = {0, 0};
        for (size_t i = 0; i < links; i++) {
            double turn = loop ? 1.5707963267948966 * (double)i : 0.3 * (double)i;
            rg_vec3 off = {0, 0, -(double)i};
            if (loop) {
                off = rg_vec3_make(i == 1   ? 0.5
                                   : i == 3 ? -0.5
                                            : 0,
                                   0,
                                   i == 2   ? 1
                                   : i == 0 ? 0
                                            : 0.5);
            }
            double x = rg_random_between(&random, -0.3, 0.3);
            double y = rg_random_between(&random, -0.3, 0.3);
            double z = rg_random_between(&random, -0.3, 0.3);
            double more = rg_random_between(&random, -0.4, 0.4);
            rg_vec3 place = rg_add(rg_add(at, off), rg_vec3_make(x, y, z));
            rg_body_id body = link_at(world, place, turn + more);
            if (i == 0)
                first = body;
            hinge(world, before, i ? bottom : rg_vec3_make(0, 0, 3.5), body, top);
            before = body;
        }
        if (loop)
            hinge(world, before, bottom, first, top);
        double left;
        rg_error error;
        assert_int_equal(rg_world_assemble(world, &left, &error), RG_OK);
        if (!(left <= 1e-10))
            fail_msg("seed %d: %.3g left", (int)seed, left);
        assert_int_equal(rg_world_step_count(world), 0);
        rg_step_info info = step_once(world, 1.0 / 240);
        assert_true(info.certificate.joint_error <= 1e-9);
        rg_world_destroy(world);
    }
}

/* Two welds that ask for places 0.2 m apart: what is left says so, and the body is between. */
static void contradictions_are_told(void **state) {
    (void)state;
    rg_world *world = default_world();
    rg_body_id body = link_at(world, rg_vec3_make(1, 1, 1), 0);
    for (int k = 0; k < 2; k++) {
        rg_joint_def def = rg_joint_def_default(RG_JOINT_FIXED);
        rg_joint_id joint;
        def.body_b = body;
        def.frame_a.position = rg_vec3_make(k ? 0.2 : 0, 0, 0);
        assert_int_equal(rg_world_add_joint(world, &def, &joint, NULL), RG_OK);
    }
    double left;
    assert_int_equal(rg_world_assemble(world, &left, NULL), RG_OK);
    assert_true(fabs(left - 0.1) <= 1e-6);
    assert_true(fabs(rg_body_pose(world, body).position.x - 0.1) <= 1e-6);
    rg_world_destroy(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(loose_mechanisms_close),
                                       cmocka_unit_test(contradictions_are_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
