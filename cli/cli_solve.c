/* `rigor solve`: solves contact problems from files by any of the solvers, and checks the answers
 * with the judge. */
#include "cli.h"

#include "rigor/problem_file.h"
#include "rigor/solver.h"
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
    "Solves contact problems: the Siconos texts (LCP, mixed LCP, friction in local and global\n"
    "form), FCLIB's HDF5 files and rigidfc3d, told apart by their content. A FILE that is a\n"
    "directory stands for the files in it, in order, without *.md and hidden ones. Whatever a\n"
    "solver says of its answer, status and residual are the judge's.\n"
    "\n"
    "Options:\n"
    "  -s, --solver NAMES   one solver, several with commas, all, or none to read only (auto)\n"
    "      --tolerance T    a problem is solved if its natural residual, relative to the\n"
    "                       problem's own scale, is at most T (1e-8)\n"
    "      --friction F     cone, or polygon:K with K corners instead of the cone\n"
    "      --mu X           this friction coefficient for every contact; 0: no friction\n"
    "      --iterations N   at most so many (each solver has its own limit)\n"
    "      --repeat N       solve N times; the time is the shortest (1)\n"
    "      --format NAME    lcp, mlcp, friction, global-friction, rigidfc3d or fclib, instead\n"
    "                       of finding out\n"
    "      --write FILE     write the problem in FCLIB's form (one problem, contacts only)\n"
    "      --json           a line of JSON for each problem, and a last one that counts\n"
    "  -h, --help           this text\n"
    "\n"
    "A problem counts as solved if one of the solvers solved it.\n"
    "Exit codes: 0 all solved, 1 one was not solved, 2 usage, 3 a file cannot be used (the\n"
    "others are solved nevertheless), 4 --write failed.\n"
    "\n"
    "Examples:\n"
    "  rigor solve stack.hdf5\n"
    "  rigor solve problems/ --solver all --tolerance 1e-10\n"
    "  rigor solve wall.txt --mu 0 --json | tail -1\n";

enum { MOST_SOLVERS = 32 };
#define TOLERANCE 1e-8

typedef struct solving {
    const rg_solver *solvers[MOST_SOLVERS];
    size_t solver_count; /* 0: none */
    rg_solve_settings settings;
    rg_problem_format format;
    bool has_mu;
    double mu;
    int directions; /* -1: as the file has it */
    long repeat;
    const char *write;
    bool json;
    rg_solve_context *context;
    size_t solved, unsolved, unread;
    int code; /* the exit code so far */
} solving;

/* ---- options ---- */

static size_t list_solvers(const rg_solver *list[MOST_SOLVERS]) {
    size_t count = 0;
    for (size_t i = 0; i < rg_solver_count() && count < MOST_SOLVERS - 1; i++)
        list[count++] = rg_solver_at(i);
#ifdef RIGOR_HAVE_LP
    list[count++] = rg_solver_lp();
#endif
    return count;
}

static bool add_solver(solving *s, const char *name) {
    const rg_solver *known[MOST_SOLVERS];
    const char *names[MOST_SOLVERS + 2];
    size_t count = list_solvers(known);
    for (size_t i = 0; i < count; i++) {
        names[i] = rg_solver_name(known[i]);
        if (strcmp(names[i], name) == 0 && s->solver_count < MOST_SOLVERS) {
            s->solvers[s->solver_count++] = known[i];
            return true;
        }
    }
#ifndef RIGOR_HAVE_LP
    if (strcmp(name, "lp") == 0) {
        cli_complain("solve: the solver lp is not built in: it needs Clp (RIGOR_LP)");
        return false;
    }
#endif
    names[count++] = "all";
    names[count++] = "none";
    const char *nearest = cli_nearest(name, names, count);
    if (nearest)
        cli_complain("solve: unknown solver '%s'; did you mean %s?", name, nearest);
    else
        cli_complain("solve: unknown solver '%s'; see `rigor solve --help`", name);
    return false;
}

static bool parse_solvers(solving *s, const char *text) {
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

static bool parse_friction(solving *s, const char *text) {
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

static bool parse_format(solving *s, const char *text) {
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

static bool parse_whole(const cli_option *option, double most, double fallback, double *value) {
    if (!cli_positive_option("solve", option, fallback, value))
        return false;
    if (!option->value || (*value <= most && fmod(*value, 1) == 0))
        return true;
    cli_complain("solve: --%s: '%s' is not a whole number from 1 to %.0f", option->name,
                 option->value, most);
    return false;
}

enum { SOLVER, TOLERANCE_OF, FRICTION, MU, ITERATIONS, REPEAT, FORMAT, WRITE, JSON, HELP, OPTIONS };

static bool parse(solving *s, const cli_option *options) {
    double iterations, repeat;
    s->settings = rg_solve_settings_default();
    s->json = options[JSON].value != NULL;
    s->write = options[WRITE].value;
    s->has_mu = options[MU].value != NULL;
    if (s->has_mu && (!cli_parse_number(options[MU].value, &s->mu) || s->mu < 0)) {
        cli_complain("solve: --mu: '%s' is not a number from 0", options[MU].value);
        return false;
    }
    if (!cli_positive_option("solve", &options[TOLERANCE_OF], TOLERANCE, &s->settings.tolerance) ||
        !parse_whole(&options[ITERATIONS], 4e9, 0, &iterations) ||
        !parse_whole(&options[REPEAT], 1e6, 1, &repeat) ||
        !parse_friction(s, options[FRICTION].value) || !parse_format(s, options[FORMAT].value) ||
        !parse_solvers(s, options[SOLVER].value ? options[SOLVER].value : "auto"))
        return false;
    s->settings.iteration_limit = (uint32_t)iterations;
    s->repeat = (long)repeat;
    return true;
}

/* ---- one problem ---- */

/* The file's problem with the friction that was asked for. Its coefficients are the caller's to
 * free. */
static rg_status change_friction(const solving *s, rg_problem *problem, double **mu) {
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
static bool is_unchanged(const solving *s, const rg_problem *problem, const rg_problem *original) {
    return problem->kind != RG_PROBLEM_CONTACT ||
           (!s->has_mu && problem->contact.directions == original->contact.directions);
}

static void print_seconds(double seconds) {
    double ms = 1e3 * seconds;
    printf("  %*.*f ms", 12, ms < 10 ? 4 : ms < 1000 ? 2 : 0, ms);
}

static void print_head(const char *path, const rg_problem_file_info *info,
                       const rg_problem *problem) {
    const rg_contact_problem *p = &problem->contact;
    printf("%s: %s", path, rg_problem_format_name(info->format));
    if (problem->kind == RG_PROBLEM_LINEAR) {
        printf(", %zu rows", problem->linear.size);
    } else {
        printf(", %dD, %zu contacts", p->dimension, p->contacts);
        if (p->joints)
            printf(", %zu joint rows", p->joints);
        if (info->freedom)
            printf(", %zu degrees of freedom%s", info->freedom,
                   info->condensed ? " (eliminated)" : "");
        if (!p->mu)
            printf(", no friction");
        else if (p->directions)
            printf(", polygon of %d corners", p->directions);
    }
    if (info->title[0])
        printf("; %.*s", (int)strcspn(info->title, "\r\n"), info->title);
    printf("\n");
}

static void print_table_head(void) {
    printf("  %-15s %-13s %10s %12s  %15s\n", "solver", "status", "residual", "iterations", "time");
}

static void print_reference(const rg_problem_file_info *info, double judged) {
    printf("  %-15s %-13s %10.2e", "(in the file)", "known", judged);
    if (info->reference_residual >= 0)
        printf("   said to be %.2e", info->reference_residual);
    printf("\n");
}

static void print_row(const rg_solver *solver, const rg_solve_info *info) {
    printf("  %-15s %-13s", rg_solver_name(solver), rg_solve_outcome_name(info->outcome));
    if (info->outcome == RG_SOLVE_UNSUITABLE) {
        printf("\n");
        return;
    }
    printf(" %10.2e %12llu", info->residual.natural, (unsigned long long)info->iterations);
    print_seconds(info->seconds);
    if (info->attempts > 1 && info->solver)
        printf("  by %s, attempt %u", rg_solver_name(info->solver), info->attempts);
    printf("\n");
    if (info->text[0])
        printf("    %s\n", info->text);
}

static void json_number(const char *key, double value) {
    printf(", \"%s\": ", key);
    cli_print_json_number(value);
}

static void json_head(const char *path, const rg_problem_file_info *info,
                      const rg_problem *problem) {
    const rg_contact_problem *p = &problem->contact;
    bool linear = problem->kind == RG_PROBLEM_LINEAR;
    printf("{\"file\": ");
    cli_print_json_text(path);
    printf(", \"format\": \"%s\", \"kind\": \"%s\", \"rows\": %zu",
           rg_problem_format_name(info->format), linear ? "linear" : "contact",
           rg_problem_rows(problem));
    if (!linear)
        printf(", \"dimension\": %d, \"contacts\": %zu, \"joints\": %zu, \"form\": \"%s\", "
               "\"condensed\": %s, \"freedom\": %zu, \"friction\": %s, \"directions\": %d",
               p->dimension, p->contacts, p->joints, p->form == RG_FORM_LOCAL ? "local" : "global",
               info->condensed ? "true" : "false", info->freedom, p->mu ? "true" : "false",
               p->directions);
    json_number("scale", rg_problem_scale(problem));
    if (info->title[0]) {
        printf(", \"title\": ");
        cli_print_json_text(info->title);
    }
}

static void json_attempts(const rg_solve_info *info) {
    printf(", \"attempts\": [");
    for (uint32_t i = 0; i < info->attempts && i < RG_SOLVE_CHAIN_MAX; i++) {
        const rg_solve_attempt *a = &info->chain[i];
        printf("%s{\"solver\": \"%s\", \"status\": \"%s\", \"iterations\": %llu", i ? ", " : "",
               a->solver ? rg_solver_name(a->solver) : "", rg_solve_outcome_name(a->outcome),
               (unsigned long long)a->iterations);
        json_number("residual", a->residual);
        json_number("seconds", a->seconds);
        printf("}");
    }
    printf("]");
}

static void json_row(const rg_solver *solver, const rg_solve_info *info, bool first) {
    printf("%s{\"solver\": \"%s\", \"status\": \"%s\"", first ? "" : ", ", rg_solver_name(solver),
           rg_solve_outcome_name(info->outcome));
    json_number("residual", info->residual.natural);
    json_number("feasibility", info->residual.feasibility);
    json_number("force", info->residual.force);
    json_number("complementarity", info->residual.complementarity);
    json_number("dissipation", info->residual.dissipation);
    printf(", \"worst\": %zu, \"iterations\": %llu, \"factorisations\": %llu", info->residual.worst,
           (unsigned long long)info->iterations, (unsigned long long)info->factorisations);
    json_number("seconds", info->seconds);
    json_attempts(info);
    printf(", \"text\": ");
    cli_print_json_text(info->text);
    printf("}");
}

/* Solves by one solver, as often as asked for; keeps the shortest time. */
static rg_status solve_by(solving *s, const rg_solver *solver, const rg_problem *problem,
                          rg_solution *solution, rg_solve_info *info, rg_error *error) {
    double shortest = INFINITY;
    rg_status status = RG_OK;
    for (long i = 0; i < s->repeat && status == RG_OK; i++) {
        memset(solution->force, 0, rg_problem_rows(problem) * sizeof *solution->force);
        status = rg_solve(s->context, solver, problem, &s->settings, solution, info, error);
        shortest = fmin(shortest, info->seconds);
    }
    info->seconds = shortest;
    return status;
}

static void remember(solving *s, int code) {
    if (code > s->code)
        s->code = code;
}

/* True if one of the solvers solved it. */
static bool solve_by_all(solving *s, const char *path, const rg_problem *problem,
                         rg_solution *solution) {
    bool solved = false;
    for (size_t i = 0; i < s->solver_count; i++) {
        rg_solve_info info = {0};
        rg_error error = {0};
        rg_status status = solve_by(s, s->solvers[i], problem, solution, &info, &error);
        if (status != RG_OK) {
            cli_complain("%s: %s: %s", path, rg_solver_name(s->solvers[i]), error.text);
            remember(s, cli_exit_code(status));
            info.outcome = RG_SOLVE_STALLED;
            info.residual.natural = INFINITY;
            snprintf(info.text, sizeof info.text, "%.250s", error.text);
        }
        s->json ? json_row(s->solvers[i], &info, i == 0) : print_row(s->solvers[i], &info);
        fflush(stdout);
        solved = solved || info.outcome == RG_SOLVED;
    }
    return solved;
}

static rg_status write_problem(const solving *s, const rg_problem *problem,
                               const rg_problem_file_info *info, rg_error *error) {
    rg_problem_text text = {info->title, info->remark, NULL};
    return s->write ? rg_problem_write_fclib(s->write, problem, &text, NULL, error) : RG_OK;
}

/* Shows the problem, writes it if asked to, solves it. */
static rg_status solve_problem(solving *s, const char *path, const rg_problem_file *file,
                               const rg_problem *problem, double *forces, rg_error *error) {
    rg_problem_file_info info = rg_problem_file_get_info(file);
    rg_status status = write_problem(s, problem, &info, error);
    if (status != RG_OK)
        return status;
    s->json ? json_head(path, &info, problem) : print_head(path, &info, problem);
    if (info.reference && is_unchanged(s, problem, rg_problem_file_get(file))) {
        rg_residual judged;
        status = rg_judge(problem, info.reference, NULL, NULL, &judged, error);
        if (status != RG_OK)
            return status;
        if (s->json) {
            json_number("known_residual", judged.natural);
            if (info.reference_residual >= 0)
                json_number("stated_residual", info.reference_residual);
        }
        if (!s->json && s->solver_count)
            print_table_head();
        if (!s->json)
            print_reference(&info, judged.natural);
    } else if (!s->json && s->solver_count) {
        print_table_head();
    }
    rg_solution solution = {.force = forces};
    if (s->json)
        printf(", \"results\": [");
    bool solved = solve_by_all(s, path, problem, &solution);
    if (s->json)
        printf("]}\n");
    if (s->solver_count)
        solved ? s->solved++ : s->unsolved++;
    if (s->solver_count && !solved)
        remember(s, EXIT_FAILED);
    return RG_OK;
}

static void solve_file(solving *s, const char *path) {
    rg_error error = {0};
    rg_problem_file *file = NULL;
    rg_status status = rg_problem_file_read(path, s->format, NULL, &file, &error);
    if (status != RG_OK) {
        cli_complain("%s", error.text);
        s->unread++;
        remember(s, cli_exit_code(status));
        return;
    }
    rg_problem problem = *rg_problem_file_get(file);
    size_t rows = rg_problem_rows(&problem);
    double *mu = NULL, *forces = calloc(rows ? rows : 1, sizeof *forces);
    status = forces ? change_friction(s, &problem, &mu) : RG_OUT_OF_MEMORY;
    if (status != RG_OK)
        snprintf(error.text, sizeof error.text, "%s: %s", path, rg_status_text(status));
    else
        status = solve_problem(s, path, file, &problem, forces, &error);
    if (status != RG_OK) {
        cli_complain("%s", error.text);
        s->unsolved++;
        remember(s, cli_exit_code(status));
    }
    free(forces);
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

static void solve_directory(solving *s, DIR *directory, const char *path) {
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

static void solve_argument(solving *s, const char *path) {
    DIR *directory = opendir(path);
    if (!directory) {
        solve_file(s, path);
        return;
    }
    solve_directory(s, directory, path);
    closedir(directory);
}

static void print_end(const solving *s) {
    if (s->json) {
        printf("{\"solved\": %zu, \"unsolved\": %zu, \"unreadable\": %zu", s->solved, s->unsolved,
               s->unread);
        json_number("tolerance", s->settings.tolerance);
        printf("}\n");
    } else if (s->solver_count && s->solved + s->unsolved + s->unread > 1) {
        printf("%zu solved to %.0e, %zu not solved", s->solved, s->settings.tolerance, s->unsolved);
        if (s->unread)
            printf(", %zu cannot be used", s->unread);
        printf("\n");
    }
}

int cli_solve(int count, const char **arguments) {
    cli_option options[OPTIONS] = {[SOLVER] = {"solver", 's', true, NULL},
                                   [TOLERANCE_OF] = {"tolerance", 0, true, NULL},
                                   [FRICTION] = {"friction", 0, true, NULL},
                                   [MU] = {"mu", 0, true, NULL},
                                   [ITERATIONS] = {"iterations", 0, true, NULL},
                                   [REPEAT] = {"repeat", 0, true, NULL},
                                   [FORMAT] = {"format", 0, true, NULL},
                                   [WRITE] = {"write", 0, true, NULL},
                                   [JSON] = {"json", 0, false, NULL},
                                   [HELP] = {"help", 'h', false, NULL}};
    solving s = {0};
    if (!cli_parse_options("solve", options, OPTIONS, arguments, &count))
        return EXIT_USAGE;
    if (options[HELP].value) {
        fputs(cli_solve_help, stdout);
        return cli_flush();
    }
    if (!parse(&s, options))
        return EXIT_USAGE;
    if (count == 0 || (s.write && (count > 1 || !is_file(arguments[0])))) {
        cli_complain(count == 0 ? "solve: which FILE? see `rigor solve --help`"
                                : "solve: --write takes one problem: give one FILE");
        return EXIT_USAGE;
    }
    signal(SIGXFSZ, SIG_IGN); /* a limit on sizes makes a write fail, it does not kill */
    if (rg_solve_context_create(NULL, &s.context) != RG_OK) {
        cli_complain("solve: no memory");
        return EXIT_FAILED;
    }
    for (int i = 0; i < count; i++)
        solve_argument(&s, arguments[i]);
    print_end(&s);
    rg_solve_context_destroy(s.context);
    int flushed = cli_flush();
    return s.code > flushed ? s.code : flushed;
}
