/* Compounds: several convex shapes, each with a pose, that move as one.
 *
 * Parts are convex and bounded; a compound inside a compound is refused rather than flattened, so
 * that the def that a shape gives back is the def that it was made of. Parts that overlap count
 * twice in volume and mass, as separate bodies welded together would.
 *
 * The centre is the centre of mass, which need not lie inside any part, so the inradius is 0: it
 * promises nothing. Work on contacts goes part by part.
 * Tested by tests/shape/test_create.c. */
#include "shape/shape.h"

#include "base/base_math.h"
#include "base/base_memory.h"
#include "base/base_text.h"
#include "shape/shape_mass.h"

/* How far from 1 the norm of a given orientation may be before it is called a mistake. */
#define UNIT_NORM 1e-6

static rg_status check_part(const rg_compound_part *part, size_t i, bool planar, rg_error *error) {
    char text[RG_NUMBER_SIZE];
    if (!part->shape)
        return rg_fail(error, RG_INVALID_ARGUMENT,
                       "compound: part %zu has no shape; must have a convex one", i);
    const char *name = rg_shape_kind_name(part->shape->kind);
    if (!rg_shape_is_bounded(part->shape) || !rg_shape_is_convex(part->shape))
        return rg_fail(error, RG_INVALID_ARGUMENT,
                       "compound: part %zu is a %s; parts must be convex and bounded", i, name);
    if (part->shape->planar != planar)
        return rg_fail(error, RG_INVALID_ARGUMENT,
                       "compound: part %zu is a %s, which is %s, unlike part 0; parts must be all "
                       "planar or all spatial",
                       i, name, planar ? "spatial" : "planar");
    if (!rg_pose_is_finite(part->pose))
        return rg_fail(error, RG_NOT_FINITE,
                       "compound: part %zu has a pose that is not finite; must be numbers", i);
    if (rg_largest_entry(part->pose.position) > RG_SHAPE_LARGEST)
        return rg_fail(error, RG_INVALID_SIZE,
                       "compound: part %zu has the coordinate %s; must be at most 1e50 m", i,
                       rg_format_double(rg_largest_entry(part->pose.position), text));
    rg_quat q = part->pose.orientation;
    double norm = rg_quat_norm_squared(q);
    if (!(fabs(norm - 1) <= 2 * UNIT_NORM))
        return rg_fail(
            error, RG_INVALID_ARGUMENT,
            "compound: part %zu has an orientation of norm %s; must be a unit quaternion", i,
            rg_format_double(sqrt(norm), text));
    if (planar && (part->pose.position.y != 0 || q.x != 0 || q.z != 0))
        return rg_fail(error, RG_INVALID_ARGUMENT,
                       "compound: part %zu leaves the x-z plane; planar parts must have y = 0 and "
                       "turn about y only",
                       i);
    if (!isfinite(part->density))
        return rg_fail(error, RG_NOT_FINITE,
                       "compound: part %zu has the density %s; must be a finite number", i,
                       rg_format_double(part->density, text));
    if (!(part->density > 0))
        return rg_fail(error, RG_INVALID_SIZE,
                       "compound: part %zu has the density %s; must be positive", i,
                       rg_format_double(part->density, text));
    return RG_OK;
}

static void add_up(rg_shape *shape) {
    for (size_t i = 0; i < shape->def.part_count; i++) {
        const rg_compound_part *part = &shape->parts[i];
        rg_mass_properties mass =
            rg_mass_transform(rg_shape_mass(part->shape, part->density), part->pose);
        shape->unit = i ? rg_mass_add(shape->unit, mass) : mass;
        shape->volume += part->shape->volume;
    }
}

/* About the centre of mass. */
static void set_radius(rg_shape *shape) {
    shape->centre = shape->unit.centre;
    shape->circumradius = 0;
    for (size_t i = 0; i < shape->def.part_count; i++) {
        rg_vec3 centre = rg_pose_apply_inverse(shape->parts[i].pose, shape->centre);
        shape->circumradius =
            fmax(shape->circumradius, rg_shape_reach(shape->parts[i].shape, centre));
    }
}

void rg_compound_set_mass(rg_shape *shape, rg_mass_properties unit) {
    shape->unit = unit;
    shape->volume = unit.mass;
    set_radius(shape);
}

rg_status rg_compound_make(rg_shape *shape, const rg_shape_def *def, rg_error *error) {
    if (def->part_count == 0)
        return rg_fail(error, RG_INVALID_ARGUMENT, "compound: no parts; must have at least one");
    if (def->part_count > RG_SHAPE_MOST_PARTS)
        return rg_fail(error, RG_LIMIT_EXCEEDED, "compound: %zu parts; must be at most %d",
                       def->part_count, RG_SHAPE_MOST_PARTS);
    bool planar = def->parts[0].shape && def->parts[0].shape->planar;
    for (size_t i = 0; i < def->part_count; i++) {
        rg_status status = check_part(&def->parts[i], i, planar, error);
        if (status != RG_OK)
            return status;
    }
    shape->parts = rg_allocate(&shape->allocator, def->part_count, sizeof *shape->parts);
    if (!shape->parts)
        return RG_OUT_OF_MEMORY;
    shape->def = rg_shape_def_compound(shape->parts, def->part_count);
    shape->planar = planar;
    for (size_t i = 0; i < def->part_count; i++) {
        shape->parts[i] = def->parts[i];
        shape->parts[i].pose.orientation = rg_quat_made_unit(def->parts[i].pose.orientation);
        rg_shape_retain(def->parts[i].shape);
    }
    add_up(shape);
    set_radius(shape);
    return RG_OK;
}
