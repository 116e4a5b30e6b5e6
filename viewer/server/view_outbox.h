/* What a client of a live run is still to be sent. Bounded: there is room for one manifest, one
 * frame, one state and a few complaints, and a newer one takes the place of one that waits. So a
 * slow client gets fewer frames, and the thread that fills the box never waits for the one that
 * empties it. */
#ifndef RIGOR_VIEWER_OUTBOX_H
#define RIGOR_VIEWER_OUTBOX_H

#include "view_message.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that several boxes share; they go when the last one lets go. */
typedef struct view_bytes view_bytes;
view_bytes *view_bytes_create(size_t size); /* null: no memory */
view_bytes *view_bytes_share(view_bytes *bytes);
void view_bytes_release(view_bytes *bytes); /* null is allowed */
unsigned char *view_bytes_data(view_bytes *bytes);
size_t view_bytes_size(const view_bytes *bytes);

enum { VIEW_OUTBOX_PROBLEMS = 4, VIEW_OUTBOX_PROBLEM_SIZE = 1200, VIEW_OUTBOX_PONG = 125 };

/* What a writer takes out at once and sends in this order. */
typedef struct view_parcel {
    size_t problem_count;
    char problems[VIEW_OUTBOX_PROBLEMS][VIEW_OUTBOX_PROBLEM_SIZE];
    view_bytes *manifest; /* null: none; the taker's from now on, as the frame */
    bool state;           /* is to be sent */
    view_bytes *frame;
    uint64_t dropped; /* frames so far */
    bool pong;        /* is to be sent, with what came with the ping */
    unsigned char pong_bytes[VIEW_OUTBOX_PONG];
    size_t pong_size;
    int closed; /* the reason, after which nothing is sent any more; 0: no */
} view_parcel;

typedef struct view_outbox view_outbox;
view_outbox *view_outbox_create(void);      /* null: no memory */
void view_outbox_destroy(view_outbox *box); /* when nobody uses it any more */
void view_outbox_manifest(view_outbox *box, view_bytes *manifest); /* shares; drops a frame that
                                                                      waits: it may not fit */
void view_outbox_frame(view_outbox *box, view_bytes *frame);       /* shares */
void view_outbox_state(view_outbox *box);
void view_outbox_problem(view_outbox *box, const char *text);
void view_outbox_pong(view_outbox *box, const unsigned char *bytes, size_t size);
void view_outbox_close(view_outbox *box,
                       int reason); /* the taker shall end; the first reason counts */
/* Waits, at most so many seconds, until there is something; false: there is nothing. */
bool view_outbox_take(view_outbox *box, double seconds, view_parcel *parcel);

/* s, from an arbitrary start; and a wait of at most so many seconds on it. */
double view_clock(void);
struct timespec;
void view_deadline(double seconds, struct timespec *deadline);

#endif
