/* One complementarity problem per island and step (Hart-Anitescu 2010, Algorithm 9): velocities v+ and
 * impulses r with
 *
 *     M (v+ - v_free) = J' r,   u = J v+ + gamma gap / h (normal rows),   Coulomb's law between r and u,
 *
 * so that after the step, q+ = q + h v+, gaps are what they should be up to O(h^2).
 *
 * Of the traps in the paper: the gap is that of the event itself, not of the pair (each vertex of a
 * face may approach as far as it is away); gaps that are open count in full, penetrations by gamma;
 * all events of the one separating feature are used, and no other feature.
 *
 * Restitution. The problem is solved without it first. Where bodies met that have some, it is solved
 * again with u_N >= e (speed of approach) there, and the answer is the point on the way from the first
 * to the second that is farthest without more kinetic energy than the forces of the step account for:
 * Newton's law with friction can gain energy (Baraff 1994 survey, section 6), this one cannot. */
#include "step/step_contacts.h"

#include "base/base_text.h"
#include "contact/contact.h"
#include "step/step_machinery.h"

#include <assert.h>
#include <string.h>

/* --- prescribed motion --------------------------------------------------------------------------- */

typedef struct displacement_job {
    const rg_world_content *content;
    double end_time;
} displacement_job;

static rg_vec3 displacement_of(const void *user, size_t body, rg_vec3 p) {
    const displacement_job *job = user;
    const rg_world_content *c = job->content;
    if (!c->record[body].prescription1)
        return (rg_vec3){0, 0, 0};
    rg_motion_state end = rg_prescription_evaluate(c, body, job->end_time);
    rg_vec3 local = rg_rotate_back(c->orientation[body], rg_sub(p, c->position[body]));
    return rg_sub(rg_add(end.position, rg_rotate(end.orientation, local)), p);
}

/* --- the job ------------------------------------------------------------------------------------- */

typedef struct lane_report {
    rg_status status;
    rg_error error;
    double worst_residual, worst_cone;
    uint64_t solves, iterations, failures, fallbacks;
} lane_report;

typedef struct contact_job {
    rg_world *world;
    rg_contact_step *contacts;
    rg_step_machinery *machinery;
    const rg_collision_view *view;
    double speed;                   /* m/s: |g| h */
    double *before;                 /* rows: velocities at the beginning of the step */
    double *shift;                  /* rows */
    double *mu;                     /* contacts */
    uint8_t *meets;                 /* contacts: 1 where restitution applies */
    const rg_contact_force **last;  /* contacts: what was there in the step before, or null */
    const rg_contact_force **start; /* the same or, in a second pass, what the first one found */
    rg_vec3 *velocity, *angular_velocity; /* bodies: at the end, at the orientation of now */
    lane_report lanes[RG_STEP_LANES];
    size_t grain;
    bool
        again; /* a second pass or a later one: what the one before could not solve is still hard */
} contact_job;

/* --- what was there before ----------------------------------------------------------------------- */

static int compare_numbers(uint64_t a, uint64_t b) {
    return a < b ? -1 : a > b;
}

static int compare_key(const rg_contact_force *f, const rg_touch *touch,
                       const rg_manifold *manifold, uint64_t id) {
    int order = compare_numbers(f->collider_b.index1, touch->collider_b.index1);
    if (!order)
        order = compare_numbers(f->collider_a.index1, touch->collider_a.index1);
    if (!order)
        order = compare_numbers(f->part_b, manifold->part1);
    if (!order)
        order = compare_numbers(f->part_a, manifold->part2);
    return order ? order : compare_numbers(f->id, id);
}

static bool same_generation(const rg_contact_force *f, const rg_touch *touch) {
    return f->collider_b.generation == touch->collider_b.generation &&
           f->collider_a.generation == touch->collider_a.generation;
}

/* Both lists are in the order of colliders, parts and points: one walk along them. */
static void find_old(const contact_job *job, const rg_contact_force *old, size_t count,
                     const rg_contact_force **found_old) {
    size_t at = 0;
    const rg_row_set *set = &job->contacts->set;
    for (size_t i = 0; i < set->count; i++) {
        const rg_contact_row *row = &set->rows[i];
        const rg_touch *touch = &job->view->touches[row->touch];
        const rg_manifold *manifold = &job->view->manifolds[row->manifold];
        uint64_t id = job->view->points[row->point].id;
        while (at < count && compare_key(&old[at], touch, manifold, id) < 0)
            at++;
        bool found = at < count && compare_key(&old[at], touch, manifold, id) == 0 &&
                     same_generation(&old[at], touch);
        found_old[i] = found ? &old[at] : NULL;
    }
}

/* --- laws ---------------------------------------------------------------------------------------- */

static double slip_of(const rg_row_set *set, const double *u) {
    return set->dimension == 3 ? sqrt(u[1] * u[1] + u[2] * u[2]) : fabs(u[1]);
}

/* Static friction where the surfaces stuck in the step before, or meet without slip. */
static double coefficient(const contact_job *job, size_t i) {
    const rg_row_set *set = &job->contacts->set;
    const rg_contact_law *law = &set->rows[i].law;
    const rg_contact_force *last = job->last[i];
    bool stuck;
    if (last && last->mode != RG_MODE_SEPARATING)
        stuck = last->mode != RG_MODE_SLIP;
    else
        stuck = slip_of(set, job->before + i * (size_t)set->dimension) <= RG_STEP_SLIP * job->speed;
    return stuck ? law->static_friction : law->dynamic_friction;
}

/* How fast a gap may close within a step although the linear problem holds it: surfaces that turn or
 * slide follow arcs, and leave their tangents by (speed^2 / arm) h^2 / 2. */
static double drift_speed(const contact_job *job, size_t i) {
    const rg_row_set *set = &job->contacts->set;
    const rg_world_content *c = &job->world->content;
    const rg_contact_row *row = &set->rows[i];
    double speed = slip_of(set, job->before + i * (size_t)set->dimension), shortest = INFINITY;
    for (int side = 0; side < 2; side++) {
        if (!(side == 0 ? row->moves_a : row->moves_b))
            continue;
        uint32_t body = side == 0 ? row->body_a : row->body_b;
        double arm = rg_length(rg_sub(row->position, c->position[body]));
        speed += rg_length(c->angular_velocity[body]) * arm;
        shortest = fmin(shortest, arm);
    }
    return speed > 0 ? fmin(speed, RG_STEP_DRIFT * job->contacts->step * speed * speed / shortest)
                     : 0;
}

/* What the gap adds to the velocity of the normal row. */
static double stabilisation(const contact_job *job, size_t i) {
    const rg_contact_step *contacts = job->contacts;
    const rg_world_content *c = &job->world->content;
    const rg_contact_row *row = &contacts->set.rows[i];
    double gap = row->gap, h = contacts->step;
    if (gap >= 0)
        return gap / h;
    double depth = -gap;
    double gravity = rg_length(c->gravity);
    double most =
        gravity > 0 ? sqrt(RG_STEP_PUSH_RISE * gravity * depth) : depth / RG_STEP_PUSH_TIME;
    return -fmin(c->settings.gamma * depth / h, fmax(most, drift_speed(job, i)));
}

static rg_status prepare(contact_job *job, rg_arena *arena, const rg_contact_force *first,
                         size_t first_count) {
    rg_contact_step *contacts = job->contacts;
    const rg_row_set *set = &contacts->set;
    const rg_world_content *c = &job->world->content;
    size_t d = (size_t)set->dimension, rows = set->count * d;
    contacts->impulse = rg_arena_take(arena, rows, sizeof *contacts->impulse);
    contacts->forces = rg_arena_take(arena, set->count, sizeof *contacts->forces);
    job->before = rg_arena_take(arena, rows, sizeof *job->before);
    job->shift = rg_arena_take(arena, rows, sizeof *job->shift);
    job->mu = rg_arena_take(arena, set->count, sizeof *job->mu);
    job->meets = rg_arena_take(arena, set->count, sizeof *job->meets);
    job->last = rg_arena_take(arena, set->count, sizeof *job->last);
    job->start = rg_arena_take(arena, set->count, sizeof *job->start);
    if (!contacts->impulse || !contacts->forces || !job->before || !job->shift || !job->mu ||
        !job->meets || !job->last || !job->start)
        return RG_OUT_OF_MEMORY;
    find_old(job, contacts->last, contacts->last_count, job->last);
    if (first)
        find_old(job, first, first_count, job->start);
    else
        memcpy(job->start, job->last, set->count * sizeof *job->start);
    for (size_t i = 0; i < set->count; i++) {
        const rg_contact_row *row = &set->rows[i];
        double free[3], *u = job->before + i * d, *shift = job->shift + i * d;
        rg_row_velocity(set, i, c->velocity, c->angular_velocity, u);
        rg_row_velocity(set, i, contacts->free_velocity, contacts->free_angular_velocity, free);
        shift[0] = rg_dot(row->surface, row->normal) + stabilisation(job, i);
        shift[1] = rg_dot(row->surface, row->tangent1);
        if (d == 3)
            shift[2] = rg_dot(row->surface, row->tangent2);
        job->mu[i] = coefficient(job, i);
        job->meets[i] = row->law.restitution > 0 &&
                        -u[0] > RG_STEP_IMPACT * rg_length(c->gravity) * contacts->step &&
                        row->gap + contacts->step * free[0] < 0;
        double *impulse = contacts->impulse + i * d;
        if (job->start[i])
            rg_row_components(set, i, rg_scale(contacts->step, job->start[i]->force), impulse);
        else
            memset(impulse, 0, d * sizeof *impulse);
    }
    return RG_OK;
}

/* --- one island ---------------------------------------------------------------------------------- */

typedef struct island_answer {
    double *force, *velocity; /* rows */
    rg_residual residual;
} island_answer;

/* One try; `info` tells. */
static rg_status solve_once(contact_job *job, rg_solve_context *context, const rg_problem *problem,
                            const rg_solver *solver, bool warm, uint32_t effort,
                            const island_answer *answer, rg_solve_info *info, rg_error *error) {
    const rg_method_settings *method = &job->world->content.settings;
    rg_solve_settings settings = rg_solve_settings_default();
    settings.tolerance = fmax(RG_STEP_AIM * method->solver_tolerance, 1e-15);
    settings.acceptable = method->solver_tolerance;
    settings.warm = warm;
    settings.effort = effort;
    rg_solution solution = {.force = answer->force, .velocity = answer->velocity};
    return rg_solve(context, solver, problem, &settings, &solution, info, error);
}

static rg_status take_answer(rg_arena *arena, size_t rows, island_answer *answer) {
    answer->force = rg_arena_take(arena, rows, sizeof *answer->force);
    answer->velocity = rg_arena_take(arena, rows, sizeof *answer->velocity);
    return answer->force && answer->velocity ? RG_OK : RG_OUT_OF_MEMORY;
}

/* The last forces may lead to where there is no way on: without them, once more; the better stays. */
static rg_status solve_cold(contact_job *job, rg_arena *arena, rg_solve_context *context,
                            const rg_problem *problem, island_answer *answer, rg_solve_info *info,
                            rg_error *error) {
    size_t rows = rg_problem_rows(problem);
    island_answer again;
    rg_solve_info other;
    if (take_answer(arena, rows, &again))
        return rg_fail(error, RG_OUT_OF_MEMORY, "no memory for contacts");
    rg_status status =
        solve_once(job, context, problem, rg_solver_at(0), false, 0, &again, &other, error);
    if (status)
        return status;
    info->iterations += other.iterations;
    info->fallbacks++;
    if (other.residual.natural < info->residual.natural) {
        info->residual = other.residual;
        memcpy(answer->force, again.force, rows * sizeof *again.force);
        memcpy(answer->velocity, again.velocity, rows * sizeof *again.velocity);
    }
    return RG_OK;
}

static rg_status solve_island(contact_job *job, rg_arena *arena, rg_solve_context *context,
                              const rg_problem *problem, bool warm, island_answer *answer,
                              lane_report *report) {
    const rg_method_settings *method = &job->world->content.settings;
    const rg_solver *automatic = rg_solver_at(0);
    const rg_solver *solver = method->solver ? method->solver : automatic;
    rg_solve_info info;
    rg_error *error = &report->error;
    bool large = problem->contact.contacts > RG_STEP_LARGE;
    uint32_t effort = large ? RG_STEP_EFFORT / (job->again ? RG_STEP_EFFORT_AGAIN : 1) : 0;
    rg_status status =
        solve_once(job, context, problem, solver, warm, effort, answer, &info, error);
    bool unsuitable = !status && info.outcome == RG_SOLVE_UNSUITABLE;
    if (unsuitable) /* better another solver's answer than none */
        status = solve_once(job, context, problem, automatic, warm, effort, answer, &info, error);
    bool free_choice = solver == automatic || unsuitable;
    if (!status && large && free_choice && info.residual.natural > RG_STEP_POOR) {
        uint64_t iterations = info.iterations;
        status = solve_once(job, context, problem, automatic, true, RG_STEP_EFFORT_MORE * effort,
                            answer, &info, error);
        info.iterations += iterations;
        info.fallbacks++;
    }
    bool bad = !status && !(info.residual.natural <= method->solver_tolerance);
    if (bad && warm && free_choice && problem->contact.contacts <= RG_STEP_COLD_MOST)
        status = solve_cold(job, arena, context, problem, answer, &info, error);
    if (status)
        return status;
    answer->residual = info.residual;
    report->solves++;
    report->iterations += info.iterations;
    report->fallbacks += unsuitable || info.fallbacks > 0;
    report->failures += !(info.residual.natural <= method->solver_tolerance);
    return RG_OK;
}

/* Where on the way from answer 0 to answer 1 the contacts bring no more energy than answer 0 does:
 * at 1, or before. Twice the energy that impulses r bring is r.(u_start + u(r)), u the relative
 * velocities of the surfaces at the beginning and at the end of the step, as in the ledger, and
 * quadratic along the way. */
static double share_without_gain(const double *r0, const double *r1, const double *u0,
                                 const double *u1, const double *start, size_t rows) {
    double constant = 0, linear = 0, square = 0;
    for (size_t i = 0; i < rows; i++) {
        double dr = r1[i] - r0[i], du = u1[i] - u0[i], base = start[i] + u0[i];
        constant += r0[i] * base;
        linear += dr * base + r0[i] * du;
        square += dr * du;
    }
    double allowed = fmax(0, constant) - constant; /* push-outs may bring some */
    if (linear + square <= allowed)
        return 1;
    if (square <= 0)
        return fmax(0, fmin(1, allowed / linear));
    double root = (-linear + sqrt(fmax(0, linear * linear + 4 * square * allowed))) / (2 * square);
    return fmax(0, fmin(1, root));
}

/* The second solve, and the mixture of both. Newton's law holds at every contact that meets, whether
 * or not the first solve loaded it: u_N >= e |u_N before|, complementary to the impulse (Baraff 1989,
 * eq. 27-29; Giang 2003, eq. 19-20). Which contacts of a redundant set carry force is the solver's
 * choice, and the answer must not depend on it. Contacts that separate beforehand take no part
 * (Baraff 1989, footnote 9): `meets` leaves them out. */
static rg_status add_restitution(contact_job *job, rg_arena *arena, rg_solve_context *context,
                                 const rg_island *island, rg_problem *problem,
                                 island_answer *answer, lane_report *report) {
    const rg_row_set *set = &job->contacts->set;
    const rg_islands *islands = &job->contacts->islands;
    size_t d = (size_t)set->dimension, rows = island->contact_count * d;
    const double *shift0 = problem->contact.q;
    double *shift1 = rg_arena_take(arena, rows, sizeof *shift1);
    double *start = rg_arena_take(arena, rows, sizeof *start);
    island_answer second;
    if (!shift1 || !start || take_answer(arena, rows, &second))
        return rg_fail(&report->error, RG_OUT_OF_MEMORY, "no memory for contacts");
    memcpy(shift1, shift0, rows * sizeof *shift1);
    memcpy(second.force, answer->force, rows * sizeof *second.force);
    double scale = problem->scale;
    for (size_t k = 0; k < island->contact_count; k++) {
        uint32_t i = islands->contacts[island->first_contact + k];
        const rg_contact_row *row = &set->rows[i];
        memcpy(start + k * d, job->before + i * d, d * sizeof *start);
        if (!job->meets[i])
            continue;
        scale = fmax(scale, -job->before[i * d]);
        shift1[k * d] =
            rg_dot(row->surface, row->normal) + row->law.restitution * job->before[i * d];
    }
    problem->contact.q = shift1;
    problem->scale = scale; /* the speeds that matter here are those of the impacts */
    if (job->machinery->observer)
        job->machinery->observer(job->machinery->observer_user, job->world->content.step_count,
                                 job->contacts->shown + (size_t)(island - islands->islands),
                                 problem);
    uint64_t failures = report->failures;
    rg_status status = solve_island(job, arena, context, problem, true, &second, report);
    if (status)
        return status;
    if (report->failures > failures) {
        /* Bodies wedged between others cannot all be thrown back: there need not be an answer. The
         * one without restitution stands, and that another law had to step in is told. */
        report->failures = failures;
        report->fallbacks++;
        return RG_OK;
    }
    for (size_t k = 0; k < island->contact_count; k++) {
        /* Only the normal rows carry more than the velocity of the surfaces. */
        const rg_contact_row *row = &set->rows[islands->contacts[island->first_contact + k]];
        double surface = rg_dot(row->surface, row->normal);
        answer->velocity[k * d] -= shift0[k * d] - surface;
        second.velocity[k * d] -= shift1[k * d] - surface;
    }
    double s = share_without_gain(answer->force, second.force, answer->velocity, second.velocity,
                                  start, rows);
    for (size_t i = 0; i < rows; i++)
        answer->force[i] += s * (second.force[i] - answer->force[i]);
    answer->residual = second.residual;
    return RG_OK;
}

static rg_status run_island(contact_job *job, rg_arena *arena, rg_solve_context *context,
                            const rg_island *island, lane_report *report) {
    rg_contact_step *contacts = job->contacts;
    const rg_row_set *set = &contacts->set;
    const rg_islands *islands = &contacts->islands;
    const rg_world_content *c = &job->world->content;
    size_t d = (size_t)set->dimension, rows = island->contact_count * d;
    rg_problem problem;
    island_answer answer;
    rg_status status = rg_island_problem(c, set, islands, island, contacts->free_velocity,
                                         contacts->free_angular_velocity, job->shift, job->mu,
                                         c->settings.friction_directions, arena, &problem);
    if (!status)
        status = take_answer(arena, rows, &answer);
    if (status)
        return rg_fail(&report->error, status, "no memory for contacts");
    problem.scale = job->speed;
    if (job->machinery->observer)
        job->machinery->observer(job->machinery->observer_user, c->step_count,
                                 contacts->shown + (size_t)(island - islands->islands), &problem);
    bool warm = false, meets = false;
    for (size_t k = 0; k < island->contact_count; k++) {
        uint32_t i = islands->contacts[island->first_contact + k];
        memcpy(answer.force + k * d, contacts->impulse + i * d, d * sizeof *answer.force);
        warm |= job->start[i] != NULL;
        meets |= job->meets[i] != 0;
    }
    status = solve_island(job, arena, context, &problem, warm, &answer, report);
    if (!status && meets)
        status = add_restitution(job, arena, context, island, &problem, &answer, report);
    if (status)
        return status;
    for (size_t k = 0; k < island->contact_count; k++) {
        uint32_t i = islands->contacts[island->first_contact + k];
        memcpy(contacts->impulse + i * d, answer.force + k * d, d * sizeof *answer.force);
    }
    report->worst_residual = fmax(report->worst_residual, answer.residual.natural);
    report->worst_cone = fmax(report->worst_cone, answer.residual.force);
    return RG_OK;
}

static void run_lane(void *user, size_t begin, size_t end, size_t lane) {
    contact_job *job = user;
    lane_report *report = &job->lanes[lane];
    rg_arena *arena = &job->machinery->arenas[lane];
    for (size_t i = begin; i < end && !report->status; i++) {
        rg_arena_reset(arena);
        report->status = run_island(job, arena, job->machinery->contexts[lane],
                                    &job->contacts->islands.islands[i], report);
    }
}

static rg_status collect(contact_job *job, rg_error *error) {
    rg_contact_step *contacts = job->contacts;
    for (int i = 0; i < RG_STEP_LANES; i++) {
        const lane_report *lane = &job->lanes[i];
        if (lane->status) {
            if (error)
                *error = lane->error;
            return lane->status;
        }
        contacts->solves += lane->solves;
        contacts->iterations += lane->iterations;
        contacts->failures += lane->failures;
        contacts->fallbacks += lane->fallbacks;
        if (lane->solves) {
            contacts->worst_residual = fmax(contacts->worst_residual, lane->worst_residual);
            contacts->worst_cone = fmax(contacts->worst_cone, lane->worst_cone);
        }
    }
    return RG_OK;
}

/* --- what is told of it -------------------------------------------------------------------------- */

static rg_contact_mode mode_of(const contact_job *job, size_t i, double normal, double slip,
                               bool curved) {
    const rg_contact_row *row = &job->contacts->set.rows[i];
    const rg_world_content *c = &job->world->content;
    double mass = INFINITY;
    if (row->moves_a)
        mass = fmin(mass, c->dynamics[row->body_a].mass);
    if (row->moves_b)
        mass = fmin(mass, c->dynamics[row->body_b].mass);
    if (!(normal > RG_STEP_NO_FORCE * mass * job->speed))
        return RG_MODE_SEPARATING;
    if (slip > RG_STEP_SLIP * job->speed)
        return RG_MODE_SLIP;
    rg_vec3 spin = rg_sub(c->angular_velocity[row->body_a], c->angular_velocity[row->body_b]);
    rg_vec3 rolling = rg_add_scaled(spin, -rg_dot(spin, row->normal), row->normal);
    double turning =
        rg_length(rolling) *
        rg_length(rg_sub(row->position, c->position[row->moves_a ? row->body_a : row->body_b]));
    return curved && turning > RG_STEP_SLIP * job->speed ? RG_MODE_ROLL : RG_MODE_STICK;
}

/* Velocities at the end of the step, at the orientation of its beginning. */
static void end_velocities(contact_job *job) {
    const rg_contact_step *contacts = job->contacts;
    const rg_world_content *c = &job->world->content;
    size_t n = c->bodies.count, d = (size_t)contacts->set.dimension;
    rg_vec3 *velocity = job->velocity, *angular_velocity = job->angular_velocity;
    memcpy(velocity, contacts->free_velocity, n * sizeof *velocity);
    memcpy(angular_velocity, contacts->free_angular_velocity, n * sizeof *angular_velocity);
    for (size_t i = 0; i < contacts->set.count; i++) {
        const rg_contact_row *row = &contacts->set.rows[i];
        rg_vec3 impulse = rg_row_force(&contacts->set, i, contacts->impulse + i * d);
        for (int side = 0; side < 2; side++) {
            uint32_t body = side == 0 ? row->body_a : row->body_b;
            if (!(side == 0 ? row->moves_a : row->moves_b))
                continue;
            rg_vec3 given = side == 0 ? impulse : rg_neg(impulse);
            const rg_body_dynamics *dynamics = &c->dynamics[body];
            rg_vec3 moment = rg_cross(rg_sub(row->position, c->position[body]), given);
            velocity[body] = rg_add_scaled(velocity[body], dynamics->inverse_mass, given);
            rg_vec3 turned =
                rg_times(dynamics->inverse_inertia, rg_rotate_back(c->orientation[body], moment));
            if (c->planar)
                turned = (rg_vec3){0, dynamics->inverse_inertia.y * moment.y, 0};
            else
                turned = rg_rotate(c->orientation[body], turned);
            angular_velocity[body] = rg_add(angular_velocity[body], turned);
        }
    }
}

static void describe(contact_job *job) {
    rg_contact_step *contacts = job->contacts;
    const rg_row_set *set = &contacts->set;
    size_t d = (size_t)set->dimension;
    end_velocities(job);
    contacts->impacts = 0;
    for (size_t i = 0; i < set->count; i++) {
        const rg_contact_row *row = &set->rows[i];
        const rg_touch *touch = &job->view->touches[row->touch];
        const rg_manifold *manifold = &job->view->manifolds[row->manifold];
        const rg_contact_point *point = &job->view->points[row->point];
        const double *r = contacts->impulse + i * d;
        double u[3];
        rg_row_velocity(set, i, job->velocity, job->angular_velocity, u);
        double slip = slip_of(set, u);
        rg_vec3 impulse = rg_row_force(set, i, r);
        bool met = job->meets[i] && r[0] > 0;
        memset(&contacts->forces[i], 0, sizeof contacts->forces[i]); /* padding is stored, too */
        contacts->forces[i] = (rg_contact_force){
            .collider_b = touch->collider_b,
            .collider_a = touch->collider_a,
            .body_b = touch->body_b,
            .body_a = touch->body_a,
            .part_b = manifold->part1,
            .part_a = manifold->part2,
            .id = point->id,
            .position = row->position,
            .normal = row->normal,
            .gap = row->gap,
            .impulse = impulse,
            .force = rg_scale(1 / contacts->step, impulse),
            .normal_force = r[0] / contacts->step,
            .friction = job->mu[i],
            .slip_speed = slip,
            .approach = -job->before[i * d],
            .mode = mode_of(job, i, r[0], slip, point->feature.kind == RG_CONTACT_SMOOTH),
            .impact = met,
        };
        contacts->impacts += met;
    }
}

/* --- the table of contents ----------------------------------------------------------------------- */

/* The largest speed of a body's material at a contact: what relative speeds are rounded against. */
static double largest_speed(const contact_job *job) {
    const rg_row_set *set = &job->contacts->set;
    const rg_world_content *c = &job->world->content;
    double largest = 0;
    for (size_t i = 0; i < set->count; i++) {
        const rg_contact_row *row = &set->rows[i];
        for (int side = 0; side < 2; side++) {
            uint32_t body = side == 0 ? row->body_a : row->body_b;
            double arm = rg_length(rg_sub(row->position, c->position[body]));
            double speed = rg_length(job->contacts->free_velocity[body]) +
                           rg_length(job->contacts->free_angular_velocity[body]) * arm;
            if (side == 0 ? row->moves_a : row->moves_b)
                largest = fmax(largest, speed);
        }
    }
    return largest;
}

static double reference_speed(const contact_job *job) {
    double rounding = RG_STEP_ROUNDING * largest_speed(job);
    double speed = rg_length(job->world->content.gravity) * job->contacts->step;
    if (speed > 0)
        return fmax(speed, rounding);
    const rg_row_set *set = &job->contacts->set;
    for (size_t i = 0; i < set->count; i++) {
        double u[3];
        rg_row_velocity(set, i, job->contacts->free_velocity, job->contacts->free_angular_velocity,
                        u);
        for (int k = 0; k < set->dimension; k++)
            speed = fmax(speed, fabs(u[k]));
    }
    return fmax(speed, rounding);
}

/* Contacts of the poses of now, as far ahead as velocities reach: those of now, and `after`. */
static rg_status look(contact_job *job, const rg_collision_velocities *after, rg_error *error) {
    double ahead = job->world->content.settings.discrete_detection ? 0 : job->contacts->step;
    return rg_collision_refresh(job->machinery->collision, job->world, ahead, after, error);
}

/* Rows, islands, and the answer, from what was last looked at. */
static rg_status solve_pass(contact_job *job, const rg_contact_force *first, size_t first_count,
                            rg_error *error) {
    rg_world *world = job->world;
    rg_contact_step *contacts = job->contacts;
    rg_arena *arena = &world->scratch;
    displacement_job displacement = {&world->content, contacts->end_time};
    rg_status status = rg_rows_build(&world->content, job->view, contacts->step, displacement_of,
                                     &displacement, arena, &contacts->set);
    if (!status && contacts->member)
        rg_rows_keep(&contacts->set, contacts->member);
    if (!status && contacts->set.count == 0)
        return RG_OK;
    if (!status)
        status =
            rg_islands_find(&contacts->set, world->content.bodies.count, arena, &contacts->islands);
    job->speed = reference_speed(job);
    if (!status)
        status = prepare(job, arena, first, first_count);
    if (status)
        return rg_fail(error, status, "no memory for contacts");
    job->again = first != NULL;
    size_t islands = contacts->islands.count;
    job->grain = (islands + RG_STEP_LANES - 1) / RG_STEP_LANES;
    memset(job->lanes, 0, sizeof job->lanes);
    if (islands)
        rg_parallel_for(job->machinery->observer ? NULL : world->pool, islands, job->grain,
                        run_lane, job);
    status = collect(job, error);
    if (!status)
        describe(job);
    return status;
}

/* Did impacts change a velocity so much that bodies may meet which were not looked at? */
static bool has_impacts(const contact_job *job) {
    const rg_contact_step *contacts = job->contacts;
    const rg_world_content *c = &job->world->content;
    double fall = RG_CONTACT_AHEAD * rg_length(c->gravity) * contacts->step;
    for (size_t i = 0; i < c->bodies.count; i++) {
        rg_vec3 change = rg_sub(job->velocity[i], contacts->free_velocity[i]);
        rg_vec3 turn = rg_sub(job->angular_velocity[i], contacts->free_angular_velocity[i]);
        if (rg_length(change) + c->dynamics[i].gyration_radius * rg_length(turn) > fall)
            return true;
    }
    return false;
}

rg_status rg_contacts_solve(rg_world *world, rg_contact_step *contacts, rg_error *error) {
    contact_job job = {.world = world, .contacts = contacts};
    contacts->worst_residual = contacts->worst_cone = NAN;
    rg_world_content *c = &world->content;
    /* Gravity is known to the search; what other forces do within the step is not. */
    rg_collision_velocities forced = {contacts->free_velocity, contacts->free_angular_velocity};
    rg_status status = rg_machinery_of(world, &job.machinery, error);
    if (!status)
        status = look(&job, contacts->forced ? &forced : NULL, error);
    if (status)
        return status;
    rg_collision_view view = rg_collision_get(job.machinery->collision);
    job.view = &view;
    job.velocity = rg_arena_take(&world->scratch, c->bodies.count, sizeof *job.velocity);
    job.angular_velocity =
        rg_arena_take(&world->scratch, c->bodies.count, sizeof *job.angular_velocity);
    if (!job.velocity || !job.angular_velocity)
        return rg_fail(error, RG_OUT_OF_MEMORY, "no memory for contacts");
    status = solve_pass(&job, NULL, 0, error);
    for (int pass = 0; pass < RG_STEP_PASSES && !status && contacts->set.count; pass++) {
        if (c->settings.discrete_detection || !has_impacts(&job))
            break;
        const rg_contact_force *first = contacts->forces;
        size_t points = contacts->set.count, seen = contacts->member ? view.point_count : points;
        rg_collision_velocities after = {job.velocity, job.angular_velocity};
        status = look(&job, &after, error);
        view = rg_collision_get(job.machinery->collision);
        if (!status && view.point_count > seen)
            status = solve_pass(&job, first, points, error);
        else
            break;
    }
    return status;
}

rg_status rg_contacts_store(rg_world *world, const rg_contact_step *contacts, rg_error *error) {
    size_t bytes = contacts->set.count * sizeof *contacts->forces;
    void *memory = rg_memory_resize(world, RG_MEMORY_FORCES, bytes);
    if (!memory && bytes)
        return rg_fail(error, RG_OUT_OF_MEMORY, "no memory for contact forces");
    if (bytes)
        memcpy(memory, contacts->forces, bytes);
    return RG_OK;
}

const rg_contact_force *rg_world_contact_forces(const rg_world *world, size_t *count) {
    const rg_memory_block *block = &world->content.memory[RG_MEMORY_FORCES];
    *count = block->size / sizeof(rg_contact_force);
    return block->data;
}

size_t rg_body_contact_force(const rg_world *world, rg_body_id body, rg_vec3 *force,
                             rg_vec3 *torque) {
    size_t count, found = 0;
    const rg_contact_force *forces = rg_world_contact_forces(world, &count);
    rg_vec3 sum = {0, 0, 0}, moment = {0, 0, 0};
    rg_vec3 centre = world->content.position[rg_body_dense(&world->content, body)];
    for (size_t i = 0; i < count; i++) {
        const rg_contact_force *f = &forces[i];
        bool is_a = f->body_a.index1 == body.index1 && f->body_a.generation == body.generation;
        bool is_b = f->body_b.index1 == body.index1 && f->body_b.generation == body.generation;
        if (!is_a && !is_b)
            continue;
        rg_vec3 given = is_a ? f->force : rg_neg(f->force);
        sum = rg_add(sum, given);
        moment = rg_add(moment, rg_cross(rg_sub(f->position, centre), given));
        found++;
    }
    if (force)
        *force = sum;
    if (torque)
        *torque = moment;
    return found;
}

const char *rg_contact_mode_name(rg_contact_mode mode) {
    static const char *const names[] = {"separating", "stick", "slip", "roll"};
    return (unsigned)mode < 4 ? names[mode] : "unknown";
}
