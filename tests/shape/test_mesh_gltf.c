/* glTF: a cube as text with base64 and as binary, placed by nodes; every damage is refused or
 * read, and nothing is read beyond the end. */
#include "base/base_memory.h"
#include "shape_helpers.h"

#include <math.h>
#include <stdio.h>

static const float corners[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                    {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};
static const uint16_t faces[36] = {0, 2, 1, 0, 3, 2, 4, 5, 6, 4, 6, 7, 0, 1, 5, 0, 5, 4,
                                   1, 2, 6, 1, 6, 5, 2, 3, 7, 2, 7, 6, 3, 0, 4, 3, 4, 7};

enum { BYTES = sizeof corners + sizeof faces, ROOM = 4096 };

/* The rest of the JSON, with the buffer first. `nodes` is what a case is about. */
static int put_json(char *out, size_t room, const char *buffer, const char *nodes) {
    return snprintf(out, room,
                    "{\"asset\":{\"version\":\"2.0\"},\"scene\":0,\"scenes\":[{\"nodes\":[0]}],"
                    "\"nodes\":%s,\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0},"
                    "\"indices\":1}]}],\"accessors\":[{\"bufferView\":0,\"componentType\":5126,"
                    "\"count\":8,\"type\":\"VEC3\"},{\"bufferView\":1,\"componentType\":5123,"
                    "\"count\":36,\"type\":\"SCALAR\"}],\"bufferViews\":[{\"buffer\":0,"
                    "\"byteLength\":96},{\"buffer\":0,\"byteOffset\":96,\"byteLength\":72}],"
                    "\"buffers\":[{\"byteLength\":168%s}]}",
                    nodes, buffer);
}

static void all_bytes(uint8_t bytes[BYTES]) {
    memcpy(bytes, corners, sizeof corners);
    memcpy(bytes + sizeof corners, faces, sizeof faces);
}

/* `tail`: base64 of what follows the data in the buffer. */
static size_t make_text_with(char out[ROOM], const char *nodes, const char *tail) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint8_t bytes[BYTES];
    char uri[512] = ",\"uri\":\"data:application/octet-stream;base64,", *end = uri + strlen(uri);
    all_bytes(bytes);
    for (size_t i = 0; i < BYTES; i += 3) { /* 168 is a multiple of 3 */
        uint32_t bits = (uint32_t)bytes[i] << 16 | (uint32_t)bytes[i + 1] << 8 | bytes[i + 2];
        for (int k = 18; k >= 0; k -= 6)
            *end++ = digits[bits >> k & 63];
    }
    snprintf(end, 64, "%s\"", tail);
    return (size_t)put_json(out, ROOM, uri, nodes);
}

static size_t make_text(char out[ROOM], const char *nodes) {
    return make_text_with(out, nodes, "");
}

static void put_word(char *out, size_t value) {
    for (int i = 0; i < 4; i++)
        out[i] = (char)(value >> (8 * i) & 255);
}

static size_t make_binary(char out[ROOM], const char *nodes) {
    size_t json = (size_t)put_json(out + 20, ROOM - 20, "", nodes);
    while (json % 4)
        out[20 + json++] = ' ';
    size_t at = 20 + json;
    memcpy(out, "glTF", 4);
    put_word(out + 4, 2);
    put_word(out + 8, at + 8 + BYTES);
    put_word(out + 12, json);
    memcpy(out + 16, "JSON", 4);
    put_word(out + at, BYTES);
    memcpy(out + at + 4, "BIN\0", 4);
    all_bytes((uint8_t *)out + at + 8);
    return at + 8 + BYTES;
}

static void expect_cube(const char *data, size_t size, double volume, rg_vec3 centre) {
    rg_mesh mesh;
    rg_mesh_report report;
    rg_error error = {0};
    rg_mass_properties mass;
    if (rg_mesh_read_memory(data, size, "cube", NULL, &mesh, &report, &error) != RG_OK ||
        rg_mesh_mass(&mesh, 1, &mass, &error) != RG_OK)
        fail_msg("%s", error.text);
    assert_int_equal(mesh.triangle_count, 12);
    assert_true(report.convex);
    assert_near(mass.mass, volume, 1e-12);
    assert_near(rg_length(rg_sub(mass.centre, centre)), 0, 1e-12);
    rg_mesh_destroy(&mesh);
}

static void cubes_are_placed(void **state) {
    (void)state;
    char data[ROOM];
    rg_vec3 middle = {0.5, 0.5, 0.5};
    expect_cube(data, make_text(data, "[{\"mesh\":0}]"), 1, middle);
    expect_cube(data, make_binary(data, "[{\"mesh\":0}]"), 1, middle);
    /* A buffer may be longer than what is looked at: by one byte, by two. */
    expect_cube(data, make_text_with(data, "[{\"mesh\":0}]", "AA=="), 1, middle);
    expect_cube(data, make_text_with(data, "[{\"mesh\":0}]", "AAA="), 1, middle);
    /* Scaled, turned by 90 degrees about z, moved; then by a matrix outside of that. */
    const char *nodes =
        "[ {\"children\": [1], \"matrix\": [2,0,0,0, 0,1,0,0, 0,0,1,0, 10,0,0,1]},\n"
        "  {\"mesh\": 0, \"translation\": [1, 2, 3], \"scale\": [2, 1, 1],\n"
        "   \"rotation\": [0, 0, 0.7071067811865476, 0.7071067811865476]} ]";
    expect_cube(data, make_binary(data, nodes), 4, rg_vec3_make(10 + 2 * (1 - 0.5), 2 + 1, 3.5));
}

static void refusals(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"[{\"mesh\":0,\"children\":[0]}]", "node 0 is used more than once; nodes must be trees"},
        {"[{\"children\":[1,1]},{\"mesh\":0}]", "node 1 is used more than once"},
        {"[{\"mesh\":0,\"scale\":[1,nan,1]}]", "not a list of numbers"},
        {"[{\"children\":[7]}]", "a node that is not there"},
        {"[{}]", "no triangles"},
        {"[{\"mesh\":0}", "does not end"},
    };
    char data[ROOM];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        rg_mesh mesh;
        rg_error error = {0};
        size_t size = make_text(data, cases[i][0]);
        assert_int_not_equal(rg_mesh_read_memory(data, size, "m", NULL, &mesh, NULL, &error),
                             RG_OK);
        if (!strstr(error.text, cases[i][1]))
            fail_msg("\"%s\" is not in \"%s\"", cases[i][1], error.text);
    }
}

/* Text that grows, of which the last bytes matter. */
typedef struct text {
    char *data;
    size_t size, room;
} text;

static void put(text *t, const char *what) {
    assert_true(t->size + strlen(what) < t->room);
    strcpy(t->data + t->size, what);
    t->size += strlen(what);
}

/* A root with `nodes` children, each with a mesh of the cube `repeats` times over. */
static char *make_many(int nodes, int repeats, size_t *size) {
    char one[ROOM], number[64];
    text t = {.room = 64 * (size_t)(nodes + repeats) + ROOM};
    t.data = malloc(t.room);
    make_text(one, "[]");
    char *meshes = strstr(one, "\"meshes\""), *rest = strstr(one, ",\"accessors\"");
    assert_true(t.data && meshes && rest);
    *strstr(one, "\"nodes\":[]") = 0;
    put(&t, one);
    put(&t, "\"nodes\":[{\"children\":[1");
    for (int i = 2; i <= nodes; i++) {
        snprintf(number, sizeof number, ",%d", i);
        put(&t, number);
    }
    put(&t, "]}");
    for (int i = 1; i <= nodes; i++)
        put(&t, ",{\"mesh\":0}");
    put(&t, "],\"meshes\":[{\"primitives\":[");
    for (int i = 0; i < repeats; i++)
        put(&t, i ? ",{\"attributes\":{\"POSITION\":0},\"indices\":1}"
                  : "{\"attributes\":{\"POSITION\":0},\"indices\":1}");
    put(&t, "]}]");
    put(&t, rest);
    *size = t.size;
    return t.data;
}

/* Many nodes may share a mesh; few bytes must not unfold to more than memory and time can take:
 * here 400 x 400 cubes in 27 kB. */
static void work_is_bounded(void **state) {
    (void)state;
    rg_mesh mesh;
    rg_error error = {0};
    size_t size;
    char *data = make_many(500, 1, &size);
    if (rg_mesh_read_memory(data, size, "m", &(rg_mesh_options){.weld = -1}, &mesh, NULL, &error))
        fail_msg("%s", error.text);
    assert_int_equal(mesh.triangle_count, 500 * 12);
    rg_mesh_destroy(&mesh);
    free(data);
    data = make_many(400, 400, &size);
    assert_int_equal(rg_mesh_read_memory(data, size, "m", NULL, &mesh, NULL, &error),
                     RG_LIMIT_EXCEEDED);
    assert_string_equal(error.text,
                        "m: glTF: nodes unfold to more than 100 times what the file holds; each "
                        "must use its mesh, and each mesh its numbers, fewer times");
    free(data);
    /* Chains of nodes. */
    text t = {.data = malloc(ROOM * 8), .room = ROOM * 8};
    char part[64], whole[ROOM * 4];
    assert_non_null(t.data);
    put(&t, "[");
    for (int i = 0; i < 80; i++) {
        snprintf(part, sizeof part, "{\"children\":[%d]},", i + 1);
        put(&t, part);
    }
    put(&t, "{\"mesh\":0}]");
    size = (size_t)put_json(whole, sizeof whole, "", t.data);
    assert_int_equal(rg_mesh_read_memory(whole, size, "m", NULL, &mesh, NULL, &error),
                     RG_LIMIT_EXCEEDED);
    assert_string_equal(error.text, "m: glTF: nodes more than 64 deep inside each other");
    free(t.data);
}

/* Bytes changed and files cut short, in blocks of memory of just their size. */
static void damage(void **state) {
    (void)state;
    char whole[2][ROOM];
    size_t size[2] = {make_text(whole[0], "[{\"mesh\":0}]"),
                      make_binary(whole[1], "[{\"mesh\":0}]")};
    rg_random random = rg_random_make(5);
    const rg_allocator memory = rg_allocator_default();
    int read = 0, cases = test_cases(20000, 200000);
    for (int i = 0; i < cases; i++) {
        size_t length = size[i % 2];
        if (i % 5 == 0)
            length = (size_t)rg_random_below(&random, length + 1);
        char *copy = rg_allocate(&memory, length, 1);
        assert_non_null(copy);
        memcpy(copy, whole[i % 2], length);
        for (int k = 0; k < 3 && length > 0; k++) {
            size_t at = (size_t)rg_random_below(&random, length);
            copy[at] = (char)rg_random_below(&random, 256);
        }
        rg_mesh mesh;
        rg_error error = {0};
        rg_mesh_options options = {.format = RG_MESH_GLTF};
        if (rg_mesh_read_memory(copy, length, "m", &options, &mesh, NULL, &error) == RG_OK) {
            rg_mesh_destroy(&mesh);
            read++;
        }
        rg_release(&memory, copy);
    }
    assert_true(read > 0 && read < cases);
}

static void memory_may_fail(void **state) {
    (void)state;
    char data[ROOM];
    size_t size = make_text(data, "[{\"mesh\":0}]");
    rg_status status = RG_OUT_OF_MEMORY;
    for (size_t allowed = 1; status == RG_OUT_OF_MEMORY; allowed++) {
        counting_allocator counter;
        rg_allocator allocator = counting_allocator_make(&counter);
        rg_mesh mesh;
        rg_error error = {0};
        counter.fail_after = allowed;
        status = rg_mesh_read_memory(data, size, "m", &(rg_mesh_options){.allocator = &allocator},
                                     &mesh, NULL, &error);
        rg_mesh_destroy(&mesh);
    }
    assert_int_equal(status, RG_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(cubes_are_placed),
                                       cmocka_unit_test(refusals),
                                       cmocka_unit_test(work_is_bounded), cmocka_unit_test(damage),
                                       cmocka_unit_test(memory_may_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
