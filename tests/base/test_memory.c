#include "test_support.h"

#include "base/base_memory.h"

#include <string.h>

static void test_allocate(void **state) {
    (void)state;
    counting_allocator counter;
    rg_allocator allocator = counting_allocator_make(&counter);
    unsigned char *zeroed = rg_allocate_zeroed(&allocator, 100, 3);
    assert_non_null(zeroed);
    for (int i = 0; i < 300; i++)
        assert_int_equal(zeroed[i], 0);
    rg_release(&allocator, zeroed);
    void *none = rg_allocate(&allocator, 0, 8); /* valid, to be released */
    void *sizeless = rg_allocate_zeroed(&allocator, 8, 0);
    assert_non_null(none);
    assert_non_null(sizeless);
    rg_release(&allocator, none);
    rg_release(&allocator, sizeless);
    rg_release(&allocator, NULL);
    assert_int_equal(counter.resizes, 3);
    assert_int_equal(counter.releases, 3);
}

static void test_allocate_overflow(void **state) {
    (void)state;
    counting_allocator counter;
    rg_allocator allocator = counting_allocator_make(&counter);
    assert_null(rg_allocate(&allocator, SIZE_MAX / 2, 3));
    assert_null(rg_allocate(&allocator, SIZE_MAX / 8 + 1, 8));
    assert_null(rg_allocate_zeroed(&allocator, 2, SIZE_MAX));
    assert_int_equal(counter.resizes, 0); /* the allocator was not even asked */
    counter.resizes = 1;
    counter.fail_after = 1;
    assert_null(rg_allocate(&allocator, 1, 1));
    assert_null(rg_allocate_zeroed(&allocator, 1, 1));
    assert_null(rg_copy_text(&allocator, "text"));
}

/* An object takes its allocator along, and goes back to it. */
static void test_objects(void **state) {
    (void)state;
    typedef struct thing {
        rg_allocator allocator;
        char *name, *other;
    } thing;
    counting_allocator counter;
    rg_allocator allocator = counting_allocator_make(&counter);
    thing *made = rg_object_make(thing, &allocator);
    assert_non_null(made);
    assert_ptr_equal(made->allocator.user, allocator.user);
    assert_null(made->name);
    made->name = rg_copy_text(&made->allocator, "thing");
    rg_release_all(&made->allocator, made->name, made->other);
    rg_object_release(made);
    rg_object_release(NULL);
    assert_int_equal(counter.resizes, 2);
    assert_int_equal(counter.releases, 2);
    counter.fail_after = counter.resizes;
    assert_null(rg_object_make(thing, &allocator));
    made = rg_object_make(thing, NULL); /* of the C library */
    assert_non_null(made);
    rg_object_release(made);
}

static void test_default_allocator(void **state) {
    (void)state;
    counting_allocator counter;
    rg_allocator own = counting_allocator_make(&counter), empty = {0};
    assert_ptr_equal(rg_allocator_or_default(&own).user, &counter);
    rg_allocator from_null = rg_allocator_or_default(NULL);
    rg_allocator from_empty = rg_allocator_or_default(&empty);
    char *text = rg_copy_text(&from_null, "z\xC3\xA4h");
    assert_string_equal(text, "z\xC3\xA4h");
    text = from_empty.resize(from_empty.user, text, 1000);
    assert_string_equal(text, "z\xC3\xA4h");
    rg_release(&from_empty, text);
    assert_null(rg_copy_text(&from_null, NULL));
    text = rg_copy_text(&from_null, "");
    assert_string_equal(text, "");
    rg_release(&from_null, text);
}

static void test_array_grows(void **state) {
    (void)state;
    counting_allocator counter;
    rg_allocator allocator = counting_allocator_make(&counter);
    double *numbers = NULL;
    size_t capacity = 0, count = 0;
    for (; count < 10000; count++) {
        assert_int_equal(rg_array_grow(&allocator, &numbers, &capacity, count + 1), RG_OK);
        numbers[count] = (double)count;
    }
    assert_true(capacity >= count && capacity <= 2 * count);
    assert_true(counter.resizes < 25); /* geometric, not one by one */
    for (size_t i = 0; i < count; i++)
        assert_true(numbers[i] == (double)i);
    size_t calls = counter.resizes;
    assert_int_equal(rg_array_grow(&allocator, &numbers, &capacity, capacity), RG_OK);
    assert_int_equal(rg_array_grow(&allocator, &numbers, &capacity, 0), RG_OK);
    assert_int_equal(counter.resizes, calls);

    const double *before = numbers;
    size_t capacity_before = capacity;
    counter.fail_after = counter.resizes;
    assert_int_equal(rg_array_grow(&allocator, &numbers, &capacity, capacity + 1),
                     RG_OUT_OF_MEMORY);
    assert_int_equal(rg_array_grow(&allocator, &numbers, &capacity, SIZE_MAX / 8),
                     RG_OUT_OF_MEMORY);
    assert_int_equal(rg_array_grow(&allocator, &numbers, &capacity, SIZE_MAX), RG_OUT_OF_MEMORY);
    assert_ptr_equal(numbers, before);
    assert_int_equal(capacity, capacity_before);
    assert_true(numbers[count - 1] == (double)(count - 1));
    rg_release(&allocator, numbers);
}

static void test_buffer(void **state) {
    (void)state;
    counting_allocator counter;
    rg_allocator allocator = counting_allocator_make(&counter);
    rg_buffer buffer = rg_buffer_make(&allocator);
    rg_buffer_append(&buffer, "abc", 3);
    rg_buffer_print(&buffer, "-%d-%s", 42, "x");
    rg_buffer_append(&buffer, NULL, 0);
    assert_false(buffer.failed);
    assert_string_equal(buffer.data, "abc-42-x");
    assert_int_equal(buffer.size, 8);
    for (int i = 0; i < 1000; i++)
        rg_buffer_print(&buffer, "%04d", i);
    assert_int_equal(buffer.size, 8 + 4000);
    assert_string_equal(buffer.data + buffer.size - 8, "09980999");
    rg_buffer_append(&buffer, "a\0b", 3); /* bytes, not text */
    assert_memory_equal(buffer.data + buffer.size - 3, "a\0b", 4);
    rg_buffer_free(&buffer);
    assert_int_equal(buffer.size, 0);
    assert_int_equal(counter.releases, 1);
}

static void test_buffer_no_memory(void **state) {
    (void)state;
    counting_allocator counter;
    rg_allocator allocator = counting_allocator_make(&counter);
    rg_buffer buffer = rg_buffer_make(&allocator);
    rg_buffer_append(&buffer, "kept", 4);
    counter.fail_after = counter.resizes;
    char big[1000] = {0};
    rg_buffer_append(&buffer, big, sizeof big);
    assert_true(buffer.failed);
    counter.fail_after = 0; /* memory is back, but the failure stays */
    rg_buffer_append(&buffer, "x", 1);
    rg_buffer_print(&buffer, "%d", 1);
    assert_true(buffer.failed);
    assert_string_equal(buffer.data, "kept");
    rg_buffer_free(&buffer);

    rg_buffer huge = rg_buffer_make(&allocator);
    rg_buffer_append(&huge, "x", 1);
    rg_buffer_append(&huge, "x", SIZE_MAX - 1); /* size + extra overflows: nothing is read */
    assert_true(huge.failed);
    assert_int_equal(huge.size, 1);
    rg_buffer_free(&huge);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_allocate),         cmocka_unit_test(test_allocate_overflow),
        cmocka_unit_test(test_objects),          cmocka_unit_test(test_default_allocator),
        cmocka_unit_test(test_array_grows),      cmocka_unit_test(test_buffer),
        cmocka_unit_test(test_buffer_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
