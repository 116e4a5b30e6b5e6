/* A scene: a world and how to run it. */
#ifndef RIGOR_SCENE_STATE_H
#define RIGOR_SCENE_STATE_H

#include "base/base_memory.h"
#include "rigor/scene.h"

typedef struct rg_builtin rg_builtin;

struct rg_scene {
    rg_allocator allocator;
    rg_world *world;
    char *name;
    double step, duration, record_every; /* s */
    const rg_builtin *builtin;           /* null for scenes from files */
    void *measuring;       /* the built-in scene's memory of the run; one allocation */
    size_t measuring_size; /* its bytes; no pointers in them, so that they can be saved */
    rg_scene_parameter
        *parameters; /* of the built-in scene, as given; names and values are owned */
    size_t parameter_count;
    char **left_out; /* rg_scene_left_out */
    size_t left_out_count, left_out_capacity;
};

/* Seconds: what a scene gets that does not say. */
#define RG_DEFAULT_STEP         (1.0 / 240)
#define RG_DEFAULT_DURATION     10.0
#define RG_DEFAULT_RECORD_EVERY (1.0 / 60)

/* An empty scene with its name and the defaults; null without memory. */
rg_scene *rg_scene_make(const rg_allocator *allocator, const char *name);
/* What of a scene can be shown: as rg_scene_write_text, but what a file cannot hold is left out,
 * and bodies without a name have one. */
rg_status rg_scene_write_shown(const rg_scene *scene, const rg_allocator *allocator, char **text,
                               size_t *size, rg_error *error);
/* Adds to rg_scene_left_out_at. */
rg_status rg_scene_leave_out(rg_scene *scene, const char *what);
/* What the options say about world, method and step, over what the def and the scene have. */
rg_status rg_scene_apply_options(const rg_scene_options *options, rg_world_def *def, double *step,
                                 rg_error *error);
enum { RG_MAX_SOLVERS = 16 };
/* The solvers that a scene can name; how many there are. */
size_t rg_scene_solver_names(const char *names[RG_MAX_SOLVERS]);
enum { RG_MAX_LAWS = 16 };
/* The laws of impact, likewise. */
size_t rg_scene_law_names(const char *names[RG_MAX_LAWS]);
/* Contact points of a pair: no limit, or at most this many. */
#define RG_POINTS_ALL "all"
enum { RG_POINTS_MOST = 1000000 };
/* By discrete_detection of the settings. */
extern const char *const rg_detection_names[2];
/* By hand_over of the settings. */
extern const char *const rg_hand_over_names[2];
/* By rg_joint_norm. */
extern const char *const rg_contradictions_names[2];
/* By impulses of the settings of the method penalty. */
extern const char *const rg_collisions_names[2];
/* Writes "a, b, c" for messages. */
const char *rg_scene_list_words(const char *const *words, size_t count, char *text, size_t size);

#endif
