/* The judge of joints: what they did to the energy, how far they are from being closed, and how far
 * forces of motors, brakes and limits are beyond what the user allows.
 *
 * Work is the impulse times the mean of the velocities before and after of what it acts on, as for
 * contacts. Errors are found from the poses of the origin frames and the frames of the joints as
 * the user gave them, by other formulas than those of the rows: distances as lengths of vectors,
 * turns as the lengths of differences of unit vectors, angles from half angles.
 * Tested by tests/step/test_joints.c and test_judge_joints.c. */
#include "base/base_trig.h"
#include "step/step_judge.h"

#include <string.h>

/* --- work ------------------------------------------------------------------------------------- */

static void account_part(rg_judge_joint_part part, double work, bool instant,
                         rg_judge_contacts *sum) {
    if (part == RG_JUDGE_JOINT_FRICTION)
        sum->friction += work;
    else if (part == RG_JUDGE_JOINT_DRIVE)
        sum->drive += work;
    else if (instant || (part == RG_JUDGE_JOINT_LIMIT && work < 0))
        sum->impact += work;
    else
        sum->stabilisation += work;
}

/* How many parts may have done something, up to the last of them. Most joints only hold. */
static inline int busy_parts(const rg_judge_joint *joint) {
    return joint->holds ? 1 : RG_JUDGE_JOINT_PARTS;
}

_Static_assert(RG_JUDGE_JOINT_HOLD == 0, "it is the first part");

static void account(const rg_world_content *c, const rg_judge_memory *before,
                    const rg_judge_pushes *done, const rg_judge_joint *joint,
                    rg_judge_contacts *sum) {
    double step = done->ended ? 0 : done->step;
    rg_vec3 a[2], b[2];
    bool moves_a = rg_judge_moves(c, before, step, joint->body_a, joint->point, a);
    bool moves_b = rg_judge_moves(c, before, step, joint->body_b, joint->point, b);
    rg_vec3 mean = rg_scale(0.5, rg_sub(b[0], a[0])), turn = rg_scale(0.5, rg_sub(b[1], a[1]));
    rg_vec3 linear = {0, 0, 0}, angular = {0, 0, 0};
    for (int part = 0, count = busy_parts(joint); part < count; part++) {
        double work = rg_dot(joint->linear[part], mean) + rg_dot(joint->angular[part], turn);
        account_part((rg_judge_joint_part)part, work, step == 0 && !done->ended, sum);
        linear = rg_add(linear, joint->linear[part]);
        angular = rg_add(angular, joint->angular[part]);
    }
    if (!moves_a) /* what moves by itself pushes back on nothing that we count */
        sum->prescribed += 0.5 * (rg_dot(linear, a[0]) + rg_dot(angular, a[1]));
    if (!moves_b)
        sum->prescribed -= 0.5 * (rg_dot(linear, b[0]) + rg_dot(angular, b[1]));
    if (moves_a == moves_b || joint->numerical)
        return;
    double sign = moves_b ? 1 : -1;
    sum->impulse = rg_add_scaled(sum->impulse, sign, linear);
    sum->angular_impulse =
        rg_add_scaled(sum->angular_impulse, sign, rg_add(angular, rg_cross(joint->point, linear)));
}

void rg_judge_joint_work(const rg_world_content *c, const rg_judge_memory *before,
                         rg_judge_pushes done, const uint8_t *whose, rg_judge_contacts *sum) {
    for (size_t i = 0; i < done.joint_count; i++) {
        const rg_judge_joint *joint = &done.joints[i];
        bool counts = !whose || (joint->body_a != UINT32_MAX && whose[joint->body_a]) ||
                      (joint->body_b != UINT32_MAX && whose[joint->body_b]);
        if (counts)
            account(c, before, &done, joint, sum);
    }
}

/* Of a body of a joint, at its point and about it; of the world none. */
static void motion_at(const rg_judge_instant *now, double share, uint32_t body, rg_vec3 point,
                      rg_vec3 *velocity, rg_vec3 *spin) {
    *velocity = *spin = (rg_vec3){0, 0, 0};
    if (body == UINT32_MAX)
        return;
    *velocity = now->velocity[body], *spin = now->angular_velocity[body];
    if (share > 0) {
        *velocity = rg_add_scaled(*velocity, share, now->linear[body]);
        *spin = rg_add_scaled(*spin, share, now->angular[body]);
    }
    *velocity = rg_add(*velocity, rg_cross(*spin, rg_sub(point, now->position[body])));
}

static bool is_moved(const rg_judge_instant *now, uint32_t body) {
    return body != UINT32_MAX && now->content->record[body].motion == RG_MOTION_DYNAMIC;
}

void rg_judge_joint_power(const rg_judge_instant *now, double share, rg_judge_power *sum) {
    for (size_t k = 0; k < now->joint_count; k++) {
        const rg_judge_joint *j = &now->joints[k];
        rg_vec3 v[2], w[2];
        motion_at(now, share, j->body_a, j->point, &v[0], &w[0]);
        motion_at(now, share, j->body_b, j->point, &v[1], &w[1]);
        for (int part = 0; part < RG_JUDGE_JOINT_PARTS; part++) {
            double on[2], power;
            for (int side = 0; side < 2; side++)
                on[side] = rg_dot(j->linear[part], v[side]) + rg_dot(j->angular[part], w[side]);
            power = on[1] - on[0];
            *(part == RG_JUDGE_JOINT_FRICTION ? &sum->friction
              : part == RG_JUDGE_JOINT_DRIVE  ? &sum->drive
                                              : &sum->normal) += power;
            /* what moves by itself pushes back on nothing that we count */
            sum->prescribed += is_moved(now, j->body_a) ? 0 : on[0];
            sum->prescribed -= is_moved(now, j->body_b) ? 0 : on[1];
            sum->size += fabs(power);
        }
    }
}

/* What a body was like before the impulses at the end of a step. */
static void take_back(const rg_world_content *c, const rg_judge_memory *before, size_t i,
                      rg_vec3 linear, rg_vec3 angular, rg_vec3 *velocity) {
    const rg_mass_properties *mass = &c->record[i].mass;
    rg_vec3 *spin = &c->angular_velocity[i];
    *velocity = rg_add_scaled(*velocity, -1 / mass->mass, linear);
    before->turning[i] = rg_sub(before->turning[i], angular);
    if (c->planar)
        spin->y -= angular.y / mass->inertia.m[1][1];
    else if (!rg_is_zero(angular))
        *spin = rg_sub(*spin, rg_judge_turn_through(&mass->inertia, true,
                                                    before->now[i].orientation, angular));
}

/* Momenta that joints gave the bodies at the end of the step. */
static void add_end_joints(const rg_world_content *c, const rg_judge_pushes *done, rg_vec3 *linear,
                           rg_vec3 *angular) {
    for (size_t k = 0; k < done->end_joint_count; k++) {
        const rg_judge_joint *joint = &done->end_joints[k];
        rg_vec3 push = {0, 0, 0}, turn = {0, 0, 0};
        for (int part = 0, count = busy_parts(joint); part < count; part++) {
            push = rg_add(push, joint->linear[part]);
            turn = rg_add(turn, joint->angular[part]);
        }
        for (int side = 0; side < 2; side++) {
            uint32_t body = side == 0 ? joint->body_a : joint->body_b;
            if (body == UINT32_MAX)
                continue;
            double sign = side == 0 ? -1 : 1;
            rg_vec3 arm = rg_sub(joint->point, c->position[body]);
            linear[body] = rg_add_scaled(linear[body], sign, push);
            angular[body] = rg_add_scaled(angular[body], sign, rg_add(turn, rg_cross(arm, push)));
        }
    }
}

rg_status rg_judge_work(const rg_world_content *c, const rg_judge_memory *before,
                        rg_judge_pushes done, const uint8_t *whose, rg_arena *arena,
                        rg_judge_contacts *sum) {
    if (!done.arrived)
        rg_judge_arrive(c, whose, before);
    done.arrived = true;
    if (done.end_joint_count == 0 && !done.halved) {
        *sum = rg_judge_contact_work(c, before, done, whose);
        return RG_OK;
    }
    size_t n = c->bodies.count;
    rg_vec3 *velocity = rg_arena_take(arena, n, sizeof *velocity);
    rg_vec3 *spin = rg_arena_take(arena, n, sizeof *spin);
    rg_vec3 *linear = rg_arena_take(arena, n, sizeof *linear);
    rg_vec3 *angular = rg_arena_take(arena, n, sizeof *angular);
    if (!velocity || !spin || !linear || !angular)
        return RG_OUT_OF_MEMORY;
    memset(linear, 0, n * sizeof *linear);
    memset(angular, 0, n * sizeof *angular);
    add_end_joints(c, &done, linear, angular);
    rg_world_content moved = *c; /* before those impulses */
    moved.velocity = velocity, moved.angular_velocity = spin;
    for (size_t i = 0; i < n; i++) {
        velocity[i] = c->velocity[i], spin[i] = c->angular_velocity[i];
        if (c->record[i].motion == RG_MOTION_DYNAMIC && (!whose || whose[i]))
            take_back(&moved, before, i, linear[i], angular[i], &velocity[i]);
        if (done.halved && done.halved[i])
            velocity[i] = rg_add_scaled(
                velocity[i], -0.5 * done.step * c->dynamics[i].gravity_scale, c->gravity);
    }
    *sum = rg_judge_contact_work(&moved, before, done, whose);
    for (size_t i = 0; i < n; i++) {
        /* Half of the weight for the change from v- to v', half for that from v' to v+: h/4 (v- + 2
         * v' + v+) is the path that it does work on, of which h/2 (v- + v') was counted. */
        if (!done.halved || !done.halved[i] || (whose && !whose[i]))
            continue;
        rg_vec3 more = rg_sub(c->velocity[i], before->velocity[i]);
        sum->integration += c->record[i].mass.mass * c->dynamics[i].gravity_scale * 0.25 *
                            done.step * rg_dot(c->gravity, more);
    }
    /* At the end nothing moves meanwhile. */
    rg_judge_memory then = {.time = c->time,
                            .position = c->position,
                            .velocity = velocity,
                            .angular_velocity = spin,
                            .orientation = c->orientation,
                            .spin = c->angular_velocity};
    rg_judge_pushes end = {
        .joints = done.end_joints, .joint_count = done.end_joint_count, .ended = true};
    rg_judge_joint_work(c, &then, end, whose, sum);
    return RG_OK;
}

/* --- errors ----------------------------------------------------------------------------------- */

static rg_pose frame_of(const rg_world_content *c, const rg_pose *origin, rg_body_id body,
                        const rg_pose *frame) {
    if (!body.index1)
        return *frame;
    return rg_pose_compose_local(origin[rg_body_dense(c, body)], frame);
}

static rg_vec3 axis_of(rg_pose frame, int i) {
    return rg_rotate(frame.orientation, rg_vec3_make(i == 0, i == 1, i == 2));
}

/* The angle about z of A's frame that brings A's x towards B's. */
static double angle_about(rg_pose relative, int axis) {
    rg_quat q = relative.orientation;
    double part = axis == 0 ? q.x : axis == 1 ? q.y : q.z;
    return 2 * rg_atan2(part, q.w);
}

/* How far x, up to whole turns if it is an angle, is outside its limits. */
static double outside(const rg_joint_axis *a, double x, bool angle, double near) {
    if (angle)
        x += 2 * RG_PI * floor((near - x) / (2 * RG_PI) + 0.5);
    return fmax(0, fmax(a->lower - x, x - a->upper));
}

/* The angle from unit vector u to v about z, by half angles (W. Kahan), nearest to `near`. */
static double angle_between(rg_vec3 u, rg_vec3 v, rg_vec3 z, double near) {
    double half = rg_atan2(rg_length(rg_sub(u, v)), rg_length(rg_add(u, v)));
    double angle = rg_dot(rg_cross(u, v), z) < 0 ? -2 * half : 2 * half;
    return angle + 2 * RG_PI * floor((near - angle) / (2 * RG_PI) + 0.5);
}

/* m at the pitch circle. */
static double gear_error(const rg_joint_def *def, rg_pose a, rg_pose b, const double *near) {
    rg_vec3 z = axis_of(a, 2), apart = rg_sub(b.position, a.position);
    if (def->kind == RG_JOINT_RACK) {
        double turned = angle_between(axis_of(b, 0), axis_of(a, 0), z, near[0]);
        return fabs(rg_pose_apply_inverse(b, a.position).x + def->ratio * turned + near[2]);
    }
    rg_vec3 e = rg_normalised(rg_cross(rg_cross(z, apart), z));
    double radius = rg_length(rg_cross(z, apart)) / fabs(1 + def->ratio);
    double first = angle_between(e, axis_of(a, 0), z, near[0]);
    double second = angle_between(rg_neg(e), axis_of(b, 0), z, near[1]);
    return radius * fabs(first + def->ratio * second - near[2]);
}

/* How far a point of A's frame is on the wrong side of a surface, or off it. */
static double off_surface(const rg_joint_def *def, rg_vec3 p) {
    const rg_quadric *s = &def->surface;
    double value = s->constant + (s->square.x * p.x + s->linear.x) * p.x +
                   (s->square.y * p.y + s->linear.y) * p.y +
                   (s->square.z * p.z + s->linear.z) * p.z;
    double x = 2 * s->square.x * p.x + s->linear.x, y = 2 * s->square.y * p.y + s->linear.y,
           z = 2 * s->square.z * p.z + s->linear.z, steep = sqrt(x * x + y * y + z * z);
    return outside(&def->axis[0], steep > 0 ? value / steep : value, false, 0);
}

/* Kinds that lock nothing by themselves: they couple other joints, or hold one number. */
static bool locks_nothing(rg_joint_kind kind) {
    return kind == RG_JOINT_DISTANCE || kind == RG_JOINT_SURFACE || kind == RG_JOINT_GEAR ||
           kind == RG_JOINT_RACK || kind == RG_JOINT_TENDON;
}

/* The part of a distance that is locked. */
static double locked_distance(rg_joint_kind kind, rg_vec3 d) {
    switch (kind) {
    case RG_JOINT_SLIDER:
    case RG_JOINT_CYLINDRICAL:
        return sqrt(d.x * d.x + d.y * d.y);
    case RG_JOINT_PLANAR:
        return fabs(d.z);
    default:
        return locks_nothing(kind) ? 0 : rg_length(d);
    }
}

static double locked_turn(rg_joint_kind kind, rg_pose a, rg_pose b) {
    double sum = 0;
    switch (kind) {
    case RG_JOINT_BALL:
        return 0;
    case RG_JOINT_UNIVERSAL:
        return fabs(rg_dot(axis_of(a, 0), axis_of(b, 1)));
    case RG_JOINT_SLIDER:
    case RG_JOINT_FIXED:
        for (int i = 0; i < 3; i++)
            sum = fmax(sum, rg_length(rg_sub(axis_of(a, i), axis_of(b, i))));
        return sum;
    default:
        return locks_nothing(kind) ? 0 : rg_length(rg_sub(axis_of(a, 2), axis_of(b, 2)));
    }
}

/* Beyond the limits of its axes; of universal joints angles are left out. */
static double beyond(const rg_joint_def *def, rg_pose relative, const double *near) {
    rg_vec3 d = relative.position;
    switch (def->kind) {
    case RG_JOINT_HINGE:
        return outside(&def->axis[0], angle_about(relative, 2), true, near[0]);
    case RG_JOINT_SLIDER:
        return outside(&def->axis[0], d.z, false, 0);
    case RG_JOINT_CYLINDRICAL:
        return fmax(outside(&def->axis[0], d.z, false, 0),
                    outside(&def->axis[1], angle_about(relative, 2), true, near[1]));
    case RG_JOINT_PLANAR:
        return rg_max3(outside(&def->axis[0], d.x, false, 0), outside(&def->axis[1], d.y, false, 0),
                       outside(&def->axis[2], angle_about(relative, 2), true, near[2]));
    case RG_JOINT_DISTANCE:
        return outside(&def->axis[0], rg_length(d), false, 0);
    case RG_JOINT_SURFACE:
        return off_surface(def, d);
    default:
        return 0;
    }
}

/* The coordinate of an axis, angles nearest to `near`. */
static double coordinate_of(const rg_joint_def *def, rg_pose a, rg_pose b, size_t axis,
                            double near) {
    rg_vec3 d = rg_pose_apply_inverse(a, b.position);
    switch (def->kind) {
    case RG_JOINT_SLIDER:
        return d.z;
    case RG_JOINT_UNIVERSAL:
        return axis == 0 ? angle_between(axis_of(a, 1), axis_of(b, 1), axis_of(a, 0), near)
                         : angle_between(axis_of(a, 0), axis_of(b, 0), axis_of(b, 1), near);
    case RG_JOINT_CYLINDRICAL:
        if (axis == 0)
            return d.z;
        break;
    case RG_JOINT_PLANAR:
        if (axis < 2)
            return axis == 0 ? d.x : d.y;
        break;
    case RG_JOINT_DISTANCE:
        return rg_length(d);
    default:
        break;
    }
    return angle_between(axis_of(a, 0), axis_of(b, 0), axis_of(a, 2), near);
}

/* How far the sum of a tendon is outside its limits. Points on surfaces have no coordinate here. */
static double tendon_error(const rg_world_content *c, const rg_pose *origin,
                           const rg_joint_def *def) {
    double sum = 0;
    for (size_t k = 0; k < def->part_count; k++) {
        size_t j = rg_joint_dense(c, def->part[k].joint), axis = def->part[k].axis;
        const rg_joint_def *part = &c->joint[j].def;
        if (part->kind == RG_JOINT_SURFACE || rg_joint_memories(c)[j].broken != 0)
            return 0;
        sum += def->part[k].coefficient *
               coordinate_of(part, frame_of(c, origin, part->body_a, &part->frame_a),
                             frame_of(c, origin, part->body_b, &part->frame_b), axis,
                             rg_joint_memories(c)[j].coordinate[axis]);
    }
    return outside(&def->axis[0], sum, false, 0);
}

static bool is_unlimited(const rg_joint_axis *a) {
    return a->lower == -INFINITY && a->upper == INFINITY;
}

/* The origin of a frame of a joint, in space. */
static rg_vec3 point_of(const rg_world_content *c, const rg_pose *origin, rg_body_id body,
                        rg_vec3 point) {
    return body.index1 ? rg_pose_apply(origin[rg_body_dense(c, body)], point) : point;
}

static double one_error(const rg_world_content *c, const rg_pose *origin, const rg_joint_def *def,
                        const double *coordinate) {
    if (def->kind == RG_JOINT_BALL)
        return rg_length(rg_sub(point_of(c, origin, def->body_b, def->frame_b.position),
                                point_of(c, origin, def->body_a, def->frame_a.position)));
    if (def->kind == RG_JOINT_TENDON)
        return tendon_error(c, origin, def);
    rg_pose a = frame_of(c, origin, def->body_a, &def->frame_a),
            b = frame_of(c, origin, def->body_b, &def->frame_b);
    if (def->kind == RG_JOINT_GEAR || def->kind == RG_JOINT_RACK)
        return gear_error(def, a, b, coordinate);
    if (def->kind == RG_JOINT_HINGE && is_unlimited(&def->axis[0]))
        return rg_length(rg_sub(b.position, a.position)) + locked_turn(def->kind, a, b);
    rg_pose relative = rg_pose_compose(rg_pose_inverse(a), b);
    return locked_distance(def->kind, relative.position) + locked_turn(def->kind, a, b) +
           beyond(def, relative, coordinate);
}

double rg_judge_joint_error(const rg_world_content *c, const rg_pose *origin) {
    double worst = NAN;
    for (size_t j = 0; j < c->joints.count; j++) {
        const rg_joint_memory *memory = &rg_joint_memories(c)[j];
        if (memory->broken != 0)
            continue;
        double error = one_error(c, origin, &c->joint[j].def, memory->coordinate);
        worst = isnan(worst) || !(error <= worst) ? error : worst;
    }
    return worst;
}

/* --- bounds ----------------------------------------------------------------------------------- */

/* N s, N m s: of a joint, what its force is relative to: all of its impulses, and what gravity
 * gives its bodies in the step, for torques at their radius of gyration. */
static double carried(const rg_world_content *c, size_t j, bool turns) {
    const rg_joint_memory *memory = &rg_joint_memories(c)[j];
    const rg_body_id bodies[2] = {c->joint[j].def.body_a, c->joint[j].def.body_b};
    double sum = 0;
    for (size_t k = 0; k < RG_JOINT_ROWS_MOST; k++)
        sum += fabs(memory->impulse[k]);
    for (int side = 0; side < 2; side++) {
        if (!bodies[side].index1)
            continue;
        const rg_body_record *body = &c->record[rg_body_dense(c, bodies[side])];
        const rg_mat3 *inertia = &body->mass.inertia;
        double trace = inertia->m[0][0] + inertia->m[1][1] + inertia->m[2][2];
        double mass = body->motion == RG_MOTION_DYNAMIC ? body->mass.mass : 0;
        sum += rg_length(c->gravity) * memory->step *
               (turns ? sqrt(0.5 * mass * trace) : mass); /* m k, k^2 = tr / (2 m) */
    }
    return sum;
}

double rg_judge_joint_bounds(const rg_world_content *c) {
    double worst = 0;
    for (size_t j = 0; j < c->joints.count; j++) {
        const rg_joint_def *def = &c->joint[j].def;
        const rg_joint_memory *memory = &rg_joint_memories(c)[j];
        for (size_t k = 0; k < rg_joint_axis_count(def->kind); k++) {
            const rg_joint_axis *a = &def->axis[k];
            const double *r = memory->impulse + RG_JOINT_LOCKED + k * RG_JOINT_PARTS;
            double beyond = fmax(fabs(r[RG_JOINT_MOTOR]) - memory->step * a->max_force,
                                 fabs(r[RG_JOINT_FRICTION]) - memory->step * a->friction);
            if (a->lower < a->upper) /* limits push, and do not pull */
                beyond = rg_max3(beyond, -r[RG_JOINT_LOWER], r[RG_JOINT_UPPER]);
            if (beyond > 0)
                worst = fmax(worst, beyond / carried(c, j, rg_joint_axis_is_angle(def->kind, k)));
        }
    }
    return worst;
}
