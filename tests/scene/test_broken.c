/* Broken scenes: every tests/data/scenes/broken/X.yaml is refused with exactly the text of
 * X.expected, which begins with the file, line and column that the error struct has too. */
#include "test_support.h"

#include "rigor/scene.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MOST_FILES = 500, NAME_SIZE = 256 };

static size_t list_scenes(char names[][NAME_SIZE], const char *suffix) {
    size_t count = 0;
    DIR *directory = opendir(".");
    assert_non_null(directory);
    for (struct dirent *entry; (entry = readdir(directory)) && count < MOST_FILES;) {
        size_t length = strlen(entry->d_name), end = strlen(suffix);
        if (length > end && strcmp(entry->d_name + length - end, suffix) == 0)
            snprintf(names[count++], NAME_SIZE, "%.*s", (int)(length - end), entry->d_name);
    }
    closedir(directory);
    return count;
}

static void read_line(const char *path, char *text, size_t size) {
    FILE *file = fopen(path, "r");
    if (!file)
        fail_msg("%s is missing", path);
    size_t got = fread(text, 1, size - 1, file);
    fclose(file);
    while (got && text[got - 1] == '\n')
        got--;
    text[got] = 0;
}

static void check_scene(const char *name) {
    char path[NAME_SIZE + 16], expected_path[NAME_SIZE + 16], expected[RG_ERROR_TEXT_SIZE];
    snprintf(path, sizeof path, "%s.yaml", name);
    snprintf(expected_path, sizeof expected_path, "%s.expected", name);
    read_line(expected_path, expected, sizeof expected);
    rg_scene *scene = (rg_scene *)1;
    rg_error error = {0};
    counting_allocator counter;
    rg_allocator allocator = counting_allocator_make(&counter);
    rg_scene_options options = {.allocator = &allocator};
    rg_status status = rg_scene_read_file(path, &options, &scene, &error);
    assert_null(scene);
    assert_int_not_equal(status, RG_OK);
    assert_int_equal(status, error.status);
    assert_string_equal(error.text, expected);
    char place[NAME_SIZE + 64];
    snprintf(place, sizeof place, "%s:%d:%d: ", path, error.line, error.column);
    assert_memory_equal(error.text, place, strlen(place));
    /* Without an error struct it must fail as well. */
    assert_int_equal(rg_scene_read_file(path, NULL, &scene, NULL), status);
}

static void broken_scenes_get_exact_messages(void **state) {
    (void)state;
    static char names[MOST_FILES][NAME_SIZE];
    assert_int_equal(chdir(RIGOR_TEST_DATA "/scenes/broken"), 0);
    size_t count = list_scenes(names, ".yaml");
    assert_true(count >= 15);
    for (size_t i = 0; i < count; i++)
        check_scene(names[i]);
    size_t expected = list_scenes(names, ".expected");
    assert_int_equal(expected, count);
}

static void check_text(const char *text, size_t size, rg_status expected, const char *message) {
    rg_scene *scene;
    rg_error error = {0};
    rg_status status = rg_scene_read_text(text, size, "t.yaml", NULL, NULL, &scene, &error);
    assert_string_equal(error.text, message);
    assert_int_equal(status, expected);
    assert_null(scene);
}

#define CHECK(text, status, message) check_text(text, strlen(text), status, message)

static void messages_about_words_and_settings(void **state) {
    (void)state;
    CHECK("", RG_SYNTAX,
          "t.yaml:1:1: the file is empty; a scene is a mapping with keys such as bodies");
    CHECK("seed: -1", RG_WRONG_TYPE,
          "t.yaml:1:7: seed: expected a whole number from 0 to 18446744073709551615, or 0x..., got "
          "the number -1");
    CHECK("seed: 18446744073709551616", RG_WRONG_TYPE,
          "t.yaml:1:7: seed: expected a whole number from 0 to 18446744073709551615, or 0x..., got "
          "the number 18446744073709551616");
    CHECK("seed: 017", RG_WRONG_TYPE,
          "t.yaml:1:7: seed: expected a whole number from 0 to 18446744073709551615, or 0x..., got "
          "the number 017");
    CHECK("name: 5", RG_WRONG_TYPE,
          "t.yaml:1:7: name: expected a text, got the number 5; put it in quotes");
    CHECK("name: ''", RG_INVALID_ARGUMENT,
          "t.yaml:1:7: name: the text is empty; give it at least one letter");
    CHECK("name: \"a\\0b\"", RG_SYNTAX,
          "t.yaml:1:7: name: the text contains a zero byte; remove it");
    CHECK("? [a, b]\n: 1", RG_WRONG_TYPE, "t.yaml:1:3: a key must be a word, not a list");
    CHECK("<<: {a: 1}", RG_UNKNOWN_KEY,
          "t.yaml:1:1: <<: merge keys are not part of the format; write the keys out");
    CHECK("\"a\\x1bb\": 1", RG_UNKNOWN_KEY,
          "t.yaml:1:1: a?b: unknown key; the keys here are: rigor, name, parameters, planar, "
          "gravity, seed, method, solver, impact, duration, record, materials, pairs, shapes, "
          "bodies, joints, "
          "forces");
    CHECK(
        "shapes: {a: {terrain: {scale: 2}}}", RG_INVALID_ARGUMENT,
        "t.yaml:1:23: shapes.a.terrain: needs one of: {file: ground.obj}, {points: ..., triangles: "
        "...}, {size: [20, 20], cells: [100, 100], height: 0.2*sin(x)}");
    CHECK("shapes: {a: {terrain: {points: [[0,0,0],[1,0,0],[0,1,0]], triangles: [[0,1,3]]}}}",
          RG_INVALID_ARGUMENT,
          "t.yaml:1:76: shapes.a.terrain.triangles[0][2]: must be a whole number from 0 to 2, not "
          "3");
    CHECK("shapes: {a: {terrain: {points: [[0,0,0],[1,0,0],[2,0,0]], triangles: [[0,1,2]]}}}",
          RG_DEGENERATE_GEOMETRY,
          "t.yaml:1:23: shapes.a.terrain: triangle 0 has no area; leave it out");
    CHECK("shapes: {a: {terrain: {height: x, cells: [2, 2]}}}", RG_NOT_FOUND,
          "t.yaml:1:23: shapes.a.terrain: needs a size, metres along x and y: [20, 20]");
    CHECK("method: {penalty: {depth: 0}}", RG_INVALID_SIZE,
          "t.yaml:1:27: method.penalty.depth: a depth must be positive, not 0");
    CHECK("method: {tolerance: 2}", RG_INVALID_ARGUMENT,
          "t.yaml:1:9: method: tolerance: 2 is outside 1e-15 ... 0.01");
    CHECK("solver: {tolerance: 0.5}", RG_INVALID_ARGUMENT,
          "t.yaml:1:9: solver: solver tolerance: 0.5 is outside 1e-14 ... 0.01");
    CHECK("method: {gamma: -0.5}", RG_INVALID_SIZE,
          "t.yaml:1:17: method.gamma: gamma must not be negative, not -0.5");
    CHECK("solver: {friction: {polygon: 2}}", RG_INVALID_ARGUMENT,
          "t.yaml:1:30: solver.friction.polygon: must be a whole number from 4 to 256, not 2");
    CHECK("solver: {friction: {}}", RG_NOT_FOUND,
          "t.yaml:1:20: solver.friction: needs the number of corners; write cone or {polygon: 8}");
    CHECK("solver: {friction: [8]}", RG_WRONG_TYPE,
          "t.yaml:1:20: solver.friction: expected cone, got a list of 1");
    CHECK("solver: {policy: biggest}", RG_NOT_FOUND,
          "t.yaml:1:18: solver.policy: \"biggest\" is not known here; did you mean \"largest\"?");
    CHECK("solver: {frictoin: cone}", RG_UNKNOWN_KEY,
          "t.yaml:1:10: solver.frictoin: unknown key; did you mean \"friction\"?");
}

static void messages_about_bodies_and_materials(void **state) {
    (void)state;
    CHECK("parameters: {i: 1}", RG_INVALID_ARGUMENT,
          "t.yaml:1:17: parameters.i: \"i\" has a meaning of its own; choose another name");
    CHECK("bodies: [{repeat: {i: 2, l: 3}, shape: {sphere: 1}}]", RG_UNKNOWN_KEY,
          "t.yaml:1:26: bodies[0].repeat.l: unknown key; did you mean \"i\"?");
    CHECK("bodies: [{repeat: 2, name: 'a{q}', shape: {sphere: 1}}]", RG_NOT_FOUND,
          "t.yaml:1:28: bodies[0].name: the braces in \"a{q}\" name no loop variable; write {i}");
    CHECK("bodies: [{repeat: {i: 2, j: 2}, name: 'a{j}', shape: {sphere: 1}}]", RG_DUPLICATE_NAME,
          "t.yaml:1:39: bodies[0].name: the body at line 1 is called \"a0\" too; names are unique");
    CHECK(
        "bodies:\n- {repeat: 6000000, shape: {sphere: 1}}\n- {repeat: 6000000, shape: {sphere: "
        "1}}",
        RG_LIMIT_EXCEEDED,
        "t.yaml:3:12: bodies[1].repeat: with those before it, this makes 12000000 bodies; a scene "
        "may have at most 10000000");
    CHECK("bodies: [{shape: {sphere: 1}, mass: 1, centre_of_mass: [0, 0, 0]}]", RG_NOT_FOUND,
          "t.yaml:1:56: bodies[0].centre_of_mass: needs the inertia about it beside it; write "
          "inertia, in kg m^2");
    CHECK("bodies: [{shape: {sphere: 1}, mass: 1, density: 2}]", RG_INVALID_ARGUMENT,
          "t.yaml:1:49: bodies[0].density: the body has a mass too; keep density or mass");
    CHECK("bodies: [{shape: {sphere: 1}, orientation: {axis: [0, 0, 0], degrees: 3}}]",
          RG_INVALID_ARGUMENT,
          "t.yaml:1:51: bodies[0].orientation.axis: an axis must have a length; write e.g. [0, 0, "
          "1]");
    CHECK("pairs: [{between: [default, default]}, {between: [default, default]}]",
          RG_DUPLICATE_NAME,
          "t.yaml:1:50: pairs[1].between: this pair is listed already; keep one");
    CHECK("materials: {ivory: {impact: propogation}}", RG_NOT_FOUND,
          "t.yaml:1:29: materials.ivory.impact: \"propogation\" is not known here; did you "
          "mean \"propagation\"?");
    CHECK("pairs: [{between: [default, default], impact: 3}]", RG_NOT_FOUND,
          "t.yaml:1:47: pairs[0].impact: \"3\" is not known here; write simultaneous, propagation, "
          "poisson, energetic, reflection or dissipative");
    CHECK("forces: [{kind: drag, linear: -1}]", RG_INVALID_SIZE,
          "t.yaml:1:31: forces[0].linear: a drag must not be negative, not -1");
}

static void long_words_are_cut(void **state) {
    (void)state;
    char text[6000] = "name: x\n";
    size_t length = strlen(text);
    memset(text + length, 'y', 900);
    strcpy(text + length + 900, ": 1\n");
    rg_scene *scene;
    rg_error error = {0};
    rg_scene_read_text(text, strlen(text), "t.yaml", NULL, NULL, &scene, &error);
    assert_int_equal(error.status, RG_UNKNOWN_KEY);
    assert_non_null(strstr(error.text, "yyy...: unknown key; the keys here are: rigor"));
}

static void files_that_cannot_be_read(void **state) {
    (void)state;
    rg_scene *scene;
    rg_error error = {0};
    assert_int_equal(rg_scene_read_file("no/such/file.yaml", NULL, &scene, &error),
                     RG_FILE_UNREADABLE);
    assert_string_equal(error.text, "no/such/file.yaml: there is no such file; check the path");
    assert_int_equal(rg_scene_read_file(RIGOR_TEST_DATA, NULL, &scene, &error), RG_FILE_UNREADABLE);
    assert_non_null(strstr(error.text, ": this is a directory; name a scene file in it"));
    assert_int_equal(rg_scene_create("tenis-racket", NULL, &scene, &error), RG_NOT_FOUND);
    assert_string_equal(error.text,
                        "tenis-racket: neither a built-in scene nor a file; did you mean "
                        "\"tennis-racket\"?");
    assert_null(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(broken_scenes_get_exact_messages),
        cmocka_unit_test(messages_about_words_and_settings),
        cmocka_unit_test(messages_about_bodies_and_materials),
        cmocka_unit_test(long_words_are_cut),
        cmocka_unit_test(files_that_cannot_be_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
