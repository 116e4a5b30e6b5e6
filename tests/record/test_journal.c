/* Journals cut off at every byte, damaged at every byte (with contacts, at one in a few), and left
 * over from other runs: what is before the damage counts, what is after it does not, and the run
 * can always go on. */
#include "record_support.h"

enum { FRAMES = 5 };

/* A recording that was killed after FRAMES frames (the first one in FILE), and where the blocks of
 * its journal end. */
typedef struct killed_run {
    run_truth truth;
    bytes file, journal;
    size_t frame_end[FRAMES + 1];      /* journal bytes up to frame i (of the journal) */
    size_t checkpoint_end[FRAMES + 1]; /* and up to its checkpoint, if it has one */
    bool has_checkpoint[FRAMES + 1];
} killed_run;

static killed_run *make_victim_of(const char *text) {
    char path[256], journal_path[256];
    in_directory("victim.h5", path);
    in_directory("victim.h5.journal", journal_path);
    killed_run *victim = calloc(1, sizeof *victim);
    assert_non_null(victim);
    victim->truth = find_truth(text);
    rg_scene *scene = scene_of_text(text);
    rg_recorder_options options = {.checkpoint_every = 1e9, .overwrite = true};
    rg_recorder *recorder;
    rg_error error = {0};
    assert_int_equal(rg_recorder_open(scene, path, &options, &recorder, &error), RG_OK);
    for (int i = 1; i < FRAMES; i++) {
        step_recorded(scene, recorder);
        assert_int_equal(rg_recorder_frame(recorder, NULL, &error), RG_OK);
        victim->frame_end[i] = recorder->journal.end;
        if (i == 2 || i == 3) {
            assert_int_equal(rg_recorder_checkpoint(recorder, &error), RG_OK);
            victim->has_checkpoint[i] = true;
            victim->checkpoint_end[i] = recorder->journal.end;
        }
    }
    victim->file = read_bytes(path);
    victim->journal = read_bytes(journal_path);
    assert_int_equal(victim->journal.size, recorder->journal.end);
    rg_recorder_free(recorder); /* without closing: as a kill would */
    rg_scene_destroy(scene);
    write_bytes(path, victim->file.data, victim->file.size);
    return victim;
}

static killed_run *make_victim(void) {
    return make_victim_of(on_a_floor);
}

static void free_victim(killed_run *victim) {
    free(victim->file.data);
    free(victim->journal.data);
    free(victim);
}

/* Frames and last checkpoint of what is left after `size` journal bytes. */
static size_t frames_within(const killed_run *victim, size_t size) {
    size_t frames = 1;
    for (int i = 1; i < FRAMES; i++)
        frames += victim->frame_end[i] <= size;
    return frames;
}

static uint64_t checkpoint_within(const killed_run *victim, size_t size) {
    uint64_t step = 0;
    for (int i = 1; i < FRAMES; i++)
        if (victim->has_checkpoint[i] && victim->checkpoint_end[i] <= size)
            step = (uint64_t)i;
    return step;
}

/* Resumes, checks where that is, and goes on to `steps` (or lets go at once if that is 0). */
static void check_resume(const char *path, const killed_run *victim, uint64_t expected,
                         uint64_t steps) {
    rg_scene *scene;
    rg_recorder *recorder;
    rg_error error = {0};
    if (rg_recorder_resume(path, NULL, NULL, &scene, &recorder, &error) != RG_OK)
        fail_msg("%s", error.text);
    rg_world *world = rg_scene_world(scene);
    assert_int_equal(rg_world_step_count(world), expected);
    assert_true(rg_world_state_hash(world) == victim->truth.hash[expected]);
    if (steps == 0) {
        rg_recorder_free(recorder);
    } else {
        while (rg_world_step_count(world) < steps) {
            step_recorded(scene, recorder);
            assert_int_equal(rg_recorder_frame(recorder, NULL, &error), RG_OK);
        }
        assert_true(rg_world_state_hash(world) == victim->truth.hash[steps]);
        assert_int_equal(rg_recorder_close(recorder, true, &error), RG_OK);
        assert_int_equal(check_recording(path, &victim->truth), steps + 1);
    }
    rg_scene_destroy(scene);
}

/* Between the places that are tried: one in three as a rule, all in a long run; odd, so that every
 * byte of numbers gets its turn. */
static size_t stride_of(size_t shortest) {
    return (shortest * (test_is_long() ? 1 : 3) * (size_t)test_stride()) | 1;
}

static void check_truncated(const char *text, size_t shortest) {
    size_t stride = stride_of(shortest);
    killed_run *victim = make_victim_of(text);
    char path[256], journal_path[256];
    in_directory("victim.h5", path);
    in_directory("victim.h5.journal", journal_path);
    for (size_t size = 0; size <= victim->journal.size; size += stride) {
        write_bytes(journal_path, victim->journal.data, size);
        assert_int_equal(check_recording(path, &victim->truth), frames_within(victim, size));
        check_resume(path, victim, checkpoint_within(victim, size), 0);
        /* Neither reading nor resuming has changed FILE. */
        if (size / stride % 97 == 0) {
            bytes now = read_bytes(path);
            assert_int_equal(now.size, victim->file.size);
            assert_memory_equal(now.data, victim->file.data, now.size);
            free(now.data);
        }
    }
    free_victim(victim);
}

static void test_truncated_anywhere(void **state) {
    (void)state;
    check_truncated(two_bodies, 1);
    check_truncated(on_a_floor, 19);
}

static void test_resumed_to_the_end(void **state) {
    (void)state;
    killed_run *victim = make_victim();
    char path[256], journal_path[256];
    in_directory("victim.h5", path);
    in_directory("victim.h5.journal", journal_path);
    for (size_t size = 0; size <= victim->journal.size; size += 211 * (size_t)test_stride()) {
        write_bytes(path, victim->file.data, victim->file.size);
        write_bytes(journal_path, victim->journal.data, size);
        check_resume(path, victim, checkpoint_within(victim, size), 12);
        assert_int_equal(access(journal_path, F_OK), -1);
    }
    free_victim(victim);
}

static void check_damaged(const char *text, size_t shortest) {
    size_t stride = stride_of(shortest);
    killed_run *victim = make_victim_of(text);
    char path[256], journal_path[256];
    in_directory("victim.h5", path);
    in_directory("victim.h5.journal", journal_path);
    rg_random random = rg_random_make(7);
    char *damaged = malloc(victim->journal.size);
    assert_non_null(damaged);
    for (size_t at = 0; at < victim->journal.size; at += stride) {
        memcpy(damaged, victim->journal.data, victim->journal.size);
        damaged[at] ^= (char)(1 << rg_random_below(&random, 8));
        write_bytes(journal_path, damaged, victim->journal.size);
        /* The block that was hit and all after it are gone, all before it are there. */
        size_t frames = check_recording(path, &victim->truth);
        assert_int_equal(frames, frames_within(victim, at));
        if (at / stride % 7 == 0)
            check_resume(path, victim, checkpoint_within(victim, at), 0);
    }
    free(damaged);
    free_victim(victim);
}

static void test_damaged_anywhere(void **state) {
    (void)state;
    check_damaged(two_bodies, 1);
    check_damaged(on_a_floor, 13);
}

/* A frame whose checksum is right, but which is not as long as its rows are many. */
static void test_contacts_that_do_not_fit(void **state) {
    (void)state;
    char path[256], journal_path[256];
    in_directory("many.h5", path);
    in_directory("many.h5.journal", journal_path);
    run_truth truth = find_truth(on_a_floor);
    for (int lie = 0; lie < 7; lie++) {
        rg_scene *scene = scene_of_text(on_a_floor);
        rg_recorder_options options = {.checkpoint_every = 1e9, .overwrite = true};
        rg_recorder *recorder;
        rg_error error = {0};
        assert_int_equal(rg_recorder_open(scene, path, &options, &recorder, &error), RG_OK);
        step_recorded(scene, recorder);
        assert_int_equal(rg_recorder_frame(recorder, NULL, &error), RG_OK);
        step_recorded(scene, recorder);
        uint64_t start = recorder->journal.end;
        assert_int_equal(rg_recorder_frame(recorder, NULL, &error), RG_OK);
        /* The last frame once more at the same place, with another number of contacts. */
        rg_journal_writer *writer = &recorder->journal;
        size_t kinds = 0;
        for (int i = 0; i < RG_ROWS_COUNT; i++)
            kinds += rg_rows_has(recorder->journal_header.rows, i);
        size_t at = RG_JOURNAL_PREFIX + (size_t)rg_journal_frame_size(&recorder->journal_header) -
                    8 * kinds;
        uint64_t count;
        memcpy(&count, writer->block.data + at, 8);
        assert_int_equal(count, truth.contacts[2]);
        const uint64_t lies[] = {count, count + 1, count - 1, 0, UINT64_MAX, UINT64_C(1) << 61};
        const uint64_t event = 1;
        if (lie < 6)
            memcpy(writer->block.data + at, &lies[lie], 8);
        else
            memcpy(writer->block.data + at + 8, &event, 8);
        writer->block.size -= RG_JOURNAL_CHECKSUM;
        writer->end = start;
        assert_int_equal(rg_journal_end_block(writer), 0);
        rg_recorder_free(recorder);
        rg_scene_destroy(scene);
        assert_int_equal(check_recording(path, &truth), lie == 0 ? 3 : 2);
        assert_int_equal(remove(journal_path), 0);
    }
}

static void test_rubbish_after_the_end(void **state) {
    (void)state;
    killed_run *victim = make_victim();
    char path[256], journal_path[256];
    in_directory("victim.h5", path);
    in_directory("victim.h5.journal", journal_path);
    char *longer = calloc(1, victim->journal.size + 5000);
    assert_non_null(longer);
    memcpy(longer, victim->journal.data, victim->journal.size);
    write_bytes(journal_path, longer, victim->journal.size + 5000); /* zeros, as after a crash */
    assert_int_equal(check_recording(path, &victim->truth), FRAMES);
    /* A block of the same run at another place is not one. */
    memcpy(longer + victim->journal.size, victim->journal.data + victim->frame_end[1],
           victim->frame_end[2] - victim->frame_end[1]);
    write_bytes(journal_path, longer, victim->journal.size + 5000);
    assert_int_equal(check_recording(path, &victim->truth), FRAMES);
    check_resume(path, victim, 3, 12);
    free(longer);
    free_victim(victim);
}

static void test_journal_of_another_run(void **state) {
    (void)state;
    killed_run *victim = make_victim();
    char path[256], journal_path[256];
    in_directory("victim.h5", path);
    in_directory("victim.h5.journal", journal_path);
    /* The same scene recorded anew: another run id, so that the old journal counts for nothing. */
    rg_scene *scene = scene_of_text(on_a_floor);
    rg_recorder_options options = {.overwrite = true};
    rg_recorder *recorder;
    assert_int_equal(rg_recorder_open(scene, path, &options, &recorder, NULL), RG_OK);
    assert_int_equal(rg_recorder_close(recorder, false, NULL), RG_OK);
    rg_scene_destroy(scene);
    write_bytes(journal_path, victim->journal.data, victim->journal.size);
    assert_int_equal(check_recording(path, &victim->truth), 1);
    check_resume(path, victim, 0, 12);
    free_victim(victim);
}

/* The state of things between step 2 and step 4 of a fold: FILE has the journal's frames already.
 */
static void test_old_journal_and_newer_file(void **state) {
    (void)state;
    killed_run *victim = make_victim();
    char path[256], journal_path[256];
    in_directory("victim.h5", path);
    in_directory("victim.h5.journal", journal_path);
    write_bytes(journal_path, victim->journal.data, victim->journal.size);
    check_resume(path, victim, 3, 9); /* closes: FILE has 10 frames */
    write_bytes(journal_path, victim->journal.data, victim->journal.size);
    assert_int_equal(check_recording(path, &victim->truth), 10);
    rg_recording *recording;
    assert_int_equal(rg_recording_open(path, &recording, NULL), RG_OK);
    assert_true(rg_recording_get_info(recording).finished);
    assert_false(rg_recording_get_info(recording).recovered);
    rg_recording_close(recording);
    check_resume(path, victim, 9, 12);
    free_victim(victim);
}

/* A journal that begins after FILE's end can only come from a FILE that was put back. */
static void test_gap_between_file_and_journal(void **state) {
    (void)state;
    char path[256];
    in_directory("gap.h5", path);
    run_truth truth = find_truth(on_a_floor);
    rg_scene *scene = scene_of_text(on_a_floor);
    rg_recorder_tuning tuning = {.fold_bytes = 1};
    rg_recorder *recorder;
    rg_error error = {0};
    assert_int_equal(rg_recorder_create_tuned(scene, path, NULL, &tuning, &recorder, &error),
                     RG_OK);
    bytes old = read_bytes(path);
    recorder->file_size = 0;
    step_scene(scene);
    assert_int_equal(rg_recorder_frame(recorder, NULL, &error), RG_OK); /* folds */
    assert_int_equal(recorder->file_frames, 2);
    rg_recorder_free(recorder);
    rg_scene_destroy(scene);
    write_bytes(path, old.data, old.size);
    free(old.data);
    assert_int_equal(check_recording(path, &truth), 1);
    assert_int_equal(rg_recorder_resume(path, NULL, NULL, &scene, &recorder, &error),
                     RG_FILE_DAMAGED);
    assert_non_null(strstr(error.text, "gap.h5.journal: begins with frame 2, but "));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_truncated_anywhere),
        cmocka_unit_test(test_resumed_to_the_end),
        cmocka_unit_test(test_damaged_anywhere),
        cmocka_unit_test(test_contacts_that_do_not_fit),
        cmocka_unit_test(test_rubbish_after_the_end),
        cmocka_unit_test(test_journal_of_another_run),
        cmocka_unit_test(test_old_journal_and_newer_file),
        cmocka_unit_test(test_gap_between_file_and_journal),
    };
    return cmocka_run_group_tests(tests, make_test_directory, remove_test_directory);
}
