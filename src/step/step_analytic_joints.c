/* Joints in the analytic method: which rows a group has, where they are, how they move, and the
 * forces of springs and motors, which follow from that.
 *
 * Rows are those of world_joint_motion.c. Angles and the phases of gears are counted from the last
 * accepted place, which view->mechanism remembers.
 *
 * Tested by tests/step/test_analytic_joints.c. */
#include "step/step_analytic_joints.h"

#include "problem/problem_joints.h"

#include <string.h>

/* Share of the step of the world over which targets that depend on time are differenced. */
#define TARGET_DIFFERENCE 1e-3

/* --- which rows ------------------------------------------------------------------------------- */

static uint32_t place_of(const rg_analysis *a, uint32_t body) {
    const rg_world_content *c = &a->view->world->content;
    return body < c->bodies.count && c->dynamics[body].inverse_mass > 0
               ? (uint32_t)rg_analysis_place(a, body)
               : UINT32_MAX;
}

/* Whether forces move a body of a joint that holds: one of the group, then. */
static bool has_joint(const rg_analysis *a, size_t joint) {
    uint32_t bodies[2], place;
    if (rg_analysis_joined_bodies(a, joint, bodies) == 0)
        return false;
    place = a->place[bodies[0]];
    return place < a->flight.body_count && a->flight.body[place] == bodies[0];
}

typedef struct row_maker {
    rg_analysis *a;
    rg_analysis_joints *j;
    uint32_t joint;
    uint8_t loop;
    rg_analysis_joint_row *soft; /* of all joints, put behind the others in the end */
    size_t soft_count;
} row_maker;

double rg_joints_length(const rg_analysis *a, const rg_joint_look *look) {
    const rg_world_content *c = &a->view->world->content;
    bool moves[2];
    for (int side = 0; side < 2; side++)
        moves[side] = place_of(a, look->body[side]) != UINT32_MAX;
    return rg_joint_unit(c, look->body, moves);
}

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
    row->length = rg_joints_length(m->a, look);
    row->unit = rg_joint_direction_at(look, direction)->turns ? row->length : 1;
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
    row->most = axis->max_force / row->unit;
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
    if (axis->armature > 0) {
        rg_analysis_joint_row *row =
            add_row(m, RG_ROLE_ARMATURE, first + RG_JOINT_ARMATURE, direction);
        row->compliance = row->unit * row->unit / axis->armature;
    }
    if (axis->friction > 0) {
        rg_analysis_joint_row *row =
            add_row(m, RG_ROLE_BRAKE, first + RG_JOINT_FRICTION, direction);
        row->most = axis->friction / row->unit;
    }
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
    return j->look ? RG_OK : RG_OUT_OF_MEMORY;
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

/* The world stands behind all bodies. */
uint32_t rg_joints_body(const rg_analysis *a, const rg_joint_look *look, int side) {
    return look->body[side] == UINT32_MAX ? (uint32_t)a->view->world->content.bodies.count
                                          : look->body[side];
}

double rg_joints_drift(const rg_analysis *a, uint32_t joint, const rg_joint_look *look,
                       size_t direction) {
    const rg_analysis_motion *m = &a->motion;
    rg_body_motions motions = {m->position, m->orientation, m->velocity, m->angular_velocity};
    rg_joint_motion motion =
        rg_joint_motion_of(&a->view->world->content, a->joints->joint[joint], look, &motions);
    return rg_joint_drift(&motion, look, direction);
}

/* Of the motor of a row, at a->motion; per second by differences, of fourth order. */
static void find_target(const rg_analysis *a, rg_analysis_joint_row *r) {
    const rg_world_content *c = &a->view->world->content;
    size_t joint = a->joints->joint[r->joint];
    size_t axis = r->direction - a->joints->look[r->joint].locked;
    double t = a->motion.time, d = TARGET_DIFFERENCE * (a->view->end - a->view->begin);
    r->target = rg_joint_target(c, joint, axis, t) * r->unit;
    if (!c->joint[joint].def.axis[axis].target_of_time || r->role == RG_ROLE_SOFT)
        return;
    double near = rg_joint_target(c, joint, axis, t + d) - rg_joint_target(c, joint, axis, t - d);
    double far =
        rg_joint_target(c, joint, axis, t + 2 * d) - rg_joint_target(c, joint, axis, t - 2 * d);
    r->drift -= (8 * near - far) / (12 * d) * r->unit;
}

static void move_row(const rg_analysis *a, rg_analysis_joint_row *r) {
    const rg_analysis_joints *j = a->joints;
    const rg_joint_look *look = &j->look[r->joint];
    const rg_joint_def *def = &a->view->world->content.joint[j->joint[r->joint]].def;
    rg_joint_direction along = *rg_joint_direction_at(look, r->direction);
    along.direction = rg_scale(r->unit, along.direction);
    r->row = rg_analysis_joint_direction(a, rg_joints_body(a, look, 1), rg_joints_body(a, look, 0),
                                         look->point, &along);
    r->value = along.value * r->unit;
    if (r->role == RG_ROLE_LOCKED && r->direction >= look->locked) /* a rod */
        r->value -= def->axis[r->direction - look->locked].lower;
    r->rate = rg_analysis_rate(&a->motion, &r->row);
    r->drift =
        r->role == RG_ROLE_SOFT ? 0 : r->unit * rg_joints_drift(a, r->joint, look, r->direction);
    if (rg_joints_is(r, RG_JOINT_MOTOR))
        find_target(a, r);
}

rg_joint_look rg_joints_look_at(const rg_analysis *a, uint32_t joint) {
    rg_joint_look look;
    rg_joint_look_at(a->view->mechanism, a->joints->joint[joint],
                     (rg_body_places){a->motion.position, a->motion.orientation}, &look);
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
        memcpy(rg_joint_memories(a->view->mechanism)[j->joint[i]].coordinate, j->look[i].keep,
               sizeof j->look[i].keep);
}

/* --- forces that are known -------------------------------------------------------------------- */

/* N. */
static double soft_force(const rg_analysis *a, const rg_analysis_joint_row *r) {
    const rg_analysis_joints *j = a->joints;
    const rg_joint_axis *axis = &a->view->world->content.joint[j->joint[r->joint]]
                                     .def.axis[r->direction - j->look[r->joint].locked];
    double value = r->value / r->unit, rate = r->rate / r->unit, target = r->target / r->unit;
    if (rg_joints_is(r, RG_JOINT_SPRING))
        return (-axis->stiffness * (value - axis->rest) - axis->damping * rate) / r->unit;
    double force = axis->motor == RG_MOTOR_POSITION
                       ? axis->gain * (target - value) - axis->gain_velocity * rate
                       : axis->gain * (target - rate);
    return fmax(-r->most, fmin(r->most, force / r->unit));
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
        const rg_vec3 *w = a->motion.angular_velocity;
        spin = fmax(spin, rg_length(rg_sub(w[rg_joints_body(a, &j->look[i], 1)],
                                           w[rg_joints_body(a, &j->look[i], 0)])));
    }
    return spin;
}

void rg_analysis_joints_keep(const rg_analysis *a, double step, rg_joint_memory *memories) {
    const rg_analysis_joints *j = a->joints;
    rg_analysis_limits_keep(a, step, memories);
    for (size_t i = 0; j && i < j->row_count; i++) {
        const rg_analysis_joint_row *r = &j->rows[i];
        rg_joint_memory *m = &memories[j->joint[r->joint]];
        const rg_joint_direction *along = rg_joint_direction_at(&j->look[r->joint], r->direction);
        m->impulse[r->part] += r->force * r->unit * step;
        rg_vec3 *sum = along->turns ? &m->torque : &m->force;
        *sum = rg_add_scaled(*sum, r->force * r->unit, along->direction);
    }
    for (size_t i = 0; j && i < j->count; i++)
        memcpy(memories[j->joint[i]].coordinate, j->look[i].keep, sizeof j->look[i].keep);
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
    return rg_joints_is(r, RG_JOINT_FRICTION) ? RG_JUDGE_JOINT_FRICTION : RG_JUDGE_JOINT_DRIVE;
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
        const rg_joint_direction *along = rg_joint_direction_at(&j->look[r->joint], r->direction);
        rg_judge_joint *s = &shown[r->joint];
        rg_vec3 *sum = along->turns ? &s->angular[part_of(r)] : &s->linear[part_of(r)];
        *sum = rg_add_scaled(*sum, r->force * r->unit, along->direction);
    }
    now->joints = shown;
    now->joint_count = j->count;
    if (now->acceleration) {
        now->acceleration = j->acceleration;
        now->angular_acceleration = j->angular_acceleration;
    }
    return true;
}

double rg_analysis_joints_push_size(const rg_analysis *a) {
    double sum = 0;
    for (size_t i = 0; a->joints && i < a->joints->row_count; i++)
        sum += fabs(a->joints->rows[i].force) * sqrt(a->joints->rows[i].length);
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
