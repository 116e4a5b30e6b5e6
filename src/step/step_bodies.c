/* Tested by tests/step/test_several_impacts.c and test_penalty.c. */
#include "step/step_bodies.h"

#include <string.h>

/* What a step changes of a body. */
#define ARRAYS(X)                                                                                  \
    X(position)                                                                                    \
    X(orientation)                                                                                 \
    X(angle)                                                                                       \
    X(velocity)                                                                                    \
    X(angular_velocity)                                                                            \
    X(momentum)                                                                                    \
    X(angular_momentum)

bool rg_bodies_take(rg_world_content *c, rg_arena *arena) {
    bool enough = true;
#define TAKE(array)                                                                                \
    enough &= !!(c->array = rg_arena_take(arena, c->bodies.count, sizeof *c->array));
    ARRAYS(TAKE)
    return enough;
}

void rg_bodies_copy(rg_world_content *c, const rg_world_content *start) {
#define COPY(array) memcpy(c->array, start->array, c->bodies.count * sizeof *c->array);
    if (c->bodies.count) {
        ARRAYS(COPY)
    }
}

void rg_bodies_return(rg_world_content *c, const rg_world_content *start) {
#define RETURN(array) c->array = start->array;
    ARRAYS(RETURN)
    c->time = start->time;
}
