/* bench_solve [pivoting|qp|friction|lp|files PATH...]: what solving contact problems costs.
 *
 * - pivoting: frictionless stacks, walls and piles, n = 10 ... 800: `dantzig` beside Bullet's and
 *   ODE's (which are given a shift of 1e-12 on the diagonal; how often they fail without it is
 *   counted), and one LAPACK Cholesky factorisation of the same size
 * - qp: the same, n = 10 ... 150: `dantzig`, `qp` and Ipopt; ratios and log-log slopes
 * - friction: exact cone, piles (and stacks, walls) of 150 contacts, by every solver
 * - lp: the heuristic of 1989 on matrices with a band, n = 400 ... 3200, with log-log slopes over
 *   the non-zeros
 * - files: problem files, or all in a folder, by every solver
 * - without an argument: all but the files
 *
 * Processor time. Solvers take turns on the same problem, and the median of the runs counts, so
 * that what else the machine does falls on all alike. Ours is the solver without check and judge
 * (rg_solve_info.seconds), as the peers' is without copies of their input; runs of small problems
 * that stand beside a peer's are timed several at once, of all alike. */
#include "lcp_peers.h"

#include "../tests/support/solve_families.h"
#ifdef RIGOR_HAVE_LP
#include "rigor/lp.h"
#endif
#include "rigor/problem_file.h"
#include "rigor/solver.h"
#include "solve/solve.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SEEDS = 3, ROUNDS_MAX = 41, SAMPLES_MAX = SEEDS * ROUNDS_MAX };
#define PEER_SHIFT     1e-12
#define CHOLESKY_SHIFT 1e-6 /* so that it runs to the end */
#define WRONG          1e-6 /* an answer with a larger residual is a failure */

typedef struct lcp_peer {
    const char *name;
    lcp_solve *solve;
} lcp_peer;

static const lcp_peer pivoting_peers[] = {
#ifdef HAVE_BULLET64
    {"Bullet", lcp_bullet},
#endif
#ifdef HAVE_ODE
    {"ODE", lcp_ode},
#endif
    {NULL, NULL},
};
static const lcp_peer qp_peers[] = {
#ifdef HAVE_IPOPT
    {"Ipopt", lcp_ipopt},
#endif
    {NULL, NULL},
};
static const lcp_peer cholesky_peers[] = {
#ifdef HAVE_LAPACK
    {"Cholesky", lcp_cholesky},
#endif
    {NULL, NULL},
};
enum { PEERS_MAX = 3 };

static rg_solve_context *context;

static void die(const char *what) {
    fprintf(stderr, "bench_solve: %s\n", what);
    exit(1);
}

/* --- medians ---------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

typedef struct samples {
    double seconds[SAMPLES_MAX];
    size_t count;
    double worst;  /* residual */
    int failures;  /* wrong answers, over the seeds */
    double pivots; /* sum over the seeds */
    bool wrong;    /* on the present problem */
} samples;

static double median(samples *s) {
    if (s->count == 0)
        return NAN;
    qsort(s->seconds, s->count, sizeof *s->seconds, compare);
    return s->count % 2 ? s->seconds[s->count / 2]
                        : 0.5 * (s->seconds[s->count / 2 - 1] + s->seconds[s->count / 2]);
}

static double judge(const rg_problem *problem, const double *f) {
    rg_residual residual;
    if (rg_judge(problem, f, NULL, NULL, &residual, NULL) != RG_OK)
        return INFINITY;
    return residual.natural;
}

/* `dantzig` several times over, between two readings of the clock. */
static double repeated_seconds;

static rg_status solve_repeatedly(rg_solve_context *c, const rg_problem *problem,
                                  const rg_solve_settings *settings, rg_solution *solution,
                                  rg_solve_report *report, rg_error *error) {
    const rg_solver *solver = rg_solver_find("dantzig");
    size_t repeats = lcp_repeats(problem->linear.size);
    rg_status status = RG_OK;
    double start = lcp_clock();
    for (size_t k = 0; k < repeats && status == RG_OK; k++) {
        rg_arena_mark mark = rg_arena_get_mark(&c->arena);
        status = solver->solve(c, problem, settings, solution, report, error);
        rg_arena_return(&c->arena, mark);
    }
    repeated_seconds = (lcp_clock() - start) / (double)repeats;
    return status;
}

static const rg_solver repeated_dantzig = {"dantzig", "repeated", RG_ACCEPT_LINEAR,
                                           solve_repeatedly};

static void run_ours(const rg_solver *solver, const rg_problem *problem, double *f, bool first,
                     samples *s) {
    rg_solution solution = {.force = f};
    rg_solve_info info;
    rg_error error;
    if (rg_solve(context, solver, problem, NULL, &solution, &info, &error) != RG_OK)
        die(error.text);
    s->seconds[s->count++] = solver == &repeated_dantzig ? repeated_seconds : info.seconds;
    if (first) {
        s->worst = fmax(s->worst, info.residual.natural);
        s->failures += info.outcome != RG_SOLVED;
        s->pivots += (double)info.iterations;
    }
}

/* `shift` is relative to the largest diagonal entry. Runs with a wrong answer are not timed: the
 * peers often give up early. */
static void run_peer(const lcp_peer *peer, const rg_problem *problem, double shift, double *f,
                     bool first, samples *s) {
    const rg_linear_problem *p = &problem->linear;
    double seconds = 0, largest = 0;
    for (size_t i = 0; i < p->size; i++)
        largest = fmax(largest, p->matrix[i * p->size + i]);
    bool good = peer->solve(p->size, p->matrix, p->b, shift * largest, f, &seconds);
    if (first) {
        double residual = judge(problem, f);
        s->wrong = !good || !(residual <= WRONG);
        s->failures += s->wrong;
        if (!s->wrong)
            s->worst = fmax(s->worst, residual);
    }
    if (!s->wrong)
        s->seconds[s->count++] = seconds;
}

/* A wrong answer without the shift? Not timed. */
static int fails_plainly(const lcp_peer *peer, const rg_problem *problem, double *f) {
    samples s = {0};
    run_peer(peer, problem, 0, f, true, &s);
    return s.failures;
}

static int rounds_for(size_t n) {
    return n <= 100 ? ROUNDS_MAX : n <= 200 ? 15 : n <= 400 ? 5 : 3;
}

/* --- pivoting --------------------------------------------------------------------------------- */

static void append(samples *all, const samples *one) {
    memcpy(all->seconds + all->count, one->seconds, one->count * sizeof *one->seconds);
    all->count += one->count;
    all->worst = fmax(all->worst, one->worst);
    all->failures += one->failures;
    all->pivots += one->pivots;
}

typedef struct pivoting {
    samples ours, cholesky, theirs[PEERS_MAX];
    int plain[PEERS_MAX]; /* wrong without a shift */
    double ratio;         /* the largest over the seeds, to the faster peer that solved it */
} pivoting;

/* All solvers in turns on one problem, added to `sum`. */
static void pivot_in_turns(const rg_problem *problem, double *f, pivoting *one, pivoting *sum) {
    const rg_linear_problem *p = &problem->linear;
    *one = (pivoting){0};
    for (int round = 0; round < rounds_for(p->size); round++) {
        run_ours(&repeated_dantzig, problem, f, round == 0, &one->ours);
        for (int k = 0; pivoting_peers[k].name; k++)
            run_peer(&pivoting_peers[k], problem, PEER_SHIFT, f, round == 0, &one->theirs[k]);
        if (cholesky_peers[0].name)
            cholesky_peers[0].solve(p->size, p->matrix, p->b, CHOLESKY_SHIFT * p->matrix[0], f,
                                    &one->cholesky.seconds[one->cholesky.count++]);
    }
    double best = NAN;
    for (int k = 0; pivoting_peers[k].name; k++) {
        best = fmin(best, median(&one->theirs[k]));
        append(&sum->theirs[k], &one->theirs[k]);
        sum->plain[k] += fails_plainly(&pivoting_peers[k], problem, f);
    }
    sum->ratio = fmax(sum->ratio, median(&one->ours) / best);
    append(&sum->ours, &one->ours);
    append(&sum->cholesky, &one->cholesky);
}

static void pivoting_row(family_kind kind, size_t n) {
    pivoting *one = calloc(2, sizeof *one), *sum = one + 1;
    double *f = calloc(n, sizeof *f);
    if (!one || !f)
        die("out of memory");
    sum->ratio = NAN;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        solve_family *family = family_make(kind, n, seed, 0);
        pivot_in_turns(family_linear(family), f, one, sum);
        family_free(family);
    }
    double own = median(&sum->ours), factor = median(&sum->cholesky);
    printf("%-6s %4zu %10.2f %8.2f %9.1e", family_name(kind), n, 1e6 * own,
           sum->ours.pivots / SEEDS / (double)n, sum->ours.worst);
    for (int k = 0; pivoting_peers[k].name; k++)
        printf(" %10.2f %8.1e %d, %d", 1e6 * median(&sum->theirs[k]), sum->theirs[k].worst,
               sum->theirs[k].failures, sum->plain[k]);
    if (pivoting_peers[0].name)
        printf(" %7.2f", sum->ratio);
    if (cholesky_peers[0].name)
        printf(" %10.2f %7.1f", 1e6 * factor, own / factor);
    printf("%s\n", sum->ours.failures ? "  NOT SOLVED" : "");
    fflush(stdout);
    free(f);
    free(one);
}

static void bench_pivoting(void) {
    static const size_t sizes[] = {10, 20, 50, 100, 150, 200, 400, 800};
    printf("Frictionless, us (median of runs in turns); residuals by the judge; bad: wrong answers "
           "of %d with a shift of 1e-12, without\n",
           SEEDS);
    printf("%-6s %4s %10s %8s %9s", "family", "n", "dantzig", "pivots/n", "residual");
    for (int k = 0; pivoting_peers[k].name; k++)
        printf(" %10s %8s %4s", pivoting_peers[k].name, "residual", "bad");
    printf("%s%s\n", pivoting_peers[0].name ? " to best" : "",
           cholesky_peers[0].name ? "   Cholesky   ratio" : "");
    for (int kind = FAMILY_STACK; kind <= FAMILY_PILE; kind++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            pivoting_row((family_kind)kind, sizes[i]);
}

/* --- quadratic programs ----------------------------------------------------------------------- */

/* Least-squares slope of log time over log n. */
static double slope_of(const size_t *n, const double *time, size_t count) {
    double sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (size_t i = 0; i < count; i++) {
        double x = log((double)n[i]), y = log(time[i]);
        sx += x, sy += y, sxx += x * x, sxy += x * y;
    }
    double m = (double)count;
    return (m * sxy - sx * sy) / (m * sxx - sx * sx);
}

static void bench_qp(void) {
    static const size_t sizes[] = {10, 20, 30, 50, 75, 100, 150};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    const rg_solver *dantzig = rg_solver_find("dantzig"), *qp = rg_solver_find("qp");
    printf("\nThe same as a quadratic program, us\n%-6s %4s %10s %10s %8s %8s", "family", "n",
           "dantzig", "qp", "residual", "qp/d.");
    for (int k = 0; qp_peers[k].name; k++)
        printf(" %10s %8s %8s", qp_peers[k].name, "residual", "ratio");
    printf("\n");
    for (int kind = FAMILY_STACK; kind <= FAMILY_PILE; kind++) {
        double time[2 + PEERS_MAX][SIZES];
        for (size_t i = 0; i < SIZES; i++) {
            size_t n = sizes[i];
            samples *s = calloc(2 + PEERS_MAX, sizeof *s);
            double *f = calloc(n, sizeof *f);
            if (!s || !f)
                die("out of memory");
            for (uint64_t seed = 0; seed < SEEDS; seed++) {
                solve_family *family = family_make((family_kind)kind, n, seed, 0);
                const rg_problem *problem = family_linear(family);
                for (int round = 0; round < 7; round++) {
                    /* The first of two runs finds the caches full of the peer's numbers. */
                    for (int run = 0; run < 2; run++) {
                        s[0].count -= s[0].count && run ? 1 : 0;
                        run_ours(dantzig, problem, f, round == 0 && run == 0, &s[0]);
                    }
                    run_ours(qp, problem, f, round == 0, &s[1]);
                    for (int k = 0; qp_peers[k].name; k++)
                        run_peer(&qp_peers[k], problem, 0, f, round == 0, &s[2 + k]);
                }
                family_free(family);
            }
            time[0][i] = median(&s[0]), time[1][i] = median(&s[1]);
            printf("%-6s %4zu %10.1f %10.1f %8.1e %8.1f", family_name((family_kind)kind), n,
                   1e6 * time[0][i], 1e6 * time[1][i], s[1].worst, time[1][i] / time[0][i]);
            for (int k = 0; qp_peers[k].name; k++) {
                time[2 + k][i] = median(&s[2 + k]);
                printf(" %10.1f %8.1e %8.1f", 1e6 * time[2 + k][i], s[2 + k].worst,
                       time[2 + k][i] / time[0][i]);
            }
            printf("\n");
            fflush(stdout);
            free(f);
            free(s);
        }
        printf("%-6s slopes %8.2f %10.2f %17s", family_name((family_kind)kind),
               slope_of(sizes, time[0], SIZES), slope_of(sizes, time[1], SIZES), "");
        for (int k = 0; qp_peers[k].name; k++)
            printf(" %10.2f", slope_of(sizes, time[2 + k], SIZES));
        printf("\n");
    }
}

/* --- every solver ----------------------------------------------------------------------------- */

/* One line per solver on one problem. */
static void try_all(const char *name, const rg_problem *problem, double tolerance, int rounds) {
    size_t rows = rg_problem_rows(problem);
    double *f = calloc(rows + 1, sizeof *f);
    if (!f)
        die("out of memory");
    rg_solve_settings settings = rg_solve_settings_default();
    settings.tolerance = tolerance;
    for (size_t k = 0; k < rg_solver_count(); k++) {
        samples s = {0};
        rg_solution solution = {.force = f};
        rg_solve_info info = {0};
        rg_error error;
        for (int round = 0; round < rounds; round++) {
            if (rg_solve(context, rg_solver_at(k), problem, &settings, &solution, &info, &error) !=
                RG_OK) {
                printf("%-28s %-14s %s\n", name, rg_solver_name(rg_solver_at(k)), error.text);
                break;
            }
            s.seconds[s.count++] = info.seconds;
            if (info.seconds > 1)
                break;
        }
        if (s.count && info.outcome != RG_SOLVE_UNSUITABLE)
            printf("%-28s %-14s %-12s %8llu %8llu %9.1e %12.3f\n", name,
                   rg_solver_name(rg_solver_at(k)), rg_solve_outcome_name(info.outcome),
                   (unsigned long long)info.iterations, (unsigned long long)info.factorisations,
                   info.residual.natural, 1e3 * median(&s));
        fflush(stdout);
    }
    free(f);
}

static void print_all_header(const char *what) {
    printf("\n%s\n%-28s %-14s %-12s %8s %8s %9s %12s\n", what, "problem", "solver", "outcome",
           "iter.", "factor.", "residual", "ms");
}

static void bench_friction(void) {
    print_all_header("Exact cone, mu = 0.5, 150 contacts, tolerance 1e-10, cold");
    for (int kind = FAMILY_PILE; kind >= FAMILY_STACK; kind--)
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            solve_family *family = family_make((family_kind)kind, 150, seed, 0.5);
            char name[64];
            snprintf(name, sizeof name, "%s 150 seed %llu", family_name((family_kind)kind),
                     (unsigned long long)seed);
            try_all(name, family_global(family), 1e-10, 9);
            family_free(family);
        }
}

/* --- files ------------------------------------------------------------------------------------ */

static void bench_file(const char *path) {
    rg_problem_file *file;
    rg_error error;
    if (rg_problem_file_read(path, RG_FORMAT_AUTO, NULL, &file, &error) != RG_OK) {
        printf("%s\n", error.text);
        return;
    }
    const char *slash = strrchr(path, '/');
    try_all(slash ? slash + 1 : path, rg_problem_file_problem(file), 1e-8, 3);
    rg_problem_file_destroy(file);
}

/* ------------------------------------------------------------------ lp */

#ifdef RIGOR_HAVE_LP
enum { BAND = 3, ROW = 2 * BAND + 1 };

/* A matrix with a band in compressed rows, and its right-hand side. */
typedef struct band {
    size_t *starts;
    uint32_t *indices;
    double *values, *b;
} band;

/* Seven entries a row; all contacts pushed, or a good third of them breaking. */
static rg_problem make_band(size_t n, bool breaking, band *m) {
    rg_random random = rg_random_make(7);
    *m = (band){calloc(n + 1, sizeof *m->starts), calloc(ROW * n, sizeof *m->indices),
                calloc(ROW * n, sizeof *m->values), calloc(n, sizeof *m->b)};
    if (!m->starts || !m->indices || !m->values || !m->b)
        die("out of memory");
    for (size_t i = 0, at = 0; i < n; i++) {
        for (size_t j = i < BAND ? 0 : i - BAND; j <= i + BAND && j < n; j++, at++) {
            m->indices[at] = (uint32_t)j;
            m->values[at] = i == j ? 4 : -1 / (1 + fabs((double)i - (double)j));
        }
        m->starts[i + 1] = at;
        m->b[i] = rg_random_unit(&random) - (breaking ? 0.6 : 2);
    }
    rg_matrix matrix = {n, n, NULL, m->starts, m->indices, m->values};
    return (rg_problem){.kind = RG_PROBLEM_CONTACT,
                        .contact = {.dimension = 1, .contacts = n, .w = matrix, .q = m->b}};
}

static void free_band(band *m) {
    free(m->starts);
    free(m->indices);
    free(m->values);
    free(m->b);
}

static double time_heuristic(const rg_problem *problem, rg_lp_details *details) {
    double shortest = INFINITY, *f = calloc(rg_problem_rows(problem), sizeof *f);
    rg_solution solution = {.force = f};
    if (!f)
        die("out of memory");
    for (int round = 0; round < 5; round++) {
        struct timespec from, to;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
        if (rg_lp_heuristic(context, problem, &solution, details, NULL))
            die("the heuristic failed");
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
        shortest = fmin(shortest, (double)(to.tv_sec - from.tv_sec) +
                                      1e-9 * (double)(to.tv_nsec - from.tv_nsec));
    }
    free(f);
    return shortest;
}

static void bench_lp(void) {
    enum { SIZES = 4 };
    printf("\nThe heuristic of 1989 on bands of seven entries, ms\n%-9s %5s %9s %10s %8s %12s\n",
           "stage", "n", "non-zeros", "time", "pivots", "operations");
    for (int breaking = 0; breaking < 2; breaking++) {
        size_t nonzeros[SIZES];
        double time[SIZES], operations[SIZES];
        for (int k = 0; k < SIZES; k++) {
            band m;
            size_t n = (size_t)400 << k;
            rg_problem problem = make_band(n, breaking, &m);
            rg_lp_details details = {0};
            time[k] = time_heuristic(&problem, &details);
            nonzeros[k] = details.nonzeros, operations[k] = details.operations;
            printf("%-9s %5zu %9zu %10.2f %8llu %12.0f\n", rg_lp_stage_name(details.stage), n,
                   nonzeros[k], 1e3 * time[k], (unsigned long long)details.pivots, operations[k]);
            free_band(&m);
        }
        printf("%-9s over the non-zeros %6.2f %21.2f\n", "slope", slope_of(nonzeros, time, SIZES),
               slope_of(nonzeros, operations, SIZES));
    }
}
#else
static void bench_lp(void) {
    puts("rigor-lp is not built: its table is left out");
}
#endif

static int by_name(const struct dirent **a, const struct dirent **b) {
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_visible(const struct dirent *entry) {
    return entry->d_name[0] != '.' && !strstr(entry->d_name, "README");
}

static void bench_path(const char *path) {
    struct dirent **entries;
    int count = scandir(path, &entries, is_visible, by_name);
    if (count < 0) { /* not a folder */
        bench_file(path);
        return;
    }
    for (int i = 0; i < count; i++) {
        char inner[4096];
        snprintf(inner, sizeof inner, "%s/%s", path, entries[i]->d_name);
        bench_path(inner);
        free(entries[i]);
    }
    free(entries);
}

static void say_who_is_missing(void) {
#ifndef HAVE_BULLET64
    puts("Bullet is not installed (Debian: libbullet-dev): left out");
#endif
#ifndef HAVE_ODE
    puts("ODE is not installed (Debian: libode-dev): left out");
#endif
#ifndef HAVE_IPOPT
    puts("Ipopt is not installed (Debian: coinor-libipopt-dev): left out");
#endif
#ifndef HAVE_LAPACK
    puts("LAPACK is not installed (Debian: libopenblas-dev): left out");
#endif
}

int main(int count, char **arguments) {
    const char *what = count > 1 ? arguments[1] : "";
    if (rg_solve_context_create(NULL, &context) != RG_OK)
        die("out of memory");
    say_who_is_missing();
    if (strcmp(what, "files") == 0) {
        print_all_header("Problem files, tolerance 1e-8, cold");
        for (int i = 2; i < count; i++)
            bench_path(arguments[i]);
    } else {
        bool all = *what == 0;
        if (!all && strcmp(what, "pivoting") && strcmp(what, "qp") && strcmp(what, "friction") &&
            strcmp(what, "lp"))
            die("which table? pivoting, qp, friction, lp, or files PATH...");
        if (all || strcmp(what, "pivoting") == 0)
            bench_pivoting();
        if (all || strcmp(what, "qp") == 0)
            bench_qp();
        if (all || strcmp(what, "friction") == 0)
            bench_friction();
        if (all || strcmp(what, "lp") == 0)
            bench_lp();
    }
    rg_solve_context_destroy(context);
    return 0;
}
