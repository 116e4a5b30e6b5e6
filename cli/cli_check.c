/* `rigor check`: reads scenes, says what is wrong with them or what is in them. */
#include "cli.h"

#include <math.h>
#include <stdio.h>

const char cli_check_help[] =
    "Usage: rigor check SCENE ...\n"
    "\n"
    "Reads scene files (or built-in scenes) without running them. A bad one gets a message\n"
    "with file, line, column and path of what is wrong and what would be right; a good one\n"
    "a line that says what is in it, and warnings about what will be hard to compute.\n"
    "\n"
    "Options:\n"
    "  -q, --quiet   say nothing about good scenes\n"
    "  -h, --help    this text\n"
    "\n"
    "Exit codes: 0 all are good (warnings or not), 2 usage, 3 at least one is bad.\n"
    "\n"
    "Examples:\n"
    "  rigor check my-scene.yaml\n"
    "  rigor check scenes/*.yaml\n";

/* Beyond these ratios the arithmetic of contacts loses digits that matter. */
static const double extreme_mass_ratio = 1e6;
static const double extreme_size_ratio = 1e4;

typedef struct value_range {
    double least, most;
    const char *least_name, *most_name;
} value_range;

static value_range range_empty(void) {
    return (value_range){INFINITY, 0, "", ""};
}

static void range_take(value_range *range, double value, const char *name) {
    if (value < range->least) {
        range->least = value;
        range->least_name = name;
    }
    if (value > range->most) {
        range->most = value;
        range->most_name = name;
    }
}

typedef struct scene_contents {
    size_t bodies, dynamic, fixed, kinematic, colliders, forces;
    double mass;
    value_range masses, sizes; /* of dynamic bodies and their colliders */
} scene_contents;

static void take_body(scene_contents *contents, const rg_world *world, rg_body_id body) {
    rg_motion motion = rg_body_motion(world, body);
    const char *name = rg_body_name(world, body);
    contents->dynamic += motion == RG_MOTION_DYNAMIC;
    contents->fixed += motion == RG_MOTION_FIXED;
    contents->kinematic += motion == RG_MOTION_KINEMATIC;
    size_t colliders = rg_body_collider_count(world, body);
    contents->colliders += colliders;
    if (motion != RG_MOTION_DYNAMIC)
        return;
    double mass = rg_body_mass(world, body).mass;
    contents->mass += mass;
    range_take(&contents->masses, mass, name);
    for (size_t i = 0; i < colliders; i++) {
        const rg_shape *shape =
            rg_collider_get_def(world, rg_body_collider_at(world, body, i)).shape;
        if (rg_shape_is_bounded(shape))
            range_take(&contents->sizes, rg_shape_circumradius(shape), name);
    }
}

static scene_contents look_at(const rg_world *world) {
    scene_contents contents = {.masses = range_empty(), .sizes = range_empty()};
    contents.bodies = rg_world_body_count(world);
    contents.forces = rg_world_force_count(world);
    for (size_t i = 0; i < contents.bodies; i++)
        take_body(&contents, world, rg_world_body_at(world, i));
    return contents;
}

static void warn_about_range(const char *scene, const char *what, const char *unit,
                             const value_range *range, double extreme) {
    if (range->most > extreme * range->least)
        printf(
            "%s: warning: %s from %.3g %s (%s) to %.3g %s (%s): a ratio of %.3g, more than %.0g, "
            "costs accuracy\n",
            scene, what, range->least, unit, range->least_name[0] ? range->least_name : "unnamed",
            range->most, unit, range->most_name[0] ? range->most_name : "unnamed",
            range->most / range->least, extreme);
}

static const char *plural(size_t count, const char *one, const char *many) {
    return count == 1 ? one : many;
}

static void describe(const char *path, rg_scene *scene) {
    const rg_world *world = rg_scene_world(scene);
    scene_contents contents = look_at(world);
    double step = rg_world_settings(world).step;
    printf("%s: good: %zu %s (%zu dynamic, %zu fixed, %zu kinematic), %zu %s, %zu %s, %.6g "
           "kg, %s, %.6g s in steps of %.6g s\n",
           path, contents.bodies, plural(contents.bodies, "body", "bodies"), contents.dynamic,
           contents.fixed, contents.kinematic, contents.colliders,
           plural(contents.colliders, "shape", "shapes"), contents.forces,
           plural(contents.forces, "force", "forces"), contents.mass,
           rg_method_name(rg_world_method(world)), rg_scene_duration(scene), step);
    if (contents.bodies == 0)
        printf("%s: warning: there is no body in it\n", path);
    else if (contents.dynamic == 0)
        printf("%s: warning: no body is dynamic: forces move nothing\n", path);
    warn_about_range(path, "masses", "kg", &contents.masses, extreme_mass_ratio);
    warn_about_range(path, "sizes", "m", &contents.sizes, extreme_size_ratio);
    if (rg_scene_duration(scene) < step)
        printf("%s: warning: the duration is shorter than a step\n", path);
}

int cli_check(int count, const char **arguments) {
    cli_option options[] = {{"quiet", 'q', false, NULL}, {"help", 'h', false, NULL}};
    if (!cli_parse_options("check", options, 2, arguments, &count))
        return EXIT_USAGE;
    if (options[1].value) {
        fputs(cli_check_help, stdout);
        return cli_flush();
    }
    if (count == 0) {
        cli_complain("check: which SCENE? see `rigor check --help`");
        return EXIT_USAGE;
    }
    int bad = 0;
    for (int i = 0; i < count; i++) {
        rg_scene *scene;
        rg_error error = {0};
        rg_status status = rg_scene_open(arguments[i], NULL, &scene, &error);
        if (status != RG_OK) {
            fflush(stdout); /* messages in the order of the scenes */
            fprintf(stderr, "%s\n", error.text);
            bad++;
            continue;
        }
        if (!options[0].value)
            describe(arguments[i], scene);
        rg_scene_free(scene);
    }
    int code = cli_flush();
    return bad ? EXIT_BAD_INPUT : code;
}
