/* The onset of slip where friction drops from its static to its dynamic coefficient, beside closed
 * forms: a contact slips as soon as what holds it would exceed the static limit, by however little,
 * and not before. A block on a slope just above and just below the limit; a block on a belt, held
 * by a spring, that sticks and slips; a block that a spring pulls and that moves in jumps (Coulomb
 * friction with two coefficients). In the plane, in the exact cone and with two tangents. With both
 * integrators. */
#include "both_integrators.h"
#include "test_world_support.h"

#include "base/base_trig.h"
#include "rigor/event.h"

#define G 9.81

typedef enum friction_law { PLANE, CONE, TANGENTS, FRICTIONS } friction_law;

static rg_world *make_world(friction_law kind, double static_friction, double friction) {
    rg_world_def def = rg_world_def_default();
    def.planar = kind == PLANE;
    def.method = rg_method_find("analytic");
    def.settings.integrator = test_integrator;
    def.settings.tolerance = 1e-11;
    def.settings.friction_directions = kind == TANGENTS ? 4 : 0;
    rg_world *world = world_of(&def);
    rg_contact_law law = {.static_friction = static_friction, .friction = friction};
    assert_int_equal(rg_world_set_material_law(world, (rg_material_id){0}, &law, NULL), RG_OK);
    return world;
}

static rg_shape_def block_of(bool planar, double width, double height) {
    static rg_vec3 corners[4]; /* of the last one that was asked for */
    for (int i = 0; i < 4; i++)
        corners[i] =
            (rg_vec3){(i == 1 || i == 2 ? 0.5 : -0.5) * width, 0, (i > 1 ? 0.5 : -0.5) * height};
    return planar ? rg_shape_def_polygon(corners, 4) : rg_shape_def_box(width, 1, height);
}

static void step(rg_world *world, double h, int count) {
    rg_error error;
    rg_step_info info;
    for (int i = 0; i < count; i++) {
        if (rg_world_step(world, h, &info, &error))
            fail_msg("%s", error.text);
        assert_int_equal(info.solver_failures, 0);
        assert_true(info.energy.closure_rel < 1e-8);
    }
}

/* A block on a slope with tan(tilt) = (1 + above) mu_s, after a second. */
static double speed_on_slope(friction_law kind, double above) {
    const double tilt = RG_PI / 6, dynamic = 0.3;
    double limit = rg_sin(tilt) / rg_cos(tilt) / (1 + above);
    rg_world *world = make_world(kind, limit, dynamic);
    rg_body_def floor = rg_body_def_default();
    floor.motion = RG_MOTION_FIXED;
    add_shape(world, rg_shape_def_halfspace((rg_vec3){-rg_sin(tilt), 0, rg_cos(tilt)}, 0), &floor);
    rg_body_def def = rg_body_def_default();
    def.pose.position = (rg_vec3){-0.5 * rg_sin(tilt), 0, 0.5 * rg_cos(tilt)};
    if (kind == PLANE)
        def.angle = tilt;
    else
        def.pose.orientation = (rg_quat){0, -rg_sin(tilt / 2), 0, rg_cos(tilt / 2)};
    rg_body_id block = add_shape(world, block_of(kind == PLANE, 1, 1), &def);
    step(world, 0.01, 100);
    double speed = rg_length(rg_body_velocity(world, block));
    rg_world_destroy(world);
    return speed;
}

static void a_slope_above_the_limit_lets_go_at_once(void **state) {
    (void)state;
    const double expected = G * (rg_sin(RG_PI / 6) - 0.3 * rg_cos(RG_PI / 6));
    assert_near(expected, 2.356287, 1e-6);
    static const double above[] = {1e-3, 1e-5, 1e-7, 1e-8};
    for (int kind = 0; kind < FRICTIONS; kind++)
        for (size_t i = 0; i < sizeof above / sizeof *above; i++) {

            assert_near(speed_on_slope((friction_law)kind, above[i]), expected, 1e-9 * expected);
            assert_near(speed_on_slope((friction_law)kind, -above[i]), 0, 1e-9);
        }
}

/* A block of mass m on a belt with speed v, held by a spring of stiffness k from where it is
 * relaxed at x = 0. It sticks to x0 = mu_s m g / k, then x = xd + (x0 - xd) cos w t + v / w sin w t
 * with xd = mu_d m g / k until it has the speed of the belt again, at x1 = 2 xd - x0: a jump of 2
 * (mu_s - mu_d) m g / k. */
static double on_belt(double t, double x0, double xd, double w, double v) {
    if (t < x0 / v)
        return v * t;
    t -= x0 / v;
    double a = x0 - xd, slipping = 2 * (RG_PI - rg_atan2(w * a, v)) / w;
    double period = slipping + 2 * a / v;
    while (t >= period)
        t -= period;
    return t < slipping ? xd + a * rg_cos(w * t) + v / w * rg_sin(w * t)
                        : xd - a + v * (t - slipping);
}

static void add_spring(rg_world *world, const rg_force_def *def) {
    rg_force_id id;
    assert_int_equal(rg_world_add_force(world, def, &id, NULL), RG_OK);
}

static void a_block_on_a_belt_sticks_and_slips(void **state) {
    (void)state;
    const double mu_s = 0.6, mu_d = 0.4, v = 0.1, k = 2000, h = 1.0 / 240;
    for (int kind = 0; kind < FRICTIONS; kind++) {
        rg_world *world = make_world((friction_law)kind, mu_s, mu_d);
        rg_body_def belt = rg_body_def_default();
        belt.motion = RG_MOTION_KINEMATIC;
        belt.prescription = (rg_prescription){.kind = RG_PRESCRIBED_VELOCITY};
        belt.velocity = (rg_vec3){v, 0, 0};
        belt.pose.position = (rg_vec3){0, 0, -0.25};
        add_shape(world, block_of(kind == PLANE, 8, 0.5), &belt);
        rg_body_def def = rg_body_def_default();
        def.pose.position = (rg_vec3){0, 0, 0.05};
        def.velocity = (rg_vec3){v, 0, 0};
        rg_body_id block = add_shape(world, block_of(kind == PLANE, 0.3, 0.1), &def);
        rg_force_def spring = rg_force_def_default(RG_FORCE_SPRING);
        spring.body = block;
        spring.other_point = (rg_vec3){-10, 0, 0.05};
        spring.rest_length = 10;
        spring.stiffness = k;
        add_spring(world, &spring);
        double m = rg_body_mass(world, block).mass, w = sqrt(k / m);
        double x0 = mu_s * m * G / k, xd = mu_d * m * G / k;
        double worst = 0;
        for (int i = 1; i <= 1200; i++) {
            step(world, h, 1);
            double x = rg_body_pose(world, block).position.x;
            worst = fmax(worst, fabs(x - on_belt(i * h, x0, xd, w, v)));
        }
        assert_true(worst < 1e-9 * 2 * (x0 - xd));
        rg_world_destroy(world);
    }
}

/* A block of 1 kg on a fixed floor, mu_s = 0.5, mu_d = 0.3, pulled by a spring of 100 N/m whose
 * other end goes at v = 0.05 m/s. Seen from that end the floor is a belt: the block rests until the
 * spring is longer by mu_s m g / k, and comes to rest again 2 (pi - atan(w a / v)) / w later, a =
 * (mu_s - mu_d) m g / k, with the spring shorter by 2 a: on the floor it is 2 a + v times that time
 * farther, 0.0574433 m, jump by jump. */
static void a_block_that_a_spring_pulls_jumps(void **state) {
    (void)state;
    const double v = 0.05, k = 100, w = 10, a = 0.2 * G / k;
    const double jump = 2 * a + v * 2 * (RG_PI - rg_atan2(w * a, v)) / w;
    assert_near(jump, 0.0574433, 5e-8);
    for (int kind = 0; kind < FRICTIONS; kind++) {
        rg_world *world = make_world((friction_law)kind, 0.5, 0.3);
        rg_body_def floor = rg_body_def_default();
        floor.motion = RG_MOTION_FIXED;
        add_shape(world, rg_shape_def_halfspace((rg_vec3){0, 0, 1}, 0), &floor);
        rg_body_def end = rg_body_def_default();
        end.motion = RG_MOTION_KINEMATIC;
        end.prescription = (rg_prescription){.kind = RG_PRESCRIBED_VELOCITY};
        end.velocity = (rg_vec3){v, 0, 0};
        end.pose.position = (rg_vec3){10, 0, 0.05};
        rg_body_def def = rg_body_def_default();
        def.pose.position = (rg_vec3){0, 0, 0.05};
        def.total_mass = 1;
        rg_force_def spring = rg_force_def_default(RG_FORCE_SPRING);
        spring.body = add_shape(world, block_of(kind == PLANE, 0.3, 0.1), &def);
        spring.other = add_shape(world, block_of(kind == PLANE, 0.02, 0.02), &end);
        spring.rest_length = 10;
        spring.stiffness = k;
        add_spring(world, &spring);
        double rest = 0; /* m: where it rested last */
        int jumps = 0;
        for (bool was_moving = false; jumps < 3;) {
            step(world, 1e-2, 1);
            bool moves = fabs(rg_body_velocity(world, spring.body).x) > 1e-9;
            double x = rg_body_pose(world, spring.body).position.x;
            if (was_moving && !moves) {
                assert_near(x - rest, jump, 1e-9 * jump);
                rest = x;
                jumps++;
            }
            was_moving = moves;
            assert_true(rg_world_time(world) < 10);
        }
        rg_world_destroy(world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {WITH_BOTH(a_slope_above_the_limit_lets_go_at_once),
                                       WITH_BOTH(a_block_on_a_belt_sticks_and_slips),
                                       WITH_BOTH(a_block_that_a_spring_pulls_jumps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
