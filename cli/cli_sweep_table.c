/* The table of a sweep: a line per run in the order of the runs, written from the journals. Nothing
 * in it depends on who made which run when; times are in a file of their own. */
#include "cli_sweep.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COLUMNS = 1024, NAME = 128, PARAMETERS = 256 };

typedef struct columns {
    char (*names)[NAME];
    size_t count;
} columns;

/* Cuts the first field of a line off: up to the next tab. */
static char *next_field(char **at) {
    char *field = *at;
    if (!field)
        return NULL;
    char *tab = strchr(field, '\t');
    *at = tab ? tab + 1 : NULL;
    if (tab)
        *tab = '\0';
    return field;
}

static const cli_journal *find(const cli_journal *journals, size_t count, uint64_t run) {
    for (size_t i = 0; i < count; i++)
        if (journals[i].offsets[run] >= 0)
            return &journals[i];
    return NULL;
}

/* Index of a column; a new one if `grow`. COLUMNS: there is none. `hint`: where it is likely. */
static size_t column_of(columns *c, const char *name, bool grow, size_t hint) {
    if (hint < c->count && strcmp(c->names[hint], name) == 0)
        return hint;
    for (size_t i = 0; i < c->count; i++)
        if (strcmp(c->names[i], name) == 0)
            return i;
    if (!grow || c->count == COLUMNS)
        return COLUMNS;
    snprintf(c->names[c->count], NAME, "%s", name);
    return c->count++;
}

/* A field of CSV: in quotes if it has to be. */
static void print_cell(FILE *out, const char *text) {
    if (!strpbrk(text, ",\"\n")) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text; text++)
        fprintf(out, *text == '"' ? "\"\"" : "%c", *text);
    fputc('"', out);
}

static void print_head(FILE *out, const rg_study_info *info, const columns *c) {
    fputs("run", out);
    for (size_t i = 0; i < info->parameter_count; i++)
        fputc(',', out), print_cell(out, info->names[i]);
    fputs(",status,cause", out);
    for (size_t i = 0; i < c->count; i++)
        fputc(',', out), print_cell(out, c->names[i]);
    fputc('\n', out);
}

static void print_row(FILE *out, rg_study *study, uint64_t run, char *line, columns *c) {
    rg_study_info info = rg_study_get_info(study);
    rg_scene_parameter parameters[PARAMETERS];
    const char *values[COLUMNS] = {0};
    rg_study_parameters(study, run, parameters);
    (void)next_field(&line);
    const char *status = next_field(&line), *cause = next_field(&line);
    (void)next_field(&line); /* seconds */
    size_t hint = 0;
    for (char *field = next_field(&line); field; field = next_field(&line), hint++) {
        char *equals = strchr(field, '=');
        if (!equals)
            continue;
        *equals = '\0';
        size_t k = column_of(c, field, false, hint);
        if (k < COLUMNS)
            values[k] = equals + 1;
    }
    fprintf(out, "%" PRIu64, run);
    for (size_t i = 0; i < info.parameter_count; i++)
        fputc(',', out), print_cell(out, parameters[i].value);
    fprintf(out, ",%s,", status ? status : "");
    print_cell(out, cause ? cause : "");
    for (size_t i = 0; i < c->count; i++) {
        fputc(',', out);
        print_cell(out, values[i] ? values[i] : "");
    }
    fputc('\n', out);
}

static void gather(char *line, columns *c) {
    for (int i = 0; i < 4; i++)
        (void)next_field(&line);
    size_t hint = 0;
    for (char *field = next_field(&line); field; field = next_field(&line), hint++) {
        char *equals = strchr(field, '=');
        if (equals) {
            *equals = '\0';
            column_of(c, field, true, hint);
        }
    }
}

static bool write_rows(FILE *out, FILE *times, rg_study *study, const cli_journal *journals,
                       size_t count, columns *c) {
    rg_study_info info = rg_study_get_info(study);
    char *line = malloc(CLI_SWEEP_LINE);
    bool good = line != NULL;
    for (int pass = 0; pass < 2 && good; pass++) {
        if (pass == 1)
            print_head(out, &info, c), fputs("run,seconds\n", times);
        for (uint64_t run = 0; run < info.runs && good; run++) {
            good = cli_journal_line(find(journals, count, run), run, line);
            if (good && pass == 0) {
                gather(line, c);
            } else if (good) {
                char *at = line;
                for (int i = 0; at && i < 3; i++)
                    at = strchr(at + (i > 0), '\t');
                fprintf(times, "%" PRIu64 ",%.*s\n", run, at ? (int)strcspn(at + 1, "\t") : 0,
                        at ? at + 1 : "");
                print_row(out, study, run, line, c);
            }
        }
    }
    free(line);
    return good && fflush(out) == 0 && fflush(times) == 0 && !ferror(out) && !ferror(times);
}

/* Into files of other names, which then get the right ones: a table is whole or not there. */
int cli_sweep_table(rg_study *study, const cli_journal *journals, size_t count, const char *path) {
    char part[4200], times_path[4200], times_part[4300];
    columns c = {malloc(COLUMNS * sizeof *c.names), 0};
    snprintf(part, sizeof part, "%s.part", path);
    snprintf(times_path, sizeof times_path, "%s.times", path);
    snprintf(times_part, sizeof times_part, "%s.part", times_path);
    FILE *out = fopen(part, "w"), *times = fopen(times_part, "w");
    bool good = c.names && out && times && write_rows(out, times, study, journals, count, &c);
    int cause = errno;
    if (out)
        good &= fsync(fileno(out)) == 0 && fclose(out) == 0;
    if (times)
        good &= fclose(times) == 0;
    good = good && rename(times_part, times_path) == 0 && rename(part, path) == 0;
    free(c.names);
    if (good)
        return EXIT_GOOD;
    cli_complain("sweep: %s: %s", path, strerror(cause ? cause : errno));
    remove(part), remove(times_part);
    return EXIT_UNWRITABLE;
}
