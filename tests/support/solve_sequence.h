/* Test only: contact problems out of moving scenes (`rigidfc3d` text) as problems in global form.
 *
 * Bodies x 6 velocities, the angular part in body axes; contact frames (n, t1, t2); scale = g h;
 * q_N = max(gap / h, -1 m/s). The known impulses come as forces in the contact frames. The folder
 * is looked for beside the checkout; without it the tests that need it are skipped, and say so. */
#ifndef RIGOR_TEST_SOLVE_SEQUENCE_H
#define RIGOR_TEST_SOLVE_SEQUENCE_H

#include "problems_support.h"

#include "base/base_math.h"
#include "rigor/complementarity.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SOLVE_SEQUENCE_DIR PROBLEMS_DIR "/sequences/"

static const char *const SOLVE_SEQUENCES[] = {
    "dominoes_s0110_nb50_nc198.txt", "dominoes_s1310_nb50_nc264.txt",
    "pile300_s0255_nb300_nc196.txt", "pile300_s0612_nb300_nc857.txt",
    "pile300_s0715_nb300_nc885.txt", "pyrhit_s0008_nb211_nc1600.txt",
    "pyrhit_s0115_nb211_nc1397.txt", "shake_s0310_nb500_nc1971.txt",
    "wall_s0052_nb321_nc2465.txt",   "wall_s0108_nb321_nc2366.txt",
    "wall_s0400_nb321_nc2524.txt",
};
enum { SOLVE_SEQUENCE_COUNT = sizeof SOLVE_SEQUENCES / sizeof *SOLVE_SEQUENCES };

typedef struct solve_sequence {
    rg_problem problem;
    size_t bodies, contacts;
    double known_residual;
    double *known; /* 3 x contacts, (N, T1, T2) */
    uint64_t *ids;
    double *mass, *free_velocity, *jacobian, *q, *mu;
    uint32_t *blocks;
} solve_sequence;

static inline void solve_sequence_free(solve_sequence *s) {
    free(s->known);
    free(s->ids);
    free(s->mass);
    free(s->free_velocity);
    free(s->jacobian);
    free(s->q);
    free(s->mu);
    free(s->blocks);
    *s = (solve_sequence){0};
}

static inline void solve_sequence_frame(rg_vec3 n, rg_vec3 *t1, rg_vec3 *t2) {
    rg_vec3 axis = fabs(n.x) < 0.6 ? rg_vec3_make(1, 0, 0) : rg_vec3_make(0, 1, 0);
    *t1 = rg_normalised(rg_cross(n, axis));
    *t2 = rg_cross(n, *t1);
}

static inline bool solve_sequence_numbers(FILE *file, double *out, int count) {
    for (int k = 0; k < count; k++)
        if (fscanf(file, "%lf", &out[k]) != 1)
            return false;
    return true;
}

static inline bool solve_sequence_bodies(solve_sequence *s, FILE *file, double h, rg_vec3 *centre,
                                         rg_quat *turn) {
    for (size_t i = 0; i < s->bodies; i++) {
        double b[20];
        if (!solve_sequence_numbers(file, b, 20))
            return false;
        centre[i] = rg_vec3_make(b[4], b[5], b[6]);
        turn[i] = rg_quat_normalised((rg_quat){b[8], b[9], b[10], b[7]});
        rg_vec3 w = rg_rotate_back(turn[i], rg_vec3_make(b[14], b[15], b[16]));
        for (int k = 0; k < 3; k++) {
            s->mass[36 * i + (size_t)(7 * k)] = b[0];
            s->mass[36 * i + (size_t)(7 * (k + 3))] = b[1 + k];
            s->free_velocity[6 * i + (size_t)k] = b[11 + k] + h * b[17 + k] / b[0];
        }
        s->free_velocity[6 * i + 3] = w.x;
        s->free_velocity[6 * i + 4] = w.y;
        s->free_velocity[6 * i + 5] = w.z;
    }
    return true;
}

static inline bool solve_sequence_contacts(solve_sequence *s, FILE *file, double h,
                                           const rg_vec3 *centre, const rg_quat *turn,
                                           rg_vec3 *frames) {
    for (size_t i = 0; i < s->contacts; i++) {
        long body[2];
        double id, c[7];
        if (fscanf(file, "%ld %ld", &body[0], &body[1]) != 2 ||
            !solve_sequence_numbers(file, &id, 1) || !solve_sequence_numbers(file, c, 7))
            return false;
        s->ids[i] = (uint64_t)id;
        rg_vec3 point = rg_vec3_make(c[0], c[1], c[2]);
        rg_vec3 *frame = frames + 3 * i;
        frame[0] = rg_normalised(rg_vec3_make(c[3], c[4], c[5]));
        solve_sequence_frame(frame[0], &frame[1], &frame[2]);
        s->q[3 * i] = fmax(c[6] / h, -1);
        for (int side = 0; side < 2; side++) {
            s->blocks[2 * i + (size_t)side] = body[side] < 0 ? RG_NO_BLOCK : (uint32_t)body[side];
            if (body[side] < 0)
                continue;
            if ((size_t)body[side] >= s->bodies)
                return false;
            double sign = side ? 1 : -1;
            rg_vec3 arm = rg_sub(point, centre[body[side]]);
            for (int d = 0; d < 3; d++) {
                double *row = s->jacobian + ((2 * i + (size_t)side) * 3 + (size_t)d) * 6;
                rg_vec3 turned = rg_rotate_back(turn[body[side]], rg_cross(arm, frame[d]));
                row[0] = sign * frame[d].x;
                row[1] = sign * frame[d].y;
                row[2] = sign * frame[d].z;
                row[3] = sign * turned.x;
                row[4] = sign * turned.y;
                row[5] = sign * turned.z;
            }
        }
    }
    return true;
}

static inline bool solve_sequence_body_of_file(solve_sequence *s, FILE *file) {
    char line[512];
    double head[3], residual[4];
    if (!fgets(line, sizeof line, file) || strncmp(line, "rigidfc3d 1", 11) != 0 ||
        !fgets(line, sizeof line, file) || !solve_sequence_numbers(file, head, 3) ||
        fscanf(file, "%zu %zu", &s->bodies, &s->contacts) != 2)
        return false;
    size_t nb = s->bodies, nc = s->contacts;
    s->known = calloc(3 * nc + 1, sizeof(double));
    s->ids = calloc(nc + 1, sizeof *s->ids);
    s->mass = calloc(36 * nb + 1, sizeof(double));
    s->free_velocity = calloc(6 * nb + 1, sizeof(double));
    s->jacobian = calloc(36 * nc + 1, sizeof(double));
    s->q = calloc(3 * nc + 1, sizeof(double));
    s->mu = calloc(nc + 1, sizeof(double));
    s->blocks = calloc(2 * nc + 1, sizeof *s->blocks);
    rg_vec3 *centre = calloc(nb + 1, sizeof *centre), *frames = calloc(3 * nc + 1, sizeof *frames);
    rg_quat *turn = calloc(nb + 1, sizeof *turn);
    bool fine = solve_sequence_bodies(s, file, head[0], centre, turn) &&
                solve_sequence_contacts(s, file, head[0], centre, turn, frames) &&
                solve_sequence_numbers(file, residual, 4);
    for (size_t i = 0; fine && i < nc; i++) {
        double r[3];
        fine = solve_sequence_numbers(file, r, 3);
        for (int d = 0; fine && d < 3; d++)
            s->known[3 * i + (size_t)d] =
                rg_dot(frames[3 * i + (size_t)d], rg_vec3_make(r[0], r[1], r[2]));
        s->mu[i] = head[2];
    }
    s->known_residual = fine ? residual[0] : 0;
    free(centre);
    free(frames);
    free(turn);
    s->problem = (rg_problem){
        .kind = RG_PROBLEM_CONTACT,
        .scale = head[0] * head[1],
        .contact = {.dimension = 3,
                    .contacts = nc,
                    .mu = s->mu,
                    .form = RG_FORM_GLOBAL,
                    .q = s->q,
                    .global = {.blocks = nb,
                               .freedom = 6,
                               .mass = s->mass,
                               .free_velocity = s->free_velocity,
                               .contact_blocks = s->blocks,
                               .contact_jacobian = s->jacobian}},
    };
    return fine;
}

/* False if the file is not there or is not of this form. The problem points into the struct: do not
 * move the arrays; free with solve_sequence_free. */
static inline bool solve_sequence_read(const char *path, solve_sequence *s) {
    *s = (solve_sequence){0};
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    bool fine = solve_sequence_body_of_file(s, file);
    fclose(file);
    if (!fine)
        solve_sequence_free(s);
    return fine;
}

/* By its place in the list above. */
static inline bool solve_sequence_load(size_t index, solve_sequence *s) {
    char path[1024];
    snprintf(path, sizeof path, "%s%s", SOLVE_SEQUENCE_DIR, SOLVE_SEQUENCES[index]);
    return solve_sequence_read(path, s);
}

#endif
