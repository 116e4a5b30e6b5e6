/* Exact integrals over polyhedra, shared by hulls, boxes and meshes. */
#ifndef RIGOR_SHAPE_MASS_H
#define RIGOR_SHAPE_MASS_H

#include "rigor/mass.h"

/* Volume, first and second moments about `reference` of what a closed surface encloses, triangle by
 * triangle, each sum compensated. */
typedef struct rg_moment_sum {
    rg_vec3 reference;
    double sum[10], lost[10]; /* volume; x y z; xx yy zz yz zx xy */
} rg_moment_sum;

rg_moment_sum rg_moment_begin(rg_vec3 reference);
/* A triangle of the surface, counter-clockwise seen from outside. */
void rg_moment_add_triangle(rg_moment_sum *moments, rg_vec3 a, rg_vec3 b, rg_vec3 c);
double rg_moment_volume(const rg_moment_sum *moments);
/* The centroid; the reference if there is no volume. */
rg_vec3 rg_moment_centroid(const rg_moment_sum *moments);
/* Density 1; the volume must be positive. */
rg_mass_properties rg_moment_mass(const rg_moment_sum *moments);

/* Inertia from the second moments xx yy zz yz zx xy about the centre of mass. */
rg_mat3 rg_inertia_of_moments(const double second[6]);
rg_mass_properties rg_mass_scaled(rg_mass_properties mass, double factor);

/* A number that is finite, positive, and so is its inverse; otherwise RG_NOT_FINITE or `status`. */
rg_status rg_check_positive(const char *what, double value, rg_status status, rg_error *error);

/* Running sum that carries what rounding loses (Neumaier 1974). */
static inline void rg_sum_add(double *sum, double *lost, double term) {
    double next = *sum + term;
    double sum_size = *sum < 0 ? -*sum : *sum, term_size = term < 0 ? -term : term;
    *lost += sum_size >= term_size ? (*sum - next) + term : (term - next) + *sum;
    *sum = next;
}

#endif
