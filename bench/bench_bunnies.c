/* Bodies that are not convex, dropped into a bin: rigor with convex parts beside Bullet with the
 * triangles themselves (GImpact) and Bullet with the same parts. Prints time per step, and the
 * deepest overlap of parts at the end, by the same code for all.
 *
 *     bench_bunnies build/meshes/bunny.obj [COUNT [PARTS [STEPS]]] */
#include "bench_bunnies.h"

#include "rigor/decompose.h"
#include "rigor/rigor.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define WALL 0.4 /* m: half the width of the bin */
#define STEP (1.0 / 240)

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static rg_pose pose_of(size_t i) {
    size_t k = i / 4;
    double turn = 0.7 * (double)(i % 4 + k);
    rg_vec3 axis = {sin((double)k), cos((double)(2 * k + i)), 1};
    double length = sqrt(rg_dot(axis, axis));
    return (rg_pose){
        {-0.2 + 0.4 * (double)(i % 2), -0.2 + 0.4 * (double)(i / 2 % 2), 0.2 + 0.4 * (double)k},
        rg_quat_of_rotation_vector(rg_scale(turn / length, axis))};
}

/* The deepest overlap of two parts of different bodies. */
static double deepest(const rg_decomposition *d, const rg_pose *poses, size_t count) {
    double most = 0;
    for (size_t a = 0; a < count; a++)
        for (size_t b = a + 1; b < count; b++)
            for (size_t i = 0; i < d->part_count; i++)
                for (size_t k = 0; k < d->part_count; k++) {
                    rg_bounds p = rg_shape_bounds(d->parts[i], poses[a]);
                    rg_bounds q = rg_shape_bounds(d->parts[k], poses[b]);
                    rg_depth depth;
                    if (p.lower.x > q.upper.x || q.lower.x > p.upper.x || p.lower.y > q.upper.y ||
                        q.lower.y > p.upper.y || p.lower.z > q.upper.z || q.lower.z > p.upper.z)
                        continue;
                    if (rg_depth_between(d->parts[i], poses[a], d->parts[k], poses[b], &depth) ==
                        RG_OK)
                        most = fmax(most, depth.depth);
                }
    return most;
}

static void check(rg_status status, const rg_error *error) {
    if (status == RG_OK)
        return;
    fprintf(stderr, "bench_bunnies: %s\n", error->text);
    exit(1);
}

static void add_walls(rg_world *world) {
    static const rg_vec3 normals[5] = {{0, 0, 1}, {1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}};
    rg_error error = {0};
    for (int i = 0; i < 5; i++) {
        rg_shape_def shape = rg_shape_def_halfspace(normals[i], i ? -WALL : 0);
        rg_collider_def collider = rg_collider_def_default();
        rg_body_def def = rg_body_def_default();
        rg_body_id body;
        check(rg_shape_create(&shape, NULL, &collider.shape, &error), &error);
        def.motion = RG_MOTION_FIXED;
        def.colliders = &collider;
        def.collider_count = 1;
        check(rg_world_add_body(world, &def, &body, &error), &error);
        rg_shape_release(collider.shape);
    }
}

static void run_rigor(const rg_mesh *mesh, const rg_decomposition *d, bunny_run *run) {
    rg_error error = {0};
    rg_world *world;
    rg_world_def def = rg_world_def_default();
    rg_collider_def collider = rg_collider_def_default();
    check(rg_world_create(&def, &world, &error), &error);
    add_walls(world);
    check(rg_decomposition_shape(mesh, d, &collider.shape, &error), &error);
    for (size_t i = 0; i < run->count; i++) {
        rg_body_def body = rg_body_def_default();
        rg_body_id id;
        body.pose = run->poses[i];
        body.colliders = &collider;
        body.collider_count = 1;
        check(rg_world_add_body(world, &body, &id, &error), &error);
    }
    double start = now();
    for (size_t i = 0; i < run->steps; i++)
        check(rg_world_step(world, STEP, NULL, &error), &error);
    run->time = now() - start;
    for (size_t i = 0; i < run->count; i++)
        run->poses[i] = rg_body_pose(world, rg_world_body_at(world, 5 + i));
    rg_shape_release(collider.shape);
    rg_world_destroy(world);
}

static void print_row(const char *name, const rg_decomposition *d, const bunny_run *run) {
    printf("%-26s %12.3f %16.3g\n", name, 1e3 * run->time / (double)run->steps,
           deepest(d, run->poses, run->count));
    fflush(stdout);
}

static void start_run(bunny_run *run) {
    for (size_t i = 0; i < run->count; i++)
        run->poses[i] = pose_of(i);
}

int main(int count, char **arguments) {
    rg_mesh mesh;
    rg_mesh_report report;
    rg_decomposition d;
    rg_error error = {0};
    if (count < 2) {
        fprintf(stderr, "usage: bench_bunnies MESH.obj [COUNT [PARTS [STEPS]]]\n");
        return 2;
    }
    check(rg_mesh_read_file(arguments[1], NULL, &mesh, &report, &error), &error);
    for (size_t i = 0; i < mesh.vertex_count; i++) {
        rg_vec3 p = mesh.vertices[i];
        mesh.vertices[i] = (rg_vec3){0.03 * p.x, -0.03 * p.z, 0.03 * p.y};
    }
    size_t parts = count > 3 ? (size_t)atol(arguments[3]) : 16;
    bunny_run run = {.count = count > 2 ? (size_t)atol(arguments[2]) : 40,
                     .steps = count > 4 ? (size_t)atol(arguments[4]) : 240,
                     .step = STEP,
                     .wall = WALL};
    run.poses = calloc(run.count, sizeof *run.poses);
    if (!run.poses)
        return 1;
    rg_decomposition_options options = {.parts = parts};
    check(rg_mesh_decompose(&mesh, &options, &d, &error), &error);
    printf("%zu bodies of %zu triangles or %zu parts (error %.3g), %zu steps of 1/240 s\n",
           run.count, mesh.triangle_count, d.part_count, d.error, run.steps);
    printf("%-26s %12s %16s\n", "", "ms a step", "overlap, m");
    start_run(&run);
    run_rigor(&mesh, &d, &run);
    print_row("rigor, parts", &d, &run);
#ifdef HAVE_GIMPACT
    for (int triangles = 1; triangles >= 0; triangles--) {
        start_run(&run);
        bunny_run_bullet(&mesh, &d, triangles != 0, &run);
        print_row(triangles ? "Bullet, GImpact" : "Bullet, parts", &d, &run);
    }
#else
    printf("Bullet is not built in (libbullet-dev)\n");
#endif
    free(run.poses);
    rg_decomposition_destroy(&d);
    rg_mesh_destroy(&mesh);
    return 0;
}
