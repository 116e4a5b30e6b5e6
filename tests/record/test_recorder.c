/* The recorder's manners: what it refuses, what it keeps, and no memory. */
#include "record_support.h"

static void check_message(const rg_error *error, const char *path, const char *message) {
    char wanted[512];
    snprintf(wanted, sizeof wanted, "%s: %s", path, message);
    assert_string_equal(error->text, wanted);
}

static void test_existing_file(void **state) {
    (void)state;
    char path[256];
    in_directory("old.h5", path);
    write_bytes(path, "precious", 8);
    rg_scene *scene = scene_of_text(two_bodies);
    rg_recorder *recorder;
    rg_error error = {0};
    assert_int_equal(rg_recorder_open(scene, path, NULL, &recorder, &error), RG_WRITE_FAILED);
    assert_null(recorder);
    check_message(&error, path, "exists; choose another name, overwrite it or resume it");
    bytes kept = read_bytes(path);
    assert_string_equal(kept.data, "precious");
    free(kept.data);
    rg_recorder_options options = rg_recorder_options_default();
    options.overwrite = true;
    assert_int_equal(rg_recorder_open(scene, path, &options, &recorder, &error), RG_OK);
    assert_int_equal(rg_recorder_close(recorder, true, &error), RG_OK);
    run_truth truth = find_truth(two_bodies);
    assert_int_equal(check_recording(path, &truth), 1);
    assert_int_equal(rg_recorder_open(scene, "/dev/null", &options, &recorder, &error),
                     RG_WRITE_FAILED);
    check_message(&error, "/dev/null", "is not a regular file; a recording needs one");
    assert_int_equal(rg_recorder_open(scene, "/nowhere/a.h5", &options, &recorder, &error),
                     RG_WRITE_FAILED);
    check_message(&error, "/nowhere/a.h5", "cannot be written: No such file or directory");
    rg_scene_destroy(scene);
}

static void test_two_runs_into_one_file(void **state) {
    (void)state;
    char path[256];
    in_directory("busy.h5", path);
    rg_scene *scene = scene_of_text(two_bodies), *other;
    rg_recorder_options options = {.checkpoint_every = 0, .overwrite = true};
    rg_recorder *recorder, *second;
    rg_error error = {0};
    assert_int_equal(rg_recorder_open(scene, path, &options, &recorder, &error), RG_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(rg_recorder_open(scene, path, &options, &second, &error), RG_BUSY);
        check_message(&error, path, "another run is recording into it");
        assert_int_equal(rg_recorder_resume(path, &options, NULL, &other, &second, &error),
                         RG_BUSY);
        check_message(&error, path, "another run is recording into it");
        step_scene(scene);
        assert_int_equal(rg_recorder_frame(recorder, NULL, &error), RG_OK);
    }
    assert_int_equal(rg_recorder_close(recorder, false, &error), RG_OK);
    assert_int_equal(rg_recorder_resume(path, &options, NULL, &other, &recorder, &error), RG_OK);
    assert_int_equal(rg_recorder_close(recorder, false, &error), RG_OK);
    rg_scene_destroy(other);
    rg_scene_destroy(scene);
}

static void test_bodies_that_come_and_go(void **state) {
    (void)state;
    char path[256];
    in_directory("change.h5", path);
    rg_scene *scene = scene_of_text(two_bodies);
    rg_world *world = rg_scene_world(scene);
    rg_recorder *recorder;
    rg_error error = {0};
    assert_int_equal(rg_recorder_open(scene, path, NULL, &recorder, &error), RG_OK);
    assert_int_equal(rg_world_remove_body(world, rg_world_body_at(world, 1)), RG_OK);
    assert_int_equal(rg_recorder_frame(recorder, NULL, &error), RG_UNSUPPORTED);
    /* As many as before, but another one. */
    rg_body_def def = rg_body_def_default();
    def.has_mass = true;
    def.mass = (rg_mass_properties){1, {0, 0, 0}, {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}};
    rg_body_id body;
    assert_int_equal(rg_world_add_body(world, &def, &body, &error), RG_OK);
    assert_int_equal(rg_recorder_frame(recorder, NULL, &error), RG_UNSUPPORTED);
    check_message(&error, path,
                  "bodies came or went since the recording began; a recording has the same bodies "
                  "in every frame");
    rg_recorder_free(recorder);
    rg_scene_destroy(scene);
}

static void test_resume_keeps_its_settings(void **state) {
    (void)state;
    char path[256];
    in_directory("settings.h5", path);
    rg_scene *scene = scene_of_text(two_bodies), *resumed;
    rg_recorder *recorder;
    rg_error error = {0};
    assert_int_equal(rg_recorder_open(scene, path, NULL, &recorder, &error), RG_OK);
    assert_int_equal(rg_recorder_close(recorder, false, &error), RG_OK);
    rg_scene_options options = {.step = 0.02};
    assert_int_equal(rg_recorder_resume(path, NULL, &options, &resumed, &recorder, &error),
                     RG_INVALID_ARGUMENT);
    check_message(
        &error, path,
        "a resumed run keeps the parameters, method and settings that it was started with");
    assert_int_equal(rg_recorder_resume(path, NULL, NULL, &resumed, &recorder, &error), RG_OK);
    assert_string_equal(rg_scene_name(resumed), rg_scene_name(scene));
    assert_true(rg_scene_duration(resumed) == rg_scene_duration(scene));
    assert_true(rg_recorder_duration(recorder) == rg_scene_duration(scene));
    assert_true(rg_scene_record_every(resumed) == rg_scene_record_every(scene));
    assert_int_equal(rg_recorder_close(recorder, false, &error), RG_OK);
    rg_scene_destroy(resumed);
    rg_scene_destroy(scene);
}

/* How long a run is meant to last is the run's, not the scene's: in FILE and in the journal. */
static void test_duration_is_kept(void **state) {
    (void)state;
    char path[256];
    in_directory("duration.h5", path);
    rg_scene *scene = scene_of_text(two_bodies), *resumed;
    rg_recorder_options options = {.duration = 7, .checkpoint_every = 0};
    rg_recorder *recorder;
    rg_error error = {0};
    assert_int_equal(rg_recorder_open(scene, path, &options, &recorder, &error), RG_OK);
    rg_recorder_free(recorder);
    for (int i = 0; i < 3; i++) {
        options.duration = i == 1 ? 9 : 0; /* a new one is kept as well, by the journal alone */
        assert_int_equal(rg_recorder_resume(path, &options, NULL, &resumed, &recorder, &error),
                         RG_OK);
        assert_true(rg_recorder_duration(recorder) == (i == 0 ? 7 : 9));
        step_scene(resumed);
        assert_int_equal(rg_recorder_frame(recorder, NULL, &error), RG_OK);
        if (i < 2)
            rg_recorder_free(recorder);
        else
            assert_int_equal(rg_recorder_close(recorder, false, &error), RG_OK);
        rg_scene_destroy(resumed);
    }
    rg_recording *recording;
    assert_int_equal(rg_recording_open(path, &recording, &error), RG_OK);
    assert_true(rg_recording_get_info(recording).duration == 9);
    rg_recording_close(recording);
    rg_scene_destroy(scene);
}

/* The summary goes on where it was: worst, sums and first values are those of the whole run. */
static void test_summary_goes_on(void **state) {
    (void)state;
    char path[256];
    in_directory("summary.h5", path);
    rg_scene *scene = scene_of_text(two_bodies), *resumed;
    rg_recorder *recorder;
    rg_error error = {0};
    assert_int_equal(rg_recorder_open(scene, path, NULL, &recorder, &error), RG_OK);
    for (int i = 0; i < 5; i++)
        step_scene(scene);
    /* A checkpoint between frames, as on a signal. */
    assert_int_equal(rg_recorder_close(recorder, false, &error), RG_OK);
    assert_int_equal(rg_recorder_resume(path, NULL, NULL, &resumed, &recorder, &error), RG_OK);
    assert_int_equal(rg_world_step_count(rg_scene_world(resumed)), 5);
    for (int i = 0; i < 5; i++) {
        step_scene(scene);
        step_scene(resumed);
    }
    rg_step_info undisturbed = rg_world_summary(rg_scene_world(scene));
    rg_step_info summary = rg_world_summary(rg_scene_world(resumed));
    assert_int_equal(summary.steps, 10);
    assert_true(summary.profile.step > 0);
    undisturbed.profile = summary.profile; /* times differ from run to run */
    for (size_t i = 0; i < rg_summary_field_count; i++)
        assert_memory_equal((char *)&undisturbed + rg_summary_fields[i].offset,
                            (char *)&summary + rg_summary_fields[i].offset, 8);
    assert_int_equal(rg_recorder_close(recorder, true, &error), RG_OK);
    rg_scene_destroy(resumed);
    rg_scene_destroy(scene);
}

/* A built-in scene keeps its measures over a resume: what was observed before counts too. */
static void test_measures_go_on(void **state) {
    (void)state;
    char path[256];
    in_directory("measures.h5", path);
    rg_scene_parameter spin = {"spin", "30"};
    rg_scene_options options = {.parameters = &spin, .parameter_count = 1, .step = 0.01};
    rg_scene *scene, *resumed;
    rg_recorder *recorder;
    rg_error error = {0};
    assert_int_equal(rg_scene_create_builtin("tennis-racket", &options, &scene, &error), RG_OK);
    assert_int_equal(rg_recorder_open(scene, path, NULL, &recorder, &error), RG_OK);
    for (int i = 0; i < 150; i++) {
        step_scene(scene);
        rg_scene_observe(scene);
    }
    assert_int_equal(rg_recorder_close(recorder, false, &error), RG_OK);
    assert_int_equal(rg_recorder_resume(path, NULL, NULL, &resumed, &recorder, &error), RG_OK);
    rg_scene_origin origin = rg_scene_get_origin(resumed);
    assert_string_equal(origin.builtin, "tennis-racket");
    assert_int_equal(origin.parameter_count, 1);
    assert_string_equal(origin.parameters[0].name, "spin");
    assert_string_equal(origin.parameters[0].value, "30");
    for (int i = 0; i < 150; i++) {
        step_scene(scene);
        rg_scene_observe(scene);
        step_scene(resumed);
        rg_scene_observe(resumed);
    }
    rg_measure wanted[16], got[16];
    size_t count = rg_scene_measures(scene, wanted, 16);
    assert_true(count > 0 && count <= 16);
    assert_int_equal(rg_scene_measures(resumed, got, 16), count);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(wanted[i].name, got[i].name);
        assert_memory_equal(&wanted[i].value, &got[i].value, sizeof wanted[i].value);
    }
    assert_int_equal(rg_recorder_close(recorder, true, &error), RG_OK);
    rg_scene_destroy(resumed);
    rg_scene_destroy(scene);
}

/* One that is no longer what its name builds is resumed from the text in FILE, without measures. */
static void test_changed_builtin(void **state) {
    (void)state;
    char path[256];
    in_directory("changed.h5", path);
    rg_scene *scene, *resumed;
    rg_recorder *recorder;
    rg_error error = {0};
    assert_int_equal(rg_scene_create_builtin("tennis-racket", NULL, &scene, &error), RG_OK);
    assert_int_equal(rg_world_set_gravity(rg_scene_world(scene), (rg_vec3){0, 0, -1}), RG_OK);
    assert_int_equal(rg_recorder_open(scene, path, NULL, &recorder, &error), RG_OK);
    step_scene(scene);
    assert_int_equal(rg_recorder_close(recorder, false, &error), RG_OK);
    assert_int_equal(rg_recorder_resume(path, NULL, NULL, &resumed, &recorder, &error), RG_OK);
    assert_null(rg_scene_get_origin(resumed).builtin);
    rg_measure measure;
    assert_int_equal(rg_scene_measures(resumed, &measure, 1), 0);
    assert_true(rg_world_gravity(rg_scene_world(resumed)).z == -1);
    step_scene(scene);
    step_scene(resumed);
    assert_true(rg_world_state_hash(rg_scene_world(resumed)) ==
                rg_world_state_hash(rg_scene_world(scene)));
    assert_int_equal(rg_recorder_close(recorder, true, &error), RG_OK);
    rg_scene_destroy(resumed);
    rg_scene_destroy(scene);
}

/* A finished recording: its end, and beyond it if somebody wants more. */
static void test_resume_of_a_finished_run(void **state) {
    (void)state;
    char path[256];
    in_directory("done.h5", path);
    run_truth truth = find_truth(two_bodies);
    rg_scene *scene = scene_of_text(two_bodies);
    rg_recorder *recorder;
    rg_error error = {0};
    assert_int_equal(rg_recorder_open(scene, path, NULL, &recorder, &error), RG_OK);
    for (int i = 0; i < 3; i++) {
        step_scene(scene);
        assert_int_equal(rg_recorder_frame(recorder, NULL, &error), RG_OK);
    }
    assert_int_equal(rg_recorder_close(recorder, true, &error), RG_OK);
    rg_scene_destroy(scene);
    bytes before = read_bytes(path);
    assert_int_equal(rg_recorder_resume(path, NULL, NULL, &scene, &recorder, &error), RG_OK);
    assert_int_equal(rg_world_step_count(rg_scene_world(scene)), 3);
    assert_int_equal(rg_recorder_close(recorder, true, &error), RG_OK);
    rg_scene_destroy(scene);
    bytes after = read_bytes(path); /* nothing to do, nothing done */
    assert_int_equal(before.size, after.size);
    assert_memory_equal(before.data, after.data, before.size);
    free(before.data);
    free(after.data);
    assert_int_equal(rg_recorder_resume(path, NULL, NULL, &scene, &recorder, &error), RG_OK);
    step_scene(scene);
    assert_int_equal(rg_recorder_frame(recorder, NULL, &error), RG_OK);
    assert_int_equal(rg_recorder_close(recorder, false, &error), RG_OK);
    rg_scene_destroy(scene);
    assert_int_equal(check_recording(path, &truth), 5);
    rg_recording *recording;
    assert_int_equal(rg_recording_open(path, &recording, &error), RG_OK);
    assert_false(rg_recording_get_info(recording).finished);
    rg_recording_close(recording);
}

/* ---- no memory ---- */

/* A short run with an allocator that gives out after `fail_after` calls; RG_OK if it got through.
 */
static rg_status run_with_little_memory(const char *path, size_t fail_after) {
    counting_allocator counter;
    rg_allocator allocator = counting_allocator_make(&counter);
    counter.fail_after = fail_after;
    rg_recorder_options options = {.overwrite = true, .allocator = &allocator};
    rg_recorder_tuning tuning = {.fold_bytes = 600};
    rg_scene *scene = scene_of_text(two_bodies);
    rg_recorder *recorder;
    rg_error error = {0};
    rg_status status = rg_recorder_create_tuned(scene, path, &options, &tuning, &recorder, &error);
    if (status == RG_OK) {
        for (int i = 0; i < 4 && status == RG_OK; i++) {
            recorder->file_size = 0;
            step_scene(scene);
            status = rg_recorder_frame(recorder, NULL, &error);
        }
        rg_status closed = rg_recorder_close(recorder, true, NULL);
        status = status == RG_OK ? closed : status;
    }
    rg_scene_destroy(scene);
    return status;
}

static rg_status read_with_little_memory(const char *path, size_t fail_after) {
    counting_allocator counter;
    rg_allocator allocator = counting_allocator_make(&counter);
    counter.fail_after = fail_after;
    rg_recording *recording;
    rg_error error = {0};
    rg_status status = rg_recording_open_with(path, &allocator, &recording, &error);
    if (status != RG_OK)
        return status;
    char csv[256];
    status = rg_recording_export_csv(recording, in_directory("memory.csv", csv), &error);
    rg_recording_close(recording);
    return status;
}

static rg_status resume_with_little_memory(const char *path, size_t fail_after) {
    counting_allocator counter;
    rg_allocator allocator = counting_allocator_make(&counter);
    counter.fail_after = fail_after;
    rg_recorder_options options = {.allocator = &allocator};
    rg_scene *scene;
    rg_recorder *recorder;
    rg_error error = {0};
    rg_status status = rg_recorder_resume(path, &options, NULL, &scene, &recorder, &error);
    if (status == RG_OK) {
        rg_recorder_free(recorder);
        rg_scene_destroy(scene);
    }
    return status;
}

static void test_every_allocation_fails(void **state) {
    (void)state;
    char path[256];
    in_directory("memory.h5", path);
    run_truth truth = find_truth(two_bodies);
    size_t number = 1;
    while (run_with_little_memory(path, number) != RG_OK) {
        if (access(path, F_OK) == 0)
            check_recording(path, &truth);
        number++;
        assert_true(number < 1000);
    }
    assert_true(number > 20);
    for (number = 1; read_with_little_memory(path, number) != RG_OK; number++)
        assert_true(number < 1000);
    assert_true(number > 8);
    for (number = 1; resume_with_little_memory(path, number) != RG_OK; number++)
        assert_true(number < 1000);
    assert_true(number > 8);
    assert_int_equal(check_recording(path, &truth), 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_existing_file),
        cmocka_unit_test(test_two_runs_into_one_file),
        cmocka_unit_test(test_bodies_that_come_and_go),
        cmocka_unit_test(test_resume_keeps_its_settings),
        cmocka_unit_test(test_duration_is_kept),
        cmocka_unit_test(test_summary_goes_on),
        cmocka_unit_test(test_measures_go_on),
        cmocka_unit_test(test_changed_builtin),
        cmocka_unit_test(test_resume_of_a_finished_run),
        cmocka_unit_test(test_every_allocation_fails),
    };
    return cmocka_run_group_tests(tests, make_test_directory, remove_test_directory);
}
