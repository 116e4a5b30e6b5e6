/* Whether a run ends badly, with stated bounds: bodies that were deep in each other in any of its
 * steps, or still are, or passed through each other, contact problems that were not solved, forces
 * that are none. Such a run looks like any other, and its figures are easily passed over. */
#include "cli.h"

#include <stdio.h>

/* A run fails if more than this share of its contact problems did. */
#define FAILURES_MOST 0.01
/* And if in any step the forces were off by more than all that was at stake: figures of the
 * certificate are relative to that. */
#define RESIDUAL_MOST 1.0

static const char *name_of(const rg_world *world, rg_body_id body) {
    const char *name = rg_body_exists(world, body) ? rg_body_name(world, body) : "";
    return name[0] ? name : "(no name)";
}

/* By more than constant velocities, which a step takes as they are. */
static bool is_prescribed(const rg_world *world, rg_body_id body) {
    return rg_body_exists(world, body) && rg_body_motion(world, body) == RG_MOTION_KINEMATIC &&
           rg_body_prescription(world, body).kind != RG_PRESCRIBED_VELOCITY;
}

/* An overlap on the path of a prescribed motion that the step does not see names the body that
 * moves so. */
static void complain_of_overlap(const rg_world *world, const rg_overlap *o) {
    const char *a = name_of(world, o->body_a), *b = name_of(world, o->body_b);
    char cause[256] = "";
    bool prescribed = is_prescribed(world, o->body_a) || is_prescribed(world, o->body_b);
    if (o->within_step && prescribed)
        snprintf(cause, sizeof cause,
                 ", between the ends of a step, where the prescribed motion of \"%.80s\" is not "
                 "that which the step takes",
                 is_prescribed(world, o->body_a) ? a : b);
    cli_complain(
        "the run ends badly: at t = %.9g s \"%s\" and \"%s\" overlap by %.3g m, %.3g %% of "
        "the size of the smaller one, more than 5 %%%s; take a smaller step (--step); "
        "--accept-failures exits with 0",
        o->time, a, b, o->depth, 100 * o->depth / o->size, cause);
}

/* False: there is nothing to complain of. */
static bool complain_of_forces(const rg_certificate *worst) {
    bool conditions = worst->complementarity > RESIDUAL_MOST,
         cone = worst->cone_violation > RESIDUAL_MOST;
    if (conditions || cone)
        cli_complain(
            "the run ends badly: in a step contact forces were off by %.3g times what was at "
            "stake (%s), more than %g; --accept-failures exits with 0",
            conditions ? worst->complementarity : worst->cone_violation,
            conditions ? "complementarity" : "cone_violation", RESIDUAL_MOST);
    return conditions || cone;
}

int cli_report_end(const rg_world *world, const rg_step_info *summary) {
    rg_overlap worst = rg_world_deepest_overlap(world), last = rg_world_last_overlap(world);
    double failed = (double)summary->solver_failures, solves = (double)summary->solves;
    int code = EXIT_GOOD;
    if (worst.depth > 0) {
        complain_of_overlap(world, &worst);
        code = EXIT_FAILED;
    } else if (last.depth > 0) { /* from the start on */
        complain_of_overlap(world, &last);
        code = EXIT_FAILED;
    }
    if (summary->passed_through > 0) {
        cli_complain("the run ends badly: pairs that passed through each other: %llu; "
                     "--accept-failures exits with 0",
                     (unsigned long long)summary->passed_through);
        code = EXIT_FAILED;
    }
    if (complain_of_forces(&summary->certificate))
        code = EXIT_FAILED;
    if (failed > FAILURES_MOST * solves) {
        cli_complain("the run ends badly: %.0f of %.0f contact problems were not solved, more than "
                     "%g %%; --accept-failures exits with 0",
                     failed, solves, 100 * FAILURES_MOST);
        code = EXIT_FAILED;
    }
    return code;
}
