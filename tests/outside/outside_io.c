/* The same for rigor-io: reads a scene from text, steps it, and looks at its recording. */
#include <stdio.h>
#include <string.h>

#include <rigor/recording.h>
#include <rigor/scene.h>

static int fail(const char *what, const char *why) {
    fprintf(stderr, "outside_io: %s: %s\n", what, why);
    return 1;
}

static int record(rg_scene *scene, const char *path) {
    rg_error error;
    rg_recorder_options options = rg_recorder_options_default();
    rg_recorder *recorder;
    if (rg_recorder_open(scene, path, &options, &recorder, &error))
        return fail("recorder", error.text);
    int result = 0;
    if (rg_world_step(rg_scene_world(scene), 0.01, NULL, &error))
        result = fail("step", error.text);
    rg_step_info summary = rg_world_summary(rg_scene_world(scene));
    if (!result && rg_recorder_frame(recorder, &summary, &error))
        result = fail("frame", error.text);
    if (rg_recorder_close(recorder, true, &error))
        return fail("close", error.text);
    return result;
}

static int read_back(const char *path) {
    rg_error error;
    rg_recording *recording;
    if (rg_recording_open(path, &recording, &error))
        return fail("open", error.text);
    rg_recording_info info = rg_recording_get_info(recording);
    printf("%zu frames of %zu body\n", info.frame_count, info.body_count);
    int result = 0;
    if (info.frame_count != 2 || info.body_count != 1 || !info.finished)
        result = fail("recording", "two frames of one body expected");
    rg_recording_close(recording);
    return result;
}

int main(int argc, char **argv) {
    if (argc != 2)
        return fail("usage", "outside_io RECORDING");
    static const char text[] = "rigor: 1\n"
                               "bodies:\n"
                               "  - {name: ball, shape: {sphere: 0.1}, density: 1000}\n";
    rg_error error;
    rg_scene *scene;
    if (rg_scene_read_text(text, strlen(text), "text", NULL, NULL, &scene, &error))
        return fail("scene", error.text);
    int result = record(scene, argv[1]);
    rg_scene_destroy(scene);
    return result ? result : read_back(argv[1]);
}
