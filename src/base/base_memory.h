/* Memory through the caller's allocator: allocation with overflow checks, growable arrays, byte
 * buffers. Nothing else in the library calls malloc. */
#ifndef RIGOR_BASE_MEMORY_H
#define RIGOR_BASE_MEMORY_H

#include "rigor/status.h"
#include "rigor/types.h"

#include <stddef.h>

/* The C library's allocator, and `allocator` or that if it is null or empty. */
rg_allocator rg_allocator_default(void);
rg_allocator rg_allocator_or_default(const rg_allocator *allocator);

/* count * size bytes, zeroed by the second; null if there is no memory or the product overflows. A
 * count of 0 gives a valid pointer. */
void *rg_allocate(const rg_allocator *allocator, size_t count, size_t size);
void *rg_allocate_zeroed(const rg_allocator *allocator, size_t count, size_t size);
void rg_release(const rg_allocator *allocator, void *pointer); /* null is allowed */
/* rg_release_all(&allocator, a, b, c): several of them. */
#define rg_release_all(allocator, ...)                                                             \
    rg_release_list((allocator), (void *const[]){__VA_ARGS__},                                     \
                    sizeof((void *const[]){__VA_ARGS__}) / sizeof(void *))
void rg_release_list(const rg_allocator *allocator, void *const *pointers, size_t count);
char *rg_copy_text(const rg_allocator *allocator, const char *text); /* null stays null */

/* Objects that remember the allocator that they come from, as their first member:
 * rg_object_make(thing, allocator) is a zeroed `thing` with that member set, or null without
 * memory; a null allocator is the C library's. */
#define rg_object_make(type, memory)                                                               \
    ((type *)rg_object_allocate((memory), sizeof(type) * RG_IS_FIRST(type, allocator)))
#define RG_IS_FIRST(type, member) sizeof(char[offsetof(type, member) == 0 ? 1 : -1]) /* 1 */
void *rg_object_allocate(const rg_allocator *allocator, size_t size);
void rg_object_release(void *object); /* the object alone; null is allowed */

/* Growable array, kept as three plain variables of its owner: pointer, count (the owner's own), and
 * capacity. Makes room for `needed` elements in all, growing by half. */
rg_status rg_array_reserve(const rg_allocator *allocator, void **data, size_t *capacity,
                           size_t needed, size_t element_size);
/* rg_array_grow(&allocator, &things, &capacity, needed): the same with the element size filled in.
 */
#define rg_array_grow(allocator, data_address, capacity_address, needed)                           \
    rg_array_make_room((allocator), (void **)(data_address), (capacity_address), (needed),         \
                       sizeof **(data_address))
static inline rg_status rg_array_make_room(const rg_allocator *allocator, void **data,
                                           size_t *capacity, size_t needed, size_t element_size) {
    return needed <= *capacity ? RG_OK
                               : rg_array_reserve(allocator, data, capacity, needed, element_size);
}

/* An array from its element `index` on. Of an array that has no memory yet there is no element 0
 * either: to add 0 to a null pointer is undefined (C17, 6.5.6). */
#define rg_array_from(array, index) ((array) ? (array) + (index) : NULL)

/* Growable bytes. After a failed append `failed` stays set and further appends do nothing, so that
 * only the end needs a check. */
typedef struct rg_buffer {
    rg_allocator allocator;
    char *data;
    size_t size, capacity;
    bool failed;
} rg_buffer;

rg_buffer rg_buffer_make(const rg_allocator *allocator);
void rg_buffer_free(rg_buffer *buffer);
void rg_buffer_append(rg_buffer *buffer, const void *data, size_t size);
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void rg_buffer_print(rg_buffer *buffer, const char *format, ...);

#endif
