/* Boxes of what is to be sent: see view_outbox.h. */
#include "view_outbox.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct view_bytes {
    atomic_int holders;
    size_t size;
    unsigned char data[];
};

view_bytes *view_bytes_create(size_t size) {
    view_bytes *bytes = malloc(sizeof *bytes + size);
    if (bytes) {
        atomic_init(&bytes->holders, 1);
        bytes->size = size;
    }
    return bytes;
}

view_bytes *view_bytes_share(view_bytes *bytes) {
    atomic_fetch_add(&bytes->holders, 1);
    return bytes;
}

void view_bytes_release(view_bytes *bytes) {
    if (bytes && atomic_fetch_sub(&bytes->holders, 1) == 1)
        free(bytes);
}

unsigned char *view_bytes_data(view_bytes *bytes) {
    return bytes->data;
}

size_t view_bytes_size(const view_bytes *bytes) {
    return bytes->size;
}

double view_clock(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void view_deadline(double seconds, struct timespec *deadline) {
    clock_gettime(CLOCK_MONOTONIC, deadline);
    deadline->tv_sec += (time_t)seconds;
    deadline->tv_nsec += (long)(1e9 * (seconds - (double)(time_t)seconds));
    if (deadline->tv_nsec >= 1000000000) {
        deadline->tv_sec++;
        deadline->tv_nsec -= 1000000000;
    }
}

struct view_outbox {
    pthread_mutex_t mutex;
    pthread_cond_t filled;
    view_parcel waiting;
};

view_outbox *view_outbox_create(void) {
    view_outbox *box = calloc(1, sizeof *box);
    pthread_condattr_t attributes;
    if (!box)
        return NULL;
    pthread_mutex_init(&box->mutex, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&box->filled, &attributes);
    pthread_condattr_destroy(&attributes);
    return box;
}

void view_outbox_destroy(view_outbox *box) {
    view_bytes_release(box->waiting.manifest);
    view_bytes_release(box->waiting.frame);
    pthread_cond_destroy(&box->filled);
    pthread_mutex_destroy(&box->mutex);
    free(box);
}

static void finish(view_outbox *box) {
    pthread_cond_signal(&box->filled);
    pthread_mutex_unlock(&box->mutex);
}

void view_outbox_manifest(view_outbox *box, view_bytes *manifest) {
    pthread_mutex_lock(&box->mutex);
    view_bytes_release(box->waiting.manifest);
    box->waiting.manifest = view_bytes_share(manifest);
    box->waiting.dropped += box->waiting.frame != NULL;
    view_bytes_release(box->waiting.frame);
    box->waiting.frame = NULL;
    finish(box);
}

void view_outbox_frame(view_outbox *box, view_bytes *frame) {
    pthread_mutex_lock(&box->mutex);
    box->waiting.dropped += box->waiting.frame != NULL;
    view_bytes_release(box->waiting.frame);
    box->waiting.frame = view_bytes_share(frame);
    finish(box);
}

void view_outbox_state(view_outbox *box) {
    pthread_mutex_lock(&box->mutex);
    box->waiting.state = true;
    finish(box);
}

void view_outbox_problem(view_outbox *box, const char *text) {
    pthread_mutex_lock(&box->mutex);
    view_parcel *waiting = &box->waiting;
    /* Full: the first ones say what went wrong first. */
    if (waiting->problem_count < VIEW_OUTBOX_PROBLEMS) {
        char *place = waiting->problems[waiting->problem_count++];
        size_t length = strlen(text);
        length = length < VIEW_OUTBOX_PROBLEM_SIZE ? length : VIEW_OUTBOX_PROBLEM_SIZE - 1;
        memcpy(place, text, length);
        place[length] = '\0';
    }
    finish(box);
}

void view_outbox_pong(view_outbox *box, const unsigned char *bytes, size_t size) {
    pthread_mutex_lock(&box->mutex);
    size = size < VIEW_OUTBOX_PONG ? size : VIEW_OUTBOX_PONG;
    if (size > 0)
        memcpy(box->waiting.pong_bytes, bytes, size);
    box->waiting.pong_size = size;
    box->waiting.pong = true;
    finish(box);
}

void view_outbox_close(view_outbox *box, int reason) {
    pthread_mutex_lock(&box->mutex);
    if (!box->waiting.closed)
        box->waiting.closed = reason;
    finish(box);
}

static bool is_empty(const view_parcel *parcel) {
    return !parcel->closed && !parcel->manifest && !parcel->state && !parcel->frame &&
           !parcel->pong && parcel->problem_count == 0;
}

bool view_outbox_take(view_outbox *box, double seconds, view_parcel *parcel) {
    struct timespec deadline;
    view_deadline(seconds, &deadline);
    pthread_mutex_lock(&box->mutex);
    while (is_empty(&box->waiting) &&
           pthread_cond_timedwait(&box->filled, &box->mutex, &deadline) == 0)
        ;
    bool something = !is_empty(&box->waiting);
    *parcel = box->waiting;
    box->waiting = (view_parcel){.dropped = parcel->dropped, .closed = parcel->closed};
    pthread_mutex_unlock(&box->mutex);
    return something;
}
