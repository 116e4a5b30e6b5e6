/* Reading and writing JSON: see view_json.h.
 *
 * Recursive descent over a text of known size, into an array of fixed size: no memory to run out
 * of, no depth beyond VIEW_JSON_DEPTH. Time is linear in the size, but for the search for keys of
 * the same name, which the number of values bounds. */
#include "view_json.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct reader {
    const char *text;
    size_t size, at;
    view_json *json;
} reader;

static bool fail(reader *r, const char *problem) {
    if (!r->json->problem) {
        r->json->problem = problem;
        r->json->where = r->at;
    }
    return false;
}

/* The next byte, or -1 at the end. */
static int peek(const reader *r) {
    return r->at < r->size ? (unsigned char)r->text[r->at] : -1;
}

static void skip_blanks(reader *r) {
    int c;
    while (c = peek(r), c == ' ' || c == '\t' || c == '\n' || c == '\r')
        r->at++;
}

static bool accept(reader *r, char c) {
    if (peek(r) != (unsigned char)c)
        return false;
    r->at++;
    return true;
}

static bool is_digit(int c) {
    return c >= '0' && c <= '9';
}

/* ---- strings ---- */

static bool read_hex(reader *r, uint32_t *code) {
    *code = 0;
    for (int i = 0; i < 4; i++) {
        int c = peek(r);
        int digit = is_digit(c)            ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0)
            return fail(r, "an invalid \\u escape");
        *code = *code << 4 | (uint32_t)digit;
        r->at++;
    }
    return true;
}

static size_t encode(uint32_t code, char bytes[4]) {
    if (code < 0x80) {
        bytes[0] = (char)code;
        return 1;
    }
    size_t length = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = length; i-- > 1; code >>= 6)
        bytes[i] = (char)(0x80 | (code & 0x3f));
    static const uint32_t first[] = {0, 0, 0xc0, 0xe0, 0xf0};
    bytes[0] = (char)(first[length] | code);
    return length;
}

/* After a backslash. */
static bool read_escape(reader *r, uint32_t *code) {
    static const char names[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    int c = peek(r);
    r->at++;
    const char *name = c > 0 ? strchr(names, c) : NULL;
    if (name) {
        *code = (uint32_t)meanings[name - names];
        return true;
    }
    if (c != 'u')
        return fail(r, "an invalid escape in a string");
    uint32_t low;
    if (!read_hex(r, code))
        return false;
    if (*code >= 0xd800 && *code < 0xdc00) {
        if (!accept(r, '\\') || !accept(r, 'u') || !read_hex(r, &low) || low < 0xdc00 ||
            low > 0xdfff)
            return fail(r, "an unpaired surrogate");
        *code = 0x10000 + ((*code - 0xd800) << 10) + (low - 0xdc00);
    } else if (*code >= 0xdc00 && *code < 0xe000) {
        return fail(r, "an unpaired surrogate");
    }
    return *code != 0 || fail(r, "a zero character in a string");
}

/* Bytes of the UTF-8 character at the beginning of a text, or 0 if that is none. */
static size_t utf8_length(const char *text, size_t size) {
    const unsigned char *s = (const unsigned char *)text;
    size_t length = s[0] < 0x80                   ? 1
                    : s[0] >= 0xc2 && s[0] < 0xe0 ? 2
                    : s[0] >= 0xe0 && s[0] < 0xf0 ? 3
                    : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
                                                  : 0;
    if (length > size)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    bool overlong = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xf0 && s[1] < 0x90);
    bool beyond = (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf4 && s[1] > 0x8f);
    return overlong || beyond ? 0 : length;
}

static bool read_string(reader *r, char text[VIEW_JSON_TEXT]) {
    size_t size = 0;
    if (!accept(r, '"'))
        return fail(r, "a string was expected");
    for (;;) {
        int c = peek(r);
        char bytes[4];
        const char *from = bytes;
        size_t length;
        uint32_t code;
        if (c < 0)
            return fail(r, "an unterminated string");
        if (c < 0x20)
            return fail(r, "a control character in a string");
        if (accept(r, '"'))
            break;
        if (accept(r, '\\')) {
            if (!read_escape(r, &code))
                return false;
            length = encode(code, bytes);
        } else {
            from = r->text + r->at;
            length = utf8_length(from, r->size - r->at);
            if (length == 0)
                return fail(r, "a string that is not UTF-8");
            r->at += length;
        }
        if (size + length >= VIEW_JSON_TEXT)
            return fail(r, "a string that is too long");
        memcpy(text + size, from, length);
        size += length;
    }
    text[size] = '\0';
    return true;
}

/* ---- numbers and words ---- */

static bool read_digits(reader *r) {
    if (!is_digit(peek(r)))
        return fail(r, "a malformed number");
    while (is_digit(peek(r)))
        r->at++;
    return true;
}

static bool read_number(reader *r, double *number) {
    char copy[64]; /* strtod needs an end */
    size_t start = r->at;
    accept(r, '-');
    if (!accept(r, '0') && !read_digits(r))
        return false;
    if (accept(r, '.') && !read_digits(r))
        return false;
    if (accept(r, 'e') || accept(r, 'E')) {
        if (!accept(r, '-'))
            accept(r, '+');
        if (!read_digits(r))
            return false;
    }
    size_t length = r->at - start;
    if (length >= sizeof copy)
        return fail(r, "a number that is too long");
    memcpy(copy, r->text + start, length);
    copy[length] = '\0';
    *number = strtod(copy, NULL);
    return isfinite(*number) || fail(r, "a number that is too large");
}

static bool read_word(reader *r, view_json_value *value) {
    static const struct {
        const char *word;
        view_json_type type;
    } words[] = {{"null", VIEW_JSON_NULL}, {"false", VIEW_JSON_FALSE}, {"true", VIEW_JSON_TRUE}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t length = strlen(words[i].word);
        if (r->size - r->at >= length && memcmp(r->text + r->at, words[i].word, length) == 0) {
            r->at += length;
            value->type = words[i].type;
            return true;
        }
    }
    return fail(r, r->at < r->size ? "a value was expected" : "the text ends too early");
}

/* ---- values ---- */

static bool read_value(reader *r, const char *key, int depth);

static bool read_members(reader *r, size_t self, int depth) {
    view_json_value *values = r->json->values;
    skip_blanks(r);
    if (accept(r, '}'))
        return true;
    do {
        char key[VIEW_JSON_TEXT];
        skip_blanks(r);
        if (!read_string(r, key))
            return false;
        values[self].end = r->json->count;
        if (view_json_member(r->json, &values[self], key))
            return fail(r, "a duplicate key");
        skip_blanks(r);
        if (!accept(r, ':'))
            return fail(r, "a colon was expected");
        if (!read_value(r, key, depth + 1))
            return false;
        values[self].count++;
        skip_blanks(r);
    } while (accept(r, ','));
    return accept(r, '}') || fail(r, "a comma or closing brace was expected");
}

static bool read_elements(reader *r, size_t self, int depth) {
    skip_blanks(r);
    if (accept(r, ']'))
        return true;
    do {
        if (!read_value(r, "", depth + 1))
            return false;
        r->json->values[self].count++;
        skip_blanks(r);
    } while (accept(r, ','));
    return accept(r, ']') || fail(r, "a comma or closing bracket was expected");
}

static bool read_value(reader *r, const char *key, int depth) {
    view_json *json = r->json;
    if (depth > VIEW_JSON_DEPTH)
        return fail(r, "brackets nested too deeply");
    if (json->count == VIEW_JSON_VALUES)
        return fail(r, "too many values");
    size_t self = json->count++;
    view_json_value *value = &json->values[self];
    *value = (view_json_value){.end = self + 1};
    memcpy(value->key, key, strlen(key) + 1);
    skip_blanks(r);
    bool good;
    if (accept(r, '{')) {
        value->type = VIEW_JSON_OBJECT;
        good = read_members(r, self, depth);
    } else if (accept(r, '[')) {
        value->type = VIEW_JSON_ARRAY;
        good = read_elements(r, self, depth);
    } else if (peek(r) == '"') {
        value->type = VIEW_JSON_STRING;
        good = read_string(r, value->text);
    } else if (peek(r) == '-' || is_digit(peek(r))) {
        value->type = VIEW_JSON_NUMBER;
        good = read_number(r, &value->number);
    } else {
        good = read_word(r, value);
    }
    value->end = json->count;
    return good;
}

bool view_json_read(const char *text, size_t size, view_json *json) {
    reader r = {text, size, 0, json};
    json->count = 0;
    json->problem = NULL;
    json->where = 0;
    if (!read_value(&r, "", 1))
        return false;
    skip_blanks(&r);
    return r.at == size || fail(&r, "text after the end");
}

const view_json_value *view_json_member(const view_json *json, const view_json_value *object,
                                        const char *key) {
    if (object->type != VIEW_JSON_OBJECT)
        return NULL;
    size_t at = (size_t)(object - json->values) + 1;
    for (; at < object->end; at = json->values[at].end)
        if (strcmp(json->values[at].key, key) == 0)
            return &json->values[at];
    return NULL;
}

/* ---- writing ---- */

void view_text_put(view_text *text, const char *format, ...) {
    size_t room = text->capacity - text->size;
    va_list list;
    va_start(list, format);
    int length = vsnprintf(text->bytes + text->size, room, format, list);
    va_end(list);
    if (length < 0 || (size_t)length >= room) {
        text->cut = true;
        length = room > 0 ? (int)room - 1 : 0;
    }
    text->size += (size_t)length;
}

void view_text_put_string(view_text *text, const char *string) {
    size_t left = strlen(string);
    view_text_put(text, "\"");
    while (left > 0) {
        size_t length = utf8_length(string, left);
        unsigned char c = (unsigned char)*string;
        if (length == 0)
            view_text_put(text, "\xef\xbf\xbd");
        else if (c == '"' || c == '\\')
            view_text_put(text, "\\%c", c);
        else if (c < 0x20 || c == 0x7f)
            view_text_put(text, "\\u%04x", (unsigned)c);
        else
            view_text_put(text, "%.*s", (int)length, string);
        length = length ? length : 1;
        string += length;
        left -= length;
    }
    view_text_put(text, "\"");
}

void view_text_put_number(view_text *text, double number) {
    char digits[32];
    if (!isfinite(number)) {
        view_text_put(text, "null");
        return;
    }
    for (int precision = 1; precision <= 17; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, number);
        if (strtod(digits, NULL) == number)
            break;
    }
    view_text_put(text, "%s", digits);
}
