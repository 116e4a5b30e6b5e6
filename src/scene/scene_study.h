/* What the reader of studies and the drawing of their parameters share. */
#ifndef RIGOR_SCENE_STUDY_H
#define RIGOR_SCENE_STUDY_H

#include "base/base_memory.h"
#include "base/base_text.h"
#include "rigor/study.h"

/* How the values of a parameter come about. */
typedef enum rg_study_kind {
    RG_STUDY_LIST,  /* all of `texts`: a grid with the other lists */
    RG_STUDY_TABLE, /* a column of the table */
    RG_STUDY_UNIFORM,
    RG_STUDY_LOG_UNIFORM,
    RG_STUDY_NORMAL,
    RG_STUDY_WHOLE /* uniform among whole numbers, both ends included */
} rg_study_kind;

typedef enum rg_sampling {
    RG_SAMPLING_RANDOM,
    RG_SAMPLING_LATIN_HYPERCUBE,
    RG_SAMPLING_SOBOL
} rg_sampling;

typedef struct rg_study_parameter {
    rg_study_kind kind;
    char **texts; /* of a list */
    size_t count;
    double a, b;      /* of a distribution: its bounds, or mean and deviation */
    size_t dimension; /* of a distribution: which one it is of those that are drawn */
    size_t column;    /* of a table */
} rg_study_parameter;

/* A column of the table: the time at which the expression becomes positive, or its value at the
 * end. */
typedef struct rg_study_expression {
    char *name, *text;
    bool is_time;
} rg_study_expression;

enum {
    RG_SOBOL_DIMENSIONS = 10,
    RG_SOBOL_BITS = 32,
    RG_STUDY_NAME_SIZE = 64,
    RG_STUDY_VALUE_SIZE = 128,
    RG_STUDY_MEASURES = 64 /* of a scene, that columns may be made of */
};

struct rg_study {
    rg_allocator allocator;
    rg_study_info info;
    char **names;
    rg_study_parameter *parameters;
    size_t capacity, parameter_capacity;
    char **bodies;
    char *scene, *method, *solver, *impact, *stop_event;
    char *stop_when;
    rg_study_expression *expressions; /* times first, then columns */
    size_t expression_count, expression_capacity;
    char **cells; /* of the table, row by row */
    size_t row_count, column_count, cell_count, cell_capacity;
    uint64_t grid;        /* combinations of the lists */
    uint64_t draws, seed; /* random draws for each of them */
    rg_sampling sampling;
    size_t dimensions; /* that are drawn */
    uint32_t *strata;  /* Latin hypercube: permutations of 0 ... draws - 1, one per dimension */
    uint32_t sobol[RG_SOBOL_DIMENSIONS][RG_SOBOL_BITS];
    char (*values)[RG_NUMBER_SIZE]; /* of rg_study_parameters */
};

/* Makes ready what draws need, once their number is known. */
rg_status rg_study_prepare(rg_study *study);
/* A number in [0, 1) for one run and dimension. */
double rg_study_unit(const rg_study *study, uint64_t run, size_t dimension);
/* The value of a distribution there. */
double rg_study_value(const rg_study_parameter *parameter, double unit);
/* x with Phi(x) = p, the standard normal's; p in (0, 1). */
double rg_normal_quantile(double p);

#endif
