/* Forces of joints that are not determined (step_determinacy.c), where mechanics says which. */
#include "joint_support.h"

enum { X = 1, Y = 2, Z = 4, ABOUT_X = 8, ABOUT_Y = 16, AXIS = 64 };

static rg_body_id bar_at(rg_world *world, rg_vec3 position) {
    rg_body_def def = rg_body_def_default();
    rg_collider_def collider = rg_collider_def_default();
    def.pose.position = position;
    collider.mask = 0;
    return add_collider(world, rg_shape_def_box(0.3, 0.2, 1), collider, &def);
}

static void expect_open(rg_world *world, const unsigned *expected) {
    uint16_t open[16];
    rg_error error;
    assert_int_equal(rg_world_joint_forces_open(world, open, &error), RG_OK);
    for (size_t i = 0; i < rg_world_joint_count(world); i++)
        assert_int_equal(open[i], expected[i]);
}

/* One hinge holds a door; with a second one along the same line all that both hold is shared. */
static void door(void **state) {
    (void)state;
    const unsigned all = X | Y | Z | ABOUT_X | ABOUT_Y;
    rg_world *world = default_world();
    rg_body_id leaf = bar_at(world, rg_vec3_make(0.2, 0, 0));
    join(world, between(RG_JOINT_HINGE, the_world, leaf), rg_vec3_make(0, 0, -0.4), z_axis);
    expect_open(world, (const unsigned[]){0});
    rg_joint_id second =
        join(world, between(RG_JOINT_HINGE, the_world, leaf), rg_vec3_make(0, 0, 0.4), z_axis);
    join(world, between(RG_JOINT_HINGE, the_world, leaf), rg_vec3_make(0, 0, 0), z_axis);
    expect_open(world, (const unsigned[]){all, all, all});
    assert_int_equal(rg_world_remove_joint(world, second), RG_OK);
    expect_open(world, (const unsigned[]){all, all});
    rg_joint_id last = rg_world_joint_at(world, 1);
    assert_int_equal(rg_joint_set_broken(world, last, true), RG_OK);
    expect_open(world, (const unsigned[]){0, 0});
    rg_world_destroy(world);
}

/* A bar on two balls: only the force along their line is open; of a ball and a cylindrical joint
 * along it all but that. */
static void bar_on_two_balls(void **state) {
    (void)state;
    rg_world *world = default_world();
    rg_body_id bar = bar_at(world, rg_vec3_make(0, 0, 0));
    join(world, between(RG_JOINT_BALL, the_world, bar), rg_vec3_make(0, 0, -0.4), z_axis);
    rg_joint_id ball =
        join(world, between(RG_JOINT_BALL, the_world, bar), rg_vec3_make(0, 0, 0.4), z_axis);
    expect_open(world, (const unsigned[]){Z, Z});
    assert_int_equal(rg_world_remove_joint(world, ball), RG_OK);
    join(world, between(RG_JOINT_CYLINDRICAL, the_world, bar), rg_vec3_make(0, 0, 0.4), z_axis);
    expect_open(world, (const unsigned[]){X | Y, X | Y | ABOUT_X | ABOUT_Y});
    rg_world_destroy(world);
}

/* Six rods in general position hold a body; with a seventh all seven forces are open. */
static void rods(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= (uint64_t)test_cases(20, 200); seed++) {
        rg_random random = rg_random_make(seed);
        rg_world *world = default_world();
        rg_body_id body = bar_at(world, rg_vec3_make(0, 0, 0));
        unsigned none[7] = {0}, all[7];
        for (size_t i = 0; i < 7; i++) {
            rg_joint_def def = rg_joint_def_default(RG_JOINT_DISTANCE);
            rg_joint_id joint;
            double at[6];
            for (int k = 0; k < 6; k++)
                at[k] = rg_random_between(&random, -1, 1);
            def.body_b = body;
            def.frame_a.position = rg_vec3_make(3 * at[0], 3 * at[1], 3 * at[2]);
            def.frame_b.position = rg_vec3_make(at[3], at[4], at[5]);
            double length = rg_length(rg_sub(def.frame_a.position, def.frame_b.position));
            def.axis[0].lower = def.axis[0].upper = length;
            if (i == 6)
                expect_open(world, none);
            assert_int_equal(rg_world_add_joint(world, &def, &joint, NULL), RG_OK);
            all[i] = AXIS;
        }
        expect_open(world, all);
        rg_world_destroy(world);
    }
}

/* A parallelogram of hinges: in space three rows too many, those across the plane and the turns out
 * of it; forces within the plane are determined. In a planar world all are. */
static void four_bar(void **state) {
    (void)state;
    for (int planar = 0; planar < 2; planar++) {
        rg_world_def def = rg_world_def_default();
        def.planar = planar;
        rg_world *world = world_of(&def);
        const rg_vec3 pin[4] = {{0, 0, 0}, {0, 0, -1}, {2, 0, -1}, {2, 0, 0}};
        rg_body_id last = the_world;
        for (size_t i = 0; i < 4; i++) {
            rg_body_def body = rg_body_def_default();
            rg_body_id bar = the_world;
            if (i < 3) {
                body.pose.position = rg_scale(0.5, rg_add(pin[i], pin[i + 1]));
                rg_mat3 inertia = rg_mat3_diagonal(rg_vec3_make(2, 3, 4));
                body.has_mass = true;
                body.mass = (rg_mass_properties){.mass = 3, .inertia = inertia};
                bar = body_of(world, &body);
            }
            join(world, between(RG_JOINT_HINGE, last, bar), pin[i], y_axis);
            last = bar;
        }
        uint16_t open[4];
        assert_int_equal(rg_world_joint_forces_open(world, open, NULL), RG_OK);
        for (size_t i = 0; i < 4; i++)
            assert_int_equal(open[i], planar ? 0 : Z | ABOUT_X | ABOUT_Y);
        rg_world_destroy(world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(door), cmocka_unit_test(bar_on_two_balls),
                                       cmocka_unit_test(rods), cmocka_unit_test(four_bar)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
