/* The motors of a live run, whose targets can be changed by hand and given back to the scene. */
#ifndef RIGOR_VIEWER_MOTORS_H
#define RIGOR_VIEWER_MOTORS_H

#include "view_json.h"

#include "rigor/joint.h"

enum { VIEW_MOTORS_MOST = 128 }; /* of more, only the first can be changed */

typedef struct view_motor {
    rg_joint_id id;
    uint32_t joint, axis; /* the joint's index */
    rg_motor_kind kind;
    double least, most; /* what may be asked for: m, rad; of velocity motors m/s, rad/s */
    double own;         /* the scene's target, and the function of time in its place; null: none */
    char *own_of_time;
    bool set; /* by hand: */
    double target;
} view_motor;

typedef struct view_motors {
    size_t count;
    view_motor *motors;
} view_motors;

/* Ranges: of positions the limits of the axis, without them pi or 1 m to both sides of the scene's
 * target; of velocities twice the scene's, at least 10 rad/s or 1 m/s, both ways. */
rg_status view_motors_keep(view_motors *motors, const rg_world *world, rg_error *error);
void view_motors_free(view_motors *motors);
/* Another target; null: the scene's. RG_INVALID_ARGUMENT, with a message: no such motor, or out of
 * its range. Nothing has changed then. */
rg_status view_motors_set(view_motors *motors, rg_world *world, uint32_t joint, uint32_t axis,
                          const double *target, rg_error *error);
/* The world is at its beginning again, and so are the targets. */
void view_motors_forget(view_motors *motors);
/* ,"motors":[...] */
void view_motors_put(const view_motors *motors, view_text *text);

#endif
