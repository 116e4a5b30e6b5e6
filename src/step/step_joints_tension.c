/* Links under a heavy load swing across at a frequency w with w h > 2, which an explicit step makes
 * grow. Forces f of joints at arms r resist the turning of a body like a spring of stiffness
 * K = tr(S) - S, S the symmetric part of the sum of r f' (the geometric stiffness: M. Tournier,
 * M. Nesme, B. Gilles, F. Faure, "Stable constrained dynamics", ACM Trans. Graph. 34, 2015).
 * Inertia of h^2 K / 4 against changes of the velocity makes the step that of the trapezoidal rule,
 * which is stable for any K and loses nothing; it is added as far as the bodies' own does not do.
 * It acts from nowhere: what it takes from angular momentum is in the certificate. So it is kept
 * small:
 *
 *     the sum over the joints of a body counts, since two joints at one point of a light body hand
 *     a load through;
 *     a light body whose turning is locked to that of neighbours, such as the one between two
 *     hinges of an ankle, turns their inertia with its own. With spare inertias s_j of neighbours
 *     and projections P_j on the directions in which joint j locks turning, it needs none if
 *     sum s_j P_j >= h^2 K / 4 - I, because P_j w is the neighbour's, too.
 *
 * Tested by tests/step/test_joints_tension.c and test_joints.c. */
#include "base/base_eigen.h"
#include "step/step_joints.h"

/* Cosine to an arm from which an axis is along it: tension resists no turn about it. */
#define ALONG 0.9
/* Of a body's own inertia, what counts against the stiffness of tension: less than all of it, so
 * that the step stays clear of the limit of stability. */
#define OWN 0.9
/* Of what a body lacks: the spare inertia of neighbours that forces do not move. */
#define FIXED 1e3

typedef struct tension {
    rg_mat3 moment; /* N m: the sum of r f' */
    double across;  /* kg m^2: the least inertia that resists; infinity without joints */
    size_t joints;
    double lacking; /* kg m^2: what its own inertia is short of; negative: spare, for each joint */
    rg_mat3 locked; /* the sum of s_j P_j */
} tension;

/* The smallest of a body's principal inertias about axes that are across an arm. */
static double inertia_across(const rg_world_content *c, size_t body, rg_vec3 arm) {
    rg_vec3 own = c->dynamics[body].inertia;
    if (c->planar)
        return own.y;
    rg_vec3 local = rg_rotate_back(c->orientation[body], arm);
    double least = rg_max3(own.x, own.y, own.z), most = ALONG * ALONG * rg_dot(local, local);
    least = !(local.x * local.x > most) && own.x < least ? own.x : least;
    least = !(local.y * local.y > most) && own.y < least ? own.y : least;
    return !(local.z * local.z > most) && own.z < least ? own.z : least;
}

static double least_inertia(const rg_world_content *c, size_t body) {
    rg_vec3 own = c->dynamics[body].inertia;
    return c->planar ? own.y : rg_min3(own.x, own.y, own.z);
}

static double least_value(const rg_mat3 *symmetric) {
    rg_mat3 vectors;
    rg_vec3 values;
    rg_eigen_symmetric(symmetric, &values, &vectors);
    return rg_min3(values.x, values.y, values.z);
}

/* N m: the largest stiffness against turning, or a bound of it that is no more than `enough`. */
static double stiffness_of(const rg_mat3 *moment, bool planar, double enough) {
    double trace = moment->m[0][0] + moment->m[1][1] + moment->m[2][2], size = 0;
    if (planar) /* arms and forces are across the axis */
        return trace;
    rg_mat3 s;
    for (int i = 0; i < 9; i++) {
        s.m[i / 3][i % 3] = 0.5 * (moment->m[i / 3][i % 3] + moment->m[i % 3][i / 3]);
        size += s.m[i / 3][i % 3] * s.m[i / 3][i % 3];
    }
    double bound = trace + sqrt(size);
    return bound <= enough ? bound : trace - least_value(&s);
}

static void add_product(rg_mat3 *sum, double factor, rg_vec3 a, rg_vec3 b) {
    const double x[3] = {a.x, a.y, a.z}, y[3] = {b.x, b.y, b.z};
    for (int i = 0; i < 9; i++)
        sum->m[i / 3][i % 3] += factor * x[i / 3] * y[i % 3];
}

/* Whether every body's own inertia does: the stiffness is at most twice the sum of |r| |f|. */
static bool all_do(const rg_world_content *c, const rg_joint_set *set, double h, rg_arena *arena) {
    size_t n = c->bodies.count;
    double *most = rg_arena_take(arena, 2 * n, sizeof *most), *across = most + n;
    if (!most)
        return false;
    for (size_t i = 0; i < n; i++)
        most[i] = 0, across[i] = INFINITY;
    for (size_t k = 0; k < set->count; k++) {
        const rg_joint_row *row = &set->rows[k];
        if (row->link1 || (k > 0 && row[-1].joint == row->joint))
            continue;
        rg_vec3 force = rg_joint_memories(c)[row->joint].force;
        double square = rg_dot(force, force);
        for (int side = 0; side < 2; side++) {
            uint32_t body = row->body[side];
            if (!row->moves[side])
                continue;
            rg_vec3 arm = rg_sub(row->point, c->position[body]);
            double own = inertia_across(c, body, arm);
            most[body] += sqrt(square * rg_dot(arm, arm));
            across[body] = own < across[body] ? own : across[body];
        }
    }
    bool all = true;
    for (size_t i = 0; i < n; i++)
        all = all && 0.5 * h * h * most[i] <= OWN * across[i];
    return all;
}

static void add_tensions(const rg_world_content *c, const rg_joint_set *set, tension *sum) {
    for (size_t k = 0; k < set->count; k++) {
        const rg_joint_row *row = &set->rows[k];
        if (row->link1 || (k > 0 && set->rows[k - 1].joint == row->joint))
            continue; /* once for each joint */
        for (int side = 0; side < 2; side++) {
            if (!row->moves[side])
                continue;
            tension *own = &sum[row->body[side]];
            rg_vec3 arm = rg_sub(row->point, c->position[row->body[side]]);
            add_product(&own->moment, side == 0 ? -1 : 1, arm,
                        rg_joint_memories(c)[row->joint].force);
            double across = inertia_across(c, row->body[side], arm);
            own->across = across < own->across ? across : own->across;
            own->joints++;
        }
    }
}

/* What every body lacks or can spare; true: one of them lacks some. */
static bool compare(const rg_world_content *c, double h, tension *sum) {
    bool any = false;
    for (size_t i = 0; i < c->bodies.count; i++) {
        tension *own = &sum[i];
        if (own->joints == 0)
            continue;
        double share = 0.25 * h * h, enough = OWN * own->across / share;
        double needed = share * fmax(0, stiffness_of(&own->moment, c->planar, enough));
        own->lacking = needed - OWN * own->across;
        any = any || own->lacking > 0;
        if (own->lacking <= 0)
            own->lacking = fmin(0, needed - OWN * least_inertia(c, i)) / (double)own->joints;
    }
    return any;
}

/* What the other body of a locked row lends, in its direction. */
static void lend(const rg_joint_set *set, tension *sum) {
    for (size_t k = 0; k < set->count; k++)
        for (int side = 0; side < 2; side++) {
            const rg_joint_row *row = &set->rows[k];
            bool locked = row->along.turns && row->place < RG_JOINT_LOCKED;
            if (!locked || !row->moves[side] || !(sum[row->body[side]].lacking > 0))
                continue;
            tension *own = &sum[row->body[side]];
            double spare =
                row->moves[1 - side] ? -sum[row->body[1 - side]].lacking : FIXED * own->lacking;
            rg_vec3 axis = rg_scale(1 / rg_joint_row_unit(row), row->along.direction);
            if (spare > 0)
                add_product(&own->locked, spare, axis, axis);
        }
}

rg_status rg_joints_stiffen(const rg_world_content *c, const rg_joint_set *set, double h,
                            rg_arena *arena, double **inertia) {
    *inertia = NULL;
    size_t n = c->bodies.count;
    if (set->count == 0 || all_do(c, set, h, arena))
        return RG_OK;
    double *more = rg_arena_take(arena, n, sizeof *more);
    tension *sum = rg_arena_take(arena, n, sizeof *sum);
    if (!more || !sum)
        return RG_OUT_OF_MEMORY;
    for (size_t i = 0; i < n; i++)
        sum[i] = (tension){.across = INFINITY};
    add_tensions(c, set, sum);
    if (!compare(c, h, sum))
        return RG_OK;
    lend(set, sum);
    for (size_t i = 0; i < n; i++) {
        double lacking = fmax(0, sum[i].lacking);
        const rg_mat3 *locked = &sum[i].locked;
        if (lacking > 0 && (c->planar ? locked->m[1][1] : least_value(locked)) >= lacking)
            lacking = 0;
        more[i] = lacking;
        if (lacking > 0)
            *inertia = more;
    }
    return RG_OK;
}

rg_vec3 rg_joints_held(const rg_world_content *c, size_t body, rg_quat orientation, double a,
                       rg_vec3 torque) {
    rg_vec3 own = c->dynamics[body].inertia;
    if (c->planar)
        return rg_vec3_make(0, a / (own.y + a) * torque.y, 0);
    rg_vec3 share = {a / (own.x + a), a / (own.y + a), a / (own.z + a)};
    return rg_rotate(orientation, rg_times(share, rg_rotate_back(orientation, torque)));
}
