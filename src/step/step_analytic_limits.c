/* Ends of the ranges of joints in the analytic method: each is a contact without friction, of the
 * axis with its end, which is met with restitution, rests and leaves as contacts of bodies do. Its
 * normal is the axis, and it may turn about it instead of moving along it: then lengths are angles
 * times the unit of length of the joint, and forces torques over it.
 *
 * Tested by tests/step/test_analytic_joints.c. */
#include "step/step_analytic_joints.h"

rg_status rg_analysis_limits_make(rg_analysis *a, rg_analysis_joints *j) {
    size_t capacity = 0;
    for (uint32_t i = 0; i < j->count; i++)
        for (uint8_t k = 0; k < 2 * j->look[i].axes; k++) {
            const rg_joint_axis *axis = &a->view->world->content.joint[j->joint[i]].def.axis[k / 2];
            double end = k % 2 ? axis->upper : axis->lower;
            if (!isfinite(end) || axis->lower == axis->upper)
                continue;
            if (!rg_arena_grow(a->arena, &j->limits, j->limit_count, &capacity, sizeof *j->limits))
                return RG_OUT_OF_MEMORY;
            double length = rg_joints_length(a, &j->look[i]);
            j->limits[j->limit_count++] = (rg_joint_limit){i, k / 2, k % 2, end, length};
        }
    return RG_OK;
}

size_t rg_analysis_limit_count(const rg_analysis *a) {
    return a->joints ? a->joints->limit_count : 0;
}

/* m: 1 of an axis along which bodies move. */
static double unit_of(const rg_joint_limit *l, const rg_joint_look *look) {
    return look->axis[l->axis].turns ? l->length : 1;
}

/* m. */
static double gap_of(const rg_joint_limit *l, const rg_joint_look *look) {
    double x = look->axis[l->axis].value;
    return (l->upper ? l->end - x : x - l->end) * unit_of(l, look);
}

double rg_analysis_limit_size(const rg_analysis *a, size_t limit) {
    return a->joints->limits[limit].length;
}

double rg_analysis_limit_gap(const rg_analysis *a, size_t limit) {
    const rg_joint_limit *l = &a->joints->limits[limit];
    rg_joint_look look = rg_joints_look_at(a, l->joint);
    return gap_of(l, &look);
}

void rg_analysis_limit_bodies(const rg_analysis *a, size_t limit, uint32_t bodies[2]) {
    const rg_joint_look *look = &a->joints->look[a->joints->limits[limit].joint];
    for (int side = 0; side < 2; side++)
        bodies[side] = rg_joints_body(a, look, side);
}

bool rg_analysis_limit_contact(const rg_analysis *a, size_t limit, rg_analysis_contact *c) {
    const rg_joint_limit *l = &a->joints->limits[limit];
    const rg_joint_axis *axis =
        &a->view->world->content.joint[a->joints->joint[l->joint]].def.axis[l->axis];
    uint32_t bodies[2];
    rg_analysis_limit_bodies(a, limit, bodies);
    bool turns = a->joints->look[l->joint].axis[l->axis].turns;
    /* A's side is the one that moves away from the end. */
    *c = (rg_analysis_contact){.part_b = UINT32_MAX,
                               .part_a = (uint32_t)limit,
                               .body_a = bodies[!l->upper],
                               .body_b = bodies[l->upper],
                               .kind = turns ? RG_TOUCH_LIMIT_OF_TURN : RG_TOUCH_LIMIT,
                               .law = {.restitution = axis->restitution},
                               .size = l->length,
                               .shell = RG_ANALYSIS_SHELL * l->length,
                               .none = INFINITY};
    rg_analysis_limit_follow(a, &a->motion, c);
    return c->motion.gap <= a->law->near * c->shell;
}

void rg_analysis_limit_follow(const rg_analysis *a, const rg_analysis_motion *m,
                              rg_analysis_contact *c) {
    const rg_joint_limit *l = &a->joints->limits[c->part_a];
    rg_joint_look look = rg_joints_look_at(a, l->joint);
    rg_vec3 n = look.axis[l->axis].direction;
    double drift = rg_joints_drift(a, l->joint, &look, look.locked + l->axis);
    c->motion = (rg_contact_motion){.point = look.point,
                                    .normal = n,
                                    .gap = gap_of(l, &look),
                                    .drift = rg_scale(l->upper ? -drift : drift, n),
                                    .inside = INFINITY,
                                    .regular = true};
    rg_analysis_row row = rg_analysis_contact_row(m, c, n);
    c->motion.gap_rate = rg_analysis_rate(m, &row);
}

void rg_analysis_limit_show(const rg_analysis *a, const rg_analysis_contact *c, double force,
                            const rg_judge_instant *now) {
    const rg_joint_limit *l = &a->joints->limits[c->part_a];
    rg_judge_joint *joint = (rg_judge_joint *)&now->joints[l->joint]; /* in our own memory */
    rg_vec3 *sum = c->kind == RG_TOUCH_LIMIT_OF_TURN ? &joint->angular[RG_JUDGE_JOINT_LIMIT]
                                                     : &joint->linear[RG_JUDGE_JOINT_LIMIT];
    force *= c->kind == RG_TOUCH_LIMIT_OF_TURN ? c->size : 1;
    *sum = rg_add_scaled(*sum, l->upper ? -force : force, c->motion.normal);
}

void rg_analysis_limits_keep(const rg_analysis *a, double step, rg_joint_memory *memories) {
    for (size_t i = 0; i < a->contact_count; i++) {
        const rg_analysis_contact *c = &a->contacts[i];
        if (c->kind == RG_TOUCH_PARTS)
            continue;
        const rg_joint_limit *l = &a->joints->limits[c->part_a];
        rg_joint_memory *m = &memories[a->joints->joint[l->joint]];
        double force = l->upper ? -c->force[0] : c->force[0];
        force *= c->kind == RG_TOUCH_LIMIT_OF_TURN ? c->size : 1;
        m->impulse[RG_JOINT_LOCKED + l->axis * RG_JOINT_PARTS +
                   (l->upper ? RG_JOINT_UPPER : RG_JOINT_LOWER)] += force * step;
        rg_vec3 *sum = c->kind == RG_TOUCH_LIMIT_OF_TURN ? &m->torque : &m->force;
        *sum = rg_add_scaled(*sum, force, c->motion.normal);
    }
}
