/* The islands of a world (problem_partition.h) with their bodies, in the order of bodies and
 * contacts whatever the history.
 * Tested by tests/problem/test_rows.c. */
#include "problem/problem_islands.h"

#include "base/base_memory.h"
#include "problem/problem_partition.h"

#include <assert.h>
#include <string.h>

/* Of bodies, then of sums. */
static uint32_t block_of(const rg_joint_row *row, size_t side, size_t bodies) {
    if (row->sum1[side])
        return (uint32_t)bodies + row->sum1[side] - 1;
    return row->moves[side] ? row->body[side] : RG_NO_BLOCK;
}

/* Rows that follow each other and move the same bodies: the points of a pair are one link. */
typedef struct row_run {
    uint32_t first, count;
} row_run;

/* Rows that forces move anything by, as links between the bodies that they move: contacts, then
 * rows of joints, counted after all contacts. */
static size_t list_links(const rg_row_set *set, const rg_joint_set *joints, size_t bodies,
                         row_run *runs, uint32_t *blocks) {
    size_t links = 0;
    for (size_t i = 0; i < set->count; i++) {
        const uint32_t *body = set->links[i].body;
        if (body[0] == RG_NO_BLOCK && body[1] == RG_NO_BLOCK)
            continue;
        row_run *last = links ? &runs[links - 1] : NULL;
        if (last && last->first + last->count == i && blocks[2 * links - 2] == body[0] &&
            blocks[2 * links - 1] == body[1]) {
            last->count++;
            continue;
        }
        runs[links] = (row_run){(uint32_t)i, 1};
        blocks[2 * links] = body[0], blocks[2 * links + 1] = body[1];
        links++;
    }
    for (size_t i = 0; i < joints->count; i++) {
        const rg_joint_row *row = &joints->rows[i];
        if (!row->moves[0] && !row->moves[1] && !row->sum1[1])
            continue;
        runs[links] = (row_run){(uint32_t)(set->count + i), 1};
        for (size_t side = 0; side < 2; side++)
            blocks[2 * links + side] = block_of(row, side, bodies);
        links++;
    }
    return links;
}

/* From members to contacts and rows of joints: the former come first in each island. */
static void list_rows(const rg_partition *partition, const row_run *runs, size_t contacts,
                      rg_islands *islands) {
    size_t contact = 0, joint = 0;
    for (size_t i = 0; i < partition->count; i++) {
        rg_island *island = &islands->islands[i];
        *island = (rg_island){.first_contact = contact, .first_joint = joint};
        for (size_t k = partition->first[i]; k < partition->first[i + 1]; k++) {
            row_run run = runs[partition->member[k]];
            for (uint32_t row = run.first; row < contacts && row < run.first + run.count; row++)
                islands->contacts[contact++] = row;
            if (run.first >= contacts)
                islands->joints[joint++] = run.first - (uint32_t)contacts;
        }
        island->contact_count = contact - island->first_contact;
        island->joint_count = joint - island->first_joint;
    }
}

/* The bodies of each island in their order, and the sums. `island_of`: UINT32_MAX in none. */
static void list_bodies(rg_islands *islands, const uint32_t *island_of, size_t body_count,
                        size_t sums) {
    for (size_t i = 0; i < body_count; i++)
        if (island_of[i] != UINT32_MAX)
            islands->islands[island_of[i]].body_count++;
    for (size_t i = 0; i < islands->count; i++) {
        rg_island *island = &islands->islands[i];
        island->first_body = islands->body_count;
        islands->body_count += island->body_count;
        island->body_count = 0;
    }
    for (size_t i = 0; i < body_count; i++) {
        if (island_of[i] == UINT32_MAX)
            continue;
        rg_island *island = &islands->islands[island_of[i]];
        islands->place[i] = (uint32_t)island->body_count;
        islands->bodies[island->first_body + island->body_count++] = (uint32_t)i;
    }
    for (size_t i = body_count; i < body_count + sums; i++) {
        if (island_of[i] == UINT32_MAX)
            continue;
        rg_island *island = &islands->islands[island_of[i]];
        islands->place[i] = (uint32_t)(island->body_count + island->sum_count++);
    }
}

rg_status rg_islands_find(const rg_row_set *set, const rg_joint_set *joints, size_t body_count,
                          rg_arena *arena, rg_islands *islands) {
    *islands = (rg_islands){0};
    size_t most = set->count + joints->count, all = body_count + joints->sum_count;
    row_run *runs = rg_arena_take(arena, most + 1, sizeof *runs);
    uint32_t *blocks = rg_arena_take(arena, 2 * most + 1, sizeof *blocks);
    uint32_t *island_of = rg_arena_take(arena, all + 1, sizeof *island_of);
    islands->islands = rg_arena_take(arena, most + 1, sizeof *islands->islands);
    islands->contacts = rg_arena_take(arena, set->count + 1, sizeof *islands->contacts);
    islands->joints = rg_arena_take(arena, joints->count + 1, sizeof *islands->joints);
    islands->bodies = rg_arena_take(arena, body_count + 1, sizeof *islands->bodies);
    islands->place = rg_arena_take(arena, all + 1, sizeof *islands->place);
    if (!runs || !blocks || !island_of || !islands->islands || !islands->contacts ||
        !islands->joints || !islands->bodies || !islands->place)
        return RG_OUT_OF_MEMORY;
    size_t links = list_links(set, joints, body_count, runs, blocks);
    rg_partition partition;
    rg_status status = rg_partition_links(blocks, links, all, arena, &partition);
    if (status)
        return status;
    islands->count = partition.count;
    list_rows(&partition, runs, set->count, islands);
    for (size_t i = 0; i < all; i++)
        island_of[i] = islands->place[i] = UINT32_MAX;
    for (size_t k = 0; k < 2 * links; k++)
        if (blocks[k] != RG_NO_BLOCK)
            island_of[blocks[k]] = partition.island[k / 2];
    list_bodies(islands, island_of, body_count, joints->sum_count);
    return RG_OK;
}

rg_status rg_islands_together(const rg_joint_set *joints, size_t body_count, rg_arena *arena,
                              rg_islands *islands) {
    *islands = (rg_islands){.count = 1};
    rg_island *island = rg_arena_take(arena, 1, sizeof *island);
    islands->islands = island;
    islands->joints = rg_arena_take(arena, joints->count + 1, sizeof *islands->joints);
    islands->bodies = rg_arena_take(arena, body_count + 1, sizeof *islands->bodies);
    islands->place = rg_arena_take(arena, body_count + 1, sizeof *islands->place);
    if (!island || !islands->joints || !islands->bodies || !islands->place)
        return RG_OUT_OF_MEMORY;
    *island = (rg_island){.joint_count = joints->count};
    memset(islands->place, 0, body_count * sizeof *islands->place);
    for (size_t i = 0; i < joints->count; i++) {
        islands->joints[i] = (uint32_t)i;
        for (size_t side = 0; side < 2; side++)
            if (joints->rows[i].moves[side])
                islands->place[joints->rows[i].body[side]] = 1;
    }
    for (size_t i = 0; i < body_count; i++) {
        bool part = islands->place[i] != 0;
        islands->place[i] = part ? (uint32_t)island->body_count : UINT32_MAX;
        if (part)
            islands->bodies[island->body_count++] = (uint32_t)i;
    }
    islands->body_count = island->body_count;
    return RG_OK;
}

/* --- one problem ------------------------------------------------------------------------------ */

void rg_mass_block(const rg_body_dynamics *d, bool planar, rg_quat orientation, double *mass) {
    if (planar) {
        memset(mass, 0, 9 * sizeof *mass);
        mass[0] = mass[4] = d->mass, mass[8] = d->inertia.y;
        return;
    }
    rg_mat3 r = rg_mat3_of_quat(orientation);
    double sum[3][3];
    for (int i = 0; i < 3; i++) {
        double x = r.m[i][0] * d->inertia.x, y = r.m[i][1] * d->inertia.y,
               z = r.m[i][2] * d->inertia.z;
        for (int j = 0; j < 3; j++)
            sum[i][j] = x * r.m[j][0] + y * r.m[j][1] + z * r.m[j][2];
    }
    double *m = mass, *t = mass + 18; /* one by one: faster than to clear all and fill some */
    m[0] = d->mass, m[1] = m[2] = m[3] = m[4] = m[5] = m[6] = 0;
    m[7] = d->mass, m[8] = m[9] = m[10] = m[11] = m[12] = m[13] = 0;
    m[14] = d->mass, m[15] = m[16] = m[17] = 0;
    t[0] = t[1] = t[2] = t[6] = t[7] = t[8] = t[12] = t[13] = t[14] = 0;
    t[3] = sum[0][0], t[4] = t[9] = sum[1][0], t[5] = t[15] = sum[2][0];
    t[10] = sum[1][1], t[11] = t[16] = sum[2][1], t[17] = sum[2][2];
}

static void fill_velocity(bool planar, rg_vec3 v, rg_vec3 w, double *out) {
    if (planar) {
        out[0] = v.x, out[1] = v.z, out[2] = w.y;
        return;
    }
    out[0] = v.x, out[1] = v.y, out[2] = v.z, out[3] = w.x, out[4] = w.y, out[5] = w.z;
}

/* The coordinate of a sum that a link of a tendon is: with the inertia that it takes from what it
 * adds, and the velocity of that. Links are in the order in which they hand on. */
static void fill_link(const rg_tendon_link *link, const uint32_t blocks[2], const double *jacobian,
                      size_t n, double *mass, double *velocity) {
    double *from = mass + blocks[0] * n * n, sum = 0;
    size_t slot = blocks[1] * n + (size_t)link->slot;
    for (size_t i = 0; i < n; i++) {
        sum += jacobian[i] * velocity[blocks[0] * n + i];
        for (size_t j = 0; j < n; j++)
            from[i * n + j] -= link->inertia * jacobian[i] * jacobian[j];
    }
    mass[slot * n + (size_t)link->slot] = link->inertia;
    velocity[slot] = sum;
}

static uint32_t place_of(const rg_islands *islands, uint32_t block) {
    return block == RG_NO_BLOCK ? RG_NO_BLOCK : islands->place[block];
}

static void fill_sums(const rg_islands *islands, const rg_island *island, const rg_joint_set *set,
                      const rg_global_form *g, double *mass, double *velocity) {
    size_t n = (size_t)g->freedom, first = island->body_count;
    memset(mass + first * n * n, 0, island->sum_count * n * n * sizeof *mass);
    memset(velocity + first * n, 0, island->sum_count * n * sizeof *velocity);
    for (size_t k = first * n; k < g->blocks * n; k++)
        mass[k * n + k % n] = 1; /* of coordinates that nothing touches */
    for (size_t k = 0; k < island->joint_count; k++) {
        uint32_t link1 = set->rows[islands->joints[island->first_joint + k]].link1;
        if (link1)
            fill_link(&set->links[link1 - 1], g->joint_blocks + 2 * k,
                      g->joint_jacobian + 2 * k * n, n, mass, velocity);
    }
}

/* Bounds and compliance, where a row has any, and the Jacobian of the joint rows of an island: read
 * where it was written if the rows follow each other in the set. */
static rg_status fill_joints(const rg_islands *islands, const rg_island *island,
                             const rg_joint_set *set, size_t bodies, rg_arena *arena,
                             rg_contact_problem *problem) {
    size_t nj = island->joint_count, per = 2 * (size_t)problem->global.freedom;
    const uint32_t *list = islands->joints + island->first_joint;
    uint32_t *blocks = rg_arena_take(arena, 2 * nj, sizeof *blocks);
    double *lower = rg_arena_take(arena, 3 * nj, sizeof *lower);
    double *upper = lower + nj, *compliance = upper + nj;
    if (!blocks || !lower)
        return RG_OUT_OF_MEMORY;
    bool soft = false, bounded = false, follow = true;
    for (size_t k = 0; k < nj; k++) {
        const rg_joint_row *row = &set->rows[list[k]];
        for (size_t side = 0; side < 2; side++)
            blocks[2 * k + side] = place_of(islands, block_of(row, side, bodies));
        lower[k] = row->lower, upper[k] = row->upper;
        compliance[k] = row->compliance;
        soft = soft || row->compliance > 0;
        bounded = bounded || row->lower != -INFINITY || row->upper != INFINITY || row->twist;
        follow = follow && list[k] == list[0] + k;
    }
    const double *jacobian = set->jacobian + list[0] * per;
    if (!follow) {
        double *copy = rg_arena_take(arena, nj * per, sizeof *copy);
        for (size_t k = 0; k < nj && copy; k++)
            memcpy(copy + k * per, set->jacobian + list[k] * per, per * sizeof *copy);
        jacobian = copy;
    }
    problem->joints = nj;
    problem->lower = bounded ? lower : NULL, problem->upper = bounded ? upper : NULL;
    problem->compliance = soft ? compliance : NULL;
    problem->global.joint_blocks = blocks;
    problem->global.joint_jacobian = jacobian;
    return jacobian ? RG_OK : RG_OUT_OF_MEMORY;
}

/* What an island's contacts bring along. Where they follow each other in the set (one island, or
 * each body by itself on the ground) it is read where it was written; else it is copied. */
typedef struct contact_part {
    const double *jacobian, *q, *friction;
} contact_part;

static rg_status gather_contacts(const rg_row_set *set, const rg_islands *islands,
                                 const rg_island *island, const rg_island_input *input,
                                 rg_arena *arena, contact_part *part) {
    size_t nc = island->contact_count, d = (size_t)set->dimension,
           per = 2 * d * (size_t)set->freedom;
    const uint32_t *list = rg_array_from(islands->contacts, island->first_contact);
    if (nc > 0 && island->joint_count == 0 && list[nc - 1] - list[0] == nc - 1) {
        *part = (contact_part){set->jacobian + list[0] * per, input->shift + list[0] * d,
                               input->mu + list[0]};
        return RG_OK;
    }
    double *jacobian = rg_arena_take(arena, nc * per, sizeof *jacobian);
    double *q = rg_arena_take(arena, nc * d + island->joint_count, sizeof *q);
    double *friction = rg_arena_take(arena, nc, sizeof *friction);
    if (!jacobian || !q || !friction)
        return RG_OUT_OF_MEMORY;
    for (size_t k = 0; k < nc; k++) {
        memcpy(jacobian + k * per, set->jacobian + list[k] * per, per * sizeof *jacobian);
        memcpy(q + k * d, input->shift + list[k] * d, d * sizeof *q);
        friction[k] = input->mu[list[k]];
    }
    for (size_t k = 0; k < island->joint_count; k++)
        q[nc * d + k] = input->joints->rows[islands->joints[island->first_joint + k]].shift;
    *part = (contact_part){jacobian, q, friction};
    return RG_OK;
}

/* Bodies and contacts of a chunk: a body takes 30 ns, a contact 2. */
enum { BODIES_PER_CHUNK = 256, BLOCKS_PER_CHUNK = 2048 };

typedef struct problem_filler {
    const rg_world_content *content;
    const rg_row_set *set;
    const rg_islands *islands;
    const rg_island *island;
    const rg_island_input *input;
    double *mass, *free_velocity;
    uint32_t *blocks;
} problem_filler;

static void fill_bodies(void *user, size_t begin, size_t end, size_t chunk) {
    (void)chunk;
    const problem_filler *f = user;
    const rg_world_content *c = f->content;
    const rg_island_input *input = f->input;
    const rg_quat *orientation = input->orientation ? input->orientation : c->orientation;
    size_t n = (size_t)f->set->freedom;
    for (size_t k = begin; k < end; k++) {
        uint32_t body = f->islands->bodies[f->island->first_body + k];
        double *mass = f->mass + k * n * n;
        rg_mass_block(&c->dynamics[body], c->planar, orientation[body], mass);
        for (size_t m = n == 3 ? 2 : 3; input->inertia && m < n; m++)
            mass[m * (n + 1)] += input->inertia[body];
        fill_velocity(c->planar, input->velocity[body], input->angular_velocity[body],
                      f->free_velocity + k * n);
    }
}

static void fill_blocks(void *user, size_t begin, size_t end, size_t chunk) {
    (void)chunk;
    const problem_filler *f = user;
    const uint32_t *list = f->islands->contacts + f->island->first_contact;
    for (size_t k = begin; k < end; k++)
        for (size_t side = 0; side < 2; side++)
            f->blocks[2 * k + side] = place_of(f->islands, f->set->links[list[k]].body[side]);
}

rg_status rg_island_problem(const rg_world_content *content, const rg_row_set *set,
                            const rg_islands *islands, const rg_island *island,
                            const rg_island_input *input, rg_arena *arena, rg_problem *problem) {
    size_t nb = island->body_count, nc = island->contact_count, all = nb + island->sum_count;
    size_t n = (size_t)set->freedom;
    contact_part part;
    double *mass = rg_arena_take(arena, all * n * n, sizeof *mass);
    double *free_velocity = rg_arena_take(arena, all * n, sizeof *free_velocity);
    uint32_t *blocks = rg_arena_take(arena, 2 * nc, sizeof *blocks);
    if (!mass || !free_velocity || !blocks ||
        gather_contacts(set, islands, island, input, arena, &part))
        return RG_OUT_OF_MEMORY;
    problem_filler filler = {content, set, islands, island, input, mass, free_velocity, blocks};
    rg_parallel_for(input->pool, nb, BODIES_PER_CHUNK, fill_bodies, &filler);
    rg_parallel_for(input->pool, nc, BLOCKS_PER_CHUNK, fill_blocks, &filler);
    *problem = (rg_problem){.kind = RG_PROBLEM_CONTACT, .connected = true};
    problem->contact = (rg_contact_problem){.dimension = set->dimension,
                                            .contacts = nc,
                                            .mu = part.friction,
                                            .directions = input->directions,
                                            .form = RG_FORM_GLOBAL,
                                            .q = part.q};
    problem->contact.global = (rg_global_form){.blocks = all,
                                               .freedom = set->freedom,
                                               .mass = mass,
                                               .free_velocity = free_velocity,
                                               .contact_blocks = blocks,
                                               .contact_jacobian = part.jacobian};
    rg_status status = RG_OK;
    if (island->joint_count)
        status = fill_joints(islands, island, input->joints, content->bodies.count, arena,
                             &problem->contact);
    if (!status && island->sum_count)
        fill_sums(islands, island, input->joints, &problem->contact.global, mass, free_velocity);
    return status;
}
