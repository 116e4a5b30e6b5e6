/* The plane that separates two shapes over a motion (contact_plane.c), in closed form. What worlds
 * make of it is in tests/step/test_whole_step.c and test_seams.c. */
#include "test_world_support.h"

#include "contact/contact.h"

/* Balls, and ellipsoids as round as they are: one at rest, the other passes in a straight line. */
static rg_plane_choice pass(rg_shape *one, rg_shape *two, rg_vec3 from, rg_vec3 to) {
    rg_pose here = {{0, 0, 0}, {0, 0, 0, 1}}, there = {from, {0, 0, 0, 1}};
    rg_swept_shape rests = {.placed = {one, here}};
    rg_swept_shape moves = {
        .placed = {two, there}, .centre = from, .velocity = rg_scale(100, rg_sub(to, from))};
    rg_growth start;
    rg_plane_choice choice;
    assert_int_equal(rg_growth_between(one, here, two, there, NULL, &start), RG_OK);
    assert_int_equal(rg_contact_plane(&rests, &moves, 0.01, false, &start, &choice), RG_OK);
    return choice;
}

/* The plane of the end separates at the beginning as well, where that of the beginning does not at
 * the end: it is taken, and nothing is said to meet or to be left out. */
static void the_plane_of_the_end_is_taken(void **state) {
    (void)state;
    rg_shape *ball = shape_of(rg_shape_def_sphere(0.5));
    rg_shape *egg = shape_of(rg_shape_def_ellipsoid(0.5, 0.5, 0.5));
    rg_random random = rg_random_make(3);
    int taken = 0;
    for (int i = 0; i < 300; i++) {
        rg_vec3 from = rg_scale(rg_random_between(&random, 1.05, 3), rg_random_direction(&random));
        rg_vec3 to = rg_scale(rg_random_between(&random, 1.05, 1.5), rg_random_direction(&random));
        rg_vec3 first = rg_normalised(from), last = rg_normalised(to);
        if (!(rg_dot(first, to) < 0.99 && rg_dot(last, from) > 1.01))
            continue;
        rg_plane_choice choice = pass(i % 2 ? egg : ball, i % 3 ? egg : ball, from, to);
        assert_int_equal(choice.result, RG_PLANE_APART);
        assert_true(choice.time == 0.01);
        assert_true(rg_length(rg_sub(choice.normal, last)) < 1e-6);
        taken++;
    }
    assert_true(taken > 30);
    rg_shape_release(ball);
    rg_shape_release(egg);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_plane_of_the_end_is_taken)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
