/* Built-in scenes: the list, parameters, determinism, and measures against closed forms. */
#include "test_scene_support.h"

#include <math.h>
#include <stdio.h>

static rg_scene *build(const char *name, const rg_scene_parameter *parameters, size_t count) {
    rg_scene_options options = {.parameters = parameters, .parameter_count = count};
    rg_scene *scene;
    rg_error error = {0};
    if (rg_scene_create_builtin(name, &options, &scene, &error) != RG_OK)
        fail_msg("%s", error.text);
    return scene;
}

static rg_measure measure_of(rg_scene *scene, const char *name) {
    rg_measure measures[32];
    size_t count = rg_scene_measures(scene, measures, 32);
    assert_true(count <= 32);
    for (size_t i = 0; i < count; i++)
        if (strcmp(measures[i].name, name) == 0)
            return measures[i];
    fail_msg("there is no measure %s", name);
    return (rg_measure){0};
}

static void the_list(void **state) {
    (void)state;
    assert_true(rg_builtin_count() >= 16);
    assert_string_equal(rg_builtin_at(0).name, "dominoes"); /* the default comes first */
    for (size_t i = 0; i < rg_builtin_count(); i++) {
        rg_builtin_info info = rg_builtin_at(i);
        assert_true(strlen(info.summary) > 10);
        for (size_t p = 0; p < info.parameter_count; p++)
            assert_non_null(info.parameters[p].default_value);
        rg_scene *scene = build(info.name, NULL, 0);
        assert_string_equal(rg_scene_name(scene), info.name);
        assert_true(rg_scene_duration(scene) > 0);
        assert_true(rg_scene_measures(scene, NULL, 0) >= 1);
        /* The defaults that the list shows are the defaults. */
        rg_scene_parameter given[8];
        for (size_t p = 0; p < info.parameter_count; p++)
            given[p] =
                (rg_scene_parameter){info.parameters[p].name, info.parameters[p].default_value};
        rg_scene *same = build(info.name, given, info.parameter_count);
        assert_true(rg_world_state_hash(rg_scene_world(scene)) ==
                    rg_world_state_hash(rg_scene_world(same)));
        rg_scene_destroy(scene);
        rg_scene_destroy(same);
    }
}

/* The public table of parameters is what values are checked against. */
static void values_outside_their_range_are_refused(void **state) {
    (void)state;
    for (size_t i = 0; i < rg_builtin_count(); i++) {
        rg_builtin_info info = rg_builtin_at(i);
        for (size_t p = 0; p < info.parameter_count; p++) {
            const rg_builtin_parameter *parameter = &info.parameters[p];
            char above[40], below[40];
            snprintf(above, sizeof above, "%.17g", parameter->high * (1 + 1e-9) + 1);
            snprintf(below, sizeof below, "%.17g", parameter->low * (1 + 1e-9) - 1);
            const char *const refused[] = {above, below, parameter->whole ? "1.5" : "x"};
            for (size_t k = 0; k < 3; k++) {
                rg_scene_parameter given = {parameter->name, refused[k]};
                rg_scene_options options = {.parameters = &given, .parameter_count = 1};
                rg_scene *scene;
                assert_int_equal(rg_scene_create_builtin(info.name, &options, &scene, NULL),
                                 RG_INVALID_ARGUMENT);
            }
        }
    }
}

static void the_same_bits_for_any_number_of_threads(void **state) {
    (void)state;
    for (size_t i = 0; i < rg_builtin_count(); i++) {
        uint64_t hashes[3];
        for (int threads = 1; threads <= 3; threads++) {
            rg_scene_options options = {.threads = threads};
            rg_scene *scene;
            assert_int_equal(rg_scene_create_builtin(rg_builtin_at(i).name, &options, &scene, NULL),
                             RG_OK);
            run_scene(scene, 0.05); /* longer runs: tests/scripts/test_run_hashes.py */
            hashes[threads - 1] = rg_world_state_hash(rg_scene_world(scene));
            rg_scene_destroy(scene);
        }
        assert_true(hashes[0] == hashes[1] && hashes[0] == hashes[2]);
    }
}

static void spinning_top_follows_its_cone(void **state) {
    (void)state;
    rg_scene *scene = build("spinning-top", NULL, 0);
    run_scene(scene, rg_scene_duration(scene));
    assert_near(measure_of(scene, "energy_drift_rel").value, 0, 1e-12);
    assert_near(measure_of(scene, "angular_momentum_drift_rel").value, 0, 1e-12);
    /* It has gone round several times, so that the angle is a sharp test of the rate. */
    assert_near(measure_of(scene, "axis_error_rad").value, 0, 1e-10);
    rg_scene_destroy(scene);
}

static void a_wrong_rate_would_show(void **state) {
    (void)state;
    /* The stepping method turns at second order: its error must be seen. */
    rg_scene_options options = {.method = "stepping", .step = 0.01};
    rg_scene *scene;
    assert_int_equal(rg_scene_create_builtin("spinning-top", &options, &scene, NULL), RG_OK);
    run_scene(scene, 5);
    assert_true(measure_of(scene, "axis_error_rad").value > 1e-6);
    rg_scene_destroy(scene);
}

static void racket_flips_in_time(void **state) {
    (void)state;
    rg_scene *scene = build("tennis-racket", NULL, 0);
    run_scene(scene, rg_scene_duration(scene));
    assert_near(measure_of(scene, "energy_drift_rel").value, 0, 1e-12);
    assert_near(measure_of(scene, "angular_momentum_drift_rel").value, 0, 1e-12);
    rg_measure period = measure_of(scene, "flip_period_s");
    assert_true(period.has_expected);
    assert_near(measure_of(scene, "flips").value, floor(10 / period.expected + 0.5), 0);
    /* Close to the separatrix the period magnifies the drift of energy by (spin / nudge)^2. */
    assert_near(period.value, period.expected, 1e-6);
    rg_scene_destroy(scene);
}

static void racket_with_a_big_nudge(void **state) {
    (void)state;
    /* Far from the separatrix, on both sides of it. */
    static const char *const nudges[] = {"2", "6"};
    for (size_t i = 0; i < 2; i++) {
        rg_scene_parameter given[] = {{"spin", "5"}, {"nudge", nudges[i]}};
        rg_scene *scene = build("tennis-racket", given, 2);
        run_scene(scene, 10);
        rg_measure period = measure_of(scene, "flip_period_s");
        assert_true(measure_of(scene, "flips").value >= 5);
        assert_near(period.value, period.expected, 2e-8 * period.expected);
        rg_scene_destroy(scene);
    }
}

static void projectiles_follow_parabolas(void **state) {
    (void)state;
    rg_scene *scene = build("projectiles", NULL, 0);
    assert_int_equal(rg_world_body_count(rg_scene_world(scene)), 1000);
    run_scene(scene, rg_scene_duration(scene));
    /* 2400 additions to coordinates of up to 500 m. */
    assert_near(measure_of(scene, "position_error_m").value, 0, 1e-9);
    assert_near(measure_of(scene, "energy_drift_rel").value, 0, 1e-12);
    rg_scene_destroy(scene);
}

/* Random numbers must be drawn in an order that the source says, not the compiler: the last body
 * tells. */
static void draws_have_an_order(void **state) {
    (void)state;
    rg_scene *scene = build("projectiles", NULL, 0);
    const rg_world *world = rg_scene_world(scene);
    rg_body_id last = rg_world_body_at(world, 999);
    assert_vector(rg_body_pose(world, last).position, -46.644050209868546, -25.043729568016914, 0);
    assert_vector(rg_body_velocity(world, last), -1.4598168855661453, -4.9179308896887406,
                  23.190726888780894);
    assert_near(rg_body_angular_velocity(world, last).z, 1.5795218348815123, 0);
    rg_scene_destroy(scene);
}

static void seeds_differ(void **state) {
    (void)state;
    rg_scene_parameter one[] = {{"count", "10"}, {"seed", "1"}};
    rg_scene_parameter two[] = {{"count", "10"}, {"seed", "2"}};
    rg_scene *a = build("projectiles", one, 2), *b = build("projectiles", two, 2);
    assert_int_equal(rg_world_body_count(rg_scene_world(a)), 10);
    assert_true(rg_world_state_hash(rg_scene_world(a)) != rg_world_state_hash(rg_scene_world(b)));
    rg_scene_destroy(a);
    rg_scene_destroy(b);
}

static void wrong_parameters_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *scene;
        rg_scene_parameter given;
        rg_status status;
        const char *message;
    } cases[] = {
        {"projectiles",
         {"count", "0"},
         RG_INVALID_ARGUMENT,
         "projectiles: parameter count=0: must be a whole number from 1 to 10000000"},
        {"projectiles",
         {"count", "2.5"},
         RG_INVALID_ARGUMENT,
         "projectiles: parameter count=2.5: must be a whole number from 1 to 10000000"},
        {"projectiles",
         {"count", "1e9"},
         RG_INVALID_ARGUMENT,
         "projectiles: parameter count=1e9: must be a whole number from 1 to 10000000"},
        {"projectiles",
         {"count", "many"},
         RG_INVALID_ARGUMENT,
         "projectiles: parameter count=many: must be a whole number from 1 to 10000000"},
        {"projectiles",
         {"count", "2*(3"},
         RG_SYNTAX,
         "projectiles: parameter count=2*(3: at column 5: expected \")\", not the end"},
        {"projectiles",
         {"cuont", "3"},
         RG_NOT_FOUND,
         "projectiles: there is no parameter \"cuont\"; the parameters are: count, seed"},
        {"spinning-top",
         {"spin", "-1"},
         RG_INVALID_ARGUMENT,
         "spinning-top: parameter spin=-1: must be a number from 0.01 to 200"},
        {"painleve",
         {"case", "rset"},
         RG_INVALID_ARGUMENT,
         "painleve: parameter case=rset: must be one of: inconsistent, indeterminate, rest"},
        {"cradle",
         {"moving", "5"},
         RG_INVALID_ARGUMENT,
         "cradle: moving=5: at least one of the 5 balls must be at rest"},
        {"towr",
         {"count", "3"},
         RG_NOT_FOUND,
         "towr: neither a built-in scene nor a file; did you mean \"tower\"?"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        rg_scene_options options = {.parameters = &cases[i].given, .parameter_count = 1};
        rg_scene *scene = (rg_scene *)1;
        rg_error error = {0};
        assert_int_equal(rg_scene_create_builtin(cases[i].scene, &options, &scene, &error),
                         cases[i].status);
        assert_null(scene);
        assert_string_equal(error.text, cases[i].message);
    }
}

/* Balls are where the funnel lets them be; those over the opening have fallen out by 1 s, and none
 * has passed a plate or a wall. */
static void a_funnel_lets_balls_through_its_opening_only(void **state) {
    (void)state;
    rg_scene_parameter given[] = {{"count", "60"}};
    rg_scene *scene = build("funnel", given, 1);
    rg_world *world = rg_scene_world(scene);
    rg_body_id last = rg_world_body_at(world, rg_world_body_count(world) - 1);
    const double r = 0.035, pi = 3.14159265358979323846;
    assert_near(rg_body_mass(world, last).mass, 1000 * 4.0 / 3 * pi * r * r * r, 1e-15);
    assert_near(measure_of(scene, "passed").value, 0, 0);
    double energy = rg_world_energy(world);
    run_scene(scene, 1);
    assert_near(measure_of(scene, "escaped").value, 0, 0);
    assert_true(measure_of(scene, "passed").value >= 20);
    assert_true(rg_world_energy(world) < energy);
    assert_true(rg_world_summary(world).certificate.max_penetration < 0.1 * r);
    rg_scene_destroy(scene);
}

/* Before the ball arrives, 2.5 m at 10 m/s away, nothing moves; then it brings down what it hits.
 */
static void a_ball_brings_down_what_stands(void **state) {
    (void)state;
    rg_scene_parameter wall[] = {{"columns", "3"}, {"rows", "3"}};
    rg_scene_parameter pyramid[] = {{"base", "3"}};
    rg_scene *scenes[] = {build("wall", wall, 2), build("pyramid-hit", pyramid, 1)};
    const size_t boxes[] = {9, 6};
    for (int i = 0; i < 2; i++) {
        rg_world *world = rg_scene_world(scenes[i]);
        assert_int_equal(rg_world_body_count(world), 2 + boxes[i]);
        double energy = rg_world_energy(world);
        run_scene(scenes[i], 0.24);
        assert_near(rg_world_summary(world).certificate.max_penetration, 0, 1e-12);
        assert_near(measure_of(scenes[i], "moved").value, 0, 0);
        run_scene(scenes[i], 0.6);
        assert_true(measure_of(scenes[i], "moved").value >= 3);
        assert_true(rg_world_energy(world) < energy);
        assert_int_equal(rg_world_summary(world).passed_through, 0);
        rg_scene_destroy(scenes[i]);
    }
}

/* The walls go to and fro as one, and keep what is between them. */
static void a_shaken_box_keeps_its_boxes(void **state) {
    (void)state;
    rg_scene_parameter given[] = {{"count", "20"}, {"amplitude", "0.2"}};
    rg_scene *scene = build("shaken-box", given, 2);
    rg_world *world = rg_scene_world(scene);
    assert_int_equal(rg_world_body_count(world), 5 + 20);
    run_scene(scene, 0.125); /* a quarter of a period: as far as it goes */
    for (size_t i = 0; i < 5; i++) {
        rg_body_id wall = rg_world_body_at(world, i);
        double start = i == 1 ? 2.25 : i == 2 ? -2.25 : 0;
        assert_near(rg_body_pose(world, wall).position.x, start + 0.2, 1e-12);
    }
    run_scene(scene, 0.375);
    assert_near(measure_of(scene, "escaped").value, 0, 0);
    assert_true(measure_of(scene, "kinetic_J").value > 0);
    assert_int_equal(rg_world_summary(world).passed_through, 0);
    rg_scene_destroy(scene);
}

/* In flight energy is kept; a bounce that is found within a step of h errs by no more than the fall
 * of a step at the speed of the impact, v h. */
static void elastic_balls_keep_their_energy(void **state) {
    (void)state;
    rg_scene *cube = build("elastic-666", NULL, 0), *grid = build("bouncing", NULL, 0);
    assert_int_equal(rg_world_body_count(rg_scene_world(cube)), 1 + 216);
    run_scene(cube, 0.4); /* the floor is reached after 0.45 s */
    assert_near(measure_of(cube, "energy_error_rel").value, 0, 1e-12);
    rg_scene_destroy(cube);
    assert_int_equal(rg_world_body_count(rg_scene_world(grid)), 1 + 49);
    run_scene(grid, 0.9); /* after 0.99 s */
    assert_near(measure_of(grid, "energy_error_rel").value, 0, 1e-12);
    run_scene(grid, 1.2);
    double speed = sqrt(2 * 9.81 * 4.9), height = 5, step = 1e-3;
    assert_near(measure_of(grid, "energy_error_rel").value, 0, speed * step / height);
    assert_true(measure_of(grid, "energy_error_sq").value > 0);
    rg_scene_destroy(grid);
}

/* The first step of a scene has no forces to start from. Sweeps, and the interior point after them,
 * took 92 iterations with base 20; Newton's method with all of the friction from the start 18 with
 * base 40. */
static void what_stands_begins_quickly(void **state) {
    static const char *const bases[] = {"20", "40"};
    (void)state;
    for (size_t i = 0; i < sizeof bases / sizeof *bases; i++) {
        rg_scene_parameter base[] = {{"base", bases[i]}};
        rg_scene *scene = build("pyramid", base, 1);
        rg_step_info info;
        assert_int_equal(rg_world_step(rg_scene_world(scene), 1.0 / 240, &info, NULL), RG_OK);
        assert_true(info.solver_iterations <= 10);
        assert_int_equal(info.solver_failures, 0);
        assert_true(info.certificate.complementarity <= 1e-10);
        assert_true(info.certificate.max_penetration <= 1e-15);
        rg_scene_destroy(scene);
    }
}

/* What stands comes to rest to the last bit, and is then not computed any more. */
static void what_stands_rests(void **state) {
    (void)state;
    static const char *const names[] = {"kapla", "pyramid", "tower", "mass-ratio"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        rg_scene *scene = build(names[i], NULL, 0), *start = build(names[i], NULL, 0);
        rg_world *world = rg_scene_world(scene), *before = rg_scene_world(start);
        run_scene(scene, 0.25);
        rg_step_info info;
        assert_int_equal(rg_world_step(world, rg_scene_step_size(scene), &info, NULL), RG_OK);
        if (info.profile.step != 0)
            fail_msg("%s does not rest", names[i]);
        assert_true(info.certificate.momentum_error < 1e-12);
        double moved = 0;
        for (size_t k = 0; k < rg_world_body_count(world); k++) {
            rg_vec3 now = rg_body_pose(world, rg_world_body_at(world, k)).position;
            rg_vec3 then = rg_body_pose(before, rg_world_body_at(before, k)).position;
            moved = fmax(moved, rg_length(rg_sub(now, then)));
        }
        print_message("%s: moved by %.1e m before it rests\n", names[i], moved);
        assert_true(moved <= 1e-12);
        rg_scene_destroy(start);
        rg_scene_destroy(scene);
    }
}

static void scenes_from_files_have_no_measures(void **state) {
    (void)state;
    rg_scene *scene = read_scene("{}");
    rg_scene_observe(scene);
    assert_int_equal(rg_scene_measures(scene, NULL, 0), 0);
    rg_scene_destroy(scene);
    rg_scene_destroy(NULL);
}

/* Who has written blocks.yaml types `rigor run blocks`. */
static void name_without_ending(void **state) {
    (void)state;
    static const char path[] = "test-builtin-blocks.yaml";
    rg_error error = {0};
    rg_scene *scene;
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
    assert_int_equal(rg_scene_create("test-builtin-blocks", NULL, &scene, &error), RG_NOT_FOUND);
    remove(path);
    assert_string_equal(error.text, "test-builtin-blocks: neither a built-in scene nor a file; did "
                                    "you mean \"test-builtin-blocks.yaml\"?");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(name_without_ending),
        cmocka_unit_test(the_list),
        cmocka_unit_test(values_outside_their_range_are_refused),
        cmocka_unit_test(the_same_bits_for_any_number_of_threads),
        cmocka_unit_test(spinning_top_follows_its_cone),
        cmocka_unit_test(a_wrong_rate_would_show),
        cmocka_unit_test(racket_flips_in_time),
        cmocka_unit_test(racket_with_a_big_nudge),
        cmocka_unit_test(projectiles_follow_parabolas),
        cmocka_unit_test(draws_have_an_order),
        cmocka_unit_test(seeds_differ),
        cmocka_unit_test(wrong_parameters_are_refused),
        cmocka_unit_test(a_funnel_lets_balls_through_its_opening_only),
        cmocka_unit_test(a_ball_brings_down_what_stands),
        cmocka_unit_test(a_shaken_box_keeps_its_boxes),
        cmocka_unit_test(elastic_balls_keep_their_energy),
        cmocka_unit_test(what_stands_begins_quickly),
        cmocka_unit_test(what_stands_rests),
        cmocka_unit_test(scenes_from_files_have_no_measures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
