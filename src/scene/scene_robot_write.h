/* Scenes as robot descriptions: what the writers of MJCF, URDF and SDF share. Bodies are a tree:
 * each hangs from another or from the world by at most one joint. What a format cannot hold is
 * refused by name, or, leniently, listed (rg_scene_left_out_at). */
#ifndef RIGOR_SCENE_ROBOT_WRITE_H
#define RIGOR_SCENE_ROBOT_WRITE_H

#include "base/base_text.h"
#include "rigor/joint.h"
#include "scene/scene_state.h"

#define RG_NO_NODE        SIZE_MAX
#define RG_ROBOT_ROUNDING 1e-12 /* m, rad: coordinates of joints that were placed at 0 */

typedef struct rg_robot_node {
    rg_body_id body;
    rg_joint_id joint;  /* by which it hangs; null: none */
    bool reversed;      /* it is body A of that joint */
    size_t parent;      /* RG_NO_NODE: the world */
    size_t first, next; /* child, sibling; RG_NO_NODE: none */
} rg_robot_node;

typedef struct rg_robot_writer {
    rg_scene *scene;
    rg_world *world;
    rg_robot_format format;
    bool lenient;
    rg_buffer out;
    rg_status status; /* the first failure */
    rg_error *error;
    rg_robot_node *nodes;               /* parents before children */
    size_t count, first;                /* `first` of those that hang from the world */
    uint64_t categories, masks, common; /* of all filters; masks of those that meet something */
    bool *used;                         /* of each joint of the world: it is one of the tree */
} rg_robot_writer;

RG_PRINTF_LIKE(2, 3)
void rg_robot_cannot(rg_robot_writer *w, const char *format, ...);
void rg_robot_put(rg_robot_writer *w, const char *text);
/* ` name="1 2 3"` */
void rg_robot_put_numbers(rg_robot_writer *w, const char *name, const double *values, size_t count);
void rg_robot_put_vector(rg_robot_writer *w, const char *name, rg_vec3 v);
/* ` name="text"`; what XML gives a meaning to is escaped. */
void rg_robot_put_text(rg_robot_writer *w, const char *name, const char *text);
void rg_robot_put_escaped(rg_robot_writer *w, const char *text);
/* A body's name, or one made from its number. */
void rg_robot_put_body(rg_robot_writer *w, const char *name, rg_body_id body);
void rg_robot_put_joint(rg_robot_writer *w, const char *name, rg_joint_id joint, size_t axis);
const char *rg_robot_joint_word(const rg_robot_writer *w, rg_joint_id joint, char text[64]);
const char *rg_robot_body_word(const rg_robot_writer *w, rg_body_id body, char text[64]);
/* The coefficient of friction of a collider; names what is beyond it. */
double rg_robot_friction(rg_robot_writer *w, rg_material_id material);
/* Whether a filter keeps it from all contacts; names other filters. */
bool rg_robot_touches_nothing(rg_robot_writer *w, const rg_collider_def *collider);
/* Names what no format holds of an axis of a joint. */
void rg_robot_check_axis(rg_robot_writer *w, rg_joint_id joint, size_t axis);

typedef void rg_robot_shape_writer(rg_robot_writer *w, const rg_collider_def *collider,
                                   const rg_shape *shape, rg_pose pose, void *user);
/* Calls `write` for the convex shapes of a body with their poses in the body's origin frame. */
void rg_robot_each_shape(rg_robot_writer *w, rg_body_id body, rg_robot_shape_writer *write,
                         void *user);

/* Names all distances. */
void rg_robot_refuse_distances(rg_robot_writer *w);

void rg_robot_write_mjcf(rg_robot_writer *w);
void rg_robot_write_urdf(rg_robot_writer *w);
void rg_robot_write_sdf(rg_robot_writer *w);

#endif
