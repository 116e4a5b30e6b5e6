/* The judge's verdict in plain doubles with a running error bound (N. Higham, "Accuracy and
 * Stability of Numerical Algorithms", 2nd edition, 2002, sections 3.1 and 10.1): a tenth of the
 * time of numbers of two doubles, and in most steps of a simulation the bound decides.
 *
 * With u the unit roundoff and gamma_k = k u / (1 - k u):
 *     x = J' r, k terms:           |error| <= gamma_k |J'| |r|
 *     M w = x by Cholesky:         |error| <= |M^-1| (gamma_(3n+1) |L| |L'| |w| + error of x)
 *     u = q + c r + J (v_free + w): |error| <= |J| (error of v)
 *                                             + gamma_(2n+3) (|q| + 2 |c r| + |J| |v|)
 * and the natural residual changes by (1 + mu) |error of u| at most: projections do not expand
 * distances, and De Saxce's shift adds mu |u_T|. Bodies are cut into three numbers and three, with
 * the gamma of all six.
 *
 * Two passes over the contacts: what they give the bodies; then how the bodies move there, and the
 * verdict. Masses are inverted once, and those of bodies that nothing pushes not at all.
 * Tested by tests/solve/test_judge.c. */
#include "solve/solve_judge.h"

#include "base/base_math.h"
#include "base/base_small.h"
#include "problem/problem.h"

#include <string.h>

#define UNIT_ROUNDOFF (0.5 * DBL_EPSILON)
/* Share of the smallest diagonal entry: what is no more beside the diagonal is what rounding left
 * of a ball that was turned, and counts as an error: with M = D + E, |M^-1 x - D^-1 x| is at most
 * 2 D^-1 |E| |D^-1 x|, hence 16 u |D^-1 x|: less than the gamma of Cholesky leaves. */
#define ALMOST (2 * DBL_EPSILON)
enum { MASS = 6, ROWS = 3 };

/* Of a block: impulse and its size; velocity, what that may be wrong by and what a product with it
 * adds, the latter twice; how many terms were added. */
typedef struct block_sums {
    double impulse[MASS], size[MASS], velocity[MASS], error[2 * MASS];
    double terms;
    /* What the diagonal entries of the inverse mass are at least, twice; of a diagonal mass, they
     * themselves. */
    double weight[2 * MASS];
    bool diagonal;
    /* If the mass is split (rg_mass_is_split): its inverse, and a factor of the rest; otherwise it
     * is among the masses. */
    bool split;
    double line[3], lower[9];
} block_sums;

typedef struct plain_look {
    const rg_contact_problem *problem;
    const double *force;
    rg_judge_mass *masses;
    block_sums *sums;
    const rg_judge_side *side;
    const rg_judge_vectors *vectors;
    size_t n;        /* numbers per block */
    bool usual;      /* six, and contacts, of three rows */
    double rounding; /* gamma_(2n + 3), of the products of a row */
    double product;  /* the same and what v adds to it */
    rg_verdict verdicts[RG_JUDGE_VERDICTS];
} plain_look;

size_t rg_judge_plain_size(const rg_contact_problem *p) {
    return p->global.blocks * sizeof(block_sums);
}

RG_INLINE double gamma_of(double k) {
    return k * UNIT_ROUNDOFF / (1 - k * UNIT_ROUNDOFF);
}

/* --- impulses --------------------------------------------------------------------------------- */

/* Three rows of six numbers are by far the most frequent. The lanes of a vector are different
 * entries, or fixed ones of a sum, whatever vectors the processor has: the bits are the same. */
typedef double four __attribute__((vector_size(32), aligned(8), may_alias));
typedef double pair __attribute__((vector_size(16), aligned(8), may_alias));
typedef uint64_t four_bits __attribute__((vector_size(32)));
typedef uint64_t pair_bits __attribute__((vector_size(16)));

#define FOUR(x)         (*(four *)(x))
#define PAIR(x)         (*(pair *)(x))
#define FOUR_IN(x)      (*(const four *)(x))
#define PAIR_IN(x)      (*(const pair *)(x))
#define NO_SIGN         (~(UINT64_C(1) << 63))
#define SIZE_OF_FOUR(x) ((four)((four_bits)(x) & (four_bits){NO_SIGN, NO_SIGN, NO_SIGN, NO_SIGN}))
#define SIZE_OF_PAIR(x) ((pair)((pair_bits)(x) & (pair_bits){NO_SIGN, NO_SIGN}))

RG_INLINE void add_six(const double *j, double r, block_sums *b) {
    four x = FOUR_IN(j) * (four){r, r, r, r};
    pair y = PAIR_IN(j + 4) * (pair){r, r};
    FOUR(b->impulse) += x, PAIR(b->impulse + 4) += y;
    FOUR(b->size) += SIZE_OF_FOUR(x), PAIR(b->size + 4) += SIZE_OF_PAIR(y);
    b->terms++;
}

RG_INLINE void add_three(const double *j, const double *r, block_sums *b) {
    four x = FOUR_IN(j) * (four){r[0], r[0], r[0], r[0]};
    four y = FOUR_IN(j + 6) * (four){r[1], r[1], r[1], r[1]};
    four z = FOUR_IN(j + 12) * (four){r[2], r[2], r[2], r[2]};
    pair u = PAIR_IN(j + 4) * (pair){r[0], r[0]}, v = PAIR_IN(j + 10) * (pair){r[1], r[1]};
    pair w = PAIR_IN(j + 16) * (pair){r[2], r[2]};
    FOUR(b->impulse) = ((FOUR(b->impulse) + x) + y) + z;
    PAIR(b->impulse + 4) = ((PAIR(b->impulse + 4) + u) + v) + w;
    FOUR(b->size) += (SIZE_OF_FOUR(x) + SIZE_OF_FOUR(y)) + SIZE_OF_FOUR(z);
    PAIR(b->size + 4) += (SIZE_OF_PAIR(u) + SIZE_OF_PAIR(v)) + SIZE_OF_PAIR(w);
    b->terms += ROWS;
}

/* The blocks whose sums are being made: count of them, from the first one on. */
typedef struct block_range {
    uint32_t first, count;
} block_range;

/* RG_NO_BLOCK is in none. */
RG_INLINE bool is_within(block_range range, uint32_t block) {
    return block - range.first < range.count;
}

RG_INLINE void add_sixes(const plain_look *l, block_range own) {
    const rg_global_form *g = &l->problem->global;
    const double *j = g->contact_jacobian, *r = l->force;
    const uint32_t *blocks = g->contact_blocks;
    for (size_t i = l->problem->contacts; i > 0;
         i--, j += 2 * ROWS * MASS, r += ROWS, blocks += 2) {
        bool first = is_within(own, blocks[0]), second = is_within(own, blocks[1]);
        if ((!first && !second) || (r[0] == 0 && r[1] == 0 && r[2] == 0))
            continue;
        if (first)
            add_three(j, r, &l->sums[blocks[0]]);
        if (second)
            add_three(j + ROWS * MASS, r, &l->sums[blocks[1]]);
    }
}

static inline void add_row(size_t n, const double *j, double force, block_sums *b) {
    for (size_t k = 0; k < n; k++) {
        double term = j[k] * force;
        b->impulse[k] += term;
        b->size[k] += fabs(term);
    }
    b->terms++;
}

static inline bool is_loaded(const double *force, size_t d) {
    for (size_t k = 0; k < d; k++)
        if (force[k] != 0)
            return true;
    return false;
}

static void add_contact(const plain_look *l, const double *j, const double *force, uint32_t block) {
    size_t d = (size_t)l->problem->dimension;
    for (size_t row = 0; row < d; row++)
        add_row(l->n, j + row * l->n, force[row], &l->sums[block]);
}

static void add_contacts(const plain_look *l, block_range own) {
    const rg_global_form *g = &l->problem->global;
    size_t d = (size_t)l->problem->dimension, n = l->n;
    for (size_t i = 0; i < l->problem->contacts; i++) {
        const double *r = l->force + i * d, *j = g->contact_jacobian + 2 * i * d * n;
        if (!is_loaded(r, d))
            continue;
        for (size_t side = 0; side < 2; side++)
            if (is_within(own, g->contact_blocks[2 * i + side]))
                add_contact(l, j + side * d * n, r, g->contact_blocks[2 * i + side]);
    }
}

static void add_joints(const plain_look *l, block_range own) {
    const rg_contact_problem *p = l->problem;
    size_t rows = p->contacts * (size_t)p->dimension, n = l->n;
    for (size_t side = 0; side < 2 * p->joints; side++) {
        uint32_t b = p->global.joint_blocks[side];
        if (is_within(own, b))
            add_row(n, p->global.joint_jacobian + side * n, l->force[rows + side / 2], &l->sums[b]);
    }
}

RG_INLINE void add_joint_sixes(const plain_look *l, block_range own) {
    const rg_contact_problem *p = l->problem;
    const double *j = p->global.joint_jacobian;
    const double *r = l->force + p->contacts * (size_t)p->dimension;
    const uint32_t *blocks = p->global.joint_blocks;
    for (size_t i = p->joints; i > 0; i--, j += 2 * MASS, r++, blocks += 2) {
        if (is_within(own, blocks[0]))
            add_six(j, *r, &l->sums[blocks[0]]);
        if (is_within(own, blocks[1]))
            add_six(j + MASS, *r, &l->sums[blocks[1]]);
    }
}

/* --- velocities ------------------------------------------------------------------------------- */

/* The error of w = M^-1 x by a Cholesky factor with reciprocals of its pivots, a part of `whole`
 * numbers; `off`: that of x. */
RG_INLINE void bound_error(const double *lower, const double *inverse, size_t n, size_t whole,
                           const double *off, const double *w, double *error) {
    double t[MASS], g[MASS], gamma_factor = gamma_of(3 * (double)whole + 1);
    for (size_t i = 0; i < n; i++) { /* |L'| |w| */
        t[i] = fabs(w[i] / lower[i * n + i]);
        for (size_t k = i + 1; k < n; k++)
            t[i] += fabs(lower[k * n + i] * w[k]);
    }
    for (size_t i = 0; i < n; i++) {
        g[i] = t[i] / lower[i * n + i];
        for (size_t k = 0; k < i; k++)
            g[i] += fabs(lower[i * n + k]) * t[k];
        g[i] = gamma_factor * g[i] + off[i];
    }
    for (size_t k = 0; k < n; k++) {
        error[k] = 0;
        for (size_t m = 0; m < n; m++)
            error[k] += fabs(inverse[k * n + m]) * g[m];
    }
}

RG_INLINE void set_weights(block_sums *b, double x, double y, double z) {
    double *w = b->weight;
    w[0] = w[6] = b->line[0], w[1] = w[7] = b->line[1], w[2] = w[8] = b->line[2];
    w[3] = w[9] = x, w[4] = w[10] = y, w[5] = w[11] = z;
}

/* Where the three numbers of turning hardly act on each other. */
RG_INLINE void bound_each(const double *turn, const double *off, const double *w, block_sums *b,
                          double *error) {
    double x = 1 / turn[0], y = 1 / turn[7], z = 1 / turn[14], gamma_all = gamma_of(3 * MASS + 1);
    error[0] = gamma_all * fabs(w[0]) + x * off[0];
    error[1] = gamma_all * fabs(w[1]) + y * off[1];
    error[2] = gamma_all * fabs(w[2]) + z * off[2];
    b->diagonal = true;
    set_weights(b, x, y, z);
}

/* w = M^-1 x and its error; false: the mass is not positive definite. */
RG_INLINE bool divide_split(const double *mass, const double *off, block_sums *b, double *w,
                            double *error) {
    const double *turn = mass + 21; /* 3 x 3 with rows of six numbers */
    double m[9] = {turn[0], 0, 0, turn[6], turn[7], 0, turn[12], turn[13], turn[14]};
    for (int k = 0; k < 3; k++) {
        double root = 1 / sqrt(mass[7 * k]);
        b->line[k] = root * root;
        w[k] = w[k] * root * root;
        error[k] = gamma_of(3 * MASS + 1) * fabs(w[k]) + b->line[k] * off[k];
    }
    double sum = b->line[0] + b->line[1] + b->line[2];
    if (!(sum > 0 && sum < INFINITY) || !rg_small_factor(m, 3, 0, b->lower))
        return false;
    rg_small_lower(b->lower, 3, w + 3);
    rg_small_upper(b->lower, 3, w + 3);
    double beside = rg_max3(fabs(m[3]), fabs(m[6]), fabs(m[7]));
    if (beside <= ALMOST * rg_min3(m[0], m[4], m[8])) {
        bound_each(turn, off + 3, w + 3, b, error + 3);
        return true;
    }
    double inverse[9];
    rg_small_inverse(b->lower, 3, inverse);
    bound_error(b->lower, inverse, 3, MASS, off + 3, w + 3, error + 3);
    /* The Frobenius norm, which no eigenvalue exceeds. */
    double square = 2 * (m[3] * m[3] + m[6] * m[6] + m[7] * m[7]);
    double least = 1 / sqrt(square + (m[0] * m[0] + m[4] * m[4] + m[8] * m[8]));
    set_weights(b, least, least, least);
    return true;
}

/* The impulse, and a bound of its error. */
RG_INLINE void take_impulse(const block_sums *b, size_t n, double *w, double *off) {
    double gamma_sum = gamma_of(b->terms + 1);
    for (size_t k = 0; k < n; k++) {
        w[k] = b->impulse[k];
        off[k] = gamma_sum * b->size[k];
    }
}

RG_INLINE void set_velocity(const plain_look *l, const double *free, size_t n, const double *w,
                            const double *error, block_sums *b) {
    for (size_t k = 0; k < n; k++) {
        double v = free[k] + w[k];
        b->velocity[k] = v;
        b->error[k] = b->error[MASS + k] = error[k] + l->product * fabs(v);
    }
}

/* A mass of any kind. */
static void find_velocity(const plain_look *l, size_t block) {
    size_t n = l->n;
    block_sums *b = &l->sums[block];
    rg_judge_mass *whole = &l->masses[block];
    double w[MASS] = {0}, error[MASS] = {0}, off[MASS];
    if (b->terms > 0) {
        take_impulse(b, n, w, off);
        rg_judge_invert_mass(l->problem->global.mass + block * n * n, (int)n, whole);
        for (int k = 0; k < 2 * MASS; k++)
            b->weight[k] = whole->least;
        rg_mass_solve(whole->lower, (int)n, w);
        bound_error(whole->lower, whole->inverse, n, n, off, w, error);
    }
    set_velocity(l, l->problem->global.free_velocity + block * n, n, w, error, b);
}

/* A body about its centre of mass. */
RG_INLINE void find_body_velocity(const plain_look *l, size_t block, const double *mass) {
    block_sums *b = &l->sums[block];
    double w[MASS] = {0}, error[MASS] = {0}, off[MASS];
    if (b->terms > 0) {
        take_impulse(b, MASS, w, off);
        b->split = true;
        if (!divide_split(mass, off, b, w, error))
            for (int k = 0; k < MASS; k++)
                w[k] = error[k] = NAN;
    }
    set_velocity(l, l->problem->global.free_velocity + block * MASS, MASS, w, error, b);
}

/* --- rows ------------------------------------------------------------------------------------- */

/* u of the rows of a contact or joint and its errors, and what the trace of its block of W, divided
 * by the number of rows, is at least. */
typedef struct row_figures {
    double velocity[ROWS], error[ROWS], trace;
    bool exact; /* it is the trace */
} row_figures;

/* The part of one row that one block has; returns |j|^2. */
static inline double add_side(size_t n, const double *restrict j, const block_sums *restrict b,
                              double *velocity, double *error) {
    double sum = 0, off = 0, square = 0;
    for (size_t k = 0; k < n; k++) {
        sum += j[k] * b->velocity[k];
        off += fabs(j[k]) * b->error[k];
        square += j[k] * j[k];
    }
    *velocity += sum;
    *error += off;
    return square;
}

#define LOW(x)  ((pair){(x)[0], (x)[1]})
#define HIGH(x) ((pair){(x)[2], (x)[3]})

/* Of three rows read as four times four numbers and two: 0 to 3 of the first row, its last two with
 * the first two of the second, 2 to 5 of that; 0 to 3 of the third, its last two. */
RG_INLINE void add_up_rows(const four x[4], pair y, double sum[ROWS]) {
    pair a = (LOW(x[0]) + HIGH(x[0])) + LOW(x[1]);
    pair b = (LOW(x[2]) + HIGH(x[2])) + HIGH(x[1]);
    pair c = (LOW(x[3]) + HIGH(x[3])) + y;
    sum[0] = a[0] + a[1], sum[1] = b[0] + b[1], sum[2] = c[0] + c[1];
}

RG_INLINE void look_at_three(const plain_look *l, const double *q, const double *j,
                             const uint32_t blocks[2], row_figures *f) {
    four e[4] = {{0}}, squares = {0};
    pair s[ROWS] = {{0}}, last = {0}, rest = {0};
    f->exact = true;
    for (int side = 0; side < 2; side++, j += ROWS * MASS) {
        if (blocks[side] == RG_NO_BLOCK)
            continue;
        const block_sums *b = &l->sums[blocks[side]];
        for (int k = 0; k < MASS; k += 2)
            for (int r = 0; r < ROWS; r++)
                s[r] += PAIR_IN(j + MASS * r + k) * PAIR_IN(b->velocity + k);
        for (int i = 0; i < 4; i++) {
            four x = FOUR_IN(j + 4 * i);
            int k = i < 3 ? 4 * i : 0;
            e[i] += SIZE_OF_FOUR(x) * FOUR_IN(b->error + k);
            squares += x * x * FOUR_IN(b->weight + k);
        }
        pair y = PAIR_IN(j + 16);
        last += SIZE_OF_PAIR(y) * PAIR_IN(b->error + 4);
        rest += y * y * PAIR_IN(b->weight + 4);
        f->exact = f->exact && b->diagonal;
    }
    add_up_rows(e, last, f->error);
    for (int r = 0; r < ROWS; r++) {
        f->velocity[r] = q[r] + (s[r][0] + s[r][1]);
        f->error[r] += l->rounding * fabs(q[r]);
    }
    rest += LOW(squares) + HIGH(squares);
    f->trace = (rest[0] + rest[1]) / ROWS;
}

/* `d` rows with the Jacobians `j` at two blocks, one after the other. */
static inline row_figures look_at_rows(const plain_look *l, size_t d, const double *q,
                                       const double *j, const uint32_t blocks[2]) {
    row_figures f = {.exact = false};
    for (size_t k = 0; k < d; k++)
        f.velocity[k] = q[k], f.error[k] = l->rounding * fabs(q[k]);
    for (size_t side = 0; side < 2; side++) {
        if (blocks[side] == RG_NO_BLOCK)
            continue;
        const double *rows = j + side * d * l->n;
        const block_sums *b = &l->sums[blocks[side]];
        double square = 0;
        for (size_t k = 0; k < d; k++)
            square += l->n == MASS
                          ? add_side(MASS, rows + k * MASS, b, &f.velocity[k], &f.error[k])
                          : add_side(l->n, rows + k * l->n, b, &f.velocity[k], &f.error[k]);
        f.trace += b->weight[0] * square;
    }
    f.trace /= (double)d;
    return f;
}

static double trace_of_row(const double *j, size_t n, const double *inverse) {
    double trace = 0;
    for (size_t k = 0; k < n; k++) {
        double product = 0;
        for (size_t c = 0; c < n; c++)
            product += inverse[k * n + c] * j[c];
        trace += j[k] * product;
    }
    return trace;
}

/* The part of one row of six numbers in the trace, with a mass that is split. */
static inline double trace_of_body(const double *j, const double *line, const double *turn) {
    double turning = 0;
    for (int i = 0; i < 3; i++)
        turning +=
            j[3 + i] * (turn[3 * i] * j[3] + turn[3 * i + 1] * j[4] + turn[3 * i + 2] * j[5]);
    return line[0] * (j[0] * j[0]) + line[1] * (j[1] * j[1]) + line[2] * (j[2] * j[2]) + turning;
}

/* The trace itself, of J M^-1 J' divided by the number of rows. */
static double trace_of(const plain_look *l, size_t d, const double *j, const uint32_t blocks[2]) {
    double trace = 0;
    for (size_t side = 0; side < 2; side++, j += d * l->n) {
        if (blocks[side] == RG_NO_BLOCK)
            continue;
        const block_sums *b = &l->sums[blocks[side]];
        double turn[9];
        if (b->split)
            rg_small_inverse(b->lower, 3, turn);
        for (size_t row = 0; row < d; row++)
            trace += b->split ? trace_of_body(j + row * l->n, b->line, turn)
                              : trace_of_row(j + row * l->n, l->n, l->masses[blocks[side]].inverse);
    }
    return trace / (double)d;
}

/* --- verdicts --------------------------------------------------------------------------------- */

/* Is what the judge finds of a contact (rg_verdict_contact) the same for all larger traces? If f
 * and t f - u are in the cone, u with De Saxce's shift, so is T f - u for T >= t; the natural
 * residual is |u|, and the other figures do not contain the trace if t f is larger than u. Then
 * they are noted. Those of complementarity and dissipation are at most |u|, and sought where that
 * is the larger. */
RG_INLINE bool note_settled(rg_verdict *v, size_t where, double bound, double trace, double mu,
                            const double f[ROWS], const double u[ROWS]) {
    double slip = sqrt(u[1] * u[1] + u[2] * u[2]), grip = sqrt(f[1] * f[1] + f[2] * f[2]);
    double shifted = u[0] + mu * slip, along = f[1] * u[1] + f[2] * u[2];
    double y[ROWS] = {trace * f[0] - shifted, trace * f[1] - u[1], trace * f[2] - u[2]};
    bool settled =
        grip <= mu * f[0] && y[0] >= 0 && y[1] * y[1] + y[2] * y[2] <= mu * y[0] * (mu * y[0]) &&
        trace * f[0] >= fabs(u[0]) + (1 + mu) * slip && (trace * grip >= slip || along <= 0);
    if (!settled)
        return false;
    rg_residual *r = &v->residual;
    double speed = sqrt(shifted * shifted + u[1] * u[1] + u[2] * u[2]);
    rg_verdict_natural(v, where, speed, bound);
    if (-u[0] > r->feasibility)
        r->feasibility = -u[0];
    if (speed > r->complementarity && f[0] > 0)
        rg_raise_to(&r->complementarity,
                    fabs(f[0] * shifted + along) / sqrt(f[0] * f[0] + grip * grip));
    if (along > 0 && slip > r->dissipation)
        rg_raise_to(&r->dissipation, along / grip);
    return true;
}

/* The same without friction, with the trace itself: the normal alone counts. Complementarity is at
 * most |u_N|, and sought where that is the larger. */
RG_INLINE bool note_slippery(rg_verdict *v, size_t where, double bound, double trace,
                             const double f[ROWS], const double u[ROWS]) {
    rg_residual *r = &v->residual;
    double size = fabs(u[0]), push = trace * f[0];
    if (!(push >= u[0] && f[0] >= 0 && f[1] == 0 && f[2] == 0))
        return false;
    if (size > r->complementarity && f[0] > 0) {
        if (!(push * push >= u[0] * u[0] + u[1] * u[1] + u[2] * u[2]))
            return false;
        rg_raise_to(&r->complementarity, size);
    }
    rg_verdict_natural(v, where, size + DBL_EPSILON * push, bound);
    if (-u[0] > r->feasibility)
        r->feasibility = -u[0];
    return true;
}

/* A contact without force that separates is right whatever its tangents and its W: one row. */
static bool is_apart(const plain_look *l, size_t i) {
    const rg_contact_problem *p = l->problem;
    size_t d = (size_t)p->dimension, n = l->n;
    const double *j = p->global.contact_jacobian + i * 2 * d * n;
    double velocity = p->q[i * d], error = l->rounding * fabs(velocity);
    for (size_t side = 0; side < 2; side++) {
        size_t b = p->global.contact_blocks[2 * i + side];
        if (b != RG_NO_BLOCK && n == MASS)
            add_side(MASS, j + side * d * MASS, &l->sums[b], &velocity, &error);
        else if (b != RG_NO_BLOCK)
            add_side(n, j + side * d * n, &l->sums[b], &velocity, &error);
    }
    return velocity >= error;
}

/* What does not contain the trace was not enough. */
static void look_closer(const plain_look *l, size_t i, const row_figures *x, double bound,
                        rg_verdict *v) {
    const rg_contact_problem *p = l->problem;
    size_t d = (size_t)p->dimension;
    const double *f = l->force + i * d;
    double trace = 1; /* of no force, whatever it is */
    if (x->exact && !(p->mu && p->mu[i] > 0))
        trace = x->trace;
    else if (is_loaded(f, d))
        trace = trace_of(l, d, p->global.contact_jacobian + i * 2 * d * l->n,
                         p->global.contact_blocks + 2 * i);
    rg_verdict_contact(p, i, f, x->velocity, trace, bound, v);
}

static void look_at_contact(const plain_look *l, size_t i, rg_verdict *v) {
    const rg_contact_problem *p = l->problem;
    size_t d = (size_t)p->dimension;
    if (!is_loaded(l->force + i * d, d) && is_apart(l, i)) {
        rg_verdict_natural(v, i, 0, 0);
        return;
    }
    row_figures x = look_at_rows(l, d, p->q + i * d, p->global.contact_jacobian + i * 2 * d * l->n,
                                 p->global.contact_blocks + 2 * i);
    double mu = p->mu && d > 1 ? p->mu[i] : 0, errors = 0;
    for (size_t k = 0; k < d; k++)
        errors += x.error[k] * x.error[k];
    double bound = (1 + mu) * sqrt(errors);
    if (d < ROWS || p->directions ||
        !note_settled(v, i, bound, x.trace, mu, l->force + i * d, x.velocity))
        look_closer(l, i, &x, bound, v);
}

/* The same with three rows of six numbers. */
RG_INLINE void look_at_sixes(const plain_look *l, size_t begin, size_t end, rg_verdict *v) {
    const rg_contact_problem *p = l->problem;
    const double *f = l->force + ROWS * begin;
    const double *j = p->global.contact_jacobian + 2 * ROWS * MASS * begin;
    for (size_t i = begin; i < end; i++, f += ROWS, j += 2 * ROWS * MASS) {
        if (f[0] == 0 && f[1] == 0 && f[2] == 0 && is_apart(l, i)) {
            rg_verdict_natural(v, i, 0, 0);
            continue;
        }
        row_figures x;
        look_at_three(l, p->q + ROWS * i, j, p->global.contact_blocks + 2 * i, &x);
        double mu = p->mu ? p->mu[i] : 0;
        double bound = (1 + mu) * sqrt(x.error[0] * x.error[0] + x.error[1] * x.error[1] +
                                       x.error[2] * x.error[2]);
        if (mu == 0 && x.exact && note_slippery(v, i, bound, x.trace, f, x.velocity))
            continue;
        if (p->directions || !note_settled(v, i, bound, x.trace, mu, f, x.velocity))
            look_closer(l, i, &x, bound, v);
    }
}

/* The velocity of a joint's row, and its error, are known up to its compliance. */
static inline void judge_joint(const plain_look *l, size_t j, double velocity, double error,
                               rg_verdict *v) {
    const rg_contact_problem *p = l->problem;
    size_t row = p->contacts * (size_t)p->dimension + j;
    bool bounded = (p->lower && p->lower[j] > -INFINITY) || (p->upper && p->upper[j] < INFINITY);
    double trace = 1, soft = p->compliance ? p->compliance[j] : 0;
    velocity += soft * l->force[row];
    error += 2 * l->rounding * fabs(soft * l->force[row]);
    l->side->bound[j] = error;
    if (!bounded) { /* |u| is all that counts */
        rg_verdict_natural(v, p->contacts + j, fabs(velocity), error);
        rg_raise_to(&v->residual.feasibility, fabs(velocity));
        return;
    }
    trace = soft +
            trace_of(l, 1, p->global.joint_jacobian + 2 * j * l->n, p->global.joint_blocks + 2 * j);
    rg_verdict_joint(p, j, &l->force[row], velocity, trace, error, v);
}

static void look_at_joint(const plain_look *l, size_t j, rg_verdict *v) {
    const rg_contact_problem *p = l->problem;
    row_figures f =
        look_at_rows(l, 1, p->q + p->contacts * (size_t)p->dimension + j,
                     p->global.joint_jacobian + 2 * j * l->n, p->global.joint_blocks + 2 * j);
    judge_joint(l, j, f.velocity[0], f.error[0], v);
}

/* The same with rows of six numbers. */
RG_INLINE void look_at_joint_sixes(const plain_look *l, size_t begin, size_t end, rg_verdict *v) {
    const rg_contact_problem *p = l->problem;
    const double *q = p->q + p->contacts * (size_t)p->dimension;
    for (size_t j = begin; j < end; j++) {
        const double *row = p->global.joint_jacobian + 2 * MASS * j;
        double u = q[j];
        four e = {0};
        pair last = {0};
        for (int side = 0; side < 2; side++, row += MASS) {
            uint32_t block = p->global.joint_blocks[2 * j + (size_t)side];
            if (block == RG_NO_BLOCK)
                continue;
            const block_sums *b = &l->sums[block];
            u += rg_small_dot(row, b->velocity, MASS);
            e += SIZE_OF_FOUR(FOUR_IN(row)) * FOUR_IN(b->error);
            last += SIZE_OF_PAIR(PAIR_IN(row + 4)) * PAIR_IN(b->error + 4);
        }
        last += LOW(e) + HIGH(e);
        judge_joint(l, j, u, l->rounding * fabs(q[j]) + (last[0] + last[1]), v);
    }
}

/* --- threads and processors ------------------------------------------------------------------- */

/* As rg_mass_is_split, in half of the time: no bit but the sign is set. */
RG_INLINE bool is_split(const double *m) {
    static const uint8_t zero[] = {6, 12, 13, 18, 19, 20, 24, 25, 26, 30, 31, 32};
    uint64_t all = 0, one;
    for (size_t k = 0; k < sizeof zero; k++) {
        memcpy(&one, &m[zero[k]], sizeof one);
        all |= one;
    }
    return all << 1 == 0;
}

RG_INLINE void find_range(const plain_look *l, size_t begin, size_t end) {
    for (size_t b = begin; b < end; b++) {
        const double *mass = l->problem->global.mass + b * l->n * l->n;
        if (l->n == MASS && is_split(mass))
            find_body_velocity(l, b, mass);
        else
            find_velocity(l, b);
    }
}

RG_INLINE void add_range(const plain_look *l, size_t begin, size_t end) {
    block_range own = {(uint32_t)begin, (uint32_t)(end - begin)};
    if (l->usual)
        add_sixes(l, own);
    else
        add_contacts(l, own);
    if (l->n == MASS)
        add_joint_sixes(l, own);
    else
        add_joints(l, own);
}

/* Of contacts, then joints. */
RG_INLINE void look_at_range(const plain_look *l, size_t begin, size_t end, rg_verdict *v) {
    size_t contacts = l->problem->contacts, last = end < contacts ? end : contacts;
    size_t first = begin > contacts ? begin : contacts;
    if (l->usual && begin < last)
        look_at_sixes(l, begin, last, v);
    for (size_t i = begin; i < last && !l->usual; i++)
        look_at_contact(l, i, v);
    if (l->n == MASS && first < end)
        look_at_joint_sixes(l, first - contacts, end - contacts, v);
    for (size_t i = first; i < end && l->n != MASS; i++)
        look_at_joint(l, i - contacts, v);
}

/* --- vectors ---------------------------------------------------------------------------------- */

struct rg_judge_vectors {
    void (*add)(const plain_look *l, size_t begin, size_t end);
    void (*find)(const plain_look *l, size_t begin, size_t end);
    void (*look)(const plain_look *l, size_t begin, size_t end, rg_verdict *v);
};

static void add_plainly(const plain_look *l, size_t begin, size_t end) {
    add_range(l, begin, end);
}

static void find_plainly(const plain_look *l, size_t begin, size_t end) {
    find_range(l, begin, end);
}

static void look_plainly(const plain_look *l, size_t begin, size_t end, rg_verdict *v) {
    look_at_range(l, begin, end, v);
}

const rg_judge_vectors *rg_judge_vectors_plain(void) {
    static const rg_judge_vectors plain = {add_plainly, find_plainly, look_plainly};
    return &plain;
}

#if defined(__x86_64__)
#define WIDE static __attribute__((target("avx2")))

WIDE void add_wide(const plain_look *l, size_t begin, size_t end) {
    add_range(l, begin, end);
}

WIDE void find_wide(const plain_look *l, size_t begin, size_t end) {
    find_range(l, begin, end);
}

WIDE void look_wide(const plain_look *l, size_t begin, size_t end, rg_verdict *v) {
    look_at_range(l, begin, end, v);
}

const rg_judge_vectors *rg_judge_vectors_best(void) {
    static const rg_judge_vectors wide = {add_wide, find_wide, look_wide};
    return __builtin_cpu_supports("avx2") ? &wide : rg_judge_vectors_plain();
}
#else
const rg_judge_vectors *rg_judge_vectors_best(void) {
    return rg_judge_vectors_plain();
}
#endif

/* --- the verdict ------------------------------------------------------------------------------ */

static void begin_sums(block_sums *sums, size_t begin, size_t end) {
    for (size_t b = begin; b < end; b++) {
        for (int k = 0; k < MASS; k++)
            sums[b].impulse[k] = sums[b].size[k] = 0;
        for (int k = 0; k < 2 * MASS; k++)
            sums[b].weight[k] = 0;
        sums[b].terms = 0;
        sums[b].split = sums[b].diagonal = false;
    }
}

/* Of the blocks of a range: all that acts on them, in the order of the rows, and the velocities
 * that it gives. */
static void find_velocities(void *user, size_t begin, size_t end, size_t chunk) {
    const plain_look *l = user;
    (void)chunk;
    begin_sums(l->sums, begin, end);
    l->vectors->add(l, begin, end);
    l->vectors->find(l, begin, end);
}

static void look_in_lane(void *user, size_t begin, size_t end, size_t lane) {
    plain_look *l = user;
    rg_verdict v = {.rounding = true};
    l->vectors->look(l, begin, end, &v);
    l->verdicts[lane] = v;
}

void rg_judge_plain(const rg_contact_problem *p, const double *force, rg_judge_mass *masses,
                    void *work, const rg_judge_side *side, const rg_judge_vectors *vectors,
                    rg_verdict *v) {
    size_t n = (size_t)p->global.freedom, links = p->contacts + p->joints;
    size_t grain = rg_chunk_count(links, RG_JUDGE_VERDICTS);
    plain_look l;
    l.problem = p, l.force = force, l.masses = masses, l.sums = work, l.side = side, l.n = n;
    l.vectors = vectors;
    l.usual = n == MASS && p->dimension == ROWS && p->contacts > 0;
    l.rounding = gamma_of(2 * (double)n + 3);
    l.product = UNIT_ROUNDOFF + gamma_of(2 * (double)n + 4);
    rg_parallel_for(side->pool, p->global.blocks,
                    rg_grain_for_lists(side->pool, p->global.blocks, RG_JUDGE_BLOCKS_PER_CHUNK),
                    find_velocities, &l);
    grain = grain > RG_JUDGE_ROWS_PER_CHUNK ? grain : RG_JUDGE_ROWS_PER_CHUNK;
    rg_parallel_for(side->pool, links, grain, look_in_lane, &l);
    for (size_t lane = 0; lane < rg_chunk_count(links, grain); lane++)
        rg_verdict_join(v, &l.verdicts[lane]);
}
