/* `rigor export SCENE --html FILE --live`: a page with the scene, an editor for it, and the library
 * as a WebAssembly module, which runs it.
 *
 * The page has no other files beside it. A scene file that needs none goes in as it was written,
 * comments included; everything else (built-in scenes, parameters, meshes, robots) as the scene
 * file that the library writes of it. Tested by wasm/tests/test_play.mjs. */
#include "cli_export.h"
#include "page.h"

#include "rigor/scene.h"
#include "rigor/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARAMETERS = 64, NAME_SIZE = 64, MOST_TEXT = 4 * 1024 * 1024 };

/* A file as it is, if it is a scene by itself: the caller's to free. Null: it is not. */
static char *own_text(const char *path) {
    FILE *file = fopen(path, "rb");
    char *text = file ? malloc(MOST_TEXT + 1) : NULL;
    size_t size = text ? fread(text, 1, MOST_TEXT, file) : 0;
    if (file)
        fclose(file);
    if (!text)
        return NULL;
    text[size] = '\0';
    rg_scene *scene = NULL;
    rg_error error;
    bool good = size < MOST_TEXT && strlen(text) == size && text[strspn(text, " \t\r\n")] != '<' &&
                rg_scene_read_text(text, size, path, "/nowhere", NULL, &scene, &error) == RG_OK;
    rg_scene_destroy(scene);
    if (good)
        return text;
    free(text);
    return NULL;
}

static bool read_parameters(const char **arguments, int count, rg_scene_parameter *parameters,
                            char (*names)[NAME_SIZE]) {
    for (int i = 1; i < count; i++) {
        const char *equals = strchr(arguments[i], '=');
        if (!equals || equals == arguments[i] || equals - arguments[i] >= NAME_SIZE ||
            i > PARAMETERS) {
            cli_complain("export: '%s' is not NAME=VALUE, such as count=3", arguments[i]);
            return false;
        }
        snprintf(names[i - 1], NAME_SIZE, "%.*s", (int)(equals - arguments[i]), arguments[i]);
        parameters[i - 1] = (rg_scene_parameter){names[i - 1], equals + 1};
    }
    return true;
}

static int write_page(rg_live_page *live, const char *file) {
    rg_html_options options = {0};
    rg_error error = {0};
    int code = cli_export_page(&options.page, &options.page_size);
    if (code != EXIT_GOOD)
        return code;
    live->module = rg_view_module(&live->module_size);
    if (!live->module) {
        cli_complain("export: this command was built without the WebAssembly module; build it "
                     "with tools/wasm, then build the command again");
        return EXIT_FAILED;
    }
    rg_status status = rg_view_export_live(live, &options, file, &error);
    if (status != RG_OK)
        cli_complain("%s", error.text);
    return cli_exit_code(status);
}

int cli_export_live(const char **arguments, int count, const char *file) {
    rg_scene_parameter parameters[PARAMETERS];
    char names[PARAMETERS][NAME_SIZE];
    if (!read_parameters(arguments, count, parameters, names))
        return EXIT_USAGE;
    rg_scene_options options = {.parameters = parameters, .parameter_count = (size_t)count - 1};
    rg_scene *scene;
    rg_error error = {0};
    rg_status status = cli_create_scene(arguments[0], &options, "rigor: ", &scene, &error);
    char *text = NULL;
    size_t size;
    if (status == RG_OK && !rg_scene_get_origin(scene).builtin && count == 1)
        text = own_text(arguments[0]);
    if (status == RG_OK && !text)
        status = rg_scene_write_text(scene, NULL, &text, &size, &error);
    if (status != RG_OK)
        cli_complain("%s", error.text);
    rg_live_page live = {.name = status == RG_OK ? rg_scene_name(scene) : "", .text = text};
    int code = status == RG_OK ? write_page(&live, file) : cli_exit_code(status);
    free(text);
    rg_scene_destroy(scene);
    return code;
}
