/* Wavefront OBJ: `v` and `f` statements, all or those of one group (after `g` or `o`); all others
 * (normals, texture, materials, lines) are skipped.
 *
 * Faces are v, v/vt, v//vn or v/vt/vn, counted from 1, or from -1 backwards; a face may use only
 * vertices that stand before it. Faces with more than three corners are cut into triangles: a fan
 * if convex, ears (Meisters 1975) otherwise. A backslash at the end of a line continues it.
 *
 * Fails with RG_SYNTAX, RG_NOT_FINITE or RG_LIMIT_EXCEEDED, and the place.
 * Tested by tests/shape/test_mesh.c. */
#include "shape/shape_mesh.h"

#include "base/base_math.h"
#include "base/base_memory.h"
#include "base/base_text.h"

/* ------------------------------------------------------------------ words */

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\v' || c == '\f' || c == 0;
}

static bool is_newline(char c) {
    return c == '\n' || c == '\r';
}

/* A backslash directly before the end of a line joins it with the next one. */
static bool skip_continuation(rg_mesh_cursor *c) {
    if (c->at + 1 >= c->end || *c->at != '\\' || !is_newline(c->at[1]))
        return false;
    c->at++;
    return rg_mesh_skip_newline(c);
}

/* The next word of the statement; false at its end. */
static bool next_word(rg_mesh_cursor *c, rg_mesh_word *word) {
    while (c->at < c->end && (is_blank(*c->at) ? c->at++, true : skip_continuation(c))) {
    }
    if (c->at == c->end || is_newline(*c->at) || *c->at == '#')
        return false;
    *word = (rg_mesh_word){c->at, 0, c->line, (int)(c->at - c->line_start) + 1};
    while (c->at < c->end && !is_blank(*c->at) && !is_newline(*c->at) &&
           !(*c->at == '\\' && c->at + 1 < c->end && is_newline(c->at[1])))
        c->at++;
    word->size = (size_t)(c->at - word->text);
    return true;
}

static void end_statement(rg_mesh_cursor *c) {
    rg_mesh_word word;
    while (next_word(c, &word)) {
    }
    while (c->at < c->end && !is_newline(*c->at)) /* a comment, which nothing continues */
        c->at++;
    rg_mesh_skip_newline(c);
}

/* ------------------------------------------------------------------ statements */

static rg_status read_vertex(rg_mesh_reader *reader, rg_mesh_cursor *c, rg_mesh_word start) {
    double at[3];
    for (int i = 0; i < 3; i++) {
        rg_mesh_word word;
        if (!next_word(c, &word))
            return rg_fail_at(reader->error, RG_SYNTAX, reader->name, start.line, start.column,
                              "vertex with %d coordinates; must have 3: v x y z", i);
        rg_status status = rg_mesh_coordinate(reader, word, "vertex", &at[i]);
        if (status != RG_OK)
            return status;
    }
    return rg_mesh_add_vertex(reader, rg_vec3_make(at[0], at[1], at[2]));
}

/* The number before the first slash; the rest may only be digits, signs and one more slash. */
static bool parse_corner(rg_mesh_word word, int64_t *index) {
    size_t i = 0;
    bool negative = word.size > 0 && word.text[0] == '-';
    int slashes = 0;
    i += negative;
    size_t first_digit = i;
    *index = 0;
    for (; i < word.size && word.text[i] >= '0' && word.text[i] <= '9'; i++)
        *index = *index < INT32_MAX ? 10 * *index + (word.text[i] - '0') : *index;
    if (i == first_digit)
        return false;
    if (negative)
        *index = -*index;
    for (; i < word.size; i++) {
        char ch = word.text[i];
        slashes += ch == '/';
        if (!(ch == '/' || ch == '-' || (ch >= '0' && ch <= '9' && slashes)) || slashes > 2)
            return false;
    }
    return true;
}

static rg_status read_corner(rg_mesh_reader *reader, rg_mesh_word word, uint32_t *vertex) {
    char quote[RG_MESH_QUOTE_SIZE];
    int64_t index, count = (int64_t)reader->vertex_count;
    if (!parse_corner(word, &index))
        return rg_fail_at(reader->error, RG_SYNTAX, reader->name, word.line, word.column,
                          "'%s' is not a corner of a face; it must be v, v/vt, v//vn or v/vt/vn",
                          rg_mesh_quote(word, quote));
    if (index == 0)
        return rg_fail_at(reader->error, RG_SYNTAX, reader->name, word.line, word.column,
                          "vertex index 0; must count from 1, or from -1 backwards");
    if (index > count || index < -count)
        return rg_fail_at(reader->error, RG_SYNTAX, reader->name, word.line, word.column,
                          "vertex index %lld; must be one of the %lld vertices before this line",
                          (long long)index, (long long)count);
    *vertex = (uint32_t)(index > 0 ? index - 1 : count + index);
    return RG_OK;
}

/* ------------------------------------------------------------------ faces */

static rg_vec3 corner_at(const rg_mesh_reader *reader, const rg_mesh_face *face, size_t i) {
    return reader->vertices[face->corners[i]];
}

/* Vector area of the face (Newell), relative to its first corner. */
static rg_vec3 face_area(const rg_mesh_reader *reader, const rg_mesh_face *face) {
    rg_vec3 area = {0, 0, 0}, a = corner_at(reader, face, 0);
    for (size_t i = 1; i + 1 < face->count; i++)
        area = rg_add(area, rg_cross(rg_sub(corner_at(reader, face, i), a),
                                     rg_sub(corner_at(reader, face, i + 1), a)));
    return area;
}

/* Positive if a, b, c turn left seen against the normal. */
static double turn(rg_vec3 normal, rg_vec3 a, rg_vec3 b, rg_vec3 c) {
    return rg_dot(normal, rg_cross(rg_sub(b, a), rg_sub(c, b)));
}

/* Every corner turns left, and so does every triangle of the fan from the first corner (which tells
 * a convex polygon from one that goes round twice). */
static bool is_convex(const rg_mesh_reader *reader, const rg_mesh_face *face, rg_vec3 normal) {
    rg_vec3 first = corner_at(reader, face, 0);
    for (size_t i = 0; i < face->count; i++) {
        rg_vec3 a = corner_at(reader, face, i), b = corner_at(reader, face, (i + 1) % face->count);
        rg_vec3 c = corner_at(reader, face, (i + 2) % face->count);
        if (turn(normal, a, b, c) < 0 || turn(normal, first, a, b) < 0)
            return false;
    }
    return true;
}

static rg_status crosses_itself(rg_mesh_reader *reader, const rg_mesh_face *face,
                                rg_mesh_word start) {
    return rg_fail_at(reader->error, RG_SYNTAX, reader->name, start.line, start.column,
                      "face with %zu corners crosses itself; must be a simple polygon or triangles",
                      face->count);
}

/* Whether corner i can be cut off: it turns left (or, if `flat`, straight on) and no other corner
 * lies in the triangle. */
static bool is_ear(const rg_mesh_reader *reader, const rg_mesh_face *face, rg_vec3 normal,
                   uint32_t i, bool flat) {
    uint32_t before = face->previous[i], after = face->next[i];
    rg_vec3 a = corner_at(reader, face, before), b = corner_at(reader, face, i);
    rg_vec3 c = corner_at(reader, face, after);
    double here = turn(normal, a, b, c);
    if (!(here > 0 || (flat && here == 0)))
        return false;
    for (uint32_t k = face->next[after]; k != before; k = face->next[k]) {
        rg_vec3 p = corner_at(reader, face, k);
        uint32_t same = face->corners[k];
        if (same == face->corners[before] || same == face->corners[i] ||
            same == face->corners[after])
            continue;
        if (turn(normal, a, b, p) >= 0 && turn(normal, b, c, p) >= 0 && turn(normal, c, a, p) >= 0)
            return false;
    }
    return true;
}

static rg_status clip_ears(rg_mesh_reader *reader, rg_mesh_face *face, rg_vec3 normal,
                           rg_mesh_word start) {
    uint32_t count = (uint32_t)face->count, at = 0, left = count, tried = 0;
    if (rg_array_grow(&reader->allocator, &face->next, &face->next_capacity, count) != RG_OK ||
        rg_array_grow(&reader->allocator, &face->previous, &face->previous_capacity, count) !=
            RG_OK)
        return rg_mesh_no_memory(reader);
    for (uint32_t i = 0; i < count; i++) {
        face->next[i] = (i + 1) % count;
        face->previous[i] = (i + count - 1) % count;
    }
    while (left > 3) {
        if (is_ear(reader, face, normal, at, tried >= left)) {
            uint32_t before = face->previous[at], after = face->next[at];
            rg_status status = rg_mesh_add_triangle(reader, face->corners[before],
                                                    face->corners[at], face->corners[after]);
            if (status != RG_OK)
                return status;
            face->next[before] = after;
            face->previous[after] = before;
            left--;
            tried = 0;
        } else if (++tried == 2 * left)
            return crosses_itself(reader, face, start);
        at = face->next[at];
    }
    uint32_t before = face->previous[at], after = face->next[at];
    if (turn(normal, corner_at(reader, face, before), corner_at(reader, face, at),
             corner_at(reader, face, after)) < 0)
        return crosses_itself(reader, face, start); /* more was cut off than there was */
    return rg_mesh_add_triangle(reader, face->corners[before], face->corners[at],
                                face->corners[after]);
}

/* All corners on one line: no area, but perhaps needed to close the surface. */
static bool is_straight(const rg_mesh_reader *reader, const rg_mesh_face *face) {
    rg_vec3 a = corner_at(reader, face, 0);
    for (size_t i = 1; i + 1 < face->count; i++) {
        rg_vec3 area = rg_cross(rg_sub(corner_at(reader, face, i), a),
                                rg_sub(corner_at(reader, face, i + 1), a));
        if (rg_largest_entry(area) > 0)
            return false;
    }
    return true;
}

rg_status rg_mesh_add_face(rg_mesh_reader *reader, rg_mesh_face *face, rg_mesh_word start) {
    rg_vec3 normal = rg_normalised(face_area(reader, face));
    if (face->count > 3 && !(rg_largest_entry(normal) > 0) && !is_straight(reader, face))
        return crosses_itself(reader, face, start);
    if (face->count > 3 && !is_convex(reader, face, normal))
        return clip_ears(reader, face, normal, start);
    for (size_t i = 1; i + 1 < face->count; i++) {
        rg_status status =
            rg_mesh_add_triangle(reader, face->corners[0], face->corners[i], face->corners[i + 1]);
        if (status != RG_OK)
            return status;
    }
    return RG_OK;
}

static rg_status read_face(rg_mesh_reader *reader, rg_mesh_cursor *c, rg_mesh_face *face,
                           rg_mesh_word start) {
    rg_mesh_word word;
    face->count = 0;
    while (next_word(c, &word)) {
        uint32_t vertex = 0;
        rg_status status = read_corner(reader, word, &vertex);
        if (status != RG_OK)
            return status;
        if (face->count == RG_MESH_MOST_CORNERS)
            return rg_fail_at(reader->error, RG_LIMIT_EXCEEDED, reader->name, word.line,
                              word.column,
                              "face with more than %d corners; must be cut into smaller ones",
                              RG_MESH_MOST_CORNERS);
        if (rg_array_grow(&reader->allocator, &face->corners, &face->capacity, face->count + 1) !=
            RG_OK)
            return rg_mesh_no_memory(reader);
        face->corners[face->count++] = vertex;
    }
    if (face->count < 3)
        return rg_fail_at(reader->error, RG_SYNTAX, reader->name, start.line, start.column,
                          "face with %zu corners; must have at least 3", face->count);
    return rg_mesh_add_face(reader, face, start);
}

rg_status rg_mesh_read_obj(rg_mesh_reader *reader) {
    rg_mesh_cursor cursor = {reader->data, reader->data + reader->size, reader->data, 1};
    rg_mesh_face face = {0};
    rg_status status = RG_OK;
    size_t group = 0;
    bool begins = true; /* a group: it counts once it has a face */
    while (status == RG_OK && cursor.at < cursor.end) {
        rg_mesh_word word;
        if (next_word(&cursor, &word) && word.size == 1) {
            char kind = word.text[0];
            group += kind == 'f' && begins;
            begins = kind == 'g' || kind == 'o' || (begins && kind != 'f');
            if (kind == 'v')
                status = read_vertex(reader, &cursor, word);
            else if (kind == 'f' && (reader->group == 0 || reader->group == group))
                status = read_face(reader, &cursor, &face, word);
        }
        if (status == RG_OK)
            end_statement(&cursor);
    }
    rg_release(&reader->allocator, face.corners);
    rg_release(&reader->allocator, face.next);
    rg_release(&reader->allocator, face.previous);
    if (status == RG_OK && reader->group > group)
        status = rg_fail_at(reader->error, RG_NOT_FOUND, reader->name, 0, 0,
                            "group %zu; there are %zu with faces", reader->group, group);
    else if (status == RG_OK && reader->index_count == 0)
        status = rg_fail_at(reader->error, RG_SYNTAX, reader->name, 0, 0,
                            "no faces; must have lines such as 'f 1 2 3' after the vertices");
    return status;
}
