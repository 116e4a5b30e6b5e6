/* A fixed step is a function of the state, the contact memory, the length of the step and what the
 * caller has set; the time enters by prescribed motion and forces only. If a step leaves state and
 * memory as they were, to the last bit, the next one must do the same, and is not computed: rest
 * costs a comparison, without a threshold and without an approximation. Any edit, restored state or
 * other length of the step ends it.
 * Tested by tests/step/test_rest.c. */
#include "step/step_rest.h"

#include "base/base_hash.h"
#include "step/step_machinery.h"

bool rg_rest_is_closed(const rg_world *world) {
    const rg_world_content *c = &world->content;
    const rg_step_machinery *machinery = world->machinery;
    return !world->no_memory && rg_method_of(world) == &rg_method_stepping && !rg_forces_any(c) &&
           !rg_joints_vary(c) && c->prescription_count == 0 && !c->has_applied &&
           !world->collision.material && machinery && !machinery->observer;
}

bool rg_rest_holds(const rg_world *world, const rg_step_rest *rest, double step) {
    return rest->repeats && rest->step == step && rest->revision == world->revision &&
           rg_rest_is_closed(world);
}

/* Chains of the hash that are under way at the same time: one alone would wait for its own
 * products, and tens of thousands of contacts are megabytes. */
enum { CHAINS = 4 };

static uint64_t block_hash(uint64_t hash, const rg_memory_block *block) {
    const unsigned char *bytes = block->data;
    size_t word = sizeof(uint64_t), rounds = block->size / (CHAINS * word);
    uint64_t chains[CHAINS];
    for (uint64_t k = 0; k < CHAINS; k++)
        chains[k] = rg_hash_u64(hash, k);
    for (size_t i = 0; i < rounds; i++, bytes += CHAINS * word)
        for (size_t k = 0; k < CHAINS; k++) {
            uint64_t value;
            memcpy(&value, bytes + k * word, word);
            chains[k] = rg_hash_u64(chains[k], value);
        }
    for (size_t k = 0; k < CHAINS; k++)
        hash = rg_hash_u64(hash, chains[k]);
    return rg_hash_bytes(hash, bytes, block->size - rounds * CHAINS * word);
}

static uint64_t memory_hash(const rg_world_content *c) {
    uint64_t hash = rg_hash_begin();
    for (int i = 0; i < RG_MEMORY_KIND_COUNT; i++)
        hash = block_hash(hash, &c->memory[i]);
    return hash;
}

void rg_rest_note(const rg_world *world, rg_step_rest *rest, double step,
                  const rg_step_report *report) {
    bool follows = rest->known && rest->step == step && rest->revision == world->revision;
    rest->known = report->still && rg_rest_is_closed(world);
    rest->repeats = false;
    if (!rest->known)
        return;
    uint64_t memory = memory_hash(&world->content);
    rest->repeats = follows && memory == rest->memory;
    rest->step = step;
    rest->revision = world->revision;
    rest->memory = memory;
    rest->report = *report;
}
