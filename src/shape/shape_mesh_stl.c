/* STL, text and binary.
 *
 * Binary: 80 bytes of anything, a 32-bit count, then 50 bytes a triangle (normal, three corners in
 * single precision, two spare bytes), all little-endian. A file is binary if its size is exactly
 * what its count says; the first word does not decide, since some programs begin binary files with
 * "solid". (A text can not pass for binary: four printable bytes are a count of above 5e8.)
 *
 * Text: words separated by blanks, `solid NAME`, `facet normal x y z`, `outer loop`, three
 * `vertex x y z`, `endloop`, `endfacet`, `endsolid NAME`, in any case; several solids may follow
 * each other.
 *
 * Normals are read over: many programs write zeros or NaN. The order of the corners decides.
 * Fails with RG_SYNTAX, RG_FILE_DAMAGED, RG_NOT_FINITE or RG_LIMIT_EXCEEDED, and the place: line
 * and column of a text, byte of a binary file.
 * Tested by tests/shape/test_mesh.c. */
#include "shape/shape_mesh.h"

#include "base/base_math.h"
#include "base/base_text.h"
#include "shape/shape.h"

#include <string.h>

enum { HEADER_BYTES = 84, TRIANGLE_BYTES = 50, PROBE_BYTES = 512 };

static uint32_t read_u32(const char *data) {
    const unsigned char *b = (const unsigned char *)data;
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static double read_float(const char *data) {
    uint32_t bits = read_u32(data);
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

static bool has_binary_size(const char *data, size_t size) {
    return size >= HEADER_BYTES &&
           (uint64_t)size == HEADER_BYTES + (uint64_t)TRIANGLE_BYTES * read_u32(data + 80);
}

/* ------------------------------------------------------------------ text */

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\v' || c == '\f' || c == '\n' || c == '\r';
}

static bool next_word(rg_mesh_cursor *c, rg_mesh_word *word) {
    while (c->at < c->end && is_blank(*c->at))
        if (!rg_mesh_skip_newline(c))
            c->at++;
    *word = (rg_mesh_word){c->at, 0, c->line, (int)(c->at - c->line_start) + 1};
    while (c->at < c->end && !is_blank(*c->at))
        c->at++;
    word->size = (size_t)(c->at - word->text);
    return word->size > 0;
}

/* The name behind `solid` and `endsolid` runs to the end of the line. */
static void skip_line(rg_mesh_cursor *c) {
    while (c->at < c->end && *c->at != '\n' && *c->at != '\r')
        c->at++;
}

static rg_status unexpected(rg_mesh_reader *reader, rg_mesh_word word, const char *wanted) {
    char quote[RG_MESH_QUOTE_SIZE];
    if (word.size == 0)
        return rg_fail_at(reader->error, RG_FILE_DAMAGED, reader->name, word.line, word.column,
                          "the file ends here; must go on with '%s'", wanted);
    return rg_fail_at(reader->error, RG_SYNTAX, reader->name, word.line, word.column,
                      "'%s' is out of place; must be '%s'", rg_mesh_quote(word, quote), wanted);
}

static rg_status expect(rg_mesh_reader *reader, rg_mesh_cursor *c, const char *key) {
    rg_mesh_word word;
    next_word(c, &word);
    return rg_mesh_word_is(word, key) ? RG_OK : unexpected(reader, word, key);
}

static rg_status read_corner(rg_mesh_reader *reader, rg_mesh_cursor *c, uint32_t *index) {
    double at[3];
    rg_status status = expect(reader, c, "vertex");
    for (int i = 0; status == RG_OK && i < 3; i++) {
        rg_mesh_word word;
        status = next_word(c, &word) ? rg_mesh_coordinate(reader, word, "vertex", &at[i])
                                     : unexpected(reader, word, "coordinate");
    }
    if (status != RG_OK)
        return status;
    *index = (uint32_t)reader->vertex_count;
    return rg_mesh_add_vertex(reader, rg_vec3_make(at[0], at[1], at[2]));
}

/* From behind `facet` to behind `endfacet`. */
static rg_status read_facet(rg_mesh_reader *reader, rg_mesh_cursor *c) {
    char quote[RG_MESH_QUOTE_SIZE];
    rg_status status = expect(reader, c, "normal");
    for (int i = 0; status == RG_OK && i < 3; i++) {
        rg_mesh_word word;
        double ignored;
        next_word(c, &word);
        if (!rg_parse_double(word.text, word.size, &ignored))
            status = rg_fail_at(reader->error, RG_SYNTAX, reader->name, word.line, word.column,
                                "'%s' in a normal is not a number; must be three numbers",
                                rg_mesh_quote(word, quote));
    }
    uint32_t corners[3] = {0};
    if (status == RG_OK)
        status = expect(reader, c, "outer");
    if (status == RG_OK)
        status = expect(reader, c, "loop");
    for (int i = 0; status == RG_OK && i < 3; i++)
        status = read_corner(reader, c, &corners[i]);
    if (status == RG_OK)
        status = expect(reader, c, "endloop");
    if (status == RG_OK)
        status = expect(reader, c, "endfacet");
    if (status == RG_OK)
        status = rg_mesh_add_triangle(reader, corners[0], corners[1], corners[2]);
    return status;
}

static rg_status read_text(rg_mesh_reader *reader) {
    rg_mesh_cursor cursor = {reader->data, reader->data + reader->size, reader->data, 1};
    rg_mesh_word word;
    while (next_word(&cursor, &word)) {
        if (!rg_mesh_word_is(word, "solid"))
            return unexpected(reader, word, "solid");
        skip_line(&cursor);
        for (;;) {
            next_word(&cursor, &word);
            if (rg_mesh_word_is(word, "endsolid"))
                break;
            if (!rg_mesh_word_is(word, "facet"))
                return unexpected(reader, word, "facet' or 'endsolid");
            rg_status status = read_facet(reader, &cursor);
            if (status != RG_OK)
                return status;
        }
        skip_line(&cursor);
    }
    return RG_OK;
}

/* ------------------------------------------------------------------ binary */

static rg_status read_binary(rg_mesh_reader *reader) {
    size_t size = reader->size;
    if (size < HEADER_BYTES)
        return rg_fail_at(
            reader->error, RG_FILE_DAMAGED, reader->name, 0, 0,
            "%zu bytes; a binary STL file must have at least %d, a text one must begin "
            "with 'solid'",
            size, HEADER_BYTES);
    uint32_t count = read_u32(reader->data + 80);
    if (!has_binary_size(reader->data, size))
        return rg_fail_at(
            reader->error, RG_FILE_DAMAGED, reader->name, 0, 0,
            "byte 80: a count of %lu triangles, but the file has %zu bytes; must have "
            "%llu (is it truncated?)",
            (unsigned long)count, size, HEADER_BYTES + (unsigned long long)TRIANGLE_BYTES * count);
    for (uint32_t t = 0; t < count; t++) {
        for (int corner = 0; corner < 3; corner++) {
            size_t byte = HEADER_BYTES + (size_t)TRIANGLE_BYTES * t + 12 + 12 * (size_t)corner;
            const char *at = reader->data + byte;
            rg_vec3 p = {read_float(at), read_float(at + 4), read_float(at + 8)};
            if (!rg_is_finite(p))
                return rg_fail_at(
                    reader->error, RG_NOT_FINITE, reader->name, 0, 0,
                    "byte %zu: corner %d of triangle %lu is not finite; must be three "
                    "finite numbers",
                    byte, corner, (unsigned long)t);
            rg_status status = rg_mesh_add_vertex(reader, p);
            if (status != RG_OK)
                return status;
        }
        rg_status status = rg_mesh_add_triangle(reader, 3 * t, 3 * t + 1, 3 * t + 2);
        if (status != RG_OK)
            return status;
    }
    return RG_OK;
}

/* ------------------------------------------------------------------ which */

/* Begins with `solid` and is text: binary headers are padded with zero bytes, and if not, the count
 * behind them has one. */
static bool is_text(const char *data, size_t size) {
    rg_mesh_cursor cursor = {data, data + size, data, 1};
    rg_mesh_word word;
    return next_word(&cursor, &word) && rg_mesh_word_is(word, "solid") &&
           !memchr(data, 0, size < PROBE_BYTES ? size : PROBE_BYTES);
}

bool rg_mesh_is_stl(const char *data, size_t size) {
    /* OBJ is text: zero bytes near the beginning mean a binary file, if a damaged one. */
    return has_binary_size(data, size) || is_text(data, size) ||
           memchr(data, 0, size < PROBE_BYTES ? size : PROBE_BYTES);
}

rg_status rg_mesh_read_stl(rg_mesh_reader *reader) {
    bool binary =
        has_binary_size(reader->data, reader->size) || !is_text(reader->data, reader->size);
    rg_status status = binary ? read_binary(reader) : read_text(reader);
    if (status == RG_OK && reader->index_count == 0)
        status = rg_fail_at(reader->error, RG_SYNTAX, reader->name, 0, 0,
                            "no triangles; must have at least four");
    return status;
}
