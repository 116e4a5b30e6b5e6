/* Messages, and numbers as text.
 *
 * Problem: printf and strtod follow the locale of the process (a German one reads "1.5" as 1), and
 * the text may lie in the middle of a file without a zero byte behind it.
 * Method: the grammar is checked here, and the C library, whose conversions are correctly rounded,
 * only ever sees digits and an exponent ("15e-1"), which mean the same in every locale. Formatting
 * takes digits from printf, ignores what it put between them, and lays them out itself.
 * Shortest digits: 15 always survive decimal -> double -> decimal for normal numbers, so a shorter
 * answer shows as trailing zeros of the 15-digit one; else 16, else 17, which always suffice.
 * Control characters: messages and cells of CSV quote names from files, and a terminal would obey
 * the escape sequences in them (ECMA-48), a spreadsheet compute the formulas.
 * Fails: never; text that is not a number is answered with false. */
#include "base/base_text.h"

#include "rigor/text.h"
#include "rigor/version.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ messages */

/* Marks a message that did not fit, without cutting a UTF-8 character in two. */
static void mark_cut(char *text, size_t size) {
    static const char dots[] = "...";
    size_t end = size - sizeof dots;
    while (end > 0 && ((unsigned char)text[end] & 0xC0) == 0x80)
        end--;
    memcpy(text + end, dots, sizeof dots);
}

/* vsnprintf with '.' as the decimal point whatever the locale of the process. */
static int print_in_c_locale(char *text, size_t size, const char *format, va_list arguments) {
    locale_t c_locale = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    locale_t before = c_locale ? uselocale(c_locale) : (locale_t)0;
    int length = vsnprintf(text, size, format, arguments);
    if (c_locale) {
        uselocale(before);
        freelocale(c_locale);
    }
    return length;
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

/* Bytes of the character that begins here and may be shown; 0: a control character, or none. */
static size_t visible_length(const unsigned char *c) {
    size_t length = utf8_length(c);
    bool c0 = c[0] < 0x20 && c[0] != '\n' && c[0] != '\t';
    bool c1 = length == 2 && c[0] == 0xC2 && c[1] < 0xA0;
    return c0 || c1 || c[0] == 0x7F ? 0 : length;
}

/* Text that is put together in room that may be too small for it. */
typedef struct growing {
    char *out;
    size_t capacity, length;
} growing;

static void put_bytes(growing *text, const char *bytes, size_t count) {
    for (size_t i = 0; i < count; i++, text->length++)
        if (text->length + 1 < text->capacity)
            text->out[text->length] = bytes[i];
}

static size_t finish(growing *text) {
    if (text->capacity)
        text->out[text->length < text->capacity ? text->length : text->capacity - 1] = '\0';
    return text->length;
}

/* A character that may be shown as it is, or else a byte in words; what comes after it. */
static const char *put_visible(growing *text, const char *from) {
    size_t length = visible_length((const unsigned char *)from);
    char escape[8];
    if (length) {
        put_bytes(text, from, length);
        return from + length;
    }
    snprintf(escape, sizeof escape, "\\x%02x", (unsigned)(unsigned char)*from);
    put_bytes(text, escape, 4);
    return from + 1;
}

size_t rg_text_visible(const char *text, char *out, size_t capacity) {
    growing made = {out, capacity, 0};
    while (*text)
        text = put_visible(&made, text);
    return finish(&made);
}

size_t rg_text_csv(const char *text, char *out, size_t capacity) {
    growing made = {out, capacity, 0};
    double number;
    bool formula =
        *text && strchr("=+-@\t", *text) && !rg_parse_double(text, strlen(text), &number);
    bool quoted = strpbrk(text, ",\"\n") != NULL;
    if (quoted)
        put_bytes(&made, "\"", 1);
    if (formula)
        put_bytes(&made, "'", 1);
    while (*text) {
        if (*text == '"')
            put_bytes(&made, "\"", 1);
        text = put_visible(&made, text);
    }
    if (quoted)
        put_bytes(&made, "\"", 1);
    return finish(&made);
}

/* Goes through a local buffer because the arguments may point into error->text, as they do when a
 * caller puts its own name before the message of a callee. */
static void fill_error(rg_error *error, rg_status status, int line, int column, const char *prefix,
                       const char *format, va_list arguments) {
    char text[RG_ERROR_TEXT_SIZE];
    size_t used = strlen(prefix);
    memcpy(text, prefix, used); /* a prefix is at most as long as a message */
    text[used] = 0;
    int length = print_in_c_locale(text + used, sizeof text - used, format, arguments);
    if (length >= 0 && (size_t)length >= sizeof text - used)
        mark_cut(text, sizeof text);
    error->status = status;
    error->line = line;
    error->column = column;
    if (rg_text_visible(text, error->text, sizeof error->text) >= sizeof error->text)
        mark_cut(error->text, sizeof error->text);
}

rg_status rg_fail(rg_error *error, rg_status status, const char *format, ...) {
    if (!error)
        return status;
    va_list arguments;
    va_start(arguments, format);
    fill_error(error, status, 0, 0, "", format, arguments);
    va_end(arguments);
    return status;
}

rg_status rg_fail_at(rg_error *error, rg_status status, const char *file, int line, int column,
                     const char *format, ...) {
    if (!error)
        return status;
    char prefix[RG_ERROR_TEXT_SIZE];
    if (line > 0)
        snprintf(prefix, sizeof prefix, "%s:%d:%d: ", file ? file : "", line, column);
    else
        snprintf(prefix, sizeof prefix, "%s: ", file ? file : "");
    bool placed = file || line > 0;
    va_list arguments;
    va_start(arguments, format);
    fill_error(error, status, line, column, placed ? prefix : "", format, arguments);
    va_end(arguments);
    return status;
}

rg_status rg_check_version(int api_version, const char *def, rg_error *error) {
    if (api_version == RG_API_VERSION)
        return RG_OK;
    if (api_version == 0)
        return rg_fail(error, RG_VERSION_MISMATCH,
                       "%s: api_version is 0; use %s_default() and change what differs", def, def);
    return rg_fail(error, RG_VERSION_MISMATCH,
                   "%s: made for interface %d, this library has %d; recompile", def, api_version,
                   RG_API_VERSION);
}

/* ------------------------------------------------------------------ text to number */

/* The point half way between two doubles has at most 768 significant digits; of those behind, it
 * matters only whether they are all zero, so that one digit can stand for them. */
enum { DIGITS_KEPT = 780, EXPONENT_LIMIT = 1000000 };

typedef struct decimal {
    char digits[DIGITS_KEPT + 16]; /* then "e", exponent and a zero byte */
    size_t count;
    long long exponent; /* value = digits * 10^exponent */
} decimal;

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static void take_digit(decimal *number, char digit, bool after_point) {
    if (number->count == 0 && digit == '0') {
        number->exponent -= after_point;
    } else if (number->count < DIGITS_KEPT) {
        number->digits[number->count++] = digit;
        number->exponent -= after_point;
    } else {
        if (digit != '0')
            number->digits[DIGITS_KEPT - 1] = '1';
        number->exponent += !after_point;
    }
}

/* "e-12" from text[at]; false if it is no exponent. Clamped, so that the sum cannot overflow. */
static bool take_exponent(decimal *number, const char *text, size_t size, size_t at) {
    bool negative = false;
    at++;
    if (at < size && (text[at] == '+' || text[at] == '-'))
        negative = text[at++] == '-';
    if (at == size)
        return false;
    long long exponent = 0;
    for (; at < size; at++) {
        if (!is_digit(text[at]))
            return false;
        if (exponent < (long long)1e15)
            exponent = 10 * exponent + (text[at] - '0');
    }
    number->exponent += negative ? -exponent : exponent;
    return true;
}

/* digits [. digits] [e exponent], at least one digit in all. */
static bool read_decimal(decimal *number, const char *text, size_t size) {
    bool point = false, any = false;
    size_t at = 0;
    for (; at < size && text[at] != 'e' && text[at] != 'E'; at++) {
        if (text[at] == '.' && !point) {
            point = true;
        } else if (is_digit(text[at])) {
            any = true;
            take_digit(number, text[at], point);
        } else {
            return false;
        }
    }
    return any && (at == size || take_exponent(number, text, size, at));
}

static double value_of(decimal *number) {
    if (number->count == 0)
        return 0;
    if (number->exponent > EXPONENT_LIMIT)
        return INFINITY;
    if (number->exponent < -EXPONENT_LIMIT)
        return 0;
    snprintf(number->digits + number->count, sizeof number->digits - number->count, "e%d",
             (int)number->exponent);
    return strtod(number->digits, NULL);
}

bool rg_parse_double(const char *text, size_t size, double *value) {
    bool negative = size > 0 && text[0] == '-';
    if (size == 3 && memcmp(text, "nan", 3) == 0) {
        *value = NAN;
        return true;
    }
    if (size > 0 && (text[0] == '-' || text[0] == '+')) {
        text++;
        size--;
    }
    double magnitude;
    if (size == 3 && memcmp(text, "inf", 3) == 0) {
        magnitude = INFINITY;
    } else {
        decimal number;
        number.count = 0;
        number.exponent = 0;
        if (!read_decimal(&number, text, size))
            return false;
        magnitude = value_of(&number);
    }
    *value = negative ? -magnitude : magnitude;
    return true;
}

/* ------------------------------------------------------------------ number to text */

enum { MOST_DIGITS = 17 };

/* d.ddd * 10^exponent, without trailing zeros. */
typedef struct digit_string {
    char digits[MOST_DIGITS + 1];
    int count, exponent;
} digit_string;

static digit_string round_to_digits(double magnitude, int count) {
    char text[64];
    snprintf(text, sizeof text, "%.*e", count - 1, magnitude);
    digit_string result = {.count = 0};
    const char *at = text;
    for (; *at && *at != 'e'; at++)
        if (is_digit(*at) && result.count < MOST_DIGITS) /* skips the locale's decimal point */
            result.digits[result.count++] = *at;
    result.exponent = *at ? atoi(at + 1) : 0;
    return result;
}

/* The next larger number of as many digits. */
static digit_string next_up(digit_string number) {
    int at = number.count - 1;
    while (at >= 0 && number.digits[at] == '9')
        number.digits[at--] = '0';
    if (at >= 0) {
        number.digits[at]++;
    } else {
        number.digits[0] = '1';
        number.exponent++;
    }
    return number;
}

static bool reads_back(const digit_string *number, double magnitude) {
    char text[RG_NUMBER_SIZE];
    snprintf(text, sizeof text, "%.*se%d", number->count, number->digits,
             number->exponent - (number->count - 1));
    return strtod(text, NULL) == magnitude;
}

static digit_string shortest_digits(double magnitude) {
    int exponent;
    bool power_of_two = frexp(magnitude, &exponent) == 0.5;
    int fewest = magnitude < DBL_MIN ? 1 : DBL_DIG; /* subnormal numbers promise no digits */
    digit_string result;
    for (int count = fewest; count <= MOST_DIGITS; count++) {
        result = round_to_digits(magnitude, count);
        if (reads_back(&result, magnitude))
            break;
        /* Below a power of two the doubles lie twice as dense: the nearest decimal may lie below
         * and belong to another double while the next one above still belongs to this. */
        digit_string above = next_up(result);
        if (power_of_two && reads_back(&above, magnitude)) {
            result = above;
            break;
        }
    }
    while (result.count > 1 && result.digits[result.count - 1] == '0')
        result.count--;
    return result;
}

/* Outside of these powers of ten numbers are written with an exponent. */
enum { SMALLEST_PLAIN = -5, LARGEST_PLAIN = 15 };

static char *put(char *at, char c, int count) {
    while (count-- > 0)
        *at++ = c;
    return at;
}

static char *put_digits(char *at, const char *digits, int count) {
    memcpy(at, digits, (size_t)count);
    return at + count;
}

const char *rg_format_double(double value, char text[RG_NUMBER_SIZE]) {
    char *at = text;
    if (isnan(value))
        return strcpy(text, "nan");
    if (signbit(value))
        *at++ = '-';
    if (value == 0 || isinf(value)) {
        strcpy(at, value == 0 ? "0" : "inf");
        return text;
    }
    digit_string number = shortest_digits(fabs(value));
    int whole = number.exponent + 1; /* digits before the point, where plain */
    if (number.exponent < SMALLEST_PLAIN || number.exponent > LARGEST_PLAIN) {
        *at++ = number.digits[0];
        if (number.count > 1) {
            *at++ = '.';
            at = put_digits(at, number.digits + 1, number.count - 1);
        }
        snprintf(at, 8, "e%d", number.exponent);
        return text;
    }
    if (whole <= 0) {
        at = put(put(put(at, '0', 1), '.', 1), '0', -whole);
        at = put_digits(at, number.digits, number.count);
    } else if (number.count <= whole) {
        at = put(put_digits(at, number.digits, number.count), '0', whole - number.count);
    } else {
        at = put(put_digits(at, number.digits, whole), '.', 1);
        at = put_digits(at, number.digits + whole, number.count - whole);
    }
    *at = 0;
    return text;
}

/* ------------------------------------------------------------------ words */

/* Longer words are no keys of anything; they get no suggestion. */
enum { WORD_LIMIT = 64 };

static size_t smaller(size_t a, size_t b) {
    return a < b ? a : b;
}

/* Insertions, deletions, substitutions and swaps of neighbours that turn a into b (Damerau 1964;
 * each pair of letters swapped at most once), by dynamic programming over three rows. */
static size_t edit_distance(const char *a, size_t a_size, const char *b, size_t b_size) {
    size_t rows[3][WORD_LIMIT + 1];
    for (size_t j = 0; j <= b_size; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a_size; i++) {
        size_t *now = rows[i % 3];
        const size_t *before = rows[(i + 2) % 3], *before_that = rows[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= b_size; j++) {
            size_t best = before[j - 1] + (a[i - 1] != b[j - 1]);
            best = smaller(best, smaller(before[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                best = smaller(best, before_that[j - 2] + 1);
            now[j] = best;
        }
    }
    return rows[a_size % 3][b_size];
}

const char *rg_nearest_word(const char *word, const char *const *candidates, size_t count) {
    size_t size = strlen(word);
    if (size > WORD_LIMIT)
        return NULL;
    const char *nearest = NULL;
    size_t near = 1 + size / 3, half = size > 2 ? (size - 1) / 2 : 1;
    size_t best = (near < half ? near : half) + 1; /* the first distance that is too far */
    for (size_t i = 0; i < count; i++) {
        size_t candidate_size = strlen(candidates[i]);
        if (candidate_size > WORD_LIMIT)
            continue;
        size_t distance = edit_distance(word, size, candidates[i], candidate_size);
        if (distance < best) {
            best = distance;
            nearest = candidates[i];
        }
    }
    return nearest;
}
