/* Scenes as MJCF: bodies within bodies where they stand now, inertia as numbers, joints with `ref`
 * as the coordinate that they have there, hulls as meshes with their vertices, distances with
 * limits as tendons. Bodies that never move are parts of the world in MJCF.
 * Tested by tests/scene/test_robot_write.c. */
#include "scene/scene_robot_write.h"

#include "base/base_math.h"
#include "scene/scene_robot.h"

#include <math.h>

static void put_pose(rg_robot_writer *w, rg_pose pose) {
    rg_quat q = pose.orientation;
    rg_robot_put_vector(w, "pos", pose.position);
    rg_robot_put_numbers(w, "quat", (double[]){q.w, q.x, q.y, q.z}, 4);
}

/* ---- shapes ---- */

typedef struct geoms {
    bool assets; /* the meshes themselves, not the geoms */
    size_t node; /* and the number of the hull in it, from 1: the name of its mesh */
    size_t hulls;
} geoms;

static void put_mesh(rg_robot_writer *w, const rg_shape_def *def, const geoms *g) {
    rg_buffer_print(&w->out, "<mesh name=\"hull%zu-%zu\"", g->node, g->hulls);
    rg_robot_put_numbers(w, "vertex", &def->points[0].x, 3 * def->point_count);
    rg_robot_put(w, "/>\n");
}

/* Type and size; false: there is none for it. */
static bool put_size(rg_robot_writer *w, const rg_shape_def *def, const geoms *g) {
    double half = 0.5 * def->length;
    switch (def->kind) {
    case RG_SHAPE_BOX:
        rg_robot_put(w, " type=\"box\"");
        rg_robot_put_vector(w, "size", rg_scale(0.5, def->size));
        return true;
    case RG_SHAPE_SPHERE:
        rg_robot_put(w, " type=\"sphere\"");
        rg_robot_put_numbers(w, "size", &def->radius, 1);
        return true;
    case RG_SHAPE_CAPSULE:
    case RG_SHAPE_CYLINDER:
        rg_robot_put_text(w, "type", rg_shape_kind_name(def->kind));
        rg_robot_put_numbers(w, "size", (double[]){def->radius, half}, 2);
        return true;
    case RG_SHAPE_ELLIPSOID:
        rg_robot_put(w, " type=\"ellipsoid\"");
        rg_robot_put_vector(w, "size", def->size);
        return true;
    case RG_SHAPE_HALFSPACE:
        rg_robot_put(w, " type=\"plane\" size=\"0 0 1\"");
        return true;
    case RG_SHAPE_HULL:
        rg_buffer_print(&w->out, " type=\"mesh\" mesh=\"hull%zu-%zu\"", g->node, g->hulls);
        return true;
    default:
        return false;
    }
}

static void put_geom(rg_robot_writer *w, const rg_collider_def *collider, const rg_shape *shape,
                     rg_pose pose, void *user) {
    geoms *g = user;
    rg_shape_def def = rg_shape_get_def(shape);
    char text[64];
    g->hulls += def.kind == RG_SHAPE_HULL;
    if (g->assets) {
        if (def.kind == RG_SHAPE_HULL)
            put_mesh(w, &def, g);
        return;
    }
    size_t before = w->out.size;
    if (def.kind == RG_SHAPE_HALFSPACE) { /* z of a plane is its normal */
        rg_pose plane = {rg_scale(def.offset, def.normal), rg_robot_rotation_to(def.normal)};
        pose = rg_pose_compose(pose, plane);
    }
    rg_robot_put(w, "<geom");
    put_pose(w, pose);
    if (!put_size(w, &def, g)) {
        w->out.size = before;
        rg_robot_cannot(w, "body %s: a shape of kind %s",
                        rg_robot_body_word(w, w->nodes[g->node].body, text),
                        rg_shape_kind_name(def.kind));
        return;
    }
    double friction = rg_robot_friction(w, collider->material);
    if (rg_robot_touches_nothing(w, collider))
        rg_robot_put(w, " contype=\"0\" conaffinity=\"0\"");
    if (friction == 0)
        rg_robot_put(w, " condim=\"1\"");
    rg_robot_put_numbers(w, "friction", &friction, 1);
    rg_robot_put(w, "/>\n");
}

/* ---- joints ---- */

typedef struct part {
    const char *type;
    rg_vec3 axis; /* in the child's origin frame */
    size_t axis_number;
} part;

/* The axes of a frame, in the frame that it is given in. */
static rg_vec3 along(rg_pose frame, int axis) {
    rg_vec3 unit = {axis == 0, axis == 1, axis == 2};
    return rg_rotate(frame.orientation, unit);
}

/* What a joint is in MJCF, in this order; how many. */
static size_t list_parts(const rg_robot_writer *w, const rg_robot_node *node,
                         const rg_joint_def *def, part parts[3]) {
    rg_pose child = node->reversed ? def->frame_a : def->frame_b;
    rg_vec3 z = rg_scale(node->reversed ? -1 : 1, along(child, 2));
    rg_pose a = def->body_a.index1
                    ? rg_pose_compose(rg_body_pose(w->world, def->body_a), def->frame_a)
                    : def->frame_a;
    rg_pose seen = rg_pose_compose(rg_pose_inverse(rg_body_pose(w->world, node->body)), a);
    switch (def->kind) {
    case RG_JOINT_BALL:
        parts[0] = (part){"ball", {0, 0, 1}, RG_JOINT_AXES_MOST};
        return 1;
    case RG_JOINT_HINGE:
        parts[0] = (part){"hinge", z, 0};
        return 1;
    case RG_JOINT_SLIDER:
        parts[0] = (part){"slide", z, 0};
        return 1;
    case RG_JOINT_UNIVERSAL:
        parts[0] = (part){"hinge", along(seen, 0), 0};
        parts[1] = (part){"hinge", along(child, 1), 1};
        return 2;
    case RG_JOINT_CYLINDRICAL:
        parts[0] = (part){"slide", z, 0};
        parts[1] = (part){"hinge", z, 1};
        return 2;
    case RG_JOINT_PLANAR:
        parts[0] = (part){"slide", along(seen, 0), 0};
        parts[1] = (part){"slide", along(seen, 1), 1};
        parts[2] = (part){"hinge", along(seen, 2), 2};
        return def->axis[2].lower == def->axis[2].upper ? 2 : 3; /* it slides and does not turn */
    default:                                                     /* fixed: a body without a joint */
        return 0;
    }
}

static void put_axis(rg_robot_writer *w, const rg_joint_axis *a, double coordinate) {
    const struct {
        const char *name;
        double value;
    } numbers[] = {{"ref", coordinate},       {"stiffness", a->stiffness},
                   {"damping", a->damping},   {"springref", a->stiffness > 0 ? a->rest : 0},
                   {"armature", a->armature}, {"frictionloss", a->friction}};
    if (isfinite(a->lower) && isfinite(a->upper)) {
        rg_robot_put(w, " limited=\"true\"");
        rg_robot_put_numbers(w, "range", (double[]){a->lower, a->upper}, 2);
    }
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (numbers[i].value != 0)
            rg_robot_put_numbers(w, numbers[i].name, &numbers[i].value, 1);
}

static void put_joint(rg_robot_writer *w, const rg_robot_node *node) {
    rg_joint_def def = rg_joint_get_def(w->world, node->joint);
    rg_joint_state state = rg_joint_get_state(w->world, node->joint);
    part parts[3];
    char text[64];
    size_t count = list_parts(w, node, &def, parts);
    if (node->reversed && (def.kind == RG_JOINT_UNIVERSAL || def.kind == RG_JOINT_PLANAR))
        rg_robot_cannot(w, "joint %s: its second body carries the first",
                        rg_robot_joint_word(w, node->joint, text));
    for (size_t i = 0; i < count; i++) {
        rg_robot_put(w, "<joint");
        rg_robot_put_joint(w, "name", node->joint, i);
        rg_robot_put_text(w, "type", parts[i].type);
        rg_robot_put_vector(w, "pos", node->reversed ? def.frame_a.position : def.frame_b.position);
        if (parts[i].axis_number < RG_JOINT_AXES_MOST) {
            size_t k = parts[i].axis_number;
            rg_robot_put_vector(w, "axis", parts[i].axis);
            rg_robot_check_axis(w, node->joint, k);
            put_axis(w, &def.axis[k], state.coordinate[k]);
        }
        rg_robot_put(w, "/>\n");
    }
}

/* ---- bodies ---- */

static void put_inertia(rg_robot_writer *w, rg_body_id body) {
    rg_mass_properties m = rg_body_mass(w->world, body);
    double(*i)[3] = m.inertia.m;
    rg_robot_put(w, "<inertial");
    rg_robot_put_vector(w, "pos", m.centre);
    rg_robot_put_numbers(w, "mass", &m.mass, 1);
    rg_robot_put_numbers(w, "fullinertia",
                         (double[]){i[0][0], i[1][1], i[2][2], i[0][1], i[0][2], i[1][2]}, 6);
    rg_robot_put(w, "/>\n");
}

/* Ends of the distances that hold this body, for tendons. */
static void put_sites(rg_robot_writer *w, rg_body_id body) {
    for (size_t i = 0; i < rg_world_joint_count(w->world); i++) {
        rg_joint_def def = rg_joint_get_def(w->world, rg_world_joint_at(w->world, i));
        for (int side = 0; side < 2 && def.kind == RG_JOINT_DISTANCE; side++) {
            rg_body_id end = side ? def.body_b : def.body_a;
            if (end.index1 != body.index1)
                continue;
            rg_buffer_print(&w->out, "<site name=\"end%zu%c\"", i, side ? 'b' : 'a');
            rg_robot_put_vector(w, "pos", side ? def.frame_b.position : def.frame_a.position);
            rg_robot_put(w, "/>\n");
        }
    }
}

static void open_body(rg_robot_writer *w, size_t index) {
    const rg_robot_node *node = &w->nodes[index];
    rg_pose pose = rg_body_pose(w->world, node->body);
    bool dynamic = rg_body_motion(w->world, node->body) == RG_MOTION_DYNAMIC;
    if (node->parent != RG_NO_NODE)
        pose = rg_pose_compose(rg_pose_inverse(rg_body_pose(w->world, w->nodes[node->parent].body)),
                               pose);
    rg_robot_put(w, "<body");
    rg_robot_put_body(w, "name", node->body);
    put_pose(w, pose);
    rg_robot_put(w, ">\n");
    if (dynamic && node->joint.index1)
        put_joint(w, node);
    else if (dynamic)
        rg_robot_put(w, "<freejoint/>\n");
    if (dynamic)
        put_inertia(w, node->body);
    rg_robot_each_shape(w, node->body, put_geom, &(geoms){.node = index});
    put_sites(w, node->body);
}

/* Down to children, on to siblings, up and on. */
static void put_bodies(rg_robot_writer *w) {
    size_t at = w->first;
    while (at != RG_NO_NODE) {
        open_body(w, at);
        if (w->nodes[at].first != RG_NO_NODE) {
            at = w->nodes[at].first;
            continue;
        }
        rg_robot_put(w, "</body>\n");
        while (at != RG_NO_NODE && w->nodes[at].next == RG_NO_NODE) {
            at = w->nodes[at].parent;
            if (at != RG_NO_NODE)
                rg_robot_put(w, "</body>\n");
        }
        if (at != RG_NO_NODE)
            at = w->nodes[at].next;
    }
}

/* ---- motors, tendons, exclusions ---- */

/* As a general actuator, whose bias with control 0 holds both gains, target and largest force;
 * MuJoCo before 3 knows no kv of position actuators. */
static void put_motor(rg_robot_writer *w, rg_joint_id joint, size_t axis, size_t name) {
    rg_joint_def def = rg_joint_get_def(w->world, joint);
    rg_joint_axis a = def.axis[axis];
    if (a.motor == RG_MOTOR_NONE || (a.motor == RG_MOTOR_VELOCITY && a.gain == 0))
        return;
    bool position = a.motor == RG_MOTOR_POSITION;
    double bias[3] = {a.gain * a.target, position ? -a.gain : 0,
                      position ? -a.gain_velocity : -a.gain};
    rg_robot_put(w, "<general");
    rg_robot_put_joint(w, def.kind == RG_JOINT_TENDON ? "tendon" : "joint", joint, name);
    rg_robot_put_numbers(w, "gainprm", &a.gain, 1);
    rg_robot_put(w, " biastype=\"affine\"");
    rg_robot_put_numbers(w, "biasprm", bias, 3);
    if (isfinite(a.max_force)) {
        rg_robot_put(w, " forcelimited=\"true\"");
        rg_robot_put_numbers(w, "forcerange", (double[]){-a.max_force, a.max_force}, 2);
    }
    rg_robot_put(w, "/>\n");
}

static void put_motors(rg_robot_writer *w) {
    part parts[3];
    rg_robot_put(w, "<actuator>\n");
    for (size_t i = 0; i < w->count; i++) {
        if (!w->nodes[i].joint.index1)
            continue;
        rg_joint_def def = rg_joint_get_def(w->world, w->nodes[i].joint);
        size_t count = list_parts(w, &w->nodes[i], &def, parts);
        for (size_t k = 0; k < count; k++)
            if (parts[k].axis_number < RG_JOINT_AXES_MOST)
                put_motor(w, w->nodes[i].joint, parts[k].axis_number, k);
    }
    for (size_t i = 0; i < rg_world_joint_count(w->world); i++) {
        rg_joint_id joint = rg_world_joint_at(w->world, i);
        if (rg_joint_get_def(w->world, joint).kind == RG_JOINT_TENDON)
            put_motor(w, joint, 0, 0);
    }
    rg_robot_put(w, "</actuator>\n");
}

static void put_tendon(rg_robot_writer *w, size_t index) {
    rg_joint_id joint = rg_world_joint_at(w->world, index);
    rg_joint_def def = rg_joint_get_def(w->world, joint);
    const rg_joint_axis *a = &def.axis[0];
    char text[64];
    if (def.kind != RG_JOINT_DISTANCE || (!isfinite(a->lower) && !isfinite(a->upper)))
        return;
    if (!isfinite(a->upper) || !def.collide || a->stiffness != 0 || a->damping != 0 ||
        a->friction != 0 || a->armature != 0 || a->motor != RG_MOTOR_NONE)
        rg_robot_cannot(w,
                        "joint %s: a distance with more than limits, or bodies that do not touch",
                        rg_robot_joint_word(w, joint, text));
    rg_robot_put(w, "<spatial");
    rg_robot_put_joint(w, "name", joint, 0);
    rg_robot_put(w, " limited=\"true\"");
    rg_robot_put_numbers(w, "range", (double[]){isfinite(a->lower) ? a->lower : 0, a->upper}, 2);
    rg_buffer_print(&w->out, "><site site=\"end%zua\"/><site site=\"end%zub\"/></spatial>\n", index,
                    index);
}

/* m, rad: a tendon whose length stays has that length where the bodies are. */
#define SAME_LENGTH 1e-9

/* Lengths are sums of the coordinates as they are here: joints have them as `ref`. */
static void put_fixed(rg_robot_writer *w, size_t index) {
    rg_joint_id joint = rg_world_joint_at(w->world, index);
    rg_joint_def def = rg_joint_get_def(w->world, joint);
    const rg_joint_axis *a = &def.axis[0];
    char text[64];
    if (def.kind != RG_JOINT_TENDON)
        return;
    rg_robot_check_axis(w, joint, 0);
    if (a->armature != 0 || (a->stiffness != 0 && a->rest == -1))
        rg_robot_cannot(w, "joint %s: the armature of a tendon, or a rest at -1",
                        rg_robot_joint_word(w, joint, text));
    rg_robot_put(w, "<fixed");
    rg_robot_put_joint(w, "name", joint, 0);
    if (isfinite(a->lower) && isfinite(a->upper) && a->lower < a->upper) {
        rg_robot_put(w, " limited=\"true\"");
        rg_robot_put_numbers(w, "range", (double[]){a->lower, a->upper}, 2);
    }
    if (a->stiffness != 0) {
        rg_robot_put_numbers(w, "stiffness", &a->stiffness, 1);
        rg_robot_put_numbers(w, "springlength", &a->rest, 1);
    }
    if (a->damping != 0)
        rg_robot_put_numbers(w, "damping", &a->damping, 1);
    if (a->friction != 0)
        rg_robot_put_numbers(w, "frictionloss", &a->friction, 1);
    rg_robot_put(w, ">");
    for (size_t k = 0; k < def.part_count; k++) {
        rg_robot_put(w, "<joint");
        rg_robot_put_joint(w, "joint", def.part[k].joint, def.part[k].axis);
        rg_robot_put_numbers(w, "coef", &def.part[k].coefficient, 1);
        rg_robot_put(w, "/>");
    }
    rg_robot_put(w, "</fixed>\n");
}

/* Tendons whose length stays. */
static void put_equalities(rg_robot_writer *w) {
    char text[64];
    bool any = false;
    for (size_t i = 0; i < rg_world_joint_count(w->world); i++) {
        rg_joint_id joint = rg_world_joint_at(w->world, i);
        rg_joint_def def = rg_joint_get_def(w->world, joint);
        if (def.kind != RG_JOINT_TENDON || def.axis[0].lower != def.axis[0].upper)
            continue;
        double off = rg_joint_get_state(w->world, joint).coordinate[0] - def.axis[0].lower;
        if (fabs(off) > SAME_LENGTH)
            rg_robot_cannot(w, "joint %s: a tendon that is to be %g longer or shorter",
                            rg_robot_joint_word(w, joint, text), off);
        rg_robot_put(w, any ? "<tendon" : "<equality>\n<tendon");
        rg_robot_put_joint(w, "tendon1", joint, 0);
        rg_robot_put(w, "/>\n");
        any = true;
    }
    if (any)
        rg_robot_put(w, "</equality>\n");
}

static void put_tendons(rg_robot_writer *w) {
    rg_robot_put(w, "<tendon>\n");
    for (size_t i = 0; i < rg_world_joint_count(w->world); i++) {
        put_tendon(w, i);
        put_fixed(w, i);
    }
    rg_robot_put(w, "</tendon>\n");
    put_equalities(w);
    rg_robot_put(w, "<contact>\n");
    for (size_t i = 0; i < rg_world_joint_count(w->world); i++) {
        rg_joint_def def = rg_joint_get_def(w->world, rg_world_joint_at(w->world, i));
        bool apart = def.kind == RG_JOINT_DISTANCE && !def.collide && def.body_a.index1 &&
                     def.body_b.index1 && !isfinite(def.axis[0].lower) &&
                     !isfinite(def.axis[0].upper);
        if (!apart)
            continue;
        rg_robot_put(w, "<exclude");
        rg_robot_put_body(w, "body1", def.body_a);
        rg_robot_put_body(w, "body2", def.body_b);
        rg_robot_put(w, "/>\n");
    }
    rg_robot_put(w, "</contact>\n");
}

void rg_robot_write_mjcf(rg_robot_writer *w) {
    double step = rg_scene_step_size(w->scene);
    rg_robot_put(w, "<mujoco");
    rg_robot_put_text(w, "model", rg_scene_name(w->scene));
    rg_robot_put(w, ">\n<compiler angle=\"radian\"/>\n<option");
    rg_robot_put_numbers(w, "timestep", &step, 1);
    rg_robot_put_vector(w, "gravity", rg_world_gravity(w->world));
    rg_robot_put(w, "/>\n<asset>\n");
    for (size_t i = 0; i < w->count; i++)
        rg_robot_each_shape(w, w->nodes[i].body, put_geom, &(geoms){.assets = true, .node = i});
    rg_robot_put(w, "</asset>\n<worldbody>\n");
    put_bodies(w);
    put_sites(w, (rg_body_id){0, 0});
    rg_robot_put(w, "</worldbody>\n");
    put_tendons(w);
    put_motors(w);
    rg_robot_put(w, "</mujoco>\n");
}
