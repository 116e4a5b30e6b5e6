/* What velocities add to the accelerations of the rows of joints (world_joint_motion.c has the
 * rows).
 *
 * Along a direction d, at a point p that moves with p' (of B's material, or where two gears meet),
 * with u the velocity of B's material there against A's:
 *
 *     d'.u + d.(w_B x (p' - v_B) - w_A x (p' - v_A)),
 *
 * v_B, v_A the velocities of the centres of mass. A direction that turns with A has d' = w_A x d;
 * of a distance, a surface and gears it follows the point as well. About a direction: d'.w with
 * w = w_B - w_A, which is (w_A x d).w where d turns with A, where it turns with B, and, as long as
 * the row is held, where it is the product of an axis of each; of universal joints (a_x x b_y),
 * whose axes both move, (a_x.w)(b_y.w) less.
 *
 * Tested by tests/step/test_analytic_joints.c: energy, of every kind. */
#include "world/world.h"

typedef rg_joint_side_motion side_motion;

static side_motion side_of(const rg_world_content *c, const rg_joint_def *def, uint32_t body,
                           int side, const rg_body_motions *m) {
    bool framed =
        def->kind == RG_JOINT_SURFACE || def->kind == RG_JOINT_GEAR || def->kind == RG_JOINT_RACK;
    side_motion s = {0};
    if (framed)
        s.frame = side ? def->frame_b : def->frame_a;
    if (body == UINT32_MAX)
        return s;
    s.centre = m->position[body];
    s.velocity = m->velocity[body], s.spin = m->angular_velocity[body];
    if (framed) {
        rg_pose own = {m->position[body], m->orientation[body]};
        rg_pose local = rg_pose_compose(rg_pose_inverse(c->record[body].local_centre), s.frame);
        s.frame = rg_pose_compose(own, local);
    }
    return s;
}

static rg_vec3 velocity_at(const side_motion *s, rg_vec3 p) {
    return rg_add(s->velocity, rg_cross(s->spin, rg_sub(p, s->centre)));
}

static rg_vec3 across(rg_vec3 v, rg_vec3 d) {
    return rg_add_scaled(v, -rg_dot(v, d), d);
}

/* How the direction and the point of a row move. */
typedef struct row_motion {
    rg_vec3 direction, point;
} row_motion;

static row_motion move_distance(const rg_joint_direction *along, rg_vec3 p, const side_motion *one,
                                const side_motion *two) {
    rg_vec3 d = along->direction, other = rg_add_scaled(p, -along->value, d);
    row_motion m = {.point = velocity_at(two, p)};
    rg_vec3 rate = rg_sub(m.point, velocity_at(one, other));
    if (along->value > 0)
        m.direction = rg_scale(1 / along->value, across(rate, d));
    return m;
}

/* The normal follows the point by the curvature, H / |grad C| across it. */
static row_motion move_surface(const rg_quadric *s, const rg_joint_direction *along, rg_vec3 p,
                               const side_motion *one, const side_motion *two) {
    row_motion m = {rg_cross(one->spin, along->direction), velocity_at(two, p)};
    rg_quat turn = one->frame.orientation;
    rg_vec3 y = rg_rotate_back(turn, rg_sub(p, one->frame.position));
    double steep = rg_length(rg_add(rg_scale(2, rg_times(s->square, y)), s->linear));
    rg_vec3 u = rg_rotate_back(turn, rg_sub(m.point, velocity_at(one, p)));
    rg_vec3 bend = rg_rotate(turn, rg_scale(2 / steep, rg_times(s->square, u)));
    if (steep > 0)
        m.direction = rg_add(m.direction, across(bend, along->direction));
    return m;
}

static row_motion move_gears(double ratio, const side_motion *one, const side_motion *two) {
    rg_vec3 z = rg_rotate(one->frame.orientation, rg_vec3_make(0, 0, 1));
    rg_vec3 p = one->frame.position, rate = velocity_at(one, p);
    rg_vec3 apart = rg_sub(two->frame.position, p);
    rg_vec3 moves = rg_sub(velocity_at(two, two->frame.position), rate);
    rg_vec3 turned = rg_cross(one->spin, z);
    double height = rg_dot(z, apart), rise = rg_dot(turned, apart) + rg_dot(z, moves);
    rg_vec3 flat = rg_add_scaled(apart, -height, z);
    rg_vec3 flat_rate = rg_add_scaled(rg_add_scaled(moves, -rise, z), -height, turned);
    double distance = rg_length(flat);
    if (!(distance > 0))
        return (row_motion){.point = rate};
    rg_vec3 e = rg_scale(1 / distance, flat);
    rg_vec3 e_rate = rg_scale(1 / distance, across(flat_rate, e));
    rg_vec3 t_rate = rg_add(rg_cross(turned, e), rg_cross(z, e_rate));
    double radius = distance / (1 + ratio), grows = rg_dot(e, flat_rate) / (1 + ratio);
    rate = rg_add_scaled(rg_add_scaled(rate, grows, e), radius, e_rate);
    return (row_motion){rg_neg(t_rate), rate};
}

static row_motion move_rack(double radius, rg_vec3 d, const side_motion *one,
                            const side_motion *two) {
    rg_vec3 z = rg_rotate(two->frame.orientation, rg_vec3_make(0, 0, 1));
    rg_vec3 arm = rg_cross(two->spin, rg_cross(d, z));
    return (row_motion){rg_cross(two->spin, d),
                        rg_add_scaled(velocity_at(one, one->frame.position), radius, arm)};
}

/* d'.u + d.(w_B x (p' - v_B) - w_A x (p' - v_A)) of a row whose point moves with p'. */
static double drift_of(const rg_joint_motion *j, rg_vec3 d, row_motion m) {
    rg_vec3 turns = rg_sub(rg_cross(j->two.spin, rg_sub(m.point, j->two.velocity)),
                           rg_cross(j->one.spin, rg_sub(m.point, j->one.velocity)));
    return rg_dot(m.direction, j->apart) + rg_dot(d, turns);
}

static double drift_along(const rg_joint_motion *j, const rg_joint_direction *along) {
    const rg_joint_def *def = j->def;
    rg_vec3 d = along->direction, p = j->point;
    switch (def->kind) {
    case RG_JOINT_DISTANCE:
        return drift_of(j, d, move_distance(along, p, &j->one, &j->two));
    case RG_JOINT_SURFACE:
        return drift_of(j, d, move_surface(&def->surface, along, p, &j->one, &j->two));
    case RG_JOINT_GEAR:
        return drift_of(j, d, move_gears(def->ratio, &j->one, &j->two));
    case RG_JOINT_RACK:
        return drift_of(j, d, move_rack(def->ratio, d, &j->one, &j->two));
    default: /* the point is B's material, and the direction turns with A */
        return rg_dot(rg_cross(j->one.spin, d), j->apart) + rg_dot(d, j->turns);
    }
}

static double drift_about(const rg_joint_def *def, const rg_joint_look *look, bool lock, rg_vec3 d,
                          rg_vec3 spin, rg_vec3 w) {
    double drift = rg_dot(rg_cross(spin, d), w);
    if (def->kind == RG_JOINT_UNIVERSAL && lock)
        drift -= rg_dot(look->axis[0].direction, w) * rg_dot(look->axis[1].direction, w);
    return drift;
}

rg_joint_motion rg_joint_motion_of(const rg_world_content *c, size_t joint,
                                   const rg_joint_look *look, const rg_body_motions *motions) {
    const rg_joint_def *def = &c->joint[joint].def;
    rg_joint_motion j = {.def = def,
                         .point = look->point,
                         .one = side_of(c, def, look->body[0], 0, motions),
                         .two = side_of(c, def, look->body[1], 1, motions)};
    rg_vec3 moves = velocity_at(&j.two, j.point);
    j.apart = rg_sub(moves, velocity_at(&j.one, j.point));
    j.turns = rg_sub(rg_cross(j.two.spin, rg_sub(moves, j.two.velocity)),
                     rg_cross(j.one.spin, rg_sub(moves, j.one.velocity)));
    return j;
}

double rg_joint_drift(const rg_joint_motion *j, const rg_joint_look *look, size_t direction) {
    const rg_joint_direction *along = rg_joint_direction_at(look, direction);
    if (along->turns)
        return drift_about(j->def, look, direction < look->locked, along->direction, j->one.spin,
                           rg_sub(j->two.spin, j->one.spin));
    return drift_along(j, along);
}
