/* The projection of what is left of the errors of joints after the motion of a fixed step, and of
 * the velocities at its end:
 *
 *     the smallest dq' M dq with J dq + x(q) = 0,  q := q + dq, and again,
 *
 * Newton's method on x(q) = 0. That is a contact problem with free joint rows only (velocities dq,
 * q = x), one per island, and is solved as such. Rows: locked directions, and limits, one-sided.
 * The motion leaves x of third order in the step, 1e-8 m or so, and the second round is exact to
 * rounding. Trees of joints that hold a point need no rows for that (step_articulated.c). Momenta
 * stay; what turning a body at constant angular momentum, lifting it and moving its momentum
 * sideways do to energy and angular momentum is told.
 *
 * Velocities: those that moved the bodies are along the chord of the motion. Impulses on the locked
 * rows at the new places turn them into the tangent there (the second half of RATTLE,
 * H. C. Andersen, J. Comput. Phys. 52, 1983), so that J v = 0 holds for the state that is kept.
 * Limits that pushed in the step hold likewise, as long as both impulses together still push: two
 * one-sided limits at one place are then the same as a locked direction.
 *
 * Rows that have given way to contacts in the step (step_yield.c) are left open: closing them would
 * take bodies through each other.
 *
 * Joints that contradict each other end with the least sum of squares of their errors, in the
 * metric of what they give, or with the least sum of errors (Baraff 1989, Appendix B, 37). The
 * latter is the limit of
 *
 *     the smallest 1/2 dq' M dq + F sum |J dq + x(q)|,
 *
 * which it reaches at a finite F, where the forces that close the other joints are smaller than F
 * (an exact penalty: S.-P. Han, O. L. Mangasarian, Math. Programming 17, 1979): a contact problem
 * whose joint rows are bounded by F, as those of dry friction are. Of several least sums it takes
 * the nearest.
 *
 * How it fails: joints that contradict each other; it ends when a round does not gain.
 * Tested by tests/step/test_joints.c and test_joints_tension.c. */
#include "step/step_joints.h"

#include "base/base_text.h"
#include "problem/problem_islands.h"
#include "solve/solve_active.h"
#include "solve/solve_tree.h"

#include <string.h>

/* Units of length of the joint (rg_joint_unit), rad: errors below are left; drift of a step is far
 * above, rest far below. */
#define CLOSED 1e-12
/* Units of rounding of the coordinates that a joint's error is a difference of: no less can be
 * asked for. */
#define ROUNDINGS 16.0
/* rad^2: a quaternion that is turned by less stays of unit length, up to rounding. */
#define UNTURNED (0.5 * DBL_EPSILON)
/* Likewise: limits that are farther are not passed by closing joints. */
#define NEAR 0.01
/* RG_JOINT_GIVE of places. It is smaller, because what redundant joints disagree by makes no forces
 * here: near a dead point, where a rod lies along the line that a ball joint holds, places cannot
 * be closed better than by this share of the bodies' size (1e-8 left 7e-9 m). */
#define GIVE 1e-10
/* A round that leaves more than this share of the largest error has not gained. Mechanisms that are
 * nearly redundant gain a third or so, because what their joints give is as much as their mobility;
 * joints that contradict each other gain nothing. */
#define GAIN 0.9
/* F, relative to the sum of all forces that would close one row each. */
#define BEYOND 100.0
/* What a round is solved to, relative to the largest error, and factors that it may cost: in all,
 * and without the error halved (rows that contradict each other). With 3 in all, velocities of
 * ragdoll were off by up to 0.04 m/s in 43 of 1,200 steps; all are solved with 6. */
#define SOLVED 1e-9
enum { ROUNDS_MOST = 40, FACTORS_MOST = 12, FACTORS_IDLE = 3 };
/* The places of locked rows. */
#define LOCKS ((1U << RG_JOINT_LOCKED) - 1)
/* Rounds to find which limits hold; the last one leaves it to the solver. Humanoids that land
 * needed 3, chains of 8 links between narrow limits 7. */
enum { LIMIT_ROUNDS = 12 };

typedef struct projection {
    const rg_world_content *content;
    const rg_joints_bodies *bodies;
    rg_solve_context *context;
    rg_arena *arena;
    const uint8_t *loops;
    double largest;       /* of the errors, over what is closed; with `sums` their sum */
    double worst;         /* of them, over what is closed */
    uint32_t open1;       /* 1 + the joint that has it */
    double error;         /* m, rad: the same as a length or an angle */
    double unit, closed;  /* m: of the joint that is looked at; its errors below are left */
    bool sums;            /* contradictions: the least sum */
    bool chooses;         /* limits hold by no more than they are passed */
    bool together;        /* all islands at once, if they are trees */
    bool limited;         /* there are rows of limits */
    rg_articulated *tree; /* all joints, if none has a row that is not locked; null: some has */
} projection;

/* What a row is off by, among the others. */
static inline void note_error(projection *p, uint32_t joint, bool turns, double off) {
    double closed = turns ? CLOSED : p->closed, share = off / closed;
    if (p->sums)
        p->largest += share;
    else if (share > p->largest)
        p->largest = share;
    if (share > p->worst && off > closed) {
        p->worst = share;
        p->open1 = joint + 1;
        p->error = off;
    }
}

/* Row i, which is locked. */
static inline void add_locked(projection *p, rg_joint_set *set, size_t i) {
    rg_joint_row *row = &set->rows[i];
    note_error(p, row->joint, row->along.turns, fabs(row->shift));
    if (p->loops[row->joint])
        row->compliance = GIVE * rg_joint_mobility(p->content, set, i);
}

/* `sign` 0: locked; 1: a lower limit, `error` beyond it is allowed; -1: an upper one. */
static void add_row(projection *p, rg_joint_set *set, const rg_joint_row *shared, int sign,
                    const rg_joint_direction *along, double error) {
    rg_body_places places = {p->bodies->position, p->bodies->orientation};
    rg_joint_row *made = rg_joint_set_add(p->content, set, shared, along, places);
    made->lower = sign > 0 ? 0 : -INFINITY, made->upper = sign < 0 ? 0 : INFINITY;
    made->shift = error;
    p->limited = p->limited || sign != 0;
    if (sign == 0)
        add_locked(p, set, set->count - 1);
    else
        note_error(p, made->joint, along->turns, fmax(0, -sign * error));
}

/* m: what an error of a joint of these bodies is closed at. */
static double closed_at(const projection *p, double unit, const uint32_t body[2]) {
    double size = 0;
    for (int side = 0; side < 2; side++)
        if (body[side] != UINT32_MAX && p->bodies->moved[body[side]])
            size = rg_max3(size, rg_largest_entry(p->bodies->position[body[side]]), 0);
    return rg_max3(CLOSED * unit, ROUNDINGS * DBL_EPSILON * size, 0);
}

/* m, rad: how far a limit of an axis may be to count as near. */
static double near_at(const projection *p, const rg_joint_direction *along) {
    return along->turns ? NEAR : NEAR * p->unit;
}

static bool is_near(const rg_joint_axis *a, double x, double near) {
    return x < a->lower + near || x > a->upper - near;
}

/* m: of a tendon, whose length may be anything, 1. */
static double unit_of(const projection *p, size_t joint, const uint32_t body[2]) {
    const rg_world_content *c = p->content;
    bool moves[2];
    if (c->joint[joint].def.kind == RG_JOINT_TENDON)
        return 1;
    for (int side = 0; side < 2; side++)
        moves[side] = body[side] != UINT32_MAX && p->bodies->moved[body[side]];
    return rg_joint_unit(c, body, moves);
}

static void add_joint(projection *p, rg_joint_set *set, size_t j) {
    const rg_world_content *c = p->content;
    const rg_joint_def *def = &c->joint[j].def;
    rg_body_places places = {p->bodies->position, p->bodies->orientation};
    rg_joint_look own;
    bool any = false;
    uint32_t yielded = p->bodies->yielded ? p->bodies->yielded[j] : 0;
    if (rg_joint_is_off(c, j))
        return;
    const rg_joint_look *look = rg_joint_look_again(p->bodies->seen, c, j, places, &own);
    rg_joint_row row = {.joint = (uint32_t)j, .point = look->point};
    for (int side = 0; side < 2; side++) {
        row.body[side] = look->body[side];
        row.moves[side] = look->body[side] != UINT32_MAX && p->bodies->moved[look->body[side]];
        any = any || row.moves[side];
    }
    p->unit = unit_of(p, j, row.body);
    if (def->kind == RG_JOINT_TENDON && is_near(&def->axis[0], look->axis[0].value, NEAR))
        any = rg_joint_set_add_links(c, set, j, places, p->bodies->moved, &row);
    if (!any)
        return;
    p->closed = closed_at(p, p->unit, row.body);
    size_t first = set->count;
    if (!(yielded & LOCKS))
        rg_joint_set_add_locks(c, set, &row, look, places, false);
    for (size_t i = first; i < set->count; i++)
        add_locked(p, set, i);
    for (size_t k = 0; k < look->axes; k++) {
        row.place = (uint8_t)(RG_JOINT_LOCKED + k * RG_JOINT_PARTS + RG_JOINT_LOWER);
        const rg_joint_axis *a = &def->axis[k];
        double x = look->axis[k].value, near = near_at(p, &look->axis[k]);
        bool equal = a->lower == a->upper, holds = !(yielded >> row.place & 1);
        if (equal && holds)
            add_row(p, set, &row, 0, &look->axis[k], x - a->lower);
        if (!equal && holds && x < a->lower + near)
            add_row(p, set, &row, 1, &look->axis[k], x - a->lower);
        row.place += RG_JOINT_UPPER - RG_JOINT_LOWER;
        holds = !(yielded >> row.place & 1);
        if (!equal && holds && x > a->upper - near)
            add_row(p, set, &row, -1, &look->axis[k], x - a->upper);
    }
    if (def->kind != RG_JOINT_TENDON)
        rg_joint_set_measure(set, first, p->unit);
}

/* --- moving bodies ---------------------------------------------------------------------------- */

/* By a displacement and a small turn about `turn`. */
static void move_body(const projection *p, uint32_t i, rg_vec3 by, rg_vec3 turn,
                      rg_joints_correction *correction) {
    const rg_joints_bodies *b = p->bodies;
    const rg_world_content *c = p->content;
    const rg_body_dynamics *d = &c->dynamics[i];
    b->position[i] = rg_add(b->position[i], by);
    if (b->shift)
        b->shift[i] += rg_length(by) + d->gyration_radius * rg_length(turn);
    correction->potential -= d->mass * d->gravity_scale * rg_dot(c->gravity, by);
    correction->angular_momentum =
        rg_add(correction->angular_momentum, rg_cross(by, b->momentum[i]));
    if (c->planar) {
        b->angle[i] -= turn.y;
        b->orientation[i] = rg_quat_of_planar_angle(b->angle[i]);
        return;
    }
    rg_quat small = rg_quat_make(0.5 * turn.x, 0.5 * turn.y, 0.5 * turn.z, 1),
            q = b->orientation[i];
    rg_vec3 spin = b->angular_velocity[i];
    q = rg_quat_multiply(small, q);
    b->orientation[i] = rg_dot(turn, turn) <= UNTURNED ? q : rg_quat_normalised(q);
    q = b->orientation[i];
    b->angular_velocity[i] =
        rg_rotate(q, rg_times(d->inverse_inertia, rg_rotate_back(q, b->angular_momentum[i])));
    correction->kinetic +=
        0.5 * rg_dot(b->angular_momentum[i], rg_sub(b->angular_velocity[i], spin));
}

/* dq of an island, into its bodies. */
static void move_island(projection *p, const rg_islands *islands, const rg_island *island,
                        const double *moved, rg_joints_correction *correction) {
    size_t n = p->content->planar ? 3 : 6;
    for (size_t k = 0; k < island->body_count; k++) {
        uint32_t body = islands->bodies[island->first_body + k];
        const double *x = moved + k * n;
        rg_vec3 by = n == 3 ? rg_vec3_make(x[0], 0, x[1]) : rg_vec3_make(x[0], x[1], x[2]);
        rg_vec3 turn = n == 3 ? rg_vec3_make(0, x[2], 0) : rg_vec3_make(x[3], x[4], x[5]);
        move_body(p, body, by, turn, correction);
    }
}

/* --- one round -------------------------------------------------------------------------------- */

/* F for rows that may contradict each other. */
static void bound_rows(const projection *p, rg_joint_set *set) {
    double sum = 0;
    for (size_t i = 0; i < set->count; i++)
        if (p->loops[set->rows[i].joint])
            sum += fabs(set->rows[i].shift) / rg_joint_mobility(p->content, set, i);
    for (size_t i = 0; i < set->count; i++) {
        rg_joint_row *row = &set->rows[i];
        if (p->loops[row->joint] && !isfinite(row->lower) && !isfinite(row->upper))
            row->lower = -BEYOND * sum, row->upper = BEYOND * sum;
    }
}

/* Loops and limits: one factor, and steps with it (solve_active.c). If rows contradict each other,
 * the best that a few factors found. `moved`: velocities, where they are 0 without forces. */
static rg_status solve_graph(projection *p, const rg_problem *problem, double *moved,
                             double *force) {
    rg_system system;
    rg_active active;
    rg_solve_info info;
    rg_status status = RG_OK;
    if (p->sums) {
        p->context->depth++; /* it is part of this one, and leaves our memory alone */
        status = rg_solve(p->context, rg_solver_find("auto"), problem, NULL,
                          &(rg_solution){.force = force}, &info, NULL);
        p->context->depth--;
    }
    if (!status)
        status = rg_system_prepare(&system, p->context, problem, NULL);
    if (!status && !p->sums) {
        status = rg_active_create(&active, &system, p->context, NULL);
        if (!status)
            status = rg_active_run(&active, (rg_active_aim){SOLVED, FACTORS_MOST, FACTORS_IDLE});
        if (!status)
            memcpy(force, active.best, system.rows * sizeof *force);
    }
    double *impulse = rg_solve_take(p->context, system.velocities, sizeof *impulse);
    if (status || !impulse)
        return RG_OUT_OF_MEMORY;
    rg_system_jt(&system, force, impulse);
    rg_system_mass_inverse(&system, impulse, moved);
    return RG_OK;
}

/* A tree by one factor. Bounds are left out: if forces without them are within, they are the
 * answer, and otherwise it is not found here (RG_UNSUPPORTED). */
static rg_status solve_forest(projection *p, const rg_problem *problem, double *moved,
                              double *force) {
    const rg_contact_problem *bounded = &problem->contact;
    rg_tree *tree;
    if (bounded->joints == 0)
        return RG_UNSUPPORTED;
    rg_status status = rg_tree_make(p->context, problem, &tree);
    if (status)
        return status;
    rg_tree_solve(tree, moved, force);
    for (size_t k = 0; k < bounded->joints && bounded->lower; k++)
        if (!(force[k] >= bounded->lower[k] && force[k] <= bounded->upper[k]))
            return RG_UNSUPPORTED;
    return RG_OK;
}

/* Forces of a problem and, where they are 0 without forces, velocities. */
static rg_status solve_problem(projection *p, const rg_problem *problem, double *moved,
                               double *force) {
    rg_status status = p->sums ? RG_UNSUPPORTED : solve_forest(p, problem, moved, force);
    if ((status == RG_UNSUPPORTED || status == RG_SINGULAR) && !p->together)
        return solve_graph(p, problem, moved, force);
    return status;
}

static bool is_limit(const rg_joint_row *row) {
    return isfinite(row->lower) || isfinite(row->upper);
}

/* Rows [0, held) of a problem were held, with forces; is limit k to be held in the next round? One
 * that was, if it pushes; another, if it would be passed. */
static bool is_to_hold(const rg_problem *problem, const rg_joint_row *row, size_t k, size_t held,
                       const double *moved, const double *force) {
    const rg_global_form *g = &problem->contact.global;
    double sign = isfinite(row->lower) ? 1 : -1, x = problem->contact.q[k];
    size_t f = (size_t)g->freedom;
    if (k < held)
        return sign * force[k] > 0;
    for (size_t side = 0; side < 2; side++)
        for (size_t m = 0; m < f && g->joint_blocks[2 * k + side] != RG_NO_BLOCK; m++)
            x += g->joint_jacobian[(2 * k + side) * f + m] *
                 moved[g->joint_blocks[2 * k + side] * f + m];
    return sign * x < -CLOSED * (row->unit > 0 ? row->unit : 1);
}

/* Rows that are to be held come first, in their order, then the others; how many are. */
static size_t sort_held(uint32_t *rows, const uint8_t *hold, size_t count, uint32_t *work) {
    size_t held = 0, rest = 0;
    for (size_t k = 0; k < count; k++)
        if (hold[k])
            rows[held++] = rows[k];
        else
            work[rest++] = rows[k];
    memcpy(rows + held, work, rest * sizeof *rows);
    return held;
}

/* Forces of rows that are known to hold. */
static rg_status solve_rows(projection *p, const rg_islands *islands, const rg_island *island,
                            const rg_island_input *input, double *moved, double *force) {
    rg_row_set none = {.dimension = p->content->planar ? 2 : 3, .freedom = input->joints->freedom};
    rg_problem problem;
    rg_status status =
        rg_island_problem(p->content, &none, islands, island, input, p->arena, &problem);
    return status ? status : solve_problem(p, &problem, moved, force);
}

/* Which limits hold: those that are passed, then, again and again, those that the answer asks for
 * (the primal-dual active set strategy: M. Hintermueller, K. Ito, K. Kunisch, SIAM J. Optim. 13,
 * 2002). Rows of the island change places. */
static rg_status choose_limits(projection *p, rg_islands *islands, const rg_island *island,
                               const rg_island_input *input, double *moved, double *force) {
    rg_row_set none = {.dimension = p->content->planar ? 2 : 3, .freedom = input->joints->freedom};
    size_t count = island->joint_count;
    uint32_t *rows = islands->joints + island->first_joint;
    uint32_t *work = rg_arena_take(p->arena, count, sizeof *work);
    uint8_t *hold = rg_arena_take(p->arena, count, sizeof *hold);
    if (!work || !hold)
        return RG_OUT_OF_MEMORY;
    for (size_t k = 0; k < count; k++) {
        const rg_joint_row *row = &input->joints->rows[rows[k]];
        hold[k] = !is_limit(row) || (isfinite(row->lower) ? row->shift < 0 : row->shift > 0);
    }
    for (int round = 1; round < LIMIT_ROUNDS; round++) {
        bool changes = false;
        rg_problem problem;
        size_t held = sort_held(rows, hold, count, work);
        rg_status status =
            rg_island_problem(p->content, &none, islands, island, input, p->arena, &problem);
        if (status)
            return status;
        problem.contact.joints = held;
        problem.contact.lower = problem.contact.upper = NULL;
        memset(force, 0, count * sizeof *force);
        status = solve_problem(p, &problem, moved, force);
        if (status)
            return status;
        for (size_t k = 0; k < count; k++) {
            const rg_joint_row *row = &input->joints->rows[rows[k]];
            hold[k] = !is_limit(row) || is_to_hold(&problem, row, k, held, moved, force);
            changes = changes || (hold[k] != 0) != (k < held);
        }
        if (!changes)
            return RG_OK;
    }
    return solve_rows(p, islands, island, input, moved, force);
}

/* Forces of an island and, where nothing moved without them, velocities. */
static rg_status solve_island(projection *p, rg_islands *islands, const rg_island *island,
                              const rg_island_input *input, double **moved, double **force) {
    size_t blocks = island->body_count + island->sum_count, n = (size_t)input->joints->freedom;
    *moved = rg_solve_take(p->context, blocks * n, sizeof **moved);
    *force = rg_solve_take(p->context, island->joint_count, sizeof **force);
    if (!*moved || !*force)
        return RG_OUT_OF_MEMORY;
    memset(*force, 0, island->joint_count * sizeof **force);
    return p->chooses && p->limited ? choose_limits(p, islands, island, input, *moved, *force)
                                    : solve_rows(p, islands, island, input, *moved, *force);
}

static rg_status find_errors(projection *p, rg_joint_set *set) {
    const rg_world_content *c = p->content;
    size_t most = c->joints.count * (RG_JOINT_LOCKED + 2 * RG_JOINT_AXES_MOST);
    uint8_t *loops;
    p->largest = p->worst = p->error = 0;
    p->open1 = 0;
    p->limited = false;
    rg_status status = rg_joint_set_make(c, most, p->arena, set);
    if (!status && !p->loops) {
        status = rg_joint_loops(c, p->arena, &loops);
        p->loops = loops;
    }
    for (size_t j = 0; j < c->joints.count && !status; j++)
        add_joint(p, set, j);
    return status;
}

static rg_status solve_islands(projection *p, rg_islands *islands, const rg_island_input *input,
                               rg_joints_correction *correction) {
    rg_status status = RG_OK;
    for (size_t i = 0; i < islands->count && !status; i++) {
        const rg_island *island = &islands->islands[i];
        rg_arena_mark mark = rg_arena_get_mark(&p->context->arena);
        double *moved, *force;
        status = solve_island(p, islands, island, input, &moved, &force);
        if (!status && correction)
            move_island(p, islands, island, moved, correction);
        for (size_t k = 0; k < island->joint_count && !status; k++)
            input->joints->impulse[islands->joints[island->first_joint + k]] = force[k];
        rg_arena_return(&p->context->arena, mark);
    }
    return status;
}

static bool has_give(const rg_joint_set *set) {
    for (size_t i = 0; i < set->count; i++)
        if (set->rows[i].compliance > 0)
            return true;
    return false;
}

/* All islands of a set: `velocity` and `angular_velocity` are those without impulses. With a
 * correction bodies are moved by the answer, otherwise it is put into the set. Trees are taken
 * together, as one forest; if one of them is none, or there are tendons, island by island. */
static rg_status solve_all(projection *p, rg_joint_set *set, const rg_vec3 *velocity,
                           const rg_vec3 *angular_velocity, rg_joints_correction *correction) {
    rg_row_set none = {.dimension = p->content->planar ? 2 : 3, .freedom = set->freedom};
    rg_island_input input = {.velocity = velocity,
                             .angular_velocity = angular_velocity,
                             .joints = set,
                             .inertia = p->bodies->inertia,
                             .orientation = p->bodies->orientation};
    size_t bodies = p->content->bodies.count;
    rg_islands islands;
    rg_status status = RG_UNSUPPORTED;
    if (set->count == 0)
        return RG_OK;
    p->together = !p->sums && set->link_count == 0 && !has_give(set);
    if (p->together) {
        status = rg_islands_together(set, bodies, p->arena, &islands);
        if (!status)
            status = solve_islands(p, &islands, &input, correction);
    }
    if (status != RG_UNSUPPORTED && status != RG_SINGULAR)
        return status;
    p->together = false;
    status = rg_islands_find(&none, set, bodies, p->arena, &islands);
    return status ? status : solve_islands(p, &islands, &input, correction);
}

/* --- mechanisms that are trees ---------------------------------------------------------------- */

/* Null: joints are not trees of the kind, or not all of them move; or sums are asked for. */
static rg_articulated *tree_of(const projection *p) {
    const rg_joints_bodies *b = p->bodies;
    bool takes = b->seen && b->seen->loops && !p->sums && !b->yielded && !b->stay &&
                 rg_articulated_takes(&b->seen->tree, p->content, b->moved);
    return takes ? &b->seen->tree : NULL;
}

/* Errors of all joints, without rows, into `rest`; false: there is a limit among what is near. */
static bool look_at_tree(projection *p, double *rest) {
    const rg_world_content *c = p->content;
    rg_body_places places = {p->bodies->position, p->bodies->orientation};
    p->largest = p->worst = p->error = 0;
    p->open1 = 0;
    for (size_t j = 0; j < c->joints.count; j++) {
        const rg_joint_def *def = &c->joint[j].def;
        rg_joint_look own;
        const rg_joint_look *look = rg_joint_look_again(p->bodies->seen, c, j, places, &own);
        p->unit = unit_of(p, j, look->body);
        for (size_t k = 0; k < look->axes; k++)
            if (def->axis[k].lower == def->axis[k].upper ||
                is_near(&def->axis[k], look->axis[k].value, near_at(p, &look->axis[k])))
                return false;
        bool open = false;
        for (size_t k = 0; k < look->locked; k++) {
            rest[k] = look->lock[k].value;
            open = open || !(fabs(rest[k]) <= CLOSED * (look->lock[k].turns ? 1 : p->unit));
        }
        p->closed = open ? closed_at(p, p->unit, look->body) : CLOSED * p->unit;
        for (size_t k = 0; k < look->locked && open; k++)
            note_error(p, (uint32_t)j, look->lock[k].turns, fabs(rest[k]));
        rest += look->locked;
    }
    return true;
}

/* Rounds until joints are closed or do not gain; RG_UNSUPPORTED: others have to go on. */
static rg_status close_tree(projection *p, rg_joints_correction *correction) {
    rg_body_places places = {p->bodies->position, p->bodies->orientation};
    rg_articulated *tree = p->tree;
    double *rest = rg_arena_take(p->arena, tree->rows, sizeof *rest), before = INFINITY;
    if (!rest)
        return RG_OUT_OF_MEMORY;
    for (int round = 0; round < ROUNDS_MOST; round++) {
        if (!look_at_tree(p, rest))
            return RG_UNSUPPORTED;
        if (!(p->largest > 1) || !(p->largest <= GAIN * before))
            return RG_OK;
        before = p->largest;
        if (!rg_articulated_place(tree, p->content, p->bodies->seen, places, p->bodies->inertia))
            return RG_UNSUPPORTED;
        rg_articulated_solve(tree, rest, NULL);
        for (size_t i = 0; i < tree->count; i++)
            move_body(p, tree->nodes[i].body, rg_articulated_velocity(&tree->nodes[i]),
                      tree->nodes[i].spin, correction);
    }
    return RG_OK;
}

/* The rows of its joints, where they are now. */
static rg_status add_tree(const projection *p, rg_joint_set *set) {
    const rg_world_content *c = p->content;
    rg_body_places places = {p->bodies->position, p->bodies->orientation};
    rg_status status = rg_joint_set_make(c, p->tree->rows, p->arena, set);
    for (size_t j = 0; j < c->joints.count && !status; j++) {
        const rg_joint_look *look = rg_joint_last_look(p->bodies->seen, j);
        rg_joint_row row = {.joint = (uint32_t)j, .point = look->point};
        for (int side = 0; side < 2; side++) {
            row.body[side] = look->body[side];
            row.moves[side] = look->body[side] != UINT32_MAX && p->bodies->moved[look->body[side]];
        }
        rg_joint_set_add_locks(c, set, &row, look, places, true);
    }
    return status;
}

rg_status rg_joints_project(const rg_world_content *content, const rg_joints_bodies *bodies,
                            rg_solve_context *context, rg_arena *arena,
                            rg_joints_correction *correction, rg_joint_set *set, rg_error *error) {
    *correction = (rg_joints_correction){0};
    *set = (rg_joint_set){0};
    if (content->joints.count == 0)
        return RG_OK;
    projection p = {.content = content,
                    .bodies = bodies,
                    .context = context,
                    .arena = arena,
                    .loops = bodies->loops,
                    .sums = content->settings.contradictions == RG_NORM_ONE};
    p.chooses = !p.sums;
    double before = INFINITY;
    p.tree = tree_of(&p);
    if (p.tree) {
        rg_status status = close_tree(&p, correction);
        if (!status)
            status = add_tree(&p, set);
        if (status == RG_OUT_OF_MEMORY)
            return rg_fail(error, RG_OUT_OF_MEMORY, "no memory for joints");
        correction->open1 = p.open1;
        correction->error = p.error;
        if (!status)
            return RG_OK;
    }
    rg_vec3 *still = rg_arena_take(arena, content->bodies.count, sizeof *still);
    if (!still)
        return rg_fail(error, RG_OUT_OF_MEMORY, "no memory for joints");
    memset(still, 0, content->bodies.count * sizeof *still);
    for (int round = 0;; round++) {
        if (find_errors(&p, set))
            return rg_fail(error, RG_OUT_OF_MEMORY, "no memory for joints");
        if (!(p.largest > 1) || !(p.largest <= GAIN * before) || round == ROUNDS_MOST ||
            bodies->stay)
            break;
        before = p.largest;
        if (p.sums)
            bound_rows(&p, set);
        if (solve_all(&p, set, still, still, correction))
            return rg_fail(error, RG_OUT_OF_MEMORY, "no memory for joints");
    }
    correction->open1 = p.open1;
    correction->error = p.error;
    return RG_OK;
}

/* --- velocities ------------------------------------------------------------------------------- */

/* m/s, rad/s: of a row, as far as bodies that forces do not move cause it. */
static double prescribed(const projection *p, const rg_joint_row *row) {
    const rg_joints_bodies *b = p->bodies;
    double sum = 0;
    if (row->sum1[1])
        return row->link1 ? 0
                          : rg_tendon_prescribed(p->content, row->joint,
                                                 (rg_body_places){b->position, b->orientation},
                                                 b->velocity, b->angular_velocity);
    for (int side = 0; side < 2; side++) {
        uint32_t body = row->body[side];
        if (body == UINT32_MAX || row->moves[side])
            continue;
        rg_vec3 w = p->bodies->angular_velocity[body];
        rg_vec3 arm = rg_sub(row->point, p->bodies->position[body]);
        rg_vec3 v = row->along.turns ? w : rg_add(p->bodies->velocity[body], rg_cross(w, arm));
        sum += (side == 0 ? -1 : 1) * rg_dot(row->along.direction, v);
    }
    return sum;
}

static void push_row(const projection *p, const rg_joint_set *set, size_t i) {
    const rg_joints_bodies *b = p->bodies;
    for (size_t side = 0; side < 2; side++) {
        uint32_t body = set->rows[i].body[side];
        rg_vec3 linear, angular;
        if (!set->rows[i].moves[side])
            continue;
        rg_joint_push(set, i, side, p->content->planar, set->impulse[i], &linear, &angular);
        b->momentum[body] = rg_add(b->momentum[body], linear);
        b->angular_momentum[body] = rg_add(b->angular_momentum[body], angular);
    }
}

/* The rows from i on that belong to one joint; where the next begin. */
static size_t push_joint(const projection *p, const rg_joint_set *set, size_t i) {
    const rg_joints_bodies *b = p->bodies;
    const rg_joint_row *row = &set->rows[i];
    rg_joint_wrench w = rg_joint_wrench_of(set, i);
    for (int side = 0; side < 2; side++) {
        uint32_t body = row->body[side];
        if (row->moves[side])
            rg_joint_wrench_push(&w, side, rg_sub(row->point, b->position[body]),
                                 &b->momentum[body], &b->angular_momentum[body]);
    }
    return w.end;
}

/* Impulses of the rows into momenta and velocities. */
static void push_bodies(const projection *p, const rg_joint_set *set) {
    const rg_joints_bodies *b = p->bodies;
    const rg_world_content *c = p->content;
    memcpy(b->held, b->angular_momentum, c->bodies.count * sizeof *b->held);
    for (size_t i = 0; i < set->count;) {
        if (rg_joint_has_wrench(set, i))
            i = push_joint(p, set, i);
        else
            push_row(p, set, i++);
    }
    for (size_t i = 0; i < c->bodies.count; i++) {
        const rg_body_dynamics *d = &c->dynamics[i];
        if (!b->moved[i] || !c->record[i].first_joint1) {
            b->held[i] = (rg_vec3){0, 0, 0};
            continue;
        }
        if (b->inertia && b->inertia[i] > 0) {
            rg_vec3 torque = rg_sub(b->angular_momentum[i], b->held[i]);
            b->held[i] = rg_joints_held(c, i, b->orientation[i], b->inertia[i], torque);
            b->angular_momentum[i] = rg_sub(b->angular_momentum[i], b->held[i]);
        } else {
            b->held[i] = (rg_vec3){0, 0, 0};
        }
        rg_vec3 l = b->angular_momentum[i];
        b->velocity[i] = rg_scale(d->inverse_mass, b->momentum[i]);
        b->angular_velocity[i] =
            c->planar
                ? rg_vec3_make(0, d->inverse_inertia.y * l.y, 0)
                : rg_rotate(b->orientation[i],
                            rg_times(d->inverse_inertia, rg_rotate_back(b->orientation[i], l)));
    }
}

/* Locked; or a limit that pushed in the step, which gets the bounds of a second impulse. */
static bool is_held(const projection *p, rg_joint_row *row) {
    if (!isfinite(row->lower) && !isfinite(row->upper))
        return true;
    double pushed = p->bodies->joints[row->joint].impulse[row->place] / rg_joint_row_unit(row);
    size_t axis = (size_t)(row->place - RG_JOINT_LOCKED) / RG_JOINT_PARTS;
    if (pushed == 0 || p->content->joint[row->joint].def.axis[axis].restitution > 0)
        return false;
    *(isfinite(row->lower) ? &row->lower : &row->upper) = -pushed;
    return true;
}

/* The rows that hold stay, in their order. */
static bool keep_held(projection *p, rg_joint_set *set) {
    const rg_joints_bodies *bodies = p->bodies;
    size_t kept = 0, per = 2 * (size_t)set->freedom;
    bool moves = false;
    for (size_t i = 0; i < set->count; i++) {
        rg_joint_row *row = &set->rows[i];
        if (!is_held(p, row))
            continue;
        row->shift = prescribed(p, row);
        row->compliance *= RG_JOINT_GIVE / GIVE;
        moves = moves || row->shift != 0 ||
                rg_joint_velocity(set, i, p->content->planar, bodies->velocity,
                                  bodies->angular_velocity) != 0;
        if (kept < i) {
            set->rows[kept] = *row;
            memcpy(set->jacobian + kept * per, set->jacobian + i * per, per * sizeof(double));
        }
        kept++;
    }
    set->count = kept;
    return moves;
}

/* The impulses of locked rows of a tree that leave it without velocity; false: it is none. */
static bool hold_tree(projection *p, rg_joint_set *set) {
    const rg_joints_bodies *b = p->bodies;
    rg_articulated *tree = tree_of(p);
    rg_body_places places = {b->position, b->orientation};
    if (!tree || set->count != tree->rows)
        return false;
    double *rest = rg_arena_take(p->arena, set->count, sizeof *rest);
    if (!rest || !rg_articulated_place(tree, p->content, b->seen, places, b->inertia))
        return false;
    for (size_t i = 0; i < set->count; i++)
        if (is_limit(&set->rows[i]))
            return false;
    rg_joint_rates(set, b->position, b->velocity, b->angular_velocity, rest);
    bool moves = false;
    for (size_t i = 0; i < set->count; i++)
        moves = moves || rest[i] != 0;
    if (moves)
        rg_articulated_solve(tree, rest, set->impulse);
    set->count = moves ? set->count : 0;
    return true;
}

rg_status rg_joints_project_velocities(const rg_world_content *content,
                                       const rg_joints_bodies *bodies, rg_solve_context *context,
                                       rg_arena *arena, rg_joint_set *set, rg_error *error) {
    projection p = {.content = content, .bodies = bodies, .context = context, .arena = arena};
    memset(bodies->held, 0, content->bodies.count * sizeof *bodies->held);
    bool held = hold_tree(&p, set);
    if (!held)
        rg_joint_set_fill(content, set, bodies->position);
    if (!held && !keep_held(&p, set)) {
        set->count = 0;
        return RG_OK;
    }
    if (!held && solve_all(&p, set, bodies->velocity, bodies->angular_velocity, NULL))
        return rg_fail(error, RG_OUT_OF_MEMORY, "no memory for joints");
    for (size_t i = 0; i < set->count && !held; i++) /* solved to SOLVED: must not pull at all */
        if (is_limit(&set->rows[i]))
            set->impulse[i] = fmin(fmax(set->impulse[i], set->rows[i].lower), set->rows[i].upper);
    rg_joint_set_settle(set);
    push_bodies(&p, set);
    return RG_OK;
}
