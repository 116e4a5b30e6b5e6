/* Threads inside one world: the same bits for 1, 2, 3 and 8 of them in scenes whose contacts form
 * large islands, which all threads solve together (step_contacts.c), and with many candidate pairs,
 * which are looked at in lanes (contact_lanes.c); also when the number changes on the way. */
#include "test_support.h"

#include "rigor/collision.h"
#include "rigor/random.h"
#include "rigor/rigor.h"
#include "rigor/scene.h"

/* N: pushes that leave nothing to repeat. */
#define PUSH 1e-9

typedef struct large_scene {
    const char *name, *parameter, *value;
    int skipped, steps; /* by one thread, and then compared */
    size_t contacts;    /* at least so many at the end */
    bool pushed;
} large_scene;

static const large_scene scenes[] = {
    {"pyramid", "base", "16", 2, 6, 1000, true},  {"wall", NULL, NULL, 62, 2, 600, false},
    {"pile", "count", "150", 200, 4, 600, false}, {"funnel", "count", "200", 150, 4, 0, false},
    {"chain", "links", "300", 10, 6, 0, false},
};

static rg_scene *make(const large_scene *which) {
    rg_scene_parameter parameter = {.name = which->parameter, .value = which->value};
    rg_scene_options options = {.parameters = &parameter,
                                .parameter_count = which->parameter ? 1 : 0,
                                .method = "stepping"};
    rg_scene *scene;
    assert_int_equal(rg_scene_create_builtin(which->name, &options, &scene, NULL), RG_OK);
    return scene;
}

static void push_all(rg_world *world, rg_random *random) {
    for (size_t i = 0; i < rg_world_body_count(world); i++) {
        rg_body_id body = rg_world_body_at(world, i);
        rg_vec3 d = rg_random_direction(random);
        if (rg_body_motion(world, body) == RG_MOTION_DYNAMIC)
            rg_body_apply_central_force(world, body, (rg_vec3){PUSH * d.x, PUSH * d.y, PUSH * d.z});
    }
}

static void run(rg_world *world, double step, int steps, bool pushed, rg_random *random) {
    for (int i = 0; i < steps; i++) {
        if (pushed)
            push_all(world, random);
        assert_int_equal(rg_world_step(world, step, NULL, NULL), RG_OK);
    }
}

/* The state after the steps, by so many threads; `after`: by so many in the second half. */
static uint64_t hash_of(const rg_world *begun, const large_scene *which, double step, int threads,
                        int after, rg_random random) {
    rg_world *world;
    assert_int_equal(rg_world_clone(begun, &world), RG_OK);
    assert_int_equal(rg_world_set_threads(world, threads), RG_OK);
    run(world, step, which->steps / 2, which->pushed, &random);
    assert_int_equal(rg_world_set_threads(world, after), RG_OK);
    run(world, step, which->steps - which->steps / 2, which->pushed, &random);
    uint64_t hash = rg_world_state_hash(world);
    assert_true(rg_collision_get(rg_world_collision(world)).point_count >= which->contacts);
    rg_world_destroy(world);
    return hash;
}

static void large_islands_have_the_same_bits(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
        const large_scene *which = &scenes[i];
        rg_scene *scene = make(which);
        rg_world *world = rg_scene_world(scene);
        double step = rg_scene_step_size(scene);
        rg_random random = rg_random_make(1);
        run(world, step, which->skipped, which->pushed, &random);
        uint64_t one = hash_of(world, which, step, 1, 1, random);
        static const int threads[][2] = {{2, 2}, {3, 3}, {8, 8}, {1, 8}, {3, 1}};
        for (size_t k = 0; k < sizeof threads / sizeof *threads; k++)
            if (hash_of(world, which, step, threads[k][0], threads[k][1], random) != one)
                fail_msg("%s: %d, then %d threads give another state than one", which->name,
                         threads[k][0], threads[k][1]);
        rg_scene_destroy(scene);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(large_islands_have_the_same_bits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
