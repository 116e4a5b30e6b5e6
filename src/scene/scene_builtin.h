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
    /* Before the world is made: method, settings, gravity, seed. */
    void (*prepare)(rg_world_def *def, const double *values);
    /* Fills the world; values are in the order of the parameters, checked. */
    rg_status (*build)(rg_scene *scene, const double *values, rg_error *error);
    void (*observe)(rg_scene *scene); /* may be null */
    size_t (*measure)(rg_scene *scene, rg_measure measures[RG_MAX_MEASURES]);
};

/* scene_builtin_free.c */
extern const rg_builtin rg_builtin_spinning_top;
extern const rg_builtin rg_builtin_tennis_racket;
extern const rg_builtin rg_builtin_projectiles;

const rg_builtin *rg_builtin_find(const char *name); /* null if there is none */
rg_status rg_builtin_fail_unknown(const char *name, rg_error *error);

#endif
