/* Tested by tests/step/test_rest.c. */
#include "step/step_island_memory.h"

#include <string.h>

/* An entry: this, then the arrays of the problem, then the forces. */
typedef struct entry_header {
    size_t size; /* bytes, of all */
    size_t blocks, contacts;
    int32_t dimension, freedom;
    rg_island_answer answer;
} entry_header;

/* The arrays of a problem, in their order. */
enum { ARRAYS = 7 };
typedef struct array_view {
    const void *data;
    size_t size;
} array_view;

static void list_arrays(const rg_contact_problem *p, const double *force,
                        array_view arrays[ARRAYS]) {
    const rg_global_form *g = &p->global;
    size_t n = (size_t)g->freedom, d = (size_t)p->dimension, number = sizeof(double);
    const array_view all[ARRAYS] = {
        {g->free_velocity, g->blocks * n * number}, /* what differs first where bodies move */
        {p->q, p->contacts * d * number},
        {force, p->contacts * d * number},
        {p->mu, p->contacts * number},
        {g->mass, g->blocks * n * n * number},
        {g->contact_blocks, 2 * p->contacts * sizeof *g->contact_blocks},
        {g->contact_jacobian, p->contacts * 2 * d * n * number},
    };
    memcpy(arrays, all, sizeof all);
}

static entry_header header_of(const rg_contact_problem *p, const array_view arrays[ARRAYS],
                              const rg_island_answer *answer) {
    entry_header h = {.size = sizeof h,
                      .blocks = p->global.blocks,
                      .contacts = p->contacts,
                      .dimension = p->dimension,
                      .freedom = p->global.freedom,
                      .answer = *answer};
    for (int i = 0; i < ARRAYS; i++)
        h.size += arrays[i].size;
    return h;
}

void rg_island_memory_begin(rg_island_memory *memory) {
    memory->current = 1 - memory->current;
    memory->lists[memory->current].size = 0;
    memory->at = 0;
}

void rg_island_memory_free(rg_island_memory *memory, const rg_allocator *allocator) {
    for (int i = 0; i < 2; i++)
        rg_release(allocator, memory->lists[i].bytes);
}

static bool is_before(const rg_island_answer *x, const rg_island_answer *y) {
    return x->collider_b != y->collider_b ? x->collider_b < y->collider_b
                                          : x->collider_a < y->collider_a;
}

/* The entry of an island in the list of the step before, going along; null if there is none. */
static const unsigned char *find_entry(rg_island_memory *memory, const rg_island_answer *answer,
                                       entry_header *header) {
    const rg_island_list *list = &memory->lists[1 - memory->current];
    while (memory->at < list->size) {
        const unsigned char *entry = list->bytes + memory->at;
        memcpy(header, entry, sizeof *header);
        if (is_before(answer, &header->answer))
            return NULL;
        if (!is_before(&header->answer, answer))
            return entry;
        memory->at += header->size;
    }
    return NULL;
}

static bool same_question(const entry_header *x, const entry_header *y) {
    const rg_island_answer *a = &x->answer, *b = &y->answer;
    return x->size == y->size && x->blocks == y->blocks && x->contacts == y->contacts &&
           x->dimension == y->dimension && x->freedom == y->freedom && a->solver == b->solver &&
           a->tolerance == b->tolerance && a->keep == b->keep && a->scale == b->scale &&
           a->policy == b->policy && a->directions == b->directions;
}

static unsigned char *make_room(rg_island_memory *memory, const rg_allocator *allocator,
                                size_t size) {
    rg_island_list *list = &memory->lists[memory->current];
    if (rg_array_grow(allocator, &list->bytes, &list->capacity, list->size + size))
        return NULL;
    unsigned char *entry = list->bytes + list->size;
    list->size += size;
    return entry;
}

bool rg_island_recall(rg_island_memory *memory, const rg_allocator *allocator,
                      const rg_contact_problem *problem, const double *force,
                      rg_island_answer *answer) {
    array_view arrays[ARRAYS];
    entry_header old;
    const unsigned char *entry = find_entry(memory, answer, &old);
    if (!entry)
        return false;
    list_arrays(problem, force, arrays);
    entry_header now = header_of(problem, arrays, answer);
    if (!same_question(&old, &now))
        return false;
    const unsigned char *at = entry + sizeof old;
    for (int i = 0; i < ARRAYS; at += arrays[i++].size)
        if (memcmp(at, arrays[i].data, arrays[i].size) != 0)
            return false;
    unsigned char *next = make_room(memory, allocator, old.size);
    if (next)
        memcpy(next, entry, old.size);
    answer->residual = old.answer.residual;
    return true;
}

void rg_island_remember(rg_island_memory *memory, const rg_allocator *allocator,
                        const rg_contact_problem *problem, const double *force,
                        const rg_island_answer *answer) {
    array_view arrays[ARRAYS];
    list_arrays(problem, force, arrays);
    entry_header header = header_of(problem, arrays, answer);
    unsigned char *at = make_room(memory, allocator, header.size);
    if (!at)
        return;
    memcpy(at, &header, sizeof header);
    at += sizeof header;
    for (int i = 0; i < ARRAYS; at += arrays[i++].size)
        memcpy(at, arrays[i].data, arrays[i].size);
}
