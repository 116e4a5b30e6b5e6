/* `rigor solve`: solutions in files. A text that people, gnuplot and numpy.loadtxt read: lines that
 * begin with # say what it is, then a line per row with its force and its velocity (or
 * acceleration), to the last bit. */
#include "cli_solve.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char mark[] = "# rigor solution 1";

/* A name on one line. */
static void print_name(FILE *file, const char *key, const char *name) {
    fprintf(file, "# %s ", key);
    for (; *name; name++)
        fputc((unsigned char)*name < ' ' ? '?' : *name, file);
    fputc('\n', file);
}

bool cli_solution_write(const char *path, const char *problem, const char *name,
                        const rg_solve_info *info, const rg_solution *solution, size_t rows) {
    FILE *file = fopen(path, "w");
    char force[CLI_NUMBER_SIZE], velocity[CLI_NUMBER_SIZE];
    bool bad = !file;
    if (file) {
        fprintf(file, "%s\n", mark);
        print_name(file, "problem", problem);
        print_name(file, "solver", name);
        print_name(file, "status", rg_solve_outcome_name(info->outcome));
        print_name(file, "residual", cli_exact(info->residual.natural, force));
        fprintf(file, "# rows %zu\n# force velocity\n", rows);
        for (size_t i = 0; i < rows; i++)
            fprintf(file, "%s %s\n", cli_exact(solution->force[i], force),
                    cli_exact(solution->velocity[i], velocity));
        bad = ferror(file) != 0;
        bad = fclose(file) != 0 || bad;
    }
    if (bad)
        cli_complain("solve: --out: %s cannot be written: %s", path, strerror(errno));
    return !bad;
}

/* "force velocity" on a line; the velocity follows from the force. */
static bool read_line(const char *line, double *force) {
    char word[64];
    double velocity;
    size_t length = strcspn(line, " \t");
    if (length >= sizeof word || line[length] == '\0')
        return false;
    memcpy(word, line, length);
    word[length] = '\0';
    return cli_parse_number(word, force) && cli_parse_number(line + length + 1, &velocity);
}

static bool read_lines(FILE *file, const char *path, size_t rows, double *force) {
    char line[256];
    size_t number = 0, count = 0;
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\r\n")] = '\0';
        if (number++ == 0 && strcmp(line, mark) != 0)
            break;
        if (line[0] == '#')
            continue;
        double value;
        if (!read_line(line, &value)) {
            cli_complain("solve: --start: %s:%zu: a force and a velocity were expected", path,
                         number);
            return false;
        }
        if (count < rows)
            force[count] = value;
        count++;
    }
    if (number == 0 || (count == 0 && number == 1)) {
        cli_complain("solve: --start: %s is not a solution file: it does not begin with '%s'", path,
                     mark);
        return false;
    }
    if (count == rows)
        return true;
    cli_complain("solve: --start: %s has %zu rows; the problem has %zu", path, count, rows);
    return false;
}

bool cli_solution_read(const char *path, size_t rows, double *force) {
    FILE *file = fopen(path, "r");
    if (!file) {
        cli_complain("solve: --start: %s cannot be read: %s", path, strerror(errno));
        return false;
    }
    bool good = read_lines(file, path, rows, force);
    fclose(file);
    return good;
}

bool cli_rows_parse(const char *text, size_t rows, uint8_t *marks) {
    memset(marks, 0, rows);
    if (strcmp(text, "none") == 0)
        return true;
    for (const char *at = text;; at++) {
        char *end;
        unsigned long row = strtoul(at, &end, 10);
        if (end == at || *at < '0' || *at > '9' || row >= rows || (*end != ',' && *end != '\0')) {
            cli_complain("solve: --vanishing: '%s': give rows from 0 to %zu with commas, or none",
                         text, rows ? rows - 1 : 0);
            return false;
        }
        marks[row] = 1;
        at = end;
        if (*at == '\0')
            return true;
    }
}
