/* The growth function of any two convex shapes: the table of pairs, frames, half-spaces, gradients
 * and component functions.
 *
 * Everything is computed relative to x1 with d = (position 2 - position 1) + (R2 c2 - R1 c1), so
 * that the distance from the world's origin costs no digits beyond those of the positions
 * themselves. */
#include "narrow/narrow.h"
#include "shape/shape.h"

#include <string.h>

/* ------------------------------------------------------------------ supports */

rg_vec3 rg_side_support(const rg_side *side, rg_vec3 direction, uint32_t *hint) {
    const double(*r)[3] = side->rotation.m;
    rg_vec3 local = {r[0][0] * direction.x + r[1][0] * direction.y + r[2][0] * direction.z,
                     r[0][1] * direction.x + r[1][1] * direction.y + r[2][1] * direction.z,
                     r[0][2] * direction.x + r[1][2] * direction.y + r[2][2] * direction.z};
    if (side->polyhedron && side->shape->kind != RG_SHAPE_BOX) {
        uint32_t vertex = rg_solid_support(&side->shape->solid, local, hint);
        if (hint)
            *hint = vertex;
        return rg_mat3_apply(&side->rotation, side->shape->solid.centred[vertex]);
    }
    rg_vec3 point = rg_shape_support(side->shape, local, hint);
    return rg_mat3_apply(&side->rotation, rg_sub(point, side->centre));
}

/* ------------------------------------------------------------------ half-spaces */

/* A half-space does not grow: the body on side b touches its plane when grown by t = c / h, c the
 * height of its centre. The reference point of the half-space lies on its plane, so c = +-n.d. With
 * its centre at or below the plane no growth makes it touch from outside: ratio 0, the gap stays
 * exact. */
static void solve_halfspace(const rg_pair *pair, int b, rg_growth_cache *cache, rg_growth *growth) {
    const rg_side *plane = &pair->side[1 - b], *body = &pair->side[b];
    rg_vec3 up = rg_mat3_apply(&plane->rotation, plane->shape->def.normal);
    rg_vec3 centre = b ? pair->d : rg_neg(pair->d); /* of the body, from the plane's point */
    uint32_t hint = 0;
    if (cache && cache->valid)
        hint = b ? cache->vertex2 : cache->vertex1;
    rg_vec3 low = rg_side_support(body, rg_neg(up), &hint);
    double h = -rg_dot(up, low), height = rg_dot(up, centre);
    growth->ratio = height > 0 ? height / h : 0;
    growth->width = h;
    growth->gap = rg_dot(up, rg_add(centre, low));
    growth->normal = b ? up : rg_neg(up);
    rg_vec3 touch =
        height > 0 ? rg_add_scaled(centre, growth->ratio, low) : rg_add_scaled(centre, -height, up);
    rg_vec3 lowest = rg_add(centre, low), below = rg_add_scaled(lowest, -growth->gap, up);
    rg_vec3 origin = b ? rg_vec3_make(0, 0, 0) : pair->d; /* the plane's point, from x1 */
    growth->point = rg_add(origin, touch);
    growth->on1 = rg_add(origin, b ? below : lowest);
    growth->on2 = rg_add(origin, b ? lowest : below);
    rg_feature_kind kind = !body->polyhedron ? RG_FEATURES_SMOOTH
                           : b               ? RG_FEATURES_FACE_VERTEX
                                             : RG_FEATURES_VERTEX_FACE;
    growth->features = (rg_feature_pair){kind, b ? 0 : hint, b ? hint : 0};
    growth->primal_error = fabs(rg_dot(up, rg_sub(below, touch))) / h;
    growth->iterations = 1;
    if (cache)
        *cache = (rg_growth_cache){.valid = 1,
                                   .features = growth->features,
                                   .vertex1 = b ? 0 : hint,
                                   .vertex2 = b ? hint : 0};
}

static rg_status halfspace_first(const rg_pair *pair, rg_growth_cache *cache, rg_growth *growth) {
    solve_halfspace(pair, 1, cache, growth);
    return RG_OK;
}

static rg_status halfspace_second(const rg_pair *pair, rg_growth_cache *cache, rg_growth *growth) {
    solve_halfspace(pair, 0, cache, growth);
    return RG_OK;
}

/* ------------------------------------------------------------------ the table */

/* Row: kind of shape 1; column: kind of shape 2, in the order of rg_shape_kind. */
#define HB halfspace_first
#define BH halfspace_second
#define BB rg_growth_boxes
#define PP rg_growth_polyhedra
#define GG rg_growth_polygons
#define CC rg_growth_curved
#define NO NULL
/* clang-format off */
static rg_growth_solver *const table[RG_SHAPE_KIND_COUNT][RG_SHAPE_KIND_COUNT] = {
                /* half box sph  cap  cyl  cone ell  hull comp poly disc */
    /* halfspace */ {NO, HB, HB, HB, HB, HB, HB, HB, NO, HB, HB},
    /* box       */ {BH, BB, CC, CC, CC, CC, CC, PP, NO, NO, NO},
    /* sphere    */ {BH, CC, CC, CC, CC, CC, CC, CC, NO, NO, NO},
    /* capsule   */ {BH, CC, CC, CC, CC, CC, CC, CC, NO, NO, NO},
    /* cylinder  */ {BH, CC, CC, CC, CC, CC, CC, CC, NO, NO, NO},
    /* cone      */ {BH, CC, CC, CC, CC, CC, CC, CC, NO, NO, NO},
    /* ellipsoid */ {BH, CC, CC, CC, CC, CC, CC, CC, NO, NO, NO},
    /* hull      */ {BH, PP, CC, CC, CC, CC, CC, PP, NO, NO, NO},
    /* compound  */ {NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO},
    /* polygon   */ {BH, NO, NO, NO, NO, NO, NO, NO, NO, GG, CC},
    /* disc      */ {BH, NO, NO, NO, NO, NO, NO, NO, NO, CC, CC},
};
/* clang-format on */

/* Filled in place, number by number: copies of a struct just written wait for its stores. The
 * rotation is that of the quaternion's direction: the solvers take it as orthonormal to rounding,
 * which a quaternion that has drifted by a few units in the last place would not give. */
static void fill_side(rg_side *side, const rg_shape *shape, const rg_quat *q) {
    double(*r)[3] = side->rotation.m;
    side->shape = shape;
    side->polyhedron = shape->solid.view.vertex_count ? &shape->solid.view : NULL; /* in line */
    side->centre = shape->centre;
    double norm = rg_quat_norm_squared(*q), s = norm > 0 ? 2 / norm : 0;
    double x = s * q->x, y = s * q->y, z = s * q->z;
    double xx = x * q->x, yy = y * q->y, zz = z * q->z, xy = x * q->y, xz = x * q->z, yz = y * q->z,
           wx = x * q->w, wy = y * q->w, wz = z * q->w;
    r[0][0] = 1 - (yy + zz);
    r[0][1] = xy - wz;
    r[0][2] = xz + wy;
    r[1][0] = xy + wz;
    r[1][1] = 1 - (xx + zz);
    r[1][2] = yz - wx;
    r[2][0] = xz - wy;
    r[2][1] = yz + wx;
    r[2][2] = 1 - (xx + yy);
}

static void fill_pair(rg_pair *pair, const rg_shape *shape1, const rg_pose *pose1,
                      const rg_shape *shape2, const rg_pose *pose2, rg_vec3 *x1) {
    fill_side(&pair->side[0], shape1, &pose1->orientation);
    fill_side(&pair->side[1], shape2, &pose2->orientation);
    rg_vec3 c1 = rg_mat3_apply(&pair->side[0].rotation, shape1->centre);
    rg_vec3 c2 = rg_mat3_apply(&pair->side[1].rotation, shape2->centre);
    pair->d = rg_add(rg_sub(pose2->position, pose1->position), rg_sub(c2, c1));
    *x1 = rg_add(pose1->position, c1);
}

rg_status rg_pair_make(const rg_shape *shape1, rg_pose pose1, const rg_shape *shape2, rg_pose pose2,
                       rg_pair *pair, rg_vec3 *x1) {
    if (!table[shape1->kind][shape2->kind])
        return RG_INVALID_ARGUMENT;
    if (!rg_pose_is_finite(pose1) || !rg_pose_is_finite(pose2))
        return RG_NOT_FINITE;
    fill_pair(pair, shape1, &pose1, shape2, &pose2, x1);
    return RG_OK;
}

/* What follows from ratio, width, normal and point (all relative to x1), then world positions. */
static void derive(const rg_pair *pair, rg_vec3 x1, rg_growth *growth) {
    double t = growth->ratio;
    bool halfspace = pair->side[0].shape->kind == RG_SHAPE_HALFSPACE ||
                     pair->side[1].shape->kind == RG_SHAPE_HALFSPACE;
    growth->rho = t > 0 ? (t - 1) / t : -INFINITY;
    if (!halfspace) {
        growth->gap = (t - 1) * growth->width;
        if (t != 0) {
            growth->on1 = rg_scale(1 / t, growth->point);
            growth->on2 = rg_add(pair->d, rg_scale(1 / t, rg_sub(growth->point, pair->d)));
        } else {
            /* The centres coincide: the deepest points along the normal. */
            growth->on1 = rg_side_support(&pair->side[0], growth->normal, NULL);
            growth->on2 =
                rg_add(pair->d, rg_side_support(&pair->side[1], rg_neg(growth->normal), NULL));
        }
    }
    growth->point = rg_add(x1, growth->point);
    growth->on1 = rg_add(x1, growth->on1);
    growth->on2 = rg_add(x1, growth->on2);
}

/* A sum is finite only if all its terms are; if it is not, they are looked at one by one. */
static bool are_finite(const rg_pose *a, const rg_pose *b) {
    rg_vec3 x = a->position, y = b->position;
    rg_quat p = a->orientation, q = b->orientation;
    double sum = ((x.x + x.y) + (x.z + y.x)) + ((y.y + y.z) + (p.x + p.y)) +
                 ((p.z + p.w) + (q.x + q.y)) + (q.z + q.w);
    return isfinite(sum) || (rg_pose_is_finite(*a) && rg_pose_is_finite(*b));
}

rg_status rg_growth_between(const rg_shape *shape1, rg_pose pose1, const rg_shape *shape2,
                            rg_pose pose2, rg_growth_cache *cache, rg_growth *growth) {
    rg_growth_solver *solver = table[shape1->kind][shape2->kind];
    if (!solver || !are_finite(&pose1, &pose2)) {
        memset(growth, 0, sizeof *growth);
        return solver ? RG_NOT_FINITE : RG_INVALID_ARGUMENT;
    }
    /* What a solver need not write; the rest it must. */
    growth->primal_error = growth->dual_error = growth->duality_gap = 0;
    growth->features = (rg_feature_pair){RG_FEATURES_NONE, 0, 0};
    growth->iterations = 0;
    growth->fallback = growth->least_depth = false;
    rg_vec3 x1;
    rg_pair pair;
    fill_pair(&pair, shape1, &pose1, shape2, &pose2, &x1);
    rg_status status = solver(&pair, cache, growth);
    if (status == RG_OK)
        derive(&pair, x1, growth);
    else
        memset(growth, 0, sizeof *growth);
    return status;
}

/* ------------------------------------------------------------------ gradients */

rg_growth_gradient rg_growth_gradient_of(const rg_growth *growth, rg_vec3 x1, rg_vec3 x2) {
    rg_vec3 n = rg_scale(1 / growth->width, growth->normal);
    return (rg_growth_gradient){
        .x1 = rg_neg(n),
        .theta1 = rg_cross(n, rg_sub(growth->point, x1)),
        .x2 = n,
        .theta2 = rg_neg(rg_cross(n, rg_sub(growth->point, x2))),
    };
}

/* ------------------------------------------------------------------ single feature pairs */

/* World axes, relative to the centre of its side. */
static rg_vec3 vertex_of(const rg_side *side, uint32_t v) {
    return rg_mat3_apply(&side->rotation, side->shape->solid.centred[v]);
}

/* t = a.d / (b - a.w) with the facet on side s (the linear program (2.3) of Hart and Anitescu 2010,
 * solved for four active facets); a half-space does not grow, b = 0. */
static bool face_features(const rg_pair *pair, int s, uint32_t facet, uint32_t vertex,
                          rg_growth *growth) {
    const rg_side *owner = &pair->side[s], *other = &pair->side[1 - s];
    bool plane = owner->shape->kind == RG_SHAPE_HALFSPACE;
    rg_vec3 a = rg_mat3_apply(&owner->rotation,
                              plane ? owner->shape->def.normal : owner->polyhedron->normals[facet]);
    double b = plane ? 0 : owner->polyhedron->offsets[facet];
    rg_vec3 w = vertex_of(other, vertex), d = s ? rg_neg(pair->d) : pair->d;
    double h = b - rg_dot(a, w), ahead = rg_dot(a, d);
    if (!(h > 0))
        return false;
    double t = ahead / h;
    growth->ratio = t;
    growth->width = h;
    growth->normal = s ? rg_neg(a) : a;
    growth->point = rg_add_scaled(pair->d, t, w);
    if (s)
        growth->point = rg_scale(t, w);
    if (plane) {
        rg_vec3 low = rg_add(d, w), origin = s ? pair->d : rg_vec3_make(0, 0, 0);
        growth->gap = rg_dot(a, low);
        rg_vec3 below = rg_add(origin, rg_add_scaled(low, -growth->gap, a));
        growth->on1 = s ? rg_add(origin, low) : below;
        growth->on2 = s ? below : rg_add(origin, low);
    }
    return true;
}

static bool edge_features(const rg_pair *pair, uint32_t edge1, uint32_t edge2, rg_growth *growth) {
    const rg_side *one = &pair->side[0], *two = &pair->side[1];
    rg_vec3 p = vertex_of(one, one->polyhedron->edge_vertices[2 * edge1]);
    rg_vec3 q = vertex_of(two, two->polyhedron->edge_vertices[2 * edge2]);
    rg_vec3 e1 = rg_sub(vertex_of(one, one->polyhedron->edge_vertices[2 * edge1 + 1]), p);
    rg_vec3 e2 = rg_sub(vertex_of(two, two->polyhedron->edge_vertices[2 * edge2 + 1]), q);
    rg_vec3 n = rg_cross(e1, e2), corner = rg_sub(p, q);
    double sine = rg_length(n);
    if (!(sine > RG_PARALLEL_EDGES * rg_length(e1) * rg_length(e2)))
        return false;
    n = rg_scale((rg_dot(n, corner) < 0 ? -1 : 1) / sine, n);
    double h = rg_dot(n, corner), ahead = rg_dot(n, pair->d);
    if (!(h > 0))
        return false;
    double t = ahead / h;
    /* d / t = p + alpha e1 - q - beta e2; times t, so that t may be 0. */
    rg_vec3 r = rg_add_scaled(pair->d, -t, corner), cross = rg_cross(e1, e2);
    double t_alpha = rg_dot(rg_cross(r, e2), cross) / rg_length_squared(cross);
    growth->ratio = t;
    growth->width = h;
    growth->normal = n;
    growth->point = rg_add_scaled(rg_scale(t, p), t_alpha, e1);
    return true;
}

/* How many features of the kind that a feature pair asks for a side has. */
static uint32_t feature_count(const rg_side *side, rg_feature_kind kind, int s) {
    if (side->shape->kind == RG_SHAPE_HALFSPACE)
        return (kind == RG_FEATURES_FACE_VERTEX && s == 0) ||
               (kind == RG_FEATURES_VERTEX_FACE && s == 1);
    if (!side->polyhedron)
        return 0;
    if (kind == RG_FEATURES_EDGE_EDGE)
        return side->polyhedron->edge_count;
    bool face = (kind == RG_FEATURES_FACE_VERTEX) == (s == 0);
    return face ? side->polyhedron->facet_count : side->polyhedron->vertex_count;
}

rg_status rg_growth_of_features(const rg_shape *shape1, rg_pose pose1, const rg_shape *shape2,
                                rg_pose pose2, rg_feature_pair features, rg_growth *growth) {
    memset(growth, 0, sizeof *growth);
    if (!table[shape1->kind][shape2->kind] || features.kind == RG_FEATURES_NONE ||
        features.kind == RG_FEATURES_SMOOTH)
        return RG_INVALID_ARGUMENT;
    rg_vec3 x1;
    rg_pair pair;
    fill_pair(&pair, shape1, &pose1, shape2, &pose2, &x1);
    if (features.index1 >= feature_count(&pair.side[0], features.kind, 0) ||
        features.index2 >= feature_count(&pair.side[1], features.kind, 1))
        return RG_INVALID_ARGUMENT;
    bool defined;
    if (features.kind == RG_FEATURES_EDGE_EDGE)
        defined = edge_features(&pair, features.index1, features.index2, growth);
    else if (features.kind == RG_FEATURES_FACE_VERTEX)
        defined = face_features(&pair, 0, features.index1, features.index2, growth);
    else
        defined = face_features(&pair, 1, features.index2, features.index1, growth);
    growth->features = features;
    if (!defined) {
        growth->ratio = growth->rho = growth->gap = -INFINITY;
        return RG_OK;
    }
    derive(&pair, x1, growth);
    return RG_OK;
}
