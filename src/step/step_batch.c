/* Many worlds side by side. A chunk of the parallel loop is one world, so that who steps it makes
 * no difference; failures are kept per world and the first in order is reported. */
#include "rigor/batch.h"

#include "base/base_memory.h"
#include "base/base_text.h"
#include "base/base_thread.h"
#include "world/world.h"

#include <assert.h>
#include <string.h>

typedef struct place {
    rg_world *world;
    size_t first_row;
    rg_status status;
} place;

struct rg_batch {
    rg_allocator allocator;
    rg_pool *pool;
    place *places;
    size_t count;
    bool owns;
    double *state;
    size_t capacity; /* numbers that `state` has room for */
    /* While it steps. */
    const rg_batch_steps *steps;
    rg_error *errors; /* of each world */
};

void rg_batch_destroy(rg_batch *batch) {
    if (!batch)
        return;
    rg_pool_destroy(batch->pool);
    for (size_t i = 0; batch->owns && batch->places && i < batch->count; i++)
        rg_world_destroy(batch->places[i].world);
    rg_release_all(&batch->allocator, batch->places, batch->errors, batch->state);
    rg_object_release(batch);
}

static rg_status make(size_t count, int threads, const rg_allocator *allocator, rg_batch **batch,
                      rg_error *error) {
    *batch = NULL;
    if (threads < 1)
        return rg_fail(error, RG_INVALID_ARGUMENT, "threads: %d; there must be at least 1",
                       threads);
    rg_batch *made = rg_object_make(rg_batch, allocator);
    if (!made)
        return rg_fail(error, RG_OUT_OF_MEMORY, "no memory for a batch");
    made->count = count;
    made->places = rg_allocate_zeroed(&made->allocator, count, sizeof *made->places);
    made->errors = rg_allocate_zeroed(&made->allocator, count, sizeof *made->errors);
    rg_status status = made->places && made->errors ? RG_OK : RG_OUT_OF_MEMORY;
    if (!status && threads > 1)
        status = rg_pool_create(threads, &made->allocator, &made->pool);
    if (status) {
        rg_batch_destroy(made);
        return rg_fail(error, status, "a batch of %zu worlds: %s", count, rg_status_text(status));
    }
    *batch = made;
    return RG_OK;
}

rg_status rg_batch_create(const rg_world *world, size_t count, int threads, rg_batch **batch,
                          rg_error *error) {
    assert(world && batch);
    rg_status status = make(count, threads, &world->allocator, batch, error);
    if (status)
        return status;
    (*batch)->owns = true;
    for (size_t i = 0; i < count && !status; i++) {
        status = rg_world_clone(world, &(*batch)->places[i].world);
        if (!status)
            status = rg_world_set_threads((*batch)->places[i].world, 1);
    }
    if (!status)
        return RG_OK;
    rg_batch_destroy(*batch);
    *batch = NULL;
    return rg_fail(error, status, "a batch of %zu worlds: %s", count, rg_status_text(status));
}

rg_status rg_batch_of_worlds(rg_world *const *worlds, size_t count, int threads,
                             const rg_allocator *allocator, rg_batch **batch, rg_error *error) {
    assert((worlds || count == 0) && batch);
    rg_status status = make(count, threads, allocator, batch, error);
    for (size_t i = 0; i < count && !status; i++)
        (*batch)->places[i].world = worlds[i];
    return status;
}

size_t rg_batch_count(const rg_batch *batch) {
    return batch->count;
}

rg_world *rg_batch_world(const rg_batch *batch, size_t index) {
    assert(index < batch->count);
    return batch->places[index].world;
}

void rg_batch_replace(rg_batch *batch, size_t index, rg_world *world) {
    assert(index < batch->count && !batch->owns && world);
    batch->places[index].world = world;
}

static void step_worlds(void *user, size_t begin, size_t end, size_t chunk) {
    rg_batch *batch = user;
    const rg_batch_steps *steps = batch->steps;
    (void)chunk;
    for (size_t i = begin; i < end; i++) {
        place *p = &batch->places[i];
        rg_step_info info = rg_step_info_nothing();
        rg_status status = RG_OK; /* the next place, in the same cache line, is another thread's */
        bool done = false;
        for (size_t k = 0; k < steps->steps && !status && !done; k++) {
            status = rg_world_step(p->world, steps->step, &info, &batch->errors[i]);
            done = !status && steps->stop && steps->stop(steps->user, i, p->world, &info);
        }
        p->status = status;
        if (steps->infos)
            steps->infos[i] = info;
        if (steps->statuses)
            steps->statuses[i] = (uint32_t)status;
    }
}

rg_status rg_batch_step(rg_batch *batch, const rg_batch_steps *steps, rg_error *error) {
    assert(batch && steps);
    batch->steps = steps;
    rg_parallel_for(batch->pool, batch->count, 1, step_worlds, batch);
    batch->steps = NULL;
    for (size_t i = 0; i < batch->count; i++)
        if (batch->places[i].status) {
            if (error)
                *error = batch->errors[i];
            return batch->places[i].status;
        }
    return RG_OK;
}

static void gather(void *user, size_t begin, size_t end, size_t chunk) {
    rg_batch *batch = user;
    (void)chunk;
    for (size_t i = begin; i < end; i++) {
        const rg_world *world = batch->places[i].world;
        const rg_strided views[] = {rg_world_centre_positions(world),
                                    rg_world_centre_orientations(world), rg_world_velocities(world),
                                    rg_world_angular_velocities(world)};
        static const size_t widths[] = {3, 4, 3, 3};
        double *row = batch->state + batch->places[i].first_row * RG_BATCH_NUMBERS;
        for (size_t b = 0; b < views[0].count; b++)
            for (size_t v = 0; v < 4; row += widths[v], v++)
                memcpy(row, views[v].data + b * views[v].stride, widths[v] * sizeof *row);
    }
}

rg_status rg_batch_state(rg_batch *batch, rg_strided *state) {
    size_t rows = 0;
    *state = (rg_strided){0};
    for (size_t i = 0; i < batch->count; i++) {
        batch->places[i].first_row = rows;
        rows += rg_world_body_count(batch->places[i].world);
    }
    rg_status status = rg_array_grow(&batch->allocator, &batch->state, &batch->capacity,
                                     (rows ? rows : 1) * RG_BATCH_NUMBERS);
    if (status)
        return status;
    rg_parallel_for(batch->pool, batch->count, 64, gather, batch);
    *state = (rg_strided){batch->state, rows, RG_BATCH_NUMBERS};
    return RG_OK;
}

size_t rg_batch_first_row(const rg_batch *batch, size_t index) {
    assert(index < batch->count);
    return batch->places[index].first_row;
}
