/* The plot of `rigor converge`: a script for gnuplot. How it fails: it says so where no
 * figure is above zero. */
#include "cli_converge.h"
#include "cli_gnuplot.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* One line of points; nothing where there are none. */
static void write_points(const cli_study *this, const cli_study_series *series, bool infeasibility,
                         FILE *script) {
    for (size_t i = 0; i < this->step_count; i++) {
        const cli_study_row *row = &series->rows[i];
        double value = infeasibility ? row->infeasibility : row->difference;
        if (value > 0)
            fprintf(script, "%.17g %.17g\n", row->outcome.step, value);
    }
    fputs("e\n", script);
}

static size_t point_count(const cli_study *this, const cli_study_series *series,
                          bool infeasibility) {
    size_t count = 0;
    for (size_t i = 0; i < this->step_count; i++)
        count += (infeasibility ? series->rows[i].infeasibility : series->rows[i].difference) > 0;
    return count;
}

/* A line of slope `order` through the finest point of the last series. */
static bool guide_factor(const cli_study *this, bool infeasibility, double order, double *factor) {
    const cli_study_series *series = &this->series[this->gamma_count - 1];
    for (size_t i = this->step_count; i-- > 0;) {
        const cli_study_row *row = &series->rows[i];
        double value = infeasibility ? row->infeasibility : row->difference;
        if (value > 0) {
            *factor = value / pow(row->outcome.step, order);
            return true;
        }
    }
    return false;
}

static void write_curve_title(const cli_study *this, const cli_study_series *series,
                              const char *what, double order, FILE *script) {
    char title[128], shown[CLI_NUMBER_SIZE] = "none";
    if (!isnan(order))
        snprintf(shown, sizeof shown, "%.2f", order);
    if (this->gamma_count > 1)
        snprintf(title, sizeof title, "%s, gamma %g, order %s", what, series->gamma, shown);
    else
        snprintf(title, sizeof title, "%s, order %s", what, shown);
    cli_gnuplot_quote(script, title);
}

static bool write_script(const cli_study *this, FILE *script) {
    const char *separator = "plot ";
    double factor;
    fputs(
        "set terminal svg size 800,560 noenhanced background rgb 'white'\n"
        "set logscale xy\nset format xy '%g'\n"
        "set grid\nset key outside below height 1\nset xlabel 'step (s)'\nset ylabel 'error (m)'\n"
        "set title ",
        script);
    cli_gnuplot_quote(script, this->series[0].rows[0].outcome.scene);
    fputc('\n', script);
    for (int pass = 0; pass < 2; pass++)
        for (size_t g = 0; g < this->gamma_count; g++) {
            const cli_study_series *series = &this->series[g];
            if (!point_count(this, series, pass == 0))
                continue;
            fprintf(script, "%s'-' with linespoints pointtype %d title ", separator, pass ? 6 : 7);
            write_curve_title(this, series, pass ? "trajectory" : "infeasibility",
                              pass ? series->difference_order : series->infeasibility_order,
                              script);
            separator = ", ";
        }
    if (strcmp(separator, "plot ") == 0)
        return false;
    if (guide_factor(this, true, 2, &factor))
        fprintf(script, "%s%.17g*x**2 with lines dashtype 2 linecolor 'gray' title 'order 2'",
                separator, factor);
    if (guide_factor(this, false, 1, &factor))
        fprintf(script, "%s%.17g*x with lines dashtype 3 linecolor 'gray' title 'order 1'",
                separator, factor);
    fputc('\n', script);
    for (int pass = 0; pass < 2; pass++)
        for (size_t g = 0; g < this->gamma_count; g++)
            if (point_count(this, &this->series[g], pass == 0))
                write_points(this, &this->series[g], pass == 0, script);
    return true;
}

int cli_study_plot(const cli_study *this, int output) {
    FILE *script = tmpfile();
    if (!script) {
        cli_complain("converge: --plot: no temporary file: %s", strerror(errno));
        return EXIT_UNWRITABLE;
    }
    if (!write_script(this, script)) {
        fclose(script);
        cli_complain("converge: --plot: all figures are zero or not there: nothing to plot");
        return EXIT_GOOD;
    }
    int code = cli_gnuplot_draw("converge", script, output);
    fclose(script);
    return code;
}
