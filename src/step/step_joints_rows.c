/* Rows of joints in a fixed step of length h.
 *
 * A locked direction with error x(q), or an axis with coordinate x(q), moves in the step by
 * h (J v+ + s) up to O(h^3), where
 *
 *     s = h x'' / 2
 *
 * with x'' by the velocities v of the beginning and free rotation alone (world_joint_drift.c):
 * centripetal and gyroscopic terms; with kinematic bodies s = (x(q + h v) - x(q)) / h - J v, which
 * has their motion in it. Locked rows ask J v+ + s = 0. So the new positions keep the joints closed
 * to third order, and the impulse turns the velocities by half a step's turn, into the chord of the
 * motion; step_joints_project.c turns them on into the tangent at its end, and projects away what
 * is left of x. Both together are RATTLE (H. C. Andersen, J. Comput. Phys. 52, 1983), which is
 * symplectic; without s every step would lose the share (omega h)^2 of a swing. Velocities that are
 * tangent, J v = 0, make redundant joints agree on s.
 *
 * With U = J v+ + s, the velocity of an axis, a row reads u = U + q + c r:
 *
 *     limits    U + (x - lower) / h >= 0, complementary to r >= 0; upper likewise
 *     spring    r = -h (k (x + h U - rest) + d U): c = 1 / (h^2 k + h d), q = h k (x - rest) c
 *     motors    velocity: U = target within |r| <= h F, or r = h gain (target - U);
 *               position: as a spring, within |r| <= h F
 *     friction  U = 0 within |r| <= h F
 *     armature  r = -I (U - U before): c = 1 / I, q = -(U before)
 *
 * At an instant (an impact) there are locked rows, limits that touch, armatures and motors without
 * a limit of force; all others have finite forces and no time.
 * Tested by tests/step/test_joints.c. */
#include "step/step_joints.h"

#include "base/base_small.h"
#include "step/step_rotation.h"

#include <string.h>

/* Of the step: a limit that is reached by free motion only with its end meets in the next one. */
#define REACHED 1e-9

typedef struct builder {
    const rg_world_content *content;
    const rg_joints_input *input;
    rg_joint_set *set;
    rg_body_places now, ahead; /* of joints of kinematic bodies alone */
    rg_body_motions motions;
    rg_vec3 *turning; /* rad/s^2 per body: of its free rotation */
    /* of the joint that is being looked at: */
    size_t joint;
    const rg_joint_look *look;
    rg_joint_look own, later;
    rg_joint_motion motion;
    double longer;         /* than the last step by this factor; 0: nothing to start from */
    bool driven;           /* a body of it is kinematic */
    bool plain;            /* directions turn with A, and what follows has all that velocities do */
    rg_vec3 apart, spin;   /* m/s, rad/s: of B against A, at the point where forces act */
    rg_vec3 bends, twists; /* m/s^2, rad/s^2: what free motion adds to x'' per direction */
    rg_joint_row row;      /* what its rows share */
} builder;

static bool is_finite_or_equal(const rg_joint_axis *a, bool upper) {
    return a->lower < a->upper && isfinite(upper ? a->upper : a->lower);
}

static size_t count_rows(const rg_world_content *c) {
    size_t count = 0;
    for (size_t j = 0; j < c->joints.count; j++) {
        const rg_joint_def *def = &c->joint[j].def;
        count += RG_JOINT_LOCKED;
        for (size_t k = 0; k < rg_joint_axis_count(def->kind); k++) {
            const rg_joint_axis *a = &def->axis[k];
            count += (size_t)(a->lower == a->upper) + is_finite_or_equal(a, false) +
                     is_finite_or_equal(a, true) + (a->stiffness > 0 || a->damping > 0) +
                     (a->motor != RG_MOTOR_NONE) + (a->friction > 0) + (a->armature > 0);
        }
    }
    return count;
}

/* --- where bodies will be --------------------------------------------------------------------- */

/* At the end of the step, if nothing holds it. */
static void look_ahead(const builder *b, uint32_t body, rg_vec3 *position, rg_quat *orientation) {
    const rg_world_content *c = b->content;
    const rg_body_dynamics *d = &c->dynamics[body];
    double h = b->input->step;
    position[body] = c->position[body];
    orientation[body] = c->orientation[body];
    if (c->record[body].prescription1) {
        rg_motion_state end = rg_prescription_evaluate(c, body, b->input->end_time);
        position[body] = end.position, orientation[body] = end.orientation;
        return;
    }
    if (!(d->inverse_mass > 0))
        return;
    position[body] = rg_add_scaled(c->position[body], h, c->velocity[body]);
    if (c->planar)
        orientation[body] =
            rg_quat_of_planar_angle(c->angle[body] - h * c->angular_velocity[body].y);
    else /* too fast for the step: it stays, and moving it will say so */
        (void)rg_rotation_advance(&(rg_rotation){d->inertia, d->inverse_inertia,
                                                 c->angular_momentum[body], &orientation[body]},
                                  h);
}

static rg_status find_places(const builder *b, rg_arena *arena, rg_body_places *places) {
    const rg_world_content *c = b->content;
    size_t n = c->bodies.count;
    rg_vec3 *position = rg_arena_take(arena, n, sizeof *position);
    rg_quat *orientation = rg_arena_take(arena, n, sizeof *orientation);
    if (!position || !orientation)
        return RG_OUT_OF_MEMORY;
    for (uint32_t i = 0; i < n; i++)
        if (c->record[i].first_joint1)
            look_ahead(b, i, position, orientation);
    *places = (rg_body_places){position, orientation};
    return RG_OK;
}

/* Euler's equations without torque: I w' = L x w. */
static rg_status find_turning(builder *b, rg_arena *arena) {
    const rg_world_content *c = b->content;
    size_t n = c->bodies.count;
    b->turning = rg_arena_take(arena, n, sizeof *b->turning);
    if (!b->turning)
        return RG_OUT_OF_MEMORY;
    for (size_t i = 0; i < n; i++) {
        b->turning[i] = (rg_vec3){0, 0, 0};
        if (!c->record[i].first_joint1 || c->planar || !(c->dynamics[i].inverse_mass > 0))
            continue;
        rg_quat q = c->orientation[i];
        rg_vec3 torque = rg_cross(c->angular_momentum[i], c->angular_velocity[i]);
        b->turning[i] =
            rg_rotate(q, rg_times(c->dynamics[i].inverse_inertia, rg_rotate_back(q, torque)));
    }
    return RG_OK;
}

/* --- rows ------------------------------------------------------------------------------------- */

/* m/s, rad/s: of a row, as far as bodies that forces do not move cause it. */
static double prescribed(const builder *b, const rg_joint_direction *along) {
    const rg_world_content *c = b->content;
    double sum = 0;
    if (b->row.sum1[1])
        return rg_tendon_prescribed(c, b->joint, b->now, c->velocity, c->angular_velocity);
    for (int side = 0; side < 2; side++) {
        uint32_t body = b->row.body[side];
        if (body == UINT32_MAX || b->row.moves[side])
            continue;
        rg_vec3 w = c->angular_velocity[body], arm = rg_sub(b->look->point, c->position[body]);
        rg_vec3 v = along->turns ? w : rg_add(c->velocity[body], rg_cross(w, arm));
        sum += (side == 0 ? -1 : 1) * rg_dot(along->direction, v);
    }
    return sum;
}

/* m/s, rad/s: what free motion adds to the velocity of row i by its curvature. */
static double curvature(const builder *b, size_t i, size_t direction) {
    const rg_world_content *c = b->content;
    double h = b->input->step, sum = 0;
    if (b->driven) {
        double moving = rg_joint_velocity(b->set, i, c->planar, c->velocity, c->angular_velocity);
        return (rg_joint_direction_at(&b->later, direction)->value -
                rg_joint_direction_at(b->look, direction)->value) /
                   h -
               moving;
    }
    const rg_joint_direction *along = rg_joint_direction_at(b->look, direction);
    if (b->plain)
        return 0.5 * h * rg_dot(along->direction, along->turns ? b->twists : b->bends);
    for (size_t side = 0; side < 2 && !c->planar; side++) {
        const double *j = rg_joint_jacobian(b->set, i, side);
        if (!b->row.moves[side])
            continue;
        rg_vec3 turning = b->turning[b->row.body[side]];
        sum += j[3] * turning.x + j[4] * turning.y + j[5] * turning.z;
    }
    return 0.5 * h * (sum + rg_joint_drift(&b->motion, b->look, direction));
}

/* m/s, rad/s: J v of row i. */
static double velocity_of(const builder *b, size_t i, const rg_joint_direction *along) {
    const rg_world_content *c = b->content;
    return b->plain ? rg_dot(along->direction, along->turns ? b->spin : b->apart)
                    : rg_joint_velocity(b->set, i, c->planar, c->velocity, c->angular_velocity);
}

/* What is known of row i, along a direction of the look (its locks, then its axes): the shift s,
 * and the impulse to start from. */
static void finish_row(builder *b, size_t i, size_t direction) {
    const rg_joint_direction *along = rg_joint_direction_at(b->look, direction);
    rg_joint_row *row = &b->set->rows[i];
    row->shift = b->input->impact ? prescribed(b, along) : curvature(b, i, direction);
    row->surface = row->shift;
    row->before = velocity_of(b, i, along) + row->surface;
    if (b->longer > 0)
        b->set->impulse[i] =
            rg_joint_memories(b->content)[b->joint].impulse[row->place] * b->longer;
}

/* A row along a direction of the look with the shift s and without bounds; then it is the caller's
 * to change. */
static rg_joint_row *add_row(builder *b, unsigned place, size_t direction) {
    const rg_joint_direction *along = rg_joint_direction_at(b->look, direction);
    size_t i = b->set->count;
    rg_joint_row *made = rg_joint_set_add(b->content, b->set, &b->row, along, b->now);
    made->place = (uint8_t)place;
    made->lower = -INFINITY, made->upper = INFINITY;
    finish_row(b, i, direction);
    return made;
}

static void set_bounds(rg_joint_row *row, double most) {
    row->lower = -most, row->upper = most;
}

/* r = -h (k (x + h U - rest) + d (U - velocity)). */
static void make_soft(rg_joint_row *row, double h, double k, double d, double off,
                      double velocity) {
    double c = 1 / (h * (h * k + d));
    row->compliance = c;
    row->shift += h * (k * off - d * velocity) * c;
}

/* A row that is held whatever the force. */
static void hold_row(builder *b, size_t i) {
    if (b->set->loops[b->joint])
        b->set->rows[i].compliance = RG_JOINT_GIVE * rg_joint_mobility(b->content, b->set, i);
}

/* finish_row for the rows from `first` on of a joint whose directions turn with A. */
static void finish_plain(builder *b, size_t first) {
    const double *last = rg_joint_memories(b->content)[b->joint].impulse;
    double half = 0.5 * b->input->step;
    for (size_t i = first; i < b->set->count; i++) {
        rg_joint_row *row = &b->set->rows[i];
        bool turns = row->along.turns;
        row->shift = half * rg_dot(row->along.direction, turns ? b->twists : b->bends);
        row->surface = row->shift;
        row->before = rg_dot(row->along.direction, turns ? b->spin : b->apart) + row->surface;
        if (b->longer > 0)
            b->set->impulse[i] = last[row->place] * b->longer;
    }
}

static void add_locks(builder *b) {
    size_t first = b->set->count;
    bool plain = b->plain && !b->input->impact && !b->driven;
    rg_joint_set_add_locks(b->content, b->set, &b->row, b->look, b->now,
                           plain && b->input->seen->tree.count > 0);
    if (plain)
        finish_plain(b, first);
    for (size_t k = 0; k < b->look->locked && !plain; k++)
        finish_row(b, first + k, k);
    for (size_t i = first; i < b->set->count && b->set->loops[b->joint]; i++)
        hold_row(b, i);
}

/* `sign` 1: the lower limit, -1: the upper one. */
static void add_limit(builder *b, size_t k, double limit, double sign) {
    const rg_joint_axis *a = &b->content->joint[b->joint].def.axis[k];
    const rg_joint_direction *along = &b->look->axis[k];
    double gap = sign * (along->value - limit), h = b->input->step;
    if (b->input->impact && gap > 0)
        return;
    unsigned place = RG_JOINT_LOCKED + (unsigned)k * RG_JOINT_PARTS +
                     (sign > 0 ? RG_JOINT_LOWER : RG_JOINT_UPPER);
    rg_joint_row *row = add_row(b, place, b->look->locked + k);
    double approach = -sign * row->before;
    if (sign > 0)
        row->lower = 0;
    else
        row->upper = 0;
    if (a->restitution > 0 && approach > b->input->impact_speed &&
        (b->input->impact || gap < (1 - REACHED) * h * approach))
        row->restitution = a->restitution;
    if (!b->input->impact)
        row->shift += sign * fmax(gap, 0) / h;
}

static void add_motor(builder *b, size_t k, unsigned first) {
    const rg_joint_axis *a = &b->content->joint[b->joint].def.axis[k];
    const rg_joint_direction *along = &b->look->axis[k];
    double h = b->input->step;
    double target = rg_joint_target(b->content, b->joint, k, b->input->end_time);
    bool rigid = a->motor == RG_MOTOR_VELOCITY && a->gain == 0;
    if (b->input->impact && !(rigid && a->max_force == INFINITY))
        return;
    rg_joint_row *row = add_row(b, first + RG_JOINT_MOTOR, b->look->locked + k);
    if (a->motor == RG_MOTOR_POSITION)
        make_soft(row, h, a->gain, a->gain_velocity, along->value - target, 0);
    else if (rigid)
        row->shift -= target;
    else
        make_soft(row, h, 0, a->gain, 0, target);
    set_bounds(row, h * a->max_force);
}

static void add_axis(builder *b, size_t k) {
    const rg_joint_axis *a = &b->content->joint[b->joint].def.axis[k];
    const rg_joint_direction *along = &b->look->axis[k];
    double h = b->input->step;
    size_t direction = b->look->locked + k;
    unsigned first = RG_JOINT_LOCKED + (unsigned)k * RG_JOINT_PARTS;
    if (a->lower == a->upper) {
        add_row(b, first + RG_JOINT_LOWER, direction);
        hold_row(b, b->set->count - 1);
    }
    if (is_finite_or_equal(a, false))
        add_limit(b, k, a->lower, 1);
    if (is_finite_or_equal(a, true))
        add_limit(b, k, a->upper, -1);
    if (a->motor != RG_MOTOR_NONE)
        add_motor(b, k, first);
    if (a->armature > 0) {
        rg_joint_row *row = add_row(b, first + RG_JOINT_ARMATURE, direction);
        row->shift -= row->before;
        row->compliance = 1 / a->armature;
    }
    if (b->input->impact)
        return;
    if (a->stiffness > 0 || a->damping > 0)
        make_soft(add_row(b, first + RG_JOINT_SPRING, direction), h, a->stiffness, a->damping,
                  along->value - a->rest, 0);
    if (a->friction > 0)
        set_bounds(add_row(b, first + RG_JOINT_FRICTION, direction), h * a->friction);
}

/* The links of a tendon; false: between bodies that are not stepped. Bodies of one tendon are
 * stepped together. */
static bool begin_tendon(builder *b, size_t joint) {
    const rg_world_content *c = b->content;
    const rg_joint_def *def = &c->joint[joint].def;
    for (size_t k = 0; k < 2 * def->part_count; k++) {
        const rg_joint_def *part = &c->joint[rg_joint_dense(c, def->part[k / 2].joint)].def;
        rg_body_id id = k % 2 ? part->body_b : part->body_a;
        size_t body = id.index1 ? rg_body_dense(c, id) : 0;
        bool moves = id.index1 && c->dynamics[body].inverse_mass > 0;
        if (moves && b->input->member && !b->input->member[body])
            return false;
        b->driven = b->driven || (id.index1 && c->record[body].prescription1);
    }
    b->motion = rg_joint_motion_of(c, joint, b->look, &b->motions);
    return rg_joint_set_add_links(c, b->set, joint, b->now, NULL, &b->row);
}

/* One body of a plain joint: its velocity at the point, and what turns with it. */
typedef struct side_motion {
    rg_vec3 arm, velocity, spin, turning;
} side_motion;

RG_INLINE side_motion side_of(const builder *b, uint32_t body) {
    const rg_world_content *c = b->content;
    if (body == UINT32_MAX)
        return (side_motion){0};
    return (side_motion){rg_sub(b->look->point, c->position[body]), c->velocity[body],
                         c->angular_velocity[body], b->turning[body]};
}

/* Sums of world_joint_drift.c for directions d that turn with A, with d taken out:
 * (w_A x d).u = d.(u x w_A), and of free rotation (r x d).w' = d.(w' x r). */
static void find_motion(builder *b) {
    side_motion one = side_of(b, b->look->body[0]), two = side_of(b, b->look->body[1]);
    rg_vec3 moves = rg_add(two.velocity, rg_cross(two.spin, two.arm));
    b->apart = rg_sub(moves, rg_add(one.velocity, rg_cross(one.spin, one.arm)));
    b->spin = rg_sub(two.spin, one.spin);
    rg_vec3 second =
        rg_add(rg_cross(two.spin, rg_sub(moves, two.velocity)), rg_cross(two.turning, two.arm));
    rg_vec3 first =
        rg_add(rg_cross(one.spin, rg_sub(moves, one.velocity)), rg_cross(one.turning, one.arm));
    b->bends = rg_add(rg_cross(b->apart, one.spin), rg_sub(second, first));
    b->twists = rg_add(rg_cross(b->spin, one.spin), rg_sub(two.turning, one.turning));
}

static bool turns_with_first(rg_joint_kind kind) {
    return kind == RG_JOINT_BALL || kind == RG_JOINT_HINGE || kind == RG_JOINT_SLIDER ||
           kind == RG_JOINT_CYLINDRICAL || kind == RG_JOINT_PLANAR || kind == RG_JOINT_FIXED;
}

/* False: broken, or between bodies that are not stepped. */
static bool begin_joint(builder *b, size_t joint) {
    const rg_world_content *c = b->content;
    bool any = false;
    if (rg_joint_is_off(c, joint))
        return false;
    double last = rg_joint_memories(c)[joint].step;
    b->joint = joint;
    b->longer = last > 0 && !b->input->impact ? b->input->step / last : 0;
    b->look = rg_joint_look_again(b->input->seen, c, joint, b->now, &b->own);
    b->driven = false;
    b->plain = turns_with_first(c->joint[joint].def.kind);
    if (c->joint[joint].def.kind == RG_JOINT_TENDON)
        return begin_tendon(b, joint);
    b->row = (rg_joint_row){.joint = (uint32_t)joint, .point = b->look->point};
    for (int side = 0; side < 2; side++) {
        uint32_t body = b->look->body[side];
        b->row.body[side] = body;
        b->row.moves[side] = body != UINT32_MAX && c->dynamics[body].inverse_mass > 0;
        if (b->row.moves[side] && b->input->member && !b->input->member[body])
            return false;
        any = any || b->row.moves[side];
        b->driven = b->driven || (body != UINT32_MAX && c->record[body].prescription1);
        b->plain = b->plain && (body == UINT32_MAX || b->row.moves[side]);
    }
    if (b->plain)
        find_motion(b);
    else if (!b->driven)
        b->motion = rg_joint_motion_of(c, joint, b->look, &b->motions);
    return any;
}

rg_status rg_joints_rows(const rg_world_content *c, const rg_joints_input *input, rg_arena *arena,
                         rg_joint_set *set) {
    rg_status status = rg_joint_set_make(c, c->joints.count ? count_rows(c) : 0, arena, set);
    if (status || c->joints.count == 0)
        return status;
    builder b = {.content = c,
                 .input = input,
                 .set = set,
                 .now = {c->position, c->orientation},
                 .motions = {c->position, c->orientation, c->velocity, c->angular_velocity}};
    status = rg_joints_seen_loops(input->seen, c);
    set->loops = input->seen->loops;
    if (!status && c->prescription_count > 0)
        status = find_places(&b, arena, &b.ahead);
    if (!status)
        status = find_turning(&b, arena);
    for (size_t j = 0; j < c->joints.count && !status; j++) {
        if (!begin_joint(&b, j))
            continue;
        if (b.driven)
            rg_joint_look_at(c, j, b.ahead, &b.later);
        size_t first = set->count;
        add_locks(&b);
        for (size_t k = 0; k < b.look->axes; k++)
            add_axis(&b, k);
        if (c->joint[j].def.kind != RG_JOINT_TENDON)
            rg_joint_set_measure(set, first, rg_joint_unit(c, b.row.body, b.row.moves));
    }
    rg_joint_set_settle(set);
    return status;
}
