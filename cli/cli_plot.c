/* `rigor plot`: columns of a table as curves, by gnuplot. */
#include "cli_gnuplot.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char cli_plot_help[] =
    "Usage: rigor plot TABLE --x NAME --y NAME[,NAME ...] [OPTION ...]\n"
    "\n"
    "Plots columns of a table (CSV with a line of names, such as those of `rigor sweep`,\n"
    "`rigor export` and `rigor compare --csv`) as an SVG file. Lines without a number in\n"
    "one of the columns are left out, with a note. Curves differ in marks and dashes, so\n"
    "that they can be told apart without colours.\n"
    "\n"
    "Options:\n"
    "      --x NAME         column along the axis\n"
    "      --y LIST         columns of the curves, separated by commas\n"
    "      --by NAME        a curve for each value of this column\n"
    "      --where N=V      only lines with the value V in column N\n"
    "      --log AXES       logarithmic axes: x, y or xy\n"
    "      --sum            add up lines with the same x, such as the points of a contact\n"
    "      --points         marks alone, without lines\n"
    "      --lines LIST     of these columns lines alone, such as of a closed form\n"
    "      --title TEXT     over the plot (default: the table)\n"
    "  -o, --out FILE       the plot (default: TABLE with .svg instead of its suffix)\n"
    "  -f, --overwrite      replace FILE if it exists\n"
    "  -h, --help           this text\n"
    "\n"
    "Exit codes: 0 done, 2 usage, 3 the table cannot be used, 4 output cannot be written,\n"
    "or gnuplot is missing.\n"
    "\n"
    "Examples:\n"
    "  rigor plot tip-or-slide.csv --x mu --y box.qy --by aspect --points\n"
    "  rigor plot contacts.csv --x time --y fx --by body_a --where body_b=box --sum\n"
    "  rigor plot runs.csv --x step_s --y max_penetration_m --by method --log xy\n";

enum { X, Y, BY, WHERE, LOG, POINTS, LINES, TITLE, OUT, SUM, OVERWRITE, HELP, OPTIONS };
enum { COLUMNS = 1024, CURVES = 64, LINE = 1 << 20, PATH_SIZE = 4096 };

typedef struct point {
    double x, y;
    size_t curve;
} point;

typedef struct plot {
    const cli_option *options;
    const char *table;
    size_t x, by, where, y[CURVES], y_count;
    const char *wanted; /* in column `where` */
    char *values[CURVES];
    size_t value_count; /* of column `by` */
    point *points;
    size_t count, capacity, left_out;
} plot;

/* ---- the table ---- */

/* With the names that there are, or the first of them. */
static void complain_of_column(const plot *p, const cli_option *option, const char *name,
                               char *const *cells, size_t count) {
    char list[600] = "";
    size_t length = 0;
    for (size_t i = 0; i < count && length < sizeof list; i++)
        length +=
            (size_t)snprintf(list + length, sizeof list - length, "%s%s", i ? ", " : "", cells[i]);
    cli_complain("plot: --%s: %s has no column '%s'; it has %s%s", option->name, p->table, name,
                 list, length < sizeof list ? "" : " ...");
}

static size_t find_column(const plot *p, const cli_option *option, const char *name,
                          char *const *cells, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(cells[i], name) == 0)
            return i;
    const char *nearest = cli_nearest(name, (const char *const *)cells, count);
    if (nearest)
        cli_complain("plot: --%s: %s has no column '%s'; did you mean %s?", option->name, p->table,
                     name, nearest);
    else
        complain_of_column(p, option, name, cells, count);
    return COLUMNS;
}

static bool find_columns(plot *p, char *const *cells, size_t count) {
    const cli_option *options = p->options;
    char word[256];
    p->x = find_column(p, &options[X], options[X].value, cells, count);
    p->by = p->where = COLUMNS;
    if (options[BY].value &&
        (p->by = find_column(p, &options[BY], options[BY].value, cells, count)) == COLUMNS)
        return false;
    if (options[WHERE].value) {
        const char *equals = strchr(options[WHERE].value, '=');
        if (!equals) {
            cli_complain("plot: --where: '%s' is not NAME=VALUE", options[WHERE].value);
            return false;
        }
        p->wanted = equals + 1;
        snprintf(word, sizeof word, "%.*s", (int)(equals - options[WHERE].value),
                 options[WHERE].value);
        if ((p->where = find_column(p, &options[WHERE], word, cells, count)) == COLUMNS)
            return false;
    }
    for (const char *at = options[Y].value; at && p->x < COLUMNS && p->y_count < CURVES;) {
        size_t length = strcspn(at, ",");
        snprintf(word, sizeof word, "%.*s", (int)length, at);
        at = at[length] == ',' ? at + length + 1 : NULL;
        size_t column = find_column(p, &options[Y], word, cells, count);
        if (column == COLUMNS)
            return false;
        p->y[p->y_count++] = column;
    }
    return p->x < COLUMNS;
}

/* Which value of column `by` this is; a new one if need be. CURVES: too many. */
static size_t value_of(plot *p, const char *text) {
    size_t k = 0;
    while (k < p->value_count && strcmp(p->values[k], text) != 0)
        k++;
    if (k == p->value_count && k * p->y_count < CURVES - p->y_count) {
        p->values[k] = strdup(text);
        p->value_count += p->values[k] != NULL;
    }
    return k < p->value_count ? k : CURVES;
}

static bool add_points(plot *p, char *const *cells, size_t count) {
    double x, y;
    size_t value = 0;
    if (p->where < count && strcmp(cells[p->where], p->wanted) != 0)
        return true;
    if (p->by < count && (value = value_of(p, cells[p->by])) == CURVES) {
        cli_complain("plot: --by: more than %d curves; choose some with --where", CURVES);
        return false;
    }
    for (size_t k = 0; k < p->y_count; k++) {
        if (p->x >= count || p->y[k] >= count || !cli_parse_number(cells[p->x], &x) ||
            !cli_parse_number(cells[p->y[k]], &y)) {
            p->left_out++;
            continue;
        }
        if (p->count == p->capacity) {
            size_t capacity = p->capacity ? 2 * p->capacity : 256;
            point *more = realloc(p->points, capacity * sizeof *more);
            if (!more) {
                cli_complain("plot: no memory for %zu points", capacity);
                return false;
            }
            p->points = more, p->capacity = capacity;
        }
        p->points[p->count++] = (point){x, y, value * p->y_count + k};
    }
    return true;
}

static int read_table(plot *p, char titles[CURVES][256]) {
    static char line[LINE];
    static char *cells[COLUMNS];
    if (cli_is_recording(p->table)) {
        cli_complain(
            "plot: %s is a recording; `rigor export %s --csv FILE.csv` makes a table of it",
            p->table, p->table);
        return EXIT_BAD_INPUT;
    }
    FILE *file = fopen(p->table, "r");
    if (!file) {
        cli_complain("plot: %s: %s", p->table, strerror(errno));
        return EXIT_BAD_INPUT;
    }
    bool good = fgets(line, sizeof line, file) != NULL;
    if (!good)
        cli_complain("plot: %s is empty", p->table);
    line[strcspn(line, "\r\n")] = '\0';
    good = good && find_columns(p, cells, cli_csv_cut(line, cells, COLUMNS));
    for (size_t k = 0; good && k < p->y_count; k++)
        snprintf(titles[k], 256, "%s", cells[p->y[k]]);
    while (good && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\r\n")] = '\0';
        if (line[0])
            good = add_points(p, cells, cli_csv_cut(line, cells, COLUMNS));
    }
    fclose(file);
    if (good && p->count == 0) {
        cli_complain("plot: %s has no numbers to plot there; check --x, --y and --where", p->table);
        good = false;
    }
    return good ? EXIT_GOOD : EXIT_BAD_INPUT;
}

/* ---- the script ---- */

static int compare_points(const void *a, const void *b) {
    const point *p = a, *q = b;
    if (p->curve != q->curve)
        return p->curve < q->curve ? -1 : 1;
    return p->x < q->x ? -1 : p->x > q->x ? 1 : p->y < q->y ? -1 : p->y > q->y;
}

/* Points of a curve with the same x become one; they are sorted. */
static void add_up(plot *p) {
    size_t kept = 0;
    for (size_t i = 0; i < p->count; i++) {
        const point *next = &p->points[i];
        if (kept > 0 && p->points[kept - 1].curve == next->curve &&
            p->points[kept - 1].x == next->x)
            p->points[kept - 1].y += next->y;
        else
            p->points[kept++] = *next;
    }
    p->count = kept;
}

static void write_head(const plot *p, const char *y_title, FILE *script) {
    const cli_option *options = p->options;
    fputs("set terminal svg size 800,560 noenhanced background rgb 'white'\n"
          "set grid\nset key outside below height 1\nset format xy '%g'\n",
          script);
    if (options[LOG].value)
        fprintf(script, "set logscale %s\n", options[LOG].value);
    fputs("set title ", script);
    cli_gnuplot_quote(script, options[TITLE].value ? options[TITLE].value : p->table);
    fputs("\nset xlabel ", script);
    cli_gnuplot_quote(script, options[X].value);
    fputs("\nset ylabel ", script);
    cli_gnuplot_quote(script, p->y_count == 1 ? y_title : "");
    fputc('\n', script);
}

/* Whether a name is in a list that is separated by commas. */
static bool is_listed(const char *list, const char *name) {
    size_t length = strlen(name);
    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\0'))
            return true;
    return false;
}

static void write_style(const plot *p, const char *column, size_t curve, FILE *script) {
    bool line = is_listed(p->options[LINES].value, column);
    fprintf(script, "%s '-' with %s ", curve ? "," : "plot",
            line                       ? "lines linewidth 2"
            : p->options[POINTS].value ? "points"
                                       : "linespoints");
    if (!line)
        fprintf(script, "pointtype %zu ", curve % 13 + 1);
    fprintf(script, "dashtype %zu title ", curve % 5 + 1);
}

static void write_script(const plot *p, char titles[CURVES][256], FILE *script) {
    size_t values = p->value_count ? p->value_count : 1, curve = 0;
    write_head(p, titles[0], script);
    for (size_t v = 0; v < values; v++)
        for (size_t k = 0; k < p->y_count; k++, curve++) {
            char title[600];
            if (p->value_count && p->y_count > 1)
                snprintf(title, sizeof title, "%.255s, %s = %s", titles[k], p->options[BY].value,
                         p->values[v]);
            else if (p->value_count)
                snprintf(title, sizeof title, "%s = %s", p->options[BY].value, p->values[v]);
            else
                snprintf(title, sizeof title, "%.255s", titles[k]);
            write_style(p, titles[k], curve, script);
            cli_gnuplot_quote(script, title);
        }
    fputc('\n', script);
    size_t at = 0;
    for (size_t c = 0; c < curve; c++) {
        for (; at < p->count && p->points[at].curve == c; at++)
            fprintf(script, "%.17g %.17g\n", p->points[at].x, p->points[at].y);
        fputs("e\n", script);
    }
}

static int draw(plot *p, char titles[CURVES][256], const char *path) {
    int output, code = cli_gnuplot_open("plot", path, &output);
    if (code != EXIT_GOOD)
        return code;
    FILE *script = tmpfile();
    if (!script) {
        cli_complain("plot: no temporary file: %s", strerror(errno));
        code = EXIT_UNWRITABLE;
    } else {
        qsort(p->points, p->count, sizeof *p->points, compare_points);
        if (p->options[SUM].value)
            add_up(p);
        write_script(p, titles, script);
        code = cli_gnuplot_draw("plot", script, output);
        fclose(script);
    }
    close(output);
    if (code != EXIT_GOOD)
        unlink(path);
    if (code == EXIT_GOOD && !p->options[OUT].value)
        fprintf(stderr, "rigor: wrote %s\n", path);
    if (code == EXIT_GOOD && p->left_out)
        fprintf(stderr, "rigor: note: %zu points have no numbers and are left out\n", p->left_out);
    return code;
}

int cli_plot(int count, const char **arguments) {
    cli_option options[OPTIONS] = {[X] = {"x", 0, true, NULL},
                                   [Y] = {"y", 0, true, NULL},
                                   [BY] = {"by", 0, true, NULL},
                                   [WHERE] = {"where", 0, true, NULL},
                                   [LOG] = {"log", 0, true, NULL},
                                   [POINTS] = {"points", 0, false, NULL},
                                   [LINES] = {"lines", 0, true, NULL},
                                   [TITLE] = {"title", 0, true, NULL},
                                   [OUT] = {"out", 'o', true, NULL},
                                   [SUM] = {"sum", 0, false, NULL},
                                   [OVERWRITE] = {"overwrite", 'f', false, NULL},
                                   [HELP] = {"help", 'h', false, NULL}};
    static char titles[CURVES][256];
    char path[PATH_SIZE];
    if (!cli_parse_options("plot", options, OPTIONS, arguments, &count))
        return EXIT_USAGE;
    if (options[HELP].value) {
        fputs(cli_plot_help, stdout);
        return cli_flush();
    }
    if (count != 1 || !options[X].value || !options[Y].value) {
        cli_complain("plot: needs one TABLE, --x and --y; see `rigor plot --help`");
        return EXIT_USAGE;
    }
    if (options[LOG].value && strcmp(options[LOG].value, "x") != 0 &&
        strcmp(options[LOG].value, "y") != 0 && strcmp(options[LOG].value, "xy") != 0) {
        cli_complain("plot: --log: '%s' is none of x, y and xy", options[LOG].value);
        return EXIT_USAGE;
    }
    plot p = {.options = options, .table = arguments[0]};
    const char *suffix = strrchr(p.table, '.'), *slash = strrchr(p.table, '/');
    size_t stem =
        suffix && (!slash || suffix > slash) ? (size_t)(suffix - p.table) : strlen(p.table);
    int length = options[OUT].value ? snprintf(path, PATH_SIZE, "%s", options[OUT].value)
                                    : snprintf(path, PATH_SIZE, "%.*s.svg", (int)stem, p.table);
    int code = length < PATH_SIZE ? read_table(&p, titles) : EXIT_USAGE;
    if (code == EXIT_GOOD && !cli_may_write("plot", path, &options[OVERWRITE]))
        code = EXIT_UNWRITABLE;
    if (code == EXIT_GOOD)
        code = draw(&p, titles, path);
    free(p.points);
    for (size_t i = 0; i < p.value_count; i++)
        free(p.values[i]);
    return code;
}
