/* Which colliders touch: begin, persist and end of contacts, each reported exactly once.
 *
 * A pair touches if its gap is small, with hysteresis, or if the step marked it because there was a
 * contact force or, in the method analytic, a contact. What began and ended follows from the list
 * of the step (or update) before, which is kept by handles: a collider that has gone ends all that
 * it touched, and what a program does between steps loses no end.
 *
 * Tested by tests/step/test_collision.c. */
#include "contact/contact_collision.h"
#include "shape/shape.h"

#include <string.h>

/* A pair goes on touching up to this many times the gap at which it began to. */
#define TOUCH_HYSTERESIS 2

static rg_status append(const rg_allocator *allocator, rg_touching_list *list, rg_pair_ids ids) {
    if (rg_array_grow(allocator, &list->pairs, &list->capacity, list->count + 1))
        return RG_OUT_OF_MEMORY;
    list->pairs[list->count++] = ids;
    return RG_OK;
}

void rg_collision_forget_marks(rg_collision *c) {
    c->marks.count = 0;
}

rg_status rg_collision_mark(rg_collision *c, rg_collider_id x, rg_collider_id y) {
    rg_pair_ids ids = x.index1 < y.index1 ? (rg_pair_ids){x, y} : (rg_pair_ids){y, x};
    size_t n = c->marks.count;
    if (n && rg_pair_same(c->marks.pairs[n - 1], ids))
        return RG_OK; /* points of a pair come one after the other */
    return append(&c->allocator, &c->marks, ids);
}

/* Insertion sort, and doubles go: the marks of a step come nearly in order. */
static void sort_marks(rg_touching_list *marks) {
    size_t kept = 0;
    for (size_t i = 0; i < marks->count; i++) {
        rg_pair_ids ids = marks->pairs[i];
        size_t k = kept;
        while (k > 0 && rg_pair_compare(marks->pairs[k - 1], ids) > 0)
            k--;
        if (k > 0 && rg_pair_same(marks->pairs[k - 1], ids))
            continue;
        if (k < kept)
            memmove(marks->pairs + k + 1, marks->pairs + k, (kept - k) * sizeof ids);
        marks->pairs[k] = ids;
        kept++;
    }
    marks->count = kept;
}

static rg_pair_ids ids_of(const rg_touch *touch) {
    return (rg_pair_ids){touch->collider_b, touch->collider_a};
}

static const rg_collider *collider_of(const rg_world *world, rg_collider_id id) {
    return &world->content.collider[rg_handle_index(&world->content.colliders, RG_HANDLE(id))];
}

/* A contact that was not expected when the step began, such as one with a body that an impact made
 * fast: its pair has no contact points in the view. */
static rg_status insert_touch(rg_collision *c, const rg_world *world, rg_pair_ids ids, size_t at) {
    if (rg_array_grow(&c->allocator, &c->now.touches, &c->now.touch_capacity,
                      c->now.touch_count + 1))
        return RG_OUT_OF_MEMORY;
    memmove(c->now.touches + at + 1, c->now.touches + at,
            (c->now.touch_count++ - at) * sizeof *c->now.touches);
    const rg_collider *b = collider_of(world, ids.b), *a = collider_of(world, ids.a);
    c->now.touches[at] = (rg_touch){.collider_b = ids.b,
                                    .collider_a = ids.a,
                                    .body_b = b->body,
                                    .body_a = a->body,
                                    .gap = INFINITY};
    c->now.touches[at].law = rg_collision_law(c, world, &c->now.touches[at]);
    return RG_OK;
}

static rg_status apply_marks(rg_collision *c, const rg_world *world) {
    sort_marks(&c->marks);
    size_t at = 0;
    for (size_t i = 0; i < c->now.touch_count; i++)
        c->now.touches[i].touching = false;
    for (size_t i = 0; i < c->marks.count; i++) {
        rg_pair_ids ids = c->marks.pairs[i];
        while (at < c->now.touch_count && rg_pair_compare(ids_of(&c->now.touches[at]), ids) < 0)
            at++;
        bool found =
            at < c->now.touch_count && rg_pair_compare(ids_of(&c->now.touches[at]), ids) == 0;
        if (!found && insert_touch(c, world, ids, at))
            return RG_OUT_OF_MEMORY;
        c->now.touches[at].touching = true;
    }
    return RG_OK;
}

static double touch_gap(const rg_collision *c, const rg_world *world, const rg_touch *touch) {
    if (c->def.touch > 0)
        return c->def.touch;
    double b = collider_of(world, touch->collider_b)->shape->circumradius;
    double a = collider_of(world, touch->collider_a)->shape->circumradius;
    return RG_TOUCH_SHARE * (b < a ? b : a);
}

static rg_status note_end(rg_collision *c, rg_pair_ids ids) {
    if (rg_array_grow(&c->allocator, &c->ended, &c->ended_capacity, c->ended_count + 1))
        return RG_OUT_OF_MEMORY;
    c->ended[c->ended_count++] = (rg_touch_end){ids.b, ids.a};
    return RG_OK;
}

rg_status rg_touching_recall(rg_collision *c, const rg_world *world) {
    const rg_memory_block *block = &world->content.memory[RG_MEMORY_TOUCHING];
    rg_touching_list *before = &c->touching[1];
    size_t count = block->size / sizeof *before->pairs;
    before->count = 0;
    if (rg_array_grow(&c->allocator, &before->pairs, &before->capacity, count))
        return RG_OUT_OF_MEMORY;
    if (count)
        memcpy(before->pairs, block->data, count * sizeof *before->pairs);
    before->count = count;
    return RG_OK;
}

rg_status rg_touching_find(rg_collision *c, const rg_world *world) {
    rg_touching_list *now = &c->touching[0], *before = &c->touching[1];
    size_t at = 0;
    now->count = c->ended_count = 0;
    c->has_sensors = false;
    if (apply_marks(c, world))
        return RG_OUT_OF_MEMORY;
    for (size_t i = 0; i < c->now.touch_count; i++) {
        rg_touch *touch = &c->now.touches[i];
        rg_pair_ids ids = ids_of(touch);
        for (; at < before->count && rg_pair_compare(before->pairs[at], ids) < 0; at++)
            if (note_end(c, before->pairs[at]))
                return RG_OUT_OF_MEMORY;
        bool known = at < before->count && rg_pair_compare(before->pairs[at], ids) == 0;
        bool touched = known && rg_pair_same(before->pairs[at], ids);
        if (!touch->touching)
            touch->touching =
                touch->gap <= touch_gap(c, world, touch) * (touched ? TOUCH_HYSTERESIS : 1);
        touch->began = touch->touching && !touched;
        c->has_sensors = c->has_sensors || (touch->sensor && touch->touching);
        if (known && !(touched && touch->touching) && note_end(c, before->pairs[at]))
            return RG_OUT_OF_MEMORY;
        at += known;
        if (touch->touching && append(&c->allocator, now, ids))
            return RG_OUT_OF_MEMORY;
    }
    for (; at < before->count; at++)
        if (note_end(c, before->pairs[at]))
            return RG_OUT_OF_MEMORY;
    return RG_OK;
}

void rg_touching_keep(rg_collision *c) {
    rg_touching_list swap = c->touching[0];
    c->touching[0] = c->touching[1];
    c->touching[1] = swap;
}

rg_status rg_touching_store(rg_collision *c, rg_world *world) {
    const rg_touching_list *now = &c->touching[0];
    size_t bytes = now->count * sizeof *now->pairs;
    void *at = rg_memory_resize(world, RG_MEMORY_TOUCHING, bytes);
    if (!at)
        return RG_OUT_OF_MEMORY;
    if (bytes)
        memcpy(at, now->pairs, bytes);
    return RG_OK;
}
