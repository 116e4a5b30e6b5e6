/* What the files of `rigor solve` share. */
#ifndef RIGOR_CLI_SOLVE_H
#define RIGOR_CLI_SOLVE_H

#include "cli.h"

#include "rigor/problem_file.h"
#include "rigor/solver.h"

enum { CLI_MOST_SOLVERS = 32 };

typedef struct cli_solving {
    const rg_solver *solvers[CLI_MOST_SOLVERS];
    size_t solver_count; /* 0: none */
    rg_solve_settings settings;
    rg_problem_format format;
    bool has_mu;
    double mu;
    int directions; /* -1: as the file has it */
    long repeat;
    const char *write;     /* the problem goes there */
    const char *out;       /* the solution goes there */
    const char *start;     /* forces to start from come from there */
    const char *vanishing; /* rows of contacts that break, given; null: not given */
    bool json;
    rg_solve_context *context;
    size_t solved, unsolved, unread;
    int code; /* the exit code so far */
} cli_solving;

/* ---- cli_solve_print.c ---- */

void cli_solve_print_head(const char *path, const rg_problem_file_info *info,
                          const rg_problem *problem);
void cli_solve_print_table_head(void);
void cli_solve_print_reference(const rg_problem_file_info *info, double judged);
void cli_solve_print_row(const char *name, const rg_solve_info *info);
void cli_solve_json_head(const char *path, const rg_problem_file_info *info,
                         const rg_problem *problem);
void cli_solve_json_row(const char *name, const rg_solve_info *info, bool first);
/* A member of an object, after another. */
void cli_solve_json_number(const char *key, double value);
void cli_solve_print_end(const cli_solving *s);

/* ---- cli_solve_solution.c: solutions in files (docs/problem-files.md) ---- */

/* `name`: of the solver. False, after a complaint, if it cannot be written. */
bool cli_solution_write(const char *path, const char *problem, const char *name,
                        const rg_solve_info *info, const rg_solution *solution, size_t rows);
/* The forces of such a file; false, after a complaint, if it is none or has another number of
 * rows. */
bool cli_solution_read(const char *path, size_t rows, double *force);
/* "1,4,7", or "none": marks those of the rows; false, after a complaint, if one is none of them. */
bool cli_rows_parse(const char *text, size_t rows, uint8_t *marks);

#endif
