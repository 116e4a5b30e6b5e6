/* Compounds: each pair of parts by itself, in order, with caches that are found again. */
#include "contact_helpers.h"

enum { ROOM = 64 };

static rg_manifold manifolds[ROOM];
static rg_contact_point points[ROOM];
static rg_contact_cache caches[2][ROOM];

static rg_contact_list make_list(rg_contact_cache *next) {
    return (rg_contact_list){.manifolds = manifolds,
                             .manifold_capacity = ROOM,
                             .points = points,
                             .point_capacity = ROOM,
                             .caches = next,
                             .cache_capacity = ROOM};
}

/* A table: a top and four legs, on the ground, with a cube on it. */
static rg_shape *make_table(void) {
    rg_shape *top = make_shape(rg_shape_def_box(2, 2, 0.1)),
             *leg = make_shape(rg_shape_def_box(0.1, 0.1, 1));
    rg_compound_part parts[5] = {{top, pose_at(0, 0, 1.05), 1}};
    for (int i = 0; i < 4; i++)
        parts[1 + i] =
            (rg_compound_part){leg, pose_at(i & 1 ? 0.9 : -0.9, i & 2 ? 0.9 : -0.9, 0.5), 1};
    rg_shape *table = make_shape(rg_shape_def_compound(parts, 5));
    rg_shape_release(top);
    rg_shape_release(leg);
    return table;
}

static rg_status find(rg_placed_shape one, rg_placed_shape two, rg_cache_list last, rg_arena *arena,
                      rg_contact_list *list) {
    rg_contact_query query = {.one = one, .two = two, .arena = arena};
    return rg_contact_parts(&query, NULL, last, list);
}

static void table_on_ground(void **state) {
    (void)state;
    rg_shape *table = make_table();
    rg_shape *ground = make_shape(rg_shape_def_halfspace(rg_vec3_make(0, 0, 1), 0));
    rg_arena arena = rg_arena_make(NULL);
    rg_contact_list list = make_list(caches[0]);
    assert_int_equal(find((rg_placed_shape){ground, pose_at(0, 0, 0)},
                          (rg_placed_shape){table, pose_at(3, 4, 0)}, (rg_cache_list){0}, &arena,
                          &list),
                     RG_OK);
    assert_int_equal(list.manifold_count, 4);
    assert_int_equal(list.point_count, 16);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(manifolds[i].part1, 0);
        assert_int_equal(manifolds[i].part2, i + 1);
        assert_int_equal(manifolds[i].first_point, 4 * i);
        assert_int_equal(manifolds[i].point_count, 4);
        for (uint32_t k = 0; k < 4; k++)
            assert_near(points[4 * i + k].position.z, 0, 1e-15);
    }
    assert_int_equal(arena.used, 0);
    rg_arena_free(&arena);
    rg_shape_release(ground);
    rg_shape_release(table);
}

static void caches_are_found_again(void **state) {
    (void)state;
    rg_shape *table = make_table(), *cube = make_shape(rg_shape_def_box(0.5, 0.5, 0.5));
    rg_arena arena = rg_arena_make(NULL);
    uint32_t count = 0;
    for (int step = 0; step < 5; step++) {
        rg_contact_list list = make_list(caches[step & 1]);
        rg_pose pose = pose_at(0.3 + 1e-6 * step, 0.2, 1.35);
        assert_int_equal(find((rg_placed_shape){table, pose_at(0, 0, 0)},
                              (rg_placed_shape){cube, pose},
                              (rg_cache_list){caches[1 - (step & 1)], count}, &arena, &list),
                         RG_OK);
        count = list.cache_count;
        assert_int_equal(list.manifold_count, 1);
        assert_int_equal(list.point_count, 4);
        assert_int_equal(manifolds[0].part1, 0);
        assert_int_equal(manifolds[0].kept, step > 0);
    }
    rg_arena_free(&arena);
    rg_shape_release(cube);
    rg_shape_release(table);
}

/* Two tables stood on each other upside down: 4 legs on 4 legs, turned by nothing. */
static void compound_on_compound(void **state) {
    (void)state;
    rg_shape *table = make_table();
    rg_arena arena = rg_arena_make(NULL);
    rg_contact_list list = make_list(caches[0]);
    rg_pose over = pose_turned(rg_vec3_make(0.02, 0.03, 0), rg_vec3_make(RG_PI, 0, 0));
    assert_int_equal(find((rg_placed_shape){table, over},
                          (rg_placed_shape){table, pose_at(0, 0, 0)}, (rg_cache_list){0}, &arena,
                          &list),
                     RG_OK);
    assert_int_equal(list.manifold_count, 4);
    assert_int_equal(list.point_count, 16);
    for (uint32_t i = 0; i < 4; i++) {
        /* Turned about x: legs at +y come over those at -y. */
        assert_int_equal(manifolds[i].part1 - 1, (manifolds[i].part2 - 1) ^ 2);
        assert_near(manifolds[i].area, 0.08 * 0.07, 1e-14);
        assert_vector(manifolds[i].normal, rg_vec3_make(0, 0, 1), 1e-15);
        if (i > 0)
            assert_true(manifolds[i - 1].part1 < manifolds[i].part1);
    }
    rg_arena_free(&arena);
    rg_shape_release(table);
}

static void too_little_room(void **state) {
    (void)state;
    rg_shape *table = make_table();
    rg_shape *ground = make_shape(rg_shape_def_halfspace(rg_vec3_make(0, 0, 1), 0));
    rg_arena arena = rg_arena_make(NULL);
    rg_contact_list list = make_list(caches[0]);
    list.manifold_capacity = 2;
    assert_int_equal(find((rg_placed_shape){ground, pose_at(0, 0, 0)},
                          (rg_placed_shape){table, pose_at(3, 4, 0)}, (rg_cache_list){0}, &arena,
                          &list),
                     RG_LIMIT_EXCEEDED);
    assert_int_equal(list.manifold_count, 2);
    list = make_list(caches[0]);
    list.point_capacity = 8;
    assert_int_equal(find((rg_placed_shape){ground, pose_at(0, 0, 0)},
                          (rg_placed_shape){table, pose_at(3, 4, 0)}, (rg_cache_list){0}, &arena,
                          &list),
                     RG_LIMIT_EXCEEDED);
    assert_int_equal(list.point_count, 8);
    /* The second leg has room for two of its four points. */
    list = make_list(caches[0]);
    list.point_capacity = 6;
    assert_int_equal(find((rg_placed_shape){ground, pose_at(0, 0, 0)},
                          (rg_placed_shape){table, pose_at(3, 4, 0)}, (rg_cache_list){0}, &arena,
                          &list),
                     RG_LIMIT_EXCEEDED);
    assert_int_equal(list.point_count, 6);
    assert_int_equal(arena.used, 0);
    rg_arena_free(&arena);
    rg_shape_release(ground);
    rg_shape_release(table);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_on_ground),
        cmocka_unit_test(caches_are_found_again),
        cmocka_unit_test(compound_on_compound),
        cmocka_unit_test(too_little_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
