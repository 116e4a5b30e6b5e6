/* The islands of a world (problem_partition.h) with their bodies, in the order of bodies and
 * contacts whatever the history.
 * Tested by tests/problem/test_rows.c. */
#include "problem/problem_islands.h"

#include "problem/problem_partition.h"

#include <assert.h>
#include <string.h>

/* Rows that forces move anything by, as links between the bodies that they move. */
static size_t list_links(const rg_row_set *set, uint32_t *row_of, uint32_t *blocks) {
    size_t links = 0;
    for (size_t i = 0; i < set->count; i++) {
        const rg_contact_row *row = &set->rows[i];
        if (!row->moves_a && !row->moves_b)
            continue;
        row_of[links] = (uint32_t)i;
        blocks[2 * links] = row->moves_a ? row->body_a : RG_NO_BLOCK;
        blocks[2 * links + 1] = row->moves_b ? row->body_b : RG_NO_BLOCK;
        links++;
    }
    return links;
}

/* The bodies of each island in their order. `island_of`: per body, UINT32_MAX in none. */
static void list_bodies(rg_islands *islands, const uint32_t *island_of, size_t body_count) {
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
}

rg_status rg_islands_find(const rg_row_set *set, size_t body_count, rg_arena *arena,
                          rg_islands *islands) {
    *islands = (rg_islands){0};
    uint32_t *row_of = rg_arena_take(arena, set->count + 1, sizeof *row_of);
    uint32_t *blocks = rg_arena_take(arena, 2 * set->count + 1, sizeof *blocks);
    uint32_t *island_of = rg_arena_take(arena, body_count + 1, sizeof *island_of);
    islands->islands = rg_arena_take(arena, set->count + 1, sizeof *islands->islands);
    islands->contacts = rg_arena_take(arena, set->count + 1, sizeof *islands->contacts);
    islands->bodies = rg_arena_take(arena, body_count + 1, sizeof *islands->bodies);
    islands->place = rg_arena_take(arena, body_count + 1, sizeof *islands->place);
    if (!row_of || !blocks || !island_of || !islands->islands || !islands->contacts ||
        !islands->bodies || !islands->place)
        return RG_OUT_OF_MEMORY;
    size_t links = list_links(set, row_of, blocks);
    rg_partition partition;
    rg_status status = rg_partition_links(blocks, links, body_count, arena, &partition);
    if (status)
        return status;
    islands->count = partition.count;
    for (size_t i = 0; i < partition.count; i++)
        islands->islands[i] =
            (rg_island){.first_contact = partition.first[i],
                        .contact_count = partition.first[i + 1] - partition.first[i]};
    for (size_t k = 0; k < links; k++)
        islands->contacts[k] = row_of[partition.member[k]];
    for (size_t i = 0; i < body_count; i++)
        island_of[i] = islands->place[i] = UINT32_MAX;
    for (size_t k = 0; k < 2 * links; k++)
        if (blocks[k] != RG_NO_BLOCK)
            island_of[blocks[k]] = partition.island[k / 2];
    list_bodies(islands, island_of, body_count);
    return RG_OK;
}

/* --- one problem ------------------------------------------------------------------------------ */

void rg_mass_block(const rg_body_dynamics *d, bool planar, rg_quat orientation, double *mass) {
    if (planar) {
        memset(mass, 0, 9 * sizeof *mass);
        mass[0] = mass[4] = d->mass, mass[8] = d->inertia.y;
        return;
    }
    memset(mass, 0, 36 * sizeof *mass);
    mass[0] = mass[7] = mass[14] = d->mass;
    rg_mat3 r = rg_mat3_of_quat(orientation);
    double inertia[3] = {d->inertia.x, d->inertia.y, d->inertia.z};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j <= i; j++) {
            double sum = 0;
            for (int k = 0; k < 3; k++)
                sum += r.m[i][k] * inertia[k] * r.m[j][k];
            mass[(3 + i) * 6 + 3 + j] = mass[(3 + j) * 6 + 3 + i] = sum;
        }
}

static void fill_velocity(bool planar, rg_vec3 v, rg_vec3 w, double *out) {
    if (planar) {
        out[0] = v.x, out[1] = v.z, out[2] = w.y;
        return;
    }
    out[0] = v.x, out[1] = v.y, out[2] = v.z, out[3] = w.x, out[4] = w.y, out[5] = w.z;
}

rg_status rg_island_problem(const rg_world_content *content, const rg_row_set *set,
                            const rg_islands *islands, const rg_island *island,
                            const rg_island_input *input, rg_arena *arena, rg_problem *problem) {
    size_t nb = island->body_count, nc = island->contact_count;
    size_t d = (size_t)set->dimension, n = (size_t)set->freedom, per = 2 * d * n;
    double *mass = rg_arena_take(arena, nb * n * n, sizeof *mass);
    double *free_velocity = rg_arena_take(arena, nb * n, sizeof *free_velocity);
    uint32_t *blocks = rg_arena_take(arena, 2 * nc, sizeof *blocks);
    double *jacobian = rg_arena_take(arena, nc * per, sizeof *jacobian);
    double *q = rg_arena_take(arena, nc * d, sizeof *q);
    double *friction = rg_arena_take(arena, nc, sizeof *friction);
    if (!mass || !free_velocity || !blocks || !jacobian || !q || !friction)
        return RG_OUT_OF_MEMORY;
    for (size_t k = 0; k < nb; k++) {
        uint32_t body = islands->bodies[island->first_body + k];
        rg_mass_block(&content->dynamics[body], content->planar, content->orientation[body],
                      mass + k * n * n);
        fill_velocity(content->planar, input->velocity[body], input->angular_velocity[body],
                      free_velocity + k * n);
    }
    for (size_t k = 0; k < nc; k++) {
        uint32_t i = islands->contacts[island->first_contact + k];
        const rg_contact_row *row = &set->rows[i];
        blocks[2 * k] = row->moves_a ? islands->place[row->body_a] : RG_NO_BLOCK;
        blocks[2 * k + 1] = row->moves_b ? islands->place[row->body_b] : RG_NO_BLOCK;
        memcpy(jacobian + k * per, set->jacobian + i * per, per * sizeof *jacobian);
        memcpy(q + k * d, input->shift + i * d, d * sizeof *q);
        friction[k] = input->mu[i];
    }
    *problem = (rg_problem){.kind = RG_PROBLEM_CONTACT, .connected = true};
    problem->contact = (rg_contact_problem){.dimension = set->dimension,
                                            .contacts = nc,
                                            .mu = friction,
                                            .directions = input->directions,
                                            .form = RG_FORM_GLOBAL,
                                            .q = q};
    problem->contact.global = (rg_global_form){.blocks = nb,
                                               .freedom = set->freedom,
                                               .mass = mass,
                                               .free_velocity = free_velocity,
                                               .contact_blocks = blocks,
                                               .contact_jacobian = jacobian};
    return RG_OK;
}
