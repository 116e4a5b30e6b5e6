/* Which law of impact it is: the materials' or the scene's, and where bodies that touch each other
 * want different ones, that of the fastest contact. Balls in rows, whose velocities after an impact
 * tell the laws apart in closed form (Baraff 1989, Figure 11). */
#include "test_world_support.h"

#include "rigor/contact_force.h"
#include "rigor/event.h"
#include "rigor/impact.h"

#include <string.h>

#define RADIUS 0.1

typedef struct row {
    double velocity[4]; /* before */
    double density[4];  /* 0: no ball */
    const char *law[4]; /* of each ball's material; null: none */
    const char *scene;  /* the settings' */
} row;

static const rg_impact_law *law_of(const char *name) {
    const rg_impact_law *law = name ? rg_impact_law_find(name) : NULL;
    assert_true(!name || law);
    return law;
}

static rg_world *empty_world(const char *law) {
    rg_world_def def = rg_world_def_default();
    def.method = rg_method_find("analytic");
    def.gravity = (rg_vec3){0, 0, 0};
    def.settings.impact = law_of(law);
    return world_of(&def);
}

static rg_material_id material_of(rg_world *world, const char *law) {
    rg_material_id material;
    rg_contact_law contact = {.restitution = 1, .impact = law_of(law)};
    const char *name = law ? law : "plain";
    if (rg_world_find_material(world, name, &material) != RG_OK)
        assert_int_equal(rg_world_add_material(world, name, &contact, &material, NULL), RG_OK);
    return material;
}

/* Balls that touch, along x at the given y. */
static void add_row(rg_world *world, const row *balls, double y) {
    rg_shape *shape = shape_of(rg_shape_def_sphere(RADIUS));
    for (int i = 0; i < 4 && balls->density[i] > 0; i++) {
        rg_collider_def collider = rg_collider_def_default();
        collider.shape = shape;
        collider.density = balls->density[i];
        collider.material = material_of(world, balls->law[i]);
        rg_body_def def = rg_body_def_default();
        def.pose.position = (rg_vec3){2 * RADIUS * i, y, 0};
        def.velocity.x = balls->velocity[i];
        def.colliders = &collider;
        def.collider_count = 1;
        body_of(world, &def);
    }
    rg_shape_release(shape);
}

static void assert_row(const rg_world *world, size_t first, size_t count, const double *expected) {
    for (size_t i = 0; i < count; i++) {
        rg_vec3 v = rg_body_velocity(world, rg_world_body_at(world, first + i));
        assert_vector(v, (rg_vec3){expected[i], 0, 0}, 1e-12);
    }
}

/* The velocities after a short step. */
static void after(const row *balls, double velocity[4]) {
    rg_world *world = empty_world(balls->scene);
    add_row(world, balls, 0);
    step_world(world, 0.01, 1);
    for (size_t i = 0; i < rg_world_body_count(world); i++)
        velocity[i] = rg_body_velocity(world, rg_world_body_at(world, i)).x;
    rg_world_destroy(world);
}

static void assert_after(const row *balls, const double expected[4]) {
    double velocity[4] = {0};
    after(balls, velocity);
    for (int i = 0; i < 4; i++)
        assert_near(velocity[i], expected[i], 1e-12);
}

static const double handed_on[] = {0, 0, 1}, at_once[] = {-1.0 / 3, 2.0 / 3, 2.0 / 3};

/* The two answers of the square of test_impact.c (one corner, two corners), in one world. */
static void each_row_has_its_law(void **state) {
    (void)state;
    row ivory = {.velocity = {1},
                 .density = {1000, 1000, 1000},
                 .law = {"propagation", "propagation", "propagation"}};
    row steel = ivory, plain = ivory;
    for (int i = 0; i < 3; i++) {
        steel.law[i] = "simultaneous";
        plain.law[i] = NULL;
    }
    rg_world *world = empty_world(NULL), *clone;
    add_row(world, &ivory, 0);
    add_row(world, &steel, 1);
    add_row(world, &plain, 2);
    rg_snapshot *snapshot;
    assert_int_equal(rg_snapshot_create(world, &snapshot), RG_OK);
    assert_int_equal(rg_world_clone(world, &clone), RG_OK);
    rg_world *both[] = {world, clone};
    for (int i = 0; i < 3; i++) {
        rg_world *tried = both[i % 2];
        step_world(tried, 0.01, 1);
        assert_row(tried, 0, 3, handed_on);
        assert_row(tried, 3, 3, at_once);
        assert_row(tried, 6, 3, at_once);
        if (i == 1)
            assert_int_equal(rg_world_restore(world, snapshot), RG_OK);
    }
    /* The scene's law is for those that name none. */
    assert_int_equal(rg_world_restore(world, snapshot), RG_OK);
    rg_method_settings settings = rg_world_settings(world);
    settings.impact = rg_impact_law_find("propagation");
    assert_int_equal(rg_world_set_method(world, rg_world_method(world), &settings, NULL), RG_OK);
    step_world(world, 0.01, 1);
    assert_row(world, 3, 3, at_once);
    assert_row(world, 6, 3, handed_on);
    rg_snapshot_destroy(snapshot);
    rg_world_destroy(world);
    rg_world_destroy(clone);
}

/* The second contact is not approaching when the first does: it has no say. */
static void the_contact_that_approaches_decides(void **state) {
    (void)state;
    row balls = {.velocity = {1},
                 .density = {1000, 1000, 1000},
                 .law = {"propagation", NULL, "simultaneous"},
                 .scene = "poisson"};
    double expected[4] = {0, 0, 1, 0};
    assert_after(&balls, expected);
    balls.law[0] = "simultaneous";
    balls.law[2] = "propagation";
    for (int i = 0; i < 3; i++)
        expected[i] = at_once[i];
    assert_after(&balls, expected);
}

/* One ball comes with 1 m/s from the left, one with 2 m/s from the right: by hand, pair by pair and
 * from v+ = -v- at both ends with momentum kept. */
static void the_fastest_contact_decides(void **state) {
    (void)state;
    row balls = {.velocity = {1, 0, 0, -2},
                 .density = {1000, 1000, 1000, 1000},
                 .law = {"simultaneous", NULL, NULL, "propagation"}};
    assert_after(&balls, (double[]){-2, 0, 0, 1});
    balls.law[0] = "propagation";
    balls.law[3] = "simultaneous";
    assert_after(&balls, (double[]){-1.5, -0.5, -0.5, 1.5});
}

/* Equally fast but for rounding: the first in the order of the bodies. */
static void of_equally_fast_contacts_the_first_decides(void **state) {
    (void)state;
    row balls = {.velocity = {1, 0, 0, -1 - 1e-13},
                 .density = {1000, 1000, 3000, 1000},
                 .law = {"simultaneous", NULL, NULL, "energetic"}};
    row plain = balls;
    plain.law[0] = plain.law[3] = NULL;
    double one[4] = {0}, other[4] = {0};
    plain.scene = "simultaneous";
    after(&plain, one);
    plain.scene = "energetic";
    after(&plain, other);
    assert_true(fabs(one[0] - other[0]) > 0.1);
    assert_after(&balls, one);
    balls.law[0] = "energetic";
    balls.law[3] = "simultaneous";
    assert_after(&balls, other);
}

/* Two materials that want different laws leave it to the scene, or to an entry for the pair. */
static void a_pair_may_have_its_own_law(void **state) {
    (void)state;
    row balls = {.velocity = {1},
                 .density = {1000, 1000, 1000},
                 .law = {"poisson", "energetic", "poisson"},
                 .scene = "propagation"};
    assert_after(&balls, (double[]){0, 0, 1, 0});
    rg_world *world = empty_world("propagation");
    add_row(world, &balls, 0);
    rg_contact_law law = {.restitution = 1, .impact = rg_impact_law_find("simultaneous")};
    assert_int_equal(rg_world_set_pair_law(world, material_of(world, "energetic"),
                                           material_of(world, "poisson"), &law, NULL),
                     RG_OK);
    step_world(world, 0.01, 1);
    assert_row(world, 0, 3, at_once);
    rg_world_destroy(world);
}

/* A ball without play between two planes approaches both by rounding, which no impulse could stop:
 * nothing is unsolved, and the certificate says the same. */
static void a_ball_without_play_is_solved(void **state) {
    (void)state;
    rg_world_def def = rg_world_def_default();
    def.method = rg_method_find("analytic");
    rg_world *world = world_of(&def);
    rg_contact_law law = {.friction = 1, .restitution = 0.5};
    assert_int_equal(rg_world_set_material_law(world, (rg_material_id){0}, &law, NULL), RG_OK);
    rg_vec3 n = {0.61554725990116921, 0.76320881846711697, -0.19650412271041504};
    rg_vec3 centre = {0.012618626328942062, -0.14666994594481353, 0.66448980898558707};
    for (int side = -1; side <= 1; side += 2) {
        rg_body_def plane = rg_body_def_default();
        plane.motion = RG_MOTION_FIXED;
        double offset = side * rg_dot(n, centre) - RADIUS;
        add_shape(world, rg_shape_def_halfspace(rg_scale(side, n), offset), &plane);
    }
    rg_body_def ball = rg_body_def_default();
    ball.pose.position = centre;
    ball.velocity = (rg_vec3){-0.553608, 0.297013, -0.210204};
    ball.angular_velocity = (rg_vec3){0.75846, -1.78754, 1.30948};
    add_shape(world, rg_shape_def_sphere(RADIUS), &ball);
    step_world(world, 1.0 / 240, 12);
    rg_step_info summary = rg_world_summary(world);
    assert_int_equal(summary.solver_failures, 0);
    assert_true(summary.certificate.complementarity < 1e-12);
    rg_world_destroy(world);
}

/* Painleve's rod (tan = 2, mu = 2, 4 rad/s): apart at 4.500835 m/s^2 without a force, or held by
 * 5.626044 N. The policy takes one, and the event has both. */
static void the_policy_takes_one_of_two_motions(void **state) {
    (void)state;
    const double thin = 1e-7, c = 1 / sqrt(5), s = 2 / sqrt(5);
    const rg_vec3 corners[4] = {{-1, 0, -thin}, {1, 0, -thin}, {1, 0, thin}, {-1, 0, thin}};
    for (int k = 0; k < 2; k++) {
        rg_world_def def = rg_world_def_default();
        def.method = rg_method_find("analytic");
        def.planar = true;
        def.settings.policy = k ? RG_POLICY_LARGEST_FORCE : RG_POLICY_SMALLEST_FORCE;
        rg_world *world = world_of(&def);
        rg_contact_law law = {.friction = 2};
        assert_int_equal(rg_world_set_material_law(world, (rg_material_id){0}, &law, NULL), RG_OK);
        rg_body_def floor = rg_body_def_default(), rod = rg_body_def_default();
        floor.motion = RG_MOTION_FIXED;
        add_shape(world, rg_shape_def_halfspace((rg_vec3){0, 0, 1}, 0), &floor);
        rod.total_mass = 1;
        rod.angle = -1.1071487177940904;
        rod.pose.position = (rg_vec3){0, 0, s + thin * c};
        /* The lower corner, (c - thin s, -s - thin c) from the centre, moves at (1, 0). */
        rod.velocity = (rg_vec3){1 - 4 * (s + thin * c), 0, -4 * (c - thin * s)};
        rod.angular_velocity.y = -4;
        add_shape(world, rg_shape_def_polygon(corners, 4), &rod);
        step_world(world, 1e-6, 1);
        size_t kept, count, found = 0;
        const rg_step_event *events = rg_world_step_events(world, &kept, &count);
        for (size_t i = 0; i < kept; i++) {
            if (events[i].kind != RG_STEP_EVENT_INDETERMINATE)
                continue;
            char text[512];
            found++;
            assert_near(events[i].value, 5.626044, 1e-5);
            assert_near(events[i].other, 4.500835, 1e-5);
            rg_step_event_text(world, &events[i], text, sizeof text);
            assert_non_null(strstr(text, k ? "the policy largest takes the latter"
                                           : "the policy smallest takes the former"));
        }
        assert_int_equal(found, 1);
        const rg_contact_force *forces = rg_world_contact_forces(world, &count);
        double force = 0;
        for (size_t i = 0; i < count; i++)
            force += forces[i].normal_force;
        assert_near(force, k ? 5.626044 : 0, 1e-3);
        rg_world_destroy(world);
    }
}

/* Eight balls of restitution 1 between six walls meet some 750 times in one step: whatever their
 * number, impacts take nothing away. */
static void many_impacts_in_a_step_keep_the_energy(void **state) {
    (void)state;
    rg_world *world = empty_world(NULL);
    rg_collider_def elastic = rg_collider_def_default();
    elastic.material = material_of(world, NULL);
    rg_body_def wall = rg_body_def_default();
    wall.motion = RG_MOTION_FIXED;
    for (int i = 0; i < 6; i++) {
        double side = i % 2 ? 1 : -1;
        rg_vec3 n = {i / 2 == 0 ? side : 0, i / 2 == 1 ? side : 0, i / 2 == 2 ? side : 0};
        add_collider(world, rg_shape_def_halfspace(n, -1), elastic, &wall);
    }
    for (int i = 0; i < 8; i++) {
        int k = i % 4;
        rg_body_def ball = rg_body_def_default();
        ball.pose.position = (rg_vec3){-0.7 + 0.45 * k, i < 4 ? -0.5 : 0.3, i < 4 ? 0.1 : -0.2};
        ball.velocity =
            (rg_vec3){30 - 9 * k, i < 4 ? 7 * k + 3 : -7 * k + 3, i < 4 ? 20 - 5 * k : 20 + 5 * k};
        add_collider(world, rg_shape_def_sphere(0.2), elastic, &ball);
    }
    rg_step_info info = step_once(world, 2);
    size_t kept, count;
    rg_world_step_events(world, &kept, &count);
    assert_true(count > 500);
    assert_near(info.energy.final, info.energy.initial, 1e-11 * info.energy.initial);
    rg_world_destroy(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_impacts_in_a_step_keep_the_energy),
        cmocka_unit_test(each_row_has_its_law),
        cmocka_unit_test(the_contact_that_approaches_decides),
        cmocka_unit_test(the_fastest_contact_decides),
        cmocka_unit_test(of_equally_fast_contacts_the_first_decides),
        cmocka_unit_test(a_pair_may_have_its_own_law),
        cmocka_unit_test(a_ball_without_play_is_solved),
        cmocka_unit_test(the_policy_takes_one_of_two_motions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
