/* Contact over a whole step of the method stepping: nothing passes through, nothing bumps into
 * nothing. Seams between flush bodies do not stop what slides or rolls over them, thin sheets stop
 * what is thrown at them, and what passes beside a body is not touched by it. RIGOR_LONG=1 runs
 * 10,000 shots and passes instead of some hundred. */
#include "test_world_support.h"

#include <stdio.h>
#include <stdlib.h>

#define STEP (1.0 / 240)

static int many(int few) {
    return getenv("RIGOR_LONG") ? 10000 : few;
}

static rg_world *world_without_friction(bool planar, rg_vec3 gravity) {
    rg_world_def def = rg_world_def_default();
    def.planar = planar;
    def.gravity = gravity;
    /* What a solve leaves adds up over steps. */
    def.settings.solver_tolerance = 1e-11;
    rg_world *world = world_of(&def);
    rg_contact_law law = {.static_friction = 0, .friction = 0};
    assert_int_equal(rg_world_set_material_law(world, (rg_material_id){1}, &law, NULL), RG_OK);
    return world;
}

static rg_body_id add_fixed(rg_world *world, rg_shape_def shape, rg_vec3 position) {
    rg_body_def def = rg_body_def_default();
    def.motion = RG_MOTION_FIXED;
    def.pose.position = position;
    return add_shape(world, shape, &def);
}

/* --- seams ------------------------------------------------------------------------------------ */

static const rg_vec3 wedge[] = {
    {-0.07, -0.05, -0.04}, {0.07, -0.05, -0.04}, {0, 0.08, -0.04}, {0, 0, 0.06}};

/* Height of the lowest point below the body's origin, at the pose that they start in. */
static rg_shape_def slider(int kind, double *height) {
    switch (kind) {
    case 0:
        *height = 0.075;
        return rg_shape_def_box(0.15, 0.15, 0.15);
    case 1:
        *height = 0.075;
        return rg_shape_def_sphere(0.075);
    case 2:
        *height = 0.05;
        return rg_shape_def_capsule(0.05, 0.1);
    default:
        *height = 0.04;
        return rg_shape_def_hull(wedge, 4);
    }
}

/* On flush tiles as on one slab: velocity, height and energy. */
static void seams_are_not_felt(void **state) {
    (void)state;
    double worst = 0;
    for (int kind = 0; kind < 4; kind++)
        for (int angle = 0; angle < 20; angle++) {
            rg_world *world = world_without_friction(false, (rg_vec3){0, 0, -9.81});
            for (int i = 0; i < 23; i++)
                for (int k = 0; k < 23; k++)
                    add_fixed(world, rg_shape_def_box(0.1, 0.1, 0.1),
                              (rg_vec3){0.1 * i - 0.1, 0.1 * k - 0.1, -0.05});
            double height, direction = angle * 1.5707963267948966 / 19;
            rg_body_def def = rg_body_def_default();
            rg_shape_def shape = slider(kind, &height);
            def.pose.position = (rg_vec3){0.013, 0.017, height};
            if (kind == 2) /* lying */
                def.pose.orientation = (rg_quat){0.70710678118654752, 0, 0, 0.70710678118654752};
            rg_vec3 velocity = {2 * cos(direction), 2 * sin(direction), 0};
            def.velocity = velocity;
            rg_body_id body = add_shape(world, shape, &def);
            double start = rg_body_pose(world, body).position.z;
            step_world(world, STEP, 200);
            rg_vec3 error = rg_sub(rg_body_velocity(world, body), velocity);
            worst = fmax(worst, rg_largest_entry(error));
            worst = fmax(worst, rg_length(rg_body_angular_velocity(world, body)));
            worst = fmax(worst, fabs(rg_body_pose(world, body).position.z - start));
            if (!(worst < 1e-9))
                fail_msg("shape %d at angle %d: off by %g", kind, angle, worst);
            rg_world_destroy(world);
        }
    print_message("seams: %.1e\n", worst);
}

/* Parts of one compound, as separate bodies. */
static void seams_inside_a_compound_are_not_felt(void **state) {
    (void)state;
    enum { PARTS = 24 };
    for (int kind = 0; kind < 4; kind++) {
        rg_world *world = world_without_friction(false, (rg_vec3){0, 0, -9.81});
        rg_compound_part parts[PARTS];
        rg_shape *tile = shape_of(rg_shape_def_box(0.1, 1, 0.1));
        for (int i = 0; i < PARTS; i++)
            parts[i] = (rg_compound_part){tile, {{0.1 * i, 0, -0.05}, {0, 0, 0, 1}}, 1};
        add_fixed(world, rg_shape_def_compound(parts, PARTS), (rg_vec3){0, 0, 0});
        rg_shape_release(tile);
        double height;
        rg_body_def def = rg_body_def_default();
        rg_shape_def shape = slider(kind, &height);
        def.pose.position = (rg_vec3){0.113, 0.017, height};
        if (kind == 2)
            def.pose.orientation = (rg_quat){0.70710678118654752, 0, 0, 0.70710678118654752};
        def.velocity = (rg_vec3){2, 0.1, 0};
        rg_body_id body = add_shape(world, shape, &def);
        step_world(world, STEP, 200);
        assert_vector(rg_body_velocity(world, body), def.velocity, 1e-9);
        rg_world_destroy(world);
    }
}

/* In the plane, and a step of 1 um is felt. */
static void seams_in_the_plane_and_real_steps(void **state) {
    (void)state;
    for (int real = 0; real < 2; real++) {
        rg_world *world = world_without_friction(true, (rg_vec3){0, 0, -9.81});
        for (int i = 0; i < 30; i++) {
            rg_vec3 corners[] = {
                {-0.05, 0, -0.05}, {0.05, 0, -0.05}, {0.05, 0, 0.05}, {-0.05, 0, 0.05}};
            add_fixed(world, rg_shape_def_polygon(corners, 4),
                      (rg_vec3){0.1 * i, 0, -0.05 + (real && i > 10 ? 1e-6 : 0)});
        }
        rg_vec3 corners[] = {
            {-0.07, 0, -0.07}, {0.07, 0, -0.07}, {0.07, 0, 0.07}, {-0.07, 0, 0.07}};
        rg_body_def def = rg_body_def_default();
        def.pose.position = (rg_vec3){0.2, 0, 0.07};
        def.velocity = (rg_vec3){2, 0, 0};
        rg_body_id body = add_shape(world, rg_shape_def_polygon(corners, 4), &def);
        step_world(world, STEP, 200);
        double speed = rg_body_velocity(world, body).x;
        if (real)
            assert_true(speed < 1.9);
        else
            assert_near(speed, 2, 1e-9);
        rg_world_destroy(world);
    }
}

/* --- thin things ------------------------------------------------------------------------------ */

/* Tilted cubes at 1 to 300 m/s on panes of 0.1 to 10 mm: none through. */
static void shots_do_not_pass(void **state) {
    (void)state;
    rg_random random = rg_random_make(15);
    int shots = many(300);
    double deepest = 0;
    for (int i = 0; i < shots; i++) {
        double thickness = 1e-4 * pow(100, rg_random_unit(&random));
        double speed = pow(300, rg_random_unit(&random));
        rg_world *world = world_without_friction(false, (rg_vec3){0, 0, 0});
        add_fixed(world, rg_shape_def_box(thickness, 4, 4), (rg_vec3){1, 0, 0});
        double size = rg_random_between(&random, 0.02, 0.1);
        rg_body_def def = rg_body_def_default();
        def.pose.position = (rg_vec3){
            1 - 0.5 * thickness - 0.87 * size - rg_random_between(&random, 0, 1.5) * speed * STEP,
            rg_random_between(&random, -1, 1), rg_random_between(&random, -1, 1)};
        def.pose.orientation = rg_random_rotation(&random);
        def.velocity = (rg_vec3){speed, 0.3 * speed * (rg_random_unit(&random) - 0.5), 0};
        def.angular_velocity = rg_scale(10, rg_random_direction(&random));
        rg_body_id body = add_shape(world, rg_shape_def_box(size, size, size), &def);
        for (int k = 0; k < 4; k++) {
            rg_step_info info = step_once(world, STEP);
            deepest = fmax(deepest, -info.certificate.min_gap);
            rg_vec3 p = rg_body_pose(world, body).position;
            assert_int_equal(info.passed_through, 0);
            if (fabs(p.y) < 1.9 && fabs(p.z) < 1.9 && !(p.x < 1))
                fail_msg("shot %d: %g m thick, %g m/s: passed", i, thickness, speed);
        }
        rg_world_destroy(world);
    }
    print_message("shots: %d, deepest %.1e m\n", shots, deepest);
}

static rg_vec3 corners[12];

/* Cards, rods and curved shapes with aspect ratios up to 100, which touch at one point and turn. */
static rg_shape_def projectile(int kind, rg_random *random) {
    double size = rg_random_between(random, 0.02, 0.1);
    double thin = size / pow(100, rg_random_unit(random));
    for (int i = 0; i < 12; i++)
        corners[i] = rg_scale(0.5 * size, rg_random_direction(random));
    switch (kind) {
    case 0:
        return rg_shape_def_box(size, size, thin);
    case 1:
        return rg_shape_def_box(size, thin, thin);
    case 2:
        return rg_shape_def_capsule(0.5 * thin, size);
    case 3:
        return rg_shape_def_cylinder(0.5 * size, thin);
    case 4:
        return rg_shape_def_cone(0.5 * size, sqrt(size * thin));
    case 5:
        return rg_shape_def_ellipsoid(0.5 * size, 0.25 * size, 0.5 * thin);
    case 6:
        return rg_shape_def_sphere(0.5 * size);
    default:
        return rg_shape_def_hull(corners, 12);
    }
}

/* With and without friction and restitution, spinning at 10 to 200 rad/s. Where they are, and the
 * judge. */
static void shots_of_all_shapes_do_not_pass(void **state) {
    (void)state;
    rg_random random = rg_random_make(18);
    int shots = many(240);
    uint64_t told = 0;
    int refused = 0;
    double deepest = 0;
    for (int i = 0; i < shots; i++) {
        double thickness = 1e-4 * pow(100, rg_random_unit(&random));
        double speed = pow(300, rg_random_unit(&random));
        rg_world *world = world_without_friction(false, (rg_vec3){0, 0, 0});
        double friction = 0.5 * (i / 8 % 3);
        rg_contact_law law = {.static_friction = friction,
                              .friction = friction,
                              .restitution = i / 24 % 3 == 0 ? 0.7 : 0};
        assert_int_equal(rg_world_set_material_law(world, (rg_material_id){1}, &law, NULL), RG_OK);
        add_fixed(world, rg_shape_def_box(thickness, 4, 4), (rg_vec3){1, 0, 0});
        rg_body_def def = rg_body_def_default();
        rg_shape_def shape = projectile(i % 8, &random);
        rg_shape *made = shape_of(shape);
        rg_vec3 centre = rg_shape_centre(made);
        double reach = rg_length(centre) + rg_shape_circumradius(made);
        rg_shape_release(made);
        double before = rg_random_between(&random, 0, 1.5) * speed * STEP;
        double y = rg_random_between(&random, -1, 1);
        double z = rg_random_between(&random, -1, 1);
        double sideways = rg_random_between(&random, -0.15, 0.15);
        double spin = 10 * pow(20, rg_random_unit(&random));
        def.pose.position = (rg_vec3){1 - 0.5 * thickness - reach - before, y, z};
        def.pose.orientation = rg_random_rotation(&random);
        def.velocity = (rg_vec3){speed, sideways * speed, 0};
        def.angular_velocity = rg_scale(spin, rg_random_direction(&random));
        rg_body_id body = add_shape(world, shape, &def);
        double least = INFINITY;
        for (int k = 0; k < 6; k++) {
            rg_step_info info;
            rg_status status = rg_world_step(world, STEP, &info, NULL);
            /* A rod 0.4 mm thick at 200 m/s may turn at 7e5 rad/s after its corner hit: too fast
             * for a step, which says so. */
            refused += status == RG_ITERATION_LIMIT;
            if (status == RG_ITERATION_LIMIT &&
                STEP * rg_length(rg_body_angular_velocity(world, body)) > 2000)
                break;
            assert_int_equal(status, RG_OK);
            least = fmin(least, info.certificate.min_gap);
            /* With restitution nothing is felt before it is touched. */
            if (law.restitution > 0 && rg_body_velocity(world, body).x < (1 - 1e-9) * speed)
                assert_true(least < 1e-6);
            rg_vec3 p = rg_pose_apply(rg_body_pose(world, body), centre);
            told += info.passed_through;
            deepest = fmax(deepest, -info.certificate.min_gap / thickness);
            if (fabs(p.y) < 1.9 && fabs(p.z) < 1.9 && !(p.x < 1))
                fail_msg("shot %d: %g m thick, %g m/s: passed", i, thickness, speed);
        }
        rg_world_destroy(world);
    }
    print_message("shots of all shapes: %d, deepest %.2f of the sheet, %d refused\n", shots,
                  deepest, refused);
    assert_int_equal(told, 0);
    assert_true(1000 * refused <= shots);
}

/* Dice dropped on sheets. */
static void dice_stay_on_sheets(void **state) {
    (void)state;
    rg_random random = rg_random_make(16);
    static const double sheets[] = {0.002, 0.001, 0.001, 0.0001};
    static const double dice[] = {0.016, 0.016, 0.005, 0.005};
    for (int s = 0; s < 4; s++)
        for (int i = 0; i < 20; i++) {
            rg_world_def world_def = rg_world_def_default();
            rg_world *world = world_of(&world_def);
            add_fixed(world, rg_shape_def_box(4, 4, sheets[s]), (rg_vec3){0, 0, 0});
            rg_body_def def = rg_body_def_default();
            def.pose.position = (rg_vec3){rg_random_between(&random, -1.5, 1.5),
                                          rg_random_between(&random, -1.5, 1.5),
                                          rg_random_between(&random, 1, 2.2)};
            def.pose.orientation = rg_random_rotation(&random);
            rg_body_id body = add_shape(world, rg_shape_def_box(dice[s], dice[s], dice[s]), &def);
            step_world(world, STEP, 300);
            assert_true(rg_body_pose(world, body).position.z > 0.4 * dice[s]);
            rg_world_destroy(world);
        }
}

/* --- near misses ------------------------------------------------------------------------------ */

/* Whether two shapes meet in straight motion, by the certified search over all of it. */
static bool meets(rg_shape_def fixed_def, rg_shape_def shape_def, const rg_body_def *def,
                  double time) {
    rg_shape *fixed = shape_of(fixed_def), *shape = shape_of(shape_def);
    rg_linear_motion still = {.start = rg_pose_identity()};
    rg_linear_motion motion = {
        .start = def->pose, .velocity = def->velocity, .angular_velocity = def->angular_velocity};
    rg_path paths[2] = {rg_path_linear(&still), rg_path_linear(&motion)};
    rg_first_contact_settings settings = rg_first_contact_settings_default(1e-9);
    rg_first_contact impact;
    assert_int_equal(rg_first_contact_between((rg_moving_shape){fixed, &paths[0]},
                                              (rg_moving_shape){shape, &paths[1]}, 0, time,
                                              &settings, &impact),
                     RG_OK);
    rg_shape_release(fixed);
    rg_shape_release(shape);
    return impact.result != RG_FIRST_CONTACT_NONE;
}

static void near_misses_are_not_felt(void **state) {
    (void)state;
    rg_random random = rg_random_make(17);
    int passes = many(400), missed = 0;
    for (int i = 0; i < passes; i++) {
        double clearance = 1e-6 * pow(1e4, rg_random_unit(&random));
        double speed = rg_random_between(&random, 1, 30);
        rg_world *world = world_without_friction(false, (rg_vec3){0, 0, 0});
        rg_shape_def block = rg_shape_def_box(1, 1, 1), box = rg_shape_def_box(0.05, 0.05, 0.05);
        add_fixed(world, block, (rg_vec3){0, 0, 0});
        rg_body_def def = rg_body_def_default();
        def.pose.position = (rg_vec3){-0.6 - rg_random_between(&random, 0, 1), 0.525 + clearance,
                                      rg_random_between(&random, -0.4, 0.4)};
        if (i % 2) { /* past a corner, turned and turning about z */
            def.pose.orientation =
                rg_quat_of_rotation_vector((rg_vec3){0, 0, rg_random_between(&random, 0, 1.57)});
            def.pose.position.y = 0.5 + 0.0354 + clearance;
            def.angular_velocity = (rg_vec3){0, 0, rg_random_between(&random, -20, 20)};
            def.velocity.y = rg_random_between(&random, -0.002, 0.002);
        }
        def.velocity.x = speed;
        double time = 2.2 / speed;
        int steps = (int)(time / STEP) + 1;
        rg_vec3 velocity = def.velocity, spin = def.angular_velocity;
        rg_body_id body = add_shape(world, box, &def);
        if (!meets(block, box, &def, steps * STEP)) {
            missed++;
            step_world(world, STEP, steps);
            if (!(rg_largest_entry(rg_sub(rg_body_velocity(world, body), velocity)) < 1e-12 &&
                  rg_largest_entry(rg_sub(rg_body_angular_velocity(world, body), spin)) < 1e-9))
                fail_msg("pass %d at %g m, %g m/s: felt", i, clearance, speed);
        }
        rg_world_destroy(world);
    }
    print_message("near misses: %d of %d passes\n", missed, passes);
    assert_true(missed > passes / 2);
}

/* --- slender bodies --------------------------------------------------------------------------- */

/* A card of 0.3 mm that falls flat: at most second order in the step, and none is left below the
 * floor. */
static void cards_do_not_sink(void **state) {
    (void)state;
    double first = 0, last = 0;
    for (int i = 0; i < 5; i++) {
        double step = 1.0 / 120 / (1 << i), deepest = 0;
        rg_world *world = default_world();
        add_fixed(world, rg_shape_def_halfspace((rg_vec3){0, 0, 1}, 0), (rg_vec3){0, 0, 0});
        rg_body_def def = rg_body_def_default();
        def.pose.position = (rg_vec3){0, 0, 0.5};
        def.pose.orientation = rg_quat_of_rotation_vector((rg_vec3){0.03, 0.01, 0});
        rg_body_id card = add_shape(world, rg_shape_def_box(0.09, 0.06, 0.0003), &def);
        double speed = 0;
        for (int k = 0; k < (int)(1 / step); k++) {
            rg_step_info info = step_once(world, step);
            deepest = fmax(deepest, info.certificate.max_penetration);
            speed = fmax(speed, rg_length(rg_body_velocity(world, card)));
        }
        print_message("card, h = 1/%d s: %.1e m, C = %.2g per m\n", 120 << i, deepest,
                      deepest / (speed * speed * step * step));
        first = i == 0 ? deepest : first;
        last = deepest;
        assert_true(deepest <= 0.1 * speed * speed * step * step);
        assert_near(rg_body_pose(world, card).position.z, 0.00015, 1e-6);
        rg_world_destroy(world);
    }
    /* Down to 1/960 s it lands within one step, turning by the same angle. */
    double order = log(first / last) / log(16);
    print_message("card, order in h: %.1f\n", order);
    assert_true(order >= 2);
}

/* A needle that spins about its own axis at 70,000 rad/s falls on a plate. Where its surface is
 * does not depend on the spin, and it ends lying on the plate, driven by friction. */
static void needles_that_spin(void **state) {
    (void)state;
    rg_world *world = default_world();
    add_fixed(world, rg_shape_def_box(4, 4, 0.1), (rg_vec3){0, 0, -0.05});
    rg_body_def def = rg_body_def_default();
    def.pose.position = (rg_vec3){0, 0, 0.01};
    def.pose.orientation = rg_quat_of_rotation_vector((rg_vec3){1.58, 0, 0});
    def.angular_velocity = rg_rotate(def.pose.orientation, (rg_vec3){0, 0, 7e4});
    rg_body_id needle = add_shape(world, rg_shape_def_capsule(0.0005, 0.1), &def);
    double before = rg_world_energy(world), deepest = 0;
    for (int k = 0; k < 48; k++) {
        rg_step_info info = step_once(world, STEP);
        assert_int_equal(info.passed_through, 0);
        assert_int_equal(info.solver_failures, 0);
        deepest = fmax(deepest, -info.certificate.min_gap);
    }
    print_message("needle: deepest %.1e m\n", deepest);
    assert_true(deepest < 0.0005); /* its radius */
    assert_near(rg_body_pose(world, needle).position.z, 0.0005, 1e-6);
    assert_true(rg_length(rg_body_angular_velocity(world, needle)) > 6e4);
    assert_true(rg_world_energy(world) < before);
    rg_world_destroy(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(seams_are_not_felt),
        cmocka_unit_test(seams_inside_a_compound_are_not_felt),
        cmocka_unit_test(seams_in_the_plane_and_real_steps),
        cmocka_unit_test(shots_do_not_pass),
        cmocka_unit_test(shots_of_all_shapes_do_not_pass),
        cmocka_unit_test(dice_stay_on_sheets),
        cmocka_unit_test(near_misses_are_not_felt),
        cmocka_unit_test(cards_do_not_sink),
        cmocka_unit_test(needles_that_spin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
