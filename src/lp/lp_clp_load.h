/* Clp, loaded when the first linear program is asked for.
 *
 * Clp brings BLAS with it, and OpenBLAS starts threads as soon as it is loaded: a program that
 * never solves a linear program would pay for them, and with little address space hang at its end.
 * Nothing is kept here: the system's loader counts who has the library open, and finding the
 * functions again costs microseconds. */
#ifndef RIGOR_LP_LP_CLP_LOAD_H
#define RIGOR_LP_LP_CLP_LOAD_H

#include "rigor/status.h"

#include <Clp_C_Interface.h>

#define RG_CLP_FUNCTIONS(X)                                                                        \
    X(newModel)                                                                                    \
    X(deleteModel)                                                                                 \
    X(setLogLevel)                                                                                 \
    X(setMaximumIterations)                                                                        \
    X(setPrimalTolerance)                                                                          \
    X(setDualTolerance)                                                                            \
    X(setColumnStatus)                                                                             \
    X(setRowStatus)                                                                                \
    X(loadProblem)                                                                                 \
    X(dual)                                                                                        \
    X(primal)                                                                                      \
    X(status)                                                                                      \
    X(numberIterations)                                                                            \
    X(objectiveValue)                                                                              \
    X(primalColumnSolution)                                                                        \
    X(dualRowSolution)                                                                             \
    X(getVectorStarts)                                                                             \
    X(getVectorLengths)                                                                            \
    X(getIndices)                                                                                  \
    X(getElements)                                                                                 \
    X(getColumnStatus)                                                                             \
    X(getRowStatus)                                                                                \
    X(infeasibilityRay)                                                                            \
    X(unboundedRay)                                                                                \
    X(freeRay)

/* Clp_newModel and so on, as members newModel and so on. */
typedef struct rg_clp {
#define RG_CLP_MEMBER(name) __typeof__(Clp_##name) *name;
    RG_CLP_FUNCTIONS(RG_CLP_MEMBER)
#undef RG_CLP_MEMBER
} rg_clp;

/* RG_UNSUPPORTED, with the loader's words, if there is no such library or it lacks a function. */
rg_status rg_clp_load(rg_clp *clp, rg_error *error);

#endif
