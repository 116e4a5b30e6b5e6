/* The same for rigor-lp: the brick on a ledge (Baraff 1989, figure 9), whose far contact breaks. */
#include <math.h>
#include <stdio.h>

#include <rigor/lp.h>

static int fail(const char *what, const char *why) {
    fprintf(stderr, "outside_lp: %s: %s\n", what, why);
    return 1;
}

int main(void) {
    const double matrix[] = {1.15, 1.6, 1.6, 3.4}, b[] = {-9.81, -9.81};
    rg_problem problem = rg_problem_linear(2, matrix, b);
    double force[2], velocity[2];
    rg_solution solution = {.force = force, .velocity = velocity};
    rg_solve_info info;
    rg_error error;
    rg_solve_context *context;
    if (rg_solve_context_create(NULL, &context))
        return fail("context", "no memory");
    rg_status status = rg_solve(context, rg_solver_lp(), &problem, NULL, &solution, &info, &error);
    rg_solve_context_destroy(context);
    if (status)
        return fail("solve", error.text);
    printf("%s: f = (%.6f, %.6f), a = (%.6f, %.6f)\n", rg_solve_outcome_name(info.outcome),
           force[0], force[1], velocity[0], velocity[1]);
    if (info.outcome != RG_SOLVED || !(fabs(force[0] - 8.530435) < 1e-6) || force[1] != 0)
        return fail("forces", "(8.530435, 0) expected");
    return 0;
}
