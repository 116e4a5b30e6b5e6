/* Impacts at an instant, island by island, until nothing approaches any more (Baraff 1989, section
 * 3: collision forces first, contact forces only then); impulses where no forces exist (Painleve);
 * and sequences of bounces that have an end although they are infinitely many.
 *
 * Tested by tests/step/test_instant.c and tests/step/test_events.c. */
#include "base/base_text.h"
#include "problem/problem_rows.h"
#include "step/step_analytic.h"
#include "step/step_impulse_log.h"

#include <string.h>

/* An impact that nothing can solve and that leaves more than this share of the approach is the
 * end. */
#define UNSTOPPED 0.5
/* Relative: approaches that differ by less do so by rounding. */
#define EQUALLY_FAST 1e-9
/* Bounces whose ratio of speeds is the coefficient to this, relative, are a sequence. */
#define BOUNCE_RATIO 0.01
/* Such a sequence is cut short where bounces are lower than this share of the size. */
#define BOUNCE_HEIGHT 1e-7

/* --- impacts ---------------------------------------------------------------------------------- */

/* Of an island: that of the contact that approaches fastest, its materials' or the scene's; of
 * equally fast ones, that of the first. */
static const rg_impact_law *law_of(const rg_analysis *a, const uint32_t *members, double approach) {
    while (!(-a->contacts[*members].motion.gap_rate >= approach * (1 - EQUALLY_FAST)))
        members++;
    const rg_impact_law *law = a->contacts[*members].law.impact;
    if (!law)
        law = a->view->world->content.settings.impact;
    return law ? law : rg_impact_law_find("simultaneous");
}

/* The rows of one island, normal and tangents of every contact, as an impact problem. */
typedef struct impact_rows {
    size_t contacts, rows;
    int dimension;
    rg_analysis_row *row;
    double *matrix, *rate, *mu, *restitution, *moving, *impulse;
    uint32_t *pair;
    rg_step_impulse *contact; /* for the log */
    rg_impulse_log log;
} impact_rows;

static bool take_impact(rg_analysis *a, size_t contacts, impact_rows *s) {
    *s = (impact_rows){.contacts = contacts, .dimension = a->view->world->content.planar ? 2 : 3};
    s->rows = contacts * (size_t)s->dimension;
    s->row = rg_arena_take(a->arena, s->rows, sizeof *s->row);
    s->matrix = rg_arena_take(a->arena, s->rows * s->rows, sizeof *s->matrix);
    s->rate = rg_arena_take(a->arena, s->rows, sizeof *s->rate);
    s->moving = rg_arena_take(a->arena, s->rows, sizeof *s->moving);
    s->impulse = rg_arena_take(a->arena, s->rows, sizeof *s->impulse);
    s->mu = rg_arena_take(a->arena, contacts, sizeof *s->mu);
    s->restitution = rg_arena_take(a->arena, contacts, sizeof *s->restitution);
    s->pair = rg_arena_take(a->arena, contacts, sizeof *s->pair);
    s->contact = rg_arena_take(a->arena, contacts, sizeof *s->contact);
    return s->row && s->matrix && s->rate && s->moving && s->impulse && s->mu && s->restitution &&
           s->pair && s->contact;
}

static void fill_impact(rg_analysis *a, const uint32_t *members, impact_rows *s) {
    rg_analysis_joints_factor(a, RG_JOINTS_IMPULSES);
    for (size_t k = 0; k < s->contacts; k++) {
        const rg_analysis_contact *c = &a->contacts[members[k]];
        rg_vec3 e[3] = {c->motion.normal};
        rg_contact_tangents(c->motion.normal, a->view->world->content.planar, &e[1], &e[2]);
        for (int i = 0; i < s->dimension; i++) {
            size_t j = k * (size_t)s->dimension + (size_t)i;
            s->row[j] = rg_analysis_make_row(a, members[k], (uint32_t)i, e[i]);
            s->rate[j] = rg_analysis_rate(&a->motion, &s->row[j]);
            s->moving[j] = rg_analysis_prescribed_rate(a, &s->row[j]);
        }
        s->mu[k] = c->law.friction;
        s->pair[k] = (uint32_t)k;
        for (size_t j = 0; j < k; j++) {
            const rg_analysis_contact *other = &a->contacts[members[j]];
            if (other->body_a == c->body_a && other->body_b == c->body_b)
                s->pair[k] = s->pair[j];
        }
        s->restitution[k] = c->law.restitution;
        s->contact[k] = (rg_step_impulse){.time = a->time,
                                          .body_b = rg_analysis_body_id(a, c->body_b),
                                          .body_a = rg_analysis_body_id(a, c->body_a),
                                          .position = c->motion.point,
                                          .normal = c->motion.normal,
                                          .friction = s->mu[k],
                                          .restitution = s->restitution[k]};
    }
    rg_directions_couple(a->view->dynamics, a->place, s->row, s->rows, s->matrix);
    s->log = rg_impulse_log_begin(a->view->machinery, s->contact, a->view->world->content.planar);
}

static rg_impact_problem impact_problem(impact_rows *s, double still) {
    rg_impact_problem problem = {.restitution = s->restitution,
                                 .moving = s->moving,
                                 .still = still,
                                 .pair = s->pair,
                                 .observer = rg_impulse_log_round,
                                 .observer_user = &s->log};
    problem.contact.kind = RG_PROBLEM_CONTACT;
    problem.contact.contact =
        (rg_contact_problem){.dimension = s->dimension,
                             .contacts = s->contacts,
                             .mu = s->mu,
                             .form = RG_FORM_LOCAL,
                             .w = {.rows = s->rows, .columns = s->rows, .dense = s->matrix},
                             .q = s->rate};
    return problem;
}

static void apply_impact(rg_analysis *a, const impact_rows *s, const rg_impact_info *info) {
    rg_analysis_joints_strike(a, s->row, s->rows, s->impulse);
    rg_analysis_judge_impact(a, s->row, s->rows, s->impulse);
    rg_analysis_joints_push_struck(a);
    for (size_t i = 0; i < s->rows; i++) {
        rg_analysis_push(a, a->y, &s->row[i], s->impulse[i]);
        rg_analysis_add_outside(a, &s->row[i], s->impulse[i], a->tally.outside);
    }
    a->tally.counts.solves += info->solves;
    a->tally.counts.iterations += info->iterations;
    a->tally.counts.worst_residual = fmax(a->tally.counts.worst_residual, info->residual);
    if (info->outcome == RG_IMPACT_UNSOLVED)
        a->tally.counts.failures++;
}

static rg_status collide(rg_analysis *a, const uint32_t *members, size_t count, double still,
                         const rg_impact_law *law, bool *solved, rg_error *error) {
    impact_rows s;
    if (!take_impact(a, count, &s))
        return rg_fail(error, RG_OUT_OF_MEMORY, "no memory for impacts");
    fill_impact(a, members, &s);
    rg_impact_problem problem = impact_problem(&s, still);
    rg_impact_info info;
    rg_status status =
        rg_impact_resolve(a->view->context, law, &problem, s.impulse, NULL, &info, error);
    *solved = !status && info.outcome != RG_IMPACT_UNSOLVED;
    if (!status)
        apply_impact(a, &s, &info);
    return status;
}

/* Contacts of the island of one of them; 0 without memory. */
static size_t island_of(rg_analysis *a, uint32_t contact, const uint32_t **members) {
    rg_partition islands;
    if (rg_analysis_find_islands(a, &islands))
        return 0;
    for (size_t k = 0; k < islands.count; k++)
        for (size_t i = islands.first[k]; i < islands.first[k + 1]; i++)
            if (islands.member[i] == contact) {
                *members = islands.member + islands.first[k];
                return islands.first[k + 1] - islands.first[k];
            }
    return 0;
}

bool rg_analysis_resolve_jam(rg_analysis *a, uint32_t contact) {
    if (contact >= a->contact_count)
        return false;
    rg_arena_mark mark = rg_arena_get_mark(a->arena);
    const uint32_t *members = NULL;
    size_t count = island_of(a, contact, &members);
    impact_rows s;
    bool done = false;
    rg_analysis_move_to(a);
    if (count && take_impact(a, count, &s)) {
        fill_impact(a, members, &s);
        rg_impact_problem problem = impact_problem(&s, a->contacts[contact].still);
        double normal = 0;
        rg_impact_info info;
        done = !rg_impact_along_ray(a->view->context, &problem, NULL, s.impulse, NULL, &info, NULL);
        if (!done)
            rg_impulse_log_undo(&s.log);
        if (done) {
            apply_impact(a, &s, &info);
            for (size_t k = 0; k < s.rows; k += (size_t)s.dimension)
                normal += s.impulse[k];
            rg_analysis_log(a, RG_STEP_EVENT_INCONSISTENT, &a->contacts[contact], (uint32_t)count,
                            normal);
            a->tally.impacts++;
        }
    }
    rg_arena_return(a->arena, mark);
    if (done)
        a->next_step = 0;
    return done;
}

/* --- bounces without end ---------------------------------------------------------------------- */

static rg_bounce *bounce_of(rg_analysis *a, const rg_analysis_contact *c) {
    const rg_convex_part *parts = a->view->parts;
    bool limit = c->kind != RG_TOUCH_PARTS;
    uint32_t part_b = limit ? c->part_b : parts[c->part_b].number;
    uint32_t part_a = limit ? c->part_a : parts[c->part_a].number;
    for (size_t i = 0; i < a->bounce_count; i++)
        if (a->bounces[i].part_b == part_b && a->bounces[i].part_a == part_a)
            return &a->bounces[i];
    /* The oldest gives way. */
    if (a->bounce_count == RG_ANALYSIS_BOUNCING) {
        memmove(a->bounces, a->bounces + 1, (RG_ANALYSIS_BOUNCING - 1) * sizeof *a->bounces);
        a->bounce_count--;
    }
    rg_bounce *b = &a->bounces[a->bounce_count++];
    *b = (rg_bounce){.part_b = part_b, .part_a = part_a};
    return b;
}

/* After an impact: if the speeds of leaving have shrunk by the coefficient for some bounces in a
 * row, and the flights between have, too, the rest is a geometric series: remaining time 2 v /
 * (a (1 - e)), a from the last flight. The time is taken from the first bounces that show it,
 * the highest; low ones end at once. */
static bool ends_bouncing(rg_analysis *a, const rg_analysis_contact *c) {
    double e = c->law.restitution, v = c->motion.gap_rate;
    if (!(e > 0 && e < 1) || !(v > 0))
        return false;
    rg_bounce *b = bounce_of(a, c);
    double flight = a->time - b->time;
    bool in_sequence = b->speed > 0 && flight > 0 && fabs(v / b->speed - e) <= BOUNCE_RATIO * e;
    double pull = in_sequence ? 2 * b->speed / flight : 0;
    b->count = in_sequence ? b->count + 1 : 0;
    b->time = a->time;
    b->speed = v;
    if (b->count == RG_ANALYSIS_BOUNCES)
        b->rest = a->time + 2 * v / (pull * (1 - e));
    if (b->count < RG_ANALYSIS_BOUNCES || v * v > 2 * pull * BOUNCE_HEIGHT * c->size)
        return false;
    /* The series ends when the first bounces said, but not before the last of them. */
    rg_analysis_log(a, RG_STEP_EVENT_ACCUMULATION, c, 1, fmax(b->rest, a->time));
    b->count = 0;
    b->speed = 0;
    return true;
}

/* Others are only there so that mean forces know of them. */
bool rg_analysis_touches(const rg_analysis_contact *c) {
    return c->motion.gap <= RG_ANALYSIS_NEAR * c->shell;
}

/* m/s: slower approaches are stopped without an impact. */
static double still_of(const rg_analysis *a, const rg_analysis_contact *c) {
    return a->law->mean ? fmax(c->still, a->mean_length * a->view->acceleration) : c->still;
}

static double fastest_approach(const rg_analysis *a, const uint32_t *members, size_t count,
                               double *still, const rg_analysis_contact **contact) {
    double worst = 0;
    *still = INFINITY;
    *contact = NULL;
    for (size_t k = 0; k < count; k++) {
        const rg_analysis_contact *c = &a->contacts[members[k]];
        *still = fmin(*still, still_of(a, c));
        if (-c->motion.gap_rate > still_of(a, c) && -c->motion.gap_rate > worst) {
            worst = -c->motion.gap_rate;
            *contact = c;
        }
    }
    return worst;
}

static rg_status refuse_squeeze(const rg_analysis *a, const rg_analysis_contact *c, double approach,
                                rg_error *error) {
    return rg_fail(error, RG_ITERATION_LIMIT,
                   "at t = %.9g s no impulse keeps \"%s\" and \"%s\" from approaching at %.3g m/s: "
                   "is a body squeezed between bodies that forces do not move?",
                   a->time, rg_analysis_body_name(a, c->body_b),
                   rg_analysis_body_name(a, c->body_a), approach);
}

/* What was not solved is an event, counts as a failure, and is in the certificate, with one
 * figure. */
void rg_analysis_tell_unsolved(rg_analysis *a, const rg_analysis_contact *c, size_t count,
                               double residual) {
    a->tally.counts.failures++;
    a->tally.counts.worst_residual = fmax(a->tally.counts.worst_residual, residual);
    rg_analysis_log(a, RG_STEP_EVENT_UNSOLVED, c, (uint32_t)count, residual);
}

/* The impact of an island, after which nothing approaches. `met`: per contact, whether it did. */
static rg_status resolve_island(rg_analysis *a, const uint32_t *members, size_t count, uint8_t *met,
                                rg_error *error) {
    double still; /* m/s */
    const rg_analysis_contact *worst;
    double approach = fastest_approach(a, members, count, &still, &worst);
    if (!worst)
        return RG_OK;
    rg_analysis_log(a, RG_STEP_EVENT_IMPACT, worst, (uint32_t)count, approach);
    for (size_t i = 0; i < count; i++) {
        const rg_analysis_contact *c = &a->contacts[members[i]];
        met[members[i]] = -c->motion.gap_rate > still_of(a, c);
    }
    bool solved;
    rg_arena_mark mark = rg_arena_get_mark(a->arena);
    rg_status status =
        collide(a, members, count, still, law_of(a, members, approach), &solved, error);
    rg_arena_return(a->arena, mark);
    a->tally.impacts++;
    rg_analysis_move_to(a);
    if (status)
        return status;
    double after = fastest_approach(a, members, count, &still, &worst);
    if (!solved && after > UNSTOPPED * approach)
        return refuse_squeeze(a, worst, after, error);
    if (worst)
        rg_analysis_tell_unsolved(a, worst, count, after / approach);
    return RG_OK;
}

/* Of all islands. */
rg_status rg_analysis_resolve_impacts(rg_analysis *a, rg_analysis_set before, rg_error *error) {
    rg_arena_mark mark = rg_arena_get_mark(a->arena);
    rg_partition islands;
    uint8_t *met = rg_arena_take(a->arena, a->contact_count, sizeof *met);
    if (!met || rg_analysis_find_islands(a, &islands))
        return rg_fail(error, RG_OUT_OF_MEMORY, "no memory for impacts");
    memset(met, 0, a->contact_count);
    rg_status status = RG_OK;
    for (size_t k = 0; k < islands.count && !status; k++) {
        uint32_t *members = islands.member + islands.first[k];
        size_t count = 0;
        for (size_t i = 0; i < islands.first[k + 1] - islands.first[k]; i++)
            if (rg_analysis_touches(&a->contacts[members[i]]))
                members[count++] = members[i];
        status = resolve_island(a, members, count, met, error);
    }
    /* Which sequences of bounces end here: those contacts stay, at rest. */
    for (size_t i = 0; i < a->contact_count && !status; i++) {
        rg_analysis_contact *c = &a->contacts[i];
        bool known = rg_analysis_is_among(before, c->part_b, c->part_a);
        if (!known && !met[i] && a->time > a->view->begin) /* where none of them is */
            rg_analysis_log(a, RG_STEP_EVENT_CONTACT, c, 1, -c->motion.gap_rate);
        if (met[i] && ends_bouncing(a, c))
            c->still = INFINITY;
    }
    rg_arena_return(a->arena, mark);
    return status;
}
