/* What a live run does to a world besides stepping it. */
#ifndef RIGOR_VIEWER_WORLD_H
#define RIGOR_VIEWER_WORLD_H

#include "rigor/world.h"

/* Fills the error, which may be null, and returns the status. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
rg_status
view_fail(rg_error *error, rg_status status, const char *format, ...);

/* The contact laws that a scene came with, so that friction can be changed and changed back. */
typedef struct view_laws {
    size_t material_count, pair_count;
    rg_contact_law *materials;
    struct view_pair_law *pairs;
} view_laws;
rg_status view_laws_keep(view_laws *laws, const rg_world *world, rg_error *error);
void view_laws_free(view_laws *laws);
/* The scene's laws, with another friction everywhere (null: with their own). */
rg_status view_laws_apply(const view_laws *laws, rg_world *world, const double *friction,
                          rg_error *error);

/* A cube (planar worlds: a square) of the density of water, turned as the world is. Refused where
 * it would overlap something: contact is exact from where bodies are apart. *names counts up. */
rg_status view_throw_box(rg_world *world, rg_vec3 from, rg_vec3 velocity, double size,
                         uint32_t *names, rg_error *error);

#endif
