/* Frames of the WebSocket protocol (RFC 6455), as far as a server needs them: reading what a client
 * sends, in place, and the heads of what is sent to it. */
#ifndef RIGOR_VIEWER_FRAME_H
#define RIGOR_VIEWER_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum view_opcode {
    VIEW_OPCODE_MORE = 0,
    VIEW_OPCODE_TEXT = 1,
    VIEW_OPCODE_BINARY = 2,
    VIEW_OPCODE_CLOSE = 8,
    VIEW_OPCODE_PING = 9,
    VIEW_OPCODE_PONG = 10
} view_opcode;

/* Reasons to close. */
enum {
    VIEW_CLOSE_NORMAL = 1000,
    VIEW_CLOSE_GOING = 1001, /* the server ends */
    VIEW_CLOSE_PROTOCOL = 1002,
    VIEW_CLOSE_UNSUPPORTED = 1003,
    VIEW_CLOSE_TOO_BIG = 1009,
    VIEW_CLOSE_FAILED = 1011
};

enum { VIEW_FRAME_HEAD = 14, VIEW_CONTROL_BYTES = 125 };

typedef struct view_frame {
    view_opcode opcode;
    bool last; /* of its message */
    unsigned char *data;
    size_t size;
    size_t whole; /* bytes of the frame, head and data */
} view_frame;

/* The frame at the beginning of `bytes`, unmasked in place. Returns 1; 0: it is not all there yet;
 * or minus a reason to close: a frame that a client must not send, or one with more than `most`
 * bytes of data, which is known from its head, before any of them has come. */
int view_frame_read(unsigned char *bytes, size_t size, size_t most, view_frame *frame);

/* The head of a whole message of a server; returns its size. */
size_t view_frame_head(view_opcode opcode, size_t size, unsigned char head[VIEW_FRAME_HEAD]);

/* The answer to a Sec-WebSocket-Key. False: the key is none. */
enum { VIEW_KEY_SIZE = 24, VIEW_ACCEPT_SIZE = 48 };
bool view_frame_accept(const char *key, char accept[VIEW_ACCEPT_SIZE]);

#endif
