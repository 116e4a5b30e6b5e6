/* A reader of chunks (docs/view-format.md), written for the tests from the description alone. */
#ifndef RIGOR_VIEW_SUPPORT_H
#define RIGOR_VIEW_SUPPORT_H

#include "record_support.h"

#include "rigor/view.h"

#include <math.h>
#include <zlib.h>

enum { VIEW_FIGURES = 20 };

typedef struct view_chunk {
    uint32_t flags, first, frames, bodies, contacts, figures;
    unsigned char *data; /* uncompressed; the arrays below are inside it or copies */
    double *time, *step;
    float *position, *orientation, *velocity, *angular;
    uint32_t *count, *a, *b, *mode;
    float *point, *normal, *force, *gap, *friction, *slip;
    uint32_t *load_count, *load_kind, *load_number, *load_body;
    float *load_point, *load_force, *load_torque;
    float *figure;
    void *copies[30];
    size_t copy_count;
} view_chunk;

static inline uint32_t view_u32(const unsigned char *p) {
    return p[0] + 256u * p[1] + 65536u * p[2] + 16777216u * p[3];
}

/* The words of an array, decoded. `starts[f]` is where the row of frame f begins; rows may differ
 * in length. */
static inline void *view_words(view_chunk *chunk, const unsigned char *from, size_t words,
                               const size_t *starts, bool coded) {
    uint32_t *out = calloc(words + 1, 4);
    assert_non_null(out);
    chunk->copies[chunk->copy_count++] = out;
    for (size_t i = 0; i < words; i++)
        out[i] = coded ? from[i] + 256u * from[words + i] + 65536u * from[2 * words + i] +
                             16777216u * from[3 * words + i]
                       : view_u32(from + 4 * i);
    for (size_t f = 1; coded && f < chunk->frames; f++)
        for (size_t i = starts[f]; i < starts[f + 1]; i++) {
            size_t before = starts[f - 1] + (i - starts[f]);
            if (before < starts[f])
                out[i] += out[before];
        }
    return out;
}

typedef struct view_cursor {
    view_chunk *chunk;
    const unsigned char *at;
    bool coded;
} view_cursor;

/* Rows of `counts[f]` times `columns` (null: `columns` each). */
static inline void *view_take(view_cursor *cursor, const uint32_t *counts, size_t columns) {
    view_chunk *chunk = cursor->chunk;
    size_t *starts = calloc(chunk->frames + 1u, sizeof *starts);
    assert_non_null(starts);
    for (size_t f = 0; f < chunk->frames; f++)
        starts[f + 1] = starts[f] + columns * (counts ? counts[f] : 1);
    size_t words = starts[chunk->frames];
    void *array = view_words(chunk, cursor->at, words, starts, cursor->coded);
    cursor->at += 4 * words;
    free(starts);
    return array;
}

static inline view_chunk view_read(const rg_view_buffer *buffer) {
    const unsigned char *head = buffer->bytes;
    assert_true(buffer->size >= 32);
    assert_memory_equal(head, "RGV1", 4);
    view_chunk chunk = {.flags = view_u32(head + 4),
                        .first = view_u32(head + 8),
                        .frames = view_u32(head + 12),
                        .bodies = view_u32(head + 16),
                        .contacts = view_u32(head + 20),
                        .figures = view_u32(head + 24)};
    size_t size = view_u32(head + 28);
    chunk.data = calloc(size + 1, 1);
    assert_non_null(chunk.data);
    if (chunk.flags & 1) {
        uLongf got = size;
        assert_int_equal(uncompress(chunk.data, &got, head + 32, buffer->size - 32), Z_OK);
        assert_int_equal(got, size);
    } else {
        assert_int_equal(buffer->size, 32 + size);
        memcpy(chunk.data, head + 32, size);
    }
    assert_int_equal(chunk.figures, chunk.flags & 8 ? VIEW_FIGURES : 0);
    view_cursor cursor = {&chunk, chunk.data, chunk.flags & 2};
    chunk.time = (double *)(void *)chunk.data;
    chunk.step = chunk.time + chunk.frames;
    cursor.at += 16 * (size_t)chunk.frames;
    chunk.position = view_take(&cursor, NULL, 3 * (size_t)chunk.bodies);
    chunk.orientation = view_take(&cursor, NULL, 4 * (size_t)chunk.bodies);
    chunk.velocity = view_take(&cursor, NULL, 3 * (size_t)chunk.bodies);
    chunk.angular = view_take(&cursor, NULL, 3 * (size_t)chunk.bodies);
    if (chunk.flags & 4) {
        cursor.coded = false;
        chunk.count = view_take(&cursor, NULL, 1);
        cursor.coded = chunk.flags & 2;
        chunk.a = view_take(&cursor, chunk.count, 1);
        chunk.b = view_take(&cursor, chunk.count, 1);
        chunk.mode = view_take(&cursor, chunk.count, 1);
        chunk.point = view_take(&cursor, chunk.count, 3);
        chunk.normal = view_take(&cursor, chunk.count, 3);
        chunk.force = view_take(&cursor, chunk.count, 3);
        chunk.gap = view_take(&cursor, chunk.count, 1);
        chunk.friction = view_take(&cursor, chunk.count, 1);
        chunk.slip = view_take(&cursor, chunk.count, 1);
    } else {
        assert_int_equal(chunk.contacts, 0);
    }
    if (chunk.flags & 16) {
        cursor.coded = false;
        chunk.load_count = view_take(&cursor, NULL, 1);
        cursor.coded = chunk.flags & 2;
        chunk.load_kind = view_take(&cursor, chunk.load_count, 1);
        chunk.load_number = view_take(&cursor, chunk.load_count, 1);
        chunk.load_body = view_take(&cursor, chunk.load_count, 1);
        chunk.load_point = view_take(&cursor, chunk.load_count, 3);
        chunk.load_force = view_take(&cursor, chunk.load_count, 3);
        chunk.load_torque = view_take(&cursor, chunk.load_count, 3);
    }
    if (chunk.flags & 8)
        chunk.figure = view_take(&cursor, NULL, VIEW_FIGURES);
    assert_true(cursor.at == chunk.data + size);
    return chunk;
}

static inline void view_free(view_chunk *chunk) {
    for (size_t i = 0; i < chunk->copy_count; i++)
        free(chunk->copies[i]);
    free(chunk->data);
}

/* ---- whether a text is JSON ---- */

static inline const char *json_skip(const char *c);

static inline const char *json_list(const char *c, char end, bool named) {
    c += strspn(c, " \n");
    if (*c == end)
        return c + 1;
    for (;;) {
        if (named) {
            c += strspn(c, " \n");
            if (*c != '"' || !(c = json_skip(c)) || *c++ != ':')
                return NULL;
        }
        if (!(c = json_skip(c)))
            return NULL;
        c += strspn(c, " \n");
        if (*c == end)
            return c + 1;
        if (*c++ != ',')
            return NULL;
    }
}

/* Past one value, or null. */
static inline const char *json_skip(const char *c) {
    c += strspn(c, " \n");
    static const char *const words[] = {"true", "false", "null"};
    for (int i = 0; i < 3; i++)
        if (strncmp(c, words[i], strlen(words[i])) == 0)
            return c + strlen(words[i]);
    if (*c == '{' || *c == '[')
        return json_list(c + 1, *c == '{' ? '}' : ']', *c == '{');
    if (*c == '"') {
        for (c++; *c && *c != '"'; c++) {
            if ((unsigned char)*c < 0x20)
                return NULL;
            if (*c == '\\' && !(c[1] && strchr("\"\\/bfnrtu", *++c)))
                return NULL;
        }
        return *c ? c + 1 : NULL;
    }
    size_t length = strspn(c, "-+.eE0123456789");
    char *end;
    strtod(c, &end);
    return length && end == c + length && (c[0] == '-' ? c[1] : c[0]) != '.' ? end : NULL;
}

static inline bool is_json(const rg_view_buffer *buffer) {
    char *text = calloc(buffer->size + 1, 1);
    assert_non_null(text);
    memcpy(text, buffer->bytes, buffer->size);
    const char *end = json_skip(text);
    bool good = end && end[strspn(end, " \n")] == '\0' && strlen(text) == buffer->size;
    free(text);
    return good;
}

static inline bool contains(const rg_view_buffer *buffer, const char *text) {
    size_t size = strlen(text);
    for (size_t i = 0; i + size <= buffer->size; i++)
        if (memcmp(buffer->bytes + i, text, size) == 0)
            return true;
    return false;
}

#endif
