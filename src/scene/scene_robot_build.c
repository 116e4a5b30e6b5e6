/* From links to a world. Links that no joint moves become parts of the link that carries them;
 * masses and frames are combined exactly. Bits of contact become categories and masks that give
 * the same pairs; friction of pairs is what MuJoCo makes of two geoms.
 * Tested by tests/scene/test_robot.c, and against MuJoCo by tests/scripts/test_robot.py. */
#include "base/base_math.h"
#include "scene/scene_robot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CLASSES_MOST = 63 };

typedef struct contact_class {
    uint32_t contype, conaffinity;
} contact_class;

typedef struct builder {
    rg_robot *robot;
    contact_class classes[CLASSES_MOST];
    size_t class_count;
    rg_material_id *materials;
} builder;

rg_body_id rg_robot_body_of(const rg_robot *robot, size_t link) {
    return robot->links[robot->links[link].owner].body;
}

/* An inertia that no distribution of mass has is refused or, lenient, made that of a ball with the
 * same sum of moments. */
static rg_status mend_inertias(rg_robot *robot) {
    rg_status status = RG_OK;
    for (size_t i = 0; i < robot->link_count && status == RG_OK; i++) {
        rg_mass_properties *mass = &robot->links[i].mass;
        rg_error cause = {0};
        if (mass->mass < 0)
            return rg_robot_fail(robot, robot->links[i].node, RG_INVALID_SIZE, "a negative mass");
        if (!(mass->mass > 0) || rg_mass_check(mass, false, &cause) != RG_INVALID_INERTIA)
            continue;
        status = rg_robot_leave_out(robot, robot->links[i].node, cause.text);
        double third = (mass->inertia.m[0][0] + mass->inertia.m[1][1] + mass->inertia.m[2][2]) / 3;
        mass->inertia = rg_mat3_diagonal((rg_vec3){third, third, third});
    }
    return status;
}

/* ---- links that are parts of others ---- */

static void move_colliders(rg_robot_link *from, rg_robot_link *to, rg_pose pose) {
    rg_robot_collider *c = from->colliders;
    from->colliders = NULL;
    while (c) {
        rg_robot_collider *next = c->next;
        c->pose = rg_pose_compose(pose, c->pose);
        c->next = to->colliders;
        to->colliders = c;
        c = next;
    }
}

static void join_links(rg_robot *robot) {
    for (size_t i = 0; i < robot->link_count; i++) {
        rg_robot_link *link = &robot->links[i];
        bool root = link->parent == RG_ROBOT_WORLD;
        link->placed =
            root ? link->pose : rg_pose_compose(robot->links[link->parent].placed, link->pose);
        link->placed.orientation = rg_quat_made_unit(link->placed.orientation);
        link->owner = i;
        link->in_owner = rg_pose_identity();
        if (root || link->is_free || link->is_fixed || link->joints)
            continue;
        const rg_robot_link *parent = &robot->links[link->parent];
        rg_robot_link *owner = &robot->links[parent->owner];
        link->owner = parent->owner;
        link->in_owner = rg_pose_compose(parent->in_owner, link->pose);
        move_colliders(link, owner, link->in_owner);
        if (link->mass.mass > 0) {
            rg_mass_properties moved = rg_mass_transform(link->mass, link->in_owner);
            owner->mass = owner->mass.mass > 0 ? rg_mass_add(owner->mass, moved) : moved;
        }
    }
}

static void scale_mass(rg_mass_properties *mass, double factor) {
    mass->mass *= factor;
    for (int k = 0; k < 9; k++)
        mass->inertia.m[k / 3][k % 3] *= factor;
}

/* The one link that a joint holds to link `index`, or none or several: RG_ROBOT_WORLD. */
static size_t only_child(const rg_robot *robot, size_t index) {
    size_t found = RG_ROBOT_WORLD;
    for (size_t i = index + 1; i < robot->link_count; i++) {
        const rg_robot_link *link = &robot->links[i];
        if (link->owner != i || link->is_gone || link->parent == RG_ROBOT_WORLD ||
            robot->links[link->parent].owner != index)
            continue;
        if (found != RG_ROBOT_WORLD || !link->joints)
            return RG_ROBOT_WORLD;
        found = i;
    }
    return found;
}

/* URDF has one joint a link, and links without mass between them for more: such a link goes, and
 * its joint comes first among those of the next. */
static void join_joints(rg_robot *robot) {
    for (size_t i = robot->link_count; i-- > 0;) {
        rg_robot_link *link = &robot->links[i];
        if (link->owner != i || !link->joints || link->colliders || link->mass.mass > 0 ||
            strcmp(link->node->name, "link") != 0)
            continue;
        size_t next = only_child(robot, i);
        if (next == RG_ROBOT_WORLD)
            continue;
        rg_robot_link *child = &robot->links[next];
        rg_pose in_link = rg_pose_compose(robot->links[child->parent].in_owner, child->pose);
        rg_robot_joint *last = link->joints;
        for (rg_robot_joint *j = link->joints; j; j = j->next) {
            j->point = rg_pose_apply_inverse(in_link, j->point);
            j->axis = rg_rotate_back(in_link.orientation, j->axis);
            last = j;
        }
        last->next = child->joints;
        child->joints = link->joints;
        child->pose = rg_pose_compose(link->pose, in_link);
        child->parent = link->parent;
        link->joints = NULL;
        link->is_gone = true;
    }
}

static bool has_children(const rg_robot *robot, size_t index) {
    for (size_t i = index + 1; i < robot->link_count; i++) {
        const rg_robot_link *link = &robot->links[i];
        if (link->owner == i && !link->is_gone && link->parent != RG_ROBOT_WORLD &&
            robot->links[link->parent].owner == index)
            return true;
    }
    return false;
}

/* Frames on joints, for programs that look at them: leniently they go. */
static rg_status leave_frames_out(rg_robot *robot) {
    rg_status status = RG_OK;
    for (size_t i = robot->link_count; i-- > 0 && status == RG_OK;) {
        rg_robot_link *link = &robot->links[i];
        if (link->owner != i || link->is_gone || link->is_fixed || link->colliders ||
            link->mass.mass > 0 || has_children(robot, i))
            continue;
        status = rg_robot_leave_out(robot, link->node, "it moves but has no mass");
        link->is_gone = true;
    }
    return status;
}

static void scale_masses(rg_robot *robot) {
    double total = 0;
    for (size_t i = 0; i < robot->link_count; i++)
        if (robot->links[i].owner == i && !robot->links[i].is_fixed)
            total += robot->links[i].mass.mass;
    for (size_t i = 0; i < robot->link_count && total > 0 && robot->total_mass > 0; i++)
        scale_mass(&robot->links[i].mass, robot->total_mass / total);
}

/* ---- materials ---- */

/* Of a pair, the larger dimension and the larger coefficient, or those of the higher priority. */
static rg_contact_law pair_law(const rg_robot *robot, size_t i, size_t k) {
    const rg_robot_material *a = &robot->materials[i], *b = &robot->materials[k];
    rg_contact_law law = rg_contact_law_default();
    if (a->priority != b->priority)
        a = b = a->priority > b->priority ? a : b;
    int dimension = a->dimension > b->dimension ? a->dimension : b->dimension;
    law.friction = dimension == 1          ? 0
                   : robot->least_friction ? fmin(a->friction, b->friction)
                                           : fmax(a->friction, b->friction);
    law.static_friction = law.friction;
    return law;
}

static rg_status add_materials(builder *b) {
    rg_robot *robot = b->robot;
    rg_world *world = robot->scene->world;
    rg_status status = RG_OK;
    if (robot->material_count > 256)
        return rg_fail(robot->error, RG_LIMIT_EXCEEDED, "%s: more than 256 kinds of friction",
                       robot->source->name);
    b->materials = rg_arena_take(&robot->arena, robot->material_count + 1, sizeof *b->materials);
    if (!b->materials)
        return rg_robot_no_memory(robot);
    for (size_t i = 0; i < robot->material_count && status == RG_OK; i++) {
        const rg_robot_material *m = &robot->materials[i];
        rg_contact_law law = pair_law(robot, i, i);
        char name[48], number[RG_NUMBER_SIZE];
        snprintf(name, sizeof name, "friction%zu:%s", i, rg_format_double(m->friction, number));
        status = rg_world_add_material(world, name, &law, &b->materials[i], robot->error);
    }
    for (size_t i = 0; i < robot->material_count && status == RG_OK; i++)
        for (size_t k = 0; k < i && status == RG_OK; k++) {
            rg_contact_law law = pair_law(robot, i, k);
            status =
                rg_world_set_pair_law(world, b->materials[i], b->materials[k], &law, robot->error);
        }
    return status;
}

/* ---- who meets whom ---- */

static size_t class_of(const builder *b, const rg_robot_collider *c) {
    size_t i = 0;
    while (i < b->class_count &&
           (b->classes[i].contype != c->contype || b->classes[i].conaffinity != c->conaffinity))
        i++;
    return i;
}

static rg_status list_classes(builder *b) {
    for (size_t i = 0; i < b->robot->link_count; i++)
        for (const rg_robot_collider *c = b->robot->links[i].colliders; c; c = c->next) {
            if (class_of(b, c) < b->class_count)
                continue;
            if (b->class_count == CLASSES_MOST)
                return rg_robot_fail(b->robot, b->robot->links[i].node, RG_LIMIT_EXCEEDED,
                                     "more than %d combinations of contype and conaffinity",
                                     CLASSES_MOST);
            b->classes[b->class_count++] = (contact_class){c->contype, c->conaffinity};
        }
    return RG_OK;
}

/* Two geoms meet if either's type is in the other's affinity; here both must agree. */
static uint64_t mask_of(const builder *b, size_t k) {
    const contact_class *own = &b->classes[k];
    uint64_t mask = 0;
    for (size_t i = 0; i < b->class_count && !b->robot->no_contacts; i++)
        if ((own->contype & b->classes[i].conaffinity) ||
            (b->classes[i].contype & own->conaffinity))
            mask |= (uint64_t)1 << i;
    return mask | (uint64_t)1 << CLASSES_MOST; /* the ground of the parameter */
}

/* ---- bodies ---- */

static size_t count_colliders(const rg_robot_link *link) {
    size_t count = 0;
    for (const rg_robot_collider *c = link->colliders; c; c = c->next)
        count++;
    return count;
}

static rg_status add_body(builder *b, size_t index) {
    rg_robot *robot = b->robot;
    rg_robot_link *link = &robot->links[index];
    rg_body_def def = rg_body_def_default();
    size_t count = count_colliders(link);
    rg_collider_def *colliders = rg_arena_take(&robot->arena, count + 1, sizeof *colliders);
    if (!colliders)
        return rg_robot_no_memory(robot);
    if (link->is_fixed && !count)
        return RG_OK; /* the world itself will do */
    if (!link->is_fixed && !(link->mass.mass > 0))
        return rg_robot_fail(robot, link->node, RG_INVALID_SIZE, "\"%.100s\" moves but has no mass",
                             link->name);
    for (const rg_robot_collider *c = link->colliders; c; c = c->next) {
        rg_collider_def *to = &colliders[--count]; /* in the order of the document */
        size_t k = class_of(b, c);
        *to = rg_collider_def_default();
        to->shape = c->shape;
        to->pose = c->pose;
        to->pose.orientation = rg_quat_made_unit(c->pose.orientation);
        to->density = 0;
        to->material = b->materials[c->material];
        to->category = (uint64_t)1 << k;
        to->mask = mask_of(b, k);
    }
    /* In scene files "world" is the world itself. */
    def.name = strcmp(link->name, "world") == 0 ? "world:link" : link->name;
    def.motion = link->is_fixed ? RG_MOTION_FIXED : RG_MOTION_DYNAMIC;
    def.pose = link->placed;
    def.has_mass = !link->is_fixed;
    def.mass = link->mass;
    def.gravity_scale = link->weightless ? 0 : 1;
    scale_mass(&def.mass, rg_robot_share_left(link));
    def.colliders = colliders;
    def.collider_count = count_colliders(link);
    rg_error cause = {0};
    rg_status status = rg_world_add_body(robot->scene->world, &def, &link->body, &cause);
    return status == RG_OK ? RG_OK : rg_robot_fail(robot, link->node, status, "%s", cause.text);
}

static rg_status add_ground(rg_robot *robot) {
    const char *text = rg_robot_parameter(robot, "ground");
    double height;
    if (!text)
        return RG_OK;
    if (!rg_parse_double(text, strlen(text), &height) || !isfinite(height))
        return rg_fail(robot->error, RG_WRONG_TYPE, "ground: \"%.60s\" is not a height in metres",
                       text);
    rg_body_def def = rg_body_def_default();
    rg_collider_def collider = rg_collider_def_default();
    rg_shape_def plane = rg_shape_def_halfspace((rg_vec3){0, 0, 1}, 0);
    rg_body_id body;
    collider.category = (uint64_t)1 << CLASSES_MOST;
    def.name = "ground";
    def.motion = RG_MOTION_FIXED;
    def.pose.position.z = height;
    def.colliders = &collider;
    def.collider_count = 1;
    rg_status status = rg_shape_create(&plane, &robot->allocator, &collider.shape, robot->error);
    if (status == RG_OK)
        status = rg_world_add_body(robot->scene->world, &def, &body, robot->error);
    rg_shape_release(collider.shape);
    return status;
}

/* ---- links that overlap ---- */

#define OVERLAP_LEAST 1e-6 /* m: less is the rounding of what files hold */

static const rg_robot_link *link_of(const rg_robot *robot, rg_body_id body) {
    for (size_t i = 0; i < robot->link_count; i++)
        if (robot->links[i].owner == i && robot->links[i].body.index1 == body.index1)
            return &robot->links[i];
    return NULL;
}

static bool is_world(const rg_robot_link *link) {
    return !link || strcmp(link->node->name, "worldbody") == 0;
}

static rg_status part_pair(rg_robot *robot, const rg_touch *touch) {
    const rg_robot_link *a = link_of(robot, touch->body_a), *b = link_of(robot, touch->body_b);
    char text[300];
    if (!(touch->gap < -OVERLAP_LEAST) || is_world(a) || is_world(b) || a->is_free || b->is_free)
        return RG_OK;
    snprintf(text, sizeof text,
             "contact with %.100s, which it overlaps by %.2g m as they are drawn", b->name,
             -touch->gap);
    rg_status status = rg_robot_leave_out(robot, a->node, text);
    return status == RG_OK ? rg_robot_keep_apart(robot, touch->body_a, touch->body_b) : status;
}

/* Geometry that is larger than the links makes robots that could not stand as they are drawn:
 * leniently, such pairs do not touch each other. */
static rg_status part_overlaps(rg_robot *robot) {
    rg_collision_def def = rg_collision_def_default();
    rg_collision *collision;
    rg_world *world = robot->scene->world;
    rg_status status = rg_collision_create(&def, &robot->allocator, &collision, robot->error);
    if (status != RG_OK)
        return status;
    status = rg_collision_update(collision, world, 0, robot->error);
    rg_collision_view view = rg_collision_get(collision);
    for (size_t i = 0; i < view.touch_count && status == RG_OK; i++) {
        const rg_touch *t = &view.touches[i], *before = i ? t - 1 : NULL;
        if (!before || before->body_a.index1 != t->body_a.index1 ||
            before->body_b.index1 != t->body_b.index1)
            status = part_pair(robot, t);
    }
    rg_collision_destroy(collision);
    return status;
}

static rg_status make_world(rg_robot *robot) {
    rg_world_def def = rg_world_def_default();
    def.gravity = robot->gravity;
    def.allocator = robot->allocator;
    rg_status status =
        rg_scene_apply_options(robot->options, &def, &robot->scene->step, robot->error);
    return status == RG_OK ? rg_world_create(&def, &robot->scene->world, robot->error) : status;
}

rg_status rg_robot_build(rg_robot *robot) {
    builder b = {.robot = robot};
    rg_status status = mend_inertias(robot);
    if (status != RG_OK)
        return status;
    join_links(robot);
    join_joints(robot);
    if (robot->options && robot->options->lenient)
        status = leave_frames_out(robot);
    if (status != RG_OK)
        return status;
    scale_masses(robot);
    for (size_t i = 0; i < robot->link_count; i++)
        for (rg_robot_joint *joint = robot->links[i].joints; joint; joint = joint->next)
            joint->axis = rg_normalised(joint->axis);
    status = rg_robot_couple(robot);
    if (status == RG_OK)
        status = make_world(robot);
    if (status == RG_OK)
        status = add_materials(&b);
    if (status == RG_OK)
        status = list_classes(&b);
    for (size_t i = 0; i < robot->link_count && status == RG_OK; i++)
        if (robot->links[i].owner == i && !robot->links[i].is_gone) {
            status = add_body(&b, i);
            if (status == RG_OK && robot->links[i].joints)
                status = rg_robot_build_joints(robot, i);
        }
    if (status == RG_OK)
        status = rg_robot_build_ties(robot);
    if (status == RG_OK && robot->has_start)
        status = rg_robot_place(robot);
    if (status == RG_OK && robot->options && robot->options->lenient)
        status = part_overlaps(robot);
    return status == RG_OK ? add_ground(robot) : status;
}
