/* Sensors (step_sensors.c, record_rows.c): events when a ball that falls freely enters and leaves
 * one, at the times of its parabola, and a row among the contacts of the frames in between, in the
 * journal and in FILE, by each method; the live frame has it, too. */
#include "record_support.h"

#include "rigor/event.h"
#include "rigor/view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The ball's lowest point is 0.5 m above the gate, of height 1 m; the ball has a diameter of 0.2 m:
 * it falls by 0.5 m and touches, and by 0.5 + 1 + 0.2 m and no longer does. */
static const char falling[] =
    "gravity: [0, 0, -10]\n"
    "method: {name: %s, step: 0.01}\n"
    "bodies:\n"
    "  - {name: gate, motion: fixed, sensor: true, shape: {box: [2, 2, 1]}, position: [0, 0, 2]}\n"
    "  - {name: ball, shape: {sphere: 0.1}, position: [0, 0, 3.1]}\n";
#define G        10.0
#define STEP     0.01 /* that of step_recorded */
#define ENTRANCE sqrt(2 * 0.5 / G)
#define EXIT     sqrt(2 * 1.7 / G)
enum { STEPS = 70, GATE = 0, BALL = 1 };

/* The first step that begins at that time or later. */
static double step_after(double time) {
    return ceil(time / STEP) * STEP;
}

static void check_frame(rg_recording *recording, size_t index, double slack) {
    const rg_recorded_contact *contacts;
    rg_frame frame = {0};
    size_t count;
    rg_error error = {0};
    assert_int_equal(rg_recording_read(recording, index, &frame, &error), RG_OK);
    assert_int_equal(rg_recording_read_contacts(recording, index, &contacts, &count, &error),
                     RG_OK);
    double begin = frame.time - STEP; /* of the step before the frame */
    if (begin > ENTRANCE + slack && begin < EXIT - slack)
        assert_int_equal(count, 1);
    if (begin < ENTRANCE - slack || begin > EXIT + slack)
        assert_int_equal(count, 0);
    if (count == 0)
        return;
    const rg_recorded_contact *c = &contacts[0];
    assert_int_equal(c->mode, RG_MODE_SENSOR);
    assert_int_equal(c->body_b, GATE);
    assert_int_equal(c->body_a, BALL);
    assert_true(c->force.x == 0 && c->force.y == 0 && c->force.z == 0);
}

/* `slack`: s by which the method may be early, as it looks at the end of the step. */
static void check_touches(const char *path, double slack) {
    rg_recording *recording = open_recording(path);
    rg_error error = {0};
    size_t found = 0;
    static const uint32_t kinds[2] = {RG_STEP_EVENT_SENSOR_ON, RG_STEP_EVENT_SENSOR_OFF};
    const double times[2] = {step_after(ENTRANCE), step_after(EXIT)};
    size_t frames = rg_recording_get_info(recording).frame_count;
    for (size_t i = 0; i < frames; i++) {
        const rg_recorded_event *events;
        size_t count;
        assert_int_equal(rg_recording_read_events(recording, i, &events, &count, &error), RG_OK);
        for (size_t k = 0; k < count; k++, found++) {
            assert_in_range(found, 0, 1);
            assert_int_equal(events[k].kind, kinds[found]);
            assert_true(events[k].time >= times[found] - slack - 1e-9);
            assert_true(events[k].time <= times[found] + 1e-9);
            assert_int_equal(events[k].body_b, GATE);
            assert_int_equal(events[k].body_a, BALL);
        }
        check_frame(recording, i, slack + 1e-9);
    }
    rg_recording_close(recording);
    assert_int_equal(found, frames > STEPS / 2 + 1 ? 2 : 1);
}

/* Contacts of a live frame: u32 at offset 20 (docs/view-format.md). */
static uint32_t live_contacts(rg_world *world) {
    rg_view_buffer chunk = rg_view_buffer_create(NULL);
    rg_error error = {0};
    rg_step_info nothing = {0};
    uint32_t count;
    assert_int_equal(rg_view_world_frame(world, 0, NULL, &nothing, &chunk, &error), RG_OK);
    memcpy(&count, chunk.bytes + 20, sizeof count);
    rg_view_buffer_destroy(&chunk);
    return count;
}

static void run_by(const char *method, double slack) {
    char path[256], text[1024];
    rg_recorder *recorder;
    rg_error error = {0};
    snprintf(text, sizeof text, falling, method);
    rg_scene *scene = scene_of_text(text);
    rg_world *world = rg_scene_world(scene);
    in_directory("sensors.h5", path);
    rg_recorder_options options = {.checkpoint_every = 1e9, .overwrite = true};
    assert_int_equal(rg_recorder_open(scene, path, &options, &recorder, &error), RG_OK);
    for (int i = 1; i <= STEPS; i++) {
        step_recorded(scene, recorder);
        assert_int_equal(rg_recorder_frame(recorder, NULL, &error), RG_OK);
        if (i == STEPS / 2) {
            check_touches(path, slack); /* out of the journal */
            assert_int_equal(live_contacts(world), 1);
        }
    }
    assert_int_equal(live_contacts(world), 0);
    assert_int_equal(rg_recorder_close(recorder, true, &error), RG_OK);
    rg_scene_destroy(scene);
    check_touches(path, slack); /* out of FILE */
}

static void all_methods_feel_the_ball(void **state) {
    (void)state;
    run_by("stepping", 0);
    run_by("analytic", 0);
    run_by("penalty", STEP);
}

static void in_words_and_as_a_table(void **state) {
    (void)state;
    char path[256], table[256];
    rg_error error = {0};
    in_directory("sensors.h5", path);
    in_directory("sensors.csv", table);
    rg_recording *recording = open_recording(path);
    assert_int_equal(rg_recording_export_events_csv(recording, table, &error), RG_OK);
    bytes text = read_bytes(table);
    assert_non_null(strstr((char *)text.data, ",sensor-on,ball,gate,"));
    assert_non_null(strstr((char *)text.data, "\"\"ball\"\" touches the sensor \"\"gate\"\""));
    assert_non_null(strstr((char *)text.data, "\"\"ball\"\" leaves the sensor \"\"gate\"\""));
    free(text.data);
    assert_int_equal(rg_recording_export_contacts_csv(recording, table, &error), RG_OK);
    text = read_bytes(table);
    assert_non_null(strstr((char *)text.data, ",sensor\n"));
    free(text.data);
    rg_recording_close(recording);
}

/* A body that leaves the world is no longer told of, and nothing is read of it. */
static void bodies_may_go(void **state) {
    (void)state;
    char text[1024];
    rg_error error = {0};
    snprintf(text, sizeof text, falling, "stepping");
    rg_scene *scene = scene_of_text(text);
    rg_world *world = rg_scene_world(scene);
    rg_body_id ball;
    assert_int_equal(rg_world_find_body(world, "ball", &ball), RG_OK);
    for (int i = 0; i < STEPS / 2; i++)
        assert_int_equal(rg_world_step(world, STEP, NULL, &error), RG_OK);
    assert_int_equal(live_contacts(world), 1);
    assert_int_equal(rg_world_remove_body(world, ball), RG_OK);
    assert_int_equal(live_contacts(world), 0);
    size_t kept, count;
    assert_int_equal(rg_world_step(world, STEP, NULL, &error), RG_OK);
    rg_world_step_events(world, &kept, &count);
    assert_int_equal(count, 0);
    rg_scene_destroy(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_methods_feel_the_ball),
        cmocka_unit_test(in_words_and_as_a_table),
        cmocka_unit_test(bodies_may_go),
    };
    return cmocka_run_group_tests(tests, make_test_directory, remove_test_directory);
}
