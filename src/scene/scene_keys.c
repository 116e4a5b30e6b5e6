/* The key tables themselves, made from the lists of the header. */
#include "scene/scene_keys.h"

#include <string.h>

#define KEY_NAME(identifier, name) name,
#define KEY_TABLE(list, count, table, name)                                                        \
    static const char *const table##_names[] = {list(KEY_NAME)};                                   \
    _Static_assert((int)(count) <= (int)RG_MAX_KEYS, "RG_MAX_KEYS is too small");                  \
    const rg_key_table table = {name, table##_names, (size_t)(count)};
RG_KEY_TABLE_LIST(KEY_TABLE)

#define TABLE_ADDRESS(list, count, table, name) &table,
static const rg_key_table *const tables[] = {RG_KEY_TABLE_LIST(TABLE_ADDRESS)};

size_t rg_key_table_count(void) {
    return sizeof tables / sizeof tables[0];
}
const rg_key_table *rg_key_table_at(size_t index) {
    return tables[index];
}

static const struct {
    const rg_key_table *table;
    const char *name, *message;
} later_keys[] = {
    {&rg_keys_top, "joints", "this version has no joints yet; remove the key"},
};

const char *rg_key_later(const rg_key_table *table, const char *key) {
    for (size_t i = 0; i < sizeof later_keys / sizeof later_keys[0]; i++)
        if (later_keys[i].table == table && strcmp(later_keys[i].name, key) == 0)
            return later_keys[i].message;
    return NULL;
}
