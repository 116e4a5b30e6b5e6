/* The conversions to quaternions that are too long to be inline. */
#include "base/base_math.h"

#include "base/base_trig.h"

/* Four times the square of each component is a sum of the matrix's diagonal; the largest is at
 * least 1, so dividing by its root loses nothing (Shepperd 1978). The result has w >= 0 if w is the
 * largest; signs are otherwise as they fall, q and -q being the same rotation. */
rg_quat rg_quat_of_mat3(const rg_mat3 *r) {
    double xx = r->m[0][0], yy = r->m[1][1], zz = r->m[2][2], trace = xx + yy + zz;
    rg_quat q;
    if (trace >= xx && trace >= yy && trace >= zz)
        q = (rg_quat){r->m[2][1] - r->m[1][2], r->m[0][2] - r->m[2][0], r->m[1][0] - r->m[0][1],
                      1 + trace};
    else if (xx >= yy && xx >= zz)
        q = (rg_quat){1 + xx - yy - zz, r->m[0][1] + r->m[1][0], r->m[0][2] + r->m[2][0],
                      r->m[2][1] - r->m[1][2]};
    else if (yy >= zz)
        q = (rg_quat){r->m[0][1] + r->m[1][0], 1 - xx + yy - zz, r->m[1][2] + r->m[2][1],
                      r->m[0][2] - r->m[2][0]};
    else
        q = (rg_quat){r->m[0][2] + r->m[2][0], r->m[1][2] + r->m[2][1], 1 - xx - yy + zz,
                      r->m[1][0] - r->m[0][1]};
    return rg_quat_normalised(q);
}

/* Below this angle (rad) sin(a/2)/a is 1/2 to the last bit. */
#define TINY_ANGLE 1e-9

rg_quat rg_quat_of_rotation_vector(rg_vec3 v) {
    double angle = rg_length(v), sine, cosine;
    rg_sin_cos(0.5 * angle, &sine, &cosine);
    double scale = angle < TINY_ANGLE ? 0.5 : sine / angle;
    return (rg_quat){scale * v.x, scale * v.y, scale * v.z, cosine};
}

rg_quat rg_quat_of_axis_angle(rg_vec3 axis, double angle) {
    double sine, cosine;
    if (rg_largest_entry(axis) == 0)
        return rg_quat_identity();
    rg_sin_cos(0.5 * angle, &sine, &cosine);
    rg_vec3 u = rg_scale(sine, rg_normalised(axis));
    return (rg_quat){u.x, u.y, u.z, cosine};
}

rg_quat rg_quat_of_planar_angle(double angle) {
    double sine, cosine;
    rg_sin_cos(0.5 * angle, &sine, &cosine);
    return (rg_quat){0, -sine, 0, cosine};
}
