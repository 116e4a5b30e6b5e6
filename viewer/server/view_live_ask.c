/* What clients of a live run ask for, carried out between two steps: see view_live.h. Whatever
 * cannot be done leaves everything as it was, and the client that asked is told why. */
#include "view_live_parts.h"

static view_grab *grab_of(view_live *live, uint64_t holder) {
    for (size_t i = 0; i < VIEW_LIVE_GRABS; i++)
        if (live->holders[i] == holder)
            return &live->grabs[i];
    return NULL;
}

static void release(view_live *live, uint64_t holder) {
    view_grab *held = grab_of(live, holder);
    if (!held)
        return;
    view_grab_end(held, live->world);
    live->holders[held - live->grabs] = 0;
}

void view_live_release_abandoned(view_live *live) {
    for (size_t i = 0; i < VIEW_LIVE_GRABS; i++) {
        uint64_t holder = live->holders[i];
        if (holder == 0)
            continue;
        pthread_mutex_lock(&live->mutex);
        live_client *c = live->clients;
        while (c && c->number != holder)
            c = c->next;
        pthread_mutex_unlock(&live->mutex);
        if (!c)
            release(live, holder);
    }
}

static rg_status grab(view_live *live, uint64_t holder, const view_message *message,
                      rg_error *error) {
    if (message->body >= rg_world_body_count(live->world))
        return view_fail(error, RG_INVALID_HANDLE, "there is no body %u", (unsigned)message->body);
    rg_body_id body = rg_world_body_at(live->world, message->body);
    if (rg_body_motion(live->world, body) != RG_MOTION_DYNAMIC)
        return view_fail(error, RG_INVALID_ARGUMENT, "body %u \"%s\" is not moved by forces",
                         (unsigned)message->body, rg_body_name(live->world, body));
    release(live, holder); /* one at a time */
    size_t free_one = 0;
    while (free_one < VIEW_LIVE_GRABS && live->holders[free_one])
        free_one++;
    if (free_one == VIEW_LIVE_GRABS)
        return view_fail(error, RG_LIMIT_EXCEEDED, "%d bodies are held already", VIEW_LIVE_GRABS);
    rg_status status = view_grab_begin(&live->grabs[free_one], live->world, live->now.step, body,
                                       message->point, message->target, error);
    if (status == RG_OK)
        live->holders[free_one] = holder;
    return status;
}

static void drag(view_live *live, uint64_t holder, const view_message *message) {
    view_grab *held = grab_of(live, holder);
    if (held)
        held->target = message->target;
}

static rg_status throw_box(view_live *live, const view_message *message, rg_error *error) {
    if (live->thrown == VIEW_LIVE_THROWN)
        return view_fail(error, RG_LIMIT_EXCEEDED,
                         "there are %d thrown boxes already; reset removes them", VIEW_LIVE_THROWN);
    rg_status status = view_throw_box(live->world, message->from, message->velocity, message->size,
                                      &live->names, error);
    if (status != RG_OK)
        return status;
    live->thrown++;
    view_live_publish(live, true);
    return RG_OK;
}

static void adapt_grabs(view_live *live) {
    for (size_t i = 0; i < VIEW_LIVE_GRABS; i++)
        if (live->holders[i])
            view_grab_adapt(&live->grabs[i], live->world, live->now.step);
}

/* All of it or nothing. */
static rg_status set(view_live *live, const view_message *message, rg_error *error) {
    live_state next = live->now;
    if (message->method)
        next.method = message->method;
    if (message->solver)
        next.settings.solver = message->solver;
    if (message->has_step)
        next.step = message->step;
    if (message->has_gravity)
        next.gravity = message->gravity;
    if (message->has_friction) {
        next.friction_is_set = !message->friction_of_scene;
        next.friction = message->friction;
    }
    if (message->has_gravity && rg_world_is_planar(live->world) && next.gravity.y != 0)
        return view_fail(error, RG_INVALID_ARGUMENT, "gravity of a planar scene has y = 0");
    rg_status status = rg_world_set_method(live->world, next.method, &next.settings, error);
    if (status == RG_OK)
        status = rg_scene_set_step_size(live->scene, next.step, error);
    if (status == RG_OK)
        status = rg_world_set_gravity(live->world, next.gravity);
    if (status == RG_OK)
        status = view_laws_apply(&live->laws, live->world,
                                 next.friction_is_set ? &next.friction : NULL, error);
    if (status == RG_OK) {
        live->now = next;
    } else { /* what was there before was accepted before */
        if (error->text[0] == '\0')
            view_fail(error, status, "%s", rg_status_text(status));
        rg_error ignored;
        (void)rg_world_set_method(live->world, live->now.method, &live->now.settings, &ignored);
        (void)rg_scene_set_step_size(live->scene, live->now.step, &ignored);
        (void)rg_world_set_gravity(live->world, live->now.gravity);
        (void)view_laws_apply(&live->laws, live->world,
                              live->now.friction_is_set ? &live->now.friction : NULL, &ignored);
    }
    adapt_grabs(live);
    return status;
}

static rg_status set_motor(view_live *live, const view_message *message, rg_error *error) {
    pthread_mutex_lock(&live->mutex);
    rg_status status =
        view_motors_set(&live->motors, live->world, message->joint, message->axis,
                        message->target_of_scene ? NULL : &message->motor_target, error);
    pthread_mutex_unlock(&live->mutex);
    return status;
}

void view_live_begin_again(view_live *live) {
    pthread_mutex_lock(&live->mutex);
    view_motors_forget(&live->motors);
    pthread_mutex_unlock(&live->mutex);
    for (size_t i = 0; i < VIEW_LIVE_GRABS; i++) {
        view_grab_end(&live->grabs[i], NULL);
        live->holders[i] = 0;
    }
    live->thrown = 0;
    live->steps_to_make = 0;
    live->frame = 0;
    live->due = 0;
    live->interval = rg_step_info_nothing();
    view_live_begin_window(live);
}

/* Back to the beginning, with the current settings. */
static rg_status reset(view_live *live, rg_error *error) {
    size_t bodies = rg_world_body_count(live->world);
    rg_status status = rg_world_restore(live->world, live->start);
    if (status != RG_OK)
        return view_fail(error, status, "cannot reset: %s", rg_status_text(status));
    view_live_begin_again(live);
    view_message same = {.kind = VIEW_MESSAGE_SET,
                         .has_friction = live->now.friction_is_set,
                         .friction = live->now.friction};
    status = set(live, &same, error);
    view_live_publish(live, rg_world_body_count(live->world) != bodies);
    return status;
}

void view_live_carry_out(view_live *live, const live_request *asked) {
    const view_message *message = &asked->message;
    rg_error error = {0};
    rg_status status = RG_OK;
    switch (message->kind) {
    case VIEW_MESSAGE_PLAY:
        if (!live->now.running)
            view_live_begin_window(live);
        live->now.running = true;
        live->steps_to_make = 0;
        break;
    case VIEW_MESSAGE_PAUSE:
        live->now.running = false;
        live->steps_to_make = 0;
        break;
    case VIEW_MESSAGE_STEP_BY:
        live->now.running = false;
        live->steps_to_make += message->count;
        if (live->steps_to_make > VIEW_MESSAGE_STEPS)
            live->steps_to_make = VIEW_MESSAGE_STEPS;
        break;
    case VIEW_MESSAGE_SET_SPEED:
        live->now.speed = message->speed;
        break;
    case VIEW_MESSAGE_RESET:
        status = reset(live, &error);
        break;
    case VIEW_MESSAGE_SET:
        status = set(live, message, &error);
        break;
    case VIEW_MESSAGE_GRAB:
        status = grab(live, asked->from, message, &error);
        break;
    case VIEW_MESSAGE_DRAG:
        drag(live, asked->from, message);
        return; /* no news for the others */
    case VIEW_MESSAGE_RELEASE:
        release(live, asked->from);
        return;
    case VIEW_MESSAGE_THROW:
        status = throw_box(live, message, &error);
        break;
    case VIEW_MESSAGE_MOTOR:
        status = set_motor(live, message, &error);
        break;
    }
    if (status != RG_OK)
        view_live_tell(live, asked->from, error.text);
    view_live_show_state(live);
}
