/* Bounds of a shape over a motion.
 *
 * A point of the body is c(t) + r(t): a centre on a straight line, and an arm of length <= R that
 * turns by theta at a constant rate. Against the straight line between its two ends the point is
 * off by at most |r''| T^2 / 8 <= R theta^2 / 8, the error of linear interpolation. So the bounds
 * of the start and of the end, united and enlarged by that, hold the motion; so does the centre's
 * path enlarged by R, which is smaller for large turns. Each coordinate takes the tighter of the
 * two. In a translation theta is 0 and the bounds are tight.
 *
 * Balls, capsules and boxes reach as far along a direction as the sum of |component| of a few arms
 * and a radius. For turns that are not large they are turned by Rodrigues' formula with the series
 * of its coefficients, off by less than theta^6 / 500: no sine, no quaternion, no support.
 *
 * Rounding is covered by a slack of ROUNDING times the largest number that the bounds are made of.
 * A half-space that turns reaches everywhere. */
#include "base/base_math.h"
#include "broad/broad.h"
#include "shape/shape.h"

#define ROUNDING 1e-14 /* relative: tens of operations of half an ulp each */

static const rg_bounds everywhere = {{-INFINITY, -INFINITY, -INFINITY},
                                     {INFINITY, INFINITY, INFINITY}};

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

/* How a capsule (1) or a box (3) reaches out of its middle, which is the origin of its frame; the
 * number of these arms, 0: another shape. */
static int arms_of(const rg_shape *shape, rg_quat q, rg_vec3 arm[3]) {
    if (shape->kind != RG_SHAPE_BOX && shape->kind != RG_SHAPE_CAPSULE)
        return 0;
    rg_mat3 r = rg_mat3_of_quat(q);
    rg_vec3 x = {r.m[0][0], r.m[1][0], r.m[2][0]}, y = {r.m[0][1], r.m[1][1], r.m[2][1]},
            z = {r.m[0][2], r.m[1][2], r.m[2][2]};
    if (shape->kind == RG_SHAPE_CAPSULE) {
        arm[0] = rg_scale(0.5 * shape->def.length, z);
        return 1;
    }
    arm[0] = rg_scale(0.5 * shape->def.size.x, x);
    arm[1] = rg_scale(0.5 * shape->def.size.y, y);
    arm[2] = rg_scale(0.5 * shape->def.size.z, z);
    return 3;
}

static rg_vec3 reach_of(rg_vec3 reach, const rg_vec3 *arm, int arms) {
    for (int i = 0; i < arms; i++)
        reach = rg_add(reach, rg_vec3_make(fabs(arm[i].x), fabs(arm[i].y), fabs(arm[i].z)));
    return reach;
}

/* rad: turns beyond this are not turned by the series. */
#define SERIES_MOST 0.5

/* v turned by the vector `turn` of this square: cos theta v + (sin theta / theta) turn x v
 * + (1 - cos theta) / theta^2 (turn . v) turn. */
static rg_vec3 turned(rg_vec3 v, rg_vec3 turn, double square) {
    double bend = 0.5 - square / 24, sine = 1 - square / 6 * (1 - square / 20);
    rg_vec3 sum = rg_add_scaled(rg_scale(1 - square * bend, v), sine, rg_cross(turn, v));
    return rg_add_scaled(sum, bend * rg_dot(turn, v), turn);
}

rg_bounds rg_bounds_swept_ball(double radius, const rg_vec3 *centre, const rg_vec3 *velocity,
                               double step) {
    rg_vec3 to = rg_add_scaled(*centre, step, *velocity);
    rg_bounds path = {rg_min(*centre, to), rg_max(*centre, to)};
    double low = rg_largest_entry(path.lower), high = rg_largest_entry(path.upper);
    double size = (low > high ? low : high) + radius;
    return rg_bounds_enlarged(path, radius + ROUNDING * size);
}

/* Of a capsule or box with its arms. */
static rg_bounds sweep_arms(const rg_sweep *w, rg_vec3 *arm, int arms) {
    double radius = arms == 1 ? w->shape->def.radius : 0;
    rg_vec3 out = rg_sub(w->pose.position, w->centre), round = {radius, radius, radius};
    rg_vec3 reach = reach_of(round, arm, arms), path = rg_scale(w->step, w->velocity);
    rg_bounds chord = {rg_sub(w->pose.position, reach), rg_add(w->pose.position, reach)};
    double far = rg_is_zero(out) ? 0 : rg_length(out), square = rg_length_squared(w->turn);
    far += w->shape->circumradius;
    if (!(square > 0 || w->drift > 0)) {
        rg_vec3 none = {0, 0, 0};
        chord.lower = rg_add(chord.lower, rg_min(none, path));
        chord.upper = rg_add(chord.upper, rg_max(none, path));
        double size = fmax(rg_largest_entry(chord.lower), rg_largest_entry(chord.upper)) + far;
        return rg_bounds_enlarged(chord, ROUNDING * size);
    }
    for (int i = 0; i < arms; i++)
        arm[i] = turned(arm[i], w->turn, square);
    rg_vec3 middle = rg_add(w->centre, path), end = rg_add(middle, turned(out, w->turn, square));
    reach = reach_of(round, arm, arms);
    chord = united(chord, (rg_bounds){rg_sub(end, reach), rg_add(end, reach)});
    double off = square / 8 + square * square * square / 500 + w->drift;
    return around(chord, far * off, w->centre, middle, far);
}

rg_bounds rg_bounds_of_sweep(const rg_sweep *w) {
    const rg_shape *shape = w->shape;
    rg_vec3 out = rg_sub(w->pose.position, w->centre), arm[3];
    if (shape->kind == RG_SHAPE_SPHERE && rg_is_zero(out)) /* turning does not show */
        return rg_bounds_swept_ball(shape->circumradius, &w->centre, &w->velocity, w->step);
    double square = rg_length_squared(w->turn);
    int arms = square < SERIES_MOST * SERIES_MOST ? arms_of(shape, w->pose.orientation, arm) : 0;
    if (arms)
        return sweep_arms(w, arm, arms);
    rg_vec3 end_centre = rg_add_scaled(w->centre, w->step, w->velocity);
    rg_pose end = w->pose;
    if (square > 0) {
        rg_quat q = rg_quat_of_rotation_vector(w->turn);
        end.orientation = rg_quat_multiply(q, w->pose.orientation);
        end.position = rg_add(end_centre, rg_rotate(q, out));
    } else
        end.position = rg_add_scaled(w->pose.position, w->step, w->velocity);
    bool bounded = rg_shape_is_bounded(shape);
    if (!bounded && (square > 0 || w->drift > 0))
        return everywhere;
    rg_bounds chord = united(rg_shape_bounds(shape, w->pose), rg_shape_bounds(shape, end));
    if (!bounded)
        return chord;
    double far = arm_of(shape, rg_pose_apply_inverse(w->pose, w->centre));
    return around(chord, far * (square / 8 + w->drift), w->centre, end_centre, far);
}

rg_bounds rg_bounds_swept(const rg_shape *shape, rg_pose pose, rg_vec3 centre, rg_vec3 velocity,
                          rg_vec3 angular_velocity, double step, double drift) {
    rg_sweep sweep = {shape, pose, centre, velocity, rg_scale(step, angular_velocity), step, drift};
    return rg_bounds_of_sweep(&sweep);
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
