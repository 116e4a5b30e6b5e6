/* How prescribed bodies moved between the ends of a step.
 *
 * A fixed step takes a prescribed body from one end of the step to the other by the chord; what its
 * motion does in between it does not see: a plate that swings at half the frequency of the steps
 * stands still at each of their ends. The judge follows the motion itself, as cubics between
 * instants at which it is evaluated (Hermite's interpolation of places and velocities).
 *
 * Of an oscillation a sin(w t) the error over a length L is at most a (w L)^4 / 384 (the fourth
 * derivative times L^4 / 384), which says how many pieces are enough. Motions of which no
 * derivative has a bound are evaluated at two more instants within each piece, at places that no
 * period of the motion has in common with the ends, and pieces that are off there are halved.
 * Functions that give no velocity, or a wrong one, are followed along chords.
 *
 * Of a motion that is not continuous, or has more detail than LOOKS_MOST evaluations find, the rest
 * is taken as it is seen. Jumps of more than a small share of a body's size do not come here: the
 * step fails (world_prescription.c).
 *
 * Tested by tests/step/test_judge_prescribed.c. */
#include "step/step_judge_motion.h"

#include <math.h>

/* Of the way that the body goes in the step, and of the angle that it turns: how far a piece may be
 * off. Of 10 cm it is a nanometre, the resolution of gaps of bodies of 1 m. */
#define PATH_ERROR 1e-8
/* rad: what a piece of an oscillation turns at most; cubics are then off by 0.1^4 / 384. */
#define PIECE_TURN 0.1
/* Pieces to begin with, and evaluations within a step; pieces of an oscillation at most, which is
 * more than RG_PRESCRIBED_PERIODS_MOST asks for. */
enum { FIRST_PIECES = 4, LOOKS_MOST = 512, PIECES_MOST = 1 << 16 };

typedef struct path {
    const rg_world_content *content;
    rg_judge_tracks *tracks;
    size_t body;
    double way, turn; /* m, rad: lower bounds of what it goes and turns in the step */
    int looks;        /* that are left */
} path;

/* Where there is no value within a step the body stays; the track is lost. */
static rg_motion_state state_at(const path *p, double time) {
    rg_motion_state state;
    if (rg_prescription_find(p->content, p->body, time, &state, NULL) == RG_OK)
        return state;
    p->tracks->lost = true;
    return (rg_motion_state){.position = p->content->position[p->body],
                             .orientation = p->content->orientation[p->body],
                             .angle = p->content->angle[p->body]};
}

static double angle_between(rg_quat a, rg_quat b) {
    rg_quat q = rg_quat_multiply(a, rg_quat_conjugate(b));
    return 2 * sqrt(q.x * q.x + q.y * q.y + q.z * q.z);
}

/* --- motions without a bound ------------------------------------------------------------------ */

typedef struct stretch {
    double begin, length;
    rg_motion_state ends[2];
    int keep; /* looks to leave for what is later */
} stretch;

/* The ends with the velocities of the chord instead of their own. */
static void along_chord(const stretch *s, rg_motion_state ends[2]) {
    rg_vec3 velocity = rg_scale(1 / s->length, rg_sub(s->ends[1].position, s->ends[0].position));
    rg_vec3 spin = rg_judge_spin_between(&s->ends[0], &s->ends[1], s->length);
    for (int i = 0; i < 2; i++) {
        ends[i] = s->ends[i];
        ends[i].velocity = velocity;
        ends[i].angular_velocity = spin;
    }
}

static bool follows(const path *p, const rg_judge_piece *piece, const double time[2],
                    const rg_motion_state inside[2]) {
    rg_judge_leg leg = {.begin = piece->begin, .end = piece->begin + piece->length, .piece = piece};
    for (int i = 0; i < 2; i++) {
        rg_pose at = rg_judge_leg_pose(&leg, time[i]);
        if (!(rg_length(rg_sub(at.position, inside[i].position)) <= PATH_ERROR * p->way &&
              angle_between(at.orientation, inside[i].orientation) <= PATH_ERROR * p->turn))
            return false;
    }
    return true;
}

/* A piece that is near enough at two instants within, added; `last`: in any case. */
static bool take_piece(path *p, const stretch *s, bool last) {
    static const double share[2] = {0.381966, 0.723607}; /* from the golden section */
    double time[2];
    rg_motion_state inside[2], chord[2];
    rg_vec3 position[4];
    rg_quat orientation[4];
    rg_judge_piece piece = {.degree = 3, .position = position, .orientation = orientation};
    const rg_motion_state *ends = s->ends;
    for (int i = 0; i < 2; i++) {
        time[i] = s->begin + share[i] * s->length;
        inside[i] = state_at(p, time[i]);
    }
    p->looks -= 2;
    rg_judge_piece_join(&piece, p->content->planar, s->begin, s->length, ends);
    if (!follows(p, &piece, time, inside)) {
        along_chord(s, chord);
        ends = chord;
        rg_judge_piece_join(&piece, p->content->planar, s->begin, s->length, ends);
        if (!follows(p, &piece, time, inside) && !last)
            return false;
    }
    rg_judge_tracks_join(p->tracks, p->body, p->content->planar, s->begin, s->length, ends);
    return true;
}

/* Halves of halves, the earlier one first; it takes half of the looks that there are at most. */
static void follow_stretch(path *p, const stretch *whole) {
    enum { HALVINGS = 24 };
    stretch ahead[HALVINGS + 1] = {*whole};
    for (int top = 0; top >= 0;) {
        const stretch s = ahead[top];
        if (take_piece(p, &s, top == HALVINGS || p->looks <= s.keep)) {
            top--;
            continue;
        }
        double half = 0.5 * s.length;
        rg_motion_state middle = state_at(p, s.begin + half);
        p->looks--;
        ahead[top] = (stretch){s.begin + half, half, {middle, s.ends[1]}, s.keep};
        int share = p->looks > s.keep ? (p->looks - s.keep) / 2 : 0;
        ahead[++top] = (stretch){s.begin, half, {s.ends[0], middle}, s.keep + share};
    }
}

static void follow_function(path *p, double begin, double end) {
    stretch pieces[FIRST_PIECES];
    double length = (end - begin) / FIRST_PIECES;
    rg_motion_state last = state_at(p, begin);
    p->looks = LOOKS_MOST;
    p->way = p->turn = 0;
    for (int k = 0; k < FIRST_PIECES; k++) {
        stretch *s = &pieces[k];
        s->begin = begin + k * length;
        s->length = k == FIRST_PIECES - 1 ? end - s->begin : length;
        s->keep = LOOKS_MOST / FIRST_PIECES * (FIRST_PIECES - 1 - k);
        s->ends[0] = last;
        s->ends[1] = last = state_at(p, s->begin + s->length);
        p->way += fmax(rg_length(rg_sub(last.position, s->ends[0].position)),
                       length * rg_length(last.velocity));
        p->turn += fmax(angle_between(last.orientation, s->ends[0].orientation),
                        length * rg_length(last.angular_velocity));
    }
    for (int k = 0; k < FIRST_PIECES; k++)
        follow_stretch(p, &pieces[k]);
}

/* --- oscillations ----------------------------------------------------------------------------- */

/* a (w L)^4 / 384 <= PATH_ERROR a min(1, w h), which is about the way. Turning by r sin(w t) has
 * derivatives of at most (w (1 + r))^k. */
static void follow_oscillation(path *p, const rg_prescription *o, double begin, double end) {
    double phase = 2 * RG_PI * o->frequency * (end - begin);
    double turn = rg_length(o->rotation_amplitude);
    double error = 384 * PATH_ERROR * fmin(1, phase);
    double pieces = fmax(phase * (1 + turn) / sqrt(sqrt(error)), phase * turn / PIECE_TURN);
    int count = !(pieces > 1) ? 1 : pieces < PIECES_MOST ? (int)ceil(pieces) : PIECES_MOST;
    double length = (end - begin) / count;
    rg_motion_state ends[2] = {state_at(p, begin)};
    for (int k = 0; k < count; k++) {
        double from = begin + k * length, to = k + 1 == count ? end : from + length;
        ends[1] = state_at(p, to);
        rg_judge_tracks_join(p->tracks, p->body, p->content->planar, from, to - from, ends);
        ends[0] = ends[1];
    }
}

void rg_judge_tracks_prescribe(const rg_world_content *content, size_t body, double begin,
                               double end, rg_judge_tracks *tracks) {
    const rg_prescription *o =
        &content->prescriptions[content->record[body].prescription1 - 1].prescription;
    path p = {.content = content, .tracks = tracks, .body = body};
    rg_judge_tracks_drop(tracks, body);
    if (o->kind == RG_PRESCRIBED_OSCILLATION && o->frequency > 0)
        follow_oscillation(&p, o, begin, end);
    else if (o->kind == RG_PRESCRIBED_OF_TIME || o->kind == RG_PRESCRIBED_FUNCTION)
        follow_function(&p, begin, end);
}
