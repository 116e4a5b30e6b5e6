/* USD text: metres, z up, a sixtieth of a second a time code, the real part of a quaternion first;
 * poses beside closed forms. The whole file is read by test_record_export.py. */
#include "record_support.h"

#include "rigor/view.h"

#include <math.h>

enum { STEPS = 60 };
static const double rate = 5; /* rad/s */

/* A body that turns about y, one of its shapes lying on its side: turned about x by 90 degrees. */
static const char spinner[] =
    "rigor: 1\n"
    "method: {name: stepping, step: 0.01}\n"
    "gravity: [0, 0, 0]\n"
    "record: {every: 0.01}\n"
    "bodies:\n"
    "  - name: \"a \\\"spinner\\\"\"\n"
    "    position: [1, 2, 3]\n"
    "    velocity: [0.25, 0, -0.5]\n"
    "    angular_velocity: [0, 5, 0]\n"
    "    colliders:\n"
    "      - {shape: {sphere: 0.5}, position: [0, 1, 0]}\n"
    "      - {shape: {cylinder: {radius: 0.5, height: 1}}, position: [0, -1, 0],\n"
    "         orientation: {axis: [1, 0, 0], degrees: 90}}\n";

static char *text_of(const char *name) {
    char path[256];
    rg_error error = {0};
    rg_scene *scene = scene_of_text(spinner);
    rg_recorder_options options = {.overwrite = true};
    rg_recorder *recorder;
    in_directory("run.h5", path);
    if (rg_recorder_open(scene, path, &options, &recorder, &error) != RG_OK)
        fail_msg("%s", error.text);
    for (int i = 0; i < STEPS; i++) {
        step_recorded(scene, recorder);
        assert_int_equal(rg_recorder_frame(recorder, NULL, &error), RG_OK);
    }
    assert_int_equal(rg_recorder_close(recorder, true, &error), RG_OK);
    rg_scene_destroy(scene);
    rg_recording *recording = open_recording(path);
    rg_gltf_options all = {0};
    if (rg_view_export_usda(recording, &all, in_directory(name, path), &error) != RG_OK)
        fail_msg("%s", error.text);
    rg_recording_close(recording);
    return read_bytes(path).data;
}

/* What follows the words, which stand there once. */
static const char *after(const char *text, const char *words) {
    const char *at = strstr(text, words);
    if (!at || strstr(at + 1, words))
        fail_msg("%s: %s", words, at ? "twice" : "not there");
    return at + strlen(words);
}

/* Reads the samples of an attribute, `count` numbers each, into [time code, numbers]; how many. */
static int read_samples(const char *text, const char *name, int count, double (*samples)[5]) {
    char words[64];
    snprintf(words, sizeof words, "%s.timeSamples = {\n", name);
    const char *at = after(text, words);
    int rows = 0;
    for (; *at != '}'; rows++) {
        char *end;
        assert_true(rows <= STEPS);
        samples[rows][0] = strtod(at, &end);
        assert_memory_equal(end, ": ", 2);
        end += 2;
        for (int k = 1; k <= count; k++) {
            assert_true(*end == (k == 1 ? '(' : ','));
            samples[rows][k] = strtod(end + 1, &end);
        }
        assert_memory_equal(end, "),\n", 3);
        at = end + 3;
    }
    return rows;
}

static void units_and_order(void **state) {
    (void)state;
    char *text = text_of("run.usda");
    double samples[STEPS + 1][5];
    assert_memory_equal(text, "#usda 1.0\n(\n", 12);
    assert_memory_equal(after(text, "upAxis = "), "\"Z\"\n", 4);
    assert_memory_equal(after(text, "metersPerUnit = "), "1\n", 2);
    assert_memory_equal(after(text, "timeCodesPerSecond = "), "60\n", 3);
    assert_memory_equal(after(text, "startTimeCode = "), "0\n", 2);
    assert_near(strtod(after(text, "endTimeCode = "), NULL), 36, 1e-4);
    assert_memory_equal(after(text, "rigor:name = "), "\"a \\\"spinner\\\"\"", 15);
    assert_int_equal(read_samples(text, "double3 xformOp:translate", 3, samples), STEPS + 1);
    for (int i = 0; i <= STEPS; i++) {
        double t = 0.01 * i;
        assert_near(samples[i][0], 60 * t, 1e-4);
        assert_near(samples[i][1], 1 + 0.25 * t, 1e-6);
        assert_near(samples[i][2], 2, 1e-6);
        assert_near(samples[i][3], 3 - 0.5 * t, 1e-6);
    }
    assert_int_equal(read_samples(text, "quatf xformOp:orient", 4, samples), STEPS + 1);
    for (int i = 0; i <= STEPS; i++) {
        double t = 0.01 * i, expected[4] = {cos(rate * t / 2), 0, sin(rate * t / 2), 0};
        for (int k = 0; k < 4; k++)
            assert_near(samples[i][1 + k], expected[k], 1e-6);
    }
    free(text);
}

/* Shapes in the frame of their body. */
static void shapes_lie_where_they_do(void **state) {
    (void)state;
    char *text = text_of("run.usda");
    const char *sphere = after(text, "def Mesh \"sphere_0\""),
               *cylinder = after(text, "def Mesh \"cylinder_1\"");
    assert_memory_equal(strstr(sphere, "double3 xformOp:translate = "),
                        "double3 xformOp:translate = (0, 1, 0)\n"
                        "quatd xformOp:orient = (1, 0, 0, 0)\n",
                        74);
    assert_memory_equal(strstr(cylinder, "double3 xformOp:translate = "),
                        "double3 xformOp:translate = (0, -1, 0)\nquatd xformOp:orient = (0.707106",
                        71);
    /* What moves the body and its two shapes. */
    static const char order[] = "xformOpOrder = [\"xformOp:translate\", \"xformOp:orient\"]\n";
    int orders = 0;
    for (const char *at = text; (at = strstr(at, "xformOpOrder")); at++, orders++)
        assert_memory_equal(at, order, sizeof order - 1);
    assert_int_equal(orders, 3);
    double real = 0, x = 0, y = 1, z = 1;
    assert_int_equal(sscanf(strstr(cylinder, "quatd xformOp:orient = "),
                            "quatd xformOp:orient = (%lf, %lf, %lf, %lf)", &real, &x, &y, &z),
                     4);
    assert_near(real, sqrt(0.5), 1e-15);
    assert_near(x, sqrt(0.5), 1e-15);
    assert_true(y == 0 && z == 0);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_and_order),
        cmocka_unit_test(shapes_lie_where_they_do),
    };
    return cmocka_run_group_tests(tests, make_test_directory, remove_test_directory);
}
