/* XML to elements, by expat: small, streaming, with line and column of everything, and without any
 * knowledge of the network. Documents with a DTD are refused: robots have none, and with them go
 * entity bombs and external entities. Depth and number of elements are bounded.
 * Tested by tests/scene/test_robot.c. */
#include "scene/scene_robot.h"

#include <expat.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { DEPTH_MOST = 100, ELEMENTS_MOST = 200000, PARSE_CHUNK = 1 << 20, INCLUDES_MOST = 200 };

typedef struct parser {
    rg_robot *robot;
    XML_Parser xml;
    const char *file;
    rg_xml_node *root, *open;
    int depth;
    rg_buffer text; /* since the last element began */
    rg_status status;
} parser;

void *rg_robot_take(rg_robot *robot, size_t size) {
    void *memory = rg_arena_take(&robot->arena, 1, size);
    if (memory)
        memset(memory, 0, size);
    return memory;
}

char *rg_robot_copy(rg_robot *robot, const char *text, size_t size) {
    char *copy = rg_robot_take(robot, size + 1);
    if (copy)
        memcpy(copy, text, size);
    return copy;
}

rg_status rg_robot_no_memory(rg_robot *robot) {
    return rg_fail(robot->error, RG_OUT_OF_MEMORY, "%s: not enough memory for this scene",
                   robot->source->name);
}

rg_status rg_robot_fail(rg_robot *robot, const rg_xml_node *node, rg_status status,
                        const char *format, ...) {
    char text[RG_ERROR_TEXT_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return rg_fail_at(robot->error, status, node->file, node->line, node->column, "%s: %s",
                      node->name, text);
}

const char *rg_xml_get(const rg_xml_node *node, const char *name) {
    for (const rg_xml_attribute *a = node->attributes; a; a = a->next)
        if (strcmp(a->name, name) == 0)
            return a->value;
    return NULL;
}

const char *rg_xml_value(const rg_xml_node **node, const char *name) {
    const char *value = rg_xml_get(*node, name);
    const rg_xml_node *child = value ? NULL : rg_xml_child(*node, name);
    if (!child)
        return value;
    *node = child;
    return child->text ? child->text : "";
}

rg_xml_node *rg_xml_child(const rg_xml_node *node, const char *name) {
    for (rg_xml_node *child = node->first; child; child = child->next)
        if (strcmp(child->name, name) == 0)
            return child;
    return NULL;
}

/* ---- what expat calls ---- */

static int line_of(const parser *p) {
    XML_Size line = XML_GetCurrentLineNumber(p->xml);
    return line > INT_MAX ? INT_MAX : (int)line;
}

static int column_of(const parser *p) {
    XML_Size column = XML_GetCurrentColumnNumber(p->xml);
    return column >= INT_MAX ? INT_MAX : (int)column + 1;
}

static void stop(parser *p, rg_status status, const char *why) {
    if (p->status == RG_OK)
        p->status =
            rg_fail_at(p->robot->error, status, p->file, line_of(p), column_of(p), "%s", why);
    XML_StopParser(p->xml, XML_FALSE);
}

static bool copy_attributes(parser *p, rg_xml_node *node, const XML_Char **pairs) {
    rg_xml_attribute **end = &node->attributes;
    for (; pairs[0]; pairs += 2) {
        rg_xml_attribute *a = rg_robot_take(p->robot, sizeof *a);
        if (!a)
            return false;
        a->name = rg_robot_copy(p->robot, pairs[0], strlen(pairs[0]));
        a->value = rg_robot_copy(p->robot, pairs[1], strlen(pairs[1]));
        if (!a->name || !a->value)
            return false;
        *end = a;
        end = &a->next;
    }
    return true;
}

static void XMLCALL begin_element(void *user, const XML_Char *name, const XML_Char **attributes) {
    parser *p = user;
    if (p->status != RG_OK)
        return;
    if (++p->depth > DEPTH_MOST) {
        stop(p, RG_LIMIT_EXCEEDED, "elements are nested more than 100 deep");
        return;
    }
    if (++p->robot->elements > ELEMENTS_MOST) {
        stop(p, RG_LIMIT_EXCEEDED, "there are more than 200000 elements");
        return;
    }
    rg_xml_node *node = rg_robot_take(p->robot, sizeof *node);
    if (!node || !(node->name = rg_robot_copy(p->robot, name, strlen(name))) ||
        !copy_attributes(p, node, attributes)) {
        p->status = rg_robot_no_memory(p->robot);
        XML_StopParser(p->xml, XML_FALSE);
        return;
    }
    node->file = p->file;
    node->line = line_of(p);
    node->column = column_of(p);
    node->parent = p->open;
    if (!p->open)
        p->root = node;
    else if (p->open->last)
        p->open->last = p->open->last->next = node;
    else
        p->open->first = p->open->last = node;
    p->open = node;
    p->text.size = 0;
}

static void XMLCALL take_text(void *user, const XML_Char *text, int length) {
    parser *p = user;
    if (p->status == RG_OK)
        rg_buffer_append(&p->text, text, (size_t)length);
}

static bool is_blank(const rg_buffer *text) {
    for (size_t i = 0; i < text->size; i++)
        if (!strchr(" \t\r\n", text->data[i]))
            return false;
    return true;
}

static void XMLCALL end_element(void *user, const XML_Char *name) {
    parser *p = user;
    (void)name;
    p->depth--;
    if (!p->open)
        return;
    if (!p->open->first && !is_blank(&p->text))
        p->open->text = rg_robot_copy(p->robot, p->text.data, p->text.size);
    if (p->text.failed || (!p->open->first && !is_blank(&p->text) && !p->open->text)) {
        p->status = rg_robot_no_memory(p->robot);
        XML_StopParser(p->xml, XML_FALSE);
    }
    p->open = p->open->parent;
    p->text.size = 0;
}

static void XMLCALL begin_doctype(void *user, const XML_Char *name, const XML_Char *system,
                                  const XML_Char *public, int has_subset) {
    (void)name, (void)system, (void)public, (void)has_subset;
    stop(user, RG_UNSUPPORTED, "a document type declaration (DTD) is not read; leave it out");
}

/* US-ASCII by the name that some tools write; expat knows the other. */
static int XMLCALL know_encoding(void *user, const XML_Char *name, XML_Encoding *encoding) {
    (void)user;
    for (int i = 0; i < 256; i++)
        encoding->map[i] = i < 128 ? i : -1;
    encoding->data = NULL;
    encoding->convert = NULL;
    encoding->release = NULL;
    return strcmp(name, "ASCII") == 0 || strcmp(name, "ascii") == 0;
}

rg_status rg_robot_parse(rg_robot *robot, const rg_scene_source *source, rg_xml_node **root) {
    *root = NULL;
    parser p = {
        .robot = robot, .xml = XML_ParserCreate(NULL), .text = rg_buffer_make(&robot->allocator)};
    p.file = rg_robot_copy(robot, source->name, strlen(source->name));
    if (!p.xml || !p.file) {
        if (p.xml)
            XML_ParserFree(p.xml);
        return rg_robot_no_memory(robot);
    }
    XML_SetUserData(p.xml, &p);
    XML_SetElementHandler(p.xml, begin_element, end_element);
    XML_SetCharacterDataHandler(p.xml, take_text);
    XML_SetUnknownEncodingHandler(p.xml, know_encoding, NULL);
    XML_SetStartDoctypeDeclHandler(p.xml, begin_doctype);
    size_t done = 0;
    bool good = true;
    do {
        size_t left = source->size - done, length = left < PARSE_CHUNK ? left : PARSE_CHUNK;
        good = XML_Parse(p.xml, source->text + done, (int)length, length == left) == XML_STATUS_OK;
        done += length;
    } while (good && done < source->size);
    if (!good && p.status == RG_OK)
        p.status = rg_fail_at(robot->error, RG_SYNTAX, p.file, line_of(&p), column_of(&p),
                              "this is not XML: %s", XML_ErrorString(XML_GetErrorCode(p.xml)));
    XML_ParserFree(p.xml);
    rg_buffer_free(&p.text);
    *root = p.root;
    return p.status;
}

rg_status rg_robot_include(rg_robot *robot, const rg_xml_node *node, const char *path,
                           rg_xml_node **root) {
    rg_buffer text = rg_buffer_make(&robot->allocator);
    rg_error cause = {0};
    if (!robot->limits.files)
        return rg_robot_fail(robot, node, RG_UNSUPPORTED, "files are not opened here");
    if (++robot->includes > INCLUDES_MOST)
        return rg_robot_fail(robot, node, RG_LIMIT_EXCEEDED, "there are more than 200 includes");
    rg_status status = rg_scene_load_file(RG_NAMED_BY_FILE, path, &robot->limits, &text, &cause);
    if (status != RG_OK)
        status = rg_robot_fail(robot, node, status, "%s", cause.text);
    robot->include_bytes += text.size;
    if (status == RG_OK && robot->include_bytes > robot->limits.bytes)
        status = rg_robot_fail(robot, node, RG_LIMIT_EXCEEDED,
                               "the includes are larger than %zu bytes", robot->limits.bytes);
    if (status == RG_OK)
        status = rg_robot_parse(robot,
                                &(rg_scene_source){text.data ? text.data : "", text.size, path,
                                                   robot->source->directory},
                                root);
    rg_buffer_free(&text);
    return status;
}
