/* Words and numbers of a scene file, as the writer puts them; see scene_writer.h.
 * Tested by tests/scene/test_writer.c. */
#include "scene/scene_writer.h"

#include "base/base_expression.h"
#include "base/base_math.h"

#include <stdio.h>
#include <string.h>

void rg_put(rg_writer *w, const char *text) {
    rg_buffer_append(&w->out, text, strlen(text));
}

void rg_put_number(rg_writer *w, double value) {
    char text[RG_NUMBER_SIZE];
    rg_put(w, rg_format_double(value, text));
}

void rg_put_numbers(rg_writer *w, const double *values, size_t count) {
    rg_put(w, "[");
    for (size_t i = 0; i < count; i++) {
        if (i)
            rg_put(w, ", ");
        rg_put_number(w, values[i]);
    }
    rg_put(w, "]");
}

void rg_put_vector(rg_writer *w, rg_vec3 v) {
    if (w->planar)
        rg_put_numbers(w, (double[]){v.x, v.z}, 2);
    else
        rg_put_numbers(w, (double[]){v.x, v.y, v.z}, 3);
}

void rg_put_spin(rg_writer *w, rg_vec3 v) {
    if (w->planar)
        rg_put_number(w, -v.y);
    else
        rg_put_vector(w, v);
}

void rg_put_quat(rg_writer *w, rg_quat q) {
    rg_put_numbers(w, (double[]){q.x, q.y, q.z, q.w}, 4);
}

/* The code point at *text, or -1 if it is no valid UTF-8; moves on past it. */
static long next_character(const char **text) {
    const unsigned char *c = (const unsigned char *)*text;
    int more = c[0] < 0x80 ? 0 : c[0] >= 0xF0 && c[0] < 0xF5 ? 3 : c[0] >= 0xE0 ? 2 : 1;
    if ((c[0] >= 0x80 && c[0] < 0xC2) || c[0] >= 0xF5)
        return -1;
    long code = more == 0 ? c[0] : c[0] & (0x3F >> more);
    for (int i = 1; i <= more; i++) {
        if ((c[i] & 0xC0) != 0x80)
            return -1;
        code = code << 6 | (c[i] & 0x3F);
    }
    static const long smallest[4] = {0, 0x80, 0x800, 0x10000};
    if (code < smallest[more] || (code >= 0xD800 && code < 0xE000) || code > 0x10FFFF)
        return -1;
    *text += more + 1;
    return code;
}

rg_status rg_put_quoted(rg_writer *w, const char *text) {
    rg_put(w, "\"");
    for (const char *c = text; *c;) {
        const char *start = c;
        long code = next_character(&c);
        if (code < 0)
            return rg_fail(w->error, RG_UNSUPPORTED,
                           "a name is not UTF-8 text and cannot be written; rename it");
        bool raw =
            (code >= 0x20 && code < 0x7F) || (code >= 0xA0 && code != 0x2028 && code != 0x2029 &&
                                              code != 0xFEFF && (code & 0xFFFE) != 0xFFFE);
        if (code == '"' || code == '\\')
            rg_buffer_print(&w->out, "\\%c", (int)code);
        else if (raw)
            rg_buffer_append(&w->out, start, (size_t)(c - start));
        else
            rg_buffer_print(&w->out, "\\U%08lX", (unsigned long)code);
    }
    rg_put(w, "\"");
    return RG_OK;
}

void rg_put_key(rg_writer *w, bool *first, const char *key) {
    if (!*first)
        rg_put(w, ", ");
    *first = false;
    rg_put(w, key);
    rg_put(w, ": ");
}

void rg_put_local_pose(rg_writer *w, bool *first, rg_pose pose) {
    rg_put_key(w, first, "position");
    rg_put_vector(w, pose.position);
    rg_put_key(w, first, "orientation");
    rg_put_quat(w, pose.orientation);
}

void rg_put_two(rg_writer *w, const char *first, double a, const char *second, double b) {
    rg_buffer_print(&w->out, "{%s: ", first);
    rg_put_number(w, a);
    rg_buffer_print(&w->out, ", %s: ", second);
    rg_put_number(w, b);
    rg_put(w, "}");
}

void rg_put_named_number(rg_writer *w, const char *key, double value) {
    rg_buffer_print(&w->out, ", %s: ", key);
    rg_put_number(w, value);
}

void rg_put_named_vector(rg_writer *w, const char *key, rg_vec3 value) {
    rg_buffer_print(&w->out, ", %s: ", key);
    rg_put_vector(w, value);
}

/* Is the text -( ... ), as planar turns are kept? */
static bool is_negated(const char *text, size_t size) {
    int depth = 0;
    if (size < 3 || text[0] != '-' || text[1] != '(')
        return false;
    for (size_t i = 1; i < size; i++) {
        depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
        if (depth == 0)
            return i == size - 1;
    }
    return false;
}

void rg_put_of_time(rg_writer *w, const char *text, double value, double sign) {
    double now = rg_world_time(w->world);
    char shifted[RG_NUMBER_SIZE + 8], number[RG_NUMBER_SIZE];
    bool uses;
    if (!text) {
        rg_put_number(w, sign * value);
        return;
    }
    size_t size = strlen(text);
    bool plain = sign > 0;
    if (!plain && is_negated(text, size))
        plain = true, text += 2, size -= 3;
    snprintf(shifted, sizeof shifted, "(t+%s)", rg_format_double(now, number));
    rg_put(w, plain ? "\"" : "\"-(");
    rg_expression_resolve(text, size, NULL, 0, now > 0 ? shifted : NULL, &w->out, &uses);
    rg_put(w, plain ? "\"" : ")\"");
}

void rg_put_vector_of_time(rg_writer *w, const char *key, const char *const *text, rg_vec3 v) {
    rg_buffer_print(&w->out, ", %s: ", key);
    rg_put_components_of_time(w, text, v);
}

void rg_put_components_of_time(rg_writer *w, const char *const *text, rg_vec3 v) {
    rg_put(w, "[");
    rg_put_of_time(w, text[0], v.x, 1);
    rg_put(w, ", ");
    if (!w->planar) {
        rg_put_of_time(w, text[1], v.y, 1);
        rg_put(w, ", ");
    }
    rg_put_of_time(w, text[2], v.z, 1);
    rg_put(w, "]");
}

rg_status rg_put_own_name(rg_writer *w, rg_body_id body) {
    const char *name = rg_body_name(w->world, body);
    char made[64];
    rg_body_id other;
    if (name[0])
        return rg_put_quoted(w, name);
    size_t index = rg_body_index(w->world, body);
    snprintf(made, sizeof made, "body %zu", index);
    for (int i = 2; rg_world_find_body(w->world, made, &other) == RG_OK; i++)
        snprintf(made, sizeof made, "body %zu (%d)", index, i);
    return rg_put_quoted(w, made);
}

rg_status rg_put_body_name(rg_writer *w, const char *what, rg_body_id body) {
    const char *name = rg_body_name(w->world, body);
    if (w->shown)
        return rg_put_own_name(w, body);
    if (!name[0])
        return rg_fail(w->error, RG_UNSUPPORTED,
                       "%s body %zu, which has no name for the file to refer to; give it one", what,
                       rg_body_index(w->world, body));
    return rg_put_quoted(w, name);
}
