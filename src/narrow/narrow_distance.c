/* Euclidean distance and closest points of two convex shapes.
 *
 * Method: GJK (Gilbert, Johnson & Keerthi 1988) on K = K1 - K2, the point of K nearest to d = x2 -
 * x1, with the inner problem by signed volumes (narrow_simplex.c) and a warm start from the last
 * simplex. Spheres, discs and capsules enter as points and segments with their radii taken off at
 * the end, which is exact. The plane through the nearest point so far, moved to the support point
 * beyond it, separates the shapes: its distance is a lower bound, and the search ends when the two
 * meet. On polyhedra that takes finitely many steps; on ellipsoids, cylinders and cones the last
 * digits come from Newton's method on the smooth pieces that the simplex names (narrow_local.h):
 * the largest n.d - h(n) over unit n, whose second derivative -(W + distance) is never flat. Shapes
 * that all but touch are tried by their growth, and if the bounds still do not meet, GJK runs again
 * in twice the precision.
 *
 * How it fails: if rounding or the limit of iterations ends it early, distance - lower_bound shows
 * by how much. */
#include "narrow/narrow_curved.h"
#include "narrow/narrow_depth.h"
#include "narrow/narrow_local.h"
#include "narrow/narrow_simplex.h"
#include "narrow/narrow_simplex_long.h"
#include "narrow/narrow_surface_long.h"

/* Iterations before the best answer so far is taken. */
#define MOST_ITERATIONS 200
/* Newton steps on one set of patches. */
#define MOST_STEPS 20
/* distance - lower bound, in units of the size of the pair and its distance, that ends the search.
 */
#define ENOUGH 1e-15
/* ... and that ends it where it was found by Newton's method. */
#define ENOUGH_CURVED 1e-14
/* ... and that starts the search again in twice the precision. */
#define NOT_ENOUGH 2e-14
/* Relative fall of the distance that counts as one, there. */
#define LONG_ROUNDING 1e-24
/* The gap in units of the distance below which Newton's method is tried. */
#define NEAR 0.1
/* A step, squared, and the move of points with it, that are taken to first order. */
#define SMALL_STEP 1e-10
#define SMALL_MOVE 1e-11
/* A move of points that is rounding; lengths are in units of the pair. */
#define STILL 1e-15

typedef struct query {
    rg_pair pair;
    rg_surface side[2]; /* cores; the second one reflected */
    double radius[2];   /* around the cores */
    double within;      /* cores as near as this count as overlapping: the radii, or 0 */
    rg_vec3 d;
    double scale, size; /* of d and K together */
    bool planar, curved;
    uint32_t iterations;
    bool fallback; /* rounding was too coarse: done again in double-double */
    rg_simplex simplex;
    rg_vec3 n;           /* the best separating direction */
    double upper, lower; /* bounds of the distance of the cores */
    rg_vec3 y[2];        /* closest points of the cores */
    bool overlap;
} query;

static double unit_of(double size) {
    int exponent;
    frexp(size, &exponent);
    return ldexp(1, -exponent);
}

static bool is_round(rg_shape_kind kind) {
    return kind == RG_SHAPE_SPHERE || kind == RG_SHAPE_CAPSULE || kind == RG_SHAPE_DISC;
}

static void prepare(query *q, const rg_shape *const shape[2], const rg_pose pose[2]) {
    rg_vec3 centre[2];
    for (int i = 0; i < 2; i++)
        centre[i] = rg_rotate(pose[i].orientation, rg_shape_centre(shape[i]));
    rg_vec3 d = rg_add(rg_sub(pose[1].position, pose[0].position), rg_sub(centre[1], centre[0]));
    double size = rg_shape_circumradius(shape[0]) + rg_shape_circumradius(shape[1]);
    *q = (query){.planar = rg_shape_is_planar(shape[0]),
                 .scale = unit_of(fmax(size, rg_length(d))),
                 .upper = INFINITY,
                 .lower = -INFINITY};
    q->pair.d = d;
    q->d = rg_scale(q->scale, d);
    q->size = q->scale * size + rg_length(q->d);
    for (int i = 0; i < 2; i++) {
        rg_side side = {shape[i], rg_shape_polyhedron(shape[i]),
                        rg_mat3_of_quat(pose[i].orientation), rg_shape_centre(shape[i])};
        q->pair.side[i] = side;
        q->side[i] = rg_surface_make(&side, i ? -1 : 1, q->scale);
        if (is_round(q->side[i].kind)) {
            q->radius[i] = q->side[i].radius;
            q->side[i].radius = 0;
        } else if (!side.polyhedron) {
            q->curved = true;
        }
    }
    q->within = q->radius[0] + q->radius[1];
}

/* ------------------------------------------------------------------ Newton's method */

/* Keeps what is better: the direction with the larger lower bound, the closer pair of points. True
 * if the two bounds meet. */
static bool judge(query *q, rg_vec3 n, const rg_vec3 y[2], double excess) {
    double h = rg_dot(n, rg_surface_reference_support(&q->side[0], n)) +
               rg_dot(n, rg_surface_reference_support(&q->side[1], n));
    /* the reference support of a capsule or ball is that of the whole shape */
    double lower = rg_dot(n, q->d) - (h - q->radius[0] - q->radius[1]);
    double upper = rg_length(rg_sub(q->d, rg_add(y[0], y[1])));
    if (lower > q->lower) {
        q->lower = lower;
        q->n = n;
    }
    if (upper < q->upper && excess <= ENOUGH * q->size) {
        q->upper = upper;
        q->y[0] = y[0];
        q->y[1] = y[1];
    }
    return q->upper - q->lower <= ENOUGH_CURVED * q->size;
}

/* Gradient and second derivative of h(n) - n.d for unit n, in the tangents b at n. */
static bool evaluate(rg_local *l, const query *q, rg_vec3 n, rg_vec3 *b) {
    rg_tangents(n, q->planar, b);
    if (!rg_local_evaluate(l, n, b, q->planar))
        return false;
    double distance = rg_dot(n, q->d) - l->h;
    l->q[0] -= rg_dot(b[0], q->d);
    l->q[1] -= rg_dot(b[1], q->d);
    l->w[0] += distance;
    l->w[2] += distance;
    rg_local_choose_flats(l);
    return distance > 0;
}

static rg_settled settle(void *context, rg_local *l) {
    query *q = context;
    rg_vec3 n = q->n, b[2], y[2];
    double last = INFINITY, step[2];
    const double origin[2] = {0, 0};
    for (int i = 0; i < MOST_STEPS; i++) {
        if (!evaluate(l, q, n, b) || !rg_local_step(l, step))
            return RG_SETTLED_NOT;
        double size = rg_dot2(step, step);
        if (!(size < 1))
            return RG_SETTLED_NOT;
        if (size <= 1e-28 ||
            (size >= 0.01 * last && (size <= 1e-24 || rg_local_move(l, step) <= STILL)))
            break;
        double gradient[2] = {l->q[0] + l->w[0] * step[0] + l->w[1] * step[1],
                              l->q[1] + l->w[1] * step[0] + l->w[2] * step[1]};
        if (l->rank)
            rg_local_distribute(l, gradient);
        n = rg_normalised(rg_add_scaled(rg_add_scaled(n, step[0], b[0]), step[1], b[1]));
        last = size;
        q->iterations++;
    }
    if (!evaluate(l, q, n, b))
        return RG_SETTLED_NOT;
    if (!rg_local_step(l, step) || !(rg_dot2(step, step) <= SMALL_STEP) ||
        !(rg_local_move(l, step) <= SMALL_MOVE))
        step[0] = step[1] = 0;
    double excess = rg_local_nudge(l, step, n, b, origin);
    excess += rg_local_points(l, y);
    return judge(q, n, y, excess) ? RG_SETTLED_CERTIFIED : RG_SETTLED_ASTRAY;
}

static bool attempt(query *q, const rg_corner *last) {
    rg_witness w[2], single[2];
    for (int i = 0; i < 2; i++) {
        single[i] = rg_witness_single(last->label[i], last->point[i]);
        w[i].count = q->simplex.count;
        for (int k = 0; k < q->simplex.count; k++) {
            w[i].label[k] = q->simplex.corner[k].label[i];
            w[i].point[k] = q->simplex.corner[k].point[i];
            w[i].weight[k] = q->simplex.weight[k];
        }
    }
    return rg_local_attempt(q->side, w, single, q->n, settle, q);
}

/* ------------------------------------------------------------------ GJK */

static rg_corner support(query *q, rg_vec3 n) {
    rg_corner c;
    for (int i = 0; i < 2; i++)
        c.point[i] = rg_surface_support(&q->side[i], n, &c.label[i]);
    c.at = rg_sub(rg_add(c.point[0], c.point[1]), q->d);
    return c;
}

/* The points of the simplex, if they are the closest so far. */
static void take_points(query *q, double length) {
    if (!(length <= q->upper))
        return;
    q->upper = length;
    for (int i = 0; i < 2; i++) {
        q->y[i] = rg_vec3_make(0, 0, 0);
        for (int k = 0; k < q->simplex.count; k++)
            q->y[i] = rg_add_scaled(q->y[i], q->simplex.weight[k], q->simplex.corner[k].point[i]);
    }
}

static bool contains(const rg_simplex *s, const rg_corner *c) {
    for (int k = 0; k < s->count; k++)
        if (s->corner[k].at.x == c->at.x && s->corner[k].at.y == c->at.y &&
            s->corner[k].at.z == c->at.z)
            return true;
    return false;
}

/* How far the weights of the simplex miss the origin. */
static double miss_of(const rg_simplex *s) {
    rg_vec3 sum = {0, 0, 0};
    for (int k = 0; k < s->count; k++)
        sum = rg_add_scaled(sum, s->weight[k], s->corner[k].at);
    return rg_length(sum);
}

/* Raises the lower bound with the support corner in the direction n. */
static void raise_bound(query *q, rg_vec3 n, const rg_corner *c) {
    double lower = -rg_dot(n, c->at);
    if (lower > q->lower) {
        q->lower = lower;
        q->n = n;
    }
}

/* Newton's method from q->n on the features of the given patches. */
static void settle_on(query *q, const rg_patch *patch) {
    rg_local l;
    const double weight[RG_PATCH_LABELS] = {0};
    const rg_vec3 point[RG_PATCH_LABELS] = {{0, 0, 0}};
    for (int i = 0; i < 2; i++)
        if (!rg_patch_make(&l.patch[i], &q->side[i], patch[i].label, point, weight, patch[i].labels,
                           patch[i].cap))
            return;
    rg_local_settle(&l, settle, q);
}

/* Nearly touching, the nearest point of K to d is almost d itself, and GJK cannot tell which way it
 * lies. The growth is as sharp there as anywhere: its normal gives the lower bound, its points the
 * upper one, and its ratio says whether the shapes overlap at all. */
static void try_growth(query *q) {
    rg_shot shot;
    rg_growth growth;
    if (!(rg_largest_entry(q->d) > 0) || q->within < q->radius[0] + q->radius[1])
        return;
    rg_shot_prepare(&shot, &q->pair);
    rg_growth_iterated(&shot, &q->pair, NULL, &growth);
    q->iterations += shot.iterations;
    double unit = q->scale / shot.scale;
    rg_vec3 n = growth.normal;
    rg_vec3 y[2] = {rg_add_scaled(rg_scale(unit, shot.answer.y1), -q->radius[0], n),
                    rg_add_scaled(rg_scale(unit, shot.answer.y2), -q->radius[1], n)};
    double most = growth.ratio * (1 + growth.primal_error + growth.duality_gap);
    q->overlap = most <= 1 && q->lower <= q->radius[0] + q->radius[1];
    if (q->overlap) {
        /* x* is in both */
        q->y[0] = rg_scale(unit * growth.ratio, shot.answer.y1);
        q->y[1] = rg_sub(q->d, q->y[0]);
    } else if (!judge(q, n, y, 0) && shot.settled) {
        settle_on(q, shot.patch);
    }
}

/* The unit vector from the simplex to the origin, -z but for rounding: close to the origin the
 * difference z has few digits left, while the plane of a triangle still has all. */
static rg_vec3 direction_of(const rg_simplex *s, rg_vec3 z, double length) {
    rg_vec3 n = rg_scale(-1 / length, z);
    if (s->count < 2)
        return n;
    rg_vec3 e = rg_sub(s->corner[1].at, s->corner[0].at);
    if (s->count == 2) {
        n = rg_add_scaled(n, -rg_dot(n, e) / rg_length_squared(e), e);
        return rg_normalised(n);
    }
    rg_vec3 up = rg_normalised(rg_cross(e, rg_sub(s->corner[2].at, s->corner[0].at)));
    double along = rg_dot(up, n);
    return fabs(along) > 0.9 ? rg_scale(along < 0 ? -1 : 1, up) : n;
}

/* ------------------------------------------------------------------ in twice the precision */

static rg_long_corner long_corner(query *q, rg_long3 n) {
    rg_long_corner c;
    for (int i = 0; i < 2; i++) {
        rg_surface_support(&q->side[i], rg_long3_round(n), &c.label[i]);
        c.point[i] = rg_surface_long_support(&q->side[i], n, c.label[i]);
    }
    c.at = rg_long3_sub(rg_long3_add(c.point[0], c.point[1]), rg_long3_of(q->d));
    return c;
}

static void take_long_points(query *q, const rg_long_simplex *s, rg_long3 z) {
    q->upper = rg_long_round(rg_long3_length(z));
    for (int i = 0; i < 2; i++) {
        rg_long3 y = rg_long3_scale(s->weight[0], s->corner[0].point[i]);
        for (int k = 1; k < s->count; k++)
            y = rg_long3_add_scaled(y, s->weight[k], s->corner[k].point[i]);
        q->y[i] = rg_long3_round(y);
    }
    q->simplex.count = s->count;
    for (int k = 0; k < s->count; k++) {
        const rg_long_corner *c = &s->corner[k];
        q->simplex.corner[k] =
            (rg_corner){rg_long3_round(c->at),
                        {rg_long3_round(c->point[0]), rg_long3_round(c->point[1])},
                        {c->label[0], c->label[1]}};
        q->simplex.weight[k] = rg_long_round(s->weight[k]);
    }
}

/* Shapes that all but touch: z is so short beside them that in doubles it has few digits left, and
 * its direction fewer. GJK once more, with z of 32 digits. Directions, rounded to doubles, still
 * move support points by rounding of the shapes only, not of z. */
static void run_long(query *q) {
    rg_long_simplex s = {.count = 1};
    rg_vec3 from = rg_largest_entry(q->n) > 0 ? q->n : q->d;
    if (!(rg_largest_entry(from) > 0))
        return;
    s.corner[0] = long_corner(q, rg_long3_of(from));
    s.weight[0] = rg_long_of(1);
    rg_long3 z = s.corner[0].at;
    q->overlap = false;
    for (uint32_t i = 0; i < MOST_ITERATIONS; i++) {
        rg_long length = rg_long3_length(z);
        q->overlap = length.hi <= q->within || length.hi <= LONG_ROUNDING;
        if (q->overlap || s.count == 4)
            break;
        rg_long3 n = rg_long3_scale(rg_long_div(rg_long_of(-1), length), z);
        rg_long_corner c = long_corner(q, n);
        q->iterations++;
        double lower = -rg_long_round(rg_long3_dot(n, c.at));
        if (lower > q->lower) {
            q->lower = lower;
            q->n = rg_long3_round(n);
        }
        if (length.hi - q->lower <= ENOUGH * q->size)
            break;
        rg_long_simplex next = s;
        next.corner[next.count++] = c;
        rg_long3 shorter = rg_long_simplex_reduce(&next);
        rg_long fall = rg_long_sub(length, rg_long3_length(shorter));
        if (!(fall.hi > LONG_ROUNDING * length.hi))
            break;
        s = next;
        z = shorter;
    }
    take_long_points(q, &s, z);
    rg_corner last = q->simplex.corner[0];
    if (!q->overlap && q->upper - q->lower > ENOUGH_CURVED * q->size)
        attempt(q, &last);
}

/* Whether the answer needs another search: bounds that do not meet, or a common point that is
 * none. */
static bool is_doubtful(const query *q) {
    if (!q->overlap)
        return q->upper - q->lower > NOT_ENOUGH * q->size;
    double apart = rg_length(rg_sub(rg_sub(q->d, q->y[1]), q->y[0]));
    return apart > q->within + NOT_ENOUGH * q->size;
}

/* ------------------------------------------------------------------ the search */

/* From the simplex and z, the point of K - d nearest to the origin in it, to the answer. */
static void run(query *q, rg_vec3 z) {
    double again = NEAR, length = rg_length(z);
    rg_corner c = q->simplex.corner[0];
    for (uint32_t i = 0; i < MOST_ITERATIONS; i++) {
        if (length <= q->within || length <= ENOUGH * q->size) {
            q->overlap = true;
            break;
        }
        rg_vec3 n = direction_of(&q->simplex, z, length);
        c = support(q, n);
        raise_bound(q, n, &c);
        q->iterations++;
        if (length - q->lower <= ENOUGH * q->size || contains(&q->simplex, &c))
            break;
        if (q->curved && length - q->lower < again * length) {
            again = 0.1 * (length - q->lower) / length;
            take_points(q, length);
            if (attempt(q, &c))
                return;
        }
        rg_simplex kept = q->simplex;
        q->simplex.corner[q->simplex.count++] = c;
        z = rg_simplex_reduce(&q->simplex);
        double shorter = rg_length(z);
        q->overlap = q->simplex.count == 4;
        /* a tetrahedron that is flat but for rounding holds the origin with weights of no meaning
         */
        if (q->overlap ? miss_of(&q->simplex) > length : !(shorter < length))
            q->simplex = kept;
        if (q->overlap || !(shorter < length))
            break;
        length = shorter;
    }
    take_points(q, q->overlap ? 0 : length);
    if (!q->overlap && q->upper - q->lower > ENOUGH * q->size && !attempt(q, &c) &&
        q->upper - q->lower > ENOUGH_CURVED * q->size)
        try_growth(q);
    if (is_doubtful(q)) {
        q->fallback = true;
        run_long(q);
    }
}

/* The last simplex again, where its labels name points; otherwise the last direction, or d. */
static rg_vec3 start(query *q, const rg_distance_cache *cache) {
    if (cache && cache->count >= 1 && cache->count <= 4) {
        q->side[0].hint = cache->hint1[0];
        q->side[1].hint = cache->hint2[0];
        q->simplex.count = 0;
        for (uint32_t k = 0; k < cache->count; k++) {
            rg_corner *c = &q->simplex.corner[q->simplex.count];
            *c = (rg_corner){.label = {cache->hint1[k], cache->hint2[k]}};
            if (!rg_surface_corner(&q->side[0], c->label[0], &c->point[0]) ||
                !rg_surface_corner(&q->side[1], c->label[1], &c->point[1]))
                break;
            c->at = rg_sub(rg_add(c->point[0], c->point[1]), q->d);
            q->simplex.count++;
        }
        if (q->simplex.count)
            return rg_simplex_reduce(&q->simplex);
    }
    rg_vec3 n = q->d;
    if (cache && cache->count)
        n = rg_mat3_apply(&q->side[0].rotation, cache->direction);
    if (!(rg_largest_entry(n) > 0))
        n = rg_vec3_make(1, 0, 0);
    q->simplex.count = 1;
    q->simplex.weight[0] = 1;
    q->simplex.corner[0] = support(q, n);
    return q->simplex.corner[0].at;
}

static void remember(const query *q, rg_distance_cache *cache) {
    rg_mat3 back = rg_mat3_transpose(&q->side[0].rotation);
    rg_vec3 n = rg_is_finite(q->n) && rg_largest_entry(q->n) > 0 ? q->n : rg_vec3_make(1, 0, 0);
    *cache = (rg_distance_cache){.count = (uint32_t)q->simplex.count,
                                 .direction = rg_mat3_apply(&back, n)};
    for (int k = 0; k < q->simplex.count; k++) {
        cache->hint1[k] = q->simplex.corner[k].label[0];
        cache->hint2[k] = q->simplex.corner[k].label[1];
    }
}

/* ------------------------------------------------------------------ results */

/* Cores nearer than the radii: a point of both shapes, between the closest points of the cores. */
static void report_overlap(const query *q, rg_vec3 x1, rg_distance *out) {
    rg_vec3 from = q->y[0], to = rg_sub(q->d, q->y[1]);
    double length = rg_length(rg_sub(to, from)), share = 0.5;
    if (length > 0)
        share = fmin(1, fmax(0, 0.5 + 0.5 * (q->radius[0] - q->radius[1]) / length));
    rg_vec3 common = rg_add_scaled(from, share, rg_sub(to, from));
    out->on1 = out->on2 = rg_add_scaled(x1, 1 / q->scale, common);
}

static void report(const query *q, rg_vec3 x1, rg_distance *out) {
    double radius = q->radius[0] + q->radius[1], unit = 1 / q->scale;
    *out = (rg_distance){.iterations = q->iterations, .fallback = q->fallback};
    rg_vec3 gap = rg_sub(rg_sub(q->d, q->y[1]), q->y[0]);
    double length = rg_length(gap);
    if (q->overlap || length <= radius) {
        report_overlap(q, x1, out);
        return;
    }
    out->distance = (length - radius) * unit;
    out->normal = rg_scale(1 / length, gap);
    out->lower_bound = fmax(0, (q->lower - radius) * unit);
    rg_vec3 on1 = rg_add_scaled(q->y[0], q->radius[0], out->normal);
    rg_vec3 on2 = rg_add_scaled(rg_sub(q->d, q->y[1]), -q->radius[1], out->normal);
    out->on1 = rg_add_scaled(x1, unit, on1);
    out->on2 = rg_add_scaled(x1, unit, on2);
}

/* The half-space { p : a.p <= offset } is shape `plane`; the lower bound is exact. */
static void from_halfspace(const rg_shape *const shape[2], const rg_pose pose[2], int plane,
                           rg_distance *out) {
    rg_shape_def def = rg_shape_get_def(shape[plane]);
    rg_pose body = pose[1 - plane];
    rg_vec3 a = rg_rotate(pose[plane].orientation, def.normal);
    rg_vec3 local = rg_rotate_back(body.orientation, rg_neg(a));
    rg_vec3 deepest = rg_rotate(body.orientation, rg_shape_support(shape[1 - plane], local, NULL));
    rg_vec3 from_plane = rg_add(rg_sub(body.position, pose[plane].position), deepest);
    double gap = rg_dot(a, from_plane) - def.offset;
    rg_vec3 at = rg_add(body.position, deepest);
    *out = (rg_distance){.on1 = at, .on2 = at, .iterations = 1};
    if (!(gap > 0))
        return;
    out->distance = out->lower_bound = gap;
    out->normal = plane == 0 ? a : rg_neg(a);
    *(plane == 0 ? &out->on1 : &out->on2) = rg_add_scaled(at, -gap, a);
}

rg_status rg_distance_between(const rg_shape *shape1, rg_pose pose1, const rg_shape *shape2,
                              rg_pose pose2, rg_distance_cache *cache, rg_distance *distance) {
    const rg_shape *const shape[2] = {shape1, shape2};
    const rg_pose pose[2] = {pose1, pose2};
    *distance = (rg_distance){0};
    if (!rg_pose_is_finite(pose1) || !rg_pose_is_finite(pose2))
        return RG_NOT_FINITE;
    if (!rg_shape_is_convex(shape1) || !rg_shape_is_convex(shape2))
        return RG_INVALID_ARGUMENT;
    bool bounded1 = rg_shape_is_bounded(shape1), bounded2 = rg_shape_is_bounded(shape2);
    if (!bounded1 && !bounded2)
        return RG_INVALID_ARGUMENT;
    if (!bounded1 || !bounded2) {
        from_halfspace(shape, pose, bounded1 ? 1 : 0, distance);
        return RG_OK;
    }
    if (rg_shape_is_planar(shape1) != rg_shape_is_planar(shape2))
        return RG_INVALID_ARGUMENT;
    query q;
    prepare(&q, shape, pose);
    run(&q, start(&q, cache));
    report(&q, rg_pose_apply(pose1, rg_shape_centre(shape1)), distance);
    if (cache)
        remember(&q, cache);
    return RG_OK;
}

void rg_distance_of_cores(const rg_shape *const shape[2], const rg_pose pose[2], rg_cores *cores) {
    query q;
    prepare(&q, shape, pose);
    q.within = 0;
    run(&q, start(&q, NULL));
    *cores = (rg_cores){.side = {q.side[0], q.side[1]},
                        .radius = {q.radius[0], q.radius[1]},
                        .d = q.d,
                        .scale = q.scale,
                        .size = q.size,
                        .overlap = q.overlap,
                        .y = {q.y[0], q.y[1]}};
}
