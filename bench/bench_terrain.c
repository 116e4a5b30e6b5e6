/* bench_terrain [GROUND METHOD CELLS]: what a ball that rolls over terrain costs, and a box that
 * slides over it.
 *
 * The same ground of 20 m by 20 m is cut into 71 x 71 and into 707 x 707 squares of two triangles:
 * ten thousand and a million. The two worlds take turns, step by step, so that whatever else the
 * machine does counts for both; a step is timed by the processor clock of the thread. With three
 * arguments one world makes its steps alone: for a profiler that collects in rg_world_step. */
#include "rigor/rigor.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SIZE 20.0 /* m */

enum { COARSE = 71, FINE = 707, STEPS = 480 };

typedef double height_function(double x, double y);

static double flat(double x, double y) {
    (void)x, (void)y;
    return 0;
}

/* Those of scenes/terrain.yaml. */
static double hills(double x, double y) {
    return 0.1 * x + 0.4 * sin(0.9 * x) * cos(0.7 * y) + 0.03 * sin(5 * x + 3 * y);
}

static double soft_hills(double x, double y) {
    return 0.4 * sin(0.9 * x) * cos(0.7 * y);
}

typedef struct course {
    const char *name;
    height_function *height;
    bool box;
} course;

static const course courses[] = {{"flat", flat, false},
                                 {"soft", soft_hills, false},
                                 {"hills", hills, false},
                                 {"box", flat, true}};
static const char *const methods[] = {"stepping", "analytic"};

static void insist(rg_status status, const rg_error *error) {
    if (!status)
        return;
    fprintf(stderr, "bench_terrain: %s\n", error->text);
    exit(1);
}

static rg_shape *ground_of(const course *c, size_t cells) {
    size_t n = cells + 1;
    double *heights = malloc(n * n * sizeof *heights), step = SIZE / (double)cells;
    for (size_t i = 0; heights && i < n * n; i++)
        heights[i] =
            c->height((double)(i % n) * step - SIZE / 2, (double)(i / n) * step - SIZE / 2);
    rg_heights def = {n, n, step, step, heights, 0};
    rg_shape *shape;
    rg_error error = {0};
    insist(heights ? rg_shape_create_heights(&def, NULL, &shape, &error) : RG_OUT_OF_MEMORY,
           &error);
    free(heights);
    return shape;
}

static void add_body(rg_world *world, rg_shape *shape, const rg_body_def *body) {
    rg_error error;
    rg_body_id id;
    rg_collider_def collider = rg_collider_def_default();
    rg_body_def def = *body;
    collider.shape = shape;
    def.colliders = &collider;
    def.collider_count = 1;
    insist(rg_world_add_body(world, &def, &id, &error), &error);
    rg_shape_release(shape);
}

static rg_world *world_of(const course *c, const char *method, size_t cells) {
    rg_world_def def = rg_world_def_default();
    rg_world *world;
    rg_error error;
    insist(rg_world_create(&def, &world, &error), &error);
    insist(rg_world_set_method(world, rg_method_find(method), NULL, &error), &error);
    rg_contact_law law = {.friction = c->box ? 0.1 : 0.5};
    insist(rg_world_set_material_law(world, (rg_material_id){0}, &law, &error), &error);
    rg_body_def body = rg_body_def_default();
    body.motion = RG_MOTION_FIXED;
    add_body(world, ground_of(c, cells), &body);
    body.motion = RG_MOTION_DYNAMIC;
    double x = -4.03, y = -1.02, high = c->box ? 0.15 : 0.3;
    body.pose.position = (rg_vec3){x, y, c->height(x, y) + (c->height == flat ? high : 0.4)};
    body.velocity = (rg_vec3){2, 0.3, 0};
    rg_shape_def shape = c->box ? rg_shape_def_box(0.5, 0.4, 0.3) : rg_shape_def_sphere(0.3);
    rg_shape *made;
    insist(rg_shape_create(&shape, NULL, &made, &error), &error);
    add_body(world, made, &body);
    return world;
}

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* What the steps of a world were like. */
typedef struct tally {
    double seconds, contacts;
} tally;

static void step_once(rg_world *world, tally *t) {
    rg_error error;
    rg_step_info info;
    size_t count;
    double begin = seconds_now();
    insist(rg_world_step(world, 1.0 / 240, &info, &error), &error);
    t->seconds += seconds_now() - begin;
    rg_world_contact_forces(world, &count);
    t->contacts += (double)count;
}

static void compare(const course *c, const char *method) {
    rg_world *world[2] = {world_of(c, method, COARSE), world_of(c, method, FINE)};
    tally t[2] = {{0}};
    for (int i = 0; i < STEPS; i++)
        for (int k = 0; k < 2; k++)
            step_once(world[k], &t[k]);
    printf("%-6s %-9s %7.1f %7.1f %6.2f %9.2f %9.2f\n", c->name, method, 1e6 * t[0].seconds / STEPS,
           1e6 * t[1].seconds / STEPS, t[1].seconds / t[0].seconds, t[0].contacts / STEPS,
           t[1].contacts / STEPS);
    fflush(stdout);
    rg_world_destroy(world[0]);
    rg_world_destroy(world[1]);
}

int main(int argc, char **argv) {
    size_t count = sizeof courses / sizeof *courses;
    if (argc == 4) {
        for (size_t i = 0; i < count; i++)
            if (strcmp(argv[1], courses[i].name) == 0) {
                rg_world *world = world_of(&courses[i], argv[2], strtoul(argv[3], NULL, 10));
                tally t = {0};
                for (int k = 0; k < STEPS; k++)
                    step_once(world, &t);
                printf("%.1f us, %.2f contacts\n", 1e6 * t.seconds / STEPS, t.contacts / STEPS);
                rg_world_destroy(world);
            }
        return 0;
    }
    printf("ground method     us, 1e4 us, 1e6  ratio contacts, 1e4 and 1e6\n");
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < sizeof methods / sizeof *methods; k++)
            compare(&courses[i], methods[k]);
    return 0;
}
