/* Shapes as triangles: facets of polyhedra with normals of their own, so that edges stay sharp, and
 * curved shapes as lathe work, a profile turned about z, with the exact normals of the surface. A
 * ring has 48 segments, a quarter of a circle 12, so that the silhouette is off by two thousandths
 * of the radius. The only failure is lack of memory.
 * Tested by tests/record/test_gltf.c. */
#include "record/record_gltf_mesh.h"

#include "base/base_math.h"
#include "base/base_trig.h"

#include <assert.h>

enum { SEGMENTS = 48, QUARTER = 12, MOST_POINTS = 2 * QUARTER + 4 };

rg_mesh_data rg_mesh_data_make(const rg_allocator *allocator) {
    return (rg_mesh_data){.positions = rg_buffer_make(allocator),
                          .normals = rg_buffer_make(allocator),
                          .indices = rg_buffer_make(allocator)};
}

void rg_mesh_data_free(rg_mesh_data *mesh) {
    rg_buffer_free(&mesh->positions);
    rg_buffer_free(&mesh->normals);
    rg_buffer_free(&mesh->indices);
}

static void append_floats(rg_buffer *to, rg_vec3 v) {
    float numbers[3] = {(float)v.x, (float)v.y, (float)v.z};
    rg_buffer_append(to, numbers, sizeof numbers);
}

static uint32_t add_vertex(rg_mesh_data *mesh, rg_vec3 position, rg_vec3 normal) {
    append_floats(&mesh->positions, position);
    append_floats(&mesh->normals, normal);
    return (uint32_t)mesh->vertex_count++;
}

static void add_triangle(rg_mesh_data *mesh, uint32_t a, uint32_t b, uint32_t c) {
    uint32_t corners[3] = {a, b, c};
    rg_buffer_append(&mesh->indices, corners, sizeof corners);
    mesh->index_count += 3;
}

/* A flat convex face, its corners counter-clockwise. */
static void add_face(rg_mesh_data *mesh, const rg_vec3 *corners, size_t count, rg_vec3 normal) {
    uint32_t first = (uint32_t)mesh->vertex_count;
    for (size_t i = 0; i < count; i++)
        add_vertex(mesh, corners[i], normal);
    for (uint32_t i = 2; i < count; i++)
        add_triangle(mesh, first, first + i - 1, first + i);
}

/* ---- polyhedra and plates ---- */

static void add_polyhedron(rg_mesh_data *mesh, const rg_polyhedron *polyhedron) {
    for (uint32_t i = 0; i < polyhedron->facet_count; i++) {
        uint32_t first = (uint32_t)mesh->vertex_count, start = polyhedron->facet_start[i];
        uint32_t count = polyhedron->facet_start[i + 1] - start;
        for (uint32_t k = 0; k < count; k++)
            add_vertex(mesh, polyhedron->vertices[polyhedron->facet_vertices[start + k]],
                       polyhedron->normals[i]);
        for (uint32_t k = 2; k < count; k++)
            add_triangle(mesh, first, first + k - 1, first + k);
    }
}

static void add_triangles(rg_mesh_data *mesh, const rg_shape_def *def) {
    for (size_t i = 0; i < def->triangle_count; i++) {
        const uint32_t *k = def->triangles + 3 * i;
        rg_vec3 a = def->points[k[0]], b = def->points[k[1]], c = def->points[k[2]];
        rg_vec3 normal = rg_normalised(rg_cross(rg_sub(b, a), rg_sub(c, a)));
        uint32_t first = (uint32_t)mesh->vertex_count;
        add_vertex(mesh, a, normal);
        add_vertex(mesh, b, normal);
        add_vertex(mesh, c, normal);
        add_triangle(mesh, first, first + 1, first + 2);
    }
}

/* A polygon of the x-z plane as a plate about y = 0. Its corners are counter-clockwise with x to
 * the right and z up, that is, seen from the side of negative y. */
static void add_plate(rg_mesh_data *mesh, const rg_polyhedron *polygon, double depth) {
    const rg_vec3 *corners = polygon->vertices;
    uint32_t count = polygon->vertex_count;
    for (int side = -1; side <= 1; side += 2) {
        uint32_t first = (uint32_t)mesh->vertex_count;
        rg_vec3 normal = {0, side, 0};
        for (uint32_t i = 0; i < count; i++)
            add_vertex(mesh, rg_add_scaled(corners[i], depth / 2, normal), normal);
        for (uint32_t i = 2; i < count; i++)
            add_triangle(mesh, first, first + (side < 0 ? i - 1 : i),
                         first + (side < 0 ? i : i - 1));
    }
    const rg_vec3 half = {0, depth / 2, 0};
    for (uint32_t i = 0; i < count; i++) {
        rg_vec3 a = corners[i], b = corners[(i + 1) % count];
        rg_vec3 face[4] = {rg_sub(b, half), rg_sub(a, half), rg_add(a, half), rg_add(b, half)};
        rg_vec3 normal = rg_normalised((rg_vec3){b.z - a.z, 0, a.x - b.x});
        add_face(mesh, face, 4, normal);
    }
}

static void add_slab(rg_mesh_data *mesh, double extent, double depth) {
    const double h = extent / 2;
    for (int axis = 0; axis < 3; axis++)
        for (int side = -1; side <= 1; side += 2) {
            rg_vec3 normal = {axis == 0 ? side : 0, axis == 1 ? side : 0, axis == 2 ? side : 0};
            rg_vec3 face[4];
            static const int around[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
            for (int i = 0; i < 4; i++) {
                const int *c = around[side > 0 ? i : 3 - i];
                double at[3];
                at[axis] = side;
                at[(axis + 1) % 3] = c[0];
                at[(axis + 2) % 3] = c[1];
                face[i] = (rg_vec3){h * at[0], h * at[1], (at[2] - 1) * depth / 2};
            }
            add_face(mesh, face, 4, normal);
        }
}

/* ---- lathe work ---- */

typedef struct profile_point {
    double r, z;   /* where */
    double nr, nz; /* the surface's normal there */
} profile_point;

typedef struct profile {
    profile_point points[MOST_POINTS]; /* from below upwards */
    int count;
    rg_vec3 scale; /* of the finished piece; the normals follow */
    bool about_y;  /* it is laid down, for discs */
} profile;

static void add_point(profile *p, double r, double z, double nr, double nz) {
    assert(p->count < MOST_POINTS);
    p->points[p->count++] = (profile_point){r, z, nr, nz};
}

/* Quarter of a circle about (0, z): from below to the equator, or from there upwards. */
static void add_quarter(profile *p, double radius, double z, bool upper) {
    for (int i = 0; i <= QUARTER; i++) {
        double s, c;
        rg_sin_cos(RG_PI / 2 * (upper ? i : i - QUARTER) / QUARTER, &s, &c);
        if (i == (upper ? QUARTER : 0))
            c = 0; /* the pole is a point */
        add_point(p, radius * c, z + radius * s, c, s);
    }
}

/* Which points lie on the axis, and which rings are joined by faces. */
static void turn(rg_mesh_data *mesh, const profile *p) {
    uint32_t first = (uint32_t)mesh->vertex_count;
    for (int i = 0; i < p->count; i++)
        for (int k = 0; k <= SEGMENTS; k++) {
            const profile_point *at = &p->points[i];
            double s, c;
            rg_sin_cos(2 * RG_PI * (k % SEGMENTS) / SEGMENTS, &s, &c);
            rg_vec3 position = rg_times(p->scale, (rg_vec3){at->r * c, at->r * s, at->z});
            rg_vec3 normal = {at->nr * c / p->scale.x, at->nr * s / p->scale.y,
                              at->nz / p->scale.z};
            if (p->about_y) { /* z to y, x to z, y to x: a rotation */
                position = (rg_vec3){position.y, position.z, position.x};
                normal = (rg_vec3){normal.y, normal.z, normal.x};
            }
            add_vertex(mesh, position, rg_normalised(normal));
        }
    for (int i = 0; i + 1 < p->count; i++) {
        const profile_point *low = &p->points[i], *high = low + 1;
        if (low->r == high->r && low->z == high->z)
            continue; /* an edge: one place, two normals */
        for (uint32_t k = 0; k < SEGMENTS; k++) {
            uint32_t a = first + (uint32_t)i * (SEGMENTS + 1) + k, b = a + SEGMENTS + 1;
            if (low->r > 0)
                add_triangle(mesh, a, a + 1, b + (high->r > 0));
            if (high->r > 0)
                add_triangle(mesh, a, b + 1, b);
        }
    }
}

static void add_cylinder(rg_mesh_data *mesh, double radius, double length, bool about_y) {
    profile p = {.scale = {1, 1, 1}, .about_y = about_y};
    double h = length / 2;
    add_point(&p, 0, -h, 0, -1);
    add_point(&p, radius, -h, 0, -1);
    add_point(&p, radius, -h, 1, 0);
    add_point(&p, radius, h, 1, 0);
    add_point(&p, radius, h, 0, 1);
    add_point(&p, 0, h, 0, 1);
    turn(mesh, &p);
}

static void add_cone(rg_mesh_data *mesh, double radius, double length) {
    profile p = {.scale = {1, 1, 1}};
    add_point(&p, 0, -length / 4, 0, -1);
    add_point(&p, radius, -length / 4, 0, -1);
    add_point(&p, radius, -length / 4, length, radius);
    add_point(&p, 0, 3 * length / 4, length, radius);
    turn(mesh, &p);
}

static void add_ball(rg_mesh_data *mesh, rg_vec3 scale) {
    profile p = {.scale = scale};
    add_quarter(&p, 1, 0, false);
    p.count--; /* the equator once */
    add_quarter(&p, 1, 0, true);
    turn(mesh, &p);
}

static void add_capsule(rg_mesh_data *mesh, double radius, double length) {
    profile p = {.scale = {1, 1, 1}};
    add_quarter(&p, radius, -length / 2, false);
    add_quarter(&p, radius, length / 2, true);
    turn(mesh, &p);
}

rg_status rg_mesh_data_add(rg_mesh_data *mesh, const rg_shape *shape, double depth, double extent) {
    rg_shape_def def = rg_shape_get_def(shape);
    switch (def.kind) {
    case RG_SHAPE_HALFSPACE:
        add_slab(mesh, extent, depth);
        break;
    case RG_SHAPE_SPHERE:
        add_ball(mesh, (rg_vec3){def.radius, def.radius, def.radius});
        break;
    case RG_SHAPE_ELLIPSOID:
        add_ball(mesh, def.size);
        break;
    case RG_SHAPE_CAPSULE:
        add_capsule(mesh, def.radius, def.length);
        break;
    case RG_SHAPE_CYLINDER:
        add_cylinder(mesh, def.radius, def.length, false);
        break;
    case RG_SHAPE_CONE:
        add_cone(mesh, def.radius, def.length);
        break;
    case RG_SHAPE_DISC:
        add_cylinder(mesh, def.radius, depth, true);
        break;
    case RG_SHAPE_POLYGON:
        add_plate(mesh, rg_shape_polyhedron(shape), depth);
        break;
    case RG_SHAPE_COMPOUND:
        break;
    case RG_SHAPE_TERRAIN:
        add_triangles(mesh, &def);
        break;
    default: /* box, hull */
        add_polyhedron(mesh, rg_shape_polyhedron(shape));
        break;
    }
    bool failed = mesh->positions.failed || mesh->normals.failed || mesh->indices.failed;
    return failed ? RG_OUT_OF_MEMORY : RG_OK;
}
