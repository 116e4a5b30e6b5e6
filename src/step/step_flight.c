/* Tested by tests/step/test_analytic.c. */
#include "step/step_flight.h"

#include <float.h>
#include <string.h>

/* Smallest rates that errors of momenta are measured against, so that a body at rest does not ask
 * for infinite accuracy: a body moves its own radius of gyration, or turns one radian, in 1e6 s. */
#define RATE_FLOOR 1e-6 /* 1/s */
/* A quaternion this far from unit length (square of the norm) is normalised; less is rounding. */
#define NORM_SLACK (4 * DBL_EPSILON)

static rg_status take_stage_arrays(rg_flight *f, size_t bodies) {
    rg_arena *scratch = &f->world->scratch;
    f->stage_position = rg_arena_take(scratch, bodies, sizeof(rg_vec3));
    f->stage_orientation = rg_arena_take(scratch, bodies, sizeof(rg_quat));
    f->stage_velocity = rg_arena_take(scratch, bodies, sizeof(rg_vec3));
    f->stage_angular_velocity = rg_arena_take(scratch, bodies, sizeof(rg_vec3));
    rg_vec3 *force = rg_arena_take(scratch, bodies, sizeof(rg_vec3));
    rg_vec3 *torque = rg_arena_take(scratch, bodies, sizeof(rg_vec3));
    if (!f->stage_position || !f->stage_orientation || !f->stage_velocity ||
        !f->stage_angular_velocity || !force || !torque)
        return RG_OUT_OF_MEMORY;
    const rg_world_content *c = &f->world->content;
    memcpy(f->stage_position, c->position, bodies * sizeof(rg_vec3));
    memcpy(f->stage_orientation, c->orientation, bodies * sizeof(rg_quat));
    memcpy(f->stage_velocity, c->velocity, bodies * sizeof(rg_vec3));
    memcpy(f->stage_angular_velocity, c->angular_velocity, bodies * sizeof(rg_vec3));
    f->stage = rg_forces_context(f->world, force, torque);
    f->stage.position = f->stage_position, f->stage.orientation = f->stage_orientation;
    f->stage.velocity = f->stage_velocity;
    f->stage.angular_velocity = f->stage_angular_velocity;
    return RG_OK;
}

rg_status rg_flight_make(rg_flight *f, rg_world *world) {
    rg_world_content *c = &world->content;
    size_t bodies = c->bodies.count;
    *f = (rg_flight){.world = world,
                     .width = c->planar ? RG_FLIGHT_PLANAR : RG_FLIGHT_SPATIAL,
                     .forced = bodies > 0 && rg_forces_any(c),
                     .body = rg_arena_take(&world->scratch, bodies, sizeof(uint32_t))};
    if (!f->body)
        return RG_OUT_OF_MEMORY;
    for (size_t i = 0; i < bodies; i++)
        if (c->dynamics[i].inverse_mass > 0)
            f->body[f->body_count++] = (uint32_t)i;
    f->size = f->body_count * f->width + RG_FLIGHT_LEDGER;
    f->chunk_ledger = rg_arena_take(&world->scratch, rg_chunk_count(f->body_count, RG_FLIGHT_GRAIN),
                                    sizeof *f->chunk_ledger);
    if (!f->chunk_ledger)
        return RG_OUT_OF_MEMORY;
    return f->forced ? take_stage_arrays(f, bodies) : RG_OK;
}

/* --- the vector --------------------------------------------------------------------------------
 */

static inline rg_vec3 load3(const double *y) {
    return (rg_vec3){y[0], y[1], y[2]};
}

static inline void store3(double *y, rg_vec3 v) {
    y[0] = v.x;
    y[1] = v.y;
    y[2] = v.z;
}

void rg_flight_pack(const rg_flight *f, double *y) {
    const rg_world_content *c = &f->world->content;
    for (size_t k = 0; k < f->body_count; k++, y += f->width) {
        size_t i = f->body[k];
        if (c->planar) {
            y[0] = c->position[i].x;
            y[1] = c->position[i].z;
            y[2] = c->angle[i];
            y[3] = c->momentum[i].x;
            y[4] = c->momentum[i].z;
            y[5] = -c->angular_momentum[i].y;
        } else {
            store3(y, c->position[i]);
            memcpy(y + 3, &c->orientation[i], sizeof(rg_quat));
            store3(y + 7, c->momentum[i]);
            store3(y + 10, c->angular_momentum[i]);
        }
    }
    memset(y, 0, RG_FLIGHT_LEDGER * sizeof *y);
}

/* Pose and velocities of body i with the numbers at y. */
typedef struct body_state {
    rg_vec3 position;
    rg_quat orientation;
    rg_vec3 velocity, angular_velocity;
} body_state;

static inline body_state spatial_state(const rg_body_dynamics *d, const double *y) {
    body_state s;
    s.position = load3(y);
    /* Stages of an integrator leave the unit sphere a little. A needle's velocity about its axis
     * would be off by that times the ratio of its moments of inertia, up to a million. */
    s.orientation = rg_quat_made_unit((rg_quat){y[3], y[4], y[5], y[6]});
    s.velocity = rg_scale(d->inverse_mass, load3(y + 7));
    s.angular_velocity = rg_rotate(
        s.orientation, rg_times(d->inverse_inertia, rg_rotate_back(s.orientation, load3(y + 10))));
    return s;
}

static inline body_state planar_state(const rg_body_dynamics *d, const double *y) {
    body_state s;
    s.position = (rg_vec3){y[0], 0, y[1]};
    s.orientation = rg_quat_of_planar_angle(y[2]);
    s.velocity = (rg_vec3){d->inverse_mass * y[3], 0, d->inverse_mass * y[4]};
    s.angular_velocity = (rg_vec3){0, -d->inverse_inertia.y * y[5], 0};
    return s;
}

void rg_flight_unpack(const rg_flight *f, const double *y) {
    rg_world_content *c = &f->world->content;
    for (size_t k = 0; k < f->body_count; k++, y += f->width) {
        size_t i = f->body[k];
        body_state s;
        if (c->planar) {
            s = planar_state(&c->dynamics[i], y);
            c->angle[i] = y[2];
            c->momentum[i] = (rg_vec3){y[3], 0, y[4]};
            c->angular_momentum[i] = (rg_vec3){0, -y[5], 0};
        } else {
            s = spatial_state(&c->dynamics[i], y);
            c->momentum[i] = load3(y + 7);
            c->angular_momentum[i] = load3(y + 10);
        }
        c->position[i] = s.position;
        c->orientation[i] = s.orientation;
        c->velocity[i] = s.velocity;
        c->angular_velocity[i] = s.angular_velocity;
    }
}

rg_motion_state rg_flight_motion(const rg_flight *f, const double *y, size_t k) {
    const rg_world_content *c = &f->world->content;
    const rg_body_dynamics *d = &c->dynamics[f->body[k]];
    y += k * f->width;
    body_state s = c->planar ? planar_state(d, y) : spatial_state(d, y);
    return (rg_motion_state){.position = s.position,
                             .orientation = s.orientation,
                             .angle = c->planar ? y[2] : 0,
                             .velocity = s.velocity,
                             .angular_velocity = s.angular_velocity};
}

void rg_flight_motions(const rg_flight *f, double t, const double *y, rg_vec3 *position,
                       rg_quat *orientation, rg_vec3 *velocity, rg_vec3 *angular_velocity) {
    const rg_world_content *c = &f->world->content;
    for (size_t k = 0; k < f->body_count; k++, y += f->width) {
        size_t i = f->body[k];
        body_state s =
            c->planar ? planar_state(&c->dynamics[i], y) : spatial_state(&c->dynamics[i], y);
        position[i] = s.position;
        orientation[i] = s.orientation;
        velocity[i] = s.velocity;
        angular_velocity[i] = s.angular_velocity;
    }
    for (size_t i = 0; c->prescription_count && i < c->bodies.count; i++) {
        if (!c->record[i].prescription1)
            continue;
        rg_motion_state s = rg_prescription_evaluate(c, i, t);
        position[i] = s.position;
        orientation[i] = s.orientation;
        velocity[i] = s.velocity;
        angular_velocity[i] = s.angular_velocity;
    }
}

void rg_flight_track(const rg_flight *f, const rg_dense_output *dense, rg_judge_tracks *tracks) {
    bool planar = f->world->content.planar;
    for (size_t k = 0; k < f->body_count; k++) {
        double b[RG_FLIGHT_SPATIAL][RG_DENSE_DEGREE_MAX + 1];
        size_t numbers = rg_flight_momenta(f);
        rg_judge_piece *piece = rg_judge_tracks_add(tracks, f->body[k], dense->degree);
        if (!piece)
            return;
        piece->begin = dense->begin;
        piece->length = dense->step;
        piece->planar = planar;
        for (size_t i = 0; i < numbers; i++)
            rg_dense_bernstein(dense, k * f->width + i, b[i]);
        for (int i = 0; i <= dense->degree; i++) {
            piece->position[i] =
                planar ? (rg_vec3){b[0][i], 0, b[1][i]} : (rg_vec3){b[0][i], b[1][i], b[2][i]};
            piece->orientation[i] = planar ? (rg_quat){0, 0, 0, b[2][i]}
                                           : (rg_quat){b[3][i], b[4][i], b[5][i], b[6][i]};
        }
    }
}

rg_flight_ledger rg_flight_ledger_of(const rg_flight *f, const double *y) {
    const double *ledger = y + f->body_count * f->width;
    return (rg_flight_ledger){ledger[0], load3(ledger + 1), load3(ledger + 4)};
}

static bool in_range(const body_state *s) {
    return rg_vector_in_range(s->position) && rg_vector_in_range(s->velocity) &&
           rg_vector_in_range(s->angular_velocity) && rg_quat_is_finite(s->orientation);
}

bool rg_flight_in_range(const rg_flight *f, const double *y) {
    const rg_world_content *c = &f->world->content;
    for (size_t i = 0; i < f->size; i++)
        if (!isfinite(y[i]))
            return false;
    for (size_t k = 0; k < f->body_count; k++, y += f->width) {
        const rg_body_dynamics *d = &c->dynamics[f->body[k]];
        body_state s = c->planar ? planar_state(d, y) : spatial_state(d, y);
        if (!in_range(&s))
            return false;
    }
    return true;
}

/* --- the derivative ----------------------------------------------------------------------------
 */

/* Of a state, its derivative or the scale of its numbers. */
typedef struct flight_job {
    rg_flight *flight;
    const double *y;
    double *result;
} flight_job;

static void stage_chunk(void *user, size_t begin, size_t end, size_t chunk) {
    (void)chunk;
    const flight_job *job = user;
    rg_flight *f = job->flight;
    const rg_world_content *c = &f->world->content;
    for (size_t k = begin; k < end; k++) {
        size_t i = f->body[k];
        const double *y = job->y + k * f->width;
        body_state s =
            c->planar ? planar_state(&c->dynamics[i], y) : spatial_state(&c->dynamics[i], y);
        f->stage_position[i] = s.position;
        f->stage_orientation[i] = s.orientation;
        f->stage_velocity[i] = s.velocity;
        f->stage_angular_velocity[i] = s.angular_velocity;
    }
}

static void place_kinematic(rg_flight *f, double t) {
    const rg_world_content *c = &f->world->content;
    if (c->prescription_count == 0)
        return;
    for (size_t i = 0; i < c->bodies.count; i++) {
        if (!c->record[i].prescription1)
            continue;
        rg_motion_state s = rg_prescription_evaluate(c, i, t);
        f->stage_position[i] = s.position;
        f->stage_orientation[i] = s.orientation;
        f->stage_velocity[i] = s.velocity;
        f->stage_angular_velocity[i] = s.angular_velocity;
    }
}

static void evaluate_forces(rg_flight *f, flight_job *job, double t) {
    rg_parallel_for(f->world->pool, f->body_count, RG_FLIGHT_GRAIN, stage_chunk, job);
    place_kinematic(f, t);
    memset(f->stage.force, 0, f->stage.body_count * sizeof(rg_vec3));
    memset(f->stage.torque, 0, f->stage.body_count * sizeof(rg_vec3));
    f->stage.time = t;
    rg_forces_evaluate(f->world, &f->stage, f->phase_begin, f->phase_end);
}

static void add_to_ledger(rg_flight_ledger *ledger, const body_state *s, rg_vec3 external,
                          rg_vec3 torque, rg_vec3 total) {
    ledger->work += rg_dot(external, s->velocity) + rg_dot(torque, s->angular_velocity);
    ledger->impulse = rg_add(ledger->impulse, total);
    ledger->angular_impulse =
        rg_add(ledger->angular_impulse, rg_add(torque, rg_cross(s->position, total)));
}

static void derive_spatial(const body_state *s, rg_vec3 force, rg_vec3 torque, double *dydt) {
    rg_vec3 w = s->angular_velocity;
    rg_quat rate = rg_quat_multiply((rg_quat){w.x, w.y, w.z, 0}, s->orientation);
    store3(dydt, s->velocity);
    dydt[3] = 0.5 * rate.x;
    dydt[4] = 0.5 * rate.y;
    dydt[5] = 0.5 * rate.z;
    dydt[6] = 0.5 * rate.w;
    store3(dydt + 7, force);
    store3(dydt + 10, torque);
}

static void derive_planar(const body_state *s, rg_vec3 force, rg_vec3 torque, double *dydt) {
    dydt[0] = s->velocity.x;
    dydt[1] = s->velocity.z;
    dydt[2] = -s->angular_velocity.y;
    dydt[3] = force.x;
    dydt[4] = force.z;
    dydt[5] = -torque.y;
}

static void fill(double *numbers, size_t count, double value) {
    for (size_t i = 0; i < count; i++)
        numbers[i] = value;
}

static void derivative_chunk(void *user, size_t begin, size_t end, size_t chunk) {
    const flight_job *job = user;
    rg_flight *f = job->flight;
    const rg_world_content *c = &f->world->content;
    rg_flight_ledger ledger = {0};
    for (size_t k = begin; k < end; k++) {
        size_t i = f->body[k];
        const rg_body_dynamics *d = &c->dynamics[i];
        const double *y = job->y + k * f->width;
        double *dydt = job->result + k * f->width;
        rg_vec3 external = {0, 0, 0}, torque = {0, 0, 0};
        if (f->forced) {
            external = f->stage.force[i];
            torque = f->stage.torque[i];
        }
        rg_vec3 total = rg_add_scaled(external, d->mass * d->gravity_scale, c->gravity);
        body_state s = c->planar ? planar_state(d, y) : spatial_state(d, y);
        if (c->planar)
            derive_planar(&s, total, torque, dydt);
        else
            derive_spatial(&s, total, torque, dydt);
        if (!in_range(&s))
            fill(dydt, f->width, NAN);
        add_to_ledger(&ledger, &s, external, torque, total);
    }
    f->chunk_ledger[chunk] = ledger;
}

void rg_flight_derivative(void *user, double t, const double *y, double *dydt) {
    rg_flight *f = user;
    flight_job job = {f, y, dydt};
    if (f->forced)
        evaluate_forces(f, &job, t);
    rg_parallel_for(f->world->pool, f->body_count, RG_FLIGHT_GRAIN, derivative_chunk, &job);
    /* Sums in chunk order: the same for any number of threads. */
    rg_flight_ledger sum = {0};
    for (size_t i = 0; i < rg_chunk_count(f->body_count, RG_FLIGHT_GRAIN); i++) {
        sum.work += f->chunk_ledger[i].work;
        sum.impulse = rg_add(sum.impulse, f->chunk_ledger[i].impulse);
        sum.angular_impulse = rg_add(sum.angular_impulse, f->chunk_ledger[i].angular_impulse);
    }
    double *ledger = dydt + f->body_count * f->width;
    ledger[0] = sum.work;
    store3(ledger + 1, sum.impulse);
    store3(ledger + 4, sum.angular_impulse);
}

/* --- scale and acceptance ----------------------------------------------------------------------
 */

/* Positions relative to the body's own size or its distance from the origin, whichever is larger
 * (rounding is relative to the latter); turns relative to a radian; momenta relative to themselves.
 */
static void scale_chunk(void *user, size_t begin, size_t end, size_t chunk) {
    (void)chunk;
    const flight_job *job = user;
    const rg_flight *f = job->flight;
    const rg_world_content *c = &f->world->content;
    for (size_t k = begin; k < end; k++) {
        const rg_body_dynamics *d = &c->dynamics[f->body[k]];
        const double *y = job->y + k * f->width;
        double *scale = job->result + k * f->width;
        double r = d->gyration_radius, p_floor = d->mass * r * RATE_FLOOR, l_floor = p_floor * r;
        if (c->planar) {
            fill(scale, 2, r + fmax(fabs(y[0]), fabs(y[1])));
            scale[2] = 1;
            fill(scale + 3, 2, p_floor + fmax(fabs(y[3]), fabs(y[4])));
            scale[5] = l_floor + fabs(y[5]);
        } else {
            fill(scale, 3, r + rg_largest_entry(load3(y)));
            fill(scale + 3, 4, 1);
            fill(scale + 7, 3, p_floor + rg_largest_entry(load3(y + 7)));
            fill(scale + 10, 3, l_floor + rg_largest_entry(load3(y + 10)));
        }
    }
}

void rg_flight_scale(void *user, const double *y, double *scale) {
    rg_flight *f = user;
    flight_job job = {f, y, scale};
    rg_parallel_for(f->world->pool, f->body_count, RG_FLIGHT_GRAIN, scale_chunk, &job);
    fill(scale + f->body_count * f->width, RG_FLIGHT_LEDGER, INFINITY);
}

void rg_flight_accept(void *user, double t, double *y) {
    (void)t;
    rg_flight *f = user;
    if (f->world->content.planar)
        return;
    for (size_t k = 0; k < f->body_count; k++, y += f->width) {
        rg_quat q = {y[3], y[4], y[5], y[6]};
        if (fabs(rg_quat_norm_squared(q) - 1) > NORM_SLACK) {
            q = rg_quat_normalised(q);
            memcpy(y + 3, &q, sizeof q);
        }
    }
}
