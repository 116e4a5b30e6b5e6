/* Recordings: what happened, in an HDF5 file that h5py and others read (layout: docs/recording.md).
 * Part of the rigor-io library.
 *
 * While a run goes on, FILE is always a complete, closed HDF5 file and is only ever replaced as a
 * whole; what came after its last replacement is in FILE.journal, an append-only file of
 * checksummed blocks. Killed at any moment, the two together hold everything up to the last whole
 * block. */
#ifndef RIGOR_RECORDING_H
#define RIGOR_RECORDING_H

#include "rigor/contact_force.h"
#include "rigor/event.h"
#include "rigor/joint.h"
#include "rigor/scene.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rg_recorder rg_recorder;
typedef struct rg_recording rg_recording;

typedef struct rg_recorder_options {
    double checkpoint_every; /* s of wall-clock time between checkpoints; 0: one with every frame */
    bool overwrite;          /* replace an existing file; otherwise that is an error */
    double duration;         /* s that the run is meant to last, kept for a resume; 0: the scene's,
                                or, resuming, what it was */
    bool leave_out_contacts; /* no contacts in the frames; resuming, what it was */
    const rg_allocator *allocator; /* null: the C library's */
} rg_recorder_options;

rg_recorder_options rg_recorder_options_default(void); /* 2 s, no overwriting, with contacts */

/* Starts a recording of the scene and writes its first frame. Of a world that a program has built,
 * rg_scene_adopt makes a scene. Functions of the program (forces, prescribed motions), solvers of
 * its own and bodies without a name do no harm: forces and motions are recorded as what they did.
 * But such a recording cannot be resumed. */
rg_status rg_recorder_open(rg_scene *scene, const char *path, const rg_recorder_options *options,
                           rg_recorder **recorder, rg_error *error);
/* Goes on with an unfinished recording: rebuilds the scene from it, brings the world to the last
 * checkpoint, and drops the frames after that. A finished recording gives a scene at its end. FILE
 * is read as a whole and compared with its checksums: RG_FILE_DAMAGED if it is not what was
 * written. A duration that the run is already past is RG_INVALID_ARGUMENT. */
rg_status rg_recorder_resume(const char *path, const rg_recorder_options *options,
                             const rg_scene_options *scene_options, rg_scene **scene,
                             rg_recorder **recorder, rg_error *error);
double rg_recorder_duration(const rg_recorder *recorder); /* s: see the options */
/* To be told of every step, with what rg_world_step said of it: a frame holds the worst and the
 * sums over the steps since the frame before, and NaN and 0 if the recorder was told of none. */
void rg_recorder_step(rg_recorder *recorder, const rg_step_info *step);
/* Appends the world's state, and the contacts of its last step, as a frame. `summary` null: the
 * world's own. */
rg_status rg_recorder_frame(rg_recorder *recorder, const rg_step_info *summary, rg_error *error);
/* Makes the state up to now resumable whatever the interval says (before stopping on a signal). */
rg_status rg_recorder_checkpoint(rg_recorder *recorder, rg_error *error);
/* Folds the journal into FILE and frees the recorder. `finished` marks the run as complete;
 * otherwise it can be resumed. The recorder is freed whatever is returned. */
rg_status rg_recorder_close(rg_recorder *recorder, bool finished, rg_error *error);

/* Reading, finished or not. */
rg_status rg_recording_open(const char *path, rg_recording **recording, rg_error *error);
void rg_recording_close(rg_recording *recording);

typedef struct rg_recording_info {
    size_t frame_count;
    size_t body_count;
    bool planar;
    bool finished;
    bool recovered;       /* part of it came from a journal */
    bool has_certificate; /* recordings of format 1 have none of them; contacts can be left out */
    bool has_contacts;
    bool has_events; /* and impulses: from format 3 on */
    bool has_joints; /* of scenes with joints: from format 4 on */
    bool has_loads;  /* from format 5 on */
    double duration; /* s that the run is meant to last; record_every: s between frames */
    double record_every;
    const char *scene_text;
    size_t scene_size;
    const char *scene_name;
    const char *version; /* of the rigor that wrote it */
} rg_recording_info;
rg_recording_info rg_recording_get_info(const rg_recording *recording);
const char *rg_recording_body_name(const rg_recording *recording, size_t body);

typedef struct rg_frame {
    double time;
    uint64_t step;
    uint64_t state_hash;
    double energy;
    rg_vec3 *position; /* origin frames; body_count each; the caller's arrays; may be null */
    rg_quat *orientation;
    rg_vec3 *velocity; /* of the centres of mass */
    rg_vec3 *angular_velocity;
} rg_frame;
rg_status rg_recording_read(rg_recording *recording, size_t index, rg_frame *frame,
                            rg_error *error);

/* Of the steps since the frame before (of the first frame: none): the worst certificate; energy at
 * the beginning and the end, and the work in between; the worst closure_rel; sums of counts, and
 * the largest of contacts_max. Processor times are not recorded: 0. RG_UNSUPPORTED: it has none. */
rg_status rg_recording_read_certificate(rg_recording *recording, size_t index, rg_step_info *info,
                                        rg_error *error);

/* A contact point of the last step up to a frame; vectors in world axes. */
typedef struct rg_recorded_contact {
    uint32_t body_a, body_b; /* from 0, as everywhere in a recording */
    rg_vec3 position;        /* m, at the beginning of the step */
    rg_vec3 normal;          /* unit, from B to A */
    rg_vec3 force;           /* N, on A: the impulse of the step over its length */
    double gap;              /* m, at the beginning of the step */
    double friction;         /* the coefficient that was used */
    double slip_speed;       /* m/s, along the surface, at the end of the step */
    uint32_t mode;           /* rg_contact_mode */
    uint32_t reserved;       /* 0 */
} rg_recorded_contact;
/* All of a frame, until the next call with this recording. RG_UNSUPPORTED: it has none. */
rg_status rg_recording_read_contacts(rg_recording *recording, size_t index,
                                     const rg_recorded_contact **contacts, size_t *count,
                                     rg_error *error);

/* An event of the steps since the frame before (rigor/event.h); of the method analytic. */
#define RG_RECORDED_NONE UINT32_MAX
typedef struct rg_recorded_event {
    double time;             /* s */
    uint64_t step;           /* in which it happened, from 1 */
    uint32_t kind;           /* rg_step_event_kind */
    uint32_t contacts;       /* as in rg_step_event, and so are the numbers */
    uint32_t body_a, body_b; /* RG_RECORDED_NONE: none, or one that had left */
    double value, friction, restitution;
} rg_recorded_event;
/* One contact's share of one round of an impact: as rg_step_impulse. */
typedef struct rg_recorded_impulse {
    double time;            /* s */
    uint64_t step;          /* in which it happened, from 1 */
    uint32_t impact, round; /* of the step, of the impact, from 1 */
    uint32_t body_a, body_b;
    rg_vec3 position;      /* m */
    rg_vec3 normal;        /* unit, from B to A */
    rg_vec3 impulse;       /* N s, on A */
    rg_vec3 before, after; /* m/s: of A relative to B */
    double friction, restitution;
} rg_recorded_impulse;
/* All of the steps since the frame before, until the next call with this recording. RG_UNSUPPORTED:
 * it has none. */
rg_status rg_recording_read_events(rg_recording *recording, size_t index,
                                   const rg_recorded_event **events, size_t *count,
                                   rg_error *error);
rg_status rg_recording_read_impulses(rg_recording *recording, size_t index,
                                     const rg_recorded_impulse **impulses, size_t *count,
                                     rg_error *error);

/* A joint as it is in a frame, with the forces of the last step up to it (rigor/joint.h). */
typedef struct rg_recorded_joint {
    uint32_t joint;          /* from 0, in the order of rg_world_joint_at */
    uint32_t kind;           /* rg_joint_kind */
    uint32_t body_a, body_b; /* RG_RECORDED_NONE: the world */
    uint32_t axes, broken;   /* number of axes; 0 or 1 */
    rg_vec3 coordinate;      /* of axes 0 to 2: m, rad */
    rg_vec3 velocity;        /* m/s, rad/s */
    rg_vec3 axis_force;      /* N, N m along the axes, on B */
    rg_vec3 motor_force;     /* of these, the motor */
    rg_vec3 point;           /* m, world: where B's frame is */
    rg_vec3 force, torque;   /* N, N m on B at that point, world axes */
    double error;            /* m plus rad: how far it is from being closed */
} rg_recorded_joint;
/* All joints, until the next call with this recording. RG_UNSUPPORTED: it has none. */
rg_status rg_recording_read_joints(rg_recording *recording, size_t index,
                                   const rg_recorded_joint **joints, size_t *count,
                                   rg_error *error);

/* What a force did to a body (rg_world_find_loads), at the time of the frame. */
typedef struct rg_recorded_load {
    uint32_t force; /* from 0, in the order of rg_world_force_at; RG_RECORDED_NONE: applied by the
                       program during the last step */
    uint32_t kind;  /* rg_force_kind; RG_FORCE_KIND_COUNT: applied */
    uint32_t body;
    uint32_t reserved;    /* 0 */
    rg_vec3 point;        /* m, world */
    rg_vec3 force_vector; /* N */
    rg_vec3 torque;       /* N m, besides that of the force at the point */
} rg_recorded_load;
/* All of a frame, until the next call with this recording. RG_UNSUPPORTED: it has none. */
rg_status rg_recording_read_loads(rg_recording *recording, size_t index,
                                  const rg_recorded_load **loads, size_t *count, rg_error *error);

/* One line per frame and body. "-" is standard output. The recording itself and its journal are
 * refused. */
rg_status rg_recording_export_csv(rg_recording *recording, const char *path, rg_error *error);
/* One line per frame and contact; one line per frame. RG_UNSUPPORTED if it has none. */
rg_status rg_recording_export_contacts_csv(rg_recording *recording, const char *path,
                                           rg_error *error);
rg_status rg_recording_export_certificate_csv(rg_recording *recording, const char *path,
                                              rg_error *error);
/* One line per event; one line per impact, round and contact. RG_UNSUPPORTED if it has none. */
rg_status rg_recording_export_events_csv(rg_recording *recording, const char *path,
                                         rg_error *error);
rg_status rg_recording_export_impulses_csv(rg_recording *recording, const char *path,
                                           rg_error *error);
/* One line per frame and joint; one line per frame and load. RG_UNSUPPORTED if it has none. */
rg_status rg_recording_export_joints_csv(rg_recording *recording, const char *path,
                                         rg_error *error);
rg_status rg_recording_export_loads_csv(rg_recording *recording, const char *path, rg_error *error);

#ifdef __cplusplus
}
#endif
#endif
