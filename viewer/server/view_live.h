/* A scene that runs while others look: the engine in a thread of its own, paced by the clock, with
 * messages coming in and frames going out through boxes (view_outbox.h). It pauses while nobody is
 * there. All clients see, and change, the same run. */
#ifndef RIGOR_VIEWER_LIVE_H
#define RIGOR_VIEWER_LIVE_H

#include "view_message.h"
#include "view_outbox.h"

#include "rigor/scene.h"

enum {
    VIEW_LIVE_THROWN = 300,          /* boxes; more are refused */
    VIEW_LIVE_GRABS = 16,            /* bodies held at once, one by each client */
    VIEW_LIVE_STATE_SIZE = 32 * 1024 /* with 128 motors */
};

typedef struct view_live view_live;

typedef struct view_live_options {
    bool paused;   /* wait for `play` */
    double speed;  /* simulated seconds per second; 0: 1 */
    bool by_turns; /* no thread: the caller makes the turns (view_live_turn) */
} view_live_options;

/* Takes the scene over if it succeeds. */
rg_status view_live_create(rg_scene *scene, const view_live_options *options, view_live **live,
                           rg_error *error);
void view_live_destroy(view_live *live); /* when all clients have left; null is allowed */
/* Of a run without a thread: what was asked for, and the steps that are due by the clock, for no
 * longer than a frame lasts. Returns the seconds until the next frame is due. */
double view_live_turn(view_live *live);
rg_scene *view_live_scene(view_live *live); /* of a run without a thread */
const char *view_live_name(const view_live *live);

/* A client's box, with manifest, state and the newest frame in it. Null: no memory. */
view_outbox *view_live_join(view_live *live);
/* Lets go of what the client held; the box stays the caller's to destroy. */
void view_live_leave(view_live *live, view_outbox *box);
/* Another scene from its beginning, in place of the one that runs: speed and pause stay, what was
 * changed by hand is the new scene's again. Takes it over whatever happens; where it cannot be
 * shown, the old one goes on and everyone is told why. From any thread. */
void view_live_replace(view_live *live, rg_scene *scene);
void view_live_tell_all(view_live *live, const char *problem);
/* Answers come through the box. */
void view_live_post(view_live *live, view_outbox *from, const view_message *message);

/* The newest manifest (a WebSocket message with it in), and where in that the manifest itself is.
 * The caller's to release. */
view_bytes *view_live_manifest(view_live *live, size_t *begin, size_t *size);
/* {"type":"state", ...}; `dropped` is the client's own. Returns its length. */
size_t view_live_state(view_live *live, uint64_t dropped, char text[VIEW_LIVE_STATE_SIZE]);

#endif
