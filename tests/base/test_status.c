#include "test_support.h"

#include "rigor/status.h"
#include "rigor/version.h"

#include <stdio.h>
#include <string.h>

/* Codes are stable: this list only grows. */
static void test_codes(void **state) {
    (void)state;
    static const char *const names[] = {"ok",
                                        "out-of-memory",
                                        "invalid-argument",
                                        "invalid-handle",
                                        "not-found",
                                        "duplicate-name",
                                        "not-finite",
                                        "invalid-size",
                                        "invalid-inertia",
                                        "degenerate-geometry",
                                        "not-watertight",
                                        "not-convex",
                                        "syntax",
                                        "unknown-key",
                                        "wrong-type",
                                        "limit-exceeded",
                                        "file-unreadable",
                                        "file-damaged",
                                        "write-failed",
                                        "unsupported",
                                        "step-too-small",
                                        "iteration-limit",
                                        "singular",
                                        "busy",
                                        "version-mismatch",
                                        "thread-failed",
                                        "interrupted"};
    for (int code = 0; code < (int)(sizeof names / sizeof names[0]); code++) {
        assert_string_equal(rg_status_name((rg_status)code), names[code]);
        assert_true(strlen(rg_status_text((rg_status)code)) > 5);
        assert_string_not_equal(rg_status_text((rg_status)code), "unknown");
    }
    assert_string_equal(rg_status_name((rg_status)9999), "unknown");
    assert_string_equal(rg_status_text((rg_status)9999), "unknown");
}

static void test_version(void **state) {
    (void)state;
    char text[64];
    snprintf(text, sizeof text, "%d.%d.%d", RG_VERSION_MAJOR, RG_VERSION_MINOR, RG_VERSION_PATCH);
    assert_string_equal(rg_version_text(), text);
    assert_int_equal(rg_version_api(), RG_API_VERSION);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_codes),
        cmocka_unit_test(test_version),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
