/* The writer: what it writes reads back to the same world, bit for bit. */
#include "test_scene_support.h"

#include "rigor/solver.h"

#include <stdio.h>
#include <unistd.h>

static char *write_scene(const rg_scene *scene, size_t *size) {
    char *text;
    rg_error error = {0};
    if (rg_scene_write_text(scene, NULL, &text, size, &error) != RG_OK)
        fail_msg("%s", error.text);
    assert_int_equal(strlen(text), *size);
    return text;
}

static rg_scene *read_back(const rg_scene *scene) {
    size_t size;
    char *text = write_scene(scene, &size);
    rg_scene *again;
    rg_error error = {0};
    if (rg_scene_read_text(text, size, "written.yaml", "/nonexistent", NULL, &again, &error) !=
        RG_OK)
        fail_msg("%s\n%s", error.text, text);
    free(text);
    return again;
}

/* ---- comparing ---- */

static void compare_shapes(const rg_shape *a, const rg_shape *b) {
    rg_shape_def p = rg_shape_get_def(a), q = rg_shape_get_def(b);
    assert_int_equal(p.kind, q.kind);
    assert_memory_equal(&p.size, &q.size, sizeof p.size);
    assert_true(p.radius == q.radius && p.length == q.length && p.offset == q.offset);
    assert_near(p.normal.x, q.normal.x, 2e-16);
    assert_near(p.normal.y, q.normal.y, 2e-16);
    assert_near(p.normal.z, q.normal.z, 2e-16);
    assert_int_equal(p.point_count, q.point_count);
    if (p.point_count)
        assert_memory_equal(p.points, q.points, p.point_count * sizeof *p.points);
    assert_int_equal(p.part_count, q.part_count);
    for (size_t i = 0; i < p.part_count; i++) {
        assert_memory_equal(&p.parts[i].pose, &q.parts[i].pose, sizeof(rg_pose));
        assert_true(p.parts[i].density == q.parts[i].density);
        compare_shapes(p.parts[i].shape, q.parts[i].shape);
    }
}

static void compare_texts(const char *a, const char *b) {
    assert_string_equal(a ? a : "none", b ? b : "none");
}

static void compare_bodies(rg_world *a, rg_world *b, size_t index) {
    rg_body_id p = rg_world_body_at(a, index), q = rg_world_body_at(b, index);
    assert_string_equal(rg_body_name(a, p), rg_body_name(b, q));
    assert_int_equal(rg_body_motion(a, p), rg_body_motion(b, q));
    rg_mass_properties m = rg_body_mass(a, p), n = rg_body_mass(b, q);
    if (rg_world_is_planar(a)) { /* only the inertia about y has a meaning */
        assert_true(m.mass == n.mass && m.inertia.m[1][1] == n.inertia.m[1][1]);
        assert_memory_equal(&m.centre, &n.centre, sizeof m.centre);
    } else {
        assert_memory_equal(&m, &n, sizeof m);
    }
    rg_pose x = rg_body_pose(a, p), y = rg_body_pose(b, q);
    assert_memory_equal(&x, &y, sizeof x);
    assert_true(rg_body_gravity_scale(a, p) == rg_body_gravity_scale(b, q));
    if (rg_body_motion(a, p) == RG_MOTION_KINEMATIC) {
        rg_prescription s = rg_body_prescription(a, p), t = rg_body_prescription(b, q);
        assert_int_equal(s.kind, t.kind);
        assert_memory_equal(&s.amplitude, &t.amplitude, sizeof s.amplitude);
        assert_memory_equal(&s.rotation_amplitude, &t.rotation_amplitude, sizeof s.amplitude);
        assert_true(s.frequency == t.frequency && s.phase == t.phase);
        for (int k = 0; k < RG_PRESCRIBED_TEXTS; k++)
            compare_texts(s.of_time[k], t.of_time[k]);
    }
    assert_int_equal(rg_body_collider_count(a, p), rg_body_collider_count(b, q));
    for (size_t c = 0; c < rg_body_collider_count(a, p); c++) {
        rg_collider_def d = rg_collider_get_def(a, rg_body_collider_at(a, p, c));
        rg_collider_def e = rg_collider_get_def(b, rg_body_collider_at(b, q, c));
        compare_shapes(d.shape, e.shape);
        assert_memory_equal(&d.pose, &e.pose, sizeof d.pose);
        assert_string_equal(rg_world_material_name(a, d.material),
                            rg_world_material_name(b, e.material));
        assert_true(d.density == e.density && d.sensor == e.sensor);
        assert_true(d.category == e.category && d.mask == e.mask);
        assert_memory_equal(&d.surface_velocity, &e.surface_velocity, sizeof d.surface_velocity);
    }
}

static void compare_joints(const rg_world *p, const rg_world *q, size_t i) {
    rg_joint_id a = rg_world_joint_at(p, i), b = rg_world_joint_at(q, i);
    rg_joint_def d = rg_joint_get_def(p, a), e = rg_joint_get_def(q, b);
    assert_int_equal(d.kind, e.kind);
    assert_string_equal(d.name ? d.name : "", e.name ? e.name : "");
    assert_memory_equal(&d.frame_a, &e.frame_a, sizeof d.frame_a);
    assert_memory_equal(&d.frame_b, &e.frame_b, sizeof d.frame_b);
    assert_int_equal(d.collide, e.collide);
    assert_true(d.ratio == e.ratio);
    assert_int_equal(d.part_count, e.part_count);
    assert_memory_equal(d.part, e.part, sizeof d.part);
    assert_memory_equal(&d.surface, &e.surface, sizeof d.surface);
    assert_true(d.break_force == e.break_force && d.break_torque == e.break_torque);
    assert_int_equal(rg_joint_get_state(p, a).broken, rg_joint_get_state(q, b).broken);
    for (size_t k = 0; k < RG_JOINT_AXES_MOST; k++) {
        rg_joint_axis x = d.axis[k], y = e.axis[k];
        assert_true(x.lower == y.lower && x.upper == y.upper && x.restitution == y.restitution);
        assert_true(x.stiffness == y.stiffness && x.damping == y.damping && x.rest == y.rest);
        assert_true(x.friction == y.friction && x.armature == y.armature && x.motor == y.motor);
        assert_true(x.target == y.target && x.gain == y.gain && x.max_force == y.max_force);
        assert_true(x.gain_velocity == y.gain_velocity);
        compare_texts(x.target_of_time, y.target_of_time);
    }
}

static void compare_forces(rg_world *a, rg_world *b, size_t index) {
    rg_force_def p = rg_force_get_def(a, rg_world_force_at(a, index));
    rg_force_def q = rg_force_get_def(b, rg_world_force_at(b, index));
    assert_int_equal(p.kind, q.kind);
    for (size_t k = 0; k < RG_OF_TIME_COUNT; k++)
        compare_texts(p.of_time[k], q.of_time[k]);
    assert_int_equal(p.body.index1 != 0, q.body.index1 != 0);
    if (p.body.index1)
        assert_int_equal(rg_body_index(a, p.body), rg_body_index(b, q.body));
    assert_int_equal(p.other.index1 != 0, q.other.index1 != 0);
    assert_memory_equal(&p.point, &q.point, sizeof p.point);
    assert_memory_equal(&p.other_point, &q.other_point, sizeof p.point);
    assert_memory_equal(&p.force, &q.force, sizeof p.force);
    assert_memory_equal(&p.torque, &q.torque, sizeof p.torque);
    assert_memory_equal(&p.acceleration, &q.acceleration, sizeof p.point);
    assert_memory_equal(&p.centre, &q.centre, sizeof p.point);
    assert_true(p.stiffness == q.stiffness && p.damping == q.damping &&
                p.rest_length == q.rest_length);
    assert_true(p.linear == q.linear && p.quadratic == q.quadratic && p.angular == q.angular);
    assert_true(p.strength == q.strength);
    assert_true(p.start_time == q.start_time && p.stop_time == q.stop_time);
}

/* One coefficient may be written as one or as two that are the same. */
static void compare_materials(rg_world *a, rg_world *b) {
    assert_int_equal(rg_world_material_count(a), rg_world_material_count(b));
    for (uint32_t i = 1; i <= rg_world_material_count(a); i++) {
        rg_material_id id = {i};
        assert_string_equal(rg_world_material_name(a, id), rg_world_material_name(b, id));
        rg_contact_law p = rg_contact_law_complete(rg_world_material_law(a, id)),
                       q = rg_contact_law_complete(rg_world_material_law(b, id));
        assert_memory_equal(&p, &q, sizeof p);
    }
    assert_int_equal(rg_world_pair_count(a), rg_world_pair_count(b));
    for (size_t i = 0; i < rg_world_pair_count(a); i++) {
        rg_material_id p[2], q[2];
        rg_contact_law law, other;
        rg_world_pair_at(a, i, &p[0], &p[1], &law);
        rg_world_pair_at(b, i, &q[0], &q[1], &other);
        assert_memory_equal(p, q, sizeof p);
        law = rg_contact_law_complete(law), other = rg_contact_law_complete(other);
        assert_memory_equal(&law, &other, sizeof law);
    }
}

static void compare_scenes(rg_scene *a, rg_scene *b) {
    rg_world *p = rg_scene_world(a), *q = rg_scene_world(b);
    assert_string_equal(rg_scene_name(a), rg_scene_name(b));
    assert_true(rg_scene_step_size(a) == rg_scene_step_size(b));
    assert_true(rg_scene_duration(a) == rg_scene_duration(b));
    assert_true(rg_scene_record_every(a) == rg_scene_record_every(b));
    assert_true(rg_world_seed(p) == rg_world_seed(q));
    assert_ptr_equal(rg_world_method(p), rg_world_method(q));
    rg_method_settings s = rg_world_settings(p), t = rg_world_settings(q);
    assert_true(s.tolerance == t.tolerance && s.integrator == t.integrator);
    assert_int_equal(s.root_finder, t.root_finder);
    assert_true(s.gamma == t.gamma && s.solver_tolerance == t.solver_tolerance);
    assert_ptr_equal(s.impact, t.impact);
    assert_string_equal(rg_solver_name(s.solver ? s.solver : rg_solver_find("auto")),
                        rg_solver_name(t.solver ? t.solver : rg_solver_find("auto")));
    assert_int_equal(s.friction_directions, t.friction_directions);
    assert_int_equal(s.discrete_detection, t.discrete_detection);
    assert_int_equal(s.hand_over, t.hand_over);
    assert_int_equal(s.contradictions, t.contradictions);
    assert_int_equal(s.policy, t.policy);
    const rg_penalty_settings *x = &s.penalty, *y = &t.penalty;
    assert_true(x->stiffness == y->stiffness && x->depth == y->depth && x->slip == y->slip);
    assert_true(x->tolerance == y->tolerance && x->measure == y->measure);
    assert_int_equal(x->impulses, y->impulses);
    assert_int_equal(rg_world_collision_def(p).contacts.reduce_to,
                     rg_world_collision_def(q).contacts.reduce_to);
    rg_vec3 g = rg_world_gravity(p), h = rg_world_gravity(q);
    assert_memory_equal(&g, &h, sizeof g);
    compare_materials(p, q);
    assert_int_equal(rg_world_body_count(p), rg_world_body_count(q));
    for (size_t i = 0; i < rg_world_body_count(p); i++)
        compare_bodies(p, q, i);
    assert_int_equal(rg_world_force_count(p), rg_world_force_count(q));
    for (size_t i = 0; i < rg_world_force_count(p); i++)
        compare_forces(p, q, i);
    assert_int_equal(rg_world_joint_count(p), rg_world_joint_count(q));
    for (size_t i = 0; i < rg_world_joint_count(p); i++)
        compare_joints(p, q, i);
    assert_true(rg_world_state_hash(p) == rg_world_state_hash(q));
}

/* ---- tests ---- */

static void scenes_read_back_bit_for_bit(void **state) {
    (void)state;
    static const char *const names[] = {
        GOOD_SCENES "every-key.yaml",
        GOOD_SCENES "every-planar-key.yaml",
        GOOD_SCENES "every-joint-key.yaml",
        GOOD_SCENES "scene.json",
        GOOD_SCENES "aliases.yaml",
        GOOD_SCENES "defaults.yaml",
        GOOD_SCENES "fixed-negative-zero.yaml",
        RIGOR_SOURCE_DIR "/scenes/first.yaml",
        RIGOR_SOURCE_DIR "/scenes/spring-pendulum.yaml",
        RIGOR_SOURCE_DIR "/scenes/orbit.yaml",
        RIGOR_SOURCE_DIR "/scenes/planar.yaml",
        RIGOR_SOURCE_DIR "/scenes/kinematic-shaker.yaml",
        "spinning-top",
        "tennis-racket",
        "projectiles",
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        rg_scene *scene = open_scene(names[i]), *again = read_back(scene);
        compare_scenes(scene, again);
        /* The text is a fixed point. */
        size_t size, size_again;
        char *text = write_scene(scene, &size), *text_again = write_scene(again, &size_again);
        assert_string_equal(text, text_again);
        free(text);
        free(text_again);
        /* And both worlds go the same way. */
        run_scene(scene, 0.1);
        run_scene(again, 0.1);
        assert_true(rg_world_state_hash(rg_scene_world(scene)) ==
                    rg_world_state_hash(rg_scene_world(again)));
        rg_scene_destroy(scene);
        rg_scene_destroy(again);
    }
}

/* Each setting by itself, not at its default: it is written, read back, and nothing else is. */
static void settings_read_back_one_by_one(void **state) {
    (void)state;
    static const char *const settings[] = {
        "name: another",
        "planar: true",
        "gravity: [1, 2, 3]",
        "seed: 7",
        "method: {name: analytic}",
        "method: {step: 0.02}",
        "method: {tolerance: 1e-7}",
        "method: {integrator: adams}",
        "method: {root_finder: illinois}",
        "method: {root_finder: bisection}",
        "method: {gamma: 0.5}",
        "method: {detection: discrete}",
        "method: {points: 4}",
        "method: {hand_over: stepping}",
        "method: {contradictions: sum}",
        "method: penalty",
        "method: {penalty: {stiffness: 1e5}}",
        "method: {penalty: {depth: 1e-4, slip: 2e-3, tolerance: 1e-5}}",
        "method: {penalty: {measure: ratio, collisions: impulses}}",
        "method: {penalty: {collisions: impulses}}",
        "materials: {default: {stiffness: 3e4}}",
        "solver: {name: newton}",
        "solver: {tolerance: 1e-9}",
        "solver: {friction: {polygon: 8}}",
        "solver: {policy: largest}",
        "impact: propagation",
        "impact: dissipative",
        "duration: 3",
        "record: {every: 0.5}",
        "materials: {default: {friction: 0.1}}",
        "materials: {default: {friction: {static: 0.9, dynamic: 0.3}}}",
        "materials: {default: {restitution: 0.2}}",
        "materials: {ice: {impact: poisson}}",
        "pairs: [{between: [default, default], friction: 0.1}]",
        "pairs: [{between: [default, default], friction: {static: 0.2, dynamic: 0.1}}]",
        "pairs: [{between: [default, default], restitution: 0.3}]",
        "pairs: [{between: [default, default], impact: reflection}]",
    };
    rg_scene *plain = read_scene("{}");
    size_t plain_size, size;
    char *plain_text = write_scene(plain, &plain_size);
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        rg_scene *scene = read_scene(settings[i]), *again = read_back(scene);
        char *text = write_scene(scene, &size);
        if (strcmp(text, plain_text) == 0)
            fail_msg("%s is not written", settings[i]);
        compare_scenes(scene, again);
        free(text);
        rg_scene_destroy(scene);
        rg_scene_destroy(again);
    }
    free(plain_text);
    rg_scene_destroy(plain);
}

/* Random poses of bodies whose centre of mass and principal axes are anywhere. */
static rg_collider_def collider_of(const rg_shape_def *shape) {
    rg_collider_def collider = rg_collider_def_default();
    assert_int_equal(rg_shape_create(shape, NULL, &collider.shape, NULL), RG_OK);
    return collider;
}

/* With one collider, whose shape becomes the world's. */
static void add_body(rg_world *world, rg_body_def *def, rg_collider_def *collider) {
    rg_error error = {0};
    rg_body_id body;
    def->colliders = collider;
    def->collider_count = 1;
    assert_int_equal(rg_world_add_body(world, def, &body, &error), RG_OK);
    rg_shape_release(collider->shape);
}

static void check_read_back(rg_scene *scene) {
    rg_scene *again = read_back(scene);
    compare_scenes(scene, again);
    rg_scene_destroy(scene);
    rg_scene_destroy(again);
}

static void random_bodies_read_back_bit_for_bit(void **state) {
    (void)state;
    rg_scene *scene = read_scene("{}");
    rg_world *world = rg_scene_world(scene);
    rg_random random = rg_random_make(77);
    for (int i = 0; i < 200; i++) {
        rg_vec3 points[12];
        for (int k = 0; k < 12; k++) {
            points[k] = rg_random_direction(&random);
            points[k].x = 3 * points[k].x + 1;
            points[k].z = 0.3 * points[k].z - 2;
        }
        rg_shape_def shape_def = rg_shape_def_hull(points, 12);
        rg_collider_def collider = collider_of(&shape_def);
        collider.pose.orientation = rg_random_rotation(&random);
        collider.pose.position = rg_random_direction(&random);
        rg_body_def def = rg_body_def_default();
        def.pose = (rg_pose){rg_random_direction(&random), rg_random_rotation(&random)};
        def.velocity = rg_random_direction(&random);
        def.angular_velocity = rg_random_direction(&random);
        add_body(world, &def, &collider);
    }
    check_read_back(scene);
}

static void random_planar_angles_read_back(void **state) {
    (void)state;
    rg_scene *scene = read_scene("planar: true");
    rg_world *world = rg_scene_world(scene);
    rg_random random = rg_random_make(3);
    for (int i = 0; i < 200; i++) {
        rg_shape_def shape_def = rg_shape_def_disc(rg_random_between(&random, 0.1, 1));
        rg_collider_def collider = collider_of(&shape_def);
        rg_body_def def = rg_body_def_default();
        def.pose.position.x = rg_random_normal(&random);
        def.angle = 10 * rg_random_normal(&random);
        def.motion = i % 2 ? RG_MOTION_KINEMATIC : RG_MOTION_DYNAMIC;
        if (i % 4 == 1)
            def.prescription = (rg_prescription){.kind = RG_PRESCRIBED_OSCILLATION,
                                                 .rotation_amplitude = {0, 0.5, 0},
                                                 .frequency = 2,
                                                 .phase = rg_random_normal(&random)};
        if (i % 4 != 1)
            def.angular_velocity.y = rg_random_normal(&random);
        add_body(world, &def, &collider);
    }
    check_read_back(scene);
}

static void moved_worlds_read_back_to_rounding(void **state) {
    (void)state;
    rg_scene *scene = open_scene(RIGOR_SOURCE_DIR "/scenes/kinematic-shaker.yaml");
    run_scene(scene, 0.3);
    rg_scene *again = read_back(scene);
    rg_world *p = rg_scene_world(scene), *q = rg_scene_world(again);
    run_scene(scene, 0.5);
    run_scene(again, 0.2);
    for (size_t i = 0; i < rg_world_body_count(p); i++) {
        rg_vec3 x = rg_body_pose(p, rg_world_body_at(p, i)).position;
        rg_vec3 y = rg_body_pose(q, rg_world_body_at(q, i)).position;
        assert_near(x.x, y.x, 1e-9);
        assert_near(x.z, y.z, 1e-9);
    }
    rg_scene_destroy(scene);
    rg_scene_destroy(again);
}

static void shared_shapes_are_written_once(void **state) {
    (void)state;
    rg_scene *scene = read_scene("shapes: {a: {sphere: 1}}\n"
                                 "bodies: [{repeat: 50, shape: a}, {shape: {sphere: 1}}]");
    size_t size;
    char *text = write_scene(scene, &size);
    assert_non_null(strstr(text, "  shape1: {sphere: 1}\n  shape2: {sphere: 1}\nbodies:"));
    assert_null(strstr(text, "shape3"));
    free(text);
    rg_scene *again = read_back(scene);
    rg_world *world = rg_scene_world(again);
    rg_body_id first = rg_world_body_at(world, 0), other = rg_world_body_at(world, 49);
    assert_ptr_equal(rg_collider_get_def(world, rg_body_collider_at(world, first, 0)).shape,
                     rg_collider_get_def(world, rg_body_collider_at(world, other, 0)).shape);
    rg_scene_destroy(scene);
    rg_scene_destroy(again);
}

static void odd_names_survive(void **state) {
    (void)state;
    char longest[3000];
    memset(longest, 'm', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    const char *names[] = {"true",
                           "5",
                           "a{i}",
                           "say \"hi\"\\",
                           "line\nbreak\ttab\x01\x7f",
                           "caf\xc3\xa9 \xe6\x97\xa5 \xf0\x9f\x8e\xbe",
                           "\xc2\x85\xe2\x80\xa8\xef\xbb\xbf\xef\xbf\xbe",
                           ": # - {",
                           longest};
    rg_scene *scene = read_scene("{}");
    rg_world *world = rg_scene_world(scene);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        rg_body_def def = rg_body_def_default();
        def.name = names[i];
        def.motion = RG_MOTION_FIXED;
        rg_body_id body;
        rg_material_id material;
        rg_contact_law law = rg_contact_law_default();
        assert_int_equal(rg_world_add_body(world, &def, &body, NULL), RG_OK);
        assert_int_equal(rg_world_add_material(world, names[i], &law, &material, NULL), RG_OK);
    }
    rg_scene *again = read_back(scene);
    compare_scenes(scene, again);
    rg_scene_destroy(again);
    /* Bytes that are no UTF-8: cut short, going on with nothing, longer than needed, surrogates,
     * beyond the last character. */
    static const char *const bad[] = {"caf\xe9",
                                      "\x80",
                                      "\xc1\xbf",
                                      "\xe0\x9f\xbf",
                                      "\xed\xa0\x80",
                                      "\xf0\x8f\xbf\xbf",
                                      "\xf4\x90\x80\x80",
                                      "\xf5\x80\x80\x80",
                                      "\xf8\x88\x80",
                                      "\xff",
                                      "\xc3x",
                                      "\xe6\x97x"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        rg_body_def def = rg_body_def_default();
        def.name = bad[i];
        def.motion = RG_MOTION_FIXED;
        rg_body_id body;
        assert_int_equal(rg_world_add_body(world, &def, &body, NULL), RG_OK);
        char *text;
        size_t size;
        rg_error error = {0};
        assert_int_equal(rg_scene_write_text(scene, NULL, &text, &size, &error), RG_UNSUPPORTED);
        assert_null(text);
        assert_int_equal(rg_world_remove_body(world, body), RG_OK);
    }
    rg_scene_destroy(scene);
}

static void pull(void *user, rg_force_context *context) {
    (void)user;
    (void)context;
}

static void wander(void *user, double time, rg_prescribed_state *state) {
    (void)user;
    (void)time;
    (void)state;
}

static void callbacks_are_unsupported(void **state) {
    (void)state;
    char *text;
    size_t size;
    rg_error error = {0};
    rg_scene *scene = read_scene("{}");
    rg_force_def force = rg_force_def_default(RG_FORCE_FUNCTION);
    force.function = pull;
    rg_force_id id;
    assert_int_equal(rg_world_add_force(rg_scene_world(scene), &force, &id, NULL), RG_OK);
    assert_int_equal(rg_scene_write_text(scene, NULL, &text, &size, &error), RG_UNSUPPORTED);
    assert_string_equal(error.text, "a force is a function of the program, which a file cannot "
                                    "hold; remove it");
    rg_scene_destroy(scene);

    scene = read_scene("{}");
    rg_body_def def = rg_body_def_default();
    def.name = "walker";
    def.motion = RG_MOTION_KINEMATIC;
    def.prescription.kind = RG_PRESCRIBED_FUNCTION;
    def.prescription.function = wander;
    rg_body_id body;
    assert_int_equal(rg_world_add_body(rg_scene_world(scene), &def, &body, NULL), RG_OK);
    assert_int_equal(rg_scene_write_text(scene, NULL, &text, &size, &error), RG_UNSUPPORTED);
    assert_null(text);
    rg_scene_destroy(scene);

    scene = read_scene("bodies: [{shape: {sphere: 1}}]");
    force = rg_force_def_default(RG_FORCE_FIELD);
    force.body = rg_world_body_at(rg_scene_world(scene), 0);
    assert_int_equal(rg_world_add_force(rg_scene_world(scene), &force, &id, NULL), RG_OK);
    assert_int_equal(rg_scene_write_text(scene, NULL, &text, &size, &error), RG_UNSUPPORTED);
    assert_string_equal(error.text,
                        "a force acts on body 0, which has no name for the file to refer "
                        "to; give it one");
    rg_scene_destroy(scene);
}

static void adopted_worlds_read_back(void **state) {
    (void)state;
    rg_world_def def = rg_world_def_default();
    rg_world *world;
    rg_scene *scene;
    assert_int_equal(rg_world_create(&def, &world, NULL), RG_OK);
    rg_body_def body = rg_body_def_default();
    body.name = "box";
    body.pose.position.z = 2;
    rg_collider_def collider = rg_collider_def_default();
    rg_shape_def box = rg_shape_def_box(1, 2, 3);
    assert_int_equal(rg_shape_create(&box, NULL, &collider.shape, NULL), RG_OK);
    add_body(world, &body, &collider);
    assert_int_equal(rg_scene_adopt(world, "mine", &scene, NULL), RG_OK);
    assert_ptr_equal(rg_scene_world(scene), world);
    assert_string_equal(rg_scene_name(scene), "mine");
    check_read_back(scene); /* and destroys it, with the world */
}

static void files(void **state) {
    (void)state;
    const char *path = RIGOR_BUILD_DIR "/test_scene_writer.yaml";
    rg_scene *scene = open_scene(GOOD_SCENES "every-key.yaml"), *again;
    rg_error error = {0};
    assert_int_equal(rg_scene_write_file(scene, path, &error), RG_OK);
    assert_int_equal(rg_scene_write_file(scene, path, &error), RG_OK);
    assert_int_equal(rg_scene_read_file(path, NULL, &again, &error), RG_OK);
    compare_scenes(scene, again);
    rg_scene_destroy(again);
    assert_int_equal(access(RIGOR_BUILD_DIR "/test_scene_writer.yaml.part", F_OK), -1);
    remove(path);
    assert_int_equal(rg_scene_write_file(scene, "/nonexistent/a.yaml", &error), RG_WRITE_FAILED);
    assert_string_equal(error.text,
                        "/nonexistent/a.yaml: there is no such directory; make it first");
    rg_scene_destroy(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scenes_read_back_bit_for_bit),
        cmocka_unit_test(settings_read_back_one_by_one),
        cmocka_unit_test(random_bodies_read_back_bit_for_bit),
        cmocka_unit_test(random_planar_angles_read_back),
        cmocka_unit_test(moved_worlds_read_back_to_rounding),
        cmocka_unit_test(shared_shapes_are_written_once),
        cmocka_unit_test(odd_names_survive),
        cmocka_unit_test(callbacks_are_unsupported),
        cmocka_unit_test(adopted_worlds_read_back),
        cmocka_unit_test(files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
