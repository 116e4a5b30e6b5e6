/* Most contacts of a heap that has come to rest but for a few bodies hold: they stick, inside their
 * cones, with forces that are right up to rounding. As long as they do, they are linear. With the
 * proximal term delta of Newton's method on the closed contacts,
 *
 *     delta dr + rho (u + J dv) = 0                      of a contact that holds,
 *     K = M + sum over these of (rho / delta) J' J,
 *     dv = K^-1 (J' dr of all others - sum over these of (rho / delta) J' u),
 *
 * and the others, the loose ones, are a contact problem of their own: in local form, with
 * W = J K^-1 J', a few rows between the bodies that they touch. It is solved by the whole list of
 * solvers, exactly, where a Newton method over all contacts would have to find the modes of all at
 * once. Contacts that no longer hold then join the loose ones; what the proximal term has left is
 * taken back by doing the same again.
 *
 * K depends on where bodies are that have contacts that hold, not on how the others move: while the
 * heap stands its factor is that of the step before (solve_held_factor.c).
 *
 * 1,000 stones of which one swings about two contacts take 3.4 ms a solve instead of the 42 that
 * relaxation takes, which also leaves the forces of hundreds of contacts at the edge of their
 * cones.
 *
 * How it fails: too many contacts are loose, or become so; the small problem is not solved. Forces
 * are then what they were. Tested by tests/solve/test_held.c. */
#include "solve/solve_held.h"

#include "base/base_math.h"
#include "solve/solve_polish.h"
#include "solve/solve_system_parts.h"

#include <string.h>

/* Contacts that may be loose. With 80 they take as long as a step of relaxation. */
enum { LOOSE_MOST = 40 };
/* Where so many contacts hold for each that is loose, little happens. */
enum { CALM = 32 };
/* Times that contacts may join them or the proximal term be taken back. */
enum { ROUNDS = 10 };
/* What the small problem aims at, and is content with where rounding forbids more. It must be
 * within RG_HELD_TOLERANCE. Like any island of so few contacts it has no limit of effort: its
 * factorisations take microseconds, and some problems need hundreds. They count by its share of the
 * contacts. */
#define SMALL_AIM    1e-12
#define SMALL_ENOUGH 1e-10
/* A residual that is rounding, and the share of the last one that a round must get below. */
#define ROUNDING 1e-12
#define GAIN     0.3

typedef struct held_work {
    rg_active *active;
    uint32_t *holding, *loose, *bodies, *place; /* bodies: those that loose contacts touch */
    uint8_t *is_loose;
    size_t holding_count, loose_count, body_count;
    double *given;                     /* rows: the forces at first */
    double *impulse;                   /* per body */
    double *mobility, *product, *w;    /* K^-1 between the bodies, J K^-1, J K^-1 J' */
    double *q, *force, *velocity, *mu; /* of the small problem */
} held_work;

/* --- which contacts hold ---------------------------------------------------------------------- */

typedef enum contact_kind { OPEN, HOLDS, LOOSE } contact_kind;

/* `residual`: up to which a contact holds. */
static contact_kind kind_of(const rg_active *active, size_t contact, double residual) {
    const rg_system *s = active->system;
    size_t d = (size_t)s->dimension;
    const double *r = active->force + contact * d, *u = active->u + contact * d;
    double rho = s->rho[contact], normal = r[0] - rho * u[0], square = 0;
    bool loaded = r[0] != 0;
    for (size_t k = 1; k < d; k++)
        loaded = loaded || r[k] != 0;
    if (!loaded)
        return u[0] >= 0 ? OPEN : LOOSE;
    for (size_t k = 1; k < d; k++)
        square += (r[k] - rho * u[k]) * (r[k] - rho * u[k]);
    double most = s->mu[contact] * normal;
    bool holds = normal > 0 && square < most * most &&
                 rg_polish_contact(s, contact, active->force, active->u) <= residual * s->scale;
    return holds ? HOLDS : LOOSE;
}

/* Lists the contacts anew; those that were loose stay so. How many have become loose. */
static size_t sort_contacts(held_work *w, double residual) {
    size_t joined = 0;
    w->holding_count = w->loose_count = 0;
    for (uint32_t i = 0; i < w->active->system->contacts; i++) {
        contact_kind kind = kind_of(w->active, i, residual);
        if (kind == LOOSE && !w->is_loose[i]) {
            w->is_loose[i] = 1;
            joined++;
        }
        if (kind == HOLDS && !w->is_loose[i])
            w->holding[w->holding_count++] = i;
        if (w->is_loose[i] && w->loose_count++ < LOOSE_MOST)
            w->loose[w->loose_count - 1] = i;
    }
    return joined;
}

static void list_bodies(held_work *w) {
    const rg_global_form *g = &w->active->system->problem->global;
    memset(w->place, 0, g->blocks * sizeof *w->place);
    for (size_t n = 0; n < w->loose_count; n++)
        for (size_t t = 0; t < 2; t++) {
            uint32_t b = g->contact_blocks[2 * w->loose[n] + t];
            if (b != RG_NO_BLOCK)
                w->place[b] = 1;
        }
    w->body_count = 0;
    for (uint32_t b = 0; b < g->blocks; b++) {
        if (!w->place[b])
            continue;
        w->place[b] = (uint32_t)w->body_count;
        w->bodies[w->body_count++] = b;
    }
}

/* --- the small problem ------------------------------------------------------------------------ */

/* One body of a loose contact. */
typedef struct loose_side {
    const double *jacobian;
    size_t column; /* of the body, in the mobility */
    bool there;
} loose_side;

static loose_side side_of(const held_work *w, size_t n, size_t t) {
    rg_system_touch touch = rg_system_touched(w->active->system, w->loose[n]);
    size_t f = (size_t)w->active->system->problem->global.freedom;
    uint32_t body = touch.blocks[t];
    if (body == RG_NO_BLOCK)
        return (loose_side){.there = false};
    return (loose_side){touch.jacobian[t], w->place[body] * f, true};
}

/* product = J K^-1 */
static void multiply_left(held_work *w) {
    size_t d = (size_t)w->active->system->dimension,
           f = (size_t)w->active->system->problem->global.freedom, size = w->body_count * f;
    memset(w->product, 0, w->loose_count * d * size * sizeof *w->product);
    for (size_t n = 0; n < 2 * w->loose_count; n++) {
        loose_side side = side_of(w, n / 2, n % 2);
        for (size_t k = 0; k < d && side.there; k++)
            for (size_t m = 0; m < f; m++) {
                double entry = side.jacobian[k * f + m];
                const double *from = w->mobility + (side.column + m) * size;
                double *to = w->product + (n / 2 * d + k) * size;
                for (size_t c = 0; c < size; c++)
                    to[c] += entry * from[c];
            }
    }
}

/* w = product J', symmetric to the last bit */
static void multiply_right(held_work *w) {
    size_t d = (size_t)w->active->system->dimension,
           f = (size_t)w->active->system->problem->global.freedom, size = w->body_count * f,
           rows = w->loose_count * d;
    memset(w->w, 0, rows * rows * sizeof *w->w);
    for (size_t n = 0; n < 2 * w->loose_count; n++) {
        loose_side side = side_of(w, n / 2, n % 2);
        for (size_t row = 0; row < rows && side.there; row++)
            rg_system_add_j(d, f, side.jacobian, w->product + row * size + side.column,
                            w->w + row * rows + n / 2 * d);
    }
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < i; j++)
            w->w[i * rows + j] = w->w[j * rows + i] =
                0.5 * (w->w[i * rows + j] + w->w[j * rows + i]);
}

/* Velocities without the forces of the loose contacts, and these forces. The velocities of bodies
 * with what contacts that hold take back of their own are v + dv. */
static void fill_small(held_work *w) {
    rg_active *active = w->active;
    const rg_system *s = active->system;
    const rg_usual usual = rg_usual_of(s);
    size_t d = (size_t)s->dimension, rows = w->loose_count * d;
    for (size_t n = 0; n < w->loose_count; n++) {
        size_t i = w->loose[n];
        double u[RG_SYSTEM_DIMENSION_MAX], du[RG_SYSTEM_DIMENSION_MAX];
        rg_system_rows(s, usual, i, active->v, u);
        rg_system_rows(s, usual, i, active->dv, du);
        w->mu[n] = s->mu[i];
        for (size_t k = 0; k < d; k++) {
            w->q[n * d + k] = u[k] + du[k] + s->problem->q[i * d + k];
            w->force[n * d + k] = active->force[i * d + k];
        }
    }
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < rows; j++)
            w->q[i] -= w->w[i * rows + j] * w->force[j];
}

static rg_status solve_small(held_work *w, bool *solved, rg_error *error) {
    const rg_system *s = w->active->system;
    size_t rows = w->loose_count * (size_t)s->dimension;
    rg_problem small = {.kind = RG_PROBLEM_CONTACT, .scale = s->scale, .connected = true};
    small.contact = (rg_contact_problem){.dimension = s->dimension,
                                         .contacts = w->loose_count,
                                         .mu = w->mu,
                                         .form = RG_FORM_LOCAL,
                                         .w = {.rows = rows, .columns = rows, .dense = w->w},
                                         .q = w->q};
    rg_solve_settings settings = rg_solve_settings_default();
    settings.tolerance = SMALL_AIM, settings.acceptable = SMALL_ENOUGH;
    settings.warm = true;
    rg_solution solution = {.force = w->force, .velocity = w->velocity};
    rg_solve_info info;
    *solved = false;
    rg_status status =
        rg_solve(w->active->context, &rg_solver_auto, &small, &settings, &solution, &info, NULL);
    if (status == RG_OUT_OF_MEMORY)
        return rg_fail(error, status, "%s", rg_status_text(status));
    if (status) /* numbers beyond all range: not solved this way */
        return RG_OK;
    *solved = info.residual.natural <= RG_HELD_TOLERANCE;
    w->active->factorisations +=
        (info.factorisations * w->loose_count + s->contacts - 1) / s->contacts;
    return RG_OK;
}

/* Between bodies that are held the small problem is stiff: what it takes for rounding may be forces
 * that count in the whole one. They are put where the law wants them, with the rho of the whole. */
static void project_forces(held_work *w) {
    const rg_system *s = w->active->system;
    size_t d = (size_t)s->dimension;
    for (size_t n = 0; n < w->loose_count; n++) {
        double rho = s->rho[w->loose[n]], square = 0;
        double *r = w->force + n * d;
        for (size_t k = 0; k < d; k++) {
            r[k] -= rho * w->velocity[n * d + k];
            square += k > 0 ? r[k] * r[k] : 0;
        }
        double normal = fmax(0, r[0]), most = w->mu[n] * normal, length = sqrt(square);
        for (size_t k = 1; k < d && length > most; k++)
            r[k] *= most / length;
        r[0] = normal;
    }
}

/* --- one round -------------------------------------------------------------------------------- */

/* dv of the errors of what holds: what takes back the proximal term of the round before. */
static void correct_holding(held_work *w) {
    rg_active *active = w->active;
    const rg_system *s = active->system;
    size_t d = (size_t)s->dimension;
    memset(active->dr, 0, s->rows * sizeof *active->dr);
    for (size_t n = 0; n < w->holding_count; n++)
        for (size_t k = w->holding[n] * d; k < (w->holding[n] + 1) * d; k++)
            active->dr[k] = -s->rho[w->holding[n]] / RG_HELD_DELTA * active->u[k];
    rg_system_impulses(s, active->dr, NULL, active->blocks, w->impulse);
    rg_held_respond(active, w->impulse, active->dv);
}

/* The forces of all, from those of the loose ones. */
static void move_forces(held_work *w) {
    rg_active *active = w->active;
    const rg_system *s = active->system;
    const rg_usual usual = rg_usual_of(s);
    size_t d = (size_t)s->dimension;
    for (size_t n = 0; n < w->loose_count; n++)
        for (size_t k = 0; k < d; k++)
            active->dr[w->loose[n] * d + k] =
                w->force[n * d + k] - active->force[w->loose[n] * d + k];
    rg_system_impulses(s, active->dr, NULL, active->blocks, w->impulse);
    rg_held_respond(active, w->impulse, active->dv);
    for (size_t n = 0; n < w->holding_count; n++) {
        size_t i = w->holding[n];
        double du[RG_SYSTEM_DIMENSION_MAX];
        rg_system_rows(s, usual, i, active->dv, du);
        for (size_t k = 0; k < d; k++)
            active->force[i * d + k] -= s->rho[i] / RG_HELD_DELTA * (active->u[i * d + k] + du[k]);
    }
    for (size_t n = 0; n < w->loose_count; n++)
        memcpy(active->force + w->loose[n] * d, w->force + n * d, d * sizeof *w->force);
}

static rg_status run_round(held_work *w, bool *solved, rg_error *error) {
    rg_held_list holding = {w->holding, w->holding_count};
    *solved = false;
    rg_status status = rg_held_factor(w->active, holding);
    list_bodies(w);
    if (!status)
        status = rg_held_mobility(w->active, w->bodies, w->body_count, w->mobility);
    if (status == RG_SINGULAR)
        return RG_OK;
    if (status)
        return rg_fail(error, status, "%s", rg_status_text(status));
    multiply_left(w);
    multiply_right(w);
    correct_holding(w);
    fill_small(w);
    status = solve_small(w, solved, error);
    if (!*solved)
        return status;
    project_forces(w);
    move_forces(w);
    return status;
}

/* --- the loop --------------------------------------------------------------------------------- */

static rg_status take_work(held_work *w, rg_error *error) {
    const rg_system *s = w->active->system;
    rg_solve_context *context = w->active->context;
    size_t most = LOOSE_MOST, rows = most * (size_t)s->dimension,
           size = 2 * most * (size_t)s->problem->global.freedom;
    RG_TAKE(w->holding, context, s->contacts, error);
    RG_TAKE(w->is_loose, context, s->contacts, error);
    RG_TAKE(w->loose, context, most, error);
    RG_TAKE(w->bodies, context, 2 * most, error);
    RG_TAKE(w->place, context, s->problem->global.blocks, error);
    RG_TAKE(w->given, context, s->rows, error);
    RG_TAKE(w->impulse, context, s->velocities, error);
    RG_TAKE(w->mobility, context, size * size, error);
    RG_TAKE(w->product, context, rows * size, error);
    RG_TAKE(w->w, context, rows * rows, error);
    RG_TAKE(w->q, context, rows, error);
    RG_TAKE(w->force, context, rows, error);
    RG_TAKE(w->velocity, context, rows, error);
    RG_TAKE(w->mu, context, most, error);
    memset(w->is_loose, 0, s->contacts);
    memcpy(w->given, w->active->force, s->rows * sizeof *w->given);
    return RG_OK;
}

static void keep_best(rg_active *active) {
    active->best_residual = active->residual;
    memcpy(active->best, active->force, active->system->rows * sizeof *active->best);
}

static rg_status run_rounds(held_work *w, rg_error *error) {
    rg_active *active = w->active;
    rg_status status = RG_OK;
    double last = INFINITY;
    bool solved = true;
    for (int round = 0; round < ROUNDS && w->loose_count <= LOOSE_MOST; round++) {
        status = run_round(w, &solved, error);
        if (status || !solved)
            break;
        rg_active_look(active);
        if (active->residual < active->best_residual)
            keep_best(active);
        bool joined = sort_contacts(w, INFINITY) > 0;
        if (active->residual <= ROUNDING || (!joined && !(active->residual < GAIN * last)))
            break;
        last = joined ? INFINITY : active->residual;
    }
    return status;
}

/* From the forces that were looked at. */
static rg_status try_to_hold(held_work *w, double enough, rg_held_verdict *verdict,
                             rg_error *error) {
    rg_active *active = w->active;
    rg_status status = RG_OK;
    keep_best(active);
    sort_contacts(w, RG_HELD_TOLERANCE);
    *verdict = CALM * w->loose_count <= w->holding_count ? RG_HELD_CALM : RG_HELD_NOT;
    if (w->loose_count == 0 || w->loose_count > LOOSE_MOST || w->holding_count == 0)
        return RG_OK;
    status = run_rounds(w, error);
    bool solved = active->best_residual <= fmin(RG_HELD_TOLERANCE, enough);
    if (solved)
        *verdict = RG_HELD_SOLVED;
    memcpy(active->force, solved ? active->best : w->given,
           active->system->rows * sizeof *w->given);
    return status;
}

rg_status rg_held_solve(rg_active *active, double enough, rg_held_verdict *verdict,
                        rg_error *error) {
    held_work w = {.active = active};
    *verdict = RG_HELD_NOT;
    if (active->system->joints > 0)
        return RG_OK;
    rg_arena_mark mark = rg_arena_get_mark(&active->context->arena);
    rg_status status = take_work(&w, error);
    if (!status) {
        rg_active_look(active);
        status = try_to_hold(&w, enough, verdict, error);
    }
    rg_arena_return(&active->context->arena, mark);
    return status;
}
