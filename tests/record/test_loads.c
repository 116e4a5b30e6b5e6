/* Loads in recordings (record_rows.c, record_store_rows.c): what is read is what the world had, in
 * the journal and in FILE; forces that a program applied; the table. */
#include "record_support.h"

#include <string.h>

static const char hanging[] =
    "method: {name: stepping, step: 1/240}\n"
    "duration: 1\n"
    "bodies:\n"
    "  - {name: bob, shape: {sphere: 0.1}, position: [0, 0, 1], mass: 1}\n"
    "  - {name: kite, shape: {sphere: 0.1}, position: [5, 0, 1], mass: 1}\n"
    "forces:\n"
    "  - {kind: spring, body: bob, other_point: [0, 0, 3], stiffness: 100, rest_length: 1}\n"
    "  - {kind: drag, linear: 0.5}\n";

enum { STEPS = 48, EVERY = 8, FRAMES = STEPS / EVERY + 1, MOST = 4 };
static rg_load truth[FRAMES][MOST];
static size_t truth_count[FRAMES];

static void remember(rg_world *world, size_t frame) {
    const rg_load *loads;
    assert_int_equal(rg_world_find_loads(world, &loads, &truth_count[frame]), RG_OK);
    assert_in_range(truth_count[frame], 1, MOST);
    memcpy(truth[frame], loads, truth_count[frame] * sizeof *loads);
}

static bool same(rg_vec3 a, rg_vec3 b) {
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

static void check_loads(const char *path, size_t frames) {
    rg_recording *recording = open_recording(path);
    rg_error error = {0};
    assert_true(rg_recording_get_info(recording).has_loads);
    assert_false(rg_recording_get_info(recording).has_joints);
    assert_int_equal(rg_recording_get_info(recording).frame_count, frames);
    for (size_t i = 0; i < frames; i++) {
        const rg_recorded_load *loads;
        size_t count;
        if (rg_recording_read_loads(recording, i, &loads, &count, &error) != RG_OK)
            fail_msg("%s", error.text);
        assert_int_equal(count, truth_count[i]);
        for (size_t k = 0; k < count; k++) {
            const rg_load *t = &truth[i][k];
            assert_int_equal(loads[k].kind, t->kind);
            assert_true(same(loads[k].force_vector, t->vector) && same(loads[k].point, t->point) &&
                        same(loads[k].torque, t->torque));
            assert_int_equal(loads[k].force, t->kind == RG_FORCE_SPRING ? 0
                                             : t->kind == RG_FORCE_DRAG ? 1
                                                                        : RG_RECORDED_NONE);
        }
        assert_true(loads[0].body == 0 && loads[0].kind == RG_FORCE_SPRING);
        assert_int_equal(i == 0 ? 1 : 4, count);
        if (i > 0)
            assert_true(loads[3].body == 1 && loads[3].kind == RG_FORCE_KIND_COUNT &&
                        loads[3].force_vector.z == 2);
    }
    rg_recording_close(recording);
}

static void loads_are_recorded(void **state) {
    (void)state;
    char path[256];
    rg_recorder *recorder;
    rg_error error = {0};
    rg_scene *scene = scene_of_text(hanging);
    rg_world *world = rg_scene_world(scene);
    rg_body_id kite;
    in_directory("loads.h5", path);
    assert_int_equal(rg_world_find_body(world, "kite", &kite), RG_OK);
    rg_recorder_options options = {.checkpoint_every = 1e9, .overwrite = true};
    assert_int_equal(rg_recorder_open(scene, path, &options, &recorder, &error), RG_OK);
    remember(world, 0);
    for (int i = 1; i <= STEPS; i++) {
        rg_body_apply_central_force(world, kite, (rg_vec3){0, 0, 2});
        step_recorded(scene, recorder);
        if (i % EVERY == 0) {
            remember(world, (size_t)(i / EVERY));
            assert_int_equal(rg_recorder_frame(recorder, NULL, &error), RG_OK);
        }
        if (i == STEPS / 2)
            check_loads(path, FRAMES / 2 + 1); /* out of the journal */
    }
    assert_int_equal(rg_recorder_close(recorder, true, &error), RG_OK);
    rg_scene_destroy(scene);
    check_loads(path, FRAMES); /* out of FILE */
}

static void as_a_table(void **state) {
    (void)state;
    char path[256], table[256];
    rg_error error = {0};
    in_directory("loads.h5", path);
    in_directory("loads.csv", table);
    rg_recording *recording = open_recording(path);
    assert_int_equal(rg_recording_export_loads_csv(recording, table, &error), RG_OK);
    rg_recording_close(recording);
    bytes text = read_bytes(table);
    size_t lines = 0;
    for (size_t i = 0; i < text.size; i++)
        lines += text.data[i] == '\n';
    assert_int_equal(lines, 1 + 1 + 4 * (FRAMES - 1));
    static const char begin[] = "time,step,force,kind,body,px,py,pz,fx,fy,fz,tx,ty,tz\n"
                                "0,0,0,spring,bob,0,0,1,0,0,100,0,0,0\n";
    assert_memory_equal(text.data, begin, sizeof begin - 1);
    static const char applied[] = ",,applied,kite,";
    bool found = false;
    for (size_t i = 0; i + sizeof applied < text.size; i++)
        found = found || memcmp(text.data + i, applied, sizeof applied - 1) == 0;
    assert_true(found);
    free(text.data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_are_recorded),
        cmocka_unit_test(as_a_table),
    };
    return cmocka_run_group_tests(tests, make_test_directory, remove_test_directory);
}
