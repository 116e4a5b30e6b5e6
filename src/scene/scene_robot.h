/* Robot descriptions (URDF, MJCF, SDF) as scenes: what the parts of their reader share.
 *
 * text -> elements (scene_robot_xml.c, expat) -> what is not understood is refused or listed
 * (scene_robot_words.c) -> links, joints and geometry (scene_robot_urdf.c, scene_robot_mjcf*.c,
 * scene_robot_sdf*.c) -> a world (scene_robot_build.c). */
#ifndef RIGOR_SCENE_ROBOT_H
#define RIGOR_SCENE_ROBOT_H

#include "base/base_arena.h"
#include "base/base_text.h"
#include "rigor/joint.h"
#include "scene/scene_reader.h"
#include "scene/scene_state.h"

/* ---- elements ---- */

typedef struct rg_xml_attribute {
    const char *name, *value;
    struct rg_xml_attribute *next;
} rg_xml_attribute;

typedef struct rg_xml_node {
    const char *name, *file;
    const char *text; /* of an element without others in it; null: none, or blanks */
    int line, column;
    rg_xml_attribute *attributes;
    struct rg_xml_node *parent, *first, *last, *next;
} rg_xml_node;

/* ---- the robot ---- */

typedef struct rg_robot_collider {
    rg_shape *shape; /* the robot's reference */
    rg_pose pose;    /* in its link */
    uint32_t contype, conaffinity;
    size_t material; /* of the robot's list */
    struct rg_robot_collider *next;
} rg_robot_collider;

/* In the frame of its link. `axis` is what it turns about, slides along, or, if planar, is normal
 * to. */
typedef struct rg_robot_joint {
    const char *name;
    bool is_second;     /* axis of the joint before it, of the same name (SDF) */
    rg_joint_kind kind; /* hinge, slider, ball, planar */
    rg_vec3 point, axis;
    rg_joint_axis value;
    double reference; /* MJCF: the coordinate where the links are drawn */
    double relaxed;   /* MJCF: springref, from there */
    double start;     /* m, rad from there: where the run begins; of a ball joint start_turn */
    rg_quat start_turn;
    const char *mimics; /* URDF: the joint that it moves with, `multiplier` times as far; or null */
    double multiplier;
    const rg_xml_node *node, *mimic; /* of the joint, and where it says so */
    struct rg_robot_joint *next;
    rg_joint_id made; /* what it is in the world, when there is one, and which of its axes */
    size_t made_axis;
} rg_robot_joint;

/* A sum of coordinates of joints (MJCF's fixed tendons), or one that keeps its value: joints that
 * move together. */
typedef struct rg_robot_tendon {
    const char *name;
    const rg_xml_node *node;
    size_t part_count;
    const rg_robot_joint *joint[RG_TENDON_PARTS_MOST];
    double coefficient[RG_TENDON_PARTS_MOST];
    rg_joint_axis value;
    double reference; /* its length where the links are drawn */
    struct rg_robot_tendon *next;
} rg_robot_tendon;

#define RG_ROBOT_WORLD SIZE_MAX
#define RG_ROBOT_SHARE 1e-3 /* of a link's mass, that of a body between its joints */

/* What makes a joint move with another that has a link in common with it: of two hinges a gear, of
 * a hinge and a slide a rack, of two slides a wheel between two racks. */
typedef enum rg_coupling_kind {
    RG_COUPLING_NONE,
    RG_COUPLING_GEAR,
    RG_COUPLING_RACK,
    RG_COUPLING_PINION
} rg_coupling_kind;

/* One of the two joints, seen from the link in common. */
typedef struct rg_coupling_end {
    size_t body;       /* the link that moves */
    double sign;       /* of its motion along the axis; -1: it carries the link in common */
    rg_vec3 at, along; /* of the axis, in the world as it is drawn */
} rg_coupling_end;

typedef struct rg_coupling {
    rg_coupling_kind kind;
    size_t common;     /* the link in common */
    double multiplier; /* coordinate of `own` for one of `other` */
    rg_coupling_end own, other;
} rg_coupling;

typedef struct rg_robot_link {
    const char *name;
    const rg_xml_node *node;
    size_t parent;  /* before it in the list; RG_ROBOT_WORLD */
    rg_pose pose;   /* in its parent */
    rg_pose placed; /* in the world */
    bool is_free;   /* moves without a joint */
    bool is_fixed;  /* a base that stands still, by itself */
    bool weightless;
    rg_pose start; /* of a free link: where the run begins */
    rg_robot_joint *joints;
    rg_robot_collider *colliders;
    rg_mass_properties mass; /* in its frame; mass 0: none */
    size_t owner;            /* the link of which it is a rigid part: itself, or one before it */
    bool is_gone;            /* it had no mass, and its joint is now one of the next link's */
    rg_pose in_owner;
    rg_body_id body;
    rg_coupling coupling;
} rg_robot_link;

/* A distance between points of two links: a rope; without limits, no contact. */
typedef struct rg_robot_tie {
    const char *name;
    size_t a, b;
    rg_vec3 point_a, point_b;
    double lower, upper;
    struct rg_robot_tie *next;
} rg_robot_tie;

/* What contact with a geom is like: MuJoCo's friction, contact dimension and priority. */
typedef struct rg_robot_material {
    double friction;
    int dimension, priority;
} rg_robot_material;

typedef struct rg_robot {
    const rg_scene_source *source;
    const rg_scene_options *options;
    rg_scene_limits limits;
    rg_allocator allocator;
    rg_arena arena;
    rg_error *error;
    rg_scene *scene;
    size_t elements; /* read so far, includes too */
    rg_robot_link *links;
    size_t link_count, link_capacity;
    rg_robot_material *materials;
    size_t material_count, material_capacity;
    rg_robot_tie *ties;
    rg_robot_tendon *tendons;       /* the last one first */
    size_t includes, include_bytes; /* of files that it includes, so far */
    rg_vec3 gravity;
    bool least_friction; /* of two surfaces the smaller coefficient holds, not the larger */
    double total_mass;   /* MJCF's settotalmass; 0: as it is */
    bool no_contacts;
    bool has_start; /* the run begins elsewhere than the links are drawn */
} rg_robot;

/* ---- scene_robot_xml.c ---- */

enum { RG_ROBOT_PATH_SIZE = 1024, RG_ROBOT_INCLUDE_DEPTH = 8 };

rg_status rg_robot_parse(rg_robot *robot, const rg_scene_source *source, rg_xml_node **root);
/* The file that an element includes; how many there are, and their bytes, is bounded. */
rg_status rg_robot_include(rg_robot *robot, const rg_xml_node *node, const char *path,
                           rg_xml_node **root);
const char *rg_xml_get(const rg_xml_node *node, const char *name); /* null: not given */
/* The attribute, or else the text of the element of that name in it, which *node then is. */
const char *rg_xml_value(const rg_xml_node **node, const char *name);
rg_xml_node *rg_xml_child(const rg_xml_node *node, const char *name);
void rg_xml_unlink(rg_xml_node *node);             /* from its parent */
void *rg_robot_take(rg_robot *robot, size_t size); /* zeroed; null without memory */
char *rg_robot_copy(rg_robot *robot, const char *text, size_t size);
RG_PRINTF_LIKE(4, 5)
rg_status rg_robot_fail(rg_robot *robot, const rg_xml_node *node, rg_status status,
                        const char *format, ...);
rg_status rg_robot_no_memory(rg_robot *robot);

/* ---- scene_robot_words.c ---- */

/* What a format knows of an element: attributes and children that are read, and those that have no
 * effect on motion. Words are separated by blanks; the attribute "=" is its text. Children that the
 * table does not have as elements are text and nothing else. */
typedef struct rg_robot_words {
    const char *element; /* or parent/element, which comes first; several have the same */
    const char *attributes, *silent_attributes;
    const char *children, *silent_children;
    const char *several; /* of the children, those that may come more than once */
} rg_robot_words;
typedef struct rg_robot_vocabulary {
    const rg_robot_words *table;
    size_t count;
} rg_robot_vocabulary;
extern const rg_robot_vocabulary rg_urdf_vocabulary, rg_mjcf_vocabulary, rg_sdf_vocabulary;
/* Refuses the first thing that is not in the table; lenient, lists and unlinks all of them. */
rg_status rg_robot_check_words(rg_robot *robot, rg_xml_node *root,
                               const rg_robot_vocabulary *vocabulary);
/* The same of one element's attributes and text. */
rg_status rg_robot_check_attributes(rg_robot *robot, rg_xml_node *node,
                                    const rg_robot_words *words);
/* Something that was read and cannot be had: refused, or listed. `what` is a phrase. */
rg_status rg_robot_leave_out(rg_robot *robot, const rg_xml_node *node, const char *what);

/* ---- scene_robot_value.c ---- */

/* Numbers of an attribute, at most `most`; *count says how many there are. */
rg_status rg_robot_numbers(rg_robot *robot, const rg_xml_node *node, const char *name,
                           const char *text, size_t most, double *values, size_t *count);
/* Exactly `count` of them, if the attribute is given, or an element with that text. */
rg_status rg_robot_vector(rg_robot *robot, const rg_xml_node *node, const char *name, size_t count,
                          double *values);
rg_quat rg_robot_roll_pitch_yaw(rg_vec3 angles);
/* The name that an element needs. */
rg_status rg_robot_name(rg_robot *robot, const rg_xml_node *node, const char *attribute,
                        const char **name);
/* The rotation that takes z to `axis`, the shortest one. */
rg_quat rg_robot_rotation_to(rg_vec3 axis);
rg_status rg_robot_add_link(rg_robot *robot, const rg_robot_link *link, size_t *index);
rg_status rg_robot_add_collider(rg_robot *robot, rg_robot_link *link, const rg_xml_node *node,
                                const rg_shape_def *def, const rg_robot_collider *like);
/* The number of a material in the robot's list, which has each once. */
rg_status rg_robot_add_material(rg_robot *robot, rg_robot_material material, size_t *index);
/* A file, named as in the description: package://, model://, file://, or beside what names it. */
bool rg_robot_find_file(const rg_robot *robot, const rg_xml_node *node, const char *name,
                        char path[RG_ROBOT_PATH_SIZE]);
/* A mesh file, named as in the description: its hull, the robot's; null: it is left out. */
rg_status rg_robot_mesh(rg_robot *robot, const rg_xml_node *node, const char *name, rg_vec3 scale,
                        rg_shape **shape);
rg_status rg_robot_shape(rg_robot *robot, const rg_xml_node *node, const rg_shape_def *def,
                         rg_shape **shape);

/* ---- the formats, and the end ---- */

rg_status rg_robot_read_urdf(rg_robot *robot, rg_xml_node *root);
/* Of an element `geometry`, the shape of which has its sizes as attributes or elements; `file` is
 * what a mesh calls its file. `like` says the rest, and takes the shape. */
rg_status rg_urdf_geometry(rg_robot *robot, const rg_xml_node *geometry, const char *file,
                           rg_robot_link *link, rg_robot_collider *like);
/* ixx ... izz of an element `inertia`, which may be null: then they stay. */
rg_status rg_urdf_inertia(rg_robot *robot, const rg_xml_node *inertia, rg_mat3 *m);
/* Limits that are reversed are none; damping and friction; another joint that this one follows. */
rg_status rg_urdf_limits(rg_robot *robot, const rg_xml_node *limit, rg_robot_joint *joint);
rg_status rg_urdf_dynamics(rg_robot *robot, const rg_xml_node *dynamics, rg_robot_joint *joint);
rg_status rg_urdf_mimic(rg_robot *robot, const rg_xml_node *mimic, rg_robot_joint *joint);
rg_status rg_robot_read_sdf(rg_robot *robot, rg_xml_node *root);
rg_status rg_robot_read_mjcf(rg_robot *robot, rg_xml_node *root);
/* A parameter that was given, name=value; null: not. */
const char *rg_robot_parameter(const rg_robot *robot, const char *name);
/* scene_robot_build.c: makes the world of the scene. */
rg_status rg_robot_build(rg_robot *robot);
/* scene_robot_joint.c: the joints of a link whose body is made, as few as there can be. */
rg_status rg_robot_build_joints(rg_robot *robot, size_t link);
rg_status rg_robot_build_ties(rg_robot *robot);
/* One with nothing but a name; null without memory. */
rg_robot_tendon *rg_robot_add_tendon(rg_robot *robot, const rg_xml_node *node, const char *name);
/* A body in the place of the link, with a share of its mass. */
rg_status rg_robot_add_between(rg_robot *robot, const rg_robot_link *link, size_t number,
                               rg_body_id *body);
/* scene_robot_couple.c: how joints that follow others are made to, before there are bodies; and the
 * gears and racks of a link's. */
rg_status rg_robot_couple(rg_robot *robot);
rg_status rg_robot_build_coupling(rg_robot *robot, size_t link);
/* Bodies to where the run begins. */
rg_status rg_robot_place(rg_robot *robot);
/* No contact between two bodies. */
rg_status rg_robot_keep_apart(rg_robot *robot, rg_body_id a, rg_body_id b);
/* The share of a link's mass that it keeps beside the bodies between its joints. */
double rg_robot_share_left(const rg_robot_link *link);
rg_body_id rg_robot_body_of(const rg_robot *robot, size_t link);
/* Whether a text is XML, and so a robot; and reading it. */
bool rg_robot_is_one(const char *text, size_t size);
rg_status rg_robot_read(const rg_scene_source *source, const rg_scene_options *options,
                        const rg_scene_limits *limits, rg_scene **scene, rg_error *error);

#endif
