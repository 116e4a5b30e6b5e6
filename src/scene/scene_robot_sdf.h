/* What the parts of the SDF reader share. */
#ifndef RIGOR_SCENE_ROBOT_SDF_H
#define RIGOR_SCENE_ROBOT_SDF_H

#include "scene/scene_robot.h"

#define RG_SDF_NONE SIZE_MAX

/* What has a name and a frame: the world, which is the first, models, links, joints, frames. */
typedef struct rg_sdf_item {
    const rg_xml_node *node;
    const char *name;
    size_t scope;        /* the model or world that it is in */
    size_t base;         /* what its pose is relative to; before rg_sdf_place, by default */
    rg_pose own, placed; /* relative to `base`, and in the world */
    bool opened, closed; /* `placed` is looked for; it is known */
    bool is_static;      /* a model, and what is in it */
    int group;           /* of links that do not touch each other; -1: none */
    size_t joint;        /* of a link: by which it hangs; RG_SDF_NONE */
    size_t parent;       /* of a joint: the link that carries it, or the world */
    bool taken;          /* a link is one of the robot's, */
    size_t index;        /* with this number */
} rg_sdf_item;

typedef struct rg_sdf {
    rg_robot *robot;
    rg_sdf_item *items;
    size_t count, capacity;
    const rg_sdf_item **sorted; /* by name, then scope */
    int groups;
} rg_sdf;

/* ---- scene_robot_sdf.c ---- */

/* Refuses or lists what of an element is not understood. */
rg_status rg_sdf_check(rg_robot *robot, rg_xml_node *node);

/* ---- scene_robot_sdf_frame.c ---- */

bool rg_sdf_is(const rg_sdf *s, size_t item, const char *element);
rg_status rg_sdf_flag(rg_robot *robot, const rg_xml_node *of, const char *name, bool *value);
/* The world and everything in it that has a name; their places are still to be found. */
rg_status rg_sdf_list(rg_sdf *s, const rg_xml_node *root);
/* By a name as `scope` uses it, "model::link"; RG_SDF_NONE. */
size_t rg_sdf_find(const rg_sdf *s, size_t scope, const char *name);
/* What it is called in the robot: its name, with those of its models before it if others of its
 * kind have the same. */
rg_status rg_sdf_name(rg_sdf *s, size_t item, const char **name);
rg_status rg_sdf_place(rg_sdf *s, size_t item, int depth);
/* The pose of an element within a link, in the link's frame. */
rg_status rg_sdf_pose_in(rg_sdf *s, size_t link, const rg_xml_node *of, rg_pose *pose);

#endif
