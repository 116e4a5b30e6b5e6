/* SDF: worlds of models, with links, joints and what includes bring. What is not named in the
 * tables is refused or listed; geometry, inertia and limits are read as those of URDF, from
 * elements instead of attributes. Tested by tests/scene/test_robot_sdf.c. */
#include "scene/scene_robot_sdf.h"

#include "base/base_math.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const rg_robot_words words[] = {
    {"sdf", "version", "", "world model", "light", "world model"},
    {"world", "", "name", "physics gravity model frame",
     "gui scene light spherical_coordinates magnetic_field atmosphere audio road", "model frame"},
    {"physics", "", "name type default", "max_step_size gravity",
     "real_time_factor real_time_update_rate max_contacts ode bullet simbody dart", ""},
    {.element = "include", .children = "uri name pose static"},
    {"model", "name", "canonical_link", "static self_collide pose link joint frame model",
     "allow_auto_disable enable_wind", "link joint frame model"},
    {"frame", "name attached_to", "", "pose", "", ""},
    {.element = "pose", .attributes = "= relative_to frame rotation_format degrees"},
    {"link", "name", "", "pose inertial collision gravity self_collide kinematic velocity_decay",
     "visual sensor light must_be_base_link enable_wind particle_emitter projector audio_source "
     "audio_sink",
     "collision"},
    {.element = "velocity_decay", .children = "linear angular"},
    {.element = "inertial", .children = "mass pose inertia"},
    {.element = "inertia", .children = "ixx ixy ixz iyy iyz izz"},
    {"collision", "", "name", "pose geometry surface", "laser_retro max_contacts", ""},
    {"geometry", "", "", "box sphere cylinder capsule ellipsoid plane mesh", "empty", ""},
    {.element = "box", .children = "size"},
    {.element = "sphere", .children = "radius"},
    {.element = "cylinder capsule", .children = "radius length"},
    {.element = "ellipsoid", .children = "radii"},
    {"plane", "", "", "normal", "size", ""},
    {.element = "mesh", .children = "uri scale"},
    {.element = "surface", .children = "friction bounce contact"},
    {.element = "surface/friction", .children = "ode"},
    {.element = "friction/ode", .children = "mu mu2"},
    {"bounce", "", "", "restitution_coefficient", "threshold", ""},
    {"contact", "", "", "collide_bitmask", "ode bullet", ""},
    {"joint", "name type", "", "parent child pose axis axis2", "physics sensor", ""},
    {.element = "axis axis2",
     .children = "xyz limit dynamics mimic use_parent_model_frame initial_position"},
    {.element = "xyz", .attributes = "= expressed_in"},
    {"limit", "", "", "lower upper", "effort velocity stiffness dissipation", ""},
    {.element = "dynamics", .children = "damping friction spring_reference spring_stiffness"},
    {"mimic", "joint axis", "", "multiplier offset reference", "", ""},
};
const rg_robot_vocabulary rg_sdf_vocabulary = {words, sizeof words / sizeof *words};

rg_status rg_sdf_check(rg_robot *robot, rg_xml_node *node) {
    return rg_robot_check_words(robot, node, &rg_sdf_vocabulary);
}

/* A number that must be 0, or a flag that must be false. */
static rg_status refuse_unless_zero(rg_robot *robot, const rg_xml_node *node, const char *name,
                                    const char *what) {
    const rg_xml_node *at = node;
    const char *text = node ? rg_xml_value(&at, name) : NULL;
    double value = 0;
    if (!text || strcmp(text, "false") == 0)
        return RG_OK;
    if (rg_parse_double(text, strlen(text), &value) && value == 0)
        return RG_OK;
    return rg_robot_leave_out(robot, at, what);
}

/* ---- files and versions ---- */

/* In 1.4, axes of joints are in the frame of the model. */
static rg_status turn_axes(rg_robot *robot, rg_xml_node *node) {
    rg_status status = RG_OK;
    bool axis = strcmp(node->name, "axis") == 0 || strcmp(node->name, "axis2") == 0;
    for (rg_xml_node *child = node->first; child && status == RG_OK && !axis; child = child->next)
        status = turn_axes(robot, child);
    if (!axis)
        return status;
    rg_xml_node *flag = rg_robot_take(robot, sizeof *flag);
    if (!flag)
        return rg_robot_no_memory(robot);
    *flag = *node;
    flag->name = "use_parent_model_frame";
    flag->text = "true";
    flag->parent = node;
    flag->first = flag->last = NULL;
    flag->attributes = NULL;
    flag->next = node->first;
    node->first = flag;
    return RG_OK;
}

/* 1.10 comes after 1.9. */
static rg_status check_version(rg_robot *robot, rg_xml_node *root) {
    const char *text = rg_xml_get(root, "version");
    int number = text && strncmp(text, "1.", 2) == 0 ? atoi(text + 2) : 0;
    if (number < 4)
        return rg_robot_fail(robot, root, RG_UNSUPPORTED, "version 1.4 is needed, or a later one");
    return number == 4 ? turn_axes(robot, root) : RG_OK;
}

/* A folder stands for the model.sdf in it. */
static bool find_model(rg_robot *robot, const rg_xml_node *node, const char *uri,
                       char path[RG_ROBOT_PATH_SIZE]) {
    char longer[RG_ROBOT_PATH_SIZE];
    return (snprintf(longer, sizeof longer, "%s/model.sdf", uri) < (int)sizeof longer &&
            rg_robot_find_file(robot, node, longer, path)) ||
           (strstr(uri, ".sdf") && rg_robot_find_file(robot, node, uri, path));
}

/* What the include says instead of the model. */
static rg_status override(rg_robot *robot, const rg_xml_node *include, rg_xml_node *model) {
    static const char *const names[] = {"pose", "static"};
    const rg_xml_node *name = rg_xml_child(include, "name");
    for (size_t i = 0; i < 2; i++) {
        const rg_xml_node *other = rg_xml_child(include, names[i]);
        rg_xml_node *own = rg_xml_child(model, names[i]), *copy;
        if (!other)
            continue;
        if (own)
            rg_xml_unlink(own);
        if (!(copy = rg_robot_take(robot, sizeof *copy)))
            return rg_robot_no_memory(robot);
        *copy = *other;
        copy->parent = model;
        copy->next = model->first;
        model->first = copy;
    }
    for (rg_xml_attribute *a = model->attributes; a && name && name->text; a = a->next)
        if (strcmp(a->name, "name") == 0)
            a->value = name->text;
    return RG_OK;
}

static rg_status include_model(rg_robot *robot, rg_xml_node *node, rg_xml_node **model) {
    char path[RG_ROBOT_PATH_SIZE], text[300];
    const char *uri;
    rg_xml_node *root = NULL;
    rg_status status = rg_robot_name(robot, node, "uri", &uri);
    if (status != RG_OK)
        return status;
    if (!robot->limits.files)
        return rg_robot_fail(robot, node, RG_UNSUPPORTED, "files are not opened here");
    if (!find_model(robot, node, uri, path)) {
        snprintf(text, sizeof text, "there is no model %.200s, neither beside the file nor above",
                 uri);
        return rg_robot_leave_out(robot, node, text);
    }
    status = rg_sdf_check(robot, node);
    if (status == RG_OK)
        status = rg_robot_include(robot, node, path, &root);
    if (status == RG_OK && (status = check_version(robot, root)) == RG_OK) {
        *model = rg_xml_child(root, "model");
        for (const rg_xml_node *n = root->first; n && status == RG_OK; n = n->next)
            if (n != *model && strcmp(n->name, "light") != 0)
                status = rg_robot_leave_out(robot, n, "something beside the first model");
        if (status != RG_OK)
            return status;
        status = *model ? override(robot, node, *model)
                        : rg_robot_fail(robot, root, RG_NOT_FOUND, "there is no model in it");
    }
    return status;
}

/* Models of files in the place of what includes them. */
static rg_status include_all(rg_robot *robot, rg_xml_node *parent, int depth) {
    rg_status status = RG_OK;
    for (rg_xml_node **at = &parent->first; *at && status == RG_OK;) {
        rg_xml_node *node = *at, *model = NULL;
        if (strcmp(node->name, "include") == 0) {
            if (depth >= RG_ROBOT_INCLUDE_DEPTH)
                return rg_robot_fail(robot, node, RG_LIMIT_EXCEEDED,
                                     "includes are nested more than %d deep",
                                     RG_ROBOT_INCLUDE_DEPTH);
            status = include_model(robot, node, &model);
            *at = node->next;
            if (status != RG_OK || !model)
                continue;
            model->parent = parent;
            model->next = node->next;
            *at = model;
            status = include_all(robot, model, depth + 1);
        } else if (strcmp(node->name, "world") == 0 || strcmp(node->name, "model") == 0) {
            status = include_all(robot, node, depth);
        }
        at = &(*at)->next;
    }
    return status;
}

/* ---- links ---- */

static rg_status read_inertial(rg_sdf *s, size_t item, rg_robot_link *link) {
    const rg_xml_node *inertial = rg_xml_child(link->node, "inertial");
    rg_mass_properties own = {1, {0, 0, 0}, {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}};
    rg_pose pose = rg_pose_identity();
    rg_status status = inertial ? rg_sdf_pose_in(s, item, inertial, &pose) : RG_OK;
    if (status == RG_OK)
        status = rg_robot_vector(s->robot, inertial, "mass", 1, &own.mass);
    if (status == RG_OK && inertial)
        status = rg_urdf_inertia(s->robot, rg_xml_child(inertial, "inertia"), &own.inertia);
    if (status == RG_OK)
        link->mass = rg_mass_transform(own, pose);
    return status;
}

static rg_status read_surface(rg_robot *robot, const rg_xml_node *surface, rg_robot_collider *c) {
    const rg_xml_node *friction = surface ? rg_xml_child(surface, "friction") : NULL,
                      *ode = friction ? rg_xml_child(friction, "ode") : NULL,
                      *contact = surface ? rg_xml_child(surface, "contact") : NULL,
                      *bounce = surface ? rg_xml_child(surface, "bounce") : NULL;
    double mu = 1, mu2 = 1, bits = 0xffff;
    rg_status status = rg_robot_vector(robot, ode, "mu", 1, &mu);
    if (status == RG_OK)
        status = rg_robot_vector(robot, ode, "mu2", 1, &mu2);
    if (status == RG_OK && mu != mu2)
        status = rg_robot_leave_out(robot, ode, "a friction of its own in the second direction");
    if (status == RG_OK && !(mu >= 0))
        status = rg_robot_fail(robot, ode, RG_INVALID_ARGUMENT, "a negative friction");
    if (status == RG_OK)
        status = refuse_unless_zero(robot, bounce, "restitution_coefficient", "restitution");
    if (status == RG_OK)
        status = rg_robot_vector(robot, contact, "collide_bitmask", 1, &bits);
    if (status == RG_OK && bits != 0 && bits != 0xffff)
        status = rg_robot_leave_out(robot, contact, "a filter of contacts by single bits");
    if (bits == 0)
        c->contype = c->conaffinity = 0;
    return status == RG_OK
               ? rg_robot_add_material(robot, (rg_robot_material){.friction = mu, .dimension = 3},
                                       &c->material)
               : status;
}

static rg_status read_collision(rg_sdf *s, size_t item, const rg_xml_node *node,
                                rg_robot_link *link) {
    int group = s->items[item].group;
    rg_robot_collider c = {.contype = UINT32_C(1) << (group < 0 ? 31 : group),
                           .conaffinity = UINT32_MAX};
    const rg_xml_node *geometry = rg_xml_child(node, "geometry");
    if (group >= 0)
        c.conaffinity = ~c.contype;
    rg_status status = rg_sdf_pose_in(s, item, node, &c.pose);
    if (status == RG_OK)
        status = read_surface(s->robot, rg_xml_child(node, "surface"), &c);
    if (status == RG_OK && !geometry)
        status = rg_robot_fail(s->robot, node, RG_NOT_FOUND, "needs geometry");
    return status == RG_OK ? rg_urdf_geometry(s->robot, geometry, "uri", link, &c) : status;
}

static rg_status read_link(rg_sdf *s, size_t item, rg_robot_link *link) {
    const rg_xml_node *node = link->node, *decay = rg_xml_child(node, "velocity_decay");
    static const char drag[] = "a velocity that decays by itself";
    bool weight = true;
    rg_status status = rg_sdf_name(s, item, &link->name);
    if (status == RG_OK)
        status = rg_sdf_flag(s->robot, node, "gravity", &weight);
    link->weightless = !weight;
    if (status == RG_OK)
        status = refuse_unless_zero(s->robot, node, "kinematic", "a link without forces");
    if (status == RG_OK)
        status = refuse_unless_zero(s->robot, node, "self_collide", "contact within one link");
    if (status == RG_OK)
        status = refuse_unless_zero(s->robot, decay, "linear", drag);
    if (status == RG_OK)
        status = refuse_unless_zero(s->robot, decay, "angular", drag);
    if (status == RG_OK)
        status = read_inertial(s, item, link);
    for (const rg_xml_node *c = node->first; c && status == RG_OK; c = c->next)
        if (strcmp(c->name, "collision") == 0)
            status = read_collision(s, item, c, link);
    return status;
}

/* ---- joints ---- */

static const struct {
    const char *type;
    rg_joint_kind kind;
    int axes;
} types[] = {{"revolute", RG_JOINT_HINGE, 1},   {"continuous", RG_JOINT_HINGE, 1},
             {"prismatic", RG_JOINT_SLIDER, 1}, {"ball", RG_JOINT_BALL, 0},
             {"universal", RG_JOINT_HINGE, 2},  {"revolute2", RG_JOINT_HINGE, 2},
             {"fixed", RG_JOINT_FIXED, 0}};

static size_t type_of(const rg_xml_node *joint) {
    const char *type = rg_xml_get(joint, "type");
    size_t i = 0, count = sizeof types / sizeof *types;
    while (i < count && (!type || strcmp(type, types[i].type) != 0))
        i++;
    return i;
}

static rg_status find_end(rg_sdf *s, size_t joint, const char *which, size_t *link) {
    const char *name;
    rg_status status = rg_robot_name(s->robot, s->items[joint].node, which, &name);
    if (status != RG_OK)
        return status;
    *link = rg_sdf_find(s, s->items[joint].scope, name);
    bool found = *link != RG_SDF_NONE &&
                 (rg_sdf_is(s, *link, "link") || (*link == 0 && strcmp(which, "parent") == 0));
    return found ? RG_OK
                 : rg_robot_fail(s->robot, s->items[joint].node, RG_NOT_FOUND,
                                 "%s: there is no link \"%.100s\"", which, name);
}

/* The link `child` hangs by the joint, in whose frame the joint's pose is by default. */
static rg_status hang(rg_sdf *s, size_t joint) {
    rg_sdf_item *item = &s->items[joint];
    size_t child;
    rg_status status = find_end(s, joint, "parent", &item->parent);
    if (status == RG_OK)
        status = find_end(s, joint, "child", &child);
    if (status != RG_OK)
        return status;
    item->base = child;
    if (type_of(item->node) == sizeof types / sizeof *types)
        return rg_robot_leave_out(s->robot, item->node, "a joint of a type that is not read");
    if (s->items[child].joint != RG_SDF_NONE)
        return rg_robot_leave_out(s->robot, item->node,
                                  "a second joint of its child, which would close a loop");
    s->items[child].joint = joint;
    return RG_OK;
}

/* A limit that is none: infinite, or what SDF has by default. */
#define NO_LIMIT 1e16

static void drop_if_none(const rg_xml_node *limit, const char *name) {
    rg_xml_node *node = rg_xml_child(limit, name);
    double value;
    if (node && node->text && rg_parse_double(node->text, strlen(node->text), &value) &&
        fabs(value) >= NO_LIMIT)
        rg_xml_unlink(node);
}

static rg_status read_values(rg_sdf *s, size_t item, const rg_xml_node *axis,
                             rg_robot_joint *joint) {
    rg_robot *robot = s->robot;
    const rg_xml_node *limit = rg_xml_child(axis, "limit"),
                      *dynamics = rg_xml_child(axis, "dynamics"),
                      *mimic = rg_xml_child(axis, "mimic");
    if (limit) {
        drop_if_none(limit, "lower");
        drop_if_none(limit, "upper");
    }
    rg_status status = rg_urdf_limits(robot, limit, joint);
    if (status == RG_OK)
        status = rg_urdf_dynamics(robot, dynamics, joint);
    if (status == RG_OK)
        status = rg_robot_vector(robot, dynamics, "spring_stiffness", 1, &joint->value.stiffness);
    if (status == RG_OK && joint->value.stiffness != 0)
        status = rg_robot_vector(robot, dynamics, "spring_reference", 1, &joint->value.rest);
    if (status == RG_OK)
        status = refuse_unless_zero(robot, axis, "initial_position", "a position to begin with");
    if (status == RG_OK)
        status = rg_urdf_mimic(robot, mimic, joint);
    const char *second = mimic ? rg_xml_get(mimic, "axis") : NULL;
    if (status == RG_OK && second && strcmp(second, "axis") != 0)
        status = rg_robot_leave_out(robot, mimic, "the second axis of a joint to follow");
    if (status == RG_OK)
        status = refuse_unless_zero(robot, mimic, "reference", "an offset between joints");
    size_t leader = joint->mimics ? rg_sdf_find(s, s->items[item].scope, joint->mimics) : 0;
    return status == RG_OK && leader && leader != RG_SDF_NONE
               ? rg_sdf_name(s, leader, &joint->mimics)
               : status;
}

/* Axes that a joint of its type does not have. */
static rg_status check_axes(rg_sdf *s, const rg_xml_node *joint, int axes) {
    const rg_xml_node *first = rg_xml_child(joint, "axis"), *second = rg_xml_child(joint, "axis2");
    rg_status status = RG_OK;
    if (first && axes < 1)
        status = rg_robot_leave_out(s->robot, first, "an axis of a joint that has none");
    if (status == RG_OK && second && axes < 2)
        status = rg_robot_leave_out(s->robot, second, "a second axis of a joint that has not two");
    return status;
}

/* Along what it is, in the frame of the link. */
static rg_status read_direction(rg_sdf *s, size_t item, const rg_xml_node *axis, rg_pose frame,
                                rg_vec3 *direction) {
    const rg_xml_node *xyz = rg_xml_child(axis, "xyz");
    const char *in = xyz ? rg_xml_get(xyz, "expressed_in") : NULL;
    size_t link = s->items[item].base, other;
    bool of_model = false;
    rg_status status = rg_sdf_flag(s->robot, axis, "use_parent_model_frame", &of_model);
    *direction = (rg_vec3){0, 0, 1};
    if (status == RG_OK)
        status = rg_robot_vector(s->robot, axis, "xyz", 3, &direction->x);
    if (status == RG_OK && rg_length(*direction) == 0)
        return rg_robot_fail(s->robot, axis, RG_INVALID_ARGUMENT, "an axis of no length");
    if (status != RG_OK || ((!in || !in[0]) && !of_model)) {
        *direction = rg_rotate(frame.orientation, *direction);
        return status;
    }
    other = rg_sdf_find(s, s->items[item].scope, of_model ? "__model__" : in);
    if (other == RG_SDF_NONE)
        return rg_robot_fail(s->robot, xyz, RG_NOT_FOUND, "there is no frame \"%.100s\"", in);
    status = rg_sdf_place(s, other, 0);
    *direction = rg_rotate_back(s->items[link].placed.orientation,
                                rg_rotate(s->items[other].placed.orientation, *direction));
    return status;
}

static rg_status read_joint(rg_sdf *s, size_t item, size_t link_item, rg_robot_link *link) {
    const rg_xml_node *node = s->items[item].node;
    size_t type = type_of(node);
    const char *name;
    rg_pose frame;
    s->items[item].base = link_item;
    rg_status status = rg_sdf_name(s, item, &name);
    if (status == RG_OK)
        status = check_axes(s, node, types[type].axes);
    if (status == RG_OK)
        status = rg_sdf_pose_in(s, link_item, node, &frame);
    rg_robot_joint **end = &link->joints;
    for (int i = 0; status == RG_OK && i < (types[type].axes ? types[type].axes : 1); i++) {
        const rg_xml_node *axis = rg_xml_child(node, i ? "axis2" : "axis");
        rg_robot_joint *joint = rg_robot_take(s->robot, sizeof *joint);
        if (!joint)
            return rg_robot_no_memory(s->robot);
        *joint = (rg_robot_joint){
            .name = name, .kind = types[type].kind, .node = node, .is_second = i > 0};
        joint->point = frame.position;
        joint->axis = (rg_vec3){0, 0, 1};
        joint->value = rg_joint_def_default(RG_JOINT_HINGE).axis[0];
        *end = joint;
        end = &joint->next;
        if (!types[type].axes)
            continue;
        if (!axis)
            return rg_robot_fail(s->robot, node, RG_NOT_FOUND, "needs %s", i ? "axis2" : "axis");
        status = read_direction(s, item, axis, frame, &joint->axis);
        if (status == RG_OK)
            status = read_values(s, item, axis, joint);
    }
    return status;
}

/* ---- all of it ---- */

static rg_status take_link(rg_sdf *s, size_t item) {
    rg_sdf_item *own = &s->items[item];
    size_t by = own->joint, carrier = by == RG_SDF_NONE ? 0 : s->items[by].parent;
    bool fixed = by != RG_SDF_NONE && types[type_of(s->items[by].node)].kind == RG_JOINT_FIXED;
    rg_robot_link link = {.node = own->node, .parent = RG_ROBOT_WORLD};
    rg_status status = rg_sdf_place(s, item, 0);
    if (status == RG_OK && carrier)
        status = rg_sdf_place(s, carrier, 0);
    link.pose = own->placed;
    link.is_fixed = own->is_static || (fixed && carrier == 0);
    link.is_free = !link.is_fixed && by == RG_SDF_NONE;
    if (!link.is_fixed && !link.is_free) {
        link.parent = s->items[carrier].index;
        if (carrier)
            link.pose = rg_pose_compose(rg_pose_inverse(s->items[carrier].placed), own->placed);
        if (status == RG_OK && !fixed)
            status = read_joint(s, by, item, &link);
    }
    if (status == RG_OK)
        status = read_link(s, item, &link);
    if (status == RG_OK)
        status = rg_robot_add_link(s->robot, &link, &own->index);
    if (status != RG_OK)
        for (rg_robot_collider *c = link.colliders; c; c = c->next)
            rg_shape_release(c->shape);
    own->taken = true;
    return status;
}

/* A link, after those that carry it. */
static rg_status take_chain(rg_sdf *s, size_t item, size_t *chain) {
    rg_status status = RG_OK;
    size_t count = 0;
    for (size_t i = item; i && !s->items[i].taken; count++) {
        if (count == s->count)
            return rg_robot_fail(s->robot, s->items[item].node, RG_INVALID_ARGUMENT,
                                 "the link \"%.100s\" hangs from itself", s->items[item].name);
        chain[count] = i;
        i = s->items[i].joint == RG_SDF_NONE ? 0 : s->items[s->items[i].joint].parent;
    }
    while (count-- > 0 && status == RG_OK)
        status = take_link(s, chain[count]);
    return status;
}

/* The world is a link that stands still. */
static rg_status take_links(rg_sdf *s) {
    rg_robot_link world = {.name = "world",
                           .node = s->items[0].node,
                           .parent = RG_ROBOT_WORLD,
                           .pose = rg_pose_identity(),
                           .is_fixed = true};
    size_t *chain = rg_arena_take(&s->robot->arena, s->count, sizeof *chain);
    if (!chain)
        return rg_robot_no_memory(s->robot);
    rg_status status = rg_robot_add_link(s->robot, &world, &s->items[0].index);
    for (size_t i = 1; i < s->count && status == RG_OK; i++) {
        s->items[i].is_static = s->items[s->items[i].scope].is_static || s->items[i].is_static;
        if (rg_sdf_is(s, i, "joint"))
            status = hang(s, i);
    }
    for (size_t i = 1; i < s->count && status == RG_OK; i++)
        if (rg_sdf_is(s, i, "link"))
            status = take_chain(s, i, chain);
    return status;
}

static rg_status read_settings(rg_robot *robot, const rg_xml_node *root) {
    const rg_xml_node *world = rg_xml_child(root, "world"),
                      *physics = world ? rg_xml_child(world, "physics") : NULL;
    robot->gravity = (rg_vec3){0, 0, -9.8};
    robot->scene->step = 0.001;
    robot->least_friction = true;
    rg_status status = rg_robot_vector(robot, physics, "gravity", 3, &robot->gravity.x);
    if (status == RG_OK)
        status = rg_robot_vector(robot, world, "gravity", 3, &robot->gravity.x);
    if (status == RG_OK)
        status = rg_robot_vector(robot, physics, "max_step_size", 1, &robot->scene->step);
    if (status == RG_OK && !(robot->scene->step > 0))
        status = rg_robot_fail(robot, physics, RG_INVALID_SIZE, "a time step must be positive");
    for (const rg_xml_node *n = root->first; n && status == RG_OK; n = n->next)
        if (world && n != world && strcmp(n->name, "light") != 0)
            status = rg_robot_leave_out(robot, n, "something beside the first world");
    return status;
}

rg_status rg_robot_read_sdf(rg_robot *robot, rg_xml_node *root) {
    rg_sdf s = {.robot = robot};
    rg_status status = check_version(robot, root);
    if (status == RG_OK)
        status = include_all(robot, root, 0);
    if (status == RG_OK)
        status = rg_sdf_check(robot, root);
    if (status == RG_OK)
        status = read_settings(robot, root);
    if (status == RG_OK)
        status = rg_sdf_list(&s, root);
    return status == RG_OK ? take_links(&s) : status;
}
