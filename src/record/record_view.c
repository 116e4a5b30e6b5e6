/* A recording as the viewer sees it: manifest, times, overview, chunks (docs/view-format.md).
 *
 * Only what is asked for is read: a chunk reads its frames, and the overview the frames' figures in
 * slices, never all bodies of a long recording. Work is shown summed from the beginning, so the
 * first chunk after the first one, or the overview, looks at all frames' ledgers once and keeps the
 * sums at the beginning of every chunk.
 *
 * How it fails: what the recording itself says (damaged, changed while it was read), and a scene in
 * it that does not read back. */
#include "record/record_view.h"

#include "base/base_math.h"
#include "base/base_text.h"
#include "step/step_judge.h"

#include <assert.h>
#include <string.h>

enum {
    CHUNK_FRAMES = 64,
    CHUNK_NUMBERS = 2000000,       /* of bodies in a chunk, about */
    PIECE_NUMBERS = 500000,        /* doubles that are read at a time, about */
    SLICE = 256,                   /* heads that are read at a time */
    OVERVIEW_POINTS = 2000,        /* at most */
    OVERVIEW_BODY_FRAMES = 400000, /* of which kinetic energy is measured: they must be read */
    BODY_NUMBERS = RG_FRAME_DOUBLES
};

/* ---- buffers ---- */

rg_view_buffer rg_view_buffer_create(const rg_allocator *allocator) {
    return (rg_view_buffer){.allocator = rg_allocator_or_default(allocator)};
}

void rg_view_buffer_destroy(rg_view_buffer *buffer) {
    rg_release(&buffer->allocator, buffer->bytes);
    buffer->bytes = NULL;
    buffer->size = buffer->capacity = 0;
}

rg_buffer rg_view_borrow(const rg_view_buffer *buffer) {
    return (rg_buffer){.allocator = buffer->allocator,
                       .data = (char *)buffer->bytes,
                       .capacity = buffer->capacity};
}

rg_status rg_view_return(rg_view_buffer *buffer, const rg_buffer *borrowed, rg_error *error) {
    buffer->bytes = (unsigned char *)borrowed->data;
    buffer->capacity = borrowed->capacity;
    buffer->size = borrowed->failed ? 0 : borrowed->size;
    return borrowed->failed ? rg_fail(error, RG_OUT_OF_MEMORY, "no memory") : RG_OK;
}

/* ---- opening ---- */

size_t rg_view_recorded(const rg_view *view, size_t shown) {
    size_t last = view->info.frame_count - 1;
    return shown > last / view->options.every ? last : shown * view->options.every;
}

size_t rg_view_every(const rg_recording *recording, double rate) {
    double ratio = 1 / (rate * rg_recording_get_info(recording).record_every) * (1 + 1e-9);
    return isfinite(ratio) && ratio > 1 ? (size_t)fmin(ratio, 1e9) : 1;
}

static void set_options(rg_view *view, const rg_view_options *options) {
    if (options)
        view->options = *options;
    rg_view_options *set = &view->options;
    assert(set->contact_bits >= 0 && set->contact_bits <= 23);
    assert(set->compression >= 0 && set->compression <= 9);
    if (set->every == 0)
        set->every = 1;
    if (set->contact_bits == 0)
        set->contact_bits = 23;
    if (set->compression == 0)
        set->compression = 1;
    size_t frames = view->info.frame_count, bodies = view->info.body_count;
    view->frame_count =
        frames ? 1 + (frames - 1) / set->every + ((frames - 1) % set->every > 0) : 0;
    view->chunk_frames = set->chunk_frames ? set->chunk_frames : CHUNK_FRAMES;
    if (set->chunk_frames == 0 && bodies > CHUNK_NUMBERS / BODY_NUMBERS / CHUNK_FRAMES) {
        view->chunk_frames = CHUNK_NUMBERS / BODY_NUMBERS / bodies;
        if (view->chunk_frames == 0)
            view->chunk_frames = 1;
    }
    view->has_contacts = view->info.has_contacts && !set->leave_out_contacts;
    view->has_loads = (view->info.has_loads || view->info.has_joints) && !set->leave_out_contacts;
}

static rg_status open_scene(rg_view *view, rg_error *error) {
    rg_scene_options options = {.allocator = &view->allocator};
    const char *path = rg_recording_path(view->recording);
    rg_error cause = {0};
    rg_status status = rg_scene_read_text(view->info.scene_text, view->info.scene_size, path, NULL,
                                          &options, &view->scene, &cause);
    if (status != RG_OK)
        return rg_fail(error, status == RG_OUT_OF_MEMORY ? status : RG_FILE_DAMAGED,
                       "%s: the scene in the recording cannot be used: %s", path, cause.text);
    const rg_world *world = rg_scene_world(view->scene);
    if (rg_world_body_count(world) != view->info.body_count)
        return rg_fail(error, RG_FILE_DAMAGED,
                       "%s: is a damaged recording: %zu bodies, but %zu in its scene", path,
                       view->info.body_count, rg_world_body_count(world));
    for (size_t i = 0; i < view->info.body_count; i++) {
        rg_body_id body = rg_world_body_at(world, i);
        if (rg_body_motion(world, body) == RG_MOTION_DYNAMIC)
            view->mass[i] = rg_body_mass(world, body);
    }
    return RG_OK;
}

rg_status rg_view_open(rg_recording *recording, const rg_view_options *options, rg_view **view,
                       rg_error *error) {
    assert(recording && view);
    *view = NULL;
    rg_view *made = rg_object_make(rg_view, options ? options->allocator : NULL);
    if (!made)
        return rg_fail(error, RG_OUT_OF_MEMORY, "no memory to show a recording");
    made->recording = recording;
    made->info = rg_recording_get_info(recording);
    made->raw = made->numbers = made->loads = rg_buffer_make(&made->allocator);
    set_options(made, options);
    made->mass = rg_allocate_zeroed(&made->allocator, made->info.body_count, sizeof *made->mass);
    rg_status status = made->mass
                           ? open_scene(made, error)
                           : rg_fail(error, RG_OUT_OF_MEMORY, "no memory to show a recording");
    if (status == RG_OK)
        *view = made;
    else
        rg_view_close(made);
    return status;
}

void rg_view_close(rg_view *view) {
    if (!view)
        return;
    rg_scene_destroy(view->scene);
    rg_buffer_free(&view->raw);
    rg_buffer_free(&view->numbers);
    rg_buffer_free(&view->loads);
    rg_release_all(&view->allocator, view->contacts, view->mass, view->work_before, view->overview,
                   view->overview_time, view->overview_step);
    rg_object_release(view);
}

size_t rg_view_frame_count(const rg_view *view) {
    return view->frame_count;
}

size_t rg_view_chunk_count(const rg_view *view) {
    return (view->frame_count + view->chunk_frames - 1) / view->chunk_frames;
}

rg_status rg_view_manifest(rg_view *view, rg_view_buffer *json, rg_error *error) {
    assert(view && json);
    rg_buffer out = rg_view_borrow(json);
    rg_status status =
        rg_manifest_write(&out, view->scene, view->info.scene_name, view, &view->allocator, error);
    rg_status returned = rg_view_return(json, &out, error);
    return status != RG_OK ? status : returned;
}

/* ---- heads, in slices ---- */

/* A shown frame, and the steps since the one shown before. */
typedef void visit_frame(void *user, size_t shown, const rg_frame_head *head,
                         const rg_step_info *interval);

static rg_status visit_frames(rg_view *view, size_t first, size_t count, unsigned parts,
                              visit_frame *visit, void *user, rg_error *error) {
    rg_frame_head heads[SLICE];
    rg_step_info interval = rg_step_info_nothing();
    size_t next = first ? rg_view_recorded(view, first - 1) + 1 : 0, shown = first;
    size_t end = count ? rg_view_recorded(view, first + count - 1) + 1 : next;
    while (next < end) {
        rg_frame_batch batch = {.count = end - next < SLICE ? end - next : SLICE, .heads = heads};
        rg_status status =
            rg_recording_read_range(view->recording, next, &batch, RG_PART_STATE | parts, error);
        if (status != RG_OK)
            return status;
        for (size_t i = 0; i < batch.count; i++, next++) {
            rg_step_info_add(&interval, &heads[i].interval);
            if (next == rg_view_recorded(view, shown)) {
                visit(user, shown++, &heads[i], &interval);
                interval = rg_step_info_nothing();
            }
        }
    }
    return RG_OK;
}

static void append_time(void *user, size_t shown, const rg_frame_head *head,
                        const rg_step_info *interval) {
    (void)shown;
    (void)interval;
    rg_buffer *out = user;
    unsigned char bytes[8];
    uint64_t bits;
    memcpy(&bits, &head->time, sizeof bits);
    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(bits >> 8 * i);
    rg_buffer_append(out, bytes, sizeof bytes);
}

rg_status rg_view_times(rg_view *view, rg_view_buffer *times, rg_error *error) {
    assert(view && times);
    rg_buffer out = rg_view_borrow(times);
    rg_status status = visit_frames(view, 0, view->frame_count, 0, append_time, &out, error);
    rg_status returned = rg_view_return(times, &out, error);
    return status != RG_OK ? status : returned;
}

/* ---- work since the beginning ---- */

/* Before the first step no work has been done; steps without a judge leave it unknown. */
static rg_energy_ledger no_work(const rg_view *view) {
    return view->info.has_certificate ? (rg_energy_ledger){0} : rg_step_info_nothing().energy;
}

static void add_work(rg_energy_ledger *sums, const rg_step_info *interval) {
    if (interval->steps > 0)
        rg_ledger_add_work(sums, &interval->energy);
}

/* ---- kinetic energy ---- */

double rg_kinetic_energy(const rg_mass_properties *mass, size_t count, bool planar,
                         const rg_quat *orientation, const rg_vec3 *velocity,
                         const rg_vec3 *angular) {
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        if (mass[i].mass == 0)
            continue;
        rg_vec3 spin = rg_rotate_back(orientation[i], angular[i]);
        double turning = planar ? mass[i].inertia.m[1][1] * angular[i].y * angular[i].y
                                : rg_dot(spin, rg_mat3_apply(&mass[i].inertia, spin));
        sum += mass[i].mass * rg_length_squared(velocity[i]) + turning;
    }
    return sum / 2;
}

/* Room for the numbers of so many frames' bodies. */
static rg_status take_numbers(rg_view *view, size_t frames, rg_frame_batch *batch,
                              rg_error *error) {
    size_t bodies = view->info.body_count;
    if (rg_array_reserve(&view->allocator, (void **)&view->numbers.data, &view->numbers.capacity,
                         8 * BODY_NUMBERS * bodies * frames + 8, 1) != RG_OK)
        return rg_fail(error, RG_OUT_OF_MEMORY, "no memory to show %zu bodies", bodies);
    double *numbers = (double *)(void *)view->numbers.data;
    batch->count = frames;
    batch->position = numbers;
    batch->orientation = batch->position + 3 * bodies * frames;
    batch->velocity = batch->orientation + 4 * bodies * frames;
    batch->angular_velocity = batch->velocity + 3 * bodies * frames;
    return RG_OK;
}

/* Of frame `i` of the batch. */
static double kinetic_of(const rg_view *view, const rg_frame_batch *batch, size_t i) {
    size_t bodies = view->info.body_count;
    return rg_kinetic_energy(view->mass, bodies, view->info.planar,
                             (const rg_quat *)(batch->orientation + 4 * bodies * i),
                             (const rg_vec3 *)(batch->velocity + 3 * bodies * i),
                             (const rg_vec3 *)(batch->angular_velocity + 3 * bodies * i));
}

/* ---- the overview ---- */

typedef struct surveyor {
    rg_view *view;
    rg_energy_ledger work;
    size_t points, point;
    bool begun; /* the point has a frame */
} surveyor;

/* The first frame that a point does not stand for any more. */
static size_t end_of_point(const rg_view *view, size_t point, size_t points) {
    return (size_t)((uint64_t)(point + 1) * view->frame_count / points);
}

static void survey_frame(void *user, size_t shown, const rg_frame_head *head,
                         const rg_step_info *interval) {
    surveyor *survey = user;
    rg_view *view = survey->view;
    if (shown % view->chunk_frames == 0)
        view->work_before[shown / view->chunk_frames] = survey->work;
    add_work(&survey->work, interval);
    if (shown == end_of_point(view, survey->point, survey->points)) {
        survey->point++;
        survey->begun = false;
    }
    double figures[RG_FIGURE_COUNT];
    rg_figures_of_steps(view->info.has_certificate ? interval : NULL, figures);
    rg_figures_set_work(&survey->work, figures);
    figures[RG_FIGURE_ENERGY] = head->energy;
    if (survey->begun)
        rg_figures_join(view->overview[survey->point], figures);
    else
        memcpy(view->overview[survey->point], figures, sizeof figures);
    survey->begun = true;
    view->overview_time[survey->point] = head->time;
    view->overview_step[survey->point] = (double)head->step;
}

/* Of the last frame of each point, if that means to read not too much. */
static rg_status survey_kinetic(rg_view *view, size_t points, rg_error *error) {
    rg_frame_batch batch = {0};
    rg_status status = RG_OK;
    if (view->info.body_count > OVERVIEW_BODY_FRAMES / (points ? points : 1))
        return RG_OK;
    for (size_t i = 0; i < points && status == RG_OK; i++) {
        size_t frame = rg_view_recorded(view, end_of_point(view, i, points) - 1);
        status = take_numbers(view, 1, &batch, error);
        batch.position = NULL;
        if (status == RG_OK)
            status = rg_recording_read_range(view->recording, frame, &batch, 0, error);
        if (status == RG_OK)
            view->overview[i][RG_FIGURE_KINETIC] = kinetic_of(view, &batch, 0);
    }
    return status;
}

static void forget_survey(rg_view *view) {
    rg_release(&view->allocator, view->work_before);
    rg_release(&view->allocator, view->overview);
    rg_release(&view->allocator, view->overview_time);
    rg_release(&view->allocator, view->overview_step);
    view->work_before = NULL;
    view->overview = NULL;
    view->overview_time = view->overview_step = NULL;
}

/* One look at all figures. */
static rg_status survey(rg_view *view, rg_error *error) {
    if (view->overview)
        return RG_OK;
    size_t points = view->frame_count < OVERVIEW_POINTS ? view->frame_count : OVERVIEW_POINTS;
    const rg_allocator *allocator = &view->allocator;
    view->work_before =
        rg_allocate(allocator, rg_view_chunk_count(view) + 1, sizeof *view->work_before);
    view->overview = rg_allocate(allocator, points, sizeof *view->overview);
    view->overview_time = rg_allocate(allocator, points, sizeof(double));
    view->overview_step = rg_allocate(allocator, points, sizeof(double));
    view->overview_count = points;
    surveyor work = {.view = view, .work = no_work(view), .points = points};
    rg_status status = RG_OUT_OF_MEMORY;
    if (view->work_before && view->overview && view->overview_time && view->overview_step)
        status = visit_frames(view, 0, view->frame_count, RG_PART_CERTIFICATE, survey_frame, &work,
                              error);
    else
        rg_fail(error, status, "no memory for an overview");
    if (status != RG_OK)
        forget_survey(view);
    return status;
}

rg_status rg_view_overview(rg_view *view, rg_view_buffer *chunk, rg_error *error) {
    assert(view && chunk);
    rg_chunk_layout layout;
    rg_status status = survey(view, error);
    if (status == RG_OK && !view->overview_has_kinetic)
        status = survey_kinetic(view, view->overview_count, error);
    view->overview_has_kinetic = status == RG_OK;
    if (status == RG_OK)
        status = rg_chunk_plan(&layout, RG_CHUNK_COMPRESSED | RG_CHUNK_HAS_FIGURES,
                               (rg_chunk_size){.frames = view->overview_count}, error);
    if (status != RG_OK)
        return status;
    view->raw.size = 0;
    view->raw.failed = false;
    unsigned char *raw = rg_chunk_begin(&layout, &view->raw);
    if (!raw)
        return rg_fail(error, RG_OUT_OF_MEMORY, "no memory for an overview");
    for (size_t i = 0; i < view->overview_count; i++) {
        rg_chunk_put_clock(&layout, raw, i, view->overview_time[i], view->overview_step[i]);
        rg_chunk_put_figures(&layout, raw, i, view->overview[i]);
    }
    rg_buffer out = rg_view_borrow(chunk);
    status = rg_chunk_pack(&layout, &view->raw, view->options.compression, &out, error);
    rg_status returned = rg_view_return(chunk, &out, error);
    return status != RG_OK ? status : returned;
}

/* ---- chunks ---- */

/* A chunk in the making. */
typedef struct filler {
    rg_view *view;
    rg_chunk_layout layout;
    unsigned char *raw;
    size_t first;
    rg_energy_ledger work;
    double (*figures)[RG_FIGURE_COUNT];
} filler;

static bool is_idle(const rg_recorded_contact *contact) {
    return contact->mode == RG_MODE_SEPARATING && contact->force.x == 0 && contact->force.y == 0 &&
           contact->force.z == 0;
}

/* The contacts of all frames of the chunk, one after the other, and how many of each. */
static rg_status gather_contacts(rg_view *view, size_t first, size_t frames, uint32_t *counts,
                                 size_t *total, rg_error *error) {
    *total = 0;
    for (size_t i = 0; i < frames; i++) {
        const rg_recorded_contact *contacts;
        size_t count;
        rg_status status = rg_recording_read_contacts(
            view->recording, rg_view_recorded(view, first + i), &contacts, &count, error);
        if (status != RG_OK)
            return status;
        if (count > UINT32_MAX || rg_array_grow(&view->allocator, &view->contacts,
                                                &view->contact_capacity, *total + count) != RG_OK)
            return rg_fail(error, RG_OUT_OF_MEMORY, "no memory for contacts");
        size_t before = *total;
        for (size_t k = 0; k < count; k++)
            if (!view->options.leave_out_idle_contacts || !is_idle(&contacts[k]))
                view->contacts[(*total)++] = contacts[k];
        counts[i] = (uint32_t)(*total - before);
    }
    return RG_OK;
}

static rg_status gather_joint_loads(rg_view *view, size_t frame, rg_error *error) {
    const rg_recorded_joint *joints;
    size_t count;
    rg_status status = rg_recording_read_joints(view->recording, frame, &joints, &count, error);
    for (size_t i = 0; !status && i < count; i++) {
        rg_chunk_load both[2];
        size_t sides = rg_chunk_loads_of_joint(&joints[i], both);
        rg_buffer_append(&view->loads, both, sides * sizeof both[0]);
    }
    return status;
}

/* The same for loads, into view->loads. */
static rg_status gather_loads(rg_view *view, size_t first, size_t frames, uint32_t *counts,
                              rg_error *error) {
    view->loads.size = 0;
    view->loads.failed = false;
    for (size_t i = 0; i < frames; i++) {
        const rg_recorded_load *loads;
        size_t count = 0, before = view->loads.size, frame = rg_view_recorded(view, first + i);
        rg_status status = RG_OK;
        if (view->info.has_loads)
            status = rg_recording_read_loads(view->recording, frame, &loads, &count, error);
        for (size_t k = 0; !status && k < count; k++) {
            rg_chunk_load load = rg_chunk_load_of_force(&loads[k]);
            rg_buffer_append(&view->loads, &load, sizeof load);
        }
        if (!status && view->info.has_joints)
            status = gather_joint_loads(view, frame, error);
        if (status != RG_OK)
            return status;
        counts[i] = (uint32_t)((view->loads.size - before) / sizeof(rg_chunk_load));
    }
    return view->loads.failed ? rg_fail(error, RG_OUT_OF_MEMORY, "no memory for forces") : RG_OK;
}

static void fill_head(void *user, size_t shown, const rg_frame_head *head,
                      const rg_step_info *interval) {
    filler *fill = user;
    size_t frame = shown - fill->first;
    double *figures = fill->figures[frame];
    add_work(&fill->work, interval);
    rg_figures_of_steps(fill->view->info.has_certificate ? interval : NULL, figures);
    rg_figures_set_work(&fill->work, figures);
    figures[RG_FIGURE_ENERGY] = head->energy;
    rg_chunk_put_clock(&fill->layout, fill->raw, frame, head->time, (double)head->step);
}

static void put_frame(filler *fill, const rg_frame_batch *batch, size_t i, size_t frame) {
    size_t bodies = fill->view->info.body_count;
    const rg_vec3 *position = (const rg_vec3 *)(batch->position + 3 * bodies * i);
    const rg_quat *orientation = (const rg_quat *)(batch->orientation + 4 * bodies * i);
    const rg_vec3 *velocity = (const rg_vec3 *)(batch->velocity + 3 * bodies * i);
    const rg_vec3 *angular = (const rg_vec3 *)(batch->angular_velocity + 3 * bodies * i);
    for (size_t b = 0; b < bodies; b++) {
        rg_pose pose = {position[b], orientation[b]};
        rg_chunk_put_body(&fill->layout, fill->raw, frame, b, &pose, &velocity[b], &angular[b]);
    }
    fill->figures[frame][RG_FIGURE_KINETIC] = kinetic_of(fill->view, batch, i);
}

/* In pieces: neighbours at once, frames with others between them one by one. */
static rg_status fill_bodies(filler *fill, size_t frames, rg_error *error) {
    rg_view *view = fill->view;
    size_t most = PIECE_NUMBERS / BODY_NUMBERS / (view->info.body_count + 1);
    if (most == 0 || view->options.every > 1)
        most = 1;
    for (size_t done = 0; done < frames;) {
        rg_frame_batch batch = {0};
        rg_status status =
            take_numbers(view, frames - done < most ? frames - done : most, &batch, error);
        if (status == RG_OK)
            status = rg_recording_read_range(
                view->recording, rg_view_recorded(view, fill->first + done), &batch, 0, error);
        if (status != RG_OK)
            return status;
        for (size_t i = 0; i < batch.count; i++)
            put_frame(fill, &batch, i, done + i);
        done += batch.count;
    }
    return RG_OK;
}

static void fill_contacts(filler *fill, size_t frames, const uint32_t *counts) {
    const rg_view *view = fill->view;
    for (size_t i = 0; i < frames; i++)
        rg_chunk_put_contact_count(&fill->layout, fill->raw, i, counts[i]);
    for (size_t i = 0; i < fill->layout.contacts; i++)
        rg_chunk_put_contact(&fill->layout, fill->raw, i, &view->contacts[i],
                             view->options.contact_bits);
}

static void fill_loads(filler *fill, size_t frames, const uint32_t *counts) {
    const rg_chunk_load *loads = (const void *)fill->view->loads.data;
    for (size_t i = 0; i < frames; i++)
        rg_chunk_put_load_count(&fill->layout, fill->raw, i, counts[i]);
    for (size_t i = 0; i < fill->layout.loads; i++)
        rg_chunk_put_load(&fill->layout, fill->raw, i, &loads[i]);
}

/* `counts` has room for contacts and for loads of each frame. */
static rg_status fill_chunk(filler *fill, size_t frames, uint32_t *counts, rg_error *error) {
    rg_view *view = fill->view;
    rg_chunk_size size = {.first = fill->first, .frames = frames, .bodies = view->info.body_count};
    uint32_t flags = RG_CHUNK_COMPRESSED | RG_CHUNK_CODED | RG_CHUNK_HAS_FIGURES |
                     (view->has_contacts ? RG_CHUNK_HAS_CONTACTS : 0u) |
                     (view->has_loads ? RG_CHUNK_HAS_LOADS : 0u);
    rg_status status = RG_OK;
    if (view->has_contacts)
        status = gather_contacts(view, fill->first, frames, counts, &size.contacts, error);
    if (status == RG_OK && view->has_loads)
        status = gather_loads(view, fill->first, frames, counts + frames, error);
    size.loads = view->has_loads ? view->loads.size / sizeof(rg_chunk_load) : 0;
    if (status == RG_OK)
        status = rg_chunk_plan(&fill->layout, flags, size, error);
    if (status != RG_OK)
        return status;
    view->raw.size = 0;
    view->raw.failed = false;
    fill->raw = rg_chunk_begin(&fill->layout, &view->raw);
    if (!fill->raw)
        return rg_fail(error, RG_OUT_OF_MEMORY, "no memory for a chunk of frames");
    status = visit_frames(view, fill->first, frames, RG_PART_CERTIFICATE, fill_head, fill, error);
    if (status == RG_OK)
        status = fill_bodies(fill, frames, error);
    if (status != RG_OK)
        return status;
    if (view->has_contacts)
        fill_contacts(fill, frames, counts);
    if (view->has_loads)
        fill_loads(fill, frames, counts + frames);
    for (size_t i = 0; i < frames; i++)
        rg_chunk_put_figures(&fill->layout, fill->raw, i, fill->figures[i]);
    return RG_OK;
}

rg_status rg_view_chunk(rg_view *view, size_t index, rg_view_buffer *chunk, rg_error *error) {
    assert(view && chunk);
    size_t chunks = rg_view_chunk_count(view);
    if (index >= chunks)
        return rg_fail(error, RG_INVALID_ARGUMENT, "%s: there is no chunk %zu; there are %zu",
                       rg_recording_path(view->recording), index, chunks);
    filler fill = {.view = view, .first = index * view->chunk_frames, .work = no_work(view)};
    size_t left = view->frame_count - fill.first;
    size_t frames = left < view->chunk_frames ? left : view->chunk_frames;
    if (index > 0 && view->info.has_certificate) {
        rg_status status = survey(view, error);
        if (status != RG_OK)
            return status;
        fill.work = view->work_before[index];
    }
    uint32_t *counts = rg_allocate(&view->allocator, 2 * frames, sizeof *counts);
    fill.figures = rg_allocate(&view->allocator, frames, sizeof *fill.figures);
    rg_status status = counts && fill.figures
                           ? fill_chunk(&fill, frames, counts, error)
                           : rg_fail(error, RG_OUT_OF_MEMORY, "no memory for a chunk of frames");
    if (status == RG_OK) {
        rg_buffer out = rg_view_borrow(chunk);
        status = rg_chunk_pack(&fill.layout, &view->raw, view->options.compression, &out, error);
        rg_status returned = rg_view_return(chunk, &out, error);
        if (status == RG_OK)
            status = returned;
    }
    rg_release(&view->allocator, counts);
    rg_release(&view->allocator, fill.figures);
    return status;
}
