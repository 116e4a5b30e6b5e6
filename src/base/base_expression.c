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
    double rate; /* of all variables */
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
    SPLINE,
    FUNCTION_COUNT
} function_id;
static const char *const function_names[FUNCTION_COUNT] = {
    "sin", "cos", "exp", "sqrt", "abs", "floor", "min", "max", "table", "spline"};

/* A value and its derivative, by the rules of the calculus (forward differentiation). The rate may
 * be infinite or none, as that of sqrt(t) at 0: whoever asks for it looks. */
typedef struct number {
    double value, rate;
} number;

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

static rg_status read_sum(parser *p, number *value);

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

static rg_status finite_or_fail(parser *p, size_t at, number result, number *value) {
    if (!isfinite(result.value))
        return FAIL_AT(p, at, RG_NOT_FINITE, "the result is too large; numbers must be finite");
    *value = result;
    return RG_OK;
}

static rg_status read_number(parser *p, number *value) {
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
    double parsed;
    if (!rg_parse_double(p->text + start, at - start, &parsed))
        return FAIL_AT(p, start, RG_SYNTAX, "this is not a number; write it like 2, 0.5 or 1e-3");
    return finite_or_fail(p, start, (number){parsed, 0}, value);
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

/* base^exponent; NaN where that is no real number. */
static double power_of(double base, double exponent) {
    if (floor(exponent) == exponent && fabs(exponent) <= 1024)
        return integer_power(base, exponent);
    if (exponent == 0.5 && base >= 0)
        return sqrt(base);
    if (base > 0)
        return rg_exp(exponent * rg_log(base));
    return base == 0 ? 0 : NAN;
}

static double rate_of_power(number base, number exponent, double power) {
    double rate = 0;
    if (base.rate != 0 && exponent.value != 0)
        rate = exponent.value * power_of(base.value, exponent.value - 1) * base.rate;
    if (exponent.rate != 0)
        rate += power * rg_log(base.value) * exponent.rate;
    return rate;
}

static rg_status raise(parser *p, size_t at, number base, number exponent, number *value) {
    if (base.value == 0 && exponent.value < 0)
        return FAIL_AT(p, at, RG_NOT_FINITE, "division by zero");
    bool whole = floor(exponent.value) == exponent.value && fabs(exponent.value) <= 1024;
    if (base.value < 0 && !whole)
        return FAIL_AT(p, at, RG_NOT_FINITE,
                       "a negative number to this power is not a real number");
    double power = power_of(base.value, exponent.value);
    bool varies = base.rate != 0 || exponent.rate != 0;
    return finite_or_fail(p, at, (number){power, varies ? rate_of_power(base, exponent, power) : 0},
                          value);
}

/* The remainder with the sign of the divisor, as wanted for indices. fmod is exact. */
static double modulo(double a, double b) {
    double r = fmod(a, b);
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

static rg_status call(parser *p, size_t at, function_id function, number x, size_t count,
                      number extreme, number *value) {
    if (function != MIN && function != MAX && count != 1)
        return FAIL_AT(p, at, RG_SYNTAX, "%s takes one number, not %zu", function_names[function],
                       count);
    double v = x.value;
    switch (function) {
    case SIN:
        *value = (number){rg_sin(v), x.rate != 0 ? rg_cos(v) * x.rate : 0};
        return RG_OK;
    case COS:
        *value = (number){rg_cos(v), x.rate != 0 ? -rg_sin(v) * x.rate : 0};
        return RG_OK;
    case EXP:
        return finite_or_fail(p, at, (number){rg_exp(v), rg_exp(v) * x.rate}, value);
    case SQRT:
        if (v < 0)
            return FAIL_AT(p, at, RG_NOT_FINITE, "the square root of a negative number");
        *value = (number){sqrt(v), x.rate != 0 ? x.rate / (2 * sqrt(v)) : 0};
        return RG_OK;
    case ABS:
        *value = (number){fabs(v), v < 0 ? -x.rate : x.rate};
        return RG_OK;
    case FLOOR:
        *value = (number){floor(v), 0};
        return RG_OK;
    default:
        *value = extreme;
        return RG_OK;
    }
}

/* A point of a table or a spline. */
typedef struct point {
    double x;
    number y;
} point;

/* Linear from a to b. */
static number between_points(number x, const point *a, const point *b) {
    double s = (x.value - a->x) / (b->x - a->x), rise = b->y.value - a->y.value;
    return (number){a->y.value + rise * s,
                    rise / (b->x - a->x) * x.rate + a->y.rate + (b->y.rate - a->y.rate) * s};
}

/* The slope at b of the parabola through a, b and c. */
static double slope_at(const point *a, const point *b, const point *c) {
    double h = b->x - a->x, k = c->x - b->x;
    return ((b->y.value - a->y.value) / h * k + (c->y.value - b->y.value) / k * h) / (h + k);
}

/* The cubic from a to b with these slopes at its ends (Hermite's). */
static number cubic_between(number x, const point *a, const point *b, double slope_a,
                            double slope_b) {
    double h = b->x - a->x, s = (x.value - a->x) / h, rise = b->y.value - a->y.value;
    double p = h * slope_a, q = 3 * rise - h * (2 * slope_a + slope_b),
           r = h * (slope_a + slope_b) - 2 * rise;
    return (number){a->y.value + s * (p + s * (q + s * r)),
                    (p + s * (2 * q + 3 * s * r)) / h * x.rate};
}

/* The points of a table or spline as they are read: the last ones, and what they make of x. */
typedef struct curve {
    number x, result;
    point last[3]; /* the latest first */
    size_t points;
    bool smooth;
} curve;

/* A further point; null: there is none. A segment of a spline is known when the point behind it
 * is; at both ends it is at rest. */
static void go_on(curve *c, const point *next) {
    const point *b = &c->last[0], *a = &c->last[1];
    if (c->points == 0 || (next && c->x.value >= next->x && !c->smooth))
        c->result = next->y; /* constant before the first and after the last */
    else if (!c->smooth && next && c->x.value > b->x)
        c->result = between_points(c->x, b, next);
    if (c->smooth && c->points > 1 && c->x.value > a->x && c->x.value < b->x)
        c->result = cubic_between(c->x, a, b, c->points > 2 ? slope_at(&c->last[2], a, b) : 0,
                                  next ? slope_at(a, b, next) : 0);
    else if (c->smooth && c->points > 0 && c->x.value >= b->x)
        c->result = (number){b->y.value, 0};
    if (!next)
        return;
    c->last[2] = c->last[1], c->last[1] = c->last[0], c->last[0] = *next;
    c->points++;
}

static rg_status read_point(parser *p, const char *what, const curve *c, point *next) {
    size_t where = p->at;
    char text[8];
    number x;
    rg_status status = read_sum(p, &x);
    if (status == RG_OK && !take(p, ','))
        return FAIL_AT(p, p->at, RG_SYNTAX, "a %s has pairs of numbers: expected \",\", not %s",
                       what, describe(p, text));
    if (status == RG_OK)
        status = read_sum(p, &next->y);
    if (status != RG_OK)
        return status;
    next->x = x.value;
    if (c->points > 0 && !(next->x > c->last[0].x))
        return FAIL_AT(p, where, RG_INVALID_ARGUMENT,
                       "the places of a %s must ascend; put its pairs in order", what);
    return RG_OK;
}

/* table(x, x1, y1, x2, y2, ...): linear between the points, constant before and after them.
 * spline(...): cubics between the points, the rate continuous, at rest before and after them. */
static rg_status read_curve(parser *p, size_t at, bool smooth, number *value) {
    const char *what = function_names[smooth ? SPLINE : TABLE];
    curve c = {.smooth = smooth};
    char text[8];
    rg_status status = read_sum(p, &c.x);
    while (status == RG_OK && take(p, ',')) {
        point next;
        status = read_point(p, what, &c, &next);
        if (status == RG_OK)
            go_on(&c, &next);
    }
    if (status != RG_OK)
        return status;
    if (c.points == 0)
        return FAIL_AT(p, at, RG_SYNTAX, "a %s needs pairs of numbers, such as %s(t, 0, 0, 1, 5)",
                       what, what);
    if (!take(p, ')'))
        return FAIL_AT(p, p->at, RG_SYNTAX, "expected \",\" or \")\", not %s", describe(p, text));
    if (smooth)
        go_on(&c, NULL);
    return finite_or_fail(p, at, c.result, value);
}

static rg_status read_call(parser *p, size_t at, function_id function, number *value) {
    if (function == TABLE || function == SPLINE)
        return read_curve(p, at, function == SPLINE, value);
    number first = {0, 0}, extreme = first, next;
    size_t count = 0;
    do {
        rg_status status = read_sum(p, &next);
        if (status != RG_OK)
            return status;
        if (count++ == 0)
            first = extreme = next;
        else if (function == MIN ? next.value < extreme.value : next.value > extreme.value)
            extreme = next;
    } while (take(p, ','));
    char text[8];
    if (!take(p, ')'))
        return FAIL_AT(p, p->at, RG_SYNTAX, "expected \",\" or \")\", not %s", describe(p, text));
    return call(p, at, function, first, count, extreme, value);
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

static rg_status read_name(parser *p, number *value) {
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
            *value = (number){p->variables[i].value, p->rate};
            return RG_OK;
        }
    return fail_unknown_name(p, start, name);
}

static rg_status read_atom(parser *p, number *value) {
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
static rg_status read_sign(parser *p, number *value) {
    if (++p->depth > RG_EXPRESSION_DEPTH)
        return FAIL_AT(p, p->at, RG_LIMIT_EXCEEDED, "nested more than %d deep; split it up",
                       RG_EXPRESSION_DEPTH);
    rg_status status;
    char c = peek(p);
    if (c == '-' || c == '+') {
        p->at++;
        status = read_sign(p, value);
        if (status == RG_OK && c == '-')
            *value = (number){-value->value, -value->rate};
    } else {
        status = read_atom(p, value);
        size_t at = p->at;
        number exponent;
        if (status == RG_OK && take(p, '^') && (status = read_sign(p, &exponent)) == RG_OK)
            status = raise(p, at, *value, exponent, value);
    }
    p->depth--;
    return status;
}

static number combine(char operation, number a, number b) {
    switch (operation) {
    case '+':
        return (number){a.value + b.value, a.rate + b.rate};
    case '-':
        return (number){a.value - b.value, a.rate - b.rate};
    case '*':
        return (number){a.value * b.value, a.rate * b.value + a.value * b.rate};
    case '/':
        return (number){a.value / b.value, (a.rate - a.value / b.value * b.rate) / b.value};
    default: /* between its jumps */
        return (number){modulo(a.value, b.value),
                        b.rate != 0 ? a.rate - floor(a.value / b.value) * b.rate : a.rate};
    }
}

static rg_status read_product(parser *p, number *value) {
    rg_status status = read_sign(p, value);
    while (status == RG_OK) {
        char c = peek(p);
        if (c != '*' && c != '/' && c != '%')
            break;
        size_t at = p->at++;
        number right;
        if ((status = read_sign(p, &right)) != RG_OK)
            break;
        if (c != '*' && right.value == 0)
            return FAIL_AT(p, at, RG_NOT_FINITE, "division by zero");
        status = finite_or_fail(p, at, combine(c, *value, right), value);
    }
    return status;
}

static rg_status read_sum(parser *p, number *value) {
    rg_status status = read_product(p, value);
    while (status == RG_OK) {
        char c = peek(p);
        if (c != '+' && c != '-')
            break;
        size_t at = p->at++;
        number right;
        if ((status = read_product(p, &right)) == RG_OK)
            status = finite_or_fail(p, at, combine(c, *value, right), value);
    }
    return status;
}

static rg_status evaluate(parser *p, number *result) {
    char buffer[8];
    rg_status status = read_sum(p, result);
    if (status != RG_OK)
        return status;
    if (peek(p) || p->at < p->size)
        return FAIL_AT(p, p->at, RG_SYNTAX,
                       "expected an operator or the end, not %s; write numbers in SI units, "
                       "without a unit and with a decimal point",
                       describe(p, buffer));
    return RG_OK;
}

rg_status rg_expression_evaluate(const char *text, size_t size, const rg_variable *variables,
                                 size_t variable_count, double *value, bool *used_loop,
                                 rg_error *error) {
    parser p = {.text = text,
                .size = size,
                .variables = variables,
                .variable_count = variable_count,
                .error = error};
    number result;
    rg_status status = evaluate(&p, &result);
    if (status != RG_OK)
        return status;
    *value = result.value;
    if (used_loop && p.used_loop)
        *used_loop = true;
    return RG_OK;
}

rg_status rg_expression_of_time(const char *text, double time, double *value, double *rate,
                                rg_error *error) {
    rg_variable t = {
        .name = "t",
        .value = time,
    };
    parser p = {.text = text,
                .size = strlen(text),
                .variables = &t,
                .variable_count = 1,
                .rate = 1,
                .error = error};
    number result;
    rg_status status = evaluate(&p, &result);
    if (status == RG_OK && rate && !isfinite(result.rate))
        return FAIL_AT(&p, 0, RG_NOT_FINITE, "it has no finite rate of change");
    if (status != RG_OK)
        return status;
    *value = result.value;
    if (rate)
        *rate = result.rate;
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
    char digits[RG_NUMBER_SIZE];
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
            rg_buffer_print(out, "(%s)", rg_format_double(variable->value, digits));
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
