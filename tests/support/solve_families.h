/* Families of contact problems for tests and benchmarks, made from rigid bodies without a world:
 *
 *     solve_family *family = family_make(FAMILY_WALL, 150, 1, 0.5);
 *     const rg_problem *lcp = family_linear(family);   // frictionless, 150 rows
 *     const rg_problem *cone = family_global(family);  // exact cone, 150 contacts
 *     family_free(family);
 *
 * - stack: boxes on one another, four contacts a face;
 * - wall: bricks in running bond, half bricks at the ends: four contacts on each half below and
 *   above;
 * - pile: boxes (several points with one normal) and balls (one point) in a random contact graph;
 * - planar: bodies of the plane in a random contact graph (dimension 2).
 * The contacts are exactly as many as asked for (the last face may lack some). Masses, offsets,
 * pushes are random but for seed 0, which is as regular as can be: equal boxes, no pushes, exact
 * ties (the graphs of piles are random all the same).
 *
 * All are solvable: W = J M^-1 J' and the free motion enters by J v_free alone, gaps are not
 * negative. So v = 0 meets every constraint, which is enough for the convex problem without
 * friction (Baraff's survey of 1994, eq. 5-8) and for the existence of a solution with the exact
 * cone (Acary, Cadoux, Lemarechal, Malick 2011).
 *
 * Linear problems are about accelerations (m/s^2, N); contact problems about velocities after a
 * step (m/s, N s) with gap / step in q. Needs rigor/random.h. Memory by malloc; a test that has
 * none ends. */
#ifndef RIGOR_SOLVE_FAMILIES_H
#define RIGOR_SOLVE_FAMILIES_H

#include "rigor/complementarity.h"
#include "rigor/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum family_kind {
    FAMILY_STACK,
    FAMILY_WALL,
    FAMILY_PILE,
    FAMILY_PLANAR,
    FAMILY_KINDS
} family_kind;

static inline const char *family_name(family_kind kind) {
    static const char *const names[] = {"stack", "wall", "pile", "planar"};
    return names[kind];
}

#define FAMILY_GRAVITY 9.81        /* m/s^2 */
#define FAMILY_STEP    (1.0 / 240) /* s */

typedef struct solve_family {
    family_kind kind;
    size_t bodies, contacts;
    int dimension, freedom; /* of a contact: 3 or 2; of a body: 6 or 3 */
    double *mass, *inverse; /* bodies x freedom x freedom: M and M^-1 */
    double *acceleration;   /* bodies x freedom: without contact forces */
    double *velocity;       /* bodies x freedom: at the beginning of the step */
    double *free_velocity;  /* velocity + step * acceleration */
    uint32_t *blocks;       /* contacts x 2 */
    double *jacobian;       /* contacts x 2 x dimension x freedom */
    double *mu, *q;         /* contacts; contacts x dimension: gap / step in the normal row */
    double *w;              /* (contacts dimension)^2, dense, exactly symmetric; when asked for */
    double *a, *b;          /* the linear problem, when asked for */
    uint8_t *kinds;
    uint32_t *normal;
    double *row_mu, *row_b;
    double *local_q;
    size_t *starts; /* W in compressed rows, when asked for */
    uint32_t *indices;
    double *values;
    rg_problem global, local, sparse, linear, fixed;
    /* While the family is made. */
    rg_random random;
    rg_vec3 *centre; /* bodies */
    double *extent;  /* bodies x 4: a brick's face, x and y from and to */
} solve_family;

static inline void *family_zeros(size_t count, size_t size) {
    void *memory = calloc(count ? count : 1, size);
    if (!memory)
        abort();
    return memory;
}

static inline void family_free(solve_family *family) {
    if (!family)
        return;
    free(family->mass), free(family->inverse), free(family->acceleration), free(family->velocity);
    free(family->free_velocity), free(family->blocks), free(family->jacobian), free(family->mu);
    free(family->q), free(family->w), free(family->a), free(family->b), free(family->kinds);
    free(family->normal), free(family->row_mu), free(family->starts), free(family->indices);
    free(family->values), free(family->centre), free(family->row_b), free(family->local_q);
    free(family->extent);
    free(family);
}

/* --- bodies and contacts ---------------------------------------------------------------------- */

/* Between low and high; the middle for seed 0 (`regular`). */
static inline double family_vary(solve_family *family, bool regular, double low, double high) {
    return regular ? 0.5 * (low + high) : rg_random_between(&family->random, low, high);
}

/* A body of the mass m with principal inertias i along axes turned by `rotation`. */
static inline uint32_t family_add_body(solve_family *family, rg_vec3 centre, double m, rg_vec3 i,
                                       rg_quat q) {
    uint32_t body = (uint32_t)family->bodies++;
    size_t n = (size_t)family->freedom;
    double *mass = family->mass + body * n * n, *inverse = family->inverse + body * n * n;
    family->centre[body] = centre;
    size_t linear = n == 6 ? 3 : 2;
    for (size_t k = 0; k < linear; k++)
        mass[k * n + k] = m, inverse[k * n + k] = 1 / m;
    if (n == 3) {
        mass[8] = i.y, inverse[8] = 1 / i.y;
    } else {
        double r[3][3] = {{1 - 2 * (q.y * q.y + q.z * q.z), 2 * (q.x * q.y - q.w * q.z),
                           2 * (q.x * q.z + q.w * q.y)},
                          {2 * (q.x * q.y + q.w * q.z), 1 - 2 * (q.x * q.x + q.z * q.z),
                           2 * (q.y * q.z - q.w * q.x)},
                          {2 * (q.x * q.z - q.w * q.y), 2 * (q.y * q.z + q.w * q.x),
                           1 - 2 * (q.x * q.x + q.y * q.y)}};
        double d[3] = {i.x, i.y, i.z};
        for (int row = 0; row < 3; row++)
            for (int column = 0; column < 3; column++)
                for (int k = 0; k < 3; k++) {
                    mass[(3 + row) * 6 + 3 + column] += r[row][k] * d[k] * r[column][k];
                    inverse[(3 + row) * 6 + 3 + column] += r[row][k] / d[k] * r[column][k];
                }
        for (int row = 0; row < 3; row++) /* rounding must not make it unsymmetric */
            for (int column = 0; column < row; column++) {
                mass[(3 + row) * 6 + 3 + column] = mass[(3 + column) * 6 + 3 + row];
                inverse[(3 + row) * 6 + 3 + column] = inverse[(3 + column) * 6 + 3 + row];
            }
    }
    family->acceleration[body * n + (linear - 1)] = -FAMILY_GRAVITY;
    return body;
}

static inline uint32_t family_add_box(solve_family *family, rg_vec3 centre, rg_vec3 size,
                                      double density) {
    double m = density * size.x * size.y * size.z;
    double x = size.x * size.x, y = size.y * size.y, z = size.z * size.z;
    return family_add_body(family, centre, m,
                           (rg_vec3){m * (y + z) / 12, m * (x + z) / 12, m * (x + y) / 12},
                           (rg_quat){0, 0, 0, 1});
}

static inline rg_vec3 family_cross(rg_vec3 a, rg_vec3 b) {
    return (rg_vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

/* One contact at `point` with the normal from a to b (RG_NO_BLOCK: the floor); nothing if there are
 * `room` already. In the plane y is absent: rows (x, z, angle about y). */
static inline void family_add_contact(solve_family *family, size_t room, uint32_t a, uint32_t b,
                                      rg_vec3 point, rg_vec3 n, double gap) {
    if (family->contacts == room)
        return;
    size_t contact = family->contacts++, d = (size_t)family->dimension, f = (size_t)family->freedom;
    rg_vec3 axes[3] = {n, {0, 0, 0}, {0, 0, 0}};
    if (d == 3) {
        rg_vec3 away = fabs(n.x) < 0.7 ? (rg_vec3){1, 0, 0} : (rg_vec3){0, 1, 0};
        rg_vec3 t = family_cross(n, away);
        double length = sqrt(t.x * t.x + t.y * t.y + t.z * t.z);
        axes[1] = (rg_vec3){t.x / length, t.y / length, t.z / length};
        axes[2] = family_cross(n, axes[1]);
    } else {
        axes[1] = (rg_vec3){n.z, 0, -n.x};
    }
    const uint32_t bodies[2] = {a, b};
    for (size_t side = 0; side < 2; side++) {
        family->blocks[2 * contact + side] = bodies[side];
        if (bodies[side] == RG_NO_BLOCK)
            continue;
        rg_vec3 c = family->centre[bodies[side]];
        rg_vec3 arm = {point.x - c.x, point.y - c.y, point.z - c.z};
        double sign = side ? 1 : -1;
        for (size_t row = 0; row < d; row++) {
            double *j = family->jacobian + ((contact * 2 + side) * d + row) * f;
            rg_vec3 t = axes[row], turn = family_cross(arm, t);
            if (f == 6) {
                double full[6] = {t.x, t.y, t.z, turn.x, turn.y, turn.z};
                for (int k = 0; k < 6; k++)
                    j[k] = sign * full[k];
            } else {
                j[0] = sign * t.x, j[1] = sign * t.z, j[2] = sign * turn.y;
            }
        }
    }
    family->q[contact * d] = gap / FAMILY_STEP;
}

/* Four contacts at the corners of a rectangle with the normal up. */
static inline void family_add_face(solve_family *family, size_t room, uint32_t a, uint32_t b,
                                   double x0, double x1, double y0, double y1, double z) {
    const double xs[4] = {x0, x1, x1, x0}, ys[4] = {y0, y0, y1, y1};
    for (int k = 0; k < 4; k++)
        family_add_contact(family, room, a, b, (rg_vec3){xs[k], ys[k], z}, (rg_vec3){0, 0, 1}, 0);
}

/* --- the families ----------------------------------------------------------------------------- */

static inline void family_fill_stack(solve_family *family, size_t room, bool regular) {
    double top = 0, x = 0, y = 0;
    rg_vec3 below = {1e3, 1e3, 0};
    uint32_t last = RG_NO_BLOCK;
    while (family->contacts < room) {
        rg_vec3 size = {family_vary(family, regular, 0.7, 1.3),
                        family_vary(family, regular, 0.7, 1.3),
                        family_vary(family, regular, 0.3, 0.7)};
        double nx = x + family_vary(family, regular, -0.1, 0.1);
        double ny = y + family_vary(family, regular, -0.1, 0.1);
        uint32_t box = family_add_box(family, (rg_vec3){nx, ny, top + 0.5 * size.z}, size,
                                      family_vary(family, regular, 0.2, 1.8));
        family_add_face(family, room, last, box, fmax(x - 0.5 * below.x, nx - 0.5 * size.x),
                        fmin(x + 0.5 * below.x, nx + 0.5 * size.x),
                        fmax(y - 0.5 * below.y, ny - 0.5 * size.y),
                        fmin(y + 0.5 * below.y, ny + 0.5 * size.y), top);
        top += size.z, x = nx, y = ny, below = size, last = box;
    }
}

/* Bricks of 1 x 0.5 x 0.5; the rows as many as makes the wall about square. */
static inline void family_fill_wall(solve_family *family, size_t room, bool regular) {
    size_t width = (size_t)ceil(sqrt((double)room / 16));
    width = width < 2 ? 2 : width;
    uint32_t first_below = RG_NO_BLOCK;
    for (size_t row = 0; family->contacts < room; row++) {
        double z = 0.5 * (double)row;
        bool shifted = row % 2 == 1;
        uint32_t first = (uint32_t)family->bodies;
        for (size_t k = 0; k < width + shifted && family->contacts < room; k++) {
            bool half = shifted && (k == 0 || k == width);
            double left = shifted ? (k == 0 ? 0 : (double)k - 0.5) : (double)k;
            double right = left + (half ? 0.5 : 1), inset[4] = {0};
            for (int side = 0; side < 4 && !regular; side++) /* no two bricks are equal */
                inset[side] = rg_random_between(&family->random, 0, 0.04);
            double x0 = left + inset[0], x1 = right - inset[1], y0 = inset[2], y1 = 0.5 - inset[3];
            uint32_t brick = family_add_box(
                family, (rg_vec3){0.5 * (x0 + x1), 0.5 * (y0 + y1), z + 0.25},
                (rg_vec3){x1 - x0, y1 - y0, 0.5}, family_vary(family, regular, 0.5, 1.5));
            double *own = family->extent + 4 * brick;
            own[0] = x0, own[1] = x1, own[2] = y0, own[3] = y1;
            if (row == 0) {
                family_add_face(family, room, RG_NO_BLOCK, brick, x0, x1, y0, y1, z);
                continue;
            }
            /* Unshifted bricks lie on k and k + 1 of the row below, shifted ones on k - 1 and k. */
            for (double x = left; x < right - 0.25; x += 0.5) {
                uint32_t under = first_below + (uint32_t)(shifted ? x : x + 0.5);
                const double *other = family->extent + 4 * under;
                family_add_face(family, room, under, brick, fmax(x0, other[0]), fmin(x1, other[1]),
                                fmax(y0, other[2]), fmin(y1, other[3]), z);
            }
        }
        first_below = first;
    }
}

/* Every body lies on up to three that were there before (or on the floor), near ones more often;
 * then contacts are added between near bodies. Half of the touches are faces: three or four points
 * with one normal. */
static inline void family_touch(solve_family *family, size_t room, uint32_t a, uint32_t b) {
    rg_random *random = &family->random;
    rg_vec3 cb = family->centre[b], ca = {cb.x, cb.y, cb.z - 1};
    if (a != RG_NO_BLOCK)
        ca = family->centre[a];
    rg_vec3 n = {cb.x - ca.x, cb.y - ca.y, cb.z - ca.z}, wobble = rg_random_direction(random);
    double tilt = a == RG_NO_BLOCK ? 0 : rg_random_between(random, 0, 0.5);
    double length = sqrt(n.x * n.x + n.y * n.y + n.z * n.z);
    n = (rg_vec3){n.x / length + tilt * wobble.x, n.y / length + tilt * wobble.y,
                  n.z / length + tilt * wobble.z};
    if (family->dimension == 2)
        n.y = 0;
    length = sqrt(n.x * n.x + n.y * n.y + n.z * n.z);
    n = (rg_vec3){n.x / length, n.y / length, n.z / length};
    double gap = rg_random_unit(random) < 0.7 ? 0 : 1e-3 * rg_random_unit(random);
    bool face = rg_random_unit(random) < 0.5;
    rg_vec3 shift = rg_random_direction(random); /* within 0.3 of the middle, on the floor level */
    double far = rg_random_between(random, 0, 0.3);
    rg_vec3 point = {0.5 * (ca.x + cb.x) + far * shift.x, 0.5 * (ca.y + cb.y) + far * shift.y,
                     0.5 * (ca.z + cb.z) + (a == RG_NO_BLOCK ? 0 : far * shift.z)};
    if (family->dimension == 2)
        point.y = 0;
    if (!face) {
        family_add_contact(family, room, a, b, point, n, gap);
        return;
    }
    rg_vec3 t1 = {n.z, 0, -n.x}, t2 = {0, 0, 0};
    if (family->dimension == 3) {
        rg_vec3 away = fabs(n.x) < 0.7 ? (rg_vec3){1, 0, 0} : (rg_vec3){0, 1, 0};
        t1 = family_cross(n, away);
        length = sqrt(t1.x * t1.x + t1.y * t1.y + t1.z * t1.z);
        t1 = (rg_vec3){t1.x / length, t1.y / length, t1.z / length};
        t2 = family_cross(n, t1);
    }
    int points = family->dimension == 2 ? 2 : 3 + (int)rg_random_below(random, 2);
    double half = rg_random_between(random, 0.1, 0.4);
    for (int k = 0; k < points; k++) {
        double s = k == 0 || k == 3 ? -half : half, t = k < 2 ? -half : half;
        rg_vec3 p = {point.x + s * t1.x + t * t2.x, point.y + s * t1.y + t * t2.y,
                     point.z + s * t1.z + t * t2.z};
        family_add_contact(family, room, a, b, p, n, gap);
    }
}

static inline uint32_t family_near(solve_family *family, rg_vec3 place, uint32_t before) {
    uint32_t best = (uint32_t)rg_random_below(&family->random, before);
    double best_distance = INFINITY;
    for (int k = 0; k < 4; k++) { /* the nearest of four */
        uint32_t other = (uint32_t)rg_random_below(&family->random, before);
        rg_vec3 c = family->centre[other];
        double x = c.x - place.x, y = c.y - place.y, z = c.z - place.z;
        double distance = x * x + y * y + z * z;
        if (distance < best_distance)
            best = other, best_distance = distance;
    }
    return best;
}

static inline void family_fill_pile(solve_family *family, size_t room, size_t count) {
    rg_random *random = &family->random;
    double side = sqrt((double)count);
    for (int k = 0; k < 40 && family->dimension == 3; k++) /* Newton: the same bits everywhere */
        side -= (side * side * side - (double)count) / (3 * side * side);
    for (size_t k = 0; k < count; k++) {
        double height = 0.5 + side * (double)k / (double)count;
        rg_vec3 centre = {rg_random_between(random, 0, side), rg_random_between(random, 0, side),
                          height};
        if (family->dimension == 2)
            centre.y = 0;
        double m = rg_random_between(random, 0.4, 2.6);
        rg_vec3 inertia = {m * rg_random_between(random, 0.05, 0.1),
                           m * rg_random_between(random, 0.05, 0.1),
                           m * rg_random_between(random, 0.05, 0.1)};
        uint32_t body = family_add_body(family, centre, m, inertia, rg_random_rotation(random));
        bool floor = body == 0 || height < 1;
        if (floor)
            family_touch(family, room, RG_NO_BLOCK, body);
        for (int touch = floor ? 2 : 0; touch < 3 && body > 0; touch++)
            family_touch(family, room, family_near(family, centre, body), body);
    }
    while (family->contacts < room) {
        uint32_t b = (uint32_t)rg_random_below(random, count);
        uint32_t a = b ? family_near(family, family->centre[b], b) : RG_NO_BLOCK;
        family_touch(family, room, a, b);
    }
}

/* Pushes on every tenth body, and what moved before: a tenth of the bodies slides. */
static inline void family_push(solve_family *family, bool regular) {
    rg_random *random = &family->random;
    size_t n = (size_t)family->freedom;
    for (size_t body = 0; body < family->bodies && !regular; body++) {
        double *a = family->acceleration + body * n, *v = family->velocity + body * n;
        if (rg_random_unit(random) < 0.1)
            for (size_t k = 0; k < n; k++)
                a[k] += FAMILY_GRAVITY * rg_random_between(random, -1, 1);
        if (rg_random_unit(random) < 0.1)
            for (size_t k = 0; k < n; k++)
                v[k] += rg_random_between(random, -0.3, 0.3);
    }
}

/* `contacts` contacts, at least 1. mu < 0: random, 0.1 to 0.9, per contact. */
static inline solve_family *family_make(family_kind kind, size_t contacts, uint64_t seed,
                                        double mu) {
    solve_family *family = family_zeros(1, sizeof *family);
    bool planar = kind == FAMILY_PLANAR, regular = seed == 0;
    family->kind = kind;
    family->random = rg_random_make(1000003 * seed + 17 * contacts + (uint64_t)kind);
    family->dimension = planar ? 2 : 3;
    family->freedom = planar ? 3 : 6;
    size_t d = (size_t)family->dimension, f = (size_t)family->freedom, room = contacts + 4;
    family->mass = family_zeros(room * f * f, sizeof(double));
    family->inverse = family_zeros(room * f * f, sizeof(double));
    family->acceleration = family_zeros(room * f, sizeof(double));
    family->velocity = family_zeros(room * f, sizeof(double));
    family->free_velocity = family_zeros(room * f, sizeof(double));
    family->centre = family_zeros(room, sizeof *family->centre);
    family->extent = family_zeros(room * 4, sizeof(double));
    family->blocks = family_zeros(contacts * 2, sizeof(uint32_t));
    family->jacobian = family_zeros(contacts * 2 * d * f, sizeof(double));
    family->mu = family_zeros(contacts, sizeof(double));
    family->q = family_zeros(contacts * d, sizeof(double));
    if (kind == FAMILY_STACK)
        family_fill_stack(family, contacts, regular);
    else if (kind == FAMILY_WALL)
        family_fill_wall(family, contacts, regular);
    else
        family_fill_pile(family, contacts,
                         planar
                             ? 1 + contacts / 4 + rg_random_below(&family->random, contacts / 3 + 1)
                             : 1 + contacts / 7);
    family_push(family, regular);
    for (size_t k = 0; k < contacts; k++)
        family->mu[k] = mu < 0 ? rg_random_between(&family->random, 0.1, 0.9) : mu;
    for (size_t k = 0; k < family->bodies * f; k++)
        family->free_velocity[k] = family->velocity[k] + FAMILY_STEP * family->acceleration[k];
    return family;
}

/* --- as problems ------------------------------------------------------------------------------ */

static inline const rg_problem *family_global(solve_family *family) {
    family->global = (rg_problem){.kind = RG_PROBLEM_CONTACT,
                                  .contact = {.dimension = family->dimension,
                                              .contacts = family->contacts,
                                              .mu = family->mu,
                                              .form = RG_FORM_GLOBAL,
                                              .q = family->q,
                                              .global = {.blocks = family->bodies,
                                                         .freedom = family->freedom,
                                                         .mass = family->mass,
                                                         .free_velocity = family->free_velocity,
                                                         .contact_blocks = family->blocks,
                                                         .contact_jacobian = family->jacobian}}};
    return &family->global;
}

/* The d x d block of W = J M^-1 J' between two contacts. False: zero. */
static inline bool family_block(const solve_family *family, size_t i, size_t j, double *block) {
    size_t d = (size_t)family->dimension, f = (size_t)family->freedom;
    bool shared = false;
    memset(block, 0, d * d * sizeof *block);
    for (size_t s = 0; s < 2; s++)
        for (size_t t = 0; t < 2; t++) {
            uint32_t body = family->blocks[2 * i + s];
            if (body == RG_NO_BLOCK || body != family->blocks[2 * j + t])
                continue;
            shared = true;
            const double *inverse = family->inverse + body * f * f;
            for (size_t row = 0; row < d; row++) {
                double y[6] = {0};
                const double *ji = family->jacobian + ((2 * i + s) * d + row) * f;
                for (size_t k = 0; k < f; k++)
                    for (size_t l = 0; l < f; l++)
                        y[l] += ji[k] * inverse[k * f + l];
                for (size_t column = 0; column < d; column++) {
                    const double *jj = family->jacobian + ((2 * j + t) * d + column) * f;
                    for (size_t l = 0; l < f; l++)
                        block[row * d + column] += y[l] * jj[l];
                }
            }
        }
    return shared;
}

static inline const double *family_w(solve_family *family) {
    size_t d = (size_t)family->dimension, n = family->contacts * d;
    if (family->w)
        return family->w;
    family->w = family_zeros(n * n, sizeof(double));
    for (size_t i = 0; i < family->contacts; i++)
        for (size_t j = 0; j <= i; j++) {
            double block[9];
            if (!family_block(family, i, j, block))
                continue;
            for (size_t row = 0; row < d; row++)
                for (size_t column = 0; column < d; column++)
                    if (i != j || column <= row)
                        family->w[(i * d + row) * n + j * d + column] =
                            family->w[(j * d + column) * n + i * d + row] = block[row * d + column];
        }
    return family->w;
}

/* out = J x + q (q if `with_gaps`), contacts x dimension. */
static inline void family_apply_j(const solve_family *family, const double *x, bool with_gaps,
                                  double *out) {
    size_t d = (size_t)family->dimension, f = (size_t)family->freedom;
    for (size_t i = 0; i < family->contacts; i++)
        for (size_t row = 0; row < d; row++) {
            double sum = with_gaps ? family->q[i * d + row] : 0;
            for (size_t s = 0; s < 2; s++) {
                uint32_t body = family->blocks[2 * i + s];
                for (size_t k = 0; body != RG_NO_BLOCK && k < f; k++)
                    sum += family->jacobian[((2 * i + s) * d + row) * f + k] * x[body * f + k];
            }
            out[i * d + row] = sum;
        }
}

/* Local form, W dense. */
static inline const rg_problem *family_local(solve_family *family) {
    size_t n = family->contacts * (size_t)family->dimension;
    if (family->local_q)
        return &family->local;
    family->local_q = family_zeros(n, sizeof(double));
    family_apply_j(family, family->free_velocity, true, family->local_q);
    family->local = (rg_problem){.kind = RG_PROBLEM_CONTACT,
                                 .contact = {.dimension = family->dimension,
                                             .contacts = family->contacts,
                                             .mu = family->mu,
                                             .form = RG_FORM_LOCAL,
                                             .w = {n, n, family_w(family), NULL, NULL, NULL},
                                             .q = family->local_q}};
    return &family->local;
}

/* Local form, W in compressed rows: the blocks that two contacts with a common body make. */
static inline const rg_problem *family_sparse(solve_family *family) {
    size_t d = (size_t)family->dimension, nc = family->contacts, n = nc * d, count = 0;
    if (family->starts)
        return &family->sparse;
    family->sparse = *family_local(family);
    uint8_t *there = family_zeros(nc * nc, 1);
    for (size_t i = 0; i < nc; i++)
        for (size_t j = 0; j < nc; j++) {
            double block[9];
            there[i * nc + j] = family_block(family, i, j, block);
            count += there[i * nc + j] ? d * d : 0;
        }
    family->starts = family_zeros(n + 1, sizeof(size_t));
    family->indices = family_zeros(count, sizeof(uint32_t));
    family->values = family_zeros(count, sizeof(double));
    size_t next = 0;
    for (size_t row = 0; row < n; row++) {
        for (size_t column = 0; column < n; column++)
            if (there[row / d * nc + column / d]) {
                family->indices[next] = (uint32_t)column;
                family->values[next++] = family->w[row * n + column];
            }
        family->starts[row + 1] = next;
    }
    free(there);
    family->sparse.contact.w =
        (rg_matrix){n, n, NULL, family->starts, family->indices, family->values};
    return &family->sparse;
}

/* Without friction, as an LCP: one row a contact, accelerations. */
static inline const rg_problem *family_linear(solve_family *family) {
    size_t d = (size_t)family->dimension, nc = family->contacts;
    if (family->a)
        return &family->linear;
    family->a = family_zeros(nc * nc, sizeof(double));
    family->b = family_zeros(nc, sizeof(double));
    double *all = family_zeros(nc * d, sizeof(double));
    family_apply_j(family, family->acceleration, false, all);
    for (size_t i = 0; i < nc; i++) {
        family->b[i] = all[i * d];
        for (size_t j = 0; j <= i; j++) {
            double block[9];
            if (family_block(family, i, j, block))
                family->a[i * nc + j] = family->a[j * nc + i] = block[0];
        }
    }
    free(all);
    family->linear = rg_problem_linear(nc, family->a, family->b);
    return &family->linear;
}

/* Static friction as a linear problem (Baraff 1994): rows (normal, tangent[, tangent]) contact by
 * contact, everything at rest, accelerations. In space the friction is a box. */
static inline const rg_problem *family_static(solve_family *family) {
    size_t d = (size_t)family->dimension, n = family->contacts * d;
    if (family->kinds)
        return &family->fixed;
    family->kinds = family_zeros(n, 1);
    family->normal = family_zeros(n, sizeof(uint32_t));
    family->row_mu = family_zeros(n, sizeof(double));
    family->row_b = family_zeros(n, sizeof(double));
    family_apply_j(family, family->acceleration, false, family->row_b);
    for (size_t row = 0; row < n; row++) {
        family->kinds[row] = row % d ? RG_ROW_STATIC : RG_ROW_UNILATERAL;
        family->normal[row] = (uint32_t)(row - row % d);
        family->row_mu[row] = family->mu[row / d];
    }
    family->fixed = (rg_problem){.kind = RG_PROBLEM_LINEAR,
                                 .linear = {.size = n,
                                            .matrix = family_w(family),
                                            .b = family->row_b,
                                            .kinds = family->kinds,
                                            .normal = family->normal,
                                            .mu = family->row_mu}};
    return &family->fixed;
}

#endif
