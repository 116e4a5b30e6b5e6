/* Built-in scenes: each is a row in the table of its family. Adding one touches only the file of
 * its family. */
#ifndef RIGOR_SCENE_BUILTIN_H
#define RIGOR_SCENE_BUILTIN_H

#include "rigor/joint.h"
#include "scene/scene_state.h"

enum { RG_MAX_MEASURES = 16, RG_MAX_PARAMETERS = 8 };

/* What the world of a scene is like. */
enum {
    RG_ANALYTIC = 1,   /* by the analytic method; else by stepping */
    RG_PLANAR = 2,     /* in the plane y = 0 */
    RG_WEIGHTLESS = 4, /* without gravity */
    RG_TIGHT = 8,      /* a tolerance of 1e-12: what is left is the integrator's own error */
    RG_FINE = 16,      /* steps of 1 ms */
};

struct rg_builtin {
    const char *name, *summary;
    /* RG_PARAMETERS(array). One that is called "seed" is the world's seed, one that is called "law"
     * the impact law. */
    const rg_builtin_parameter *parameters;
    size_t parameter_count;
    unsigned world;  /* of the flags above */
    double duration; /* s; 0: the default, or set by `build` */
    size_t memory;   /* bytes of scene->measuring when `build` is called, cleared */
    /* Fills the world; values are in the order of the parameters, checked. */
    rg_status (*build)(rg_scene *scene, const double *values, rg_error *error);
    void (*observe)(rg_scene *scene); /* may be null */
    size_t (*measure)(rg_scene *scene, rg_measure measures[RG_MAX_MEASURES]);
};

#define RG_PARAMETERS(array) array, sizeof array / sizeof array[0]
#define RG_NO_PARAMETERS     NULL, 0

/* The families, each ending with a row without a name. */
extern const rg_builtin rg_builtin_fall[], rg_builtin_stack[], rg_builtin_slide[],
    rg_builtin_papers[], rg_builtin_free[], rg_builtin_impact[], rg_builtin_bounce[],
    rg_builtin_force[], rg_builtin_friction[], rg_builtin_spin[], rg_builtin_joint[],
    rg_builtin_mechanism[], rg_builtin_gallery[], rg_builtin_shapes[], rg_builtin_hit[],
    rg_builtin_drive[], rg_builtin_teapot[];

/* scene_builtin_parts.c: what the families share. */
rg_measure rg_measure_of(const char *name, double value);
rg_measure rg_measure_beside(const char *name, double value, double expected);
rg_measure rg_measure_truth(const char *name, bool value, bool expected);
rg_status rg_builtin_fail_memory(const rg_scene *scene, rg_error *error);
/* Memory for the measures, cleared, where its size depends on parameters; null without memory. */
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

/* A joint of two bodies; added to the scene with its frames at a point, z along `axis`. */
rg_joint_def rg_builtin_joint_of(rg_joint_kind kind, rg_body_id a, rg_body_id b);
rg_status rg_builtin_join(rg_scene *scene, rg_joint_def def, rg_vec3 point, rg_vec3 axis,
                          rg_error *error);

/* J: of all dynamic bodies. */
double rg_builtin_kinetic_energy(const rg_world *world);
/* Friction and restitution of everything that has no material of its own. */
rg_status rg_builtin_set_law(rg_scene *scene, double friction, double restitution, rg_error *error);
/* The same, and the floor. */
rg_status rg_builtin_lay_floor(rg_scene *scene, double friction, double restitution,
                               rg_error *error);
/* Parameters that several scenes have. The words are the names of the impact laws. */
extern const char *const rg_builtin_laws[];
#define RG_PARAMETER_LAW(law)                                                                      \
    {                                                                                              \
        "law", law,                                                                                \
            "of impact: simultaneous, propagation, poisson, energetic, reflection, dissipative",   \
            .words = rg_builtin_laws                                                               \
    }
#define RG_PARAMETER_SEED                                                                          \
    { "seed", "1", "of the random numbers", 0, 9007199254740992.0, true, NULL }

/* The scene built again, with the method and the settings that it has now, and one step of `step`
 * seconds made: what happens at t = 0. Null if it cannot be. */
rg_scene *rg_builtin_first_step(const rg_scene *scene, double step);
/* The contact forces of the last step, sorted by height, then by x: the place of the k-th of
 * `count`; at most `capacity` are written. */
size_t rg_builtin_sorted_forces(const rg_world *world, size_t *order, size_t capacity);
/* When the first (of this step) or last event of a kind was, NaN if there was none. */
double rg_builtin_event_time(const rg_world *world, unsigned kind, bool last, double *value);
size_t rg_builtin_event_count(const rg_world *world, unsigned kind);

const rg_builtin *rg_builtin_find(const char *name); /* null if there is none */
rg_status rg_builtin_fail_unknown(const char *name, rg_error *error);

#endif
