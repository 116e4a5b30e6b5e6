/* Assembly of mechanisms that are drawn loosely: bodies are moved until their joints are closed
 * (R. Barzel, A. H. Barr, "A modeling system based on dynamic constraints", SIGGRAPH 1988, lets
 * forces of critically damped motion do so). Here each move is the smallest in the metric of the
 * masses that closes the joints to first order, which is Newton's method; turns of a move are kept
 * below half a turn by the way in which they are made (step_joints_project.c).
 *
 * How it fails: joints that contradict each other, or a drawing so far off that Newton's method
 * ends at a place where no small move is better; what is left is told.
 * Tested by tests/step/test_assemble.c. */
#include "base/base_text.h"
#include "step/step_joints.h"
#include "step/step_machinery.h"

#include <string.h>

/* m, rad: closed, as far as rounding lets tell. */
#define CLOSED 1e-10
/* Moves in all, and those without gain before it ends. */
enum { MOVES_MOST = 200, IDLE_MOST = 12 };

static double largest_error(const rg_world *world) {
    double worst = 0;
    for (size_t i = 0; i < rg_world_joint_count(world); i++) {
        rg_joint_id joint = rg_world_joint_at(world, i);
        if (!rg_joint_get_state(world, joint).broken)
            worst = fmax(worst, rg_joint_error(world, joint));
    }
    return worst;
}

/* Copies of the places, nothing moving. */
static bool take_bodies(const rg_world_content *c, rg_arena *arena, rg_joints_bodies *b,
                        uint8_t **moved) {
    size_t n = c->bodies.count;
    rg_vec3 **vectors[] = {&b->position, &b->momentum,         &b->angular_momentum,
                           &b->velocity, &b->angular_velocity, &b->held};
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++) {
        *vectors[k] = rg_arena_take(arena, n, sizeof(rg_vec3));
        if (!*vectors[k])
            return false;
        memset(*vectors[k], 0, n * sizeof(rg_vec3));
    }
    b->orientation = rg_arena_take(arena, n, sizeof *b->orientation);
    b->angle = rg_arena_take(arena, n, sizeof *b->angle);
    *moved = rg_arena_take(arena, n, sizeof **moved);
    if (!b->orientation || !b->angle || !*moved)
        return false;
    memcpy(b->position, c->position, n * sizeof *b->position);
    memcpy(b->orientation, c->orientation, n * sizeof *b->orientation);
    memcpy(b->angle, c->angle, n * sizeof *b->angle);
    for (size_t i = 0; i < n; i++)
        (*moved)[i] = c->dynamics[i].inverse_mass > 0 && c->record[i].first_joint1;
    b->moved = *moved;
    return true;
}

static rg_status move_world(rg_world *world, const rg_joints_bodies *b) {
    const rg_world_content *c = &world->content;
    rg_status status = RG_OK;
    for (size_t i = 0; i < c->bodies.count && !status; i++)
        if (b->moved[i]) {
            rg_pose centre = rg_pose_make(b->position[i], b->orientation[i]);
            rg_pose origin = rg_pose_compose(centre, rg_pose_inverse(c->record[i].local_centre));
            status = rg_body_set_pose(world, rg_body_id_at(c, i), origin);
        }
    return status;
}

rg_status rg_world_assemble(rg_world *world, double *left, rg_error *error) {
    rg_step_machinery *machinery;
    rg_joints_correction done;
    rg_joint_set set;
    *left = largest_error(world);
    rg_status status = rg_machinery_of(world, &machinery, error);
    int idle = 0;
    for (int k = 0; k < MOVES_MOST && idle<IDLE_MOST && * left> CLOSED && !status; k++) {
        rg_joints_bodies bodies = {0};
        uint8_t *moved;
        rg_arena_reset(&world->scratch);
        if (!take_bodies(&world->content, &world->scratch, &bodies, &moved))
            return rg_fail(error, RG_OUT_OF_MEMORY, "no memory for joints");
        status = rg_joints_project(&world->content, &bodies, machinery->contexts[0],
                                   &world->scratch, &done, &set, error);
        if (!status)
            status = move_world(world, &bodies);
        double now = largest_error(world);
        idle = now < 0.9 * *left ? 0 : idle + 1;
        *left = now;
    }
    return status;
}
