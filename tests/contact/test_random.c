/* Random and awkward pairs of polyhedra: boxes on a grid with every kind of tie, needles, plates,
 * shared faces; points on both surfaces, finite, near if and only if the pair is. */
#include "contact_helpers.h"

#include "rigor/random.h"

static contact_result result, other;

/* Aligned boxes on an integer grid, turned and moved as one: one axis of touch is a face, two are
 * an edge, three a corner; sizes and places of the region in closed form. */
static void boxes_on_a_grid(void **state) {
    (void)state;
    rg_random random = rg_random_make(61);
    uint32_t kinds[4] = {0};
    for (int trial = 0, trials = test_cases(6000, 6000); trial < trials; trial++) {
        double p[3], q[3], d[3], overlap[3], s[3] = {0, 0, 0};
        int touching = 0;
        double worst = -INFINITY, measure = 1;
        for (int i = 0; i < 3; i++) {
            p[i] = 1 + (double)rg_random_below(&random, 3);
            q[i] = 1 + (double)rg_random_below(&random, 3);
            d[i] = (p[i] + q[i]) / 2 - (double)rg_random_below(&random, 2);
            d[i] *= rg_random_below(&random, 2) ? 1 : -1;
            double gap = fabs(d[i]) - (p[i] + q[i]) / 2;
            worst = fmax(worst, gap);
            overlap[i] = fmin(p[i] / 2, d[i] + q[i] / 2) - fmax(-p[i] / 2, d[i] - q[i] / 2);
            if (gap == 0) {
                touching++;
                s[i] = d[i] > 0 ? 1 : -1;
            } else {
                measure *= overlap[i];
            }
        }
        if (worst < 0)
            continue;
        rg_shape *low = make_shape(rg_shape_def_box(p[0], p[1], p[2])),
                 *high = make_shape(rg_shape_def_box(q[0], q[1], q[2]));
        rg_pose motion = trial % 2 ? random_pose(&random, 10) : rg_pose_identity();
        query(low, motion, high, rg_pose_compose(motion, pose_at(d[0], d[1], d[2])), &result);
        rg_vec3 n = rg_normalised(rg_rotate(motion.orientation, (rg_vec3){s[0], s[1], s[2]}));
        assert_vector(result.manifold.normal, n, 1e-12);
        assert_int_equal(result.manifold.degenerate, touching > 1);
        assert_int_equal(result.manifold.point_count, touching == 1 ? 4 : touching == 2 ? 2 : 1);
        if (touching == 1)
            assert_near(result.manifold.area, measure, 1e-12);
        if (touching == 2)
            assert_near(rg_length(rg_sub(result.points[0].position, result.points[1].position)),
                        measure, 1e-12);
        for (uint32_t i = 0; i < result.manifold.point_count; i++)
            assert_near(result.points[i].gap, 0, 1e-13);
        kinds[touching]++;
        rg_shape_release(low);
        rg_shape_release(high);
    }
    int stride = test_stride();
    assert_true(kinds[1] * stride > 500 && kinds[2] * stride > 500 && kinds[3] * stride > 200);
}

/* How far a point is outside (> 0) or inside (< 0) of a polyhedron. */
static double outside(const rg_shape *shape, rg_pose pose, rg_vec3 point) {
    const rg_polyhedron *p = rg_shape_polyhedron(shape);
    rg_vec3 y = rg_sub(rg_pose_apply_inverse(pose, point), p->centre);
    double most = -INFINITY;
    for (uint32_t f = 0; f < p->facet_count; f++)
        most = fmax(most, rg_dot(p->normals[f], y) - p->offsets[f]);
    return most;
}

static rg_shape *make_awkward(rg_random *random, double size) {
    static rg_vec3 points[300];
    uint64_t kind = rg_random_below(random, 6);
    uint32_t count = 0;
    if (kind < 3) { /* box: cube, plate, needle */
        double thin = rg_random_between(random, 0.01, 0.1) * size;
        return make_shape(rg_shape_def_box(kind == 2 ? thin : size, kind == 2 ? thin : size,
                                           kind == 1 ? thin : size));
    }
    if (kind == 3) { /* wedge */
        rg_vec3 corners[6] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}, {0, 0, 0.3}, {0, 1, 0.3}};
        for (; count < 6; count++)
            points[count] = rg_scale(size, corners[count]);
    } else if (kind == 4) { /* many facets */
        for (; count < 300; count++)
            points[count] = rg_scale(size, rg_random_direction(random));
    } else { /* far from its own origin, drum with many corners */
        for (; count < 100; count++) {
            double s, c;
            rg_sin_cos(2 * RG_PI * (count / 2) / 50, &s, &c);
            points[count] = rg_scale(size, (rg_vec3){3 + c, s - 5, count & 1 ? 0.25 : -0.25});
        }
    }
    return make_shape(rg_shape_def_hull(points, count));
}

static void awkward_pairs(void **state) {
    (void)state;
    bool thorough = test_is_long();
    rg_random random = rg_random_make(thorough ? 815 : 67);
    uint32_t points = 0, manifolds = 0;
    int trials = test_cases(3000, 60000);
    for (int trial = 0; trial < trials; trial++) {
        double size = 1;
        for (uint64_t k = rg_random_below(&random, 7); k > 0; k--)
            size *= trial % 2 ? 10 : 0.1;
        rg_shape *low = make_awkward(&random, size), *high = make_awkward(&random, size);
        rg_pose p1 = random_pose(&random, size), p2 = random_pose(&random, size);
        /* Parallel frames give parallel faces and edges; a little noise, or none. */
        if (trial % 3)
            p2.orientation = p1.orientation;
        if (trial % 3 == 2)
            p2.orientation = rg_quat_multiply(
                rg_quat_of_rotation_vector(rg_scale(1e-5, rg_random_direction(&random))),
                p2.orientation);
        rg_growth growth = {0};
        for (int k = 0; k < 30; k++) {
            assert_int_equal(rg_growth_between(low, p1, high, p2, NULL, &growth), RG_OK);
            p2.position = rg_add_scaled(p2.position, -growth.gap, growth.normal);
        }
        double aim = size * rg_random_between(&random, -1e-5, 1e-5);
        p2.position = rg_add_scaled(p2.position, aim, growth.normal);
        assert_int_equal(rg_growth_between(low, p1, high, p2, NULL, &growth), RG_OK);
        query(low, p1, high, p2, &result);
        query(high, p2, low, p1, &other);
        double near =
            RG_CONTACT_NEAR * fmin(rg_shape_circumradius(low), rg_shape_circumradius(high));
        assert_int_equal(result.manifold.point_count > 0, growth.gap <= near);
        assert_int_equal(result.manifold.point_count, other.manifold.point_count);
        assert_vector(result.manifold.normal, rg_neg(other.manifold.normal), 1e-5);
        assert_near(result.manifold.area, other.manifold.area, 1e-5 * size * size);
        manifolds += result.manifold.point_count > 0;
        for (uint32_t i = 0; i < result.manifold.point_count; i++) {
            assert_near(outside(low, p1, result.points[i].on_b), 0, 1e-6 * size);
            assert_near(outside(high, p2, result.points[i].on_a), 0, 1e-6 * size);
            points++;
        }
        rg_shape_release(low);
        rg_shape_release(high);
    }
    assert_true(points > 2 * manifolds && (int)manifolds > trials * 29 / 30);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_on_a_grid),
        cmocka_unit_test(awkward_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
