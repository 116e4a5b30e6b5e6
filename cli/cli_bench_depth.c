/* `rigor bench depth`: the ratio metric beside two exact penetration depths, by number of facets.
 *
 * The metric is a linear program (Hart and Anitescu 2010, section 2.3), O(m + n), where an exact
 * depth needs the Minkowski difference, O(m n) vertices. Here it is found in two ways: the
 * hull of all differences of vertices, and the search over its facets without making it. */
#include "cli_bench_engines.h"
#include "cli_gnuplot.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char cli_bench_depth_help[] =
    "Usage: rigor bench depth [OPTION ...]\n"
    "\n"
    "Two hulls of points on ellipsoids that overlap: us for the ratio metric (a linear\n"
    "program), for the exact depth by a search over the facets of the Minkowski difference,\n"
    "and for the hull of all differences of vertices, which is that polyhedron. The exponents\n"
    "are slopes between the last two sizes; the crossover is the number of facets from which\n"
    "the metric is the faster one.\n"
    "\n"
    "Options:\n"
    "      --most N      facets of the largest hulls; default 20000\n"
    "      --plot FILE   time against facets, as SVG (needs gnuplot)\n"
    "  -f, --overwrite   replace FILE if it exists\n"
    "  -h, --help        this text\n"
    "\n"
    "Exit codes: 0 done, 1 the two exact depths differ, 2 usage, 4 FILE cannot be written.\n"
    "\n"
    "Examples:\n"
    "  rigor bench depth --plot depth.svg\n";

enum { SIZES = 24, POSES = 16, HULL_MOST = 260, WAYS = 3 };
#define LONG 3.0 /* s: of exact depths of one size; then no more poses */
/* m: the exact depths of hulls of about a metre must be alike to this. */
#define SAME_DEPTH 1e-9

typedef struct depth_row {
    double facets, time[WAYS]; /* s: metric, search, hull; NaN: not tried */
    double differ;             /* m: of the two depths, the largest; NaN: not compared */
} depth_row;

/* The least offset of the hull of all differences: the depth. NaN without memory. */
static double hull_depth(const rg_shape *a, const rg_shape *b, rg_pose pose) {
    const rg_polyhedron *p = rg_shape_polyhedron(a), *q = rg_shape_polyhedron(b);
    size_t count = (size_t)p->vertex_count * q->vertex_count;
    rg_vec3 *points = calloc(count, sizeof *points);
    rg_shape *shape = NULL;
    double least = INFINITY;
    for (size_t i = 0; points && i < count; i++) {
        rg_vec3 u = p->vertices[i / q->vertex_count];
        rg_vec3 v = rg_pose_apply(pose, q->vertices[i % q->vertex_count]);
        points[i] = (rg_vec3){u.x - v.x, u.y - v.y, u.z - v.z};
    }
    rg_shape_def def = rg_shape_def_hull(points, count);
    if (!points || rg_shape_create(&def, NULL, &shape, NULL) != RG_OK) {
        free(points);
        return NAN;
    }
    const rg_polyhedron *k = rg_shape_polyhedron(shape);
    for (uint32_t f = 0; f < k->facet_count; f++) {
        rg_vec3 n = k->normals[f], c = k->centre;
        least = fmin(least, k->offsets[f] + n.x * c.x + n.y * c.y + n.z * c.z);
    }
    rg_shape_release(shape);
    free(points);
    return least;
}

/* The median: other programs on the machine lengthen some of the times. */
static double middle_of(double *times, int count) {
    for (int i = 1; i < count; i++)
        for (int k = i; k > 0 && times[k] < times[k - 1]; k--) {
            double swapped = times[k];
            times[k] = times[k - 1], times[k - 1] = swapped;
        }
    return count > 0 ? times[count / 2] : NAN;
}

static bool measure(size_t vertices, depth_row *row) {
    rg_random random = rg_random_make(vertices);
    rg_shape *a = cli_bench_hull(&random, vertices), *b = cli_bench_hull(&random, vertices);
    static const rg_pose origin = {{0, 0, 0}, {0, 0, 0, 1}};
    double none = vertices > HULL_MOST ? NAN : 0, metric[POSES], search[POSES], spent = 0;
    *row = (depth_row){.time = {0, 0, none}, .differ = none};
    bool good = a && b;
    int searches = 0;
    for (int i = 0; i < POSES && good; i++) {
        rg_vec3 d = rg_random_direction(&random);
        rg_pose pose = {{0.5 * d.x, 0.5 * d.y, 0.5 * d.z}, rg_random_rotation(&random)};
        rg_growth growth;
        rg_depth depth;
        double start = cli_clock();
        good = rg_growth_between(a, origin, b, pose, NULL, &growth) == RG_OK;
        double end = cli_clock();
        metric[i] = end - start;
        if (spent > LONG)
            continue;
        good = good && rg_depth_between(a, origin, b, pose, &depth) == RG_OK;
        search[searches] = cli_clock() - end;
        spent += search[searches++];
        if (!good || vertices > HULL_MOST || i > 1)
            continue;
        end = cli_clock();
        double other = hull_depth(a, b, pose);
        good = !isnan(other);
        row->time[2] += (cli_clock() - end) / 2;
        row->differ = fmax(row->differ, fabs(other - depth.depth));
    }
    row->time[0] = middle_of(metric, POSES), row->time[1] = middle_of(search, searches);
    if (good)
        row->facets = rg_shape_polyhedron(a)->facet_count;
    rg_shape_release(a);
    rg_shape_release(b);
    return good;
}

static void print_slopes(const depth_row *rows, size_t count) {
    static const char *const names[WAYS] = {"ratio metric", "exact, search", "exact, hull"};
    for (int way = 0; way < WAYS; way++) {
        size_t last = count;
        while (last > 0 && !(rows[last - 1].time[way] >= 0))
            last--;
        if (last >= 2)
            printf("%-14s grows with facets to the power %.2f\n", names[way],
                   log(rows[last - 1].time[way] / rows[last - 2].time[way]) /
                       log(rows[last - 1].facets / rows[last - 2].facets));
    }
    size_t from = count;
    while (from > 0 && rows[from - 1].time[0] < rows[from - 1].time[1])
        from--;
    if (from == 0)
        printf("crossover      none: the metric is faster from %.0f facets on\n", rows[0].facets);
    else if (from < count)
        printf("crossover      the metric is faster from %.0f facets on\n", rows[from].facets);
    else
        printf("crossover      none up to %.0f facets\n", rows[count - 1].facets);
}

static int plot(const depth_row *rows, size_t count, int output) {
    static const char *const titles[WAYS] = {"ratio metric", "exact depth, search over facets",
                                             "exact depth, hull of differences"};
    FILE *script = tmpfile();
    if (!script) {
        cli_complain("bench: --plot: no temporary file: %s", strerror(errno));
        return EXIT_UNWRITABLE;
    }
    fprintf(script, "set terminal svg size 800,600\nset logscale xy\nset xlabel 'facets of each "
                    "hull'\nset ylabel 'time of a query (s)'\n"
                    "set format '%%.0e'\nset key outside below\nset grid\nplot ");
    for (int way = 0; way < WAYS; way++)
        fprintf(script, "%s'-' using 1:2 with linespoints title '%s'", way ? ", " : "",
                titles[way]);
    fprintf(script, "\n");
    for (int way = 0; way < WAYS; way++) {
        for (size_t i = 0; i < count; i++)
            if (rows[i].time[way] >= 0)
                fprintf(script, "%.17g %.17g\n", rows[i].facets, rows[i].time[way]);
        fprintf(script, "e\n");
    }
    int code = cli_gnuplot_draw("bench", script, output);
    fclose(script);
    return code;
}

static int bench(double most, int output) {
    depth_row rows[SIZES];
    size_t count = 0;
    printf("%10s %14s %14s %14s %12s\n", "facets", "metric, us", "search, us", "hull, us",
           "differ, m");
    bool same = true;
    size_t largest = (size_t)(most / 2) + 2; /* vertices: a hull of n triangles has n / 2 + 2 */
    for (size_t vertices = 7; count < SIZES && vertices <= largest;
         vertices = vertices < largest && 2 * vertices > largest ? largest : 2 * vertices) {
        if (!measure(vertices, &rows[count])) {
            cli_complain("bench: out of memory");
            return EXIT_FAILED;
        }
        const depth_row *r = &rows[count++];
        printf("%10.0f %14.2f %14.2f %14.2f %12.2g\n", r->facets, 1e6 * r->time[0],
               1e6 * r->time[1], 1e6 * r->time[2], r->differ);
        fflush(stdout);
        same &= !(r->differ > SAME_DEPTH);
    }
    if (count > 0)
        print_slopes(rows, count);
    int code = output >= 0 && count > 0 ? plot(rows, count, output) : EXIT_GOOD;
    int flushed = cli_flush();
    return code != EXIT_GOOD ? code : !same ? EXIT_FAILED : flushed;
}

int cli_bench_depth(int count, const char **arguments) {
    enum { MOST, PLOT, OVERWRITE, HELP, OPTIONS };
    cli_option options[OPTIONS] = {{"most", 0, true, NULL},
                                   {"plot", 0, true, NULL},
                                   {"overwrite", 'f', false, NULL},
                                   {"help", 'h', false, NULL}};
    double most;
    int output;
    if (!cli_parse_options("bench depth", options, OPTIONS, arguments, &count) ||
        !cli_positive_option("bench depth", &options[MOST], 20000, &most))
        return EXIT_USAGE;
    if (options[HELP].value) {
        fputs(cli_bench_depth_help, stdout);
        return cli_flush();
    }
    if (count > 0) {
        cli_complain("bench depth: takes no '%s'; see `rigor bench depth --help`", arguments[0]);
        return EXIT_USAGE;
    }
    if (!cli_may_write("bench depth", options[PLOT].value, &options[OVERWRITE]))
        return EXIT_UNWRITABLE;
    int code = cli_gnuplot_open("bench", options[PLOT].value, &output);
    return code == EXIT_GOOD ? bench(most, output) : code;
}
