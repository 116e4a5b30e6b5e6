/* Impulses of the joints of mechanisms without loops that touch nothing, by the articulated-body
 * method (step_articulated.c), without islands and problems. The judge has a formula of its own for
 * them (step_judge_rows.c); what does not pass goes the way of all others.
 * Tested by tests/step/test_joints.c. */
#include "step/step_contacts.h"
#include "step/step_judge.h"
#include "step/step_machinery.h"

/* Are the rows of joints nothing but the locked ones of such mechanisms? */
static bool is_tree(const rg_contact_job *job, const rg_articulated *tree) {
    const rg_contact_step *contacts = job->contacts;
    const rg_islands *islands = &contacts->islands;
    const rg_solver *solver = job->world->content.settings.solver;
    if ((solver && solver != rg_solver_at(0)) || contacts->joints.count != tree->rows ||
        !rg_articulated_takes(tree, &job->world->content, contacts->member))
        return false;
    for (size_t i = 0; i < contacts->joints.count; i++)
        if (contacts->joints.rows[i].place >= RG_JOINT_LOCKED)
            return false;
    for (size_t i = 0; i < islands->count && contacts->set.count > 0; i++)
        if (islands->islands[i].joint_count > 0 && islands->islands[i].contact_count > 0)
            return false;
    return true;
}

bool rg_contacts_tree(rg_contact_job *job, double aim) {
    rg_contact_step *contacts = job->contacts;
    const rg_world_content *c = &job->world->content;
    rg_joint_set *set = &contacts->joints;
    rg_articulated *tree = &job->machinery->seen.tree;
    rg_arena *arena = &job->world->scratch;
    rg_judge_rows rows = {.set = set,
                          .velocity = contacts->free_velocity,
                          .angular_velocity = contacts->free_angular_velocity,
                          .inertia = contacts->inertia,
                          .seen = &job->machinery->seen};
    if (set->count == 0 || !is_tree(job, tree))
        return false;
    double *rest = rg_arena_take(arena, set->count, sizeof *rest);
    if (!rest ||
        !rg_articulated_place(tree, c, &job->machinery->seen,
                              (rg_body_places){c->position, c->orientation}, contacts->inertia))
        return false;
    rg_joint_rates(set, c->position, rows.velocity, rows.angular_velocity, rest);
    for (size_t i = 0; i < set->count; i++)
        rest[i] = (rest[i] + set->rows[i].shift) / rg_joint_row_unit(&set->rows[i]);
    rg_articulated_solve(tree, rest, set->impulse);
    for (size_t i = 0; i < set->count; i++)
        set->impulse[i] /= rg_joint_row_unit(&set->rows[i]);
    double left = rg_judge_locked_rows(c, &rows, arena) / job->speed;
    job->tree_residual = (rg_residual){.natural = left, .feasibility = left};
    return left <= aim;
}
