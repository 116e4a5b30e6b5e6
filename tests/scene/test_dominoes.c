/* Falling dominoes: how deep they get into each other goes with the square of
 * the step. Contacts are held by their tangents, surfaces that turn leave those
 * by (speed)^2 h^2 / (2 arm): Hart-Anitescu 2010, Theorem 10. */
#include "test_support.h"

#include "rigor/rigor.h"
#include "rigor/scene.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { RUNS = 3 };

typedef struct outcome {
    double penetration, complementarity, closure, fallen, t_last;
    uint64_t failures;
} outcome;

static double measure(rg_scene *scene, const char *name) {
    rg_measure measures[16];
    size_t count = rg_scene_measures(scene, measures, 16);
    for (size_t i = 0; i < count && i < 16; i++)
        if (!strcmp(measures[i].name, name))
            return measures[i].value;
    fail_msg("no measure %s", name);
    return 0;
}

static outcome run(const char *count, int per_second, double duration) {
    rg_scene_parameter parameter = {"count", count};
    rg_scene_options options = {.parameters = &parameter, .parameter_count = 1};
    rg_scene *scene;
    rg_error error;
    if (rg_scene_create_builtin("dominoes", &options, &scene, &error))
        fail_msg("%s", error.text);
    rg_world *world = rg_scene_world(scene);
    for (int i = 0; i < duration * per_second; i++) {
        if (rg_world_step(world, 1.0 / per_second, NULL, &error))
            fail_msg("%s", error.text);
        rg_scene_observe(scene);
    }
    rg_step_info sum = rg_world_summary(world);
    outcome o = {sum.certificate.max_penetration, sum.certificate.complementarity,
                 sum.energy.closure_rel,          measure(scene, "fallen"),
                 measure(scene, "t_last_s"),      sum.solver_failures};
    rg_scene_destroy(scene);
    return o;
}

static void penetration_falls_with_the_square_of_the_step(void **state) {
    (void)state;
    outcome o[RUNS];
    for (int i = 0; i < RUNS; i++) {
        int per_second = 120 << i;
        o[i] = run("6", per_second, 2.5);
        double constant = o[i].penetration * per_second * per_second;
        print_message("step 1/%d s: penetration %.3g m = %.3g m/s^2 x h^2, last "
                      "falls at %.4f s\n",
                      per_second, o[i].penetration, constant, o[i].t_last);
        assert_near(o[i].fallen, 6, 0);
        assert_true(o[i].failures == 0);
        assert_true(o[i].complementarity <= 1e-8);
        assert_true(o[i].closure <= 1e-9);
        /* (speed of the far end)^2 / arm: 1 m that fell from upright has 3 g / arm
     * at most, twice that where it is pushed. */
        assert_true(constant < 6 * 9.81);
        assert_true(constant > 0.1);
    }
    for (int i = 1; i < RUNS; i++) {
        double ratio = o[i - 1].penetration / o[i].penetration;
        if (!(ratio > 3.5 && ratio < 4.6))
            fail_msg("halving the step divides the penetration by %.3g", ratio);
        assert_near(o[i].t_last, o[i - 1].t_last, 0.02);
    }
}

/* A stone that lies still and is struck within a step turns: its points that were far above the
 * ground at the beginning of the step may not go through it. */
static void struck_stones_stay_above_the_ground(void **state) {
    (void)state;
    rg_scene_parameter count = {"count", "100"};
    rg_scene_options options = {.parameters = &count, .parameter_count = 1};
    rg_scene *scene;
    rg_error error = {0};
    if (rg_scene_create_builtin("pile", &options, &scene, &error) != RG_OK)
        fail_msg("%s", error.text);
    double deepest = 0;
    for (int i = 0; i < 150; i++) {
        rg_step_info info;
        if (rg_world_step(rg_scene_world(scene), 1.0 / 240, &info, &error) != RG_OK)
            fail_msg("%s", error.text);
        deepest = fmax(deepest, info.certificate.max_penetration);
    }
    print_message("pile of 100, first 0.6 s: %.2g m deep\n", deepest);
    assert_true(deepest < 1e-3);
    rg_scene_destroy(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(penetration_falls_with_the_square_of_the_step),
        cmocka_unit_test(struck_stones_stay_above_the_ground),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
