/* What the tests of the narrow stage on curved shapes share: random shapes of every kind, pairs
 * built by hand, and membership by the gauge of each kind, in formulas that the library does not
 * use. */
#ifndef RIGOR_TESTS_NARROW_SUPPORT_H
#define RIGOR_TESTS_NARROW_SUPPORT_H

#include "shape_helpers.h"

#include "narrow/narrow.h"

#include <stdio.h>

enum {
    BALL,
    CAPSULE,
    CYLINDER,
    CONE,
    ELLIPSOID,
    BOX,
    HULL,
    SPATIAL_KINDS,
    DISC = SPATIAL_KINDS,
    POLYGON,
    ALL_KINDS
};

static const char *const kind_name[ALL_KINDS] = {
    "sphere", "capsule", "cylinder", "cone", "ellipsoid", "box", "hull", "disc", "polygon"};

static inline rg_side side_of(const rg_shape *shape, rg_quat turn) {
    return (rg_side){shape, rg_shape_polyhedron(shape), rg_mat3_of_quat(turn),
                     rg_shape_centre(shape)};
}

/* The pair of two shapes under poses, as the table of pairs makes it. */
static inline rg_pair pair_of(const rg_shape *a, rg_pose pa, const rg_shape *b, rg_pose pb) {
    rg_vec3 x1 = rg_rotate(pa.orientation, rg_shape_centre(a)),
            x2 = rg_rotate(pb.orientation, rg_shape_centre(b));
    return (rg_pair){{side_of(a, pa.orientation), side_of(b, pb.orientation)},
                     rg_add(rg_sub(pb.position, pa.position), rg_sub(x2, x1))};
}

/* min t with p in t K, K the shape about its centre, p in its frame relative to the centre. */
static inline double gauge_of(const rg_shape *shape, rg_vec3 p) {
    rg_shape_def def = rg_shape_get_def(shape);
    double rho = sqrt(p.x * p.x + p.y * p.y), r = def.radius, t = 0;
    switch (def.kind) {
    case RG_SHAPE_SPHERE:
    case RG_SHAPE_DISC:
        return rg_length(p) / r;
    case RG_SHAPE_ELLIPSOID:
        return rg_length(rg_vec3_make(p.x / def.size.x, p.y / def.size.y, p.z / def.size.z));
    case RG_SHAPE_CYLINDER:
        return fmax(rho / r, 2 * fabs(p.z) / def.length);
    case RG_SHAPE_CONE:
        return fmax(-4 * p.z / def.length, 4.0 / 3.0 * (rho / r + p.z / def.length));
    case RG_SHAPE_CAPSULE: {
        double z = fabs(p.z), l = def.length / 2;
        if (z * r <= l * rho)
            return rho / r;
        /* rho^2 + (z - t l)^2 = t^2 r^2 */
        long double m = (long double)r * r - (long double)l * l,
                    c = (long double)rho * rho + (long double)z * z;
        long double root = sqrtl((long double)z * z * l * l + m * c);
        return (double)(c / ((long double)z * l + root));
    }
    default: {
        const rg_polyhedron *q = rg_shape_polyhedron(shape);
        for (uint32_t i = 0; i < q->facet_count; i++)
            t = fmax(t, rg_dot(q->normals[i], p) / q->offsets[i]);
        return t;
    }
    }
}

/* A random shape of a kind. `stretch` 1: like a ball; larger: needles, plates. */
static inline rg_shape *random_shape(rg_random *random, int kind, double size, double stretch) {
    double s[3];
    for (int i = 0; i < 3; i++) {
        double u = rg_random_between(random, -1, 1);
        s[i] =
            size * rg_exp(u * 0.5 * rg_log(stretch + 1e-9)) * rg_random_between(random, 0.7, 1.4);
    }
    rg_vec3 points[24];
    switch (kind) {
    case BALL:
        return make_shape(rg_shape_def_sphere(s[0]));
    case CAPSULE:
        return make_shape(rg_shape_def_capsule(s[0], s[1]));
    case CYLINDER:
        return make_shape(rg_shape_def_cylinder(s[0], s[1]));
    case CONE:
        return make_shape(rg_shape_def_cone(s[0], s[1]));
    case ELLIPSOID:
        return make_shape(rg_shape_def_ellipsoid(s[0], s[1], s[2]));
    case BOX:
        return make_shape(rg_shape_def_box(s[0], s[1], s[2]));
    case HULL: {
        size_t count = 6 + rg_random_below(random, 19);
        for (size_t i = 0; i < count; i++) {
            rg_vec3 u = rg_random_direction(random);
            points[i] = rg_vec3_make(s[0] * u.x, s[1] * u.y, s[2] * u.z);
        }
        return make_shape(rg_shape_def_hull(points, count));
    }
    case DISC:
        return make_shape(rg_shape_def_disc(s[0]));
    default: {
        size_t count = 3 + rg_random_below(random, 10);
        rg_shape *shape = NULL;
        rg_error error = {0};
        /* of any thinness that the library takes */
        do {
            rg_shape_release(shape);
            for (size_t i = 0; i < count; i++) {
                double c, v;
                rg_sin_cos(rg_random_between(random, 0, 2 * RG_PI), &v, &c);
                points[i] = rg_vec3_make(s[0] * c, 0, s[1] * v);
            }
        } while (rg_shape_create_planar_hull(points, count, NULL, &shape, &error) != RG_OK);
        return shape;
    }
    }
}

static inline long test_count(long usual) {
    return test_cases((int)usual, 100 * (int)usual);
}

#endif
