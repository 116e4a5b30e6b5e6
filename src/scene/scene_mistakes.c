/* All mistakes of a scene file, not the first alone.
 *
 * Reading is a chain of calls, each of which returns at its first failure. Where two links of a
 * chain do not depend on each other (keys of an entry, entries of a list), rg_recover between them
 * lists the failure and lets the next link be read. What is named in one place and used in others
 * is remembered by name if its definition fails, so that its uses are not reported as well: better
 * one mistake too few than one that is none.
 *
 * A failure that is no mistake of the file (memory, limits, options of the caller) ends the reading
 * as before, and so do mistakes after which nothing else can be judged: syntax, `planar`.
 * Tested by tests/scene/test_mistakes.c. */
#include "scene/scene_reader.h"

#include <stdlib.h>
#include <string.h>

/* A mistake in a node that aliases repeat is found again each time; the work that a message costs
 * (the nearest of many names) is bounded by ending after so many. */
enum { FAILURES_MOST = 1000 };

rg_status rg_mistakes_begin(rg_reader *reader) {
    if (!reader->options || !reader->options->mistake)
        return RG_OK;
    reader->mistakes.list =
        rg_allocate(&reader->allocator, RG_SCENE_MISTAKES_MOST, sizeof *reader->mistakes.list);
    return reader->mistakes.list ? RG_OK : rg_reader_no_memory(reader);
}

/* Adds the failure that reader->error describes, unless it is there already. */
static void list_mistake(rg_reader *reader) {
    rg_mistakes *mistakes = &reader->mistakes;
    for (size_t i = 0; i < mistakes->count; i++)
        if (strcmp(mistakes->list[i].text, reader->error->text) == 0)
            return;
    if (mistakes->count < RG_SCENE_MISTAKES_MOST)
        mistakes->list[mistakes->count++] = *reader->error;
}

static bool ends_reading(const rg_reader *reader, rg_status status) {
    return !reader->mistakes.list || status == RG_OUT_OF_MEMORY || status == RG_LIMIT_EXCEEDED ||
           (!reader->mistakes.follows && reader->error->line == 0);
}

bool rg_recover(rg_reader *reader, rg_status *status) {
    rg_mistakes *mistakes = &reader->mistakes;
    if (*status == RG_OK)
        return true;
    if (ends_reading(reader, *status))
        return false;
    if (!mistakes->follows)
        list_mistake(reader);
    mistakes->follows = false;
    mistakes->failures++;
    if (mistakes->count == RG_SCENE_MISTAKES_MOST || mistakes->failures >= FAILURES_MOST)
        return false;
    *status = RG_OK;
    return true;
}

rg_status rg_follow(rg_reader *reader) {
    reader->mistakes.follows = true;
    return RG_NOT_FOUND;
}

rg_status rg_note_failed(rg_reader *reader, rg_named_kind kind, const char *name) {
    rg_mistakes *mistakes = &reader->mistakes;
    if (!name) {
        mistakes->any[kind] = true;
        return RG_OK;
    }
    if (rg_array_grow(&reader->allocator, &mistakes->names, &mistakes->name_capacity,
                      mistakes->name_count + 1) != RG_OK)
        return rg_reader_no_memory(reader);
    mistakes->names[mistakes->name_count++] = (rg_failed_name){kind, name};
    return RG_OK;
}

/* Whether `name` is what `written` becomes if numbers take the place of its braces. */
static bool may_be(const char *written, const char *name) {
    while (*written) {
        if (*written != '{') {
            if (*written++ != *name++)
                return false;
            continue;
        }
        written += strcspn(written, "}");
        written += *written == '}';
        name += *name == '-';
        name += strspn(name, "0123456789");
    }
    return *name == 0;
}

bool rg_has_failed(const rg_reader *reader, rg_named_kind kind, const char *name) {
    const rg_mistakes *mistakes = &reader->mistakes;
    for (size_t i = 0; i < mistakes->name_count; i++)
        if (mistakes->names[i].kind == kind && may_be(mistakes->names[i].name, name))
            return true;
    return mistakes->any[kind];
}

static int by_place(const void *left, const void *right) {
    const rg_error *a = left, *b = right;
    if (a->line != b->line)
        return a->line < b->line ? -1 : 1;
    if (a->column != b->column)
        return a->column < b->column ? -1 : 1;
    return strcmp(a->text, b->text);
}

rg_status rg_mistakes_end(rg_reader *reader, rg_status status) {
    rg_mistakes *mistakes = &reader->mistakes;
    bool placed = mistakes->follows || reader->error->line > 0;
    if (mistakes->list && status != RG_OK && placed && !mistakes->follows)
        list_mistake(reader);
    if (mistakes->count > 0 && (status == RG_OK || placed)) {
        qsort(mistakes->list, mistakes->count, sizeof *mistakes->list, by_place);
        *reader->error = mistakes->list[0];
        status = mistakes->list[0].status;
        for (size_t i = 0; i < mistakes->count; i++)
            reader->options->mistake(reader->options->mistake_user, &mistakes->list[i]);
    }
    rg_release(&reader->allocator, mistakes->list);
    rg_release(&reader->allocator, mistakes->names);
    return status;
}
