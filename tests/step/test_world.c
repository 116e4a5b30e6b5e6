/* Bodies: frames, mass, names, handles, changes, and what is refused. */
#include "test_world_support.h"

#include "rigor/impact.h"

#include <stdio.h>
#include <string.h>

static rg_body_def massive(void) {
    rg_body_def def = rg_body_def_default();
    def.has_mass = true;
    def.mass = (rg_mass_properties){.mass = 2, .inertia = rg_mat3_diagonal((rg_vec3){1, 1, 1})};
    return def;
}

static void origin_and_centre_are_apart(void **state) {
    (void)state;
    rg_world *world = default_world();
    rg_body_def def = massive();
    def.mass.centre = (rg_vec3){0.5, 0, 0};
    def.mass.inertia = (rg_mat3){{{2, 0.3, 0}, {0.3, 3, 0.1}, {0, 0.1, 4}}};
    def.pose.position = (rg_vec3){1, 2, 3};
    def.pose.orientation = (rg_quat){0, 0, sqrt(0.5), sqrt(0.5)}; /* x becomes y */
    def.angular_velocity = (rg_vec3){0.4, -0.2, 1};
    rg_body_id body = body_of(world, &def);
    rg_pose pose = rg_body_pose(world, body);
    assert_memory_equal(&pose.position, &def.pose.position, sizeof pose.position);
    assert_memory_equal(&pose.orientation, &def.pose.orientation, sizeof pose.orientation);
    assert_vector(rg_body_centre_pose(world, body).position, (rg_vec3){1, 2.5, 3}, 1e-15);
    /* L = R I R^T w, computed here with matrices. */
    rg_mat3 r = rg_mat3_of_quat(def.pose.orientation);
    rg_mat3 inertia = rg_mat3_conjugate(&r, &def.mass.inertia);
    assert_vector(rg_body_angular_momentum(world, body),
                  rg_mat3_apply(&inertia, def.angular_velocity), 1e-14);
    /* After moving, the origin still follows the centre. */
    rg_world_set_gravity(world, (rg_vec3){0, 0, 0});
    step_world(world, 0.01, 50);
    rg_pose centre = rg_body_centre_pose(world, body), local = rg_body_local_centre(world, body);
    rg_pose origin = rg_body_pose(world, body);
    assert_vector(rg_pose_apply(origin, local.position), centre.position, 1e-14);
    assert_vector(centre.position, (rg_vec3){1, 2.5, 3}, 1e-14); /* the centre does not move */
    rg_world_destroy(world);
}

static void mass_comes_from_colliders(void **state) {
    (void)state;
    rg_world *world = default_world();
    rg_body_id body = add_box(world, "box", (rg_vec3){1, 2, 3}, (rg_vec3){0, 0, 0});
    rg_mass_properties mass = rg_body_mass(world, body);
    assert_near(mass.mass, 6000, 1e-9);
    assert_near(mass.inertia.m[0][0], 6000 * 13 / 12.0, 1e-9);
    rg_body_set_angular_velocity(world, body, (rg_vec3){0, 0, 2});
    /* A second cube beside it moves the centre of mass; the matter keeps its velocity. */
    rg_shape *cube = shape_of(rg_shape_def_box(1, 1, 1));
    rg_collider_def def = rg_collider_def_default();
    def.shape = cube;
    def.pose.position = (rg_vec3){4, 0, 0};
    rg_collider_id collider;
    assert_int_equal(rg_world_add_collider(world, body, &def, &collider, NULL), RG_OK);
    rg_shape_release(cube);
    double shift = 4 * 1000.0 / 7000;
    assert_near(rg_body_mass(world, body).mass, 7000, 1e-9);
    assert_vector(rg_body_centre_pose(world, body).position, (rg_vec3){shift, 0, 0}, 1e-14);
    assert_vector(rg_body_pose(world, body).position, (rg_vec3){0, 0, 0}, 1e-15);
    assert_vector(rg_body_velocity(world, body), (rg_vec3){0, 2 * shift, 0}, 1e-14);
    assert_int_equal(rg_body_collider_count(world, body), 2);
    rg_collider_id first = rg_body_collider_at(world, body, 0);
    assert_int_equal(rg_world_remove_collider(world, first), RG_OK);
    assert_near(rg_body_mass(world, body).mass, 1000, 1e-9);
    /* The last mass cannot go. */
    assert_int_equal(rg_world_remove_collider(world, collider), RG_INVALID_SIZE);
    assert_near(rg_body_mass(world, body).mass, 1000, 1e-9);
    assert_false(rg_collider_exists(world, first));
    assert_true(rg_collider_exists(world, collider));
    rg_world_destroy(world);
}

static void total_mass_scales(void **state) {
    (void)state;
    rg_world *world = default_world();
    rg_shape *box = shape_of(rg_shape_def_box(1, 2, 3));
    rg_collider_def collider = rg_collider_def_default();
    collider.shape = box;
    rg_body_def def = rg_body_def_default();
    def.total_mass = 12;
    def.colliders = &collider;
    def.collider_count = 1;
    rg_mass_properties mass = rg_body_mass(world, body_of(world, &def));
    rg_shape_release(box);
    assert_true(mass.mass == 12);
    assert_near(mass.inertia.m[2][2], 5, 1e-14);
    rg_world_destroy(world);
}

static void names_and_handles(void **state) {
    (void)state;
    rg_world *world = default_world();
    enum { COUNT = 2000 };
    rg_body_id ids[COUNT];
    for (int i = 0; i < COUNT; i++) {
        char name[32];
        snprintf(name, sizeof name, "body %d", i);
        rg_body_def def = massive();
        def.name = name;
        def.mass.mass = i + 1;
        ids[i] = body_of(world, &def);
    }
    rg_body_def again = massive();
    again.name = "body 77";
    rg_body_id body;
    rg_error error;
    assert_int_equal(rg_world_add_body(world, &again, &body, &error), RG_DUPLICATE_NAME);
    assert_string_equal(error.text, "name: there is a body \"body 77\" already; names are unique");
    /* Remove two of three, in a scattered order. */
    for (int i = 0; i < COUNT; i++) {
        int k = (i * 7) % COUNT;
        if (k % 3)
            assert_int_equal(rg_world_remove_body(world, ids[k]), RG_OK);
    }
    assert_int_equal(rg_world_body_count(world), (COUNT + 2) / 3);
    for (int i = 0; i < COUNT; i++) {
        char name[32];
        snprintf(name, sizeof name, "body %d", i);
        rg_status found = rg_world_find_body(world, name, &body);
        assert_int_equal(found, i % 3 ? RG_NOT_FOUND : RG_OK);
        assert_int_equal(rg_body_exists(world, ids[i]), i % 3 == 0);
        if (i % 3 == 0) {
            assert_memory_equal(&body, &ids[i], sizeof body);
            assert_string_equal(rg_body_name(world, body), name);
            assert_true(rg_body_mass(world, body).mass == i + 1);
            assert_int_equal(
                rg_body_index(world, rg_world_body_at(world, rg_body_index(world, body))),
                rg_body_index(world, body));
        }
    }
    assert_int_equal(rg_world_remove_body(world, ids[1]), RG_INVALID_HANDLE);
    assert_int_equal(rg_world_remove_body(world, (rg_body_id){0, 0}), RG_INVALID_HANDLE);
    again.name = "body 1"; /* free again */
    body_of(world, &again);
    rg_world_destroy(world);
}

static void removing_a_body_takes_its_forces(void **state) {
    (void)state;
    rg_world *world = default_world();
    rg_body_id a = add_box(world, "a", (rg_vec3){1, 1, 1}, (rg_vec3){0, 0, 0});
    rg_body_id b = add_box(world, "b", (rg_vec3){1, 1, 1}, (rg_vec3){3, 0, 0});
    rg_force_def spring = rg_force_def_default(RG_FORCE_SPRING),
                 drag = rg_force_def_default(RG_FORCE_DRAG);
    spring.body = a;
    spring.other = b;
    rg_force_id force;
    assert_int_equal(rg_world_add_force(world, &spring, &force, NULL), RG_OK);
    assert_int_equal(rg_world_add_force(world, &drag, &force, NULL), RG_OK);
    assert_int_equal(rg_world_remove_body(world, b), RG_OK);
    assert_int_equal(rg_world_force_count(world), 1);
    assert_int_equal(rg_force_get_def(world, rg_world_force_at(world, 0)).kind, RG_FORCE_DRAG);
    step_world(world, 0.01, 2);
    assert_int_equal(rg_world_remove_force(world, force), RG_OK);
    assert_int_equal(rg_world_remove_force(world, force), RG_INVALID_HANDLE);
    rg_world_destroy(world);
}

/* What is refused, and how it is said. */
static void refuse(rg_world *world, const rg_body_def *def, rg_status status, const char *text) {
    rg_body_id body;
    rg_error error;
    size_t count = rg_world_body_count(world);
    assert_int_equal(rg_world_add_body(world, def, &body, &error), status);
    assert_string_equal(error.text, text);
    assert_int_equal(body.index1, 0);
    assert_int_equal(rg_world_body_count(world), count);
}

static void bad_bodies_are_refused(void **state) {
    (void)state;
    rg_world *world = default_world();
    rg_body_def def = rg_body_def_default();
    refuse(world, &def, RG_INVALID_SIZE,
           "a dynamic body needs mass: give it a shape with a density, or a mass");
    def = massive();
    def.api_version = 77;
    refuse(world, &def, RG_VERSION_MISMATCH,
           "rg_body_def: made for interface 77, this library has 2; recompile");
    def = massive();
    def.pose.position.x = NAN;
    refuse(world, &def, RG_NOT_FINITE, "position: not finite");
    def = massive();
    def.velocity.y = INFINITY;
    refuse(world, &def, RG_NOT_FINITE, "velocity: not finite");
    def = massive();
    def.pose.orientation = (rg_quat){0, 0, 0, 2};
    refuse(world, &def, RG_INVALID_ARGUMENT, "orientation: (0, 0, 0, 2) is not a unit quaternion");
    def = massive();
    def.motion = RG_MOTION_FIXED;
    def.velocity.x = 1;
    refuse(world, &def, RG_INVALID_ARGUMENT,
           "velocity: a fixed body does not move; make it kinematic or drop the velocity");
    /* No distribution of mass has one moment larger than the sum of the other two. */
    def = massive();
    def.mass.inertia = rg_mat3_diagonal((rg_vec3){1, 1, 3});
    rg_body_id body;
    assert_int_equal(rg_world_add_body(world, &def, &body, NULL), RG_INVALID_INERTIA);
    def.mass.inertia = rg_mat3_diagonal((rg_vec3){1, 1, -1});
    assert_int_equal(rg_world_add_body(world, &def, &body, NULL), RG_INVALID_INERTIA);

    rg_shape *plane = shape_of(rg_shape_def_halfspace((rg_vec3){0, 0, 1}, 0));
    rg_collider_def collider = rg_collider_def_default();
    collider.shape = plane;
    def = massive();
    def.colliders = &collider;
    def.collider_count = 1;
    refuse(world, &def, RG_INVALID_ARGUMENT,
           "shape: a halfspace has no finite mass; its body must be fixed");
    def.motion = RG_MOTION_FIXED;
    body_of(world, &def);
    rg_shape_release(plane);

    rg_shape *disc = shape_of(rg_shape_def_disc(1));
    collider.shape = disc;
    refuse(world, &def, RG_INVALID_ARGUMENT,
           "shape: a disc is planar; say planar: true, or use a spatial shape");
    rg_shape_release(disc);
    rg_world_destroy(world);
}

static void bad_worlds_are_refused(void **state) {
    (void)state;
    rg_world *world;
    rg_world_def def = rg_world_def_default();
    def.api_version = 0;
    assert_int_equal(rg_world_create(&def, &world, NULL), RG_VERSION_MISMATCH);
    def = rg_world_def_default();
    def.gravity.z = NAN;
    assert_int_equal(rg_world_create(&def, &world, NULL), RG_NOT_FINITE);
    def = rg_world_def_default();
    def.threads = 0;
    assert_int_equal(rg_world_create(&def, &world, NULL), RG_INVALID_ARGUMENT);
    def = rg_world_def_default();
    def.settings.tolerance = 0;
    assert_int_equal(rg_world_create(&def, &world, NULL), RG_INVALID_ARGUMENT);
    def = rg_world_def_default();
    def.planar = true;
    def.gravity = (rg_vec3){0, 1, 0};
    assert_int_equal(rg_world_create(&def, &world, NULL), RG_INVALID_ARGUMENT);
    assert_null(world);
}

static void fixed_and_kinematic_take_no_loads(void **state) {
    (void)state;
    rg_world *world = default_world();
    rg_body_def def = massive();
    def.motion = RG_MOTION_FIXED;
    rg_body_id body = body_of(world, &def);
    rg_vec3 up = {0, 0, 1};
    assert_int_equal(rg_body_apply_central_force(world, body, up), RG_INVALID_ARGUMENT);
    assert_int_equal(rg_body_apply_impulse(world, body, up, up), RG_INVALID_ARGUMENT);
    assert_int_equal(rg_body_set_velocity(world, body, up), RG_INVALID_ARGUMENT);
    step_world(world, 0.1, 10);
    assert_vector(rg_body_pose(world, body).position, (rg_vec3){0, 0, 0}, 0);
    rg_world_destroy(world);
}

/* A kinematic body that is moved or driven by hand goes on from there. */
static void kinematic_bodies_can_be_steered(void **state) {
    (void)state;
    rg_world *world = default_world();
    rg_body_def def = rg_body_def_default();
    def.motion = RG_MOTION_KINEMATIC;
    def.velocity = (rg_vec3){1, 0, 0};
    rg_body_id body = body_of(world, &def);
    step_world(world, 0.25, 4);
    assert_int_equal(rg_body_set_velocity(world, body, (rg_vec3){0, 2, 0}), RG_OK);
    step_world(world, 0.25, 2);
    assert_vector(rg_body_pose(world, body).position, (rg_vec3){1, 1, 0}, 1e-15);
    assert_int_equal(rg_body_set_pose(world, body, (rg_pose){{5, 5, 5}, {0, 0, 0, 1}}), RG_OK);
    step_world(world, 0.25, 4);
    assert_vector(rg_body_pose(world, body).position, (rg_vec3){5, 7, 5}, 1e-15);
    rg_world_destroy(world);
}

static void stand_still(void *user, double time, rg_prescribed_state *motion) {
    (void)user;
    (void)time;
    (void)motion;
}

/* Putting a swinging body where it is changes nothing; a function's body cannot be put anywhere. */
static void swings_go_on_where_they_are_put(void **state) {
    (void)state;
    rg_world *world = default_world(), *other = default_world();
    rg_body_def def = rg_body_def_default();
    def.motion = RG_MOTION_KINEMATIC;
    def.prescription = (rg_prescription){.kind = RG_PRESCRIBED_OSCILLATION,
                                         .amplitude = {0, 0, 2},
                                         .rotation_amplitude = {0.3, 0, 0},
                                         .frequency = 0.7,
                                         .phase = 1};
    rg_body_id a = body_of(world, &def), b = body_of(other, &def);
    step_world(world, 0.1, 7);
    step_world(other, 0.1, 7);
    assert_int_equal(rg_body_set_pose(world, a, rg_body_pose(world, a)), RG_OK);
    rg_pose shifted = rg_body_pose(other, b);
    shifted.position.x += 5;
    assert_int_equal(rg_body_set_pose(other, b, shifted), RG_OK);
    step_world(world, 0.1, 5);
    step_world(other, 0.1, 5);
    rg_vec3 x = rg_body_pose(world, a).position;
    assert_near(x.z, 2 * sin(2 * RG_PI * 0.7 * 1.2 + 1), 1e-12);
    assert_vector(rg_body_pose(other, b).position, (rg_vec3){x.x + 5, x.y, x.z}, 1e-12);
    def.prescription = (rg_prescription){.kind = RG_PRESCRIBED_FUNCTION, .function = stand_still};
    rg_body_id c = body_of(world, &def);
    assert_int_equal(rg_body_set_pose(world, c, shifted), RG_INVALID_ARGUMENT);
    rg_world_destroy(world);
    rg_world_destroy(other);
}

static void odd_masses_and_names(void **state) {
    (void)state;
    rg_world *world = default_world();
    rg_body_def def = massive();
    rg_body_id body;
    def.name = "";
    body_of(world, &def);
    body_of(world, &def); /* the empty name is none, so no duplicate */
    def.name = NULL;
    def.mass.mass = 1e-310; /* has no reciprocal */
    assert_int_equal(rg_world_add_body(world, &def, &body, NULL), RG_INVALID_SIZE);
    def = massive();
    def.mass.inertia = rg_mat3_diagonal((rg_vec3){1e-320, 1e-320, 1e-320});
    assert_int_equal(rg_world_add_body(world, &def, &body, NULL), RG_INVALID_INERTIA);
    /* Asymmetric by rounding: made symmetric; by more: refused. */
    def.mass.inertia = rg_mat3_diagonal((rg_vec3){1, 1, 1});
    def.mass.inertia.m[0][1] = 1e-10;
    body = body_of(world, &def);
    rg_mat3 seen = rg_body_mass(world, body).inertia;
    assert_true(seen.m[0][1] == seen.m[1][0]);
    def.mass.inertia.m[0][1] = 1e-3;
    assert_int_equal(rg_world_add_body(world, &def, &body, NULL), RG_INVALID_INERTIA);
    rg_world_destroy(world);
}

static void materials_mix(void **state) {
    (void)state;
    rg_world *world = default_world();
    rg_material_id ice, rubber, standard = {0};
    rg_error error;
    rg_contact_law slippery = {.friction = 0.01, .static_friction = 0.04, .restitution = 0.1};
    rg_contact_law sticky = {.friction = 0.81, .static_friction = 1.0, .restitution = 0.8};
    rg_contact_law bad = {.friction = 0.2, .static_friction = 0.1};
    assert_int_equal(rg_world_add_material(world, "ice", &slippery, &ice, NULL), RG_OK);
    assert_int_equal(rg_world_add_material(world, "rubber", &sticky, &rubber, NULL), RG_OK);
    assert_int_equal(rg_world_add_material(world, "ice", &slippery, &ice, &error),
                     RG_DUPLICATE_NAME);
    assert_int_equal(rg_world_add_material(world, "x", &bad, &rubber, &error), RG_INVALID_ARGUMENT);
    assert_string_equal(error.text,
                        "friction: static 0.1 is below dynamic 0.2; it must be at least as large");
    assert_int_equal(rg_world_find_material(world, "rubber", &rubber), RG_OK);
    rg_contact_law law = rg_world_pair_law(world, ice, rubber);
    assert_near(law.static_friction, 0.2, 1e-15);
    assert_near(law.friction, 0.09, 1e-15);
    assert_true(law.restitution == 0.8);
    rg_contact_law special = {.friction = 0.3, .restitution = 0.5};
    assert_int_equal(rg_world_set_pair_law(world, rubber, ice, &special, NULL), RG_OK);
    assert_true(rg_world_pair_law(world, ice, rubber).restitution == 0.5);
    assert_true(rg_world_pair_law(world, rubber, ice).static_friction == 0.3);
    assert_true(rg_world_pair_law(world, standard, standard).static_friction == 0.5);
    assert_int_equal(rg_world_pair_count(world), 1);
    rg_world_destroy(world);
}

/* A pair's own law of impact; else what both materials name or the only one that names any; else
 * none. */
static void laws_of_impact_mix(void **state) {
    (void)state;
    const rg_impact_law *first = rg_impact_law_at(0), *second = rg_impact_law_at(1);
    rg_world *world = default_world();
    rg_material_id ivory, marble, steel, plain = {0};
    rg_contact_law law = rg_contact_law_default();
    assert_null(law.impact);
    law.impact = first;
    assert_int_equal(rg_world_add_material(world, "ivory", &law, &ivory, NULL), RG_OK);
    assert_int_equal(rg_world_add_material(world, "marble", &law, &marble, NULL), RG_OK);
    law.impact = second;
    assert_int_equal(rg_world_add_material(world, "steel", &law, &steel, NULL), RG_OK);
    assert_null(rg_world_pair_law(world, plain, plain).impact);
    assert_ptr_equal(rg_world_pair_law(world, ivory, marble).impact, first);
    assert_ptr_equal(rg_world_pair_law(world, plain, steel).impact, second);
    assert_ptr_equal(rg_world_pair_law(world, steel, plain).impact, second);
    assert_null(rg_world_pair_law(world, ivory, steel).impact);
    /* An entry that names none leaves it to the materials, one that does has the last word. */
    law = (rg_contact_law){.friction = 0.25};
    assert_int_equal(rg_world_set_pair_law(world, steel, plain, &law, NULL), RG_OK);
    assert_ptr_equal(rg_world_pair_law(world, plain, steel).impact, second);
    assert_true(rg_world_pair_law(world, plain, steel).static_friction == 0.25);
    law.impact = first;
    assert_int_equal(rg_world_set_pair_law(world, steel, ivory, &law, NULL), RG_OK);
    assert_ptr_equal(rg_world_pair_law(world, ivory, steel).impact, first);
    rg_world *clone;
    assert_int_equal(rg_world_clone(world, &clone), RG_OK);
    rg_world_destroy(world);
    assert_ptr_equal(rg_world_material_law(clone, marble).impact, first);
    assert_ptr_equal(rg_world_pair_law(clone, ivory, steel).impact, first);
    rg_world_destroy(clone);
}

/* Building a world survives every allocation failure: a status, no leak, nothing half added. */
static void memory_failures_are_survived(void **state) {
    (void)state;
    rg_shape *box = shape_of(rg_shape_def_box(1, 1, 1));
    rg_collider_def colliders[2] = {rg_collider_def_default(), rg_collider_def_default()};
    colliders[0].shape = colliders[1].shape = box;
    rg_body_def body = rg_body_def_default();
    body.name = "named";
    body.colliders = colliders;
    body.collider_count = 2;
    bool done = false;
    for (size_t allowed = 1; !done; allowed++) {
        counting_allocator counter;
        rg_world_def def = rg_world_def_default();
        def.allocator = counting_allocator_make(&counter);
        counter.fail_after = allowed;
        rg_world *world;
        if (rg_world_create(&def, &world, NULL) != RG_OK)
            continue;
        rg_body_id id;
        rg_status status = rg_world_add_body(world, &body, &id, NULL);
        assert_int_equal(rg_world_body_count(world), status ? 0 : 1);
        if (status) {
            assert_int_equal(status, RG_OUT_OF_MEMORY);
            assert_int_equal(rg_world_find_body(world, "named", &id), RG_NOT_FOUND);
        } else {
            rg_world *clone = NULL;
            rg_snapshot *snapshot = NULL;
            if (rg_world_clone(world, &clone) == RG_OK &&
                rg_snapshot_create(world, &snapshot) == RG_OK &&
                rg_world_restore(world, snapshot) == RG_OK)
                done = true;
            assert_int_equal(rg_world_body_count(world), 1);
            rg_snapshot_destroy(snapshot);
            rg_world_destroy(clone);
        }
        rg_world_destroy(world);
        assert_true(allowed < 1000);
    }
    rg_shape_release(box);
}

/* What the edits below work on. */
typedef struct edited {
    rg_world *world;
    rg_body_id body[2];
    rg_material_id material;
    rg_joint_id joint;
    rg_collider_def collider;
    int turn; /* names differ from turn to turn */
} edited;

static rg_status edit_body(edited *e) {
    char name[32];
    rg_body_def def = massive();
    rg_body_id id;
    snprintf(name, sizeof name, "body %d", e->turn);
    def.name = name;
    def.colliders = &e->collider;
    def.collider_count = 1;
    return rg_world_add_body(e->world, &def, &id, NULL);
}

static rg_status edit_collider(edited *e) {
    rg_collider_id id;
    return rg_world_add_collider(e->world, e->body[0], &e->collider, &id, NULL);
}

static rg_status edit_material(edited *e) {
    char name[32];
    rg_contact_law law = rg_contact_law_default();
    rg_material_id id;
    snprintf(name, sizeof name, "material %d", e->turn);
    return rg_world_add_material(e->world, name, &law, &id, NULL);
}

static rg_status edit_pair(edited *e) {
    rg_contact_law law = rg_contact_law_default();
    return rg_world_set_pair_law(e->world, e->material, (rg_material_id){1}, &law, NULL);
}

static rg_status edit_force(edited *e) {
    rg_force_def def = rg_force_def_default(RG_FORCE_CONSTANT);
    rg_force_id id;
    def.body = e->body[0];
    def.of_time[0] = "sin(t)";
    return rg_world_add_force(e->world, &def, &id, NULL);
}

static rg_status edit_joint(edited *e) {
    char name[32];
    rg_joint_def def = rg_joint_def_default(RG_JOINT_HINGE);
    rg_joint_id id;
    snprintf(name, sizeof name, "hinge %d", e->turn);
    def.name = name;
    def.body_a = e->body[0];
    def.body_b = e->body[1];
    def.axis[0].motor = RG_MOTOR_VELOCITY;
    def.axis[0].max_force = 1;
    def.axis[0].target_of_time = "cos(t)";
    return rg_world_add_joint(e->world, &def, &id, NULL);
}

static rg_status edit_axis(edited *e) {
    rg_joint_axis axis = rg_joint_get_def(e->world, e->joint).axis[0];
    axis.target_of_time = "2 * t";
    return rg_joint_set_axis(e->world, e->joint, 0, &axis, NULL);
}

/* An edit that memory fails in was none: not a byte of the state differs, the count of edits
 * included, so that the method goes on with what it knows. */
static void edits_that_memory_fails_in_leave_the_state_alone(void **state) {
    (void)state;
    rg_status (*const edits[])(edited *) = {edit_body,  edit_collider, edit_material, edit_pair,
                                            edit_force, edit_joint,    edit_axis};
    rg_shape *box = shape_of(rg_shape_def_box(1, 1, 1));
    for (size_t k = 0; k < sizeof edits / sizeof edits[0]; k++) {
        counting_allocator counter;
        rg_world_def def = rg_world_def_default();
        def.allocator = counting_allocator_make(&counter);
        edited e = {.world = world_of(&def), .collider = rg_collider_def_default()};
        e.collider.shape = box;
        rg_body_def body = massive();
        for (int i = 0; i < 2; i++)
            e.body[i] = body_of(e.world, &body);
        rg_contact_law law = rg_contact_law_default();
        rg_world_add_material(e.world, "steel", &law, &e.material, NULL);
        rg_joint_def joint = rg_joint_def_default(RG_JOINT_HINGE);
        joint.body_a = e.body[0];
        assert_int_equal(rg_world_add_joint(e.world, &joint, &e.joint, NULL), RG_OK);
        step_world(e.world, 0.01, 1);
        static char before[1 << 16], after[1 << 16];
        size_t size, refused = 0;
        /* Until one turn has grown every array. */
        for (e.turn = 0; e.turn < 40; e.turn++) {
            rg_status status = RG_OUT_OF_MEMORY;
            for (size_t allowed = 1; status; allowed++) {
                assert_int_equal(rg_world_save_state(e.world, before, sizeof before, &size), RG_OK);
                counter.resizes = 1;
                counter.fail_after = allowed;
                status = edits[k](&e);
                counter.fail_after = 0;
                if (status == RG_OK)
                    break;
                refused++;
                assert_int_equal(status, RG_OUT_OF_MEMORY);
                size_t left;
                assert_int_equal(rg_world_save_state(e.world, after, sizeof after, &left), RG_OK);
                assert_int_equal(left, size);
                assert_memory_equal(before, after, size);
            }
        }
        assert_true(refused > 0);
        rg_world_destroy(e.world);
    }
    rg_shape_release(box);
}

static void a_collider_turned_by_nearly_a_unit_quaternion_is_not_stretched(void **state) {
    (void)state;
    rg_world *world = default_world();
    rg_shape *shape = shape_of(rg_shape_def_sphere(1));
    rg_collider_def collider = rg_collider_def_default();
    collider.shape = shape;
    double part = 0.5 * (1 + 4e-7); /* as of numbers written with six digits */
    collider.pose.orientation = (rg_quat){part, part, part, part};
    rg_body_def def = rg_body_def_default();
    def.colliders = &collider;
    def.collider_count = 1;
    rg_body_id body = body_of(world, &def);
    rg_mass_properties mass = rg_body_mass(world, body);
    for (int i = 0; i < 3; i++)
        assert_near(mass.inertia.m[i][i] / (0.4 * mass.mass), 1, 1e-14);
    rg_quat q = rg_collider_get_def(world, rg_body_collider_at(world, body, 0)).pose.orientation;
    assert_near(rg_quat_norm_squared(q), 1, 1e-15);
    rg_shape_release(shape);
    rg_world_destroy(world);
}

static void go_nowhere(void *user, double time, rg_prescribed_state *state) {
    (void)user;
    (void)time;
    state->pose.position.x = NAN;
}

static void leave_the_plane(void *user, double time, rg_prescribed_state *state) {
    (void)user;
    state->pose.position = (rg_vec3){time, 3, 0};
    state->velocity = (rg_vec3){1, 2, 0};
    state->angular_velocity = (rg_vec3){1, 0, 2};
}

static void a_prescribed_function_is_checked_when_its_body_comes(void **state) {
    (void)state;
    rg_world_def planar = rg_world_def_default();
    planar.planar = true;
    rg_world *world = world_of(&planar);
    rg_body_def def = rg_body_def_default();
    def.motion = RG_MOTION_KINEMATIC;
    def.prescription.kind = RG_PRESCRIBED_FUNCTION;
    def.prescription.function = go_nowhere;
    rg_body_id body;
    assert_int_equal(rg_world_add_body(world, &def, &body, NULL), RG_NOT_FINITE);
    assert_int_equal(rg_world_body_count(world), 0);
    def.prescription.function = leave_the_plane;
    body = body_of(world, &def);
    step_world(world, 0.5, 1);
    assert_vector(rg_body_pose(world, body).position, (rg_vec3){0.5, 0, 0}, 0);
    assert_vector(rg_body_velocity(world, body), (rg_vec3){1, 0, 0}, 0);
    assert_vector(rg_body_angular_velocity(world, body), (rg_vec3){0, 0, 0}, 0);
    rg_world_destroy(world);
}

static void numbers_out_of_range_are_refused(void **state) {
    (void)state;
    rg_world *world = default_world();
    rg_body_id body = add_box(world, "b", (rg_vec3){1, 1, 1}, (rg_vec3){0, 0, 0}), none;
    rg_vec3 huge = {1.5e308, 0, 0}, beyond = {1.1e50, 0, 0}, most = {1e50, 0, 0};
    rg_vec3 centre = {0, 0, 0};
    rg_body_set_velocity(world, body, (rg_vec3){1, 2, 3});
    uint64_t hash = rg_world_state_hash(world);
    assert_int_equal(rg_body_set_velocity(world, body, (rg_vec3){INFINITY, 0, 0}), RG_NOT_FINITE);
    assert_int_equal(rg_body_set_velocity(world, body, beyond), RG_LIMIT_EXCEEDED);
    assert_int_equal(rg_body_set_angular_velocity(world, body, beyond), RG_LIMIT_EXCEEDED);
    assert_int_equal(rg_body_set_pose(world, body, rg_pose_make(beyond, rg_quat_identity())),
                     RG_LIMIT_EXCEEDED);
    assert_int_equal(rg_body_apply_impulse(world, body, huge, centre), RG_LIMIT_EXCEEDED);
    assert_int_equal(rg_body_set_gravity_scale(world, body, 1e51), RG_LIMIT_EXCEEDED);
    assert_int_equal(rg_world_set_gravity(world, beyond), RG_LIMIT_EXCEEDED);
    assert_true(rg_world_state_hash(world) == hash);
    assert_int_equal(rg_body_set_velocity(world, body, most), RG_OK);
    rg_body_set_velocity(world, body, (rg_vec3){1, 2, 3});
    assert_true(rg_world_state_hash(world) == hash);
    rg_body_def def = rg_body_def_default();
    rg_error error;
    def.has_mass = true;
    def.mass = (rg_mass_properties){.mass = 1e30, .inertia = rg_mat3_identity()};
    def.velocity = (rg_vec3){1e300, 0, 0};
    assert_int_equal(rg_world_add_body(world, &def, &none, &error), RG_LIMIT_EXCEEDED);
    assert_string_equal(error.text, "velocity: 1e+300; numbers must be at most 1e+50");
    def.velocity.x = 0;
    def.mass.mass = 1e51;
    assert_int_equal(rg_world_add_body(world, &def, &none, &error), RG_LIMIT_EXCEEDED);
    assert_string_equal(error.text, "mass: 1e+51 kg; must be between 1e-50 and 1e+50");
    /* A sum of forces that overflowed could never be taken back: no step would succeed again. */
    assert_int_equal(rg_body_apply_central_force(world, body, most), RG_OK);
    assert_int_equal(rg_body_apply_central_force(world, body, most), RG_LIMIT_EXCEEDED);
    assert_int_equal(rg_body_apply_central_force(world, body, (rg_vec3){-1e50, 0, 0}), RG_OK);
    step_world(world, 0.01, 1);
    rg_world_destroy(world);
}

/* Not even in the history of an integrator, which ends at an edit. */
static void what_is_refused_leaves_no_trace(void **state) {
    (void)state;
    rg_world_def def = rg_world_def_default();
    def.method = rg_method_find("analytic");
    def.settings.integrator = RG_INTEGRATOR_ADAMS;
    rg_world *world[2];
    rg_body_def pillar = rg_body_def_default();
    pillar.motion = RG_MOTION_FIXED;
    for (int k = 0; k < 2; k++) {
        world[k] = world_of(&def);
        rg_body_id body = add_box(world[k], "b", (rg_vec3){1, 2, 3}, (rg_vec3){0, 0, 0});
        rg_body_set_angular_velocity(world[k], body, (rg_vec3){1, 2, 3});
        rg_body_id fixed = body_of(world[k], &pillar);
        for (int i = 0; i < 20; i++) {
            step_world(world[k], 0.05, 1);
            if (k == 0)
                continue;
            rg_vec3 v = {1, 0, 0};
            assert_int_equal(rg_body_set_velocity(world[k], fixed, v), RG_INVALID_ARGUMENT);
            assert_int_equal(rg_body_apply_torque(world[k], fixed, v), RG_INVALID_ARGUMENT);
            rg_collider_id only = rg_body_collider_at(world[k], body, 0);
            assert_int_equal(rg_world_remove_collider(world[k], only), RG_INVALID_SIZE);
        }
    }
    assert_true(rg_world_state_hash(world[0]) == rg_world_state_hash(world[1]));
    rg_world_destroy(world[0]);
    rg_world_destroy(world[1]);
}

static void the_clock_can_be_set(void **state) {
    (void)state;
    rg_world *world = default_world();
    rg_body_def def = massive();
    body_of(world, &def);
    assert_int_equal(rg_world_set_time(world, 0.1), RG_OK);
    assert_near(rg_world_time(world), 0.1, 0);
    step_world(world, 0.25, 1);
    assert_near(rg_world_time(world), 0.35, 0);
    assert_int_equal(rg_world_set_time(world, NAN), RG_NOT_FINITE);
    def = massive();
    def.motion = RG_MOTION_KINEMATIC;
    def.velocity.x = 2;
    rg_body_id moving = body_of(world, &def);
    double start = rg_body_pose(world, moving).position.x;
    assert_int_equal(rg_world_set_time(world, 1.35), RG_OK);
    assert_near(rg_body_pose(world, moving).position.x, start + 2, 1e-15);
    assert_int_equal(rg_world_set_time(world, INFINITY), RG_NOT_FINITE);
    assert_near(rg_world_time(world), 1.35, 0);
    rg_world_destroy(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(origin_and_centre_are_apart),
        cmocka_unit_test(mass_comes_from_colliders),
        cmocka_unit_test(total_mass_scales),
        cmocka_unit_test(names_and_handles),
        cmocka_unit_test(removing_a_body_takes_its_forces),
        cmocka_unit_test(bad_bodies_are_refused),
        cmocka_unit_test(bad_worlds_are_refused),
        cmocka_unit_test(fixed_and_kinematic_take_no_loads),
        cmocka_unit_test(kinematic_bodies_can_be_steered),
        cmocka_unit_test(swings_go_on_where_they_are_put),
        cmocka_unit_test(odd_masses_and_names),
        cmocka_unit_test(materials_mix),
        cmocka_unit_test(laws_of_impact_mix),
        cmocka_unit_test(memory_failures_are_survived),
        cmocka_unit_test(edits_that_memory_fails_in_leave_the_state_alone),
        cmocka_unit_test(a_collider_turned_by_nearly_a_unit_quaternion_is_not_stretched),
        cmocka_unit_test(a_prescribed_function_is_checked_when_its_body_comes),
        cmocka_unit_test(the_clock_can_be_set),
        cmocka_unit_test(numbers_out_of_range_are_refused),
        cmocka_unit_test(what_is_refused_leaves_no_trace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
