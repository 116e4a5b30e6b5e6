/* Recordings as comma-separated values (RFC 4180): a header line, then one line for every frame and
 * body, for every frame and contact, joint or load, for every event, for every impulse,
 * or for every frame (certificates; a figure that was not measured is an empty field). Numbers are
 * the shortest that read back to the same bits. How it fails: as what it writes to does
 * (record_outlet.h). */
#include "record/record_recording.h"

#include "base/base_memory.h"
#include "base/base_text.h"
#include "record/record_interval.h"
#include "record/record_outlet.h"

#include "rigor/text.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char bodies_header[] = "time,step,body,px,py,pz,qx,qy,qz,qw,vx,vy,vz,wx,wy,wz\n";
static const char contacts_header[] = "time,step,body_a,body_b,px,py,pz,nx,ny,nz,fx,fy,fz,gap,"
                                      "friction,slip_speed,mode\n";
static const char events_header[] = "time,step,kind,body_a,body_b,contacts,value,friction,"
                                    "restitution,text\n";
static const char impulses_header[] =
    "time,step,impact,round,body_a,body_b,px,py,pz,nx,ny,nz,ix,iy,iz,before_x,before_y,before_z,"
    "after_x,after_y,after_z,friction,restitution\n";
static const char joints_header[] =
    "time,step,joint,kind,body_a,body_b,broken,x0,x1,x2,v0,v1,v2,f0,f1,f2,motor0,motor1,motor2,"
    "px,py,pz,fx,fy,fz,tx,ty,tz,error\n";
static const char loads_header[] = "time,step,force,kind,body,px,py,pz,fx,fy,fz,tx,ty,tz\n";
/* Bytes gathered before they are written. */
static const size_t piece_size = 1 << 20;

static void append_text(rg_buffer *text, const char *word) {
    rg_buffer_append(text, word, strlen(word));
}

static void append_field(rg_buffer *text, const char *field) {
    size_t length = rg_text_csv(field, NULL, 0);
    text->failed |= rg_array_reserve(&text->allocator, (void **)&text->data, &text->capacity,
                                     text->size + length + 1, 1) != RG_OK;
    if (text->failed)
        return;
    rg_text_csv(field, text->data + text->size, length + 1);
    text->size += length;
}

static void append_numbers(rg_buffer *text, const double *numbers, size_t count) {
    char number[RG_NUMBER_SIZE];
    for (size_t i = 0; i < count; i++) {
        append_text(text, ",");
        append_text(text, rg_format_double(numbers[i], number));
    }
}

/* A body without a name goes by its number; none is an empty field. */
static void append_body(rg_buffer *text, const rg_recording *recording, size_t body) {
    append_text(text, ",");
    if (body == RG_RECORDED_NONE)
        return;
    const char *name = rg_recording_body_name(recording, body);
    if (name[0])
        append_field(text, name);
    else
        rg_buffer_print(text, "%zu", body);
}

static void append_clock(rg_buffer *text, double time, uint64_t step) {
    char number[RG_NUMBER_SIZE];
    rg_buffer_print(text, "%s,%" PRIu64, rg_format_double(time, number), step);
}

/* ---- one frame, by what is asked for ---- */

/* What is written: the header line, and a frame's lines. The frame has been read (the bodies only
 * if they are wanted). */
typedef struct table_kind {
    bool wants_bodies;
    const char *header; /* null: of certificates */
    rg_status (*append_frame)(rg_buffer *text, rg_recording *recording, size_t index,
                              const rg_frame *frame, rg_error *error);
} table_kind;

static rg_status append_bodies(rg_buffer *text, rg_recording *recording, size_t index,
                               const rg_frame *frame, rg_error *error) {
    (void)index;
    (void)error;
    size_t bodies = rg_recording_get_info(recording).body_count;
    for (size_t i = 0; i < bodies; i++) {
        append_clock(text, frame->time, frame->step);
        append_body(text, recording, i);
        append_numbers(text, &frame->position[i].x, 3);
        append_numbers(text, &frame->orientation[i].x, 4);
        append_numbers(text, &frame->velocity[i].x, 3);
        append_numbers(text, &frame->angular_velocity[i].x, 3);
        append_text(text, "\n");
    }
    return RG_OK;
}

static rg_status append_contacts(rg_buffer *text, rg_recording *recording, size_t index,
                                 const rg_frame *frame, rg_error *error) {
    const rg_recorded_contact *contacts;
    size_t count;
    rg_status status = rg_recording_read_contacts(recording, index, &contacts, &count, error);
    for (size_t i = 0; i < count; i++) {
        const rg_recorded_contact *contact = &contacts[i];
        append_clock(text, frame->time, frame->step);
        append_body(text, recording, contact->body_a);
        append_body(text, recording, contact->body_b);
        append_numbers(text, &contact->position.x, 3);
        append_numbers(text, &contact->normal.x, 3);
        append_numbers(text, &contact->force.x, 3);
        append_numbers(text, &contact->gap, 1);
        append_numbers(text, &contact->friction, 1);
        append_numbers(text, &contact->slip_speed, 1);
        rg_buffer_print(text, ",%s\n", rg_contact_mode_name((rg_contact_mode)contact->mode));
    }
    return status;
}

static const char *name_of(const rg_recording *recording, uint32_t body) {
    return body == RG_RECORDED_NONE ? "world" : rg_recording_body_name(recording, body);
}

/* In plain words, with the names of the recording. */
static void append_event_text(rg_buffer *text, const rg_recording *recording,
                              const rg_recorded_event *event) {
    char words[1024];
    rg_step_event e = {.time = event->time,
                       .kind = event->kind,
                       .contacts = event->contacts,
                       .value = event->value,
                       .friction = event->friction,
                       .restitution = event->restitution};
    rg_step_event_words(&e, name_of(recording, event->body_a), name_of(recording, event->body_b),
                        words, sizeof words);
    append_text(text, ",");
    append_field(text, words);
    append_text(text, "\n");
}

static rg_status append_events(rg_buffer *text, rg_recording *recording, size_t index,
                               const rg_frame *frame, rg_error *error) {
    const rg_recorded_event *events;
    size_t count;
    (void)frame;
    rg_status status = rg_recording_read_events(recording, index, &events, &count, error);
    for (size_t i = 0; i < count; i++) {
        const rg_recorded_event *event = &events[i];
        append_clock(text, event->time, event->step);
        rg_buffer_print(text, ",%s", rg_step_event_name((rg_step_event_kind)event->kind));
        append_body(text, recording, event->body_a);
        append_body(text, recording, event->body_b);
        rg_buffer_print(text, ",%" PRIu32, event->contacts);
        append_numbers(text, &event->value, 1);
        append_numbers(text, &event->friction, 1);
        append_numbers(text, &event->restitution, 1);
        append_event_text(text, recording, event);
    }
    return status;
}

static rg_status append_impulses(rg_buffer *text, rg_recording *recording, size_t index,
                                 const rg_frame *frame, rg_error *error) {
    const rg_recorded_impulse *impulses;
    size_t count;
    (void)frame;
    rg_status status = rg_recording_read_impulses(recording, index, &impulses, &count, error);
    for (size_t i = 0; i < count; i++) {
        const rg_recorded_impulse *impulse = &impulses[i];
        append_clock(text, impulse->time, impulse->step);
        rg_buffer_print(text, ",%" PRIu32 ",%" PRIu32, impulse->impact, impulse->round);
        append_body(text, recording, impulse->body_a);
        append_body(text, recording, impulse->body_b);
        append_numbers(text, &impulse->position.x, 3);
        append_numbers(text, &impulse->normal.x, 3);
        append_numbers(text, &impulse->impulse.x, 3);
        append_numbers(text, &impulse->before.x, 3);
        append_numbers(text, &impulse->after.x, 3);
        append_numbers(text, &impulse->friction, 1);
        append_numbers(text, &impulse->restitution, 1);
        append_text(text, "\n");
    }
    return status;
}

/* Numbers of axes that the joint does not have are empty. */
static void append_axes(rg_buffer *text, const rg_vec3 *values, size_t axes) {
    append_numbers(text, &values->x, axes);
    for (size_t i = axes; i < RG_JOINT_AXES_MOST; i++)
        append_text(text, ",");
}

static rg_status append_joints(rg_buffer *text, rg_recording *recording, size_t index,
                               const rg_frame *frame, rg_error *error) {
    const rg_recorded_joint *joints;
    size_t count;
    rg_status status = rg_recording_read_joints(recording, index, &joints, &count, error);
    for (size_t i = 0; i < count; i++) {
        const rg_recorded_joint *joint = &joints[i];
        append_clock(text, frame->time, frame->step);
        rg_buffer_print(text, ",%" PRIu32 ",%s", joint->joint,
                        rg_joint_kind_name((rg_joint_kind)joint->kind));
        append_body(text, recording, joint->body_a);
        append_body(text, recording, joint->body_b);
        rg_buffer_print(text, ",%" PRIu32, joint->broken);
        append_axes(text, &joint->coordinate, joint->axes);
        append_axes(text, &joint->velocity, joint->axes);
        append_axes(text, &joint->axis_force, joint->axes);
        append_axes(text, &joint->motor_force, joint->axes);
        append_numbers(text, &joint->point.x, 3);
        append_numbers(text, &joint->force.x, 3);
        append_numbers(text, &joint->torque.x, 3);
        append_numbers(text, &joint->error, 1);
        append_text(text, "\n");
    }
    return status;
}

static rg_status append_loads(rg_buffer *text, rg_recording *recording, size_t index,
                              const rg_frame *frame, rg_error *error) {
    const rg_recorded_load *loads;
    size_t count;
    rg_status status = rg_recording_read_loads(recording, index, &loads, &count, error);
    for (size_t i = 0; i < count; i++) {
        const rg_recorded_load *load = &loads[i];
        append_clock(text, frame->time, frame->step);
        if (load->force == RG_RECORDED_NONE)
            append_text(text, ",");
        else
            rg_buffer_print(text, ",%" PRIu32, load->force);
        rg_buffer_print(text, ",%s", rg_force_kind_name((rg_force_kind)load->kind));
        append_body(text, recording, load->body);
        append_numbers(text, &load->point.x, 3);
        append_numbers(text, &load->force_vector.x, 3);
        append_numbers(text, &load->torque.x, 3);
        append_text(text, "\n");
    }
    return status;
}

/* Figures in the order of FILE's tables. */
static void append_certificate_header(rg_buffer *text) {
    append_text(text, "time,step");
    for (int table = 0; table < RG_TABLE_COUNT; table++)
        for (size_t i = 0; i < rg_summary_field_count; i++)
            if ((int)rg_interval_table_of(&rg_summary_fields[i]) == table)
                rg_buffer_print(text, ",%s", rg_summary_fields[i].name);
    append_text(text, "\n");
}

static void append_figure(rg_buffer *text, const rg_step_info *info,
                          const rg_summary_field *field) {
    const void *value = (const char *)info + field->offset;
    double number;
    memcpy(&number, value, sizeof number);
    if (field->is_count)
        rg_buffer_print(text, ",%" PRIu64, *(const uint64_t *)value);
    else if (isnan(number))
        append_text(text, ",");
    else
        append_numbers(text, &number, 1);
}

static rg_status append_certificate(rg_buffer *text, rg_recording *recording, size_t index,
                                    const rg_frame *frame, rg_error *error) {
    rg_step_info info;
    rg_status status = rg_recording_read_certificate(recording, index, &info, error);
    if (status != RG_OK)
        return status;
    append_clock(text, frame->time, frame->step);
    for (int table = 0; table < RG_TABLE_COUNT; table++)
        for (size_t i = 0; i < rg_summary_field_count; i++)
            if ((int)rg_interval_table_of(&rg_summary_fields[i]) == table)
                append_figure(text, &info, &rg_summary_fields[i]);
    append_text(text, "\n");
    return RG_OK;
}

static const table_kind bodies_table = {true, bodies_header, append_bodies};
static const table_kind contacts_table = {false, contacts_header, append_contacts};
static const table_kind events_table = {false, events_header, append_events};
static const table_kind impulses_table = {false, impulses_header, append_impulses};
static const table_kind joints_table = {false, joints_header, append_joints};
static const table_kind loads_table = {false, loads_header, append_loads};
static const table_kind certificate_table = {false, NULL, append_certificate};

/* ---- all frames ---- */

static rg_status write_frames(rg_recording *recording, const table_kind *table, rg_frame *frame,
                              rg_buffer *text, rg_outlet *out, rg_error *error) {
    rg_recording_info info = rg_recording_get_info(recording);
    rg_status status = RG_OK;
    if (table->header)
        append_text(text, table->header);
    else
        append_certificate_header(text);
    for (size_t i = 0; i < info.frame_count && status == RG_OK; i++) {
        status = rg_recording_read(recording, i, frame, error);
        if (status == RG_OK)
            status = table->append_frame(text, recording, i, frame, error);
        if (status == RG_OK && (text->size >= piece_size || text->failed))
            status = rg_outlet_flush(out, text, error);
    }
    return status == RG_OK ? rg_outlet_flush(out, text, error) : status;
}

static rg_status write_all(rg_recording *recording, const table_kind *table, rg_outlet *out,
                           rg_error *error) {
    const rg_allocator *allocator = rg_recording_allocator(recording);
    size_t bodies = rg_recording_get_info(recording).body_count;
    rg_frame frame = {0};
    if (table->wants_bodies)
        frame = (rg_frame){.position = rg_allocate(allocator, bodies, sizeof(rg_vec3)),
                           .orientation = rg_allocate(allocator, bodies, sizeof(rg_quat)),
                           .velocity = rg_allocate(allocator, bodies, sizeof(rg_vec3)),
                           .angular_velocity = rg_allocate(allocator, bodies, sizeof(rg_vec3))};
    rg_buffer text = rg_buffer_make(allocator);
    rg_status status;
    if (!table->wants_bodies ||
        (frame.position && frame.orientation && frame.velocity && frame.angular_velocity))
        status = write_frames(recording, table, &frame, &text, out, error);
    else
        status = rg_fail(error, RG_OUT_OF_MEMORY, "%s: cannot be written: no memory", out->path);
    rg_buffer_free(&text);
    rg_release(allocator, frame.position);
    rg_release(allocator, frame.orientation);
    rg_release(allocator, frame.velocity);
    rg_release(allocator, frame.angular_velocity);
    return status;
}

static rg_status export_table(rg_recording *recording, const table_kind *table, const rg_disk *disk,
                              const char *path, rg_error *error) {
    assert(recording && path);
    rg_outlet out;
    rg_status status = rg_outlet_open(&out, &recording, 1, disk, path, error);
    if (status != RG_OK)
        return status;
    return rg_outlet_close(&out, write_all(recording, table, &out, error), error);
}

rg_status rg_recording_export_csv_with(rg_recording *recording, const rg_disk *disk,
                                       const char *path, rg_error *error) {
    return export_table(recording, &bodies_table, disk, path, error);
}

rg_status rg_recording_export_csv(rg_recording *recording, const char *path, rg_error *error) {
    return export_table(recording, &bodies_table, NULL, path, error);
}

rg_status rg_recording_export_contacts_csv(rg_recording *recording, const char *path,
                                           rg_error *error) {
    return export_table(recording, &contacts_table, NULL, path, error);
}

rg_status rg_recording_export_certificate_csv(rg_recording *recording, const char *path,
                                              rg_error *error) {
    return export_table(recording, &certificate_table, NULL, path, error);
}

rg_status rg_recording_export_events_csv(rg_recording *recording, const char *path,
                                         rg_error *error) {
    return export_table(recording, &events_table, NULL, path, error);
}

rg_status rg_recording_export_impulses_csv(rg_recording *recording, const char *path,
                                           rg_error *error) {
    return export_table(recording, &impulses_table, NULL, path, error);
}

rg_status rg_recording_export_joints_csv(rg_recording *recording, const char *path,
                                         rg_error *error) {
    return export_table(recording, &joints_table, NULL, path, error);
}

rg_status rg_recording_export_loads_csv(rg_recording *recording, const char *path,
                                        rg_error *error) {
    return export_table(recording, &loads_table, NULL, path, error);
}
