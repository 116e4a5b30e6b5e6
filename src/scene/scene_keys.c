/* The key tables themselves, made from the lists of the header. */
#include "scene/scene_keys.h"

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
