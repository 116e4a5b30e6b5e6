/* Surfaces and patches of the convex kinds.
 *
 * A capsule is a ball added to a segment, a cylinder a disc added to a segment, a cone the hull of
 * a disc and a point. So every boundary is made of few smooth pieces: ball, ellipsoid or rim, plus
 * flats (segment, triangle, cap) that its normals are perpendicular to. The derivative of a support
 * point with respect to the direction n (of any length) is
 *     ball        r/|n| (1 - n n'/n.n)
 *     ellipsoid   (S^2 - s s') / h in the frame of its axes, h = |S n|
 *     rim         r/|Pn| t t',  P the projection along the axis, t the tangent of the rim
 * (Schneider, Convex Bodies: The Brunn-Minkowski Theory, 2.5). Each is written as a sum of squares,
 * so that it stays positive semidefinite in rounding.
 * Tested by tests/narrow/test_curved.c. */
#include "narrow/narrow_surface.h"

rg_surface rg_surface_make(const rg_side *side, double sign, double scale) {
    rg_surface s = {.shape = side->shape,
                    .polyhedron = side->polyhedron,
                    .kind = rg_shape_get_kind(side->shape),
                    .sign = sign,
                    .scale = scale,
                    .rotation = side->rotation,
                    .centre = side->centre};
    if (s.polyhedron)
        return s;
    rg_shape_def def = rg_shape_get_def(side->shape);
    s.radius = scale * def.radius;
    s.semi = rg_scale(scale, def.size);
    s.axis = rg_vec3_make(sign * s.rotation.m[0][2], sign * s.rotation.m[1][2],
                          sign * s.rotation.m[2][2]);
    double length = scale * def.length;
    if (s.kind == RG_SHAPE_CAPSULE || s.kind == RG_SHAPE_CYLINDER) {
        s.low = -length / 2;
        s.high = length / 2;
    } else if (s.kind == RG_SHAPE_CONE) {
        s.low = -0.25 * length;
        s.high = 0.75 * length;
    }
    return s;
}

static rg_vec3 apply_transposed(const rg_mat3 *a, rg_vec3 v) {
    return rg_vec3_make(a->m[0][0] * v.x + a->m[1][0] * v.y + a->m[2][0] * v.z,
                        a->m[0][1] * v.x + a->m[1][1] * v.y + a->m[2][1] * v.z,
                        a->m[0][2] * v.x + a->m[1][2] * v.y + a->m[2][2] * v.z);
}

static rg_vec3 to_world(const rg_surface *s, rg_vec3 point) {
    return rg_scale(s->sign * s->scale, rg_mat3_apply(&s->rotation, rg_sub(point, s->centre)));
}

rg_vec3 rg_surface_reference_support(const rg_surface *s, rg_vec3 n) {
    uint32_t hint = s->hint;
    rg_vec3 local = apply_transposed(&s->rotation, rg_scale(s->sign, n));
    return to_world(s, rg_shape_support(s->shape, local, s->polyhedron ? &hint : NULL));
}

/* The unit vector along the part of n perpendicular to the axis, and that part's length. By the two
 * other axes: n minus its part along the axis would be noise, and not perpendicular, for n near the
 * axis. */
static rg_vec3 across(const rg_surface *s, rg_vec3 n, double *length) {
    const rg_mat3 *r = &s->rotation;
    rg_vec3 x = {r->m[0][0], r->m[1][0], r->m[2][0]}, y = {r->m[0][1], r->m[1][1], r->m[2][1]};
    double a = rg_dot(x, n), b = rg_dot(y, n);
    *length = sqrt(a * a + b * b);
    if (!(*length > 0))
        return x;
    return rg_add_scaled(rg_scale(a / *length, x), b / *length, y);
}

static rg_vec3 vertex_support(rg_surface *s, rg_vec3 n, uint32_t *label) {
    rg_vec3 local = apply_transposed(&s->rotation, rg_scale(s->sign, n));
    rg_vec3 point = to_world(s, rg_shape_support(s->shape, local, &s->hint));
    *label = s->hint;
    return point;
}

rg_vec3 rg_surface_support(rg_surface *s, rg_vec3 n, uint32_t *label) {
    double length;
    *label = 0;
    switch (s->kind) {
    case RG_SHAPE_SPHERE:
        return rg_scale(s->radius / sqrt(rg_length_squared(n)), n);
    case RG_SHAPE_DISC: {
        rg_vec3 flat = {n.x, 0, n.z};
        return rg_scale(s->radius, rg_normalised(flat));
    }
    case RG_SHAPE_CAPSULE:
        *label = rg_dot(n, s->axis) >= 0;
        return rg_add_scaled(rg_scale(s->radius / sqrt(rg_length_squared(n)), n),
                             *label ? s->high : s->low, s->axis);
    case RG_SHAPE_CYLINDER:
        *label = rg_dot(n, s->axis) >= 0;
        return rg_add_scaled(rg_scale(s->radius, across(s, n, &length)), *label ? s->high : s->low,
                             s->axis);
    case RG_SHAPE_CONE: {
        rg_vec3 rim = rg_scale(s->radius, across(s, n, &length));
        *label = rg_dot(n, s->axis) * (s->high - s->low) >= rg_dot(n, rim);
        return *label ? rg_scale(s->high, s->axis) : rg_add_scaled(rim, s->low, s->axis);
    }
    case RG_SHAPE_ELLIPSOID: {
        rg_vec3 g = rg_times(s->semi, apply_transposed(&s->rotation, n));
        g = rg_scale(1 / sqrt(rg_length_squared(g)), g);
        return rg_mat3_apply(&s->rotation, rg_times(s->semi, g));
    }
    default:
        return vertex_support(s, n, label);
    }
}

bool rg_surface_corner(const rg_surface *s, uint32_t label, rg_vec3 *point) {
    if (s->polyhedron) {
        if (label >= s->polyhedron->vertex_count)
            return false;
        *point = to_world(s, s->polyhedron->vertices[label]);
        return true;
    }
    *point = rg_scale(label ? s->high : s->low, s->axis);
    return s->radius == 0 && s->kind != RG_SHAPE_ELLIPSOID && label <= 1;
}

/* The gauge of a capsule at a point rho off its axis and z along it. */
static double capsule_gauge(double r, double l, double rho, double z) {
    if (z * r <= l * rho)
        return rho / r;
    /* rho^2 + (z - t l)^2 = t^2 r^2, its larger root written without differences of squares */
    double root = sqrt((z * r - l * rho) * (z * r + l * rho) + r * r * rho * rho);
    return (rho * rho + z * z) / (z * l + root);
}

double rg_surface_gauge(const rg_surface *s, rg_vec3 p) {
    rg_vec3 local = apply_transposed(&s->rotation, rg_scale(s->sign, p));
    double rho = sqrt(local.x * local.x + local.y * local.y), z = local.z, length, most = 0;
    switch (s->kind) {
    case RG_SHAPE_SPHERE:
    case RG_SHAPE_DISC:
        return rg_length(p) / s->radius;
    case RG_SHAPE_CAPSULE:
        return capsule_gauge(s->radius, s->high, rho, fabs(z));
    case RG_SHAPE_CYLINDER:
        return fmax(rho / s->radius, fabs(z) / s->high);
    case RG_SHAPE_CONE:
        length = s->high - s->low;
        return fmax(z / s->low, (rho / s->radius + z / length) * (length / s->high));
    case RG_SHAPE_ELLIPSOID:
        return rg_length(
            rg_vec3_make(local.x / s->semi.x, local.y / s->semi.y, local.z / s->semi.z));
    default:
        for (uint32_t i = 0; i < s->polyhedron->facet_count; i++)
            most = fmax(most, rg_dot(s->polyhedron->normals[i], local) / s->polyhedron->offsets[i]);
        return most / s->scale;
    }
}

bool rg_surface_has_cap(const rg_surface *s) {
    return s->kind == RG_SHAPE_CYLINDER || s->kind == RG_SHAPE_CONE;
}

bool rg_surface_has_ends(const rg_surface *s) {
    return s->kind == RG_SHAPE_CAPSULE || s->kind == RG_SHAPE_CYLINDER;
}

bool rg_surface_is_smooth(const rg_surface *s) {
    return s->kind == RG_SHAPE_SPHERE || s->kind == RG_SHAPE_ELLIPSOID || s->kind == RG_SHAPE_DISC;
}

void rg_tangents(rg_vec3 n, bool planar, rg_vec3 b[2]) {
    if (planar) {
        b[0] = rg_vec3_make(-n.z, 0, n.x);
        b[1] = rg_vec3_make(0, 1, 0);
        return;
    }
    double x = fabs(n.x), y = fabs(n.y), z = fabs(n.z);
    rg_vec3 away = x <= y && x <= z ? rg_vec3_make(1, 0, 0)
                   : y <= z         ? rg_vec3_make(0, 1, 0)
                                    : rg_vec3_make(0, 0, 1);
    b[0] = rg_normalised(rg_cross(n, away));
    b[1] = rg_cross(n, b[0]);
}

/* ------------------------------------------------------------------ making patches */

/* Distinct labels with the sum of their weights. */
static int distinct(const uint32_t *label, const double *weight, int count, uint32_t *found,
                    double *sum) {
    int n = 0;
    for (int i = 0; i < count; i++) {
        int k = 0;
        while (k < n && found[k] != label[i])
            k++;
        if (k == n) {
            if (n == RG_PATCH_LABELS)
                return n + 1;
            found[n] = label[i];
            sum[n++] = 0;
        }
        sum[k] += weight[i];
    }
    return n;
}

static rg_vec3 vertex_of(const rg_surface *s, uint32_t vertex) {
    return to_world(s, s->polyhedron->vertices[vertex]);
}

static bool make_vertices(rg_patch *p) {
    p->form = RG_PATCH_POINT;
    p->base = vertex_of(p->surface, p->label[0]);
    p->flats = p->labels - 1;
    for (int k = 0; k < p->flats; k++)
        p->flat[k] = rg_sub(vertex_of(p->surface, p->label[k + 1]), p->base);
    p->low = 0;
    p->high = 1;
    p->range = p->flats == 0   ? RG_RANGE_NONE
               : p->flats == 1 ? RG_RANGE_INTERVAL
                               : RG_RANGE_TRIANGLE;
    return p->labels <= 3;
}

/* Capsule, cylinder: an end, or anything between the two. */
static bool make_tube(rg_patch *p) {
    const rg_surface *s = p->surface;
    p->form = s->kind == RG_SHAPE_CAPSULE ? RG_PATCH_BALL : RG_PATCH_RIM;
    p->flats = p->labels - 1;
    if (p->flats == 0) {
        p->range = RG_RANGE_NONE;
        p->base = rg_scale(p->label[0] ? s->high : s->low, s->axis);
        return true;
    }
    p->base = rg_vec3_make(0, 0, 0);
    p->flat[0] = s->axis;
    p->range = RG_RANGE_INTERVAL;
    p->low = s->low;
    p->high = s->high;
    return true;
}

/* Cone: rim, apex, or the line between the apex and a moving point of the rim. */
static bool make_cone(rg_patch *p) {
    const rg_surface *s = p->surface;
    p->slant = p->labels == 2;
    p->flats = p->slant;
    bool apex = p->labels == 1 && p->label[0] == 1;
    p->form = apex ? RG_PATCH_POINT : RG_PATCH_RIM;
    p->base = rg_scale(apex ? s->high : s->low, s->axis);
    p->range = p->slant ? RG_RANGE_INTERVAL : RG_RANGE_NONE;
    p->low = 0;
    p->high = 1;
    return true;
}

static bool make_cap(rg_patch *p, const rg_vec3 *point, const double *weight, int count) {
    const rg_surface *s = p->surface;
    if (p->labels != 1 || (s->kind == RG_SHAPE_CONE && p->label[0] == 1))
        return false;
    p->form = RG_PATCH_POINT;
    p->range = RG_RANGE_DISC;
    p->flats = 2;
    p->high = s->radius;
    p->base = rg_scale(p->label[0] ? s->high : s->low, s->axis);
    for (int k = 0; k < 2; k++)
        p->flat[k] = rg_vec3_make(s->rotation.m[0][k], s->rotation.m[1][k], s->rotation.m[2][k]);
    p->along[0] = p->along[1] = 0;
    for (int i = 0; i < count; i++)
        for (int k = 0; k < 2; k++)
            p->along[k] += weight[i] * rg_dot(p->flat[k], point[i]);
    return true;
}

bool rg_patch_make(rg_patch *p, const rg_surface *surface, const uint32_t *label,
                   const rg_vec3 *point, const double *weight, int count, bool cap) {
    double sum[RG_PATCH_LABELS] = {0};
    *p = (rg_patch){.surface = surface, .cap = cap};
    p->labels = distinct(label, weight, count, p->label, sum);
    if (p->labels < 1 || p->labels > RG_PATCH_LABELS)
        return false;
    if (cap)
        return make_cap(p, point, weight, count);
    switch (surface->kind) {
    case RG_SHAPE_SPHERE:
    case RG_SHAPE_DISC:
        p->form = RG_PATCH_BALL;
        return true;
    case RG_SHAPE_ELLIPSOID:
        p->form = RG_PATCH_ELLIPSOID;
        return true;
    case RG_SHAPE_CAPSULE:
    case RG_SHAPE_CYLINDER:
        p->along[0] = 0;
        for (int k = 0; k < p->labels; k++)
            p->along[0] += sum[k] * (p->label[k] ? surface->high : surface->low);
        return make_tube(p);
    case RG_SHAPE_CONE:
        p->along[0] = p->labels == 2 ? sum[p->label[0] == 1 ? 0 : 1] : 0;
        return make_cone(p);
    default:
        for (int k = 0; k + 1 < p->labels && k < 2; k++)
            p->along[k] = sum[k + 1];
        return make_vertices(p);
    }
}

double rg_patch_excess(const rg_patch *p) {
    double out = 0;
    switch (p->range) {
    case RG_RANGE_NONE:
        return 0;
    case RG_RANGE_INTERVAL:
        out = fmax(p->low - p->along[0], p->along[0] - p->high);
        return fmax(out, 0) * rg_length(p->flat[0]);
    case RG_RANGE_TRIANGLE:
        out = rg_max3(-p->along[0], -p->along[1], p->along[0] + p->along[1] - 1);
        return fmax(out, 0) * fmax(rg_length(p->flat[0]), rg_length(p->flat[1]));
    default:
        out = sqrt(p->along[0] * p->along[0] + p->along[1] * p->along[1]) - p->high;
        return fmax(out, 0);
    }
}

double rg_patch_radius(const rg_patch *p) {
    rg_vec3 s = p->surface->semi;
    if (p->form == RG_PATCH_ELLIPSOID)
        return rg_min3(s.x, s.y, s.z) * (rg_min3(s.x, s.y, s.z) / rg_max3(s.x, s.y, s.z));
    return p->form == RG_PATCH_POINT ? INFINITY : p->surface->radius;
}

static void keep(rg_patch *p, int drop) {
    p->labels--;
    for (int k = drop; k < p->labels; k++)
        p->label[k] = p->label[k + 1];
    p->along[0] = p->along[1] = 0;
}

bool rg_patch_shrink(rg_patch *p) {
    const rg_surface *s = p->surface;
    if (p->cap) {
        p->cap = false;
        p->along[0] = p->along[1] = 0;
        return s->kind == RG_SHAPE_CONE ? make_cone(p) : make_tube(p);
    }
    if (p->labels < 2)
        return false;
    if (s->polyhedron) {
        double rest = 1 - p->along[0] - (p->flats > 1 ? p->along[1] : 0);
        bool first = rest <= p->along[0] && (p->flats < 2 || rest <= p->along[1]);
        keep(p, first ? 0 : p->flats < 2 || p->along[0] <= p->along[1] ? 1 : 2);
        if (p->flats == 2)
            p->along[0] = 0.5;
        return make_vertices(p);
    }
    /* Two labels: keep the one that `along` has passed. */
    bool high = p->along[0] > 0.5 * (p->low + p->high);
    p->label[0] = high;
    p->labels = 1;
    p->along[0] = 0;
    return s->kind == RG_SHAPE_CONE ? make_cone(p) : make_tube(p);
}

/* ------------------------------------------------------------------ evaluation */

static void add_square(double w[3], double factor, rg_vec3 u, rg_vec3 v) {
    w[0] += factor * rg_dot(u, u);
    w[1] += factor * rg_dot(u, v);
    w[2] += factor * rg_dot(v, v);
}

static bool evaluate_rim(rg_patch *p, rg_vec3 n, const rg_vec3 *b, rg_vec3 *point, double w[3]) {
    const rg_surface *s = p->surface;
    double length;
    rg_vec3 out = across(s, n, &length);
    if (!(length > 0))
        return false;
    rg_vec3 tangent = rg_cross(s->axis, out);
    double share = p->slant ? 1 - p->along[0] : 1, t0 = rg_dot(tangent, b[0]),
           t1 = rg_dot(tangent, b[1]), factor = share * s->radius / length;
    w[0] += factor * t0 * t0;
    w[1] += factor * t0 * t1;
    w[2] += factor * t1 * t1;
    *point = rg_add_scaled(p->base, s->radius, out);
    if (p->slant)
        p->flat[0] = rg_sub(rg_scale(s->high, s->axis), *point);
    return true;
}

bool rg_patch_evaluate(rg_patch *p, rg_vec3 n, const rg_vec3 *b, rg_vec3 *point, double w[3]) {
    const rg_surface *s = p->surface;
    switch (p->form) {
    case RG_PATCH_POINT:
        *point = p->base;
        return true;
    case RG_PATCH_BALL: {
        double length = sqrt(rg_length_squared(n));
        rg_vec3 unit = rg_scale(1 / length, n);
        *point = rg_add_scaled(p->base, s->radius, unit);
        add_square(w, s->radius / length, rg_cross(unit, b[0]), rg_cross(unit, b[1]));
        return true;
    }
    case RG_PATCH_ELLIPSOID: {
        rg_vec3 g = rg_times(s->semi, apply_transposed(&s->rotation, n));
        double h = sqrt(rg_length_squared(g));
        g = rg_scale(1 / h, g);
        *point = rg_mat3_apply(&s->rotation, rg_times(s->semi, g));
        rg_vec3 u = rg_times(s->semi, apply_transposed(&s->rotation, b[0]));
        rg_vec3 v = rg_times(s->semi, apply_transposed(&s->rotation, b[1]));
        add_square(w, 1 / h, rg_cross(g, u), rg_cross(g, v));
        return true;
    }
    default:
        return evaluate_rim(p, n, b, point, w);
    }
}
