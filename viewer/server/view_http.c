/* Heads of requests: see view_http.h. */
#include "view_http.h"

#include <string.h>
#include <strings.h>

size_t view_http_end(const char *bytes, size_t size) {
    for (size_t i = 0; i + 4 <= size; i++) {
        const char *cr = memchr(bytes + i, '\r', size - 3 - i);
        if (!cr)
            return 0;
        i = (size_t)(cr - bytes);
        if (memcmp(cr, "\r\n\r\n", 4) == 0)
            return i + 4;
    }
    return 0;
}

/* A line without its CR LF, ended by a zero; moves past it. Null: it holds a control character. */
static char *take_line(char **at) {
    char *line = *at, *c = line;
    while ((unsigned char)*c >= ' ' && *c != 0x7f)
        c++;
    if (c[0] != '\r' || c[1] != '\n')
        return NULL;
    *c = '\0';
    *at = c + 2;
    return line;
}

/* What stands before `separator`, ended by a zero; moves past the separator. Null: it is not
 * there. */
static char *take_word(char **at, char separator) {
    char *word = *at, *end = strchr(word, separator);
    if (!end || end == word)
        return NULL;
    *end = '\0';
    *at = end + 1;
    return word;
}

static int read_request_line(char *line, view_http *request) {
    request->method = take_word(&line, ' ');
    char *target = request->method ? take_word(&line, ' ') : NULL;
    if (!target || strncmp(line, "HTTP/", 5) != 0)
        return 400;
    if (strcmp(line, "HTTP/1.1") != 0 && strcmp(line, "HTTP/1.0") != 0)
        return strchr(line, ' ') ? 400 : 505;
    char *question = strchr(target, '?');
    if (question)
        *question++ = '\0';
    request->path = target;
    request->query = question;
    return 0;
}

static bool is_token(const char *text) {
    static const char others[] = "!#$%&'*+-.^_`|~0123456789";
    size_t letters = 0;
    for (; *text; text++, letters++)
        if (!((*text | 0x20) >= 'a' && (*text | 0x20) <= 'z') && !strchr(others, *text))
            return false;
    return letters > 0;
}

static bool read_header(char *line, view_http_header *header) {
    header->name = take_word(&line, ':');
    if (!header->name || !is_token(header->name))
        return false;
    line += strspn(line, " ");
    size_t length = strlen(line);
    while (length > 0 && line[length - 1] == ' ')
        line[--length] = '\0';
    header->value = line;
    return true;
}

int view_http_read(char *head, size_t size, view_http *request) {
    char *at = head, *line = take_line(&at), *last = head + size - 2;
    *request = (view_http){0};
    int code = line ? read_request_line(line, request) : 400;
    while (code == 0 && at < last) {
        line = take_line(&at);
        if (request->header_count == VIEW_HTTP_HEADERS)
            code = 431;
        else if (!line || !read_header(line, &request->headers[request->header_count++]))
            code = 400;
    }
    return code;
}

const char *view_http_header_value(const view_http *request, const char *name, bool *twice) {
    const char *value = NULL;
    for (size_t i = 0; i < request->header_count; i++)
        if (strcasecmp(request->headers[i].name, name) == 0) {
            *twice |= value != NULL;
            value = request->headers[i].value;
        }
    return value;
}
