/* The gallery: what stands only just, beside closed forms on either side of its limit. */
#include "test_scene_support.h"

#include <math.h>
#include <stdio.h>

static double measure_of(rg_scene *scene, const char *name) {
    rg_measure measures[16];
    size_t count = rg_scene_measures(scene, measures, 16);
    for (size_t i = 0; i < count; i++)
        if (strcmp(measures[i].name, name) == 0)
            return measures[i].value;
    fail_msg("no measure %s", name);
    return 0;
}

/* Runs a scene with two parameters; whether it stands, and by how far anything moved. */
static bool stands(const char *name, const char *first, double a, const char *second, double b,
                   double duration, double *moved) {
    char texts[2][32];
    snprintf(texts[0], sizeof texts[0], "%.17g", a);
    snprintf(texts[1], sizeof texts[1], "%.17g", b);
    rg_scene_parameter parameters[] = {{first, texts[0]}, {second, texts[1]}};
    rg_scene_options options = {.parameters = parameters, .parameter_count = 2};
    rg_scene *scene;
    rg_error error = {0};
    if (rg_scene_create(name, &options, &scene, &error))
        fail_msg("%s", error.text);
    rg_world *world = rg_scene_world(scene);
    while (rg_world_time(world) < duration && !(measure_of(scene, "standing") == 0)) {
        if (rg_world_step(world, rg_scene_step_size(scene), NULL, &error))
            fail_msg("%s", error.text);
        rg_scene_observe(scene);
    }
    assert_int_equal(rg_world_summary(world).solver_failures, 0);
    bool result = measure_of(scene, "standing") != 0;
    *moved = measure_of(scene, "max_move_m");
    rg_scene_destroy(scene);
    return result;
}

/* The least thickness of a semicircular arch, by bisection: 0.1075 of the radius within 0.1 %. */
static void the_arch_has_its_least_thickness(void **state) {
    (void)state;
    double low = 0.105, high = 0.11, moved;
    while (high - low > 2e-5) {
        double middle = (low + high) / 2;
        if (stands("arch", "thickness", middle, "stones", 72, 1, &moved)) {
            assert_true(moved < 1e-9);
            high = middle;
        } else {
            low = middle;
        }
    }
    print_message("the thinnest arch of 72 stones: %.5f to %.5f of the radius\n", low, high);
    assert_near((low + high) / 2, 0.1075, 0.001 * 0.1075);
}

/* Bricks reach out by half the harmonic series and no farther. */
static void bricks_reach_out_to_the_harmonic_limit(void **state) {
    (void)state;
    double moved;
    for (int bricks = 1; bricks <= 32; bricks *= 2) {
        assert_true(stands("overhang", "bricks", bricks, "share", 1 - 1e-9, 2, &moved));
        assert_true(moved < 1e-10); /* the solver's tolerance, 1e-8, is above the margin */
        assert_false(stands("overhang", "bricks", bricks, "share", 1 + 1e-6, 2, &moved));
    }
}

/* Four storeys stand for a minute and nothing creeps. One storey needs a coefficient of friction of
 * (tan(lean) - thickness / length) / 2: moments about the lower edge of a card. */
static void a_castle_of_cards_stands(void **state) {
    (void)state;
    double moved, limit = (tan(15 * 3.14159265358979323846 / 180) - 0.3 / 88) / 2;
    assert_true(stands("card-castle", "storeys", 4, "mu", 0.5, 60, &moved));
    assert_true(moved < 1e-12);
    assert_true(stands("card-castle", "storeys", 1, "mu", 1.0001 * limit, 2, &moved));
    assert_true(moved < 1e-12);
    assert_false(stands("card-castle", "storeys", 1, "mu", 0.9999 * limit, 2, &moved));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_arch_has_its_least_thickness),
        cmocka_unit_test(bricks_reach_out_to_the_harmonic_limit),
        cmocka_unit_test(a_castle_of_cards_stands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
