/* Which forces of joints are determined. Joints that hold more than there is to hold (three hinges
 * of a door, a loop of hinges in space) leave the motion unique and their forces not: any change df
 * with J' df = 0 does the same. The rows are all locked directions as they stand, without bounds
 * and compliance, one problem per island at rest; the rank of its matrix and the rows that its null
 * space reaches come from solve_meaning.c.
 *
 * How it fails: mechanisms at a singular place (a four-bar stretched out) have open forces there
 * that are determined a moment later; islands of more than ROWS_MOST rows are not looked at,
 * because the rank is that of a dense matrix.
 * Tested by tests/step/test_determinacy.c. */
#include "base/base_text.h"
#include "problem/problem_islands.h"
#include "step/step_machinery.h"

#include <string.h>

enum { ROWS_MOST = 2000 };

static void add_joint(const rg_world_content *c, size_t j, rg_joint_set *set) {
    const rg_joint_def *def = &c->joint[j].def;
    rg_body_places places = {c->position, c->orientation};
    rg_joint_look look;
    rg_joint_look_at(c, j, places, &look);
    rg_joint_row row = {.joint = (uint32_t)j, .point = look.point};
    row.lower = -INFINITY, row.upper = INFINITY;
    for (int side = 0; side < 2; side++) {
        row.body[side] = look.body[side];
        row.moves[side] =
            look.body[side] != UINT32_MAX && c->dynamics[look.body[side]].inverse_mass > 0;
    }
    if (rg_joint_is_off(c, j))
        return;
    bool held = def->kind == RG_JOINT_TENDON && def->axis[0].lower == def->axis[0].upper;
    if (held && rg_joint_set_add_links(c, set, j, places, NULL, &row))
        row.lower = -INFINITY, row.upper = INFINITY;
    for (size_t k = 0; k < look.locked; k++) {
        row.place = look.place[k], row.along = look.lock[k];
        rg_joint_set_add(c, set, &row, &row.along, places);
    }
    for (size_t k = 0; k < look.axes; k++) {
        row.place = (uint8_t)(RG_JOINT_LOCKED + k), row.along = look.axis[k];
        if (def->axis[k].lower == def->axis[k].upper)
            rg_joint_set_add(c, set, &row, &row.along, places);
    }
}

static rg_status look_at_island(const rg_world_content *c, const rg_islands *islands,
                                const rg_island *island, const rg_island_input *input,
                                rg_solve_context *context, rg_arena *arena, uint8_t *open) {
    rg_row_set none = {.dimension = c->planar ? 2 : 3, .freedom = input->joints->freedom};
    double *still = rg_arena_take(arena, island->joint_count, sizeof *still);
    rg_problem problem;
    rg_uniqueness found;
    rg_status status = rg_island_problem(c, &none, islands, island, input, arena, &problem);
    if (!still || status)
        return RG_OUT_OF_MEMORY;
    memset(still, 0, island->joint_count * sizeof *still);
    return rg_solution_uniqueness(context, &problem, still, &found, open, NULL);
}

rg_status rg_world_joint_forces_open(rg_world *world, uint16_t *open, rg_error *error) {
    const rg_world_content *c = &world->content;
    rg_arena *arena = &world->scratch;
    rg_step_machinery *machinery;
    rg_islands islands = {0};
    rg_joint_set set;
    rg_status status = rg_machinery_of(world, &machinery, error);
    if (status)
        return status;
    rg_arena_reset(arena);
    size_t most = c->joints.count * (RG_JOINT_LOCKED + RG_JOINT_AXES_MOST);
    rg_vec3 *still = rg_arena_take(arena, c->bodies.count + 1, sizeof *still);
    uint8_t *rows = rg_arena_take(arena, most + 1, sizeof *rows);
    if (!still || !rows || rg_joint_set_make(c, most, arena, &set))
        return rg_fail(error, RG_OUT_OF_MEMORY, "no memory for joints");
    memset(still, 0, c->bodies.count * sizeof *still);
    memset(open, 0, c->joints.count * sizeof *open);
    for (size_t j = 0; j < c->joints.count; j++)
        add_joint(c, j, &set);
    rg_row_set none = {.dimension = c->planar ? 2 : 3, .freedom = set.freedom};
    rg_island_input input = {.velocity = still, .angular_velocity = still, .joints = &set};
    status = rg_islands_find(&none, &set, c->bodies.count, arena, &islands);
    for (size_t i = 0; i < islands.count && !status; i++) {
        const rg_island *island = &islands.islands[i];
        if (island->joint_count > ROWS_MOST)
            continue;
        status = look_at_island(c, &islands, island, &input, machinery->contexts[0], arena, rows);
        for (size_t k = 0; k < island->joint_count && !status; k++) {
            const rg_joint_row *row = &set.rows[islands.joints[island->first_joint + k]];
            open[row->joint] |= (uint16_t)(rows[k] && !row->link1 ? 1U << row->place : 0);
        }
    }
    return status ? rg_fail(error, status, "joints: %s", rg_status_text(status)) : RG_OK;
}
