/* One WebSocket of a live run: what comes in is read and posted, what is in its box goes out, each
 * in a thread of its own, so that a client that reads slowly holds up nobody but itself. */
#ifndef RIGOR_VIEWER_CLIENT_H
#define RIGOR_VIEWER_CLIENT_H

#include "view_live.h"

#include <stdatomic.h>

/* Serves a connection, whose greeting is over, until it ends or `ending` is set. The socket stays
 * the caller's, but of no more use. Needs little of the caller's stack. */
void view_client_serve(int socket, view_live *live, const atomic_bool *ending);

#endif
