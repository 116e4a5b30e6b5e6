/* A live run: see view_live.h.
 *
 * One thread steps the world. It wakes 60 times a second, carries out what clients have asked for,
 * makes the steps that are due by the clock and hands out one frame. If steps take longer than the
 * time that they stand for, the run is slower than asked (`achieved` says how slow); it never tries
 * to catch up by more than a tenth of a second. Nothing that a client does or fails to do makes it
 * wait: frames go into boxes that hold one, messages come out of a queue that refuses more than it
 * holds.
 *
 * Locks: `mutex` guards the queue, the list of clients, the newest manifest and frame, changes of
 * `motors`, and `shown`, the copy of the state that others may read. The world and `now` are the
 * thread's own. A step that fails pauses the run and tells everyone why. */
#include "view_live_parts.h"

#include "view_json.h"

#include "rigor/solver.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FRAME_EVERY (1.0 / 60) /* s */
#define STATE_EVERY 0.25       /* s, while it runs */
#define MOST_BEHIND 0.1        /* s that it tries to catch up with */
#define FIRST_WORDS "{\"type\":\"manifest\",\"manifest\":"
#define LAST_WORDS  "}"

/* ---- what goes out ---- */

void view_live_tell_all(view_live *live, const char *problem) {
    pthread_mutex_lock(&live->mutex);
    for (live_client *c = live->clients; c; c = c->next)
        view_outbox_problem(c->box, problem);
    pthread_mutex_unlock(&live->mutex);
}

void view_live_tell(view_live *live, uint64_t number, const char *problem) {
    pthread_mutex_lock(&live->mutex);
    for (live_client *c = live->clients; c; c = c->next)
        if (c->number == number)
            view_outbox_problem(c->box, problem);
    pthread_mutex_unlock(&live->mutex);
}

/* The profile of the steps since the window began, if there were any. */
static void take_profile(view_live *live) {
    rg_profile now = rg_world_profile(live->world), *begin = &live->window_profile;
    if (now.steps > begin->steps) {
        live->now.profile.steps = now.steps - begin->steps;
        live->now.profile.step = now.step - begin->step;
        for (int i = 0; i < RG_STAGE_COUNT; i++)
            live->now.profile.stage[i] = now.stage[i] - begin->stage[i];
    }
    *begin = now;
}

void view_live_begin_window(view_live *live) {
    live->window = view_clock();
    live->window_time = rg_world_time(live->world);
    take_profile(live);
}

void view_live_show_state(view_live *live) {
    double waited = view_clock() - live->window;
    live->now.time = rg_world_time(live->world);
    if (!live->now.running) {
        live->now.achieved = 0;
        view_live_begin_window(live);
    } else if (waited >= STATE_EVERY) {
        double gained = (live->now.time - live->window_time) / waited, before = live->now.achieved;
        live->now.achieved = before > 0 ? 0.7 * before + 0.3 * gained : gained; /* steady to read */
        view_live_begin_window(live);
    }
    pthread_mutex_lock(&live->mutex);
    live->shown = live->now;
    for (live_client *c = live->clients; c; c = c->next)
        view_outbox_state(c->box);
    pthread_mutex_unlock(&live->mutex);
}

static view_bytes *copy_buffer(const rg_view_buffer *buffer, const char *before,
                               const char *after) {
    size_t head = strlen(before), tail = strlen(after);
    view_bytes *bytes = view_bytes_create(head + buffer->size + tail);
    if (!bytes)
        return NULL;
    unsigned char *data = view_bytes_data(bytes);
    memcpy(data, before, head);
    memcpy(data + head, buffer->bytes, buffer->size);
    memcpy(data + head + buffer->size, after, tail);
    return bytes;
}

static rg_status make_manifest(view_live *live, view_bytes **bytes, rg_error *error) {
    rg_status status = rg_view_world_manifest(live->scene, &live->buffer, error);
    if (status != RG_OK)
        return status;
    *bytes = copy_buffer(&live->buffer, FIRST_WORDS, LAST_WORDS);
    return *bytes ? RG_OK : view_fail(error, RG_OUT_OF_MEMORY, "no memory for the manifest");
}

static rg_status make_frame(view_live *live, view_bytes **bytes, rg_error *error) {
    rg_step_info sums = rg_world_summary(live->world);
    rg_status status =
        rg_view_world_frame(live->world, live->frame, &sums, &live->interval, &live->buffer, error);
    if (status != RG_OK)
        return status;
    *bytes = copy_buffer(&live->buffer, "", "");
    if (!*bytes)
        return view_fail(error, RG_OUT_OF_MEMORY, "no memory for a frame");
    live->frame++;
    live->interval = rg_step_info_nothing();
    live->fresh = false;
    return RG_OK;
}

/* To everyone at once, so that no client gets a frame with bodies that are not in the manifest. */
static void hand_out(view_live *live, view_bytes *manifest, view_bytes *frame) {
    pthread_mutex_lock(&live->mutex);
    if (manifest) {
        view_bytes_release(live->manifest);
        live->manifest = manifest;
    }
    view_bytes_release(live->newest);
    live->newest = frame;
    for (live_client *c = live->clients; c; c = c->next) {
        if (manifest)
            view_outbox_manifest(c->box, manifest);
        view_outbox_frame(c->box, frame);
    }
    pthread_mutex_unlock(&live->mutex);
}

static void pause_because(view_live *live, const char *problem) {
    live->now.running = false;
    live->steps_to_make = 0;
    view_live_tell_all(live, problem);
    view_live_show_state(live);
}

void view_live_publish(view_live *live, bool with_manifest) {
    rg_error error = {0};
    view_bytes *manifest = NULL, *frame = NULL;
    rg_status status = with_manifest ? make_manifest(live, &manifest, &error) : RG_OK;
    if (status == RG_OK)
        status = make_frame(live, &frame, &error);
    if (status == RG_OK) {
        hand_out(live, manifest, frame);
        return;
    }
    view_bytes_release(manifest);
    pause_because(live, error.text);
}

/* The next request; false: there is none. */
static bool next_request(view_live *live, live_request *asked) {
    pthread_mutex_lock(&live->mutex);
    bool any = live->queue_count > 0;
    if (any) {
        *asked = live->queue[live->queue_first];
        live->queue_first = (live->queue_first + 1) % VIEW_LIVE_QUEUE;
        live->queue_count--;
    }
    pthread_mutex_unlock(&live->mutex);
    return any;
}

/* ---- the thread ---- */

static bool step_once(view_live *live) {
    rg_step_info info;
    rg_error error = {0};
    rg_status status = rg_world_step(live->world, live->now.step, &info, &error);
    if (status != RG_OK) {
        pause_because(live, error.text[0] ? error.text : rg_status_text(status));
        return false;
    }
    rg_step_info_add(&live->interval, &info);
    live->fresh = true;
    return true;
}

/* The steps that are due, but for no longer than a frame lasts. */
static void make_steps(view_live *live, bool watched) {
    double begin = view_clock(), step = live->now.step;
    bool going = live->now.running && watched;
    double passed = going && live->paced ? begin - live->last_look : 0;
    live->last_look = begin;
    live->due = going ? fmin(live->due + passed * live->now.speed,
                             fmax(step, MOST_BEHIND * live->now.speed))
                      : 0;
    live->paced = going;
    while (live->steps_to_make > 0 || live->due >= step) {
        if (!step_once(live))
            return;
        if (live->steps_to_make > 0)
            live->steps_to_make--;
        else
            live->due -= step;
        if (view_clock() - begin >= FRAME_EVERY)
            return;
    }
}

/* Until the next frame is due, or, if nothing goes on, until a client asks for something. */
static void rest(view_live *live, double until) {
    double left = until - view_clock();
    struct timespec deadline;
    bool idle = live->steps_to_make == 0;
    pthread_mutex_lock(&live->mutex);
    view_deadline(fmax(left, 0), &deadline);
    while (!live->ending && live->queue_count == 0 && !live->next_scene && idle) {
        if (!live->now.running || !live->clients)
            pthread_cond_wait(&live->changed, &live->mutex);
        else if (left <= 0 || pthread_cond_timedwait(&live->changed, &live->mutex, &deadline) != 0)
            break;
    }
    pthread_mutex_unlock(&live->mutex);
}

static bool look_around(view_live *live, bool *watched) {
    pthread_mutex_lock(&live->mutex);
    bool ending = live->ending;
    *watched = live->clients != NULL;
    pthread_mutex_unlock(&live->mutex);
    if (!live->now.running || !*watched)
        live->paced = false; /* the time until it goes on does not count */
    return !ending;
}

/* ---- another scene ---- */

static live_state state_of(rg_scene *scene, bool running, double speed) {
    rg_world *world = rg_scene_world(scene);
    return (live_state){.running = running,
                        .time = rg_world_time(world),
                        .speed = speed,
                        .method = rg_world_method(world),
                        .settings = rg_world_settings(world),
                        .step = rg_scene_step_size(scene),
                        .gravity = rg_world_gravity(world)};
}

/* What is kept of the beginning of a scene. */
static rg_status keep_beginning(rg_scene *scene, rg_snapshot **start, view_laws *laws,
                                view_motors *motors, rg_error *error) {
    rg_status status = rg_snapshot_create(rg_scene_world(scene), start);
    if (status != RG_OK)
        return view_fail(error, status, "cannot save the initial state: %s",
                         rg_status_text(status));
    status = view_laws_keep(laws, rg_scene_world(scene), error);
    return status != RG_OK ? status : view_motors_keep(motors, rg_scene_world(scene), error);
}

static void use_scene(view_live *live, rg_scene *scene, rg_snapshot *start, const view_laws *laws,
                      const view_motors *motors) {
    pthread_mutex_lock(&live->mutex);
    live->motors = *motors;
    pthread_mutex_unlock(&live->mutex);
    live->scene = scene;
    live->world = rg_scene_world(scene);
    live->start = start;
    live->laws = *laws;
    live->now = state_of(scene, live->now.running, live->now.speed);
    view_live_begin_again(live);
    view_live_publish(live, true);
    view_live_show_state(live);
}

static void take_next_scene(view_live *live) {
    rg_error error = {0};
    rg_snapshot *start = NULL, *old_start = live->start;
    rg_scene *old = live->scene;
    view_laws laws = {0}, old_laws = live->laws;
    view_motors motors = {0}, old_motors = live->motors;
    pthread_mutex_lock(&live->mutex);
    rg_scene *scene = live->next_scene;
    live->next_scene = NULL;
    pthread_mutex_unlock(&live->mutex);
    if (!scene)
        return;
    bool good = keep_beginning(scene, &start, &laws, &motors, &error) == RG_OK;
    if (good)
        use_scene(live, scene, start, &laws, &motors);
    else
        view_live_tell_all(live, error.text);
    rg_snapshot_destroy(good ? old_start : start);
    view_laws_free(good ? &old_laws : &laws);
    view_motors_free(good ? &old_motors : &motors);
    rg_scene_destroy(good ? old : scene);
}

/* What clients have asked for, the steps that are due, and what is to be seen of them. */
static void make_turn(view_live *live, bool watched) {
    live_request asked;
    take_next_scene(live);
    while (next_request(live, &asked))
        view_live_carry_out(live, &asked);
    view_live_release_abandoned(live);
    bool was_running = live->now.running, one_by_one = live->steps_to_make > 0;
    double clock = view_clock();
    if (clock >= live->next_frame || one_by_one) {
        make_steps(live, watched);
        live->next_frame = fmax(live->next_frame + FRAME_EVERY, clock);
    }
    if (live->fresh)
        view_live_publish(live, false);
    if ((one_by_one && live->steps_to_make == 0) ||
        (was_running && watched && view_clock() - live->window >= STATE_EVERY))
        view_live_show_state(live);
}

static void *run(void *user) {
    view_live *live = user;
    bool watched;
    while (look_around(live, &watched)) {
        make_turn(live, watched);
        rest(live, live->next_frame);
    }
    return NULL;
}

double view_live_turn(view_live *live) {
    bool watched;
    if (look_around(live, &watched))
        make_turn(live, watched);
    return live->steps_to_make > 0 ? 0 : fmax(0, live->next_frame - view_clock());
}

rg_scene *view_live_scene(view_live *live) {
    assert(live->by_turns);
    return live->scene;
}

/* ---- from other threads ---- */

static rg_status begin(view_live *live, rg_error *error) {
    view_bytes *manifest = NULL, *frame = NULL;
    rg_status status = keep_beginning(live->scene, &live->start, &live->laws, &live->motors, error);
    if (status == RG_OK)
        status = make_manifest(live, &manifest, error);
    if (status == RG_OK)
        status = make_frame(live, &frame, error);
    live->manifest = manifest;
    live->newest = frame;
    if (status != RG_OK)
        return status;
    live->shown = live->now;
    view_live_begin_window(live);
    live->next_frame = view_clock();
    if (!live->by_turns && pthread_create(&live->thread, NULL, run, live) != 0)
        return view_fail(error, RG_THREAD_FAILED, "%s", rg_status_text(RG_THREAD_FAILED));
    return RG_OK;
}

static void free_live(view_live *live) {
    view_bytes_release(live->manifest);
    view_bytes_release(live->newest);
    view_laws_free(&live->laws);
    view_motors_free(&live->motors);
    rg_snapshot_destroy(live->start);
    rg_view_buffer_destroy(&live->buffer);
    pthread_cond_destroy(&live->changed);
    pthread_mutex_destroy(&live->mutex);
    free(live);
}

rg_status view_live_create(rg_scene *scene, const view_live_options *options, view_live **result,
                           rg_error *error) {
    view_live *live = calloc(1, sizeof *live);
    pthread_condattr_t attributes;
    *result = NULL;
    if (!live)
        return view_fail(error, RG_OUT_OF_MEMORY, "no memory for a live run");
    pthread_mutex_init(&live->mutex, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&live->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    live->by_turns = options->by_turns;
    live->scene = scene;
    live->world = rg_scene_world(scene);
    live->buffer = rg_view_buffer_create(NULL);
    live->interval = rg_step_info_nothing();
    live->now = state_of(scene, !options->paused, options->speed > 0 ? options->speed : 1);
    rg_status status = begin(live, error);
    if (status == RG_OK)
        *result = live;
    else
        free_live(live);
    return status;
}

void view_live_destroy(view_live *live) {
    if (!live)
        return;
    pthread_mutex_lock(&live->mutex);
    live->ending = true;
    pthread_cond_signal(&live->changed);
    pthread_mutex_unlock(&live->mutex);
    if (!live->by_turns)
        pthread_join(live->thread, NULL);
    if (live->next_scene)
        rg_scene_destroy(live->next_scene);
    rg_scene_destroy(live->scene);
    free_live(live);
}

const char *view_live_name(const view_live *live) {
    return rg_scene_name(live->scene);
}

view_outbox *view_live_join(view_live *live) {
    view_outbox *box = view_outbox_create();
    live_client *c = malloc(sizeof *c);
    if (!box || !c) {
        if (box)
            view_outbox_destroy(box);
        free(c);
        return NULL;
    }
    pthread_mutex_lock(&live->mutex);
    view_outbox_manifest(box, live->manifest);
    view_outbox_state(box);
    view_outbox_frame(box, live->newest);
    *c = (live_client){++live->last_number, box, live->clients};
    live->clients = c;
    pthread_cond_signal(&live->changed);
    pthread_mutex_unlock(&live->mutex);
    return box;
}

void view_live_replace(view_live *live, rg_scene *scene) {
    pthread_mutex_lock(&live->mutex);
    rg_scene *before = live->next_scene;
    live->next_scene = scene;
    pthread_cond_signal(&live->changed);
    pthread_mutex_unlock(&live->mutex);
    if (before)
        rg_scene_destroy(before);
}

static bool enqueue(view_live *live, uint64_t from, const view_message *message) {
    size_t last = (live->queue_first + live->queue_count + VIEW_LIVE_QUEUE - 1) % VIEW_LIVE_QUEUE;
    live_request *before = live->queue_count > 0 ? &live->queue[last] : NULL;
    if (before && before->from == from && before->message.kind == VIEW_MESSAGE_DRAG &&
        message->kind == VIEW_MESSAGE_DRAG) {
        before->message = *message; /* only the newest place of a pointer counts */
        return true;
    }
    if (live->queue_count == VIEW_LIVE_QUEUE)
        return false;
    live->queue[(last + 1) % VIEW_LIVE_QUEUE] = (live_request){from, *message};
    live->queue_count++;
    return true;
}

void view_live_post(view_live *live, view_outbox *from, const view_message *message) {
    pthread_mutex_lock(&live->mutex);
    live_client *c = live->clients;
    while (c && c->box != from)
        c = c->next;
    bool taken = c && enqueue(live, c->number, message);
    pthread_cond_signal(&live->changed);
    pthread_mutex_unlock(&live->mutex);
    if (!taken)
        view_outbox_problem(from, "the simulation is busy; the message was left out");
}

void view_live_leave(view_live *live, view_outbox *box) {
    pthread_mutex_lock(&live->mutex);
    live_client **at = &live->clients;
    while (*at && (*at)->box != box)
        at = &(*at)->next;
    live_client *gone = *at;
    if (gone)
        *at = gone->next;
    pthread_cond_signal(&live->changed);
    pthread_mutex_unlock(&live->mutex);
    free(gone);
}

view_bytes *view_live_manifest(view_live *live, size_t *begin_at, size_t *size) {
    pthread_mutex_lock(&live->mutex);
    view_bytes *bytes = view_bytes_share(live->manifest);
    pthread_mutex_unlock(&live->mutex);
    *begin_at = sizeof FIRST_WORDS - 1;
    *size = view_bytes_size(bytes) - (sizeof FIRST_WORDS - 1) - (sizeof LAST_WORDS - 1);
    return bytes;
}

/* ---- the state, in words ---- */

static void put_field(view_text *text, const char *name, double number) {
    view_text_put(text, ",\"%s\":", name);
    view_text_put_number(text, number);
}

/* Milliseconds a step, as `rigor run --json` has them; null: no step yet. */
static void put_profile(view_text *text, const rg_profile *profile) {
    double scale = profile->steps ? 1e3 / (double)profile->steps : 0;
    if (profile->steps == 0) {
        view_text_put(text, ",\"profile\":null");
        return;
    }
    view_text_put(text, ",\"profile\":{\"step_ms\":%.6g,\"stages_ms\":{", scale * profile->step);
    for (int i = 0; i < RG_STAGE_COUNT; i++)
        view_text_put(text, "%s\"%s\":%.6g", i ? "," : "", rg_stage_name((rg_stage)i),
                      scale * profile->stage[i]);
    view_text_put(text, "}}");
}

size_t view_live_state(view_live *live, uint64_t dropped, char bytes[VIEW_LIVE_STATE_SIZE]) {
    view_text text = {.bytes = bytes, .capacity = VIEW_LIVE_STATE_SIZE};
    pthread_mutex_lock(&live->mutex);
    live_state s = live->shown;
    pthread_mutex_unlock(&live->mutex);
    const rg_solver *solver = s.settings.solver ? s.settings.solver : rg_solver_at(0);
    view_text_put(&text, "{\"type\":\"state\",\"connected\":true,\"running\":%s",
                  s.running ? "true" : "false");
    put_field(&text, "time", s.time);
    put_field(&text, "speed", s.speed);
    put_field(&text, "achieved", s.achieved);
    view_text_put(&text, ",\"method\":\"%s\",\"solver\":\"%s\"", rg_method_name(s.method),
                  rg_solver_name(solver));
    put_field(&text, "step", s.step);
    put_field(&text, "friction", s.friction_is_set ? s.friction : NAN);
    view_text_put(&text, ",\"gravity\":[");
    view_text_put_number(&text, s.gravity.x);
    view_text_put(&text, ",");
    view_text_put_number(&text, s.gravity.y);
    view_text_put(&text, ",");
    view_text_put_number(&text, s.gravity.z);
    view_text_put(&text, "],\"methods\":[");
    for (size_t i = 0; i < rg_method_count(); i++)
        view_text_put(&text, "%s\"%s\"", i ? "," : "", rg_method_name(rg_method_at(i)));
    view_text_put(&text, "],\"solvers\":[");
    for (size_t i = 0; i < rg_solver_count(); i++)
        view_text_put(&text, "%s\"%s\"", i ? "," : "", rg_solver_name(rg_solver_at(i)));
    view_text_put(&text, "]");
    put_profile(&text, &s.profile);
    pthread_mutex_lock(&live->mutex);
    view_motors_put(&live->motors, &text);
    pthread_mutex_unlock(&live->mutex);
    view_text_put(&text, ",\"dropped\":%llu}", (unsigned long long)dropped);
    return text.size;
}
