/* Plain values that every part of the interface shares. Double precision, SI units, right-handed,
 * z up. Planar worlds live in the x-z plane. */
#ifndef RIGOR_TYPES_H
#define RIGOR_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rg_vec3 {
    double x, y, z;
} rg_vec3;

/* Unit quaternion, (x, y, z, w) everywhere: files and memory. */
typedef struct rg_quat {
    double x, y, z, w;
} rg_quat;

/* Row-major. */
typedef struct rg_mat3 {
    double m[3][3];
} rg_mat3;

/* Maps local to outer coordinates: p_outer = position + orientation * p_local. */
typedef struct rg_pose {
    rg_vec3 position;
    rg_quat orientation;
} rg_pose;

typedef struct rg_bounds {
    rg_vec3 lower, upper;
} rg_bounds;

/* `count` rows of numbers; row i starts at data + i * stride (stride in doubles). */
typedef struct rg_strided {
    const double *data;
    size_t count;
    size_t stride;
} rg_strided;

/* Where memory comes from. `resize` behaves like realloc (pointer may be null, size is not 0),
 * `release` like free. Both must be thread safe. A null rg_allocator * means the C library. */
typedef struct rg_allocator {
    void *(*resize)(void *user, void *pointer, size_t size);
    void (*release)(void *user, void *pointer);
    void *user;
} rg_allocator;

/* How roots in a bracket are found, such as times of impact. */
typedef enum rg_root_method {
    RG_ROOT_ITP,      /* Oliveira and Takahashi 2020: superlinear on smooth functions, never much
                         slower than bisection */
    RG_ROOT_ILLINOIS, /* regula falsi that halves a value that stays: Baraff 1989, footnote 2 */
    RG_ROOT_BISECTION,
    RG_ROOT_METHOD_COUNT
} rg_root_method;

/* Value handles: an index and the generation that it had when it was made, so that a handle of
 * something removed is recognised. All bits zero is the null handle. */
typedef struct rg_body_id {
    uint32_t index1; /* slot + 1 */
    uint32_t generation;
} rg_body_id;

typedef struct rg_collider_id {
    uint32_t index1;
    uint32_t generation;
} rg_collider_id;

typedef struct rg_force_id {
    uint32_t index1;
    uint32_t generation;
} rg_force_id;

typedef struct rg_joint_id {
    uint32_t index1;
    uint32_t generation;
} rg_joint_id;

typedef struct rg_material_id {
    uint32_t index1; /* 0 is the default material */
} rg_material_id;

#ifdef __cplusplus
}
#endif
#endif
