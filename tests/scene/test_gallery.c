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

/* Runs a scene with these parameters; whether it stands, and by how far anything moved. */
static bool stands_with(const char *name, const rg_scene_parameter *parameters, size_t count,
                        double duration, double *moved) {
    rg_scene_options options = {.parameters = parameters, .parameter_count = count};
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

static bool stands(const char *name, const char *first, double a, const char *second, double b,
                   double duration, double *moved) {
    char texts[2][32];
    snprintf(texts[0], sizeof texts[0], "%.17g", a);
    snprintf(texts[1], sizeof texts[1], "%.17g", b);
    rg_scene_parameter parameters[] = {{first, texts[0]}, {second, texts[1]}};
    return stands_with(name, parameters, 2, duration, moved);
}

static bool stands_spinal(int bricks, double share, double *moved) {
    char texts[2][32];
    snprintf(texts[0], sizeof texts[0], "%d", bricks);
    snprintf(texts[1], sizeof texts[1], "%.17g", share);
    rg_scene_parameter parameters[] = {
        {"bricks", texts[0]}, {"share", texts[1]}, {"stack", "spinal"}};
    return stands_with("overhang", parameters, 3, 2, moved);
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

/* What is thinner falls as a mechanism: stones turn against each other at five joints and nowhere
 * else, in turn outwards and inwards: at the feet, at 54.5 degrees from the crown on either side
 * (Milankovitch 1907), and at the crown. */
static void the_arch_falls_by_hinges(void **state) {
    (void)state;
    enum { STONES = 72 };
    rg_scene_parameter parameters[] = {{"thickness", "0.105"}, {"stones", "72"}};
    rg_scene_options options = {.parameters = parameters, .parameter_count = 2};
    rg_scene *scene;
    assert_int_equal(rg_scene_create("arch", &options, &scene, NULL), RG_OK);
    rg_world *world = rg_scene_world(scene);
    while (measure_of(scene, "standing") != 0) {
        assert_true(rg_world_time(world) < 5);
        assert_int_equal(rg_world_step(world, rg_scene_step_size(scene), NULL, NULL), RG_OK);
        rg_scene_observe(scene);
    }
    double turned[STONES + 2] = {0}, most = 0; /* with the floor at either end */
    for (size_t i = 0; i < STONES; i++) {
        rg_quat q = rg_body_pose(world, rg_world_body_at(world, i + 1)).orientation;
        turned[i + 1] = 2 * q.y / q.w;
    }
    for (size_t i = 0; i <= STONES; i++)
        most = fmax(most, fabs(turned[i + 1] - turned[i]));
    size_t hinges = 0, at[STONES + 1];
    double last = 0;
    for (size_t i = 0; i <= STONES; i++) {
        double angle = turned[i + 1] - turned[i];
        if (fabs(angle) < 0.05 * most)
            continue;
        print_message("hinge at %.1f degrees from the crown, by %.2g rad\n",
                      90 - 180.0 * (double)i / STONES, angle);
        assert_true(angle * last <= 0);
        last = angle, at[hinges++] = i;
    }
    assert_int_equal(hinges, 5);
    assert_int_equal(at[0], 0);
    assert_near(90 - 180.0 * (double)at[1] / STONES, 54.5, 180.0 / STONES);
    assert_int_equal(at[2], STONES / 2);
    assert_int_equal(at[3], STONES - at[1]);
    assert_int_equal(at[4], STONES);
    rg_scene_destroy(scene);
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

/* How far a spinal stack of this weight reaches at best, by dynamic programming over what a level
 * weighs with all above it, on a grid: a little less than the best of all weights. */
static double best_reach_on_a_grid(size_t bricks) {
    enum { FINE = 50, MOST = 12 * FINE };
    static double best[MOST + 1];
    size_t end = bricks * FINE;
    for (size_t b = FINE; b <= end; b++) {
        best[b] = 1 - 0.5 * FINE / (double)b;
        for (size_t a = FINE; a + FINE <= b; a++)
            best[b] = fmax(best[b], best[a] + 1 - ((double)a + 0.5 * FINE) / (double)b);
    }
    return best[end];
}

/* The limits of a scene in lengths of a brick, as its measure says. */
static double limit_of_spine(size_t bricks) {
    char text[32];
    snprintf(text, sizeof text, "%zu", bricks);
    rg_scene_parameter parameters[] = {{"bricks", text}, {"stack", "spinal"}};
    rg_scene_options options = {.parameters = parameters, .parameter_count = 2};
    rg_scene *scene;
    assert_int_equal(rg_scene_create("overhang", &options, &scene, NULL), RG_OK);
    double limit = measure_of(scene, "limit") / 0.24;
    rg_scene_destroy(scene);
    return limit;
}

/* With counterweights bricks reach farther: 3/4 for two, (15 - 4 sqrt 2) / 8 for four, which is the
 * farthest of all stacks of four (Paterson and Zwick 2009), and 1 + ln(n) at most. */
static void counterweights_reach_out_to_the_spinal_limit(void **state) {
    (void)state;
    double moved;
    assert_near(limit_of_spine(1), 0.5, 1e-15);
    assert_near(limit_of_spine(2), 0.75, 1e-15);
    assert_near(limit_of_spine(4), (15 - 4 * sqrt(2)) / 8, 1e-14);
    for (size_t bricks = 3; bricks <= 12; bricks += 3) {
        double grid = best_reach_on_a_grid(bricks), limit = limit_of_spine(bricks);
        assert_true(limit >= grid && limit < grid + 1e-3);
        assert_true(limit < 1 + log((double)bricks));
    }
    for (int bricks = 1; bricks <= 64; bricks *= 4) {
        print_message("spinal stack of %d: %.6f\n", bricks, limit_of_spine((size_t)bricks));
        assert_true(stands_spinal(bricks, 1 - 1e-9, &moved));
        assert_true(moved < 1e-10);
        assert_false(stands_spinal(bricks, 1 + 1e-6, &moved));
    }
}

/* The density of fluid that pushes a wall of 12 courses over or off its base, beside moments and
 * friction at its base: 2200 kg/m^3, 1.2 m high, 0.5 m wide below and 0.35 m above, in steps. */
static void the_wall_holds_until_the_limit(void **state) {
    (void)state;
    double mass = 0, moment = 0, moved;
    for (int i = 0; i < 12; i++) {
        double width = 0.5 - 0.15 * i / 12;
        mass += 220 * width, moment += 220 * width * (0.5 - width / 2);
    }
    const double friction[] = {0.8, 0.5};
    const double expected[] = {6 * moment / (1.2 * 1.2 * 1.2), 2 * 0.5 * mass / (1.2 * 1.2)};
    for (int k = 0; k < 2; k++) {
        double low = 100, high = 5000;
        while (high - low > 1e-5 * low) {
            double middle = (low + high) / 2;
            stands("dry-wall", "fluid", middle, "mu", friction[k], 0.5, &moved);
            *(moved < 1e-10 ? &low : &high) = middle; /* a wall that gives way does so slowly */
        }
        print_message("the wall with mu %g holds up to %.3f kg/m^3, as statics say %.3f\n",
                      friction[k], low, expected[k]);
        assert_near((low + high) / 2, expected[k], 1e-5 * expected[k]);
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
        cmocka_unit_test(the_arch_falls_by_hinges),
        cmocka_unit_test(bricks_reach_out_to_the_harmonic_limit),
        cmocka_unit_test(counterweights_reach_out_to_the_spinal_limit),
        cmocka_unit_test(the_wall_holds_until_the_limit),
        cmocka_unit_test(a_castle_of_cards_stands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
