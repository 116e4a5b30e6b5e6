/* PLY (Turk 1994), text and binary of either order of bytes.
 *
 * A header of lines tells elements, their numbers and properties, in the order of the body: x, y
 * and z of `vertex` and the list vertex_indices (or vertex_index) of `face` are read, everything
 * else is read over. Faces with more than three corners are cut into triangles as those of OBJ.
 *
 * Fails with RG_SYNTAX, RG_FILE_DAMAGED, RG_NOT_FINITE or RG_LIMIT_EXCEEDED, and the place: line
 * and column of the header and of a text, byte of a binary body.
 * Tested by tests/shape/test_mesh.c. */
#include "shape/shape_mesh.h"

#include "base/base_math.h"
#include "base/base_memory.h"
#include "base/base_text.h"
#include "shape/shape.h"

#include <stdio.h>
#include <string.h>

enum { ELEMENTS = 16, PROPERTIES = 64 };

typedef enum ply_format { PLY_TEXT, PLY_LITTLE, PLY_BIG } ply_format;

typedef enum ply_type { INT8, UINT8, INT16, UINT16, INT32, UINT32, FLOAT32, FLOAT64 } ply_type;
static const char *const type_names[2][8] = {
    {"char", "uchar", "short", "ushort", "int", "uint", "float", "double"},
    {"int8", "uint8", "int16", "uint16", "int32", "uint32", "float32", "float64"}};
static const size_t type_sizes[8] = {1, 1, 2, 2, 4, 4, 4, 8};

typedef enum ply_role { OTHER, ROLE_X, ROLE_Y, ROLE_Z, ROLE_CORNERS } ply_role;

typedef struct ply_property {
    bool list;
    ply_type count_type, type;
    ply_role role;
} ply_property;

typedef struct ply_element {
    bool vertex;
    uint64_t count;
    size_t first, properties;
} ply_element;

typedef struct ply_reader {
    rg_mesh_reader *mesh;
    rg_mesh_cursor at;
    ply_format format;
    ply_element elements[ELEMENTS];
    size_t element_count;
    ply_property properties[PROPERTIES];
    size_t property_count;
    rg_mesh_face face;
} ply_reader;

bool rg_mesh_is_ply(const char *data, size_t size) {
    return size >= 4 && memcmp(data, "ply", 3) == 0 && (data[3] == '\n' || data[3] == '\r');
}

/* --- words ------------------------------------------------------------------------------------ */

static bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

static bool is_line_end(char c) {
    return c == '\n' || c == '\r';
}

/* The next word: of the line, or, in the body of a text, of any line. */
static rg_mesh_word next_word(rg_mesh_cursor *c, bool any_line) {
    while (c->at < c->end && (is_blank(*c->at) || (any_line && is_line_end(*c->at))))
        if (!rg_mesh_skip_newline(c))
            c->at++;
    rg_mesh_word word = {c->at, 0, c->line, (int)(c->at - c->line_start) + 1};
    while (c->at < c->end && !is_blank(*c->at) && !is_line_end(*c->at))
        c->at++;
    word.size = (size_t)(c->at - word.text);
    return word;
}

static void skip_line(rg_mesh_cursor *c) {
    while (c->at < c->end && !is_line_end(*c->at))
        c->at++;
    rg_mesh_skip_newline(c);
}

static rg_status unexpected(const ply_reader *p, rg_mesh_word word, const char *wanted) {
    char quote[RG_MESH_QUOTE_SIZE];
    if (word.size == 0)
        return rg_fail_at(p->mesh->error, RG_FILE_DAMAGED, p->mesh->name, word.line, word.column,
                          "the file or line ends here; must go on with %s", wanted);
    return rg_fail_at(p->mesh->error, RG_SYNTAX, p->mesh->name, word.line, word.column,
                      "'%s' is out of place; must be %s", rg_mesh_quote(word, quote), wanted);
}

/* --- the header ------------------------------------------------------------------------------- */

static rg_status read_format(ply_reader *p) {
    static const char *const names[3] = {"ascii", "binary_little_endian", "binary_big_endian"};
    rg_mesh_word word = next_word(&p->at, false);
    for (int i = 0; i < 3; i++)
        if (rg_mesh_word_is(word, names[i])) {
            p->format = (ply_format)i;
            return RG_OK;
        }
    return unexpected(p, word, "ascii, binary_little_endian or binary_big_endian");
}

static rg_status read_type(ply_reader *p, ply_type *type) {
    rg_mesh_word word = next_word(&p->at, false);
    for (int i = 0; i < 16; i++)
        if (rg_mesh_word_is(word, type_names[i / 8][i % 8])) {
            *type = (ply_type)(i % 8);
            return RG_OK;
        }
    return unexpected(p, word, "a type such as float or uchar");
}

static rg_status read_element(ply_reader *p) {
    rg_mesh_word name = next_word(&p->at, false), word = next_word(&p->at, false);
    double count;
    if (!rg_parse_double(word.text, word.size, &count) || !(count >= 0 && count <= 0x1p53) ||
        count != floor(count))
        return unexpected(p, word, "how many there are");
    if (p->element_count == ELEMENTS)
        return unexpected(p, name, "one of at most 16 elements");
    p->elements[p->element_count++] = (ply_element){
        .vertex = rg_mesh_word_is(name, "vertex"), (uint64_t)count, p->property_count, 0};
    return RG_OK;
}

static rg_status read_property(ply_reader *p) {
    rg_mesh_cursor start = p->at;
    ply_property property = {.list = rg_mesh_word_is(next_word(&p->at, false), "list")};
    rg_status status = RG_OK;
    if (property.list)
        status = read_type(p, &property.count_type);
    else
        p->at = start;
    if (status == RG_OK)
        status = read_type(p, &property.type);
    rg_mesh_word name = next_word(&p->at, false);
    if (status != RG_OK)
        return status;
    if (p->element_count == 0 || p->property_count == PROPERTIES)
        return unexpected(p, name, "a property of an element, one of at most 64");
    ply_element *element = &p->elements[p->element_count - 1];
    static const char *const axes[3] = {"x", "y", "z"};
    for (int i = 0; i < 3; i++)
        if (element->vertex && !property.list && rg_mesh_word_is(name, axes[i]))
            property.role = (ply_role)(ROLE_X + i);
    if (property.list && !element->vertex &&
        (rg_mesh_word_is(name, "vertex_indices") || rg_mesh_word_is(name, "vertex_index")))
        property.role = ROLE_CORNERS;
    p->properties[p->property_count++] = property;
    element->properties++;
    return RG_OK;
}

static rg_status read_header(ply_reader *p) {
    skip_line(&p->at); /* ply */
    for (rg_status status = RG_OK; status == RG_OK; skip_line(&p->at)) {
        rg_mesh_word word = next_word(&p->at, false);
        if (rg_mesh_word_is(word, "end_header")) {
            skip_line(&p->at);
            return RG_OK;
        }
        if (rg_mesh_word_is(word, "format"))
            status = read_format(p);
        else if (rg_mesh_word_is(word, "element"))
            status = read_element(p);
        else if (rg_mesh_word_is(word, "property"))
            status = read_property(p);
        else if (!rg_mesh_word_is(word, "comment") && !rg_mesh_word_is(word, "obj_info"))
            status = unexpected(p, word, "format, element, property, comment or end_header");
        if (status != RG_OK)
            return status;
    }
    return RG_OK;
}

/* --- the body --------------------------------------------------------------------------------- */

static size_t byte_of(const ply_reader *p) {
    return (size_t)(p->at.at - p->mesh->data);
}

static double number_of(const unsigned char *b, ply_type type) {
    uint64_t bits = 0;
    float single;
    double real;
    for (size_t i = type_sizes[type]; i-- > 0;)
        bits = bits << 8 | b[i];
    uint32_t low = (uint32_t)bits;
    switch (type) {
    case INT8:
        return (double)(int8_t)low;
    case INT16:
        return (double)(int16_t)low;
    case INT32:
        return (double)(int32_t)low;
    case FLOAT32:
        memcpy(&single, &low, sizeof single);
        return (double)single;
    case FLOAT64:
        memcpy(&real, &bits, sizeof real);
        return real;
    default:
        return (double)bits;
    }
}

static rg_status read_number(ply_reader *p, ply_type type, double *value) {
    if (p->format == PLY_TEXT) {
        rg_mesh_word word = next_word(&p->at, true);
        return rg_parse_double(word.text, word.size, value) ? RG_OK
                                                            : unexpected(p, word, "a number");
    }
    unsigned char bytes[8];
    size_t size = type_sizes[type];
    if ((size_t)(p->at.end - p->at.at) < size)
        return rg_fail_at(p->mesh->error, RG_FILE_DAMAGED, p->mesh->name, 0, 0,
                          "the file ends at byte %zu; its header promises more", byte_of(p));
    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)p->at.at[p->format == PLY_BIG ? size - 1 - i : i];
    p->at.at += size;
    *value = number_of(bytes, type);
    return RG_OK;
}

static rg_status fail_here(const ply_reader *p, rg_status status, const char *what) {
    bool text = p->format == PLY_TEXT;
    char place[32] = "";
    if (!text)
        snprintf(place, sizeof place, "byte %zu: ", byte_of(p));
    return rg_fail_at(p->mesh->error, status, p->mesh->name, text ? p->at.line : 0, text, "%s%s",
                      place, what);
}

static rg_status read_list(ply_reader *p, const ply_property *property) {
    double count, value;
    rg_status status = read_number(p, property->count_type, &count);
    if (status == RG_OK && !(count >= 0 && count <= RG_MESH_MOST_CORNERS && count == floor(count)))
        return fail_here(p, RG_LIMIT_EXCEEDED, "a list is too long, or its length no number");
    rg_mesh_face *face = &p->face;
    bool corners = property->role == ROLE_CORNERS;
    if (status == RG_OK && corners &&
        rg_array_grow(&p->mesh->allocator, &face->corners, &face->capacity, (size_t)count + 1))
        return rg_mesh_no_memory(p->mesh);
    for (size_t i = 0; i < (size_t)count && status == RG_OK; i++) {
        status = read_number(p, property->type, &value);
        if (status != RG_OK || !corners)
            continue;
        if (!(value >= 0 && value < (double)p->mesh->vertex_count && value == floor(value)))
            return fail_here(p, RG_SYNTAX,
                             "a face has a corner that is not one of the vertices before it");
        face->corners[i] = (uint32_t)value;
    }
    if (status != RG_OK || !corners)
        return status;
    face->count = (size_t)count;
    if (face->count < 3)
        return fail_here(p, RG_SYNTAX, "a face has fewer than three corners");
    return rg_mesh_add_face(p->mesh, face, (rg_mesh_word){p->at.at, 0, p->at.line, 0});
}

static rg_status read_item(ply_reader *p, const ply_element *element) {
    double at[3] = {0, 0, 0};
    rg_status status = RG_OK;
    for (size_t i = 0; i < element->properties && status == RG_OK; i++) {
        const ply_property *property = &p->properties[element->first + i];
        double value;
        if (property->list) {
            status = read_list(p, property);
            continue;
        }
        status = read_number(p, property->type, &value);
        if (property->role >= ROLE_X && property->role <= ROLE_Z)
            at[property->role - ROLE_X] = value;
    }
    if (status != RG_OK || !element->vertex)
        return status;
    rg_vec3 v = {at[0], at[1], at[2]};
    if (!rg_is_finite(v))
        return fail_here(p, RG_NOT_FINITE, "a vertex is not finite; must be numbers");
    if (rg_largest_entry(v) > RG_SHAPE_LARGEST)
        return fail_here(p, RG_INVALID_SIZE, "a vertex is too far out; must be at most 1e50 m");
    return rg_mesh_add_vertex(p->mesh, v);
}

rg_status rg_mesh_read_ply(rg_mesh_reader *mesh) {
    ply_reader p = {.mesh = mesh, .at = {mesh->data, mesh->data + mesh->size, mesh->data, 1}};
    rg_status status = read_header(&p);
    for (size_t i = 0; i < p.element_count && status == RG_OK; i++)
        for (uint64_t k = 0; p.elements[i].properties && k < p.elements[i].count && !status; k++)
            status = read_item(&p, &p.elements[i]);
    if (status == RG_OK && mesh->index_count == 0)
        status = rg_fail_at(mesh->error, RG_SYNTAX, mesh->name, 0, 0,
                            "no faces; must have an element face with a list vertex_indices");
    rg_release(&mesh->allocator, p.face.corners);
    rg_release(&mesh->allocator, p.face.next);
    rg_release(&mesh->allocator, p.face.previous);
    return status;
}
