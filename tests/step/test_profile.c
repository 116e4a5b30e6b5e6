/* The timers of the stages: they add up to the step, whatever the method. */
#include "test_world_support.h"

static rg_world *make_wall(const char *method) {
    rg_world_def def = rg_world_def_default();
    def.method = rg_method_find(method);
    rg_world *world = world_of(&def);
    rg_body_def floor = rg_body_def_default();
    floor.motion = RG_MOTION_FIXED;
    add_shape(world, rg_shape_def_halfspace((rg_vec3){0, 0, 1}, 0), &floor);
    for (int i = 0; i < 12; i++)
        add_box(world, NULL, (rg_vec3){1, 0.5, 0.5},
                (rg_vec3){i % 4 * 1.1, 0, 0.25 + 0.5 * (i / 4)});
    return world;
}

static void stages_add_up(void **state) {
    (void)state;
    static const char *const methods[] = {"stepping", "analytic"};
    for (int m = 0; m < 2; m++) {
        rg_world *world = make_wall(methods[m]);
        rg_profile none = rg_world_profile(world);
        assert_true(none.steps == 0 && none.step == 0);
        step_world(world, 0.01, 40);
        rg_profile p = rg_world_profile(world);
        double sum = 0;
        for (int i = 0; i < RG_STAGE_COUNT; i++) {
            assert_true(p.stage[i] >= 0);
            sum += p.stage[i];
        }
        assert_int_equal(p.steps, 40);
        assert_true(m == 0 ? p.passes >= 1 && p.passes <= 160 : p.passes == 0);
        assert_int_equal(p.parts, 0);
        /* What is between the two readings of the clock at the end of a step is all that is
         * missing. */
        assert_near(sum / p.step, 1, 0.02);
        static const rg_stage used[] = {RG_STAGE_PAIRS, RG_STAGE_POINTS, RG_STAGE_MOVE,
                                        RG_STAGE_JUDGE, RG_STAGE_STORE};
        for (size_t i = 0; i < sizeof used / sizeof used[0]; i++)
            assert_true(p.stage[used[i]] > 0);
        assert_true(p.stage[RG_STAGE_ISLANDS] > 0 && p.stage[RG_STAGE_SOLVE] > 0 &&
                    p.stage[RG_STAGE_APPLY] > 0);
        assert_true(p.stage[m == 0 ? RG_STAGE_ROWS : RG_STAGE_EVENTS] > 0);
        rg_world_destroy(world);
    }
}

static void stages_have_names(void **state) {
    (void)state;
    for (int i = 0; i < RG_STAGE_COUNT; i++)
        for (int k = 0; k < i; k++)
            assert_string_not_equal(rg_stage_name((rg_stage)i), rg_stage_name((rg_stage)k));
    assert_string_equal(rg_stage_name(RG_STAGE_SOLVE), "solve");
    assert_string_equal(rg_stage_name(RG_STAGE_COUNT), "unknown");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stages_add_up),
        cmocka_unit_test(stages_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
