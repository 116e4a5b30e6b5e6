/* What the parts of the scene reader share: the document, places in it, and typed reading.
 *
 * text -> libyaml document (scene_document.c) -> typed values (scene_node.c) -> calls of the public
 * world interface (scene_reader*.c). A value is reached through a chain of places on the C stack,
 * which is all that a message needs to name its file, line, column and path. */
#ifndef RIGOR_SCENE_READER_H
#define RIGOR_SCENE_READER_H

#include "base/base_expression.h"
#include "base/base_memory.h"
#include "base/base_text.h"
#include "rigor/mesh.h"
#include "rigor/scene.h"
#include "scene/scene_keys.h"

#include <yaml.h>

/* What a reader is ready to spend. The fuzzer runs with less than the default. */
typedef struct rg_scene_limits {
    size_t bytes;    /* of text */
    size_t bodies;   /* in all, repeats included; the same number bounds forces */
    uint64_t values; /* read in all: every value counts as often as repeats and aliases make it */
    int depth;       /* of nested lists and mappings */
    bool files;      /* mesh files may be opened */
} rg_scene_limits;
rg_scene_limits rg_scene_limits_default(void);

/* A node and how it was reached. `node` is null where a key was not given. */
typedef struct rg_place {
    const struct rg_place *parent;
    yaml_node_t *node;
    const char *key; /* or, if null, */
    size_t index;    /* the place in a list */
} rg_place;

/* What the survey of the document found out about a node. */
typedef struct rg_node_info {
    uint64_t values; /* this node and all below it, aliases followed */
    int height;      /* levels below it */
    bool open;       /* being looked at: meeting it again means that it contains itself */
    bool failed;     /* a shape that could not be made */
} rg_node_info;

typedef struct rg_named_node {
    const char *name;
    yaml_node_t *node;
} rg_named_node;

/* What is named in one place and used in others. */
typedef enum rg_named_kind {
    RG_NAMED_PARAMETER,
    RG_NAMED_MATERIAL,
    RG_NAMED_SHAPE,
    RG_NAMED_BODY,
    RG_NAMED_COUNT
} rg_named_kind;

typedef struct rg_failed_name {
    rg_named_kind kind;
    const char *name; /* as written: {i} and the like stand for any number */
} rg_failed_name;

/* The mistakes of a file, for rg_scene_options.mistake. */
typedef struct rg_mistakes {
    rg_error *list; /* RG_SCENE_MISTAKES_MOST of them; null: the first mistake ends the reading */
    size_t count;
    size_t failures;       /* those, what follows from them, and what was found again */
    bool follows;          /* the failure on its way follows from a mistake in the list */
    rg_failed_name *names; /* of what was to be defined but failed */
    size_t name_count, name_capacity;
    bool any[RG_NAMED_COUNT]; /* the names of what failed are not known: it may be any */
} rg_mistakes;

typedef struct rg_reader {
    const char *file, *directory;
    rg_allocator allocator;
    rg_scene_limits limits;
    const rg_scene_options *options;
    rg_error *error;
    rg_mistakes mistakes;

    size_t text_size;
    yaml_document_t document;
    bool has_document;
    rg_node_info *infos;    /* by node index, as the next */
    rg_shape **node_shapes; /* shapes already made of a node that no loop variable touches */

    rg_variable *variables; /* pi, the parameters, then the current loop variables */
    size_t variable_count, variable_capacity;
    bool loop_used; /* an expression looked at a loop variable since this was cleared */

    bool planar;
    double step; /* s, of the scene */
    const rg_place *shapes_place;
    rg_named_node *shapes; /* sorted by name */
    size_t shape_count;
    bool in_compound; /* reading the parts of one */

    rg_world *world;
    int *body_lines; /* line in the file of each body, for messages about names taken twice */
    size_t body_line_capacity;
    rg_collider_def *colliders; /* of the body that is being read */
    size_t collider_capacity;
    rg_buffer text;                      /* the name that is being expanded */
    rg_buffer of_time[RG_OF_TIME_COUNT]; /* functions of time of what is being read */
} rg_reader;

/* ---- scene_document.c: text to document ---- */

/* Loads the text and surveys it: one document, no keys twice, no tags, no nodes that contain
 * themselves, within the limits. */
rg_status rg_reader_load(rg_reader *reader, const char *text, size_t size);
void rg_reader_unload(rg_reader *reader);
static inline size_t rg_node_index(const rg_reader *reader, const yaml_node_t *node) {
    return (size_t)(node - reader->document.nodes.start);
}

/* ---- scene_node.c: places, messages, typed values ---- */

/* `file:line:column: path: message`, at the place's value or at the given node (a key). */
RG_PRINTF_LIKE(4, 5)
rg_status rg_place_fail(rg_reader *reader, const rg_place *place, rg_status status,
                        const char *format, ...);
RG_PRINTF_LIKE(5, 6)
rg_status rg_place_fail_at_node(rg_reader *reader, const rg_place *place, const yaml_node_t *node,
                                rg_status status, const char *format, ...);
/* The same around the message of a call that failed. */
rg_status rg_place_wrap(rg_reader *reader, const rg_place *place, rg_status status,
                        const rg_error *cause);
rg_status rg_reader_no_memory(rg_reader *reader);

enum { RG_QUOTE_SIZE = 72 };
/* The word fit for a message: cut if long, control characters replaced. */
const char *rg_quote_word(const char *word, char buffer[RG_QUOTE_SIZE]);
/* "a mapping", "a list of 2", "true", ...: what the value is. */
enum { RG_DESCRIPTION_SIZE = RG_QUOTE_SIZE + 24 };
const char *rg_describe_node(rg_reader *reader, const yaml_node_t *node,
                             char buffer[RG_DESCRIPTION_SIZE]);

static inline bool rg_given(const rg_place *place) {
    return place->node != NULL;
}
static inline bool rg_is_mapping(const rg_place *place) {
    return place->node->type == YAML_MAPPING_NODE;
}
static inline bool rg_is_list(const rg_place *place) {
    return place->node->type == YAML_SEQUENCE_NODE;
}
static inline bool rg_is_scalar(const rg_place *place) {
    return place->node->type == YAML_SCALAR_NODE;
}
size_t rg_list_size(const rg_place *list);
rg_place rg_list_at(rg_reader *reader, const rg_place *list, size_t index);
size_t rg_mapping_size(const rg_place *mapping);
/* The value of pair `index` and, if not null, its key node. */
rg_place rg_mapping_at(rg_reader *reader, const rg_place *mapping, size_t index,
                       const yaml_node_t **key);

/* Sorts the values of a mapping by its table: values[k] for key k, with a null node if it is not
 * given. Other keys are refused, with the nearest one suggested. */
rg_status rg_read_keys(rg_reader *reader, const rg_place *place, const rg_key_table *table,
                       rg_place *values);
rg_status rg_require_list(rg_reader *reader, const rg_place *place, const char *what);
rg_status rg_require_mapping(rg_reader *reader, const rg_place *place, const char *what);

/* A number or an expression; always finite. */
rg_status rg_read_number(rg_reader *reader, const rg_place *place, double *value);
/* `what` as in "a density must be positive". */
rg_status rg_read_positive(rg_reader *reader, const rg_place *place, const char *what,
                           double *value);
/* A number of a mapping: its key, what it is in messages, and where it goes. */
typedef struct rg_number_key {
    int key;
    const char *what;
    double *value;
} rg_number_key;
rg_status rg_read_not_negative(rg_reader *reader, const rg_place *place, const char *what,
                               double *value);
rg_status rg_read_whole(rg_reader *reader, const rg_place *place, uint64_t low, uint64_t high,
                        uint64_t *value);
/* 64 bits: decimal or 0x, no expression, as doubles do not hold them all. */
rg_status rg_read_bits(rg_reader *reader, const rg_place *place, uint64_t *value);
rg_status rg_read_truth(rg_reader *reader, const rg_place *place, bool *value);
/* Not empty; lives as long as the document. */
rg_status rg_read_text(rg_reader *reader, const rg_place *place, const char **text);
/* scene_time.c: a number, or an expression of the time t: then `text` is it, with numbers instead
 * of all else, until the same `slot` (below RG_OF_TIME_COUNT) is read again; null otherwise. */
rg_status rg_read_number_of_time(rg_reader *reader, const rg_place *place, size_t slot,
                                 double *value, const char **text);
/* rg_read_vector and, if `spin`, rg_read_spin with texts for x, y and z in three slots. */
rg_status rg_read_vector_of_time(rg_reader *reader, const rg_place *place, size_t slot, bool spin,
                                 rg_vec3 *vector, const char *text[3]);
rg_status rg_read_choice(rg_reader *reader, const rg_place *place, const char *const *choices,
                         size_t count, size_t *choice);
/* That there is a list of so many. */
rg_status rg_require_numbers(rg_reader *reader, const rg_place *place, size_t count);
rg_status rg_read_numbers(rg_reader *reader, const rg_place *place, size_t count, double *values);
/* A place or direction: three numbers, or [x, z] in planar scenes. */
rg_status rg_read_vector(rg_reader *reader, const rg_place *place, rg_vec3 *vector);
/* A rotation vector: three numbers, or the one rate (or angle) of planar scenes, from x towards z.
 */
rg_status rg_read_spin(rg_reader *reader, const rg_place *place, rg_vec3 *spin);
/* {axis, degrees | radians}, {quaternion}, or [x, y, z, w]. */
rg_status rg_read_orientation(rg_reader *reader, const rg_place *place, rg_quat *orientation);

/* Adds a variable; the name must live as long as it. */
rg_status rg_reader_push_variable(rg_reader *reader, const char *name, double value, bool loop);

/* ---- scene_mistakes.c: all mistakes of a file ---- */

/* Begins the list if the options want it. */
rg_status rg_mistakes_begin(rg_reader *reader);
/* Whether the reading can go on. After a failure that is a mistake of the file it can, if all are
 * wanted: the mistake is listed and *status is RG_OK again. Whoever makes something of what was
 * read asks first whether `mistakes.failures` is what it was. */
bool rg_recover(rg_reader *reader, rg_status *status);
/* A definition failed: uses of its name are no mistakes of their own. Null: it may have any. */
rg_status rg_note_failed(rg_reader *reader, rg_named_kind kind, const char *name);
bool rg_has_failed(const rg_reader *reader, rg_named_kind kind, const char *name);
/* The failure of something that fails for a mistake in the list. */
rg_status rg_follow(rg_reader *reader);
/* The end of the reading: the status of all, and the report. */
rg_status rg_mistakes_end(rg_reader *reader, rg_status status);

/* ---- scene_repeat.c: copies of an entry ---- */

typedef struct rg_repeat {
    int loops;       /* 0: the entry stands for itself */
    int variable[3]; /* 0 i, 1 j, 2 k; the first is the outermost */
    uint64_t count[3];
    uint64_t copies; /* their product */
} rg_repeat;

rg_status rg_read_repeat(rg_reader *reader, const rg_place *place, rg_repeat *repeat);
typedef rg_status rg_copy_function(rg_reader *reader, const rg_place *entry,
                                   const rg_repeat *repeat, const uint64_t index[3]);
/* All copies of all entries of a list, which is said to be one of `what`. Their number is held
 * against the limits before any work. After a mistake in a copy the reading may go on with the next
 * entry (rg_recover); `failed` may be null, and is called for an entry with one. */
typedef rg_status rg_failed_function(rg_reader *reader, const rg_place *entry);
rg_status rg_for_each_copy(rg_reader *reader, const rg_place *list, const char *what,
                           rg_copy_function *function, rg_failed_function *failed);
/* The value of a key of a mapping, before its table is known. */
rg_place rg_find_key(rg_reader *reader, const rg_place *entry, const char *key);
/* Replaces {i}, {j}, {k}, or {i+1}, {i-1} and the like, in reader->text. Without a repeat the name
 * stays as it is. */
rg_status rg_expand_name(rg_reader *reader, const rg_place *place, const char *name,
                         const rg_repeat *repeat, const uint64_t index[3], const char **expanded);

/* ---- scene_reader_shape.c ---- */

/* The mesh of a file, and what is to be said of it. */
rg_status rg_read_mesh(rg_reader *reader, const rg_place *place, rg_mesh *mesh,
                       rg_mesh_report *report);
/* What a file does not say of its coordinates: metres of one, and which axis is z in the scene. */
typedef struct rg_mesh_frame {
    double scale;
    size_t up; /* 0, 1, 2: x, y, z */
} rg_mesh_frame;
/* The values of `scale`, `unit` and `up`; what is not given is 1, m and z. */
rg_status rg_read_mesh_frame(rg_reader *reader, const rg_place *scale, const rg_place *unit,
                             const rg_place *up, rg_mesh_frame *frame);
/* Turned so that the axis `up` of the file is z, and in metres. */
void rg_mesh_place_vertices(rg_mesh *mesh, rg_mesh_frame frame);
/* scene_reader_mesh.c: `hull` or `mesh` from a file. */
rg_status rg_read_file_shape(rg_reader *reader, const rg_place *place, bool hull, rg_shape **shape);
/* scene_reader_terrain.c: {file}, {points, triangles} or {size, cells, height}. */
rg_status rg_read_terrain(rg_reader *reader, const rg_place *place, rg_shape **shape);
/* Checks and makes every shape under `shapes`. */
rg_status rg_read_shapes(rg_reader *reader, const rg_place *place);
/* A name or an inline shape; the result is a new reference. */
rg_status rg_read_shape(rg_reader *reader, const rg_place *place, rg_shape **shape);
void rg_reader_free_shapes(rg_reader *reader);

/* position, and orientation or angle, of something attached. `values` begins with the place of
 * position, followed by orientation, angle and angle_degrees. */
rg_status rg_read_local_pose(rg_reader *reader, const rg_place *values, rg_pose *pose);

/* ---- scene_reader_body.c, scene_reader_force.c ---- */

/* The name of a material that exists. */
rg_status rg_read_material(rg_reader *reader, const rg_place *place, rg_material_id *material);
rg_status rg_read_bodies(rg_reader *reader, const rg_place *place);
rg_status rg_read_forces(rg_reader *reader, const rg_place *place);
/* The name of a body that exists, of a copy of an entry. */
rg_status rg_read_body_name(rg_reader *reader, const rg_place *place, const rg_repeat *repeat,
                            const uint64_t *index, rg_body_id *body);
/* A number that is not negative, where it is given. */
rg_status rg_read_coefficient(rg_reader *reader, const rg_place *place, const char *what,
                              double *value);
/* ---- scene_reader_joint.c ---- */
rg_status rg_read_joints(rg_reader *reader, const rg_place *place);
/* angle or angle_degrees of a planar scene. */
rg_status rg_read_angle(rg_reader *reader, const rg_place *radians, const rg_place *degrees,
                        double *angle);

/* ---- scene_reader.c ---- */

/* The text of a scene; `name` and `directory` as for rg_scene_read_text. */
typedef struct rg_scene_source {
    const char *text;
    size_t size;
    const char *name, *directory;
} rg_scene_source;
/* Who names a file decides what it may be: a person may name a pipe, and then waits for it; a file
 * may name regular files only. */
typedef enum rg_scene_namer { RG_NAMED_BY_CALLER, RG_NAMED_BY_FILE } rg_scene_namer;
/* The whole of a file, within the limit of its bytes. */
rg_status rg_scene_load_file(rg_scene_namer namer, const char *path, const rg_scene_limits *limits,
                             rg_buffer *text, rg_error *error);
/* "scenes/tower.yaml" gives "tower". */
void rg_scene_short_name(const char *file, char name[RG_QUOTE_SIZE]);
/* rg_scene_read_text with limits of one's own. */
rg_status rg_scene_read_limited(const rg_scene_source *source, const rg_scene_options *options,
                                const rg_scene_limits *limits, rg_scene **scene, rg_error *error);

#endif
