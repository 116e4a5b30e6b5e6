/* Text from files, names above all, on its way to people. */
#ifndef RIGOR_TEXT_H
#define RIGOR_TEXT_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The text as it may be shown on a terminal: UTF-8 without control characters (C0 and C1, DEL), by
 * which a name could set the title of the window or hide what was printed. Each of their bytes, and
 * each byte that is not UTF-8, becomes a backslash, an x and two hexadecimal digits; line breaks
 * and tabs stay. As snprintf: at most `capacity` bytes are written, the last of them 0, and the
 * length of the whole is returned. Messages in an rg_error are such texts. */
size_t rg_text_visible(const char *text, char *out, size_t capacity);
/* The text as a cell of comma-separated values (RFC 4180): visible as above, in quotes if it must
 * be, and behind an apostrophe if a spreadsheet would take it for a formula, that is, if it begins
 * with = + - @ or a tab and is not a number. */
size_t rg_text_csv(const char *text, char *out, size_t capacity);

#ifdef __cplusplus
}
#endif
#endif
