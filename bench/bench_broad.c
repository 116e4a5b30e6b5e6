/* bench_broad [STEPS]: what candidate pairs cost, and how the cost grows.
 *
 * Boxes move with constant velocities, a hundredth of their size per step, and turn back at the
 * walls. Scenes: `cloud`, evenly spread over a cube; `floor`, sliding on a square; `uneven`,
 * extents over three orders of magnitude. For each kind and number of boxes: the time of the first
 * fill, the lower quartile of the times of an update (moving the boxes not included; of
 * a machine that does other things as well, the upper ones are theirs), swaps or reinsertions per
 * update, how often everything was sorted or built anew after the fill. The slope is that of log
 * time against log (n + swaps) for the sorted lists, against log n for the tree, by least squares
 * over the rows. One more step of the smaller scenes is compared with all against all, of the
 * larger ones a sample of boxes with all. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/base_math.h"
#include "broad/broad.h"
#include "rigor/random.h"

enum { DEFAULT_STEPS = 30, WARM_UP_STEPS = 12, MOST_STEPS = 1000, SAMPLES = 300 };
static const uint32_t counts[] = {1000, 3000, 10000, 30000, 100000};
enum { COUNTS = sizeof counts / sizeof counts[0] };

typedef struct cloud {
    uint32_t count;
    double room[3]; /* the walls are at 0 and here */
    rg_bounds *bounds;
    rg_vec3 *velocity;
} cloud;

/* Processor time: whatever else the machine does counts least. */
static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void check(bool good, const char *what) {
    if (!good) {
        fprintf(stderr, "bench_broad: %s\n", what);
        exit(1);
    }
}

typedef struct scene {
    const char *name;
    bool flat;
    double smallest; /* extents between this and 1, evenly in the logarithm */
    double volume;   /* of the room per box (flat: area) */
} scene;

/* A third to a half as many pairs as boxes where sizes are alike. */
static const scene scenes[] = {
    {"cloud", false, 0.5, 2.0}, {"floor", true, 0.5, 1.2}, {"uneven", false, 1e-3, 0.2}};

static cloud make_cloud(const scene *s, uint32_t count) {
    cloud c = {.count = count};
    c.bounds = malloc(count * sizeof *c.bounds);
    c.velocity = malloc(count * sizeof *c.velocity);
    check(c.bounds && c.velocity, "no memory");
    double side = s->flat ? sqrt(count * s->volume) : cbrt(count * s->volume);
    c.room[0] = c.room[1] = side;
    c.room[2] = s->flat ? 1 : side;
    rg_random random = rg_random_make(count);
    for (uint32_t i = 0; i < count; i++) {
        double extent = exp(rg_random_between(&random, log(s->smallest), 0));
        double *e = (double *)&c.bounds[i], *v = (double *)&c.velocity[i];
        for (int k = 0; k < 3; k++) {
            double width = extent * rg_random_between(&random, 0.5, 1);
            e[k] = rg_random_between(&random, 0, fmax(c.room[k] - width, 0));
            e[3 + k] = e[k] + width;
            v[k] = s->flat && k == 2 ? 0 : 0.01 * extent * rg_random_between(&random, -1, 1);
        }
    }
    return c;
}

/* The boxes are those of the broad phase, so that there is no second copy in the cache. */
static void move_boxes(rg_broad *broad, cloud *c) {
    for (uint32_t i = 0; i < c->count; i++) {
        rg_bounds bounds = rg_broad_bounds(broad, i);
        double *e = (double *)&bounds, *v = (double *)&c->velocity[i];
        for (int k = 0; k < 3; k++) {
            if ((e[k] < 0 && v[k] < 0) || (e[3 + k] > c->room[k] && v[k] > 0))
                v[k] = -v[k];
            e[k] += v[k];
            e[3 + k] += v[k];
        }
        check(rg_broad_set_bounds(broad, i, &bounds) == RG_OK, "bounds refused");
    }
}

/* Pairs of every box (or of SAMPLES of them) with all, against the list. */
static bool matches_brute_force(const cloud *c, rg_broad_pairs list) {
    uint32_t stride = c->count <= 10000 ? 1 : c->count / SAMPLES;
    size_t *degree = calloc(c->count, sizeof *degree);
    check(degree, "no memory");
    bool good = true;
    for (size_t i = 0; i < list.count; i++) {
        rg_broad_pair p = list.pairs[i];
        degree[p.a]++;
        degree[p.b]++;
        good = good && p.a < p.b && rg_bounds_overlap(&c->bounds[p.a], &c->bounds[p.b]);
        good = good && (i == 0 || list.pairs[i - 1].a < p.a ||
                        (list.pairs[i - 1].a == p.a && list.pairs[i - 1].b < p.b));
    }
    for (uint32_t i = 0; i < c->count; i += stride) {
        size_t found = 0;
        for (uint32_t j = 0; j < c->count; j++)
            found += j != i && rg_bounds_overlap(&c->bounds[i], &c->bounds[j]);
        good = good && found == degree[i];
    }
    free(degree);
    return good;
}

static int by_size(const void *x, const void *y) {
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

typedef struct row {
    double fill, time;           /* s */
    double work;                 /* per update: n + swaps, or n */
    double swaps, again;         /* per update */
    unsigned long long rebuilds; /* beside the first fill */
    size_t pairs;
    bool good;
} row;

static row measure(const scene *s, const rg_broad_kind *kind, uint32_t count, int steps) {
    cloud c = make_cloud(s, count);
    rg_broad *broad;
    rg_broad_def def = {.kind = kind};
    check(rg_broad_create(&def, NULL, &broad) == RG_OK, "no memory");
    for (uint32_t i = 0; i < count; i++) {
        rg_proxy_filter filter = rg_proxy_filter_default(i);
        check(rg_broad_add(broad, i, &c.bounds[i], &filter) == RG_OK, "no memory");
    }
    row r = {0};
    double start = seconds_now();
    check(rg_broad_update(broad) == RG_OK, "no memory");
    r.fill = seconds_now() - start;
    static double times[MOST_STEPS];
    for (int i = -WARM_UP_STEPS; i < steps; i++) {
        move_boxes(broad, &c);
        start = seconds_now();
        check(rg_broad_update(broad) == RG_OK, "no memory");
        double seconds = seconds_now() - start;
        if (i < 0)
            continue;
        times[i] = seconds;
        r.swaps += (double)rg_broad_get_info(broad).swaps / steps;
        r.again += (double)rg_broad_get_info(broad).reinsertions / steps;
    }
    qsort(times, (size_t)steps, sizeof times[0], by_size);
    r.time = times[steps / 4];
    r.work = count + r.swaps;
    r.rebuilds = rg_broad_get_info(broad).rebuilds - 1;
    r.pairs = rg_broad_pairs_all(broad).count;
    for (uint32_t i = 0; i < count; i++)
        c.bounds[i] = rg_broad_bounds(broad, i);
    r.good = matches_brute_force(&c, rg_broad_pairs_all(broad));
    rg_broad_destroy(broad);
    free(c.bounds);
    free(c.velocity);
    return r;
}

/* Of log y against log x. */
static double slope(const double *x, const double *y, int count) {
    double sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (int i = 0; i < count; i++) {
        double u = log(x[i]), v = log(y[i]);
        sx += u, sy += v, sxx += u * u, sxy += u * v;
    }
    return (count * sxy - sx * sy) / (count * sxx - sx * sx);
}

int main(int argc, char **argv) {
    int steps = argc > 1 ? (int)strtol(argv[1], NULL, 10) : DEFAULT_STEPS;
    if (steps < 1 || steps > MOST_STEPS) {
        fprintf(stderr, "usage: bench_broad [STEPS]  (1 to %d)\n", MOST_STEPS);
        return 2;
    }
    bool good = true;
    printf("%-7s %-7s %7s %8s %9s %9s %11s %8s %7s %9s  %s\n", "scene", "kind", "boxes", "pairs",
           "fill ms", "update ms", "swaps", "again", "rebuilt", "ns/work", "pairs right");
    for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; i++)
        for (int k = 0; k < 2; k++) {
            const rg_broad_kind *kind = k == 0 ? &rg_broad_sorted : &rg_broad_tree;
            double work[COUNTS], time[COUNTS];
            for (int j = 0; j < COUNTS; j++) {
                row r = measure(&scenes[i], kind, counts[j], steps);
                work[j] = r.work;
                time[j] = r.time;
                good = good && r.good;
                printf("%-7s %-7s %7u %8zu %9.2f %9.3f %11.0f %8.0f %7llu %9.2f  %s\n",
                       scenes[i].name, rg_broad_kind_name(kind), counts[j], r.pairs, 1e3 * r.fill,
                       1e3 * r.time, r.swaps, r.again, r.rebuilds, 1e9 * r.time / r.work,
                       r.good ? "yes" : "NO");
                fflush(stdout);
            }
            printf("%-7s %-7s slope of time against %s: %.3f\n\n", scenes[i].name,
                   rg_broad_kind_name(kind), k == 0 ? "n + swaps" : "n", slope(work, time, COUNTS));
        }
    if (!good)
        fprintf(stderr, "bench_broad: wrong pairs\n");
    return good ? 0 : 1;
}
