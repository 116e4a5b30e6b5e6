/* The table of a sweep, CSV and HDF5: a row per run in their order, written from the journals.
 * Nothing in it depends on who made which run when; times are in a file of their own. */
#include "cli_sweep.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COLUMNS = 1024, NAME = 128, PARAMETERS = 256 };

/* The run, its parameters, status and cause, then what runs have found, as it first comes up. */
typedef struct columns {
    char (*names)[NAME];
    bool *is_text; /* a cell is neither empty nor a number */
    size_t *widths;
    size_t count;
    const char **cells; /* of one row */
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

static void print_row(FILE *out, const columns *c) {
    for (size_t i = 0; i < c->count; i++) {
        if (i > 0)
            fputc(',', out);
        cli_csv_print(out, c->cells[i] ? c->cells[i] : "");
    }
    fputc('\n', out);
}

/* Cuts the line of a run into the cells of its row; new columns if `grow`. Seconds are apart. */
static void fill_row(rg_study *study, uint64_t run, char *line, columns *c, bool grow) {
    static rg_scene_parameter parameters[PARAMETERS];
    rg_study_info info = rg_study_get_info(study);
    memset(c->cells, 0, COLUMNS * sizeof *c->cells);
    rg_study_parameters(study, run, parameters);
    c->cells[0] = next_field(&line);
    for (size_t i = 0; i < info.parameter_count; i++)
        c->cells[1 + i] = parameters[i].value;
    size_t hint = 1 + info.parameter_count;
    c->cells[hint++] = next_field(&line);
    c->cells[hint++] = next_field(&line);
    (void)next_field(&line); /* seconds */
    for (char *field = next_field(&line); field; field = next_field(&line), hint++) {
        char *equals = strchr(field, '=');
        if (!equals)
            continue;
        *equals = '\0';
        size_t k = column_of(c, field, grow, hint);
        if (k < COLUMNS)
            c->cells[k] = equals + 1;
    }
}

/* What HDF5 has to know of the columns. */
static void measure_row(columns *c) {
    for (size_t i = 0; i < c->count; i++) {
        double number;
        size_t length = c->cells[i] ? strlen(c->cells[i]) : 0;
        c->widths[i] = length > c->widths[i] ? length : c->widths[i];
        c->is_text[i] |= length > 0 && !cli_parse_number(c->cells[i], &number);
    }
}

static void begin_columns(columns *c, const rg_study_info *info) {
    const char *const last[] = {"status", "cause"};
    snprintf(c->names[c->count++], NAME, "run");
    for (size_t i = 0; i < info->parameter_count; i++)
        snprintf(c->names[c->count++], NAME, "%s", info->names[i]);
    for (size_t i = 0; i < 2; i++) {
        c->is_text[c->count] = true;
        snprintf(c->names[c->count++], NAME, "%s", last[i]);
    }
}

static void print_seconds(FILE *times, uint64_t run, const char *line) {
    const char *at = line;
    for (int i = 0; at && i < 3; i++)
        at = strchr(at + (i > 0), '\t');
    fprintf(times, "%" PRIu64 ",%.*s\n", run, at ? (int)strcspn(at + 1, "\t") : 0,
            at ? at + 1 : "");
}

static rg_table_file *create_table(const char *path, const columns *c, uint64_t runs,
                                   rg_error *error) {
    rg_table_column *given = calloc(c->count, sizeof *given);
    rg_table_file *table = NULL;
    for (size_t i = 0; given && i < c->count; i++)
        given[i] = (rg_table_column){c->names[i],
                                     i == 0 ? RG_COLUMN_WHOLE
                                     : c->is_text[i] || strcmp(c->names[i], "state_hash") == 0
                                         ? RG_COLUMN_TEXT
                                         : RG_COLUMN_NUMBER,
                                     c->widths[i]};
    rg_table_def def = {"runs", given, c->count, (size_t)runs, NULL};
    if (given)
        rg_table_file_create(path, &def, &table, error);
    free(given);
    return table;
}

typedef struct outputs {
    FILE *csv, *times;
    char hdf5[4300]; /* its name while it is written */
    char *line;
} outputs;

static bool write_rows(outputs *o, rg_study *study, const cli_journal *journals, size_t count,
                       columns *c) {
    uint64_t runs = rg_study_get_info(study).runs;
    rg_error error = {0};
    bool good = true;
    for (uint64_t run = 0; run < runs && good; run++) {
        good = cli_journal_line(find(journals, count, run), run, o->line);
        if (good)
            fill_row(study, run, o->line, c, true), measure_row(c);
    }
    rg_table_file *table = good ? create_table(o->hdf5, c, runs, &error) : NULL;
    for (size_t i = 0; i < c->count; i++)
        c->cells[i] = c->names[i];
    print_row(o->csv, c), fputs("run,seconds,processor_s,steps_s\n", o->times);
    for (uint64_t run = 0; run < runs && table && good; run++) {
        good = cli_journal_line(find(journals, count, run), run, o->line);
        if (!good)
            break;
        print_seconds(o->times, run, o->line);
        fill_row(study, run, o->line, c, false);
        print_row(o->csv, c);
        good = rg_table_file_add_row(table, c->cells, &error) == RG_OK;
    }
    good &= table && rg_table_file_close(table, good ? &error : NULL) == RG_OK;
    if (!good && error.text[0])
        cli_complain("sweep: %s", error.text);
    return good && fflush(o->csv) == 0 && fflush(o->times) == 0 && !ferror(o->csv) &&
           !ferror(o->times);
}

void cli_sweep_hdf5_path(const char *path, char hdf5[4200]) {
    size_t length = strlen(path);
    bool csv = length > 4 && strcmp(path + length - 4, ".csv") == 0;
    snprintf(hdf5, 4200, "%.*s.h5", (int)(csv ? length - 4 : length), path);
}

static columns allocate_columns(void) {
    return (columns){malloc(COLUMNS * NAME), calloc(COLUMNS, sizeof(bool)),
                     calloc(COLUMNS, sizeof(size_t)), 0, calloc(COLUMNS, sizeof(char *))};
}

/* Into files of other names, which then get the right ones: a table is whole or not there. */
int cli_sweep_table(rg_study *study, const cli_journal *journals, size_t count, const char *path) {
    char part[4200], times[4200], times_part[4300], hdf5[4200];
    columns c = allocate_columns();
    outputs o = {.line = malloc(CLI_SWEEP_LINE)};
    rg_study_info info = rg_study_get_info(study);
    snprintf(part, sizeof part, "%s.part", path);
    snprintf(times, sizeof times, "%s.times", path);
    snprintf(times_part, sizeof times_part, "%s.part", times);
    cli_sweep_hdf5_path(path, hdf5);
    snprintf(o.hdf5, sizeof o.hdf5, "%s.part", hdf5);
    o.csv = fopen(part, "w"), o.times = fopen(times_part, "w");
    bool good = c.names && c.is_text && c.widths && c.cells && o.line && o.csv && o.times;
    if (good) {
        begin_columns(&c, &info);
        good = write_rows(&o, study, journals, count, &c);
    }
    int cause = errno;
    if (o.csv)
        good &= fsync(fileno(o.csv)) == 0 && fclose(o.csv) == 0;
    if (o.times)
        good &= fclose(o.times) == 0;
    good = good && rename(times_part, times) == 0 && rename(o.hdf5, hdf5) == 0 &&
           rename(part, path) == 0;
    free(c.names), free(c.is_text), free(c.widths), free(c.cells), free(o.line);
    if (good)
        return EXIT_GOOD;
    cli_complain("sweep: %s: %s", path, strerror(cause ? cause : errno));
    remove(part), remove(times_part), remove(o.hdf5);
    return EXIT_UNWRITABLE;
}
