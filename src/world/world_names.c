/* Names of bodies: a hash table by open addressing with linear probing, which holds body slots and
 * compares with the names in the records. Removal closes the gap by moving later entries back
 * (no tombstones), so that a table never degrades.
 * Tested by tests/step/test_world.c. */
#include "world/world.h"

#include "base/base_hash.h"

#include <string.h>

static uint64_t hash_name(const char *name) {
    return rg_hash_bytes(rg_hash_begin(), name, strlen(name));
}

static const char *name_of_slot(const rg_world_content *content, uint32_t slot1) {
    return content->record[content->bodies.slots[slot1 - 1].dense].name;
}

/* Where the name is, or the empty place where it would go. */
static size_t place_of(const rg_world_content *content, const char *name) {
    size_t mask = content->name_table_size - 1;
    size_t place = (size_t)hash_name(name) & mask;
    while (content->name_table[place] &&
           strcmp(name_of_slot(content, content->name_table[place]), name) != 0)
        place = (place + 1) & mask;
    return place;
}

static rg_status grow_table(rg_world *world) {
    rg_world_content *content = &world->content;
    size_t size = content->name_table_size ? 2 * content->name_table_size : 16;
    uint32_t *table = rg_allocate_zeroed(&world->allocator, size, sizeof *table);
    if (!table)
        return RG_OUT_OF_MEMORY;
    uint32_t *old = content->name_table;
    size_t old_size = content->name_table_size;
    content->name_table = table;
    content->name_table_size = size;
    for (size_t i = 0; i < old_size; i++)
        if (old[i])
            table[place_of(content, name_of_slot(content, old[i]))] = old[i];
    rg_release(&world->allocator, old);
    return RG_OK;
}

rg_status rg_names_add(rg_world *world, rg_body_id body) {
    rg_world_content *content = &world->content;
    if (2 * (content->name_count + 1) > content->name_table_size) {
        rg_status status = grow_table(world);
        if (status)
            return status;
    }
    const char *name = name_of_slot(content, body.index1);
    content->name_table[place_of(content, name)] = body.index1;
    content->name_count++;
    return RG_OK;
}

void rg_names_remove(rg_world_content *content, rg_body_id body) {
    size_t mask = content->name_table_size - 1;
    size_t hole = place_of(content, name_of_slot(content, body.index1));
    for (size_t next = (hole + 1) & mask; content->name_table[next]; next = (next + 1) & mask) {
        size_t home = (size_t)hash_name(name_of_slot(content, content->name_table[next])) & mask;
        /* The entry may move back into the hole unless its home lies between hole and next. */
        if (((next - home) & mask) >= ((next - hole) & mask)) {
            content->name_table[hole] = content->name_table[next];
            hole = next;
        }
    }
    content->name_table[hole] = 0;
    content->name_count--;
}

bool rg_names_find(const rg_world_content *content, const char *name, rg_body_id *body) {
    if (!content->name_table_size)
        return false;
    uint32_t slot1 = content->name_table[place_of(content, name)];
    if (slot1)
        *body = (rg_body_id){slot1, content->bodies.slots[slot1 - 1].generation};
    return slot1 != 0;
}
