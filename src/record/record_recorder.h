/* The recorder's inside, shared by record_recorder.c (frames and checkpoints), record_fold.c (FILE
 * and fresh journals) and record_resume.c (going on).
 *
 * Why a journal beside FILE, and not HDF5's single-writer multiple-reader mode (SWMR): a writer in
 * SWMR mode that is killed leaves FILE marked as open for writing, so that plain readers (h5py
 * without special flags, viewers, MATLAB) refuse it until a repair tool has cleared the mark; the
 * order of its writes is a promise about readers on a living system, not about a kill between two
 * writes of metadata; it needs every dataset to exist before it starts and allows no attribute to
 * change; and it does not work on network file systems. Here FILE is never written in place: it is
 * a complete, closed file at every moment, that anybody can read, and new frames go to a file whose
 * only operation is to append a checksummed block.
 *
 * Folding the journal into FILE:
 *
 *   1. copy FILE to FILE.new; append the journal's frames; store a current checkpoint; sync it
 *   2. rename FILE.new to FILE
 *   3. write FILE.journal.new with a header that says "frames from FILE's count on"; sync it
 *   4. rename FILE.journal.new to FILE.journal (or remove FILE.journal, when closing)
 *
 * Killed before 2: FILE and journal are as before. Between 2 and 4: the old journal's frames have
 * indices below FILE's count and are skipped. After 4: done. Leftover .new files are never read and
 * are overwritten by the next fold. A journal is tied to its FILE by a run id, so that one left
 * over from another run counts for nothing.
 *
 * A fold copies FILE, so it is done when the journal has outgrown FILE (and 64 MiB): FILE doubles
 * each time, and every frame is copied a constant number of times on average.
 *
 * SIGKILL loses nothing that write() has taken: that is in the system's page cache. Only a crash of
 * the system does, and against that the journal is synced with every checkpoint, not every frame.
 */
#ifndef RIGOR_RECORD_RECORDER_H
#define RIGOR_RECORD_RECORDER_H

#include "record/record_checkpoint.h"
#include "record/record_journal.h"
#include "record/record_store.h"
#include "rigor/recording.h"

/* Set by tests only. */
typedef struct rg_recorder_tuning {
    rg_disk disk;
    uint64_t fold_bytes; /* the 64 MiB; 0: those */
    int format;          /* as it was: 1 had neither certificate nor rows, 2 no events; 0: newest */
} rg_recorder_tuning;

/* FILE and the names beside it; one allocation. */
typedef struct rg_recorder_paths {
    char *file, *journal, *new_file, *new_journal;
} rg_recorder_paths;

struct rg_recorder {
    rg_allocator allocator;
    rg_disk disk;
    uint64_t fold_bytes;
    rg_recorder_options options;
    rg_recorder_paths paths;
    rg_scene *scene; /* the caller's */
    rg_body_id *bodies;
    size_t body_count;
    uint64_t run_id;
    bool has_certificate;                       /* as in FILE */
    uint64_t rows;                              /* a set of rg_rows, as in FILE */
    uint64_t frame_count;                       /* in FILE and journal */
    uint64_t file_frames, file_size, file_step; /* FILE's frames, bytes, and checkpoint's step */
    bool file_finished;
    rg_journal_writer journal;
    rg_journal_header journal_header;
    rg_checkpoint checkpoint; /* its duration and its interval are current */
    double checkpoint_clock;  /* s, when the last one was made */
    bool broken;              /* a write failed: nothing more is written */
};

rg_status rg_recorder_create_tuned(rg_scene *scene, const char *path,
                                   const rg_recorder_options *options,
                                   const rg_recorder_tuning *tuning, rg_recorder **recorder,
                                   rg_error *error);
rg_status rg_recorder_resume_tuned(const char *path, const rg_recorder_options *options,
                                   const rg_scene_options *scene_options,
                                   const rg_recorder_tuning *tuning, rg_scene **scene,
                                   rg_recorder **recorder, rg_error *error);

/* A recorder with nothing open yet; null if there is no memory. */
rg_recorder *rg_recorder_make(const char *path, const rg_recorder_options *options,
                              const rg_allocator *allocator, const rg_recorder_tuning *tuning);
rg_status rg_recorder_set_scene(rg_recorder *recorder, rg_scene *scene);
void rg_recorder_free(rg_recorder *recorder);
void rg_recorder_start_clock(rg_recorder *recorder); /* the interval of checkpoints begins now */
rg_status rg_recorder_fail(rg_recorder *recorder, rg_error *error, const char *path, int number);
/* The journal that is there, open and taken for this process; RG_BUSY if another run holds it. An
 * absent one leaves file->fd at -1. */
rg_status rg_recorder_take_journal(rg_recorder *recorder, rg_disk_file *file, rg_error *error);

/* The state of all bodies now, in the order of a frame: 3, 4, 3 and 3 numbers a body. */
rg_frame_head rg_recorder_fill_frame(const rg_recorder *recorder, double *numbers);
/* The contacts of the last step, at most as many as rg_recorder_count_contacts says; how many. */
size_t rg_recorder_count_contacts(const rg_recorder *recorder);
size_t rg_recorder_fill_contacts(const rg_recorder *recorder, rg_recorded_contact *contacts);
/* Arrays of a batch of `frames` that lie one after the other in `numbers`. */
rg_frame_batch rg_frame_batch_in(double *numbers, rg_frame_head *heads, size_t frames,
                                 size_t body_count);

/* Steps 1 and 2 for the first time: FILE with one frame. */
rg_status rg_fold_create(rg_recorder *recorder, rg_error *error);
/* Steps 1 and 2, with recorder->checkpoint, which must be current. */
rg_status rg_fold_file(rg_recorder *recorder, bool finished, rg_error *error);
/* Steps 3 and 4. */
rg_status rg_fold_start_journal(rg_recorder *recorder, rg_error *error);

#endif
