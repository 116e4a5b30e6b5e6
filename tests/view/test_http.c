/* Heads of requests: what is read, and what is refused. */
#include "test_support.h"

#include "view_http.h"

#include <stdio.h>
#include <string.h>

static char bytes[1 << 16];
static view_http http;

static int reads(const char *head) {
    size_t size = strlen(head);
    memcpy(bytes, head, size);
    assert_int_equal(view_http_end(bytes, size), size);
    return view_http_read(bytes, size, &http);
}

static const char *value(const char *name, bool *twice) {
    *twice = false;
    return view_http_header_value(&http, name, twice);
}

static void test_a_request(void **state) {
    (void)state;
    bool twice;
    assert_int_equal(reads("GET /api/runs?token=1&x HTTP/1.1\r\nHost:a:1\r\nEmpty:\r\n"
                           "X-Y:  two words \r\nhost: b\r\n\r\n"),
                     0);
    assert_string_equal(http.method, "GET");
    assert_string_equal(http.path, "/api/runs");
    assert_string_equal(http.query, "token=1&x");
    assert_int_equal(http.header_count, 4);
    assert_string_equal(value("X-y", &twice), "two words");
    assert_false(twice);
    assert_string_equal(value("Empty", &twice), "");
    assert_null(value("None", &twice));
    assert_non_null(value("HOST", &twice));
    assert_true(twice);
    assert_int_equal(reads("GET / HTTP/1.0\r\n\r\n"), 0);
    assert_null(http.query);
    assert_int_equal(http.header_count, 0);
}

static void test_what_is_no_request(void **state) {
    (void)state;
    static const char *const wrong[] = {
        "\r\n\r\n",
        "GET\r\n\r\n",
        "GET /\r\n\r\n",
        "GET  / HTTP/1.1\r\n\r\n",
        " GET / HTTP/1.1\r\n\r\n",
        "GET / /x HTTP/1.1\r\n\r\n",
        "GET / http/1.1\r\n\r\n",
        "GET / HTTP/1.1 \r\n\r\n",
        "GET / HTTP/1.1\nHost: a\r\n\r\n",
        "GET / HTTP/1.1\rHost: a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost\r\n\r\n",
        "GET / HTTP/1.1\r\n: a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost : a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\nOrigin: b\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\tb\r\n\r\n",
        "GET / HTTP/1.1\r\nH\xc3\xa4st: a\r\n\r\n",
        "\x16\x03\x01 / HTTP/1.1\r\n\r\n",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        if (reads(wrong[i]) != 400)
            fail_msg("case %zu: %s", i, wrong[i]);
    assert_int_equal(reads("PRI * HTTP/2.0\r\n\r\n"), 505);
    memcpy(bytes, "GET /\0 HTTP/1.1\r\n\r\n", 19);
    assert_int_equal(view_http_read(bytes, 19, &http), 400);
}

static void test_where_it_ends(void **state) {
    (void)state;
    static const char head[] = "GET / HTTP/1.1\r\nHost: a\r\n\r\nrest\r\n\r\n";
    size_t end = sizeof head - 1 - strlen("rest\r\n\r\n");
    for (size_t size = 0; size < sizeof head; size++)
        assert_int_equal(view_http_end(head, size), size < end ? 0 : end);
    assert_int_equal(view_http_end("\r\r\n\r\n", 5), 5);
    assert_int_equal(view_http_end("\r\n\r", 3), 0);
}

static void test_how_many_headers(void **state) {
    (void)state;
    static char head[1 << 12];
    for (int extra = 0; extra < 2; extra++) {
        size_t size = (size_t)snprintf(head, sizeof head, "GET / HTTP/1.1\r\n");
        for (int i = 0; i < VIEW_HTTP_HEADERS + extra; i++)
            size += (size_t)snprintf(head + size, sizeof head - size, "X%d: y\r\n", i);
        snprintf(head + size, sizeof head - size, "\r\n");
        assert_int_equal(reads(head), extra ? 431 : 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_request),
        cmocka_unit_test(test_what_is_no_request),
        cmocka_unit_test(test_where_it_ends),
        cmocka_unit_test(test_how_many_headers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
