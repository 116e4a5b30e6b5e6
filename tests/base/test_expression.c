/* Expressions: values against plain C arithmetic, precedence, and exact messages. */
#include "test_support.h"

#include "base/base_expression.h"

#include <math.h>
#include <string.h>

static const rg_variable variables[] = {
    {"pi", 3.14159265358979323846, false}, {"i", 3, true}, {"n", 5, true}, {"radius", 0.5, false}};
enum { VARIABLES = sizeof variables / sizeof variables[0] };

static double value_of(const char *text) {
    double value = NAN;
    rg_error error = {0};
    rg_status status =
        rg_expression_evaluate(text, strlen(text), variables, VARIABLES, &value, NULL, &error);
    if (status != RG_OK)
        fail_msg("\"%s\": %s", text, error.text);
    return value;
}

static void check_value(const char *text, double expected) {
    double value = value_of(text);
    if (!(value == expected))
        fail_msg("\"%s\" = %.17g, expected %.17g", text, value, expected);
}

static void check_failure(const char *text, rg_status expected, const char *message) {
    double value = 42;
    rg_error error = {0};
    rg_status status =
        rg_expression_evaluate(text, strlen(text), variables, VARIABLES, &value, NULL, &error);
    assert_string_equal(error.text, message);
    assert_int_equal(status, expected);
    assert_true(value == 42);
    assert_true(error.column >= 1 && (size_t)error.column <= strlen(text) + 1);
}

static void numbers_and_operators(void **state) {
    (void)state;
    check_value("1", 1);
    check_value(" 2.5e-3 ", 2.5e-3);
    check_value(".5", 0.5);
    check_value("0.75+0.5*i", 0.75 + 0.5 * 3);
    check_value("1-2-3", -4);
    check_value("12/4/3", 1);
    check_value("2*(3+4)", 14);
    check_value("2+3*4^2", 50);
    check_value("7%3", 1);
    check_value("-7%3", 2); /* the sign of the divisor, as for indices */
    check_value("7%-3", -2);
    check_value("5.5%2", 1.5);
    check_value("i%2", 1);
    check_value("pi*radius^2", 3.14159265358979323846 * (0.5 * 0.5));
}

static void precedence(void **state) {
    (void)state;
    check_value("-2^2", -4);
    check_value("(-2)^2", 4);
    check_value("2^3^2", 512);
    check_value("2^-1", 0.5);
    check_value("--3", 3);
    check_value("2*-3", -6);
    check_value("1+-+-1", 2);
    check_value("6/2*3", 9);
    check_value("4-1+2", 5);
}

static void minus_zero_keeps_its_sign(void **state) {
    (void)state;
    assert_true(signbit(value_of("-0")) != 0);
    assert_true(signbit(value_of("0")) == 0);
}

static void functions(void **state) {
    (void)state;
    assert_near(value_of("sin(pi/6)"), 0.5, 1e-15);
    assert_near(value_of("cos(pi)"), -1, 0);
    check_value("sqrt(2)", sqrt(2));
    check_value("abs(-3)", 3);
    check_value("floor(-1.5)", -2);
    check_value("min(3, 1, 2)", 1);
    check_value("max(3, 7, 2)", 7);
    check_value("min(4)", 4);
    check_value("sqrt(max(1, 3^2+4^2))", 5);
}

static void powers(void **state) {
    (void)state;
    check_value("2^10", 1024);
    check_value("2^0.5", sqrt(2));
    check_value("0^0", 1);
    check_value("0^2.5", 0);
    check_value("10^-3", 1 / 1000.0);
    assert_near(value_of("2^2.5"), 5.65685424949238019520676, 1e-14);
    assert_near(value_of("1.0001^5000.5"), exp(5000.5 * log(1.0001)), 1e-12);
}

static void loop_variables_are_noticed(void **state) {
    (void)state;
    double value;
    bool used = false;
    assert_int_equal(rg_expression_evaluate("pi*2", 4, variables, VARIABLES, &value, &used, NULL),
                     RG_OK);
    assert_false(used);
    assert_int_equal(rg_expression_evaluate("pi*i", 4, variables, VARIABLES, &value, &used, NULL),
                     RG_OK);
    assert_true(used);
}

static void errors_name_the_column(void **state) {
    (void)state;
    check_failure("", RG_SYNTAX, "at column 1: expected a number, a name or \"(\", not the end");
    check_failure("1+", RG_SYNTAX, "at column 3: expected a number, a name or \"(\", not the end");
    check_failure("0.75+*i", RG_SYNTAX,
                  "at column 6: expected a number, a name or \"(\", not \"*\"");
    check_failure("(1+2", RG_SYNTAX, "at column 5: expected \")\", not the end");
    check_failure("1 2", RG_SYNTAX,
                  "at column 3: expected an operator or the end, not \"2\"; write numbers in SI "
                  "units, without a unit and with a decimal point");
    check_failure("2i", RG_SYNTAX,
                  "at column 2: expected an operator or the end, not \"i\"; write numbers in SI "
                  "units, without a unit and with a decimal point");
    check_failure("1.2.3", RG_SYNTAX,
                  "at column 1: this is not a number; write it like 2, 0.5 or 1e-3");
    check_failure("sin 1", RG_SYNTAX, "at column 5: expected \"(\" after sin, not \"1\"");
    check_failure("sin(1,2)", RG_SYNTAX, "at column 1: sin takes one number, not 2");
    check_failure("min(1;2)", RG_SYNTAX, "at column 6: expected \",\" or \")\", not \";\"");
    check_failure("1+\xc3\xa9", RG_SYNTAX,
                  "at column 3: expected a number, a name or \"(\", not a character outside of "
                  "expressions");
}

static void unknown_names_get_the_nearest(void **state) {
    (void)state;
    check_failure("2*raduis", RG_NOT_FOUND,
                  "at column 3: there is no \"raduis\" here; did you mean \"radius\"?");
    check_failure("elephants", RG_NOT_FOUND,
                  "at column 1: there is no \"elephants\" here; known names are: pi, i, n, radius");
    char text[100];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    check_failure(text, RG_NOT_FOUND, "at column 1: a name of 99 letters; at most 63 are allowed");
}

static void results_must_be_finite(void **state) {
    (void)state;
    check_failure("1/0", RG_NOT_FINITE, "at column 2: division by zero");
    check_failure("1%(i-3)", RG_NOT_FINITE, "at column 2: division by zero");
    check_failure("0^-1", RG_NOT_FINITE, "at column 2: division by zero");
    check_failure("1e999", RG_NOT_FINITE,
                  "at column 1: the result is too large; numbers must be finite");
    check_failure("1e300*1e300", RG_NOT_FINITE,
                  "at column 6: the result is too large; numbers must be finite");
    check_failure("10^1000", RG_NOT_FINITE,
                  "at column 3: the result is too large; numbers must be finite");
    check_failure("sqrt(0-1)", RG_NOT_FINITE, "at column 1: the square root of a negative number");
    check_failure("(-2)^0.5", RG_NOT_FINITE,
                  "at column 5: a negative number to this power is not a real number");
}

static void depth_is_limited(void **state) {
    (void)state;
    char text[4096];
    for (size_t depth = 1; depth < 200; depth++) {
        memset(text, '(', depth);
        text[depth] = '1';
        memset(text + depth + 1, ')', depth);
        double value;
        rg_error error = {0};
        rg_status status =
            rg_expression_evaluate(text, 2 * depth + 1, NULL, 0, &value, NULL, &error);
        assert_int_equal(status, depth < RG_EXPRESSION_DEPTH ? RG_OK : RG_LIMIT_EXCEEDED);
    }
    memset(text, '-', sizeof text);
    double value;
    rg_error error = {0};
    assert_int_equal(rg_expression_evaluate(text, sizeof text, NULL, 0, &value, NULL, &error),
                     RG_LIMIT_EXCEEDED);
    assert_string_equal(error.text, "at column 65: nested more than 64 deep; split it up");
}

static void names(void **state) {
    (void)state;
    assert_true(rg_expression_is_name("count"));
    assert_true(rg_expression_is_name("_a1"));
    assert_false(rg_expression_is_name("1a"));
    assert_false(rg_expression_is_name(""));
    assert_false(rg_expression_is_name("a-b"));
    assert_false(rg_expression_is_name("sqrt"));
}

/* Rates are what differences tend to. */
static void rates_are_derivatives(void **state) {
    (void)state;
    static const char *const texts[] = {"3",
                                        "2*t",
                                        "t^3-t^2+1/t",
                                        "-t%2",
                                        "sin(2*t)*cos(t/3)",
                                        "exp(-t)*sqrt(t)",
                                        "abs(1-t)+floor(t)",
                                        "min(t, 2*t)+max(3-t, t)",
                                        "t^0.5+2^t+t^t",
                                        "table(2*t, 0, 0, 1, t, 4, 2)",
                                        "spline(t, 0, 0, 1, 2, 1.5, -1, 4, 3)",
                                        "spline(t^2, 0, 0, 6, 3)"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (int k = 0; k < 20; k++) {
            double t = 0.3 + 0.1137 * k, h = 1e-6, value, rate, ends[2];
            assert_int_equal(rg_expression_of_time(texts[i], t, &value, &rate, NULL), RG_OK);
            for (int side = 0; side < 2; side++)
                assert_int_equal(
                    rg_expression_of_time(texts[i], side ? t + h : t - h, &ends[side], NULL, NULL),
                    RG_OK);
            if (fabs(rate - (ends[1] - ends[0]) / (2 * h)) > 1e-7 * (1 + fabs(rate)))
                fail_msg("\"%s\" at %g: rate %.12g, difference %.12g", texts[i], t, rate,
                         (ends[1] - ends[0]) / (2 * h));
        }
}

/* A spline goes through its points with a continuous rate, and is at rest before and after. */
static void splines(void **state) {
    (void)state;
    static const char text[] = "spline(t, 0, 1, 1, 3, 1.5, -1, 4, 2)";
    const double places[4] = {0, 1, 1.5, 4}, values[4] = {1, 3, -1, 2};
    for (int i = 0; i < 4; i++) {
        double value, rate, before, after;
        assert_int_equal(rg_expression_of_time(text, places[i], &value, &rate, NULL), RG_OK);
        assert_near(value, values[i], 1e-15);
        rg_expression_of_time(text, places[i] - 1e-9, &value, &before, NULL);
        rg_expression_of_time(text, places[i] + 1e-9, &value, &after, NULL);
        assert_near(before, after, 1e-6);
        assert_true((i > 0 && i < 3) || fabs(after) < 1e-6);
    }
    double value, rate;
    assert_int_equal(rg_expression_of_time(text, -5, &value, &rate, NULL), RG_OK);
    assert_true(value == 1 && rate == 0);
    assert_int_equal(rg_expression_of_time(text, 9, &value, &rate, NULL), RG_OK);
    assert_true(value == 2 && rate == 0);
    rg_error error;
    assert_int_equal(rg_expression_of_time("spline(t, 1, 0, 1, 2)", 0, &value, &rate, &error),
                     RG_INVALID_ARGUMENT);
    assert_int_equal(error.column, 16);
    assert_int_equal(rg_expression_of_time("spline(t)", 0, &value, &rate, &error), RG_SYNTAX);
    assert_int_equal(rg_expression_of_time("sqrt(t)", 0, &value, NULL, &error), RG_OK);
    assert_int_equal(rg_expression_of_time("sqrt(t)", 0, &value, &rate, &error), RG_NOT_FINITE);
    assert_non_null(strstr(error.text, "no finite rate of change"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_and_operators),
        cmocka_unit_test(precedence),
        cmocka_unit_test(minus_zero_keeps_its_sign),
        cmocka_unit_test(functions),
        cmocka_unit_test(powers),
        cmocka_unit_test(loop_variables_are_noticed),
        cmocka_unit_test(errors_name_the_column),
        cmocka_unit_test(unknown_names_get_the_nearest),
        cmocka_unit_test(results_must_be_finite),
        cmocka_unit_test(depth_is_limited),
        cmocka_unit_test(names),
        cmocka_unit_test(rates_are_derivatives),
        cmocka_unit_test(splines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
