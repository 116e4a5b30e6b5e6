/* One contact through an impact with friction: Keller's equations (1986), with the normal impulse p
 * in place of time:
 *
 *   du/dp = W (1, -mu t),  t = u_T / |u_T|          while it slides
 *   du/dp = W (1, f),      f = -W_TT^-1 W_TN        while it sticks, possible if |f| <= mu
 *
 * and where it stops but cannot stick, it slides on along the one direction t that keeps itself:
 * W_TN - mu W_TT t = k t, k > 0. Compression ends at u_N = 0, the impact when expansion has given
 * back its share. A stretch whose direction stays (all of the plane, sticking, sliding on) is
 * linear in p, u and quadratic in work: done in closed form. Only sliding that turns, in space, is
 * integrated: with dp = |u_T| ds the equations are smooth down to the stop, which is approached
 * exponentially; Dormand-Prince, and the straight rest in closed form once the direction has
 * settled.
 *
 * Jamming (Painleve): where W_NN - mu W_NT t < 0 compression grows with the impulse, until the slip
 * stops, which it always does then. From u_N = 0 that is the impulse out of an inconsistency.
 *
 * How it fails: where sticking leaves no mobility along the normal (W singular) the approach cannot
 * be stopped; the mode says so. */
#include "step/step_impact_sliding.h"

#include "base/base_math.h"
#include "base/base_trig.h"
#include "integrate/integrate_ode.h"

#include <string.h>

enum { PHASES = 100, STEPS = 20000 };
#define ODE_TOLERANCE 1e-12
#define LATE          1e6   /* but at most so much coarser, relative to the slip */
#define STOPPED       1e-14 /* of the size of velocities: slower is none */
#define STRAIGHT      1e-15 /* turning slower than this, relative to the rates, is rounding */
#define SETTLED       4e-12 /* velocity across a direction that keeps itself, of the size */
#define NO_MOBILITY   1e-13 /* of W_NN */

typedef struct contact {
    double w[9], mu, e;
    rg_slide_end end;
    double u[3], r[3];
    double lost, gained; /* work of compression so far (positive), of expansion */
    double compressed;   /* normal impulse of compression (Poisson) */
    double work;
    bool expanding, sliding, finished;
    double direction[2]; /* of the slip */
    double size;         /* of velocities: what errors are relative to */
    rg_slide *out;
} contact;

static void rates(const contact *c, const double force[3], double a[3]) {
    for (int i = 0; i < 3; i++)
        a[i] = c->w[3 * i] * force[0] + c->w[3 * i + 1] * force[1] + c->w[3 * i + 2] * force[2];
}

/* --- what happens at a stop ------------------------------------------------------------------- */

/* W_TT = sum of eigen axis axis'; axis[1] is axis[0] turned. */
static void tangent_axes(const double w[9], double eigen[2], double axis[2]) {
    double a = w[4], b = w[5], d = w[8];
    double half = 0.5 * (a - d), root = sqrt(half * half + b * b), mean = 0.5 * (a + d);
    eigen[0] = mean + root;
    eigen[1] = fmax(0, mean - root);
    double x = half >= 0 ? half + root : b, y = half >= 0 ? b : root - half;
    double size = sqrt(x * x + y * y);
    axis[0] = size > 0 ? x / size : 1, axis[1] = size > 0 ? y / size : 0;
}

/* The direction in which it slides on, or the sticking force. */
static void leave_stop(contact *c, double force[2]) {
    double eigen[2], axis[2];
    tangent_axes(c->w, eigen, axis);
    double b[2] = {axis[0] * c->w[1] + axis[1] * c->w[2], axis[0] * c->w[2] - axis[1] * c->w[1]};
    double least = 1e-14 * eigen[0], stick[2], size = 0;
    for (int k = 0; k < 2; k++) {
        stick[k] = eigen[k] > least ? -b[k] / eigen[k] : 0;
        size += stick[k] * stick[k];
    }
    c->sliding = sqrt(size) > c->mu;
    double x[2] = {stick[0], stick[1]};
    if (c->sliding) {
        /* |x(k)| = 1, x = (mu W_TT + k)^-1 W_TN: Newton on 1 / |x|, which is monotone from k = 0.
         */
        double k = 0;
        for (int iteration = 0; iteration < 100; iteration++) {
            double sum = 0, slope = 0;
            for (int i = 0; i < 2; i++) {
                double below = c->mu * eigen[i] + k;
                x[i] = below > c->mu * least || k > 0 ? b[i] / below : 0;
                sum += x[i] * x[i];
                slope += below > 0 ? x[i] * x[i] / below : 0;
            }
            double norm = sqrt(sum), step = (norm - 1) * sum / slope;
            if (!(step > 1e-16 * (k + c->mu * eigen[0])) || !isfinite(step))
                break;
            k += step;
        }
        double norm = sqrt(x[0] * x[0] + x[1] * x[1]);
        x[0] = -x[0] / norm * c->mu, x[1] = -x[1] / norm * c->mu;
    }
    force[0] = axis[0] * x[0] - axis[1] * x[1];
    force[1] = axis[1] * x[0] + axis[0] * x[1];
    if (c->sliding)
        c->direction[0] = -force[0] / c->mu, c->direction[1] = -force[1] / c->mu;
}

/* --- the account ------------------------------------------------------------------------------ */

/* What is still to be given back, in work or impulse. */
static double target(const contact *c) {
    return c->end == RG_SLIDE_ENERGETIC ? c->e * c->e * c->lost - c->gained
                                        : c->e * c->compressed - c->gained;
}

static void end_compression(contact *c) {
    c->u[0] = 0;
    c->expanding = true;
    if (c->out->compression[0] == 0)
        memcpy(c->out->compression, c->r, sizeof c->r);
    c->finished = !(target(c) > 0);
}

static void count_work(contact *c, double p, double work) {
    c->work += work;
    if (!c->expanding)
        c->lost -= work, c->compressed += p;
    else
        c->gained += c->end == RG_SLIDE_ENERGETIC ? work : p;
}

/* The impulse after which expansion has given back its share, at u_N' = a. */
static double end_of_expansion(const contact *c, double a) {
    double rest = target(c);
    if (c->end == RG_SLIDE_POISSON)
        return rest;
    double under = c->u[0] * c->u[0] + 2 * a * rest;
    return under >= 0 ? 2 * rest / (c->u[0] + sqrt(under)) : INFINITY;
}

/* --- straight stretches ----------------------------------------------------------------------- */

static double slip_of(const contact *c) {
    return sqrt(c->u[1] * c->u[1] + c->u[2] * c->u[2]);
}

/* One stretch with the tangential force per normal impulse held. `toward`: the slip goes to zero
 * along its own direction at this rate; 0: it does not stop. */
static void go_straight(contact *c, const double force[2], double slip, double braking) {
    double whole[3] = {1, force[0], force[1]}, a[3];
    rates(c, whole, a);
    if (fabs(a[0]) <= NO_MOBILITY * c->w[0])
        a[0] = 0;
    double stop = braking > 0 ? slip / braking : INFINITY;
    double turn = !c->expanding ? (a[0] > 0 ? -c->u[0] / a[0] : INFINITY)
                                : (a[0] < 0 ? -c->u[0] / a[0] : INFINITY);
    double done = c->expanding ? end_of_expansion(c, a[0]) : INFINITY;
    double p = fmin(stop, fmin(turn, done));
    if (!(p < INFINITY)) {
        c->finished = true;
        c->out->mode = RG_SLIDE_STUCK;
        return;
    }
    count_work(c, p, p * (c->u[0] + 0.5 * a[0] * p));
    for (int i = 0; i < 3; i++)
        c->u[i] += a[i] * p, c->r[i] += whole[i] * p;
    if (p == stop)
        c->u[1] = c->u[2] = 0;
    if (p == done)
        c->finished = true;
    else if (p == turn && !c->expanding)
        end_compression(c);
    else if (p == turn)
        c->u[0] = 0, c->expanding = false;
}

/* --- turning slip ----------------------------------------------------------------------------- */

enum { UT1, UT2, UN, P, WORK, RT1, RT2, SIZE };

static void slope(const contact *c, const double y[SIZE], double dy[SIZE]) {
    double slip = sqrt(y[UT1] * y[UT1] + y[UT2] * y[UT2]);
    double force[3] = {1, -c->mu * y[UT1] / slip, -c->mu * y[UT2] / slip}, a[3];
    rates(c, force, a);
    dy[UT1] = slip * a[1], dy[UT2] = slip * a[2], dy[UN] = slip * a[0], dy[P] = slip;
    dy[WORK] = slip * y[UN], dy[RT1] = slip * force[1], dy[RT2] = slip * force[2];
}

/* One step of Dormand and Prince's 5(4); returns the error in units of the tolerance. */
static double runge_kutta(const contact *c, const double y[SIZE], double h, double next[SIZE]) {
    double k[7][SIZE];
    slope(c, y, k[0]);
    for (int stage = 0; stage < 6; stage++) {
        for (int i = 0; i < SIZE; i++) {
            double sum = 0;
            for (int j = 0; j <= stage; j++)
                sum += rg_dormand_prince_weights[stage + 1][j] * k[j][i];
            next[i] = y[i] + h * sum;
        }
        slope(c, next, k[stage + 1]);
    }
    /* An error made late counts for what the slip then is worth. */
    double worst = 0, slip = sqrt(y[UT1] * y[UT1] + y[UT2] * y[UT2]);
    slip = fmin(c->size, LATE * slip);
    for (int i = 0; i < 3; i++) {
        double error = 0;
        for (int j = 0; j < 7; j++)
            error += rg_dormand_prince_errors[j] * k[j][i];
        worst = fmax(worst, fabs(h * error) / (ODE_TOLERANCE * slip));
    }
    return worst;
}

static void load(const contact *c, double y[SIZE]) {
    double values[SIZE] = {c->u[1], c->u[2], c->u[0], 0, 0, 0, 0};
    memcpy(y, values, sizeof values);
}

static void store(contact *c, const double y[SIZE]) {
    count_work(c, y[P], y[WORK]);
    c->u[0] = y[UN], c->u[1] = y[UT1], c->u[2] = y[UT2];
    c->r[0] += y[P], c->r[1] += y[RT1], c->r[2] += y[RT2];
}

/* Positive before the event that ends the phase: approach that is left, or what is to be given
 * back; in expansion also a velocity that falls back to zero. */
static double before_event(const contact *c, const double y[SIZE]) {
    if (!c->expanding)
        return -y[UN];
    double given = c->end == RG_SLIDE_ENERGETIC ? y[WORK] : y[P];
    return target(c) - given;
}

/* The step at which the event happens, by Illinois. */
static double find_event(const contact *c, const double y[SIZE], double h, double at_start,
                         double at_end, double next[SIZE]) {
    double a = 0, fa = at_start, b = h, fb = at_end, x = h;
    int side = 0;
    for (int i = 0; i < 100 && b - a > 4 * DBL_EPSILON * h; i++) {
        x = fa - fb > 0 ? (a * -fb + b * fa) / (fa - fb) : 0.5 * (a + b);
        runge_kutta(c, y, x, next);
        double f = before_event(c, next);
        if (fabs(f) <= 2 * DBL_EPSILON * fmax(at_start, -at_end))
            return x;
        if (f > 0) {
            a = x, fa = f;
            fb = side == 1 ? 0.5 * fb : fb, side = 1;
        } else {
            b = x, fb = f;
            fa = side == -1 ? 0.5 * fa : fa, side = -1;
        }
    }
    return x;
}

/* The rate of the slip along its direction t, and across it; the friction per normal impulse. */
static double along_and_across(const contact *c, const double t[2], double *across,
                               double force[2]) {
    double whole[3] = {1, -c->mu * t[0], -c->mu * t[1]}, a[3];
    rates(c, whole, a);
    force[0] = whole[1], force[1] = whole[2];
    *across = t[0] * a[2] - t[1] * a[1];
    return t[0] * a[1] + t[1] * a[2];
}

/* Near a direction that keeps itself and attracts: moves t there, by Newton on the rate across. */
static bool settle(const contact *c, double t[2], double slip) {
    double at[2] = {t[0], t[1]}, across, force[2];
    for (int i = 0; i < 3; i++) {
        double along = along_and_across(c, at, &across, force);
        double turned =
            at[1] * at[1] * c->w[4] - 2 * at[0] * at[1] * c->w[5] + at[0] * at[0] * c->w[8];
        double restoring = along + c->mu * turned;
        if (!(restoring > 0))
            return false;
        double angle = across / restoring;
        if (!(fabs(angle) < 1e-3))
            return false;
        double next[2] = {at[0] - angle * at[1], at[1] + angle * at[0]};
        double size = sqrt(next[0] * next[0] + next[1] * next[1]);
        at[0] = next[0] / size, at[1] = next[1] / size;
    }
    double away = fabs(t[0] * at[1] - t[1] * at[0]);
    if (away * slip > SETTLED * c->size)
        return false;
    t[0] = at[0], t[1] = at[1];
    return true;
}

/* Ready for go_straight: on the way to the stop the direction turns by no more than rounding. */
static bool is_straight(const contact *c, double force[2], double *braking) {
    double slip = slip_of(c), t[2] = {c->u[1] / slip, c->u[2] / slip}, across;
    double along = along_and_across(c, t, &across, force);
    double size = fabs(c->w[1]) + fabs(c->w[2]) + c->mu * (c->w[4] + c->w[8]);
    bool straight = (slip <= STOPPED * c->size && along < 0) || fabs(across) <= STRAIGHT * size;
    if (!straight && settle(c, t, slip)) {
        along = along_and_across(c, t, &across, force);
        straight = true;
    }
    *braking = fmax(0, -along);
    return straight;
}

static void turn_slip(contact *c) {
    double force[2], braking;
    double least, h = 0.01 / (c->mu * (c->w[4] + c->w[8]) + fabs(c->w[1]) + fabs(c->w[2]));
    least = DBL_EPSILON * h;
    while (c->out->steps++ < STEPS) {
        double y[SIZE], next[SIZE];
        load(c, y);
        double error = runge_kutta(c, y, h, next);
        if (!(error <= 1)) {
            h *= error < INFINITY ? fmax(0.2, 0.9 / rg_root(error, 5)) : 0.2;
            continue;
        }
        double start = before_event(c, y), after = before_event(c, next);
        bool falls_back = c->expanding && next[UN] < 0;
        if (falls_back && after > 0) { /* compressed a second time; rare */
            if (-next[UN] > STOPPED * c->size && h > least) {
                h *= 0.5;
                continue;
            }
            store(c, next);
            c->u[0] = 0, c->expanding = false;
            return;
        }
        if (after <= 0 && start > 0) {
            find_event(c, y, h, start, after, next);
            store(c, next);
            if (c->expanding)
                c->finished = true;
            else
                end_compression(c);
            return;
        }
        store(c, next);
        h *= fmin(4, 0.9 / rg_root(fmax(error, 1e-6), 5));
        if (is_straight(c, force, &braking)) {
            go_straight(c, force, slip_of(c), braking);
            return;
        }
    }
    c->finished = true;
}

/* --- the whole -------------------------------------------------------------------------------- */

static void note_stop(contact *c) {
    rg_slide *out = c->out;
    if (out->mode == RG_SLIDE_SLIDING)
        out->mode = c->sliding ? (c->expanding ? RG_SLIDE_R_REVERSED : RG_SLIDE_C_REVERSED)
                               : (c->expanding ? RG_SLIDE_R_STICKING : RG_SLIDE_C_STICKING);
    out->slipped_off |= c->sliding;
}

/* Jams at u_N = 0: there is an impulse although nothing approaches. */
static bool jams(const contact *c) {
    double slip = slip_of(c);
    if (!(slip > 0))
        return false;
    return c->w[0] - c->mu * (c->w[1] * c->u[1] + c->w[2] * c->u[2]) / slip < 0;
}

rg_slide rg_slide_through(const double w[9], const double u[3], double mu, double e,
                          rg_slide_end end, double scale) {
    rg_slide out = {0};
    contact c = {.mu = mu, .e = e, .end = end, .out = &out};
    memcpy(c.w, w, sizeof c.w);
    memcpy(c.u, u, sizeof c.u);
    double fastest = fmax(slip_of(&c), fabs(u[0]));
    c.size = fmax(scale, fastest);
    if (!(c.w[0] > 0) || u[0] > 0 || (u[0] == 0 && !jams(&c)))
        return out;
    while (!c.finished && out.phases++ < PHASES) {
        double slip = slip_of(&c), force[2] = {0, 0}, braking = 0;
        if (slip <= STOPPED * c.size) {
            if (mu > 0) {
                c.u[1] = c.u[2] = 0;
                leave_stop(&c, force);
                note_stop(&c);
            }
            go_straight(&c, force, 0, 0);
        } else if (is_straight(&c, force, &braking)) {
            go_straight(&c, force, slip, mu > 0 ? braking : 0);
        } else {
            turn_slip(&c);
        }
    }
    memcpy(out.impulse, c.r, sizeof c.r);
    out.normal_work = c.work;
    if (out.compression[0] == 0)
        memcpy(out.compression, c.r, sizeof c.r);
    return out;
}
