/* The server: see view_server.h.
 *
 * civetweb speaks HTTP and runs a thread for each connection. Every request comes through
 * begin_request, which answers all of them; civetweb's own serving of files has no folder to serve.
 * A request must name this server as its host, come from no other page and bring the token before
 * anything is looked at; paths are compared with a fixed list (view_request.h).
 *
 * WebSockets are our own (view_frame.h, view_client.h). civetweb's allocate whatever size a frame
 * claims, up to 2 GiB, before anyone is asked, and those of Debian's package end the process when a
 * client breaks off in the middle of a message: its threads have stacks of 100 KiB, of which 90 are
 * taken by then, and the complaint about it needs more than is left. For the same reason nothing
 * large lies on the stack here, and recordings and messages are read in other threads. */
#include "view_server.h"

#include "view_client.h"
#include "view_frame.h"
#include "view_json.h"
#include "view_policy.h"
#include "view_request.h"
#include "view_store.h"
#include "view_world.h"

#include <civetweb.h>

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { LOG_SIZE = 256, ADDRESS_SIZE = 512, SPARE_THREADS = 12 };

typedef struct run {
    char *name;
    view_live *live; /* null: a recording, */
    size_t stored;   /* of this number in the store */
} run;

struct view_server {
    struct mg_context *context; /* of the thread that starts and ends the server; no other looks */
    view_place place;
    char token[VIEW_TOKEN_SIZE];
    char address[ADDRESS_SIZE];
    const char *page;
    size_t page_size;
    char scripts[VIEW_POLICY_SIZE];
    run runs[VIEW_SERVER_RUNS];
    size_t run_count;
    view_store *store; /* made for the first recording */
    atomic_int clients;
    atomic_bool ready, ending; /* the port is known; it shall end */
    pthread_mutex_t log_mutex; /* civetweb complains in any of its threads */
    char log[LOG_SIZE];        /* the first thing that it complains about while it starts */
};

/* ---- answers ---- */

typedef struct answer {
    int code;
    const char *reason, *type;
    const void *bytes;
    size_t size;
} answer;

/* For every answer. The token is in the address, so no other server shall learn it as the
 * referrer. */
#define SAFETY                                                                                     \
    "X-Content-Type-Options: nosniff\r\n"                                                          \
    "X-Frame-Options: DENY\r\n"                                                                    \
    "Referrer-Policy: no-referrer\r\n"                                                             \
    "Cross-Origin-Resource-Policy: same-origin\r\n"                                                \
    "Cross-Origin-Opener-Policy: same-origin\r\n"                                                  \
    "Cache-Control: no-store\r\n"

enum { HEAD_SIZE = VIEW_POLICY_SIZE + 2048 };

/* The head is made on the heap: civetweb's own mg_printf has 8 KiB on the stack. */
static int give(struct mg_connection *connection, const answer *a, const char *policy) {
    view_text head = {.bytes = malloc(HEAD_SIZE), .capacity = HEAD_SIZE};
    if (!head.bytes)
        return a->code; /* the connection is closed without an answer */
    view_text_put(&head,
                  "HTTP/1.1 %d %s\r\n"
                  "Content-Type: %s\r\n"
                  "Content-Length: %zu\r\n"
                  "Content-Security-Policy: %s\r\n" SAFETY "Connection: close\r\n\r\n",
                  a->code, a->reason, a->type, a->size,
                  policy ? policy : "default-src 'none'; frame-ancestors 'none'");
    mg_write(connection, head.bytes, head.size);
    if (a->size > 0)
        mg_write(connection, a->bytes, a->size);
    free(head.bytes);
    mg_disable_connection_keep_alive(connection);
    return a->code;
}

static int say(struct mg_connection *connection, int code, const char *reason, const char *text) {
    answer a = {code, reason, "text/plain; charset=utf-8", text, strlen(text)};
    return give(connection, &a, NULL);
}

static int give_page(struct mg_connection *connection, const view_server *server,
                     const char *host) {
    size_t room = VIEW_POLICY_SIZE + VIEW_HOST_SIZE + 512;
    view_text policy = {.bytes = malloc(room), .capacity = room};
    answer a = {200, "OK", "text/html; charset=utf-8", server->page, server->page_size};
    if (!policy.bytes)
        return say(connection, 503, "Service Unavailable", "no memory\n");
    view_text_put(&policy,
                  "default-src 'none'; script-src %s; style-src 'unsafe-inline'; "
                  "img-src data: blob:; font-src data:; media-src blob:; worker-src blob:; "
                  "connect-src 'self' ws://%s; base-uri 'none'; form-action 'none'; "
                  "frame-ancestors 'none'",
                  server->scripts, host);
    int code = give(connection, &a, policy.bytes);
    free(policy.bytes);
    return code;
}

static int give_runs(struct mg_connection *connection, const view_server *server) {
    size_t room = 64;
    for (size_t i = 0; i < server->run_count; i++)
        room += 6 * strlen(server->runs[i].name) + 64;
    view_text text = {.bytes = malloc(room), .capacity = room};
    if (!text.bytes)
        return say(connection, 503, "Service Unavailable", "no memory\n");
    view_text_put(&text, "[");
    for (size_t i = 0; i < server->run_count; i++) {
        view_text_put(&text, "%s{\"id\":\"%zu\",\"name\":", i ? "," : "", i);
        view_text_put_string(&text, server->runs[i].name);
        view_text_put(&text, ",\"live\":%s}", server->runs[i].live ? "true" : "false");
    }
    view_text_put(&text, "]");
    answer a = {200, "OK", "application/json", text.bytes, text.size};
    int code = give(connection, &a, NULL);
    free(text.bytes);
    return code;
}

static int give_live_manifest(struct mg_connection *connection, view_live *live) {
    size_t begin, size;
    view_bytes *bytes = view_live_manifest(live, &begin, &size);
    answer a = {200, "OK", "application/json", view_bytes_data(bytes) + begin, size};
    int code = give(connection, &a, NULL);
    view_bytes_release(bytes);
    return code;
}

static int give_part(struct mg_connection *connection, const view_server *server,
                     const view_route *route) {
    view_part part = route->kind == VIEW_ROUTE_MANIFEST   ? VIEW_PART_MANIFEST
                     : route->kind == VIEW_ROUTE_OVERVIEW ? VIEW_PART_OVERVIEW
                     : route->kind == VIEW_ROUTE_TIMES    ? VIEW_PART_TIMES
                                                          : VIEW_PART_CHUNK;
    view_bytes *bytes = NULL;
    rg_error *error = calloc(1, sizeof *error); /* a kilobyte */
    rg_status status = view_store_get(server->store, server->runs[route->run].stored, part,
                                      route->chunk, &bytes, error);
    if (status != RG_OK) {
        int refused = status == RG_NOT_FOUND
                          ? say(connection, 404, "Not Found", "there is no such chunk\n")
                          : say(connection, 500, "Internal Server Error",
                                error ? error->text : rg_status_text(status));
        free(error);
        return refused;
    }
    free(error);
    answer a = {200, "OK",
                part == VIEW_PART_MANIFEST ? "application/json" : "application/octet-stream",
                view_bytes_data(bytes), view_bytes_size(bytes)};
    int code = give(connection, &a, NULL);
    view_bytes_release(bytes);
    return code;
}

/* ---- requests ---- */

/* The value of a header that must not be there twice; null: it is not there. */
static const char *header(const struct mg_request_info *request, const char *name, bool *twice) {
    const char *value = NULL;
    for (int i = 0; i < request->num_headers; i++)
        if (strcasecmp(request->http_headers[i].name, name) == 0) {
            *twice |= value != NULL;
            value = request->http_headers[i].value;
        }
    return value;
}

/* 0, or the code of the refusal that was sent. */
static int refuse(struct mg_connection *connection, const view_server *server,
                  const struct mg_request_info *request, view_route route) {
    bool twice = false;
    const char *host = header(request, "Host", &twice);
    const char *origin = header(request, "Origin", &twice);
    if (twice || !view_host_fits(&server->place, host))
        return say(connection, 403, "Forbidden",
                   "this server is not the host that the request names\n");
    if (!view_origin_fits(origin, host))
        return say(connection, 403, "Forbidden", "other pages may not ask\n");
    if (strcmp(request->request_method, "GET") != 0)
        return say(connection, 405, "Method Not Allowed", "only GET\n");
    if (request->content_length > 0 || header(request, "Transfer-Encoding", &twice))
        return say(connection, 413, "Payload Too Large", "a request has no body here\n");
    if (route.kind == VIEW_ROUTE_ICON)
        return say(connection, 204, "No Content", "");
    if (!view_token_fits(request->query_string, server->token))
        return say(connection, 403, "Forbidden",
                   "the token is wrong or missing; use the address that `rigor view` printed\n");
    return 0;
}

/* ---- WebSockets ---- */

/* The socket of a connection, which civetweb keeps to itself: the one open socket with the same two
 * ends. -1: not found. */
static int find_socket(const view_server *server, const struct mg_request_info *request) {
    struct rlimit limit = {.rlim_cur = 1024};
    (void)getrlimit(RLIMIT_NOFILE, &limit);
    int most = limit.rlim_cur < 65536 ? (int)limit.rlim_cur : 65536;
    for (int s = 0; s < most; s++) {
        struct sockaddr_in here = {0}, there = {0};
        socklen_t size = sizeof here, other_size = sizeof there;
        char address[INET_ADDRSTRLEN];
        if (getpeername(s, (struct sockaddr *)&there, &other_size) == 0 &&
            there.sin_family == AF_INET && ntohs(there.sin_port) == request->remote_port &&
            getsockname(s, (struct sockaddr *)&here, &size) == 0 &&
            ntohs(here.sin_port) == server->place.port &&
            inet_ntop(AF_INET, &there.sin_addr, address, sizeof address) &&
            strcmp(address, request->remote_addr) == 0)
            return s;
    }
    return -1;
}

static bool is_upgrade(const struct mg_request_info *request, bool *twice) {
    const char *upgrade = header(request, "Upgrade", twice);
    return upgrade && strcasecmp(upgrade, "websocket") == 0;
}

static int greet(struct mg_connection *connection, const char *accept) {
    char head[192];
    int size = snprintf(head, sizeof head,
                        "HTTP/1.1 101 Switching Protocols\r\n"
                        "Upgrade: websocket\r\nConnection: Upgrade\r\n"
                        "Sec-WebSocket-Accept: %s\r\n\r\n",
                        accept);
    return mg_write(connection, head, (size_t)size);
}

/* From the upgrade to the end of the connection. */
static int serve_live(struct mg_connection *connection, view_server *server, view_live *live) {
    const struct mg_request_info *request = mg_get_request_info(connection);
    bool twice = false;
    char accept[VIEW_ACCEPT_SIZE];
    const char *version = header(request, "Sec-WebSocket-Version", &twice);
    const char *key = header(request, "Sec-WebSocket-Key", &twice);
    if (!is_upgrade(request, &twice) || !version || strcmp(version, "13") != 0)
        return say(connection, 426, "Upgrade Required", "this is for WebSockets, version 13\n");
    if (twice || !key || !view_frame_accept(key, accept))
        return say(connection, 400, "Bad Request", "the key of the WebSocket is none\n");
    int code = 101, s = -1;
    if (atomic_fetch_add(&server->clients, 1) >= VIEW_SERVER_CLIENTS)
        code = say(connection, 503, "Service Unavailable", "too many clients\n");
    else if ((s = find_socket(server, request)) < 0)
        code = say(connection, 500, "Internal Server Error",
                   "the socket of this connection is not found\n");
    else if (greet(connection, accept) > 0)
        view_client_serve(s, live, &server->ending);
    atomic_fetch_sub(&server->clients, 1);
    mg_disable_connection_keep_alive(connection);
    return code;
}

/* ---- every request ---- */

/* Answers everything: civetweb's own ways never come to be. */
static int begin_request(struct mg_connection *connection) {
    const struct mg_request_info *request = mg_get_request_info(connection);
    view_server *server = request->user_data;
    view_route route = view_route_find(request->request_uri ? request->request_uri : "");
    bool twice = false;
    if (!atomic_load(&server->ready))
        return say(connection, 503, "Service Unavailable", "not yet\n");
    int refused = refuse(connection, server, request, route);
    if (refused)
        return refused;
    if (route.kind == VIEW_ROUTE_PAGE)
        return give_page(connection, server, header(request, "Host", &twice));
    if (route.kind == VIEW_ROUTE_RUNS)
        return give_runs(connection, server);
    if (route.kind == VIEW_ROUTE_NONE || route.run >= server->run_count)
        return say(connection, 404, "Not Found", "there is nothing here\n");
    view_live *live = server->runs[route.run].live;
    if (!live && route.kind != VIEW_ROUTE_LIVE)
        return give_part(connection, server, &route);
    if (route.kind == VIEW_ROUTE_MANIFEST)
        return give_live_manifest(connection, live);
    if (!live || route.kind != VIEW_ROUTE_LIVE)
        return say(connection, 404, "Not Found",
                   live ? "a live run has no chunks\n" : "that run is not live\n");
    return serve_live(connection, server, live);
}

/* ---- beginning and end ---- */

rg_status view_server_create(view_server **result, rg_error *error) {
    view_server *server = calloc(1, sizeof *server);
    *result = NULL;
    if (!server)
        return view_fail(error, RG_OUT_OF_MEMORY, "no memory");
    if (!view_token_make(server->token)) {
        free(server);
        return view_fail(error, RG_UNSUPPORTED, "the system has no random numbers to give");
    }
    if (pthread_mutex_init(&server->log_mutex, NULL) != 0) {
        free(server);
        return view_fail(error, RG_OUT_OF_MEMORY, "no memory");
    }
    *result = server;
    return RG_OK;
}

static rg_status new_run(view_server *server, const char *name, run **made, rg_error *error) {
    if (server->run_count == VIEW_SERVER_RUNS)
        return view_fail(error, RG_LIMIT_EXCEEDED, "more than %d runs", VIEW_SERVER_RUNS);
    run *r = &server->runs[server->run_count];
    r->name = malloc(strlen(name) + 1);
    if (!r->name)
        return view_fail(error, RG_OUT_OF_MEMORY, "no memory");
    strcpy(r->name, name);
    *made = r;
    return RG_OK;
}

rg_status view_server_add_scene(view_server *server, rg_scene *scene,
                                const view_live_options *options, rg_error *error) {
    run *r = NULL;
    rg_status status = new_run(server, rg_scene_name(scene), &r, error);
    if (status == RG_OK)
        status = view_live_create(scene, options, &r->live, error);
    if (status == RG_OK) {
        server->run_count++;
        return RG_OK;
    }
    if (r)
        free(r->name);
    rg_scene_free(scene);
    return status;
}

rg_status view_server_add_recording(view_server *server, const char *path, rg_error *error) {
    const char *slash = strrchr(path, '/');
    run *r = NULL;
    rg_status status = server->store ? RG_OK : view_store_create(&server->store, error);
    if (status == RG_OK)
        status = new_run(server, slash ? slash + 1 : path, &r, error);
    if (status == RG_OK)
        status = view_store_open(server->store, path, &r->stored, error);
    if (status == RG_OK)
        server->run_count++;
    else if (r)
        free(r->name);
    return status;
}

/* Keeps the first complaint of civetweb, which would print it. */
static int keep_log(const struct mg_connection *connection, const char *message) {
    view_server *server = mg_get_user_data(mg_get_context(connection));
    if (!server || atomic_load(&server->ready))
        return 1;
    pthread_mutex_lock(&server->log_mutex);
    if (server->log[0] == '\0')
        snprintf(server->log, sizeof server->log, "%s", message);
    pthread_mutex_unlock(&server->log_mutex);
    return 1;
}

static rg_status fail_with_log(view_server *server, rg_error *error) {
    pthread_mutex_lock(&server->log_mutex);
    rg_status status = view_fail(error, RG_UNSUPPORTED, "the server does not start: %s",
                                 server->log[0] ? server->log : "civetweb does not say why");
    pthread_mutex_unlock(&server->log_mutex);
    return status;
}

/* Whether the address can be listened at, in the words of the system: civetweb's are its own. */
static rg_status try_place(const view_place *place, rg_error *error) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)place->port)};
    if (inet_pton(AF_INET, place->address, &address.sin_addr) != 1)
        return view_fail(error, RG_INVALID_ARGUMENT, "'%s' is not an IPv4 address to listen at",
                         place->address);
    int on = 1, s = socket(AF_INET, SOCK_STREAM, 0);
    if (s < 0)
        return view_fail(error, RG_UNSUPPORTED, "no socket: %s", strerror(errno));
    setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    bool good = bind(s, (struct sockaddr *)&address, sizeof address) == 0 && listen(s, 1) == 0;
    int reason = errno;
    close(s);
    if (good)
        return RG_OK;
    if (reason == EADDRINUSE)
        return view_fail(error, RG_BUSY,
                         "port %d of %s is in use; choose another, or none for one that is free",
                         place->port, place->address);
    return view_fail(error, RG_UNSUPPORTED, "cannot listen at %s, port %d: %s", place->address,
                     place->port, strerror(reason));
}

static rg_status start_civetweb(view_server *server, rg_error *error) {
    char ports[VIEW_HOST_SIZE + 16], threads[16];
    snprintf(ports, sizeof ports, "%s:%d", server->place.address, server->place.port);
    snprintf(threads, sizeof threads, "%d", VIEW_SERVER_CLIENTS + SPARE_THREADS);
    /* No document_root: civetweb itself serves nothing. A read or write that gets nowhere for 10 s
     * ends the connection. */
    const char *options[] = {"listening_ports",
                             ports,
                             "num_threads",
                             threads,
                             "tcp_nodelay",
                             "1",
                             "decode_url",
                             "no",
                             "enable_auth_domain_check",
                             "no",
                             "access_control_allow_origin",
                             "",
                             "enable_directory_listing",
                             "no",
                             "max_request_size",
                             "16384",
                             "request_timeout_ms",
                             "10000",
                             NULL};
    struct mg_callbacks callbacks = {.begin_request = begin_request, .log_message = keep_log};
    struct mg_server_port port;
    server->context = mg_start(&callbacks, server, options);
    if (!server->context)
        return fail_with_log(server, error);
    if (mg_get_server_ports(server->context, 1, &port) != 1)
        return view_fail(error, RG_UNSUPPORTED, "the server has no port");
    server->place.port = port.port;
    atomic_store(&server->ready, true);
    return RG_OK;
}

rg_status view_server_start(view_server *server, const view_server_options *options,
                            rg_error *error) {
    const char *listen_at = options->listen ? options->listen : "127.0.0.1";
    if (strlen(listen_at) >= sizeof server->place.address)
        return view_fail(error, RG_INVALID_ARGUMENT, "the address to listen at is too long");
    strcpy(server->place.address, listen_at);
    server->place.port = options->port;
    server->page = options->page;
    server->page_size = options->page_size;
    view_policy_of_scripts(server->page, server->page_size, server->scripts);
    rg_status status = try_place(&server->place, error);
    if (status == RG_OK)
        status = start_civetweb(server, error);
    if (status != RG_OK)
        return status;
    bool everywhere = strcmp(server->place.address, "0.0.0.0") == 0;
    snprintf(server->address, sizeof server->address, "http://%s:%d/?token=%s",
             everywhere ? "127.0.0.1" : server->place.address, server->place.port, server->token);
    return RG_OK;
}

const char *view_server_address(const view_server *server) {
    return server->address;
}

/* civetweb looks only every two seconds whether it shall end, unless somebody calls. */
typedef struct caller {
    const view_place *place;
    atomic_bool done;
} caller;

static void *call(void *user) {
    caller *c = user;
    bool everywhere = strcmp(c->place->address, "0.0.0.0") == 0;
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)c->place->port)};
    inet_pton(AF_INET, everywhere ? "127.0.0.1" : c->place->address, &address.sin_addr);
    const struct timespec wait = {0, 20000000};
    while (!atomic_load(&c->done)) {
        int s = socket(AF_INET, SOCK_STREAM, 0);
        if (s >= 0) {
            (void)!connect(s, (struct sockaddr *)&address, sizeof address);
            close(s);
        }
        nanosleep(&wait, NULL);
    }
    return NULL;
}

static void stop_civetweb(view_server *server) {
    caller c = {.place = &server->place};
    pthread_t thread;
    atomic_store(&server->ending, true); /* for those who serve a WebSocket */
    bool calling = pthread_create(&thread, NULL, call, &c) == 0;
    mg_stop(server->context);
    atomic_store(&c.done, true);
    if (calling)
        pthread_join(thread, NULL);
}

void view_server_destroy(view_server *server) {
    if (!server)
        return;
    if (server->context)
        stop_civetweb(server);
    for (size_t i = 0; i < server->run_count; i++) {
        view_live_destroy(server->runs[i].live);
        free(server->runs[i].name);
    }
    view_store_destroy(server->store);
    pthread_mutex_destroy(&server->log_mutex);
    free(server);
}
