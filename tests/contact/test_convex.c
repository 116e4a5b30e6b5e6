/* The convex parts of a world, and which of them may meet: against a look at all pairs. */
#include "test_world_support.h"

#include "contact/contact_convex.h"
#include "shape/shape_terrain.h"
#include "world/world.h"

enum { BODIES = 40 };

static rg_collider_def draw_collider(rg_random *random, bool sensor) {
    rg_collider_def def = rg_collider_def_default();
    def.sensor = sensor;
    def.pose.position.x = rg_random_between(random, -0.1, 0.1);
    def.pose.orientation = rg_random_rotation(random);
    def.category = UINT64_C(1) << (int)rg_random_between(random, 0, 2.999);
    def.mask = ~(UINT64_C(1) << (int)rg_random_between(random, 0, 8.999));
    return def;
}

/* Boxes and compounds of two of them, some fixed, some sensors; two half-spaces; a hinge. */
static rg_world *make_world(uint64_t seed) {
    rg_random random = rg_random_make(seed);
    rg_world *world = default_world();
    rg_shape *box = shape_of(rg_shape_def_box(0.3, 0.4, 0.5));
    rg_compound_part halves[2] = {
        {.shape = box, .pose = {{-0.3, 0, 0}, {0, 0, 0, 1}}, .density = 1},
        {.shape = box, .pose = {{0.3, 0, 0}, {0, 0, 0, 1}}, .density = 1}};
    for (int i = 0; i < BODIES; i++) {
        rg_body_def def = rg_body_def_default();
        bool sensor = i % 7 == 3; /* which has no mass */
        def.motion = i % 5 && !sensor ? RG_MOTION_DYNAMIC : RG_MOTION_FIXED;
        def.pose.position.x = rg_random_between(&random, 0, 1.5);
        def.pose.position.y = rg_random_between(&random, 0, 1.5);
        def.pose.position.z = rg_random_between(&random, 0, 1.5);
        rg_shape_def shape = i % 10 == 0  ? rg_shape_def_halfspace((rg_vec3){0, 0, 1}, -3)
                             : i % 3 == 0 ? rg_shape_def_compound(halves, 2)
                                          : rg_shape_def_box(0.3, 0.4, 0.5);
        add_collider(world, shape, draw_collider(&random, sensor), &def);
    }
    rg_shape_release(box);
    rg_world_remove_body(world, rg_world_body_at(world, 7)); /* another one takes its number */
    rg_joint_def hinge = rg_joint_def_default(RG_JOINT_HINGE);
    hinge.body_a = rg_world_body_at(world, 1);
    hinge.body_b = rg_world_body_at(world, 2);
    rg_joint_id joint;
    assert_int_equal(rg_world_add_joint(world, &hinge, &joint, NULL), RG_OK);
    return world;
}

static rg_pose pose_of(const rg_world_content *c, const rg_convex_part *p) {
    return rg_pose_compose((rg_pose){c->position[p->body], c->orientation[p->body]}, p->local);
}

static bool overlap(const rg_bounds *x, const rg_bounds *y) {
    return x->lower.x <= y->upper.x && y->lower.x <= x->upper.x && x->lower.y <= y->upper.y &&
           y->lower.y <= x->upper.y && x->lower.z <= y->upper.z && y->lower.z <= x->upper.z;
}

/* By their definition, from the colliders. */
static bool may_meet(const rg_world_content *c, const rg_convex_part *p, const rg_convex_part *q) {
    const rg_collider *a = &c->collider[rg_handle_index(&c->colliders, RG_HANDLE(p->collider))];
    const rg_collider *b = &c->collider[rg_handle_index(&c->colliders, RG_HANDLE(q->collider))];
    bool forces = c->record[p->body].motion == RG_MOTION_DYNAMIC ||
                  c->record[q->body].motion == RG_MOTION_DYNAMIC;
    bool joined = p->body + q->body == 3 && (p->body == 1 || p->body == 2);
    return p->body != q->body && forces && !joined && (a->category & b->mask) &&
           (b->category & a->mask) &&
           (rg_shape_is_bounded(p->shape) || rg_shape_is_bounded(q->shape));
}

/* All parts of what is no sensor, each where its collider puts it. */
static void check_parts(const rg_world_content *c, const rg_convex_part *parts, size_t count) {
    size_t k = 0;
    for (size_t slot = 0; slot < c->colliders.slot_count; slot++) {
        if (!c->colliders.slots[slot].generation)
            continue;
        const rg_collider *collider = &c->collider[c->colliders.slots[slot].dense];
        size_t body = rg_body_dense(c, collider->body);
        rg_shape_def def = rg_shape_get_def(collider->shape);
        bool whole = rg_shape_is_convex(collider->shape);
        rg_pose pose = rg_pose_compose(rg_body_origin_pose(c, body), collider->pose);
        for (uint32_t j = 0; !collider->sensor && j < (whole ? 1 : def.part_count); j++, k++) {
            assert_true(k < count && parts[k].body == body && parts[k].index == j);
            rg_pose expected = whole ? pose : rg_pose_compose(pose, def.parts[j].pose);
            rg_pose found = pose_of(c, &parts[k]);
            rg_vec3 point = {0.1, 0.2, 0.3}; /* of the part: it is turned as it should be, too */
            assert_vector(found.position, expected.position, 1e-14);
            assert_vector(rg_pose_apply(found, point), rg_pose_apply(expected, point), 1e-14);
        }
    }
    assert_int_equal(k, count);
}

/* From round to round the collision has other bounds, and another number of parts. */
static void pairs_are_those_of_all(void **state) {
    (void)state;
    rg_collision_def def = rg_collision_def_default();
    rg_collision *collision;
    assert_int_equal(rg_collision_create(&def, NULL, &collision, NULL), RG_OK);
    rg_arena arena = rg_arena_make(NULL);
    size_t pairs_of_all = 0;
    for (int seed = 0; seed < 20; seed++) {
        rg_world *world = make_world((uint64_t)seed % 4 + 1);
        const rg_world_content *c = &world->content;
        rg_convex_part *parts;
        size_t all, at = 0;
        assert_int_equal(rg_convex_parts_make(c, &arena, &parts, &all), RG_OK);
        check_parts(c, parts, all);
        size_t count = seed % 3 == 1 ? all / 2 : all;
        rg_bounds *bounds = rg_arena_take(&arena, count, sizeof *bounds);
        for (size_t i = 0; i < count; i++)
            bounds[i] = rg_bounds_enlarged(rg_shape_bounds(parts[i].shape, pose_of(c, &parts[i])),
                                           0.01 * seed);
        rg_broad_pairs pairs;
        assert_int_equal(
            rg_collision_meet_parts(collision, c, parts, bounds, count, &arena, &pairs), RG_OK);
        for (uint32_t i = 0; i < count; i++)
            for (uint32_t k = i + 1; k < count; k++) {
                if (!may_meet(c, &parts[i], &parts[k]) || !overlap(&bounds[i], &bounds[k]))
                    continue;
                assert_true(at < pairs.count);
                assert_int_equal(pairs.pairs[at].a, i);
                assert_int_equal(pairs.pairs[at++].b, k);
            }
        assert_int_equal(at, pairs.count);
        pairs_of_all += at;
        rg_arena_reset(&arena);
        rg_world_destroy(world);
    }
    assert_true(pairs_of_all > 500);
    rg_arena_free(&arena);
    rg_collision_destroy(collision);
}

/* A turned height field of so many cells. */
static rg_body_id add_field(rg_world *world, rg_random *random, size_t cells) {
    double heights[32 * 32];
    for (size_t i = 0; i < (cells + 1) * (cells + 1); i++)
        heights[i] = rg_random_between(random, 0, 0.3);
    rg_heights field = {cells + 1, cells + 1, 0.2, 0.15, heights, 0};
    rg_collider_def collider = rg_collider_def_default();
    assert_int_equal(rg_shape_create_heights(&field, NULL, (rg_shape **)&collider.shape, NULL),
                     RG_OK);
    rg_body_def def = rg_body_def_default();
    def.motion = RG_MOTION_FIXED;
    def.pose = (rg_pose){{0.7, 0.7, 0.2}, rg_random_rotation(random)};
    def.colliders = &collider;
    def.collider_count = 1;
    rg_body_id body = body_of(world, &def);
    rg_shape_release((rg_shape *)collider.shape);
    return body;
}

/* Behind the parts of bodies come prisms, each once and in order: those whose bounds, in the frame
 * of the terrain, a dynamic part reaches. */
static void terrain_within_reach(void **state) {
    (void)state;
    rg_arena arena = rg_arena_make(NULL);
    size_t found = 0, left = 0;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        rg_random random = rg_random_make(seed);
        rg_world *world = make_world(seed);
        size_t field = rg_body_dense(&world->content, add_field(world, &random, 31));
        const rg_world_content *c = &world->content;
        rg_convex_part *parts;
        size_t own, count, at;
        assert_true(rg_convex_has_terrain(c));
        assert_int_equal(rg_convex_parts_make(c, &arena, &parts, &own), RG_OK);
        rg_bounds *bounds = rg_arena_take(&arena, own, sizeof *bounds);
        for (size_t i = 0; i < own; i++)
            bounds[i] = rg_shape_bounds(parts[i].shape, pose_of(c, &parts[i]));
        count = at = own;
        assert_int_equal(rg_convex_add_terrain(c, bounds, &arena, &parts, &count), RG_OK);
        const rg_shape *shape = c->collider[c->colliders.count - 1].shape;
        for (uint32_t t = 0; t < 2 * 31 * 31; t++) {
            rg_terrain_room room;
            rg_pose pose = {c->position[field], c->orientation[field]};
            rg_bounds box = rg_shape_bounds(rg_terrain_part(shape, t, &room), rg_pose_identity());
            bool near = false, listed = at < count && parts[at].index == t;
            for (size_t i = 0; i < own; i++) {
                rg_bounds local = rg_bounds_into(&bounds[i], pose);
                near |= parts[i].dynamic && overlap(&local, &box);
            }
            assert_true(listed == near);
            if (listed) {
                assert_true(parts[at].number == own && parts[at].body == field);
                assert_vector(pose_of(c, &parts[at]).position, pose.position, 1e-14);
                at++;
            }
            found += listed;
            left += !listed;
        }
        assert_int_equal(at, count);
        rg_arena_reset(&arena);
        rg_world_destroy(world);
    }
    assert_true(found > 1000 && left > 1000);
    rg_arena_free(&arena);
}

/* A ball over a turned field: no triangle that it touches is missing, and of the whole field few
 * are listed. */
static void terrain_under_a_ball(void **state) {
    (void)state;
    const double radius = 0.3;
    rg_arena arena = rg_arena_make(NULL);
    size_t touched = 0;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        rg_random random = rg_random_make(seed);
        rg_world *world = default_world();
        rg_body_def def = rg_body_def_default();
        add_collider(world, rg_shape_def_sphere(radius), rg_collider_def_default(), &def);
        size_t field = rg_body_dense(&world->content, add_field(world, &random, 31));
        const rg_world_content *c = &world->content;
        rg_pose pose = {c->position[field], c->orientation[field]};
        rg_convex_part *parts;
        size_t own, count;
        assert_int_equal(rg_convex_parts_make(c, &arena, &parts, &own), RG_OK);
        assert_int_equal(own, 1);
        rg_bounds bounds = rg_shape_bounds(parts[0].shape, pose_of(c, &parts[0]));
        count = own;
        assert_int_equal(rg_convex_add_terrain(c, &bounds, &arena, &parts, &count), RG_OK);
        const rg_shape *shape = c->collider[c->colliders.count - 1].shape;
        rg_vec3 centre = rg_pose_apply_inverse(pose, pose_of(c, &parts[0]).position);
        size_t at = own;
        for (uint32_t t = 0; t < 2 * 31 * 31; t++) {
            bool listed = at < count && parts[at].index == t;
            bool touches = rg_terrain_distance(shape, t, centre) <= radius;
            assert_true(listed || !touches);
            touched += touches;
            at += listed;
        }
        assert_int_equal(at, count);
        assert_true(count - own < 31 * 31);
        rg_arena_reset(&arena);
        rg_world_destroy(world);
    }
    assert_true(touched > 20);
    rg_arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(pairs_are_those_of_all),
                                       cmocka_unit_test(terrain_within_reach),
                                       cmocka_unit_test(terrain_under_a_ball)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
