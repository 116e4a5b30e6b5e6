/* The viewer inside a program: a world, or any scene, runs in a thread of its own and is shown, and
 * steered, in browsers that open an address of this machine (docs/view.md). Part of the rigor-view
 * library.
 *
 * Prescribed motions, force functions and the callbacks before and after a step are called in that
 * thread. A program that wants to watch its own loop records it instead (rigor/recording.h). */
#ifndef RIGOR_VIEWER_H
#define RIGOR_VIEWER_H

#include "rigor/scene.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rg_viewer rg_viewer;

typedef struct rg_viewer_options {
    const char *listen; /* an IPv4 address; null: 127.0.0.1, where only this machine gets at it */
    int port;           /* 0: any that is free */
    bool paused;        /* wait until somebody presses play */
    double speed;       /* simulated seconds per second; 0: 1 */
} rg_viewer_options;

/* Takes the scene over whatever happens: of a world that a program has built, rg_scene_adopt makes
 * one. `options` may be null. RG_UNSUPPORTED: the library was built without the page. */
rg_status rg_viewer_create(rg_scene *scene, const rg_viewer_options *options, rg_viewer **viewer,
                           rg_error *error);
const char *rg_viewer_address(const rg_viewer *viewer); /* "http://127.0.0.1:PORT/?token=..." */
/* Ends the run and destroys the scene; null is allowed. */
void rg_viewer_destroy(rg_viewer *viewer);

#ifdef __cplusplus
}
#endif
#endif
