/* Small arithmetic for scene files and functions of time: "0.75+0.5*i", "sin(2*t)". */
#ifndef RIGOR_BASE_EXPRESSION_H
#define RIGOR_BASE_EXPRESSION_H

#include "base/base_memory.h"
#include "rigor/status.h"
#include "rigor/types.h"

typedef struct rg_variable {
    const char *name;
    double value;
    bool loop; /* differs between the copies of a repeat */
} rg_variable;

enum { RG_EXPRESSION_DEPTH = 64 }; /* of nested parentheses, signs and powers */

/* The value of text[0 .. size). *used_loop (may be null) is set, and otherwise left alone, if a
 * loop variable was looked at. On failure the message starts with the column inside the text,
 * counted from 1, which is also error->column. The value is always finite. */
rg_status rg_expression_evaluate(const char *text, size_t size, const rg_variable *variables,
                                 size_t variable_count, double *value, bool *used_loop,
                                 rg_error *error);

/* The same of a text in which t is the only variable, with its rate of change per unit of t (null:
 * it is not asked for, and need not exist). */
rg_status rg_expression_of_time(const char *text, double time, double *value, double *rate,
                                rg_error *error);

/* The text, which must have been evaluated before, with numbers instead of variables other than t;
 * `by` instead of t, if it is not null; *uses: t stands in it. */
void rg_expression_resolve(const char *text, size_t size, const rg_variable *variables,
                           size_t variable_count, const char *by, rg_buffer *out, bool *uses);

/* Whether the word can name a variable: letters, digits and '_', no digit first, not the name of a
 * function. */
bool rg_expression_is_name(const char *word);

#endif
