/* Lines of comma-separated values. Tested by tests/scripts/test_run_words.py. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

size_t cli_csv_cut(char *line, char **cells, size_t most) {
    size_t count = 0;
    for (char *at = line; at && count < most; count++) {
        char *to = cells[count] = at;
        bool quoted = *at == '"';
        if (quoted)
            at++;
        while (*at && (quoted || *at != ',')) {
            if (quoted && *at == '"' && *++at != '"')
                quoted = false;
            else
                *to++ = *at++;
        }
        char end = *at;
        *to = '\0';
        if (cells[count][0] == '\'' && cells[count][1] && strchr("=+-@\t", cells[count][1]))
            cells[count]++;
        at = end == ',' ? at + 1 : NULL;
    }
    return count;
}

void cli_csv_print(FILE *file, const char *text) {
    size_t length = rg_text_csv(text, NULL, 0);
    char *cell = malloc(length + 1);
    if (!cell)
        return;
    rg_text_csv(text, cell, length + 1);
    fputs(cell, file);
    free(cell);
}
