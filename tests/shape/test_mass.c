/* Mass properties against closed forms and against an independent computation. */
#include "shape_helpers.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const double scales[] = {1e-6, 1e-3, 1, 1e3, 1e6};

static double box_error(rg_mass_properties mass, double x, double y, double z, double density) {
    double m = density * x * y * z;
    rg_mass_properties exact = {
        .mass = m,
        .inertia = rg_mat3_diagonal(rg_vec3_make(m * (y * y + z * z) / 12, m * (z * z + x * x) / 12,
                                                 m * (x * x + y * y) / 12))};
    return mass_difference(mass, exact, x);
}

static void box_points(rg_vec3 *points, double x, double y, double z) {
    for (int i = 0; i < 8; i++)
        points[i] =
            rg_vec3_make(i & 1 ? x / 2 : -x / 2, i & 2 ? y / 2 : -y / 2, i & 4 ? z / 2 : -z / 2);
}

static void box_and_its_hull(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(scales); i++) {
        double s = scales[i], x = 1.3 * s, y = 0.7 * s, z = 0.2 * s;
        rg_vec3 points[8];
        box_points(points, x, y, z);
        rg_shape *box = make_shape(rg_shape_def_box(x, y, z));
        rg_shape *hull = make_shape(rg_shape_def_hull(points, 8));
        assert_true(box_error(rg_shape_mass(box, 1000), x, y, z, 1000) < 1e-15);
        assert_true(box_error(rg_shape_mass(hull, 1000), x, y, z, 1000) < 1e-14);
        assert_near(rg_shape_volume(hull) / (x * y * z), 1, 1e-14);
        /* aligned with its axes: exactly diagonal */
        rg_mat3 inertia = rg_shape_mass(hull, 1).inertia;
        rg_principal_axes axes = rg_mass_principal_axes(&inertia);
        assert_true(axes.axes.w == 1 && axes.axes.x == 0 && axes.axes.y == 0 && axes.axes.z == 0);
        rg_shape_release(box);
        rg_shape_release(hull);
    }
}

static void tetrahedron(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(scales); i++) {
        double a = scales[i];
        rg_vec3 points[4] = {{0, 0, 0}, {a, 0, 0}, {0, a, 0}, {0, 0, a}};
        rg_shape *shape = make_shape(rg_shape_def_hull(points, 4));
        double m = a * a * a / 6;
        /* integral of x^2 over it is m a^2 / 10, of x y m a^2 / 20; shift to the centroid */
        double xx = m * a * a * (1.0 / 10 - 1.0 / 16), xy = m * a * a * (1.0 / 20 - 1.0 / 16);
        rg_mass_properties exact = {m,
                                    {a / 4, a / 4, a / 4},
                                    {{{2 * xx, -xy, -xy}, {-xy, 2 * xx, -xy}, {-xy, -xy, 2 * xx}}}};
        assert_true(mass_difference(rg_shape_mass(shape, 1), exact, a) < 1e-14);
        rg_shape_release(shape);
    }
}

static void closed_forms_of_curved_shapes(void **state) {
    (void)state;
    double r = 0.3, h = 1.7, v;
    rg_shape *cylinder = make_shape(rg_shape_def_cylinder(r, h));
    rg_mass_properties m = rg_shape_mass(cylinder, 2);
    v = RG_PI * r * r * h;
    assert_near(m.mass, 2 * v, 1e-15);
    assert_near(m.inertia.m[2][2], 0.5 * 2 * v * r * r, 1e-16);
    assert_near(m.inertia.m[0][0], 2 * v * (r * r / 4 + h * h / 12), 1e-15);
    rg_shape *cone = make_shape(rg_shape_def_cone(r, h));
    m = rg_shape_mass(cone, 1);
    assert_near(m.mass, v / 3, 1e-15);
    assert_near(m.inertia.m[2][2], 3.0 / 10 * v / 3 * r * r, 1e-16);
    assert_near(m.inertia.m[1][1], v / 3 * (3.0 / 20 * r * r + 3.0 / 80 * h * h), 1e-16);
    rg_shape *disc = make_shape(rg_shape_def_disc(r));
    m = rg_shape_mass(disc, 3);
    assert_near(m.mass, 3 * RG_PI * r * r, 1e-15);
    assert_near(m.inertia.m[1][1], 0.5 * m.mass * r * r, 1e-16);
    rg_shape_release(cylinder);
    rg_shape_release(cone);
    rg_shape_release(disc);
}

/* Slices of a body of revolution about z: volume and inertia by Gauss-Legendre quadrature. */
typedef double radius_function(double z, const double *parameters);

static rg_mass_properties revolve(radius_function *radius, const double *parameters, double from,
                                  double to) {
    static const double nodes[5] = {0.1488743389816312, 0.4333953941292472, 0.6794095682990244,
                                    0.8650633666889845, 0.9739065285171717};
    static const double weights[5] = {0.2955242247147529, 0.2692667193099963, 0.2190863625159820,
                                      0.1494513491505806, 0.0666713443086881};
    rg_mass_properties m = {0};
    double middle = 0.5 * (from + to), half = 0.5 * (to - from), across = 0, first = 0;
    for (int i = 0; i < 10; i++) {
        double z = middle + (i & 1 ? half : -half) * nodes[i / 2], w = weights[i / 2] * half;
        double r = radius(z, parameters), area = RG_PI * r * r;
        m.mass += w * area;
        first += w * area * z;
        across += w * area * (r * r / 4 + z * z);
        m.inertia.m[2][2] += w * area * r * r / 2;
    }
    m.centre.z = first / m.mass;
    m.inertia.m[0][0] = m.inertia.m[1][1] = across - m.mass * m.centre.z * m.centre.z;
    return m;
}

static double cone_radius(double z, const double *p) {
    return p[0] * (0.75 - z / p[1]);
}
static double cap_radius(double z, const double *p) {
    double beyond = fabs(z) - p[1] / 2;
    return sqrt(p[0] * p[0] - beyond * beyond);
}
static double tube_radius(double z, const double *p) {
    (void)z;
    return p[0];
}
static double ellipsoid_radius(double z, const double *p) {
    return p[0] * sqrt(1 - z * z / (p[1] * p[1]));
}

/* The integrands are polynomials, for which the quadrature is exact. */
static void curved_shapes_by_quadrature(void **state) {
    (void)state;
    double p[2] = {0.4, 1.1};
    rg_shape *cone = make_shape(rg_shape_def_cone(p[0], p[1]));
    rg_mass_properties q = revolve(cone_radius, p, -p[1] / 4, 0.75 * p[1]);
    assert_near(q.centre.z, 0, 1e-15);
    assert_true(mass_difference(rg_shape_mass(cone, 1), q, 1) < 1e-14);
    rg_shape *capsule = make_shape(rg_shape_def_capsule(p[0], p[1]));
    q = rg_mass_add(revolve(cap_radius, p, -p[1] / 2 - p[0], -p[1] / 2),
                    rg_mass_add(revolve(tube_radius, p, -p[1] / 2, p[1] / 2),
                                revolve(cap_radius, p, p[1] / 2, p[1] / 2 + p[0])));
    assert_true(mass_difference(rg_shape_mass(capsule, 1), q, 1) < 1e-14);
    rg_shape *spheroid = make_shape(rg_shape_def_ellipsoid(p[0], p[0], p[1]));
    q = revolve(ellipsoid_radius, p, -p[1], p[1]);
    assert_true(mass_difference(rg_shape_mass(spheroid, 1), q, 1) < 1e-14);
    rg_shape *sphere = make_shape(rg_shape_def_sphere(p[0]));
    double round[2] = {p[0], p[0]};
    q = revolve(ellipsoid_radius, round, -p[0], p[0]);
    assert_true(mass_difference(rg_shape_mass(sphere, 1), q, 1) < 1e-14);
    rg_shape_release(cone);
    rg_shape_release(capsule);
    rg_shape_release(spheroid);
    rg_shape_release(sphere);
}

static rg_mass_properties closed_ellipsoid(rg_vec3 a) {
    double m = 4.0 / 3 * RG_PI * a.x * a.y * a.z;
    return (rg_mass_properties){m,
                                {0, 0, 0},
                                rg_mat3_diagonal(rg_vec3_make(m * (a.y * a.y + a.z * a.z) / 5,
                                                              m * (a.z * a.z + a.x * a.x) / 5,
                                                              m * (a.x * a.x + a.y * a.y) / 5))};
}

static void ellipsoid_of_10000_facets(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(scales); i++) {
        double s = scales[i];
        rg_vec3 axes = {1.0 * s, 0.8 * s, 1.7 * s};
        rg_mesh coarse = ellipsoid_mesh(axes, 100, 51), fine = ellipsoid_mesh(axes, 200, 102);
        assert_int_equal(coarse.triangle_count, 10000);
        rg_mass_properties a, b;
        assert_int_equal(rg_mesh_mass(&coarse, 1, &a, NULL), RG_OK);
        assert_int_equal(rg_mesh_mass(&fine, 1, &b, NULL), RG_OK);
        assert_true(mass_difference(a, reference_mass_of_mesh(&coarse), s) < 1e-13);
        assert_true(mass_difference(b, reference_mass_of_mesh(&fine), s) < 1e-13);
        double error_a = mass_difference(a, closed_ellipsoid(axes), s);
        double error_b = mass_difference(b, closed_ellipsoid(axes), s);
        assert_true(error_a < 5e-3);
        assert_near(error_a / error_b, 4, 0.05); /* second order in the size of the facets */
        /* the hull of the same points is the same solid */
        rg_shape *hull = make_shape(rg_shape_def_hull(coarse.vertices, coarse.vertex_count));
        assert_true(mass_difference(rg_shape_mass(hull, 1), a, s) < 1e-12);
        rg_shape_release(hull);
        free_test_mesh(&coarse);
        free_test_mesh(&fine);
    }
}

static void polyhedra_under_rigid_motion(void **state) {
    (void)state;
    rg_random random = rg_random_make(7);
    for (int trial = 0; trial < 40; trial++) {
        double s = scales[trial % 5];
        rg_vec3 points[30], moved[30];
        rg_pose pose = random_pose(&random, 3 * s);
        for (int i = 0; i < 30; i++) {
            points[i] =
                rg_scale(s, rg_times(rg_vec3_make(1, 0.5, 2), rg_random_direction(&random)));
            moved[i] = rg_pose_apply(pose, points[i]);
        }
        rg_shape *a = make_shape(rg_shape_def_hull(points, 30));
        rg_shape *b = make_shape(rg_shape_def_hull(moved, 30));
        rg_mass_properties here = rg_shape_mass(a, 1234), there = rg_shape_mass(b, 1234);
        rg_mass_properties unit = rg_shape_mass(a, 1);
        assert_true(mass_difference(unit, reference_mass_of_polyhedron(rg_shape_polyhedron(a)), s) <
                    1e-13);
        assert_true(mass_difference(there, rg_mass_transform(here, pose), s) < 1e-13);
        rg_vec3 p = rg_mass_principal_axes(&here.inertia).moments;
        rg_vec3 q = rg_mass_principal_axes(&there.inertia).moments;
        double scale = rg_largest_entry(p);
        assert_near((p.x + p.y + p.z) / scale, (q.x + q.y + q.z) / scale, 1e-12);
        assert_near(p.x * p.y * p.z / (scale * scale * scale),
                    q.x * q.y * q.z / (scale * scale * scale), 1e-12);
        assert_int_equal(rg_mass_check(&here, false, NULL), RG_OK);
        rg_shape_release(a);
        rg_shape_release(b);
    }
}

/* Far from the origin only the rounding of the points themselves is lost: offsets that keep them
 * exact lose nothing. */
static void far_from_the_origin(void **state) {
    (void)state;
    rg_vec3 points[8];
    box_points(points, 1.5, 0.75, 0.25);
    for (int i = 0; i < 8; i++)
        points[i] = rg_add(points[i], rg_vec3_make(1048576, -2097152, 4194304));
    rg_shape *hull = make_shape(rg_shape_def_hull(points, 8));
    rg_mass_properties m = rg_shape_mass(hull, 1);
    assert_near(m.centre.x, 1048576, 1e-9);
    m.centre = rg_sub(m.centre, rg_vec3_make(1048576, -2097152, 4194304));
    assert_true(box_error(m, 1.5, 0.75, 0.25, 1) < 1e-14);
    assert_near(rg_shape_inradius(hull), 0.125, 1e-15);
    assert_int_equal(rg_shape_polyhedron(hull)->facet_count, 6);
    rg_shape_release(hull);
}

static void adding_is_like_one_body(void **state) {
    (void)state;
    /* two halves of a box, one of them far thinner, make the whole */
    rg_shape *left = make_shape(rg_shape_def_box(0.25, 1, 2));
    rg_shape *right = make_shape(rg_shape_def_box(0.75, 1, 2));
    rg_shape *whole = make_shape(rg_shape_def_box(1, 1, 2));
    rg_pose a = {{-0.375, 0, 0}, {0, 0, 0, 1}}, b = {{0.125, 0, 0}, {0, 0, 0, 1}};
    rg_mass_properties sum = rg_mass_add(rg_mass_transform(rg_shape_mass(left, 3), a),
                                         rg_mass_transform(rg_shape_mass(right, 3), b));
    assert_true(mass_difference(sum, rg_shape_mass(whole, 3), 1) < 1e-15);
    rg_mass_properties none = {0};
    assert_true(mass_difference(rg_mass_add(none, sum), sum, 1) < 1e-15);
    rg_shape_release(left);
    rg_shape_release(right);
    rg_shape_release(whole);
}

static void principal_axes(void **state) {
    (void)state;
    rg_random random = rg_random_make(3);
    for (int trial = 0; trial < 2000; trial++) {
        rg_vec3 moments = {rg_random_between(&random, 1, 2), rg_random_between(&random, 1, 2),
                           rg_random_between(&random, 1, 2)};
        if (trial % 4 == 1)
            moments.y = moments.x;
        if (trial % 4 == 2)
            moments.y = moments.z = moments.x;
        rg_mat3 d = rg_mat3_diagonal(moments), r = rg_mat3_of_quat(rg_random_rotation(&random));
        rg_mat3 inertia = rg_mat3_conjugate(&r, &d);
        rg_principal_axes p = rg_mass_principal_axes(&inertia);
        rg_mat3 back = rg_mat3_of_quat(p.axes), diagonal = rg_mat3_diagonal(p.moments);
        back = rg_mat3_conjugate(&back, &diagonal);
        for (int i = 0; i < 9; i++)
            assert_near(back.m[i / 3][i % 3], inertia.m[i / 3][i % 3], 2e-14);
        /* Nearest of the choices: a cube's rotation that is never worth more than 62.8 degrees. */
        assert_true(fabs(p.axes.w) > 0.853);
        if (trial % 4 ==
            1) /* an axis can be reached from the nearest of three within 54.8 degrees */
            assert_true(fabs(p.axes.w) > 0.887);
        if (trial % 4 == 2)
            assert_near(fabs(p.axes.w), 1, 1e-15);
    }
    rg_mat3 diagonal = rg_mat3_diagonal(rg_vec3_make(3, 1, 2));
    rg_principal_axes p = rg_mass_principal_axes(&diagonal);
    assert_true(p.moments.x == 3 && p.moments.y == 1 && p.moments.z == 2);
    assert_true(p.axes.x == 0 && p.axes.y == 0 && p.axes.z == 0 && p.axes.w == 1);
}

static void expect_refusal(rg_mass_properties mass, bool planar, rg_status status,
                           const char *text) {
    rg_error error;
    assert_int_equal(rg_mass_check(&mass, planar, &error), status);
    assert_string_equal(error.text, text);
    assert_int_equal(rg_mass_check(&mass, planar, NULL), status);
}

static void impossible_masses(void **state) {
    (void)state;
    rg_mass_properties good = {1, {0, 0, 0}, rg_mat3_diagonal(rg_vec3_make(1, 1, 2))}, bad = good;
    assert_int_equal(rg_mass_check(&good, false, NULL), RG_OK); /* a lamina is the limit */
    bad.mass = 0;
    expect_refusal(bad, false, RG_INVALID_SIZE, "mass is 0; must be positive");
    bad.mass = -2;
    expect_refusal(bad, true, RG_INVALID_SIZE, "mass is -2; must be positive");
    bad.mass = NAN;
    expect_refusal(bad, false, RG_NOT_FINITE, "mass is nan; must be a finite number");
    bad = good;
    bad.centre.y = INFINITY;
    expect_refusal(bad, false, RG_NOT_FINITE, "centre of mass is not finite; must be a point");
    bad = good;
    bad.inertia.m[2][2] = 3;
    expect_refusal(bad, false, RG_INVALID_INERTIA,
                   "inertia has the principal moments 1, 1, 3; each must be at most the sum of the "
                   "other two");
    bad.inertia.m[2][2] = 0;
    expect_refusal(bad, false, RG_INVALID_INERTIA,
                   "inertia has the principal moments 1, 1, 0; all must be positive");
    bad.inertia.m[2][2] = INFINITY;
    expect_refusal(bad, false, RG_NOT_FINITE, "inertia zz is inf; must be a finite number");
    bad = good;
    bad.inertia.m[0][1] = 0.25;
    expect_refusal(bad, false, RG_INVALID_INERTIA,
                   "inertia xy is 0.25 but yx is 0; must be symmetric");
    assert_int_equal(rg_mass_check(&bad, true, NULL), RG_OK); /* planar: only about y counts */
    bad.inertia.m[1][1] = 0;
    expect_refusal(bad, true, RG_INVALID_INERTIA, "inertia about y is 0; must be positive");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(box_and_its_hull),
        cmocka_unit_test(tetrahedron),
        cmocka_unit_test(closed_forms_of_curved_shapes),
        cmocka_unit_test(curved_shapes_by_quadrature),
        cmocka_unit_test(ellipsoid_of_10000_facets),
        cmocka_unit_test(polyhedra_under_rigid_motion),
        cmocka_unit_test(far_from_the_origin),
        cmocka_unit_test(adding_is_like_one_body),
        cmocka_unit_test(principal_axes),
        cmocka_unit_test(impossible_masses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
