/* Bodies that spin and roll on curved surfaces: the rattleback turns round one way only, the tippe top
 * turns over and keeps Jellett's constant, Euler's disc goes round at its closed-form rate. */
#include "scene_measures.h"

#include <stdlib.h>

static void the_rattleback_prefers_a_way(void **state) {
    (void)state;
    scene_run wrong = {.scene = "rattleback", .duration = 4}, right = wrong;
    right.parameters = "spin=5";
    right.duration = 1;
    rg_scene *a = finish_run(&wrong), *b = finish_run(&right);
    assert_true(find_measure(a, "turned_round").value == 1);
    assert_true(find_measure(a, "spin_against").value > 1);
    assert_true(find_measure(b, "turned_round").value == 0);
    /* Rolling costs nothing. */
    assert_near(find_measure(a, "energy_error_rel").value, 0, 1e-7);
    rg_scene_free(a);
    rg_scene_free(b);
}

static void the_top_turns_over(void **state) {
    (void)state;
    scene_run run = {.scene = "tippe-top", .duration = 1.2};
    rg_scene *scene = finish_run(&run);
    assert_true(find_measure(scene, "turned_over").value == 1);
    assert_near(find_measure(scene, "jellett_error_rel").value, 0, 1e-8);
    rg_step_info summary = rg_world_summary(rg_scene_world(scene));
    assert_true(summary.energy.friction_work < 0);
    assert_true(summary.energy.closure_rel < 1e-8);
    rg_scene_free(scene);
}

static void the_disc_keeps_its_rate(void **state) {
    (void)state;
    run_holds(&(scene_run){.scene = "euler-disc", .duration = 0.5}, 1e-8);
    run_holds(&(scene_run){.scene = "euler-disc", .parameters = "angle=30", .duration = 0.5}, 1e-8);
    /* A thin disc: 4 g/(r sin). */
    run_gives(&(scene_run){.scene = "euler-disc", .duration = 0.25}, "rate_rad_s", 47.53847, 1e-2);
}

static void scenes_survive_files(void **state) {
    (void)state;
    survives_a_file(&(scene_run){.scene = "rattleback"});
    survives_a_file(&(scene_run){.scene = "tippe-top"});
    survives_a_file(&(scene_run){.scene = "euler-disc"});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rattleback_prefers_a_way),
        cmocka_unit_test(the_top_turns_over),
        cmocka_unit_test(the_disc_keeps_its_rate),
        cmocka_unit_test(scenes_survive_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
