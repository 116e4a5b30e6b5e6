/* What the steps since the last frame were like: the worst of their certificates, their work and
 * counts added up (rg_step_info_add). Gathered by the recorder, stored with every frame and,
 * between frames, with the checkpoint, so that a resumed run records what an undisturbed one does.
 * Without any step, or without a judge, the figures are NaN. */
#ifndef RIGOR_RECORD_INTERVAL_H
#define RIGOR_RECORD_INTERVAL_H

#include "record/record_checkpoint.h"

/* Which of FILE's tables a field is in. */
typedef enum rg_interval_table {
    RG_TABLE_CERTIFICATE,
    RG_TABLE_LEDGER,
    RG_TABLE_COUNTS,
    RG_TABLE_COUNT,
    RG_TABLE_NONE = RG_TABLE_COUNT
} rg_interval_table;
rg_interval_table rg_interval_table_of(const rg_summary_field *field);

/* Its numbers as words in the order of rg_summary_fields; `count` may be that of another version:
 * words that this one does not know are 0 and skipped, fields that it has beyond are left alone. */
void rg_interval_encode(const rg_step_info *interval, char *words, size_t count);
void rg_interval_decode(rg_step_info *interval, const char *words, size_t count);

#endif
