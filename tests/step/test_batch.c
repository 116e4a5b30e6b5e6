/* Many worlds side by side: the bits of each as if it were alone, for any number of threads; states
 * in one array; failures and stops of single worlds. */
#include "test_world_support.h"

#include "rigor/batch.h"

enum { WORLDS = 24, STEPS = 40 };

/* Two boxes, one on the other, on the ground. */
static rg_world *make_world(void) {
    rg_world *world = default_world();
    rg_body_def ground = rg_body_def_default();
    ground.motion = RG_MOTION_FIXED;
    add_shape(world, rg_shape_def_halfspace((rg_vec3){0, 0, 1}, 0), &ground);
    add_box(world, "low", (rg_vec3){1, 1, 1}, (rg_vec3){0, 0, 0.5});
    add_box(world, "high", (rg_vec3){1, 1, 1}, (rg_vec3){0.1, 0, 1.5});
    return world;
}

static rg_body_id named(const rg_world *world, const char *name) {
    rg_body_id body;
    assert_int_equal(rg_world_find_body(world, name, &body), RG_OK);
    return body;
}

/* What sets world number i apart. */
static void set_parameters(rg_world *world, size_t i) {
    rg_body_set_velocity(world, named(world, "high"), (rg_vec3){0.2 * (double)i, 0.1, 0});
}

static rg_batch *make_batch(const rg_world *world, size_t count, int threads) {
    rg_batch *batch;
    rg_error error;
    assert_int_equal(rg_batch_create(world, count, threads, &batch, &error), RG_OK);
    for (size_t i = 0; i < count; i++)
        set_parameters(rg_batch_world(batch, i), i);
    return batch;
}

static void as_if_alone(void **state) {
    (void)state;
    rg_world *world = make_world();
    uint64_t hashes[WORLDS];
    for (size_t i = 0; i < WORLDS; i++) {
        rg_world *alone;
        assert_int_equal(rg_world_clone(world, &alone), RG_OK);
        set_parameters(alone, i);
        for (int k = 0; k < STEPS; k++)
            step_once(alone, 1.0 / 240);
        hashes[i] = rg_world_state_hash(alone);
        rg_world_destroy(alone);
    }
    for (int threads = 1; threads <= 5; threads += 2) {
        rg_batch *batch = make_batch(world, WORLDS, threads);
        rg_step_info infos[WORLDS];
        rg_error error;
        rg_batch_steps steps = {.step = 1.0 / 240, .steps = STEPS / 2, .infos = infos};
        assert_int_equal(rg_batch_step(batch, &steps, &error), RG_OK);
        assert_int_equal(rg_batch_step(batch, &steps, &error), RG_OK);
        for (size_t i = 0; i < WORLDS; i++) {
            assert_true(rg_world_state_hash(rg_batch_world(batch, i)) == hashes[i]);
            assert_int_equal(infos[i].steps, 1);
        }
        rg_batch_destroy(batch);
    }
    rg_world_destroy(world);
}

static void states_in_one_array(void **state) {
    (void)state;
    rg_world *world = make_world();
    rg_batch *batch = make_batch(world, WORLDS, 2);
    rg_batch_steps steps = {.step = 1.0 / 240, .steps = 5};
    rg_strided all;
    assert_int_equal(rg_batch_step(batch, &steps, NULL), RG_OK);
    assert_int_equal(rg_batch_state(batch, &all), RG_OK);
    assert_int_equal(all.stride, RG_BATCH_NUMBERS);
    assert_int_equal(all.count, WORLDS * 3);
    for (size_t i = 0; i < WORLDS; i++) {
        const rg_world *one = rg_batch_world(batch, i);
        assert_int_equal(rg_batch_first_row(batch, i), 3 * i);
        for (size_t b = 0; b < 3; b++) {
            const double *row = all.data + (3 * i + b) * all.stride;
            rg_strided x = rg_world_centre_positions(one), q = rg_world_centre_orientations(one);
            rg_strided v = rg_world_velocities(one), w = rg_world_angular_velocities(one);
            assert_memory_equal(row, x.data + b * x.stride, 3 * sizeof *row);
            assert_memory_equal(row + 3, q.data + b * q.stride, 4 * sizeof *row);
            assert_memory_equal(row + 7, v.data + b * v.stride, 3 * sizeof *row);
            assert_memory_equal(row + 10, w.data + b * w.stride, 3 * sizeof *row);
        }
    }
    rg_batch_destroy(batch);
    rg_world_destroy(world);
}

static bool stop_late_ones(void *user, size_t index, rg_world *world, const rg_step_info *info) {
    (void)user;
    assert_int_equal(info->steps, 1);
    return rg_world_step_count(world) > index;
}

static void stops_and_failures_are_of_one_world(void **state) {
    (void)state;
    enum { FEW = 4 };
    rg_world *worlds[FEW], *other = make_world();
    for (size_t i = 0; i < FEW; i++)
        worlds[i] = make_world();
    rg_batch *batch;
    rg_error error = {0};
    uint32_t statuses[FEW];
    assert_int_equal(rg_batch_of_worlds(worlds, FEW, 2, NULL, &batch, &error), RG_OK);
    rg_batch_steps steps = {
        .step = 1.0 / 240, .steps = 10, .stop = stop_late_ones, .statuses = statuses};
    assert_int_equal(rg_batch_step(batch, &steps, &error), RG_OK);
    for (size_t i = 0; i < FEW; i++)
        assert_int_equal(rg_world_step_count(worlds[i]), i + 1);
    steps.step = -1; /* refused by each world */
    assert_int_equal(rg_batch_step(batch, &steps, &error), RG_INVALID_ARGUMENT);
    assert_true(error.text[0] != '\0');
    assert_int_equal(statuses[FEW - 1], RG_INVALID_ARGUMENT);
    rg_batch_replace(batch, 1, other);
    assert_ptr_equal(rg_batch_world(batch, 1), other);
    steps.step = 1.0 / 240, steps.stop = NULL, steps.steps = 3;
    assert_int_equal(rg_batch_step(batch, &steps, &error), RG_OK);
    assert_int_equal(rg_world_step_count(other), 3);
    assert_int_equal(rg_world_step_count(worlds[1]), 2);
    rg_batch_destroy(batch); /* the worlds stay */
    for (size_t i = 0; i < FEW; i++)
        rg_world_destroy(worlds[i]);
    rg_world_destroy(other);
}

static void a_batch_that_cannot_be(void **state) {
    (void)state;
    rg_world *world = make_world();
    rg_batch *batch;
    rg_error error;
    assert_int_equal(rg_batch_create(world, 2, 0, &batch, &error), RG_INVALID_ARGUMENT);
    assert_null(batch);
    assert_int_equal(rg_batch_create(world, SIZE_MAX / 8, 1, &batch, &error), RG_OUT_OF_MEMORY);
    assert_null(batch);
    rg_batch_destroy(NULL);
    rg_batch *empty;
    rg_strided all;
    assert_int_equal(rg_batch_create(world, 0, 2, &empty, &error), RG_OK);
    rg_batch_steps steps = {.step = 1, .steps = 1};
    assert_int_equal(rg_batch_step(empty, &steps, &error), RG_OK);
    assert_int_equal(rg_batch_state(empty, &all), RG_OK);
    assert_int_equal(all.count, 0);
    rg_batch_destroy(empty);
    rg_world_destroy(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_if_alone),
                                       cmocka_unit_test(states_in_one_array),
                                       cmocka_unit_test(stops_and_failures_are_of_one_world),
                                       cmocka_unit_test(a_batch_that_cannot_be)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
