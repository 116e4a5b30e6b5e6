/* The judge: how good are these forces as an answer to this problem?
 *
 * It shares no code with any solver. Velocities are recomputed from the forces in numbers of two
 * doubles, so that what it finds is the error of the answer and not its own; or, where the caller
 * says what is good enough, in plain doubles with a bound of their error, if the bound decides
 * (solve_judge_plain.c). The leading figure is
 * the natural map |f - P(f - rho a)| / rho: zero exactly at the solutions, in the unit of a, hence
 * comparable over masses and sizes once it is divided by the problem's scale. For Coulomb's law
 * with the exact cone it is De Saxce's form, r - P_K(r - rho (u + mu |u_T| n)) (as in Siconos and
 * FCLIB); for the polygon the pair of projections r_N = max(0, r_N - rho u_N), r_T on mu r_N times
 * the polygon (Hart-Anitescu 2010, 4.12, is the optimality of that projection). */
#include "solve/solve_judge.h"
#include "base/base_long.h"
#include "base/base_math.h"
#include "base/base_memory.h"
#include "base/base_small.h"
#include "base/base_text.h"
#include "problem/problem.h"
#include "solve/solve.h"

#include <string.h>

/* Plain arithmetic decides if its error is at most this share of the residual: two digits of a
 * figure that says how wrong an answer is. */
#define PLAIN_SHARE 0.01

static inline void note(rg_verdict *v, double feasibility, double force, double complementarity,
                        double dissipation) {
    rg_raise_to(&v->residual.feasibility, feasibility);
    rg_raise_to(&v->residual.force, force);
    rg_raise_to(&v->residual.complementarity, complementarity);
    rg_raise_to(&v->residual.dissipation, dissipation);
}

/* The figures of all in the unit of the scale: the largest quotient is that of the largest. */
static rg_residual scaled(const rg_verdict *v, double scale) {
    rg_residual r = v->residual;
    r.natural /= scale;
    r.feasibility /= scale;
    r.force /= scale;
    r.complementarity /= scale;
    r.dissipation /= scale;
    return r;
}

static rg_long long_dot(rg_long sum, const double *a, const double *x, size_t count) {
    for (size_t j = 0; j < count; j++)
        if (a[j] != 0 && x[j] != 0)
            sum = rg_long_add(sum, rg_long_product(a[j], x[j]));
    return sum;
}

/* --- linear ----------------------------------------------------------------------------------- */

/* Forces times this are in the unit of a. */
static double row_stiffness(const rg_linear_problem *p, size_t stride, size_t i) {
    double diagonal = p->matrix[i * stride + i];
    if (diagonal > 0)
        return diagonal;
    double largest = 0;
    for (size_t j = 0; j < p->size; j++)
        largest = fmax(largest, fabs(p->matrix[j * stride + i]));
    return largest > 0 ? largest : 1;
}

static double clamp(double x, double lower, double upper) {
    return x < lower ? lower : x > upper ? upper : x;
}

/* |f - clamp(f - a)|, without the cancellation that would hide any a behind a huge f. */
static double natural_of(double f, double a, double lower, double upper) {
    double target = f - a;
    return target < lower ? fabs(f - lower) : target > upper ? fabs(f - upper) : fabs(a);
}

static void judge_interval(rg_verdict *v, size_t where, double bound, double f, double a,
                           double lower, double upper) {
    if (lower == -INFINITY && upper == INFINITY) { /* |a| is all that counts */
        rg_verdict_natural(v, where, fabs(a), bound);
        note(v, fabs(a), fabs(f - f), 0, 0);
        return;
    }
    double natural = natural_of(f, a, lower, upper);
    double outside = fabs(f - clamp(f, lower, upper));
    double up = f - lower, down = upper - f; /* room to move */
    /* a > 0 is fine at the lower bound only, a < 0 at the upper one only. */
    double infeasible = 0, complementarity = 0;
    if (upper == INFINITY)
        infeasible = fmax(0, -a);
    else if (lower == -INFINITY)
        infeasible = fmax(0, a);
    if (a > 0 && lower > -INFINITY)
        complementarity = fmin(a, fmax(0, up));
    else if (a < 0 && upper < INFINITY)
        complementarity = fmin(-a, fmax(0, down));
    rg_verdict_natural(v, where, natural, bound);
    note(v, infeasible, outside, complementarity, 0);
}

static void judge_static(rg_verdict *v, size_t where, double f, double a, double limit) {
    limit = fmax(0, limit);
    double natural = natural_of(f, a, -limit, limit);
    double room = a > 0 ? f + limit : limit - f;
    rg_verdict_natural(v, where, natural, 0);
    note(v, 0, fmax(0, fabs(f) - limit), fmin(fabs(a), fmax(0, room)),
         f * a > 0 ? fmin(fabs(f), fabs(a)) : 0);
}

static double row_velocity(const rg_linear_problem *p, size_t i, const double *force) {
    rg_long sum = long_dot(rg_long_of(p->b[i]), rg_linear_row(p, i), force, p->size);
    return sum.hi + sum.lo;
}

static void judge_linear(const rg_linear_problem *p, const double *force, const double *velocity,
                         rg_verdict *v) {
    size_t stride = p->stride ? p->stride : p->size;
    for (size_t i = 0; i < p->size; i++) {
        double a = velocity ? velocity[i] : row_velocity(p, i, force);
        double stiffness = row_stiffness(p, stride, i), f = stiffness * force[i];
        switch (p->kinds ? p->kinds[i] : RG_ROW_UNILATERAL) {
        case RG_ROW_UNILATERAL:
            judge_interval(v, i, 0, f, a, 0, INFINITY);
            break;
        case RG_ROW_FREE:
            judge_interval(v, i, 0, f, a, -INFINITY, INFINITY);
            break;
        case RG_ROW_BOUNDED:
            judge_interval(v, i, 0, f, a, stiffness * p->lower[i], stiffness * p->upper[i]);
            break;
        case RG_ROW_STATIC:
            judge_static(v, i, f, a, stiffness * p->mu[i] * force[p->normal[i]]);
            break;
        default: {
            double off = fabs(f - stiffness * p->mu[i] * force[p->normal[i]]);
            rg_verdict_natural(v, i, off, 0);
            note(v, 0, off, 0, 0);
        }
        }
    }
}

/* --- contact ---------------------------------------------------------------------------------- */

/* Nearest point of K = {N >= 0, |T| <= mu N} to y; mu = 0 is the half-line. */
static void project_cone(double mu, const double y[3], double p[3]) {
    double tangent = sqrt(y[1] * y[1] + y[2] * y[2]);
    if (y[0] >= 0 && tangent <= mu * y[0]) {
        p[0] = y[0], p[1] = y[1], p[2] = y[2];
    } else if (mu * tangent <= -y[0]) {
        p[0] = p[1] = p[2] = 0;
    } else {
        p[0] = (y[0] + mu * tangent) / (1 + mu * mu);
        double share = tangent > 0 ? mu * p[0] / tangent : 0;
        p[1] = share * y[1], p[2] = share * y[2];
    }
}

/* Nearest point of the polygon of circumradius `radius` to y; true if that is y itself. */
static bool project_polygon(int directions, double radius, const double y[2], double p[2]) {
    double best = INFINITY;
    bool inside = radius > 0;
    for (int k = 0; k < directions; k++) {
        double a[2], b[2];
        rg_polygon_direction(directions, k, a);
        rg_polygon_direction(directions, (k + 1) % directions, b);
        double edge[2] = {radius * (b[0] - a[0]), radius * (b[1] - a[1])};
        double from[2] = {y[0] - radius * a[0], y[1] - radius * a[1]};
        if (edge[0] * from[1] - edge[1] * from[0] < 0)
            inside = false;
        double length = edge[0] * edge[0] + edge[1] * edge[1];
        double t = length > 0 ? clamp((edge[0] * from[0] + edge[1] * from[1]) / length, 0, 1) : 0;
        double off[2] = {from[0] - t * edge[0], from[1] - t * edge[1]};
        double distance = off[0] * off[0] + off[1] * off[1];
        if (distance < best)
            best = distance, p[0] = y[0] - off[0], p[1] = y[1] - off[1];
    }
    if (inside)
        p[0] = y[0], p[1] = y[1];
    return inside;
}

static double length3(const double a[3]) {
    return sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
}

/* |x y| over the larger of the two: like min(x, y) where both are aligned. */
static double scaled_product(double product, double x, double y) {
    double larger = x > y ? x : y;
    return larger > 0 ? product / larger : 0;
}

static double positive(double x) {
    return x > 0 ? x : 0;
}

/* Without friction, and a force along the normal: whatever the contact slides by. */
static void judge_ray(rg_verdict *v, size_t where, double bound, double r, double u) {
    double natural = r - u >= 0 ? fabs(u) : fabs(r);
    rg_verdict_natural(v, where, natural, bound);
    note(v, positive(-u), positive(-r), scaled_product(fabs(r * u), fabs(r), fabs(u)), 0);
}

/* The exact cone, r in the unit of u (already divided by rho). */
static void judge_cone(rg_verdict *v, size_t where, double bound, double mu, const double r[3],
                       const double u[3]) {
    if (mu == 0 && r[1] == 0 && r[2] == 0) {
        judge_ray(v, where, bound, r[0], u[0]);
        return;
    }
    double slip = sqrt(u[1] * u[1] + u[2] * u[2]), grip = sqrt(r[1] * r[1] + r[2] * r[2]);
    double shifted[3] = {u[0] + mu * slip, u[1], u[2]};
    double y[3] = {r[0] - shifted[0], r[1] - u[1], r[2] - u[2]};
    double size = length3(r), speed = length3(shifted), natural = speed, outside = 0;
    /* Where the projection is y itself the difference is u, which a huge r must not swallow;
     * elsewhere what rounding does to r is as good as an error of it. */
    if (!(y[0] >= 0 && sqrt(y[1] * y[1] + y[2] * y[2]) <= mu * y[0])) {
        double p[3];
        project_cone(mu, y, p);
        double off[3] = {r[0] - p[0], r[1] - p[1], r[2] - p[2]};
        natural = length3(off) + DBL_EPSILON * size;
    }
    if (!(r[0] >= 0 && grip <= mu * r[0])) {
        double p[3];
        project_cone(mu, r, p);
        double off[3] = {r[0] - p[0], r[1] - p[1], r[2] - p[2]};
        outside = length3(off);
    }
    double together = fabs(r[0] * shifted[0] + r[1] * u[1] + r[2] * u[2]);
    rg_verdict_natural(v, where, natural, bound);
    note(v, positive(-u[0]), outside, scaled_product(together, size, speed),
         scaled_product(positive(r[1] * u[1] + r[2] * u[2]), grip, slip));
}

rg_residual rg_judge_contact(double mu, double trace, const double force[3], const double u[3],
                             double bound, double scale, bool *rounding) {
    rg_verdict v = {.rounding = true};
    double stiffness = trace > 0 ? trace : 1;
    double r[3] = {stiffness * force[0], stiffness * force[1], stiffness * force[2]};
    judge_cone(&v, 0, bound, mu, r, u);
    *rounding = v.rounding;
    v.residual.natural += bound;
    return scaled(&v, scale);
}

/* The same with a polygon in the place of the circle. */
static void judge_polygon(rg_verdict *v, size_t where, double bound, double mu, int directions,
                          const double r[3], const double u[3]) {
    double slip = sqrt(u[1] * u[1] + u[2] * u[2]), grip = sqrt(r[1] * r[1] + r[2] * r[2]);
    double p[3], in[3], off[3];
    double y[2] = {r[1] - u[1], r[2] - u[2]}, radius = mu * fmax(0, r[0]);
    p[0] = fmax(0, r[0] - u[0]);
    bool inside = project_polygon(directions, radius, y, p + 1) && r[0] - u[0] >= 0;
    in[0] = fmax(0, r[0]);
    project_polygon(directions, radius, r + 1, in + 1);
    for (int k = 0; k < 3; k++)
        off[k] = r[k] - p[k], in[k] = r[k] - in[k];
    double natural = inside ? length3(u) : length3(off) + DBL_EPSILON * length3(r);
    rg_verdict_natural(v, where, natural, bound);
    note(v, fmax(0, -u[0]), length3(in), scaled_product(fabs(r[0] * u[0]), fabs(r[0]), fabs(u[0])),
         scaled_product(fmax(0, r[1] * u[1] + r[2] * u[2]), grip, slip));
}

static void local_velocity(const rg_contact_problem *p, const double *force, rg_judge_side *side) {
    size_t rows = rg_contact_rows(p), d = (size_t)p->dimension;
    for (size_t i = 0; i < p->contacts + p->joints; i++)
        side->trace[i] = 0;
    for (size_t i = 0; i < rows; i++) {
        bool joint = i >= p->contacts * d;
        double *trace = &side->trace[joint ? i - p->contacts * d + p->contacts : i / d];
        rg_long sum = rg_long_of(p->q[i]);
        double diagonal = 0;
        if (p->w.dense) {
            sum = long_dot(sum, p->w.dense + i * rows, force, rows);
            diagonal = p->w.dense[i * rows + i];
        } else {
            for (size_t k = p->w.starts[i]; k < p->w.starts[i + 1]; k++) {
                size_t j = p->w.indices[k];
                if (p->w.values[k] != 0 && force[j] != 0)
                    sum = rg_long_add(sum, rg_long_product(p->w.values[k], force[j]));
                if (j == i)
                    diagonal = p->w.values[k];
            }
        }
        side->velocity[i] = sum.hi + sum.lo;
        *trace += joint ? diagonal : diagonal / (double)d;
    }
}

const double *rg_judge_row(const rg_contact_problem *p, size_t row, int side, uint32_t *block) {
    const rg_global_form *g = &p->global;
    size_t d = (size_t)p->dimension, freedom = (size_t)g->freedom, s = (size_t)side;
    if (row < p->contacts * d) {
        size_t contact = row / d;
        *block = g->contact_blocks[2 * contact + s];
        return g->contact_jacobian + ((contact * 2 + s) * d + row % d) * freedom;
    }
    size_t joint = row - p->contacts * d;
    *block = g->joint_blocks[2 * joint + s];
    return g->joint_jacobian + (joint * 2 + s) * freedom;
}

/* Of a split one the same without the zeros. */
static void invert_split(const double *lower, double *inverse) {
    double turning[9],
        l[9] = {lower[21], 0, 0, lower[27], lower[28], 0, lower[33], lower[34], lower[35]};
    rg_small_inverse(l, 3, turning);
    memset(inverse, 0, 36 * sizeof *inverse);
    for (int i = 0; i < 3; i++) {
        inverse[7 * i] = lower[7 * i] * lower[7 * i];
        for (int j = 0; j < 3; j++)
            inverse[(3 + i) * 6 + 3 + j] = turning[3 * i + j];
    }
}

/* Sum of the squares of the entries. */
static double mass_square(const double *mass, int n, bool split) {
    double square = 0;
    for (int i = 0; i < n * n && !split; i++)
        square += mass[i] * mass[i];
    for (int i = 0; i < 3 && split; i++)
        square += mass[7 * i] * mass[7 * i];
    for (int i = 3; i < 6 && split; i++)
        for (int j = 3; j < 6; j++)
            square += mass[6 * i + j] * mass[6 * i + j];
    return square;
}

void rg_judge_invert_mass(const double *mass, int n, rg_judge_mass *block) {
    block->split = n == 6 && rg_mass_is_split(mass);
    /* The Frobenius norm, which no eigenvalue exceeds. */
    block->least = 1 / sqrt(mass_square(mass, n, block->split));
    if (!rg_mass_factor(mass, n, block->lower)) {
        for (int i = 0; i < n * n; i++)
            block->lower[i] = block->inverse[i] = NAN;
        return;
    }
    if (block->split)
        invert_split(block->lower, block->inverse);
    else if (n == 6)
        rg_small_inverse(block->lower, 6, block->inverse);
    else
        rg_small_inverse(block->lower, (size_t)n, block->inverse);
}

/* x := M^-1 x for one block, with a step of refinement in long arithmetic. */
static void divide_by_mass(const double *mass, const rg_judge_mass *block, int n, rg_long *x) {
    double start[6], rest[6];
    for (int i = 0; i < n; i++)
        start[i] = x[i].hi;
    rg_mass_solve(block->lower, n, start);
    for (int i = 0; i < n; i++) {
        rg_long sum = x[i];
        for (int j = 0; j < n; j++)
            if (mass[i * n + j] != 0)
                sum = rg_long_sub(sum, rg_long_product(mass[i * n + j], start[j]));
        rest[i] = sum.hi + sum.lo;
    }
    rg_mass_solve(block->lower, n, rest);
    for (int i = 0; i < n; i++)
        x[i] = rg_long_sum(start[i], rest[i]);
}

/* v = v_free + M^-1 J' r. Forces on a body nearly cancel (all but 1e-6 of them under a weight a
 * million times its own), so their sum is what needs the long arithmetic. */
static void body_velocities(const rg_contact_problem *p, const double *force,
                            const rg_judge_mass *masses, rg_long *v) {
    const rg_global_form *g = &p->global;
    size_t rows = rg_contact_rows(p), n = (size_t)g->freedom;
    for (size_t i = 0; i < g->blocks * n; i++)
        v[i] = rg_long_of(0);
    for (size_t row = 0; row < rows; row++)
        for (int s = 0; s < 2 && force[row] != 0; s++) {
            uint32_t block;
            const double *jacobian = rg_judge_row(p, row, s, &block);
            for (size_t k = 0; k < n && block != RG_NO_BLOCK; k++)
                v[block * n + k] =
                    rg_long_add(v[block * n + k], rg_long_product(jacobian[k], force[row]));
        }
    for (size_t b = 0; b < g->blocks; b++) {
        divide_by_mass(g->mass + b * n * n, &masses[b], g->freedom, v + b * n);
        for (size_t k = 0; k < n; k++)
            v[b * n + k] = rg_long_add(v[b * n + k], rg_long_of(g->free_velocity[b * n + k]));
    }
}

/* u = J v + q + c r: here nothing cancels that is larger than the velocities themselves. */
static void row_velocities(const rg_contact_problem *p, const double *force, const rg_long *v,
                           const rg_judge_mass *masses, rg_judge_side *side) {
    size_t rows = rg_contact_rows(p), d = (size_t)p->dimension, n = (size_t)p->global.freedom;
    for (size_t i = 0; i < p->contacts + p->joints; i++)
        side->trace[i] = 0;
    for (size_t row = 0; row < rows; row++) {
        double high = 0, low = 0, diagonal = 0;
        for (int s = 0; s < 2; s++) {
            uint32_t block;
            const double *jacobian = rg_judge_row(p, row, s, &block);
            if (block == RG_NO_BLOCK)
                continue;
            for (size_t k = 0; k < n; k++) {
                high += jacobian[k] * v[block * n + k].hi;
                low += jacobian[k] * v[block * n + k].lo;
                double product = 0;
                for (size_t c = 0; c < n; c++)
                    product += masses[block].inverse[k * n + c] * jacobian[c];
                diagonal += jacobian[k] * product;
            }
        }
        bool joint = row >= p->contacts * d;
        double soft = joint && p->compliance ? p->compliance[row - p->contacts * d] : 0;
        side->velocity[row] = p->q[row] + high + low + soft * force[row];
        diagonal += soft;
        side->trace[joint ? row - p->contacts * d + p->contacts : row / d] +=
            joint ? diagonal : diagonal / (double)d;
    }
}

void rg_verdict_contact(const rg_contact_problem *p, size_t i, const double *force,
                        const double *velocity, double trace, double bound, rg_verdict *v) {
    size_t d = (size_t)p->dimension;
    /* In the plane the polygon is the interval, which is the exact cone, too. */
    int directions = p->dimension == 3 ? p->directions : 0;
    double stiffness = trace > 0 ? trace : 1, r[3] = {0}, u[3] = {0};
    for (size_t k = 0; k < d; k++)
        r[k] = stiffness * force[k], u[k] = velocity[k];
    double mu = p->mu && d > 1 ? p->mu[i] : 0;
    if (mu > 0 && directions > 0)
        judge_polygon(v, i, bound, mu, directions, r, u);
    else
        judge_cone(v, i, bound, mu, r, u);
}

void rg_verdict_joint(const rg_contact_problem *p, size_t j, const double *force, double velocity,
                      double trace, double bound, rg_verdict *v) {
    double stiffness = trace > 0 ? trace : 1;
    judge_interval(v, p->contacts + j, bound, stiffness * *force, velocity,
                   p->lower ? stiffness * p->lower[j] : -INFINITY,
                   p->upper ? stiffness * p->upper[j] : INFINITY);
}

void rg_verdict_join(rg_verdict *v, const rg_verdict *more) {
    rg_verdict_natural(v, more->residual.worst, more->residual.natural, more->bound);
    v->rounding = v->rounding && more->rounding;
    note(v, more->residual.feasibility, more->residual.force, more->residual.complementarity,
         more->residual.dissipation);
}

/* `bound`: of rounding, the same for all. */
static void judge_contacts(const rg_contact_problem *p, const double *force, const double *velocity,
                           const rg_judge_side *side, double bound, rg_verdict *v) {
    size_t d = (size_t)p->dimension;
    for (size_t i = 0; i < p->contacts; i++)
        rg_verdict_contact(p, i, force + i * d, velocity + i * d, side->trace[i], bound, v);
    for (size_t j = 0; j < p->joints; j++) {
        size_t row = p->contacts * d + j;
        rg_verdict_joint(p, j, &force[row], velocity[row], side->trace[p->contacts + j], bound, v);
    }
}

/* Memory of one look at a contact problem, from the allocator. */
typedef struct look {
    rg_long *bodies;
    rg_judge_mass *masses;
    void *plain; /* work of plain arithmetic */
    rg_judge_side side;
} look;

static void look_end(look *l, const rg_allocator *allocator) {
    rg_release(allocator, l->plain);
    rg_release(allocator, l->side.velocity);
    rg_release(allocator, l->masses);
    rg_release(allocator, l->bodies);
}

typedef struct inversion {
    const rg_global_form *global;
    rg_judge_mass *masses;
} inversion;

static void invert_masses(void *user, size_t begin, size_t end, size_t chunk) {
    (void)chunk;
    const inversion *i = user;
    size_t n = (size_t)i->global->freedom;
    for (size_t b = begin; b < end; b++)
        rg_judge_invert_mass(i->global->mass + b * n * n, i->global->freedom, &i->masses[b]);
}

static rg_status look_begin(look *l, const rg_contact_problem *p, const rg_allocator *allocator,
                            rg_pool *pool, rg_error *error) {
    *l = (look){0};
    bool global = p->form == RG_FORM_GLOBAL;
    size_t rows = rg_contact_rows(p), blocks = global ? p->global.blocks : 0;
    size_t n = global ? (size_t)p->global.freedom : 0;
    l->bodies = rg_allocate(allocator, blocks * n, sizeof *l->bodies);
    l->masses = rg_allocate(allocator, blocks, sizeof *l->masses);
    size_t links = p->contacts + p->joints;
    double *numbers = rg_allocate(allocator, rows + links + p->joints, sizeof *numbers);
    l->plain = rg_allocate(allocator, global ? rg_judge_plain_size(p) : 0, 1);
    if (numbers)
        l->side = (rg_judge_side){numbers, numbers + rows, numbers + rows + links, pool};
    if (!l->bodies || !l->masses || !numbers || !l->plain) {
        look_end(l, allocator);
        return rg_fail(error, RG_OUT_OF_MEMORY, "%s", rg_status_text(RG_OUT_OF_MEMORY));
    }
    return RG_OK;
}

/* Velocities and traces in long arithmetic. */
static void look_closely(look *l, const rg_contact_problem *p, const double *force) {
    if (p->form == RG_FORM_LOCAL) {
        local_velocity(p, force, &l->side);
        return;
    }
    rg_parallel_for(l->side.pool, p->global.blocks, RG_JUDGE_BLOCKS_PER_CHUNK, invert_masses,
                    &(inversion){&p->global, l->masses});
    body_velocities(p, force, l->masses, l->bodies);
    row_velocities(p, force, l->bodies, l->masses, &l->side);
}

/* The verdict by plain arithmetic; false if the bound of its error does not decide: it must be a
 * small share of the residual, or residual and bound together within `enough`. */
static bool judge_quickly(look *l, const rg_contact_problem *p, const double *force, double enough,
                          double scale, rg_residual *residual, bool *rounding) {
    if (p->form != RG_FORM_GLOBAL || !(enough > 0))
        return false;
    rg_verdict quick = {.rounding = true};
    rg_judge_plain(p, force, l->masses, l->plain, &l->side, rg_judge_vectors_best(), &quick);
    *residual = scaled(&quick, scale);
    double natural = residual->natural, bound = quick.bound / scale;
    if (!(bound <= PLAIN_SHARE * natural || natural + bound <= enough))
        return false;
    residual->natural = natural + bound;
    *rounding = quick.rounding;
    return true;
}

rg_status rg_judge_velocity(const rg_problem *problem, const double *force,
                            const rg_allocator *allocator, double *velocity, rg_error *error) {
    size_t rows = rg_problem_rows(problem);
    if (problem->kind == RG_PROBLEM_LINEAR) {
        for (size_t i = 0; i < rows; i++)
            velocity[i] = row_velocity(&problem->linear, i, force);
        return RG_OK;
    }
    rg_allocator memory = rg_allocator_or_default(allocator);
    look l;
    rg_status status = look_begin(&l, &problem->contact, &memory, NULL, error);
    if (status)
        return status;
    look_closely(&l, &problem->contact, force);
    memcpy(velocity, l.side.velocity, rows * sizeof *velocity);
    look_end(&l, &memory);
    return RG_OK;
}

/* 0 x is 0 for all finite x and for no other. */
static bool all_finite(const double *x, size_t count) {
    double sum[2] = {0, 0};
    size_t i = 0;
    for (; i + 2 <= count; i += 2) {
        sum[0] += 0 * x[i];
        sum[1] += 0 * x[i + 1];
    }
    if (i < count)
        sum[0] += 0 * x[i];
    return sum[0] + sum[1] == 0;
}

static const rg_residual worthless = {INFINITY, INFINITY, INFINITY, INFINITY, INFINITY, 0};

rg_status rg_judge_forces(const rg_problem *problem, const double *force, double enough,
                          rg_solve_context *context, rg_residual *residual, bool *rounding,
                          rg_error *error) {
    const rg_contact_problem *p = &problem->contact;
    rg_allocator in_arena = rg_solve_arena_allocator(context);
    double scale = rg_problem_scale(problem);
    *rounding = false;
    if (problem->kind == RG_PROBLEM_LINEAR)
        return rg_judge_answer(problem, force, NULL, &in_arena, residual, NULL, error);
    if (!all_finite(force, rg_problem_rows(problem))) {
        *residual = worthless;
        return RG_OK;
    }
    look l;
    rg_status status = look_begin(&l, p, &in_arena, context->pool, error);
    if (status)
        return status;
    if (!judge_quickly(&l, p, force, enough, scale, residual, rounding)) {
        rg_verdict v = {0};
        double bound = 0;
        look_closely(&l, p, force);
        /* Joints alone have one answer. What is left of it within the bound of plain arithmetic is
         * what the rounding of the forces themselves makes of it. The largest bound counts: forces
         * across a plane in which everything moves are nothing but the rounding of others. */
        if (p->form == RG_FORM_GLOBAL && enough > 0 && p->contacts == 0) {
            for (size_t j = 0; j < p->joints; j++)
                bound = fmax(bound, l.side.bound[j]);
            v.rounding = true;
        }
        judge_contacts(p, force, l.side.velocity, &l.side, bound, &v);
        *residual = scaled(&v, scale);
        *rounding = v.rounding;
    }
    look_end(&l, &in_arena);
    return RG_OK;
}

rg_status rg_judge_answer(const rg_problem *problem, const double *force, const double *velocity,
                          const rg_allocator *allocator, rg_residual *residual, double *recomputed,
                          rg_error *error) {
    rg_verdict v = {0};
    size_t rows = rg_problem_rows(problem);
    if (!all_finite(force, rows) || (velocity && !all_finite(velocity, rows))) {
        *residual = worthless;
        for (size_t k = 0; recomputed && k < rows; k++)
            recomputed[k] = NAN;
        return RG_OK;
    }
    if (problem->kind == RG_PROBLEM_LINEAR) {
        for (size_t i = 0; recomputed && i < rows; i++)
            recomputed[i] = row_velocity(&problem->linear, i, force);
        judge_linear(&problem->linear, force, velocity ? velocity : recomputed, &v);
    } else {
        const rg_contact_problem *p = &problem->contact;
        look l;
        rg_status status = look_begin(&l, p, allocator, NULL, error);
        if (status)
            return status;
        look_closely(&l, p, force);
        judge_contacts(p, force, velocity ? velocity : l.side.velocity, &l.side, 0, &v);
        if (recomputed)
            memcpy(recomputed, l.side.velocity, rows * sizeof *recomputed);
        look_end(&l, allocator);
    }
    *residual = scaled(&v, rg_problem_scale(problem));
    return RG_OK;
}

rg_status rg_judge(const rg_problem *problem, const double *force, const double *velocity,
                   const rg_allocator *allocator, rg_residual *residual, rg_error *error) {
    rg_status status = rg_problem_check(problem, error);
    if (status)
        return status;
    rg_allocator memory = rg_allocator_or_default(allocator);
    return rg_judge_answer(problem, force, velocity, &memory, residual, NULL, error);
}
