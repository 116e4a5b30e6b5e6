/* The inside of what the viewer reads (docs/view-format.md), shared by record_view.c (recordings),
 * record_view_chunk.c (layout, coding and compression), record_view_manifest.c (JSON),
 * record_view_world.c (running worlds) and the exports. */
#ifndef RIGOR_RECORD_VIEW_H
#define RIGOR_RECORD_VIEW_H

#include "base/base_memory.h"
#include "record/record_recording.h"
#include "rigor/view.h"

/* ---- buffers: the caller's memory as a rg_buffer, and back ---- */

rg_buffer rg_view_borrow(const rg_view_buffer *buffer); /* empty */
/* RG_OUT_OF_MEMORY if an append failed. */
rg_status rg_view_return(rg_view_buffer *buffer, const rg_buffer *borrowed, rg_error *error);

/* ---- record_view_chunk.c ---- */

enum { /* flags of a chunk */
       RG_CHUNK_COMPRESSED = 1,
       RG_CHUNK_CODED = 2,
       RG_CHUNK_HAS_CONTACTS = 4,
       RG_CHUNK_HAS_FIGURES = 8,
       RG_CHUNK_HAS_LOADS = 16
};

enum { /* the order of SERIES in contract.ts */
       RG_FIGURE_ENERGY,
       RG_FIGURE_KINETIC,
       RG_FIGURE_IMPACT_LOSS,
       RG_FIGURE_FRICTION_WORK,
       RG_FIGURE_STABILISATION,
       RG_FIGURE_INTEGRATION,
       RG_FIGURE_EXTERNAL_WORK,
       RG_FIGURE_PRESCRIBED_WORK,
       RG_FIGURE_CLOSURE_REL,
       RG_FIGURE_PENETRATION,
       RG_FIGURE_OVERLAP,
       RG_FIGURE_COMPLEMENTARITY,
       RG_FIGURE_CONE_VIOLATION,
       RG_FIGURE_MOMENTUM_ERROR,
       RG_FIGURE_JOINT_ERROR,
       RG_FIGURE_CONTACTS,
       RG_FIGURE_SOLVER_ITERATIONS,
       RG_FIGURE_SOLVER_FAILURES,
       RG_FIGURE_SOLVES,
       RG_FIGURE_PASSED_THROUGH,
       RG_FIGURE_COUNT
};

enum {
    RG_CHUNK_HEADER = 32,  /* bytes */
    RG_CHUNK_SECTIONS = 23 /* before the figures */
};

/* What is in a chunk; contacts and loads of all frames together. */
typedef struct rg_chunk_size {
    size_t first, frames, bodies, contacts, loads;
} rg_chunk_size;

/* A force and a torque on a body, as the page is told of them: of forces and joints. */
typedef struct rg_chunk_load {
    uint32_t kind;   /* rg_force_kind; 6: applied by the program, RG_CHUNK_LOAD_JOINT */
    uint32_t number; /* of the force or joint */
    uint32_t body;
    rg_vec3 point, force, torque;
} rg_chunk_load;
enum { RG_CHUNK_LOAD_JOINT = 7 };
_Static_assert((int)RG_FORCE_KIND_COUNT == 6, "LOAD_KINDS of contract.ts");

/* Where everything is, after the header. Sections in the order of the table. */
typedef struct rg_chunk_layout {
    uint32_t flags, first, frames, bodies, contacts, loads, figures;
    size_t offset[RG_CHUNK_SECTIONS + 1]; /* of each section; the last one is the figures' */
    size_t size;                          /* bytes in all */
} rg_chunk_layout;

/* RG_LIMIT_EXCEEDED: more than 32 bits can count. */
rg_status rg_chunk_plan(rg_chunk_layout *layout, uint32_t flags, rg_chunk_size size,
                        rg_error *error);
/* The header, and room for the rest: where the rest is to be written; null if there is no memory.
 * */
unsigned char *rg_chunk_begin(const rg_chunk_layout *layout, rg_buffer *out);
void rg_chunk_put_clock(const rg_chunk_layout *layout, unsigned char *raw, size_t frame,
                        double time, double step);
void rg_chunk_put_body(const rg_chunk_layout *layout, unsigned char *raw, size_t frame, size_t body,
                       const rg_pose *pose, const rg_vec3 *velocity, const rg_vec3 *angular);
void rg_chunk_put_contact_count(const rg_chunk_layout *layout, unsigned char *raw, size_t frame,
                                size_t count);
/* `bits` of the mantissa are kept. */
void rg_chunk_put_contact(const rg_chunk_layout *layout, unsigned char *raw, size_t number,
                          const rg_recorded_contact *contact, int bits);
void rg_chunk_put_load_count(const rg_chunk_layout *layout, unsigned char *raw, size_t frame,
                             size_t count);
void rg_chunk_put_load(const rg_chunk_layout *layout, unsigned char *raw, size_t number,
                       const rg_chunk_load *load);
rg_chunk_load rg_chunk_load_of_force(const rg_recorded_load *load);
/* On both bodies, or on the one that it has; how many. */
size_t rg_chunk_loads_of_joint(const rg_recorded_joint *joint, rg_chunk_load loads[2]);
void rg_chunk_put_figures(const rg_chunk_layout *layout, unsigned char *raw, size_t frame,
                          const double figures[RG_FIGURE_COUNT]);
/* Codes and compresses what was written into `raw` (from rg_chunk_begin) as the flags say, to
 * `out`. `level` is zlib's. */
rg_status rg_chunk_pack(const rg_chunk_layout *layout, rg_buffer *raw, int level, rg_buffer *out,
                        rg_error *error);

/* The figures but energy, kinetic energy and work, which are NaN: of the steps that `last` stands
 * for (null: none). */
void rg_figures_of_steps(const rg_step_info *last, double figures[RG_FIGURE_COUNT]);
void rg_figures_set_work(const rg_energy_ledger *sums, double figures[RG_FIGURE_COUNT]);
/* A later range of frames joins an earlier one. */
void rg_figures_join(double figures[RG_FIGURE_COUNT], const double later[RG_FIGURE_COUNT]);

/* ---- record_view_manifest.c ---- */

/* Distinct shapes of a world, by what they are and not by where they lie in memory: parts before
 * their compounds. */
typedef struct rg_shape_entry {
    const rg_shape *shape;
    size_t text, text_size; /* its JSON in `texts` */
    uint64_t hash;
} rg_shape_entry;

typedef struct rg_shape_list {
    rg_allocator allocator;
    rg_shape_entry *entries;
    size_t count, capacity;
    rg_buffer texts;
    uint32_t *table; /* hash table of numbers + 1; its size is a power of two */
    size_t table_size;
} rg_shape_list;

rg_status rg_shape_list_make(rg_shape_list *list, const rg_world *world,
                             const rg_allocator *allocator);
/* The number of a shape of that world; the shape that stands for it is entries[number]. */
rg_status rg_shape_list_find(rg_shape_list *list, const rg_shape *shape, size_t *number);
void rg_shape_list_free(rg_shape_list *list);

/* JSON that can stand inside a <script> as well: "<" is escaped. A number that JSON does not have
 * is null; a byte that is not UTF-8 is U+FFFD. */
void rg_json_put_text(rg_buffer *out, const char *text);
void rg_json_put_number(rg_buffer *out, double value);
void rg_json_put_numbers(rg_buffer *out, const double *values, size_t count);

/* The manifest of a world; `view` null: of a live one. */
rg_status rg_manifest_write(rg_buffer *out, rg_scene *scene, const char *name, const rg_view *view,
                            const rg_allocator *allocator, rg_error *error);

/* ---- record_view.c ---- */

struct rg_view {
    rg_allocator allocator;
    rg_view_options options;
    rg_recording *recording; /* the caller's */
    rg_recording_info info;
    rg_scene *scene; /* at its beginning: shapes, masses */
    size_t frame_count, chunk_frames;
    bool has_contacts;        /* to be shown */
    bool has_loads;           /* or joints */
    rg_mass_properties *mass; /* of each body; 0: not dynamic */
    /* Made when it is first needed, by one look at all frames' figures: */
    rg_energy_ledger *work_before; /* summed up to the first frame of each chunk */
    double (*overview)[RG_FIGURE_COUNT];
    double *overview_time, *overview_step;
    size_t overview_count;
    bool overview_has_kinetic; /* or it was too much to read */
    /* Room that is used again. */
    rg_buffer raw, numbers, loads;
    rg_recorded_contact *contacts;
    size_t contact_capacity;
};

/* The recorded frame that a shown one is: the last one is always shown. */
size_t rg_view_recorded(const rg_view *view, size_t shown);
/* n for each nth frame: as few frames as there may be without falling below so many a second. */
size_t rg_view_every(const rg_recording *recording, double rate);
/* Kinetic energy of all bodies, J. */
double rg_kinetic_energy(const rg_mass_properties *mass, size_t count, bool planar,
                         const rg_quat *orientation, const rg_vec3 *velocity,
                         const rg_vec3 *angular);

#endif
