/* Lines of comma-separated values. Tested by tests/scripts/test_run_words.py. */
#include "cli.h"

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
        at = end == ',' ? at + 1 : NULL;
    }
    return count;
}
