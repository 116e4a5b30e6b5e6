/* One step of the world: memory, threads, callbacks, refusals. */
#include "test_world_support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const methods[] = {"stepping", "analytic"};

/* A mixed world under a method and integrator. */
static rg_world *mixed_world(const char *method, rg_integrator integrator, int threads, int bodies,
                             const rg_allocator *allocator) {
    rg_world_def def = rg_world_def_default();
    def.method = rg_method_find(method);
    def.settings.integrator = integrator;
    def.threads = threads;
    if (allocator)
        def.allocator = *allocator;
    rg_world *world = world_of(&def);
    fill_mixed_world(world, bodies);
    return world;
}

static void a_steady_step_makes_no_heap_call(void **state) {
    (void)state;
    for (int m = 0; m < 4; m++) {
        counting_allocator counter;
        rg_allocator allocator = counting_allocator_make(&counter);
        rg_world *world =
            mixed_world(methods[m / 2], (rg_integrator)(m % 2), 1 + m % 2, 50, &allocator);
        step_world(world, 0.01, 50); /* the lists of near bodies have grown to their size */
        size_t resizes = counter.resizes, releases = counter.releases;
        step_world(world, 0.01, 100);
        assert_int_equal(counter.resizes, resizes);
        assert_int_equal(counter.releases, releases);
        rg_world_destroy(world);
    }
}

static void threads_do_not_change_a_bit(void **state) {
    (void)state;
    for (int m = 0; m < 4; m++) {
        uint64_t hash[3];
        for (int threads = 1; threads <= 3; threads++) {
            rg_world *world =
                mixed_world(methods[m / 2], (rg_integrator)(m % 2), threads, 3000, NULL);
            step_world(world, 0.01, 5);
            hash[threads - 1] = rg_world_state_hash(world);
            rg_world_destroy(world);
        }
        assert_true(hash[0] == hash[1]);
        assert_true(hash[0] == hash[2]);
    }
}

static void adding_a_thread_on_the_way_neither(void **state) {
    (void)state;
    rg_world *one = mixed_world("analytic", RG_INTEGRATOR_ADAMS, 1, 600, NULL);
    rg_world *two = mixed_world("analytic", RG_INTEGRATOR_ADAMS, 1, 600, NULL);
    step_world(one, 0.01, 10);
    step_world(two, 0.01, 5);
    assert_int_equal(rg_world_set_threads(two, 2), RG_OK);
    step_world(two, 0.01, 5);
    assert_true(rg_world_state_hash(one) == rg_world_state_hash(two));
    rg_world_destroy(one);
    rg_world_destroy(two);
}

typedef struct seen {
    int before, after;
    double step;
} seen;

static void see_before(void *user, rg_world *world, double step) {
    seen *s = user;
    s->before++;
    s->step = step;
    /* Edits are welcome here: a constant push as a caller would program it. */
    rg_body_apply_central_force(world, rg_world_body_at(world, 0), (rg_vec3){1000, 0, 0});
}

static void see_after(void *user, rg_world *world, double step) {
    (void)step;
    ((seen *)user)->after++;
    assert_int_equal(rg_world_step_count(world), ((seen *)user)->after);
}

static void callbacks_surround_the_step(void **state) {
    (void)state;
    seen s = {0};
    rg_world_def def = rg_world_def_default();
    def.gravity = (rg_vec3){0, 0, 0};
    def.before_step = see_before;
    def.after_step = see_after;
    def.callback_user = &s;
    for (int m = 0; m < 2; m++) {
        s = (seen){0};
        def.method = rg_method_find(methods[m]);
        rg_world *world = world_of(&def);
        rg_body_id body = add_box(world, "b", (rg_vec3){1, 1, 1}, (rg_vec3){0, 0, 0});
        step_world(world, 0.5, 4);
        assert_int_equal(s.before, 4);
        assert_int_equal(s.after, 4);
        assert_true(s.step == 0.5);
        assert_near(rg_body_velocity(world, body).x, 2, 1e-14);
        rg_world_destroy(world);
    }
}

typedef struct nested {
    rg_status before, after;
    int calls;
} nested;

static void step_before(void *user, rg_world *world, double step) {
    nested *n = user;
    n->calls++;
    if (n->calls < 8) /* not for ever where it is accepted */
        n->before = rg_world_step(world, step, NULL, NULL);
}

static void step_after(void *user, rg_world *world, double step) {
    nested *n = user;
    n->calls++;
    rg_error error = {0};
    if (n->calls < 8)
        n->after = rg_world_step(world, step, NULL, &error);
    assert_string_equal(error.text,
                        "a step callback cannot step its own world; step it after rg_world_step");
}

/* A world is not stepped by its own callbacks, before or after; another one may be. */
static void callbacks_cannot_step(void **state) {
    (void)state;
    nested n = {0};
    rg_world_def def = rg_world_def_default();
    def.before_step = step_before;
    def.after_step = step_after;
    def.callback_user = &n;
    rg_world *world = world_of(&def);
    rg_world *plain = default_world();
    add_box(world, "b", (rg_vec3){1, 1, 1}, (rg_vec3){0, 0, 0});
    add_box(plain, "b", (rg_vec3){1, 1, 1}, (rg_vec3){0, 0, 0});
    step_world(world, 0.01, 1);
    step_world(plain, 0.01, 1);
    assert_int_equal(n.before, RG_BUSY);
    assert_int_equal(n.after, RG_BUSY);
    assert_int_equal(n.calls, 2);
    assert_int_equal(rg_world_step_count(world), 1);
    assert_true(rg_world_state_hash(world) == rg_world_state_hash(plain));
    rg_world_destroy(world);
    rg_world_destroy(plain);
}

static void applied_forces_last_one_step(void **state) {
    (void)state;
    for (int m = 0; m < 2; m++) {
        rg_world_def def = rg_world_def_default();
        def.gravity = (rg_vec3){0, 0, 0};
        def.method = rg_method_find(methods[m]);
        rg_world *world = world_of(&def);
        rg_body_id body = add_box(world, "b", (rg_vec3){1, 1, 1}, (rg_vec3){0, 0, 0});
        /* At a point beside the centre: a push and a turn. I = m/6 for the unit cube. */
        assert_int_equal(
            rg_body_apply_force(world, body, (rg_vec3){0, 100, 0}, (rg_vec3){0.5, 0, 0}), RG_OK);
        step_world(world, 0.01, 3);
        assert_vector(rg_body_velocity(world, body), (rg_vec3){0, 0.001, 0}, 1e-15);
        assert_vector(rg_body_angular_velocity(world, body),
                      (rg_vec3){0, 0, 0.01 * 50 / (1000.0 / 6)}, 1e-12);
        assert_int_equal(
            rg_body_apply_impulse(world, body, (rg_vec3){0, -1, 0}, (rg_vec3){0, 0, 0}), RG_OK);
        assert_vector(rg_body_velocity(world, body), (rg_vec3){0, 0, 0}, 1e-15);
        rg_world_destroy(world);
    }
}

static void meddle(void *user, rg_force_context *context) {
    rg_world *world = user;
    rg_body_id body = rg_world_body_at(context->world, 0);
    rg_body_def def = rg_body_def_default();
    rg_body_id added;
    def.has_mass = true;
    def.mass = (rg_mass_properties){.mass = 1, .inertia = rg_mat3_identity()};
    assert_int_equal(rg_world_add_body(world, &def, &added, NULL), RG_BUSY);
    assert_int_equal(rg_world_remove_body(world, body), RG_BUSY);
    assert_int_equal(rg_body_set_velocity(world, body, (rg_vec3){0, 0, 0}), RG_BUSY);
    assert_int_equal(rg_world_set_gravity(world, (rg_vec3){0, 0, 0}), RG_BUSY);
    assert_int_equal(rg_world_step(world, 1, NULL, NULL), RG_BUSY);
}

static void force_functions_may_only_look(void **state) {
    (void)state;
    rg_world *world = default_world();
    add_box(world, "b", (rg_vec3){1, 1, 1}, (rg_vec3){0, 0, 0});
    rg_force_def def = rg_force_def_default(RG_FORCE_FUNCTION);
    def.function = meddle;
    def.user = world;
    rg_force_id force;
    assert_int_equal(rg_world_add_force(world, &def, &force, NULL), RG_OK);
    step_world(world, 0.01, 2);
    assert_int_equal(rg_world_body_count(world), 1);
    rg_world_destroy(world);
}

static void bad_steps_are_refused(void **state) {
    (void)state;
    rg_world *world = default_world();
    const double bad[] = {0, -1, NAN, INFINITY, 1e-300, 1.1e10, 1e308};
    step_world(world, 1, 1);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        rg_step_info info;
        rg_error error;
        assert_int_not_equal(rg_world_step(world, bad[i], &info, &error), RG_OK);
        assert_true(error.text[0]);
        /* Of a step that was not made nothing was judged, and nothing must look perfect. */
        assert_true(isnan(info.certificate.complementarity) && isnan(info.certificate.min_gap));
        assert_true(isnan(info.certificate.max_penetration) && isnan(info.energy.closure_rel));
    }
    assert_true(rg_world_time(world) == 1);
    rg_world_destroy(world);
}

/* A world of one method with a cone and a ball beside it, whose speeds are as large as may be. */
static rg_world *fast_world(const rg_method *method, double speed, double spin) {
    rg_world_def def = rg_world_def_default();
    def.method = method;
    rg_world *world = world_of(&def);
    rg_body_def body = rg_body_def_default();
    add_shape(world, rg_shape_def_sphere(0.5), &body);
    body.pose.position = (rg_vec3){0, 0, 1};
    body.velocity = (rg_vec3){0, 0, -speed};
    body.angular_velocity = (rg_vec3){spin, -1, 0.01};
    add_shape(world, rg_shape_def_cone(0.1, 0.1), &body);
    return world;
}

/* Steps end with a status and a sentence, and the world is as it was, or all numbers are such as a
 * world takes. */
static void no_speed_ends_the_program(void **state) {
    (void)state;
    const double speeds[] = {1, 1e6, 1e20, 1e50}, steps[] = {1e-12, 1.0 / 240, 1e10};
    for (size_t k = 0; k < 4 * 4 * 3 * rg_method_count(); k++) {
        const rg_method *method = rg_method_at(k / 48);
        rg_world *world = fast_world(method, speeds[k % 4], speeds[k / 4 % 4]);
        rg_error error = {0};
        uint64_t before = rg_world_state_hash(world);
        rg_status status = rg_world_step(world, steps[k / 16 % 3], NULL, &error);
        if (status)
            assert_true(error.text[0] && rg_world_state_hash(world) == before);
        rg_strided velocities = rg_world_velocities(world);
        rg_strided positions = rg_world_centre_positions(world);
        for (size_t i = 0; i < 2 * 3; i++) {
            assert_true(fabs(velocities.data[i / 3 * velocities.stride + i % 3]) <= 1e50);
            assert_true(fabs(positions.data[i / 3 * positions.stride + i % 3]) <= 1e50);
        }
        rg_world_destroy(world);
    }
}

/* Where a body leaves the range within a step. */
static void a_state_beyond_the_range_fails_the_step(void **state) {
    (void)state;
    for (size_t k = 0; k < rg_method_count(); k++) {
        rg_world_def def = rg_world_def_default();
        def.method = rg_method_at(k);
        def.gravity.z = 0;
        rg_world *world = world_of(&def);
        rg_body_def body = rg_body_def_default();
        body.pose.position.x = 0.9e50;
        body.velocity.x = 1e50;
        add_shape(world, rg_shape_def_sphere(0.5), &body);
        uint64_t before = rg_world_state_hash(world);
        rg_error error = {0};
        assert_int_equal(rg_world_step(world, 1, NULL, &error), RG_NOT_FINITE);
        assert_non_null(strstr(error.text, "larger than 1e+50"));
        assert_true(rg_world_state_hash(world) == before);
        rg_world_destroy(world);
    }
}

static void wild_motion(void *user, double time, rg_prescribed_state *motion) {
    (void)user;
    motion->pose.position.x = time < 0.05 ? time : NAN;
    motion->velocity.x = 1;
}

static void kinematic_bodies_follow_their_motion(void **state) {
    (void)state;
    rg_world *world = default_world();
    rg_body_def def = rg_body_def_default();
    def.motion = RG_MOTION_KINEMATIC;
    def.pose.position = (rg_vec3){1, 0, 0};
    def.velocity = (rg_vec3){0, 2, 0};
    def.angular_velocity = (rg_vec3){0, 0, 3};
    rg_body_id steady = body_of(world, &def);
    def.prescription.kind = RG_PRESCRIBED_OSCILLATION;
    def.prescription.amplitude = (rg_vec3){0, 0, 0.5};
    def.prescription.rotation_amplitude = (rg_vec3){0.2, 0, 0};
    def.prescription.frequency = 0.5;
    def.velocity = def.angular_velocity = (rg_vec3){0, 0, 0};
    rg_body_id swinging = body_of(world, &def);
    step_world(world, 0.01, 25);
    assert_vector(rg_body_pose(world, steady).position, (rg_vec3){1, 0.5, 0}, 1e-14);
    rg_quat turned = rg_body_pose(world, steady).orientation;
    assert_near(turned.z, sin(0.375), 1e-14);
    double s = sin(RG_PI / 4), c = cos(RG_PI / 4);
    assert_near(rg_body_pose(world, swinging).position.z, 0.5 * s, 1e-14);
    assert_near(rg_body_velocity(world, swinging).z, 0.5 * RG_PI * c, 1e-13);
    assert_near(rg_body_pose(world, swinging).orientation.x, sin(0.1 * s), 1e-14);
    assert_near(rg_body_angular_velocity(world, swinging).x, 0.2 * RG_PI * c, 1e-13);

    def.prescription = (rg_prescription){.kind = RG_PRESCRIBED_FUNCTION, .function = wild_motion};
    def.name = "wild";
    rg_world_destroy(world);
    world = default_world();
    body_of(world, &def);
    step_world(world, 0.01, 4);
    uint64_t before = rg_world_state_hash(world);
    rg_error error;
    assert_int_equal(rg_world_step(world, 0.02, NULL, &error), RG_NOT_FINITE);
    assert_non_null(strstr(error.text, "\"wild\""));
    assert_true(rg_world_state_hash(world) == before);
    rg_world_destroy(world);
}

/* What a prescribed function may say wrongly, from the time `from` to the time `to`. */
typedef struct wrong_motion {
    double from, to;
    rg_prescribed_state state;
    rg_status status;
    const char *words;
} wrong_motion;

static void go_wrong(void *user, double time, rg_prescribed_state *state) {
    const wrong_motion *wrong = user;
    *state = (rg_prescribed_state){.pose = rg_pose_identity()};
    if (time > wrong->from && time < wrong->to)
        *state = wrong->state;
}

/* A ball on a plate whose motion goes wrong: a status, words that name the plate and the time, and
 * the world as it was; then it goes on as if it had been asked for shorter steps. */
static void try_wrong_motion(const char *method, wrong_motion wrong, const char *of_time) {
    const double step = 0.01;
    rg_world_def def = rg_world_def_default();
    def.method = rg_method_find(method);
    rg_world *world = world_of(&def);
    add_box(world, "box", (rg_vec3){0.2, 0.2, 0.2}, (rg_vec3){0, 0, 0.25});
    rg_shape *shape;
    rg_shape_def box = rg_shape_def_box(1, 1, 0.2);
    assert_int_equal(rg_shape_create(&box, NULL, &shape, NULL), RG_OK);
    rg_collider_def collider = rg_collider_def_default();
    collider.shape = shape;
    rg_body_def plate = rg_body_def_default();
    plate.name = "plate";
    plate.motion = RG_MOTION_KINEMATIC;
    plate.colliders = &collider;
    plate.collider_count = 1;
    plate.prescription.kind = RG_PRESCRIBED_FUNCTION;
    plate.prescription.function = go_wrong;
    plate.prescription.user = &wrong;
    if (of_time)
        plate.prescription = (rg_prescription){.kind = RG_PRESCRIBED_OF_TIME, .of_time = {of_time}};
    body_of(world, &plate);
    rg_shape_release(shape);
    rg_error error = {0};
    rg_status status = RG_OK;
    uint64_t before = 0;
    for (int i = 0; i < 100 && !status; i++) {
        before = rg_world_state_hash(world);
        status = rg_world_step(world, step, NULL, &error);
    }
    double time = rg_world_time(world);
    assert_int_equal(status, wrong.status);
    assert_true(time <= wrong.from && time + step > wrong.from);
    assert_non_null(strstr(error.text, "the prescribed motion of body 1 \"plate\""));
    assert_non_null(strstr(error.text, wrong.words));
    const char *at = strstr(error.text, "at t = ");
    assert_non_null(at);
    double named = strtod(at + 7, NULL);
    assert_true(named > wrong.from && named < wrong.to);
    assert_true(rg_world_state_hash(world) == before);
    if (of_time) {
        rg_world_destroy(world);
        return;
    }
    wrong.to = wrong.from; /* what was wrong is mended: no trace of it is left */
    assert_int_equal(rg_world_step(world, step, NULL, &error), RG_OK);
    rg_world_destroy(world);
}

static void motions_without_a_value_fail_the_step(void **state) {
    (void)state;
    const rg_pose here = rg_pose_identity();
    const rg_quat wide = {0, 0, 0, 1e200}, none = {0, 0, 0, 0}, nan = {NAN, NAN, NAN, NAN},
                  part = {0, 0, NAN, 1}, twice = {0, 0, 0, 2}, endless = {0, INFINITY, 0, 1};
    const rg_vec3 zero = {0, 0, 0};
    const wrong_motion cases[] = {
        {0, 0, {{zero, nan}, zero, zero}, RG_NOT_FINITE, "is not finite"},
        {0, 0, {{zero, part}, zero, zero}, RG_NOT_FINITE, "is not finite"},
        {0, 0, {{zero, endless}, zero, zero}, RG_NOT_FINITE, "is not finite"},
        {0, 0, {{zero, none}, zero, zero}, RG_INVALID_ARGUMENT, "an orientation of norm 0"},
        {0, 0, {{zero, wide}, zero, zero}, RG_INVALID_ARGUMENT, "an orientation of norm 1e+200 at"},
        {0, 0, {{zero, twice}, zero, zero}, RG_INVALID_ARGUMENT, "an orientation of norm 2"},
        {0, 0, {{{NAN, 0, 0}, here.orientation}, zero, zero}, RG_NOT_FINITE, "is not finite"},
        {0, 0, {{{0, 0, INFINITY}, here.orientation}, zero, zero}, RG_NOT_FINITE, "is not finite"},
        {0, 0, {here, {0, NAN, 0}, zero}, RG_NOT_FINITE, "is not finite"},
        {0, 0, {here, zero, {0, 0, -INFINITY}}, RG_NOT_FINITE, "is not finite"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        wrong_motion wrong = cases[i];
        wrong.from = 0.0512, wrong.to = 1;
        try_wrong_motion("stepping", wrong, NULL);
        try_wrong_motion("penalty", wrong, NULL);
        try_wrong_motion("analytic", wrong, NULL);
        wrong.to = 0.0588; /* between the ends of a step, where this method looks */
        try_wrong_motion("analytic", wrong, NULL);
    }
    wrong_motion wrong = {0.053, 0.057, {here, zero, zero}, RG_NOT_FINITE, "is not finite"};
    try_wrong_motion("analytic", wrong, "0.1 * sqrt(abs(t - 0.055) - 0.002)");
}

static void empty_worlds_step(void **state) {
    (void)state;
    for (int m = 0; m < 4; m++) {
        rg_world_def def = rg_world_def_default();
        def.method = rg_method_find(methods[m / 2]);
        def.settings.integrator = (rg_integrator)(m % 2);
        def.planar = m % 2;
        rg_world *world = world_of(&def);
        step_world(world, 0.1, 10);
        assert_near(rg_world_time(world), 1, 1e-15);
        rg_world_destroy(world);
    }
}

/* Every allocation of a step may fail: a status, nothing lost, and the world goes on afterwards. */
static void memory_failures_lose_nothing(void **state) {
    (void)state;
    for (int m = 0; m < 4; m++) {
        counting_allocator counter;
        rg_allocator allocator = counting_allocator_make(&counter);
        rg_world *world = mixed_world(methods[m / 2], (rg_integrator)(m % 2), 1, 200, &allocator);
        uint64_t before = rg_world_state_hash(world);
        int failures = 0;
        for (;; failures++) {
            counter.resizes = 1;
            counter.fail_after = 1 + (size_t)failures;
            rg_status status = rg_world_step(world, 0.01, NULL, NULL);
            if (status == RG_OK)
                break;
            assert_int_equal(status, RG_OUT_OF_MEMORY);
            assert_true(rg_world_state_hash(world) == before);
        }
        assert_true(failures > 0);
        rg_world *reference = mixed_world(methods[m / 2], (rg_integrator)(m % 2), 1, 200, NULL);
        step_world(reference, 0.01, 1);
        assert_true(rg_world_state_hash(world) == rg_world_state_hash(reference));
        rg_world_destroy(reference);
        rg_world_destroy(world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_steady_step_makes_no_heap_call),
        cmocka_unit_test(threads_do_not_change_a_bit),
        cmocka_unit_test(adding_a_thread_on_the_way_neither),
        cmocka_unit_test(callbacks_surround_the_step),
        cmocka_unit_test(callbacks_cannot_step),
        cmocka_unit_test(applied_forces_last_one_step),
        cmocka_unit_test(force_functions_may_only_look),
        cmocka_unit_test(bad_steps_are_refused),
        cmocka_unit_test(no_speed_ends_the_program),
        cmocka_unit_test(a_state_beyond_the_range_fails_the_step),
        cmocka_unit_test(kinematic_bodies_follow_their_motion),
        cmocka_unit_test(motions_without_a_value_fail_the_step),
        cmocka_unit_test(empty_worlds_step),
        cmocka_unit_test(memory_failures_lose_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
