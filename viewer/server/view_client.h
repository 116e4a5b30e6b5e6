/* One WebSocket of a live run: what comes in is read and posted, what is in its box goes out, each
 * in a thread of its own, so that a client that reads slowly delays only itself. */
#ifndef RIGOR_VIEWER_CLIENT_H
#define RIGOR_VIEWER_CLIENT_H

#include "view_door.h"
#include "view_live.h"

/* Serves a connection, whose greeting is over, until it ends or the door is being closed. The
 * socket stays the caller's, but of no more use. */
void view_client_serve(const view_visit *visit, view_live *live);

#endif
