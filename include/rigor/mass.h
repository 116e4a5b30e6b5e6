/* Mass properties: mass, centre of mass, inertia about it; their combination and their check. */
#ifndef RIGOR_MASS_H
#define RIGOR_MASS_H

#include "rigor/status.h"
#include "rigor/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Inertia is about `centre`, in the axes of the frame that `centre` is given in. For planar shapes
 * mass is areal density times area, and only the entry m[1][1] (about y) has a meaning. */
typedef struct rg_mass_properties {
    double mass;
    rg_vec3 centre;
    rg_mat3 inertia;
} rg_mass_properties;

/* Principal moments and the rotation from principal to body axes: I = R diag(moments) R^T. Among
 * the equivalent choices of axes the one nearest to the body's own is returned; an inertia that is
 * diagonal already gives exactly the identity. */
typedef struct rg_principal_axes {
    rg_vec3 moments;
    rg_quat axes;
} rg_principal_axes;

/* The same body seen from a frame in which its own frame has the given pose. */
rg_mass_properties rg_mass_transform(rg_mass_properties mass, rg_pose pose);
/* The union of two bodies, both in one frame. */
rg_mass_properties rg_mass_add(rg_mass_properties a, rg_mass_properties b);
/* Finite, positive mass, symmetric positive definite inertia, triangle inequality of the principal
 * moments (each at most the sum of the others): the conditions that any distribution of mass obeys.
 */
rg_status rg_mass_check(const rg_mass_properties *mass, bool planar, rg_error *error);
rg_principal_axes rg_mass_principal_axes(const rg_mat3 *inertia);

#ifdef __cplusplus
}
#endif
#endif
