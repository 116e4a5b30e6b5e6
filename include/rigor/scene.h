/* Scenes: a world and how to run it, from a file (YAML or JSON), from text, or built in. Part of
 * the rigor-io library. */
#ifndef RIGOR_SCENE_H
#define RIGOR_SCENE_H

#include "rigor/world.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rg_scene rg_scene;

typedef struct rg_scene_parameter {
    const char *name;
    const char *value; /* as text: "30", "0.5", "simultaneous" */
} rg_scene_parameter;

/* Is told of a mistake in a scene file. */
typedef void rg_scene_mistake_function(void *user, const rg_error *mistake);
enum { RG_SCENE_MISTAKES_MOST = 20 }; /* of one file: then the reading ends */

typedef struct rg_scene_options {
    const rg_scene_parameter *parameters; /* name=value of the command line */
    size_t parameter_count;
    /* Instead of what the scene says, where not null or not 0. */
    const char *method;
    double step; /* s: rg_scene_step_size */
    int threads;
    bool no_memory; /* rg_world_def.no_memory */
    bool loose;     /* joints whose frames do not meet are no error: rg_world_assemble */
    const rg_allocator *allocator;
    /* As above, for the contacts of the stepping method. */
    const char *solver;      /* by name: rg_solver_find */
    double solver_tolerance; /* above which a solve counts as failed */
    const char *friction;    /* "cone", or "polygon:K" with an even number K of corners */
    const char *detection;   /* "continuous", "discrete" */
    const char *points;  /* of a pair of convex parts: "all", or at most how many, as a number */
    const double *gamma; /* 0 ... 1; 0 is a value here */
    /* As above, for the analytic method. */
    const char *impact;      /* law of collisions by name: rg_impact_law_find */
    const char *integrator;  /* "dormand-prince", "adams" */
    const char *root_finder; /* "itp", "illinois", "bisection" */
    /* Robot descriptions: what is not understood is left out and listed, instead of an error. */
    bool lenient;
    /* All mistakes of a scene file. Null: the first one ends the reading. Otherwise it goes on with
     * the next key or entry, and at its end the function is called for each mistake, in the order
     * of their lines; what merely follows from another mistake is left out. The first of them is in
     * the rg_error, too. Failures that have no place in a file, such as one that cannot be read,
     * are in the rg_error alone; of robot descriptions it is told the first mistake. */
    rg_scene_mistake_function *mistake;
    void *mistake_user;
} rg_scene_options;

/* Scene files are YAML or JSON; XML is a robot description, URDF, MJCF or SDF (docs/robots.md). Its
 * parameters are `base` (of URDF: free, fixed), `key` (of MJCF: the keyframe to begin with) and
 * `ground` (height of a floor, m).
 *
 * A file, or memory (`name` stands for the file in messages; `directory`, null for the current one,
 * is where mesh files are looked for). `options` may be null. On failure *scene is null and nothing
 * half-loaded remains. */
rg_status rg_scene_read_file(const char *path, const rg_scene_options *options, rg_scene **scene,
                             rg_error *error);
rg_status rg_scene_read_text(const char *text, size_t size, const char *name, const char *directory,
                             const rg_scene_options *options, rg_scene **scene, rg_error *error);
/* A built-in scene by name. */
rg_status rg_scene_create_builtin(const char *name, const rg_scene_options *options,
                                  rg_scene **scene, rg_error *error);
/* A built-in name if there is one, a file otherwise. */
rg_status rg_scene_create(const char *name_or_path, const rg_scene_options *options,
                          rg_scene **scene, rg_error *error);
/* A scene of a world that a program has built, for writing and recording it, with default step and
 * duration. From then on the world is the scene's; after a failure it is still the caller's. */
rg_status rg_scene_adopt(rg_world *world, const char *name, rg_scene **scene, rg_error *error);
void rg_scene_destroy(rg_scene *scene); /* with its world; null is allowed */

/* What was left out of a robot description, each with its place: "robot.urdf:12:5: gazebo: ...". */
size_t rg_scene_left_out_count(const rg_scene *scene);
const char *rg_scene_left_out_at(const rg_scene *scene, size_t index);

rg_world *rg_scene_world(rg_scene *scene); /* stays the scene's */
const char *rg_scene_name(const rg_scene *scene);
/* s: what whoever runs the scene passes to rg_world_step. */
double rg_scene_step_size(const rg_scene *scene);
rg_status rg_scene_set_step_size(rg_scene *scene, double step, rg_error *error); /* s, > 0 */
double rg_scene_duration(const rg_scene *scene);                                 /* s */
double rg_scene_record_every(const rg_scene *scene);                             /* s */

/* Writes world and run settings as a scene file that reads back to the same world, bit for bit:
 * hulls as points, masses and inertia as numbers. What a file cannot hold (callbacks) is
 * RG_UNSUPPORTED. *text is made by `allocator` and ends with a zero byte. */
rg_status rg_scene_write_text(const rg_scene *scene, const rg_allocator *allocator, char **text,
                              size_t *size, rg_error *error);
rg_status rg_scene_write_file(const rg_scene *scene, const char *path, rg_error *error);

/* Writes the bodies and joints as a robot description, as they stand now. What the format cannot
 * hold is RG_UNSUPPORTED, by name; leniently it is left out and added to rg_scene_left_out_at. MJCF
 * holds trees of joints with limits, springs, friction, armature and motors with constant targets,
 * all convex shapes but cones, ropes; in it, fixed bodies are parts of one world. URDF holds
 * hinges, sliders and free bodies with boxes, balls, cylinders and capsules; it begins with all
 * coordinates 0, and the frame of a link is that of the joint by which it hangs. SDF holds ball and
 * universal joints, springs and ellipsoids besides, and fixed bodies as they are; no motors. */
typedef enum rg_robot_format { RG_ROBOT_MJCF, RG_ROBOT_URDF, RG_ROBOT_SDF } rg_robot_format;
typedef struct rg_robot_options {
    rg_robot_format format;
    bool lenient;
} rg_robot_options;
rg_status rg_scene_write_robot(rg_scene *scene, const rg_robot_options *options,
                               const rg_allocator *allocator, char **text, size_t *size,
                               rg_error *error);

/* What a built-in scene was made to show. */
typedef struct rg_measure {
    const char *name;
    double value;
    bool has_expected;
    double expected; /* closed form, where there is one */
    bool is_truth;   /* value is false (0) or true (1) */
} rg_measure;

/* Called by the program that runs the scene: after every step (cheap), and at the end. At most
 * `capacity` measures are written; the number that there are is returned. */
void rg_scene_observe(rg_scene *scene);
size_t rg_scene_measures(rg_scene *scene, rg_measure *measures, size_t capacity);

/* What rg_scene_observe has gathered, as bytes, for checkpoints: to be read into a scene built in
 * the same way. `size` gets the bytes needed (0: nothing to keep); with a null buffer nothing is
 * written. */
rg_status rg_scene_save_observations(const rg_scene *scene, void *buffer, size_t capacity,
                                     size_t *size);
rg_status rg_scene_load_observations(rg_scene *scene, const void *buffer, size_t size,
                                     rg_error *error);

/* Where a scene came from: the built-in scene's name and the parameters that were given, valid as
 * long as the scene. `builtin` is null for scenes from files or text. */
typedef struct rg_scene_origin {
    const char *builtin;
    const rg_scene_parameter *parameters;
    size_t parameter_count;
} rg_scene_origin;
rg_scene_origin rg_scene_get_origin(const rg_scene *scene);

/* The list of built-in scenes. */
typedef struct rg_builtin_parameter {
    const char *name;
    const char *default_value;
    const char *summary;
    double low, high;         /* a number from `low` to `high`, */
    bool whole;               /* whole if so, */
    const char *const *words; /* or one of these, ending with a null; null for a number */
} rg_builtin_parameter;

typedef struct rg_builtin_info {
    const char *name;
    const char *summary;
    const rg_builtin_parameter *parameters;
    size_t parameter_count;
} rg_builtin_info;

size_t rg_builtin_count(void);
rg_builtin_info rg_builtin_at(size_t index);

#ifdef __cplusplus
}
#endif
#endif
