/* Terrain: prisms against hulls of their corners, the tree against all triangles, ways up, height
 * fields, refusals. */
#include "base/base_math.h"
#include "base/base_memory.h"
#include "rigor/random.h"
#include "shape/shape_terrain.h"
#include "test_support.h"

#include <math.h>

enum { CELLS = 12 };

/* Random hills; with `fold` half of them are upside down. */
typedef struct hills {
    rg_vec3 points[(CELLS + 1) * (CELLS + 1)];
    uint32_t triangles[6 * CELLS * CELLS];
    rg_shape_def def;
} hills;

static void make_hills(hills *h, uint64_t seed, bool fold) {
    rg_random random = rg_random_make(seed);
    for (int i = 0; i < (CELLS + 1) * (CELLS + 1); i++) {
        double z = rg_random_between(&random, 0, 0.7);
        double y = i / (CELLS + 1);
        h->points[i] =
            (rg_vec3){i % (CELLS + 1), fold && y > 6 ? 10.3 - y : y, fold && y > 6 ? z + 2 : z};
    }
    for (uint32_t i = 0; i < CELLS * CELLS; i++) {
        uint32_t a = i / CELLS * (CELLS + 1) + i % CELLS, b = a + 1, c = a + CELLS + 1, d = c + 1;
        memcpy(h->triangles + 6 * i, (uint32_t[]){a, b, d, a, d, c}, 6 * sizeof(uint32_t));
    }
    h->def =
        rg_shape_def_terrain(h->points, (CELLS + 1) * (CELLS + 1), h->triangles, 2 * CELLS * CELLS);
}

static rg_shape *create(const rg_shape_def *def) {
    rg_shape *shape;
    rg_error error;
    if (rg_shape_create(def, NULL, &shape, &error))
        fail_msg("%s", error.text);
    return shape;
}

/* Every prism is the hull of its corners, and all arrays agree. */
static void prisms_are_hulls(void **state) {
    (void)state;
    for (int fold = 0; fold < 2; fold++) {
        static hills h;
        make_hills(&h, 7, fold);
        rg_shape *terrain = create(&h.def);
        assert_true((rg_length(rg_shape_get_def(terrain).normal) == 0) == (fold == 1));
        for (uint32_t i = 0; i < 2 * CELLS * CELLS; i++) {
            rg_terrain_room room;
            const rg_shape *prism = rg_terrain_part(terrain, i, &room);
            const rg_polyhedron *p = rg_shape_polyhedron(prism);
            rg_shape_def corners = rg_shape_def_hull(p->vertices, RG_PRISM_VERTICES);
            rg_shape *hull = create(&corners);
            rg_random random = rg_random_make(i);
            assert_int_equal(rg_shape_polyhedron(hull)->vertex_count, RG_PRISM_VERTICES);
            for (int k = 0; k < 20; k++) {
                rg_vec3 n = rg_random_direction(&random);
                assert_near(rg_dot(n, rg_shape_support(prism, n, NULL)),
                            rg_dot(n, rg_shape_support(hull, n, NULL)), 1e-12);
            }
            for (uint32_t f = 0; f < p->facet_count; f++)
                for (uint32_t k = p->facet_start[f]; k < p->facet_start[f + 1]; k++)
                    assert_near(
                        rg_dot(p->normals[f], rg_sub(p->vertices[p->facet_vertices[k]], p->centre)),
                        p->offsets[f], 1e-12);
            /* The top is the triangle that was given. */
            for (int k = 0; k < 3; k++)
                assert_memory_equal(&p->vertices[k], &h.points[h.triangles[3 * i + (uint32_t)k]],
                                    sizeof(rg_vec3));
            assert_true(rg_shape_inradius(prism) > 0);
            rg_shape_release(hull);
        }
        rg_shape_release(terrain);
    }
}

static void neighbours_share_their_sides(void **state) {
    (void)state;
    static hills h;
    make_hills(&h, 3, false);
    rg_shape *terrain = create(&h.def);
    double volume = 0;
    for (uint32_t i = 0; i < 2 * CELLS * CELLS; i++) {
        rg_terrain_room room;
        rg_terrain_part(terrain, i, &room);
        rg_shape_def def = rg_shape_def_hull(room.vertices, RG_PRISM_VERTICES);
        rg_shape *hull = create(&def);
        volume += rg_shape_volume(hull);
        rg_shape_release(hull);
    }
    assert_near(rg_shape_volume(terrain), volume, 1e-9 * volume);
    rg_shape_release(terrain);
}

static bool contains(const uint32_t *list, size_t count, uint32_t number) {
    for (size_t i = 0; i < count; i++)
        if (list[i] == number)
            return true;
    return false;
}

static void the_tree_finds_what_all_do(void **state) {
    (void)state;
    static hills h;
    make_hills(&h, 5, false);
    rg_shape *terrain = create(&h.def);
    rg_allocator memory = rg_allocator_default();
    rg_arena arena = rg_arena_make(&memory);
    rg_random random = rg_random_make(2);
    for (int n = 0; n < test_cases(300, 3000); n++) {
        double x = rg_random_between(&random, -1, CELLS + 1);
        double y = rg_random_between(&random, -1, CELLS + 1);
        double z = rg_random_between(&random, -1, 1);
        double size = rg_random_between(&random, 0, 3);
        rg_bounds b = {{x, y, z}, {x + size, y + size, z + size}};
        uint32_t *list;
        size_t count;
        rg_arena_reset(&arena);
        assert_true(rg_terrain_find(terrain, &b, &arena, &list, &count));
        for (size_t i = 1; i < count; i++)
            assert_true(list[i - 1] < list[i]);
        for (uint32_t i = 0; i < 2 * CELLS * CELLS; i++) {
            rg_terrain_room room;
            rg_bounds own = rg_shape_bounds(rg_terrain_part(terrain, i, &room), rg_pose_identity());
            assert_int_equal(contains(list, count, i), rg_bounds_overlap(&own, &b));
        }
    }
    rg_arena_free(&arena);
    rg_shape_release(terrain);
}

static double edge_distance(rg_vec3 a, rg_vec3 b, rg_vec3 p) {
    rg_vec3 along = rg_sub(b, a);
    double t = rg_dot(along, rg_sub(p, a)) / rg_length_squared(along);
    return rg_length(rg_sub(p, rg_add_scaled(a, fmin(1, fmax(0, t)), along)));
}

/* From a point to a prism, over all its facets and edges; 0 inside. */
static double prism_distance(const rg_shape *terrain, uint32_t triangle, rg_vec3 p) {
    rg_terrain_room room;
    const rg_polyhedron *q = rg_shape_polyhedron(rg_terrain_part(terrain, triangle, &room));
    double least = INFINITY, highest = -INFINITY;
    for (uint32_t f = 0; f < q->facet_count; f++) {
        double height = rg_dot(q->normals[f], rg_sub(p, q->centre)) - q->offsets[f];
        uint32_t from = q->facet_start[f], end = q->facet_start[f + 1];
        bool above = height >= 0;
        highest = fmax(highest, height);
        for (uint32_t k = from; k < end; k++) {
            rg_vec3 a = q->vertices[q->facet_vertices[k]];
            rg_vec3 b = q->vertices[q->facet_vertices[k + 1 < end ? k + 1 : from]];
            rg_vec3 inward = rg_cross(q->normals[f], rg_sub(b, a));
            above = above && rg_dot(inward, rg_sub(p, a)) >= 0;
            least = fmin(least, edge_distance(a, b, p));
        }
        if (above)
            least = fmin(least, height);
    }
    return highest <= 0 ? 0 : least;
}

static rg_vec3 random_in_ball(rg_random *random, double radius) {
    return rg_scale(radius * rg_random_unit(random), rg_random_direction(random));
}

/* What a ball touches anywhere where it may be is found; `only`: what it overlaps, or is nearest to
 * at the end. */
static void no_triangle_on_a_path_is_left_out(void **state) {
    (void)state;
    static hills h;
    rg_allocator memory = rg_allocator_default();
    rg_arena arena = rg_arena_make(&memory);
    rg_random random = rg_random_make(12);
    size_t found = 0, touched = 0;
    for (int n = 0; n < test_cases(200, 5000); n++) {
        make_hills(&h, 5, n % 2);
        rg_shape *terrain = create(&h.def);
        double x = rg_random_between(&random, 0, CELLS), y = rg_random_between(&random, 0, CELLS);
        double z = rg_random_between(&random, 0, 3), r = rg_random_between(&random, 0.1, 2);
        rg_vec3 points[3] = {{x, y, z}};
        for (int i = 1; i < 3; i++)
            points[i] = rg_add(points[0], random_in_ball(&random, 0.3));
        rg_terrain_path path = {.points = points, .count = 1 + n % 3, .radius = r};
        path.slack = rg_random_between(&random, 0, 0.3);
        bool only = n % 4 == 0;
        if (!only && n % 5) {
            path.normal = rg_random_direction(&random);
            path.height = rg_random_between(&random, 0, 0.1);
        }
        uint32_t *list;
        size_t count;
        double least = INFINITY, nearest = INFINITY;
        rg_arena_reset(&arena);
        assert_true(rg_terrain_find_along(terrain, &path, only, &arena, &list, &count));
        found += count;
        for (int k = 0; k < 20; k++) {
            double a = rg_random_unit(&random), b = (1 - a) * rg_random_unit(&random);
            rg_vec3 at = points[0];
            if (path.count > 1)
                at = rg_add_scaled(at, a, rg_sub(points[1], points[0]));
            if (path.count > 2)
                at = rg_add_scaled(at, b, rg_sub(points[2], points[0]));
            if (k == 0)
                at = points[path.count - 1];
            else if (!only)
                at = rg_add(at, random_in_ball(&random, path.slack));
            if (rg_dot(path.normal, rg_sub(at, points[0])) < -path.height)
                continue;
            for (uint32_t i = 0; i < 2 * CELLS * CELLS; i++) {
                double gap = prism_distance(terrain, i, at) - r;
                bool in = contains(list, count, i);
                assert_true(in || gap > 0);
                touched += gap <= 0;
                if (k == 0 && in)
                    nearest = fmin(nearest, gap);
                if (k == 0)
                    least = fmin(least, gap);
            }
        }
        if (only && least < path.slack)
            assert_near(nearest, least, 1e-12);
        rg_shape_release(terrain);
    }
    print_message("%zu triangles found, touched %zu times\n", found, touched);
    rg_arena_free(&arena);
}

static void many_triangles_in_one_place(void **state) {
    (void)state;
    enum { COUNT = 5000 };
    static const rg_vec3 points[3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    uint32_t *triangles = malloc(3 * COUNT * sizeof *triangles);
    for (uint32_t i = 0; i < 3 * COUNT; i++)
        triangles[i] = i % 3;
    rg_shape_def def = rg_shape_def_terrain(points, 3, triangles, COUNT);
    rg_shape *terrain = create(&def);
    rg_allocator memory = rg_allocator_default();
    rg_arena arena = rg_arena_make(&memory);
    rg_bounds b = {{0, 0, -1}, {1, 1, 1}};
    uint32_t *list;
    size_t count;
    assert_true(rg_terrain_find(terrain, &b, &arena, &list, &count));
    assert_int_equal(count, COUNT);
    rg_arena_free(&arena);
    rg_shape_release(terrain);
    free(triangles);
}

/* Of random planes: which prisms have no corner above them, and which points of the plane are over
 * triangles in it. */
static void what_is_under_a_plane(void **state) {
    (void)state;
    static hills h;
    make_hills(&h, 11, false);
    for (int i = 0; i < (CELLS + 1) * (CELLS + 1); i++) /* half of it is flat, on a slope */
        if (i % (CELLS + 1) <= CELLS / 2)
            h.points[i].z = 0.1 * h.points[i].x + 0.3 * h.points[i].y;
    rg_shape *terrain = create(&h.def);
    rg_allocator memory = rg_allocator_default();
    rg_arena arena = rg_arena_make(&memory);
    rg_random random = rg_random_make(8);
    size_t left_out = 0, covered = 0;
    int cases = test_cases(300, 3000);
    for (int n = 0; n < cases; n++) {
        uint32_t which = (uint32_t)rg_random_between(&random, 0, 2 * CELLS * CELLS - 1);
        double x = rg_random_between(&random, -1, CELLS), y = rg_random_between(&random, -1, CELLS);
        rg_bounds b = {{x, y, -2}, {x + 4, y + 4, 6}};
        rg_terrain_room plane_room, room;
        const rg_shape *plane = rg_terrain_plane(terrain, which, &plane_room);
        rg_vec3 normal = plane->def.normal;
        uint32_t *list, *all, under;
        size_t count, all_count, expected = 0;
        rg_terrain_floor floor = {plane, 1e-12, UINT32_MAX};
        assert_true(rg_terrain_find_above(terrain, &b, &floor, &arena, &list, &count));
        assert_true(rg_terrain_find(terrain, &b, &arena, &all, &all_count));
        for (size_t i = 0; i < all_count; i++) {
            const rg_polyhedron *p = rg_shape_polyhedron(rg_terrain_part(terrain, all[i], &room));
            double high = -INFINITY;
            for (int k = 0; k < RG_PRISM_VERTICES; k++)
                high = fmax(high, rg_dot(normal, p->vertices[k]) - plane->def.offset);
            if (high > 1e-12)
                assert_int_equal(list[expected++], all[i]);
            else
                left_out++;
        }
        assert_int_equal(count, expected);
        /* A point over the flat half is covered if the plane is that of the slope. */
        rg_vec3 p = {rg_random_between(&random, -2, CELLS + 2),
                     rg_random_between(&random, -2, CELLS + 2), 0};
        p.z = (plane->def.offset - normal.x * p.x - normal.y * p.y) / normal.z;
        bool slope =
            fabs(normal.x / normal.z + 0.1) < 1e-9 && fabs(normal.y / normal.z + 0.3) < 1e-9;
        bool is = rg_terrain_covers(terrain, plane, p, 1e-12, 0, &under);
        if (slope)
            assert_true(is == (p.x > 0 && p.x < CELLS / 2 && p.y > 0 && p.y < CELLS));
        covered += is;
        rg_arena_reset(&arena);
    }
    print_message("%d cases: %zu triangles left out, %zu points covered\n", cases, left_out,
                  covered);
    assert_true(left_out > (size_t)cases);
    assert_true(covered > (size_t)cases / 15);
    rg_arena_free(&arena);
    rg_shape_release(terrain);
}

static void height_fields(void **state) {
    (void)state;
    static const double heights[6] = {0, 1, 2, 3, 4, 5};
    rg_heights h = {3, 2, 0.5, 2, heights, 0.25};
    rg_shape *shape;
    rg_error error;
    assert_int_equal(rg_shape_create_heights(&h, NULL, &shape, &error), RG_OK);
    rg_shape_def def = rg_shape_get_def(shape);
    assert_int_equal(def.point_count, 6);
    assert_int_equal(def.triangle_count, 4);
    assert_true(def.thickness == 0.25 && def.normal.z == 1);
    assert_true(def.points[0].x == -0.5 && def.points[0].y == -1 && def.points[0].z == 0);
    assert_true(def.points[5].x == 0.5 && def.points[5].y == 1 && def.points[5].z == 5);
    rg_bounds b = rg_shape_bounds(shape, rg_pose_identity());
    assert_true(b.lower.z == -0.25 && b.upper.z == 5);
    rg_shape_release(shape);
    h.rows = 1;
    assert_int_equal(rg_shape_create_heights(&h, NULL, &shape, &error), RG_INVALID_SIZE);
    assert_string_equal(error.text, "heights: 3 columns and 1 rows; must be at least 2 each, and "
                                    "together at most 10000000 points");
    h.rows = 2;
    h.dx = 0;
    assert_int_equal(rg_shape_create_heights(&h, NULL, &shape, &error), RG_INVALID_SIZE);
    assert_string_equal(error.text, "heights: a spacing of 0 by 2 m; must be positive");
}

static void refusals(void **state) {
    (void)state;
    static const rg_vec3 good[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {2, 0, 0}};
    static const rg_vec3 broken[4] = {{0, 0, 0}, {1, NAN, 0}, {0, 1, 0}, {2, 0, 0}};
    static const uint32_t one[3] = {0, 1, 2}, far[3] = {0, 1, 4}, flat[6] = {0, 1, 2, 0, 1, 3};
    struct {
        rg_shape_def def;
        rg_status status;
        const char *text;
    } cases[] = {
        {rg_shape_def_terrain(good, 4, one, 0), RG_INVALID_ARGUMENT,
         "terrain: no triangles; must have at least one, and its corners"},
        {rg_shape_def_terrain(good, 4, far, 1), RG_INVALID_ARGUMENT,
         "terrain: triangle 0 has the corner 4; there are 4 points, from 0"},
        {rg_shape_def_terrain(good, 4, flat, 2), RG_DEGENERATE_GEOMETRY,
         "terrain: triangle 1 has no area; leave it out"},
        {rg_shape_def_terrain(broken, 4, one, 1), RG_NOT_FINITE,
         "terrain: point 1 has the coordinate nan; must be a finite number"},
        {rg_shape_def_terrain(good, 4, one, 1), RG_INVALID_SIZE,
         "terrain: a thickness of -1 m; must be positive, or 0 for the mean length of an edge"}};
    cases[4].def.thickness = -1;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        rg_shape *shape;
        rg_error error;
        assert_int_equal(rg_shape_create(&cases[i].def, NULL, &shape, &error), cases[i].status);
        assert_string_equal(error.text, cases[i].text);
        assert_null(shape);
    }
}

static void memory_may_fail(void **state) {
    (void)state;
    static hills h;
    make_hills(&h, 5, false);
    for (size_t after = 1;; after++) {
        counting_allocator counter;
        rg_allocator allocator = counting_allocator_make(&counter);
        counter.fail_after = after;
        rg_shape *shape;
        rg_status status = rg_shape_create(&h.def, &allocator, &shape, NULL);
        if (status == RG_OK) {
            rg_shape_release(shape);
            break;
        }
        assert_int_equal(status, RG_OUT_OF_MEMORY);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prisms_are_hulls),
        cmocka_unit_test(neighbours_share_their_sides),
        cmocka_unit_test(the_tree_finds_what_all_do),
        cmocka_unit_test(no_triangle_on_a_path_is_left_out),
        cmocka_unit_test(many_triangles_in_one_place),
        cmocka_unit_test(what_is_under_a_plane),
        cmocka_unit_test(height_fields),
        cmocka_unit_test(refusals),
        cmocka_unit_test(memory_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
