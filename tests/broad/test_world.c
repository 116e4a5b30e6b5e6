/* A broad phase in step with a world: colliders that come and go, filters, swept bounds. */
#include "broad_support.h"
#include "test_world_support.h"

#include "broad/broad_world.h"

static const rg_broad_motion now = {.continuous = false};

static rg_broad_world *broad_world_of(const rg_broad_kind *kind) {
    rg_broad_def def = {.kind = kind};
    rg_broad_world *broad;
    assert_int_equal(rg_broad_world_create(&def, NULL, &broad), RG_OK);
    return broad;
}

static rg_bounds bounds_of(const rg_world *world, rg_collider_id collider) {
    rg_collider_def def = rg_collider_get_def(world, collider);
    rg_pose pose = rg_body_pose(world, rg_collider_body(world, collider));
    return rg_shape_bounds(def.shape, rg_pose_compose(pose, def.pose));
}

typedef struct found {
    rg_collider_id id;
    rg_bounds bounds;
} found;

/* Pairs of a world by the public interface alone, all with all, must be those listed. */
static size_t check_world(rg_broad_world *broad, const rg_world *world) {
    found all[600] = {{{0, 0}, {{0, 0, 0}, {0, 0, 0}}}};
    uint32_t most = 0;
    for (size_t i = 0; i < rg_world_body_count(world); i++) {
        rg_body_id body = rg_world_body_at(world, i);
        for (size_t j = 0; j < rg_body_collider_count(world, body); j++) {
            rg_collider_id c = rg_body_collider_at(world, body, j);
            assert_true(c.index1 < 600);
            all[c.index1] = (found){c, bounds_of(world, c)};
            most = c.index1 > most ? c.index1 : most;
        }
    }
    rg_broad_pairs list = rg_broad_pairs_all(rg_broad_world_pairs(broad));
    size_t count = 0;
    for (uint32_t a = 1; a <= most; a++)
        for (uint32_t b = a + 1; b <= most; b++) {
            if (!all[a].id.index1 || !all[b].id.index1)
                continue;
            rg_collider_def x = rg_collider_get_def(world, all[a].id),
                            y = rg_collider_get_def(world, all[b].id);
            rg_body_id p = rg_collider_body(world, all[a].id),
                       q = rg_collider_body(world, all[b].id);
            if (p.index1 == q.index1 || !(x.category & y.mask) || !(y.category & x.mask) ||
                (rg_body_motion(world, p) != RG_MOTION_DYNAMIC &&
                 rg_body_motion(world, q) != RG_MOTION_DYNAMIC) ||
                !rg_bounds_overlap(&all[a].bounds, &all[b].bounds))
                continue;
            assert_true(count < list.count);
            rg_collider_id first = rg_broad_world_collider(broad, list.pairs[count].a),
                           second = rg_broad_world_collider(broad, list.pairs[count].b);
            assert_memory_equal(&first, &all[a].id, sizeof first);
            assert_memory_equal(&second, &all[b].id, sizeof second);
            count++;
        }
    assert_int_equal(list.count, count);
    return count;
}

static rg_body_id add_body(rg_world *world, rg_random *random, rg_shape *const shapes[4]) {
    rg_collider_def colliders[3];
    rg_body_def def = rg_body_def_default();
    def.collider_count = 1 + rg_random_below(random, 3);
    for (size_t i = 0; i < def.collider_count; i++) {
        colliders[i] = rg_collider_def_default();
        colliders[i].shape = shapes[rg_random_below(random, 3)];
        colliders[i].pose = (rg_pose){random_vector(random, 0.5), rg_random_rotation(random)};
        colliders[i].category = UINT64_C(1) << rg_random_below(random, 3);
        colliders[i].mask = 1 + rg_random_below(random, 7);
        colliders[i].sensor = i > 0 && rg_random_unit(random) < 0.3;
        if (colliders[i].sensor)
            colliders[i].density = 0;
    }
    def.colliders = colliders;
    def.motion = rg_random_unit(random) < 0.2 ? RG_MOTION_FIXED : RG_MOTION_DYNAMIC;
    def.pose = (rg_pose){random_vector(random, 3), rg_random_rotation(random)};
    if (def.motion == RG_MOTION_DYNAMIC) {
        def.velocity = random_vector(random, 2);
        def.angular_velocity = random_vector(random, 4);
    }
    return body_of(world, &def);
}

/* Constant velocities; the stage that steps is to the right of this one. */
static void move_bodies(rg_world *world, double step) {
    for (size_t i = 0; i < rg_world_body_count(world); i++) {
        rg_body_id body = rg_world_body_at(world, i);
        rg_pose pose = rg_body_pose(world, body);
        rg_vec3 turn = rg_scale(step, rg_body_angular_velocity(world, body));
        pose.position = rg_add_scaled(pose.position, step, rg_body_velocity(world, body));
        pose.orientation = rg_quat_multiply(rg_quat_of_rotation_vector(turn), pose.orientation);
        if (rg_body_motion(world, body) == RG_MOTION_DYNAMIC)
            assert_int_equal(rg_body_set_pose(world, body, pose), RG_OK);
    }
}

static void a_living_world(void **state) {
    (void)state;
    rg_world *world = default_world();
    rg_random random = rg_random_make(9);
    rg_shape *shapes[4] = {shape_of(rg_shape_def_box(1, 0.5, 0.3)),
                           shape_of(rg_shape_def_sphere(0.4)),
                           shape_of(rg_shape_def_capsule(0.2, 1)),
                           shape_of(rg_shape_def_halfspace((rg_vec3){0, 0, 1}, -2))};
    rg_collider_def floor_collider = rg_collider_def_default();
    floor_collider.shape = shapes[3];
    rg_body_def floor_def = rg_body_def_default();
    floor_def.motion = RG_MOTION_FIXED;
    floor_def.colliders = &floor_collider;
    floor_def.collider_count = 1;
    body_of(world, &floor_def);
    rg_broad_world *sorted = broad_world_of(&rg_broad_sorted),
                   *tree = broad_world_of(&rg_broad_tree);
    size_t pairs = 0;
    for (int step = 0; step < 120; step++) {
        if (rg_world_body_count(world) < 60 && step % 10 < 6)
            for (int i = 0; i < 3; i++)
                add_body(world, &random, shapes);
        if (step % 7 == 0 && rg_world_body_count(world) > 4)
            for (int i = 0; i < 2; i++) {
                size_t victim = 1 + rg_random_below(&random, rg_world_body_count(world) - 1);
                rg_world_remove_body(world, rg_world_body_at(world, victim));
            }
        if (step % 5 == 0) { /* a collider more, one less */
            size_t i = rg_random_below(&random, rg_world_body_count(world));
            rg_body_id body = rg_world_body_at(world, i);
            rg_collider_def extra = rg_collider_def_default();
            extra.shape = shapes[1];
            extra.pose.position = random_vector(&random, 1);
            rg_collider_id id;
            assert_int_equal(rg_world_add_collider(world, body, &extra, &id, NULL), RG_OK);
            if (rg_body_collider_count(world, body) > 2)
                assert_int_equal(
                    rg_world_remove_collider(world, rg_body_collider_at(world, body, 1)), RG_OK);
        }
        move_bodies(world, 1.0 / 60);
        assert_int_equal(rg_broad_world_update(sorted, world, &now), RG_OK);
        assert_int_equal(rg_broad_world_update(tree, world, &now), RG_OK);
        pairs += check_world(sorted, world);
        check_world(tree, world);
        rg_broad_pairs x = rg_broad_pairs_begun(rg_broad_world_pairs(sorted)),
                       y = rg_broad_pairs_begun(rg_broad_world_pairs(tree));
        assert_same_pairs(x, y.pairs, y.count, "begun");
        x = rg_broad_pairs_ended(rg_broad_world_pairs(sorted));
        y = rg_broad_pairs_ended(rg_broad_world_pairs(tree));
        assert_same_pairs(x, y.pairs, y.count, "ended");
    }
    assert_true(pairs > 2000);
    rg_broad_world_destroy(sorted);
    rg_broad_world_destroy(tree);
    rg_broad_world_destroy(NULL);
    for (int i = 0; i < 4; i++)
        rg_shape_release(shapes[i]);
    rg_world_destroy(world);
}

/* A bullet that would be beyond the pane after one step: discrete bounds see nothing. */
static void discrete_detection_misses_the_bullet(void **state) {
    (void)state;
    rg_world *world = default_world();
    add_box(world, "pane", (rg_vec3){0.001, 2, 2}, (rg_vec3){0, 0, 0});
    rg_body_id bullet = add_box(world, "bullet", (rg_vec3){0.01, 0.01, 0.01}, (rg_vec3){-1, 0, 0});
    rg_body_set_velocity(world, bullet, (rg_vec3){500, 0, 0});
    rg_broad_world *broad = broad_world_of(NULL);
    rg_broad_motion motion = {.continuous = true, .step = 1.0 / 240};
    assert_int_equal(rg_broad_world_update(broad, world, &now), RG_OK);
    assert_int_equal(rg_broad_pairs_all(rg_broad_world_pairs(broad)).count, 0);
    assert_int_equal(rg_broad_world_update(broad, world, &motion), RG_OK);
    assert_int_equal(rg_broad_pairs_all(rg_broad_world_pairs(broad)).count, 1);
    move_bodies(world, 1.0 / 240);
    assert_int_equal(rg_broad_world_update(broad, world, &now), RG_OK);
    assert_int_equal(rg_broad_pairs_all(rg_broad_world_pairs(broad)).count, 0);
    /* A margin is as wide as it says. */
    motion = (rg_broad_motion){.margin = 0.25};
    assert_int_equal(rg_broad_world_update(broad, world, &motion), RG_OK);
    rg_collider_id c = rg_body_collider_at(world, bullet, 0);
    rg_bounds b = rg_broad_bounds(rg_broad_world_pairs(broad), c.index1 - 1);
    assert_near(b.upper.y, 0.255, 1e-12);
    rg_broad_world_destroy(broad);
    rg_world_destroy(world);
}

/* What its filter lets meet nothing is not searched for; it comes and goes with the filter. */
static void filters_that_meet_nothing(void **state) {
    (void)state;
    rg_world *world = default_world();
    rg_body_id a = add_box(world, "a", (rg_vec3){1, 1, 1}, (rg_vec3){0, 0, 0});
    add_box(world, "b", (rg_vec3){1, 1, 1}, (rg_vec3){0.5, 0, 0});
    rg_collider_id collider = rg_body_collider_at(world, a, 0);
    rg_broad_world *broad = broad_world_of(NULL);
    const uint64_t filters[5][2] = {
        {1, UINT64_MAX}, {1, 0}, {1, UINT64_MAX}, {0, UINT64_MAX}, {1, 1}};
    for (int i = 0; i < 5; i++) {
        bool meets = i % 2 == 0;
        rg_collider_set_filter(world, collider, filters[i][0], filters[i][1]);
        assert_int_equal(rg_broad_world_update(broad, world, &now), RG_OK);
        assert_int_equal(check_world(broad, world), meets ? 1 : 0);
        assert_int_equal(rg_broad_has(rg_broad_world_pairs(broad), collider.index1 - 1), meets);
    }
    rg_broad_world_destroy(broad);
    rg_world_destroy(world);
}

/* Restoring a snapshot brings other colliders under old handles. */
static void a_restored_world(void **state) {
    (void)state;
    rg_world *world = default_world();
    rg_body_id a = add_box(world, "a", (rg_vec3){1, 1, 1}, (rg_vec3){0, 0, 0});
    add_box(world, "b", (rg_vec3){1, 1, 1}, (rg_vec3){0.5, 0, 0});
    rg_broad_world *broad = broad_world_of(NULL);
    rg_snapshot *snapshot;
    assert_int_equal(rg_snapshot_create(world, &snapshot), RG_OK);
    assert_int_equal(rg_broad_world_update(broad, world, &now), RG_OK);
    assert_int_equal(check_world(broad, world), 1);
    rg_world_remove_body(world, a);
    add_box(world, "c", (rg_vec3){1, 1, 1}, (rg_vec3){0, 0, 0});
    assert_int_equal(rg_broad_world_update(broad, world, &now), RG_OK);
    assert_int_equal(check_world(broad, world), 1);
    /* Another collider in the slot: the pair is a new one. */
    assert_int_equal(rg_broad_pairs_begun(rg_broad_world_pairs(broad)).count, 1);
    assert_int_equal(rg_broad_pairs_ended(rg_broad_world_pairs(broad)).count, 1);
    assert_int_equal(rg_world_restore(world, snapshot), RG_OK);
    assert_int_equal(rg_broad_world_update(broad, world, &now), RG_OK);
    assert_int_equal(check_world(broad, world), 1);
    rg_snapshot_destroy(snapshot);
    rg_broad_world_destroy(broad);
    rg_world_destroy(world);
}

static void allocation_failures(void **state) {
    (void)state;
    rg_world *world = default_world();
    fill_mixed_world(world, 30);
    size_t n = 0;
    for (bool reached = true; reached; n++) {
        counting_allocator counter;
        rg_allocator allocator = counting_allocator_make(&counter);
        counter.fail_after = n ? n : SIZE_MAX;
        rg_broad_world *broad;
        rg_status status = rg_broad_world_create(NULL, &allocator, &broad);
        if (!status)
            status = rg_broad_world_update(broad, world, &now);
        reached = status != RG_OK || n == 0;
        if (status)
            assert_int_equal(status, RG_OUT_OF_MEMORY);
        counter.fail_after = 0;
        if (broad) {
            assert_int_equal(rg_broad_world_update(broad, world, &now), RG_OK);
            check_world(broad, world);
            size_t calls = counter.resizes;
            assert_int_equal(rg_broad_world_update(broad, world, &now), RG_OK);
            assert_int_equal(counter.resizes, calls);
        }
        rg_broad_world_destroy(broad);
    }
    assert_true(n > 10);
    rg_world_destroy(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_living_world),
        cmocka_unit_test(discrete_detection_misses_the_bullet),
        cmocka_unit_test(filters_that_meet_nothing),
        cmocka_unit_test(a_restored_world),
        cmocka_unit_test(allocation_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
