/* The primitives: checks of their sizes and closed forms of volume, inertia and radii.
 * Tested by tests/shape/test_mass.c. */
#include "shape/shape.h"

#include "base/base_math.h"
#include "base/base_text.h"

#include <float.h>

/* A length in metres that a def gives: finite, positive, in range. */
static rg_status check_length(const char *what, double value, rg_error *error) {
    char text[RG_NUMBER_SIZE];
    if (!isfinite(value))
        return rg_fail(error, RG_NOT_FINITE, "%s is %s; must be a finite number of metres", what,
                       rg_format_double(value, text));
    if (!(value > 0))
        return rg_fail(error, RG_INVALID_SIZE, "%s is %s; must be positive (metres)", what,
                       rg_format_double(value, text));
    if (value < RG_SHAPE_SMALLEST || value > RG_SHAPE_LARGEST)
        return rg_fail(error, RG_INVALID_SIZE, "%s is %s; must be between 1e-50 and 1e50 m", what,
                       rg_format_double(value, text));
    return RG_OK;
}

/* The lengths of a shape, as many as are named; after the first one that will not do. */
static rg_status check_lengths(const char *const names[3], double a, double b, double c,
                               rg_error *error) {
    const double values[3] = {a, b, c};
    rg_status status = RG_OK;
    for (int i = 0; i < 3 && names[i] && !status; i++)
        status = check_length(names[i], values[i], error);
    return status;
}

static void set_mass(rg_shape *shape, double volume, double xx, double yy, double zz) {
    shape->volume = volume;
    shape->unit.mass = volume;
    shape->unit.inertia = rg_mat3_diagonal(rg_vec3_make(xx, yy, zz));
}

rg_status rg_halfspace_make(rg_shape *shape, const rg_shape_def *def, rg_error *error) {
    char text[RG_NUMBER_SIZE];
    if (!rg_is_finite(def->normal))
        return rg_fail(error, RG_NOT_FINITE,
                       "halfspace: normal is not finite; must be a direction");
    if (!(rg_largest_entry(def->normal) > 0))
        return rg_fail(error, RG_INVALID_SIZE,
                       "halfspace: normal is zero; must be a direction, such as [0, 0, 1]");
    if (!isfinite(def->offset))
        return rg_fail(error, RG_NOT_FINITE,
                       "halfspace: offset is %s; must be a finite number of metres",
                       rg_format_double(def->offset, text));
    if (fabs(def->offset) > RG_SHAPE_LARGEST)
        return rg_fail(error, RG_INVALID_SIZE, "halfspace: offset is %s; must be at most 1e50 m",
                       rg_format_double(def->offset, text));
    /* A normal that is unit to rounding keeps its bits, so that a written shape reads back the
     * same. */
    bool unit = fabs(rg_length_squared(def->normal) - 1) <= 4 * DBL_EPSILON;
    rg_vec3 normal = unit ? def->normal : rg_normalised(def->normal);
    shape->def = rg_shape_def_halfspace(normal, def->offset);
    /* No point is well inside something unbounded; a point of its plane serves as a reference. */
    shape->centre = rg_scale(def->offset, normal);
    shape->circumradius = shape->volume = INFINITY;
    return RG_OK;
}

/* Vertices in the order of (x, y, z), each facet counter-clockwise from its lowest vertex. */
static const uint32_t box_loops[6][4] = {{0, 1, 3, 2}, {0, 2, 6, 4}, {0, 4, 5, 1},
                                         {1, 5, 7, 3}, {2, 3, 7, 6}, {4, 6, 7, 5}};
/* Axis and sign of the facets in that order. */
static const rg_vec3 box_normals[6] = {{-1, 0, 0}, {0, 0, -1}, {0, -1, 0},
                                       {0, 0, 1},  {0, 1, 0},  {1, 0, 0}};

rg_status rg_box_make(rg_shape *shape, const rg_shape_def *def, rg_error *error) {
    static const char *const names[3] = {"box: size x", "box: size y", "box: size z"};
    rg_status status = check_lengths(names, def->size.x, def->size.y, def->size.z, error);
    if (status != RG_OK)
        return status;
    double x = def->size.x, y = def->size.y, z = def->size.z, volume = x * y * z;
    shape->def = rg_shape_def_box(x, y, z);
    set_mass(shape, volume, volume * (y * y + z * z) / 12, volume * (z * z + x * x) / 12,
             volume * (x * x + y * y) / 12);
    rg_vec3 half = {x / 2, y / 2, z / 2}, vertices[8];
    for (int i = 0; i < 8; i++)
        vertices[i] = rg_vec3_make(i & 4 ? half.x : -half.x, i & 2 ? half.y : -half.y,
                                   i & 1 ? half.z : -half.z);
    const uint32_t starts[7] = {0, 4, 8, 12, 16, 20, 24};
    rg_loops loops = {.vertex_count = 8,
                      .facet_count = 6,
                      .vertices = vertices,
                      .facet_start = starts,
                      .facet_vertices = &box_loops[0][0]};
    status = rg_solid_build(&shape->solid, &loops, &shape->allocator);
    if (status != RG_OK)
        return status;
    rg_solid_set_planes(&shape->solid, rg_vec3_make(0, 0, 0), box_normals);
    shape->inradius = rg_min3(half.x, half.y, half.z);
    shape->circumradius = shape->solid.circumradius;
    return RG_OK;
}

rg_status rg_sphere_make(rg_shape *shape, const rg_shape_def *def, rg_error *error) {
    rg_status status = check_length("sphere: radius", def->radius, error);
    if (status != RG_OK)
        return status;
    double r = def->radius, volume = 4.0 / 3.0 * RG_PI * r * r * r, about = 0.4 * volume * r * r;
    shape->def = rg_shape_def_sphere(r);
    set_mass(shape, volume, about, about, about);
    shape->inradius = shape->circumradius = r;
    return RG_OK;
}

rg_status rg_capsule_make(rg_shape *shape, const rg_shape_def *def, rg_error *error) {
    static const char *const names[3] = {"capsule: radius", "capsule: length"};
    rg_status status = check_lengths(names, def->radius, def->length, 0, error);
    if (status != RG_OK)
        return status;
    double r = def->radius, l = def->length;
    double tube = RG_PI * r * r * l, ball = 4.0 / 3.0 * RG_PI * r * r * r;
    /* Each half ball has its centre of mass 3 r / 8 beyond the end of the tube. */
    double across =
        tube * (l * l / 12 + r * r / 4) + ball * (0.4 * r * r + l * l / 4 + 0.375 * l * r);
    shape->def = rg_shape_def_capsule(r, l);
    set_mass(shape, tube + ball, across, across, 0.5 * tube * r * r + 0.4 * ball * r * r);
    shape->inradius = r;
    shape->circumradius = l / 2 + r;
    return RG_OK;
}

rg_status rg_cylinder_make(rg_shape *shape, const rg_shape_def *def, rg_error *error) {
    static const char *const names[3] = {"cylinder: radius", "cylinder: height"};
    rg_status status = check_lengths(names, def->radius, def->length, 0, error);
    if (status != RG_OK)
        return status;
    double r = def->radius, h = def->length, volume = RG_PI * r * r * h;
    double across = volume * (3 * r * r + h * h) / 12;
    shape->def = rg_shape_def_cylinder(r, h);
    set_mass(shape, volume, across, across, volume * r * r / 2);
    shape->inradius = fmin(r, h / 2);
    shape->circumradius = rg_length(rg_vec3_make(r, 0, h / 2));
    return RG_OK;
}

rg_status rg_cone_make(rg_shape *shape, const rg_shape_def *def, rg_error *error) {
    static const char *const names[3] = {"cone: radius", "cone: height"};
    rg_status status = check_lengths(names, def->radius, def->length, 0, error);
    if (status != RG_OK)
        return status;
    double r = def->radius, h = def->length, volume = RG_PI * r * r * h / 3;
    double across = volume * (0.15 * r * r + 0.0375 * h * h);
    shape->def = rg_shape_def_cone(r, h);
    set_mass(shape, volume, across, across, 0.3 * volume * r * r);
    double slant = rg_length(rg_vec3_make(r, 0, h));
    shape->inradius = fmin(h / 4, 0.75 * h * (r / slant));
    shape->circumradius = fmax(0.75 * h, rg_length(rg_vec3_make(r, 0, h / 4)));
    return RG_OK;
}

rg_status rg_ellipsoid_make(rg_shape *shape, const rg_shape_def *def, rg_error *error) {
    static const char *const names[3] = {"ellipsoid: semi-axis x", "ellipsoid: semi-axis y",
                                         "ellipsoid: semi-axis z"};
    rg_status status = check_lengths(names, def->size.x, def->size.y, def->size.z, error);
    if (status != RG_OK)
        return status;
    double a = def->size.x, b = def->size.y, c = def->size.z;
    double volume = 4.0 / 3.0 * RG_PI * a * b * c;
    shape->def = rg_shape_def_ellipsoid(a, b, c);
    set_mass(shape, volume, volume * (b * b + c * c) / 5, volume * (c * c + a * a) / 5,
             volume * (a * a + b * b) / 5);
    shape->inradius = rg_min3(a, b, c);
    shape->circumradius = rg_max3(a, b, c);
    return RG_OK;
}

rg_status rg_disc_make(rg_shape *shape, const rg_shape_def *def, rg_error *error) {
    rg_status status = check_length("disc: radius", def->radius, error);
    if (status != RG_OK)
        return status;
    double r = def->radius, area = RG_PI * r * r, quarter = area * r * r / 4;
    shape->def = rg_shape_def_disc(r);
    set_mass(shape, area, quarter, area * r * r / 2, quarter);
    shape->inradius = shape->circumradius = r;
    return RG_OK;
}
