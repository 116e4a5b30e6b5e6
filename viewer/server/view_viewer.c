/* The viewer inside a program (rigor/viewer.h): the server of `rigor view` with one scene. Its
 * threads take no signals: those are the program's. Tested by tests/view/test_viewer.c. */
#include "page.h"
#include "view_server.h"
#include "view_world.h"

#include "rigor/viewer.h"

#include <assert.h>
#include <signal.h>
#include <stdlib.h>

struct rg_viewer {
    view_server *server;
};

/* The scene is the server's as soon as it is handed over, and destroyed otherwise. */
static rg_status serve(rg_viewer *viewer, rg_scene *scene, const rg_viewer_options *options,
                       rg_error *error) {
    view_live_options live = {.paused = options->paused, .speed = options->speed};
    view_server_options server = {.listen = options->listen, .port = options->port};
    server.page = rg_view_page(&server.page_size);
    rg_status status = view_server_create(&viewer->server, error);
    if (status == RG_OK && !server.page)
        status = view_fail(error, RG_UNSUPPORTED,
                           "the viewer was built without its page; run tools/page (it needs Node "
                           "18 or newer and npm) and build again");
    if (status != RG_OK) {
        rg_scene_destroy(scene);
        return status;
    }
    status = view_server_add_scene(viewer->server, scene, &live, error);
    return status == RG_OK ? view_server_start(viewer->server, &server, error) : status;
}

rg_status rg_viewer_create(rg_scene *scene, const rg_viewer_options *options, rg_viewer **viewer,
                           rg_error *error) {
    assert(scene && viewer);
    rg_viewer_options chosen = options ? *options : (rg_viewer_options){0};
    *viewer = NULL;
    rg_viewer *made = calloc(1, sizeof *made);
    if (!made) {
        rg_scene_destroy(scene);
        return view_fail(error, RG_OUT_OF_MEMORY, "no memory for a viewer");
    }
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    rg_status status = serve(made, scene, &chosen, error);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (status == RG_OK)
        *viewer = made;
    else
        rg_viewer_destroy(made);
    return status;
}

const char *rg_viewer_address(const rg_viewer *viewer) {
    return view_server_address(viewer->server);
}

void rg_viewer_destroy(rg_viewer *viewer) {
    if (!viewer)
        return;
    view_server_destroy(viewer->server);
    free(viewer);
}
