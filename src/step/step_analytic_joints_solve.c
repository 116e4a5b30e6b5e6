/* Joints in the analytic method: the factor of the rows that are held, and what is found with it:
 * their forces, the response of the mechanism to a contact, impulses at an impact, and the
 * projection of what drifts.
 *
 * Where rows may be redundant (loops; a motor and a brake of one axis) the diagonal is raised by
 * RG_JOINT_GIVE, and refinement takes back what that does to the rest; it also brings what is left
 * of the equations to rounding where masses differ by many powers of ten.
 *
 * Tested by tests/step/test_analytic_joints.c. */
#include "step/step_analytic_joints.h"

#include "problem/problem_joints.h"

#include <float.h>
#include <string.h>

enum { REFINEMENTS = 1, REFINEMENTS_OF_LOOPS = 2 };
/* Units of length of the joint: errors below are left, and what rounding of coordinates makes of
 * them. */
#define CLOSED    1e-13
#define ROUNDINGS 16.0
/* Rounds of Newton's method that close joints, and the share of an error that one must gain. */
enum { ROUNDS_MOST = 16 };
#define GAIN 0.5

/* --- the factor ------------------------------------------------------------------------------- */

static bool share_body(const rg_analysis_joint_row *r, const rg_analysis_joint_row *s) {
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2; k++)
            if (r->place[i] != UINT32_MAX && r->place[i] == s->place[k])
                return true;
    return false;
}

/* Blocks: the rows of a joint, six at most. */
static rg_status cut_blocks(rg_analysis *a, rg_analysis_joints *j, uint8_t **sizes) {
    j->block = rg_arena_take(a->arena, j->holdable + 1, sizeof *j->block);
    *sizes = rg_arena_take(a->arena, j->holdable, sizeof **sizes);
    if (!j->block || !*sizes)
        return RG_OUT_OF_MEMORY;
    for (size_t i = 0; i < j->holdable; i++) {
        bool same = i && j->rows[i].joint == j->rows[i - 1].joint &&
                    i - j->block[j->block_count - 1] < RG_SPARSE_BLOCK_MAX;
        if (!same)
            j->block[j->block_count++] = (uint32_t)i;
        (*sizes)[j->block_count - 1] = (uint8_t)(i + 1 - j->block[j->block_count - 1]);
    }
    j->block[j->block_count] = (uint32_t)j->holdable;
    return RG_OK;
}

/* Pairs of blocks that share a body that forces move, by lists of blocks of each body. */
static rg_status find_couplings(rg_analysis *a, rg_analysis_joints *j) {
    uint32_t *first = rg_arena_take(a->arena, a->flight.body_count, sizeof *first);
    uint32_t *next = rg_arena_take(a->arena, 2 * j->block_count, sizeof *next);
    size_t capacity = 0;
    if (!first || !next)
        return RG_OUT_OF_MEMORY;
    memset(first, 0xff, a->flight.body_count * sizeof *first);
    for (uint32_t i = 0; i < j->block_count; i++)
        for (uint32_t side = 0; side < 2; side++) {
            const rg_analysis_joint_row *row = &j->rows[j->block[i]];
            uint32_t place = row->place[side];
            if (place == UINT32_MAX)
                continue;
            next[2 * i + side] = first[place];
            first[place] = 2 * i + side;
            for (uint32_t k = first[place]; k != UINT32_MAX; k = next[k]) {
                /* blocks of the same two bodies meet at the first of them alone */
                const rg_analysis_joint_row *other = &j->rows[j->block[k / 2]];
                uint32_t before = row->place[0];
                if (side && before != UINT32_MAX &&
                    (other->place[0] == before || other->place[1] == before))
                    continue;
                if (!rg_arena_grow(a->arena, &j->couplings, j->coupling_count, &capacity,
                                   sizeof *j->couplings))
                    return RG_OUT_OF_MEMORY;
                j->couplings[j->coupling_count++] = (rg_joint_coupling){.i = i, .j = k / 2};
            }
        }
    return RG_OK;
}

rg_status rg_joints_analyse(rg_analysis *a, rg_analysis_joints *j) {
    uint8_t *sizes;
    j->rhs = rg_arena_take(a->arena, 3 * j->holdable, sizeof *j->rhs);
    if (!j->rhs)
        return RG_OUT_OF_MEMORY;
    j->x = j->rhs + j->holdable;
    j->rest = j->x + j->holdable;
    if (j->holdable == 0)
        return RG_OK;
    rg_status status = cut_blocks(a, j, &sizes);
    if (!status)
        status = find_couplings(a, j);
    uint32_t(*pairs)[2] = status ? NULL : rg_arena_take(a->arena, j->coupling_count, sizeof *pairs);
    if (!pairs)
        return RG_OUT_OF_MEMORY;
    for (size_t k = 0; k < j->coupling_count; k++)
        pairs[k][0] = j->couplings[k].i, pairs[k][1] = j->couplings[k].j;
    status = rg_sparse_create(a->arena, j->block_count, sizes, 0, pairs[0], j->coupling_count,
                              &j->factor);
    for (size_t k = 0; k < j->coupling_count && !status; k++)
        j->couplings[k].slot = rg_sparse_find(j->factor, j->couplings[k].i, j->couplings[k].j);
    return status;
}

static bool is_in(rg_joint_purpose purpose, const rg_analysis_joint_row *r) {
    switch (purpose) {
    case RG_JOINTS_PLACES:
        return r->role == RG_ROLE_LOCKED;
    case RG_JOINTS_IMPULSES:
        return r->role != RG_ROLE_BRAKE;
    default:
        return r->role != RG_ROLE_BRAKE || r->slips == 0;
    }
}

static double entry(const rg_analysis *a, size_t i, size_t k) {
    const rg_analysis_joint_row *r = &a->joints->rows[i], *s = &a->joints->rows[k];
    if (!r->held || !s->held)
        return i == k;
    double couple = share_body(r, s) ? rg_analysis_couple(a, &r->row, &s->row) : 0;
    return i == k ? couple * (1 + r->give) + r->compliance : couple;
}

static void factor(rg_analysis *a, rg_joint_purpose purpose) {
    rg_analysis_joints *j = a->joints;
    if (j->holdable == 0)
        return;
    for (size_t i = 0; i < j->holdable; i++)
        j->rows[i].held = is_in(purpose, &j->rows[i]);
    rg_sparse_clear(j->factor, false);
    for (size_t c = 0; c < j->coupling_count; c++) {
        double values[RG_SPARSE_BLOCK_MAX * RG_SPARSE_BLOCK_MAX];
        const rg_joint_coupling *k = &j->couplings[c];
        size_t rows = j->block[k->i + 1] - j->block[k->i],
               columns = j->block[k->j + 1] - j->block[k->j];
        for (size_t r = 0; r < rows; r++)
            for (size_t s = 0; s < columns; s++)
                values[r * columns + s] = entry(a, j->block[k->i] + r, j->block[k->j] + s);
        rg_sparse_add(j->factor, k->slot, values, false);
    }
    if (rg_sparse_factor_symmetric(j->factor, NULL, 0, NULL))
        a->trouble = (rg_analysis_trouble){.outcome = RG_SOLVE_SINGULAR,
                                           .contact = UINT32_MAX,
                                           .residual = INFINITY,
                                           .time = a->motion.time};
}

void rg_analysis_joints_factor(rg_analysis *a, rg_joint_purpose purpose) {
    if (!a->joints)
        return;
    rg_joints_look(a);
    factor(a, purpose);
}

/* --- motions of bodies ------------------------------------------------------------------------ */

/* Adds what x along a row does to motions of bodies; how a row moves when bodies move so. */
static void add_twist(const rg_analysis *a, const rg_analysis_row *row, double x,
                      rg_analysis_twist *twist) {
    rg_direction_add_twist(a->view->dynamics, a->place, row, x, twist);
}

static double twist_rate(const rg_analysis *a, const rg_analysis_joint_row *r,
                         const rg_analysis_twist *twist) {
    return rg_direction_twist_rate(a->view->dynamics, a->place, &r->row, twist);
}

/* Adds what x of all rows that are held does. */
static void add_held(const rg_analysis *a, rg_analysis_twist *twist) {
    const rg_analysis_joints *j = a->joints;
    for (size_t i = 0; i < j->holdable; i++)
        if (j->rows[i].held)
            add_twist(a, &j->rows[i].row, j->x[i], twist);
}

static void clear_twist(const rg_analysis *a, rg_analysis_twist *twist) {
    memset(twist, 0, a->flight.body_count * sizeof *twist);
}

/* x = K^-1 rhs, over the rows that the factor holds. */
static void solve(const rg_analysis *a) {
    const rg_analysis_joints *j = a->joints;
    if (j->holdable == 0)
        return;
    memcpy(j->x, j->rhs, j->holdable * sizeof *j->x);
    rg_sparse_solve(j->factor, j->x);
    for (int pass = 0; pass < (j->loops ? REFINEMENTS_OF_LOOPS : REFINEMENTS); pass++) {
        clear_twist(a, j->twist);
        add_held(a, j->twist);
        for (size_t i = 0; i < j->holdable; i++) {
            const rg_analysis_joint_row *r = &j->rows[i];
            j->rest[i] =
                !r->held ? 0 : j->rhs[i] - twist_rate(a, r, j->twist) - r->compliance * j->x[i];
        }
        rg_sparse_solve(j->factor, j->rest);
        for (size_t i = 0; i < j->holdable; i++)
            j->x[i] += j->rest[i];
    }
}

/* x that keeps held rows from following motions of bodies; *any: there are. */
static bool solve_against(const rg_analysis *a, const rg_analysis_twist *twist) {
    const rg_analysis_joints *j = a->joints;
    bool any = false;
    for (size_t i = 0; i < j->holdable; i++) {
        j->rhs[i] = j->rows[i].held ? -twist_rate(a, &j->rows[i], twist) : 0;
        any |= j->rhs[i] != 0;
    }
    if (any)
        solve(a);
    return any;
}

void rg_analysis_respond(const rg_analysis *a, rg_analysis_row *row) {
    const rg_analysis_joints *j = a->joints;
    if (!j || j->holdable == 0)
        return;
    rg_analysis_twist *twist = rg_arena_take(a->arena, a->flight.body_count, sizeof *twist);
    if (!twist)
        return; /* as if there were no joints: the judge will see */
    clear_twist(a, twist);
    add_twist(a, row, 1, twist);
    if (solve_against(a, twist))
        add_held(a, twist);
    row->response = twist;
}

/* --- forces ----------------------------------------------------------------------------------- */

static void add_accelerations(const rg_analysis *a, const rg_analysis_twist *twist,
                              rg_vec3 *acceleration, rg_vec3 *angular) {
    for (size_t k = 0; k < a->flight.body_count; k++) {
        uint32_t body = a->flight.body[k];
        acceleration[body] = rg_add(acceleration[body], twist[k].linear);
        angular[body] = rg_add(angular[body], twist[k].angular);
    }
}

/* Forces x of held rows into the rows; their accelerations into j->twist. */
static void take_forces(const rg_analysis *a) {
    rg_analysis_joints *j = a->joints;
    clear_twist(a, j->twist);
    add_held(a, j->twist);
    for (size_t i = 0; i < j->holdable; i++)
        if (j->rows[i].held)
            j->rows[i].force = j->rows[i].own + j->x[i];
}

void rg_analysis_joints_hold(rg_analysis *a) {
    rg_analysis_joints *j = a->joints;
    if (!j)
        return;
    const rg_analysis_motion *m = &a->motion;
    factor(a, RG_JOINTS_FORCES);
    for (size_t i = 0; i < j->holdable; i++) {
        const rg_analysis_row *row = &j->rows[i].row;
        double rate = rg_direction_rate(row, m->acceleration, m->angular_acceleration);
        j->rhs[i] = j->rows[i].held ? -(rate + j->rows[i].drift) : 0;
    }
    solve(a);
    take_forces(a);
    for (size_t i = 0; i < j->holdable; i++)
        j->rows[i].own = j->rows[i].force;
    add_accelerations(a, j->twist, m->acceleration, m->angular_acceleration);
}

void rg_analysis_joints_react(rg_analysis *a) {
    rg_analysis_joints *j = a->joints;
    if (!j)
        return;
    size_t n = a->view->world->content.bodies.count + 1;
    memcpy(j->acceleration, a->motion.acceleration, n * sizeof *j->acceleration);
    memcpy(j->angular_acceleration, a->motion.angular_acceleration,
           n * sizeof *j->angular_acceleration);
    for (size_t i = 0; i < j->holdable; i++)
        j->rows[i].force = j->rows[i].own;
    if (a->contact_count == 0)
        return;
    clear_twist(a, j->twist);
    for (size_t i = 0; i < a->contact_count; i++) {
        const rg_analysis_contact *c = &a->contacts[i];
        rg_analysis_row row = rg_analysis_force_row(a, c);
        add_twist(a, &row, 1, j->twist);
    }
    if (solve_against(a, j->twist)) {
        take_forces(a);
        add_accelerations(a, j->twist, j->acceleration, j->angular_acceleration);
    }
    /* Limits are no contacts to the judge. */
    clear_twist(a, j->twist);
    for (size_t i = 0; i < a->contact_count; i++) {
        const rg_analysis_contact *c = &a->contacts[i];
        rg_analysis_row row = rg_analysis_force_row(a, c);
        if (c->kind != RG_TOUCH_PARTS)
            add_twist(a, &row, 1, j->twist);
    }
    add_accelerations(a, j->twist, j->acceleration, j->angular_acceleration);
}

void rg_analysis_joints_push(rg_analysis *a, double *dydt) {
    rg_analysis_joints *j = a->joints;
    for (size_t i = 0; j && i < j->row_count; i++) {
        const rg_analysis_joint_row *r = &j->rows[i];
        if (r->force == 0)
            continue;
        rg_analysis_add_outside(a, &r->row, r->force, dydt + a->flight.size);
        if (r->role != RG_ROLE_SOFT && r->held) /* others have been there from the beginning */
            rg_analysis_push(a, dydt, &r->row, r->force);
    }
}

/* --- impulses and projections ----------------------------------------------------------------- */

/* Impulses x of held rows: into the momenta and the ledger. */
static void push_impulses(rg_analysis *a) {
    rg_analysis_joints *j = a->joints;
    for (size_t i = 0; i < j->holdable; i++) {
        if (!j->rows[i].held || j->x[i] == 0)
            continue;
        rg_analysis_push(a, a->y, &j->rows[i].row, j->x[i]);
        rg_analysis_add_outside(a, &j->rows[i].row, j->x[i], a->tally.outside);
    }
}

void rg_analysis_joints_strike(rg_analysis *a, const rg_analysis_row *rows, size_t count,
                               const double *impulse) {
    rg_analysis_joints *j = a->joints;
    if (!j)
        return;
    clear_twist(a, j->twist);
    for (size_t i = 0; i < count; i++)
        add_twist(a, &rows[i], impulse[i], j->twist);
    bool any = solve_against(a, j->twist);
    for (size_t i = 0; i < j->row_count; i++)
        j->rows[i].force = any && i < j->holdable && j->rows[i].held ? j->x[i] : 0;
}

bool rg_analysis_joints_give(const rg_analysis *a) {
    return a->joints && a->joints->loops;
}

double rg_analysis_joints_struck_work(rg_analysis *a) {
    const rg_analysis_joints *j = a->joints;
    double work = 0;
    if (!j)
        return 0;
    clear_twist(a, j->twist);
    for (size_t i = 0; i < j->holdable; i++)
        add_twist(a, &j->rows[i].row, j->rows[i].force, j->twist);
    for (size_t i = 0; i < j->holdable; i++) {
        const rg_analysis_joint_row *r = &j->rows[i];
        if (r->force == 0)
            continue;
        double change = twist_rate(a, r, j->twist) - j->rhs[i]; /* with what struck */
        double own = r->force * (rg_analysis_rate(&a->motion, &r->row) + 0.5 * change);
        *(r->role == RG_ROLE_MOTOR ? &a->tally.drive : &work) += own;
        a->tally.prescribed -= r->force * rg_analysis_prescribed_rate(a, &r->row);
    }
    return work;
}

void rg_analysis_joints_push_struck(rg_analysis *a) {
    rg_analysis_joints *j = a->joints;
    if (!j)
        return;
    for (size_t i = 0; i < j->holdable; i++)
        j->x[i] = j->rows[i].force;
    push_impulses(a);
}

void rg_analysis_joints_project_velocities(rg_analysis *a) {
    rg_analysis_joints *j = a->joints;
    if (!j || j->holdable == 0)
        return;
    rg_analysis_joints_factor(a, RG_JOINTS_FORCES);
    bool any = false;
    for (size_t i = 0; i < j->holdable; i++) {
        const rg_analysis_joint_row *r = &j->rows[i];
        bool wanted = r->held && r->role != RG_ROLE_ARMATURE;
        j->rhs[i] = wanted ? r->target - r->rate : 0;
        any |= j->rhs[i] != 0;
    }
    if (!any)
        return;
    solve(a);
    for (size_t i = 0; i < j->holdable; i++) {
        const rg_analysis_joint_row *r = &j->rows[i];
        double work = j->x[i] * (r->rate + 0.5 * (j->rhs[i] - r->compliance * j->x[i]));
        if (r->held && r->role == RG_ROLE_MOTOR)
            a->tally.drive += work;
        else if (r->held)
            a->tally.stabilisation += work;
        if (r->held && j->x[i] != 0)
            a->tally.prescribed -= j->x[i] * rg_analysis_prescribed_rate(a, &r->row);
    }
    push_impulses(a);
    rg_analysis_move_to(a);
}

/* Of what is locked; over what counts as closed. */
static double largest_error(const rg_analysis *a) {
    const rg_analysis_joints *j = a->joints;
    double largest = 0;
    for (size_t i = 0; i < j->holdable; i++) {
        const rg_analysis_joint_row *r = &j->rows[i];
        if (r->role != RG_ROLE_LOCKED)
            continue;
        double size = fmax(rg_largest_entry(a->motion.position[r->row.a]),
                           rg_largest_entry(a->motion.position[r->row.b]));
        double closed = fmax(CLOSED * r->length, ROUNDINGS * DBL_EPSILON * size);
        largest = fmax(largest, fabs(r->value) / closed);
    }
    return largest;
}

void rg_analysis_joints_project_places(rg_analysis *a) {
    rg_analysis_joints *j = a->joints;
    if (!j || j->holdable == 0)
        return;
    double last = INFINITY;
    for (int round = 0; round < ROUNDS_MOST; round++) {
        rg_joints_look(a);
        double error = largest_error(a);
        if (error <= 1 || (round && !(error <= GAIN * last)))
            return;
        last = error;
        factor(a, RG_JOINTS_PLACES);
        for (size_t i = 0; i < j->holdable; i++)
            j->rhs[i] = j->rows[i].held ? -j->rows[i].value : 0;
        solve(a);
        clear_twist(a, j->twist);
        add_held(a, j->twist);
        rg_analysis_displace(a, j->twist);
        rg_analysis_move_to(a);
    }
}
