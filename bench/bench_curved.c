/* Microseconds per query of curved pairs: growth and distance, cold (a new pose each time) and warm
 * (small motions, the last result as the start); then smooth ellipsoids against hulls of their own
 * points, to see where smooth becomes cheaper.
 *
 *   bench_curved [queries per figure]
 *
 * Poses are made beforehand; processor time, the best of five runs. */
#include "base/base_math.h"
#include "base/base_trig.h"
#include "narrow/narrow.h"
#include "rigor/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { SPHERE, CAPSULE, CYLINDER, CONE, ELLIPSOID, BOX, HULL, KINDS, RUNS = 5 };

static const char *const names[KINDS] = {"sphere",    "capsule", "cylinder", "cone",
                                         "ellipsoid", "box",     "hull 100"};

static double microseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return 1e6 * (double)now.tv_sec + 1e-3 * (double)now.tv_nsec;
}

static rg_shape *make(rg_shape_def def) {
    rg_shape *shape = NULL;
    rg_error error = {0};
    if (rg_shape_create(&def, NULL, &shape, &error) != RG_OK) {
        fprintf(stderr, "%s\n", error.text);
        exit(1);
    }
    return shape;
}

/* A hull of `count` random points on an ellipsoid. */
static rg_shape *make_hull(rg_vec3 axes, size_t count, uint64_t seed) {
    rg_random random = rg_random_make(seed);
    rg_vec3 *points = malloc(count * sizeof *points);
    for (size_t i = 0; i < count; i++)
        points[i] = rg_times(axes, rg_random_direction(&random));
    rg_shape *shape = make(rg_shape_def_hull(points, count));
    free(points);
    return shape;
}

static rg_shape *make_kind(int kind, uint64_t seed) {
    rg_vec3 axes = {1, 0.7, 0.5};
    switch (kind) {
    case SPHERE:
        return make(rg_shape_def_sphere(0.7));
    case CAPSULE:
        return make(rg_shape_def_capsule(0.4, 1));
    case CYLINDER:
        return make(rg_shape_def_cylinder(0.6, 1.2));
    case CONE:
        return make(rg_shape_def_cone(0.8, 1.5));
    case ELLIPSOID:
        return make(rg_shape_def_ellipsoid(axes.x, axes.y, axes.z));
    case BOX:
        return make(rg_shape_def_box(1.2, 1, 0.8));
    default:
        return make_hull(axes, 100, seed);
    }
}

typedef struct series {
    const rg_shape *a, *b;
    size_t count;
    rg_pose *pa, *pb;
    rg_pair *pairs;
} series;

static rg_pair pair_of(const rg_shape *a, rg_pose pa, const rg_shape *b, rg_pose pb) {
    rg_vec3 x1 = rg_pose_apply(pa, rg_shape_centre(a)), x2 = rg_pose_apply(pb, rg_shape_centre(b));
    return (rg_pair){
        {{a, rg_shape_polyhedron(a), rg_mat3_of_quat(pa.orientation), rg_shape_centre(a)},
         {b, rg_shape_polyhedron(b), rg_mat3_of_quat(pb.orientation), rg_shape_centre(b)}},
        rg_sub(x2, x1)};
}

/* Cold: any orientation, distance from overlap to apart. Warm: a slow path of the same pair. */
static void fill(series *bench, bool warm, uint64_t seed) {
    rg_random random = rg_random_make(seed);
    for (size_t i = 0; i < bench->count; i++) {
        rg_pose pa = rg_pose_identity(), pb = pa;
        pa.orientation = rg_random_rotation(&random);
        pb.orientation = rg_random_rotation(&random);
        pb.position = rg_random_direction(&random);
        pb.position = rg_scale(rg_random_between(&random, 0.8, 2), pb.position);
        if (warm) {
            double s, c, t = 1e-2 * (double)i;
            rg_sin_cos(0.3 * t, &s, &c);
            pa.orientation = rg_quat_of_rotation_vector(rg_vec3_make(0.5 * t, 0.2, 0.3 * t));
            pb.orientation = rg_quat_of_rotation_vector(rg_vec3_make(0.1, 0.7 * t, -0.2 * t));
            pb.position = rg_vec3_make((1.3 + 0.3 * s) * c, (1.3 + 0.3 * c) * s, 0.5 * s * c);
        }
        bench->pa[i] = pa;
        bench->pb[i] = pb;
        bench->pairs[i] = pair_of(bench->a, pa, bench->b, pb);
    }
}

static double checksum; /* of all results, so that nothing is optimised away */

static double time_growth(const series *bench, bool warm) {
    double best = INFINITY;
    for (int run = 0; run < RUNS; run++) {
        rg_growth_cache cache = {0};
        double start = microseconds();
        for (size_t i = 0; i < bench->count; i++) {
            rg_growth growth;
            rg_growth_curved(&bench->pairs[i], warm ? &cache : NULL, &growth);
            checksum += growth.ratio;
        }
        best = fmin(best, (microseconds() - start) / (double)bench->count);
    }
    return best;
}

static double time_distance(const series *bench, bool warm) {
    double best = INFINITY;
    for (int run = 0; run < RUNS; run++) {
        rg_distance_cache cache = {0};
        double start = microseconds();
        for (size_t i = 0; i < bench->count; i++) {
            rg_distance distance;
            rg_distance_between(bench->a, bench->pa[i], bench->b, bench->pb[i],
                                warm ? &cache : NULL, &distance);
            checksum += distance.distance;
        }
        best = fmin(best, (microseconds() - start) / (double)bench->count);
    }
    return best;
}

static void measure(series *bench, const rg_shape *a, const rg_shape *b, double figures[4]) {
    bench->a = a;
    bench->b = b;
    for (int warm = 0; warm < 2; warm++) {
        fill(bench, warm, 17);
        figures[warm] = time_growth(bench, warm);
        figures[2 + warm] = time_distance(bench, warm);
    }
}

static void kinds_table(series *bench) {
    printf("us per query           growth         distance\n"
           "                       cold   warm    cold   warm\n");
    for (int i = 0; i < KINDS; i++)
        for (int k = i; k < KINDS; k++) {
            rg_shape *a = make_kind(i, 1), *b = make_kind(k, 2);
            double us[4];
            measure(bench, a, b, us);
            bool flat = i >= BOX && k >= BOX;
            if (flat)
                printf("%-9s %-9s      -      -  %6.2f %6.2f\n", names[i], names[k], us[2], us[3]);
            else
                printf("%-9s %-9s %6.2f %6.2f  %6.2f %6.2f\n", names[i], names[k], us[0], us[1],
                       us[2], us[3]);
            rg_shape_release(a);
            rg_shape_release(b);
        }
}

static void crossover_table(series *bench) {
    static const size_t counts[] = {8, 20, 50, 100, 200, 500, 1000, 3000, 10000};
    rg_vec3 axes = {1, 0.7, 0.5}, round = {0.7, 0.7, 0.7};
    double us[4];
    printf("\nsmooth against facetted, us per query: distance of two hulls of n points\n"
           "                       cold   warm\n");
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        rg_shape *a = make_hull(axes, counts[i], 3), *b = make_hull(axes, counts[i], 4);
        measure(bench, a, b, us);
        printf("hulls, n = %-10zu %6.2f %6.2f\n", counts[i], us[2], us[3]);
        rg_shape_release(a);
        rg_shape_release(b);
    }
    rg_shape *egg = make(rg_shape_def_ellipsoid(axes.x, axes.y, axes.z));
    rg_shape *ball = make(rg_shape_def_sphere(round.x));
    measure(bench, egg, egg, us);
    printf("ellipsoids: distance  %6.2f %6.2f\n            growth    %6.2f %6.2f\n", us[2], us[3],
           us[0], us[1]);
    measure(bench, ball, ball, us);
    printf("spheres:    distance  %6.2f %6.2f\n            growth    %6.2f %6.2f\n", us[2], us[3],
           us[0], us[1]);
    rg_shape_release(egg);
    rg_shape_release(ball);
}

int main(int count, char **arguments) {
    long queries = count > 1 ? atol(arguments[1]) : 10000;
    if (queries < 1 || queries > 10000000) {
        fprintf(stderr, "bench_curved: queries must be between 1 and 10000000\n");
        return 2;
    }
    series bench = {.count = (size_t)queries};
    bench.pa = malloc(bench.count * sizeof *bench.pa);
    bench.pb = malloc(bench.count * sizeof *bench.pb);
    bench.pairs = malloc(bench.count * sizeof *bench.pairs);
    if (!bench.pa || !bench.pb || !bench.pairs)
        return 1;
    kinds_table(&bench);
    crossover_table(&bench);
    fprintf(stderr, "checksum %.17g\n", checksum);
    free(bench.pa);
    free(bench.pb);
    free(bench.pairs);
    return 0;
}
