/* Islands by union of sets over the links; the root of a set is its first link. O(links), in local
 * form O(entries of W). */
#include "problem/problem_partition.h"

#include "base/base_sets.h"
#include "problem/problem.h"

#include <string.h>

/* From sets to islands: numbers, then a counting sort. */
static rg_status list_members(uint32_t *parent, size_t links, rg_arena *arena,
                              rg_partition *partition) {
    uint32_t *first = rg_arena_take(arena, links + 2, sizeof *first);
    partition->member = rg_arena_take(arena, links + 1, sizeof *partition->member);
    partition->island = rg_arena_take(arena, links + 1, sizeof *partition->island);
    partition->first = first;
    if (!first || !partition->member || !partition->island)
        return RG_OUT_OF_MEMORY;
    memset(first, 0, (links + 2) * sizeof *first);
    partition->count = rg_sets_number(parent, links, partition->island);
    for (size_t i = 0; i < links; i++)
        first[partition->island[i] + 2]++;
    for (size_t i = 0; i < partition->count; i++)
        first[i + 2] += first[i + 1];
    for (size_t i = 0; i < links; i++)
        partition->member[first[partition->island[i] + 1]++] = (uint32_t)i;
    return RG_OK;
}

rg_status rg_partition_links(const uint32_t *blocks, size_t links, size_t block_count,
                             rg_arena *arena, rg_partition *partition) {
    *partition = (rg_partition){0};
    uint32_t *parent = rg_arena_take(arena, links + 1, sizeof *parent);
    uint32_t *toucher = rg_arena_take(arena, block_count + 1, sizeof *toucher);
    if (!parent || !toucher)
        return RG_OUT_OF_MEMORY;
    rg_sets_start(parent, links);
    for (size_t b = 0; b < block_count; b++)
        toucher[b] = UINT32_MAX;
    for (uint32_t link = 0; link < links; link++) {
        const uint32_t *b = blocks + 2 * (size_t)link;
        bool any = b[0] != RG_NO_BLOCK || b[1] != RG_NO_BLOCK;
        if (any && link > 0 && b[0] == b[-2] && b[1] == b[-1]) {
            parent[link] = parent[link - 1]; /* another point of the same pair */
            continue;
        }
        for (int side = 0; side < 2; side++) {
            if (b[side] == RG_NO_BLOCK)
                continue;
            if (toucher[b[side]] == UINT32_MAX)
                toucher[b[side]] = link;
            rg_sets_join(parent, toucher[b[side]], link);
        }
    }
    return list_members(parent, links, arena, partition);
}

static uint32_t link_of_row(const rg_contact_problem *p, size_t row) {
    size_t d = (size_t)p->dimension;
    return (uint32_t)(row < p->contacts * d ? row / d : p->contacts + (row - p->contacts * d));
}

static void join_by_entries(const rg_contact_problem *p, uint32_t *parent) {
    size_t rows = rg_contact_rows(p);
    for (size_t i = 0; i < rows; i++) {
        uint32_t link = link_of_row(p, i);
        if (p->w.dense) {
            for (size_t j = 0; j < rows; j++)
                if (p->w.dense[i * rows + j] != 0)
                    rg_sets_join(parent, link, link_of_row(p, j));
        } else {
            for (size_t k = p->w.starts[i]; k < p->w.starts[i + 1]; k++)
                if (p->w.values[k] != 0)
                    rg_sets_join(parent, link, link_of_row(p, p->w.indices[k]));
        }
    }
}

static rg_status partition_global(const rg_contact_problem *p, rg_arena *arena,
                                  rg_partition *partition) {
    uint32_t *blocks = rg_arena_take(arena, 2 * (p->contacts + p->joints) + 1, sizeof *blocks);
    if (!blocks)
        return RG_OUT_OF_MEMORY;
    if (p->contacts)
        memcpy(blocks, p->global.contact_blocks, 2 * p->contacts * sizeof *blocks);
    if (p->joints)
        memcpy(blocks + 2 * p->contacts, p->global.joint_blocks, 2 * p->joints * sizeof *blocks);
    return rg_partition_links(blocks, p->contacts + p->joints, p->global.blocks, arena, partition);
}

rg_status rg_partition_problem(const rg_contact_problem *problem, rg_arena *arena,
                               rg_partition *partition) {
    if (problem->form == RG_FORM_GLOBAL)
        return partition_global(problem, arena, partition);
    size_t links = problem->contacts + problem->joints;
    uint32_t *parent = rg_arena_take(arena, links + 1, sizeof *parent);
    *partition = (rg_partition){0};
    if (!parent)
        return RG_OUT_OF_MEMORY;
    rg_sets_start(parent, links);
    join_by_entries(problem, parent);
    return list_members(parent, links, arena, partition);
}
