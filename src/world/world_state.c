/* The state as bytes, for checkpoints.
 *
 *   "RGSTATE1", then sections: tag (4 bytes), zero (4), length (8), data padded to 8 bytes.
 *
 * Numbers are in the machine's byte order (a mark in the header tells). A reader skips sections
 * that it does not know unless their tag begins with a capital letter; every section checks its
 * length against the world that it is read into, and nothing of the world changes before all have
 * been checked.
 * Tested by tests/step/test_snapshot.c. */
#include "world/world.h"

#include "base/base_text.h"

#include <assert.h>
#include <string.h>

#define STATE_MAGIC     "RGSTATE1"
#define BYTE_ORDER_MARK UINT64_C(0x0102030405060708)

typedef struct section_header {
    char tag[4];
    uint32_t zero;
    uint64_t length;
} section_header;

/* The plain numbers of the content that change as it runs. */
typedef struct state_scalars {
    double time, time_carry;
    uint64_t step_count, edits, body_count, planar, has_applied;
    rg_random random;
    rg_run_record run;
} state_scalars;

/* Arrays over bodies that are state; the others follow from how the world was built. */
#define STATE_ARRAYS(X)                                                                            \
    X("Posi", position)                                                                            \
    X("Orie", orientation)                                                                         \
    X("Angl", angle)                                                                               \
    X("Velo", velocity)                                                                            \
    X("Anve", angular_velocity)                                                                    \
    X("Mome", momentum)                                                                            \
    X("Anmo", angular_momentum)                                                                    \
    X("Forc", applied_force)                                                                       \
    X("Torq", applied_torque)

/* Where the prescribed motion of a kinematic body starts: setting its pose or velocity changes it.
 * In the order of the bodies. */
typedef struct state_prescription {
    rg_prescribed_state start;
    double start_angle, start_time;
} state_prescription;

static const char *const memory_tags[RG_MEMORY_KIND_COUNT] = {"Meth", "Cont", "touc", "Cofw",
                                                              "Join"};

typedef struct writer {
    char *data;
    size_t capacity, size;
} writer;

static void put(writer *w, const void *data, size_t size) {
    if (w->data && size <= w->capacity && w->size <= w->capacity - size && size)
        memcpy(w->data + w->size, data, size);
    w->size += size;
}

static void put_header(writer *w, const char *tag, size_t size) {
    section_header header = {.length = size};
    memcpy(header.tag, tag, 4);
    put(w, &header, sizeof header);
}

static void put_section(writer *w, const char *tag, const void *data, size_t size) {
    static const char padding[8];
    put_header(w, tag, size);
    put(w, data, size);
    put(w, padding, (8 - size % 8) % 8);
}

static void put_prescriptions(writer *w, const rg_world_content *c) {
    put_header(w, "Pres", c->prescription_count * sizeof(state_prescription));
    for (size_t i = 0; c->prescription_count && i < c->bodies.count; i++) {
        if (!c->record[i].prescription1)
            continue;
        const rg_prescription_entry *entry = &c->prescriptions[c->record[i].prescription1 - 1];
        state_prescription p = {entry->start, entry->start_angle, entry->start_time};
        put(w, &p, sizeof p);
    }
}

static void take_prescriptions(rg_world_content *c, const char *data) {
    for (size_t i = 0; c->prescription_count && i < c->bodies.count; i++) {
        if (!c->record[i].prescription1)
            continue;
        rg_prescription_entry *entry = &c->prescriptions[c->record[i].prescription1 - 1];
        state_prescription p;
        memcpy(&p, data, sizeof p);
        data += sizeof p;
        entry->start = p.start;
        entry->start_angle = p.start_angle;
        entry->start_time = p.start_time;
    }
}

static void put_overlap(rg_overlap *to, const rg_overlap *from) {
    to->depth = from->depth;
    to->size = from->size;
    to->time = from->time;
    to->body_a = from->body_a;
    to->body_b = from->body_b;
    to->within_step = from->within_step;
}

rg_status rg_world_save_state(const rg_world *world, void *buffer, size_t capacity, size_t *size) {
    assert(world && size);
    const rg_world_content *c = &world->content;
    writer w = {.data = buffer, .capacity = capacity};
    uint64_t mark = BYTE_ORDER_MARK;
    put(&w, STATE_MAGIC, 8);
    put(&w, &mark, 8);
    state_scalars scalars;
    memset(&scalars, 0, sizeof scalars);
    scalars.time = c->time;
    scalars.time_carry = c->time_carry;
    scalars.step_count = c->step_count;
    scalars.edits = c->edits;
    scalars.body_count = c->bodies.count;
    scalars.planar = c->planar;
    scalars.has_applied = c->has_applied;
    scalars.random = c->random;
    scalars.run = c->run;
    put_section(&w, "Scal", &scalars, sizeof scalars);
    rg_overlap_record overlaps;
    memset(&overlaps, 0, sizeof overlaps); /* no byte between members is left to chance */
    put_overlap(&overlaps.deepest, &c->overlaps.deepest);
    put_overlap(&overlaps.last, &c->overlaps.last);
#define X(tag, name) put_section(&w, tag, c->name, c->bodies.count * sizeof *c->name);
    STATE_ARRAYS(X)
#undef X
    put_prescriptions(&w, c);
    for (int i = 0; i < RG_MEMORY_KIND_COUNT; i++)
        put_section(&w, memory_tags[i], c->memory[i].data, c->memory[i].size);
    put_section(&w, "deep", &overlaps, sizeof overlaps);
    put_section(&w, "End.", NULL, 0);
    *size = w.size;
    return !buffer || w.size <= capacity ? RG_OK : RG_LIMIT_EXCEEDED;
}

/* Where each section's data lies. */
typedef struct state_sections {
    const char *scalars, *prescriptions, *overlaps, *arrays[16], *memory[RG_MEMORY_KIND_COUNT];
    size_t memory_size[RG_MEMORY_KIND_COUNT];
    bool ended;
} state_sections;

static bool is_tag(const section_header *header, const char *tag) {
    return memcmp(header->tag, tag, 4) == 0;
}

/* Notes a section that is known; false if its length is wrong. */
static bool note_section(const rg_world_content *c, const section_header *header, const char *data,
                         state_sections *sections, bool *known) {
    *known = true;
    if (is_tag(header, "Scal")) {
        sections->scalars = data;
        return header->length == sizeof(state_scalars);
    }
    if (is_tag(header, "Pres")) {
        sections->prescriptions = data;
        return header->length == c->prescription_count * sizeof(state_prescription);
    }
    if (is_tag(header, "deep")) { /* older states have none */
        sections->overlaps = data;
        return header->length == sizeof(rg_overlap_record);
    }
    int index = 0;
#define X(tag, name)                                                                               \
    if (is_tag(header, tag)) {                                                                     \
        sections->arrays[index] = data;                                                            \
        return header->length == c->bodies.count * sizeof *c->name;                                \
    }                                                                                              \
    index++;
    STATE_ARRAYS(X)
#undef X
    for (int i = 0; i < RG_MEMORY_KIND_COUNT; i++)
        if (is_tag(header, memory_tags[i])) {
            sections->memory[i] = data;
            sections->memory_size[i] = (size_t)header->length;
            return i != RG_MEMORY_JOINTS || header->length == c->memory[i].size;
        }
    if (is_tag(header, "End.")) {
        sections->ended = true;
        return true;
    }
    *known = false;
    return true;
}

static rg_status find_sections(const rg_world_content *c, const char *data, size_t size,
                               state_sections *sections, rg_error *error) {
    uint64_t mark = 0;
    if (size >= 16)
        memcpy(&mark, data + 8, 8);
    if (size < 16 || memcmp(data, STATE_MAGIC, 8) != 0)
        return rg_fail(error, RG_FILE_DAMAGED, "state: not a saved state");
    if (mark != BYTE_ORDER_MARK)
        return rg_fail(error, RG_UNSUPPORTED, "state: saved on a machine of another byte order");
    size_t at = 16;
    while (!sections->ended) {
        section_header header;
        if (size - at < sizeof header)
            return rg_fail(error, RG_FILE_DAMAGED, "state: it ends too early");
        memcpy(&header, data + at, sizeof header);
        at += sizeof header;
        if (header.length > size - at)
            return rg_fail(error, RG_FILE_DAMAGED, "state: section %.4s is cut off", header.tag);
        bool known;
        if (!note_section(c, &header, data + at, sections, &known))
            return rg_fail(error, RG_FILE_DAMAGED,
                           "state: section %.4s does not fit a world of %zu bodies and %zu joints",
                           header.tag, c->bodies.count, c->joints.count);
        if (!known && header.tag[0] >= 'A' && header.tag[0] <= 'Z')
            return rg_fail(error, RG_UNSUPPORTED, "state: section %.4s is of a later version",
                           header.tag);
        size_t padded = (size_t)header.length + (8 - header.length % 8) % 8;
        at = padded > size - at ? size : at + padded;
    }
    bool complete = sections->scalars && sections->prescriptions &&
                    (sections->memory[RG_MEMORY_JOINTS] || !c->joints.count);
    int index = 0;
#define X(tag, name) complete = complete && sections->arrays[index++];
    STATE_ARRAYS(X)
#undef X
    return complete ? RG_OK : rg_fail(error, RG_FILE_DAMAGED, "state: a section is missing");
}

rg_status rg_world_load_state(rg_world *world, const void *buffer, size_t size, rg_error *error) {
    assert(world && buffer);
    rg_world_content *c = &world->content;
    if (world->busy)
        return rg_fail(error, RG_BUSY, "%s", rg_status_text(RG_BUSY));
    state_sections sections = {0};
    rg_status status = find_sections(c, buffer, size, &sections, error);
    if (status)
        return status;
    state_scalars scalars;
    memcpy(&scalars, sections.scalars, sizeof scalars);
    if (scalars.body_count != c->bodies.count || scalars.planar != c->planar)
        return rg_fail(error, RG_FILE_DAMAGED,
                       "state: of a %s world of %llu bodies, this one is %s",
                       scalars.planar ? "planar" : "spatial",
                       (unsigned long long)scalars.body_count, c->planar ? "planar" : "spatial");
    for (int i = 0; i < RG_MEMORY_KIND_COUNT; i++) {
        rg_memory_block *block = &c->memory[i];
        if (rg_array_reserve(&world->allocator, &block->data, &block->capacity,
                             sections.memory_size[i] ? sections.memory_size[i] : 1, 1))
            return rg_fail(error, RG_OUT_OF_MEMORY, "state: no memory");
    }
    /* Nothing can fail from here on. */
    world->revision++;
    for (int i = 0; i < RG_MEMORY_KIND_COUNT; i++) {
        c->memory[i].size = sections.memory_size[i];
        if (sections.memory_size[i])
            memcpy(c->memory[i].data, sections.memory[i], sections.memory_size[i]);
    }
    int index = 0;
#define X(tag, name)                                                                               \
    if (c->bodies.count)                                                                           \
        memcpy(c->name, sections.arrays[index], c->bodies.count * sizeof *c->name);                \
    index++;
    STATE_ARRAYS(X)
#undef X
    take_prescriptions(c, sections.prescriptions);
    c->time = scalars.time;
    c->time_carry = scalars.time_carry;
    c->step_count = scalars.step_count;
    c->edits = scalars.edits;
    c->has_applied = scalars.has_applied != 0;
    c->has_acted = false;
    c->random = scalars.random;
    c->run = scalars.run;
    c->overlaps = (rg_overlap_record){0};
    if (sections.overlaps)
        memcpy(&c->overlaps, sections.overlaps, sizeof c->overlaps);
    return RG_OK;
}
