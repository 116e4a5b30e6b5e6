/* Expressions in scene files, evaluated by recursive descent, while the file is read or, if they
 * are functions of time, in every step:
 *
 *   sum     = product { ("+" | "-") product }
 *   product = sign { ("*" | "/" | "%") sign }
 *   sign    = ("-" | "+") sign | power
 *   power   = atom [ "^" sign ]                      so -2^2 = -4 and 2^3^2 = 2^9
 *   atom    = number | name | name "(" sum { "," sum } ")" | "(" sum ")"
 *
 * Everything that is computed here reaches the state of a world, so only exactly rounded operations
 * and the functions of base_trig are used. Fails on syntax, on names that are not defined, on
 * results that are not finite (division by zero is named), and past RG_EXPRESSION_DEPTH. */
#include "base/base_expression.h"

#include "base/base_text.h"
#include "base/base_trig.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct parser {
    const char *text;
    size_t size, at;
    const rg_variable *variables;
    size_t variable_count;
    bool used_loop;
    int depth;
    rg_error *error;
} parser;

enum { NAME_SIZE = 64, MAX_CANDIDATES = 64 };

typedef enum function_id {
    SIN,
    COS,
    EXP,
    SQRT,
    ABS,
    FLOOR,
    MIN,
    MAX,
    TABLE,
    FUNCTION_COUNT
} function_id;
static const char *const function_names[FUNCTION_COUNT] = {"sin",   "cos", "exp", "sqrt", "abs",
                                                           "floor", "min", "max", "table"};

#define FAIL_AT(p, where, status, ...) fail_at((p)->error, (where), (status), __VA_ARGS__)

RG_PRINTF_LIKE(4, 5)
static rg_status fail_at(rg_error *error, size_t at, rg_status status, const char *format, ...) {
    char message[RG_ERROR_TEXT_SIZE / 2];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    rg_fail(error, status, "at column %zu: %s", at + 1, message);
    if (error)
        error->column = (int)(at + 1);
    return status;
}

static rg_status read_sum(parser *p, double *value);

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static char peek(parser *p) {
    while (p->at < p->size && (p->text[p->at] == ' ' || p->text[p->at] == '\t'))
        p->at++;
    return p->at < p->size ? p->text[p->at] : 0;
}

static bool take(parser *p, char c) {
    if (peek(p) != c)
        return false;
    p->at++;
    return true;
}

/* What stands here, for messages. */
static const char *describe(parser *p, char buffer[8]) {
    char c = peek(p);
    if (p->at >= p->size)
        return "the end";
    if (c < 32 || c > 126)
        return "a character outside of expressions";
    buffer[0] = buffer[2] = '"';
    buffer[1] = c;
    buffer[3] = 0;
    return buffer;
}

static rg_status finite_or_fail(parser *p, size_t at, double result, double *value) {
    if (!isfinite(result))
        return FAIL_AT(p, at, RG_NOT_FINITE, "the result is too large; numbers must be finite");
    *value = result;
    return RG_OK;
}

static rg_status read_number(parser *p, double *value) {
    size_t start = p->at, at = p->at;
    while (at < p->size && (is_digit(p->text[at]) || p->text[at] == '.'))
        at++;
    if (at + 1 < p->size && (p->text[at] == 'e' || p->text[at] == 'E')) {
        size_t exponent = at + 1;
        if (p->text[exponent] == '+' || p->text[exponent] == '-')
            exponent++;
        if (exponent < p->size && is_digit(p->text[exponent])) {
            at = exponent;
            while (at < p->size && is_digit(p->text[at]))
                at++;
        }
    }
    p->at = at;
    double number;
    if (!rg_parse_double(p->text + start, at - start, &number))
        return FAIL_AT(p, start, RG_SYNTAX, "this is not a number; write it like 2, 0.5 or 1e-3");
    return finite_or_fail(p, start, number, value);
}

/* Exponentiation by squaring: products only, so the same bits everywhere. */
static double integer_power(double base, double exponent) {
    double power = 1, square = base;
    for (uint64_t n = (uint64_t)fabs(exponent); n; n >>= 1) {
        if (n & 1)
            power *= square;
        square *= square;
    }
    return exponent < 0 ? 1 / power : power;
}

static rg_status raise(parser *p, size_t at, double base, double exponent, double *value) {
    if (base == 0 && exponent < 0)
        return FAIL_AT(p, at, RG_NOT_FINITE, "division by zero");
    double result;
    if (floor(exponent) == exponent && fabs(exponent) <= 1024)
        result = integer_power(base, exponent);
    else if (exponent == 0.5 && base >= 0)
        result = sqrt(base);
    else if (base > 0)
        result = rg_exp(exponent * rg_log(base));
    else if (base == 0)
        result = 0;
    else
        return FAIL_AT(p, at, RG_NOT_FINITE,
                       "a negative number to this power is not a real number");
    return finite_or_fail(p, at, result, value);
}

/* The remainder with the sign of the divisor, as wanted for indices. fmod is exact. */
static double modulo(double a, double b) {
    double r = fmod(a, b);
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

static rg_status call(parser *p, size_t at, function_id function, const double *first, size_t count,
                      double extreme, double *value) {
    double x = *first;
    if (function != MIN && function != MAX && count != 1)
        return FAIL_AT(p, at, RG_SYNTAX, "%s takes one number, not %zu", function_names[function],
                       count);
    switch (function) {
    case SIN:
        *value = rg_sin(x);
        return RG_OK;
    case COS:
        *value = rg_cos(x);
        return RG_OK;
    case EXP:
        return finite_or_fail(p, at, rg_exp(x), value);
    case SQRT:
        if (x < 0)
            return FAIL_AT(p, at, RG_NOT_FINITE, "the square root of a negative number");
        *value = sqrt(x);
        return RG_OK;
    case ABS:
        *value = fabs(x);
        return RG_OK;
    case FLOOR:
        *value = floor(x);
        return RG_OK;
    default:
        *value = extreme;
        return RG_OK;
    }
}

/* table(x, x1, y1, x2, y2, ...): linear between the points, constant before and after them. */
static rg_status read_table(parser *p, size_t at, double *value) {
    double x, next[2], last[2] = {0, 0}, result = 0;
    size_t points = 0;
    char text[8];
    rg_status status = read_sum(p, &x);
    while (status == RG_OK && take(p, ',')) {
        size_t where = p->at;
        status = read_sum(p, &next[0]);
        if (status == RG_OK && !take(p, ','))
            return FAIL_AT(p, p->at, RG_SYNTAX,
                           "a table has pairs of numbers: expected \",\", not %s",
                           describe(p, text));
        if (status == RG_OK)
            status = read_sum(p, &next[1]);
        if (status != RG_OK)
            return status;
        if (points > 0 && !(next[0] > last[0]))
            return FAIL_AT(p, where, RG_INVALID_ARGUMENT,
                           "the places of a table must ascend; put its pairs in order");
        if (points++ == 0 || x >= next[0])
            result = next[1];
        else if (x > last[0])
            result = last[1] + (next[1] - last[1]) * ((x - last[0]) / (next[0] - last[0]));
        last[0] = next[0], last[1] = next[1];
    }
    if (status != RG_OK)
        return status;
    if (points == 0)
        return FAIL_AT(p, at, RG_SYNTAX,
                       "a table needs pairs of numbers, such as table(t, 0, 0, 1, 5)");
    if (!take(p, ')'))
        return FAIL_AT(p, p->at, RG_SYNTAX, "expected \",\" or \")\", not %s", describe(p, text));
    return finite_or_fail(p, at, result, value);
}

static rg_status read_call(parser *p, size_t at, function_id function, double *value) {
    if (function == TABLE)
        return read_table(p, at, value);
    double first = 0, extreme = 0, next;
    size_t count = 0;
    do {
        rg_status status = read_sum(p, &next);
        if (status != RG_OK)
            return status;
        if (count++ == 0)
            first = extreme = next;
        else if (function == MIN ? next < extreme : next > extreme)
            extreme = next;
    } while (take(p, ','));
    char text[8];
    if (!take(p, ')'))
        return FAIL_AT(p, p->at, RG_SYNTAX, "expected \",\" or \")\", not %s", describe(p, text));
    return call(p, at, function, &first, count, extreme, value);
}

static rg_status fail_unknown_name(parser *p, size_t at, const char *name) {
    const char *known[MAX_CANDIDATES + FUNCTION_COUNT];
    size_t count = 0;
    for (size_t i = 0; i < p->variable_count && count < MAX_CANDIDATES; i++)
        known[count++] = p->variables[i].name;
    for (size_t i = 0; i < FUNCTION_COUNT; i++)
        known[count++] = function_names[i];
    const char *nearest = rg_nearest_word(name, known, count);
    if (nearest)
        return FAIL_AT(p, at, RG_NOT_FOUND, "there is no \"%s\" here; did you mean \"%s\"?", name,
                       nearest);
    char list[200] = "";
    size_t length = 0;
    for (size_t i = 0; i < p->variable_count && i < MAX_CANDIDATES; i++) {
        int printed = snprintf(list + length, sizeof list - length, "%s%s", i ? ", " : "",
                               p->variables[i].name);
        if (printed < 0 || length + (size_t)printed >= sizeof list)
            break;
        length += (size_t)printed;
    }
    return FAIL_AT(p, at, RG_NOT_FOUND, "there is no \"%s\" here; known names are: %s", name, list);
}

static rg_status read_name(parser *p, double *value) {
    size_t start = p->at;
    while (p->at < p->size && (is_letter(p->text[p->at]) || is_digit(p->text[p->at])))
        p->at++;
    size_t length = p->at - start;
    char name[NAME_SIZE];
    if (length >= sizeof name)
        return FAIL_AT(p, start, RG_NOT_FOUND, "a name of %zu letters; at most %d are allowed",
                       length, NAME_SIZE - 1);
    memcpy(name, p->text + start, length);
    name[length] = 0;
    char text[8];
    for (int f = 0; f < FUNCTION_COUNT; f++)
        if (strcmp(name, function_names[f]) == 0) {
            if (!take(p, '('))
                return FAIL_AT(p, p->at, RG_SYNTAX, "expected \"(\" after %s, not %s", name,
                               describe(p, text));
            return read_call(p, start, (function_id)f, value);
        }
    /* Inner loop variables are pushed last and hide nothing, as names are unique. */
    for (size_t i = 0; i < p->variable_count; i++)
        if (strcmp(name, p->variables[i].name) == 0) {
            p->used_loop |= p->variables[i].loop;
            *value = p->variables[i].value;
            return RG_OK;
        }
    return fail_unknown_name(p, start, name);
}

static rg_status read_atom(parser *p, double *value) {
    char c = peek(p), text[8];
    if (is_digit(c) || c == '.')
        return read_number(p, value);
    if (is_letter(c))
        return read_name(p, value);
    if (!take(p, '('))
        return FAIL_AT(p, p->at, RG_SYNTAX, "expected a number, a name or \"(\", not %s",
                       describe(p, text));
    rg_status status = read_sum(p, value);
    if (status == RG_OK && !take(p, ')'))
        return FAIL_AT(p, p->at, RG_SYNTAX, "expected \")\", not %s", describe(p, text));
    return status;
}

/* Every recursion of the grammar passes here, so this is where depth is counted. */
static rg_status read_sign(parser *p, double *value) {
    if (++p->depth > RG_EXPRESSION_DEPTH)
        return FAIL_AT(p, p->at, RG_LIMIT_EXCEEDED, "nested more than %d deep; take it apart",
                       RG_EXPRESSION_DEPTH);
    rg_status status;
    char c = peek(p);
    if (c == '-' || c == '+') {
        p->at++;
        status = read_sign(p, value);
        if (status == RG_OK && c == '-')
            *value = -*value;
    } else {
        status = read_atom(p, value);
        size_t at = p->at;
        double exponent;
        if (status == RG_OK && take(p, '^') && (status = read_sign(p, &exponent)) == RG_OK)
            status = raise(p, at, *value, exponent, value);
    }
    p->depth--;
    return status;
}

static rg_status read_product(parser *p, double *value) {
    rg_status status = read_sign(p, value);
    while (status == RG_OK) {
        char c = peek(p);
        if (c != '*' && c != '/' && c != '%')
            break;
        size_t at = p->at++;
        double right;
        if ((status = read_sign(p, &right)) != RG_OK)
            break;
        if (c != '*' && right == 0)
            return FAIL_AT(p, at, RG_NOT_FINITE, "division by zero");
        double result = c == '*'   ? *value * right
                        : c == '/' ? *value / right
                                   : modulo(*value, right);
        status = finite_or_fail(p, at, result, value);
    }
    return status;
}

static rg_status read_sum(parser *p, double *value) {
    rg_status status = read_product(p, value);
    while (status == RG_OK) {
        char c = peek(p);
        if (c != '+' && c != '-')
            break;
        size_t at = p->at++;
        double right;
        if ((status = read_product(p, &right)) == RG_OK)
            status = finite_or_fail(p, at, c == '+' ? *value + right : *value - right, value);
    }
    return status;
}

rg_status rg_expression_evaluate(const char *text, size_t size, const rg_variable *variables,
                                 size_t variable_count, double *value, bool *used_loop,
                                 rg_error *error) {
    parser p = {.text = text,
                .size = size,
                .variables = variables,
                .variable_count = variable_count,
                .error = error};
    double result;
    rg_status status = read_sum(&p, &result);
    if (status != RG_OK)
        return status;
    char buffer[8];
    if (peek(&p) || p.at < p.size)
        return FAIL_AT(&p, p.at, RG_SYNTAX,
                       "expected an operator or the end, not %s; numbers stand alone, in SI units, "
                       "with a decimal point",
                       describe(&p, buffer));
    *value = result;
    if (used_loop && p.used_loop)
        *used_loop = true;
    return RG_OK;
}

/* The variable that stands at a place, or null. */
static const rg_variable *find_variable(const char *word, size_t length,
                                        const rg_variable *variables, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (strlen(variables[i].name) == length && memcmp(variables[i].name, word, length) == 0)
            return &variables[i];
    return NULL;
}

void rg_expression_resolve(const char *text, size_t size, const rg_variable *variables,
                           size_t variable_count, const char *by, rg_buffer *out, bool *uses) {
    char number[RG_NUMBER_SIZE];
    *uses = false;
    for (size_t at = 0; at < size;) {
        size_t end = at + 1;
        bool word = is_letter(text[at]);
        /* A number takes the e of its exponent with it. */
        while (end < size && (is_letter(text[end]) || is_digit(text[end])) &&
               (word || is_digit(text[at]) || text[at] == '.'))
            end++;
        const rg_variable *variable =
            word ? find_variable(text + at, end - at, variables, variable_count) : NULL;
        bool keeps = end - at == 1 && text[at] == 't';
        *uses |= keeps;
        if (keeps && by)
            rg_buffer_print(out, "%s", by);
        else if (variable && !keeps)
            rg_buffer_print(out, "(%s)", rg_format_double(variable->value, number));
        else
            rg_buffer_append(out, text + at, end - at);
        at = end;
    }
}

bool rg_expression_is_name(const char *word) {
    if (!is_letter(word[0]))
        return false;
    for (const char *c = word; *c; c++)
        if (!is_letter(*c) && !is_digit(*c))
            return false;
    for (int f = 0; f < FUNCTION_COUNT; f++)
        if (strcmp(word, function_names[f]) == 0)
            return false;
    return strlen(word) < NAME_SIZE;
}
