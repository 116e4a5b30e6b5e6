/* Polygons in the x-z plane: checked, put in order, integrated; and the hull of planar points.
 *
 * Corners run counter-clockwise with x to the right and z up, which is how `angle` turns. Corners
 * that repeat or that lie on the line between their neighbours are dropped. A polygon is convex if
 * every corner turns left and the edges go round once (a pentagram turns left everywhere, but goes
 * round twice).
 *
 * The hull is Andrew's monotone chain (Inf. Proc. Letters 9, 1979).
 *
 * A lamina's inertia about y is the sum of the other two; all are given, though planar worlds use
 * only that about y. Area, first and second moments come from triangles between an edge and a
 * reference point at the centroid, in compensated sums, as for polyhedra. */
#include "shape/shape.h"

#include "base/base_math.h"
#include "base/base_memory.h"
#include "base/base_sort.h"
#include "base/base_text.h"
#include "shape/shape_hull.h"
#include "shape/shape_mass.h"

#include <string.h>

/* A corner nearer than this to the line through its neighbours is no corner; in units of the
 * largest extent. */
#define COLLINEAR 1e-11

/* Twice the signed area of a triangle: positive if it turns left (x towards z). */
static double turn(rg_vec3 a, rg_vec3 b, rg_vec3 c) {
    return (b.x - a.x) * (c.z - a.z) - (b.z - a.z) * (c.x - a.x);
}

/* Distance of b from the line a-c; from a if a and c are one point. */
static double distance_from_chord(rg_vec3 a, rg_vec3 b, rg_vec3 c) {
    double chord = rg_length(rg_sub(c, a));
    return chord > 0 ? fabs(turn(a, b, c)) / chord : rg_length(rg_sub(b, a));
}

static double extent_of(const rg_vec3 *points, size_t count) {
    rg_vec3 low = points[0], high = low;
    for (size_t i = 1; i < count; i++) {
        low = rg_min(low, points[i]);
        high = rg_max(high, points[i]);
    }
    return rg_largest_entry(rg_sub(high, low));
}

static rg_status check_flat(const char *what, const rg_vec3 *points, size_t count,
                            rg_error *error) {
    char text[RG_NUMBER_SIZE];
    for (size_t i = 0; i < count; i++)
        if (points[i].y != 0)
            return rg_fail(error, RG_INVALID_ARGUMENT,
                           "polygon: %s %zu has y = %s; planar shapes lie in the x-z plane, y must "
                           "be 0",
                           what, i, rg_format_double(points[i].y, text));
    return RG_OK;
}

/* A corner that remembers its place in the input, for messages. */
typedef struct corner {
    rg_vec3 at;
    size_t index;
} corner;

/* Drops repeated and straight corners, round after round until none is left, since dropping one may
 * straighten the next. Spikes (there and back) keep their tip: they are not convex. */
static size_t clean(corner *corners, size_t count, double tolerance) {
    for (size_t before = 0; before != count;) {
        before = count;
        size_t kept = 0;
        for (size_t i = 0; i < count; i++) {
            rg_vec3 previous = kept ? corners[kept - 1].at : corners[count - 1].at;
            rg_vec3 here = corners[i].at, next = corners[i + 1 < count ? i + 1 : 0].at;
            bool between = rg_dot(rg_sub(here, previous), rg_sub(next, here)) >= 0;
            bool same = rg_length(rg_sub(here, previous)) <= tolerance;
            bool straight = between && distance_from_chord(previous, here, next) <= tolerance;
            if (!same && !straight)
                corners[kept++] = corners[i];
        }
        count = kept;
    }
    return count;
}

static double signed_area(const corner *corners, size_t count) {
    double area = 0;
    for (size_t i = 1; i + 1 < count; i++)
        area += 0.5 * turn(corners[0].at, corners[i].at, corners[i + 1].at);
    return area;
}

static bool points_up(rg_vec3 edge) {
    return edge.z > 0 || (edge.z == 0 && edge.x > 0);
}

/* The first corner that is not a left turn, or `count`; *rounds gets how often the edges go round.
 */
static size_t find_reflex(const corner *corners, size_t count, size_t *rounds) {
    *rounds = 0;
    for (size_t i = 0; i < count; i++) {
        rg_vec3 a = corners[i ? i - 1 : count - 1].at, b = corners[i].at;
        rg_vec3 c = corners[i + 1 < count ? i + 1 : 0].at;
        if (!(turn(a, b, c) > 0))
            return i;
        *rounds += !points_up(rg_sub(b, a)) && points_up(rg_sub(c, b));
    }
    return count;
}

static void reverse(corner *corners, size_t count) {
    for (size_t i = 0; i < count / 2; i++) {
        corner swap = corners[i];
        corners[i] = corners[count - 1 - i];
        corners[count - 1 - i] = swap;
    }
}

static rg_status check_corners(corner *corners, size_t *count, size_t given, rg_error *error,
                               double size) {
    *count = clean(corners, *count, COLLINEAR * size);
    double area = *count >= 3 ? signed_area(corners, *count) : 0;
    if (*count < 3 || !(fabs(area) > COLLINEAR * size * size))
        return rg_fail(error, RG_DEGENERATE_GEOMETRY,
                       "polygon: all %zu corners lie on one line; a polygon needs area", given);
    if (area < 0)
        reverse(corners, *count);
    size_t rounds, reflex = find_reflex(corners, *count, &rounds);
    char x[RG_NUMBER_SIZE], z[RG_NUMBER_SIZE];
    if (reflex < *count)
        return rg_fail(error, RG_NOT_CONVEX,
                       "polygon: corner %zu at [%s, %s] bends inwards; corners must go round a "
                       "convex polygon in order (cut others into convex parts)",
                       corners[reflex].index, rg_format_double(corners[reflex].at.x, x),
                       rg_format_double(corners[reflex].at.z, z));
    if (rounds != 1)
        return rg_fail(error, RG_NOT_CONVEX,
                       "polygon: its edges cross; corners must go round a convex polygon in order");
    return RG_OK;
}

/* ------------------------------------------------------------------ mass */

typedef struct area_sum {
    double sum[6], lost[6]; /* area; x z; xx zz zx; of doubled triangles */
} area_sum;

static area_sum integrate(const rg_vec3 *corners, size_t count, rg_vec3 reference) {
    area_sum total = {0};
    for (size_t i = 0; i < count; i++) {
        rg_vec3 a = rg_sub(corners[i], reference);
        rg_vec3 b = rg_sub(corners[i + 1 < count ? i + 1 : 0], reference);
        double d = a.x * b.z - a.z * b.x;
        double terms[6] = {d,
                           d * (a.x + b.x),
                           d * (a.z + b.z),
                           d * (a.x * a.x + a.x * b.x + b.x * b.x),
                           d * (a.z * a.z + a.z * b.z + b.z * b.z),
                           d * (2 * a.x * a.z + a.x * b.z + b.x * a.z + 2 * b.x * b.z)};
        for (int k = 0; k < 6; k++)
            rg_sum_add(&total.sum[k], &total.lost[k], terms[k]);
    }
    for (int k = 0; k < 6; k++)
        total.sum[k] += total.lost[k];
    return total;
}

static rg_vec3 centroid(const area_sum *s, rg_vec3 reference) {
    return rg_vec3_make(reference.x + s->sum[1] / s->sum[0] / 3, 0,
                        reference.z + s->sum[2] / s->sum[0] / 3);
}

static rg_mass_properties polygon_mass(const rg_vec3 *corners, size_t count) {
    rg_vec3 low = corners[0], high = low;
    for (size_t i = 1; i < count; i++) {
        low = rg_min(low, corners[i]);
        high = rg_max(high, corners[i]);
    }
    rg_vec3 reference = rg_add_scaled(low, 0.5, rg_sub(high, low));
    area_sum rough = integrate(corners, count, reference);
    reference = centroid(&rough, reference);
    area_sum fine = integrate(corners, count, reference);
    rg_mass_properties mass = {.mass = fine.sum[0] / 2, .centre = centroid(&fine, reference)};
    double x = mass.centre.x - reference.x, z = mass.centre.z - reference.z;
    double second[6] = {fine.sum[3] / 12 - mass.mass * x * x, 0,
                        fine.sum[4] / 12 - mass.mass * z * z, 0,
                        fine.sum[5] / 24 - mass.mass * x * z, 0};
    mass.inertia = rg_inertia_of_moments(second);
    return mass;
}

/* ------------------------------------------------------------------ making */

/* Finishes a polygon shape whose points are taken, from clean corners. */
static rg_status finish(rg_shape *shape, const rg_vec3 *corners, size_t count) {
    shape->unit = polygon_mass(corners, count);
    rg_status status =
        rg_solid_build_polygon(&shape->solid, corners, (uint32_t)count, &shape->allocator);
    if (status != RG_OK)
        return status;
    rg_solid_set_planes(&shape->solid, shape->unit.centre, NULL);
    shape->centre = shape->unit.centre;
    shape->inradius = shape->solid.inradius;
    shape->circumradius = shape->solid.circumradius;
    shape->volume = shape->unit.mass;
    return RG_OK;
}

rg_status rg_polygon_make(rg_shape *shape, const rg_shape_def *def, rg_error *error) {
    rg_status status = rg_shape_take_points(shape, def, "corner", error);
    if (status == RG_OK)
        status = check_flat("corner", shape->points, def->point_count, error);
    if (status != RG_OK)
        return status;
    size_t count = def->point_count;
    if (count < 3)
        return rg_fail(error, RG_DEGENERATE_GEOMETRY,
                       "polygon: %zu corners; must be at least 3 that are not on one line", count);
    double size = extent_of(shape->points, count);
    if (size < RG_SHAPE_SMALLEST)
        return rg_fail(error, size > 0 ? RG_INVALID_SIZE : RG_DEGENERATE_GEOMETRY,
                       "polygon: smaller than 1e-50 m; must be larger");
    corner *corners = rg_allocate(&shape->allocator, count, sizeof *corners);
    rg_vec3 *clean_corners = rg_allocate(&shape->allocator, count, sizeof *clean_corners);
    if (corners && clean_corners) {
        for (size_t i = 0; i < count; i++)
            corners[i] = (corner){shape->points[i], i};
        status = check_corners(corners, &count, def->point_count, error, size);
        for (size_t i = 0; i < count; i++)
            clean_corners[i] = corners[i].at;
        if (status == RG_OK)
            status = finish(shape, clean_corners, count);
    } else
        status = RG_OUT_OF_MEMORY;
    rg_release(&shape->allocator, corners);
    rg_release(&shape->allocator, clean_corners);
    return status;
}

/* Extends the chain by a point, dropping those that it makes superfluous; `floor` corners stay. */
static size_t push(rg_vec3 *chain, size_t count, size_t floor, rg_vec3 point, double tolerance) {
    while (count > floor) {
        rg_vec3 a = chain[count - 2], b = chain[count - 1];
        if (turn(a, b, point) > 0 && distance_from_chord(a, b, point) > tolerance)
            break;
        count--;
    }
    chain[count] = point;
    return count + 1;
}

rg_status rg_shape_create_planar_hull(const rg_vec3 *points, size_t count,
                                      const rg_allocator *allocator, rg_shape **shape,
                                      rg_error *error) {
    *shape = NULL;
    if (count > RG_SHAPE_MOST_POINTS)
        return rg_fail(error, RG_LIMIT_EXCEEDED, "polygon: %zu points; must be at most %d", count,
                       RG_SHAPE_MOST_POINTS);
    for (size_t i = 0; i < count; i++)
        if (!rg_is_finite(points[i]))
            return rg_fail(error, RG_NOT_FINITE,
                           "polygon: point %zu is not finite; must have finite coordinates", i);
    rg_status status = check_flat("point", points, count, error);
    if (status != RG_OK)
        return status;
    if (count < 3)
        return rg_fail(error, RG_DEGENERATE_GEOMETRY,
                       "polygon: %zu points; must be at least 3 that are not on one line", count);
    rg_allocator chosen = rg_allocator_or_default(allocator);
    rg_vec3 *sorted = rg_allocate(&chosen, count, sizeof *sorted);
    rg_vec3 *chain = rg_allocate(&chosen, 2 * count + 1, sizeof *chain);
    status = RG_OUT_OF_MEMORY;
    if (sorted && chain) {
        memcpy(sorted, points, count * sizeof *sorted);
        status = rg_sort(sorted, count, sizeof *sorted, rg_point_compare, NULL, &chosen);
    }
    if (status == RG_OK) {
        double tolerance = COLLINEAR * extent_of(points, count);
        size_t used = 0, floor = 1;
        for (size_t i = 0; i < count; i++)
            used = push(chain, used, floor, sorted[i], tolerance);
        floor = used;
        for (size_t i = count - 1; i-- > 0;)
            used = push(chain, used, floor, sorted[i], tolerance);
        rg_shape_def def = rg_shape_def_polygon(chain, used - 1); /* the last is the first again */
        status =
            def.point_count >= 3
                ? rg_shape_create(&def, &chosen, shape, error)
                : rg_fail(error, RG_DEGENERATE_GEOMETRY,
                          "polygon: all %zu points lie on one line; a polygon needs area", count);
    }
    rg_release(&chosen, sorted);
    rg_release(&chosen, chain);
    return status == RG_OUT_OF_MEMORY ? rg_fail(error, status, "polygon: no memory") : status;
}
