/* Groups at rest. Forces that balance everything and keep the laws of contact are contact forces,
 * however they were found: where bodies are at rest and those of the end of the last
 * step do both, nothing moves during this step, and nothing has to be solved or integrated but
 * what the ledger adds up. Without it rounding would add up to a creep.
 *
 * Tested by tests/step/test_stand.c. */
#include "step/step_analytic.h"

#include <string.h>

/* Of the normal force: friction this much more than it can be is inside its cone, by rounding. */
#define ROUNDING 1e-12
/* Shell: how far speeds that are none may bring a body in the step. */
#define STAYS 1e-3

/* Whether bodies may have no speed but what rounding leaves of forces that cancel: of the
 * largest forces of any. */
static bool has_hardly_speed(const rg_analysis *a) {
    const rg_analysis_motion *m = &a->motion;
    double rounding = RG_ANALYSIS_SPEED * a->view->acceleration * (a->view->end - a->view->begin);
    for (size_t k = 0; k < a->flight.body_count; k++)
        if (!(rg_analysis_point_speed(a, k, m->velocity, m->angular_velocity) <= rounding))
            return false;
    return true;
}

/* N, per body: the sizes of all forces on it, which rounding errors of their sum are relative
 * to. */
static void add_loads(const rg_analysis *a, double *load) {
    const rg_body_dynamics *d = a->view->dynamics;
    for (size_t k = 0; k < a->flight.body_count; k++) {
        uint32_t body = a->flight.body[k];
        load[k] = d[body].mass * rg_length(a->motion.acceleration[body]);
    }
    for (size_t i = 0; i < a->contact_count; i++)
        for (int side = 0; side < 2; side++) {
            const rg_analysis_contact *c = &a->contacts[i];
            uint32_t body = side ? c->body_b : c->body_a;
            if (d[body].inverse_mass > 0)
                load[rg_analysis_place(a, body)] += rg_length(rg_analysis_force_of(c));
        }
}

/* Whether that is so for the forces of each, and brings it nowhere. */
static bool has_no_speed(const rg_analysis *a, const double *load) {
    double length = a->view->end - a->view->begin, shell = INFINITY;
    for (size_t i = 0; i < a->contact_count; i++)
        shell = fmin(shell, a->contacts[i].shell);
    for (size_t k = 0; k < a->flight.body_count; k++) {
        double inverse = a->view->dynamics[a->flight.body[k]].inverse_mass;
        double speed =
            rg_analysis_point_speed(a, k, a->motion.velocity, a->motion.angular_velocity);
        if (!(speed <= RG_ANALYSIS_SPEED * load[k] * inverse * length) ||
            !(speed * length <= STAYS * shell))
            return false;
    }
    return true;
}

/* Whether nothing that bodies touch, or may touch, moves as prescribed, and forces stay what
 * they are. */
static bool has_steady_surroundings(const rg_analysis *a) {
    const rg_world_content *c = &a->view->world->content;
    for (size_t i = 0; i < a->mine_count; i++)
        if (c->record[a->view->parts[a->mine[i]].body].prescription1)
            return false;
    return rg_forces_are_steady(c) &&
           rg_forces_next_break(c, a->view->begin, a->view->end) == a->view->end;
}

/* Whether the forces that contacts have been given are such as contacts can have; they stick.
 * Contacts that are too deep must be projected. */
static bool are_admissible(rg_analysis *a) {
    for (size_t i = 0; i < a->contact_count; i++) {
        rg_analysis_contact *c = &a->contacts[i];
        double across = sqrt(c->force[1] * c->force[1] + c->force[2] * c->force[2]);
        rg_analysis_begin_friction(a, c, (rg_vec3){0, 0, 0});
        c->none = 0;
        double limit = rg_analysis_coefficient(c) * c->force[0];
        if (!a->law->exact_cone && !a->view->world->content.planar)
            across = fmax(fabs(c->force[1]), fabs(c->force[2]));
        double deepest = rg_analysis_carries(c) ? 0 : -RG_ANALYSIS_DRIFT * c->shell;
        if (!(c->motion.gap >= deepest) || !(c->force[0] >= 0) ||
            !(across <= limit + ROUNDING * c->force[0]))
            return false;
    }
    return true;
}

/* Whether momenta change by no more than the error of contact forces. `rate`: of the state. */
static bool is_balanced(const rg_analysis *a, const double *rate, const double *load) {
    const rg_world_content *c = &a->view->world->content;
    size_t momenta = rg_flight_momenta(&a->flight), linear = rg_flight_linear(&a->flight);
    for (size_t k = 0; k < a->flight.body_count; k++) {
        const rg_body_dynamics *d = &c->dynamics[a->flight.body[k]];
        const double *r = rate + k * a->flight.width + momenta;
        double most = RG_ANALYSIS_BALANCED * load[k];
        for (size_t i = 0; i < a->flight.width - momenta; i++)
            if (!(fabs(r[i]) <= (i < linear ? most : most * d->gyration_radius)))
                return false;
    }
    return true;
}

/* To the end of the step. */
static void stand(rg_analysis *a, const double *rate) {
    size_t momenta = rg_flight_momenta(&a->flight), width = a->flight.width;
    for (size_t k = 0; k < a->flight.body_count; k++)
        memset(a->y + k * width + momenta, 0, (width - momenta) * sizeof *a->y);
    for (size_t i = a->flight.body_count * width; i < a->ode.n; i++)
        a->y[i] += (a->view->end - a->view->begin) * rate[i];
    a->ode_info.accepted++;
    a->time = a->view->end;
}

rg_status rg_analysis_try_rest(rg_analysis *a, bool *rests, rg_error *error) {
    *rests = false;
    rg_analysis_move(a, a->time, a->y, &a->motion);
    if (a->joints || !rg_analysis_may_know(a) || !has_hardly_speed(a) ||
        !has_steady_surroundings(a))
        return RG_OK;
    rg_status status = rg_analysis_detect(a, &(rg_analysis_set){0}, error);
    if (status)
        return status;
    if (a->contact_count && are_admissible(a)) {
        rg_arena_mark mark = rg_arena_get_mark(a->arena);
        double *rate = rg_arena_take(a->arena, a->ode.n, sizeof *rate);
        double *load = rg_arena_take(a->arena, a->flight.body_count, sizeof *load);
        if (!rate || !load)
            return RG_OUT_OF_MEMORY;
        rg_analysis_keep_start(a);
        a->active = &rg_law_constant;
        rg_analysis_derivative(a, a->time, a->y, rate);
        a->active = a->law;
        a->ode_info.evaluations++;
        add_loads(a, load);
        *rests = has_no_speed(a, load) && is_balanced(a, rate, load);
        if (*rests)
            stand(a, rate);
        rg_arena_return(a->arena, mark);
    }
    if (!*rests) /* contacts are looked for once more, from nothing */
        a->contact_count = 0;
    return RG_OK;
}
