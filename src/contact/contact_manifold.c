/* Contact points of two convex shapes: the table of contents of the stage.
 *
 *   separation of the pair -> farther apart than `near`: no points
 *                            (growth; in overlap the least depth, narrow_depth.c)
 *   separating feature     -> one normal n for all points
 *   cap of either shape    -> what of it is level along n
 *   clip                   -> where the caps overlap: points, each with its gap along n
 *   witness                -> the growth's own point, if none of these is as deep
 *   reduction, output
 *
 * With n fixed, the gap over a place x across n is g(x) = f2(x) - f1(x), the heights of the two
 * surfaces along n; g is convex and piecewise linear, and g >= 0 everywhere if and only if at the
 * points. g equals the component function (t - 1) h of the point (Hart-Anitescu 2010, section 3.2)
 * for the separating face, and for other points up to the cosine of the angle between their own
 * normal and n.
 *
 * The growth's witnesses lie side by side where the shapes touch; at a gap or depth s they are
 * apart across n by up to s d / h. So a deepest point may have no partner straight along n: then
 * the witnesses stand for it. So there are points if and only if the pair's gap is at most `near`
 * (Hart-Anitescu 2010: A is empty if and only if E is). */
#include "contact/contact.h"

/* In the name of a point: no edge of a polyhedron, nor a side of an outline. */
enum { NO_EDGE = RG_CONTACT_CHORD - 1 };

/* What one query works with. */
typedef struct query {
    rg_contact_pair pair;
    double near, band, stick, inner;
    rg_contact_frame frame;
    rg_cap cap[2];
    rg_clip clip;
} query;

static double setting(double given, double share, double size) {
    return given > 0 ? given : share * size;
}

static void set_tolerances(query *q, const rg_contact_settings *settings) {
    rg_contact_settings s = settings ? *settings : (rg_contact_settings){0};
    double size = q->pair.size;
    q->near = setting(s.near, RG_CONTACT_NEAR, size);
    q->stick = setting(s.stick, RG_CONTACT_STICK, size);
    q->inner = s.inner;
    q->pair.ahead = s.inner > 0;
    q->band = fmax(setting(s.band, RG_CONTACT_BAND, size), RG_CONTACT_ROUNDING * size);
}

/* Metres below the farthest point of a side that its cap reaches. A step may turn all of a
 * polyhedron down; otherwise a cap never reaches the far side of its shape. */
static double band_of(const query *q, int i) {
    const rg_contact_side *side = &q->pair.side[i];
    bool whole = !rg_shape_is_bounded(side->shape) || (side->polyhedron && q->pair.ahead);
    return whole ? q->band : fmin(q->band, rg_shape_inradius(side->shape));
}

/* The growth's point with its witnesses. */
static rg_clip_point witness(const query *q, const rg_growth *growth) {
    rg_vec3 p[2] = {rg_sub(growth->on1, q->pair.origin), rg_sub(growth->on2, q->pair.origin)};
    rg_clip_point point = {.feature = {(rg_feature_kind)growth->features.kind,
                                       growth->features.index1, growth->features.index2}};
    if (growth->features.kind == RG_FEATURES_SMOOTH || growth->features.kind == RG_FEATURES_NONE) {
        uint32_t index[2] = {0, 0};
        for (int i = 0; i < 2; i++)
            if (q->cap[i].curved && q->cap[i].kind == RG_CAP_OUTLINE)
                index[i] =
                    q->cap[i].corner_count == 1 ? q->cap[i].corners[0].index : RG_CURVED_LINE;
        point.feature = (rg_feature_pair){RG_FEATURES_SMOOTH, index[0], index[1]};
    }
    for (int i = 0; i < 2; i++) {
        point.x[i] = rg_dot(q->frame.u, p[i]);
        point.y[i] = rg_dot(q->frame.v, p[i]);
        point.z[i] = rg_dot(q->frame.n, p[i]);
    }
    return point;
}

static rg_status clip_caps(query *q, rg_arena *arena) {
    for (int i = 0; i < 2; i++) {
        rg_status status = rg_cap_make(&q->pair, i, &q->frame, band_of(q, i), arena, &q->cap[i]);
        if (status != RG_OK)
            return status;
    }
    rg_clip *clip = &q->clip;
    clip->arena = arena;
    double gap = q->cap[1].top - q->cap[0].top;
    clip->most = gap + q->band;
    clip->lateral = q->pair.lateral;
    clip->flat = RG_CONTACT_FLAT * q->pair.size;
    clip->inner = q->inner > 0 ? q->inner : -clip->flat;
    rg_clip_caps(&q->cap[0], &q->cap[1], clip);
    return clip->status;
}

static rg_status find_points(query *q, const rg_growth *growth, rg_arena *arena) {
    rg_status status = clip_caps(q, arena);
    if (status)
        return status;
    rg_clip *clip = &q->clip;
    rg_clip_point deepest = witness(q, growth);
    uint64_t id = rg_contact_id(deepest.feature);
    double depth = INFINITY;
    bool found = false;
    for (uint32_t i = 0; i < clip->count; i++) {
        depth = fmin(depth, clip->points[i].gap);
        found = found || clip->points[i].id == id;
    }
    bool deeper = depth > deepest.z[1] - deepest.z[0] + clip->flat;
    if (found && deeper && deepest.feature.kind == RG_FEATURES_SMOOTH) {
        /* Edge 0 crosses the line of a curved shape elsewhere. */
        *(q->cap[0].curved ? &deepest.feature.index2 : &deepest.feature.index1) = NO_EDGE;
        found = false;
    }
    if (!found && deeper) {
        clip->most = INFINITY;
        rg_clip_add(clip, deepest);
        rg_clip_sort(clip);
    }
    return clip->status;
}

static rg_vec3 to_world(const query *q, const rg_clip_point *e, int i) {
    rg_vec3 p = rg_scale(e->x[i], q->frame.u);
    p = rg_add_scaled(p, e->y[i], q->frame.v);
    return rg_add(q->pair.origin, rg_add_scaled(p, e->z[i], q->frame.n));
}

static void write_points(const query *q, rg_contact_point *points, rg_manifold *manifold) {
    for (uint32_t i = 0; i < q->clip.count; i++) {
        const rg_clip_point *e = &q->clip.points[i];
        rg_vec3 b = to_world(q, e, 0), a = to_world(q, e, 1);
        points[i] = (rg_contact_point){.on_b = b,
                                       .on_a = a,
                                       .position = rg_add_scaled(b, 0.5, rg_sub(a, b)),
                                       .gap = e->gap,
                                       .feature = e->feature,
                                       .id = e->id};
        manifold->gap = fmin(manifold->gap, e->gap);
    }
    manifold->point_count = q->clip.count;
}

static rg_status fill(query *q, const rg_contact_query *asked, const rg_growth *growth,
                      rg_feature_pair last, rg_manifold *manifold) {
    rg_contact_choice choice = rg_contact_choose(&q->pair, growth, last, q->stick);
    q->frame = rg_contact_frame_make(choice.normal, q->pair.planar);
    rg_status status = find_points(q, growth, asked->arena);
    if (status != RG_OK)
        return status;
    uint32_t all = q->clip.count, goal = asked->settings ? asked->settings->reduce_to : 0;
    double area = 0, lost = 0;
    status = rg_contact_reduce(&q->clip, goal, RG_CONTACT_AREA_LOSS, asked->capacity, asked->arena,
                               &area, &lost);
    if (status != RG_OK)
        return status;
    *manifold = (rg_manifold){.normal = choice.normal,
                              .gap = INFINITY,
                              .degenerate = choice.degenerate,
                              .kept = choice.kept,
                              .reduced = q->clip.count < all,
                              .area = area,
                              .area_lost = lost,
                              .features = choice.features};
    write_points(q, asked->points, manifold);
    return RG_OK;
}

rg_status rg_contact_of_growth(const rg_contact_query *asked, const rg_growth *growth,
                               rg_manifold *manifold) {
    query q = {0};
    rg_contact_cache *cache = asked->cache;
    *manifold =
        (rg_manifold){.normal = growth->normal, .gap = growth->gap, .features = growth->features};
    rg_feature_pair last = cache ? cache->features : (rg_feature_pair){RG_FEATURES_NONE, 0, 0};
    if (cache)
        cache->features = (rg_feature_pair){RG_FEATURES_NONE, 0, 0};
    if (asked->capacity == 0)
        return RG_INVALID_ARGUMENT;
    rg_contact_pair_make(asked->one.shape, asked->one.pose, asked->two.shape, asked->two.pose,
                         &q.pair);
    set_tolerances(&q, asked->settings);
    if (!(growth->gap <= q.near))
        return RG_OK;
    rg_arena_mark mark = rg_arena_get_mark(asked->arena);
    rg_status status = fill(&q, asked, growth, last, manifold);
    rg_arena_return(asked->arena, mark);
    if (status == RG_OK && cache)
        cache->features = manifold->features;
    return status;
}

rg_status rg_contact_between(const rg_contact_query *asked, rg_manifold *manifold) {
    rg_growth growth;
    *manifold = (rg_manifold){.gap = INFINITY};
    rg_status status =
        rg_separation_between(asked->one.shape, asked->one.pose, asked->two.shape, asked->two.pose,
                              asked->cache ? &asked->cache->growth : NULL, &growth);
    return status ? status : rg_contact_of_growth(asked, &growth, manifold);
}

/* The farthest points of either shape along the normal, where nothing of one is straight over the
 * other. */
static rg_clip_point farthest(const query *q) {
    rg_clip_point e = {.feature = {RG_FEATURES_VERTEX_VERTEX, 0, 0}};
    uint32_t *index[2] = {&e.feature.index1, &e.feature.index2};
    for (int i = 0; i < 2; i++) {
        const rg_contact_side *side = &q->pair.side[i];
        rg_mat3 back = rg_mat3_transpose(&side->rotation);
        rg_vec3 outward = rg_mat3_apply(&back, rg_scale(side->sign, q->frame.n));
        rg_vec3 local = rg_shape_support(side->shape, outward, index[i]);
        rg_vec3 p = rg_add(side->position, rg_mat3_apply(&side->rotation, local));
        e.x[i] = rg_dot(q->frame.u, p);
        e.y[i] = rg_dot(q->frame.v, p);
        e.z[i] = rg_dot(q->frame.n, p);
    }
    return e;
}

rg_status rg_contact_along(const rg_contact_query *asked, rg_vec3 normal, rg_manifold *manifold) {
    query q = {0};
    *manifold = (rg_manifold){.normal = normal, .gap = INFINITY};
    rg_contact_pair_make(asked->one.shape, asked->one.pose, asked->two.shape, asked->two.pose,
                         &q.pair);
    set_tolerances(&q, asked->settings);
    q.frame = rg_contact_frame_make(normal, q.pair.planar);
    rg_arena_mark mark = rg_arena_get_mark(asked->arena);
    rg_status status = clip_caps(&q, asked->arena);
    if (!status && q.clip.count == 0) {
        q.clip.most = INFINITY;
        rg_clip_add(&q.clip, farthest(&q));
        rg_clip_sort(&q.clip);
        status = q.clip.status;
    }
    uint32_t goal = asked->settings ? asked->settings->reduce_to : 0;
    double area, lost;
    if (!status)
        status = rg_contact_reduce(&q.clip, goal, RG_CONTACT_AREA_LOSS, asked->capacity,
                                   asked->arena, &area, &lost);
    if (!status)
        write_points(&q, asked->points, manifold);
    rg_arena_return(asked->arena, mark);
    return status;
}
