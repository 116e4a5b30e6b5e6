/* Contact reduction from scenes: a drum of 32 sides stands on the floor by fewer points than it
 * has, and just as well. */
#include "test_scene_support.h"

#include "rigor/contact_force.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Twelve-kilogram drum: corners of a regular polygon at z = 0 and z = 0.2. */
static const char drum[] =
    "rigor: 1\nmethod: {name: stepping, step: 0.005, points: %s}\nshapes:\n"
    "  drum: {hull: [%s]}\nbodies:\n"
    "  - {name: floor, motion: fixed, shape: {halfspace: {normal: [0, 0, 1], offset: 0}}}\n"
    "  - {name: drum, shape: drum, mass: 12}\n";

enum { SIDES = 32 };

static rg_scene *read_drum(const char *points) {
    char corners[SIDES * 2 * 64], text[sizeof corners + sizeof drum + 16];
    size_t length = 0;
    for (int i = 0; i < 2 * SIDES; i++)
        length += (size_t)snprintf(corners + length, sizeof corners - length,
                                   "%s[cos(2*pi*%d/%d), sin(2*pi*%d/%d), %s]", i ? ", " : "",
                                   i % SIDES, SIDES, i % SIDES, SIDES, i < SIDES ? "0" : "0.2");
    snprintf(text, sizeof text, drum, points, corners);
    rg_scene *scene;
    rg_error error = {0};
    if (rg_scene_read_text(text, strlen(text), "drum.yaml", NULL, NULL, &scene, &error) != RG_OK)
        fail_msg("%s", error.text);
    return scene;
}

static size_t contacts_at_rest(const char *points) {
    rg_scene *scene = read_drum(points);
    rg_world *world = rg_scene_world(scene);
    run_scene(scene, 1);
    rg_body_id body;
    rg_vec3 force, torque;
    assert_int_equal(rg_world_find_body(world, "drum", &body), RG_OK);
    size_t count = rg_body_contact_force(world, body, &force, &torque);
    if (!(fabs(force.z - 12 * 9.81) < 1e-7 && fabs(torque.x) < 1e-7 && fabs(torque.y) < 1e-7))
        fail_msg("points %s: %g N, %g and %g N m", points, force.z, torque.x, torque.y);
    if (!(fabs(rg_body_pose(world, body).position.z) < 1e-9))
        fail_msg("points %s: z = %g m", points, rg_body_pose(world, body).position.z);
    assert_true(rg_world_summary(world).certificate.max_penetration < 1e-9);
    rg_scene_destroy(scene);
    return count;
}

/* To 1 % of the area: fewer than all, and more than four, whose square has 0.64 of it. */
static void reduced_points_carry_as_well(void **state) {
    (void)state;
    assert_int_equal(contacts_at_rest("all"), SIDES);
    size_t few = contacts_at_rest("4");
    if (!(few > 4 && few < SIDES))
        fail_msg("%zu points", few);
    assert_int_equal(contacts_at_rest("100"), SIDES);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(reduced_points_carry_as_well)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
