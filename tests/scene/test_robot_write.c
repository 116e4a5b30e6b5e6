/* Scenes written as robot descriptions and read again: masses, places and motion stay, and what a
 * format cannot hold is named. */
#include "test_scene_support.h"

#include "rigor/math.h"

#include <math.h>
#include <stdlib.h>

/* Numbers of the description are exact; angles of URDF and inertia about other axes round. */
#define ROUNDING 1e-12
/* How much farther from the scene what was written and read may get than a twin of the scene whose
 * bodies are ROUNDING apart at the beginning: how fast the motion parts neighbours is measured, not
 * guessed (measured: at most 2.8 times as far in two seconds). */
#define PARTING 10

static char *write_robot(rg_scene *scene, rg_robot_format format, bool lenient) {
    rg_robot_options options = {format, lenient};
    rg_error error = {0};
    char *text;
    size_t size;
    if (rg_scene_write_robot(scene, &options, NULL, &text, &size, &error) != RG_OK)
        fail_msg("%s", error.text);
    assert_int_equal(strlen(text), size);
    return text;
}

/* The largest distance of a centre of mass, or of a vector of the body, from the other scene's. */
static double distance_of(rg_scene *a, rg_scene *b) {
    rg_world *one = rg_scene_world(a), *two = rg_scene_world(b);
    double most = -1;
    for (size_t i = 0; i < rg_world_body_count(one); i++) {
        rg_body_id body = rg_world_body_at(one, i);
        if (rg_body_motion(one, body) != RG_MOTION_DYNAMIC)
            continue;
        rg_body_id same = body_of(b, rg_body_name(one, body));
        rg_vec3 p = rg_pose_apply(rg_body_pose(one, body), rg_body_mass(one, body).centre),
                q = rg_pose_apply(rg_body_pose(two, same), rg_body_mass(two, same).centre);
        rg_vec3 x = rg_rotate(rg_body_pose(one, body).orientation, (rg_vec3){1, 2, 3}),
                y = rg_rotate(rg_body_pose(two, same).orientation, (rg_vec3){1, 2, 3});
        most = fmax(most, fmax(rg_length(rg_sub(p, q)), rg_length(rg_sub(x, y))));
    }
    assert_true(most >= 0);
    return most;
}

static void compare_bodies(rg_scene *a, rg_scene *b) {
    rg_world *one = rg_scene_world(a), *two = rg_scene_world(b);
    for (size_t i = 0; i < rg_world_body_count(one); i++) {
        rg_body_id body = rg_world_body_at(one, i);
        if (rg_body_motion(one, body) != RG_MOTION_DYNAMIC)
            continue;
        rg_body_id same = body_of(b, rg_body_name(one, body));
        rg_mass_properties m = rg_body_mass(one, body), n = rg_body_mass(two, same);
        assert_near(n.mass, m.mass, ROUNDING * m.mass);
        for (int k = 0; k < 9; k++)
            assert_near(n.inertia.m[k / 3][k % 3], m.inertia.m[k / 3][k % 3],
                        ROUNDING * (m.inertia.m[0][0] + m.inertia.m[1][1] + m.inertia.m[2][2]));
    }
    assert_near(distance_of(a, b), 0, ROUNDING);
}

/* Every dynamic body ROUNDING away, in directions that differ. */
static void disturb(rg_scene *scene) {
    rg_world *world = rg_scene_world(scene);
    for (size_t i = 0; i < rg_world_body_count(world); i++) {
        rg_body_id body = rg_world_body_at(world, i);
        rg_pose pose = rg_body_pose(world, body);
        if (rg_body_motion(world, body) != RG_MOTION_DYNAMIC)
            continue;
        pose.position.x += i % 2 ? ROUNDING : -ROUNDING;
        pose.position.y += i % 3 ? ROUNDING : -ROUNDING;
        pose.position.z += i % 5 ? ROUNDING : -ROUNDING;
        assert_int_equal(rg_body_set_pose(world, body, pose), RG_OK);
    }
}

typedef rg_scene *maker(const char *what);

static rg_scene *read_text(const char *text) {
    return read_scene(text);
}

static rg_scene *open_named(const char *name) {
    return open_scene(name);
}

/* Two seconds of a scene, of its twin, and of what was written of it and read. */
static void compare_motion(const char *name, rg_scene *scene, rg_scene *twin, rg_scene *again) {
    double parted = ROUNDING, worst = 0;
    disturb(twin);
    for (int i = 0; i < 10; i++) {
        run_scene(scene, 0.2);
        run_scene(twin, 0.2);
        run_scene(again, 0.2);
        parted = fmax(parted, distance_of(scene, twin));
        double apart = distance_of(scene, again);
        worst = fmax(worst, apart / parted);
        if (apart > PARTING * parted)
            fail_msg("%s is %g off, the twin %g", name, apart, parted);
    }
    print_message("%s: %.2g of the twin's distance\n", name, worst);
}

/* `like` moves as `what` does, with joints in the order that a tree has: a hinge between A and B is
 * not to the last bit one between B and A. */
static void check_round_trip(maker *make, const char *what, const char *like,
                             rg_robot_format format) {
    rg_scene *scene = make(what), *model = make(like), *twin = make(like);
    char *text = write_robot(scene, format, false);
    rg_scene *again = read_scene(text), *second;
    char *twice = write_robot(again, format, false);
    compare_bodies(scene, again);
    second = read_scene(twice); /* what was read can be written as well */
    compare_bodies(again, second);
    compare_motion(rg_scene_name(scene), model, twin, again);
    rg_scene *const all[] = {scene, model, twin, again, second};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        rg_scene_destroy(all[i]);
    free(text);
    free(twice);
}

static const char everything[] =
    "rigor: 1\n"
    "gravity: [0.3, 0, -9.7]\n"
    "method: {name: stepping, step: 1/500}\n"
    "materials: {default: {friction: 0.4}}\n"
    "bodies:\n"
    "  - {name: floor, motion: fixed, shape: {halfspace: {normal: [0, 0.1, 1], offset: -0.5}}}\n"
    "  - {name: post, motion: fixed, shape: {box: [0.1, 0.1, 1]}, position: [0, 9, 0.5]}\n"
    "  - {name: arm, shape: {box: [0.8, 0.1, 0.2]}, density: 700, position: [0.4, 0, 3],\n"
    "     orientation: {axis: [1, 2, 3], degrees: 20}}\n"
    "  - {name: tip, shape: {capsule: {radius: 0.05, length: 0.3}}, position: [0.9, 0.3, 3]}\n"
    "  - {name: cart, shape: {cylinder: {radius: 0.2, height: 0.3}}, position: [4, 0, 2]}\n"
    "  - {name: bob, shape: {ellipsoid: [0.1, 0.2, 0.3]}, position: [4, 0.5, 1.5]}\n"
    "  - {name: drill, shape: {sphere: 0.2}, position: [7, 0, 2]}\n"
    "  - {name: puck, shape: {box: [0.3, 0.2, 0.1]}, position: [9, 0, 2]}\n"
    "  - {name: flag, shape: {box: [0.3, 0.2, 0.1]}, position: [9.35, 0, 2]}\n"
    "  - {name: tied, shape: {sphere: 0.1}, position: [9, 3, 2]}\n"
    "  - {name: stone, shape: {hull: [[0, 0, 0], [0.4, 0, 0], [0, 0.3, 0], [0, 0, 0.2]]},\n"
    "     position: [-3, 0, 0.2]}\n"
    "joints:\n"
    "  - {kind: hinge, name: shoulder, bodies: [world, arm], point: [0, 0, 3], axis: [0, 1, 0.2],\n"
    "     axes: {lower: -1, upper: 0.7, stiffness: 20, rest: 0.1, damping: 0.3, armature: 0.01,\n"
    "            friction: 0.2, motor: {position: 0, gain: 30, gain_velocity: 2, max_force: 5}}}\n"
    "  - {kind: universal, name: wrist, bodies: [arm, tip], point: [0.8, 0.1, 3]}\n"
    "  - {kind: slider, name: rail, bodies: [cart, world], point: [4, 0, 2], axis: [1, 0, 0.4],\n"
    "     axes: {lower: -0.5, upper: 0.5, motor: {velocity: 0, gain: 3}}}\n"
    "  - {kind: ball, bodies: [cart, bob], point: [4, 0.2, 1.8]}\n"
    "  - {kind: cylindrical, name: feed, bodies: [world, drill], point: [7, 0.1, 2],\n"
    "     axis: [1, 0, 1]}\n"
    "  - {kind: planar, name: table, bodies: [world, puck], point: [9, 0, 2], axis: [0.2, 0, 1]}\n"
    "  - {kind: hinge, name: mast, bodies: [puck, flag], frame_a: {position: [0.2, 0, 0]},\n"
    "     frame_b: {position: [-0.15, 0, 0], orientation: {axis: [0, 0, 1], degrees: -30}},\n"
    "     axes: {lower: -1, upper: 1, damping: 0.01}}\n"
    "  - {kind: distance, name: rope, bodies: [tied, world], frame_b: {position: [9, 2, 2]},\n"
    "     axes: {upper: 1.05}, collide: true}\n";

static void mjcf_holds_trees_of_all_joints(void **state) {
    (void)state;
    static const char *const scenes[] = {"double-pendulum", "chain", "pyramid", "tower"};
    check_round_trip(read_text, everything, everything, RG_ROBOT_MJCF);
    for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; i++)
        check_round_trip(open_named, scenes[i], scenes[i], RG_ROBOT_MJCF);
}

/* A joint that slides and does not turn is two of MJCF; a motor of its turn has nothing to turn,
 * also where the joint before it has all three. */
static void mjcf_has_no_motor_without_a_joint(void **state) {
    (void)state;
    rg_scene *scene =
        read_text("rigor: 1\nbodies:\n"
                  "  - {name: a, shape: {sphere: 0.1}, position: [0, 0, 1]}\n"
                  "  - {name: b, shape: {sphere: 0.1}, position: [0, 0, 2]}\n"
                  "joints:\n"
                  "  - {kind: planar, name: free, bodies: [world, a], point: [0, 0, 1],\n"
                  "     axes: [{}, {}, {motor: {velocity: 1, gain: 2}}]}\n"
                  "  - {kind: planar, name: stiff, bodies: [world, b], point: [0, 0, 2],\n"
                  "     axes: [{}, {motor: {velocity: 1, gain: 2}},\n"
                  "            {lower: 0, upper: 0, motor: {velocity: 1, gain: 2}}]}\n");
    char *text = write_robot(scene, RG_ROBOT_MJCF, false);
    size_t motors = 0;
    for (const char *at = text; (at = strstr(at, "<general")) != NULL; at++)
        motors++;
    assert_int_equal(motors, 2);
    free(text);
    rg_scene_destroy(scene);
}

/* An arm on a table, a cart and a ball, with bodies and axes of two of its joints. */
#define ARM(elbow, rail)                                                                           \
    "rigor: 1\n"                                                                                   \
    "materials: {default: {friction: 0.4}}\n"                                                      \
    "bodies:\n"                                                                                    \
    "  - {name: table, motion: fixed, shape: {box: [4, 4, 1]}, position: [0, 0, -0.5]}\n"          \
    "  - {name: upper, shape: {box: [0.8, 0.1, 0.2]}, density: 700, position: [0.4, 0, 3],\n"      \
    "     orientation: {axis: [1, 2, 3], degrees: 20}}\n"                                          \
    "  - {name: lower, shape: {capsule: {radius: 0.05, length: 0.3}}, position: [0.9, 0.3, 3]}\n"  \
    "  - {name: cart, shape: {cylinder: {radius: 0.2, height: 0.3}}, position: [4, 0, 2]}\n"       \
    "  - {name: ball, shape: {sphere: 0.2}, position: [0, 1.5, 0.3]}\n"                            \
    "joints:\n"                                                                                    \
    "  - {kind: hinge, name: shoulder, bodies: [world, upper], point: [0, 0, 3],\n"                \
    "     axis: [0, 1, 0.2], axes: {lower: -1, upper: 0.7, damping: 0.3, friction: 0.2}}\n"        \
    "  - {kind: hinge, name: elbow, " elbow ", point: [0.8, 0.1, 3]}\n"                            \
    "  - {kind: slider, name: rail, " rail ", point: [4, 0, 2],\n"                                 \
    "     axes: {lower: -0.5, upper: 0.5}}\n"

static const char arm[] =
    ARM("bodies: [lower, upper], axis: [0.3, 1, 0]", "bodies: [cart, world], axis: [1, 0, 0.4]");
static const char arm_as_tree[] = ARM("bodies: [upper, lower], axis: [-0.3, -1, 0]",
                                      "bodies: [world, cart], axis: [-1, 0, -0.4]");

static void urdf_holds_hinges_and_sliders(void **state) {
    (void)state;
    check_round_trip(read_text, arm, arm_as_tree, RG_ROBOT_URDF);
}

/* What SDF has besides: balls, universals, springs, one limit, bodies without weight. A joint with
 * the name of a body has another there. */
static const char hanging[] =
    "rigor: 1\n"
    "gravity: [0.3, 0, -9.7]\n"
    "method: {name: stepping, step: 1/500}\n"
    "materials: {default: {friction: 0.4}, ice: {friction: 0.1}}\n"
    "pairs: [{between: [default, ice], friction: 0.1}]\n"
    "bodies:\n"
    "  - {name: floor, motion: fixed, shape: {halfspace: {normal: [0, 0.1, 1], offset: -0.5}}}\n"
    "  - {name: post, motion: fixed, shape: {box: [0.1, 0.1, 1]}, position: [0, 9, 0.5]}\n"
    "  - {name: pier, motion: fixed, shape: {box: [0.1, 0.1, 1]}, position: [0, 0, 3]}\n"
    "  - {name: arm, shape: {box: [0.8, 0.1, 0.2]}, density: 700, position: [0.6, 0, 3],\n"
    "     orientation: {axis: [1, 2, 3], degrees: 20}}\n"
    "  - {name: tip, shape: {capsule: {radius: 0.05, length: 0.3}}, position: [1.1, 0.3, 3]}\n"
    "  - {name: bob, shape: {ellipsoid: [0.1, 0.2, 0.3]}, position: [4, 0.5, 1.5]}\n"
    "  - {name: kite, shape: {sphere: 0.2}, position: [7, 0, 2], gravity_scale: 0}\n"
    "  - {name: puck, shape: {cylinder: {radius: 0.2, height: 0.3}}, position: [-3, 0, 0.4],\n"
    "     material: ice}\n"
    "joints:\n"
    "  - {kind: hinge, name: shoulder, bodies: [pier, arm], point: [0.2, 0, 3], axis: [0, 1, "
    "0.2],\n"
    "     axes: {lower: -1, stiffness: 20, rest: 0.1, damping: 0.3, friction: 0.2}}\n"
    "  - {kind: universal, name: wrist, bodies: [arm, tip], point: [1, 0.1, 3]}\n"
    "  - {kind: ball, name: bob, bodies: [world, bob], point: [4, 0.2, 1.8]}\n";

static void sdf_holds_springs_and_balls(void **state) {
    (void)state;
    check_round_trip(read_text, arm, arm_as_tree, RG_ROBOT_SDF);
    check_round_trip(read_text, hanging, hanging, RG_ROBOT_SDF);
    check_round_trip(open_named, "chain", "chain", RG_ROBOT_SDF);
}

/* Numbers are written with all their digits, and bodies without joints have their poses as they
 * are: not one bit of the motion changes. Of what hangs, the places are products of those of the
 * joints, which round. */
static void bits_of_free_bodies_stay(void **state) {
    (void)state;
    static const char *const scenes[] = {"pyramid", "tower", "card-castle"};
    static const rg_robot_format formats[] = {RG_ROBOT_MJCF, RG_ROBOT_SDF};
    for (size_t i = 0; i < 6; i++) {
        rg_scene *scene = open_scene(scenes[i / 2]);
        char *text = write_robot(scene, formats[i % 2], false);
        rg_scene *again = read_scene(text);
        run_scene(scene, 0.25);
        run_scene(again, 0.25);
        assert_true(rg_world_state_hash(rg_scene_world(scene)) ==
                    rg_world_state_hash(rg_scene_world(again)));
        rg_scene_destroy(scene);
        rg_scene_destroy(again);
        free(text);
    }
}

/* What is refused, and what is listed when it may be left out. */
static void what_cannot_be_held_is_named(void **state) {
    (void)state;
    static const struct {
        const char *scene, *words;
        rg_robot_format format;
    } cases[] = {
        {"bodies:\n  - {name: a, shape: {cone: {radius: 1, height: 1}}}\n",
         "body a: a shape of kind cone: MJCF cannot hold it; --lenient leaves it out",
         RG_ROBOT_MJCF},
        {"bodies:\n  - {name: a, shape: {sphere: 1}, velocity: [1, 0, 0]}\n",
         "body a: its velocity: URDF cannot hold it; --lenient leaves it out", RG_ROBOT_URDF},
        {"bodies:\n  - {name: a, shape: {ellipsoid: [1, 2, 3]}}\n", "a shape of kind ellipsoid",
         RG_ROBOT_URDF},
        {"gravity: [0, 0, -1]\nbodies:\n  - {name: a, shape: {sphere: 1}}\n", "gravity other",
         RG_ROBOT_URDF},
        {"materials: {default: {restitution: 0.5}}\nbodies:\n  - {name: a, shape: {sphere: 1}}\n",
         "material default: restitution", RG_ROBOT_MJCF},
        {"bodies:\n  - {name: a, shape: {sphere: 1}}\nforces:\n  - {kind: constant, body: a, "
         "force: [1, 0, 0]}\n",
         "force 0", RG_ROBOT_MJCF},
        {"bodies:\n  - {name: a, shape: {sphere: 1}}\njoints:\n  - {kind: ball, name: j, bodies: "
         "[world, a], point: [0, 0, 0]}\n",
         "joint j: the kind ball", RG_ROBOT_URDF},
        {"bodies:\n  - {name: a, shape: {sphere: 1}}\njoints:\n  - {kind: hinge, name: j, bodies: "
         "[world, a], point: [0, 0, 0]}\n  - {kind: hinge, name: k, bodies: [world, a], point: "
         "[0, 0, 1]}\n",
         "joint k (hinge): it closes a loop", RG_ROBOT_MJCF},
        {"bodies:\n  - {name: a, shape: {sphere: 1}}\njoints:\n  - {kind: planar, name: j, bodies: "
         "[world, a], point: [0, 0, 0]}\n",
         "joint j: the kind planar: SDF cannot hold it", RG_ROBOT_SDF},
        {"bodies:\n  - {name: 'a::b', shape: {sphere: 1}}\n",
         "body a::b: a name with ::", RG_ROBOT_SDF},
        {"materials: {default: {friction: 0.4}, ice: {friction: 0.1}}\npairs: [{between: "
         "[default, ice], friction: 0.4}]\nbodies:\n  - {name: a, shape: {sphere: 1}}\n"
         "  - {name: b, shape: {sphere: 1}, material: ice, position: [9, 0, 0]}\n",
         "a friction of their pair other than the smaller one", RG_ROBOT_SDF},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        rg_scene *scene = read_scene(cases[i].scene);
        rg_robot_options strict = {cases[i].format, false};
        rg_error error = {0};
        char *text;
        size_t size;
        assert_int_equal(rg_scene_write_robot(scene, &strict, NULL, &text, &size, &error),
                         RG_UNSUPPORTED);
        assert_null(text);
        if (!strstr(error.text, cases[i].words))
            fail_msg("\"%s\" instead of \"%s\"", error.text, cases[i].words);
        assert_int_equal(rg_scene_left_out_count(scene), 0);
        text = write_robot(scene, cases[i].format, true);
        assert_true(rg_scene_left_out_count(scene) >= 1);
        rg_scene_destroy(scene);
        scene = read_scene(text); /* the rest is a robot */
        rg_scene_destroy(scene);
        free(text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mjcf_holds_trees_of_all_joints),
        cmocka_unit_test(mjcf_has_no_motor_without_a_joint),
        cmocka_unit_test(urdf_holds_hinges_and_sliders),
        cmocka_unit_test(sdf_holds_springs_and_balls),
        cmocka_unit_test(bits_of_free_bodies_stay),
        cmocka_unit_test(what_cannot_be_held_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
