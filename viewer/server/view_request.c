/* Requests: see view_request.h. */
#include "view_request.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

/* ---- paths ---- */

/* Digits, at most nine of them, no zero before others; moves past them. */
static bool read_count(const char **text, size_t *number) {
    const char *start = *text;
    *number = 0;
    while (**text >= '0' && **text <= '9') {
        *number = 10 * *number + (size_t)(**text - '0');
        if (++*text - start > 9)
            return false;
    }
    return *text > start && (*start != '0' || *text == start + 1);
}

static bool skip(const char **text, const char *prefix) {
    size_t length = strlen(prefix);
    if (strncmp(*text, prefix, length) != 0)
        return false;
    *text += length;
    return true;
}

view_route view_route_find(const char *path) {
    static const view_route none = {VIEW_ROUTE_NONE, 0, 0};
    view_route route = none;
    if (strcmp(path, "/") == 0)
        return (view_route){.kind = VIEW_ROUTE_PAGE};
    if (strcmp(path, "/favicon.ico") == 0)
        return (view_route){.kind = VIEW_ROUTE_ICON};
    if (strcmp(path, "/api/runs") == 0)
        return (view_route){.kind = VIEW_ROUTE_RUNS};
    if (skip(&path, "/api/live/")) {
        route.kind = VIEW_ROUTE_LIVE;
        return read_count(&path, &route.run) && *path == '\0' ? route : none;
    }
    if (!skip(&path, "/api/runs/") || !read_count(&path, &route.run))
        return none;
    if (strcmp(path, "/manifest") == 0)
        route.kind = VIEW_ROUTE_MANIFEST;
    else if (strcmp(path, "/overview") == 0)
        route.kind = VIEW_ROUTE_OVERVIEW;
    else if (strcmp(path, "/times") == 0)
        route.kind = VIEW_ROUTE_TIMES;
    else if (skip(&path, "/chunks/") && read_count(&path, &route.chunk) && *path == '\0')
        route.kind = VIEW_ROUTE_CHUNK;
    else
        return none;
    return route;
}

/* ---- the token ---- */

bool view_token_make(char token[VIEW_TOKEN_SIZE]) {
    unsigned char bytes[VIEW_TOKEN_BYTES];
    size_t got = 0;
    while (got < sizeof bytes) {
        ssize_t more = getrandom(bytes + got, sizeof bytes - got, 0);
        if (more < 0 && errno != EINTR)
            return false;
        got += more > 0 ? (size_t)more : 0;
    }
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(token + 2 * i, 3, "%02x", bytes[i]);
    return true;
}

static bool same_in_constant_time(const char *a, const char *b, size_t size) {
    unsigned char difference = 0;
    for (size_t i = 0; i < size; i++)
        difference |= (unsigned char)(a[i] ^ b[i]);
    return difference == 0;
}

bool view_token_fits(const char *query, const char *token) {
    size_t length = strlen(token);
    int given = 0;
    bool fits = false;
    for (const char *part = query; part;) {
        size_t size = strcspn(part, "&");
        const char *value = part;
        if (skip(&value, "token=")) {
            given++;
            fits = size - (size_t)(value - part) == length &&
                   same_in_constant_time(value, token, length);
        }
        part = part[size] == '&' ? part + size + 1 : NULL;
    }
    return given == 1 && fits;
}

/* ---- hosts ---- */

static bool is_loopback(const char *address) {
    return strncmp(address, "127.", 4) == 0 || strcmp(address, "::1") == 0;
}

static bool is_numeric(const char *name) {
    unsigned char bytes[sizeof(struct in6_addr)];
    return inet_pton(AF_INET, name, bytes) == 1 || inet_pton(AF_INET6, name, bytes) == 1;
}

/* "name:port" or "[address]:port" into its parts. */
static bool split_host(const char *host, char name[VIEW_HOST_SIZE], size_t *port) {
    bool bracketed = host[0] == '[';
    const char *start = host + bracketed;
    size_t length = strcspn(start, bracketed ? "]" : ":");
    const char *rest = start + length;
    if (length == 0 || length >= VIEW_HOST_SIZE || (bracketed && !skip(&rest, "]")))
        return false;
    memcpy(name, start, length);
    name[length] = '\0';
    *port = 80; /* what browsers leave out */
    return *rest == '\0' || (skip(&rest, ":") && read_count(&rest, port) && *rest == '\0');
}

bool view_host_fits(const view_place *place, const char *host) {
    char name[VIEW_HOST_SIZE];
    size_t port;
    if (!host || !split_host(host, name, &port) || port != (size_t)place->port)
        return false;
    bool everywhere = strcmp(place->address, "0.0.0.0") == 0 || strcmp(place->address, "::") == 0;
    if (strcasecmp(name, place->address) == 0)
        return !everywhere;
    if (everywhere || is_loopback(place->address))
        if (strcasecmp(name, "localhost") == 0 || strcmp(name, "127.0.0.1") == 0 ||
            strcmp(name, "::1") == 0)
            return true;
    return everywhere && is_numeric(name);
}

bool view_origin_fits(const char *origin, const char *host) {
    return !origin || (skip(&origin, "http://") && strcasecmp(origin, host) == 0);
}
