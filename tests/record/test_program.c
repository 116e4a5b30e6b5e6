/* A world that a C program has built, recorded without a scene file: its own force function and
 * prescribed motion, bodies without names, springs and joints between them. What is read is what
 * happened; the viewer can show it; it cannot be resumed. */
#include "record_support.h"

#include "rigor/joint.h"
#include "rigor/view.h"

#include <math.h>
#include <string.h>

enum { STEPS = 60, EVERY = 6, FRAMES = STEPS / EVERY + 1 };

static rg_body_id add_ball(rg_world *world, rg_vec3 position, rg_prescribed_function *motion) {
    rg_error error = {0};
    rg_collider_def collider = rg_collider_def_default();
    rg_shape_def shape = rg_shape_def_sphere(0.1);
    assert_int_equal(rg_shape_create(&shape, NULL, &collider.shape, &error), RG_OK);
    rg_body_def def = rg_body_def_default();
    def.pose.position = position;
    def.colliders = &collider;
    def.collider_count = 1;
    if (motion) {
        def.motion = RG_MOTION_KINEMATIC;
        def.prescription.kind = RG_PRESCRIBED_FUNCTION;
        def.prescription.function = motion;
    }
    rg_body_id body;
    if (rg_world_add_body(world, &def, &body, &error))
        fail_msg("%s", error.text);
    rg_shape_release(collider.shape);
    return body;
}

/* 3 N east, whatever happens. */
static void wind(void *user, rg_force_context *context) {
    context->force[*(size_t *)user].x += 3;
}

static void lift(void *user, double time, rg_prescribed_state *state) {
    (void)user;
    *state = (rg_prescribed_state){.pose = {{0, 5, time}, {0, 0, 0, 1}}, .velocity = {0, 0, 1}};
}

static void add_force(rg_world *world, rg_force_def def) {
    rg_force_id force;
    rg_error error = {0};
    if (rg_world_add_force(world, &def, &force, &error))
        fail_msg("%s", error.text);
}

static size_t blown; /* the body that the wind blows on */

static rg_scene *make(void) {
    rg_error error = {0};
    rg_world_def world_def = rg_world_def_default();
    rg_world *world;
    rg_scene *scene;
    assert_int_equal(rg_world_create(&world_def, &world, &error), RG_OK);
    rg_body_id a = add_ball(world, (rg_vec3){0, 0, 0}, NULL);
    rg_body_id b = add_ball(world, (rg_vec3){1, 0, 0}, NULL);
    add_ball(world, (rg_vec3){0, 5, 0}, lift);
    blown = rg_body_index(world, a);
    rg_force_def function = rg_force_def_default(RG_FORCE_FUNCTION);
    function.function = wind;
    function.user = &blown;
    add_force(world, function);
    rg_force_def spring = rg_force_def_default(RG_FORCE_SPRING);
    spring.body = a;
    spring.other = b;
    spring.stiffness = 10;
    spring.rest_length = 1;
    add_force(world, spring);
    assert_int_equal(rg_scene_adopt(world, "program", &scene, &error), RG_OK);
    return scene;
}

static void record_it(const char *path) {
    rg_error error = {0};
    rg_recorder *recorder;
    rg_recorder_options options = rg_recorder_options_default();
    options.overwrite = true;
    rg_scene *scene = make();
    if (rg_recorder_open(scene, path, &options, &recorder, &error))
        fail_msg("%s", error.text);
    for (int i = 1; i <= STEPS; i++) {
        rg_step_info info;
        assert_int_equal(rg_world_step(rg_scene_world(scene), 1.0 / 240, &info, &error), RG_OK);
        rg_recorder_step(recorder, &info);
        if (i % EVERY == 0)
            assert_int_equal(rg_recorder_frame(recorder, NULL, &error), RG_OK);
    }
    assert_int_equal(rg_recorder_close(recorder, false, &error), RG_OK);
    rg_scene_destroy(scene);
}

static void what_functions_did_is_recorded(void **state) {
    (void)state;
    char path[256];
    in_directory("program.h5", path);
    record_it(path);
    rg_recording *recording = open_recording(path);
    assert_int_equal(rg_recording_get_info(recording).frame_count, FRAMES);
    assert_string_equal(rg_recording_get_info(recording).scene_name, "program");
    for (size_t i = 0; i < FRAMES; i++) {
        const rg_recorded_load *loads;
        rg_vec3 position[3];
        rg_frame frame = {.position = position};
        size_t count;
        assert_int_equal(rg_recording_read(recording, i, &frame, NULL), RG_OK);
        assert_int_equal(rg_recording_read_loads(recording, i, &loads, &count, NULL), RG_OK);
        assert_int_equal(loads[0].kind, RG_FORCE_FUNCTION);
        assert_true(loads[0].body == blown && loads[0].force == 0 && loads[0].force_vector.x == 3);
        assert_true(fabs(position[2].z - frame.time) < 1e-12); /* the lift */
        if (i == 0)
            continue;
        /* The spring: 10 N/m times what it is longer than 1 m. */
        assert_int_equal(count, 3);
        assert_int_equal(loads[1].force, 1);
        double stretch = rg_length(rg_sub(position[1], position[0])) - 1;
        assert_true(fabs(rg_length(loads[1].force_vector) - 10 * fabs(stretch)) < 1e-12);
    }
    rg_recording_close(recording);
}

static void the_viewer_shows_it(void **state) {
    (void)state;
    char path[256];
    rg_error error = {0};
    rg_view *view;
    rg_view_buffer json = rg_view_buffer_create(NULL);
    in_directory("program.h5", path);
    rg_recording *recording = open_recording(path);
    if (rg_view_open(recording, NULL, &view, &error))
        fail_msg("%s", error.text);
    assert_int_equal(rg_view_manifest(view, &json, &error), RG_OK);
    const char *wanted = "\"springs\":[\n{\"force\":1,\"a\":0,\"b\":1,";
    bool found = false;
    for (size_t i = 0; i + strlen(wanted) <= json.size; i++)
        found = found || memcmp(json.bytes + i, wanted, strlen(wanted)) == 0;
    assert_true(found); /* it has the number that its loads have */
    rg_view_buffer_destroy(&json);
    rg_view_close(view);
    rg_recording_close(recording);
}

static void it_cannot_be_resumed(void **state) {
    (void)state;
    char path[256];
    rg_error error = {0};
    rg_scene *scene;
    rg_recorder *recorder;
    in_directory("program.h5", path);
    assert_int_equal(rg_recorder_resume(path, NULL, NULL, &scene, &recorder, &error),
                     RG_UNSUPPORTED);
    assert_non_null(strstr(error.text, "cannot be resumed, only its program can go on: the body "
                                       "\"\" moves by a function of the program"));
    rg_recording_close(open_recording(path)); /* and is not harmed */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_functions_did_is_recorded),
        cmocka_unit_test(the_viewer_shows_it),
        cmocka_unit_test(it_cannot_be_resumed),
    };
    return cmocka_run_group_tests(tests, make_test_directory, remove_test_directory);
}
