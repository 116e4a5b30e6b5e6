/* `rigor bench`: how fast the parts are on this machine. The benchmarks beside peers, with slopes, are
 * programs of their own in the sources (bench/). */
#include "cli.h"

#include "rigor/collision.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char cli_bench_help[] =
    "Usage: rigor bench narrow|broad\n"
    "\n"
    "Measures a part of the engine on this machine and prints a table.\n"
    "\n"
    "  narrow   ratio metric of two convex hulls by number of vertices: us per query, cold (a\n"
    "           new pose each time) and warm (small motions from the last answer)\n"
    "  broad    contacts of moving boxes that seldom touch: us per box and update, by sorted\n"
    "           lists and by the tree\n"
    "\n"
    "Options:\n"
    "  -h, --help   this text\n"
    "\n"
    "Exit codes: 0 done, 1 no memory, 2 usage.\n"
    "\n"
    "Examples:\n"
    "  rigor bench narrow\n";

/* A hull of points on an ellipsoid. */
static rg_shape *make_hull(rg_random *random, size_t vertices) {
    rg_vec3 *points = calloc(vertices, sizeof *points);
    rg_shape *shape = NULL;
    for (size_t i = 0; points && i < vertices; i++) {
        rg_vec3 d = rg_random_direction(random);
        points[i] = (rg_vec3){d.x, 0.8 * d.y, 0.6 * d.z};
    }
    rg_shape_def def = rg_shape_def_hull(points, vertices);
    if (!points || rg_shape_create(&def, NULL, &shape, NULL) != RG_OK)
        shape = NULL;
    free(points);
    return shape;
}

enum { POSES = 512 };

static bool bench_hulls(size_t vertices) {
    rg_random random = rg_random_make(vertices);
    rg_shape *a = make_hull(&random, vertices), *b = make_hull(&random, vertices);
    if (!a || !b) {
        rg_shape_release(a);
        rg_shape_release(b);
        return false;
    }
    static const rg_pose origin = {{0, 0, 0}, {0, 0, 0, 1}};
    rg_pose poses[POSES];
    for (int i = 0; i < POSES; i++) {
        rg_vec3 d = rg_random_direction(&random);
        double far = rg_random_between(&random, 0.8, 1.8);
        poses[i].position = (rg_vec3){far * d.x, far * d.y, far * d.z};
        poses[i].orientation = rg_random_rotation(&random);
    }
    int rounds = vertices > 1000 ? 4 : 40;
    rg_growth growth;
    double start = cli_clock();
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < POSES; i++)
            rg_growth_between(a, origin, b, poses[i], NULL, &growth);
    double cold = cli_clock() - start;
    rg_growth_cache cache = {0};
    rg_growth_between(a, origin, b, poses[0], &cache, &growth);
    start = cli_clock();
    for (int i = 0; i < rounds * POSES; i++) {
        rg_pose pose = poses[0];
        double t = 1e-4 * i;
        pose.position.x += 0.05 * sin(t);
        pose.position.y += 0.05 * cos(t);
        rg_growth_between(a, origin, b, pose, &cache, &growth);
    }
    double warm = cli_clock() - start;
    printf("%10zu %12.3f %12.3f\n", vertices, 1e6 * cold / (rounds * POSES),
           1e6 * warm / (rounds * POSES));
    rg_shape_release(a);
    rg_shape_release(b);
    return true;
}

static int bench_narrow(void) {
    static const size_t counts[] = {8, 20, 100, 300, 1000, 10000};
    printf("%10s %12s %12s\n", "vertices", "cold, us", "warm, us");
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        if (!bench_hulls(counts[i])) {
            cli_complain("bench: no memory");
            return EXIT_FAILED;
        }
    return cli_flush();
}

/* Boxes of edge 1 on the mean 3 apart, in a cube, moving at up to 1 % of their size per update. */
static rg_world *make_cloud(size_t count) {
    rg_world_def def = rg_world_def_default();
    def.gravity = (rg_vec3){0, 0, 0};
    def.certify = false;
    rg_world *world = NULL;
    rg_shape *shape = NULL;
    rg_shape_def box = rg_shape_def_box(1, 1, 1);
    if (rg_world_create(&def, &world, NULL) != RG_OK ||
        rg_shape_create(&box, NULL, &shape, NULL) != RG_OK) {
        rg_world_destroy(world);
        return NULL;
    }
    rg_random *random = rg_world_random(world);
    double side = 3 * cbrt((double)count);
    rg_collider_def collider = rg_collider_def_default();
    collider.shape = shape;
    for (size_t i = 0; i < count; i++) {
        rg_body_def body = rg_body_def_default();
        body.colliders = &collider;
        body.collider_count = 1;
        body.pose.position.x = rg_random_between(random, 0, side);
        body.pose.position.y = rg_random_between(random, 0, side);
        body.pose.position.z = rg_random_between(random, 0, side);
        body.velocity = rg_random_direction(random);
        rg_body_id id;
        if (rg_world_add_body(world, &body, &id, NULL) != RG_OK) {
            rg_world_destroy(world);
            world = NULL;
            break;
        }
    }
    rg_shape_release(shape);
    return world;
}

static bool bench_cloud(const char *kind, size_t count) {
    rg_world *world = make_cloud(count);
    rg_collision_def def = rg_collision_def_default();
    rg_collision *collision = NULL;
    def.broad_phase = kind;
    bool good = world && rg_collision_create(&def, NULL, &collision, NULL) == RG_OK;
    double spent = 0;
    enum { WARM_UP = 3, UPDATES = 20 };
    size_t pairs = 0;
    for (int i = 0; good && i < WARM_UP + UPDATES; i++) {
        good = rg_world_step(world, 0.01, NULL, NULL) == RG_OK;
        double start = cli_clock();
        good = good && rg_collision_update(collision, world, 0, NULL) == RG_OK;
        if (i >= WARM_UP)
            spent += cli_clock() - start;
        pairs = good ? rg_collision_get(collision).candidate_pairs : 0;
    }
    if (good)
        printf("%10s %10zu %14.3f %12.2f %10zu\n", kind, count,
               1e6 * spent / UPDATES / (double)count, 1e3 * spent / UPDATES, pairs);
    rg_collision_destroy(collision);
    rg_world_destroy(world);
    return good;
}

static int bench_broad(void) {
    static const size_t counts[] = {1000, 10000, 100000};
    printf("%10s %10s %14s %12s %10s\n", "kind", "boxes", "us per box", "ms", "pairs");
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        if (!bench_cloud("sorted", counts[i]) || !bench_cloud("tree", counts[i])) {
            cli_complain("bench: no memory");
            return EXIT_FAILED;
        }
    return cli_flush();
}

int cli_bench(int count, const char **arguments) {
    cli_option options[] = {{"help", 'h', false, NULL}};
    if (!cli_parse_options("bench", options, 1, arguments, &count))
        return EXIT_USAGE;
    if (options[0].value) {
        fputs(cli_bench_help, stdout);
        return cli_flush();
    }
    if (count == 1 && strcmp(arguments[0], "narrow") == 0)
        return bench_narrow();
    if (count == 1 && strcmp(arguments[0], "broad") == 0)
        return bench_broad();
    cli_complain("bench: which part? narrow or broad");
    return EXIT_USAGE;
}
