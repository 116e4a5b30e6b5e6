/* bench_narrow [WHAT]: what the ratio metric costs.
 *
 * - hulls: µs per query on pairs of random ellipsoid hulls by number of vertices, cold (a new pair
 *   of poses each time) and warm (the last result as the start, small motions), beside the peers on
 *   the same poses; worst certificate
 * - bodies: hulls unlike ellipsoids: points in a cube, prisms, needles, plates, bricks at rest
 * - boxes: box against box, cold, and at rest face on face
 * - seidel: the linear program over raw half-spaces, 10 ... 1,000,000: µs and the log-log slope,
 * and warm queries of hulls of as many facets
 * - without an argument: all of these
 *
 * Every figure is the best of REPEATS passes over the same queries, so that whatever else the
 * machine does counts least. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/base_math.h"
#include "narrow/narrow.h"
#include "peers.h"
#include "rigor/proximity.h"
#include "rigor/random.h"

enum { REPEATS = 9, HULLS = 8 };

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void die(const char *what) {
    fprintf(stderr, "bench_narrow: %s\n", what);
    exit(1);
}

static void *allocate(size_t count, size_t size) {
    void *memory = calloc(count, size);
    if (!memory)
        die("out of memory");
    return memory;
}

/* ------------------------------------------------------------------ pairs */

typedef struct query {
    int hull1, hull2;
    rg_pose pose1, pose2;
} query;

static rg_shape *ellipsoid_hull(rg_random *random, int count) {
    rg_vec3 *points = allocate((size_t)count, sizeof *points);
    rg_vec3 axes = {rg_random_between(random, 0.5, 1), rg_random_between(random, 0.5, 1),
                    rg_random_between(random, 0.5, 1)};
    for (int i = 0; i < count; i++)
        points[i] = rg_times(axes, rg_random_direction(random));
    rg_shape_def def = rg_shape_def_hull(points, (size_t)count);
    rg_shape *shape;
    rg_error error;
    if (rg_shape_create(&def, NULL, &shape, &error) != RG_OK)
        die(error.text);
    free(points);
    return shape;
}

static rg_growth ask(rg_shape *const *hulls, const query *q, rg_growth_cache *cache) {
    rg_growth growth;
    if (rg_growth_between(hulls[q->hull1], q->pose1, hulls[q->hull2], q->pose2, cache, &growth) !=
        RG_OK)
        die("a query failed");
    return growth;
}

/* Random orientations; the second body where the ratio is between low and high. */
static void make_queries(rg_random *random, rg_shape *const *hulls, int count, double low,
                         double high, query *queries) {
    for (int i = 0; i < count; i++) {
        query *q = &queries[i];
        q->hull1 = (int)rg_random_below(random, HULLS);
        q->hull2 = (int)rg_random_below(random, HULLS);
        q->pose1 = (rg_pose){{0, 0, 0}, rg_random_rotation(random)};
        q->pose2 = (rg_pose){rg_random_direction(random), rg_random_rotation(random)};
        /* Move the second centre, not its origin. */
        rg_vec3 c1 = rg_pose_apply(q->pose1, rg_shape_centre(hulls[q->hull1]));
        rg_vec3 c2 = rg_pose_apply(q->pose2, rg_shape_centre(hulls[q->hull2]));
        double scale = rg_random_between(random, low, high) / ask(hulls, q, NULL).ratio;
        q->pose2.position = rg_add(q->pose2.position, rg_scale(scale - 1, rg_sub(c2, c1)));
    }
}

/* ------------------------------------------------------------------ ours */

static double time_cold(rg_shape *const *hulls, const query *queries, int count, double *worst) {
    double best = INFINITY;
    for (int r = 0; r < REPEATS; r++) {
        double start = seconds_now(), error = 0;
        for (int i = 0; i < count; i++) {
            rg_growth g = ask(hulls, &queries[i], NULL);
            error = fmax(error, rg_max3(g.primal_error, g.dual_error, g.duality_gap));
        }
        best = fmin(best, (seconds_now() - start) / count);
        *worst = fmax(*worst, error);
    }
    return 1e6 * best;
}

enum { STEPS = 100 };

/* Each pair makes STEPS small motions; the poses are made before the clock starts. */
static double time_warm(rg_random *random, rg_shape *const *hulls, const query *queries, int count,
                        double motion) {
    query *path = allocate((size_t)count * STEPS, sizeof *path);
    for (int i = 0; i < count; i++) {
        query q = queries[i];
        rg_vec3 turn = rg_scale(motion, rg_random_direction(random));
        rg_vec3 move = rg_scale(motion, rg_random_direction(random));
        for (int k = 0; k < STEPS; k++) {
            if (k % 10 == 0) {
                turn = rg_scale(motion, rg_random_direction(random));
                move = rg_scale(motion, rg_random_direction(random));
            }
            q.pose2.position = rg_add(q.pose2.position, move);
            q.pose2.orientation =
                rg_quat_multiply(rg_quat_of_rotation_vector(turn), q.pose2.orientation);
            path[i * STEPS + k] = q;
        }
    }
    double best = INFINITY;
    rg_growth_cache *caches = allocate((size_t)count, sizeof *caches);
    for (int r = 0; r < REPEATS; r++) {
        double sum = 0;
        for (int i = 0; i < count; i++) {
            caches[i] = (rg_growth_cache){0};
            ask(hulls, &path[i * STEPS], &caches[i]);
        }
        double start = seconds_now();
        for (int i = 0; i < count; i++)
            for (int k = 1; k < STEPS; k++)
                sum += ask(hulls, &path[i * STEPS + k], &caches[i]).ratio;
        double seconds = seconds_now() - start;
        if (!(sum > 0))
            die("no ratio");
        best = fmin(best, seconds / ((double)count * (STEPS - 1)));
    }
    free(caches);
    free(path);
    return 1e6 * best;
}

/* ------------------------------------------------------------------ peers */

static double time_peer(const peer *other, rg_shape *const *hulls, const query *queries, int count,
                        int *missed) {
    void *bodies[2][HULLS];
    for (int i = 0; i < HULLS; i++)
        for (int s = 0; s < 2; s++)
            bodies[s][i] = other->make(hulls[i]);
    double best = INFINITY;
    for (int r = 0; r < REPEATS; r++) {
        *missed = 0;
        double start = seconds_now();
        for (int i = 0; i < count; i++) {
            const query *q = &queries[i];
            *missed +=
                other->depth(bodies[0][q->hull1], q->pose1, bodies[1][q->hull2], q->pose2) < 0;
        }
        best = fmin(best, (seconds_now() - start) / count);
    }
    for (int i = 0; i < HULLS; i++)
        for (int s = 0; s < 2; s++)
            other->release(bodies[s][i]);
    return 1e6 * best;
}

/* ------------------------------------------------------------------ tables */

static void print_row(const double *values, int count) {
    for (int k = 0; k < count; k++)
        printf(" %9.3f", values[k]);
    printf("\n");
}

static void bench_hulls(void) {
    static const int sizes[] = {8, 20, 100, 300, 1000, 10000};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    static const char *const names[2] = {"penetrating", "touching"};
    printf("random ellipsoid hulls, µs per query; ratio 0.5 ... 0.95 penetrating, 0.998 ... 1 "
           "touching\n");
    printf("(warm: steps of 0.001 or 0.01 in metres and radians, bodies of 1 to 2 m)\n\n%-28s",
           "vertices");
    for (int k = 0; k < SIZES; k++)
        printf(" %9d", sizes[k]);
    printf("\n");
    double cold[2][SIZES], warm[2][SIZES], worst = 0;
    rg_shape *hulls[SIZES][HULLS];
    query *queries[2][SIZES];
    int counts[SIZES];
    for (int k = 0; k < SIZES; k++) {
        rg_random random = rg_random_make((uint64_t)sizes[k]);
        counts[k] = sizes[k] >= 10000 ? 1000 : 4000;
        for (int i = 0; i < HULLS; i++)
            hulls[k][i] = ellipsoid_hull(&random, sizes[k]);
        for (int m = 0; m < 2; m++) {
            queries[m][k] = allocate((size_t)counts[k], sizeof(query));
            make_queries(&random, hulls[k], counts[k], m ? 0.998 : 0.5, m ? 1.0 : 0.95,
                         queries[m][k]);
            cold[m][k] = time_cold(hulls[k], queries[m][k], counts[k], &worst);
        }
        for (int m = 0; m < 2; m++)
            warm[m][k] =
                time_warm(&random, hulls[k], queries[1][k], counts[k] / 20, m ? 0.01 : 0.001);
    }
    for (int m = 0; m < 2; m++) {
        printf("rigor, %-11s cold     ", names[m]);
        print_row(cold[m], SIZES);
    }
    for (int m = 0; m < 2; m++) {
        printf("rigor, touching, warm %-6s", m ? "0.01" : "0.001");
        print_row(warm[m], SIZES);
    }
    fflush(stdout);
    for (const peer *const *other = peers; *other; other++)
        for (int m = 0; m < 2; m++) {
            printf("%-7s %-11s         ", (*other)->name, names[m]);
            int missed[SIZES], all = 0;
            for (int k = 0; k < SIZES; k++) {
                int count = sizes[k] >= 1000 ? 200 : 1000;
                printf(" %9.3f", time_peer(*other, hulls[k], queries[m][k], count, &missed[k]));
                fflush(stdout);
                all += missed[k];
            }
            printf(all ? "   (%d overlaps not found)\n" : "\n", all);
        }
    printf("\nworst certificate of ours: %.1e\n\n", worst);
    for (int k = 0; k < SIZES; k++) {
        free(queries[0][k]);
        free(queries[1][k]);
        for (int i = 0; i < HULLS; i++)
            rg_shape_release(hulls[k][i]);
    }
}

static void bench_boxes(void) {
    rg_random random = rg_random_make(7);
    rg_shape *boxes[HULLS];
    for (int i = 0; i < HULLS; i++) {
        rg_shape_def def = rg_shape_def_box(rg_random_between(&random, 0.5, 1.5),
                                            rg_random_between(&random, 0.5, 1.5),
                                            rg_random_between(&random, 0.5, 1.5));
        if (rg_shape_create(&def, NULL, &boxes[i], NULL) != RG_OK)
            die("no box");
    }
    enum { COUNT = 4000 };
    query *queries = allocate(COUNT, sizeof *queries);
    double worst = 0;
    make_queries(&random, boxes, COUNT, 0.9, 1.1, queries);
    double turned = time_cold(boxes, queries, COUNT, &worst);
    for (int i = 0; i < COUNT; i++) { /* face on face */
        query *q = &queries[i];
        q->pose1.orientation = rg_quat_identity();
        q->pose2.orientation =
            rg_quat_of_rotation_vector(rg_vec3_make(0, 0, rg_random_between(&random, 0, 3)));
        double z1 = rg_shape_get_def(boxes[q->hull1]).size.z,
               z2 = rg_shape_get_def(boxes[q->hull2]).size.z;
        q->pose2.position = rg_vec3_make(rg_random_between(&random, -0.3, 0.3),
                                         rg_random_between(&random, -0.3, 0.3), (z1 + z2) / 2);
    }
    double resting = time_cold(boxes, queries, COUNT, &worst);
    printf("box-box, µs per query: turned %.3f, resting face on face %.3f; worst certificate "
           "%.1e\n\n",
           turned, resting, worst);
    free(queries);
    for (int i = 0; i < HULLS; i++)
        rg_shape_release(boxes[i]);
}

/* ------------------------------------------------------------------ bodies unlike ellipsoids */

static rg_shape *hull_of(const rg_vec3 *points, int count) {
    rg_shape_def def = rg_shape_def_hull(points, (size_t)count);
    rg_shape *shape;
    rg_error error;
    if (rg_shape_create(&def, NULL, &shape, &error) != RG_OK)
        die(error.text);
    return shape;
}

typedef enum sort { POINTS_IN_CUBE, PRISMS, NEEDLES, PLATES, BRICKS, SORTS } sort;

static rg_shape *body_of(rg_random *random, sort kind) {
    rg_vec3 points[200];
    int count = 0;
    double x = rg_random_between(random, 0.5, 1), y = rg_random_between(random, 0.5, 1);
    if (kind == POINTS_IN_CUBE)
        for (; count < 200; count++)
            points[count] =
                rg_vec3_make(rg_random_between(random, -1, 1), rg_random_between(random, -1, 1),
                             rg_random_between(random, -1, 1));
    else if (kind == PRISMS)
        for (; count < 64; count++)
            points[count] = rg_vec3_make(x * cos(RG_PI * (count / 2) / 16),
                                         x * sin(RG_PI * (count / 2) / 16), count & 1 ? y : -y);
    else if (kind == BRICKS)
        for (; count < 8; count++)
            points[count] =
                rg_vec3_make(count & 1 ? x : -x, count & 2 ? y : -y, count & 4 ? 0.5 : -0.5);
    else
        for (; count < 50; count++)
            points[count] =
                rg_times(kind == NEEDLES ? rg_vec3_make(1, 0.01, 0.01) : rg_vec3_make(1, 1, 0.01),
                         rg_random_direction(random));
    return hull_of(points, count);
}

static void bench_bodies(void) {
    static const char *const names[SORTS] = {"200 points in a cube", "prisms of 32 sides",
                                             "needles 1:100", "plates 1:100",
                                             "bricks, face on face"};
    printf("hulls unlike ellipsoids, touching, µs per query\n\n%-24s %9s %9s %9s  %s\n", "", "cold",
           "warm .001", "warm .01", "worst certificate");
    for (int kind = 0; kind < SORTS; kind++) {
        rg_random random = rg_random_make(100 + (uint64_t)kind);
        rg_shape *hulls[HULLS];
        for (int i = 0; i < HULLS; i++)
            hulls[i] = body_of(&random, (sort)kind);
        enum { COUNT = 2000 };
        query *queries = allocate(COUNT, sizeof *queries);
        double worst = 0;
        make_queries(&random, hulls, COUNT, 0.998, 1, queries);
        for (int i = 0; kind == BRICKS && i < COUNT; i++) {
            query *q = &queries[i];
            q->pose1.orientation = rg_quat_identity();
            q->pose2.orientation =
                rg_quat_of_rotation_vector(rg_vec3_make(0, 0, rg_random_between(&random, 0, 3)));
            q->pose2.position = rg_vec3_make(rg_random_between(&random, -0.3, 0.3),
                                             rg_random_between(&random, -0.3, 0.3), 1);
        }
        double cold = time_cold(hulls, queries, COUNT, &worst);
        double warm = time_warm(&random, hulls, queries, COUNT / 20, 0.001);
        double warmer = time_warm(&random, hulls, queries, COUNT / 20, 0.01);
        printf("%-24s %9.3f %9.3f %9.3f  %.1e\n", names[kind], cold, warm, warmer, worst);
        free(queries);
        for (int i = 0; i < HULLS; i++)
            rg_shape_release(hulls[i]);
    }
    printf("\n");
}

static double slope_of(const double *x, const double *y, int count) {
    double sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (int i = 0; i < count; i++) {
        double a = log(x[i]), b = log(y[i]);
        sx += a;
        sy += b;
        sxx += a * a;
        sxy += a * b;
    }
    return (count * sxy - sx * sy) / (count * sxx - sx * sx);
}

/* Half-spaces tangent to two balls of radius 1, centres 3 apart: rows a.x - t <= a.x_i. */
static void bench_seidel(void) {
    static const double sizes[] = {10, 100, 1000, 10000, 100000, 1000000};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    double spent[SIZES], warm[SIZES];
    rg_random random = rg_random_make(11);
    printf("raw half-spaces by Seidel, and warm queries of hulls of as many facets, µs\n\n");
    printf("%-10s %12s %12s\n", "facets", "Seidel", "warm");
    for (int k = 0; k < SIZES; k++) {
        uint32_t count = (uint32_t)sizes[k];
        rg_lp_row *rows = allocate(count, sizeof *rows);
        uint32_t *scratch = allocate(count, sizeof *scratch);
        for (uint32_t i = 0; i < count; i++) {
            rg_vec3 a = rg_random_direction(&random);
            if (i < 8) /* a cube's corners, so that few rows are enough for a bounded problem */
                a = rg_normalised(rg_vec3_make(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1));
            rows[i] = (rg_lp_row){{a.x, a.y, a.z, -1}, i & 1 ? 3 * a.x : 0};
        }
        int times = count < 1000 ? 1000 : count < 100000 ? 100 : 5;
        double start = seconds_now();
        for (int r = 0; r < times; r++) {
            rg_lp_solution solution;
            rg_status status = rg_lp_seidel(rows, count, 4, (uint64_t)r + 1, scratch, &solution);
            if (status != RG_OK && count > 10)
                die("Seidel failed");
        }
        spent[k] = 1e6 * (seconds_now() - start) / times;
        free(rows);
        free(scratch);
        int vertices = (int)(sizes[k] / 4 + 3); /* two bodies of 2 v - 4 facets */
        int distinct = vertices > 30000 ? 2 : HULLS;
        rg_shape *hulls[HULLS];
        query queries[50];
        for (int i = 0; i < HULLS; i++)
            hulls[i] = i < distinct ? ellipsoid_hull(&random, vertices)
                                    : rg_shape_retain(hulls[i % distinct]);
        make_queries(&random, hulls, 50, 0.998, 1, queries);
        warm[k] = time_warm(&random, hulls, queries, 50, 0.001);
        for (int i = 0; i < HULLS; i++)
            rg_shape_release(hulls[i]);
        printf("%-10.0f %12.2f %12.3f\n", sizes[k], spent[k], warm[k]);
        fflush(stdout);
    }
    printf("%-10s %12.3f %12.3f\n\n", "slope", slope_of(sizes, spent, SIZES),
           slope_of(sizes, warm, SIZES));
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    bool all = !*what;
    if (all || !strcmp(what, "hulls"))
        bench_hulls();
    if (all || !strcmp(what, "bodies"))
        bench_bodies();
    if (all || !strcmp(what, "boxes"))
        bench_boxes();
    if (all || !strcmp(what, "seidel"))
        bench_seidel();
    return 0;
}
