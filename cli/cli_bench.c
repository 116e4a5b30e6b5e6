/* `rigor bench`: how fast the parts are on this machine. Benchmarks of single parts beside peers
 * are programs of their own in the sources (bench/). */
#include "cli_bench_engines.h"

#include "rigor/collision.h"
#include "rigor/solver.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char cli_bench_help[] =
    "Usage: rigor bench engines|scale|depth|narrow|broad|solve|analytic [OPTION ...]\n"
    "\n"
    "Measures the engine or a part of it on this machine and prints a table.\n"
    "\n"
    "  engines  whole scenes, beside other engines in the same run: cost, penetration, drift,\n"
    "           creep, energy; see `rigor bench engines --help`\n"
    "  scale    cost against bodies, contacts, islands and mass ratio, with fitted slopes; see\n"
    "           `rigor bench scale --help`\n"
    "  depth    ratio metric beside exact penetration depths, by number of facets; see\n"
    "           `rigor bench depth --help`\n"
    "  narrow   ratio metric of two convex hulls by number of vertices: us per query, cold (a\n"
    "           new pose each time) and warm (small motions from the last answer)\n"
    "  broad    contacts of moving boxes that seldom touch: us per box and update, by sorted\n"
    "           lists and by the tree\n"
    "  solve    contact forces of a stack of boxes: us per solve without friction, by number of\n"
    "           contacts and solver; with friction (exact cone) by solver\n"
    "  analytic the event-driven method on a stack, dominoes and a pile: how much faster than\n"
    "           real time, events and contact problems a second; the stepping method beside it\n"
    "\n"
    "Options:\n"
    "      --duration S   analytic: seconds to simulate of each scene instead of all\n"
    "  -h, --help         this text\n"
    "\n"
    "Exit codes: 0 done, 1 no memory, 2 usage.\n"
    "\n"
    "Examples:\n"
    "  rigor bench engines --quick\n"
    "  rigor bench narrow\n"
    "  rigor bench analytic --duration 0.5\n";

rg_shape *cli_bench_hull(rg_random *random, size_t vertices) {
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
    rg_shape *a = cli_bench_hull(&random, vertices), *b = cli_bench_hull(&random, vertices);
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
            cli_complain("bench: out of memory");
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
    def.broad_phase = strcmp(kind, "tree") == 0 ? RG_BROAD_PHASE_TREE : RG_BROAD_PHASE_SORTED;
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
            cli_complain("bench: out of memory");
            return EXIT_FAILED;
        }
    return cli_flush();
}

/* --- solve ------------------------------------------------------------------------------------ */

/* A stack of boxes of edge 1 and mass 1, turned and shifted a little one on another, four contacts
 * a face, in global form: rows (normal, two tangents), velocities after 1/240 s. */
typedef struct box_stack {
    size_t boxes, contacts;
    double *mass, *velocity, *jacobian, *q, *mu;
    uint32_t *blocks;
    double *matrix, *b; /* the normal rows alone, dense */
    double *force;
} box_stack;

static void free_stack(box_stack *stack) {
    free(stack->mass), free(stack->velocity), free(stack->jacobian), free(stack->q);
    free(stack->mu), free(stack->blocks), free(stack->matrix), free(stack->b), free(stack->force);
}

/* Contact between `box` and the one below at a point relative to the box's centre. */
static void fill_contact(box_stack *stack, size_t contact, size_t box, double x, double y,
                         double below_x, double below_y) {
    static const double axes[3][3] = {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}};
    for (size_t side = 0; side < 2; side++) {
        stack->blocks[2 * contact + side] = side  ? (uint32_t)box
                                            : box ? (uint32_t)box - 1
                                                  : RG_NO_BLOCK;
        double sign = side ? 1 : -1;
        double arm[3] = {side ? x : below_x, side ? y : below_y, side ? -0.5 : 0.5};
        for (size_t row = 0; row < 3; row++) {
            const double *t = axes[row];
            double *j = stack->jacobian + ((contact * 2 + side) * 3 + row) * 6;
            for (int k = 0; k < 3; k++)
                j[k] = sign * t[k];
            j[3] = sign * (arm[1] * t[2] - arm[2] * t[1]);
            j[4] = sign * (arm[2] * t[0] - arm[0] * t[2]);
            j[5] = sign * (arm[0] * t[1] - arm[1] * t[0]);
        }
    }
}

/* A = J M^-1 J' of the normal rows; M is diagonal here. */
static void condense_normals(box_stack *stack) {
    size_t n = stack->contacts;
    for (size_t i = 0; i < n; i++) {
        const double *ji = stack->jacobian + i * 36;
        stack->b[i] = 0;
        for (size_t s = 0; s < 2; s++)
            for (size_t k = 0; k < 6 && stack->blocks[2 * i + s] != RG_NO_BLOCK; k++)
                stack->b[i] += ji[s * 18 + k] * stack->velocity[stack->blocks[2 * i + s] * 6 + k];
        for (size_t j = 0; j < n; j++) {
            const double *jj = stack->jacobian + j * 36;
            double sum = 0;
            for (size_t s = 0; s < 2; s++)
                for (size_t t = 0; t < 2; t++) {
                    uint32_t box = stack->blocks[2 * i + s];
                    for (size_t k = 0;
                         k < 6 && box != RG_NO_BLOCK && box == stack->blocks[2 * j + t]; k++)
                        sum += ji[s * 18 + k] * jj[t * 18 + k] / stack->mass[box * 36 + 7 * k];
                }
            stack->matrix[i * n + j] = sum;
        }
    }
}

static bool make_stack(box_stack *stack, size_t boxes) {
    size_t n = 4 * boxes;
    *stack = (box_stack){.boxes = boxes, .contacts = n};
    stack->mass = calloc(boxes * 36, sizeof(double));
    stack->velocity = calloc(boxes * 6, sizeof(double));
    stack->jacobian = calloc(n * 36, sizeof(double));
    stack->q = calloc(n * 3, sizeof(double));
    stack->mu = calloc(n, sizeof(double));
    stack->blocks = calloc(n * 2, sizeof(uint32_t));
    stack->matrix = calloc(n * n, sizeof(double));
    stack->b = calloc(n, sizeof(double));
    stack->force = calloc(n * 3, sizeof(double));
    if (!stack->mass || !stack->velocity || !stack->jacobian || !stack->q || !stack->mu ||
        !stack->blocks || !stack->matrix || !stack->b || !stack->force)
        return false;
    rg_random random = rg_random_make(1);
    for (size_t box = 0; box < boxes; box++) {
        double dx = box ? rg_random_between(&random, -0.1, 0.1) : 0;
        double dy = box ? rg_random_between(&random, -0.1, 0.1) : 0;
        for (size_t k = 0; k < 6; k++)
            stack->mass[box * 36 + 7 * k] = k < 3 ? 1 : 1.0 / 6;
        stack->velocity[box * 6 + 2] = -9.81 / 240;
        if (rg_random_below(&random, 10) == 0) /* some are pushed */
            stack->velocity[box * 6] = rg_random_between(&random, -0.1, 0.1);
        if (rg_random_below(&random, 3) == 0) /* some tip: contacts break */
            stack->velocity[box * 6 + 4] = rg_random_between(&random, -0.2, 0.2);
        /* The overlap of both faces, seen from the upper box. */
        double x0 = fmax(-0.5, -0.5 - dx), x1 = fmin(0.5, 0.5 - dx);
        double y0 = fmax(-0.5, -0.5 - dy), y1 = fmin(0.5, 0.5 - dy);
        for (size_t k = 0; k < 4; k++) {
            double px = k % 2 ? x1 : x0, py = k / 2 ? y1 : y0;
            fill_contact(stack, 4 * box + k, box, px, py, px + dx, py + dy);
            stack->mu[4 * box + k] = 0.5;
        }
    }
    condense_normals(stack);
    return true;
}

/* One line per solver that takes the problem. */
static bool bench_solvers(const char *what, size_t contacts, const rg_problem *problem,
                          double *force) {
    rg_solve_context *context;
    if (rg_solve_context_create(NULL, &context) != RG_OK)
        return false;
    bool good = true;
    for (size_t k = 0; good && k < rg_solver_count(); k++) {
        const rg_solver *solver = rg_solver_at(k);
        rg_solution solution = {.force = force};
        rg_solve_info info = {0};
        double least = INFINITY, total = 0;
        for (int run = 0; good && run < 20 && total < 0.2; run++) {
            good = rg_solve(context, solver, problem, NULL, &solution, &info, NULL) == RG_OK;
            least = fmin(least, info.seconds);
            total += info.seconds;
        }
        if (good && info.outcome != RG_SOLVE_UNSUITABLE)
            printf("%-11s %9zu %-15s %-11s %10llu %10.1e %12.1f\n", what, contacts,
                   rg_solver_name(solver), rg_solve_outcome_name(info.outcome),
                   (unsigned long long)info.iterations, info.residual.natural, 1e6 * least);
    }
    rg_solve_context_destroy(context);
    return good;
}

static bool bench_stack(size_t boxes) {
    box_stack stack;
    bool good = make_stack(&stack, boxes);
    if (good) {
        rg_problem plain = rg_problem_linear(stack.contacts, stack.matrix, stack.b);
        rg_problem friction = {.kind = RG_PROBLEM_CONTACT};
        friction.contact = (rg_contact_problem){.dimension = 3,
                                                .contacts = stack.contacts,
                                                .mu = stack.mu,
                                                .form = RG_FORM_GLOBAL,
                                                .q = stack.q,
                                                .global = {.blocks = stack.boxes,
                                                           .freedom = 6,
                                                           .mass = stack.mass,
                                                           .free_velocity = stack.velocity,
                                                           .contact_blocks = stack.blocks,
                                                           .contact_jacobian = stack.jacobian}};
        good = bench_solvers("none", stack.contacts, &plain, stack.force) &&
               bench_solvers("exact cone", stack.contacts, &friction, stack.force);
    }
    free_stack(&stack);
    return good;
}

static int bench_solve(void) {
    static const size_t boxes[] = {3, 5, 10, 15, 20, 25, 31, 38, 50};
    printf("%-11s %9s %-15s %-11s %10s %10s %12s\n", "friction", "contacts", "solver", "outcome",
           "iterations", "residual", "us");
    for (size_t i = 0; i < sizeof boxes / sizeof boxes[0]; i++)
        if (!bench_stack(boxes[i])) {
            cli_complain("bench: out of memory");
            return EXIT_FAILED;
        }
    return cli_flush();
}

int cli_bench(int count, const char **arguments) {
    cli_option options[] = {{"duration", 0, true, NULL}, {"help", 'h', false, NULL}};
    double duration;
    if (count > 0 && strcmp(arguments[0], "engines") == 0)
        return cli_bench_engines(count - 1, arguments + 1);
    if (count > 0 && strcmp(arguments[0], "scale") == 0)
        return cli_bench_scale(count - 1, arguments + 1);
    if (count > 0 && strcmp(arguments[0], "depth") == 0)
        return cli_bench_depth(count - 1, arguments + 1);
    if (!cli_parse_options("bench", options, 2, arguments, &count) ||
        !cli_positive_option("bench", &options[0], 0, &duration))
        return EXIT_USAGE;
    if (options[1].value) {
        fputs(cli_bench_help, stdout);
        return cli_flush();
    }
    const char *part = count == 1 ? arguments[0] : "";
    if (strcmp(part, "analytic") == 0)
        return cli_bench_analytic(duration);
    if (options[0].value) {
        cli_complain("bench: --duration goes with analytic: rigor bench analytic --duration 0.5");
        return EXIT_USAGE;
    }
    if (strcmp(part, "narrow") == 0)
        return bench_narrow();
    if (strcmp(part, "broad") == 0)
        return bench_broad();
    if (strcmp(part, "solve") == 0)
        return bench_solve();
    cli_complain("bench: which part? engines, scale, depth, narrow, broad, solve or analytic");
    return EXIT_USAGE;
}
