/* Bodies that are deep in each other, relative to the smaller one: the worst step of a run decides,
 * at any size; overlaps from the start do not count as long as they come apart. */
#include "test_world_support.h"

#define STEP (1.0 / 240)

static rg_world *weightless(void) {
    rg_world_def def = rg_world_def_default();
    def.gravity = (rg_vec3){0, 0, 0};
    def.settings.discrete_detection = true; /* contacts at the poses of a step's beginning alone */
    return world_of(&def);
}

static rg_body_id add_moving(rg_world *world, rg_shape_def shape, double x, double speed) {
    rg_body_def def = rg_body_def_default();
    def.pose.position = (rg_vec3){x, 0, 0};
    def.velocity = (rg_vec3){speed, 0, 0};
    return add_shape(world, shape, &def);
}

/* Made `deep` by one step that does not look ahead, taken back by later ones: the run remembers.
 * The same at every size. */
static void the_worst_step_counts(void **state) {
    (void)state;
    for (int k = -6; k <= 6; k += 2)
        for (int round = 0; round < 2; round++) {
            double a = ldexp(1, k);
            rg_shape_def shape = round ? rg_shape_def_sphere(0.5 * a) : rg_shape_def_box(a, a, a);
            double size = round ? 0.5 * a : 0.5 * a * sqrt(3);
            for (int deep = 0; deep < 2; deep++) {
                rg_world *world = weightless();
                double depth = (deep ? 0.1 : 0.04) * size, gap = 0.1 * a;
                rg_body_id one = add_moving(world, shape, 0, 0);
                rg_body_id two = add_moving(world, shape, a + gap, -(gap + depth) / STEP);
                step_once(world, STEP);
                rg_overlap now = rg_world_last_overlap(world);
                for (int i = 0; i < 60; i++)
                    step_once(world, STEP);
                rg_overlap worst = rg_world_deepest_overlap(world);
                assert_true(rg_world_last_overlap(world).depth == 0); /* all is well at the end */
                if (deep) {
                    assert_near(now.depth, depth, 1e-9 * a);
                    assert_near(worst.depth, depth, 1e-9 * a);
                    assert_near(worst.size, size, 1e-12 * a);
                    assert_near(worst.time, STEP, 1e-15);
                    assert_true(worst.body_a.index1 + worst.body_b.index1 ==
                                one.index1 + two.index1);
                } else {
                    assert_true(now.depth == 0 && worst.depth == 0);
                }
                rg_world_destroy(world);
            }
        }
}

/* The size of a sheet is its thickness: half of it is no small overlap of two sheets. */
static void sheets_are_thin(void **state) {
    (void)state;
    rg_world *world = weightless();
    rg_shape_def sheet = rg_shape_def_box(0.001, 1, 1);
    add_moving(world, sheet, 0, 0);
    add_moving(world, sheet, 0.002, -0.0015 / STEP);
    step_once(world, STEP);
    rg_overlap o = rg_world_deepest_overlap(world);
    assert_near(o.depth, 0.0005, 1e-9);
    assert_near(o.size, 0.0025, 1e-12);
    rg_world_destroy(world);
}

/* Over a half-space the size is that of the body alone, of a compound that of the whole. */
static void what_the_size_is(void **state) {
    (void)state;
    for (int compound = 0; compound < 2; compound++) {
        rg_world *world = weightless();
        rg_body_def def = rg_body_def_default();
        def.motion = RG_MOTION_FIXED;
        add_shape(world, rg_shape_def_halfspace((rg_vec3){1, 0, 0}, 0), &def);
        rg_shape *part = shape_of(rg_shape_def_box(0.1, 0.1, 0.1));
        rg_compound_part parts[2] = {{.shape = part, .pose = rg_pose_identity(), .density = 1000},
                                     {.shape = part, .pose = rg_pose_identity(), .density = 1000}};
        parts[0].pose.position.y = 0.05;
        parts[1].pose.position.y = -0.05;
        rg_shape_def shape =
            compound ? rg_shape_def_compound(parts, 2) : rg_shape_def_box(0.1, 0.1, 0.1);
        add_moving(world, shape, 0.06, -0.03 / STEP);
        rg_shape_release(part);
        step_once(world, STEP);
        rg_overlap o = rg_world_deepest_overlap(world);
        assert_near(o.depth, 0.02, 1e-9);
        /* The circumradius of 0.1 x 0.2 x 0.1, or of the cube. */
        assert_near(o.size, 0.05 * sqrt(compound ? 6 : 3), 1e-9);
        rg_world_destroy(world);
    }
}

/* Cubes that are drawn into each other come apart, which no step has done wrong; they count if they
 * are still there at the end, and if they are pushed farther. */
static void overlaps_from_the_start(void **state) {
    (void)state;
    rg_shape_def cube = rg_shape_def_box(1, 1, 1);
    rg_world *world = weightless();
    add_moving(world, cube, 0, 0);
    add_moving(world, cube, 0.8, 0);
    step_once(world, STEP);
    assert_true(rg_world_deepest_overlap(world).depth == 0);
    for (int i = 0; i < 240; i++)
        step_once(world, STEP);
    assert_true(rg_world_deepest_overlap(world).depth == 0);
    assert_true(rg_world_last_overlap(world).depth == 0);
    rg_world_destroy(world);

    for (int closing = 0; closing < 2; closing++) { /* jaws, each 0.1 m in the cube between them */
        world = weightless();
        add_moving(world, cube, 0, 0);
        for (int side = -1; side <= 1; side += 2) {
            rg_body_def def = rg_body_def_default();
            def.motion = RG_MOTION_KINEMATIC;
            def.pose.position.x = 0.9 * side;
            def.velocity.x = closing ? -0.1 / STEP * side : 0;
            add_shape(world, cube, &def);
        }
        step_once(world, STEP);
        double mean = closing ? 0.2 : 0.1; /* wherever the cube goes */
        assert_true(rg_world_last_overlap(world).depth >= mean - 1e-9);
        if (closing)
            assert_true(rg_world_deepest_overlap(world).depth >= mean - 1e-9);
        else
            assert_true(rg_world_deepest_overlap(world).depth == 0);
        rg_world_destroy(world);
    }
}

/* What a run remembers is part of its state: saved, loaded and restored. */
static void overlaps_are_saved(void **state) {
    (void)state;
    rg_world *world = weightless();
    rg_shape_def ball = rg_shape_def_sphere(0.1);
    add_moving(world, ball, 0, 0);
    add_moving(world, ball, 0.25, -0.1 / STEP);
    step_once(world, STEP);
    rg_overlap o = rg_world_deepest_overlap(world);
    assert_near(o.depth, 0.05, 1e-12);
    rg_world *other = weightless();
    add_moving(other, ball, 0, 0);
    add_moving(other, ball, 0.25, -0.1 / STEP);
    world = carry_over(world, other);
    rg_overlap again = rg_world_deepest_overlap(world);
    assert_true(again.depth == o.depth && again.time == o.time && again.size == o.size);
    assert_int_equal(again.body_a.index1, o.body_a.index1);
    assert_int_equal(again.body_b.generation, o.body_b.generation);
    rg_world_destroy(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_worst_step_counts), cmocka_unit_test(sheets_are_thin),
        cmocka_unit_test(what_the_size_is),      cmocka_unit_test(overlaps_from_the_start),
        cmocka_unit_test(overlaps_are_saved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
