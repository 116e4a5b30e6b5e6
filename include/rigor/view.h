/* What the viewer reads: manifests, chunks of frames and overviews of recordings and of running
 * worlds (docs/view-format.md), and the exports that are made of them. Part of the rigor-io
 * library. */
#ifndef RIGOR_VIEW_H
#define RIGOR_VIEW_H

#include "rigor/recording.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes that grow; reused from call to call, so that a steady stream of frames makes no heap
 * calls. */
typedef struct rg_view_buffer {
    unsigned char *bytes;
    size_t size, capacity;
    rg_allocator allocator;
} rg_view_buffer;
rg_view_buffer rg_view_buffer_create(const rg_allocator *allocator); /* null: the C library's */
void rg_view_buffer_destroy(rg_view_buffer *buffer);

/* A recording seen by a viewer: its scene rebuilt for shapes and masses, an index of its frames.
 * Reads what is asked for, never the whole file. Used by one thread at a time. */
typedef struct rg_view rg_view;

typedef struct rg_view_options {
    size_t chunk_frames; /* 0: 64, or fewer of many bodies */
    size_t every;        /* n: shows each nth frame, and the last one; 0: all */
    int contact_bits;    /* mantissa bits that contacts keep, 1 ... 23; 0: all 23 */
    bool leave_out_contacts;
    bool leave_out_idle_contacts;  /* those without force */
    int compression;               /* zlib's 1 ... 9; 0: 1, as for a network nearby */
    const rg_allocator *allocator; /* null: the C library's */
} rg_view_options;

rg_status rg_view_open(rg_recording *recording, const rg_view_options *options, rg_view **view,
                       rg_error *error); /* the recording stays the caller's, and open */
void rg_view_close(rg_view *view);       /* null is allowed */
size_t rg_view_frame_count(const rg_view *view);
size_t rg_view_chunk_count(const rg_view *view);
/* Each replaces what the buffer holds. */
rg_status rg_view_manifest(rg_view *view, rg_view_buffer *json, rg_error *error);
rg_status rg_view_times(rg_view *view, rg_view_buffer *times, rg_error *error);
rg_status rg_view_overview(rg_view *view, rg_view_buffer *chunk, rg_error *error);
rg_status rg_view_chunk(rg_view *view, size_t index, rg_view_buffer *chunk, rg_error *error);

/* A running world. `sums` is what has happened since the world began and `last` since the frame
 * before (either may be null); the frame's number is the caller's. */
rg_status rg_view_world_manifest(rg_scene *scene, rg_view_buffer *json, rg_error *error);
rg_status rg_view_world_frame(rg_world *world, uint32_t index, const rg_step_info *sums,
                              const rg_step_info *last, rg_view_buffer *chunk, rg_error *error);

/* The exports. "-" is standard output; a recording of the list and its journal are refused as
 * targets. `page` is the viewer's page (rg_view_page in the command). `title` null: the scenes'
 * names. */
typedef struct rg_html_options {
    const char *page;
    size_t page_size;
    const char *title;
    double frames_per_second; /* 0: 30; at most as recorded */
    bool leave_out_contacts;
} rg_html_options;
rg_status rg_view_export_html(rg_recording *const *recordings, const char *const *names,
                              size_t count, const rg_html_options *options, const char *path,
                              rg_error *error);
/* A scene as a page that runs it: an editor, the simulation and the view, without a server. The
 * module is the library as WebAssembly, compressed with gzip (tools/wasm makes it). Of the options
 * the page and its title matter. */
typedef struct rg_live_page {
    const char *name; /* of the scene */
    const char *text; /* a scene file */
    const void *module;
    size_t module_size;
} rg_live_page;
rg_status rg_view_export_live(const rg_live_page *live, const rg_html_options *options,
                              const char *path, rg_error *error);
/* Binary glTF 2.0: a mesh per shape, a node per body, translations and rotations as an animation.
 * */
typedef struct rg_gltf_options {
    double frames_per_second; /* 0: as recorded */
} rg_gltf_options;
rg_status rg_view_export_gltf(rg_recording *recording, const rg_gltf_options *options,
                              const char *path, rg_error *error);
/* The same as USD text (.usda), z up: an Xform per body with time samples, a Mesh per shape. */
rg_status rg_view_export_usda(rg_recording *recording, const rg_gltf_options *options,
                              const char *path, rg_error *error);

#ifdef __cplusplus
}
#endif
#endif
