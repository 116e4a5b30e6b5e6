/* Copies of the world in memory: snapshot, restore, clone. All data of the content is flat arrays,
 * so a copy is a copy of each, with new references to shapes and new copies of names.
 * Tested by tests/step/test_snapshot.c. */
#include "world/world.h"

#include <assert.h>
#include <string.h>

struct rg_snapshot {
    rg_allocator allocator;
    rg_world_content content;
};

bool rg_memory_reserve(rg_world *world, rg_memory_kind kind, size_t size) {
    rg_memory_block *block = &world->content.memory[kind];
    return !rg_array_reserve(&world->allocator, &block->data, &block->capacity, size ? size : 1, 1);
}

void *rg_memory_resize(rg_world *world, rg_memory_kind kind, size_t size) {
    rg_memory_block *block = &world->content.memory[kind];
    if (!rg_memory_reserve(world, kind, size))
        return NULL;
    block->size = size;
    return block->data;
}

/* Sets *to to a copy of `count` elements; RG_OK with a null pointer for none. */
static rg_status copy_array(const rg_allocator *allocator, void **to, const void *from,
                            size_t count, size_t size) {
    *to = NULL;
    if (!count)
        return RG_OK;
    *to = rg_allocate(allocator, count, size);
    if (!*to)
        return RG_OUT_OF_MEMORY;
    memcpy(*to, from, count * size);
    return RG_OK;
}

#define COPY(field, count)                                                                         \
    (status ? status                                                                               \
            : copy_array(allocator, (void **)&to->field, from->field, (count), sizeof *to->field))

/* The owned things behind the copied arrays still belong to `from`: cut them off, so that freeing
 * an unfinished copy is safe. */
static void disown(rg_world_content *to) {
    for (size_t i = 0; to->materials && i < to->material_count; i++)
        to->materials[i].name = NULL;
    for (size_t i = 0; to->record && i < to->bodies.count; i++)
        to->record[i].name = NULL;
    for (size_t i = 0; to->collider && i < to->colliders.count; i++)
        to->collider[i].shape = NULL;
    for (size_t i = 0; to->joint && i < to->joints.count; i++)
        rg_joint_disown_texts(&to->joint[i].def);
    for (size_t i = 0; to->force && i < to->forces.count; i++)
        rg_force_disown_texts(&to->force[i]);
    for (size_t i = 0; to->prescriptions && i < to->prescription_count; i++)
        rg_prescription_free_texts(&to->prescriptions[i].prescription, NULL);
}

static rg_status copy_owned(rg_world_content *to, const rg_world_content *from,
                            const rg_allocator *allocator) {
    for (size_t i = 0; i < to->material_count; i++)
        if (!(to->materials[i].name = rg_copy_text(allocator, from->materials[i].name)))
            return RG_OUT_OF_MEMORY;
    for (size_t i = 0; i < to->bodies.count; i++)
        if (from->record[i].name &&
            !(to->record[i].name = rg_copy_text(allocator, from->record[i].name)))
            return RG_OUT_OF_MEMORY;
    for (size_t i = 0; i < to->colliders.count; i++)
        to->collider[i].shape = rg_shape_retain(from->collider[i].shape);
    for (size_t i = 0; i < to->joints.count; i++) {
        to->joint[i].def = from->joint[i].def;
        if (rg_joint_own_texts(&to->joint[i].def, allocator))
            return RG_OUT_OF_MEMORY;
    }
    for (size_t i = 0; i < to->forces.count; i++) {
        to->force[i] = from->force[i];
        if (rg_force_own_texts(&to->force[i], allocator))
            return RG_OUT_OF_MEMORY;
    }
    for (size_t i = 0; i < to->prescription_count; i++) {
        to->prescriptions[i].prescription = from->prescriptions[i].prescription;
        if (rg_prescription_own_texts(&to->prescriptions[i].prescription, allocator))
            return RG_OUT_OF_MEMORY;
    }
    return RG_OK;
}

static rg_status copy_memory(rg_world_content *to, const rg_world_content *from,
                             const rg_allocator *allocator) {
    rg_status status = RG_OK;
    for (int i = 0; i < RG_MEMORY_KIND_COUNT; i++) {
        const rg_memory_block *block = &from->memory[i];
        to->memory[i] = (rg_memory_block){.size = block->size, .capacity = block->size};
        if (!status)
            status = copy_array(allocator, &to->memory[i].data, block->data, block->size, 1);
    }
    return status;
}

/* A copy that is not complete counts only what it has. */
static void free_part(rg_world_content *to, const rg_allocator *allocator) {
    if (!to->materials)
        to->material_count = 0;
    if (!to->record)
        to->bodies.count = 0;
    if (!to->collider)
        to->colliders.count = 0;
    if (!to->joint)
        to->joints.count = 0;
    rg_content_free(to, allocator);
}

rg_status rg_content_copy(rg_world_content *to, const rg_world_content *from,
                          const rg_allocator *allocator) {
    rg_status status = RG_OK;
    *to = *from;
    size_t bodies = from->bodies.count;
    /* Every pointer is replaced before anything can be freed. */
    to->bodies = to->colliders = to->forces = to->joints = (rg_handle_pool){0};
    to->materials = NULL;
    to->pairs = NULL;
    to->name_table = NULL;
    to->prescriptions = NULL;
    to->collider = NULL;
    to->force = NULL;
    to->joint = NULL;
#define X(type, name) to->name = NULL;
    RG_BODY_ARRAYS(X)
#undef X
    memset(to->memory, 0, sizeof to->memory);
    status = COPY(materials, from->material_count);
    status = COPY(pairs, from->pair_count);
    status = COPY(name_table, from->name_table_size);
    status = COPY(prescriptions, from->prescription_count);
    status = COPY(collider, from->colliders.count);
    status = COPY(force, from->forces.count);
    status = COPY(joint, from->joints.count);
#define X(type, name) status = COPY(name, bodies);
    RG_BODY_ARRAYS(X)
#undef X
    to->material_capacity = from->material_count;
    to->pair_capacity = from->pair_count;
    to->prescription_capacity = from->prescription_count;
    to->collider_capacity = from->colliders.count;
    to->force_capacity = from->forces.count;
    to->joint_capacity = from->joints.count;
    to->body_capacity = bodies;
    if (!status)
        status = rg_handle_pool_copy(&to->bodies, &from->bodies, allocator);
    if (!status)
        status = rg_handle_pool_copy(&to->colliders, &from->colliders, allocator);
    if (!status)
        status = rg_handle_pool_copy(&to->forces, &from->forces, allocator);
    if (!status)
        status = rg_handle_pool_copy(&to->joints, &from->joints, allocator);
    disown(to);
    if (!status)
        status = copy_memory(to, from, allocator);
    if (!status)
        status = copy_owned(to, from, allocator);
    if (status)
        free_part(to, allocator);
    return status;
}

rg_status rg_snapshot_create(const rg_world *world, rg_snapshot **snapshot) {
    assert(world && snapshot);
    *snapshot = NULL;
    rg_snapshot *s = rg_object_make(rg_snapshot, &world->allocator);
    if (!s)
        return RG_OUT_OF_MEMORY;
    rg_status status = rg_content_copy(&s->content, &world->content, &s->allocator);
    if (status) {
        rg_object_release(s);
        return status;
    }
    *snapshot = s;
    return RG_OK;
}

/* The old content is given up only when the copy is complete. */
rg_status rg_world_restore(rg_world *world, const rg_snapshot *snapshot) {
    assert(world && snapshot);
    if (world->busy)
        return RG_BUSY;
    rg_world_content content;
    rg_status status = rg_content_copy(&content, &snapshot->content, &world->allocator);
    if (status)
        return status;
    rg_handle_pool_succeed(&content.bodies, &world->content.bodies);
    rg_handle_pool_succeed(&content.colliders, &world->content.colliders);
    rg_handle_pool_succeed(&content.forces, &world->content.forces);
    rg_handle_pool_succeed(&content.joints, &world->content.joints);
    rg_content_free(&world->content, &world->allocator);
    world->content = content;
    world->revision++;
    return RG_OK;
}

void rg_snapshot_destroy(rg_snapshot *snapshot) {
    if (!snapshot)
        return;
    rg_content_free(&snapshot->content, &snapshot->allocator);
    rg_object_release(snapshot);
}

rg_status rg_world_clone(const rg_world *world, rg_world **clone) {
    assert(world && clone);
    *clone = NULL;
    rg_world_def def = rg_world_def_default();
    def.allocator = world->allocator;
    def.threads = world->threads;
    def.certify = world->certify;
    def.no_memory = world->no_memory;
    def.collision = world->collision;
    def.before_step = world->before_step;
    def.after_step = world->after_step;
    def.callback_user = world->callback_user;
    rg_world *copy;
    rg_status status = rg_world_create(&def, &copy, NULL);
    if (status)
        return status;
    rg_world_content content;
    status = rg_content_copy(&content, &world->content, &copy->allocator);
    if (status) {
        rg_world_destroy(copy);
        return status;
    }
    rg_content_free(&copy->content, &copy->allocator);
    copy->content = content;
    *clone = copy;
    return RG_OK;
}
