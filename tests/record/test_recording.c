/* Reading recordings: every number as the world had it, beside a run that goes on, from few and
 * from many bodies, and from files that are not what they should be. */
#include "record_support.h"

#include <hdf5.h>

/* A frame with room for `bodies`. */
static rg_frame make_frame(size_t bodies) {
    rg_frame frame = {.position = calloc(bodies + 1, sizeof(rg_vec3)),
                      .orientation = calloc(bodies + 1, sizeof(rg_quat)),
                      .velocity = calloc(bodies + 1, sizeof(rg_vec3)),
                      .angular_velocity = calloc(bodies + 1, sizeof(rg_vec3))};
    return frame;
}

static void free_frame(rg_frame *frame) {
    free(frame->position);
    free(frame->orientation);
    free(frame->velocity);
    free(frame->angular_velocity);
}

/* The frame is the world, bit for bit. */
static void check_frame(const rg_frame *frame, const rg_world *world) {
    assert_true(frame->time == rg_world_time(world));
    assert_int_equal(frame->step, rg_world_step_count(world));
    assert_true(frame->state_hash == rg_world_state_hash(world));
    assert_true(frame->energy == rg_world_energy(world));
    for (size_t i = 0; i < rg_world_body_count(world); i++) {
        rg_body_id body = rg_world_body_at(world, i);
        rg_pose pose = rg_body_pose(world, body);
        rg_vec3 velocity = rg_body_velocity(world, body);
        rg_vec3 angular = rg_body_angular_velocity(world, body);
        assert_memory_equal(&frame->position[i], &pose.position, sizeof pose.position);
        assert_memory_equal(&frame->orientation[i], &pose.orientation, sizeof pose.orientation);
        assert_memory_equal(&frame->velocity[i], &velocity, sizeof velocity);
        assert_memory_equal(&frame->angular_velocity[i], &angular, sizeof angular);
    }
}

/* Records `steps` frames of a scene, folding after every `fold_bytes`, and compares every frame
 * with a second run of the scene. */
static void check_scene(const char *name, const char *text, int steps, uint64_t fold_bytes) {
    char path[256];
    in_directory(name, path);
    rg_scene *scene = scene_of_text(text), *again = scene_of_text(text);
    rg_recorder_tuning tuning = {.fold_bytes = fold_bytes};
    rg_recorder *recorder;
    rg_error error = {0};
    size_t bodies = rg_world_body_count(rg_scene_world(scene));
    if (rg_recorder_create_tuned(scene, path, NULL, &tuning, &recorder, &error) != RG_OK)
        fail_msg("%s", error.text);
    for (int i = 0; i < steps; i++) {
        recorder->file_size = 0;
        step_scene(scene);
        assert_int_equal(rg_recorder_frame(recorder, NULL, &error), RG_OK);
    }
    rg_frame frame = make_frame(bodies);
    for (int closed = 0; closed < 2; closed++) {
        if (closed)
            assert_int_equal(rg_recorder_close(recorder, true, &error), RG_OK);
        rg_recording *recording = open_recording(path);
        rg_recording_info info = rg_recording_get_info(recording);
        assert_int_equal(info.frame_count, steps + 1);
        assert_int_equal(info.body_count, bodies);
        assert_int_equal(info.finished, closed);
        if (closed)
            assert_false(info.recovered);
        rg_scene_destroy(again);
        again = scene_of_text(text);
        for (int i = 0; i <= steps; i++) {
            if (i > 0)
                step_scene(again);
            assert_int_equal(rg_recording_read(recording, (size_t)i, &frame, &error), RG_OK);
            check_frame(&frame, rg_scene_world(again));
        }
        assert_int_equal(rg_recording_read(recording, (size_t)steps + 1, &frame, &error),
                         RG_INVALID_ARGUMENT);
        rg_recording_close(recording);
    }
    free_frame(&frame);
    rg_scene_destroy(scene);
    rg_scene_destroy(again);
}

static void test_two_bodies(void **state) {
    (void)state;
    check_scene("two.h5", two_bodies, 12, 0);
}

static void test_many_frames_and_folds(void **state) {
    (void)state;
    check_scene("folds.h5", two_bodies, 3000, 100000); /* more than two chunks of frames */
}

static void test_planar(void **state) {
    (void)state;
    static const char text[] =
        "rigor: 1\nplanar: true\nmethod: {name: stepping, step: 0.01}\nbodies:\n"
        "  - {name: disc, shape: {disc: 0.5}, position: [0, 1], angle: 0.3, velocity: [1, 2]}\n";
    check_scene("planar.h5", text, 10, 0);
    char path[256];
    rg_recording *recording = open_recording(in_directory("planar.h5", path));
    assert_true(rg_recording_get_info(recording).planar);
    rg_recording_close(recording);
}

static void test_no_body(void **state) {
    (void)state;
    check_scene("none.h5", "rigor: 1\nmethod: {name: stepping, step: 0.01}\n", 5, 0);
}

/* More bodies than a chunk holds. */
static void test_many_bodies(void **state) {
    (void)state;
    static const char text[] =
        "rigor: 1\nmethod: {name: stepping, step: 0.01}\nbodies:\n"
        "  - {repeat: 5000, name: \"b{i}\", shape: {sphere: 0.1}, position: [\"i\", 0, 0],\n"
        "     velocity: [0, \"0.01*i\", 1]}\n";
    check_scene("many.h5", text, 6, 2000000);
    char path[256];
    rg_recording *recording = open_recording(in_directory("many.h5", path));
    assert_string_equal(rg_recording_body_name(recording, 0), "b0");
    assert_string_equal(rg_recording_body_name(recording, 4999), "b4999");
    rg_recording_close(recording);
}

static void test_what_it_says_of_itself(void **state) {
    (void)state;
    char path[256];
    in_directory("info.h5", path);
    rg_scene *scene = scene_of_text(two_bodies);
    rg_recorder *recorder;
    assert_int_equal(rg_recorder_open(scene, path, NULL, &recorder, NULL), RG_OK);
    assert_int_equal(rg_recorder_close(recorder, false, NULL), RG_OK);
    rg_recording *recording = open_recording(path);
    rg_recording_info info = rg_recording_get_info(recording);
    assert_string_equal(info.scene_name, rg_scene_name(scene));
    assert_string_equal(info.version, "0.1.0");
    assert_false(info.planar || info.finished || info.recovered);
    assert_string_equal(rg_recording_body_name(recording, 0), "top");
    assert_string_equal(rg_recording_body_name(recording, 1), "ball");
    char *text;
    size_t size;
    assert_int_equal(rg_scene_write_text(scene, NULL, &text, &size, NULL), RG_OK);
    assert_int_equal(info.scene_size, size);
    assert_string_equal(info.scene_text, text);
    free(text);
    rg_recording_close(recording);
    rg_scene_destroy(scene);
}

/* A reader opened before a fold keeps reading what it saw. */
static void test_reader_beside_the_run(void **state) {
    (void)state;
    char path[256];
    in_directory("live.h5", path);
    run_truth truth = find_truth(two_bodies);
    rg_scene *scene = scene_of_text(two_bodies);
    rg_recorder_tuning tuning = {.fold_bytes = 1000};
    rg_recorder *recorder;
    rg_error error = {0};
    assert_int_equal(rg_recorder_create_tuned(scene, path, NULL, &tuning, &recorder, &error),
                     RG_OK);
    rg_recording *readers[20];
    for (size_t i = 0; i < 20; i++) {
        recorder->file_size = 0;
        step_scene(scene);
        assert_int_equal(rg_recorder_frame(recorder, NULL, &error), RG_OK);
        readers[i] = open_recording(path);
    }
    assert_int_equal(rg_recorder_close(recorder, true, &error), RG_OK);
    for (size_t i = 0; i < 20; i++) {
        assert_int_equal(rg_recording_get_info(readers[i]).frame_count, i + 2);
        for (size_t j = 0; j < i + 2; j++) {
            rg_frame frame = {0};
            assert_int_equal(rg_recording_read(readers[i], j, &frame, &error), RG_OK);
            assert_true(frame.state_hash == truth.hash[j]);
        }
        rg_recording_close(readers[i]);
    }
    rg_scene_destroy(scene);
}

/* ---- files that are not what they should be ---- */

static const char not_whole[] = "is not a whole recording: it is truncated, was changed by another "
                                "program, or is something else";

static void check_refused(const char *path, rg_status expected, const char *message) {
    rg_recording *recording = NULL;
    rg_error error = {0};
    rg_status status = rg_recording_open(path, &recording, &error);
    assert_null(recording);
    assert_int_equal(status, expected);
    char wanted[512];
    snprintf(wanted, sizeof wanted, "%s: %s", path, message);
    assert_string_equal(error.text, wanted);
    rg_scene *scene;
    rg_recorder *recorder;
    assert_int_equal(rg_recorder_resume(path, NULL, NULL, &scene, &recorder, &error), expected);
    assert_string_equal(error.text, wanted);
    assert_null(scene);
    assert_null(recorder);
}

static void test_not_a_recording(void **state) {
    (void)state;
    char path[256];
    check_refused(in_directory("nothing.h5", path), RG_FILE_UNREADABLE,
                  "cannot be read: No such file or directory");
    check_refused(test_directory, RG_FILE_UNREADABLE, "cannot be read: Is a directory");
    in_directory("bad.h5", path);
    write_bytes(path, "", 0);
    check_refused(path, RG_FILE_DAMAGED, not_whole);
    write_bytes(path, two_bodies, sizeof two_bodies);
    check_refused(path, RG_FILE_DAMAGED, not_whole);
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(file >= 0 && H5Fclose(file) >= 0);
    check_refused(path, RG_FILE_DAMAGED, not_whole);
}

/* Enough for several blocks of the seal, most of them free and some on a floor. */
static const char crowd[] =
    "rigor: 1\nmethod: {name: stepping, step: 0.01}\nbodies:\n"
    "  - {repeat: 289, name: \"b{i}\", shape: {box: [1, 2, 3]},\n"
    "     position: [\"4*i + 9\", 0, 99], angular_velocity: [\"0.1*i\", 1, 2]}\n"
    "  - {repeat: 10, name: \"c{i}\", shape: {box: [1, 1, 1]}, velocity: [0, 1, 0],\n"
    "     position: [\"-2*i - 1\", 0, 0.5]}\n"
    "  - {name: floor, motion: fixed, shape: {box: [99, 99, 1]}, position: [0, 0, -0.5]}\n";
enum { CROWD = 300 };

static bytes make_recording(const char *path) {
    rg_scene *scene = scene_of_text(crowd);
    rg_recorder_options options = {.overwrite = true};
    rg_recorder *recorder;
    assert_int_equal(rg_recorder_open(scene, path, &options, &recorder, NULL), RG_OK);
    for (int i = 1; i < 20; i++) {
        step_recorded(scene, recorder);
        assert_int_equal(rg_recorder_frame(recorder, NULL, NULL), RG_OK);
    }
    assert_int_equal(rg_recorder_close(recorder, true, NULL), RG_OK);
    rg_scene_destroy(scene);
    return read_bytes(path);
}

static void test_truncated_file(void **state) {
    (void)state;
    char path[256];
    in_directory("cut.h5", path);
    bytes whole = make_recording(path);
    for (size_t size = 0; size < whole.size; size += size < 4096 ? 37 : 1001) {
        write_bytes(path, whole.data, size);
        check_refused(path, RG_FILE_DAMAGED, not_whole);
    }
    free(whole.data);
}

/* Frame, contacts and certificate are those that were recorded, or reading one of them fails. */
static bool frame_is_true(rg_recording *recording, size_t i, const run_truth *truth,
                          rg_error *error) {
    rg_vec3 position[CROWD], velocity[CROWD], angular[CROWD];
    rg_quat orientation[CROWD];
    rg_frame frame = {.position = position,
                      .orientation = orientation,
                      .velocity = velocity,
                      .angular_velocity = angular};
    if (rg_recording_read(recording, i, &frame, error) != RG_OK)
        return false;
    assert_true(frame.state_hash == truth->hash[i]);
    assert_memory_equal(&position[0], &truth->first_position[i], sizeof position[0]);
    const rg_recorded_contact *contacts;
    size_t count;
    if (rg_recording_read_contacts(recording, i, &contacts, &count, error) != RG_OK)
        return false;
    assert_int_equal(count, truth->contacts[i]);
    if (count)
        check_contact(&contacts[count - 1], &truth->last_contact[i], NULL);
    rg_step_info step;
    if (rg_recording_read_certificate(recording, i, &step, error) != RG_OK)
        return false;
    if (i)
        check_info(&step, &truth->step[i]);
    return true;
}

/* Bits turned over anywhere in FILE: an error, or the numbers that were recorded. */
static void test_damaged_file(void **state) {
    (void)state;
    char path[256];
    in_directory("flip.h5", path);
    run_truth truth = find_truth(crowd);
    bytes whole = make_recording(path);
    rg_random random = rg_random_make(11);
    int refused = 0, frames_refused = 0, unharmed = 0, trials = test_cases(1500, 1500);
    for (int trial = 0; trial < trials; trial++) {
        size_t at = (size_t)rg_random_below(&random, whole.size);
        char old = whole.data[at];
        whole.data[at] ^= (char)(1 << rg_random_below(&random, 8));
        write_bytes(path, whole.data, whole.size);
        whole.data[at] = old;
        rg_recording *recording;
        rg_error error = {0};
        rg_status status = rg_recording_open(path, &recording, &error);
        if (status != RG_OK) {
            assert_int_equal(status, RG_FILE_DAMAGED);
            assert_non_null(strstr(error.text, "flip.h5: is "));
            refused++;
            continue;
        }
        size_t count = rg_recording_get_info(recording).frame_count;
        assert_int_equal(count, 20);
        bool all = true;
        for (size_t i = 0; i < count && all; i++)
            all = frame_is_true(recording, i, &truth, &error);
        frames_refused += !all;
        unharmed += all;
        if (!all)
            assert_int_equal(error.status, RG_FILE_DAMAGED);
        rg_recording_close(recording);
    }
    print_message("of %d damaged files %d were refused, %d at a frame, %d were hit where nothing "
                  "that matters is\n",
                  trials, refused, frames_refused, unharmed);
    assert_true(refused > trials / 10 && frames_refused > trials / 10); /* both kinds are tried */
    free(whole.data);
}

/* Resuming compares all of FILE, also frames that it has no use for; finished or not, a damaged
 * one stays as it is. */
static void check_resume_of_damaged(const char *name, bool finished) {
    char path[256];
    in_directory(name, path);
    rg_scene *scene = scene_of_text(crowd);
    rg_recorder *recorder;
    rg_error error = {0};
    assert_int_equal(rg_recorder_open(scene, path, NULL, &recorder, &error), RG_OK);
    for (int i = 1; i < 20; i++) {
        step_scene(scene);
        assert_int_equal(rg_recorder_frame(recorder, NULL, &error), RG_OK);
    }
    assert_int_equal(rg_recorder_close(recorder, finished, &error), RG_OK);
    rg_scene_destroy(scene);
    bytes whole = read_bytes(path);
    rg_random random = rg_random_make(12);
    for (int trial = 0, trials = test_cases(300, 300); trial < trials; trial++) {
        size_t at = (size_t)rg_random_below(&random, whole.size);
        char old = whole.data[at];
        whole.data[at] ^= (char)(1 << rg_random_below(&random, 8));
        write_bytes(path, whole.data, whole.size);
        assert_int_equal(rg_recorder_resume(path, NULL, NULL, &scene, &recorder, &error),
                         RG_FILE_DAMAGED);
        assert_null(recorder);
        bytes left = read_bytes(path);
        assert_int_equal(left.size, whole.size);
        assert_memory_equal(left.data, whole.data, whole.size);
        free(left.data);
        whole.data[at] = old;
    }
    write_bytes(path, whole.data, whole.size);
    assert_int_equal(rg_recorder_resume(path, NULL, NULL, &scene, &recorder, &error), RG_OK);
    /* Damaged while the run goes on: the fold does not put a fresh seal on it. */
    whole.data[whole.size / 2] ^= 1;
    write_bytes(path, whole.data, whole.size);
    step_scene(scene);
    assert_int_equal(rg_recorder_frame(recorder, NULL, &error), RG_OK);
    assert_int_equal(rg_recorder_close(recorder, true, &error), RG_FILE_DAMAGED);
    bytes left = read_bytes(path);
    assert_int_equal(left.size, whole.size);
    assert_memory_equal(left.data, whole.data, whole.size);
    free(left.data);
    free(whole.data);
    rg_scene_destroy(scene);
}

static void test_resume_of_damaged_file(void **state) {
    (void)state;
    check_resume_of_damaged("damaged-finished.h5", true);
    check_resume_of_damaged("damaged-unfinished.h5", false);
}

/* A pipe would be waited for. */
static void test_pipe(void **state) {
    (void)state;
    char path[256];
    in_directory("pipe.h5", path);
    assert_int_equal(mkfifo(path, 0600), 0);
    check_refused(path, RG_FILE_UNREADABLE, "cannot be read: it is not a regular file");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_bodies),
        cmocka_unit_test(test_many_frames_and_folds),
        cmocka_unit_test(test_planar),
        cmocka_unit_test(test_no_body),
        cmocka_unit_test(test_many_bodies),
        cmocka_unit_test(test_what_it_says_of_itself),
        cmocka_unit_test(test_reader_beside_the_run),
        cmocka_unit_test(test_not_a_recording),
        cmocka_unit_test(test_truncated_file),
        cmocka_unit_test(test_damaged_file),
        cmocka_unit_test(test_resume_of_damaged_file),
        cmocka_unit_test(test_pipe),
    };
    return cmocka_run_group_tests(tests, make_test_directory, remove_test_directory);
}
