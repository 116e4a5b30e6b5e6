/* The server: see view_server.h.
 *
 * The door (view_door.h) accepts connections and runs a thread for each complete request. A request
 * must name this server as its host, come from no other page and bring the token before anything is
 * looked at; paths are compared with a fixed list (view_request.h). Each connection serves one
 * request.
 */
#include "view_server.h"

#include "view_client.h"
#include "view_door.h"
#include "view_frame.h"
#include "view_json.h"
#include "view_policy.h"
#include "view_request.h"
#include "view_store.h"
#include "view_world.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define PATIENCE 10.0 /* s, with one that takes nothing of an answer */

enum { ADDRESS_SIZE = 512, SPARE_THREADS = 12 };

typedef struct run {
    char *name;
    view_live *live; /* null: a recording, */
    size_t stored;   /* of this number in the store */
} run;

struct view_server {
    view_door *door;
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

static void give(const view_visit *visit, const answer *a, const char *policy) {
    char bytes[HEAD_SIZE];
    view_text head = {.bytes = bytes, .capacity = sizeof bytes};
    view_text_put(&head,
                  "HTTP/1.1 %d %s\r\n"
                  "Content-Type: %s\r\n"
                  "Content-Length: %zu\r\n"
                  "Content-Security-Policy: %s\r\n" SAFETY "Connection: close\r\n\r\n",
                  a->code, a->reason, a->type, a->size,
                  policy ? policy : "default-src 'none'; frame-ancestors 'none'");
    if (view_send(visit->socket, head.bytes, head.size, PATIENCE, NULL, visit->ending))
        view_send(visit->socket, a->bytes, a->size, PATIENCE, NULL, visit->ending);
}

static void say(const view_visit *visit, int code, const char *reason, const char *text) {
    answer a = {code, reason, "text/plain; charset=utf-8", text, strlen(text)};
    give(visit, &a, NULL);
}

static void give_page(const view_visit *visit, const view_server *server, const char *host) {
    char bytes[VIEW_POLICY_SIZE + VIEW_HOST_SIZE + 512];
    view_text policy = {.bytes = bytes, .capacity = sizeof bytes};
    answer a = {200, "OK", "text/html; charset=utf-8", server->page, server->page_size};
    view_text_put(&policy,
                  "default-src 'none'; script-src %s; style-src 'unsafe-inline'; "
                  "img-src data: blob:; font-src data:; media-src blob:; worker-src blob:; "
                  "connect-src 'self' ws://%s; base-uri 'none'; form-action 'none'; "
                  "frame-ancestors 'none'",
                  server->scripts, host);
    give(visit, &a, policy.bytes);
}

static void give_runs(const view_visit *visit, const view_server *server) {
    size_t room = 64;
    for (size_t i = 0; i < server->run_count; i++)
        room += 6 * strlen(server->runs[i].name) + 64;
    view_text text = {.bytes = malloc(room), .capacity = room};
    if (!text.bytes) {
        say(visit, 503, "Service Unavailable", "no memory\n");
        return;
    }
    view_text_put(&text, "[");
    for (size_t i = 0; i < server->run_count; i++) {
        view_text_put(&text, "%s{\"id\":\"%zu\",\"name\":", i ? "," : "", i);
        view_text_put_string(&text, server->runs[i].name);
        view_text_put(&text, ",\"live\":%s}", server->runs[i].live ? "true" : "false");
    }
    view_text_put(&text, "]");
    answer a = {200, "OK", "application/json", text.bytes, text.size};
    give(visit, &a, NULL);
    free(text.bytes);
}

static void give_live_manifest(const view_visit *visit, view_live *live) {
    size_t begin, size;
    view_bytes *bytes = view_live_manifest(live, &begin, &size);
    answer a = {200, "OK", "application/json", view_bytes_data(bytes) + begin, size};
    give(visit, &a, NULL);
    view_bytes_release(bytes);
}

static void give_part(const view_visit *visit, const view_server *server, const view_route *route) {
    view_part part = route->kind == VIEW_ROUTE_MANIFEST   ? VIEW_PART_MANIFEST
                     : route->kind == VIEW_ROUTE_OVERVIEW ? VIEW_PART_OVERVIEW
                     : route->kind == VIEW_ROUTE_TIMES    ? VIEW_PART_TIMES
                                                          : VIEW_PART_CHUNK;
    view_bytes *bytes = NULL;
    rg_error error = {0};
    rg_status status = view_store_get(server->store, server->runs[route->run].stored, part,
                                      route->chunk, &bytes, &error);
    if (status != RG_OK) {
        if (status == RG_NOT_FOUND)
            say(visit, 404, "Not Found", "there is no such chunk\n");
        else
            say(visit, 500, "Internal Server Error", error.text);
        return;
    }
    answer a = {200, "OK",
                part == VIEW_PART_MANIFEST ? "application/json" : "application/octet-stream",
                view_bytes_data(bytes), view_bytes_size(bytes)};
    give(visit, &a, NULL);
    view_bytes_release(bytes);
}

/* ---- requests ---- */

/* Whether it was refused. */
static bool refuse(const view_visit *visit, const view_server *server, view_route route) {
    const view_http *http = visit->http;
    bool twice = false;
    const char *host = view_http_header_value(http, "Host", &twice);
    const char *origin = view_http_header_value(http, "Origin", &twice);
    const char *length = view_http_header_value(http, "Content-Length", &twice);
    const char *encoding = view_http_header_value(http, "Transfer-Encoding", &twice);
    if (twice || !view_host_fits(&server->place, host))
        say(visit, 403, "Forbidden", "this server is not the host that the request names\n");
    else if (!view_origin_fits(origin, host))
        say(visit, 403, "Forbidden", "requests from other pages are refused\n");
    else if (strcmp(http->method, "GET") != 0)
        say(visit, 405, "Method Not Allowed", "only GET\n");
    else if ((length && strcmp(length, "0") != 0) || encoding)
        say(visit, 413, "Payload Too Large", "requests with a body are refused\n");
    else if (route.kind == VIEW_ROUTE_ICON)
        say(visit, 204, "No Content", "");
    else if (!view_token_fits(http->query, server->token))
        say(visit, 403, "Forbidden",
            "the token is wrong or missing; use the address that `rigor view` printed\n");
    else
        return false;
    return true;
}

/* A head that could not be read. */
static void refuse_head(const view_visit *visit) {
    if (visit->refusal == 431)
        say(visit, 431, "Request Header Fields Too Large", "the request is too long\n");
    else if (visit->refusal == 505)
        say(visit, 505, "HTTP Version Not Supported", "only HTTP/1.1\n");
    else
        say(visit, 400, "Bad Request", "this is not an HTTP request\n");
}

/* ---- WebSockets ---- */

static bool greet(const view_visit *visit, const char *accept) {
    char head[192];
    int size = snprintf(head, sizeof head,
                        "HTTP/1.1 101 Switching Protocols\r\n"
                        "Upgrade: websocket\r\nConnection: Upgrade\r\n"
                        "Sec-WebSocket-Accept: %s\r\n\r\n",
                        accept);
    return view_send(visit->socket, head, (size_t)size, PATIENCE, NULL, visit->ending);
}

/* From the upgrade to the end of the connection. */
static void serve_live(const view_visit *visit, view_server *server, view_live *live) {
    bool twice = false;
    char accept[VIEW_ACCEPT_SIZE];
    const char *upgrade = view_http_header_value(visit->http, "Upgrade", &twice);
    const char *version = view_http_header_value(visit->http, "Sec-WebSocket-Version", &twice);
    const char *key = view_http_header_value(visit->http, "Sec-WebSocket-Key", &twice);
    if (!upgrade || strcasecmp(upgrade, "websocket") != 0 || !version ||
        strcmp(version, "13") != 0) {
        say(visit, 426, "Upgrade Required", "this is for WebSockets, version 13\n");
        return;
    }
    if (twice || !key || !view_frame_accept(key, accept)) {
        say(visit, 400, "Bad Request", "the WebSocket key is invalid\n");
        return;
    }
    if (atomic_fetch_add(&server->clients, 1) >= VIEW_SERVER_CLIENTS)
        say(visit, 503, "Service Unavailable", "too many clients\n");
    else if (greet(visit, accept))
        view_client_serve(visit, live);
    atomic_fetch_sub(&server->clients, 1);
}

/* ---- every request ---- */

static void serve_run(const view_visit *visit, view_server *server, const view_route *route) {
    view_live *live = server->runs[route->run].live;
    if (!live && route->kind != VIEW_ROUTE_LIVE)
        give_part(visit, server, route);
    else if (!live)
        say(visit, 404, "Not Found", "that run is not live\n");
    else if (route->kind == VIEW_ROUTE_MANIFEST)
        give_live_manifest(visit, live);
    else if (route->kind == VIEW_ROUTE_LIVE)
        serve_live(visit, server, live);
    else
        say(visit, 404, "Not Found", "a live run has no chunks\n");
}

static void serve(void *user, const view_visit *visit) {
    view_server *server = user;
    bool twice = false;
    if (!visit->http) {
        refuse_head(visit);
        return;
    }
    view_route route = view_route_find(visit->http->path);
    if (refuse(visit, server, route))
        return;
    if (route.kind == VIEW_ROUTE_PAGE)
        give_page(visit, server, view_http_header_value(visit->http, "Host", &twice));
    else if (route.kind == VIEW_ROUTE_RUNS)
        give_runs(visit, server);
    else if (route.kind == VIEW_ROUTE_NONE || route.run >= server->run_count)
        say(visit, 404, "Not Found", "there is nothing here\n");
    else
        serve_run(visit, server, &route);
}

/* ---- beginning and end ---- */

rg_status view_server_create(view_server **result, rg_error *error) {
    view_server *server = calloc(1, sizeof *server);
    *result = NULL;
    if (!server)
        return view_fail(error, RG_OUT_OF_MEMORY, "no memory");
    if (!view_token_make(server->token)) {
        free(server);
        return view_fail(error, RG_UNSUPPORTED, "the system provides no random numbers");
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
    rg_scene_destroy(scene);
    return status;
}

void view_server_replace_scene(view_server *server, size_t number, rg_scene *scene) {
    assert(number < server->run_count && server->runs[number].live);
    view_live_replace(server->runs[number].live, scene);
}

void view_server_tell(view_server *server, size_t number, const char *problem) {
    assert(number < server->run_count && server->runs[number].live);
    view_live_tell_all(server->runs[number].live, problem);
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
    /* Threads for all clients of live runs and some requests; the others wait for their turn. */
    const view_door_options door = {VIEW_SERVER_CLIENTS + SPARE_THREADS, serve, server};
    rg_status status = view_door_open(&server->door, &server->place, &door, error);
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

void view_server_destroy(view_server *server) {
    if (!server)
        return;
    view_door_close(server->door);
    for (size_t i = 0; i < server->run_count; i++) {
        view_live_destroy(server->runs[i].live);
        free(server->runs[i].name);
    }
    view_store_destroy(server->store);
    free(server);
}
