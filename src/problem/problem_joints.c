/* Rows of joints. Along a direction d at a point p: d.(v_B(p) - v_A(p)), where both are velocities
 * of material at the same point, so that the impulse that the row stands for pushes A and B in one
 * line, and momentum and angular momentum balance exactly; about a direction: d.(w_B - w_A).
 * Tested by tests/step/test_joints.c. */
#include "problem/problem_joints.h"

#include "base/base_sets.h"
#include "problem/problem_directions.h"

#include <string.h>

rg_status rg_joint_set_make(const rg_world_content *c, size_t capacity, rg_arena *arena,
                            rg_joint_set *set) {
    size_t links = rg_tendon_links_most(c);
    capacity += links;
    *set = (rg_joint_set){.freedom = c->planar ? 3 : 6, .capacity = capacity};
    if (capacity == 0)
        return RG_OK;
    if (links && rg_tendon_links_make(c, links, arena, set))
        return RG_OUT_OF_MEMORY;
    set->rows = rg_arena_take(arena, capacity, sizeof *set->rows);
    set->jacobian = rg_arena_take(arena, capacity * 2 * (size_t)set->freedom, sizeof(double));
    set->impulse = rg_arena_take(arena, capacity, sizeof *set->impulse);
    return set->rows && set->jacobian && set->impulse ? RG_OK : RG_OUT_OF_MEMORY;
}

static void fill_side(bool planar, const rg_joint_direction *along, rg_vec3 arm, double sign,
                      double *out) {
    rg_vec3 d = along->direction, none = {0, 0, 0};
    if (along->turns)
        rg_direction_jacobian(planar, sign, none, d, out);
    else
        rg_direction_jacobian(planar, sign, d, rg_cross(arm, d), out);
}

/* A tendon's row is the sum of all coordinates that links have. */
static void fill_sum(rg_joint_set *set, size_t i) {
    double *out = set->jacobian + (i * 2 + 1) * (size_t)set->freedom;
    for (size_t k = set->count; k-- > 0 && set->rows[k].joint == set->rows[i].joint;)
        if (set->rows[k].link1 && set->rows[k].sum1[1] == set->rows[i].sum1[1])
            out[set->links[set->rows[k].link1 - 1].slot] = 1;
}

/* The same of both sides of a row in space, by far the most frequent. */
static inline void fill_in_space(const bool moves[2], const rg_joint_direction *along,
                                 const rg_vec3 arm[2], double *restrict out) {
    rg_vec3 d = along->direction, a = arm[0], b = arm[1];
    double first = moves[0] ? -1 : 0, second = moves[1] ? 1 : 0;
    if (along->turns) {
        out[0] = out[1] = out[2] = out[6] = out[7] = out[8] = 0;
        out[3] = first * d.x, out[4] = first * d.y, out[5] = first * d.z;
        out[9] = second * d.x, out[10] = second * d.y, out[11] = second * d.z;
        return;
    }
    out[0] = first * d.x, out[1] = first * d.y, out[2] = first * d.z;
    out[3] = d.y * a.z - d.z * a.y, out[4] = d.z * a.x - d.x * a.z, out[5] = d.x * a.y - d.y * a.x;
    out[6] = second * d.x, out[7] = second * d.y, out[8] = second * d.z;
    out[9] = b.y * d.z - b.z * d.y, out[10] = b.z * d.x - b.x * d.z;
    out[11] = b.x * d.y - b.y * d.x;
}

/* 0 of what does not move. */
static inline void find_arms(const rg_joint_row *row, const rg_vec3 *position, rg_vec3 arm[2]) {
    for (size_t side = 0; side < 2; side++)
        arm[side] =
            row->moves[side] ? rg_sub(row->point, position[row->body[side]]) : (rg_vec3){0, 0, 0};
}

static void fill_jacobian(const rg_world_content *c, rg_joint_set *set, size_t i,
                          const rg_vec3 *position) {
    const rg_joint_row *row = &set->rows[i];
    if (!c->planar && !row->sum1[1]) {
        rg_vec3 arm[2];
        find_arms(row, position, arm);
        fill_in_space(row->moves, &row->along, arm, set->jacobian + i * 12);
        return;
    }
    for (size_t side = 0; side < 2; side++) {
        double *out = set->jacobian + (i * 2 + side) * (size_t)set->freedom;
        rg_vec3 arm = {0, 0, 0};
        if (row->moves[side])
            arm = rg_sub(row->point, position[row->body[side]]);
        fill_side(c->planar, &row->along, arm, row->moves[side] ? side == 0 ? -1 : 1 : 0, out);
    }
    if (row->sum1[1])
        fill_sum(set, i);
}

rg_joint_row *rg_joint_set_add(const rg_world_content *c, rg_joint_set *set,
                               const rg_joint_row *shared, const rg_joint_direction *along,
                               rg_body_places places) {
    size_t i = set->count++;
    set->rows[i] = *shared;
    set->rows[i].along = *along;
    set->impulse[i] = 0;
    fill_jacobian(c, set, i, places.position);
    return &set->rows[i];
}

void rg_joint_set_add_locks(const rg_world_content *c, rg_joint_set *set,
                            const rg_joint_row *shared, const rg_joint_look *look,
                            rg_body_places places, bool bare) {
    size_t first = set->count;
    set->count += look->locked;
    set->bare = set->bare || bare;
    for (size_t k = 0; k < look->locked; k++) {
        rg_joint_row *row = &set->rows[first + k];
        *row = *shared;
        row->place = look->place[k];
        row->along = look->lock[k];
        row->lower = -INFINITY, row->upper = INFINITY;
        row->shift = look->lock[k].value;
        set->impulse[first + k] = 0;
    }
    rg_vec3 arm[2];
    if (!bare)
        find_arms(shared, places.position, arm);
    for (size_t k = 0; k < look->locked && !bare; k++) {
        if (c->planar)
            fill_jacobian(c, set, first + k, places.position);
        else
            fill_in_space(shared->moves, &look->lock[k], arm, set->jacobian + (first + k) * 12);
    }
}

void rg_joint_set_fill(const rg_world_content *c, rg_joint_set *set, const rg_vec3 *position) {
    for (size_t i = 0; i < set->count && set->bare; i++)
        if (set->rows[i].joint != RG_NO_JOINT && set->rows[i].place < RG_JOINT_LOCKED)
            fill_jacobian(c, set, i, position);
    set->bare = false;
}

double rg_joint_unit(const rg_world_content *c, const uint32_t body[2], const bool moves[2]) {
    double radius = 0;
    for (size_t side = 0; side < 2; side++)
        if (moves[side])
            radius = rg_max3(radius, c->dynamics[body[side]].gyration_radius, 0);
    return rg_length_unit(radius * radius);
}

void rg_joint_set_measure(rg_joint_set *set, size_t first, double unit) {
    size_t per = 2 * (size_t)set->freedom;
    for (size_t i = first; i < set->count; i++) {
        rg_joint_row *row = &set->rows[i];
        row->unit = unit;
        if (!row->along.turns || unit == 1)
            continue;
        row->along.direction = rg_scale(unit, row->along.direction);
        row->along.value *= unit;
        row->shift *= unit, row->surface *= unit, row->before *= unit;
        row->compliance *= unit * unit;
        row->lower /= unit, row->upper /= unit;
        set->impulse[i] /= unit;
        for (size_t k = 0; k < per && !(set->bare && row->place < RG_JOINT_LOCKED); k++)
            set->jacobian[i * per + k] *= unit;
    }
}

void rg_joint_set_turn(const rg_world_content *c, rg_joint_set *set, size_t i, rg_vec3 direction) {
    set->rows[i].along.direction = direction;
    fill_jacobian(c, set, i, c->position);
}

/* --- loops ------------------------------------------------------------------------------------ */

static bool holds(const rg_world_content *c, size_t joint) {
    const rg_joint_def *def = &c->joint[joint].def;
    bool may = def->kind == RG_JOINT_DISTANCE || def->kind == RG_JOINT_SURFACE ||
               def->kind == RG_JOINT_TENDON;
    return !rg_joint_is_off(c, joint) && (!may || def->axis[0].lower == def->axis[0].upper);
}

static uint32_t node_of(const rg_world_content *c, rg_body_id body) {
    size_t n = c->bodies.count, i = body.index1 ? rg_body_dense(c, body) : n;
    return (uint32_t)(i < n && c->dynamics[i].inverse_mass > 0 ? i : n);
}

/* All that a tendon of one length sums is one mechanism with loops. */
static void close_tendon(const rg_world_content *c, const rg_joint_def *def, uint32_t *parent,
                         uint8_t *closed) {
    const rg_joint_def *first = &c->joint[rg_joint_dense(c, def->part[0].joint)].def;
    uint32_t node = node_of(c, first->body_a);
    for (size_t k = 0; k < def->part_count; k++) {
        const rg_joint_def *part = &c->joint[rg_joint_dense(c, def->part[k].joint)].def;
        rg_sets_join(parent, node, node_of(c, part->body_a));
        rg_sets_join(parent, node, node_of(c, part->body_b));
    }
    closed[rg_sets_root(parent, node)] = 1;
}

rg_status rg_joint_loops(const rg_world_content *c, rg_arena *arena, uint8_t **loops) {
    size_t nodes = c->bodies.count + 1, joints = c->joints.count;
    uint32_t *parent = rg_arena_take(arena, nodes, sizeof *parent);
    uint8_t *closed = rg_arena_take(arena, nodes, sizeof *closed);
    *loops = rg_arena_take(arena, joints, sizeof **loops);
    if (!parent || !closed || !*loops)
        return RG_OUT_OF_MEMORY;
    rg_sets_start(parent, nodes);
    memset(closed, 0, nodes);
    memset(*loops, 0, joints);
    for (size_t j = 0; j < joints; j++) {
        uint32_t a = node_of(c, c->joint[j].def.body_a), b = node_of(c, c->joint[j].def.body_b);
        if (!holds(c, j))
            continue;
        if (c->joint[j].def.kind == RG_JOINT_TENDON) {
            close_tendon(c, &c->joint[j].def, parent, closed);
            continue;
        }
        a = rg_sets_root(parent, a), b = rg_sets_root(parent, b);
        bool loop = a == b || closed[a] || closed[b];
        rg_sets_join(parent, a, b);
        closed[a < b ? a : b] = loop;
    }
    for (size_t j = 0; j < joints; j++) {
        const rg_joint_def *def = &c->joint[j].def;
        if (def->kind == RG_JOINT_TENDON) /* its first joint is part of the same */
            def = &c->joint[rg_joint_dense(c, def->part[0].joint)].def;
        uint32_t a = node_of(c, def->body_a), b = node_of(c, def->body_b);
        (*loops)[j] = closed[rg_sets_root(parent, a)] || closed[rg_sets_root(parent, b)];
    }
    return RG_OK;
}

double rg_joint_mobility(const rg_world_content *c, const rg_joint_set *set, size_t i) {
    double sum = 0;
    size_t first, end;
    if (set->rows[i].sum1[1] && !set->rows[i].link1) {
        rg_joint_links_of(set, i, &first, &end);
        for (size_t k = first; k < end; k++)
            sum += rg_joint_mobility(c, set, k);
        return sum;
    }
    for (size_t side = 0; side < 2; side++) {
        const rg_joint_row *row = &set->rows[i];
        rg_vec3 linear, angular;
        if (!row->moves[side])
            continue;
        const rg_body_dynamics *d = &c->dynamics[row->body[side]];
        rg_joint_push(set, i, side, c->planar, 1, &linear, &angular);
        rg_vec3 local =
            c->planar ? angular : rg_rotate_back(c->orientation[row->body[side]], angular);
        sum += d->inverse_mass * rg_dot(linear, linear) +
               rg_dot(local, rg_times(d->inverse_inertia, local));
    }
    return sum;
}

double rg_joint_link_velocity(const rg_joint_set *set, size_t i, bool planar,
                              const rg_vec3 *velocity, const rg_vec3 *angular_velocity) {
    const rg_joint_row *row = &set->rows[i];
    double sum = 0;
    for (size_t side = 0; side < 2; side++) {
        if (!row->moves[side])
            continue;
        const double *j = rg_joint_jacobian(set, i, side);
        rg_vec3 v = velocity[row->body[side]], w = angular_velocity[row->body[side]];
        sum += planar ? j[0] * v.x + j[1] * v.z + j[2] * w.y
                      : j[0] * v.x + j[1] * v.y + j[2] * v.z + j[3] * w.x + j[4] * w.y + j[5] * w.z;
    }
    return sum;
}

double rg_joint_velocity(const rg_joint_set *set, size_t i, bool planar, const rg_vec3 *velocity,
                         const rg_vec3 *angular_velocity) {
    size_t first = i, end = i + 1;
    double sum = 0;
    if (set->rows[i].link1) /* the sum's coordinate has the same */
        return 0;
    if (set->rows[i].sum1[1])
        rg_joint_links_of(set, i, &first, &end);
    for (size_t k = first; k < end; k++)
        sum += rg_joint_link_velocity(set, k, planar, velocity, angular_velocity);
    return sum;
}

void rg_joint_rates(const rg_joint_set *set, const rg_vec3 *position, const rg_vec3 *velocity,
                    const rg_vec3 *angular_velocity, double *rates) {
    rg_vec3 apart = {0, 0, 0}, spin = {0, 0, 0};
    for (size_t i = 0; i < set->count; i++) {
        const rg_joint_row *row = &set->rows[i];
        if (i == 0 || row->joint != set->rows[i - 1].joint) {
            apart = spin = (rg_vec3){0, 0, 0};
            for (int side = 0; side < 2; side++) {
                uint32_t body = row->body[side];
                if (!row->moves[side])
                    continue;
                double sign = side == 0 ? -1 : 1;
                rg_vec3 w = angular_velocity[body], arm = rg_sub(row->point, position[body]);
                apart = rg_add_scaled(apart, sign, rg_add(velocity[body], rg_cross(w, arm)));
                spin = rg_add_scaled(spin, sign, w);
            }
        }
        rates[i] = rg_dot(row->along.direction, row->along.turns ? spin : apart);
    }
}
