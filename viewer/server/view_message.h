/* What a page says to a live run (docs/view-format.md, Live): text in, checked values out. */
#ifndef RIGOR_VIEWER_MESSAGE_H
#define RIGOR_VIEWER_MESSAGE_H

#include "rigor/method.h"
#include "rigor/types.h"

enum {
    VIEW_MESSAGE_BYTES = 64 * 1024, /* more is refused */
    VIEW_MESSAGE_STEPS = 10000,     /* of one message */
    VIEW_PROBLEM_SIZE = 256
};
/* Beyond these a number is a mistake, whatever the scene. */
#define VIEW_MESSAGE_LENGTH 1e6 /* m, m/s */
#define VIEW_MESSAGE_SPEED  1e3 /* simulated seconds per second; and 1 over it */
#define VIEW_MESSAGE_SIZE   1e3 /* m, of a box that is thrown; and 1 over it */
#define VIEW_MESSAGE_STEP   1.0 /* s, and a millionth of it */

typedef enum view_message_kind {
    VIEW_MESSAGE_PLAY,
    VIEW_MESSAGE_PAUSE,
    VIEW_MESSAGE_RESET,
    VIEW_MESSAGE_RELEASE,
    VIEW_MESSAGE_STEP_BY,
    VIEW_MESSAGE_SET_SPEED,
    VIEW_MESSAGE_SET,
    VIEW_MESSAGE_GRAB,
    VIEW_MESSAGE_DRAG,
    VIEW_MESSAGE_THROW,
    VIEW_MESSAGE_MOTOR
} view_message_kind;

/* Only the fields of its kind are set. */
typedef struct view_message {
    view_message_kind kind;
    uint32_t count; /* step */
    double speed;
    /* set: what is null, or not `has`, stays as it is */
    const rg_method *method;
    const rg_solver *solver;
    bool has_step, has_friction, has_gravity;
    bool friction_of_scene; /* instead of `friction` */
    double step, friction;
    rg_vec3 gravity;
    uint32_t body;         /* grab */
    rg_vec3 point, target; /* grab: both, drag: the latter */
    rg_vec3 from, velocity;
    double size;          /* throw */
    uint32_t joint, axis; /* motor: */
    bool target_of_scene; /* instead of `motor_target` */
    double motor_target;
} view_message;

/* False: `problem` says what is wrong, in a line of printable ASCII. */
bool view_message_read(const char *text, size_t size, view_message *message,
                       char problem[VIEW_PROBLEM_SIZE]);

#endif
