/* The inside of the glTF export, shared by record_gltf.c (file, meshes, nodes),
 * record_gltf_motion.c (reading, keyframes, animation) and record_usda.c (the same as USD). */
#ifndef RIGOR_RECORD_GLTF_H
#define RIGOR_RECORD_GLTF_H

#include "record/record_outlet.h"
#include "record/record_view.h"

enum {
    RG_GLTF_U32 = 5125, /* types of components */
    RG_GLTF_F32 = 5126,
    RG_GLTF_MATERIALS = 8
};

/* Accessors of a shape's mesh; the meshes that use them, one for each material. */
typedef struct rg_gltf_shape {
    size_t position, normal, indices; /* numbers of accessors */
    bool made;
    int mesh[RG_GLTF_MATERIALS]; /* number + 1; 0: none */
} rg_gltf_shape;

typedef struct rg_gltf_writer {
    rg_allocator allocator;
    rg_view *view;
    const rg_world *world;
    rg_shape_list shapes;
    rg_gltf_shape *meshes;                                            /* one a shape */
    rg_buffer bin, motion;                                            /* geometry; keyframes */
    rg_buffer views, accessors, mesh_list, nodes, samplers, channels; /* pieces of JSON */
    size_t view_count, accessor_count, mesh_count, node_count, sampler_count;
    size_t used[RG_GLTF_MATERIALS], used_count; /* materials, in the order of the file */
    /* Motion of all bodies: [frame][body], and the frames' times. */
    float *times, *positions, *orientations;
    size_t frame_count, body_count;
    rg_vec3 centre;     /* of all that happens */
    double radius;      /* about it */
    double depth;       /* of plates and slabs */
    size_t *kept;       /* room for a list of keyframes */
    size_t motion_view; /* number of the view of `motion` */
    size_t all_times;   /* accessor + 1 */
    rg_error *error;
} rg_gltf_writer;

rg_status rg_gltf_fail_memory(rg_gltf_writer *w);
/* An accessor without its closing brace; its number is w->accessor_count - 1. */
void rg_gltf_begin_accessor(rg_gltf_writer *w, size_t view, size_t offset, int component,
                            size_t count, const char *type);
/* Its min and max. */
void rg_gltf_put_limits(rg_gltf_writer *w, const float *values, size_t count, size_t columns);

/* The colour of a body, linear RGB. */
const double *rg_gltf_colour(const rg_gltf_writer *w, size_t body);
/* Where a half-space's slab lies in the frame of the shape: in its plane, below the middle of all
 * that happens. `frame` is the shape's pose in the world. */
rg_pose rg_gltf_slab_pose(const rg_gltf_writer *w, const rg_shape_def *def, rg_pose frame);
/* Opens recording and file, reads the motion, and has the file written. */
typedef rg_status rg_gltf_file_writer(rg_gltf_writer *w, rg_outlet *out);
rg_status rg_gltf_export(rg_recording *recording, const rg_gltf_options *options, const char *path,
                         rg_gltf_file_writer *write, rg_error *error);

/* ---- record_gltf_motion.c ---- */

/* Fills times, positions and orientations. RG_LIMIT_EXCEEDED: too much for a file. */
rg_status rg_gltf_read_motion(rg_gltf_writer *w);
/* Where everything happens, and how thick plates and slabs are to be: as a typical body. */
void rg_gltf_measure(rg_gltf_writer *w);
/* The channels of a body, if it moves. */
void rg_gltf_add_motion(rg_gltf_writer *w, size_t body, size_t node);

#endif
