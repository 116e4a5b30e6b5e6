/* From text to a document that is safe to walk.
 *
 * libyaml composes the nodes; it resolves an alias by pointing at the node that it names, so that a
 * document of a few hundred bytes can stand for more values than there are atoms. One survey over
 * the nodes, each looked at once, counts the values with aliases followed (dynamic programming over
 * the graph), and refuses before anything is read: nodes that contain themselves, nesting past the
 * limit, keys given twice, keys that are no words, tags, and texts with a zero byte.
 *
 * libyaml takes its memory from malloc, as it has no hook for another allocator.
 * Tested by tests/scene/test_broken.c. */
#include "scene/scene_reader.h"

#include <stdlib.h>
#include <string.h>

/* Aliases may make this many values per byte of text, and this many besides: enough for any honest
 * use, a small multiple of the work that the text itself asks for. */
enum { ALIAS_FACTOR = 16, ALIAS_ALLOWANCE = 1000000 };

/* Brackets open at once before libyaml gets to see the text, whose scanner takes time quadratic in
 * their number. Far more than any scene has: brackets in comments and texts count, too. */
enum { OPEN_BRACKETS_MOST = 10000 };

/* Line and column of a byte offset, for the errors of libyaml that have no mark. */
static void find_offset(const char *text, size_t size, size_t offset, int *line, int *column) {
    *line = *column = 1;
    for (size_t i = 0; i < offset && i < size; i++)
        if (text[i] == '\n') {
            ++*line;
            *column = 1;
        } else {
            ++*column;
        }
}

static rg_status fail_yaml(rg_reader *reader, const yaml_parser_t *parser, const char *text,
                           size_t size) {
    const char *problem = parser->problem ? parser->problem : "unknown problem";
    if (parser->error == YAML_MEMORY_ERROR)
        return rg_reader_no_memory(reader);
    if (parser->error == YAML_READER_ERROR) {
        int line, column;
        find_offset(text, size, parser->problem_offset, &line, &column);
        return rg_fail_at(reader->error, RG_SYNTAX, reader->file, line, column,
                          "not readable as text: %s; a scene is UTF-8 text", problem);
    }
    int line = (int)parser->problem_mark.line + 1, column = (int)parser->problem_mark.column + 1;
    size_t at = parser->problem_mark.index;
    if (at < size && text[at] == '\t')
        return rg_fail_at(reader->error, RG_SYNTAX, reader->file, line, column,
                          "not valid YAML: a tab; indent with spaces");
    if (strstr(problem, "undefined alias"))
        return rg_fail_at(reader->error, RG_SYNTAX, reader->file, line, column,
                          "not valid YAML: %s; put an expression that begins with * in quotes",
                          problem);
    if (parser->context)
        return rg_fail_at(
            reader->error, RG_SYNTAX, reader->file, line, column,
            "not valid YAML: %s, %s that begins at line %d; check brackets, commas and indentation",
            problem, parser->context, (int)parser->context_mark.line + 1);
    return rg_fail_at(reader->error, RG_SYNTAX, reader->file, line, column,
                      "not valid YAML: %s; check brackets, commas and indentation", problem);
}

static rg_status check_brackets(rg_reader *reader, const char *text, size_t size) {
    long open = 0;
    for (size_t i = 0; i < size; i++) {
        open += (text[i] == '[' || text[i] == '{') - (text[i] == ']' || text[i] == '}');
        if (open <= OPEN_BRACKETS_MOST)
            continue;
        int line, column;
        find_offset(text, size, i, &line, &column);
        return rg_fail_at(reader->error, RG_LIMIT_EXCEEDED, reader->file, line, column,
                          "%d brackets are open here; a scene needs no more than ten levels",
                          OPEN_BRACKETS_MOST);
    }
    return RG_OK;
}

static rg_status survey(rg_reader *reader, const rg_place *place, int depth);

static bool tag_is_plain(const yaml_node_t *node) {
    const char *tag = (const char *)node->tag;
    switch (node->type) {
    case YAML_SCALAR_NODE:
        return strcmp(tag, YAML_STR_TAG) == 0;
    case YAML_SEQUENCE_NODE:
        return strcmp(tag, YAML_SEQ_TAG) == 0;
    default:
        return strcmp(tag, YAML_MAP_TAG) == 0;
    }
}

static rg_status check_node(rg_reader *reader, const rg_place *place, const yaml_node_t *node) {
    char quoted[RG_QUOTE_SIZE];
    if (!tag_is_plain(node))
        return rg_place_fail_at_node(reader, place, node, RG_SYNTAX,
                                     "has the tag %s; tags are not part of the format, remove it",
                                     rg_quote_word((const char *)node->tag, quoted));
    if (node->type == YAML_SCALAR_NODE &&
        memchr(node->data.scalar.value, 0, node->data.scalar.length))
        return rg_place_fail_at_node(reader, place, node, RG_SYNTAX,
                                     "the text contains a zero byte; remove it");
    return RG_OK;
}

typedef struct sorted_key {
    const char *text;
    const yaml_node_t *node;
    size_t order;
} sorted_key;

static int compare_keys(const void *left, const void *right) {
    const sorted_key *a = left, *b = right;
    int order = strcmp(a->text, b->text);
    return order ? order : a->order < b->order ? -1 : 1;
}

static rg_status check_keys_unique(rg_reader *reader, const rg_place *place) {
    size_t count = rg_mapping_size(place);
    if (count < 2)
        return RG_OK;
    sorted_key *keys = rg_allocate(&reader->allocator, count, sizeof *keys);
    if (!keys)
        return rg_reader_no_memory(reader);
    for (size_t i = 0; i < count; i++) {
        rg_place value = rg_mapping_at(reader, place, i, &keys[i].node);
        keys[i].text = value.key;
        keys[i].order = i;
    }
    qsort(keys, count, sizeof *keys, compare_keys);
    const sorted_key *again = NULL, *first = NULL;
    for (size_t i = 1; i < count; i++)
        if (strcmp(keys[i - 1].text, keys[i].text) == 0 &&
            (!again || keys[i].order < again->order)) {
            first = &keys[i - 1];
            again = &keys[i];
        }
    rg_status status = RG_OK;
    if (again) {
        rg_place twice = {place, NULL, again->text, 0};
        status = rg_place_fail_at_node(reader, &twice, again->node, RG_DUPLICATE_NAME,
                                       "the key is given twice, first at line %d; keep one",
                                       (int)first->node->start_mark.line + 1);
    }
    rg_release(&reader->allocator, keys);
    return status;
}

static rg_status survey_mapping(rg_reader *reader, const rg_place *place, int depth,
                                rg_node_info *sum) {
    size_t count = rg_mapping_size(place);
    for (size_t i = 0; i < count; i++) {
        yaml_node_pair_t pair = place->node->data.mapping.pairs.start[i];
        const yaml_node_t *key = yaml_document_get_node(&reader->document, pair.key);
        if (key->type != YAML_SCALAR_NODE)
            return rg_place_fail_at_node(reader, place, key, RG_WRONG_TYPE,
                                         "a key must be a word, not %s",
                                         key->type == YAML_MAPPING_NODE ? "a mapping" : "a list");
        rg_status status = check_node(reader, place, key);
        if (status != RG_OK)
            return status;
        rg_place value = rg_mapping_at(reader, place, i, NULL);
        if ((status = survey(reader, &value, depth + 1)) != RG_OK)
            return status;
        const rg_node_info *info = &reader->infos[rg_node_index(reader, value.node)];
        sum->values += info->values;
        sum->height = info->height >= sum->height ? info->height + 1 : sum->height;
    }
    rg_status status = check_keys_unique(reader, place);
    rg_recover(reader, &status);
    return status;
}

static rg_status survey_list(rg_reader *reader, const rg_place *place, int depth,
                             rg_node_info *sum) {
    size_t count = rg_list_size(place);
    for (size_t i = 0; i < count; i++) {
        rg_place item = rg_list_at(reader, place, i);
        rg_status status = survey(reader, &item, depth + 1);
        if (status != RG_OK)
            return status;
        const rg_node_info *info = &reader->infos[rg_node_index(reader, item.node)];
        sum->values += info->values;
        sum->height = info->height >= sum->height ? info->height + 1 : sum->height;
    }
    return RG_OK;
}

/* Fills the info of the node and of all below it. */
static rg_status survey(rg_reader *reader, const rg_place *place, int depth) {
    rg_node_info *info = &reader->infos[rg_node_index(reader, place->node)];
    if (info->open)
        return rg_place_fail(reader, place, RG_SYNTAX,
                             "an alias makes this value contain itself; write the value out");
    if (depth + info->height > reader->limits.depth)
        return rg_place_fail(reader, place, RG_LIMIT_EXCEEDED,
                             "nested more than %d deep; a scene needs no more than ten levels",
                             reader->limits.depth);
    if (info->values)
        return RG_OK;
    rg_status status = check_node(reader, place, place->node);
    if (status != RG_OK)
        return status;
    info->open = true;
    rg_node_info sum = {.values = 1};
    if (rg_is_mapping(place))
        status = survey_mapping(reader, place, depth, &sum);
    else if (rg_is_list(place))
        status = survey_list(reader, place, depth, &sum);
    if (status != RG_OK)
        return status;
    uint64_t most = (uint64_t)reader->text_size * ALIAS_FACTOR + ALIAS_ALLOWANCE;
    if (sum.values > most)
        return rg_place_fail(reader, place, RG_LIMIT_EXCEEDED,
                             "aliases make %llu values of it; a text of this length may stand for "
                             "at most %llu",
                             (unsigned long long)sum.values, (unsigned long long)most);
    *info = sum;
    return RG_OK;
}

static rg_status survey_root(rg_reader *reader) {
    yaml_node_t *root = yaml_document_get_root_node(&reader->document);
    if (!root)
        return rg_fail_at(reader->error, RG_SYNTAX, reader->file, 1, 1,
                          "the file is empty; a scene is a mapping with keys such as bodies");
    size_t nodes = (size_t)(reader->document.nodes.top - reader->document.nodes.start);
    reader->infos = rg_allocate_zeroed(&reader->allocator, nodes, sizeof *reader->infos);
    reader->node_shapes =
        rg_allocate_zeroed(&reader->allocator, nodes, sizeof *reader->node_shapes);
    if (!reader->infos || !reader->node_shapes)
        return rg_reader_no_memory(reader);
    rg_place place = {NULL, root, NULL, 0};
    rg_status status = survey(reader, &place, 0);
    if (status == RG_OK && !rg_is_mapping(&place)) {
        char text[RG_DESCRIPTION_SIZE];
        return rg_place_fail(reader, &place, RG_WRONG_TYPE,
                             "a scene is a mapping with keys such as bodies, not %s",
                             rg_describe_node(reader, root, text));
    }
    return status;
}

/* One document, and nothing but the end behind it. */
static rg_status load_one(rg_reader *reader, yaml_parser_t *parser, const char *text, size_t size) {
    if (!yaml_parser_load(parser, &reader->document))
        return fail_yaml(reader, parser, text, size);
    reader->has_document = true;
    if (!yaml_document_get_root_node(&reader->document))
        return RG_OK;
    yaml_document_t second;
    if (!yaml_parser_load(parser, &second))
        return fail_yaml(reader, parser, text, size);
    const yaml_node_t *root = yaml_document_get_root_node(&second);
    rg_status status = RG_OK;
    if (root)
        status = rg_fail_at(reader->error, RG_SYNTAX, reader->file, (int)root->start_mark.line + 1,
                            (int)root->start_mark.column + 1,
                            "a second document begins here; a scene is one document");
    yaml_document_delete(&second);
    return status;
}

rg_status rg_reader_load(rg_reader *reader, const char *text, size_t size) {
    if (size > reader->limits.bytes)
        return rg_fail(reader->error, RG_LIMIT_EXCEEDED,
                       "%s: has %zu bytes; a scene file may have at most %zu", reader->file, size,
                       reader->limits.bytes);
    reader->text_size = size;
    rg_status status = check_brackets(reader, text, size);
    if (status != RG_OK)
        return status;
    yaml_parser_t parser;
    if (!yaml_parser_initialize(&parser))
        return rg_reader_no_memory(reader);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, size);
    status = load_one(reader, &parser, text, size);
    yaml_parser_delete(&parser);
    if (status == RG_OK)
        status = survey_root(reader);
    return status;
}

void rg_reader_unload(rg_reader *reader) {
    if (reader->has_document)
        yaml_document_delete(&reader->document);
    reader->has_document = false;
    rg_release(&reader->allocator, reader->infos);
    rg_release(&reader->allocator, reader->node_shapes);
    reader->infos = NULL;
    reader->node_shapes = NULL;
}
