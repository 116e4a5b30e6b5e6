/* Where connections come in. One thread accepts them and reads their heads, all at once; only a
 * request whose head is complete gets a thread. A connection that has not sent one costs 16 KiB and
 * a descriptor, for five seconds at most, and the oldest of them makes room for a new one: those
 * who send half a request, or nothing, delay nobody. */
#ifndef RIGOR_VIEWER_DOOR_H
#define RIGOR_VIEWER_DOOR_H

#include "view_http.h"
#include "view_request.h"

#include "rigor/status.h"

#include <stdatomic.h>

enum {
    VIEW_DOOR_WAITING = 128 /* connections whose head is not complete */
};

typedef struct view_door view_door;

/* A connection with its request. */
typedef struct view_visit {
    int socket;       /* does not block; closed afterwards */
    view_http *http;  /* null: refused, with this code: */
    int refusal;      /* 400, 431 or 505 */
    const char *rest; /* what came after the head */
    size_t rest_size;
    const atomic_bool *ending; /* the door is being closed: finish soon */
} view_visit;
/* Called in a thread of its own. */
typedef void view_door_serve(void *user, const view_visit *visit);

typedef struct view_door_options {
    int threads; /* requests that are served at the same time; others wait */
    view_door_serve *serve;
    void *user;
} view_door_options;
/* Listens at the place; port 0 becomes one that is free. */
rg_status view_door_open(view_door **door, view_place *place, const view_door_options *options,
                         rg_error *error);
/* Waits until all have been served; null is allowed. */
void view_door_close(view_door *door);

/* Sends all of it. False: the other end has gone, or taken nothing for `patience` seconds (half a
 * second from when `hurry` or `ending` is true; `hurry` may be null). */
bool view_send(int socket, const void *bytes, size_t size, double patience,
               const atomic_bool *hurry, const atomic_bool *ending);

#endif
