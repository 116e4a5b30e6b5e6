/* See narrow_surface_long.h.
 * Tested by tests/narrow/test_curved.c. */
#include "narrow/narrow_surface_long.h"

rg_long3 rg_surface_long_column(const rg_surface *s, int k) {
    return rg_long3_of(rg_vec3_make(s->rotation.m[0][k], s->rotation.m[1][k], s->rotation.m[2][k]));
}

rg_long3 rg_surface_long_turn(const rg_surface *s, rg_long3 v) {
    rg_long3 sum = rg_long3_scale(v.x, rg_surface_long_column(s, 0));
    sum = rg_long3_add_scaled(sum, v.y, rg_surface_long_column(s, 1));
    return rg_long3_add_scaled(sum, v.z, rg_surface_long_column(s, 2));
}

rg_long3 rg_surface_long_turn_back(const rg_surface *s, rg_long3 v) {
    return (rg_long3){rg_long3_dot(rg_surface_long_column(s, 0), v),
                      rg_long3_dot(rg_surface_long_column(s, 1), v),
                      rg_long3_dot(rg_surface_long_column(s, 2), v)};
}

rg_long3 rg_surface_long_centred(const rg_surface *s, uint32_t vertex) {
    return rg_long3_sub(rg_long3_of(s->polyhedron->vertices[vertex]), rg_long3_of(s->centre));
}

rg_long3 rg_surface_long_vertex(const rg_surface *s, uint32_t vertex) {
    return rg_long3_scale(rg_long_of(s->sign * s->scale),
                          rg_surface_long_turn(s, rg_surface_long_centred(s, vertex)));
}

rg_long3 rg_surface_long_axis_point(const rg_surface *s, double at) {
    return rg_long3_scale(rg_long_of(at), rg_long3_of(s->axis));
}

rg_long3 rg_surface_long_rim(const rg_surface *s, rg_long3 n) {
    rg_long3 x = rg_surface_long_column(s, 0), y = rg_surface_long_column(s, 1);
    rg_long a = rg_long3_dot(x, n), b = rg_long3_dot(y, n);
    rg_long length = rg_long_sqrt(rg_long_add(rg_long_mul(a, a), rg_long_mul(b, b)));
    if (!(length.hi > 0))
        return rg_long3_scale(rg_long_of(s->radius), x);
    rg_long share = rg_long_div(rg_long_of(s->radius), length);
    return rg_long3_add(rg_long3_scale(rg_long_mul(share, a), x),
                        rg_long3_scale(rg_long_mul(share, b), y));
}

rg_long3 rg_surface_long_ellipsoid(const rg_surface *s, rg_long3 n) {
    rg_long3 g = rg_long3_times(s->semi, rg_surface_long_turn_back(s, n));
    rg_long share = rg_long_div(rg_long_of(1), rg_long3_length(g));
    return rg_surface_long_turn(s, rg_long3_times(s->semi, rg_long3_scale(share, g)));
}

rg_long3 rg_surface_long_support(const rg_surface *s, rg_long3 n, uint32_t label) {
    rg_long3 end = rg_surface_long_axis_point(s, label ? s->high : s->low);
    switch (s->kind) {
    case RG_SHAPE_SPHERE:
    case RG_SHAPE_DISC:
    case RG_SHAPE_CAPSULE:
        return rg_long3_add_scaled(end, rg_long_div(rg_long_of(s->radius), rg_long3_length(n)), n);
    case RG_SHAPE_CYLINDER:
        return rg_long3_add(end, rg_surface_long_rim(s, n));
    case RG_SHAPE_CONE:
        return label ? end : rg_long3_add(end, rg_surface_long_rim(s, n));
    case RG_SHAPE_ELLIPSOID:
        return rg_surface_long_ellipsoid(s, n);
    default:
        return rg_surface_long_vertex(s, label);
    }
}
