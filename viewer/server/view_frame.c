/* Frames of the WebSocket protocol: see view_frame.h. Section numbers are those of RFC 6455. */
#include "view_frame.h"

#include "view_hash.h"

#include <string.h>

static bool is_known(unsigned opcode) {
    return opcode <= VIEW_OPCODE_BINARY ||
           (opcode >= VIEW_OPCODE_CLOSE && opcode <= VIEW_OPCODE_PONG);
}

int view_frame_read(unsigned char *bytes, size_t size, size_t most, view_frame *frame) {
    if (size < 2)
        return 0;
    unsigned opcode = bytes[0] & 0x0fu, short_size = bytes[1] & 0x7fu;
    bool last = (bytes[0] & 0x80) != 0, control = opcode >= VIEW_OPCODE_CLOSE;
    /* No extensions are agreed on, so that their bits are not set; clients mask (5.1, 5.2). */
    if ((bytes[0] & 0x70) || !is_known(opcode) || !(bytes[1] & 0x80))
        return -VIEW_CLOSE_PROTOCOL;
    if (control && (!last || short_size > VIEW_CONTROL_BYTES)) /* 5.5 */
        return -VIEW_CLOSE_PROTOCOL;
    size_t extra = short_size == 127 ? 8 : short_size == 126 ? 2 : 0, head = 2 + extra + 4;
    if (size < 2 + extra)
        return 0;
    uint64_t length = extra ? 0 : short_size;
    for (size_t i = 0; i < extra; i++)
        length = length << 8 | bytes[2 + i];
    if (length > most)
        return -VIEW_CLOSE_TOO_BIG;
    if (size < head + length)
        return 0;
    unsigned char *data = bytes + head;
    for (size_t i = 0; i < length; i++)
        data[i] ^= bytes[head - 4 + i % 4];
    *frame = (view_frame){(view_opcode)opcode, last, data, (size_t)length, head + (size_t)length};
    return 1;
}

size_t view_frame_head(view_opcode opcode, size_t size, unsigned char head[VIEW_FRAME_HEAD]) {
    size_t extra = size < 126 ? 0 : size < 1 << 16 ? 2 : 8;
    head[0] = (unsigned char)(0x80 | opcode);
    head[1] = (unsigned char)(extra == 0 ? size : extra == 2 ? 126 : 127);
    for (size_t i = 0; i < extra; i++)
        head[2 + i] = (unsigned char)((uint64_t)size >> 8 * (extra - 1 - i));
    return 2 + extra;
}

bool view_frame_accept(const char *key, char accept[VIEW_ACCEPT_SIZE]) {
    static const char guid[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"; /* 1.3 */
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char text[VIEW_KEY_SIZE + sizeof guid];
    unsigned char hash[VIEW_SHA1_BYTES];
    if (strlen(key) != VIEW_KEY_SIZE || strspn(key, digits) != 22 || strcmp(key + 22, "==") != 0)
        return false;
    memcpy(text, key, VIEW_KEY_SIZE);
    memcpy(text + VIEW_KEY_SIZE, guid, sizeof guid);
    view_sha1(text, sizeof text - 1, hash);
    view_base64(hash, sizeof hash, accept);
    return true;
}
