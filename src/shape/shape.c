/* Shapes: making, sharing and asking. Each kind is a row of functions in one table; adding a kind
 * adds a row.
 * Tested by tests/shape/test_create.c. */
#include "shape/shape.h"

#include "base/base_math.h"
#include "base/base_memory.h"
#include "base/base_text.h"
#include "shape/shape_mass.h"
#include "shape/shape_terrain.h"

#include <assert.h>
#include <string.h>

static const rg_shape_operations kinds[RG_SHAPE_KIND_COUNT] = {
    [RG_SHAPE_HALFSPACE] = {"halfspace", false, false, rg_halfspace_make, NULL,
                            rg_halfspace_bounds},
    [RG_SHAPE_BOX] = {"box", false, true, rg_box_make, rg_box_support, rg_convex_bounds},
    [RG_SHAPE_SPHERE] = {"sphere", false, true, rg_sphere_make, rg_sphere_support,
                         rg_convex_bounds},
    [RG_SHAPE_CAPSULE] = {"capsule", false, true, rg_capsule_make, rg_capsule_support,
                          rg_convex_bounds},
    [RG_SHAPE_CYLINDER] = {"cylinder", false, true, rg_cylinder_make, rg_cylinder_support,
                           rg_convex_bounds},
    [RG_SHAPE_CONE] = {"cone", false, true, rg_cone_make, rg_cone_support, rg_convex_bounds},
    [RG_SHAPE_ELLIPSOID] = {"ellipsoid", false, true, rg_ellipsoid_make, rg_ellipsoid_support,
                            rg_convex_bounds},
    [RG_SHAPE_HULL] = {"hull", false, true, rg_hull_make, rg_vertex_support, rg_convex_bounds},
    [RG_SHAPE_COMPOUND] = {"compound", false, true, rg_compound_make, NULL, rg_compound_bounds},
    [RG_SHAPE_POLYGON] = {"polygon", true, true, rg_polygon_make, rg_vertex_support,
                          rg_convex_bounds},
    [RG_SHAPE_DISC] = {"disc", true, true, rg_disc_make, rg_disc_support, rg_convex_bounds},
    [RG_SHAPE_TERRAIN] = {"terrain", false, true, rg_terrain_make, NULL, rg_terrain_bounds},
};

static bool is_kind(rg_shape_kind kind) {
    return (int)kind >= 0 && (int)kind < RG_SHAPE_KIND_COUNT;
}

/* ------------------------------------------------------------------ defs */

rg_shape_def rg_shape_def_halfspace(rg_vec3 normal, double offset) {
    return (rg_shape_def){.kind = RG_SHAPE_HALFSPACE, .normal = normal, .offset = offset};
}

rg_shape_def rg_shape_def_box(double x, double y, double z) {
    return (rg_shape_def){.kind = RG_SHAPE_BOX, .size = {x, y, z}};
}

rg_shape_def rg_shape_def_sphere(double radius) {
    return (rg_shape_def){.kind = RG_SHAPE_SPHERE, .radius = radius};
}

rg_shape_def rg_shape_def_capsule(double radius, double length) {
    return (rg_shape_def){.kind = RG_SHAPE_CAPSULE, .radius = radius, .length = length};
}

rg_shape_def rg_shape_def_cylinder(double radius, double height) {
    return (rg_shape_def){.kind = RG_SHAPE_CYLINDER, .radius = radius, .length = height};
}

rg_shape_def rg_shape_def_cone(double radius, double height) {
    return (rg_shape_def){.kind = RG_SHAPE_CONE, .radius = radius, .length = height};
}

rg_shape_def rg_shape_def_ellipsoid(double a, double b, double c) {
    return (rg_shape_def){.kind = RG_SHAPE_ELLIPSOID, .size = {a, b, c}};
}

rg_shape_def rg_shape_def_hull(const rg_vec3 *points, size_t count) {
    return (rg_shape_def){.kind = RG_SHAPE_HULL, .points = points, .point_count = count};
}

rg_shape_def rg_shape_def_compound(const rg_compound_part *parts, size_t count) {
    return (rg_shape_def){.kind = RG_SHAPE_COMPOUND, .parts = parts, .part_count = count};
}

rg_shape_def rg_shape_def_polygon(const rg_vec3 *corners, size_t count) {
    return (rg_shape_def){.kind = RG_SHAPE_POLYGON, .points = corners, .point_count = count};
}

rg_shape_def rg_shape_def_disc(double radius) {
    return (rg_shape_def){.kind = RG_SHAPE_DISC, .radius = radius};
}

rg_shape_def rg_shape_def_terrain(const rg_vec3 *points, size_t point_count,
                                  const uint32_t *triangles, size_t triangle_count) {
    return (rg_shape_def){.kind = RG_SHAPE_TERRAIN,
                          .points = points,
                          .point_count = point_count,
                          .triangles = triangles,
                          .triangle_count = triangle_count};
}

/* ------------------------------------------------------------------ life */

static void destroy(rg_shape *shape) {
    rg_allocator allocator = shape->allocator;
    rg_solid_free(&shape->solid, &allocator);
    rg_terrain_free(shape->terrain, &allocator);
    rg_release(&allocator, shape->points);
    for (size_t i = 0; shape->parts && i < shape->def.part_count; i++)
        rg_shape_release(shape->parts[i].shape);
    rg_release(&allocator, shape->parts);
    rg_release(&allocator, shape);
}

/* Sizes, places and densities that are each in range may have products that are not. */
static rg_status check_made(const rg_shape *shape, rg_error *error) {
    const rg_mass_properties *unit = &shape->unit;
    bool finite = isfinite(unit->mass) && rg_is_finite(unit->centre);
    for (int i = 0; i < 9; i++)
        finite = finite && isfinite(unit->inertia.m[i / 3][i % 3]);
    if (!kinds[shape->kind].bounded ||
        (finite && isfinite(shape->circumradius) && isfinite(shape->volume)))
        return RG_OK;
    return rg_fail(
        error, RG_INVALID_SIZE,
        "%s: its volume, mass, inertia or radius is beyond the range of numbers; must be "
        "smaller or less dense",
        kinds[shape->kind].name);
}

rg_status rg_shape_create(const rg_shape_def *def, const rg_allocator *allocator, rg_shape **shape,
                          rg_error *error) {
    assert(def && shape);
    *shape = NULL;
    if (!is_kind(def->kind))
        return rg_fail(error, RG_INVALID_ARGUMENT,
                       "there is no shape kind %d; give a value of rg_shape_kind", (int)def->kind);
    rg_allocator chosen = rg_allocator_or_default(allocator);
    rg_shape *made = rg_allocate_zeroed(&chosen, 1, sizeof *made);
    if (!made)
        return rg_fail(error, RG_OUT_OF_MEMORY, "%s: no memory", kinds[def->kind].name);
    made->kind = def->kind;
    made->planar = kinds[def->kind].planar;
    made->allocator = chosen;
    atomic_init(&made->references, 1);
    rg_status status = kinds[def->kind].make(made, def, error);
    if (status == RG_OK)
        status = check_made(made, error);
    if (status != RG_OK) {
        destroy(made);
        return status == RG_OUT_OF_MEMORY
                   ? rg_fail(error, status, "%s: no memory", kinds[def->kind].name)
                   : status;
    }
    *shape = made;
    return RG_OK;
}

rg_shape *rg_shape_retain(rg_shape *shape) {
    /* Nothing is read on the strength of this count, so no order is needed. */
    atomic_fetch_add_explicit(&shape->references, 1, memory_order_relaxed);
    return shape;
}

void rg_shape_release(rg_shape *shape) {
    /* The thread that drops the last reference must see all earlier writes to the shape. */
    if (shape && atomic_fetch_sub_explicit(&shape->references, 1, memory_order_acq_rel) == 1)
        destroy(shape);
}

rg_status rg_shape_take_points(rg_shape *shape, const rg_shape_def *def, const char *what,
                               rg_error *error) {
    const char *name = kinds[shape->kind].name;
    size_t count = def->point_count;
    char text[RG_NUMBER_SIZE];
    if (count > RG_SHAPE_MOST_POINTS)
        return rg_fail(error, RG_LIMIT_EXCEEDED, "%s: %zu %ss; must be at most %d", name, count,
                       what, RG_SHAPE_MOST_POINTS);
    for (size_t i = 0; i < count; i++) {
        const rg_vec3 *p = &def->points[i];
        double worst = !isfinite(p->x) ? p->x : !isfinite(p->y) ? p->y : p->z;
        if (!rg_is_finite(*p))
            return rg_fail(error, RG_NOT_FINITE,
                           "%s: %s %zu has the coordinate %s; must be a finite number", name, what,
                           i, rg_format_double(worst, text));
        if (rg_largest_entry(*p) > RG_SHAPE_LARGEST)
            return rg_fail(error, RG_INVALID_SIZE,
                           "%s: %s %zu has the coordinate %s; must be at most 1e50 m", name, what,
                           i, rg_format_double(rg_largest_entry(*p), text));
    }
    shape->def = (rg_shape_def){.kind = shape->kind};
    shape->points = rg_allocate(&shape->allocator, count, sizeof *shape->points);
    if (!shape->points)
        return RG_OUT_OF_MEMORY;
    if (count)
        memcpy(shape->points, def->points, count * sizeof *shape->points);
    shape->def.points = shape->points;
    shape->def.point_count = count;
    return RG_OK;
}

/* ------------------------------------------------------------------ questions */

rg_shape_kind rg_shape_get_kind(const rg_shape *shape) {
    return shape->kind;
}

const char *rg_shape_kind_name(rg_shape_kind kind) {
    return is_kind(kind) ? kinds[kind].name : "unknown";
}

bool rg_shape_is_planar(const rg_shape *shape) {
    return shape->planar;
}

bool rg_shape_is_bounded(const rg_shape *shape) {
    return kinds[shape->kind].bounded;
}

bool rg_shape_is_convex(const rg_shape *shape) {
    return rg_shape_is_single(shape);
}

rg_shape_def rg_shape_get_def(const rg_shape *shape) {
    return shape->def;
}

const rg_shape *rg_shape_part(const rg_shape *shape, uint32_t part, rg_terrain_room *room,
                              rg_pose *pose) {
    *pose = rg_pose_identity();
    if (shape->kind == RG_SHAPE_TERRAIN) {
        uint32_t count = rg_terrain_count(shape);
        return part < count ? rg_terrain_part(shape, part, room)
                            : rg_terrain_plane(shape, part - count, room);
    }
    if (shape->kind != RG_SHAPE_COMPOUND)
        return shape;
    *pose = shape->parts[part].pose;
    return shape->parts[part].shape;
}

rg_vec3 rg_shape_support(const rg_shape *shape, rg_vec3 direction, uint32_t *hint) {
    assert(kinds[shape->kind].support && "support needs a bounded convex shape");
    if (!(rg_largest_entry(direction) > 0)) { /* of no direction there is no farthest point */
        assert((isnan(direction.x) || isnan(direction.y) || isnan(direction.z)) &&
               "support needs a direction");
        return (rg_vec3){NAN, NAN, NAN};
    }
    return kinds[shape->kind].support(shape, direction, hint);
}

rg_vec3 rg_shape_centre(const rg_shape *shape) {
    return shape->centre;
}

double rg_shape_inradius(const rg_shape *shape) {
    return shape->inradius;
}

double rg_shape_circumradius(const rg_shape *shape) {
    return shape->circumradius;
}

rg_bounds rg_shape_bounds(const rg_shape *shape, rg_pose pose) {
    return kinds[shape->kind].bounds(shape, pose);
}

double rg_shape_volume(const rg_shape *shape) {
    return shape->volume;
}

rg_mass_properties rg_shape_mass(const rg_shape *shape, double density) {
    assert(kinds[shape->kind].bounded && "a half-space has no mass properties");
    return rg_mass_scaled(shape->unit, density);
}

const rg_polyhedron *rg_shape_polyhedron(const rg_shape *shape) {
    return shape->solid.view.vertex_count ? &shape->solid.view : NULL;
}
