/* The bodies in a fixed step: forces into free velocities, contact impulses into velocities,
 * velocities into poses.
 *
 * Two refinements that need no extra evaluation. A body on which nothing but gravity acts, and that
 * is near nothing, moves by the mean of old and new velocity, which is its exact parabola; with
 * other forces the plain update is kept, since the mean would make springs gain energy. Mechanisms
 * that are held by nothing but joints get half of gravity at the beginning and half at the end,
 * when joints turn velocities into the tangent: RATTLE, of second order. Rotation at given angular
 * momentum is done by the energy-momentum method of step_rotation.h, so that a
 * spinning body keeps its energy.
 *
 * Tested by tests/step/test_stepping.c. */
#include "base/base_math.h"
#include "base/base_text.h"
#include "step/step_rotation.h"
#include "step/step_stepping.h"

#include <string.h>

/* Bodies of a chunk; and, at least, of one that goes through all contacts. */
enum { BODIES_PER_CHUNK = 256, PUSHED_PER_CHUNK = 64 };

static rg_rotation rotation_of(const rg_stepping *job, size_t i) {
    const rg_body_dynamics *d = &job->content->dynamics[i];
    job->orientation[i] = job->content->orientation[i];
    return (rg_rotation){d->inertia, d->inverse_inertia, job->end.angular_momentum[i],
                         &job->orientation[i]};
}

/* Orientations of bodies in space, two at a time unless they are round; `status` of each from
 * `begin` on. */
static void turn_bodies(const rg_stepping *job, size_t begin, size_t end, rg_status *status) {
    size_t waiting = SIZE_MAX;
    for (size_t i = begin; i < end; i++) {
        const rg_body_dynamics *d = &job->content->dynamics[i];
        status[i - begin] = RG_OK;
        if (!rg_stepping_moves(job, i))
            continue;
        if (rg_rotation_is_round(d->inverse_inertia)) {
            job->orientation[i] = job->content->orientation[i];
            status[i - begin] = rg_rotation_advance_round(
                rg_scale(d->inverse_inertia.x, job->end.angular_momentum[i]), job->step,
                &job->orientation[i]);
            continue;
        }
        if (waiting == SIZE_MAX) {
            waiting = i;
            continue;
        }
        rg_rotation two[2] = {rotation_of(job, waiting), rotation_of(job, i)};
        rg_status both[2];
        rg_rotation_advance_two(two, job->step, both);
        status[waiting - begin] = both[0], status[i - begin] = both[1];
        waiting = SIZE_MAX;
    }
    if (waiting == SIZE_MAX)
        return;
    rg_rotation one = rotation_of(job, waiting);
    status[waiting - begin] = rg_rotation_advance(&one, job->step);
}

/* The angular velocity at the end, and in the plane the angle. */
static rg_status turn_body(const rg_stepping *job, size_t i) {
    const rg_world_content *c = job->content;
    const rg_body_dynamics *d = &c->dynamics[i];
    rg_vec3 momentum = job->end.angular_momentum[i], *spin = &job->end.angular_velocity[i];
    rg_quat q = job->orientation[i];
    if (c->planar) {
        *spin = (rg_vec3){0, d->inverse_inertia.y * momentum.y, 0};
        job->angle[i] = c->angle[i] - job->step * spin->y;
        job->orientation[i] = rg_quat_of_planar_angle(job->angle[i]);
        return isfinite(job->angle[i]) ? RG_OK : RG_NOT_FINITE;
    }
    if (rg_rotation_is_round(d->inverse_inertia))
        *spin = rg_scale(d->inverse_inertia.x, momentum);
    else
        *spin = rg_rotate(q, rg_times(d->inverse_inertia, rg_rotate_back(q, momentum)));
    return RG_OK;
}

static rg_vec3 external_force(const rg_stepping *job, size_t i) {
    return job->force ? job->force[i] : (rg_vec3){0, 0, 0};
}

static rg_vec3 external_torque(const rg_stepping *job, size_t i) {
    return job->torque ? job->torque[i] : (rg_vec3){0, 0, 0};
}

static rg_vec3 weight_of(const rg_stepping *job, size_t i) {
    const rg_body_dynamics *d = &job->content->dynamics[i];
    return rg_scale(d->mass * d->gravity_scale, job->content->gravity);
}

/* At the beginning of the step. */
static rg_vec3 total_force(const rg_stepping *job, size_t i) {
    return rg_add_scaled(external_force(job, i), job->halved[i] ? 0.5 : 1, weight_of(job, i));
}

/* Angular velocity that goes with an angular momentum at the orientation of the beginning. */
rg_vec3 rg_stepping_spin(const rg_world_content *c, size_t i, rg_vec3 angular_momentum) {
    const rg_body_dynamics *d = &c->dynamics[i];
    if (c->planar)
        return (rg_vec3){0, d->inverse_inertia.y * angular_momentum.y, 0};
    if (rg_rotation_is_round(d->inverse_inertia))
        return rg_scale(d->inverse_inertia.x, angular_momentum);
    return rg_rotate(
        c->orientation[i],
        rg_times(d->inverse_inertia, rg_rotate_back(c->orientation[i], angular_momentum)));
}

/* Momentum and velocity after all forces but those of contact. */
static void free_linear(const rg_stepping *job, size_t i) {
    const rg_world_content *c = job->content;
    job->free.momentum[i] = rg_add_scaled(c->momentum[i], job->step, total_force(job, i));
    job->free.velocity[i] = rg_scale(c->dynamics[i].inverse_mass, job->free.momentum[i]);
}

static void free_body(const rg_stepping *job, size_t i) {
    const rg_world_content *c = job->content;
    free_linear(job, i);
    job->free.angular_momentum[i] =
        rg_add_scaled(c->angular_momentum[i], job->step, external_torque(job, i));
    job->free.angular_velocity[i] = rg_stepping_spin(c, i, job->free.angular_momentum[i]);
}

static rg_status move_body(const rg_stepping *job, size_t i, rg_stepping_chunk *report) {
    const rg_world_content *c = job->content;
    double h = job->step;
    rg_vec3 external = external_force(job, i), torque = external_torque(job, i);
    rg_vec3 total = total_force(job, i), old = c->velocity[i];
    rg_vec3 mean = rg_scale(0.5, rg_add(old, job->end.velocity[i]));
    bool free_flight = rg_is_zero(external) && !job->near[i];
    job->position[i] = rg_add_scaled(c->position[i], h, free_flight ? mean : job->end.velocity[i]);
    rg_vec3 mean_spin = rg_scale(0.5, rg_add(c->angular_velocity[i], job->end.angular_velocity[i]));
    rg_status status = turn_body(job, i);
    if (status)
        return status;
    if (!rg_vector_in_range(job->position[i]) || !rg_vector_in_range(job->end.velocity[i]) ||
        !rg_vector_in_range(job->end.angular_velocity[i]))
        return RG_NOT_FINITE;

    /* Where the force acts, so that the change of x cross p is exactly its moment. */
    rg_vec3 arm =
        free_flight ? rg_scale(0.5, rg_add(c->position[i], job->position[i])) : c->position[i];
    report->external_work += h * (rg_dot(external, mean) + rg_dot(torque, mean_spin));
    report->impulse = rg_add_scaled(report->impulse, h, rg_add(external, weight_of(job, i)));
    report->angular_impulse =
        rg_add_scaled(report->angular_impulse, h, rg_add(torque, rg_cross(arm, total)));
    return RG_OK;
}

void rg_stepping_keep(const rg_stepping *job, const rg_world_content *c,
                      const rg_stepping_velocities *v, size_t i) {
    job->position[i] = c->position[i];
    job->orientation[i] = c->orientation[i];
    job->angle[i] = c->angle[i];
    v->velocity[i] = c->velocity[i];
    v->angular_velocity[i] = c->angular_velocity[i];
    v->momentum[i] = c->momentum[i];
    v->angular_momentum[i] = c->angular_momentum[i];
}

static void free_chunk(void *user, size_t begin, size_t end, size_t chunk) {
    const rg_stepping *job = user;
    rg_stepping_chunk report = {0};
    for (size_t i = begin; i < end; i++) {
        if (rg_stepping_moves(job, i))
            free_body(job, i);
        else
            rg_stepping_keep(job, job->content, &job->free, i);
        if (!report.status && (!rg_vector_in_range(job->free.velocity[i]) ||
                               !rg_vector_in_range(job->free.angular_velocity[i]))) {
            report.status = RG_NOT_FINITE;
            report.failed_body = i;
        }
    }
    job->chunks[chunk] = report;
}

static void move_chunk(void *user, size_t begin, size_t end, size_t chunk) {
    const rg_stepping *job = user;
    rg_stepping_chunk report = {0};
    rg_status turned[BODIES_PER_CHUNK];
    if (!job->content->planar)
        turn_bodies(job, begin, end, turned);
    for (size_t i = begin; i < end; i++) {
        if (!rg_stepping_moves(job, i))
            continue;
        job->angle[i] = job->content->angle[i];
        rg_status status = job->content->planar ? RG_OK : turned[i - begin];
        if (!status)
            status = move_body(job, i, &report);
        if (status && !report.status) {
            report.status = status;
            report.failed_body = i;
        }
    }
    job->chunks[chunk] = report;
}

static rg_status fail_body(const rg_world *world, const rg_stepping_chunk *chunk, double step,
                           rg_error *error) {
    const char *name = world->content.record[chunk->failed_body].name;
    if (chunk->status == RG_ITERATION_LIMIT)
        return rg_fail(error, chunk->status,
                       "body %zu \"%s\" turns at %.3g rad/s, too fast for steps of %g s; take a "
                       "smaller step or the analytic method",
                       chunk->failed_body, name ? name : "",
                       rg_length(world->content.angular_velocity[chunk->failed_body]), step);
    return rg_fail(error, chunk->status,
                   "body %zu \"%s\": its motion became infinite or not a number, or larger than %g "
                   "(SI units); "
                   "look at the forces on it",
                   chunk->failed_body, name ? name : "", RG_NUMBER_LARGEST);
}

/* What the first chunk with a body that failed says of it. */
static rg_status check_chunks(const rg_world *world, rg_stepping *job, rg_error *error) {
    for (size_t i = 0; i < rg_chunk_count(world->content.bodies.count, BODIES_PER_CHUNK); i++)
        if (job->chunks[i].status) {
            job->failed_body = job->chunks[i].failed_body;
            return fail_body(world, &job->chunks[i], job->step, error);
        }
    return RG_OK;
}

static bool take_velocities(rg_arena *arena, size_t n, rg_stepping_velocities *v) {
    v->momentum = rg_arena_take(arena, n, sizeof(rg_vec3));
    v->angular_momentum = rg_arena_take(arena, n, sizeof(rg_vec3));
    v->velocity = rg_arena_take(arena, n, sizeof(rg_vec3));
    v->angular_velocity = rg_arena_take(arena, n, sizeof(rg_vec3));
    return v->momentum && v->angular_momentum && v->velocity && v->angular_velocity;
}

static bool make_job(rg_stepping *job, rg_world *world) {
    rg_arena *scratch = &world->scratch;
    size_t n = world->content.bodies.count;
    job->content = &world->content;
    job->force = job->torque = NULL;
    job->failed_body = SIZE_MAX;
    job->held = job->held_end = NULL;
    if (world->content.joints.count) {
        job->held = rg_arena_take(scratch, n, sizeof *job->held);
        job->held_end = rg_arena_take(scratch, n, sizeof *job->held_end);
        if (!job->held || !job->held_end)
            return false;
    }
    job->position = rg_arena_take(scratch, n, sizeof(rg_vec3));
    job->orientation = rg_arena_take(scratch, n, sizeof(rg_quat));
    job->angle = rg_arena_take(scratch, n, sizeof(double));
    job->near = rg_arena_take(scratch, n, sizeof *job->near);
    job->still = rg_arena_take(scratch, n, sizeof *job->still);
    job->halved = rg_arena_take(scratch, n, sizeof *job->halved);
    if (job->halved)
        memset(job->halved, 0, n * sizeof *job->halved);
    job->sums = rg_arena_take(scratch, n, sizeof *job->sums);
    job->chunks = rg_arena_take(scratch, rg_chunk_count(n, BODIES_PER_CHUNK), sizeof *job->chunks);
    return take_velocities(scratch, n, &job->free) && take_velocities(scratch, n, &job->end) &&
           job->position && job->orientation && job->angle && job->near && job->still &&
           job->halved && job->sums && job->chunks;
}

static bool evaluate_forces(rg_stepping *job, rg_world *world) {
    const rg_world_content *c = &world->content;
    if (!rg_forces_any(c))
        return true;
    size_t n = c->bodies.count;
    rg_vec3 *force = rg_arena_take(&world->scratch, n, sizeof *force);
    rg_vec3 *torque = rg_arena_take(&world->scratch, n, sizeof *torque);
    if (!force || !torque)
        return false;
    memset(force, 0, n * sizeof *force);
    memset(torque, 0, n * sizeof *torque);
    rg_force_context context = rg_forces_context(world, force, torque);
    rg_forces_evaluate(world, &context, c->time, c->time + job->step);
    job->force = force;
    job->torque = torque;
    return true;
}

rg_status rg_stepping_free(rg_world *world, rg_stepping *job, rg_error *error) {
    if (!make_job(job, world) || !evaluate_forces(job, world))
        return rg_fail(error, RG_OUT_OF_MEMORY, "stepping: no memory for the step");
    rg_parallel_for(world->pool, world->content.bodies.count, BODIES_PER_CHUNK, free_chunk, job);
    return check_chunks(world, job, error);
}

/* --- half of gravity at the end --------------------------------------------------------------- */

/* A row that holds at the end of the step, too (step_joints_project.c): locked, or a limit. */
static bool holds_twice(const rg_stepping *job, const rg_joint_row *row) {
    if (row->joint == RG_NO_JOINT)
        return false;
    size_t part = (size_t)(row->place - RG_JOINT_LOCKED) % RG_JOINT_PARTS;
    size_t axis = (size_t)(row->place - RG_JOINT_LOCKED) / RG_JOINT_PARTS;
    return row->place < RG_JOINT_LOCKED ||
           ((part == RG_JOINT_LOWER || part == RG_JOINT_UPPER) &&
            job->content->joint[row->joint].def.axis[axis].restitution == 0);
}

/* No contacts, nothing but such rows, and it moves: what is at rest, or held by springs and motors,
 * would be given a velocity at the end of every step that only the next one takes. */
static bool takes_halves(const rg_stepping *job, const rg_island *island) {
    const rg_islands *islands = &job->contacts.islands;
    const rg_world_content *c = job->content;
    bool moves = false;
    if (island->contact_count > 0)
        return false;
    for (size_t k = 0; k < island->joint_count; k++)
        if (!holds_twice(job, &job->contacts.joints.rows[islands->joints[island->first_joint + k]]))
            return false;
    for (size_t k = 0; k < island->body_count && !moves; k++) {
        uint32_t i = islands->bodies[island->first_body + k];
        moves = !rg_is_zero(c->velocity[i]) || !rg_is_zero(c->angular_velocity[i]);
    }
    return moves;
}

void rg_stepping_halve(rg_stepping *job) {
    const rg_islands *islands = &job->contacts.islands;
    for (size_t i = 0; i < job->content->bodies.count; i++) {
        if (!job->halved[i]) /* else of the pass before */
            continue;
        job->halved[i] = 0;
        free_linear(job, i);
    }
    if (job->whole > 0 || job->contacts.joints.count == 0)
        return;
    for (size_t k = 0; k < islands->count; k++) {
        const rg_island *island = &islands->islands[k];
        bool halves = takes_halves(job, island);
        for (size_t b = 0; b < island->body_count && halves; b++) {
            uint32_t i = islands->bodies[island->first_body + b];
            job->halved[i] = 1;
            free_linear(job, i);
        }
    }
}

/* The second half, where the body is now. */
static void add_halves(rg_stepping *job) {
    rg_step_report *report = &job->report;
    for (size_t i = 0; i < job->content->bodies.count; i++) {
        if (!job->halved[i])
            continue;
        rg_vec3 half = rg_scale(0.5 * job->step, weight_of(job, i));
        job->end.momentum[i] = rg_add(job->end.momentum[i], half);
        job->end.velocity[i] =
            rg_scale(job->content->dynamics[i].inverse_mass, job->end.momentum[i]);
        report->angular_impulse = rg_add(report->angular_impulse, rg_cross(job->position[i], half));
        report->halved = job->halved;
    }
}

/* `size`: of the impulse. */
static inline void push(const rg_stepping *job, uint32_t body, rg_vec3 point, rg_vec3 impulse,
                        double size) {
    rg_vec3 arm = rg_sub(point, job->content->position[body]);
    rg_stepping_sum *sum = &job->sums[body];
    job->end.momentum[body] = rg_add(job->end.momentum[body], impulse);
    job->end.angular_momentum[body] =
        rg_add(job->end.angular_momentum[body], rg_cross(arm, impulse));
    job->near[body] = 1;
    sum->terms++, sum->linear += size, sum->angular += rg_length(arm) * size;
}

/* What is left of the momenta is no more than the rounding of the sums that they are: the body is
 * at rest, and stays there to the last bit. */
static bool is_rounding(const rg_stepping *job, size_t body) {
    const rg_stepping_sum *sum = &job->sums[body];
    double unit = RG_STEPPING_ROUNDINGS * DBL_EPSILON * (sum->terms + RG_STEPPING_MORE);
    /* The length of a vector is at least its largest entry, and less than twice that: of bodies
     * that move no root is needed. */
    if (rg_largest_entry(job->end.momentum[body]) >
        unit * (sum->linear + 2 * rg_largest_entry(job->free.momentum[body])))
        return false;
    double linear = sum->linear + rg_length(job->free.momentum[body]);
    if (!(rg_length(job->end.momentum[body]) <= unit * linear))
        return false;
    double angular = sum->angular + rg_length(job->free.angular_momentum[body]);
    return rg_length(job->end.angular_momentum[body]) <= unit * angular;
}

static void find_still(void *user, size_t begin, size_t end, size_t chunk) {
    (void)chunk;
    const rg_stepping *job = user;
    for (size_t i = begin; i < end; i++)
        job->still[i] = job->near[i] && is_rounding(job, i);
}

/* Of an island with joints all bodies are at rest or none: a motor moves what it carries by less
 * than the rounding of some of the bodies, and would never reach its target if those were
 * stopped. */
static void find_still_islands(const rg_stepping *job) {
    const rg_islands *islands = &job->contacts.islands;
    for (size_t k = 0; k < islands->count && job->contacts.joints.count; k++) {
        const rg_island *island = &islands->islands[k];
        const uint32_t *bodies = islands->bodies + island->first_body;
        const uint32_t *rows = islands->joints + island->first_joint;
        bool still = true;
        if (island->joint_count == 0 || job->contacts.joints.rows[rows[0]].joint == RG_NO_JOINT)
            continue;
        for (size_t b = 0; b < island->body_count; b++)
            still = still && job->still[bodies[b]];
        for (size_t b = 0; b < island->body_count; b++)
            job->still[bodies[b]] = still;
    }
}

/* m/s: of the fastest point, about. */
static double speed_of(const rg_body_dynamics *d, rg_vec3 velocity, rg_vec3 spin) {
    return rg_length(velocity) + d->gyration_radius * rg_length(spin);
}

/* It was at rest, and the impulses of the last step, which were kept, leave it next to nothing
 * (RG_STEP_KEEP). */
static bool is_kept(const rg_stepping *job, size_t i) {
    const rg_world_content *c = job->content;
    const rg_body_dynamics *d = &c->dynamics[i];
    double most = job->contacts.kept[i];
    if (most == 0 || speed_of(d, c->velocity[i], c->angular_velocity[i]) > most)
        return false;
    return speed_of(d, rg_scale(d->inverse_mass, job->end.momentum[i]),
                    rg_stepping_spin(c, i, job->end.angular_momentum[i])) <= most;
}

/* A contact with restitution that had no impulse, and that bodies do not reach along their
 * parabolas: it need not know of them. */
static bool is_passed(const rg_stepping *job, size_t i) {
    const rg_contact_step *contacts = &job->contacts;
    const rg_row_set *set = &contacts->set;
    double u[3];
    if (contacts->passes[i] == 0)
        return false;
    for (int k = 0; k < set->dimension; k++)
        if (contacts->impulse[i * (size_t)set->dimension + (size_t)k] != 0)
            return false;
    rg_row_velocity(set, i, job->end.velocity, job->end.angular_velocity, u);
    return set->rows[i].gap + 0.5 * job->step * (contacts->passes[i] + u[0]) >= 0;
}

static void mark_near(rg_stepping *job) {
    const rg_row_set *set = &job->contacts.set;
    size_t bodies = job->content->bodies.count;
    memset(job->near, 0, bodies * sizeof *job->near);
    if (job->contacts.left.count)
        memcpy(job->near, job->contacts.left.resting, bodies * sizeof *job->near);
    for (size_t i = 0; i < set->count; i++) {
        if (set->bounces && is_passed(job, i))
            continue;
        for (int side = 0; side < 2; side++)
            if (set->links[i].body[side] != RG_NO_BLOCK)
                job->near[set->links[i].body[side]] = 1;
    }
    const rg_joint_set *joints = &job->contacts.joints;
    for (size_t i = 0; i < joints->count; i++)
        for (int side = 0; side < 2; side++)
            if (joints->rows[i].moves[side])
                job->near[joints->rows[i].body[side]] = 1;
}

static void hold_turning(rg_stepping *job) {
    const double *added = job->contacts.inertia;
    const rg_world_content *c = job->content;
    for (size_t i = 0; i < c->bodies.count && job->held; i++) {
        job->held[i] = (rg_vec3){0, 0, 0};
        if (!added || !(added[i] > 0) || !job->near[i])
            continue;
        rg_vec3 torque = rg_sub(job->end.angular_momentum[i], job->free.angular_momentum[i]);
        job->held[i] = rg_joints_held(c, i, c->orientation[i], added[i], torque);
        job->end.angular_momentum[i] = rg_sub(job->end.angular_momentum[i], job->held[i]);
    }
}

static void push_row(const rg_stepping *job, size_t i) {
    const rg_joint_set *joints = &job->contacts.joints;
    const rg_joint_row *row = &joints->rows[i];
    for (size_t side = 0; side < 2; side++) {
        uint32_t body = row->body[side];
        rg_vec3 linear, angular;
        if (!row->moves[side])
            continue;
        double arm = rg_length(rg_sub(row->point, job->content->position[body]));
        rg_joint_push(joints, i, side, job->content->planar, joints->impulse[i], &linear, &angular);
        job->end.momentum[body] = rg_add(job->end.momentum[body], linear);
        job->end.angular_momentum[body] = rg_add(job->end.angular_momentum[body], angular);
        job->near[body] = 1;
        double size = fabs(joints->impulse[i]);
        rg_stepping_sum *sum = &job->sums[body];
        sum->terms++;
        sum->linear += row->along.turns ? 0 : size;
        sum->angular += row->along.turns ? size * rg_joint_row_unit(row) : arm * size;
    }
}

/* Rows of a joint are found together: the rounding of a force along an arm is across it, too. So
 * torques count by arm and force. */
static void push_joints(const rg_stepping *job) {
    const rg_joint_set *joints = &job->contacts.joints;
    for (size_t i = 0; i < joints->count;) {
        const rg_joint_row *row = &joints->rows[i];
        if (!rg_joint_has_wrench(joints, i)) {
            push_row(job, i++);
            continue;
        }
        rg_joint_wrench w = rg_joint_wrench_of(joints, i);
        for (int side = 0; side < 2; side++) {
            uint32_t body = row->body[side];
            if (!row->moves[side])
                continue;
            rg_vec3 arm = rg_sub(row->point, job->content->position[body]);
            rg_joint_wrench_push(&w, side, arm, &job->end.momentum[body],
                                 &job->end.angular_momentum[body]);
            job->near[body] = 1;
            rg_stepping_sum *sum = &job->sums[body];
            sum->terms += (double)(w.end - i);
            sum->linear += w.along, sum->angular += w.about + rg_length(arm) * w.along;
        }
        i = w.end;
    }
}

/* Contacts onto the bodies of a range, in the order of the contacts. */
static void push_contacts(void *user, size_t begin, size_t end, size_t chunk) {
    (void)chunk;
    const rg_stepping *job = user;
    const rg_row_set *set = &job->contacts.set;
    size_t n = end - begin, d = (size_t)set->dimension;
    memcpy(job->end.momentum + begin, job->free.momentum + begin, n * sizeof(rg_vec3));
    memcpy(job->end.angular_momentum + begin, job->free.angular_momentum + begin,
           n * sizeof(rg_vec3));
    memcpy(job->end.velocity + begin, job->free.velocity + begin, n * sizeof(rg_vec3));
    memcpy(job->end.angular_velocity + begin, job->free.angular_velocity + begin,
           n * sizeof(rg_vec3));
    memset(job->near + begin, 0, n * sizeof *job->near);
    memset(job->sums + begin, 0, n * sizeof *job->sums);
    for (size_t i = 0; i < set->count; i++) {
        const uint32_t *body = set->links[i].body;
        bool a = body[0] - begin < n, b = body[1] - begin < n; /* RG_NO_BLOCK is in no range */
        if (!a && !b)
            continue;
        rg_vec3 impulse = rg_row_force(set, i, job->contacts.impulse + i * d);
        double size = rg_length(impulse);
        if (a)
            push(job, body[0], set->rows[i].position, impulse, size);
        if (b)
            push(job, body[1], set->rows[i].position, rg_neg(impulse), size);
    }
}

/* Momenta into velocities. */
static void settle(void *user, size_t begin, size_t end, size_t chunk) {
    (void)chunk;
    const rg_stepping *job = user;
    const rg_world_content *c = job->content;
    for (size_t i = begin; i < end; i++) {
        bool rests = job->contacts.left.count && job->contacts.left.resting[i];
        if (!job->near[i] && !rests)
            continue;
        if (rests || job->still[i] || is_kept(job, i))
            job->end.momentum[i] = job->end.angular_momentum[i] = (rg_vec3){0, 0, 0};
        job->end.velocity[i] = rg_scale(c->dynamics[i].inverse_mass, job->end.momentum[i]);
        job->end.angular_velocity[i] = rg_stepping_spin(c, i, job->end.angular_momentum[i]);
    }
}

void rg_stepping_apply(rg_stepping *job, rg_pool *pool) {
    size_t n = job->content->bodies.count;
    if (n == 0)
        return;
    rg_parallel_for(pool, n, rg_grain_for_lists(pool, n, PUSHED_PER_CHUNK), push_contacts, job);
    push_joints(job);
    hold_turning(job);
    rg_parallel_for(pool, n, BODIES_PER_CHUNK, find_still, job);
    find_still_islands(job);
    rg_parallel_for(pool, n, BODIES_PER_CHUNK, settle, job);
    mark_near(job);
}

/* The places of the rows of joints that gave way to contacts; null: none did. */
static rg_status find_yielded(const rg_stepping *job, rg_arena *arena, uint32_t **yielded) {
    const rg_joint_set *set = &job->contacts.joints;
    size_t joints = job->content->joints.count;
    *yielded = NULL;
    for (size_t i = 0; i < set->count; i++) {
        if (set->rows[i].yielded == 0 || set->rows[i].joint == RG_NO_JOINT)
            continue;
        if (!*yielded) {
            *yielded = rg_arena_take(arena, joints, sizeof **yielded);
            if (!*yielded)
                return RG_OUT_OF_MEMORY;
            memset(*yielded, 0, joints * sizeof **yielded);
        }
        (*yielded)[set->rows[i].joint] |= 1U << set->rows[i].place;
    }
    return RG_OK;
}

/* Joints closed again, where the motion opened them. */
static rg_status close_joints(rg_world *world, rg_stepping *job, rg_error *error) {
    const rg_world_content *c = &world->content;
    rg_step_report *report = &job->report;
    rg_step_machinery *machinery = world->machinery;
    rg_joints_correction done;
    uint32_t *yielded;
    uint8_t *moved = rg_arena_take(&world->scratch, c->bodies.count, sizeof *moved);
    job->shift = rg_arena_take(&world->scratch, c->bodies.count, sizeof *job->shift);
    if (!moved || !job->shift || find_yielded(job, &world->scratch, &yielded))
        return rg_fail(error, RG_OUT_OF_MEMORY, "no memory for joints");
    memset(job->shift, 0, c->bodies.count * sizeof *job->shift);
    for (size_t i = 0; i < c->bodies.count; i++) {
        moved[i] = rg_stepping_moves(job, i);
        if (!c->record[i].prescription1)
            continue;
        rg_motion_state end = rg_prescription_evaluate(c, i, job->end_time);
        job->position[i] = end.position, job->orientation[i] = end.orientation;
        job->end.velocity[i] = end.velocity, job->end.angular_velocity[i] = end.angular_velocity;
    }
    rg_joints_bodies bodies = {.position = job->position,
                               .orientation = job->orientation,
                               .angle = job->angle,
                               .momentum = job->end.momentum,
                               .angular_momentum = job->end.angular_momentum,
                               .velocity = job->end.velocity,
                               .angular_velocity = job->end.angular_velocity,
                               .inertia = job->contacts.inertia,
                               .held = job->held_end,
                               .shift = job->shift,
                               .joints = job->joints,
                               .yielded = yielded,
                               .stay = job->leaves_open,
                               .loops = job->contacts.joints.loops,
                               .seen = &machinery->seen,
                               .moved = moved};
    rg_status status = rg_joints_project(c, &bodies, machinery->contexts[0], &world->scratch, &done,
                                         &job->end_joints, error);
    add_halves(job);
    if (!status)
        status = rg_joints_project_velocities(c, &bodies, machinery->contexts[0], &world->scratch,
                                              &job->end_joints, error);
    job->open1 = done.open1;
    job->open_error = done.error;
    if (!status && rg_stepping_hold_energy(job, &world->scratch))
        status = rg_fail(error, RG_OUT_OF_MEMORY, "no memory for joints");
    report->projected_kinetic = done.kinetic;
    report->projected_potential = done.potential;
    report->angular_impulse = rg_add(report->angular_impulse, done.angular_momentum);
    return status;
}

rg_status rg_stepping_move(rg_world *world, rg_stepping *job, rg_error *error) {
    size_t n = world->content.bodies.count;
    rg_parallel_for(world->pool, n, BODIES_PER_CHUNK, move_chunk, job);
    rg_step_report *report = &job->report;
    *report = (rg_step_report){.substeps = 1, .evaluations = 1};
    rg_status status = check_chunks(world, job, error);
    if (status)
        return status;
    for (size_t i = 0; i < rg_chunk_count(n, BODIES_PER_CHUNK); i++) {
        const rg_stepping_chunk *chunk = &job->chunks[i];
        report->external_work += chunk->external_work;
        report->impulse = rg_add(report->impulse, chunk->impulse);
        report->angular_impulse = rg_add(report->angular_impulse, chunk->angular_impulse);
    }
    return world->content.joints.count ? close_joints(world, job, error) : RG_OK;
}

static bool same(const void *a, const void *b, size_t size) {
    return memcmp(a, b, size) == 0;
}

bool rg_stepping_commit(rg_world *world, const rg_stepping *job) {
    rg_world_content *c = &world->content;
    bool changed = false;
    for (size_t i = 0; i < c->bodies.count; i++) {
        if (job->member && !job->member[i])
            continue;
        changed = changed || !same(&c->position[i], &job->position[i], sizeof(rg_vec3)) ||
                  !same(&c->orientation[i], &job->orientation[i], sizeof(rg_quat)) ||
                  !same(&c->angle[i], &job->angle[i], sizeof(double)) ||
                  !same(&c->momentum[i], &job->end.momentum[i], sizeof(rg_vec3)) ||
                  !same(&c->angular_momentum[i], &job->end.angular_momentum[i], sizeof(rg_vec3)) ||
                  !same(&c->velocity[i], &job->end.velocity[i], sizeof(rg_vec3)) ||
                  !same(&c->angular_velocity[i], &job->end.angular_velocity[i], sizeof(rg_vec3));
        c->position[i] = job->position[i];
        c->orientation[i] = job->orientation[i];
        c->angle[i] = job->angle[i];
        c->velocity[i] = job->end.velocity[i];
        c->angular_velocity[i] = job->end.angular_velocity[i];
        c->momentum[i] = job->end.momentum[i];
        c->angular_momentum[i] = job->end.angular_momentum[i];
    }
    return changed;
}
