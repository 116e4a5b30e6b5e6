/* Islands: which contacts and joints belong together. The one finder of all stages: worlds, problem
 * files and direct callers of the solvers are cut up here and nowhere else. */
#ifndef RIGOR_PROBLEM_PARTITION_H
#define RIGOR_PROBLEM_PARTITION_H

#include "base/base_arena.h"
#include "rigor/complementarity.h"

/* Links are contacts and joints. Islands come in the order of their first links, so that the order
 * is that of the input. */
typedef struct rg_partition {
    size_t count;
    uint32_t *first;  /* count + 1: where the members of an island begin */
    uint32_t *member; /* links, ascending within an island */
    uint32_t *island; /* of each link */
} rg_partition;

/* `blocks`: links x 2, the bodies (velocity blocks) that a link acts on; RG_NO_BLOCK: none. Links
 * that share a block are in one island. RG_OUT_OF_MEMORY is the only failure. */
rg_status rg_partition_links(const uint32_t *blocks, size_t links, size_t block_count,
                             rg_arena *arena, rg_partition *partition);
/* Contacts, then joints, of a problem. Local form: links that W couples are in one island. */
rg_status rg_partition_problem(const rg_contact_problem *problem, rg_arena *arena,
                               rg_partition *partition);

#endif
