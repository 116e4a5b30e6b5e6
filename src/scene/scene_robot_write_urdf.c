/* Scenes as URDF: a link `world`, from which free and fixed bodies hang, and the others from each
 * other. The frame of a link is at the point of the joint by which it hangs, with the axes of its
 * body, because URDF has its joints there. Tested by tests/scene/test_robot_write.c. */
#include "scene/scene_robot_write.h"

#include "base/base_math.h"
#include "base/base_trig.h"

#include <math.h>

/* ---- frames ---- */

/* Roll, pitch and yaw about fixed axes: R = Rz(yaw) Ry(pitch) Rx(roll). */
static rg_vec3 angles_of(rg_quat q) {
    rg_vec3 x = rg_rotate(q, (rg_vec3){1, 0, 0}), y = rg_rotate(q, (rg_vec3){0, 1, 0}),
            z = rg_rotate(q, (rg_vec3){0, 0, 1});
    double level = sqrt(x.x * x.x + x.y * x.y), pitch = rg_atan2(-x.z, level);
    if (level < 1e-9) /* straight up or down: yaw is roll, and is taken as 0 */
        return (rg_vec3){rg_atan2(-z.y, y.y), pitch, 0};
    return (rg_vec3){rg_atan2(y.z, z.z), pitch, rg_atan2(x.y, x.x)};
}

static void put_origin(rg_robot_writer *w, rg_pose pose) {
    rg_robot_put(w, "<origin");
    rg_robot_put_vector(w, "xyz", pose.position);
    rg_robot_put_vector(w, "rpy", angles_of(pose.orientation));
    rg_robot_put(w, "/>");
}

/* Where the origin of a link is in its body. */
static rg_vec3 link_origin(const rg_robot_writer *w, size_t index) {
    const rg_robot_node *node = index == RG_NO_NODE ? NULL : &w->nodes[index];
    if (!node || !node->joint.index1)
        return (rg_vec3){0, 0, 0};
    rg_joint_def def = rg_joint_get_def(w->world, node->joint);
    return node->reversed ? def.frame_a.position : def.frame_b.position;
}

/* The pose of a body's frame, seen from that of its link. */
static rg_pose in_link(const rg_robot_writer *w, size_t index, rg_pose pose) {
    pose.position = rg_sub(pose.position, link_origin(w, index));
    return pose;
}

/* ---- links ---- */

static void put_geometry(rg_robot_writer *w, const rg_collider_def *collider, const rg_shape *shape,
                         rg_pose pose, void *user) {
    size_t index = *(size_t *)user;
    rg_shape_def def = rg_shape_get_def(shape);
    char text[64];
    if (rg_robot_touches_nothing(w, collider))
        rg_robot_cannot(w, "body %s: a shape that touches nothing",
                        rg_robot_body_word(w, w->nodes[index].body, text));
    if (def.kind != RG_SHAPE_BOX && def.kind != RG_SHAPE_SPHERE && def.kind != RG_SHAPE_CYLINDER &&
        def.kind != RG_SHAPE_CAPSULE) {
        rg_robot_cannot(w, "body %s: a shape of kind %s",
                        rg_robot_body_word(w, w->nodes[index].body, text),
                        rg_shape_kind_name(def.kind));
        return;
    }
    rg_robot_put(w, "<collision>");
    put_origin(w, in_link(w, index, pose));
    rg_buffer_print(&w->out, "<geometry><%s", rg_shape_kind_name(def.kind));
    if (def.kind == RG_SHAPE_BOX)
        rg_robot_put_vector(w, "size", def.size);
    else
        rg_robot_put_numbers(w, "radius", &def.radius, 1);
    if (def.kind == RG_SHAPE_CYLINDER || def.kind == RG_SHAPE_CAPSULE)
        rg_robot_put_numbers(w, "length", &def.length, 1);
    rg_robot_put(w, "/></geometry></collision>\n");
}

static void put_inertia(rg_robot_writer *w, size_t index) {
    static const char *const names[6] = {"ixx", "ixy", "ixz", "iyy", "iyz", "izz"};
    static const int rows[6] = {0, 0, 0, 1, 1, 2}, columns[6] = {0, 1, 2, 1, 2, 2};
    rg_mass_properties m = rg_body_mass(w->world, w->nodes[index].body);
    rg_robot_put(w, "<inertial>");
    put_origin(w, in_link(w, index, rg_pose_make(m.centre, rg_quat_identity())));
    rg_robot_put(w, "<mass");
    rg_robot_put_numbers(w, "value", &m.mass, 1);
    rg_robot_put(w, "/><inertia");
    for (int i = 0; i < 6; i++)
        rg_robot_put_numbers(w, names[i], &m.inertia.m[rows[i]][columns[i]], 1);
    rg_robot_put(w, "/></inertial>\n");
}

/* One coefficient for all of a link. */
static void put_friction(rg_robot_writer *w, rg_body_id body) {
    char text[64];
    double friction = 0;
    size_t count = rg_body_collider_count(w->world, body);
    for (size_t i = 0; i < count; i++) {
        rg_collider_id collider = rg_body_collider_at(w->world, body, i);
        double own = rg_robot_friction(w, rg_collider_get_def(w->world, collider).material);
        if (i > 0 && own != friction)
            rg_robot_cannot(w, "body %s: more than one material",
                            rg_robot_body_word(w, body, text));
        friction = own;
    }
    if (count == 0)
        return;
    rg_robot_put(w, "<contact><lateral_friction");
    rg_robot_put_numbers(w, "value", &friction, 1);
    rg_robot_put(w, "/></contact>\n");
}

static void put_link(rg_robot_writer *w, size_t index) {
    rg_body_id body = w->nodes[index].body;
    rg_robot_put(w, "<link");
    rg_robot_put_body(w, "name", body);
    rg_robot_put(w, ">\n");
    if (rg_body_motion(w->world, body) == RG_MOTION_DYNAMIC)
        put_inertia(w, index);
    rg_robot_each_shape(w, body, put_geometry, &index);
    put_friction(w, body);
    rg_robot_put(w, "</link>\n");
}

/* ---- joints ---- */

static const char *type_of(rg_joint_kind kind, const rg_joint_axis *axis) {
    bool limited = isfinite(axis->lower) && isfinite(axis->upper);
    return kind == RG_JOINT_HINGE    ? (limited ? "revolute" : "continuous")
           : kind == RG_JOINT_SLIDER ? "prismatic"
           : kind == RG_JOINT_FIXED  ? "fixed"
                                     : NULL;
}

/* The pose of the link in its parent's at the coordinate 0, where the joint's frames are one. */
static rg_pose place_of(const rg_robot_writer *w, size_t index) {
    const rg_robot_node *node = &w->nodes[index];
    rg_pose pose = rg_body_pose(w->world, node->body);
    if (node->joint.index1) {
        rg_joint_def def = rg_joint_get_def(w->world, node->joint);
        rg_pose own = node->reversed ? def.frame_a : def.frame_b,
                other = node->reversed ? def.frame_b : def.frame_a;
        pose = rg_pose_compose(other, rg_pose_inverse(own));
    }
    pose.position = rg_pose_apply(pose, link_origin(w, index));
    return in_link(w, node->parent, pose);
}

static void check_joint(rg_robot_writer *w, rg_joint_id joint, const rg_joint_axis *a) {
    rg_joint_state state = rg_joint_get_state(w->world, joint);
    char text[64];
    const char *name = rg_robot_joint_word(w, joint, text);
    rg_robot_check_axis(w, joint, 0);
    if (fabs(state.coordinate[0]) > RG_ROBOT_ROUNDING)
        rg_robot_cannot(w, "joint %s: that it stands at %g", name, state.coordinate[0]);
    if (a->stiffness != 0 || a->armature != 0 || a->motor != RG_MOTOR_NONE)
        rg_robot_cannot(w, "joint %s: its spring, armature or motor", name);
}

static void put_axis(rg_robot_writer *w, const rg_robot_node *node, const rg_joint_def *def) {
    const rg_joint_axis *a = &def->axis[0];
    rg_pose own = node->reversed ? def->frame_a : def->frame_b;
    rg_vec3 z = rg_rotate(own.orientation, (rg_vec3){0, 0, node->reversed ? -1 : 1});
    check_joint(w, node->joint, a);
    rg_robot_put(w, "<axis");
    rg_robot_put_vector(w, "xyz", z);
    rg_robot_put(w, "/>");
    if (isfinite(a->lower) && isfinite(a->upper)) {
        rg_robot_put(w, "<limit");
        rg_robot_put_numbers(w, "lower", &a->lower, 1);
        rg_robot_put_numbers(w, "upper", &a->upper, 1);
        rg_robot_put(w, " effort=\"0\" velocity=\"0\"/>");
    }
    if (a->damping != 0 || a->friction != 0) {
        rg_robot_put(w, "<dynamics");
        rg_robot_put_numbers(w, "damping", &a->damping, 1);
        rg_robot_put_numbers(w, "friction", &a->friction, 1);
        rg_robot_put(w, "/>");
    }
}

static void put_joint(rg_robot_writer *w, size_t index) {
    const rg_robot_node *node = &w->nodes[index];
    rg_joint_def def = {0};
    const char *type =
        rg_body_motion(w->world, node->body) == RG_MOTION_DYNAMIC ? "floating" : "fixed";
    char text[64];
    if (node->joint.index1) {
        def = rg_joint_get_def(w->world, node->joint);
        type = type_of(def.kind, &def.axis[0]);
    }
    if (!type) {
        rg_robot_cannot(w, "joint %s: the kind %s", rg_robot_joint_word(w, node->joint, text),
                        rg_joint_kind_name(def.kind));
        type = "floating";
    }
    rg_robot_put(w, "<joint");
    if (node->joint.index1)
        rg_robot_put_joint(w, "name", node->joint, 0);
    else
        rg_buffer_print(&w->out, " name=\"place%zu\"", index);
    rg_robot_put_text(w, "type", type);
    rg_robot_put(w, ">");
    put_origin(w, place_of(w, index));
    rg_robot_put(w, "<parent");
    rg_robot_put_body(
        w, "link", node->parent == RG_NO_NODE ? (rg_body_id){0, 0} : w->nodes[node->parent].body);
    rg_robot_put(w, "/><child");
    rg_robot_put_body(w, "link", node->body);
    rg_robot_put(w, "/>");
    if (def.kind == RG_JOINT_HINGE || def.kind == RG_JOINT_SLIDER)
        put_axis(w, node, &def);
    rg_robot_put(w, "</joint>\n");
}

void rg_robot_write_urdf(rg_robot_writer *w) {
    rg_vec3 usual = rg_world_def_default().gravity;
    if (rg_length(rg_sub(rg_world_gravity(w->world), usual)) != 0)
        rg_robot_cannot(w, "gravity other than (0, 0, %g)", usual.z);
    if (rg_scene_step_size(w->scene) != RG_DEFAULT_STEP)
        rg_robot_cannot(w, "the step size %g", rg_scene_step_size(w->scene));
    rg_robot_refuse_distances(w);
    rg_robot_put(w, "<robot");
    rg_robot_put_text(w, "name", rg_scene_name(w->scene));
    rg_robot_put(w, ">\n<link name=\"world\"/>\n");
    for (size_t i = 0; i < w->count; i++)
        put_link(w, i);
    for (size_t i = 0; i < w->count; i++)
        put_joint(w, i);
    rg_robot_put(w, "</robot>\n");
}
