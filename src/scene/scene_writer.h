/* The parts of the writer (scene_writer.c), which put a world into a scene file piece by piece:
 * words and numbers, shapes, forces and joints. */
#ifndef RIGOR_SCENE_WRITER_H
#define RIGOR_SCENE_WRITER_H

#include "scene/scene_state.h"

#include "base/base_text.h"

typedef struct rg_writer_shape {
    const rg_shape *shape;
    size_t number; /* 1 for shape1, ... */
} rg_writer_shape;

typedef struct rg_writer {
    const rg_scene *scene;
    const rg_world *world;
    bool planar;
    bool shown; /* what a file cannot hold is left out, and bodies without a name get one */
    rg_buffer out;
    rg_writer_shape *shapes; /* hash table by address, open addressing; size is a power of two */
    size_t shape_capacity, shape_count;
    rg_error *error;
} rg_writer;

/* scene_writer_words.c */
void rg_put(rg_writer *w, const char *text);
void rg_put_number(rg_writer *w, double value);
void rg_put_numbers(rg_writer *w, const double *values, size_t count);
void rg_put_vector(rg_writer *w, rg_vec3 v);
/* A rotation vector: in planar scenes the one number, from x towards z. */
void rg_put_spin(rg_writer *w, rg_vec3 v);
void rg_put_quat(rg_writer *w, rg_quat q);
/* In double quotes; what YAML does not allow in a text is escaped. */
rg_status rg_put_quoted(rg_writer *w, const char *text);
/* ", key: " or, for the first, "key: " */
void rg_put_key(rg_writer *w, bool *first, const char *key);
void rg_put_local_pose(rg_writer *w, bool *first, rg_pose pose);
/* {first: a, second: b} */
void rg_put_two(rg_writer *w, const char *first, double a, const char *second, double b);
/* ", key: " and the value. */
void rg_put_named_number(rg_writer *w, const char *key, double value);
void rg_put_named_vector(rg_writer *w, const char *key, rg_vec3 value);
/* A number, or an expression of time, whose t counts from the beginning of the file's. */
void rg_put_of_time(rg_writer *w, const char *text, double value, double sign);
void rg_put_components_of_time(rg_writer *w, const char *const *text, rg_vec3 v);
void rg_put_vector_of_time(rg_writer *w, const char *key, const char *const *text, rg_vec3 v);
/* The name of a body, or one that no other body has. */
rg_status rg_put_own_name(rg_writer *w, rg_body_id body);
/* The name by which forces and joints refer to a body; `what` begins the error if it has none. */
rg_status rg_put_body_name(rg_writer *w, const char *what, rg_body_id body);

/* scene_writer_shape.c: all shapes of the world, once each, and the number that one got. */
rg_status rg_put_shapes(rg_writer *w);
size_t rg_writer_shape_number(const rg_writer *w, const rg_shape *shape);

/* scene_writer_force.c: one force or joint, as a line of its list. */
rg_status rg_put_force(rg_writer *w, size_t index);
rg_status rg_put_joint(rg_writer *w, size_t index);

#endif
