/* What the mesh readers share: the triangles that they collect, places in a text, and messages. */
#ifndef RIGOR_SHAPE_MESH_H
#define RIGOR_SHAPE_MESH_H

#include "rigor/mesh.h"
#include "shape/shape_polyhedron.h"

/* Limits on files: bytes (so that lines and columns fit an int), vertices, triangles, corners of
 * one face (its triangulation takes the square of them). */
#define RG_MESH_MOST_BYTES     INT32_MAX
#define RG_MESH_MOST_VERTICES  30000000
#define RG_MESH_MOST_TRIANGLES 10000000
#define RG_MESH_MOST_CORNERS   10000

typedef struct rg_mesh_reader {
    const char *data;
    size_t size;
    const char *name;
    rg_allocator allocator;
    rg_error *error;
    size_t group; /* OBJ: the one to read, from 1; 0: all */
    rg_vec3 *vertices;
    size_t vertex_count, vertex_capacity;
    uint32_t *indices; /* three to a triangle */
    size_t index_count, index_capacity;
} rg_mesh_reader;

/* A place in the text, and a word there. */
typedef struct rg_mesh_cursor {
    const char *at, *end, *line_start;
    int line;
} rg_mesh_cursor;

typedef struct rg_mesh_word {
    const char *text;
    size_t size;
    int line, column;
} rg_mesh_word;

enum { RG_MESH_QUOTE_SIZE = 48 };
/* The word fit for a message: short, printable. */
const char *rg_mesh_quote(rg_mesh_word word, char text[RG_MESH_QUOTE_SIZE]);
/* Whether the word is `key`, whatever its case. */
bool rg_mesh_word_is(rg_mesh_word word, const char *key);
/* Moves the cursor past one end of line (LF, CR LF or CR alone); false if there is none here. */
bool rg_mesh_skip_newline(rg_mesh_cursor *cursor);
/* A coordinate: a finite number in range, or an error at its place. `what` says of what. */
rg_status rg_mesh_coordinate(rg_mesh_reader *reader, rg_mesh_word word, const char *what,
                             double *value);

rg_status rg_mesh_add_vertex(rg_mesh_reader *reader, rg_vec3 vertex);
rg_status rg_mesh_add_triangle(rg_mesh_reader *reader, uint32_t a, uint32_t b, uint32_t c);
rg_status rg_mesh_no_memory(rg_mesh_reader *reader);

/* A face of any number of corners, with room for cutting it. */
typedef struct rg_mesh_face {
    uint32_t *corners, *next, *previous;
    size_t count, capacity, next_capacity, previous_capacity;
} rg_mesh_face;
/* shape_mesh_obj.c: as triangles; `start` is its place, for messages. */
rg_status rg_mesh_add_face(rg_mesh_reader *reader, rg_mesh_face *face, rg_mesh_word start);

/* Whether a triangle has three different corners. */
static inline bool rg_mesh_has_corners(const uint32_t *k) {
    return k[0] != k[1] && k[1] != k[2] && k[2] != k[0];
}

/* The corners of a triangle in the order of their numbers, and whose they are; for rg_sort
 * (shape_mesh_check.c). */
typedef struct rg_mesh_corners {
    uint32_t vertex[3], triangle;
} rg_mesh_corners;
rg_mesh_corners rg_mesh_sorted_corners(const uint32_t *k, uint32_t triangle);
int rg_mesh_corners_compare(const void *a, const void *b, const void *context);

/* All sides of the triangles, sorted, so that those of one edge lie together; side k of triangle t,
 * from its corner k to the next, has the owner 3 t + k. Null without memory (shape_mesh.c). */
rg_edge_side *rg_mesh_sides(const rg_mesh *mesh);
/* Whether a side runs from its lower vertex to its higher one. */
static inline bool rg_mesh_side_rises(const rg_mesh *mesh, const rg_edge_side *side) {
    return mesh->triangles[side->owner] == side->low;
}

rg_status rg_mesh_read_obj(rg_mesh_reader *reader);
rg_status rg_mesh_read_ply(rg_mesh_reader *reader);
rg_status rg_mesh_read_stl(rg_mesh_reader *reader);
rg_status rg_mesh_read_gltf(rg_mesh_reader *reader);
/* By content. */
bool rg_mesh_is_stl(const char *data, size_t size);
bool rg_mesh_is_ply(const char *data, size_t size);
bool rg_mesh_is_gltf(const char *data, size_t size);

#endif
