/* The memory of contacts: forces of the last step by colliders, parts and points.
 *
 * Tested by tests/step/test_contact_memory.c. */
#include "step/step_contact_memory.h"

#include "base/base_sort.h"

static int compare_numbers(uint64_t a, uint64_t b) {
    return a < b ? -1 : a > b;
}

int rg_contact_key_compare(const rg_contact_key *x, const rg_contact_key *y) {
    int order = compare_numbers(x->collider_b.index1, y->collider_b.index1);
    if (!order)
        order = compare_numbers(x->collider_a.index1, y->collider_a.index1);
    if (!order)
        order = compare_numbers(x->part_b, y->part_b);
    if (!order)
        order = compare_numbers(x->part_a, y->part_a);
    return order ? order : compare_numbers(x->id, y->id);
}

rg_contact_key rg_contact_force_key(const rg_contact_force *f) {
    return (rg_contact_key){f->collider_b, f->collider_a, f->part_b, f->part_a, f->id};
}

bool rg_contact_force_before(const rg_contact_force *f, const rg_contact_force *g) {
    rg_contact_key x = rg_contact_force_key(f), y = rg_contact_force_key(g);
    return rg_contact_key_compare(&x, &y) < 0;
}

RG_DEFINE_HEAP_SORT(sort_forces, rg_contact_force, rg_contact_force_before)

void rg_contact_forces_sort(rg_contact_force *forces, size_t count) {
    size_t i = 1;
    while (i < count && rg_contact_force_before(&forces[i - 1], &forces[i]))
        i++;
    if (i < count)
        sort_forces(forces, count);
}

static int compare_at(const rg_contact_memory *memory, size_t i, const rg_contact_key *key) {
    rg_contact_key own = rg_contact_force_key(&memory->forces[i]);
    return rg_contact_key_compare(&own, key);
}

static bool is_at(const rg_contact_memory *memory, size_t i, const rg_contact_key *key) {
    if (i >= memory->count)
        return false;
    const rg_contact_force *f = &memory->forces[i];
    return f->collider_b.index1 == key->collider_b.index1 &&
           f->collider_a.index1 == key->collider_a.index1 && f->part_b == key->part_b &&
           f->part_a == key->part_a && f->id == key->id;
}

/* The first one that is not before the key. */
static size_t lower_bound(const rg_contact_memory *memory, const rg_contact_key *key) {
    size_t low = 0, high = memory->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_at(memory, middle, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const rg_contact_force *rg_contact_memory_find(rg_contact_memory *memory,
                                               const rg_contact_key *key) {
    size_t i = memory->next;
    if (!is_at(memory, i, key)) {
        i = lower_bound(memory, key);
        if (!is_at(memory, i, key))
            return NULL;
    }
    const rg_contact_force *f = &memory->forces[i];
    memory->next = i + 1;
    bool same = f->collider_b.generation == key->collider_b.generation &&
                f->collider_a.generation == key->collider_a.generation;
    return same ? f : NULL;
}

size_t rg_contact_memory_first(const rg_contact_memory *memory, rg_collider_id collider_b,
                               rg_collider_id collider_a) {
    return lower_bound(memory,
                       &(rg_contact_key){.collider_b = collider_b, .collider_a = collider_a});
}
