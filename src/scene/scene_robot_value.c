/* Values of robot descriptions: numbers, rotations, shapes, mesh files.
 * Tested by tests/scene/test_robot.c. */
#include "scene/scene_robot.h"

#include "base/base_file.h"
#include "base/base_math.h"
#include "base/base_trig.h"
#include "rigor/mesh.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char blanks[] = " \t\r\n";

/* Most of a place, a size or any other vector, in its units. At 1e9 m a double still tells 0.1 um;
 * farther away the frames of joints do not meet to what readers of scenes ask for. */
#define VECTOR_MOST 1e9

rg_status rg_robot_numbers(rg_robot *robot, const rg_xml_node *node, const char *name,
                           const char *text, size_t most, double *values, size_t *count) {
    *count = 0;
    for (;;) {
        text += strspn(text, blanks);
        size_t length = strcspn(text, blanks);
        if (!length)
            return RG_OK;
        if (*count == most)
            return rg_robot_fail(robot, node, RG_WRONG_TYPE, "%s has more than %zu numbers", name,
                                 most);
        if (!rg_parse_double(text, length, &values[*count]))
            return rg_robot_fail(robot, node, RG_WRONG_TYPE, "%s: \"%.*s\" is not a number", name,
                                 (int)(length < 60 ? length : 60), text);
        if (!isfinite(values[*count]))
            return rg_robot_fail(robot, node, RG_NOT_FINITE, "%s: a number is not finite", name);
        if (most >= 3 && fabs(values[*count]) > VECTOR_MOST)
            return rg_robot_fail(robot, node, RG_LIMIT_EXCEEDED, "%s: %g is beyond %g", name,
                                 values[*count], VECTOR_MOST);
        ++*count;
        text += length;
    }
}

rg_status rg_robot_vector(rg_robot *robot, const rg_xml_node *node, const char *name, size_t count,
                          double *values) {
    const char *text = node ? rg_xml_value(&node, name) : NULL;
    size_t found;
    if (!text)
        return RG_OK;
    if (strstr(text, "$(") || strstr(text, "${"))
        return rg_robot_leave_out(robot, node, "an expression of xacro, which is another program");
    double read[16] = {0};
    rg_status status = rg_robot_numbers(robot, node, name, text, count, read, &found);
    if (status != RG_OK)
        return status;
    if (found != count)
        return rg_robot_fail(robot, node, RG_WRONG_TYPE, "%s needs %zu numbers, not %zu", name,
                             count, found);
    memcpy(values, read, count * sizeof *values);
    return RG_OK;
}

/* About fixed axes: first x, then y, then z. */
rg_quat rg_robot_roll_pitch_yaw(rg_vec3 angles) {
    rg_quat x = rg_quat_of_axis_angle((rg_vec3){1, 0, 0}, angles.x),
            y = rg_quat_of_axis_angle((rg_vec3){0, 1, 0}, angles.y),
            z = rg_quat_of_axis_angle((rg_vec3){0, 0, 1}, angles.z);
    return rg_quat_multiply(z, rg_quat_multiply(y, x));
}

rg_quat rg_robot_rotation_to(rg_vec3 axis) {
    axis = rg_normalised(axis);
    rg_vec3 across = {-axis.y, axis.x, 0}; /* z x axis */
    double length = rg_length(across);
    if (length == 0)
        return axis.z < 0 ? rg_quat_make(1, 0, 0, 0) : rg_quat_identity();
    return rg_quat_of_axis_angle(across, rg_atan2(length, axis.z));
}

rg_status rg_robot_name(rg_robot *robot, const rg_xml_node *node, const char *attribute,
                        const char **name) {
    *name = rg_xml_value(&node, attribute);
    return *name && (*name)[0] ? RG_OK
                               : rg_robot_fail(robot, node, RG_NOT_FOUND, "needs %s", attribute);
}

rg_status rg_robot_add_material(rg_robot *robot, rg_robot_material material, size_t *index) {
    for (*index = 0; *index < robot->material_count; ++*index) {
        const rg_robot_material *m = &robot->materials[*index];
        if (m->friction == material.friction && m->dimension == material.dimension &&
            m->priority == material.priority)
            return RG_OK;
    }
    if (!rg_arena_grow(&robot->arena, &robot->materials, robot->material_count,
                       &robot->material_capacity, sizeof material))
        return rg_robot_no_memory(robot);
    robot->materials[robot->material_count++] = material;
    return RG_OK;
}

rg_status rg_robot_add_link(rg_robot *robot, const rg_robot_link *link, size_t *index) {
    if (robot->link_count >= robot->limits.bodies)
        return rg_robot_fail(robot, link->node, RG_LIMIT_EXCEEDED, "there are more than %zu bodies",
                             robot->limits.bodies);
    if (!rg_arena_grow(&robot->arena, &robot->links, robot->link_count, &robot->link_capacity,
                       sizeof *robot->links))
        return rg_robot_no_memory(robot);
    *index = robot->link_count++;
    robot->links[*index] = *link;
    return RG_OK;
}

rg_status rg_robot_shape(rg_robot *robot, const rg_xml_node *node, const rg_shape_def *def,
                         rg_shape **shape) {
    rg_error cause = {0};
    rg_status status = rg_shape_create(def, &robot->allocator, shape, &cause);
    return status == RG_OK ? RG_OK : rg_robot_fail(robot, node, status, "%s", cause.text);
}

rg_status rg_robot_add_collider(rg_robot *robot, rg_robot_link *link, const rg_xml_node *node,
                                const rg_shape_def *def, const rg_robot_collider *like) {
    rg_robot_collider *collider = rg_robot_take(robot, sizeof *collider);
    if (!collider)
        return rg_robot_no_memory(robot);
    *collider = *like;
    if (def) {
        rg_status status = rg_robot_shape(robot, node, def, &collider->shape);
        if (status != RG_OK)
            return status;
    }
    collider->next = link->colliders;
    link->colliders = collider;
    return RG_OK;
}

/* ---- files ---- */

enum { PATH_SIZE = RG_ROBOT_PATH_SIZE, LEVELS = 8 };

/* package://NAME/REST: a folder NAME with REST in it, beside the file or in a folder above; or a
 * folder above that has REST and stands for the package. */
static bool find_in_package(const char *directory, const char *name, char path[PATH_SIZE]) {
    const char *rest = strchr(name, '/');
    char above[PATH_SIZE];
    if (!rest || snprintf(above, sizeof above, "%s", directory) >= (int)sizeof above)
        return false;
    for (int i = 0; i < LEVELS; i++) {
        if (snprintf(path, PATH_SIZE, "%s/%s", above, name) < PATH_SIZE && rg_file_is_there(path))
            return true;
        if (snprintf(path, PATH_SIZE, "%s%s", above, rest) < PATH_SIZE && rg_file_is_there(path))
            return true;
        size_t length = strlen(above);
        if (length + 4 > sizeof above)
            return false;
        memcpy(above + length, "/..", 4);
    }
    return false;
}

/* Beside the file that has the element in it. */
static bool find_beside(const rg_xml_node *node, const char *name, char path[PATH_SIZE]) {
    const char *slash = strrchr(node->file, '/');
    int length = slash ? (int)(slash - node->file) + 1 : 0;
    return snprintf(path, PATH_SIZE, "%.*s%s", length, node->file, name) < PATH_SIZE &&
           rg_file_is_there(path);
}

bool rg_robot_find_file(const rg_robot *robot, const rg_xml_node *node, const char *name,
                        char path[PATH_SIZE]) {
    const char *given = robot->source->directory;
    const char *directory = given && given[0] ? given : ".";
    static const char package[] = "package://", model[] = "model://", file[] = "file://";
    bool found;
    if (strncmp(name, package, sizeof package - 1) == 0)
        found = find_in_package(directory, name + sizeof package - 1, path);
    else if (strncmp(name, model, sizeof model - 1) == 0)
        found = find_in_package(directory, name + sizeof model - 1, path);
    else if (strncmp(name, file, sizeof file - 1) == 0)
        found = snprintf(path, PATH_SIZE, "%s", name + sizeof file - 1) < PATH_SIZE;
    else
        found = snprintf(path, PATH_SIZE, "%s%s%s", name[0] == '/' ? "" : directory,
                         name[0] == '/' ? "" : "/", name) < PATH_SIZE;
    return (found && rg_file_is_there(path)) || find_beside(node, name, path);
}

static rg_status leave_mesh_out(rg_robot *robot, const rg_xml_node *node, const char *name) {
    char text[RG_ERROR_TEXT_SIZE / 2];
    snprintf(text, sizeof text, "there is no mesh %.200s, neither beside the file nor above it",
             name);
    return rg_robot_leave_out(robot, node, text);
}

rg_status rg_robot_mesh(rg_robot *robot, const rg_xml_node *node, const char *name, rg_vec3 scale,
                        rg_shape **shape) {
    char path[PATH_SIZE];
    if (!robot->limits.files)
        return rg_robot_fail(robot, node, RG_UNSUPPORTED, "mesh files are not opened here");
    rg_mesh mesh;
    rg_error cause = {0};
    if (!rg_robot_find_file(robot, node, name, path))
        return leave_mesh_out(robot, node, name);
    rg_status status = rg_mesh_read_file(path, &(rg_mesh_options){.allocator = &robot->allocator},
                                         &mesh, NULL, &cause);
    if (status != RG_OK)
        return rg_robot_fail(robot, node, status, "%s", cause.text);
    for (size_t i = 0; i < mesh.vertex_count; i++)
        mesh.vertices[i] = rg_times(scale, mesh.vertices[i]);
    rg_shape_def def = rg_shape_def_hull(mesh.vertices, mesh.vertex_count);
    status = rg_robot_shape(robot, node, &def, shape);
    rg_mesh_destroy(&mesh);
    return status;
}
