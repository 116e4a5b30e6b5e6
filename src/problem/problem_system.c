/* Tested by tests/solve/test_basis.c. */
#include "problem/problem_system.h"

#include <string.h>

/* In four pieces: every evaluation of an island comes by here. */
bool rg_direction_system_take(rg_arena *arena, size_t count, size_t bodies,
                              rg_direction_system *s) {
    *s = (rg_direction_system){.count = count, .bodies = bodies};
    double *numbers = rg_arena_take(arena, (count + 4) * count, sizeof *numbers);
    uint32_t *places = rg_arena_take(arena, 3 * count + bodies, sizeof *places);
    s->rows = rg_arena_take(arena, count, sizeof *s->rows);
    s->kinds = rg_arena_take(arena, count, sizeof *s->kinds);
    if (!numbers || !places || !s->rows || !s->kinds)
        return false;
    s->b = numbers;
    s->mu = numbers + count;
    s->force = numbers + 2 * count;
    s->rate = numbers + 3 * count;
    s->matrix = numbers + 4 * count;
    s->normal = places;
    s->next = places + count;
    s->first = places + 3 * count;
    return true;
}

static void couple_all(const rg_body_dynamics *d, const uint32_t *place, rg_direction_system *s) {
    rg_directions_couple(d, place, s->rows, s->count, s->matrix);
    for (size_t i = 0; i < s->count; i++) {
        s->next[2 * i] = s->first[0];
        s->first[0] = (uint32_t)(2 * i);
    }
}

/* Rows of the same two moving bodies meet twice. */
static void couple_side(const rg_body_dynamics *d, const uint32_t *place, size_t i, uint32_t side,
                        rg_direction_system *s) {
    size_t n = s->count;
    uint32_t body = side ? s->rows[i].b : s->rows[i].a;
    double other = d[side ? s->rows[i].a : s->rows[i].b].inverse_mass;
    if (!(d[body].inverse_mass > 0))
        return;
    uint32_t *first = &s->first[place[body]];
    s->next[2 * i + side] = *first;
    *first = (uint32_t)(2 * i + side);
    for (uint32_t j = *first; j != UINT32_MAX; j = s->next[j])
        if (!side || s->rows[j / 2].key != s->rows[i].key || !(other > 0))
            s->matrix[i * n + j / 2] = s->matrix[j / 2 * n + i] =
                rg_direction_couple(d, place, &s->rows[i], &s->rows[j / 2]);
}

void rg_direction_system_couple(const rg_body_dynamics *d, const uint32_t *place, bool all,
                                rg_direction_system *s) {
    memset(s->matrix, 0, s->count * s->count * sizeof *s->matrix);
    for (size_t k = 0; k < s->bodies; k++)
        s->first[k] = UINT32_MAX;
    if (all) {
        couple_all(d, place, s);
        return;
    }
    for (size_t i = 0; i < s->count; i++)
        for (uint32_t side = 0; side < 2; side++)
            couple_side(d, place, i, side, s);
}

rg_problem rg_direction_system_problem(const rg_direction_system *s, const double *b,
                                       double scale) {
    rg_problem problem = rg_problem_linear(s->count, s->matrix, b);
    problem.linear.kinds = s->kinds;
    problem.linear.normal = s->normal;
    problem.linear.mu = s->mu;
    problem.scale = scale;
    return problem;
}
