/* Studies: the reader of their files, and what each run of a study is given.
 *
 * runs = rows of the table x combinations of the lists x draws, numbered in this order, the draws
 * fastest and the first list slowest.
 * Tested by tests/scene/test_study.c. */
#include "scene/scene_study.h"

#include "base/base_expression.h"
#include "base/base_hash.h"
#include "base/base_math.h"
#include "rigor/event.h"
#include "scene/scene_reader.h"
#include "scene/scene_state.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define KEYS_STUDY(X)                                                                              \
    X(STUDY_VERSION, "study")                                                                      \
    X(STUDY_SCENE, "scene")                                                                        \
    X(STUDY_PARAMETERS, "parameters")                                                              \
    X(STUDY_TABLE, "table")                                                                        \
    X(STUDY_DRAWS, "draws")                                                                        \
    X(STUDY_SAMPLING, "sampling")                                                                  \
    X(STUDY_SEED, "seed")                                                                          \
    X(STUDY_METHOD, "method")                                                                      \
    X(STUDY_SOLVER, "solver")                                                                      \
    X(STUDY_IMPACT, "impact")                                                                      \
    X(STUDY_STEP, "step")                                                                          \
    X(STUDY_DURATION, "duration")                                                                  \
    X(STUDY_STOP, "stop")                                                                          \
    X(STUDY_LIMITS, "limits")                                                                      \
    X(STUDY_BODIES, "bodies")                                                                      \
    X(STUDY_TIMES, "times")                                                                        \
    X(STUDY_COLUMNS, "columns")
#define KEYS_STOP(X)                                                                               \
    X(STOP_REST, "rest")                                                                           \
    X(STOP_EVENT, "event")                                                                         \
    X(STOP_WHEN, "when")
#define KEYS_LIMITS(X)                                                                             \
    X(LIMITS_SECONDS, "seconds")                                                                   \
    X(LIMITS_MEGABYTES, "megabytes")
/* The first ones are the distributions, in the order of their kinds. */
#define KEYS_VALUES(X)                                                                             \
    X(VALUES_UNIFORM, "uniform")                                                                   \
    X(VALUES_LOG_UNIFORM, "log_uniform")                                                           \
    X(VALUES_NORMAL, "normal")                                                                     \
    X(VALUES_WHOLE, "whole")                                                                       \
    X(VALUES_FROM, "from")                                                                         \
    X(VALUES_TO, "to")                                                                             \
    X(VALUES_COUNT, "count")                                                                       \
    X(VALUES_SCALE, "scale")

#define AS_ENUM(identifier, name) identifier,
#define AS_NAME(identifier, name) name,
enum { KEYS_STUDY(AS_ENUM) STUDY_KEYS };
enum { KEYS_STOP(AS_ENUM) STOP_KEYS };
enum { KEYS_LIMITS(AS_ENUM) LIMITS_KEYS };
enum { KEYS_VALUES(AS_ENUM) VALUES_KEYS };
static const char *const study_names[] = {KEYS_STUDY(AS_NAME)};
static const char *const stop_names[] = {KEYS_STOP(AS_NAME)};
static const char *const limits_names[] = {KEYS_LIMITS(AS_NAME)};
static const char *const values_names[] = {KEYS_VALUES(AS_NAME)};
static const rg_key_table study_keys = {"study", study_names, STUDY_KEYS};
static const rg_key_table stop_keys = {"stop", stop_names, STOP_KEYS};
static const rg_key_table limits_keys = {"limits", limits_names, LIMITS_KEYS};
static const rg_key_table values_keys = {"values", values_names, VALUES_KEYS};
enum { VERSION = 1, LIST_MOST = 1000000 };

typedef struct source {
    rg_reader *reader;
    rg_study *study;
} source;

static rg_status no_memory(source *s) {
    return rg_fail(s->reader->error, RG_OUT_OF_MEMORY, "%s: not enough memory for this study",
                   s->reader->file);
}

static rg_status keep_text(source *s, const char *text, char **kept) {
    *kept = rg_copy_text(&s->study->allocator, text);
    return *kept ? RG_OK : no_memory(s);
}

/* ---- parameters ---- */

static rg_status add_parameter(source *s, const rg_place *place, const char *name,
                               rg_study_parameter **added) {
    rg_study *study = s->study;
    size_t count = study->info.parameter_count;
    for (size_t i = 0; i < count; i++)
        if (strcmp(study->names[i], name) == 0)
            return rg_place_fail(s->reader, place, RG_DUPLICATE_NAME,
                                 "the parameter \"%s\" is there twice, in the table too", name);
    if (rg_array_grow(&study->allocator, &study->names, &study->capacity, count + 1) ||
        rg_array_grow(&study->allocator, &study->parameters, &study->parameter_capacity, count + 1))
        return no_memory(s);
    study->parameters[count] = (rg_study_parameter){.kind = RG_STUDY_LIST};
    rg_status status = keep_text(s, name, &study->names[count]);
    if (status == RG_OK) {
        *added = &study->parameters[count];
        study->info.parameter_count++;
    }
    return status;
}

static rg_status make_list(source *s, rg_study_parameter *parameter, size_t count) {
    parameter->texts = rg_allocate_zeroed(&s->study->allocator, count, sizeof *parameter->texts);
    if (!parameter->texts)
        return no_memory(s);
    parameter->count = count;
    return RG_OK;
}

/* A number, or a word such as the name of a law. */
static rg_status read_entry(source *s, const rg_place *place, char **text) {
    double number;
    char shortest[RG_NUMBER_SIZE];
    const char *word;
    rg_error kept = *s->reader->error;
    if (rg_is_scalar(place) && rg_read_number(s->reader, place, &number) == RG_OK)
        return keep_text(s, rg_format_double(number, shortest), text);
    *s->reader->error = kept;
    rg_status status = rg_read_text(s->reader, place, &word);
    if (status == RG_OK && strpbrk(word, ",\"\n\r\t"))
        return rg_place_fail(s->reader, place, RG_INVALID_ARGUMENT,
                             "a value has no commas, quotes or control characters");
    return status == RG_OK ? keep_text(s, word, text) : status;
}

static rg_status read_list(source *s, const rg_place *place, rg_study_parameter *parameter) {
    size_t count = rg_list_size(place);
    if (count == 0)
        return rg_place_fail(s->reader, place, RG_INVALID_ARGUMENT,
                             "an empty list means no runs; give at least one value");
    rg_status status = make_list(s, parameter, count);
    for (size_t i = 0; i < count && status == RG_OK; i++) {
        rg_place entry = rg_list_at(s->reader, place, i);
        status = read_entry(s, &entry, &parameter->texts[i]);
    }
    return status;
}

/* {from, to, count, scale}: evenly spaced numbers, or factors. */
static rg_status read_range(source *s, const rg_place *place, const rg_place *keys,
                            rg_study_parameter *parameter) {
    static const char *const scales[] = {"linear", "log"};
    double from = 0, to = 0;
    uint64_t count = 0;
    size_t scale = 0;
    for (int k = VALUES_FROM; k <= VALUES_COUNT; k++)
        if (!rg_given(&keys[k]))
            return rg_place_fail(s->reader, place, RG_INVALID_ARGUMENT,
                                 "a range needs from, to and count; \"%s\" is missing",
                                 values_names[k]);
    rg_status status = rg_read_number(s->reader, &keys[VALUES_FROM], &from);
    if (status == RG_OK)
        status = rg_read_number(s->reader, &keys[VALUES_TO], &to);
    if (status == RG_OK)
        status = rg_read_whole(s->reader, &keys[VALUES_COUNT], 1, LIST_MOST, &count);
    if (status == RG_OK && rg_given(&keys[VALUES_SCALE]))
        status = rg_read_choice(s->reader, &keys[VALUES_SCALE], scales, 2, &scale);
    if (status == RG_OK && scale == 1 && !(from > 0 && to > 0))
        status = rg_place_fail(s->reader, place, RG_INVALID_ARGUMENT,
                               "a range on a log scale is of positive numbers");
    if (status == RG_OK)
        status = make_list(s, parameter, (size_t)count);
    rg_study_parameter span = {
        .kind = scale ? RG_STUDY_LOG_UNIFORM : RG_STUDY_UNIFORM, .a = from, .b = to};
    for (size_t i = 0; i < parameter->count && status == RG_OK; i++) {
        double n = count > 1 ? (double)(count - 1) : 1, k = (double)i;
        double value = i + 1 == count && count > 1 ? to
                       : scale                     ? rg_study_value(&span, k / n)
                                                   : ((n - k) * from + k * to) / n;
        char text[RG_NUMBER_SIZE];
        status = keep_text(s, rg_format_double(value, text), &parameter->texts[i]);
    }
    return status;
}

static rg_status read_distribution(source *s, const rg_place *place, int kind,
                                   rg_study_parameter *parameter) {
    double pair[2];
    rg_status status = rg_read_numbers(s->reader, place, 2, pair);
    if (status != RG_OK)
        return status;
    parameter->kind = (rg_study_kind)(RG_STUDY_UNIFORM + kind);
    parameter->a = pair[0], parameter->b = pair[1];
    parameter->dimension = s->study->dimensions++;
    if (parameter->kind == RG_STUDY_NORMAL)
        return pair[1] >= 0 ? RG_OK
                            : rg_place_fail(s->reader, place, RG_INVALID_ARGUMENT,
                                            "[mean, standard deviation]: the latter is negative");
    if (!(pair[0] <= pair[1]))
        return rg_place_fail(s->reader, place, RG_INVALID_ARGUMENT,
                             "[lowest, highest]: they are reversed");
    if (parameter->kind == RG_STUDY_LOG_UNIFORM && !(pair[0] > 0))
        return rg_place_fail(s->reader, place, RG_INVALID_ARGUMENT,
                             "a log-uniform distribution is of positive numbers");
    if (parameter->kind == RG_STUDY_WHOLE &&
        (pair[0] != floor(pair[0]) || pair[1] != floor(pair[1])))
        return rg_place_fail(s->reader, place, RG_INVALID_ARGUMENT, "the ends must be whole");
    return RG_OK;
}

static rg_status read_values(source *s, const rg_place *place, rg_study_parameter *parameter) {
    if (rg_is_list(place))
        return read_list(s, place, parameter);
    if (rg_is_scalar(place)) {
        rg_status status = make_list(s, parameter, 1);
        return status == RG_OK ? read_entry(s, place, &parameter->texts[0]) : status;
    }
    rg_place keys[VALUES_KEYS];
    rg_status status = rg_read_keys(s->reader, place, &values_keys, keys);
    if (status != RG_OK)
        return status;
    int given = 0, which = -1;
    for (int k = 0; k < VALUES_KEYS; k++)
        if (rg_given(&keys[k]) && (k < VALUES_FROM || which < VALUES_FROM))
            given++, which = k;
    if (which >= VALUES_FROM && given == 1)
        return read_range(s, place, keys, parameter);
    if (given != 1 || which < 0)
        return rg_place_fail(s->reader, place, RG_INVALID_ARGUMENT,
                             "either a range (from, to, count) or one distribution");
    return read_distribution(s, &keys[which], which, parameter);
}

static rg_status read_parameters(source *s, const rg_place *place) {
    rg_status status = rg_require_mapping(s->reader, place, "a mapping of parameters");
    size_t count = status == RG_OK ? rg_mapping_size(place) : 0;
    for (size_t i = 0; i < count && status == RG_OK; i++) {
        rg_place value = rg_mapping_at(s->reader, place, i, NULL);
        rg_study_parameter *parameter;
        status = add_parameter(s, &value, value.key, &parameter);
        if (status == RG_OK)
            status = read_values(s, &value, parameter);
    }
    return status;
}

/* ---- tables ---- */

static rg_status add_cell(source *s, const char *text, size_t size) {
    rg_study *study = s->study;
    size_t index = study->cell_count;
    if (rg_array_grow(&study->allocator, &study->cells, &study->cell_capacity, index + 1))
        return no_memory(s);
    study->cells[index] = rg_allocate(&study->allocator, size + 1, 1);
    if (!study->cells[index])
        return no_memory(s);
    memcpy(study->cells[index], text, size);
    study->cells[index][size] = '\0';
    study->cell_count++;
    return RG_OK;
}

static size_t trim(const char **text, size_t size) {
    while (size > 0 && strchr(" \t\r\"", **text))
        ++*text, size--;
    while (size > 0 && strchr(" \t\r\"", (*text)[size - 1]))
        size--;
    return size;
}

/* One line of the table: names of columns in the first, else values. */
static rg_status read_row(source *s, const rg_place *place, const char *path, const char *line,
                          size_t size, size_t number) {
    rg_study *study = s->study;
    size_t column = 0;
    for (const char *at = line, *end = line + size; at <= end; column++) {
        const char *comma = memchr(at, ',', (size_t)(end - at)), *cell = at;
        size_t length = trim(&cell, (size_t)((comma ? comma : end) - at));
        at = (comma ? comma : end) + 1;
        if (length == 0 || length >= RG_STUDY_NAME_SIZE)
            return rg_place_fail(s->reader, place, RG_SYNTAX, "%s:%zu: column %zu is %s", path,
                                 number, column + 1, length ? "too long" : "empty");
        if (number == 1) {
            char name[RG_STUDY_NAME_SIZE];
            rg_study_parameter *parameter;
            memcpy(name, cell, length);
            name[length] = '\0';
            rg_status status = add_parameter(s, place, name, &parameter);
            if (status != RG_OK)
                return status;
            parameter->kind = RG_STUDY_TABLE;
            parameter->column = column;
            continue;
        }
        if (column >= study->column_count)
            break;
        rg_status status = add_cell(s, cell, length);
        if (status != RG_OK)
            return status;
    }
    if (number == 1)
        study->column_count = column;
    else if (column != study->column_count)
        return rg_place_fail(s->reader, place, RG_SYNTAX,
                             "%s:%zu: %s columns than the %zu of its first line", path, number,
                             column < study->column_count ? "fewer" : "more", study->column_count);
    else
        study->row_count++;
    return RG_OK;
}

/* `name` as seen from the study's folder. */
static rg_status join_path(source *s, const char *name, rg_buffer *path) {
    const char *directory = s->reader->directory;
    if (directory && directory[0] && name[0] != '/')
        rg_buffer_print(path, "%s/%s", directory, name);
    else
        rg_buffer_print(path, "%s", name);
    rg_buffer_append(path, "", 1);
    return path->failed ? no_memory(s) : RG_OK;
}

static rg_status read_table(source *s, const rg_place *place) {
    const char *name;
    rg_status status = rg_read_text(s->reader, place, &name);
    rg_buffer path = rg_buffer_make(&s->study->allocator), text = path;
    rg_error cause = {0};
    if (status == RG_OK)
        status = join_path(s, name, &path);
    if (status == RG_OK &&
        (status = rg_scene_load_file(RG_NAMED_BY_FILE, path.data, &s->reader->limits, &text,
                                     &cause)) != RG_OK)
        status = rg_place_wrap(s->reader, place, status, &cause);
    size_t number = 0;
    const char *end = text.data ? text.data + text.size : NULL;
    for (const char *at = text.data; status == RG_OK && at < end;) {
        const char *newline = memchr(at, '\n', (size_t)(end - at)), *line = at;
        size_t size = (size_t)((newline ? newline : end) - at);
        at = (newline ? newline : end) + 1;
        number++;
        if (number == 1 || trim(&line, size) > 0)
            status = read_row(s, place, path.data, line, (size_t)((newline ? newline : end) - line),
                              number);
    }
    if (status == RG_OK && s->study->row_count == 0)
        status = rg_place_fail(s->reader, place, RG_INVALID_ARGUMENT, "%s has no rows", path.data);
    s->study->info.hash = rg_hash_bytes(s->study->info.hash, text.data ? text.data : "", text.size);
    rg_buffer_free(&text);
    rg_buffer_free(&path);
    return status;
}

/* ---- the rest of the file ---- */

static rg_status read_scene_name(source *s, const rg_place *place) {
    const char *name;
    rg_status status = rg_read_text(s->reader, place, &name);
    if (status != RG_OK)
        return status;
    for (size_t i = 0; i < rg_builtin_count(); i++)
        if (strcmp(rg_builtin_at(i).name, name) == 0)
            return keep_text(s, name, &s->study->scene);
    rg_buffer path = rg_buffer_make(&s->study->allocator), text = path;
    rg_error cause = {0};
    status = join_path(s, name, &path);
    if (status == RG_OK) /* its text is part of what the study is */
        status = rg_scene_load_file(RG_NAMED_BY_FILE, path.data, &s->reader->limits, &text, &cause);
    if (status != RG_OK && cause.text[0])
        status = rg_place_fail(s->reader, place, status, "neither a built-in scene nor a file: %s",
                               cause.text);
    if (status == RG_OK)
        status = keep_text(s, path.data, &s->study->scene);
    s->study->info.hash = rg_hash_bytes(s->study->info.hash, text.data ? text.data : "", text.size);
    rg_buffer_free(&text);
    rg_buffer_free(&path);
    return status;
}

static rg_status read_word(source *s, const rg_place *place, char **kept) {
    const char *word;
    if (!rg_given(place))
        return RG_OK;
    rg_status status = rg_read_text(s->reader, place, &word);
    return status == RG_OK ? keep_text(s, word, kept) : status;
}

static rg_status read_positive(source *s, const rg_place *place, const char *what, double *value) {
    return rg_given(place) ? rg_read_positive(s->reader, place, what, value) : RG_OK;
}

/* As it is written, a number too; what it means is only known in a run. */
static rg_status read_expression(source *s, const rg_place *place, char **kept) {
    if (!rg_given(place))
        return RG_OK;
    if (!rg_is_scalar(place))
        return rg_place_fail(s->reader, place, RG_WRONG_TYPE, "expected an expression");
    return keep_text(s, (const char *)place->node->data.scalar.value, kept);
}

static rg_status read_stop(source *s, const rg_place *place) {
    rg_place keys[STOP_KEYS];
    const char *kinds[RG_STEP_EVENT_KIND_COUNT];
    size_t kind;
    rg_status status = rg_read_keys(s->reader, place, &stop_keys, keys);
    if (status == RG_OK)
        status = read_positive(s, &keys[STOP_REST], "a speed of rest", &s->study->info.rest_speed);
    if (status == RG_OK)
        status = read_expression(s, &keys[STOP_WHEN], &s->study->stop_when);
    if (status != RG_OK || !rg_given(&keys[STOP_EVENT]))
        return status;
    for (int k = 0; k < RG_STEP_EVENT_KIND_COUNT; k++)
        kinds[k] = rg_step_event_name((rg_step_event_kind)k);
    status = rg_read_choice(s->reader, &keys[STOP_EVENT], kinds, RG_STEP_EVENT_KIND_COUNT, &kind);
    return status == RG_OK ? keep_text(s, kinds[kind], &s->study->stop_event) : status;
}

static rg_status read_limits(source *s, const rg_place *place) {
    rg_place keys[LIMITS_KEYS];
    rg_status status = rg_read_keys(s->reader, place, &limits_keys, keys);
    if (status == RG_OK)
        status = read_positive(s, &keys[LIMITS_SECONDS], "a limit", &s->study->info.run_seconds);
    if (status == RG_OK)
        status =
            read_positive(s, &keys[LIMITS_MEGABYTES], "a limit", &s->study->info.run_megabytes);
    return status;
}

static rg_status read_bodies(source *s, const rg_place *place) {
    rg_status status = rg_require_list(s->reader, place, "a list of names of bodies");
    size_t count = status == RG_OK ? rg_list_size(place) : 0;
    s->study->bodies = rg_allocate_zeroed(&s->study->allocator, count, sizeof *s->study->bodies);
    if (!s->study->bodies)
        return no_memory(s);
    for (size_t i = 0; i < count && status == RG_OK; i++) {
        rg_place entry = rg_list_at(s->reader, place, i);
        status = read_word(s, &entry, &s->study->bodies[i]);
        s->study->info.body_count += status == RG_OK;
    }
    return status;
}

/* NAME: EXPRESSION, ... */
static rg_status read_expressions(source *s, const rg_place *place, bool is_time) {
    rg_study *study = s->study;
    if (!rg_given(place))
        return RG_OK;
    rg_status status = rg_require_mapping(s->reader, place, "expressions by name");
    size_t count = status == RG_OK ? rg_mapping_size(place) : 0;
    for (size_t i = 0; i < count && status == RG_OK; i++) {
        const yaml_node_t *key;
        rg_place entry = rg_mapping_at(s->reader, place, i, &key);
        const char *name = (const char *)key->data.scalar.value;
        if (key->type != YAML_SCALAR_NODE || !rg_expression_is_name(name))
            return rg_place_fail(s->reader, &entry, RG_INVALID_ARGUMENT,
                                 "a column's name has letters, digits and _, no digit first");
        if (rg_array_grow(&study->allocator, &study->expressions, &study->expression_capacity,
                          study->expression_count + 1))
            return no_memory(s);
        rg_study_expression *e = &study->expressions[study->expression_count++];
        *e = (rg_study_expression){.is_time = is_time};
        status = keep_text(s, name, &e->name);
        if (status == RG_OK)
            status = read_expression(s, &entry, &e->text);
    }
    return status;
}

/* Numbers of runs; draws that nothing draws from, and distributions without draws, are mistakes. */
static rg_status count_runs(source *s, const rg_place *top, const rg_place *keys) {
    rg_study *study = s->study;
    double runs = (double)study->draws * (double)(study->row_count ? study->row_count : 1);
    double grid = 1;
    for (size_t i = 0; i < study->info.parameter_count; i++)
        if (study->parameters[i].kind == RG_STUDY_LIST)
            grid *= (double)study->parameters[i].count;
    runs *= grid;
    if (runs > RG_STUDY_RUNS_MOST)
        return rg_place_fail(s->reader, top, RG_LIMIT_EXCEEDED,
                             "%.3g runs, more than the %.3g that a study may have; take fewer "
                             "values, or draws instead of a grid",
                             runs, (double)RG_STUDY_RUNS_MOST);
    if (study->dimensions == 0 && study->draws > 1)
        return rg_place_fail(s->reader, &keys[STUDY_DRAWS], RG_INVALID_ARGUMENT,
                             "no parameter has a distribution to draw from");
    if (study->sampling == RG_SAMPLING_SOBOL && study->dimensions > RG_SOBOL_DIMENSIONS)
        return rg_place_fail(s->reader, &keys[STUDY_SAMPLING], RG_LIMIT_EXCEEDED,
                             "sobol has at most %d drawn parameters, not %zu", RG_SOBOL_DIMENSIONS,
                             study->dimensions);
    study->grid = (uint64_t)grid;
    study->info.runs = (uint64_t)runs;
    return RG_OK;
}

static rg_status read_design(source *s, const rg_place *keys) {
    static const char *const samplings[] = {"random", "latin-hypercube", "sobol"};
    size_t sampling = 0;
    rg_status status = RG_OK;
    s->study->draws = 1;
    if (rg_given(&keys[STUDY_TABLE]))
        status = read_table(s, &keys[STUDY_TABLE]);
    if (status == RG_OK && rg_given(&keys[STUDY_PARAMETERS]))
        status = read_parameters(s, &keys[STUDY_PARAMETERS]);
    if (status == RG_OK && rg_given(&keys[STUDY_DRAWS]))
        status =
            rg_read_whole(s->reader, &keys[STUDY_DRAWS], 1, RG_STUDY_RUNS_MOST, &s->study->draws);
    if (status == RG_OK && rg_given(&keys[STUDY_SAMPLING]))
        status = rg_read_choice(s->reader, &keys[STUDY_SAMPLING], samplings, 3, &sampling);
    if (status == RG_OK && rg_given(&keys[STUDY_SEED]))
        status = rg_read_bits(s->reader, &keys[STUDY_SEED], &s->study->seed);
    s->study->sampling = (rg_sampling)sampling;
    return status;
}

static rg_status read_settings(source *s, const rg_place *keys) {
    rg_study *study = s->study;
    rg_status status = read_word(s, &keys[STUDY_METHOD], &study->method);
    if (status == RG_OK)
        status = read_word(s, &keys[STUDY_SOLVER], &study->solver);
    if (status == RG_OK)
        status = read_word(s, &keys[STUDY_IMPACT], &study->impact);
    if (status == RG_OK)
        status = read_positive(s, &keys[STUDY_STEP], "a step", &study->info.step);
    if (status == RG_OK)
        status = read_positive(s, &keys[STUDY_DURATION], "a duration", &study->info.duration);
    if (status == RG_OK && rg_given(&keys[STUDY_STOP]))
        status = read_stop(s, &keys[STUDY_STOP]);
    if (status == RG_OK && rg_given(&keys[STUDY_LIMITS]))
        status = read_limits(s, &keys[STUDY_LIMITS]);
    if (status == RG_OK && rg_given(&keys[STUDY_BODIES]))
        status = read_bodies(s, &keys[STUDY_BODIES]);
    if (status == RG_OK)
        status = read_expressions(s, &keys[STUDY_TIMES], true);
    if (status == RG_OK)
        status = read_expressions(s, &keys[STUDY_COLUMNS], false);
    return status;
}

static rg_status read_study(source *s) {
    rg_place top = {NULL, yaml_document_get_root_node(&s->reader->document), NULL, 0};
    rg_place keys[STUDY_KEYS];
    uint64_t version;
    rg_status status = rg_read_keys(s->reader, &top, &study_keys, keys);
    if (status != RG_OK)
        return status;
    if (!rg_given(&keys[STUDY_VERSION]) || !rg_given(&keys[STUDY_SCENE]))
        return rg_place_fail(s->reader, &top, RG_INVALID_ARGUMENT,
                             "a study begins with \"study: 1\" and names its scene");
    status = rg_read_whole(s->reader, &keys[STUDY_VERSION], VERSION, VERSION, &version);
    if (status == RG_OK)
        status = read_scene_name(s, &keys[STUDY_SCENE]);
    if (status == RG_OK)
        status = read_design(s, keys);
    if (status == RG_OK)
        status = read_settings(s, keys);
    if (status == RG_OK)
        status = count_runs(s, &top, keys);
    if (status == RG_OK) {
        s->study->values = rg_allocate(&s->study->allocator, s->study->info.parameter_count,
                                       sizeof *s->study->values);
        status = s->study->values ? rg_study_prepare(s->study) : RG_OUT_OF_MEMORY;
        if (status != RG_OK)
            status = no_memory(s);
    }
    return status;
}

static rg_status read_text(rg_study *study, const char *path, const rg_buffer *text,
                           const char *directory, rg_error *error) {
    rg_error scratch;
    rg_reader reader = {.file = path,
                        .directory = directory,
                        .allocator = study->allocator,
                        .limits = rg_scene_limits_default(),
                        .error = error ? error : &scratch,
                        .text = rg_buffer_make(&study->allocator)};
    source s = {&reader, study};
    study->info.hash = rg_hash_bytes(rg_hash_begin(), text->data ? text->data : "", text->size);
    rg_status status = rg_reader_load(&reader, text->data ? text->data : "", text->size);
    if (status == RG_OK)
        status = rg_reader_push_variable(&reader, "pi", RG_PI, false);
    if (status == RG_OK)
        status = read_study(&s);
    rg_reader_unload(&reader);
    rg_release(&study->allocator, reader.variables);
    rg_buffer_free(&reader.text);
    return status;
}

rg_status rg_study_read_file(const char *path, const rg_allocator *allocator, rg_study **study,
                             rg_error *error) {
    rg_study *made = rg_object_make(rg_study, allocator);
    *study = NULL;
    if (!made)
        return rg_fail(error, RG_OUT_OF_MEMORY, "%s: not enough memory for this study", path);
    rg_scene_limits limits = rg_scene_limits_default();
    rg_buffer text = rg_buffer_make(&made->allocator);
    rg_buffer directory = rg_buffer_make(&made->allocator);
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) + (slash == path) : 0;
    rg_buffer_append(&directory, path, length);
    rg_buffer_append(&directory, "", 1);
    rg_status status = rg_scene_load_file(RG_NAMED_BY_CALLER, path, &limits, &text, error);
    if (status == RG_OK && directory.failed)
        status = rg_fail(error, RG_OUT_OF_MEMORY, "%s: not enough memory for this study", path);
    if (status == RG_OK)
        status = read_text(made, path, &text, directory.data, error);
    rg_buffer_free(&text);
    rg_buffer_free(&directory);
    if (status == RG_OK)
        *study = made;
    else
        rg_study_destroy(made);
    return status;
}

void rg_study_destroy(rg_study *study) {
    if (!study)
        return;
    const rg_allocator *memory = &study->allocator;
    for (size_t i = 0; i < study->info.parameter_count; i++) {
        rg_release_list(memory, (void **)study->parameters[i].texts, study->parameters[i].count);
        rg_release_all(memory, study->parameters[i].texts, study->names[i]);
    }
    rg_release_list(memory, (void **)study->bodies, study->info.body_count);
    rg_release_list(memory, (void **)study->cells, study->cell_count);
    for (size_t i = 0; i < study->expression_count; i++)
        rg_release_all(memory, study->expressions[i].name, study->expressions[i].text);
    rg_release_all(memory, study->names, study->parameters, study->bodies, study->cells,
                   study->scene, study->method, study->solver, study->impact, study->strata,
                   study->values, study->stop_event, study->stop_when, study->expressions);
    rg_object_release(study);
}

rg_study_info rg_study_get_info(const rg_study *study) {
    rg_study_info info = study->info;
    info.scene = study->scene;
    info.method = study->method, info.solver = study->solver, info.impact = study->impact;
    info.names = (const char *const *)study->names;
    info.bodies = (const char *const *)study->bodies;
    info.stop_event = study->stop_event;
    info.figure_count = study->expression_count;
    return info;
}

void rg_study_parameters(rg_study *study, uint64_t run, rg_scene_parameter *parameters) {
    uint64_t combination = run / study->draws % study->grid;
    uint64_t row = run / study->draws / study->grid;
    for (size_t i = study->info.parameter_count; i-- > 0;) {
        const rg_study_parameter *p = &study->parameters[i];
        parameters[i].name = study->names[i];
        if (p->kind == RG_STUDY_LIST) {
            parameters[i].value = p->texts[combination % p->count];
            combination /= p->count;
        } else if (p->kind == RG_STUDY_TABLE) {
            parameters[i].value = study->cells[(size_t)row * study->column_count + p->column];
        } else {
            double unit = rg_study_unit(study, run, p->dimension);
            parameters[i].value = rg_format_double(rg_study_value(p, unit), study->values[i]);
        }
    }
}
