/* Mass properties: moving, adding and checking them, principal axes, and exact integrals over
 * polyhedra.
 *
 * A closed surface of triangles encloses the signed sum of the tetrahedra that its triangles span
 * with a reference point. With a, b, c relative to that point, d = a . (b x c) and s = a + b + c, a
 * tetrahedron has volume d / 6, first moment d s / 24 and second moments
 * d (a a^T + b b^T + c c^T + s s^T) / 120. These are exact; what remains is rounding, which is kept
 * near one unit in the last place by a reference at the centroid (no cancellation in the shift of
 * axes, all terms of one sign if the surface is convex) and by compensated sums. */
#include "shape/shape_mass.h"

#include "base/base_eigen.h"
#include "base/base_math.h"
#include "base/base_text.h"

/* Off-diagonal second moments below this part of sqrt(xx yy) are rounding of sums that vanish, and
 * are set to 0, so that the inertia of a body aligned with its axes is diagonal. */
#define MOMENT_NOISE 1e-15
/* Asymmetry and breach of the triangle inequality that rounding of given numbers may cause,
 * relative to the largest moment. */
#define INERTIA_TOLERANCE 1e-9
/* Principal moments this near to each other (relative) are one double moment. */
#define MOMENTS_EQUAL 1e-14

rg_moment_sum rg_moment_begin(rg_vec3 reference) {
    return (rg_moment_sum){.reference = reference};
}

void rg_moment_add_triangle(rg_moment_sum *moments, rg_vec3 a, rg_vec3 b, rg_vec3 c) {
    a = rg_sub(a, moments->reference);
    b = rg_sub(b, moments->reference);
    c = rg_sub(c, moments->reference);
    double d = rg_dot(a, rg_cross(b, c));
    rg_vec3 s = rg_add(rg_add(a, b), c);
    double terms[10] = {
        d,
        d * s.x,
        d * s.y,
        d * s.z,
        d * (a.x * a.x + b.x * b.x + c.x * c.x + s.x * s.x),
        d * (a.y * a.y + b.y * b.y + c.y * c.y + s.y * s.y),
        d * (a.z * a.z + b.z * b.z + c.z * c.z + s.z * s.z),
        d * (a.y * a.z + b.y * b.z + c.y * c.z + s.y * s.z),
        d * (a.z * a.x + b.z * b.x + c.z * c.x + s.z * s.x),
        d * (a.x * a.y + b.x * b.y + c.x * c.y + s.x * s.y),
    };
    for (int i = 0; i < 10; i++)
        rg_sum_add(&moments->sum[i], &moments->lost[i], terms[i]);
}

static double total(const rg_moment_sum *moments, int i) {
    return moments->sum[i] + moments->lost[i];
}

double rg_moment_volume(const rg_moment_sum *moments) {
    return total(moments, 0) / 6;
}

rg_vec3 rg_moment_centroid(const rg_moment_sum *moments) {
    double d = total(moments, 0);
    if (!(fabs(d) > 0))
        return moments->reference;
    rg_vec3 first = {total(moments, 1), total(moments, 2), total(moments, 3)};
    return rg_add(moments->reference,
                  rg_vec3_make(first.x / d / 4, first.y / d / 4, first.z / d / 4));
}

rg_mat3 rg_inertia_of_moments(const double second[6]) {
    double xx = second[0], yy = second[1], zz = second[2];
    double yz = second[3], zx = second[4], xy = second[5];
    if (fabs(yz) <= MOMENT_NOISE * sqrt(fabs(yy)) * sqrt(fabs(zz)))
        yz = 0;
    if (fabs(zx) <= MOMENT_NOISE * sqrt(fabs(zz)) * sqrt(fabs(xx)))
        zx = 0;
    if (fabs(xy) <= MOMENT_NOISE * sqrt(fabs(xx)) * sqrt(fabs(yy)))
        xy = 0;
    return (rg_mat3){
        {{yy + zz, 0 - xy, 0 - zx}, {0 - xy, zz + xx, 0 - yz}, {0 - zx, 0 - yz, xx + yy}}};
}

rg_mass_properties rg_moment_mass(const rg_moment_sum *moments) {
    rg_mass_properties mass = {.mass = rg_moment_volume(moments),
                               .centre = rg_moment_centroid(moments)};
    /* The reference is the centroid but for rounding; the shift is exact to second order. */
    rg_vec3 r = rg_sub(mass.centre, moments->reference);
    double m = mass.mass, second[6];
    double shift[6] = {r.x * r.x, r.y * r.y, r.z * r.z, r.y * r.z, r.z * r.x, r.x * r.y};
    for (int i = 0; i < 6; i++)
        second[i] = total(moments, 4 + i) / 120 - m * shift[i];
    mass.inertia = rg_inertia_of_moments(second);
    return mass;
}

rg_mass_properties rg_mass_scaled(rg_mass_properties mass, double factor) {
    mass.mass *= factor;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            mass.inertia.m[i][j] *= factor;
    return mass;
}

rg_mass_properties rg_mass_transform(rg_mass_properties mass, rg_pose pose) {
    rg_mat3 rotation = rg_mat3_of_quat(pose.orientation);
    mass.centre = rg_pose_apply(pose, mass.centre);
    mass.inertia = rg_mat3_conjugate(&rotation, &mass.inertia);
    return mass;
}

rg_mass_properties rg_mass_add(rg_mass_properties a, rg_mass_properties b) {
    rg_mass_properties sum = {.mass = a.mass + b.mass};
    if (!(sum.mass > 0)) {
        sum.centre = a.centre;
        return sum;
    }
    /* From one centre towards the other, and the reduced mass for the shift of axes: no large
     * numbers cancel, wherever the origin is. */
    rg_vec3 d = rg_sub(b.centre, a.centre);
    double share = b.mass / sum.mass, reduced = a.mass * share;
    sum.centre = rg_add_scaled(a.centre, share, d);
    double along[3] = {d.x, d.y, d.z}, square = rg_length_squared(d);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            sum.inertia.m[i][j] = a.inertia.m[i][j] + b.inertia.m[i][j] +
                                  reduced * ((i == j ? square : 0) - along[i] * along[j]);
    return sum;
}

static rg_status check_inertia(const rg_mat3 *inertia, rg_error *error) {
    static const char axes[] = "xyz";
    char text[3][RG_NUMBER_SIZE];
    double largest = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            if (!isfinite(inertia->m[i][j]))
                return rg_fail(error, RG_NOT_FINITE, "inertia %c%c is %s; must be a finite number",
                               axes[i], axes[j], rg_format_double(inertia->m[i][j], text[0]));
            largest = fmax(largest, fabs(inertia->m[i][j]));
        }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < i; j++)
            if (fabs(inertia->m[i][j] - inertia->m[j][i]) > INERTIA_TOLERANCE * largest)
                return rg_fail(error, RG_INVALID_INERTIA,
                               "inertia %c%c is %s but %c%c is %s; must be symmetric", axes[j],
                               axes[i], rg_format_double(inertia->m[j][i], text[0]), axes[i],
                               axes[j], rg_format_double(inertia->m[i][j], text[1]));
    rg_vec3 m = rg_mass_principal_axes(inertia).moments;
    const char *broken = NULL;
    if (!(rg_min3(m.x, m.y, m.z) > 0))
        broken = "all must be positive";
    else if (!isfinite(1 / rg_min3(m.x, m.y, m.z)))
        broken = "all must be large enough to divide by";
    else if (2 * rg_max3(m.x, m.y, m.z) - (m.x + m.y + m.z) > INERTIA_TOLERANCE * largest)
        broken = "each must be at most the sum of the other two";
    if (!broken)
        return RG_OK;
    return rg_fail(error, RG_INVALID_INERTIA, "inertia has the principal moments %s, %s, %s; %s",
                   rg_format_double(m.x, text[0]), rg_format_double(m.y, text[1]),
                   rg_format_double(m.z, text[2]), broken);
}

rg_status rg_check_positive(const char *what, double value, rg_status status, rg_error *error) {
    char text[RG_NUMBER_SIZE];
    if (!isfinite(value))
        return rg_fail(error, RG_NOT_FINITE, "%s is %s; must be a finite number", what,
                       rg_format_double(value, text));
    if (!(value > 0))
        return rg_fail(error, status, "%s is %s; must be positive", what,
                       rg_format_double(value, text));
    if (!isfinite(1 / value))
        return rg_fail(error, status, "%s is %s; must be large enough to divide by", what,
                       rg_format_double(value, text));
    return RG_OK;
}

rg_status rg_mass_check(const rg_mass_properties *mass, bool planar, rg_error *error) {
    rg_status status = rg_check_positive("mass", mass->mass, RG_INVALID_SIZE, error);
    if (status)
        return status;
    if (!rg_is_finite(mass->centre))
        return rg_fail(error, RG_NOT_FINITE, "centre of mass is not finite; must be a point");
    return planar ? rg_check_positive("inertia about y", mass->inertia.m[1][1], RG_INVALID_INERTIA,
                                      error)
                  : check_inertia(&mass->inertia, error);
}

static double *entry(rg_vec3 *v, int i) {
    return i == 0 ? &v->x : i == 1 ? &v->y : &v->z;
}

/* The smallest rotation that takes axis k to the unit vector n, which is not opposite to it. */
static rg_quat smallest_rotation(int k, rg_vec3 n) {
    rg_vec3 axis = {0, 0, 0};
    *entry(&axis, k) = 1;
    rg_vec3 u = rg_cross(axis, n);
    return rg_quat_normalised((rg_quat){u.x, u.y, u.z, 1 + rg_dot(axis, n)});
}

/* One moment, that of column k, stands alone, and the axes across it are free to turn: the body's
 * axis nearest to that column goes there by the smallest rotation. */
static rg_principal_axes axes_of_symmetric_top(const rg_mat3 *vectors, rg_vec3 moments, int k) {
    rg_vec3 n = {vectors->m[0][k], vectors->m[1][k], vectors->m[2][k]};
    int nearest = fabs(n.x) >= fabs(n.y) && fabs(n.x) >= fabs(n.z) ? 0
                  : fabs(n.y) >= fabs(n.z)                         ? 1
                                                                   : 2;
    if (*entry(&n, nearest) < 0)
        n = rg_neg(n);
    rg_principal_axes result = {.moments = moments, .axes = smallest_rotation(nearest, n)};
    *entry(&result.moments, nearest) = *entry(&moments, k);
    *entry(&result.moments, k) = *entry(&moments, nearest);
    return result;
}

/* Of the 24 right-handed ways to name and sign three axes, the one with the largest trace, which is
 * the smallest rotation; the first of equals. */
static void choose_nearest(rg_mat3 *vectors, rg_vec3 *moments) {
    static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                     {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    static const int parity[6] = {1, -1, -1, 1, 1, -1};
    double best = -4;
    int best_order = 0, best_signs = 0;
    for (int order = 0; order < 6; order++)
        for (int signs = 0; signs < 8; signs++) {
            int handed = parity[order];
            double trace = 0;
            for (int i = 0; i < 3; i++) {
                int sign = signs >> i & 1 ? -1 : 1;
                handed *= sign;
                trace += sign * vectors->m[i][orders[order][i]];
            }
            if (handed > 0 && trace > best) {
                best = trace;
                best_order = order;
                best_signs = signs;
            }
        }
    rg_mat3 old = *vectors;
    rg_vec3 old_moments = *moments;
    for (int i = 0; i < 3; i++) {
        int column = orders[best_order][i];
        *entry(moments, i) = *entry(&old_moments, column);
        for (int row = 0; row < 3; row++)
            vectors->m[row][i] = best_signs >> i & 1 ? 0 - old.m[row][column] : old.m[row][column];
    }
}

rg_principal_axes rg_mass_principal_axes(const rg_mat3 *inertia) {
    rg_principal_axes result = {.axes = rg_quat_identity()};
    const double(*m)[3] = inertia->m;
    if (m[0][1] == 0 && m[0][2] == 0 && m[1][2] == 0 && m[1][0] == 0 && m[2][0] == 0 &&
        m[2][1] == 0) {
        result.moments = rg_vec3_make(m[0][0], m[1][1], m[2][2]);
        return result;
    }
    rg_mat3 vectors;
    rg_eigen_symmetric(inertia, &result.moments, &vectors);
    rg_vec3 p = result.moments;
    double close = MOMENTS_EQUAL * rg_largest_entry(p);
    bool equal[3] = {fabs(p.y - p.z) <= close, fabs(p.z - p.x) <= close, fabs(p.x - p.y) <= close};
    if (equal[0] + equal[1] + equal[2] >= 2)
        return result; /* a sphere's: every axis will do, and the body's own are nearest */
    for (int k = 0; k < 3; k++)
        if (equal[k])
            return axes_of_symmetric_top(&vectors, p, k);
    choose_nearest(&vectors, &result.moments);
    result.axes = rg_quat_of_mat3(&vectors);
    return result;
}
