/* URDF: links, their inertia and collision geometry, and the joints between them. Links that a
 * fixed joint holds are parts of their parents. A link's visual geometry has no effect on motion.
 * Tested by tests/scene/test_robot.c, and against MuJoCo by tests/scripts/test_robot.py. */
#include "base/base_math.h"
#include "scene/scene_robot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const rg_robot_words words[] = {
    {"robot", "", "name version", "link joint", "material transmission", "link joint"},
    {"link", "name", "type", "inertial collision contact", "visual", "collision"},
    {"inertial", "", "", "origin mass inertia", "", ""},
    {"origin", "xyz rpy", "", "", "", ""},
    {"mass", "value", "", "", "", ""},
    {"inertia", "ixx ixy ixz iyy iyz izz", "", "", "", ""},
    {"collision", "", "name group", "origin geometry", "material", ""},
    {"geometry", "", "", "box sphere cylinder capsule mesh", "", ""},
    {"box", "size", "", "", "", ""},
    {"sphere", "radius", "", "", "", ""},
    {"cylinder capsule", "radius length", "", "", "", ""},
    {"mesh", "filename scale", "", "", "", ""},
    {"contact", "", "", "lateral_friction", "", ""},
    {"lateral_friction", "value", "", "", "", ""},
    {"joint", "name type", "", "parent child origin axis limit dynamics joint_properties mimic",
     "safety_controller calibration", ""},
    {"mimic", "joint multiplier offset", "", "", "", ""},
    {"parent child", "link", "", "", "", ""},
    {"axis", "xyz", "", "", "", ""},
    /* Effort and velocity bound what motors may do, of which a description has none. */
    {"limit", "lower upper", "effort velocity", "", "", ""},
    /* The second is what the first was called before 1.0. */
    {"dynamics joint_properties", "damping friction", "", "", "", ""},
};
const rg_robot_vocabulary rg_urdf_vocabulary = {words, sizeof words / sizeof *words};

typedef struct named {
    const char *name;
    rg_xml_node *node, *joint; /* the joint by which it hangs; null: a root */
    size_t first, next;        /* links that hang from it, and the next of the same parent */
    size_t last;
    bool done;
} named;

typedef struct tree {
    named *links; /* sorted by name */
    size_t count;
    size_t *queue;
} tree;

static const size_t none = SIZE_MAX;

static int by_name(const void *a, const void *b) {
    return strcmp(((const named *)a)->name, ((const named *)b)->name);
}

static named *find(const tree *t, const char *name) {
    named key = {.name = name};
    return bsearch(&key, t->links, t->count, sizeof key, by_name);
}

static rg_status list_links(rg_robot *robot, const rg_xml_node *root, tree *t) {
    size_t capacity = 0;
    for (rg_xml_node *node = root->first; node; node = node->next) {
        if (strcmp(node->name, "link") != 0)
            continue;
        named link = {.node = node, .first = none, .next = none, .last = none};
        rg_status status = rg_robot_name(robot, node, "name", &link.name);
        if (status != RG_OK)
            return status;
        if (!rg_arena_grow(&robot->arena, &t->links, t->count, &capacity, sizeof link))
            return rg_robot_no_memory(robot);
        t->links[t->count++] = link;
    }
    if (!t->count)
        return rg_robot_fail(robot, root, RG_NOT_FOUND, "there is no link");
    qsort(t->links, t->count, sizeof *t->links, by_name);
    for (size_t i = 1; i < t->count; i++)
        if (by_name(&t->links[i - 1], &t->links[i]) == 0)
            return rg_robot_fail(robot, t->links[i].node, RG_DUPLICATE_NAME,
                                 "there is a link \"%.100s\" already", t->links[i].name);
    t->queue = rg_arena_take(&robot->arena, t->count, sizeof *t->queue);
    return t->queue ? RG_OK : rg_robot_no_memory(robot);
}

static rg_status find_end(rg_robot *robot, const tree *t, const rg_xml_node *joint,
                          const char *which, named **link) {
    const rg_xml_node *end = rg_xml_child(joint, which);
    const char *name;
    if (!end)
        return rg_robot_fail(robot, joint, RG_NOT_FOUND, "needs a %s", which);
    rg_status status = rg_robot_name(robot, end, "link", &name);
    if (status != RG_OK)
        return status;
    *link = find(t, name);
    return *link ? RG_OK
                 : rg_robot_fail(robot, end, RG_NOT_FOUND, "there is no link \"%.100s\"", name);
}

static rg_status hang(rg_robot *robot, tree *t, rg_xml_node *joint) {
    named *parent, *child;
    rg_status status = find_end(robot, t, joint, "parent", &parent);
    if (status == RG_OK)
        status = find_end(robot, t, joint, "child", &child);
    if (status != RG_OK)
        return status;
    if (child->joint)
        return rg_robot_fail(robot, joint, RG_INVALID_ARGUMENT,
                             "the link \"%.100s\" hangs from a joint already; loops have no form "
                             "in URDF",
                             child->name);
    child->joint = joint;
    size_t index = (size_t)(child - t->links);
    if (parent->first == none)
        parent->first = index;
    else
        t->links[parent->last].next = index;
    parent->last = index;
    return RG_OK;
}

/* ---- a link ---- */

static rg_status read_origin(rg_robot *robot, const rg_xml_node *of, rg_pose *pose) {
    const rg_xml_node *origin = of ? rg_xml_child(of, "origin") : NULL;
    rg_vec3 angles = {0, 0, 0};
    *pose = rg_pose_identity();
    rg_status status = rg_robot_vector(robot, origin, "xyz", 3, &pose->position.x);
    if (status == RG_OK)
        status = rg_robot_vector(robot, origin, "rpy", 3, &angles.x);
    pose->orientation = rg_robot_roll_pitch_yaw(angles);
    return status;
}

rg_status rg_urdf_inertia(rg_robot *robot, const rg_xml_node *inertia, rg_mat3 *m) {
    static const char *const names[] = {"ixx", "ixy", "ixz", "iyy", "iyz", "izz"};
    static const int rows[6] = {0, 0, 0, 1, 1, 2}, columns[6] = {0, 1, 2, 1, 2, 2};
    rg_status status = RG_OK;
    for (size_t k = 0; k < 6 && status == RG_OK; k++) {
        status = rg_robot_vector(robot, inertia, names[k], 1, &m->m[rows[k]][columns[k]]);
        m->m[columns[k]][rows[k]] = m->m[rows[k]][columns[k]];
    }
    return status;
}

static rg_status read_inertial(rg_robot *robot, rg_robot_link *link) {
    const rg_xml_node *inertial = rg_xml_child(link->node, "inertial");
    const rg_xml_node *mass = inertial ? rg_xml_child(inertial, "mass") : NULL,
                      *inertia = inertial ? rg_xml_child(inertial, "inertia") : NULL;
    rg_mass_properties own = {0};
    rg_pose pose;
    rg_status status = read_origin(robot, inertial, &pose);
    if (status == RG_OK)
        status = rg_robot_vector(robot, mass, "value", 1, &own.mass);
    if (status == RG_OK)
        status = rg_urdf_inertia(robot, inertia, &own.inertia);
    if (status == RG_OK && own.mass != 0)
        link->mass = rg_mass_transform(own, pose);
    for (int i = 0; i < 9 && status == RG_OK && own.mass == 0; i++)
        if (own.inertia.m[i / 3][i % 3] != 0)
            return rg_robot_leave_out(robot, inertia, "an inertia without a mass");
    return status;
}

static rg_status read_length(rg_robot *robot, const rg_xml_node *node, const char *name,
                             double *value) {
    const rg_xml_node *at = node;
    if (!rg_xml_value(&at, name))
        return rg_robot_fail(robot, node, RG_NOT_FOUND, "needs %s", name);
    return rg_robot_vector(robot, node, name, 1, value);
}

static rg_status read_round(rg_robot *robot, const rg_xml_node *node, rg_shape_def *def) {
    double radius = 0, length = 0;
    bool ball = strcmp(node->name, "sphere") == 0;
    rg_status status = read_length(robot, node, "radius", &radius);
    if (status == RG_OK && !ball)
        status = read_length(robot, node, "length", &length);
    *def = ball                                  ? rg_shape_def_sphere(radius)
           : strcmp(node->name, "cylinder") == 0 ? rg_shape_def_cylinder(radius, length)
                                                 : rg_shape_def_capsule(radius, length);
    return status;
}

static rg_status read_mesh(rg_robot *robot, const rg_xml_node *node, const char *file,
                           rg_shape **shape) {
    rg_vec3 scale = {1, 1, 1};
    const char *name;
    rg_status status = rg_robot_name(robot, node, file, &name);
    if (status == RG_OK)
        status = rg_robot_vector(robot, node, "scale", 3, &scale.x);
    return status == RG_OK ? rg_robot_mesh(robot, node, name, scale, shape) : status;
}

/* Of all formats; which of them a format has, its words say. */
static rg_status read_form(rg_robot *robot, const rg_xml_node *form, rg_shape_def *def) {
    rg_vec3 size = {0, 0, 0};
    rg_status status;
    if (strcmp(form->name, "box") == 0) {
        status = rg_robot_vector(robot, form, "size", 3, &size.x);
        *def = rg_shape_def_box(size.x, size.y, size.z);
    } else if (strcmp(form->name, "ellipsoid") == 0) {
        status = rg_robot_vector(robot, form, "radii", 3, &size.x);
        *def = rg_shape_def_ellipsoid(size.x, size.y, size.z);
    } else if (strcmp(form->name, "plane") == 0) {
        size.z = 1;
        status = rg_robot_vector(robot, form, "normal", 3, &size.x);
        *def = rg_shape_def_halfspace(size, 0);
    } else {
        status = read_round(robot, form, def);
    }
    return status;
}

rg_status rg_urdf_geometry(rg_robot *robot, const rg_xml_node *geometry, const char *file,
                           rg_robot_link *link, rg_robot_collider *like) {
    const rg_xml_node *form = geometry->first;
    bool mesh = form && strcmp(form->name, "mesh") == 0;
    rg_shape_def def;
    like->shape = NULL;
    if (!form) /* what it held was left out */
        return RG_OK;
    rg_status status = form->next ? rg_robot_leave_out(robot, form->next, "a second shape") : RG_OK;
    if (status != RG_OK)
        return status;
    status = mesh ? read_mesh(robot, form, file, &like->shape) : read_form(robot, form, &def);
    if (status == RG_OK && (!mesh || like->shape))
        status = rg_robot_add_collider(robot, link, form, mesh ? NULL : &def, like);
    if (status != RG_OK)
        rg_shape_release(like->shape);
    return status;
}

static rg_status read_collision(rg_robot *robot, const rg_xml_node *node, rg_robot_link *link,
                                rg_robot_collider *like) {
    const rg_xml_node *geometry = rg_xml_child(node, "geometry");
    rg_status status = read_origin(robot, node, &like->pose);
    if (status == RG_OK && !geometry)
        status = rg_robot_fail(robot, node, RG_NOT_FOUND, "needs geometry");
    return status == RG_OK ? rg_urdf_geometry(robot, geometry, "filename", link, like) : status;
}

/* The material of a link: a coefficient of friction of its own, or the default one. */
static rg_status read_friction(rg_robot *robot, const rg_xml_node *node, size_t *material) {
    const rg_xml_node *contact = rg_xml_child(node, "contact"),
                      *lateral = contact ? rg_xml_child(contact, "lateral_friction") : NULL;
    double friction = rg_contact_law_default().friction;
    rg_status status = rg_robot_vector(robot, lateral, "value", 1, &friction);
    if (status != RG_OK)
        return status;
    return rg_robot_add_material(robot, (rg_robot_material){.friction = friction, .dimension = 3},
                                 material);
}

static rg_status read_link(rg_robot *robot, rg_robot_link *link) {
    rg_robot_collider like = {.contype = 1, .conaffinity = 1};
    rg_status status = read_inertial(robot, link);
    if (status == RG_OK)
        status = read_friction(robot, link->node, &like.material);
    for (const rg_xml_node *node = link->node->first; node && status == RG_OK; node = node->next)
        if (strcmp(node->name, "collision") == 0)
            status = read_collision(robot, node, link, &like);
    return status;
}

/* ---- a joint ---- */

rg_status rg_urdf_limits(rg_robot *robot, const rg_xml_node *limit, rg_robot_joint *joint) {
    rg_joint_axis *v = &joint->value;
    rg_status status = rg_robot_vector(robot, limit, "lower", 1, &v->lower);
    if (status == RG_OK)
        status = rg_robot_vector(robot, limit, "upper", 1, &v->upper);
    if (status != RG_OK || v->lower <= v->upper)
        return status;
    v->lower = -INFINITY; /* some tools write that for "none" */
    v->upper = INFINITY;
    return rg_robot_leave_out(robot, limit, "a lower limit above the upper one");
}

rg_status rg_urdf_dynamics(rg_robot *robot, const rg_xml_node *dynamics, rg_robot_joint *joint) {
    rg_status status = rg_robot_vector(robot, dynamics, "damping", 1, &joint->value.damping);
    return status == RG_OK ? rg_robot_vector(robot, dynamics, "friction", 1, &joint->value.friction)
                           : status;
}

static rg_status read_direction(rg_robot *robot, const rg_xml_node *node, rg_robot_joint *joint) {
    const rg_xml_node *axis = rg_xml_child(node, "axis");
    joint->axis = (rg_vec3){1, 0, 0};
    rg_status status = rg_robot_vector(robot, axis, "xyz", 3, &joint->axis.x);
    if (status == RG_OK && rg_length(joint->axis) == 0)
        return rg_robot_fail(robot, axis, RG_INVALID_ARGUMENT, "an axis of no length");
    return status;
}

/* A continuous joint has no limits, whatever is said beside it. */
static rg_status read_axis(rg_robot *robot, const rg_xml_node *node, rg_robot_joint *joint) {
    const rg_xml_node *limit = rg_xml_child(node, "limit"),
                      *dynamics = rg_xml_child(node, "dynamics"),
                      *older = rg_xml_child(node, "joint_properties");
    bool limited = limit && (rg_xml_get(limit, "lower") || rg_xml_get(limit, "upper"));
    rg_status status = read_direction(robot, node, joint);
    if (status == RG_OK && strcmp(rg_xml_get(node, "type"), "continuous") != 0 && limited) {
        joint->value.lower = joint->value.upper = 0;
        status = rg_urdf_limits(robot, limit, joint);
    }
    if (status == RG_OK && dynamics && older)
        status = rg_robot_leave_out(robot, older, "there is a dynamics already");
    return status == RG_OK ? rg_urdf_dynamics(robot, dynamics ? dynamics : older, joint) : status;
}

rg_status rg_urdf_mimic(rg_robot *robot, const rg_xml_node *mimic, rg_robot_joint *joint) {
    double offset = 0;
    if (!mimic)
        return RG_OK;
    joint->multiplier = 1;
    joint->mimic = mimic;
    rg_status status = rg_robot_name(robot, mimic, "joint", &joint->mimics);
    if (status == RG_OK)
        status = rg_robot_vector(robot, mimic, "multiplier", 1, &joint->multiplier);
    if (status == RG_OK)
        status = rg_robot_vector(robot, mimic, "offset", 1, &offset);
    if (status == RG_OK && offset != 0)
        status = rg_robot_leave_out(robot, mimic, "an offset between joints that turn together");
    return status;
}

/* What holds a joint back that has not one axis is not known. */
static rg_status check_loose(rg_robot *robot, const rg_xml_node *node) {
    const rg_xml_node *limit = rg_xml_child(node, "limit"), *mimic = rg_xml_child(node, "mimic");
    rg_robot_joint held = {.value = {.lower = 0}};
    rg_status status = RG_OK;
    if (limit && (rg_xml_get(limit, "lower") || rg_xml_get(limit, "upper")))
        status = rg_robot_leave_out(robot, limit, "limits of a joint that has not one axis");
    for (const rg_xml_node *n = node->first; n && status == RG_OK; n = n->next)
        if (strcmp(n->name, "dynamics") == 0 || strcmp(n->name, "joint_properties") == 0) {
            status = rg_urdf_dynamics(robot, n, &held);
            if (status == RG_OK && (held.value.damping != 0 || held.value.friction != 0))
                status = rg_robot_leave_out(robot, n, "damping of a joint that has not one axis");
        }
    if (status == RG_OK && mimic)
        status = rg_robot_leave_out(robot, mimic, "a joint to follow that has not one axis");
    return status;
}

static rg_status read_joint(rg_robot *robot, const rg_xml_node *node, rg_robot_link *link) {
    static const struct {
        const char *type;
        rg_joint_kind kind;
    } kinds[] = {{"revolute", RG_JOINT_HINGE},
                 {"continuous", RG_JOINT_HINGE},
                 {"prismatic", RG_JOINT_SLIDER},
                 {"planar", RG_JOINT_PLANAR},
                 {"spherical", RG_JOINT_BALL}}; /* Bullet's */
    const char *type, *name;
    rg_status status = rg_robot_name(robot, node, "type", &type);
    if (status == RG_OK)
        status = rg_robot_name(robot, node, "name", &name);
    if (status == RG_OK)
        status = read_origin(robot, node, &link->pose);
    link->is_free = status == RG_OK && strcmp(type, "floating") == 0;
    if (status == RG_OK && link->is_free)
        status = check_loose(robot, node);
    if (status != RG_OK || link->is_free || strcmp(type, "fixed") == 0)
        return status;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(type, kinds[i].type) != 0)
            continue;
        rg_robot_joint *joint = link->joints = rg_robot_take(robot, sizeof *joint);
        if (!joint)
            return rg_robot_no_memory(robot);
        *joint = (rg_robot_joint){.name = name, .kind = kinds[i].kind, .node = node};
        joint->value = rg_joint_def_default(kinds[i].kind).axis[0];
        if (kinds[i].kind != RG_JOINT_HINGE && kinds[i].kind != RG_JOINT_SLIDER) {
            status = read_direction(robot, node, joint);
            return status == RG_OK ? check_loose(robot, node) : status;
        }
        status = read_axis(robot, node, joint);
        return status == RG_OK ? rg_urdf_mimic(robot, rg_xml_child(node, "mimic"), joint) : status;
    }
    return rg_robot_fail(robot, node, RG_NOT_FOUND,
                         "there is no type \"%.100s\"; the types are: revolute, continuous, "
                         "prismatic, fixed, floating, planar, spherical",
                         type);
}

/* ---- all of it ---- */

/* Whether a root, or what fixed joints hold to it, has a mass: often a root is only a point on the
 * ground below a robot. */
static rg_status has_mass(rg_robot *robot, size_t root, bool *found) {
    size_t count = robot->link_count - root;
    bool *rigid = rg_arena_take(&robot->arena, count, sizeof *rigid);
    if (!rigid)
        return rg_robot_no_memory(robot);
    *found = false;
    for (size_t i = 0; i < count; i++) {
        const rg_robot_link *link = &robot->links[root + i];
        rigid[i] = i == 0 || (!link->joints && !link->is_free && rigid[link->parent - root]);
        *found = *found || (rigid[i] && link->mass.mass > 0);
    }
    return RG_OK;
}

/* base=free, base=fixed; by itself, a root that has a mass and is not called "world" is free. */
static rg_status read_base(rg_robot *robot, size_t root) {
    const char *base = rg_robot_parameter(robot, "base");
    rg_robot_link *link = &robot->links[root];
    bool heavy = false;
    if (base && strcmp(base, "free") != 0 && strcmp(base, "fixed") != 0)
        return rg_fail(robot->error, RG_INVALID_ARGUMENT,
                       "base: \"%.100s\" is neither free nor fixed", base);
    rg_status status = has_mass(robot, root, &heavy);
    if (status != RG_OK)
        return status;
    link->is_free = base ? strcmp(base, "free") == 0 : heavy && strcmp(link->name, "world") != 0;
    link->is_fixed = !link->is_free;
    return RG_OK;
}

/* Adds a link, whose parent is number `parent`, and queues those that hang from it. */
static rg_status take_link(rg_robot *robot, named *entry, size_t parent, size_t *index) {
    rg_robot_link link = {
        .name = entry->name, .node = entry->node, .parent = parent, .pose = rg_pose_identity()};
    rg_status status = entry->joint ? read_joint(robot, entry->joint, &link) : RG_OK;
    if (status == RG_OK)
        status = read_link(robot, &link);
    if (status == RG_OK)
        status = rg_robot_add_link(robot, &link, index);
    if (status != RG_OK)
        for (rg_robot_collider *c = link.colliders; c; c = c->next)
            rg_shape_release(c->shape);
    entry->done = true;
    return status;
}

/* Breadth first, parents before what hangs from them. */
static rg_status take_tree(rg_robot *robot, tree *t, named *root) {
    size_t first = robot->link_count, head = first, tail = head, index;
    rg_status status = take_link(robot, root, RG_ROBOT_WORLD, &index);
    if (status == RG_OK)
        t->queue[tail++] = (size_t)(root - t->links);
    for (; head < tail && status == RG_OK; head++) {
        size_t child = t->links[t->queue[head]].first;
        for (; child != none && status == RG_OK; child = t->links[child].next) {
            status = take_link(robot, &t->links[child], head, &index);
            if (status == RG_OK)
                t->queue[tail++] = child;
        }
    }
    return status == RG_OK ? read_base(robot, first) : status;
}

rg_status rg_robot_read_urdf(rg_robot *robot, rg_xml_node *root) {
    tree t = {0};
    rg_status status = rg_robot_check_words(robot, root, &rg_urdf_vocabulary);
    if (status == RG_OK)
        status = list_links(robot, root, &t);
    for (rg_xml_node *node = root->first; node && status == RG_OK; node = node->next)
        if (strcmp(node->name, "joint") == 0)
            status = hang(robot, &t, node);
    for (size_t i = 0; i < t.count && status == RG_OK; i++)
        if (!t.links[i].joint)
            status = take_tree(robot, &t, &t.links[i]);
    for (size_t i = 0; i < t.count && status == RG_OK; i++)
        if (!t.links[i].done)
            status = rg_robot_fail(robot, t.links[i].node, RG_INVALID_ARGUMENT,
                                   "the link \"%.100s\" hangs from itself", t.links[i].name);
    return status;
}
