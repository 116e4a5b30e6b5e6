/* Any bytes from the network: as a frame of the WebSocket protocol, as a message, as the head of a
 * request, as its path, query, Host and Origin. Whatever is accepted must be what it claims to be.
 * The first byte chooses. */
#include "view_frame.h"
#include "view_http.h"
#include "view_json.h"
#include "view_message.h"
#include "view_policy.h"
#include "view_request.h"

#include "rigor/joint.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool condition) {
    if (!condition)
        abort();
}

static bool is_sane(rg_vec3 v) {
    return fabs(v.x) <= VIEW_MESSAGE_LENGTH && fabs(v.y) <= VIEW_MESSAGE_LENGTH &&
           fabs(v.z) <= VIEW_MESSAGE_LENGTH;
}

static void try_message(const char *text, size_t size) {
    view_message message;
    char problem[VIEW_PROBLEM_SIZE];
    if (!view_message_read(text, size, &message, problem)) {
        must(problem[0] != '\0' && strlen(problem) < sizeof problem);
        for (const char *c = problem; *c; c++)
            must(*c >= 0x20 && *c < 0x7f);
        return;
    }
    must(size <= VIEW_MESSAGE_BYTES && message.kind <= VIEW_MESSAGE_MOTOR);
    must(is_sane(message.gravity) && is_sane(message.point) && is_sane(message.target) &&
         is_sane(message.from) && is_sane(message.velocity));
    must(message.kind != VIEW_MESSAGE_STEP_BY ||
         (message.count >= 1 && message.count <= VIEW_MESSAGE_STEPS));
    must(message.kind != VIEW_MESSAGE_SET_SPEED || message.speed > 0);
    must(!message.has_step || (message.step > 0 && message.step <= VIEW_MESSAGE_STEP));
    must(!message.has_friction || message.friction >= 0);
    must(message.kind != VIEW_MESSAGE_MOTOR ||
         (message.axis < RG_JOINT_AXES_MOST && fabs(message.motor_target) <= VIEW_MESSAGE_LENGTH));
    must(message.kind != VIEW_MESSAGE_THROW || message.size > 0);
}

/* Every frame, as a client's thread reads them; texts go on to be read as messages. */
static void try_frames(const uint8_t *data, size_t size) {
    unsigned char *bytes = malloc(size + 1);
    view_frame frame;
    int found;
    must(bytes != NULL);
    memcpy(bytes, data, size);
    for (size_t at = 0; (found = view_frame_read(bytes + at, size - at, 4096, &frame)) != 0;) {
        if (found < 0) {
            must(found == -VIEW_CLOSE_PROTOCOL || found == -VIEW_CLOSE_TOO_BIG);
            break;
        }
        must(frame.whole <= size - at && frame.size <= 4096 && frame.whole > frame.size);
        must(frame.data + frame.size == bytes + at + frame.whole);
        if (frame.opcode == VIEW_OPCODE_TEXT)
            try_message((const char *)frame.data, frame.size);
        at += frame.whole;
    }
    free(bytes);
}

/* Lines: path, query, Host, Origin, key. */
static void try_request(const char *text, size_t size) {
    static const view_place places[] = {{"127.0.0.1", 8080}, {"0.0.0.0", 8080}};
    static const char token[] = "0123456789abcdef0123456789abcdef";
    char *copy = malloc(size + 1), *line[5], accept[VIEW_ACCEPT_SIZE];
    must(copy != NULL);
    memcpy(copy, text, size);
    copy[size] = '\0';
    char *at = copy;
    for (int i = 0; i < 5; i++) {
        line[i] = at;
        at += strcspn(at, "\n");
        if (*at)
            *at++ = '\0';
    }
    view_route route = view_route_find(line[0]);
    must(route.kind == VIEW_ROUTE_NONE || (!strstr(line[0], "..") && !strchr(line[0], '%')));
    if (view_token_fits(line[1], token))
        must(strstr(line[1], token) != NULL);
    for (int i = 0; i < 2; i++)
        if (view_host_fits(&places[i], line[2])) {
            must(strstr(line[2], ":8080") != NULL && !strpbrk(line[2], "\r\n; "));
            if (view_origin_fits(line[3], line[2]))
                must(strncmp(line[3], "http://", 7) == 0);
        }
    if (view_frame_accept(line[4], accept))
        must(strlen(accept) == 28);
    free(copy);
}

/* What was read lies inside the bytes and has no ends of lines in it. */
static void try_head(const char *text, size_t size) {
    char *copy = malloc(size + 1);
    view_http http;
    must(copy != NULL);
    memcpy(copy, text, size);
    size_t head = view_http_end(copy, size);
    must(head <= size && (head == 0 || memcmp(copy + head - 4, "\r\n\r\n", 4) == 0));
    int code = head ? view_http_read(copy, head, &http) : 400;
    must(code == 0 || code == 400 || code == 431 || code == 505);
    for (size_t i = 0; code == 0 && i < http.header_count; i++) {
        const char *value = http.headers[i].value;
        must(value > copy && value + strlen(value) < copy + head && !strpbrk(value, "\r\n"));
        must(!strpbrk(http.headers[i].name, " :\r\n"));
    }
    must(code != 0 || (http.path > http.method && !strpbrk(http.path, " ?\r\n")));
    free(copy);
}

static void try_page(const char *text, size_t size) {
    char policy[VIEW_POLICY_SIZE];
    view_policy_of_scripts(text, size, policy);
    must(policy[0] == '\'' && strlen(policy) < sizeof policy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0)
        return 0;
    const char *text = (const char *)data + 1;
    switch (data[0] % 4) {
    case 0:
        try_message(text, size - 1);
        break;
    case 1:
        try_frames(data + 1, size - 1);
        break;
    case 2:
        try_request(text, size - 1);
        try_head(text, size - 1);
        break;
    default:
        try_page(text, size - 1);
    }
    return 0;
}
