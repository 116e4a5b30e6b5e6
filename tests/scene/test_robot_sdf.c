/* SDF: worlds of models with frames, joints and includes; what is refused, with its exact words.
 * Scenes written as SDF and read again are compared in test_robot_write.c. */
#include "test_scene_support.h"

#include "rigor/math.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static rg_joint_def joint_of(rg_scene *scene, const char *name) {
    rg_joint_id joint;
    if (rg_world_find_joint(rg_scene_world(scene), name, &joint) != RG_OK)
        fail_msg("there is no joint \"%s\"", name);
    return rg_joint_get_def(rg_scene_world(scene), joint);
}

/* m: of products of cosines, which are not 0 at right angles. */
#define ROUNDING 1e-14

static void assert_at(rg_scene *scene, const char *name, double x, double y, double z) {
    rg_vec3 p = rg_body_pose(rg_scene_world(scene), body_of(scene, name)).position;
    assert_near(rg_length(rg_sub(p, (rg_vec3){x, y, z})), 0, ROUNDING);
}

/* The gate is at (10, 0, 0) and looks along y; the crane stands 1 m in front of it. */
static void places_are_relative_to_frames(void **state) {
    (void)state;
    rg_scene *scene = open_scene(RIGOR_TEST_DATA "/robots/world.sdf");
    rg_world *world = rg_scene_world(scene);
    assert_near(rg_scene_step_size(scene), 0.002, 0);
    assert_int_equal(rg_world_body_count(world), 8);
    assert_at(scene, "tower", 10, 1, 2);
    assert_at(scene, "jib", 10, 1.5, 3);
    assert_at(scene, "hook", 10, 2, 2.5);
    assert_at(scene, "red::body", 0, 3, 0.1);
    assert_at(scene, "blue::load", 0, 6, 0.35);
    assert_int_equal(rg_body_motion(world, body_of(scene, "plane")), RG_MOTION_FIXED);
    assert_int_equal(rg_body_motion(world, body_of(scene, "tower")), RG_MOTION_FIXED);
    assert_near(rg_body_gravity_scale(world, body_of(scene, "hook")), 0, 0);
    rg_mass_properties mass = rg_body_mass(world, body_of(scene, "jib"));
    assert_near(mass.mass, 3, 0);
    assert_near(mass.inertia.m[0][0], 0.2, ROUNDING); /* turned by a right angle */
    assert_near(mass.inertia.m[1][1], 0.1, ROUNDING);
    mass = rg_body_mass(world, body_of(scene, "hook"));
    assert_true(mass.mass == 2 && mass.inertia.m[2][2] == 1); /* what SDF has by default */
    rg_scene_destroy(scene);
}

static void joints_have_limits_and_springs(void **state) {
    (void)state;
    rg_scene *scene = open_scene(RIGOR_TEST_DATA "/robots/world.sdf");
    rg_world *world = rg_scene_world(scene);
    rg_joint_def swing = joint_of(scene, "swing"), rope = joint_of(scene, "rope"),
                 rail = joint_of(scene, "red::rail");
    assert_int_equal(swing.kind, RG_JOINT_HINGE);
    const rg_joint_axis *a = &swing.axis[0];
    assert_true(a->lower == -1 && isinf(a->upper) && a->damping == 0.5 && a->friction == 0.25);
    assert_true(a->stiffness == 4 && a->rest == 0.125);
    assert_near(swing.frame_b.position.x, -0.5, ROUNDING); /* in the jib */
    assert_int_equal(rope.kind, RG_JOINT_UNIVERSAL);
    assert_int_equal(rail.kind, RG_JOINT_SLIDER);
    assert_true(rail.axis[0].lower == -0.2 && rail.axis[0].upper == 0.2);
    for (size_t i = 0; i < rg_world_joint_count(world); i++)
        assert_near(rg_joint_error(world, rg_world_joint_at(world, i)), 0, ROUNDING);
    run_scene(scene, 0.5);
    assert_true(rg_world_summary(world).passed_through == 0);
    rg_scene_destroy(scene);
}

#define BALL(name, at, mu)                                                                         \
    "<link name='" name "'><pose>" at " 0 0 0</pose><collision name='c'><geometry><sphere>"        \
    "<radius>0.3</radius></sphere></geometry><surface><friction><ode><mu>" mu "</mu><mu2>" mu      \
    "</mu2></ode></friction></surface></collision></link>"
#define MODEL(name, rest) "<model name='" name "'>" rest "</model>"

/* Links of a model pass through each other unless it says otherwise; of two surfaces, the smaller
 * coefficient of friction holds. */
static void models_meet_others(void **state) {
    (void)state;
    static const char text[] = "<sdf version='1.12'><world name='w'>" MODEL(
        "m", BALL("a", "0 0 0", "0.2") BALL("b", "1 0 0", "0.8"))
        MODEL("n", "<self_collide>1</self_collide>" BALL("c", "2 0 0", "0.8")
                       BALL("d", "3 0 0", "0.8")) "</world></sdf>";
    rg_scene *scene = read_scene(text);
    rg_world *world = rg_scene_world(scene);
    rg_collider_def c[4];
    for (size_t i = 0; i < 4; i++)
        c[i] =
            rg_collider_get_def(world, rg_body_collider_at(world, rg_world_body_at(world, i), 0));
    for (size_t i = 0; i < 4; i++)
        for (size_t k = 0; k < i; k++) {
            bool meet = (c[i].category & c[k].mask) && (c[k].category & c[i].mask);
            assert_int_equal(meet, i != 1 || k != 0);
        }
    assert_near(rg_world_pair_law(world, c[0].material, c[1].material).friction, 0.2, 0);
    assert_near(rg_world_pair_law(world, c[1].material, c[2].material).friction, 0.8, 0);
    rg_scene_destroy(scene);
}

/* Of version 1.4 axes are in the frame of the model, later in that of the joint; two axes that are
 * not at right angles are two joints. */
static void axes_are_those_of_the_version(void **state) {
    (void)state;
    for (int version = 4; version < 6; version++) {
        char text[1000];
        snprintf(text, sizeof text,
                 "<?xml version='1.0' encoding='ASCII'?><sdf version='1.%d'><model name='m'>"
                 "<link name='l'><pose>0 0 0 1.5707963267948966 0 0</pose></link>"
                 "<joint name='j' type='revolute2'><parent>world</parent><child>l</child>"
                 "<axis><xyz>0 0 1</xyz></axis><axis2><xyz>0 1 1</xyz></axis2></joint>"
                 "</model></sdf>",
                 version);
        rg_scene *scene = read_scene(text);
        rg_joint_def def = joint_of(scene, "j");
        rg_vec3 z = rg_rotate(def.frame_a.orientation, (rg_vec3){0, 0, 1});
        assert_near(z.z, version == 4, ROUNDING);
        assert_near(z.y, version == 4 ? 0 : -1, ROUNDING);
        assert_int_equal(joint_of(scene, "j:2").kind, RG_JOINT_HINGE);
        rg_scene_destroy(scene);
    }
}

/* ---- what is refused ---- */

#define WORLD(rest) "<sdf version='1.9'><world name='w'>" rest "</world></sdf>"
#define LINK(name)  "<link name='" name "'/>"
#define JOINT(name, type, parent, child, rest)                                                     \
    "<joint name='" name "' type='" type "'><parent>" parent "</parent><child>" child              \
    "</child>" rest "</joint>"

static const struct {
    const char *text, *message;
} refused[] = {
    {"<sdf version='1.3'/>", "m:1:1: sdf: version 1.4 is needed, or a later one"},
    {WORLD("<plugin name='wind'/>"), "m:1:36: plugin: not understood; --lenient leaves it out"},
    {WORLD("<gravity>0 0</gravity>"), "m:1:36: gravity: gravity needs 3 numbers, not 2"},
    {WORLD("<gravity>0 0 x</gravity>"), "m:1:36: gravity: gravity: \"x\" is not a number"},
    {WORLD("<gravity unit='m'>0 0 1</gravity>"),
     "m:1:36: gravity: the attribute unit is not understood; --lenient leaves it out"},
    {WORLD("<gravity>0 0 1e999</gravity>"), "m:1:36: gravity: gravity: a number is not finite"},
    {WORLD("<model name='a'>half a link</model>"),
     "m:1:36: model: its text is not understood; --lenient leaves it out"},
    {WORLD("<model/>"), "m:1:36: model: needs name"},
    {WORLD(MODEL("a", LINK("l") LINK("l"))),
     "m:1:68: link: \"l\" is the name of something else here already"},
    {WORLD(MODEL("a", "<link name='l'><pose relative_to='b'>0 0 0 0 0 0</pose></link>")),
     "m:1:67: pose: there is no frame \"b\""},
    {WORLD(MODEL("a", "<link name='l'><pose>0 0 0</pose></link>")),
     "m:1:67: pose: needs 6 numbers, not 3"},
    {WORLD(MODEL("a", "<link name='l'><pose rotation_format='quat_xyzw'>0 0 0 0 0 0 0</pose>"
                      "</link>")),
     "m:1:67: pose: a rotation of no length"},
    {WORLD(MODEL("a", "<frame name='f' attached_to='g'/><frame name='g' attached_to='f'/>"
                      "<link name='l'><pose relative_to='f'/></link>")),
     "m:1:52: frame: frames that are relative to each other in a circle, or in more than 100 "
     "steps"},
    {WORLD(MODEL("a", LINK("l") JOINT("j", "revolute", "l", "k", ""))),
     "m:1:68: joint: child: there is no link \"k\""},
    {WORLD(MODEL("a", LINK("l") LINK("k") JOINT("j", "screw", "l", "k", ""))),
     "m:1:84: joint: a joint of a type that is not read; --lenient leaves it out"},
    {WORLD(MODEL("a", LINK("l") LINK("k") JOINT("j", "revolute", "l", "k", ""))),
     "m:1:84: joint: needs axis"},
    {WORLD(MODEL("a", LINK("l") LINK("k") JOINT("i", "fixed", "l", "k", "")
                          JOINT("j", "fixed", "world", "k", ""))),
     "m:1:155: joint: a second joint of its child, which would close a loop; --lenient leaves it "
     "out"},
    {WORLD(MODEL("a", LINK("l") LINK("k") JOINT("i", "ball", "l", "k", "")
                          JOINT("j", "ball", "k", "l", ""))),
     "m:1:52: link: the link \"l\" hangs from itself"},
    {WORLD(MODEL("a", "<static>maybe</static>" LINK("l"))),
     "m:1:52: static: \"maybe\" is neither true nor false"},
    {WORLD("<include><uri>model://none</uri></include>"),
     "m:1:36: include: there is no model model://none, neither beside the file nor above; "
     "--lenient leaves it out"},
    {"<sdf version='1.9'><world name='v'/><world name='w'/></sdf>",
     "m:1:37: world: something beside the first world; --lenient leaves it out"},
    {"<!DOCTYPE sdf [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;&a;'>]><sdf version='&b;'/>",
     "m:1:15: a document type declaration (DTD) is not read; leave it out"},
};

static void bad_worlds_are_refused(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        rg_scene *scene;
        rg_error error = {0};
        rg_status status = rg_scene_read_text(refused[i].text, strlen(refused[i].text), "m",
                                              "/nonexistent", NULL, &scene, &error);
        if (status == RG_OK)
            fail_msg("read: %s", refused[i].text);
        assert_null(scene);
        assert_string_equal(error.text, refused[i].message);
    }
}

static void lenient_lists_what_it_leaves_out(void **state) {
    (void)state;
    rg_scene_options options = {.lenient = true};
    rg_scene *scene = read_with(
        WORLD("<plugin/>" MODEL("a", LINK("l") LINK("k") JOINT("j", "screw", "l", "k", ""))),
        &options);
    assert_int_equal(rg_scene_left_out_count(scene), 2);
    assert_non_null(strstr(rg_scene_left_out_at(scene, 0), "plugin: not understood"));
    assert_non_null(strstr(rg_scene_left_out_at(scene, 1), "joint: a joint of a type"));
    assert_int_equal(rg_world_joint_count(rg_scene_world(scene)), 0);
    rg_scene_destroy(scene);
}

static void endless_includes_are_refused(void **state) {
    (void)state;
    char folder[] = "/tmp/rigor-include-XXXXXX", path[100];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/model.sdf", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file,
            "<sdf version='1.9'><model name='m'><include><uri>%s</uri></include></model></sdf>",
            folder);
    fclose(file);
    rg_scene *scene;
    rg_error error = {0};
    assert_int_equal(rg_scene_read_file(path, NULL, &scene, &error), RG_LIMIT_EXCEEDED);
    assert_non_null(strstr(error.text, "include: includes are nested more than 8 deep"));
    unlink(path);
    rmdir(folder);
}

/* Eight files, each of which includes the next one, are read; nine are too many. */
static void includes_are_eight_deep(void **state) {
    (void)state;
    char top[] = "/tmp/rigor-deep-XXXXXX", folder[10][60], path[700];
    assert_non_null(mkdtemp(top));
    for (int i = 0; i < 10; i++) {
        snprintf(folder[i], sizeof folder[i], "%s/%d", top, i);
        assert_int_equal(mkdir(folder[i], 0700), 0);
        snprintf(path, sizeof path, "%s/model.sdf", folder[i]);
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fprintf(file, "<sdf version='1.9'><model name='m%d'><link name='l'/>", i);
        if (i > 0)
            fprintf(file, "<include><uri>%s</uri></include>", folder[i - 1]);
        fprintf(file, "</model></sdf>");
        fclose(file);
    }
    for (int depth = 8; depth < 10; depth++) {
        rg_scene *scene;
        rg_error error = {0};
        snprintf(path, sizeof path, "%s/model.sdf", folder[depth]);
        rg_status status = rg_scene_read_file(path, NULL, &scene, &error);
        if (status != (depth == 8 ? RG_OK : RG_LIMIT_EXCEEDED))
            fail_msg("%d deep: %s", depth, error.text);
        if (depth == 8)
            assert_int_equal(rg_world_body_count(rg_scene_world(scene)), 9);
        rg_scene_destroy(scene);
    }
    for (int i = 0; i < 10; i++) {
        snprintf(path, sizeof path, "%s/model.sdf", folder[i]);
        unlink(path);
        rmdir(folder[i]);
    }
    rmdir(top);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_are_relative_to_frames),
        cmocka_unit_test(joints_have_limits_and_springs),
        cmocka_unit_test(models_meet_others),
        cmocka_unit_test(axes_are_those_of_the_version),
        cmocka_unit_test(bad_worlds_are_refused),
        cmocka_unit_test(lenient_lists_what_it_leaves_out),
        cmocka_unit_test(endless_includes_are_refused),
        cmocka_unit_test(includes_are_eight_deep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
