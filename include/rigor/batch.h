/* Many worlds side by side: copies of one with other parameters, or worlds of any kind, stepped by
 * a pool of threads, their states in one array. A world is stepped by one thread and by itself: its
 * bits depend neither on the number of threads nor on the other worlds. */
#ifndef RIGOR_BATCH_H
#define RIGOR_BATCH_H

#include "rigor/world.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rg_batch rg_batch;

/* `count` clones of a world, which the batch owns. `threads` >= 1, the caller's included; the
 * worlds themselves use one each. Callbacks of the world are called by several threads. */
rg_status rg_batch_create(const rg_world *world, size_t count, int threads, rg_batch **batch,
                          rg_error *error);
/* Worlds that stay the caller's, each only once, for as long as the batch lives. */
rg_status rg_batch_of_worlds(rg_world *const *worlds, size_t count, int threads,
                             const rg_allocator *allocator, rg_batch **batch, rg_error *error);
void rg_batch_destroy(rg_batch *batch); /* null is allowed */

size_t rg_batch_count(const rg_batch *batch);
/* To give it its parameters, between steps. */
rg_world *rg_batch_world(const rg_batch *batch, size_t index);
/* Another world in this place, of a batch made by rg_batch_of_worlds. */
void rg_batch_replace(rg_batch *batch, size_t index, rg_world *world);

/* Called after each step of a world, by whichever thread steps it; true: this world is done. */
typedef bool rg_batch_stop(void *user, size_t index, rg_world *world, const rg_step_info *info);

typedef struct rg_batch_steps {
    double step;         /* s */
    size_t steps;        /* of each world, one after the other; a world that fails stops */
    rg_batch_stop *stop; /* may be null */
    void *user;
    rg_step_info *infos; /* one per world, of its last step; null: not wanted */
    uint32_t *statuses;  /* one rg_status per world; null: not wanted */
} rg_batch_steps;

/* RG_OK if all went well; otherwise the others have gone on, and `error` is that of the first
 * world that failed. */
rg_status rg_batch_step(rg_batch *batch, const rg_batch_steps *steps, rg_error *error);

/* Numbers of a body in rg_batch_state: centre of mass x y z, orientation x y z w, velocity x y z,
 * angular velocity x y z, as in the views of rigor/world.h. */
enum { RG_BATCH_NUMBERS = 13 };
/* The states of all bodies of all worlds now, world after world, as rows of one array; valid until
 * the next call. Where all worlds have the same bodies it is an array [world][body][number]. */
rg_status rg_batch_state(rg_batch *batch, rg_strided *state);
/* The row at which a world begins, in the last answer of rg_batch_state. */
size_t rg_batch_first_row(const rg_batch *batch, size_t index);

#ifdef __cplusplus
}
#endif
#endif
