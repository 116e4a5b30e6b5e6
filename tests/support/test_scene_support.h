/* What the tests of scenes share. */
#ifndef RIGOR_TEST_SCENE_SUPPORT_H
#define RIGOR_TEST_SCENE_SUPPORT_H

#include "test_support.h"

#include "rigor/scene.h"

#include <string.h>

#define GOOD_SCENES RIGOR_TEST_DATA "/scenes/good/"

static inline rg_scene *read_with(const char *text, const rg_scene_options *options) {
    rg_scene *scene;
    rg_error error = {0};
    if (rg_scene_read_text(text, strlen(text), "test.yaml", GOOD_SCENES, options, &scene, &error) !=
        RG_OK)
        fail_msg("%s", error.text);
    return scene;
}

static inline rg_scene *read_scene(const char *text) {
    return read_with(text, NULL);
}

static inline rg_scene *open_scene(const char *name_or_path) {
    rg_scene *scene;
    rg_error error = {0};
    if (rg_scene_create(name_or_path, NULL, &scene, &error) != RG_OK)
        fail_msg("%s", error.text);
    return scene;
}

static inline rg_body_id body_of(rg_scene *scene, const char *name) {
    rg_body_id body = {0};
    if (rg_world_find_body(rg_scene_world(scene), name, &body) != RG_OK)
        fail_msg("there is no body \"%s\"", name);
    return body;
}

static inline void assert_vector(rg_vec3 v, double x, double y, double z) {
    assert_near(v.x, x, 0);
    assert_near(v.y, y, 0);
    assert_near(v.z, z, 0);
}

/* Steps to the end, observing. */
static inline void run_scene(rg_scene *scene, double duration) {
    rg_world *world = rg_scene_world(scene);
    double step = rg_scene_step_size(scene);
    rg_error error = {0};
    while (rg_world_time(world) < duration - 0.5 * step) {
        if (rg_world_step(world, step, NULL, &error) != RG_OK)
            fail_msg("%s", error.text);
        rg_scene_observe(scene);
    }
}

#endif
