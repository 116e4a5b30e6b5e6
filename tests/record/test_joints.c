/* Joints in recordings (record_rows.c, record_store_rows.c): what is read is what the world had, in
 * the journal and in FILE and over a resume; events of limits and breaks; the table. */
#include "record_support.h"

#include "rigor/joint.h"

#include <string.h>

/* A leaf falls about its hinge, loses the ball that is welded to it and comes to its limit. */
static const char swinging[] =
    "method: {name: stepping, step: 1/240}\n"
    "duration: 1\n"
    "bodies:\n"
    "  - {name: leaf, shape: {box: [1, 0.1, 0.1]}, position: [1, 0, 5], density: 1000}\n"
    "  - {name: ball, shape: {sphere: 0.2}, position: [1.7, 0, 5], density: 500}\n"
    "joints:\n"
    "  - {kind: hinge, bodies: [world, leaf], point: [0.5, 0, 5], axis: [0, 1, 0],\n"
    "     axes: {lower: -1, upper: 1, motor: {velocity: 0, max_force: 2}}}\n"
    "  - {kind: fixed, bodies: [leaf, ball], point: [1.5, 0, 5], break_force: 300}\n";

enum { STEPS = 240, EVERY = 24, FRAMES = STEPS / EVERY + 1, JOINTS = 2 };
static rg_joint_state truth[FRAMES][JOINTS];

static void remember(const rg_scene *scene, size_t frame) {
    const rg_world *world = rg_scene_world((rg_scene *)scene);
    for (size_t j = 0; j < JOINTS; j++)
        truth[frame][j] = rg_joint_get_state(world, rg_world_joint_at(world, j));
}

static bool same(rg_vec3 a, rg_vec3 b) {
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

static void check_joints(const char *path, size_t frames) {
    rg_recording *recording = open_recording(path);
    rg_error error = {0};
    size_t limits = 0, breaks = 0;
    assert_true(rg_recording_get_info(recording).has_joints);
    assert_int_equal(rg_recording_get_info(recording).frame_count, frames);
    for (size_t i = 0; i < frames; i++) {
        const rg_recorded_joint *joints;
        const rg_recorded_event *events;
        size_t count;
        if (rg_recording_read_joints(recording, i, &joints, &count, &error) != RG_OK)
            fail_msg("%s", error.text);
        assert_int_equal(count, JOINTS);
        for (size_t j = 0; j < JOINTS; j++) {
            const rg_joint_state *s = &truth[i][j];
            assert_int_equal(joints[j].joint, j);
            assert_int_equal(joints[j].kind, j == 0 ? RG_JOINT_HINGE : RG_JOINT_FIXED);
            assert_int_equal(joints[j].body_a, j == 0 ? RG_RECORDED_NONE : 0);
            assert_int_equal(joints[j].body_b, j);
            assert_int_equal(joints[j].broken, s->broken);
            assert_true(joints[j].coordinate.x == s->coordinate[0] &&
                        joints[j].velocity.x == s->velocity[0] &&
                        joints[j].axis_force.x == s->axis_force[0] &&
                        joints[j].motor_force.x == s->motor_force[0]);
            assert_true(same(joints[j].force, s->force) && same(joints[j].torque, s->torque) &&
                        same(joints[j].point, s->point));
        }
        assert_int_equal(rg_recording_read_events(recording, i, &events, &count, &error), RG_OK);
        for (size_t k = 0; k < count; k++) {
            limits += events[k].kind == RG_STEP_EVENT_LIMIT && events[k].contacts == 0 &&
                      events[k].value == 1;
            breaks += events[k].kind == RG_STEP_EVENT_JOINT_BREAK && events[k].contacts == 1 &&
                      events[k].value > 300;
        }
    }
    if (frames == FRAMES)
        assert_true(limits == 1 && breaks == 1);
    rg_recording_close(recording);
}

static void joints_are_recorded(void **state) {
    (void)state;
    for (int resumed = 0; resumed < 2; resumed++) {
        char path[256];
        rg_recorder_options options = {.checkpoint_every = 1e9, .overwrite = true};
        rg_recorder *recorder;
        rg_error error = {0};
        rg_scene *scene = scene_of_text(swinging);
        in_directory(resumed ? "resumed.h5" : "joints.h5", path);
        assert_int_equal(rg_recorder_open(scene, path, &options, &recorder, &error), RG_OK);
        remember(scene, 0);
        for (int i = 1; i <= STEPS; i++) {
            step_recorded(scene, recorder);
            if (i % EVERY == 0) {
                remember(scene, (size_t)(i / EVERY));
                assert_int_equal(rg_recorder_frame(recorder, NULL, &error), RG_OK);
            }
            if (i != STEPS / 2)
                continue;
            check_joints(path, FRAMES / 2 + 1); /* out of the journal */
            if (!resumed)
                continue;
            assert_int_equal(rg_recorder_checkpoint(recorder, &error), RG_OK);
            assert_int_equal(rg_recorder_close(recorder, false, &error), RG_OK);
            rg_scene_destroy(scene);
            if (rg_recorder_resume(path, &options, NULL, &scene, &recorder, &error) != RG_OK)
                fail_msg("%s", error.text);
        }
        assert_int_equal(rg_recorder_close(recorder, true, &error), RG_OK);
        rg_scene_destroy(scene);
        check_joints(path, FRAMES); /* out of FILE */
    }
}

static void as_a_table(void **state) {
    (void)state;
    char path[256], table[256];
    rg_error error = {0};
    in_directory("joints.h5", path);
    in_directory("joints.csv", table);
    rg_recording *recording = open_recording(path);
    assert_int_equal(rg_recording_export_joints_csv(recording, table, &error), RG_OK);
    rg_recording_close(recording);
    bytes text = read_bytes(table);
    size_t lines = 0;
    for (size_t i = 0; i < text.size; i++)
        lines += text.data[i] == '\n';
    assert_int_equal(lines, 1 + FRAMES * JOINTS);
    static const char header[] = "time,step,joint,kind,body_a,body_b,broken,x0,x1,x2,";
    static const char first[] = "\n0,0,0,hinge,,leaf,0,0,,,0,,,0,,,0,,,0.5,0,5,0,0,0,0,0,0,";
    assert_memory_equal(text.data, header, sizeof header - 1);
    char *begin = memchr(text.data, '\n', text.size);
    assert_memory_equal(begin, first, sizeof first - 1);
    free(text.data);
}

/* Nothing changes for scenes without joints. */
static void scenes_without(void **state) {
    (void)state;
    char path[256];
    rg_recorder *recorder;
    rg_error error = {0};
    const rg_recorded_joint *joints;
    size_t count;
    rg_scene *scene = scene_of_text(two_bodies);
    in_directory("none.h5", path);
    assert_int_equal(rg_recorder_open(scene, path, NULL, &recorder, &error), RG_OK);
    assert_int_equal(rg_recorder_close(recorder, true, &error), RG_OK);
    rg_scene_destroy(scene);
    rg_recording *recording = open_recording(path);
    assert_false(rg_recording_get_info(recording).has_joints);
    assert_int_equal(rg_recording_read_joints(recording, 0, &joints, &count, &error),
                     RG_UNSUPPORTED);
    rg_recording_close(recording);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(joints_are_recorded),
                                       cmocka_unit_test(as_a_table),
                                       cmocka_unit_test(scenes_without)};
    return cmocka_run_group_tests(tests, make_test_directory, remove_test_directory);
}
