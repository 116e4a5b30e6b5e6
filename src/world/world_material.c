/* Materials and the law of a pair of them.
 * Tested by tests/step/test_world.c. */
#include "world/world.h"

#include "base/base_text.h"

#include <assert.h>
#include <string.h>

rg_contact_law rg_contact_law_default(void) {
    return (rg_contact_law){.friction = 0.5};
}

rg_contact_law rg_contact_law_complete(rg_contact_law law) {
    if (law.friction == 0 || law.static_friction < law.friction)
        law.static_friction = law.friction;
    return law;
}

static bool is_taken(double x) {
    return x >= 0 && x <= RG_NUMBER_LARGEST;
}

static rg_status check_law(const rg_contact_law *law, rg_error *error) {
    if (!(is_taken(law->friction) && law->static_friction <= RG_NUMBER_LARGEST))
        return rg_fail(error, RG_INVALID_ARGUMENT,
                       "friction: %g; a coefficient is finite and not negative, at most %g",
                       is_taken(law->friction) ? law->static_friction : law->friction,
                       RG_NUMBER_LARGEST);
    if (law->friction == 0 && law->static_friction > 0)
        return rg_fail(error, RG_INVALID_ARGUMENT,
                       "friction: static %g without dynamic; give friction too, or it alone "
                       "for both",
                       law->static_friction);
    if (law->static_friction != 0 && law->static_friction < law->friction)
        return rg_fail(error, RG_INVALID_ARGUMENT,
                       "friction: static %g is below dynamic %g; it must be at least as large",
                       law->static_friction, law->friction);
    if (!(law->restitution >= 0 && law->restitution <= 1))
        return rg_fail(error, RG_INVALID_ARGUMENT, "restitution: %g is outside 0 ... 1",
                       law->restitution);
    if (law->stiffness != 0 &&
        !(law->stiffness >= 1 / RG_NUMBER_LARGEST && is_taken(law->stiffness)))
        return rg_fail(error, RG_INVALID_ARGUMENT,
                       "stiffness: %g N/m; it is 0 or between %g and %g", law->stiffness,
                       1 / RG_NUMBER_LARGEST, RG_NUMBER_LARGEST);
    const double most[2] = {law->rolling_friction, law->torsional_friction};
    for (int i = 0; i < 2; i++)
        if (!is_taken(most[i]))
            return rg_fail(error, RG_INVALID_ARGUMENT,
                           "%s friction: %g m; it is finite and not negative, at most %g",
                           i ? "torsional" : "rolling", most[i], RG_NUMBER_LARGEST);
    return RG_OK;
}

static size_t index_of(const rg_world *world, rg_material_id material) {
    size_t index = material.index1 ? material.index1 - 1 : 0;
    assert(index < world->content.material_count);
    (void)world;
    return index;
}

static bool exists(const rg_world *world, rg_material_id material) {
    return material.index1 <= world->content.material_count;
}

rg_status rg_world_find_material(const rg_world *world, const char *name,
                                 rg_material_id *material) {
    for (size_t i = 0; i < world->content.material_count; i++)
        if (strcmp(world->content.materials[i].name, name) == 0) {
            *material = (rg_material_id){(uint32_t)i + 1};
            return RG_OK;
        }
    return RG_NOT_FOUND;
}

rg_status rg_world_add_material(rg_world *world, const char *name, const rg_contact_law *law,
                                rg_material_id *material, rg_error *error) {
    assert(world && name && law && material);
    rg_world_content *content = &world->content;
    rg_status status = check_law(law, error);
    if (status)
        return status;
    if (rg_world_find_material(world, name, &(rg_material_id){0}) == RG_OK)
        return rg_fail(error, RG_DUPLICATE_NAME, "material \"%s\" exists already", name);
    status = rg_world_begin_edit(world);
    if (status)
        return rg_fail(error, status, "material \"%s\": %s", name, rg_status_text(status));
    status = rg_array_grow(&world->allocator, &content->materials, &content->material_capacity,
                           content->material_count + 1);
    char *copy = status ? NULL : rg_copy_text(&world->allocator, name);
    if (!copy) {
        rg_world_cancel_edit(world);
        return rg_fail(error, RG_OUT_OF_MEMORY, "material \"%s\": %s", name,
                       rg_status_text(RG_OUT_OF_MEMORY));
    }
    content->materials[content->material_count++] = (rg_material){copy, *law};
    *material = (rg_material_id){(uint32_t)content->material_count};
    return RG_OK;
}

rg_status rg_world_set_material_law(rg_world *world, rg_material_id material,
                                    const rg_contact_law *law, rg_error *error) {
    if (!exists(world, material))
        return rg_fail(error, RG_INVALID_HANDLE, "there is no material %u", material.index1);
    rg_status status = check_law(law, error);
    if (status)
        return status;
    status = rg_world_begin_edit(world);
    if (status)
        return rg_fail(error, status, "%s", rg_status_text(status));
    world->content.materials[index_of(world, material)].law = *law;
    return RG_OK;
}

static void sort_pair(const rg_world *world, rg_material_id *a, rg_material_id *b) {
    uint32_t i = (uint32_t)index_of(world, *a) + 1, j = (uint32_t)index_of(world, *b) + 1;
    a->index1 = i < j ? i : j;
    b->index1 = i < j ? j : i;
}

static rg_material_pair *find_pair(const rg_world *world, rg_material_id a, rg_material_id b) {
    sort_pair(world, &a, &b);
    for (size_t i = 0; i < world->content.pair_count; i++) {
        rg_material_pair *pair = &world->content.pairs[i];
        if (pair->a.index1 == a.index1 && pair->b.index1 == b.index1)
            return pair;
    }
    return NULL;
}

rg_status rg_world_set_pair_law(rg_world *world, rg_material_id a, rg_material_id b,
                                const rg_contact_law *law, rg_error *error) {
    rg_world_content *content = &world->content;
    if (!exists(world, a) || !exists(world, b))
        return rg_fail(error, RG_INVALID_HANDLE, "a pair of materials that do not exist");
    rg_status status = check_law(law, error);
    if (status)
        return status;
    status = rg_world_begin_edit(world);
    if (status)
        return rg_fail(error, status, "pair of materials: %s", rg_status_text(status));
    status = rg_array_grow(&world->allocator, &content->pairs, &content->pair_capacity,
                           content->pair_count + 1);
    if (status) {
        rg_world_cancel_edit(world);
        return rg_fail(error, status, "pair of materials: %s", rg_status_text(status));
    }
    rg_material_pair *pair = find_pair(world, a, b);
    if (!pair) {
        pair = &content->pairs[content->pair_count++];
        *pair = (rg_material_pair){.a = a, .b = b};
        sort_pair(world, &pair->a, &pair->b);
    }
    pair->law = *law;
    return RG_OK;
}

size_t rg_world_material_count(const rg_world *world) {
    return world->content.material_count;
}

const char *rg_world_material_name(const rg_world *world, rg_material_id material) {
    return world->content.materials[index_of(world, material)].name;
}

rg_contact_law rg_world_material_law(const rg_world *world, rg_material_id material) {
    return world->content.materials[index_of(world, material)].law;
}

/* Two materials that want different laws: neither's wish is the pair's. */
static const rg_impact_law *mixed_impact(const rg_impact_law *p, const rg_impact_law *q) {
    if (!p || !q)
        return p ? p : q;
    return p == q ? p : NULL;
}

/* Springs one behind the other; where only one is given, that. */
static double mixed_stiffness(double a, double b) {
    return a > 0 && b > 0 ? 1 / (1 / a + 1 / b) : fmax(a, b);
}

rg_contact_law rg_world_pair_law(const rg_world *world, rg_material_id a, rg_material_id b) {
    const rg_material_pair *pair = find_pair(world, a, b);
    rg_contact_law p = rg_contact_law_complete(rg_world_material_law(world, a));
    rg_contact_law q = rg_contact_law_complete(rg_world_material_law(world, b));
    rg_contact_law law = {.static_friction = sqrt(p.static_friction * q.static_friction),
                          .friction = sqrt(p.friction * q.friction),
                          .restitution =
                              p.restitution > q.restitution ? p.restitution : q.restitution,
                          .stiffness = mixed_stiffness(p.stiffness, q.stiffness),
                          .rolling_friction = fmax(p.rolling_friction, q.rolling_friction),
                          .torsional_friction = fmax(p.torsional_friction, q.torsional_friction)};
    if (pair)
        law = rg_contact_law_complete(pair->law);
    if (!law.impact)
        law.impact = mixed_impact(p.impact, q.impact);
    return law;
}

size_t rg_world_pair_count(const rg_world *world) {
    return world->content.pair_count;
}

void rg_world_pair_at(const rg_world *world, size_t index, rg_material_id *a, rg_material_id *b,
                      rg_contact_law *law) {
    assert(index < world->content.pair_count);
    const rg_material_pair *pair = &world->content.pairs[index];
    *a = pair->a;
    *b = pair->b;
    *law = pair->law;
}
