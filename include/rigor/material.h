/* Materials: what contact between two surfaces is like. */
#ifndef RIGOR_MATERIAL_H
#define RIGOR_MATERIAL_H

#include "rigor/status.h"
#include "rigor/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rg_world rg_world;
typedef struct rg_impact_law rg_impact_law; /* rigor/impact.h */

/* {.friction = 0.5} is a law with one coefficient for stick and slip. A static coefficient
 * alone is refused: it would leave a contact without friction as soon as it slips. */
typedef struct rg_contact_law {
    double friction;             /* coefficient while slipping, >= 0; 0: no friction at all */
    double static_friction;      /* coefficient up to which a contact sticks, at least as large;
                                    0: the same as friction */
    double restitution;          /* 0 ... 1 */
    const rg_impact_law *impact; /* analytic: of collisions; null: none is named */
    double stiffness;            /* penalty: N/m of a contact point; 0: as the settings say */
    /* m, stepping: the torques about the contact point are at most these times the normal force, in
     * the tangent plane against rolling, about the normal against spinning; 0: none. */
    double rolling_friction, torsional_friction;
} rg_contact_law;

/* Friction 0.5, restitution 0, no law of impact. */
rg_contact_law rg_contact_law_default(void);
/* The same law with static_friction filled in: at least friction, and 0 without it. */
rg_contact_law rg_contact_law_complete(rg_contact_law law);

/* Material 0 is there from the start and is called "default". */
rg_status rg_world_add_material(rg_world *world, const char *name, const rg_contact_law *law,
                                rg_material_id *material, rg_error *error);
rg_status rg_world_set_material_law(rg_world *world, rg_material_id material,
                                    const rg_contact_law *law, rg_error *error);
/* The law of a pair, instead of the mixture below. */
rg_status rg_world_set_pair_law(rg_world *world, rg_material_id a, rg_material_id b,
                                const rg_contact_law *law, rg_error *error);

size_t rg_world_material_count(const rg_world *world);
const char *rg_world_material_name(const rg_world *world, rg_material_id material);
/* As it was given. */
rg_contact_law rg_world_material_law(const rg_world *world, rg_material_id material);
rg_status rg_world_find_material(const rg_world *world, const char *name, rg_material_id *material);
/* The law by which two materials meet, static_friction filled in. The override of the pair if
 * there is one; otherwise the geometric mean of both coefficients of friction, of rolling and of
 * torsional friction the larger one, the larger restitution, and the stiffness of both springs one
 * behind the other, or that of the only one that is given. The law of impact, in this order: that
 * of the override; the one that both materials name, or the only one of them that names any; null
 * where neither does or they differ: the settings' (rigor/method.h). Where the contacts of bodies
 * that touch each other have different laws, the law of the contact that approaches fastest is
 * that of the instant. */
rg_contact_law rg_world_pair_law(const rg_world *world, rg_material_id a, rg_material_id b);
size_t rg_world_pair_count(const rg_world *world);
/* The override, as it was given. */
void rg_world_pair_at(const rg_world *world, size_t index, rg_material_id *a, rg_material_id *b,
                      rg_contact_law *law);

#ifdef __cplusplus
}
#endif
#endif
