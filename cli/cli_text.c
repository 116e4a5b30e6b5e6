/* Messages, numbers and words of the command. */
#include "cli.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

void cli_complain(const char *format, ...) {
    va_list values;
    va_start(values, format);
    fputs("rigor: ", stderr);
    cli_print_list(stderr, format, values);
    fputc('\n', stderr);
    va_end(values);
}

int cli_exit_code(rg_status status) {
    switch (status) {
    case RG_OK:
        return EXIT_GOOD;
    case RG_WRITE_FAILED:
        return EXIT_UNWRITABLE;
    case RG_OUT_OF_MEMORY:
    case RG_THREAD_FAILED:
    case RG_STEP_TOO_SMALL:
    case RG_ITERATION_LIMIT:
    case RG_SINGULAR:
    case RG_BUSY:
    case RG_INTERRUPTED:
        return EXIT_FAILED;
    default:
        return EXIT_BAD_INPUT;
    }
}

int cli_flush(void) {
    if (fflush(stdout) == 0 && !ferror(stdout))
        return EXIT_GOOD;
    cli_complain("standard output: cannot be written: %s", strerror(errno));
    return EXIT_UNWRITABLE;
}

/* Edit distance with transpositions of neighbours (optimal string alignment); words longer than the
 * table are far from everything. */
static size_t distance_between(const char *a, const char *b) {
    enum { LONGEST = 40 };
    size_t rows = strlen(a), columns = strlen(b), table[LONGEST + 1][LONGEST + 1];
    if (rows > LONGEST || columns > LONGEST)
        return LONGEST;
    for (size_t i = 0; i <= rows; i++)
        for (size_t j = 0; j <= columns; j++) {
            if (i == 0 || j == 0) {
                table[i][j] = i + j;
                continue;
            }
            size_t best = table[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            if (table[i - 1][j] + 1 < best)
                best = table[i - 1][j] + 1;
            if (table[i][j - 1] + 1 < best)
                best = table[i][j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                table[i - 2][j - 2] + 1 < best)
                best = table[i - 2][j - 2] + 1;
            table[i][j] = best;
        }
    return table[rows][columns];
}

const char *cli_nearest(const char *word, const char *const *candidates, size_t count) {
    const char *nearest = NULL;
    size_t length = strlen(word), near = 1 + length / 3, half = length > 2 ? (length - 1) / 2 : 1;
    size_t least = (near < half ? near : half) + 1; /* as far as that is another word */
    for (size_t i = 0; i < count; i++) {
        size_t distance = distance_between(word, candidates[i]);
        if (distance < least) {
            least = distance;
            nearest = candidates[i];
        }
    }
    /* Failing that, a word that it is the beginning of. */
    for (size_t i = 0; i < count && !nearest && strlen(word) > 2; i++)
        if (strncmp(candidates[i], word, strlen(word)) == 0)
            nearest = candidates[i];
    return nearest;
}

/* The command never calls setlocale, so that '.' is the decimal point of strtod and printf. */
static bool parse_until(const char *text, char last, double *value, const char **rest) {
    char *end;
    if (text[0] == '\0' || strchr(" \t\n\v\f\r", text[0]))
        return false;
    *value = strtod(text, &end);
    *rest = end + 1;
    return end > text && *end == last && isfinite(*value);
}

bool cli_parse_number(const char *text, double *value) {
    const char *rest;
    double below;
    if (!strchr(text, '/'))
        return parse_until(text, '\0', value, &rest);
    if (!parse_until(text, '/', value, &rest) || !parse_until(rest, '\0', &below, &rest) ||
        below == 0)
        return false;
    *value /= below;
    return isfinite(*value);
}

const char *cli_exact(double value, char text[CLI_NUMBER_SIZE]) {
    if (isnan(value) || isinf(value)) {
        snprintf(text, CLI_NUMBER_SIZE, "%s", isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
        return text;
    }
    if (fabs(value) < 1e15 && value == rint(value)) { /* 10, not 1e+01 */
        snprintf(text, CLI_NUMBER_SIZE, "%.0f", value);
        return text;
    }
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, CLI_NUMBER_SIZE, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    return text;
}

void cli_print_json_number(double value) {
    char text[CLI_NUMBER_SIZE];
    fputs(isfinite(value) ? cli_exact(value, text) : "null", stdout);
}

void cli_print_json_value(double value, bool is_truth) {
    if (is_truth && !isnan(value))
        fputs(value != 0 ? "true" : "false", stdout);
    else
        cli_print_json_number(value);
}

/* Bytes of the UTF-8 character that begins here; 0 if none does (RFC 3629: no overlong forms, no
 * surrogates, nothing past U+10FFFF). */
static size_t utf8_length(const unsigned char *c) {
    if (c[0] < 0x80)
        return 1;
    size_t length = c[0] >= 0xF5 ? 0 : c[0] >= 0xF0 ? 4 : c[0] >= 0xE0 ? 3 : c[0] >= 0xC2 ? 2 : 0;
    for (size_t i = 1; i < length; i++) /* a zero byte ends it too */
        if ((c[i] & 0xC0) != 0x80)
            return 0;
    if ((c[0] == 0xE0 && c[1] < 0xA0) || (c[0] == 0xED && c[1] >= 0xA0) ||
        (c[0] == 0xF0 && c[1] < 0x90) || (c[0] == 0xF4 && c[1] >= 0x90))
        return 0;
    return length;
}

void cli_print_json_text(const char *text) {
    putchar('"');
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        size_t length = utf8_length(c);
        if (length == 0)
            fputs("\\ufffd", stdout); /* names of files may be any bytes, JSON may not */
        else if (length == 2 && c[0] == 0xC2 && c[1] < 0xA0)
            printf("\\u00%02x", *++c); /* of C1: a terminal would obey it */
        else if (length > 1) {
            fwrite(c, 1, length, stdout);
            c += length - 1;
        } else if (*c == '"' || *c == '\\')
            printf("\\%c", *c);
        else if (*c < 0x20 || *c == 0x7F)
            printf("\\u%04x", *c);
        else
            putchar(*c);
    }
    putchar('"');
}

static double read_clock(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

double cli_clock(void) {
    return read_clock(CLOCK_MONOTONIC);
}

double cli_processor_clock(void) {
    return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

bool cli_ends_with(const char *text, const char *end) {
    size_t length = strlen(text), tail = strlen(end);
    return length > tail && strcmp(text + length - tail, end) == 0;
}

/* By the first bytes of the file; what is not there or too short to tell, by its name. A pipe holds
 * a scene: what is read from it here would be lost. */
bool cli_is_recording(const char *path) {
    static const char signature[8] = "\x89HDF\r\n\x1a\n";
    char bytes[sizeof signature];
    struct stat about;
    bool plain = stat(path, &about) == 0 && S_ISREG(about.st_mode);
    FILE *file = plain ? fopen(path, "rb") : NULL;
    bool is = file && fread(bytes, 1, sizeof bytes, file) == sizeof bytes &&
              memcmp(bytes, signature, sizeof bytes) == 0;
    if (file)
        fclose(file);
    return is || cli_ends_with(path, ".h5") || cli_ends_with(path, ".hdf5");
}
