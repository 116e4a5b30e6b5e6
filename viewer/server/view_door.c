/* Where connections come in: see view_door.h.
 *
 * The connections that have not sent a whole head are in a table in the order of their arrival. The
 * thread of the door waits for all of them, the listening socket and a pipe by which others wake
 * it. */
#include "view_door.h"

#include "view_outbox.h"
#include "view_world.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define HEAD_PATIENCE 5.0 /* s, until the head has come */
#define LAST_PATIENCE 0.5 /* s, once it is to be closed */

enum {
    ACCEPTED_AT_ONCE = 64,         /* then the others are looked at */
    REST_READ = 4 * VIEW_HTTP_HEAD /* bytes, at most, that are read to no purpose before a close */
};

typedef struct visitor {
    view_door *door;
    int socket;
    double since;
    size_t size;   /* bytes that have come */
    size_t head;   /* of these; 0: it is not complete */
    bool complete; /* the head is, or it is too long */
    char bytes[VIEW_HTTP_HEAD];
} visitor;

struct view_door {
    view_door_options options;
    int listener, wake[2];
    pthread_t thread;
    atomic_bool ending;
    visitor *waiting[VIEW_DOOR_WAITING]; /* the oldest first */
    size_t waiting_count;
    pthread_mutex_t mutex;
    pthread_cond_t left;
    int running; /* requests that are being served */
};

/* ---- sending ---- */

static bool can_send(int socket, double patience, const atomic_bool *hurry,
                     const atomic_bool *ending) {
    enum { LOOK_EVERY = 200 }; /* ms: whether there is a hurry */
    struct pollfd wait = {.fd = socket, .events = POLLOUT};
    for (double begin = view_clock();;) {
        int ready = poll(&wait, 1, LOOK_EVERY);
        if (ready > 0)
            return (wait.revents & POLLOUT) != 0;
        if (ready < 0 && errno != EINTR)
            return false;
        bool soon = (hurry && atomic_load(hurry)) || atomic_load(ending);
        if (view_clock() - begin > (soon ? LAST_PATIENCE : patience))
            return false;
    }
}

bool view_send(int socket, const void *bytes, size_t size, double patience,
               const atomic_bool *hurry, const atomic_bool *ending) {
    for (const char *at = bytes; size > 0;) {
        ssize_t sent = send(socket, at, size, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)
            return false;
        if (sent > 0) {
            at += sent;
            size -= (size_t)sent;
        }
        if (sent < 0 && !can_send(socket, patience, hurry, ending))
            return false;
    }
    return true;
}

/* ---- one request ---- */

/* Closes. What was sent and not read is read first, as far as it has come: the system would take
 * back the answer otherwise. */
static void part_with(visitor *v) {
    shutdown(v->socket, SHUT_WR);
    for (size_t read = 0; read < REST_READ;) {
        ssize_t got = recv(v->socket, v->bytes, sizeof v->bytes, MSG_DONTWAIT);
        if (got <= 0)
            break;
        read += (size_t)got;
    }
    close(v->socket);
    free(v);
}

static void *serve(void *user) {
    visitor *v = user;
    view_door *door = v->door;
    view_http http;
    view_visit visit = {.socket = v->socket,
                        .http = &http,
                        .rest = v->bytes + v->head,
                        .rest_size = v->size - v->head,
                        .ending = &door->ending};
    visit.refusal = v->head ? view_http_read(v->bytes, v->head, &http) : 431;
    if (visit.refusal)
        visit.http = NULL;
    door->options.serve(door->options.user, &visit);
    part_with(v);
    pthread_mutex_lock(&door->mutex);
    door->running--;
    (void)!write(door->wake[1], "", 1);
    pthread_cond_signal(&door->left);
    pthread_mutex_unlock(&door->mutex); /* from here on the door may be gone */
    return NULL;
}

/* Starts a thread for the request. False: there are as many as may be. */
static bool start(visitor *v) {
    view_door *door = v->door;
    pthread_t thread;
    pthread_mutex_lock(&door->mutex);
    bool free_thread = door->running < door->options.threads;
    door->running += free_thread;
    pthread_mutex_unlock(&door->mutex);
    if (!free_thread)
        return false;
    if (pthread_create(&thread, NULL, serve, v) == 0) {
        pthread_detach(thread);
        return true;
    }
    part_with(v); /* no thread to be had */
    pthread_mutex_lock(&door->mutex);
    door->running--;
    pthread_mutex_unlock(&door->mutex);
    return true;
}

/* ---- the table ---- */

static visitor *take_out(view_door *door, size_t i) {
    visitor *v = door->waiting[i];
    door->waiting_count--;
    memmove(&door->waiting[i], &door->waiting[i + 1],
            (door->waiting_count - i) * sizeof door->waiting[0]);
    return v;
}

/* Closes the oldest connection without a complete head, or the oldest. False: there is none. */
static bool make_room(view_door *door) {
    size_t i = 0;
    if (door->waiting_count == 0)
        return false;
    while (i < door->waiting_count && door->waiting[i]->complete)
        i++;
    part_with(take_out(door, i < door->waiting_count ? i : 0));
    return true;
}

/* Reads what has come. False: the other end has gone. */
static bool read_head(visitor *v) {
    while (!v->complete) {
        ssize_t got = recv(v->socket, v->bytes + v->size, sizeof v->bytes - v->size, MSG_DONTWAIT);
        if (got <= 0)
            return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
        v->size += (size_t)got;
        v->head = view_http_end(v->bytes, v->size);
        v->complete = v->head > 0 || v->size == sizeof v->bytes;
    }
    return true;
}

/* Reads, serves or closes the connection at i. True: it stays in the table. */
static bool attend(view_door *door, size_t i, double now) {
    visitor *v = door->waiting[i];
    if (!read_head(v) || (!v->complete && now - v->since > HEAD_PATIENCE)) {
        part_with(take_out(door, i));
        return false;
    }
    if (!v->complete || !start(v))
        return true;
    take_out(door, i);
    return false;
}

static void welcome(view_door *door, int socket, double now) {
    visitor *v = malloc(sizeof *v);
    const int on = 1;
    if (!v) {
        close(socket);
        return;
    }
    fcntl(socket, F_SETFD, FD_CLOEXEC);
    fcntl(socket, F_SETFL, O_NONBLOCK);
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    v->door = door;
    v->socket = socket;
    v->since = now;
    v->size = v->head = 0;
    v->complete = false;
    if (door->waiting_count == VIEW_DOOR_WAITING)
        make_room(door);
    door->waiting[door->waiting_count++] = v;
    attend(door, door->waiting_count - 1, now); /* most have sent their request by now */
}

static void accept_all(view_door *door, double now) {
    for (int i = 0; i < ACCEPTED_AT_ONCE; i++) {
        int socket = accept(door->listener, NULL, NULL);
        if (socket >= 0) {
            welcome(door, socket, now);
        } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
            const struct timespec wait = {0, 20000000};
            if (!make_room(door))
                nanosleep(&wait, NULL); /* for a descriptor of one that is served */
        } else if (errno != EINTR && errno != ECONNABORTED) {
            return;
        }
    }
}

static void *attend_all(void *user) {
    view_door *door = user;
    while (!atomic_load(&door->ending)) {
        struct pollfd fds[2 + VIEW_DOOR_WAITING] = {{.fd = door->wake[0], .events = POLLIN},
                                                    {.fd = door->listener, .events = POLLIN}};
        size_t count = door->waiting_count;
        char woken[64];
        for (size_t i = 0; i < count; i++) {
            bool complete = door->waiting[i]->complete; /* waits for a thread */
            fds[2 + i] =
                (struct pollfd){.fd = complete ? -1 : door->waiting[i]->socket, .events = POLLIN};
        }
        poll(fds, 2 + count, count > 0 ? 250 : -1);
        double now = view_clock();
        if (fds[0].revents)
            (void)!read(door->wake[0], woken, sizeof woken);
        for (size_t i = 0; i < door->waiting_count;)
            i += attend(door, i, now);
        if (fds[1].revents)
            accept_all(door, now);
    }
    return NULL;
}

/* ---- beginning and end ---- */

/* A socket that listens at the place, whose port becomes the one that it has; -1: *reason. */
static int listen_at(view_place *place, struct sockaddr_in *address, int *reason) {
    const int on = 1;
    socklen_t size = sizeof *address;
    int s = socket(AF_INET, SOCK_STREAM, 0);
    if (s >= 0 && setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
        bind(s, (struct sockaddr *)address, size) == 0 && listen(s, SOMAXCONN) == 0 &&
        fcntl(s, F_SETFL, O_NONBLOCK) == 0 && fcntl(s, F_SETFD, FD_CLOEXEC) == 0 &&
        getsockname(s, (struct sockaddr *)address, &size) == 0) {
        place->port = ntohs(address->sin_port);
        return s;
    }
    *reason = errno;
    if (s >= 0)
        close(s);
    return -1;
}

static rg_status open_listener(view_door *door, view_place *place, rg_error *error) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)place->port)};
    int reason = 0;
    if (inet_pton(AF_INET, place->address, &address.sin_addr) != 1)
        return view_fail(error, RG_INVALID_ARGUMENT, "'%s' is not an IPv4 address to listen at",
                         place->address);
    door->listener = listen_at(place, &address, &reason);
    if (door->listener >= 0)
        return RG_OK;
    if (reason == EADDRINUSE)
        return view_fail(
            error, RG_BUSY,
            "port %d of %s is in use; choose another, or leave it out for any free one",
            place->port, place->address);
    return view_fail(error, RG_UNSUPPORTED, "cannot listen at %s, port %d: %s", place->address,
                     place->port, strerror(reason));
}

static bool open_pipe(int ends[2]) {
    if (pipe(ends) != 0)
        return false;
    for (int i = 0; i < 2; i++) {
        fcntl(ends[i], F_SETFD, FD_CLOEXEC);
        fcntl(ends[i], F_SETFL, O_NONBLOCK); /* a full pipe wakes as well as one byte */
    }
    return true;
}

static void close_all(view_door *door) {
    close(door->listener);
    close(door->wake[0]);
    close(door->wake[1]);
    pthread_cond_destroy(&door->left);
    pthread_mutex_destroy(&door->mutex);
    free(door);
}

rg_status view_door_open(view_door **result, view_place *place, const view_door_options *options,
                         rg_error *error) {
    view_door *door = calloc(1, sizeof *door);
    *result = NULL;
    if (!door)
        return view_fail(error, RG_OUT_OF_MEMORY, "no memory");
    door->options = *options;
    rg_status status = open_listener(door, place, error);
    if (status != RG_OK) {
        free(door);
        return status;
    }
    if (!open_pipe(door->wake)) {
        status = view_fail(error, RG_UNSUPPORTED, "cannot create a pipe: %s", strerror(errno));
        close(door->listener);
        free(door);
        return status;
    }
    pthread_mutex_init(&door->mutex, NULL); /* with default attributes neither fails here */
    pthread_cond_init(&door->left, NULL);
    if (pthread_create(&door->thread, NULL, attend_all, door) != 0) {
        close_all(door);
        return view_fail(error, RG_UNSUPPORTED, "cannot start a thread for the server");
    }
    *result = door;
    return RG_OK;
}

void view_door_close(view_door *door) {
    if (!door)
        return;
    atomic_store(&door->ending, true);
    (void)!write(door->wake[1], "", 1);
    pthread_join(door->thread, NULL);
    while (make_room(door))
        ;
    pthread_mutex_lock(&door->mutex);
    while (door->running > 0)
        pthread_cond_wait(&door->left, &door->mutex);
    pthread_mutex_unlock(&door->mutex);
    close_all(door);
}
