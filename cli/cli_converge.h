/* What `rigor converge` found, and its plot. */
#ifndef RIGOR_CLI_CONVERGE_H
#define RIGOR_CLI_CONVERGE_H

#include "cli_runner.h"

typedef enum cli_reference { CLI_SUCCESSIVE, CLI_FINEST, CLI_ANALYTIC } cli_reference;

typedef struct cli_study_row {
    cli_outcome outcome;
    double infeasibility, difference;             /* m; NaN: none */
    double infeasibility_order, difference_order; /* from the row above */
    double constant;                              /* 1/m: I / (v h)^2 */
    bool rounding, agrees; /* the infeasibility, the difference is no more than rounding */
} cli_study_row;

typedef struct cli_study_series {
    double gamma;                                 /* NaN: the scene's */
    cli_study_row *rows;                          /* from the coarsest to the finest step */
    double infeasibility_order, difference_order; /* finer half */
} cli_study_series;

typedef struct cli_study {
    cli_plan plan;
    bool json;
    const char *plot;
    cli_reference reference;
    cli_variant variant;
    double steps[CLI_LIST], gammas[CLI_LIST];
    size_t step_count, gamma_count, failed;
    cli_study_series *series;
    cli_outcome analytic;
    bool has_analytic;
} cli_study;

/* Draws to a descriptor of cli_gnuplot_open. Exit codes. */
int cli_study_plot(const cli_study *study, int output);

#endif
