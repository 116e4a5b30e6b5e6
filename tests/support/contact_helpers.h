/* What the tests of the contact stage share: shapes in poses, queries, an overlap of convex
 * polygons by another method than the library's. */
#ifndef RIGOR_TESTS_CONTACT_HELPERS_H
#define RIGOR_TESTS_CONTACT_HELPERS_H

#include "shape_helpers.h"

#include "contact/contact.h"

enum { MOST_TEST_POINTS = 2048 };

typedef struct contact_result {
    rg_manifold manifold;
    rg_contact_point points[MOST_TEST_POINTS];
} contact_result;

static inline rg_pose pose_at(double x, double y, double z) {
    return (rg_pose){{x, y, z}, {0, 0, 0, 1}};
}

static inline rg_pose pose_turned(rg_vec3 position, rg_vec3 rotation_vector) {
    return (rg_pose){position, rg_quat_of_rotation_vector(rotation_vector)};
}

/* Drawn in a fixed order: that of a function's arguments is the compiler's choice. */
static inline rg_vec3 random_vector(rg_random *random, double low, double high) {
    double x = rg_random_between(random, low, high), y = rg_random_between(random, low, high);
    return rg_vec3_make(x, y, rg_random_between(random, low, high));
}

static inline void check_result(const contact_result *r, double size) {
    const rg_manifold *m = &r->manifold;
    assert_near(rg_length(m->normal), 1, 1e-14);
    double gap = INFINITY;
    for (uint32_t i = 0; i < m->point_count; i++) {
        const rg_contact_point *p = &r->points[i];
        assert_true(rg_is_finite(p->on_a) && rg_is_finite(p->on_b));
        double far = rg_length(p->position);
        assert_near(rg_dot(m->normal, rg_sub(p->on_a, p->on_b)), p->gap, 1e-12 * (size + far));
        assert_near(rg_length(rg_sub(rg_scale(0.5, rg_add(p->on_a, p->on_b)), p->position)), 0,
                    1e-15 * (size + far));
        assert_true(p->id == rg_contact_id(p->feature));
        if (i > 0)
            assert_true(r->points[i - 1].id < p->id);
        gap = fmin(gap, p->gap);
    }
    if (m->point_count)
        assert_true(gap == m->gap);
}

static inline void query_with(const rg_shape *s1, rg_pose p1, const rg_shape *s2, rg_pose p2,
                              const rg_contact_settings *settings, rg_contact_cache *cache,
                              contact_result *r) {
    rg_arena arena = rg_arena_make(NULL);
    assert_int_equal(
        rg_contact_between(
            &(rg_contact_query){
                {s1, p1}, {s2, p2}, settings, cache, &arena, r->points, MOST_TEST_POINTS},
            &r->manifold),
        RG_OK);
    assert_int_equal(arena.used, 0);
    rg_arena_free(&arena);
    check_result(r, fmin(rg_shape_circumradius(s1), rg_shape_circumradius(s2)));
}

static inline void query(const rg_shape *s1, rg_pose p1, const rg_shape *s2, rg_pose p2,
                         contact_result *r) {
    query_with(s1, p1, s2, p2, NULL, NULL, r);
}

static inline uint32_t count_kind(const contact_result *r, rg_feature_kind kind) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < r->manifold.point_count; i++)
        count += r->points[i].feature.kind == kind;
    return count;
}

/* The distance from a place to the nearest contact point. */
static inline double nearest_point(const contact_result *r, rg_vec3 p) {
    double best = INFINITY;
    for (uint32_t i = 0; i < r->manifold.point_count; i++)
        best = fmin(best, rg_length(rg_sub(r->points[i].position, p)));
    return best;
}

static inline void assert_points(const contact_result *r, const rg_vec3 *expected, uint32_t count,
                                 double tolerance) {
    assert_int_equal(r->manifold.point_count, count);
    for (uint32_t i = 0; i < count; i++)
        assert_near(nearest_point(r, expected[i]), 0, tolerance);
}

static inline void assert_vector(rg_vec3 a, rg_vec3 b, double tolerance) {
    assert_near(rg_largest_entry(rg_sub(a, b)), 0, tolerance);
}

/* ------------------------------------------------------------------ overlap of polygons */

/* a x + b y <= c */
typedef struct half_plane {
    double a, b, c;
} half_plane;

/* The half-planes of a convex polygon, counter-clockwise. */
static inline uint32_t half_planes_of(const rg_vec3 *corners, uint32_t count, half_plane *out) {
    for (uint32_t i = 0; i < count; i++) {
        rg_vec3 p = corners[i], q = corners[(i + 1) % count];
        double a = q.y - p.y, b = p.x - q.x, l = sqrt(a * a + b * b);
        out[i] = (half_plane){a / l, b / l, (a * p.x + b * p.y) / l};
    }
    return count;
}

/* Area and centroid of an intersection of half-planes: of each line the interval that all the
 * others leave, and the divergence theorem over these. Quadratic, no clipping chain. */
static inline double intersection_area(const half_plane *planes, uint32_t count, double *cx,
                                       double *cy) {
    double area = 0, mx = 0, my = 0;
    for (uint32_t i = 0; i < count; i++) {
        double low = -INFINITY, high = INFINITY;
        const half_plane *p = &planes[i];
        /* Points of the line: (c a - s b, c b + s a). */
        for (uint32_t k = 0; k < count && low < high; k++) {
            const half_plane *q = &planes[k];
            double slope = q->b * p->a - q->a * p->b,
                   rest = q->c - p->c * (q->a * p->a + q->b * p->b);
            if (k == i)
                continue;
            if (fabs(slope) < 1e-13) {
                /* The same line twice counts once. */
                if (rest < -1e-13 ||
                    (fabs(rest) <= 1e-13 && k < i && q->a * p->a + q->b * p->b > 0))
                    low = INFINITY;
            } else if (slope > 0) {
                high = fmin(high, rest / slope);
            } else {
                low = fmax(low, rest / slope);
            }
        }
        if (!(low < high))
            continue;
        double x0 = p->c * p->a - low * p->b, y0 = p->c * p->b + low * p->a;
        double x1 = p->c * p->a - high * p->b, y1 = p->c * p->b + high * p->a;
        double twice = x0 * y1 - x1 * y0;
        area += twice / 2;
        mx += twice * (x0 + x1) / 6;
        my += twice * (y0 + y1) / 6;
    }
    *cx = area > 0 ? mx / area : 0;
    *cy = area > 0 ? my / area : 0;
    return area;
}

/* Area and centroid of the hull of points, by angles around their mean. */
static inline double points_area(const rg_vec3 *points, uint32_t count, double *cx, double *cy) {
    static rg_vec3 sorted[MOST_TEST_POINTS];
    double x = 0, y = 0;
    for (uint32_t i = 0; i < count; i++) {
        x += points[i].x / count;
        y += points[i].y / count;
    }
    for (uint32_t i = 0; i < count; i++) {
        rg_vec3 p = {points[i].x - x, points[i].y - y, 0};
        p.z = atan2(p.y, p.x);
        uint32_t k = i;
        for (; k > 0 && sorted[k - 1].z > p.z; k--)
            sorted[k] = sorted[k - 1];
        sorted[k] = p;
    }
    double area = 0, mx = 0, my = 0;
    for (uint32_t i = 0; i < count; i++) {
        rg_vec3 p = sorted[i], q = sorted[(i + 1) % count];
        double twice = p.x * q.y - q.x * p.y;
        area += twice / 2;
        mx += twice * (p.x + q.x) / 6;
        my += twice * (p.y + q.y) / 6;
    }
    *cx = x + (area > 0 ? mx / area : 0);
    *cy = y + (area > 0 ? my / area : 0);
    return area;
}

#endif
