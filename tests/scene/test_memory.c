/* Every allocation of the reader, the writer and the built-in scenes is made to fail once: the call
 * answers RG_OUT_OF_MEMORY, and nothing is left behind (a live count; leaks show in the sanitizer
 * too). libyaml and Qhull take their memory from malloc and are not reached. */
#include "test_scene_support.h"

#include "rigor/study.h"

#include <stdio.h>

typedef struct failing_allocator {
    size_t calls, fail_at; /* the call that fails, from 1; 0: none */
    size_t live;
} failing_allocator;

static void *failing_resize(void *user, void *pointer, size_t size) {
    failing_allocator *f = user;
    if (++f->calls == f->fail_at)
        return NULL;
    void *memory = realloc(pointer, size);
    if (!pointer && memory)
        f->live++;
    return memory;
}

static void failing_release(void *user, void *pointer) {
    failing_allocator *f = user;
    f->live--;
    free(pointer);
}

typedef rg_status attempt_function(const rg_allocator *allocator, const void *input,
                                   rg_error *error);

static void sweep(attempt_function *attempt, const void *input) {
    for (size_t fail_at = 1;; fail_at++) {
        failing_allocator f = {.fail_at = fail_at};
        rg_allocator allocator = {failing_resize, failing_release, &f};
        rg_error error = {0};
        rg_status status = attempt(&allocator, input, &error);
        assert_int_equal(f.live, 0);
        if (f.calls < fail_at) {
            assert_int_equal(status, RG_OK);
            assert_true(fail_at > 5);
            return;
        }
        if (status != RG_OUT_OF_MEMORY)
            fail_msg("call %zu failed: status %s, \"%s\"", fail_at, rg_status_name(status),
                     error.text);
        assert_int_equal(error.status, RG_OUT_OF_MEMORY);
    }
}

static rg_status attempt_open(const rg_allocator *allocator, const void *input, rg_error *error) {
    rg_scene_parameter few = {"count", "20"};
    rg_scene_options options = {.allocator = allocator};
    if (strcmp(input, "projectiles") == 0) {
        options.parameters = &few;
        options.parameter_count = 1;
    }
    rg_scene *scene;
    rg_status status = rg_scene_create(input, &options, &scene, error);
    assert_int_equal(scene != NULL, status == RG_OK);
    rg_scene_destroy(scene);
    return status;
}

static rg_status attempt_write(const rg_allocator *allocator, const void *input, rg_error *error) {
    char *text;
    size_t size;
    rg_status status = rg_scene_write_text(input, allocator, &text, &size, error);
    assert_int_equal(text != NULL, status == RG_OK);
    if (text)
        allocator->release(allocator->user, text);
    return status;
}

static rg_status attempt_study(const rg_allocator *allocator, const void *input, rg_error *error) {
    rg_study *study;
    rg_status status = rg_study_read_file(input, allocator, &study, error);
    assert_int_equal(study != NULL, status == RG_OK);
    rg_study_destroy(study);
    return status;
}

static void studies(void **state) {
    (void)state;
    sweep(attempt_study, RIGOR_TEST_DATA "/studies/every-key.yaml");
}

static void opening(void **state) {
    (void)state;
    sweep(attempt_open, GOOD_SCENES "every-key.yaml");
    sweep(attempt_open, GOOD_SCENES "every-planar-key.yaml");
    sweep(attempt_open, GOOD_SCENES "every-joint-key.yaml");
    sweep(attempt_open, GOOD_SCENES "scene.json");
    sweep(attempt_open, RIGOR_TEST_DATA "/robots/arm.urdf");
    sweep(attempt_open, RIGOR_TEST_DATA "/robots/walker.xml");
    sweep(attempt_open, RIGOR_TEST_DATA "/robots/world.sdf");
    sweep(attempt_open, "spinning-top");
    sweep(attempt_open, "tennis-racket");
    sweep(attempt_open, "projectiles");
}

static void writing(void **state) {
    (void)state;
    rg_scene *scene = open_scene(GOOD_SCENES "every-key.yaml");
    sweep(attempt_write, scene);
    rg_scene_destroy(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opening),
        cmocka_unit_test(studies),
        cmocka_unit_test(writing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
