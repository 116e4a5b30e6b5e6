/* The judge of contacts at an instant and over the time between two: the laws of contact,
 * recomputed from poses, velocities, accelerations without contacts, and forces, whatever method
 * found them.
 *
 * Laws. Forces are added up body by body (Newton and Euler, with the inertia tensor as the user
 * gave it, in the origin frame) instead of contact by contact in a matrix. With u' the acceleration
 * of A's material against B's at the contact, w the inverse mass that its normal feels, s the
 * problem's scale of acceleration:
 *
 *   normal   f_N >= 0, a_N = n.u' + n'.u >= 0, one of them 0:  |min(w f_N, a_N)| / s
 *   slip     friction is mu_d f_N against it:                  w |f_T + mu_d f_N t| / s
 *   stick    acceleration only against all possible friction:  min(|a_T|, w |f_T + mu f_N t|) / s,
 *            t = a_T / |a_T|; of points that slip slowly, and at the end of a time, only:
 *            with all possible friction:                       min(w (mu f_N - |f_T|), |a_T|) / s,
 *            and not along it:                                 min(w |f_T|, a_T.f_T / |f_T|) / s
 *   cone     friction beyond mu f_N, or normal force below 0:  w (|f_T| - mu f_N) / s
 *
 * Points that slip slower than the method can tell a direction of (`slow`) may stick or slip, and
 * if they slip only the amount of friction counts, and that it drives nothing; so it is for those
 * that do not move at the end of a time over which friction kept its direction: they may just have
 * stopped.
 *
 * Work. Between two instants the power of friction (f_T.u), of normal forces (f_N n.u: only as far
 * as the constraint drifts) and of prescribed motion is integrated by Lobatto's formulas on the
 * path that was taken. At an impact it is 1/2 r.(u- + u+), exactly.
 * Tested by tests/step/test_judge.c. */
#include "step/step_judge.h"

#include <string.h>

static double worse(double a, double b) {
    return b > a || isnan(a) ? (isnan(b) ? INFINITY : b) : a;
}

rg_mat3 rg_judge_inverse(const rg_mat3 *a) {
    rg_vec3 r0 = {a->m[0][0], a->m[0][1], a->m[0][2]}, r1 = {a->m[1][0], a->m[1][1], a->m[1][2]},
            r2 = {a->m[2][0], a->m[2][1], a->m[2][2]};
    rg_vec3 c0 = rg_cross(r1, r2), c1 = rg_cross(r2, r0), c2 = rg_cross(r0, r1);
    double s = 1 / rg_dot(r0, c0);
    return (rg_mat3){{{s * c0.x, s * c1.x, s * c2.x},
                      {s * c0.y, s * c1.y, s * c2.y},
                      {s * c0.z, s * c1.z, s * c2.z}}};
}

static bool is_dynamic(const rg_judge_instant *now, size_t i) {
    return now->content->record[i].motion == RG_MOTION_DYNAMIC;
}

/* I^-1 in world axes, of the inertia tensor as the user gave it. */
static rg_mat3 inverse_inertia(const rg_judge_instant *now, size_t i) {
    const rg_body_record *record = &now->content->record[i];
    if (now->content->planar)
        return rg_mat3_diagonal((rg_vec3){0, 1 / record->mass.inertia.m[1][1], 0});
    rg_mat3 inverse = rg_judge_inverse(&record->mass.inertia);
    rg_quat centre = record->local_centre.orientation;
    rg_mat3 turn = rg_mat3_of_quat(rg_quat_multiply(
        now->orientation[i], (rg_quat){-centre.x, -centre.y, -centre.z, centre.w}));
    return rg_mat3_conjugate(&turn, &inverse);
}

/* Of all bodies in contact. */
static void invert_inertias(const rg_judge_instant *now) {
    for (size_t k = 0; k < now->count; k++) {
        const rg_judge_contact *c = &now->contacts[k];
        bool again = k && c->body_a == c[-1].body_a && c->body_b == c[-1].body_b;
        for (int side = 0; side < 2 && !again; side++) {
            uint32_t i = side ? c->body_b : c->body_a;
            if (is_dynamic(now, i))
                now->inverse[i] = inverse_inertia(now, i);
        }
    }
}

static rg_vec3 turned(const rg_judge_instant *now, size_t i, rg_vec3 torque) {
    return rg_mat3_apply(&now->inverse[i], torque);
}

static rg_vec3 at_point(rg_vec3 linear, rg_vec3 angular, rg_vec3 arm) {
    return rg_add(linear, rg_cross(angular, arm));
}

/* Velocity of A's material against B's at the contact. */
static rg_vec3 velocity_at(const rg_judge_instant *now, const rg_judge_contact *c) {
    uint32_t a = c->body_a, b = c->body_b;
    return rg_sub(
        at_point(now->velocity[a], now->angular_velocity[a], rg_sub(c->point, now->position[a])),
        at_point(now->velocity[b], now->angular_velocity[b], rg_sub(c->point, now->position[b])));
}

/* The inverse mass that a force along e feels at the contact. */
static double inverse_mass_at(const rg_judge_instant *now, const rg_judge_contact *c, rg_vec3 e) {
    double sum = 0;
    for (int side = 0; side < 2; side++) {
        uint32_t i = side ? c->body_b : c->body_a;
        if (!is_dynamic(now, i))
            continue;
        rg_vec3 moment = rg_cross(rg_sub(c->point, now->position[i]), e);
        sum += 1 / now->content->record[i].mass.mass + rg_dot(moment, turned(now, i, moment));
    }
    return sum;
}

/* What contacts give each of their bodies: accelerations of forces, or changes of velocity of
 * impulses, in now->linear and now->angular. */
static void add_up_joints(const rg_judge_instant *now) {
    for (size_t k = 0; k < now->joint_count; k++)
        for (int side = 0; side < 2; side++) {
            const rg_judge_joint *j = &now->joints[k];
            uint32_t i = side ? j->body_b : j->body_a;
            if (i == UINT32_MAX || !is_dynamic(now, i))
                continue;
            double sign = side ? 1 : -1, mass = now->content->record[i].mass.mass;
            rg_vec3 arm = rg_sub(j->point, now->position[i]);
            for (int part = 0; part < RG_JUDGE_JOINT_PARTS; part++) {
                rg_vec3 moment = rg_add(j->angular[part], rg_cross(arm, j->linear[part]));
                now->linear[i] = rg_add_scaled(now->linear[i], sign / mass, j->linear[part]);
                now->angular[i] = rg_add_scaled(now->angular[i], sign, turned(now, i, moment));
            }
        }
}

/* Of bodies of joints, which may have no contacts. */
static void begin_joints(const rg_judge_instant *now) {
    for (size_t k = 0; k < 2 * now->joint_count; k++) {
        uint32_t i = k % 2 ? now->joints[k / 2].body_b : now->joints[k / 2].body_a;
        if (i == UINT32_MAX)
            continue;
        now->linear[i] = now->angular[i] = (rg_vec3){0, 0, 0};
        if (is_dynamic(now, i))
            now->inverse[i] = inverse_inertia(now, i);
    }
}

static void add_up(const rg_judge_instant *now) {
    for (size_t k = 0; k < now->count; k++)
        for (int side = 0; side < 2; side++) {
            uint32_t i = side ? now->contacts[k].body_b : now->contacts[k].body_a;
            now->linear[i] = now->angular[i] = (rg_vec3){0, 0, 0};
        }
    for (size_t k = 0; k < now->count; k++) {
        const rg_judge_contact *c = &now->contacts[k];
        for (int side = 0; side < 2; side++) {
            uint32_t i = side ? c->body_b : c->body_a;
            if (!is_dynamic(now, i))
                continue;
            rg_vec3 f = side ? rg_neg(c->force) : c->force;
            rg_vec3 moment = rg_cross(rg_sub(c->point, now->position[i]), f);
            double mass = now->content->record[i].mass.mass;
            now->linear[i] = rg_add_scaled(now->linear[i], 1 / mass, f);
            now->angular[i] = rg_add(now->angular[i], turned(now, i, moment));
        }
    }
}

static rg_vec3 along_surface(rg_vec3 v, rg_vec3 n) {
    return rg_add_scaled(v, -rg_dot(v, n), n);
}

/* --- laws ------------------------------------------------------------------------------------- */

static rg_vec3 acceleration_at(const rg_judge_instant *now, const rg_judge_contact *c) {
    rg_vec3 sides[2];
    for (int side = 0; side < 2; side++) {
        uint32_t i = side ? c->body_b : c->body_a;
        rg_vec3 arm = rg_sub(c->point, now->position[i]);
        sides[side] = at_point(rg_add(now->acceleration[i], now->linear[i]),
                               rg_add(now->angular_acceleration[i], now->angular[i]), arm);
    }
    return rg_add(rg_sub(sides[0], sides[1]), c->drift);
}

/* Friction of a point that does not slip (`still`), or hardly. It does not begin to, or friction is
 * all that it can be and acts against the way it will go; against the way that it hardly goes it
 * may act, too. All in the unit of accelerations. */
static double stick_error(double limit, bool still, rg_vec3 friction, rg_vec3 acceleration) {
    double size = rg_length(acceleration), grip = rg_length(friction);
    if (still && size > 0)
        return fmin(size, rg_length(rg_add_scaled(friction, limit / size, acceleration)));
    double along = grip > 0 ? rg_dot(acceleration, friction) / grip : 0;
    return fmax(fmin(fmax(0, limit - grip), size), fmin(grip, along));
}

static double friction_error(const rg_judge_contact *c, bool stops, double w, rg_vec3 u,
                             rg_vec3 rate) {
    rg_vec3 n = c->normal, slip = along_surface(u, n);
    double normal = w * fmax(0, rg_dot(c->force, n)), speed = rg_length(slip);
    rg_vec3 friction = rg_scale(w, along_surface(c->force, n));
    double grip = rg_length(friction), error = INFINITY;
    if (speed > 0) {
        rg_vec3 law = rg_scale(-c->law.friction * normal / speed, slip);
        double known = c->law.friction * normal * fmin(1, c->slow / speed);
        error = fmax(0, rg_length(rg_sub(friction, law)) - known);
    }
    if (speed <= c->slow) {
        rg_vec3 a = along_surface(rate, n);
        bool still = speed <= c->none && !stops;
        error = fmin(error, stick_error(c->law.static_friction * normal, still, friction, a));
        error = fmin(error, stick_error(c->law.friction * normal, still, friction, a));
        if ((stops || speed > c->none) && rg_dot(friction, slip) <= c->none * grip)
            error = fmin(error, fabs(grip - c->law.friction * normal));
    }
    return error;
}

/* Friction cone and sign of the normal force. */
static double cone_error(const rg_judge_contact *c, double w, double widest) {
    double normal = rg_dot(c->force, c->normal);
    double grip = rg_length(along_surface(c->force, c->normal));
    return w * fmax(fmax(0, -normal), grip - widest * c->law.static_friction * fmax(0, normal));
}

static void judge_accelerations(const rg_judge_instant *now, const rg_judge_contact *c, double w,
                                rg_judge_findings *found) {
    rg_vec3 u = velocity_at(now, c), rate = acceleration_at(now, c);
    double normal = w * rg_dot(c->force, c->normal);
    double a = rg_dot(c->normal, rate) + rg_dot(c->normal_rate, along_surface(u, c->normal));
    double error = fabs(fmin(normal, a));
    if (now->widest == 1 || rg_length(along_surface(u, c->normal)) > c->slow)
        error = fmax(error, friction_error(c, now->stops, w, u, rate));
    found->complementarity = worse(found->complementarity, error / now->scale);
}

void rg_judge_laws(const rg_judge_instant *now, rg_judge_findings *found) {
    invert_inertias(now);
    if (now->acceleration)
        add_up(now);
    for (size_t k = 0; k < now->count; k++) {
        const rg_judge_contact *c = &now->contacts[k];
        double w = inverse_mass_at(now, c, c->normal);
        if (!(w > 0))
            continue;
        found->cone = worse(found->cone, cone_error(c, w, now->widest) / now->scale);
        if (now->acceleration)
            judge_accelerations(now, c, w, found);
    }
}

/* --- work ------------------------------------------------------------------------------------- */

/* Work that goes in where something moves as prescribed: what it gives times how it moves. */
static double prescribed_part(const rg_judge_instant *now, const rg_judge_contact *c) {
    double sum = 0;
    for (int side = 0; side < 2; side++) {
        uint32_t i = side ? c->body_b : c->body_a;
        if (is_dynamic(now, i))
            continue;
        rg_vec3 v = at_point(now->velocity[i], now->angular_velocity[i],
                             rg_sub(c->point, now->position[i]));
        sum += rg_dot(side ? c->force : rg_neg(c->force), v);
    }
    return sum;
}

rg_judge_power rg_judge_power_of(const rg_judge_instant *now) {
    rg_judge_power sum = {0};
    for (size_t k = 0; k < now->count; k++) {
        const rg_judge_contact *c = &now->contacts[k];
        rg_vec3 u = velocity_at(now, c);
        double normal = rg_dot(c->force, c->normal) * rg_dot(u, c->normal);
        double friction = rg_dot(c->force, along_surface(u, c->normal));
        sum.friction += friction;
        sum.normal += normal;
        sum.prescribed += prescribed_part(now, c);
        sum.size += fabs(friction) + fabs(normal) + fabs(prescribed_part(now, c));
    }
    rg_judge_joint_power(now, 0, &sum);
    return sum;
}

/* Nodes on [0, 1] and weights of Lobatto's formulas with one and three points between the ends. */
const double rg_judge_node[RG_JUDGE_RULES][RG_JUDGE_INSIDE] = {
    {0.5}, {0.17267316464601142, 0.5, 0.82732683535398858}};
static const double weight[RG_JUDGE_RULES][2 + RG_JUDGE_INSIDE] = {
    {1.0 / 6, 2.0 / 3, 1.0 / 6}, {0.05, 49.0 / 180, 16.0 / 45, 49.0 / 180, 0.05}};

void rg_judge_span(const rg_judge_power *power, int rule, double length, rg_judge_findings *found) {
    int count = rule < 0 ? 2 : rule == 0 ? 3 : 5;
    for (int i = 0; i < count; i++) {
        double w = length * (rule < 0 ? 0.5 : weight[rule][i]);
        found->friction += w * power[i].friction;
        found->stabilisation += w * power[i].normal;
        found->prescribed += w * power[i].prescribed;
        found->drive += w * power[i].drive;
    }
}

void rg_judge_impact(const rg_judge_instant *now, rg_judge_findings *found) {
    invert_inertias(now);
    begin_joints(now);
    add_up(now);
    add_up_joints(now);
    rg_judge_power joints = {0};
    rg_judge_joint_power(now, 0.5, &joints);
    found->impact += joints.normal;
    found->friction += joints.friction;
    found->drive += joints.drive;
    found->prescribed += joints.prescribed;
    double fastest = 0;
    for (size_t k = 0; k < now->count; k++)
        fastest = fmax(fastest, rg_length(velocity_at(now, &now->contacts[k])));
    for (size_t k = 0; k < now->count; k++) {
        const rg_judge_contact *c = &now->contacts[k];
        rg_vec3 change = {0, 0, 0};
        for (int side = 0; side < 2; side++) {
            uint32_t i = side ? c->body_b : c->body_a;
            rg_vec3 gained =
                at_point(now->linear[i], now->angular[i], rg_sub(c->point, now->position[i]));
            change = side ? rg_sub(change, gained) : rg_add(change, gained);
        }
        rg_vec3 mean = rg_add_scaled(velocity_at(now, c), 0.5, change);
        double normal = rg_dot(c->force, c->normal) * rg_dot(mean, c->normal);
        found->impact += normal;
        found->friction += rg_dot(c->force, along_surface(mean, c->normal));
        found->prescribed += prescribed_part(now, c);
        double w = inverse_mass_at(now, c, c->normal);
        if (w > 0 && fastest > 0)
            found->cone = worse(found->cone, cone_error(c, w, now->widest) / fastest);
    }
}

rg_judge_findings rg_judge_findings_none(void) {
    return (rg_judge_findings){.complementarity = NAN, .cone = NAN};
}

void rg_judge_findings_add(rg_judge_findings *sum, const rg_judge_findings *more) {
    if (!isnan(more->complementarity))
        sum->complementarity = worse(sum->complementarity, more->complementarity);
    if (!isnan(more->cone))
        sum->cone = worse(sum->cone, more->cone);
    sum->friction += more->friction;
    sum->impact += more->impact;
    sum->stabilisation += more->stabilisation;
    sum->prescribed += more->prescribed;
    sum->drive += more->drive;
}
