#include "test_support.h"

#include "base/base_text.h"

#include "rigor/random.h"
#include "rigor/text.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static bool parse(const char *text, double *value) {
    return rg_parse_double(text, strlen(text), value);
}

static bool same_bits(double a, double b) {
    return memcmp(&a, &b, sizeof a) == 0;
}

static void check_parse(const char *text, double expected) {
    double value = -777;
    if (!parse(text, &value) || !same_bits(value, expected))
        fail_msg("\"%s\" gave %.17g instead of %.17g", text, value, expected);
}

static void test_parse_values(void **state) {
    (void)state;
    check_parse("1", 1);
    check_parse("-2.5e-3", -0.0025);
    check_parse("+7", 7);
    check_parse(".5", 0.5);
    check_parse("5.", 5);
    check_parse("0", 0);
    check_parse("-0", -0.0);
    check_parse("000.000e99", 0);
    check_parse("00012.50", 12.5);
    check_parse("1E+2", 100);
    check_parse("1e0000000000000000000000000002", 100);
    check_parse("inf", INFINITY);
    check_parse("-inf", -INFINITY);
    check_parse("1e999", INFINITY); /* correctly rounded */
    check_parse("-1e99999999999999999999999", -INFINITY);
    check_parse("1e-99999999999999999999999", 0);
    check_parse("0e99999999999999999999999", 0);
    check_parse("4.9e-324", DBL_TRUE_MIN);
    check_parse("2.4703282292062327e-324", 0);            /* just below half of the smallest */
    check_parse("2.4703282292062328e-324", DBL_TRUE_MIN); /* just above */
    check_parse("1.7976931348623157e308", DBL_MAX);
    check_parse("9007199254740993", 9007199254740992.0); /* half way: to even */
    check_parse("9007199254740993.00000000000000000000000000001", 9007199254740994.0);
    double value;
    assert_true(parse("nan", &value) && isnan(value));
    assert_true(rg_parse_double("1234", 2, &value) && value == 12); /* only the given bytes */
}

/* 1 followed by thousands of digits: only the very last decides. */
static void test_parse_long(void **state) {
    (void)state;
    enum { ZEROS = 5000 };
    char text[ZEROS + 64];
    int start = snprintf(text, sizeof text, "9007199254740993.");
    memset(text + start, '0', ZEROS);
    text[start + ZEROS] = '0';
    text[start + ZEROS + 1] = 0;
    check_parse(text, 9007199254740992.0);
    text[start + ZEROS] = '1';
    check_parse(text, 9007199254740994.0);
    memset(text, '0', ZEROS); /* 000...0001e5 */
    strcpy(text + ZEROS, "1e5");
    check_parse(text, 1e5);
    text[0] = '1'; /* 10^4999, brought back by the exponent */
    strcpy(text + ZEROS, "e-5000");
    check_parse(text, 0.1);
    text[0] = '.'; /* .000...0001 with 4999 zeros, times 10^5000 */
    strcpy(text + ZEROS, "1e5000");
    check_parse(text, 1);
}

static void test_parse_bad(void **state) {
    (void)state;
    static const char *const bad[] = {
        "",     " ",   "1 ",   " 1",    "1,5",   "e5",       ".",     "-",     "+",    "--1",
        "1e",   "1e+", "1e-",  "1.2.3", "0x10",  "0x1p3",    "1f",    "1e5.0", "abc",  "infinity",
        "Inf",  "NaN", "-nan", "+-1",   "1e5e5", "1_000",    "1'000", "inf1",  "nan0", "..1",
        "1e 5", "\t1", "1\n",  "0b1",   "1d5",   "\xC2\xBD", "-e1",   ".e1",   "+.",   "1-",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        double value = 42;
        if (parse(bad[i], &value))
            fail_msg("\"%s\" was accepted as %.17g", bad[i], value);
        assert_true(value == 42); /* and nothing was written */
    }
    double value;
    assert_false(rg_parse_double("1\0", 2, &value)); /* a zero byte is not a digit */
}

static void test_format_values(void **state) {
    (void)state;
    static const struct {
        double value;
        const char *text;
    } known[] = {
        {0, "0"},
        {-0.0, "-0"},
        {1, "1"},
        {-1.5, "-1.5"},
        {0.1, "0.1"},
        {1.0 / 3, "0.3333333333333333"},
        {100, "100"},
        {1e15, "1000000000000000"},
        {1e16, "1e16"},
        {1e-5, "0.00001"},
        {1e-6, "1e-6"},
        {123456.789, "123456.789"},
        {1.25e-7, "1.25e-7"},
        {DBL_MAX, "1.7976931348623157e308"},
        {DBL_TRUE_MIN, "5e-324"},
        {DBL_MIN, "2.2250738585072014e-308"},
        {INFINITY, "inf"},
        {-INFINITY, "-inf"},
        {5e-324 * 3, "1.5e-323"},
        {9007199254740992, "9007199254740992"},
        /* 2^-44: the nearest decimal of 16 digits belongs to the double below, the next does not */
        {0x1p-44, "5.684341886080802e-14"},
    };
    char text[RG_NUMBER_SIZE];
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        assert_string_equal(rg_format_double(known[i].value, text), known[i].text);
    assert_string_equal(rg_format_double(NAN, text), "nan");
    assert_string_equal(rg_format_double(-NAN, text), "nan");
}

static size_t significant_digits(const char *text) {
    size_t count = 0, zeros = 0;
    for (; *text && *text != 'e'; text++) {
        if (*text < '0' || *text > '9' || (*text == '0' && count == 0))
            continue;
        count++;
        zeros = *text == '0' ? zeros + 1 : 0;
    }
    return count - zeros;
}

/* Every double reads back, and no decimal with fewer digits would. */
static void check_round_trip(double value) {
    char text[RG_NUMBER_SIZE];
    rg_format_double(value, text);
    assert_true(strlen(text) < RG_NUMBER_SIZE);
    double back;
    if (!parse(text, &back) || !same_bits(back, value))
        fail_msg("%.17g became \"%s\" became %.17g", value, text, back);
    size_t digits = significant_digits(text);
    if (digits > 1) { /* the nearest decimal with one digit less is another double */
        char shorter[40];
        snprintf(shorter, sizeof shorter, "%.*e", (int)digits - 2, fabs(value));
        assert_true(strtod(shorter, NULL) != fabs(value));
    }
}

static void test_round_trip(void **state) {
    (void)state;
    rg_random random = rg_random_make(1);
    for (int i = 0; i < 100000; i++) {
        uint64_t bits = rg_random_next(&random);
        double value;
        memcpy(&value, &bits, sizeof value);
        if (isfinite(value))
            check_round_trip(value);
    }
    for (int e = -1074; e < 1024; e++) {
        check_round_trip(ldexp(1, e));
        check_round_trip(-nextafter(ldexp(1, e), 0));
        check_round_trip(nextafter(ldexp(1, e), INFINITY));
    }
    for (int i = 0; i < 20000; i++) /* what people write */
        check_round_trip((double)rg_random_below(&random, 1000000) / 1000);
    for (int i = 0; i < 2000; i++) /* subnormal */
        check_round_trip(ldexp((double)rg_random_below(&random, 5000), -1074));
}

/* Powers of two, where the interval that reads back is lopsided, against a search through all
 * decimals of 16 digits beside the value. */
static void test_shortest_at_powers(void **state) {
    (void)state;
    for (int e = -1021; e < 1024; e++) {
        double value = ldexp(1, e);
        char text[RG_NUMBER_SIZE], sixteen[40];
        size_t digits = significant_digits(rg_format_double(value, text));
        if (digits < 17)
            continue;
        snprintf(sixteen, sizeof sixteen, "%.15e", value);
        long long head = 0;
        const char *at = sixteen;
        for (; *at != 'e'; at++)
            if (*at != '.')
                head = 10 * head + (*at - '0');
        int power = atoi(at + 1) - 15;
        for (long long near = head - 3; near <= head + 3; near++) {
            snprintf(sixteen, sizeof sixteen, "%llde%d", near, power);
            if (strtod(sixteen, NULL) == value)
                fail_msg("2^%d = %s, but %s is shorter", e, text, sixteen);
        }
    }
}

/* Selects a locale with a decimal comma: one that is installed, or else one that is compiled into a
 * folder of its own from the sources in Debian's package `locales`. */
static bool select_comma_locale(void) {
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8",  "de_DE",      "fr_FR.UTF-8",
                                        "fr_FR",       "es_ES.UTF-8", "ru_RU.UTF-8"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (setlocale(LC_ALL, names[i]))
            return true;
    char folder[] = "/tmp/rigor-locale-XXXXXX", command[256];
    if (!mkdtemp(folder))
        return false;
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8", folder);
    bool found = system(command) == 0 && setenv("LOCPATH", folder, 1) == 0 &&
                 setlocale(LC_ALL, "de_DE.UTF-8");
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) == 0 && found;
}

/* In a locale with a decimal comma nothing changes. */
static void test_locale(void **state) {
    (void)state;
    if (!select_comma_locale())
        skip_because(
            "no locale with a decimal comma, and no sources to make one (package locales)");
    char text[RG_NUMBER_SIZE];
    snprintf(text, sizeof text, "%.1f", 1.5);
    assert_string_equal(text, "1,5"); /* the locale is what it should be */
    check_parse("1.5", 1.5);
    assert_string_equal(rg_format_double(-1234.5e-9, text), "-1.2345e-6");
    assert_string_equal(rg_format_double(0.1, text), "0.1");
    double value;
    assert_false(parse("1,5", &value));
    test_round_trip(state);
    setlocale(LC_ALL, "C");
}

static void test_fail(void **state) {
    (void)state;
    rg_error error;
    assert_int_equal(rg_fail(&error, RG_SYNTAX, "key '%s' has %d values", "size", 3), RG_SYNTAX);
    assert_int_equal(error.status, RG_SYNTAX);
    assert_int_equal(error.line, 0);
    assert_int_equal(error.column, 0);
    assert_string_equal(error.text, "key 'size' has 3 values");
    assert_int_equal(rg_fail(NULL, RG_BUSY, "%d", 1), RG_BUSY);
    assert_int_equal(rg_fail_at(NULL, RG_BUSY, "a", 1, 2, "%d", 1), RG_BUSY);

    assert_int_equal(rg_fail_at(&error, RG_UNKNOWN_KEY, "a.yaml", 3, 14, "bodies: %s", "no"),
                     RG_UNKNOWN_KEY);
    assert_string_equal(error.text, "a.yaml:3:14: bodies: no");
    assert_int_equal(error.line, 3);
    assert_int_equal(error.column, 14);
    rg_fail_at(&error, RG_FILE_UNREADABLE, "a.yaml", 0, 0, "not there");
    assert_string_equal(error.text, "a.yaml: not there");
    rg_fail_at(&error, RG_SYNTAX, NULL, 0, 0, "plain");
    assert_string_equal(error.text, "plain");

    /* A caller puts something before the message that is there. */
    rg_fail(&error, RG_SYNTAX, "inner");
    rg_fail(&error, RG_SYNTAX, "outer: %s", error.text);
    assert_string_equal(error.text, "outer: inner");
}

static void test_fail_too_long(void **state) {
    (void)state;
    char longer[3 * RG_ERROR_TEXT_SIZE];
    for (size_t shift = 0; shift < 3; shift++) {
        /* two-byte characters, so that some cut falls inside one */
        memset(longer, 'x', sizeof longer);
        for (size_t i = shift; i + 1 < sizeof longer; i += 2)
            memcpy(longer + i, "\xC3\xA4", 2);
        longer[sizeof longer - 2] = 'x';
        longer[sizeof longer - 1] = 0;
        rg_error error;
        rg_fail(&error, RG_SYNTAX, "%s", longer);
        size_t size = strlen(error.text);
        assert_true(size < RG_ERROR_TEXT_SIZE && size >= RG_ERROR_TEXT_SIZE - 3);
        assert_string_equal(error.text + size - 3, "...");
        assert_memory_equal(error.text, longer, size - 3);
        assert_true(((size - 3) - shift) % 2 == 0); /* whole characters before the dots */
        rg_fail_at(&error, RG_SYNTAX, longer, 1, 1, "never seen");
        assert_true(strlen(error.text) < RG_ERROR_TEXT_SIZE);
        assert_string_equal(error.text + strlen(error.text) - 3, "...");
    }
    rg_error error; /* exactly as long as there is room: not cut */
    memset(longer, 'y', RG_ERROR_TEXT_SIZE - 1);
    longer[RG_ERROR_TEXT_SIZE - 1] = 0;
    rg_fail(&error, RG_SYNTAX, "%s", longer);
    assert_string_equal(error.text, longer);
}

static void assert_visible(const char *text, const char *expected) {
    char out[64];
    assert_int_equal(rg_text_visible(text, out, sizeof out), strlen(expected));
    assert_string_equal(out, expected);
    assert_int_equal(rg_text_visible(text, NULL, 0), strlen(expected));
    rg_error error;
    rg_fail(&error, RG_SYNTAX, "%s", text);
    assert_string_equal(error.text, expected);
}

static void test_visible(void **state) {
    (void)state;
    assert_visible("plain, \"text\"\n\tof two lines", "plain, \"text\"\n\tof two lines");
    assert_visible("\x1b]0;title\x07", "\\x1b]0;title\\x07");
    assert_visible("a\rb\x7f\x01", "a\\x0db\\x7f\\x01");
    assert_visible("\xc2\x9b"
                   "31m",
                   "\\xc2\\x9b31m"); /* U+009B, CSI */
    assert_visible("\xc2\xa0\xc3\xa4\xe2\x82\xac", "\xc2\xa0\xc3\xa4\xe2\x82\xac"); /* U+00A0 on */
    assert_visible("\x9b"
                   "31m\xff\xc0\x9b",
                   "\\x9b31m\\xff\\xc0\\x9b"); /* no UTF-8 */
    assert_visible("\xe2\x82", "\\xe2\\x82");  /* cut short */
    /* What does not fit is cut, and the length of the whole comes back. */
    char out[4] = "zzz";
    assert_int_equal(rg_text_visible("ab\x1b", out, sizeof out), 6);
    assert_string_equal(out, "ab\\");
    /* A message of nothing but control characters is four times as long as its text. */
    char bells[RG_ERROR_TEXT_SIZE];
    memset(bells, '\a', sizeof bells - 1);
    bells[sizeof bells - 1] = 0;
    rg_error error;
    rg_fail(&error, RG_SYNTAX, "%s", bells);
    assert_int_equal(strlen(error.text), RG_ERROR_TEXT_SIZE - 1);
    assert_string_equal(error.text + RG_ERROR_TEXT_SIZE - 4, "...");
}

static void assert_cell(const char *text, const char *expected) {
    char out[64];
    assert_int_equal(rg_text_csv(text, out, sizeof out), strlen(expected));
    assert_string_equal(out, expected);
}

static void test_csv(void **state) {
    (void)state;
    assert_cell("", "");
    assert_cell("box 1", "box 1");
    assert_cell("a, \"b\"\n", "\"a, \"\"b\"\"\n\"");
    assert_cell("=1+1", "'=1+1");
    assert_cell("=HYPERLINK(\"x\", 1)", "\"'=HYPERLINK(\"\"x\"\", 1)\"");
    assert_cell("@SUM(1)", "'@SUM(1)");
    assert_cell("-left", "'-left");
    assert_cell("+1 (0) 555", "'+1 (0) 555");
    assert_cell("\t=1", "'\t=1");
    assert_cell("-", "'-");
    assert_cell("-2.5e-3", "-2.5e-3"); /* numbers are numbers */
    assert_cell("-inf", "-inf");
    assert_cell("a=1", "a=1");
    assert_cell("\x1b[2J", "\\x1b[2J");
}

static void test_nearest_word(void **state) {
    (void)state;
    static const char *const keys[] = {"position", "orientation", "velocity", "density",
                                       "mass",     "name",        "shape",    "angular_velocity"};
    size_t count = sizeof keys / sizeof keys[0];
    assert_string_equal(rg_nearest_word("postion", keys, count), "position");
    assert_string_equal(rg_nearest_word("positoin", keys, count), "position"); /* one swap */
    assert_string_equal(rg_nearest_word("Mass", keys, count), "mass");
    assert_string_equal(rg_nearest_word("mas", keys, count), "mass");
    assert_string_equal(rg_nearest_word("shapes", keys, count), "shape");
    assert_string_equal(rg_nearest_word("angularvelocity", keys, count), "angular_velocity");
    assert_string_equal(rg_nearest_word("name", keys, count), "name");
    assert_null(rg_nearest_word("restitution", keys, count));
    assert_null(rg_nearest_word("zz", keys, count));
    /* With half of its letters changed it is another word. */
    static const char *const piles[] = {"pile", "profile"};
    assert_null(rg_nearest_word("nofile", piles, 1));
    assert_string_equal(rg_nearest_word("nofile", piles, 2), "profile");
    assert_null(rg_nearest_word("name", keys, 0));
    assert_null(rg_nearest_word("", keys, count));
    /* A swap counts one: "ab" -> "ba" is within 1 + 2/3 = 1, a substitution of both is not. */
    static const char *const short_keys[] = {"xy", "ba"};
    assert_string_equal(rg_nearest_word("ab", short_keys, 2), "ba");
    static const char *const ties[] = {"cat", "car"}; /* the first of equals */
    assert_string_equal(rg_nearest_word("cap", ties, 2), "cat");
    char longest[500];
    memset(longest, 'a', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    assert_null(rg_nearest_word(longest, keys, count));
    const char *longs[] = {longest, "aa"};
    assert_string_equal(rg_nearest_word("aaa", longs, 2), "aa");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse_values),  cmocka_unit_test(test_parse_long),
        cmocka_unit_test(test_parse_bad),     cmocka_unit_test(test_format_values),
        cmocka_unit_test(test_round_trip),    cmocka_unit_test(test_shortest_at_powers),
        cmocka_unit_test(test_locale),        cmocka_unit_test(test_fail),
        cmocka_unit_test(test_fail_too_long), cmocka_unit_test(test_nearest_word),
        cmocka_unit_test(test_visible),       cmocka_unit_test(test_csv),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
