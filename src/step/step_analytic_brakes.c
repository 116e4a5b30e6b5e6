/* Dry friction of joints, and motors with a largest force, in the analytic method: a brake holds a
 * velocity of its axis (0, or the motor's target) as long as that takes no more than its largest
 * force; otherwise it pushes with that against the way that the axis goes.
 *
 * Which hold is decided between steps, and kept during them: that a brake has reached its largest
 * force, or that the axis has come to the velocity, is an event. At an instant those that slip do
 * so by their velocities; of the others those that cannot hold let go, the one that is farthest
 * beyond first, until all that hold can; one that let go but would turn back is held again.
 *
 * Tested by tests/step/test_analytic_joints.c. */
#include "step/step_analytic_joints.h"

/* Relative: a brake lets go beyond its largest force by more than this. */
#define RELEASED 1e-11
/* Exchanges at an instant, per brake. */
enum { EXCHANGES = 4 };

rg_status rg_joints_list_brakes(rg_analysis *a, rg_analysis_joints *j) {
    j->brakes = rg_arena_take(a->arena, j->holdable, sizeof *j->brakes);
    for (size_t i = 0; j->brakes && i < j->holdable; i++)
        if (j->rows[i].role == RG_ROLE_BRAKE)
            j->brakes[j->brake_count++] = (uint32_t)i;
    return j->brakes ? RG_OK : RG_OUT_OF_MEMORY;
}

size_t rg_analysis_brake_count(const rg_analysis *a) {
    return a->joints ? a->joints->brake_count : 0;
}

static rg_analysis_joint_row *brake_of(const rg_analysis *a, size_t brake) {
    return &a->joints->rows[a->joints->brakes[brake]];
}

/* m/s: slower is none. */
static double still_of(const rg_analysis *a, const rg_analysis_joint_row *r) {
    return RG_ANALYSIS_SLIP * sqrt(a->view->acceleration * r->length) +
           10 * RG_ANALYSIS_SPEED * a->view->speed;
}

void rg_analysis_brakes_reset(rg_analysis *a) {
    if (rg_analysis_brake_count(a) == 0)
        return;
    rg_joints_look(a);
    a->joints->exchanges = EXCHANGES * a->joints->brake_count;
    for (size_t i = 0; i < a->joints->brake_count; i++) {
        rg_analysis_joint_row *r = brake_of(a, i);
        double slip = r->rate - r->target;
        r->slips = fabs(slip) <= still_of(a, r) ? 0 : slip > 0 ? 1 : -1;
    }
}

/* m/s^2: how an axis accelerates, with all forces. */
static double acceleration_of(const rg_analysis *a, const rg_analysis_joint_row *r) {
    const rg_analysis_joints *j = a->joints;
    const rg_analysis_row *row = &r->row;
    double sum = rg_direction_rate(row, j->acceleration, j->angular_acceleration) + r->drift;
    for (size_t i = 0; i < a->contact_count; i++) {
        const rg_analysis_contact *c = &a->contacts[i];
        rg_analysis_row force = rg_analysis_force_row(a, c);
        if (c->kind == RG_TOUCH_PARTS) /* those are among the accelerations */
            sum += rg_analysis_couple(a, row, &force);
    }
    return sum;
}

bool rg_analysis_brakes_change(rg_analysis *a) {
    rg_analysis_joint_row *worst = NULL;
    double most = 1 + RELEASED;
    if (rg_analysis_brake_count(a) == 0 || a->joints->exchanges == 0)
        return false;
    rg_analysis_joints_react(a);
    for (size_t i = 0; i < a->joints->brake_count; i++) {
        rg_analysis_joint_row *r = brake_of(a, i);
        if (r->slips == 0 && fabs(r->force) > most * r->most)
            most = fabs(r->force) / r->most, worst = r;
    }
    if (worst)
        worst->slips = worst->force > 0 ? -1 : 1;
    for (size_t i = 0; i < a->joints->brake_count && !worst; i++) {
        rg_analysis_joint_row *r = brake_of(a, i);
        bool still = fabs(r->rate - r->target) <= still_of(a, r);
        if (r->slips && still && r->slips * acceleration_of(a, r) < 0)
            worst = r, r->slips = 0;
    }
    if (worst)
        a->joints->exchanges--;
    return worst;
}

double rg_analysis_brakes_margin(const rg_analysis *a) {
    double margin = INFINITY;
    for (size_t i = 0; i < rg_analysis_brake_count(a); i++) {
        const rg_analysis_joint_row *r = brake_of(a, i);
        if (r->slips == 0)
            margin = fmin(margin, 1 + RELEASED - fabs(r->force) / r->most);
    }
    return margin;
}

double rg_analysis_brake_slip(const rg_analysis *a, size_t brake) {
    const rg_analysis_joint_row *r = brake_of(a, brake);
    if (r->slips == 0)
        return INFINITY;
    rg_joint_look look = rg_joints_look_at(a, r->joint);
    uint32_t bodies[2];
    rg_analysis_brake_bodies(a, brake, bodies);
    rg_analysis_row row = rg_analysis_joint_direction(a, bodies[1], bodies[0], look.point,
                                                      &look.axis[r->direction - look.locked]);
    size_t axis = r->direction - look.locked;
    double target = rg_joints_is(r, RG_JOINT_MOTOR)
                        ? rg_joint_target(&a->view->world->content, a->joints->joint[r->joint],
                                          axis, a->motion.time)
                        : 0;
    return r->slips * (rg_analysis_rate(&a->motion, &row) - target) * r->unit;
}

void rg_analysis_brake_bodies(const rg_analysis *a, size_t brake, uint32_t bodies[2]) {
    const rg_analysis_row *row = &brake_of(a, brake)->row;
    bodies[0] = row->b, bodies[1] = row->a;
}
