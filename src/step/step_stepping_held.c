/* Whether the motion that a solve gave keeps bodies apart and joints closed: pairs with contact
 * points are looked at once more along the motion that is about to be made (contact_held.c),
 * likewise bodies that touch and were moved to close joints, and bodies at joints that turn far.
 * Those that do not hold make their step in parts (step_stepping_impacts.c): a part is short enough
 * for its rows to be right.
 *
 * Most pairs move so little against each other that nothing needs to be looked at.
 *
 * Tested by tests/step/test_slender.c and test_fast_joints.c. */
#include "base/base_math.h"
#include "base/base_trig.h"
#include "contact/contact.h"
#include "shape/shape.h"
#include "shape/shape_terrain.h"
#include "step/step_stepping.h"

#include <string.h>

/* Of the inradius of the thinner shape: pairs that move no more against each other, and were no
 * deeper in each other, hold. */
#define LITTLE 0.2

/* Of the inradius of the thinner shape: closing joints after the motion (step_joints_project.c)
 * knows of no contacts, and may move bodies that touch by no more. A chain that becomes taut within
 * a step is closed sideways: of chain-wrecks (inradius of a link 50 mm) by 5 mm. Deepest
 * penetration there at 1/120, 1/240, 1/480 and 1/960 s, and parts of steps for each step:
 *     without          21.3, 7.1, 7.4, 2.3 mm     0
 *     0.02              3.2, 2.8, 2.2, 2.1 mm     0.53, 0.10, 0.02, 0.00
 *     0.005             1.1, 1.6, 1.1, 0.6 mm     1.14, 0.31, 0.07, 0.01
 * ragdoll, rover, gripper and humanoid make no parts with either. */
#define SHIFTED 0.005

/* rad: bodies at a joint that turn farther within a step make it in parts. Of 400 random mechanisms
 * that were dropped two opened a joint by metres and one exploded, at 0.9 rad a step and more; with
 * 0.5 these hold, and three more that opened are held by OPEN. */
#define JOINT_TURN 0.5

/* m, rad: a joint with a larger error is open. Joints that contradict each other are so in every
 * step, and shorter parts do not close them: what counts is that the error is WIDER times what it
 * was at the beginning. */
#define OPEN  1e-9
#define WIDER 2.0

/* How a body moves in the step: straight, and at a constant rate of turning. */
typedef struct made_motion {
    rg_vec3 shift; /* m */
    rg_quat turn;  /* from the beginning to the end */
    rg_vec3 spin;  /* rad/s, at the end */
    double angle;  /* rad, at most */
} made_motion;

static made_motion make_motion(const rg_stepping *job, size_t i) {
    const rg_world_content *c = job->content;
    rg_vec3 position = job->position[i], spin = job->end.angular_velocity[i];
    rg_quat orientation = job->orientation[i];
    if (c->record[i].prescription1) {
        rg_motion_state end = rg_prescription_evaluate(c, i, job->end_time);
        position = end.position;
        orientation = end.orientation;
        spin = end.angular_velocity;
    }
    made_motion m = {.shift = rg_sub(position, c->position[i]),
                     .turn = rg_quat_multiply(orientation, rg_quat_conjugate(c->orientation[i]))};
    double sine = rg_length((rg_vec3){m.turn.x, m.turn.y, m.turn.z});
    double expected = rg_length(spin) * job->step;
    m.spin = spin;
    m.angle = expected > 1 ? 2 * expected : RG_PI * sine; /* 2 asin s <= pi s */
    return m;
}

/* rad/s: by which its angular velocity changes. */
static double change_of(const rg_stepping *job, const made_motion *m, size_t i) {
    if (!rg_stepping_moves(job, i))
        return 0;
    return rg_length(
        rg_sub(m->spin, rg_stepping_spin(job->content, i, job->end.angular_momentum[i])));
}

/* Motions over all bodies, each made when it is first asked for. */
typedef struct made_motions {
    made_motion *motion;
    uint8_t *is_made;
} made_motions;

static rg_status take_motions(size_t bodies, rg_arena *arena, made_motions *motions) {
    motions->motion = rg_arena_take(arena, bodies, sizeof *motions->motion);
    motions->is_made = rg_arena_take(arena, bodies, sizeof *motions->is_made);
    if (!motions->motion || !motions->is_made)
        return RG_OUT_OF_MEMORY;
    memset(motions->is_made, 0, bodies * sizeof *motions->is_made);
    return RG_OK;
}

static const made_motion *motion_of(const rg_stepping *job, const made_motions *motions, size_t i) {
    if (!motions->is_made[i])
        motions->motion[i] = make_motion(job, i);
    motions->is_made[i] = 1;
    return &motions->motion[i];
}

/* The rotation vector that is nearest to the one that the angular velocity gives. */
static rg_vec3 turn_of(const made_motion *m, double time) {
    rg_vec3 v = {m->turn.x, m->turn.y, m->turn.z}, expected = rg_scale(time, m->spin);
    double sine = rg_length(v), full = 2 * RG_PI;
    if (!(sine > 0))
        return rg_length(expected) > RG_PI ? expected : (rg_vec3){0, 0, 0};
    rg_vec3 axis = rg_scale(1 / sine, v);
    double angle = 2 * rg_atan2(sine, m->turn.w);
    return rg_scale(angle + full * floor((rg_dot(axis, expected) - angle) / full + 0.5), axis);
}

typedef struct looked_at {
    const rg_stepping *job;
    const rg_collider *collider[2];
    size_t body[2];
    const made_motion *motion[2];
    double travel; /* m: of points of the two against each other, at most */
    double shift;  /* m: of that, by the projection of joints */
} looked_at;

static rg_pose pose_of(const looked_at *p, int i, rg_pose local) {
    const rg_collider *collider = p->collider[i];
    rg_pose pose =
        rg_pose_compose_local(rg_body_origin_pose(p->job->content, p->body[i]), &collider->pose);
    return rg_shape_get_kind(collider->shape) == RG_SHAPE_COMPOUND ? rg_pose_compose(pose, local)
                                                                   : pose;
}

static double travel_of(const looked_at *p) {
    const rg_world_content *c = p->job->content;
    double travel = rg_length(rg_sub(p->motion[0]->shift, p->motion[1]->shift));
    for (int i = 0; i < 2; i++) {
        const rg_collider *collider = p->collider[i];
        if (!(p->motion[i]->angle > 0))
            continue;
        rg_vec3 arm = rg_sub(rg_pose_apply(collider->pose, rg_shape_centre(collider->shape)),
                             c->record[p->body[i]].local_centre.position);
        travel += p->motion[i]->angle * (rg_length(arm) + rg_shape_circumradius(collider->shape));
    }
    return travel;
}

/* Until when two parts hold; those that hardly move, and are not deep, do. */
static rg_status check_parts(const looked_at *p, const uint32_t part[2], rg_vec3 normal, double gap,
                             double *until) {
    double h = p->job->step;
    rg_terrain_room room[2];
    rg_pose local[2];
    const rg_shape *shape[2] = {rg_shape_part(p->collider[0]->shape, part[0], &room[0], &local[0]),
                                rg_shape_part(p->collider[1]->shape, part[1], &room[1], &local[1])};
    double thinner = rg_contact_thinner(shape[0], shape[1]), little = LITTLE * thinner;
    *until = h;
    if (gap < p->shift && p->shift > SHIFTED * thinner) {
        *until = 0.5 * h;
        return RG_OK;
    }
    if (p->travel <= little && gap - p->travel >= -little)
        return RG_OK;
    rg_swept_shape side[2];
    for (int i = 0; i < 2; i++)
        side[i] = (rg_swept_shape){.placed = {shape[i], pose_of(p, i, local[i])},
                                   .centre = p->job->content->position[p->body[i]],
                                   .velocity = rg_scale(1 / h, p->motion[i]->shift),
                                   .angular_velocity = rg_scale(1 / h, turn_of(p->motion[i], h))};
    const double change[2] = {change_of(p->job, p->motion[0], p->body[0]),
                              change_of(p->job, p->motion[1], p->body[1])};
    return rg_contact_holds(side, change, h, normal, until);
}

/* m: how far a point of a collider moves in the step, at most, and how little is nothing to it. */
typedef struct collider_travel {
    double most, little;
} collider_travel;

/* For unit quaternions the sine of half the angle between them is at most their distance. */
static double angle_of(const rg_stepping *job, size_t i) {
    rg_quat p = job->orientation[i], q = job->content->orientation[i];
    double x = p.x - q.x, y = p.y - q.y, z = p.z - q.z, w = p.w - q.w;
    double sine = sqrt(x * x + y * y + z * z + w * w);
    double expected = rg_length(job->end.angular_velocity[i]) * job->step;
    return expected > 1 ? 2 * expected : RG_PI * sine;
}

/* Of what is no convex shape about the centre of its body, or is moved by a program, nothing is
 * said. */
static collider_travel travel_of_collider(const rg_stepping *job, const rg_collider *collider) {
    const rg_world_content *c = job->content;
    const rg_shape *shape = collider->shape;
    size_t i = rg_body_dense(c, collider->body);
    bool plain = rg_is_zero(collider->pose.position) && rg_is_zero(shape->centre) &&
                 rg_is_zero(c->record[i].local_centre.position);
    if (c->record[i].prescription1 || !rg_shape_is_single(shape) || !plain)
        return (collider_travel){INFINITY, 0};
    double shift = rg_length(rg_sub(job->position[i], c->position[i])), angle = angle_of(job, i);
    bool bounded = isfinite(shape->circumradius);
    return (collider_travel){angle > 0 ? shift + angle * shape->circumradius : shift,
                             bounded ? LITTLE * shape->inradius : INFINITY};
}

/* Colliders and touches of a chunk: 5 to 50 ns each. */
enum { TRAVELS_PER_CHUNK = 256 };

/* Which pairs have to be looked at. */
typedef struct travel_search {
    const rg_stepping *job;
    const rg_collision_view *view;
    collider_travel *travels; /* of all colliders */
    uint8_t *moves;           /* per touch: 1 if it may not hold */
} travel_search;

static void find_travels(void *user, size_t begin, size_t end, size_t chunk) {
    (void)chunk;
    const travel_search *search = user;
    for (size_t i = begin; i < end; i++)
        search->travels[i] = travel_of_collider(search->job, &search->job->content->collider[i]);
}

/* Whether a pair holds, however its bodies move against each other. */
static bool hardly_moves(const rg_world_content *c, const collider_travel *travels,
                         const rg_touch *touch) {
    const collider_travel
        *b = &travels[rg_handle_index(&c->colliders, RG_HANDLE(touch->collider_b))],
        *a = &travels[rg_handle_index(&c->colliders, RG_HANDLE(touch->collider_a))];
    double travel = b->most + a->most, little = b->little < a->little ? b->little : a->little;
    return travel <= little && touch->gap - travel >= -little;
}

static void find_moving(void *user, size_t begin, size_t end, size_t chunk) {
    (void)chunk;
    const travel_search *search = user;
    for (size_t i = begin; i < end; i++)
        search->moves[i] =
            !hardly_moves(search->job->content, search->travels, &search->view->touches[i]);
}

/* The pairs that may not hold: where joints were closed after the motion, all of them. */
static rg_status find_moving_touches(const rg_stepping *job, const rg_contact_job *contacts,
                                     uint8_t **moves) {
    rg_arena *arena = &contacts->world->scratch;
    rg_pool *pool = contacts->world->pool;
    size_t colliders = job->content->colliders.count, touches = contacts->view.touch_count;
    travel_search search = {job, &contacts->view, NULL, NULL};
    search.travels = rg_arena_take(arena, colliders, sizeof *search.travels);
    search.moves = rg_arena_take(arena, touches, sizeof *search.moves);
    *moves = search.moves;
    if (!search.travels || !search.moves)
        return RG_OUT_OF_MEMORY;
    if (job->shift) {
        memset(search.moves, 1, touches * sizeof *search.moves);
        return RG_OK;
    }
    rg_parallel_for(pool, colliders, TRAVELS_PER_CHUNK, find_travels, &search);
    rg_parallel_for(pool, touches, TRAVELS_PER_CHUNK, find_moving, &search);
    return RG_OK;
}

static bool is_still(const rg_stepping *job, size_t i) {
    const rg_world_content *c = job->content;
    rg_vec3 x = job->position[i], y = c->position[i];
    rg_quat p = job->orientation[i], q = c->orientation[i];
    return !c->record[i].prescription1 && x.x == y.x && x.y == y.y && x.z == y.z && p.x == q.x &&
           p.y == q.y && p.z == q.z && p.w == q.w;
}

/* False if nothing can pass through anything here. */
static bool look_at(const rg_stepping *job, const made_motions *motions, rg_collider_id b,
                    rg_collider_id a, looked_at *p) {
    const rg_world_content *c = job->content;
    const rg_collider_id id[2] = {b, a};
    bool moves = false;
    *p = (looked_at){.job = job};
    for (int i = 0; i < 2; i++) {
        p->collider[i] = &c->collider[rg_handle_index(&c->colliders, RG_HANDLE(id[i]))];
        p->body[i] = rg_body_dense(c, p->collider[i]->body);
        moves |= rg_stepping_moves(job, p->body[i]);
        if (p->collider[i]->sensor)
            return false;
        if (job->groups.any && job->groups.followed[p->body[i]]) /* not moved here */
            return false;
    }
    if (!moves || (is_still(job, p->body[0]) && is_still(job, p->body[1])))
        return false;
    for (int i = 0; i < 2; i++)
        p->motion[i] = motion_of(job, motions, p->body[i]);
    p->travel = travel_of(p);
    for (int i = 0; i < 2 && job->shift; i++)
        p->shift += job->shift[p->body[i]];
    return true;
}

static void note(const looked_at *p, double until, rg_stepping_breaks *breaks) {
    if (!(until < p->job->step))
        return;
    breaks->until = fmin(breaks->until, until);
    breaks->pairs[breaks->count++] =
        (rg_stepping_break){{(uint32_t)p->body[0], (uint32_t)p->body[1]}};
}

static rg_status check_touch(const rg_stepping *job, const made_motions *motions,
                             const rg_collision_view *view, const rg_touch *touch,
                             rg_stepping_breaks *breaks) {
    looked_at p;
    double until = job->step;
    if (!look_at(job, motions, touch->collider_b, touch->collider_a, &p))
        return RG_OK;
    for (uint32_t k = 0; k < touch->manifold_count; k++) {
        const rg_manifold *m = &view->manifolds[touch->first_manifold + k];
        const uint32_t part[2] = {m->part1, m->part2};
        double own;
        rg_status status = check_parts(&p, part, m->normal, m->gap, &own);
        if (status)
            return status;
        /* If they meet, then that is when to stop. */
        until = fmin(until, own < job->step && m->time > 0 ? fmin(m->time, own) : own);
    }
    note(&p, until, breaks);
    return RG_OK;
}

/* By how much what is at an arm from the centre of a body leaves its tangent within the step, at
 * most, twice: what turns about the arm leaves it where it is. */
static double bend_of(rg_vec3 spin, rg_vec3 arm, double step) {
    return step * step * rg_length(spin) * rg_length(rg_cross(spin, arm));
}

/* rad^2: how a joint bends in the step, seen from one of its bodies. The arm at which it is held
 * counts by the size of the body: a small one moves hardly anything. */
static double bend_of_joint(const rg_stepping *job, const rg_joint_look *look, int side) {
    const rg_world_content *c = job->content;
    uint32_t body = look->body[side];
    rg_vec3 spin = job->end.angular_velocity[body], arm = rg_sub(look->point, c->position[body]);
    double size = fmax(rg_length(arm), c->dynamics[body].gyration_radius);
    double most = bend_of(spin, arm, job->step) / size;
    for (size_t k = 0; k < look->axes; k++)
        if (look->axis[k].turns)
            most = fmax(most, bend_of(spin, look->axis[k].direction, job->step));
    return most;
}

/* A joint is closed along chords: of bodies that turn far within the step they say nothing. */
static void check_joint(const rg_stepping *job, const rg_joint_row *row,
                        rg_stepping_breaks *breaks) {
    const rg_world_content *c = job->content;
    double far = JOINT_TURN / job->step, most = 0;
    rg_joint_look look;
    bool looked = false;
    for (int side = 0; side < 2; side++) {
        uint32_t body = row->body[side];
        if (!row->moves[side])
            continue;
        rg_vec3 spin = job->end.angular_velocity[body]; /* no longer than twice its largest entry */
        if (2 * rg_largest_entry(spin) <= far || !(rg_length(spin) > far))
            continue;
        if (!looked)
            rg_joint_look_at(c, row->joint, (rg_body_places){c->position, c->orientation}, &look);
        looked = true;
        most = fmax(most, bend_of_joint(job, &look, side));
    }
    if (!(most > JOINT_TURN * JOINT_TURN))
        return;
    breaks->until = fmin(breaks->until, job->step * JOINT_TURN / sqrt(most));
    int first = row->moves[0] ? 0 : 1, second = row->moves[1] ? 1 : 0;
    breaks->pairs[breaks->count++] = (rg_stepping_break){{row->body[first], row->body[second]}};
}

/* m, rad: of a joint, at the beginning of the step. */
static double error_before(const rg_stepping *job, const rg_joint_look *look, size_t joint) {
    const rg_joint_def *def = &job->content->joint[joint].def;
    double most = 0;
    for (size_t k = 0; k < look->locked; k++)
        most = fmax(most, fabs(look->lock[k].value));
    for (size_t k = 0; k < look->axes; k++) {
        double x = look->axis[k].value;
        most = fmax(most, fmax(def->axis[k].lower - x, x - def->axis[k].upper));
    }
    return most;
}

/* A tendon has no bodies: those of one of its joints, which moves. */
static void look_at_part(const rg_stepping *job, size_t joint, rg_joint_look *look) {
    const rg_world_content *c = job->content;
    const rg_joint_def *def = &c->joint[joint].def;
    bool moves = def->part_count == 0;
    for (size_t k = 0; k < def->part_count && !moves; k++) {
        rg_joint_look_at(c, rg_joint_dense(c, def->part[k].joint),
                         (rg_body_places){c->position, c->orientation}, look);
        for (int side = 0; side < 2; side++)
            moves = moves ||
                    (look->body[side] != UINT32_MAX && rg_stepping_moves(job, look->body[side]));
    }
}

/* A joint that could not be closed after the motion, although it was before it. */
static void check_closed(const rg_stepping *job, rg_stepping_breaks *breaks) {
    const rg_world_content *c = job->content;
    rg_joint_look look;
    if (!job->open1)
        return;
    rg_joint_look_at(c, job->open1 - 1, (rg_body_places){c->position, c->orientation}, &look);
    if (!(job->open_error > WIDER * error_before(job, &look, job->open1 - 1) + OPEN))
        return;
    uint32_t body[2];
    look_at_part(job, job->open1 - 1, &look);
    for (int side = 0; side < 2; side++) {
        bool moves = look.body[side] != UINT32_MAX && rg_stepping_moves(job, look.body[side]);
        body[side] = look.body[moves ? side : 1 - side];
    }
    breaks->until = fmin(breaks->until, 0.5 * job->step);
    breaks->pairs[breaks->count++] = (rg_stepping_break){{body[0], body[1]}};
}

rg_status rg_stepping_check(const rg_stepping *job, const rg_contact_job *contacts,
                            rg_stepping_breaks *breaks) {
    const rg_collision_view *view = &contacts->view;
    const rg_joint_set *joints = &job->contacts.joints;
    size_t count;
    const rg_part_pair *left_out = rg_collision_left_out(contacts->collision, &count);
    *breaks = (rg_stepping_breaks){.until = job->step};
    if (view->touch_count + count + joints->count == 0)
        return RG_OK;
    size_t most = view->touch_count + count + joints->count + 1;
    breaks->pairs = rg_arena_take(&contacts->world->scratch, most, sizeof *breaks->pairs);
    made_motions motions;
    rg_status status =
        take_motions(job->content->bodies.count, &contacts->world->scratch, &motions);
    if (!breaks->pairs)
        status = RG_OUT_OF_MEMORY;
    if (!status)
        check_closed(job, breaks);
    for (size_t i = 0; i < joints->count && !status; i++)
        if (joints->rows[i].joint != RG_NO_JOINT && !joints->rows[i].sum1[1] &&
            (i == 0 || joints->rows[i].joint != joints->rows[i - 1].joint))
            check_joint(job, &joints->rows[i], breaks);
    uint8_t *moves = NULL;
    if (!status)
        status = find_moving_touches(job, contacts, &moves);
    for (size_t i = 0; i < view->touch_count && !status; i++)
        if (moves[i])
            status = check_touch(job, &motions, view, &view->touches[i], breaks);
    for (size_t i = 0; i < count && !status; i++) {
        looked_at p;
        if (!look_at(job, &motions, left_out[i].collider_b, left_out[i].collider_a, &p))
            continue;
        const uint32_t part[2] = {left_out[i].part_b, left_out[i].part_a};
        double until;
        status = check_parts(&p, part, (rg_vec3){0, 0, 0}, 0, &until);
        if (!status)
            note(&p, until, breaks);
    }
    return status;
}
