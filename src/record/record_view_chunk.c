/* Chunks: frames as the viewer's page reads them (docs/view-format.md).
 *
 * The page wants few bytes and no loop in it that is slower than memory. So numbers are 32-bit
 * floats in arrays by kind. For the way through a file or a network their bits are subtracted from
 * those of the frame before, place by place, and the differences are stored byte by byte in planes:
 * what is at rest becomes zeros, what moves has equal high bytes, and zlib finds both. Everything
 * is exact: nothing is lost beyond the rounding to 32 bits (contacts can be rounded further).
 *
 * How it fails: no memory, or more than 32 bits can count.
 * Tested by tests/record/test_view.c. */
#include "record/record_view.h"

#include "base/base_math.h"
#include "base/base_text.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>
#include <zlib.h>

enum section {
    SECTION_TIME,
    SECTION_STEP,
    SECTION_POSITION,
    SECTION_ORIENTATION,
    SECTION_VELOCITY,
    SECTION_ANGULAR,
    SECTION_CONTACT_COUNT,
    SECTION_BODY_A,
    SECTION_BODY_B,
    SECTION_MODE,
    SECTION_CONTACT_POSITION,
    SECTION_NORMAL,
    SECTION_FORCE,
    SECTION_GAP,
    SECTION_FRICTION,
    SECTION_SLIP,
    SECTION_LOAD_COUNT,
    SECTION_LOAD_KIND,
    SECTION_LOAD_NUMBER,
    SECTION_LOAD_BODY,
    SECTION_LOAD_POINT,
    SECTION_LOAD_FORCE,
    SECTION_LOAD_TORQUE,
    SECTION_FIGURES
};
_Static_assert((int)SECTION_FIGURES == (int)RG_CHUNK_SECTIONS, "all have an offset");

/* Bytes of a frame (times 1, bodies or figures), of a contact or of a load. */
static const struct {
    unsigned char bytes;
    enum { OF_FRAME, OF_BODY, OF_CONTACTS_FRAME, OF_CONTACT, OF_LOADS_FRAME, OF_LOAD } kind;
} sections[RG_CHUNK_SECTIONS] = {
    [SECTION_TIME] = {8, OF_FRAME},
    [SECTION_STEP] = {8, OF_FRAME},
    [SECTION_POSITION] = {12, OF_BODY},
    [SECTION_ORIENTATION] = {16, OF_BODY},
    [SECTION_VELOCITY] = {12, OF_BODY},
    [SECTION_ANGULAR] = {12, OF_BODY},
    [SECTION_CONTACT_COUNT] = {4, OF_CONTACTS_FRAME},
    [SECTION_BODY_A] = {4, OF_CONTACT},
    [SECTION_BODY_B] = {4, OF_CONTACT},
    [SECTION_MODE] = {4, OF_CONTACT},
    [SECTION_CONTACT_POSITION] = {12, OF_CONTACT},
    [SECTION_NORMAL] = {12, OF_CONTACT},
    [SECTION_FORCE] = {12, OF_CONTACT},
    [SECTION_GAP] = {4, OF_CONTACT},
    [SECTION_FRICTION] = {4, OF_CONTACT},
    [SECTION_SLIP] = {4, OF_CONTACT},
    [SECTION_LOAD_COUNT] = {4, OF_LOADS_FRAME},
    [SECTION_LOAD_KIND] = {4, OF_LOAD},
    [SECTION_LOAD_NUMBER] = {4, OF_LOAD},
    [SECTION_LOAD_BODY] = {4, OF_LOAD},
    [SECTION_LOAD_POINT] = {12, OF_LOAD},
    [SECTION_LOAD_FORCE] = {12, OF_LOAD},
    [SECTION_LOAD_TORQUE] = {12, OF_LOAD},
};

/* ---- numbers ---- */

static void put_u32(unsigned char *to, uint32_t value) {
    for (int i = 0; i < 4; i++)
        to[i] = (unsigned char)(value >> 8 * i);
}

static uint32_t get_u32(const unsigned char *from) {
    return (uint32_t)from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 |
           (uint32_t)from[3] << 24;
}

static void put_f64(unsigned char *to, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_u32(to, (uint32_t)bits);
    put_u32(to + 4, (uint32_t)(bits >> 32));
}

/* NaN has one form, whatever it was. */
static uint32_t float_bits(double value) {
    if (isnan(value))
        return UINT32_C(0x7FC00000);
    float number = value > FLT_MAX ? INFINITY : value < -FLT_MAX ? -INFINITY : (float)value;
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

static void put_f32(unsigned char *to, double value) {
    put_u32(to, float_bits(value));
}

/* To the nearest number with that many bits after the leading one. */
static void put_rounded(unsigned char *to, double value, int bits) {
    uint32_t word = float_bits(value);
    uint32_t dropped = bits < 23 ? (UINT32_C(1) << (23 - bits)) - 1 : 0;
    bool is_finite = (word & UINT32_C(0x7F800000)) != UINT32_C(0x7F800000);
    uint32_t rounded = (word + (dropped + 1) / 2) & ~dropped;
    if (dropped && is_finite && (rounded & UINT32_C(0x7F800000)) != UINT32_C(0x7F800000))
        word = rounded;
    put_u32(to, word);
}

/* ---- layout ---- */

/* How many items of its kind a section has. */
static size_t items_of(const rg_chunk_layout *layout, int section) {
    size_t frames = layout->frames;
    switch (sections[section].kind) {
    case OF_FRAME:
        return frames;
    case OF_BODY:
        return frames * layout->bodies;
    case OF_CONTACTS_FRAME:
        return layout->flags & RG_CHUNK_HAS_CONTACTS ? frames : 0;
    case OF_CONTACT:
        return layout->contacts;
    case OF_LOADS_FRAME:
        return layout->flags & RG_CHUNK_HAS_LOADS ? frames : 0;
    case OF_LOAD:
        return layout->loads;
    }
    return 0;
}

rg_status rg_chunk_plan(rg_chunk_layout *layout, uint32_t flags, rg_chunk_size size,
                        rg_error *error) {
    size_t figures = flags & RG_CHUNK_HAS_FIGURES ? RG_FIGURE_COUNT : 0;
    const size_t most = UINT32_MAX / 160;
    if (size.first > UINT32_MAX || size.frames > most || size.bodies > most ||
        size.contacts > most || size.loads > most ||
        (size.bodies && size.frames > most / size.bodies))
        return rg_fail(error, RG_LIMIT_EXCEEDED,
                       "%zu bodies and %zu contacts in %zu frames are too many to show at once",
                       size.bodies, size.contacts, size.frames);
    *layout =
        (rg_chunk_layout){.flags = flags,
                          .first = (uint32_t)size.first,
                          .frames = (uint32_t)size.frames,
                          .bodies = (uint32_t)size.bodies,
                          .contacts = flags & RG_CHUNK_HAS_CONTACTS ? (uint32_t)size.contacts : 0,
                          .loads = flags & RG_CHUNK_HAS_LOADS ? (uint32_t)size.loads : 0,
                          .figures = (uint32_t)figures};
    size_t end = 0;
    for (int i = 0; i < RG_CHUNK_SECTIONS; i++) {
        layout->offset[i] = end;
        end += sections[i].bytes * items_of(layout, i);
    }
    layout->offset[SECTION_FIGURES] = end;
    layout->size = end + 4 * size.frames * figures;
    return RG_OK;
}

/* Room for `size` bytes more. */
static unsigned char *extend(rg_buffer *out, size_t size) {
    if (out->failed || rg_array_reserve(&out->allocator, (void **)&out->data, &out->capacity,
                                        out->size + size, 1) != RG_OK) {
        out->failed = true;
        return NULL;
    }
    unsigned char *place = (unsigned char *)out->data + out->size;
    out->size += size;
    return place;
}

unsigned char *rg_chunk_begin(const rg_chunk_layout *layout, rg_buffer *out) {
    unsigned char *header = extend(out, RG_CHUNK_HEADER + layout->size);
    if (!header)
        return NULL;
    memcpy(header, "RGV1", 4);
    const uint32_t words[] = {layout->flags,         layout->first,    layout->frames,
                              layout->bodies,        layout->contacts, layout->figures,
                              (uint32_t)layout->size};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        put_u32(header + 4 + 4 * i, words[i]);
    return header + RG_CHUNK_HEADER;
}

void rg_chunk_put_clock(const rg_chunk_layout *layout, unsigned char *raw, size_t frame,
                        double time, double step) {
    put_f64(raw + layout->offset[SECTION_TIME] + 8 * frame, time);
    put_f64(raw + layout->offset[SECTION_STEP] + 8 * frame, step);
}

static void put_vec3(unsigned char *to, const rg_vec3 *v) {
    put_f32(to, v->x);
    put_f32(to + 4, v->y);
    put_f32(to + 8, v->z);
}

void rg_chunk_put_body(const rg_chunk_layout *layout, unsigned char *raw, size_t frame, size_t body,
                       const rg_pose *pose, const rg_vec3 *velocity, const rg_vec3 *angular) {
    size_t place = frame * layout->bodies + body;
    unsigned char *orientation = raw + layout->offset[SECTION_ORIENTATION] + 16 * place;
    put_vec3(raw + layout->offset[SECTION_POSITION] + 12 * place, &pose->position);
    put_f32(orientation, pose->orientation.x);
    put_f32(orientation + 4, pose->orientation.y);
    put_f32(orientation + 8, pose->orientation.z);
    put_f32(orientation + 12, pose->orientation.w);
    put_vec3(raw + layout->offset[SECTION_VELOCITY] + 12 * place, velocity);
    put_vec3(raw + layout->offset[SECTION_ANGULAR] + 12 * place, angular);
}

void rg_chunk_put_contact_count(const rg_chunk_layout *layout, unsigned char *raw, size_t frame,
                                size_t count) {
    put_u32(raw + layout->offset[SECTION_CONTACT_COUNT] + 4 * frame, (uint32_t)count);
}

static void put_rounded_vec3(unsigned char *to, const rg_vec3 *v, int bits) {
    put_rounded(to, v->x, bits);
    put_rounded(to + 4, v->y, bits);
    put_rounded(to + 8, v->z, bits);
}

void rg_chunk_put_contact(const rg_chunk_layout *layout, unsigned char *raw, size_t number,
                          const rg_recorded_contact *contact, int bits) {
    const size_t *offset = layout->offset;
    put_u32(raw + offset[SECTION_BODY_A] + 4 * number, contact->body_a);
    put_u32(raw + offset[SECTION_BODY_B] + 4 * number, contact->body_b);
    put_u32(raw + offset[SECTION_MODE] + 4 * number, contact->mode);
    put_rounded_vec3(raw + offset[SECTION_CONTACT_POSITION] + 12 * number, &contact->position,
                     bits);
    put_rounded_vec3(raw + offset[SECTION_NORMAL] + 12 * number, &contact->normal, bits);
    put_rounded_vec3(raw + offset[SECTION_FORCE] + 12 * number, &contact->force, bits);
    put_rounded(raw + offset[SECTION_GAP] + 4 * number, contact->gap, bits);
    put_rounded(raw + offset[SECTION_FRICTION] + 4 * number, contact->friction, bits);
    put_rounded(raw + offset[SECTION_SLIP] + 4 * number, contact->slip_speed, bits);
}

void rg_chunk_put_load_count(const rg_chunk_layout *layout, unsigned char *raw, size_t frame,
                             size_t count) {
    put_u32(raw + layout->offset[SECTION_LOAD_COUNT] + 4 * frame, (uint32_t)count);
}

void rg_chunk_put_load(const rg_chunk_layout *layout, unsigned char *raw, size_t number,
                       const rg_chunk_load *load) {
    const size_t *offset = layout->offset;
    put_u32(raw + offset[SECTION_LOAD_KIND] + 4 * number, load->kind);
    put_u32(raw + offset[SECTION_LOAD_NUMBER] + 4 * number, load->number);
    put_u32(raw + offset[SECTION_LOAD_BODY] + 4 * number, load->body);
    put_vec3(raw + offset[SECTION_LOAD_POINT] + 12 * number, &load->point);
    put_vec3(raw + offset[SECTION_LOAD_FORCE] + 12 * number, &load->force);
    put_vec3(raw + offset[SECTION_LOAD_TORQUE] + 12 * number, &load->torque);
}

rg_chunk_load rg_chunk_load_of_force(const rg_recorded_load *load) {
    return (rg_chunk_load){.kind = load->kind,
                           .number = load->force,
                           .body = load->body,
                           .point = load->point,
                           .force = load->force_vector,
                           .torque = load->torque};
}

size_t rg_chunk_loads_of_joint(const rg_recorded_joint *joint, rg_chunk_load loads[2]) {
    size_t count = 0;
    rg_chunk_load load = {.kind = RG_CHUNK_LOAD_JOINT,
                          .number = joint->joint,
                          .body = joint->body_b,
                          .point = joint->point,
                          .force = joint->force,
                          .torque = joint->torque};
    if (joint->body_b != RG_RECORDED_NONE)
        loads[count++] = load;
    load.body = joint->body_a;
    load.force = rg_scale(-1, joint->force);
    load.torque = rg_scale(-1, joint->torque);
    if (joint->body_a != RG_RECORDED_NONE)
        loads[count++] = load;
    return count;
}

void rg_chunk_put_figures(const rg_chunk_layout *layout, unsigned char *raw, size_t frame,
                          const double figures[RG_FIGURE_COUNT]) {
    unsigned char *to = raw + layout->offset[SECTION_FIGURES] + 4 * frame * layout->figures;
    for (size_t i = 0; i < layout->figures; i++)
        put_f32(to + 4 * i, figures[i]);
}

/* ---- coding ---- */

/* Subtracts the row before from each row; rows of `width` words. */
static void subtract_rows(unsigned char *words, size_t rows, size_t width) {
    for (size_t i = rows * width; i-- > width;)
        put_u32(words + 4 * i, get_u32(words + 4 * i) - get_u32(words + 4 * (i - width)));
}

/* The same with rows of different lengths: `counts` times `columns` words; what has nothing at its
 * place in the row before stays. */
static void subtract_varying(unsigned char *words, const unsigned char *counts, size_t frames,
                             size_t total, size_t columns) {
    size_t end = total;
    for (size_t frame = frames; frame-- > 1;) {
        size_t count = get_u32(counts + 4 * frame), before = get_u32(counts + 4 * (frame - 1));
        size_t start = end - count;
        for (size_t i = 0; i < columns * (count < before ? count : before); i++) {
            unsigned char *word = words + 4 * (columns * start + i);
            put_u32(word, get_u32(word) - get_u32(word - 4 * columns * before));
        }
        end = start;
    }
}

/* All lowest bytes, all second ones, and so on. */
static void split_planes(unsigned char *words, size_t count, unsigned char *room) {
    memcpy(room, words, 4 * count);
    for (size_t plane = 0; plane < 4; plane++)
        for (size_t i = 0; i < count; i++)
            words[plane * count + i] = room[4 * i + plane];
}

static size_t section_size(const rg_chunk_layout *layout, int section) {
    size_t end = section == SECTION_FIGURES ? layout->size : layout->offset[section + 1];
    return end - layout->offset[section];
}

static void code(const rg_chunk_layout *layout, unsigned char *raw, unsigned char *room) {
    for (int i = SECTION_POSITION; i <= SECTION_FIGURES; i++) {
        unsigned char *words = raw + layout->offset[i];
        size_t count = section_size(layout, i) / 4;
        if (i == SECTION_CONTACT_COUNT || i == SECTION_LOAD_COUNT || count == 0)
            continue;
        bool of_load = i > SECTION_LOAD_COUNT;
        if (i < SECTION_CONTACT_COUNT || i == SECTION_FIGURES)
            subtract_rows(words, layout->frames, count / layout->frames);
        else
            subtract_varying(
                words, raw + layout->offset[of_load ? SECTION_LOAD_COUNT : SECTION_CONTACT_COUNT],
                layout->frames, of_load ? layout->loads : layout->contacts, sections[i].bytes / 4);
        split_planes(words, count, room);
    }
}

/* ---- compression ---- */

static void *zlib_allocate(void *user, unsigned count, unsigned size) {
    return rg_allocate(user, count, size);
}

static void zlib_release(void *user, void *pointer) {
    rg_release(user, pointer);
}

/* Both sizes are below 2^32, which zlib's counters hold. */
static bool compress_to(rg_buffer *out, const unsigned char *data, size_t size, int level) {
    z_stream stream = {.zalloc = zlib_allocate, .zfree = zlib_release, .opaque = &out->allocator};
    if (deflateInit(&stream, level) != Z_OK)
        return false;
    size_t bound = deflateBound(&stream, size), before = out->size;
    unsigned char *to = extend(out, bound);
    if (to) {
        stream.next_in = (unsigned char *)data; /* zlib does not change it */
        stream.avail_in = (uInt)size;
        stream.next_out = to;
        stream.avail_out = (uInt)bound;
    }
    bool good = to && deflate(&stream, Z_FINISH) == Z_STREAM_END;
    out->size = before + stream.total_out;
    deflateEnd(&stream);
    return good;
}

rg_status rg_chunk_pack(const rg_chunk_layout *layout, rg_buffer *raw, int level, rg_buffer *out,
                        rg_error *error) {
    size_t size = layout->size;
    unsigned char *data = (unsigned char *)raw->data + RG_CHUNK_HEADER;
    bool good = raw->size == RG_CHUNK_HEADER + size;
    assert(good);
    if (good && (layout->flags & RG_CHUNK_CODED)) {
        unsigned char *room = extend(raw, size); /* may move everything */
        data = (unsigned char *)raw->data + RG_CHUNK_HEADER;
        good = room;
        if (good)
            code(layout, data, room);
    }
    if (good) {
        rg_buffer_append(out, raw->data, RG_CHUNK_HEADER);
        if (layout->flags & RG_CHUNK_COMPRESSED)
            good = compress_to(out, data, size, level);
        else
            rg_buffer_append(out, data, size);
    }
    return good && !out->failed ? RG_OK
                                : rg_fail(error, RG_OUT_OF_MEMORY, "no memory to pack frames");
}

/* ---- figures ---- */

void rg_figures_of_steps(const rg_step_info *last, double figures[RG_FIGURE_COUNT]) {
    for (int i = 0; i < RG_FIGURE_COUNT; i++)
        figures[i] = NAN;
    if (!last)
        return;
    figures[RG_FIGURE_CLOSURE_REL] = last->energy.closure_rel;
    figures[RG_FIGURE_PENETRATION] = last->certificate.max_penetration;
    double gap = last->certificate.min_gap;
    figures[RG_FIGURE_OVERLAP] = isnan(gap) ? NAN : fmax(0, -gap);
    figures[RG_FIGURE_COMPLEMENTARITY] = last->certificate.complementarity;
    figures[RG_FIGURE_CONE_VIOLATION] = last->certificate.cone_violation;
    figures[RG_FIGURE_MOMENTUM_ERROR] = last->certificate.momentum_error;
    figures[RG_FIGURE_JOINT_ERROR] = last->certificate.joint_error;
    figures[RG_FIGURE_CONTACTS] = (double)last->contacts_max;
    figures[RG_FIGURE_SOLVER_ITERATIONS] = (double)last->solver_iterations;
    figures[RG_FIGURE_SOLVER_FAILURES] = (double)last->solver_failures;
    figures[RG_FIGURE_SOLVES] = (double)last->solves;
    figures[RG_FIGURE_PASSED_THROUGH] = (double)last->passed_through;
}

void rg_figures_set_work(const rg_energy_ledger *sums, double figures[RG_FIGURE_COUNT]) {
    figures[RG_FIGURE_IMPACT_LOSS] = sums->impact_loss;
    figures[RG_FIGURE_FRICTION_WORK] = sums->friction_work;
    figures[RG_FIGURE_STABILISATION] = sums->stabilisation;
    figures[RG_FIGURE_INTEGRATION] = sums->integration;
    figures[RG_FIGURE_EXTERNAL_WORK] = sums->external_work;
    figures[RG_FIGURE_PRESCRIBED_WORK] = sums->prescribed_work;
}

void rg_figures_join(double figures[RG_FIGURE_COUNT], const double later[RG_FIGURE_COUNT]) {
    for (int i = 0; i < RG_FIGURE_COUNT; i++)
        if (i <= RG_FIGURE_PRESCRIBED_WORK)
            figures[i] = later[i];
        else if (i <= RG_FIGURE_CONTACTS)
            figures[i] = fmax(figures[i], later[i]); /* the number, if one is NaN */
        else if (isnan(figures[i]))
            figures[i] = later[i];
        else if (!isnan(later[i]))
            figures[i] += later[i];
}
