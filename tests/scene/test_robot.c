/* Robot descriptions: what is made of them, and what is refused, with its exact words. Against
 * MuJoCo they are compared by tests/scripts/test_robot.py. */
#include "test_scene_support.h"

#include "rigor/math.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define ROBOTS RIGOR_TEST_DATA "/robots/"

static rg_joint_def joint_of(rg_scene *scene, const char *name) {
    rg_joint_id joint;
    if (rg_world_find_joint(rg_scene_world(scene), name, &joint) != RG_OK)
        fail_msg("there is no joint \"%s\"", name);
    return rg_joint_get_def(rg_scene_world(scene), joint);
}

/* ---- what is made of them ---- */

/* R I R', written out. */
static rg_mat3 turned(const rg_mat3 *r, const rg_mat3 *i) {
    rg_mat3 t = rg_mat3_transpose(r), left = rg_mat3_multiply(r, i);
    return rg_mat3_multiply(&left, &t);
}

static void urdf_becomes_bodies_and_joints(void **state) {
    (void)state;
    rg_scene *scene = open_scene(ROBOTS "arm.urdf");
    rg_world *world = rg_scene_world(scene);
    assert_int_equal(rg_world_body_count(world), 5); /* the tool is part of the forearm */
    assert_int_equal(rg_body_motion(world, body_of(scene, "base")), RG_MOTION_FIXED);
    rg_mass_properties mass = rg_body_mass(world, body_of(scene, "shoulder"));
    const double a = 0.1, b = 0.2, c = 0.3;
    rg_mat3 x = {{{1, 0, 0}, {0, cos(a), -sin(a)}, {0, sin(a), cos(a)}}},
            y = {{{cos(b), 0, sin(b)}, {0, 1, 0}, {-sin(b), 0, cos(b)}}},
            z = {{{cos(c), -sin(c), 0}, {sin(c), cos(c), 0}, {0, 0, 1}}},
            given = {{{0.01, 0.001, 0}, {0.001, 0.012, -0.0005}, {0, -0.0005, 0.008}}};
    rg_mat3 r = rg_mat3_multiply(&z, &y);
    r = rg_mat3_multiply(&r, &x);
    rg_mat3 expected = turned(&r, &given);
    for (int i = 0; i < 9; i++)
        assert_near(mass.inertia.m[i / 3][i % 3], expected.m[i / 3][i % 3], 1e-17);
    assert_near(rg_body_mass(world, body_of(scene, "forearm")).mass, 1.3, 1e-15);
    rg_joint_def lift = joint_of(scene, "lift");
    assert_int_equal(lift.kind, RG_JOINT_HINGE);
    assert_true(lift.axis[0].lower == -1.5 && lift.axis[0].upper == 1.5);
    assert_true(lift.axis[0].damping == 0.5 && lift.axis[0].friction == 0.1);
    assert_true(isinf(joint_of(scene, "turn").axis[0].upper));
    assert_int_equal(joint_of(scene, "grip").kind, RG_JOINT_SLIDER);
    for (size_t i = 0; i < rg_world_joint_count(world); i++)
        assert_true(rg_joint_error(world, rg_world_joint_at(world, i)) <= 1e-14);
    rg_scene_destroy(scene);
}

static const rg_scene_parameter free_base[] = {{"base", "free"}, {"ground", "-0.5"}};

static void bases_and_grounds_are_parameters(void **state) {
    (void)state;
    static const char text[] =
        "<robot name='r'><link name='world'><inertial><mass value='2'/>"
        "<inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial>"
        "<collision><geometry><sphere radius='0.1'/></geometry></collision></link></robot>";
    rg_scene *scene = read_scene(text);
    rg_world *world = rg_scene_world(scene);
    assert_int_equal(rg_body_motion(world, rg_world_body_at(world, 0)), RG_MOTION_FIXED);
    rg_scene_destroy(scene);
    rg_scene_options options = {.parameters = free_base, .parameter_count = 2};
    scene = read_with(text, &options);
    run_scene(scene, 2);
    world = rg_scene_world(scene);
    assert_near(rg_body_pose(world, body_of(scene, "world:link")).position.z, -0.4, 1e-9);
    rg_scene_destroy(scene);
}

/* A root without mass is where a robot stands, not what holds it: what fixed joints hold to it says
 * whether it is free. Of an arm on a massless root nothing does. */
static void a_root_without_mass_does_not_hold_a_robot(void **state) {
    (void)state;
#define HEAVY(name)                                                                                \
    "<link name='" name "'><inertial><mass value='2'/><inertia ixx='1' iyy='1' izz='1' ixy='0' "   \
    "ixz='0' iyz='0'/></inertial></link>"
#define TO(type, parent, child)                                                                    \
    "<joint name='to_" child "' type='" type "'><parent link='" parent "'/><child link='" child    \
    "'/><origin xyz='0 0 0.5'/></joint>"
    rg_scene *scene =
        read_scene("<robot><link name='foot'/><link name='frame'/>" HEAVY("base") HEAVY("wheel")
                       TO("fixed", "foot", "frame") TO("fixed", "frame", "base")
                           TO("continuous", "base", "wheel") "</robot>");
    run_scene(scene, 0.5);
    rg_world *world = rg_scene_world(scene);
    assert_int_equal(rg_body_motion(world, body_of(scene, "foot")), RG_MOTION_DYNAMIC);
    double time = rg_world_time(world), step = rg_scene_step_size(scene), half = 0.5 * 9.81;
    assert_near(rg_body_pose(world, body_of(scene, "foot")).position.z, -half * time * time,
                1.01 * half * step * step); /* the first step begins with all of its gravity */
    rg_scene_destroy(scene);
    scene = read_scene("<robot><link name='foot'/>" HEAVY("arm")
                           TO("continuous", "foot", "arm") "</robot>");
    assert_int_equal(rg_world_body_count(rg_scene_world(scene)), 1); /* on the world itself */
    rg_scene_destroy(scene);
    scene = read_scene("<robot><link name='world'/>" HEAVY("arm")
                           TO("fixed", "world", "arm") "</robot>");
    assert_int_equal(rg_world_body_count(rg_scene_world(scene)), 0);
    rg_scene_destroy(scene);
}

static void mjcf_joints_are_combined(void **state) {
    (void)state;
    rg_scene *scene = open_scene(ROBOTS "walker.xml");
    rg_world *world = rg_scene_world(scene);
    assert_near(rg_scene_step_size(scene), 0.004, 0);
    assert_int_equal(joint_of(scene, "cart_z+cart_x+cart_y").kind, RG_JOINT_PLANAR);
    assert_int_equal(joint_of(scene, "ankle_y+ankle_x").kind, RG_JOINT_UNIVERSAL);
    assert_int_equal(joint_of(scene, "shift+spin").kind, RG_JOINT_CYLINDRICAL);
    assert_int_equal(joint_of(scene, "wag").kind, RG_JOINT_BALL);
    rg_joint_def leash = joint_of(scene, "leash");
    assert_int_equal(leash.kind, RG_JOINT_DISTANCE);
    assert_true(leash.axis[0].upper == 0.25 && leash.collide);
    rg_joint_def knee = joint_of(scene, "knee");
    assert_int_equal(knee.axis[0].motor, RG_MOTOR_POSITION);
    assert_true(knee.axis[0].gain == 40 && knee.axis[0].max_force == 100);
    assert_near(knee.axis[0].upper, 10 * RG_PI / 180, 1e-15); /* 0 - ref */
    assert_near(knee.axis[0].target, 10 * RG_PI / 180, 1e-15);
    /* Three hinges of the hip: one of two axes, a body between, one more. */
    rg_body_id between = body_of(scene, "thigh:1"), thigh = body_of(scene, "thigh");
    double part = rg_body_mass(world, between).mass, rest = rg_body_mass(world, thigh).mass;
    assert_near(part / (part + rest), 1e-3, 1e-15);
    rg_scene_destroy(scene);
}

#define FINGER(name, y, axis, rest)                                                                \
    "<link name='" name "'><inertial><origin xyz='0.1 0 0'/><mass value='1'/><inertia ixx='0.01' " \
    "iyy='0.01' izz='0.01' ixy='0' ixz='0' iyz='0'/></inertial></link><joint name='j" name "' "    \
    "type='continuous'><parent link='palm'/><child link='" name "'/><origin xyz='0 " y " 0'/>"     \
    "<axis xyz='" axis "'/>" rest "</joint>"

static double coordinate_of(rg_scene *scene, const char *name) {
    rg_joint_id joint;
    assert_int_equal(rg_world_find_joint(rg_scene_world(scene), name, &joint), RG_OK);
    return rg_joint_get_state(rg_scene_world(scene), joint).coordinate[0];
}

/* One finger falls, and takes the others with it: as far in the opposite sense, half as far. */
static void mimics_are_gears(void **state) {
    (void)state;
    static const char hand[] = "<robot><link name='palm'/>" FINGER("a", "0", "0 1 0.5", "")
        FINGER("b", "0.2", "0 -1 -0.5", "<mimic joint='ja'/>")
            FINGER("c", "0.5", "0 1 0.5", "<mimic joint='ja' multiplier='-0.5'/>") "</robot>";
    rg_scene *scene = read_scene(hand);
    run_scene(scene, 0.5);
    double a = coordinate_of(scene, "ja");
    assert_true(fabs(a) > 0.1);
    assert_near(coordinate_of(scene, "jb"), a, 1e-9);
    assert_near(coordinate_of(scene, "jc"), -0.5 * a, 1e-9);
    rg_scene_destroy(scene);
}

#define SLIDE(name, parent, x, axis, rest)                                                         \
    "<link name='" name "'><inertial><origin xyz='0.1 0 0'/><mass value='1'/><inertia ixx='0.01' " \
    "iyy='0.01' izz='0.01' ixy='0' ixz='0' iyz='0'/></inertial></link><joint name='j" name "' "    \
    "type='prismatic'><parent link='" parent "'/><child link='" name "'/><origin xyz='" x          \
    " 0 0'/><axis xyz='" axis "'/>" rest "</joint>"

static const double fine_step = 1.0 / 960; /* s */

/* q'' = -g weight / mass of the first coordinate. The method begins with a full step of gravity: it
 * is ahead by half of what that makes of the way. */
static void assert_falls(const char *text, const char *second, double ratio, double weight,
                         double mass) {
    rg_scene *scene = read_scene(text);
    assert_int_equal(rg_scene_set_step_size(scene, fine_step, NULL), RG_OK);
    run_scene(scene, 0.25);
    double time = rg_world_time(rg_scene_world(scene)), q = coordinate_of(scene, "ja");
    double half = -0.5 * 9.81 * weight / mass;
    assert_near(q, half * time * time, 1.01 * fabs(half) * fine_step * fine_step);
    assert_near(coordinate_of(scene, second), ratio * q, 1e-11);
    rg_scene_destroy(scene);
}

/* Slides, side by side and one after the other, by a wheel with a thousandth of the follower's
 * mass; a hinge and a slide. Against closed forms. */
static void mimics_of_slides_are_racks(void **state) {
    (void)state;
    const double share = 1e-3;
    assert_falls("<robot><link name='palm'/>" SLIDE("a", "palm", "0", "0 0 1", "") SLIDE(
                     "b", "palm", "1", "0 0 1", "<mimic joint='ja' multiplier='-0.5'/>") "</robot>",
                 "jb", -0.5, 1 - 0.5 * (1 - share), 1.25);
    assert_falls("<robot><link name='palm'/>" SLIDE("a", "palm", "0", "0 0 1", "") SLIDE(
                     "b", "palm", "1", "1 0 0", "<mimic joint='ja' multiplier='2'/>") "</robot>",
                 "jb", 2, 1, 1 + 4);
    assert_falls("<robot><link name='palm'/>" SLIDE("a", "palm", "0", "0 0 1", "")
                     SLIDE("b", "a", "0", "0 0 1", "<mimic joint='ja'/>") "</robot>",
                 "jb", 1, 1 + 2 * (1 - share) + share, 1 + 4 * (1 - share) + 2 * share);
}

/* A wheel of 0.01 + 0.01 kg m^2 about its hinge, whose centre is level with it. */
static void mimics_of_a_hinge_and_a_slide_are_racks(void **state) {
    (void)state;
    rg_scene *scene = read_scene("<robot><link name='palm'/>" FINGER("a", "0", "0 0 1", "") SLIDE(
        "b", "palm", "1", "0 1 0", "<mimic joint='ja' multiplier='0.3'/>") "</robot>");
    rg_world *world = rg_scene_world(scene);
    assert_int_equal(rg_scene_set_step_size(scene, fine_step, NULL), RG_OK);
    assert_int_equal(rg_body_set_velocity(world, body_of(scene, "b"), (rg_vec3){0, 1, 0}), RG_OK);
    run_scene(scene, 0.5);
    double q = coordinate_of(scene, "ja"), time = rg_world_time(world);
    /* 1 kg at 1 m/s takes the wheel along, 0.02 kg m^2 at 1/0.3 rad/m. */
    double speed = 1 / (1 + 0.02 / 0.09);
    assert_near(coordinate_of(scene, "jb"), speed * time, fine_step * fine_step);
    assert_near(coordinate_of(scene, "jb"), 0.3 * q, 1e-11);
    rg_scene_destroy(scene);
}

/* A hand of two fingers with tips: the tips turn back as far as the fingers turn, and the second
 * has no link in common with the joint that it follows. */
static void mimics_go_through_others(void **state) {
    (void)state;
#define TIP(name, parent, rest)                                                                    \
    "<link name='" name "'><inertial><origin xyz='0.1 0 0'/><mass value='0.1'/><inertia "          \
    "ixx='0.001' iyy='0.001' izz='0.001' ixy='0' ixz='0' iyz='0'/></inertial></link><joint "       \
    "name='j" name "' type='continuous'><parent link='" parent "'/><child link='" name             \
    "'/><origin xyz='0.3 0 0'/><axis xyz='0 1 0.5'/>" rest "</joint>"
    rg_scene *scene =
        read_scene("<robot><link name='palm'/>" FINGER("a", "0", "0 1 0.5", "")
                       FINGER("b", "0.5", "0 1 0.5", "<mimic joint='ja' multiplier='-0.5'/>")
                           TIP("c", "a", "<mimic joint='ja' multiplier='-2'/>")
                               TIP("d", "b", "<mimic joint='ja' multiplier='0.25'/>") "</robot>");
    run_scene(scene, 0.5);
    double a = coordinate_of(scene, "ja");
    assert_true(fabs(a) > 0.1);
    assert_near(coordinate_of(scene, "jb"), -0.5 * a, 1e-9);
    assert_near(coordinate_of(scene, "jc"), -2 * a, 1e-9);
    assert_near(coordinate_of(scene, "jd"), 0.25 * a, 1e-9);
    rg_scene_destroy(scene);
}

/* Folders of a mesh's file name go, and what is beside the file is found. */
static void paths_are_stripped(void **state) {
    (void)state;
#define STRIPPED(flag)                                                                             \
    "<mujoco><compiler meshdir='../../meshes' strippath='" flag "'/><asset><mesh name='m' "        \
    "file='nowhere/cube_quads.obj'/></asset><worldbody><geom type='mesh' mesh='m'/></worldbody>"   \
    "</mujoco>"
    rg_scene_destroy(read_scene(STRIPPED("true")));
    rg_scene_options options = {.lenient = true};
    rg_scene *scene = read_with(STRIPPED("false"), &options);
    assert_int_equal(rg_scene_left_out_count(scene), 1);
    rg_scene_destroy(scene);
}

/* contype and conaffinity say who meets whom: either's type in the other's affinity is enough. */
static void contact_bits_give_the_same_pairs(void **state) {
    (void)state;
    static const unsigned bits[][2] = {{1, 1}, {1, 0}, {0, 1}, {2, 4}, {4, 2}, {0, 0}, {3, 8}};
    enum { COUNT = sizeof bits / sizeof *bits };
    char text[4000] = "<mujoco><worldbody>";
    for (int i = 0; i < COUNT; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text),
                 "<body name='b%d' pos='%d 0 0'><freejoint/><geom size='0.1' contype='%u' "
                 "conaffinity='%u'/></body>",
                 i, i, bits[i][0], bits[i][1]);
    strcat(text, "</worldbody></mujoco>");
    rg_scene *scene = read_scene(text);
    rg_world *world = rg_scene_world(scene);
    for (size_t i = 0; i < COUNT; i++)
        for (size_t k = 0; k < i; k++) {
            rg_collider_def a = rg_collider_get_def(
                                world, rg_body_collider_at(world, rg_world_body_at(world, i), 0)),
                            b = rg_collider_get_def(
                                world, rg_body_collider_at(world, rg_world_body_at(world, k), 0));
            bool meet = (a.category & b.mask) && (b.category & a.mask);
            bool wanted = (bits[i][0] & bits[k][1]) || (bits[k][0] & bits[i][1]);
            assert_int_equal(meet, wanted);
        }
    rg_scene_destroy(scene);
}

/* ---- what is refused ---- */

#define LINK                                                                                       \
    "<link name='a'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial>"
#define TWO "<robot>" LINK "</link><link name='b'/>"

static const struct {
    const char *text, *message;
} refused[] = {
    {"<robot", "test.yaml:1:1: this is not XML: unclosed token"},
    {"<html/>", "test.yaml:1:1: html: neither URDF (robot), MJCF (mujoco) nor SDF (sdf) begins "
                "like this"},
    {"<robot>\n <gazebo/><link name='a'/></robot>",
     "test.yaml:2:2: gazebo: not understood; --lenient leaves it out"},
    {"<robot><link name='a' colour='red'/></robot>",
     "test.yaml:1:8: link: the attribute colour is not understood; --lenient leaves it out"},
    {"<robot/>", "test.yaml:1:1: robot: there is no link"},
    {"<robot><link name='a'/><link name='a'/></robot>",
     "test.yaml:1:24: link: there is a link \"a\" already"},
    {TWO "<joint name='j' type='revolute'><parent link='a'/><child link='c'/></joint></robot>",
     "test.yaml:1:168: child: there is no link \"c\""},
    {TWO "<joint name='j' type='slippery'><parent link='a'/><child link='b'/></joint></robot>",
     "test.yaml:1:118: joint: there is no type \"slippery\"; the types are: revolute, continuous, "
     "prismatic, fixed, floating, planar, spherical"},
    {TWO "<joint name='j' type='revolute'><parent link='a'/><child link='b'/></joint></robot>",
     "test.yaml:1:102: link: \"b\" moves but has no mass"},
    {"<robot><link name='a'/><link name='b'/><joint name='j' type='fixed'>"
     "<parent link='a'/><child link='b'/><origin xyz='0 0 6e95'/></joint></robot>",
     "test.yaml:1:104: origin: xyz: 6e+95 is beyond 1e+09"},
    /* Another root after it. */
    {"<robot><link name='a'/><link name='b'/><link name='c'/><joint name='j' type='continuous'>"
     "<parent link='a'/><child link='b'/></joint></robot>",
     "test.yaml:1:24: link: \"b\" moves but has no mass"},
    {TWO "<joint name='j' type='fixed'><parent link='a'/><child link='b'/></joint>"
         "<joint name='k' type='fixed'><parent link='b'/><child link='a'/></joint></robot>",
     "test.yaml:1:8: link: the link \"a\" hangs from itself"},
    {"<robot>" LINK "<collision><geometry><box size='1 2'/></geometry></collision></link></robot>",
     "test.yaml:1:116: box: size needs 3 numbers, not 2"},
    {"<robot>" LINK "<collision><geometry><box size='1 2 1e999'/></geometry></collision></link>"
     "</robot>",
     "test.yaml:1:116: box: size: a number is not finite"},
    {"<robot>" LINK
     "<collision><geometry><box size='1 2 x'/></geometry></collision></link></robot>",
     "test.yaml:1:116: box: size: \"x\" is not a number"},
    {"<!DOCTYPE r [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;&a;'>]><robot name='&b;'/>",
     "test.yaml:1:13: a document type declaration (DTD) is not read; leave it out"},
    {"<!DOCTYPE r SYSTEM 'file:///etc/passwd'><robot/>",
     "test.yaml:1:40: a document type declaration (DTD) is not read; leave it out"},
    {"<robot name='&secret;'/>", "test.yaml:1:1: this is not XML: undefined entity"},
    {"<mujoco><include/></mujoco>", "test.yaml:1:9: include: needs file"},
    {"<mujoco><worldbody><body name='a'><joint type='free'/><joint/><geom size='1'/></body>"
     "</worldbody></mujoco>",
     "test.yaml:1:20: body: a free joint cannot be combined with others"},
    {"<mujoco><worldbody><geom type='hfield'/></worldbody></mujoco>",
     "test.yaml:1:20: geom: the type \"hfield\" is not read"},
    {"<mujoco><worldbody><geom size='1' condim='6'/></worldbody></mujoco>",
     "test.yaml:1:20: geom: friction against turning and rolling (condim); --lenient leaves it "
     "out"},
    {"<mujoco><worldbody><geom class='x' size='1'/></worldbody></mujoco>",
     "test.yaml:1:20: geom: class: there is no class of defaults \"x\""},
    {"<mujoco><worldbody><body childclass='x'/></worldbody></mujoco>",
     "test.yaml:1:20: body: childclass: there is no class of defaults \"x\""},
    {"<mujoco><default><default class='a'/><default class='a'/></default></mujoco>",
     "test.yaml:1:38: default: there is a class \"a\" already"},
    {"<mujoco><default><default/></default></mujoco>", "test.yaml:1:18: default: needs class"},
    {"<mujoco><include file='x' prefix='a'/></mujoco>",
     "test.yaml:1:9: include: the attribute prefix is not understood; --lenient leaves it out"},
    {"<mujoco><worldbody><geom pos='1 2' size='1'/></worldbody></mujoco>",
     "test.yaml:1:20: geom: pos needs 3 numbers, not 2"},
    {"<mujoco><worldbody><geom size='1' quat='1 0 0 0' euler='0 0 0'/></worldbody></mujoco>",
     "test.yaml:1:20: geom: quat and euler: only one of them can hold"},
    {"<mujoco><worldbody><geom size='1' quat='0 0 0 0'/></worldbody></mujoco>",
     "test.yaml:1:20: geom: quat: a direction of no length, or two that are parallel"},
    {"<mujoco><worldbody><geom size='1' xyaxes='1 0 0 -2 0 0'/></worldbody></mujoco>",
     "test.yaml:1:20: geom: xyaxes: a direction of no length, or two that are parallel"},
    {"<mujoco><worldbody><geom size='1' zaxis='0 0 0'/></worldbody></mujoco>",
     "test.yaml:1:20: geom: zaxis: a direction of no length, or two that are parallel"},
    {"<mujoco><worldbody><geom size='1' axisangle='0 0 0 1'/></worldbody></mujoco>",
     "test.yaml:1:20: geom: axisangle: a direction of no length, or two that are parallel"},
    {"<mujoco><worldbody><body><joint name='j'/></body></worldbody><actuator>"
     "<position joint='j' inheritrange='1'/></actuator></mujoco>",
     "test.yaml:1:72: position: inheritrange must be positive, and of a range"},
    {"<mujoco><worldbody><geom size='1' mass='-1'/></worldbody></mujoco>",
     "test.yaml:1:20: geom: a negative mass"},
    {"<mujoco><worldbody><body><inertial mass='1'/><inertial "
     "mass='2'/></body></worldbody></mujoco>",
     "test.yaml:1:46: inertial: there is one before it already; --lenient leaves it out"},
    {"<mujoco><worldbody><body><joint range='2 1' limited='true'/></body></worldbody></mujoco>",
     "test.yaml:1:26: joint: limited needs a range whose second number is larger"},
    {"<mujoco><worldbody><body><joint type='free' damping='1'/></body></worldbody></mujoco>",
     "test.yaml:1:26: joint: stiffness, damping, armature or friction of a free joint; --lenient "
     "leaves it out"},
    {"<mujoco><option density='1.2'/></mujoco>",
     "test.yaml:1:9: option: a fluid around the bodies (density, viscosity); --lenient leaves it "
     "out"},
};

static void bad_robots_are_refused(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        rg_scene *scene;
        rg_error error = {0};
        rg_status status = rg_scene_read_text(refused[i].text, strlen(refused[i].text), "test.yaml",
                                              NULL, NULL, &scene, &error);
        assert_true(status != RG_OK && !scene);
        assert_string_equal(error.text, refused[i].message);
    }
}

static void lenient_lists_what_it_leaves_out(void **state) {
    (void)state;
    rg_scene_options options = {.lenient = true};
    rg_scene *scene = read_with("<robot>\n <gazebo><mu1/></gazebo>" LINK "</link>\n <sensor a='b'/>"
                                "</robot>",
                                &options);
    assert_int_equal(rg_scene_left_out_count(scene), 2);
    assert_string_equal(rg_scene_left_out_at(scene, 0), "test.yaml:2:2: gazebo: not understood");
    assert_string_equal(rg_scene_left_out_at(scene, 1), "test.yaml:3:2: sensor: not understood");
    rg_scene_destroy(scene);
}

static rg_status read_repeated(const char *begin, const char *middle, size_t count, const char *end,
                               rg_error *error) {
    size_t size = strlen(begin) + count * strlen(middle) + strlen(end);
    char *text = malloc(size + 1), *at = text + strlen(begin);
    strcpy(text, begin);
    for (size_t i = 0; i < count; i++, at += strlen(middle))
        strcpy(at, middle);
    strcpy(at, end);
    rg_scene *scene;
    rg_status status = rg_scene_read_text(text, size, "big", NULL, NULL, &scene, error);
    rg_scene_destroy(scene);
    free(text);
    return status;
}

static void large_inputs_are_bounded(void **state) {
    (void)state;
    rg_error error;
    assert_int_equal(read_repeated("<mujoco><worldbody>", "<body>", 200, "", &error),
                     RG_LIMIT_EXCEEDED);
    assert_int_equal(read_repeated("<robot>", "<link/>", 300000, "</robot>", &error),
                     RG_LIMIT_EXCEEDED);
    assert_int_equal(
        read_repeated("<mujoco><default>", "<geom/>", 2000, "</default></mujoco>", &error),
        RG_LIMIT_EXCEEDED);
}

static void endless_includes_are_refused(void **state) {
    (void)state;
    char path[] = "/tmp/rigor-include-XXXXXX";
    int file = mkstemp(path);
    char text[200];
    int length = snprintf(text, sizeof text, "<mujoco><include file='%s'/></mujoco>", path);
    assert_int_equal(write(file, text, (size_t)length), length);
    close(file);
    rg_scene *scene;
    rg_error error = {0};
    assert_int_equal(rg_scene_read_file(path, NULL, &scene, &error), RG_LIMIT_EXCEEDED);
    assert_non_null(strstr(error.text, "include: includes are nested more than 8 deep"));
    unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(urdf_becomes_bodies_and_joints),
        cmocka_unit_test(bases_and_grounds_are_parameters),
        cmocka_unit_test(a_root_without_mass_does_not_hold_a_robot),
        cmocka_unit_test(mjcf_joints_are_combined),
        cmocka_unit_test(mimics_are_gears),
        cmocka_unit_test(mimics_of_slides_are_racks),
        cmocka_unit_test(mimics_of_a_hinge_and_a_slide_are_racks),
        cmocka_unit_test(mimics_go_through_others),
        cmocka_unit_test(paths_are_stripped),
        cmocka_unit_test(contact_bits_give_the_same_pairs),
        cmocka_unit_test(bad_robots_are_refused),
        cmocka_unit_test(lenient_lists_what_it_leaves_out),
        cmocka_unit_test(large_inputs_are_bounded),
        cmocka_unit_test(endless_includes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
