/* Mesh files: good ones, broken ones with their exact messages, welding, checks, mass. */
#include "shape_helpers.h"

#include <stdio.h>

#define DATA RIGOR_TEST_DATA "/meshes/"

static rg_mesh read_good(const char *file, rg_mesh_report *report) {
    char path[512];
    rg_error error = {0};
    rg_mesh mesh;
    snprintf(path, sizeof path, "%s%s", DATA, file);
    if (rg_mesh_read_file(path, NULL, &mesh, report, &error) != RG_OK)
        fail_msg("%s", error.text);
    return mesh;
}

static rg_mesh read_text(const char *text, double weld, rg_mesh_report *report) {
    rg_error error = {0};
    rg_mesh mesh;
    if (rg_mesh_read_memory(text, strlen(text), "text", &(rg_mesh_options){.weld = weld}, &mesh,
                            report, &error) != RG_OK)
        fail_msg("%s", error.text);
    return mesh;
}

static void expect_refusal(const void *data, size_t size, rg_mesh_format format, rg_status status,
                           const char *text) {
    rg_error error = {0};
    rg_mesh mesh;
    rg_mesh_report report;
    assert_int_equal(rg_mesh_read_memory(data, size, "m", &(rg_mesh_options){.format = format},
                                         &mesh, &report, &error),
                     status);
    assert_null(mesh.vertices);
    assert_null(mesh.triangles);
    assert_int_equal(error.status, status);
    assert_string_equal(error.text, text);
}

static void expect_text_refusal(const char *text, rg_status status, const char *message) {
    expect_refusal(text, strlen(text), RG_MESH_AUTO, status, message);
}

/* ------------------------------------------------------------------ PLY */

#define PLY_HEAD(format)                                                                           \
    "ply\nformat " format " 1.0\ncomment a cube\nelement vertex 8\nproperty float x\n"             \
    "property float y\nproperty uchar red\nproperty double z\nelement face 6\n"                    \
    "property list uchar int vertex_indices\nproperty short tag\nend_header\n"

static const int cube_faces[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                     {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};

static size_t put_bytes(char *out, const void *value, size_t size, bool big) {
    for (size_t i = 0; i < size; i++)
        out[i] = ((const char *)value)[big ? size - 1 - i : i];
    return size;
}

/* The cube of edge 1 as PLY; the machine that runs this is little-endian. */
static size_t make_ply(int format, char *out) {
    size_t n = 0;
    n += (size_t)sprintf(out, "%s",
                         format == 0   ? PLY_HEAD("ascii")
                         : format == 1 ? PLY_HEAD("binary_little_endian")
                                       : PLY_HEAD("binary_big_endian"));
    bool big = format == 2;
    for (int i = 0; i < 8; i++) {
        float x = (float)(i & 1), y = (float)(i >> 1 & 1);
        double z = i >> 2;
        if (format == 0) {
            n += (size_t)sprintf(out + n, "%g %g 255 %g\n", (double)x, (double)y, z);
            continue;
        }
        n += put_bytes(out + n, &x, 4, big);
        n += put_bytes(out + n, &y, 4, big);
        out[n++] = (char)255;
        n += put_bytes(out + n, &z, 8, big);
    }
    for (int i = 0; i < 6; i++) {
        const int *f = cube_faces[i];
        short tag = -3;
        if (format == 0) {
            n += (size_t)sprintf(out + n, "4 %d %d %d %d -3\r\n", f[0], f[1], f[2], f[3]);
            continue;
        }
        out[n++] = 4;
        for (int k = 0; k < 4; k++)
            n += put_bytes(out + n, &f[k], 4, big);
        n += put_bytes(out + n, &tag, 2, big);
    }
    return n;
}

static void ply_in_all_formats(void **state) {
    (void)state;
    for (int format = 0; format < 3; format++) {
        char data[2000];
        size_t size = make_ply(format, data);
        rg_mesh_report report;
        rg_mesh mesh;
        rg_error error;
        if (rg_mesh_read_memory(data, size, "p", NULL, &mesh, &report, &error) != RG_OK)
            fail_msg("%s", error.text);
        assert_int_equal(mesh.vertex_count, 8);
        assert_int_equal(mesh.triangle_count, 12);
        assert_true(report.watertight && report.convex && !report.flipped);
        rg_mass_properties m;
        assert_int_equal(rg_mesh_mass(&mesh, 1, &m, NULL), RG_OK);
        assert_near(m.mass, 1, 1e-15);
        rg_mesh_destroy(&mesh);
        /* Cut off anywhere it is refused. */
        for (size_t cut = 4; cut + 10 < size; cut += 7) {
            assert_int_not_equal(rg_mesh_read_memory(data, cut, "p",
                                                     &(rg_mesh_options){.format = RG_MESH_PLY},
                                                     &mesh, &report, &error),
                                 RG_OK);
            assert_null(mesh.vertices);
        }
    }
}

static void bad_ply(void **state) {
    (void)state;
    expect_text_refusal("ply\nformat utf8 1.0\n", RG_SYNTAX,
                        "m:2:8: 'utf8' is out of place; must be ascii, binary_little_endian or "
                        "binary_big_endian");
    expect_text_refusal("ply\nelement vertex many\n", RG_SYNTAX,
                        "m:2:16: 'many' is out of place; must be how many there are");
    expect_text_refusal("ply\nelement vertex 1\nproperty real x\n", RG_SYNTAX,
                        "m:3:10: 'real' is out of place; must be a type such as float or uchar");
    expect_text_refusal("ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\n",
                        RG_FILE_DAMAGED,
                        "m:5:1: the file or line ends here; must go on with format, element, "
                        "property, comment or end_header");
    expect_text_refusal("ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float "
                        "y\nproperty float z\nend_header\n1 2 nan\n",
                        RG_NOT_FINITE, "m:8:1: a vertex is not finite; must be numbers");
    expect_text_refusal("ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nelement face "
                        "1\nproperty list uchar int vertex_index\nend_header\n1\n3 0 0 1\n",
                        RG_SYNTAX,
                        "m:9:1: a face has a corner that is not one of the vertices before it");
    expect_text_refusal("ply\nformat ascii 1.0\nelement nothing 9007199254740992\nend_header\n",
                        RG_SYNTAX,
                        "m: no faces; must have an element face with a list vertex_indices");
    expect_text_refusal("ply\nformat binary_little_endian 1.0\nelement vertex 9000000000\nproperty "
                        "float x\nend_header\n12345678",
                        RG_FILE_DAMAGED, "m: the file ends at byte 98; its header promises more");
}

/* ------------------------------------------------------------------ good files */

static void cubes_in_all_formats(void **state) {
    (void)state;
    static const char *const files[] = {"cube_quads.obj", "cube_negative_crlf.obj", "cube_text.stl",
                                        "cube_binary.stl", "cube_binary_solid.stl"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        rg_mesh_report report;
        rg_mesh mesh = read_good(files[i], &report);
        assert_int_equal(mesh.vertex_count, 8);
        assert_int_equal(mesh.triangle_count, 12);
        assert_int_equal(report.welded_vertices, i < 2 ? 0 : 28);
        assert_int_equal(report.degenerate_triangles, 0);
        assert_true(report.watertight && report.convex && !report.flipped);
        assert_int_equal(report.components, 1);
        rg_mass_properties m;
        assert_int_equal(rg_mesh_mass(&mesh, 6, &m, NULL), RG_OK);
        rg_mass_properties expected = {6, {0.5, 0.5, 0.5}, rg_mat3_identity()};
        assert_true(mass_difference(m, expected, 1) < 1e-15);
        rg_shape *hull = make_shape(rg_shape_def_hull(mesh.vertices, mesh.vertex_count));
        assert_int_equal(rg_shape_polyhedron(hull)->facet_count, 6);
        rg_shape_release(hull);
        rg_mesh_destroy(&mesh);
        rg_mesh_destroy(&mesh); /* twice does no harm */
    }
}

static void concave_faces(void **state) {
    (void)state;
    rg_mesh_report report;
    rg_mesh mesh = read_good("l_prism.obj", &report);
    assert_int_equal(mesh.vertex_count, 12);
    assert_int_equal(mesh.triangle_count, 20);
    assert_true(report.watertight);
    assert_false(report.convex);
    rg_mass_properties m;
    assert_int_equal(rg_mesh_mass(&mesh, 1, &m, NULL), RG_OK);
    assert_near(m.mass, 3, 1e-15);
    assert_near(m.centre.x, 5.0 / 6, 1e-15);
    assert_near(m.centre.y, 5.0 / 6, 1e-15);
    assert_true(mass_difference(m, reference_mass_of_mesh(&mesh), 1) < 1e-14);
    rg_mesh_destroy(&mesh);
    /* a star with four points: area 12, all ears are at the tips */
    const char *star =
        "v 0 3 0\nv 1 1 0\nv 3 0 0\nv 1 -1 0\nv 0 -3 0\nv -1 -1 0\nv -3 0 0\nv -1 1 0\n"
        "f 1 2 3 4 5 6 7 8\n";
    mesh = read_text(star, 0, &report);
    assert_int_equal(mesh.triangle_count, 6);
    double area = 0;
    for (size_t t = 0; t < 6; t++) {
        rg_vec3 a = mesh.vertices[mesh.triangles[3 * t]],
                b = mesh.vertices[mesh.triangles[3 * t + 1]];
        rg_vec3 c = mesh.vertices[mesh.triangles[3 * t + 2]];
        double one = 0.5 * rg_cross(rg_sub(b, a), rg_sub(c, a)).z;
        assert_true(one < 0); /* all the same way round as the face: none outside it */
        area += one;
    }
    assert_near(area, -12, 1e-14);
    rg_mesh_destroy(&mesh);
}

static void several_surfaces(void **state) {
    (void)state;
    rg_mesh_report report;
    rg_mesh mesh = read_good("two_tetrahedra.obj", &report);
    assert_int_equal(mesh.vertex_count, 8); /* the unused one is dropped */
    assert_int_equal(mesh.triangle_count, 8);
    assert_int_equal(report.components, 2);
    assert_int_equal(report.degenerate_triangles, 1);
    assert_true(report.watertight && !report.convex);
    rg_mass_properties m;
    assert_int_equal(rg_mesh_mass(&mesh, 1, &m, NULL), RG_OK);
    assert_near(m.mass, 1.0 / 3, 1e-15);
    assert_near(m.centre.x, 2.75, 1e-14);
    rg_mesh_destroy(&mesh);
}

/* ------------------------------------------------------------------ checks */

static void inverted_surface_is_turned_round(void **state) {
    (void)state;
    rg_mesh_report report;
    rg_mesh mesh = read_good("cube_inverted.stl", &report);
    assert_true(report.flipped && report.watertight && report.convex);
    rg_mass_properties m;
    assert_int_equal(rg_mesh_mass(&mesh, 1, &m, NULL), RG_OK);
    assert_near(m.mass, 1, 1e-15);
    rg_mesh_destroy(&mesh);
}

static void expect_not_watertight(const char *file, size_t open, size_t branching,
                                  size_t inconsistent, const char *message) {
    rg_mesh_report report;
    rg_mesh mesh = read_good(file, &report);
    assert_false(report.watertight);
    assert_false(report.convex);
    assert_false(report.flipped);
    assert_int_equal(report.open_edges, open);
    assert_int_equal(report.branching_edges, branching);
    assert_int_equal(report.inconsistent_edges, inconsistent);
    rg_mass_properties m;
    rg_error error;
    assert_int_equal(rg_mesh_mass(&mesh, 1, &m, &error), RG_NOT_WATERTIGHT);
    assert_string_equal(error.text, message);
    rg_mesh_destroy(&mesh);
}

static void surfaces_that_are_not_closed(void **state) {
    (void)state;
    expect_not_watertight("cube_open.stl", 3, 0, 0,
                          "the surface has 3 open, 0 branching and 0 inconsistent edges; must be "
                          "closed, with two triangles of the same side to each edge");
    expect_not_watertight("cube_one_turned.stl", 0, 0, 3,
                          "the surface has 0 open, 0 branching and 3 inconsistent edges; must be "
                          "closed, with two triangles of the same side to each edge");
    expect_not_watertight("cube_twice.stl", 0, 18, 0,
                          "the surface has 0 open, 18 branching and 0 inconsistent edges; must be "
                          "closed, with two triangles of the same side to each edge");
}

static void welding(void **state) {
    (void)state;
    /* a tetrahedron whose four triangles have corners of their own, a little apart */
    char text[2000];
    int used = 0;
    static const int faces[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
    static const double corner[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (int f = 0; f < 4; f++)
        for (int k = 0; k < 3; k++)
            used += snprintf(text + used, sizeof text - (size_t)used, "v %.17g %.17g %.17g\n",
                             corner[faces[f][k]][0] + 1e-7 * f, corner[faces[f][k]][1],
                             corner[faces[f][k]][2]);
    for (int f = 0; f < 4; f++)
        used += snprintf(text + used, sizeof text - (size_t)used, "f %d %d %d\n", 3 * f + 1,
                         3 * f + 2, 3 * f + 3);
    rg_mesh_report report;
    rg_mesh mesh = read_text(text, 1e-6, &report);
    assert_int_equal(mesh.vertex_count, 4);
    assert_int_equal(report.welded_vertices, 8);
    assert_true(report.watertight && report.convex);
    assert_true(mesh.vertices[0].x == 0); /* the first in the file stays, where it was */
    rg_mesh_destroy(&mesh);
    mesh = read_text(text, 0, &report); /* 1e-9 of the size: too little */
    assert_int_equal(mesh.vertex_count, 12);
    assert_int_equal(report.components, 4);
    assert_int_equal(report.open_edges, 12);
    rg_mesh_destroy(&mesh);
    mesh = read_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv -0.0 0 0\nf 1 2 3\nf 4 3 2\n", -1, &report);
    assert_int_equal(mesh.vertex_count, 3); /* equal ones, -0 among them */
    assert_int_equal(report.welded_vertices, 1);
    assert_true(report.watertight && !report.convex);
    rg_mass_properties m;
    rg_error error;
    assert_int_equal(rg_mesh_mass(&mesh, 1, &m, &error), RG_DEGENERATE_GEOMETRY);
    assert_string_equal(error.text, "the surface encloses no volume; must be a solid with its "
                                    "triangles counter-clockwise seen from outside");
    rg_mesh_destroy(&mesh);
}

/* Random points at many scales of distance, against the rule by brute force. */
static void welding_by_brute_force(void **state) {
    (void)state;
    rg_random random = rg_random_make(51);
    enum { COUNT = 300 };
    for (int trial = 0; trial < 30; trial++) {
        rg_vec3 points[COUNT];
        static char text[COUNT * 100];
        size_t used = 0, kept = 0;
        uint32_t keeps[COUNT];
        double weld = trial % 3 == 0 ? 0.3 : trial % 3 == 1 ? 0.05 : 1e-3;
        for (int i = 0; i < COUNT; i++) {
            points[i] = i % 3 == 2
                            ? rg_add_scaled(points[i - 1], weld, rg_random_direction(&random))
                            : rg_vec3_make(rg_random_between(&random, -2, 2),
                                           rg_random_between(&random, -2, 2),
                                           rg_random_between(&random, -2, 2));
            used += (size_t)snprintf(text + used, sizeof text - used, "v %.17g %.17g %.17g\n",
                                     points[i].x, points[i].y, points[i].z);
            bool near = false;
            for (size_t k = 0; k < kept; k++)
                near |= rg_length(rg_sub(points[keeps[k]], points[i])) <= weld;
            if (!near)
                keeps[kept++] = (uint32_t)i;
        }
        for (int i = 0; i < COUNT; i += 3)
            used += (size_t)snprintf(text + used, sizeof text - used, "f %d %d %d\n", i + 1, i + 2,
                                     i + 3);
        rg_mesh_report report;
        rg_mesh mesh = read_text(text, weld, &report);
        assert_int_equal(report.welded_vertices, COUNT - kept);
        rg_mesh_destroy(&mesh);
    }
}

static void big_meshes(void **state) {
    (void)state;
    /* an ellipsoid written as binary STL in single precision, read back */
    rg_mesh original = ellipsoid_mesh(rg_vec3_make(1, 0.8, 1.7), 100, 51);
    size_t size = 84 + 50 * original.triangle_count;
    char *data = calloc(size, 1), *at = data + 84;
    uint32_t count = (uint32_t)original.triangle_count;
    memcpy(data + 80, &count, 4);
    for (size_t t = 0; t < original.triangle_count; t++, at += 50)
        for (int k = 0; k < 3; k++) {
            rg_vec3 p = original.vertices[original.triangles[3 * t + (size_t)k]];
            float f[3] = {(float)p.x, (float)p.y, (float)p.z};
            memcpy(at + 12 + 12 * k, f, sizeof f);
        }
    rg_mesh mesh;
    rg_mesh_report report;
    assert_int_equal(rg_mesh_read_memory(data, size, "e", NULL, &mesh, &report, NULL), RG_OK);
    assert_int_equal(mesh.vertex_count, original.vertex_count);
    assert_true(report.watertight && report.convex);
    rg_mass_properties a, b;
    assert_int_equal(rg_mesh_mass(&mesh, 1, &a, NULL), RG_OK);
    assert_int_equal(rg_mesh_mass(&original, 1, &b, NULL), RG_OK);
    assert_true(mass_difference(a, b, 1) < 1e-6);
    assert_true(mass_difference(a, reference_mass_of_mesh(&mesh), 1) < 1e-13);
    rg_mesh_destroy(&mesh);
    /* a dent makes it not convex */
    mesh = original;
    for (size_t i = 0; i < mesh.vertex_count; i++)
        if (i == 700)
            mesh.vertices[i] = rg_scale(0.99, mesh.vertices[i]);
    for (size_t t = 0; t < mesh.triangle_count; t++)
        for (int k = 0; k < 3; k++) {
            rg_vec3 p = mesh.vertices[mesh.triangles[3 * t + (size_t)k]];
            float f[3] = {(float)p.x, (float)p.y, (float)p.z};
            memcpy(data + 84 + 50 * t + 12 + 12 * (size_t)k, f, sizeof f);
        }
    assert_int_equal(rg_mesh_read_memory(data, size, "e", NULL, &mesh, &report, NULL), RG_OK);
    assert_true(report.watertight && !report.convex);
    rg_mesh_destroy(&mesh);
    free(data);
    free_test_mesh(&original);
}

/* Locally convex at every edge, but going round twice: not convex. Five-pointed star as a
 * double pyramid over a pentagram. */
static void star_pyramid_is_not_convex(void **state) {
    (void)state;
    char text[1000];
    int used = 0;
    for (int i = 0; i < 5; i++) {
        double s, c;
        rg_sin_cos(2 * RG_PI * i / 5, &s, &c);
        used += snprintf(text + used, sizeof text - (size_t)used, "v %.17g %.17g 0\n", c, s);
    }
    used += snprintf(text + used, sizeof text - (size_t)used, "v 0 0 1\nv 0 0 -1\n");
    for (int i = 0; i < 5; i++) {
        int a = i + 1, b = (i + 2) % 5 + 1;
        used +=
            snprintf(text + used, sizeof text - (size_t)used, "f %d %d 6\nf %d %d 7\n", a, b, b, a);
    }
    rg_mesh_report report;
    rg_mesh mesh = read_text(text, 0, &report);
    assert_true(report.watertight);
    assert_false(report.convex);
    rg_mesh_destroy(&mesh);
}

/* ------------------------------------------------------------------ broken files */

static void broken_obj(void **state) {
    (void)state;
    expect_text_refusal("v 0 0 0\nv 1 x 0\n", RG_SYNTAX,
                        "m:2:5: 'x' in a vertex is not a number; must be a coordinate");
    expect_text_refusal("v 0 0 0\nv 1 0\n", RG_SYNTAX,
                        "m:2:1: vertex with 2 coordinates; must have 3: v x y z");
    expect_text_refusal("v 0 0 0\r\nv 1 nan 0\r\n", RG_NOT_FINITE,
                        "m:2:5: 'nan' in a vertex; must be a finite number");
    expect_text_refusal("v 0 0 1e400\n", RG_NOT_FINITE,
                        "m:1:7: '1e400' in a vertex; must be a finite number");
    expect_text_refusal("v 0 0 -1e51\n", RG_INVALID_SIZE,
                        "m:1:7: '-1e51' in a vertex; must be at most 1e50 m");
    expect_text_refusal("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4\n", RG_SYNTAX,
                        "m:4:7: vertex index 4; must be one of the 3 vertices before this line");
    expect_text_refusal("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 -4\n", RG_SYNTAX,
                        "m:4:7: vertex index -4; must be one of the 3 vertices before this line");
    expect_text_refusal("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 0 1 2\n", RG_SYNTAX,
                        "m:4:3: vertex index 0; must count from 1, or from -1 backwards");
    expect_text_refusal(
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3/a\n", RG_SYNTAX,
        "m:4:7: '3/a' is not a corner of a face; it must be v, v/vt, v//vn or v/vt/vn");
    expect_text_refusal(
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 1.5\n", RG_SYNTAX,
        "m:4:7: '1.5' is not a corner of a face; it must be v, v/vt, v//vn or v/vt/vn");
    expect_text_refusal("v 0 0 0\nv 1 0 0\nf 1 2\n", RG_SYNTAX,
                        "m:3:1: face with 2 corners; must have at least 3");
    expect_text_refusal("v 0 0 0\nv 1 0 0\nf 1 99999999999999999999 2\n", RG_SYNTAX,
                        "m:3:5: vertex index 9999999999; must be one of the 2 vertices before this "
                        "line");
    expect_text_refusal("v 0 0 0\nv 1 1 0\nv 1 0 0\nv 0 1 0\nv 2 3 0\nf 1 2 3 4 5\n", RG_SYNTAX,
                        "m:6:1: face with 5 corners crosses itself; must be a simple polygon or "
                        "triangles");
    expect_text_refusal("v 0 0 0\nv 1 1 0\nv 1 0 0\nv 0 1 0\nf 1 2 3 4\n", RG_SYNTAX,
                        "m:5:1: face with 4 corners crosses itself; must be a simple polygon or "
                        "triangles");
    expect_text_refusal("# nothing\nhello\n", RG_SYNTAX,
                        "m: no faces; must have lines such as 'f 1 2 3' after the vertices");
    expect_text_refusal("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 2\nf 3 3 3", RG_DEGENERATE_GEOMETRY,
                        "m: all 2 triangles have two corners in one place; must have area");
    expect_text_refusal("v 0 0 \x01\x02 and a very long word", RG_SYNTAX,
                        "m:1:7: '?\?' in a vertex is not a number; must be a coordinate");
    expect_refusal("", 0, RG_MESH_AUTO, RG_FILE_DAMAGED,
                   "m: the file is empty; must be OBJ, STL, PLY or glTF");
}

static void broken_stl(void **state) {
    (void)state;
    expect_text_refusal(
        "solid\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nendloop\n", RG_SYNTAX,
        "m:6:1: 'endloop' is out of place; must be 'vertex'");
    expect_text_refusal("solid\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\n"
                        "vertex 0 1 0\nvertex 1 1 0\nendloop\n",
                        RG_SYNTAX, "m:7:1: 'vertex' is out of place; must be 'endloop'");
    expect_text_refusal("solid\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\n", RG_FILE_DAMAGED,
                        "m:5:1: the file ends here; must go on with 'vertex'");
    expect_text_refusal("solid\nfacet normal 0 0 1\nouter loop\nvertex 0 inf 0\n", RG_NOT_FINITE,
                        "m:4:10: 'inf' in a vertex; must be a finite number");
    expect_text_refusal("solid x\nfacet normal 0 up 1\n", RG_SYNTAX,
                        "m:2:16: 'up' in a normal is not a number; must be three numbers");
    expect_text_refusal("solid x\nfacets\n", RG_SYNTAX,
                        "m:2:1: 'facets' is out of place; must be 'facet' or 'endsolid'");
    expect_text_refusal("solid x\nendsolid x\nvertex", RG_SYNTAX,
                        "m:3:1: 'vertex' is out of place; must be 'solid'");
    expect_text_refusal("solid x\nendsolid x\n", RG_SYNTAX,
                        "m: no triangles; must have at least four");
    expect_refusal(
        "hello", 5, RG_MESH_STL, RG_FILE_DAMAGED,
        "m: 5 bytes; a binary STL file must have at least 84, a text one must begin with "
        "'solid'");
    char binary[84 + 50 * 4] = {0};
    binary[80] = 4;
    float bad = NAN;
    memcpy(binary + 84 + 50 + 12 + 12 + 4, &bad, sizeof bad);
    expect_refusal(
        binary, sizeof binary, RG_MESH_AUTO, RG_NOT_FINITE,
        "m: byte 158: corner 1 of triangle 1 is not finite; must be three finite numbers");
    expect_refusal(
        binary, sizeof binary - 1, RG_MESH_AUTO, RG_FILE_DAMAGED,
        "m: byte 80: a count of 4 triangles, but the file has 283 bytes; must have 284 (is "
        "it truncated?)");
    binary[80] = 3;
    expect_refusal(
        binary, sizeof binary, RG_MESH_AUTO, RG_FILE_DAMAGED,
        "m: byte 80: a count of 3 triangles, but the file has 284 bytes; must have 234 (is "
        "it truncated?)");
    binary[80] = 0;
    expect_refusal(binary, 84, RG_MESH_AUTO, RG_SYNTAX, "m: no triangles; must have at least four");
}

static void broken_files_on_disk(void **state) {
    (void)state;
    rg_error error;
    rg_mesh mesh;
    char expected[700];
    assert_int_equal(rg_mesh_read_file(DATA "cube_truncated.stl", NULL, &mesh, NULL, &error),
                     RG_FILE_DAMAGED);
    snprintf(expected, sizeof expected, "%s: %s", DATA "cube_truncated.stl",
             "byte 80: a count of 12 triangles, but the file has 500 bytes; must have 684 (is it "
             "truncated?)");
    assert_string_equal(error.text, expected);
    assert_int_equal(rg_mesh_read_file(DATA "absent.obj", NULL, &mesh, NULL, &error),
                     RG_FILE_UNREADABLE);
    snprintf(expected, sizeof expected, "%s: %s", DATA "absent.obj",
             "cannot be opened (No such file or directory); must be a readable file");
    assert_string_equal(error.text, expected);
    assert_int_equal(rg_mesh_read_file(DATA, NULL, &mesh, NULL, &error), RG_FILE_UNREADABLE);
    snprintf(expected, sizeof expected, "%s: is not a regular file; must be a readable file", DATA);
    assert_string_equal(error.text, expected);
    assert_int_equal(
        rg_mesh_read_memory("v", 1, "m", &(rg_mesh_options){.weld = NAN}, &mesh, NULL, &error),
        RG_NOT_FINITE);
    assert_string_equal(error.text,
                        "m: the welding distance is not finite; must be a number of metres");
}

static void bad_mass_requests(void **state) {
    (void)state;
    rg_mesh_report report;
    rg_mesh mesh = read_good("cube_quads.obj", &report), empty = {0};
    rg_mass_properties m;
    rg_error error;
    assert_int_equal(rg_mesh_mass(&mesh, -1, &m, &error), RG_INVALID_SIZE);
    assert_string_equal(error.text, "density is -1; must be positive");
    assert_int_equal(rg_mesh_mass(&mesh, NAN, &m, &error), RG_NOT_FINITE);
    assert_string_equal(error.text, "density is nan; must be a finite number");
    assert_int_equal(rg_mesh_mass(&empty, 1, &m, &error), RG_DEGENERATE_GEOMETRY);
    assert_string_equal(error.text, "the mesh has no triangles; must enclose volume");
    mesh.triangles[7] = 8;
    assert_int_equal(rg_mesh_mass(&mesh, 1, &m, &error), RG_INVALID_ARGUMENT);
    assert_string_equal(error.text, "triangle 2 has the vertex 8; must be one of the mesh's 8");
    rg_mesh_destroy(&mesh);
}

static void want_of_memory(void **state) {
    (void)state;
    static const char *const files[] = {"l_prism.obj", "cube_text.stl", "cube_binary.stl"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[512];
        rg_status status = RG_OUT_OF_MEMORY;
        snprintf(path, sizeof path, "%s%s", DATA, files[i]);
        for (size_t fail_after = 1; status == RG_OUT_OF_MEMORY; fail_after++) {
            counting_allocator counter;
            rg_allocator allocator = counting_allocator_make(&counter);
            counter.fail_after = fail_after;
            rg_mesh mesh;
            rg_mesh_report report;
            rg_error error = {0};
            status = rg_mesh_read_file(path, &(rg_mesh_options){.allocator = &allocator}, &mesh,
                                       &report, &error);
            if (status == RG_OK) {
                rg_mass_properties m;
                for (size_t more = 0; more < 3; more++) { /* and the mass runs out too */
                    counter.fail_after = counter.resizes + more;
                    rg_status of_mass = rg_mesh_mass(&mesh, 1, &m, NULL);
                    assert_int_equal(of_mass, RG_OUT_OF_MEMORY);
                }
                counter.fail_after = 0;
                assert_int_equal(rg_mesh_mass(&mesh, 1, &m, NULL), RG_OK);
                rg_mesh_destroy(&mesh);
            } else {
                assert_null(mesh.vertices);
                assert_non_null(strstr(error.text, "no memory"));
            }
            assert_true(fail_after < 500);
        }
        assert_int_equal(status, RG_OK);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ply_in_all_formats),
        cmocka_unit_test(bad_ply),
        cmocka_unit_test(cubes_in_all_formats),
        cmocka_unit_test(concave_faces),
        cmocka_unit_test(several_surfaces),
        cmocka_unit_test(inverted_surface_is_turned_round),
        cmocka_unit_test(surfaces_that_are_not_closed),
        cmocka_unit_test(welding),
        cmocka_unit_test(welding_by_brute_force),
        cmocka_unit_test(big_meshes),
        cmocka_unit_test(star_pyramid_is_not_convex),
        cmocka_unit_test(broken_obj),
        cmocka_unit_test(broken_stl),
        cmocka_unit_test(broken_files_on_disk),
        cmocka_unit_test(bad_mass_requests),
        cmocka_unit_test(want_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
