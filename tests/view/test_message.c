/* What comes from outside: JSON, messages, paths, hosts, tokens, frames of the protocol. */
#include "test_support.h"

#include "view_frame.h"
#include "view_hash.h"
#include "view_json.h"
#include "view_message.h"
#include "view_policy.h"
#include "view_request.h"

#include "rigor/random.h"
#include "rigor/solver.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- JSON ---- */

static view_json json;

static bool reads(const char *text) {
    return view_json_read(text, strlen(text), &json);
}

static void test_json_values(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double value;
    } numbers[] = {{"0", 0},
                   {"-0", -0.0},
                   {"12", 12},
                   {"-1.5", -1.5},
                   {"1e3", 1000},
                   {"1E+3", 1000},
                   {"25e-1", 2.5},
                   {" 7\n", 7},
                   {"1.7976931348623157e308", DBL_MAX},
                   {"5e-324", 0x1p-1074},
                   {"1e-999", 0}};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        assert_true(reads(numbers[i].text));
        assert_int_equal(json.values[0].type, VIEW_JSON_NUMBER);
        assert_true(json.values[0].number == numbers[i].value);
    }
    assert_true(reads("\"a\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e4\\u20ac\\ud83d\\ude00\xc3\xa4\""));
    assert_string_equal(json.values[0].text,
                        "a\"\\/\b\f\n\r\t\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\xc3\xa4");
    assert_true(reads("{\"a\": [1, [2, 3], {}], \"b\": null, \"\": true}"));
    const view_json_value *a = view_json_member(&json, json.values, "a");
    assert_non_null(a);
    assert_int_equal(a->count, 3);
    assert_int_equal(json.values[0].count, 3);
    assert_int_equal(view_json_member(&json, json.values, "b")->type, VIEW_JSON_NULL);
    assert_int_equal(view_json_member(&json, json.values, "")->type, VIEW_JSON_TRUE);
    assert_null(view_json_member(&json, json.values, "c"));
    assert_null(view_json_member(&json, a, "a")); /* a list has no members */
    assert_true(reads("[[[[[[[1]]]]]]]"));
}

static const char *const wrong_json[] = {
    "",
    " ",
    "x",
    "nul",
    "nulll",
    "tru",
    "{",
    "}",
    "[",
    "]",
    "[1,]",
    "[,1]",
    "[1 2]",
    "{\"a\"}",
    "{\"a\":}",
    "{\"a\":1,}",
    "{a:1}",
    "{'a':1}",
    "{\"a\":1 \"b\":2}",
    "{\"a\":1,\"a\":2}",
    "01",
    "+1",
    ".5",
    "5.",
    "1e",
    "1e+",
    "-",
    "--1",
    "0x1",
    "NaN",
    "Infinity",
    "-Infinity",
    "1e309",
    "1 1",
    "\"",
    "\"\\\"",
    "\"\\x\"",
    "\"\\u12\"",
    "\"\\u123g\"",
    "\"\\ud800\"",
    "\"\\ud800\\u0041\"",
    "\"\\udc00\"",
    "\"\\u0000\"",
    "\"\n\"",
    "\"\x1f\"",
    "\"\xff\"",
    "\"\xc0\xaf\"",
    "\"\xe0\x80\x80\"",
    "\"\xed\xa0\x80\"",
    "\"\xf4\x90\x80\x80\"",
    "\"\xc3\"",
    "\"\xc3",
    "\xef\xbb\xbf{}",
    "// x\n1",
    "[[[[[[[[1]]]]]]]]",
    "0000000000000000000000000000000000000000000000000000000000000000000000",
    "0.0000000000000000000000000000000000000000000000000000000000000000000000",
    "\"012345678901234567890123456789012345678901234567\""};

static void test_json_errors(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof wrong_json / sizeof wrong_json[0]; i++) {
        const char *wrong = wrong_json[i];
        if (reads(wrong))
            fail_msg("\"%s\" was read", wrong);
        assert_non_null(json.problem);
        assert_true(json.where <= strlen(wrong) + 1);
    }
    assert_false(view_json_read("\0", 1, &json));
    assert_false(view_json_read("1\0", 2, &json));
    char many[4 * VIEW_JSON_VALUES];
    size_t size = 0;
    many[size++] = '[';
    for (int i = 0; i < VIEW_JSON_VALUES; i++)
        size += (size_t)snprintf(many + size, sizeof many - size, "%s1", i ? "," : "");
    many[size++] = ']';
    assert_false(view_json_read(many, size, &json));
}

static void test_json_writing(void **state) {
    (void)state;
    char bytes[128];
    view_text text = {.bytes = bytes, .capacity = sizeof bytes};
    view_text_put_string(&text, "a\"\\\n\x7f\xc3\xa4\xff\xe2\x82");
    assert_string_equal(bytes,
                        "\"a\\\"\\\\\\u000a\\u007f\xc3\xa4\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
    rg_random random = rg_random_make(7);
    for (int i = 0; i < 2000; i++) { /* numbers come back to the last bit */
        double number =
            ldexp(rg_random_between(&random, -1, 1), (int)rg_random_between(&random, -900, 900));
        text.size = 0;
        view_text_put_number(&text, number);
        assert_true(view_json_read(bytes, text.size, &json));
        assert_true(json.values[0].number == number);
    }
    text.size = 0;
    view_text_put_number(&text, NAN);
    view_text_put_number(&text, -INFINITY);
    assert_string_equal(bytes, "nullnull");
    view_text little = {.bytes = bytes, .capacity = 4};
    view_text_put(&little, "%s", "abcdef");
    view_text_put(&little, "%s", "g");
    assert_true(little.cut);
    assert_string_equal(bytes, "abc");
}

/* ---- messages ---- */

static view_message message;
static char problem[VIEW_PROBLEM_SIZE];

static bool takes(const char *text) {
    bool taken = view_message_read(text, strlen(text), &message, problem);
    assert_true(taken == (problem[0] == '\0'));
    return taken;
}

static void test_messages(void **state) {
    (void)state;
    assert_true(takes("{\"type\":\"play\"}"));
    assert_int_equal(message.kind, VIEW_MESSAGE_PLAY);
    assert_true(takes("{\"count\":10000,\"type\":\"step\"}"));
    assert_int_equal(message.count, 10000);
    assert_true(takes("{\"type\":\"speed\",\"value\":0.25}"));
    assert_true(message.speed == 0.25);
    assert_true(takes("{\"type\":\"set\"}"));
    assert_true(!message.method && !message.solver && !message.has_step && !message.has_friction &&
                !message.has_gravity);
    assert_true(takes("{\"type\":\"set\",\"method\":\"analytic\",\"solver\":\"lemke\",\"step\":0.5,"
                      "\"friction\":0,\"gravity\":[1,-2,3.5]}"));
    assert_ptr_equal(message.method, rg_method_find("analytic"));
    assert_ptr_equal(message.solver, rg_solver_find("lemke"));
    assert_true(message.has_friction && !message.friction_of_scene && message.friction == 0);
    assert_true(message.gravity.x == 1 && message.gravity.y == -2 && message.gravity.z == 3.5);
    assert_true(takes("{\"type\":\"set\",\"friction\":null}"));
    assert_true(message.has_friction && message.friction_of_scene);
    assert_true(
        takes("{\"type\":\"grab\",\"body\":4294967295,\"point\":[1,2,3],\"target\":[4,5,6]}"));
    assert_int_equal(message.body, UINT32_MAX);
    assert_true(message.point.z == 3 && message.target.x == 4);
    assert_true(takes("{\"type\":\"throw\",\"from\":[0,0,1],\"velocity\":[9,0,0],\"size\":0.1}"));
    assert_true(message.from.z == 1 && message.velocity.x == 9 && message.size == 0.1);
    assert_false(
        takes("{\"type\":\"grab\",\"body\":4294967296,\"point\":[1,2,3],\"target\":[4,5,6]}"));
    assert_true(takes("{\"type\":\"motor\",\"joint\":3,\"axis\":1,\"target\":-0.25}"));
    assert_true(takes("{\"type\":\"motor\",\"joint\":3,\"axis\":1,\"target\":null}"));
    assert_false(takes("{\"type\":\"motor\",\"joint\":3,\"axis\":1}"));
    assert_false(takes("{\"type\":\"motor\",\"joint\":-1,\"axis\":0,\"target\":0}"));
    assert_false(takes("{\"type\":\"motor\",\"joint\":0.5,\"axis\":0,\"target\":0}"));
    assert_false(takes("{\"type\":\"motor\",\"joint\":0,\"axis\":3,\"target\":0}"));
    assert_false(takes("{\"type\":\"motor\",\"joint\":0,\"axis\":0,\"target\":1e7}"));
    assert_false(takes("{\"type\":\"motor\",\"joint\":0,\"axis\":0,\"target\":\"fast\"}"));
    assert_false(takes("{\"type\":\"motor\",\"joint\":0,\"axis\":0,\"target\":0,\"gain\":1}"));
    assert_false(takes("{\"type\":\"throw\",\"from\":[0,0,1],\"velocity\":[9,0,0],\"size\":1e9}"));
    assert_false(takes("{\"type\":\"throw\",\"from\":[0,0,[1]],\"velocity\":[9,0,0],\"size\":1}"));
    assert_false(takes("{\"type\":\"throw\",\"from\":[[0,0],1],\"velocity\":[9,0,0],\"size\":1}"));
    assert_false(takes("{\"type\":\"pl\\u00e4y\"}"));
    for (const char *c = problem; *c; c++) /* what it cites does no harm where it is shown */
        assert_true(*c >= 0x20 && *c < 0x7f);
    char *large = malloc(VIEW_MESSAGE_BYTES + 1);
    assert_non_null(large);
    memset(large, ' ', VIEW_MESSAGE_BYTES + 1);
    memcpy(large, "{\"type\":\"play\"}", 15);
    assert_true(view_message_read(large, VIEW_MESSAGE_BYTES, &message, problem));
    assert_false(view_message_read(large, VIEW_MESSAGE_BYTES + 1, &message, problem));
    free(large);
}

/* ---- requests ---- */

static void check_route(const char *path, view_route_kind kind, size_t run, size_t chunk) {
    view_route route = view_route_find(path);
    if (route.kind != kind || route.run != run || route.chunk != chunk)
        fail_msg("%s: %d %zu %zu", path, (int)route.kind, route.run, route.chunk);
}

static void test_routes(void **state) {
    (void)state;
    check_route("/", VIEW_ROUTE_PAGE, 0, 0);
    check_route("/favicon.ico", VIEW_ROUTE_ICON, 0, 0);
    check_route("/api/runs", VIEW_ROUTE_RUNS, 0, 0);
    check_route("/api/runs/0/manifest", VIEW_ROUTE_MANIFEST, 0, 0);
    check_route("/api/runs/12/overview", VIEW_ROUTE_OVERVIEW, 12, 0);
    check_route("/api/runs/3/times", VIEW_ROUTE_TIMES, 3, 0);
    check_route("/api/runs/3/chunks/999999999", VIEW_ROUTE_CHUNK, 3, 999999999);
    check_route("/api/live/7", VIEW_ROUTE_LIVE, 7, 0);
    static const char *const wrong[] = {"",
                                        "/x",
                                        "//",
                                        "/.",
                                        "/..",
                                        "/../etc/passwd",
                                        "/%2e%2e/",
                                        "/api",
                                        "/api/",
                                        "/api/runs/",
                                        "/api/runs/0",
                                        "/api/runs/0/",
                                        "/api/runs//manifest",
                                        "/api/runs/00/manifest",
                                        "/api/runs/+1/manifest",
                                        "/api/runs/-1/manifest",
                                        "/api/runs/1 /manifest",
                                        "/api/runs/0x1/manifest",
                                        "/api/runs/1234567890/manifest",
                                        "/api/runs/0/manifest/",
                                        "/api/runs/0/Manifest",
                                        "/api/runs/0/chunks",
                                        "/api/runs/0/chunks/",
                                        "/api/runs/0/chunks/1/",
                                        "/api/runs/0/chunks/01",
                                        "/api/runs/0/chunks/1234567890",
                                        "/api/live",
                                        "/api/live/",
                                        "/api/live/x",
                                        "/api/live/1/",
                                        "/api/live/1/../0",
                                        "api/runs",
                                        "http://localhost/",
                                        "/index.html",
                                        "/favicon.ico/"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        check_route(wrong[i], VIEW_ROUTE_NONE, 0, 0);
}

static void test_tokens(void **state) {
    (void)state;
    char token[VIEW_TOKEN_SIZE], other[VIEW_TOKEN_SIZE], query[4 * VIEW_TOKEN_SIZE];
    assert_true(view_token_make(token) && view_token_make(other));
    assert_int_equal(strlen(token), 32);
    assert_int_equal(strspn(token, "0123456789abcdef"), 32);
    assert_string_not_equal(token, other);
    static const struct {
        const char *format;
        bool fits;
    } queries[] = {{"token=%s", true},
                   {"a=b&token=%s", true},
                   {"token=%s&a=b", true},
                   {"token=%s&token=x", false},
                   {"token=x&token=%s", false},
                   {"token=%s0", false},
                   {"token=0%s", false},
                   {"Token=%s", false},
                   {"a=token=%s", false},
                   {"token= %s", false},
                   {"%s", false},
                   {"&&token=%s&&", true}};
    for (size_t i = 0; i < sizeof queries / sizeof queries[0]; i++) {
        snprintf(query, sizeof query, queries[i].format, token);
        assert_true(view_token_fits(query, token) == queries[i].fits);
        snprintf(query, sizeof query, queries[i].format, other);
        assert_false(view_token_fits(query, token));
    }
    assert_false(view_token_fits(NULL, token));
    assert_false(view_token_fits("", token));
    for (int i = 0; i < 32; i++) { /* every letter counts */
        snprintf(query, sizeof query, "token=%s", token);
        query[6 + i] = query[6 + i] == '0' ? '1' : '0';
        assert_false(view_token_fits(query, token));
    }
}

static void test_hosts(void **state) {
    (void)state;
    static const view_place here = {"127.0.0.1", 8080}, other = {"192.0.2.7", 8080},
                            everywhere = {"0.0.0.0", 8080}, plain = {"127.0.0.1", 80};
    static const struct {
        const char *host;
        bool here, other, everywhere;
    } hosts[] = {{"127.0.0.1:8080", true, false, true},
                 {"localhost:8080", true, false, true},
                 {"LocalHost:8080", true, false, true},
                 {"[::1]:8080", true, false, true},
                 {"192.0.2.7:8080", false, true, true},
                 {"[2001:db8::1]:8080", false, false, true},
                 {"0.0.0.0:8080", false, false, false},
                 {"evil.example:8080", false, false, false},
                 {"127.0.0.1.evil.example:8080", false, false, false},
                 {"127.0.0.1", false, false, false},
                 {"127.0.0.1:80", false, false, false},
                 {"127.0.0.1:08080", false, false, false},
                 {"127.0.0.1:8080:8080", false, false, false},
                 {"127.0.0.1:8080 ", false, false, false},
                 {" 127.0.0.1:8080", false, false, false},
                 {"127.0.0.1:", false, false, false},
                 {":8080", false, false, false},
                 {"[::1:8080", false, false, false},
                 {"[]:8080", false, false, false},
                 {"::1:8080", false, false, false},
                 {"", false, false, false}};
    for (size_t i = 0; i < sizeof hosts / sizeof hosts[0]; i++)
        if (view_host_fits(&here, hosts[i].host) != hosts[i].here ||
            view_host_fits(&other, hosts[i].host) != hosts[i].other ||
            view_host_fits(&everywhere, hosts[i].host) != hosts[i].everywhere)
            fail_msg("\"%s\"", hosts[i].host);
    assert_false(view_host_fits(&here, NULL));
    assert_true(view_host_fits(&plain, "localhost")); /* browsers leave out port 80 */
    assert_true(view_origin_fits(NULL, "a:1"));
    assert_true(view_origin_fits("http://a:1", "a:1"));
    assert_true(view_origin_fits("http://A:1", "a:1"));
    assert_false(view_origin_fits("https://a:1", "a:1"));
    assert_false(view_origin_fits("http://a:1/", "a:1"));
    assert_false(view_origin_fits("null", "a:1"));
    assert_false(view_origin_fits("", "a:1"));
}

/* ---- sums ---- */

static void check_hash(const unsigned char *hash, size_t size, const char *expected) {
    char text[2 * VIEW_SHA256_BYTES + 1];
    for (size_t i = 0; i < size; i++)
        snprintf(text + 2 * i, 3, "%02x", hash[i]);
    assert_string_equal(text, expected);
}

/* The examples of FIPS 180-4. */
static void test_hashes(void **state) {
    (void)state;
    static const char two_blocks[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    unsigned char hash[VIEW_SHA256_BYTES];
    char text[VIEW_BASE64_SIZE];
    view_sha256("abc", 3, hash);
    check_hash(hash, 32, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    view_base64(hash, 32, text);
    assert_string_equal(text, "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
    view_sha256(two_blocks, 56, hash);
    check_hash(hash, 32, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    view_sha256(NULL, 0, hash);
    check_hash(hash, 32, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    view_sha1("abc", 3, hash);
    check_hash(hash, 20, "a9993e364706816aba3e25717850c26c9cd0d89d");
    view_sha1(two_blocks, 56, hash);
    check_hash(hash, 20, "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
    view_base64((const unsigned char *)"ab", 2, text);
    assert_string_equal(text, "YWI=");
    view_base64((const unsigned char *)"a", 1, text);
    assert_string_equal(text, "YQ==");
    char *million = malloc(1000000);
    assert_non_null(million);
    memset(million, 'a', 1000000);
    view_sha1(million, 1000000, hash);
    check_hash(hash, 20, "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
    view_sha256(million, 1000000, hash);
    check_hash(hash, 32, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    free(million);
}

static void check_policy(const char *page, const char *expected) {
    char policy[VIEW_POLICY_SIZE];
    view_policy_of_scripts(page, strlen(page), policy);
    assert_string_equal(policy, expected);
}

static void test_policy(void **state) {
    (void)state;
    static const char abc[] = "'sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0='";
    char two[256], page[1024] = "";
    snprintf(two, sizeof two, "%s %s", abc, abc);
    check_policy("", "'none'");
    check_policy("<p>abc</p><scripted>abc</scripted>", "'none'");
    check_policy("<script>abc</script>", abc);
    check_policy("<SCRIPT type=\"module\" >abc</Script >", abc);
    check_policy("x<script>abc</script>y<script\nid=a>abc</script>", two);
    check_policy("<script>abc",
                 "'unsafe-inline'"); /* without an end it is what the browser makes of it */
    for (int i = 0; i < 13; i++)
        strcat(page, "<script></script>");
    check_policy(page, "'unsafe-inline'");
}

/* ---- frames ---- */

static void test_frames(void **state) {
    (void)state;
    /* "Hello" of RFC 6455, 5.7. */
    static const unsigned char hello[] = {0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d,
                                          0x7f, 0x9f, 0x4d, 0x51, 0x58};
    unsigned char bytes[400];
    view_frame frame;
    for (size_t size = 0; size < sizeof hello; size++) {
        memcpy(bytes, hello, sizeof hello);
        assert_int_equal(view_frame_read(bytes, size, 100, &frame), 0);
        assert_memory_equal(bytes, hello, sizeof hello); /* untouched until it is whole */
    }
    assert_int_equal(view_frame_read(bytes, sizeof hello, 100, &frame), 1);
    assert_true(frame.opcode == VIEW_OPCODE_TEXT && frame.last && frame.size == 5 &&
                frame.whole == sizeof hello);
    assert_memory_equal(frame.data, "Hello", 5);
    static const struct {
        unsigned char first, second;
        int result;
    } heads[] = {{0x81, 0x05, -VIEW_CLOSE_PROTOCOL}, /* no mask */
                 {0xc1, 0x85, -VIEW_CLOSE_PROTOCOL}, /* of an extension */
                 {0x83, 0x80, -VIEW_CLOSE_PROTOCOL}, /* no such opcode */
                 {0x8b, 0x80, -VIEW_CLOSE_PROTOCOL},
                 {0x09, 0x80, -VIEW_CLOSE_PROTOCOL}, /* a ping in parts */
                 {0x89, 0xfe, -VIEW_CLOSE_PROTOCOL}, /* a long one */
                 {0x81, 0xe5, -VIEW_CLOSE_TOO_BIG},  /* 101 bytes */
                 {0x81, 0xe4, 0}};
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        bytes[0] = heads[i].first;
        bytes[1] = heads[i].second;
        assert_int_equal(view_frame_read(bytes, 2, 100, &frame), heads[i].result);
    }
    /* Sizes up to 2^64 - 1 are known from the head alone. */
    static const unsigned char huge[] = {0x82, 0xff, 0xff, 0xff, 0xff,
                                         0xff, 0xff, 0xff, 0xff, 0xff};
    memcpy(bytes, huge, sizeof huge);
    assert_int_equal(view_frame_read(bytes, 9, 100, &frame), 0);
    assert_int_equal(view_frame_read(bytes, 10, 100, &frame), -VIEW_CLOSE_TOO_BIG);
    /* What the server sends, masked, reads back. */
    for (size_t size = 0; size < 300; size += 13) {
        unsigned char head[VIEW_FRAME_HEAD];
        size_t length = view_frame_head(VIEW_OPCODE_BINARY, size, head);
        memcpy(bytes, head, length);
        bytes[1] |= 0x80;
        memcpy(bytes + length, "\1\2\3\4", 4);
        for (size_t i = 0; i < size; i++)
            bytes[length + 4 + i] = (unsigned char)(i ^ (1 + i % 4));
        assert_int_equal(view_frame_read(bytes, length + 4 + size, 300, &frame), 1);
        assert_int_equal(frame.size, size);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(frame.data[i], i & 0xff);
    }
    unsigned char head[VIEW_FRAME_HEAD];
    assert_int_equal(view_frame_head(VIEW_OPCODE_TEXT, 65536, head), 10);
    assert_memory_equal(head, "\x81\x7f\0\0\0\0\0\1\0\0", 10);
    char accept[VIEW_ACCEPT_SIZE]; /* 1.3 */
    assert_true(view_frame_accept("dGhlIHNhbXBsZSBub25jZQ==", accept));
    assert_string_equal(accept, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    assert_false(view_frame_accept("", accept));
    assert_false(view_frame_accept("dGhlIHNhbXBsZSBub25jZQ=", accept));
    assert_false(view_frame_accept("dGhlIHNhbXBsZSBub25j\r\n==", accept));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json_values),  cmocka_unit_test(test_json_errors),
        cmocka_unit_test(test_json_writing), cmocka_unit_test(test_messages),
        cmocka_unit_test(test_routes),       cmocka_unit_test(test_tokens),
        cmocka_unit_test(test_hosts),        cmocka_unit_test(test_hashes),
        cmocka_unit_test(test_policy),       cmocka_unit_test(test_frames)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
