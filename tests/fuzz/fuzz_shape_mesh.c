/* Any bytes as a mesh, in every format and with several welding distances; what is read must be
 * consistent, and mass and hull must answer one way or the other. */
#include "base/base_math.h"
#include "rigor/mesh.h"
#include "rigor/shape.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition) {
    if (!condition)
        abort();
}

static void check_mesh(const rg_mesh *mesh, const rg_mesh_report *report) {
    require(mesh->vertex_count >= 3 && mesh->triangle_count >= 1);
    for (size_t i = 0; i < mesh->vertex_count; i++)
        require(rg_is_finite(mesh->vertices[i]));
    for (size_t i = 0; i < 3 * mesh->triangle_count; i++)
        require(mesh->triangles[i] < mesh->vertex_count);
    require(!report->convex || report->watertight);
    require(report->components >= 1);
    rg_mass_properties mass;
    rg_status status = rg_mesh_mass(mesh, 1, &mass, NULL);
    require((status == RG_NOT_WATERTIGHT) == !report->watertight);
    if (status == RG_OK)
        require(mass.mass > 0 && rg_is_finite(mass.centre));
}

static void check_hull(const rg_mesh *mesh) {
    rg_shape_def def = rg_shape_def_hull(mesh->vertices, mesh->vertex_count);
    rg_shape *hull;
    if (rg_shape_create(&def, NULL, &hull, NULL) != RG_OK)
        return;
    const rg_polyhedron *p = rg_shape_polyhedron(hull);
    require(rg_shape_volume(hull) > 0 && rg_shape_inradius(hull) > 0);
    require(p->vertex_count + p->facet_count == p->edge_count + 2);
    double slack = 1e-9 * rg_shape_circumradius(hull);
    for (size_t i = 0; i < mesh->vertex_count; i++)
        for (uint32_t f = 0; f < p->facet_count; f++)
            require(rg_dot(p->normals[f], rg_sub(mesh->vertices[i], p->centre)) <=
                    p->offsets[f] + slack);
    rg_shape_release(hull);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const rg_mesh_format formats[] = {RG_MESH_AUTO, RG_MESH_OBJ, RG_MESH_STL};
    static const double welds[] = {-1, 0, 0.5};
    for (int f = 0; f < 3; f++)
        for (int w = 0; w < 3; w++) {
            rg_mesh mesh;
            rg_mesh_report report;
            rg_error error;
            rg_status status = rg_mesh_read_memory(
                data, size, "fuzz", &(rg_mesh_options){.format = formats[f], .weld = welds[w]},
                &mesh, &report, &error);
            if (status != RG_OK) {
                require(error.status == status && error.text[0]);
                continue;
            }
            check_mesh(&mesh, &report);
            if (mesh.vertex_count <= 200)
                check_hull(&mesh);
            rg_mesh_destroy(&mesh);
        }
    return 0;
}
