/* The impulses of a step's impacts: see step_impulse_log.h. */
#include "step/step_impulse_log.h"

#include "base/base_math.h"
#include "base/base_memory.h"
#include "problem/problem_rows.h"

rg_impulse_log rg_impulse_log_begin(rg_step_machinery *machinery, const rg_step_impulse *contact,
                                    bool planar) {
    machinery->impact_count++;
    return (rg_impulse_log){machinery, contact, planar, machinery->impulse_count};
}

void rg_impulse_log_undo(rg_impulse_log *log) {
    log->machinery->impulse_count = log->first;
}

/* Components along normal and tangents as a vector. */
static rg_vec3 vector_of(const double *components, int dimension, const rg_vec3 axes[3]) {
    rg_vec3 sum = {0, 0, 0};
    for (int i = 0; i < dimension; i++)
        sum = rg_add(sum, rg_scale(components[i], axes[i]));
    return sum;
}

void rg_impulse_log_round(void *user, const rg_impact_round *round) {
    rg_impulse_log *log = user;
    rg_step_machinery *m = log->machinery;
    for (size_t i = 0; i < round->contacts; i++) {
        size_t at = i * (size_t)round->dimension;
        bool any = false;
        for (size_t k = 0; k < (size_t)round->dimension; k++)
            any |= round->impulse[at + k] != 0;
        if (!any)
            continue;
        size_t place = m->impulse_count++;
        if (place >= RG_STEP_IMPULSES_MOST ||
            rg_array_grow(&m->allocator, &m->impulses, &m->impulse_capacity, place + 1) != RG_OK)
            continue;
        rg_vec3 axes[3] = {log->contact[i].normal};
        rg_contact_tangents(axes[0], log->planar, &axes[1], &axes[2]);
        rg_step_impulse *impulse = &m->impulses[place];
        *impulse = log->contact[i];
        impulse->impact = m->impact_count;
        impulse->round = (uint32_t)round->number;
        impulse->impulse = vector_of(round->impulse + at, round->dimension, axes);
        impulse->before = vector_of(round->before + at, round->dimension, axes);
        impulse->after = vector_of(round->after + at, round->dimension, axes);
    }
}

const rg_step_impulse *rg_world_step_impulses(const rg_world *world, size_t *kept, size_t *count) {
    const rg_step_machinery *m = world->machinery;
    *count = m ? m->impulse_count : 0;
    *kept = m && *count > m->impulse_capacity ? m->impulse_capacity : *count;
    *kept = *kept < RG_STEP_IMPULSES_MOST ? *kept : RG_STEP_IMPULSES_MOST;
    return m ? m->impulses : NULL;
}
