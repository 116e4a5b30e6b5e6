/* A hand that holds a body: a spring and damper between a point of the body and a point of the
 * world, as an external force of the world. It goes through the contact problem like any other
 * force, so that a body that is pulled against another does not enter it. */
#ifndef RIGOR_VIEWER_GRAB_H
#define RIGOR_VIEWER_GRAB_H

#include "rigor/world.h"

typedef struct view_grab {
    rg_body_id body; /* null: nothing is held */
    rg_force_id force;
    bool planar;
    double step;              /* s of a step of the method; 0: it chooses steps itself */
    double mass;              /* kg */
    rg_mat3 inertia, inverse; /* about the centre of mass, in the axes of the body's centre frame */
    rg_vec3 point;            /* that is held, in the centre frame */
    rg_vec3 target;           /* world */
} view_grab;

/* `step` (s) is that of rg_world_step, `point` is in the body's origin frame. The grab must stay
 * where it is in memory while it holds. */
rg_status view_grab_begin(view_grab *grab, rg_world *world, double step, rg_body_id body,
                          rg_vec3 point, rg_vec3 target, rg_error *error);
/* The step or method was changed. */
void view_grab_adapt(view_grab *grab, const rg_world *world, double step);
/* `world` null: it has forgotten its forces already. */
void view_grab_end(view_grab *grab, rg_world *world);

#endif
