/* Rows of tendons: a sum of coordinates of many bodies, in problems whose rows touch two blocks.
 *
 * A tendon's rate is the sum of J_b v_b over the bodies b of the axes that it sums. Every J_b v_b
 * is a coordinate w of a block of its own (a sum), by a row without bounds,
 *
 *     J_b v_b - w = 0,
 *
 * and limits, springs and motors of the tendon are rows of that block alone: (1 ... 1) w. A sum
 * that is full hands what it has on to the next one, as one of its coordinates, by such a row as
 * well.
 *
 * Nothing is added to the mechanics. The coordinate has the inertia m, which is taken from the
 * body: M_b - m J_b' J_b, positive definite for m < 1 / (J_b M_b^-1 J_b'). Where the row holds,
 * both together have the energy of the body, and with w_free = J_b v_free,b its equation is
 *
 *     M_b (v_b - v_free,b) = (other rows) + J_b' r,
 *
 * with the force r of the tendon's rows (that of the link is r - m J_b (v_b - v_free,b)). So the
 * solvers, and the judge of their answers, know nothing of tendons. problem_islands.c fills in the
 * masses.
 * Tested by tests/step/test_tendons.c and, against MuJoCo, tests/scripts/test_robot.py. */
#include "problem/problem_directions.h"
#include "problem/problem_joints.h"

#include <string.h>

/* Of a body, what all links together may take: m over 1 / (J_b M_b^-1 J_b'), divided by their
 * number. With 0.001 the rows of links are a thousand times as mobile as the tendon, and solvers
 * that relax every row by a share of its mobility stop far from the answer. */
#define SHARE 0.5
/* Rows of links for each axis, at most: two bodies, and one that hands on. */
enum { LINKS = 3 };

static const rg_joint_def *part_of(const rg_world_content *c, const rg_joint_def *tendon,
                                   size_t part) {
    return &c->joint[rg_joint_dense(c, tendon->part[part].joint)].def;
}

size_t rg_tendon_links_most(const rg_world_content *c) {
    size_t links = 0;
    for (size_t j = 0; j < c->joints.count; j++)
        links += LINKS * c->joint[j].def.part_count;
    return links;
}

rg_status rg_tendon_links_make(const rg_world_content *c, size_t most, rg_arena *arena,
                               rg_joint_set *set) {
    set->links = rg_arena_take(arena, most, sizeof *set->links);
    set->links_of = rg_arena_take(arena, c->bodies.count, sizeof *set->links_of);
    if (!set->links || !set->links_of)
        return RG_OUT_OF_MEMORY;
    memset(set->links_of, 0, c->bodies.count * sizeof *set->links_of);
    for (size_t j = 0; j < c->joints.count; j++)
        for (size_t k = 0; k < 2 * c->joint[j].def.part_count; k++) {
            const rg_joint_def *part = part_of(c, &c->joint[j].def, k / 2);
            rg_body_id body = k % 2 ? part->body_b : part->body_a;
            if (body.index1)
                set->links_of[rg_body_dense(c, body)]++;
        }
    return RG_OK;
}

/* A row that adds to `sum`; the side of what it adds is the caller's to fill in. */
static size_t add_row(rg_joint_set *set, const rg_joint_row *shared, size_t sum,
                      const rg_tendon_link *link) {
    size_t i = set->count++, n = (size_t)set->freedom;
    rg_joint_row *row = &set->rows[i];
    *row = (rg_joint_row){.joint = shared->joint,
                          .body = {UINT32_MAX, UINT32_MAX},
                          .sum1 = {0, (uint32_t)sum + 1},
                          .lower = -INFINITY,
                          .upper = INFINITY};
    set->links[set->link_count++] = *link;
    row->link1 = (uint32_t)set->link_count;
    set->impulse[i] = 0;
    memset(set->jacobian + i * 2 * n, 0, 2 * n * sizeof *set->jacobian);
    set->jacobian[(2 * i + 1) * n + (size_t)link->slot] = -1;
    return i;
}

static void add_body(const rg_world_content *c, rg_joint_set *set, const rg_joint_row *shared,
                     rg_tendon_link *link, int side, rg_body_places places) {
    uint32_t body = link->body[side];
    rg_vec3 arm = rg_sub(link->point, places.position[body]), none = {0, 0, 0};
    rg_vec3 d = link->along.direction;
    size_t i = add_row(set, shared, set->sum_count - 1, link);
    set->rows[i].body[0] = body;
    set->rows[i].moves[0] = true;
    set->rows[i].point = places.position[body];
    rg_direction_jacobian(c->planar, side == 0 ? -1 : 1, link->along.turns ? none : d,
                          link->along.turns ? d : rg_cross(arm, d),
                          set->jacobian + i * 2 * (size_t)set->freedom);
    double mobility = rg_joint_mobility(c, set, i);
    if (mobility > 0)
        set->links[set->link_count - 1].inertia = SHARE / (mobility * set->links_of[body]);
    else /* it does not move the axis */
        set->count--, set->link_count--;
}

/* The coordinate that the next link is; a new sum if the last one is full. */
static int next_slot(rg_joint_set *set, const rg_joint_row *shared, size_t first) {
    size_t n = (size_t)set->freedom;
    const rg_tendon_link *last = set->link_count > first ? &set->links[set->link_count - 1] : NULL;
    if (last && last->slot + 1 < set->freedom)
        return last->slot + 1;
    rg_tendon_link carry = {.part = UINT32_MAX, .body = {UINT32_MAX, UINT32_MAX}};
    double mobility = 0;
    set->sum_count++;
    if (!last)
        return 0;
    for (size_t k = 0; k < n; k++)
        mobility += 1 / set->links[set->link_count - n + k].inertia;
    carry.inertia = SHARE / mobility;
    size_t i = add_row(set, shared, set->sum_count - 1, &carry);
    set->rows[i].sum1[0] = (uint32_t)set->sum_count - 1;
    for (size_t k = 0; k < n; k++)
        set->jacobian[i * 2 * n + k] = 1;
    return 1;
}

bool rg_joint_set_add_links(const rg_world_content *c, rg_joint_set *set, size_t tendon,
                            rg_body_places places, const uint8_t *moved, rg_joint_row *row) {
    const rg_joint_def *def = &c->joint[tendon].def;
    size_t first = set->link_count, sums = set->sum_count;
    *row = (rg_joint_row){.joint = (uint32_t)tendon, .body = {UINT32_MAX, UINT32_MAX}};
    for (size_t k = 0; k < def->part_count; k++) {
        rg_joint_look look;
        rg_joint_look_at(c, rg_joint_dense(c, def->part[k].joint), places, &look);
        rg_tendon_link link = {.part = (uint32_t)k,
                               .body = {look.body[0], look.body[1]},
                               .along = look.axis[def->part[k].axis],
                               .point = look.point};
        link.along.direction = rg_scale(def->part[k].coefficient, link.along.direction);
        for (int side = 0; side < 2; side++) {
            uint32_t body = look.body[side];
            if (body == UINT32_MAX ||
                (moved ? !moved[body] : !(c->dynamics[body].inverse_mass > 0)))
                continue;
            link.slot = next_slot(set, row, first);
            add_body(c, set, row, &link, side, places);
        }
    }
    if (set->link_count == first) {
        set->sum_count = sums;
        return false;
    }
    row->sum1[1] = (uint32_t)set->sum_count;
    return true;
}

double rg_tendon_prescribed(const rg_world_content *c, size_t tendon, rg_body_places places,
                            const rg_vec3 *velocity, const rg_vec3 *angular_velocity) {
    const rg_joint_def *def = &c->joint[tendon].def;
    double sum = 0;
    for (size_t k = 0; k < 2 * def->part_count; k++) {
        const rg_tendon_part *part = &def->part[k / 2];
        rg_joint_look look;
        rg_joint_look_at(c, rg_joint_dense(c, part->joint), places, &look);
        const rg_joint_direction *along = &look.axis[part->axis];
        uint32_t body = look.body[k % 2];
        if (body == UINT32_MAX || c->dynamics[body].inverse_mass > 0)
            continue;
        rg_vec3 w = angular_velocity[body], arm = rg_sub(look.point, places.position[body]);
        rg_vec3 v = along->turns ? w : rg_add(velocity[body], rg_cross(w, arm));
        sum += (k % 2 == 0 ? -1 : 1) * part->coefficient * rg_dot(along->direction, v);
    }
    return sum;
}

void rg_joint_links_of(const rg_joint_set *set, size_t i, size_t *first, size_t *end) {
    uint32_t joint = set->rows[i].joint;
    while (i > 0 && set->rows[i - 1].joint == joint)
        i--;
    *first = i;
    while (i < set->count && set->rows[i].joint == joint && set->rows[i].link1)
        i++;
    *end = i;
}

void rg_joint_set_settle(rg_joint_set *set) {
    for (size_t i = 0; set->link_count && i < set->count; i++) {
        size_t first, end;
        double sum = 0;
        if (!set->rows[i].link1)
            continue;
        rg_joint_links_of(set, i, &first, &end);
        for (size_t k = end; k < set->count && set->rows[k].joint == set->rows[i].joint; k++)
            sum += set->impulse[k];
        for (; i < end; i++)
            set->impulse[i] = sum;
    }
}
