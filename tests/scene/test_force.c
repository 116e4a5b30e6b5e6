/* The scenes of contact forces and friction against their closed forms: Baraff 1989, Figures 7 to
 * 9, the stack of five bricks, the bead that leaves its circle, Painleve's rod. */
#include "scene_measures.h"

#include "rigor/contact_force.h"

#include <stdlib.h>

/* Resting contacts keep a gap of some 1e-10 of their size: so much the geometry differs from that
 * of the closed form. */
#define GEOMETRY 1e-8

static void figures_seven_to_nine(void **state) {
    (void)state;
    run_holds(&(scene_run){.scene = "point-on-incline"}, 1e-9);
    run_gives(&(scene_run){.scene = "point-on-incline", .duration = 0.1}, "force_N", 8.495709,
              1e-7);
    run_gives(&(scene_run){.scene = "point-on-incline", .duration = 0.1}, "acceleration", 4.905,
              1e-9);
    run_holds(&(scene_run){.scene = "block-on-floor"}, 1e-9);
    run_gives(&(scene_run){.scene = "block-on-floor"}, "force_left_N", 11.772, 1e-9);
    run_gives(&(scene_run){.scene = "block-on-floor"}, "force_right_N", 7.848, 1e-9);
    run_holds(&(scene_run){.scene = "block-on-floor", .parameters = "a=0.1 b=2"}, 1e-9);
    run_holds(&(scene_run){.scene = "ledge"}, 1e-9);
    run_gives(&(scene_run){.scene = "ledge", .duration = 0.01}, "force_edge_N", 8.530435, 1e-7);
    run_gives(&(scene_run){.scene = "ledge", .duration = 0.01}, "corner_acceleration", 3.838696,
              1e-7);
    run_holds(&(scene_run){.scene = "ledge", .parameters = "past=0.6"}, 1e-9);
}

/* By both methods: at t = 0 they solve the same problem. */
static void the_forces_of_the_bricks(void **state) {
    (void)state;
    static const char *const methods[] = {"analytic", "stepping"};
    static const char *const stacks[] = {"mu=0", "mu=0 count=2 offset=0.9",
                                         "mu=0 count=2 offset=1.1"};
    for (size_t m = 0; m < 2; m++)
        for (size_t i = 0; i < 3; i++) {
            scene_run run = {.scene = "brick-stack",
                             .parameters = stacks[i],
                             .method = methods[m],
                             .duration = 1.0 / 240};
            rg_scene *scene = finish_run(&run);
            assert_int_equal(measures_hold(scene, GEOMETRY), i == 0 ? 10 : 4);
            rg_scene_destroy(scene);
        }
    /* The two that break, and one that carries most. */
    scene_run five = {
        .scene = "brick-stack", .parameters = "mu=0", .method = "analytic", .duration = 1.0 / 240};
    run_gives(&five, "force_3_N", 0, 0);
    run_gives(&five, "force_10_N", 0, 0);
    run_gives(&five, "force_2_N", 30.247334, 1e-7);
}

/* Two bricks that overhang by 0.9 stay where they are; by 1.1 the upper one falls. */
static void bricks_stand_or_fall(void **state) {
    (void)state;
    scene_run stands = {
        .scene = "brick-stack", .parameters = "mu=0 count=2 offset=0.9", .method = "analytic"};
    run_gives(&stands, "max_move_m", 0, 1e-8);
    scene_run falls = {.scene = "brick-stack",
                       .parameters = "mu=0 count=2 offset=1.1",
                       .method = "analytic",
                       .duration = 1};
    rg_scene *scene = finish_run(&falls);
    assert_true(find_measure(scene, "max_move_m").value > 0.5);
    rg_scene_destroy(scene);
}

static void the_bead_leaves_at_two_thirds(void **state) {
    (void)state;
    run_holds(&(scene_run){.scene = "bead"}, 1e-9);
    run_gives(&(scene_run){.scene = "bead", .parameters = "speed=1e-6", .duration = 6},
              "leaving_cosine", 2.0 / 3, GEOMETRY);
    /* In fixed steps it is seen to have left when it is a millionth of the path away. */
    run_gives(&(scene_run){.scene = "bead", .method = "stepping", .step = 1e-4}, "leaving_cosine",
              2.0 / 3, 0.02);
    /* Fast enough at the top it flies at once. */
    rg_scene *scene = finish_run(&(scene_run){.scene = "bead", .parameters = "speed=2.5"});
    assert_true(find_measure(scene, "leaving_cosine").value > 0.8);
    rg_scene_destroy(scene);
}

static void four_legs_carry_the_table(void **state) {
    (void)state;
    run_holds(&(scene_run){.scene = "table-legs"}, 1e-12);
    run_gives(&(scene_run){.scene = "table-legs"}, "force_sum_N", 12 * 9.81, 1e-12);
}

static void painleve_sticks_from_rest(void **state) {
    (void)state;
    scene_run rest = {.scene = "painleve", .parameters = "case=rest", .duration = 0.01};
    run_holds(&rest, 1e-9);
    run_gives(&rest, "force_normal_N", 8.3385, 1e-8);
    run_gives(&rest, "force_friction_N", 2.943, 1e-8);
}

static void painleve_without_a_force(void **state) {
    (void)state;
    scene_run jammed = {.scene = "painleve", .duration = 0.01};
    run_holds(&jammed, 1e-9);
    run_gives(&jammed, "impulse_normal_Ns", 0.3, 1e-9);
    run_gives(&jammed, "impulse_tangential_Ns", 0.4, 1e-9);
    /* That there were no forces for a moment is resolved, and moved nothing. */
    rg_scene *scene = finish_run(&jammed);
    rg_step_info summary = rg_world_summary(rg_scene_world(scene));
    assert_true(summary.certificate.complementarity < 1e-12);
    assert_int_equal(summary.solver_failures, 0);
    rg_scene_destroy(scene);
}

static void slides_to_a_stop(void **state) {
    (void)state;
    run_holds(&(scene_run){.scene = "block-stop"}, 1e-9);
    run_gives(&(scene_run){.scene = "block-stop"}, "distance_m", 1.146789, 1e-6);
    run_gives(&(scene_run){.scene = "block-stop"}, "stopped_s", 0.764526, 1e-6);
    run_holds(&(scene_run){.scene = "block-stop", .parameters = "speed=1 mu=0.8"}, 1e-9);
}

static void slides_until_it_rolls(void **state) {
    (void)state;
    run_holds(&(scene_run){.scene = "slide-to-roll"}, 1e-9);
    run_gives(&(scene_run){.scene = "slide-to-roll"}, "rolls_s", 0.218436, 1e-6);
    run_gives(&(scene_run){.scene = "slide-to-roll"}, "speed", 15.0 / 7, 1e-9);
}

/* Coulomb's law (Baraff 1994 survey, eq. 12-19): it sticks up to tan(angle) = mu, and slides with g
 * (sin - mu cos) beyond. */
static void slopes_hold_or_let_go(void **state) {
    (void)state;
    scene_run slides = {.scene = "incline", .parameters = "angle=30 mu=0.3", .method = "analytic"};
    run_holds(&slides, 1e-9);
    run_gives(&slides, "acceleration", 2.356287, 1e-6);
    scene_run holds = {
        .scene = "incline", .parameters = "angle=26.5 mu=0.5", .method = "analytic", .duration = 1};
    run_gives(&holds, "creep_m", 0, 1e-9);
}

static void scenes_survive_files(void **state) {
    (void)state;
    static const scene_run runs[] = {
        {.scene = "point-on-incline"},
        {.scene = "block-on-floor"},
        {.scene = "ledge"},
        {.scene = "bead"},
        {.scene = "table-legs"},
        {.scene = "painleve", .parameters = "case=rest"},
        {.scene = "block-stop"},
        {.scene = "slide-to-roll"},
    };
    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++)
        survives_a_file(&runs[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_BOTH(figures_seven_to_nine),     WITH_BOTH(the_forces_of_the_bricks),
        WITH_BOTH(bricks_stand_or_fall),      WITH_BOTH(the_bead_leaves_at_two_thirds),
        WITH_BOTH(four_legs_carry_the_table), WITH_BOTH(painleve_sticks_from_rest),
        WITH_BOTH(painleve_without_a_force),  WITH_BOTH(slides_to_a_stop),
        WITH_BOTH(slides_until_it_rolls),     WITH_BOTH(slopes_hold_or_let_go),
        WITH_BOTH(scenes_survive_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
