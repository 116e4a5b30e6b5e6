/* MJCF, the format of MuJoCo: bodies within bodies, their joints, geoms and inertia, defaults, and
 * what refers to them. Bodies without a joint are parts of their parents.
 * Tested by tests/scene/test_robot.c, and against MuJoCo by tests/scripts/test_robot.py. */
#include "scene/scene_robot_mjcf.h"
#include "base/base_math.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define ROTATION " quat axisangle euler xyaxes zaxis"
#define SOFT     " solimp solref solmix"
#define SOFT_LIMIT                                                                                 \
    " solimplimit solreflimit solimpfriction solreffriction" /* of joints and tendons */
#define ACTUATOR "class joint tendon gear forcerange forcelimited ctrlrange ctrllimited"

static const rg_robot_words words[] = {
    {"mujoco", "", "model",
     "compiler option default asset worldbody contact tendon equality actuator "
     "keyframe",
     "size visual statistic custom sensor",
     "compiler option default asset worldbody contact tendon equality actuator keyframe"},
    {"compiler",
     "angle autolimits eulerseq meshdir assetdir strippath inertiafromgeom settotalmass",
     "texturedir fusestatic convexhull usethread alignfree saveinertial", "", "", ""},
    {"option", "timestep gravity density viscosity collision",
     "integrator cone jacobian solver iterations tolerance ls_iterations ls_tolerance "
     "noslip_iterations noslip_tolerance ccd_iterations ccd_tolerance mpr_iterations mpr_tolerance "
     "impratio apirate",
     "flag", "", ""},
    {"flag", "contact gravity constraint clampctrl",
     "energy fwdinv sensornoise sensor warmstart multiccd island nativeccd eulerdamp refsafe "
     "midphase autoreset",
     "", "", ""},
    {"asset", "", "", "mesh", "texture material", "mesh"},
    {"mesh", "name class file scale vertex inertia", "face normal texcoord", "", "", ""},
    /* Pairs have no defaults to be of use for: elements that would take them are not read. */
    {"default", "class", "",
     "default geom joint site mesh tendon equality motor position velocity general",
     "camera light material pair",
     "default geom joint site mesh tendon equality motor position velocity general"},
    {"default/tendon", "limited range stiffness springlength damping frictionloss margin",
     "width rgba material group user" SOFT_LIMIT, "", "", ""},
    {"default/equality", "active", SOFT, "", "", ""},
    {"worldbody", "", "", "body geom site", "light camera", "body geom site"},
    {"body", "name childclass pos" ROTATION, "user", "body geom joint freejoint inertial site",
     "light camera", "body geom joint site"},
    {"inertial", "pos mass diaginertia fullinertia" ROTATION, "", "", "", ""},
    {"tendon/fixed", "name class limited range stiffness springlength damping frictionloss margin",
     "width rgba material group user" SOFT_LIMIT, "joint", "", "joint"},
    {"fixed/joint", "joint coef", "", "", "", ""},
    {"equality", "", "", "joint tendon", "", "joint tendon"},
    {"equality/joint", "class joint1 joint2 polycoef active", "name" SOFT, "", "", ""},
    {"equality/tendon", "class tendon1 tendon2 polycoef active", "name" SOFT, "", "", ""},
    {"tendon/spatial", "name class limited range stiffness damping frictionloss margin",
     "springlength width rgba material group user" SOFT_LIMIT, "site", "", "site"},
    {"spatial/site", "site", "", "", "", ""},
    {"geom",
     "class type pos size fromto mesh mass density contype conaffinity condim friction "
     "priority margin" ROTATION,
     "name material rgba group user" SOFT, "", "", ""},
    {"joint",
     "name class type pos axis range limited stiffness springref damping armature frictionloss ref "
     "margin actuatorfrcrange actuatorfrclimited",
     "group user" SOFT_LIMIT, "", "", ""},
    {"freejoint", "", "name group", "", "", ""},
    {"site", "name class pos fromto", "type size material rgba group user" ROTATION, "", "", ""},
    {"contact", "", "", "exclude", "", "exclude"},
    {"exclude", "body1 body2", "name", "", "", ""},
    {"tendon", "", "", "fixed spatial", "", "fixed spatial"},
    {"actuator", "", "", "motor position velocity general", "", "motor position velocity general"},
    {"motor", ACTUATOR, "name group user", "", "", ""},
    {"position", ACTUATOR " kp kv inheritrange", "name group user", "", "", ""},
    {"velocity", ACTUATOR " kv", "name group user", "", "", ""},
    {"general", ACTUATOR " gainprm biastype biasprm gaintype dyntype", "name group user dynprm", "",
     "", ""},
    {"keyframe", "", "", "key", "", "key"},
    {"key", "name qpos qvel ctrl", "time", "", "", ""},
};
const rg_robot_vocabulary rg_mjcf_vocabulary = {words, sizeof words / sizeof *words};

/* ---- settings ---- */

static bool is(const char *text, const char *word) {
    return text && strcmp(text, word) == 0;
}

static rg_status read_compiler(rg_mjcf *m, const rg_xml_node *node) {
    const char *angle = rg_xml_get(node, "angle"), *from = rg_xml_get(node, "inertiafromgeom"),
               *euler = rg_xml_get(node, "eulerseq"), *meshes = rg_xml_get(node, "meshdir");
    bool always = m->from_geoms == 1;
    rg_status status = rg_mjcf_flag(m, node, "autolimits", &m->autolimits);
    if (status == RG_OK)
        status = rg_mjcf_flag(m, node, "strippath", &m->strip_path);
    if (status == RG_OK)
        status = rg_mjcf_flag(m, node, "inertiafromgeom", &always);
    if (status == RG_OK)
        status = rg_robot_vector(m->robot, node, "settotalmass", 1, &m->robot->total_mass);
    if (status != RG_OK)
        return status;
    if (angle && !is(angle, "degree") && !is(angle, "radian"))
        return rg_robot_fail(m->robot, node, RG_WRONG_TYPE, "angle is degree or radian");
    if (angle)
        m->angle = is(angle, "radian") ? 1 : RG_PI / 180;
    if (from)
        m->from_geoms = is(from, "auto") ? -1 : always;
    if (euler && (strlen(euler) != 3 || strspn(euler, "xyzXYZ") != 3))
        return rg_robot_fail(m->robot, node, RG_WRONG_TYPE, "eulerseq is three of x y z X Y Z");
    if (euler)
        memcpy(m->euler, euler, 3);
    if (!meshes)
        meshes = rg_xml_get(node, "assetdir");
    if (meshes)
        m->mesh_directory = meshes;
    return RG_OK;
}

static rg_status read_flag(rg_mjcf *m, const rg_xml_node *node, const char *name, bool *value) {
    const char *text = rg_xml_get(node, name);
    if (text && !is(text, "enable") && !is(text, "disable"))
        return rg_robot_fail(m->robot, node, RG_WRONG_TYPE, "%s is enable or disable", name);
    if (text)
        *value = is(text, "enable");
    return RG_OK;
}

static rg_status read_flags(rg_mjcf *m, const rg_xml_node *node) {
    rg_robot *robot = m->robot;
    bool gravity = true, contact = true, constraint = true, clamp = true;
    rg_status status = read_flag(m, node, "gravity", &gravity);
    if (status == RG_OK)
        status = read_flag(m, node, "contact", &contact);
    if (status == RG_OK)
        status = read_flag(m, node, "constraint", &constraint);
    if (status == RG_OK)
        status = read_flag(m, node, "clampctrl", &clamp);
    if (!gravity)
        robot->gravity = (rg_vec3){0, 0, 0};
    m->no_limits = m->no_limits || !constraint;
    m->no_clamp = m->no_clamp || !clamp;
    robot->no_contacts = robot->no_contacts || m->no_limits || !contact;
    return status;
}

static rg_status read_option(rg_mjcf *m, const rg_xml_node *node) {
    rg_robot *robot = m->robot;
    double fluid[2] = {0, 0};
    rg_status status = rg_robot_vector(robot, node, "gravity", 3, &robot->gravity.x);
    if (status == RG_OK)
        status = rg_robot_vector(robot, node, "timestep", 1, &robot->scene->step);
    if (status == RG_OK && !(robot->scene->step > 0))
        status = rg_robot_fail(robot, node, RG_INVALID_SIZE, "a time step must be positive");
    if (status == RG_OK)
        status = rg_robot_vector(robot, node, "density", 1, &fluid[0]);
    if (status == RG_OK)
        status = rg_robot_vector(robot, node, "viscosity", 1, &fluid[1]);
    if (status == RG_OK && (fluid[0] != 0 || fluid[1] != 0))
        status = rg_robot_leave_out(robot, node, "a fluid around the bodies (density, viscosity)");
    if (status == RG_OK && is(rg_xml_get(node, "collision"), "predefined"))
        status = rg_robot_leave_out(robot, node, "contacts of listed pairs only (collision)");
    const rg_xml_node *flag = rg_xml_child(node, "flag");
    return status == RG_OK && flag ? read_flags(m, flag) : status;
}

/* ---- joints ---- */

static rg_status read_limits(rg_mjcf *m, const rg_xml_node *node, rg_robot_joint *joint,
                             double unit) {
    rg_mjcf_limit limit;
    double margin = 0;
    rg_status status = rg_mjcf_range(m, node, "limited", "range", &limit);
    if (status == RG_OK)
        status = rg_mjcf_numbers(m, node, "margin", 1, &margin);
    if (status != RG_OK || !limit.given || m->no_limits)
        return status;
    if (joint->kind == RG_JOINT_BALL)
        return rg_robot_leave_out(m->robot, node, "the limit of a ball joint");
    joint->value.lower = limit.lower * unit - joint->reference;
    joint->value.upper = limit.upper * unit - joint->reference;
    return margin == 0 ? RG_OK
                       : rg_robot_leave_out(m->robot, node, "a margin: limits of joints have none");
}

static rg_status read_spring(rg_mjcf *m, const rg_xml_node *node, rg_robot_joint *joint,
                             double unit) {
    rg_joint_axis *v = &joint->value;
    double rest = 0;
    const rg_mjcf_number numbers[] = {{"stiffness", 1, &v->stiffness},
                                      {"springref", 1, &rest},
                                      {"damping", 1, &v->damping},
                                      {"armature", 1, &v->armature},
                                      {"frictionloss", 1, &v->friction}};
    rg_status status = rg_mjcf_read(m, node, numbers, sizeof numbers / sizeof *numbers);
    if (m->no_limits)
        v->friction = 0;
    joint->relaxed = rest * unit - joint->reference;
    if (v->stiffness > 0)
        v->rest = joint->relaxed;
    if (status == RG_OK && joint->kind == RG_JOINT_BALL &&
        (v->stiffness != 0 || v->damping != 0 || v->armature != 0 || v->friction != 0))
        return rg_robot_leave_out(m->robot, node,
                                  "stiffness, damping, armature or friction of a ball joint");
    return status;
}

/* What of a joint holds a free body back. */
static rg_status read_free(rg_mjcf *m, const rg_xml_node *node, rg_robot_link *link) {
    double v[4] = {0, 0, 0, 0};
    const rg_mjcf_number numbers[] = {{"stiffness", 1, &v[0]},
                                      {"damping", 1, &v[1]},
                                      {"armature", 1, &v[2]},
                                      {"frictionloss", 1, &v[3]}};
    rg_status status = rg_mjcf_read(m, node, numbers, sizeof numbers / sizeof *numbers);
    link->is_free = true;
    if (status == RG_OK && (v[0] != 0 || v[1] != 0 || v[2] != 0 || v[3] != 0))
        return rg_robot_leave_out(m->robot, node,
                                  "stiffness, damping, armature or friction of a free joint");
    return status;
}

static rg_status read_joint(rg_mjcf *m, const rg_xml_node *node, rg_robot_link *link) {
    const char *type = rg_mjcf_get(m, node, "type"), *name = rg_xml_get(node, "name");
    if (is(type, "free"))
        return read_free(m, node, link);
    rg_robot_joint *joint = rg_robot_take(m->robot, sizeof *joint), **end = &link->joints;
    if (!joint)
        return rg_robot_no_memory(m->robot);
    joint->kind = is(type, "ball")    ? RG_JOINT_BALL
                  : is(type, "slide") ? RG_JOINT_SLIDER
                                      : RG_JOINT_HINGE;
    if (type && joint->kind == RG_JOINT_HINGE && !is(type, "hinge"))
        return rg_robot_fail(m->robot, node, RG_NOT_FOUND,
                             "there is no type \"%.60s\"; the types are: free, ball, slide, hinge",
                             type);
    joint->name = name ? name : "";
    joint->node = node;
    joint->axis = (rg_vec3){0, 0, 1};
    joint->value = rg_joint_def_default(RG_JOINT_HINGE).axis[0];
    double unit = joint->kind == RG_JOINT_SLIDER ? 1 : m->angle, reference = 0;
    const rg_mjcf_number numbers[] = {
        {"pos", 3, &joint->point.x}, {"axis", 3, &joint->axis.x}, {"ref", 1, &reference}};
    rg_status status = rg_mjcf_read(m, node, numbers, sizeof numbers / sizeof *numbers);
    joint->reference = reference * unit;
    if (status == RG_OK && rg_length(joint->axis) == 0)
        return rg_robot_fail(m->robot, node, RG_INVALID_ARGUMENT, "an axis of no length");
    if (status == RG_OK)
        status = read_limits(m, node, joint, unit);
    if (status == RG_OK)
        status = read_spring(m, node, joint, unit);
    while (*end)
        end = &(*end)->next;
    *end = joint;
    return status;
}

/* ---- bodies ---- */

static rg_status read_inertial(rg_mjcf *m, const rg_xml_node *node, rg_mass_properties *mass) {
    rg_pose pose;
    double value = 0, d[3] = {0, 0, 0}, f[6] = {0};
    const char *full = rg_xml_get(node, "fullinertia");
    if (full && rg_xml_get(node, "diaginertia"))
        return rg_robot_fail(m->robot, node, RG_INVALID_ARGUMENT,
                             "diaginertia and fullinertia: only one of them can hold");
    rg_status status = rg_mjcf_pose(m, node, &pose);
    if (status == RG_OK)
        status = rg_robot_vector(m->robot, node, "mass", 1, &value);
    if (status == RG_OK)
        status = rg_robot_vector(m->robot, node, "diaginertia", 3, d);
    if (status == RG_OK)
        status = rg_robot_vector(m->robot, node, "fullinertia", 6, f);
    if (!full)
        memcpy(f, d, sizeof d);
    rg_mass_properties own = {
        value, {0, 0, 0}, {{{f[0], f[3], f[4]}, {f[3], f[1], f[5]}, {f[4], f[5], f[2]}}}};
    *mass = rg_mass_transform(own, pose);
    return status;
}

static rg_status read_site(rg_mjcf *m, const rg_xml_node *node, size_t link) {
    const char *name = rg_xml_get(node, "name");
    rg_mjcf_site *site = rg_robot_take(m->robot, sizeof *site);
    if (!site)
        return rg_robot_no_memory(m->robot);
    site->name = name ? name : "";
    site->link = link;
    site->next = m->sites;
    m->sites = site;
    double ends[6];
    rg_status status = rg_mjcf_numbers(m, node, "pos", 3, &site->point.x);
    if (status != RG_OK || !rg_mjcf_get(m, node, "fromto"))
        return status;
    status = rg_mjcf_numbers(m, node, "fromto", 6, ends);
    site->point =
        (rg_vec3){(ends[0] + ends[3]) / 2, (ends[1] + ends[4]) / 2, (ends[2] + ends[5]) / 2};
    return status;
}

/* What a body holds besides bodies. The link may move in memory when others are added: it is filled
 * here before that. */
static rg_status read_contents(rg_mjcf *m, const rg_xml_node *node, rg_robot_link *link,
                               size_t index) {
    rg_mass_properties of_geoms = {0}, mass;
    const rg_xml_node *inertial = NULL;
    rg_status status = RG_OK;
    for (const rg_xml_node *child = node->first; child && status == RG_OK; child = child->next) {
        if (is(child->name, "geom")) {
            status = rg_mjcf_geom(m, child, link, &mass);
            if (status == RG_OK && mass.mass > 0)
                of_geoms = of_geoms.mass > 0 ? rg_mass_add(of_geoms, mass) : mass;
        } else if (is(child->name, "joint")) {
            status = read_joint(m, child, link);
        } else if (is(child->name, "freejoint")) {
            link->is_free = true;
        } else if (is(child->name, "site")) {
            status = read_site(m, child, index);
        } else if (is(child->name, "inertial")) {
            inertial = child;
        }
    }
    link->mass = of_geoms;
    if (status == RG_OK && inertial && m->from_geoms != 1)
        status = read_inertial(m, inertial, &link->mass);
    else if (m->from_geoms == 0)
        link->mass = (rg_mass_properties){0};
    if (status == RG_OK && link->is_free && link->joints)
        return rg_robot_fail(m->robot, node, RG_INVALID_ARGUMENT,
                             "a free joint cannot be combined with others");
    return status;
}

static rg_status read_body(rg_mjcf *m, const rg_xml_node *node, size_t parent) {
    rg_robot *robot = m->robot;
    const char *name = rg_xml_get(node, "name");
    size_t index = robot->link_count;
    char made[32];
    snprintf(made, sizeof made, "body%zu", index);
    rg_robot_link link = {.node = node, .parent = parent, .pose = rg_pose_identity()};
    bool is_world = is(node->name, "worldbody");
    link.name = is_world ? "worldbody" : name && name[0] ? name : rg_robot_copy(robot, made, 32);
    link.is_fixed = is_world && parent == RG_ROBOT_WORLD; /* more of them are parts of the first */
    if (!link.name)
        return rg_robot_no_memory(robot);
    rg_status status = is_world ? RG_OK : rg_mjcf_pose(m, node, &link.pose);
    if (status == RG_OK)
        status = read_contents(m, node, &link, index);
    if (status == RG_OK)
        status = rg_robot_add_link(robot, &link, &index);
    if (status != RG_OK)
        for (rg_robot_collider *c = link.colliders; c; c = c->next)
            rg_shape_release(c->shape);
    for (const rg_xml_node *child = node->first; child && status == RG_OK; child = child->next)
        if (is(child->name, "body"))
            status = read_body(m, child, index);
    return status;
}

static size_t count_defaults(const rg_mjcf *m) {
    size_t count = 0;
    for (rg_xml_node *d = NULL; (d = rg_mjcf_section(m, "default", d));)
        for (rg_xml_node *node = d->first; node;) {
            count++;
            if (node->first) {
                node = node->first;
                continue;
            }
            while (node != d && !node->next)
                node = node->parent;
            node = node == d ? NULL : node->next;
        }
    return count;
}

enum { DEFAULTS_MOST = 1000 };

rg_status rg_robot_read_mjcf(rg_robot *robot, rg_xml_node *root) {
    rg_mjcf m = {.robot = robot,
                 .root = root,
                 .angle = RG_PI / 180,
                 .euler = "xyz",
                 .autolimits = true,
                 .from_geoms = -1,
                 .mesh_directory = ""};
    robot->scene->step = 0.002; /* MuJoCo's */
    rg_status status = rg_mjcf_include(robot, root);
    if (status == RG_OK)
        status = rg_robot_check_words(robot, root, &rg_mjcf_vocabulary);
    if (status == RG_OK && count_defaults(&m) > DEFAULTS_MOST)
        status = rg_robot_fail(robot, root, RG_LIMIT_EXCEEDED, "more than %d elements of defaults",
                               DEFAULTS_MOST);
    if (status == RG_OK)
        status = rg_mjcf_check_classes(&m, root);
    for (rg_xml_node *s = NULL; status == RG_OK && (s = rg_mjcf_section(&m, "compiler", s));)
        status = read_compiler(&m, s);
    for (rg_xml_node *s = NULL; status == RG_OK && (s = rg_mjcf_section(&m, "option", s));)
        status = read_option(&m, s);
    for (rg_xml_node *s = NULL; status == RG_OK && (s = rg_mjcf_section(&m, "worldbody", s));)
        status = read_body(&m, s, robot->link_count ? 0 : RG_ROBOT_WORLD);
    return status == RG_OK ? rg_mjcf_refer(&m) : status;
}
