/* Rays: closed forms, and points before and after the hit judged by inequalities of their own. */
#include "test_support.h"

#include "base/base_math.h"
#include "rigor/proximity.h"
#include "rigor/random.h"

static rg_shape *shape_of(rg_shape_def def) {
    rg_shape *shape;
    rg_error error;
    if (rg_shape_create(&def, NULL, &shape, &error))
        fail_msg("%s", error.text);
    return shape;
}

/* How far inside (negative) or outside (positive) a point of the shape's frame is, in some measure
 * that changes sign at the surface; relative to the size. */
static double outside(const rg_shape *shape, rg_vec3 p) {
    rg_shape_def d = rg_shape_get_def(shape);
    double radial = sqrt(p.x * p.x + p.y * p.y);
    switch (d.kind) {
    case RG_SHAPE_SPHERE:
        return rg_length(p) - d.radius;
    case RG_SHAPE_ELLIPSOID:
        return (rg_length((rg_vec3){p.x / d.size.x, p.y / d.size.y, p.z / d.size.z}) - 1) *
               rg_min3(d.size.x, d.size.y, d.size.z);
    case RG_SHAPE_CAPSULE: {
        double z = fmax(-d.length / 2, fmin(d.length / 2, p.z));
        return rg_length((rg_vec3){p.x, p.y, p.z - z}) - d.radius;
    }
    case RG_SHAPE_CYLINDER:
        return fmax(radial - d.radius, fabs(p.z) - d.length / 2);
    case RG_SHAPE_CONE:
        return fmax(radial - d.radius * (0.75 - p.z / d.length), -d.length / 4 - p.z);
    case RG_SHAPE_BOX:
        return rg_max3(fabs(p.x) - d.size.x / 2, fabs(p.y) - d.size.y / 2,
                       fabs(p.z) - d.size.z / 2);
    case RG_SHAPE_HALFSPACE:
        return rg_dot(d.normal, p) - d.offset;
    default: {
        /* A hull: the largest violation of n . p <= support along many facet normals. */
        const rg_polyhedron *h = rg_shape_polyhedron(shape);
        double worst = -INFINITY;
        for (uint32_t f = 0; f < h->facet_count; f++) {
            rg_vec3 v = h->vertices[h->facet_vertices[h->facet_start[f]]];
            worst = fmax(worst, rg_dot(h->normals[f], rg_sub(p, v)));
        }
        return worst;
    }
    }
}

static void hits_lie_on_the_surface(void **state) {
    (void)state;
    rg_random random = rg_random_make(21);
    for (double s = 1e-6; s < 2e6; s *= 1e3) {
        rg_vec3 points[30];
        for (int i = 0; i < 30; i++)
            points[i] = rg_scale(s, rg_random_direction(&random));
        rg_shape *shapes[] = {shape_of(rg_shape_def_sphere(s)),
                              shape_of(rg_shape_def_capsule(0.4 * s, s)),
                              shape_of(rg_shape_def_cylinder(s, 0.7 * s)),
                              shape_of(rg_shape_def_cone(s, 2 * s)),
                              shape_of(rg_shape_def_ellipsoid(s, 0.1 * s, 3 * s)),
                              shape_of(rg_shape_def_box(s, 2 * s, 0.3 * s)),
                              shape_of(rg_shape_def_hull(points, 30)),
                              shape_of(rg_shape_def_halfspace((rg_vec3){1, 2, 3}, 0.2 * s))};
        for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
            int hits = 0;
            for (int i = 0; i < 2000; i++) {
                rg_pose pose = {rg_scale(5 * s, rg_random_direction(&random)),
                                rg_random_rotation(&random)};
                rg_vec3 origin = rg_add_scaled(pose.position, rg_random_between(&random, 0, 30) * s,
                                               rg_random_direction(&random));
                rg_vec3 target =
                    rg_add_scaled(pose.position, rg_random_between(&random, 0, 1.5) * s,
                                  rg_random_direction(&random));
                rg_vec3 direction = rg_sub(target, origin);
                rg_vec3 unit = rg_normalised(direction);
                rg_ray_hit hit;
                bool found = rg_shape_cast_ray(shapes[k], pose, origin, direction, 100 * s, &hit);
                double at_origin = outside(shapes[k], rg_pose_apply_inverse(pose, origin)) / s;
                if (at_origin < -1e-9) {
                    assert_true(found);
                    assert_true(hit.distance == 0);
                    assert_true(rg_length(hit.normal) == 0);
                    continue;
                }
                double last = found ? hit.distance / s : 100;
                for (int m = 0; m < 50; m++) { /* free until the hit */
                    rg_vec3 p = rg_add_scaled(origin, s * last * m / 50, unit);
                    assert_true(outside(shapes[k], rg_pose_apply_inverse(pose, p)) / s > -1e-9);
                }
                if (!found)
                    continue;
                hits++;
                rg_vec3 local = rg_pose_apply_inverse(pose, hit.point);
                assert_near(outside(shapes[k], local) / s, 0, 1e-12 * (30 + last));
                /* The normal is that of the surface: outside grows along it, and it faces the ray.
                 */
                assert_near(rg_length(hit.normal), 1, 1e-12);
                assert_true(rg_dot(hit.normal, unit) <= 1e-9);
                rg_vec3 out =
                    rg_pose_apply_inverse(pose, rg_add_scaled(hit.point, 1e-4 * s, hit.normal));
                assert_true(outside(shapes[k], out) / s > 1e-6);
            }
            assert_true(hits > 100);
            rg_shape_release(shapes[k]);
        }
    }
}

static double distance_to(rg_shape *shape, rg_vec3 origin, rg_vec3 direction) {
    rg_ray_hit hit;
    bool found = rg_shape_cast_ray(shape, rg_pose_identity(), origin, direction, 1000, &hit);
    return found ? hit.distance : -1;
}

static void closed_forms(void **state) {
    (void)state;
    rg_shape *cone = shape_of(rg_shape_def_cone(1, 4)); /* apex z = 3, base z = -1 */
    assert_near(distance_to(cone, (rg_vec3){0, 0, 10}, (rg_vec3){0, 0, -1}), 7, 1e-14);
    assert_near(distance_to(cone, (rg_vec3){0, 0, -10}, (rg_vec3){0, 0, 1}), 9, 1e-14);
    assert_near(distance_to(cone, (rg_vec3){-5, 0, 1}, (rg_vec3){1, 0, 0}), 4.5, 1e-14);
    /* Above the apex, through the other nappe only; and along a line of the nappe. */
    assert_near(distance_to(cone, (rg_vec3){-5, 0, 4}, (rg_vec3){1, 0, 0}), -1, 0);
    assert_near(distance_to(cone, (rg_vec3){-1, 0, 7}, (rg_vec3){1, 0, -4}), sqrt(17), 1e-9);
    rg_shape *capsule = shape_of(rg_shape_def_capsule(1, 2));
    assert_near(distance_to(capsule, (rg_vec3){0, 0, 5}, (rg_vec3){0, 0, -2}), 3, 1e-14);
    assert_near(distance_to(capsule, (rg_vec3){5, 0, 0.5}, (rg_vec3){-1, 0, 0}), 4, 1e-14);
    assert_near(distance_to(capsule, (rg_vec3){5, 0, 0.5}, (rg_vec3){1, 0, 0}), -1, 0);
    /* Touching a sphere from the side, one ulp inside and well outside. */
    rg_shape *sphere = shape_of(rg_shape_def_sphere(1));
    assert_true(distance_to(sphere, (rg_vec3){-3, 1 - 1e-15, 0}, (rg_vec3){1, 0, 0}) > 2.9);
    assert_true(distance_to(sphere, (rg_vec3){-3, 1 + 1e-9, 0}, (rg_vec3){1, 0, 0}) < 0);
    /* Parts of a compound: the nearer one, and which. */
    rg_compound_part parts[2] = {{sphere, {{0, 0, 5}, {0, 0, 0, 1}}, 1},
                                 {capsule, {{0, 0, 0}, {0, 0, 0, 1}}, 1}};
    rg_shape *compound = shape_of(rg_shape_def_compound(parts, 2));
    rg_ray_hit hit;
    assert_true(rg_shape_cast_ray(compound, rg_pose_identity(), (rg_vec3){0, 0, -10},
                                  (rg_vec3){0, 0, 1}, 100, &hit));
    assert_near(hit.distance, 8, 1e-14);
    assert_int_equal(hit.part, 1);
    assert_false(rg_shape_cast_ray(compound, rg_pose_identity(), (rg_vec3){0, 0, -10},
                                   (rg_vec3){0, 0, 1}, 7.9, &hit));
    rg_shape_release(cone);
    rg_shape_release(capsule);
    rg_shape_release(sphere);
    rg_shape_release(compound);
}

/* In the plane: a disc and a square. */
static void planar_rays(void **state) {
    (void)state;
    rg_shape *disc = shape_of(rg_shape_def_disc(1));
    rg_vec3 corners[4] = {{-1, 0, -1}, {1, 0, -1}, {1, 0, 1}, {-1, 0, 1}};
    rg_shape *square = shape_of(rg_shape_def_polygon(corners, 4));
    assert_near(distance_to(disc, (rg_vec3){-4, 0, 0.6}, (rg_vec3){1, 0, 0}), 3.2, 1e-14);
    assert_near(distance_to(square, (rg_vec3){-4, 0, 0.6}, (rg_vec3){1, 0, 0}), 3, 1e-14);
    assert_near(distance_to(square, (rg_vec3){-4, 0, 1.1}, (rg_vec3){1, 0, 0}), -1, 0);
    rg_shape_release(disc);
    rg_shape_release(square);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hits_lie_on_the_surface),
        cmocka_unit_test(closed_forms),
        cmocka_unit_test(planar_rays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
