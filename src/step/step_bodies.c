/* Tested by tests/step/test_several_impacts.c and test_penalty.c. */
#include "step/step_bodies.h"

#include <string.h>

bool rg_bodies_take(rg_world_content *c, rg_arena *arena) {
    size_t n = c->bodies.count;
    c->position = rg_arena_take(arena, n, sizeof *c->position);
    c->orientation = rg_arena_take(arena, n, sizeof *c->orientation);
    c->angle = rg_arena_take(arena, n, sizeof *c->angle);
    c->velocity = rg_arena_take(arena, n, sizeof *c->velocity);
    c->angular_velocity = rg_arena_take(arena, n, sizeof *c->angular_velocity);
    c->momentum = rg_arena_take(arena, n, sizeof *c->momentum);
    c->angular_momentum = rg_arena_take(arena, n, sizeof *c->angular_momentum);
    return c->position && c->orientation && c->angle && c->velocity && c->angular_velocity &&
           c->momentum && c->angular_momentum;
}

void rg_bodies_copy(rg_world_content *c, const rg_world_content *start) {
    size_t n = c->bodies.count;
    memcpy(c->position, start->position, n * sizeof *c->position);
    memcpy(c->orientation, start->orientation, n * sizeof *c->orientation);
    memcpy(c->angle, start->angle, n * sizeof *c->angle);
    memcpy(c->velocity, start->velocity, n * sizeof *c->velocity);
    memcpy(c->angular_velocity, start->angular_velocity, n * sizeof *c->angular_velocity);
    memcpy(c->momentum, start->momentum, n * sizeof *c->momentum);
    memcpy(c->angular_momentum, start->angular_momentum, n * sizeof *c->angular_momentum);
}

void rg_bodies_return(rg_world_content *c, const rg_world_content *start) {
    c->position = start->position;
    c->orientation = start->orientation;
    c->angle = start->angle;
    c->velocity = start->velocity;
    c->angular_velocity = start->angular_velocity;
    c->momentum = start->momentum;
    c->angular_momentum = start->angular_momentum;
    c->time = start->time;
}
