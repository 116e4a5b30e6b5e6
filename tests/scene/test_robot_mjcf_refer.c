/* What of MJCF refers to bodies and joints: actuators by their bias, tendons of joints, keyframes;
 * and what lenient reading makes of meshes that are not there and of links that overlap. */
#include "test_scene_support.h"

#include "rigor/math.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

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
}

/* All kinds share one set of defaults, in which each changes what is its own. */
static void actuators_have_the_defaults_of_all(void **state) {
    (void)state;
#define AXIS(defaults, actuator)                                                                   \
    axis_of("<default>" defaults "</default><actuator>" actuator "</actuator>")
    rg_joint_axis a = AXIS("<motor gear='2' forcerange='-5 5'/>", "<position joint='j' kp='3'/>");
    assert_true(a.motor == RG_MOTOR_POSITION && a.gain == 12 && a.max_force == 10);
    a = AXIS("<general gear='3' biastype='affine' gainprm='7' biasprm='0 -7 -2'/>",
             "<position joint='j'/>");
    assert_true(a.gain == 63 && a.gain_velocity == 18); /* kp is the gain, kv what is there */
    a = AXIS("<position kp='4' kv='1'/>", "<general joint='j'/>");
    assert_true(a.motor == RG_MOTOR_POSITION && a.gain == 4 && a.gain_velocity == 1);
    a = AXIS("<position kp='4' kv='1'/>", "<velocity joint='j'/>");
    assert_true(a.motor == RG_MOTOR_VELOCITY && a.gain == 4 && a.gain_velocity == 0);
    a = AXIS("<position kp='1'/><default class='c'><position kp='9'/></default>",
             "<position class='c' joint='j' kv='2'/>");
    assert_true(a.gain == 9 && a.gain_velocity == 2);
    a = AXIS("<general biastype='affine' biasprm='6 -3 -1' dyntype='integrator'/>",
             "<general joint='j' dyntype='none' biasprm='0'/>");
    assert_true(a.gain == 3 && a.gain_velocity == 1); /* of three numbers the first is its own */
    a = AXIS("<general gainprm='2 0 0 0 0 0 0 0 0 0' biastype='affine' biasprm='0 -2 0 0'/>",
             "<general joint='j'/>");
    assert_true(a.gain == 2);
}

/* The control is what of its range is nearest to 0; the force is at most that of the joint. */
static void actuators_keep_their_ranges(void **state) {
    (void)state;
#define ACTUATOR(text) axis_of("<actuator>" text "</actuator>")
    assert_near(ACTUATOR("<position joint='j' ctrlrange='1 2'/>").target, 1 - 0.5, 1e-15);
    assert_near(ACTUATOR("<position joint='j' ctrlrange='-2 -1'/>").target, -1 - 0.5, 1e-15);
    assert_near(ACTUATOR("<position joint='j' ctrlrange='1 2' ctrllimited='false'/>").target, -0.5,
                1e-15);
    assert_near(ACTUATOR("<velocity joint='j' kv='2' ctrlrange='3 4'/>").target, 3, 1e-15);
    assert_true(
        isinf(ACTUATOR("<position joint='j' forcerange='-3 3' forcelimited='false'/>").max_force));
    assert_true(ACTUATOR("<position joint='j' gear='2' forcerange='-3 3'/>").max_force == 6);
    assert_int_equal(ACTUATOR("<position joint='j' ctrlrange='1 2' kp='0' kv='1'/>").motor,
                     RG_MOTOR_VELOCITY);
    rg_scene *scene = read_scene(
        HEAD
        "<body name='a'><joint name='j' axis='0 1 0' range='1 3' actuatorfrcrange='-4 4'/>"
        "<geom size='0.1'/></body></worldbody><actuator><position joint='j' inheritrange='0.5' "
        "forcerange='-9 9'/></actuator></mujoco>");
    rg_joint_id joint;
    assert_int_equal(rg_world_find_joint(rg_scene_world(scene), "j", &joint), RG_OK);
    rg_joint_axis axis = rg_joint_get_def(rg_scene_world(scene), joint).axis[0];
    assert_near(axis.target, 1.5, 1e-15); /* half of 1 to 3, in its middle, is 1.5 to 2.5 */
    assert_true(axis.max_force == 4);
    rg_scene_destroy(scene);
}

/* Motors of force do nothing without a controller; lenient reading lists them one by one. */
static void motors_of_force_are_listed(void **state) {
    (void)state;
    static const char text[] =
        PENDULUM "\n<actuator>\n <motor joint='j' gear='5'/>\n <general joint='j' gainprm='5'/>\n"
                 " <motor joint='j' ctrlrange='1 2'/>\n</actuator></mujoco>";
    static const char *const words[] = {
        "test.yaml:3:2: motor: an actuator of force, which nothing controls: it makes none",
        "test.yaml:4:2: general: an actuator of force, which nothing controls: it makes none",
        "test.yaml:5:2: motor: an actuator whose force is always the same"};
    rg_scene_options options = {.lenient = true};
    rg_scene *scene = read_with(text, &options);
    assert_int_equal(rg_scene_left_out_count(scene), 3);
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(rg_scene_left_out_at(scene, i), words[i]);
    rg_scene_destroy(scene);
    rg_error error = {0};
    assert_int_equal(rg_scene_read_text(text, strlen(text), "m", NULL, NULL, &scene, &error),
                     RG_UNSUPPORTED);
    assert_string_equal(error.text,
                        "m:3:2: motor: an actuator of force, which nothing controls: it "
                        "makes none; --lenient leaves it out");
}

/* Of a tendon and an equality of their class, and of all of them. */
static void tendons_and_equalities_have_defaults(void **state) {
    (void)state;
    rg_joint_axis a = axis_of(
        "<default><tendon damping='0.25' range='-1 4'/><default class='c'><tendon stiffness='5' "
        "frictionloss='0.5' springlength='1'/></default></default><tendon><fixed class='c'>"
        "<joint joint='j' coef='-2'/></fixed></tendon>");
    assert_near(a.lower, -2 - 0.5, 1e-15);
    assert_true(a.stiffness == 20 && a.damping == 1 && a.friction == 1);
    assert_near(a.rest, -0.5 - 0.5, 1e-15);
    assert_true(isinf(axis_of("<default><equality active='false'/></default><equality><joint "
                              "joint1='j'/></equality>")
                          .upper));
    assert_true(axis_of("<default><equality active='false'/></default><equality><joint joint1='j' "
                        "active='true'/></equality>")
                    .upper == 0);
}

/* One class of meshes is in millimetres: their masses are 1e-9 of what they would be in metres. */
static void meshes_have_classes(void **state) {
    (void)state;
#define CUBE "vertex='0 0 0 1 0 0 0 1 0 0 0 1 1 1 0 1 0 1 0 1 1 1 1 1'/>"
    rg_scene *scene = read_scene(
        "<mujoco><default><mesh scale='2 2 2'/><default class='mm'><mesh scale='0.001 0.001 "
        "0.001'/>"
        "</default></default><asset><mesh name='a' class='mm' " CUBE "<mesh name='b' " CUBE
        "</asset><worldbody><body name='a'><freejoint/><geom type='mesh' mesh='a'/></body><body "
        "name='b'><freejoint/><geom type='mesh' mesh='b'/></body></worldbody></mujoco>");
    rg_world *world = rg_scene_world(scene);
    assert_near(rg_body_mass(world, body_of(scene, "a")).mass, 1e-6, 1e-20);
    assert_near(rg_body_mass(world, body_of(scene, "b")).mass, 8000, 1e-10);
    rg_scene_destroy(scene);
}

#define BALL_WITH(defaults, geom)                                                                  \
    "<mujoco><default>" defaults "</default><worldbody><body name='b'><freejoint/><geom " geom     \
    "/></body></worldbody></mujoco>"

static double mass_of(const char *text) {
    rg_scene *scene = read_scene(text);
    double mass = rg_body_mass(rg_scene_world(scene), body_of(scene, "b")).mass;
    rg_scene_destroy(scene);
    return mass;
}

/* The last element of a class counts, of several sections too; of vectors what is not given stays;
 * the nearest rotation. */
static void defaults_are_in_layers(void **state) {
    (void)state;
    assert_near(mass_of(BALL_WITH("<geom mass='1'/><geom mass='2'/>", "size='1'")), 2, 1e-15);
    assert_near(
        mass_of(BALL_WITH("<geom mass='1'/></default><default><geom mass='3'/>", "size='1'")), 3,
        1e-15);
    assert_near(mass_of(BALL_WITH("<geom type='box' size='1 2 3' density='1'/>", "size='0.5'")), 24,
                1e-13);
    assert_near(mass_of(BALL_WITH("<geom mass='1'/><default class='a'><geom mass='4'/><default "
                                  "class='b'><geom size='1'/></default></default>",
                                  "class='b'")),
                4, 1e-15);
    rg_scene *scene = read_scene(
        BALL_WITH("<geom quat='0.6 0 0 0.8'/>", "type='box' size='1 2 3' euler='0 0 0'"));
    rg_world *world = rg_scene_world(scene);
    rg_collider_def def =
        rg_collider_get_def(world, rg_body_collider_at(world, body_of(scene, "b"), 0));
    assert_near(def.pose.orientation.w, 1, 1e-15);
    rg_scene_destroy(scene);
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

/* By a tendon of length -2 q, with a gear of 3: as by the joint with a gear of -6. */
static void actuators_of_a_tendon_are_those_of_its_joint(void **state) {
    (void)state;
    rg_joint_axis t = axis_of(
                      "<tendon><fixed name='t'><joint joint='j' coef='-2'/></fixed></tendon>"
                      "<actuator><position tendon='t' kp='3' kv='2' gear='3'/></actuator>"),
                  j = axis_of("<actuator><position joint='j' kp='3' kv='2' gear='-6'/></actuator>");
    assert_int_equal(t.motor, RG_MOTOR_POSITION);
    assert_true(t.gain == 108 && t.gain == j.gain && t.gain_velocity == j.gain_velocity &&
                t.target == j.target);
}

#define SLIDE_OF(name, joint, x)                                                                   \
    "<body name='" name "' pos='" x " 0 2'><joint name='" joint "' type='slide'/>"                 \
    "<geom size='0.1'/></body>"

/* -2 q of the one and 4 q of the other keep their sum. */
static void equalities_of_tendons_are_gears(void **state) {
    (void)state;
#define PENDULUM_OF(name, joint, y)                                                                \
    "<body name='" name "' pos='0 " y " 2'><joint name='" joint "' axis='0 1 0.2' ref='0.5'/>"     \
    "<geom type='capsule' size='0.1 0.4' pos='0.3 0 -0.5'/></body>"
    rg_scene *scene = read_scene(HEAD PENDULUM_OF("a", "j", "0") PENDULUM_OF(
        "b", "k",
        "1") "</worldbody><tendon><fixed "
             "name='t'><joint joint='j' coef='-2'/><joint joint='k' coef='4'/></fixed></tendon>"
             "<equality><tendon tendon1='t'/></equality></mujoco>");
    rg_world *world = rg_scene_world(scene);
    run_scene(scene, 0.25);
    rg_joint_id j, k;
    assert_int_equal(rg_world_find_joint(world, "j", &j), RG_OK);
    assert_int_equal(rg_world_find_joint(world, "k", &k), RG_OK);
    double q = rg_joint_get_state(world, j).coordinate[0];
    assert_true(fabs(q) > 0.05);
    assert_near(q, 2 * rg_joint_get_state(world, k).coordinate[0], 1e-9);
    rg_scene_destroy(scene);
}

static rg_joint_def tendon_of(rg_scene *scene, const char *name) {
    rg_joint_id joint;
    assert_int_equal(rg_world_find_joint(rg_scene_world(scene), name, &joint), RG_OK);
    return rg_joint_get_def(rg_scene_world(scene), joint);
}

/* Length -2 q + 4 q' with both q = 0.5 where the links are drawn; as it is written, it is read, and
 * moves. */
static void tendons_of_several_joints(void **state) {
    (void)state;
    rg_scene *scene = read_scene(HEAD PENDULUM_OF("a", "j", "0") PENDULUM_OF(
        "b", "k",
        "1") "</worldbody><tendon><fixed name='t' range='0.5 1.4' stiffness='5' springlength='1.2' "
             "damping='0.1' frictionloss='0.3'><joint joint='j' coef='-2'/><joint joint='k' "
             "coef='4'/></fixed><fixed name='u' stiffness='1'><joint joint='j' coef='1'/><joint "
             "joint='k' coef='0.5'/></fixed></tendon><actuator><position tendon='t' kp='3' "
             "gear='2' "
             "forcerange='-8 8'/></actuator></mujoco>");
    rg_joint_def t = tendon_of(scene, "t");
    assert_int_equal(t.kind, RG_JOINT_TENDON);
    assert_int_equal(t.part_count, 2);
    assert_true(t.part[0].coefficient == -2 && t.part[1].coefficient == 4);
    assert_near(t.axis[0].lower, 0.5 - 1, 1e-15);
    assert_near(t.axis[0].upper, 1.4 - 1, 1e-15);
    assert_near(t.axis[0].rest, 0.2, 1e-15);
    assert_true(t.axis[0].stiffness == 5 && t.axis[0].damping == 0.1 && t.axis[0].friction == 0.3);
    assert_true(t.axis[0].motor == RG_MOTOR_POSITION && t.axis[0].gain == 12);
    assert_near(t.axis[0].target, -1, 1e-15);
    assert_near(t.axis[0].max_force, 16, 1e-15);
    assert_near(tendon_of(scene, "u").axis[0].rest, -0.75, 1e-15); /* q = q' = 0 */
    rg_robot_options options = {.format = RG_ROBOT_MJCF};
    rg_error error;
    char *text;
    size_t size;
    if (rg_scene_write_robot(scene, &options, NULL, &text, &size, &error))
        fail_msg("%s", error.text);
    rg_scene *again = read_scene(text);
    free(text);
    run_scene(scene, 1);
    run_scene(again, 1);
    double turned = rg_body_pose(rg_scene_world(scene), body_of(scene, "a")).orientation.y;
    assert_true(fabs(turned) > 1e-3);
    assert_near(rg_body_pose(rg_scene_world(again), body_of(again, "a")).orientation.y, turned,
                1e-12);
    rg_scene_destroy(scene);
    rg_scene_destroy(again);
}

/* Hinges across each other, which no gear couples; and three at once. */
static void equalities_of_others_are_tendons(void **state) {
    (void)state;
    rg_scene *scene = read_scene(HEAD PENDULUM_OF("a", "j", "0") PENDULUM_OF(
        "b", "k",
        "1") "<body name='c' pos='0 3 2'><joint name='l' axis='1 0 0'/><geom size='0.2' pos='0 "
             "0.5 0'/></body></worldbody><tendon><fixed name='t'><joint joint='j' coef='1'/><joint "
             "joint='k' coef='1'/><joint joint='l' coef='-3'/></fixed></tendon><equality><joint "
             "joint1='k' joint2='l' polycoef='0 0.5'/><tendon tendon1='t'/></equality></mujoco>");
    rg_world *world = rg_scene_world(scene);
    run_scene(scene, 0.25);
    double q[3];
    const char *const names[3] = {"j", "k", "l"};
    for (int i = 0; i < 3; i++) {
        rg_joint_id joint;
        assert_int_equal(rg_world_find_joint(world, names[i], &joint), RG_OK);
        q[i] = rg_joint_get_state(world, joint).coordinate[0];
    }
    assert_true(fabs(q[2]) > 0.02);
    assert_near(q[1], 0.5 * q[2], 1e-9);
    assert_near(q[0] + q[1], 3 * q[2], 1e-9);
    rg_scene_destroy(scene);
}

/* Two slides, of which the second goes up half as far as the first falls; a joint that stands. */
static void equalities_of_joints_are_racks(void **state) {
    (void)state;
    rg_scene *scene = read_scene(HEAD SLIDE_OF("a", "j", "0") SLIDE_OF("b", "k", "1") SLIDE_OF(
        "c", "l",
        "2") "</worldbody><equality><joint joint1='k' joint2='j' polycoef='0 -0.5 0 0 0'/>"
             "<joint joint1='l'/></equality></mujoco>");
    rg_world *world = rg_scene_world(scene);
    double before = rg_body_pose(world, body_of(scene, "a")).position.z;
    run_scene(scene, 0.25);
    double a = rg_body_pose(world, body_of(scene, "a")).position.z - before,
           b = rg_body_pose(world, body_of(scene, "b")).position.z - before,
           c = rg_body_pose(world, body_of(scene, "c")).position.z - before;
    assert_true(a < -0.05);
    assert_near(b, -0.5 * a, 1e-11);
    assert_near(c, 0, 1e-11);
    rg_scene_destroy(scene);
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
    refuse(PENDULUM "<tendon><fixed range='0 1'><joint joint='j' coef='1'/><joint joint='k' "
                    "coef='1'/></fixed></tendon></mujoco>",
           NULL, "m:1:238: joint: needs a hinge or slide, and coef");
    refuse(PENDULUM "<tendon><fixed stiffness='2' springlength='1 2'><joint joint='j' coef='1'/>"
                    "<joint joint='j' coef='1'/></fixed></tendon></mujoco>",
           NULL,
           "m:1:192: fixed: a spring that is slack over a range of lengths; --lenient leaves it "
           "out");
    refuse(HEAD
           "<body><joint name='j' actuatorfrcrange='-1 1'/><geom size='1'/><body><joint "
           "name='k'/><geom size='1'/></body></body></worldbody><tendon><fixed name='t'><joint "
           "joint='j' coef='1'/><joint joint='k' coef='1'/></fixed></tendon><actuator>"
           "<position tendon='t'/></actuator></mujoco>",
           NULL,
           "m:1:52: joint: the largest force that tendons of several joints make; --lenient leaves "
           "it out");
    refuse(PENDULUM "<actuator><position tendon='t'/></actuator></mujoco>", NULL,
           "m:1:194: position: an actuator of a tendon that is not fixed; --lenient leaves it out");
    refuse(PENDULUM "<equality><joint joint1='j' joint2='j' polycoef='0 1 2'/></equality></mujoco>",
           NULL,
           "m:1:194: joint: an equality that is not linear or has an offset; --lenient leaves it "
           "out");
    refuse(PENDULUM "<equality><joint joint1='j' joint2='k'/></equality></mujoco>", NULL,
           "m:1:194: joint: needs hinges or slides with names");
    refuse(PENDULUM "<equality><tendon tendon1='t'/></equality></mujoco>", NULL,
           "m:1:194: tendon: an equality of other than a fixed tendon; --lenient leaves it out");
    refuse(PENDULUM "<equality><joint joint1='j' joint2='j'/></equality></mujoco>", NULL,
           "m:1:194: joint: joints that move together but are not two hinges or slides; --lenient "
           "leaves it out");
    refuse(PENDULUM "<equality><weld body1='a'/></equality></mujoco>", NULL,
           "m:1:194: weld: not understood; --lenient leaves it out");
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
        cmocka_unit_test(actuators_have_the_defaults_of_all),
        cmocka_unit_test(actuators_keep_their_ranges),
        cmocka_unit_test(motors_of_force_are_listed),
        cmocka_unit_test(tendons_and_equalities_have_defaults),
        cmocka_unit_test(meshes_have_classes),
        cmocka_unit_test(defaults_are_in_layers),
        cmocka_unit_test(tendons_of_one_joint_are_its_own),
        cmocka_unit_test(actuators_of_a_tendon_are_those_of_its_joint),
        cmocka_unit_test(equalities_of_joints_are_racks),
        cmocka_unit_test(equalities_of_tendons_are_gears),
        cmocka_unit_test(tendons_of_several_joints),
        cmocka_unit_test(equalities_of_others_are_tendons),
        cmocka_unit_test(keyframes_are_where_a_run_begins),
        cmocka_unit_test(what_is_wrong_is_named),
        cmocka_unit_test(lenient_reading_mends_robots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
