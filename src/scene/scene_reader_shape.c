/* Shapes in scene files: a name under `shapes`, or an inline mapping with one key, the kind.
 *
 * A shape that no loop variable touches is made once for its node, however many copies or aliases
 * use it, and shared. Sizes are checked here one by one, so that a message can point at the number;
 * what only geometry can find (points without volume, a mesh with holes) comes from the shape stage
 * and is wrapped with the place.
 * Tested by tests/scene/test_reader.c. */
#include "scene/scene_reader.h"

#include "base/base_math.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SUGGESTIONS = 10000 };

static rg_status create(rg_reader *reader, const rg_place *place, const rg_shape_def *def,
                        rg_shape **shape) {
    rg_error cause = {0};
    rg_status status = rg_shape_create(def, &reader->allocator, shape, &cause);
    return status == RG_OK ? RG_OK : rg_place_wrap(reader, place, status, &cause);
}

/* ---- sizes ---- */

/* The required key of a shape's mapping. */
static rg_status read_length(rg_reader *reader, const rg_place *place, const rg_place *value,
                             double *length) {
    if (!rg_given(value))
        return rg_place_fail(reader, place, RG_NOT_FOUND, "needs a %s, in metres", value->key);
    return rg_read_positive(reader, value, "a size", length);
}

static rg_status read_two_lengths(rg_reader *reader, const rg_place *place,
                                  const rg_key_table *table, double *first, double *second) {
    rg_place values[2];
    rg_status status = rg_read_keys(reader, place, table, values);
    if (status == RG_OK)
        status = read_length(reader, place, &values[0], first);
    if (status == RG_OK)
        status = read_length(reader, place, &values[1], second);
    return status;
}

static rg_status read_radius(rg_reader *reader, const rg_place *place, double *radius) {
    if (!rg_is_mapping(place))
        return rg_read_positive(reader, place, "a radius", radius);
    rg_place values[ROUND_COUNT];
    rg_status status = rg_read_keys(reader, place, &rg_keys_round, values);
    return status == RG_OK ? read_length(reader, place, &values[ROUND_RADIUS], radius) : status;
}

/* Edge lengths or semi-axes, three or, in planar scenes, two. */
static rg_status read_sizes(rg_reader *reader, const rg_place *place, const char *hint,
                            rg_vec3 *size) {
    *size = (rg_vec3){0, 0, 0};
    rg_status status = rg_read_vector(reader, place, size);
    double entries[3] = {size->x, reader->planar ? size->z : size->y, size->z};
    for (size_t i = 0; status == RG_OK && i < (reader->planar ? 2u : 3u); i++)
        if (!(entries[i] > 0)) {
            rg_place entry = rg_list_at(reader, place, i);
            char number[RG_NUMBER_SIZE];
            return rg_place_fail(reader, &entry, RG_INVALID_SIZE,
                                 "a size must be positive, not %s; give %s",
                                 rg_format_double(entries[i], number), hint);
        }
    return status;
}

/* ---- kinds ---- */

static rg_status read_halfspace(rg_reader *reader, const rg_place *place, rg_shape **shape) {
    rg_place values[HALFSPACE_COUNT];
    rg_vec3 normal = {0, 0, 1};
    double offset = 0;
    rg_status status = rg_read_keys(reader, place, &rg_keys_halfspace, values);
    if (status == RG_OK && rg_given(&values[HALFSPACE_NORMAL])) {
        status = rg_read_vector(reader, &values[HALFSPACE_NORMAL], &normal);
        if (status == RG_OK && !(rg_largest_entry(normal) > 0))
            return rg_place_fail(reader, &values[HALFSPACE_NORMAL], RG_INVALID_ARGUMENT,
                                 "a normal must have a length; write e.g. %s",
                                 reader->planar ? "[0, 1]" : "[0, 0, 1]");
    }
    if (status == RG_OK && rg_given(&values[HALFSPACE_OFFSET]))
        status = rg_read_number(reader, &values[HALFSPACE_OFFSET], &offset);
    if (status != RG_OK)
        return status;
    rg_shape_def def = rg_shape_def_halfspace(normal, offset);
    return create(reader, place, &def, shape);
}

static rg_status read_box(rg_reader *reader, const rg_place *place, rg_shape **shape) {
    rg_vec3 size;
    rg_status status = read_sizes(reader, place,
                                  reader->planar ? "edge lengths in metres, e.g. [1.0, 0.5]"
                                                 : "edge lengths in metres, e.g. [1.0, 0.5, 0.5]",
                                  &size);
    if (status != RG_OK)
        return status;
    rg_shape_def def = rg_shape_def_box(size.x, size.y, size.z);
    rg_vec3 h = {0.5 * size.x, 0, 0.5 * size.z};
    rg_vec3 corners[4] = {{-h.x, 0, -h.z}, {h.x, 0, -h.z}, {h.x, 0, h.z}, {-h.x, 0, h.z}};
    if (reader->planar)
        def = rg_shape_def_polygon(corners, 4);
    return create(reader, place, &def, shape);
}

static rg_status read_ellipsoid(rg_reader *reader, const rg_place *place, rg_shape **shape) {
    rg_vec3 size;
    rg_status status =
        read_sizes(reader, place, "semi-axes in metres, e.g. [1.0, 0.5, 0.5]", &size);
    if (status != RG_OK)
        return status;
    rg_shape_def def = rg_shape_def_ellipsoid(size.x, size.y, size.z);
    return create(reader, place, &def, shape);
}

static rg_status read_round(rg_reader *reader, const rg_place *place, size_t kind,
                            rg_shape **shape) {
    double radius, length = 0;
    rg_status status;
    if (kind == SHAPE_SPHERE || kind == SHAPE_DISC)
        status = read_radius(reader, place, &radius);
    else
        status = read_two_lengths(reader, place,
                                  kind == SHAPE_CAPSULE ? &rg_keys_capsule : &rg_keys_cylinder,
                                  &radius, &length);
    if (status != RG_OK)
        return status;
    rg_shape_def def = kind == SHAPE_SPHERE     ? rg_shape_def_sphere(radius)
                       : kind == SHAPE_DISC     ? rg_shape_def_disc(radius)
                       : kind == SHAPE_CAPSULE  ? rg_shape_def_capsule(radius, length)
                       : kind == SHAPE_CYLINDER ? rg_shape_def_cylinder(radius, length)
                                                : rg_shape_def_cone(radius, length);
    return create(reader, place, &def, shape);
}

static rg_status create_of_points(rg_reader *reader, const rg_place *place, size_t kind,
                                  const rg_vec3 *points, size_t count, rg_shape **shape) {
    rg_error cause = {0};
    if (kind == SHAPE_HULL && reader->planar) {
        rg_status status =
            rg_shape_create_planar_hull(points, count, &reader->allocator, shape, &cause);
        return status == RG_OK ? RG_OK : rg_place_wrap(reader, place, status, &cause);
    }
    rg_shape_def def = kind == SHAPE_POLYGON ? rg_shape_def_polygon(points, count)
                                             : rg_shape_def_hull(points, count);
    return create(reader, place, &def, shape);
}

static rg_status read_points(rg_reader *reader, const rg_place *place, size_t kind,
                             rg_shape **shape) {
    rg_status status = rg_require_list(reader, place,
                                       kind == SHAPE_POLYGON ? "a list of corners"
                                                             : "a list of points, or {file: ...}");
    if (status != RG_OK)
        return status;
    size_t count = rg_list_size(place);
    rg_vec3 *points = rg_allocate(&reader->allocator, count, sizeof *points);
    if (!points)
        return rg_reader_no_memory(reader);
    size_t failures = reader->mistakes.failures;
    for (size_t i = 0; i < count && rg_recover(reader, &status); i++) {
        rg_place item = rg_list_at(reader, place, i);
        status = rg_read_vector(reader, &item, &points[i]);
    }
    if (rg_recover(reader, &status) && failures < reader->mistakes.failures)
        status = rg_follow(reader);
    if (status == RG_OK)
        status = create_of_points(reader, place, kind, points, count, shape);
    rg_release(&reader->allocator, points);
    return status;
}

/* ---- compounds ---- */

rg_status rg_read_angle(rg_reader *reader, const rg_place *radians, const rg_place *degrees,
                        double *angle) {
    if (rg_given(radians) && rg_given(degrees))
        return rg_place_fail(reader, degrees, RG_INVALID_ARGUMENT,
                             "the angle is given twice; keep angle or angle_degrees");
    rg_status status = RG_OK;
    if (rg_given(radians))
        status = rg_read_number(reader, radians, angle);
    else if (rg_given(degrees) && (status = rg_read_number(reader, degrees, angle)) == RG_OK)
        *angle *= RG_PI / 180;
    return status;
}

rg_status rg_read_local_pose(rg_reader *reader, const rg_place *values, rg_pose *pose) {
    const rg_place *position = &values[0], *orientation = &values[1], *radians = &values[2],
                   *degrees = &values[3];
    const rg_place *turned = rg_given(radians) ? radians : degrees;
    rg_status status = RG_OK;
    if (rg_given(position))
        status = rg_read_vector(reader, position, &pose->position);
    if (status == RG_OK && rg_given(orientation)) {
        if (rg_given(turned))
            return rg_place_fail(reader, turned, RG_INVALID_ARGUMENT,
                                 "the orientation is given twice; keep one");
        status = rg_read_orientation(reader, orientation, &pose->orientation);
        if (status == RG_OK && reader->planar &&
            (pose->orientation.x != 0 || pose->orientation.z != 0))
            return rg_place_fail(reader, orientation, RG_INVALID_ARGUMENT,
                                 "in a planar scene things turn about y only; write angle");
    }
    if (status == RG_OK && rg_given(turned)) {
        double angle = 0;
        if (!reader->planar)
            return rg_place_fail(reader, turned, RG_INVALID_ARGUMENT,
                                 "belongs to planar scenes; write orientation: {axis: [0, 0, 1], "
                                 "degrees: 30}");
        status = rg_read_angle(reader, radians, degrees, &angle);
        if (status == RG_OK)
            pose->orientation = rg_quat_of_planar_angle(angle);
    }
    return status;
}

static rg_status fail_nested(rg_reader *reader, const rg_place *place) {
    return rg_place_fail(reader, place, RG_NOT_CONVEX,
                         "a compound cannot be a part of another; parts are convex, so list the "
                         "parts of both in one");
}

static rg_status read_part(rg_reader *reader, const rg_place *place, rg_compound_part *part) {
    rg_place values[PART_COUNT];
    *part = (rg_compound_part){.pose = rg_pose_identity(), .density = 1};
    rg_status status = rg_read_keys(reader, place, &rg_keys_part, values);
    if (status == RG_OK)
        status = rg_read_local_pose(reader, &values[PART_POSITION], &part->pose);
    if (status == RG_OK && rg_given(&values[PART_DENSITY]))
        status = rg_read_positive(reader, &values[PART_DENSITY], "a density", &part->density);
    if (status != RG_OK)
        return status;
    const rg_place *shape = &values[PART_SHAPE];
    if (!rg_given(shape))
        return rg_place_fail(reader, place, RG_NOT_FOUND,
                             "needs a shape; write e.g. {shape: {box: [1, 1, 1]}}");
    if ((status = rg_read_shape(reader, shape, &part->shape)) != RG_OK)
        return status;
    if (!rg_shape_is_convex(part->shape))
        status = fail_nested(reader, shape);
    else if (!rg_shape_is_bounded(part->shape))
        status = rg_place_fail(reader, shape, RG_INVALID_ARGUMENT,
                               "a half-space has no end and cannot be a part; use a box");
    if (status != RG_OK) {
        rg_shape_release(part->shape);
        part->shape = NULL;
    }
    return status;
}

static rg_status read_compound(rg_reader *reader, const rg_place *place, rg_shape **shape) {
    /* Refused here and not by the shape stage, so that a long chain of compounds is no deep
     * recursion. */
    if (reader->in_compound)
        return fail_nested(reader, place);
    rg_status status = rg_require_list(reader, place, "a list of parts");
    if (status != RG_OK)
        return status;
    size_t count = rg_list_size(place), made = 0;
    reader->in_compound = true;
    rg_compound_part *parts = rg_allocate_zeroed(&reader->allocator, count, sizeof *parts);
    if (!parts)
        return rg_reader_no_memory(reader); /* the reader is given up */
    for (; made < count && status == RG_OK; made++) {
        rg_place item = rg_list_at(reader, place, made);
        status = read_part(reader, &item, &parts[made]);
    }
    reader->in_compound = false;
    if (status == RG_OK) {
        rg_shape_def def = rg_shape_def_compound(parts, count);
        status = create(reader, place, &def, shape);
    }
    for (size_t i = 0; i < made; i++)
        rg_shape_release(parts[i].shape);
    rg_release(&reader->allocator, parts);
    return status;
}

/* ---- any shape ---- */

static rg_status check_dimension(rg_reader *reader, const rg_place *place, size_t kind) {
    bool either = kind == SHAPE_HALFSPACE || kind == SHAPE_BOX || kind == SHAPE_HULL ||
                  kind == SHAPE_COMPOUND;
    bool flat = kind == SHAPE_POLYGON || kind == SHAPE_DISC;
    if (either || flat == reader->planar)
        return RG_OK;
    if (flat)
        return rg_place_fail(reader, place, RG_INVALID_ARGUMENT,
                             "is a planar shape; say planar: true, or use a spatial shape such as "
                             "box or cylinder");
    return rg_place_fail(reader, place, RG_INVALID_ARGUMENT,
                         "is a spatial shape; a planar scene has halfspace, box, hull, polygon, "
                         "disc and compound");
}

static rg_status read_kind(rg_reader *reader, const rg_place *place, size_t kind,
                           rg_shape **shape) {
    rg_status status = check_dimension(reader, place, kind);
    if (status != RG_OK)
        return status;
    switch (kind) {
    case SHAPE_HALFSPACE:
        return read_halfspace(reader, place, shape);
    case SHAPE_BOX:
        return read_box(reader, place, shape);
    case SHAPE_ELLIPSOID:
        return read_ellipsoid(reader, place, shape);
    case SHAPE_POLYGON:
        return read_points(reader, place, kind, shape);
    case SHAPE_HULL:
        return rg_is_mapping(place) ? rg_read_file_shape(reader, place, true, shape)
                                    : read_points(reader, place, kind, shape);
    case SHAPE_TERRAIN:
        return rg_read_terrain(reader, place, shape);
    case SHAPE_MESH:
        return rg_read_file_shape(reader, place, false, shape);
    case SHAPE_COMPOUND:
        return read_compound(reader, place, shape);
    default:
        return read_round(reader, place, kind, shape);
    }
}

static rg_status read_inline(rg_reader *reader, const rg_place *place, rg_shape **shape) {
    rg_place values[SHAPE_COUNT];
    rg_status status = rg_read_keys(reader, place, &rg_keys_shape, values);
    if (status != RG_OK)
        return status;
    if (rg_mapping_size(place) != 1)
        return rg_place_fail(reader, place, RG_INVALID_ARGUMENT,
                             "a shape has one kind, not %zu; write e.g. {box: [1, 1, 1]}",
                             rg_mapping_size(place));
    size_t kind = 0;
    while (!rg_given(&values[kind]))
        kind++;
    return read_kind(reader, &values[kind], kind, shape);
}

/* An inline shape, from the cache if its node has been made already. */
static rg_status read_cached(rg_reader *reader, const rg_place *place, rg_shape **shape) {
    rg_shape **cached = &reader->node_shapes[rg_node_index(reader, place->node)];
    bool *failed = &reader->infos[rg_node_index(reader, place->node)].failed;
    if (*failed)
        return rg_follow(reader);
    if (*cached) {
        *shape = rg_shape_retain(*cached);
        return RG_OK;
    }
    bool outer_used = reader->loop_used;
    reader->loop_used = false;
    rg_status status = read_inline(reader, place, shape);
    *failed = status != RG_OK;
    if (status == RG_OK && !reader->loop_used)
        *cached = rg_shape_retain(*shape);
    reader->loop_used |= outer_used;
    return status;
}

static int compare_names(const void *left, const void *right) {
    return strcmp(((const rg_named_node *)left)->name, ((const rg_named_node *)right)->name);
}

static rg_status fail_no_shape(rg_reader *reader, const rg_place *place, const char *name) {
    char quoted[RG_QUOTE_SIZE];
    size_t count = reader->shape_count < MAX_SUGGESTIONS ? reader->shape_count : MAX_SUGGESTIONS;
    const char **names = rg_allocate(&reader->allocator, count, sizeof *names);
    for (size_t i = 0; names && i < count; i++)
        names[i] = reader->shapes[i].name;
    const char *nearest = names ? rg_nearest_word(name, names, count) : NULL;
    rg_quote_word(name, quoted);
    char nearest_quoted[RG_QUOTE_SIZE];
    rg_status status =
        nearest ? rg_place_fail(reader, place, RG_NOT_FOUND,
                                "there is no shape \"%s\"; did you mean \"%s\"?", quoted,
                                rg_quote_word(nearest, nearest_quoted))
                : rg_place_fail(reader, place, RG_NOT_FOUND,
                                "there is no shape \"%s\"; define it under shapes, or write e.g. "
                                "{box: [1, 1, 1]}",
                                quoted);
    rg_release(&reader->allocator, names);
    return status;
}

rg_status rg_read_shape(rg_reader *reader, const rg_place *place, rg_shape **shape) {
    *shape = NULL;
    if (rg_is_mapping(place))
        return read_cached(reader, place, shape);
    const char *name;
    char text[RG_DESCRIPTION_SIZE];
    if (!rg_is_scalar(place))
        return rg_place_fail(reader, place, RG_WRONG_TYPE,
                             "expected the name of a shape or a mapping, got %s",
                             rg_describe_node(reader, place->node, text));
    rg_status status = rg_read_text(reader, place, &name);
    if (status != RG_OK)
        return status;
    rg_named_node wanted = {name, NULL};
    const rg_named_node *found = reader->shape_count
                                     ? bsearch(&wanted, reader->shapes, reader->shape_count,
                                               sizeof *reader->shapes, compare_names)
                                     : NULL;
    if (!found)
        return rg_has_failed(reader, RG_NAMED_SHAPE, name) ? rg_follow(reader)
                                                           : fail_no_shape(reader, place, name);
    rg_place definition = {reader->shapes_place, found->node, found->name, 0};
    return read_cached(reader, &definition, shape);
}

rg_status rg_read_shapes(rg_reader *reader, const rg_place *place) {
    rg_status status = rg_require_mapping(reader, place, "a mapping of names to shapes");
    if (status != RG_OK)
        return status;
    size_t count = rg_mapping_size(place);
    reader->shapes_place = place;
    reader->shapes = rg_allocate(&reader->allocator, count, sizeof *reader->shapes);
    if (!reader->shapes)
        return rg_reader_no_memory(reader);
    for (size_t i = 0; i < count; i++) {
        rg_place value = rg_mapping_at(reader, place, i, NULL);
        status = rg_require_mapping(reader, &value, "a shape such as {box: [1, 1, 1]}");
        if (status == RG_OK)
            reader->shapes[reader->shape_count++] = (rg_named_node){value.key, value.node};
        else if (!rg_recover(reader, &status) ||
                 (status = rg_note_failed(reader, RG_NAMED_SHAPE, value.key)) != RG_OK)
            return status;
    }
    qsort(reader->shapes, reader->shape_count, sizeof *reader->shapes, compare_names);
    /* All of them, used or not: a mistake in an unused shape is a mistake. In the order of the
     * file, so that the first mistake is reported first. */
    for (size_t i = 0; i < count && rg_recover(reader, &status); i++) {
        rg_place value = rg_mapping_at(reader, place, i, NULL);
        rg_shape *shape = NULL;
        if (rg_is_mapping(&value))
            status = read_cached(reader, &value, &shape);
        rg_shape_release(shape);
    }
    rg_recover(reader, &status); /* the shapes that there are can be used */
    return status;
}

void rg_reader_free_shapes(rg_reader *reader) {
    size_t nodes = reader->has_document
                       ? (size_t)(reader->document.nodes.top - reader->document.nodes.start)
                       : 0;
    for (size_t i = 0; reader->node_shapes && i < nodes; i++)
        rg_shape_release(reader->node_shapes[i]);
    rg_release(&reader->allocator, reader->shapes);
}
