/* What the searches for the least depth share.
 *
 * With K = K1 - K2 (centred), d = x2 - x1 and h the support function of K, the depth along a unit
 * normal n is h(n) - n.d, and the depth of the pair is the least of these: the distance of d, which
 * is inside K, from the boundary of K. It has many local minima, so that every search here is
 * global. */
#ifndef RIGOR_NARROW_NARROW_DEPTH_H
#define RIGOR_NARROW_NARROW_DEPTH_H

#include "narrow/narrow_surface.h"

/* The two shapes without the radii of balls, discs and capsules: a point, a segment, or the shape
 * itself; the second one reflected. Lengths are multiplied by `scale`, a power of two. */
typedef struct rg_cores {
    rg_surface side[2];
    double radius[2];
    rg_vec3 d;
    double scale, size;
    /* how far apart the cores are, where they are */
    bool overlap;
    rg_vec3 y[2]; /* the point of K nearest to d is y[0] + y[1] */
} rg_cores;

/* narrow_distance.c */
void rg_distance_of_cores(const rg_shape *const shape[2], const rg_pose pose[2], rg_cores *cores);

/* Each fills `depth`, points relative to x1. */
void rg_depth_polyhedra(const rg_pair *pair, rg_depth *depth);
void rg_depth_curved(const rg_pair *pair, rg_cores *cores, rg_depth *depth);
/* Whether the growth of two polyhedra that overlap is certain to give the least depth, too; it may
 * be although this says no. */
bool rg_depth_is_growth(const rg_pair *pair, const rg_growth *growth);

#endif
