/* The judge: right on closed forms, and able to say no. */
#include "test_world_support.h"

#include "step/step_judge.h"
#include "world/world.h"

static rg_world *tumbling(void) {
    rg_world_def def = rg_world_def_default();
    rg_world *world = world_of(&def);
    rg_body_def body = rg_body_def_default();
    body.has_mass = true;
    body.mass = (rg_mass_properties){.mass = 2,
                                     .centre = {0.1, 0.2, 0.3},
                                     .inertia = {{{2, 0.3, 0}, {0.3, 3, 0.1}, {0, 0.1, 4}}}};
    body.pose.position = (rg_vec3){4, 5, 6};
    body.velocity = (rg_vec3){1, 2, 3};
    body.angular_velocity = (rg_vec3){0.5, -1, 0.25};
    body_of(world, &body);
    return world;
}

static void totals_are_those_of_the_textbook(void **state) {
    (void)state;
    rg_world *world = tumbling();
    rg_vec3 w = {0.5, -1, 0.25}, spin = {2 * 0.5 - 0.3, 0.15 - 3 + 0.025, -0.1 + 1};
    double kinetic = 0.5 * 2 * 14 + 0.5 * rg_dot(w, spin);
    assert_near(rg_world_energy(world), kinetic + 2 * 9.81 * 6.3, 1e-12);
    assert_vector(rg_world_momentum(world), (rg_vec3){2, 4, 6}, 1e-15);
    rg_vec3 orbital = rg_cross((rg_vec3){4.1, 5.2, 6.3}, (rg_vec3){2, 4, 6});
    assert_vector(rg_world_angular_momentum(world), rg_add(orbital, spin), 1e-13);
    rg_world_destroy(world);
}

/* A step that is wrong in any of its parts is seen. */
static void wrong_steps_are_seen(void **state) {
    (void)state;
    for (int fault = 0; fault < 6; fault++) {
        rg_world *world = tumbling();
        rg_world_content *c = &world->content;
        rg_judge_totals before = rg_judge_look(c);
        rg_step_report report;
        assert_int_equal(rg_method_of(world)->step(world, 0.01, 0.01, &report, NULL), RG_OK);
        switch (fault) {
        case 0:
            break; /* none: the figures are at rounding */
        case 1:
            c->velocity[0].x *= 1 + 1e-9;
            break;
        case 2:
            c->position[0].z += 1e-8;
            break;
        case 3:
            c->angular_velocity[0].y *= 1 + 1e-9;
            break;
        case 4:
            report.impulse.z *= 1 + 1e-6;
            break;
        case 5:
            report.external_work += 1e-6;
            break;
        }
        rg_judge_totals after = rg_judge_look(c);
        rg_step_info info = {0};
        rg_judge_step(&before, &after, &report, &(rg_judge_contacts){0}, &info);
        bool seen = info.certificate.momentum_error > 1e-13 || info.energy.closure_rel > 1e-12;
        assert_int_equal(seen, fault != 0);
        rg_world_destroy(world);
    }
}

static void summary_keeps_the_worst_and_the_sum(void **state) {
    (void)state;
    rg_world *world = tumbling();
    double worst = 0, closure = 0, judge = 0;
    for (int i = 0; i < 50; i++) {
        rg_step_info info;
        assert_int_equal(rg_world_step(world, 0.01, &info, NULL), RG_OK);
        worst = fmax(worst, info.certificate.momentum_error);
        closure += info.energy.closure;
        judge += info.profile.judge;
        assert_int_equal(info.steps, 1);
        assert_true(isnan(info.certificate.min_gap));
    }
    rg_step_info summary = rg_world_summary(world);
    assert_int_equal(summary.steps, 50);
    assert_true(summary.certificate.momentum_error == worst);
    assert_true(summary.energy.closure == closure);
    assert_true(summary.profile.judge == judge);
    assert_near(summary.time, 0.5, 1e-15);
    assert_near(summary.energy.final, rg_world_energy(world), 0);
    rg_world_destroy(world);
}

static void the_judge_can_be_sent_home(void **state) {
    (void)state;
    rg_world_def def = rg_world_def_default();
    def.certify = false;
    rg_world *world = world_of(&def), *judged = default_world();
    add_box(world, "b", (rg_vec3){1, 2, 3}, (rg_vec3){0, 0, 0});
    add_box(judged, "b", (rg_vec3){1, 2, 3}, (rg_vec3){0, 0, 0});
    step_world(world, 0.01, 10);
    step_world(judged, 0.01, 10);
    assert_true(rg_world_state_hash(world) == rg_world_state_hash(judged));
    rg_world_destroy(world);
    rg_world_destroy(judged);
}

static void nothing_is_claimed_that_was_not_measured(void **state) {
    (void)state;
    rg_world_def def = rg_world_def_default();
    def.certify = false;
    rg_world *world = world_of(&def), *judged = default_world();
    rg_step_info info = rg_world_summary(judged);
    assert_true(isnan(info.certificate.momentum_error) && isnan(info.energy.closure_rel));

    rg_body_id body = add_box(world, "b", (rg_vec3){1, 2, 3}, (rg_vec3){0, 0, 0});
    rg_body_set_velocity(world, body, (rg_vec3){1, 0, 0});
    assert_int_equal(rg_world_step(world, 0.01, &info, NULL), RG_OK);
    assert_true(isnan(info.certificate.momentum_error) && isnan(info.energy.closure_rel));
    assert_true(isnan(info.energy.initial) && isnan(rg_world_summary(world).energy.final));

    /* The judge comes later: the run that it speaks of begins where it does. */
    rg_snapshot *snapshot;
    assert_int_equal(rg_snapshot_create(world, &snapshot), RG_OK);
    assert_int_equal(rg_world_restore(judged, snapshot), RG_OK);
    double energy = rg_world_energy(judged);
    step_world(judged, 0.01, 2);
    info = rg_world_summary(judged);
    assert_int_equal(info.steps, 3);
    assert_true(info.energy.initial == energy && info.energy.closure_rel < 1e-13);
    assert_true(info.certificate.momentum_error < 1e-13);
    rg_snapshot_destroy(snapshot);
    rg_world_destroy(world);
    rg_world_destroy(judged);
}

/* Numbers as large as a world takes them: all figures are numbers. */
static void the_largest_numbers_are_certified(void **state) {
    (void)state;
    rg_world *world = default_world();
    rg_body_id body = add_box(world, "b", (rg_vec3){1, 1, 1}, (rg_vec3){1e50, 0, 0});
    rg_body_set_velocity(world, body, (rg_vec3){-1e49, 1e50, 0});
    rg_step_info info;
    assert_int_equal(rg_world_step(world, 0.01, &info, NULL), RG_OK);
    assert_true(info.certificate.momentum_error < 1e-13 && info.energy.closure_rel < 1e-13);
    rg_world_destroy(world);
}

/* --- contacts at an instant ------------------------------------------------------------------- */

/* A ball of 2 kg and 0.1 m on a floor, g = 10 m/s^2, mu_s = 0.5, mu_d = 0.4. */
typedef struct ball_scene {
    rg_world *world;
    rg_vec3 position[2], velocity[2], angular_velocity[2], acceleration[2], angular_acceleration[2],
        linear[2], angular[2];
    rg_mat3 inverse[2];
    rg_quat orientation[2];
    rg_judge_contact contact;
    rg_judge_instant now;
} ball_scene;

static void make_ball(ball_scene *s) {
    *s = (ball_scene){0};
    rg_world_def def = rg_world_def_default();
    def.gravity = (rg_vec3){0, 0, -10};
    s->world = world_of(&def);
    rg_body_def floor = rg_body_def_default();
    floor.motion = RG_MOTION_FIXED;
    add_shape(s->world, rg_shape_def_halfspace((rg_vec3){0, 0, 1}, 0), &floor);
    rg_body_def ball = rg_body_def_default();
    ball.total_mass = 2;
    ball.pose.position = (rg_vec3){0, 0, 0.1};
    add_shape(s->world, rg_shape_def_sphere(0.1), &ball);
    s->position[1] = ball.pose.position;
    s->orientation[0] = s->orientation[1] = rg_quat_identity();
    s->acceleration[1] = def.gravity;
    s->contact = (rg_judge_contact){.body_a = 1,
                                    .body_b = 0,
                                    .normal = {0, 0, 1},
                                    .force = {0, 0, 20},
                                    .slow = 1e-4,
                                    .none = 1e-8,
                                    .law = {.static_friction = 0.5, .friction = 0.4}};
    s->now = (rg_judge_instant){.content = &s->world->content,
                                .position = s->position,
                                .velocity = s->velocity,
                                .angular_velocity = s->angular_velocity,
                                .orientation = s->orientation,
                                .acceleration = s->acceleration,
                                .angular_acceleration = s->angular_acceleration,
                                .scale = 10,
                                .widest = 1,
                                .linear = s->linear,
                                .angular = s->angular,
                                .inverse = s->inverse,
                                .contacts = &s->contact,
                                .count = 1};
}

static rg_judge_findings laws_of(ball_scene *s) {
    rg_judge_findings found = rg_judge_findings_none();
    rg_judge_laws(&s->now, &found);
    return found;
}

/* At rest its weight is right; nothing lets it fall with g; twice the weight throws it up with
 * g. */
static void normal_forces_are_judged(void **state) {
    (void)state;
    static const double force[] = {20, 0, 40, -20}, complementarity[] = {0, 1, 1, 2},
                        cone[] = {0, 0, 0, 1};
    for (int i = 0; i < 4; i++) {
        ball_scene s;
        make_ball(&s);
        s.contact.force.z = force[i];
        rg_judge_findings found = laws_of(&s);
        assert_near(found.complementarity, complementarity[i], 1e-15);
        assert_near(found.cone, cone[i], 1e-15);
        rg_world_destroy(s.world);
    }
}

/* Friction: a slip of 1 m/s along x takes -mu_d 20 N; what is more than mu_s 20 N is out of the
 * cone; what sticks does not accelerate (1/m + r^2/I = 3.5/m along the floor), or has all friction,
 * mu_d 20 N at least, against that: friction does not pull along. */
static void friction_is_judged(void **state) {
    (void)state;
    static const struct {
        double slip, friction, complementarity, cone;
    } cases[] = {{1, -8, 0, 0},    {1, 8, 0.8, 0},  {1, -12, 0.2, 0.1}, {1, 0, 0.4, 0},
                 {0, 0, 0, 0},     {0, 2, 0.35, 0}, {0, 10, 0.9, 0},    {0, 14, 1.1, 0.2},
                 {5e-5, -8, 0, 0}, {5e-5, 0, 0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ball_scene s;
        make_ball(&s);
        s.velocity[1].x = cases[i].slip;
        s.contact.force.x = cases[i].friction;
        rg_judge_findings found = laws_of(&s);
        assert_near(found.complementarity, cases[i].complementarity, 1e-4);
        assert_near(found.cone, cases[i].cone, 1e-14);
        rg_world_destroy(s.world);
    }
}

/* A ball at rest that 60 N pull along y begins to slip: with all friction against it it keeps the
 * law. With as much in another direction, (-0.6, -0.8), it goes off by (-8.4, 18.8) m/s^2, and 1/m
 * |f + mu_d 20 N t| = |(-2.4, -3.2) + 4 (-8.4, 18.8) / 20.591| m/s^2 is missing. */
static void slip_begins_against_friction(void **state) {
    (void)state;
    ball_scene s;
    make_ball(&s);
    s.acceleration[1].y = 30;
    s.contact.force.y = -8;
    assert_near(laws_of(&s).complementarity, 0, 1e-14);
    s.contact.force.x = -4.8;
    s.contact.force.y = -6.4;
    assert_near(laws_of(&s).complementarity, 0.405702, 1e-6);
    rg_world_destroy(s.world);
}

/* Power of a slip, of a drift and of a moving floor; an impact: 1/2 r (u- + u+). */
static void work_is_recomputed(void **state) {
    (void)state;
    ball_scene s;
    make_ball(&s);
    s.velocity[1] = (rg_vec3){1, 0, 1e-3};
    s.velocity[0] = (rg_vec3){0.25, 0, 0};
    s.contact.force = (rg_vec3){-8, 0, 20};
    rg_judge_power power = rg_judge_power_of(&s.now);
    assert_near(power.friction, -6, 1e-14);
    assert_near(power.normal, 0.02, 1e-16);
    assert_near(power.prescribed, -2, 1e-14);
    s.velocity[0] = (rg_vec3){0, 0, 0};
    s.velocity[1] = (rg_vec3){3, 0, -2};
    s.contact.force = (rg_vec3){-1.2, 0, 6}; /* e = 0.5 */
    rg_judge_findings found = rg_judge_findings_none();
    rg_judge_impact(&s.now, &found);
    assert_near(found.impact, 0.5 * 6 * (-2 + 1), 1e-14);
    assert_near(found.friction, -1.2 * (3 - 0.5 * 1.2 * 3.5 / 2), 1e-14);
    assert_near(found.cone, 0, 1e-15);
    rg_world_destroy(s.world);
}

/* Lobatto's rules are exact for polynomials of degree 3 and 7, the ends alone of degree 1. */
static void spans_are_integrated(void **state) {
    (void)state;
    for (int rule = -1; rule < RG_JUDGE_RULES; rule++) {
        int inside = rule < 0 ? 0 : rule == 0 ? 1 : 3, degree = rule < 0 ? 1 : rule == 0 ? 3 : 7;
        rg_judge_power power[2 + RG_JUDGE_INSIDE];
        for (int i = 0; i < inside + 2; i++) {
            double t = i == 0 ? 0 : i == inside + 1 ? 1 : rg_judge_node[rule][i - 1];
            power[i] = (rg_judge_power){.friction = pow(t, degree), .prescribed = 1};
        }
        rg_judge_findings found = rg_judge_findings_none();
        rg_judge_span(power, rule, 2, &found);
        assert_near(found.friction, 2.0 / (degree + 1), 1e-14);
        assert_near(found.prescribed, 2, 1e-14);
    }
}

/* A disc that spins on the ground, pressed to it by a force: its centre of mass hardly moves,
 * and the impulses cancel each other. What rounding leaves of them is no error of the momentum. */
static void impulses_that_cancel(void **state) {
    (void)state;
    static const char *const methods[] = {"stepping", "analytic"};
    for (int m = 0; m < 2; m++)
        for (int k = -12; k <= 12; k += 4) {
            rg_world_def def = rg_world_def_default();
            def.gravity = (rg_vec3){0, 0, 0};
            def.method = rg_method_find(methods[m]);
            rg_world *world = world_of(&def);
            rg_body_def floor = rg_body_def_default(), disc = rg_body_def_default();
            floor.motion = RG_MOTION_FIXED;
            add_shape(world, rg_shape_def_halfspace((rg_vec3){0, 0, 1}, 0), &floor);
            disc.pose.position = (rg_vec3){0, 0, 0.05};
            disc.angular_velocity = (rg_vec3){0, 0, 20};
            rg_body_id body = add_shape(world, rg_shape_def_cylinder(0.3, 0.1), &disc);
            rg_force_def press = rg_force_def_default(RG_FORCE_CONSTANT);
            press.body = body;
            press.force = (rg_vec3){0, 0, -50 * ldexp(1, k)};
            rg_force_id force;
            assert_int_equal(rg_world_add_force(world, &press, &force, NULL), RG_OK);
            double worst = 0;
            for (int i = 0; i < 60; i++)
                worst = fmax(worst, step_once(world, 1.0 / 240).certificate.momentum_error);
            if (!(worst < 1e-9)) /* at rest, forces are those of a problem solved to 1e-8 */
                fail_msg("%s, %g N: momentum error %.3g", methods[m], press.force.z, worst);
            rg_world_destroy(world);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(totals_are_those_of_the_textbook),
        cmocka_unit_test(wrong_steps_are_seen),
        cmocka_unit_test(summary_keeps_the_worst_and_the_sum),
        cmocka_unit_test(the_judge_can_be_sent_home),
        cmocka_unit_test(nothing_is_claimed_that_was_not_measured),
        cmocka_unit_test(the_largest_numbers_are_certified),
        cmocka_unit_test(normal_forces_are_judged),
        cmocka_unit_test(friction_is_judged),
        cmocka_unit_test(slip_begins_against_friction),
        cmocka_unit_test(work_is_recomputed),
        cmocka_unit_test(spans_are_integrated),
        cmocka_unit_test(impulses_that_cancel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
