/* What the files of a live run share: view_live.c (the thread, what goes out) and view_live_ask.c
 * (what clients ask for). */
#ifndef RIGOR_VIEWER_LIVE_PARTS_H
#define RIGOR_VIEWER_LIVE_PARTS_H

#include "view_grab.h"
#include "view_live.h"
#include "view_motors.h"
#include "view_world.h"

#include "rigor/profile.h"
#include "rigor/view.h"

#include <pthread.h>

enum { VIEW_LIVE_QUEUE = 256 };

/* Clients are told apart by numbers that are never used again: the box of one who has left may be
 * the memory of another's. 0 is none. */
typedef struct live_request {
    uint64_t from;
    view_message message;
} live_request;

typedef struct live_client {
    uint64_t number;
    view_outbox *box;
    struct live_client *next;
} live_client;

typedef struct live_state {
    bool running;
    double time, speed, achieved;
    const rg_method *method;
    rg_method_settings settings;
    double step; /* s */
    bool friction_is_set;
    double friction;
    rg_vec3 gravity;
    rg_profile profile; /* of the steps of the last window that had any */
} live_state;

struct view_live {
    /* of the thread */
    rg_scene *scene;
    rg_world *world;
    rg_snapshot *start;
    view_laws laws;     /* as the scene says */
    view_motors motors; /* changed with the lock only: others read it */
    live_state now;
    view_grab grabs[VIEW_LIVE_GRABS];
    uint64_t holders[VIEW_LIVE_GRABS]; /* 0: a hand that is free */
    uint32_t thrown, names;            /* boxes that are there, and that ever were */
    uint32_t steps_to_make;            /* asked for one by one, while it is paused */
    uint32_t frame;                    /* number of the next one */
    rg_step_info interval;             /* since the last frame */
    bool fresh;                        /* steps were made since the last frame */
    double due;                        /* simulated s that the clock is ahead of the world */
    bool paced;                        /* it was running when the clock was looked at last: */
    double last_look;
    double next_frame;          /* when it is due, by the clock */
    double window, window_time; /* beginning of what `achieved` is about: s, simulated s */
    rg_profile window_profile;  /* and of what `profile` is about */
    rg_view_buffer buffer;

    bool by_turns; /* without the thread */
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool ending;
    live_request queue[VIEW_LIVE_QUEUE];
    size_t queue_first, queue_count;
    rg_scene *next_scene; /* that is to take the place of `scene`; null: none */
    live_client *clients;
    uint64_t last_number;
    view_bytes *manifest, *newest;
    live_state shown;
};

/* In the thread of the run. */
void view_live_tell(view_live *live, uint64_t number,
                    const char *problem); /* if it is still there */
void view_live_begin_window(view_live *live);
void view_live_begin_again(view_live *live); /* hands are empty, nothing is due */
void view_live_show_state(view_live *live);
void view_live_publish(view_live *live, bool with_manifest);
void view_live_carry_out(view_live *live, const live_request *asked);
void view_live_release_abandoned(view_live *live); /* bodies held by clients that have left */

#endif
