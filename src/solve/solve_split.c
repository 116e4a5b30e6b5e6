/* Islands of a contact problem: connected parts, found by union of sets (path halving) over
 * velocity blocks or entries of W, numbered by their first member, so that the order is that of the
 * input.
 *
 * Every solver's time grows faster than its problem, and a hard part must not make the rest wait:
 * five hundred bodies in ten piles are ten problems. Splitting changes nothing in the answer:
 * forces of one island do not appear in the equations of another. */
#include "solve/solve_split.h"

#include "base/base_sets.h"
#include "problem/problem.h"

#include <math.h>
#include <string.h>

static size_t things_of(const rg_contact_problem *p) {
    return p->contacts + p->joints;
}

static size_t thing_of_row(const rg_contact_problem *p, size_t row) {
    size_t d = (size_t)p->dimension;
    return row < p->contacts * d ? row / d : p->contacts + (row - p->contacts * d);
}

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

/* `parent` is over things. `owner` (blocks long): the first thing that touched a block. */
static void unite_by_blocks(const rg_contact_problem *p, uint32_t *parent, uint32_t *owner) {
    for (size_t b = 0; b < p->global.blocks; b++)
        owner[b] = RG_NO_BLOCK;
    for (size_t thing = 0; thing < things_of(p); thing++)
        for (int side = 0; side < 2; side++) {
            uint32_t block = blocks_of(p, thing)[side];
            if (block == RG_NO_BLOCK)
                continue;
            if (owner[block] == RG_NO_BLOCK)
                owner[block] = (uint32_t)thing;
            rg_sets_join(parent, owner[block], (uint32_t)thing);
        }
}

static void unite_by_entries(const rg_contact_problem *p, uint32_t *parent) {
    size_t rows = rg_contact_rows(p);
    for (size_t i = 0; i < rows; i++) {
        uint32_t thing = (uint32_t)thing_of_row(p, i);
        if (p->w.dense) {
            for (size_t j = 0; j < rows; j++)
                if (p->w.dense[i * rows + j] != 0)
                    rg_sets_join(parent, thing, (uint32_t)thing_of_row(p, j));
        } else {
            for (size_t k = p->w.starts[i]; k < p->w.starts[i + 1]; k++)
                if (p->w.values[k] != 0)
                    rg_sets_join(parent, thing, (uint32_t)thing_of_row(p, p->w.indices[k]));
        }
    }
}

rg_status rg_split_find(rg_split *islands, rg_solve_context *context, const rg_problem *problem,
                        rg_error *error) {
    const rg_contact_problem *p = &problem->contact;
    size_t things = things_of(p), rows = rg_contact_rows(p);
    size_t blocks = p->form == RG_FORM_GLOBAL ? p->global.blocks : 0;
    uint32_t *parent, *number;
    *islands = (rg_split){.problem = problem, .scale = rg_problem_scale(problem)};
    RG_TAKE(islands->first, context, things + 2, error);
    RG_TAKE(islands->member, context, things, error);
    RG_TAKE(islands->place, context, rows > blocks ? rows : blocks, error);
    RG_TAKE(parent, context, things, error);
    RG_TAKE(number, context, things, error);
    rg_sets_start(parent, things);
    if (p->form == RG_FORM_GLOBAL)
        unite_by_blocks(p, parent, islands->place);
    else
        unite_by_entries(p, parent);
    /* Roots are their islands' smallest members: numbered in order. Then a counting sort. */
    uint32_t *first = islands->first;
    memset(first, 0, (things + 2) * sizeof *first);
    islands->count = rg_sets_number(parent, things, number);
    for (size_t i = 0; i < things; i++)
        first[number[i] + 2]++;
    for (size_t i = 0; i < islands->count; i++)
        first[i + 2] += first[i + 1];
    for (size_t i = 0; i < things; i++)
        islands->member[first[number[i] + 1]++] = (uint32_t)i;
    return RG_OK;
}

size_t rg_split_rows(const rg_split *islands, size_t island) {
    size_t rows = 0;
    for (uint32_t k = islands->first[island]; k < islands->first[island + 1]; k++)
        rows += row_count(&islands->problem->contact, islands->member[k]);
    return rows;
}

void rg_split_gather(const rg_split *islands, size_t island, const double *whole, double *part) {
    const rg_contact_problem *p = &islands->problem->contact;
    size_t at = 0;
    for (uint32_t k = islands->first[island]; k < islands->first[island + 1]; k++) {
        size_t thing = islands->member[k], row = first_row(p, thing);
        for (size_t r = 0; r < row_count(p, thing); r++)
            part[at++] = whole[row + r];
    }
}

void rg_split_scatter(const rg_split *islands, size_t island, const double *part, double *whole) {
    const rg_contact_problem *p = &islands->problem->contact;
    size_t at = 0;
    for (uint32_t k = islands->first[island]; k < islands->first[island + 1]; k++) {
        size_t thing = islands->member[k], row = first_row(p, thing);
        for (size_t r = 0; r < row_count(p, thing); r++)
            whole[row + r] = part[at++];
    }
}

/* The part of W: its entries are those of the rows of the island, all of them. */
static rg_status make_local(rg_split *islands, rg_solve_context *context, size_t island,
                            rg_contact_problem *part, rg_error *error) {
    const rg_contact_problem *p = &islands->problem->contact;
    const uint32_t *member = islands->member + islands->first[island];
    size_t members = islands->first[island + 1] - islands->first[island];
    size_t rows = rg_contact_rows(part), whole = rg_contact_rows(p), entries = 0, at = 0;
    for (size_t k = 0; k < members; k++)
        for (size_t r = 0; r < row_count(p, member[k]); r++) {
            size_t row = first_row(p, member[k]) + r;
            islands->place[row] = (uint32_t)at++;
            entries += p->w.dense ? rows : p->w.starts[row + 1] - p->w.starts[row];
        }
    double *values;
    size_t *starts = NULL;
    uint32_t *indices = NULL;
    RG_TAKE(values, context, entries, error);
    if (!p->w.dense) {
        RG_TAKE(starts, context, rows + 1, error);
        RG_TAKE(indices, context, entries, error);
    }
    size_t next = 0;
    at = 0;
    for (size_t k = 0; k < members; k++)
        for (size_t r = 0; r < row_count(p, member[k]); r++, at++) {
            size_t row = first_row(p, member[k]) + r;
            if (p->w.dense) {
                rg_split_gather(islands, island, p->w.dense + row * whole, values + at * rows);
                continue;
            }
            starts[at] = next;
            for (size_t e = p->w.starts[row]; e < p->w.starts[row + 1]; e++) {
                /* Stored zeros may lead to other islands. */
                if (p->w.values[e] == 0)
                    continue;
                values[next] = p->w.values[e];
                indices[next++] = islands->place[p->w.indices[e]];
            }
        }
    if (starts)
        starts[rows] = next;
    part->w = (rg_matrix){.rows = rows,
                          .columns = rows,
                          .dense = p->w.dense ? values : NULL,
                          .starts = starts,
                          .indices = indices,
                          .values = p->w.dense ? NULL : values};
    return RG_OK;
}

/* Velocity blocks that the island touches, in the order in which it does: `list`, at most two per
 * member. No other island touches them, so that places need no clearing in between. */
static size_t number_blocks(rg_split *islands, size_t island, uint32_t *list) {
    const rg_contact_problem *p = &islands->problem->contact;
    size_t count = 0;
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t k = islands->first[island]; k < islands->first[island + 1]; k++)
            for (int side = 0; side < 2; side++) {
                uint32_t block = blocks_of(p, islands->member[k])[side];
                if (block == RG_NO_BLOCK)
                    continue;
                if (pass == 0) {
                    islands->place[block] = RG_NO_BLOCK;
                } else if (islands->place[block] == RG_NO_BLOCK) {
                    islands->place[block] = (uint32_t)count;
                    list[count++] = block;
                }
            }
    return count;
}

static rg_status make_global(rg_split *islands, rg_solve_context *context, size_t island,
                             rg_contact_problem *part, rg_error *error) {
    const rg_contact_problem *p = &islands->problem->contact;
    const rg_global_form *g = &p->global;
    size_t n = (size_t)g->freedom, d = (size_t)p->dimension;
    uint32_t *list;
    RG_TAKE(list, context, 2 * (part->contacts + part->joints), error);
    size_t blocks = number_blocks(islands, island, list);
    double *mass, *velocity, *contact_jacobian, *joint_jacobian;
    uint32_t *contact_blocks, *joint_blocks;
    RG_TAKE(mass, context, blocks * n * n, error);
    RG_TAKE(velocity, context, blocks * n, error);
    RG_TAKE(contact_jacobian, context, part->contacts * 2 * d * n, error);
    RG_TAKE(joint_jacobian, context, part->joints * 2 * n, error);
    RG_TAKE(contact_blocks, context, part->contacts * 2, error);
    RG_TAKE(joint_blocks, context, part->joints * 2, error);
    for (size_t to = 0; to < blocks; to++) {
        size_t from = list[to];
        memcpy(mass + to * n * n, g->mass + from * n * n, n * n * sizeof *mass);
        memcpy(velocity + to * n, g->free_velocity + from * n, n * sizeof *velocity);
    }
    for (size_t k = 0; k < part->contacts + part->joints; k++) {
        size_t thing = islands->member[islands->first[island] + k], joint = k - part->contacts;
        bool contact = k < part->contacts;
        uint32_t *to = contact ? contact_blocks + 2 * k : joint_blocks + 2 * joint;
        for (int side = 0; side < 2; side++) {
            uint32_t block = blocks_of(p, thing)[side];
            to[side] = block == RG_NO_BLOCK ? RG_NO_BLOCK : islands->place[block];
        }
        if (contact)
            memcpy(contact_jacobian + k * 2 * d * n, g->contact_jacobian + thing * 2 * d * n,
                   2 * d * n * sizeof *contact_jacobian);
        else
            memcpy(joint_jacobian + joint * 2 * n,
                   g->joint_jacobian + (thing - p->contacts) * 2 * n,
                   2 * n * sizeof *joint_jacobian);
    }
    part->global = (rg_global_form){.blocks = blocks,
                                    .freedom = g->freedom,
                                    .mass = mass,
                                    .free_velocity = velocity,
                                    .contact_blocks = contact_blocks,
                                    .contact_jacobian = contact_jacobian,
                                    .joint_blocks = joint_blocks,
                                    .joint_jacobian = joint_jacobian};
    return RG_OK;
}

rg_status rg_split_make(rg_split *islands, rg_solve_context *context, size_t island,
                        rg_problem *problem, rg_error *error) {
    const rg_contact_problem *p = &islands->problem->contact;
    const uint32_t *member = islands->member + islands->first[island];
    size_t members = islands->first[island + 1] - islands->first[island], contacts = 0;
    while (contacts < members && member[contacts] < p->contacts)
        contacts++;
    *problem = *islands->problem;
    problem->scale = islands->scale;
    rg_contact_problem *part = &problem->contact;
    part->contacts = contacts;
    part->joints = members - contacts;
    double *q, *mu = NULL, *lower = NULL, *upper = NULL;
    RG_TAKE(q, context, rg_contact_rows(part), error);
    rg_split_gather(islands, island, p->q, q);
    if (p->mu)
        RG_TAKE(mu, context, contacts, error);
    if (p->lower)
        RG_TAKE(lower, context, part->joints, error);
    if (p->upper)
        RG_TAKE(upper, context, part->joints, error);
    for (size_t k = 0; mu && k < contacts; k++)
        mu[k] = p->mu[member[k]];
    for (size_t j = 0; j < part->joints; j++) {
        size_t from = member[contacts + j] - p->contacts;
        if (lower)
            lower[j] = p->lower[from];
        if (upper)
            upper[j] = p->upper[from];
    }
    part->q = q, part->mu = mu, part->lower = lower, part->upper = upper;
    return p->form == RG_FORM_GLOBAL ? make_global(islands, context, island, part, error)
                                     : make_local(islands, context, island, part, error);
}
