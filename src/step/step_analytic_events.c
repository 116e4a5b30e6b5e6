/* The first event on the polynomial of a step. In the order in which they are looked for, each
 * within what the ones before have left of the step:
 *
 *   - parts that do not touch come to within a shell of each other: safe advance and root finding
 *     on the polynomial itself, so that nothing is passed over (rg_first_contact_between);
 *   - parts that touch come nearer elsewhere: their gap falls below that of the points that rest,
 *     looked at in samples and located by root finding;
 *   - a point leaves its face or edge; a slip stops: roots of smooth functions;
 *   - a normal force has reached zero, or the limit of stick: seen at the end of the step, and
 *     located by root finding on how far every contact is from that.
 *
 * Tested by tests/step/test_events.c and tests/step/test_seams.c. */
#include "base/base_root.h"
#include "base/base_text.h"
#include "contact/contact.h"
#include "rigor/proximity.h"
#include "step/step_analytic.h"

#include <float.h>
#include <string.h>

/* Share of a step to which events are located. */
#define THETA 1e-13
/* A part that touches and leaves is looked for again once it is this many shells away. */
#define LEFT 1.5
/* Quarter of a shell: by how much points without force may come nearer if they begin at zero. */
#define IDLE 0.01
/* L: a point that is this far outside its face or edge has left it. */
#define LEAVES 1e-9
/* Share of the step at which such a part is looked at first. */
#define FIRST_LOOK 1e-9

enum { ROOT_EVALUATIONS = 100 };

/* A body of a pair that forces move. */
typedef struct mover {
    uint32_t body;
    rg_dense_output path;
} mover;

typedef struct look {
    rg_analysis *a;
    const rg_dense_output *dense;
    mover movers[2];
    size_t mover_count;
    uint32_t contact, part_b, part_a;
    size_t limit;      /* of a joint; or a brake */
    double level;      /* m: values this small are 0 */
    double leaves;     /* m: a point this far outside its face or edge has left it */
    double deepest;    /* m: where a pair that touches has come nearer */
    double (*kept)[3]; /* forces of the last place at which nothing had happened */
    int kind;          /* of what happens first */
} look;

static rg_root_method root_finder(const look *l) {
    return l->a->view->world->content.settings.root_finder;
}

/* Whether changes between stick and slip are located. */
static bool has_friction_events(const rg_analysis *a) {
    return !a->law->mean;
}

static void add_mover(look *l, uint32_t body) {
    const rg_analysis *a = l->a;
    if (!(a->view->dynamics[body].inverse_mass > 0))
        return;
    size_t width = a->flight.width, place = rg_analysis_place(a, body);
    l->movers[l->mover_count++] =
        (mover){.body = body, .path = rg_dense_part(l->dense, place * width, width)};
}

/* From now on it is about parts of these bodies. */
static void look_at_bodies(look *l, uint32_t b, uint32_t a) {
    l->mover_count = 0;
    add_mover(l, b);
    add_mover(l, a);
}

/* The bodies of the pair there; all others stay where they are. */
static void go_to(look *l, double theta) {
    rg_analysis *a = l->a;
    rg_analysis_motion *m = &a->motion;
    double t = m->time = l->dense->begin + theta * l->dense->step;
    for (size_t i = 0; i < l->mover_count; i++) {
        mover *k = &l->movers[i];
        rg_flight alone = a->flight;
        alone.body = &k->body;
        alone.body_count = 1;
        rg_dense_evaluate(&k->path, theta, a->scratch_y);
        rg_flight_accept(&alone, t, a->scratch_y);
        rg_flight_motions(&alone, t, a->scratch_y, m->position, m->orientation, m->velocity,
                          m->angular_velocity);
    }
}

/* --- paths ------------------------------------------------------------------------------------ */

_Static_assert((int)RG_DENSE_DEGREE_MAX <= (int)RG_PATH_DEGREE_MAX, "paths take any dense output");

/* How a part moves during the step. */
typedef struct part_path {
    rg_polynomial_motion polynomial;
    /* planar, kinematic and fixed ones: */
    const rg_analysis *a;
    const rg_dense_output *dense;
    uint32_t part;
    size_t place; /* of a dynamic body's numbers */
    /* Of x, z and the angle of a planar one, per second: over the whole step. */
    double least[3], most[3];
} part_path;

static rg_pose pose_at(const part_path *p, double time) {
    const rg_analysis *a = p->a;
    const rg_convex_part *part = &a->view->parts[p->part];
    const rg_world_content *c = &a->view->world->content;
    rg_pose body;
    if (part->dynamic) { /* planar */
        double theta = (time - p->dense->begin) / p->dense->step, n[3];
        for (size_t i = 0; i < 3; i++)
            n[i] = rg_dense_value(p->dense, theta, p->place + i);
        body = (rg_pose){{n[0], 0, n[1]}, rg_quat_of_planar_angle(n[2])};
    } else if (c->record[part->body].prescription1) {
        rg_motion_state s = rg_prescription_evaluate(c, part->body, time);
        body = (rg_pose){s.position, s.orientation};
    } else {
        body = (rg_pose){c->position[part->body], c->orientation[part->body]};
    }
    return rg_pose_compose(body, part->local);
}

static void path_pose(const void *user, double time, rg_pose *pose) {
    *pose = pose_at(user, time);
}

/* Least and most of the derivative of component `i` over the step, per second: from the
 * differences of its Bernstein coefficients. */
static void rate_bounds(const rg_dense_output *dense, size_t i, double *least, double *most) {
    double b[RG_DENSE_DEGREE_MAX + 1];
    rg_dense_bernstein(dense, i, b);
    *least = INFINITY, *most = -INFINITY;
    for (int k = 0; k < dense->degree; k++) {
        double rate = dense->degree * (b[k + 1] - b[k]) / dense->step;
        *least = fmin(*least, rate);
        *most = fmax(*most, rate);
    }
}

static void path_bound(const void *user, double begin, double end, rg_vec3 n, double *least,
                       double *most, double *spin) {
    const part_path *p = user;
    const rg_analysis *a = p->a;
    const rg_convex_part *part = &a->view->parts[p->part];
    *least = *most = *spin = 0;
    if (part->dynamic) { /* planar: x, z, angle */
        double x0 = n.x * p->least[0], x1 = n.x * p->most[0];
        double z0 = n.z * p->least[1], z1 = n.z * p->most[1];
        *least = fmin(x0, x1) + fmin(z0, z1);
        *most = fmax(x0, x1) + fmax(z0, z1);
        *spin = fmax(fabs(p->least[2]), fabs(p->most[2]));
    } else if (a->view->world->content.record[part->body].prescription1) {
        enum { LOOKS = 8 };
        double spread = 0;
        rg_vec3 before = {0, 0, 0};
        *least = INFINITY, *most = -INFINITY;
        for (int i = 0; i <= LOOKS; i++) {
            rg_motion_state s = rg_prescription_evaluate(&a->view->world->content, part->body,
                                                         begin + (end - begin) * i / LOOKS);
            double rate = rg_dot(n, s.velocity);
            *least = fmin(*least, rate);
            *most = fmax(*most, rate);
            *spin = fmax(*spin, rg_length(s.angular_velocity));
            if (i)
                spread = fmax(spread, rg_length(rg_sub(s.velocity, before)));
            before = s.velocity;
        }
        *least -= spread;
        *most += spread;
        *spin *= 1.25;
    }
}

static rg_path make_path(const rg_analysis *a, const rg_dense_output *dense, uint32_t part,
                         part_path *path) {
    const rg_convex_part *p = &a->view->parts[part];
    path->a = a;
    path->dense = dense;
    path->part = part;
    path->place = 0;
    if (p->dynamic)
        path->place = rg_analysis_place(a, p->body) * a->flight.width;
    if (!p->dynamic || a->view->world->content.planar) {
        for (size_t i = 0; p->dynamic && i < 3; i++)
            rate_bounds(dense, path->place + i, &path->least[i], &path->most[i]);
        rg_vec3 reference = rg_pose_apply_inverse(p->local, (rg_vec3){0, 0, 0});
        return (rg_path){
            .user = path, .reference = reference, .pose = path_pose, .bound = path_bound};
    }
    rg_polynomial_motion *m = &path->polynomial;
    m->begin = dense->begin;
    m->step = dense->step;
    m->degree = dense->degree;
    m->shape_pose = p->local;
    double b[7][RG_DENSE_DEGREE_MAX + 1];
    for (size_t i = 0; i < 7; i++)
        rg_dense_bernstein(dense, path->place + i, b[i]);
    for (int k = 0; k <= dense->degree; k++) {
        m->position[k] = (rg_vec3){b[0][k], b[1][k], b[2][k]};
        m->orientation[k] = (rg_quat){b[3][k], b[4][k], b[5][k], b[6][k]};
    }
    return rg_path_polynomial(m);
}

/* --- pairs ------------------------------------------------------------------------------------ */

/* Between parts in these poses. */
static double gap_between(const look *l, rg_pose b, rg_pose a) {
    const rg_convex_part *parts = l->a->view->parts;
    rg_growth growth;
    if (rg_growth_between(parts[l->part_b].shape, b, parts[l->part_a].shape, a, NULL, &growth))
        return INFINITY;
    return growth.gap;
}

static double pair_gap(void *user, double theta) {
    look *l = user;
    const rg_analysis *a = l->a;
    go_to(l, theta);
    return gap_between(l, rg_analysis_part_pose(a, &a->motion, l->part_b),
                       rg_analysis_part_pose(a, &a->motion, l->part_a));
}

/* The smallest gap of the points of a pair that rest, if its parts move so. */
static double resting_gap(const look *l, const rg_rigid_motion *b, const rg_rigid_motion *other) {
    const rg_analysis *a = l->a;
    double gap = INFINITY;
    for (size_t i = 0; i < a->contact_count; i++) {
        const rg_analysis_contact *c = &a->contacts[i];
        if (c->part_b != l->part_b || c->part_a != l->part_a ||
            !rg_analysis_carried_at_start(&a->start[i]))
            continue;
        rg_contact_motion m = rg_contact_follow(&c->track, b, other);
        if (m.regular)
            gap = fmin(gap, m.gap);
    }
    return gap;
}

/* > 0 as long as nothing of the pair is nearer than zero but what rests. */
static double room(void *user, double theta) {
    look *l = user;
    go_to(l, theta);
    rg_rigid_motion b = rg_analysis_rigid(l->a, &l->a->motion, l->part_b);
    rg_rigid_motion other = rg_analysis_rigid(l->a, &l->a->motion, l->part_a);
    double gap = gap_between(l, b.pose, other.pose);
    double resting = resting_gap(l, &b, &other);
    /* What rests may drift by a little; what is new may not come below zero, and what was there
     * already not any deeper. */
    return gap - fmin(l->deepest, resting - l->level);
}

/* Points that carry no force may begin at zero, or a little below. */
static double deepest_idle(const rg_analysis *a, uint32_t part_b, uint32_t part_a, double level) {
    double deepest = 0;
    for (size_t i = 0; i < a->contact_count; i++) {
        const rg_analysis_contact *c = &a->contacts[i];
        if (c->part_b == part_b && c->part_a == part_a &&
            !rg_analysis_carried_at_start(&a->start[i]) && a->start[i].gap <= IDLE * level)
            deepest = fmin(deepest, fmin(0, a->start[i].gap) - IDLE * level);
    }
    return deepest;
}

static rg_analysis_event contact_event(const look *l, double theta) {
    return (rg_analysis_event){.theta = theta,
                               .kind = RG_STEP_EVENT_CONTACT,
                               .need = RG_NEED_CONTACTS,
                               .contact = UINT32_MAX,
                               .part_b = l->part_b,
                               .part_a = l->part_a};
}

/* A change of sign of a function of theta, to THETA or a value of at most `level`. */
static rg_root locate(rg_scalar_function *function, look *l, rg_bracket bracket, double level) {
    return rg_root_find(function, l, bracket,
                        (rg_root_settings){.method = root_finder(l),
                                           .x_tolerance = THETA,
                                           .f_tolerance = level,
                                           .evaluation_limit = ROOT_EVALUATIONS});
}

/* The first of so many places up to `end` where a function has fallen to 0, located; `begin`: where
 * it is f > 0. */
static bool falls(look *l, rg_scalar_function *function, double begin, double f, double end,
                  int samples, rg_root *root) {
    double before = begin;
    for (int i = 1; i <= samples && begin < end; i++) {
        double theta = begin + (end - begin) * i / samples, now = function(l, theta);
        if (now <= 0) {
            *root = locate(function, l, (rg_bracket){before, f, theta, now}, l->level);
            return true;
        }
        before = theta, f = now;
    }
    return false;
}

/* How something that is near where a function is 0 gets away from there, in steps that double. */
typedef struct departure {
    double theta, f; /* the last place at which it had not come back */
    bool back;       /* it came back before it was away: */
    double next, now;
} departure;

/* Until it is more than `away`; at `least` or below it is back. `f`: at the beginning. */
static departure leave(look *l, rg_scalar_function *function, double f, double end, double away,
                       double least) {
    departure s = {.f = f, .next = fmin(end, FIRST_LOOK)};
    while (s.f <= away && s.theta < end) {
        s.now = function(l, s.next);
        s.back = s.now <= least;
        if (s.back)
            break;
        s.f = s.now;
        s.theta = s.next;
        s.next = fmin(end, 2 * s.next);
    }
    return s;
}

/* A point of the pair may be leaving: there is room from where it has left on. */
static void look_at_touching(look *l, rg_analysis_event *event) {
    double begin = room(l, 0);
    if (!(begin > 0))
        begin = 0.5 * l->level; /* it was settled just now */
    departure d = leave(l, room, begin, event->theta, LEFT * l->level, 0);
    rg_root root;
    if (d.back && d.theta > 0)
        d.theta = locate(room, l, (rg_bracket){d.theta, d.f, d.next, d.now}, l->level).x;
    if (d.back)
        *event = contact_event(l, d.theta);
    else if (falls(l, room, d.theta, d.f, event->theta, RG_ANALYSIS_SAMPLES, &root))
        *event = contact_event(l, root.x);
}

/* Whether forces move exactly one part of a pair, and nothing the other one: that part. */
static bool is_carried(const rg_analysis *a, uint32_t part_b, uint32_t part_a, uint32_t *moving) {
    const rg_convex_part *b = &a->view->parts[part_b], *other = &a->view->parts[part_a];
    *moving = b->dynamic ? part_b : part_a;
    return rg_analysis_carried(a, b->body, other->body) != UINT32_MAX;
}

/* Whether a plane along n (from B to A) separates the pair at several places up to the end. */
static bool stays_apart(look *l, rg_vec3 n, double end) {
    const rg_analysis *a = l->a;
    bool apart = true;
    for (int i = 0; i <= RG_ANALYSIS_SAMPLES && apart; i++) {
        go_to(l, end * i / RG_ANALYSIS_SAMPLES);
        double gap = rg_contact_separation(
            a->view->parts[l->part_b].shape, rg_analysis_part_pose(a, &a->motion, l->part_b),
            a->view->parts[l->part_a].shape, rg_analysis_part_pose(a, &a->motion, l->part_a), n);
        apart = gap > -l->level;
    }
    return apart;
}

/* A body that rests on what stands still stays above the plane of that contact, and so above all
 * else that lies flush with it: tiles, parts of a compound. Such a pair is looked at as pairs that
 * touch are, in samples; it becomes a contact where the body leaves the one that it rests on. */
static bool is_kept_above(look *l, double end) {
    const rg_analysis *a = l->a;
    uint32_t moving, other_moving;
    if (!isfinite(a->view->parts[l->part_b].radius) ||
        !isfinite(a->view->parts[l->part_a].radius) ||
        !is_carried(a, l->part_b, l->part_a, &moving))
        return false;
    for (size_t i = 0; i < a->contact_count; i++) {
        const rg_analysis_contact *c = &a->contacts[i];
        if (c->kind != RG_TOUCH_PARTS || !rg_analysis_carried_at_start(&a->start[i]) ||
            !is_carried(a, c->part_b, c->part_a, &other_moving) || other_moving != moving)
            continue;
        bool same_side = (c->part_a == moving) == (l->part_a == moving);
        if (stays_apart(l, same_side ? c->motion.normal : rg_neg(c->motion.normal), end))
            return true;
    }
    return false;
}

static rg_status look_at_pair(look *l, rg_analysis_event *event) {
    rg_analysis *a = l->a;
    double shell = rg_analysis_shell(a, l->part_b, l->part_a);
    l->level = 0.25 * shell;
    if (rg_analysis_is_among((rg_analysis_set){a->contacts, a->contact_count}, l->part_b,
                             l->part_a)) {
        l->deepest = deepest_idle(a, l->part_b, l->part_a, l->level);
        look_at_touching(l, event);
        return RG_OK;
    }
    if (is_kept_above(l, event->theta))
        return RG_OK;
    part_path path_b, path_a;
    rg_path b = make_path(a, l->dense, l->part_b, &path_b);
    rg_path other = make_path(a, l->dense, l->part_a, &path_a);
    /* Within the shell, and not followed: it is leaving (it was settled, or else it would be). */
    departure d = {.f = pair_gap(l, 0)};
    if (d.f <= shell)
        d = leave(l, pair_gap, d.f, event->theta, LEFT * shell, d.f > 0 ? 0 : d.f - l->level);
    if (d.back) {
        *event = contact_event(l, d.theta);
        return RG_OK;
    }
    double t0 = l->dense->begin + d.theta * l->dense->step;
    double t1 = l->dense->begin + event->theta * l->dense->step;
    if (!(t1 > t0))
        return RG_OK;
    rg_first_contact_settings settings = rg_first_contact_settings_default(shell);
    settings.root = root_finder(l);
    rg_first_contact impact;
    rg_status status = rg_first_contact_between(
        (rg_moving_shape){a->view->parts[l->part_b].shape, &b},
        (rg_moving_shape){a->view->parts[l->part_a].shape, &other}, t0, t1, &settings, &impact);
    if (status || impact.result == RG_FIRST_CONTACT_NONE)
        return status;
    double theta = impact.result == RG_FIRST_CONTACT_TOUCHING
                       ? d.theta
                       : (impact.time - l->dense->begin) / l->dense->step;
    if (impact.result == RG_FIRST_CONTACT_LIMIT && theta >= event->theta)
        return RG_OK;
    *event = contact_event(l, fmin(theta, event->theta));
    if (impact.result == RG_FIRST_CONTACT_LIMIT) { /* free so far: look again from there */
        event->kind = -1;
        event->need = RG_NEED_NOTHING;
    }
    return RG_OK;
}

/* --- points and slips ------------------------------------------------------------------------- */

static rg_contact_motion contact_at(look *l, double theta) {
    rg_analysis *a = l->a;
    const rg_analysis_contact *c = &a->contacts[l->contact];
    go_to(l, theta);
    rg_rigid_motion b = rg_analysis_rigid(a, &a->motion, c->part_b);
    rg_rigid_motion other = rg_analysis_rigid(a, &a->motion, c->part_a);
    return rg_contact_follow(&c->track, &b, &other);
}

static double inside(void *user, double theta) {
    look *l = user;
    rg_contact_motion m = contact_at(l, theta);
    return m.regular ? m.inside + l->leaves : -1;
}

static double slip_along(void *user, double theta) {
    look *l = user;
    rg_contact_motion m = contact_at(l, theta);
    return rg_dot(m.slip, l->a->contacts[l->contact].direction);
}

static void look_for_root(look *l, rg_scalar_function *function, int kind, rg_event_need need,
                          rg_analysis_event *event) {
    double begin = function(l, 0);
    rg_root root;
    if (begin > 0 && falls(l, function, 0, begin, event->theta, RG_ANALYSIS_SAMPLES, &root))
        *event = (rg_analysis_event){/* just past it: the function has changed its sign there */
                                     .theta = fmin(root.upper, 1),
                                     .kind = kind,
                                     .need = need,
                                     .contact = l->contact};
}

static void look_at_contact(look *l, rg_analysis_event *event) {
    const rg_analysis_contact *c = &l->a->contacts[l->contact];
    l->leaves = LEAVES * c->size;
    if (rg_analysis_carries(c) && isfinite(c->motion.inside))
        look_for_root(l, inside, RG_STEP_EVENT_FEATURE, RG_NEED_CONTACTS, event);
    if (rg_analysis_carries(c) && rg_analysis_slips(c) && c->law.friction > 0 &&
        has_friction_events(l->a))
        look_for_root(l, slip_along, RG_STEP_EVENT_STICK, RG_NEED_FRICTION, event);
}

/* --- ends of ranges of joints ----------------------------------------------------------------- */

static double limit_gap(void *user, double theta) {
    look *l = user;
    go_to(l, theta);
    return rg_analysis_limit_gap(l->a, l->limit);
}

/* Whether the axis rests at its end. */
static bool is_at_limit(const rg_analysis *a, size_t limit) {
    for (size_t i = 0; i < a->contact_count; i++)
        if (a->contacts[i].kind != RG_TOUCH_PARTS && a->contacts[i].part_a == limit &&
            rg_analysis_carried_at_start(&a->start[i]))
            return true;
    return false;
}

static void look_at_limit(look *l, rg_analysis_event *event) {
    double begin = limit_gap(l, 0);
    double shell = RG_ANALYSIS_SHELL * rg_analysis_limit_size(l->a, l->limit);
    departure d =
        leave(l, limit_gap, begin, event->theta, LEFT * shell, fmin(0, begin) - shell / 4);
    rg_root root;
    if (d.back)
        *event = contact_event(l, d.theta);
    else if (falls(l, limit_gap, d.theta, d.f, event->theta, 2 * RG_ANALYSIS_SAMPLES, &root))
        *event = contact_event(l, fmin(root.upper, 1));
}

static double brake_slip(void *user, double theta) {
    look *l = user;
    go_to(l, theta);
    return rg_analysis_brake_slip(l->a, l->limit);
}

/* A brake whose axis comes to the velocity that it holds. */
static void look_at_brake(look *l, rg_analysis_event *event) {
    if (isfinite(brake_slip(l, 0)))
        look_for_root(l, brake_slip, -1, RG_NEED_FORCES, event);
}

/* --- forces ----------------------------------------------------------------------------------- */

/* How far a contact, as it was evaluated, is from breaking or from a change between stick and
 * slip: > 0 as long as nothing has happened, falling through 0 where it does. Every figure is
 * relative: to the force of the beginning, the limit of friction, the scale of accelerations. */
static double margin(const look *l, uint32_t contact, int *kind) {
    const rg_analysis *a = l->a;
    const rg_analysis_contact *c = &a->contacts[contact];
    double margin = INFINITY, unit = 1 / a->view->acceleration;
    *kind = RG_STEP_EVENT_BREAK;
    if (rg_analysis_carried_at_start(&a->start[contact]))
        margin = rg_analysis_carries(c) || rg_analysis_keeps_active_set(a)
                     ? c->force[0] / a->start[contact].force[0]
                     : RG_ANALYSIS_BREAK - c->normal_acceleration * unit;
    if (!rg_analysis_carries(c) || rg_analysis_slips(c) || !(c->law.static_friction > 0) ||
        !has_friction_events(l->a))
        return margin;
    double change = INFINITY;
    if ((a->law->exact_cone || rg_analysis_friction_drops(c)) && !rg_analysis_at_limit(c))
        change = rg_analysis_cone_margin(c);
    /* Directions are turned after every step; what happens meanwhile is an event only if it is
     * much. */
    double back =
        rg_analysis_at_limit(c) ? RG_ANALYSIS_MUCH + c->slip_acceleration * unit : INFINITY;
    if (!rg_analysis_starts(c))
        change = fmin(change, rg_analysis_let_go(c) - c->slip_acceleration * unit);
    if (fmin(back, change) > margin)
        return margin;
    *kind = back < change ? RG_STEP_EVENT_STICK : RG_STEP_EVENT_SLIP;
    return fmin(back, change);
}

static double least_margin(look *l) {
    /* That the rows which carry force change is the end of a step, and nothing to report. */
    double least = l->a->evaluation.margin;
    if (has_friction_events(l->a))
        least = fmin(least, rg_analysis_brakes_margin(l->a));
    l->kind = -1;
    l->contact = UINT32_MAX;
    for (uint32_t i = 0; i < l->a->contact_count; i++) {
        int kind;
        double m = margin(l, i, &kind);
        if (m < least || (m <= 0 && l->kind < 0)) {
            least = fmin(m, least);
            l->contact = i;
            l->kind = kind;
        }
    }
    return least;
}

static void keep_forces(const rg_analysis *a, double (*kept)[3]) {
    for (size_t i = 0; i < a->contact_count; i++)
        memcpy(kept[i], a->contacts[i].force, sizeof *kept);
}

static void put_forces(rg_analysis *a, double (*kept)[3]) {
    for (size_t i = 0; i < a->contact_count; i++)
        memcpy(a->contacts[i].force, kept[i], sizeof *kept);
}

/* With friction there may be several solutions, and which one is found depends on where it is
 * started: from the forces of the last place that was good, so that forces are followed and do
 * not jump. */
static double margin_at(void *user, double theta) {
    look *l = user;
    rg_analysis *a = l->a;
    put_forces(a, l->kept);
    rg_dense_evaluate(l->dense, theta, a->scratch_y);
    rg_analysis_accept(a, 0, a->scratch_y);
    rg_analysis_evaluate(a, l->dense->begin + theta * l->dense->step, a->scratch_y);
    double m = least_margin(l);
    if (m > 0)
        keep_forces(a, l->kept);
    return m;
}

/* Forces of the beginning. */
static void keep_start(const rg_analysis *a, double (*kept)[3]) {
    for (size_t i = 0; i < a->contact_count; i++)
        memcpy(kept[i], a->start[i].force, sizeof *kept);
}

static rg_status look_at_forces(look *l, rg_analysis_event *event) {
    rg_analysis *a = l->a;
    /* The last stage of the trial step was evaluated at its end. */
    if (event->theta >= 1 && least_margin(l) > 0)
        return RG_OK;
    rg_arena_mark mark = rg_arena_get_mark(a->arena);
    l->kept = rg_arena_take(a->arena, a->contact_count, sizeof *l->kept);
    if (!l->kept)
        return RG_OUT_OF_MEMORY;
    keep_start(a, l->kept);
    double at_end = margin_at(l, event->theta);
    if (at_end <= 0) {
        keep_start(a, l->kept);
        double at_begin = fmax(margin_at(l, 0), DBL_MIN); /* what changed at 0 was settled */
        rg_root root = rg_root_find(margin_at, l, (rg_bracket){0, at_begin, event->theta, at_end},
                                    (rg_root_settings){.method = root_finder(l),
                                                       .x_tolerance = RG_ANALYSIS_LOCATED,
                                                       .evaluation_limit = ROOT_EVALUATIONS});
        margin_at(l, root.upper); /* just past it */
        *event = (rg_analysis_event){
            .theta = root.upper, .kind = l->kind, .need = RG_NEED_FORCES, .contact = l->contact};
    }
    rg_arena_return(a->arena, mark);
    return RG_OK;
}

rg_status rg_analysis_first_event(rg_analysis *a, rg_analysis_event *event, rg_error *error) {
    look l = {.a = a, .dense = &a->trial.output};
    *event = (rg_analysis_event){.theta = 1, .kind = -1, .contact = UINT32_MAX};
    rg_status status = RG_OK;
    rg_analysis_find_pairs(a, l.dense);
    for (size_t i = 0; i < a->pair_count && !status; i++) {
        l.part_b = a->pairs[i][0];
        l.part_a = a->pairs[i][1];
        look_at_bodies(&l, a->view->parts[l.part_b].body, a->view->parts[l.part_a].body);
        status = look_at_pair(&l, event);
    }
    l.part_b = l.part_a = UINT32_MAX;
    l.level = 0;
    for (l.limit = 0; l.limit < rg_analysis_limit_count(a) && !status; l.limit++) {
        uint32_t bodies[2];
        rg_analysis_limit_bodies(a, l.limit, bodies);
        look_at_bodies(&l, bodies[0], bodies[1]);
        if (!is_at_limit(a, l.limit))
            look_at_limit(&l, event);
    }
    l.contact = UINT32_MAX;
    for (l.limit = 0; has_friction_events(a) && l.limit < rg_analysis_brake_count(a) && !status;
         l.limit++) {
        uint32_t bodies[2];
        rg_analysis_brake_bodies(a, l.limit, bodies);
        look_at_bodies(&l, bodies[0], bodies[1]);
        look_at_brake(&l, event);
    }
    for (size_t i = 0; i < a->contact_count && !status; i++) {
        l.contact = (uint32_t)i;
        look_at_bodies(&l, a->contacts[i].body_b, a->contacts[i].body_a);
        look_at_contact(&l, event);
    }
    if (!status && (a->contact_count || a->joints))
        status = look_at_forces(&l, event);
    if (status)
        return rg_fail(error, status, "events after t = %.9g s: %s", a->time,
                       rg_status_text(status));
    return RG_OK;
}
