/* The judge's look at prescribed motion between the ends of steps: gaps in closed form at places
 * that no end of a step sees, whatever says how the body moves; jumps are errors in words. */
#include "test_world_support.h"

#include <stdio.h>

#define STEP      (1.0 / 240)
#define AMPLITUDE 0.2
#define DEEP      1e-3 /* m: how far the plate comes into the ball at the end of its swing */

/* Of the motion now under test. */
static double frequency;

static void swing(void *user, double time, rg_prescribed_state *motion) {
    (void)user;
    double rate = 2 * RG_PI * frequency;
    motion->pose.position.z = AMPLITUDE * sin(rate * time);
    motion->velocity.z = AMPLITUDE * rate * cos(rate * time);
}

/* A function that says where the body is, and not how fast it goes. */
static void swing_without_velocity(void *user, double time, rg_prescribed_state *motion) {
    (void)user;
    motion->pose.position.z = AMPLITUDE * sin(2 * RG_PI * frequency * time);
}

typedef enum kind { OSCILLATION, EXPRESSION, FUNCTION, BARE_FUNCTION, KINDS } kind;

static rg_world *world_by(const char *method) {
    rg_world_def def = rg_world_def_default();
    def.gravity = (rg_vec3){0, 0, 0};
    def.method = rg_method_find(method);
    return world_of(&def);
}

static rg_body_id add_plate(rg_world *world, kind how) {
    char text[80];
    rg_body_def def = rg_body_def_default();
    def.name = "plate";
    def.motion = RG_MOTION_KINEMATIC;
    snprintf(text, sizeof text, "%g*sin(%.17g*t)", AMPLITUDE, 2 * RG_PI * frequency);
    if (how == OSCILLATION)
        def.prescription = (rg_prescription){.kind = RG_PRESCRIBED_OSCILLATION,
                                             .amplitude = {0, 0, AMPLITUDE},
                                             .frequency = frequency};
    else if (how == EXPRESSION)
        def.prescription =
            (rg_prescription){.kind = RG_PRESCRIBED_OF_TIME, .of_time = {NULL, NULL, text}};
    else
        def.prescription =
            (rg_prescription){.kind = RG_PRESCRIBED_FUNCTION,
                              .function = how == FUNCTION ? swing : swing_without_velocity};
    return add_shape(world, rg_shape_def_box(1, 1, 0.02), &def);
}

static rg_body_id add_ball(rg_world *world, rg_vec3 position, double radius) {
    rg_body_def def = rg_body_def_default();
    def.name = "ball";
    def.pose.position = position;
    return add_shape(world, rg_shape_def_sphere(radius), &def);
}

/* A plate of 0.02 m that swings by 0.2 m, and a ball that it meets at the end of its swing alone.
 * Steps see it at rest (120 Hz), or nowhere near the end (80, 110, 600, 4320 Hz). */
static void ends_of_swings_are_seen(void **state) {
    (void)state;
    static const double all[] = {80, 110, 120, 600, 4320};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (int how = 0; how < KINDS; how++) {
            frequency = all[i];
            if (frequency > (how == BARE_FUNCTION ? 120 : 600) && how != OSCILLATION)
                continue; /* more than 512 looks see */
            rg_world *world = world_by("stepping");
            rg_body_id plate = add_plate(world, (kind)how);
            rg_body_id ball = add_ball(world, (rg_vec3){0, 0, AMPLITUDE + 0.06 - DEEP}, 0.05);
            double least = 0;
            for (int k = 0; k < 12; k++)
                least = fmin(least, step_once(world, STEP).certificate.min_gap);
            assert_near(least, -DEEP, 0.1 * DEEP);             /* what the judge resolves */
            assert_true(rg_body_velocity(world, ball).z == 0); /* it was not struck */
            rg_overlap o = rg_world_deepest_overlap(world);
            assert_true(o.depth == 0); /* 2 % of the ball */
            assert_true(rg_body_exists(world, plate));
            rg_world_destroy(world);
        }
}

/* Through the ball and back within a step: which two, when, and how deep. */
static void passes_within_a_step_are_told(void **state) {
    (void)state;
    frequency = 120;
    for (int how = 0; how < KINDS; how++) {
        rg_world *world = world_by("stepping");
        rg_body_id plate = add_plate(world, (kind)how);
        rg_body_id ball = add_ball(world, (rg_vec3){0, 0, 0.23}, 0.05);
        rg_step_info info = step_once(world, STEP);
        /* At its farthest the middle of the plate is 0.03 m below the ball's. */
        assert_near(info.certificate.min_gap, -0.03, 0.1 * 0.03);
        assert_true(info.certificate.max_penetration == 0); /* nothing at the end of the step */
        rg_overlap o = rg_world_deepest_overlap(world);
        bool first = o.body_a.index1 == plate.index1;
        assert_true((first ? o.body_b : o.body_a).index1 == ball.index1);
        assert_true(first || o.body_b.index1 == plate.index1);
        assert_near(o.depth, 0.03, 0.1 * 0.03);
        assert_near(o.size, 0.05, 1e-15);
        assert_true(o.within_step && o.time > 0.25 * STEP && o.time < 0.75 * STEP);
        assert_true(rg_world_last_overlap(world).depth == 0);
        rg_world_destroy(world);
    }
}

/* A vane that turns to and fro by a right angle within a step. */
static void turning_is_followed(void **state) {
    (void)state;
    rg_world *world = world_by("stepping");
    rg_body_def def = rg_body_def_default();
    def.motion = RG_MOTION_KINEMATIC;
    def.prescription = (rg_prescription){.kind = RG_PRESCRIBED_OSCILLATION,
                                         .rotation_amplitude = {0, 0, 0.5 * RG_PI},
                                         .frequency = 120};
    add_shape(world, rg_shape_def_box(1, 0.02, 0.1), &def);
    /* The corner of the vane reaches sqrt(0.5^2 + 0.01^2); the ball is below the end of its turn.
     * */
    add_ball(world, (rg_vec3){0, 0.5 + 0.05 - DEEP, 0}, 0.05);
    double least = step_once(world, STEP).certificate.min_gap;
    assert_near(least, -DEEP, 0.15 * DEEP);
    rg_world_destroy(world);
}

/* The same with a smaller step has nothing to tell: the plate strikes the ball. */
static void smaller_steps_strike(void **state) {
    (void)state;
    frequency = 30;
    for (int fine = 0; fine < 2; fine++) {
        rg_world *world = world_by("stepping");
        add_plate(world, OSCILLATION);
        rg_body_id ball = add_ball(world, (rg_vec3){0, 0, 0.15}, 0.05);
        for (int k = 0; k < (fine ? 48 : 3); k++)
            step_once(world, fine ? STEP / 16 : STEP);
        assert_true(rg_body_velocity(world, ball).z > 10);
        assert_int_equal(rg_world_deepest_overlap(world).depth > 0, !fine);
        rg_world_destroy(world);
    }
}

/* --- jumps ------------------------------------------------------------------------------------ */

static void jump_at_half(void *user, double time, rg_prescribed_state *motion) {
    (void)user;
    motion->pose.position.z = time < 0.501 ? 0 : 1;
}

static void check_jump(const char *method, rg_prescription how, rg_status expected) {
    rg_world *world = world_by(method);
    rg_body_def def = rg_body_def_default();
    def.name = "plate";
    def.motion = RG_MOTION_KINEMATIC;
    def.prescription = how;
    add_shape(world, rg_shape_def_box(1, 1, 0.02), &def);
    rg_error ahead = {0}, error = {0};
    assert_int_equal(rg_world_check_prescribed(world, STEP, 1, &ahead), expected);
    uint64_t before = 0;
    rg_status status = RG_OK;
    for (int k = 0; k < 240 && status == RG_OK; k++) {
        before = rg_world_state_hash(world);
        status = rg_world_step(world, STEP, NULL, &error);
    }
    assert_int_equal(status, expected);
    if (expected != RG_OK) {
        assert_non_null(strstr(error.text, "\"plate\" jumps by 1 m at t = 0.501"));
        assert_string_equal(error.text, ahead.text);
        assert_true(rg_world_state_hash(world) == before);
    }
    rg_world_destroy(world);
}

static void jumps_are_errors(void **state) {
    (void)state;
    static const char *const methods[] = {"stepping", "analytic", "penalty"};
    rg_prescription text = {.kind = RG_PRESCRIBED_OF_TIME};
    for (int m = 0; m < 3; m++) {
        text.of_time[2] = "floor(t+0.499)";
        check_jump(methods[m], text, RG_INVALID_ARGUMENT);
        text.of_time[2] = "table(t, 0.501, 0, 0.5010000000001, 1)";
        check_jump(methods[m], text, RG_INVALID_ARGUMENT);
        check_jump(methods[m],
                   (rg_prescription){.kind = RG_PRESCRIBED_FUNCTION, .function = jump_at_half},
                   RG_INVALID_ARGUMENT);
        /* Fast, bent, at rest for a while, and turning round and round: all continuous. */
        text.of_time[2] = "table(t, 0.5, 0, 0.51, 1)";
        check_jump(methods[m], text, RG_OK);
        text.of_time[2] = "abs(sin(300*t))";
        text.of_time[5] = "700*t";
        check_jump(methods[m], text, RG_OK);
        text.of_time[5] = NULL;
    }
}

/* An oscillation that cannot be followed says so. */
static void too_many_periods(void **state) {
    (void)state;
    frequency = 120 / STEP;
    rg_world *world = world_by("stepping");
    add_plate(world, OSCILLATION);
    rg_error error;
    assert_int_equal(rg_world_step(world, STEP, NULL, &error), RG_LIMIT_EXCEEDED);
    assert_non_null(strstr(error.text, "\"plate\" has 120 periods in a step of 0.00417 s"));
    assert_int_equal(rg_world_step(world, STEP / 2, NULL, &error), RG_OK);
    rg_world_destroy(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_of_swings_are_seen), cmocka_unit_test(passes_within_a_step_are_told),
        cmocka_unit_test(turning_is_followed),     cmocka_unit_test(smaller_steps_strike),
        cmocka_unit_test(jumps_are_errors),        cmocka_unit_test(too_many_periods),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
