/* Tested by tests/problem/test_directions.c. */
#include "problem/problem_directions.h"

#include "problem/problem_islands.h"

#include <string.h>

double rg_direction_rate(const rg_direction_row *row, const rg_vec3 *velocity,
                         const rg_vec3 *angular_velocity) {
    return rg_dot(row->e, rg_sub(velocity[row->a], velocity[row->b])) +
           rg_dot(row->arm_a, angular_velocity[row->a]) -
           rg_dot(row->arm_b, angular_velocity[row->b]);
}

double rg_direction_twist_rate(const rg_body_dynamics *d, const uint32_t *place,
                               const rg_direction_row *row, const rg_twist *twist) {
    double sum = 0;
    if (d[row->a].inverse_mass > 0) {
        const rg_twist *t = &twist[place[row->a]];
        sum += rg_dot(row->e, t->linear) + rg_dot(row->arm_a, t->angular);
    }
    if (d[row->b].inverse_mass > 0) {
        const rg_twist *t = &twist[place[row->b]];
        sum -= rg_dot(row->e, t->linear) + rg_dot(row->arm_b, t->angular);
    }
    return sum;
}

void rg_direction_add_twist(const rg_body_dynamics *d, const uint32_t *place,
                            const rg_direction_row *row, double x, rg_twist *twist) {
    if (x == 0)
        return;
    for (int side = 0; side < 2; side++) {
        uint32_t body = side ? row->b : row->a;
        double sign = side ? -x : x;
        if (!(d[body].inverse_mass > 0))
            continue;
        rg_twist *t = &twist[place[body]];
        t->linear = rg_add_scaled(t->linear, sign * d[body].inverse_mass, row->e);
        t->angular = rg_add_scaled(t->angular, sign, side ? row->spin_b : row->spin_a);
    }
}

double rg_direction_couple(const rg_body_dynamics *d, const uint32_t *place,
                           const rg_direction_row *i, const rg_direction_row *j) {
    if (i->response)
        return rg_direction_twist_rate(d, place, j, i->response);
    double straight = rg_dot(i->e, j->e), sum = 0;
    if (i->a == j->a)
        sum += d[i->a].inverse_mass * straight + rg_dot(i->arm_a, j->spin_a);
    if (i->b == j->b)
        sum += d[i->b].inverse_mass * straight + rg_dot(i->arm_b, j->spin_b);
    if (i->a == j->b)
        sum -= d[i->a].inverse_mass * straight + rg_dot(i->arm_a, j->spin_b);
    if (i->b == j->a)
        sum -= d[i->b].inverse_mass * straight + rg_dot(i->arm_b, j->spin_a);
    return sum;
}

void rg_directions_couple(const rg_body_dynamics *d, const uint32_t *place,
                          const rg_direction_row *rows, size_t count, double *matrix) {
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j <= i; j++)
            matrix[i * count + j] = matrix[j * count + i] =
                rg_direction_couple(d, place, &rows[i], &rows[j]);
}

/* Blocks are numbered as rows come to them. */
typedef struct block_maker {
    const rg_direction_space *space;
    uint32_t *number; /* per place */
    size_t blocks, freedom;
    double *mass;
} block_maker;

static uint32_t block_of(block_maker *m, uint32_t body) {
    const rg_body_dynamics *d = &m->space->dynamics[body];
    if (!(d->inverse_mass > 0))
        return RG_NO_BLOCK;
    uint32_t *block = &m->number[m->space->place[body]];
    if (*block == RG_NO_BLOCK) {
        *block = (uint32_t)m->blocks++;
        rg_mass_block(d, m->space->planar, m->space->orientation[body],
                      m->mass + m->freedom * m->freedom * *block);
    }
    return *block;
}

/* `stride`: between the Jacobians of the two sides. */
static void put_row(block_maker *m, const rg_direction_row *row, uint32_t *joined, double *to,
                    size_t stride) {
    bool planar = m->space->planar;
    joined[0] = block_of(m, row->a);
    joined[1] = block_of(m, row->b);
    rg_direction_jacobian(planar, joined[0] != RG_NO_BLOCK, row->e, row->arm_a, to);
    rg_direction_jacobian(planar, -(double)(joined[1] != RG_NO_BLOCK), row->e, row->arm_b,
                          to + stride);
}

rg_status rg_directions_problem(const rg_direction_space *space, const rg_direction_set *set,
                                rg_arena *arena, rg_problem *problem) {
    size_t d = space->planar ? 2 : 3, n = space->planar ? 3 : 6, contacts = set->contact_count;
    block_maker m = {.space = space, .freedom = n};
    m.number = rg_arena_take(arena, space->count, sizeof *m.number);
    m.mass = rg_arena_take(arena, n * n * space->count, sizeof *m.mass);
    double *rest = rg_arena_take(arena, n * space->count, sizeof *rest);
    uint32_t *joined = rg_arena_take(arena, 2 * (contacts + set->joint_count), sizeof *joined);
    double *jacobian =
        rg_arena_take(arena, 2 * n * (d * contacts + set->joint_count), sizeof *jacobian);
    if (!m.number || !m.mass || !rest || !joined || !jacobian)
        return RG_OUT_OF_MEMORY;
    for (size_t k = 0; k < space->count; k++)
        m.number[k] = RG_NO_BLOCK;
    memset(rest, 0, n * space->count * sizeof *rest);
    for (size_t i = 0; i < d * contacts; i++)
        put_row(&m, &set->contacts[i], joined + 2 * (i / d),
                jacobian + 2 * d * n * (i / d) + n * (i % d), d * n);
    uint32_t *joint_blocks = joined + 2 * contacts;
    double *joint_jacobian = jacobian + 2 * d * n * contacts;
    for (size_t k = 0; k < set->joint_count; k++)
        put_row(&m, &set->joints[k], joint_blocks + 2 * k, joint_jacobian + 2 * n * k, n);
    *problem = (rg_problem){.kind = RG_PROBLEM_CONTACT, .scale = set->scale};
    problem->contact = (rg_contact_problem){.dimension = (int)d,
                                            .contacts = contacts,
                                            .joints = set->joint_count,
                                            .mu = set->mu,
                                            .form = RG_FORM_GLOBAL,
                                            .q = set->q};
    problem->contact.global = (rg_global_form){.blocks = m.blocks,
                                               .freedom = (int)n,
                                               .mass = m.mass,
                                               .free_velocity = rest,
                                               .contact_blocks = joined,
                                               .contact_jacobian = jacobian};
    if (set->joint_count) {
        problem->contact.compliance = set->compliance;
        problem->contact.global.joint_blocks = joint_blocks;
        problem->contact.global.joint_jacobian = joint_jacobian;
    }
    return RG_OK;
}
