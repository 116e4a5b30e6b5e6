/* Studies: one scene run many times with different parameters, described by a file (YAML or JSON;
 * docs/sweep.md). A study says what each run is given; whoever runs it decides where and in which
 * order, because run number k is the same whatever came before it. Part of the rigor-io library. */
#ifndef RIGOR_STUDY_H
#define RIGOR_STUDY_H

#include "rigor/scene.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rg_study rg_study;

enum { RG_STUDY_RUNS_MOST = 100000000 }; /* runs of one study */

/* The file with all that it names: a table of parameters, the scene's file. `allocator` may be
 * null. On failure *study is null. */
rg_status rg_study_read_file(const char *path, const rg_allocator *allocator, rg_study **study,
                             rg_error *error);
void rg_study_destroy(rg_study *study); /* null is allowed */

typedef struct rg_study_info {
    uint64_t runs;
    const char *scene;        /* built-in name, or path as seen from here */
    const char *const *names; /* of the parameters, in the order of the file */
    size_t parameter_count;
    const char *method, *solver, *impact; /* null: the scene's */
    double step, duration;                /* s; 0: the scene's */
    double rest_speed;                    /* m/s and rad/s: a run ends when all is slower; 0: not */
    const char *stop_event;    /* a run ends with the first event of this kind; or null */
    double run_seconds;        /* a run that takes longer is ended; 0: no limit */
    double run_megabytes;      /* memory of a run; 0: no limit */
    const char *const *bodies; /* whose last poses and velocities are kept */
    size_t body_count;
    size_t figure_count; /* of rg_study_watch_figures: `times` and `columns` */
    uint64_t hash;       /* of the files: other hash, other study */
} rg_study_info;
rg_study_info rg_study_get_info(const rg_study *study);

/* The parameters of one run, as rg_scene_options takes them; names and values are valid until the
 * next call and the end of the study. `parameters` has room for parameter_count. */
void rg_study_parameters(rg_study *study, uint64_t run, rg_scene_parameter *parameters);

/* The state of a body of the world in figures, as the table has it: place and orientation of its
 * frame, velocities. NaN if there is no such body. */
enum { RG_STUDY_BODY_FIGURES = 13 };
const char *rg_study_body_figure_name(size_t figure); /* x, y, z, qx ... wz */
void rg_study_body_figures(const rg_world *world, const char *body,
                           double values[RG_STUDY_BODY_FIGURES]);

/* What the study asks of a run as it goes on: expressions of its state (docs/sweep.md). The world
 * is that of the run, before its first step; it and the study must outlive the watch. A name that
 * is not known is RG_NOT_FOUND. */
typedef struct rg_study_watch rg_study_watch;
rg_status rg_study_watch_create(rg_study *study, uint64_t run, const rg_world *world,
                                rg_study_watch **watch, rg_error *error);
void rg_study_watch_destroy(rg_study_watch *watch); /* null is allowed */
/* After each step. *stop: the condition holds at which the run is to end. */
rg_status rg_study_watch_look(rg_study_watch *watch, bool *stop, rg_error *error);
/* At the end: figure_count names with their values, NaN for a time that was not and a column
 * without value; from these measures of the scene, among others. Says what the first of them lacks,
 * after writing all. */
rg_status rg_study_watch_figures(rg_study_watch *watch, const rg_measure *measures, size_t count,
                                 rg_measure *figures, rg_error *error);

#ifdef __cplusplus
}
#endif
#endif
