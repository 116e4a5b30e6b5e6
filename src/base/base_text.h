/* Messages, and numbers as text, independent of the locale of the process. */
#ifndef RIGOR_BASE_TEXT_H
#define RIGOR_BASE_TEXT_H

#include "rigor/status.h"
#include "rigor/types.h"

#if defined(__GNUC__)
#define RG_PRINTF_LIKE(format_index, first) __attribute__((format(printf, format_index, first)))
#else
#define RG_PRINTF_LIKE(format_index, first)
#endif

/* Fills `error` (if not null) and returns `status`, for `return rg_fail(error, ...)`. */
RG_PRINTF_LIKE(3, 4)
rg_status rg_fail(rg_error *error, rg_status status, const char *format, ...);
/* The same with a place: the text becomes `file:line:column: message`. */
RG_PRINTF_LIKE(6, 7)
rg_status rg_fail_at(rg_error *error, rg_status status, const char *file, int line, int column,
                     const char *format, ...);

/* The api_version of a def, whose type is `def`: RG_VERSION_MISMATCH unless it is this library's. A
 * def that begins as {0} has none, and the message names the function to begin with. */
rg_status rg_check_version(int api_version, const char *def, rg_error *error);

/* The whole of text[0 .. size) as a decimal number ("1", "-2.5e-3", "inf", "nan"), correctly
 * rounded, '.' as the decimal point whatever the locale. False if it is not one. */
bool rg_parse_double(const char *text, size_t size, double *value);
enum { RG_NUMBER_SIZE = 32 };
/* The shortest decimal that reads back to the same bits; always with '.', "inf", "-inf", "nan". */
const char *rg_format_double(double value, char text[RG_NUMBER_SIZE]);

/* The candidate nearest to `word` by edit distance (transpositions count one), or null if none is
 * near enough to be a misspelling: distance > 1 + length / 3, or half of the letters or more. */
const char *rg_nearest_word(const char *word, const char *const *candidates, size_t count);

#endif
