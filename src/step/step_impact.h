/* What the impact laws share: the problem brought into one small dense form, the velocities as they
 * change, and the account of energy. A law adds impulses round by round; the driver does the rest.
 */
#ifndef RIGOR_STEP_IMPACT_H
#define RIGOR_STEP_IMPACT_H

#include "rigor/impact.h"
#include "solve/solve.h"

/* Free joint rows are eliminated: `w` is the inverse inertia as felt at the contacts with the
 * joints held. Rows: contacts x d, then the joint rows that have bounds. */
typedef struct rg_impact_state {
    rg_solve_context *context;
    rg_impact_info *info;
    int d;
    size_t contacts, bounded, rows;
    double *w;      /* rows x rows, symmetric */
    double *u;      /* velocities now */
    double *r;      /* impulses so far */
    double *e, *mu; /* per contact */
    bool friction;  /* any mu > 0 */
    int directions;
    double *lower, *upper; /* per bounded row */
    const uint32_t *pair;
    double still;
    double scale;       /* largest |u-|: what residuals are relative to */
    uint64_t limit;     /* of rounds */
    bool own_limit;     /* the law's, not the caller's: the rest is stopped without restitution */
    double normal_work; /* of what was applied */
    uint32_t *all;      /* the contacts that impulses can move, ascending */
    size_t all_count;
    rg_impact_observer *observer;
    void *observer_user;
    uint64_t applied;       /* how often impulses were */
    double *before, *given; /* for the observer: velocities before, impulses */
} rg_impact_state;

struct rg_impact_law {
    const char *name;
    const char *summary;
    uint64_t rounds; /* its own cap: this many, and this many more per contact */
    rg_status (*resolve)(rg_impact_state *state, rg_error *error);
};
extern const rg_impact_law rg_impact_law_simultaneous;
extern const rg_impact_law rg_impact_law_propagation;
extern const rg_impact_law rg_impact_law_poisson;
extern const rg_impact_law rg_impact_law_energetic;
extern const rg_impact_law rg_impact_law_reflection;
extern const rg_impact_law rg_impact_law_dissipative;

/* --- state (step_impact_state.c) -------------------------------------------------------------- */

typedef struct rg_impact_reduction rg_impact_reduction;
/* The problem without its free joints; everything in the context's arena. */
rg_status rg_impact_reduce(rg_solve_context *context, const rg_impact_problem *problem,
                           rg_impact_info *info, rg_impact_state *state,
                           rg_impact_reduction **reduction, rg_error *error);
/* All impulses, joints included, of the state's. */
rg_status rg_impact_restore(const rg_impact_reduction *reduction, const rg_impact_state *state,
                            double *impulse, rg_error *error);
/* Velocities before, of all rows. */
const double *rg_impact_before(const rg_impact_reduction *reduction);

static inline double *rg_impact_row(const rg_impact_state *state, size_t row) {
    return state->w + row * state->rows;
}
/* The row of a contact's normal. */
static inline size_t rg_impact_normal(const rg_impact_state *state, size_t contact) {
    return contact * (size_t)state->d;
}
/* change = W impulse */
void rg_impact_change(const rg_impact_state *state, const double *impulse, double *change);
/* Adds impulses (rows) to the state: velocities, impulses, work. */
rg_status rg_impact_apply(rg_impact_state *state, const double *impulse, rg_error *error);
/* The same for one contact's d impulses, with the normal work that was done on the way. */
void rg_impact_apply_one(rg_impact_state *state, size_t contact, const double *impulse,
                         double normal_work);
/* Fastest approach: the largest -u_N (0 if nothing approaches). */
double rg_impact_fastest(const rg_impact_state *state);
/* Does anything approach faster than `still`, or a bounded joint row move that could be held? */
bool rg_impact_goes_on(const rg_impact_state *state);

/* One complementarity problem over some contacts and all bounded joints. */
typedef struct rg_impact_part {
    const uint32_t *list; /* contacts */
    size_t count;
    const double *from;      /* velocities of all rows; null: those of the state */
    const double *shift;     /* per listed contact, added to its normal velocity; null: 0 */
    bool friction;           /* false: normals alone */
    const double *reference; /* per listed contact: normal impulse that bounds friction (Loetstedt);
                                null: Coulomb's law */
} rg_impact_part;
/* `impulse`: rows, zero but for the part; always inside the cone. Notes solves and residuals in the
 * info; a problem that was not solved makes the outcome UNSOLVED. */
rg_status rg_impact_solve(rg_impact_state *state, const rg_impact_part *part, double *impulse,
                          rg_error *error);

/* E(r) = r.u + 1/2 r.W r from the state's velocities. */
rg_status rg_impact_energy(const rg_impact_state *state, const double *impulse, double *energy,
                           rg_error *error);
/* total := base + s (total - base) with the largest s in [0, 1] that makes no energy. `base` must
 * make none. */
rg_status rg_impact_limit_energy(rg_impact_state *state, const double *base, double *total,
                                 rg_error *error);
/* Says so, once. */
void rg_impact_note(rg_impact_state *state, rg_impact_outcome outcome, const char *format, ...)
    RG_PRINTF_LIKE(3, 4);

/* --- rounds that laws share ------------------------------------------------------------------- */

/* One round of Newton's law over the listed contacts that do not separate
 * (step_impact_simultaneous.c). */
rg_status rg_impact_newton_round(rg_impact_state *state, const uint32_t *list, size_t count,
                                 bool friction, rg_error *error);
rg_status rg_impact_newton_rounds(rg_impact_state *state, bool friction, rg_error *error);
/* Compression and expansion over the listed contacts (step_impact_poisson.c): expansion gives back
 * e of the impulse or e^2 of the work. */
rg_status rg_impact_expand_round(rg_impact_state *state, const uint32_t *list, size_t count,
                                 bool energetic, rg_error *error);
/* The normal impulses of the listed contacts shared as evenly as the motion allows: the least sum
 * of squares with the same velocities (step_impact_share.c). `impulse`: rows, in and out. */
rg_status rg_impact_share(const rg_impact_state *state, const uint32_t *list, size_t count,
                          double *impulse, rg_error *error);
/* Friction bounded by the normal impulses, after the normals are done without it: as much loss as
 * it can make, at the velocities that the normals were to leave with
 * (step_impact_dissipative.c). */
rg_status rg_impact_brake(rg_impact_state *state, rg_error *error);
/* Everything that approaches is stopped, without restitution. */
rg_status rg_impact_stop_all(rg_impact_state *state, rg_error *error);
/* W and velocity of one contact as 3 x 3 and 3, padded with zeros. */
void rg_impact_one(const rg_impact_state *state, size_t contact, double w[9], double u[3]);

/* --- the frame around a law ------------------------------------------------------------------- */

typedef struct rg_impact_session {
    rg_solve_context *context;
    rg_arena_mark mark;
    rg_impact_info own;
    rg_impact_info *info;
    rg_impact_state state;
    rg_impact_reduction *reduction;
} rg_impact_session;
/* Checks and reduces. `info` may be null. The end must be called whatever the beginning returned.
 */
rg_status rg_impact_begin(rg_impact_session *session, rg_solve_context *context,
                          const rg_impact_problem *problem, rg_impact_info *info, rg_error *error);
/* Impulses, velocities and the account, of the state as it is. */
rg_status rg_impact_finish(rg_impact_session *session, const rg_impact_problem *problem,
                           double *impulse, double *velocity, rg_error *error);
void rg_impact_end(rg_impact_session *session);

/* Pair by pair (step_impact_propagation.c): `order` gives the next, by the largest positive value;
 * contacts that tie go together, as one round of the law with friction or with work. */
typedef struct rg_impact_sequence {
    double (*order)(const rg_impact_state *state, size_t contact);
    rg_status (*round)(rg_impact_state *state, const uint32_t *list, size_t count, bool full,
                       rg_error *error);
} rg_impact_sequence;
rg_status rg_impact_run_sequence(rg_impact_state *state, const rg_impact_sequence *sequence,
                                 rg_error *error);

#endif
