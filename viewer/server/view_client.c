/* A client of a live run: see view_client.h.
 *
 * The thread that reads holds one message at most; a frame that is too big is refused by its head.
 * The thread that writes is the only one that does; it gives up on a client that takes nothing for
 * ten seconds. Either of them, giving up, shuts the socket down, which wakes the other. */
#include "view_client.h"

#include "view_frame.h"
#include "view_json.h"
#include "view_server.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define PING_EVERY      10.0 /* s, while there is nothing to send */
#define PATIENCE        10.0 /* s, with a client that takes nothing */
#define COMPLAINT_EVERY 1.0  /* s, about too many messages */

enum {
    LOOK_EVERY = 200, /* ms: whether the server ends */
    PINGS_WITHOUT_ANSWER = 3,
    INBOX = VIEW_MESSAGE_BYTES + VIEW_FRAME_HEAD,
    SEND_BUFFER =
        512 * 1024 /* bytes that the system may keep for a slow client: not seconds of film */
};

typedef struct client {
    int socket;
    view_live *live;
    view_outbox *box;
    const atomic_bool *ending;
    atomic_int pings;    /* without an answer */
    atomic_bool closing; /* no patience any more */

    /* of the thread that reads */
    unsigned char inbox[INBOX];
    size_t received;
    char message[VIEW_MESSAGE_BYTES]; /* parts of one that comes in parts */
    size_t size;
    bool in_parts;
    double credit, last, last_complaint; /* messages that it may send; s */
} client;

/* ---- out ---- */

static bool send_message(client *c, view_opcode opcode, const void *data, size_t size) {
    unsigned char head[VIEW_FRAME_HEAD];
    size_t head_size = view_frame_head(opcode, size, head);
    return view_send(c->socket, head, head_size, PATIENCE, &c->closing, c->ending) &&
           view_send(c->socket, data, size, PATIENCE, &c->closing, c->ending);
}

static bool send_problem(client *c, const char *problem) {
    char bytes[6 * VIEW_OUTBOX_PROBLEM_SIZE + 64]; /* every byte as \u0000 */
    view_text text = {.bytes = bytes, .capacity = sizeof bytes};
    view_text_put(&text, "{\"type\":\"error\",\"text\":");
    view_text_put_string(&text, problem);
    view_text_put(&text, "}");
    return send_message(c, VIEW_OPCODE_TEXT, text.bytes, text.size);
}

static bool send_state(client *c, uint64_t dropped) {
    char state[VIEW_LIVE_STATE_SIZE];
    size_t size = view_live_state(c->live, dropped, state);
    return send_message(c, VIEW_OPCODE_TEXT, state, size);
}

static bool send_parcel(client *c, const view_parcel *parcel) {
    bool sent = true;
    if (parcel->pong)
        sent = send_message(c, VIEW_OPCODE_PONG, parcel->pong_bytes, parcel->pong_size);
    for (size_t i = 0; sent && i < parcel->problem_count; i++)
        sent = send_problem(c, parcel->problems[i]);
    if (sent && parcel->manifest)
        sent = send_message(c, VIEW_OPCODE_TEXT, view_bytes_data(parcel->manifest),
                            view_bytes_size(parcel->manifest));
    if (sent && parcel->state)
        sent = send_state(c, parcel->dropped);
    if (sent && parcel->frame)
        sent = send_message(c, VIEW_OPCODE_BINARY, view_bytes_data(parcel->frame),
                            view_bytes_size(parcel->frame));
    return sent;
}

static bool ping(client *c) {
    return atomic_fetch_add(&c->pings, 1) < PINGS_WITHOUT_ANSWER &&
           send_message(c, VIEW_OPCODE_PING, NULL, 0);
}

static void *write_all(void *user) {
    client *c = user;
    bool going = true;
    while (going) {
        view_parcel parcel;
        bool something = view_outbox_take(c->box, PING_EVERY, &parcel);
        if (parcel.closed) {
            const unsigned char reason[] = {(unsigned char)(parcel.closed >> 8),
                                            (unsigned char)parcel.closed};
            (void)send_message(c, VIEW_OPCODE_CLOSE, reason, sizeof reason);
            going = false;
        } else {
            going = something ? send_parcel(c, &parcel) : ping(c);
        }
        view_bytes_release(parcel.manifest);
        view_bytes_release(parcel.frame);
    }
    shutdown(c->socket, SHUT_RDWR);
    return NULL;
}

/* ---- in ---- */

static void complain(client *c) {
    double now = view_clock();
    if (now - c->last_complaint < COMPLAINT_EVERY)
        return;
    view_outbox_problem(c->box, "too many messages; some were left out");
    c->last_complaint = now;
}

/* So many messages a second, with some to spare for bursts. */
static bool may_speak(client *c) {
    double now = view_clock();
    c->credit = fmin(c->credit + (now - c->last) * VIEW_SERVER_MESSAGES, VIEW_SERVER_MESSAGE_BURST);
    c->last = now;
    if (c->credit < 1)
        return false;
    c->credit -= 1;
    return true;
}

static void take_message(client *c) {
    view_message message;
    char problem[VIEW_PROBLEM_SIZE];
    if (!may_speak(c))
        complain(c);
    else if (view_message_read(c->message, c->size, &message, problem))
        view_live_post(c->live, c->box, &message);
    else
        view_outbox_problem(c->box, problem);
}

/* A text, whole or a part of one. 0, or a reason to close. */
static int hear_text(client *c, const view_frame *frame) {
    if ((frame->opcode == VIEW_OPCODE_TEXT) == c->in_parts)
        return VIEW_CLOSE_PROTOCOL; /* a second beginning, or a part of nothing */
    if (!c->in_parts)
        c->size = 0;
    if (frame->size > VIEW_MESSAGE_BYTES - c->size)
        return VIEW_CLOSE_TOO_BIG;
    if (frame->size > 0)
        memcpy(c->message + c->size, frame->data, frame->size);
    c->size += frame->size;
    c->in_parts = !frame->last;
    if (frame->last)
        take_message(c);
    return 0;
}

static int hear(client *c, const view_frame *frame) {
    atomic_store(&c->pings, 0);
    switch (frame->opcode) {
    case VIEW_OPCODE_TEXT:
    case VIEW_OPCODE_MORE:
        return hear_text(c, frame);
    case VIEW_OPCODE_PING:
        if (may_speak(c))
            view_outbox_pong(c->box, frame->data, frame->size);
        return 0;
    case VIEW_OPCODE_PONG:
        return 0;
    case VIEW_OPCODE_CLOSE:
        return VIEW_CLOSE_NORMAL;
    case VIEW_OPCODE_BINARY:
        break;
    }
    return VIEW_CLOSE_UNSUPPORTED;
}

/* The whole frames that are there. 0, or a reason to close. */
static int hear_all(client *c) {
    size_t at = 0;
    view_frame frame;
    int found, reason = 0;
    while ((found = view_frame_read(c->inbox + at, c->received - at, VIEW_MESSAGE_BYTES, &frame)) >
           0) {
        at += frame.whole;
        reason = hear(c, &frame);
        if (reason)
            return reason;
    }
    if (found < 0)
        return -found;
    c->received -= at;
    memmove(c->inbox, c->inbox + at, c->received);
    return 0;
}

/* Until there is a reason to close; -1: the client is gone. */
static int read_all(client *c) {
    struct pollfd wait = {.fd = c->socket, .events = POLLIN};
    for (;;) {
        int ready = poll(&wait, 1, LOOK_EVERY);
        if (atomic_load(c->ending))
            return VIEW_CLOSE_GOING;
        if (ready == 0 || (ready < 0 && errno == EINTR))
            continue;
        ssize_t got = ready < 0 ? 0
                                : recv(c->socket, c->inbox + c->received,
                                       sizeof c->inbox - c->received, MSG_DONTWAIT);
        if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
            continue;
        if (got <= 0)
            return -1;
        c->received += (size_t)got;
        int reason = hear_all(c);
        if (reason)
            return reason;
    }
}

/* ---- beginning and end ---- */

static void serve(client *c) {
    pthread_t writer;
    if (pthread_create(&writer, NULL, write_all, c) != 0)
        return;
    int reason = hear_all(c); /* what came with the request */
    if (reason == 0)
        reason = read_all(c);
    atomic_store(&c->closing, true);
    if (reason < 0)
        shutdown(c->socket, SHUT_RDWR); /* the client is gone */
    view_outbox_close(c->box, reason < 0 ? VIEW_CLOSE_NORMAL : reason);
    pthread_join(writer, NULL);
}

void view_client_serve(const view_visit *visit, view_live *live) {
    client *c = calloc(1, sizeof *c);
    const int buffer = SEND_BUFFER;
    if (!c)
        return;
    setsockopt(visit->socket, SOL_SOCKET, SO_SNDBUF, &buffer, sizeof buffer);
    c->socket = visit->socket;
    c->live = live;
    c->ending = visit->ending;
    c->credit = VIEW_SERVER_MESSAGE_BURST;
    c->last = view_clock();
    c->received = visit->rest_size; /* less than a head, which is less than a message */
    memcpy(c->inbox, visit->rest, visit->rest_size);
    c->box = view_live_join(live);
    if (c->box) {
        serve(c);
        view_live_leave(live, c->box);
        view_outbox_destroy(c->box);
    }
    free(c);
}
