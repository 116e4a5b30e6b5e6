/* Joints of links. One joint of the description is one of the world; several of one body are one
 * where there is a kind that holds them all: two slides, or two slides and the hinge across them
 * (planar), two hinges that cross at right angles (universal), a slide along a hinge
 * (cylindrical). All others go through bodies in between, which take RG_ROBOT_SHARE of the mass of
 * the last: the mass in all stays, and so do centre and inertia where the links are drawn.
 * Tested by tests/scene/test_robot.c, and against MuJoCo by tests/scripts/test_robot.py. */
#include "base/base_math.h"
#include "scene/scene_robot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Axes count as at right angles, and points as the same, up to the rounding of what files hold. */
#define ROUNDING 1e-12

enum { JOINTS_MOST = 6, NAME_SIZE = 256 };

static bool across(rg_vec3 a, rg_vec3 b) {
    return fabs(rg_dot(a, b)) <= ROUNDING;
}

static bool along(rg_vec3 a, rg_vec3 b) {
    return rg_length(rg_cross(a, b)) <= ROUNDING && rg_dot(a, b) > 0;
}

static bool same_point(rg_vec3 a, rg_vec3 b) {
    return rg_length(rg_sub(a, b)) <= ROUNDING;
}

/* The frame with two given axes, at right angles: x and y, or z and x. */
static rg_quat frame_of(rg_vec3 x, rg_vec3 y) {
    y = rg_normalised(rg_add_scaled(y, -rg_dot(x, y), x));
    rg_vec3 z = rg_cross(x, y);
    rg_mat3 r = {{{x.x, y.x, z.x}, {x.y, y.y, z.y}, {x.z, y.z, z.z}}};
    return rg_quat_of_mat3(&r);
}

/* What several joints of a link come to as one of the world. */
typedef struct combination {
    rg_joint_kind kind;
    rg_pose frame; /* in the link */
    rg_robot_joint *axis[3];
    bool lock_last; /* an axis without a joint: held at 0 */
} combination;

static bool combine_two(rg_robot_joint *p, rg_robot_joint *q, combination *c) {
    bool slide_p = p->kind == RG_JOINT_SLIDER, slide_q = q->kind == RG_JOINT_SLIDER;
    if (slide_p && slide_q && across(p->axis, q->axis)) {
        *c = (combination){
            RG_JOINT_PLANAR, {p->point, frame_of(p->axis, q->axis)}, {p, q, NULL}, true};
        return true;
    }
    if (!slide_p && !slide_q && across(p->axis, q->axis) && same_point(p->point, q->point)) {
        *c = (combination){
            RG_JOINT_UNIVERSAL, {p->point, frame_of(p->axis, q->axis)}, {p, q, NULL}, false};
        return true;
    }
    if (slide_p != slide_q && along(p->axis, q->axis)) {
        rg_robot_joint *slide = slide_p ? p : q, *hinge = slide_p ? q : p;
        *c = (combination){RG_JOINT_CYLINDRICAL,
                           {hinge->point, rg_robot_rotation_to(hinge->axis)},
                           {slide, hinge, NULL},
                           false};
        return true;
    }
    return false;
}

/* Slides first: their axes do not turn with the hinge. */
static bool combine_three(rg_robot_joint *p, rg_robot_joint *q, rg_robot_joint *r, combination *c) {
    if (p->kind != RG_JOINT_SLIDER || q->kind != RG_JOINT_SLIDER || r->kind != RG_JOINT_HINGE ||
        !across(p->axis, q->axis) || !across(q->axis, r->axis) || !across(r->axis, p->axis))
        return false;
    /* So that z of the frame is along the hinge. */
    bool turned = rg_dot(rg_cross(p->axis, q->axis), r->axis) < 0;
    rg_robot_joint *x = turned ? q : p, *y = turned ? p : q;
    *c = (combination){RG_JOINT_PLANAR, {r->point, frame_of(x->axis, y->axis)}, {x, y, r}, false};
    return true;
}

static void alone(rg_robot_joint *p, combination *c) {
    *c = (combination){p->kind, {p->point, rg_robot_rotation_to(p->axis)}, {p, NULL, NULL}, false};
}

/* Of the joints from `p` on, as many as one joint of the world holds; returns the rest. */
static rg_robot_joint *combine(rg_robot_joint *p, combination *c) {
    rg_robot_joint *q = p->next, *r = q ? q->next : NULL;
    bool simple = p->kind != RG_JOINT_BALL && q && q->kind != RG_JOINT_BALL;
    if (simple && r && combine_three(p, q, r, c))
        return r->next;
    if (simple && combine_two(p, q, c))
        return q->next;
    alone(p, c);
    return q;
}

double rg_robot_share_left(const rg_robot_link *link) {
    combination c;
    double share = link->coupling.kind == RG_COUPLING_PINION ? 1 - RG_ROBOT_SHARE : 1;
    for (rg_robot_joint *joint = link->joints; joint;) {
        joint = combine(joint, &c);
        if (joint)
            share -= RG_ROBOT_SHARE;
    }
    return share;
}

static void make_name(const combination *c, char name[NAME_SIZE]) {
    size_t length = 0;
    name[0] = 0;
    for (int i = 0; i < 3 && c->axis[i]; i++) {
        const char *own = c->axis[i]->name;
        if (i && c->axis[i]->is_second)
            continue;
        if (!own[0] || length + strlen(own) + 2 > NAME_SIZE) {
            name[0] = 0;
            return;
        }
        length += (size_t)snprintf(name + length, NAME_SIZE - length, "%s%s", i ? "+" : "", own);
    }
    if (length && c->axis[0]->is_second && length + 3 <= NAME_SIZE)
        memcpy(name + length, ":2", 3);
}

/* Between body `a`, in which the link's frame is at `at`, and body `b`, whose frame it is. */
static rg_status add_joint(rg_robot *robot, const combination *c, rg_body_id a, rg_pose at,
                           rg_body_id b) {
    rg_joint_def def = rg_joint_def_default(c->kind);
    char name[NAME_SIZE];
    rg_error cause = {0};
    rg_joint_id joint;
    make_name(c, name);
    def.name = name[0] ? name : NULL;
    def.body_a = a;
    def.body_b = b;
    def.frame_b = c->frame;
    def.frame_a = rg_pose_compose(at, c->frame);
    def.frame_a.orientation = rg_quat_made_unit(def.frame_a.orientation);
    def.frame_b.orientation = rg_quat_made_unit(def.frame_b.orientation);
    if (c->kind != RG_JOINT_BALL && !(c->kind == RG_JOINT_PLANAR && !c->axis[1]))
        for (size_t i = 0; i < 3 && c->axis[i]; i++)
            def.axis[i] = c->axis[i]->value;
    if (c->lock_last)
        def.axis[2].lower = def.axis[2].upper = 0;
    rg_status status = rg_world_add_joint(robot->scene->world, &def, &joint, &cause);
    for (size_t i = 0; i < 3 && c->axis[i] && status == RG_OK; i++)
        c->axis[i]->made = joint, c->axis[i]->made_axis = i;
    return status == RG_OK ? RG_OK
                           : rg_robot_fail(robot, c->axis[0]->node, status, "%s", cause.text);
}

rg_status rg_robot_add_between(rg_robot *robot, const rg_robot_link *link, size_t number,
                               rg_body_id *body) {
    char name[NAME_SIZE];
    rg_body_def def = rg_body_def_default();
    rg_error cause = {0};
    snprintf(name, sizeof name, "%.200s:%zu", link->name, number);
    def.name = name;
    def.pose = link->placed;
    def.has_mass = true;
    def.mass = link->mass;
    def.mass.mass *= RG_ROBOT_SHARE;
    for (int i = 0; i < 9; i++)
        def.mass.inertia.m[i / 3][i % 3] *= RG_ROBOT_SHARE;
    rg_status status = rg_world_add_body(robot->scene->world, &def, body, &cause);
    return status == RG_OK ? RG_OK : rg_robot_fail(robot, link->node, status, "%s", cause.text);
}

rg_status rg_robot_keep_apart(rg_robot *robot, rg_body_id a, rg_body_id b) {
    rg_joint_def def = rg_joint_def_default(RG_JOINT_DISTANCE);
    rg_joint_id joint;
    def.body_a = a;
    def.body_b = b;
    return rg_world_add_joint(robot->scene->world, &def, &joint, robot->error);
}

rg_status rg_robot_build_joints(rg_robot *robot, size_t index) {
    rg_robot_link *link = &robot->links[index];
    const rg_robot_link *parent = &robot->links[link->parent];
    rg_body_id first = robot->links[parent->owner].body, a = first;
    rg_pose at = rg_pose_compose(parent->in_owner, link->pose);
    rg_status status = RG_OK;
    size_t number = 0;
    /* What hangs from the world of MJCF may touch what stands in it. */
    if (parent->owner == 0 && strcmp(robot->links[0].node->name, "worldbody") == 0)
        first = a = (rg_body_id){0, 0};
    for (rg_robot_joint *joint = link->joints; joint && status == RG_OK; number++) {
        combination c;
        rg_body_id b = link->body;
        joint = combine(joint, &c);
        if (number == JOINTS_MOST)
            return rg_robot_fail(robot, link->node, RG_LIMIT_EXCEEDED, "more than %d joints",
                                 JOINTS_MOST);
        if (joint)
            status = rg_robot_add_between(robot, link, number + 1, &b);
        if (status == RG_OK)
            status = add_joint(robot, &c, a, at, b);
        a = b;
        at = rg_pose_identity();
    }
    if (status == RG_OK && number > 1 && first.index1)
        status = rg_robot_keep_apart(robot, first, link->body);
    return status;
}

/* ---- ties ---- */

static rg_status build_tie(rg_robot *robot, const rg_robot_tie *tie) {
    const rg_robot_link *a = &robot->links[tie->a], *b = &robot->links[tie->b];
    rg_joint_def def = rg_joint_def_default(RG_JOINT_DISTANCE);
    rg_joint_id joint;
    def.name = tie->name[0] ? tie->name : NULL;
    def.body_a = rg_robot_body_of(robot, tie->a);
    def.body_b = rg_robot_body_of(robot, tie->b);
    def.frame_a.position = rg_pose_apply(a->in_owner, tie->point_a);
    def.frame_b.position = rg_pose_apply(b->in_owner, tie->point_b);
    def.axis[0].lower = tie->lower;
    def.axis[0].upper = tie->upper;
    def.collide = isfinite(tie->lower) || isfinite(tie->upper);
    if (a->owner == b->owner ||
        (robot->links[a->owner].is_fixed && robot->links[b->owner].is_fixed))
        return RG_OK;
    return rg_world_add_joint(robot->scene->world, &def, &joint, robot->error);
}

/* ---- tendons ---- */

rg_robot_tendon *rg_robot_add_tendon(rg_robot *robot, const rg_xml_node *node, const char *name) {
    rg_robot_tendon *tendon = rg_robot_take(robot, sizeof *tendon);
    if (!tendon)
        return NULL;
    *tendon = (rg_robot_tendon){.name = name ? name : "", .node = node, .next = robot->tendons};
    tendon->value = rg_joint_def_default(RG_JOINT_TENDON).axis[0];
    robot->tendons = tendon;
    return tendon;
}

static rg_status build_tendon(rg_robot *robot, const rg_robot_tendon *tendon) {
    rg_joint_def def = rg_joint_def_default(RG_JOINT_TENDON);
    rg_error cause = {0};
    rg_joint_id joint;
    def.name = tendon->name[0] ? tendon->name : NULL;
    def.part_count = tendon->part_count;
    def.axis[0] = tendon->value;
    for (size_t i = 0; i < tendon->part_count; i++)
        def.part[i] = (rg_tendon_part){tendon->joint[i]->made, tendon->joint[i]->made_axis,
                                       tendon->coefficient[i]};
    rg_status status = rg_world_add_joint(robot->scene->world, &def, &joint, &cause);
    return status == RG_OK ? RG_OK : rg_robot_fail(robot, tendon->node, status, "%s", cause.text);
}

/* In the order of the file. */
static rg_status build_tendons(rg_robot *robot) {
    rg_robot_tendon *in_order = NULL, *next;
    rg_status status = RG_OK;
    for (rg_robot_tendon *t = robot->tendons; t; t = next) {
        next = t->next;
        t->next = in_order;
        in_order = t;
    }
    robot->tendons = in_order;
    for (const rg_robot_tendon *t = in_order; t && status == RG_OK; t = t->next)
        status = build_tendon(robot, t);
    return status;
}

rg_status rg_robot_build_ties(rg_robot *robot) {
    rg_status status = RG_OK;
    for (size_t i = 0; i < robot->link_count && status == RG_OK; i++)
        status = rg_robot_build_coupling(robot, i);
    for (const rg_robot_tie *tie = robot->ties; tie && status == RG_OK; tie = tie->next)
        status = build_tie(robot, tie);
    return status == RG_OK ? build_tendons(robot) : status;
}

/* ---- where the run begins ---- */

/* The motion of a link by one of its joints, in the frame that the joints before it have left. */
static rg_pose motion_of(const rg_robot_joint *joint) {
    if (joint->kind == RG_JOINT_SLIDER)
        return rg_pose_make(rg_scale(joint->start, joint->axis), rg_quat_identity());
    rg_quat turn = joint->kind == RG_JOINT_BALL ? joint->start_turn
                                                : rg_quat_of_axis_angle(joint->axis, joint->start);
    rg_vec3 moved = rg_sub(joint->point, rg_rotate(turn, joint->point));
    return rg_pose_make(moved, turn);
}

static rg_status place_body(rg_robot *robot, rg_body_id body, rg_pose pose) {
    pose.orientation = rg_quat_made_unit(pose.orientation);
    return body.index1 ? rg_body_set_pose(robot->scene->world, body, pose) : RG_OK;
}

/* A link, and the bodies between its joints, from the pose of its parent. */
static rg_status place_link(rg_robot *robot, const rg_robot_link *link, rg_pose *pose) {
    rg_world *world = robot->scene->world;
    rg_status status = RG_OK;
    size_t number = 0;
    for (rg_robot_joint *joint = link->joints; joint && status == RG_OK;) {
        combination c;
        rg_robot_joint *next = combine(joint, &c);
        for (; joint != next; joint = joint->next)
            *pose = rg_pose_compose(*pose, motion_of(joint));
        char name[NAME_SIZE];
        rg_body_id between;
        snprintf(name, sizeof name, "%.200s:%zu", link->name, ++number);
        if (next)
            status = rg_world_find_body(world, name, &between);
        if (next && status == RG_OK)
            status = place_body(robot, between, *pose);
    }
    return status == RG_OK ? place_body(robot, link->body, *pose) : status;
}

rg_status rg_robot_place(rg_robot *robot) {
    rg_pose *now = rg_arena_take(&robot->arena, robot->link_count + 1, sizeof *now);
    rg_status status = now ? RG_OK : rg_robot_no_memory(robot);
    for (size_t i = 0; i < robot->link_count && status == RG_OK; i++) {
        const rg_robot_link *link = &robot->links[i];
        bool root = link->parent == RG_ROBOT_WORLD;
        now[i] = link->is_free ? link->start
                 : root        ? link->pose
                               : rg_pose_compose(now[link->parent], link->pose);
        if (link->owner == i && !link->is_fixed)
            status = place_link(robot, link, &now[i]);
    }
    return status == RG_OK ? RG_OK
                           : rg_fail(robot->error, status, "%s: the keyframe cannot be taken",
                                     robot->source->name);
}
