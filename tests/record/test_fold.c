/* A process that dies before any of its file operations, and disks that are full: whatever happens,
 * FILE is a whole recording of what had happened, and the run can go on to the same end. */
#include "record_support.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

enum { STEPS = 9 };
/* So small that folds happen in the middle of the run. */
static const uint64_t fold_bytes = 2500;

/* Records the run on the failing disk until the end or the first failure. */
static rg_status record_run(const char *path, failing_disk *disk, rg_error *error) {
    rg_recorder_tuning tuning = {.disk = {fail_at_will, disk}, .fold_bytes = fold_bytes};
    rg_recorder_options options = {.checkpoint_every = 0, .overwrite = true};
    rg_scene *scene = scene_of_text(on_a_floor);
    rg_recorder *recorder;
    rg_status status = rg_recorder_create_tuned(scene, path, &options, &tuning, &recorder, error);
    if (status == RG_OK) {
        for (int i = 1; i <= STEPS && status == RG_OK; i++) {
            recorder->file_size = 0; /* fold by the size of the journal alone */
            step_recorded(scene, recorder);
            status = rg_recorder_frame(recorder, NULL, error);
        }
        rg_status closed = rg_recorder_close(recorder, true, status == RG_OK ? error : NULL);
        status = status == RG_OK ? closed : status;
    }
    rg_scene_destroy(scene);
    return status;
}

/* Goes on from whatever is there to the end. */
static void resume_run(const char *path, const run_truth *truth, size_t least_frames) {
    rg_error error = {0};
    rg_scene *scene;
    rg_recorder *recorder;
    size_t frames = check_recording(path, truth);
    assert_true(frames >= least_frames);
    if (rg_recorder_resume(path, NULL, NULL, &scene, &recorder, &error) != RG_OK)
        fail_msg("%s", error.text);
    rg_world *world = rg_scene_world(scene);
    /* A checkpoint with every frame: at most the last frame has to be made again. */
    assert_true(rg_world_step_count(world) + 2 >= frames);
    while (rg_world_step_count(world) < STEPS) {
        step_recorded(scene, recorder);
        assert_int_equal(rg_recorder_frame(recorder, NULL, &error), RG_OK);
    }
    assert_true(rg_world_state_hash(world) == truth->hash[STEPS]);
    assert_int_equal(rg_recorder_close(recorder, true, &error), RG_OK);
    rg_scene_destroy(scene);
    assert_int_equal(check_recording(path, truth), STEPS + 1);
    assert_int_equal(count_files(), 1); /* no journal, no leftovers */
}

static void test_killed_before_every_operation(void **state) {
    (void)state;
    char path[256];
    in_directory("fold.h5", path);
    run_truth truth = find_truth(on_a_floor);
    size_t recorded = 0;
    long number = 0, folded = 0;
    for (;; number += test_stride()) {
        empty_test_directory();
        failing_disk disk = {.fail_at = number, .for_good = true, .error = EIO};
        rg_error error = {0};
        rg_status status = record_run(path, &disk, &error);
        if (disk.failures == 0) {
            assert_int_equal(status, RG_OK);
            break;
        }
        if (access(path, F_OK) != 0) {
            assert_int_equal(recorded, 0); /* only at the very beginning */
            continue;
        }
        size_t frames = check_recording(path, &truth);
        assert_true(frames >= recorded); /* what was there stays there */
        recorded = frames;
        folded += access(in_directory("fold.h5.new", (char[256]){0}), F_OK) == 0;
        resume_run(path, &truth, recorded);
    }
    assert_int_equal(recorded, STEPS + 1);
    print_message("%ld operations, %ld of them in folds\n", number, folded);
    assert_true(number > 100); /* several folds were cut to pieces */
    assert_true(folded * test_stride() > 50);
    resume_run(path, &truth, recorded);
}

/* One write fails and the disk works again: the recorder stops there, says why, and cleans up. */
static void test_every_write_fails_once(void **state) {
    (void)state;
    char path[256];
    in_directory("full.h5", path);
    run_truth truth = find_truth(on_a_floor);
    for (long number = 0;; number += test_stride()) {
        empty_test_directory();
        failing_disk disk = {.fail_at = number, .only_writes = true, .error = ENOSPC};
        rg_error error = {0};
        rg_status status = record_run(path, &disk, &error);
        if (disk.failures == 0)
            break;
        assert_int_equal(status, RG_WRITE_FAILED);
        assert_non_null(strstr(error.text, "full.h5"));
        assert_non_null(strstr(error.text, ": cannot be written: No space left on device"));
        char other[256];
        assert_int_equal(access(in_directory("full.h5.new", other), F_OK), -1);
        assert_int_equal(access(in_directory("full.h5.journal.new", other), F_OK), -1);
        if (access(path, F_OK) == 0)
            resume_run(path, &truth, 1);
        else
            assert_int_equal(count_files(), 0);
    }
}

/* A full disk from some write on: the same, and an older recording of that name stays as it was
 * until the new one is whole. */
static void test_full_disk_keeps_the_old_recording(void **state) {
    (void)state;
    char path[256];
    in_directory("full.h5", path);
    empty_test_directory();
    failing_disk good = {.fail_at = -1};
    rg_error error = {0};
    assert_int_equal(record_run(path, &good, &error), RG_OK);
    bytes before = read_bytes(path);
    failing_disk disk = {.fail_at = 0, .for_good = true, .only_writes = true, .error = ENOSPC};
    assert_int_equal(record_run(path, &disk, &error), RG_WRITE_FAILED);
    bytes after = read_bytes(path);
    assert_int_equal(before.size, after.size);
    assert_memory_equal(before.data, after.data, before.size);
    assert_int_equal(count_files(), 1);
    free(before.data);
    free(after.data);
}

/* The system's own limit on the size of files, in a process of its own. */
static int record_within_limit(const char *path, rlim_t limit) {
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit sizes = {limit, limit};
    if (setrlimit(RLIMIT_FSIZE, &sizes) != 0)
        return 10;
    failing_disk disk = {.fail_at = -1};
    rg_error error = {0};
    rg_status status = record_run(path, &disk, &error);
    if (status == RG_OK)
        return 0;
    if (status != RG_WRITE_FAILED || !strstr(error.text, "File too large"))
        return 11;
    return 1;
}

static void test_limit_on_file_size(void **state) {
    (void)state;
    char path[256];
    in_directory("limit.h5", path);
    run_truth truth = find_truth(on_a_floor);
    int failures = 0, successes = 0;
    for (rlim_t limit = 0; limit < 200000; limit = limit * 5 / 4 + 64) {
        empty_test_directory();
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0)
            _exit(record_within_limit(path, limit));
        int result;
        assert_int_equal(waitpid(child, &result, 0), child);
        assert_true(WIFEXITED(result) && WEXITSTATUS(result) <= 1);
        failures += WEXITSTATUS(result) == 1;
        successes += WEXITSTATUS(result) == 0;
        if (access(path, F_OK) == 0)
            resume_run(path, &truth, 1);
    }
    assert_true(failures > 5 && successes > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_killed_before_every_operation),
        cmocka_unit_test(test_every_write_fails_once),
        cmocka_unit_test(test_full_disk_keeps_the_old_recording),
        cmocka_unit_test(test_limit_on_file_size),
    };
    return cmocka_run_group_tests(tests, make_test_directory, remove_test_directory);
}
