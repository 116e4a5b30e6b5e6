/* Changes of a world: see view_world.h. */
#include "view_world.h"

#include "rigor/collision.h"
#include "rigor/version.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

rg_status view_fail(rg_error *error, rg_status status, const char *format, ...) {
    if (!error)
        return status;
    va_list list;
    va_start(list, format);
    *error = (rg_error){.status = status};
    vsnprintf(error->text, sizeof error->text, format, list);
    va_end(list);
    return status;
}

/* ---- contact laws ---- */

struct view_pair_law {
    rg_material_id a, b;
    rg_contact_law law;
};

static rg_material_id material_at(size_t index) {
    return (rg_material_id){(uint32_t)index + 1};
}

rg_status view_laws_keep(view_laws *laws, const rg_world *world, rg_error *error) {
    *laws = (view_laws){.material_count = rg_world_material_count(world),
                        .pair_count = rg_world_pair_count(world)};
    laws->materials = calloc(laws->material_count + 1, sizeof *laws->materials);
    laws->pairs = calloc(laws->pair_count + 1, sizeof *laws->pairs);
    if (!laws->materials || !laws->pairs)
        return view_fail(error, RG_OUT_OF_MEMORY, "no memory for materials");
    for (size_t i = 0; i < laws->material_count; i++)
        laws->materials[i] = rg_world_material_law(world, material_at(i));
    for (size_t i = 0; i < laws->pair_count; i++)
        rg_world_pair_at(world, i, &laws->pairs[i].a, &laws->pairs[i].b, &laws->pairs[i].law);
    return RG_OK;
}

void view_laws_free(view_laws *laws) {
    free(laws->materials);
    free(laws->pairs);
    *laws = (view_laws){0};
}

static rg_contact_law with_friction(rg_contact_law law, const double *friction) {
    if (friction)
        law.static_friction = law.dynamic_friction = *friction;
    return law;
}

rg_status view_laws_apply(const view_laws *laws, rg_world *world, const double *friction,
                          rg_error *error) {
    rg_status status = RG_OK;
    for (size_t i = 0; i < laws->material_count && status == RG_OK; i++) {
        rg_contact_law law = with_friction(laws->materials[i], friction);
        status = rg_world_set_material(world, material_at(i), &law, error);
    }
    for (size_t i = 0; i < laws->pair_count && status == RG_OK; i++) {
        rg_contact_law law = with_friction(laws->pairs[i].law, friction);
        status = rg_world_set_pair(world, laws->pairs[i].a, laws->pairs[i].b, &law, error);
    }
    return status;
}

/* ---- boxes ---- */

static rg_status make_box(bool planar, double size, rg_shape **shape, rg_error *error) {
    double h = 0.5 * size;
    rg_vec3 corners[] = {{-h, 0, -h}, {h, 0, -h}, {h, 0, h}, {-h, 0, h}};
    rg_shape_def def =
        planar ? rg_shape_def_polygon(corners, 4) : rg_shape_def_box(size, size, size);
    return rg_shape_create(&def, NULL, shape, error);
}

static rg_status add_box(rg_world *world, rg_shape *shape, rg_vec3 from, rg_vec3 velocity,
                         uint32_t *names, rg_error *error) {
    char name[32];
    rg_body_id taken;
    rg_collider_def collider = rg_collider_def_default();
    rg_body_def def = rg_body_def_default();
    do
        snprintf(name, sizeof name, "thrown-%u", (unsigned)++*names);
    while (rg_world_find_body(world, name, &taken) == RG_OK);
    collider.shape = shape;
    def.name = name;
    def.pose.position = from;
    def.velocity = velocity;
    def.colliders = &collider;
    def.collider_count = 1;
    return rg_world_add_body(world, &def, &taken, error);
}

rg_status view_throw_box(rg_world *world, rg_vec3 from, rg_vec3 velocity, double size,
                         uint32_t *names, rg_error *error) {
    bool planar = rg_world_is_planar(world);
    rg_pose pose = {from, {0, 0, 0, 1}};
    rg_shape *shape;
    rg_collider_id other;
    size_t overlaps = 0;
    if (planar)
        pose.position.y = velocity.y = 0;
    rg_status status = make_box(planar, size, &shape, error);
    if (status != RG_OK)
        return status;
    status = rg_world_overlap(world, shape, pose, NULL, &other, 1, &overlaps);
    if (status != RG_OK)
        view_fail(error, status, "a box cannot be thrown: %s", rg_status_text(status));
    else if (overlaps > 0)
        status =
            view_fail(error, RG_INVALID_ARGUMENT, "there is no room for a box of %g m there", size);
    else
        status = add_box(world, shape, pose.position, velocity, names, error);
    rg_shape_release(shape);
    return status;
}

/* ---- intervals ---- */

/* NaN is what was not measured. */
static double worse(double a, double b) {
    return isnan(a) || b > a ? b : a;
}

rg_step_info view_interval_begin(void) {
    rg_step_info interval = {0};
    double *certificate = (double *)&interval.certificate, *energy = (double *)&interval.energy;
    for (size_t i = 0; i < sizeof interval.certificate / sizeof(double); i++)
        certificate[i] = NAN;
    for (size_t i = 0; i < sizeof interval.energy / sizeof(double); i++)
        energy[i] = NAN;
    return interval;
}

static void add_certificate(rg_certificate *worst, const rg_certificate *step) {
    worst->min_gap = -worse(-worst->min_gap, -step->min_gap);
    worst->max_penetration = worse(worst->max_penetration, step->max_penetration);
    worst->complementarity = worse(worst->complementarity, step->complementarity);
    worst->cone_violation = worse(worst->cone_violation, step->cone_violation);
    worst->joint_error = worse(worst->joint_error, step->joint_error);
    worst->momentum_error = worse(worst->momentum_error, step->momentum_error);
}

static void add_ledger(rg_energy_ledger *sum, const rg_energy_ledger *step) {
    if (isnan(step->initial) && isnan(step->final))
        return; /* no judge */
    if (isnan(sum->initial) && isnan(sum->final))
        *sum = (rg_energy_ledger){.initial = step->initial};
    sum->final = step->final;
    sum->impact_loss += step->impact_loss;
    sum->friction_work += step->friction_work;
    sum->stabilisation += step->stabilisation;
    sum->integration += step->integration;
    sum->external_work += step->external_work;
    sum->prescribed_work += step->prescribed_work;
    sum->closure += step->closure;
    sum->closure_rel = worse(sum->closure_rel, step->closure_rel);
}

void view_interval_add(rg_step_info *interval, const rg_step_info *step) {
    interval->steps += step->steps;
    interval->time = step->time;
    add_certificate(&interval->certificate, &step->certificate);
    add_ledger(&interval->energy, &step->energy);
    interval->substeps += step->substeps;
    interval->rejected += step->rejected;
    interval->evaluations += step->evaluations;
    if (step->contacts_max > interval->contacts_max)
        interval->contacts_max = step->contacts_max;
    interval->impacts += step->impacts;
    interval->solves += step->solves;
    interval->solver_iterations += step->solver_iterations;
    interval->solver_failures += step->solver_failures;
    interval->fallbacks += step->fallbacks;
}
