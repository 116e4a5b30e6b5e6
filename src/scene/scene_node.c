/* Places in a document, the messages about them, and values of the types that scenes are made of.
 * Every function that reads says what it expected and what it got.
 * Tested by tests/scene/test_broken.c. */
#include "scene/scene_reader.h"

#include "base/base_math.h"
#include "base/base_trig.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* |q|^2 may differ from 1 by this much and q is taken as it is, so that what the writer wrote comes
 * back bit for bit; up to the second bound it is normalised; beyond, it was no rotation. */
#define UNIT_ROUNDING  (4 * 2.220446049250313e-16)
#define UNIT_TOLERANCE 1e-6

/* ---- messages ---- */

const char *rg_quote_word(const char *word, char buffer[RG_QUOTE_SIZE]) {
    size_t length = strlen(word), room = RG_QUOTE_SIZE - 4;
    bool cut = length > room;
    if (cut) {
        length = room;
        while (length > 0 && ((unsigned char)word[length] & 0xC0) == 0x80)
            length--; /* not inside a character of several bytes */
    }
    for (size_t i = 0; i < length; i++)
        buffer[i] = (unsigned char)word[i] < 32 || word[i] == 127 ? '?' : word[i];
    memcpy(buffer + length, cut ? "..." : "", cut ? 4 : 1);
    return buffer;
}

/* Appends the path of the place; on overflow the rest is dropped. */
static void print_path(const rg_place *place, char *path, size_t size) {
    if (!place->parent) {
        path[0] = 0;
        return;
    }
    print_path(place->parent, path, size);
    size_t length = strlen(path);
    char word[RG_QUOTE_SIZE];
    if (place->key)
        snprintf(path + length, size - length, "%s%s", length ? "." : "",
                 rg_quote_word(place->key, word));
    else
        snprintf(path + length, size - length, "[%zu]", place->index);
}

static rg_status fail_with(rg_reader *reader, const rg_place *place, const yaml_node_t *node,
                           rg_status status, const char *message) {
    char path[320];
    print_path(place, path, sizeof path);
    return rg_fail_at(reader->error, status, reader->file, (int)node->start_mark.line + 1,
                      (int)node->start_mark.column + 1, "%s%s%s", path, path[0] ? ": " : "",
                      message);
}

rg_status rg_place_fail(rg_reader *reader, const rg_place *place, rg_status status,
                        const char *format, ...) {
    char message[RG_ERROR_TEXT_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return fail_with(reader, place, place->node, status, message);
}

rg_status rg_place_fail_at_node(rg_reader *reader, const rg_place *place, const yaml_node_t *node,
                                rg_status status, const char *format, ...) {
    char message[RG_ERROR_TEXT_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return fail_with(reader, place, node, status, message);
}

rg_status rg_place_wrap(rg_reader *reader, const rg_place *place, rg_status status,
                        const rg_error *cause) {
    if (status == RG_OUT_OF_MEMORY)
        return rg_reader_no_memory(reader);
    const char *message = cause->text[0] ? cause->text : rg_status_text(status);
    /* "hull: no points" at the path "shapes.a.hull" says it twice. */
    size_t length = place->key ? strlen(place->key) : 0;
    if (length && strncmp(message, place->key, length) == 0 &&
        strncmp(message + length, ": ", 2) == 0)
        message += length + 2;
    return fail_with(reader, place, place->node, status, message);
}

rg_status rg_reader_no_memory(rg_reader *reader) {
    return rg_fail(reader->error, RG_OUT_OF_MEMORY, "%s: not enough memory for this scene",
                   reader->file);
}

static const char *scalar_text(const yaml_node_t *node) {
    return (const char *)node->data.scalar.value;
}

static bool is_plain(const yaml_node_t *node) {
    return node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
}

static bool is_null(const yaml_node_t *node) {
    const char *text = scalar_text(node);
    return node->type == YAML_SCALAR_NODE && is_plain(node) &&
           (!text[0] || strcmp(text, "~") == 0 || strcmp(text, "null") == 0);
}

static bool is_truth(const yaml_node_t *node) {
    const char *text = scalar_text(node);
    return is_plain(node) && (strcmp(text, "true") == 0 || strcmp(text, "false") == 0);
}

const char *rg_describe_node(rg_reader *reader, const yaml_node_t *node,
                             char buffer[RG_DESCRIPTION_SIZE]) {
    (void)reader;
    double number;
    char quoted[RG_QUOTE_SIZE];
    switch (node->type) {
    case YAML_MAPPING_NODE:
        return "a mapping";
    case YAML_SEQUENCE_NODE: {
        size_t count = (size_t)(node->data.sequence.items.top - node->data.sequence.items.start);
        snprintf(buffer, RG_DESCRIPTION_SIZE, count ? "a list of %zu" : "an empty list", count);
        return buffer;
    }
    default:
        break;
    }
    if (is_null(node))
        return "nothing";
    const char *text = rg_quote_word(scalar_text(node), quoted);
    if (is_plain(node) && rg_parse_double(scalar_text(node), node->data.scalar.length, &number))
        snprintf(buffer, RG_DESCRIPTION_SIZE, "the number %s", text);
    else if (is_truth(node))
        snprintf(buffer, RG_DESCRIPTION_SIZE, "%s", text);
    else
        snprintf(buffer, RG_DESCRIPTION_SIZE, "the text \"%s\"", text);
    return buffer;
}

/* "expected <what>, got <node>; <hint>" */
static rg_status fail_type(rg_reader *reader, const rg_place *place, const char *what,
                           const char *hint) {
    char text[RG_DESCRIPTION_SIZE];
    return rg_place_fail(reader, place, RG_WRONG_TYPE, "expected %s, got %s%s%s", what,
                         rg_describe_node(reader, place->node, text), hint[0] ? "; " : "", hint);
}

/* ---- lists and mappings ---- */

size_t rg_list_size(const rg_place *list) {
    return (size_t)(list->node->data.sequence.items.top - list->node->data.sequence.items.start);
}

rg_place rg_list_at(rg_reader *reader, const rg_place *list, size_t index) {
    yaml_node_item_t item = list->node->data.sequence.items.start[index];
    return (rg_place){list, yaml_document_get_node(&reader->document, item), NULL, index};
}

size_t rg_mapping_size(const rg_place *mapping) {
    return (size_t)(mapping->node->data.mapping.pairs.top -
                    mapping->node->data.mapping.pairs.start);
}

rg_place rg_mapping_at(rg_reader *reader, const rg_place *mapping, size_t index,
                       const yaml_node_t **key) {
    yaml_node_pair_t pair = mapping->node->data.mapping.pairs.start[index];
    const yaml_node_t *key_node = yaml_document_get_node(&reader->document, pair.key);
    if (key)
        *key = key_node;
    const char *text = key_node->type == YAML_SCALAR_NODE ? scalar_text(key_node) : "?";
    return (rg_place){mapping, yaml_document_get_node(&reader->document, pair.value), text, 0};
}

static bool has_key(const rg_key_table *table, const char *key) {
    for (size_t k = 0; k < table->count; k++)
        if (strcmp(table->keys[k], key) == 0)
            return true;
    return false;
}

static rg_status fail_unknown_key(rg_reader *reader, const rg_place *value, const yaml_node_t *key,
                                  const rg_key_table *table) {
    if (strcmp(value->key, "<<") == 0)
        return rg_place_fail_at_node(reader, value, key, RG_UNKNOWN_KEY,
                                     "merge keys are not part of the format; write the keys out");
    const char *nearest = rg_nearest_word(value->key, table->keys, table->count);
    if (table == &rg_keys_joint && has_key(&rg_keys_joint_axis, value->key))
        return rg_place_fail_at_node(reader, value, key, RG_UNKNOWN_KEY,
                                     "belongs to an axis of the joint; write axes: {%s: ...}",
                                     value->key);
    if (nearest)
        return rg_place_fail_at_node(reader, value, key, RG_UNKNOWN_KEY,
                                     "unknown key; did you mean \"%s\"?", nearest);
    char list[320] = "";
    size_t length = 0;
    for (size_t i = 0; i < table->count && length < sizeof list; i++)
        length += (size_t)snprintf(list + length, sizeof list - length, "%s%s", i ? ", " : "",
                                   table->keys[i]);
    return rg_place_fail_at_node(reader, value, key, RG_UNKNOWN_KEY,
                                 "unknown key; the keys here are: %s", list);
}

rg_status rg_read_keys(rg_reader *reader, const rg_place *place, const rg_key_table *table,
                       rg_place *values) {
    for (size_t k = 0; k < table->count; k++)
        values[k] = (rg_place){place, NULL, table->keys[k], 0};
    if (!rg_is_mapping(place)) {
        char what[64];
        snprintf(what, sizeof what, "a mapping with keys such as %s", table->keys[0]);
        return fail_type(reader, place, what, "");
    }
    size_t count = rg_mapping_size(place), failures = reader->mistakes.failures;
    for (size_t i = 0; i < count; i++) {
        const yaml_node_t *key;
        rg_place value = rg_mapping_at(reader, place, i, &key);
        size_t k = 0;
        while (k < table->count && strcmp(value.key, table->keys[k]) != 0)
            k++;
        if (k < table->count) {
            values[k] = value;
            continue;
        }
        rg_status status = fail_unknown_key(reader, &value, key, table);
        if (!rg_recover(reader, &status))
            return status;
    }
    return failures == reader->mistakes.failures ? RG_OK : rg_follow(reader);
}

rg_status rg_require_list(rg_reader *reader, const rg_place *place, const char *what) {
    return rg_is_list(place) ? RG_OK : fail_type(reader, place, what, "");
}

rg_status rg_require_mapping(rg_reader *reader, const rg_place *place, const char *what) {
    return rg_is_mapping(place) ? RG_OK : fail_type(reader, place, what, "");
}

/* ---- scalars ---- */

static bool means_not_finite(const char *text) {
    static const char *const words[] = {"inf",  "nan",  "infinity", "Infinity", "NaN",
                                        "Inf",  "INF",  "NAN",      ".inf",     ".nan",
                                        ".Inf", ".NaN", ".INF",     ".NAN"};
    if (*text == '-' || *text == '+')
        text++;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(text, words[i]) == 0)
            return true;
    return false;
}

static bool names_a_failed_parameter(const rg_reader *reader, const char *expression) {
    const rg_mistakes *mistakes = &reader->mistakes;
    for (size_t i = 0; i < mistakes->name_count; i++)
        if (mistakes->names[i].kind == RG_NAMED_PARAMETER &&
            strstr(expression, mistakes->names[i].name))
            return true;
    return mistakes->any[RG_NAMED_PARAMETER];
}

static rg_status evaluate(rg_reader *reader, const rg_place *place, double *value) {
    const yaml_node_t *node = place->node;
    rg_error cause = {0};
    bool used_loop = false;
    rg_status status =
        rg_expression_evaluate(scalar_text(node), node->data.scalar.length, reader->variables,
                               reader->variable_count, value, &used_loop, &cause);
    if (status == RG_OK) {
        reader->loop_used |= used_loop;
        return RG_OK;
    }
    if (status == RG_NOT_FOUND && names_a_failed_parameter(reader, scalar_text(node)))
        return rg_follow(reader);
    /* A lone word was hardly meant as an expression, unless it is nearly the name of something. */
    if (status == RG_NOT_FOUND && rg_expression_is_name(scalar_text(node)) &&
        !strstr(cause.text, "did you mean"))
        return fail_type(reader, place, "a number or an expression", "");
    char quoted[RG_QUOTE_SIZE];
    return rg_place_fail(reader, place, status, "in \"%s\", %s",
                         rg_quote_word(scalar_text(node), quoted), cause.text);
}

rg_status rg_read_number(rg_reader *reader, const rg_place *place, double *value) {
    const yaml_node_t *node = place->node;
    if (node->type != YAML_SCALAR_NODE || is_null(node) || is_truth(node) || !scalar_text(node)[0])
        return fail_type(reader, place, "a number", "");
    if (means_not_finite(scalar_text(node)))
        return rg_place_fail(reader, place, RG_NOT_FINITE, "numbers must be finite, not %s",
                             scalar_text(node));
    if (!is_plain(node) || !rg_parse_double(scalar_text(node), node->data.scalar.length, value))
        return evaluate(reader, place, value);
    char quoted[RG_QUOTE_SIZE];
    if (!isfinite(*value))
        return rg_place_fail(reader, place, RG_NOT_FINITE,
                             "%s is too large; numbers must be finite, below 1.8e308",
                             rg_quote_word(scalar_text(node), quoted));
    return RG_OK;
}

rg_status rg_read_positive(rg_reader *reader, const rg_place *place, const char *what,
                           double *value) {
    rg_status status = rg_read_number(reader, place, value);
    char number[RG_NUMBER_SIZE];
    if (status == RG_OK && !(*value > 0))
        return rg_place_fail(reader, place, RG_INVALID_SIZE, "%s must be positive, not %s", what,
                             rg_format_double(*value, number));
    return status;
}

rg_status rg_read_not_negative(rg_reader *reader, const rg_place *place, const char *what,
                               double *value) {
    rg_status status = rg_read_number(reader, place, value);
    char number[RG_NUMBER_SIZE];
    if (status == RG_OK && *value < 0)
        return rg_place_fail(reader, place, RG_INVALID_SIZE, "%s must not be negative, not %s",
                             what, rg_format_double(*value, number));
    return status;
}

rg_status rg_read_whole(rg_reader *reader, const rg_place *place, uint64_t low, uint64_t high,
                        uint64_t *value) {
    double number;
    rg_status status = rg_read_number(reader, place, &number);
    if (status != RG_OK)
        return status;
    char text[RG_NUMBER_SIZE];
    if (floor(number) != number || number < (double)low || number > (double)high)
        return rg_place_fail(
            reader, place, RG_INVALID_ARGUMENT, "must be a whole number from %llu to %llu, not %s",
            (unsigned long long)low, (unsigned long long)high, rg_format_double(number, text));
    *value = (uint64_t)number;
    return RG_OK;
}

rg_status rg_read_bits(rg_reader *reader, const rg_place *place, uint64_t *value) {
    static const char what[] = "a whole number from 0 to 18446744073709551615, or 0x...";
    if (!rg_is_scalar(place) || !scalar_text(place->node)[0])
        return fail_type(reader, place, what, "");
    const char *text = scalar_text(place->node);
    unsigned base = 10;
    if (text[0] == '0' && text[1] == 'x') {
        base = 16;
        text += 2;
    }
    /* A leading zero is octal to some readers of YAML and decimal to others. */
    bool good = text[0] && (base == 16 || text[0] != '0' || !text[1]);
    uint64_t bits = 0;
    for (; good && *text; text++) {
        char c = *text;
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                         : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10
                                                : 99;
        good = digit < base && bits <= (UINT64_MAX - digit) / base;
        bits = good ? bits * base + digit : 0;
    }
    if (!good)
        return fail_type(reader, place, what, "");
    *value = bits;
    return RG_OK;
}

rg_status rg_read_truth(rg_reader *reader, const rg_place *place, bool *value) {
    if (!rg_is_scalar(place) || !is_truth(place->node))
        return fail_type(reader, place, "true or false", "");
    *value = scalar_text(place->node)[0] == 't';
    return RG_OK;
}

rg_status rg_read_text(rg_reader *reader, const rg_place *place, const char **text) {
    double number;
    const yaml_node_t *node = place->node;
    if (!rg_is_scalar(place) || is_null(node))
        return fail_type(reader, place, "a text", "");
    *text = scalar_text(node);
    if (is_truth(node) ||
        (is_plain(node) && rg_parse_double(*text, node->data.scalar.length, &number)))
        return fail_type(reader, place, "a text", "put it in quotes");
    if (!**text)
        return rg_place_fail(reader, place, RG_INVALID_ARGUMENT,
                             "the text is empty; give it at least one letter");
    return RG_OK;
}

rg_status rg_read_choice(rg_reader *reader, const rg_place *place, const char *const *choices,
                         size_t count, size_t *choice) {
    char list[200] = "";
    size_t length = 0;
    for (size_t i = 0; i < count && length < sizeof list; i++)
        length += (size_t)snprintf(list + length, sizeof list - length, "%s%s",
                                   i == 0           ? ""
                                   : i + 1 == count ? " or "
                                                    : ", ",
                                   choices[i]);
    if (!rg_is_scalar(place))
        return fail_type(reader, place, list, "");
    const char *text = scalar_text(place->node);
    for (size_t i = 0; i < count; i++)
        if (strcmp(text, choices[i]) == 0) {
            *choice = i;
            return RG_OK;
        }
    char quoted[RG_QUOTE_SIZE];
    const char *nearest = rg_nearest_word(text, choices, count);
    if (nearest)
        return rg_place_fail(reader, place, RG_NOT_FOUND,
                             "\"%s\" is not known here; did you mean \"%s\"?",
                             rg_quote_word(text, quoted), nearest);
    return rg_place_fail(reader, place, RG_NOT_FOUND, "\"%s\" is not known here; write %s",
                         rg_quote_word(text, quoted), list);
}

/* ---- numbers together ---- */

rg_status rg_require_numbers(rg_reader *reader, const rg_place *place, size_t count) {
    static const char *const words[] = {"no",   "one", "two",   "three", "four",
                                        "five", "six", "seven", "eight", "nine"};
    if (!rg_is_list(place) || rg_list_size(place) != count) {
        char what[32];
        snprintf(what, sizeof what, "%s numbers", words[count]);
        const char *hint = count == 2   ? "write [x, z]"
                           : count == 3 ? "write [x, y, z]"
                           : count == 4 ? "write [x, y, z, w]"
                                        : "";
        return fail_type(reader, place, what, hint);
    }
    return RG_OK;
}

rg_status rg_read_numbers(rg_reader *reader, const rg_place *place, size_t count, double *values) {
    rg_status status = rg_require_numbers(reader, place, count);
    if (status != RG_OK)
        return status;
    size_t failures = reader->mistakes.failures;
    for (size_t i = 0; i < count && rg_recover(reader, &status); i++) {
        rg_place item = rg_list_at(reader, place, i);
        status = rg_read_number(reader, &item, &values[i]);
    }
    return status == RG_OK && failures < reader->mistakes.failures ? rg_follow(reader) : status;
}

rg_status rg_read_vector(rg_reader *reader, const rg_place *place, rg_vec3 *vector) {
    double values[3];
    rg_status status = rg_read_numbers(reader, place, reader->planar ? 2 : 3, values);
    if (status != RG_OK)
        return status;
    *vector = reader->planar ? rg_vec3_make(values[0], 0, values[1])
                             : rg_vec3_make(values[0], values[1], values[2]);
    return RG_OK;
}

rg_status rg_read_spin(rg_reader *reader, const rg_place *place, rg_vec3 *spin) {
    if (!reader->planar)
        return rg_read_vector(reader, place, spin);
    double rate;
    rg_status status = rg_read_number(reader, place, &rate);
    if (status != RG_OK)
        return status;
    *spin = rg_vec3_make(0, -rate, 0); /* from x towards z is a turn about -y */
    return RG_OK;
}

static rg_status read_quaternion(rg_reader *reader, const rg_place *place, rg_quat *orientation) {
    double q[4];
    rg_status status = rg_read_numbers(reader, place, 4, q);
    if (status != RG_OK)
        return status;
    *orientation = (rg_quat){q[0], q[1], q[2], q[3]};
    double error = fabs(rg_quat_norm_squared(*orientation) - 1);
    char number[RG_NUMBER_SIZE];
    if (!(error <= UNIT_TOLERANCE))
        return rg_place_fail(
            reader, place, RG_INVALID_ARGUMENT,
            "a quaternion [x, y, z, w] must have length 1; the squares add up to %s",
            rg_format_double(rg_quat_norm_squared(*orientation), number));
    if (error > UNIT_ROUNDING)
        *orientation = rg_quat_normalised(*orientation);
    return RG_OK;
}

static rg_status read_axis_angle(rg_reader *reader, const rg_place *place, const rg_place *values,
                                 rg_quat *orientation) {
    const rg_place *axis_place = &values[ORIENTATION_AXIS];
    const rg_place *degrees = &values[ORIENTATION_DEGREES], *radians = &values[ORIENTATION_RADIANS];
    if (!rg_given(axis_place))
        return rg_place_fail(reader, place, RG_NOT_FOUND,
                             "needs an axis; write {axis: [0, 0, 1], degrees: 30}");
    if (rg_given(degrees) == rg_given(radians))
        return rg_place_fail(reader, place, RG_NOT_FOUND,
                             "needs the angle, once; write {axis: [0, 0, 1], degrees: 30}");
    double a[3], angle, s, c;
    rg_status status = rg_read_numbers(reader, axis_place, 3, a);
    if (status == RG_OK)
        status = rg_read_number(reader, rg_given(degrees) ? degrees : radians, &angle);
    if (status != RG_OK)
        return status;
    rg_vec3 axis = {a[0], a[1], a[2]};
    if (!(rg_largest_entry(axis) > 0))
        return rg_place_fail(reader, axis_place, RG_INVALID_ARGUMENT,
                             "an axis must have a length; write e.g. [0, 0, 1]");
    axis = rg_normalised(axis);
    rg_sin_cos(rg_given(degrees) ? angle * (RG_PI / 360) : 0.5 * angle, &s, &c);
    *orientation = rg_quat_normalised((rg_quat){s * axis.x, s * axis.y, s * axis.z, c});
    return RG_OK;
}

rg_status rg_read_orientation(rg_reader *reader, const rg_place *place, rg_quat *orientation) {
    if (rg_is_list(place))
        return read_quaternion(reader, place, orientation);
    if (!rg_is_mapping(place))
        return fail_type(reader, place, "an orientation",
                         "write {axis: [0, 0, 1], degrees: 30} or a quaternion [x, y, z, w]");
    rg_place values[ORIENTATION_COUNT];
    rg_status status = rg_read_keys(reader, place, &rg_keys_orientation, values);
    if (status != RG_OK)
        return status;
    if (!rg_given(&values[ORIENTATION_QUATERNION]))
        return read_axis_angle(reader, place, values, orientation);
    if (rg_mapping_size(place) > 1)
        return rg_place_fail(reader, place, RG_INVALID_ARGUMENT,
                             "has a quaternion and an axis or angle; give one of them");
    return read_quaternion(reader, &values[ORIENTATION_QUATERNION], orientation);
}

rg_status rg_reader_push_variable(rg_reader *reader, const char *name, double value, bool loop) {
    if (rg_array_grow(&reader->allocator, &reader->variables, &reader->variable_capacity,
                      reader->variable_count + 1) != RG_OK)
        return rg_reader_no_memory(reader);
    reader->variables[reader->variable_count++] = (rg_variable){name, value, loop};
    return RG_OK;
}
