/* What a frame has any number of: see record_rows.h.
 * Tested by tests/record/test_events.c, and test_contacts.c, test_joints.c, test_loads.c there. */
#include "record/record_rows.h"

#include "base/base_math.h"
#include "contact/contact_collision.h"
#include "world/world.h"

#include <string.h>

/* The journal holds copies of them. */
_Static_assert(sizeof(rg_recorded_contact) == 112, "part of the journal's format");
_Static_assert(sizeof(rg_recorded_event) == 56, "part of the journal's format");
_Static_assert(sizeof(rg_recorded_impulse) == 168, "part of the journal's format");
_Static_assert(sizeof(rg_recorded_joint) == 200, "part of the journal's format");
_Static_assert(sizeof(rg_recorded_load) == 88, "part of the journal's format");

static const struct {
    const char *name;
    size_t size;
} kinds[RG_ROWS_COUNT] = {{"contacts", sizeof(rg_recorded_contact)},
                          {"events", sizeof(rg_recorded_event)},
                          {"impulses", sizeof(rg_recorded_impulse)},
                          {"joints", sizeof(rg_recorded_joint)},
                          {"loads", sizeof(rg_recorded_load)}};

const char *rg_rows_name(int rows) {
    return kinds[rows].name;
}

size_t rg_rows_size(int rows) {
    return kinds[rows].size;
}

static bool is_body(uint32_t body, size_t body_count) {
    return body < body_count || body == RG_RECORDED_NONE;
}

bool rg_rows_make_sense(int rows, const void *data, size_t count, size_t body_count) {
    bool good = true;
    for (size_t i = 0; i < count; i++)
        if (rows == RG_ROWS_CONTACTS) {
            const rg_recorded_contact *contact = (const rg_recorded_contact *)data + i;
            good = good && contact->body_a < body_count && contact->body_b < body_count &&
                   contact->mode < RG_MODE_COUNT;
        } else if (rows == RG_ROWS_EVENTS) {
            const rg_recorded_event *event = (const rg_recorded_event *)data + i;
            good = good && is_body(event->body_a, body_count) &&
                   is_body(event->body_b, body_count) && event->kind < RG_STEP_EVENT_KIND_COUNT;
        } else if (rows == RG_ROWS_JOINTS) {
            const rg_recorded_joint *joint = (const rg_recorded_joint *)data + i;
            good = good && joint->joint < count && joint->kind < RG_JOINT_KIND_COUNT &&
                   joint->axes <= RG_JOINT_AXES_MOST && is_body(joint->body_a, body_count) &&
                   is_body(joint->body_b, body_count);
        } else if (rows == RG_ROWS_LOADS) {
            const rg_recorded_load *load = (const rg_recorded_load *)data + i;
            good = good && load->body < body_count && load->kind <= RG_FORCE_KIND_COUNT;
        } else {
            const rg_recorded_impulse *impulse = (const rg_recorded_impulse *)data + i;
            good = good && impulse->body_a < body_count && impulse->body_b < body_count;
        }
    return good;
}

static uint32_t number_of(const rg_world *world, rg_body_id body) {
    return body.index1 && rg_body_exists(world, body)
               ? (uint32_t)rg_body_dense(&world->content, body)
               : RG_RECORDED_NONE;
}

bool rg_rows_contact(const rg_world *world, const rg_contact_force *force,
                     rg_recorded_contact *contact) {
    *contact = (rg_recorded_contact){.body_a = number_of(world, force->body_a),
                                     .body_b = number_of(world, force->body_b),
                                     .position = force->position,
                                     .normal = force->normal,
                                     .force = force->force,
                                     .gap = force->gap,
                                     .friction = force->friction,
                                     .slip_speed = force->slip_speed,
                                     .mode = force->mode};
    return contact->body_a != RG_RECORDED_NONE && contact->body_b != RG_RECORDED_NONE;
}

static bool is_sensor(const rg_world *world, rg_collider_id id) {
    const rg_world_content *c = &world->content;
    return rg_handle_exists(&c->colliders, RG_HANDLE(id)) &&
           c->collider[rg_handle_index(&c->colliders, RG_HANDLE(id))].sensor;
}

/* Where a touch is, and its normal: the first point, or half-way between the bodies. */
static void place_touch(const rg_world *world, const rg_collision_view *view, const rg_touch *touch,
                        rg_recorded_contact *contact) {
    rg_vec3 b = rg_body_pose(world, touch->body_b).position;
    rg_vec3 a = rg_body_pose(world, touch->body_a).position;
    contact->position = rg_scale(0.5, rg_add(a, b));
    contact->normal = (rg_vec3){0, 0, 1};
    for (uint32_t m = 0; m < touch->manifold_count; m++) {
        const rg_manifold *manifold = &view->manifolds[touch->first_manifold + m];
        if (!manifold->point_count)
            continue;
        contact->position = view->points[manifold->first_point].position;
        contact->normal = manifold->normal;
        return;
    }
}

size_t rg_rows_touch_count(const rg_world *world) {
    const rg_collision *collision = rg_world_collision(world);
    return collision && rg_collision_has_sensors(collision)
               ? rg_collision_get(collision).touch_count
               : 0;
}

bool rg_rows_sensor(const rg_world *world, size_t index, rg_recorded_contact *contact) {
    rg_collision_view view = rg_collision_get(rg_world_collision(world));
    const rg_touch *touch = &view.touches[index];
    *contact = (rg_recorded_contact){.body_a = number_of(world, touch->body_a),
                                     .body_b = number_of(world, touch->body_b),
                                     .gap = touch->gap,
                                     .mode = RG_MODE_SENSOR};
    if (!touch->sensor || !touch->touching || contact->body_a == RG_RECORDED_NONE ||
        contact->body_b == RG_RECORDED_NONE)
        return false;
    place_touch(world, &view, touch, contact);
    if (!is_sensor(world, touch->collider_b)) {
        uint32_t sensor = contact->body_a;
        contact->body_a = contact->body_b;
        contact->body_b = sensor;
        contact->normal = rg_neg(contact->normal);
    }
    return true;
}

void rg_rows_append_events(rg_buffer *events, const rg_world *world) {
    size_t kept, count;
    const rg_step_event *happened = rg_world_step_events(world, &kept, &count);
    for (size_t i = 0; i < kept; i++) {
        const rg_step_event *e = &happened[i];
        rg_recorded_event event = {.time = e->time,
                                   .step = rg_world_step_count(world),
                                   .kind = e->kind,
                                   .contacts = e->contacts,
                                   .body_a = number_of(world, e->body_a),
                                   .body_b = number_of(world, e->body_b),
                                   .value = e->value,
                                   .friction = e->friction,
                                   .restitution = e->restitution};
        rg_buffer_append(events, &event, sizeof event);
    }
}

void rg_rows_append_impulses(rg_buffer *impulses, const rg_world *world) {
    size_t kept, count;
    const rg_step_impulse *happened = rg_world_step_impulses(world, &kept, &count);
    for (size_t i = 0; i < kept; i++) {
        const rg_step_impulse *p = &happened[i];
        rg_recorded_impulse impulse = {.time = p->time,
                                       .step = rg_world_step_count(world),
                                       .impact = p->impact,
                                       .round = p->round,
                                       .body_a = number_of(world, p->body_a),
                                       .body_b = number_of(world, p->body_b),
                                       .position = p->position,
                                       .normal = p->normal,
                                       .impulse = p->impulse,
                                       .before = p->before,
                                       .after = p->after,
                                       .friction = p->friction,
                                       .restitution = p->restitution};
        if (impulse.body_a != RG_RECORDED_NONE && impulse.body_b != RG_RECORDED_NONE)
            rg_buffer_append(impulses, &impulse, sizeof impulse);
    }
}

rg_recorded_joint rg_rows_joint(const rg_world *world, size_t index) {
    rg_joint_id id = rg_world_joint_at(world, index);
    rg_joint_def def = rg_joint_get_def(world, id);
    rg_joint_state state = rg_joint_get_state(world, id);
    rg_recorded_joint joint = {.joint = (uint32_t)index,
                               .kind = def.kind,
                               .body_a = number_of(world, def.body_a),
                               .body_b = number_of(world, def.body_b),
                               .axes = (uint32_t)rg_joint_axis_count(def.kind),
                               .broken = state.broken,
                               .point = state.point,
                               .force = state.force,
                               .torque = state.torque,
                               .error = rg_joint_error(world, id)};
    memcpy(&joint.coordinate, state.coordinate, sizeof joint.coordinate);
    memcpy(&joint.velocity, state.velocity, sizeof joint.velocity);
    memcpy(&joint.axis_force, state.axis_force, sizeof joint.axis_force);
    memcpy(&joint.motor_force, state.motor_force, sizeof joint.motor_force);
    return joint;
}

rg_recorded_load rg_rows_load(const rg_world *world, const rg_load *load) {
    rg_handle force = RG_HANDLE(load->force);
    return (rg_recorded_load){
        .force = load->force.index1 ? (uint32_t)rg_handle_index(&world->content.forces, force)
                                    : RG_RECORDED_NONE,
        .kind = load->kind,
        .body = number_of(world, load->body),
        .point = load->point,
        .force_vector = load->vector,
        .torque = load->torque};
}

static void append_joints(rg_buffer *rows, const rg_world *world) {
    for (size_t i = 0; i < rg_world_joint_count(world); i++) {
        rg_recorded_joint joint = rg_rows_joint(world, i);
        rg_buffer_append(rows, &joint, sizeof joint);
    }
}

static void append_loads(rg_buffer *rows, rg_world *world) {
    const rg_load *loads;
    size_t count;
    rg_status status = rg_world_find_loads(world, &loads, &count);
    rows->failed = rows->failed || status == RG_OUT_OF_MEMORY;
    for (size_t i = 0; !status && i < count; i++) {
        rg_recorded_load load = rg_rows_load(world, &loads[i]);
        rg_buffer_append(rows, &load, sizeof load);
    }
}

void rg_rows_append_state(uint64_t set, rg_world *world, rg_buffer rows[RG_ROWS_COUNT]) {
    if (rg_rows_has(set, RG_ROWS_JOINTS))
        append_joints(&rows[RG_ROWS_JOINTS], world);
    if (rg_rows_has(set, RG_ROWS_LOADS))
        append_loads(&rows[RG_ROWS_LOADS], world);
}
