/* Problem files: which format, and the words that the text formats are made of.
 *
 * Problem: an HDF5 file and a rigidfc3d text say what they are; the Siconos texts are bare numbers,
 * in which one format looks like another for the first few.
 * Method: what has no mark is read by the grammar of each format in turn, strictly: every size has
 * to agree with every other. The format that uses up the whole text wins; one that leaves a remark
 * behind comes second. If none fits, the answer is the complaint of the reader that got farthest.
 * How it fails: with file, line, column, what is there and what should be. Memory is only taken for
 * sizes that the rest of the text has room for, so that a short file cannot ask for much. */
#include "record/record_problem.h"

#include "base/base_memory.h"
#include "base/base_text.h"
#include "record/record_disk.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------ messages */

const char *rg_problem_quote(const rg_problem_reader *reader, char text[RG_PROBLEM_QUOTE_SIZE]) {
    size_t room = RG_PROBLEM_QUOTE_SIZE - 4;
    size_t size = reader->word_size < room ? reader->word_size : room;
    for (size_t i = 0; i < size; i++) {
        char c = reader->data[reader->word + i];
        text[i] = c >= ' ' && c <= '~' ? c : '?';
    }
    strcpy(text + size, reader->word_size > room ? "..." : "");
    return text;
}

static void find_place(const rg_problem_reader *reader, int *line, int *column) {
    *line = *column = 1;
    for (size_t i = 0; i < reader->word && i < reader->size; i++) {
        bool pair = reader->data[i] == '\r' && i + 1 < reader->size && reader->data[i + 1] == '\n';
        if (reader->data[i] == '\n' || (reader->data[i] == '\r' && !pair)) {
            ++*line;
            *column = 1;
        } else {
            ++*column;
        }
    }
}

rg_status rg_problem_fail(const rg_problem_reader *reader, rg_status status, const char *format,
                          ...) {
    if (!reader->error)
        return status;
    char message[RG_ERROR_TEXT_SIZE];
    int line, column;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments); /* no fractions in these messages */
    va_end(arguments);
    find_place(reader, &line, &column);
    return rg_fail_at(reader->error, status, reader->name, line, column, "%s", message);
}

rg_status rg_problem_no_memory(const rg_problem_reader *reader) {
    return rg_fail(reader->error, RG_OUT_OF_MEMORY, "%s: no memory for the problem", reader->name);
}

/* ------------------------------------------------------------------ words */

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f';
}

bool rg_problem_next(rg_problem_reader *reader) {
    while (reader->at < reader->size && is_blank(reader->data[reader->at]))
        reader->at++;
    reader->word = reader->at;
    while (reader->at < reader->size && !is_blank(reader->data[reader->at]))
        reader->at++;
    reader->word_size = reader->at - reader->word;
    return reader->word_size > 0;
}

rg_status rg_problem_take(rg_problem_reader *reader, const char *what) {
    if (rg_problem_next(reader))
        return RG_OK;
    return rg_problem_fail(reader, RG_FILE_DAMAGED, "the text ends; here should be %s", what);
}

static bool parse_count(const char *text, size_t size, size_t *value) {
    *value = 0;
    for (size_t i = 0; i < size; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        if (*value < SIZE_MAX / 100) /* more digits than that exceed every limit anyway */
            *value = 10 * *value + (size_t)(text[i] - '0');
    }
    return size > 0;
}

rg_status rg_problem_take_count(rg_problem_reader *reader, const char *what, size_t least,
                                size_t most, size_t *value) {
    char quote[RG_PROBLEM_QUOTE_SIZE];
    rg_status status = rg_problem_take(reader, what);
    if (status != RG_OK)
        return status;
    if (!parse_count(reader->data + reader->word, reader->word_size, value))
        return rg_problem_fail(reader, RG_SYNTAX, "'%s' is not a whole number; here should be %s",
                               rg_problem_quote(reader, quote), what);
    if (*value >= least && *value <= most)
        return RG_OK;
    if (least == most)
        return rg_problem_fail(reader, RG_INVALID_ARGUMENT, "%s is %s; it must be %zu", what,
                               rg_problem_quote(reader, quote), least);
    return rg_problem_fail(reader, RG_INVALID_ARGUMENT, "%s is %s; it must be from %zu to %zu",
                           what, rg_problem_quote(reader, quote), least, most);
}

static rg_status take_number_at(rg_problem_reader *reader, const char *what, size_t index,
                                size_t count, double *value) {
    char quote[RG_PROBLEM_QUOTE_SIZE], place[96];
    if (rg_problem_next(reader) &&
        rg_parse_double(reader->data + reader->word, reader->word_size, value) && isfinite(*value))
        return RG_OK;
    if (count == 0)
        snprintf(place, sizeof place, "%s", what);
    else
        snprintf(place, sizeof place, "number %zu of %zu of %s", index + 1, count, what);
    if (reader->word_size == 0)
        return rg_problem_fail(reader, RG_FILE_DAMAGED, "the text ends; here should be %s", place);
    if (!rg_parse_double(reader->data + reader->word, reader->word_size, value))
        return rg_problem_fail(reader, RG_SYNTAX, "'%s' is not a number; here should be %s",
                               rg_problem_quote(reader, quote), place);
    return rg_problem_fail(reader, RG_NOT_FINITE, "'%s' is not a finite number; here should be %s",
                           rg_problem_quote(reader, quote), place);
}

rg_status rg_problem_take_number(rg_problem_reader *reader, const char *what, double *value) {
    return take_number_at(reader, what, 0, 0, value);
}

rg_status rg_problem_need_words(const rg_problem_reader *reader, const char *what, size_t count) {
    /* Every word takes one byte and a blank before it. */
    size_t left = reader->size - reader->at;
    if (count <= left / 2)
        return RG_OK;
    return rg_problem_fail(
        reader, RG_FILE_DAMAGED,
        "%zu words of %s cannot be in the %zu bytes that follow; the text is cut "
        "short, or a size is wrong",
        count, what, left);
}

/* Memory for as many numbers as can be in what is left of the text. */
static rg_status take_room(rg_problem_reader *reader, const char *what, size_t count, size_t size,
                           void **room) {
    rg_status status = rg_problem_need_words(reader, what, count);
    if (status != RG_OK)
        return status;
    *room = rg_arena_take(&reader->file->arena, count, size);
    return *room ? RG_OK : rg_problem_no_memory(reader);
}

rg_status rg_problem_take_numbers(rg_problem_reader *reader, const char *what, size_t count,
                                  double **values) {
    rg_status status = take_room(reader, what, count, sizeof **values, (void **)values);
    for (size_t i = 0; i < count && status == RG_OK; i++)
        status = take_number_at(reader, what, i, count, &(*values)[i]);
    return status;
}

rg_status rg_problem_take_counts(rg_problem_reader *reader, const char *what, size_t count,
                                 size_t **values) {
    rg_status status = take_room(reader, what, count, sizeof **values, (void **)values);
    for (size_t i = 0; i < count && status == RG_OK; i++)
        status = rg_problem_take_count(reader, what, 0, RG_PROBLEM_MOST_ROWS, &(*values)[i]);
    return status;
}

rg_status rg_problem_take_friction(rg_problem_reader *reader, size_t count, double **values) {
    static const char what[] = "the friction coefficients";
    char quote[RG_PROBLEM_QUOTE_SIZE];
    rg_status status = rg_problem_need_words(reader, what, count);
    if (status != RG_OK)
        return status;
    *values = RG_PROBLEM_TAKE(reader->file, double, count);
    if (!*values)
        return rg_problem_no_memory(reader);
    for (size_t i = 0; i < count; i++) {
        status = take_number_at(reader, what, i, count, &(*values)[i]);
        if (status != RG_OK)
            return status;
        if ((*values)[i] < 0)
            return rg_problem_fail(reader, RG_INVALID_ARGUMENT,
                                   "friction coefficient %s of contact %zu; must not be negative",
                                   rg_problem_quote(reader, quote), i);
    }
    return RG_OK;
}

rg_status rg_problem_take_remark(rg_problem_reader *reader) {
    size_t from = reader->at, to = reader->size;
    while (from < to && is_blank(reader->data[from]))
        from++;
    while (to > from && is_blank(reader->data[to - 1]))
        to--;
    char *remark = RG_PROBLEM_TAKE(reader->file, char, to - from + 1);
    if (!remark)
        return rg_problem_no_memory(reader);
    for (size_t i = from; i < to; i++) /* a text, whatever bytes there are */
        remark[i - from] = reader->data[i] ? reader->data[i] : '?';
    remark[to - from] = '\0';
    reader->file->info.remark = remark;
    reader->at = reader->size;
    return RG_OK;
}

void *rg_problem_take_zeroed(rg_problem_file *file, size_t count, size_t size) {
    void *memory = rg_arena_take(&file->arena, count, size);
    if (memory)
        memset(memory, 0, count * size);
    return memory;
}

/* ------------------------------------------------------------------ formats */

static const struct format {
    const char *name;
    rg_status (*read)(rg_problem_reader *reader);
} formats[RG_FORMATS] = {
    [RG_FORMAT_AUTO] = {"auto", NULL},
    [RG_FORMAT_LCP] = {"lcp", rg_problem_read_lcp},
    [RG_FORMAT_MLCP] = {"mlcp", rg_problem_read_mlcp},
    [RG_FORMAT_RELAY] = {"relay", rg_problem_read_relay},
    [RG_FORMAT_FRICTION] = {"friction", rg_problem_read_friction},
    [RG_FORMAT_GLOBAL_FRICTION] = {"global-friction", rg_problem_read_global_friction},
    [RG_FORMAT_SEQUENCE] = {"rigidfc3d", rg_problem_read_sequence},
    [RG_FORMAT_FCLIB] = {"fclib", rg_problem_read_fclib},
};

const char *rg_problem_format_name(rg_problem_format format) {
    return (unsigned)format < RG_FORMATS ? formats[format].name : "unknown";
}

bool rg_problem_format_find(const char *name, rg_problem_format *format) {
    for (int i = 0; i < RG_FORMATS; i++)
        if (strcmp(formats[i].name, name) == 0) {
            *format = (rg_problem_format)i;
            return true;
        }
    return false;
}

/* Empties the file and reads it as `format`. */
static rg_status read_as(rg_problem_reader *reader, rg_problem_format format) {
    rg_problem_file *file = reader->file;
    rg_arena_reset(&file->arena);
    file->problem = (rg_problem){0};
    file->info = (rg_problem_file_info){
        .format = format, .reference_residual = -1, .title = "", .remark = ""};
    reader->at = reader->word = reader->word_size = 0;
    rg_status status = formats[format].read(reader);
    if (status != RG_OK)
        return status;
    /* The readers have checked what they can name a place for; this is the rest. */
    rg_error inner;
    status = rg_problem_check(&file->problem, &inner);
    if (status != RG_OK)
        rg_fail(reader->error, status, "%s: %s", reader->name, inner.text);
    return status;
}

/* A text without a mark: see the top. */
static rg_status read_siconos(rg_problem_reader *reader) {
    static const rg_problem_format kinds[] = {RG_FORMAT_LCP, RG_FORMAT_MLCP, RG_FORMAT_RELAY,
                                              RG_FORMAT_GLOBAL_FRICTION, RG_FORMAT_FRICTION};
    enum { KINDS = sizeof kinds / sizeof kinds[0] };
    rg_error *error = reader->error, complaint, farthest_complaint;
    rg_problem_format with_remark = RG_FORMAT_AUTO, nearest = kinds[0];
    rg_status nearest_status = RG_SYNTAX;
    size_t farthest = 0;
    reader->error = &complaint;
    for (int i = 0; i < KINDS; i++) {
        rg_status status = read_as(reader, kinds[i]);
        if (status == RG_OUT_OF_MEMORY) {
            reader->error = error;
            return rg_problem_no_memory(reader);
        }
        if (status == RG_OK && reader->file->info.remark[0] == '\0') {
            reader->error = error;
            return RG_OK;
        }
        /* Of two that leave a remark, the relay problem knows what the numbers in the other's
         * are. */
        if (status == RG_OK && (with_remark == RG_FORMAT_AUTO || kinds[i] == RG_FORMAT_RELAY))
            with_remark = kinds[i];
        if (status != RG_OK && (i == 0 || reader->at > farthest)) {
            farthest = reader->at;
            farthest_complaint = complaint;
            nearest = kinds[i];
            nearest_status = status;
        }
    }
    reader->error = error;
    if (with_remark != RG_FORMAT_AUTO)
        return read_as(reader, with_remark);
    if (error) {
        *error = farthest_complaint;
        rg_fail(error, nearest_status, "%s (read as %s, the nearest format)",
                farthest_complaint.text, rg_problem_format_name(nearest));
        error->line = farthest_complaint.line;
        error->column = farthest_complaint.column;
    }
    return nearest_status;
}

static rg_status read_any(rg_problem_reader *reader, rg_problem_format format) {
    if (format != RG_FORMAT_AUTO)
        return read_as(reader, format);
    if (rg_problem_is_fclib(reader->data, reader->size))
        return read_as(reader, RG_FORMAT_FCLIB);
    if (rg_problem_is_sequence(reader->data, reader->size))
        return read_as(reader, RG_FORMAT_SEQUENCE);
    return read_siconos(reader);
}

/* ------------------------------------------------------------------ files */

rg_status rg_problem_file_read_memory(const void *data, size_t size, const char *name,
                                      rg_problem_format format, const rg_allocator *allocator,
                                      rg_problem_file **file, rg_error *error) {
    assert((data || size == 0) && name && (unsigned)format < RG_FORMATS && file);
    *file = NULL;
    if (size == 0)
        return rg_fail(error, RG_FILE_DAMAGED, "%s: empty; it must hold a problem", name);
    if (size > RG_PROBLEM_MOST_BYTES)
        return rg_fail(error, RG_LIMIT_EXCEEDED, "%s: %zu bytes; at most %d are read", name, size,
                       RG_PROBLEM_MOST_BYTES);
    rg_allocator memory = rg_allocator_or_default(allocator);
    rg_problem_file *made = rg_allocate_zeroed(&memory, 1, sizeof *made);
    if (!made)
        return rg_fail(error, RG_OUT_OF_MEMORY, "%s: no memory for the problem", name);
    made->arena = rg_arena_make(&memory);
    rg_problem_reader reader = {
        .file = made, .name = name, .data = data, .size = size, .error = error};
    rg_status status = read_any(&reader, format);
    if (status == RG_OK)
        *file = made;
    else
        rg_problem_file_destroy(made);
    return status;
}

static rg_status fail_reading(rg_error *error, const char *path, int number) {
    char text[RG_DISK_MESSAGE_SIZE];
    if (number == RG_DISK_NOT_REGULAR)
        return rg_fail(error, RG_FILE_UNREADABLE, "%s: is not a regular file", path);
    return rg_fail(error, number == ENOMEM ? RG_OUT_OF_MEMORY : RG_FILE_UNREADABLE,
                   "%s: cannot be read: %s", path, rg_disk_message(number, text));
}

rg_status rg_problem_file_read(const char *path, rg_problem_format format,
                               const rg_allocator *allocator, rg_problem_file **file,
                               rg_error *error) {
    assert(path && file);
    *file = NULL;
    rg_allocator memory = rg_allocator_or_default(allocator);
    rg_disk_file disk_file;
    int failed = rg_disk_open(NULL, path, RG_DISK_READ, &disk_file);
    if (failed)
        return fail_reading(error, path, failed);
    uint64_t size = 0;
    size_t got = 0;
    char *data = NULL;
    rg_status status = RG_OK;
    failed = rg_disk_size(&disk_file, &size);
    if (!failed && size > RG_PROBLEM_MOST_BYTES)
        status = rg_fail(error, RG_LIMIT_EXCEEDED, "%s: more than %d bytes", path,
                         RG_PROBLEM_MOST_BYTES);
    if (!failed && status == RG_OK) {
        data = rg_allocate(&memory, (size_t)size, 1);
        failed = data ? rg_disk_read(&disk_file, data, (size_t)size, 0, &got) : ENOMEM;
    }
    rg_disk_close(&disk_file);
    if (failed)
        status = fail_reading(error, path, failed);
    if (status == RG_OK)
        status = rg_problem_file_read_memory(data, got, path, format, allocator, file, error);
    rg_release(&memory, data);
    return status;
}

void rg_problem_file_destroy(rg_problem_file *file) {
    if (!file)
        return;
    rg_allocator allocator = file->arena.allocator;
    rg_arena_free(&file->arena);
    rg_release(&allocator, file);
}

const rg_problem *rg_problem_file_problem(const rg_problem_file *file) {
    return &file->problem;
}

rg_problem_file_info rg_problem_file_get_info(const rg_problem_file *file) {
    return file->info;
}
