/* Light bodies under tension (step_joints_tension.c), and many limits at once
 * (step_joints_project.c): what robots have in their ankles. */
#include "joint_support.h"

#include "rigor/random.h"

#define STEP (1.0 / 200)

/* A box with the density that makes its mass `mass`, without contacts. */
static rg_body_id weight(rg_world *world, double mass, rg_vec3 size, rg_vec3 position) {
    rg_body_def body = rg_body_def_default();
    rg_collider_def collider = rg_collider_def_default();
    body.pose.position = position;
    collider.density = mass / (size.x * size.y * size.z);
    collider.mask = 0;
    return add_collider(world, rg_shape_def_box(size.x, size.y, size.z), collider, &body);
}

/* Two bodies of 1 kg with one of 1 g between them, on hinges that cross, `apart` metres from each
 * other; its centre is off their line. It hands the load on. */
static double worst_momentum(double apart, double *energy) {
    rg_world *world = default_world();
    rg_vec3 box = {0.2, 0.1, 0.3}, light = {0.2, 0.05, 0.02};
    rg_body_id upper = weight(world, 1, box, rg_vec3_make(0.3, 0, 0));
    rg_body_id between_them = weight(world, 1e-3, light, rg_vec3_make(0.55, 0, 0.1));
    rg_body_id lower = weight(world, 1, box, rg_vec3_make(0.8, 0, 0));
    join(world, between(RG_JOINT_BALL, the_world, upper), rg_vec3_make(0, 0, 0), y_axis);
    join(world, between(RG_JOINT_HINGE, upper, between_them), rg_vec3_make(0.5, 0, 0), y_axis);
    join(world, between(RG_JOINT_HINGE, between_them, lower), rg_vec3_make(0.5 + apart, 0, 0),
         z_axis);
    double worst = 0, start = rg_world_energy(world);
    *energy = 0;
    for (int k = 0; k < 600; k++) {
        rg_step_info info = step_once(world, STEP);
        worst = fmax(worst, info.certificate.momentum_error);
        *energy = fmax(*energy, fabs(rg_world_energy(world) - start) / (2 * 9.81 * 0.55));
        assert_true(info.certificate.joint_error <= 1e-11);
    }
    rg_world_destroy(world);
    return worst;
}

static void light_bodies_hand_loads_on(void **state) {
    (void)state;
    const double apart[] = {0, 0.01, 0.05};
    for (size_t i = 0; i < 3; i++) {
        double energy, momentum = worst_momentum(apart[i], &energy);
        print_message("hinges %g m apart: momentum %.2g, energy within %.2g\n", apart[i], momentum,
                      energy);
        assert_true(momentum <= 1e-12);
        assert_true(energy <= 0.03);
    }
}

/* A light link on balls has nobody to turn with: it needs inertia, and the momentum tells. */
static void a_light_link_alone(void **state) {
    (void)state;
    rg_world *world = default_world();
    rg_body_id link = weight(world, 1e-3, rg_vec3_make(0.02, 0.02, 0.1), rg_vec3_make(0, 0, -0.05));
    rg_body_id bob = weight(world, 10, rg_vec3_make(0.2, 0.2, 0.2), rg_vec3_make(0, 0, -0.2));
    join(world, between(RG_JOINT_BALL, the_world, link), rg_vec3_make(0, 0, 0), y_axis);
    join(world, between(RG_JOINT_BALL, link, bob), rg_vec3_make(0, 0, -0.1), y_axis);
    rg_body_set_velocity(world, bob, rg_vec3_make(1, 0, 0));
    double start = rg_world_energy(world), worst = 0, most = start;
    for (int k = 0; k < 1000; k++) {
        rg_step_info info = step_once(world, STEP);
        worst = fmax(worst, info.certificate.momentum_error);
        most = fmax(most, rg_world_energy(world));
        assert_true(info.certificate.joint_error <= 1e-11);
    }
    print_message("light link: momentum %.2g, energy %.3g J to at most %.3g J\n", worst, start,
                  most);
    assert_true(worst > 0 && worst <= 1e-4);
    assert_true(most <= start + 0.02 * 10 * 9.81 * 0.2);
    rg_world_destroy(world);
}

/* A light slide cannot turn on the rail that it is on, whichever of the two bodies of their joint
 * it is: a heavy bob that swings from it asks for no inertia, and momentum is kept. */
static void a_light_slide_on_a_rail(void **state) {
    (void)state;
    for (int rail_is_first = 0; rail_is_first < 2; rail_is_first++)
        for (int fixed = 0; fixed < 2; fixed++) {
            rg_world *world = default_world();
            rg_vec3 origin = {0, 0, 0}, below = {0.05, 0, -0.1};
            rg_body_def def = rg_body_def_default();
            def.motion = RG_MOTION_FIXED;
            rg_body_id rail = fixed ? body_of(world, &def) : the_world;
            rg_body_id slide = weight(world, 1e-3, rg_vec3_make(0.02, 0.02, 0.1), origin);
            rg_body_id bob = weight(world, 10, rg_vec3_make(0.2, 0.2, 0.2), rg_vec3_make(0, 0, -1));
            join(world,
                 rail_is_first ? between(RG_JOINT_SLIDER, rail, slide)
                               : between(RG_JOINT_SLIDER, slide, rail),
                 origin, x_axis);
            join(world, between(RG_JOINT_BALL, slide, bob), below, y_axis);
            rg_body_set_velocity(world, bob, rg_vec3_make(0, 1, 0));
            double worst = 0;
            for (int k = 0; k < 200; k++)
                worst = fmax(worst, step_once(world, STEP).certificate.momentum_error);
            assert_true(worst <= 1e-12);
            rg_world_destroy(world);
        }
}

/* Chains of hinges with narrow limits, several of which are passed in one step. */
static void many_limits_at_once(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        rg_random random = rg_random_make(seed);
        rg_world *world = default_world();
        rg_body_id last = the_world;
        for (int i = 0; i < 8; i++) {
            rg_vec3 at = rg_vec3_make(0.3 * i + 0.15, 0, 0);
            double mass = i % 2 ? 1 : 0.02, width = rg_random_between(&random, 0.02, 0.3);
            rg_body_id link = weight(world, mass, rg_vec3_make(0.3, 0.1, 0.1), at);
            rg_joint_def def = between(RG_JOINT_HINGE, last, link);
            def.axis[0].lower = -width, def.axis[0].upper = 0.5 * width;
            join(world, def, rg_vec3_make(0.3 * i, 0, 0), i % 3 ? y_axis : z_axis);
            rg_vec3 w = rg_scale(rg_random_between(&random, 0, 8), rg_random_direction(&random));
            rg_body_set_angular_velocity(world, link, w);
            last = link;
        }
        for (int k = 0; k < 200; k++) {
            rg_step_info info = step_once(world, STEP);
            if (!(info.certificate.joint_error <= 1e-9))
                fail_msg("seed %d, step %d: joint error %.3g", (int)seed, k,
                         info.certificate.joint_error);
        }
        rg_world_destroy(world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(light_bodies_hand_loads_on),
        cmocka_unit_test(a_light_link_alone),
        cmocka_unit_test(a_light_slide_on_a_rail),
        cmocka_unit_test(many_limits_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
