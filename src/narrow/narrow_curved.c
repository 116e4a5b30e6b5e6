/* Growth of two convex bodies of which at least one is curved.
 *
 * Problem: t = max over n of n.d / h(n), h the support width of K = K1 - K2 (centred bodies): the
 * gauge of K at d. Scaled so that n.d = 1 for a unit d, n = d + xi_1 b_1 + xi_2 b_2 in a basis
 * perpendicular to d, it is the unconstrained minimum of the convex function h(xi) of two
 * variables, whose gradient is the support point projected along d.
 *
 * Method, from the surest to the fastest:
 * - columns: column generation. A triangle of support points of K around the ray along d gives an
 *   inner bound, the support plane parallel to it an outer bound and the next point: the simplex
 *   method for the gauge (Ong & Gilbert 1996; ray shooting with inner and outer bounds as in
 *   Thirugnanam & Sreenath 2026), invariant under affine maps. It starts from points of the balls
 *   inscribed in the bodies, so it needs no search for a first triangle. Ties are broken by a
 *   symbolic shift of the ray. Facets of K are found in finitely many steps; where K is curved the
 *   gap falls linearly.
 * - settle: Newton's method on the smooth pieces (narrow_surface.h) through the features that the
 *   triangle names: minimise h(xi) subject to n being perpendicular to their flats. Two flats leave
 *   a linear system, one flat a line, none the plane. Quadratic. Needles and plates, where rounding
 *   of doubles shows, end in twice the precision (narrow_curved_exact.c).
 * - closed: narrow_curved_closed.c, where formulas exist.
 *
 * Certificate: y1 and y2 lie in the bodies by construction (combinations of their points), so
 * N.(y1 - y2) <= h(N), where h comes from the shapes' own support functions. The difference is the
 * duality gap; the gauge of what t (y1 - y2) misses d by is the primal error. An answer is accepted
 * on these two figures only, whatever path found it.
 *
 * How it fails: it does not return a wrong answer as a right one; where rounding or the limit of
 * columns stops it, the certificate says how far it came. */
#include "narrow/narrow_curved.h"

#include "narrow/narrow_local.h"

#define ENOUGH RG_SHOT_ENOUGH
/* Size of the bodies over h(n) from which doubles are not enough: rounding costs about 2e-16 times
 * that (narrow_curved_exact.c). */
#define FLAT 200
/* ... and how good the answer in doubles must be to start from. */
#define NEARLY 1e-6
/* Relative gap and residual that a closed form must reach: where cancellation spoils it, Newton's
 * method does better. */
#define CLOSED_ENOUGH 4e-15
/* Columns before the best answer so far is taken. */
#define MOST_COLUMNS 300
/* More columns than this are counted as a fallback: Newton's method did not settle. */
#define MANY_COLUMNS 40
/* Newton steps on one set of patches. */
#define MOST_STEPS 30
/* ... where a flat turns with n (the line on a cone), from afar a matter of luck. */
#define MOST_SLANT_STEPS 30
/* A place on such a line, whose ends are 0 and 1, that is nowhere near it. */
#define FAR_OFF 100
/* A step in xi, squared and relative, and the move of points with it, that are taken to first
 * order. */
#define SMALL_STEP 1e-10
#define SMALL_MOVE 1e-11
/* Cosine between n and a flat that is rounding. */
#define ON_LINE 1e-12
/* A move of points that is rounding; lengths are in units of the pair. */
#define STILL 1e-15
/* Relative gap of the columns below which Newton's method is tried. */
#define NEAR 0.2
/* ... and below which more than the likely features are tried. */
#define ALMOST 1e-4
/* How far to shake a direction that leads nowhere. */
#define SHAKE 1e-5
/* Columns of smaller weight count as degenerate. */
#define SMALL_WEIGHT 1e-9

/* `valid` of a cache that holds features, not only a normal; the bit of a flat end in them. */
#define WITH_FEATURES 2
#define CAP_MARK      4u

typedef struct column {
    rg_vec3 point[2];
    double height, q[2];
    uint32_t label[2];
    bool inscribed; /* of the start: on no feature */
} column;

typedef struct search {
    rg_shot *shot;
    int size; /* columns that make a basis: 3; 2 in the plane */
    column basis[3];
    double weight[3], least;    /* the least one before it is taken as 0 */
    double inner, outer, xi[2]; /* bounds of 1/t, and where the outer one is attained */
    uint32_t tried;             /* mark of the labels of the last failed attempt */
    double again;               /* gap that is worth another attempt on the same labels */
} search;

/* ------------------------------------------------------------------ certificate */

/* How much larger t must be for the point that misses the ray by `miss` to be on it: the gauge of K
 * at `miss`, which is at most that of either body and of their inscribed balls. */
double rg_shot_gauge_of_miss(const rg_shot *shot, rg_vec3 miss, double excess) {
    double balls = shot->inradius[0] + shot->inradius[1], bound = rg_length(miss) / balls;
    for (int i = 0; i < 2 && bound > 0.25 * ENOUGH; i++)
        bound = fmin(bound, rg_surface_gauge(&shot->side[i], miss));
    return bound + excess / balls;
}

bool rg_shot_judge(rg_shot *shot, rg_vec3 n, rg_vec3 y1, rg_vec3 y2, double excess) {
    rg_vec3 y = rg_add(y1, y2);
    double h = rg_dot(n, rg_surface_reference_support(&shot->side[0], n)) +
               rg_dot(n, rg_surface_reference_support(&shot->side[1], n));
    double along = rg_dot(n, y);
    shot->last_score = INFINITY;
    if (!(along > 0 && h > 0))
        return false;
    rg_shot_answer answer = {.n = n, .y1 = y1, .y2 = y2, .outer = h};
    answer.gap = (h - along) / h;
    answer.primal =
        rg_shot_gauge_of_miss(shot, rg_add_scaled(y, -along, shot->d), excess) / (along / h);
    /* a sum, not a largest: it keeps what is not a number */
    answer.score = fabs(answer.gap) + answer.primal;
    /* The same for the foot of y on the ray. Where n is far longer than d, rounding of y shows in
     * n.y, and the gauge of a miss along d would take it for a thousand times what it is. */
    double foot = rg_dot(shot->d, y), gap = (h - foot) / h;
    double primal =
        rg_shot_gauge_of_miss(shot, rg_add_scaled(y, -foot, shot->d), excess) / (foot / h);
    if (foot > 0 && fabs(gap) + primal < answer.score) {
        answer.gap = gap;
        answer.primal = primal;
        answer.score = fabs(gap) + primal;
    }
    shot->last_score = answer.score;
    if (!(answer.score < shot->answer.score))
        return false;
    shot->answer = answer;
    return answer.score <= ENOUGH;
}

/* Whether doubles lose too much: lengths are in units of the pair. */
static bool is_flat(const rg_shot_answer *a) {
    return rg_length(a->n) > FLAT * a->outer;
}

/* ------------------------------------------------------------------ Newton's method */

static rg_vec3 direction(const rg_shot *shot, const double xi[2]) {
    return rg_add_scaled(rg_add_scaled(shot->d, xi[0], shot->b[0]), xi[1], shot->b[1]);
}

static bool evaluate(rg_local *l, const rg_shot *shot, const double xi[2]) {
    return rg_local_evaluate(l, direction(shot, xi), shot->b, shot->planar);
}

/* With one flat, n first goes to the line that is perpendicular to it, by the shortest way. */
static bool go_to_line(rg_local *l, const rg_shot *shot, double xi[2]) {
    const rg_flat *f = &l->flats[l->first];
    double share = f->c / rg_dot2(f->f, f->f);
    xi[0] -= share * f->f[0];
    xi[1] -= share * f->f[1];
    return evaluate(l, shot, xi);
}

/* Moves xi by the step, shortened until h falls; on a line, until its slope does, which is still
 * sharp where h is flat to rounding. */
static bool walk(rg_local *l, const rg_shot *shot, double xi[2], const double step[2]) {
    bool slant = l->patch[0].slant || l->patch[1].slant;
    if (l->rank == 2 || slant) {
        xi[0] += step[0];
        xi[1] += step[1];
        return evaluate(l, shot, xi);
    }
    const rg_flat *f = &l->flats[l->first];
    if (l->rank == 1 && fabs(f->c) > ON_LINE)
        return go_to_line(l, shot, xi);
    double along[2] = {l->rank ? -f->f[1] : 0, l->rank ? f->f[0] : 0};
    double before = l->h, slope = fabs(rg_dot2(along, l->q)), from[2] = {xi[0], xi[1]};
    for (double share = 1; share > 1e-6; share *= 0.25) {
        xi[0] = from[0] + share * step[0];
        xi[1] = from[1] + share * step[1];
        if (evaluate(l, shot, xi) &&
            (l->rank ? fabs(rg_dot2(along, l->q)) <= slope + 1e-17 : l->h <= before * (1 + 1e-14)))
            return true;
    }
    return false;
}

/* Lines on two cones that are all but parallel, one above the other: the place where they cross is
 * far outside both. The places are brought back to where they show which ends to keep. */
static bool has_strayed(rg_local *l) {
    bool strayed = false;
    for (int i = 0; i < 2; i++)
        strayed = strayed || (l->patch[i].slant && fabs(l->patch[i].along[0]) > FAR_OFF);
    for (int i = 0; strayed && i < 2; i++)
        if (l->patch[i].slant)
            l->patch[i].along[0] = fmin(2, fmax(-1, l->patch[i].along[0]));
    return strayed;
}

static bool settle(rg_local *l, rg_shot *shot, double xi[2]) {
    double last = INFINITY;
    bool slant = l->patch[0].slant || l->patch[1].slant;
    if (!evaluate(l, shot, xi))
        return false;
    for (int i = 0; i < (slant ? MOST_SLANT_STEPS : MOST_STEPS); i++) {
        double step[2];
        rg_local_choose_flats(l);
        if (!rg_local_step(l, step))
            return false;
        double size = rg_dot2(step, step), scale = 1 + rg_dot2(xi, xi);
        if (!(size <= 1e8 * scale))
            return false;
        double q[2] = {l->q[0] + l->w[0] * step[0] + l->w[1] * step[1],
                       l->q[1] + l->w[1] * step[0] + l->w[2] * step[1]};
        if (l->rank)
            rg_local_distribute(l, q);
        shot->iterations++;
        if (slant && i >= 3 && has_strayed(l))
            return true;
        /* where the surfaces are almost edges, rounding of the gradient shows in xi, not in points
         */
        bool still = rg_local_move(l, step) <= STILL;
        if (!walk(l, shot, xi, step))
            return size <= 1e-12 * scale;
        bool linear = l->rank == 2 && !slant;
        if (linear || size <= 1e-28 * scale ||
            ((still || size <= 1e-18 * scale) && size >= 0.25 * last))
            return true;
        last = size;
    }
    return false;
}

/* Where the settled patches meet, and its certificate. A last step that is too small to be seen in
 * n still moves the points of strongly curved or stretched bodies. */
static bool judge_local(rg_local *l, rg_shot *shot, const double xi[2]) {
    double step[2] = {0, 0};
    rg_local_choose_flats(l);
    if (!rg_local_step(l, step) || !(rg_dot2(step, step) <= SMALL_STEP * (1 + rg_dot2(xi, xi))) ||
        !(rg_local_move(l, step) <= SMALL_MOVE))
        step[0] = step[1] = 0;
    rg_vec3 y[2];
    double excess = rg_local_nudge(l, step, shot->d, shot->b, xi);
    excess += rg_local_points(l, y);
    bool certified = rg_shot_judge(shot, l->n, y[0], y[1], excess);
    if (shot->last_score <= NEARLY && (!certified || is_flat(&shot->answer)))
        certified = rg_shot_refine(shot, l, xi) || certified;
    if (!certified)
        return false;
    shot->settled = true;
    shot->patch[0] = l->patch[0];
    shot->patch[1] = l->patch[1];
    return true;
}

/* ------------------------------------------------------------------ columns */

static column make_column(const rg_shot *shot, const rg_vec3 point[2], const uint32_t label[2],
                          bool inscribed) {
    rg_vec3 s = rg_add(point[0], point[1]);
    return (column){{point[0], point[1]},
                    rg_dot(s, shot->d),
                    {rg_dot(s, shot->b[0]), rg_dot(s, shot->b[1])},
                    {label[0], label[1]},
                    inscribed};
}

/* Corners of a triangle, turned by an angle of no meaning so that symmetric scenes do not tie. */
static const double start_place[3][2] = {{0.88, 0.4749736834815167},
                                         {-0.8513392748687497, 0.5246223538741582},
                                         {-0.0286607251312503, -0.9995960373556749}};

/* Points of the inscribed balls, 45 degrees off the ray. */
static void start_basis(search *s) {
    rg_shot *shot = s->shot;
    const double half = 0.70710678118654752;
    const uint32_t none[2] = {0, 0};
    for (int k = 0; k < s->size; k++) {
        double x = s->size == 2 ? (k ? 1 : -1) : start_place[k][0],
               y = s->size == 2 ? 0 : start_place[k][1];
        rg_vec3 u = rg_add_scaled(rg_add_scaled(rg_scale(half, shot->d), half * x, shot->b[0]),
                                  half * y, shot->b[1]);
        rg_vec3 point[2] = {rg_scale(shot->inradius[0], u), rg_scale(shot->inradius[1], u)};
        s->basis[k] = make_column(shot, point, none, true);
    }
}

/* Which side of the ray the column b is on, seen along a: the sign of a x b, never 0. */
static bool is_left(const double a[2], const double b[2]) {
    double c = rg_cross2(a, b);
    if (fabs(c) > 4e-16 * (fabs(a[0] * b[1]) + fabs(a[1] * b[0])))
        return c > 0;
    /* the ray shifted by an infinitesimal along (0.6, 0.8) */
    const double shift[2] = {0.6, 0.8};
    double away[2] = {b[0] - a[0], b[1] - a[1]};
    return rg_cross2(shift, away) <= 0;
}

/* Puts the column in the place of the one that leaves; returns that place. */
static int insert(search *s, const column *c) {
    int out = -1;
    if (s->size == 2)
        out = c->q[0] > 0;
    bool left[3];
    for (int k = 0; k < 3 && out < 0; k++)
        left[k] = is_left(c->q, s->basis[k].q);
    for (int k = 0; k < 3 && out < 0; k++)
        if (left[k] && !left[(k + 1) % 3])
            out = (k + 2) % 3;
    if (out < 0) {
        /* Rounding: none of the three triangles seems to hold the ray. The least weight goes. */
        out = 0;
        for (int k = 1; k < 3; k++)
            out = s->weight[k] < s->weight[out] ? k : out;
    }
    s->basis[out] = *c;
    return out;
}

/* Two equations by elimination with full pivoting: unlike ratios of areas it leaves a residual of
 * rounding only, however thin the triangle. */
static bool solve2(const double m[2][2], const double right[2], double x[2]) {
    int row = 0, col = 0;
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2; k++)
            if (fabs(m[i][k]) > fabs(m[row][col]))
                row = i, col = k;
    double pivot = m[row][col];
    if (!(fabs(pivot) > 0))
        return false;
    double factor = m[1 - row][col] / pivot;
    double left = m[1 - row][1 - col] - factor * m[row][1 - col];
    if (!(fabs(left) > 0))
        return false;
    x[1 - col] = (right[1 - row] - factor * right[row]) / left;
    x[col] = (right[row] - m[row][1 - col] * x[1 - col]) / pivot;
    return true;
}

/* Weights of the columns that combine to the ray, and the direction of their plane. */
static bool solve_basis(search *s, double xi[2]) {
    column *b = s->basis;
    if (s->size == 2) {
        double width = b[1].q[0] - b[0].q[0];
        if (!(width > 0))
            return false;
        s->weight[0] = fmin(1, fmax(0, b[1].q[0] / width));
        s->weight[1] = 1 - s->weight[0];
        xi[0] = -(b[1].height - b[0].height) / width;
        xi[1] = 0;
    } else {
        double u[2] = {b[1].q[0] - b[0].q[0], b[1].q[1] - b[0].q[1]};
        double v[2] = {b[2].q[0] - b[0].q[0], b[2].q[1] - b[0].q[1]};
        const double m[2][2] = {{u[0], v[0]}, {u[1], v[1]}}, t[2][2] = {{u[0], u[1]}, {v[0], v[1]}};
        const double to[2] = {-b[0].q[0], -b[0].q[1]};
        const double fall[2] = {b[0].height - b[1].height, b[0].height - b[2].height};
        double w[2];
        if (!(rg_cross2(u, v) > 0) || !solve2(m, to, w) || !solve2(t, fall, xi))
            return false;
        s->least = rg_min3(w[0], w[1], 1 - w[0] - w[1]);
        s->weight[1] = fmin(1, fmax(0, w[0]));
        s->weight[2] = fmin(1 - s->weight[1], fmax(0, w[1]));
        s->weight[0] = 1 - s->weight[1] - s->weight[2];
    }
    s->inner = 0;
    for (int k = 0; k < s->size; k++)
        s->inner += s->weight[k] * b[k].height;
    return isfinite(xi[0]) && isfinite(xi[1]);
}

/* The support column along xi; lowers the outer bound. */
static column price(search *s, const double xi[2]) {
    rg_shot *shot = s->shot;
    rg_vec3 n = direction(shot, xi), point[2];
    uint32_t label[2];
    for (int i = 0; i < 2; i++)
        point[i] = rg_surface_support(&shot->side[i], n, &label[i]);
    column c = make_column(shot, point, label, false);
    double h = c.height + rg_dot2(xi, c.q);
    if (h < s->outer) {
        s->outer = h;
        s->xi[0] = xi[0];
        s->xi[1] = xi[1];
    }
    shot->iterations++;
    return c;
}

static bool judge_basis(search *s) {
    rg_vec3 y[2] = {{0, 0, 0}, {0, 0, 0}};
    for (int k = 0; k < s->size; k++)
        for (int i = 0; i < 2; i++)
            y[i] = rg_add_scaled(y[i], s->weight[k], s->basis[k].point[i]);
    return rg_shot_judge(s->shot, direction(s->shot, s->xi), y[0], y[1], 0);
}

/* What the columns of at least the given weight say about one side. False if a point of the start
 * still takes part. */
static bool witness_of(const search *s, int side, double least, rg_witness *w) {
    w->count = 0;
    for (int k = 0; k < s->size; k++) {
        if (s->basis[k].inscribed && s->weight[k] > SMALL_WEIGHT)
            return false;
        if (s->basis[k].inscribed || s->weight[k] < least)
            continue;
        w->label[w->count] = s->basis[k].label[side];
        w->point[w->count] = s->basis[k].point[side];
        w->weight[w->count++] = s->weight[k];
    }
    return w->count > 0;
}

/* Whether Newton's method is worth trying: near enough, and not where it has just failed. At the
 * end columns of next to no weight count, too: the ray may pass that close to a corner. */
static bool is_promising(search *s, double gap) {
    uint32_t mark = 0;
    for (int k = 0; k < s->size; k++)
        if (s->weight[k] > SMALL_WEIGHT || gap < ALMOST)
            mark += (s->basis[k].label[0] * 2654435761u) ^ (s->basis[k].label[1] * 40503u + 1);
    if (!(gap < NEAR) || (mark == s->tried && gap > s->again))
        return false;
    s->tried = mark;
    s->again = 0.1 * gap;
    return true;
}

static rg_settled settle_from_here(void *context, rg_local *l) {
    search *s = context;
    double xi[2] = {s->xi[0], s->xi[1]};
    if (!settle(l, s->shot, xi))
        return RG_SETTLED_NOT;
    return judge_local(l, s->shot, xi) ? RG_SETTLED_CERTIFIED : RG_SETTLED_ASTRAY;
}

/* Newton's method on the features of the columns: of all of them, since in degenerate positions
 * those of no weight complete the conditions on n; then of those with weight. If the columns are
 * nearly there, also on those of the last column `c`. */
static bool attempt(search *s, const column *c) {
    rg_witness all[2], some[2], single[2];
    for (int i = 0; i < 2; i++) {
        if (!witness_of(s, i, 0, &all[i]) || !witness_of(s, i, SMALL_WEIGHT, &some[i]))
            return false;
        single[i] = rg_witness_single(c->label[i], c->point[i]);
    }
    bool almost = s->outer - s->inner < ALMOST * s->outer;
    rg_vec3 n = direction(s->shot, s->xi);
    return rg_local_attempt(s->shot->side, all, almost ? single : NULL, n, settle_from_here, s) ||
           (some[0].count < all[0].count &&
            rg_local_attempt(s->shot->side, some, almost ? single : NULL, n, settle_from_here, s));
}

/* Where rounding misleads the choice of the column that leaves: all three places, whichever gives
 * the best triangle around the ray. */
static bool exchange_any(search *s, const column *c, const column before[3], double xi[2]) {
    column best[3] = {before[0], before[1], before[2]};
    double most = 0;
    for (int k = 0; k < 3; k++) {
        column *b = s->basis;
        for (int j = 0; j < 3; j++)
            b[j] = before[j];
        b[k] = *c;
        double u[2] = {b[1].q[0] - b[0].q[0], b[1].q[1] - b[0].q[1]};
        double v[2] = {b[2].q[0] - b[0].q[0], b[2].q[1] - b[0].q[1]};
        if (rg_cross2(u, v) < 0) {
            b[k] = before[(k + 1) % 3];
            b[(k + 1) % 3] = *c;
        }
        if (!solve_basis(s, xi) || !(s->least > -SMALL_WEIGHT) || !(s->inner > most))
            continue;
        most = s->inner;
        for (int j = 0; j < 3; j++)
            best[j] = b[j];
    }
    for (int j = 0; j < 3; j++)
        s->basis[j] = best[j];
    solve_basis(s, xi);
    return most > 0;
}

/* Takes the column into the basis and finds its plane; false, and the basis as before, if that is
 * degenerate. */
static bool exchange(search *s, const column *c, double xi[2]) {
    const column before[3] = {s->basis[0], s->basis[1], s->basis[2]};
    int out = insert(s, c);
    if (solve_basis(s, xi))
        return true;
    if (s->size == 3)
        return exchange_any(s, c, before, xi);
    s->basis[out] = before[out];
    solve_basis(s, xi);
    return false;
}

/* A direction near the best one, another for every i, farther off the longer the columns have been
 * stuck. */
static void shake(const search *s, uint32_t i, uint32_t stuck, double xi[2]) {
    double size = ldexp(SHAKE * (1 + fabs(s->xi[0]) + fabs(s->xi[1])), (int)(stuck % 16));
    xi[0] = s->xi[0] + size * start_place[i % 3][0];
    xi[1] = s->shot->planar ? 0 : s->xi[1] + size * start_place[i % 3][1];
}

static void run_columns(rg_shot *shot, const double start[2]) {
    search s = {.shot = shot, .size = shot->planar ? 2 : 3, .outer = INFINITY};
    start_basis(&s);
    double xi[2];
    solve_basis(&s, xi);
    column c = price(&s, start);
    uint32_t stuck_for = 0;
    for (uint32_t i = 0; i < MOST_COLUMNS; i++) {
        bool stuck = !exchange(&s, &c, xi);
        stuck_for = stuck ? stuck_for + 1 : 0;
        if (stuck)
            shake(&s, i, stuck_for - 1, xi);
        c = price(&s, xi);
        double gap = (s.outer - s.inner) / s.outer;
        bool enough = gap <= ENOUGH && judge_basis(&s);
        if (enough && !is_flat(&shot->answer))
            return;
        if (is_promising(&s, gap) && attempt(&s, &c))
            return;
        if (enough)
            return;
        shot->fallback = i >= MANY_COLUMNS;
        /* no column above the plane: as good as rounding allows */
        if (!stuck && c.height + rg_dot2(xi, c.q) - s.inner <= 1e-16 * s.outer && gap < 1e-12)
            break;
    }
    judge_basis(&s);
}

/* ------------------------------------------------------------------ the solver */

static void settle_smooth(rg_shot *shot, const double start[2]) {
    rg_local l;
    const uint32_t label = 0;
    const double weight = 1;
    const rg_vec3 point = {0, 0, 0};
    for (int i = 0; i < 2; i++)
        rg_patch_make(&l.patch[i], &shot->side[i], &label, &point, &weight, 1, false);
    double xi[2] = {start[0], start[1]};
    if (settle(&l, shot, xi))
        judge_local(&l, shot, xi);
}

/* A power of two near 1 / (size of the pair). */
static double unit_of(double size) {
    int exponent;
    frexp(size, &exponent);
    return ldexp(1, -exponent);
}

void rg_shot_prepare(rg_shot *shot, const rg_pair *pair) {
    const rg_shape *shape[2] = {pair->side[0].shape, pair->side[1].shape};
    double size = rg_shape_circumradius(shape[0]) + rg_shape_circumradius(shape[1]);
    *shot = (rg_shot){.scale = unit_of(size),
                      .planar = rg_shape_is_planar(shape[0]) && rg_shape_is_planar(shape[1]),
                      .answer.score = INFINITY};
    for (int i = 0; i < 2; i++) {
        shot->side[i] = rg_surface_make(&pair->side[i], i ? -1 : 1, shot->scale);
        shot->inradius[i] = 0.999 * shot->scale * rg_shape_inradius(shape[i]);
    }
    shot->d = rg_normalised(pair->d);
    shot->whole_d = rg_scale(unit_of(rg_largest_entry(pair->d)), pair->d);
    rg_tangents(shot->d, shot->planar, shot->b);
}

static double width_along(const rg_shot *shot, rg_vec3 n) {
    return (rg_dot(n, rg_surface_reference_support(&shot->side[0], n)) +
            rg_dot(n, rg_surface_reference_support(&shot->side[1], n))) /
           shot->scale;
}

/* Coincident centres: t = 0 whatever n. The last normal, else the thinnest direction among the axes
 * of both bodies. */
static void coincide(const rg_pair *pair, const rg_growth_cache *cache, rg_growth *growth) {
    rg_shot shot;
    rg_shot_prepare(&shot, pair);
    growth->point = rg_vec3_make(0, 0, 0);
    if (cache && cache->valid) {
        growth->normal = rg_normalised(rg_mat3_apply(&pair->side[0].rotation, cache->normal1));
        growth->width = width_along(&shot, growth->normal);
        return;
    }
    growth->width = INFINITY;
    for (int k = 0; k < 6; k++) {
        const rg_mat3 *r = &pair->side[k / 3].rotation;
        int axis = k % 3;
        if (shot.planar && axis == 1)
            continue;
        rg_vec3 n = rg_normalised(rg_vec3_make(r->m[0][axis], r->m[1][axis], r->m[2][axis]));
        double width = width_along(&shot, n);
        if (width < growth->width) {
            growth->width = width;
            growth->normal = n;
        }
    }
}

/* What the cache keeps of a side: the first label as its vertex, and as its index, of polyhedra,
 * the second label plus 1 (0: none); of others a mask of the labels, with the flat end as a third
 * bit. False for three labels: there is no room. */
static bool encode(const rg_patch *p, uint32_t *vertex, uint32_t *index) {
    *vertex = p->label[0];
    *index = p->labels > 1 ? p->label[1] + 1 : 0;
    if (p->surface->polyhedron)
        return p->labels <= 2;
    *index = p->cap ? CAP_MARK : 0;
    for (int k = 0; k < p->labels; k++)
        *index |= 1u << p->label[k];
    return true;
}

static rg_witness decode(const rg_surface *s, uint32_t vertex, uint32_t index) {
    rg_witness w = {.weight = {0.5, 0.5}};
    if (s->polyhedron) {
        uint32_t count = s->polyhedron->vertex_count;
        w.label[w.count++] = vertex < count ? vertex : 0;
        if (index > 0 && index <= count)
            w.label[w.count++] = index - 1;
    } else {
        for (uint32_t k = 0; k < 2; k++)
            if (index >> k & 1)
                w.label[w.count++] = k;
        w.count = w.count ? w.count : 1;
    }
    return w;
}

/* Newton's method on the features of the last answer, from its normal. */
static bool settle_again(rg_shot *shot, const rg_growth_cache *cache, const double start[2]) {
    if (!cache || cache->valid != WITH_FEATURES)
        return false;
    search s = {.shot = shot, .xi = {start[0], start[1]}};
    rg_witness w[2] = {decode(&shot->side[0], cache->vertex1, cache->features.index1),
                       decode(&shot->side[1], cache->vertex2, cache->features.index2)};
    const uint32_t index[2] = {cache->features.index1, cache->features.index2};
    rg_local l;
    for (int i = 0; i < 2; i++) {
        bool cap = rg_surface_has_cap(&shot->side[i]) && index[i] & CAP_MARK;
        if (!rg_patch_make(&l.patch[i], &shot->side[i], w[i].label, w[i].point, w[i].weight,
                           w[i].count, cap))
            return false;
    }
    return rg_local_settle(&l, settle_from_here, &s);
}

static void remember(const rg_shot *shot, const rg_pair *pair, const rg_growth *growth,
                     rg_growth_cache *cache) {
    rg_mat3 back = rg_mat3_transpose(&pair->side[0].rotation);
    *cache = (rg_growth_cache){.valid = 1,
                               .features = growth->features,
                               .vertex1 = shot->side[0].hint,
                               .vertex2 = shot->side[1].hint,
                               .normal1 = rg_mat3_apply(&back, growth->normal)};
    uint32_t vertex[2], index[2];
    if (!shot->settled || !encode(&shot->patch[0], &vertex[0], &index[0]) ||
        !encode(&shot->patch[1], &vertex[1], &index[1]))
        return;
    cache->valid = WITH_FEATURES;
    cache->vertex1 = vertex[0];
    cache->vertex2 = vertex[1];
    cache->features.index1 = index[0];
    cache->features.index2 = index[1];
}

/* x* = x1 + t y1 = x2 - t y2 but for the last digits. Where the two differ, the body takes the
 * error that it means less to: that is the second if x* is computed from the first. */
static bool error_is_for_second(const rg_shot *shot) {
    const rg_shot_answer *a = &shot->answer;
    rg_vec3 y = rg_add(a->y1, a->y2), miss = rg_add_scaled(y, -rg_dot(a->n, y), shot->d);
    double means[2];
    for (int i = 0; i < 2; i++)
        means[i] = shot->side[i].polyhedron ? rg_length(miss) / shot->inradius[i]
                                            : rg_surface_gauge(&shot->side[i], miss);
    if (means[0] == means[1])
        return shot->inradius[0] <= shot->inradius[1];
    return means[1] < means[0];
}

static void finish(const rg_shot *shot, const rg_pair *pair, rg_growth_cache *cache,
                   rg_growth *growth) {
    const rg_shot_answer *a = &shot->answer;
    double length = rg_length(a->n), distance = rg_length(pair->d);
    growth->normal = rg_scale(1 / length, a->n);
    growth->width = a->outer / length / shot->scale;
    growth->ratio = distance / (a->outer / shot->scale);
    double grown = growth->ratio / shot->scale;
    growth->point =
        error_is_for_second(shot) ? rg_scale(grown, a->y1) : rg_add_scaled(pair->d, -grown, a->y2);
    growth->primal_error = a->primal;
    growth->dual_error = 0; /* weights and positions are combinations: none is negative */
    growth->duality_gap = fabs(a->gap);
    growth->iterations = shot->iterations;
    growth->fallback = shot->fallback;
    if (cache)
        remember(shot, pair, growth, cache);
}

/* Start of the search: the last normal if it still looks towards body 2, else along d. */
static void start_of(rg_shot *shot, const rg_pair *pair, const rg_growth_cache *cache,
                     double xi[2]) {
    xi[0] = xi[1] = 0;
    if (!cache || !cache->valid)
        return;
    shot->side[0].hint = cache->vertex1;
    shot->side[1].hint = cache->vertex2;
    rg_vec3 n = rg_mat3_apply(&pair->side[0].rotation, cache->normal1);
    double along = rg_dot(n, shot->d);
    if (along > 1e-6) {
        xi[0] = rg_dot(n, shot->b[0]) / along;
        xi[1] = shot->planar ? 0 : rg_dot(n, shot->b[1]) / along;
    }
}

rg_status rg_growth_curved(const rg_pair *pair, rg_growth_cache *cache, rg_growth *growth) {
    *growth = (rg_growth){.features = {RG_FEATURES_SMOOTH, 0, 0}};
    if (!rg_is_finite(pair->d))
        return RG_NOT_FINITE;
    if (!(rg_largest_entry(pair->d) > 0)) {
        coincide(pair, cache, growth);
        return RG_OK;
    }
    rg_shot shot;
    rg_shot_prepare(&shot, pair);
    if (rg_shot_closed(&shot) && shot.answer.score <= CLOSED_ENOUGH && !is_flat(&shot.answer)) {
        finish(&shot, pair, cache, growth);
        return RG_OK;
    }
    shot.answer.score = INFINITY;
    return rg_growth_iterated(&shot, pair, cache, growth);
}

rg_status rg_growth_iterated(rg_shot *shot, const rg_pair *pair, rg_growth_cache *cache,
                             rg_growth *growth) {
    double start[2];
    growth->features = (rg_feature_pair){RG_FEATURES_SMOOTH, 0, 0};
    start_of(shot, pair, cache, start);
    if (rg_surface_is_smooth(&shot->side[0]) && rg_surface_is_smooth(&shot->side[1]))
        settle_smooth(shot, start);
    else
        settle_again(shot, cache, start);
    if (!(shot->answer.score <= ENOUGH))
        run_columns(shot, start);
    finish(shot, pair, cache, growth);
    return RG_OK;
}
