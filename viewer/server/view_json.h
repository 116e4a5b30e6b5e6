/* JSON, as little of it as the viewer's messages need: a strict reader with hard limits, and text
 * written so that any bytes become a valid string. */
#ifndef RIGOR_VIEWER_JSON_H
#define RIGOR_VIEWER_JSON_H

#include <stdbool.h>
#include <stddef.h>

enum {
    VIEW_JSON_VALUES = 64, /* of a message, keys not counted */
    VIEW_JSON_DEPTH = 8,
    VIEW_JSON_TEXT = 48 /* bytes of a string or key, the zero included */
};

typedef enum view_json_type {
    VIEW_JSON_NULL,
    VIEW_JSON_FALSE,
    VIEW_JSON_TRUE,
    VIEW_JSON_NUMBER,
    VIEW_JSON_STRING,
    VIEW_JSON_ARRAY,
    VIEW_JSON_OBJECT
} view_json_type;

/* The values of a document in the order of their beginnings; value 0 is the document. */
typedef struct view_json_value {
    view_json_type type;
    double number;
    size_t end;                /* index after the last value inside this one */
    size_t count;              /* elements or members */
    char key[VIEW_JSON_TEXT];  /* of a member of an object, otherwise empty */
    char text[VIEW_JSON_TEXT]; /* of a string */
} view_json_value;

typedef struct view_json {
    view_json_value values[VIEW_JSON_VALUES];
    size_t count;
    const char *problem; /* what is wrong; null: nothing */
    size_t where;        /* byte of the text at which it is */
} view_json;

/* RFC 8259, and nothing but: no comments, no trailing commas, no NaN, no second key of a name, no
 * lone surrogates, no zero characters. False if it is not that or beyond the limits. */
bool view_json_read(const char *text, size_t size, view_json *json);
/* The member of an object, or null. */
const view_json_value *view_json_member(const view_json *json, const view_json_value *object,
                                        const char *key);

/* Bytes that are appended to. What does not fit is left out and `cut` set; there is always a zero
 * at the end (of a text with room for one). */
typedef struct view_text {
    char *bytes;
    size_t size, capacity;
    bool cut;
} view_text;
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void view_text_put(view_text *text, const char *format, ...);
/* In quotes; U+FFFD for each byte that is not UTF-8. */
void view_text_put_string(view_text *text, const char *string);
/* The shortest digits that read back to the same number; null for what JSON has no number for. */
void view_text_put_number(view_text *text, double number);

#endif
