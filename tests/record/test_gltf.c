/* Shapes as triangles, for exports: closed, turned outwards, of the shape's volume, and with
 * normals whose support points the vertices are. What a whole file holds is checked by
 * test_record_export.py. */
#include "test_support.h"

#include "base/base_math.h"
#include "record/record_gltf_mesh.h"

#include <string.h>

static const double plate_depth = 0.3, slab_extent = 50;

typedef struct mesh_view {
    const float *positions, *normals;
    const uint32_t *indices;
    size_t vertices, corners;
} mesh_view;

static rg_shape *make_shape(const rg_shape_def *def) {
    rg_shape *shape;
    rg_error error = {0};
    if (rg_shape_create(def, NULL, &shape, &error) != RG_OK)
        fail_msg("%s", error.text);
    return shape;
}

static mesh_view view_of(const rg_mesh_data *mesh) {
    assert_int_equal(mesh->positions.size, 12 * mesh->vertex_count);
    assert_int_equal(mesh->normals.size, 12 * mesh->vertex_count);
    assert_int_equal(mesh->indices.size, 4 * mesh->index_count);
    return (mesh_view){(const float *)(const void *)mesh->positions.data,
                       (const float *)(const void *)mesh->normals.data,
                       (const uint32_t *)(const void *)mesh->indices.data, mesh->vertex_count,
                       mesh->index_count};
}

static rg_vec3 at(const float *numbers, size_t i) {
    return (rg_vec3){(double)numbers[3 * i], (double)numbers[3 * i + 1],
                     (double)numbers[3 * i + 2]};
}

static bool is_same_place(rg_vec3 a, rg_vec3 b) {
    return rg_length(rg_sub(a, b)) < 1e-5;
}

/* Sum of the tetrahedra to the origin. */
static double volume_of(const mesh_view *mesh) {
    double sum = 0;
    for (size_t i = 0; i < mesh->corners; i += 3) {
        rg_vec3 a = at(mesh->positions, mesh->indices[i]);
        rg_vec3 b = at(mesh->positions, mesh->indices[i + 1]);
        rg_vec3 c = at(mesh->positions, mesh->indices[i + 2]);
        sum += rg_dot(a, rg_cross(b, c)) / 6;
    }
    return sum;
}

/* Every edge has its reverse, by place. Tried on every eleventh edge of large meshes. */
static void check_closed(const mesh_view *mesh) {
    for (size_t i = 0; i<mesh->corners; i += mesh->corners> 600 ? 11 : 1) {
        size_t next = i % 3 == 2 ? i - 2 : i + 1, found = 0;
        rg_vec3 a = at(mesh->positions, mesh->indices[i]);
        rg_vec3 b = at(mesh->positions, mesh->indices[next]);
        for (size_t k = 0; k < mesh->corners; k++) {
            size_t after = k % 3 == 2 ? k - 2 : k + 1;
            found += is_same_place(at(mesh->positions, mesh->indices[k]), b) &&
                     is_same_place(at(mesh->positions, mesh->indices[after]), a);
        }
        assert_int_equal(found, 1);
    }
}

/* Triangles have an area, and face where their corners' normals point. */
static void check_faces(const mesh_view *mesh) {
    for (size_t i = 0; i < mesh->corners; i += 3) {
        rg_vec3 corner[3], normal = {0, 0, 0};
        for (size_t k = 0; k < 3; k++) {
            assert_true(mesh->indices[i + k] < mesh->vertices);
            corner[k] = at(mesh->positions, mesh->indices[i + k]);
            normal = rg_add(normal, at(mesh->normals, mesh->indices[i + k]));
        }
        rg_vec3 across = rg_cross(rg_sub(corner[1], corner[0]), rg_sub(corner[2], corner[0]));
        assert_true(rg_length(across) > 1e-8);
        assert_true(rg_dot(rg_normalised(across), rg_normalised(normal)) > 0.97);
    }
    for (size_t i = 0; i < mesh->vertices; i++)
        assert_near(rg_length(at(mesh->normals, i)), 1, 1e-6);
}

/* No point of the shape is farther along a vertex's normal than the vertex. */
static void check_support(const mesh_view *mesh, const rg_shape *shape) {
    for (size_t i = 0; i < mesh->vertices; i++) {
        rg_vec3 normal = at(mesh->normals, i), vertex = at(mesh->positions, i);
        double farthest = rg_dot(normal, rg_shape_support(shape, normal, NULL));
        assert_near(rg_dot(normal, vertex), farthest, 1e-5);
    }
}

static void test_solids(void **state) {
    (void)state;
    const rg_vec3 points[] = {{0, 0, 0},     {1, 0, 0},       {0, 1, 0},   {0, 0, 1},
                              {0.9, 0.8, 1}, {0.2, 0.3, 0.2}, {1, 0.9, 0}, {-0.5, 0.4, 0.6}};
    const rg_shape_def defs[] = {rg_shape_def_box(1, 2, 3),      rg_shape_def_sphere(0.7),
                                 rg_shape_def_capsule(0.4, 1.5), rg_shape_def_cylinder(0.6, 0.8),
                                 rg_shape_def_cone(0.5, 1.2),    rg_shape_def_ellipsoid(1, 0.4, 2),
                                 rg_shape_def_hull(points, 8)};
    for (size_t i = 0; i < sizeof defs / sizeof defs[0]; i++) {
        rg_shape *shape = make_shape(&defs[i]);
        rg_mesh_data data = rg_mesh_data_make(NULL);
        assert_int_equal(rg_mesh_data_add(&data, shape, plate_depth, slab_extent), RG_OK);
        mesh_view mesh = view_of(&data);
        check_faces(&mesh);
        check_closed(&mesh);
        check_support(&mesh, shape);
        double volume = rg_shape_volume(shape);
        bool is_flat = rg_shape_polyhedron(shape) != NULL;
        assert_near(volume_of(&mesh) / volume, 1, is_flat ? 1e-6 : 0.012);
        rg_mesh_data_free(&data);
        rg_shape_release(shape);
    }
}

static void test_plates(void **state) {
    (void)state;
    const rg_vec3 corners[] = {{0, 0, 0}, {2, 0, 0}, {2.5, 0, 1}, {1, 0, 2}};
    const rg_shape_def defs[] = {rg_shape_def_disc(0.8), rg_shape_def_polygon(corners, 4)};
    for (size_t i = 0; i < sizeof defs / sizeof defs[0]; i++) {
        rg_shape *shape = make_shape(&defs[i]);
        rg_mesh_data data = rg_mesh_data_make(NULL);
        assert_int_equal(rg_mesh_data_add(&data, shape, plate_depth, slab_extent), RG_OK);
        mesh_view mesh = view_of(&data);
        check_faces(&mesh);
        check_closed(&mesh);
        for (size_t k = 0; k < mesh.vertices; k++) {
            rg_vec3 normal = at(mesh.normals, k), vertex = at(mesh.positions, k);
            assert_near(fabs(vertex.y), plate_depth / 2, 1e-6);
            if (normal.y == 0)
                assert_near(rg_dot(normal, vertex),
                            rg_dot(normal, rg_shape_support(shape, normal, NULL)), 1e-5);
        }
        assert_near(volume_of(&mesh) / (rg_shape_volume(shape) * plate_depth), 1, 0.004);
        rg_mesh_data_free(&data);
        rg_shape_release(shape);
    }
}

static void test_slab(void **state) {
    (void)state;
    rg_shape_def def = rg_shape_def_halfspace((rg_vec3){0, 1, 1}, 3);
    rg_shape *shape = make_shape(&def);
    rg_mesh_data data = rg_mesh_data_make(NULL);
    assert_int_equal(rg_mesh_data_add(&data, shape, plate_depth, slab_extent), RG_OK);
    mesh_view mesh = view_of(&data);
    check_faces(&mesh);
    check_closed(&mesh);
    for (size_t k = 0; k < mesh.vertices; k++) {
        rg_vec3 vertex = at(mesh.positions, k);
        assert_near(fabs(vertex.x), slab_extent / 2, 1e-5);
        assert_true(vertex.z <= 0 && vertex.z >= -plate_depth - 1e-6);
    }
    assert_near(volume_of(&mesh), slab_extent * slab_extent * plate_depth, 1e-3);
    rg_mesh_data_free(&data);
    rg_shape_release(shape);
}

static void test_no_memory(void **state) {
    (void)state;
    rg_shape_def def = rg_shape_def_capsule(1, 1);
    rg_shape *shape = make_shape(&def);
    counting_allocator counter;
    rg_allocator allocator = counting_allocator_make(&counter);
    rg_status status = RG_OUT_OF_MEMORY;
    for (size_t n = 1; status != RG_OK; n++) {
        counter = (counting_allocator){.fail_after = n};
        rg_mesh_data data = rg_mesh_data_make(&allocator);
        status = rg_mesh_data_add(&data, shape, plate_depth, slab_extent);
        assert_true(status == RG_OK || status == RG_OUT_OF_MEMORY);
        assert_true(n < 1000);
        rg_mesh_data_free(&data);
    }
    rg_shape_release(shape);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_solids),
        cmocka_unit_test(test_plates),
        cmocka_unit_test(test_slab),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
