/* What of a robot description is understood. A format is a table of its elements; everything in a
 * document that is not in it is named with its place, and either refused or listed: nothing is
 * dropped in silence.
 * Tested by tests/scene/test_robot_words.c. */
#include "scene/scene_robot.h"

#include <stdio.h>
#include <string.h>

static bool has_word(const char *words, const char *word) {
    size_t length = strlen(word);
    for (const char *at = words; at && (at = strstr(at, word)); at += length)
        if ((at == words || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
            return true;
    return false;
}

static const rg_robot_words *find_words(const rg_robot_vocabulary *v, const rg_xml_node *node) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", node->parent ? node->parent->name : "", node->name);
    for (size_t i = 0; i < v->count; i++)
        if (has_word(v->table[i].element, path))
            return &v->table[i];
    for (size_t i = 0; i < v->count; i++)
        if (has_word(v->table[i].element, node->name))
            return &v->table[i];
    return NULL;
}

rg_status rg_robot_leave_out(rg_robot *robot, const rg_xml_node *node, const char *what) {
    if (robot->options && robot->options->lenient) {
        char text[RG_ERROR_TEXT_SIZE];
        snprintf(text, sizeof text, "%s:%d:%d: %s: %s", node->file, node->line, node->column,
                 node->name, what);
        return rg_scene_leave_out(robot->scene, text) == RG_OK ? RG_OK : rg_robot_no_memory(robot);
    }
    return rg_robot_fail(robot, node, RG_UNSUPPORTED, "%s; --lenient leaves it out", what);
}

static const rg_robot_words text_alone = {.attributes = "="};

rg_status rg_robot_check_attributes(rg_robot *robot, rg_xml_node *node,
                                    const rg_robot_words *words) {
    char text[200];
    if (node->text && !has_word(words->attributes, "=")) {
        rg_status status = rg_robot_leave_out(robot, node, "its text is not understood");
        if (status != RG_OK)
            return status;
    }
    for (rg_xml_attribute **a = &node->attributes; *a;) {
        if (has_word(words->attributes, (*a)->name)) {
            a = &(*a)->next;
            continue;
        }
        bool space =
            strncmp((*a)->name, "xmlns", 5) == 0; /* names a namespace: nothing by itself */
        if (!space && !has_word(words->silent_attributes, (*a)->name)) {
            snprintf(text, sizeof text, "the attribute %.100s is not understood", (*a)->name);
            rg_status status = rg_robot_leave_out(robot, node, text);
            if (status != RG_OK)
                return status;
        }
        *a = (*a)->next;
    }
    return RG_OK;
}

/* The element after `node` in the order of the document, within `root`; with `inside` false, behind
 * what it holds. */
static rg_xml_node *next_of(rg_xml_node *root, rg_xml_node *node, bool inside) {
    if (inside && node->first)
        return node->first;
    while (node != root && !node->next)
        node = node->parent;
    return node == root ? NULL : node->next;
}

void rg_xml_unlink(rg_xml_node *node) {
    rg_xml_node *parent = node->parent, **at = &parent->first;
    while (*at != node)
        at = &(*at)->next;
    *at = node->next;
}

static bool has_one_before(const rg_xml_node *node) {
    const rg_xml_node *other = node->parent->first;
    while (other != node && strcmp(other->name, node->name) != 0)
        other = other->next;
    return other != node;
}

/* *stays: it is one of the children that the element above it has. */
static rg_status check_place(rg_robot *robot, const rg_robot_words *above, const rg_xml_node *node,
                             bool *stays) {
    *stays = has_word(above->children, node->name);
    if (!*stays)
        return has_word(above->silent_children, node->name)
                   ? RG_OK
                   : rg_robot_leave_out(robot, node, "not understood");
    *stays = has_word(above->several, node->name) || !has_one_before(node);
    return *stays ? RG_OK : rg_robot_leave_out(robot, node, "there is one before it already");
}

rg_status rg_robot_check_words(rg_robot *robot, rg_xml_node *root,
                               const rg_robot_vocabulary *vocabulary) {
    rg_status status = RG_OK;
    for (rg_xml_node *node = root; node && status == RG_OK;) {
        const rg_robot_words *words = find_words(vocabulary, node),
                             *above = node == root ? NULL : find_words(vocabulary, node->parent);
        bool stays = true;
        if (node != root)
            status = check_place(robot, above ? above : &text_alone, node, &stays);
        if (status == RG_OK && stays)
            status = rg_robot_check_attributes(robot, node, words ? words : &text_alone);
        rg_xml_node *gone = stays ? NULL : node;
        node = next_of(root, node, stays);
        if (gone)
            rg_xml_unlink(gone);
    }
    return status;
}
