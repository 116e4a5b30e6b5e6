/* Events and impulses in recordings: every one as the world told it after its step, in the journal
 * and in FILE, over a resume between frames; and recordings of format 2, which had none. */
#include "record_support.h"

#include <math.h>

/* A ball bounces on the floor, 30 cm high: four impacts or so in a second, and friction. */
static const char bouncing[] =
    "rigor: 1\n"
    "method: {name: analytic, step: 0.01}\n"
    "duration: 0.6\n"
    "record: {every: 0.05}\n"
    "materials:\n"
    "  hard: {friction: 0.2, restitution: 0.5}\n"
    "bodies:\n"
    "  - {name: floor, motion: fixed, shape: {halfspace: {normal: [0, 0, 1], offset: 0}},\n"
    "     material: hard}\n"
    "  - {name: ball, shape: {sphere: 0.1}, position: [0, 0, 0.2], velocity: [1, 0, 0],\n"
    "     material: hard}\n";

enum { STEPS = 60, EVERY = 5, FRAMES = STEPS / EVERY + 1, MOST = 256 };

/* What the world told, with the number of the step. */
typedef struct happening {
    rg_step_event events[MOST];
    uint64_t event_step[MOST];
    size_t event_count;
    rg_step_impulse impulses[MOST];
    uint64_t impulse_step[MOST];
    size_t impulse_count;
} happening;
static happening truth;

static void take_step(rg_scene *scene, rg_recorder *recorder, bool remember) {
    const rg_world *world = rg_scene_world(scene);
    size_t kept, count;
    step_recorded(scene, recorder);
    const rg_step_event *events = rg_world_step_events(world, &kept, &count);
    for (size_t i = 0; remember && i < kept; i++) {
        truth.event_step[truth.event_count] = rg_world_step_count(world);
        truth.events[truth.event_count++] = events[i];
        assert_true(truth.event_count < MOST);
    }
    const rg_step_impulse *impulses = rg_world_step_impulses(world, &kept, &count);
    for (size_t i = 0; remember && i < kept; i++) {
        truth.impulse_step[truth.impulse_count] = rg_world_step_count(world);
        truth.impulses[truth.impulse_count++] = impulses[i];
        assert_true(truth.impulse_count < MOST);
    }
}

static void take_frame(rg_recorder *recorder) {
    rg_error error = {0};
    if (rg_recorder_frame(recorder, NULL, &error) != RG_OK)
        fail_msg("%s", error.text);
}

static void check_event(const rg_recorded_event *event, size_t i) {
    const rg_step_event *wanted = &truth.events[i];
    assert_true(event->time == wanted->time && event->value == wanted->value);
    assert_true(event->step == truth.event_step[i]);
    assert_int_equal(event->kind, wanted->kind);
    assert_int_equal(event->contacts, wanted->contacts);
    assert_int_equal(event->body_a + 1, wanted->body_a.index1);
    assert_int_equal(event->body_b + 1, wanted->body_b.index1);
    assert_true(event->friction == wanted->friction && event->restitution == wanted->restitution);
}

static void check_impulse(const rg_recorded_impulse *impulse, size_t i) {
    const rg_step_impulse *wanted = &truth.impulses[i];
    assert_true(impulse->time == wanted->time);
    assert_true(impulse->step == truth.impulse_step[i]);
    assert_int_equal(impulse->impact, wanted->impact);
    assert_int_equal(impulse->round, wanted->round);
    assert_int_equal(impulse->body_a + 1, wanted->body_a.index1);
    assert_int_equal(impulse->body_b + 1, wanted->body_b.index1);
    assert_memory_equal(&impulse->position, &wanted->position, sizeof(rg_vec3));
    assert_memory_equal(&impulse->normal, &wanted->normal, sizeof(rg_vec3));
    assert_memory_equal(&impulse->impulse, &wanted->impulse, sizeof(rg_vec3));
    assert_memory_equal(&impulse->before, &wanted->before, sizeof(rg_vec3));
    assert_memory_equal(&impulse->after, &wanted->after, sizeof(rg_vec3));
    assert_true(impulse->friction == wanted->friction);
    assert_true(impulse->restitution == wanted->restitution);
}

/* Each frame has those of the steps since the frame before, and nothing is lost or told twice. */
static void check_file(const char *path, size_t frames) {
    rg_recording *recording = open_recording(path);
    rg_error error = {0};
    size_t events_seen = 0, impulses_seen = 0;
    rg_recording_info info = rg_recording_get_info(recording);
    assert_true(info.has_events);
    assert_int_equal(info.frame_count, frames);
    for (size_t i = 0; i < frames; i++) {
        const rg_recorded_event *events;
        const rg_recorded_impulse *impulses;
        rg_frame frame = {0};
        size_t count;
        assert_int_equal(rg_recording_read(recording, i, &frame, &error), RG_OK);
        assert_int_equal(rg_recording_read_events(recording, i, &events, &count, &error), RG_OK);
        for (size_t k = 0; k < count; k++) {
            assert_true(events[k].step <= frame.step && events[k].step + EVERY > frame.step);
            check_event(&events[k], events_seen++);
        }
        assert_int_equal(rg_recording_read_impulses(recording, i, &impulses, &count, &error),
                         RG_OK);
        for (size_t k = 0; k < count; k++)
            check_impulse(&impulses[k], impulses_seen++);
    }
    if (frames == FRAMES) {
        assert_int_equal(events_seen, truth.event_count);
        assert_int_equal(impulses_seen, truth.impulse_count);
    }
    rg_recording_close(recording);
}

static rg_recorder *begin(const char *path, rg_scene **scene) {
    rg_recorder_options options = {.checkpoint_every = 1e9, .overwrite = true};
    rg_recorder *recorder;
    rg_error error = {0};
    *scene = scene_of_text(bouncing);
    if (rg_recorder_open(*scene, path, &options, &recorder, &error) != RG_OK)
        fail_msg("%s", error.text);
    return recorder;
}

static void test_as_they_happened(void **state) {
    (void)state;
    char path[256];
    rg_scene *scene;
    in_directory("events.h5", path);
    rg_recorder *recorder = begin(path, &scene);
    truth.event_count = truth.impulse_count = 0;
    for (int i = 1; i <= STEPS; i++) {
        take_step(scene, recorder, true);
        if (i % EVERY == 0)
            take_frame(recorder);
        if (i == STEPS / 2)
            check_file(path, FRAMES / 2 + 1); /* out of the journal */
    }
    check_file(path, FRAMES);
    assert_int_equal(rg_recorder_close(recorder, true, NULL), RG_OK);
    rg_scene_destroy(scene);
    check_file(path, FRAMES); /* out of FILE */
    assert_in_range(truth.event_count, 2, MOST);
    /* It falls 10 cm: down at 0.1428 s with 1.4007 m/s, and leaves with half of that. */
    assert_near(truth.impulses[0].time, sqrt(2 * 0.1 / 9.81), 1e-9);
    assert_near(truth.impulses[0].before.z, -sqrt(2 * 0.1 * 9.81), 1e-9);
    assert_near(truth.impulses[0].after.z, 0.5 * sqrt(2 * 0.1 * 9.81), 1e-9);
}

/* Stopped between two frames, after an impact that no frame has: it is in the checkpoint, that of
 * the journal and that of FILE. */
static void test_resumed_between_frames(void **state) {
    (void)state;
    for (int closed = 0; closed < 2; closed++) {
        char path[256];
        rg_scene *scene;
        rg_error error = {0};
        in_directory(closed ? "closed.h5" : "killed.h5", path);
        rg_recorder *recorder = begin(path, &scene);
        truth.event_count = truth.impulse_count = 0;
        int i = 1;
        size_t in_frames = 0;
        for (; truth.impulse_count == in_frames; i++) {
            assert_true(i < STEPS);
            take_step(scene, recorder, true);
            if (i % EVERY == 0) {
                take_frame(recorder);
                in_frames = truth.impulse_count;
            }
        }
        assert_int_equal(rg_recorder_checkpoint(recorder, &error), RG_OK);
        if (closed)
            assert_int_equal(rg_recorder_close(recorder, false, &error), RG_OK);
        else
            rg_recorder_free(recorder); /* as a kill leaves it */
        rg_scene_destroy(scene);
        assert_int_equal(rg_recorder_resume(path, NULL, NULL, &scene, &recorder, &error), RG_OK);
        for (; i <= STEPS; i++) {
            take_step(scene, recorder, true);
            if (i % EVERY == 0)
                take_frame(recorder);
        }
        assert_int_equal(rg_recorder_close(recorder, true, &error), RG_OK);
        rg_scene_destroy(scene);
        check_file(path, FRAMES);
    }
}

/* ---- format 2, which had none ---- */

static void check_without(const char *path, size_t frames) {
    rg_recording *recording = open_recording(path);
    rg_error error = {0};
    const rg_recorded_event *events;
    const rg_recorded_impulse *impulses;
    const rg_recorded_contact *contacts;
    size_t count;
    char text[512];
    rg_recording_info info = rg_recording_get_info(recording);
    assert_true(info.has_certificate && info.has_contacts && !info.has_events && info.finished);
    assert_int_equal(info.frame_count, frames);
    for (size_t i = 0; i < frames; i++)
        assert_int_equal(rg_recording_read_contacts(recording, i, &contacts, &count, &error),
                         RG_OK);
    assert_int_equal(rg_recording_read_impulses(recording, 0, &impulses, &count, &error),
                     RG_UNSUPPORTED);
    assert_int_equal(rg_recording_read_events(recording, 0, &events, &count, &error),
                     RG_UNSUPPORTED);
    snprintf(text, sizeof text,
             "%s: has no events: it was recorded without them, or by an earlier version of rigor",
             path);
    assert_string_equal(error.text, text);
    rg_recording_close(recording);
}

/* One that a version of format 2 wrote itself. */
static void test_recording_of_an_earlier_version(void **state) {
    (void)state;
    check_without(RIGOR_SOURCE_DIR "/tests/data/recording-2.h5", FRAMES);
}

/* A run that began in format 2 goes on in it. */
static void test_format_2_goes_on(void **state) {
    (void)state;
    char path[256];
    rg_scene *scene = scene_of_text(bouncing);
    rg_recorder_tuning tuning = {.format = 2};
    rg_recorder *recorder;
    rg_error error = {0};
    in_directory("format-2.h5", path);
    assert_int_equal(rg_recorder_create_tuned(scene, path, NULL, &tuning, &recorder, &error),
                     RG_OK);
    for (int i = 1; i <= STEPS; i++) {
        if (i == STEPS / 2 + 2) { /* between frames */
            assert_int_equal(rg_recorder_checkpoint(recorder, &error), RG_OK);
            rg_recorder_free(recorder);
            rg_scene_destroy(scene);
            assert_int_equal(rg_recorder_resume(path, NULL, NULL, &scene, &recorder, &error),
                             RG_OK);
        }
        take_step(scene, recorder, false);
        if (i % EVERY == 0)
            take_frame(recorder);
    }
    assert_int_equal(rg_recorder_close(recorder, true, &error), RG_OK);
    rg_scene_destroy(scene);
    check_without(path, FRAMES);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_they_happened),
        cmocka_unit_test(test_resumed_between_frames),
        cmocka_unit_test(test_recording_of_an_earlier_version),
        cmocka_unit_test(test_format_2_goes_on),
    };
    return cmocka_run_group_tests(tests, make_test_directory, remove_test_directory);
}
