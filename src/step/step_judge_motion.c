/* Tested by tests/step/test_judge_gaps.c. */
#include "step/step_judge_motion.h"

#include "base/base_trig.h"

/* --- tracks ----------------------------------------------------------------------------------- */

rg_status rg_judge_tracks_make(rg_arena *arena, size_t bodies, rg_judge_tracks *tracks) {
    *tracks = (rg_judge_tracks){.arena = arena, .bodies = bodies};
    tracks->first = rg_arena_take(arena, bodies, sizeof *tracks->first);
    tracks->last = rg_arena_take(arena, bodies, sizeof *tracks->last);
    if (!tracks->first || !tracks->last)
        return RG_OUT_OF_MEMORY;
    rg_judge_tracks_clear(tracks);
    return RG_OK;
}

void rg_judge_tracks_clear(rg_judge_tracks *tracks) {
    tracks->lost = false;
    for (size_t i = 0; i < tracks->bodies; i++)
        rg_judge_tracks_drop(tracks, i);
}

void rg_judge_tracks_drop(rg_judge_tracks *tracks, size_t body) {
    tracks->first[body] = tracks->last[body] = NULL;
}

rg_judge_piece *rg_judge_tracks_add(rg_judge_tracks *tracks, size_t body, int degree) {
    size_t count = (size_t)degree + 1;
    rg_judge_piece *piece = rg_arena_take(
        tracks->arena, 1, sizeof *piece + count * (sizeof(rg_vec3) + sizeof(rg_quat)));
    if (!piece) {
        tracks->lost = true;
        return NULL;
    }
    *piece = (rg_judge_piece){.degree = degree, .position = (rg_vec3 *)(piece + 1)};
    piece->orientation = (rg_quat *)(piece->position + count);
    if (tracks->last[body])
        tracks->last[body]->next = piece;
    else
        tracks->first[body] = piece;
    tracks->last[body] = piece;
    return piece;
}

/* q + s q', q' = 1/2 w q. */
static rg_quat turned(rg_quat q, double s, rg_vec3 w) {
    rg_quat rate = rg_quat_multiply((rg_quat){w.x, w.y, w.z, 0}, q);
    return (rg_quat){q.x + 0.5 * s * rate.x, q.y + 0.5 * s * rate.y, q.z + 0.5 * s * rate.z,
                     q.w + 0.5 * s * rate.w};
}

static bool is_opposite(rg_quat p, rg_quat q) {
    return p.x * q.x + p.y * q.y + p.z * q.z + p.w * q.w < 0;
}

/* 2 asin(s) / s from s^2, to the last digit: the next term is 2e-16 at SMALL_SINE. */
#define SMALL_SINE 0.1

static double angle_over_sine(double square) {
    static const double c[] = {1.0 / 6,       3.0 / 40,         15.0 / 336,        105.0 / 3456,
                               945.0 / 42240, 10395.0 / 599040, 135135.0 / 9676800};
    double sum = c[6];
    for (int i = 5; i >= 0; i--)
        sum = sum * square + c[i];
    return 2 + 2 * sum * square;
}

/* The rotation vector from one orientation to another that is nearest to the one expected. */
static rg_vec3 turn_between(rg_quat from, rg_quat to, rg_vec3 expected) {
    rg_quat q = rg_quat_multiply(to, rg_quat_conjugate(from));
    rg_vec3 v = {q.x, q.y, q.z};
    double square = rg_length_squared(v);
    if (square < SMALL_SINE * SMALL_SINE && rg_length_squared(expected) < 8) /* < (pi - angle)^2 */
        return rg_scale(q.w < 0 ? -angle_over_sine(square) : angle_over_sine(square), v);
    double sine = sqrt(square);
    if (!(sine > 0)) /* no turn, or full ones */
        return rg_length(expected) > RG_PI ? expected : (rg_vec3){0, 0, 0};
    rg_vec3 axis = rg_scale(1 / sine, v);
    double angle = 2 * rg_atan2(sine, q.w);
    double full = 2 * RG_PI;
    return rg_scale(angle + full * floor((rg_dot(axis, expected) - angle) / full + 0.5), axis);
}

/* rad: a cubic that turns farther is no path of a rotation. */
#define CUBIC_MOST 1.0

/* Against cubics, which are off by about angle^4 / 384, a constant rate by (change of it) / 8. */
static bool is_steady(double length, const rg_motion_state ends[2]) {
    rg_vec3 change = rg_sub(ends[1].angular_velocity, ends[0].angular_velocity);
    double angle = length * rg_length(ends[0].angular_velocity);
    return angle > CUBIC_MOST || length * rg_length(change) < angle * angle * angle * angle / 48;
}

rg_vec3 rg_judge_spin_between(const rg_motion_state *from, const rg_motion_state *to,
                              double length) {
    return rg_scale(1 / length, turn_between(from->orientation, to->orientation,
                                             rg_scale(length, from->angular_velocity)));
}

void rg_judge_piece_join(rg_judge_piece *piece, bool planar, double begin, double length,
                         const rg_motion_state ends[2]) {
    piece->begin = begin;
    piece->length = length;
    piece->planar = planar;
    piece->steady = !planar && is_steady(length, ends);
    piece->spin = rg_judge_spin_between(&ends[0], &ends[1], length);
    for (int i = 0; i < 2; i++) {
        const rg_motion_state *at = &ends[i];
        double third = i == 0 ? length / 3 : -length / 3;
        int outer = i == 0 ? 0 : 3, inner = i == 0 ? 1 : 2;
        rg_quat q = at->orientation;
        if (i == 1 && is_opposite(ends[0].orientation, q))
            q = (rg_quat){-q.x, -q.y, -q.z, -q.w};
        piece->position[outer] = at->position;
        piece->position[inner] = rg_add_scaled(at->position, third, at->velocity);
        piece->orientation[outer] = planar ? (rg_quat){0, 0, 0, at->angle} : q;
        piece->orientation[inner] =
            planar ? (rg_quat){0, 0, 0, at->angle - third * at->angular_velocity.y}
                   : turned(q, third, at->angular_velocity);
    }
}

void rg_judge_tracks_join(rg_judge_tracks *tracks, size_t body, bool planar, double begin,
                          double length, const rg_motion_state ends[2]) {
    rg_judge_piece *piece = rg_judge_tracks_add(tracks, body, 3);
    if (piece)
        rg_judge_piece_join(piece, planar, begin, length, ends);
}

/* --- straight --------------------------------------------------------------------------------- */

void rg_judge_leg_straight(double begin, double end, const rg_pose *from, const rg_pose *to,
                           rg_vec3 spin, rg_judge_leg *leg) {
    double length = end - begin, rate = 1 / length;
    leg->begin = begin, leg->end = end;
    leg->start = *from;
    leg->piece = NULL;
    leg->acceleration = leg->bending = 0;
    leg->velocity = rg_scale(rate, rg_sub(to->position, from->position));
    leg->spin =
        rg_scale(rate, turn_between(from->orientation, to->orientation, rg_scale(length, spin)));
    leg->turning = rg_length(leg->spin);
}

/* --- polynomials ------------------------------------------------------------------------------ */

typedef struct four {
    double v[4];
} four;

static four four_of(rg_quat q) {
    return (four){{q.x, q.y, q.z, q.w}};
}

/* At least one coefficient is loaded. */
static void load_positions(const rg_judge_piece *piece, four *b) {
    int i = 0;
    do
        b[i] = (four){{piece->position[i].x, piece->position[i].y, piece->position[i].z, 0}};
    while (++i <= piece->degree);
}

static void load_orientations(const rg_judge_piece *piece, four *b) {
    int i = 0;
    do
        b[i] = four_of(piece->orientation[i]);
    while (++i <= piece->degree);
}

static double size_of(four a) {
    return sqrt(a.v[0] * a.v[0] + a.v[1] * a.v[1] + a.v[2] * a.v[2] + a.v[3] * a.v[3]);
}

static four difference(four a, four b) {
    return (four){{a.v[0] - b.v[0], a.v[1] - b.v[1], a.v[2] - b.v[2], a.v[3] - b.v[3]}};
}

/* Most of the first and of the second derivative: a polynomial lies in the hull of its
 * coefficients, and so do its derivatives. */
static void bound_rates(const four *b, int degree, double length, double *first, double *second) {
    double once = degree / length, twice = once * (degree - 1) / length;
    *first = *second = 0;
    for (int i = 0; i < degree; i++) {
        four slope = difference(b[i + 1], b[i]);
        *first = fmax(*first, once * size_of(slope));
        if (i + 1 < degree)
            *second =
                fmax(*second, twice * size_of(difference(difference(b[i + 2], b[i + 1]), slope)));
    }
}

/* Spin 2 q' q* / |q|^2 and its rate from the rates of q; the length of q from its component along
 * the first coefficient. */
static void bound_spin(const rg_judge_piece *piece, rg_judge_leg *leg) {
    four b[RG_JUDGE_DEGREE_MAX + 1];
    double shortest = INFINITY, first, second;
    if (piece->steady) {
        leg->turning = rg_length(piece->spin);
        return;
    }
    load_orientations(piece, b);
    for (int i = 0; i <= piece->degree; i++)
        shortest = fmin(shortest, b[i].v[0] * b[0].v[0] + b[i].v[1] * b[0].v[1] +
                                      b[i].v[2] * b[0].v[2] + b[i].v[3] * b[0].v[3]);
    shortest /= size_of(b[0]);
    bound_rates(b, piece->degree, piece->length, &first, &second);
    if (piece->planar) {
        leg->turning = first;
        leg->bending = second;
        return;
    }
    leg->turning = shortest > 0 ? 2 * first / shortest : INFINITY;
    leg->bending = shortest > 0 ? 2 * second / shortest + leg->turning * leg->turning : INFINITY;
}

rg_judge_leg rg_judge_leg_along(const rg_judge_piece *piece) {
    rg_judge_leg leg = {.begin = piece->begin, .end = piece->begin + piece->length, .piece = piece};
    four b[RG_JUDGE_DEGREE_MAX + 1];
    double speed;
    load_positions(piece, b);
    bound_rates(b, piece->degree, piece->length, &speed, &leg.acceleration);
    bound_spin(piece, &leg);
    return leg;
}

/* Horner's scheme in the Bernstein basis, for the differences from the first coefficient: rounding
 * errors are relative to the motion, not to the position. */
static four value_of(const four *b, int degree, double u) {
    four sum = {{0, 0, 0, 0}};
    double power = 1, choose = 1, rest = 1 - u;
    for (int i = 1; i <= degree; i++) {
        power *= u;
        choose = choose * (degree - i + 1) / i;
        for (int j = 0; j < 4; j++)
            sum.v[j] = rest * sum.v[j] + power * choose * (b[i].v[j] - b[0].v[j]);
    }
    for (int j = 0; j < 4; j++)
        sum.v[j] += b[0].v[j];
    return sum;
}

static double share_of(const rg_judge_piece *piece, double time) {
    return (time - piece->begin) / piece->length;
}

static rg_vec3 position_at(const rg_judge_piece *piece, double time) {
    four b[RG_JUDGE_DEGREE_MAX + 1];
    load_positions(piece, b);
    four x = value_of(b, piece->degree, share_of(piece, time));
    return (rg_vec3){x.v[0], x.v[1], x.v[2]};
}

static rg_quat orientation_at(const rg_judge_piece *piece, double time) {
    if (piece->steady)
        return rg_quat_multiply(
            rg_quat_of_rotation_vector(rg_scale(time - piece->begin, piece->spin)),
            piece->orientation[0]);
    four b[RG_JUDGE_DEGREE_MAX + 1];
    load_orientations(piece, b);
    four q = value_of(b, piece->degree, share_of(piece, time));
    if (piece->planar)
        return rg_quat_of_planar_angle(q.v[3]);
    return rg_quat_normalised((rg_quat){q.v[0], q.v[1], q.v[2], q.v[3]});
}

/* --- either ----------------------------------------------------------------------------------- */

rg_pose rg_judge_leg_pose(const rg_judge_leg *leg, double time) {
    if (leg->piece)
        return (rg_pose){position_at(leg->piece, time), orientation_at(leg->piece, time)};
    double t = time - leg->begin;
    rg_quat turn = rg_quat_of_rotation_vector(rg_scale(t, leg->spin));
    return (rg_pose){rg_add_scaled(leg->start.position, t, leg->velocity),
                     rg_quat_multiply(turn, leg->start.orientation)};
}

rg_vec3 rg_judge_leg_velocity(const rg_judge_leg *leg, double time) {
    const rg_judge_piece *piece = leg->piece;
    if (!piece)
        return leg->velocity;
    four b[RG_JUDGE_DEGREE_MAX + 1];
    load_positions(piece, b);
    for (int i = 0; i < piece->degree; i++)
        b[i] = difference(b[i + 1], b[i]);
    four slope = value_of(b, piece->degree - 1, share_of(piece, time));
    return rg_scale(piece->degree / piece->length, (rg_vec3){slope.v[0], slope.v[1], slope.v[2]});
}

double rg_judge_leg_acceleration(const rg_judge_leg *leg, rg_vec3 n) {
    const rg_judge_piece *piece = leg->piece;
    double most = 0;
    for (int i = 0; piece && i + 1 < piece->degree; i++) {
        const rg_vec3 *b = &piece->position[i];
        rg_vec3 second = rg_add_scaled(rg_add(b[0], b[2]), -2, b[1]);
        most = fmax(most, fabs(rg_dot(n, second)));
    }
    return piece ? most * piece->degree * (piece->degree - 1) / (piece->length * piece->length) : 0;
}
