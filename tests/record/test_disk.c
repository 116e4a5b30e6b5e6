/* What outlasts a power failure: every file that is renamed into its place was synced after its
 * last write, and its directory is synced after the rename. The system's calls are replaced by ones
 * that note what was asked of them, so that a sync that is left out is seen. */
#include "record_support.h"

#include "record/record_disk.h"
#include "rigor/problem_file.h"
#include "rigor/view.h"

#include <fcntl.h>

/* ---- the calls ---- */

enum { FILES = 64 };

static struct {
    ino_t unsynced[FILES]; /* files with writes that no sync followed */
    size_t unsynced_count;
    ino_t waiting; /* a directory with a rename that no sync followed */
    long renames, early, late, syncs;
    int sync_error, interruptions; /* of the next syncs */
} seen;

static ino_t inode_of(int fd) {
    struct stat status;
    return fstat(fd, &status) == 0 ? status.st_ino : 0;
}

static void forget(ino_t file) {
    for (size_t i = 0; i < seen.unsynced_count; i++)
        if (seen.unsynced[i] == file)
            seen.unsynced[i--] = seen.unsynced[--seen.unsynced_count];
}

static void note_write(int fd) {
    ino_t file = inode_of(fd);
    forget(file);
    if (seen.unsynced_count < FILES)
        seen.unsynced[seen.unsynced_count++] = file;
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t offset) {
    note_write(fd);
    return lseek(fd, offset, SEEK_SET) < 0 ? -1 : write(fd, data, size);
}

int ftruncate(int fd, off_t size) {
    char path[64];
    note_write(fd);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return truncate(path, size);
}

int fsync(int fd) {
    seen.syncs++;
    if (seen.interruptions > 0) {
        seen.interruptions--;
        errno = EINTR;
        return -1;
    }
    if (seen.sync_error) {
        errno = seen.sync_error;
        return -1;
    }
    ino_t file = inode_of(fd);
    forget(file);
    if (file == seen.waiting)
        seen.waiting = 0;
    return 0;
}

int rename(const char *from, const char *to) {
    struct stat file = {0}, directory = {0};
    char *slash, folder[256];
    if (stat(from, &file) != 0)
        return -1;
    for (size_t i = 0; i < seen.unsynced_count; i++)
        seen.early += seen.unsynced[i] == file.st_ino;
    seen.late += seen.waiting != 0;
    seen.renames++;
    snprintf(folder, sizeof folder, "%s", to);
    if ((slash = strrchr(folder, '/')))
        *slash = '\0';
    if (stat(slash ? (*folder ? folder : "/") : ".", &directory) == 0)
        seen.waiting = directory.st_ino;
    return renameat(AT_FDCWD, from, AT_FDCWD, to);
}

static void begin(void) {
    memset(&seen, 0, sizeof seen);
}

static void check_durable(long renames) {
    if (seen.renames < renames || seen.early || seen.late || seen.waiting)
        fail_msg("%ld renames, %ld of files that were not synced, %ld before another's directory "
                 "was; the last one's %s",
                 seen.renames, seen.early, seen.late, seen.waiting ? "was not" : "was");
}

/* ---- the operations ---- */

static void a_rename_lasts(void **state) {
    (void)state;
    char path[256], other[256], here[256];
    in_directory("one", path);
    in_directory("two", other);
    begin();
    rg_disk_file file;
    assert_int_equal(rg_disk_open(NULL, path, RG_DISK_NEW, &file), 0);
    assert_int_equal(rg_disk_write(&file, "abc", 3, 0), 0);
    assert_int_equal(rg_disk_sync(&file), 0);
    rg_disk_close(&file);
    assert_int_equal(rg_disk_rename(NULL, path, other), 0);
    check_durable(1);
    /* A name without a directory is in the current one. */
    assert_non_null(getcwd(here, sizeof here));
    assert_int_equal(chdir(test_directory), 0);
    assert_int_equal(rg_disk_rename(NULL, "two", "three"), 0);
    assert_int_equal(chdir(here), 0);
    check_durable(2);
    assert_int_equal(rg_disk_rename(NULL, path, other), ENOENT);
    empty_test_directory();
}

/* One holds a file; whoever else wants it is told at once. */
static void a_lock_is_held_by_one(void **state) {
    (void)state;
    char path[256];
    rg_disk_file first, other;
    assert_int_equal(rg_disk_open(NULL, in_directory("one", path), RG_DISK_NEW, &first), 0);
    assert_int_equal(rg_disk_open(NULL, path, RG_DISK_CHANGE, &other), 0);
    assert_int_equal(rg_disk_lock(&first), 0);
    assert_int_equal(rg_disk_lock(&other), EBUSY);
    assert_true(rg_disk_is_at(&other, path));
    rg_disk_close(&first);
    assert_int_equal(rg_disk_lock(&other), 0);
    rg_disk_close(&other);
    empty_test_directory();
}

/* What interrupts a sync is tried again; where nothing can be synced, nothing has to be; anything
 * else is an error of the caller's. */
static void syncs_fail_as_they_must(void **state) {
    (void)state;
    char path[256];
    rg_disk_file file;
    assert_int_equal(rg_disk_open(NULL, in_directory("one", path), RG_DISK_NEW, &file), 0);
    begin();
    seen.interruptions = 3;
    assert_int_equal(rg_disk_sync(&file), 0);
    assert_int_equal(seen.syncs, 4);
    static const int harmless[] = {EINVAL, ENOTSUP}, bad[] = {EIO, ENOSPC};
    for (int i = 0; i < 2; i++) {
        seen.sync_error = harmless[i];
        assert_int_equal(rg_disk_sync(&file), 0);
        seen.sync_error = bad[i];
        assert_int_equal(rg_disk_sync(&file), bad[i]);
    }
    seen.sync_error = 0;
    rg_disk_close(&file);
    empty_test_directory();
}

/* ---- who writes files ---- */

static void record_to(const char *path, uint64_t fold_bytes) {
    rg_recorder_tuning tuning = {.fold_bytes = fold_bytes};
    rg_recorder_options options = {.overwrite = true};
    rg_scene *scene = scene_of_text(on_a_floor);
    rg_recorder *recorder;
    rg_error error = {0};
    assert_int_equal(rg_recorder_create_tuned(scene, path, &options, &tuning, &recorder, &error),
                     RG_OK);
    for (int i = 0; i < 9; i++) {
        recorder->file_size = 0; /* fold by the size of the journal alone */
        step_recorded(scene, recorder);
        assert_int_equal(rg_recorder_frame(recorder, NULL, &error), RG_OK);
    }
    assert_int_equal(rg_recorder_close(recorder, true, &error), RG_OK);
    rg_scene_destroy(scene);
}

/* Journals and the files that they are folded into. */
static void recordings_last(void **state) {
    (void)state;
    char path[256];
    begin();
    record_to(in_directory("run.h5", path), 2500);
    check_durable(8); /* several folds, each with a fresh journal */
    empty_test_directory();
}

/* A sync that fails is told, in words, and ends the recording. */
static void a_failed_sync_is_told(void **state) {
    (void)state;
    char path[256];
    rg_recorder_options options = {.overwrite = true};
    rg_scene *scene = scene_of_text(on_a_floor);
    rg_recorder *recorder;
    rg_error error = {0};
    begin();
    in_directory("run.h5", path);
    assert_int_equal(rg_recorder_open(scene, path, &options, &recorder, &error), RG_OK);
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_true(recorder->file_size == (uint64_t)status.st_size);
    step_recorded(scene, recorder);
    assert_int_equal(rg_recorder_frame(recorder, NULL, &error), RG_OK);
    seen.sync_error = EIO;
    assert_int_equal(rg_recorder_close(recorder, true, &error), RG_WRITE_FAILED);
    assert_non_null(strstr(error.text, ": cannot be written: Input/output error"));
    seen.sync_error = 0;
    rg_scene_destroy(scene);
    empty_test_directory();
}

static void exports_last(void **state) {
    (void)state;
    char path[256], other[256];
    record_to(in_directory("run.h5", path), 1 << 20);
    rg_recording *recording = open_recording(path);
    rg_gltf_options options = {0};
    rg_error error = {0};
    begin();
    in_directory("run.glb", other);
    assert_int_equal(rg_view_export_gltf(recording, &options, other, &error), RG_OK);
    check_durable(1);
    rg_recording_close(recording);
    empty_test_directory();
}

static void problems_last(void **state) {
    (void)state;
    char path[256];
    const double w = 2, q = -1;
    rg_problem problem = {.kind = RG_PROBLEM_CONTACT};
    problem.contact = (rg_contact_problem){
        .dimension = 1, .contacts = 1, .w = {.rows = 1, .columns = 1, .dense = &w}, .q = &q};
    rg_error error = {0};
    begin();
    in_directory("one.hdf5", path);
    if (rg_problem_write_fclib(path, &problem, NULL, NULL, &error) != RG_OK)
        fail_msg("%s", error.text);
    check_durable(1);
    empty_test_directory();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rename_lasts),          cmocka_unit_test(a_lock_is_held_by_one),
        cmocka_unit_test(syncs_fail_as_they_must), cmocka_unit_test(recordings_last),
        cmocka_unit_test(a_failed_sync_is_told),   cmocka_unit_test(exports_last),
        cmocka_unit_test(problems_last),
    };
    return cmocka_run_group_tests(tests, make_test_directory, remove_test_directory);
}
