/* Meshes in scenes: closed ones of any shape as compounds of convex parts with the mass of the
 * mesh, unit and way up, refusals. */
#include "base/base_math.h"
#include "rigor/scene.h"
#include "rigor/world.h"
#include "test_support.h"

#include <math.h>
#include <stdio.h>

#define MESHES RIGOR_TEST_DATA "/meshes/"

static rg_status read(const char *shape, rg_scene **scene, rg_error *error) {
    char text[1024];
    snprintf(text, sizeof text,
             "rigor: 1\nmaterials:\n  default: {friction: 0.5, restitution: 0}\nbodies:\n"
             "  - {name: floor, motion: fixed, shape: {halfspace: {}}}\n"
             "  - {name: thing, density: 2, position: [0, 0, 1], shape: %s}\n",
             shape);
    return rg_scene_read_text(text, strlen(text), "text", NULL, NULL, scene, error);
}

static rg_shape_def shape_of(rg_scene *scene) {
    const rg_world *world = rg_scene_world(scene);
    rg_body_id body = rg_world_body_at(world, 1);
    return rg_shape_get_def(rg_collider_get_def(world, rg_body_collider_at(world, body, 0)).shape);
}

static rg_scene *read_good(const char *shape) {
    rg_scene *scene;
    rg_error error = {0};
    if (read(shape, &scene, &error) != RG_OK)
        fail_msg("%s", error.text);
    return scene;
}

/* An L of three cubes: two boxes, mass and centre of the L. */
static void l_prism_stands(void **state) {
    (void)state;
    rg_scene *scene = read_good("{mesh: {file: " MESHES "l_prism.obj, error: 1e-9}}");
    rg_shape_def def = shape_of(scene);
    assert_int_equal(def.kind, RG_SHAPE_COMPOUND);
    assert_int_equal(def.part_count, 2);
    rg_world *world = rg_scene_world(scene);
    rg_body_id body = rg_world_body_at(world, 1);
    assert_near(rg_body_mass(world, body).mass, 6, 1e-12);
    rg_error error = {0};
    rg_step_info info;
    for (int i = 0; i < 100; i++)
        if (rg_world_step(world, 0.01, &info, &error) != RG_OK)
            fail_msg("%s", error.text);
    rg_vec3 v = rg_body_velocity(world, body);
    assert_near(rg_length(v), 0, 1e-9);
    rg_scene_destroy(scene);
}

static void unit_and_way_up_are_said(void **state) {
    (void)state;
    rg_scene *scene = read_good("{hull: {file: " MESHES "l_prism.obj, unit: cm, up: y, scale: 3}}");
    rg_scene *plain = read_good("{hull: {file: " MESHES "l_prism.obj}}");
    rg_shape_def a = shape_of(scene), b = shape_of(plain);
    assert_int_equal(a.point_count, b.point_count);
    for (size_t i = 0; i < a.point_count; i++) {
        assert_near(a.points[i].x, 0.03 * b.points[i].x, 1e-15);
        assert_near(a.points[i].y, -0.03 * b.points[i].z, 1e-15);
        assert_near(a.points[i].z, 0.03 * b.points[i].y, 1e-15);
    }
    rg_scene_destroy(scene);
    rg_scene_destroy(plain);
}

static rg_scene *read_ground(const char *more) {
    char text[512];
    snprintf(text, sizeof text,
             "rigor: 1\nbodies:\n  - {name: floor, motion: fixed, shape: {halfspace: {}}}\n"
             "  - {name: g, motion: fixed, shape: {terrain: {file: " MESHES "l_prism.obj, %s}}}\n",
             more);
    rg_scene *scene;
    rg_error error = {0};
    if (rg_scene_read_text(text, strlen(text), "text", NULL, NULL, &scene, &error) != RG_OK)
        fail_msg("%s", error.text);
    return scene;
}

/* The same of terrain, where `up` may also be the direction against which its prisms go down. */
static void terrain_has_unit_and_way_up(void **state) {
    (void)state;
    rg_scene *scene = read_ground("unit: mm, up: y, scale: 5");
    rg_scene *plain = read_ground("up: [0, 0, 1]"), *inches = read_ground("unit: in, up: x");
    rg_shape_def a = shape_of(scene), b = shape_of(plain), c = shape_of(inches);
    assert_int_equal(a.kind, RG_SHAPE_TERRAIN);
    assert_true(a.point_count == b.point_count && b.point_count == c.point_count);
    for (size_t i = 0; i < a.point_count; i++) {
        assert_near(a.points[i].x, 0.005 * b.points[i].x, 1e-15);
        assert_near(a.points[i].y, -0.005 * b.points[i].z, 1e-15);
        assert_near(a.points[i].z, 0.005 * b.points[i].y, 1e-15);
        assert_near(c.points[i].z, 0.0254 * b.points[i].x, 1e-15);
    }
    rg_scene_destroy(scene);
    rg_scene_destroy(plain);
    rg_scene_destroy(inches);
}

static void groups_are_parts(void **state) {
    (void)state;
    rg_scene *scene = read_good("{mesh: {file: " MESHES "two_groups.obj, groups: true, unit: cm}}");
    rg_shape_def def = shape_of(scene);
    assert_int_equal(def.kind, RG_SHAPE_COMPOUND);
    assert_int_equal(def.part_count, 2);
    const rg_world *world = rg_scene_world(scene);
    rg_mass_properties mass = rg_body_mass(world, rg_world_body_at(world, 1));
    assert_near(mass.mass, 2 * 2e-6, 1e-18); /* density 2 */
    assert_near(mass.centre.x, 0.01, 1e-15);
    rg_scene_destroy(scene);
}

/* Where it is not said, a sheet is a hundredth of its mean edge thick, ground a whole one. */
static void terrain_has_one_side_or_two(void **state) {
    (void)state;
    static const char *const sides[] = {"", ", sides: one", ", sides: two",
                                        ", sides: two, thickness: 0.2"};
    double edge = (2 + sqrt(2)) / 3, thickness[] = {edge, edge, 0.01 * edge, 0.2};
    for (int i = 0; i < 4; i++) {
        char text[256];
        snprintf(text, sizeof text,
                 "rigor: 1\nbodies:\n  - {name: floor, motion: fixed, shape: {halfspace: {}}}\n"
                 "  - {name: g, motion: fixed, shape: {terrain: {size: [2, 2], cells: [2, 2], "
                 "height: 0%s}}}\n",
                 sides[i]);
        rg_scene *scene;
        rg_error error = {0};
        if (rg_scene_read_text(text, strlen(text), "text", NULL, NULL, &scene, &error) != RG_OK)
            fail_msg("%s", error.text);
        assert_near(shape_of(scene).thickness, thickness[i], 1e-15);
        rg_scene_destroy(scene);
    }
}

static void expect(const char *shape, rg_status status, const char *words) {
    rg_scene *scene;
    rg_error error = {0};
    assert_int_equal(read(shape, &scene, &error), status);
    if (!strstr(error.text, words))
        fail_msg("\"%s\" is not in \"%s\"", words, error.text);
}

static void refusals_say_what_is_right(void **state) {
    (void)state;
    expect("{mesh: {file: " MESHES "l_prism.obj}}", RG_NOT_CONVEX, "say parts: 32");
    expect("{mesh: {file: " MESHES "cube_open.stl, parts: 2}}", RG_NOT_WATERTIGHT,
           "`rigor check FILE`");
    expect("{mesh: {file: " MESHES "crossing.obj, parts: 2}}", RG_NOT_WATERTIGHT,
           "the surface crosses itself (1 crossing, the first at (0.2, 0.4, 0.4))");
    expect("{hull: {file: " MESHES "l_prism.obj, parts: 2}}", RG_INVALID_ARGUMENT,
           "a hull is one convex part");
    expect("{mesh: {file: " MESHES "l_prism.obj, groups: true}}", RG_NOT_CONVEX,
           "group 1 is not a closed convex surface");
    expect("{mesh: {file: " MESHES "two_groups.obj, groups: true, parts: 2}}", RG_INVALID_ARGUMENT,
           "leave out parts");
    expect("{mesh: {file: " MESHES "l_prism.obj, parts: 2, unit: km}}", RG_NOT_FOUND,
           "did you mean");
    expect("{compound: [{shape: {mesh: {file: " MESHES "l_prism.obj, parts: 2}}}]}", RG_NOT_CONVEX,
           "a collider of its own");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(l_prism_stands),
                                       cmocka_unit_test(unit_and_way_up_are_said),
                                       cmocka_unit_test(terrain_has_unit_and_way_up),
                                       cmocka_unit_test(groups_are_parts),
                                       cmocka_unit_test(terrain_has_one_side_or_two),
                                       cmocka_unit_test(refusals_say_what_is_right)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
