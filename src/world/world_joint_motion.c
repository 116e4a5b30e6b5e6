/* Where a joint is: how far its locked directions are off, and the coordinates of its axes, with
 * the directions in which motion changes them.
 *
 * Frames A and B have points p_A, p_B and axes a_i, b_i. A locked distance is a_i.(p_B - p_A); its
 * rate is a_i.(velocity of B's minus that of A's material at p_B), because a_i turns with A. So
 * both bodies are pushed at p_B, and momentum and angular momentum balance exactly. Locked turns:
 *
 *     about x and y   -a_y.b_z and a_x.b_z, with rates along b_z x -a_y and b_z x a_x
 *     about z alone   -a_x.b_y, with a rate along a_x x b_y
 *     all three       twice the vector part of the quaternion from A to B, in A's axes; near 0 its
 *                     rate is the angular velocity along a_i
 *
 * with w = w_B - w_A in each. Angles: about a_z from a_x to b_x; of a universal joint about a_x,
 * from a_y to b_y, and about b_y, from a_x to b_x.
 *
 * A point on a surface C(y) = 0 of A's frame: C / |grad C|, the distance to first order.
 *
 * Gears roll on each other at the pitch point, p = p_A + r_A e with the unit vector e from the axis
 * of A to that of B, D apart, r_A = D / (1 + ratio), r_B = ratio r_A: the angles f_A from e to a_x
 * and f_B from -e to b_x keep r_A f_A + r_B f_B, whose rate is (e x z).(v_B(p) - v_A(p)), whatever
 * carries the two. A rack keeps d.(p_B - p_A) - r f along d = b_x with the angle f from b_x to a_x;
 * the pitch point is p_A + r d x z, the rate d.(v_B(p) - v_A(p)).
 * Tested by tests/world/test_joint.c: directions against differences of the values. */
#include "world/world.h"

#include "base/base_trig.h"

#include <string.h>

/* In planar worlds directions are in the plane, or about y: others are left out if this is all that
 * rounding leaves of them. */
#define OUT_OF_PLANE 1e-6

typedef struct frames {
    rg_vec3 p[2];
    rg_quat turn[2];
    rg_vec3 a[3], b[3]; /* axes */
} frames;

static inline bool turns_nothing(rg_quat q) {
    return (rg_bits_of(q.x) | rg_bits_of(q.y) | rg_bits_of(q.z)) == 0;
}

rg_joint_anchors rg_joint_anchors_of(const rg_world_content *c, size_t joint) {
    const rg_joint_def *def = &c->joint[joint].def;
    const rg_body_id id[2] = {def->body_a, def->body_b};
    const rg_pose *frame[2] = {&def->frame_a, &def->frame_b};
    rg_joint_anchors anchors;
    for (int side = 0; side < 2; side++) {
        bool world = !id[side].index1;
        anchors.body[side] = world ? UINT32_MAX : (uint32_t)rg_body_dense(c, id[side]);
        anchors.frame[side] = *frame[side];
        anchors.turned[side] = true;
        if (world)
            continue;
        const rg_pose *centre = &c->record[anchors.body[side]].local_centre;
        rg_pose *own = &anchors.frame[side];
        own->position = rg_sub(own->position, centre->position);
        if (!turns_nothing(centre->orientation)) {
            own->position = rg_rotate_back(centre->orientation, own->position);
            own->orientation =
                rg_quat_multiply(rg_quat_conjugate(centre->orientation), own->orientation);
        }
        anchors.turned[side] = !(turns_nothing(own->orientation) && own->orientation.w == 1);
    }
    return anchors;
}

static inline rg_vec3 point_of(const rg_joint_anchors *a, int side, rg_body_places at) {
    uint32_t body = a->body[side];
    return body == UINT32_MAX ? a->frame[side].position
                              : rg_add(at.position[body],
                                       rg_rotate(at.orientation[body], a->frame[side].position));
}

static inline rg_quat turn_of(const rg_joint_anchors *a, int side, rg_body_places at) {
    uint32_t body = a->body[side];
    if (body == UINT32_MAX)
        return a->frame[side].orientation;
    return a->turned[side] ? rg_quat_multiply(at.orientation[body], a->frame[side].orientation)
                           : at.orientation[body];
}

static void take_columns(rg_quat turn, rg_vec3 axes[3]) {
    rg_mat3 r = rg_mat3_of_quat(turn);
    for (int k = 0; k < 3; k++)
        axes[k] = rg_vec3_make(r.m[0][k], r.m[1][k], r.m[2][k]);
}

/* Those of B only for kinds that need them. */
static void find_axes(rg_joint_kind kind, frames *f) {
    take_columns(f->turn[0], f->a);
    if (kind == RG_JOINT_HINGE || kind == RG_JOINT_UNIVERSAL || kind == RG_JOINT_CYLINDRICAL ||
        kind == RG_JOINT_PLANAR || kind == RG_JOINT_GEAR || kind == RG_JOINT_RACK)
        take_columns(f->turn[1], f->b);
}

static bool is_in_plane(const rg_world_content *c, rg_vec3 d, bool turns) {
    if (!c->planar)
        return true;
    return turns ? fabs(d.y) > OUT_OF_PLANE : fabs(d.x) + fabs(d.z) > OUT_OF_PLANE;
}

static void add_lock(const rg_world_content *c, rg_joint_look *look, unsigned place, double value,
                     rg_vec3 direction) {
    bool turns = place >= 3;
    if (!is_in_plane(c, direction, turns))
        return;
    look->place[look->locked] = (uint8_t)place;
    look->lock[look->locked++] = (rg_joint_direction){value, direction, turns};
}

static void lock_distances(const rg_world_content *c, const frames *f, unsigned which,
                           rg_joint_look *look) {
    rg_vec3 apart = rg_sub(f->p[1], f->p[0]);
    for (unsigned i = 0; i < 3; i++)
        if (which >> i & 1)
            add_lock(c, look, i, rg_dot(f->a[i], apart), f->a[i]);
}

static void lock_across(const rg_world_content *c, const frames *f, rg_joint_look *look) {
    add_lock(c, look, 3, -rg_dot(f->a[1], f->b[2]), rg_cross(f->a[1], f->b[2]));
    add_lock(c, look, 4, rg_dot(f->a[0], f->b[2]), rg_cross(f->b[2], f->a[0]));
}

static void lock_turns(const rg_world_content *c, const frames *f, rg_joint_look *look) {
    rg_quat q = rg_quat_multiply(rg_quat_conjugate(f->turn[0]), f->turn[1]);
    double two = q.w < 0 ? -2 : 2, x[3] = {two * q.x, two * q.y, two * q.z};
    for (unsigned i = 0; i < 3; i++)
        add_lock(c, look, 3 + i, x[i], f->a[i]);
}

static void add_axis(rg_joint_look *look, double value, rg_vec3 direction, bool turns) {
    look->axis[look->axes++] = (rg_joint_direction){value, direction, turns};
}

/* The angle nearest to the one before. */
static double angle_near(double last, double sine, double cosine) {
    double angle = rg_atan2(sine, cosine);
    return angle + 2 * RG_PI * floor((last - angle) / (2 * RG_PI) + 0.5);
}

static void add_angle(rg_joint_look *look, double last, double sine, double cosine,
                      rg_vec3 direction) {
    add_axis(look, angle_near(last, sine, cosine), direction, true);
}

static void add_turn(const frames *f, double last, rg_joint_look *look) {
    add_angle(look, last, rg_dot(f->b[0], f->a[1]), rg_dot(f->b[0], f->a[0]), f->a[2]);
}

/* The direction from A's point to B's; where they coincide any will do. */
static void add_distance(const frames *f, rg_joint_look *look) {
    rg_vec3 apart = rg_sub(f->p[1], f->p[0]);
    double length = rg_length(apart);
    add_axis(look, length, length > 0 ? rg_scale(1 / length, apart) : f->a[2], false);
}

static void add_surface(const frames *f, const rg_quadric *s, rg_joint_look *look) {
    rg_vec3 y = rg_rotate_back(f->turn[0], rg_sub(f->p[1], f->p[0]));
    rg_vec3 gradient = rg_add(rg_scale(2, rg_times(s->square, y)), s->linear);
    double steep = rg_length(gradient);
    double c = rg_dot(rg_times(s->square, y), y) + rg_dot(s->linear, y) + s->constant;
    if (!(steep > 0)) { /* a centre: any direction will do */
        add_axis(look, c, f->a[2], false);
        return;
    }
    add_axis(look, c / steep, rg_rotate(f->turn[0], rg_scale(1 / steep, gradient)), false);
}

static void lock_gears(const rg_world_content *c, const frames *f, double ratio, const double *last,
                       rg_joint_look *look) {
    rg_vec3 z = f->a[2], apart = rg_sub(f->p[1], f->p[0]);
    apart = rg_add_scaled(apart, -rg_dot(z, apart), z);
    double distance = rg_length(apart), radius = distance / (1 + ratio);
    rg_vec3 e = distance > 0 ? rg_scale(1 / distance, apart) : f->a[0], t = rg_cross(z, e);
    look->keep[0] = angle_near(last[0], rg_dot(f->a[0], t), rg_dot(f->a[0], e));
    look->keep[1] = angle_near(last[1], -rg_dot(f->b[0], t), -rg_dot(f->b[0], e));
    look->keep[2] = last[2];
    look->phase = look->keep[0] + ratio * look->keep[1];
    look->point = rg_add_scaled(f->p[0], radius, e);
    add_lock(c, look, 0, radius * (look->phase - last[2]), rg_neg(t));
}

static void lock_rack(const rg_world_content *c, const frames *f, double radius, const double *last,
                      rg_joint_look *look) {
    rg_vec3 d = f->b[0], z = f->b[2], apart = rg_sub(f->p[1], f->p[0]);
    look->keep[0] = angle_near(last[0], rg_dot(f->a[0], rg_cross(z, d)), rg_dot(f->a[0], d));
    look->keep[2] = last[2];
    look->phase = rg_dot(d, apart) - radius * look->keep[0];
    look->point = rg_add_scaled(f->p[0], radius, rg_cross(d, z));
    add_lock(c, look, 0, look->phase - last[2], d);
}

/* The sum, without a direction: its force acts on the bodies of its joints. */
static void add_tendon(const rg_world_content *c, const rg_joint_def *def, rg_body_places places,
                       rg_joint_look *look) {
    double sum = 0;
    if (def->part_count == 0)
        return;
    for (size_t k = 0; k < def->part_count; k++) {
        rg_joint_look part;
        rg_joint_look_at(c, rg_joint_dense(c, def->part[k].joint), places, &part);
        sum += def->part[k].coefficient * part.axis[def->part[k].axis].value;
    }
    add_axis(look, sum, (rg_vec3){0, 0, 0}, false);
}

/* The bodies of a joint and its frames, and nothing looked at yet. */
static void begin_look(const rg_joint_def *def, const rg_joint_anchors *anchors,
                       rg_body_places places, rg_joint_look *look, frames *f) {
    look->locked = look->axes = 0;
    for (int side = 0; side < 2; side++) {
        look->body[side] = anchors->body[side];
        f->p[side] = point_of(anchors, side, places);
    }
    f->turn[0] = turn_of(anchors, 0, places);
    if (def->kind != RG_JOINT_BALL)
        f->turn[1] = turn_of(anchors, 1, places);
    find_axes(def->kind, f);
}

/* Three distances in space and nothing else, by far the most frequent. */
static void look_at_ball(const frames *f, rg_joint_look *look) {
    rg_vec3 apart = rg_sub(f->p[1], f->p[0]);
    for (int i = 0; i < 3; i++) {
        look->place[i] = (uint8_t)i;
        look->lock[i] = (rg_joint_direction){rg_dot(f->a[i], apart), f->a[i], false};
    }
    look->locked = 3;
}

enum { X = 1, Y = 2, Z = 4 };
static const uint8_t locked_distances[RG_JOINT_KIND_COUNT] = {
    X | Y | Z, X | Y | Z, X | Y, X | Y | Z, X | Y, Z, X | Y | Z, 0, 0, 0, 0, 0};

void rg_joint_look_at(const rg_world_content *c, size_t joint, rg_body_places places,
                      rg_joint_look *look) {
    rg_joint_anchors anchors = rg_joint_anchors_of(c, joint);
    memset(look, 0, sizeof *look);
    rg_joint_look_from(c, joint, &anchors, places, look);
}

void rg_joint_look_from(const rg_world_content *c, size_t joint, const rg_joint_anchors *anchors,
                        rg_body_places places, rg_joint_look *look) {
    const rg_joint_def *def = &c->joint[joint].def;
    const double *last = rg_joint_memories(c)[joint].coordinate;
    frames f;
    begin_look(def, anchors, places, look, &f);
    look->point = f.p[1];
    if (def->kind == RG_JOINT_BALL && !c->planar) {
        look_at_ball(&f, look);
        return;
    }
    rg_vec3 apart = rg_sub(f.p[1], f.p[0]);
    lock_distances(c, &f, locked_distances[def->kind], look);
    switch (def->kind) {
    case RG_JOINT_HINGE:
        lock_across(c, &f, look);
        add_turn(&f, last[0], look);
        break;
    case RG_JOINT_SLIDER:
        lock_turns(c, &f, look);
        add_axis(look, rg_dot(f.a[2], apart), f.a[2], false);
        break;
    case RG_JOINT_UNIVERSAL:
        add_lock(c, look, 5, -rg_dot(f.a[0], f.b[1]), rg_cross(f.a[0], f.b[1]));
        add_angle(look, last[0], rg_dot(f.b[1], f.a[2]), rg_dot(f.b[1], f.a[1]), f.a[0]);
        add_angle(look, last[1], rg_dot(f.a[0], f.b[2]), rg_dot(f.a[0], f.b[0]), f.b[1]);
        break;
    case RG_JOINT_CYLINDRICAL:
        lock_across(c, &f, look);
        add_axis(look, rg_dot(f.a[2], apart), f.a[2], false);
        add_turn(&f, last[1], look);
        break;
    case RG_JOINT_PLANAR:
        lock_across(c, &f, look);
        add_axis(look, rg_dot(f.a[0], apart), f.a[0], false);
        add_axis(look, rg_dot(f.a[1], apart), f.a[1], false);
        add_turn(&f, last[2], look);
        break;
    case RG_JOINT_FIXED:
        lock_turns(c, &f, look);
        break;
    case RG_JOINT_DISTANCE:
        add_distance(&f, look);
        break;
    case RG_JOINT_SURFACE:
        add_surface(&f, &def->surface, look);
        break;
    case RG_JOINT_GEAR:
        lock_gears(c, &f, def->ratio, last, look);
        break;
    case RG_JOINT_RACK:
        lock_rack(c, &f, def->ratio, last, look);
        break;
    default: /* a ball, which has no axis, or a tendon */
        add_tendon(c, def, places, look);
        break;
    }
    for (size_t k = 0; k < look->axes; k++)
        look->keep[k] = look->axis[k].value;
}
