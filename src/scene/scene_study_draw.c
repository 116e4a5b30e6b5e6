/* Random draws of studies: plain, stratified (McKay, Beckman and Conover 1979: Latin hypercubes),
 * and of low discrepancy (Sobol 1967, with the direction numbers of Joe and Kuo 2008). Every number
 * is a function of seed, run and dimension alone, so that runs may be made in any order and
 * anywhere.
 * Tested by tests/scene/test_study.c. */
#include "scene/scene_study.h"

#include "base/base_hash.h"
#include "base/base_trig.h"
#include "rigor/random.h"

#include <math.h>

/* ---- Sobol's sequence ---- */

/* Joe and Kuo 2008, new-joe-kuo-6: degree s and coefficients a of the primitive polynomial, initial
 * direction numbers m, from the second dimension on. */
static const struct {
    uint32_t s, a, m[5];
} polynomials[RG_SOBOL_DIMENSIONS - 1] = {{1, 0, {1}},
                                          {2, 1, {1, 3}},
                                          {3, 1, {1, 3, 1}},
                                          {3, 2, {1, 1, 1}},
                                          {4, 1, {1, 1, 3, 3}},
                                          {4, 4, {1, 3, 5, 13}},
                                          {5, 2, {1, 1, 5, 5, 17}},
                                          {5, 4, {1, 1, 5, 5, 5}},
                                          {5, 7, {1, 1, 7, 11, 19}}};

static void make_directions(uint32_t v[RG_SOBOL_DIMENSIONS][RG_SOBOL_BITS]) {
    for (uint32_t k = 0; k < RG_SOBOL_BITS; k++)
        v[0][k] = UINT32_C(1) << (31 - k);
    for (size_t d = 1; d < RG_SOBOL_DIMENSIONS; d++) {
        uint32_t s = polynomials[d - 1].s, a = polynomials[d - 1].a;
        for (uint32_t k = 0; k < RG_SOBOL_BITS; k++) {
            if (k < s) {
                v[d][k] = polynomials[d - 1].m[k] << (31 - k);
                continue;
            }
            v[d][k] = v[d][k - s] ^ (v[d][k - s] >> s);
            for (uint32_t i = 1; i < s; i++)
                if (a >> (s - 1 - i) & 1)
                    v[d][k] ^= v[d][k - i];
        }
    }
}

/* ---- what the samplings share ---- */

static uint64_t mix(const rg_study *study, uint64_t run, size_t dimension) {
    uint64_t hash = rg_hash_u64(rg_hash_begin(), study->seed);
    return rg_hash_u64(rg_hash_u64(hash, run), dimension);
}

static double fraction(uint64_t bits) {
    return (double)(bits >> 11) * 0x1p-53;
}

rg_status rg_study_prepare(rg_study *study) {
    if (study->sampling == RG_SAMPLING_SOBOL)
        make_directions(study->sobol);
    if (study->sampling != RG_SAMPLING_LATIN_HYPERCUBE || study->dimensions == 0)
        return RG_OK;
    study->strata = rg_allocate(&study->allocator, study->dimensions * (size_t)study->draws,
                                sizeof *study->strata);
    if (!study->strata)
        return RG_OUT_OF_MEMORY;
    for (size_t d = 0; d < study->dimensions; d++) {
        uint32_t *list = study->strata + d * (size_t)study->draws;
        rg_random random = rg_random_make(mix(study, UINT64_MAX, d));
        for (uint64_t i = 0; i < study->draws; i++) { /* Fisher and Yates */
            uint64_t k = rg_random_below(&random, i + 1);
            list[i] = list[k];
            list[k] = (uint32_t)i;
        }
    }
    return RG_OK;
}

double rg_study_unit(const rg_study *study, uint64_t run, size_t dimension) {
    uint64_t draw = run % study->draws;
    if (study->sampling == RG_SAMPLING_RANDOM)
        return fraction(mix(study, run, dimension));
    if (study->sampling == RG_SAMPLING_LATIN_HYPERCUBE) {
        double stratum = study->strata[dimension * (size_t)study->draws + (size_t)draw];
        double value = (stratum + fraction(mix(study, draw, dimension))) / (double)study->draws;
        return value < 1 ? value : 1 - 0x1p-53;
    }
    /* Shifted bit by bit by the seed, which keeps the nets, and moved off 0. */
    uint32_t bits = (uint32_t)(mix(study, UINT64_MAX, dimension) >> 32);
    for (size_t k = 0; draw >> k; k++)
        if (draw >> k & 1)
            bits ^= study->sobol[dimension][k];
    return ((double)bits + 0.5) * 0x1p-32;
}

/* ---- distributions ---- */

/* Phi(x) - 1/2 by its power series times the density: all terms have the sign of x. */
static double normal_above_half(double x) {
    double term = x, sum = x;
    for (int k = 3; fabs(term) > 1e-18 * fabs(sum) && k < 400; k += 2) {
        term *= x * x / k;
        sum += term;
    }
    return sum * rg_exp(-x * x / 2) * 0.39894228040143267794;
}

double rg_normal_quantile(double p) {
    double low = -8.3, high = 8.3; /* Phi is 0 or 1 beyond, to rounding of p */
    for (int i = 0; i < 200 && high - low > 0; i++) {
        double middle = low + (high - low) / 2;
        if (middle <= low || middle >= high)
            break;
        *(normal_above_half(middle) + 0.5 < p ? &low : &high) = middle;
    }
    return low + (high - low) / 2;
}

double rg_study_value(const rg_study_parameter *parameter, double unit) {
    double a = parameter->a, b = parameter->b;
    switch (parameter->kind) {
    case RG_STUDY_LOG_UNIFORM:
        return a * rg_exp(unit * rg_log(b / a));
    case RG_STUDY_NORMAL:
        return a + b * rg_normal_quantile(unit > 0 ? unit : 0x1p-54);
    case RG_STUDY_WHOLE:
        return fmin(b, a + floor(unit * (b - a + 1)));
    default:
        return a + unit * (b - a);
    }
}
