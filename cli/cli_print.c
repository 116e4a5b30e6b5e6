/* What the command prints, made visible.
 *
 * Names come from scenes, robots, recordings, problem files and folders that others have made. A
 * control character in one, such as the escape that begins a sequence of ECMA-48, would set the
 * title of the window, hide other lines or, in some terminals, type for the user. What goes into
 * files that the user named stays as it is. Tested by tests/scripts/test_run_terminal.py. */
#include "cli.h"

#include <stdlib.h>

/* Longer than nearly every line. */
enum { LINE = 1024 };

int cli_put(const char *text, FILE *file) {
    if (file != stdout && file != stderr)
        return (fputs)(text, file);
    char line[LINE], *visible = line;
    size_t length = rg_text_visible(text, line, sizeof line);
    if (length >= sizeof line) {
        visible = malloc(length + 1);
        if (!visible)
            return EOF;
        rg_text_visible(text, visible, length + 1);
    }
    int result = (fputs)(visible, file);
    if (visible != line)
        free(visible);
    return result;
}

int cli_print_list(FILE *file, const char *format, va_list values) {
    if (file != stdout && file != stderr)
        return vfprintf(file, format, values);
    char line[LINE], *text = line;
    va_list again;
    va_copy(again, values);
    int length = vsnprintf(line, sizeof line, format, values);
    if (length >= LINE) {
        text = malloc((size_t)length + 1);
        if (text)
            vsnprintf(text, (size_t)length + 1, format, again);
    }
    va_end(again);
    int result = text && length >= 0 && cli_put(text, file) >= 0 ? length : -1;
    if (text != line)
        free(text);
    return result;
}

int cli_print(FILE *file, const char *format, ...) {
    va_list values;
    va_start(values, format);
    int length = cli_print_list(file, format, values);
    va_end(values);
    return length;
}
