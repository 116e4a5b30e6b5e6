/* Checkpoints: see record_checkpoint.h.
 * Tested by tests/record/test_recorder.c. */
#include "record/record_checkpoint.h"

#include "base/base_text.h"
#include "record/record_interval.h"

#include <inttypes.h>
#include <string.h>

#define REAL(name, member)                                                                         \
    { name, offsetof(rg_step_info, member), false }
#define COUNT(name, member)                                                                        \
    { name, offsetof(rg_step_info, member), true }

/* Order and number are part of the journal's format: append only. */
const rg_summary_field rg_summary_fields[] = {
    COUNT("steps", steps),
    REAL("time_s", time),
    REAL("min_gap_m", certificate.min_gap),
    REAL("max_penetration_m", certificate.max_penetration),
    REAL("complementarity", certificate.complementarity),
    REAL("cone_violation", certificate.cone_violation),
    REAL("joint_error_m", certificate.joint_error),
    REAL("momentum_error_rel", certificate.momentum_error),
    REAL("initial_J", energy.initial),
    REAL("final_J", energy.final),
    REAL("impact_loss_J", energy.impact_loss),
    REAL("friction_work_J", energy.friction_work),
    REAL("stabilisation_J", energy.stabilisation),
    REAL("external_J", energy.external_work),
    REAL("prescribed_J", energy.prescribed_work),
    REAL("closure_J", energy.closure),
    REAL("closure_rel", energy.closure_rel),
    REAL("step_cpu_s", profile.step), /* by their first names */
    REAL("judge_cpu_s", profile.judge),
    COUNT("substeps", substeps),
    COUNT("rejected", rejected),
    COUNT("evaluations", evaluations),
    COUNT("contacts_max", contacts_max),
    COUNT("impacts", impacts),
    COUNT("solver_iterations", solver_iterations),
    COUNT("solver_failures", solver_failures),
    COUNT("fallbacks", fallbacks),
    REAL("integration_J", energy.integration),
    COUNT("solves", solves),
    COUNT("passed_through", passed_through),
};
const size_t rg_summary_field_count = sizeof rg_summary_fields / sizeof rg_summary_fields[0];

rg_checkpoint rg_checkpoint_make(const rg_allocator *allocator) {
    rg_checkpoint checkpoint = {.interval = rg_step_info_nothing(),
                                .state = rg_buffer_make(allocator),
                                .observations = rg_buffer_make(allocator)};
    for (int i = 0; i < RG_ROWS_COUNT; i++)
        checkpoint.pending[i] = rg_buffer_make(allocator);
    return checkpoint;
}

void rg_checkpoint_free(rg_checkpoint *checkpoint) {
    rg_buffer_free(&checkpoint->state);
    rg_buffer_free(&checkpoint->observations);
    for (int i = 0; i < RG_ROWS_COUNT; i++)
        rg_buffer_free(&checkpoint->pending[i]);
}

bool rg_checkpoint_pending_fits(const rg_checkpoint *checkpoint) {
    for (int i = 0; i < RG_ROWS_COUNT; i++)
        if (checkpoint->pending[i].size % rg_rows_size(i) != 0)
            return false;
    return checkpoint->pending[RG_ROWS_CONTACTS].size == 0;
}

static rg_status make_room(rg_buffer *buffer, size_t size) {
    buffer->size = 0;
    buffer->failed = false;
    return rg_array_reserve(&buffer->allocator, (void **)&buffer->data, &buffer->capacity, size, 1);
}

static rg_status replace_content(rg_buffer *buffer, const char *bytes, size_t size) {
    rg_status status = make_room(buffer, size);
    if (status == RG_OK && size > 0)
        memcpy(buffer->data, bytes, size);
    buffer->size = status == RG_OK ? size : 0;
    return status;
}

rg_status rg_checkpoint_take(rg_checkpoint *checkpoint, rg_scene *scene, uint64_t frames,
                             const rg_step_info *summary) {
    rg_world *world = rg_scene_world(scene);
    checkpoint->frames = frames;
    checkpoint->step = rg_world_step_count(world);
    checkpoint->time = rg_world_time(world);
    checkpoint->state_hash = rg_world_state_hash(world);
    checkpoint->summary = summary ? *summary : rg_world_summary(world);

    size_t size = 0;
    rg_status status = rg_world_save_state(world, NULL, 0, &size);
    if (status == RG_OK)
        status = make_room(&checkpoint->state, size);
    if (status == RG_OK)
        status = rg_world_save_state(world, checkpoint->state.data, size, &size);
    checkpoint->state.size = status == RG_OK ? size : 0;
    if (status == RG_OK)
        status = rg_scene_save_observations(scene, NULL, 0, &size);
    if (status == RG_OK)
        status = make_room(&checkpoint->observations, size);
    if (status == RG_OK)
        status = rg_scene_save_observations(scene, checkpoint->observations.data, size, &size);
    checkpoint->observations.size = status == RG_OK ? size : 0;
    return status;
}

rg_status rg_checkpoint_apply(const rg_checkpoint *checkpoint, rg_scene *scene, rg_error *error) {
    rg_world *world = rg_scene_world(scene);
    rg_status status =
        rg_world_load_state(world, checkpoint->state.data, checkpoint->state.size, error);
    if (status != RG_OK)
        return status;
    uint64_t hash = rg_world_state_hash(world);
    if (hash != checkpoint->state_hash || rg_world_step_count(world) != checkpoint->step)
        return rg_fail(error, RG_FILE_DAMAGED,
                       "the checkpoint at step %" PRIu64 " has state hash %016" PRIx64
                       ", but what it restores has %016" PRIx64
                       "; it may come from another version of rigor",
                       checkpoint->step, checkpoint->state_hash, hash);
    /* A scene from the text in FILE has no measures, whatever was observed. */
    if (!rg_scene_get_origin(scene).builtin)
        return RG_OK;
    return rg_scene_load_observations(scene, checkpoint->observations.data,
                                      checkpoint->observations.size, error);
}

/* Fields of the summary and, above them in the same word, of the interval: 0 in journals of format
 * 1, which had none. The highest bit says that the sizes of the pending rows follow: from format 3
 * on. */
enum { INTERVAL_SHIFT = 32 };
static const uint64_t has_pending = UINT64_C(1) << 63;

void rg_checkpoint_encode(const rg_checkpoint *checkpoint, rg_buffer *bytes) {
    rg_buffer_append(bytes, &checkpoint->frames, 8);
    rg_buffer_append(bytes, &checkpoint->step, 8);
    rg_buffer_append(bytes, &checkpoint->time, 8);
    rg_buffer_append(bytes, &checkpoint->state_hash, 8);
    rg_buffer_append(bytes, &checkpoint->duration, 8);
    uint64_t sizes[3 + RG_ROWS_PENDING] = {has_pending |
                                               (uint64_t)rg_summary_field_count << INTERVAL_SHIFT |
                                               (uint64_t)rg_summary_field_count,
                                           checkpoint->state.size, checkpoint->observations.size};
    for (int i = 0; i < RG_ROWS_PENDING; i++)
        sizes[3 + i] = checkpoint->pending[i].size;
    rg_buffer_append(bytes, sizes, sizeof sizes);
    const rg_step_info *const infos[2] = {&checkpoint->summary, &checkpoint->interval};
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < rg_summary_field_count; i++)
            rg_buffer_append(bytes, (const char *)infos[k] + rg_summary_fields[i].offset, 8);
    rg_buffer_append(bytes, checkpoint->state.data, checkpoint->state.size);
    rg_buffer_append(bytes, checkpoint->observations.data, checkpoint->observations.size);
    for (int i = 0; i < RG_ROWS_PENDING; i++)
        rg_buffer_append(bytes, checkpoint->pending[i].data, checkpoint->pending[i].size);
}

/* Where the parts of an encoded checkpoint are. */
typedef struct parts {
    uint64_t summary_fields, interval_fields;
    uint64_t sizes[2 + RG_ROWS_PENDING]; /* state, observations, pending rows */
    const char *figures, *bytes;
} parts;

static bool find_parts(const char *bytes, uint64_t size, parts *found) {
    enum { FIXED = 48 }; /* and the sizes of what is in any checkpoint: */
    uint64_t fields, left;
    *found = (parts){0};
    if (size < FIXED + 16)
        return false;
    memcpy(&fields, bytes + 40, 8);
    size_t sizes = (fields & has_pending) ? 2 + RG_ROWS_PENDING : 2;
    if (size < FIXED + 8 * sizes)
        return false;
    memcpy(found->sizes, bytes + FIXED, 8 * sizes);
    found->summary_fields = fields & UINT32_MAX;
    found->interval_fields = (fields & ~has_pending) >> INTERVAL_SHIFT;
    found->figures = bytes + FIXED + 8 * sizes;
    left = size - FIXED - 8 * sizes;
    fields = found->summary_fields + found->interval_fields;
    if (fields > left / 8)
        return false;
    found->bytes = found->figures + 8 * fields;
    left -= 8 * fields;
    for (size_t i = 0; i < sizes; i++) {
        if (found->sizes[i] > left)
            return false;
        left -= found->sizes[i];
    }
    return left == 0;
}

rg_status rg_checkpoint_decode(rg_checkpoint *checkpoint, const char *bytes, uint64_t size) {
    parts found;
    if (!find_parts(bytes, size, &found))
        return RG_FILE_DAMAGED;
    memcpy(&checkpoint->frames, bytes, 8);
    memcpy(&checkpoint->step, bytes + 8, 8);
    memcpy(&checkpoint->time, bytes + 16, 8);
    memcpy(&checkpoint->state_hash, bytes + 24, 8);
    memcpy(&checkpoint->duration, bytes + 32, 8);
    /* Fields that a later version appended are skipped, those that an earlier one lacked are 0. */
    checkpoint->summary = (rg_step_info){0};
    rg_interval_decode(&checkpoint->summary, found.figures, (size_t)found.summary_fields);
    checkpoint->interval = rg_step_info_nothing();
    rg_interval_decode(&checkpoint->interval, found.figures + 8 * found.summary_fields,
                       (size_t)found.interval_fields);
    rg_buffer *const places[2 + RG_ROWS_PENDING] = {
        &checkpoint->state, &checkpoint->observations, &checkpoint->pending[RG_ROWS_CONTACTS],
        &checkpoint->pending[RG_ROWS_EVENTS], &checkpoint->pending[RG_ROWS_IMPULSES]};
    rg_status status = RG_OK;
    for (size_t i = 0; i < 2 + RG_ROWS_PENDING && status == RG_OK; i++) {
        status = replace_content(places[i], found.bytes, (size_t)found.sizes[i]);
        found.bytes += found.sizes[i];
    }
    if (status == RG_OK && !rg_checkpoint_pending_fits(checkpoint))
        status = RG_FILE_DAMAGED;
    return status;
}
