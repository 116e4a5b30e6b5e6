/* What the parts of the MJCF reader share. */
#ifndef RIGOR_SCENE_ROBOT_MJCF_H
#define RIGOR_SCENE_ROBOT_MJCF_H

#include "scene/scene_robot.h"

typedef struct rg_mjcf_site {
    const char *name;
    size_t link; /* RG_ROBOT_WORLD */
    rg_vec3 point;
    struct rg_mjcf_site *next;
} rg_mjcf_site;

typedef struct rg_mjcf {
    rg_robot *robot;
    rg_xml_node *root;
    double angle; /* radians of the unit of angles */
    char euler[4];
    bool autolimits, no_limits, no_clamp, strip_path;
    int from_geoms; /* inertia: 1 always, 0 never, -1 where none is given */
    const char *mesh_directory;
    rg_mjcf_site *sites;
    bool key_found; /* the keyframe of the parameter `key` */
} rg_mjcf;

/* ---- scene_robot_mjcf_value.c ---- */

/* Defaults for an element, innermost first: those of its class, or of the childclass of the nearest
 * body, then the outer ones; null at the end. */
const rg_xml_node *rg_mjcf_class(const rg_mjcf *m, const rg_xml_node *node);
const rg_xml_node *rg_mjcf_class_above(const rg_mjcf *m, const rg_xml_node *defaults);
/* That classes that are used exist, and once. */
rg_status rg_mjcf_check_classes(const rg_mjcf *m, const rg_xml_node *root);
/* The attribute of an element, of its class of defaults, or of one that this is derived from. */
const char *rg_mjcf_get(const rg_mjcf *m, const rg_xml_node *node, const char *name);
/* `most` numbers, with defaults; of some attributes there may be fewer, and the others stay. */
rg_status rg_mjcf_numbers(const rg_mjcf *m, const rg_xml_node *node, const char *name, size_t most,
                          double *values);
/* Without defaults. */
rg_status rg_mjcf_own_numbers(const rg_mjcf *m, const rg_xml_node *node, const char *name,
                              size_t most, double *values);
/* Several attributes at once. */
typedef struct rg_mjcf_number {
    const char *name;
    size_t most;
    double *values;
} rg_mjcf_number;
rg_status rg_mjcf_read(const rg_mjcf *m, const rg_xml_node *node, const rg_mjcf_number *numbers,
                       size_t count);
rg_status rg_mjcf_flag(const rg_mjcf *m, const rg_xml_node *node, const char *name, bool *value);
/* A range, and whether it holds: by itself, if it rises and `autolimits` says so. */
typedef struct rg_mjcf_limit {
    bool given;
    double lower, upper;
} rg_mjcf_limit;
rg_status rg_mjcf_range(const rg_mjcf *m, const rg_xml_node *node, const char *limited,
                        const char *name, rg_mjcf_limit *limit);
/* pos, and one of quat, axisangle, euler, xyaxes, zaxis. */
rg_status rg_mjcf_pose(const rg_mjcf *m, const rg_xml_node *node, rg_pose *pose);
/* Sections may come several times, as includes bring them: the next of a name behind `after`. */
rg_xml_node *rg_mjcf_section(const rg_mjcf *m, const char *name, const rg_xml_node *after);
/* Puts what an include names in its place, in the whole document. */
rg_status rg_mjcf_include(rg_robot *robot, rg_xml_node *root);

/* ---- scene_robot_mjcf_geom.c ---- */

/* A geom of a link: its shape, and its mass in `mass` (not added up yet). */
rg_status rg_mjcf_geom(rg_mjcf *m, const rg_xml_node *node, rg_robot_link *link,
                       rg_mass_properties *mass);
/* That a mesh asks for no other mass than its hull has. */
rg_status rg_mjcf_check_mesh(rg_mjcf *m, const rg_xml_node *mesh);

/* ---- scene_robot_mjcf_tendon.c ---- */

/* What a limit, spring or actuator acts on: an axis whose coordinate, in the file, is `coefficient`
 * times that of `value`, both counted from `reference` where the links are drawn. */
typedef struct rg_mjcf_axis {
    rg_joint_axis *value;
    const rg_robot_joint *joint; /* null: several */
    double coefficient, reference;
} rg_mjcf_axis;
rg_robot_joint *rg_mjcf_joint(const rg_mjcf *m, const char *name); /* null: there is none */
/* The axis of a fixed tendon: of one joint its own; of several that of a tendon of the robot. */
rg_status rg_mjcf_tendon_axis(rg_mjcf *m, const rg_xml_node *tendon, rg_mjcf_axis *axis);
const rg_xml_node *rg_mjcf_find_fixed(const rg_mjcf *m, const char *name); /* null: there is none */
rg_status rg_mjcf_read_fixed(rg_mjcf *m, const rg_xml_node *node);

/* ---- scene_robot_mjcf_actuator.c ---- */

rg_status rg_mjcf_actuator(rg_mjcf *m, const rg_xml_node *node);

/* ---- scene_robot_mjcf_refer.c ---- */

/* Exclusions, tendons, actuators and keyframes, when all bodies are read. */
rg_status rg_mjcf_refer(rg_mjcf *m);

#endif
