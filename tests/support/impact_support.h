/* Bodies and contacts for tests of impacts, as arrays: the global form directly, the local one
 * computed here, independently of the library. */
#ifndef RIGOR_TESTS_IMPACT_SUPPORT_H
#define RIGOR_TESTS_IMPACT_SUPPORT_H

#include "base/base_math.h"
#include "rigor/impact.h"
#include "rigor/random.h"

#include <string.h>

enum { SCENE_BODIES = 16, SCENE_CONTACTS = 24, SCENE_JOINTS = 12 };
enum { SCENE_ROWS = 3 * SCENE_CONTACTS + SCENE_JOINTS };
#define FIXED RG_NO_BLOCK

typedef struct scene {
    int d;
    size_t bodies, contacts, joints;
    double mass[SCENE_BODIES * 36], v[SCENE_BODIES * 6];
    uint32_t contact_blocks[2 * SCENE_CONTACTS], joint_blocks[2 * SCENE_JOINTS];
    double jacobian[SCENE_CONTACTS * 2 * 3 * 6], joint_jacobian[SCENE_JOINTS * 2 * 6];
    double mu[SCENE_CONTACTS], e[SCENE_CONTACTS], q[SCENE_ROWS], moving[SCENE_ROWS];
    uint32_t pair[SCENE_CONTACTS];
    double w[SCENE_ROWS * SCENE_ROWS], u[SCENE_ROWS];
    double still;
} scene;

static inline scene *scene_make(int d) {
    scene *s = calloc(1, sizeof *s);
    s->d = d;
    s->still = 1e-9;
    return s;
}

static inline uint32_t scene_body(scene *s, double mass, rg_vec3 inertia) {
    double diagonal[6] = {mass, mass, mass, inertia.x, inertia.y, inertia.z};
    for (int i = 0; i < 6; i++)
        s->mass[s->bodies * 36 + (size_t)(7 * i)] = diagonal[i];
    return (uint32_t)s->bodies++;
}

static inline void scene_velocity(scene *s, uint32_t body, rg_vec3 v, rg_vec3 w) {
    double values[6] = {v.x, v.y, v.z, w.x, w.y, w.z};
    memcpy(s->v + body * 6, values, sizeof values);
}

/* Direction k at a point `arm` from the centre: velocity n.(v + w x arm). */
static inline void scene_row(double *row, double sign, rg_vec3 n, rg_vec3 arm) {
    rg_vec3 turn = rg_cross(arm, n);
    double values[6] = {n.x, n.y, n.z, turn.x, turn.y, turn.z};
    for (int i = 0; i < 6; i++)
        row[i] = sign * values[i];
}

/* Normal from B to A; planar contacts have their tangent in the plane of x and y. */
static inline size_t scene_contact(scene *s, uint32_t a, uint32_t b, rg_vec3 n, rg_vec3 arm_a,
                                   rg_vec3 arm_b, double mu, double e) {
    size_t i = s->contacts++, d = (size_t)s->d;
    rg_vec3 t1 = fabs(n.z) < 0.9 ? rg_normalised(rg_cross(n, (rg_vec3){0, 0, 1}))
                                 : rg_normalised(rg_cross(n, (rg_vec3){0, 1, 0}));
    rg_vec3 axes[3] = {n, t1, rg_cross(n, t1)};
    s->contact_blocks[2 * i] = a, s->contact_blocks[2 * i + 1] = b;
    for (size_t k = 0; k < d; k++) {
        if (a != FIXED)
            scene_row(s->jacobian + ((i * 2) * d + k) * 6, 1, axes[k], arm_a);
        if (b != FIXED)
            scene_row(s->jacobian + ((i * 2 + 1) * d + k) * 6, -1, axes[k], arm_b);
    }
    s->mu[i] = mu, s->e[i] = e, s->pair[i] = (uint32_t)i;
    return i;
}

/* The points `arm` of two bodies move alike along n. */
static inline size_t scene_joint(scene *s, uint32_t a, uint32_t b, rg_vec3 n, rg_vec3 arm_a,
                                 rg_vec3 arm_b) {
    size_t i = s->joints++;
    s->joint_blocks[2 * i] = a, s->joint_blocks[2 * i + 1] = b;
    if (a != FIXED)
        scene_row(s->joint_jacobian + (i * 2) * 6, 1, n, arm_a);
    if (b != FIXED)
        scene_row(s->joint_jacobian + (i * 2 + 1) * 6, -1, n, arm_b);
    return i;
}

static inline size_t scene_rows(const scene *s) {
    return s->contacts * (size_t)s->d + s->joints;
}

static inline const double *scene_jacobian(const scene *s, size_t row, size_t side,
                                           uint32_t *body) {
    size_t d = (size_t)s->d;
    if (row < s->contacts * d) {
        *body = s->contact_blocks[2 * (row / d) + side];
        return s->jacobian + ((row / d * 2 + side) * d + row % d) * 6;
    }
    size_t joint = row - s->contacts * d;
    *body = s->joint_blocks[2 * joint + side];
    return s->joint_jacobian + (joint * 2 + side) * 6;
}

/* W = J M^-1 J' and u- = J v + q, densely and by definition. */
static inline void scene_condense(scene *s) {
    size_t rows = scene_rows(s);
    for (size_t i = 0; i < rows; i++) {
        s->u[i] = s->q[i];
        for (size_t j = 0; j < rows; j++)
            s->w[i * rows + j] = 0;
        for (size_t a = 0; a < 2; a++) {
            uint32_t body, other;
            const double *x = scene_jacobian(s, i, a, &body);
            for (size_t k = 0; body != FIXED && k < 6; k++)
                s->u[i] += x[k] * s->v[body * 6 + k];
            for (size_t j = 0; body != FIXED && j < rows; j++)
                for (size_t b = 0; b < 2; b++) {
                    const double *y = scene_jacobian(s, j, b, &other);
                    for (size_t k = 0; other == body && k < 6; k++)
                        s->w[i * rows + j] += x[k] * y[k] / s->mass[body * 36 + 7 * k];
                }
        }
    }
}

static inline rg_impact_problem scene_problem(scene *s, rg_contact_form form) {
    scene_condense(s);
    size_t rows = scene_rows(s);
    rg_impact_problem p = {.restitution = s->e, .still = s->still};
    p.contact.kind = RG_PROBLEM_CONTACT;
    p.contact.contact = (rg_contact_problem){
        .dimension = s->d, .contacts = s->contacts, .joints = s->joints, .mu = s->mu, .form = form};
    rg_contact_problem *c = &p.contact.contact;
    c->q = form == RG_FORM_LOCAL ? s->u : s->q;
    c->w = (rg_matrix){.rows = rows, .columns = rows, .dense = s->w};
    c->global = (rg_global_form){.blocks = s->bodies,
                                 .freedom = 6,
                                 .mass = s->mass,
                                 .free_velocity = s->v,
                                 .contact_blocks = s->contact_blocks,
                                 .contact_jacobian = s->jacobian,
                                 .joint_blocks = s->joint_blocks,
                                 .joint_jacobian = s->joint_jacobian};
    return p;
}

/* Velocities of the bodies after impulses. */
static inline void scene_after(const scene *s, const double *r, double *after) {
    memcpy(after, s->v, s->bodies * 6 * sizeof *after);
    for (size_t i = 0; i < scene_rows(s); i++)
        for (size_t side = 0; side < 2; side++) {
            uint32_t body;
            const double *x = scene_jacobian(s, i, side, &body);
            for (size_t k = 0; body != FIXED && k < 6; k++)
                after[body * 6 + k] += x[k] * r[i] / s->mass[body * 36 + 7 * k];
        }
}

static inline double scene_energy(const scene *s, const double *v) {
    double sum = 0;
    for (size_t i = 0; i < s->bodies * 6; i++)
        sum += 0.5 * s->mass[i / 6 * 36 + 7 * (i % 6)] * v[i] * v[i];
    return sum;
}

/* Balls in a row along x that touch; ball i + 1 is A. */
static inline scene *scene_chain(int d, size_t count, const double *mass, const double *speed,
                                 double mu, double e) {
    scene *s = scene_make(d);
    for (size_t i = 0; i < count; i++) {
        uint32_t body = scene_body(s, mass[i], rg_scale(0.4 * mass[i] * 0.25, (rg_vec3){1, 1, 1}));
        scene_velocity(s, body, (rg_vec3){speed[i], 0, 0}, (rg_vec3){0, 0, 0});
    }
    for (size_t i = 0; i + 1 < count; i++)
        scene_contact(s, (uint32_t)i + 1, (uint32_t)i, (rg_vec3){1, 0, 0}, (rg_vec3){-0.5, 0, 0},
                      (rg_vec3){0.5, 0, 0}, mu, e);
    return s;
}

typedef struct impact_answer {
    double r[SCENE_ROWS], u[SCENE_ROWS], v[SCENE_BODIES * 6];
    rg_impact_info info;
} impact_answer;

/* Resolves both forms, which must agree, and checks the account against the bodies. */
static inline rg_status scene_try(rg_solve_context *context, scene *s, const char *law,
                                  uint64_t limit, rg_contact_form form, impact_answer *out) {
    rg_impact_problem p = scene_problem(s, form);
    memset(out, 0, sizeof *out);
    p.round_limit = limit;
    rg_status status =
        rg_impact_resolve(context, rg_impact_law_find(law), &p, out->r, out->u, &out->info, NULL);
    scene_after(s, out->r, out->v);
    return status;
}

#endif
