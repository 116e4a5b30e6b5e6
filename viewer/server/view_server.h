/* The server behind `rigor view`: the page, the data of recordings and live runs, for clients that
 * have the token (docs/view-format.md, docs/view.md). */
#ifndef RIGOR_VIEWER_SERVER_H
#define RIGOR_VIEWER_SERVER_H

#include "view_live.h"

enum {
    VIEW_SERVER_RUNS = 32,
    VIEW_SERVER_CLIENTS = 64,   /* of live runs; more are answered 503 */
    VIEW_SERVER_MESSAGES = 240, /* a second from one client; more are left out */
    VIEW_SERVER_MESSAGE_BURST = 480
};

typedef struct view_server view_server;

rg_status view_server_create(view_server **server, rg_error *error);
void view_server_destroy(view_server *server); /* ends everything; null is allowed */

/* Before it is started. The scene is taken over whatever happens. */
rg_status view_server_add_scene(view_server *server, rg_scene *scene,
                                const view_live_options *options, rg_error *error);
rg_status view_server_add_recording(view_server *server, const char *path, rg_error *error);

/* Of the run that was added as number `run`, from 0: see view_live.h. */
void view_server_replace_scene(view_server *server, size_t run, rg_scene *scene);
void view_server_tell(view_server *server, size_t run, const char *problem);

typedef struct view_server_options {
    const char *listen; /* an IPv4 address; null: 127.0.0.1, where only this machine gets at it */
    int port;           /* 0: any that is free */
    const char *page;   /* stays the caller's */
    size_t page_size;
} view_server_options;
rg_status view_server_start(view_server *server, const view_server_options *options,
                            rg_error *error);
/* "http://127.0.0.1:PORT/?token=..." */
const char *view_server_address(const view_server *server);

#endif
