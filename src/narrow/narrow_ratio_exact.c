/* The end of a ratio query in twice the precision, for flat bodies.
 *
 * Where h(n) is thousands of times smaller than the bodies (needles, thin plates), rounding of a
 * normal in double precision moves the far ends of the bodies by a noticeable part of h(n). Then
 * the portal of narrow_ratio.c runs once more with numbers of two doubles each (Dekker 1971; about
 * 32 digits): normals, weights, supports among near ties, and the certificate. The vertices, the
 * rotation between the bodies and d are taken as exact.
 *
 * Costs some 10 µs, and is called only if the certificate in double precision is not below
 * RG_RATIO_EXACT. How it fails: the ray is not inside the first portal (then the caller keeps what
 * it has). */
#include "narrow/narrow_ratio.h"

#define MOST_ITERATIONS 100
/* Gains below this, in units of the bodies' size, are rounding of the long arithmetic. */
#define LONG_ROUNDING 1e-27

/* hi + lo, |lo| at most half a unit in the last place of hi */
typedef struct longer {
    double hi, lo;
} longer;

typedef struct longer3 {
    longer x, y, z;
} longer3;

static longer sum_of(double a, double b) {
    double s = a + b, t = s - a;
    return (longer){s, (a - (s - t)) + (b - t)};
}

static longer product_of(double a, double b) {
    const double splitter = 134217729; /* 2^27 + 1 */
    double p = a * b, s = splitter * a, t = splitter * b;
    double ah = s - (s - a), al = a - ah, bh = t - (t - b), bl = b - bh;
    return (longer){p, ((ah * bh - p) + ah * bl + al * bh) + al * bl};
}

static longer renormalised(double hi, double lo) {
    double s = hi + lo;
    return (longer){s, lo - (s - hi)};
}

static longer of(double a) {
    return (longer){a, 0};
}

static longer plus(longer a, longer b) {
    longer s = sum_of(a.hi, b.hi), t = sum_of(a.lo, b.lo);
    s = renormalised(s.hi, s.lo + t.hi);
    return renormalised(s.hi, s.lo + t.lo);
}

static longer minus(longer a, longer b) {
    return plus(a, (longer){-b.hi, -b.lo});
}

static longer times(longer a, longer b) {
    longer p = product_of(a.hi, b.hi);
    return renormalised(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

static longer over(longer a, longer b) {
    double q = a.hi / b.hi;
    longer r = minus(a, times(of(q), b));
    double q2 = r.hi / b.hi;
    r = minus(r, times(of(q2), b));
    longer sum = sum_of(q, q2);
    return renormalised(sum.hi, sum.lo + r.hi / b.hi);
}

static longer3 of3(rg_vec3 a) {
    return (longer3){of(a.x), of(a.y), of(a.z)};
}

static rg_vec3 rounded(longer3 a) {
    return rg_vec3_make(a.x.hi, a.y.hi, a.z.hi);
}

static longer3 minus3(longer3 a, longer3 b) {
    return (longer3){minus(a.x, b.x), minus(a.y, b.y), minus(a.z, b.z)};
}

static longer3 plus_scaled(longer3 a, longer s, longer3 b) {
    return (longer3){plus(a.x, times(s, b.x)), plus(a.y, times(s, b.y)), plus(a.z, times(s, b.z))};
}

static longer dot(longer3 a, longer3 b) {
    return plus(plus(times(a.x, b.x), times(a.y, b.y)), times(a.z, b.z));
}

static longer3 cross(longer3 a, longer3 b) {
    return (longer3){minus(times(a.y, b.z), times(a.z, b.y)),
                     minus(times(a.z, b.x), times(a.x, b.z)),
                     minus(times(a.x, b.y), times(a.y, b.x))};
}

/* ------------------------------------------------------------------ vertices of K */

typedef struct long_corner {
    longer3 q, s;
    uint32_t i1, i2;
} long_corner;

static longer3 turned(const rg_mat3 *m, longer3 v) {
    longer out[3];
    for (int i = 0; i < 3; i++)
        out[i] = plus(plus(times(of(m->m[i][0]), v.x), times(of(m->m[i][1]), v.y)),
                      times(of(m->m[i][2]), v.z));
    return (longer3){out[0], out[1], out[2]};
}

static long_corner corner_of(const rg_ratio_frame *frame, uint32_t i1, uint32_t i2) {
    long_corner c = {.i1 = i1, .i2 = i2};
    c.q = turned(&frame->turn[0], of3(frame->solid[1]->centred[i2]));
    c.s = minus3(of3(frame->solid[0]->centred[i1]), c.q);
    return c;
}

/* The highest vertex along c: by doubles first, then among its neighbours that doubles cannot tell
 * from it. */
static uint32_t highest(const rg_solid *solid, longer3 c, uint32_t vertex) {
    const uint32_t *start = solid->view.vertex_start, *neighbours = solid->view.vertex_neighbours;
    rg_vec3 rough = rounded(c);
    double height, doubt = 1e-13 * solid->circumradius * rg_length(rough);
    vertex = rg_ratio_climb(solid, rough, vertex, &height);
    for (uint32_t moves = 0; moves < solid->view.vertex_count; moves++) {
        uint32_t best = vertex;
        longer3 here = of3(solid->centred[vertex]);
        longer most = of(0);
        for (uint32_t k = start[vertex]; k < start[vertex + 1]; k++) {
            rg_vec3 there = solid->centred[neighbours[k]];
            if (rg_dot(rough, rg_sub(there, solid->centred[vertex])) < -doubt)
                continue;
            longer gain = dot(c, minus3(of3(there), here));
            if (gain.hi > most.hi || (gain.hi == most.hi && gain.lo > most.lo)) {
                most = gain;
                best = neighbours[k];
            }
        }
        if (best == vertex)
            break;
        vertex = best;
    }
    return vertex;
}

static long_corner support(const rg_ratio_frame *frame, longer3 n, const long_corner *near) {
    longer3 back = turned(&frame->turn[1], n);
    back = minus3(of3(rg_vec3_make(0, 0, 0)), back);
    return corner_of(frame, highest(frame->solid[0], n, near->i1),
                     highest(frame->solid[1], back, near->i2));
}

/* ------------------------------------------------------------------ portal */

/* In the plane the third corner is the direction across it, which makes one formula of two. */
static longer3 normal_of(const long_corner c[3], bool planar) {
    longer3 a = minus3(c[1].s, c[0].s);
    if (planar)
        return (longer3){a.z, of(0), minus(of(0), a.x)};
    return cross(a, minus3(c[2].s, c[0].s));
}

static longer weight_of(longer3 d, longer3 a, longer3 b, bool planar) {
    if (planar) /* turn from a to b; d unused */
        return minus(times(a.x, b.z), times(a.z, b.x));
    return dot(d, cross(a, b));
}

static bool refine(const rg_ratio_frame *frame, longer3 d, bool planar, long_corner c[3],
                   longer3 *n, longer *gain, uint32_t *iterations) {
    int corners = planar ? 2 : 3;
    for (int i = 0; i < MOST_ITERATIONS; i++) {
        *n = normal_of(c, planar);
        long_corner s = support(frame, *n, &c[0]);
        *gain = dot(*n, minus3(s.s, c[0].s));
        ++*iterations;
        bool known = false;
        for (int k = 0; k < corners; k++)
            known = known || (s.i1 == c[k].i1 && s.i2 == c[k].i2);
        if (known || gain->hi <= LONG_ROUNDING * frame->size * rg_length(rounded(*n)))
            return true;
        if (planar) {
            c[weight_of(d, s.s, d, true).hi >= 0 ? 0 : 1] = s;
            continue;
        }
        longer3 split = cross(d, s.s);
        double e0 = dot(c[0].s, split).hi, e1 = dot(c[1].s, split).hi, e2 = dot(c[2].s, split).hi;
        c[e0 >= 0 && e1 <= 0 ? 2 : e1 >= 0 && e2 <= 0 ? 0 : 1] = s;
    }
    return false;
}

bool rg_ratio_exact(const rg_ratio_frame *frame, bool planar, rg_ratio_corner corners[3],
                    double weights[3], rg_ratio_answer *answer) {
    int count = planar ? 2 : 3;
    long_corner c[3];
    longer3 d = of3(frame->d[0]), n;
    for (int i = 0; i < count; i++)
        c[i] = corner_of(frame, corners[i].i1, corners[i].i2);
    longer gain;
    if (!refine(frame, d, planar, c, &n, &gain, &answer->iterations))
        return false;
    longer w[3] = {planar ? weight_of(d, d, c[1].s, true) : weight_of(d, c[1].s, c[2].s, false),
                   planar ? weight_of(d, c[0].s, d, true) : weight_of(d, c[2].s, c[0].s, false),
                   planar ? of(0) : weight_of(d, c[0].s, c[1].s, false)};
    longer sum = plus(plus(w[0], w[1]), w[2]);
    if (!(sum.hi > 0))
        return false;
    longer3 y1 = of3(rg_vec3_make(0, 0, 0)), y2 = y1;
    double outside = 0;
    for (int i = 0; i < count; i++) {
        longer weight = over(w[i], sum);
        weights[i] = weight.hi;
        outside = fmax(outside, -weight.hi * frame->size);
        y1 = plus_scaled(y1, weight, of3(frame->solid[0]->centred[c[i].i1]));
        y2 = plus_scaled(y2, weight, c[i].q);
        corners[i] = (rg_ratio_corner){.i1 = c[i].i1, .i2 = c[i].i2};
    }
    /* The certificate of rg_ratio_certify, in the long arithmetic. */
    longer3 z = minus3(y1, y2);
    longer width = plus(dot(n, c[0].s), gain.hi > 0 ? gain : of(0));
    longer dual = over(dot(n, d), width), primal = over(dot(d, d), dot(d, z));
    rg_vec3 off = rounded(plus_scaled(z, over(of(-1), primal), d));
    double length = rg_length(rounded(n)), h = width.hi / length;
    answer->normal = rg_normalised(rounded(n));
    answer->width = h;
    answer->ratio = dual.hi;
    answer->y1 = rounded(y1);
    answer->y2 = rounded(y2);
    answer->vertex1 = c[0].i1;
    answer->vertex2 = c[0].i2;
    answer->primal_error = (outside + rg_length(off)) / h;
    answer->dual_error = fmax(0, minus(width, dot(n, z)).hi / width.hi);
    answer->duality_gap = fabs(minus(primal, dual).hi) / dual.hi;
    return true;
}
