/* Certificates and contacts in recordings: every number as the world and its steps said it, in the
 * journal and in FILE, over resumes between frames, left out, and from recordings of format 1,
 * which had none. */
#include "record_support.h"

#include "record/record_interval.h"

#include <hdf5.h>
#include <math.h>

/* ---- the steps since the last frame ---- */

static void test_worst_and_sums(void **state) {
    (void)state;
    rg_step_info interval = rg_step_info_nothing();
    assert_int_equal(interval.steps, 0);
    assert_true(isnan(interval.certificate.min_gap) && isnan(interval.energy.closure_rel));
    rg_step_info one = rg_step_info_nothing();
    one.steps = 1;
    one.time = 0.5;
    one.certificate.min_gap = -1e-3;
    one.certificate.max_penetration = 1e-3;
    one.certificate.momentum_error = 1e-12;
    one.energy = (rg_energy_ledger){10, 8, 1, -2, 0.5, 0.25, 3, 4, 1e-3, 1e-9};
    one.contacts_max = 7;
    one.solves = 2;
    one.solver_iterations = 11;
    one.profile.step = 5;
    rg_step_info_add(&interval, &one);
    rg_step_info nothing = rg_step_info_nothing(); /* a step without a judge */
    nothing.steps = 1;
    nothing.time = 0.75;
    rg_step_info_add(&interval, &nothing);
    rg_step_info two = one;
    two.time = 1;
    two.certificate.min_gap = 1e-4; /* better: the worse one stays */
    two.certificate.max_penetration = 0;
    two.certificate.complementarity = 1e-9;
    two.energy = (rg_energy_ledger){8, 9, 1, 1, 1, 1, 1, 1, -1e-3, 1e-10};
    two.contacts_max = 3;
    two.impacts = 1;
    rg_step_info_add(&interval, &two);
    assert_int_equal(interval.steps, 3);
    assert_true(interval.time == 1);
    assert_true(interval.certificate.min_gap == -1e-3);
    assert_true(interval.certificate.max_penetration == 1e-3);
    assert_true(interval.certificate.complementarity == 1e-9);
    assert_true(interval.certificate.momentum_error == 1e-12);
    assert_true(isnan(interval.certificate.joint_error));
    rg_energy_ledger sums = {10, 9, 2, -1, 1.5, 1.25, 4, 5, 0, 1e-9};
    assert_memory_equal(&interval.energy, &sums, sizeof sums);
    assert_int_equal(interval.contacts_max, 7);
    assert_int_equal(interval.impacts, 1);
    assert_int_equal(interval.solves, 4);
    assert_int_equal(interval.solver_iterations, 22);
    assert_true(interval.profile.step == 0);
}

/* Every field of a step is in a table of FILE, but time and the processor's time. */
static void test_every_field_has_a_table(void **state) {
    (void)state;
    assert_int_equal(8 * rg_summary_field_count, sizeof(rg_step_info));
    size_t counts[RG_TABLE_COUNT + 1] = {0};
    for (size_t i = 0; i < rg_summary_field_count; i++)
        counts[rg_interval_table_of(&rg_summary_fields[i])]++;
    assert_int_equal(8 * counts[RG_TABLE_CERTIFICATE], sizeof(rg_certificate));
    assert_int_equal(8 * counts[RG_TABLE_LEDGER], sizeof(rg_energy_ledger));
    assert_int_equal(8 * counts[RG_TABLE_NONE], sizeof(double) + sizeof(rg_step_profile));
}

/* ---- as it was ---- */

enum { STEPS = 60, EVERY = 3, FRAMES = STEPS / EVERY + 1 };

typedef struct frame_truth {
    uint64_t hash;
    rg_step_info interval;
    rg_contact_force *contacts;
    size_t count;
} frame_truth;

static void take_truth(frame_truth *frame, const rg_world *world, const rg_step_info *interval) {
    frame->hash = rg_world_state_hash(world);
    frame->interval = *interval;
    const rg_contact_force *forces = rg_world_contact_forces(world, &frame->count);
    frame->contacts = calloc(frame->count + 1, sizeof *forces);
    if (frame->count)
        memcpy(frame->contacts, forces, frame->count * sizeof *forces);
}

/* A frame after every third step. The sums are made here once more, step by step. */
static void find_frames(const char *text, frame_truth *frames) {
    rg_scene *scene = scene_of_text(text);
    rg_world *world = rg_scene_world(scene);
    rg_step_info interval = rg_step_info_nothing();
    take_truth(&frames[0], world, &interval);
    for (int i = 1; i <= STEPS; i++) {
        rg_step_info info;
        assert_int_equal(rg_world_step(world, 0.01, &info, NULL), RG_OK);
        rg_step_info_add(&interval, &info);
        if (i % EVERY == 0) {
            take_truth(&frames[i / EVERY], world, &interval);
            interval = rg_step_info_nothing();
        }
    }
    rg_scene_destroy(scene);
}

static void free_frames(frame_truth *frames) {
    for (int i = 0; i < FRAMES; i++)
        free(frames[i].contacts);
}

static void check_frames(const char *path, const frame_truth *frames, size_t expected,
                         const rg_world *world) {
    rg_recording *recording = open_recording(path);
    rg_recording_info info = rg_recording_get_info(recording);
    assert_int_equal(info.frame_count, expected);
    assert_true(info.has_certificate && info.has_contacts);
    for (size_t i = 0; i < expected; i++) {
        rg_frame frame = {0};
        rg_step_info interval;
        const rg_recorded_contact *contacts;
        size_t count;
        assert_int_equal(rg_recording_read(recording, i, &frame, NULL), RG_OK);
        assert_true(frame.state_hash == frames[i].hash);
        assert_int_equal(rg_recording_read_certificate(recording, i, &interval, NULL), RG_OK);
        rg_step_info wanted = frames[i].interval;
        wanted.time = frame.time;
        check_info(&interval, &wanted);
        assert_int_equal(rg_recording_read_contacts(recording, i, &contacts, &count, NULL), RG_OK);
        assert_int_equal(count, frames[i].count);
        for (size_t k = 0; k < count; k++)
            check_contact(&contacts[k], &frames[i].contacts[k], world);
    }
    rg_step_info interval;
    const rg_recorded_contact *contacts;
    size_t count;
    rg_error error = {0};
    assert_int_equal(rg_recording_read_certificate(recording, expected, &interval, &error),
                     RG_INVALID_ARGUMENT);
    assert_int_equal(rg_recording_read_contacts(recording, expected, &contacts, &count, &error),
                     RG_INVALID_ARGUMENT);
    assert_int_equal(count, 0);
    rg_recording_close(recording);
}

static void go_on(rg_scene *scene, rg_recorder *recorder, int steps) {
    rg_world *world = rg_scene_world(scene);
    rg_error error = {0};
    while (rg_world_step_count(world) < (uint64_t)steps) {
        step_recorded(scene, recorder);
        if (rg_world_step_count(world) % EVERY == 0 &&
            rg_recorder_frame(recorder, NULL, &error) != RG_OK)
            fail_msg("%s", error.text);
    }
}

/* Read from the journal alone, from FILE after many folds, and from both. */
static void test_as_the_world_said(void **state) {
    (void)state;
    char path[256];
    in_directory("said.h5", path);
    frame_truth frames[FRAMES];
    find_frames(on_a_floor, frames);
    size_t total = 0;
    bool slips = false;
    for (int i = 0; i < FRAMES; i++) {
        total += frames[i].count;
        for (size_t k = 0; k < frames[i].count; k++)
            slips = slips || frames[i].contacts[k].mode == RG_MODE_SLIP;
    }
    assert_true(total > 4 * (FRAMES - 1) && slips);
    const uint64_t fold_bytes[] = {0, 1, 5000};
    for (int i = 0; i < 3; i++) {
        rg_scene *scene = scene_of_text(on_a_floor);
        rg_recorder_options options = {.overwrite = true};
        rg_recorder_tuning tuning = {.fold_bytes = fold_bytes[i]};
        rg_recorder *recorder;
        assert_int_equal(rg_recorder_create_tuned(scene, path, &options, &tuning, &recorder, NULL),
                         RG_OK);
        for (int step = 1; step <= STEPS; step++) {
            recorder->file_size = 0; /* fold by the size of the journal alone */
            go_on(scene, recorder, step);
        }
        check_frames(path, frames, FRAMES, rg_scene_world(scene));
        assert_int_equal(rg_recorder_close(recorder, true, NULL), RG_OK);
        check_frames(path, frames, FRAMES, rg_scene_world(scene));
        rg_scene_destroy(scene);
    }
    free_frames(frames);
}

/* ---- stopped and gone on with ---- */

/* Stopped after every step once, in most cases between frames: with a checkpoint in the journal
 * and killed, and closed in good order. */
static void test_stopped_between_frames(void **state) {
    (void)state;
    char path[256];
    in_directory("stopped.h5", path);
    frame_truth frames[FRAMES];
    find_frames(on_a_floor, frames);
    for (int stop = 0; stop <= 24; stop++)
        for (int closed = 0; closed < 2; closed++) {
            rg_scene *scene = scene_of_text(on_a_floor), *resumed;
            rg_recorder_options options = {.overwrite = true, .checkpoint_every = 1e9};
            rg_recorder *recorder;
            rg_error error = {0};
            assert_int_equal(rg_recorder_open(scene, path, &options, &recorder, &error), RG_OK);
            go_on(scene, recorder, stop);
            if (closed) {
                assert_int_equal(rg_recorder_close(recorder, false, &error), RG_OK);
            } else {
                assert_int_equal(rg_recorder_checkpoint(recorder, &error), RG_OK);
                go_on(scene, recorder, stop + 4); /* dropped again */
                rg_recorder_free(recorder);
            }
            rg_scene_destroy(scene);
            if (rg_recorder_resume(path, NULL, NULL, &resumed, &recorder, &error) != RG_OK)
                fail_msg("%s", error.text);
            assert_int_equal(rg_world_step_count(rg_scene_world(resumed)), stop);
            go_on(resumed, recorder, STEPS);
            assert_int_equal(rg_recorder_close(recorder, true, &error), RG_OK);
            check_frames(path, frames, FRAMES, rg_scene_world(resumed));
            rg_scene_destroy(resumed);
        }
    free_frames(frames);
}

/* ---- left out, and as it was before ---- */

static void check_without(const char *path, bool has_certificate) {
    rg_recording *recording = open_recording(path);
    rg_recording_info info = rg_recording_get_info(recording);
    assert_int_equal(info.has_certificate, has_certificate);
    assert_false(info.has_contacts);
    const rg_recorded_contact *contacts;
    size_t count;
    rg_step_info interval;
    rg_error error = {0};
    char wanted[512], csv[256];
    assert_int_equal(rg_recording_read_contacts(recording, 0, &contacts, &count, &error),
                     RG_UNSUPPORTED);
    snprintf(wanted, sizeof wanted,
             "%s: has no contacts: it was recorded without them, or by an earlier version of rigor",
             path);
    assert_string_equal(error.text, wanted);
    in_directory("without.csv", csv);
    assert_int_equal(rg_recording_export_contacts_csv(recording, csv, &error), RG_UNSUPPORTED);
    assert_int_equal(access(csv, F_OK), -1);
    assert_int_equal(rg_recording_read_certificate(recording, 0, &interval, &error),
                     has_certificate ? RG_OK : RG_UNSUPPORTED);
    assert_int_equal(rg_recording_export_certificate_csv(recording, csv, &error),
                     has_certificate ? RG_OK : RG_UNSUPPORTED);
    (void)remove(csv);
    rg_recording_close(recording);
}

static uint64_t format_version(const char *path) {
    uint64_t version = 0;
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    hid_t attribute = H5Aopen(file, "format_version", H5P_DEFAULT);
    assert_true(H5Aread(attribute, H5T_NATIVE_UINT64, &version) >= 0);
    H5Aclose(attribute);
    H5Fclose(file);
    return version;
}

/* Recorded without, killed, gone on with by a recorder that was not told so. */
static void check_kept(const char *path, bool old_format) {
    run_truth truth = find_truth(on_a_floor);
    rg_scene *scene = scene_of_text(on_a_floor), *resumed;
    rg_recorder_options options = {.checkpoint_every = 0, .leave_out_contacts = true};
    rg_recorder_tuning tuning = {.fold_bytes = 3000, .format = old_format ? 1 : 0};
    rg_recorder *recorder;
    rg_error error = {0};
    assert_int_equal(rg_recorder_create_tuned(scene, path, &options, &tuning, &recorder, &error),
                     RG_OK);
    for (int i = 1; i <= 8; i++) {
        step_recorded(scene, recorder);
        assert_int_equal(rg_recorder_frame(recorder, NULL, &error), RG_OK);
    }
    rg_recorder_free(recorder);
    rg_scene_destroy(scene);
    check_without(path, !old_format);
    assert_int_equal(rg_recorder_resume(path, NULL, NULL, &resumed, &recorder, &error), RG_OK);
    for (int i = 9; i <= 12; i++) {
        step_recorded(resumed, recorder);
        assert_int_equal(rg_recorder_frame(recorder, NULL, &error), RG_OK);
    }
    check_without(path, !old_format);
    assert_int_equal(rg_recorder_close(recorder, true, &error), RG_OK);
    rg_scene_destroy(resumed);
    check_without(path, !old_format);
    assert_int_equal(check_recording(path, &truth), 13);
    assert_int_equal(format_version(path), old_format ? 1 : 5);
}

static void test_contacts_left_out(void **state) {
    (void)state;
    char path[256];
    check_kept(in_directory("without.h5", path), false);
}

static void test_format_1(void **state) {
    (void)state;
    char path[256];
    check_kept(in_directory("format1.h5", path), true);
}

/* One that a version of format 1 wrote itself. */
static void test_recording_of_an_earlier_version(void **state) {
    (void)state;
    const char *path = RIGOR_SOURCE_DIR "/tests/data/recording-1.h5";
    assert_int_equal(format_version(path), 1);
    check_without(path, false);
    rg_recording *recording = open_recording(path);
    rg_recording_info info = rg_recording_get_info(recording);
    assert_int_equal(info.frame_count, 5);
    assert_int_equal(info.body_count, 2);
    assert_true(info.finished);
    assert_string_equal(rg_recording_body_name(recording, 1), "ball");
    for (size_t i = 0; i < 5; i++) {
        rg_vec3 position[2], velocity[2];
        rg_frame frame = {.position = position, .velocity = velocity};
        assert_int_equal(rg_recording_read(recording, i, &frame, NULL), RG_OK);
        double t = 0.01 * (double)i;
        assert_int_equal(frame.step, i);
        assert_true(fabs(frame.time - t) < 1e-15);
        assert_true(fabs(position[1].x - (9 + t)) < 1e-14);
        assert_true(fabs(velocity[1].z - (5 - 9.81 * t)) < 1e-14);
    }
    rg_recording_close(recording);
}

/* ---- as text ---- */

static void check_contacts_csv(rg_recording *recording, const char *csv,
                               const rg_contact_force *forces, size_t count) {
    assert_int_equal(rg_recording_export_contacts_csv(recording, csv, NULL), RG_OK);
    bytes content = read_bytes(csv);
    char *line = content.data;
    const char header[] = "time,step,body_a,body_b,px,py,pz,nx,ny,nz,fx,fy,fz,gap,friction,"
                          "slip_speed,mode\n";
    assert_memory_equal(line, header, strlen(header));
    line += strlen(header);
    for (size_t i = 0; i < count; i++) {
        const char start[] = "0.01,1,\"a, b\",floor,";
        assert_memory_equal(line, start, strlen(start));
        double n[12];
        char mode[16];
        assert_int_equal(sscanf(line + strlen(start),
                                "%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf,%15s", n, n + 1,
                                n + 2, n + 3, n + 4, n + 5, n + 6, n + 7, n + 8, n + 9, n + 10,
                                n + 11, mode),
                         13);
        assert_memory_equal(n, &forces[i].position, 24);
        assert_true(n[3] == forces[i].normal.x && n[5] == forces[i].normal.z);
        assert_true(n[6] == forces[i].force.x && n[8] == forces[i].force.z);
        assert_true(n[9] == forces[i].gap && n[10] == forces[i].friction);
        assert_true(n[11] == forces[i].slip_speed);
        assert_string_equal(mode, rg_contact_mode_name((rg_contact_mode)forces[i].mode));
        line = strchr(line, '\n') + 1;
    }
    assert_int_equal(*line, '\0');
    free(content.data);
}

static size_t commas_in(const char *line) {
    size_t commas = 0;
    for (; *line != '\n'; line++)
        commas += *line == ',';
    return commas;
}

static void check_certificate_csv(rg_recording *recording, const char *csv) {
    assert_int_equal(rg_recording_export_certificate_csv(recording, csv, NULL), RG_OK);
    bytes content = read_bytes(csv);
    const char titles[] = "time,step,min_gap_m,max_penetration_m,complementarity,";
    assert_memory_equal(content.data, titles, strlen(titles));
    char *line = strchr(content.data, '\n') + 1;
    const char nothing[] = "0,0,,,,,,,,,,,,,,,,,0,0,"; /* no step yet: nothing measured */
    assert_memory_equal(line, nothing, strlen(nothing));
    line = strchr(line, '\n') + 1;
    rg_step_info info;
    assert_int_equal(rg_recording_read_certificate(recording, 1, &info, NULL), RG_OK);
    double gap, penetration;
    assert_int_equal(sscanf(line, "0.01,1,%lf,%lf,", &gap, &penetration), 2);
    assert_true(gap == info.certificate.min_gap && penetration == info.certificate.max_penetration);
    assert_int_equal(strchr(line, '\n')[1], '\0');
    assert_int_equal(commas_in(line), commas_in(content.data));
    free(content.data);
}

static void test_csv(void **state) {
    (void)state;
    static const char text[] =
        "rigor: 1\nmethod: {name: stepping, step: 0.01}\nbodies:\n"
        "  - {name: floor, motion: fixed, shape: {box: [8, 8, 1]}, position: [0, 0, -0.5]}\n"
        "  - {name: 'a, b', shape: {box: [1, 1, 1]}, position: [0, 0, 0.5]}\n";
    char path[256], csv[256];
    in_directory("text.h5", path);
    in_directory("text.csv", csv);
    rg_scene *scene = scene_of_text(text);
    rg_recorder *recorder;
    assert_int_equal(rg_recorder_open(scene, path, NULL, &recorder, NULL), RG_OK);
    step_recorded(scene, recorder);
    assert_int_equal(rg_recorder_frame(recorder, NULL, NULL), RG_OK);
    size_t count;
    const rg_contact_force *forces = rg_world_contact_forces(rg_scene_world(scene), &count);
    assert_int_equal(count, 4);
    double weight = 0;
    for (size_t i = 0; i < count; i++)
        weight += forces[i].force.z;
    double mass =
        rg_body_mass(rg_scene_world(scene), rg_world_body_at(rg_scene_world(scene), 1)).mass;
    assert_true(fabs(weight / (mass * 9.81) - 1) < 1e-6); /* as the solver has it */
    rg_recording *recording = open_recording(path);
    check_contacts_csv(recording, csv, forces, count);
    check_certificate_csv(recording, csv);
    rg_recording_close(recording);
    assert_int_equal(rg_recorder_close(recorder, true, NULL), RG_OK);
    rg_scene_destroy(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_worst_and_sums),
        cmocka_unit_test(test_every_field_has_a_table),
        cmocka_unit_test(test_as_the_world_said),
        cmocka_unit_test(test_stopped_between_frames),
        cmocka_unit_test(test_contacts_left_out),
        cmocka_unit_test(test_format_1),
        cmocka_unit_test(test_recording_of_an_earlier_version),
        cmocka_unit_test(test_csv),
    };
    return cmocka_run_group_tests(tests, make_test_directory, remove_test_directory);
}
