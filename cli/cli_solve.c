/* `rigor solve`: solves contact problems from files by any of the solvers, and checks the answers
 * with the judge. */
#include "cli_solve.h"

#ifdef RIGOR_HAVE_LP
#include "rigor/lp.h"
#endif

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const char cli_solve_help[] =
    "Usage: rigor solve FILE ... [OPTION ...]\n"
    "\n"
    "Solves contact problems: the Siconos texts (LCP, mixed LCP, relay, friction in local and\n"
    "global form), FCLIB's HDF5 files and rigidfc3d, told apart by their content. A FILE that\n"
    "is a directory stands for the files in it, in order, without *.md and hidden ones.\n"
    "Status and residual are found by the judge, whatever a solver says of its answer.\n"
    "\n"
    "Options:\n"
    "  -s, --solver NAMES   one solver, several with commas, all, or none to read only (auto)\n"
    "      --tolerance T    a problem is solved if its natural residual, relative to the\n"
    "                       problem's own scale, is at most T (1e-8)\n"
    "      --friction F     cone, or polygon:K with K corners instead of the cone\n"
    "      --mu X           this friction coefficient for every contact; 0: no friction\n"
    "      --law NAME       coulomb, or lotstedt: friction bounded by mu times the normal\n"
    "                       forces of the frictionless solution (coulomb)\n"
    "      --policy NAME    where friction leaves several solutions, the one with the smallest\n"
    "                       or largest normal forces (smallest); by auto and enumerate\n"
    "      --vanishing LIST solve for given contacts that break: rows from 0 with commas, or\n"
    "                       none; tested by linear programming, instead of a solver\n"
    "      --start FILE     start from the forces of a file that --out wrote\n"
    "      --iterations N   at most so many (each solver has its own limit)\n"
    "      --repeat N       solve N times; the time is the shortest (1)\n"
    "      --format NAME    lcp, mlcp, relay, friction, global-friction, rigidfc3d or fclib,\n"
    "                       instead of finding out\n"
    "      --out FILE       write the solution: a force and a velocity for each row (one\n"
    "                       problem, one solver)\n"
    "      --write FILE     write the problem in FCLIB's form (one problem, contacts only)\n"
    "  -f, --overwrite      replace the files of --out and --write if they exist\n"
    "      --json           a line of JSON for each problem, and a last one that counts\n"
    "  -h, --help           this text\n"
    "\n"
    "A problem counts as solved if one of the solvers solved it.\n"
    "Exit codes: 0 all solved, 1 one was not solved, 2 usage, 3 a file cannot be used (the\n"
    "others are solved nevertheless), 4 --write or --out failed.\n"
    "\n"
    "Examples:\n"
    "  rigor solve stack.hdf5\n"
    "  rigor solve problems/ --solver all --tolerance 1e-10\n"
    "  rigor solve stack.hdf5 --out forces.txt\n"
    "  rigor solve wall.txt --mu 0 --json | tail -1\n";

#define TOLERANCE 1e-8

/* ---- options ---- */

static size_t list_solvers(const rg_solver *list[CLI_MOST_SOLVERS]) {
    size_t count = 0;
    for (size_t i = 0; i < rg_solver_count() && count < CLI_MOST_SOLVERS - 1; i++)
        list[count++] = rg_solver_at(i);
#ifdef RIGOR_HAVE_LP
    list[count++] = rg_solver_lp();
#endif
    return count;
}

/* Whether what needs linear programs is there. */
static bool check_lp(const char *what) {
#ifdef RIGOR_HAVE_LP
    (void)what;
    return true;
#else
    cli_complain("solve: %s is not built in: it needs Clp (RIGOR_LP)", what);
    return false;
#endif
}

static bool add_solver(cli_solving *s, const char *name) {
    const rg_solver *known[CLI_MOST_SOLVERS];
    const char *names[CLI_MOST_SOLVERS + 2];
    size_t count = list_solvers(known);
    for (size_t i = 0; i < count; i++) {
        names[i] = rg_solver_name(known[i]);
        if (strcmp(names[i], name) == 0 && s->solver_count < CLI_MOST_SOLVERS) {
            s->solvers[s->solver_count++] = known[i];
            return true;
        }
    }
    if (strcmp(name, "lp") == 0 && !check_lp("the solver lp"))
        return false;
    names[count++] = "all";
    names[count++] = "none";
    const char *nearest = cli_nearest(name, names, count);
    if (nearest)
        cli_complain("solve: unknown solver '%s'; did you mean %s?", name, nearest);
    else
        cli_complain("solve: unknown solver '%s'; see `rigor solve --help`", name);
    return false;
}

static bool parse_solvers(cli_solving *s, const char *text) {
    if (strcmp(text, "none") == 0)
        return true;
    if (strcmp(text, "all") == 0) {
        s->solver_count = list_solvers(s->solvers);
        return true;
    }
    for (const char *at = text;;) {
        char name[64];
        size_t length = strcspn(at, ",");
        snprintf(name, sizeof name, "%.*s", (int)(length < 60 ? length : 60), at);
        if (!add_solver(s, name))
            return false;
        if (at[length] == '\0')
            return true;
        at += length + 1;
    }
}

static bool parse_friction(cli_solving *s, const char *text) {
    static const char polygon[] = "polygon:";
    double corners;
    s->directions = -1;
    if (!text)
        return true;
    if (strcmp(text, "cone") == 0) {
        s->directions = 0;
        return true;
    }
    if (strncmp(text, polygon, sizeof polygon - 1) == 0 &&
        cli_parse_number(text + sizeof polygon - 1, &corners) && corners >= 4 &&
        corners <= RG_DIRECTIONS_MAX && fmod(corners, 2) == 0) {
        s->directions = (int)corners;
        return true;
    }
    cli_complain("solve: --friction %s: give cone, or polygon:K with an even K from 4 to %d", text,
                 RG_DIRECTIONS_MAX);
    return false;
}

static bool parse_format(cli_solving *s, const char *text) {
    const char *names[RG_FORMATS];
    s->format = RG_FORMAT_AUTO;
    if (!text || rg_problem_format_find(text, &s->format))
        return true;
    for (int i = 0; i < RG_FORMATS; i++)
        names[i] = rg_problem_format_name((rg_problem_format)i);
    const char *nearest = cli_nearest(text, names, RG_FORMATS);
    if (nearest)
        cli_complain("solve: unknown format '%s'; did you mean %s?", text, nearest);
    else
        cli_complain("solve: unknown format '%s'; see `rigor solve --help`", text);
    return false;
}

/* Which of the names; the first if the option is not given. */
static bool parse_choice(const cli_option *option, const char *const names[2], int *choice) {
    *choice = 0;
    if (!option->value || strcmp(option->value, names[0]) == 0)
        return true;
    *choice = 1;
    if (strcmp(option->value, names[1]) == 0)
        return true;
    cli_complain("solve: --%s: '%s'; give %s or %s", option->name, option->value, names[0],
                 names[1]);
    return false;
}

static bool parse_laws(cli_solving *s, const cli_option *law, const cli_option *policy) {
    static const char *const laws[] = {"coulomb", "lotstedt"};
    static const char *const policies[] = {"smallest", "largest"};
    int which_law, which_policy;
    if (!parse_choice(law, laws, &which_law) || !parse_choice(policy, policies, &which_policy))
        return false;
    s->settings.friction_law = which_law ? RG_FRICTION_LOTSTEDT : RG_FRICTION_COULOMB;
    s->settings.policy = which_policy ? RG_POLICY_LARGEST_FORCE : RG_POLICY_SMALLEST_FORCE;
    return true;
}

enum {
    SOLVER,
    TOLERANCE_OF,
    FRICTION,
    MU,
    LAW,
    POLICY,
    VANISHING,
    START,
    ITERATIONS,
    REPEAT,
    FORMAT,
    OUT,
    WRITE,
    OVERWRITE,
    JSON,
    HELP,
    OPTIONS
};

static bool parse(cli_solving *s, const cli_option *options) {
    double iterations, repeat;
    s->settings = rg_solve_settings_default();
    s->json = options[JSON].value != NULL;
    s->write = options[WRITE].value;
    s->out = options[OUT].value;
    s->start = options[START].value;
    s->vanishing = options[VANISHING].value;
    s->has_mu = options[MU].value != NULL;
    if (s->has_mu && (!cli_parse_number(options[MU].value, &s->mu) || s->mu < 0)) {
        cli_complain("solve: --mu: '%s' is not a number, 0 or more", options[MU].value);
        return false;
    }
    if (!cli_positive_option("solve", &options[TOLERANCE_OF], TOLERANCE, &s->settings.tolerance) ||
        !cli_whole_option("solve", &options[ITERATIONS], 4e9, 0, &iterations) ||
        !cli_whole_option("solve", &options[REPEAT], 1e6, 1, &repeat) ||
        !parse_friction(s, options[FRICTION].value) || !parse_format(s, options[FORMAT].value) ||
        !parse_laws(s, &options[LAW], &options[POLICY]) ||
        !parse_solvers(s, options[SOLVER].value ? options[SOLVER].value : "auto"))
        return false;
    if (s->vanishing && (options[SOLVER].value || !check_lp("--vanishing"))) {
        if (options[SOLVER].value)
            cli_complain("solve: --vanishing takes the place of a solver; leave out --solver");
        return false;
    }
    if (s->out && s->solver_count != 1) {
        cli_complain("solve: --out takes one solver; add --solver NAME");
        return false;
    }
    s->settings.warm = s->start != NULL;
    s->settings.iteration_limit = (uint32_t)iterations;
    s->repeat = (long)repeat;
    return true;
}

/* ---- one problem ---- */

/* The file's problem with the friction that was asked for. Its coefficients are the caller's to
 * free. */
static rg_status change_friction(const cli_solving *s, rg_problem *problem, double **mu) {
    rg_contact_problem *contact = &problem->contact;
    *mu = NULL;
    if (problem->kind != RG_PROBLEM_CONTACT)
        return RG_OK;
    if (s->directions >= 0)
        contact->directions = s->directions;
    if (!s->has_mu)
        return RG_OK;
    if (s->mu > 0) {
        *mu = malloc((contact->contacts ? contact->contacts : 1) * sizeof **mu);
        if (!*mu)
            return RG_OUT_OF_MEMORY;
        for (size_t i = 0; i < contact->contacts; i++)
            (*mu)[i] = s->mu;
    }
    contact->mu = *mu; /* none: no friction */
    return RG_OK;
}

/* Whether it is still the problem that the file's own solution is for. */
static bool is_unchanged(const cli_solving *s, const rg_problem *problem,
                         const rg_problem *original) {
    return problem->kind != RG_PROBLEM_CONTACT ||
           (!s->has_mu && problem->contact.directions == original->contact.directions);
}

/* Forces for given contacts that break, judged. */
static rg_status solve_given(cli_solving *s, const rg_problem *problem, const uint8_t *vanishing,
                             rg_solution *solution, rg_solve_info *info, rg_error *error) {
#ifdef RIGOR_HAVE_LP
    bool right = false;
    double begin = cli_clock();
    rg_status status = rg_lp_given(s->context, problem, vanishing, solution, &right, error);
    *info = (rg_solve_info){.seconds = cli_clock() - begin, .attempts = 1};
    if (status == RG_OK)
        status = rg_judge(problem, solution->force, NULL, NULL, &info->residual, error);
    bool good = info->residual.natural <= s->settings.tolerance;
    info->outcome = !right ? RG_SOLVE_INFEASIBLE : good ? RG_SOLVED : RG_SOLVE_INEXACT;
    if (!right)
        snprintf(info->text, sizeof info->text,
                 "no forces have f = 0, a >= 0 in the given rows and a = 0, f >= 0 in the others");
    return status;
#else
    (void)s, (void)problem, (void)vanishing, (void)solution, (void)info, (void)error;
    return RG_UNSUPPORTED;
#endif
}

typedef struct attempt {
    const rg_problem *problem;
    const double *start;      /* forces to start from */
    const uint8_t *vanishing; /* null: by a solver */
} attempt;

/* Solves by one solver, as often as asked for; keeps the shortest time. */
static rg_status solve_by(cli_solving *s, const rg_solver *solver, const attempt *a,
                          rg_solution *solution, rg_solve_info *info, rg_error *error) {
    double shortest = INFINITY;
    rg_status status = RG_OK;
    for (long i = 0; i < s->repeat && status == RG_OK; i++) {
        memcpy(solution->force, a->start, rg_problem_rows(a->problem) * sizeof *a->start);
        status = a->vanishing ? solve_given(s, a->problem, a->vanishing, solution, info, error)
                              : rg_solve(s->context, solver, a->problem, &s->settings, solution,
                                         info, error);
        shortest = fmin(shortest, info->seconds);
    }
    info->seconds = shortest;
    return status;
}

static void remember(cli_solving *s, int code) {
    if (code > s->code)
        s->code = code;
}

/* True if one of the solvers solved it. */
static bool solve_by_all(cli_solving *s, const char *path, const attempt *a,
                         rg_solution *solution) {
    bool solved = false;
    for (size_t i = 0; i < s->solver_count; i++) {
        rg_solve_info info = {0};
        rg_error error = {0};
        const char *name = a->vanishing ? "lp-given" : rg_solver_name(s->solvers[i]);
        rg_status status = solve_by(s, s->solvers[i], a, solution, &info, &error);
        if (status != RG_OK) {
            cli_complain("%s: %s: %s", path, name, error.text);
            remember(s, cli_exit_code(status));
            info.outcome = RG_SOLVE_STALLED;
            info.residual.natural = INFINITY;
            snprintf(info.text, sizeof info.text, "%.250s", error.text);
        }
        s->json ? cli_solve_json_row(name, &info, i == 0) : cli_solve_print_row(name, &info);
        fflush(stdout);
        if (s->out && status == RG_OK &&
            !cli_solution_write(s->out, path, name, &info, solution, rg_problem_rows(a->problem)))
            remember(s, EXIT_UNWRITABLE);
        solved = solved || info.outcome == RG_SOLVED;
    }
    return solved;
}

static rg_status write_problem(const cli_solving *s, const rg_problem *problem,
                               const rg_problem_file_info *info, rg_error *error) {
    rg_problem_text text = {info->title, info->remark, NULL};
    return s->write ? rg_problem_write_fclib(s->write, problem, &text, NULL, error) : RG_OK;
}

/* The heading, and the judge's residual of the solution that the file brings. */
static rg_status show_problem(const cli_solving *s, const char *path, const rg_problem_file *file,
                              const rg_problem *problem, rg_error *error) {
    rg_problem_file_info info = rg_problem_file_get_info(file);
    bool known = info.reference && is_unchanged(s, problem, rg_problem_file_problem(file));
    rg_residual judged = {0};
    rg_status status =
        known ? rg_judge(problem, info.reference, NULL, NULL, &judged, error) : RG_OK;
    if (status != RG_OK)
        return status;
    if (s->json) {
        cli_solve_json_head(path, &info, problem);
        if (known)
            cli_solve_json_number("known_residual", judged.natural);
        if (known && info.reference_residual >= 0)
            cli_solve_json_number("stated_residual", info.reference_residual);
        return RG_OK;
    }
    cli_solve_print_head(path, &info, problem);
    if (s->solver_count)
        cli_solve_print_table_head();
    if (known)
        cli_solve_print_reference(&info, judged.natural);
    return RG_OK;
}

/* Shows the problem, writes it if asked to, solves it. */
static rg_status solve_problem(cli_solving *s, const char *path, const rg_problem_file *file,
                               const attempt *a, rg_solution *solution, rg_error *error) {
    rg_problem_file_info info = rg_problem_file_get_info(file);
    rg_status status = write_problem(s, a->problem, &info, error);
    if (status == RG_OK)
        status = show_problem(s, path, file, a->problem, error);
    if (status != RG_OK)
        return status;
    if (s->json)
        printf(", \"results\": [");
    bool solved = solve_by_all(s, path, a, solution);
    if (s->json)
        printf("]}\n");
    if (s->solver_count)
        solved ? s->solved++ : s->unsolved++;
    if (s->solver_count && !solved)
        remember(s, EXIT_FAILED);
    return RG_OK;
}

/* With memory for an answer, and what it starts from. */
static rg_status solve_changed(cli_solving *s, const char *path, const rg_problem_file *file,
                               const rg_problem *problem, rg_error *error) {
    size_t rows = rg_problem_rows(problem), room = rows ? rows : 1;
    double *numbers = calloc(3 * room, sizeof *numbers);
    uint8_t *marks = calloc(room, sizeof *marks);
    rg_status status = numbers && marks ? RG_OK : RG_OUT_OF_MEMORY;
    bool ready = status == RG_OK &&
                 (!s->start || cli_solution_read(s->start, rows, numbers + 2 * room)) &&
                 (!s->vanishing || cli_rows_parse(s->vanishing, rows, marks));
    if (status != RG_OK)
        snprintf(error->text, sizeof error->text, "%s: %s", path, rg_status_text(status));
    attempt a = {problem, numbers + 2 * room, s->vanishing ? marks : NULL};
    rg_solution solution = {.force = numbers, .velocity = numbers + room};
    if (ready)
        status = solve_problem(s, path, file, &a, &solution, error);
    else if (status == RG_OK)
        s->unsolved++, remember(s, EXIT_BAD_INPUT);
    free(numbers);
    free(marks);
    return status;
}

static void solve_file(cli_solving *s, const char *path) {
    rg_error error = {0};
    rg_problem_file *file = NULL;
    rg_status status = rg_problem_file_read(path, s->format, NULL, &file, &error);
    if (status != RG_OK) {
        cli_complain("%s", error.text);
        s->unread++;
        remember(s, cli_exit_code(status));
        return;
    }
    rg_problem problem = *rg_problem_file_problem(file);
    double *mu = NULL;
    status = change_friction(s, &problem, &mu);
    if (status != RG_OK)
        snprintf(error.text, sizeof error.text, "%s: %s", path, rg_status_text(status));
    else
        status = solve_changed(s, path, file, &problem, &error);
    if (status != RG_OK) {
        cli_complain("%s", error.text);
        s->unsolved++;
        remember(s, cli_exit_code(status));
    }
    free(mu);
    rg_problem_file_destroy(file);
}

/* ---- files and directories ---- */

static int compare_names(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool is_file(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

/* The regular files of a directory as paths, sorted; false if there is no memory. */
static bool list_directory(DIR *directory, const char *path, char ***list, size_t *count) {
    size_t room = 0;
    *list = NULL;
    *count = 0;
    for (struct dirent *entry; (entry = readdir(directory));) {
        size_t length = strlen(entry->d_name), size = strlen(path) + length + 2;
        if (entry->d_name[0] == '.' || (length > 3 && !strcmp(entry->d_name + length - 3, ".md")))
            continue;
        if (*count == room) {
            char **more = realloc(*list, (room = room ? 2 * room : 64) * sizeof *more);
            if (!more)
                return false;
            *list = more;
        }
        char *file = malloc(size);
        if (!file)
            return false;
        bool slash = path[0] && path[strlen(path) - 1] == '/';
        snprintf(file, size, "%s%s%s", path, slash ? "" : "/", entry->d_name);
        if (is_file(file))
            (*list)[(*count)++] = file;
        else
            free(file);
    }
    if (*count)
        qsort(*list, *count, sizeof **list, compare_names);
    return true;
}

static void solve_directory(cli_solving *s, DIR *directory, const char *path) {
    char **list;
    size_t count;
    bool listed = list_directory(directory, path, &list, &count);
    if (!listed || count == 0) {
        cli_complain("%s: %s", path, listed ? "a directory without files" : "no memory");
        s->unread++;
        remember(s, EXIT_BAD_INPUT);
    }
    for (size_t i = 0; i < count; i++) {
        if (listed)
            solve_file(s, list[i]);
        free(list[i]);
    }
    free(list);
}

static void solve_argument(cli_solving *s, const char *path) {
    DIR *directory = opendir(path);
    if (!directory) {
        solve_file(s, path);
        return;
    }
    solve_directory(s, directory, path);
    closedir(directory);
}

int cli_solve(int count, const char **arguments) {
    cli_option options[OPTIONS] = {[SOLVER] = {"solver", 's', true, NULL},
                                   [TOLERANCE_OF] = {"tolerance", 0, true, NULL},
                                   [FRICTION] = {"friction", 0, true, NULL},
                                   [MU] = {"mu", 0, true, NULL},
                                   [LAW] = {"law", 0, true, NULL},
                                   [POLICY] = {"policy", 0, true, NULL},
                                   [VANISHING] = {"vanishing", 0, true, NULL},
                                   [START] = {"start", 0, true, NULL},
                                   [ITERATIONS] = {"iterations", 0, true, NULL},
                                   [REPEAT] = {"repeat", 0, true, NULL},
                                   [FORMAT] = {"format", 0, true, NULL},
                                   [OUT] = {"out", 0, true, NULL},
                                   [WRITE] = {"write", 0, true, NULL},
                                   [OVERWRITE] = {"overwrite", 'f', false, NULL},
                                   [JSON] = {"json", 0, false, NULL},
                                   [HELP] = {"help", 'h', false, NULL}};
    cli_solving s = {0};
    if (!cli_parse_options("solve", options, OPTIONS, arguments, &count))
        return EXIT_USAGE;
    if (options[HELP].value) {
        fputs(cli_solve_help, stdout);
        return cli_flush();
    }
    if (!parse(&s, options))
        return EXIT_USAGE;
    const char *single = s.write ? "write" : s.out ? "out" : s.start ? "start" : NULL;
    if (count == 0) {
        cli_complain("solve: which FILE? see `rigor solve --help`");
        return EXIT_USAGE;
    }
    if (single && (count > 1 || !is_file(arguments[0]))) {
        cli_complain("solve: --%s takes one problem: give one FILE", single);
        return EXIT_USAGE;
    }
    if (!cli_may_write("solve", s.out, &options[OVERWRITE]) ||
        !cli_may_write("solve", s.write, &options[OVERWRITE]))
        return EXIT_UNWRITABLE;
    signal(SIGXFSZ, SIG_IGN); /* a limit on sizes makes a write fail, it does not kill */
    if (rg_solve_context_create(NULL, &s.context) != RG_OK) {
        cli_complain("solve: out of memory");
        return EXIT_FAILED;
    }
    for (int i = 0; i < count; i++)
        solve_argument(&s, arguments[i]);
    cli_solve_print_end(&s);
    rg_solve_context_destroy(s.context);
    int flushed = cli_flush();
    return s.code > flushed ? s.code : flushed;
}
