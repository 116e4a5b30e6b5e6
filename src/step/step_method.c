/* Tested by tests/step/test_driver.c. */
#include "step/step_method.h"

#include "base/base_registry.h"
#include "base/base_text.h"

#include <string.h>

/* The first is the default. */
static const rg_method *const methods[] = {&rg_method_stepping, &rg_method_analytic};

RG_DEFINE_REGISTRY(rg_method, methods)

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
