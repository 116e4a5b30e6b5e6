/* --dump-problem: the contact problems of one step as files for `rigor solve` and other programs,
 * one for each island, in FCLIB's form. */
#include "cli.h"

#include "rigor/contact_force.h"
#include "rigor/problem_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 4096 };

bool cli_parse_dump(const char *text, cli_dump *dump) {
    char *end;
    errno = 0;
    unsigned long long step = text[0] >= '0' && text[0] <= '9' ? strtoull(text, &end, 10) : 0;
    if (step == 0 || errno || (*end != '\0' && *end != ':') || strcmp(end, ":") == 0) {
        cli_complain(
            "run: --dump-problem: '%s' is not STEP or STEP:FILE, with steps counted from 1", text);
        return false;
    }
    dump->step = step;
    dump->file = *end == ':' ? end + 1 : NULL;
    if (dump->file && strlen(dump->file) + 32 > PATH_SIZE) {
        cli_complain("run: --dump-problem: the name of the file is too long");
        return false;
    }
    return true;
}

/* FILE with the island's number before its ending: problem.h5 gives problem-0.h5. */
static void name_file(const cli_dump *dump, size_t island, char path[PATH_SIZE]) {
    if (dump->file) {
        const char *slash = strrchr(dump->file, '/');
        const char *dot = strrchr(slash ? slash : dump->file, '.');
        size_t stem = dot && dot > dump->file && dot[-1] != '/' ? (size_t)(dot - dump->file)
                                                                : strlen(dump->file);
        snprintf(path, PATH_SIZE, "%.*s-%zu%s", (int)stem, dump->file, island, dump->file + stem);
        return;
    }
    char name[200];
    snprintf(name, sizeof name, "%s", rg_scene_name(dump->scene));
    for (char *c = name; *c; c++)
        if (*c == '/' || (unsigned char)*c < 0x20)
            *c = '_';
    snprintf(path, PATH_SIZE, "%s-step%llu-%zu.h5", name, (unsigned long long)dump->step, island);
}

int cli_dump_check(cli_dump *dump, rg_scene *scene) {
    char path[PATH_SIZE];
    dump->scene = scene;
    name_file(dump, 0, path);
    return cli_may_write("run", path, dump->overwrite) ? EXIT_GOOD : EXIT_UNWRITABLE;
}

static void write_problem(void *user, uint64_t step, size_t island, const rg_problem *problem) {
    cli_dump *dump = user;
    if (dump->status != RG_OK)
        return;
    char path[PATH_SIZE], title[300], text[400];
    name_file(dump, island, path);
    /* A step may solve its islands again, with contacts that were not expected before: the last
     * problem of an island stays. */
    bool again = island < dump->written;
    if (!again && !cli_may_write("run", path, dump->overwrite)) {
        dump->status = RG_WRITE_FAILED;
        snprintf(dump->error.text, sizeof dump->error.text, "%.300s: is not written", path);
        return;
    }
    const rg_world *world = rg_scene_world(dump->scene);
    snprintf(title, sizeof title, "%.200s, step %llu, island %zu", rg_scene_name(dump->scene),
             (unsigned long long)step + 1, island);
    snprintf(text, sizeof text,
             "Contact problem of the step from t = %.17g s of a run by rigor %s, method %s, step "
             "%.17g s. Forces are impulses in N s, velocities in m/s.",
             rg_world_time(world), rg_version_text(), rg_method_name(rg_world_method(world)),
             rg_scene_step_size(dump->scene));
    dump->status = rg_problem_write_fclib(path, problem, &(rg_problem_text){title, text, NULL},
                                          NULL, &dump->error);
    if (dump->status != RG_OK)
        return;
    dump->islands = island + 1;
    dump->written = dump->written > dump->islands ? dump->written : dump->islands;
}

rg_status cli_dump_before(cli_dump *dump, rg_scene *scene, uint64_t step, rg_error *error) {
    if (step != dump->step)
        return RG_OK;
    dump->scene = scene;
    rg_status status = rg_world_observe_problems(rg_scene_world(scene), write_problem, dump);
    if (status != RG_OK && error)
        snprintf(error->text, sizeof error->text, "--dump-problem: no memory");
    return status;
}

rg_status cli_dump_after(cli_dump *dump, uint64_t step, bool quiet, rg_error *error) {
    if (step != dump->step)
        return RG_OK;
    (void)rg_world_observe_problems(rg_scene_world(dump->scene), NULL, NULL);
    if (dump->status != RG_OK) {
        *error = dump->error;
        return dump->status;
    }
    char path[PATH_SIZE];
    while (dump->written > dump->islands) { /* islands that were one in the end */
        name_file(dump, --dump->written, path);
        remove(path);
    }
    if (quiet)
        return RG_OK;
    name_file(dump, 0, path);
    if (dump->written == 0)
        fprintf(stderr, "rigor: note: step %llu has no contact problem to dump\n",
                (unsigned long long)step);
    else if (dump->written == 1)
        fprintf(stderr, "rigor: the contact problem of step %llu is in %s\n",
                (unsigned long long)step, path);
    else
        fprintf(stderr, "rigor: the %zu contact problems of step %llu are in %s and so on\n",
                dump->written, (unsigned long long)step, path);
    return RG_OK;
}
