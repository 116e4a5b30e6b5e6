/* Numbers of scene files that may depend on the time t. While they are read there is a
 * variable t, of value 0, so that mistakes are found and told like all others; what depends on t is
 * kept as a text in which numbers stand for parameters and counters of repeats.
 * Tested by tests/scene/test_time.c. */
#include "scene/scene_reader.h"

#include <string.h>

/* The text of a scalar that was read, if t stands in it. */
static rg_status keep_text(rg_reader *reader, const rg_place *place, rg_buffer *out,
                           const char **text) {
    const char *written = (const char *)place->node->data.scalar.value;
    bool uses = false;
    out->size = 0;
    rg_expression_resolve(written, place->node->data.scalar.length, reader->variables,
                          reader->variable_count, NULL, out, &uses);
    rg_buffer_append(out, "", 1);
    if (out->failed)
        return rg_reader_no_memory(reader);
    *text = uses ? out->data : NULL;
    return RG_OK;
}

rg_status rg_read_number_of_time(rg_reader *reader, const rg_place *place, size_t slot,
                                 double *value, const char **text) {
    *text = NULL;
    if (rg_array_grow(&reader->allocator, &reader->variables, &reader->variable_capacity,
                      reader->variable_count + 1))
        return rg_reader_no_memory(reader);
    reader->variables[reader->variable_count++] = (rg_variable){.name = "t"};
    rg_status status = rg_read_number(reader, place, value);
    reader->variable_count--;
    return status == RG_OK ? keep_text(reader, place, &reader->of_time[slot], text) : status;
}

static rg_status read_turning(rg_reader *reader, const rg_place *place, size_t slot,
                              rg_vec3 *vector, const char *text[3]) {
    double rate;
    rg_status status = rg_read_number_of_time(reader, place, slot, &rate, &text[1]);
    *vector = rg_vec3_make(0, -rate, 0); /* as rg_read_spin */
    if (status != RG_OK || !text[1])
        return status;
    rg_buffer *turned = &reader->of_time[slot + 1];
    turned->size = 0;
    rg_buffer_print(turned, "-(%s)", text[1]);
    rg_buffer_append(turned, "", 1);
    text[1] = turned->data;
    return turned->failed ? rg_reader_no_memory(reader) : RG_OK;
}

rg_status rg_read_vector_of_time(rg_reader *reader, const rg_place *place, size_t slot, bool spin,
                                 rg_vec3 *vector, const char *text[3]) {
    text[0] = text[1] = text[2] = NULL;
    if (spin && reader->planar)
        return read_turning(reader, place, slot, vector, text);
    size_t count = reader->planar ? 2 : 3;
    double values[3] = {0, 0, 0};
    rg_status status = rg_require_numbers(reader, place, count);
    for (size_t i = 0; i < count && status == RG_OK; i++) {
        rg_place item = rg_list_at(reader, place, i);
        size_t at = reader->planar && i == 1 ? 2 : i;
        status = rg_read_number_of_time(reader, &item, slot + at, &values[at], &text[at]);
    }
    *vector = rg_vec3_make(values[0], values[1], values[2]);
    return status;
}
