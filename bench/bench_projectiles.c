/* bench_projectiles [COUNT [STEPS]]: what free flight costs.
 *
 * Builds the scene `projectiles count=COUNT`, steps it with each method and with 1 and 2 threads,
 * and prints the wall-clock time per body and step, the best of REPEATS runs of STEPS steps, so
 * that whatever else the machine does counts least. The judge is off: its cost is a row of its own.
 * Bytes per body are what the world holds from its allocator when the run is over, scene and shapes
 * included, and how much more it held at its peak. */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "rigor/scene.h"

enum { DEFAULT_COUNT = 100000, DEFAULT_STEPS = 100, WARM_UP_STEPS = 3, REPEATS = 3 };

/* Counts the bytes held. The size of a block stands before it. */
typedef struct byte_counter {
    atomic_size_t held, peak;
} byte_counter;

enum { BLOCK_HEADER = 64 }; /* keeps every alignment that the library may ask for */

static void *counting_resize(void *user, void *pointer, size_t size) {
    byte_counter *counter = user;
    char *old = pointer ? (char *)pointer - BLOCK_HEADER : NULL;
    size_t old_size = 0;
    if (old)
        memcpy(&old_size, old, sizeof old_size);
    char *block = realloc(old, size + BLOCK_HEADER);
    if (!block)
        return NULL;
    memcpy(block, &size, sizeof size);
    size_t held = atomic_fetch_add(&counter->held, size - old_size) + size - old_size;
    size_t peak = atomic_load(&counter->peak);
    while (held > peak && !atomic_compare_exchange_weak(&counter->peak, &peak, held))
        ;
    return block + BLOCK_HEADER;
}

static void counting_release(void *user, void *pointer) {
    if (!pointer)
        return;
    byte_counter *counter = user;
    char *block = (char *)pointer - BLOCK_HEADER;
    size_t size;
    memcpy(&size, block, sizeof size);
    atomic_fetch_sub(&counter->held, size);
    free(block);
}

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Times in ns per body and step. */
typedef struct result {
    double wall, step, judge;
    double bytes, peak;  /* per body */
    double evaluations;  /* of the forces, per step */
    uint64_t state_hash; /* after all steps: must not depend on the threads */
} result;

static void die(const rg_error *error) {
    fprintf(stderr, "bench_projectiles: %s\n", error->text);
    exit(1);
}

static double time_steps(rg_scene *scene, long steps) {
    rg_world *world = rg_scene_world(scene);
    double step = rg_scene_step_size(scene);
    rg_error error;
    double start = seconds_now();
    for (long i = 0; i < steps; i++)
        if (rg_world_step(world, step, NULL, &error))
            die(&error);
    return seconds_now() - start;
}

static result measure(const char *method, int threads, const char *count, long steps) {
    byte_counter counter = {0};
    rg_allocator allocator = {counting_resize, counting_release, &counter};
    rg_scene_parameter parameter = {"count", count};
    rg_scene_options options = {.parameters = &parameter,
                                .parameter_count = 1,
                                .method = method,
                                .threads = threads,
                                .allocator = &allocator};
    rg_scene *scene;
    rg_error error;
    if (rg_scene_create_builtin("projectiles", &options, &scene, &error))
        die(&error);
    rg_world *world = rg_scene_world(scene);
    double bodies = (double)rg_world_body_count(world);

    time_steps(scene, WARM_UP_STEPS);
    double best = 1e300;
    for (int i = 0; i < REPEATS; i++) {
        double seconds = time_steps(scene, steps);
        best = seconds < best ? seconds : best;
    }
    rg_step_info summary = rg_world_summary(world);
    double body_steps = bodies * (double)summary.steps;
    result r = {.wall = 1e9 * best / (bodies * (double)steps),
                .step = 1e9 * summary.profile.step / body_steps,
                .judge = 1e9 * summary.profile.judge / body_steps,
                .bytes = (double)atomic_load(&counter.held) / bodies,
                .peak = (double)atomic_load(&counter.peak) / bodies,
                .evaluations = (double)summary.evaluations / (double)summary.steps,
                .state_hash = rg_world_state_hash(world)};
    rg_scene_destroy(scene);
    return r;
}

int main(int argc, char **argv) {
    char count[32];
    snprintf(count, sizeof count, "%ld", argc > 1 ? strtol(argv[1], NULL, 10) : DEFAULT_COUNT);
    long steps = argc > 2 ? strtol(argv[2], NULL, 10) : DEFAULT_STEPS;
    if (strtol(count, NULL, 10) < 1 || steps < 1) {
        fprintf(stderr, "usage: bench_projectiles [COUNT [STEPS]]\n");
        return 2;
    }

    printf("projectiles count=%s, %ld steps, best of %d\n\n", count, steps, REPEATS);
    printf("ns per body and step: in all (best), without the judge (mean), the judge (mean)\n");
    printf("%-9s %7s %8s %8s %8s %12s %11s %11s  %s\n", "method", "threads", "wall", "step",
           "judge", "evaluations", "bytes/body", "peak/body", "state hash");
    static const char *const methods[] = {"stepping", "analytic"};
    double wall[2][2];
    bool same = true;
    for (int m = 0; m < 2; m++) {
        uint64_t first_hash = 0;
        for (int threads = 1; threads <= 2; threads++) {
            result r = measure(methods[m], threads, count, steps);
            printf("%-9s %7d %8.1f %8.1f %8.1f %12.1f %11.0f %11.0f  %016llx\n", methods[m],
                   threads, r.wall, r.step, r.judge, r.evaluations, r.bytes, r.peak,
                   (unsigned long long)r.state_hash);
            fflush(stdout);
            wall[m][threads - 1] = r.wall;
            same = same && (threads == 1 || r.state_hash == first_hash);
            first_hash = r.state_hash;
        }
    }
    printf("\nanalytic / stepping: %.2f (1 thread), %.2f (2 threads)\n", wall[1][0] / wall[0][0],
           wall[1][1] / wall[0][1]);
    printf("speed-up by the second thread: stepping %.2f, analytic %.2f\n", wall[0][0] / wall[0][1],
           wall[1][0] / wall[1][1]);
    if (!same)
        fprintf(stderr, "bench_projectiles: the state depends on the number of threads\n");
    return same ? 0 : 1;
}
