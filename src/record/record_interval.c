/* What the steps since the last frame were like: see record_interval.h.
 * Tested by tests/record/test_contacts.c. */
#include "record/record_interval.h"

#include <string.h>

static bool is_within(size_t offset, size_t start, size_t size) {
    return offset >= start && offset < start + size;
}

rg_interval_table rg_interval_table_of(const rg_summary_field *field) {
    if (is_within(field->offset, offsetof(rg_step_info, certificate), sizeof(rg_certificate)))
        return RG_TABLE_CERTIFICATE;
    if (is_within(field->offset, offsetof(rg_step_info, energy), sizeof(rg_energy_ledger)))
        return RG_TABLE_LEDGER;
    return field->is_count ? RG_TABLE_COUNTS : RG_TABLE_NONE;
}

void rg_interval_encode(const rg_step_info *interval, char *words, size_t count) {
    memset(words, 0, 8 * count);
    for (size_t i = 0; i < rg_summary_field_count && i < count; i++)
        memcpy(words + 8 * i, (const char *)interval + rg_summary_fields[i].offset, 8);
}

void rg_interval_decode(rg_step_info *interval, const char *words, size_t count) {
    for (size_t i = 0; i < rg_summary_field_count && i < count; i++)
        memcpy((char *)interval + rg_summary_fields[i].offset, words + 8 * i, 8);
}
