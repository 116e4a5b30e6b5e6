/* The articulated-body method (R. Featherstone, "The calculation of robot dynamics using
 * articulated-body inertias", Int. J. Robotics Research 2(1), 1983) with impulses of the joints.
 *
 * A body and all that hangs on it resist the velocity u of the point of its joint, and w, by the
 * energy
 *
 *     1/2 u.P u + u.Q w + 1/2 w.R w + f.u + g.w,
 *
 * where f and g are what the joints behind it ask for. Of a body alone, whose centre is at -r from
 * the point and moves at u + C w, C = [r]x: P = m, Q = m C, R = I + m C' C. The joint sets u, and
 * s = D w of directions about that it locks (the rows of D). Whatever else w may be takes the least
 * energy. With R = L E L', Y = L^-1 Q', W = R^-1 Q', z = R^-1 g, G = D W and K = (D R^-1 D')^-1
 * that is
 *
 *     1/2 u.N u + (f - W' g).u + 1/2 (s + G u + D z).K (s + G u + D z),   N = P - Y' E^-1 Y,
 *
 * whose derivatives are the impulses of the joint, and which, with u and s of the parent, is added
 * to the parent's energy: all is found from the leaves to the roots and back. Three by three
 * matrices are all that is factored, where elimination row by row (solve_tree.c, which takes any
 * joint) factors the six by six mass of each body.
 *
 * How it fails: where R is singular to rounding, which solve_tree.c would find, too; others take
 * the joints then. Digits are lost where N is a small difference, as solve_tree.c loses them:
 * callers judge the answer, repeat it with what is left, or ask for what is small itself.
 * Tested by tests/step/test_articulated.c. */
#include "step/step_articulated.h"

#include "base/base_math.h"
#include "base/base_small.h"
#include "problem/problem_joints.h"
#include "step/step_joints.h"

#include <string.h>

/* Of its diagonal entry: a pivot below has lost its digits. */
#define DEPENDENT 1e-12

/* --- the tree --------------------------------------------------------------------------------- */

static uint32_t turns_of(rg_joint_kind kind) {
    switch (kind) {
    case RG_JOINT_BALL:
        return 0;
    case RG_JOINT_UNIVERSAL:
        return 1;
    case RG_JOINT_HINGE:
        return 2;
    case RG_JOINT_FIXED:
        return 3;
    default:
        return RG_NO_NODE;
    }
}

/* Dense; RG_NO_NODE: forces do not move it. */
static uint32_t mover(const rg_world_content *c, rg_body_id id) {
    size_t body = id.index1 ? rg_body_dense(c, id) : 0;
    return id.index1 && c->dynamics[body].inverse_mass > 0 ? (uint32_t)body : RG_NO_NODE;
}

static bool is_ours(const rg_world_content *c, const uint8_t *loops) {
    if (c->planar || c->joints.count == 0 || c->prescription_count > 0)
        return false;
    for (size_t j = 0; j < c->joints.count; j++)
        if (turns_of(c->joint[j].def.kind) == RG_NO_NODE || loops[j] ||
            (mover(c, c->joint[j].def.body_a) == RG_NO_NODE &&
             mover(c, c->joint[j].def.body_b) == RG_NO_NODE))
            return false;
    return true;
}

/* Work of finding a tree: the joints of each body, and its node. */
typedef struct search {
    uint32_t *starts, *joints, *node, *row;
    rg_articulated_lock *lock; /* those that are not taken yet */
} search;

static bool take_memory(const rg_world_content *c, rg_arena *arena, search *s, rg_articulated *t) {
    size_t bodies = c->bodies.count, joints = c->joints.count;
    s->starts = rg_arena_take(arena, bodies + 1, sizeof *s->starts);
    s->joints = rg_arena_take(arena, 2 * joints, sizeof *s->joints);
    s->node = rg_arena_take(arena, bodies, sizeof *s->node);
    s->row = rg_arena_take(arena, joints, sizeof *s->row);
    t->nodes = rg_arena_take(arena, 2 * joints, sizeof *t->nodes);
    s->lock = rg_arena_take(arena, joints, sizeof *s->lock);
    return s->starts && s->joints && s->node && s->row && s->lock && t->nodes;
}

static void list_joints(const rg_world_content *c, search *s, rg_articulated *t) {
    size_t bodies = c->bodies.count;
    memset(s->starts, 0, (bodies + 1) * sizeof *s->starts);
    memset(s->node, 0xff, bodies * sizeof *s->node);
    for (int pass = 0; pass < 2; pass++) {
        for (size_t k = 0; k < 2 * c->joints.count; k++) {
            const rg_joint_def *def = &c->joint[k / 2].def;
            uint32_t body = mover(c, k % 2 ? def->body_b : def->body_a);
            if (body != RG_NO_NODE && pass == 0)
                s->starts[body + 1]++;
            else if (body != RG_NO_NODE)
                s->joints[s->starts[body]++] = (uint32_t)(k / 2);
        }
        for (size_t b = 0; b < bodies && pass == 0; b++)
            s->starts[b + 1] += s->starts[b];
    }
    for (size_t b = bodies; b > 0; b--)
        s->starts[b] = s->starts[b - 1];
    s->starts[0] = 0;
    for (size_t j = 0; j < c->joints.count; j++) {
        s->row[j] = (uint32_t)t->rows;
        t->rows += 3 + turns_of(c->joint[j].def.kind);
    }
}

static void add_node(const rg_world_content *c, search *s, rg_articulated *t, uint32_t body,
                     uint32_t parent, uint32_t joint) {
    rg_articulated_node *n = &t->nodes[t->count];
    memset(n, 0, sizeof *n);
    n->body = body, n->parent = parent, n->joint = joint;
    if (joint != RG_NO_NODE) {
        const rg_joint_def *def = &c->joint[joint].def;
        n->row = s->row[joint];
        n->turns = turns_of(def->kind);
        n->first = mover(c, def->body_a) == body;
        n->lock = n->turns ? s->lock++ : NULL;
    }
    s->node[body] = (uint32_t)t->count++;
}

/* All that hangs on the nodes from `next` on. */
static void spread(const rg_world_content *c, search *s, rg_articulated *t, size_t next) {
    for (; next < t->count; next++) {
        uint32_t body = t->nodes[next].body;
        for (uint32_t k = s->starts[body]; k < s->starts[body + 1]; k++) {
            const rg_joint_def *def = &c->joint[s->joints[k]].def;
            uint32_t a = mover(c, def->body_a), b = mover(c, def->body_b);
            uint32_t other = a == body ? b : a;
            if (other != RG_NO_NODE && s->node[other] == RG_NO_NODE)
                add_node(c, s, t, other, (uint32_t)next, s->joints[k]);
        }
    }
}

rg_status rg_articulated_find(const rg_world_content *c, const uint8_t *loops, rg_arena *arena,
                              rg_articulated *t) {
    search s;
    *t = (rg_articulated){.joints = c->joints.count};
    if (!is_ours(c, loops))
        return RG_OK;
    if (!take_memory(c, arena, &s, t))
        return RG_OUT_OF_MEMORY;
    list_joints(c, &s, t);
    for (uint32_t j = 0; j < c->joints.count; j++) { /* joined with what does not move */
        uint32_t a = mover(c, c->joint[j].def.body_a), b = mover(c, c->joint[j].def.body_b);
        if (a == RG_NO_NODE || b == RG_NO_NODE)
            add_node(c, &s, t, a == RG_NO_NODE ? b : a, RG_NO_NODE, j);
    }
    spread(c, &s, t, 0);
    for (uint32_t body = 0; body < c->bodies.count; body++) {
        size_t next = t->count;
        if (s.node[body] != RG_NO_NODE || s.starts[body] == s.starts[body + 1])
            continue;
        add_node(c, &s, t, body, RG_NO_NODE, RG_NO_NODE);
        spread(c, &s, t, next);
    }
    t->roots = rg_arena_take(arena, 36 * t->count, sizeof *t->roots);
    return t->roots ? RG_OK : RG_OUT_OF_MEMORY;
}

bool rg_articulated_takes(const rg_articulated *t, const rg_world_content *c,
                          const uint8_t *moved) {
    if (t->count == 0)
        return false;
    for (size_t j = 0; j < t->joints; j++)
        if (rg_joint_memories(c)[j].broken != 0)
            return false;
    for (size_t i = 0; i < t->count && moved; i++)
        if (!moved[t->nodes[i].body])
            return false;
    return true;
}

/* --- factor ----------------------------------------------------------------------------------- */

static inline rg_vec3 row_of(const rg_mat3 *a, int i) {
    return rg_vec3_make(a->m[i][0], a->m[i][1], a->m[i][2]);
}

static inline rg_vec3 column_of(const rg_mat3 *a, int j) {
    return rg_vec3_make(a->m[0][j], a->m[1][j], a->m[2][j]);
}

static inline void add_row(rg_mat3 *a, int i, rg_vec3 v) {
    a->m[i][0] += v.x, a->m[i][1] += v.y, a->m[i][2] += v.z;
}

static inline rg_vec3 apply(const rg_symmetric *a, rg_vec3 v) {
    return rg_vec3_make(a->xx * v.x + a->yx * v.y + a->zx * v.z,
                        a->yx * v.x + a->yy * v.y + a->zy * v.z,
                        a->zx * v.x + a->zy * v.y + a->zz * v.z);
}

static inline rg_vec3 apply_transposed(const rg_mat3 *a, rg_vec3 v) {
    return rg_vec3_make(a->m[0][0] * v.x + a->m[1][0] * v.y + a->m[2][0] * v.z,
                        a->m[0][1] * v.x + a->m[1][1] * v.y + a->m[2][1] * v.z,
                        a->m[0][2] * v.x + a->m[1][2] * v.y + a->m[2][2] * v.z);
}

/* L^-1 x; that over E; L'^-1 x. */
static inline rg_vec3 go_forward(const rg_articulated_node *n, rg_vec3 x) {
    double y = x.y - n->lower[0] * x.x;
    return rg_vec3_make(x.x, y, x.z - n->lower[1] * x.x - n->lower[2] * y);
}

static inline rg_vec3 over_pivots(const rg_articulated_node *n, rg_vec3 x) {
    return rg_vec3_make(x.x * n->inverse[0], x.y * n->inverse[1], x.z * n->inverse[2]);
}

static inline rg_vec3 go_back(const rg_articulated_node *n, rg_vec3 x) {
    double b = x.y - n->lower[2] * x.z;
    return rg_vec3_make(x.x - n->lower[0] * b - n->lower[1] * x.z, b, x.z);
}

static inline rg_vec3 solve_turning(const rg_articulated_node *n, rg_vec3 x) {
    return go_back(n, over_pivots(n, go_forward(n, x)));
}

static inline bool is_pivot(double pivot, double diagonal) {
    return pivot > DEPENDENT * diagonal && pivot <= DBL_MAX;
}

/* R = L E L'. */
static inline bool factor_turning(rg_articulated_node *n) {
    const rg_symmetric *r = &n->r;
    double first = 1 / r->xx, l10 = r->yx * first, l20 = r->zx * first;
    double d1 = r->yy - l10 * r->yx, m21 = r->zy - l20 * r->yx, second = 1 / d1;
    double l21 = m21 * second, d2 = r->zz - l20 * r->zx - l21 * m21;
    n->lower[0] = l10, n->lower[1] = l20, n->lower[2] = l21;
    n->inverse[0] = first, n->inverse[1] = second, n->inverse[2] = 1 / d2;
    return is_pivot(r->xx, 0) && is_pivot(d1, r->yy) && is_pivot(d2, r->zz);
}

/* N and W. */
static inline void find_held(rg_articulated_node *n) {
    rg_vec3 y[3], over[3];
    for (int i = 0; i < 3; i++) {
        y[i] = go_forward(n, row_of(&n->q, i));
        over[i] = over_pivots(n, y[i]);
        rg_vec3 w = go_back(n, over[i]);
        n->swing.m[0][i] = w.x, n->swing.m[1][i] = w.y, n->swing.m[2][i] = w.z;
    }
    n->held = (rg_symmetric){n->p.xx - rg_dot(y[0], over[0]), n->p.yx - rg_dot(y[1], over[0]),
                             n->p.yy - rg_dot(y[1], over[1]), n->p.zx - rg_dot(y[2], over[0]),
                             n->p.zy - rg_dot(y[2], over[1]), n->p.zz - rg_dot(y[2], over[2])};
}

/* G and K of the directions about. */
static bool find_stiff(rg_articulated_node *n) {
    size_t count = n->turns;
    double k[9], l[9], inverse[9];
    for (size_t i = 0; i < count; i++) {
        n->lock->lean[i] = solve_turning(n, n->lock->about[i]);
        n->lock->bend[i] = apply_transposed(&n->swing, n->lock->about[i]);
    }
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++)
            k[i * count + j] = rg_dot(n->lock->about[i], n->lock->lean[j]);
    if (!rg_small_factor(k, count, DEPENDENT, l))
        return false;
    rg_small_inverse(l, count, inverse);
    memset(&n->lock->stiff, 0, sizeof n->lock->stiff);
    for (size_t i = 0; i < count * count; i++)
        n->lock->stiff.m[i / count][i % count] = inverse[i];
    return true;
}

/* The lower triangle of a b'. */
static inline void add_product(rg_symmetric *sum, rg_vec3 a, rg_vec3 b) {
    sum->xx += a.x * b.x, sum->yx += a.y * b.x, sum->yy += a.y * b.y;
    sum->zx += a.z * b.x, sum->zy += a.z * b.y, sum->zz += a.z * b.z;
}

/* What a joint about whose directions K resists adds to the parent: G' K G to N, G' K D to `mixed`,
 * D' K D to the angular mass. */
static void add_stiff(const rg_articulated_node *n, rg_symmetric *held, rg_mat3 *mixed,
                      rg_symmetric *r) {
    memset(mixed, 0, sizeof *mixed);
    for (int k = 0; k < (int)n->turns; k++) {
        rg_vec3 bend = {0, 0, 0}, about = {0, 0, 0};
        for (int l = 0; l < (int)n->turns; l++) {
            bend = rg_add_scaled(bend, n->lock->stiff.m[k][l], n->lock->bend[l]);
            about = rg_add_scaled(about, n->lock->stiff.m[k][l], n->lock->about[l]);
        }
        add_product(held, n->lock->bend[k], bend);
        add_product(r, n->lock->about[k], about);
        add_row(mixed, 0, rg_scale(n->lock->bend[k].x, about));
        add_row(mixed, 1, rg_scale(n->lock->bend[k].y, about));
        add_row(mixed, 2, rg_scale(n->lock->bend[k].z, about));
    }
}

/* The velocity of its point is that of the parent's and w x span. */
static inline void add_to_parent(const rg_articulated_node *n, rg_articulated_node *parent) {
    rg_symmetric held = n->held, *p = &parent->p, *r = &parent->r;
    rg_mat3 mixed;
    rg_vec3 d = n->span;
    if (n->turns)
        add_stiff(n, &held, &mixed, r);
    rg_vec3 sum[3] = {rg_cross(d, rg_vec3_make(held.xx, held.yx, held.zx)),
                      rg_cross(d, rg_vec3_make(held.yx, held.yy, held.zy)),
                      rg_cross(d, rg_vec3_make(held.zx, held.zy, held.zz))};
    for (int i = 0; i < 3 && n->turns; i++) {
        rg_vec3 column = rg_cross(d, column_of(&mixed, i)); /* row i of the product with [d]x' */
        sum[i] = rg_add(sum[i], row_of(&mixed, i));
        r->xx += i == 0 ? column.x : 0, r->yx += i == 1 ? column.x : 0;
        r->yy += i == 1 ? column.y : 0, r->zx += i == 2 ? column.x : 0;
        r->zy += i == 2 ? column.y : 0, r->zz += i == 2 ? column.z : 0;
    }
    p->xx += held.xx, p->yx += held.yx, p->yy += held.yy;
    p->zx += held.zx, p->zy += held.zy, p->zz += held.zz;
    add_row(&parent->q, 0, sum[0]), add_row(&parent->q, 1, sum[1]);
    add_row(&parent->q, 2, sum[2]);
    r->xx += d.y * sum[2].x - d.z * sum[1].x, r->yx += d.z * sum[0].x - d.x * sum[2].x;
    r->zx += d.x * sum[1].x - d.y * sum[0].x, r->yy += d.z * sum[0].y - d.x * sum[2].y;
    r->zy += d.x * sum[1].y - d.y * sum[0].y, r->zz += d.x * sum[1].z - d.y * sum[0].z;
}

/* The mass of a root that no joint holds. */
static bool factor_root(const rg_articulated_node *n, double *l) {
    const rg_symmetric *p = &n->p, *r = &n->r;
    const rg_mat3 *q = &n->q;
    const double mass[36] = {
        p->xx,      0,          0,          0,     0,     0, /**/
        p->yx,      p->yy,      0,          0,     0,     0, /**/
        p->zx,      p->zy,      p->zz,      0,     0,     0, /**/
        q->m[0][0], q->m[1][0], q->m[2][0], r->xx, 0,     0, /**/
        q->m[0][1], q->m[1][1], q->m[2][1], r->yx, r->yy, 0, /**/
        q->m[0][2], q->m[1][2], q->m[2][2], r->zx, r->zy, r->zz,
    };
    return rg_small_factor(mass, 6, DEPENDENT, l);
}

static bool factor_all(rg_articulated *t) {
    for (size_t i = t->count; i-- > 0;) {
        rg_articulated_node *n = &t->nodes[i];
        if (n->joint == RG_NO_NODE) {
            if (!factor_root(n, t->roots + 36 * i))
                return false;
            continue;
        }
        if (!factor_turning(n))
            return false;
        find_held(n);
        if (n->turns && !find_stiff(n))
            return false;
        if (n->parent != RG_NO_NODE)
            add_to_parent(n, &t->nodes[n->parent]);
    }
    return true;
}

/* --- places ----------------------------------------------------------------------------------- */

static bool is_there(const rg_articulated *t, rg_body_places at, const double *inertia) {
    for (size_t i = 0; i < t->count; i++) {
        const rg_articulated_node *n = &t->nodes[i];
        if (!rg_same_bits(&n->position, &at.position[n->body], 3) ||
            !rg_same_bits(&n->orientation, &at.orientation[n->body], 4) ||
            n->inertia != (inertia ? inertia[n->body] : 0))
            return false;
    }
    return true;
}

/* The body by itself, about its point. */
static inline void put_mass(rg_articulated_node *n, const rg_body_dynamics *d) {
    rg_mat3 turn = rg_mat3_of_quat(n->orientation);
    rg_vec3 x = row_of(&turn, 0), y = row_of(&turn, 1), z = row_of(&turn, 2), a = n->arm;
    rg_vec3 ix = rg_times(x, d->inertia), iy = rg_times(y, d->inertia),
            iz = rg_times(z, d->inertia), ma = rg_scale(d->mass, a);
    double xx = ma.x * a.x, yy = ma.y * a.y, zz = ma.z * a.z;
    n->p = (rg_symmetric){d->mass, 0, d->mass, 0, 0, d->mass};
    n->q = (rg_mat3){{{0, -ma.z, ma.y}, {ma.z, 0, -ma.x}, {-ma.y, ma.x, 0}}};
    n->r = (rg_symmetric){rg_dot(ix, x) + n->inertia + (yy + zz),
                          rg_dot(iy, x) - ma.y * a.x,
                          rg_dot(iy, y) + n->inertia + (xx + zz),
                          rg_dot(iz, x) - ma.z * a.x,
                          rg_dot(iz, y) - ma.z * a.y,
                          rg_dot(iz, z) + n->inertia + (xx + yy)};
}

/* Its joint, where the body is now. */
static inline void put_joint(rg_articulated *t, rg_articulated_node *n, const rg_joint_look *look) {
    for (size_t k = 0; k < 3; k++)
        n->along[k] = look->lock[k].direction;
    for (size_t k = 0; k < n->turns; k++)
        n->lock->about[k] = look->lock[3 + k].direction;
    n->point = look->point;
    n->arm = rg_sub(look->point, n->position);
    if (n->parent != RG_NO_NODE)
        n->span = rg_sub(look->point, t->nodes[n->parent].point);
}

bool rg_articulated_place(rg_articulated *t, const rg_world_content *c, const rg_joints_seen *seen,
                          rg_body_places at, const double *inertia) {
    if (t->factored && is_there(t, at, inertia))
        return t->regular;
    for (size_t i = 0; i < t->count; i++) {
        rg_articulated_node *n = &t->nodes[i];
        n->position = at.position[n->body];
        n->orientation = at.orientation[n->body];
        n->inertia = inertia ? inertia[n->body] : 0;
        if (n->joint == RG_NO_NODE) {
            n->point = n->position;
        } else {
            put_joint(t, n, rg_joint_last_look(seen, n->joint));
        }
        put_mass(n, &c->dynamics[n->body]);
    }
    t->regular = factor_all(t);
    t->factored = true;
    return t->regular;
}

/* --- solve ------------------------------------------------------------------------------------ */

/* Along the locked directions about: s0, and what K of it adds to the force at the point. */
static void lock_turns(rg_articulated_node *n, const double *rest, double sign,
                       rg_articulated_node *parent) {
    double s[3];
    for (size_t k = 0; k < n->turns; k++)
        s[k] = sign * rest[3 + k] + rg_dot(n->lock->bend[k], n->apart) +
               rg_dot(n->lock->about[k], n->loose);
    for (size_t k = n->turns; k < 3; k++)
        s[k] = 0;
    n->lock->twist = rg_vec3_make(s[0], s[1], s[2]);
    for (size_t k = 0; k < n->turns; k++) {
        double torque = rg_dot(row_of(&n->lock->stiff, (int)k), n->lock->twist);
        n->rest = rg_add_scaled(n->rest, torque, n->lock->bend[k]);
        if (parent)
            parent->torque = rg_add_scaled(parent->torque, torque, n->lock->about[k]);
    }
}

static inline void go_up(rg_articulated_node *n, const double *rest, rg_articulated_node *parent) {
    double sign = n->first ? 1 : -1;
    rg_vec3 apart = rg_scale(sign * rest[0], n->along[0]);
    apart = rg_add_scaled(apart, sign * rest[1], n->along[1]);
    n->apart = rg_add_scaled(apart, sign * rest[2], n->along[2]);
    n->loose = solve_turning(n, n->torque);
    n->rest =
        rg_add(rg_sub(n->force, apply_transposed(&n->swing, n->torque)), apply(&n->held, n->apart));
    if (n->turns)
        lock_turns(n, rest, sign, parent);
    if (!parent)
        return;
    parent->force = rg_add(parent->force, n->rest);
    parent->torque = rg_add(parent->torque, rg_cross(n->span, n->rest));
}

/* The same of locked directions about: their impulses, and what they change. */
static void turn_down(rg_articulated_node *n, const rg_articulated_node *parent, rg_vec3 above,
                      double sign, double *impulse, rg_vec3 *pull) {
    double more[3] = {0, 0, 0};
    for (size_t k = 0; k < n->turns && parent; k++)
        more[k] = rg_dot(n->lock->about[k], parent->spin) + rg_dot(n->lock->bend[k], above);
    rg_vec3 grown = rg_vec3_make(more[0], more[1], more[2]), s = rg_add(n->lock->twist, grown);
    for (size_t k = 0; k < n->turns; k++) {
        double torque = rg_dot(row_of(&n->lock->stiff, (int)k), s);
        n->spin = rg_add_scaled(n->spin, torque, n->lock->lean[k]);
        *pull =
            rg_add_scaled(*pull, rg_dot(row_of(&n->lock->stiff, (int)k), grown), n->lock->bend[k]);
        if (impulse)
            impulse[3 + k] = sign * torque;
    }
}

/* Velocities of a body from those of its parent, and the impulses of their joint. */
static inline void go_down(rg_articulated_node *n, const rg_articulated_node *parent,
                           double *impulse) {
    double sign = n->first ? -1 : 1;
    rg_vec3 above = {0, 0, 0}, pull = n->rest;
    if (parent) {
        above = rg_add(parent->velocity, rg_cross(parent->spin, n->span));
        pull = rg_add(pull, apply(&n->held, above));
    }
    n->velocity = rg_add(above, n->apart);
    n->spin = rg_neg(rg_add(rg_mat3_apply(&n->swing, n->velocity), n->loose));
    if (n->turns)
        turn_down(n, parent, above, sign, impulse, &pull);
    for (size_t k = 0; k < 3 && impulse; k++)
        impulse[k] = sign * rg_dot(n->along[k], pull);
}

static void go_free(rg_articulated_node *n, const double *l) {
    double x[6] = {-n->force.x, -n->force.y, -n->force.z, -n->torque.x, -n->torque.y, -n->torque.z};
    rg_small_lower(l, 6, x);
    rg_small_upper(l, 6, x);
    n->velocity = rg_vec3_make(x[0], x[1], x[2]);
    n->spin = rg_vec3_make(x[3], x[4], x[5]);
}

void rg_articulated_solve(rg_articulated *t, const double *rest, double *impulse) {
    for (size_t i = 0; i < t->count; i++)
        t->nodes[i].force = t->nodes[i].torque = (rg_vec3){0, 0, 0};
    for (size_t i = t->count; i-- > 0;) {
        rg_articulated_node *n = &t->nodes[i];
        if (n->joint != RG_NO_NODE)
            go_up(n, rest + n->row, n->parent == RG_NO_NODE ? NULL : &t->nodes[n->parent]);
    }
    for (size_t i = 0; i < t->count; i++) {
        rg_articulated_node *n = &t->nodes[i];
        if (n->joint == RG_NO_NODE)
            go_free(n, t->roots + 36 * i);
        else
            go_down(n, n->parent == RG_NO_NODE ? NULL : &t->nodes[n->parent],
                    impulse ? impulse + n->row : NULL);
    }
}
