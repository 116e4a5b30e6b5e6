/* Contact problems from elsewhere, by auto. They lie beside the checkout, not in it: without them
 * there is nothing to do, and CTest is told that the test was skipped. No file is named in what follows for its solution's sake:
 * the same rules hold for all of a folder. RIGOR_LONG=1 adds the sequences, of some thousand
 * contacts each. */
#include "problems_support.h"

#include "rigor/problem_file.h"
#include "rigor/solver.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define TOLERANCE 1e-8 /* what is reached elsewhere is measured at this */
enum { FILES_MOST = 128, NAME_SIZE = 512, SKIPPED = 77 };

static rg_solve_context *context;

static int open_context(void **state) {
    (void)state;
    return rg_solve_context_create(NULL, &context) == RG_OK ? 0 : -1;
}

static int close_context(void **state) {
    (void)state;
    rg_solve_context_destroy(context);
    return 0;
}

static int compare_names(const void *a, const void *b) {
    return strcmp(a, b);
}

/* The files of a folder, by name. */
static size_t list_files(const char *folder, char names[FILES_MOST][NAME_SIZE]) {
    char path[NAME_SIZE / 2];
    snprintf(path, sizeof path, "%s/%s", PROBLEMS_DIR, folder);
    DIR *directory = opendir(path);
    size_t count = 0;
    if (!directory)
        fail_msg("%s cannot be read", path);
    for (struct dirent *entry; (entry = readdir(directory)) && count < FILES_MOST;)
        if (entry->d_name[0] != '.' && !strstr(entry->d_name, ".md"))
            snprintf(names[count++], NAME_SIZE, "%s/%.200s", path, entry->d_name);
    closedir(directory);
    if (count == 0)
        fail_msg("%s is empty", path);
    qsort(names, count, NAME_SIZE, compare_names);
    return count;
}

typedef struct result {
    rg_solve_info info;
    double known; /* residual that the file says is known; negative: none */
    char name[80];
} result;

static result solve_file(const char *path, double tolerance, double mu) {
    result r = {.known = -1};
    const char *slash = strrchr(path, '/');
    snprintf(r.name, sizeof r.name, "%.79s", slash ? slash + 1 : path);
    rg_problem_file *file;
    rg_error error = {0};
    if (rg_problem_file_read(path, RG_FORMAT_AUTO, NULL, &file, &error))
        fail_msg("%s", error.text);
    rg_problem problem = *rg_problem_file_get(file);
    r.known = rg_problem_file_get_info(file).reference_residual;
    size_t rows = rg_problem_rows(&problem);
    double *f = calloc(rows, sizeof *f), *some_mu = NULL;
    if (mu >= 0 && problem.kind == RG_PROBLEM_CONTACT) {
        some_mu = calloc(problem.contact.contacts, sizeof *some_mu);
        for (size_t i = 0; i < problem.contact.contacts; i++)
            some_mu[i] = mu;
        problem.contact.mu = some_mu;
    }
    rg_solve_settings settings = rg_solve_settings_default();
    settings.tolerance = tolerance;
    rg_solution solution = {.force = f};
    if (rg_solve(context, rg_solver_find("auto"), &problem, &settings, &solution, &r.info, &error))
        fail_msg("%s: %s", path, error.text);
    char tried[256] = "";
    for (uint32_t i = 0; i < r.info.attempts && i < RG_SOLVE_CHAIN_MAX; i++) {
        size_t used = strlen(tried);
        snprintf(tried + used, sizeof tried - used, " %s %.0e (%.2f ms)",
                 rg_solver_name(r.info.chain[i].solver), r.info.chain[i].residual,
                 1e3 * r.info.chain[i].seconds);
    }
    print_message("%-36s %5zu rows  %-10s %8.1e  %9.3f ms %s\n", r.name, rows,
                  rg_solve_outcome_name(r.info.outcome), r.info.residual.natural,
                  1e3 * r.info.seconds, tried);
    free(f), free(some_mu);
    rg_problem_file_destroy(file);
    return r;
}

static void test_friction(void **state) {
    (void)state;
    static char names[FILES_MOST][NAME_SIZE];
    size_t count = list_files("friction", names), unsolved = 0;
    for (size_t i = 0; i < count; i++)
        unsolved += solve_file(names[i], TOLERANCE, -1).info.outcome != RG_SOLVED;
    if (unsolved)
        fail_msg("%zu of %zu not solved", unsolved, count);
}

/* Solved, or proved to have no solution. */
static void solve_or_prove(const char *folder) {
    static char names[FILES_MOST][NAME_SIZE];
    size_t count = list_files(folder, names), open = 0, none = 0;
    for (size_t i = 0; i < count; i++) {
        result r = solve_file(names[i], TOLERANCE, -1);
        if (r.info.outcome == RG_SOLVE_INFEASIBLE)
            print_message("    no solution: %s\n", r.info.text);
        none += r.info.outcome == RG_SOLVE_INFEASIBLE;
        open += r.info.outcome != RG_SOLVED && r.info.outcome != RG_SOLVE_INFEASIBLE;
    }
    print_message("%s: %zu problems, %zu proved to have no solution, %zu open\n", folder, count,
                  none, open);
    assert_int_equal(open, 0);
}

static void test_lcp(void **state) {
    (void)state;
    solve_or_prove("lcp");
}

static void test_mlcp(void **state) {
    (void)state;
    solve_or_prove("mlcp");
}

static void test_sequences(void **state) {
    (void)state;
    const char *value = getenv("RIGOR_LONG");
    if (!value || !*value || strcmp(value, "0") == 0) {
        print_message("RIGOR_LONG is not set: the sequences are left out\n");
        return;
    }
    static char names[FILES_MOST][NAME_SIZE];
    size_t count = list_files("sequences", names), slippery = 0, worse = 0;
    for (size_t i = 0; i < count; i++) {
        slippery += solve_file(names[i], TOLERANCE, 0).info.outcome != RG_SOLVED;
        result r = solve_file(names[i], TOLERANCE, -1);
        worse += r.info.residual.natural > fmax(TOLERANCE, r.known);
    }
    print_message("%zu sequences: %zu not solved without friction, %zu worse than known with it\n",
                  count, slippery, worse);
    assert_int_equal(slippery, 0);
    assert_int_equal(worse, 0);
}

int main(void) {
    if (!has_problems()) {
        print_message("skipped: " NO_PROBLEMS "\n");
        return SKIPPED;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_friction),
        cmocka_unit_test(test_lcp),
        cmocka_unit_test(test_mlcp),
        cmocka_unit_test(test_sequences),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
