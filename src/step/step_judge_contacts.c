/* The judge of contacts: what they did to the energy.
 *
 * An impulse P changes kinetic energy by P times the mean of the velocities before and after
 * of the point where it acts, exactly, as long as the body does not turn meanwhile. So the
 * velocities after are taken at the orientation of the beginning: angular momentum of the end,
 * inertia of the beginning. The turning itself brings nothing (no torque acts then), or it shows in
 * the closure. The formulas are the judge's own: inertia tensors in the origin frame as the user
 * gave them, prescribed motion from the poses of the bodies and not from the rows that the solver
 * saw. Tested by tests/step/test_judge.c. */
#include "base/base_math.h"
#include "rigor/contact_force.h"
#include "step/step_judge.h"

#include <string.h>

/* Contacts of a lane, at least: 20 to 100 ns each. */
enum { CONTACTS_PER_LANE = 512 };

rg_status rg_judge_remember(const rg_world_content *content, const uint8_t *whose,
                            const rg_judge_totals *known, rg_arena *arena,
                            rg_judge_memory *memory) {
    size_t n = content->bodies.count;
    rg_vec3 *position = rg_arena_take(arena, n, sizeof *position);
    rg_vec3 *velocity = rg_arena_take(arena, n, sizeof *velocity);
    rg_vec3 *angular_velocity = rg_arena_take(arena, n, sizeof *angular_velocity);
    rg_quat *orientation = rg_arena_take(arena, n, sizeof *orientation);
    rg_pose *origin = rg_arena_take(arena, n, sizeof *origin);
    rg_vec3 *spin = rg_arena_take(arena, n, sizeof *spin);
    rg_vec3 *turning = rg_arena_take(arena, n, sizeof *turning);
    rg_pose *now = rg_arena_take(arena, n, sizeof *now);
    uint8_t *still = rg_arena_take(arena, n, sizeof *still);
    if (!position || !velocity || !angular_velocity || !orientation || !origin || !spin ||
        !turning || !now || !still)
        return RG_OUT_OF_MEMORY;
    for (size_t i = 0; i < n; i++) { /* not as blocks: an empty world has none */
        position[i] = content->position[i];
        velocity[i] = content->velocity[i];
        angular_velocity[i] = content->angular_velocity[i];
        orientation[i] = content->orientation[i];
        if (!whose || whose[i] || content->record[i].motion != RG_MOTION_DYNAMIC)
            rg_judge_origin(content, i, &origin[i]);
    }
    *memory = (rg_judge_memory){.totals = known   ? *known
                                          : whose ? (rg_judge_totals){0}
                                                  : rg_judge_look(content),
                                .time = content->time,
                                .position = position,
                                .velocity = velocity,
                                .angular_velocity = angular_velocity,
                                .orientation = orientation,
                                .origin = origin,
                                .now = now,
                                .turning = turning,
                                .spin = spin,
                                .still = still};
    return RG_OK;
}

/* --- work ------------------------------------------------------------------------------------- */

/* Angular velocity that the body would have after the impulses, had it not turned. */
static inline rg_vec3 spin_before_turning(const rg_world_content *c, const rg_judge_memory *before,
                                          size_t i) {
    const rg_mat3 *inertia = &c->record[i].mass.inertia;
    rg_vec3 w = c->angular_velocity[i];
    if (c->planar || rg_is_zero(w) || rg_mat3_is_scalar(inertia))
        return w; /* turning changes nothing */
    return rg_judge_turn_through(inertia, true, before->origin[i].orientation, before->turning[i]);
}

static inline rg_judge_motion_at motion_at(const rg_world_content *c, const rg_judge_memory *before,
                                           double step, size_t i, rg_vec3 p) {
    rg_judge_motion_at m = {.dynamic = c->record[i].motion == RG_MOTION_DYNAMIC};
    m.spin_before = m.spin_after = c->angular_velocity[i];
    if (m.dynamic) {
        rg_vec3 arm = rg_sub(p, before->position[i]);
        m.spin_before = before->angular_velocity[i];
        m.spin_after = before->spin[i];
        m.before = rg_add(before->velocity[i], rg_cross(m.spin_before, arm));
        m.after = rg_add(c->velocity[i], rg_cross(m.spin_after, arm));
    } else if (c->record[i].prescription1 && step == 0) {
        rg_vec3 arm = rg_sub(p, c->position[i]);
        m.before = m.after = rg_add(c->velocity[i], rg_cross(c->angular_velocity[i], arm));
    } else if (c->record[i].prescription1) {
        rg_vec3 local = rg_pose_apply_inverse(before->origin[i], p);
        rg_vec3 there = rg_pose_apply(before->now[i], local);
        m.before = m.after = rg_scale(1 / step, rg_sub(there, p));
    }
    return m;
}

rg_judge_motion_at rg_judge_motion_of(const rg_world_content *c, const rg_judge_memory *before,
                                      double step, size_t i, rg_vec3 p) {
    return motion_at(c, before, step, i, p);
}

/* m/s in world axes: how the surface of a collider runs along its body, across the normal. */
static rg_vec3 running(const rg_world_content *c, const rg_judge_memory *before,
                       rg_collider_id collider, size_t body, rg_vec3 normal) {
    const rg_collider *own = &c->collider[rg_handle_index(&c->colliders, RG_HANDLE(collider))];
    if (rg_largest_entry(own->surface_velocity) == 0)
        return (rg_vec3){0, 0, 0};
    rg_vec3 v = rg_rotate(before->origin[body].orientation, own->surface_velocity);
    return rg_sub(v, rg_scale(rg_dot(v, normal), normal));
}

/* One law of rolling or torsional friction: `most` times the normal impulse, against w. */
static void check_twist(rg_vec3 impulse, double most, rg_vec3 w, double length, double speed,
                        rg_judge_contacts *sum) {
    double size = rg_length(impulse), rate = rg_length(w);
    if (!(most > 0)) {
        sum->twist_cone = fmax(sum->twist_cone, size > 0 ? INFINITY : 0);
        return;
    }
    sum->twist_cone = fmax(sum->twist_cone, size / most - 1);
    if (speed > 0)
        sum->twist_error =
            fmax(sum->twist_error, length * (rate + rg_dot(impulse, w) / most) / speed);
}

/* Rolling and torsional friction: work, and the law. */
static void account_twist(const rg_world_content *c, const rg_judge_memory *before, double step,
                          const rg_contact_force *f, rg_judge_contacts *sum) {
    size_t body[2] = {rg_body_dense(c, f->body_a), rg_body_dense(c, f->body_b)};
    rg_judge_motion_at a = rg_judge_motion_of(c, before, step, body[0], f->position);
    rg_judge_motion_at b = rg_judge_motion_of(c, before, step, body[1], f->position);
    rg_vec3 after = rg_sub(a.spin_after, b.spin_after), t = f->angular_impulse;
    sum->friction += 0.5 * rg_dot(t, rg_add(rg_sub(a.spin_before, b.spin_before), after));
    if (!a.dynamic)
        sum->prescribed -= rg_dot(t, a.spin_before);
    if (!b.dynamic)
        sum->prescribed += rg_dot(t, b.spin_before);
    if (a.dynamic != b.dynamic)
        sum->angular_impulse = rg_add_scaled(sum->angular_impulse, a.dynamic ? 1 : -1, t);
    double normal = fmax(0, rg_dot(f->impulse, f->normal));
    double speed = f->impact ? 0 : rg_length(c->gravity) * step; /* an impact has two laws */
    double length = rg_length(rg_sub(f->position, before->position[body[a.dynamic ? 0 : 1]]));
    rg_vec3 about = rg_scale(rg_dot(t, f->normal), f->normal);
    rg_vec3 spin = rg_scale(rg_dot(after, f->normal), f->normal);
    if (f->rolling_friction > 0)
        check_twist(rg_sub(t, about), f->rolling_friction * normal, rg_sub(after, spin), length,
                    speed, sum);
    if (f->torsional_friction > 0)
        check_twist(about, f->torsional_friction * normal, spin, length, speed, sum);
}

/* What the bodies that forces move are given by the others; `moves_a`: A is one of them. */
static void add_impulse(const rg_contact_force *f, bool moves_a, rg_judge_contacts *sum) {
    rg_vec3 given = moves_a ? f->impulse : rg_neg(f->impulse);
    sum->impulse = rg_add(sum->impulse, given);
    sum->angular_impulse = rg_add(sum->angular_impulse, rg_cross(f->position, given));
}

/* Does any surface run along its body? */
static bool has_running(const rg_world_content *c) {
    for (size_t i = 0; i < c->colliders.count; i++)
        if (!rg_is_zero(c->collider[i].surface_velocity))
            return true;
    return false;
}

static bool has_twist(const rg_contact_force *f) {
    return f->rolling_friction > 0 || f->torsional_friction > 0;
}

typedef struct accounting {
    const rg_world_content *content;
    const rg_judge_memory *before;
    const rg_judge_pushes *done;
    const uint8_t *whose;
    bool running; /* some surface runs along its body */
    rg_judge_contacts sums[RG_JUDGE_LANES];
} accounting;

static void account(const accounting *job, const rg_contact_force *f, size_t i, size_t j,
                    rg_judge_contacts *sum) {
    const rg_world_content *c = job->content;
    const rg_judge_memory *before = job->before;
    double step = job->done->step;
    rg_vec3 a[2], b[2];
    bool moves_a = rg_judge_moves(c, before, step, (uint32_t)i, f->position, a);
    bool moves_b = rg_judge_moves(c, before, step, (uint32_t)j, f->position, b);
    rg_vec3 mean = rg_scale(0.5, rg_sub(a[0], b[0]));
    double normal = rg_dot(f->impulse, f->normal) * rg_dot(mean, f->normal);
    double all = rg_dot(f->impulse, mean), driven = 0;
    /* Friction works on the surfaces; what they run by themselves is driven. */
    if (job->running)
        driven = rg_dot(f->impulse, rg_sub(running(c, before, f->collider_a, i, f->normal),
                                           running(c, before, f->collider_b, j, f->normal)));
    sum->friction += all - normal + driven;
    sum->prescribed -= driven;
    if (has_twist(f))
        account_twist(c, before, step, f, sum);
    if (normal > 0)
        sum->stabilisation += normal;
    else
        sum->impact += normal;
    if (!moves_a) /* what moves by itself pushes back on nothing that we count */
        sum->prescribed -= 0.5 * rg_dot(f->impulse, a[0]);
    if (!moves_b)
        sum->prescribed += 0.5 * rg_dot(f->impulse, b[0]);
    if (moves_a != moves_b)
        add_impulse(f, moves_a, sum);
}

/* Neither before nor after does a body move that forces move. */
static bool is_at_rest(const rg_world_content *c, const rg_judge_memory *before, size_t i) {
    return rg_is_zero(before->velocity[i]) && rg_is_zero(before->angular_velocity[i]) &&
           rg_is_zero(c->velocity[i]) && rg_is_zero(before->spin[i]);
}

void rg_judge_contacts_add(rg_judge_contacts *sum, const rg_judge_contacts *more) {
    sum->friction += more->friction;
    sum->drive += more->drive;
    sum->impact += more->impact;
    sum->stabilisation += more->stabilisation;
    sum->prescribed += more->prescribed;
    sum->integration += more->integration;
    sum->impulse = rg_add(sum->impulse, more->impulse);
    sum->angular_impulse = rg_add(sum->angular_impulse, more->angular_impulse);
    sum->twist_cone = fmax(sum->twist_cone, more->twist_cone);
    sum->twist_error = fmax(sum->twist_error, more->twist_error);
}

/* Contacts of the same two bodies follow one another. */
static void account_lane(void *user, size_t begin, size_t end, size_t lane) {
    accounting *a = user;
    const rg_world_content *c = a->content;
    const uint8_t *still = a->before->still, *whose = a->whose;
    const rg_contact_force *last = NULL;
    size_t i = 0, j = 0;
    bool counts = false, idle = false, moves_a = false, moves_b = false;
    for (const rg_contact_force *f = a->done->forces + begin; begin < end; begin++, last = f++) {
        if (!last || last->body_a.index1 != f->body_a.index1 ||
            last->body_b.index1 != f->body_b.index1) {
            i = rg_body_dense(c, f->body_a), j = rg_body_dense(c, f->body_b);
            counts = !whose || whose[i] || whose[j];
            idle = still[i] && still[j] && !a->running;
            moves_a = c->record[i].motion == RG_MOTION_DYNAMIC;
            moves_b = c->record[j].motion == RG_MOTION_DYNAMIC;
        }
        if (!counts)
            continue;
        if (!idle || has_twist(f))
            account(a, f, i, j, &a->sums[lane]);
        else if (moves_a != moves_b) /* no work */
            add_impulse(f, moves_a, &a->sums[lane]);
    }
}

/* Contacts are dealt out to lanes, whatever the number of threads, and the sums of these are added
 * in their order. */
static void account_all(const rg_world_content *c, const rg_judge_memory *before,
                        const rg_judge_pushes *done, const uint8_t *whose, rg_judge_contacts *sum) {
    accounting a = {.content = c, .before = before, .done = done, .whose = whose};
    a.running = has_running(c);
    size_t grain = rg_chunk_count(done->count, RG_JUDGE_LANES);
    grain = grain > CONTACTS_PER_LANE ? grain : CONTACTS_PER_LANE;
    rg_parallel_for(done->pool, done->count, grain, account_lane, &a);
    for (size_t i = 0; i < rg_chunk_count(done->count, grain); i++)
        rg_judge_contacts_add(sum, &a.sums[i]);
}

/* How a body moved, apart from contacts: what gravity's path brings, and what is at stake. */
static inline void account_body(const rg_world_content *c, const rg_judge_memory *before,
                                double step, size_t i, bool own, rg_judge_contacts *sum) {
    rg_vec3 mean = rg_scale(0.5 * step, rg_add(before->velocity[i], c->velocity[i]));
    rg_vec3 off = rg_sub(mean, rg_sub(c->position[i], before->position[i]));
    double mass = c->record[i].mass.mass, scale = c->dynamics[i].gravity_scale;
    if (own)
        sum->integration += mass * scale * rg_dot(c->gravity, off);
    double fall = step * fabs(scale), share = mass * fall; /* times |g| or its square */
    sum->stake += 0.5 * share * fall;
    sum->momentum_stake += share;
    sum->angular_stake += share * rg_length(before->position[i]);
}

rg_judge_contacts rg_judge_contact_work(const rg_world_content *c, const rg_judge_memory *before,
                                        rg_judge_pushes done, const uint8_t *whose) {
    rg_judge_contacts sum = {0};
    if (!done.arrived)
        rg_judge_arrive(c, whose, before);
    for (size_t i = 0; i < c->bodies.count; i++) {
        bool dynamic = c->record[i].motion == RG_MOTION_DYNAMIC, own = !whose || whose[i];
        before->still[i] = !dynamic && !c->record[i].prescription1;
        if (!dynamic)
            continue;
        account_body(c, before, done.step, i, own, &sum);
        if (own && done.count + done.joint_count) {
            before->spin[i] = spin_before_turning(c, before, i);
            before->still[i] = is_at_rest(c, before, i);
        }
    }
    double gravity = rg_length(c->gravity);
    sum.stake *= gravity * gravity;
    sum.momentum_stake *= gravity;
    sum.angular_stake *= gravity;
    if (done.count)
        account_all(c, before, &done, whose, &sum);
    if (done.joint_count)
        rg_judge_joint_work(c, before, done, whose, &sum);
    return sum;
}
