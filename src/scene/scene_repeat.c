/* `repeat`: one entry of a list stands for many. A count, or counts of i, j and k of which the
 * first is the outermost loop. All counts of a list are added up and held against the limits before
 * the first copy is made, so that a million repeats of a million are refused at once.
 * Tested by tests/scene/test_reader.c. */
#include "scene/scene_reader.h"

#include <stdio.h>
#include <string.h>

static const char *const variable_names[3] = {"i", "j", "k"};

static rg_status read_count(rg_reader *reader, const rg_place *place, uint64_t *count) {
    return rg_read_whole(reader, place, 1, reader->limits.bodies, count);
}

rg_status rg_read_repeat(rg_reader *reader, const rg_place *place, rg_repeat *repeat) {
    *repeat = (rg_repeat){.copies = 1};
    if (!rg_given(place))
        return RG_OK;
    if (!rg_is_mapping(place)) {
        repeat->loops = 1;
        rg_status status = read_count(reader, place, &repeat->count[0]);
        repeat->copies = repeat->count[0];
        return status;
    }
    rg_place values[REPEAT_COUNT];
    rg_status status = rg_read_keys(reader, place, &rg_keys_repeat, values);
    /* The loops nest in the order in which the file names them. */
    size_t count = status == RG_OK ? rg_mapping_size(place) : 0;
    for (size_t p = 0; p < count && status == RG_OK; p++) {
        rg_place value = rg_mapping_at(reader, place, p, NULL);
        int variable = value.key[0] - 'i', loop = repeat->loops++;
        repeat->variable[loop] = variable;
        if ((status = read_count(reader, &value, &repeat->count[loop])) == RG_OK)
            repeat->copies = repeat->count[loop] > UINT64_MAX / repeat->copies
                                 ? UINT64_MAX
                                 : repeat->copies * repeat->count[loop];
    }
    if (status == RG_OK && !repeat->loops)
        return rg_place_fail(reader, place, RG_INVALID_ARGUMENT,
                             "is empty; write a count, or e.g. {i: 5, j: 3}");
    return status;
}

rg_place rg_find_key(rg_reader *reader, const rg_place *entry, const char *key) {
    for (size_t p = 0; rg_is_mapping(entry) && p < rg_mapping_size(entry); p++) {
        rg_place value = rg_mapping_at(reader, entry, p, NULL);
        if (strcmp(value.key, key) == 0)
            return value;
    }
    return (rg_place){entry, NULL, key, 0};
}

static rg_status check_copies(rg_reader *reader, const rg_place *list, const char *what) {
    uint64_t copies = 0, values = 0;
    for (size_t e = 0; e < rg_list_size(list); e++) {
        rg_place entry = rg_list_at(reader, list, e), key = rg_find_key(reader, &entry, "repeat");
        rg_repeat repeat;
        rg_status status = rg_read_repeat(reader, &key, &repeat);
        if (status != RG_OK) { /* copy_entry meets it again and names the entry */
            if (!rg_recover(reader, &status))
                return status;
            continue;
        }
        const rg_place *blamed = rg_given(&key) ? &key : &entry;
        if (repeat.copies > reader->limits.bodies - copies)
            return rg_place_fail(reader, blamed, RG_LIMIT_EXCEEDED,
                                 "%sthis makes %s%llu %s; a scene may have at most %zu",
                                 copies ? "with those before it, " : "",
                                 repeat.copies == UINT64_MAX ? "more than " : "",
                                 (unsigned long long)(repeat.copies == UINT64_MAX
                                                          ? UINT64_MAX
                                                          : repeat.copies + copies),
                                 what, reader->limits.bodies);
        copies += repeat.copies;
        uint64_t each = reader->infos[rg_node_index(reader, entry.node)].values;
        if (each > (reader->limits.values - values) / repeat.copies)
            return rg_place_fail(reader, blamed, RG_LIMIT_EXCEEDED,
                                 "the %s up to here have more than %llu values in all; use fewer "
                                 "copies or put what they share under shapes",
                                 what, (unsigned long long)reader->limits.values);
        values += each * repeat.copies;
    }
    return RG_OK;
}

static void advance(const rg_repeat *repeat, uint64_t index[3]) {
    for (int loop = repeat->loops - 1; loop >= 0; loop--) {
        if (++index[loop] < repeat->count[loop])
            return;
        index[loop] = 0;
    }
}

static rg_status copy_entry(rg_reader *reader, const rg_place *entry, rg_copy_function *function) {
    rg_place key = rg_find_key(reader, entry, "repeat");
    rg_repeat repeat;
    rg_status status = rg_read_repeat(reader, &key, &repeat);
    if (status != RG_OK)
        return status;
    uint64_t index[3] = {0, 0, 0};
    size_t outer = reader->variable_count;
    for (int loop = 0; loop < repeat.loops && status == RG_OK; loop++)
        status = rg_reader_push_variable(reader, variable_names[repeat.variable[loop]], 0, true);
    if (repeat.loops && status == RG_OK) /* differs between entries, which may share a node */
        status = rg_reader_push_variable(reader, "n", (double)repeat.copies, true);
    size_t failures = reader->mistakes.failures; /* one copy says what is wrong with all */
    for (uint64_t copy = 0;
         copy < repeat.copies && status == RG_OK && failures == reader->mistakes.failures; copy++) {
        for (int loop = 0; loop < repeat.loops; loop++)
            reader->variables[outer + (size_t)loop].value = (double)index[loop];
        status = function(reader, entry, &repeat, index);
        advance(&repeat, index);
    }
    reader->variable_count = outer;
    return status;
}

rg_status rg_for_each_copy(rg_reader *reader, const rg_place *list, const char *what,
                           rg_copy_function *function, rg_failed_function *failed) {
    char kind[32];
    snprintf(kind, sizeof kind, "a list of %s", what);
    rg_status status = rg_require_list(reader, list, kind);
    if (status == RG_OK)
        status = check_copies(reader, list, what);
    for (size_t e = 0; status == RG_OK && e < rg_list_size(list); e++) {
        rg_place entry = rg_list_at(reader, list, e);
        size_t failures = reader->mistakes.failures;
        status = copy_entry(reader, &entry, function);
        if (rg_recover(reader, &status) && failures < reader->mistakes.failures && failed)
            status = failed(reader, &entry);
    }
    return status;
}

/* Something in braces: the loop whose variable it names, what is added, and its length. */
typedef struct braces {
    int loop; /* -1: not of the form {x}, {x+1} or {x-1} */
    int64_t plus;
    size_t length;
} braces;

static braces read_braces(const char *text, const rg_repeat *repeat) {
    braces none = {.loop = -1}, b = none;
    if (text[0] != '{' || !text[1])
        return none;
    for (int loop = 0; loop < repeat->loops; loop++)
        if (text[1] == variable_names[repeat->variable[loop]][0])
            b.loop = loop;
    b.length = 2;
    if (text[2] == '+' || text[2] == '-') {
        enum { DIGITS_MOST = 6 };
        size_t first = b.length = 3;
        while (text[b.length] >= '0' && text[b.length] <= '9' && b.length < first + DIGITS_MOST)
            b.plus = 10 * b.plus + (text[b.length++] - '0');
        if (b.length == first)
            return none;
        b.plus = text[2] == '-' ? -b.plus : b.plus;
    }
    return text[b.length++] == '}' ? b : none;
}

rg_status rg_expand_name(rg_reader *reader, const rg_place *place, const char *name,
                         const rg_repeat *repeat, const uint64_t index[3], const char **expanded) {
    *expanded = name;
    if (!repeat->loops)
        return RG_OK;
    char quoted[RG_QUOTE_SIZE];
    reader->text.size = 0;
    for (const char *c = name; *c;) {
        braces b = read_braces(c, repeat);
        if (b.loop < 0 && *c == '{')
            return rg_place_fail(reader, place, RG_NOT_FOUND,
                                 "the braces in \"%s\" name no loop variable; write {%s}",
                                 rg_quote_word(name, quoted), variable_names[repeat->variable[0]]);
        if (b.loop >= 0) {
            rg_buffer_print(&reader->text, "%lld", (long long)index[b.loop] + (long long)b.plus);
            c += b.length;
        } else {
            rg_buffer_append(&reader->text, c++, 1);
        }
    }
    if (reader->text.failed)
        return rg_reader_no_memory(reader);
    *expanded = reader->text.data;
    return RG_OK;
}
