/* Built-in scenes of joints (scene_builtin_joint.c): what they were made to show. */
#include "scene_measures.h"

static double value_of(rg_scene *scene, const char *name) {
    return find_measure(scene, name).value;
}

static void joints_stay_closed_and_swings_keep_their_energy(void **state) {
    (void)state;
    static const struct {
        const char *scene, *parameters;
        double energy; /* relative to the swing, at 1/240 s: first order in the step */
    } cases[] = {{"pendulum", "angle=60", 1e-2},
                 {"chain", "", 3e-3},
                 {"chain", "bob=1", 2e-2},
                 {"chain", "bob=1e8", 3e-3},
                 {"double-pendulum", "angle=10", 1e-2},
                 {"double-pendulum", "angle=100", 2e-2},
                 {"four-bar", "angle=40", 1e-2},
                 {"door", "", 5e-3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        scene_run run = {.scene = cases[i].scene, .parameters = cases[i].parameters, .duration = 2};
        rg_scene *scene = finish_run(&run);
        double gap = value_of(scene, "joint_gap_m"), energy = value_of(scene, "energy_error_rel");
        rg_step_info sum = rg_world_summary(rg_scene_world(scene));
        if (!(gap <= 1e-9 && energy <= cases[i].energy && sum.energy.closure_rel <= 1e-9 &&
              sum.solver_failures == 0))
            fail_msg("%s %s: gap %.3g m, energy %.3g, closure %.3g, %d failures", run.scene,
                     run.parameters, gap, energy, sum.energy.closure_rel, (int)sum.solver_failures);
        rg_scene_destroy(scene);
    }
}

static void tension_is_first_order_in_the_step(void **state) {
    (void)state;
    double error[2];
    for (int k = 0; k < 2; k++) {
        scene_run run = {.scene = "pendulum", .step = k ? 1.0 / 2000 : 1.0 / 1000, .duration = 2};
        rg_scene *scene = finish_run(&run);
        error[k] = value_of(scene, "tension_error_rel");
        rg_scene_destroy(scene);
    }
    assert_true(error[0] <= 5e-3);
    assert_true(error[1] <= 0.6 * error[0]);
}

static void a_coupler_does_not_turn(void **state) {
    (void)state;
    scene_run run = {.scene = "four-bar", .parameters = "angle=60", .duration = 3};
    rg_scene *scene = finish_run(&run);
    assert_true(value_of(scene, "coupler_turn_rad") <= 1e-9);
    rg_scene_destroy(scene);
}

/* The fingers hold the cube without creep for a minute, and drop it if friction is too small by
 * 1 %. */
static void a_gripper_holds_by_friction(void **state) {
    (void)state;
    scene_run run = {.scene = "gripper"};
    rg_scene *scene = finish_run(&run);
    assert_true(find_measure(scene, "held").value == 1);
    assert_true(value_of(scene, "creep_m") <= 1e-9);
    assert_true(value_of(scene, "joint_gap_m") <= 1e-9);
    rg_scene_destroy(scene);
    run.parameters = "share=0.99", run.duration = 1;
    scene = finish_run(&run);
    /* It falls with 1 % of gravity, less the half step of the first velocity. */
    double fall = value_of(scene, "creep_m");
    assert_true(fabs(fall - 0.5 * 0.01 * 9.81) <= 0.01 * fall);
    rg_scene_destroy(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joints_stay_closed_and_swings_keep_their_energy),
        cmocka_unit_test(tension_is_first_order_in_the_step),
        cmocka_unit_test(a_coupler_does_not_turn),
        cmocka_unit_test(a_gripper_holds_by_friction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
