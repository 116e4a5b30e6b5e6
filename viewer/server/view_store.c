/* Recordings that are served: see view_store.h.
 *
 * A thread that wants something puts a request in a list and waits for it; one thread serves the
 * list from its beginning. There is at most one order for each thread of the web server. */
#include "view_store.h"

#include "view_world.h"

#include "rigor/view.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT_PARTS = VIEW_PART_CHUNK };

typedef struct stored {
    rg_recording *recording;
    rg_view *view;
    view_bytes *kept[KEPT_PARTS];
} stored;

typedef struct order {
    stored *from;
    view_part part;
    size_t chunk;
    view_bytes *bytes;
    rg_status status;
    rg_error *error;
    bool done;
    struct order *next;
} order;

struct view_store {
    stored *recordings;
    size_t count;
    rg_view_buffer buffer;

    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t ordered, delivered;
    order *first, **last;
    bool ending;
};

static rg_status read_part(view_store *store, order *o) {
    rg_view *view = o->from->view;
    switch (o->part) {
    case VIEW_PART_MANIFEST:
        return rg_view_manifest(view, &store->buffer, o->error);
    case VIEW_PART_TIMES:
        return rg_view_times(view, &store->buffer, o->error);
    case VIEW_PART_OVERVIEW:
        return rg_view_overview(view, &store->buffer, o->error);
    case VIEW_PART_CHUNK:
        break;
    }
    if (o->chunk >= rg_view_chunk_count(view))
        return view_fail(o->error, RG_NOT_FOUND, "there is no chunk %zu", o->chunk);
    return rg_view_chunk(view, o->chunk, &store->buffer, o->error);
}

static rg_status fill(view_store *store, order *o) {
    view_bytes **kept = o->part != VIEW_PART_CHUNK ? &o->from->kept[o->part] : NULL;
    if (kept && *kept) {
        o->bytes = view_bytes_share(*kept);
        return RG_OK;
    }
    rg_status status = read_part(store, o);
    if (status != RG_OK)
        return status;
    o->bytes = view_bytes_create(store->buffer.size);
    if (!o->bytes)
        return view_fail(o->error, RG_OUT_OF_MEMORY, "no memory for an answer");
    memcpy(view_bytes_data(o->bytes), store->buffer.bytes, store->buffer.size);
    if (kept)
        *kept = view_bytes_share(o->bytes);
    return RG_OK;
}

static void *run(void *user) {
    view_store *store = user;
    pthread_mutex_lock(&store->mutex);
    for (;;) {
        while (!store->first && !store->ending)
            pthread_cond_wait(&store->ordered, &store->mutex);
        order *o = store->first;
        if (!o)
            break;
        store->first = o->next;
        if (!store->first)
            store->last = &store->first;
        pthread_mutex_unlock(&store->mutex);
        o->status = fill(store, o);
        pthread_mutex_lock(&store->mutex);
        o->done = true;
        pthread_cond_broadcast(&store->delivered);
    }
    pthread_mutex_unlock(&store->mutex);
    return NULL;
}

/* Whether mutex and conditions were made; if not, none of them is there. */
static bool make_locks(view_store *store) {
    if (pthread_mutex_init(&store->mutex, NULL) != 0)
        return false;
    if (pthread_cond_init(&store->ordered, NULL) == 0) {
        if (pthread_cond_init(&store->delivered, NULL) == 0)
            return true;
        pthread_cond_destroy(&store->ordered);
    }
    pthread_mutex_destroy(&store->mutex);
    return false;
}

/* What a store has before its thread, and after it. */
static void discard(view_store *store) {
    free(store->recordings);
    rg_view_buffer_destroy(&store->buffer);
    pthread_cond_destroy(&store->ordered);
    pthread_cond_destroy(&store->delivered);
    pthread_mutex_destroy(&store->mutex);
    free(store);
}

rg_status view_store_create(view_store **result, rg_error *error) {
    view_store *store = calloc(1, sizeof *store);
    *result = NULL;
    if (!store)
        return view_fail(error, RG_OUT_OF_MEMORY, "no memory");
    if (!make_locks(store)) {
        free(store);
        return view_fail(error, RG_OUT_OF_MEMORY, "no memory");
    }
    store->last = &store->first;
    store->buffer = rg_view_buffer_create(NULL);
    if (pthread_create(&store->thread, NULL, run, store) != 0) {
        discard(store);
        return view_fail(error, RG_THREAD_FAILED, "%s", rg_status_text(RG_THREAD_FAILED));
    }
    *result = store;
    return RG_OK;
}

void view_store_destroy(view_store *store) {
    if (!store)
        return;
    pthread_mutex_lock(&store->mutex);
    store->ending = true;
    pthread_cond_signal(&store->ordered);
    pthread_mutex_unlock(&store->mutex);
    pthread_join(store->thread, NULL);
    for (size_t i = 0; i < store->count; i++) {
        for (int k = 0; k < KEPT_PARTS; k++)
            view_bytes_release(store->recordings[i].kept[k]);
        rg_view_close(store->recordings[i].view);
        rg_recording_close(store->recordings[i].recording);
    }
    discard(store);
}

rg_status view_store_open(view_store *store, const char *path, size_t *number, rg_error *error) {
    rg_view_options options = {0};
    stored next = {0};
    stored *grown = realloc(store->recordings, (store->count + 1) * sizeof *grown);
    if (!grown)
        return view_fail(error, RG_OUT_OF_MEMORY, "no memory");
    store->recordings = grown;
    rg_status status = rg_recording_open(path, &next.recording, error);
    if (status != RG_OK)
        return status;
    status = rg_view_open(next.recording, &options, &next.view, error);
    if (status != RG_OK) {
        rg_recording_close(next.recording);
        return status;
    }
    *number = store->count;
    store->recordings[store->count++] = next;
    return RG_OK;
}

rg_status view_store_get(view_store *store, size_t number, view_part part, size_t chunk,
                         view_bytes **bytes, rg_error *error) {
    order o = {.from = &store->recordings[number], .part = part, .chunk = chunk, .error = error};
    pthread_mutex_lock(&store->mutex);
    *store->last = &o;
    store->last = &o.next;
    pthread_cond_signal(&store->ordered);
    while (!o.done)
        pthread_cond_wait(&store->delivered, &store->mutex);
    pthread_mutex_unlock(&store->mutex);
    *bytes = o.bytes;
    return o.status;
}
