/* `rigor bench analytic`: whether the event-driven method is fast enough to watch (the claim of
 * Baraff 1994), on a stack, a row of dominoes and a pile of stones, all with friction, with the
 * stepping method beside it. Times are processor time of one thread with the judge, which is what a
 * run takes on a machine that has nothing else to do. A run that cannot go on is shown as far as it
 * came. */
#include "cli.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

typedef struct bench_scene {
    const char *title, *name, *count; /* of bodies; null: as the scene has it */
} bench_scene;

typedef struct bench_run {
    double simulated, wall, cpu; /* s */
    uint64_t events, problems, evaluations;
    rg_error error;
    rg_status status;
} bench_run;

static rg_scene *open_scene(const bench_scene *which, const char *method, rg_error *error) {
    rg_scene_parameter count = {"count", which->count};
    rg_scene_options options = {.parameters = &count,
                                .parameter_count = which->count ? 1 : 0,
                                .method = method,
                                .threads = 1};
    rg_scene *scene = NULL;
    return rg_scene_create_builtin(which->name, &options, &scene, error) == RG_OK ? scene : NULL;
}

/* False if there is no such scene. */
static bool measure(const bench_scene *which, const char *method, double duration, bench_run *run) {
    *run = (bench_run){.status = RG_OK};
    rg_scene *scene = open_scene(which, method, &run->error);
    if (!scene)
        return false;
    rg_world *world = rg_scene_world(scene);
    double step = rg_scene_step_size(scene);
    double seconds = duration > 0 ? duration : rg_scene_duration(scene);
    uint64_t total = (uint64_t)fmax(1, round(seconds / step));
    cli_progress progress = cli_progress_begin(0, total, false);
    double start = cli_clock(), cpu = cli_processor_clock();
    for (uint64_t i = 0; i < total && run->status == RG_OK; i++) {
        size_t kept, count;
        run->status = rg_world_step(world, step, NULL, &run->error);
        (void)rg_world_step_events(world, &kept, &count);
        run->events += count;
        cli_progress_update(&progress, i + 1);
    }
    run->wall = cli_clock() - start, run->cpu = cli_processor_clock() - cpu;
    cli_progress_clear(&progress);
    rg_step_info summary = rg_world_summary(world);
    run->simulated = rg_world_time(world);
    run->problems = summary.solves;
    run->evaluations = summary.evaluations;
    rg_scene_destroy(scene);
    return true;
}

static double rate(double amount, double time) {
    return time > 0 ? amount / time : 0;
}

static void print_run(const bench_scene *which, const char *method, const bench_run *run) {
    printf("%-18s %-9s %10.4g %8.3f %8.3f %10.3g %12" PRIu64 " %8" PRIu64 " %10.0f %9" PRIu64
           " %11.0f\n",
           which->title, method, run->simulated, run->wall, run->cpu,
           rate(run->simulated, run->cpu), run->evaluations, run->events,
           rate((double)run->events, run->cpu), run->problems,
           rate((double)run->problems, run->cpu));
    if (run->status != RG_OK)
        printf("%-18s could not continue at t = %.6g s: %s\n", "", run->simulated, run->error.text);
}

int cli_bench_analytic(double duration) {
    static const bench_scene scenes[] = {{"brick-stack", "brick-stack", NULL},
                                         {"dominoes count=20", "dominoes", "20"},
                                         {"pile count=20", "pile", "20"}};
    static const char *const methods[] = {"stepping", "analytic"};
    printf("%-18s %-9s %10s %8s %8s %10s %12s %8s %10s %9s %11s\n", "scene", "method", "simulated",
           "wall s", "cpu s", "real time", "evaluations", "events", "events/s", "LCPs", "LCPs/s");
    for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; i++) {
        bench_run runs[2];
        for (size_t m = 0; m < 2; m++) {
            if (!measure(&scenes[i], methods[m], duration, &runs[m])) {
                cli_complain("bench: %s", runs[m].error.text);
                return EXIT_FAILED;
            }
            print_run(&scenes[i], methods[m], &runs[m]);
            fflush(stdout);
        }
        printf("%-18s the stepping method is %.3g times as fast\n", "",
               rate(rate(runs[0].simulated, runs[0].cpu), rate(runs[1].simulated, runs[1].cpu)));
    }
    puts("\nreal time: seconds simulated in a second of processor time of one thread, judge "
         "included;\n"
         "LCPs: contact problems of islands; per s: in a second of processor time");
    return cli_flush();
}
