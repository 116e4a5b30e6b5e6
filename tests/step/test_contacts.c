/* Contacts in the fixed step beside closed forms: weight, thresholds, sliding and stopping,
 * rolling, restitution, moving supports; the same bits from snapshots and threads; no heap calls at
 * rest. */
#include "test_world_support.h"

#include "base/base_trig.h"
#include "rigor/contact_force.h"
#include "rigor/solver.h"

#include <string.h>

static rg_body_id add_plane(rg_world *world, rg_vec3 normal) {
    rg_body_def def = rg_body_def_default();
    def.motion = RG_MOTION_FIXED;
    return add_shape(world, rg_shape_def_halfspace(normal, 0), &def);
}

static void set_law(rg_world *world, double static_friction, double friction, double restitution) {
    rg_contact_law law = {
        .static_friction = static_friction, .friction = friction, .restitution = restitution};
    assert_int_equal(rg_world_set_material_law(world, (rg_material_id){0}, &law, NULL), RG_OK);
}

/* Steps and asserts on every step that the certificate holds. */
static void step_certified(rg_world *world, double h, int count, double penetration) {
    rg_error error;
    rg_step_info info;
    for (int i = 0; i < count; i++) {
        if (rg_world_step(world, h, &info, &error))
            fail_msg("%s", error.text);
        assert_int_equal(info.solver_failures, 0);
        assert_true(!(info.certificate.complementarity > 1e-8));
        assert_true(!(info.certificate.max_penetration > penetration));
        assert_true(info.certificate.momentum_error < 1e-12);
        assert_true(info.energy.closure_rel < 1e-9);
    }
}

static void weight_is_carried(void **state) {
    (void)state;
    rg_world *world = default_world();
    add_plane(world, (rg_vec3){0, 0, 1});
    rg_body_id lower = add_box(world, "lower", (rg_vec3){1, 1, 1}, (rg_vec3){0, 0, 0.5});
    rg_body_id upper = add_box(world, "upper", (rg_vec3){1, 1, 1}, (rg_vec3){0, 0, 1.5});
    step_certified(world, 1.0 / 240, 20, 1e-12);
    rg_vec3 force, torque;
    assert_int_equal(rg_body_contact_force(world, upper, &force, &torque), 4);
    assert_vector(force, (rg_vec3){0, 0, 9810}, 1e-4);
    assert_vector(torque, (rg_vec3){0, 0, 0}, 1e-4);
    assert_int_equal(rg_body_contact_force(world, lower, &force, &torque), 8);
    assert_vector(force, (rg_vec3){0, 0, 9810}, 1e-4);
    size_t count;
    const rg_contact_force *forces = rg_world_contact_forces(world, &count);
    assert_int_equal(count, 8);
    double on_floor = 0;
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(forces[i].mode, RG_MODE_STICK);
        assert_near(forces[i].normal.z, 1, 1e-15);
        on_floor += forces[i].position.z < 0.5 ? forces[i].normal_force : 0;
    }
    assert_near(on_floor, 19620, 1e-4);
    assert_true(rg_length(rg_body_velocity(world, upper)) < 1e-10);
    rg_world_destroy(world);
}

/* Sticks up to tan(theta) = mu and not beyond; slides with g (sin - mu cos). */
static void the_threshold_is_the_cone(void **state) {
    (void)state;
    double theta = RG_PI / 6, s = rg_sin(theta), c = rg_cos(theta), threshold = s / c;
    for (int k = 0; k < 4; k++) {
        double mu = threshold * (k == 0 ? 1 + 1e-6 : k == 1 ? 1 - 1e-6 : k == 2 ? 1.3 : 0.5);
        rg_world *world = default_world();
        set_law(world, mu, mu, 0);
        rg_vec3 n = {s, 0, c};
        add_plane(world, n);
        rg_body_def def = rg_body_def_default();
        def.pose.position = rg_scale(0.5, n);
        def.pose.orientation = rg_quat_of_rotation_vector((rg_vec3){0, theta, 0});
        rg_body_id box = add_shape(world, rg_shape_def_box(1, 1, 1), &def);
        step_certified(world, 1.0 / 240, 240, 1e-11);
        double speed = rg_dot(rg_body_velocity(world, box), (rg_vec3){c, 0, -s});
        double expected = fmax(0, 9.81 * (s - mu * c));
        assert_near(speed, expected, 1e-9 + 1e-9 * expected);
        size_t count;
        const rg_contact_force *forces = rg_world_contact_forces(world, &count);
        for (size_t i = 0; i < count; i++)
            if (forces[i].mode != RG_MODE_SEPARATING)
                assert_int_equal(forces[i].mode, mu > threshold ? RG_MODE_STICK : RG_MODE_SLIP);
        rg_world_destroy(world);
    }
}

/* Between the two coefficients: what rests stays, what slides goes on sliding, by g (sin - mu cos)
 * with the dynamic one. */
static void static_friction_holds_what_rests(void **state) {
    (void)state;
    const double theta = RG_PI / 6, s = rg_sin(theta), c = rg_cos(theta), h = 1.0 / 240;
    const double holds = 1.2 * s / c, slips = 0.6 * s / c;
    for (int slides = 0; slides < 2; slides++) {
        rg_world *world = default_world();
        set_law(world, holds, slips, 0);
        rg_vec3 n = {s, 0, c}, down = {c, 0, -s};
        add_plane(world, n);
        rg_body_def def = rg_body_def_default();
        def.pose.position = rg_scale(0.5, n);
        def.pose.orientation = rg_quat_of_rotation_vector((rg_vec3){0, theta, 0});
        def.velocity = rg_scale(slides, down);
        rg_body_id box = add_shape(world, rg_shape_def_box(1, 1, 1), &def);
        step_certified(world, h, 120, 1e-11);
        double expected = slides ? 1 + 120 * h * 9.81 * (s - slips * c) : 0;
        assert_near(rg_dot(rg_body_velocity(world, box), down), expected, 1e-9);
        rg_world_destroy(world);
    }
}

/* A block with v = 3 m/s on mu = 0.4 stops in 1.146789 m and 0.764526 s, converging with the
 * step. */
static void a_block_slides_to_a_stop(void **state) {
    (void)state;
    double distance = 9.0 / (2 * 0.4 * 9.81), time = 3 / (0.4 * 9.81), last = INFINITY;
    assert_near(distance, 1.146789, 1e-6);
    assert_near(time, 0.764526, 1e-6);
    for (int k = 0; k < 4; k++) {
        double h = 0.01 / (1 << k);
        rg_world *world = default_world();
        set_law(world, 0.4, 0.4, 0);
        add_plane(world, (rg_vec3){0, 0, 1});
        rg_body_id box = add_box(world, "box", (rg_vec3){1, 1, 0.2}, (rg_vec3){0, 0, 0.1});
        rg_body_set_velocity(world, box, (rg_vec3){3 * 0.6, 3 * 0.8, 0});
        double stopped = 0;
        for (int i = 0; i < 1.0 / h; i++) {
            step_certified(world, h, 1, 1e-11);
            if (stopped == 0 && rg_length(rg_body_velocity(world, box)) < 1e-9)
                stopped = rg_world_time(world);
        }
        rg_vec3 moved = rg_body_pose(world, box).position;
        double error = fabs(rg_length((rg_vec3){moved.x, moved.y, 0}) - distance);
        assert_near(moved.x * 0.8 - moved.y * 0.6, 0, 1e-9); /* straight on */
        assert_near(stopped, time, 1.01 * h);
        assert_true(error < 1.6 * h);
        assert_true(error < 0.6 * last); /* first order */
        last = error;
        assert_true(rg_length(rg_body_velocity(world, box)) < 1e-10);
        rg_world_destroy(world);
    }
}

/* A sphere pushed without spin rolls at 5/7 of its speed after 2 v / (7 mu g). */
static void a_sphere_goes_from_sliding_to_rolling(void **state) {
    (void)state;
    double last = INFINITY, mu = 0.4, v0 = 3, when = 2 * v0 / (7 * mu * 9.81);
    assert_near(when, 0.218436, 1e-6);
    for (int k = 0; k < 3; k++) {
        double h = 0.004 / (1 << k);
        rg_world *world = default_world();
        set_law(world, mu, mu, 0);
        add_plane(world, (rg_vec3){0, 0, 1});
        rg_body_def def = rg_body_def_default();
        def.pose.position.z = 0.3;
        def.velocity.x = v0;
        rg_body_id ball = add_shape(world, rg_shape_def_sphere(0.3), &def);
        double rolling = 0;
        for (int i = 0; i < 0.5 / h; i++) {
            step_certified(world, h, 1, 1e-10);
            size_t count;
            const rg_contact_force *forces = rg_world_contact_forces(world, &count);
            assert_int_equal(count, 1);
            if (forces[0].mode == RG_MODE_ROLL && rolling == 0)
                rolling = rg_world_time(world);
            assert_true(forces[0].mode == (rolling > 0 ? RG_MODE_ROLL : RG_MODE_SLIP));
        }
        assert_near(rolling, when, 2 * h);
        double error = fabs(rg_body_velocity(world, ball).x - v0 * 5 / 7);
        assert_true(error < 1e-9 || error < 0.6 * last);
        last = error;
        assert_near(rg_body_angular_velocity(world, ball).y * 0.3, rg_body_velocity(world, ball).x,
                    1e-9);
        rg_world_destroy(world);
    }
}

/* A cube dropped flat on four corners: sum of impulses (1 + e) m v, and no spin. */
static void a_cube_lands_without_spin(void **state) {
    (void)state;
    double restitutions[3] = {0, 0.5, 1};
    for (int k = 0; k < 3; k++) {
        double e = restitutions[k], v = 2, h = 1e-3;
        rg_world_def def = rg_world_def_default();
        def.gravity = (rg_vec3){0, 0, 0};
        rg_world *world = world_of(&def);
        set_law(world, 0.5, 0.5, e);
        add_plane(world, (rg_vec3){0, 0, 1});
        rg_body_id cube = add_box(world, "cube", (rg_vec3){1, 1, 1}, (rg_vec3){0, 0, 0.5});
        rg_body_set_velocity(world, cube, (rg_vec3){0, 0, -v});
        step_certified(world, h, 1, 1e-12);
        size_t count;
        const rg_contact_force *forces = rg_world_contact_forces(world, &count);
        double sum = 0;
        for (size_t i = 0; i < count; i++)
            sum += forces[i].impulse.z;
        assert_near(sum, (1 + e) * 1000 * v, 1e-6);
        assert_vector(rg_body_angular_velocity(world, cube), (rg_vec3){0, 0, 0}, 1e-9);
        assert_vector(rg_body_velocity(world, cube), (rg_vec3){0, 0, e * v}, 1e-9);
        rg_world_destroy(world);
    }
}

/* The unit box of a world: a square polygon where it is planar. */
static rg_shape_def unit_box(bool planar) {
    static const rg_vec3 corners[4] = {
        {-0.5, 0, -0.5}, {0.5, 0, -0.5}, {0.5, 0, 0.5}, {-0.5, 0, 0.5}};
    return planar ? rg_shape_def_polygon(corners, 4) : rg_shape_def_box(1, 1, 1);
}

/* A fixed box with restitution e against everything, its top at z = 0. */
static void add_support(rg_world *world, const char *name, double x, double y, double e) {
    rg_contact_law law = {.restitution = e};
    rg_collider_def collider = rg_collider_def_default();
    assert_int_equal(rg_world_add_material(world, name, &law, &collider.material, NULL), RG_OK);
    rg_body_def def = rg_body_def_default();
    def.motion = RG_MOTION_FIXED;
    def.pose.position = (rg_vec3){x, y, -0.5};
    add_collider(world, unit_box(rg_world_is_planar(world)), collider, &def);
}

/* A world without gravity and friction, solved by a named solver. */
static rg_world *bouncing_world(bool planar, const char *solver) {
    rg_world_def def = rg_world_def_default();
    def.gravity = (rg_vec3){0, 0, 0};
    def.planar = planar;
    def.settings.solver = rg_solver_find(solver);
    assert_non_null(def.settings.solver);
    rg_world *world = world_of(&def);
    set_law(world, 0, 0, 0);
    return world;
}

static const char *const exact_solvers[] = {"auto",         "dantzig", "lemke",    "qp",
                                            "gauss-seidel", "newton",  "enumerate"};

/* A unit square lands at 1 m/s on two supports, left -0.5..-0.4 with e = 0.8, right 0.4..0.5 with e
 * = 0.2: four contacts, of which two determine the motion. Newton's law holds with equality at -0.4
 * and 0.5, v + 0.4 w = 0.8 and v - 0.5 w = 0.2: v = 8/15, w = 2/3, whichever contacts the solver
 * loads. */
static void redundant_contacts_bounce_by_newtons_law(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof exact_solvers / sizeof *exact_solvers; k++) {
        rg_world *world = bouncing_world(true, exact_solvers[k]);
        add_support(world, "left", -0.9, 0, 0.8);
        add_support(world, "right", 0.9, 0, 0.2);
        rg_body_def def = rg_body_def_default();
        def.pose.position = (rg_vec3){0, 0, 0.5};
        def.velocity = (rg_vec3){0, 0, -1};
        rg_body_id box = add_shape(world, unit_box(true), &def);
        step_certified(world, 1e-3, 1, 1e-12);
        assert_near(rg_body_velocity(world, box).z, 8.0 / 15, 1e-8);
        assert_near(fabs(rg_body_angular_velocity(world, box).y), 2.0 / 3, 1e-8);
        rg_world_destroy(world);
    }
}

/* A cube lands on four supports under its corners, e = 0.8 and 0 across each diagonal: it leaves at
 * 0.8 m/s without spin, also where the solver loads the other diagonal. */
static void four_legs_bounce_by_newtons_law(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof exact_solvers / sizeof *exact_solvers; k++) {
        rg_world *world = bouncing_world(false, exact_solvers[k]);
        add_support(world, "a", -0.9, -0.9, 0.8);
        add_support(world, "b", 0.9, -0.9, 0);
        add_support(world, "c", 0.9, 0.9, 0.8);
        add_support(world, "d", -0.9, 0.9, 0);
        rg_body_id cube = add_box(world, "cube", (rg_vec3){1, 1, 1}, (rg_vec3){0, 0, 0.5});
        rg_body_set_velocity(world, cube, (rg_vec3){0, 0, -1});
        step_certified(world, 1e-3, 1, 1e-12);
        assert_vector(rg_body_velocity(world, cube), (rg_vec3){0, 0, 0.8}, 1e-8);
        assert_vector(rg_body_angular_velocity(world, cube), (rg_vec3){0, 0, 0}, 1e-8);
        rg_world_destroy(world);
    }
}

/* Baraff 1994 survey, section 6: a rod that meets the floor with slip, e = 1 and mu = 1, where
 * Newton's law with friction along the first slip would gain 34.7 J: ours gains nothing. */
static void restitution_gains_no_energy(void **state) {
    (void)state;
    rg_world_def def = rg_world_def_default();
    def.gravity = (rg_vec3){0, 0, 0};
    def.planar = true;
    rg_world *world = world_of(&def);
    set_law(world, 1, 1, 1);
    add_plane(world, (rg_vec3){0, 0, 1});
    double theta = 1.2, c = rg_cos(theta), s = rg_sin(theta);
    const rg_vec3 corners[4] = {{-1, 0, -1e-3}, {1, 0, -1e-3}, {1, 0, 1e-3}, {-1, 0, 1e-3}};
    rg_body_def body = rg_body_def_default();
    body.angle = theta;
    body.total_mass = 1;
    body.pose.position = (rg_vec3){0, 0, s + 1e-3 * c};
    body.velocity = (rg_vec3){-0.2, 0, -1};
    rg_body_id rod = add_shape(world, rg_shape_def_polygon(corners, 4), &body);
    double before = rg_world_energy(world);
    rg_error error;
    rg_step_info info;
    if (rg_world_step(world, 1e-3, &info, &error))
        fail_msg("%s", error.text);
    assert_int_equal(info.impacts, 1);
    assert_true(rg_world_energy(world) <= before * (1 + 1e-12));
    assert_true(rg_body_velocity(world, rod).z > -1); /* it was stopped or thrown back */
    assert_true(info.energy.closure_rel < 1e-12);
    rg_world_destroy(world);
}

/* A platform that goes up and down and sideways takes its load along, and the ledger says so. */
static void platforms_carry(void **state) {
    (void)state;
    rg_world *world = default_world();
    rg_body_def def = rg_body_def_default();
    def.motion = RG_MOTION_KINEMATIC;
    def.velocity = (rg_vec3){0.3, -0.2, 0.5};
    def.prescription.kind = RG_PRESCRIBED_VELOCITY;
    rg_body_id platform = add_shape(world, rg_shape_def_box(4, 4, 1), &def);
    rg_body_id load = add_box(world, "load", (rg_vec3){1, 1, 1}, (rg_vec3){0.5, 0.2, 1});
    rg_body_set_velocity(world, load, (rg_vec3){0.3, -0.2, 0.5});
    double work = 0, before = rg_world_energy(world);
    rg_step_info info;
    for (int i = 0; i < 240; i++) {
        assert_int_equal(rg_world_step(world, 1.0 / 240, &info, NULL), RG_OK);
        work += info.energy.prescribed_work;
        assert_true(info.energy.closure_rel < 1e-9);
    }
    assert_vector(
        rg_sub(rg_body_pose(world, load).position, rg_body_pose(world, platform).position),
        (rg_vec3){0.5, 0.2, 1}, 1e-9);
    assert_near(work, rg_world_energy(world) - before, 1e-6);
    assert_near(work, 1000 * 9.81 * 0.5, 1e-6);
    rg_world_destroy(world);
}

static rg_world *falling_heap(int threads, const rg_allocator *allocator) {
    rg_world_def def = rg_world_def_default();
    def.threads = threads;
    if (allocator)
        def.allocator = *allocator;
    rg_world *world = world_of(&def);
    add_plane(world, (rg_vec3){0, 0, 1});
    rg_random random = rg_random_make(23);
    for (int i = 0; i < 12; i++) {
        rg_body_def body = rg_body_def_default();
        body.pose.position =
            (rg_vec3){2.5 * (i % 3), 2.5 * (i / 3 % 2), 0.9 + 1.3 * (double)(i / 6)};
        body.pose.orientation = rg_random_rotation(&random);
        body.velocity = rg_scale(2, rg_random_direction(&random));
        rg_shape_def shape = i % 3 == 0   ? rg_shape_def_sphere(0.4)
                             : i % 3 == 1 ? rg_shape_def_box(0.8, 0.6, 0.5)
                                          : rg_shape_def_cylinder(0.4, 0.6);
        add_shape(world, shape, &body);
    }
    return world;
}

static void threads_and_snapshots_keep_the_bits(void **state) {
    (void)state;
    rg_world *one = falling_heap(1, NULL), *two = falling_heap(2, NULL);
    step_world(one, 1.0 / 240, 120);
    step_world(two, 1.0 / 240, 120);
    assert_true(rg_world_state_hash(one) == rg_world_state_hash(two));
    rg_snapshot *snapshot;
    rg_world *clone;
    assert_int_equal(rg_snapshot_create(one, &snapshot), RG_OK);
    assert_int_equal(rg_world_clone(one, &clone), RG_OK);
    step_world(one, 1.0 / 240, 60);
    uint64_t hash = rg_world_state_hash(one);
    step_world(clone, 1.0 / 240, 60);
    assert_true(rg_world_state_hash(clone) == hash);
    assert_int_equal(rg_world_restore(one, snapshot), RG_OK);
    step_world(one, 1.0 / 240, 60);
    assert_true(rg_world_state_hash(one) == hash);
    /* As bytes, into a world that was just built. */
    size_t size;
    assert_int_equal(rg_world_save_state(two, NULL, 0, &size), RG_OK);
    void *bytes = malloc(size);
    assert_int_equal(rg_world_save_state(two, bytes, size, &size), RG_OK);
    rg_world *fresh = falling_heap(1, NULL);
    assert_int_equal(rg_world_load_state(fresh, bytes, size, NULL), RG_OK);
    step_world(fresh, 1.0 / 240, 60);
    assert_true(rg_world_state_hash(fresh) == hash);
    free(bytes);
    rg_snapshot_destroy(snapshot);
    rg_world_destroy(one);
    rg_world_destroy(two);
    rg_world_destroy(clone);
    rg_world_destroy(fresh);
}

static void rest_makes_no_heap_call(void **state) {
    (void)state;
    counting_allocator counter;
    rg_allocator allocator = counting_allocator_make(&counter);
    rg_world_def def = rg_world_def_default();
    def.allocator = allocator;
    rg_world *world = world_of(&def);
    add_plane(world, (rg_vec3){0, 0, 1});
    for (int i = 0; i < 5; i++)
        add_box(world, NULL, (rg_vec3){1, 1, 1}, (rg_vec3){0, 0, 0.5 + i});
    step_world(world, 1.0 / 240, 30);
    size_t resizes = counter.resizes;
    step_world(world, 1.0 / 240, 100);
    assert_int_equal(counter.resizes, resizes);
    rg_world_destroy(world);
}

/* Every allocation of a step with contacts may fail: a status, nothing lost, and on it goes. */
static void memory_failures_lose_nothing(void **state) {
    (void)state;
    counting_allocator counter;
    rg_allocator allocator = counting_allocator_make(&counter);
    rg_world *world = falling_heap(1, &allocator), *reference = falling_heap(1, NULL);
    int failures = 0;
    for (int step = 0; step < 60; step++) {
        uint64_t before = rg_world_state_hash(world);
        for (int k = 0;; k++) {
            counter.resizes = 1;
            counter.fail_after = 1 + (size_t)k;
            rg_status status = rg_world_step(world, 1.0 / 240, NULL, NULL);
            if (status == RG_OK)
                break;
            assert_int_equal(status, RG_OUT_OF_MEMORY);
            assert_true(rg_world_state_hash(world) == before);
            failures++;
        }
        counter.fail_after = 0;
        step_world(reference, 1.0 / 240, 1);
        assert_true(rg_world_state_hash(world) == rg_world_state_hash(reference));
    }
    assert_true(failures > 20);
    rg_world_destroy(world);
    rg_world_destroy(reference);
}

/* A fast ball into a row of balls at rest, a little apart: within one step it reaches several of
 * them, and none is passed through. */
static void impacts_within_a_step_are_followed(void **state) {
    (void)state;
    rg_world_def def = rg_world_def_default();
    def.gravity = (rg_vec3){0, 0, 0};
    rg_world *world = world_of(&def);
    for (int i = 0; i < 6; i++) {
        rg_body_def body = rg_body_def_default();
        body.pose.position.x = i == 0 ? -0.3 : 0.21 * i;
        body.velocity.x = i == 0 ? 20 : 0;
        add_shape(world, rg_shape_def_sphere(0.1), &body);
    }
    double momentum = rg_world_momentum(world).x;
    step_certified(world, 1.0 / 240, 12, 1e-10);
    assert_near(rg_world_momentum(world).x, momentum, 1e-9 * momentum);
    for (size_t i = 0; i < 6; i++)
        assert_near(rg_body_velocity(world, rg_world_body_at(world, i)).x, 20.0 / 6, 1e-8);
    rg_world_destroy(world);
}

/* Two boxes, one half inside the other and both in the floor: they come apart slowly. */
static void overlaps_separate_without_exploding(void **state) {
    (void)state;
    rg_world *world = default_world();
    add_plane(world, (rg_vec3){0, 0, 1});
    add_box(world, "lower", (rg_vec3){1, 1, 1}, (rg_vec3){0, 0, 0.3});
    rg_body_id upper = add_box(world, "upper", (rg_vec3){1, 1, 1}, (rg_vec3){0.2, 0.1, 1.0});
    double highest = 0;
    rg_step_info info;
    for (int i = 0; i < 480; i++) {
        assert_int_equal(rg_world_step(world, 1.0 / 240, &info, NULL), RG_OK);
        highest = fmax(highest, rg_body_pose(world, upper).position.z);
    }
    assert_true(info.certificate.max_penetration < 1e-9);
    assert_true(highest < 1.5 + 0.5 + 0.2); /* no higher above its place than it was deep in all */
    assert_true(rg_length(rg_body_velocity(world, upper)) < 1e-6);
    rg_world_destroy(world);
}

/* A ball slides outwards on a face that turns at w about an axis at a distance y: it should press
 * on the face with m (2 w x' - w^2 y), where x'' = w^2 x along it. A step that moves it straight on
 * leaves it half of that acceleration times h^2 deep. The share gamma of an overlap is taken back
 * in every step, so that those of earlier steps sum up to 1 / gamma, beside the one of the step
 * itself. */
static void a_share_of_an_overlap_is_taken_back(void **state) {
    (void)state;
    const double w = 2, a = 0.5, radius = 0.1, y = a + radius, x0 = 0.2, v0 = 4, h = 1.0 / 240;
    const double t = 120 * h, e = rg_exp(w * t), cosine = (e + 1 / e) / 2, sine = (e - 1 / e) / 2;
    const double x = x0 * cosine + v0 / w * sine, v = x0 * w * sine + v0 * cosine;
    const double drift = (2 * w * v - w * w * y) * h * h / 2; /* the largest: of the last step */
    for (int k = 0; k < 3; k++) {
        double gamma = 1.0 / (1 << k), deepest = 0;
        rg_world_def def = rg_world_def_default();
        def.gravity = (rg_vec3){0, 0, 0};
        def.settings.gamma = gamma;
        rg_world *world = world_of(&def);
        set_law(world, 0, 0, 0);
        rg_body_def face = rg_body_def_default(), ball = rg_body_def_default();
        face.motion = RG_MOTION_KINEMATIC;
        face.angular_velocity = (rg_vec3){0, 0, w};
        add_shape(world, rg_shape_def_box(20, 2 * a, 1), &face);
        ball.pose.position = (rg_vec3){x0, y, 0};
        ball.velocity = (rg_vec3){v0 - w * y, w * x0, 0};
        rg_body_id body = add_shape(world, rg_shape_def_sphere(radius), &ball);
        for (int i = 0; i < 120; i++) {
            rg_step_info info = step_once(world, h);
            assert_int_equal(info.solver_failures, 0);
            deepest = fmax(deepest, info.certificate.max_penetration);
        }
        double far = sqrt(x * x + y * y);
        assert_near(rg_length(rg_body_pose(world, body).position), far, 1e-3 * far);
        print_message("gamma %g: %.3g drifts deep\n", gamma, deepest / drift);
        assert_true(deepest <= 1.1 * (1 + 1 / gamma) * drift);
        rg_world_destroy(world);
    }
}

/* The friction polygon: its force on a body that slips is that of the nearest corner. */
static void polygons_err_as_they_must(void **state) {
    (void)state;
    double mu = 0.3, theta = RG_PI / 9, s = rg_sin(theta), c = rg_cos(theta);
    for (int moving = 0; moving < 2; moving++)
        for (int directions = 8; directions <= 32; directions *= 2)
            for (int k = 0; k < 3; k++) {
                double yaw = k * RG_PI / 12; /* of the line of fall against the x axis */
                rg_world_def def = rg_world_def_default();
                def.settings.friction_directions = directions;
                rg_world *world = world_of(&def);
                set_law(world, mu, mu, 0);
                /* Gravity turned instead of the plane: the tangents stay the axes. */
                rg_vec3 fall = {rg_cos(yaw), rg_sin(yaw), 0}, side = {-fall.y, fall.x, 0};
                assert_int_equal(
                    rg_world_set_gravity(world, rg_add_scaled(rg_scale(9.81 * s, fall), -9.81 * c,
                                                              (rg_vec3){0, 0, 1})),
                    RG_OK);
                add_plane(world, (rg_vec3){0, 0, 1});
                rg_body_id box = add_box(world, "box", (rg_vec3){1, 1, 0.2}, (rg_vec3){0, 0, 0.1});
                double h = 1.0 / 240, pitch = 2 * RG_PI / directions, start = moving ? 10 : 0;
                double delta = yaw - pitch * floor(yaw / pitch + 0.5);
                rg_body_set_velocity(world, box, rg_scale(start, fall));
                step_certified(world, h, 1, 1e-11);
                rg_vec3 v = rg_body_velocity(world, box);
                double along = (rg_dot(v, fall) - start) / h - 9.81 * (s - mu * c);
                double across = rg_dot(v, side) / h;
                if (moving) { /* slip along the line of fall: the corner that faces it most */
                    assert_near(along, mu * 9.81 * c * (1 - rg_cos(delta)), 1e-7);
                    assert_near(fabs(across), mu * 9.81 * c * fabs(rg_sin(delta)), 1e-7);
                    rg_world_destroy(world);
                    continue;
                }
                /* From rest friction takes away what it can: the force on the polygon nearest to
                 * gravity's ull, which lies on a side and not in a corner unless the pull is far
                 * stronger. */
                double pull[2] = {9.81 * s * fall.x, 9.81 * s * fall.y};
                double best = INFINITY, left[2] = {0};
                for (int corner = 0; corner < directions; corner++) {
                    double r = mu * 9.81 * c, from = corner * pitch, to = from + pitch;
                    double a[2] = {r * rg_cos(from), r * rg_sin(from)};
                    double e[2] = {r * rg_cos(to) - a[0], r * rg_sin(to) - a[1]};
                    double t = ((pull[0] - a[0]) * e[0] + (pull[1] - a[1]) * e[1]) /
                               (e[0] * e[0] + e[1] * e[1]);
                    t = t < 0 ? 0 : t > 1 ? 1 : t;
                    double rest[2] = {pull[0] - a[0] - t * e[0], pull[1] - a[1] - t * e[1]};
                    double distance = rest[0] * rest[0] + rest[1] * rest[1];
                    if (distance < best)
                        best = distance, left[0] = rest[0], left[1] = rest[1];
                }
                assert_near(v.x / h, left[0], 1e-7);
                assert_near(v.y / h, left[1], 1e-7);
                rg_world_destroy(world);
            }
}

/* A box stands on an edge of gaps that differ by the sine of its tilt. What is less than
 * RG_STEP_FLUSH does not turn it; more is taken back. */
static void flush_points_do_not_turn_a_body(void **state) {
    (void)state;
    static const double tilts[] = {5e-11, 1e-8};
    for (int k = 0; k < 2; k++) {
        rg_world *world = default_world();
        add_plane(world, (rg_vec3){0, 0, 1});
        rg_body_def def = rg_body_def_default();
        def.pose.position = (rg_vec3){0, 0, 0.5};
        def.pose.orientation = rg_quat_of_rotation_vector((rg_vec3){0, tilts[k], 0});
        rg_body_id box = add_shape(world, rg_shape_def_box(1, 1, 1), &def);
        step_certified(world, 1.0 / 240, 10, 1e-8);
        double left = 2 * rg_body_pose(world, box).orientation.y;
        assert_near(left, k == 0 ? tilts[0] : 0, 1e-13);
        assert_true(rg_length(rg_body_angular_velocity(world, box)) < 1e-11);
        rg_world_destroy(world);
    }
}

static void settings_are_checked(void **state) {
    (void)state;
    rg_world *world = default_world();
    rg_method_settings settings = rg_world_settings(world);
    rg_error error;
    settings.gamma = 1.5;
    assert_int_equal(rg_world_set_method(world, NULL, &settings, &error), RG_INVALID_ARGUMENT);
    assert_non_null(strstr(error.text, "gamma"));
    settings.gamma = 1, settings.friction_directions = 7;
    assert_int_equal(rg_world_set_method(world, NULL, &settings, &error), RG_INVALID_ARGUMENT);
    assert_non_null(strstr(error.text, "7 corners"));
    settings.friction_directions = 0, settings.solver_tolerance = 0;
    assert_int_equal(rg_world_set_method(world, NULL, &settings, &error), RG_INVALID_ARGUMENT);
    assert_non_null(strstr(error.text, "solver tolerance"));
    rg_world_destroy(world);
}

/* Forces are those of the last step: a method without contacts must not leave the old ones, which
 * the judge would count again, on bodies that may be gone. */
static void another_method_leaves_no_forces(void **state) {
    (void)state;
    rg_world *world = default_world();
    rg_body_id floor = add_plane(world, (rg_vec3){0, 0, 1});
    add_box(world, "box", (rg_vec3){1, 1, 1}, (rg_vec3){0, 0, 0.5});
    step_certified(world, 1.0 / 240, 3, 1e-12);
    size_t count;
    rg_world_contact_forces(world, &count);
    assert_int_equal(count, 4);
    rg_method_settings settings = rg_world_settings(world);
    assert_int_equal(rg_world_set_method(world, rg_method_find("analytic"), &settings, NULL),
                     RG_OK);
    assert_int_equal(rg_world_remove_body(world, floor), RG_OK);
    step_certified(world, 1.0 / 240, 3, 1);
    rg_world_contact_forces(world, &count);
    assert_int_equal(count, 0);
    rg_world_destroy(world);
}

/* What has left the ground has no force, with any method. */
static void what_flies_has_no_forces(void **state) {
    (void)state;
    static const char *const methods[] = {"stepping", "analytic", "penalty"};
    for (int m = 0; m < 3; m++) {
        rg_world_def def = rg_world_def_default();
        def.method = rg_method_find(methods[m]);
        rg_world *world = world_of(&def);
        add_plane(world, (rg_vec3){0, 0, 1});
        rg_body_id box = add_box(world, "box", (rg_vec3){1, 1, 1}, (rg_vec3){0, 0, 0.5});
        size_t count;
        rg_vec3 force, torque;
        step_world(world, 1.0 / 240, 5);
        (void)rg_world_contact_forces(world, &count);
        assert_true(count > 0);
        rg_body_set_pose(world, box, rg_pose_make(rg_vec3_make(0, 0, 5), rg_quat_identity()));
        step_world(world, 1.0 / 240, 1);
        (void)rg_world_contact_forces(world, &count);
        assert_int_equal(count, 0);
        assert_int_equal(rg_body_contact_force(world, box, &force, &torque), 0);
        assert_vector(force, (rg_vec3){0, 0, 0}, 0);
        rg_world_destroy(world);
    }
}

/* Two discs, the upper one 1e6 times as heavy: a small planar problem whose forces are known to
 * less than the solvers' aim, which is no proof that there are none. */
static void heavy_discs_are_carried(void **state) {
    (void)state;
    rg_world_def world_def = rg_world_def_default();
    world_def.planar = true;
    for (double ratio = 1e3; ratio < 2e7; ratio *= 10) {
        rg_world *world = world_of(&world_def);
        add_plane(world, (rg_vec3){0, 0, 1});
        rg_body_def def = rg_body_def_default();
        def.pose.position.z = 0.5, def.total_mass = 1;
        add_shape(world, rg_shape_def_disc(0.5), &def);
        def.pose.position.z = 1.5, def.total_mass = ratio;
        rg_body_id heavy = add_shape(world, rg_shape_def_disc(0.5), &def);
        step_certified(world, 1.0 / 240, 20, 1e-11);
        rg_vec3 force;
        rg_body_contact_force(world, heavy, &force, NULL);
        assert_near(force.z / (9.81 * ratio), 1, 1e-8);
        rg_world_destroy(world);
    }
}

/* Where gravity gives next to no speed in a step, relative speeds are still only as good as the
 * speeds they are differences of. */
static void slow_gravity_asks_no_more_than_there_is(void **state) {
    (void)state;
    const double gravities[] = {0, 1e-12, 1e-6};
    for (size_t k = 0; k < 3; k++) {
        rg_world *world = default_world();
        assert_int_equal(rg_world_set_gravity(world, (rg_vec3){0, 0, -gravities[k]}), RG_OK);
        add_plane(world, (rg_vec3){0, 0, 1});
        rg_body_id lower = add_box(world, "lower", (rg_vec3){1, 1, 1}, (rg_vec3){0, 0, 0.5});
        rg_body_id upper = add_box(world, "upper", (rg_vec3){1, 1, 1}, (rg_vec3){0.01, 0, 1.5});
        rg_vec3 velocity = {10, 3, 0};
        assert_int_equal(rg_body_set_velocity(world, lower, velocity), RG_OK);
        assert_int_equal(rg_body_set_velocity(world, upper, velocity), RG_OK);
        assert_int_equal(rg_body_set_angular_velocity(world, upper, (rg_vec3){0, 0, 3}), RG_OK);
        step_certified(world, 1.0 / 240, 30, 1e-9);
        rg_world_destroy(world);
    }
}

/* A force that in one step brings a body from rest through the floor: how far it reaches is not in
 * the velocity that it starts with. */
static void forces_do_not_push_through(void **state) {
    (void)state;
    for (double force = 1e3; force < 2e8; force *= 100) {
        rg_world *world = default_world();
        add_plane(world, (rg_vec3){0, 0, 1});
        rg_body_id box = add_box(world, "box", (rg_vec3){1, 1, 1}, (rg_vec3){0, 0, 1.2});
        for (int i = 0; i < 30; i++) {
            rg_step_info info;
            assert_int_equal(rg_body_apply_central_force(world, box, (rg_vec3){0, 0, -force}),
                             RG_OK);
            assert_int_equal(rg_world_step(world, 1.0 / 240, &info, NULL), RG_OK);
            assert_true(!(info.certificate.max_penetration > 1e-9));
        }
        rg_world_destroy(world);
    }
}

/* Under a large weight the room to a bound is so large that its rounding hides who is nearest. */
static void polygons_take_large_weights(void **state) {
    (void)state;
    rg_world_def world_def = rg_world_def_default();
    world_def.settings.friction_directions = 8;
    rg_world *world = world_of(&world_def);
    add_plane(world, (rg_vec3){0, 0, 1});
    rg_body_def def = rg_body_def_default();
    def.pose.position.z = 0.5, def.total_mass = 1;
    add_shape(world, rg_shape_def_box(1, 1, 1), &def);
    def.pose.position.z = 1.5, def.total_mass = 1e6;
    rg_body_id heavy = add_shape(world, rg_shape_def_box(1, 1, 1), &def);
    step_world(world, 1.0 / 240, 30);
    assert_near(rg_body_pose(world, heavy).position.z, 1.5, 1e-6);
    rg_world_destroy(world);
}

/* An ellipsoid that rolls and slides, a ball that slides and two that meet in flight: islands of
 * one contact, which a solver that is chosen by name solves as problems like any other. */
/* A plate over n x n posts whose tops lie between `least` and twice that below it: how far it has
 * come down after a tenth of a second. Its weight is carried in every case. */
static double plate_comes_down(int n, double least) {
    rg_world *world = default_world();
    uint32_t random = 1;
    add_plane(world, (rg_vec3){0, 0, 1});
    for (int i = 0; i < n * n; i++) {
        random = random * 1664525u + 1013904223u;
        double height = 0.5 - least * (1 + (double)(random >> 8) / 0x1000000);
        add_box(world, NULL, (rg_vec3){0.5, 0.5, height}, (rg_vec3){i % n, i / n, height / 2});
    }
    double middle = 0.5 * (n - 1);
    rg_body_id plate =
        add_box(world, "plate", (rg_vec3){n, n, 0.5}, (rg_vec3){middle, middle, 0.75});
    rg_error error;
    for (int i = 0; i < 24; i++)
        assert_int_equal(rg_world_step(world, 1.0 / 240, NULL, &error), RG_OK);
    rg_vec3 force, torque;
    double weight = 9.81 * 500 * n * n;
    rg_body_contact_force(world, plate, &force, &torque);
    assert_vector(force, (rg_vec3){0, 0, weight}, 1e-6 * weight);
    double down = 0.75 - rg_body_pose(world, plate).position.z;
    rg_world_destroy(world);
    return down;
}

/* With more than RG_STEP_SMALL contacts and RG_STEP_HEAP bodies, gaps up to RG_STEP_LEVEL of
 * |g| h^2 (8.5e-8 m) count as none and larger ones do not; with fewer all count. */
static void small_gaps_of_many_contacts_count_as_none(void **state) {
    (void)state;
    assert_near(plate_comes_down(11, 4.2e-8), 0, 1e-15);
    assert_true(plate_comes_down(11, 1e-6) > 0.9e-6);
    assert_true(plate_comes_down(3, 1e-8) > 0.9e-8);
}

static void single_contacts_are_solved_like_others(void **state) {
    (void)state;
    for (int k = 0; k < 3; k++) {
        rg_vec3 end[2][4], spin[2];
        for (int named = 0; named < 2; named++) {
            rg_world_def def = rg_world_def_default();
            def.settings.solver_tolerance = 1e-11;
            def.settings.solver = named ? rg_solver_find("gauss-seidel") : NULL;
            rg_world *world = world_of(&def);
            set_law(world, 0.3 * k, 0.2 * k, 0);
            add_plane(world, (rg_vec3){0, 0, 1});
            rg_body_def body = rg_body_def_default();
            rg_body_id id[4];
            body.pose.position = (rg_vec3){0, 0, 0.32};
            id[0] = add_shape(world, rg_shape_def_ellipsoid(0.5, 0.4, 0.3), &body);
            rg_body_set_velocity(world, id[0], (rg_vec3){0.5, 0.7, 0});
            for (int i = 1; i < 4; i++) {
                body.pose.position = (rg_vec3){i == 1 ? 3 : 6, 0, i == 1 ? 0.2 : 3 + 0.45 * i};
                id[i] = add_shape(world, rg_shape_def_sphere(0.2), &body);
                rg_body_set_velocity(world, id[i], (rg_vec3){1, 0, i == 3 ? -2 : 0});
            }
            step_certified(world, 1.0 / 240, 60, 1e-4);
            for (int i = 0; i < 4; i++)
                end[named][i] = rg_body_centre_pose(world, id[i]).position;
            spin[named] = rg_body_angular_velocity(world, id[0]);
            rg_world_destroy(world);
        }
        for (int i = 0; i < 4; i++)
            assert_vector(end[0][i], end[1][i], 1e-9);
        assert_vector(spin[0], spin[1], 1e-8);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weight_is_carried),
        cmocka_unit_test(the_threshold_is_the_cone),
        cmocka_unit_test(static_friction_holds_what_rests),
        cmocka_unit_test(a_block_slides_to_a_stop),
        cmocka_unit_test(a_sphere_goes_from_sliding_to_rolling),
        cmocka_unit_test(a_cube_lands_without_spin),
        cmocka_unit_test(redundant_contacts_bounce_by_newtons_law),
        cmocka_unit_test(four_legs_bounce_by_newtons_law),
        cmocka_unit_test(restitution_gains_no_energy),
        cmocka_unit_test(platforms_carry),
        cmocka_unit_test(threads_and_snapshots_keep_the_bits),
        cmocka_unit_test(rest_makes_no_heap_call),
        cmocka_unit_test(memory_failures_lose_nothing),
        cmocka_unit_test(impacts_within_a_step_are_followed),
        cmocka_unit_test(overlaps_separate_without_exploding),
        cmocka_unit_test(a_share_of_an_overlap_is_taken_back),
        cmocka_unit_test(polygons_err_as_they_must),
        cmocka_unit_test(another_method_leaves_no_forces),
        cmocka_unit_test(what_flies_has_no_forces),
        cmocka_unit_test(heavy_discs_are_carried),
        cmocka_unit_test(slow_gravity_asks_no_more_than_there_is),
        cmocka_unit_test(forces_do_not_push_through),
        cmocka_unit_test(polygons_take_large_weights),
        cmocka_unit_test(flush_points_do_not_turn_a_body),
        cmocka_unit_test(small_gaps_of_many_contacts_count_as_none),
        cmocka_unit_test(single_contacts_are_solved_like_others),
        cmocka_unit_test(settings_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
