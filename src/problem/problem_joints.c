/* Rows of joints. Along a direction d at a point p: d.(v_B(p) - v_A(p)), where both are velocities
 * of material at the same point, so that the impulse that the row stands for pushes A and B in one
 * line, and momentum and angular momentum balance exactly; about a direction: d.(w_B - w_A).
 * Tested by tests/step/test_joints.c. */
#include "problem/problem_joints.h"

rg_status rg_joint_set_make(const rg_world_content *c, size_t capacity, rg_arena *arena,
                            rg_joint_set *set) {
    *set = (rg_joint_set){.freedom = c->planar ? 3 : 6, .capacity = capacity};
    if (capacity == 0)
        return RG_OK;
    set->rows = rg_arena_take(arena, capacity, sizeof *set->rows);
    set->jacobian = rg_arena_take(arena, capacity * 2 * (size_t)set->freedom, sizeof(double));
    set->impulse = rg_arena_take(arena, capacity, sizeof *set->impulse);
    return set->rows && set->jacobian && set->impulse ? RG_OK : RG_OUT_OF_MEMORY;
}

static void fill_side(bool planar, const rg_joint_direction *along, rg_vec3 arm, double sign,
                      double *out) {
    rg_vec3 d = along->direction, linear = {0, 0, 0}, angular = d;
    if (!along->turns)
        linear = d, angular = rg_cross(arm, d);
    if (planar) {
        out[0] = sign * linear.x, out[1] = sign * linear.z, out[2] = sign * angular.y;
        return;
    }
    out[0] = sign * linear.x, out[1] = sign * linear.y, out[2] = sign * linear.z;
    out[3] = sign * angular.x, out[4] = sign * angular.y, out[5] = sign * angular.z;
}

rg_joint_row *rg_joint_set_add(const rg_world_content *c, rg_joint_set *set,
                               const rg_joint_row *row, rg_body_places places) {
    size_t i = set->count++;
    set->rows[i] = *row;
    set->impulse[i] = 0;
    for (size_t side = 0; side < 2; side++) {
        double *out = set->jacobian + (i * 2 + side) * (size_t)set->freedom;
        rg_vec3 arm = {0, 0, 0};
        if (row->moves[side])
            arm = rg_sub(row->point, places.position[row->body[side]]);
        fill_side(c->planar, &row->along, arm, row->moves[side] ? side == 0 ? -1 : 1 : 0, out);
    }
    return &set->rows[i];
}

double rg_joint_velocity(const rg_joint_set *set, size_t i, bool planar, const rg_vec3 *velocity,
                         const rg_vec3 *angular_velocity) {
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

void rg_joint_push(const rg_joint_set *set, size_t i, size_t side, bool planar, double r,
                   rg_vec3 *linear, rg_vec3 *angular) {
    const double *j = rg_joint_jacobian(set, i, side);
    if (planar) {
        *linear = (rg_vec3){r * j[0], 0, r * j[1]};
        *angular = (rg_vec3){0, r * j[2], 0};
        return;
    }
    *linear = (rg_vec3){r * j[0], r * j[1], r * j[2]};
    *angular = (rg_vec3){r * j[3], r * j[4], r * j[5]};
}
