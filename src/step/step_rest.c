/* A fixed step is a function of the state, the contact memory, the length of the step and what the
 * caller has set; the time enters by prescribed motion and forces only. If a step leaves state and
 * memory as they were, to the last bit, the next one must do the same, and is not computed: rest
 * costs a comparison, without a threshold and without an approximation. Any edit, restored state or
 * other length of the step ends it.
 * Tested by tests/step/test_rest.c. */
#include "step/step_rest.h"

#include "base/base_hash.h"
#include "step/step_machinery.h"

/* Steps in a row that left bodies and forces alone: the contact memory that the first was given
 * may be another one than it left. */
enum { STILL_ENOUGH = 2 };

/* Does anything but the state and the edits of the world act on a step? */
static bool is_closed(const rg_world *world) {
    const rg_world_content *c = &world->content;
    const rg_step_machinery *machinery = world->machinery;
    return !world->no_memory && rg_method_of(world) == &rg_method_stepping && !rg_forces_any(c) &&
           !rg_joints_vary(c) && c->prescription_count == 0 && !c->has_applied &&
           !world->collision.material && machinery && !machinery->observer;
}

bool rg_rest_holds(const rg_world *world, const rg_step_rest *rest, double step) {
    return rest->still >= STILL_ENOUGH && rest->step == step && rest->revision == world->revision &&
           is_closed(world);
}

static uint64_t memory_hash(const rg_world_content *c) {
    uint64_t hash = rg_hash_begin();
    for (int i = 0; i < RG_MEMORY_KIND_COUNT; i++)
        hash = rg_hash_bytes(hash, c->memory[i].data, c->memory[i].size);
    return hash;
}

void rg_rest_note(const rg_world *world, rg_step_rest *rest, double step,
                  const rg_step_report *report) {
    bool same = rest->still > 0 && rest->step == step && rest->revision == world->revision;
    uint32_t still = same ? rest->still : 0;
    rest->still = 0;
    if (!report->still || !is_closed(world))
        return;
    uint64_t memory = memory_hash(&world->content);
    rest->still = still > 0 && memory != rest->memory ? 1 : still + 1;
    rest->step = step;
    rest->revision = world->revision;
    rest->memory = memory;
    rest->report = *report;
}
