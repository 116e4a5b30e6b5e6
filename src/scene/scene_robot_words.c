/* What of a robot description is understood. A format is a table of its elements; everything in a
 * document that is not in it is named with its place, and either refused or listed: nothing is
 * dropped in silence.
 * Tested by tests/scene/test_robot.c. */
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

static const rg_robot_words *find_words(const rg_robot_words *table, size_t count,
                                        const rg_xml_node *node) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", node->parent ? node->parent->name : "", node->name);
    for (size_t i = 0; i < count; i++)
        if (has_word(table[i].element, path))
            return &table[i];
    for (size_t i = 0; i < count; i++)
        if (has_word(table[i].element, node->name))
            return &table[i];
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

static const rg_robot_words text_alone = {"", "=", "", "", ""};

static rg_status check_attributes(rg_robot *robot, rg_xml_node *node, const rg_robot_words *words) {
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

rg_status rg_robot_check_words(rg_robot *robot, rg_xml_node *root, const rg_robot_words *table,
                               size_t count) {
    rg_status status = RG_OK;
    for (rg_xml_node *node = root; node && status == RG_OK;) {
        const rg_robot_words *words = find_words(table, count, node),
                             *above = node == root ? NULL : find_words(table, count, node->parent);
        if (node != root && !above)
            above = &text_alone;
        if (node == root || has_word(above->children, node->name)) {
            status = check_attributes(robot, node, words ? words : &text_alone);
            node = next_of(root, node, true);
            continue;
        }
        if (!has_word(above->silent_children, node->name))
            status = rg_robot_leave_out(robot, node, "not understood");
        rg_xml_node *gone = node;
        node = next_of(root, node, false);
        rg_xml_unlink(gone);
    }
    return status;
}
