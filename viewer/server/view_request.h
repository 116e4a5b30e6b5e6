/* What a request asks for and whether it may: the parts that need no server, so that tests and the
 * fuzzer can have them to themselves. */
#ifndef RIGOR_VIEWER_REQUEST_H
#define RIGOR_VIEWER_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

enum {
    VIEW_TOKEN_BYTES = 16,
    VIEW_TOKEN_SIZE = 2 * VIEW_TOKEN_BYTES + 1, /* in hexadecimal, and a zero */
    VIEW_HOST_SIZE = 256
};

typedef enum view_route_kind {
    VIEW_ROUTE_NONE,
    VIEW_ROUTE_PAGE,
    VIEW_ROUTE_ICON, /* browsers ask for one by themselves; there is none */
    VIEW_ROUTE_RUNS,
    VIEW_ROUTE_MANIFEST,
    VIEW_ROUTE_OVERVIEW,
    VIEW_ROUTE_TIMES,
    VIEW_ROUTE_CHUNK,
    VIEW_ROUTE_LIVE
} view_route_kind;

typedef struct view_route {
    view_route_kind kind;
    size_t run;   /* of all but the first four */
    size_t chunk; /* of VIEW_ROUTE_CHUNK */
} view_route;

/* A path as it was sent, without the query. There is a fixed list of them, compared letter by
 * letter: whatever is not in it, escapes and dots included, is VIEW_ROUTE_NONE. */
view_route view_route_find(const char *path);

/* 128 bits from the system; false if it has none to give. */
bool view_token_make(char token[VIEW_TOKEN_SIZE]);
/* Whether a query (what follows the '?', may be null) has token=TOKEN, exactly once. Takes the same
 * time whatever the first wrong letter is. */
bool view_token_fits(const char *query, const char *token);

/* Where the server listens. */
typedef struct view_place {
    char address[VIEW_HOST_SIZE]; /* "127.0.0.1" */
    int port;
} view_place;
/* Whether a Host header (may be null) names this place with this port: its address, this machine's
 * loopback names, and, if it listens everywhere, any address in numbers. Names that others can give
 * to this machine's address are not among them: that is how a foreign page would get past the
 * browser. */
bool view_host_fits(const view_place *place, const char *host);
/* Whether an Origin header (null: none, not from a page) is that of the page served to this
 * host. */
bool view_origin_fits(const char *origin, const char *host);

#endif
