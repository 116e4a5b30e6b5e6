/* The memory of contact forces: order, search, generations. */
#include "test_world_support.h"

#include "step/step_contact_memory.h"

enum { FORCES = 300 };

static rg_contact_force draw(rg_random *random) {
    rg_contact_force f = {0};
    f.collider_b = (rg_collider_id){1 + (uint32_t)rg_random_between(random, 0, 4), 7};
    f.collider_a = (rg_collider_id){1 + (uint32_t)rg_random_between(random, 0, 4), 9};
    f.part_b = (uint32_t)rg_random_between(random, 0, 3);
    f.part_a = (uint32_t)rg_random_between(random, 0, 3);
    f.id = (uint64_t)rg_random_between(random, 0, 3);
    return f;
}

static bool is_in(const rg_contact_force *forces, size_t count, const rg_contact_force *f) {
    rg_contact_key key = rg_contact_force_key(f);
    for (size_t i = 0; i < count; i++) {
        rg_contact_key other = rg_contact_force_key(&forces[i]);
        if (rg_contact_key_compare(&key, &other) == 0)
            return true;
    }
    return false;
}

/* Half of all keys, each once, in any order. */
static size_t fill(rg_contact_force *forces, rg_random *random) {
    size_t count = 0;
    for (int i = 0; i < FORCES; i++) {
        rg_contact_force f = draw(random);
        if (!is_in(forces, count, &f))
            forces[count++] = f;
    }
    return count;
}

static void what_was_there_is_found(void **state) {
    (void)state;
    rg_random random = rg_random_make(3);
    rg_contact_force forces[FORCES];
    size_t count = fill(forces, &random), found = 0;
    rg_contact_forces_sort(forces, count);
    for (size_t i = 1; i < count; i++)
        assert_true(rg_contact_force_before(&forces[i - 1], &forces[i]));
    rg_contact_memory memory = {.forces = forces, .count = count};
    for (size_t i = 0; i < count; i++) { /* in order */
        rg_contact_key key = rg_contact_force_key(&forces[i]);
        assert_ptr_equal(rg_contact_memory_find(&memory, &key), &forces[i]);
    }
    for (int i = 0; i < 1000; i++) { /* in any */
        rg_contact_force f = draw(&random);
        rg_contact_key key = rg_contact_force_key(&f);
        const rg_contact_force *old = rg_contact_memory_find(&memory, &key);
        assert_int_equal(old != NULL, is_in(forces, count, &f));
        found += old != NULL;
        if (old)
            assert_int_equal(old->id, f.id);
        key.collider_a.generation++; /* another collider in the same slot */
        assert_null(rg_contact_memory_find(&memory, &key));
    }
    assert_true(found > 100 && found < 900);
    for (uint32_t b = 1; b <= 5; b++)
        for (uint32_t a = 1; a <= 5; a++) {
            size_t first =
                rg_contact_memory_first(&memory, (rg_collider_id){b, 7}, (rg_collider_id){a, 9});
            for (size_t i = 0; i < count; i++) {
                const rg_contact_force *f = &forces[i];
                bool before = f->collider_b.index1 < b ||
                              (f->collider_b.index1 == b && f->collider_a.index1 < a);
                assert_int_equal(i < first, before);
            }
        }
}

/* Two heaps side by side are two islands: their forces are one list in order, by either method. */
static void forces_of_a_world_are_in_order(void **state) {
    (void)state;
    static const char *const methods[] = {"analytic", "stepping"};
    for (int m = 0; m < 2; m++) {
        rg_world_def def = rg_world_def_default();
        def.method = rg_method_find(methods[m]);
        rg_world *world = world_of(&def);
        rg_body_def floor = rg_body_def_default();
        floor.motion = RG_MOTION_FIXED;
        for (int layer = 0; layer < 3; layer++) /* columns in turns */
            for (int column = 0; column < 3; column++)
                add_box(world, NULL, (rg_vec3){0.5, 0.5, 0.2},
                        (rg_vec3){2.0 * ((column + layer) % 3), 0, 0.1 + 0.2 * layer});
        add_shape(world, rg_shape_def_halfspace((rg_vec3){0, 0, 1}, 0), &floor);
        step_world(world, 0.01, 3);
        size_t count;
        const rg_contact_force *forces = rg_world_contact_forces(world, &count);
        assert_int_equal(count, 36);
        for (size_t i = 0; i < count; i++)
            assert_true(forces[i].collider_b.index1 < forces[i].collider_a.index1 &&
                        (i == 0 || rg_contact_force_before(&forces[i - 1], &forces[i])));
        rg_world_destroy(world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_was_there_is_found),
                                       cmocka_unit_test(forces_of_a_world_are_in_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
