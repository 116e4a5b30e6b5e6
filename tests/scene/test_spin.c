/* Bodies that spin and roll on curved surfaces: the rattleback turns round one way only, the tippe
 * top turns over and keeps Jellett's constant, Euler's disc goes round at its closed-form rate. */
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
    rg_scene_destroy(a);
    rg_scene_destroy(b);
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
    rg_scene_destroy(scene);
}

static void the_disc_keeps_its_rate(void **state) {
    (void)state;
    run_holds(&(scene_run){.scene = "euler-disc", .duration = 0.5}, 1e-8);
    run_holds(&(scene_run){.scene = "euler-disc", .parameters = "angle=30", .duration = 0.5}, 1e-8);
    /* A thin disc: 4 g/(r sin). */
    run_gives(&(scene_run){.scene = "euler-disc", .duration = 0.25}, "rate_rad_s", 47.53847, 1e-2);
}

/* Both integrators come to the same end, the closer the tighter. */
static double difference_at_end(const scene_run *run, double tolerance) {
    rg_body_id body;
    rg_pose pose[2];
    rg_vec3 spin[2];
    for (int k = 0; k < 2; k++) {
        scene_run one = *run;
        one.integrator = k ? "adams" : "dormand-prince";
        rg_scene *scene = build_run(&one);
        rg_world *world = rg_scene_world(scene);
        rg_method_settings settings = rg_world_settings(world);
        settings.tolerance = tolerance;
        assert_int_equal(rg_world_set_method(world, rg_world_method(world), &settings, NULL),
                         RG_OK);
        run_scene(scene, run->duration);
        body = rg_world_body_at(world, rg_world_body_count(world) - 1);
        pose[k] = rg_body_pose(world, body);
        spin[k] = rg_body_angular_velocity(world, body);
        rg_step_info summary = rg_world_summary(world);
        assert_true(summary.energy.closure_rel < 1e-8);
        assert_true(summary.certificate.max_penetration == 0);
        rg_scene_destroy(scene);
    }
    rg_quat p = pose[0].orientation, q = pose[1].orientation;
    double turn = fabs(p.x * q.x + p.y * q.y + p.z * q.z + p.w * q.w);
    rg_vec3 way = {p.x - q.x, p.y - q.y, p.z - q.z}, x = pose[0].position, y = pose[1].position;
    double apart = fmax(fabs(x.x - y.x), fmax(fabs(x.y - y.y), fabs(x.z - y.z)));
    double faster = fmax(fabs(spin[0].x - spin[1].x),
                         fmax(fabs(spin[0].y - spin[1].y), fabs(spin[0].z - spin[1].z)));
    double fast = fmax(fabs(spin[0].x), fmax(fabs(spin[0].y), fabs(spin[0].z)));
    assert_true(turn > 0.5 && fast > 1);
    return fmax(apart, fmax(faster / fast, fmax(fabs(way.x), fmax(fabs(way.y), fabs(way.z)))));
}

static void both_integrators_agree(void **state) {
    (void)state;
    scene_run runs[] = {{.scene = "euler-disc", .duration = 0.5},
                        {.scene = "tippe-top", .duration = 0.4},
                        {.scene = "rattleback", .duration = 0.5}};
    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
        double coarse = difference_at_end(&runs[i], 1e-9),
               fine = difference_at_end(&runs[i], 1e-12);
        print_message("%s: %.3g apart, at a tolerance of 1e-12 %.3g\n", runs[i].scene, coarse,
                      fine);
        assert_true(coarse < 1e-8);
        assert_true(fine < 1e-10);
    }
}

static void scenes_survive_files(void **state) {
    (void)state;
    survives_a_file(&(scene_run){.scene = "rattleback"});
    survives_a_file(&(scene_run){.scene = "tippe-top"});
    survives_a_file(&(scene_run){.scene = "euler-disc"});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_BOTH(the_rattleback_prefers_a_way), WITH_BOTH(the_top_turns_over),
        WITH_BOTH(the_disc_keeps_its_rate),      cmocka_unit_test(both_integrators_agree),
        WITH_BOTH(scenes_survive_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
