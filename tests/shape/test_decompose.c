/* Convex decomposition: exact ones of polyhedra with few notches, hulls within an error, distance,
 * mass; the tree of a mesh and the inside of it against all triangles. */
#include "base/base_math.h"
#include "base/base_memory.h"
#include "base/base_trig.h"
#include "rigor/decompose.h"
#include "rigor/random.h"
#include "shape/shape_mesh_tree.h"
#include "shape_helpers.h"

#include <math.h>
#include <stdio.h>

enum { MOST_VERTICES = 4096, MOST_TRIANGLES = 8192 };

typedef struct solid {
    rg_vec3 vertices[MOST_VERTICES];
    uint32_t triangles[3 * MOST_TRIANGLES];
    rg_mesh mesh;
} solid;

static void finish(solid *s, size_t vertices, size_t triangles) {
    s->mesh = (rg_mesh){s->vertices, vertices, s->triangles, triangles, rg_allocator_default()};
}

static void put(solid *s, size_t *count, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
    memcpy(s->triangles + *count, (uint32_t[]){a, b, c, a, c, d}, 6 * sizeof(uint32_t));
    *count += 6;
}

/* A torus of `around` segments with a section of `sides`, faces flat. */
static void make_torus(solid *s, uint32_t around, uint32_t sides, double large, double small) {
    size_t count = 0;
    for (uint32_t i = 0; i < around; i++)
        for (uint32_t k = 0; k < sides; k++) {
            double u = 2 * RG_PI * i / around, v = 2 * RG_PI * (k + 0.5) / sides;
            double r = large + small * rg_cos(v);
            s->vertices[i * sides + k] = (rg_vec3){r * rg_cos(u), r * rg_sin(u), small * rg_sin(v)};
            uint32_t j = (i + 1) % around, l = (k + 1) % sides;
            put(s, &count, i * sides + k, j * sides + k, j * sides + l, i * sides + l);
        }
    finish(s, (size_t)around * sides, count / 3);
}

/* A prism over a polygon that is a star-shaped band about the origin: radius[i] at angle i. */
static void make_prism(solid *s, const double *radius, uint32_t corners, double height) {
    size_t count = 0;
    for (uint32_t i = 0; i < corners; i++) {
        double u = 2 * RG_PI * i / corners;
        s->vertices[i] = (rg_vec3){radius[i] * rg_cos(u), radius[i] * rg_sin(u), 0};
        s->vertices[corners + i] = (rg_vec3){s->vertices[i].x, s->vertices[i].y, height};
    }
    s->vertices[2 * corners] = (rg_vec3){0, 0, 0};
    s->vertices[2 * corners + 1] = (rg_vec3){0, 0, height};
    for (uint32_t i = 0; i < corners; i++) {
        uint32_t next = (i + 1) % corners;
        put(s, &count, i, next, corners + next, corners + i);
        memcpy(s->triangles + count,
               (uint32_t[]){next, i, 2 * corners, corners + i, corners + next, 2 * corners + 1},
               6 * sizeof(uint32_t));
        count += 6;
    }
    finish(s, 2 * (size_t)corners + 2, count / 3);
}

static rg_decomposition decompose(const rg_mesh *mesh, size_t parts, double error) {
    rg_decomposition d;
    rg_error cause = {0};
    rg_decomposition_options options = {.parts = parts, .error = error};
    if (rg_mesh_decompose(mesh, &options, &d, &cause))
        fail_msg("%s", cause.text);
    return d;
}

/* Parts fill the solid: volumes add up, and random points are in a part where they are inside. */
static void check_filled(const rg_mesh *mesh, const rg_decomposition *d, uint64_t seed) {
    rg_random random = rg_random_make(seed);
    rg_mesh_tree tree;
    assert_int_equal(rg_mesh_tree_build(&tree, mesh, &mesh->allocator), RG_OK);
    rg_bounds b = tree.boxes.nodes[0].bounds;
    for (int i = 0; i < 500; i++) {
        double x = rg_random_between(&random, b.lower.x, b.upper.x);
        double y = rg_random_between(&random, b.lower.y, b.upper.y);
        double z = rg_random_between(&random, b.lower.z, b.upper.z);
        rg_vec3 p = {x, y, z};
        uint32_t nearest;
        double distance = rg_mesh_tree_distance(&tree, p, &nearest), all = INFINITY;
        for (uint32_t t = 0; t < mesh->triangle_count; t++)
            all = fmin(all, rg_mesh_triangle_distance(mesh, t, p));
        assert_near(distance, all, 0);
        bool inside = rg_mesh_tree_inside(&tree, p);
        assert_near(rg_mesh_winding(mesh, p), inside, 1e-9);
        double deepest = -INFINITY;
        for (size_t k = 0; k < d->part_count; k++) {
            const rg_polyhedron *q = rg_shape_polyhedron(d->parts[k]);
            double least = INFINITY;
            for (uint32_t f = 0; f < q->facet_count; f++)
                least = fmin(least, q->offsets[f] - rg_dot(q->normals[f], rg_sub(p, q->centre)));
            deepest = fmax(deepest, least);
        }
        if (inside)
            assert_true(deepest > -1e-9);
        else if (d->error < 1e-9)
            assert_true(deepest < 1e-9);
    }
    rg_mesh_tree_free(&tree, &mesh->allocator);
}

static void l_prism_is_two_boxes(void **state) {
    (void)state;
    rg_mesh mesh;
    rg_mesh_report report;
    rg_error error = {0};
    assert_int_equal(
        rg_mesh_read_file(RIGOR_TEST_DATA "/meshes/l_prism.obj", NULL, &mesh, &report, &error),
        RG_OK);
    rg_decomposition d = decompose(&mesh, 0, 0);
    assert_int_equal(d.notches, 1);
    assert_int_equal(d.part_count, 2);
    assert_near(d.parts_volume, 3, 1e-12);
    assert_true(d.error < 1e-12);
    check_filled(&mesh, &d, 1);
    rg_decomposition_distance far;
    assert_int_equal(rg_decomposition_measure(&mesh, &d, 0.01, &far, &error), RG_OK);
    assert_near(far.least, 0, 1e-12);
    assert_true(far.most <= 0.01);
    /* One part: the hull, larger by half of a square of 1 m, 0.5 m from either leg. */
    rg_decomposition_destroy(&d);
    d = decompose(&mesh, 1, 0);
    assert_near(d.parts_volume, 3.5, 1e-12);
    assert_near(d.error, 0.5 / 3, 1e-12);
    assert_int_equal(rg_decomposition_measure(&mesh, &d, 1e-4, &far, &error), RG_OK);
    assert_true(far.least <= 0.5 + 1e-12 && far.most >= 0.5 - 1e-12);
    assert_true(far.most - far.least <= 1e-4);
    rg_decomposition_destroy(&d);
    rg_mesh_destroy(&mesh);
}

static void torus_is_a_ring_of_wedges(void **state) {
    (void)state;
    static solid s;
    make_torus(&s, 16, 8, 1, 0.3);
    rg_decomposition d = decompose(&s.mesh, 0, 0);
    assert_int_equal(d.part_count, 16);
    assert_true(d.error < 1e-12);
    check_filled(&s.mesh, &d, 2);
    rg_shape *shape;
    rg_error error = {0};
    rg_mass_properties mass;
    assert_int_equal(rg_decomposition_shape(&s.mesh, &d, &shape, &error), RG_OK);
    assert_int_equal(rg_mesh_mass(&s.mesh, 1, &mass, &error), RG_OK);
    rg_mass_properties own = rg_shape_mass(shape, 1);
    assert_near(own.mass, mass.mass, 0);
    assert_near(rg_length(rg_sub(own.centre, mass.centre)), 0, 0);
    assert_near(own.inertia.m[2][2], mass.inertia.m[2][2], 0);
    rg_shape_release(shape);
    rg_decomposition_destroy(&d);
}

/* A cup with a thin wall: profile turned about z, all of whose cuts go through walls on both
 * sides. */
static void make_cup(solid *s, uint32_t around, double wall) {
    double profile[4][2] = {{1, 0}, {1, 2}, {1 - wall, 2}, {1 - wall, wall}};
    size_t count = 0;
    for (uint32_t k = 0; k < 4; k++)
        for (uint32_t i = 0; i < around; i++) {
            double u = 2 * RG_PI * i / around;
            s->vertices[k * around + i] =
                (rg_vec3){profile[k][0] * rg_cos(u), profile[k][0] * rg_sin(u), profile[k][1]};
        }
    s->vertices[4 * around] = (rg_vec3){0, 0, 0};
    s->vertices[4 * around + 1] = (rg_vec3){0, 0, wall};
    for (uint32_t i = 0; i < around; i++) {
        uint32_t next = (i + 1) % around;
        for (uint32_t k = 0; k < 3; k++)
            put(s, &count, k * around + i, k * around + next, (k + 1) * around + next,
                (k + 1) * around + i);
        memcpy(s->triangles + count,
               (uint32_t[]){next, i, 4 * around, 3 * around + i, 3 * around + next, 4 * around + 1},
               6 * sizeof(uint32_t));
        count += 6;
    }
    finish(s, 4 * (size_t)around + 2, count / 3);
}

/* Sections are rings, then walls on both sides: they stay as small as they are. The floor is of one
 * part at least, and each facet of the wall inside of another one. */
static void thin_cup_is_filled(void **state) {
    (void)state;
    static solid s;
    rg_error error = {0};
    for (uint32_t around = 12; around <= 24; around += 12) {
        make_cup(&s, around, 0.05);
        rg_decomposition d = decompose(&s.mesh, 0, 0);
        assert_int_equal(d.notches, 2 * around);
        assert_true(d.part_count > around && d.part_count <= 4 * around);
        assert_true(d.error < 1e-12);
        assert_near(d.parts_volume, d.volume, 1e-12);
        check_filled(&s.mesh, &d, around);
        rg_decomposition_distance far;
        assert_int_equal(rg_decomposition_measure(&s.mesh, &d, 1e-3, &far, &error), RG_OK);
        assert_true(far.least < 1e-12 && far.most <= far.least + 1e-3);
        rg_decomposition_destroy(&d);
    }
    /* Its hull reaches to the middle of the opening: 1.95 m above the floor, but at most 0.95 m
     * from the wall. */
    rg_decomposition hull = decompose(&s.mesh, 1, 0);
    rg_decomposition_distance far;
    assert_int_equal(rg_decomposition_measure(&s.mesh, &hull, 1e-3, &far, &error), RG_OK);
    double apothem = 0.95 * rg_cos(RG_PI / 24);
    assert_true(far.least <= apothem && far.most >= apothem && far.most <= far.least + 1e-3);
    rg_decomposition_destroy(&hull);
}

static void random_stars_are_filled(void **state) {
    (void)state;
    static solid s;
    for (uint64_t seed = 0; seed < 12; seed += (uint64_t)test_stride()) {
        rg_random random = rg_random_make(seed);
        double radius[12];
        for (int i = 0; i < 12; i++)
            radius[i] = rg_random_between(&random, 0.3, 1);
        make_prism(&s, radius, 12, 0.5);
        rg_decomposition d = decompose(&s.mesh, 0, 0);
        assert_true(d.error < 1e-9);
        assert_near(d.parts_volume, d.volume, 1e-9 * d.volume);
        assert_true(d.part_count <= 24);
        check_filled(&s.mesh, &d, seed);
        rg_decomposition_destroy(&d);
    }
}

/* Hulls of pieces hold them, with the error that was asked for. */
static void error_is_kept(void **state) {
    (void)state;
    static solid s;
    make_torus(&s, 24, 12, 1, 0.4);
    double last = INFINITY;
    for (double wanted = 0.2; wanted > 0.01; wanted /= 4) {
        rg_decomposition d = decompose(&s.mesh, 0, wanted);
        assert_true(d.error <= wanted && d.error < last);
        last = d.error;
        assert_near(d.parts_volume, d.volume * (1 + d.error), 1e-9 * d.volume);
        check_filled(&s.mesh, &d, 3);
        rg_decomposition_destroy(&d);
    }
    rg_decomposition d = decompose(&s.mesh, 6, 0);
    assert_true(d.part_count >= 6 && d.part_count <= 8);
    rg_decomposition_destroy(&d);
}

/* One part, the hull of a torus, has the mass of the torus all the same. */
static void one_part_has_the_mass_of_the_mesh(void **state) {
    (void)state;
    static solid s;
    rg_error error = {0};
    rg_mass_properties mass, own;
    rg_shape *shape;
    make_torus(&s, 24, 12, 1, 0.4);
    rg_decomposition d = decompose(&s.mesh, 1, 0);
    assert_int_equal(d.part_count, 1);
    assert_int_equal(rg_mesh_mass(&s.mesh, 1000, &mass, &error), RG_OK);
    assert_int_equal(rg_decomposition_shape(&s.mesh, &d, &shape, &error), RG_OK);
    own = rg_shape_mass(shape, 1000);
    assert_near(own.mass, mass.mass, 1e-12 * mass.mass);
    assert_near(own.inertia.m[2][2], mass.inertia.m[2][2], 1e-12 * mass.inertia.m[2][2]);
    rg_shape_release(shape);
    rg_decomposition_destroy(&d);
}

static void bad_ones_are_refused(void **state) {
    (void)state;
    static solid s;
    rg_decomposition d;
    rg_error error = {0};
    make_torus(&s, 8, 6, 1, 0.3);
    s.mesh.triangle_count--;
    assert_int_equal(rg_mesh_decompose(&s.mesh, NULL, &d, &error), RG_NOT_WATERTIGHT);
    assert_null(d.parts);
    s.mesh.triangle_count++;
    assert_int_equal(
        rg_mesh_decompose(&s.mesh, &(rg_decomposition_options){.error = NAN}, &d, &error),
        RG_INVALID_ARGUMENT);
}

static void runs_out_of_memory_cleanly(void **state) {
    (void)state;
    static solid s;
    make_torus(&s, 6, 4, 1, 0.3);
    rg_status status = RG_OUT_OF_MEMORY;
    for (size_t allowed = 1; status == RG_OUT_OF_MEMORY; allowed += 31) {
        counting_allocator memory;
        rg_allocator allocator = counting_allocator_make(&memory);
        memory.fail_after = allowed;
        rg_decomposition d;
        rg_error error = {0};
        status = rg_mesh_decompose(&s.mesh, &(rg_decomposition_options){.allocator = &allocator},
                                   &d, &error);
        rg_decomposition_destroy(&d);
    }
    assert_int_equal(status, RG_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(l_prism_is_two_boxes), cmocka_unit_test(torus_is_a_ring_of_wedges),
        cmocka_unit_test(thin_cup_is_filled),   cmocka_unit_test(random_stars_are_filled),
        cmocka_unit_test(error_is_kept),        cmocka_unit_test(one_part_has_the_mass_of_the_mesh),
        cmocka_unit_test(bad_ones_are_refused), cmocka_unit_test(runs_out_of_memory_cleanly)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
