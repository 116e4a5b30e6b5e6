/* Contact points in motion between two pieces of which at least one is curved and none is a face.
 *
 * A piece gives, for its outward normal m, a point p(m) with the derivative R = dp/dm (radii of
 * curvature), and up to one tangent t along which the point is not fixed by m: p' = v(p) + R (m' -
 * w x m) + lambda t, where n stays normal to the piece: t . (m' - w x m) = kappa lambda. A line and
 * the ruling of a cone have kappa = 0; a rim has t along it, R = 0 and kappa = (m . out) / r, which
 * has sense where the rim lies flat, too. With p_a - p_b = chi n the two sides give
 *
 *   [ R_b + R_a + chi   t_b       t_a     ] [  n'       ]   [ u_t + R_b (w_b x n) + R_a (w_a x n) ]
 *   [ t_b'             -kappa_b   0       ] [  lambda_b ] = [ t_b . (w_b x n)                     ]
 *   [ t_a'              0        -kappa_a ] [ -lambda_a ]   [ t_a . (w_a x n)                     ]
 *
 * in the plane across n: exact at any gap. The same matrix is the Jacobian of the conditions (p_a -
 * p_b)_t = 0, t_b . n = 0, t_a . n = 0, which Newton's method solves for n and the positions along
 * t, from the place and normal of the last time in either body's frame, whichever fits better (one
 * of the two bodies rolls). Quadratic: the last step is below the root of rounding.
 *
 * How it fails: no convergence, also not from the growth distance's normal; a singular matrix
 * (vertex on edge, tangents parallel); a solution that is no nearest pair. Then `regular` is false.
 * Tested by tests/contact/test_motion.c. */
#include "contact/contact_motion_parts.h"

#include "narrow/narrow_surface.h"

/* Steps of Newton's method; the largest change of the normal in one. */
#define MOST_STEPS 25
#define LARGEST    0.5
/* A step that is the last: its square is below rounding. */
#define SMALL 1e-9
/* How far beyond its apex, in lengths of `size`, a cone is followed: a little, so that `inside` has
 * a root. */
#define BEYOND 0.05
/* Pivots, in lengths of `size`, that count as none. */
#define SINGULAR 1e-12

typedef struct state {
    const rg_track_side *side;
    double along; /* line, cone */
    rg_vec3 out;  /* rim */
    /* at a normal */
    rg_vec3 p;
    double r[3]; /* { 11, 12, 22 } in the basis */
    int tangents;
    rg_vec3 t;
    double kappa;
} state;

typedef struct newton {
    const rg_track_pair *pair;
    state s[2];
    rg_vec3 n, b[2];
    double size, chi;
    int count; /* unknowns */
    double m[4][4], right[4], x[4];
} newton;

/* ------------------------------------------------------------------ pieces at a normal */

/* The unit vector across `axis` along v; `length` gets that part's length. */
static rg_vec3 across(rg_vec3 axis, rg_vec3 v, double *length) {
    rg_vec3 w = rg_cross(rg_cross(axis, v), axis);
    *length = rg_length(w);
    return *length > 0 ? rg_scale(1 / *length, w) : w;
}

static void evaluate_ellipsoid(state *s, rg_vec3 m, const rg_vec3 *b) {
    const rg_track_side *side = s->side;
    rg_vec3 semi = side->piece->size, g = rg_times(semi, rg_track_to_local(side, m));
    double h = sqrt(rg_length_squared(g));
    g = rg_scale(1 / h, g);
    s->p = rg_add(side->point, rg_mat3_apply(&side->rotation, rg_times(semi, g)));
    /* squares, as in narrow_surface.c: stays positive semidefinite */
    rg_vec3 u = rg_cross(g, rg_times(semi, rg_track_to_local(side, b[0])));
    rg_vec3 v = rg_cross(g, rg_times(semi, rg_track_to_local(side, b[1])));
    s->r[0] = rg_dot(u, u) / h;
    s->r[1] = rg_dot(u, v) / h;
    s->r[2] = rg_dot(v, v) / h;
}

static bool evaluate_cone(state *s, rg_vec3 m, const rg_vec3 *b) {
    const rg_track_side *side = s->side;
    double sine = side->piece->size.x, cosine = side->piece->size.y, length;
    s->out = across(side->direction, m, &length);
    if (!(length > 0))
        return false;
    s->t = rg_add_scaled(rg_scale(-cosine, side->direction), sine, s->out);
    s->p = rg_add_scaled(side->point, s->along, s->t);
    rg_vec3 around = rg_cross(side->direction, s->out);
    double radius = s->along * sine / length, x = rg_dot(around, b[0]), y = rg_dot(around, b[1]);
    s->r[0] = radius * x * x;
    s->r[1] = radius * x * y;
    s->r[2] = radius * y * y;
    s->tangents = 1;
    return true;
}

static bool evaluate(state *s, rg_vec3 n, const rg_vec3 *b) {
    const rg_track_side *side = s->side;
    const rg_contact_piece *piece = side->piece;
    rg_vec3 m = rg_scale(side->sign, n);
    s->r[0] = s->r[2] = piece->radius;
    s->r[1] = s->kappa = 0;
    s->tangents = 0;
    switch (piece->kind) {
    case RG_PIECE_POINT:
        s->p = rg_add_scaled(side->point, piece->radius, m);
        return true;
    case RG_PIECE_LINE:
        s->p =
            rg_add_scaled(rg_add_scaled(side->point, s->along, side->direction), piece->radius, m);
        s->tangents = 1;
        s->t = side->direction;
        return true;
    case RG_PIECE_RIM:
        s->p = rg_add_scaled(side->point, piece->radius, s->out);
        s->r[0] = s->r[2] = 0;
        s->tangents = 1;
        s->t = rg_cross(side->direction, s->out);
        s->kappa = rg_dot(s->out, m) / piece->radius;
        return true;
    case RG_PIECE_CONE:
        return evaluate_cone(s, m, b);
    default:
        evaluate_ellipsoid(s, m, b);
        return piece->kind == RG_PIECE_ELLIPSOID;
    }
}

/* The position on a piece that is nearest to a place, at a normal. */
static void place(state *s, rg_vec3 c, rg_vec3 n) {
    const rg_track_side *side = s->side;
    const rg_contact_piece *piece = side->piece;
    rg_vec3 d = rg_sub(c, side->point);
    double length;
    if (piece->kind == RG_PIECE_LINE) {
        s->along = rg_dot(d, side->direction);
    } else if (piece->kind == RG_PIECE_RIM) {
        s->out = across(side->direction, d, &length);
        if (!(length > 0))
            s->out = across(side->direction, rg_scale(side->sign, n), &length);
    } else if (piece->kind == RG_PIECE_CONE) {
        across(side->direction, d, &length);
        s->along = length * piece->size.x - rg_dot(d, side->direction) * piece->size.y;
    }
}

/* ------------------------------------------------------------------ the system */

static bool evaluate_both(newton *k) {
    rg_tangents(k->n, k->pair->track->planar, k->b);
    if (!evaluate(&k->s[0], k->n, k->b) || !evaluate(&k->s[1], k->n, k->b))
        return false;
    k->chi = rg_dot(k->n, rg_sub(k->s[1].p, k->s[0].p));
    return true;
}

/* Lengths in units of `size`. */
static void fill_matrix(newton *k) {
    const state *s = k->s;
    double scale = 1 / k->size;
    k->m[0][0] = scale * (s[0].r[0] + s[1].r[0] + k->chi);
    k->m[0][1] = k->m[1][0] = scale * (s[0].r[1] + s[1].r[1]);
    k->m[1][1] = scale * (s[0].r[2] + s[1].r[2] + k->chi);
    k->count = 2;
    for (int i = 0; i < 2; i++) {
        if (!s[i].tangents)
            continue;
        int row = k->count++;
        for (int j = 0; j < 2; j++)
            k->m[row][j] = k->m[j][row] = rg_dot(s[i].t, k->b[j]);
        if (row == 3)
            k->m[2][3] = k->m[3][2] = 0;
        k->m[row][row] = -s[i].kappa * k->size;
    }
}

/* Elimination with pivots by rows; false if singular. */
static bool solve(newton *k) {
    int count = k->count;
    for (int i = 0; i < count; i++) {
        int pivot = i;
        for (int j = i + 1; j < count; j++)
            if (fabs(k->m[j][i]) > fabs(k->m[pivot][i]))
                pivot = j;
        if (!(fabs(k->m[pivot][i]) > SINGULAR))
            return false;
        if (pivot != i) {
            for (int c = i; c < count; c++) {
                double swap = k->m[i][c];
                k->m[i][c] = k->m[pivot][c];
                k->m[pivot][c] = swap;
            }
            double swap = k->right[i];
            k->right[i] = k->right[pivot];
            k->right[pivot] = swap;
        }
        for (int j = i + 1; j < count; j++) {
            double factor = k->m[j][i] / k->m[i][i];
            for (int c = i + 1; c < count; c++)
                k->m[j][c] -= factor * k->m[i][c];
            k->right[j] -= factor * k->right[i];
        }
    }
    for (int i = count; i-- > 0;) {
        double sum = k->right[i];
        for (int c = i + 1; c < count; c++)
            sum -= k->m[i][c] * k->x[c];
        k->x[i] = sum / k->m[i][i];
    }
    return true;
}

/* What Newton's method is to bring to 0, as the right side of its step; returns how large it is. */
static double fill_residual(newton *k) {
    rg_vec3 d = rg_sub(k->s[1].p, k->s[0].p);
    double sum = 0;
    int row = 2;
    for (int j = 0; j < 2; j++)
        k->right[j] = rg_dot(d, k->b[j]) / k->size;
    for (int i = 0; i < 2; i++)
        if (k->s[i].tangents)
            k->right[row++] = -rg_dot(k->s[i].t, k->n);
    for (int i = 0; i < row; i++)
        sum += fabs(k->right[i]);
    return sum;
}

/* ------------------------------------------------------------------ Newton's method */

static void move(state *s, double step) {
    if (s->side->piece->kind == RG_PIECE_RIM) {
        double turn = step / s->side->piece->radius;
        turn = fmax(-LARGEST, fmin(LARGEST, turn));
        rg_vec3 out = rg_add_scaled(s->out, turn, s->t), axis = s->side->direction;
        s->out = rg_normalised(rg_add_scaled(out, -rg_dot(out, axis), axis));
    } else {
        s->along += step;
    }
}

/* From k->n and the positions; true if converged. */
static bool iterate(newton *k) {
    for (int i = 0; i < MOST_STEPS; i++) {
        if (!evaluate_both(k))
            return false;
        fill_matrix(k);
        fill_residual(k);
        if (!solve(k))
            return false;
        double step = fabs(k->x[0]) + fabs(k->x[1]), share = step > LARGEST ? LARGEST / step : 1;
        rg_vec3 n = rg_add_scaled(k->n, share * k->x[0], k->b[0]);
        k->n = rg_normalised(rg_add_scaled(n, share * k->x[1], k->b[1]));
        int row = 2;
        for (int j = 0; j < 2; j++)
            if (k->s[j].tangents) {
                double slide = share * k->x[row++] * k->size;
                step += fabs(slide) / k->size;
                move(&k->s[j], j == 0 ? slide : -slide);
            }
        if (step <= SMALL)
            return evaluate_both(k);
        if (!(step < INFINITY))
            return false;
    }
    return false;
}

/* Whether the solution is a nearest pair: it is a minimum of the distance along what is left free.
 */
static bool is_nearest(const newton *k) {
    const state *s = k->s;
    double a = s[0].r[0] + s[1].r[0] + k->chi, c = s[0].r[2] + s[1].r[2] + k->chi,
           b = s[0].r[1] + s[1].r[1];
    int tangents = s[0].tangents + s[1].tangents;
    for (int i = 0; i < 2; i++)
        if (s[i].side->piece->kind == RG_PIECE_CONE && !(s[i].along > -BEYOND * k->size))
            return false;
    if (tangents == 0)
        return a > 0 && a * c > b * b;
    if (tangents == 1) {
        /* along the rim's tangent nothing is free but the rim itself */
        const state *line = s[0].tangents ? &s[0] : &s[1];
        double x = rg_dot(line->t, k->b[0]), y = rg_dot(line->t, k->b[1]);
        return a * y * y - 2 * b * x * y + c * x * x > 0 && line->kappa * k->size > -0.5;
    }
    return true;
}

static rg_vec3 to_world(const rg_track_side *side, rg_vec3 v) {
    return rg_mat3_apply(&side->rotation, v);
}

/* The place and normal of the last time, carried along by one of the bodies. */
static double start_from(newton *k, int body) {
    const rg_contact_track *track = k->pair->track;
    const rg_track_side *side = &k->pair->side[body];
    k->n = rg_normalised(to_world(side, body == 0 ? track->hint : track->hint_a));
    rg_vec3 c = rg_add(side->at, to_world(side, track->place[body]));
    place(&k->s[0], c, k->n);
    place(&k->s[1], c, k->n);
    return evaluate_both(k) ? fill_residual(k) : INFINITY;
}

/* A ball or vertex against a line, a rim or a cone: the point of that nearest to the centre, which
 * is the answer. */
static bool start_from_centre(newton *k) {
    int ball = k->s[0].side->piece->kind == RG_PIECE_POINT ? 0 : 1;
    const rg_track_side *centre = k->s[ball].side, *other = k->s[1 - ball].side;
    state *s = &k->s[1 - ball];
    double length;
    if (centre->piece->kind != RG_PIECE_POINT || other->piece->kind == RG_PIECE_ELLIPSOID)
        return false;
    start_from(k, 0);
    place(s, centre->point, k->n);
    rg_vec3 d = rg_sub(centre->point, other->point), m;
    rg_vec3 out = across(other->direction, d, &length);
    if (!(length > 0))
        return true;
    if (other->piece->kind == RG_PIECE_LINE)
        m = out;
    else if (other->piece->kind == RG_PIECE_RIM)
        m = rg_normalised(rg_add_scaled(d, -other->piece->radius, s->out));
    else
        m = rg_add_scaled(rg_scale(other->piece->size.x, other->direction), other->piece->size.y,
                          out);
    /* from within a ball that overlaps by more than its radius, the direction would be reversed */
    if (rg_length_squared(m) > 0.5 && rg_dot(m, rg_scale(other->sign, k->n)) > 0)
        k->n = rg_scale(other->sign, m);
    return true;
}

/* The normal and witnesses of the growth distance. */
static bool start_from_growth(newton *k) {
    const rg_track_side *b = &k->pair->side[0], *a = &k->pair->side[1];
    rg_growth growth;
    if (rg_growth_between(b->shape, b->motion->pose, a->shape, a->motion->pose, NULL, &growth) !=
        RG_OK)
        return false;
    k->n = growth.normal;
    place(&k->s[0], rg_sub(growth.on1, k->pair->origin), k->n);
    place(&k->s[1], rg_sub(growth.on2, k->pair->origin), k->n);
    return true;
}

static bool find(newton *k) {
    if (!start_from_centre(k)) {
        double second = start_from(k, 1);
        if (start_from(k, 0) > second)
            start_from(k, 1);
    }
    if (iterate(k) && is_nearest(k))
        return true;
    return start_from_growth(k) && iterate(k) && is_nearest(k);
}

/* ------------------------------------------------------------------ rates */

static rg_vec3 apply(const state *s, const rg_vec3 *b, rg_vec3 v) {
    double x = rg_dot(v, b[0]), y = rg_dot(v, b[1]);
    return rg_add_scaled(rg_scale(s->r[0] * x + s->r[1] * y, b[0]), s->r[1] * x + s->r[2] * y,
                         b[1]);
}

static bool find_rates(newton *k, rg_vec3 *n_rate, rg_vec3 rate[2]) {
    rg_vec3 turn[2], v[2], sum = {0, 0, 0};
    int row = 2;
    fill_matrix(k);
    for (int i = 0; i < 2; i++) {
        const rg_track_side *side = &k->pair->side[i];
        turn[i] = rg_cross(side->motion->angular_velocity, k->n);
        v[i] = rg_track_velocity(side, k->s[i].p);
        sum = rg_add(rg_add_scaled(sum, i == 0 ? -1 : 1, v[i]), apply(&k->s[i], k->b, turn[i]));
        if (k->s[i].tangents)
            k->right[row++] = rg_dot(k->s[i].t, turn[i]);
    }
    for (int j = 0; j < 2; j++)
        k->right[j] = rg_dot(sum, k->b[j]) / k->size;
    if (!solve(k))
        return false;
    *n_rate = rg_add_scaled(rg_scale(k->x[0], k->b[0]), k->x[1], k->b[1]);
    row = 2;
    for (int i = 0; i < 2; i++) {
        rg_vec3 roll = apply(&k->s[i], k->b, rg_sub(*n_rate, turn[i]));
        if (k->s[i].tangents)
            roll = rg_add_scaled(roll, k->size * k->x[row++], k->s[i].t);
        rate[i] = rg_add_scaled(v[i], i == 0 ? 1 : -1, roll);
    }
    return true;
}

void rg_track_of_curved(const rg_track_pair *pair, rg_contact_motion *motion) {
    newton k = {.pair = pair, .size = pair->track->size};
    rg_vec3 none = {0, 0, 0}, p[2], rate[2] = {none, none};
    for (int i = 0; i < 2; i++)
        k.s[i].side = &pair->side[i];
    motion->regular = find(&k) && find_rates(&k, &motion->normal_rate, rate);
    if (!motion->regular) {
        start_from(&k, 0);
        motion->normal_rate = none;
    }
    for (int i = 0; i < 2; i++)
        p[i] = k.s[i].p;
    motion->normal = k.n;
    motion->gap = k.chi;
    motion->inside = INFINITY;
    for (int i = 0; i < 2; i++)
        motion->inside =
            fmin(motion->inside, rg_track_margin(&pair->side[i], rg_scale(pair->side[i].sign, k.n),
                                                 k.s[i].along, k.s[i].out, pair->track->size));
    rg_track_finish(pair, p, rate, motion);
}
