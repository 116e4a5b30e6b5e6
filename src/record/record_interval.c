/* What the steps since the last frame were like: see record_interval.h. */
#include "record/record_interval.h"

#include "step/step_judge.h"

#include <math.h>
#include <string.h>

rg_step_info rg_interval_make(void) {
    rg_step_info interval = {0};
    rg_judge_measure_nothing(&interval);
    return interval;
}

static void add_ledger(rg_energy_ledger *sum, const rg_energy_ledger *step) {
    if (isnan(step->initial) && isnan(step->final))
        return; /* no judge */
    if (isnan(sum->initial) && isnan(sum->final))
        *sum = (rg_energy_ledger){.initial = step->initial};
    sum->final = step->final;
    sum->impact_loss += step->impact_loss;
    sum->friction_work += step->friction_work;
    sum->stabilisation += step->stabilisation;
    sum->integration += step->integration;
    sum->external_work += step->external_work;
    sum->prescribed_work += step->prescribed_work;
    sum->closure += step->closure;
    sum->closure_rel = fmax(sum->closure_rel, step->closure_rel);
}

void rg_interval_add(rg_step_info *interval, const rg_step_info *step) {
    interval->steps += step->steps;
    interval->time = step->time;
    rg_certificate_keep_worst(&interval->certificate, &step->certificate);
    add_ledger(&interval->energy, &step->energy);
    interval->substeps += step->substeps;
    interval->rejected += step->rejected;
    interval->evaluations += step->evaluations;
    if (step->contacts_max > interval->contacts_max)
        interval->contacts_max = step->contacts_max;
    interval->impacts += step->impacts;
    interval->solves += step->solves;
    interval->solver_iterations += step->solver_iterations;
    interval->solver_failures += step->solver_failures;
    interval->fallbacks += step->fallbacks;
}

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
