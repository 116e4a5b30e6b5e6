/* Vectors, quaternions and poses: the arithmetic of rigor/types.h, inline. Angles in radians.
 *
 * A quaternion q rotates by v -> q v q*, and the functions that rotate take it to be of unit
 * length. A pose maps local to outer coordinates: rg_pose_apply(pose, p) = position + orientation
 * p. */
#ifndef RIGOR_MATH_H
#define RIGOR_MATH_H

#include "rigor/types.h"

#include <math.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RG_PI 3.14159265358979323846

/* --- vectors ---------------------------------------------------------------------------------- */

static inline rg_vec3 rg_vec3_make(double x, double y, double z) {
    rg_vec3 v = {x, y, z};
    return v;
}
static inline rg_vec3 rg_add(rg_vec3 a, rg_vec3 b) {
    return rg_vec3_make(a.x + b.x, a.y + b.y, a.z + b.z);
}
static inline rg_vec3 rg_sub(rg_vec3 a, rg_vec3 b) {
    return rg_vec3_make(a.x - b.x, a.y - b.y, a.z - b.z);
}
static inline rg_vec3 rg_neg(rg_vec3 a) {
    return rg_vec3_make(-a.x, -a.y, -a.z);
}
static inline rg_vec3 rg_scale(double s, rg_vec3 a) {
    return rg_vec3_make(s * a.x, s * a.y, s * a.z);
}
/* a + s b */
static inline rg_vec3 rg_add_scaled(rg_vec3 a, double s, rg_vec3 b) {
    return rg_vec3_make(a.x + s * b.x, a.y + s * b.y, a.z + s * b.z);
}
static inline double rg_dot(rg_vec3 a, rg_vec3 b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
static inline rg_vec3 rg_cross(rg_vec3 a, rg_vec3 b) {
    return rg_vec3_make(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
/* Componentwise: product, smaller, larger. */
static inline rg_vec3 rg_times(rg_vec3 a, rg_vec3 b) {
    return rg_vec3_make(a.x * b.x, a.y * b.y, a.z * b.z);
}
static inline rg_vec3 rg_min(rg_vec3 a, rg_vec3 b) {
    return rg_vec3_make(a.x < b.x ? a.x : b.x, a.y < b.y ? a.y : b.y, a.z < b.z ? a.z : b.z);
}
static inline rg_vec3 rg_max(rg_vec3 a, rg_vec3 b) {
    return rg_vec3_make(a.x > b.x ? a.x : b.x, a.y > b.y ? a.y : b.y, a.z > b.z ? a.z : b.z);
}
static inline bool rg_is_finite(rg_vec3 a) {
    return isfinite(a.x) && isfinite(a.y) && isfinite(a.z);
}
static inline double rg_length_squared(rg_vec3 a) {
    return rg_dot(a, a);
}
/* The largest |component|. */
static inline double rg_largest_entry(rg_vec3 a) {
    double x = fabs(a.x), y = fabs(a.y), z = fabs(a.z), m = x > y ? x : y;
    return m > z ? m : z;
}
/* Safe at every scale: no overflow, no underflow of the squares. */
static inline double rg_length(rg_vec3 a) {
    double square = rg_length_squared(a);
    if (square > 1e-279 && square < 1e279) /* most are: nothing has left the range of numbers */
        return sqrt(square);
    double m = rg_largest_entry(a);
    if (!(m > 1e-140 && m < 1e140)) {
        if (m == 0 || !isfinite(m))
            return m;
        return m * sqrt(rg_length_squared(rg_vec3_make(a.x / m, a.y / m, a.z / m)));
    }
    return sqrt(rg_length_squared(a));
}
/* The zero vector stays zero. */
static inline rg_vec3 rg_normalised(rg_vec3 a) {
    double m = rg_largest_entry(a);
    if (!(m > 0))
        return a;
    a = rg_vec3_make(a.x / m, a.y / m, a.z / m);
    return rg_scale(1 / sqrt(rg_length_squared(a)), a);
}

/* --- quaternions ------------------------------------------------------------------------------ */

static inline rg_quat rg_quat_make(double x, double y, double z, double w) {
    rg_quat q = {x, y, z, w};
    return q;
}
static inline rg_quat rg_quat_identity(void) {
    return rg_quat_make(0, 0, 0, 1);
}
/* The opposite rotation. */
static inline rg_quat rg_quat_conjugate(rg_quat q) {
    return rg_quat_make(-q.x, -q.y, -q.z, q.w);
}
/* First the rotation b, then a. */
static inline rg_quat rg_quat_multiply(rg_quat a, rg_quat b) {
    return rg_quat_make(a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
                        a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
                        a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w,
                        a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z);
}
static inline bool rg_quat_is_finite(rg_quat q) {
    return isfinite(q.x) && isfinite(q.y) && isfinite(q.z) && isfinite(q.w);
}
static inline double rg_quat_norm_squared(rg_quat q) {
    return q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w;
}
/* A quaternion of no length becomes the identity. */
static inline rg_quat rg_quat_normalised(rg_quat q) {
    double m = 0, x = fabs(q.x), y = fabs(q.y), z = fabs(q.z), w = fabs(q.w);
    m = x > m ? x : m, m = y > m ? y : m, m = z > m ? z : m, m = w > m ? w : m;
    if (!(m > 0))
        return rg_quat_identity();
    q = rg_quat_make(q.x / m, q.y / m, q.z / m, q.w / m);
    double s = 1 / sqrt(rg_quat_norm_squared(q));
    return rg_quat_make(s * q.x, s * q.y, s * q.z, s * q.w);
}
/* v + 2 w (u x v) + 2 u x (u x v), u the vector part. */
static inline rg_vec3 rg_rotate(rg_quat q, rg_vec3 v) {
    rg_vec3 u = rg_vec3_make(q.x, q.y, q.z);
    rg_vec3 t = rg_scale(2, rg_cross(u, v));
    return rg_add(rg_add_scaled(v, q.w, t), rg_cross(u, t));
}
static inline rg_vec3 rg_rotate_back(rg_quat q, rg_vec3 v) {
    return rg_rotate(rg_quat_conjugate(q), v);
}
/* The rotation by `angle` about `axis` (any length), counter-clockwise seen from its tip; an axis
 * of no length gives the identity. The same bits on every machine, as for the next three. */
rg_quat rg_quat_of_axis_angle(rg_vec3 axis, double angle);
/* The rotation by |v| about v. */
rg_quat rg_quat_of_rotation_vector(rg_vec3 v);
/* Planar worlds: `angle` turns x towards z, which is a turn about -y. */
rg_quat rg_quat_of_planar_angle(double angle);
/* Of a rotation matrix. */
rg_quat rg_quat_of_mat3(const rg_mat3 *r);

/* --- 3 x 3 matrices --------------------------------------------------------------------------- */

static inline rg_mat3 rg_mat3_diagonal(rg_vec3 d) {
    rg_mat3 a = {{{d.x, 0, 0}, {0, d.y, 0}, {0, 0, d.z}}};
    return a;
}
static inline rg_mat3 rg_mat3_identity(void) {
    return rg_mat3_diagonal(rg_vec3_make(1, 1, 1));
}
/* Of a unit quaternion. */
static inline rg_mat3 rg_mat3_of_quat(rg_quat q) {
    double xx = q.x * q.x, yy = q.y * q.y, zz = q.z * q.z, xy = q.x * q.y, xz = q.x * q.z,
           yz = q.y * q.z, wx = q.w * q.x, wy = q.w * q.y, wz = q.w * q.z;
    rg_mat3 a = {{{1 - 2 * (yy + zz), 2 * (xy - wz), 2 * (xz + wy)},
                  {2 * (xy + wz), 1 - 2 * (xx + zz), 2 * (yz - wx)},
                  {2 * (xz - wy), 2 * (yz + wx), 1 - 2 * (xx + yy)}}};
    return a;
}
static inline rg_vec3 rg_mat3_apply(const rg_mat3 *a, rg_vec3 v) {
    return rg_vec3_make(a->m[0][0] * v.x + a->m[0][1] * v.y + a->m[0][2] * v.z,
                        a->m[1][0] * v.x + a->m[1][1] * v.y + a->m[1][2] * v.z,
                        a->m[2][0] * v.x + a->m[2][1] * v.y + a->m[2][2] * v.z);
}
static inline rg_mat3 rg_mat3_transpose(const rg_mat3 *a) {
    rg_mat3 t;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            t.m[i][j] = a->m[j][i];
    return t;
}
static inline rg_mat3 rg_mat3_multiply(const rg_mat3 *a, const rg_mat3 *b) {
    rg_mat3 c;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            c.m[i][j] = a->m[i][0] * b->m[0][j] + a->m[i][1] * b->m[1][j] + a->m[i][2] * b->m[2][j];
    return c;
}

/* --- poses ------------------------------------------------------------------------------------ */

static inline rg_pose rg_pose_make(rg_vec3 position, rg_quat orientation) {
    rg_pose pose = {position, orientation};
    return pose;
}
static inline rg_pose rg_pose_identity(void) {
    return rg_pose_make(rg_vec3_make(0, 0, 0), rg_quat_identity());
}
static inline rg_vec3 rg_pose_apply(rg_pose p, rg_vec3 v) {
    return rg_add(p.position, rg_rotate(p.orientation, v));
}
static inline rg_vec3 rg_pose_apply_inverse(rg_pose p, rg_vec3 v) {
    return rg_rotate_back(p.orientation, rg_sub(v, p.position));
}
/* First `inner`, then `outer`. */
static inline rg_pose rg_pose_compose(rg_pose outer, rg_pose inner) {
    return rg_pose_make(rg_pose_apply(outer, inner.position),
                        rg_quat_multiply(outer.orientation, inner.orientation));
}
static inline rg_pose rg_pose_inverse(rg_pose p) {
    rg_quat back = rg_quat_conjugate(p.orientation);
    return rg_pose_make(rg_neg(rg_rotate(back, p.position)), back);
}
static inline bool rg_pose_is_finite(rg_pose p) {
    return rg_is_finite(p.position) && rg_quat_is_finite(p.orientation);
}

#ifdef __cplusplus
}
#endif
#endif
