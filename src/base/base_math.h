/* Vectors, quaternions and 3x3 matrices, inline. Quaternions are (x, y, z, w), rotate by q p q*. */
#ifndef RIGOR_BASE_MATH_H
#define RIGOR_BASE_MATH_H

#include "rigor/types.h"

#include <float.h>
#include <math.h>

#define RG_PI 3.14159265358979323846

static inline rg_vec3 rg_vec3_make(double x, double y, double z) {
    return (rg_vec3){x, y, z};
}
static inline rg_vec3 rg_add(rg_vec3 a, rg_vec3 b) {
    return (rg_vec3){a.x + b.x, a.y + b.y, a.z + b.z};
}
static inline rg_vec3 rg_sub(rg_vec3 a, rg_vec3 b) {
    return (rg_vec3){a.x - b.x, a.y - b.y, a.z - b.z};
}
static inline rg_vec3 rg_neg(rg_vec3 a) {
    return (rg_vec3){-a.x, -a.y, -a.z};
}
static inline rg_vec3 rg_scale(double s, rg_vec3 a) {
    return (rg_vec3){s * a.x, s * a.y, s * a.z};
}
/* a + s b */
static inline rg_vec3 rg_add_scaled(rg_vec3 a, double s, rg_vec3 b) {
    return (rg_vec3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}
static inline double rg_dot(rg_vec3 a, rg_vec3 b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
static inline rg_vec3 rg_cross(rg_vec3 a, rg_vec3 b) {
    return (rg_vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
/* Componentwise product. */
static inline rg_vec3 rg_times(rg_vec3 a, rg_vec3 b) {
    return (rg_vec3){a.x * b.x, a.y * b.y, a.z * b.z};
}
static inline double rg_length_squared(rg_vec3 a) {
    return rg_dot(a, a);
}
static inline double rg_max3(double a, double b, double c) {
    double m = a > b ? a : b;
    return m > c ? m : c;
}
static inline double rg_min3(double a, double b, double c) {
    double m = a < b ? a : b;
    return m < c ? m : c;
}
static inline double rg_largest_entry(rg_vec3 a) {
    return rg_max3(fabs(a.x), fabs(a.y), fabs(a.z));
}
/* Safe at every scale: no overflow, no underflow of the squares. */
static inline double rg_length(rg_vec3 a) {
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
static inline bool rg_is_finite(rg_vec3 a) {
    return isfinite(a.x) && isfinite(a.y) && isfinite(a.z);
}
static inline rg_vec3 rg_min(rg_vec3 a, rg_vec3 b) {
    return (rg_vec3){a.x < b.x ? a.x : b.x, a.y < b.y ? a.y : b.y, a.z < b.z ? a.z : b.z};
}
static inline rg_vec3 rg_max(rg_vec3 a, rg_vec3 b) {
    return (rg_vec3){a.x > b.x ? a.x : b.x, a.y > b.y ? a.y : b.y, a.z > b.z ? a.z : b.z};
}

static inline rg_quat rg_quat_identity(void) {
    return (rg_quat){0, 0, 0, 1};
}
static inline rg_quat rg_quat_conjugate(rg_quat q) {
    return (rg_quat){-q.x, -q.y, -q.z, q.w};
}
static inline rg_quat rg_quat_multiply(rg_quat a, rg_quat b) {
    return (rg_quat){a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
                     a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
                     a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w,
                     a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z};
}
static inline double rg_quat_norm_squared(rg_quat q) {
    return q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w;
}
/* A quaternion of no length becomes the identity. */
static inline rg_quat rg_quat_normalised(rg_quat q) {
    double m = fmax(fmax(fabs(q.x), fabs(q.y)), fmax(fabs(q.z), fabs(q.w)));
    if (!(m > 0))
        return rg_quat_identity();
    q = (rg_quat){q.x / m, q.y / m, q.z / m, q.w / m};
    double s = 1 / sqrt(rg_quat_norm_squared(q));
    return (rg_quat){s * q.x, s * q.y, s * q.z, s * q.w};
}
/* A quaternion that is unit to rounding keeps its bits, so that what is written reads back the
 * same; another is normalised. */
static inline rg_quat rg_quat_made_unit(rg_quat q) {
    return fabs(rg_quat_norm_squared(q) - 1) <= 4 * DBL_EPSILON ? q : rg_quat_normalised(q);
}
/* v + 2 w (u x v) + 2 u x (u x v), u the vector part: for a unit quaternion. */
static inline rg_vec3 rg_rotate(rg_quat q, rg_vec3 v) {
    rg_vec3 u = {q.x, q.y, q.z};
    rg_vec3 t = rg_scale(2, rg_cross(u, v));
    return rg_add(rg_add_scaled(v, q.w, t), rg_cross(u, t));
}
static inline rg_vec3 rg_rotate_back(rg_quat q, rg_vec3 v) {
    return rg_rotate(rg_quat_conjugate(q), v);
}
static inline bool rg_quat_is_finite(rg_quat q) {
    return isfinite(q.x) && isfinite(q.y) && isfinite(q.z) && isfinite(q.w);
}

static inline rg_mat3 rg_mat3_diagonal(rg_vec3 d) {
    return (rg_mat3){{{d.x, 0, 0}, {0, d.y, 0}, {0, 0, d.z}}};
}
static inline rg_mat3 rg_mat3_identity(void) {
    return rg_mat3_diagonal((rg_vec3){1, 1, 1});
}
static inline rg_mat3 rg_mat3_of_quat(rg_quat q) {
    double xx = q.x * q.x, yy = q.y * q.y, zz = q.z * q.z, xy = q.x * q.y, xz = q.x * q.z,
           yz = q.y * q.z, wx = q.w * q.x, wy = q.w * q.y, wz = q.w * q.z;
    return (rg_mat3){{{1 - 2 * (yy + zz), 2 * (xy - wz), 2 * (xz + wy)},
                      {2 * (xy + wz), 1 - 2 * (xx + zz), 2 * (yz - wx)},
                      {2 * (xz - wy), 2 * (yz + wx), 1 - 2 * (xx + yy)}}};
}
static inline rg_vec3 rg_mat3_apply(const rg_mat3 *a, rg_vec3 v) {
    return (rg_vec3){a->m[0][0] * v.x + a->m[0][1] * v.y + a->m[0][2] * v.z,
                     a->m[1][0] * v.x + a->m[1][1] * v.y + a->m[1][2] * v.z,
                     a->m[2][0] * v.x + a->m[2][1] * v.y + a->m[2][2] * v.z};
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
/* R S R^T, made exactly symmetric. */
static inline rg_mat3 rg_mat3_conjugate(const rg_mat3 *r, const rg_mat3 *s) {
    rg_mat3 rs = rg_mat3_multiply(r, s), rt = rg_mat3_transpose(r);
    rg_mat3 c = rg_mat3_multiply(&rs, &rt);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < i; j++)
            c.m[i][j] = c.m[j][i] = 0.5 * (c.m[i][j] + c.m[j][i]);
    return c;
}
/* The unit quaternion of a rotation matrix (Shepperd's choice of the largest component). */
rg_quat rg_quat_of_mat3(const rg_mat3 *r);
/* The rotation by |v| about v. */
rg_quat rg_quat_of_rotation_vector(rg_vec3 v);

static inline rg_pose rg_pose_identity(void) {
    return (rg_pose){{0, 0, 0}, {0, 0, 0, 1}};
}
static inline rg_vec3 rg_pose_apply(rg_pose p, rg_vec3 v) {
    return rg_add(p.position, rg_rotate(p.orientation, v));
}
static inline rg_vec3 rg_pose_apply_inverse(rg_pose p, rg_vec3 v) {
    return rg_rotate_back(p.orientation, rg_sub(v, p.position));
}
/* First `inner`, then `outer`. */
static inline rg_pose rg_pose_compose(rg_pose outer, rg_pose inner) {
    return (rg_pose){rg_pose_apply(outer, inner.position),
                     rg_quat_multiply(outer.orientation, inner.orientation)};
}
static inline rg_pose rg_pose_inverse(rg_pose p) {
    rg_quat back = rg_quat_conjugate(p.orientation);
    return (rg_pose){rg_neg(rg_rotate(back, p.position)), back};
}
static inline bool rg_pose_is_finite(rg_pose p) {
    return rg_is_finite(p.position) && rg_quat_is_finite(p.orientation);
}

/* Planar worlds: `angle` turns x towards z, which is a turn about -y. */
rg_quat rg_quat_of_planar_angle(double angle);

#endif
