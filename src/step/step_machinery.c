/* Tested by tests/step/test_driver.c. */
#include "step/step_machinery.h"

#include "base/base_text.h"
#include "solve/solve.h"

static void free_machinery(void *pointer) {
    rg_step_machinery *m = pointer;
    if (!m)
        return;
    rg_collision_destroy(m->collision);
    rg_collision_destroy(m->between);
    rg_release_all(&m->allocator, m->part_forces, m->impulses, m->order.parts);
    rg_release_all(&m->allocator, m->resting.leader1, m->resting.islands);
    rg_release_all(&m->allocator, m->force_room[0].data, m->force_room[1].data);
    for (int i = 0; i < RG_STEP_ALL_LANES; i++) {
        rg_solve_context_destroy(m->contexts[i]);
        rg_arena_free(&m->arenas[i]);
        rg_island_memory_free(&m->islands[i], &m->allocator);
    }
    rg_arena_free(&m->tracks);
    rg_arena_free(&m->seen.memory);
    rg_object_release(m);
}

rg_status rg_machinery_of(rg_world *world, rg_step_machinery **machinery, rg_error *error) {
    *machinery = world->machinery;
    if (*machinery)
        return RG_OK;
    rg_step_machinery *m = rg_object_make(rg_step_machinery, &world->allocator);
    if (!m)
        return rg_fail(error, RG_OUT_OF_MEMORY, "no memory for contacts");
    for (int i = 0; i < RG_STEP_ALL_LANES; i++)
        m->arenas[i] = rg_arena_make(&world->allocator);
    m->tracks = rg_arena_make(&world->allocator);
    m->seen.memory = rg_arena_make(&world->allocator);
    m->order.allocator = &m->allocator;
    rg_status status =
        rg_collision_create(&world->collision, &world->allocator, &m->collision, error);
    for (int i = 0; i < RG_STEP_ALL_LANES && !status; i++) {
        status = rg_solve_context_create(&world->allocator, &m->contexts[i]);
        if (status)
            rg_fail(error, status, "no memory for contacts");
        else
            m->contexts[i]->stop = &world->stop;
    }
    if (status) {
        free_machinery(m);
        return status;
    }
    world->machinery = *machinery = m;
    world->free_machinery = free_machinery;
    return RG_OK;
}

const rg_collision *rg_world_collision(const rg_world *world) {
    const rg_step_machinery *machinery = world->machinery;
    return machinery ? machinery->collision : NULL;
}

rg_status rg_world_observe_problems(rg_world *world, rg_problem_observer *observer, void *user) {
    rg_step_machinery *machinery;
    rg_status status = rg_machinery_of(world, &machinery, NULL);
    if (status)
        return status;
    machinery->observer = observer;
    machinery->observer_user = user;
    return RG_OK;
}
