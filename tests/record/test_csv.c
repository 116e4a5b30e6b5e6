/* The CSV export: the exact text, numbers that read back to the same bits, and all or nothing. */
#include "record_support.h"

#include "base/base_text.h"

#include <math.h>

static const char odd_names[] =
    "rigor: 1\ngravity: [0, 0, 0]\nmethod: {name: stepping, step: 0.01}\nbodies:\n"
    "  - {name: 'a, \"b\"', shape: {sphere: 1}, position: [1, -2.5, 1e-7]}\n"
    "  - {shape: {sphere: 1}, position: [0.1, 0, 0], velocity: [100, 0, 0]}\n";

static void record(const char *text, const char *path, int steps) {
    rg_scene *scene = scene_of_text(text);
    rg_recorder_options options = {.overwrite = true};
    rg_recorder *recorder;
    rg_error error = {0};
    if (rg_recorder_open(scene, path, &options, &recorder, &error) != RG_OK)
        fail_msg("%s", error.text);
    for (int i = 0; i < steps; i++) {
        step_scene(scene);
        assert_int_equal(rg_recorder_frame(recorder, NULL, &error), RG_OK);
    }
    assert_int_equal(rg_recorder_close(recorder, true, &error), RG_OK);
    rg_scene_destroy(scene);
}

static void test_exact_text(void **state) {
    (void)state;
    char path[256], csv[256];
    in_directory("odd.csv", csv);
    record(odd_names, in_directory("odd.h5", path), 1);
    rg_recording *recording = open_recording(path);
    const char *second = rg_recording_body_name(recording, 1);
    char wanted[1024];
    snprintf(wanted, sizeof wanted,
             "time,step,body,px,py,pz,qx,qy,qz,qw,vx,vy,vz,wx,wy,wz\n"
             "0,0,\"a, \"\"b\"\"\",1,-2.5,1e-7,0,0,0,1,0,0,0,0,0,0\n"
             "0,0,%s,0.1,0,0,0,0,0,1,100,0,0,0,0,0\n"
             "0.01,1,\"a, \"\"b\"\"\",1,-2.5,1e-7,0,0,0,1,0,0,0,0,0,0\n"
             "0.01,1,%s,1.1,0,0,0,0,0,1,100,0,0,0,0,0\n",
             second[0] ? second : "1", second[0] ? second : "1");
    assert_int_equal(rg_recording_export_csv(recording, csv, NULL), RG_OK);
    rg_recording_close(recording);
    bytes text = read_bytes(csv);
    assert_string_equal(text.data, wanted);
    free(text.data);
    assert_int_equal(access(in_directory("odd.csv.new", path), F_OK), -1);
}

/* Every number of a longer run, read back. */
static void test_same_bits(void **state) {
    (void)state;
    char path[256], csv[256];
    in_directory("bits.csv", csv);
    record(two_bodies, in_directory("bits.h5", path), 40);
    rg_recording *recording = open_recording(path);
    assert_int_equal(rg_recording_export_csv(recording, csv, NULL), RG_OK);
    bytes text = read_bytes(csv);
    char *line = strchr(text.data, '\n') + 1;
    for (size_t i = 0; i <= 40; i++) {
        rg_vec3 position[2], velocity[2], angular[2];
        rg_quat orientation[2];
        rg_frame frame = {.position = position,
                          .orientation = orientation,
                          .velocity = velocity,
                          .angular_velocity = angular};
        assert_int_equal(rg_recording_read(recording, i, &frame, NULL), RG_OK);
        for (size_t body = 0; body < 2; body++) {
            double numbers[13];
            memcpy(numbers, &position[body], 24);
            memcpy(numbers + 3, &orientation[body], 32);
            memcpy(numbers + 7, &velocity[body], 24);
            memcpy(numbers + 10, &angular[body], 24);
            char *field = strchr(strchr(strchr(line, ',') + 1, ',') + 1, ',');
            for (int k = 0; k < 13; k++) {
                size_t length = strcspn(field + 1, ",\n");
                double value;
                assert_true(rg_parse_double(field + 1, length, &value));
                assert_memory_equal(&value, &numbers[k], sizeof value);
                field += 1 + length;
            }
            assert_int_equal(*field, '\n');
            line = field + 1;
        }
    }
    assert_int_equal(*line, '\0');
    free(text.data);
    rg_recording_close(recording);
}

static void test_failure_keeps_the_old_file(void **state) {
    (void)state;
    char path[256], csv[256], other[256];
    in_directory("keep.h5", path);
    in_directory("keep.csv", csv);
    record(two_bodies, path, 3);
    write_bytes(csv, "precious\n", 9);
    rg_recording *recording;
    assert_int_equal(rg_recording_open(path, &recording, NULL), RG_OK);
    failing_disk full = {.for_good = true, .only_writes = true, .error = ENOSPC};
    rg_disk disk = {fail_at_will, &full};
    rg_error error = {0};
    assert_int_equal(rg_recording_export_csv_with(recording, &disk, csv, &error), RG_WRITE_FAILED);
    char wanted[512];
    snprintf(wanted, sizeof wanted, "%s: cannot be written: No space left on device", csv);
    assert_string_equal(error.text, wanted);
    bytes text = read_bytes(csv);
    assert_string_equal(text.data, "precious\n");
    free(text.data);
    assert_int_equal(access(in_directory("keep.csv.new", other), F_OK), -1);
    assert_int_equal(rg_recording_export_csv(recording, "/nowhere/at/all.csv", &error),
                     RG_WRITE_FAILED);
    assert_string_equal(error.text,
                        "/nowhere/at/all.csv: cannot be written: No such file or directory");
    /* A device is not replaced by a file. */
    assert_int_equal(rg_recording_export_csv(recording, "/dev/null", &error), RG_WRITE_FAILED);
    rg_recording_close(recording);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact_text),
        cmocka_unit_test(test_same_bits),
        cmocka_unit_test(test_failure_keeps_the_old_file),
    };
    return cmocka_run_group_tests(tests, make_test_directory, remove_test_directory);
}
