/* The functions that the module exports, under their own names. */
#ifndef RIGOR_WASM_MODULE_H
#define RIGOR_WASM_MODULE_H

#include "rigor/scene.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXPORTED __attribute__((visibility("default"), used))

EXPORTED int rigor_error_status(void);
EXPORTED const char *rigor_error_name(void);
EXPORTED const char *rigor_error_text(void);
EXPORTED int rigor_error_line(void);
EXPORTED int rigor_error_column(void);
EXPORTED const char *rigor_version(void);

EXPORTED rg_scene *rigor_scene_open(const char *name, const char *text, size_t size,
                                    const char *words, size_t count);
EXPORTED void rigor_scene_close(rg_scene *scene);
EXPORTED const char *rigor_scene_name(const rg_scene *scene);
EXPORTED double rigor_scene_step_size(const rg_scene *scene);
EXPORTED double rigor_scene_duration(const rg_scene *scene);
EXPORTED char *rigor_scene_text(const rg_scene *scene);
EXPORTED int rigor_scene_step(rg_scene *scene, double step, double count);
EXPORTED double rigor_scene_time(rg_scene *scene);
EXPORTED double rigor_scene_energy(rg_scene *scene);
EXPORTED uint64_t rigor_scene_hash(rg_scene *scene);
EXPORTED size_t rigor_scene_body_count(rg_scene *scene);
EXPORTED const char *rigor_scene_body_name(rg_scene *scene, size_t index);
EXPORTED void rigor_scene_poses(rg_scene *scene, double *values);
EXPORTED void rigor_scene_velocities(rg_scene *scene, double *values);
EXPORTED void rigor_scene_certificate(rg_scene *scene, double values[5]);

EXPORTED size_t rigor_builtin_count(void);
EXPORTED const char *rigor_builtin_name(size_t index);
EXPORTED const char *rigor_builtin_summary(size_t index);

/* A live run: messages go in as text, and a turn of the host makes the steps that are due. Then
 * rigor_live_take takes out what is to be sent, and the four after it give its parts: null where
 * there is none. */
typedef struct rigor_live rigor_live;
EXPORTED rigor_live *rigor_live_open(rg_scene *scene, bool paused); /* takes the scene over */
EXPORTED void rigor_live_close(rigor_live *live);
EXPORTED void rigor_live_post(rigor_live *live, const char *text, size_t size);
EXPORTED double rigor_live_turn(rigor_live *live); /* s until the next frame is due */
EXPORTED uint64_t rigor_live_hash(rigor_live *live);
EXPORTED double rigor_live_steps(rigor_live *live); /* since the beginning */
EXPORTED bool rigor_live_take(rigor_live *live);
EXPORTED const char *rigor_live_problem(rigor_live *live, size_t index);
EXPORTED const unsigned char *rigor_live_manifest(rigor_live *live, size_t *size);
EXPORTED const char *rigor_live_state(rigor_live *live);
EXPORTED const unsigned char *rigor_live_frame(rigor_live *live, size_t *size);

#endif
