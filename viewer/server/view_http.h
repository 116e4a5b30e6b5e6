/* The head of an HTTP request (RFC 9112), as far as the viewer needs it: one request without a body
 * per connection. Needs no server, so that tests and the fuzzer can have it to themselves. */
#ifndef RIGOR_VIEWER_HTTP_H
#define RIGOR_VIEWER_HTTP_H

#include <stdbool.h>
#include <stddef.h>

enum {
    VIEW_HTTP_HEAD = 16384, /* bytes of a request line and headers */
    VIEW_HTTP_HEADERS = 64
};

typedef struct view_http_header {
    const char *name, *value;
} view_http_header;

typedef struct view_http {
    const char *method;
    const char *path;  /* as it was sent, without the query */
    const char *query; /* what follows the '?'; null: there is none */
    view_http_header headers[VIEW_HTTP_HEADERS];
    size_t header_count;
} view_http;

/* Bytes of the head at the beginning of `bytes`, the empty line included; 0: it is not all
 * there. */
size_t view_http_end(const char *bytes, size_t size);
/* Reads a head of that size in place: the request points into it. Returns 0, or the code that
 * refuses it: 400, 431 (too many headers) or 505. Lines end with CR LF and nothing else, and a
 * header that is continued on the next line is refused: what two readers could read in two ways is
 * not read. */
int view_http_read(char *head, size_t size, view_http *request);
/* The value of a header; null: it is not there. *twice is set if it is there more than once. */
const char *view_http_header_value(const view_http *request, const char *name, bool *twice);

#endif
