/* A seeded random generator: the same seed gives the same numbers on every machine. There is no
 * hidden state; copy the struct to fork the sequence. */
#ifndef RIGOR_RANDOM_H
#define RIGOR_RANDOM_H

#include "rigor/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rg_random {
    uint64_t state[4];
} rg_random;

rg_random rg_random_make(uint64_t seed);
uint64_t rg_random_next(rg_random *random);
/* Uniform in [0, 1), 53 bits. */
double rg_random_unit(rg_random *random);
/* Uniform in [low, high). */
double rg_random_between(rg_random *random, double low, double high);
/* Uniform integer in [0, bound); bound > 0; without bias. */
uint64_t rg_random_below(rg_random *random, uint64_t bound);
/* Standard normal. */
double rg_random_normal(rg_random *random);
/* Uniform on the unit sphere. */
rg_vec3 rg_random_direction(rg_random *random);
/* Uniform over all rotations. */
rg_quat rg_random_rotation(rg_random *random);

#ifdef __cplusplus
}
#endif
#endif
