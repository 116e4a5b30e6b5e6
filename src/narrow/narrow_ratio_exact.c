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
 * it has).
 * Tested by tests/narrow/test_ratio.c. */
#include "narrow/narrow_ratio.h"

#include "base/base_long.h"

#define MOST_ITERATIONS 100
/* Gains below this, in units of the bodies' size, are rounding of the long arithmetic. */
#define LONG_ROUNDING 1e-27

/* ------------------------------------------------------------------ vertices of K */

typedef struct long_corner {
    rg_long3 q, s;
    uint32_t i1, i2;
} long_corner;

static rg_long3 turned(const rg_mat3 *m, rg_long3 v) {
    rg_long out[3];
    for (int i = 0; i < 3; i++)
        out[i] = rg_long_add(rg_long_add(rg_long_mul(rg_long_of(m->m[i][0]), v.x),
                                         rg_long_mul(rg_long_of(m->m[i][1]), v.y)),
                             rg_long_mul(rg_long_of(m->m[i][2]), v.z));
    return (rg_long3){out[0], out[1], out[2]};
}

static long_corner corner_of(const rg_ratio_frame *frame, uint32_t i1, uint32_t i2) {
    long_corner c = {.i1 = i1, .i2 = i2};
    c.q = turned(&frame->turn[0], rg_long3_of(frame->solid[1]->centred[i2]));
    c.s = rg_long3_sub(rg_long3_of(frame->solid[0]->centred[i1]), c.q);
    return c;
}

/* The highest vertex along c: by doubles first, then among its neighbours that doubles cannot tell
 * from it. */
static uint32_t highest(const rg_solid *solid, rg_long3 c, uint32_t vertex) {
    const uint32_t *start = solid->view.vertex_start, *neighbours = solid->view.vertex_neighbours;
    rg_vec3 rough = rg_long3_round(c);
    double height, doubt = 1e-13 * solid->circumradius * rg_length(rough);
    vertex = rg_ratio_climb(solid, rough, vertex, &height);
    for (uint32_t moves = 0; moves < solid->view.vertex_count; moves++) {
        uint32_t best = vertex;
        rg_long3 here = rg_long3_of(solid->centred[vertex]);
        rg_long most = rg_long_of(0);
        for (uint32_t k = start[vertex]; k < start[vertex + 1]; k++) {
            rg_vec3 there = solid->centred[neighbours[k]];
            if (rg_dot(rough, rg_sub(there, solid->centred[vertex])) < -doubt)
                continue;
            rg_long gain = rg_long3_dot(c, rg_long3_sub(rg_long3_of(there), here));
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

static long_corner support(const rg_ratio_frame *frame, rg_long3 n, const long_corner *near) {
    rg_long3 back = turned(&frame->turn[1], n);
    back = rg_long3_sub(rg_long3_of(rg_vec3_make(0, 0, 0)), back);
    return corner_of(frame, highest(frame->solid[0], n, near->i1),
                     highest(frame->solid[1], back, near->i2));
}

/* ------------------------------------------------------------------ portal */

/* In the plane the third corner is the direction across it, which makes one formula of two. */
static rg_long3 normal_of(const long_corner c[3], bool planar) {
    rg_long3 a = rg_long3_sub(c[1].s, c[0].s);
    if (planar)
        return (rg_long3){a.z, rg_long_of(0), rg_long_sub(rg_long_of(0), a.x)};
    return rg_long3_cross(a, rg_long3_sub(c[2].s, c[0].s));
}

static rg_long weight_of(rg_long3 d, rg_long3 a, rg_long3 b, bool planar) {
    if (planar) /* turn from a to b; d unused */
        return rg_long_sub(rg_long_mul(a.x, b.z), rg_long_mul(a.z, b.x));
    return rg_long3_dot(d, rg_long3_cross(a, b));
}

static bool refine(const rg_ratio_frame *frame, rg_long3 d, bool planar, long_corner c[3],
                   rg_long3 *n, rg_long *gain, uint32_t *iterations) {
    int corners = planar ? 2 : 3;
    for (int i = 0; i < MOST_ITERATIONS; i++) {
        *n = normal_of(c, planar);
        long_corner s = support(frame, *n, &c[0]);
        *gain = rg_long3_dot(*n, rg_long3_sub(s.s, c[0].s));
        ++*iterations;
        bool known = false;
        for (int k = 0; k < corners; k++)
            known = known || (s.i1 == c[k].i1 && s.i2 == c[k].i2);
        if (known || gain->hi <= LONG_ROUNDING * frame->size * rg_length(rg_long3_round(*n)))
            return true;
        if (planar) {
            c[weight_of(d, s.s, d, true).hi >= 0 ? 0 : 1] = s;
            continue;
        }
        rg_long3 split = rg_long3_cross(d, s.s);
        double e0 = rg_long3_dot(c[0].s, split).hi, e1 = rg_long3_dot(c[1].s, split).hi,
               e2 = rg_long3_dot(c[2].s, split).hi;
        c[e0 >= 0 && e1 <= 0 ? 2 : e1 >= 0 && e2 <= 0 ? 0 : 1] = s;
    }
    return false;
}

bool rg_ratio_exact(const rg_ratio_frame *frame, bool planar, rg_ratio_corner corners[3],
                    double weights[3], rg_ratio_answer *answer) {
    int count = planar ? 2 : 3;
    long_corner c[3];
    rg_long3 d = rg_long3_of(frame->d[0]), n;
    for (int i = 0; i < count; i++)
        c[i] = corner_of(frame, corners[i].i1, corners[i].i2);
    rg_long gain;
    if (!refine(frame, d, planar, c, &n, &gain, &answer->iterations))
        return false;
    rg_long w[3] = {planar ? weight_of(d, d, c[1].s, true) : weight_of(d, c[1].s, c[2].s, false),
                    planar ? weight_of(d, c[0].s, d, true) : weight_of(d, c[2].s, c[0].s, false),
                    planar ? rg_long_of(0) : weight_of(d, c[0].s, c[1].s, false)};
    rg_long sum = rg_long_add(rg_long_add(w[0], w[1]), w[2]);
    if (!(sum.hi > 0))
        return false;
    rg_long3 y1 = rg_long3_of(rg_vec3_make(0, 0, 0)), y2 = y1;
    double outside = 0;
    for (int i = 0; i < count; i++) {
        rg_long weight = rg_long_div(w[i], sum);
        weights[i] = weight.hi;
        outside = fmax(outside, -weight.hi * frame->size);
        y1 = rg_long3_add_scaled(y1, weight, rg_long3_of(frame->solid[0]->centred[c[i].i1]));
        y2 = rg_long3_add_scaled(y2, weight, c[i].q);
        corners[i] = (rg_ratio_corner){.i1 = c[i].i1, .i2 = c[i].i2};
    }
    /* The certificate of rg_ratio_certify, in the long arithmetic. */
    rg_long3 z = rg_long3_sub(y1, y2);
    rg_long width = rg_long_add(rg_long3_dot(n, c[0].s), gain.hi > 0 ? gain : rg_long_of(0));
    rg_long dual = rg_long_div(rg_long3_dot(n, d), width),
            primal = rg_long_div(rg_long3_dot(d, d), rg_long3_dot(d, z));
    rg_vec3 off = rg_long3_round(rg_long3_add_scaled(z, rg_long_div(rg_long_of(-1), primal), d));
    double length = rg_length(rg_long3_round(n)), h = width.hi / length;
    answer->normal = rg_normalised(rg_long3_round(n));
    answer->width = h;
    answer->ratio = dual.hi;
    answer->y1 = rg_long3_round(y1);
    answer->y2 = rg_long3_round(y2);
    answer->vertex1 = c[0].i1;
    answer->vertex2 = c[0].i2;
    answer->primal_error = (outside + rg_length(off)) / h;
    answer->dual_error = fmax(0, rg_long_sub(width, rg_long3_dot(n, z)).hi / width.hi);
    answer->duality_gap = fabs(rg_long_sub(primal, dual).hi) / dual.hi;
    return true;
}
