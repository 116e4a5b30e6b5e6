#include "base/base_memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *resize_with_libc(void *user, void *pointer, size_t size) {
    (void)user;
    return realloc(pointer, size);
}

static void release_with_libc(void *user, void *pointer) {
    (void)user;
    free(pointer);
}

rg_allocator rg_allocator_default(void) {
    return (rg_allocator){resize_with_libc, release_with_libc, NULL};
}

rg_allocator rg_allocator_or_default(const rg_allocator *allocator) {
    return allocator && allocator->resize ? *allocator : rg_allocator_default();
}

void *rg_allocate(const rg_allocator *allocator, size_t count, size_t size) {
    if (size && count > SIZE_MAX / size)
        return NULL;
    size_t bytes = count * size;
    return allocator->resize(allocator->user, NULL, bytes ? bytes : 1);
}

void *rg_allocate_zeroed(const rg_allocator *allocator, size_t count, size_t size) {
    void *memory = rg_allocate(allocator, count, size);
    if (memory)
        memset(memory, 0, count * size);
    return memory;
}

void rg_release(const rg_allocator *allocator, void *pointer) {
    if (pointer)
        allocator->release(allocator->user, pointer);
}

void rg_release_list(const rg_allocator *allocator, void *const *pointers, size_t count) {
    for (size_t i = 0; i < count; i++)
        rg_release(allocator, pointers[i]);
}

void *rg_object_allocate(const rg_allocator *allocator, size_t size) {
    rg_allocator memory = rg_allocator_or_default(allocator);
    rg_allocator *object = rg_allocate_zeroed(&memory, 1, size);
    if (object)
        *object = memory;
    return object;
}

void rg_object_release(void *object) {
    if (!object)
        return;
    rg_allocator memory = *(const rg_allocator *)object; /* which goes with the object */
    rg_release(&memory, object);
}

char *rg_copy_text(const rg_allocator *allocator, const char *text) {
    if (!text)
        return NULL;
    size_t size = strlen(text) + 1;
    char *copy = rg_allocate(allocator, size, 1);
    if (copy)
        memcpy(copy, text, size);
    return copy;
}

rg_status rg_array_reserve(const rg_allocator *allocator, void **data, size_t *capacity,
                           size_t needed, size_t element_size) {
    if (needed <= *capacity)
        return RG_OK;
    size_t grown = *capacity + *capacity / 2;
    size_t wanted = grown > needed ? grown : needed;
    if (wanted < 8)
        wanted = 8;
    if (wanted > SIZE_MAX / element_size)
        return RG_OUT_OF_MEMORY;
    void *memory = allocator->resize(allocator->user, *data, wanted * element_size);
    if (!memory)
        return RG_OUT_OF_MEMORY;
    *data = memory;
    *capacity = wanted;
    return RG_OK;
}

rg_buffer rg_buffer_make(const rg_allocator *allocator) {
    return (rg_buffer){.allocator = rg_allocator_or_default(allocator)};
}

void rg_buffer_free(rg_buffer *buffer) {
    rg_release(&buffer->allocator, buffer->data);
    buffer->data = NULL;
    buffer->size = buffer->capacity = 0;
}

/* Room for `extra` bytes and a zero byte behind them, so that text is always terminated. */
static bool make_room(rg_buffer *buffer, size_t extra) {
    if (!buffer->failed &&
        (extra >= SIZE_MAX - buffer->size ||
         rg_array_reserve(&buffer->allocator, (void **)&buffer->data, &buffer->capacity,
                          buffer->size + extra + 1, 1) != RG_OK))
        buffer->failed = true;
    return !buffer->failed;
}

void rg_buffer_append(rg_buffer *buffer, const void *data, size_t size) {
    if (!make_room(buffer, size))
        return;
    if (size)
        memcpy(buffer->data + buffer->size, data, size);
    buffer->size += size;
    buffer->data[buffer->size] = 0;
}

void rg_buffer_print(rg_buffer *buffer, const char *format, ...) {
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0)
        buffer->failed = true;
    else if (make_room(buffer, (size_t)length)) {
        vsnprintf(buffer->data + buffer->size, (size_t)length + 1, format, again);
        buffer->size += (size_t)length;
    }
    va_end(again);
}
