/* Growth in closed form, where K = K1 - K2 is a ball added to something flat:
 *   sphere, capsule, disc   a parallelogram (or segment, or point) added to a ball
 *   sphere and box          a box added to a ball
 *   sphere and polyhedron   of at most FEW_EDGES edges, such as the prism of a triangle of terrain
 * Such a K is the union of balls about corners, cylinders about edges and prisms on faces, all
 * inside K; the ray from the centre leaves K where it leaves the last of them. Each piece is a
 * quadratic equation. The answer is certified like any other; a failure (cancellation where the
 * ball is tiny beside the rest) hands the pair to the iterative solver.
 * Tested by tests/narrow/test_curved.c. */
#include "narrow/narrow_curved.h"

enum { FEW_EDGES = 12 };

/* The core point { a, b in [-1, 1] : a e0 + b e1 } under the exit point of the ray. */
typedef struct exit_point {
    double tau;
    rg_vec3 n; /* outward, not normalised */
    double a, b;
} exit_point;

/* Largest tau with |tau d - c| = r; negative if the ray misses. d need not be a unit vector. */
static double leave_ball(rg_vec3 d, rg_vec3 c, double r) {
    double dd = rg_length_squared(d), along = rg_dot(c, d);
    rg_vec3 miss = rg_add_scaled(c, -along / dd, d);
    double left = r * r - rg_length_squared(miss);
    return left < 0 ? -1 : along / dd + sqrt(left / dd);
}

static void try_corner(exit_point *best, rg_vec3 d, rg_vec3 e0, rg_vec3 e1, double a, double b,
                       double r) {
    rg_vec3 core = rg_add_scaled(rg_scale(a, e0), b, e1);
    double tau = leave_ball(d, core, r);
    if (tau > best->tau)
        *best = (exit_point){tau, rg_sub(rg_scale(tau, d), core), a, b};
}

/* The edge c + x e, x in [-1, 1]; returns x, or 2 if the ray does not leave through it. */
static double try_edge(exit_point *best, rg_vec3 d, rg_vec3 c, rg_vec3 e, double r) {
    double ee = rg_length_squared(e);
    if (!(ee > 0))
        return 2;
    rg_vec3 flat_d = rg_add_scaled(d, -rg_dot(d, e) / ee, e);
    rg_vec3 flat_c = rg_add_scaled(c, -rg_dot(c, e) / ee, e);
    if (!(rg_length_squared(flat_d) > 1e-20))
        return 2;
    double tau = leave_ball(flat_d, flat_c, r);
    if (!(tau > best->tau))
        return 2;
    double x = rg_dot(rg_sub(rg_scale(tau, d), c), e) / ee;
    if (!(fabs(x) <= 1))
        return 2;
    best->tau = tau;
    best->n = rg_sub(rg_scale(tau, flat_d), flat_c);
    return x;
}

static void try_face(exit_point *best, rg_vec3 d, rg_vec3 e0, rg_vec3 e1, double r) {
    rg_vec3 n = rg_cross(e0, e1);
    double length = sqrt(rg_length_squared(n));
    if (!(length > 1e-12 * sqrt(rg_length_squared(e0) * rg_length_squared(e1))))
        return;
    n = rg_scale(rg_dot(n, d) < 0 ? -1 / length : 1 / length, n);
    double tau = r / rg_dot(n, d);
    if (!(tau > best->tau) || !isfinite(tau))
        return;
    rg_vec3 in = rg_add_scaled(rg_scale(tau, d), -r, n), m = rg_cross(e0, e1);
    double a = rg_dot(rg_cross(in, e1), m) / (length * length);
    double b = rg_dot(rg_cross(e0, in), m) / (length * length);
    if (fabs(a) <= 1 && fabs(b) <= 1)
        *best = (exit_point){tau, n, a, b};
}

static bool judge(rg_shot *shot, rg_vec3 n, rg_vec3 core1, rg_vec3 core2) {
    const rg_surface *s = shot->side;
    n = rg_normalised(n);
    double along = rg_dot(n, shot->d);
    if (!(along > 0))
        return false;
    shot->iterations = 1;
    return rg_shot_judge(shot, rg_scale(1 / along, n), rg_add_scaled(core1, s[0].radius, n),
                         rg_add_scaled(core2, s[1].radius, n), 0);
}

/* Spheres, discs and capsules with each other. */
static bool shoot_round(rg_shot *shot) {
    const rg_surface *s = shot->side;
    rg_vec3 d = shot->d, e0 = rg_scale(s[0].high, s[0].axis), e1 = rg_scale(s[1].high, s[1].axis);
    double r = s[0].radius + s[1].radius;
    bool long0 = s[0].high > 0, long1 = s[1].high > 0;
    exit_point best = {.tau = -1};
    for (int i = long0 ? -1 : 0; i <= 1; i += 2) {
        for (int k = long1 ? -1 : 0; k <= 1; k += 2)
            try_corner(&best, d, e0, e1, i, k, r);
        double x = try_edge(&best, d, rg_scale(i, e0), e1, r);
        if (x <= 1)
            best.a = i, best.b = x;
    }
    for (int k = long1 ? -1 : 0; k <= 1; k += 2) {
        double x = try_edge(&best, d, rg_scale(k, e1), e0, r);
        if (x <= 1)
            best.a = x, best.b = k;
    }
    if (long0 && long1)
        try_face(&best, d, e0, e1, r);
    return best.tau > 0 && judge(shot, best.n, rg_scale(best.a, e0), rg_scale(best.b, e1));
}

/* Sphere (side `round`) and box, in the frame of the box, in the octant of d. */
static bool shoot_box(rg_shot *shot, int round) {
    const rg_surface *box = &shot->side[1 - round];
    const rg_mat3 *m = &box->rotation;
    rg_vec3 size = rg_shape_get_def(box->shape).size;
    double half[3] = {0.5 * box->scale * size.x, 0.5 * box->scale * size.y,
                      0.5 * box->scale * size.z};
    double d[3], r = shot->side[round].radius, best = -1, n[3] = {0}, sign[3];
    for (int i = 0; i < 3; i++) {
        d[i] = m->m[0][i] * shot->d.x + m->m[1][i] * shot->d.y + m->m[2][i] * shot->d.z;
        sign[i] = d[i] < 0 ? -1 : 1;
        d[i] = fabs(d[i]);
    }
    for (int mask = 1; mask < 8; mask++) {
        rg_vec3 dm = {mask & 1 ? d[0] : 0, mask & 2 ? d[1] : 0, mask & 4 ? d[2] : 0};
        rg_vec3 c = {mask & 1 ? half[0] : 0, mask & 2 ? half[1] : 0, mask & 4 ? half[2] : 0};
        if (!(rg_length_squared(dm) > 1e-20))
            continue;
        double tau = leave_ball(dm, c, r);
        bool on = tau > best;
        for (int i = 0; i < 3; i++)
            on = on && (mask >> i & 1 || tau * d[i] <= half[i]);
        if (!on)
            continue;
        best = tau;
        n[0] = tau * dm.x - c.x;
        n[1] = tau * dm.y - c.y;
        n[2] = tau * dm.z - c.z;
    }
    if (!(best > 0))
        return false;
    rg_vec3 normal = {0, 0, 0}, core[2] = {{0, 0, 0}, {0, 0, 0}};
    for (int i = 0; i < 3; i++) {
        rg_vec3 axis = {m->m[0][i], m->m[1][i], m->m[2][i]};
        normal = rg_add_scaled(normal, sign[i] * n[i], axis);
        core[1 - round] =
            rg_add_scaled(core[1 - round], sign[i] * fmin(half[i], best * d[i]), axis);
    }
    return judge(shot, normal, core[0], core[1]);
}

/* A ray in the frame of a polyhedron, about its centre, and where it leaves what the ball of radius
 * r makes of it. */
typedef struct solid_ray {
    const rg_polyhedron *p;
    rg_vec3 d;
    double r, tau;
    rg_vec3 n, core; /* there: outward, not normalised; the point of the polyhedron under it */
} solid_ray;

static rg_vec3 corner_of(const solid_ray *ray, uint32_t vertex) {
    return rg_sub(ray->p->vertices[vertex], ray->p->centre);
}

/* Through the face that ends the mitred polyhedron, if the ball touches that face inside. */
static bool leave_by_face(solid_ray *ray) {
    const rg_polyhedron *p = ray->p;
    uint32_t face = 0;
    double least = INFINITY;
    for (uint32_t f = 0; f < p->facet_count; f++) {
        double along = rg_dot(p->normals[f], ray->d);
        double tau = along > 0 ? (p->offsets[f] + ray->r) / along : INFINITY;
        if (tau < least) {
            least = tau;
            face = f;
        }
    }
    if (!isfinite(least))
        return false;
    rg_vec3 n = p->normals[face], core = rg_add_scaled(rg_scale(least, ray->d), -ray->r, n);
    uint32_t first = p->facet_start[face], count = p->facet_start[face + 1] - first;
    for (uint32_t k = 0; k < count; k++) {
        rg_vec3 from = corner_of(ray, p->facet_vertices[first + k]);
        rg_vec3 to = corner_of(ray, p->facet_vertices[first + (k + 1) % count]);
        if (rg_dot(rg_cross(rg_sub(to, from), rg_sub(core, from)), n) < 0)
            return false;
    }
    ray->tau = least;
    ray->n = n;
    ray->core = core;
    return true;
}

static void leave_by_edges(solid_ray *ray) {
    const rg_polyhedron *p = ray->p;
    exit_point best = {.tau = -1};
    for (uint32_t e = 0; e < p->edge_count; e++) {
        rg_vec3 a = corner_of(ray, p->edge_vertices[2 * e]);
        rg_vec3 b = corner_of(ray, p->edge_vertices[2 * e + 1]);
        rg_vec3 middle = rg_scale(0.5, rg_add(a, b)), half = rg_scale(0.5, rg_sub(b, a));
        double x = try_edge(&best, ray->d, middle, half, ray->r);
        if (x <= 1)
            ray->core = rg_add_scaled(middle, x, half);
    }
    for (uint32_t v = 0; v < p->vertex_count; v++) {
        rg_vec3 corner = corner_of(ray, v);
        double tau = leave_ball(ray->d, corner, ray->r);
        if (!(tau > best.tau))
            continue;
        best = (exit_point){.tau = tau, .n = rg_sub(rg_scale(tau, ray->d), corner)};
        ray->core = corner;
    }
    ray->tau = best.tau;
    ray->n = best.n;
}

/* Sphere (side `round`) and a small polyhedron. */
static bool shoot_polyhedron(rg_shot *shot, int round) {
    const rg_surface *s = &shot->side[1 - round];
    const rg_mat3 *m = &s->rotation;
    rg_mat3 back = rg_mat3_transpose(m);
    solid_ray ray = {.p = s->polyhedron,
                     .d = rg_scale(s->sign, rg_mat3_apply(&back, shot->d)),
                     .r = shot->side[round].radius / s->scale};
    if (!leave_by_face(&ray))
        leave_by_edges(&ray);
    if (!(ray.tau > 0))
        return false;
    rg_vec3 core[2] = {{0, 0, 0}, {0, 0, 0}};
    core[1 - round] = rg_scale(s->sign * s->scale, rg_mat3_apply(m, ray.core));
    return judge(shot, rg_scale(s->sign, rg_mat3_apply(m, ray.n)), core[0], core[1]);
}

static bool is_small(const rg_shot *shot, const rg_surface *s) {
    return !shot->planar && s->polyhedron && s->polyhedron->edge_count <= FEW_EDGES;
}

static bool is_round(const rg_surface *s) {
    return s->kind == RG_SHAPE_SPHERE || s->kind == RG_SHAPE_CAPSULE || s->kind == RG_SHAPE_DISC;
}

bool rg_shot_closed(rg_shot *shot) {
    const rg_surface *s = shot->side;
    if (is_round(&s[0]) && is_round(&s[1]))
        return shoot_round(shot);
    for (int i = 0; i < 2; i++)
        if (s[i].kind == RG_SHAPE_SPHERE && s[1 - i].kind == RG_SHAPE_BOX)
            return shoot_box(shot, i);
    for (int i = 0; i < 2; i++)
        if (s[i].kind == RG_SHAPE_SPHERE && is_small(shot, &s[1 - i]))
            return shoot_polyhedron(shot, i);
    return false;
}
