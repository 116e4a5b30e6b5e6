/* Stronge's law: expansion gives back the share e^2 of the work that the normal force did in
 * compression. For one contact it cannot make energy, whatever the friction does: the sliding is
 * integrated through the impact (step_impact_sliding.c).
 *
 * Many contacts: one after the other, the largest work of compression first (1/2 u_N^2 / W_NN), as
 * energy is what the law is about. Those that tie, or belong to one pair of bodies, go together:
 * compression is one problem, and its expansion is scaled until e^2 of the work is given back.
 *
 * How it fails: as propagation does, slowly where nothing bounces and mass ratios are large.
 * Tested by tests/step/test_impact.c and tests/step/test_impact_random.c. */
#include "step/step_impact.h"

static double compression_work(const rg_impact_state *s, size_t contact) {
    size_t n = rg_impact_normal(s, contact);
    double u = s->u[n];
    return u < 0 ? 0.5 * u * u / rg_impact_row(s, n)[n] : 0;
}

static rg_status resolve(rg_impact_state *s, rg_error *error) {
    rg_impact_sequence sequence = {compression_work, rg_impact_expand_round};
    return rg_impact_run_sequence(s, &sequence, error);
}

const rg_impact_law rg_impact_law_energetic = {
    "energetic", "expansion gives back e^2 of the work of compression; sliding integrated", 2000,
    resolve};
