/* Contacts of a world from step to step, and questions to it. */
#include "test_world_support.h"

#include "rigor/collision.h"

#include <string.h>

static rg_collision *watch(const rg_collision_def *def, const rg_allocator *allocator) {
    rg_collision_def standard = rg_collision_def_default();
    rg_collision *collision;
    rg_error error;
    if (rg_collision_create(def ? def : &standard, allocator, &collision, &error))
        fail_msg("%s", error.text);
    return collision;
}

static rg_collision_view look(rg_collision *collision, rg_world *world) {
    rg_error error;
    if (rg_collision_update(collision, world, 0, &error))
        fail_msg("%s", error.text);
    return rg_collision_get(collision);
}

static rg_body_id add_named(rg_world *world, const char *name, rg_shape_def shape_def,
                            rg_vec3 position, rg_motion motion, rg_collider_def collider) {
    rg_body_def def = rg_body_def_default();
    def.name = name;
    def.motion = motion;
    def.pose.position = position;
    return add_collider(world, shape_def, collider, &def);
}

static rg_body_id add_floor(rg_world *world) {
    return add_named(world, "floor", rg_shape_def_halfspace((rg_vec3){0, 0, 1}, 0),
                     (rg_vec3){0, 0, 0}, RG_MOTION_FIXED, rg_collider_def_default());
}

static void move(rg_world *world, rg_body_id body, rg_vec3 position) {
    rg_pose pose = rg_body_pose(world, body);
    pose.position = position;
    assert_int_equal(rg_body_set_pose(world, body, pose), RG_OK);
}

static void contacts_begin_persist_and_end(void **state) {
    (void)state;
    rg_world *world = default_world();
    rg_collision *collision = watch(NULL, NULL);
    rg_body_id floor = add_floor(world);
    rg_body_id box = add_box(world, "box", (rg_vec3){1, 1, 1}, (rg_vec3){0, 0, 2});
    assert_int_equal(look(collision, world).touch_count, 0);

    move(world, box, (rg_vec3){0, 0, 0.5});
    rg_collision_view view = look(collision, world);
    assert_int_equal(view.touch_count, 1);
    assert_true(view.touches[0].touching && view.touches[0].began);
    assert_int_equal(view.manifold_count, 1);
    assert_int_equal(view.point_count, 4);
    assert_near(view.min_gap, 0, 1e-15);
    /* B has the lower slot: the floor. The normal points from B to A. */
    assert_int_equal(view.touches[0].body_b.index1, floor.index1);
    assert_int_equal(view.touches[0].body_a.index1, box.index1);
    assert_vector(view.manifolds[0].normal, (rg_vec3){0, 0, 1}, 1e-15);

    view = look(collision, world);
    assert_true(view.touches[0].touching && !view.touches[0].began);
    assert_int_equal(view.ended_count, 0);
    uint32_t of_box[4];
    assert_int_equal(rg_collision_of_body(collision, box, of_box, 4), 1);

    move(world, box, (rg_vec3){0, 0, 0.5 + 2e-4}); /* near, but not touching any more */
    view = look(collision, world);
    assert_int_equal(view.touch_count, 1);
    assert_false(view.touches[0].touching);
    assert_near(view.touches[0].gap, 2e-4, 1e-12);
    assert_int_equal(view.ended_count, 1);

    move(world, box, (rg_vec3){0, 0, 0.5});
    assert_true(look(collision, world).touches[0].began);
    move(world, box, (rg_vec3){0, 0, 7});
    view = look(collision, world);
    assert_int_equal(view.touch_count, 0);
    assert_int_equal(view.ended_count, 1);

    move(world, box, (rg_vec3){0, 0, 0.4});
    view = look(collision, world);
    assert_near(view.min_gap, -0.1, 1e-14);
    rg_collider_id gone = view.touches[0].collider_a;
    assert_int_equal(rg_world_remove_body(world, box), RG_OK);
    view = look(collision, world);
    assert_int_equal(view.touch_count, 0);
    assert_int_equal(view.ended_count, 1);
    assert_memory_equal(&view.ended[0].collider_a, &gone, sizeof gone);
    rg_collision_destroy(collision);
    rg_world_destroy(world);
}

/* A touch that flickers within the hysteresis does not end. */
static void touching_has_hysteresis(void **state) {
    (void)state;
    rg_world *world = default_world();
    rg_collision_def def = rg_collision_def_default();
    def.touch = 1e-4;
    rg_collision *collision = watch(&def, NULL);
    add_floor(world);
    rg_body_id box = add_box(world, "box", (rg_vec3){1, 1, 1}, (rg_vec3){0, 0, 0.5 + 1.5e-4});
    assert_false(look(collision, world).touches[0].touching);
    move(world, box, (rg_vec3){0, 0, 0.5 + 0.9e-4});
    assert_true(look(collision, world).touches[0].began);
    move(world, box, (rg_vec3){0, 0, 0.5 + 1.9e-4});
    rg_collision_view view = look(collision, world);
    assert_true(view.touches[0].touching && !view.touches[0].began);
    move(world, box, (rg_vec3){0, 0, 0.5 + 2.1e-4});
    assert_int_equal(look(collision, world).ended_count, 1);
    rg_collision_destroy(collision);
    rg_world_destroy(world);
}

static void double_friction(void *user, const rg_world *world, const rg_touch *touch,
                            rg_contact_law *law) {
    (void)world;
    (void)touch;
    ++*(int *)user;
    law->static_friction *= 2;
}

static void filters_sensors_and_materials(void **state) {
    (void)state;
    int calls = 0;
    rg_collision_def def = rg_collision_def_default();
    def.material = double_friction;
    def.material_user = &calls;
    rg_world *world = default_world();
    rg_collision *collision = watch(&def, NULL);
    rg_collider_def plain = rg_collider_def_default(), ghost = plain, sensor = plain;
    ghost.category = 2;
    ghost.mask = 2;
    sensor.sensor = true;
    add_floor(world);
    add_named(world, "ghost", rg_shape_def_sphere(1), (rg_vec3){0, 0, 1}, RG_MOTION_DYNAMIC, ghost);
    add_named(world, "still", rg_shape_def_sphere(1), (rg_vec3){3, 0, 1}, RG_MOTION_FIXED, plain);
    rg_body_id ball = add_named(world, "ball", rg_shape_def_sphere(1), (rg_vec3){6, 0, 1},
                                RG_MOTION_DYNAMIC, plain);
    add_named(world, "gate", rg_shape_def_sphere(1), (rg_vec3){6, 0.5, 1}, RG_MOTION_FIXED, sensor);
    rg_collision_view view = look(collision, world);
    /* The ball on the floor and in the gate; the ghost meets nobody, fixed things not each
     * other. */
    assert_int_equal(view.touch_count, 2);
    assert_int_equal(calls, 2);
    int sensors = 0;
    for (size_t i = 0; i < 2; i++) {
        const rg_touch *t = &view.touches[i];
        assert_true(t->body_a.index1 == ball.index1 || t->body_b.index1 == ball.index1);
        assert_near(t->law.static_friction, 1, 1e-15);
        assert_near(t->law.friction, 0.5, 1e-15);
        sensors += t->sensor;
    }
    assert_int_equal(sensors, 1);
    rg_collision_destroy(collision);
    rg_world_destroy(world);
}

/* A stack that is shaken a little; twin worlds, one of them restored on the way, see the same. */
static rg_world *stack(rg_broad_phase kind) {
    rg_world_def def = rg_world_def_default();
    def.collision.broad_phase = kind;
    def.gravity = (rg_vec3){0, 0, 0};
    rg_world *world = world_of(&def);
    add_floor(world);
    rg_random random = rg_random_make(4);
    for (int i = 0; i < 60; i++) {
        rg_body_id box = add_box(world, NULL, (rg_vec3){1, 1, 1},
                                 (rg_vec3){i % 4 + 0.001 * i, i / 4 % 4, 0.5 + i / 16});
        rg_body_set_velocity(world, box, rg_scale(0.02, rg_random_direction(&random)));
        rg_body_set_angular_velocity(world, box, rg_scale(0.02, rg_random_direction(&random)));
    }
    return world;
}

static uint64_t hash_of(rg_collision_view view) {
    uint64_t hash = view.touch_count * 31 + view.ended_count;
    for (size_t i = 0; i < view.point_count; i++) {
        uint64_t bits;
        memcpy(&bits, &view.points[i].gap, 8);
        hash = (hash ^ bits ^ view.points[i].id) * UINT64_C(0x9E3779B97F4A7C15);
        hash ^= hash >> 29;
    }
    for (size_t i = 0; i < view.touch_count; i++)
        hash = hash * 5 + 2 * view.touches[i].touching + view.touches[i].began;
    return hash;
}

static void snapshots_carry_the_contacts(void **state) {
    (void)state;
    const rg_broad_phase kinds[] = {RG_BROAD_PHASE_SORTED, RG_BROAD_PHASE_TREE};
    uint64_t seen[2][2];
    int steps = test_cases(20, 20);
    for (int k = 0; k < 2; k++) {
        rg_world *world = stack(kinds[k]);
        step_world(world, 0.01, steps);
        rg_snapshot *snapshot;
        assert_int_equal(rg_snapshot_create(world, &snapshot), RG_OK);
        for (int again = 0; again < 2; again++) {
            if (again)
                assert_int_equal(rg_world_restore(world, snapshot), RG_OK);
            uint64_t hash = 0;
            for (int i = 0; i < steps; i++) {
                step_world(world, 0.01, 1);
                hash = hash * 31 + hash_of(rg_collision_get(rg_world_collision(world)));
            }
            seen[k][again] = hash;
        }
        assert_true(seen[k][0] == seen[k][1]);
        rg_snapshot_destroy(snapshot);
        rg_world_destroy(world);
    }
    assert_true(seen[0][0] == seen[1][0]);
}

static void a_steady_update_makes_no_heap_call(void **state) {
    (void)state;
    counting_allocator counter;
    rg_allocator allocator = counting_allocator_make(&counter);
    rg_world *world = stack(RG_BROAD_PHASE_AUTO);
    rg_collision *collision = watch(NULL, &allocator);
    for (int i = 0; i < 40; i++)
        look(collision, world);
    size_t before = counter.resizes;
    for (int i = 0; i < 20; i++)
        look(collision, world);
    assert_int_equal(counter.resizes, before);
    rg_collision_destroy(collision);
    rg_world_destroy(world);
}

static void memory_failures_are_survived(void **state) {
    (void)state;
    rg_world *world = stack(RG_BROAD_PHASE_AUTO);
    for (size_t allowed = 1; allowed < 400; allowed += allowed < 60 ? 1 : 17) {
        counting_allocator counter;
        rg_allocator allocator = counting_allocator_make(&counter);
        counter.fail_after = allowed;
        rg_collision_def def = rg_collision_def_default();
        rg_collision *collision;
        if (rg_collision_create(&def, &allocator, &collision, NULL))
            continue;
        rg_status status = rg_collision_update(collision, world, 0, NULL);
        assert_true(status == RG_OK || status == RG_OUT_OF_MEMORY);
        counter.fail_after = 0;
        assert_true(look(collision, world).touch_count > 60);
        rg_collision_destroy(collision);
    }
    rg_world_destroy(world);
}

/* --- events out of the step ------------------------------------------------------------------- */

typedef struct counts {
    size_t began, ended, touching;
} counts;

static counts count_step(rg_world *world, double step) {
    step_world(world, step, 1);
    rg_collision_view view = rg_collision_get(rg_world_collision(world));
    counts n = {.ended = view.ended_count};
    for (size_t i = 0; i < view.touch_count; i++) {
        n.began += view.touches[i].began;
        n.touching += view.touches[i].touching;
    }
    return n;
}

static const char *const methods[] = {"stepping", "analytic"};

static rg_world *world_by(const char *method) {
    rg_world_def def = rg_world_def_default();
    def.method = rg_method_find(method);
    return world_of(&def);
}

/* A ball that bounces touches the floor once per bounce, however short that is, and a box at rest
 * once. */
static void bounces_begin_and_end(void **state) {
    (void)state;
    for (int m = 0; m < 2; m++) {
        rg_world *world = world_by(methods[m]);
        rg_contact_law law = {.static_friction = 0, .friction = 0, .restitution = 1};
        assert_int_equal(rg_world_set_material_law(world, (rg_material_id){1}, &law, NULL), RG_OK);
        add_floor(world);
        rg_body_def def = rg_body_def_default();
        def.pose.position = (rg_vec3){0, 0, 1.1};
        add_shape(world, rg_shape_def_sphere(0.1), &def);
        assert_null(rg_world_collision(world));
        assert_int_equal(rg_collision_get(NULL).touch_count, 0);
        size_t began = 0, ended = 0;
        /* 1 m high: meets the floor every 0.903 s, first after 0.4515 s. */
        for (int i = 0; i < 1000; i++) {
            counts n = count_step(world, 0.004);
            began += n.began;
            ended += n.ended;
        }
        assert_int_equal(began, 4);
        assert_int_equal(ended, 4);
        rg_world_destroy(world);
    }
}

/* A sensor in the way tells when a body comes and goes, and makes no force. What a program does
 * between steps loses no end. */
static void sensors_and_edits_are_told_once(void **state) {
    (void)state;
    for (int m = 0; m < 2; m++) {
        rg_world_def world_def = rg_world_def_default();
        world_def.method = rg_method_find(methods[m]);
        world_def.gravity = (rg_vec3){0, 0, 0};
        rg_world *world = world_of(&world_def);
        rg_collider_def collider = rg_collider_def_default();
        collider.sensor = true;
        rg_body_def gate = rg_body_def_default();
        gate.motion = RG_MOTION_FIXED;
        add_collider(world, rg_shape_def_box(0.1, 1, 1), collider, &gate);
        rg_body_id box = add_box(world, "box", (rg_vec3){0.1, 0.1, 0.1}, (rg_vec3){-0.5, 0, 0});
        rg_body_set_velocity(world, box, (rg_vec3){1, 0, 0});
        size_t began = 0, ended = 0;
        for (int i = 0; i < 100; i++) {
            counts n = count_step(world, 0.01);
            began += n.began;
            ended += n.ended;
        }
        assert_int_equal(began, 1);
        assert_int_equal(ended, 1);
        assert_vector(rg_body_velocity(world, box), (rg_vec3){1, 0, 0}, 0);
        move(world, box, (rg_vec3){0, 0, 0});
        assert_int_equal(count_step(world, 0.01).began, 1);
        move(world, box, (rg_vec3){5, 0, 0});
        assert_int_equal(count_step(world, 0.01).ended, 1);
        move(world, box, (rg_vec3){0, 0, 0});
        assert_int_equal(count_step(world, 0.01).began, 1);
        assert_int_equal(rg_world_remove_body(world, box), RG_OK);
        counts last = count_step(world, 0.01);
        assert_int_equal(last.ended, 1);
        assert_int_equal(last.touching, 0);
        rg_world_destroy(world);
    }
}

static void no_friction(void *user, const rg_world *world, const rg_touch *touch,
                        rg_contact_law *law) {
    (void)world;
    (void)touch;
    law->friction = 0; /* enough: there is no static friction without it */
    ++*(int *)user;
}

/* A box that slides at 2 m/s: friction 0.5 stops it after 0.408 s, the function that takes friction
 * away lets it go on. */
static void the_material_function_acts_in_its_step(void **state) {
    (void)state;
    for (int m = 0; m < 2; m++)
        for (int without = 0; without < 2; without++) {
            int called = 0;
            rg_world_def def = rg_world_def_default();
            def.method = rg_method_find(methods[m]);
            def.collision.material = without ? no_friction : NULL;
            def.collision.material_user = &called;
            rg_world *world = world_of(&def);
            add_floor(world);
            rg_body_id box = add_box(world, "box", (rg_vec3){1, 1, 0.2}, (rg_vec3){0, 0, 0.1});
            rg_body_set_velocity(world, box, (rg_vec3){2, 0, 0});
            step_world(world, 0.01, 100);
            double x = rg_body_pose(world, box).position.x;
            /* v t, or v^2 / (2 mu g) (fixed steps: up to v h / 2 of it). */
            if (without)
                assert_near(x, 2, 1e-12);
            else
                assert_near(x, 4 / (2 * 0.5 * 9.81), m == 0 ? 0.011 : 1e-9);
            assert_near(rg_body_velocity(world, box).x, without ? 2 : 0, 1e-10);
            assert_int_equal(called > 0, without);
            rg_world_destroy(world);
        }
}

static void rays_and_casts(void **state) {
    (void)state;
    rg_world *world = default_world();
    rg_body_id floor = add_floor(world);
    rg_body_id low = add_box(world, "low", (rg_vec3){1, 1, 1}, (rg_vec3){0, 0, 2});
    rg_body_id high = add_box(world, "high", (rg_vec3){1, 1, 1}, (rg_vec3){0, 0, 5});
    rg_vec3 down = {0, 0, -2}, from = {0.2, 0.1, 10};
    rg_world_hit hit;
    assert_true(rg_world_cast_ray(world, from, down, INFINITY, NULL, &hit));
    assert_int_equal(hit.body.index1, high.index1);
    assert_near(hit.distance, 4.5, 1e-14);
    assert_vector(hit.point, (rg_vec3){0.2, 0.1, 5.5}, 1e-14);
    assert_vector(hit.normal, (rg_vec3){0, 0, 1}, 0);
    rg_query_filter filter = rg_query_filter_default();
    filter.ignore = high;
    assert_true(rg_world_cast_ray(world, from, down, 100, &filter, &hit));
    assert_int_equal(hit.body.index1, low.index1);
    assert_false(rg_world_cast_ray(world, from, down, 7, &filter, &hit));
    assert_true(rg_world_cast_ray(world, (rg_vec3){3, 0, 10}, down, 100, NULL, &hit));
    assert_int_equal(hit.body.index1, floor.index1);
    filter.mask = 2;
    assert_false(rg_world_cast_ray(world, from, down, 100, &filter, &hit));

    rg_shape *ball = shape_of(rg_shape_def_sphere(0.25));
    bool found;
    assert_int_equal(
        rg_world_cast_shape(world, &(rg_shape_cast){ball, {from, {0, 0, 0, 1}}, {0, 0, -9}, 1e-9},
                            NULL, &found, &hit),
        RG_OK);
    assert_true(found);
    assert_int_equal(hit.body.index1, high.index1);
    assert_near(hit.distance, 4.25, 1e-8);
    assert_true(hit.distance <= 4.25);
    assert_vector(hit.normal, (rg_vec3){0, 0, 1}, 1e-9);
    /* Past the corner of the upper box, into the floor. */
    assert_int_equal(rg_world_cast_shape(
                         world,
                         &(rg_shape_cast){ball, {{0.7, 0.7, 10}, {0, 0, 0, 1}}, {0, 0, -20}, 1e-9},
                         NULL, &found, &hit),
                     RG_OK);
    assert_true(found);
    assert_int_equal(hit.body.index1, floor.index1);
    assert_near(hit.distance, 9.75, 1e-8);
    rg_shape_release(ball);
    rg_world_destroy(world);
}

/* Against brute force over all colliders, by other functions. */
static void overlap_and_nearness(void **state) {
    (void)state;
    rg_world *world = default_world();
    rg_random random = rg_random_make(12);
    for (int i = 0; i < 300; i++) {
        rg_body_id box =
            add_box(world, NULL, (rg_vec3){0.5, 0.7, 0.9},
                    rg_scale(rg_random_between(&random, 0, 6), rg_random_direction(&random)));
        rg_pose pose = rg_body_pose(world, box);
        pose.orientation = rg_random_rotation(&random);
        rg_body_set_pose(world, box, pose);
    }
    rg_shape *probe = shape_of(rg_shape_def_box(0.8, 0.8, 0.8));
    size_t overlaps = 0;
    for (int i = 0, cases = test_cases(200, 200); i < cases; i++) {
        rg_pose pose = {rg_scale(rg_random_between(&random, 0, 9), rg_random_direction(&random)),
                        rg_random_rotation(&random)};
        size_t brute = 0, count;
        double nearest = INFINITY;
        for (size_t k = 0; k < 300; k++) {
            rg_body_id body = rg_world_body_at(world, k);
            rg_collider_def c = rg_collider_get_def(world, rg_body_collider_at(world, body, 0));
            rg_depth depth;
            rg_distance distance;
            assert_int_equal(
                rg_depth_between(c.shape, rg_body_pose(world, body), probe, pose, &depth), RG_OK);
            assert_int_equal(rg_distance_between(c.shape, rg_body_pose(world, body), probe, pose,
                                                 NULL, &distance),
                             RG_OK);
            brute += depth.depth >= 0;
            nearest = fmin(nearest, distance.distance);
        }
        rg_collider_id ids[300];
        assert_int_equal(rg_world_overlap(world, probe, pose, NULL, ids, 300, &count), RG_OK);
        assert_int_equal(count, brute);
        overlaps += count;
        bool found;
        rg_world_hit hit;
        assert_int_equal(rg_world_closest(world, probe, pose, INFINITY, NULL, &found, &hit), RG_OK);
        assert_true(found);
        assert_near(hit.distance, nearest, 1e-12);
        assert_int_equal(rg_world_closest(world, probe, pose, nearest / 2, NULL, &found, &hit),
                         RG_OK);
        assert_int_equal(found, nearest == 0);
    }
    assert_true(overlaps > 100);
    rg_shape *plane = shape_of(rg_shape_def_halfspace((rg_vec3){0, 0, 1}, 0));
    size_t count;
    assert_int_equal(rg_world_overlap(world, plane, rg_pose_identity(), NULL, NULL, 0, &count),
                     RG_INVALID_ARGUMENT);
    rg_shape_release(plane);
    rg_shape_release(probe);
    rg_world_destroy(world);
}

static void bad_defs_are_refused(void **state) {
    (void)state;
    rg_collision *collision;
    rg_error error;
    rg_collision_def def = rg_collision_def_default();
    def.broad_phase = (rg_broad_phase)3;
    assert_int_equal(rg_collision_create(&def, NULL, &collision, &error), RG_INVALID_ARGUMENT);
    assert_string_equal(error.text, "broad phase: there is no value 3");
    def = rg_collision_def_default();
    def.touch = NAN;
    assert_int_equal(rg_collision_create(&def, NULL, &collision, &error), RG_INVALID_ARGUMENT);
    def = rg_collision_def_default();
    def.api_version = 0;
    assert_int_equal(rg_collision_create(&def, NULL, &collision, &error), RG_VERSION_MISMATCH);
}

/* Notes the largest block that was asked for, and has no more than 1 GB. */
static void *measured_resize(void *user, void *pointer, size_t size) {
    size_t *largest = user;
    *largest = size > *largest ? size : *largest;
    return size > (size_t)1 << 30 ? NULL : realloc(pointer, size);
}

static void measured_release(void *user, void *pointer) {
    (void)user;
    free(pointer);
}

/* Slabs of 144 boxes, each on another one, added pair by pair: the 576 points of a pair outgrow the
 * room for them again and again, and only that room grows. */
static void arrays_grow_one_by_one(void **state) {
    (void)state;
    enum { SIDE = 12, PARTS = SIDE * SIDE, PAIRS = 20 };
    size_t largest = 0, points;
    rg_world_def world_def = rg_world_def_default();
    world_def.allocator = (rg_allocator){measured_resize, measured_release, &largest};
    rg_world *world = world_of(&world_def);
    rg_shape *box = shape_of(rg_shape_def_box(0.1, 0.1, 0.1));
    rg_compound_part parts[PARTS];
    for (int i = 0; i < PARTS; i++)
        parts[i] = (rg_compound_part){
            .shape = box,
            .pose = {{0.2 * (i % SIDE) - 1.1, 0.2 * (i / SIDE) - 1.1, 0}, {0, 0, 0, 1}},
            .density = 1000};
    rg_error error;
    for (int k = 0; k < 2 * PAIRS; k++) {
        add_named(world, NULL, rg_shape_def_compound(parts, PARTS),
                  (rg_vec3){3.0 * (k / 2), 0, 0.1 * (k % 2)},
                  k % 2 ? RG_MOTION_DYNAMIC : RG_MOTION_FIXED, rg_collider_def_default());
        if (rg_world_step(world, 1.0 / 240, NULL, &error))
            fail_msg("%s", error.text);
    }
    rg_shape_release(box);
    rg_world_contact_forces(world, &points);
    print_message("%zu points, largest block %zu bytes\n", points, largest);
    assert_int_equal(points, 4 * PARTS * PAIRS);
    assert_true(largest <= 2048 * points); /* bytes; rows take half of that */
    rg_world_destroy(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_grow_one_by_one),
        cmocka_unit_test(contacts_begin_persist_and_end),
        cmocka_unit_test(touching_has_hysteresis),
        cmocka_unit_test(filters_sensors_and_materials),
        cmocka_unit_test(snapshots_carry_the_contacts),
        cmocka_unit_test(a_steady_update_makes_no_heap_call),
        cmocka_unit_test(memory_failures_are_survived),
        cmocka_unit_test(bounces_begin_and_end),
        cmocka_unit_test(sensors_and_edits_are_told_once),
        cmocka_unit_test(the_material_function_acts_in_its_step),
        cmocka_unit_test(rays_and_casts),
        cmocka_unit_test(overlap_and_nearness),
        cmocka_unit_test(bad_defs_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
