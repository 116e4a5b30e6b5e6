/* How wide a line may be, and text in such lines. Wide tables are cut into several, one below the
 * other, or lose the columns that matter least; what is written into a file or a pipe has 80
 * columns, so that it does not depend on who looks. */
#define _DEFAULT_SOURCE /* TIOCGWINSZ */
#include "cli.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { FILE_COLUMNS = 80, LEAST_COLUMNS = 40, MOST_COLUMNS = 1000 };

int cli_columns(void) {
    const char *wanted = getenv("COLUMNS");
    struct winsize window;
    double number;
    int columns = FILE_COLUMNS;
    if (wanted && cli_parse_number(wanted, &number) && number >= 1 && number <= MOST_COLUMNS)
        columns = (int)number;
    else if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0)
        columns = window.ws_col;
    return columns < LEAST_COLUMNS  ? LEAST_COLUMNS
           : columns > MOST_COLUMNS ? MOST_COLUMNS
                                    : columns;
}

void cli_print_wrapped(const char *text, int at, int indent) {
    int columns = cli_columns();
    while (*text) {
        int length = (int)strcspn(text, " ");
        if (at > indent && at + 1 + length > columns) {
            printf("\n%*s", indent, "");
            at = indent;
        } else if (at > indent) {
            putchar(' ');
            at++;
        }
        at += printf("%.*s", length, text);
        text += length + (int)strspn(text + length, " ");
    }
    putchar('\n');
}
