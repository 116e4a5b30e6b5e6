/* Tested by tests/step/test_driver.c. */
#include "step/step_judge.h"

#include "base/base_registry.h"
#include "base/base_text.h"

#include <string.h>

/* The first is the default. */
static const rg_method *const methods[] = {&rg_method_stepping, &rg_method_analytic,
                                           &rg_method_penalty};

RG_DEFINE_REGISTRY(rg_method, methods)

void rg_step_report_add(rg_step_report *r, const rg_step_report *part) {
    r->external_work += part->external_work;
    r->impulse = rg_add(r->impulse, part->impulse);
    r->angular_impulse = rg_add(r->angular_impulse, part->angular_impulse);
    r->substeps += part->substeps;
    r->evaluations += part->evaluations;
    rg_solve_counts_add(&r->counts, &part->counts);
    r->impacts += part->impacts;
    r->projected_kinetic += part->projected_kinetic;
    r->projected_potential += part->projected_potential;
    rg_judge_findings_add(&r->found, &part->found);
    r->integration += part->integration;
    r->missed = fmax(r->missed, part->missed);
    r->contact_impulse = rg_add(r->contact_impulse, part->contact_impulse);
    r->contact_angular_impulse = rg_add(r->contact_angular_impulse, part->contact_angular_impulse);
}

const rg_method *rg_method_of(const rg_world *world) {
    return world->content.method ? world->content.method : methods[0];
}

const rg_method *rg_world_method(const rg_world *world) {
    return rg_method_of(world);
}

rg_status rg_world_set_method(rg_world *world, const rg_method *method,
                              const rg_method_settings *settings, rg_error *error) {
    rg_status status = settings ? rg_settings_check(settings, error) : RG_OK;
    if (status)
        return status;
    status = rg_world_begin_edit(world);
    if (status)
        return rg_fail(error, status, "%s", rg_status_text(status));
    world->content.method = method;
    if (settings)
        world->content.settings = *settings;
    return RG_OK;
}

rg_status rg_step_confirm(const rg_world *world, rg_error *error) {
    if (rg_world_stops(world))
        return rg_fail(error, RG_INTERRUPTED, "%s", rg_status_text(RG_INTERRUPTED));
    return rg_prescription_failed(&world->content) ? RG_NOT_FINITE : RG_OK;
}
