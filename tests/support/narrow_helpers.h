/* What the tests of the narrow stage share: random bodies of all proportions, pairs in all
 * situations, and independent reference computations. */
#ifndef RIGOR_TESTS_NARROW_HELPERS_H
#define RIGOR_TESTS_NARROW_HELPERS_H

#include "shape_helpers.h"

#include "narrow/narrow.h"
#include "rigor/proximity.h"

/* 10^uniform(low, high) */
static inline double random_scale(rg_random *random, double low, double high) {
    return rg_exp(2.302585092994046 * rg_random_between(random, low, high));
}

/* Points on an ellipsoid. */
static inline rg_shape *random_hull(rg_random *random, rg_vec3 axes, int count) {
    rg_vec3 *points = malloc((size_t)count * sizeof *points);
    for (int i = 0; i < count; i++)
        points[i] = rg_times(axes, rg_random_direction(random));
    rg_shape *shape = NULL;
    rg_shape_def def = rg_shape_def_hull(points, (size_t)count);
    if (rg_shape_create(&def, NULL, &shape, NULL) != RG_OK)
        shape = NULL;
    free(points);
    return shape;
}

/* A hull with the corners of a box. */
static inline rg_shape *box_as_hull(double x, double y, double z) {
    rg_vec3 points[8];
    for (int i = 0; i < 8; i++)
        points[i] =
            rg_vec3_make(i & 4 ? x / 2 : -x / 2, i & 2 ? y / 2 : -y / 2, i & 1 ? z / 2 : -z / 2);
    return make_shape(rg_shape_def_hull(points, 8));
}

static inline rg_shape *random_polygon(rg_random *random, double size, double flatness, int count) {
    rg_vec3 points[64];
    for (int i = 0; i < count; i++) {
        double s, c;
        rg_sin_cos(rg_random_between(random, 0, 2 * RG_PI), &s, &c);
        points[i] = rg_vec3_make(size * c, 0, size * flatness * s);
    }
    rg_shape *shape = NULL;
    if (rg_shape_create_planar_hull(points, (size_t)count, NULL, &shape, NULL) != RG_OK)
        shape = NULL;
    return shape;
}

static inline rg_pose planar_pose(double x, double z, double angle) {
    return (rg_pose){{x, 0, z}, rg_quat_of_planar_angle(angle)};
}

static inline rg_vec3 world_centre(const rg_shape *shape, rg_pose pose) {
    return rg_pose_apply(pose, rg_shape_centre(shape));
}

/* h(n) by all vertices, n in world axes. */
static inline double width_by_scan(const rg_shape *shape1, rg_pose pose1, const rg_shape *shape2,
                                   rg_pose pose2, rg_vec3 n) {
    const rg_shape *shapes[2] = {shape1, shape2};
    const rg_pose poses[2] = {pose1, pose2};
    double h = 0;
    for (int s = 0; s < 2; s++) {
        const rg_polyhedron *p = rg_shape_polyhedron(shapes[s]);
        rg_vec3 local = rg_rotate_back(poses[s].orientation, s ? rg_neg(n) : n);
        double most = -INFINITY;
        for (uint32_t v = 0; v < p->vertex_count; v++)
            most = fmax(most, rg_dot(local, rg_sub(p->vertices[v], p->centre)));
        h += most;
    }
    return h;
}

#endif
