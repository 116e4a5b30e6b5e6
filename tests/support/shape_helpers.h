/* What the tests of the shape stage share: reference integrals in extended precision, random poses,
 * a lat-long ellipsoid mesh, checks of a polyhedron. */
#ifndef RIGOR_TESTS_SHAPE_HELPERS_H
#define RIGOR_TESTS_SHAPE_HELPERS_H

#include "test_support.h"

#include "base/base_math.h"
#include "base/base_trig.h"
#include "rigor/mass.h"
#include "rigor/mesh.h"
#include "rigor/random.h"
#include "rigor/shape.h"

#include <string.h>

static inline rg_shape *make_shape(rg_shape_def def) {
    rg_shape *shape = NULL;
    rg_error error = {0};
    if (rg_shape_create(&def, NULL, &shape, &error) != RG_OK)
        fail_msg("%s", error.text);
    return shape;
}

static inline rg_pose random_pose(rg_random *random, double reach) {
    return (rg_pose){{rg_random_between(random, -reach, reach),
                      rg_random_between(random, -reach, reach),
                      rg_random_between(random, -reach, reach)},
                     rg_random_rotation(random)};
}

/* Volume integrals by the divergence theorem, one coordinate at a time, over triangles (surface
 * integrals of x, x^2, x^3, x^2 y in closed form), in long double: another formula and another
 * precision than the library's. */
typedef struct reference_moments {
    long double volume, first[3], second[3], mixed[3]; /* mixed: xy yz zx */
} reference_moments;

static inline void reference_terms(long double w0, long double w1, long double w2, long double *f,
                                   long double *g) {
    long double t0 = w0 + w1, t1 = w0 * w0, t2 = t1 + w1 * t0;
    f[0] = t0 + w2;
    f[1] = t2 + w2 * f[0];
    f[2] = w0 * t1 + w1 * t2 + w2 * f[1];
    g[0] = f[1] + w0 * (f[0] + w0);
    g[1] = f[1] + w1 * (f[0] + w1);
    g[2] = f[1] + w2 * (f[0] + w2);
}

static inline void reference_add(reference_moments *m, rg_vec3 a, rg_vec3 b, rg_vec3 c,
                                 rg_vec3 origin) {
    long double p[3][3] = {
        {(long double)a.x - origin.x, (long double)a.y - origin.y, (long double)a.z - origin.z},
        {(long double)b.x - origin.x, (long double)b.y - origin.y, (long double)b.z - origin.z},
        {(long double)c.x - origin.x, (long double)c.y - origin.y, (long double)c.z - origin.z}};
    long double u[3], v[3], d[3], f[3][3], g[3][3];
    for (int i = 0; i < 3; i++) {
        u[i] = p[1][i] - p[0][i];
        v[i] = p[2][i] - p[0][i];
        reference_terms(p[0][i], p[1][i], p[2][i], f[i], g[i]);
    }
    for (int i = 0; i < 3; i++)
        d[i] = u[(i + 1) % 3] * v[(i + 2) % 3] - u[(i + 2) % 3] * v[(i + 1) % 3];
    m->volume += d[0] * f[0][0] / 6;
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3;
        m->first[i] += d[i] * f[i][1] / 24;
        m->second[i] += d[i] * f[i][2] / 60;
        m->mixed[i] += d[i] * (p[0][j] * g[i][0] + p[1][j] * g[i][1] + p[2][j] * g[i][2]) / 120;
    }
}

static inline rg_mass_properties reference_mass(const reference_moments *m, rg_vec3 origin) {
    long double c[3], xx[3], mixed[3];
    for (int i = 0; i < 3; i++)
        c[i] = m->first[i] / m->volume;
    for (int i = 0; i < 3; i++) {
        xx[i] = m->second[i] - m->volume * c[i] * c[i];
        mixed[i] = m->mixed[i] - m->volume * c[i] * c[(i + 1) % 3];
    }
    rg_mass_properties mass = {.mass = (double)m->volume,
                               .centre = {(double)(c[0] + origin.x), (double)(c[1] + origin.y),
                                          (double)(c[2] + origin.z)}};
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3;
        mass.inertia.m[i][i] = (double)(xx[(i + 1) % 3] + xx[(i + 2) % 3]);
        mass.inertia.m[i][j] = mass.inertia.m[j][i] = (double)-mixed[i];
    }
    return mass;
}

static inline rg_mass_properties reference_mass_of_polyhedron(const rg_polyhedron *p) {
    reference_moments m = {0};
    rg_vec3 origin = p->vertices[0];
    for (uint32_t f = 0; f < p->facet_count; f++) {
        uint32_t first = p->facet_start[f];
        for (uint32_t k = first + 1; k + 1 < p->facet_start[f + 1]; k++)
            reference_add(&m, p->vertices[p->facet_vertices[first]],
                          p->vertices[p->facet_vertices[k]], p->vertices[p->facet_vertices[k + 1]],
                          origin);
    }
    return reference_mass(&m, origin);
}

static inline rg_mass_properties reference_mass_of_mesh(const rg_mesh *mesh) {
    reference_moments m = {0};
    rg_vec3 origin = mesh->vertices[0];
    for (size_t i = 0; i < 3 * mesh->triangle_count; i += 3)
        reference_add(&m, mesh->vertices[mesh->triangles[i]],
                      mesh->vertices[mesh->triangles[i + 1]],
                      mesh->vertices[mesh->triangles[i + 2]], origin);
    return reference_mass(&m, origin);
}

/* Largest difference: mass relative, centre relative to `size`, inertia relative to its largest
 * entry. */
static inline double mass_difference(rg_mass_properties a, rg_mass_properties b, double size) {
    double worst = fabs(a.mass - b.mass) / fabs(b.mass), largest = 0;
    worst = fmax(worst, rg_length(rg_sub(a.centre, b.centre)) / size);
    for (int i = 0; i < 9; i++)
        largest = fmax(largest, fabs(b.inertia.m[i / 3][i % 3]));
    for (int i = 0; i < 9; i++)
        worst = fmax(worst, fabs(a.inertia.m[i / 3][i % 3] - b.inertia.m[i / 3][i % 3]) / largest);
    return worst;
}

/* Lat-long mesh of an ellipsoid: 2 slices (stacks - 1) triangles, corners on the surface. */
static inline rg_mesh ellipsoid_mesh(rg_vec3 axes, uint32_t slices, uint32_t stacks) {
    rg_mesh mesh = {.vertex_count = 2 + (size_t)slices * (stacks - 1),
                    .triangle_count = 2 * (size_t)slices * (stacks - 1)};
    mesh.vertices = malloc(mesh.vertex_count * sizeof *mesh.vertices);
    mesh.triangles = malloc(3 * mesh.triangle_count * sizeof *mesh.triangles);
    uint32_t south = 0, north = 1, *t = mesh.triangles;
    mesh.vertices[south] = rg_vec3_make(0, 0, -axes.z);
    mesh.vertices[north] = rg_vec3_make(0, 0, axes.z);
    for (uint32_t i = 1; i < stacks; i++)
        for (uint32_t j = 0; j < slices; j++) {
            double s, c, u, v;
            rg_sin_cos(RG_PI * i / stacks, &s, &c);
            rg_sin_cos(2 * RG_PI * j / slices, &v, &u);
            mesh.vertices[2 + (i - 1) * slices + j] =
                rg_vec3_make(axes.x * s * u, axes.y * s * v, -axes.z * c);
        }
    for (uint32_t j = 0; j < slices; j++) {
        uint32_t k = (j + 1) % slices, last = 2 + (stacks - 2) * slices;
        uint32_t caps[6] = {south, 2 + k, 2 + j, north, last + j, last + k};
        memcpy(t, caps, sizeof caps);
        t += 6;
        for (uint32_t i = 0; i + 2 < stacks; i++) {
            uint32_t a = 2 + i * slices + j, b = 2 + i * slices + k;
            uint32_t quad[6] = {a, b, b + slices, a, b + slices, a + slices};
            memcpy(t, quad, sizeof quad);
            t += 6;
        }
    }
    return mesh;
}

static inline void free_test_mesh(rg_mesh *mesh) {
    free(mesh->vertices);
    free(mesh->triangles);
}

/* Rings of neighbours: symmetric, and counter-clockwise, so that between neighbour k and the next
 * one there is a facet whose loop goes next, v, neighbour k. */
static inline void check_rings(const rg_polyhedron *p) {
    uint32_t corners = p->facet_start[p->facet_count];
    uint32_t *filled = calloc(p->vertex_count, sizeof *filled);
    uint32_t(*wedges)[2] = malloc(corners * sizeof *wedges); /* corners before and after v, by v */
    for (uint32_t f = 0; f < p->facet_count; f++) {
        uint32_t first = p->facet_start[f], count = p->facet_start[f + 1] - first;
        for (uint32_t k = 0; k < count; k++) {
            uint32_t v = p->facet_vertices[first + k];
            uint32_t *wedge = wedges[p->vertex_start[v] + filled[v]++];
            assert_true(filled[v] <= p->vertex_start[v + 1] - p->vertex_start[v]);
            wedge[0] = p->facet_vertices[first + (k + count - 1) % count];
            wedge[1] = p->facet_vertices[first + (k + 1) % count];
        }
    }
    for (uint32_t v = 0; v < p->vertex_count; v++) {
        uint32_t first = p->vertex_start[v], count = p->vertex_start[v + 1] - first;
        assert_true(count >= 3);
        for (uint32_t k = 0; k < count; k++) {
            uint32_t u = p->vertex_neighbours[first + k], back = 0, found = 0;
            uint32_t next = p->vertex_neighbours[first + (k + 1) % count];
            for (uint32_t m = p->vertex_start[u]; m < p->vertex_start[u + 1]; m++)
                back += p->vertex_neighbours[m] == v;
            for (uint32_t m = first; m < first + count; m++)
                found += wedges[m][0] == next && wedges[m][1] == u;
            assert_int_equal(back, 1);
            assert_int_equal(found, 1);
        }
    }
    free(filled);
    free(wedges);
}

/* Everything that rg_polyhedron promises, for polyhedra with volume. `size` is the extent. */
static inline void check_polyhedron(const rg_polyhedron *p, double size) {
    assert_int_equal((int)p->vertex_count - (int)p->edge_count + (int)p->facet_count, 2);
    assert_int_equal(p->facet_start[p->facet_count], 2 * p->edge_count);
    assert_int_equal(p->vertex_start[p->vertex_count], 2 * p->edge_count);
    for (uint32_t f = 0; f < p->facet_count; f++) {
        rg_vec3 n = p->normals[f];
        uint32_t first = p->facet_start[f], count = p->facet_start[f + 1] - first;
        assert_true(count >= 3);
        assert_near(rg_length(n), 1, 1e-15);
        assert_true(p->offsets[f] > 0);
        for (uint32_t k = 0; k < count; k++) {
            uint32_t u = p->facet_vertices[first + k],
                     v = p->facet_vertices[first + (k + 1) % count];
            uint32_t w = p->facet_vertices[first + (k + 2) % count];
            rg_vec3 a = p->vertices[u], b = p->vertices[v], c = p->vertices[w];
            /* planar, and each corner turns left */
            assert_near(rg_dot(n, rg_sub(a, p->centre)), p->offsets[f], 1e-10 * size);
            assert_true(rg_dot(n, rg_cross(rg_sub(b, a), rg_sub(c, b))) > -1e-11 * size * size);
            /* the facet across runs back along the same edge */
            uint32_t g = p->facet_neighbours[first + k], found = 0;
            uint32_t start = p->facet_start[g], length = p->facet_start[g + 1] - start;
            for (uint32_t m = 0; m < length; m++)
                found += p->facet_vertices[start + m] == v &&
                         p->facet_vertices[start + (m + 1) % length] == u &&
                         p->facet_neighbours[start + m] == f;
            assert_int_equal(found, 1);
        }
    }
    check_rings(p);
    for (uint32_t e = 0; e < p->edge_count; e++) {
        uint32_t u = p->edge_vertices[2 * e], v = p->edge_vertices[2 * e + 1];
        assert_true(u < v);
        for (int k = 0; k < 2; k++) { /* first facet from u to v, second back */
            uint32_t f = p->edge_facets[2 * e + (uint32_t)k], first = p->facet_start[f];
            uint32_t count = p->facet_start[f + 1] - first, found = 0;
            for (uint32_t m = 0; m < count; m++)
                found += p->facet_vertices[first + m] == (k ? v : u) &&
                         p->facet_vertices[first + (m + 1) % count] == (k ? u : v);
            assert_int_equal(found, 1);
        }
    }
}

#endif
