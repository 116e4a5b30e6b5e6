/* Bad meshes: each flaw is found where it was made, mending says what it did and leaves a closed
 * surface; a million degenerate triangles are no trouble. */
#include "base/base_memory.h"
#include "shape_helpers.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

enum { LIST = RG_MESH_FLAW_COUNT * RG_MESH_FLAWS_LISTED };

static const char cube[] =
    "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\n"
    "f 1 3 2\nf 1 4 3\nf 5 6 7\nf 5 7 8\nf 1 2 6\nf 1 6 5\n"
    "f 2 3 7\nf 2 7 6\nf 3 4 8\nf 3 8 7\nf 4 1 5\n";
#define LAST_FACE "f 4 5 8\n"

static rg_mesh read_whole(const char *text) {
    rg_error error = {0};
    rg_mesh mesh;
    rg_mesh_report report;
    if (rg_mesh_read_memory(text, strlen(text), "text", &(rg_mesh_options){.whole = true}, &mesh,
                            &report, &error) != RG_OK)
        fail_msg("%s", error.text);
    return mesh;
}

static rg_mesh_flaws examine(const rg_mesh *mesh, rg_mesh_flaw flaws[LIST]) {
    rg_mesh_flaws found;
    rg_error error = {0};
    if (rg_mesh_examine(mesh, flaws, LIST, &found, &error) != RG_OK)
        fail_msg("%s", error.text);
    return found;
}

static rg_mesh_repair mend(rg_mesh *mesh) {
    rg_mesh_repair repair;
    rg_error error = {0};
    if (rg_mesh_mend(mesh, &repair, &error) != RG_OK)
        fail_msg("%s", error.text);
    return repair;
}

static void expect_counts(const rg_mesh_flaws *found, const size_t counts[RG_MESH_FLAW_COUNT]) {
    for (int i = 0; i < RG_MESH_FLAW_COUNT; i++)
        assert_int_equal(found->count[i], counts[i]);
}

/* After mending: nothing wrong, the volume as it should be. */
static void expect_mended(rg_mesh *mesh, double volume) {
    rg_mesh_flaw flaws[LIST];
    rg_mesh_flaws found = examine(mesh, flaws);
    expect_counts(&found, (size_t[]){0, 0, 0, 0, 0, 0});
    rg_mass_properties mass;
    rg_error error = {0};
    assert_int_equal(rg_mesh_mass(mesh, 1, &mass, &error), RG_OK);
    assert_near(mass.mass, volume, 1e-12);
    rg_mesh_destroy(mesh);
}

static void good_ones_have_no_flaw(void **state) {
    (void)state;
    char text[1024];
    snprintf(text, sizeof text, "%s" LAST_FACE, cube);
    rg_mesh mesh = read_whole(text);
    rg_mesh_repair repair = mend(&mesh);
    assert_int_equal(repair.turned + repair.holes + repair.degenerate + repair.duplicate, 0);
    expect_mended(&mesh, 1);
}

static void open_ones_are_closed(void **state) {
    (void)state;
    rg_mesh mesh = read_whole(cube);
    rg_mesh_flaw flaws[LIST];
    rg_mesh_flaws found = examine(&mesh, flaws);
    expect_counts(&found, (size_t[]){0, 0, 3, 0, 0, 0});
    /* The neighbours of what is missing. */
    bool seen[11] = {false};
    for (size_t i = 0; i < found.listed; i++)
        seen[flaws[i].triangle] = true;
    assert_true(seen[10] && seen[8] && seen[3]);
    rg_mesh_repair repair = mend(&mesh);
    assert_int_equal(repair.holes, 1);
    assert_int_equal(repair.filled, 1);
    expect_mended(&mesh, 1);
    /* A whole side: four triangles about its middle. */
    char text[1024];
    snprintf(text, sizeof text, "%s", cube);
    char *lid = strstr(text, "f 5 6 7\nf 5 7 8\n");
    memcpy(lid, "# a lid is away\n", 16);
    strcat(text, LAST_FACE);
    mesh = read_whole(text);
    repair = mend(&mesh);
    assert_int_equal(repair.holes, 1);
    assert_int_equal(repair.filled, 4);
    expect_mended(&mesh, 1);
}

static void turned_and_double_ones_are_mended(void **state) {
    (void)state;
    char text[1024];
    snprintf(text, sizeof text, "%sf 4 8 5\nf 1 1 2\nf 7 6 5\n", cube);
    rg_mesh mesh = read_whole(text);
    rg_mesh_flaw flaws[LIST];
    rg_mesh_flaws found = examine(&mesh, flaws);
    assert_int_equal(found.count[RG_MESH_DEGENERATE], 1);
    assert_int_equal(found.count[RG_MESH_DUPLICATE], 1);
    assert_int_equal(found.count[RG_MESH_INCONSISTENT_EDGE], 3);
    assert_int_equal(found.count[RG_MESH_BRANCHING_EDGE], 3);
    for (size_t i = 0; i < found.listed; i++) {
        if (flaws[i].kind == RG_MESH_DEGENERATE)
            assert_int_equal(flaws[i].triangle, 12);
        if (flaws[i].kind == RG_MESH_DUPLICATE) {
            assert_int_equal(flaws[i].triangle, 13);
            assert_int_equal(flaws[i].other, 2);
        }
        if (flaws[i].kind == RG_MESH_INCONSISTENT_EDGE)
            assert_true(flaws[i].triangle == 11 || flaws[i].other == 11);
    }
    rg_mesh_repair repair = mend(&mesh);
    assert_int_equal(repair.degenerate, 1);
    assert_int_equal(repair.duplicate, 1);
    assert_int_equal(repair.turned, 1);
    expect_mended(&mesh, 1);
}

/* Two tetrahedra of which one has its tip inside the other. */
static void crossings_are_named(void **state) {
    (void)state;
    rg_mesh mesh = read_whole("v 0 0 0\nv 3 0 0\nv 0 3 0\nv 0 0 3\n"
                              "v 0.5 0.5 0.5\nv 0.6 0.6 -2\nv 0.7 0.5 -2\nv 0.5 0.7 -2\n"
                              "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n"
                              "f 5 7 6\nf 5 6 8\nf 5 8 7\nf 6 7 8\n");
    rg_mesh_flaw flaws[LIST];
    rg_mesh_flaws found = examine(&mesh, flaws);
    assert_int_equal(found.count[RG_MESH_CROSSING], 3);
    for (size_t i = 0; i < found.listed; i++) {
        if (flaws[i].kind != RG_MESH_CROSSING)
            continue;
        assert_int_equal(flaws[i].triangle, 0);
        assert_in_range(flaws[i].other, 4, 6);
        assert_near(flaws[i].place.z, 0, 1e-12);
    }
    rg_mesh_destroy(&mesh);
}

/* The same tetrahedron twice, one moved along an axis: edges of either meet the other only in its
 * edges, and faces lie in one plane, but their inclined faces go through the other's back. One that
 * only touches it, face to face, does not cross. */
static void crossings_without_a_pierced_inside(void **state) {
    (void)state;
    static const char *const second[] = {"v 0.2 0 0\nv 1.2 0 0\nv 0.2 1 0\nv 0.2 0 1\n",
                                         "v 0 0.2 0\nv 1 0.2 0\nv 0 1.2 0\nv 0 0.2 1\n",
                                         "v 0 0 0.5\nv 0 0.5 0\nv -1 0 0\nv 0 0 -0.5\n"};
    for (int i = 0; i < 3; i++) {
        char text[512];
        snprintf(text, sizeof text, "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n%s%s", second[i],
                 "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\nf 5 7 6\nf 5 6 8\nf 6 7 8\nf 7 5 8\n");
        rg_mesh mesh = read_whole(text);
        rg_mesh_flaw flaws[LIST];
        rg_mesh_flaws found = examine(&mesh, flaws);
        if (i < 2)
            assert_int_equal(found.count[RG_MESH_CROSSING], 1);
        else
            assert_int_equal(found.count[RG_MESH_CROSSING], 0);
        rg_mesh_destroy(&mesh);
    }
}

/* A cube with very many triangles that are points or lines in one place. */
static void very_many_degenerate_ones(void **state) {
    (void)state;
    enum { MANY = 1000000 };
    const rg_allocator memory = rg_allocator_default();
    char *text = rg_allocate(&memory, sizeof cube + 16 + 8 * (size_t)MANY, 1), *end = text;
    assert_non_null(text);
    end += sprintf(end, "%s" LAST_FACE, cube);
    int many = MANY / test_stride();
    for (int i = 0; i < many; i++)
        end += sprintf(end, "f 1 %d 1\n", 1 + i % 2);
    rg_mesh mesh = read_whole(text);
    rg_mesh_flaw flaws[LIST];
    rg_mesh_flaws found = examine(&mesh, flaws);
    assert_int_equal(found.count[RG_MESH_DEGENERATE], many);
    assert_int_equal(found.listed, RG_MESH_FLAWS_LISTED);
    rg_mesh_repair repair = mend(&mesh);
    assert_int_equal(repair.degenerate, many);
    expect_mended(&mesh, 1);
    rg_release(&memory, text);
}

static void nothing_left_is_said(void **state) {
    (void)state;
    rg_mesh mesh = read_whole("v 0 0 0\nv 1 0 0\nf 1 2 1\nf 1 1 1\n");
    rg_mesh_repair repair;
    rg_error error = {0};
    assert_int_equal(rg_mesh_mend(&mesh, &repair, &error), RG_DEGENERATE_GEOMETRY);
    assert_string_equal(error.text,
                        "all 2 triangles have two corners in one place; nothing is left");
    rg_mesh_destroy(&mesh);
}

/* Each allocation of mending fails in turn; nothing is freed twice or left over. */
/* What is written is read back to the bit. */
static void written_and_read(void **state) {
    (void)state;
    char path[] = "/tmp/rigor-mesh-XXXXXX", text[2048];
    rg_error error = {0};
    int fd = mkstemp(path);
    assert_true(fd >= 0 && close(fd) == 0);
    rg_mesh mesh = read_whole(cube);
    mesh.vertices[3] = (rg_vec3){0.1, -1e-7, 1.0 / 3};
    assert_int_equal(rg_mesh_write_obj(&mesh, path, &error), RG_OK);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    remove(path);
    rg_mesh again = read_whole(text);
    assert_int_equal(again.vertex_count, mesh.vertex_count);
    assert_int_equal(again.triangle_count, mesh.triangle_count);
    assert_memory_equal(again.vertices, mesh.vertices, mesh.vertex_count * sizeof *mesh.vertices);
    assert_memory_equal(again.triangles, mesh.triangles,
                        3 * mesh.triangle_count * sizeof *mesh.triangles);
    assert_int_equal(rg_mesh_write_obj(&mesh, "/no/such/folder/a.obj", &error), RG_WRITE_FAILED);
    assert_string_equal(error.text, "/no/such/folder/a.obj cannot be written");
    rg_mesh_destroy(&mesh);
    rg_mesh_destroy(&again);
}

static void mending_runs_out_of_memory_cleanly(void **state) {
    (void)state;
    rg_status status = RG_OUT_OF_MEMORY;
    for (size_t allowed = 1; status == RG_OUT_OF_MEMORY; allowed++) {
        counting_allocator memory;
        rg_allocator allocator = counting_allocator_make(&memory);
        rg_mesh mesh;
        rg_mesh_repair repair;
        rg_error error = {0};
        assert_int_equal(
            rg_mesh_read_memory(cube, strlen(cube), "text",
                                &(rg_mesh_options){.whole = true, .allocator = &allocator}, &mesh,
                                NULL, &error),
            RG_OK);
        memory.fail_after = memory.resizes + allowed;
        status = rg_mesh_mend(&mesh, &repair, &error);
        rg_mesh_destroy(&mesh);
        assert_true(allowed < 500);
    }
    assert_int_equal(status, RG_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(good_ones_have_no_flaw),
                                       cmocka_unit_test(open_ones_are_closed),
                                       cmocka_unit_test(turned_and_double_ones_are_mended),
                                       cmocka_unit_test(crossings_are_named),
                                       cmocka_unit_test(crossings_without_a_pierced_inside),
                                       cmocka_unit_test(very_many_degenerate_ones),
                                       cmocka_unit_test(written_and_read),
                                       cmocka_unit_test(mending_runs_out_of_memory_cleanly),
                                       cmocka_unit_test(nothing_left_is_said)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
