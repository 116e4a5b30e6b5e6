/* A broad phase in step with the colliders of a world.
 *
 * A proxy remembers the generation of its collider's handle: a slot that is used again is a new
 * proxy, whose pairs begin anew. Bounds are computed on the world's threads, each body's by one of
 * them and into places of its own; bodies that ask a function of the caller's are left to the
 * calling thread.
 *
 * Continuous detection. Fixed bodies count as they stand. Dynamic ones go on with the velocity and
 * angular velocity of the state; but velocities change. Forces change them by an acceleration a
 * that the caller bounds: a step ends no farther than a h^2 from the steady motion, whether its
 * method uses old or new velocities. The angular velocity changes by itself, |omega'| <=
 * kappa |omega|^2 with kappa = max |I_j - I_k| / I_i <= 1 (Euler's equations), which turns the body
 * by kappa theta^2 / 2 from a steady turn by theta.
 *
 * Kinematic bodies with a prescribed velocity are exact, oscillations bounded by their largest
 * speeds. Of a function of the caller's nothing is known but its values: twice the larger speed of
 * the step's ends and the distance between them must do. One that is faster in between is not
 * covered. */
#include "broad/broad_world.h"

#include "base/base_math.h"
#include "shape/shape.h"
#include "world/world.h"

struct rg_broad_world {
    rg_allocator allocator;
    rg_broad *broad;
    uint32_t *generations; /* by slot: of the collider that the proxy stands for; 0: no proxy */
    size_t slot_count, capacity;
    rg_bounds *bounds; /* by slot, of this update */
    size_t bounds_capacity;
};

rg_status rg_broad_world_create(const rg_broad_def *def, const rg_allocator *allocator,
                                rg_broad_world **broad) {
    *broad = NULL;
    rg_broad_world *b = rg_object_make(rg_broad_world, allocator);
    rg_status status = b ? rg_broad_create(def, &b->allocator, &b->broad) : RG_OUT_OF_MEMORY;
    if (!status)
        *broad = b;
    else
        rg_object_release(b);
    return status;
}

void rg_broad_world_destroy(rg_broad_world *broad) {
    if (!broad)
        return;
    rg_broad_destroy(broad->broad);
    rg_release_all(&broad->allocator, broad->generations, broad->bounds);
    rg_object_release(broad);
}

rg_broad *rg_broad_world_pairs(rg_broad_world *broad) {
    return broad->broad;
}

rg_collider_id rg_broad_world_collider(const rg_broad_world *broad, uint32_t id) {
    if (id >= broad->slot_count || !broad->generations[id])
        return (rg_collider_id){0, 0};
    return (rg_collider_id){id + 1, broad->generations[id]};
}

const uint32_t *rg_broad_world_generations(const rg_broad_world *broad) {
    return broad->generations;
}

/* --- bounds --------------------------------------------------------------------------------------
 */

/* Radians by which a free turn differs from a steady one; `square`: of the turn, rad. */
static double free_turn_drift(const rg_body_dynamics *dynamics, double square) {
    rg_vec3 i = dynamics->inertia;
    if ((i.x == i.y && i.y == i.z) || !(rg_min3(i.x, i.y, i.z) > 0))
        return 0;
    double kappa = rg_max3(fabs(i.y - i.z) / i.x, fabs(i.z - i.x) / i.y, fabs(i.x - i.y) / i.z);
    return 0.5 * kappa * square;
}

/* How far a kinematic body may go and turn within the step. */
static void kinematic_reach(const rg_world_content *content, size_t body, double step,
                            double *shift, double *angle) {
    const rg_prescription *p =
        &content->prescriptions[content->record[body].prescription1 - 1].prescription;
    if (p->kind == RG_PRESCRIBED_OSCILLATION) {
        double phase = fmin(2 * RG_PI * p->frequency * step, 2); /* |sin - sin| <= phase, <= 2 */
        *shift = phase * rg_length(p->amplitude);
        *angle = phase * rg_length(p->rotation_amplitude);
        return;
    }
    rg_motion_state end = rg_prescription_evaluate(content, body, content->time + step);
    *shift = rg_length(rg_sub(end.position, content->position[body])) +
             2 * step * fmax(rg_length(end.velocity), rg_length(content->velocity[body]));
    *angle = 2 * step *
             fmax(rg_length(end.angular_velocity), rg_length(content->angular_velocity[body]));
    rg_quat p0 = content->orientation[body], p1 = end.orientation;
    /* The turn between the ends: theta <= pi |sin(theta / 2)|. */
    rg_quat turn = rg_quat_multiply(p1, rg_quat_conjugate(p0));
    *angle += RG_PI * rg_length(rg_vec3_make(turn.x, turn.y, turn.z));
}

static bool moves_steadily(const rg_world_content *content, size_t body) {
    const rg_body_record *record = &content->record[body];
    return record->motion == RG_MOTION_DYNAMIC ||
           content->prescriptions[record->prescription1 - 1].prescription.kind ==
               RG_PRESCRIBED_VELOCITY;
}

typedef struct bounds_job {
    const rg_world_content *content;
    const rg_broad_motion *motion;
    rg_bounds *bounds;
} bounds_job;

/* How a body goes on that moves steadily, but for the shape and its pose. */
static void fill_sweep(const rg_world_content *content, size_t body, double step, rg_sweep *sweep) {
    sweep->centre = content->position[body];
    sweep->velocity = content->velocity[body];
    sweep->turn = rg_scale(step, content->angular_velocity[body]);
    sweep->step = step;
    double square = rg_length_squared(sweep->turn);
    bool free = square > 0 && content->record[body].motion == RG_MOTION_DYNAMIC;
    sweep->drift = free ? free_turn_drift(&content->dynamics[body], square) : 0;
}

static void sweep_colliders(const bounds_job *job, size_t body, double margin) {
    const rg_world_content *content = job->content;
    const rg_broad_motion *motion = job->motion;
    const rg_body_record *record = &content->record[body];
    rg_motion kind = record->motion;
    bool moves = motion->continuous && kind != RG_MOTION_FIXED;
    bool steady = moves && moves_steadily(content, body);
    double shift = 0, angle = 0;
    rg_sweep sweep;
    if (steady)
        fill_sweep(content, body, motion->step, &sweep);
    else if (moves)
        kinematic_reach(content, body, motion->step, &shift, &angle);
    rg_pose origin = rg_body_origin_pose(content, body);
    for (uint32_t slot1 = record->first_collider1, next1; slot1; slot1 = next1) {
        const rg_collider *collider = &content->collider[content->colliders.slots[slot1 - 1].dense];
        next1 = collider->next1;
        if (!rg_collider_meets(collider))
            continue;
        rg_pose pose = rg_pose_compose_local(origin, &collider->pose);
        rg_bounds bounds;
        if (steady) {
            sweep.shape = collider->shape, sweep.pose = pose;
            bounds = rg_bounds_of_sweep(&sweep);
        } else if (moves) {
            bounds = rg_bounds_within(collider->shape, pose, content->position[body], shift, angle);
        } else {
            bounds = rg_shape_bounds(collider->shape, pose);
        }
        job->bounds[slot1 - 1] = rg_bounds_enlarged(bounds, margin);
    }
}

static void body_bounds(const bounds_job *job, size_t body) {
    const rg_world_content *content = job->content;
    const rg_broad_motion *motion = job->motion;
    double margin = motion->margin, step = motion->step;
    if (motion->excursion)
        margin += motion->excursion[body];
    if (motion->continuous && content->record[body].motion == RG_MOTION_DYNAMIC)
        margin += motion->acceleration * step * step;
    const rg_collider *ball = motion->continuous ? rg_body_only_ball(content, body) : NULL;
    if (ball)
        job->bounds[content->record[body].first_collider1 - 1] = rg_bounds_enlarged(
            rg_bounds_swept_ball(ball->shape->circumradius, &content->position[body],
                                 &content->velocity[body], step),
            margin);
    else
        sweep_colliders(job, body, margin);
}

static bool asks_the_caller(const rg_world_content *content, size_t body) {
    const rg_body_record *record = &content->record[body];
    return record->motion == RG_MOTION_KINEMATIC &&
           content->prescriptions[record->prescription1 - 1].prescription.kind ==
               RG_PRESCRIBED_FUNCTION;
}

/* Has it a collider that may meet another one? */
static bool meets_any(const rg_world_content *content, size_t body) {
    uint32_t slot1 = content->record[body].first_collider1;
    while (slot1) {
        const rg_collider *collider = &content->collider[content->colliders.slots[slot1 - 1].dense];
        if (rg_collider_meets(collider))
            return true;
        slot1 = collider->next1;
    }
    return false;
}

static void bounds_of_range(void *user, size_t begin, size_t end, size_t chunk) {
    (void)chunk;
    const bounds_job *job = user;
    const uint8_t *moved = job->motion->moved;
    for (size_t body = begin; body < end; body++)
        if ((!moved || moved[body]) && !asks_the_caller(job->content, body) &&
            meets_any(job->content, body))
            body_bounds(job, body);
}

static void compute_bounds(rg_broad_world *b, const rg_world *world,
                           const rg_broad_motion *motion) {
    enum { GRAIN = 256 };
    const rg_world_content *content = &world->content;
    bounds_job job = {content, motion, b->bounds};
    rg_parallel_for(world->pool, content->bodies.count, GRAIN, bounds_of_range, &job);
    for (size_t body = 0; body < content->bodies.count; body++)
        if ((!motion->moved || motion->moved[body]) && asks_the_caller(content, body))
            body_bounds(&job, body);
}

/* --- colliders -----------------------------------------------------------------------------------
 */

static rg_status drop_gone(rg_broad_world *b, const rg_handle_pool *pool) {
    for (size_t slot = 0; slot < b->slot_count; slot++) {
        uint32_t generation = b->generations[slot];
        if (!generation || (slot < pool->slot_count && pool->slots[slot].generation == generation))
            continue;
        rg_broad_remove(b->broad, (uint32_t)slot);
        b->generations[slot] = 0;
    }
    rg_status status =
        rg_array_grow(&b->allocator, &b->generations, &b->capacity, pool->slot_count);
    if (!status)
        status = rg_array_grow(&b->allocator, &b->bounds, &b->bounds_capacity, pool->slot_count);
    if (status)
        return status;
    for (; b->slot_count < pool->slot_count; b->slot_count++)
        b->generations[b->slot_count] = 0;
    return RG_OK;
}

static rg_proxy_filter filter_of(const rg_collider *collider, rg_motion motion) {
    return (rg_proxy_filter){.category = collider->category,
                             .mask = collider->mask,
                             .body = collider->body.index1 - 1,
                             .flags = (motion == RG_MOTION_DYNAMIC ? 0 : RG_PROXY_FIXED) |
                                      (collider->sensor ? RG_PROXY_SENSOR : 0)};
}

static rg_status take_collider(rg_broad_world *b, const rg_world_content *content, size_t dense) {
    const rg_collider *collider = &content->collider[dense];
    uint32_t slot = content->colliders.dense_slot[dense];
    rg_handle_slot handle = content->colliders.slots[slot];
    size_t body = rg_body_dense(content, collider->body);
    if (!rg_collider_meets(collider)) {
        if (b->generations[slot])
            rg_broad_remove(b->broad, slot);
        b->generations[slot] = 0;
        return RG_OK;
    }
    /* A restored world may have another collider under an old handle. */
    rg_proxy_filter filter = filter_of(collider, content->record[body].motion);
    rg_status status = rg_broad_put(b->broad, slot, &b->bounds[slot], &filter);
    if (!status)
        b->generations[slot] = handle.generation;
    return status == RG_INVALID_ARGUMENT ? RG_NOT_FINITE : status;
}

rg_status rg_broad_world_update(rg_broad_world *broad, const rg_world *world,
                                const rg_broad_motion *motion) {
    const rg_world_content *content = &world->content;
    rg_status status = drop_gone(broad, &content->colliders);
    if (status)
        return status;
    compute_bounds(broad, world, motion);
    for (size_t i = 0; i < content->colliders.count && !status; i++)
        if (!motion->moved || motion->moved[rg_body_dense(content, content->collider[i].body)])
            status = take_collider(broad, content, i);
    return status ? status : rg_broad_update(broad->broad);
}
