/* Islands of one contact: what solve_single.c is given of them, read where it is.
 *
 * Not with joints, restitution or rolling friction, in the plane or with a polygon for a cone, nor
 * if a solver was chosen: those are problems like any other.
 * Tested by tests/step/test_contacts.c. */
#include "step/step_contacts.h"

#include "solve/solve.h"

#include <string.h>

bool rg_contacts_is_single(const rg_contact_job *job, const rg_island *island) {
    const rg_contact_step *contacts = job->contacts;
    const rg_method_settings *method = &job->world->content.settings;
    if (island->contact_count != 1 || island->joint_count > 0 || contacts->set.dimension != 3 ||
        !(job->speed > 0) || (method->solver && method->solver != rg_solver_at(0)))
        return false;
    uint32_t i = contacts->islands.contacts[island->first_contact];
    return !job->meets[i] && (method->friction_directions == 0 || job->mu[i] == 0);
}

static void fill_body(const rg_contact_job *job, uint32_t body, const double *jacobian,
                      rg_single_body *out) {
    const rg_contact_step *contacts = job->contacts;
    const rg_world_content *c = &job->world->content;
    const rg_body_dynamics *d = &c->dynamics[body];
    rg_vec3 v = contacts->free_velocity[body], w = contacts->free_angular_velocity[body];
    double *inverse = out->inverse_inertia;
    rg_vec3 i = d->inverse_inertia;
    out->jacobian = jacobian;
    out->inverse_mass = d->inverse_mass;
    const double free[6] = {v.x, v.y, v.z, w.x, w.y, w.z}, axes[3] = {i.x, i.y, i.z};
    memcpy(out->free_velocity, free, sizeof free);
    out->round = i.x == i.y && i.y == i.z;
    if (out->round) {
        inverse[0] = i.x;
        return;
    }
    memset(inverse, 0, 9 * sizeof *inverse);
    rg_mat3 r = rg_mat3_of_quat(c->orientation[body]);
    for (int row = 0; row < 3; row++)
        for (int column = 0; column < 3; column++)
            for (int k = 0; k < 3; k++)
                inverse[3 * row + column] += r.m[row][k] * axes[k] * r.m[column][k];
}

void rg_contacts_single(const rg_contact_job *job, const rg_island *island, rg_single *single) {
    const rg_contact_step *contacts = job->contacts;
    uint32_t i = contacts->islands.contacts[island->first_contact];
    const rg_contact_row *row = &contacts->set.rows[i];
    single->bodies = 0;
    single->mu = job->mu[i];
    single->scale = job->speed;
    memcpy(single->q, job->shift + 3 * (size_t)i, sizeof single->q);
    if (row->moves_a)
        fill_body(job, row->body_a, rg_row_jacobian(&contacts->set, i, 0, 0),
                  &single->body[single->bodies++]);
    if (row->moves_b)
        fill_body(job, row->body_b, rg_row_jacobian(&contacts->set, i, 1, 0),
                  &single->body[single->bodies++]);
}
