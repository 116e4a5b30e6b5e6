/* Motion in glTF: all poses of a recording in memory, as 32-bit numbers, and of each body those
 * keyframes that glTF's LINEAR interpolation does not make up by itself (to 1e-6).
 * Tested by tests/record/test_gltf_motion.c. */
#include "record/record_gltf.h"

#include "base/base_math.h"
#include "base/base_text.h"

#include <string.h>

enum { LONGEST_SKIP = 256 /* keyframes that one segment may stand for */ };
static const uint64_t most_motion = UINT64_C(1) << 31; /* bytes */
static const double keyframe_tolerance = 1e-6;         /* m, and of quaternions */

static void put(rg_buffer *out, const char *text) {
    rg_buffer_append(out, text, strlen(text));
}

/* ---- what moved: read and measured ---- */

static void keep_frame(rg_gltf_writer *w, size_t frame, const rg_frame_batch *batch, size_t i) {
    const rg_vec3 *position = (const rg_vec3 *)batch->position + i * w->body_count;
    const rg_quat *orientation = (const rg_quat *)batch->orientation + i * w->body_count;
    w->times[frame] = (float)batch->heads[i].time;
    for (size_t b = 0; b < w->body_count; b++) {
        size_t row = frame * w->body_count + b;
        float *q = w->orientations + 4 * row, *p = w->positions + 3 * row;
        rg_quat unit = rg_quat_normalised(orientation[b]);
        const double numbers[4] = {unit.x, unit.y, unit.z, unit.w};
        double along = 0; /* the quaternion of the frame before */
        for (size_t c = 0; frame > 0 && c < 4; c++)
            along += numbers[c] * (double)q[c - 4 * w->body_count];
        for (size_t c = 0; c < 4; c++)
            q[c] = (float)(along < 0 ? -numbers[c] : numbers[c]);
        for (size_t c = 0; c < 3; c++) {
            double number = (&position[b].x)[c];
            p[c] = fabs(number) < 1e30 ? (float)number : 0; /* glTF knows no infinity */
        }
    }
}

rg_status rg_gltf_read_motion(rg_gltf_writer *w) {
    size_t frames = rg_view_frame_count(w->view), bodies = w->body_count;
    uint64_t numbers = 7 * (uint64_t)frames * bodies;
    if (bodies && (uint64_t)frames > most_motion / 28 / bodies)
        return rg_fail(w->error, RG_LIMIT_EXCEEDED,
                       "%zu frames of %zu bodies are too many for one glTF file; export fewer "
                       "frames a second",
                       frames, bodies);
    w->times = rg_allocate(&w->allocator, frames, sizeof(float));
    w->kept = rg_allocate(&w->allocator, frames, sizeof(size_t));
    w->positions = rg_allocate(&w->allocator, (size_t)numbers, sizeof(float));
    rg_vec3 *position = rg_allocate(&w->allocator, bodies, sizeof *position);
    rg_quat *orientation = rg_allocate(&w->allocator, bodies, sizeof *orientation);
    rg_status status = w->times && w->kept && w->positions && position && orientation
                           ? RG_OK
                           : rg_gltf_fail_memory(w);
    if (status == RG_OK)
        w->orientations = w->positions + 3 * frames * bodies;
    for (size_t i = 0; status == RG_OK && i < frames; i++) {
        rg_frame_head head;
        rg_frame_batch batch = {.count = 1,
                                .heads = &head,
                                .position = (double *)position,
                                .orientation = (double *)orientation};
        status = rg_recording_read_range(w->view->recording, rg_view_recorded(w->view, i), &batch,
                                         RG_PART_STATE, w->error);
        if (status != RG_OK)
            break;
        keep_frame(w, w->frame_count, &batch, 0);
        /* Times that 32 bits cannot tell apart are one. */
        if (w->frame_count == 0 || w->times[w->frame_count] > w->times[w->frame_count - 1])
            w->frame_count++;
    }
    rg_release(&w->allocator, position);
    rg_release(&w->allocator, orientation);
    return status;
}

/* Distance from the body's origin that its bounded colliders reach; -1: it has none. */
static double reach_of(const rg_gltf_writer *w, rg_body_id body) {
    double reach = -1;
    for (size_t c = 0; c < rg_body_collider_count(w->world, body); c++) {
        rg_collider_def def = rg_collider_get_def(w->world, rg_body_collider_at(w->world, body, c));
        if (rg_shape_is_bounded(def.shape) && !def.sensor)
            reach =
                fmax(reach, rg_length(def.pose.position) + rg_length(rg_shape_centre(def.shape)) +
                                rg_shape_circumradius(def.shape));
    }
    return reach;
}

void rg_gltf_measure(rg_gltf_writer *w) {
    rg_vec3 lower = {INFINITY, INFINITY, INFINITY}, upper = {-INFINITY, -INFINITY, -INFINITY};
    double sum = 0;
    size_t count = 0;
    for (size_t b = 0; b < w->body_count; b++) {
        rg_body_id body = rg_world_body_at(w->world, b);
        double reach = reach_of(w, body);
        if (reach < 0)
            continue;
        if (rg_body_motion(w->world, body) != RG_MOTION_FIXED) {
            sum += reach;
            count++;
        }
        rg_vec3 around = {reach, reach, reach};
        for (size_t f = 0; f < w->frame_count; f++) {
            const float *p = w->positions + 3 * (f * w->body_count + b);
            rg_vec3 at = {(double)p[0], (double)p[1], (double)p[2]};
            lower = rg_min(lower, rg_sub(at, around));
            upper = rg_max(upper, rg_add(at, around));
        }
    }
    if (!(lower.x <= upper.x))
        lower = upper = (rg_vec3){0, 0, 0};
    w->centre = rg_scale(0.5, rg_add(lower, upper));
    w->radius = fmax(rg_length(rg_sub(upper, lower)) / 2, 1e-3);
    w->depth = count ? sum / (double)count / 2 : w->radius / 20;
}

/* ---- the animation ---- */

/* A quantity of one body through the frames. */
typedef struct track {
    const float *values;
    size_t stride, columns;
} track;

static const float *value_at(const track *t, size_t frame) {
    return t->values + frame * t->stride;
}

static bool is_still(const rg_gltf_writer *w, const track *t) {
    for (size_t i = 1; i < w->frame_count; i++)
        if (memcmp(value_at(t, i), t->values, t->columns * sizeof(float)) != 0)
            return false;
    return true;
}

/* Whether going straight from one frame to another passes through a third. For rotations the
 * straight line between near quaternions is compared and not the arc: they differ by less than what
 * it is compared with, or the answer is no. */
static bool is_between(const rg_gltf_writer *w, const track *t, size_t from, size_t middle,
                       size_t to) {
    double share = ((double)w->times[middle] - (double)w->times[from]) /
                   ((double)w->times[to] - (double)w->times[from]);
    const float *a = value_at(t, from), *b = value_at(t, to), *m = value_at(t, middle);
    double largest = 0;
    for (size_t c = 0; c < t->columns; c++) {
        double line = (double)a[c] + share * ((double)b[c] - (double)a[c]);
        largest = fmax(largest, fabs(line - (double)m[c]));
    }
    return largest <= keyframe_tolerance;
}

/* Fills w->kept with the frames that are needed; returns how many. */
static size_t choose_keyframes(rg_gltf_writer *w, const track *t) {
    size_t count = 0, last = 0;
    w->kept[count++] = 0;
    for (size_t i = 1; i + 1 < w->frame_count; i++) {
        bool needed = i + 1 - last > LONGEST_SKIP;
        for (size_t k = i; k > last && !needed; k--)
            needed = !is_between(w, t, last, k, i + 1);
        if (needed)
            w->kept[count++] = last = i;
    }
    if (w->frame_count > 1)
        w->kept[count++] = w->frame_count - 1;
    return count;
}

/* The accessor of the times of the kept frames. */
static size_t add_times(rg_gltf_writer *w, size_t count) {
    if (count == w->frame_count && w->all_times)
        return w->all_times - 1;
    size_t offset = w->motion.size;
    for (size_t i = 0; i < count; i++)
        rg_buffer_append(&w->motion, &w->times[w->kept[i]], sizeof(float));
    rg_gltf_begin_accessor(w, w->motion_view, offset, RG_GLTF_F32, count, "SCALAR");
    float ends[2] = {w->times[w->kept[0]], w->times[w->kept[count - 1]]};
    rg_gltf_put_limits(w, ends, 2, 1);
    put(&w->accessors, "}");
    if (count == w->frame_count)
        w->all_times = w->accessor_count;
    return w->accessor_count - 1;
}

static void add_channel(rg_gltf_writer *w, const track *t, size_t node, const char *path) {
    if (is_still(w, t))
        return;
    size_t count = choose_keyframes(w, t), input = add_times(w, count), offset = w->motion.size;
    for (size_t i = 0; i < count; i++)
        rg_buffer_append(&w->motion, value_at(t, w->kept[i]), t->columns * sizeof(float));
    rg_gltf_begin_accessor(w, w->motion_view, offset, RG_GLTF_F32, count,
                           t->columns == 3 ? "VEC3" : "VEC4");
    put(&w->accessors, "}");
    const char *comma = w->sampler_count ? ",\n" : "";
    rg_buffer_print(&w->samplers, "%s{\"input\":%zu,\"output\":%zu,\"interpolation\":\"LINEAR\"}",
                    comma, input, w->accessor_count - 1);
    rg_buffer_print(&w->channels, "%s{\"sampler\":%zu,\"target\":{\"node\":%zu,\"path\":\"%s\"}}",
                    comma, w->sampler_count++, node, path);
}

void rg_gltf_add_motion(rg_gltf_writer *w, size_t b, size_t node) {
    track place = {w->positions + 3 * b, 3 * w->body_count, 3};
    track turn = {w->orientations + 4 * b, 4 * w->body_count, 4};
    add_channel(w, &place, node, "translation");
    add_channel(w, &turn, node, "rotation");
}
