/* A checkpoint: all that is needed to go on with a run as if it had never stopped. The same content
 * goes into the journal (as one block of bytes) and into FILE (as /checkpoint and /summary). */
#ifndef RIGOR_RECORD_CHECKPOINT_H
#define RIGOR_RECORD_CHECKPOINT_H

#include "base/base_memory.h"
#include "record/record_rows.h"
#include "rigor/scene.h"

typedef struct rg_checkpoint {
    uint64_t frames; /* recorded up to then */
    uint64_t step;
    double time;
    uint64_t state_hash;
    double duration; /* s that the run is meant to last */
    rg_step_info summary;
    rg_step_info interval;            /* since the last frame: record_interval.h */
    rg_buffer pending[RG_ROWS_COUNT]; /* and its events and impulses; no contacts */
    rg_buffer state;                  /* of rg_world_save_state */
    rg_buffer observations;           /* what the scene's measures have gathered */
} rg_checkpoint;

rg_checkpoint rg_checkpoint_make(const rg_allocator *allocator);
void rg_checkpoint_free(rg_checkpoint *checkpoint);

/* Fills it with what the scene is now. `summary` null: the world's own. */
rg_status rg_checkpoint_take(rg_checkpoint *checkpoint, rg_scene *scene, uint64_t frames,
                             const rg_step_info *summary);
/* Brings the scene to it, and checks that the hash is what it was. */
rg_status rg_checkpoint_apply(const rg_checkpoint *checkpoint, rg_scene *scene, rg_error *error);

/* As bytes, for the journal. Decoding gives RG_FILE_DAMAGED if they do not fit together. */
void rg_checkpoint_encode(const rg_checkpoint *checkpoint, rg_buffer *bytes);
rg_status rg_checkpoint_decode(rg_checkpoint *checkpoint, const char *bytes, uint64_t size);

/* Whether its pending rows are whole ones. */
bool rg_checkpoint_pending_fits(const rg_checkpoint *checkpoint);

/* The numbers of a summary, one by one: journal and HDF5 attributes walk the same list. */
typedef struct rg_summary_field {
    const char *name; /* of the attribute of /summary, with its unit */
    size_t offset;    /* in rg_step_info */
    bool is_count;    /* uint64_t, otherwise double */
} rg_summary_field;
extern const rg_summary_field rg_summary_fields[];
extern const size_t rg_summary_field_count;
/* The first ones, which every recording has. */
enum { RG_SUMMARY_FIELDS_OF_FORMAT_1 = 27 };

#endif
