/* Any bytes as a scene: the reader must answer, within its limits, with a scene or a message; what
 * it accepts, the writer must be able to write, and the reader to read again to the same state.
 * Limits are low so that an input can ask for neither much memory nor much time; files stay closed.
 */
#include "scene/scene_reader.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const rg_scene_limits limits = {
    .bytes = 1 << 16, .bodies = 200, .values = 20000, .depth = 32, .files = false};
/* The writer spells out what aliases and repeats shared. */
static const rg_scene_limits wide = {
    .bytes = 1 << 26, .bodies = 200, .values = 100000000, .depth = 32, .files = false};

static void count_mistake(void *user, const rg_error *mistake) {
    size_t *count = user;
    if (!mistake->text[0] || ++*count > RG_SCENE_MISTAKES_MOST)
        abort();
}

/* What has one mistake has at least one if all are wanted, and no scene is made of it. */
static void read_mistakes(const rg_scene_source *source) {
    size_t count = 0;
    rg_scene_options options = {.mistake = count_mistake, .mistake_user = &count};
    rg_scene *scene;
    rg_error error = {0};
    rg_status status = rg_scene_read_limited(source, &options, &limits, &scene, &error);
    if (status == RG_OK || scene || error.status != status || (error.line > 0) != (count > 0))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    rg_scene *scene, *again;
    rg_error error = {0};
    const rg_scene_source source = {(const char *)data, size, "fuzz.yaml", "/nonexistent"};
    rg_status status = rg_scene_read_limited(&source, NULL, &limits, &scene, &error);
    if (status != RG_OK) {
        if (scene || !error.text[0] || error.status != status)
            abort();
        read_mistakes(&source);
        return 0;
    }
    char *text;
    size_t length;
    status = rg_scene_write_text(scene, NULL, &text, &length, &error);
    if (status != RG_OK)
        abort();
    status = rg_scene_read_limited(&(rg_scene_source){text, length, "again.yaml", "/nonexistent"},
                                   NULL, &wide, &again, &error);
    if (status != RG_OK)
        abort();
    if (rg_world_body_count(rg_scene_world(scene)) != rg_world_body_count(rg_scene_world(again)) ||
        rg_world_state_hash(rg_scene_world(scene)) != rg_world_state_hash(rg_scene_world(again)))
        abort();
    free(text);
    rg_scene_destroy(scene);
    rg_scene_destroy(again);
    return 0;
}
