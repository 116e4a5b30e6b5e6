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
    /* Per parameter the words that it may be, ending with a null, its value then being the place of
     * the word; null for a number. Null altogether: all are numbers. */
    const char *const *const *words;
    double step, duration; /* s; 0: the default */
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
/* A body of one collider: adds `def` with a collider of this kind, its shape made of `shape`. */
rg_status rg_builtin_add_collider(rg_scene *scene, const rg_shape_def *shape,
                                  const rg_collider_def *kind, const rg_body_def *def,
                                  rg_body_id *body, rg_error *error);
/* The same with the default collider of this density. */
rg_status rg_builtin_add(rg_scene *scene, const rg_shape_def *shape, double density,
                         const rg_body_def *def, rg_body_id *body, rg_error *error);
/* The half-space below normal * offset, fixed. */
rg_status rg_builtin_add_wall(rg_scene *scene, const char *name, rg_vec3 normal, double offset,
                              rg_error *error);
/* The half-space z <= 0, fixed, called "floor". */
rg_status rg_builtin_add_floor(rg_scene *scene, rg_error *error);
/* A box of full edge lengths `size`, density 1000. `name` may be null. */
rg_status rg_builtin_add_box(rg_scene *scene, const char *name, rg_vec3 size, rg_vec3 position,
                             rg_body_id *body, rg_error *error);
/* A planar rod of 1 kg and half-length 1 m along x, called "rod": of moment of inertia 1/3 kg m^2;
 * a thin rhombus stands for it. `def` has its pose and velocities. */
rg_status rg_builtin_add_rod(rg_scene *scene, const rg_body_def *def, rg_error *error);

/* Friction and restitution of everything that has no material of its own. */
rg_status rg_builtin_set_law(rg_scene *scene, double friction, double restitution, rg_error *error);
/* The same, and the floor. */
rg_status rg_builtin_lay_floor(rg_scene *scene, double friction, double restitution,
                               rg_error *error);
/* The words for a parameter `law`: the names of the impact laws, in the order of
 * rg_impact_law_at; and what the parameter says of itself. */
extern const char *const rg_builtin_laws[];
#define RG_BUILTIN_LAW_TEXT                                                                        \
    "of impact: simultaneous, propagation, poisson, energetic, reflection, dissipative"
/* For `prepare`: the analytic method, and planar or without gravity where wanted. */
void rg_builtin_analytic(rg_world_def *def, bool planar, bool weightless);
/* `prepare` itself, for scenes that want no more than that: neither, planar, weightless. */
void rg_builtin_prepare_space(rg_world_def *def, const double *values);
void rg_builtin_prepare_plane(rg_world_def *def, const double *values);
void rg_builtin_prepare_weightless(rg_world_def *def, const double *values);
/* The scene built again, with the method and the settings that it has now, and one step of `step`
 * seconds made: what happens at t = 0. Null if it cannot be. */
rg_scene *rg_builtin_first_step(const rg_scene *scene, double step);
/* The contact forces of the last step, sorted by height, then by x: the place of the k-th of
 * `count`; at most `capacity` are written. */
size_t rg_builtin_sorted_forces(const rg_world *world, size_t *order, size_t capacity);
/* When the first (of this step) or last event of a kind was, NaN if there was none. */
double rg_builtin_event_time(const rg_world *world, unsigned kind, bool last, double *value);
size_t rg_builtin_event_count(const rg_world *world, unsigned kind);

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
extern const rg_builtin rg_builtin_funnel;

/* scene_builtin_papers.c */
extern const rg_builtin rg_builtin_balance2;
extern const rg_builtin rg_builtin_pyramid1;
extern const rg_builtin rg_builtin_dice3;

/* scene_builtin_free.c */
extern const rg_builtin rg_builtin_spinning_top;
extern const rg_builtin rg_builtin_tennis_racket;
extern const rg_builtin rg_builtin_projectiles;

/* scene_builtin_impact.c */
extern const rg_builtin rg_builtin_billiard;
extern const rg_builtin rg_builtin_cradle;
extern const rg_builtin rg_builtin_mass_nine;
extern const rg_builtin rg_builtin_pushed_off;
extern const rg_builtin rg_builtin_rod_impact;

/* scene_builtin_bounce.c */
extern const rg_builtin rg_builtin_bounce;
extern const rg_builtin rg_builtin_thrown_cube;
extern const rg_builtin rg_builtin_bullet_pane;

/* scene_builtin_force.c */
extern const rg_builtin rg_builtin_point_on_incline;
extern const rg_builtin rg_builtin_block_on_floor;
extern const rg_builtin rg_builtin_ledge;
extern const rg_builtin rg_builtin_bead;
extern const rg_builtin rg_builtin_table_legs;

/* scene_builtin_friction.c */
extern const rg_builtin rg_builtin_painleve;
extern const rg_builtin rg_builtin_block_stop;
extern const rg_builtin rg_builtin_slide_to_roll;

/* scene_builtin_spin.c */
extern const rg_builtin rg_builtin_rattleback;
extern const rg_builtin rg_builtin_tippe_top;
extern const rg_builtin rg_builtin_euler_disc;

const rg_builtin *rg_builtin_find(const char *name); /* null if there is none */
rg_status rg_builtin_fail_unknown(const char *name, rg_error *error);

#endif
