/* Numbers of scene files that depend on time (scene_time.c): what the world gets of them, and what
 * a file has that is written later. */
#include "test_support.h"

#include "rigor/force.h"
#include "rigor/joint.h"
#include "rigor/scene.h"

#include <string.h>

static rg_scene *read_scene(const char *text) {
    rg_scene *scene;
    rg_error error = {0};
    if (rg_scene_read_text(text, strlen(text), "test.yaml", NULL, NULL, &scene, &error))
        fail_msg("%s", error.text);
    return scene;
}

static rg_force_def force_at(rg_scene *scene, size_t i) {
    const rg_world *world = rg_scene_world(scene);
    return rg_force_get_def(world, rg_world_force_at(world, i));
}

static void parameters_become_numbers(void **state) {
    (void)state;
    rg_scene *scene = read_scene("parameters: {strength: 4, e1: 2}\n"
                                 "bodies: [{name: a, shape: {sphere: 1}}]\n"
                                 "forces:\n"
                                 "  - {kind: constant, repeat: 2, body: a, force: [strength*t+i, "
                                 "strength*e1, 1e1*sqrt(t)]}\n"
                                 "  - {kind: field, acceleration: [0, 0, \"max(t, 2)*e1\"]}\n");
    rg_force_def def = force_at(scene, 1);
    assert_string_equal(def.of_time[RG_OF_TIME_FORCE], "(4)*t+(1)");
    assert_null(def.of_time[RG_OF_TIME_FORCE + 1]);
    assert_true(def.force.y == 8);
    assert_string_equal(def.of_time[RG_OF_TIME_FORCE + 2], "1e1*sqrt(t)");
    assert_string_equal(force_at(scene, 2).of_time[RG_OF_TIME_ACCELERATION + 2], "max(t, 2)*(2)");
    rg_scene_destroy(scene);
}

/* In planar scenes a torque is from x towards z, which is about -y. */
static void planar_forces(void **state) {
    (void)state;
    rg_scene *scene = read_scene("planar: true\n"
                                 "bodies: [{name: a, shape: {disc: 1}}]\n"
                                 "forces: [{kind: constant, body: a, force: [1, \"2*t\"], "
                                 "torque: \"1+t\"}]\n");
    rg_force_def def = force_at(scene, 0);
    assert_null(def.of_time[RG_OF_TIME_FORCE]);
    assert_string_equal(def.of_time[RG_OF_TIME_FORCE + 2], "2*t");
    assert_string_equal(def.of_time[RG_OF_TIME_TORQUE + 1], "-(1+t)");
    rg_scene_destroy(scene);
}

/* A scene that is written at 0.5 s begins there: it goes on as the first one does. */
static void what_is_written_goes_on(void **state) {
    (void)state;
    rg_scene *first = read_scene(
        "method: {name: stepping, step: 1/64}\n"
        "bodies: [{name: a, shape: {sphere: 1}}]\n"
        "joints: [{kind: hinge, bodies: [world, a], point: [0, 0, 0], axes: {motor: {velocity: "
        "\"sin(3*t)\", max_force: 1e9}}}]\n"
        "forces: [{kind: constant, body: a, torque: [0, 0, \"t^2\"]}]\n");
    rg_world *world = rg_scene_world(first);
    for (int k = 0; k < 32; k++)
        assert_int_equal(rg_world_step(world, 1.0 / 64, NULL, NULL), RG_OK);
    char *text;
    size_t size;
    rg_error error = {0};
    if (rg_scene_write_text(first, NULL, &text, &size, &error))
        fail_msg("%s", error.text);
    assert_non_null(strstr(text, "\"sin(3*(t+0.5))\""));
    assert_non_null(strstr(text, "\"(t+0.5)^2\""));
    rg_scene *second = read_scene(text);
    rg_world *other = rg_scene_world(second);
    for (int k = 0; k < 32; k++) {
        assert_int_equal(rg_world_step(world, 1.0 / 64, NULL, NULL), RG_OK);
        assert_int_equal(rg_world_step(other, 1.0 / 64, NULL, NULL), RG_OK);
        double a = rg_joint_get_state(world, rg_world_joint_at(world, 0)).velocity[0];
        double b = rg_joint_get_state(other, rg_world_joint_at(other, 0)).velocity[0];
        assert_true(fabs(a - b) <= 1e-12 && fabs(a - sin(3 * (0.5 + (k + 1) / 64.0))) <= 1e-9);
    }
    free(text);
    rg_scene_destroy(first);
    rg_scene_destroy(second);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(parameters_become_numbers),
                                       cmocka_unit_test(planar_forces),
                                       cmocka_unit_test(what_is_written_goes_on)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
