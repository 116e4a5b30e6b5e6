/* The projection that brings resting contacts back where integration let them drift from.
 *
 * Positions and velocities are projected in the mass metric, onto gap = RG_ANALYSIS_REST of the
 * shell and onto rate 0, over the rows that carry force. Redundant rows make the matrix
 * singular: its diagonal is raised by a little. Points that carry no force, and those that have
 * just begun to leave, join in where they would be pushed into each other. What projection does
 * to the energy goes into the ledger as stabilisation.
 *
 * Tested by tests/step/test_events.c. */
#include "base/base_ldlt.h"
#include "problem/problem_joints.h"
#include "problem/problem_rows.h"
#include "step/step_analytic.h"

#include <string.h>

enum { REFINEMENTS = 2 };
/* Of the speed below which slip is none: rates that are not worth a projection. */
#define STILL_ENOUGH 1e-3
/* Attempts at a projection that pushes nothing else together. */
enum { SQUEEZES_MOST = 4 };
/* Times what redundant joints give: what contacts through them do. */
#define GIVE_MORE 100.0

/* Rows that joints hold fast respond by what these give, and their rates are wrong by as much:
 * they must give way more. */
static double regular_of(const rg_analysis *a) {
    return rg_analysis_joints_give(a) ? fmax(a->law->regular, GIVE_MORE * RG_JOINT_GIVE)
                                      : a->law->regular;
}

/* Impulses along rows that change their rates by `change`. Rows may depend on each other,
 * exactly or nearly: the diagonal is raised by a little, so that impulses stay small, and what
 * that does is taken back once. */
static rg_status solve_regular(rg_analysis *a, const rg_analysis_row *rows, size_t count,
                               const double *change, double *x) {
    rg_ldlt factor = {.capacity = count,
                      .lower = rg_arena_take(a->arena, count * count, sizeof(double)),
                      .diagonal = rg_arena_take(a->arena, count, sizeof(double)),
                      .work = rg_arena_take(a->arena, 2 * count, sizeof(double)),
                      .first = rg_arena_take(a->arena, count, sizeof(uint32_t))};
    uint32_t *taken = rg_arena_take(a->arena, count, sizeof *taken);
    double *row = rg_arena_take(a->arena, count + 1, sizeof *row);
    if (!factor.lower || !factor.diagonal || !factor.work || !factor.first || !taken || !row)
        return RG_OUT_OF_MEMORY;
    size_t n = 0;
    double regular = regular_of(a);
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < n; j++)
            row[j] = rg_analysis_couple(a, &rows[i], &rows[taken[j]]);
        row[n] = rg_analysis_couple(a, &rows[i], &rows[i]) * (1 + regular);
        if (rg_ldlt_append(&factor, row, NULL) == RG_OK)
            taken[n++] = (uint32_t)i;
    }
    memset(x, 0, count * sizeof *x);
    for (int pass = 0; pass < REFINEMENTS; pass++) {
        for (size_t j = 0; j < n; j++) {
            row[j] = change[taken[j]];
            for (size_t k = 0; k < n && pass; k++)
                row[j] -= x[taken[k]] * rg_analysis_couple(a, &rows[taken[j]], &rows[taken[k]]);
        }
        rg_ldlt_solve(&factor, row);
        for (size_t j = 0; j < n; j++)
            x[taken[j]] += row[j];
    }
    return RG_OK;
}

static bool is_projected(const rg_analysis *a, size_t i, const bool *joins) {
    return (rg_analysis_carries(&a->contacts[i]) || joins[i]) && a->contacts[i].motion.regular;
}

static size_t projected_rows(rg_analysis *a, const bool *ends, const bool *joins,
                             rg_analysis_row *rows, double *change) {
    size_t count = 0;
    for (size_t i = 0; i < a->contact_count; i++) {
        const rg_analysis_contact *c = &a->contacts[i];
        if (!is_projected(a, i, joins))
            continue;
        rows[count] = rg_analysis_make_row(a, (uint32_t)i, 0, c->motion.normal);
        change[count] = -rg_analysis_rate(&a->motion, &rows[count]);
        count++;
    }
    /* Tangents after all normals, so that what is redundant is given up there first. */
    for (size_t i = 0; i < a->contact_count; i++) {
        const rg_analysis_contact *c = &a->contacts[i];
        if (!rg_analysis_carries(c) || !c->motion.regular || rg_analysis_slips(c) ||
            !(c->law.static_friction > 0) ||
            (c->slip_acceleration > RG_ANALYSIS_FREE * a->view->acceleration && !(ends && ends[i])))
            continue;
        rg_vec3 t[2];
        rg_contact_tangents(c->motion.normal, a->view->world->content.planar, &t[0], &t[1]);
        for (int k = 0; k < (a->view->world->content.planar ? 1 : 2); k++) {
            rows[count] = rg_analysis_make_row(a, (uint32_t)i, (uint32_t)k + 1, t[k]);
            change[count] = -rg_analysis_rate(&a->motion, &rows[count]);
            count++;
        }
    }
    return count;
}

/* Contacts without force that impulses x along rows would make approach join in. */
static bool any_approaches(const rg_analysis *a, const rg_analysis_row *rows, size_t count,
                           const double *x, bool *joins) {
    bool any = false;
    for (size_t i = 0; i < a->contact_count; i++) {
        const rg_analysis_contact *c = &a->contacts[i];
        if (rg_analysis_carries(c) || joins[i] || !c->motion.regular)
            continue;
        rg_analysis_row row = rg_analysis_make_row(a, (uint32_t)i, 0, c->motion.normal);
        double rate = rg_analysis_rate(&a->motion, &row);
        for (size_t k = 0; k < count; k++)
            rate += x[k] != 0 ? x[k] * rg_analysis_couple(a, &row, &rows[k]) : 0;
        if (rate < -RG_ANALYSIS_SPEED * a->view->speed)
            joins[i] = any = true;
    }
    return any;
}

/* Whether what there is to take away is far below what counts as slip: at rest it mostly is. */
static bool is_still(const rg_analysis *a, const rg_analysis_row *rows, size_t count,
                     const double *change) {
    for (size_t i = 0; i < count; i++)
        if (!(fabs(change[i]) <= STILL_ENOUGH * rg_analysis_stop(a, &a->contacts[rows[i].contact])))
            return false;
    return true;
}

static rg_status project_velocities(rg_analysis *a, const bool *ends) {
    size_t most = a->contact_count * 3;
    rg_analysis_row *rows = rg_arena_take(a->arena, most, sizeof *rows);
    double *change = rg_arena_take(a->arena, most, sizeof *change);
    double *before = rg_arena_take(a->arena, most, sizeof *before);
    double *x = rg_arena_take(a->arena, most, sizeof *x);
    if (!rows || !change || !before || !x)
        return RG_OUT_OF_MEMORY;
    bool *joins = rg_arena_take(a->arena, a->contact_count, sizeof *joins);
    if (!joins)
        return RG_OUT_OF_MEMORY;
    memset(joins, 0, a->contact_count * sizeof *joins);
    size_t count = projected_rows(a, ends, joins, rows, change);
    if (is_still(a, rows, count, change))
        return RG_OK;
    for (int round = 1;; round++) {
        rg_status status = solve_regular(a, rows, count, change, x);
        if (status)
            return status;
        if (round == SQUEEZES_MOST || !any_approaches(a, rows, count, x, joins))
            break;
        count = projected_rows(a, ends, joins, rows, change);
    }
    for (size_t i = 0; i < count; i++)
        before[i] = -change[i];
    rg_analysis_mend_velocities(a, rows, count, x, before);
    return RG_OK;
}

void rg_analysis_displace(rg_analysis *a, const rg_analysis_twist *twist) {
    const rg_world_content *c = &a->view->world->content;
    for (size_t k = 0; k < a->flight.body_count; k++) {
        uint32_t body = a->flight.body[k];
        rg_vec3 shift = twist[k].linear, turn = twist[k].angular;
        double *n = a->y + k * a->flight.width;
        a->tally.stabilisation -=
            c->dynamics[body].mass * c->dynamics[body].gravity_scale * rg_dot(c->gravity, shift);
        /* Angular momentum about the origin changes with the place. */
        rg_vec3 p = c->planar ? (rg_vec3){n[3], 0, n[4]} : (rg_vec3){n[7], n[8], n[9]};
        rg_vec3 moved = rg_cross(shift, p);
        double *outside = a->tally.outside + 3;
        outside[0] += moved.x, outside[1] += moved.y, outside[2] += moved.z;
        if (c->planar) {
            n[0] += shift.x, n[1] += shift.z, n[2] -= turn.y;
        } else {
            n[0] += shift.x, n[1] += shift.y, n[2] += shift.z;
            rg_quat q = {n[3], n[4], n[5], n[6]};
            rg_quat d = rg_quat_multiply((rg_quat){turn.x / 2, turn.y / 2, turn.z / 2, 0}, q);
            q = rg_quat_normalised((rg_quat){q.x + d.x, q.y + d.y, q.z + d.z, q.w + d.w});
            memcpy(n + 3, &q, sizeof q);
        }
    }
}

/* Moves bodies by `displacement` impulses: positions change as velocities would in a second. */
static rg_status displace(rg_analysis *a, const rg_analysis_row *rows, size_t count,
                          const double *x) {
    size_t n = a->flight.body_count;
    rg_analysis_twist *twist = rg_arena_take(a->arena, n, sizeof *twist);
    if (!twist)
        return RG_OUT_OF_MEMORY;
    memset(twist, 0, n * sizeof *twist);
    for (size_t i = 0; i < count; i++) {
        const rg_analysis_twist *response = rows[i].response;
        for (size_t k = 0; response && k < n; k++) {
            twist[k].linear = rg_add_scaled(twist[k].linear, x[i], response[k].linear);
            twist[k].angular = rg_add_scaled(twist[k].angular, x[i], response[k].angular);
        }
        if (!response)
            rg_direction_add_twist(a->view->dynamics, a->place, &rows[i], x[i], twist);
    }
    rg_analysis_displace(a, twist);
    return RG_OK;
}

/* Contacts that carry no force, and points that have just begun to leave: they may be anywhere
 * near, but must not be pushed into each other when the others are put right. */
static size_t bystanders(const rg_analysis *a) {
    return a->contact_count + a->leaving_count;
}

static rg_analysis_contact *bystander(rg_analysis *a, size_t i) {
    return i < a->contact_count ? &a->contacts[i] : &a->spare[i - a->contact_count];
}

static void follow_leaving(rg_analysis *a) {
    rg_analysis_follow(a, a->spare, a->leaving_count);
}

/* Those that the displacement has squeezed join in. */
static bool any_squeezed(rg_analysis *a, bool *joins) {
    bool any = false;
    follow_leaving(a);
    for (size_t i = 0; i < bystanders(a); i++) {
        const rg_analysis_contact *c = bystander(a, i);
        bool idle = i >= a->contact_count || !rg_analysis_carries(c);
        if (idle && !joins[i] && c->motion.regular && c->motion.gap < 0)
            joins[i] = any = true;
    }
    return any;
}

/* Rows of what is put right: active contacts to the middle of their shells, those that joined
 * out of the others. Returns whether it is worth while. */
static bool displaced_rows(rg_analysis *a, const bool *joins, rg_analysis_row *rows, double *change,
                           size_t *count) {
    bool needed = false;
    *count = 0;
    for (size_t i = 0; i < bystanders(a); i++) {
        const rg_analysis_contact *c = bystander(a, i);
        bool active = i < a->contact_count && rg_analysis_carries(c);
        if (!(active || joins[i]) || !c->motion.regular)
            continue;
        double off = (active ? RG_ANALYSIS_REST : RG_ANALYSIS_ASIDE) * c->shell - c->motion.gap;
        if (a->law->mean) /* contacts with room left are on the way to where it ends */
            off = fmax(0, off);
        needed |= fabs(off) > RG_ANALYSIS_DRIFT * c->shell;
        rows[*count] = rg_analysis_contact_row(&a->motion, c, c->motion.normal);
        rg_analysis_respond(a, &rows[*count]);
        change[(*count)++] = off;
    }
    return needed;
}

static rg_status project_positions(rg_analysis *a) {
    size_t most = bystanders(a), count;
    rg_analysis_row *rows = rg_arena_take(a->arena, most, sizeof *rows);
    double *change = rg_arena_take(a->arena, most, sizeof *change);
    double *x = rg_arena_take(a->arena, most, sizeof *x);
    bool *joins = rg_arena_take(a->arena, most, sizeof *joins);
    double *before = rg_arena_take(a->arena, a->ode.n, sizeof *before);
    if (!rows || !change || !x || !joins || !before)
        return RG_OUT_OF_MEMORY;
    memset(joins, 0, most * sizeof *joins);
    memcpy(before, a->y, a->ode.n * sizeof *before);
    rg_analysis_tally tally = a->tally;
    rg_analysis_joints_factor(a, RG_JOINTS_PLACES);
    for (int round = 0; round < SQUEEZES_MOST; round++) {
        if (round)
            follow_leaving(a);
        if (!displaced_rows(a, joins, rows, change, &count))
            return RG_OK;
        rg_status status = solve_regular(a, rows, count, change, x);
        if (status)
            return status;
        status = displace(a, rows, count, x);
        if (status)
            return status;
        rg_analysis_move_to(a);
        if (!any_squeezed(a, joins))
            return RG_OK;
        /* Again from where it was, with them. */
        memcpy(a->y, before, a->ode.n * sizeof *before);
        a->tally = tally;
        rg_analysis_move_to(a);
    }
    return RG_OK; /* the next step will find room */
}

/* Of contacts. */
static rg_status project_contacts(rg_analysis *a, const bool *ends) {
    rg_status status = project_positions(a);
    rg_analysis_joints_project_places(a);
    rg_analysis_joints_project_velocities(a);
    if (!status && !a->law->mean) { /* which are made for the velocities of their ends */
        status = project_velocities(a, ends);
        if (a->joints)
            rg_analysis_move_to(a);
        rg_analysis_joints_project_velocities(a);
    }
    return status;
}

rg_status rg_analysis_project(rg_analysis *a, const bool *ends) {
    if (a->contact_count == 0 && !a->joints)
        return RG_OK;
    rg_arena_mark mark = rg_arena_get_mark(a->arena);
    rg_analysis_move_to(a);
    rg_analysis_joints_project_places(a);
    rg_status status = RG_OK;
    if (a->contact_count)
        status = project_contacts(a, ends);
    else
        rg_analysis_joints_project_velocities(a);
    rg_arena_return(a->arena, mark);
    if (!status)
        rg_analysis_move_to(a);
    rg_analysis_joints_accept(a);
    return status;
}
