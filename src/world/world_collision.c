/* How a world finds its contacts, as the caller says it: defaults and checks. Tested by
 * tests/step/test_collision.c.
 * Tested by tests/step/test_world.c. */
#include "base/base_text.h"
#include "rigor/version.h"
#include "world/world.h"

rg_collision_def rg_collision_def_default(void) {
    return (rg_collision_def){.api_version = RG_API_VERSION};
}

rg_collision_def rg_world_collision_def(const rg_world *world) {
    return world->collision;
}

static bool is_length(double x) {
    return x >= 0 && x <= RG_NUMBER_LARGEST;
}

rg_status rg_collision_def_check(const rg_collision_def *def, rg_error *error) {
    const rg_contact_settings *c = &def->contacts;
    rg_status status = rg_check_version(def->api_version, "rg_collision_def", error);
    if (status)
        return status;
    if ((unsigned)def->broad_phase > RG_BROAD_PHASE_TREE)
        return rg_fail(error, RG_INVALID_ARGUMENT, "broad phase: there is no value %d",
                       (int)def->broad_phase);
    if (!is_length(c->near) || !is_length(c->band) || !is_length(c->stick) ||
        !is_length(c->inner) || !is_length(def->touch))
        return rg_fail(error, RG_INVALID_ARGUMENT,
                       "contacts: distances must be finite, not negative and at most %g m",
                       RG_NUMBER_LARGEST);
    return RG_OK;
}
