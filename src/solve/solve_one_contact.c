/* One contact under Coulomb's law: u = W r + q with W symmetric positive definite (3 x 3), r in K =
 * {r_N >= 0, |r_T| <= mu r_N}, u + mu |u_T| n in K*, perpendicular.
 *
 * Three cases, tried in this order (Baraff's survey of 1994, eq. 12-19; the case analysis is that
 * of De Saxce and Feng 1998):
 * - open:  q_N >= 0; r = 0.
 * - stick: u = 0; r = -W^-1 q if that is in K.
 * - slip:  u_N = 0, u_T = -lambda r_T with lambda > 0, |r_T| = mu r_N.
 * In the slip case the normal row eliminates r_N; with the Schur complement S of W_NN in W and s
 * that of q, (S + lambda I) r_T = -s. In the axes of S this is two divisions, and
 *
 *     g = |r_T| - mu r_N = |r_T| + mu (q_N + W_NT r_T) / W_NN
 *
 * is a function of lambda alone: the stick force (lambda = 0) lies outside the cone, g > 0; at
 * lambda = infinity r_T = 0 and g = mu q_N / W_NN < 0. So a root always exists. (It is one of a
 * quartic, whose coefficients lose the digits that the bracket keeps.) With p = c / (c + lambda), c
 * the mean of the eigenvalues, r_T = -p (p S + (1 - p) c)^-1 s is smooth on [0, 1] and linear near
 * 0, so that small friction, however small, is found to full relative accuracy by Newton's
 * iteration in the bracket; near p = 1 (almost stick) 1 - p is the unknown.
 *
 * Where friction is strong and couples with the normal (large mu W_NT / W_NN), several of the cases
 * may hold at once; the first is given, and among slips the one that the iteration meets.
 *
 * The polygon (Hart-Anitescu 2010, 4.11-4.12) has corners and edges for slip: each is a small
 * linear system; they are tried outwards from the direction that the exact cone gives.
 *
 * It fails only if W is singular and no force meets the velocity: said by the mode. */
#include "solve/solve_one_contact.h"

#include "base/base_math.h"
#include "problem/problem.h"

/* Eigenvalues of S below this part of the trace of W count as zero: a few roundings of S. */
#define FLAT 1e-14
/* Newton stops when it moves by less than this part of p, or of 1 - p; the error then is its
 * square. */
#define X_TOLERANCE 1e-9
/* Beyond this p (or 1 - p), the complement is taken as the unknown. */
#define FAR_SIDE 0.9
enum { ROOT_STEPS = 120 };
/* What a corner or an edge of the polygon may violate, relative to |q| and the forces' velocities.
 */
#define POLYGON_TOLERANCE 1e-13

void rg_one_contact_prepare(rg_one_contact *c, int dimension, const double *w, double mu,
                            int directions) {
    *c = (rg_one_contact){.mu = dimension > 1 ? mu : 0,
                          .directions = dimension == 3 && mu > 0 ? directions : 0,
                          .axis = {1, 0}};
    for (int i = 0; i < dimension; i++)
        for (int j = 0; j < dimension; j++)
            c->w[i][j] = 0.5 * (w[i * dimension + j] + w[j * dimension + i]);
    double trace = c->w[0][0] + c->w[1][1] + c->w[2][2], floor = FLAT * trace;
    if (c->w[0][0] > 0)
        c->normal_inverse = 1 / c->w[0][0];
    double x = c->w[0][1] * c->normal_inverse, y = c->w[0][2] * c->normal_inverse;
    double a = c->w[1][1] - c->w[0][1] * x, b = c->w[1][2] - c->w[0][1] * y,
           d = c->w[2][2] - c->w[0][2] * y;
    if (fabs(b) > 0) { /* one Jacobi rotation */
        double theta = (d - a) / (2 * b);
        double t = (theta >= 0 ? 1 : -1) / (fabs(theta) + sqrt(theta * theta + 1));
        if (!isfinite(theta * theta))
            t = 0.5 / theta;
        double cosine = 1 / sqrt(t * t + 1);
        c->axis[0] = cosine, c->axis[1] = -t * cosine;
        a -= t * b, d += t * b;
    }
    c->eigen[0] = a > floor ? a : 0;
    c->eigen[1] = d > floor ? d : 0;
    c->middle = 0.5 * (c->eigen[0] + c->eigen[1]);
    if (!(c->middle > 0))
        c->middle = 1;
    c->coupling[0] = c->axis[0] * x + c->axis[1] * y;
    c->coupling[1] = c->axis[0] * y - c->axis[1] * x;
}

/* --- the exact cone --------------------------------------------------------------------------- */

/* What q means in the axes of S. */
typedef struct slip_case {
    double s[2];   /* velocity along the axes when the normal row is held at zero by r_N */
    double normal; /* -q_N / W_NN > 0: the normal force without friction */
} slip_case;

/* r_T at p = 1 - m, its derivative by p, and the derivative of g. Both p and m are given: whichever
 * is small has all its digits. */
typedef struct slip_point {
    double r[2], dr[2];
    double slope;
} slip_point;

/* Returns g. */
static double slip_excess(const rg_one_contact *c, const slip_case *q, double p, double m,
                          slip_point *at) {
    double *r = at->r, *dr = at->dr;
    for (int k = 0; k < 2; k++) {
        double share = 1 / (p * c->eigen[k] + m * c->middle);
        r[k] = q->s[k] != 0 ? -p * q->s[k] * share : 0;
        dr[k] = q->s[k] != 0 ? -q->s[k] * c->middle * share * share : 0;
    }
    double length = sqrt(r[0] * r[0] + r[1] * r[1]);
    double growth =
        length > 0 ? (r[0] * dr[0] + r[1] * dr[1]) / length : sqrt(dr[0] * dr[0] + dr[1] * dr[1]);
    at->slope = growth + c->mu * (c->coupling[0] * dr[0] + c->coupling[1] * dr[1]);
    return length + c->mu * (c->coupling[0] * r[0] + c->coupling[1] * r[1] - q->normal);
}

/* The root in x, which is p or (`near_stick`) 1 - p, from a first guess; *x gets it. False if there
 * is none, which takes a singular S. */
static bool find_root(const rg_one_contact *c, const slip_case *q, bool near_stick, double *x,
                      double r[2]) {
    double low = 0, high = 1, sign = near_stick ? -1 : 1;
    double least = fmin(c->eigen[0], c->eigen[1]);
    bool bracketed = least > 0; /* at p = 1; at p = 0 g < 0 is certain */
    slip_point at;
    for (int step = 0; step < ROOT_STEPS; step++) {
        double p = near_stick ? 1 - *x : *x, m = near_stick ? *x : 1 - *x;
        double g = sign * slip_excess(c, q, p, m, &at);
        bracketed = bracketed || sign * g > 0;
        if (g > 0)
            high = *x;
        else
            low = *x;
        double next = *x - g / at.slope, move = next - *x;
        double fine = X_TOLERANCE * (*x + (near_stick ? least / c->middle : 0));
        bool last = fabs(move) <= fine;
        if (last || g == 0) { /* what is left goes along the tangent: its error is the square */
            for (int k = 0; k < 2; k++)
                r[k] = at.r[k] + (last ? sign * move * at.dr[k] : 0);
            return bracketed;
        }
        if (!(next > low && next < high)) {
            next = low > 0 && high > 4 * low ? sqrt(low * high) : 0.5 * (low + high);
            if (next <= low || next >= high)
                break;
        }
        *x = next;
    }
    r[0] = at.r[0], r[1] = at.r[1];
    return bracketed;
}

/* p / (1 - p) that would give the tangential force `near` along the axis where more happens; or as
 * if S were a multiple of the identity. */
static double guess_odds(const rg_one_contact *c, const slip_case *q, const double *near) {
    int k = fabs(q->s[1]) > fabs(q->s[0]);
    if (near) {
        double t = k ? c->axis[0] * near[2] - c->axis[1] * near[1]
                     : c->axis[0] * near[1] + c->axis[1] * near[2];
        double odds = -t * c->middle / (q->s[k] + t * c->eigen[k]);
        if (odds > 0 && odds < INFINITY)
            return odds;
    }
    double reach = sqrt(q->s[0] * q->s[0] + q->s[1] * q->s[1]) -
                   c->mu * (c->coupling[0] * q->s[0] + c->coupling[1] * q->s[1]);
    double p = c->mu * q->normal * c->middle / reach;
    return p > 0 && p < 1 ? p / (1 - p) : 3;
}

static bool find_slip(const rg_one_contact *c, const slip_case *q, const double *near,
                      double r[2]) {
    double odds = guess_odds(c, q, near);
    bool near_stick = odds > 1, found;
    double x = near_stick ? 1 / (1 + odds) : odds / (1 + odds);
    found = find_root(c, q, near_stick, &x, r);
    if (x > FAR_SIDE) { /* the other of p and 1 - p is small and has lost digits */
        x = 1 - x;
        if (!(x > 0))
            x = DBL_EPSILON;
        found = find_root(c, q, !near_stick, &x, r);
    }
    return found;
}

/* r_N from the tangential force in the axes of S; then r_T back to the axes of the contact. */
static void finish(const rg_one_contact *c, const slip_case *q, const double t[2], bool on_cone,
                   double r[3]) {
    double normal = q->normal - c->coupling[0] * t[0] - c->coupling[1] * t[1], share = 1;
    double length = sqrt(t[0] * t[0] + t[1] * t[1]);
    if (on_cone && !(normal > 0))
        normal = length / c->mu;
    if (on_cone && length > 0)
        share = c->mu * normal / length;
    r[0] = normal;
    r[1] = share * (c->axis[0] * t[0] - c->axis[1] * t[1]);
    r[2] = share * (c->axis[1] * t[0] + c->axis[0] * t[1]);
}

static rg_one_contact_mode solve_cone(const rg_one_contact *c, const slip_case *s,
                                      const double *near, double r[3]) {
    double stick[2];
    bool holds = true;
    for (int k = 0; k < 2; k++) {
        holds = holds && (c->eigen[k] > 0 || s->s[k] == 0);
        stick[k] = c->eigen[k] > 0 ? -s->s[k] / c->eigen[k] : 0;
    }
    double normal = s->normal - c->coupling[0] * stick[0] - c->coupling[1] * stick[1];
    double limit = c->mu * normal;
    if (holds && normal >= 0 && stick[0] * stick[0] + stick[1] * stick[1] <= limit * limit) {
        finish(c, s, stick, false, r);
        return RG_ONE_CONTACT_STICK;
    }
    double t[2];
    bool found = find_slip(c, s, near, t);
    finish(c, s, t, true, r);
    return found ? RG_ONE_CONTACT_SLIP : RG_ONE_CONTACT_STUCK_BY_FORCE;
}

/* --- the polygon ------------------------------------------------------------------------------ */

static double velocity_at(const rg_one_contact *c, const double q[3], const double r[3], int row) {
    return c->w[row][0] * r[0] + c->w[row][1] * r[1] + c->w[row][2] * r[2] + q[row];
}

/* Is r in the polygonal cone? */
static bool is_inside(const rg_one_contact *c, const double r[3]) {
    int n = c->directions;
    double a[2], b[2];
    rg_polygon_direction(n, 0, a);
    for (int k = 0; k < n; k++, a[0] = b[0], a[1] = b[1]) {
        rg_polygon_direction(n, (k + 1) % n, b);
        double x = r[1] - c->mu * r[0] * a[0], y = r[2] - c->mu * r[0] * a[1];
        if ((b[0] - a[0]) * y - (b[1] - a[1]) * x < 0)
            return false;
    }
    return r[0] >= 0;
}

/* Slip at corner k: r = r_N (1, mu d_k). Returns by how much the law is violated, in velocities. */
static double try_corner(const rg_one_contact *c, const double q[3], int k, double r[3]) {
    int n = c->directions;
    double d[3][2];
    for (int i = 0; i < 3; i++)
        rg_polygon_direction(n, (k + n - 1 + i) % n, d[i]);
    double below = c->w[0][0] + c->mu * (c->w[0][1] * d[1][0] + c->w[0][2] * d[1][1]);
    r[0] = -q[0] / below;
    r[1] = c->mu * r[0] * d[1][0], r[2] = c->mu * r[0] * d[1][1];
    if (!(r[0] >= 0 && isfinite(r[0])))
        return INFINITY;
    double u[2] = {velocity_at(c, q, r, 1), velocity_at(c, q, r, 2)}, violation = 0;
    for (int side = 0; side < 3; side += 2) {
        double e[2] = {d[side][0] - d[1][0], d[side][1] - d[1][1]};
        double length = sqrt(e[0] * e[0] + e[1] * e[1]);
        violation = fmax(violation, -(u[0] * e[0] + u[1] * e[1]) / length);
    }
    return violation;
}

/* Slip square to the edge from corner k to the next: r = x (1, mu d_k) + y (1, mu d_k+1), x, y >=
 * 0, u_N = 0, u_T . (d_k+1 - d_k) = 0. */
static double try_edge(const rg_one_contact *c, const double q[3], int k, double r[3]) {
    int n = c->directions;
    double d[2][2], m[2][2], e[2];
    rg_polygon_direction(n, k, d[0]);
    rg_polygon_direction(n, (k + 1) % n, d[1]);
    e[0] = d[1][0] - d[0][0], e[1] = d[1][1] - d[0][1];
    double length = sqrt(e[0] * e[0] + e[1] * e[1]);
    e[0] /= length, e[1] /= length;
    double right[2] = {-q[0], -(e[0] * q[1] + e[1] * q[2])};
    for (int i = 0; i < 2; i++) {
        double f[3] = {1, c->mu * d[i][0], c->mu * d[i][1]}, none[3] = {0, 0, 0};
        m[0][i] = velocity_at(c, none, f, 0);
        m[1][i] = e[0] * velocity_at(c, none, f, 1) + e[1] * velocity_at(c, none, f, 2);
    }
    double determinant = m[0][0] * m[1][1] - m[0][1] * m[1][0];
    double x = (right[0] * m[1][1] - m[0][1] * right[1]) / determinant;
    double y = (m[0][0] * right[1] - m[1][0] * right[0]) / determinant;
    if (!isfinite(x) || !isfinite(y))
        return INFINITY;
    double outside = fmax(0, fmax(-x, -y)) * c->w[0][0];
    x = fmax(0, x), y = fmax(0, y);
    r[0] = x + y;
    r[1] = c->mu * (x * d[0][0] + y * d[1][0]), r[2] = c->mu * (x * d[0][1] + y * d[1][1]);
    double u[2] = {velocity_at(c, q, r, 1), velocity_at(c, q, r, 2)};
    double along = u[0] * (d[0][0] + d[1][0]) + u[1] * (d[0][1] + d[1][1]);
    return fmax(outside, fmax(0, along));
}

static rg_one_contact_mode solve_polygon(const rg_one_contact *c, const double q[3],
                                         const slip_case *s, double r[3]) {
    rg_one_contact_mode mode = solve_cone(c, s, NULL, r);
    if (mode == RG_ONE_CONTACT_STICK && is_inside(c, r))
        return mode;
    int n = c->directions, start = 0;
    double nearest = -INFINITY;
    for (int k = 0; k < n; k++) {
        double d[2];
        rg_polygon_direction(n, k, d);
        double along = d[0] * r[1] + d[1] * r[2];
        if (along > nearest)
            nearest = along, start = k;
    }
    double trace = c->w[0][0] + c->w[1][1] + c->w[2][2];
    double scale = fabs(q[0]) + fabs(q[1]) + fabs(q[2]) + trace * r[0], least = INFINITY;
    /* 2n cases around the polygon: corner start, the edges beside it, and so on outwards. */
    for (int i = 0; i < 2 * n; i++) {
        int offset = i % 2 ? (i + 1) / 2 : -i / 2, place = (2 * start + offset + 2 * n) % (2 * n);
        double trial[3] = {0};
        double violation =
            place % 2 ? try_edge(c, q, place / 2, trial) : try_corner(c, q, place / 2, trial);
        if (violation < least) {
            least = violation;
            r[0] = trial[0], r[1] = trial[1], r[2] = trial[2];
        }
        if (least <= POLYGON_TOLERANCE * scale)
            break;
    }
    return least < INFINITY ? RG_ONE_CONTACT_SLIP : RG_ONE_CONTACT_STUCK_BY_FORCE;
}

rg_one_contact_mode rg_one_contact_solve(const rg_one_contact *c, const double q[3],
                                         const double *near, double r[3]) {
    r[0] = r[1] = r[2] = 0;
    if (q[0] >= 0)
        return RG_ONE_CONTACT_OPEN;
    if (!(c->normal_inverse > 0))
        return RG_ONE_CONTACT_STUCK_BY_FORCE;
    double x = q[0] * c->normal_inverse;
    slip_case s = {.normal = -x};
    if (c->mu == 0) {
        r[0] = s.normal;
        return RG_ONE_CONTACT_SLIP;
    }
    double y = q[1] - c->w[0][1] * x, z = q[2] - c->w[0][2] * x;
    s.s[0] = c->axis[0] * y + c->axis[1] * z;
    s.s[1] = c->axis[0] * z - c->axis[1] * y;
    double noise =
        FLAT * (fabs(q[0]) + fabs(q[1]) + fabs(q[2]) + fabs(c->w[0][1] * x) + fabs(c->w[0][2] * x));
    for (int k = 0; k < 2; k++) /* rounding along an axis that no force moves */
        if (c->eigen[k] == 0 && fabs(s.s[k]) <= noise)
            s.s[k] = 0;
    return c->directions ? solve_polygon(c, q, &s, r) : solve_cone(c, &s, near, r);
}
