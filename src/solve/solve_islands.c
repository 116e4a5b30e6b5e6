/* Islands one after the other, each by the solver that was asked for.
 *
 * The account of the whole: iterations, attempts, time and fallbacks are sums; a solver's first
 * attempt on one island is added to its first attempt on the others, so that the list of attempts
 * stays short. The whole ends as its worst island does. Its residual is that of the whole, judged
 * once more. */
#include "solve/solve_islands.h"

#include "base/base_math.h"

#include <stdio.h>
#include <string.h>

/* Where the n-th attempt by `solver` is noted; `count` if there is none. */
static uint32_t find_attempt(const rg_solve_attempt *attempts, uint32_t count,
                             const rg_solver *solver, uint32_t n) {
    uint32_t at = 0;
    for (; at < count; at++)
        if (attempts[at].solver == solver && n-- == 0)
            break;
    return at;
}

static uint32_t noted(const rg_solve_info *info) {
    return info->attempts < RG_SOLVE_CHAIN_MAX ? info->attempts : RG_SOLVE_CHAIN_MAX;
}

static void merge_chain(rg_solve_info *all, const rg_solve_info *one) {
    for (uint32_t i = 0; i < noted(one); i++) {
        const rg_solve_attempt *attempt = &one->chain[i];
        uint32_t before = 0;
        for (uint32_t k = 0; k < i; k++)
            before += one->chain[k].solver == attempt->solver;
        uint32_t at = find_attempt(all->chain, noted(all), attempt->solver, before);
        if (at == noted(all)) {
            rg_solve_note(all, attempt);
            continue;
        }
        rg_solve_attempt *sum = &all->chain[at];
        sum->iterations += attempt->iterations, sum->seconds += attempt->seconds;
        sum->residual = fmax(sum->residual, attempt->residual);
        if (attempt->outcome != RG_SOLVED)
            sum->outcome = attempt->outcome;
    }
    all->iterations += one->iterations, all->factorisations += one->factorisations;
    all->seconds += one->seconds;
    all->fallbacks += one->fallbacks;
}

/* An island without a solution decides, or else the one with the largest residual that is not
 * solved. */
static void merge_island(rg_solve_info *all, const rg_solve_info *one, size_t island,
                         const rg_split *split) {
    bool first = !all->solver;
    bool larger = first || !(one->residual.natural <= all->residual.natural);
    merge_chain(all, one);
    if (larger)
        all->solver = one->solver, all->residual.natural = one->residual.natural;
    if (one->outcome == RG_SOLVED)
        return;
    bool stays = all->outcome == RG_SOLVE_INFEASIBLE ||
                 (all->outcome != RG_SOLVED && one->outcome != RG_SOLVE_INFEASIBLE && !larger);
    if (!first && stays)
        return;
    all->outcome = one->outcome;
    snprintf(all->text, sizeof all->text, "island %zu of %zu (%zu rows): %.180s", island + 1,
             split->islands.count, rg_split_rows(split, island), one->text);
}

static rg_status solve_one(rg_solve_context *context, const rg_solver *solver, rg_split *split,
                           size_t island, const rg_solve_settings *settings,
                           const rg_solution *solution, rg_error *error) {
    rg_problem problem;
    rg_solution part = {0};
    rg_solve_info one = rg_solve_info_none(), *all = context->info;
    size_t rows = rg_split_rows(split, island);
    rg_status status = rg_split_make(split, &context->arena, island, &problem);
    if (status)
        return rg_fail(error, status, "%s", rg_status_text(status));
    RG_TAKE(part.force, context, rows, error);
    RG_TAKE(part.ray, context, rows, error);
    memset(part.ray, 0, rows * sizeof *part.ray);
    rg_split_gather(split, island, solution->force, part.force);
    context->info = &one;
    status = rg_solve_connected(context, solver, &problem, settings, &part, error);
    context->info = all;
    if (status)
        return status;
    rg_split_scatter(split, island, part.force, solution->force);
    if (solution->ray && (one.outcome == RG_SOLVE_RAY || one.outcome == RG_SOLVE_INFEASIBLE))
        rg_split_scatter(split, island, part.ray, solution->ray);
    merge_island(all, &one, island, split);
    return RG_OK;
}

/* Islands were judged one by one: now all of them. */
static rg_status judge_whole(rg_solve_context *context, const rg_split *split,
                             const rg_solve_settings *settings, rg_solution *solution,
                             rg_error *error) {
    rg_solve_info *info = context->info;
    rg_allocator in_arena = rg_solve_arena_allocator(context);
    double *velocity = solution->velocity;
    if (!velocity)
        RG_TAKE(velocity, context, rg_problem_rows(split->problem), error);
    rg_status status = rg_judge_answer(split->problem, solution->force, NULL, &in_arena,
                                       &info->residual, velocity, error);
    if (status)
        return status;
    if (info->residual.natural <= settings->tolerance)
        info->outcome = RG_SOLVED;
    else if (info->outcome == RG_SOLVED)
        info->outcome = RG_SOLVE_INEXACT;
    return RG_OK;
}

rg_status rg_solve_islands(rg_solve_context *context, const rg_solver *solver, rg_split *split,
                           const rg_solve_settings *settings, rg_solution *solution,
                           rg_error *error) {
    rg_status status = RG_OK;
    context->info->outcome = RG_SOLVED; /* as far as islands go */
    for (size_t i = 0; i < split->islands.count && !status; i++) {
        rg_arena_mark mark = rg_arena_get_mark(&context->arena);
        status = solve_one(context, solver, split, i, settings, solution, error);
        rg_arena_return(&context->arena, mark);
    }
    return status ? status : judge_whole(context, split, settings, solution, error);
}
