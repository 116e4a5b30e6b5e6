/* A contact problem cut into its islands.
 *
 * Every solver's time grows faster than its problem, and a hard part must not make the rest wait:
 * five hundred bodies in ten piles are ten problems. Splitting changes nothing in the answer:
 * forces of one island do not appear in the equations of another.
 * Tested by tests/solve/test_islands.c. */
#include "problem/problem_split.h"

#include "problem/problem.h"

#include <string.h>

static size_t first_row(const rg_contact_problem *p, size_t thing) {
    size_t d = (size_t)p->dimension;
    return thing < p->contacts ? thing * d : p->contacts * d + (thing - p->contacts);
}

static size_t row_count(const rg_contact_problem *p, size_t thing) {
    return thing < p->contacts ? (size_t)p->dimension : 1;
}

static const uint32_t *blocks_of(const rg_contact_problem *p, size_t thing) {
    return thing < p->contacts ? p->global.contact_blocks + 2 * thing
                               : p->global.joint_blocks + 2 * (thing - p->contacts);
}

rg_status rg_split_find(rg_split *split, rg_arena *arena, const rg_problem *problem) {
    const rg_contact_problem *p = &problem->contact;
    size_t rows = rg_contact_rows(p), blocks = p->form == RG_FORM_GLOBAL ? p->global.blocks : 0;
    *split = (rg_split){.problem = problem, .scale = rg_problem_scale(problem)};
    split->place = rg_arena_take(arena, (rows > blocks ? rows : blocks) + 1, sizeof *split->place);
    return split->place ? rg_partition_problem(p, arena, &split->islands) : RG_OUT_OF_MEMORY;
}

/* The members of an island. */
static const uint32_t *members_of(const rg_split *split, size_t island, size_t *count) {
    const rg_partition *islands = &split->islands;
    *count = islands->first[island + 1] - islands->first[island];
    return islands->member + islands->first[island];
}

size_t rg_split_rows(const rg_split *split, size_t island) {
    size_t rows = 0, count;
    const uint32_t *member = members_of(split, island, &count);
    for (size_t k = 0; k < count; k++)
        rows += row_count(&split->problem->contact, member[k]);
    return rows;
}

/* Numbers of all rows to those of the rows of an island, or back. */
static void copy_rows(const rg_split *split, size_t island, bool back, double *whole,
                      double *part) {
    const rg_contact_problem *p = &split->problem->contact;
    size_t count;
    const uint32_t *member = members_of(split, island, &count);
    for (size_t k = 0; k < count; k++) {
        double *place = whole + first_row(p, member[k]);
        size_t rows = row_count(p, member[k]);
        memcpy(back ? place : part, back ? part : place, rows * sizeof *part);
        part += rows;
    }
}

void rg_split_gather(const rg_split *split, size_t island, const double *whole, double *part) {
    copy_rows(split, island, false, (double *)whole, part); /* which is only read */
}

void rg_split_scatter(const rg_split *split, size_t island, const double *part, double *whole) {
    copy_rows(split, island, true, whole, (double *)part); /* which is only read */
}

/* The entries of W in the rows of the island. */
static size_t count_entries(const rg_split *split, size_t island, size_t rows) {
    const rg_contact_problem *p = &split->problem->contact;
    size_t entries = 0, count;
    const uint32_t *member = members_of(split, island, &count);
    if (p->w.dense)
        return rows * rows;
    for (size_t k = 0; k < count; k++) {
        size_t row = first_row(p, member[k]);
        entries += p->w.starts[row + row_count(p, member[k])] - p->w.starts[row];
    }
    return entries;
}

/* The part of W: its entries are those of the rows of the island, all of them. */
static rg_status make_local(rg_split *split, rg_arena *arena, size_t island,
                            rg_contact_problem *part) {
    const rg_contact_problem *p = &split->problem->contact;
    size_t members, rows = rg_contact_rows(part), whole = rg_contact_rows(p);
    const uint32_t *member = members_of(split, island, &members);
    size_t entries = count_entries(split, island, rows);
    double *values = rg_arena_take(arena, entries + 1, sizeof *values);
    size_t *starts = rg_arena_take(arena, rows + 1, sizeof *starts);
    uint32_t *indices = rg_arena_take(arena, p->w.dense ? 1 : entries + 1, sizeof *indices);
    if (!values || !starts || !indices)
        return RG_OUT_OF_MEMORY;
    size_t next = 0, at = 0;
    for (size_t k = 0; k < members; k++)
        for (size_t r = 0; r < row_count(p, member[k]); r++)
            split->place[first_row(p, member[k]) + r] = (uint32_t)at++;
    at = 0;
    for (size_t k = 0; k < members; k++)
        for (size_t r = 0; r < row_count(p, member[k]); r++, at++) {
            size_t row = first_row(p, member[k]) + r;
            if (p->w.dense) {
                rg_split_gather(split, island, p->w.dense + row * whole, values + at * rows);
                continue;
            }
            starts[at] = next;
            for (size_t e = p->w.starts[row]; e < p->w.starts[row + 1]; e++) {
                /* Stored zeros may lead to other islands. */
                if (p->w.values[e] == 0)
                    continue;
                values[next] = p->w.values[e];
                indices[next++] = split->place[p->w.indices[e]];
            }
        }
    starts[rows] = next;
    part->w = (rg_matrix){.rows = rows, .columns = rows};
    if (p->w.dense)
        part->w.dense = values;
    else
        part->w.values = values, part->w.starts = starts, part->w.indices = indices;
    return RG_OK;
}

/* Velocity blocks that the island touches, in the order in which it does: `list`, at most two per
 * member. No other island touches them, so that places need no clearing in between. */
static size_t number_blocks(rg_split *split, size_t island, uint32_t *list) {
    const rg_contact_problem *p = &split->problem->contact;
    size_t count = 0, members;
    const uint32_t *member = members_of(split, island, &members);
    for (size_t k = 0; k < 2 * members; k++) {
        uint32_t block = blocks_of(p, member[k / 2])[k % 2];
        if (block != RG_NO_BLOCK)
            split->place[block] = RG_NO_BLOCK;
    }
    for (size_t k = 0; k < 2 * members; k++) {
        uint32_t block = blocks_of(p, member[k / 2])[k % 2];
        if (block == RG_NO_BLOCK || split->place[block] != RG_NO_BLOCK)
            continue;
        split->place[block] = (uint32_t)count;
        list[count++] = block;
    }
    return count;
}

/* Blocks and Jacobian of one thing, in the numbers of the island. */
static void copy_thing(const rg_split *split, size_t thing, uint32_t *blocks, double *jacobian) {
    const rg_contact_problem *p = &split->problem->contact;
    size_t per = 2 * row_count(p, thing) * (size_t)p->global.freedom;
    const double *from = thing < p->contacts
                             ? p->global.contact_jacobian + thing * per
                             : p->global.joint_jacobian + (thing - p->contacts) * per;
    for (int side = 0; side < 2; side++) {
        uint32_t block = blocks_of(p, thing)[side];
        blocks[side] = block == RG_NO_BLOCK ? RG_NO_BLOCK : split->place[block];
    }
    memcpy(jacobian, from, per * sizeof *jacobian);
}

static rg_status make_global(rg_split *split, rg_arena *arena, size_t island,
                             rg_contact_problem *part) {
    const rg_contact_problem *p = &split->problem->contact;
    const rg_global_form *g = &p->global;
    size_t n = (size_t)g->freedom, d = (size_t)p->dimension, members;
    const uint32_t *member = members_of(split, island, &members);
    uint32_t *list = rg_arena_take(arena, 2 * members + 1, sizeof *list);
    if (!list)
        return RG_OUT_OF_MEMORY;
    size_t blocks = number_blocks(split, island, list);
    double *mass = rg_arena_take(arena, blocks * n * n + 1, sizeof *mass);
    double *velocity = rg_arena_take(arena, blocks * n + 1, sizeof *velocity);
    size_t numbers = 2 * n * (part->contacts * d + part->joints);
    double *jacobian = rg_arena_take(arena, numbers + 1, sizeof *jacobian);
    uint32_t *touched = rg_arena_take(arena, 2 * members + 1, sizeof *touched);
    if (!mass || !velocity || !jacobian || !touched)
        return RG_OUT_OF_MEMORY;
    for (size_t to = 0; to < blocks; to++) {
        size_t from = list[to];
        memcpy(mass + to * n * n, g->mass + from * n * n, n * n * sizeof *mass);
        memcpy(velocity + to * n, g->free_velocity + from * n, n * sizeof *velocity);
    }
    double *joints = jacobian + 2 * n * d * part->contacts;
    for (size_t k = 0; k < members; k++)
        copy_thing(split, member[k], touched + 2 * k,
                   k < part->contacts ? jacobian + k * 2 * d * n
                                      : joints + (k - part->contacts) * 2 * n);
    part->global = (rg_global_form){.blocks = blocks,
                                    .freedom = g->freedom,
                                    .mass = mass,
                                    .free_velocity = velocity,
                                    .contact_blocks = touched,
                                    .contact_jacobian = jacobian,
                                    .joint_blocks = touched + 2 * part->contacts,
                                    .joint_jacobian = joints};
    return RG_OK;
}

rg_status rg_split_make(rg_split *split, rg_arena *arena, size_t island, rg_problem *problem) {
    const rg_contact_problem *p = &split->problem->contact;
    size_t members, contacts = 0;
    const uint32_t *member = members_of(split, island, &members);
    while (contacts < members && member[contacts] < p->contacts)
        contacts++;
    *problem = *split->problem;
    problem->scale = split->scale;
    problem->connected = true;
    rg_contact_problem *part = &problem->contact;
    part->contacts = contacts;
    part->joints = members - contacts;
    double *q = rg_arena_take(arena, rg_contact_rows(part) + 1, sizeof *q);
    double *mu = rg_arena_take(arena, contacts + 1, sizeof *mu);
    double *lower = rg_arena_take(arena, part->joints + 1, sizeof *lower);
    double *upper = rg_arena_take(arena, part->joints + 1, sizeof *upper);
    double *compliance = rg_arena_take(arena, part->joints + 1, sizeof *compliance);
    if (!q || !mu || !lower || !upper || !compliance)
        return RG_OUT_OF_MEMORY;
    rg_split_gather(split, island, p->q, q);
    for (size_t k = 0; p->mu && k < contacts; k++)
        mu[k] = p->mu[member[k]];
    for (size_t j = 0; j < part->joints; j++) {
        size_t from = member[contacts + j] - p->contacts;
        lower[j] = p->lower ? p->lower[from] : 0;
        upper[j] = p->upper ? p->upper[from] : 0;
        compliance[j] = p->compliance ? p->compliance[from] : 0;
    }
    part->q = q, part->mu = p->mu ? mu : NULL;
    part->lower = p->lower ? lower : NULL, part->upper = p->upper ? upper : NULL;
    part->compliance = p->compliance ? compliance : NULL;
    return p->form == RG_FORM_GLOBAL ? make_global(split, arena, island, part)
                                     : make_local(split, arena, island, part);
}
