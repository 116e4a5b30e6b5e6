/* Collisions by impulses, with springs for what rests (Moore and Wilhelms 1988).
 *
 * A contact collides if it approaches faster than its spring is there for: with a speed that would
 * press the spring in deeper than the weight does, g sqrt(m / k). The step is cut where the first
 * such contact touches, found on the integrator's polynomial by bisection, and colliding contacts
 * get their impulses one after the other, the fastest first, each by Coulomb's law and Newton's
 * restitution at one point, until none collides any more.
 *
 * Tested by tests/step/test_penalty.c. */
#include "base/base_text.h"
#include "solve/solve_one_contact.h"
#include "step/step_penalty.h"

#include <string.h>

/* Halvings of a step in search of the first touch. */
enum { HALVINGS = 40 };
/* Impulses at one instant, for each contact. */
enum { ROUNDS = 100 };

bool rg_penalty_meets(const rg_penalty *p, const rg_penalty_look *look, size_t i) {
    const rg_contact_row *row = &look->set.rows[i];
    const rg_penalty_contact *c = &look->contacts[i];
    double resting = rg_length(p->world->content.gravity) * sqrt(c->mass / c->stiffness);
    return row->gap <= 0 && -rg_dot(row->normal, c->velocity) > resting;
}

static bool any_meets(rg_penalty *p, double time, const double *y) {
    bool any = false;
    if (rg_penalty_look_at(p, time, y, &p->now))
        for (size_t i = 0; i < p->now.set.count; i++)
            any |= rg_penalty_meets(p, &p->now, i);
    return any;
}

/* The state at a share of the step that was tried. */
static void state_at(rg_penalty *p, double theta, double *y) {
    rg_dense_evaluate(&p->trial.output, theta, y);
    rg_flight_accept(&p->flight, 0, y);
}

/* Momenta of a body of the state y with an impulse at a point, and velocities as looks see them. */
static void push(rg_penalty *p, uint32_t body, rg_vec3 point, rg_vec3 impulse, double *y) {
    rg_world_content *c = &p->world->content;
    const rg_body_dynamics *d = &c->dynamics[body];
    rg_vec3 moment = rg_cross(rg_sub(point, c->position[body]), impulse);
    double *momenta = y + p->place[body] * p->flight.width + rg_flight_momenta(&p->flight);
    const double change[6] = {impulse.x, impulse.y, impulse.z, moment.x, moment.y, moment.z};
    const double planar[3] = {impulse.x, impulse.z, -moment.y};
    for (int i = 0; i < (c->planar ? 3 : 6); i++)
        momenta[i] += c->planar ? planar[i] : change[i];
    rg_quat q = c->orientation[body];
    c->velocity[body] = rg_add_scaled(c->velocity[body], d->inverse_mass, impulse);
    c->angular_velocity[body] =
        rg_add(c->angular_velocity[body],
               rg_rotate(q, rg_times(d->inverse_inertia, rg_rotate_back(q, moment))));
}

static rg_vec3 velocity_of(const rg_world_content *c, const rg_contact_row *row, rg_vec3 point) {
    rg_vec3 a = rg_cross(c->angular_velocity[row->body_a], rg_sub(point, c->position[row->body_a]));
    rg_vec3 b = rg_cross(c->angular_velocity[row->body_b], rg_sub(point, c->position[row->body_b]));
    return rg_sub(rg_add(c->velocity[row->body_a], a), rg_add(c->velocity[row->body_b], b));
}

/* Newton's restitution and Coulomb's law at one contact, everything else held. */
static void collide_one(rg_penalty *p, size_t i, double *y) {
    rg_world_content *c = &p->world->content;
    const rg_contact_row *row = &p->now.set.rows[i];
    rg_penalty_contact *contact = &p->now.contacts[i];
    const rg_vec3 axis[3] = {row->normal, row->tangent1, row->tangent2};
    int d = c->planar ? 2 : 3;
    double w[9], q[3] = {0}, r[3] = {0};
    for (int k = 0; k < d; k++) {
        q[k] = rg_dot(axis[k], contact->velocity);
        for (int l = 0; l < d; l++)
            w[k * d + l] = rg_penalty_inverse_mass(c, row, contact->point, axis[l], axis[k]);
    }
    q[0] *= 1 + row->law.restitution;
    rg_one_contact one;
    rg_one_contact_prepare(&one, d, w, row->law.friction, 0);
    rg_one_contact_solve(&one, q, NULL, r);
    rg_vec3 impulse = {0, 0, 0};
    for (int k = 0; k < d; k++)
        impulse = rg_add_scaled(impulse, r[k], axis[k]);
    rg_penalty_judge_impulse(p, i, impulse);
    double *ledger = y + p->flight.size;
    if (row->moves_a)
        push(p, row->body_a, contact->point, impulse, y);
    if (row->moves_b)
        push(p, row->body_b, contact->point, rg_neg(impulse), y);
    if (row->moves_a != row->moves_b) {
        rg_vec3 given = row->moves_a ? impulse : rg_neg(impulse);
        rg_vec3 moment = rg_cross(contact->point, given);
        const double change[6] = {given.x, given.y, given.z, moment.x, moment.y, moment.z};
        for (int k = 0; k < 6; k++)
            ledger[k] += change[k];
    }
    p->impacts++;
}

rg_status rg_penalty_collide(rg_penalty *p, double *length, double *y) {
    const rg_dense_output *dense = &p->trial.output;
    double low = 0, high = 1;
    if (!any_meets(p, dense->begin + dense->step, y)) {
        rg_penalty_judge_span(p, *length);
        return p->status;
    }
    for (int i = 0; i < HALVINGS; i++) {
        double middle = 0.5 * (low + high);
        state_at(p, middle, y);
        if (any_meets(p, dense->begin + middle * dense->step, y))
            high = middle;
        else
            low = middle;
    }
    if (high < 1) {
        *length = high * dense->step;
        state_at(p, high, y);
    } else {
        memcpy(y, p->trial.end, p->ode.n * sizeof *y);
    }
    rg_penalty_judge_span(p, *length);
    double time = dense->begin + *length;
    rg_penalty_look_at(p, time, y, &p->now);
    for (size_t round = 0; round < ROUNDS * p->now.set.count && !p->status; round++) {
        size_t fastest = p->now.set.count;
        double most = 0;
        for (size_t i = 0; i < p->now.set.count; i++) {
            rg_penalty_contact *contact = &p->now.contacts[i];
            const rg_contact_row *row = &p->now.set.rows[i];
            contact->velocity = velocity_of(&p->world->content, row, contact->point);
            double approach = -rg_dot(row->normal, contact->velocity);
            if (rg_penalty_meets(p, &p->now, i) && approach > most)
                fastest = i, most = approach;
        }
        if (fastest == p->now.set.count)
            break;
        collide_one(p, fastest, y);
    }
    rg_penalty_judge_begin(p, time, y);
    return p->status;
}
