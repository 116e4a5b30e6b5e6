/* Making, refusing, sharing and releasing shapes; compounds; want of memory. */
#include "shape_helpers.h"

#include <pthread.h>

static void expect_refusal(rg_shape_def def, rg_status status, const char *text) {
    rg_error error;
    rg_shape *shape = (rg_shape *)&def;
    assert_int_equal(rg_shape_create(&def, NULL, &shape, &error), status);
    assert_null(shape);
    assert_int_equal(error.status, status);
    assert_string_equal(error.text, text);
    assert_int_equal(rg_shape_create(&def, NULL, &shape, NULL), status);
}

static void bad_sizes(void **state) {
    (void)state;
    expect_refusal(rg_shape_def_box(1, 0, 1), RG_INVALID_SIZE,
                   "box: size y is 0; must be positive (metres)");
    expect_refusal(rg_shape_def_box(-1, 1, 1), RG_INVALID_SIZE,
                   "box: size x is -1; must be positive (metres)");
    expect_refusal(rg_shape_def_box(1, 1, NAN), RG_NOT_FINITE,
                   "box: size z is nan; must be a finite number of metres");
    expect_refusal(rg_shape_def_box(1, 1, 1e60), RG_INVALID_SIZE,
                   "box: size z is 1e60; must be between 1e-50 and 1e50 m");
    expect_refusal(rg_shape_def_sphere(0), RG_INVALID_SIZE,
                   "sphere: radius is 0; must be positive (metres)");
    expect_refusal(rg_shape_def_sphere(INFINITY), RG_NOT_FINITE,
                   "sphere: radius is inf; must be a finite number of metres");
    expect_refusal(rg_shape_def_sphere(1e-300), RG_INVALID_SIZE,
                   "sphere: radius is 1e-300; must be between 1e-50 and 1e50 m");
    expect_refusal(rg_shape_def_capsule(1, -2), RG_INVALID_SIZE,
                   "capsule: length is -2; must be positive (metres)");
    expect_refusal(rg_shape_def_cylinder(1, 0), RG_INVALID_SIZE,
                   "cylinder: height is 0; must be positive (metres)");
    expect_refusal(rg_shape_def_cone(-1, 1), RG_INVALID_SIZE,
                   "cone: radius is -1; must be positive (metres)");
    expect_refusal(rg_shape_def_ellipsoid(1, -0.5, 1), RG_INVALID_SIZE,
                   "ellipsoid: semi-axis y is -0.5; must be positive (metres)");
    expect_refusal(rg_shape_def_disc(0), RG_INVALID_SIZE,
                   "disc: radius is 0; must be positive (metres)");
    expect_refusal(rg_shape_def_halfspace(rg_vec3_make(0, 0, 0), 1), RG_INVALID_SIZE,
                   "halfspace: normal is zero; must be a direction, such as [0, 0, 1]");
    expect_refusal(rg_shape_def_halfspace(rg_vec3_make(0, NAN, 0), 1), RG_NOT_FINITE,
                   "halfspace: normal is not finite; must be a direction");
    expect_refusal(rg_shape_def_halfspace(rg_vec3_make(0, 0, 1), INFINITY), RG_NOT_FINITE,
                   "halfspace: offset is inf; must be a finite number of metres");
    expect_refusal((rg_shape_def){.kind = (rg_shape_kind)99}, RG_INVALID_ARGUMENT,
                   "there is no shape kind 99; give a value of rg_shape_kind");
}

static void names_and_defs(void **state) {
    (void)state;
    static const char *const names[RG_SHAPE_KIND_COUNT] = {
        "halfspace", "box",  "sphere",   "capsule", "cylinder", "cone",
        "ellipsoid", "hull", "compound", "polygon", "disc",     "terrain"};
    for (int i = 0; i < RG_SHAPE_KIND_COUNT; i++)
        assert_string_equal(rg_shape_kind_name((rg_shape_kind)i), names[i]);
    assert_string_equal(rg_shape_kind_name((rg_shape_kind)-1), "unknown");
    rg_shape *capsule = make_shape(rg_shape_def_capsule(0.5, 2));
    rg_shape_def def = rg_shape_get_def(capsule);
    assert_true(def.kind == RG_SHAPE_CAPSULE && def.radius == 0.5 && def.length == 2);
    rg_shape *again = make_shape(def);
    assert_true(rg_shape_volume(again) == rg_shape_volume(capsule));
    rg_shape_release(capsule);
    rg_shape_release(again);
    rg_shape_release(NULL);
    rg_vec3 points[5] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0.1, 0.1, 0.1}};
    rg_shape *hull = make_shape(rg_shape_def_hull(points, 5));
    def = rg_shape_get_def(hull);
    assert_int_equal(def.point_count, 5);
    assert_memory_equal(def.points, points, sizeof points);
    assert_true(def.points != points);
    assert_int_equal(rg_shape_polyhedron(hull)->vertex_count, 4); /* the inner one is dropped */
    rg_shape_release(hull);
}

/* ------------------------------------------------------------------ compounds */

static const rg_pose at_origin = {{0, 0, 0}, {0, 0, 0, 1}};

static void compound_of_boxes(void **state) {
    (void)state;
    /* an L of three unit cubes */
    rg_shape *cube = make_shape(rg_shape_def_box(1, 1, 1));
    rg_compound_part parts[3] = {{cube, at_origin, 1}, {cube, at_origin, 1}, {cube, at_origin, 1}};
    parts[1].pose.position.x = 1;
    parts[2].pose.position.z = 1;
    rg_shape *shape = make_shape(rg_shape_def_compound(parts, 3));
    rg_shape_release(cube); /* the compound has its own references */
    assert_false(rg_shape_is_convex(shape));
    assert_true(rg_shape_is_bounded(shape));
    assert_near(rg_shape_volume(shape), 3, 1e-15);
    rg_mass_properties m = rg_shape_mass(shape, 2);
    assert_near(m.mass, 6, 1e-15);
    assert_near(m.centre.x, 1.0 / 3, 1e-15);
    assert_near(m.centre.z, 1.0 / 3, 1e-15);
    /* each cube 1/6, distances squared to the centre 2/9, 5/9, 5/9 */
    assert_near(m.inertia.m[1][1], 2 * (3.0 / 6 + 12.0 / 9), 1e-14);
    rg_bounds b = rg_shape_bounds(shape, at_origin);
    assert_true(b.lower.x == -0.5 && b.upper.x == 1.5 && b.lower.y == -0.5 && b.upper.z == 1.5);
    double expected = 0; /* farthest corner from the centre of mass */
    for (int part = 0; part < 3; part++)
        for (int i = 0; i < 8; i++) {
            rg_vec3 p = {(part == 1) + (i & 1 ? 0.5 : -0.5), i & 2 ? 0.5 : -0.5,
                         (part == 2) + (i & 4 ? 0.5 : -0.5)};
            expected = fmax(expected, rg_length(rg_sub(p, m.centre)));
        }
    assert_near(rg_shape_circumradius(shape), expected, 1e-15);
    rg_shape_def def = rg_shape_get_def(shape);
    assert_int_equal(def.part_count, 3);
    rg_shape *again = make_shape(def);
    assert_true(rg_shape_circumradius(again) == rg_shape_circumradius(shape));
    rg_shape_release(shape);
    assert_near(rg_shape_volume(again), 3, 1e-15); /* outlives the one that it was copied from */
    rg_shape_release(again);
}

static void compound_density_and_motion(void **state) {
    (void)state;
    rg_random random = rg_random_make(41);
    rg_shape *ball = make_shape(rg_shape_def_sphere(0.5));
    rg_shape *rod = make_shape(rg_shape_def_cylinder(0.1, 2));
    rg_compound_part parts[2] = {{ball, random_pose(&random, 2), 3},
                                 {rod, random_pose(&random, 2), 1}};
    rg_shape *shape = make_shape(rg_shape_def_compound(parts, 2));
    rg_mass_properties expected =
        rg_mass_add(rg_mass_transform(rg_shape_mass(ball, 30), parts[0].pose),
                    rg_mass_transform(rg_shape_mass(rod, 10), parts[1].pose));
    assert_true(mass_difference(rg_shape_mass(shape, 10), expected, 1) < 1e-14);
    rg_shape_release(shape);
    rg_shape_release(ball);
    rg_shape_release(rod);
}

/* The circumradius of a compound is the farthest distance of any part, whatever its kind. */
static void compound_reach(void **state) {
    (void)state;
    rg_random random = rg_random_make(42);
    rg_shape_def defs[] = {rg_shape_def_sphere(0.7),
                           rg_shape_def_capsule(0.3, 1.2),
                           rg_shape_def_cylinder(0.4, 0.5),
                           rg_shape_def_cone(0.6, 1.1),
                           rg_shape_def_ellipsoid(0.3, 0.9, 2.1),
                           rg_shape_def_box(1, 2, 3)};
    for (size_t k = 0; k < sizeof defs / sizeof *defs; k++)
        for (int trial = 0; trial < 20; trial++) {
            rg_shape *shape = make_shape(defs[k]), *weight = make_shape(rg_shape_def_sphere(0.01));
            /* a heavy little ball pulls the centre to where we want it */
            rg_compound_part parts[2] = {{shape, at_origin, 1e-9}, {weight, at_origin, 1e9}};
            parts[1].pose.position = rg_scale(trial ? 0.5 : 0, rg_random_direction(&random));
            rg_shape *compound = make_shape(rg_shape_def_compound(parts, 2));
            rg_vec3 c = rg_shape_centre(compound);
            double reach = rg_shape_circumradius(compound), most = 0;
            for (int i = 0; i < 20000; i++) {
                rg_vec3 d = rg_random_direction(&random);
                rg_vec3 p = rg_shape_support(shape, d, NULL);
                most = fmax(most, rg_length(rg_sub(p, c)));
            }
            assert_true(reach >= most - 1e-12 && reach < 1.003 * most);
            rg_shape_release(compound);
            rg_shape_release(shape);
            rg_shape_release(weight);
        }
}

/* The centre of two ellipsoids is theirs but for rounding: so small that its square vanishes beside
 * 1. */
static void compound_reach_from_the_middle(void **state) {
    (void)state;
    rg_shape *egg = make_shape(rg_shape_def_ellipsoid(0.3, 0.9, 2.1));
    const double off[] = {0, 1e-300, 1e-17, 1e-16, 3e-16, 1e-12};
    for (size_t i = 0; i < sizeof off / sizeof *off; i++) {
        rg_compound_part parts[2] = {{egg, at_origin, 1}, {egg, at_origin, 1}};
        parts[1].pose.position = (rg_vec3){off[i], off[i], off[i]};
        rg_shape *shape = make_shape(rg_shape_def_compound(parts, 2));
        assert_near(rg_shape_circumradius(shape), 2.1 + off[i] / 2, 3e-15);
        rg_shape_release(shape);
    }
    rg_shape_release(egg);
}

/* Everything in range for itself, and the sum beyond it. */
static void compounds_beyond_the_numbers(void **state) {
    (void)state;
    static const char words[] = "compound: its volume, mass, inertia or radius is beyond the range "
                                "of numbers; must be smaller or less dense";
    rg_shape *cube = make_shape(rg_shape_def_box(1, 1, 1)),
             *large = make_shape(rg_shape_def_box(1e50, 1e50, 1e50));
    rg_compound_part heavy[2] = {{cube, at_origin, 1e308}, {cube, at_origin, 1e308}},
                     dense[1] = {{large, at_origin, 1e200}},
                     wide[2] = {{cube, at_origin, 1e250}, {cube, at_origin, 1e250}};
    wide[0].pose.position.x = 1e50; /* the inertia alone */
    expect_refusal(rg_shape_def_compound(heavy, 2), RG_INVALID_SIZE, words);
    expect_refusal(rg_shape_def_compound(dense, 1), RG_INVALID_SIZE, words);
    expect_refusal(rg_shape_def_compound(wide, 2), RG_INVALID_SIZE, words);
    rg_shape_release(cube);
    rg_shape_release(large);
}

static void bad_compounds(void **state) {
    (void)state;
    rg_shape *cube = make_shape(rg_shape_def_box(1, 1, 1)),
             *disc = make_shape(rg_shape_def_disc(1));
    rg_shape *plane = make_shape(rg_shape_def_halfspace(rg_vec3_make(0, 0, 1), 0));
    rg_compound_part parts[2] = {{cube, at_origin, 1}, {cube, at_origin, 1}};
    rg_shape *compound = make_shape(rg_shape_def_compound(parts, 2));
    rg_shape_def def = rg_shape_def_compound(parts, 2);
    expect_refusal(rg_shape_def_compound(NULL, 0), RG_INVALID_ARGUMENT,
                   "compound: no parts; must have at least one");
    expect_refusal(rg_shape_def_compound(parts, 1000001), RG_LIMIT_EXCEEDED,
                   "compound: 1000001 parts; must be at most 1000000");
    parts[1].shape = plane;
    expect_refusal(def, RG_INVALID_ARGUMENT,
                   "compound: part 1 is a halfspace; parts must be convex and bounded");
    parts[1].shape = compound;
    expect_refusal(def, RG_INVALID_ARGUMENT,
                   "compound: part 1 is a compound; parts must be convex and bounded");
    parts[1].shape = NULL;
    expect_refusal(def, RG_INVALID_ARGUMENT,
                   "compound: part 1 has no shape; must have a convex one");
    parts[1].shape = disc;
    expect_refusal(def, RG_INVALID_ARGUMENT,
                   "compound: part 1 is a disc, which is planar, unlike part 0; parts must be all "
                   "planar or all spatial");
    parts[1].shape = cube;
    parts[1].density = 0;
    expect_refusal(def, RG_INVALID_SIZE, "compound: part 1 has the density 0; must be positive");
    parts[1].density = NAN;
    expect_refusal(def, RG_NOT_FINITE,
                   "compound: part 1 has the density nan; must be a finite number");
    parts[1].density = 1;
    parts[1].pose.position.z = INFINITY;
    expect_refusal(def, RG_NOT_FINITE,
                   "compound: part 1 has a pose that is not finite; must be numbers");
    parts[1].pose = (rg_pose){{0, 0, 0}, {0, 0, 0, 2}};
    expect_refusal(def, RG_INVALID_ARGUMENT,
                   "compound: part 1 has an orientation of norm 2; must be a unit quaternion");
    parts[0].shape = parts[1].shape = disc;
    parts[1].pose = (rg_pose){{0, 1, 0}, {0, 0, 0, 1}};
    expect_refusal(def, RG_INVALID_ARGUMENT,
                   "compound: part 1 leaves the x-z plane; planar parts must have y = 0 and turn "
                   "about y only");
    parts[1].pose = (rg_pose){{3, 0, 0}, {0, 0, 0, 1}};
    rg_shape *planar = make_shape(def);
    assert_true(rg_shape_is_planar(planar));
    assert_near(rg_shape_circumradius(planar), 2.5, 1e-15);
    assert_near(rg_shape_mass(planar, 1).inertia.m[1][1], 2 * RG_PI * (0.5 + 2.25), 1e-14);
    rg_shape_release(planar);
    rg_shape_release(compound);
    rg_shape_release(plane);
    rg_shape_release(disc);
    rg_shape_release(cube);
}

/* ------------------------------------------------------------------ memory and threads */

static void want_of_memory(void **state) {
    (void)state;
    rg_random random = rg_random_make(43);
    rg_vec3 points[60], corners[4] = {{0, 0, 0}, {1, 0, 0}, {1, 0, 1}, {0, 0, 1}};
    for (int i = 0; i < 60; i++) /* a cube's face among them, so that merging has work */
        points[i] =
            i < 20 ? rg_vec3_make(i % 5, i / 5, 0) : rg_scale(5, rg_random_direction(&random));
    rg_shape *cube = make_shape(rg_shape_def_box(1, 1, 1));
    rg_compound_part parts[2] = {{cube, at_origin, 1}, {cube, at_origin, 1}};
    rg_shape_def defs[] = {rg_shape_def_box(1, 1, 1), rg_shape_def_sphere(1),
                           rg_shape_def_hull(points, 60), rg_shape_def_polygon(corners, 4),
                           rg_shape_def_compound(parts, 2)};
    for (size_t k = 0; k <= sizeof defs / sizeof *defs; k++) {
        rg_status status = RG_OUT_OF_MEMORY;
        size_t calls = 0;
        for (size_t fail_after = 1; status == RG_OUT_OF_MEMORY; fail_after++) {
            counting_allocator counter;
            rg_allocator allocator = counting_allocator_make(&counter);
            counter.fail_after = fail_after;
            rg_error error = {0};
            rg_shape *shape;
            status = k < sizeof defs / sizeof *defs
                         ? rg_shape_create(&defs[k], &allocator, &shape, &error)
                         : rg_shape_create_planar_hull(corners, 4, &allocator, &shape, &error);
            if (status == RG_OK) {
                rg_shape_release(shape);
                calls = counter.resizes;
            } else {
                assert_int_equal(status, RG_OUT_OF_MEMORY);
                assert_null(shape);
                assert_non_null(strstr(error.text, "no memory"));
            }
            assert_true(fail_after < 500);
        }
        assert_int_equal(status, RG_OK);
        assert_true(calls >= 1);
    }
    rg_shape_release(cube);
}

/* Many threads take and drop references, and use the shape meanwhile; the last one frees it. */
static void *use_shape(void *argument) {
    rg_shape *shape = argument;
    rg_random random = rg_random_make(44);
    uint32_t hint = 0;
    double sum = 0;
    for (int i = 0; i < 20000; i++) {
        rg_shape_retain(shape);
        sum += rg_shape_support(shape, rg_random_direction(&random), &hint).x;
        rg_shape_release(shape);
    }
    rg_shape_release(shape);
    return isfinite(sum) ? argument : NULL;
}

static void shared_by_threads(void **state) {
    (void)state;
    rg_random random = rg_random_make(45);
    rg_vec3 points[200];
    for (int i = 0; i < 200; i++)
        points[i] = rg_random_direction(&random);
    counting_allocator counter;
    rg_allocator allocator = counting_allocator_make(&counter);
    rg_shape_def def = rg_shape_def_hull(points, 200);
    rg_shape *shape;
    assert_int_equal(rg_shape_create(&def, &allocator, &shape, NULL), RG_OK);
    size_t before = counter.releases;
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, use_shape, rg_shape_retain(shape)), 0);
    rg_shape_release(shape);
    for (int i = 0; i < 4; i++) {
        void *result;
        pthread_join(threads[i], &result);
        assert_non_null(result);
    }
    assert_int_equal(counter.releases - before, 3); /* once each: polyhedron, points, shape */
}

/* A def that a shape gives back makes the same shape: an orientation is not normalised again. */
static void a_compound_keeps_the_bits_of_its_poses(void **state) {
    (void)state;
    rg_shape_def box = rg_shape_def_box(1, 2, 3);
    rg_shape *part, *compound;
    assert_int_equal(rg_shape_create(&box, NULL, &part, NULL), RG_OK);
    rg_random random = rg_random_make(3);
    for (int i = 0; i < 100; i++) {
        rg_compound_part one = {.shape = part, .pose = rg_pose_identity(), .density = 1};
        one.pose.orientation = rg_quat_normalised(rg_random_rotation(&random));
        rg_shape_def def = rg_shape_def_compound(&one, 1);
        assert_int_equal(rg_shape_create(&def, NULL, &compound, NULL), RG_OK);
        rg_quat kept = rg_shape_get_def(compound).parts[0].pose.orientation;
        assert_memory_equal(&kept, &one.pose.orientation, sizeof kept);
        rg_shape_release(compound);
    }
    rg_shape_release(part);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_sizes),
        cmocka_unit_test(names_and_defs),
        cmocka_unit_test(compound_of_boxes),
        cmocka_unit_test(compound_density_and_motion),
        cmocka_unit_test(compound_reach),
        cmocka_unit_test(compound_reach_from_the_middle),
        cmocka_unit_test(compounds_beyond_the_numbers),
        cmocka_unit_test(bad_compounds),
        cmocka_unit_test(want_of_memory),
        cmocka_unit_test(shared_by_threads),
        cmocka_unit_test(a_compound_keeps_the_bits_of_its_poses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
