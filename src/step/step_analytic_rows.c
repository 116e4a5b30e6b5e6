/* How the bodies of a group and their contacts move, and rows of problem_directions.h at them.
 *
 * Tested by tests/step/test_forces.c. */
#include "step/step_analytic.h"

#include <string.h>

/* Seconds over which the velocity of a prescribed motion is differenced, where its kind has no
 * formula: relative to the step. */
#define PRESCRIBED_DIFFERENCE 1e-3

static void prescribed_acceleration(const rg_analysis *a, size_t body, double t,
                                    rg_analysis_motion *m) {
    const rg_world_content *c = &a->view->world->content;
    double d = PRESCRIBED_DIFFERENCE * (a->view->end - a->view->begin);
    rg_motion_state before = rg_prescription_evaluate(c, body, t - d);
    rg_motion_state after = rg_prescription_evaluate(c, body, t + d);
    m->acceleration[body] = rg_scale(0.5 / d, rg_sub(after.velocity, before.velocity));
    m->angular_acceleration[body] =
        rg_scale(0.5 / d, rg_sub(after.angular_velocity, before.angular_velocity));
}

double rg_analysis_point_speed(const rg_analysis *a, size_t place, const rg_vec3 *velocity,
                               const rg_vec3 *angular_velocity) {
    uint32_t body = a->flight.body[place];
    return rg_length(velocity[body]) + a->travel[place].extent * rg_length(angular_velocity[body]);
}

void rg_analysis_move(rg_analysis *a, double t, const double *y, rg_analysis_motion *m) {
    const rg_world_content *c = &a->view->world->content;
    m->time = t;
    rg_flight_motions(&a->flight, t, y, m->position, m->orientation, m->velocity,
                      m->angular_velocity);
    for (size_t k = 0; k < a->flight.body_count; k++) {
        size_t i = a->flight.body[k];
        rg_vec3 inverse = c->dynamics[i].inverse_inertia;
        if (c->planar) {
            m->inverse_inertia[i] = rg_mat3_diagonal((rg_vec3){0, inverse.y, 0});
        } else {
            rg_mat3 r = rg_mat3_of_quat(m->orientation[i]), d = rg_mat3_diagonal(inverse);
            m->inverse_inertia[i] = rg_mat3_conjugate(&r, &d);
        }
    }
    for (size_t i = 0; c->prescription_count && i < c->bodies.count; i++)
        if (c->record[i].prescription1)
            prescribed_acceleration(a, i, t, m);
}

rg_pose rg_analysis_part_pose(const rg_analysis *a, const rg_analysis_motion *m, uint32_t part) {
    const rg_convex_part *p = &a->view->parts[part];
    rg_pose body = {m->position[p->body], rg_quat_normalised(m->orientation[p->body])};
    return rg_pose_compose(body, p->local);
}

rg_rigid_motion rg_analysis_rigid(const rg_analysis *a, const rg_analysis_motion *m,
                                  uint32_t part) {
    uint32_t body = a->view->parts[part].body;
    return (rg_rigid_motion){.pose = rg_analysis_part_pose(a, m, part),
                             .centre = m->position[body],
                             .velocity = m->velocity[body],
                             .angular_velocity = m->angular_velocity[body]};
}

void rg_analysis_follow(const rg_analysis *a, rg_analysis_contact *contacts, size_t count) {
    const rg_analysis_motion *m = &a->motion;
    rg_rigid_motion b, other; /* of the pair: its points stand side by side */
    for (size_t i = 0; i < count; i++) {
        rg_analysis_contact *c = &contacts[i];
        if (c->kind != RG_TOUCH_PARTS) {
            rg_analysis_limit_follow(a, m, c);
            continue;
        }
        if (i == 0 || c->part_b != c[-1].part_b || c->part_a != c[-1].part_a) {
            b = rg_analysis_rigid(a, m, c->part_b);
            other = rg_analysis_rigid(a, m, c->part_a);
        }
        c->motion = rg_contact_follow(&c->track, &b, &other);
    }
}

rg_analysis_row rg_analysis_contact_row(const rg_analysis_motion *m, const rg_analysis_contact *c,
                                        rg_vec3 e) {
    if (c->kind == RG_TOUCH_LIMIT_OF_TURN)
        return rg_direction_about(
            m->inverse_inertia, c->body_a, c->body_b,
            rg_scale(c->size * rg_dot(e, c->motion.normal), c->motion.normal));
    return rg_direction_along(m->position, m->inverse_inertia, c->body_a, c->body_b,
                              c->motion.point, e);
}

rg_analysis_row rg_analysis_force_row(const rg_analysis *a, const rg_analysis_contact *c) {
    return rg_analysis_contact_row(&a->motion, c, rg_analysis_force_of(c));
}

rg_analysis_row rg_analysis_make_row(const rg_analysis *a, uint32_t contact, uint32_t component,
                                     rg_vec3 e) {
    rg_analysis_row row = rg_analysis_contact_row(&a->motion, &a->contacts[contact], e);
    row.contact = contact;
    row.component = component;
    rg_analysis_respond(a, &row);
    return row;
}

rg_analysis_row rg_analysis_joint_direction(const rg_analysis *a, uint32_t body_a, uint32_t body_b,
                                            rg_vec3 point, const rg_joint_direction *along) {
    const rg_analysis_motion *m = &a->motion;
    if (along->turns)
        return rg_direction_about(m->inverse_inertia, body_a, body_b, along->direction);
    return rg_direction_along(m->position, m->inverse_inertia, body_a, body_b, point,
                              along->direction);
}

double rg_analysis_couple(const rg_analysis *a, const rg_analysis_row *i,
                          const rg_analysis_row *j) {
    return rg_direction_couple(a->view->dynamics, a->place, i, j);
}

bool rg_analysis_take_cone(const rg_analysis *a, size_t contacts, rg_analysis_cone *s) {
    size_t held = rg_analysis_held_rows(a), d = a->view->world->content.planar ? 2 : 3;
    *s = (rg_analysis_cone){.contacts = contacts, .dimension = d, .count = d * contacts};
    s->rows = rg_arena_take(a->arena, s->count, sizeof *s->rows);
    s->q = rg_arena_take(a->arena, s->count + held, sizeof *s->q);
    s->mu = rg_arena_take(a->arena, contacts, sizeof *s->mu);
    s->force = rg_arena_take(a->arena, s->count + held, sizeof *s->force);
    s->rate = rg_arena_take(a->arena, s->count + held, sizeof *s->rate);
    if (!s->rows || !s->q || !s->mu || !s->force || !s->rate)
        return false;
    memset(s->q + s->count, 0, held * sizeof *s->q);
    memset(s->force + s->count, 0, held * sizeof *s->force);
    return true;
}

rg_status rg_analysis_cone_problem(const rg_analysis *a, const rg_analysis_cone *s, double scale,
                                   rg_problem *problem) {
    size_t held = rg_analysis_held_rows(a);
    rg_analysis_row *joints = rg_arena_take(a->arena, held, sizeof *joints);
    double *compliance = rg_arena_take(a->arena, held, sizeof *compliance);
    if (!joints || !compliance)
        return RG_OUT_OF_MEMORY;
    for (size_t k = 0; k < held; k++)
        joints[k] = rg_analysis_held_row(a, k, &compliance[k]);
    rg_direction_space space = {.dynamics = a->view->dynamics,
                                .position = a->motion.position,
                                .orientation = a->motion.orientation,
                                .inverse_inertia = a->motion.inverse_inertia,
                                .place = a->place,
                                .count = a->flight.body_count,
                                .planar = a->view->world->content.planar};
    rg_direction_set set = {.contacts = s->rows,
                            .joints = joints,
                            .contact_count = s->contacts,
                            .joint_count = held,
                            .compliance = compliance,
                            .q = s->q,
                            .mu = s->mu,
                            .scale = scale};
    return rg_directions_problem(&space, &set, a->arena, problem);
}

double rg_analysis_rate(const rg_analysis_motion *m, const rg_analysis_row *row) {
    return rg_direction_rate(row, m->velocity, m->angular_velocity);
}

static void push_body(const rg_analysis *a, double *y, uint32_t body, rg_vec3 impulse,
                      rg_vec3 spin) {
    if (!(a->view->dynamics[body].inverse_mass > 0))
        return;
    double *n = y + rg_analysis_place(a, body) * a->flight.width;
    if (a->view->world->content.planar) {
        n[3] += impulse.x, n[4] += impulse.z, n[5] -= spin.y;
    } else {
        n[7] += impulse.x, n[8] += impulse.y, n[9] += impulse.z;
        n[10] += spin.x, n[11] += spin.y, n[12] += spin.z;
    }
}

void rg_analysis_push(rg_analysis *a, double *y, const rg_analysis_row *row, double j) {
    push_body(a, y, row->a, rg_scale(j, row->e), rg_scale(j, row->arm_a));
    push_body(a, y, row->b, rg_scale(-j, row->e), rg_scale(-j, row->arm_b));
}

/* Of islands of contacts and joints the contacts, which come first in each. */
static void leave_out_joints(rg_partition *islands, size_t contacts) {
    uint32_t count = 0, kept = 0;
    for (uint32_t k = 0; k < islands->count; k++) {
        uint32_t begin = islands->first[k], end = islands->first[k + 1];
        if (islands->member[begin] >= contacts)
            break;
        islands->first[count++] = kept;
        for (uint32_t i = begin; i < end && islands->member[i] < contacts; i++)
            islands->member[kept++] = islands->member[i];
    }
    islands->count = count;
    islands->first[count] = kept;
}

rg_status rg_analysis_find_islands(const rg_analysis *a, rg_partition *islands) {
    if (a->islands) {
        *islands = *a->islands;
        return RG_OK;
    }
    const rg_body_dynamics *d = a->view->dynamics;
    size_t n = a->contact_count, joints = rg_analysis_joint_count(a);
    uint32_t *places = rg_arena_take(a->arena, 2 * (n + joints), sizeof *places);
    if (!places)
        return RG_OUT_OF_MEMORY;
    for (size_t i = 0; i < 2 * n; i++) {
        const rg_analysis_contact *c = &a->contacts[i / 2];
        uint32_t body = i % 2 ? c->body_b : c->body_a;
        places[i] = d[body].inverse_mass > 0 ? (uint32_t)rg_analysis_place(a, body) : RG_NO_BLOCK;
    }
    rg_analysis_joint_places(a, places + 2 * n);
    rg_status status =
        rg_partition_links(places, n + joints, a->flight.body_count, a->arena, islands);
    if (!status && joints)
        leave_out_joints(islands, n);
    return status;
}

void rg_analysis_add_outside(const rg_analysis *a, const rg_analysis_row *row, double j,
                             double *ledger) {
    const rg_body_dynamics *d = a->view->dynamics;
    bool moves_a = d[row->a].inverse_mass > 0, moves_b = d[row->b].inverse_mass > 0;
    if (moves_a == moves_b)
        return;
    double s = moves_a ? j : -j;
    rg_vec3 given = rg_scale(s, row->e),
            moment = rg_cross(a->motion.position[moves_a ? row->a : row->b], given);
    moment = rg_add_scaled(moment, s, moves_a ? row->arm_a : row->arm_b);
    ledger[0] += given.x, ledger[1] += given.y, ledger[2] += given.z;
    ledger[3] += moment.x, ledger[4] += moment.y, ledger[5] += moment.z;
}

/* e . (velocity of the material that no force moves), with the sign of the row. */
double rg_analysis_prescribed_rate(const rg_analysis *a, const rg_analysis_row *row) {
    const rg_body_dynamics *d = a->view->dynamics;
    const rg_analysis_motion *m = &a->motion;
    double rate = 0;
    if (!(d[row->a].inverse_mass > 0))
        rate +=
            rg_dot(row->e, m->velocity[row->a]) + rg_dot(row->arm_a, m->angular_velocity[row->a]);
    if (!(d[row->b].inverse_mass > 0))
        rate -=
            rg_dot(row->e, m->velocity[row->b]) + rg_dot(row->arm_b, m->angular_velocity[row->b]);
    return rate;
}

void rg_analysis_move_to(rg_analysis *a) {
    rg_analysis_move(a, a->time, a->y, &a->motion);
    rg_analysis_follow(a, a->contacts, a->contact_count);
}

/* Energy that impulses x along rows bring: 1/2 x (rate before + rate after), without the
 * outside's. */
static double work_of(rg_analysis *a, const rg_analysis_row *rows, size_t count, const double *x,
                      const double *before) {
    double work = 0;
    for (size_t i = 0; i < count; i++) {
        if (x[i] == 0)
            continue;
        double after = before[i];
        for (size_t j = 0; j < count; j++)
            after += x[j] != 0 ? x[j] * rg_analysis_couple(a, &rows[i], &rows[j]) : 0;
        work += 0.5 * x[i] * (before[i] + after);
        a->tally.prescribed -= x[i] * rg_analysis_prescribed_rate(a, &rows[i]);
    }
    return work;
}

void rg_analysis_mend_velocities(rg_analysis *a, const rg_analysis_row *rows, size_t count,
                                 const double *x, const double *before) {
    a->tally.stabilisation += work_of(a, rows, count, x, before);
    rg_analysis_joints_strike(a, rows, count, x);
    a->tally.stabilisation += rg_analysis_joints_struck_work(a);
    rg_analysis_joints_push_struck(a);
    for (size_t i = 0; i < count; i++) {
        rg_analysis_push(a, a->y, &rows[i], x[i]);
        rg_analysis_add_outside(a, &rows[i], x[i], a->tally.outside);
    }
}
