/* What the analytic method remembers from one step of the world to the next: step sizes, and the
 * differences of Adams' method. It is a block of the world's memory, saved with its state, so that
 * a run that goes on from a file is the same to the bit; and as it may come from a file, its
 * indices are checked. It holds as long as the world is not edited in between.
 *
 * Each group has a history of its own, and its bodies may be in another one at the next step. So
 * vectors are cut up by body, with room behind each for the sums of a group, which stand at its
 * first body; a group that is not the same as before begins afresh. */
#include "step/step_analytic.h"

#include <string.h>

enum { SUMS = RG_FLIGHT_LEDGER + RG_ANALYSIS_LEDGER };

/* Per dynamic body; of a group, that of its first one counts. */
typedef struct group_history {
    uint64_t first1; /* the first body of its group, and 1; 0: no history */
    uint64_t members;
    rg_adams_memory adams;
} group_history;

static bool has_histories(const rg_analysis_memory *memory) {
    return memory->integrator == RG_INTEGRATOR_ADAMS;
}

static size_t memory_size(const rg_method_settings *settings, const rg_flight *flight) {
    size_t size = sizeof(rg_analysis_memory) + flight->body_count * sizeof(rg_analysis_known);
    if (settings->integrator != RG_INTEGRATOR_ADAMS)
        return size;
    size_t vector = flight->width + SUMS;
    return size + flight->body_count *
                      (sizeof(group_history) + RG_ADAMS_VECTORS * vector * sizeof(double));
}

rg_analysis_known *rg_analysis_known_of(const rg_analysis_memory *memory) {
    return (rg_analysis_known *)(memory + 1);
}

static group_history *histories(const rg_analysis_memory *memory) {
    return (group_history *)(rg_analysis_known_of(memory) + memory->bodies);
}

static double *differences(const rg_analysis_memory *memory) {
    return (double *)(histories(memory) + memory->bodies);
}

/* Has as many differences as the order of the next step needs. Steps that are not lengths would do
 * no more harm than other wrong numbers of a file. */
static bool holds(const rg_adams_memory *adams) {
    return adams->order >= 0 && adams->order <= RG_ADAMS_ORDER_MAX && adams->count >= 0 &&
           adams->count < RG_ADAMS_VECTORS && adams->order <= adams->count + 1 &&
           (adams->rising || adams->count > 0);
}

static bool histories_hold(const rg_analysis_memory *memory) {
    for (size_t k = 0; has_histories(memory) && k < memory->bodies; k++)
        if (histories(memory)[k].first1 == k + 1 && !holds(&histories(memory)[k].adams))
            return false;
    return true;
}

rg_analysis_memory *rg_analysis_recall(rg_world *world, const rg_flight *flight) {
    const rg_world_content *c = &world->content;
    const rg_memory_block *block = &c->memory[RG_MEMORY_METHOD];
    size_t size = memory_size(&c->settings, flight);
    rg_analysis_memory *memory = rg_arena_take(&world->scratch, size, 1);
    if (!memory)
        return NULL;
    const rg_analysis_memory *old = block->size == size ? block->data : NULL;
    if (old && old->valid && old->edits == c->edits && old->size == flight->size &&
        old->bodies == flight->body_count && old->integrator == (uint64_t)c->settings.integrator &&
        old->bounce_count <= RG_ANALYSIS_BOUNCING && histories_hold(old))
        memcpy(memory, old, size);
    else {
        memset(memory, 0, size);
        *memory = (rg_analysis_memory){.edits = c->edits,
                                       .size = flight->size,
                                       .bodies = flight->body_count,
                                       .integrator = (uint64_t)c->settings.integrator};
    }
    return memory;
}

bool rg_analysis_make_room(rg_world *world, const rg_flight *flight) {
    size_t size = memory_size(&world->content.settings, flight);
    return world->content.memory[RG_MEMORY_METHOD].size == size ||
           rg_memory_resize(world, RG_MEMORY_METHOD, size);
}

void rg_analysis_remember_groups(rg_world *world, rg_analysis_memory *memory) {
    rg_memory_block *block = &world->content.memory[RG_MEMORY_METHOD];
    memcpy(block->data, memory, block->size);
}

/* --- groups ----------------------------------------------------------------------------------- */

static size_t first_of(const rg_analysis_memory *memory, const uint32_t *label, size_t index) {
    size_t k = 0;
    while (k < memory->bodies && label[k] != index)
        k++;
    return k;
}

/* Whether the group was one, with the same bodies. */
static bool was_group(const rg_analysis_memory *memory, const uint32_t *label, size_t index,
                      size_t first, size_t members) {
    const group_history *h = histories(memory);
    if (h[first].members != members)
        return false;
    for (size_t k = 0; k < memory->bodies; k++)
        if (label[k] == index && h[k].first1 != first + 1)
            return false;
    return true;
}

void rg_analysis_recall_group(const rg_analysis_memory *memory, const uint32_t *label, size_t index,
                              rg_analysis *g) {
    size_t first = first_of(memory, label, index), width = g->flight.width;
    if (!has_histories(memory) || !was_group(memory, label, index, first, g->flight.body_count))
        return;
    rg_adams_trial *t = &g->trial.adams;
    t->memory = histories(memory)[first].adams;
    for (int j = 0; j < t->memory.count; j++) {
        const double *vector = differences(memory) + (size_t)j * memory->bodies * (width + SUMS);
        double *to = t->phi[j + 1];
        for (size_t k = 0; k < memory->bodies; k++)
            if (label[k] == index) {
                memcpy(to, vector + k * (width + SUMS), width * sizeof *to);
                to += width;
            }
        memcpy(to, vector + first * (width + SUMS) + width, SUMS * sizeof *to);
    }
}

void rg_analysis_remember_group(rg_analysis_memory *memory, const uint32_t *label, size_t index,
                                const rg_analysis *g) {
    if (!has_histories(memory))
        return;
    size_t first = first_of(memory, label, index), width = g->flight.width;
    const rg_adams_trial *t = &g->trial.adams;
    for (size_t k = 0; k < memory->bodies; k++)
        if (label[k] == index)
            histories(memory)[k] = (group_history){.first1 = first + 1};
    histories(memory)[first].members = g->flight.body_count;
    histories(memory)[first].adams = t->memory;
    for (int j = 0; j < RG_ADAMS_VECTORS; j++) {
        double *vector = differences(memory) + (size_t)j * memory->bodies * (width + SUMS);
        const double *from = j < t->memory.count ? t->phi[j + 1] : NULL;
        for (size_t k = 0; k < memory->bodies; k++) {
            if (label[k] != index)
                continue;
            double *to = vector + k * (width + SUMS);
            memset(to, 0, (width + SUMS) * sizeof *to);
            if (from)
                memcpy(to, from, width * sizeof *to);
            from = from ? from + width : NULL;
        }
        if (from)
            memcpy(vector + first * (width + SUMS) + width, from, SUMS * sizeof *from);
    }
}

void rg_analysis_forget_group(rg_analysis_memory *memory, const uint32_t *label, size_t index) {
    for (size_t k = 0; has_histories(memory) && k < memory->bodies; k++)
        if (label[k] == index)
            histories(memory)[k] = (group_history){0};
}
