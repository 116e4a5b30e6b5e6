/* Bounds of a shape over a motion.
 *
 * A point of the body is c(t) + r(t): a centre on a straight line, and an arm of length <= R that
 * turns by theta at a constant rate. Against the straight line between its two ends the point is
 * off by at most |r''| T^2 / 8 <= R theta^2 / 8, the error of linear interpolation. So the bounds
 * of the start and of the end, united and enlarged by that, hold the motion; so does the centre's
 * path enlarged by R, which is smaller for large turns. Each coordinate takes the tighter of the
 * two. In a translation theta is 0 and the bounds are tight.
 *
 * Rounding is covered by a slack of ROUNDING times the largest number that the bounds are made of.
 * A half-space that turns reaches everywhere. */
#include "base/base_math.h"
#include "broad/broad.h"

#define ROUNDING 1e-14 /* relative: tens of operations of half an ulp each */

static const rg_bounds everywhere = {{-INFINITY, -INFINITY, -INFINITY},
                                     {INFINITY, INFINITY, INFINITY}};

rg_bounds rg_bounds_enlarged(rg_bounds bounds, double margin) {
    rg_vec3 m = {margin, margin, margin};
    return (rg_bounds){rg_sub(bounds.lower, m), rg_add(bounds.upper, m)};
}

static rg_bounds united(rg_bounds a, rg_bounds b) {
    return (rg_bounds){rg_min(a.lower, b.lower), rg_max(a.upper, b.upper)};
}

static rg_bounds common(rg_bounds a, rg_bounds b) {
    return (rg_bounds){rg_max(a.lower, b.lower), rg_min(a.upper, b.upper)};
}

/* Of a bounded shape: the chord's bounds enlarged by `deviation`, and the path's by `arm`. */
static rg_bounds around(rg_bounds chord, double deviation, rg_vec3 from, rg_vec3 to, double arm) {
    rg_bounds path = {rg_min(from, to), rg_max(from, to)};
    double size = fmax(rg_largest_entry(path.lower), rg_largest_entry(path.upper)) + arm;
    rg_bounds b = common(rg_bounds_enlarged(chord, deviation), rg_bounds_enlarged(path, arm));
    return rg_bounds_enlarged(b, ROUNDING * size);
}

static double arm_of(const rg_shape *shape, rg_vec3 centre_in_shape) {
    return rg_length(rg_sub(rg_shape_centre(shape), centre_in_shape)) +
           rg_shape_circumradius(shape);
}

rg_bounds rg_bounds_swept(const rg_shape *shape, rg_pose pose, rg_vec3 centre, rg_vec3 velocity,
                          rg_vec3 angular_velocity, double step, double drift) {
    rg_vec3 turn = rg_scale(step, angular_velocity);
    double theta = rg_length(turn);
    rg_vec3 end_centre = rg_add_scaled(centre, step, velocity);
    if (rg_shape_get_kind(shape) == RG_SHAPE_SPHERE &&
        rg_is_zero(rg_sub(pose.position, centre))) { /* turning does not show */
        double radius = rg_shape_circumradius(shape);
        rg_bounds path = {rg_min(centre, end_centre), rg_max(centre, end_centre)};
        return around(rg_bounds_enlarged(path, radius), 0, centre, end_centre, radius);
    }
    rg_pose end = pose;
    if (theta > 0) {
        rg_quat q = rg_quat_of_rotation_vector(turn);
        end.orientation = rg_quat_multiply(q, pose.orientation);
        end.position = rg_add(end_centre, rg_rotate(q, rg_sub(pose.position, centre)));
    } else
        end.position = rg_add_scaled(pose.position, step, velocity);
    if (!rg_shape_is_bounded(shape) && (theta > 0 || drift > 0))
        return everywhere;
    rg_bounds chord = united(rg_shape_bounds(shape, pose), rg_shape_bounds(shape, end));
    if (!rg_shape_is_bounded(shape))
        return chord;
    double arm = arm_of(shape, rg_pose_apply_inverse(pose, centre));
    return around(chord, arm * (theta * theta / 8 + drift), centre, end_centre, arm);
}

/* theta = 2 acos c, c = |p . q|, and acos(c)^2 <= (pi^2 / 4) (1 - c) on [0, 1] (equal at 0, ratio
 * growing), so theta^2 / 8 <= (pi^2 / 8) (1 - c): no inverse function is needed. */
rg_bounds rg_bounds_between(const rg_shape *shape, rg_pose start, rg_pose end, rg_vec3 centre) {
    rg_quat p = start.orientation, q = end.orientation;
    bool turns = p.x != q.x || p.y != q.y || p.z != q.z || p.w != q.w;
    if (!rg_shape_is_bounded(shape) && turns)
        return everywhere;
    rg_bounds chord = united(rg_shape_bounds(shape, start), rg_shape_bounds(shape, end));
    if (!rg_shape_is_bounded(shape))
        return chord;
    double cosine = fmin(1, fabs(p.x * q.x + p.y * q.y + p.z * q.z + p.w * q.w));
    double arm = arm_of(shape, centre);
    return around(chord, turns ? arm * (RG_PI * RG_PI / 8) * (1 - cosine) : 0,
                  rg_pose_apply(start, centre), rg_pose_apply(end, centre), arm);
}

rg_bounds rg_bounds_within(const rg_shape *shape, rg_pose pose, rg_vec3 centre, double shift,
                           double angle) {
    if (!rg_shape_is_bounded(shape)) {
        if (angle > 0)
            return everywhere;
        return rg_bounds_enlarged(rg_shape_bounds(shape, pose), shift);
    }
    double arm = arm_of(shape, rg_pose_apply_inverse(pose, centre));
    /* An arm's end goes no farther than along its arc, and than to the other side. */
    double deviation = shift + arm * fmin(angle, 2);
    return around(rg_shape_bounds(shape, pose), deviation, centre, centre, arm + shift);
}
