/* Plots by gnuplot, of `rigor converge` and `rigor bench engines`. */
#ifndef RIGOR_CLI_GNUPLOT_H
#define RIGOR_CLI_GNUPLOT_H

#include "cli.h"

#include <stdio.h>

/* Opens the file of a plot before the runs, so that nobody waits for a plot that cannot be.
 * *output: its descriptor, or -1 for a null path. Exit codes. */
int cli_gnuplot_open(const char *command, const char *path, int *output);
/* Has gnuplot draw what the script says. */
int cli_gnuplot_draw(const char *command, FILE *script, int output);
/* Text in single quotes, as gnuplot has it. */
void cli_gnuplot_quote(FILE *script, const char *text);

#endif
