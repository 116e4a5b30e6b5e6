/* Joints that follow others (mimic of URDF and SDF), as gears and racks.
 *
 * Two joints that have a link in common, side by side on it or one after the other, move two other
 * links against it. If both turn about parallel axes, these links roll on each other as gears; if
 * one turns and one slides across its axis, as wheel and rack. Two that slide are racks of one
 * wheel, which turns on the link in common, has RG_ROBOT_SHARE of the follower's mass and a pitch
 * radius equal to its radius of gyration: its kinetic energy is that of this share on the follower.
 * A joint without a link in common with its leader is coupled to another follower of the same
 * leader that has one. All others become tendons whose length stays; gears and racks come first,
 * since the analytic method knows them. Tested by tests/scene/test_robot.c. */
#include "base/base_math.h"
#include "scene/scene_robot.h"

#include <math.h>
#include <string.h>

/* Axes count as parallel, across or the same up to the rounding of what files hold. */
#define ROUNDING 1e-12
/* Directions that are nearly, but not to rounding, parallel have no common normal to be trusted. */
#define APART 1e-3

static bool follows(const rg_robot_link *link) {
    return link->joints && link->joints->mimics && !link->is_gone;
}

static size_t parent_of(const rg_robot *robot, size_t link) {
    size_t parent = robot->links[link].parent;
    return parent == RG_ROBOT_WORLD ? RG_ROBOT_WORLD : robot->links[parent].owner;
}

/* ---- which two links, and how ---- */

static rg_coupling_end end_of(const rg_robot *robot, size_t link, size_t common) {
    const rg_robot_link *l = &robot->links[link];
    bool carries = common == link;
    return (rg_coupling_end){.body = carries ? parent_of(robot, link) : link,
                             .sign = carries ? -1 : 1,
                             .at = rg_pose_apply(l->placed, l->joints->point),
                             .along = rg_rotate(l->placed.orientation, l->joints->axis)};
}

/* The link that two joints have in common, or RG_ROBOT_WORLD. */
static size_t common_of(const rg_robot *robot, size_t a, size_t b) {
    size_t up_a = parent_of(robot, a), up_b = parent_of(robot, b);
    return up_a == up_b ? up_a : up_a == b ? b : up_b == a ? a : RG_ROBOT_WORLD;
}

/* A common normal of two directions. */
static bool find_normal(rg_vec3 a, rg_vec3 b, rg_vec3 *normal) {
    rg_vec3 across = rg_cross(a, b);
    if (rg_length(across) <= ROUNDING) {
        rg_vec3 other = fabs(a.x) < 0.5 ? (rg_vec3){1, 0, 0} : (rg_vec3){0, 1, 0};
        across = rg_cross(a, other);
    } else if (rg_length(across) < APART) {
        return false;
    }
    *normal = rg_normalised(across);
    return true;
}

static rg_coupling_kind kind_of(const rg_coupling *c, bool slide, bool slide_other) {
    rg_vec3 a = c->own.along, b = c->other.along, normal;
    if (slide != slide_other)
        return fabs(rg_dot(a, b)) <= ROUNDING ? RG_COUPLING_RACK : RG_COUPLING_NONE;
    if (slide)
        return find_normal(a, b, &normal) ? RG_COUPLING_PINION : RG_COUPLING_NONE;
    double ratio = -c->multiplier * c->own.sign * c->other.sign * (rg_dot(a, b) > 0 ? 1 : -1);
    rg_vec3 apart = rg_cross(a, rg_sub(c->own.at, c->other.at));
    bool gear = rg_length(rg_cross(a, b)) <= ROUNDING && rg_length(apart) > ROUNDING && ratio != -1;
    return gear ? RG_COUPLING_GEAR : RG_COUPLING_NONE;
}

static bool is_simple(const rg_robot_link *link) {
    const rg_robot_joint *j = link->joints;
    return j && !j->next && !link->is_gone &&
           (j->kind == RG_JOINT_HINGE || j->kind == RG_JOINT_SLIDER);
}

/* Couples a link to another whose coordinate it has `multiplier` times; whether it can be. */
static bool couple(rg_robot *robot, size_t link, size_t other, double multiplier) {
    rg_robot_link *own = &robot->links[link];
    const rg_robot_link *its = &robot->links[other];
    rg_coupling c = {.common = RG_ROBOT_WORLD, .multiplier = multiplier};
    if (link != other && is_simple(own) && is_simple(its) && multiplier != 0 &&
        isfinite(multiplier))
        c.common = common_of(robot, link, other);
    if (c.common == RG_ROBOT_WORLD)
        return false;
    c.own = end_of(robot, link, c.common);
    c.other = end_of(robot, other, c.common);
    if (c.own.body == RG_ROBOT_WORLD || c.other.body == RG_ROBOT_WORLD)
        return false;
    c.kind =
        kind_of(&c, own->joints->kind == RG_JOINT_SLIDER, its->joints->kind == RG_JOINT_SLIDER);
    own->coupling = c;
    return c.kind != RG_COUPLING_NONE;
}

/* To the leader itself. */
static bool couple_to_leader(rg_robot *robot, size_t link) {
    const rg_robot_joint *joint = robot->links[link].joints;
    for (size_t i = 0; i < robot->link_count; i++)
        if (robot->links[i].joints && strcmp(robot->links[i].joints->name, joint->mimics) == 0)
            return couple(robot, link, i, joint->multiplier);
    return false;
}

/* To another that follows the same leader, and is coupled. */
static bool couple_to_follower(rg_robot *robot, size_t link) {
    const rg_robot_joint *joint = robot->links[link].joints;
    for (size_t i = 0; i < robot->link_count; i++) {
        const rg_robot_link *other = &robot->links[i];
        if (follows(other) && other->coupling.kind != RG_COUPLING_NONE &&
            strcmp(other->joints->mimics, joint->mimics) == 0 &&
            couple(robot, link, i, joint->multiplier / other->joints->multiplier))
            return true;
    }
    return false;
}

static const rg_robot_joint *find_leader(const rg_robot *robot, const char *name) {
    for (size_t i = 0; i < robot->link_count; i++)
        for (const rg_robot_joint *j = robot->links[i].joints; j; j = j->next)
            if (strcmp(j->name, name) == 0)
                return j;
    return NULL;
}

static bool has_one_axis(const rg_robot_joint *joint) {
    return joint && (joint->kind == RG_JOINT_HINGE || joint->kind == RG_JOINT_SLIDER);
}

/* A tendon whose length stays. */
static rg_status couple_by_tendon(rg_robot *robot, const rg_robot_joint *joint) {
    const rg_robot_joint *leader = find_leader(robot, joint->mimics);
    double multiplier = joint->multiplier;
    if (!has_one_axis(joint) || !has_one_axis(leader) || joint == leader || multiplier == 0 ||
        !isfinite(multiplier))
        return rg_robot_leave_out(robot, joint->mimic,
                                  "joints that move together but are not two hinges or slides");
    rg_robot_tendon *tendon = rg_robot_add_tendon(robot, joint->mimic, NULL);
    if (!tendon)
        return rg_robot_no_memory(robot);
    tendon->part_count = 2;
    tendon->joint[0] = joint, tendon->coefficient[0] = 1;
    tendon->joint[1] = leader, tendon->coefficient[1] = -multiplier;
    tendon->value.lower = tendon->value.upper = 0;
    return RG_OK;
}

rg_status rg_robot_couple(rg_robot *robot) {
    rg_status status = RG_OK;
    for (size_t i = 0; i < robot->link_count; i++)
        if (follows(&robot->links[i]))
            couple_to_leader(robot, i);
    for (size_t i = 0; i < robot->link_count; i++)
        if (follows(&robot->links[i]) && robot->links[i].coupling.kind == RG_COUPLING_NONE)
            couple_to_follower(robot, i);
    for (size_t i = 0; i < robot->link_count; i++) {
        const rg_robot_link *link = &robot->links[i];
        bool coupled = link->coupling.kind != RG_COUPLING_NONE; /* its only joint */
        for (const rg_robot_joint *j = coupled ? NULL : link->joints; j && status == RG_OK;
             j = j->next)
            if (j->mimics)
                status = couple_by_tendon(robot, j);
    }
    return status;
}

/* ---- gears and racks ---- */

static rg_body_id body_at(const rg_robot *robot, size_t link, rg_pose *placed) {
    const rg_robot_link *l = &robot->links[link];
    *placed = l->body.index1 ? l->placed : rg_pose_identity();
    return l->body;
}

/* Between frames in the world, as things are drawn. */
static rg_status add_wheel(rg_robot *robot, const rg_robot_link *link, rg_joint_def *def,
                           rg_pose place_a, rg_pose place_b) {
    rg_error cause = {0};
    rg_joint_id made;
    def->frame_a = rg_pose_compose(rg_pose_inverse(place_a), def->frame_a);
    def->frame_b = rg_pose_compose(rg_pose_inverse(place_b), def->frame_b);
    def->frame_a.orientation = rg_quat_made_unit(def->frame_a.orientation);
    def->frame_b.orientation = rg_quat_made_unit(def->frame_b.orientation);
    rg_status status = rg_world_add_joint(robot->scene->world, def, &made, &cause);
    return status == RG_OK ? RG_OK
                           : rg_robot_fail(robot, link->joints->mimic, status, "%s", cause.text);
}

static rg_status add_gear(rg_robot *robot, const rg_robot_link *link, const rg_coupling *c) {
    rg_joint_def def = rg_joint_def_default(RG_JOINT_GEAR);
    rg_pose place_a, place_b;
    rg_quat turn = rg_robot_rotation_to(c->own.along);
    double sense = rg_dot(c->own.along, c->other.along) > 0 ? 1 : -1;
    def.body_a = body_at(robot, c->own.body, &place_a);
    def.body_b = body_at(robot, c->other.body, &place_b);
    def.ratio = -c->multiplier * c->own.sign * c->other.sign * sense;
    def.frame_a = rg_pose_make(c->own.at, turn);
    def.frame_b = rg_pose_make(c->other.at, turn);
    def.collide = true;
    return add_wheel(robot, link, &def, place_a, place_b);
}

/* The frame with x and z given, at right angles. */
static rg_quat frame_of(rg_vec3 x, rg_vec3 z) {
    rg_vec3 y = rg_cross(z, x);
    rg_mat3 r = {{{x.x, y.x, z.x}, {x.y, y.y, z.y}, {x.z, y.z, z.z}}};
    return rg_quat_of_mat3(&r);
}

/* A wheel at `wheel->at` that turns about `wheel->along`, and the rack that slides by `travel` (m)
 * for one rad of it. */
static rg_status add_rack(rg_robot *robot, const rg_robot_link *link, rg_body_id body,
                          rg_pose place, const rg_coupling_end *wheel, const rg_coupling_end *rack,
                          double travel) {
    rg_joint_def def = rg_joint_def_default(RG_JOINT_RACK);
    rg_pose place_b;
    rg_quat turn = frame_of(rack->along, wheel->along);
    def.body_a = body;
    def.body_b = body_at(robot, rack->body, &place_b);
    def.ratio = travel;
    def.frame_a = rg_pose_make(wheel->at, turn);
    def.frame_b = rg_pose_make(rack->at, turn);
    def.collide = true;
    return add_wheel(robot, link, &def, place, place_b);
}

/* One of the two is the wheel. */
static rg_status add_wheel_and_rack(rg_robot *robot, const rg_robot_link *link,
                                    const rg_coupling *c) {
    bool slides = link->joints->kind == RG_JOINT_SLIDER;
    const rg_coupling_end *rack = slides ? &c->own : &c->other,
                          *wheel = slides ? &c->other : &c->own;
    double travel = (slides ? c->multiplier : 1 / c->multiplier) * rack->sign * wheel->sign;
    rg_pose place;
    rg_body_id body = body_at(robot, wheel->body, &place);
    return add_rack(robot, link, body, place, wheel, rack, travel);
}

static rg_status add_pinion(rg_robot *robot, const rg_robot_link *link, const rg_coupling *c) {
    rg_joint_def hinge = rg_joint_def_default(RG_JOINT_HINGE);
    rg_coupling_end wheel = {.at = rg_pose_apply(link->placed, link->mass.centre)};
    rg_pose place;
    rg_body_id body;
    find_normal(c->own.along, c->other.along, &wheel.along);
    rg_vec3 z = rg_rotate_back(link->placed.orientation, wheel.along);
    double radius = sqrt(rg_dot(z, rg_mat3_apply(&link->mass.inertia, z)) / link->mass.mass);
    rg_status status = rg_robot_add_between(robot, link, 1, &body);
    if (status != RG_OK)
        return status;
    hinge.body_a = body_at(robot, c->common, &place);
    hinge.body_b = body;
    hinge.frame_a = hinge.frame_b = rg_pose_make(wheel.at, rg_robot_rotation_to(wheel.along));
    status = add_wheel(robot, link, &hinge, place, link->placed);
    if (status == RG_OK)
        status = add_rack(robot, link, body, link->placed, &wheel, &c->own, c->own.sign * radius);
    return status == RG_OK ? add_rack(robot, link, body, link->placed, &wheel, &c->other,
                                      c->other.sign * radius / c->multiplier)
                           : status;
}

rg_status rg_robot_build_coupling(rg_robot *robot, size_t index) {
    const rg_robot_link *link = &robot->links[index];
    switch (link->coupling.kind) {
    case RG_COUPLING_GEAR:
        return add_gear(robot, link, &link->coupling);
    case RG_COUPLING_RACK:
        return add_wheel_and_rack(robot, link, &link->coupling);
    case RG_COUPLING_PINION:
        return add_pinion(robot, link, &link->coupling);
    default:
        return RG_OK;
    }
}
