/* Live runs without a server: boxes that hold the newest, a hand that pulls, friction that is
 * changed and changed back, boxes that are thrown, and what the steps between two frames add up
 * to. */
#include "test_support.h"

#include "view_grab.h"
#include "view_live.h"
#include "view_motors.h"
#include "view_world.h"

#include "rigor/contact_force.h"
#include "rigor/scene.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static rg_scene *read_scene(const char *text) {
    rg_scene *scene;
    rg_error error = {0};
    if (rg_scene_read_text(text, strlen(text), "test.yaml", NULL, NULL, &scene, &error) != RG_OK)
        fail_msg("%s", error.text);
    return scene;
}

static rg_step_info step_by(rg_world *world, double step, int count) {
    rg_step_info info = {0};
    rg_error error = {0};
    for (int i = 0; i < count; i++)
        if (rg_world_step(world, step, &info, &error) != RG_OK)
            fail_msg("%s", error.text);
    return info;
}

/* ---- boxes ---- */

static view_bytes *bytes_of(unsigned char value) {
    view_bytes *bytes = view_bytes_create(1);
    assert_non_null(bytes);
    *view_bytes_data(bytes) = value;
    return bytes;
}

static void put_frame(view_outbox *box, unsigned char value) {
    view_bytes *bytes = bytes_of(value);
    view_outbox_frame(box, bytes);
    view_bytes_release(bytes);
}

static void test_outbox(void **state) {
    (void)state;
    view_outbox *box = view_outbox_create();
    view_parcel parcel;
    assert_false(view_outbox_take(box, 0, &parcel));
    for (unsigned char i = 0; i < 5; i++)
        put_frame(box, i);
    assert_true(view_outbox_take(box, 0, &parcel));
    assert_int_equal(*view_bytes_data(parcel.frame), 4); /* the newest wins */
    assert_int_equal(parcel.dropped, 4);
    view_bytes_release(parcel.frame);
    put_frame(box, 7);
    view_bytes *manifest = bytes_of(8);
    view_outbox_manifest(box, manifest); /* the frame before it may not fit it */
    view_bytes_release(manifest);
    view_outbox_state(box);
    view_outbox_pong(box, (const unsigned char *)"abc", 3);
    for (int i = 0; i < 10; i++)
        view_outbox_problem(box, i == 0 ? "first" : "more");
    assert_true(view_outbox_take(box, 0, &parcel));
    assert_null(parcel.frame);
    assert_int_equal(parcel.dropped, 5);
    assert_true(parcel.state && parcel.pong && parcel.pong_size == 3);
    assert_int_equal(parcel.problem_count, VIEW_OUTBOX_PROBLEMS);
    assert_string_equal(parcel.problems[0], "first");
    assert_int_equal(*view_bytes_data(parcel.manifest), 8);
    view_bytes_release(parcel.manifest);
    assert_false(view_outbox_take(box, 0.001, &parcel));
    char endless[3 * VIEW_OUTBOX_PROBLEM_SIZE];
    memset(endless, 'x', sizeof endless);
    endless[sizeof endless - 1] = '\0';
    view_outbox_problem(box, endless);
    put_frame(box, 9);
    view_outbox_close(box, 1002);
    view_outbox_close(box, 1000);
    assert_true(view_outbox_take(box, 0, &parcel));
    assert_int_equal(parcel.closed, 1002);
    assert_int_equal(strlen(parcel.problems[0]), VIEW_OUTBOX_PROBLEM_SIZE - 1);
    view_bytes_release(parcel.frame);
    assert_true(view_outbox_take(box, 0, &parcel)); /* closed for good */
    put_frame(box, 9);
    view_outbox_destroy(box); /* with what is in it */
}

/* ---- the hand ---- */

static const char free_body[] = "rigor: 1\ngravity: [0, 0, 0]\nbodies:\n"
                                "  - {name: box, shape: {box: [0.4, 0.3, 0.2]}}\nduration: 1\n";

/* Critically damped: x'' + 2 w x' + w^2 (x - target) = 0 from rest gives
 * target (1 - (1 + w t) exp(-w t)), w = 12. */
static void test_grab_closed_form(void **state) {
    (void)state;
    static const struct {
        const char *method;
        double step, tolerance;
    } cases[] = {{"analytic", 1.0 / 240, 1e-7}, {"stepping", 1e-4, 2e-3}, {"stepping", 1e-5, 2e-4}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        rg_scene *scene = read_scene(free_body);
        rg_world *world = rg_scene_world(scene);
        rg_method_settings settings = rg_world_settings(world);
        rg_error error = {0};
        view_grab grab;
        assert_int_equal(
            rg_world_set_method(world, rg_method_find(cases[i].method), &settings, &error), RG_OK);
        rg_vec3 target = {0.5, -1, 2};
        assert_int_equal(view_grab_begin(&grab, world, cases[i].step, rg_world_body_at(world, 0),
                                         (rg_vec3){0, 0, 0}, target, &error),
                         RG_OK);
        step_by(world, cases[i].step, (int)(0.25 / cases[i].step));
        double t = rg_world_time(world), share = 1 - (1 + 12 * t) * exp(-12 * t);
        rg_vec3 at = rg_body_pose(world, rg_world_body_at(world, 0)).position;
        assert_near(at.x, share * target.x, cases[i].tolerance);
        assert_near(at.y, share * target.y, cases[i].tolerance);
        assert_near(at.z, share * target.z, cases[i].tolerance);
        view_grab_end(&grab, world);
        assert_int_equal(rg_world_force_count(world), 0);
        rg_scene_destroy(scene);
    }
}

/* Held anywhere, with any step: it never gains energy from nothing and comes to rest. */
static void test_grab_is_stable(void **state) {
    (void)state;
    static const double steps[] = {1e-3, 1.0 / 60, 0.1, 1};
    static const rg_vec3 points[] = {
        {0, 0, 0}, {0.2, 0.15, 0.1}, {0, 0, 0.1}, {3, 0, 0}, {1, 20, -5}};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
        for (size_t j = 0; j < sizeof points / sizeof points[0]; j++) {
            rg_scene *scene = read_scene(free_body);
            rg_world *world = rg_scene_world(scene);
            rg_body_id body = rg_world_body_at(world, 0);
            rg_error error = {0};
            view_grab grab;
            rg_vec3 target = {points[j].x + 0.3, points[j].y + 0.2, points[j].z - 0.1};
            assert_int_equal(
                view_grab_begin(&grab, world, steps[i], body, points[j], target, &error), RG_OK);
            double mass = rg_body_mass(world, body).mass, stored = 0.5 * mass * 144 * 0.14;
            int count = (int)fmax(200, 20 / steps[i]);
            for (int k = 0; k < count; k++) {
                step_by(world, steps[i], 1);
                if (!(rg_world_energy(world) <= 1.05 * stored))
                    fail_msg("step %g, point %zu: %g J of %g", steps[i], j, rg_world_energy(world),
                             stored);
            }
            assert_near(rg_world_energy(world), 0, 1e-3 * stored);
            rg_scene_destroy(scene);
        }
}

/* The pull is bounded: no more than 400 m/s^2, however far the pointer goes. */
static void test_grab_is_bounded(void **state) {
    (void)state;
    rg_scene *scene = read_scene(free_body);
    rg_world *world = rg_scene_world(scene);
    rg_body_id body = rg_world_body_at(world, 0);
    rg_error error = {0};
    view_grab grab;
    assert_int_equal(view_grab_begin(&grab, world, 1.0 / 240, body, (rg_vec3){0, 0, 0},
                                     (rg_vec3){1e6, 0, 0}, &error),
                     RG_OK);
    step_by(world, 1.0 / 240, 1);
    assert_near(rg_body_velocity(world, body).x, 400.0 / 240, 1e-9);
    view_grab_end(&grab, NULL); /* as after a reset: the world is not touched */
    assert_int_equal(rg_world_force_count(world), 1);
    rg_scene_destroy(scene);
}

/* ---- laws, boxes, intervals ---- */

static const char slope[] =
    "rigor: 1\nmaterials:\n  ice: {friction: 0.02}\n  rubber: {friction: 0.9, restitution: 0.5}\n"
    "pairs:\n  - {between: [ice, rubber], friction: 0.3}\nbodies:\n"
    "  - {name: floor, shape: {halfspace: {normal: [0, 0, 1], offset: 0}}, motion: fixed, "
    "material: ice}\n"
    "  - {name: box, shape: {box: [1, 1, 1]}, position: [0, 0, 0.5], material: rubber}\n"
    "duration: 1\n";

static void test_laws(void **state) {
    (void)state;
    rg_scene *scene = read_scene(slope);
    rg_world *world = rg_scene_world(scene);
    rg_material_id ice, rubber;
    rg_error error = {0};
    view_laws laws;
    assert_int_equal(rg_world_find_material(world, "ice", &ice), RG_OK);
    assert_int_equal(rg_world_find_material(world, "rubber", &rubber), RG_OK);
    assert_int_equal(view_laws_keep(&laws, world, &error), RG_OK);
    const double friction = 0.7;
    assert_int_equal(view_laws_apply(&laws, world, &friction, &error), RG_OK);
    rg_material_id both[] = {ice, rubber};
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            assert_near(rg_world_pair_law(world, both[i], both[j]).friction, 0.7, 1e-15);
    assert_near(rg_world_material_law(world, rubber).restitution, 0.5, 0);
    assert_int_equal(view_laws_apply(&laws, world, NULL, &error), RG_OK);
    assert_near(rg_world_pair_law(world, ice, rubber).friction, 0.3, 0);
    assert_near(rg_world_material_law(world, ice).friction, 0.02, 0);
    view_laws_free(&laws);
    rg_scene_destroy(scene);
}

static void test_throw(void **state) {
    (void)state;
    rg_scene *scene = read_scene(slope);
    rg_world *world = rg_scene_world(scene);
    rg_error error = {0};
    uint32_t names = 0;
    rg_vec3 still = {0, 0, 0};
    assert_int_equal(view_throw_box(world, (rg_vec3){0, 0, 2}, still, 0.5, &names, &error), RG_OK);
    assert_int_equal(view_throw_box(world, (rg_vec3){0, 0, 2.2}, still, 0.5, &names, &error),
                     RG_INVALID_ARGUMENT); /* in the one before */
    assert_int_equal(view_throw_box(world, (rg_vec3){9, 9, 0.2}, still, 0.5, &names, &error),
                     RG_INVALID_ARGUMENT); /* in the floor */
    assert_int_equal(view_throw_box(world, (rg_vec3){9, 9, -9}, still, 0.5, &names, &error),
                     RG_INVALID_ARGUMENT); /* far below it */
    assert_int_equal(rg_world_body_count(world), 3);
    rg_body_id body = rg_world_body_at(world, 2);
    assert_string_equal(rg_body_name(world, body), "thrown-1");
    assert_near(rg_body_mass(world, body).mass, 125, 1e-9);
    rg_scene_destroy(scene);
}

/* The worst and the sums of all steps are those of the world's own summary. */
static void test_interval(void **state) {
    (void)state;
    rg_scene *scene;
    rg_error error = {0};
    assert_int_equal(rg_scene_create("dominoes", NULL, &scene, &error), RG_OK);
    rg_world *world = rg_scene_world(scene);
    rg_step_info interval = rg_step_info_nothing();
    assert_true(isnan(interval.certificate.max_penetration) && isnan(interval.energy.final));
    for (int i = 0; i < 120; i++) {
        rg_step_info info = step_by(world, rg_scene_step_size(scene), 1);
        rg_step_info_add(&interval, &info);
    }
    rg_step_info sum = rg_world_summary(world);
    assert_true(interval.certificate.min_gap == sum.certificate.min_gap);
    assert_true(interval.certificate.max_penetration == sum.certificate.max_penetration);
    assert_true(interval.certificate.complementarity == sum.certificate.complementarity);
    assert_true(interval.certificate.momentum_error == sum.certificate.momentum_error);
    assert_near(interval.energy.initial, sum.energy.initial, 0);
    assert_near(interval.energy.final, sum.energy.final, 0);
    assert_near(interval.energy.friction_work, sum.energy.friction_work, 1e-12);
    assert_near(interval.energy.impact_loss, sum.energy.impact_loss, 1e-12);
    assert_int_equal(interval.steps, 120);
    assert_int_equal(interval.solves, sum.solves);
    assert_int_equal(interval.solver_iterations, sum.solver_iterations);
    assert_int_equal(interval.contacts_max, sum.contacts_max);
    rg_scene_destroy(scene);
}

/* ---- a run ---- */

typedef struct watcher {
    view_live *live;
    view_outbox *box;
    uint32_t frames, manifests, problems;
    double time; /* of the last frame */
} watcher;

static void watch(watcher *w, double seconds) {
    view_parcel parcel;
    if (!view_outbox_take(w->box, seconds, &parcel))
        return;
    w->manifests += parcel.manifest != NULL;
    w->problems += (uint32_t)parcel.problem_count;
    if (parcel.frame) {
        w->frames++;
        memcpy(&w->time, view_bytes_data(parcel.frame) + 32, sizeof w->time);
    }
    view_bytes_release(parcel.manifest);
    view_bytes_release(parcel.frame);
}

static void test_run(void **state) {
    (void)state;
    rg_error error = {0};
    watcher w = {0};
    view_live_options options = {.paused = true};
    assert_int_equal(view_live_create(read_scene(slope), &options, &w.live, &error), RG_OK);
    w.box = view_live_join(w.live);
    watch(&w, 10);
    assert_true(w.frames == 1 && w.manifests == 1 && w.time == 0);
    view_message message = {.kind = VIEW_MESSAGE_STEP_BY, .count = 7};
    view_live_post(w.live, w.box, &message);
    for (int i = 0; i < 1000 && w.time < 6.5 / 240; i++)
        watch(&w, 0.1);
    assert_near(w.time, 7.0 / 240, 1e-15);
    message = (view_message){.kind = VIEW_MESSAGE_GRAB, .body = 0};
    view_live_post(w.live, w.box, &message); /* the floor */
    for (int i = 0; i < 100 && w.problems == 0; i++)
        watch(&w, 0.1);
    assert_int_equal(w.problems, 1);
    message = (view_message){.kind = VIEW_MESSAGE_THROW, .from = {3, 0, 3}, .size = 0.5};
    view_live_post(w.live, w.box, &message);
    for (int i = 0; i < 100 && w.manifests < 2; i++)
        watch(&w, 0.1);
    message = (view_message){.kind = VIEW_MESSAGE_GRAB, .body = 2, .target = {3, 0, 3}};
    view_live_post(w.live, w.box, &message);
    message = (view_message){.kind = VIEW_MESSAGE_RESET};
    view_live_post(w.live, w.box, &message); /* takes box and hand away */
    for (int i = 0; i < 100 && w.manifests < 3; i++)
        watch(&w, 0.1);
    assert_int_equal(w.manifests, 3);
    for (int i = 0; i < 100 && w.time > 0; i++)
        watch(&w, 0.1);
    assert_true(w.time == 0);
    message = (view_message){.kind = VIEW_MESSAGE_PLAY};
    view_live_post(w.live, w.box, &message);
    for (int i = 0; i < 1000 && w.time < 0.1; i++)
        watch(&w, 0.1);
    assert_true(w.time >= 0.1);
    char text[VIEW_LIVE_STATE_SIZE];
    size_t size = view_live_state(w.live, 42, text);
    assert_int_equal(size, strlen(text));
    assert_non_null(strstr(text, "\"running\":true"));
    assert_non_null(strstr(text, "\"dropped\":42}"));
    for (int i = 0; i < 600; i++) { /* more than the queue holds: refused, not waited for */
        message = (view_message){.kind = VIEW_MESSAGE_SET_SPEED, .speed = 1};
        view_live_post(w.live, w.box, &message);
    }
    view_live_leave(w.live, w.box);
    view_outbox_destroy(w.box);
    view_live_destroy(w.live);
}

/* ---- motors ---- */

static const char arms[] =
    "rigor: 1\nmethod: {name: stepping, step: 1/240}\nbodies:\n"
    "  - {name: arm, shape: {box: [0.1, 0.1, 1]}, position: [0, 0, -0.5]}\n"
    "  - {name: wheel, shape: {sphere: 0.2}, position: [2, 0, 0]}\n"
    "joints:\n"
    "  - {kind: hinge, bodies: [world, arm], point: [0, 0, 0], axis: [0, 1, 0],\n"
    "     axes: {lower: -1, upper: 0.5, motor: {position: 0.2*sin(t), gain: 1e5,\n"
    "            gain_velocity: 1e3}}}\n"
    "  - {kind: hinge, bodies: [world, wheel], point: [2, 0, 0], axis: [0, 1, 0],\n"
    "     axes: {motor: {velocity: 8}}}\n";

static view_message motor_to(uint32_t joint, double target) {
    return (view_message){.kind = VIEW_MESSAGE_MOTOR, .joint = joint, .motor_target = target};
}

static void state_of(view_live *live, char text[VIEW_LIVE_STATE_SIZE]) {
    size_t size = view_live_state(live, 0, text);
    assert_int_equal(size, strlen(text));
}

/* A turn after each message, and a second of steps. */
static void ask_and_step(view_live *live, view_outbox *box, const view_message *message) {
    view_live_post(live, box, message);
    view_live_post(live, box, &(view_message){.kind = VIEW_MESSAGE_STEP_BY, .count = 240});
    for (int i = 0; i < 1000 && view_live_turn(live) == 0; i++)
        ;
}

/* What motors are told by hand they do; ranges are kept; the scene's targets come back. */
static void test_motors(void **state) {
    (void)state;
    static char text[VIEW_LIVE_STATE_SIZE];
    rg_error error = {0};
    view_live *live;
    view_live_options options = {.paused = true, .by_turns = true};
    assert_int_equal(view_live_create(read_scene(arms), &options, &live, &error), RG_OK);
    view_outbox *box = view_live_join(live);
    rg_world *world = rg_scene_world(view_live_scene(live));
    rg_joint_id arm = rg_world_joint_at(world, 0), wheel = rg_world_joint_at(world, 1);
    state_of(live, text);
    assert_non_null(strstr(text, "\"motors\":[{\"joint\":0,\"axis\":0,\"kind\":\"position\","
                                 "\"set\":false,\"target\":null,\"least\":-1,\"most\":0.5}"));
    assert_non_null(strstr(text, "\"kind\":\"velocity\",\"set\":false,\"target\":8,\"least\":-16,"
                                 "\"most\":16}"));
    view_message message = motor_to(1, -12);
    ask_and_step(live, box, &message);
    assert_near(rg_joint_get_state(world, wheel).velocity[0], -12, 1e-9);
    message = motor_to(0, 0.4);
    ask_and_step(live, box, &message);
    double angle = rg_joint_get_state(world, arm).coordinate[0];
    assert_near(angle, 0.4, 1e-3);
    state_of(live, text);
    assert_non_null(strstr(text, "\"set\":true,\"target\":0.4"));
    assert_non_null(strstr(text, "\"set\":true,\"target\":-12"));
    const view_message wrong[] = {motor_to(0, 0.6), motor_to(1, -17), motor_to(2, 0),
                                  motor_to(1, NAN)};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        view_parcel parcel;
        while (view_outbox_take(box, 0, &parcel)) {
            view_bytes_release(parcel.manifest);
            view_bytes_release(parcel.frame);
        }
        view_live_post(live, box, &wrong[i]);
        view_live_turn(live);
        assert_true(view_outbox_take(box, 0, &parcel));
        assert_int_equal(parcel.problem_count, 1);
        view_bytes_release(parcel.manifest);
        view_bytes_release(parcel.frame);
    }
    assert_true(rg_joint_get_def(world, arm).axis[0].target == 0.4);
    message = (view_message){.kind = VIEW_MESSAGE_MOTOR, .target_of_scene = true};
    ask_and_step(live, box, &message);
    assert_string_equal(rg_joint_get_def(world, arm).axis[0].target_of_time, "0.2*sin(t)");
    message = (view_message){.kind = VIEW_MESSAGE_RESET};
    view_live_post(live, box, &message);
    view_live_turn(live);
    assert_true(rg_joint_get_def(world, wheel).axis[0].target == 8);
    state_of(live, text);
    assert_null(strstr(text, "\"set\":true"));
    view_live_leave(live, box);
    view_outbox_destroy(box);
    view_live_destroy(live);
}

/* ---- another scene in its place ---- */

/* Turn by turn, so that nothing depends on the clock: another world with its own beginning; of
 * two that wait the later is taken; what still waits at the end is freed (the sanitizers look). */
static void test_replace(void **state) {
    (void)state;
    rg_error error = {0};
    view_live_options options = {.paused = true, .by_turns = true};
    view_live *live;
    view_parcel parcel;
    assert_int_equal(view_live_create(read_scene(free_body), &options, &live, &error), RG_OK);
    view_outbox *box = view_live_join(live);
    view_live_turn(live);
    assert_true(view_outbox_take(box, 0, &parcel));
    view_bytes_release(parcel.manifest);
    view_bytes_release(parcel.frame);
    view_live_replace(live, read_scene(free_body));
    view_live_replace(live, read_scene(slope));
    view_live_turn(live);
    rg_world *world = rg_scene_world(view_live_scene(live));
    assert_non_null(rg_world_method(world));
    rg_scene *wanted = read_scene(slope);
    assert_int_equal(rg_world_body_count(world), rg_world_body_count(rg_scene_world(wanted)));
    rg_scene_destroy(wanted);
    assert_true(view_outbox_take(box, 0, &parcel));
    assert_non_null(parcel.manifest);
    assert_non_null(parcel.frame);
    view_bytes_release(parcel.manifest);
    view_bytes_release(parcel.frame);
    view_message step = {.kind = VIEW_MESSAGE_STEP_BY, .count = 3};
    view_live_post(live, box, &step);
    view_live_turn(live);
    assert_true(rg_world_time(world) > 0);
    view_message reset = {.kind = VIEW_MESSAGE_RESET};
    view_live_post(live, box, &reset);
    view_live_turn(live);
    assert_true(rg_world_time(world) == 0); /* its own beginning */
    view_live_replace(live, read_scene(free_body));
    view_live_leave(live, box);
    view_outbox_destroy(box);
    view_live_destroy(live);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_outbox),         cmocka_unit_test(test_grab_closed_form),
        cmocka_unit_test(test_grab_is_stable), cmocka_unit_test(test_grab_is_bounded),
        cmocka_unit_test(test_laws),           cmocka_unit_test(test_throw),
        cmocka_unit_test(test_interval),       cmocka_unit_test(test_run),
        cmocka_unit_test(test_replace),        cmocka_unit_test(test_motors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
