/* The reader: defaults, every key, expressions, repeats, parameters, aliases, JSON, limits. */
#include "test_scene_support.h"

#include "rigor/impact.h"
#include "rigor/solver.h"

#include "scene/scene_reader.h"

#include <math.h>

static void defaults(void **state) {
    (void)state;
    rg_scene *scene = open_scene(GOOD_SCENES "defaults.yaml");
    rg_world *world = rg_scene_world(scene);
    assert_string_equal(rg_scene_name(scene), "defaults");
    assert_near(rg_scene_duration(scene), 10, 0);
    assert_near(rg_scene_record_every(scene), 1.0 / 60, 0);
    assert_false(rg_world_is_planar(world));
    assert_vector(rg_world_gravity(world), 0, 0, -9.81);
    assert_string_equal(rg_method_name(rg_world_method(world)), "stepping");
    assert_near(rg_scene_step_size(scene), 1.0 / 240, 0);
    assert_int_equal(rg_world_seed(world), 1);
    assert_int_equal(rg_world_body_count(world), 0);
    rg_scene_destroy(scene);
}

static void body_defaults(void **state) {
    (void)state;
    rg_scene *scene = read_scene("bodies: [{shape: {box: [1, 2, 3]}}]");
    rg_world *world = rg_scene_world(scene);
    rg_body_id body = rg_world_body_at(world, 0);
    assert_string_equal(rg_body_name(world, body), "");
    assert_int_equal(rg_body_motion(world, body), RG_MOTION_DYNAMIC);
    assert_near(rg_body_mass(world, body).mass, 6000, 1e-9);
    assert_vector(rg_body_pose(world, body).position, 0, 0, 0);
    assert_near(rg_body_pose(world, body).orientation.w, 1, 0);
    assert_near(rg_body_gravity_scale(world, body), 1, 0);
    rg_collider_def collider = rg_collider_get_def(world, rg_body_collider_at(world, body, 0));
    assert_true(collider.category == 1 && collider.mask == UINT64_MAX && !collider.sensor);
    rg_scene_destroy(scene);
}

static void every_setting(void **state) {
    (void)state;
    rg_scene *scene = open_scene(GOOD_SCENES "every-key.yaml");
    rg_world *world = rg_scene_world(scene);
    assert_string_equal(rg_scene_name(scene), "every key");
    assert_near(rg_scene_duration(scene), 2.5, 0);
    assert_near(rg_scene_record_every(scene), 0.05, 0);
    assert_vector(rg_world_gravity(world), 0.5, -0.25, -1.5);
    assert_true(rg_world_seed(world) == UINT64_MAX);
    assert_string_equal(rg_method_name(rg_world_method(world)), "stepping");
    rg_method_settings settings = rg_world_settings(world);
    assert_near(rg_scene_step_size(scene), 0.002, 0);
    assert_near(settings.tolerance, 1e-10, 0);
    assert_int_equal(settings.integrator, RG_INTEGRATOR_ADAMS);
    assert_int_equal(settings.root_finder, RG_ROOT_ILLINOIS);
    assert_near(settings.gamma, 0.75, 0);
    assert_true(settings.discrete_detection);
    assert_true(settings.hand_over);
    assert_int_equal(settings.contradictions, RG_NORM_ONE);
    assert_int_equal(settings.policy, RG_POLICY_LARGEST_FORCE);
    assert_int_equal(rg_world_collision_def(world).contacts.reduce_to, 6);
    assert_ptr_equal(settings.solver, rg_solver_find("gauss-seidel"));
    assert_near(settings.solver_tolerance, 1e-7, 0);
    assert_int_equal(settings.friction_directions, 12);
    assert_ptr_equal(settings.impact, rg_impact_law_find("energetic"));

    rg_material_id ice, rubber;
    assert_int_equal(rg_world_material_count(world), 3);
    assert_int_equal(rg_world_find_material(world, "ice", &ice), RG_OK);
    assert_int_equal(rg_world_find_material(world, "rubber", &rubber), RG_OK);
    rg_contact_law law = rg_world_material_law(world, (rg_material_id){0});
    assert_near(law.friction, 0.4, 0);
    assert_near(law.static_friction, 0, 0); /* the same */
    assert_near(law.restitution, 0.25, 0);
    law = rg_world_material_law(world, ice);
    assert_near(law.static_friction, 0.05, 0);
    assert_near(law.friction, 0.02, 0);
    assert_near(rg_world_material_law(world, rubber).friction, 0.9, 0);
    law = rg_world_pair_law(world, rubber, ice);
    assert_near(law.static_friction, 0.3, 0);
    assert_near(law.restitution, 0.75, 0);
    law = rg_world_pair_law(world, ice, ice);
    assert_near(law.friction, 0.03, 0);
    assert_near(law.restitution, 0.1, 0); /* left out: as without the entry */
    assert_null(law.impact);
    assert_null(rg_world_material_law(world, ice).impact);
    assert_ptr_equal(rg_world_pair_law(world, ice, rubber).impact, rg_impact_law_find("poisson"));
    assert_ptr_equal(rg_world_pair_law(world, rubber, (rg_material_id){0}).impact,
                     rg_impact_law_find("propagation"));
    rg_scene_destroy(scene);
}

static void every_body_key(void **state) {
    (void)state;
    rg_scene *scene = open_scene(GOOD_SCENES "every-key.yaml");
    rg_world *world = rg_scene_world(scene);
    assert_int_equal(rg_world_body_count(world), 9 + 3 + 6 + 2);

    rg_body_id brick = body_of(scene, "brick");
    rg_pose pose = rg_body_pose(world, brick);
    assert_vector(pose.position, 1, 2, 3);
    assert_near(pose.orientation.z, sin(0.25), 1e-15);
    assert_near(pose.orientation.w, cos(0.25), 1e-15);
    assert_vector(rg_body_velocity(world, brick), 0.1, 0.2, 0.3);
    assert_vector(rg_body_angular_velocity(world, brick), 0.4, 0.5, 0.6);
    assert_near(rg_body_mass(world, brick).mass, 800 * 0.125, 1e-12);
    assert_near(rg_body_gravity_scale(world, brick), 0.5, 0);
    rg_collider_def c = rg_collider_get_def(world, rg_body_collider_at(world, brick, 0));
    assert_string_equal(rg_world_material_name(world, c.material), "rubber");
    assert_true(c.category == 16 && c.mask == 6);

    rg_body_id heavy = body_of(scene, "heavy");
    assert_near(rg_body_mass(world, heavy).mass, 7, 0);
    assert_near(rg_body_mass(world, heavy).inertia.m[0][0], 0.4 * 7 * 0.0625, 1e-15);
    assert_near(rg_body_pose(world, heavy).orientation.x, 0.6, 0);

    rg_mass_properties given = rg_body_mass(world, body_of(scene, "given"));
    assert_near(given.mass, 2, 0);
    assert_near(given.inertia.m[0][1], 0.1, 0);
    assert_near(given.inertia.m[2][2], 0.7, 0);
    assert_vector(given.centre, 0.1, 0, 0);
    assert_near(rg_body_mass(world, body_of(scene, "point")).inertia.m[1][1], 1.5, 0);
    rg_scene_destroy(scene);
}

static void several_colliders(void **state) {
    (void)state;
    rg_scene *scene = open_scene(GOOD_SCENES "every-key.yaml");
    rg_world *world = rg_scene_world(scene);
    rg_body_id body = body_of(scene, "several");
    assert_int_equal(rg_body_collider_count(world, body), 3);
    rg_collider_def c[3];
    for (size_t i = 0; i < 3; i++)
        c[i] = rg_collider_get_def(world, rg_body_collider_at(world, body, i));
    assert_int_equal(rg_shape_get_kind(c[0].shape), RG_SHAPE_CAPSULE);
    assert_int_equal(rg_shape_get_kind(c[1].shape), RG_SHAPE_CONE);
    assert_vector(c[0].pose.position, 0, 0, 1);
    assert_near(c[0].pose.orientation.x, sin(3.14159265358979 / 8), 1e-14);
    assert_near(c[0].density, 250, 0);
    assert_near(c[1].density, 500, 0); /* the body's */
    assert_string_equal(rg_world_material_name(world, c[0].material), "rubber");
    assert_string_equal(rg_world_material_name(world, c[1].material), "ice");
    assert_true(c[1].category == 4 && c[2].sensor && !c[1].sensor);
    /* The sensor weighs nothing. */
    double capsule = 3.14159265358979 * 0.04 * (0.6 + 4.0 / 3 * 0.2);
    double cone = 3.14159265358979 * 0.09 * 0.8 / 3;
    assert_near(rg_body_mass(world, body).mass, 250 * capsule + 500 * cone, 1e-10);
    rg_scene_destroy(scene);
}

static void kinematic_bodies(void **state) {
    (void)state;
    rg_scene *scene = open_scene(GOOD_SCENES "every-key.yaml");
    rg_world *world = rg_scene_world(scene);
    rg_prescription p = rg_body_prescription(world, body_of(scene, "slider"));
    assert_int_equal(p.kind, RG_PRESCRIBED_VELOCITY);
    assert_vector(rg_body_velocity(world, body_of(scene, "slider")), 1, 0, 0);
    p = rg_body_prescription(world, body_of(scene, "shaker"));
    assert_int_equal(p.kind, RG_PRESCRIBED_OSCILLATION);
    assert_vector(p.amplitude, 0, 0, 0.5);
    assert_vector(p.rotation_amplitude, 0.25, 0, 0);
    assert_near(p.frequency, 2, 0);
    assert_near(p.phase, 0.75, 0);
    p = rg_body_prescription(world, body_of(scene, "mover"));
    assert_int_equal(p.kind, RG_PRESCRIBED_OF_TIME);
    assert_string_equal(p.of_time[0], "0.5*sin(2*t)");
    assert_null(p.of_time[1]);
    assert_near(p.amplitude.y, 0.25, 0);
    assert_string_equal(p.of_time[2], "spline(t, 0, 0, 1, (0.5), 3, 0)");
    assert_null(p.of_time[3]);
    assert_vector(rg_body_pose(world, body_of(scene, "mover")).position, 0, 50.25, 0);
    assert_vector(rg_body_velocity(world, body_of(scene, "mover")), 1, 0, 0);
    rg_scene_destroy(scene);
}

static void repeats(void **state) {
    (void)state;
    rg_scene *scene = open_scene(GOOD_SCENES "every-key.yaml");
    rg_world *world = rg_scene_world(scene);
    for (int i = 0; i < 3; i++) {
        char name[] = "row?";
        name[3] = (char)('0' + i);
        assert_vector(rg_body_pose(world, body_of(scene, name)).position, 0.5 * i, 0, 4);
    }
    assert_vector(rg_body_pose(world, body_of(scene, "grid2-1")).position, 10, 40, 0);
    /* The first variable is the outermost loop. */
    size_t first = rg_body_index(world, body_of(scene, "grid0-0"));
    assert_int_equal(rg_body_index(world, body_of(scene, "grid1-0")), first + 1);
    assert_int_equal(rg_body_index(world, body_of(scene, "grid0-1")), first + 3);
    rg_scene_destroy(scene);
}

static void every_shape(void **state) {
    (void)state;
    static const struct {
        const char *text;
        rg_shape_kind kind;
        double volume;
    } cases[] = {
        {"{box: [1, 2, 3]}", RG_SHAPE_BOX, 6},
        {"{sphere: 2}", RG_SHAPE_SPHERE, 4.0 / 3 * 3.141592653589793 * 8},
        {"{sphere: {radius: 2}}", RG_SHAPE_SPHERE, 4.0 / 3 * 3.141592653589793 * 8},
        {"{capsule: {radius: 1, length: 2}}", RG_SHAPE_CAPSULE, 3.141592653589793 * (2 + 4.0 / 3)},
        {"{cylinder: {radius: 1, height: 2}}", RG_SHAPE_CYLINDER, 3.141592653589793 * 2},
        {"{cone: {radius: 1, height: 3}}", RG_SHAPE_CONE, 3.141592653589793},
        {"{ellipsoid: [1, 2, 3]}", RG_SHAPE_ELLIPSOID, 8 * 3.141592653589793},
        {"{hull: [[0,0,0],[1,0,0],[0,1,0],[0,0,1]]}", RG_SHAPE_HULL, 1.0 / 6},
        {"{hull: {file: tetra.obj}}", RG_SHAPE_HULL, 1.0 / 6},
        {"{mesh: {file: tetra.obj, scale: 2}}", RG_SHAPE_HULL, 8.0 / 6},
        {"{compound: [{shape: {box: [1,1,1]}}, {shape: {box: [1,1,1]}, position: [3,0,0]}]}",
         RG_SHAPE_COMPOUND, 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[400];
        snprintf(text, sizeof text, "bodies: [{shape: %s}]", cases[i].text);
        rg_scene *scene = read_scene(text);
        rg_world *world = rg_scene_world(scene);
        rg_body_id body = rg_world_body_at(world, 0);
        rg_shape *shape = rg_collider_get_def(world, rg_body_collider_at(world, body, 0)).shape;
        assert_int_equal(rg_shape_get_kind(shape), cases[i].kind);
        assert_near(rg_shape_volume(shape), cases[i].volume, 1e-12 * cases[i].volume);
        rg_scene_destroy(scene);
    }
}

static void forces(void **state) {
    (void)state;
    rg_scene *scene = open_scene(GOOD_SCENES "every-key.yaml");
    rg_world *world = rg_scene_world(scene);
    assert_int_equal(rg_world_force_count(world), 8);
    rg_force_def f = rg_force_get_def(world, rg_world_force_at(world, 0));
    assert_int_equal(f.kind, RG_FORCE_CONSTANT);
    assert_int_equal(f.body.index1, body_of(scene, "brick").index1);
    assert_vector(f.point, 0.5, 0, 0);
    assert_vector(f.force, 1, 2, 3);
    assert_vector(f.torque, 4, 5, 6);
    assert_near(f.start_time, 0.5, 0);
    assert_near(f.stop_time, 1.5, 0);
    f = rg_force_get_def(world, rg_world_force_at(world, 1));
    assert_int_equal(f.kind, RG_FORCE_SPRING);
    assert_int_equal(f.other.index1, body_of(scene, "brick").index1);
    assert_vector(f.other_point, 0, 0, -0.125);
    assert_near(f.stiffness, 100, 0);
    assert_near(f.damping, 2, 0);
    assert_near(f.rest_length, 1.5, 0);
    assert_true(isinf(f.start_time) && f.start_time < 0 && isinf(f.stop_time));
    f = rg_force_get_def(world, rg_world_force_at(world, 4));
    assert_int_equal(f.body.index1, body_of(scene, "row2").index1);
    assert_near(f.stiffness, 20, 0);
    f = rg_force_get_def(world, rg_world_force_at(world, 5));
    assert_int_equal(f.kind, RG_FORCE_DRAG);
    assert_int_equal(f.body.index1, 0);
    assert_near(f.linear + f.quadratic + f.angular, 0.6, 1e-15);
    f = rg_force_get_def(world, rg_world_force_at(world, 6));
    assert_vector(f.acceleration, 0, 0, 9.81);
    f = rg_force_get_def(world, rg_world_force_at(world, 7));
    assert_vector(f.centre, 1, 2, -30);
    assert_near(f.strength, -4, 0);
    rg_scene_destroy(scene);
}

static void planar_scenes(void **state) {
    (void)state;
    rg_scene *scene = open_scene(GOOD_SCENES "every-planar-key.yaml");
    rg_world *world = rg_scene_world(scene);
    assert_true(rg_world_is_planar(world));
    assert_vector(rg_world_gravity(world), 1, 0, -2);
    rg_body_id wheel = body_of(scene, "wheel");
    assert_vector(rg_body_pose(world, wheel).position, 1, 0, 2);
    assert_near(rg_body_angle(world, wheel), 7.5, 0);
    assert_near(rg_body_spin(world, wheel), 5, 0);
    assert_vector(rg_body_velocity(world, wheel), 3, 0, 4);
    assert_near(rg_body_mass(world, wheel).mass, 100 * 3.141592653589793 * 0.25, 1e-12);
    assert_near(rg_body_angle(world, body_of(scene, "tee")), 0.78539816339744830962, 1e-15);
    assert_near(rg_body_mass(world, body_of(scene, "tee")).mass, 3, 0);
    assert_near(rg_body_mass(world, body_of(scene, "given")).inertia.m[1][1], 0.5, 0);
    rg_body_id several = body_of(scene, "several");
    rg_collider_def rock = rg_collider_get_def(world, rg_body_collider_at(world, several, 0));
    assert_int_equal(rg_shape_get_kind(rock.shape), RG_SHAPE_POLYGON);
    assert_near(rg_shape_volume(rock.shape), 1, 1e-14); /* the dent is gone */
    rg_prescription p = rg_body_prescription(world, body_of(scene, "shaker"));
    assert_vector(p.amplitude, 0.5, 0, 0);
    assert_vector(p.rotation_amplitude, 0, -0.25, 0);
    assert_vector(rg_force_get_def(world, rg_world_force_at(world, 0)).torque, 0, -3, 0);
    rg_scene_destroy(scene);
}

static void json_is_read_too(void **state) {
    (void)state;
    rg_scene *scene = open_scene(GOOD_SCENES "scene.json");
    rg_world *world = rg_scene_world(scene);
    assert_string_equal(rg_scene_name(scene), "from JSON");
    assert_near(rg_scene_duration(scene), 4, 0);
    assert_vector(rg_world_gravity(world), 0, 0, -1.5);
    assert_vector(rg_body_pose(world, body_of(scene, "one")).position, 1, -2.5, 10);
    assert_vector(rg_body_pose(world, body_of(scene, "more1")).position, 13, 0, 0);
    rg_scene_destroy(scene);
}

static void aliases_share_their_shape(void **state) {
    (void)state;
    rg_scene *scene = open_scene(GOOD_SCENES "aliases.yaml");
    rg_world *world = rg_scene_world(scene);
    assert_int_equal(rg_world_body_count(world), 3);
    const rg_shape *shapes[3];
    for (size_t i = 0; i < 3; i++) {
        rg_body_id body = rg_world_body_at(world, i);
        assert_vector(rg_body_pose(world, body).position, 0, 0, 10);
        shapes[i] = rg_collider_get_def(world, rg_body_collider_at(world, body, 0)).shape;
    }
    assert_ptr_equal(shapes[0], shapes[1]);
    assert_ptr_equal(shapes[0], shapes[2]);
    assert_string_equal(rg_body_name(world, rg_world_body_at(world, 1)), "two words");
    rg_scene_destroy(scene);
}

static const rg_shape *shape_at(rg_world *world, size_t index) {
    rg_body_id body = rg_world_body_at(world, index);
    return rg_collider_get_def(world, rg_body_collider_at(world, body, 0)).shape;
}

static void copies_share_shapes_without_loop_variables(void **state) {
    (void)state;
    rg_scene *scene = read_scene("bodies:\n"
                                 "- {repeat: 3, shape: {sphere: 0.5*2}}\n"
                                 "- {repeat: 3, shape: {sphere: 1+i}}\n");
    rg_world *world = rg_scene_world(scene);
    assert_ptr_equal(shape_at(world, 0), shape_at(world, 2));
    assert_ptr_not_equal(shape_at(world, 3), shape_at(world, 5));
    assert_near(rg_shape_inradius(shape_at(world, 5)), 3, 0);
    rg_scene_destroy(scene);
}

static void parameters_can_be_overridden(void **state) {
    (void)state;
    const char *text = "parameters: {count: 3, half: count/2}\n"
                       "bodies: [{repeat: count, shape: {sphere: half}}]\n";
    rg_scene *scene = read_scene(text);
    assert_int_equal(rg_world_body_count(rg_scene_world(scene)), 3);
    rg_scene_destroy(scene);
    rg_scene_parameter given[] = {{"count", "2*5"}};
    rg_scene_options options = {.parameters = given, .parameter_count = 1};
    scene = read_with(text, &options);
    assert_int_equal(rg_world_body_count(rg_scene_world(scene)), 10);
    assert_near(rg_shape_inradius(shape_at(rg_scene_world(scene), 0)), 5, 0);
    rg_scene_destroy(scene);
}

static void wrong_parameters_are_refused(void **state) {
    (void)state;
    const char *text = "parameters: {count: 3, gap: 1}\n";
    static const struct {
        rg_scene_parameter given;
        const char *message;
    } cases[] = {
        {{"cuont", "4"}, "s.yaml: there is no parameter \"cuont\"; the parameters are: count, gap"},
        {{"pi", "3"}, "s.yaml: there is no parameter \"pi\"; the parameters are: count, gap"},
        {{"gap", "wide"}, "s.yaml: parameter gap=wide: must be a number or an expression with pi"},
        {{"gap", "1e999"},
         "s.yaml: parameter gap=1e999: at column 1: the result is too large; numbers must be "
         "finite"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        rg_scene_options options = {.parameters = &cases[i].given, .parameter_count = 1};
        rg_scene *scene;
        rg_error error = {0};
        assert_int_not_equal(
            rg_scene_read_text(text, strlen(text), "s.yaml", NULL, &options, &scene, &error),
            RG_OK);
        assert_null(scene);
        assert_string_equal(error.text, cases[i].message);
    }
}

static void short_forms_of_the_solver(void **state) {
    (void)state;
    rg_scene *scene = read_scene("solver: newton");
    rg_method_settings settings = rg_world_settings(rg_scene_world(scene));
    assert_ptr_equal(settings.solver, rg_solver_find("newton"));
    assert_int_equal(settings.friction_directions, 0);
    assert_false(settings.discrete_detection);
    assert_near(settings.gamma, 1, 0);
    assert_near(settings.solver_tolerance, 1e-8, 0);
    assert_int_equal(settings.policy, RG_POLICY_SMALLEST_FORCE);
    rg_scene_destroy(scene);
    assert_false(settings.hand_over);
    assert_int_equal(settings.contradictions, RG_NORM_TWO);
    scene = read_scene("{solver: {friction: cone, policy: largest}, "
                       "method: {detection: continuous, gamma: 0, hand_over: none}}");
    settings = rg_world_settings(rg_scene_world(scene));
    assert_false(settings.hand_over);
    assert_int_equal(settings.policy, RG_POLICY_LARGEST_FORCE);
    assert_int_equal(settings.friction_directions, 0);
    assert_false(settings.discrete_detection);
    assert_near(settings.gamma, 0, 0);
    rg_scene_destroy(scene);
}

static void options_of_contacts_win_over_the_file(void **state) {
    (void)state;
    static const char text[] = "{method: {gamma: 0.5, detection: discrete}, solver: {name: lemke, "
                               "friction: {polygon: 8}}}";
    double gamma = 0;
    rg_scene_options options = {.solver = "newton",
                                .solver_tolerance = 1e-6,
                                .friction = "cone",
                                .detection = "continuous",
                                .gamma = &gamma};
    rg_scene *scene = read_with(text, &options);
    rg_method_settings settings = rg_world_settings(rg_scene_world(scene));
    assert_ptr_equal(settings.solver, rg_solver_find("newton"));
    assert_near(settings.solver_tolerance, 1e-6, 0);
    assert_int_equal(settings.friction_directions, 0);
    assert_false(settings.discrete_detection);
    assert_near(settings.gamma, 0, 0);
    rg_scene_destroy(scene);
    options = (rg_scene_options){.friction = "polygon:16", .detection = "discrete"};
    scene = read_with("{}", &options);
    settings = rg_world_settings(rg_scene_world(scene));
    assert_int_equal(settings.friction_directions, 16);
    assert_true(settings.discrete_detection);
    rg_scene_destroy(scene);
}

static void bad_options_of_contacts_are_refused(void **state) {
    (void)state;
    static const double too_much = 2;
    static const char solvers[] =
        "auto, dantzig, lemke, qp, gauss-seidel, newton, interior-point, admm, enumerate";
    const struct {
        rg_scene_options options;
        rg_status status;
        const char *begin, *end;
    } cases[] = {
        {{.solver = "magic"}, RG_NOT_FOUND, "there is no solver \"magic\"; ", solvers},
        {{.impact = "magic"},
         RG_NOT_FOUND,
         "there is no impact law \"magic\"; the laws are: simultaneous, ",
         "reflection, dissipative"},
        {{.solver = "lp"},
         RG_NOT_FOUND,
         "the solver \"lp\" belongs to the library rigor-lp, ",
         solvers},
        {{.solver_tolerance = -1}, RG_INVALID_ARGUMENT, "solver tolerance: -1 is outside ", ""},
        {{.friction = "pyramid"}, RG_INVALID_ARGUMENT, "friction: \"pyramid\" is neither cone", ""},
        {{.friction = "polygon:x"}, RG_INVALID_ARGUMENT, "friction: \"polygon:x\" is neither", ""},
        {{.friction = "polygon:8.5"}, RG_INVALID_ARGUMENT, "friction: \"polygon:8.5\" is nei", ""},
        {{.friction = "polygon:5"}, RG_INVALID_ARGUMENT, "friction: a polygon of 5 corners; ", ""},
        {{.detection = "never"}, RG_INVALID_ARGUMENT, "detection: \"never\" is neither ", ""},
        {{.gamma = &too_much}, RG_INVALID_ARGUMENT, "gamma: 2 is outside 0 ... 1", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        rg_scene *scene;
        rg_error error = {0};
        assert_int_equal(rg_scene_read_text("{}", 2, "s", NULL, &cases[i].options, &scene, &error),
                         cases[i].status);
        assert_null(scene);
        assert_memory_equal(error.text, cases[i].begin, strlen(cases[i].begin));
        assert_non_null(strstr(error.text, cases[i].end));
    }
}

static void options_win_over_the_file(void **state) {
    (void)state;
    rg_scene_options options = {.method = "analytic", .step = 0.25, .threads = 2};
    rg_scene *scene = read_with("method: {name: stepping, step: 0.5, tolerance: 1e-6}", &options);
    rg_world *world = rg_scene_world(scene);
    assert_string_equal(rg_method_name(rg_world_method(world)), "analytic");
    assert_near(rg_scene_step_size(scene), 0.25, 0);
    assert_near(rg_world_settings(world).tolerance, 1e-6, 0);
    rg_scene_destroy(scene);
    options = (rg_scene_options){.method = "magic"};
    rg_error error = {0};
    assert_int_equal(rg_scene_read_text("{}", 2, "s", NULL, &options, &scene, &error),
                     RG_NOT_FOUND);
    assert_string_equal(
        error.text, "there is no method \"magic\"; the methods are: stepping, analytic, penalty");
    options = (rg_scene_options){.step = -1};
    assert_int_equal(rg_scene_read_text("{}", 2, "s", NULL, &options, &scene, &error),
                     RG_INVALID_SIZE);
}

static void unit_quaternions_keep_their_bits(void **state) {
    (void)state;
    /* Unit to rounding but not a fixed point of normalisation. */
    rg_random random = rg_random_make(5);
    for (int i = 0; i < 200; i++) {
        rg_quat q = rg_random_rotation(&random);
        char text[300];
        snprintf(text, sizeof text,
                 "bodies: [{shape: {sphere: 1}, orientation: [%.17g, %.17g, %.17g, %.17g]}]", q.x,
                 q.y, q.z, q.w);
        rg_scene *scene = read_scene(text);
        rg_world *world = rg_scene_world(scene);
        rg_quat back = rg_body_pose(world, rg_world_body_at(world, 0)).orientation;
        assert_memory_equal(&q, &back, sizeof q);
        rg_scene_destroy(scene);
    }
    rg_scene *scene = read_scene("bodies: [{shape: {sphere: 1}, orientation: [0, 0, 0.7071068, "
                                 "0.7071068]}]");
    rg_quat q =
        rg_body_pose(rg_scene_world(scene), rg_world_body_at(rg_scene_world(scene), 0)).orientation;
    assert_near(q.z * q.z + q.w * q.w, 1, 4e-16);
    rg_scene_destroy(scene);
}

static void limits_hold(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"bodies: [{repeat: 101, shape: {sphere: 1}}]",
         "t:1:19: bodies[0].repeat: must be a whole number from 1 to 100, not 101"},
        {"bodies: [{repeat: {i: 11, j: 10}, shape: {sphere: 1}}]",
         "t:1:19: bodies[0].repeat: this makes 110 bodies; a scene may have at most 100"},
        {"bodies: [{repeat: 90, shape: {sphere: 1}, position: [0,0,0], velocity: [0,0,0]}]",
         "t:1:19: bodies[0].repeat: the bodies up to here have more than 1000 values in all; use "
         "fewer copies or put what they share under shapes"},
        {"shapes: {a: {mesh: {file: /etc/passwd}}}",
         "t:1:27: shapes.a.mesh.file: files may not be read here"},
        {"name: [[[[[[[[1]]]]]]]]", "t:1:14: name[0][0][0][0][0][0][0]: nested more than 7 deep; a "
                                    "scene needs no more than ten "
                                    "levels"},
    };
    rg_scene_limits limits = {.bytes = 100, .bodies = 100, .values = 1000, .depth = 7};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        rg_scene *scene;
        rg_error error = {0};
        assert_int_not_equal(
            rg_scene_read_limited(
                &(rg_scene_source){cases[i].text, strlen(cases[i].text), "t", NULL}, NULL, &limits,
                &scene, &error),
            RG_OK);
        assert_string_equal(error.text, cases[i].message);
    }
    char text[101];
    memset(text, ' ', sizeof text);
    rg_scene *scene;
    rg_error error = {0};
    assert_int_equal(rg_scene_read_limited(&(rg_scene_source){text, sizeof text, "t", NULL}, NULL,
                                           &limits, &scene, &error),
                     RG_LIMIT_EXCEEDED);
    assert_string_equal(error.text, "t: has 101 bytes; a scene file may have at most 100");
}

static void many_bodies(void **state) {
    (void)state;
    rg_scene *scene = read_scene(
        "bodies: [{repeat: {i: 100, j: 100, k: 3}, name: 'b{i}-{j}-{k}', shape: {box: [1, 1, 1]},"
        " position: [2*i, 2*j, 2*k]}]");
    rg_world *world = rg_scene_world(scene);
    assert_int_equal(rg_world_body_count(world), 30000);
    assert_vector(rg_body_pose(world, body_of(scene, "b99-7-2")).position, 198, 14, 4);
    assert_ptr_equal(shape_at(world, 0), shape_at(world, 29999));
    rg_scene_destroy(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults),
        cmocka_unit_test(body_defaults),
        cmocka_unit_test(every_setting),
        cmocka_unit_test(every_body_key),
        cmocka_unit_test(several_colliders),
        cmocka_unit_test(kinematic_bodies),
        cmocka_unit_test(repeats),
        cmocka_unit_test(every_shape),
        cmocka_unit_test(forces),
        cmocka_unit_test(planar_scenes),
        cmocka_unit_test(json_is_read_too),
        cmocka_unit_test(aliases_share_their_shape),
        cmocka_unit_test(copies_share_shapes_without_loop_variables),
        cmocka_unit_test(parameters_can_be_overridden),
        cmocka_unit_test(wrong_parameters_are_refused),
        cmocka_unit_test(options_win_over_the_file),
        cmocka_unit_test(short_forms_of_the_solver),
        cmocka_unit_test(options_of_contacts_win_over_the_file),
        cmocka_unit_test(bad_options_of_contacts_are_refused),
        cmocka_unit_test(unit_quaternions_keep_their_bits),
        cmocka_unit_test(limits_hold),
        cmocka_unit_test(many_bodies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
