/* Timers of the stages of a step. Tested by tests/step/test_profile.c. */
#include "step/step_stage.h"

#include <time.h>

/* Seconds of wall time: its clock is read without a call of the system, some 20 ns; that of
 * processor time costs twenty times as much. */
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

rg_stage rg_stage_enter(rg_world *world, rg_stage stage) {
    rg_stage_clock *clock = &world->clock;
    rg_stage before = clock->stage;
    double time = now();
    clock->profile.stage[before] += time - clock->since;
    clock->since = time;
    clock->stage = stage;
    return before;
}

void rg_stages_begin(rg_world *world) {
    world->clock.begin = world->clock.since = now();
    world->clock.stage = RG_STAGE_FORCES;
}

void rg_stages_end(rg_world *world) {
    rg_stage_enter(world, RG_STAGE_FORCES);
    world->clock.profile.step += now() - world->clock.begin;
    world->clock.profile.steps++;
}

rg_profile rg_world_profile(const rg_world *world) {
    return world->clock.profile;
}

const char *rg_stage_name(rg_stage stage) {
    static const char *const names[RG_STAGE_COUNT] = {"forces", "pairs",   "points", "events",
                                                      "rows",   "islands", "solve",  "apply",
                                                      "move",   "judge",   "store"};
    return (unsigned)stage < RG_STAGE_COUNT ? names[stage] : "unknown";
}
