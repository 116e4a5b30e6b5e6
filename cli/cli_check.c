/* `rigor check`: reads scenes, says what is wrong with them, or what is in them and what will be
 * hard about it. */
#include "cli.h"

#include "rigor/collision.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char cli_check_help[] =
    "Usage: rigor check SCENE ...\n"
    "       rigor check SCENE --assemble FILE\n"
    "       rigor check MESH ... | rigor check MESH --repair FILE\n"
    "\n"
    "Reads scene files (or built-in scenes) without running them. Each mistake in one gets a\n"
    "message with file, line, column and path: what is wrong and what would be right (20 at\n"
    "most; what merely follows from another mistake is left out). A good scene gets\n"
    "a line that says what is in it, and warnings: bodies that overlap at the start, with\n"
    "names and depth, ratios of mass or size that cost accuracy, steps in which bodies fall\n"
    "by more than their size, extremely thin shapes, motors without a limit\n"
    "of force, joints that contradict each other or hold nothing, mechanisms that are\n"
    "attached to nothing and have nothing to fall on. Notes name joints whose\n"
    "forces are not determined, because other joints hold the same.\n"
    "\n"
    "Options:\n"
    "  -q, --quiet    say nothing about good scenes, not even warnings\n"
    "      --strict   warnings count: a scene with one fails\n"
    "      --assemble FILE\n"
    "                 moves the bodies of a mechanism that is drawn loosely until its joints\n"
    "                 are closed, and writes the scene to FILE\n"
    "      --repair FILE\n"
    "                 repairs a mesh as far as no guessing is needed, says what it did and what\n"
    "                 is left, and writes FILE.obj: leaves out degenerate and duplicate\n"
    "                 triangles, turns neighbours the same way and surfaces outwards, closes\n"
    "                 holes whose rim is one loop\n"
    "  -f, --overwrite  replace the FILE of --repair\n"
    "  -h, --help     this text\n"
    "\n"
    "Exit codes: 0 all are good (warnings or not, without --strict), 1 a warning with\n"
    "--strict, 2 usage, 3 at least one is bad.\n"
    "\n"
    "Examples:\n"
    "  rigor check my-scene.yaml\n"
    "  rigor check --strict scenes/*.yaml\n"
    "  rigor check sketch.yaml --assemble linkage.yaml\n"
    "  rigor check scan.stl --repair scan.obj\n";

/* Beyond these ratios the arithmetic of contacts loses digits that matter. */
static const double extreme_mass_ratio = 1e6;
static const double extreme_size_ratio = 1e4;

/* Bodies are overlapping if they are deeper in each other than this share of the smaller one: more
 * than rounding makes of positions that are meant to touch. */
static const double overlap_share = 1e-9;
enum { OVERLAPS_SHOWN = 10 };
/* Beyond, the search for overlaps takes a second or more (100,000 boxes that touch: 3 s). */
enum { MANY_SHAPES = 50000 };

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
    size_t bodies, dynamic, fixed, kinematic, colliders, joints, forces;
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
    contents.joints = rg_world_joint_count(world);
    contents.forces = rg_world_force_count(world);
    for (size_t i = 0; i < contents.bodies; i++)
        take_body(&contents, world, rg_world_body_at(world, i));
    return contents;
}

/* True if there was something to warn about; said only if `loud`. */
static bool warn_about_range(const char *scene, const char *what, const char *unit,
                             const value_range *range, double extreme, bool loud) {
    if (!(range->most > extreme * range->least))
        return false;
    if (loud)
        printf(
            "%s: warning: %s from %.3g %s (%s) to %.3g %s (%s): a ratio of %.3g, more than %.0g, "
            "costs accuracy\n",
            scene, what, range->least, unit, range->least_name[0] ? range->least_name : "unnamed",
            range->most, unit, range->most_name[0] ? range->most_name : "unnamed",
            range->most / range->least, extreme);
    return true;
}

/* ---- overlaps at the start ---- */

typedef struct overlap {
    rg_body_id b, a;
    double depth; /* m */
} overlap;

static rg_vec3 turned(rg_quat q, rg_vec3 v) {
    /* v + 2 w (u x v) + 2 u x (u x v), u the vector part. */
    rg_vec3 c = {q.y * v.z - q.z * v.y, q.z * v.x - q.x * v.z, q.x * v.y - q.y * v.x};
    return (rg_vec3){v.x + 2 * (q.w * c.x + q.y * c.z - q.z * c.y),
                     v.y + 2 * (q.w * c.y + q.z * c.x - q.x * c.z),
                     v.z + 2 * (q.w * c.z + q.x * c.y - q.y * c.x)};
}

/* A pose given in the frame `outer`, in the world. */
static rg_pose place_in(rg_pose outer, rg_pose inner) {
    rg_quat p = outer.orientation, q = inner.orientation;
    rg_vec3 moved = turned(p, inner.position);
    return (rg_pose){.position = {outer.position.x + moved.x, outer.position.y + moved.y,
                                  outer.position.z + moved.z},
                     .orientation = {p.w * q.x + p.x * q.w + p.y * q.z - p.z * q.y,
                                     p.w * q.y + p.y * q.w + p.z * q.x - p.x * q.z,
                                     p.w * q.z + p.z * q.w + p.x * q.y - p.y * q.x,
                                     p.w * q.w - p.x * q.x - p.y * q.y - p.z * q.z}};
}

/* A collider's convex parts: the shape itself, or those of a compound. */
static size_t part_count(const rg_shape_def *shape) {
    return shape->kind == RG_SHAPE_COMPOUND ? shape->part_count : 1;
}

static rg_pose part_pose(const rg_shape_def *shape, size_t part, rg_pose pose) {
    return shape->kind == RG_SHAPE_COMPOUND ? place_in(pose, shape->parts[part].pose) : pose;
}

static const rg_shape *part_shape(const rg_shape *shape, const rg_shape_def *def, size_t part) {
    return def->kind == RG_SHAPE_COMPOUND ? def->parts[part].shape : shape;
}

/* How far two convex shapes have to be moved apart. Negative: apart. */
static double depth_between(const rg_shape *b, rg_pose pose_b, const rg_shape *a, rg_pose pose_a) {
    rg_depth depth;
    return rg_depth_between(b, pose_b, a, pose_a, &depth) == RG_OK ? depth.depth : 0;
}

static double depth_of(const rg_world *world, const rg_touch *touch, double *size) {
    rg_collider_def b = rg_collider_get_def(world, touch->collider_b);
    rg_collider_def a = rg_collider_get_def(world, touch->collider_a);
    rg_pose pose_b = place_in(rg_body_pose(world, touch->body_b), b.pose);
    rg_pose pose_a = place_in(rg_body_pose(world, touch->body_a), a.pose);
    rg_shape_def shape_b = rg_shape_get_def(b.shape), shape_a = rg_shape_get_def(a.shape);
    double deepest = 0;
    if (shape_b.kind == RG_SHAPE_TERRAIN || shape_a.kind == RG_SHAPE_TERRAIN) {
        *size = rg_shape_circumradius(shape_b.kind == RG_SHAPE_TERRAIN ? a.shape : b.shape);
        return fmax(0, -touch->gap);
    }
    for (size_t i = 0; i < part_count(&shape_b); i++)
        for (size_t j = 0; j < part_count(&shape_a); j++)
            deepest = fmax(deepest, depth_between(part_shape(b.shape, &shape_b, i),
                                                  part_pose(&shape_b, i, pose_b),
                                                  part_shape(a.shape, &shape_a, j),
                                                  part_pose(&shape_a, j, pose_a)));
    *size = INFINITY;
    if (rg_shape_is_bounded(b.shape))
        *size = rg_shape_circumradius(b.shape);
    if (rg_shape_is_bounded(a.shape))
        *size = fmin(*size, rg_shape_circumradius(a.shape));
    return deepest;
}

static void name_body(const rg_world *world, rg_body_id body, char text[80]) {
    const char *name = rg_body_name(world, body);
    size_t index = 0;
    while (index < rg_world_body_count(world) &&
           rg_world_body_at(world, index).index1 != body.index1)
        index++;
    if (name && name[0])
        snprintf(text, 80, "%s", name);
    else
        snprintf(text, 80, "body %zu (unnamed)", index);
}

/* Keeps the deepest, sorted. */
static void keep(overlap *list, size_t *kept, overlap one) {
    size_t at = *kept < OVERLAPS_SHOWN ? (*kept)++ : OVERLAPS_SHOWN;
    for (; at > 0 && list[at - 1].depth < one.depth; at--)
        if (at < OVERLAPS_SHOWN)
            list[at] = list[at - 1];
    if (at < OVERLAPS_SHOWN)
        list[at] = one;
}

static size_t find_overlaps(rg_world *world, const rg_collision_view *view, overlap *list,
                            size_t *kept) {
    size_t count = 0;
    for (size_t i = 0; i < view->touch_count; i++) {
        const rg_touch *touch = &view->touches[i];
        double size;
        if (touch->sensor || touch->gap >= 0)
            continue;
        double depth = depth_of(world, touch, &size);
        if (!(depth > overlap_share * size))
            continue;
        count++;
        keep(list, kept, (overlap){touch->body_b, touch->body_a, depth});
    }
    return count;
}

/* True if there are bodies in each other. */
static bool warn_about_overlaps(const char *path, rg_world *world, bool loud) {
    rg_collision_def def = rg_collision_def_default();
    rg_collision *collision = NULL;
    rg_error error = {0};
    overlap list[OVERLAPS_SHOWN];
    size_t kept = 0, count = 0;
    bool pushed = strcmp(rg_method_name(rg_world_method(world)), "analytic") != 0;
    rg_status status = rg_collision_create(&def, NULL, &collision, &error);
    if (status == RG_OK)
        status = rg_collision_update(collision, world, 0, &error);
    if (status == RG_OK) {
        rg_collision_view view = rg_collision_get(collision);
        count = find_overlaps(world, &view, list, &kept);
    } else if (loud) {
        printf("%s: warning: overlaps could not be looked for: %s\n", path, error.text);
    }
    rg_collision_destroy(collision);
    for (size_t i = 0; i < kept && loud; i++) {
        char b[80], a[80];
        name_body(world, list[i].b, b);
        name_body(world, list[i].a, a);
        printf("%s: warning: %s and %s overlap at the start, %.3g m deep%s\n", path, b, a,
               list[i].depth, pushed ? ": they will push each other out" : "");
    }
    if (count > kept && loud)
        printf("%s: warning: and %zu more pairs overlap, none deeper\n", path, count - kept);
    return status != RG_OK || count > 0;
}

static const char *plural(size_t count, const char *one, const char *many) {
    return count == 1 ? one : many;
}

static void describe(const char *path, rg_scene *scene, const scene_contents *contents) {
    const rg_world *world = rg_scene_world(scene);
    char joints[64] = "";
    if (contents->joints)
        snprintf(joints, sizeof joints, ", %zu %s", contents->joints,
                 plural(contents->joints, "joint", "joints"));
    printf("%s: good: %zu %s (%zu dynamic, %zu fixed, %zu kinematic), %zu %s%s, %zu %s, %.6g "
           "kg, %s, %.6g s in steps of %.6g s\n",
           path, contents->bodies, plural(contents->bodies, "body", "bodies"), contents->dynamic,
           contents->fixed, contents->kinematic, contents->colliders,
           plural(contents->colliders, "shape", "shapes"), joints, contents->forces,
           plural(contents->forces, "force", "forces"), contents->mass,
           rg_method_name(rg_world_method(world)), rg_scene_duration(scene),
           rg_scene_step_size(scene));
}

/* What a joint is called: its name, or kind and number. */
static const char *joint_name(const rg_joint_def *def, size_t number, char text[96]) {
    if (def->name)
        snprintf(text, 96, "joint \"%.80s\"", def->name);
    else
        snprintf(text, 96, "joint %zu (%s)", number, rg_joint_kind_name(def->kind));
    return text;
}

static const char *end_name(const rg_world *world, rg_body_id body) {
    return !body.index1                 ? "the world"
           : *rg_body_name(world, body) ? rg_body_name(world, body)
                                        : "?";
}

/* Joints that are apart, and those without effect. */
static bool warn_about_joint(const char *path, const rg_world *world, size_t i, bool loud) {
    char name[96];
    rg_joint_id joint = rg_world_joint_at(world, i);
    rg_joint_def def = rg_joint_get_def(world, joint);
    double apart = rg_joint_error(world, joint);
    bool broken = rg_joint_get_state(world, joint).broken, open = !broken && apart > 1e-6;
    bool still = def.kind != RG_JOINT_TENDON; /* which has no bodies of its own */
    const rg_body_id ends[2] = {def.body_a, def.body_b};
    for (int k = 0; k < 2; k++)
        still = still && (!ends[k].index1 || rg_body_motion(world, ends[k]) != RG_MOTION_DYNAMIC);
    if (open && loud)
        printf("%s: warning: %s of %s and %s is %.3g (m and rad) apart: it contradicts others\n",
               path, joint_name(&def, i, name), end_name(world, def.body_a),
               end_name(world, def.body_b), apart);
    if (still && loud)
        printf("%s: warning: %s of %s and %s holds nothing that forces move\n", path,
               joint_name(&def, i, name), end_name(world, def.body_a), end_name(world, def.body_b));
    return open || still;
}

/* Bodies that are joined with nothing that stands fall for ever where nothing stands at all. */
static bool warn_about_falling(const char *path, const rg_world *world, bool loud) {
    rg_vec3 g = rg_world_gravity(world);
    bool falls = g.x != 0 || g.y != 0 || g.z != 0;
    for (size_t i = 0; i < rg_world_body_count(world); i++)
        falls = falls && rg_body_motion(world, rg_world_body_at(world, i)) == RG_MOTION_DYNAMIC;
    size_t count = rg_world_joint_count(world);
    for (size_t i = 0; i < count; i++) {
        rg_joint_def def = rg_joint_get_def(world, rg_world_joint_at(world, i));
        falls = falls && def.body_a.index1 && def.body_b.index1;
    }
    falls = falls && count > 0;
    if (falls && loud)
        printf("%s: warning: the bodies that are joined hang on nothing, and there is nothing to "
               "fall on\n",
               path);
    return falls;
}

/* "force along x y, torque about z". */
static const char *open_text(unsigned open, char text[96]) {
    static const char *const part[3] = {"force along", "torque about", "force of axis"};
    static const char axes[3][3] = {{'x', 'y', 'z'}, {'x', 'y', 'z'}, {'1', '2', '3'}};
    size_t used = 0;
    text[0] = '\0';
    for (unsigned k = 0; k < 9; k++) {
        bool first = (open >> (k / 3 * 3) & ((1U << (k % 3)) - 1)) == 0;
        if (!(open >> k & 1))
            continue;
        used += (size_t)snprintf(text + used, 96 - used, "%s%s %c", first && used ? ", " : "",
                                 first ? part[k / 3] : "", axes[k / 3][k % 3]);
    }
    return text;
}

/* Forces that are not determined: nothing is wrong with them, so that it is no warning. */
static void tell_open_forces(const char *path, rg_world *world) {
    size_t count = rg_world_joint_count(world);
    uint16_t *open = calloc(count + 1, sizeof *open);
    for (size_t i = 0; open && i < count; i++) {
        char name[96], text[96];
        rg_joint_def def = rg_joint_get_def(world, rg_world_joint_at(world, i));
        if (i == 0 && rg_world_joint_forces_open(world, open, NULL) != RG_OK)
            break;
        if (open[i])
            printf("%s: note: %s of %s and %s: %s not determined, other joints hold the same\n",
                   path, joint_name(&def, i, name), end_name(world, def.body_a),
                   end_name(world, def.body_b), open_text(open[i], text));
    }
    free(open);
}

/* Motors that push as hard as it takes, joints that are apart or hold nothing, and joints that the
 * method does not know. */
static bool warn_about_joints(const char *path, rg_scene *scene, bool loud) {
    const rg_world *world = rg_scene_world(scene);
    size_t count = rg_world_joint_count(world), unlimited = 0;
    bool any = warn_about_falling(path, world, loud);
    for (size_t i = 0; i < count; i++) {
        rg_joint_def def = rg_joint_get_def(world, rg_world_joint_at(world, i));
        any |= warn_about_joint(path, world, i, loud);
        for (size_t k = 0; k < rg_joint_axis_count(def.kind); k++)
            unlimited += def.axis[k].motor != RG_MOTOR_NONE && !isfinite(def.axis[k].max_force);
    }
    if (unlimited && loud)
        printf("%s: warning: %zu %s without a limit of force; set max_force\n", path, unlimited,
               plural(unlimited, "motor", "motors"));
    const char *method = rg_method_name(rg_world_method(world));
    bool known = strcmp(method, "stepping") == 0 || strcmp(method, "analytic") == 0;
    if (count && !known && loud)
        printf("%s: warning: the method %s does not know joints; take stepping\n", path, method);
    return any || unlimited || (count && !known);
}

/* True if there was something to warn about. */
static bool warn(const char *path, rg_scene *scene, const scene_contents *contents, bool loud) {
    bool empty = contents->bodies == 0, still = !empty && contents->dynamic == 0;
    if (empty && loud)
        printf("%s: warning: there is no body in it\n", path);
    if (still && loud)
        printf("%s: warning: no body is dynamic: forces move nothing\n", path);
    if (contents->colliders > MANY_SHAPES && loud) {
        fflush(stdout);
        fprintf(stderr, "%s: %zu shapes: the search for overlaps takes a while\n", path,
                contents->colliders);
    }
    bool any = warn_about_overlaps(path, rg_scene_world(scene), loud);
    any |= warn_about_range(path, "masses", "kg", &contents->masses, extreme_mass_ratio, loud);
    any |= warn_about_range(path, "sizes", "m", &contents->sizes, extreme_size_ratio, loud);
    any |= cli_warn_of_run(path, scene, rg_scene_duration(scene), loud ? stdout : NULL);
    any |= warn_about_joints(path, scene, loud);
    return any || empty || still;
}

/* Bodies moved until joints are closed, and the scene written. */
static int assemble(const char *path, rg_scene *scene, const char *out, bool loud) {
    rg_error error = {0};
    double left;
    rg_status status = rg_world_assemble(rg_scene_world(scene), &left, &error);
    if (status == RG_OK)
        status = rg_scene_write_file(scene, out, &error);
    if (status != RG_OK) {
        cli_complain("%s", error.text);
        return cli_exit_code(status);
    }
    if (loud)
        printf("%s: assembled: joints are closed to %.3g (m and rad); written to %s\n", path, left,
               out);
    return EXIT_GOOD;
}

/* EXIT_GOOD, EXIT_FAILED for a warning, EXIT_BAD_INPUT. */
static int check_scene(const char *path, const char *out, bool loud) {
    rg_scene *scene;
    rg_error error = {0};
    rg_scene_options reading = {.loose = out != NULL};
    rg_status status = cli_create_scene(path, &reading, "", &scene, &error);
    if (status != RG_OK) {
        fprintf(stderr, "%s\n", error.text);
        return EXIT_BAD_INPUT;
    }
    status = rg_world_check_prescribed(rg_scene_world(scene), rg_scene_step_size(scene),
                                       rg_scene_duration(scene), &error);
    if (status != RG_OK) {
        fprintf(stderr, "%s: %s\n", path, error.text);
        rg_scene_destroy(scene);
        return EXIT_BAD_INPUT;
    }
    scene_contents contents = look_at(rg_scene_world(scene));
    if (loud)
        describe(path, scene, &contents);
    int code = out ? assemble(path, scene, out, loud) : EXIT_GOOD;
    bool warned = warn(path, scene, &contents, loud);
    if (loud)
        tell_open_forces(path, rg_scene_world(scene));
    rg_scene_destroy(scene);
    return code != EXIT_GOOD ? code : warned ? EXIT_FAILED : EXIT_GOOD;
}

int cli_check(int count, const char **arguments) {
    enum { QUIET, STRICT, ASSEMBLE, REPAIR, OVERWRITE, HELP, OPTIONS };
    cli_option options[OPTIONS] = {{"quiet", 'q', false, NULL},     {"strict", 0, false, NULL},
                                   {"assemble", 0, true, NULL},     {"repair", 0, true, NULL},
                                   {"overwrite", 'f', false, NULL}, {"help", 'h', false, NULL}};
    if (!cli_parse_options("check", options, OPTIONS, arguments, &count))
        return EXIT_USAGE;
    if (options[HELP].value) {
        fputs(cli_check_help, stdout);
        return cli_flush();
    }
    if (count == 0) {
        cli_complain("check: which SCENE? see `rigor check --help`");
        return EXIT_USAGE;
    }
    if (options[REPAIR].value && (count > 1 || !cli_is_mesh(arguments[0]))) {
        cli_complain("check: --repair repairs one mesh file at a time (.obj, .stl, .ply, .glb, "
                     ".gltf)");
        return EXIT_USAGE;
    }
    if (options[ASSEMBLE].value && count > 1) {
        cli_complain("check: --assemble takes one SCENE; give one at a time");
        return EXIT_USAGE;
    }
    int worst = EXIT_GOOD;
    for (int i = 0; i < count; i++) {
        bool loud = !options[QUIET].value;
        int code =
            cli_is_mesh(arguments[i])
                ? cli_check_mesh(arguments[i], options[REPAIR].value, &options[OVERWRITE], loud)
                : check_scene(arguments[i], options[ASSEMBLE].value, loud);
        if (code == EXIT_FAILED && !options[STRICT].value)
            code = EXIT_GOOD;
        worst = code > worst ? code : worst;
    }
    int code = cli_flush();
    return worst != EXIT_GOOD ? worst : code;
}
