/* Opening files to read: regular ones, and the refusal of all others without waiting. */
#include "test_support.h"

#include "base/base_file.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* A folder of its own, removed at the end. */
static int enter_folder(void **state) {
    static char name[64];
    snprintf(name, sizeof name, "/tmp/rigor-file-XXXXXX");
    *state = mkdtemp(name);
    return *state && chdir(name) == 0 ? 0 : -1;
}

static int leave_folder(void **state) {
    return chdir("/") == 0 && rmdir(*state) == 0 ? 0 : -1;
}

static void test_regular(void **state) {
    (void)state;
    FILE *file = fopen("plain", "wb");
    assert_non_null(file);
    fputs("seven\n", file);
    fclose(file);
    char text[16] = "";
    assert_int_equal(rg_file_open("plain", &file), 0);
    assert_non_null(fgets(text, sizeof text, file));
    assert_string_equal(text, "seven\n");
    fclose(file);
    assert_true(rg_file_is_there("plain"));
    unlink("plain");
    assert_false(rg_file_is_there("plain"));
    assert_int_equal(rg_file_open("plain", &file), ENOENT);
    assert_null(file);
}

/* alarm: whoever waits for the pipe is killed. */
static void test_pipe(void **state) {
    (void)state;
    FILE *file;
    assert_int_equal(mkfifo("pipe", 0600), 0);
    alarm(10);
    assert_true(rg_file_is_there("pipe"));
    assert_int_equal(rg_file_open("pipe", &file), RG_FILE_IRREGULAR);
    alarm(0);
    assert_null(file);
    unlink("pipe");
}

static void test_others(void **state) {
    (void)state;
    FILE *file;
    assert_int_equal(rg_file_open("/dev/null", &file), RG_FILE_IRREGULAR);
    assert_null(file);
    assert_int_equal(rg_file_open(".", &file), EISDIR);
    assert_null(file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_regular),
        cmocka_unit_test(test_pipe),
        cmocka_unit_test(test_others),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
