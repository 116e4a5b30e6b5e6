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

/* ---- the other tables ---- */

/* A ball that bounces and slides, a pendulum, drag. */
static const char of_all_kinds[] =
    "rigor: 1\n"
    "method: {name: analytic, step: 0.01}\n"
    "materials:\n"
    "  hard: {friction: 0.2, restitution: 0.5}\n"
    "bodies:\n"
    "  - {name: floor, motion: fixed, shape: {halfspace: {normal: [0, 0, 1], offset: 0}},\n"
    "     material: hard}\n"
    "  - {name: ball, shape: {sphere: 0.1}, position: [0, 0, 0.2], velocity: [1, 0, 0],\n"
    "     material: hard}\n"
    "  - {name: bob, shape: {sphere: 0.1}, position: [5, 0, 3]}\n"
    "joints:\n"
    "  - {kind: hinge, bodies: [world, bob], point: [4, 0, 3], axis: [0, 1, 0]}\n"
    "forces:\n"
    "  - {kind: drag, body: bob, linear: 0.5}\n";

/* Every row has as many cells as the header. */
typedef struct table {
    char *text;
    size_t columns, rows;
} table;

static size_t count_cells(const char *line) {
    size_t cells = 1;
    bool quoted = false;
    for (const char *c = line; *c && *c != '\n'; c++) {
        quoted ^= *c == '"';
        cells += *c == ',' && !quoted;
    }
    return cells;
}

static table read_table(const char *path) {
    table t = {.text = read_bytes(path).data};
    t.columns = count_cells(t.text);
    for (const char *line = strchr(t.text, '\n') + 1; *line; line = strchr(line, '\n') + 1) {
        if (count_cells(line) != t.columns)
            fail_msg("%s: %zu cells, not %zu: %.200s", path, count_cells(line), t.columns, line);
        t.rows++;
    }
    return t;
}

/* The number in a row and a column, NaN if it is empty. No text of these tables has commas. */
static double number_at(const table *t, size_t row, const char *name) {
    size_t column = 0;
    const char *at = t->text, *line = t->text;
    for (size_t length = strlen(name);; column++) {
        if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\n'))
            break;
        at += strcspn(at, ",\n");
        if (*at++ != ',')
            fail_msg("there is no column %s", name);
    }
    for (size_t i = 0; i <= row; i++)
        line = strchr(line, '\n') + 1;
    for (; column > 0; column--)
        line = strchr(line, ',') + 1;
    double number = NAN;
    (void)rg_parse_double(line, strcspn(line, ",\n"), &number);
    return number;
}

static void assert_columns(const table *t, size_t row, const char *const names[3], rg_vec3 v) {
    for (int k = 0; k < 3; k++)
        assert_true(number_at(t, row, names[k]) == (&v.x)[k]);
}

static void check_impulses(rg_recording *recording, const table *t) {
    static const char *const normal[3] = {"nx", "ny", "nz"}, *const impulse[3] = {"ix", "iy", "iz"},
                             *const after[3] = {"after_x", "after_y", "after_z"};
    size_t row = 0, count;
    for (size_t i = 0; i < rg_recording_get_info(recording).frame_count; i++) {
        const rg_recorded_impulse *impulses;
        assert_int_equal(rg_recording_read_impulses(recording, i, &impulses, &count, NULL), RG_OK);
        for (size_t k = 0; k < count; k++, row++) {
            assert_columns(t, row, normal, impulses[k].normal);
            assert_columns(t, row, impulse, impulses[k].impulse);
            assert_columns(t, row, after, impulses[k].after);
            assert_true(number_at(t, row, "friction") == 0.2);
            assert_true(number_at(t, row, "restitution") == 0.5);
        }
    }
    assert_int_equal(row, t->rows);
}

static void check_contacts(rg_recording *recording, const table *t) {
    static const char *const place[3] = {"px", "py", "pz"}, *const force[3] = {"fx", "fy", "fz"};
    size_t row = 0, count;
    for (size_t i = 0; i < rg_recording_get_info(recording).frame_count; i++) {
        const rg_recorded_contact *contacts;
        assert_int_equal(rg_recording_read_contacts(recording, i, &contacts, &count, NULL), RG_OK);
        for (size_t k = 0; k < count; k++, row++) {
            assert_columns(t, row, place, contacts[k].position);
            assert_columns(t, row, force, contacts[k].force);
            assert_true(number_at(t, row, "slip_speed") == contacts[k].slip_speed);
        }
    }
    assert_int_equal(row, t->rows);
}

static void check_joints(rg_recording *recording, const table *t) {
    static const char *const force[3] = {"fx", "fy", "fz"};
    for (size_t i = 0; i < t->rows; i++) {
        const rg_recorded_joint *joints;
        size_t count;
        assert_int_equal(rg_recording_read_joints(recording, i, &joints, &count, NULL), RG_OK);
        assert_int_equal(count, 1);
        assert_true(number_at(t, i, "x0") == joints[0].coordinate.x);
        assert_true(isnan(number_at(t, i, "x1")) && isnan(number_at(t, i, "v2")));
        assert_true(number_at(t, i, "v0") == joints[0].velocity.x);
        assert_columns(t, i, force, joints[0].force);
        assert_true(number_at(t, i, "error") == joints[0].error);
    }
}

static void test_all_tables(void **state) {
    (void)state;
    char path[256], csv[256];
    rg_scene *scene = scene_of_text(of_all_kinds);
    rg_recorder_options options = {.overwrite = true};
    rg_recorder *recorder;
    rg_error error = {0};
    in_directory("all.csv", csv);
    if (rg_recorder_open(scene, in_directory("all.h5", path), &options, &recorder, &error) != RG_OK)
        fail_msg("%s", error.text);
    for (int i = 0; i < 80; i++) {
        step_recorded(scene, recorder);
        assert_int_equal(rg_recorder_frame(recorder, NULL, &error), RG_OK);
    }
    assert_int_equal(rg_recorder_close(recorder, true, &error), RG_OK);
    rg_scene_destroy(scene);
    rg_recording *recording = open_recording(path);
    typedef rg_status exporter(rg_recording *, const char *, rg_error *);
    static exporter *const exporters[] = {
        rg_recording_export_csv,          rg_recording_export_contacts_csv,
        rg_recording_export_impulses_csv, rg_recording_export_joints_csv,
        rg_recording_export_loads_csv,    rg_recording_export_certificate_csv,
        rg_recording_export_events_csv};
    for (size_t i = 0; i < sizeof exporters / sizeof exporters[0]; i++) {
        if (exporters[i](recording, csv, &error) != RG_OK)
            fail_msg("%s", error.text);
        table t = read_table(csv);
        assert_true(t.rows >= 2);
        if (i == 1)
            check_contacts(recording, &t);
        if (i == 2)
            check_impulses(recording, &t);
        if (i == 3)
            check_joints(recording, &t);
        free(t.text);
    }
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
        cmocka_unit_test(test_all_tables),
        cmocka_unit_test(test_failure_keeps_the_old_file),
    };
    return cmocka_run_group_tests(tests, make_test_directory, remove_test_directory);
}
