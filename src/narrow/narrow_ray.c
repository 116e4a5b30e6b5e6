/* A ray against a shape. A convex shape cuts an interval out of a line; every kind is an
 * intersection of simpler sets (slabs, quadrics, half-spaces), whose intervals intersect, or, like
 * the capsule, a convex union of sets, whose intervals join. Exact up to rounding; nothing
 * iterates.
 *
 * The line is taken in the shape's frame and measured from its point nearest to the shape's centre,
 * so that a ray from far away loses no digits in the quadratic equations. */
#include "narrow/narrow.h"
#include "shape/shape_terrain.h"

#include <assert.h>

/* The part of a line inside a set, with the outward normal where it enters; empty if in > out. */
typedef struct interval {
    double in, out;
    rg_vec3 normal;
} interval;

typedef struct line {
    rg_vec3 origin, direction;
} line;

static const interval nothing = {INFINITY, -INFINITY, {0, 0, 0}};
static const interval everything = {-INFINITY, INFINITY, {0, 0, 0}};

static bool is_empty(interval a) {
    return !(a.in <= a.out);
}

static interval intersection(interval a, interval b) {
    interval c = a.in >= b.in ? a : b;
    c.out = a.out < b.out ? a.out : b.out;
    return is_empty(c) ? nothing : c;
}

/* Of sets whose union is convex. */
static interval join(interval a, interval b) {
    if (is_empty(a) || is_empty(b))
        return is_empty(a) ? b : a;
    interval c = a.in <= b.in ? a : b;
    c.out = a.out > b.out ? a.out : b.out;
    return c;
}

static rg_vec3 point_at(const line *l, double t) {
    return rg_add_scaled(l->origin, t, l->direction);
}

/* n . p <= offset. */
static interval in_halfspace(const line *l, rg_vec3 n, double offset) {
    double slope = rg_dot(n, l->direction), room = offset - rg_dot(n, l->origin);
    if (slope == 0)
        return room >= 0 ? everything : nothing;
    double t = room / slope;
    return slope > 0 ? (interval){-INFINITY, t, {0, 0, 0}} : (interval){t, INFINITY, n};
}

/* a t^2 + 2 b t + c <= 0 for a > 0, without cancellation. */
static interval in_quadratic(double a, double b, double c) {
    double d = b * b - a * c;
    if (!(d >= 0))
        return nothing;
    double q = -(b + (b >= 0 ? sqrt(d) : -sqrt(d)));
    if (q == 0)
        return (interval){0, 0, {0, 0, 0}};
    double t1 = q / a, t2 = c / q;
    return (interval){t1 < t2 ? t1 : t2, t1 < t2 ? t2 : t1, {0, 0, 0}};
}

static interval in_ball(const line *l, rg_vec3 centre, double radius) {
    rg_vec3 o = rg_sub(l->origin, centre), d = l->direction;
    interval i = in_quadratic(rg_dot(d, d), rg_dot(o, d), rg_dot(o, o) - radius * radius);
    if (!is_empty(i))
        i.normal = rg_normalised(rg_add_scaled(o, i.in, d));
    return i;
}

static interval in_ellipsoid(const line *l, rg_vec3 axes) {
    line unit = {{l->origin.x / axes.x, l->origin.y / axes.y, l->origin.z / axes.z},
                 {l->direction.x / axes.x, l->direction.y / axes.y, l->direction.z / axes.z}};
    interval i = in_ball(&unit, (rg_vec3){0, 0, 0}, 1);
    if (!is_empty(i)) {
        rg_vec3 u = i.normal;
        i.normal = rg_normalised((rg_vec3){u.x / axes.x, u.y / axes.y, u.z / axes.z});
    }
    return i;
}

/* |z| <= half. */
static interval in_slab(const line *l, double half) {
    return intersection(in_halfspace(l, (rg_vec3){0, 0, 1}, half),
                        in_halfspace(l, (rg_vec3){0, 0, -1}, half));
}

/* x^2 + y^2 <= r^2, infinite along z. */
static interval in_tube(const line *l, double radius) {
    rg_vec3 o = l->origin, d = l->direction;
    double a = d.x * d.x + d.y * d.y;
    if (a == 0)
        return o.x * o.x + o.y * o.y <= radius * radius ? everything : nothing;
    interval i = in_quadratic(a, o.x * d.x + o.y * d.y, o.x * o.x + o.y * o.y - radius * radius);
    if (!is_empty(i)) {
        rg_vec3 p = point_at(l, i.in);
        i.normal = rg_normalised((rg_vec3){p.x, p.y, 0});
    }
    return i;
}

static interval in_capsule(const line *l, double radius, double length) {
    interval side = intersection(in_tube(l, radius), in_slab(l, 0.5 * length));
    interval ends = join(in_ball(l, (rg_vec3){0, 0, 0.5 * length}, radius),
                         in_ball(l, (rg_vec3){0, 0, -0.5 * length}, radius));
    return join(side, ends);
}

/* The lower nappe x^2 + y^2 <= k^2 (apex - z)^2, z <= apex. A line meets it between two roots on
 * one nappe, or, steeper than the nappe, beyond the one of its two roots that lies on the lower
 * one. */
static interval in_nappe(const line *l, double k, double apex) {
    rg_vec3 d = l->direction, o = l->origin;
    double w = apex - o.z, kk = k * k;
    double a = d.x * d.x + d.y * d.y - kk * d.z * d.z;
    double b = o.x * d.x + o.y * d.y + kk * w * d.z;
    double c = o.x * o.x + o.y * o.y - kk * w * w;
    interval i;
    if (a > 0) {
        i = in_quadratic(a, b, c);
        if (is_empty(i) || point_at(l, 0.5 * (i.in + i.out)).z > apex)
            return nothing;
    } else if (a < 0) {
        /* Outside the roots of -a t^2 - 2 b t - c <= 0, which there always are. */
        i = in_quadratic(-a, -b, -c);
        if (is_empty(i)) /* through the apex, up to rounding */
            i.in = i.out = -b / a;
        i = d.z < 0 ? (interval){i.out, INFINITY, {0, 0, 0}}
                    : (interval){-INFINITY, i.in, {0, 0, 0}};
    } else if (b != 0) { /* parallel to a line of the nappe */
        double t = -0.5 * c / b;
        i = b < 0 ? (interval){t, INFINITY, {0, 0, 0}} : (interval){-INFINITY, t, {0, 0, 0}};
    } else {
        i = c <= 0 ? everything : nothing;
    }
    if (!is_empty(i) && isfinite(i.in)) {
        rg_vec3 p = point_at(l, i.in);
        double r = sqrt(p.x * p.x + p.y * p.y);
        i.normal = r > 0 ? rg_normalised((rg_vec3){p.x / r, p.y / r, k}) : (rg_vec3){0, 0, 1};
    }
    return i;
}

static interval in_cone(const line *l, double radius, double height) {
    /* The upper half-space matters only for lines within the nappe, up to rounding. */
    interval ends = intersection(in_halfspace(l, (rg_vec3){0, 0, 1}, 0.75 * height),
                                 in_halfspace(l, (rg_vec3){0, 0, -1}, 0.25 * height));
    return intersection(in_nappe(l, radius / height, 0.75 * height), ends);
}

static interval in_polyhedron(const line *l, const rg_polyhedron *p) {
    line centred = {rg_sub(l->origin, p->centre), l->direction};
    interval i = everything;
    for (uint32_t f = 0; f < p->facet_count && !is_empty(i); f++)
        i = intersection(i, in_halfspace(&centred, p->normals[f], p->offsets[f]));
    return i;
}

static interval in_shape(const line *l, const rg_shape *shape) {
    rg_shape_def def = rg_shape_get_def(shape);
    switch (def.kind) {
    case RG_SHAPE_HALFSPACE:
        return in_halfspace(l, def.normal, def.offset);
    case RG_SHAPE_SPHERE:
    case RG_SHAPE_DISC:
        return in_ball(l, (rg_vec3){0, 0, 0}, def.radius);
    case RG_SHAPE_ELLIPSOID:
        return in_ellipsoid(l, def.size);
    case RG_SHAPE_CAPSULE:
        return in_capsule(l, def.radius, def.length);
    case RG_SHAPE_CYLINDER:
        return intersection(in_tube(l, def.radius), in_slab(l, 0.5 * def.length));
    case RG_SHAPE_CONE:
        return in_cone(l, def.radius, def.length);
    case RG_SHAPE_BOX:
    case RG_SHAPE_HULL:
    case RG_SHAPE_POLYGON:
        return in_polyhedron(l, rg_shape_polyhedron(shape));
    case RG_SHAPE_COMPOUND:
    case RG_SHAPE_TERRAIN:
    case RG_SHAPE_KIND_COUNT:
        break;
    }
    assert(!"not convex");
    return nothing;
}

static bool cast_convex(const rg_shape *shape, rg_pose pose, rg_vec3 origin, rg_vec3 unit,
                        double max_distance, rg_ray_hit *hit) {
    line l = {rg_pose_apply_inverse(pose, origin), rg_rotate_back(pose.orientation, unit)};
    double nearest = rg_dot(l.direction, rg_sub(rg_shape_centre(shape), l.origin));
    l.origin = point_at(&l, nearest);
    interval i = in_shape(&l, shape);
    double in = i.in + nearest, out = i.out + nearest;
    if (is_empty(i) || out < 0 || in > max_distance)
        return false;
    bool inside = in <= 0;
    hit->distance = inside ? 0 : in;
    hit->normal = inside ? (rg_vec3){0, 0, 0} : rg_rotate(pose.orientation, i.normal);
    hit->point = rg_add_scaled(origin, hit->distance, unit);
    hit->part = 0;
    return true;
}

/* A ray against the prisms of a terrain. */
typedef struct terrain_ray {
    const rg_shape *terrain;
    rg_pose pose;
    rg_vec3 origin, unit;
    double most;
    bool found;
    rg_ray_hit *hit;
} terrain_ray;

static bool cast_triangle(void *user, uint32_t triangle) {
    terrain_ray *r = user;
    rg_terrain_room room;
    rg_ray_hit one;
    const rg_shape *prism = rg_terrain_part(r->terrain, triangle, &room);
    if (cast_convex(prism, r->pose, r->origin, r->unit, r->most, &one) &&
        (!r->found || one.distance < r->hit->distance ||
         (one.distance == r->hit->distance && triangle < r->hit->part))) {
        *r->hit = one;
        r->hit->part = triangle;
        r->most = one.distance;
        r->found = true;
    }
    return true;
}

static bool cast_terrain(const rg_shape *shape, rg_pose pose, rg_vec3 origin, rg_vec3 unit,
                         double most, rg_ray_hit *hit) {
    terrain_ray ray = {shape, pose, origin, unit, most, false, hit};
    rg_bounds all = rg_shape_bounds(shape, pose);
    /* As far as the terrain reaches. */
    double reach = rg_length(rg_sub(origin, rg_scale(0.5, rg_add(all.lower, all.upper)))) +
                   rg_length(rg_sub(all.upper, all.lower));
    rg_vec3 end = rg_add_scaled(origin, fmin(most, reach), unit);
    rg_bounds path = {rg_min(origin, end), rg_max(origin, end)};
    path = rg_bounds_into(&path, pose);
    rg_terrain_visit(shape, &path, cast_triangle, &ray);
    return ray.found;
}

bool rg_shape_cast_ray(const rg_shape *shape, rg_pose pose, rg_vec3 origin, rg_vec3 direction,
                       double max_distance, rg_ray_hit *hit) {
    assert(shape && hit);
    rg_vec3 unit = rg_normalised(direction);
    if (rg_shape_get_kind(shape) == RG_SHAPE_TERRAIN)
        return cast_terrain(shape, pose, origin, unit, max_distance, hit);
    if (rg_shape_get_kind(shape) != RG_SHAPE_COMPOUND)
        return cast_convex(shape, pose, origin, unit, max_distance, hit);
    rg_shape_def def = rg_shape_get_def(shape);
    bool found = false;
    for (size_t k = 0; k < def.part_count; k++) {
        rg_ray_hit one;
        if (cast_convex(def.parts[k].shape, rg_pose_compose(pose, def.parts[k].pose), origin, unit,
                        max_distance, &one) &&
            (!found || one.distance < hit->distance)) {
            *hit = one;
            hit->part = k;
            found = true;
        }
    }
    return found;
}
