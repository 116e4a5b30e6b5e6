/* MJCF: geoms. Shapes as in MuJoCo, whose sizes are half lengths; planes are half-spaces; meshes
 * are the hulls of their vertices, as MuJoCo collides them.
 * Tested by tests/scene/test_robot.c. */
#include "base/base_math.h"
#include "scene/scene_robot_mjcf.h"

#include <math.h>
#include <string.h>

typedef enum geom_type { PLANE, SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX, MESH, TYPES } geom_type;
static const char *const type_names[TYPES] = {"plane",    "sphere", "capsule", "ellipsoid",
                                              "cylinder", "box",    "mesh"};

static rg_status read_type(const rg_mjcf *m, const rg_xml_node *node, geom_type *type) {
    const char *text = rg_mjcf_get(m, node, "type");
    *type = SPHERE;
    for (int i = 0; text && i <= TYPES; i++) {
        if (i == TYPES)
            return rg_robot_fail(m->robot, node, RG_NOT_FOUND, "the type \"%.60s\" is not read",
                                 text);
        if (strcmp(text, type_names[i]) == 0) {
            *type = (geom_type)i;
            break;
        }
    }
    if (rg_mjcf_get(m, node, "mesh") && *type != MESH)
        return rg_robot_fail(m->robot, node, RG_UNSUPPORTED,
                             "fitting a %s to a mesh is not supported", type_names[*type]);
    return RG_OK;
}

/* From one point to another, along z: pose, and half the length. */
static rg_status read_ends(const rg_mjcf *m, const rg_xml_node *node, rg_pose *pose, double *half) {
    double v[6] = {0};
    rg_status status = rg_mjcf_numbers(m, node, "fromto", 6, v);
    if (status != RG_OK)
        return status;
    rg_vec3 a = {v[0], v[1], v[2]}, b = {v[3], v[4], v[5]}, along = rg_sub(a, b);
    *half = rg_length(along) / 2;
    pose->position = rg_scale(0.5, rg_add(a, b));
    pose->orientation = rg_robot_rotation_to(along);
    return RG_OK;
}

/* ---- meshes ---- */

static const rg_xml_node *find_mesh(const rg_mjcf *m, const char *name) {
    for (rg_xml_node *asset = NULL; (asset = rg_mjcf_section(m, "asset", asset));)
        for (const rg_xml_node *mesh = asset->first; mesh; mesh = mesh->next) {
            const char *own = rg_xml_get(mesh, "name"), *file = rg_xml_get(mesh, "file");
            if (strcmp(mesh->name, "mesh") != 0)
                continue;
            if (own ? strcmp(own, name) == 0
                    : file && strncmp(file, name, strlen(name)) == 0 && file[strlen(name)] == '.')
                return mesh;
        }
    return NULL;
}

static size_t count_words(const char *text) {
    static const char blanks[] = " \t\r\n";
    size_t count = 0;
    for (text += strspn(text, blanks); *text; count++) {
        text += strcspn(text, blanks);
        text += strspn(text, blanks);
    }
    return count;
}

static rg_status make_mesh(const rg_mjcf *m, const rg_xml_node *mesh, rg_shape **shape) {
    rg_robot *robot = m->robot;
    rg_vec3 scale = {1, 1, 1};
    const char *file = rg_xml_get(mesh, "file"), *vertices = rg_xml_get(mesh, "vertex");
    rg_status status = rg_mjcf_numbers(m, mesh, "scale", 3, &scale.x);
    if (status != RG_OK)
        return status;
    if (file) {
        char path[1024];
        const char *slash = m->strip_path ? strrchr(file, '/') : NULL;
        if (slash)
            file = slash + 1;
        bool plain = file[0] == '/' || !m->mesh_directory[0];
        size_t length = plain ? 0 : strlen(m->mesh_directory);
        if (length + strlen(file) + 2 > sizeof path)
            return rg_robot_fail(robot, mesh, RG_LIMIT_EXCEEDED, "the path is too long");
        memcpy(path, m->mesh_directory, length);
        if (length && path[length - 1] != '/')
            path[length++] = '/';
        memcpy(path + length, file, strlen(file) + 1);
        return rg_robot_mesh(robot, mesh, path, scale, shape);
    }
    size_t count = vertices ? count_words(vertices) : 0;
    rg_vec3 *points = rg_arena_take(&robot->arena, count / 3 + 1, sizeof *points);
    if (!points)
        return rg_robot_no_memory(robot);
    if (count % 3)
        return rg_robot_fail(robot, mesh, RG_WRONG_TYPE, "vertex needs three numbers for each");
    if (count)
        status = rg_robot_numbers(robot, mesh, "vertex", vertices, count, &points->x, &count);
    for (size_t i = 0; i < count / 3; i++)
        points[i] = rg_times(scale, points[i]);
    rg_shape_def def = rg_shape_def_hull(points, count / 3);
    return status == RG_OK ? rg_robot_shape(robot, mesh, &def, shape) : status;
}

rg_status rg_mjcf_check_mesh(rg_mjcf *m, const rg_xml_node *mesh) {
    const char *inertia = rg_mjcf_get(m, mesh, "inertia");
    if (!inertia || strcmp(inertia, "convex") == 0)
        return RG_OK;
    return rg_robot_leave_out(m->robot, mesh, "an inertia that is not that of its hull");
}

/* ---- shapes ---- */

static rg_status make_shape(const rg_mjcf *m, const rg_xml_node *node, geom_type type,
                            rg_robot_collider *c) {
    double size[3] = {0, 0, 0}, half = 0;
    bool ends = rg_mjcf_get(m, node, "fromto") != NULL;
    if (ends && type != CAPSULE && type != CYLINDER && type != BOX && type != ELLIPSOID)
        return rg_robot_fail(m->robot, node, RG_INVALID_ARGUMENT, "fromto of a %s",
                             type_names[type]);
    rg_status status = rg_mjcf_pose(m, node, &c->pose);
    if (status == RG_OK)
        status = rg_mjcf_numbers(m, node, "size", 3, size);
    if (status == RG_OK && ends)
        status = read_ends(m, node, &c->pose, &half);
    if (status != RG_OK)
        return status;
    if (ends) {
        bool round = type == CAPSULE || type == CYLINDER;
        size[2] = half;
        size[1] = round ? half : size[1] > 0 ? size[1] : size[0];
    }
    if (type == MESH) {
        const char *name = rg_mjcf_get(m, node, "mesh");
        const rg_xml_node *mesh = name ? find_mesh(m, name) : NULL;
        return mesh ? make_mesh(m, mesh, &c->shape)
                    : rg_robot_fail(m->robot, node, RG_NOT_FOUND, "there is no mesh \"%.100s\"",
                                    name ? name : "");
    }
    const rg_shape_def defs[TYPES] = {
        [PLANE] = rg_shape_def_halfspace((rg_vec3){0, 0, 1}, 0),
        [SPHERE] = rg_shape_def_sphere(size[0]),
        [CAPSULE] = rg_shape_def_capsule(size[0], 2 * size[1]),
        [ELLIPSOID] = rg_shape_def_ellipsoid(size[0], size[1], size[2]),
        [CYLINDER] = rg_shape_def_cylinder(size[0], 2 * size[1]),
        [BOX] = rg_shape_def_box(2 * size[0], 2 * size[1], 2 * size[2]),
    };
    return rg_robot_shape(m->robot, node, &defs[type], &c->shape);
}

/* ---- contact ---- */

static rg_status read_contact(rg_mjcf *m, const rg_xml_node *node, rg_robot_collider *c) {
    rg_robot *robot = m->robot;
    double friction[3] = {1, 0.005, 0.0001}, dimension = 3, priority = 0, bits[2] = {1, 1},
           margin = 0;
    const rg_mjcf_number numbers[] = {{"friction", 3, friction},    {"condim", 1, &dimension},
                                      {"priority", 1, &priority},   {"contype", 1, &bits[0]},
                                      {"conaffinity", 1, &bits[1]}, {"margin", 1, &margin}};
    rg_status status = rg_mjcf_read(m, node, numbers, sizeof numbers / sizeof *numbers);
    if (status == RG_OK && margin != 0)
        status = rg_robot_leave_out(robot, node, "a margin: contacts of rigid bodies have none");
    if (status == RG_OK && dimension != 1 && dimension != 3 && dimension != 4 && dimension != 6)
        return rg_robot_fail(robot, node, RG_INVALID_ARGUMENT, "condim is 1, 3, 4 or 6");
    if (status == RG_OK && dimension > 3)
        status = rg_robot_leave_out(robot, node, "friction against turning and rolling (condim)");
    if (status != RG_OK)
        return status;
    if (!(friction[0] >= 0))
        return rg_robot_fail(robot, node, RG_INVALID_ARGUMENT, "friction must not be negative");
    if (!(fabs(priority) < 1e9 && priority == (int)priority))
        return rg_robot_fail(robot, node, RG_INVALID_ARGUMENT, "priority must be a whole number");
    for (int i = 0; i < 2; i++)
        if (!(bits[i] >= 0 && bits[i] <= UINT32_MAX && bits[i] == (uint32_t)bits[i]))
            return rg_robot_fail(robot, node, RG_INVALID_ARGUMENT, "contype, conaffinity: 32 bits");
    c->contype = (uint32_t)bits[0];
    c->conaffinity = (uint32_t)bits[1];
    rg_robot_material own = {friction[0], dimension > 1 ? 3 : 1, (int)priority};
    return rg_robot_add_material(robot, own, &c->material);
}

rg_status rg_mjcf_geom(rg_mjcf *m, const rg_xml_node *node, rg_robot_link *link,
                       rg_mass_properties *mass) {
    rg_robot_collider c = {0};
    geom_type type;
    double density = 1000, given = -1;
    *mass = (rg_mass_properties){0};
    rg_status status = read_type(m, node, &type);
    if (status == RG_OK)
        status = read_contact(m, node, &c);
    if (status == RG_OK)
        status = rg_mjcf_read(m, node,
                              (rg_mjcf_number[]){{"density", 1, &density}, {"mass", 1, &given}}, 2);
    if (status == RG_OK && (density < 0 || (given < 0 && rg_mjcf_get(m, node, "mass"))))
        status = rg_robot_fail(m->robot, node, RG_INVALID_SIZE, "a negative mass");
    if (status == RG_OK)
        status = make_shape(m, node, type, &c);
    if (status != RG_OK || !c.shape)
        return status;
    if (type != PLANE) {
        double volume = rg_shape_volume(c.shape);
        if (given >= 0)
            density = given / volume;
        if (density > 0)
            *mass = rg_mass_transform(rg_shape_mass(c.shape, density), c.pose);
    }
    status = rg_robot_add_collider(m->robot, link, node, NULL, &c);
    if (status != RG_OK)
        rg_shape_release(c.shape);
    return status;
}
