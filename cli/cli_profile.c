/* Where the time of a run's steps went, stage by stage (rigor/profile.h). */
#include "cli.h"

#include "rigor/profile.h"

#include <math.h>
#include <stdio.h>

/* Milliseconds a step. */
static double per_step(const rg_profile *profile, double seconds) {
    return profile->steps ? 1e3 * seconds / (double)profile->steps : NAN;
}

static double share(const rg_profile *profile, double seconds) {
    return profile->step > 0 ? 100 * seconds / profile->step : NAN;
}

static double average(const rg_profile *profile, uint64_t count) {
    return profile->steps ? (double)count / (double)profile->steps : NAN;
}

static void print_row(const rg_profile *profile, const char *name, double seconds) {
    printf("    %-14s %10.4f %7.1f %%\n", name, per_step(profile, seconds),
           share(profile, seconds));
}

void cli_profile_print(const rg_world *world) {
    rg_profile profile = rg_world_profile(world);
    double sum = 0;
    printf("\n  %-16s %10s %9s\n", "stages", "ms a step", "share");
    for (int i = 0; i < RG_STAGE_COUNT; i++) {
        sum += profile.stage[i];
        print_row(&profile, rg_stage_name((rg_stage)i), profile.stage[i]);
    }
    print_row(&profile, "sum", sum);
    print_row(&profile, "step", profile.step);
    if (profile.passes)
        printf("  %-16s %10.4f a step, and %.4f parts of steps\n", "passes",
               average(&profile, profile.passes), average(&profile, profile.parts));
}

void cli_profile_print_json(const rg_world *world) {
    rg_profile profile = rg_world_profile(world);
    fputs("\"profile\": {\"step_ms\": ", stdout);
    cli_print_json_number(per_step(&profile, profile.step));
    fputs(", \"passes\": ", stdout);
    cli_print_json_number(average(&profile, profile.passes));
    fputs(", \"parts\": ", stdout);
    cli_print_json_number(average(&profile, profile.parts));
    fputs(", \"stages_ms\": {", stdout);
    for (int i = 0; i < RG_STAGE_COUNT; i++) {
        printf("%s\"%s\": ", i ? ", " : "", rg_stage_name((rg_stage)i));
        cli_print_json_number(per_step(&profile, profile.stage[i]));
    }
    fputs("}}, ", stdout);
}
