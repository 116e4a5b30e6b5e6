/* Opening scenes, with all mistakes of a file, and recordings. */
#include "cli.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

typedef struct mistakes {
    const char *prefix;
    size_t count;
    rg_error last;
} mistakes;

static void take(void *user, const rg_error *mistake) {
    mistakes *this = user;
    if (this->count++ > 0)
        fprintf(stderr, "%s%s\n", this->prefix, this->last.text);
    this->last = *mistake;
}

rg_status cli_create_scene(const char *name, const rg_scene_options *options, const char *prefix,
                           rg_scene **scene, rg_error *error) {
    mistakes found = {.prefix = prefix};
    rg_scene_options all = *options;
    all.mistake = take;
    all.mistake_user = &found;
    fflush(stdout); /* messages in the order of the scenes */
    rg_status status = rg_scene_create(name, &all, scene, error);
    struct stat about;
    if (status == RG_NOT_FOUND && !cli_is_scene(name) && stat(name, &about) != 0 &&
        !strstr(error->text, "did you mean"))
        snprintf(error->text, sizeof error->text,
                 "%.400s: there is no such file, and no built-in scene of that name; `rigor "
                 "scenes` lists those",
                 name);
    if (found.count == 0)
        return status;
    *error = found.last;
    size_t length = strlen(error->text);
    if (found.count == RG_SCENE_MISTAKES_MOST)
        snprintf(error->text + length, sizeof error->text - length,
                 "\n%s%s: reading ended after %d mistakes; there may be more", prefix, name,
                 RG_SCENE_MISTAKES_MOST);
    return error->status;
}

bool cli_is_scene(const char *name) {
    for (size_t i = 0; i < rg_builtin_count(); i++)
        if (strcmp(rg_builtin_at(i).name, name) == 0)
            return true;
    static const char *const endings[] = {".yaml", ".yml",  ".json", ".urdf",
                                          ".xml",  ".mjcf", ".sdf"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (cli_ends_with(name, endings[i]))
            return true;
    return false;
}

rg_status cli_open_recording(const char *path, rg_recording **recording, rg_error *error) {
    rg_status status = rg_recording_open(path, recording, error);
    struct stat about;
    bool missing = stat(path, &about) != 0;
    bool file = !missing && S_ISREG(about.st_mode) && !cli_is_recording(path);
    bool builtin = missing && !strpbrk(path, "/.");
    if (status != RG_OK && cli_is_scene(path) && (builtin || file))
        snprintf(
            error->text, sizeof error->text,
            "%.400s: is not a recording; of a scene, `rigor run %.400s --out FILE.h5` makes one",
            path, path);
    return status;
}
