/* Studies: what each run is given, in any order; the distributions and the three samplings. Want of
 * memory is tried in test_memory.c, messages of bad studies in tests/scripts/test_run_sweep.py. */
#include "test_support.h"

#include "rigor/study.h"
#include "scene/scene_study.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[] = "/tmp/rigor-study-XXXXXX";

static rg_study *read_study(const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    rg_study *study;
    rg_error error = {0};
    if (rg_study_read_file(path, NULL, &study, &error))
        fail_msg("%s", error.text);
    return study;
}

static double number(rg_study *study, uint64_t run, size_t parameter) {
    rg_scene_parameter parameters[8];
    rg_study_parameters(study, run, parameters);
    return strtod(parameters[parameter].value, NULL);
}

/* The last list is the fastest, draws are faster still. */
static void runs_have_an_order(void **state) {
    (void)state;
    rg_study *study = read_study("study: 1\nscene: incline\ndraws: 2\n"
                                 "parameters:\n  a: [1, 2]\n  b: {from: 10, to: 30, count: 3}\n"
                                 "  c: word\n  d: {uniform: [0, 1]}\n");
    rg_study_info info = rg_study_get_info(study);
    assert_int_equal(info.runs, 12);
    assert_int_equal(info.parameter_count, 4);
    assert_string_equal(info.scene, "incline");
    for (uint64_t run = 0; run < 12; run++) {
        rg_scene_parameter parameters[4];
        rg_study_parameters(study, run, parameters);
        assert_string_equal(parameters[0].name, "a");
        assert_string_equal(parameters[0].value, run < 6 ? "1" : "2");
        assert_near(number(study, run, 1), 10 + 10 * (double)(run / 2 % 3), 0);
        assert_string_equal(parameters[2].value, "word");
        for (uint64_t other = 0; other < run; other++)
            assert_true(number(study, run, 3) != number(study, other, 3));
    }
    /* The same again, backwards. */
    double forwards[12];
    for (uint64_t run = 0; run < 12; run++)
        forwards[run] = number(study, run, 3);
    for (uint64_t run = 12; run-- > 0;)
        assert_near(number(study, run, 3), forwards[run], 0);
    rg_study_destroy(study);
}

static void ranges_end_where_they_are_told_to(void **state) {
    (void)state;
    rg_study *study = read_study("study: 1\nscene: incline\nparameters:\n"
                                 "  a: {from: 0.001, to: 10, count: 5, scale: log}\n");
    double expected[] = {0.001, 0.01, 0.1, 1, 10};
    for (uint64_t run = 0; run < 5; run++)
        assert_near(number(study, run, 0), expected[run], 1e-15 * expected[run]);
    assert_near(number(study, 4, 0), 10, 0);
    rg_study_destroy(study);
}

/* Quantiles of the standard normal distribution to all digits of tables. */
static void quantiles(void **state) {
    (void)state;
    assert_near(rg_normal_quantile(0.5), 0, 1e-15);
    assert_near(rg_normal_quantile(0.975), 1.959963984540054, 1e-14);
    assert_near(rg_normal_quantile(0.8413447460685429), 1, 1e-14);
    assert_near(rg_normal_quantile(0.0013498980316300933), -3, 1e-12);
    assert_true(isfinite(rg_normal_quantile(0x1p-54)) && rg_normal_quantile(0x1p-54) < -8);
    assert_true(isfinite(rg_normal_quantile(1 - 0x1p-53)));
}

/* Moments of 20,000 plain draws, within five standard errors. */
static void moments(void **state) {
    (void)state;
    rg_study *study = read_study("study: 1\nscene: incline\ndraws: 20000\nparameters:\n"
                                 "  a: {uniform: [2, 4]}\n  b: {normal: [5, 3]}\n"
                                 "  c: {whole: [1, 6]}\n  d: {log_uniform: [1, 100]}\n");
    double sum[4] = {0}, squares = 0;
    int faces[7] = {0};
    for (uint64_t run = 0; run < 20000; run++) {
        rg_scene_parameter parameters[4];
        rg_study_parameters(study, run, parameters);
        for (int k = 0; k < 4; k++)
            sum[k] += strtod(parameters[k].value, NULL) / 20000;
        double b = strtod(parameters[1].value, NULL) - 5;
        squares += b * b / 20000;
        faces[(int)strtod(parameters[2].value, NULL)]++;
    }
    double root = sqrt(20000);
    assert_near(sum[0], 3, 5 * sqrt(4.0 / 12) / root);
    assert_near(sum[1], 5, 5 * 3 / root);
    assert_near(squares, 9, 5 * 9 * sqrt(2) / root);
    assert_near(sum[2], 3.5, 5 * sqrt(35.0 / 12) / root);
    assert_near(sum[3], 99 / log(100), 5 * 25 / root);
    assert_int_equal(faces[0], 0);
    for (int k = 1; k <= 6; k++)
        assert_near(faces[k], 20000.0 / 6, 5 * sqrt(20000.0 * 5 / 36));
    rg_study_destroy(study);
}

/* A Latin hypercube has one draw in each of n strata of each parameter. */
static void strata(void **state) {
    (void)state;
    rg_study *study = read_study("study: 1\nscene: incline\ndraws: 97\nsampling: latin-hypercube\n"
                                 "parameters: {a: {uniform: [0, 1]}, b: {uniform: [0, 1]}}\n");
    for (size_t k = 0; k < 2; k++) {
        int hits[97] = {0};
        for (uint64_t run = 0; run < 97; run++)
            hits[(int)(97 * number(study, run, k))]++;
        for (int i = 0; i < 97; i++)
            assert_int_equal(hits[i], 1);
    }
    rg_study_destroy(study);
}

/* Sobol's sequence: of the first 2^m points every dyadic interval of length 2^-m has one in each of
 * the ten dimensions, and the first two dimensions form a (0, m, 2) net: so has every elementary
 * rectangle. The seed's shift keeps both. */
static void nets(void **state) {
    (void)state;
    enum { M = 8, N = 1 << M };
    rg_study *study =
        read_study("study: 1\nscene: incline\ndraws: 256\nsampling: sobol\nseed: 3\nparameters:\n"
                   "  a: {uniform: [0, 1]}\n  b: {uniform: [0, 1]}\n  c: {uniform: [0, 1]}\n"
                   "  d: {uniform: [0, 1]}\n  e: {uniform: [0, 1]}\n  f: {uniform: [0, 1]}\n"
                   "  g: {uniform: [0, 1]}\n  h: {uniform: [0, 1]}\n  i: {uniform: [0, 1]}\n"
                   "  j: {uniform: [0, 1]}\n");
    for (size_t d = 0; d < RG_SOBOL_DIMENSIONS; d++) {
        int hits[N] = {0};
        for (uint64_t run = 0; run < N; run++)
            hits[(int)(N * rg_study_unit(study, run, d))]++;
        for (int i = 0; i < N; i++)
            assert_int_equal(hits[i], 1);
    }
    for (int m = 0; m <= M; m++) {
        int hits[N] = {0};
        for (uint64_t run = 0; run < N; run++) {
            int x = (int)((1 << m) * rg_study_unit(study, run, 0));
            int y = (int)((1 << (M - m)) * rg_study_unit(study, run, 1));
            hits[x * (1 << (M - m)) + y]++;
        }
        for (int i = 0; i < N; i++)
            assert_int_equal(hits[i], 1);
    }
    rg_study_destroy(study);
}

/* A study with every key of the format, as it is read. */
static void every_key(void **state) {
    (void)state;
    rg_study *study;
    rg_error error = {0};
    if (rg_study_read_file(RIGOR_TEST_DATA "/studies/every-key.yaml", NULL, &study, &error))
        fail_msg("%s", error.text);
    rg_study_info info = rg_study_get_info(study);
    assert_int_equal(info.runs, 2 * (2 * 2 * 3) * 3);
    assert_int_equal(info.parameter_count, 9);
    assert_string_equal(info.method, "stepping");
    assert_string_equal(info.solver, "auto");
    assert_string_equal(info.impact, "simultaneous");
    assert_string_equal(info.stop_event, "impact");
    assert_near(info.step, 1.0 / 240, 0);
    assert_near(info.duration, 0.1, 0);
    assert_near(info.rest_speed, 1e-3, 0);
    assert_near(info.run_seconds, 10, 0);
    assert_near(info.run_megabytes, 500, 0);
    assert_int_equal(info.body_count, 2);
    assert_string_equal(info.bodies[1], "ball");
    for (uint64_t run = 0; run < info.runs; run++) {
        rg_scene_parameter parameters[9];
        rg_study_parameters(study, run, parameters);
        assert_string_equal(parameters[0].name, "radius");
        assert_string_equal(parameters[0].value, run < info.runs / 2 ? "0.1" : "0.2");
        rg_scene_options options = {.parameters = parameters, .parameter_count = 9};
        rg_scene *scene;
        if (rg_scene_create(info.scene, &options, &scene, &error))
            fail_msg("run %d: %s", (int)run, error.text);
        rg_scene_destroy(scene);
    }
    rg_study_destroy(study);
}

static rg_study *study_of(const char *text) {
    rg_study *study;
    rg_error error = {0};
    FILE *file = fopen(path, "w");
    fputs(text, file);
    fclose(file);
    if (rg_study_read_file(path, NULL, &study, &error))
        fail_msg("%s", error.text);
    return study;
}

/* A run of the scene `projectiles` is watched: it ends when the condition says so, a time is that
 * of the first change of sign, and a column is an expression at the end. */
static void watched(void **state) {
    (void)state;
    rg_study *study = study_of("study: 1\nscene: projectiles\nparameters: {count: [4, 9]}\n"
                               "stop: {when: t - 0.5}\ntimes: {late: t - 0.30001, never: -1}\n"
                               "columns: {twice: 2*late + count, high: mean_z, no_value: 1/never,"
                               " wide: spread_x, then: twice + 1}\n");
    rg_error error = {0};
    rg_scene *scene;
    rg_study_watch *watch;
    for (uint64_t run = 0; run < 2; run++) {
        rg_scene_parameter parameters[1];
        rg_measure figures[7];
        bool stop = false;
        int steps = 0;
        rg_study_parameters(study, run, parameters);
        rg_scene_options options = {.parameters = parameters, .parameter_count = 1};
        assert_int_equal(rg_scene_create("projectiles", &options, &scene, &error), RG_OK);
        rg_world *world = rg_scene_world(scene);
        assert_int_equal(rg_study_watch_create(study, run, world, &watch, &error), RG_OK);
        for (; !stop && steps < 1000; steps++) {
            assert_int_equal(rg_world_step(world, 0.01, NULL, &error), RG_OK);
            assert_int_equal(rg_study_watch_look(watch, &stop, &error), RG_OK);
        }
        assert_int_equal(steps, 51); /* just after 0.5 */
        assert_int_equal(rg_study_get_info(study).figure_count, 7);
        assert_int_equal(rg_study_watch_figures(watch, NULL, 0, figures, &error), RG_OK);
        double count = run == 0 ? 4 : 9, mean = 0, spread = 0, x = 0;
        rg_strided centres = rg_world_centre_positions(world);
        for (size_t i = 0; i < centres.count; i++) {
            mean += centres.data[i * centres.stride + 2] / count;
            x += centres.data[i * centres.stride] / count;
        }
        for (size_t i = 0; i < centres.count; i++)
            spread += fabs(centres.data[i * centres.stride] - x) / count;
        assert_string_equal(figures[0].name, "late");
        assert_near(figures[0].value, 0.30001, 1e-14); /* linear in t: exact but for rounding */
        assert_true(isnan(figures[1].value));
        assert_near(figures[2].value, 2 * 0.30001 + count, 1e-13);
        assert_near(figures[3].value, mean, 1e-12 * fabs(mean));
        assert_true(isnan(figures[4].value));
        assert_near(figures[5].value, spread, 1e-12 * spread);
        assert_near(figures[6].value, figures[2].value + 1, 1e-13);
        rg_study_watch_destroy(watch);
        rg_scene_destroy(scene);
    }
    rg_study_destroy(study);
}

/* In expressions, what is no letter or digit in the name of a body is an underscore. */
static void odd_names(void **state) {
    (void)state;
    char file[] = "/tmp/rigor-names-XXXXXX", text[512];
    int fd = mkstemp(file);
    assert_true(fd >= 0 && close(fd) == 0);
    FILE *out = fopen(file, "w");
    assert_non_null(out);
    fputs("rigor: 1\ngravity: [0, 0, 0]\nbodies:\n"
          "  - {name: 'a|b~', shape: {sphere: 1}, position: [1, 0, 0]}\n"
          "  - {name: '[Z]@', shape: {sphere: 1}, position: [5, 0, 0]}\n"
          "  - {name: '{9/:', shape: {sphere: 1}, position: [11, 0, 0]}\n",
          out);
    fclose(out);
    snprintf(text, sizeof text,
             "study: 1\nscene: %s\nbodies: ['a|b~', '[Z]@', '{9/:']\ncolumns: {a: a_b__x, b: "
             "_Z___x, c: _9___x}\n",
             file);
    rg_study *study = study_of(text);
    rg_error error = {0};
    rg_scene *scene;
    rg_study_watch *watch;
    rg_measure figures[3];
    assert_int_equal(rg_scene_create(file, NULL, &scene, &error), RG_OK);
    if (rg_study_watch_create(study, 0, rg_scene_world(scene), &watch, &error))
        fail_msg("%s", error.text);
    if (rg_study_watch_figures(watch, NULL, 0, figures, &error))
        fail_msg("%s", error.text);
    assert_near(figures[0].value, 1, 0);
    assert_near(figures[1].value, 5, 0);
    assert_near(figures[2].value, 11, 0);
    rg_study_watch_destroy(watch);
    rg_study_destroy(study);
    rg_scene_destroy(scene);
    unlink(file);
}

/* What is not known is said, before the run or at its end. */
static void unknown_names(void **state) {
    (void)state;
    rg_error error = {0};
    rg_scene *scene;
    rg_study_watch *watch;
    assert_int_equal(rg_scene_create("projectiles", NULL, &scene, &error), RG_OK);
    rg_study *study = study_of("study: 1\nscene: projectiles\nstop: {when: tt - 1}\n");
    assert_int_equal(rg_study_watch_create(study, 0, rg_scene_world(scene), &watch, &error),
                     RG_NOT_FOUND);
    assert_null(watch);
    assert_non_null(strstr(error.text, "stop.when"));
    rg_study_destroy(study);
    study = study_of("study: 1\nscene: projectiles\ncolumns: {a: 1, b: measured}\n");
    rg_measure figures[2], measure = {.name = "measured", .value = 3};
    assert_int_equal(rg_study_watch_create(study, 0, rg_scene_world(scene), &watch, &error), RG_OK);
    assert_int_equal(rg_study_watch_figures(watch, NULL, 0, figures, &error), RG_NOT_FOUND);
    assert_near(figures[0].value, 1, 0);
    assert_true(isnan(figures[1].value));
    assert_int_equal(rg_study_watch_figures(watch, &measure, 1, figures, &error), RG_OK);
    assert_near(figures[1].value, 3, 0);
    rg_study_watch_destroy(watch);
    rg_study_destroy(study);
    rg_scene_destroy(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_have_an_order),
        cmocka_unit_test(ranges_end_where_they_are_told_to),
        cmocka_unit_test(quantiles),
        cmocka_unit_test(moments),
        cmocka_unit_test(strata),
        cmocka_unit_test(nets),
        cmocka_unit_test(every_key),
        cmocka_unit_test(watched),
        cmocka_unit_test(odd_names),
        cmocka_unit_test(unknown_names),
    };
    int file = mkstemp(path);
    if (file < 0)
        return 1;
    close(file);
    int failures = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failures;
}
