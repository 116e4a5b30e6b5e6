/* Any bytes as a robot description, strict and lenient: the reader must answer, within its limits,
 * with a scene or a message; what it accepts can be written and read again, and, leniently, as any
 * robot description, which the reader must answer as well. Files stay closed. */
#include "scene/scene_reader.h"
#include "scene/scene_robot.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const rg_scene_limits limits = {
    .bytes = 1 << 16, .bodies = 200, .values = 20000, .depth = 32, .files = false};
static const rg_scene_limits wide = {
    .bytes = 1 << 26, .bodies = 2000, .values = 100000000, .depth = 32, .files = false};

static void write_and_read(const rg_scene *scene) {
    char *text;
    size_t length;
    rg_scene *again;
    rg_error error = {0};
    if (rg_scene_write_text(scene, NULL, &text, &length, &error) != RG_OK)
        abort();
    if (rg_scene_read_limited(&(rg_scene_source){text, length, "again.yaml", "/nonexistent"}, NULL,
                              &wide, &again, &error) != RG_OK)
        abort();
    rg_scene_destroy(again);
    free(text);
}

static void write_and_read_robot(rg_scene *scene, rg_robot_format format) {
    char *text;
    size_t length;
    rg_scene *again;
    rg_error error = {0};
    rg_robot_options options = {format, true};
    if (rg_scene_write_robot(scene, &options, NULL, &text, &length, &error) != RG_OK)
        abort();
    rg_robot_read(&(rg_scene_source){text, length, "again.xml", "/nonexistent"},
                  &(rg_scene_options){.lenient = true}, &wide, &again, &error);
    rg_scene_destroy(again);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    for (int lenient = 0; lenient < 2; lenient++) {
        rg_scene *scene;
        rg_error error = {0};
        rg_scene_options options = {.lenient = lenient};
        rg_status status =
            rg_robot_read(&(rg_scene_source){(const char *)data, size, "fuzz.xml", "/nonexistent"},
                          &options, &limits, &scene, &error);
        if (status != RG_OK && (scene || !error.text[0] || error.status != status))
            abort();
        if (status == RG_OK)
            write_and_read(scene);
        for (int format = RG_ROBOT_MJCF; status == RG_OK && format <= RG_ROBOT_SDF; format++)
            write_and_read_robot(scene, (rg_robot_format)format);
        rg_scene_destroy(scene);
    }
    return 0;
}
