/* Built-in scenes: each is a row of functions with a table of parameters. Adding one touches the
 * file of its family and the list in scene_builtin.c. */
#ifndef RIGOR_SCENE_BUILTIN_H
#define RIGOR_SCENE_BUILTIN_H

#include "scene/scene_state.h"

enum { RG_MAX_MEASURES = 16, RG_MAX_PARAMETERS = 8 };

/* What a parameter's value may be; beside the public rg_builtin_parameter of the same index. */
typedef struct rg_builtin_range {
    double low, high;
    bool whole;
} rg_builtin_range;

struct rg_builtin {
    const char *name, *summary;
    const rg_builtin_parameter *parameters;
    const rg_builtin_range *ranges;
    size_t parameter_count;
    double duration; /* s; 0: the default */
    /* Before the world is made: method, settings, gravity, seed; may be null. */
    void (*prepare)(rg_world_def *def, const double *values);
    /* Fills the world; values are in the order of the parameters, checked. */
    rg_status (*build)(rg_scene *scene, const double *values, rg_error *error);
    void (*observe)(rg_scene *scene); /* may be null */
    size_t (*measure)(rg_scene *scene, rg_measure measures[RG_MAX_MEASURES]);
};

/* scene_builtin_parts.c: what the families share. */
rg_measure rg_measure_of(const char *name, double value);
rg_measure rg_measure_beside(const char *name, double value, double expected);
rg_measure rg_measure_truth(const char *name, bool value, bool expected);
rg_status rg_builtin_fail_memory(const rg_scene *scene, rg_error *error);
/* Memory for the measures, cleared; null without memory. */
void *rg_builtin_remember(rg_scene *scene, size_t size);
/* The half-space z <= 0, fixed, called "floor". */
rg_status rg_builtin_add_floor(rg_scene *scene, rg_error *error);
/* A body of one collider: adds `def` with the shape made of `shape`, of this density. */
rg_status rg_builtin_add(rg_scene *scene, const rg_shape_def *shape, double density,
                         const rg_body_def *def, rg_body_id *body, rg_error *error);
/* A box of full edge lengths `size`, density 1000. `name` may be null. */
rg_status rg_builtin_add_box(rg_scene *scene, const char *name, rg_vec3 size, rg_vec3 position,
                             rg_body_id *body, rg_error *error);

/* scene_builtin_stack.c */
extern const rg_builtin rg_builtin_tower;
extern const rg_builtin rg_builtin_mass_ratio;
extern const rg_builtin rg_builtin_pyramid;
extern const rg_builtin rg_builtin_kapla;
extern const rg_builtin rg_builtin_brick_stack;

/* scene_builtin_slide.c */
extern const rg_builtin rg_builtin_incline;
extern const rg_builtin rg_builtin_rolling;

/* scene_builtin_fall.c */
extern const rg_builtin rg_builtin_dominoes;
extern const rg_builtin rg_builtin_pile;
extern const rg_builtin rg_builtin_balls_666;

/* scene_builtin_papers.c */
extern const rg_builtin rg_builtin_balance2;
extern const rg_builtin rg_builtin_pyramid1;
extern const rg_builtin rg_builtin_dice3;

/* scene_builtin_free.c */
extern const rg_builtin rg_builtin_spinning_top;
extern const rg_builtin rg_builtin_tennis_racket;
extern const rg_builtin rg_builtin_projectiles;

const rg_builtin *rg_builtin_find(const char *name); /* null if there is none */
rg_status rg_builtin_fail_unknown(const char *name, rg_error *error);

#endif
