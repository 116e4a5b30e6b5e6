/* Opening scenes: all mistakes of a file. */
#include "cli.h"

#include <stdio.h>
#include <string.h>

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
