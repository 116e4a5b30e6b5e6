/* The engines of `rigor bench engines`: rigor, and those whose modules lie beside the command
 * (cli_peer.h). */
#include "cli_engine.h"

#include "rigor/math.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* In the order of tables. */
static const struct {
    const char *module, *name, *title, *package;
} known[] = {{"bullet", "bullet", "Bullet", "libbullet-dev"},
             {"ode", "ode-quick", "ODE quick", "libode-dev"},
             {"ode", "ode-exact", "ODE exact", "libode-dev"},
             {"mujoco", "mujoco", "MuJoCo", "libmujoco-dev"}};
enum { KNOWN = sizeof known / sizeof known[0] };

/* Beside the command: bench/rigor-engine-NAME.so. */
static bool module_path(const char *name, char path[4096]) {
    ssize_t length = readlink("/proc/self/exe", path, 4000);
    if (length <= 0)
        return false;
    path[length] = '\0';
    char *slash = strrchr(path, '/');
    if (!slash)
        return false;
    snprintf(slash, 90, "/bench/rigor-engine-%.32s.so", name);
    return true;
}

static void load(cli_engine *engine_, size_t k) {
    char path[4096];
    *engine_ = (cli_engine){.name = known[k].name, .title = known[k].title, .version = ""};
    if (!module_path(known[k].module, path) || access(path, R_OK) != 0) {
        snprintf(engine_->absent, CLI_ENGINE_TEXT, "not built (Debian: %s; cmake -DRIGOR_BENCH=ON)",
                 known[k].package);
        return;
    }
    void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL); /* for as long as the process lives */
    engine_list *list = NULL;
    void *symbol = module ? dlsym(module, ENGINE_LIST_NAME) : NULL;
    memcpy(&list, &symbol, sizeof list); /* ISO C has no cast from data to function */
    for (const engine *const *at = list ? list() : NULL; at && *at; at++)
        if (strcmp((*at)->name, known[k].name) == 0)
            engine_->peer = *at, engine_->version = (*at)->version;
    if (!engine_->peer)
        snprintf(engine_->absent, CLI_ENGINE_TEXT, "cannot be loaded: %.120s",
                 module ? "not in its module" : dlerror());
}

size_t cli_engine_list(cli_engine list[CLI_ENGINES_MOST]) {
    size_t count = 0;
    list[count++] = (cli_engine){
        .name = "rigor", .title = "rigor", .version = "rigor " RG_VERSION_TEXT, .is_rigor = true};
    list[count] = list[0];
    list[count].name = "rigor-pushed", list[count].title = "rigor, pushed";
    list[count++].pushed = true;
    for (size_t k = 0; k < KNOWN; k++)
        load(&list[count++], k);
    return count;
}

void cli_engine_push(rg_world *world, rg_random *random) {
    for (size_t i = 0; i < rg_world_body_count(world); i++) {
        rg_body_id body = rg_world_body_at(world, i);
        if (rg_body_motion(world, body) == RG_MOTION_DYNAMIC)
            rg_body_apply_central_force(world, body,
                                        rg_scale(CLI_ENGINE_PUSH, rg_random_direction(random)));
    }
}

void cli_engine_add_profile(rg_profile *sum, const rg_profile *before, const rg_world *world,
                            double share) {
    rg_profile now = rg_world_profile(world);
    sum->steps += now.steps - before->steps;
    sum->step += share * (now.step - before->step);
    for (int i = 0; i < RG_STAGE_COUNT; i++)
        sum->stage[i] += share * (now.stage[i] - before->stage[i]);
}
