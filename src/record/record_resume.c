/* Going on with a recording: the scene is rebuilt from FILE, the world brought to the last
 * checkpoint, and the journal cut back to it. The frames after the checkpoint are made again, bit
 * for bit the same.
 *
 * A built-in scene is rebuilt by its name and parameters, because only that brings its measures
 * back; but only if it still is the scene that FILE holds, to the letter. Otherwise (another
 * version of rigor changed it) the text in FILE is what counts, and the measures are lost.
 * Tested by tests/record/test_recorder.c. */
#include "record/record_recorder.h"

#include "base/base_text.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Beyond it, whole numbers of steps are no longer told apart. */
static const double most_steps = 0x1p53;

/* What was found on the disk. */
typedef struct remains {
    rg_disk_file file;
    rg_store *store;
    rg_journal journal;    /* its file is taken for this process */
    bool journal_is_newer; /* its checkpoint is the one to go on from */
} remains;

static void let_go(remains *found, const rg_allocator *allocator) {
    if (found->store)
        (void)rg_store_close(found->store, NULL);
    rg_disk_close(&found->file);
    rg_journal_free(&found->journal, allocator);
}

static rg_status fail_at_file(const rg_recorder *recorder, rg_error *error, int number) {
    char text[RG_DISK_MESSAGE_SIZE];
    return rg_fail(error, RG_FILE_UNREADABLE, "%s: cannot be read: %s", recorder->paths.file,
                   rg_disk_message(number, text));
}

/* The journal's last checkpoint, if it is later than FILE's, into recorder->checkpoint. */
static rg_status look_into_journal(rg_recorder *recorder, remains *found, rg_error *error) {
    const rg_journal *journal = &found->journal;
    if (!rg_store_owns_journal(found->store, journal))
        return RG_OK;
    size_t frames = rg_store_frame_count(found->store);
    if (journal->header.first_frame > frames)
        return rg_fail(error, RG_FILE_DAMAGED,
                       "%s: begins with frame %llu, but %s has only %zu; one of the two is an old "
                       "copy",
                       recorder->paths.journal, (unsigned long long)journal->header.first_frame,
                       recorder->paths.file, frames);
    if (journal->checkpoint.length == 0)
        return RG_OK;
    rg_checkpoint later = rg_checkpoint_make(&recorder->allocator);
    rg_buffer buffer = rg_buffer_make(&recorder->allocator);
    const char *payload;
    rg_status status =
        rg_journal_read_block(journal, journal->checkpoint.offset, &buffer, &payload);
    if (status == RG_OK)
        status = rg_checkpoint_decode(&later, payload, journal->checkpoint.length);
    /* One that does not decode is passed over, like any damage in a journal. */
    if (status == RG_OK && later.step > recorder->checkpoint.step && later.frames >= frames &&
        later.frames == journal->header.first_frame + journal->checkpoint_frames) {
        rg_checkpoint older = recorder->checkpoint;
        recorder->checkpoint = later;
        later = older;
        found->journal_is_newer = true;
    }
    rg_buffer_free(&buffer);
    rg_checkpoint_free(&later);
    if (status == RG_OUT_OF_MEMORY)
        return rg_fail(error, status, "%s: no memory", recorder->paths.journal);
    return RG_OK;
}

static rg_status look(rg_recorder *recorder, remains *found, rg_error *error) {
    const rg_allocator *allocator = &recorder->allocator;
    *found = (remains){.file.fd = -1, .journal.file.fd = -1};
    int failed = rg_disk_open(&recorder->disk, recorder->paths.file, RG_DISK_READ, &found->file);
    if (failed)
        return fail_at_file(recorder, error, failed);
    rg_disk_file journal_file;
    rg_status status = rg_recorder_take_journal(recorder, &journal_file, error);
    if (status == RG_OK && journal_file.fd >= 0)
        status = rg_journal_scan(&found->journal, journal_file, allocator);
    if (status == RG_OK)
        status = rg_store_open(found->file, allocator, &found->store, error);
    /* Nobody shall be told that a damaged recording is complete, nor compute for hours to learn
     * at the next fold that it is not. */
    if (status == RG_OK)
        status = rg_store_verify(found->store, error);
    if (status == RG_OK)
        status = rg_store_get_checkpoint(found->store, &recorder->checkpoint, error);
    if (status == RG_OK) {
        recorder->file_frames = rg_store_frame_count(found->store);
        recorder->file_step = recorder->checkpoint.step;
        recorder->file_finished = rg_store_is_finished(found->store);
        const rg_store_identity *identity = rg_store_get_identity(found->store);
        recorder->run_id = identity->run_id;
        recorder->has_certificate = identity->has_certificate;
        recorder->rows = identity->rows;
        failed = rg_disk_size(&found->file, &recorder->file_size);
        status = failed ? fail_at_file(recorder, error, failed)
                        : look_into_journal(recorder, found, error);
    }
    return status;
}

/* ---- the scene ---- */

enum { MOST_PARAMETERS = 32 };

/* The lines "name=value" of the built-in scene, cut up in place. False if there are too many. */
static bool parse_parameters(char *lines, rg_scene_parameter *parameters, size_t *count) {
    *count = 0;
    while (*lines) {
        char *equals = strchr(lines, '='), *end = strchr(lines, '\n');
        if (!equals || !end || equals > end || *count == MOST_PARAMETERS)
            return false;
        *equals = *end = '\0';
        parameters[(*count)++] = (rg_scene_parameter){lines, equals + 1};
        lines = end + 1;
    }
    return true;
}

/* Whether the scene, not yet run, is the one in FILE, to the letter. */
static bool is_scene_of_file(const rg_scene *scene, const rg_store_identity *identity,
                             const rg_allocator *allocator) {
    char *text;
    size_t size;
    if (rg_scene_write_text(scene, allocator, &text, &size, NULL) != RG_OK)
        return false;
    bool same = size == identity->scene_size && memcmp(text, identity->scene_text, size) == 0;
    rg_release(allocator, text);
    return same;
}

/* Settings that the command line gave (solver, gamma, ...) are in the file's text. False if it
 * cannot be read. */
static bool take_settings_of_file(rg_scene *scene, const rg_store_identity *identity,
                                  const rg_scene_options *options) {
    rg_scene *written;
    if (rg_scene_read_text(identity->scene_text, identity->scene_size, identity->scene_name, NULL,
                           options, &written, NULL) != RG_OK)
        return false;
    const rg_world *world = rg_scene_world(written);
    rg_method_settings settings = rg_world_settings(world);
    rg_status status =
        rg_world_set_method(rg_scene_world(scene), rg_world_method(world), &settings, NULL);
    if (status == RG_OK)
        status = rg_scene_set_step_size(scene, rg_scene_step_size(written), NULL);
    rg_scene_destroy(written);
    return status == RG_OK;
}

/* The option that gives the file's number of contact points; null if it cannot be read. */
static const char *points_of_file(const rg_store_identity *identity,
                                  const rg_scene_options *options, char text[16]) {
    rg_scene *written;
    if (rg_scene_read_text(identity->scene_text, identity->scene_size, identity->scene_name, NULL,
                           options, &written, NULL) != RG_OK)
        return NULL;
    uint32_t most = rg_world_collision_def(rg_scene_world(written)).contacts.reduce_to;
    rg_scene_destroy(written);
    snprintf(text, 16, "%u", (unsigned)most);
    return most ? text : NULL;
}

/* The built-in scene, if it is still the same; otherwise *scene stays null. */
static void rebuild_builtin(const rg_recorder *recorder, const rg_store_identity *identity,
                            const rg_scene_options *options, rg_scene **scene) {
    rg_scene_parameter parameters[MOST_PARAMETERS];
    rg_scene_options all = *options;
    char *lines = rg_copy_text(&recorder->allocator, identity->builtin_parameters);
    if (lines && parse_parameters(lines, parameters, &all.parameter_count)) {
        all.parameters = parameters;
        all.method = identity->method;
        all.step = identity->step;
        char points[16];
        all.points = points_of_file(identity, options, points);
        if (rg_scene_create_builtin(identity->builtin, &all, scene, NULL) == RG_OK &&
            !is_scene_of_file(*scene, identity, &recorder->allocator) &&
            !(take_settings_of_file(*scene, identity, options) &&
              is_scene_of_file(*scene, identity, &recorder->allocator))) {
            rg_scene_destroy(*scene);
            *scene = NULL;
        }
    }
    rg_release(&recorder->allocator, lines);
}

static rg_status rebuild_scene(const rg_recorder *recorder, const rg_store_identity *identity,
                               const rg_scene_options *options, rg_scene **scene, rg_error *error) {
    rg_scene_options kept = options ? *options : (rg_scene_options){0};
    if (identity->builtin[0])
        rebuild_builtin(recorder, identity, &kept, scene);
    if (*scene)
        return RG_OK;
    return rg_scene_read_text(identity->scene_text, identity->scene_size, identity->scene_name,
                              NULL, &kept, scene, error);
}

/* ---- putting it together ---- */

/* The journal goes on after its last checkpoint, or a fresh one begins after FILE. */
static rg_status go_on_writing(rg_recorder *recorder, remains *found, rg_error *error) {
    if (!found->journal_is_newer)
        return rg_fold_start_journal(recorder, error);
    const rg_journal_block *checkpoint = &found->journal.checkpoint;
    rg_journal_writer *writer = &recorder->journal;
    writer->file = found->journal.file;
    writer->file.disk = &recorder->disk;
    writer->run_id = recorder->run_id;
    writer->end = checkpoint->offset + checkpoint->length + RG_JOURNAL_PREFIX + RG_JOURNAL_CHECKSUM;
    found->journal.file.fd = -1; /* the writer's now */
    recorder->journal_header = found->journal.header;
    int failed = rg_disk_truncate(&writer->file, writer->end);
    return failed ? rg_recorder_fail(recorder, error, recorder->paths.journal, failed) : RG_OK;
}

/* Whether the run can be made to last as long as it is meant to; checked while nothing on the
 * disk has been changed. */
static rg_status check_duration(const rg_recorder *recorder, rg_scene *scene, rg_error *error) {
    const rg_world *world = rg_scene_world(scene);
    double step = rg_scene_step_size(scene);
    bool is_new = recorder->options.duration > 0;
    double duration = is_new ? recorder->options.duration : recorder->checkpoint.duration;
    if (!(duration / step < most_steps))
        return rg_fail(error, RG_INVALID_ARGUMENT,
                       "%s: %g s in steps of %g s are more steps than can be counted",
                       recorder->paths.file, duration, step);
    /* The nearest whole number of steps is made, so that half a step less is as good. */
    if (is_new && duration < rg_world_time(world) - 0.5 * step)
        return rg_fail(error, RG_INVALID_ARGUMENT,
                       "%s: is already at t = %g s, past a duration of %g s; leave the duration "
                       "out or make it longer",
                       recorder->paths.file, rg_world_time(world), duration);
    return RG_OK;
}

static rg_status resume(rg_recorder *recorder, const rg_scene_options *options, rg_scene **scene,
                        rg_error *error) {
    remains found;
    rg_status status = look(recorder, &found, error);
    const char *partial = status == RG_OK ? rg_store_get_identity(found.store)->partial : NULL;
    if (partial)
        status =
            rg_fail(error, RG_UNSUPPORTED, "%s: cannot be resumed, only its program can go on: %s",
                    recorder->paths.file, partial);
    if (status == RG_OK)
        status = rebuild_scene(recorder, rg_store_get_identity(found.store), options, scene, error);
    if (status == RG_OK)
        status = rg_checkpoint_apply(&recorder->checkpoint, *scene, error);
    if (status == RG_OK)
        status = check_duration(recorder, *scene, error);
    if (status == RG_OK && rg_recorder_set_scene(recorder, *scene) != RG_OK)
        status = rg_fail(error, RG_OUT_OF_MEMORY, "%s: no memory", recorder->paths.file);
    recorder->frame_count = recorder->checkpoint.frames;
    if (recorder->options.duration > 0)
        recorder->checkpoint.duration = recorder->options.duration;
    if (status == RG_OK)
        status = go_on_writing(recorder, &found, error);
    let_go(&found, &recorder->allocator);
    return status;
}

static bool changes_scene(const rg_scene_options *options) {
    return options->method || options->step != 0 || options->parameter_count || options->solver ||
           options->solver_tolerance != 0 || options->impact || options->integrator ||
           options->root_finder || options->friction || options->detection || options->gamma;
}

rg_status rg_recorder_resume_tuned(const char *path, const rg_recorder_options *options,
                                   const rg_scene_options *scene_options,
                                   const rg_recorder_tuning *tuning, rg_scene **scene,
                                   rg_recorder **recorder, rg_error *error) {
    assert(path && scene && recorder);
    *scene = NULL;
    *recorder = NULL;
    if (scene_options && changes_scene(scene_options))
        return rg_fail(
            error, RG_INVALID_ARGUMENT,
            "%s: a resumed run keeps the parameters, method and settings that it was started "
            "with",
            path);
    rg_allocator allocator = rg_allocator_or_default(options ? options->allocator : NULL);
    rg_recorder *made = rg_recorder_make(path, options, &allocator, tuning);
    if (!made)
        return rg_fail(error, RG_OUT_OF_MEMORY, "%s: no memory for a recording", path);
    rg_status status = resume(made, scene_options, scene, error);
    if (status != RG_OK) {
        rg_recorder_free(made);
        rg_scene_destroy(*scene);
        *scene = NULL;
        return status;
    }
    rg_recorder_start_clock(made);
    *recorder = made;
    return RG_OK;
}

rg_status rg_recorder_resume(const char *path, const rg_recorder_options *options,
                             const rg_scene_options *scene_options, rg_scene **scene,
                             rg_recorder **recorder, rg_error *error) {
    return rg_recorder_resume_tuned(path, options, scene_options, NULL, scene, recorder, error);
}
