/* Shapes of a scene file: each is written once, after the shapes that it is made of, and referred
 * to by its number. Tested by tests/scene/test_writer.c. */
#include "scene/scene_writer.h"

#include "base/base_math.h"

static size_t slot_of(const rg_writer *w, const rg_shape *shape) {
    size_t mask = w->shape_capacity - 1;
    size_t slot = (size_t)(((uintptr_t)shape >> 4) * UINT64_C(0x9E3779B97F4A7C15) >> 20) & mask;
    while (w->shapes[slot].shape && w->shapes[slot].shape != shape)
        slot = (slot + 1) & mask;
    return slot;
}

static bool grow_shapes(rg_writer *w) {
    if (2 * (w->shape_count + 1) <= w->shape_capacity)
        return true;
    rg_writer bigger = *w;
    bigger.shape_capacity = w->shape_capacity ? 2 * w->shape_capacity : 64;
    bigger.shapes =
        rg_allocate_zeroed(&w->out.allocator, bigger.shape_capacity, sizeof *bigger.shapes);
    if (!bigger.shapes)
        return false;
    for (size_t i = 0; i < w->shape_capacity; i++)
        if (w->shapes[i].shape)
            bigger.shapes[slot_of(&bigger, w->shapes[i].shape)] = w->shapes[i];
    rg_release(&w->out.allocator, w->shapes);
    w->shapes = bigger.shapes;
    w->shape_capacity = bigger.shape_capacity;
    return true;
}

size_t rg_writer_shape_number(const rg_writer *w, const rg_shape *shape) {
    return w->shapes[slot_of(w, shape)].number;
}

static void put_points(rg_writer *w, const rg_shape_def *def) {
    rg_put(w, "[");
    for (size_t i = 0; i < def->point_count; i++) {
        if (i)
            rg_put(w, ", ");
        rg_put_vector(w, def->points[i]);
    }
    rg_put(w, "]");
}

static void put_terrain(rg_writer *w, const rg_shape_def *def) {
    rg_put(w, "{thickness: ");
    rg_put_number(w, def->thickness);
    if (rg_length(def->normal) > 0) {
        rg_put(w, ", up: ");
        rg_put_vector(w, def->normal);
    }
    rg_put(w, ", points: ");
    put_points(w, def);
    rg_put(w, ", triangles: [");
    for (size_t i = 0; i < def->triangle_count; i++) {
        const uint32_t *k = def->triangles + 3 * i;
        rg_buffer_print(&w->out, "%s[%u, %u, %u]", i ? ", " : "", k[0], k[1], k[2]);
    }
    rg_put(w, "]}");
}

static void put_parts(rg_writer *w, const rg_shape_def *def) {
    rg_put(w, "[");
    for (size_t i = 0; i < def->part_count; i++) {
        const rg_compound_part *part = &def->parts[i];
        bool first = false;
        rg_buffer_print(&w->out, "%s{shape: shape%zu", i ? ", " : "",
                        rg_writer_shape_number(w, part->shape));
        rg_put_local_pose(w, &first, part->pose);
        rg_put_key(w, &first, "density");
        rg_put_number(w, part->density);
        rg_put(w, "}");
    }
    rg_put(w, "]");
}

static void put_shape(rg_writer *w, const rg_shape *shape) {
    rg_shape_def def = rg_shape_get_def(shape);
    rg_buffer_print(&w->out, "{%s: ", rg_shape_kind_name(def.kind));
    switch (def.kind) {
    case RG_SHAPE_HALFSPACE:
        rg_put(w, "{normal: ");
        rg_put_vector(w, def.normal);
        rg_put(w, ", offset: ");
        rg_put_number(w, def.offset);
        rg_put(w, "}");
        break;
    case RG_SHAPE_BOX:
    case RG_SHAPE_ELLIPSOID:
        rg_put_vector(w, def.size);
        break;
    case RG_SHAPE_SPHERE:
    case RG_SHAPE_DISC:
        rg_put_number(w, def.radius);
        break;
    case RG_SHAPE_CAPSULE:
        rg_put_two(w, "radius", def.radius, "length", def.length);
        break;
    case RG_SHAPE_CYLINDER:
    case RG_SHAPE_CONE:
        rg_put_two(w, "radius", def.radius, "height", def.length);
        break;
    case RG_SHAPE_COMPOUND:
        put_parts(w, &def);
        break;
    case RG_SHAPE_TERRAIN:
        put_terrain(w, &def);
        break;
    default: /* hull, polygon */
        put_points(w, &def);
        break;
    }
    rg_put(w, "}");
}

/* Writes the shape, after its parts, unless it has been written. */
static rg_status list_shape(rg_writer *w, const rg_shape *shape) {
    rg_shape_def def = rg_shape_get_def(shape);
    for (size_t i = 0; def.kind == RG_SHAPE_COMPOUND && i < def.part_count; i++) {
        rg_status status = list_shape(w, def.parts[i].shape);
        if (status != RG_OK)
            return status;
    }
    if (!grow_shapes(w))
        return rg_fail(w->error, RG_OUT_OF_MEMORY, "not enough memory to write the scene");
    rg_writer_shape *entry = &w->shapes[slot_of(w, shape)];
    if (entry->shape)
        return RG_OK;
    *entry = (rg_writer_shape){shape, ++w->shape_count};
    if (w->shape_count == 1)
        rg_put(w, "shapes:\n");
    rg_buffer_print(&w->out, "  shape%zu: ", w->shape_count);
    put_shape(w, shape);
    rg_put(w, "\n");
    return RG_OK;
}

rg_status rg_put_shapes(rg_writer *w) {
    for (size_t b = 0; b < rg_world_body_count(w->world); b++) {
        rg_body_id body = rg_world_body_at(w->world, b);
        for (size_t c = 0; c < rg_body_collider_count(w->world, body); c++) {
            rg_collider_id id = rg_body_collider_at(w->world, body, c);
            rg_status status = list_shape(w, rg_collider_get_def(w->world, id).shape);
            if (status != RG_OK)
                return status;
        }
    }
    return RG_OK;
}
