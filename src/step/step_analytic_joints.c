/* Joints in the analytic method: which rows a group has, where they are, how they move, and the
 * forces of springs and motors, which follow from that.
 *
 * Rows are those of world_joint_motion.c. Their accelerations need what velocities add (`drift`):
 * with d the direction, u and w the velocity and angular velocity of B against A, r the arms from
 * the centres of mass to the point, along a direction that turns with A
 *
 *     d.(w_B x (w_B x r_B) - w_A x (w_A x r_A) - 2 w_A x u),
 *
 * between two points at distance s the same without A's turn, and |u across d|^2 / s; about a
 * direction d'.w, which is (w_A x d).w where d turns with A, where it turns with B, and, as long as
 * the row is held, where it is the product of an axis of each; of universal joints (a_x x b_y),
 * whose axes both move, (a_x.w)(b_y.w) less.
 *
 * Tested by tests/step/test_analytic_joints.c. */
#include "step/step_analytic_joints.h"

#include "base/base_text.h"
#include "base/base_trig.h"
#include "problem/problem_joints.h"

#include <string.h>

/* --- which rows ------------------------------------------------------------------------------- */

static uint32_t place_of(const rg_analysis *a, uint32_t body) {
    const rg_world_content *c = &a->view->world->content;
    return body < c->bodies.count && c->dynamics[body].inverse_mass > 0
               ? (uint32_t)rg_analysis_place(a, body)
               : UINT32_MAX;
}

/* Whether forces move a body of a joint that holds, which then is in the group. */
static bool has_joint(const rg_analysis *a, size_t joint) {
    const rg_world_content *c = &a->view->world->content;
    const rg_joint_def *def = &c->joint[joint].def;
    if (rg_joint_memories(c)[joint].broken != 0)
        return false;
    for (int side = 0; side < 2; side++) {
        rg_body_id id = side ? def->body_b : def->body_a;
        uint32_t place = id.index1 ? place_of(a, (uint32_t)rg_body_dense(c, id)) : UINT32_MAX;
        if (place < a->flight.body_count && a->flight.body[place] == rg_body_dense(c, id))
            return true;
    }
    return false;
}

typedef struct row_maker {
    rg_analysis *a;
    rg_analysis_joints *j;
    uint32_t joint;
    uint8_t loop;
    rg_analysis_joint_row *soft; /* of all joints, put behind the others in the end */
    size_t soft_count;
} row_maker;

static rg_analysis_joint_row *add_row(row_maker *m, rg_joint_role role, unsigned part,
                                      size_t direction) {
    const rg_joint_look *look = &m->j->look[m->joint];
    rg_analysis_joint_row *row =
        role == RG_ROLE_SOFT ? &m->soft[m->soft_count++] : &m->j->rows[m->j->holdable++];
    *row = (rg_analysis_joint_row){.joint = m->joint,
                                   .role = (uint8_t)role,
                                   .part = (uint8_t)part,
                                   .direction = (uint8_t)direction,
                                   .held = role != RG_ROLE_SOFT,
                                   .most = INFINITY};
    bool redundant = m->loop || role == RG_ROLE_BRAKE || role == RG_ROLE_MOTOR;
    row->give = redundant ? RG_JOINT_GIVE : 0;
    m->j->loops |= redundant;
    for (int side = 0; side < 2; side++)
        row->place[side] = place_of(m->a, look->body[1 - side]);
    return row;
}

static void add_motor(row_maker *m, const rg_joint_axis *axis, unsigned part, size_t direction) {
    bool rigid = axis->motor == RG_MOTOR_VELOCITY && axis->gain == 0;
    bool limited = axis->max_force < INFINITY;
    rg_analysis_joint_row *row = add_row(m,
                                         !rigid    ? RG_ROLE_SOFT
                                         : limited ? RG_ROLE_BRAKE
                                                   : RG_ROLE_MOTOR,
                                         part, direction);
    row->most = axis->max_force;
    row->target = rigid ? axis->target : 0;
}

static void add_axis(row_maker *m, size_t k) {
    const rg_world_content *c = &m->a->view->world->content;
    const rg_joint_axis *axis = &c->joint[m->j->joint[m->joint]].def.axis[k];
    unsigned first = RG_JOINT_LOCKED + (unsigned)k * RG_JOINT_PARTS;
    size_t direction = m->j->look[m->joint].locked + k;
    if (axis->lower == axis->upper)
        add_row(m, RG_ROLE_LOCKED, first + RG_JOINT_LOWER, direction);
    if (axis->motor != RG_MOTOR_NONE)
        add_motor(m, axis, first + RG_JOINT_MOTOR, direction);
    if (axis->armature > 0)
        add_row(m, RG_ROLE_ARMATURE, first + RG_JOINT_ARMATURE, direction)->compliance =
            1 / axis->armature;
    if (axis->friction > 0)
        add_row(m, RG_ROLE_BRAKE, first + RG_JOINT_FRICTION, direction)->most = axis->friction;
    if (axis->stiffness > 0 || axis->damping > 0)
        add_row(m, RG_ROLE_SOFT, first + RG_JOINT_SPRING, direction);
}

static rg_status make_rows(rg_analysis *a, rg_analysis_joints *j) {
    enum { MOST = RG_JOINT_LOCKED + 5 * RG_JOINT_AXES_MOST };
    const rg_world_content *c = &a->view->world->content;
    uint8_t *loops;
    row_maker m = {.a = a, .j = j};
    j->rows = rg_arena_take(a->arena, j->count * MOST, sizeof *j->rows);
    m.soft = rg_arena_take(a->arena, j->count * 2 * RG_JOINT_AXES_MOST, sizeof *m.soft);
    if (!j->rows || !m.soft || rg_joint_loops(c, a->arena, &loops))
        return RG_OUT_OF_MEMORY;
    for (m.joint = 0; m.joint < j->count; m.joint++) {
        uint32_t dense = j->joint[m.joint];
        rg_joint_look *look = &j->look[m.joint];
        rg_joint_look_at(c, dense, (rg_body_places){a->motion.position, a->motion.orientation},
                         look);
        memcpy(j->coordinate[m.joint], rg_joint_memories(c)[dense].coordinate,
               sizeof *j->coordinate);
        m.loop = loops[dense];
        for (size_t k = 0; k < look->locked; k++)
            add_row(&m, RG_ROLE_LOCKED, look->place[k], k);
        for (size_t k = 0; k < look->axes; k++)
            add_axis(&m, k);
    }
    j->row_count = j->holdable + m.soft_count;
    if (m.soft_count)
        memcpy(j->rows + j->holdable, m.soft, m.soft_count * sizeof *m.soft);
    return RG_OK;
}

static rg_status list_joints(rg_analysis *a, rg_analysis_joints *j) {
    const rg_world_content *c = &a->view->world->content;
    size_t most = c->joints.count, n = c->bodies.count + 1;
    j->joint = rg_arena_take(a->arena, most, sizeof *j->joint);
    j->acceleration = rg_arena_take(a->arena, n, sizeof *j->acceleration);
    j->angular_acceleration = rg_arena_take(a->arena, n, sizeof *j->angular_acceleration);
    j->twist = rg_arena_take(a->arena, a->flight.body_count, sizeof *j->twist);
    if (!j->joint || !j->acceleration || !j->angular_acceleration || !j->twist)
        return RG_OUT_OF_MEMORY;
    for (size_t i = 0; i < most; i++)
        if (has_joint(a, i))
            j->joint[j->count++] = (uint32_t)i;
    j->look = rg_arena_take(a->arena, j->count, sizeof *j->look);
    j->coordinate = rg_arena_take(a->arena, j->count, sizeof *j->coordinate);
    return j->look && j->coordinate ? RG_OK : RG_OUT_OF_MEMORY;
}

rg_status rg_analysis_joints_check(const rg_world_content *c, rg_error *error) {
    if (rg_joints_vary(c))
        return rg_fail(error, RG_UNSUPPORTED,
                       "the method analytic does not know targets that depend on time; take the "
                       "method stepping");
    for (size_t i = 0; i < c->joints.count; i++)
        if (c->joint[i].def.kind > RG_JOINT_DISTANCE)
            return rg_fail(error, RG_UNSUPPORTED,
                           "the method analytic does not know joints of the kind %s; take the "
                           "method stepping",
                           rg_joint_kind_name(c->joint[i].def.kind));
    return RG_OK;
}

rg_status rg_analysis_joints_make(rg_analysis *a) {
    a->joints = NULL;
    if (a->view->world->content.joints.count == 0)
        return RG_OK;
    rg_analysis_joints *j = rg_arena_take(a->arena, 1, sizeof *j);
    if (!j)
        return RG_OUT_OF_MEMORY;
    *j = (rg_analysis_joints){0};
    rg_status status = list_joints(a, j);
    if (status || j->count == 0)
        return status;
    status = make_rows(a, j);
    if (!status)
        status = rg_joints_analyse(a, j);
    if (!status)
        status = rg_analysis_limits_make(a, j);
    if (!status)
        status = rg_joints_list_brakes(a, j);
    if (!status)
        a->joints = j;
    return status;
}

/* --- where they are --------------------------------------------------------------------------- */

/* Motion of a body of a joint; of the world none. */
typedef struct side_motion {
    uint32_t body;
    rg_vec3 arm, velocity, spin;
} side_motion;

/* The world stands behind all bodies. */
static uint32_t body_of(const rg_analysis *a, const rg_joint_look *look, int side) {
    return look->body[side] == UINT32_MAX ? (uint32_t)a->view->world->content.bodies.count
                                          : look->body[side];
}

static side_motion side_of(const rg_analysis *a, const rg_joint_look *look, int side) {
    const rg_analysis_motion *m = &a->motion;
    uint32_t body = body_of(a, look, side);
    return (side_motion){body, rg_sub(look->point, m->position[body]), m->velocity[body],
                         m->angular_velocity[body]};
}

static rg_vec3 inwards(const side_motion *s, rg_vec3 arm) {
    return rg_cross(s->spin, rg_cross(s->spin, arm));
}

static double drift_along(rg_joint_kind kind, const rg_joint_direction *along,
                          const side_motion *one, const side_motion *two) {
    rg_vec3 d = along->direction;
    rg_vec3 u = rg_sub(rg_add(two->velocity, rg_cross(two->spin, two->arm)),
                       rg_add(one->velocity, rg_cross(one->spin, one->arm)));
    if (kind != RG_JOINT_DISTANCE) {
        rg_vec3 rest = rg_add_scaled(inwards(one, one->arm), 2, rg_cross(one->spin, u));
        return rg_dot(d, rg_sub(inwards(two, two->arm), rest));
    }
    rg_vec3 apart = rg_scale(along->value, d);
    rg_vec3 own = rg_sub(one->arm, apart);
    rg_vec3 rate = rg_add(u, rg_cross(one->spin, apart));
    rg_vec3 across = rg_add_scaled(rate, -rg_dot(d, rate), d);
    double bend = along->value > 0 ? rg_dot(across, across) / along->value : 0;
    return rg_dot(d, rg_sub(inwards(two, two->arm), inwards(one, own))) + bend;
}

static double drift_about(rg_joint_kind kind, const rg_joint_look *look, size_t direction,
                          const side_motion *one, const side_motion *two) {
    bool lock = direction < look->locked;
    rg_vec3 d =
        lock ? look->lock[direction].direction : look->axis[direction - look->locked].direction;
    rg_vec3 w = rg_sub(two->spin, one->spin);
    double drift = rg_dot(rg_cross(one->spin, d), w);
    if (kind == RG_JOINT_UNIVERSAL && lock)
        drift -= rg_dot(look->axis[0].direction, w) * rg_dot(look->axis[1].direction, w);
    return drift;
}

static const rg_joint_direction *direction_of(const rg_joint_look *look, size_t direction) {
    return direction < look->locked ? &look->lock[direction]
                                    : &look->axis[direction - look->locked];
}

double rg_joints_drift(const rg_analysis *a, uint32_t joint, const rg_joint_look *look,
                       size_t direction) {
    rg_joint_kind kind = a->view->world->content.joint[a->joints->joint[joint]].def.kind;
    const rg_joint_direction *along = direction_of(look, direction);
    side_motion one = side_of(a, look, 0), two = side_of(a, look, 1);
    return along->turns ? drift_about(kind, look, direction, &one, &two)
                        : drift_along(kind, along, &one, &two);
}

static void move_row(const rg_analysis *a, rg_analysis_joint_row *r) {
    const rg_analysis_joints *j = a->joints;
    const rg_joint_look *look = &j->look[r->joint];
    const rg_joint_def *def = &a->view->world->content.joint[j->joint[r->joint]].def;
    const rg_joint_direction *along = direction_of(look, r->direction);
    r->row = rg_analysis_joint_direction(a, body_of(a, look, 1), body_of(a, look, 0), look->point,
                                         along);
    r->value = along->value;
    if (r->role == RG_ROLE_LOCKED && r->direction >= look->locked) /* a rod */
        r->value -= def->axis[r->direction - look->locked].lower;
    r->rate = rg_analysis_rate(&a->motion, &r->row);
    r->drift = rg_joints_drift(a, r->joint, look, r->direction);
}

/* Angles are those nearest to the last accepted ones. */
static void count_turns(const rg_analysis *a, size_t joint, rg_joint_look *look) {
    for (size_t k = 0; k < look->axes; k++)
        if (look->axis[k].turns)
            look->axis[k].value +=
                2 * RG_PI *
                floor((a->joints->coordinate[joint][k] - look->axis[k].value) / (2 * RG_PI) + 0.5);
}

rg_joint_look rg_joints_look_at(const rg_analysis *a, uint32_t joint) {
    rg_joint_look look;
    rg_joint_look_at(&a->view->world->content, a->joints->joint[joint],
                     (rg_body_places){a->motion.position, a->motion.orientation}, &look);
    count_turns(a, joint, &look);
    return look;
}

void rg_joints_look(rg_analysis *a) {
    rg_analysis_joints *j = a->joints;
    for (uint32_t i = 0; i < j->count; i++)
        j->look[i] = rg_joints_look_at(a, i);
    for (size_t i = 0; i < j->row_count; i++)
        move_row(a, &j->rows[i]);
}

void rg_analysis_joints_accept(rg_analysis *a) {
    rg_analysis_joints *j = a->joints;
    for (size_t i = 0; j && i < j->count; i++)
        for (size_t k = 0; k < j->look[i].axes; k++)
            j->coordinate[i][k] = j->look[i].axis[k].value;
}

/* --- forces that are known -------------------------------------------------------------------- */

static double soft_force(const rg_analysis *a, const rg_analysis_joint_row *r) {
    const rg_analysis_joints *j = a->joints;
    const rg_joint_axis *axis = &a->view->world->content.joint[j->joint[r->joint]]
                                     .def.axis[r->direction - j->look[r->joint].locked];
    if ((r->part - RG_JOINT_LOCKED) % RG_JOINT_PARTS == RG_JOINT_SPRING)
        return -axis->stiffness * (r->value - axis->rest) - axis->damping * r->rate;
    double force = axis->motor == RG_MOTOR_POSITION
                       ? axis->gain * (axis->target - r->value) - axis->gain_velocity * r->rate
                       : axis->gain * (axis->target - r->rate);
    return fmax(-r->most, fmin(r->most, force));
}

void rg_analysis_joints_drive(rg_analysis *a, double *dydt) {
    rg_analysis_joints *j = a->joints;
    if (!j)
        return;
    rg_joints_look(a);
    for (size_t i = 0; i < j->row_count; i++) {
        rg_analysis_joint_row *r = &j->rows[i];
        r->force = r->role == RG_ROLE_SOFT ? soft_force(a, r) : 0;
        if (r->slips)
            r->force = -r->slips * r->most;
        r->own = r->force;
        if (r->force != 0)
            rg_analysis_push(a, dydt, &r->row, r->force);
    }
}

/* --- for others ------------------------------------------------------------------------------- */

double rg_analysis_joints_spin(const rg_analysis *a) {
    const rg_analysis_joints *j = a->joints;
    double spin = 0;
    for (size_t i = 0; j && i < j->count; i++) {
        side_motion one = side_of(a, &j->look[i], 0), two = side_of(a, &j->look[i], 1);
        spin = fmax(spin, rg_length(rg_sub(two.spin, one.spin)));
    }
    return spin;
}

void rg_analysis_joints_keep(const rg_analysis *a, double step, rg_joint_memory *memories) {
    const rg_analysis_joints *j = a->joints;
    rg_analysis_limits_keep(a, step, memories);
    for (size_t i = 0; j && i < j->row_count; i++) {
        const rg_analysis_joint_row *r = &j->rows[i];
        rg_joint_memory *m = &memories[j->joint[r->joint]];
        const rg_joint_direction *along = direction_of(&j->look[r->joint], r->direction);
        m->impulse[r->part] += r->force * step;
        rg_vec3 *sum = along->turns ? &m->torque : &m->force;
        *sum = rg_add_scaled(*sum, r->force, along->direction);
        if (r->direction >= j->look[r->joint].locked)
            m->coordinate[r->direction - j->look[r->joint].locked] = along->value;
    }
}

size_t rg_analysis_joint_count(const rg_analysis *a) {
    return a->joints ? a->joints->count : 0;
}

void rg_analysis_joint_places(const rg_analysis *a, uint32_t *places) {
    for (size_t i = 0; i < 2 * rg_analysis_joint_count(a); i++)
        places[i] = place_of(a, a->joints->look[i / 2].body[i % 2]);
}

static rg_judge_joint_part part_of(const rg_analysis_joint_row *r) {
    if (r->role == RG_ROLE_LOCKED)
        return RG_JUDGE_JOINT_HOLD;
    return r->part >= RG_JOINT_LOCKED &&
                   (r->part - RG_JOINT_LOCKED) % RG_JOINT_PARTS == RG_JOINT_FRICTION
               ? RG_JUDGE_JOINT_FRICTION
               : RG_JUDGE_JOINT_DRIVE;
}

bool rg_analysis_joints_show(const rg_analysis *a, rg_judge_instant *now) {
    const rg_analysis_joints *j = a->joints;
    rg_judge_joint *shown = rg_arena_take(a->arena, j->count, sizeof *shown);
    if (!shown)
        return false;
    for (size_t i = 0; i < j->count; i++)
        shown[i] = (rg_judge_joint){
            .body_a = j->look[i].body[0], .body_b = j->look[i].body[1], .point = j->look[i].point};
    for (size_t i = 0; i < j->row_count; i++) {
        const rg_analysis_joint_row *r = &j->rows[i];
        const rg_joint_direction *along = direction_of(&j->look[r->joint], r->direction);
        rg_judge_joint *s = &shown[r->joint];
        rg_vec3 *sum = along->turns ? &s->angular[part_of(r)] : &s->linear[part_of(r)];
        *sum = rg_add_scaled(*sum, r->force, along->direction);
    }
    now->joints = shown;
    now->joint_count = j->count;
    for (size_t i = 0; i < a->contact_count; i++)
        if (a->contacts[i].limit)
            rg_analysis_limit_show(a, &a->contacts[i], a->contacts[i].force[0], now);
    if (now->acceleration) {
        now->acceleration = j->acceleration;
        now->angular_acceleration = j->angular_acceleration;
    }
    return true;
}

double rg_analysis_joints_force(const rg_analysis *a) {
    double sum = 0;
    for (size_t i = 0; a->joints && i < a->joints->row_count; i++)
        sum += fabs(a->joints->rows[i].force);
    return sum;
}

size_t rg_analysis_held_rows(const rg_analysis *a) {
    size_t count = 0;
    for (size_t i = 0; a->joints && i < a->joints->holdable; i++)
        count += a->joints->rows[i].held;
    return count;
}

rg_analysis_row rg_analysis_held_row(const rg_analysis *a, size_t index, double *compliance) {
    const rg_analysis_joint_row *r = a->joints->rows;
    for (; !r->held || index; r++)
        index -= r->held;
    *compliance = r->compliance;
    return r->row;
}
