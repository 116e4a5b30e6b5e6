/* Rolling and torsional friction. At a contact with normal impulse N and relative angular velocity
 * w = w_A - w_B, split into its parts w_R in the tangent plane and w_S about the normal, there act
 * angular impulses
 *
 *     |t_R| <= a N,  t_R = -a N w_R / |w_R| where w_R is not 0,
 *     |t_S| <= b N,  t_S = -b N sign(w_S)   where w_S is not 0
 *
 * with coefficients a and b in metres (V. Acary, F. Bourrier, "Coulomb friction with rolling
 * resistance as a cone complementarity problem", Eur. J. Mech. A 85, 2021, section 2). Rows are
 * L d.(w_A - w_B) with a length L of the bodies, so that impulses are in N s and velocities in m/s
 * like those of contacts.
 *
 * In the problem they are rows with bounds. The bounds are those of the normal impulses of the
 * answer itself: it is solved again with them until they agree, which is at once where normal
 * impulses do not depend on rolling, and otherwise as quickly as a / L is small. The disc |t_R| <=
 * a N is a square that touches it where the answer is: its first axis is that of z = t_R - w_R / m,
 * m the mobility about the contact point, so that the law t_R = P(z), P the projection on the disc,
 * is the answer of the square once the axis stays.
 *
 * Tested by tests/step/test_rolling.c. */
#include "step/step_rolling.h"

#include "base/base_text.h"
#include "base/base_trig.h"
#include "shape/shape.h"

#include <string.h>

/* Share of the turn of a square by which its angle must have fallen for the secant to be taken. */
#define SLOPE_LEAST 0.05
/* Of a relative spin: a smaller part across the normal is rounding and has no direction. */
#define SPIN_LEAST 1e-9

bool rg_rolling_refused(const rg_world *world, const char *method, rg_error *error) {
    const rg_world_content *c = &world->content;
    bool twists = false, runs = false;
    for (size_t i = 0; i < c->material_count + c->pair_count; i++) {
        const rg_contact_law *law =
            i < c->material_count ? &c->materials[i].law : &c->pairs[i - c->material_count].law;
        twists = twists || law->rolling_friction > 0 || law->torsional_friction > 0;
    }
    for (size_t i = 0; i < c->colliders.count; i++)
        runs = runs || rg_largest_entry(c->collider[i].surface_velocity) > 0;
    if (!twists && !runs)
        return false;
    rg_fail(error, RG_UNSUPPORTED, "the method %s does not support %s; use the method stepping",
            method, twists ? "rolling and torsional friction" : "surfaces that run (belts)");
    return true;
}

/* --- rows ------------------------------------------------------------------------------------- */

static size_t rows_of(const rg_row_set *set, size_t i) {
    const rg_contact_row *row = &set->rows[i];
    bool planar = set->dimension == 2;
    if (!row->moves_a && !row->moves_b)
        return 0;
    return (row->law.rolling_friction > 0 ? planar ? 1 : 2 : 0) +
           (row->law.torsional_friction > 0 && !planar ? 1 : 0);
}

static double size_of(const rg_contact_job *job, const rg_contact_row *row) {
    const rg_world_content *c = &job->world->content;
    const rg_touch *touch = &job->view.touches[row->touch];
    const rg_collider_id id[2] = {touch->collider_a, touch->collider_b};
    double least = INFINITY;
    for (int k = 0; k < 2; k++)
        least =
            fmin(least, rg_shape_circumradius(
                            c->collider[rg_handle_index(&c->colliders, RG_HANDLE(id[k]))].shape));
    return least;
}

/* rad/s of a body that forces do not move, at the end of the step. */
static rg_vec3 prescribed_spin(const rg_contact_job *job, uint32_t body) {
    const rg_world_content *c = &job->world->content;
    if (!c->record[body].prescription1)
        return (rg_vec3){0, 0, 0};
    return job->contacts->rows == RG_ROWS_IN_IMPACT
               ? c->angular_velocity[body]
               : rg_prescription_evaluate(c, body, job->contacts->end_time).angular_velocity;
}

static void add_row(rg_contact_job *job, size_t i, rg_twist_kind kind, rg_vec3 direction) {
    const rg_world_content *c = &job->world->content;
    rg_contact_step *contacts = job->contacts;
    const rg_contact_row *contact = &contacts->set.rows[i];
    double length = size_of(job, contact);
    rg_joint_row row = {.joint = RG_NO_JOINT,
                        .twist = (uint8_t)kind,
                        .contact = (uint32_t)i,
                        .body = {contact->body_b, contact->body_a},
                        .moves = {contact->moves_b, contact->moves_a},
                        .point = contact->position};
    row.along = (rg_joint_direction){.direction = rg_scale(length, direction), .turns = true};
    for (int side = 0; side < 2; side++)
        if (!row.moves[side])
            row.surface +=
                (side ? 1 : -1) * rg_dot(row.along.direction, prescribed_spin(job, row.body[side]));
    row.shift = row.surface;
    rg_body_places now = {c->position, c->orientation};
    rg_joint_row *made = rg_joint_set_add(c, &contacts->joints, &row, &row.along, now);
    size_t k = contacts->joints.count - 1;
    made->before = made->surface + rg_joint_velocity(&contacts->joints, k, c->planar, c->velocity,
                                                     c->angular_velocity);
    if (job->start[i])
        contacts->joints.impulse[k] =
            contacts->step * rg_dot(job->start[i]->torque, direction) / length;
}

/* Across the normal, along the rolling that there would be without contact forces. */
static rg_vec3 first_direction(const rg_contact_job *job, const rg_contact_row *row) {
    rg_vec3 spin = {0, 0, 0};
    for (int side = 0; side < 2; side++) {
        uint32_t body = side ? row->body_b : row->body_a;
        bool moves = side ? row->moves_b : row->moves_a;
        rg_vec3 w = moves ? job->contacts->free_angular_velocity[body] : prescribed_spin(job, body);
        rg_vec3 v = moves ? job->contacts->free_velocity[body] : (rg_vec3){0, 0, 0};
        /* A body that slides now will roll, about normal x velocity. */
        double arm = rg_length(rg_sub(row->position, job->world->content.position[body]));
        if (moves && arm > 0)
            w = rg_add_scaled(w, (side ? -1 : 1) / arm, rg_cross(row->normal, v));
        spin = rg_add_scaled(spin, side ? -1 : 1, w);
    }
    rg_vec3 across = rg_add_scaled(spin, -rg_dot(spin, row->normal), row->normal);
    double length = rg_length(across);
    return length > SPIN_LEAST * rg_length(spin) ? rg_scale(1 / length, across) : row->tangent1;
}

static void add_contact(rg_contact_job *job, size_t i) {
    const rg_contact_row *row = &job->contacts->set.rows[i];
    if (job->contacts->set.dimension == 2) {
        if (row->law.rolling_friction > 0)
            add_row(job, i, RG_TWIST_ROLLING, (rg_vec3){0, 1, 0});
        return;
    }
    if (row->law.rolling_friction > 0) {
        rg_vec3 first = first_direction(job, row);
        add_row(job, i, RG_TWIST_ROLLING, first);
        add_row(job, i, RG_TWIST_ROLLING, rg_cross(row->normal, first));
    }
    if (row->law.torsional_friction > 0)
        add_row(job, i, RG_TWIST_TORSION, row->normal);
}

rg_status rg_rolling_rows(rg_contact_job *job, rg_arena *arena) {
    rg_contact_step *contacts = job->contacts;
    rg_joint_set old = contacts->joints;
    size_t more = 0;
    for (size_t i = 0; contacts->set.twists && i < contacts->set.count; i++)
        more += rows_of(&contacts->set, i);
    contacts->twists = more;
    if (more == 0)
        return RG_OK;
    rg_status status =
        rg_joint_set_make(&job->world->content, old.count + more, arena, &contacts->joints);
    if (status)
        return status;
    rg_joint_set *set = &contacts->joints;
    set->count = old.count;
    set->links = old.links, set->links_of = old.links_of;
    set->link_count = old.link_count, set->sum_count = old.sum_count;
    for (size_t k = 0; k < old.count; k++)
        set->rows[k] = old.rows[k], set->impulse[k] = old.impulse[k];
    if (old.count)
        memcpy(set->jacobian, old.jacobian,
               old.count * 2 * (size_t)set->freedom * sizeof *set->jacobian);
    for (size_t i = 0; i < contacts->set.count; i++)
        if (rows_of(&contacts->set, i))
            add_contact(job, i);
    return RG_OK;
}

/* --- in the problem of an island -------------------------------------------------------------- */

/* One law: the rows k ... k + count of an island's joints, bounded by `share` of normal impulse
 * `contact` of the island. */
typedef struct twist {
    size_t row, count, contact;
    double share;
} twist;

static uint32_t row_index(const rg_rolling *r, size_t k) {
    return r->job->contacts->islands.joints[r->island->first_joint + k];
}

/* The next one; *t is zero at the beginning. Contacts and rows are both in their order. */
static bool next(const rg_rolling *r, twist *t) {
    const rg_contact_step *contacts = r->job->contacts;
    const rg_joint_row *rows = contacts->joints.rows;
    const uint32_t *list = contacts->islands.contacts + r->island->first_contact;
    size_t k = t->row + t->count, end = r->island->joint_count;
    while (k < end && rows[row_index(r, k)].twist == RG_TWIST_NONE)
        k++;
    if (k >= end)
        return false;
    const rg_joint_row *row = &rows[row_index(r, k)];
    bool rolling = row->twist == RG_TWIST_ROLLING;
    const rg_contact_law *law = &contacts->set.rows[row->contact].law;
    t->row = k;
    t->count = rolling && contacts->set.dimension == 3 ? 2 : 1;
    while (list[t->contact] != row->contact)
        t->contact++;
    t->share = (rolling ? law->rolling_friction : law->torsional_friction) /
               rg_length(row->along.direction);
    return true;
}

bool rg_rolling_any(const rg_contact_job *job, const rg_island *island) {
    if (job->contacts->twists == 0 || island->joint_count == 0)
        return false;
    rg_rolling r = {.job = job, .island = island}; /* twists come last */
    return job->contacts->joints.rows[row_index(&r, island->joint_count - 1)].twist !=
           RG_TWIST_NONE;
}

rg_status rg_rolling_begin(const rg_contact_job *job, const rg_island *island, rg_arena *arena,
                           rg_problem *problem, rg_rolling *r) {
    size_t n = island->joint_count, per = 2 * (size_t)problem->contact.global.freedom;
    *r = (rg_rolling){.job = job,
                      .island = island,
                      .lower = rg_arena_take(arena, n, sizeof(double)),
                      .upper = rg_arena_take(arena, n, sizeof(double)),
                      .jacobian = rg_arena_take(arena, n * per, sizeof(double)),
                      .angle = rg_arena_take(arena, n, sizeof(double)),
                      .first = island->contact_count * (size_t)problem->contact.dimension};
    if (!r->lower || !r->upper || !r->jacobian || !r->angle)
        return RG_OUT_OF_MEMORY;
    memset(r->angle, 0, n * sizeof *r->angle);
    memcpy(r->lower, problem->contact.lower, n * sizeof *r->lower);
    memcpy(r->upper, problem->contact.upper, n * sizeof *r->upper);
    memcpy(r->jacobian, problem->contact.global.joint_jacobian, n * per * sizeof *r->jacobian);
    problem->contact.lower = r->lower, problem->contact.upper = r->upper;
    problem->contact.global.joint_jacobian = r->jacobian;
    return RG_OK;
}

static double limit_of(const rg_rolling *r, const twist *t, const double *force) {
    return t->share * fmax(0, force[t->contact * (size_t)r->job->contacts->set.dimension]);
}

/* 1/kg: how easily a row is turned about the contact point. */
static double mobility_about_contact(const rg_rolling *r, size_t k) {
    const rg_world_content *c = &r->job->world->content;
    const rg_joint_row *row = &r->job->contacts->joints.rows[row_index(r, k)];
    rg_vec3 d = row->along.direction;
    double sum = 0;
    for (int side = 0; side < 2; side++) {
        if (!row->moves[side])
            continue;
        uint32_t body = row->body[side];
        const rg_body_dynamics *own = &c->dynamics[body];
        rg_vec3 local = c->planar ? d : rg_rotate_back(c->orientation[body], d);
        double turns = rg_dot(local, rg_times(own->inverse_inertia, local)), length = rg_length(d);
        double arm = rg_length(rg_sub(row->point, c->position[body])) / length;
        sum += 1 / (1 / turns + own->mass * arm * arm);
    }
    return sum;
}

/* rad: from the first axis of a rolling law to that of z; 0 inside the disc. */
static double angle_off(const rg_rolling *r, const twist *t, double limit, const double *p,
                        const double *u) {
    double m = mobility_about_contact(r, t->row);
    double z[2] = {p[0] - u[0] / m, p[1] - u[1] / m};
    if (!(z[0] * z[0] + z[1] * z[1] > limit * limit) || !(limit > 0))
        return 0;
    return rg_atan2(z[0] < 0 ? -z[1] : z[1], fabs(z[0]));
}

/* How far to turn the square: by that angle, or, once it is known how much of it the turn before
 * took away, to where it would be none. */
static double next_turn(const rg_rolling *r, const twist *t, double off) {
    double *angle = &r->angle[t->row], *turned = &r->angle[t->row + 1];
    double slope = *turned != 0 ? (*angle - off) / *turned : 1;
    *angle = off;
    *turned = slope > SLOPE_LEAST ? off / fmin(slope, 1) : off;
    return *turned;
}

static void turn(const rg_rolling *r, const twist *t, double limit, double *force,
                 const double *velocity) {
    const rg_world_content *c = &r->job->world->content;
    rg_joint_set *set = &r->job->contacts->joints;
    size_t per = 2 * (size_t)set->freedom;
    double *p = force + r->first + t->row, p0 = p[0], sine, cosine;
    double off = angle_off(r, t, limit, p, velocity + r->first + t->row);
    if (off == 0)
        return;
    rg_sin_cos(next_turn(r, t, off), &sine, &cosine);
    uint32_t i = row_index(r, t->row), j = row_index(r, t->row + 1);
    rg_vec3 e1 = set->rows[i].along.direction, e2 = set->rows[j].along.direction;
    rg_joint_set_turn(c, set, i, rg_add_scaled(rg_scale(cosine, e1), sine, e2));
    rg_joint_set_turn(c, set, j, rg_add_scaled(rg_scale(cosine, e2), -sine, e1));
    p[0] = cosine * p0 + sine * p[1];
    p[1] = cosine * p[1] - sine * p0;
    memcpy(r->jacobian + t->row * per, rg_joint_jacobian(set, i, 0), per * sizeof(double));
    memcpy(r->jacobian + (t->row + 1) * per, rg_joint_jacobian(set, j, 0), per * sizeof(double));
}

void rg_rolling_bound(const rg_rolling *r, double *force, const double *velocity) {
    for (twist t = {0}; next(r, &t);) {
        double limit = limit_of(r, &t, force);
        if (t.count == 2 && velocity)
            turn(r, &t, limit, force, velocity);
        for (size_t k = t.row; k < t.row + t.count; k++) {
            r->lower[k] = -limit, r->upper[k] = limit;
            force[r->first + k] = fmax(-limit, fmin(limit, force[r->first + k]));
        }
    }
}

double rg_rolling_error(const rg_rolling *r, const double *force, const double *velocity) {
    double worst = 0;
    for (twist t = {0}; next(r, &t);) {
        const double *p = force + r->first + t.row, *u = velocity + r->first + t.row;
        double limit = limit_of(r, &t, force), z[2] = {0, 0}, off = 0;
        double m = rg_joint_mobility(&r->job->world->content, &r->job->contacts->joints,
                                     row_index(r, t.row));
        for (size_t k = 0; k < t.count; k++)
            z[k] = p[k] - u[k] / m;
        double size = sqrt(z[0] * z[0] + z[1] * z[1]), share = size > limit ? limit / size : 1;
        for (size_t k = 0; k < t.count; k++)
            off += (p[k] - share * z[k]) * (p[k] - share * z[k]);
        worst = fmax(worst, m * sqrt(off));
    }
    return worst;
}

rg_vec3 rg_rolling_impulse(const rg_contact_step *contacts, size_t i) {
    const rg_joint_set *set = &contacts->joints;
    rg_vec3 sum = {0, 0, 0};
    size_t low = set->count - contacts->twists, high = set->count;
    while (low < high) { /* they are in the order of contacts */
        size_t middle = low + (high - low) / 2;
        if (set->rows[middle].contact < i)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < set->count && set->rows[low].contact == i; low++)
        sum = rg_add_scaled(sum, set->impulse[low], set->rows[low].along.direction);
    return sum;
}
