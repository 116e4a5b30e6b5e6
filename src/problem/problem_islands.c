/* Islands by union-find, with the smaller index as the root, so that everything comes out in the order
 * of bodies and contacts whatever the history. */
#include "problem/problem_islands.h"

#include "base/base_sets.h"

#include <assert.h>
#include <string.h>

/* The dynamic body that a contact belongs to; the other one is in the same island. */
static bool owner(const rg_contact_row *row, uint32_t *body) {
    *body = row->moves_a ? row->body_a : row->body_b;
    return row->moves_a || row->moves_b;
}

/* Sorts things by island: counts become starts, then places. */
static void start_each(rg_islands *islands) {
    size_t contacts = 0, bodies = 0;
    for (size_t i = 0; i < islands->count; i++) {
        rg_island *island = &islands->islands[i];
        island->first_contact = contacts, island->first_body = bodies;
        contacts += island->contact_count, bodies += island->body_count;
        island->contact_count = island->body_count = 0;
    }
    islands->body_count = bodies;
}

rg_status rg_islands_find(const rg_row_set *set, size_t body_count, rg_arena *arena,
                          rg_islands *islands) {
    *islands = (rg_islands){0};
    uint32_t *parent = rg_arena_take(arena, body_count + 1, sizeof *parent);
    uint32_t *island_of = rg_arena_take(arena, body_count + 1, sizeof *island_of);
    islands->islands = rg_arena_take(arena, set->count + 1, sizeof *islands->islands);
    islands->contacts = rg_arena_take(arena, set->count + 1, sizeof *islands->contacts);
    islands->bodies = rg_arena_take(arena, body_count + 1, sizeof *islands->bodies);
    islands->place = rg_arena_take(arena, body_count + 1, sizeof *islands->place);
    if (!parent || !island_of || !islands->islands || !islands->contacts || !islands->bodies ||
        !islands->place)
        return RG_OUT_OF_MEMORY;
    for (size_t i = 0; i < body_count; i++)
        island_of[i] = UINT32_MAX, islands->place[i] = UINT32_MAX;
    rg_sets_start(parent, body_count);
    for (size_t i = 0; i < set->count; i++)
        if (set->rows[i].moves_a && set->rows[i].moves_b)
            rg_sets_join(parent, set->rows[i].body_a, set->rows[i].body_b);
    uint32_t body;
    for (size_t i = 0; i < set->count; i++) {
        if (!owner(&set->rows[i], &body))
            continue;
        uint32_t root = rg_sets_root(parent, body);
        if (island_of[root] == UINT32_MAX) {
            island_of[root] = (uint32_t)islands->count;
            islands->islands[islands->count++] = (rg_island){0};
        }
        islands->islands[island_of[root]].contact_count++;
    }
    for (size_t i = 0; i < body_count; i++) {
        uint32_t island = island_of[rg_sets_root(parent, (uint32_t)i)];
        if (island != UINT32_MAX)
            islands->islands[island].body_count++;
    }
    start_each(islands);
    for (size_t i = 0; i < body_count; i++) {
        uint32_t index = island_of[rg_sets_root(parent, (uint32_t)i)];
        if (index == UINT32_MAX)
            continue;
        rg_island *island = &islands->islands[index];
        islands->place[i] = (uint32_t)island->body_count;
        islands->bodies[island->first_body + island->body_count++] = (uint32_t)i;
    }
    for (size_t i = 0; i < set->count; i++) {
        if (!owner(&set->rows[i], &body))
            continue;
        rg_island *island = &islands->islands[island_of[rg_sets_root(parent, body)]];
        islands->contacts[island->first_contact + island->contact_count++] = (uint32_t)i;
    }
    return RG_OK;
}

/* --- one problem --------------------------------------------------------------------------------- */

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
    *problem = (rg_problem){.kind = RG_PROBLEM_CONTACT};
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
