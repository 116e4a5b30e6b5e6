/* What Adams' method remembers of contacts from step to step: histories of groups that last,
 * through copies and files to the bit; groups that change begin afresh; and bytes of a file that
 * make no sense do no harm. */
#include "test_world_support.h"

#include "step/step_analytic.h"
#include "world/world.h"

#include <stdlib.h>
#include <string.h>

#define STEP (1.0 / 240)

/* Bodies that roll on a floor for ever, far apart: egg-shaped, so that they wobble. */
static rg_world *make_eggs(int count, double apart) {
    rg_world_def def = rg_world_def_default();
    def.method = rg_method_find("analytic");
    def.settings.integrator = RG_INTEGRATOR_ADAMS;
    rg_world *world = world_of(&def);
    rg_contact_law law = {.friction = 5};
    assert_int_equal(rg_world_set_material_law(world, (rg_material_id){0}, &law, NULL), RG_OK);
    rg_body_def floor = rg_body_def_default();
    floor.motion = RG_MOTION_FIXED;
    add_shape(world, rg_shape_def_halfspace((rg_vec3){0, 0, 1}, 0), &floor);
    for (int i = 0; i < count; i++) {
        rg_body_def egg = rg_body_def_default();
        egg.pose.position = (rg_vec3){0, apart * i, 0.1};
        egg.velocity = (rg_vec3){0.5 * 0.1, 0, 0};
        egg.angular_velocity = (rg_vec3){0, 0.5, 0};
        add_shape(world, rg_shape_def_ellipsoid(0.2, 0.15, 0.1), &egg);
    }
    return world;
}

static uint64_t evaluations(rg_world *world, int steps) {
    uint64_t before = rg_world_summary(world).evaluations;
    step_world(world, STEP, steps);
    return rg_world_summary(world).evaluations - before;
}

/* Every group has its own history: two cost as much as twice one. Steps of the world do not end it,
 * or there would be seven evaluations in each step of the integrator. */
static void histories_last(void **state) {
    (void)state;
    rg_world *one = make_eggs(1, 0), *two = make_eggs(2, 10);
    evaluations(one, 24);
    evaluations(two, 24);
    uint64_t of_one = evaluations(one, 48), of_two = evaluations(two, 48);
    rg_step_info info = rg_world_summary(one);
    print_message("%llu evaluations of one, %llu of two\n", (unsigned long long)of_one,
                  (unsigned long long)of_two);
    assert_true((double)of_two < 2.2 * (double)of_one);
    assert_true((double)info.evaluations < 4 * (double)info.substeps);
    rg_world_destroy(one);
    rg_world_destroy(two);
}

/* An edit, or a force of a step, ends them. */
static void edits_begin_afresh(void **state) {
    (void)state;
    rg_world *world = make_eggs(1, 0), *other = make_eggs(1, 0);
    evaluations(world, 24);
    evaluations(other, 24);
    uint64_t smooth = evaluations(world, 1);
    rg_body_set_velocity(other, rg_world_body_at(other, 1),
                         rg_body_velocity(other, rg_world_body_at(other, 1)));
    uint64_t edited = evaluations(other, 1);
    assert_true(edited > 2 * smooth);
    rg_world_destroy(world);
    rg_world_destroy(other);
}

/* To the bit: a copy, and a file. */
static void copies_and_files_go_on(void **state) {
    (void)state;
    rg_world *world = make_eggs(3, 10), *copy, *loaded = make_eggs(3, 10);
    step_world(world, STEP, 31);
    assert_int_equal(rg_world_clone(world, &copy), RG_OK);
    size_t size;
    rg_world_save_state(world, NULL, 0, &size);
    void *bytes = malloc(size);
    assert_int_equal(rg_world_save_state(world, bytes, size, &size), RG_OK);
    rg_error error = {0};
    if (rg_world_load_state(loaded, bytes, size, &error))
        fail_msg("%s", error.text);
    step_world(world, STEP, 40);
    step_world(copy, STEP, 40);
    step_world(loaded, STEP, 40);
    assert_true(rg_world_state_hash(copy) == rg_world_state_hash(world));
    assert_true(rg_world_state_hash(loaded) == rg_world_state_hash(world));
    free(bytes);
    rg_world_destroy(world);
    rg_world_destroy(copy);
    rg_world_destroy(loaded);
}

/* Any number of the heads of histories replaced by nonsense: the step is made all the same, within
 * memory (sanitizers look), and what comes out is a motion. */
static void nonsense_does_no_harm(void **state) {
    (void)state;
    rg_world *world = make_eggs(2, 10);
    step_world(world, STEP, 30);
    size_t bodies = 2, begin = sizeof(rg_analysis_memory) + bodies * sizeof(rg_analysis_known);
    size_t end = begin + bodies * (2 * sizeof(uint64_t) + sizeof(rg_adams_memory));
    static const uint32_t nonsense[] = {0, 1, 5, 12, 13, 14, 1000, 0x7fffffff, 0xffffffff};
    int changed = 0;
    for (size_t at = begin; at + 4 <= end; at += 4) {
        for (size_t k = 0; k < sizeof nonsense / sizeof nonsense[0]; k++) {
            rg_world *copy;
            assert_int_equal(rg_world_clone(world, &copy), RG_OK);
            rg_memory_block *block = &copy->content.memory[RG_MEMORY_METHOD];
            assert_true(block->size > end);
            memcpy((char *)block->data + at, &nonsense[k], sizeof nonsense[k]);
            rg_error error = {0};
            if (rg_world_step(copy, STEP, NULL, &error))
                fail_msg("byte %zu, %x: %s", at, nonsense[k], error.text);
            rg_vec3 x = rg_body_pose(copy, rg_world_body_at(copy, 1)).position;
            assert_true(rg_length(rg_sub(
                            x, rg_body_pose(world, rg_world_body_at(world, 1)).position)) < 0.01);
            changed++;
            rg_world_destroy(copy);
        }
    }
    assert_true(changed > 500);
    rg_world_destroy(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(histories_last),
        cmocka_unit_test(edits_begin_afresh),
        cmocka_unit_test(copies_and_files_go_on),
        cmocka_unit_test(nonsense_does_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
