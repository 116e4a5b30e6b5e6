/* Belts, and balls that friction against rolling and spinning brings to rest. */
#include "scene_measures.h"

static void boxes_reach_the_speed_of_the_belt(void **state) {
    (void)state;
    static const struct {
        const char *parameters;
        double expected;
    } cases[] = {{NULL, 1.5 / (0.4 * 9.81)}, {"speed=0.5 mu=0.2", 0.5 / (0.2 * 9.81)}};
    for (int i = 0; i < 2; i++) {
        rg_scene *run = finish_run(
            &(scene_run){.scene = "conveyor", .parameters = cases[i].parameters, .duration = 0.6});
        /* The moment is known up to a step. */
        assert_near(find_measure(run, "time_to_belt_speed_s").value, cases[i].expected, 1.0 / 240);
        rg_scene_destroy(run);
    }
    rg_scene *scene = finish_run(&(scene_run){.scene = "conveyor", .duration = 0.6});
    rg_measure work = find_measure(scene, "belt_work_J"), heat = find_measure(scene, "heat_J");
    assert_near(work.value, work.expected, 0.01 * work.expected);
    assert_near(work.value - heat.value, work.expected / 2, 1e-6 * work.expected);
    rg_scene_destroy(scene);
}

/* To the end: off the first belt, onto the second, which takes them along across. */
static void boxes_are_handed_on(void **state) {
    (void)state;
    rg_scene *scene = finish_run(&(scene_run){.scene = "conveyor", .duration = 5});
    rg_world *world = rg_scene_world(scene);
    rg_body_id last;
    assert_int_equal(rg_world_find_body(world, "box2", &last), RG_OK);
    assert_near(rg_body_velocity(world, last).y, 1.5, 1e-6);
    rg_step_info summary = rg_world_summary(world);
    assert_int_equal(summary.solver_failures, 0);
    assert_true(summary.energy.closure_rel < 1e-10);
    assert_true(summary.energy.friction_work < 0);
    rg_scene_destroy(scene);
}

static void files_hold_belts_and_rolling_friction(void **state) {
    (void)state;
    survives_a_file(&(scene_run){.scene = "conveyor", .duration = 0.5});
    survives_a_file(&(scene_run){.scene = "rolling-stop", .duration = 0.5});
}

static void friction_stops_balls(void **state) {
    (void)state;
    run_holds(&(scene_run){.scene = "rolling-stop", .duration = 0.25}, 1e-8);
    run_holds(&(scene_run){.scene = "rolling-stop", .duration = 4}, 1e-8);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_reach_the_speed_of_the_belt),
        cmocka_unit_test(boxes_are_handed_on),
        cmocka_unit_test(friction_stops_balls),
        cmocka_unit_test(files_hold_belts_and_rolling_friction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
