/* What of MJCF refers to bodies and joints: actuators by their bias, tendons of joints, keyframes;
 * and what lenient reading makes of meshes that are not there and of links that overlap. */
#include "test_scene_support.h"

#include "rigor/math.h"

#include <math.h>
#include <stdio.h>

#define HEAD "<mujoco><compiler angle='radian'/><worldbody>"
#define PENDULUM                                                                                   \
    HEAD "<body name='a' pos='0 0 2'><joint name='j' axis='0 1 0' ref='0.5'/>"                     \
         "<geom type='capsule' size='0.1 0.4' pos='0 0 -0.5'/></body></worldbody>"

static rg_joint_axis axis_of(const char *rest) {
    char text[2000];
    snprintf(text, sizeof text, "%s%s</mujoco>", PENDULUM, rest);
    rg_scene *scene = read_scene(text);
    rg_joint_id joint;
    assert_int_equal(rg_world_find_joint(rg_scene_world(scene), "j", &joint), RG_OK);
    rg_joint_axis axis = rg_joint_get_def(rg_scene_world(scene), joint).axis[0];
    rg_scene_destroy(scene);
    return axis;
}

/* A position actuator is the general one with the bias -kp q - kv q'. */
static void actuators_are_their_bias(void **state) {
    (void)state;
    rg_joint_axis p = axis_of("<actuator><position joint='j' kp='3' kv='2' gear='2'/></actuator>"),
                  g = axis_of("<actuator><general joint='j' gear='2' gainprm='3' biastype='affine' "
                              "biasprm='0 -3 -2'/></actuator>");
    assert_int_equal(p.motor, RG_MOTOR_POSITION);
    assert_int_equal(g.motor, RG_MOTOR_POSITION);
    assert_true(p.gain == 12 && g.gain == 12 && p.gain_velocity == 8 && g.gain_velocity == 8);
    assert_near(p.target, -0.5, 0); /* q = 0, from where the link is drawn */
    assert_near(g.target, -0.5, 0);
    rg_joint_axis v = axis_of("<actuator><general joint='j' biastype='affine' biasprm='6 0 -3' "
                              "forcerange='-9 9'/></actuator>");
    assert_int_equal(v.motor, RG_MOTOR_VELOCITY);
    assert_true(v.gain == 3 && v.target == 2 && v.max_force == 9);
    /* Of force, with control 0: nothing. */
    assert_int_equal(axis_of("<actuator><general joint='j' gainprm='5'/></actuator>").motor,
                     RG_MOTOR_NONE);
}

/* Its length is -2 q: limits change places. */
static void tendons_of_one_joint_are_its_own(void **state) {
    (void)state;
    rg_joint_axis a = axis_of("<tendon><fixed name='t' limited='true' range='-1 4' stiffness='5' "
                              "springlength='1' damping='0.1' frictionloss='0.3'>"
                              "<joint joint='j' coef='-2'/></fixed></tendon>");
    assert_near(a.lower, -2 - 0.5, 1e-15);
    assert_near(a.upper, 0.5 - 0.5, 1e-15);
    assert_near(a.stiffness, 20, 1e-15);
    assert_near(a.rest, -0.5 - 0.5, 1e-15);
    assert_near(a.damping, 0.4, 1e-15);
    assert_near(a.friction, 0.6, 1e-15);
}

static const char keys[] = HEAD
    "<body name='base'><freejoint/><geom size='0.2'/><body name='arm' pos='0 0 -0.3'>"
    "<joint name='x' axis='1 0 0'/><joint name='y' axis='0 1 0'/><joint name='z' axis='0 0 1'/>"
    "<geom type='capsule' size='0.05 0.2' pos='0 0 -0.3'/>"
    "<body name='hand' pos='0 0 -0.6'><joint type='slide' axis='0 0 1' ref='0.2'/>"
    "<joint type='ball'/><geom size='0.05'/></body></body></body></worldbody>"
    "<keyframe><key name='there' qpos='1 2 3 0.5 0.5 0.5 0.5 0.1 0.2 0.3 0.5 0.6 0.8 0 0'/>"
    "</keyframe></mujoco>";

static rg_quat about(double x, double y, double z, double angle) {
    double s = sin(angle / 2);
    return (rg_quat){x * s, y * s, z * s, cos(angle / 2)};
}

/* Forward kinematics, written out. */
static void keyframes_are_where_a_run_begins(void **state) {
    (void)state;
    const rg_scene_parameter parameter[] = {{"key", "there"}};
    rg_scene_options options = {.parameters = parameter, .parameter_count = 1};
    rg_scene *scene = read_with(keys, &options);
    rg_world *world = rg_scene_world(scene);
    rg_pose base = {{1, 2, 3}, {0.5, 0.5, 0.5, 0.5}};
    rg_quat xy = rg_quat_multiply(about(1, 0, 0, 0.1), about(0, 1, 0, 0.2)),
            xyz = rg_quat_multiply(xy, about(0, 0, 1, 0.3));
    rg_pose between = rg_pose_compose(base, (rg_pose){{0, 0, -0.3}, xy}),
            arm = rg_pose_compose(base, (rg_pose){{0, 0, -0.3}, xyz}),
            hand = rg_pose_compose(arm, (rg_pose){{0, 0, -0.6 + 0.3}, {0.8, 0, 0, 0.6}});
    const struct {
        const char *name;
        rg_pose pose;
    } bodies[] = {
        {"base", base}, {"arm:1", between}, {"arm", arm}, {"hand:1", arm}, {"hand", hand}};
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        rg_pose wanted = bodies[i].pose, pose = rg_body_pose(world, body_of(scene, bodies[i].name));
        rg_vec3 p = rg_pose_apply(pose, (rg_vec3){1, 2, 3}),
                q = rg_pose_apply(wanted, (rg_vec3){1, 2, 3});
        if (i != 3) /* its place between slide and ball is that of the slide alone */
            assert_near(rg_length(rg_sub(p, q)), 0, 1e-14);
    }
    for (size_t i = 0; i < rg_world_joint_count(world); i++)
        assert_near(rg_joint_error(world, rg_world_joint_at(world, i)), 0, 1e-14);
    rg_scene_destroy(scene);
}

static void refuse(const char *text, const rg_scene_options *options, const char *message) {
    rg_scene *scene;
    rg_error error = {0};
    assert_true(rg_scene_read_text(text, strlen(text), "m", NULL, options, &scene, &error) !=
                RG_OK);
    assert_string_equal(error.text, message);
}

static void what_is_wrong_is_named(void **state) {
    (void)state;
    const rg_scene_parameter parameter[] = {{"key", "here"}};
    rg_scene_options options = {.parameters = parameter, .parameter_count = 1};
    refuse(keys, &options, "key: there is no keyframe \"here\"");
    refuse(PENDULUM "<keyframe><key name='here' qpos='1 2'/></keyframe></mujoco>", &options,
           "m:1:194: key: qpos has more than 1 numbers");
    refuse(PENDULUM "<tendon><fixed range='0 1'><joint joint='j' coef='1'/><joint joint='j' "
                    "coef='1'/></fixed></tendon></mujoco>",
           NULL,
           "m:1:192: fixed: a limit or spring of several joints together; --lenient leaves it out");
    refuse(PENDULUM "<actuator><general joint='j' biastype='affine' biasprm='0 1 0'/></actuator>"
                    "</mujoco>",
           NULL,
           "m:1:194: general: an actuator that drives away from its target; --lenient leaves it "
           "out");
}

#define INERTIAL                                                                                   \
    "<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/>"        \
    "</inertial>"
#define BALL "<collision><geometry><sphere radius='0.3'/></geometry></collision>"
#define HINGE(name, parent, child)                                                                 \
    "<joint name='" name "' type='continuous'><parent link='" parent "'/><child link='" child      \
    "'/><origin xyz='0 0 0.2'/></joint>"

/* Three balls 0.2 m apart: the first and the last overlap, and no joint holds them together. */
static const char crowded[] =
    "<robot><link name='a'>" BALL "</link><link name='b'>" INERTIAL
    "<collision><geometry><mesh filename='package://none/x.stl'/></geometry></collision></link>"
    "<link name='c'>" INERTIAL BALL "</link><link name='eye'/>" HINGE("j", "a", "b")
        HINGE("k", "b", "c") HINGE("l", "c", "eye") "</robot>";

static void lenient_reading_mends_robots(void **state) {
    (void)state;
    rg_scene_options options = {.lenient = true};
    rg_scene *scene = read_with(crowded, &options);
    const char *const words[] = {"there is no mesh package://none/x.stl",
                                 "link: it moves but has no mass",
                                 "link: contact with a, which it overlaps by 0.2 m as they are"};
    assert_int_equal(rg_scene_left_out_count(scene), 3);
    for (size_t i = 0; i < 3; i++)
        if (!strstr(rg_scene_left_out_at(scene, i), words[i]))
            fail_msg("%s instead of %s", rg_scene_left_out_at(scene, i), words[i]);
    run_scene(scene, 0.5);
    assert_true(isnan(rg_world_summary(rg_scene_world(scene)).certificate.max_penetration));
    rg_scene_destroy(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(actuators_are_their_bias),
        cmocka_unit_test(tendons_of_one_joint_are_its_own),
        cmocka_unit_test(keyframes_are_where_a_run_begins),
        cmocka_unit_test(what_is_wrong_is_named),
        cmocka_unit_test(lenient_reading_mends_robots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
