/* Timers of the stages of a step. Tested by tests/step/test_profile.c. */
#include "step/step_stage.h"

#include "base/base_clock.h"

rg_stage rg_stage_enter(rg_world *world, rg_stage stage) {
    rg_stage_clock *clock = &world->clock;
    rg_stage before = clock->stage;
    double time = rg_clock();
    clock->profile.stage[before] += time - clock->since;
    clock->since = time;
    clock->stage = stage;
    return before;
}

void rg_stages_begin(rg_world *world) {
    world->clock.begin = world->clock.since = rg_clock();
    world->clock.stage = RG_STAGE_FORCES;
}

void rg_stages_end(rg_world *world) {
    rg_stage_enter(world, RG_STAGE_FORCES);
    world->clock.profile.step += rg_clock() - world->clock.begin;
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
