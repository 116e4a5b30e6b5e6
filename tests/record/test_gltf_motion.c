/* Motion in exports: poses as they were recorded, quaternions on one side, and the keyframes that
 * glTF's reader makes all the others of. */
#include "record_support.h"

#include "base/base_math.h"
#include "record/record_gltf.h"
#include "rigor/view.h"

enum { FRAMES = 121, BODIES = 3, SPINNER = 0, FLYER = 1, STANDER = 2 };

static const char three_bodies[] =
    "rigor: 1\n"
    "method: {name: stepping, step: 0.01}\n"
    "gravity: [0, 0, 0]\n"
    "record: {every: 0.01}\n"
    "bodies:\n"
    "  - {name: spinner, shape: {box: [1, 1, 1]}, angular_velocity: [0, 0, 12], position: [0, 0, "
    "3]}\n"
    "  - {name: flyer, shape: {sphere: 0.5}, position: [9, 0, 3], velocity: [1, -2, 0.5]}\n"
    "  - {name: stander, motion: fixed, shape: {box: [1, 1, 1]}, position: [0, 0, -3]}\n";

static struct {
    rg_vec3 position[FRAMES][BODIES];
    rg_quat orientation[FRAMES][BODIES];
} truth;

/* A spinner whose quaternion changes its sign now and then: the rotation is the same. */
static void record_motion(const char *path) {
    rg_scene *scene = scene_of_text(three_bodies);
    rg_world *world = rg_scene_world(scene);
    rg_recorder_options options = {.overwrite = true};
    rg_recorder *recorder;
    rg_error error = {0};
    if (rg_recorder_open(scene, path, &options, &recorder, &error) != RG_OK)
        fail_msg("%s", error.text);
    for (int i = 0; i < FRAMES; i++) {
        if (i > 0) {
            step_recorded(scene, recorder);
            rg_body_id spinner = rg_world_body_at(world, SPINNER);
            rg_pose pose = rg_body_pose(world, spinner);
            rg_quat q = pose.orientation;
            if (i % 7 == 0) {
                pose.orientation = (rg_quat){-q.x, -q.y, -q.z, -q.w};
                assert_int_equal(rg_body_set_pose(world, spinner, pose), RG_OK);
            }
            assert_int_equal(rg_recorder_frame(recorder, NULL, &error), RG_OK);
        }
        for (size_t b = 0; b < BODIES; b++) {
            rg_pose pose = rg_body_pose(world, rg_world_body_at(world, b));
            truth.position[i][b] = pose.position;
            truth.orientation[i][b] = pose.orientation;
        }
    }
    assert_int_equal(rg_recorder_close(recorder, true, &error), RG_OK);
    rg_scene_destroy(scene);
}

static double along(const float *a, const float *b, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (double)a[i] * (double)b[i];
    return sum;
}

static void check_poses(const rg_gltf_writer *w) {
    assert_int_equal(w->frame_count, FRAMES);
    assert_int_equal(w->body_count, BODIES);
    for (size_t i = 0; i < FRAMES; i++) {
        assert_near((double)w->times[i], 0.01 * (double)i, 1e-6);
        for (size_t b = 0; b < BODIES; b++) {
            size_t row = i * BODIES + b;
            const float *p = w->positions + 3 * row, *q = w->orientations + 4 * row;
            rg_vec3 at = truth.position[i][b];
            rg_quat turn = truth.orientation[i][b];
            const float exact[4] = {(float)turn.x, (float)turn.y, (float)turn.z, (float)turn.w};
            rg_vec3 read = {(double)p[0], (double)p[1], (double)p[2]};
            assert_true(rg_length(rg_sub(read, at)) <= 1e-6);
            assert_near(fabs(along(q, exact, 4)), 1, 1e-6);
            /* The reader goes straight from one quaternion to the next: not the long way round. */
            if (i > 0)
                assert_true(along(q, q - 4 * BODIES, 4) > 0);
        }
    }
}

/* What an accessor says: how many, from which byte on, how many numbers each. */
typedef struct accessor {
    size_t count, offset, columns;
} accessor;

static size_t read_accessors(rg_gltf_writer *w, accessor *found, size_t most) {
    size_t count = 0;
    rg_buffer_append(&w->accessors, "", 1);
    for (const char *at = w->accessors.data; (at = strstr(at, "{\"bufferView\"")); at++) {
        const char *offset = strstr(at, "\"byteOffset\":"), *end = strchr(at, '}');
        const char *type = strstr(at, "\"type\":\"");
        assert_true(count < most && end && type);
        found[count] =
            (accessor){.count = strtoul(strstr(at, "\"count\":") + 8, NULL, 10),
                       .offset = offset && offset < end ? strtoul(offset + 13, NULL, 10) : 0,
                       .columns = strncmp(type + 8, "SCALAR", 6) == 0 ? 1
                                  : type[11] == '3'                   ? 3
                                                                      : 4};
        count++;
    }
    w->accessors.size--;
    return count;
}

/* Straight lines between the keyframes pass through all frames. */
static void check_track(const rg_gltf_writer *w, accessor times, accessor values,
                        const float *frames, size_t stride) {
    const float *t = (const float *)(const void *)(w->motion.data + times.offset);
    const float *v = (const float *)(const void *)(w->motion.data + values.offset);
    assert_int_equal(times.columns, 1);
    assert_int_equal(times.count, values.count);
    assert_true(t[0] == w->times[0] && t[times.count - 1] == w->times[FRAMES - 1]);
    size_t k = 0;
    for (size_t i = 0; i < FRAMES; i++) {
        while (k + 2 < times.count && t[k + 1] < w->times[i])
            k++;
        double share = ((double)w->times[i] - (double)t[k]) / ((double)t[k + 1] - (double)t[k]);
        for (size_t c = 0; c < values.columns; c++) {
            double a = (double)v[k * values.columns + c];
            double b = (double)v[(k + 1) * values.columns + c];
            assert_near(a + share * (b - a), (double)frames[i * stride + c], 2e-6);
        }
    }
}

static rg_status check_writer(rg_gltf_writer *w, rg_outlet *out) {
    (void)out;
    accessor found[8];
    check_poses(w);
    rg_gltf_add_motion(w, STANDER, 7);
    assert_int_equal(w->sampler_count, 0); /* what stands still has no animation */
    rg_gltf_add_motion(w, FLYER, 8);
    rg_gltf_add_motion(w, SPINNER, 9);
    assert_int_equal(w->sampler_count, 2);
    assert_int_equal(read_accessors(w, found, 8), 4);
    assert_int_equal(found[0].count, 2); /* a straight line is its ends */
    assert_int_equal(found[1].columns, 3);
    check_track(w, found[0], found[1], w->positions + 3 * FLYER, 3 * BODIES);
    assert_int_equal(found[3].columns, 4);
    assert_true(found[2].count > 60); /* 12 rad/s: nothing of an arc is straight */
    check_track(w, found[2], found[3], w->orientations + 4 * SPINNER, 4 * BODIES);
    rg_buffer_append(&w->channels, "", 1);
    assert_string_equal(w->channels.data,
                        "{\"sampler\":0,\"target\":{\"node\":8,\"path\":\"translation\"}},\n"
                        "{\"sampler\":1,\"target\":{\"node\":9,\"path\":\"rotation\"}}");
    return RG_OK;
}

static void keyframes_pass_through_all_frames(void **state) {
    (void)state;
    char path[256], other[256];
    rg_error error = {0};
    record_motion(in_directory("motion.h5", path));
    rg_recording *recording = open_recording(path);
    rg_gltf_options options = {0};
    in_directory("motion.glb", other);
    if (rg_gltf_export(recording, &options, other, check_writer, &error) != RG_OK)
        fail_msg("%s", error.text);
    rg_recording_close(recording);
    empty_test_directory();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keyframes_pass_through_all_frames),
    };
    return cmocka_run_group_tests(tests, make_test_directory, remove_test_directory);
}
