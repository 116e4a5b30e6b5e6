/* Whether a run ends badly, with stated bounds: bodies that overlap in its last step or passed
 * through each other in any, contact problems that were not solved. Such a run looks like any
 * other, and its figures are easily passed over. */
#include "cli.h"

#include <math.h>

/* Bodies overlap badly by more than this share of the circumradius of the smallest moving shape:
 * what a fixed step leaves between bodies in motion, of the order of g h^2, is far below it. */
#define OVERLAP_MOST 0.05
/* A run fails if more than this share of its contact problems did. */
#define FAILURES_MOST 0.01

/* m: the smallest circumradius of what forces move; infinity if there is nothing. */
static double smallest_size(const rg_world *world) {
    double smallest = INFINITY;
    for (size_t i = 0; i < rg_world_body_count(world); i++) {
        rg_body_id body = rg_world_body_at(world, i);
        if (rg_body_motion(world, body) != RG_MOTION_DYNAMIC)
            continue;
        for (size_t k = 0; k < rg_body_collider_count(world, body); k++) {
            rg_collider_def def = rg_collider_get_def(world, rg_body_collider_at(world, body, k));
            if (!def.sensor)
                smallest = fmin(smallest, rg_shape_circumradius(def.shape));
        }
    }
    return smallest;
}

int cli_report_end(const rg_world *world, const rg_step_info *summary, double overlap) {
    double most = OVERLAP_MOST * smallest_size(world);
    double failed = (double)summary->solver_failures, solves = (double)summary->solves;
    int code = EXIT_GOOD;
    if (overlap > most) {
        cli_complain("the run ends badly: bodies overlap by %.3g m, more than %.3g m (%g %% of the "
                     "circumradius of the smallest moving shape); --accept-failures exits with 0",
                     overlap, most, 100 * OVERLAP_MOST);
        code = EXIT_FAILED;
    }
    if (summary->passed_through > 0) {
        cli_complain("the run ends badly: pairs that passed through each other: %llu; "
                     "--accept-failures exits with 0",
                     (unsigned long long)summary->passed_through);
        code = EXIT_FAILED;
    }
    if (failed > FAILURES_MOST * solves) {
        cli_complain("the run ends badly: %.0f of %.0f contact problems were not solved, more than "
                     "%g %%; --accept-failures exits with 0",
                     failed, solves, 100 * FAILURES_MOST);
        code = EXIT_FAILED;
    }
    return code;
}
