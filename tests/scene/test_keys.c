/* The key tables. With --keys it prints them, one "table: key key ..." a line, for the test that
 * holds the JSON Schema against them (test_scene_schema.py). */
#include "test_support.h"

#include "scene/scene_keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void names_are_unique_in_each_table(void **state) {
    (void)state;
    assert_true(rg_key_table_count() > 20);
    for (size_t t = 0; t < rg_key_table_count(); t++) {
        const rg_key_table *table = rg_key_table_at(t);
        assert_true(table->count >= 1 && table->count <= RG_MAX_KEYS);
        for (size_t a = 0; a < table->count; a++)
            for (size_t b = 0; b < a; b++)
                assert_string_not_equal(table->keys[a], table->keys[b]);
        for (size_t u = 0; u < t; u++)
            assert_string_not_equal(table->name, rg_key_table_at(u)->name);
    }
}

static void enums_match_their_names(void **state) {
    (void)state;
    assert_string_equal(rg_keys_top.keys[TOP_GRAVITY], "gravity");
    assert_string_equal(rg_keys_body.keys[BODY_MASK], "mask");
    assert_int_equal(rg_keys_body.count, BODY_COUNT);
    assert_string_equal(rg_keys_spring.keys[SPRING_REST_LENGTH], "rest_length");
}

/* Is the key set somewhere in the text? */
static bool sets(const char *text, const char *key) {
    size_t length = strlen(key);
    for (const char *at = strstr(text, key); at; at = strstr(at + 1, key))
        if (at[length] == ':' && (at == text || strchr(" {\n", at[-1])))
            return true;
    return false;
}

static char *read_text(const char *path) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *text = calloc(1, 1 << 16);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 16) - 1, file) > 1000);
    fclose(file);
    return text;
}

/* The files that reader, writer and schema are tried on. */
static void the_files_of_every_key_have_every_key(void **state) {
    (void)state;
    char *spatial = read_text(RIGOR_TEST_DATA "/scenes/good/every-key.yaml");
    char *planar = read_text(RIGOR_TEST_DATA "/scenes/good/every-planar-key.yaml");
    char *joints = read_text(RIGOR_TEST_DATA "/scenes/good/every-joint-key.yaml");
    for (size_t t = 0; t < rg_key_table_count(); t++) {
        const rg_key_table *table = rg_key_table_at(t);
        for (size_t k = 0; k < table->count; k++)
            if (!sets(spatial, table->keys[k]) && !sets(planar, table->keys[k]) &&
                !sets(joints, table->keys[k]))
                fail_msg("%s: %s is in none", table->name, table->keys[k]);
    }
    free(spatial);
    free(planar);
    free(joints);
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "--keys") == 0) {
        for (size_t t = 0; t < rg_key_table_count(); t++) {
            const rg_key_table *table = rg_key_table_at(t);
            printf("%s:", table->name);
            for (size_t k = 0; k < table->count; k++)
                printf(" %s", table->keys[k]);
            printf("\n");
        }
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_unique_in_each_table),
        cmocka_unit_test(enums_match_their_names),
        cmocka_unit_test(the_files_of_every_key_have_every_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
