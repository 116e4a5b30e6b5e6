/* Scenes as SDF: a model of each tree of bodies, static if it is one fixed body. Links have their
 * poses in the world, with quaternions, so that their bits stay; joints have their frames in the
 * link that hangs by them. Tested by tests/scene/test_robot_write.c. */
#include "scene/scene_robot_write.h"

#include "base/base_math.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- elements ---- */

static void put_element(rg_robot_writer *w, const char *name, const double *values, size_t count) {
    char text[RG_NUMBER_SIZE];
    rg_buffer_print(&w->out, "<%s>", name);
    for (size_t i = 0; i < count; i++)
        rg_buffer_print(&w->out, "%s%s", i ? " " : "", rg_format_double(values[i], text));
    rg_buffer_print(&w->out, "</%s>", name);
}

static void put_number(rg_robot_writer *w, const char *name, double value) {
    put_element(w, name, &value, 1);
}

static void put_pose(rg_robot_writer *w, rg_pose pose) {
    rg_robot_put(w, "<pose");
    rg_robot_put_text(w, "rotation_format", "quat_xyzw");
    const double v[7] = {pose.position.x,    pose.position.y,    pose.position.z,
                         pose.orientation.x, pose.orientation.y, pose.orientation.z,
                         pose.orientation.w};
    char text[RG_NUMBER_SIZE];
    for (size_t i = 0; i < 7; i++)
        rg_buffer_print(&w->out, "%c%s", i ? ' ' : '>', rg_format_double(v[i], text));
    rg_robot_put(w, "</pose>");
}

static void put_name(rg_robot_writer *w, const char *element, const char *name) {
    rg_buffer_print(&w->out, "<%s>", element);
    rg_robot_put_escaped(w, name);
    rg_buffer_print(&w->out, "</%s>", element);
}

/* ---- links ---- */

/* The geometry; false: there is none for it. */
static bool put_form(rg_robot_writer *w, const rg_shape_def *def) {
    const char *kind = rg_shape_kind_name(def->kind);
    if (def->kind != RG_SHAPE_BOX && def->kind != RG_SHAPE_SPHERE &&
        def->kind != RG_SHAPE_CYLINDER && def->kind != RG_SHAPE_CAPSULE &&
        def->kind != RG_SHAPE_ELLIPSOID && def->kind != RG_SHAPE_HALFSPACE)
        return false;
    if (def->kind == RG_SHAPE_HALFSPACE)
        kind = "plane";
    rg_buffer_print(&w->out, "<geometry><%s>", kind);
    if (def->kind == RG_SHAPE_HALFSPACE) {
        put_element(w, "normal", &def->normal.x, 3);
        rg_robot_put(w, "<size>10 10</size>"); /* of its picture */
    } else if (def->kind == RG_SHAPE_BOX || def->kind == RG_SHAPE_ELLIPSOID) {
        put_element(w, def->kind == RG_SHAPE_BOX ? "size" : "radii", &def->size.x, 3);
    } else {
        put_number(w, "radius", def->radius);
    }
    if (def->kind == RG_SHAPE_CYLINDER || def->kind == RG_SHAPE_CAPSULE)
        put_number(w, "length", def->length);
    rg_buffer_print(&w->out, "</%s></geometry>", kind);
    return true;
}

static void put_surface(rg_robot_writer *w, const rg_collider_def *collider) {
    double friction = rg_robot_friction(w, collider->material);
    rg_robot_put(w, "<surface><friction><ode>");
    put_number(w, "mu", friction);
    put_number(w, "mu2", friction);
    rg_robot_put(w, "</ode></friction>");
    if (rg_robot_touches_nothing(w, collider))
        rg_robot_put(w, "<contact><collide_bitmask>0</collide_bitmask></contact>");
    rg_robot_put(w, "</surface>");
}

typedef struct shapes {
    rg_body_id body;
    const char *element; /* collision or visual */
    size_t count;
} shapes;

static void put_shape(rg_robot_writer *w, const rg_collider_def *collider, const rg_shape *shape,
                      rg_pose pose, void *user) {
    shapes *of = user;
    rg_shape_def def = rg_shape_get_def(shape);
    bool solid = strcmp(of->element, "collision") == 0;
    size_t before = w->out.size;
    char text[64];
    if (def.kind == RG_SHAPE_HALFSPACE)
        pose.position = rg_pose_apply(pose, rg_scale(def.offset, def.normal));
    rg_buffer_print(&w->out, "<%s name=\"%s%zu\">", of->element, of->element, of->count++);
    put_pose(w, pose);
    if (!put_form(w, &def)) {
        w->out.size = before;
        if (solid)
            rg_robot_cannot(w, "body %s: a shape of kind %s", rg_robot_body_word(w, of->body, text),
                            rg_shape_kind_name(def.kind));
        return;
    }
    if (solid)
        put_surface(w, collider);
    rg_buffer_print(&w->out, "</%s>\n", of->element);
}

static void put_inertia(rg_robot_writer *w, rg_body_id body) {
    static const char *const names[6] = {"ixx", "ixy", "ixz", "iyy", "iyz", "izz"};
    static const int rows[6] = {0, 0, 0, 1, 1, 2}, columns[6] = {0, 1, 2, 1, 2, 2};
    rg_mass_properties m = rg_body_mass(w->world, body);
    rg_robot_put(w, "<inertial>");
    put_pose(w, rg_pose_make(m.centre, rg_quat_identity()));
    put_number(w, "mass", m.mass);
    rg_robot_put(w, "<inertia>");
    for (int i = 0; i < 6; i++)
        put_number(w, names[i], m.inertia.m[rows[i]][columns[i]]);
    rg_robot_put(w, "</inertia></inertial>\n");
}

static void put_link(rg_robot_writer *w, rg_body_id body) {
    char text[64];
    if (strstr(rg_robot_body_word(w, body, text), "::"))
        rg_robot_cannot(w, "body %s: a name with ::", rg_robot_body_word(w, body, text));
    rg_robot_put(w, "<link");
    rg_robot_put_body(w, "name", body);
    rg_robot_put(w, ">\n");
    put_pose(w, rg_body_pose(w->world, body));
    if (rg_body_motion(w->world, body) == RG_MOTION_DYNAMIC)
        put_inertia(w, body);
    if (rg_body_gravity_scale(w->world, body) == 0)
        rg_robot_put(w, "<gravity>false</gravity>");
    rg_robot_each_shape(w, body, put_shape, &(shapes){body, "collision", 0});
    rg_robot_each_shape(w, body, put_shape, &(shapes){body, "visual", 0});
    rg_robot_put(w, "</link>\n");
}

/* ---- joints ---- */

static void put_axis(rg_robot_writer *w, const char *element, const rg_joint_axis *a,
                     rg_vec3 direction) {
    rg_buffer_print(&w->out, "<%s>", element);
    put_element(w, "xyz", &direction.x, 3);
    rg_robot_put(w, "<limit>");
    if (isfinite(a->lower))
        put_number(w, "lower", a->lower);
    if (isfinite(a->upper))
        put_number(w, "upper", a->upper);
    rg_robot_put(w, "</limit><dynamics>");
    put_number(w, "damping", a->damping);
    put_number(w, "friction", a->friction);
    put_number(w, "spring_reference", a->stiffness > 0 ? a->rest : 0);
    put_number(w, "spring_stiffness", a->stiffness);
    rg_buffer_print(&w->out, "</dynamics></%s>", element);
}

static const char *type_of(rg_joint_kind kind) {
    return kind == RG_JOINT_HINGE       ? "revolute"
           : kind == RG_JOINT_SLIDER    ? "prismatic"
           : kind == RG_JOINT_BALL      ? "ball"
           : kind == RG_JOINT_UNIVERSAL ? "universal"
           : kind == RG_JOINT_FIXED     ? "fixed"
                                        : NULL;
}

static void check_joint(rg_robot_writer *w, const rg_robot_node *node, const rg_joint_def *def) {
    rg_joint_state state = rg_joint_get_state(w->world, node->joint);
    char text[64];
    const char *name = rg_robot_joint_word(w, node->joint, text);
    if (!type_of(def->kind))
        rg_robot_cannot(w, "joint %s: the kind %s", name, rg_joint_kind_name(def->kind));
    if (node->reversed && def->kind == RG_JOINT_UNIVERSAL)
        rg_robot_cannot(w, "joint %s: its second body carries the first", name);
    for (size_t i = 0; i < rg_joint_axis_count(def->kind); i++) {
        rg_robot_check_axis(w, node->joint, i);
        if (fabs(state.coordinate[i]) > RG_ROBOT_ROUNDING)
            rg_robot_cannot(w, "joint %s: that it stands at %g", name, state.coordinate[i]);
        if (def->axis[i].armature != 0 || def->axis[i].motor != RG_MOTOR_NONE)
            rg_robot_cannot(w, "joint %s: its armature or motor", name);
    }
}

/* In SDF all things of a model have different names. */
static void put_joint_name(rg_robot_writer *w, rg_joint_id joint) {
    char text[64], longer[320];
    const char *word = rg_robot_joint_word(w, joint, text);
    bool taken = rg_world_find_body(w->world, word, &(rg_body_id){0}) == RG_OK;
    snprintf(longer, sizeof longer, "%.300s%s", word, taken ? "_joint" : "");
    rg_robot_put_text(w, "name", longer);
}

/* With both ends named; the world is the parent of those that hang from nothing. */
static void open_joint(rg_robot_writer *w, const rg_robot_node *node, const char *type) {
    char text[64];
    rg_robot_put(w, "<joint");
    if (node->joint.index1)
        put_joint_name(w, node->joint);
    else
        rg_buffer_print(&w->out, " name=\"place%zu\"", (size_t)(node - w->nodes));
    rg_robot_put_text(w, "type", type);
    rg_robot_put(w, ">");
    put_name(w, "parent",
             node->parent == RG_NO_NODE ? "world"
                                        : rg_robot_body_word(w, w->nodes[node->parent].body, text));
    put_name(w, "child", rg_robot_body_word(w, node->body, text));
}

static void put_joint(rg_robot_writer *w, const rg_robot_node *node) {
    rg_joint_def def = rg_joint_get_def(w->world, node->joint);
    rg_vec3 z = {0, 0, node->reversed ? -1 : 1};
    check_joint(w, node, &def);
    if (!type_of(def.kind))
        return;
    open_joint(w, node, type_of(def.kind));
    put_pose(w, node->reversed ? def.frame_a : def.frame_b);
    if (def.kind == RG_JOINT_HINGE || def.kind == RG_JOINT_SLIDER)
        put_axis(w, "axis", &def.axis[0], z);
    if (def.kind == RG_JOINT_UNIVERSAL) {
        put_axis(w, "axis", &def.axis[0], (rg_vec3){1, 0, 0});
        put_axis(w, "axis2", &def.axis[1], (rg_vec3){0, 1, 0});
    }
    rg_robot_put(w, "</joint>\n");
}

/* ---- models ---- */

static size_t next_in_tree(const rg_robot_writer *w, size_t root, size_t at) {
    if (w->nodes[at].first != RG_NO_NODE)
        return w->nodes[at].first;
    while (at != root && w->nodes[at].next == RG_NO_NODE)
        at = w->nodes[at].parent;
    return at == root ? RG_NO_NODE : w->nodes[at].next;
}

static void put_model(rg_robot_writer *w, size_t root) {
    const rg_robot_node *node = &w->nodes[root];
    bool fixed = rg_body_motion(w->world, node->body) != RG_MOTION_DYNAMIC,
         alone = node->first == RG_NO_NODE;
    rg_robot_put(w, "<model");
    rg_robot_put_body(w, "name", node->body);
    rg_robot_put(w, ">\n");
    if (fixed && alone)
        rg_robot_put(w, "<static>true</static>\n");
    if (!alone)
        rg_robot_put(w, "<self_collide>true</self_collide>\n");
    for (size_t i = root; i != RG_NO_NODE; i = next_in_tree(w, root, i))
        put_link(w, w->nodes[i].body);
    if (fixed && !alone) {
        open_joint(w, node, "fixed");
        rg_robot_put(w, "</joint>\n");
    }
    for (size_t i = root; i != RG_NO_NODE; i = next_in_tree(w, root, i))
        if (w->nodes[i].joint.index1)
            put_joint(w, &w->nodes[i]);
    rg_robot_put(w, "</model>\n");
}

void rg_robot_write_sdf(rg_robot_writer *w) {
    rg_vec3 gravity = rg_world_gravity(w->world);
    rg_robot_refuse_distances(w);
    rg_robot_put(w, "<sdf version=\"1.9\">\n<world");
    rg_robot_put_text(w, "name", rg_scene_name(w->scene));
    rg_robot_put(w, ">\n<physics name=\"step\" type=\"ode\">");
    put_number(w, "max_step_size", rg_scene_step_size(w->scene));
    rg_robot_put(w, "<real_time_factor>1</real_time_factor></physics>\n");
    put_element(w, "gravity", &gravity.x, 3);
    rg_robot_put(w, "\n");
    for (size_t i = w->first; i != RG_NO_NODE; i = w->nodes[i].next)
        put_model(w, i);
    rg_robot_put(w, "</world>\n</sdf>\n");
}
