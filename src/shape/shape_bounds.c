/* Bounds under a pose, and the farthest distance from a point.
 *
 * A bounded convex shape reaches as far along a world axis as its support in that direction; asking
 * it six times gives the tight box; of balls and boxes it is known, and few vertices are scanned
 * once. The farthest point of a shape from a given one has a closed form for every kind but the
 * ellipsoid.
 * Tested by tests/shape/test_support.c. */
#include "shape/shape.h"

#include "base/base_math.h"

#include <float.h>

static rg_vec3 row(const rg_mat3 *m, int i) {
    return rg_vec3_make(m->m[i][0], m->m[i][1], m->m[i][2]);
}

rg_bounds rg_convex_bounds(const rg_shape *shape, rg_pose pose) {
    rg_vec3 middle = rg_pose_apply(pose, shape->centre);
    if (shape->kind == RG_SHAPE_SPHERE) {
        double r = shape->def.radius;
        return (rg_bounds){rg_sub(middle, rg_vec3_make(r, r, r)),
                           rg_add(middle, rg_vec3_make(r, r, r))};
    }
    rg_mat3 rotation = rg_mat3_of_quat(pose.orientation);
    if (shape->kind == RG_SHAPE_BOX) {
        rg_vec3 half = rg_scale(0.5, shape->def.size);
        double reach[3];
        for (int i = 0; i < 3; i++)
            reach[i] = fabs(rotation.m[i][0]) * half.x + fabs(rotation.m[i][1]) * half.y +
                       fabs(rotation.m[i][2]) * half.z;
        rg_vec3 far = rg_vec3_make(reach[0], reach[1], reach[2]);
        return (rg_bounds){rg_sub(middle, far), rg_add(middle, far)};
    }
    /* Relative to the centre: a shape far from its frame's origin loses no digits. */
    double low[3], high[3];
    rg_vec3 axis[3] = {row(&rotation, 0), row(&rotation, 1), row(&rotation, 2)};
    uint32_t low_hint = 0, high_hint = 0;
    if (shape->solid.pairs)
        rg_solid_extent(&shape->solid, axis, low, high);
    for (int i = 0; i < 3 && !shape->solid.pairs; i++) {
        rg_vec3 top = rg_sub(rg_shape_support(shape, axis[i], &high_hint), shape->centre);
        rg_vec3 bottom = rg_sub(rg_shape_support(shape, rg_neg(axis[i]), &low_hint), shape->centre);
        high[i] = rg_dot(axis[i], top);
        low[i] = rg_dot(axis[i], bottom);
    }
    return (rg_bounds){rg_add(middle, rg_vec3_make(low[0], low[1], low[2])),
                       rg_add(middle, rg_vec3_make(high[0], high[1], high[2]))};
}

rg_bounds rg_halfspace_bounds(const rg_shape *shape, rg_pose pose) {
    rg_vec3 n = rg_rotate(pose.orientation, shape->def.normal);
    double offset = rg_dot(n, pose.position) + shape->def.offset;
    rg_bounds all = {{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, INFINITY}};
    /* n . p <= offset bounds one coordinate, on one side, if n is along that axis; otherwise none.
     */
    if (n.y == 0 && n.z == 0)
        *(n.x > 0 ? &all.upper.x : &all.lower.x) = offset / n.x;
    else if (n.z == 0 && n.x == 0)
        *(n.y > 0 ? &all.upper.y : &all.lower.y) = offset / n.y;
    else if (n.x == 0 && n.y == 0)
        *(n.z > 0 ? &all.upper.z : &all.lower.z) = offset / n.z;
    return all;
}

rg_bounds rg_compound_bounds(const rg_shape *shape, rg_pose pose) {
    rg_bounds all = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    for (size_t i = 0; i < shape->def.part_count; i++) {
        const rg_compound_part *part = &shape->parts[i];
        rg_bounds one = rg_shape_bounds(part->shape, rg_pose_compose(pose, part->pose));
        all.lower = rg_min(all.lower, one.lower);
        all.upper = rg_max(all.upper, one.upper);
    }
    return all;
}

/* Farthest point of an ellipsoid from p: maximise |x - p|^2 over sum x_i^2 / a_i^2 <= 1. The
 * problem has no duality gap: the maximum is the minimum over mu >= a_max^2 of
 *     g(mu) = mu + |p|^2 + sum p_i^2 a_i^2 / (mu - a_i^2),
 * which is convex. Bisection on the sign of g' = 1 - sum p_i^2 a_i^2 / (mu - a_i^2)^2; every mu
 * gives an upper bound, so that rounding errs to the safe side. Lengths are in units of a_max. */
static double ellipsoid_reach(rg_vec3 size, rg_vec3 point) {
    double unit = rg_largest_entry(size), a[3] = {size.x / unit, size.y / unit, size.z / unit};
    double p[3] = {point.x / unit, point.y / unit, point.z / unit};
    double square = p[0] * p[0] + p[1] * p[1] + p[2] * p[2];
    double low = 1, high = 1 + sqrt(square); /* g' >= 0 there: each (mu - a^2)^2 >= |p|^2 */
    for (int i = 0; i < 200 && low < high; i++) {
        double mu = 0.5 * (low + high), slope = 1;
        if (mu <= low || mu >= high)
            break;
        for (int k = 0; k < 3; k++)
            slope -= p[k] * p[k] * a[k] * a[k] / ((mu - a[k] * a[k]) * (mu - a[k] * a[k]));
        if (slope < 0)
            low = mu;
        else
            high = mu;
    }
    high = fmax(high, 1 + 2 * DBL_EPSILON); /* p nearly 0: a bound that does not divide by 0 */
    double g = high + square;
    for (int k = 0; k < 3; k++)
        if (p[k] != 0)
            g += p[k] * p[k] * a[k] * a[k] / (high - a[k] * a[k]);
    return unit * sqrt(g);
}

double rg_shape_reach(const rg_shape *shape, rg_vec3 point) {
    const rg_shape_def *def = &shape->def;
    double axial = rg_length(rg_vec3_make(point.x, point.y, 0)), half = def->length / 2;
    double farthest = 0;
    switch (shape->kind) {
    case RG_SHAPE_SPHERE:
        return rg_length(point) + def->radius;
    case RG_SHAPE_DISC: /* the point may lie beside the disc's plane */
        return rg_length(
            rg_vec3_make(rg_length(rg_vec3_make(point.x, 0, point.z)) + def->radius, point.y, 0));
    case RG_SHAPE_CAPSULE:
        return rg_length(rg_vec3_make(axial, 0, fabs(point.z) + half)) + def->radius;
    case RG_SHAPE_CYLINDER:
        return rg_length(rg_vec3_make(axial + def->radius, 0, fabs(point.z) + half));
    case RG_SHAPE_CONE:
        return fmax(rg_length(rg_vec3_make(axial, 0, point.z - 0.75 * def->length)),
                    rg_length(rg_vec3_make(axial + def->radius, 0, point.z + 0.25 * def->length)));
    case RG_SHAPE_ELLIPSOID:
        return ellipsoid_reach(def->size, point);
    default:
        for (uint32_t v = 0; v < shape->solid.view.vertex_count; v++)
            farthest = fmax(farthest, rg_length(rg_sub(shape->solid.view.vertices[v], point)));
        return farthest;
    }
}
