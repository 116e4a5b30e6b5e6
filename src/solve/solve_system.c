/* Contact problems made ready for the cone solvers: what does not change during a solve, and
 * products.
 *
 * The global form is kept as it is given (M and J by blocks of bodies); only M^-1 is computed, body
 * by body, from a Cholesky factor. The local form is cut into blocks of contacts
 * (solve_system_local.c). Cost of a product: proportional to the non-zero blocks. Fails: only for
 * want of memory; the driver has checked the problem (mass blocks positive definite) before. */
#include "solve/solve_system_parts.h"

#include "problem/problem.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Sums of impulses over many contacts are taken in so many lanes, whatever the number of threads,
 * and then added in their order. */
enum { LANES = 4, LANES_FROM = 512, SUMS_PER_CHUNK = 2048 };

/* inverse := matrix^-1 for a symmetric positive definite matrix of up to 6 rows, by its Cholesky
 * factor; exactly symmetric. `stride`: of the rows of both. */
static inline void invert(const double *matrix, int n, int stride, double *inverse) {
    double l[RG_SYSTEM_FREEDOM_MAX][RG_SYSTEM_FREEDOM_MAX];
    double x[RG_SYSTEM_FREEDOM_MAX][RG_SYSTEM_FREEDOM_MAX]; /* l^-1 */
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double sum = matrix[i * stride + j];
            for (int k = 0; k < j; k++)
                sum -= l[i][k] * l[j][k];
            l[i][j] = i == j ? sqrt(sum) : sum / l[j][j];
        }
    for (int j = 0; j < n; j++)
        for (int i = j; i < n; i++) {
            double sum = i == j ? 1 : 0;
            for (int k = j; k < i; k++)
                sum -= l[i][k] * x[k][j];
            x[i][j] = sum / l[i][i];
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double sum = 0;
            for (int k = i; k < n; k++)
                sum += x[k][i] * x[k][j];
            inverse[i * stride + j] = inverse[j * stride + i] = sum;
        }
}

/* Of a body the same without the zeros. */
static void invert_mass(const double *matrix, int n, double *inverse) {
    if (n != 6 || !rg_mass_is_split(matrix)) {
        invert(matrix, n, n, inverse);
        return;
    }
    memset(inverse, 0, 36 * sizeof *inverse);
    for (int i = 0; i < 21; i += 7)
        invert(matrix + i, 1, 6, inverse + i);
    invert(matrix + 21, 3, 6, inverse + 21);
}

static void invert_masses(void *user, size_t begin, size_t end, size_t chunk) {
    (void)chunk;
    const rg_system *system = user;
    const rg_global_form *global = &system->problem->global;
    size_t ff = (size_t)(global->freedom * global->freedom);
    for (size_t i = begin; i < end; i++)
        invert_mass(global->mass + i * ff, global->freedom, system->factor->mass_inverse + i * ff);
}

/* W_ii += J_s M^-1 J_s' of the body on side s; and J_s M^-1 J_t' if the contact names it twice. */
static void add_side(const rg_system *system, size_t block, int s, double *restrict out) {
    rg_system_touch touch = rg_system_touched(system, block);
    size_t f = (size_t)system->problem->global.freedom, d = rg_system_block_size(system, block);
    const double *inverse = system->factor->mass_inverse + touch.blocks[s] * f * f;
    bool both = touch.blocks[0] == touch.blocks[1];
    if (!both && block < rg_usual_of(system).contacts && rg_mass_is_split(inverse)) {
        system->factor->kernel->add_diagonal(touch.jacobian[s], inverse, out);
        return;
    }
    for (size_t i = 0; i < d; i++) {
        double row[RG_SYSTEM_FREEDOM_MAX] = {0}; /* (J M^-1)_i */
        for (size_t k = 0; k < f; k++)
            for (size_t m = 0; m < f; m++)
                row[m] += touch.jacobian[s][i * f + k] * inverse[k * f + m];
        for (int t = both ? 0 : s; t < (both ? 2 : s + 1); t++)
            for (size_t j = 0; j < d; j++)
                for (size_t m = 0; m < f; m++)
                    out[i * d + j] += row[m] * touch.jacobian[t][j * f + m];
    }
}

/* W_ii, over the touched bodies. */
static void condense_diagonal(const rg_system *system, size_t block, double *out) {
    rg_system_touch touch = rg_system_touched(system, block);
    size_t d = rg_system_block_size(system, block);
    memset(out, 0, d * d * sizeof *out);
    for (int s = 0; s < 2; s++)
        if (touch.blocks[s] != RG_NO_BLOCK)
            add_side(system, block, s, out);
}

static void find_diagonals(void *user, size_t begin, size_t end, size_t chunk) {
    (void)chunk;
    rg_system *system = user;
    for (size_t i = begin; i < end; i++) {
        size_t d = rg_system_block_size(system, i);
        double *block = system->diagonal + rg_system_block_offset(system, i);
        if (system->problem->form == RG_FORM_GLOBAL) {
            condense_diagonal(system, i, block);
        } else {
            const rg_block_rows *w = &system->factor->w;
            size_t k = w->starts[i];
            while (w->columns[k] != i)
                k++;
            memcpy(block, w->values + w->offsets[k], d * d * sizeof *block);
        }
        double trace = i >= system->contacts ? rg_system_compliance(system, i) : 0;
        for (size_t j = 0; j < d; j++)
            trace += block[j * d + j];
        system->rho[i] = trace > 0 ? (double)d / trace : 1;
    }
}

static rg_status take_work(rg_system *system, rg_error *error) {
    struct rg_system_factor *factor = system->factor;
    rg_solve_context *context = factor->context;
    size_t numbers = rg_system_block_numbers(system);
    RG_TAKE(factor->a, context, numbers, error);
    RG_TAKE(factor->b, context, numbers, error);
    RG_TAKE(factor->row_work, context, system->rows, error);
    RG_TAKE(factor->row_work2, context, system->rows, error);
    RG_TAKE(factor->row_work3, context, system->rows, error);
    RG_TAKE(factor->row_correction, context, system->rows, error);
    if (system->problem->form != RG_FORM_GLOBAL)
        return RG_OK;
    RG_TAKE(factor->inverse, context, numbers, error);
    RG_TAKE(factor->middle, context, numbers, error);
    RG_TAKE(factor->velocity_work, context, system->velocities, error);
    RG_TAKE(factor->velocity_work2, context, system->velocities, error);
    RG_TAKE(factor->velocity_correction, context, system->velocities, error);
    RG_TAKE(factor->rates, context, system->rows, error);
    RG_TAKE(factor->rates_correction, context, system->rows, error);
    return RG_OK;
}

rg_status rg_system_prepare(rg_system *system, rg_solve_context *context, const rg_problem *problem,
                            rg_error *error) {
    assert(problem->kind == RG_PROBLEM_CONTACT);
    const rg_contact_problem *contact = &problem->contact;
    const rg_global_form *global = &contact->global;
    bool is_global = contact->form == RG_FORM_GLOBAL;
    *system = (rg_system){.problem = contact,
                          .contacts = contact->contacts,
                          .joints = contact->joints,
                          .dimension = contact->dimension,
                          .pool = context->pool,
                          .scale = rg_problem_scale(problem)};
    system->rows = system->contacts * (size_t)system->dimension + system->joints;
    system->velocities = is_global ? global->blocks * (size_t)global->freedom : 0;
    RG_TAKE(system->mu, context, system->contacts, error);
    RG_TAKE(system->diagonal, context, rg_system_block_numbers(system), error);
    RG_TAKE(system->rho, context, rg_system_blocks(system), error);
    RG_TAKE(system->free, context, system->rows, error);
    RG_TAKE(system->factor, context, 1, error);
    *system->factor =
        (struct rg_system_factor){.context = context, .kernel = rg_solve_kernel_best()};
    for (size_t i = 0; i < system->contacts; i++)
        system->mu[i] = contact->mu && contact->dimension > 1 ? contact->mu[i] : 0;
    rg_status status = take_work(system, error);
    if (status != RG_OK)
        return status;
    if (is_global) {
        size_t ff = (size_t)(global->freedom * global->freedom);
        RG_TAKE(system->factor->mass_inverse, context, global->blocks * ff, error);
        rg_parallel_for(system->pool, global->blocks, RG_SYSTEM_BLOCKS_PER_CHUNK, invert_masses,
                        system);
        if (system->contacts >= LANES_FROM)
            RG_TAKE(system->lanes, context, (LANES - 1) * system->velocities, error);
        rg_system_j(system, global->free_velocity, system->free);
        for (size_t i = 0; i < system->rows; i++)
            system->free[i] += contact->q[i];
    } else {
        status = rg_block_rows_create(system, error);
        if (status != RG_OK)
            return status;
        memcpy(system->free, contact->q, system->rows * sizeof(double));
    }
    rg_parallel_for(system->pool, rg_system_blocks(system), RG_SYSTEM_ROWS_PER_CHUNK,
                    find_diagonals, system);
    return RG_OK;
}

/* A product, and where it goes. */
typedef struct product {
    const rg_system *system;
    const double *matrices, *in;
    const uint32_t *list;
    size_t lanes;
    double *out;
} product;

static void multiply_rows(void *user, size_t begin, size_t end, size_t chunk) {
    (void)chunk;
    const product *p = user;
    const rg_system *s = p->system;
    const rg_usual usual = rg_usual_of(s);
    const double *in = p->in;
    double *out = p->out;
    for (size_t i = begin; i < end; i++)
        rg_system_rows(s, usual, i, in, out + rg_system_block_row(s, i));
}

void rg_system_j(const rg_system *system, const double *restrict v, double *restrict out) {
    rg_parallel_for(system->pool, rg_system_blocks(system), RG_SYSTEM_ROWS_PER_CHUNK, multiply_rows,
                    &(product){.system = system, .in = v, .out = out});
}

static bool is_zero(const double *x, size_t count) {
    for (size_t k = 0; k < count; k++)
        if (x[k] != 0)
            return false;
    return true;
}

/* J' r over a run of the contacts and joints, into the sums of a lane; those of the first are the
 * result's own. */
static void add_impulses(void *user, size_t begin, size_t end, size_t lane) {
    const product *p = user;
    const rg_system *s = p->system;
    const rg_usual usual = rg_usual_of(s);
    const uint32_t *list = p->list;
    const double *in = p->in;
    double *sums = lane == 0 ? p->out : s->lanes + (lane - 1) * s->velocities;
    memset(sums, 0, s->velocities * sizeof *sums);
    for (size_t n = begin; n < end; n++) {
        size_t i = list ? list[n] : n;
        const double *r = in + (i < usual.contacts ? 3 * i : rg_system_block_row(s, i));
        if (list || !is_zero(r, i < usual.contacts ? 3 : rg_system_block_size(s, i)))
            rg_system_add_impulse(s, usual, i, r, sums);
    }
}

/* The sums of lanes, in their order. */
static void add_lanes(void *user, size_t begin, size_t end, size_t chunk) {
    (void)chunk;
    const product *p = user;
    size_t count = p->system->velocities;
    for (size_t lane = 1; lane < p->lanes; lane++) {
        const double *restrict sums = p->system->lanes + (lane - 1) * count;
        double *restrict out = p->out;
        for (size_t k = begin; k < end; k++)
            out[k] += sums[k];
    }
}

void rg_system_impulses(const rg_system *system, const double *r, const uint32_t *list,
                        size_t count, double *out) {
    size_t grain = system->lanes ? rg_chunk_count(count, LANES) : count;
    product p = {.system = system, .in = r, .list = list, .out = out};
    if (count == 0) {
        memset(out, 0, system->velocities * sizeof *out);
        return;
    }
    p.lanes = rg_chunk_count(count, grain);
    rg_parallel_for(system->pool, count, grain, add_impulses, &p);
    rg_parallel_for(system->pool, system->velocities, SUMS_PER_CHUNK, add_lanes, &p);
}

void rg_system_jt(const rg_system *system, const double *restrict r, double *restrict out) {
    const rg_usual usual = rg_usual_of(system);
    memset(out, 0, system->velocities * sizeof *out);
    for (size_t i = 0; i < rg_system_blocks(system); i++)
        rg_system_add_impulse(system, usual, i, r + rg_system_block_row(system, i), out);
}

/* By columns: the matrix is symmetric. */
static inline void apply(size_t f, const double *restrict matrix, const double *restrict in,
                         double *restrict out) {
    double sum[RG_SYSTEM_FREEDOM_MAX] = {0};
    for (size_t k = 0; k < f; k++)
        for (size_t m = 0; m < f; m++)
            sum[m] += matrix[k * f + m] * in[k];
    memcpy(out, sum, f * sizeof *sum);
}

static void apply_range(void *user, size_t begin, size_t end, size_t chunk) {
    (void)chunk;
    const product *p = user;
    size_t f = (size_t)p->system->problem->global.freedom;
    for (size_t i = begin; i < end; i++) {
        const double *matrix = p->matrices + i * f * f, *in = p->in + i * f;
        if (f == 6)
            apply(6, matrix, in, p->out + i * 6);
        else
            apply(f, matrix, in, p->out + i * f);
    }
}

static void apply_bodies(const rg_system *system, const double *matrices, const double *x,
                         double *out) {
    product p = {.system = system, .matrices = matrices, .in = x, .out = out};
    rg_parallel_for(system->pool, system->problem->global.blocks, 4 * RG_SYSTEM_BLOCKS_PER_CHUNK,
                    apply_range, &p);
}

void rg_system_mass(const rg_system *system, const double *v, double *out) {
    apply_bodies(system, system->problem->global.mass, v, out);
}

void rg_system_mass_inverse(const rg_system *system, const double *x, double *out) {
    apply_bodies(system, system->factor->mass_inverse, x, out);
}

void rg_system_w(const rg_system *system, const double *r, double *out) {
    rg_block_rows_apply(system, r, out);
}

void rg_system_velocity(const rg_system *system, const double *r, double *v, double *u) {
    if (system->problem->form == RG_FORM_GLOBAL) {
        double *impulse = system->factor->velocity_work;
        double *velocity = v ? v : system->factor->velocity_work2;
        rg_system_jt(system, r, impulse);
        rg_system_mass_inverse(system, impulse, velocity);
        for (size_t i = 0; i < system->velocities; i++)
            velocity[i] += system->problem->global.free_velocity[i];
        rg_system_j(system, velocity, u);
    } else {
        rg_block_rows_apply(system, r, u);
    }
    for (size_t i = 0; i < system->rows; i++)
        u[i] += system->problem->q[i];
}
