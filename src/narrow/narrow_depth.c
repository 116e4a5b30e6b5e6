/* Penetration depth in the sense of the smallest translation that separates two shapes: which
 * search a pair takes, and where its answer stands in for the ratio metric's.
 * Tested by tests/narrow/test_depth.c. */
#include "narrow/narrow_depth.h"
#include "shape/shape.h"

/* The half-space on side `s`: out along its normal, always. */
static void leave_halfspace(const rg_pair *pair, int s, rg_depth *depth) {
    const rg_side *plane = &pair->side[s], *body = &pair->side[1 - s];
    rg_vec3 up = rg_mat3_apply(&plane->rotation, plane->shape->def.normal);
    rg_vec3 low = rg_side_support(body, rg_neg(up), NULL);
    double gap = rg_dot(up, rg_add(s ? rg_neg(pair->d) : pair->d, low));
    rg_vec3 lowest = s ? low : rg_add(pair->d, low), below = rg_add_scaled(lowest, -gap, up);
    *depth = (rg_depth){.depth = -gap,
                        .at_least = -gap,
                        .normal = s ? rg_neg(up) : up,
                        .on1 = s ? lowest : below,
                        .on2 = s ? below : lowest,
                        .features = {RG_FEATURES_SMOOTH, 0, 0}};
}

static void search(const rg_pair *pair, const rg_pose pose[2], rg_depth *depth) {
    const rg_shape *const shape[2] = {pair->side[0].shape, pair->side[1].shape};
    if (pair->side[0].polyhedron && pair->side[1].polyhedron) {
        rg_depth_polyhedra(pair, depth);
    } else if (shape[0]->kind == RG_SHAPE_HALFSPACE || shape[1]->kind == RG_SHAPE_HALFSPACE) {
        leave_halfspace(pair, shape[1]->kind == RG_SHAPE_HALFSPACE, depth);
    } else {
        rg_cores cores;
        rg_distance_of_cores(shape, pose, &cores);
        rg_depth_curved(pair, &cores, depth);
    }
}

rg_status rg_depth_between(const rg_shape *shape1, rg_pose pose1, const rg_shape *shape2,
                           rg_pose pose2, rg_depth *depth) {
    const rg_pose pose[2] = {pose1, pose2};
    *depth = (rg_depth){0};
    rg_pair pair;
    rg_vec3 x1;
    rg_status status = rg_pair_make(shape1, pose1, shape2, pose2, &pair, &x1);
    if (status)
        return status;
    search(&pair, pose, depth);
    depth->on1 = rg_add(x1, depth->on1);
    depth->on2 = rg_add(x1, depth->on2);
    return RG_OK;
}

/* The growth's way out is (1 - t) h(n) long, and none is shorter than (1 - t) r, where r is the sum
 * of the inradii (every h(n) is at least r): curved shapes that are compact are not searched. */
static bool is_compact(const rg_pair *pair, const rg_growth *growth) {
    double r = pair->side[0].shape->inradius + pair->side[1].shape->inradius;
    return growth->width <= RG_DEPTH_COMPACT * r;
}

/* The growth as it would be if the normal of the least depth alone counted. */
static void stand_in(const rg_pair *pair, rg_vec3 x1, const rg_depth *depth, rg_growth *growth) {
    growth->least_depth = true;
    growth->normal = depth->normal;
    growth->features = depth->features;
    growth->gap = -depth->depth;
    growth->width = rg_dot(depth->normal, pair->d) + depth->depth;
    growth->ratio = growth->width > 0 ? 1 - depth->depth / growth->width : 0;
    growth->rho = growth->ratio > 0 ? (growth->ratio - 1) / growth->ratio : -INFINITY;
    growth->on1 = rg_add(x1, depth->on1);
    growth->on2 = rg_add(x1, depth->on2);
    growth->point = rg_add_scaled(growth->on1, 0.5, rg_sub(growth->on2, growth->on1));
}

rg_status rg_separation_between(const rg_shape *shape1, rg_pose pose1, const rg_shape *shape2,
                                rg_pose pose2, rg_growth_cache *cache, rg_growth *growth) {
    rg_status status = rg_growth_between(shape1, pose1, shape2, pose2, cache, growth);
    double tie = RG_DEPTH_TIE * fmin(shape1->circumradius, shape2->circumradius);
    if (status || !(growth->gap < -tie) || shape1->kind == RG_SHAPE_HALFSPACE ||
        shape2->kind == RG_SHAPE_HALFSPACE)
        return status;
    const rg_pose pose[2] = {pose1, pose2};
    rg_pair pair;
    rg_vec3 x1;
    rg_pair_make(shape1, pose1, shape2, pose2, &pair, &x1);
    bool curved = !pair.side[0].polyhedron || !pair.side[1].polyhedron;
    if (curved ? is_compact(&pair, growth) : rg_depth_is_growth(&pair, growth))
        return RG_OK;
    rg_depth depth;
    search(&pair, pose, &depth);
    double same = curved ? RG_DEPTH_SAME : 1;
    if (depth.depth < -growth->gap * same - tie)
        stand_in(&pair, x1, &depth, growth);
    return RG_OK;
}
