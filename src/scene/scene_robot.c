/* Robot descriptions as scenes: which format it is, and the way through the parts of the reader.
 * Tested by tests/scene/test_robot.c, and against MuJoCo by tests/scripts/test_robot.py. */
#include "scene/scene_robot.h"

#include <string.h>

bool rg_robot_is_one(const char *text, size_t size) {
    static const char mark[] = "\xef\xbb\xbf"; /* of UTF-8 */
    size_t i = size >= 3 && memcmp(text, mark, 3) == 0 ? 3 : 0;
    while (i < size && strchr(" \t\r\n", text[i]) && text[i])
        i++;
    return i + 1 < size && text[i] == '<' && text[i + 1] != '<'; /* << is a key of YAML */
}

const char *rg_robot_parameter(const rg_robot *robot, const char *name) {
    for (size_t i = 0; robot->options && i < robot->options->parameter_count; i++)
        if (strcmp(robot->options->parameters[i].name, name) == 0)
            return robot->options->parameters[i].value;
    return NULL;
}

/* By the element that a document begins with; with the parameter that it has besides `ground`. */
static const struct format {
    const char *root, *parameter;
    rg_status (*read)(rg_robot *robot, rg_xml_node *root);
} formats[] = {{"robot", "base", rg_robot_read_urdf},
               {"mujoco", "key", rg_robot_read_mjcf},
               {"sdf", NULL, rg_robot_read_sdf}};

static rg_status check_parameters(const rg_robot *robot, const struct format *format) {
    const char *own = format->parameter;
    for (size_t i = 0; robot->options && i < robot->options->parameter_count; i++) {
        const char *name = robot->options->parameters[i].name;
        if (strcmp(name, "ground") != 0 && (!own || strcmp(name, own) != 0))
            return rg_fail(robot->error, RG_NOT_FOUND,
                           "%s: there is no parameter \"%.100s\"; there are: %s%sground",
                           robot->source->name, name, own ? own : "", own ? ", " : "");
    }
    return RG_OK;
}

static rg_status read_robot(rg_robot *robot) {
    rg_xml_node *root;
    rg_status status = rg_robot_parse(robot, robot->source, &root);
    if (status != RG_OK)
        return status;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (strcmp(root->name, formats[i].root) != 0)
            continue;
        status = check_parameters(robot, &formats[i]);
        if (status == RG_OK)
            status = formats[i].read(robot, root);
        return status == RG_OK ? rg_robot_build(robot) : status;
    }
    return rg_robot_fail(robot, root, RG_UNSUPPORTED,
                         "neither URDF (robot), MJCF (mujoco) nor SDF (sdf) begins like this");
}

rg_status rg_robot_read(const rg_scene_source *source, const rg_scene_options *options,
                        const rg_scene_limits *limits, rg_scene **scene, rg_error *error) {
    rg_error scratch;
    char name[RG_QUOTE_SIZE];
    rg_robot robot = {.source = source,
                      .options = options,
                      .limits = *limits,
                      .error = error ? error : &scratch,
                      .gravity = {0, 0, -9.81}};
    *scene = NULL;
    robot.allocator = rg_allocator_or_default(options ? options->allocator : NULL);
    robot.arena = rg_arena_make(&robot.allocator);
    rg_scene_short_name(source->name, name);
    robot.scene = rg_scene_make(&robot.allocator, name);
    rg_status status = robot.scene ? RG_OK : rg_robot_no_memory(&robot);
    if (status == RG_OK && source->size > limits->bytes)
        status = rg_fail(robot.error, RG_LIMIT_EXCEEDED, "%s: the text is larger than %zu bytes",
                         source->name, limits->bytes);
    if (status == RG_OK)
        status = read_robot(&robot);
    for (size_t i = 0; i < robot.link_count; i++)
        for (rg_robot_collider *c = robot.links[i].colliders; c; c = c->next)
            rg_shape_release(c->shape);
    rg_arena_free(&robot.arena);
    if (status == RG_OK)
        *scene = robot.scene;
    else
        rg_scene_destroy(robot.scene);
    return status;
}
