/* glTF 2.0 in, for shapes: the triangles of all nodes of the scene, placed as the nodes say. Binary
 * (.glb), or text (.gltf) with its buffers inside as base64; buffers in files of their own,
 * compressed and sparse ones are refused. Materials, animations and the like are passed over.
 *
 * The text is cut into tokens in one pass, each with the number of the token behind it and all that
 * is inside it, so that looking for a key goes from sibling to sibling.
 * Tested by tests/shape/test_mesh_gltf.c. */
#include "shape/shape_mesh.h"

#include "base/base_math.h"
#include "base/base_memory.h"
#include "base/base_text.h"
#include "shape/shape.h"

#include <string.h>

enum {
    DEEPEST = 64, /* JSON and nodes inside each other */
    /* Points, corners and tokens that are looked at for the nodes, for each byte of the file. One
     * that uses all of its numbers once has below 2; 1,000 nodes at places of their own that
     * share a mesh of 1,000 triangles have some 60. */
    UNFOLDED_MOST = 100
};
/* Whole numbers of a file are below this: bytes, and numbers of things. */
#define MOST_WHOLE 4e9
#define NONE       UINT32_MAX

typedef struct token {
    char kind; /* { [ " or 0: a number, true, false, null */
    uint32_t start, end, after;
} token;

typedef struct bytes {
    const uint8_t *data;
    size_t size;
} bytes;

/* Lists of the file whose items are used by number. */
typedef enum list_kind { NODES, MESHES, ACCESSORS, VIEWS, BUFFERS, LISTS } list_kind;
static const char *const list_names[LISTS] = {"nodes", "meshes", "accessors", "bufferViews",
                                              "buffers"};

typedef struct item_list {
    uint32_t *items; /* tokens */
    size_t count;
} item_list;

typedef struct gltf {
    rg_mesh_reader *reader;
    const char *text;
    size_t size, at;
    token *tokens;
    size_t count, capacity;
    item_list lists[LISTS];
    bytes binary;   /* the second chunk of a .glb */
    uint8_t **kept; /* decoded buffers, by number */
    size_t *kept_size;
    uint8_t *used; /* nodes: 1, once they are placed */
    size_t work;   /* up to UNFOLDED_MOST times the size of the file */
} gltf;

static rg_status fail(gltf *g, rg_status status, const char *what) {
    return rg_fail_at(g->reader->error, status, g->reader->name, 0, 0, "glTF: %s", what);
}

/* Numbers may be shared, so that the work is not bounded by the size of a file alone. */
static rg_status count_work(gltf *g, size_t amount) {
    size_t most = UNFOLDED_MOST * g->reader->size;
    if (amount > most || g->work > most - amount)
        return rg_fail_at(g->reader->error, RG_LIMIT_EXCEEDED, g->reader->name, 0, 0,
                          "glTF: nodes unfold to more than %d times what the file holds; each must "
                          "use its mesh, and each mesh its numbers, fewer times",
                          UNFOLDED_MOST);
    g->work += amount;
    return RG_OK;
}

/* --- JSON ------------------------------------------------------------------------------------- */

static void skip_space(gltf *g) {
    while (g->at < g->size && memchr(" \t\r\n", g->text[g->at], 4))
        g->at++;
}

static rg_status parse_value(gltf *g, int depth);

static rg_status parse_text(gltf *g) {
    for (g->at++; g->at < g->size && g->text[g->at] != '"'; g->at++)
        if (g->text[g->at] == '\\')
            g->at++;
    if (g->at >= g->size)
        return fail(g, RG_SYNTAX, "a text does not end");
    g->at++;
    return RG_OK;
}

static rg_status parse_inside(gltf *g, char kind, int depth) {
    char close = kind == '{' ? '}' : ']';
    rg_status status = RG_OK;
    g->at++;
    skip_space(g);
    while (!status && g->at < g->size && g->text[g->at] != close) {
        if (kind == '{') {
            if (g->text[g->at] != '"')
                return fail(g, RG_SYNTAX, "a key is not a text");
            status = parse_value(g, depth);
            skip_space(g);
            if (!status && (g->at >= g->size || g->text[g->at++] != ':'))
                return fail(g, RG_SYNTAX, "a key without ':'");
        }
        if (!status)
            status = parse_value(g, depth);
        skip_space(g);
        if (g->at < g->size && g->text[g->at] == ',') {
            g->at++;
            skip_space(g);
        } else if (!status && (g->at >= g->size || g->text[g->at] != close)) {
            return fail(g, RG_SYNTAX, "a list or mapping does not end");
        }
    }
    if (!status && g->at >= g->size)
        return fail(g, RG_SYNTAX, "a list or mapping does not end");
    g->at++;
    return status;
}

static rg_status parse_value(gltf *g, int depth) {
    skip_space(g);
    if (g->at >= g->size || depth > DEEPEST)
        return fail(g, RG_SYNTAX, "the JSON ends too early, or is too deep");
    if (rg_array_grow(&g->reader->allocator, &g->tokens, &g->capacity, g->count + 1) != RG_OK)
        return rg_mesh_no_memory(g->reader);
    size_t own = g->count++;
    char first = g->text[g->at];
    g->tokens[own] = (token){.start = (uint32_t)g->at};
    rg_status status = RG_OK;
    if (first == '{' || first == '[') {
        g->tokens[own].kind = first;
        status = parse_inside(g, first, depth + 1);
    } else if (first == '"') {
        g->tokens[own].kind = first;
        g->tokens[own].start++;
        status = parse_text(g);
    } else {
        while (g->at < g->size && !memchr(",]} \t\r\n", g->text[g->at], 7))
            g->at++;
        if (g->at == g->tokens[own].start)
            return fail(g, RG_SYNTAX, "a value is missing");
    }
    g->tokens[own].end = (uint32_t)(g->at - (first == '"'));
    g->tokens[own].after = (uint32_t)g->count;
    return status;
}

/* The value of a key; NONE if there is none. */
static uint32_t get(const gltf *g, uint32_t object, const char *key) {
    if (object == NONE || g->tokens[object].kind != '{')
        return NONE;
    size_t length = strlen(key);
    for (uint32_t i = object + 1; i < g->tokens[object].after;) {
        const token *k = &g->tokens[i];
        uint32_t value = k->after;
        if (k->end - k->start == length && memcmp(g->text + k->start, key, length) == 0)
            return value;
        i = g->tokens[value].after;
    }
    return NONE;
}

/* The first item of a list, and the one after an item; NONE at the end, or where there is none. */
static uint32_t first_item(const gltf *g, uint32_t list) {
    bool any = list != NONE && g->tokens[list].kind == '[' && list + 1 < g->tokens[list].after;
    return any ? list + 1 : NONE;
}

static uint32_t next_item(const gltf *g, uint32_t list, uint32_t at) {
    uint32_t next = g->tokens[at].after;
    return next < g->tokens[list].after ? next : NONE;
}

/* The item with this number of a list; NONE if there is none. */
static uint32_t item(const gltf *g, uint32_t list, size_t number) {
    uint32_t at = first_item(g, list);
    while (at != NONE && number-- > 0)
        at = next_item(g, list, at);
    return at;
}

static bool number_of(const gltf *g, uint32_t at, double *value) {
    return at != NONE && g->tokens[at].kind == 0 &&
           rg_parse_double(g->text + g->tokens[at].start, g->tokens[at].end - g->tokens[at].start,
                           value) &&
           isfinite(*value);
}

/* A whole number from 0. */
static bool is_whole(const gltf *g, uint32_t at, size_t *value) {
    double x;
    if (!number_of(g, at, &x) || !(x >= 0 && x <= MOST_WHOLE) || x != floor(x))
        return false;
    *value = (size_t)x;
    return true;
}

/* The whole number of a key; `fallback` if the key is not there. */
static bool whole_of(const gltf *g, uint32_t object, const char *key, size_t fallback,
                     size_t *value) {
    uint32_t at = get(g, object, key);
    *value = fallback;
    return at == NONE || is_whole(g, at, value);
}

static bool text_is(const gltf *g, uint32_t at, const char *text) {
    return at != NONE && g->tokens[at].kind == '"' &&
           g->tokens[at].end - g->tokens[at].start == strlen(text) &&
           memcmp(g->text + g->tokens[at].start, text, strlen(text)) == 0;
}

static rg_status index_lists(gltf *g) {
    for (int k = 0; k < LISTS; k++) {
        uint32_t list = get(g, 0, list_names[k]);
        item_list *l = &g->lists[k];
        size_t count = 0;
        for (uint32_t i = first_item(g, list); i != NONE; i = next_item(g, list, i))
            count++;
        l->items = rg_allocate(&g->reader->allocator, count, sizeof *l->items);
        if (!l->items)
            return rg_mesh_no_memory(g->reader);
        for (uint32_t i = first_item(g, list); i != NONE; i = next_item(g, list, i))
            l->items[l->count++] = i;
    }
    return RG_OK;
}

/* The item with this number of a list; NONE if there is none. */
static uint32_t entry(const gltf *g, list_kind list, size_t number) {
    return number < g->lists[list].count ? g->lists[list].items[number] : NONE;
}

/* Tokens of a value, which looking for its keys goes through. */
static size_t tokens_of(const gltf *g, uint32_t at) {
    return at == NONE ? 0 : g->tokens[at].after - at;
}

/* --- buffers ---------------------------------------------------------------------------------- */

static int base64_digit(char c) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *found = c ? strchr(digits, c) : NULL;
    return found ? (int)(found - digits) : -1;
}

static rg_status decode(gltf *g, const char *text, size_t size, size_t number) {
    uint8_t *out = rg_allocate(&g->reader->allocator, size / 4 * 3 + 3, 1);
    if (!out)
        return rg_mesh_no_memory(g->reader);
    g->kept[number] = out;
    uint32_t bits = 0;
    int held = 0;
    for (size_t i = 0; i < size && text[i] != '='; i++) {
        int digit = base64_digit(text[i]);
        if (digit < 0)
            return fail(g, RG_FILE_DAMAGED, "a buffer is not base64");
        bits = (bits << 6 | (uint32_t)digit) & 0xffffff;
        held += 6;
        if (held >= 8) {
            held -= 8;
            out[g->kept_size[number]++] = (uint8_t)(bits >> held);
        }
    }
    return RG_OK;
}

static rg_status find_buffer(gltf *g, size_t number, bytes *found) {
    uint32_t buffer = entry(g, BUFFERS, number), uri = get(g, buffer, "uri");
    if (buffer == NONE)
        return fail(g, RG_FILE_DAMAGED, "a view of a buffer that is not there");
    if (uri == NONE) {
        *found = g->binary;
        return number == 0 ? RG_OK : fail(g, RG_FILE_DAMAGED, "a buffer without data");
    }
    const char *text = g->text + g->tokens[uri].start;
    size_t size = g->tokens[uri].end - g->tokens[uri].start, head = 0;
    while (head + 8 <= size && memcmp(text + head, ";base64,", 8) != 0)
        head++;
    rg_status status = count_work(g, head);
    if (status)
        return status;
    if (size < 5 || memcmp(text, "data:", 5) != 0 || head + 8 > size)
        return fail(g, RG_UNSUPPORTED,
                    "a buffer in a file of its own; must be .glb, or have its buffers inside");
    if (!g->kept[number])
        status = decode(g, text + head + 8, size - head - 8, number);
    *found = (bytes){g->kept[number], g->kept_size[number]};
    return status;
}

typedef struct column {
    const uint8_t *data;
    size_t count, stride, type;
} column;

/* The bytes of an accessor, with elements of `parts` numbers. */
static rg_status find_column(gltf *g, size_t number, size_t parts, column *c) {
    uint32_t accessor = entry(g, ACCESSORS, number);
    size_t view_number, start, offset, length, buffer, size;
    bytes found = {0};
    if (accessor == NONE || get(g, accessor, "sparse") != NONE ||
        get(g, accessor, "bufferView") == NONE ||
        !text_is(g, get(g, accessor, "type"), parts == 3 ? "VEC3" : "SCALAR"))
        return fail(g, RG_UNSUPPORTED,
                    "an accessor that is sparse, compressed, not there or of another type; must be "
                    "plain numbers");
    if (!whole_of(g, accessor, "bufferView", 0, &view_number) ||
        !whole_of(g, accessor, "byteOffset", 0, &start) ||
        !whole_of(g, accessor, "count", 0, &c->count) ||
        !whole_of(g, accessor, "componentType", 0, &c->type))
        return fail(g, RG_FILE_DAMAGED, "an accessor without whole numbers");
    size = c->type == 5121 ? 1 : c->type == 5123 ? 2 : c->type == 5125 || c->type == 5126 ? 4 : 0;
    uint32_t view = entry(g, VIEWS, view_number);
    if (size == 0 || view == NONE || !whole_of(g, view, "buffer", 0, &buffer) ||
        !whole_of(g, view, "byteOffset", 0, &offset) ||
        !whole_of(g, view, "byteLength", 0, &length) ||
        !whole_of(g, view, "byteStride", size * parts, &c->stride))
        return fail(g, RG_FILE_DAMAGED, "a view of a buffer without whole numbers");
    rg_status status = count_work(g, tokens_of(g, accessor) + tokens_of(g, view) +
                                         tokens_of(g, entry(g, BUFFERS, buffer)));
    if (!status)
        status = find_buffer(g, buffer, &found);
    if (status)
        return status;
    if (offset > found.size || length > found.size - offset || c->stride < size * parts ||
        (c->count > 0 && (start > length || length - start < size * parts ||
                          (c->count - 1) > (length - start - size * parts) / c->stride)))
        return fail(g, RG_FILE_DAMAGED, "an accessor reaches beyond its buffer");
    c->data = found.data + offset + start;
    return RG_OK;
}

static uint32_t word_at(const uint8_t *p) {
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint32_t whole_at(const column *c, size_t i) {
    const uint8_t *p = c->data + i * c->stride;
    if (c->type == 5125)
        return word_at(p);
    return c->type == 5121 ? p[0] : (uint32_t)p[0] | (uint32_t)p[1] << 8;
}

static float float_at(const uint8_t *p) {
    uint32_t bits = word_at(p);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* --- meshes ----------------------------------------------------------------------------------- */

typedef struct placing {
    rg_vec3 column[4]; /* of the upper three rows of a matrix */
} placing;

static rg_vec3 place(const placing *m, rg_vec3 p) {
    rg_vec3 sum = rg_add_scaled(m->column[3], p.x, m->column[0]);
    return rg_add_scaled(rg_add_scaled(sum, p.y, m->column[1]), p.z, m->column[2]);
}

static rg_status add_points(gltf *g, const column *c, const placing *m) {
    for (size_t i = 0; i < c->count; i++) {
        const uint8_t *at = c->data + i * c->stride;
        rg_vec3 p = place(m, (rg_vec3){float_at(at), float_at(at + 4), float_at(at + 8)});
        if (!rg_is_finite(p) || rg_largest_entry(p) > RG_SHAPE_LARGEST)
            return fail(g, RG_NOT_FINITE, "a place is not finite, or beyond 1e50 m");
        rg_status status = rg_mesh_add_vertex(g->reader, p);
        if (status)
            return status;
    }
    return RG_OK;
}

static rg_status add_primitive(gltf *g, uint32_t primitive, const placing *m) {
    size_t mode, points, indices, first = g->reader->vertex_count;
    column place_column, corner = {0};
    uint32_t position = get(g, get(g, primitive, "attributes"), "POSITION");
    uint32_t list = get(g, primitive, "indices");
    if (!whole_of(g, primitive, "mode", 4, &mode) || mode != 4)
        return fail(g, RG_UNSUPPORTED, "points, lines or strips; must be triangles (mode 4)");
    if (position == NONE || !whole_of(g, get(g, primitive, "attributes"), "POSITION", 0, &points) ||
        !whole_of(g, primitive, "indices", 0, &indices))
        return fail(g, RG_FILE_DAMAGED, "triangles without places");
    rg_status status = find_column(g, points, 3, &place_column);
    if (!status && place_column.type != 5126)
        return fail(g, RG_UNSUPPORTED, "positions that are not floats");
    if (!status && list != NONE)
        status = find_column(g, indices, 1, &corner);
    if (!status && list != NONE && corner.type == 5126)
        return fail(g, RG_FILE_DAMAGED, "numbers of corners that are floats");
    size_t count = list != NONE ? corner.count : place_column.count;
    if (!status)
        status = count_work(g, place_column.count + count + tokens_of(g, primitive));
    if (!status)
        status = add_points(g, &place_column, m);
    for (size_t i = 0; i + 2 < count && !status; i += 3) {
        uint32_t k[3];
        for (size_t c = 0; c < 3; c++) {
            k[c] = list != NONE ? whole_at(&corner, i + c) : (uint32_t)(i + c);
            if (k[c] >= place_column.count)
                return fail(g, RG_FILE_DAMAGED, "a triangle with a corner that is not there");
            k[c] += (uint32_t)first;
        }
        status = rg_mesh_add_triangle(g->reader, k[0], k[1], k[2]);
    }
    return status;
}

/* --- nodes ------------------------------------------------------------------------------------ */

static bool numbers_of(const gltf *g, uint32_t list, size_t count, double *values) {
    uint32_t at = first_item(g, list);
    for (size_t i = 0; i < count; i++, at = at == NONE ? NONE : next_item(g, list, at))
        if (!number_of(g, at, &values[i]))
            return false;
    return true;
}

/* The matrix of a node, or its translation, rotation and scale. */
static bool placing_of(const gltf *g, uint32_t node, placing *m) {
    double x[16] = {0}, t[3] = {0, 0, 0}, q[4] = {0, 0, 0, 1}, s[3] = {1, 1, 1};
    if (get(g, node, "matrix") != NONE) {
        if (!numbers_of(g, get(g, node, "matrix"), 16, x))
            return false;
        for (int i = 0; i < 4; i++)
            m->column[i] = (rg_vec3){x[4 * i], x[4 * i + 1], x[4 * i + 2]};
        return true;
    }
    if ((get(g, node, "translation") != NONE &&
         !numbers_of(g, get(g, node, "translation"), 3, t)) ||
        (get(g, node, "rotation") != NONE && !numbers_of(g, get(g, node, "rotation"), 4, q)) ||
        (get(g, node, "scale") != NONE && !numbers_of(g, get(g, node, "scale"), 3, s)) ||
        !(rg_quat_norm_squared((rg_quat){q[0], q[1], q[2], q[3]}) > 0))
        return false;
    rg_quat turn = rg_quat_made_unit((rg_quat){q[0], q[1], q[2], q[3]});
    m->column[0] = rg_scale(s[0], rg_rotate(turn, (rg_vec3){1, 0, 0}));
    m->column[1] = rg_scale(s[1], rg_rotate(turn, (rg_vec3){0, 1, 0}));
    m->column[2] = rg_scale(s[2], rg_rotate(turn, (rg_vec3){0, 0, 1}));
    m->column[3] = (rg_vec3){t[0], t[1], t[2]};
    return true;
}

static rg_status add_nodes(gltf *g, uint32_t list, const placing *outer, int depth);

static rg_status add_node(gltf *g, size_t number, const placing *outer, int depth) {
    uint32_t node = entry(g, NODES, number);
    placing own, all;
    size_t mesh;
    if (node == NONE)
        return fail(g, RG_FILE_DAMAGED, "a node that is not there");
    if (g->used[number])
        return rg_fail_at(g->reader->error, RG_FILE_DAMAGED, g->reader->name, 0, 0,
                          "glTF: node %zu is used more than once; nodes must be trees", number);
    if (depth > DEEPEST)
        return rg_fail_at(g->reader->error, RG_LIMIT_EXCEEDED, g->reader->name, 0, 0,
                          "glTF: nodes more than %d deep inside each other", DEEPEST);
    g->used[number] = 1;
    if (!placing_of(g, node, &own) || !whole_of(g, node, "mesh", 0, &mesh))
        return fail(g, RG_FILE_DAMAGED, "a node whose placement is not a list of numbers");
    for (int i = 0; i < 4; i++) {
        all.column[i] = place(outer, own.column[i]);
        if (i < 3)
            all.column[i] = rg_sub(all.column[i], outer->column[3]);
    }
    rg_status status = RG_OK;
    if (get(g, node, "mesh") != NONE) {
        uint32_t primitives = get(g, entry(g, MESHES, mesh), "primitives");
        status = count_work(g, tokens_of(g, entry(g, MESHES, mesh)));
        for (uint32_t i = first_item(g, primitives); !status && i != NONE;
             i = next_item(g, primitives, i))
            status = add_primitive(g, i, &all);
    }
    return status ? status : add_nodes(g, get(g, node, "children"), &all, depth + 1);
}

/* Nodes by their numbers. */
static rg_status add_nodes(gltf *g, uint32_t list, const placing *outer, int depth) {
    rg_status status = RG_OK;
    for (uint32_t i = first_item(g, list); !status && i != NONE; i = next_item(g, list, i)) {
        size_t number;
        if (!is_whole(g, i, &number))
            return fail(g, RG_FILE_DAMAGED, "a list of nodes with something that is not a number");
        status = add_node(g, number, outer, depth);
    }
    return status;
}

static rg_status add_scene(gltf *g) {
    static const placing same = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, 0, 0}}};
    size_t scene;
    if (!whole_of(g, 0, "scene", 0, &scene))
        return fail(g, RG_FILE_DAMAGED, "the scene is not a number");
    rg_status status = add_nodes(g, get(g, item(g, get(g, 0, "scenes"), scene), "nodes"), &same, 0);
    if (!status && g->reader->index_count == 0)
        return fail(g, RG_DEGENERATE_GEOMETRY, "the scene has no triangles; must have some");
    return status;
}

/* --- the file --------------------------------------------------------------------------------- */

/* The chunks of a .glb. */
static rg_status take_chunks(gltf *g) {
    const uint8_t *data = (const uint8_t *)g->reader->data;
    size_t size = g->reader->size, at = 20;
    if (size < 20 || word_at(data + 4) != 2 || memcmp(data + 16, "JSON", 4) != 0 ||
        word_at(data + 12) > size - 20)
        return fail(g, RG_FILE_DAMAGED, "the head of a .glb is wrong; must be version 2");
    g->text = g->reader->data + at;
    g->size = word_at(data + 12);
    at += (g->size + 3) / 4 * 4;
    if (at <= size && size - at >= 8) {
        size_t length = word_at(data + at);
        if (length > size - at - 8)
            return fail(g, RG_FILE_DAMAGED, "the file ends within its binary chunk");
        g->binary = (bytes){data + at + 8, length};
    }
    return RG_OK;
}

bool rg_mesh_is_gltf(const char *data, size_t size) {
    size_t i = 0;
    if (size >= 4 && memcmp(data, "glTF", 4) == 0)
        return true;
    while (i < size && memchr(" \t\r\n", data[i], 4))
        i++;
    return i < size && data[i] == '{';
}

rg_status rg_mesh_read_gltf(rg_mesh_reader *reader) {
    gltf g = {.reader = reader, .text = reader->data, .size = reader->size};
    const rg_allocator *memory = &reader->allocator;
    bool binary = reader->size >= 4 && memcmp(reader->data, "glTF", 4) == 0;
    rg_status status = binary ? take_chunks(&g) : RG_OK;
    if (!status)
        status = parse_value(&g, 0);
    if (!status)
        status = index_lists(&g);
    size_t buffers = g.lists[BUFFERS].count;
    g.kept = rg_allocate_zeroed(memory, buffers, sizeof *g.kept);
    g.kept_size = rg_allocate_zeroed(memory, buffers, sizeof *g.kept_size);
    g.used = rg_allocate_zeroed(memory, g.lists[NODES].count, 1);
    if (!status && (!g.kept || !g.kept_size || !g.used))
        status = rg_mesh_no_memory(reader);
    if (!status)
        status = add_scene(&g);
    for (size_t i = 0; g.kept && i < buffers; i++)
        rg_release(memory, g.kept[i]);
    for (int k = 0; k < LISTS; k++)
        rg_release(memory, g.lists[k].items);
    rg_release(memory, g.kept);
    rg_release(memory, g.kept_size);
    rg_release(memory, g.used);
    rg_release(memory, g.tokens);
    return status;
}
