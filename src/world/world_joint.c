/* Joints of a world: adding, changing, removing, and what is asked about them.
 *
 * Every body has a list of its joints through their records, so that whether two bodies are joined
 * costs as many comparisons as one of them has joints.
 * Tested by tests/world/test_joint.c. */
#include "world/world.h"

#include "base/base_text.h"
#include "rigor/version.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static const char *const kind_names[RG_JOINT_KIND_COUNT] = {
    "ball",  "hinge",    "slider",  "universal", "cylindrical", "planar",
    "fixed", "distance", "surface", "gear",      "rack",        "tendon"};
static const char *const motor_names[RG_MOTOR_KIND_COUNT] = {"none", "velocity", "position"};
/* Axes of each kind, and which of them are angles (bits). */
static const uint8_t axis_counts[RG_JOINT_KIND_COUNT] = {0, 1, 1, 2, 2, 3, 0, 1, 1, 0, 0, 1};
static const uint8_t axis_angles[RG_JOINT_KIND_COUNT] = {0, 1, 0, 3, 2, 4, 0, 0, 0, 0, 0, 0};

/* z of a frame of a planar world is along y, or in the plane, up to this. */
#define PLANE_TOLERANCE 1e-9
/* The axes of gears are parallel up to this (rad): what turns them relative to each other is no
 * part of their row. */
#define PARALLEL 1e-3

const char *rg_joint_kind_name(rg_joint_kind kind) {
    return (unsigned)kind < RG_JOINT_KIND_COUNT ? kind_names[kind] : "unknown";
}

const char *rg_motor_kind_name(rg_motor_kind kind) {
    return (unsigned)kind < RG_MOTOR_KIND_COUNT ? motor_names[kind] : "unknown";
}

size_t rg_joint_axis_count(rg_joint_kind kind) {
    return (unsigned)kind < RG_JOINT_KIND_COUNT ? axis_counts[kind] : 0;
}

bool rg_joint_axis_is_angle(rg_joint_kind kind, size_t axis) {
    return (unsigned)kind < RG_JOINT_KIND_COUNT && axis < RG_JOINT_AXES_MOST &&
           (axis_angles[kind] >> axis & 1) != 0;
}

rg_joint_def rg_joint_def_default(rg_joint_kind kind) {
    rg_joint_def def = {.api_version = RG_API_VERSION,
                        .kind = kind,
                        .frame_a = rg_pose_identity(),
                        .frame_b = rg_pose_identity(),
                        .break_force = INFINITY,
                        .break_torque = INFINITY};
    for (size_t i = 0; i < RG_JOINT_AXES_MOST; i++)
        def.axis[i] = (rg_joint_axis){.lower = -INFINITY, .upper = INFINITY, .max_force = INFINITY};
    return def;
}

/* The turn that brings z to a unit vector, by the shortest way. */
static rg_quat turn_to(rg_vec3 z) {
    if (z.z < -1 + 1e-12)
        return rg_quat_make(1, 0, 0, 0);
    return rg_quat_normalised(rg_quat_make(-z.y, z.x, 0, 1 + z.z));
}

static rg_pose pose_of(const rg_world *world, rg_body_id body) {
    return body.index1 ? rg_body_pose(world, body) : rg_pose_identity();
}

rg_status rg_joint_def_place(const rg_world *world, rg_joint_def *def, rg_vec3 point,
                             rg_vec3 axis) {
    if ((def->body_a.index1 && !rg_body_exists(world, def->body_a)) ||
        (def->body_b.index1 && !rg_body_exists(world, def->body_b)))
        return RG_INVALID_HANDLE;
    if (!rg_is_finite(point) || !rg_is_finite(axis))
        return RG_NOT_FINITE;
    if (!(rg_length(axis) > 0))
        return RG_INVALID_ARGUMENT;
    rg_pose frame = rg_pose_make(point, turn_to(rg_normalised(axis)));
    def->frame_a = rg_pose_compose(rg_pose_inverse(pose_of(world, def->body_a)), frame);
    def->frame_b = rg_pose_compose(rg_pose_inverse(pose_of(world, def->body_b)), frame);
    return RG_OK;
}

/* --- checks ----------------------------------------------------------------------------------- */

static rg_status fail_axis(rg_error *error, size_t axis, const char *text) {
    return rg_fail(error, RG_INVALID_ARGUMENT, "joint, axis %zu: %s", axis, text);
}

static rg_status check_axis(const rg_joint_axis *a, size_t i, rg_error *error) {
    const double bounds[] = {a->lower, a->upper, a->max_force}; /* infinite: none */
    const double numbers[] = {a->restitution, a->stiffness, a->damping,
                              a->rest,        a->friction,  a->armature,
                              a->target,      a->gain,      a->gain_velocity};
    char what[64];
    snprintf(what, sizeof what, "joint, axis %zu: one of its numbers", i);
    rg_status status = rg_numbers_check(what, numbers, sizeof numbers / sizeof *numbers, error);
    for (size_t k = 0; k < 3 && !status; k++)
        if (!isinf(bounds[k]))
            status = rg_numbers_check(what, &bounds[k], 1, error);
    if (status)
        return status;
    if (!(a->lower <= a->upper) || a->lower == INFINITY || a->upper == -INFINITY)
        return rg_fail(error, RG_INVALID_ARGUMENT,
                       "joint, axis %zu: limits %g to %g; the lower one must not exceed the upper",
                       i, a->lower, a->upper);
    if (!(a->restitution >= 0 && a->restitution <= 1))
        return fail_axis(error, i, "a restitution outside 0 ... 1");
    if (a->stiffness < 0 || a->damping < 0)
        return fail_axis(error, i,
                         "a negative stiffness or damping would drive instead of holding");
    if (a->friction < 0 || a->armature < 0)
        return fail_axis(error, i, "friction and armature must not be negative");
    if ((unsigned)a->motor >= RG_MOTOR_KIND_COUNT)
        return fail_axis(error, i, "there is no such motor");
    if (a->gain < 0 || a->gain_velocity < 0 || a->max_force < 0)
        return fail_axis(error, i, "gains and the largest force of a motor must not be negative");
    if (a->motor == RG_MOTOR_POSITION && !(a->gain > 0))
        return fail_axis(error, i, "a position motor without gain");
    return RG_OK;
}

static rg_status check_times(const rg_world *world, const rg_joint_def *def, rg_error *error) {
    for (size_t i = 0; i < RG_JOINT_AXES_MOST; i++) {
        double value;
        rg_status status =
            rg_of_time(def->axis[i].target_of_time, world->content.time, &value, error);
        if (status)
            return status;
    }
    return RG_OK;
}

static bool is_plain(const rg_joint_axis *a) {
    rg_joint_axis plain = rg_joint_def_default(RG_JOINT_BALL).axis[0];
    return a->lower == plain.lower && a->upper == plain.upper && a->restitution == 0 &&
           a->stiffness == 0 && a->damping == 0 && a->rest == 0 && a->friction == 0 &&
           a->armature == 0 && a->motor == RG_MOTOR_NONE && a->target == 0 && a->gain == 0 &&
           a->gain_velocity == 0 && a->max_force == plain.max_force && !a->target_of_time;
}

static rg_status check_axes(const rg_joint_def *def, rg_error *error) {
    size_t count = rg_joint_axis_count(def->kind);
    rg_status status = RG_OK;
    for (size_t i = 0; i < RG_JOINT_AXES_MOST && !status; i++) {
        if (i >= count && !is_plain(&def->axis[i]))
            return rg_fail(error, RG_INVALID_ARGUMENT, "joint, axis %zu: a %s joint has %zu axes",
                           i, rg_joint_kind_name(def->kind), count);
        status = check_axis(&def->axis[i], i, error);
    }
    if (!status && def->kind == RG_JOINT_DISTANCE && !(def->axis[0].upper >= 0))
        return rg_fail(error, RG_INVALID_ARGUMENT, "joint: a distance of %g m at most",
                       def->axis[0].upper);
    return status;
}

static rg_status check_surface(const rg_joint_def *def, rg_error *error) {
    const rg_quadric *s = &def->surface;
    const rg_joint_axis *a = &def->axis[0];
    const double numbers[] = {s->square.x, s->square.y, s->square.z, s->linear.x,
                              s->linear.y, s->linear.z, s->constant};
    rg_status status = rg_numbers_check("joint: one of the numbers of its surface", numbers,
                                        sizeof numbers / sizeof *numbers, error);
    if (status)
        return status;
    if (rg_largest_entry(s->square) == 0 && rg_largest_entry(s->linear) == 0)
        return rg_fail(error, RG_INVALID_ARGUMENT,
                       "joint: a surface needs squares or linear terms, such as square: "
                       "[1, 1, 1], constant: -1 for a sphere");
    bool below = a->lower == 0 || a->lower == -INFINITY,
         above = a->upper == 0 || a->upper == INFINITY;
    if (!below || !above || (a->lower != 0 && a->upper != 0))
        return rg_fail(error, RG_INVALID_ARGUMENT,
                       "joint: a point is on a surface (lower: 0, upper: 0), outside (lower: 0) or "
                       "inside (upper: 0)");
    if (a->stiffness > 0 || a->damping > 0 || a->friction > 0 || a->armature > 0 ||
        a->motor != RG_MOTOR_NONE)
        return rg_fail(error, RG_INVALID_ARGUMENT,
                       "joint: a point on a surface has limits alone, no spring or motor");
    return RG_OK;
}

static rg_status check_ratio(const rg_joint_def *def, rg_error *error) {
    rg_status status = rg_numbers_check("joint: its ratio", &def->ratio, 1, error);
    if (status)
        return status;
    if (def->ratio == 0 || (def->kind == RG_JOINT_GEAR && def->ratio == -1))
        return rg_fail(error, RG_INVALID_ARGUMENT, "joint: a %s needs a ratio, other than 0%s",
                       rg_joint_kind_name(def->kind), def->kind == RG_JOINT_GEAR ? " and -1" : "");
    return RG_OK;
}

/* What the kinds without an axis that is free ask for. */
static rg_status check_kind(const rg_joint_def *def, rg_error *error) {
    if (def->kind == RG_JOINT_SURFACE)
        return check_surface(def, error);
    if (def->kind == RG_JOINT_GEAR || def->kind == RG_JOINT_RACK)
        return check_ratio(def, error);
    return RG_OK;
}

static rg_status check_frame(rg_pose *frame, const char *which, rg_error *error) {
    if (!rg_pose_is_finite(*frame))
        return rg_fail(error, RG_NOT_FINITE, "joint: frame %s is not finite", which);
    rg_status status = rg_vector_check("joint: one of its points", frame->position, error);
    if (status)
        return status;
    double norm = rg_quat_norm_squared(frame->orientation);
    if (!(fabs(norm - 1) <= RG_QUATERNION_TOLERANCE))
        return rg_fail(error, RG_INVALID_ARGUMENT,
                       "joint: the orientation of frame %s is not a unit quaternion", which);
    frame->orientation = rg_quat_made_unit(frame->orientation);
    return RG_OK;
}

static rg_status check_plane(const rg_joint_def *def, rg_error *error) {
    static const bool possible[RG_JOINT_KIND_COUNT] = {
        [RG_JOINT_HINGE] = true,    [RG_JOINT_SLIDER] = true,  [RG_JOINT_FIXED] = true,
        [RG_JOINT_DISTANCE] = true, [RG_JOINT_SURFACE] = true, [RG_JOINT_GEAR] = true,
        [RG_JOINT_RACK] = true,     [RG_JOINT_TENDON] = true};
    if (!possible[def->kind])
        return rg_fail(error, RG_INVALID_ARGUMENT,
                       "joint: a planar world has no %s joints, but hinge, slider, fixed, "
                       "distance, surface, gear, rack and tendon",
                       rg_joint_kind_name(def->kind));
    bool turns =
        def->kind == RG_JOINT_HINGE || def->kind == RG_JOINT_GEAR || def->kind == RG_JOINT_RACK;
    const rg_pose *frames[2] = {&def->frame_a, &def->frame_b};
    for (int k = 0; k < 2; k++) {
        double y = rg_rotate(frames[k]->orientation, rg_vec3_make(0, 0, 1)).y;
        if (turns && !(fabs(y) >= 1 - PLANE_TOLERANCE))
            return rg_fail(error, RG_INVALID_ARGUMENT,
                           "joint: the axis of a %s of a planar world is y",
                           rg_joint_kind_name(def->kind));
        if (def->kind == RG_JOINT_SLIDER && !(fabs(y) <= PLANE_TOLERANCE))
            return rg_fail(error, RG_INVALID_ARGUMENT,
                           "joint: the axis of a slider of a planar world lies in its plane x-z");
    }
    return RG_OK;
}

static rg_status check_part(const rg_world *world, const rg_tendon_part *part, rg_error *error) {
    if (!rg_joint_exists(world, part->joint))
        return rg_fail(error, RG_INVALID_HANDLE, "joint: a tendon of a joint that does not exist");
    rg_joint_kind kind = rg_joint_get_def(world, part->joint).kind;
    if (kind == RG_JOINT_TENDON)
        return rg_fail(error, RG_INVALID_ARGUMENT, "joint: a tendon of a tendon; name its joints");
    if (part->axis >= rg_joint_axis_count(kind))
        return rg_fail(error, RG_INVALID_ARGUMENT,
                       "joint: a tendon of axis %zu of a %s joint, which has %zu", part->axis,
                       rg_joint_kind_name(kind), rg_joint_axis_count(kind));
    rg_status status =
        rg_numbers_check("joint: a coefficient of a tendon", &part->coefficient, 1, error);
    if (status)
        return status;
    if (part->coefficient == 0)
        return rg_fail(error, RG_INVALID_ARGUMENT, "joint: a coefficient of a tendon is 0");
    return RG_OK;
}

static rg_status check_tendon(const rg_world *world, const rg_joint_def *def, rg_error *error) {
    rg_status status = RG_OK;
    if (def->body_a.index1 || def->body_b.index1)
        return rg_fail(error, RG_INVALID_ARGUMENT,
                       "joint: a tendon has joints, no bodies of its own");
    if (def->part_count == 0 || def->part_count > RG_TENDON_PARTS_MOST)
        return rg_fail(error, RG_INVALID_ARGUMENT, "joint: a tendon of %zu axes; it has 1 to %d",
                       def->part_count, RG_TENDON_PARTS_MOST);
    if (isfinite(def->break_force) || isfinite(def->break_torque))
        return rg_fail(error, RG_INVALID_ARGUMENT, "joint: a tendon does not break");
    for (size_t i = 0; i < def->part_count && !status; i++)
        status = check_part(world, &def->part[i], error);
    return status;
}

static rg_status check_bodies(const rg_world *world, const rg_joint_def *def, rg_error *error) {
    if (def->kind == RG_JOINT_TENDON)
        return check_tendon(world, def, error);
    if (def->part_count > 0)
        return rg_fail(error, RG_INVALID_ARGUMENT,
                       "joint: a %s joint sums no others, a tendon does",
                       rg_joint_kind_name(def->kind));
    if ((def->body_a.index1 && !rg_body_exists(world, def->body_a)) ||
        (def->body_b.index1 && !rg_body_exists(world, def->body_b)))
        return rg_fail(error, RG_INVALID_HANDLE, "joint: it names a body that does not exist");
    if (!def->body_a.index1 && !def->body_b.index1)
        return rg_fail(error, RG_INVALID_ARGUMENT,
                       "joint: it joins the world with itself; give at least one body");
    if (def->body_a.index1 == def->body_b.index1)
        return rg_fail(error, RG_INVALID_ARGUMENT, "joint: it joins a body with itself");
    return RG_OK;
}

/* Gears as they stand: axes parallel, and for a pair of them centres apart. */
static rg_status check_gears(const rg_world *world, const rg_joint_def *def, rg_error *error) {
    if (def->kind != RG_JOINT_GEAR && def->kind != RG_JOINT_RACK)
        return RG_OK;
    rg_pose a = rg_pose_compose(pose_of(world, def->body_a), def->frame_a);
    rg_pose b = rg_pose_compose(pose_of(world, def->body_b), def->frame_b);
    rg_vec3 z = rg_rotate(a.orientation, rg_vec3_make(0, 0, 1));
    rg_vec3 across = rg_cross(z, rg_sub(b.position, a.position));
    double off = rg_length(rg_sub(z, rg_rotate(b.orientation, rg_vec3_make(0, 0, 1))));
    if (!(off <= PARALLEL))
        return rg_fail(error, RG_INVALID_ARGUMENT,
                       "joint: the axes of a %s, z of both frames, must be parallel",
                       rg_joint_kind_name(def->kind));
    if (def->kind == RG_JOINT_GEAR && !(rg_length(across) > 0))
        return rg_fail(error, RG_INVALID_ARGUMENT,
                       "joint: both gears have the same axis; their frames are at their centres");
    return RG_OK;
}

static rg_status check_joint(const rg_world *world, rg_joint_def *def, rg_error *error) {
    rg_status status = rg_check_version(def->api_version, "rg_joint_def", error);
    if (status)
        return status;
    if ((unsigned)def->kind >= RG_JOINT_KIND_COUNT)
        return rg_fail(error, RG_INVALID_ARGUMENT, "joint: there is no kind %d", (int)def->kind);
    status = check_bodies(world, def, error);
    if (!status)
        status = check_frame(&def->frame_a, "A", error);
    if (!status)
        status = check_frame(&def->frame_b, "B", error);
    if (!status)
        status = check_axes(def, error);
    if (!status)
        status = check_kind(def, error);
    if (!status)
        status = check_times(world, def, error);
    if (!status && world->content.planar)
        status = check_plane(def, error);
    if (!status)
        status = check_gears(world, def, error);
    if (status)
        return status;
    if (!(def->break_force > 0 && def->break_torque > 0))
        return rg_fail(error, RG_INVALID_ARGUMENT,
                       "joint: it breaks at %g N and %g N m; both must be positive",
                       def->break_force, def->break_torque);
    rg_joint_id taken;
    if (def->name && *def->name && rg_world_find_joint(world, def->name, &taken) == RG_OK)
        return rg_fail(error, RG_DUPLICATE_NAME, "joint: the name \"%s\" is taken", def->name);
    return RG_OK;
}

/* --- lists ------------------------------------------------------------------------------------ */

/* Puts joint `slot1` at the beginning of the lists of its bodies. */
static void enter_lists(rg_world_content *c, uint32_t slot1) {
    rg_joint_record *joint = &c->joint[c->joints.slots[slot1 - 1].dense];
    const rg_body_id bodies[2] = {joint->def.body_a, joint->def.body_b};
    for (int side = 0; side < 2; side++) {
        joint->next1[side] = 0;
        if (!bodies[side].index1)
            continue;
        rg_body_record *body = &c->record[rg_body_dense(c, bodies[side])];
        joint->next1[side] = body->first_joint1;
        body->first_joint1 = slot1;
    }
}

static void leave_list(rg_world_content *c, rg_body_id body, uint32_t slot1) {
    if (!body.index1)
        return;
    uint32_t *at = &c->record[rg_body_dense(c, body)].first_joint1;
    while (*at) {
        rg_joint_record *joint = &c->joint[c->joints.slots[*at - 1].dense];
        uint32_t *next = &joint->next1[joint->def.body_a.index1 == body.index1 ? 0 : 1];
        if (*at == slot1) {
            *at = *next;
            return;
        }
        at = next;
    }
}

bool rg_joints_part(const rg_world_content *c, size_t a, size_t b) {
    rg_body_id first = rg_body_id_at(c, a), second = rg_body_id_at(c, b);
    uint32_t slot1 = c->record[a].first_joint1;
    while (slot1) {
        size_t i = c->joints.slots[slot1 - 1].dense;
        const rg_joint_record *joint = &c->joint[i];
        bool is_a = joint->def.body_a.index1 == first.index1;
        rg_body_id other = is_a ? joint->def.body_b : joint->def.body_a;
        if (other.index1 == second.index1 && !joint->def.collide &&
            rg_joint_memories(c)[i].broken == 0)
            return true;
        slot1 = joint->next1[is_a ? 0 : 1];
    }
    return false;
}

bool rg_joint_is_off(const rg_world_content *c, size_t joint) {
    const rg_joint_def *def = &c->joint[joint].def;
    bool off = rg_joint_memories(c)[joint].broken != 0;
    for (size_t k = 0; k < def->part_count && !off; k++)
        off = rg_joint_memories(c)[rg_joint_dense(c, def->part[k].joint)].broken != 0;
    return off;
}

/* --- adding and removing ---------------------------------------------------------------------- */

static void start_memory(rg_world_content *c, size_t i) {
    rg_joint_memory *memory = &rg_joint_memories(c)[i];
    *memory = (rg_joint_memory){0};
    rg_joint_look look;
    rg_joint_look_at(c, i, (rg_body_places){c->position, c->orientation}, &look);
    memcpy(memory->coordinate, look.keep, sizeof memory->coordinate);
    if (c->joint[i].def.kind == RG_JOINT_GEAR || c->joint[i].def.kind == RG_JOINT_RACK)
        memory->coordinate[RG_JOINT_AXES_MOST - 1] = look.phase;
}

rg_status rg_world_add_joint(rg_world *world, const rg_joint_def *given, rg_joint_id *joint,
                             rg_error *error) {
    assert(world && given && joint);
    *joint = (rg_joint_id){0, 0};
    rg_world_content *c = &world->content;
    rg_joint_def def = *given;
    rg_status status = check_joint(world, &def, error);
    if (status)
        return status;
    if (def.name && !*def.name)
        def.name = NULL;
    status = rg_world_begin_edit(world);
    if (status)
        return rg_fail(error, status, "joint: %s", rg_status_text(status));
    size_t count = c->joints.count;
    rg_handle handle;
    status = rg_joint_own_texts(&def, &world->allocator);
    if (!status)
        status = rg_array_grow(&world->allocator, &c->joint, &c->joint_capacity, count + 1);
    size_t bytes = (count + 1) * sizeof(rg_joint_memory);
    if (!status && !rg_memory_reserve(world, RG_MEMORY_JOINTS, bytes))
        status = RG_OUT_OF_MEMORY;
    if (!status)
        status = rg_handle_add(&c->joints, &world->allocator, &handle);
    if (status) {
        rg_joint_free_texts(&def, &world->allocator);
        rg_world_cancel_edit(world);
        return rg_fail(error, status, "joint: %s", rg_status_text(status));
    }
    rg_memory_resize(world, RG_MEMORY_JOINTS, bytes);
    c->joint[count] = (rg_joint_record){.def = def};
    enter_lists(c, handle.index1);
    start_memory(c, count);
    *joint = (rg_joint_id){handle.index1, handle.generation};
    return RG_OK;
}

static void remove_joint(rg_world *world, rg_handle handle) {
    rg_world_content *c = &world->content;
    size_t i = rg_handle_index(&c->joints, handle), hole, last;
    rg_joint_def *def = &c->joint[i].def;
    leave_list(c, def->body_a, handle.index1);
    leave_list(c, def->body_b, handle.index1);
    rg_joint_free_texts(def, &world->allocator);
    rg_handle_remove(&c->joints, handle, &hole, &last);
    c->joint[hole] = c->joint[last];
    rg_joint_memories(c)[hole] = rg_joint_memories(c)[last];
    rg_memory_resize(world, RG_MEMORY_JOINTS, c->joints.count * sizeof(rg_joint_memory));
}

static bool sums_joint(const rg_joint_def *def, uint32_t index1) {
    for (size_t k = 0; k < def->part_count; k++)
        if (def->part[k].joint.index1 == index1)
            return true;
    return false;
}

/* With the tendons that sum an axis of it. */
static void remove_with_tendons(rg_world *world, rg_handle handle) {
    const rg_world_content *c = &world->content;
    for (size_t i = c->joints.count; i-- > 0;)
        if (sums_joint(&c->joint[i].def, handle.index1))
            remove_joint(world, rg_handle_at(&c->joints, i));
    remove_joint(world, handle);
}

rg_status rg_world_remove_joint(rg_world *world, rg_joint_id joint) {
    rg_status status = rg_world_begin_edit_of(world, rg_joint_exists(world, joint));
    if (!status)
        remove_with_tendons(world, RG_HANDLE(joint));
    return status;
}

void rg_joints_forget_body(rg_world *world, rg_body_id body) {
    rg_world_content *c = &world->content;
    uint32_t slot1;
    while ((slot1 = c->record[rg_body_dense(c, body)].first_joint1) != 0)
        remove_with_tendons(world, (rg_handle){slot1, c->joints.slots[slot1 - 1].generation});
}

/* --- asking and changing ---------------------------------------------------------------------- */

bool rg_joint_exists(const rg_world *world, rg_joint_id joint) {
    return rg_handle_exists(&world->content.joints, RG_HANDLE(joint));
}

size_t rg_world_joint_count(const rg_world *world) {
    return world->content.joints.count;
}

rg_joint_id rg_world_joint_at(const rg_world *world, size_t index) {
    rg_handle handle = rg_handle_at(&world->content.joints, index);
    return (rg_joint_id){handle.index1, handle.generation};
}

rg_status rg_world_find_joint(const rg_world *world, const char *name, rg_joint_id *joint) {
    const rg_world_content *c = &world->content;
    for (size_t i = 0; i < c->joints.count; i++)
        if (c->joint[i].def.name && strcmp(c->joint[i].def.name, name) == 0) {
            *joint = rg_world_joint_at(world, i);
            return RG_OK;
        }
    return RG_NOT_FOUND;
}

static size_t dense_of(const rg_world *world, rg_joint_id joint) {
    return rg_handle_index(&world->content.joints, RG_HANDLE(joint));
}

rg_joint_def rg_joint_get_def(const rg_world *world, rg_joint_id joint) {
    return world->content.joint[dense_of(world, joint)].def;
}

rg_status rg_joint_set_axis(rg_world *world, rg_joint_id joint, size_t axis,
                            const rg_joint_axis *value, rg_error *error) {
    if (!rg_joint_exists(world, joint))
        return rg_fail(error, RG_INVALID_HANDLE, "joint: it does not exist");
    rg_joint_record *record = &world->content.joint[dense_of(world, joint)];
    rg_joint_def def = record->def;
    if (axis >= rg_joint_axis_count(def.kind))
        return rg_fail(error, RG_INVALID_ARGUMENT, "joint, axis %zu: a %s joint has %zu axes", axis,
                       rg_joint_kind_name(def.kind), rg_joint_axis_count(def.kind));
    def.axis[axis] = *value;
    rg_status status = check_axes(&def, error);
    if (!status)
        status = check_kind(&def, error);
    if (!status)
        status = check_times(world, &def, error);
    if (status)
        return status;
    status = rg_world_begin_edit(world);
    if (status)
        return rg_fail(error, status, "joint: %s", rg_status_text(status));
    char *text = NULL;
    if (value->target_of_time && !(text = rg_copy_text(&world->allocator, value->target_of_time))) {
        rg_world_cancel_edit(world);
        return rg_fail(error, RG_OUT_OF_MEMORY, "joint: %s", rg_status_text(RG_OUT_OF_MEMORY));
    }
    rg_release(&world->allocator, (char *)record->def.axis[axis].target_of_time);
    record->def.axis[axis] = *value;
    record->def.axis[axis].target_of_time = text;
    return RG_OK;
}

rg_status rg_joint_set_target(rg_world *world, rg_joint_id joint, size_t axis, double target) {
    if (!rg_joint_exists(world, joint))
        return RG_INVALID_HANDLE;
    rg_joint_record *record = &world->content.joint[dense_of(world, joint)];
    rg_status status = rg_numbers_check("target", &target, 1, NULL);
    if (status)
        return status;
    if (axis >= rg_joint_axis_count(record->def.kind))
        return RG_INVALID_ARGUMENT;
    status = rg_world_begin_edit(world);
    if (status)
        return status;
    rg_release(&world->allocator, (char *)record->def.axis[axis].target_of_time);
    record->def.axis[axis].target_of_time = NULL;
    record->def.axis[axis].target = target;
    return RG_OK;
}

rg_status rg_joint_set_broken(rg_world *world, rg_joint_id joint, bool broken) {
    rg_status status = rg_world_begin_edit_of(world, rg_joint_exists(world, joint));
    if (status)
        return status;
    size_t i = dense_of(world, joint);
    start_memory(&world->content, i);
    rg_joint_memories(&world->content)[i].broken = broken;
    return RG_OK;
}

/* m/s, rad/s: of B relative to A. */
static double rate_of(const rg_world_content *c, const rg_joint_look *look,
                      const rg_joint_direction *d) {
    double sum = 0;
    for (int side = 0; side < 2; side++) {
        uint32_t body = look->body[side];
        if (body == UINT32_MAX)
            continue;
        rg_vec3 w = c->angular_velocity[body];
        rg_vec3 arm = rg_sub(look->point, c->position[body]);
        rg_vec3 v = d->turns ? w : rg_add(c->velocity[body], rg_cross(w, arm));
        sum += (side == 0 ? -1 : 1) * rg_dot(d->direction, v);
    }
    return sum;
}

static double tendon_rate(const rg_world_content *c, const rg_joint_def *def) {
    double sum = 0;
    for (size_t k = 0; k < def->part_count; k++) {
        const rg_tendon_part *part = &def->part[k];
        rg_joint_look look;
        rg_joint_look_at(c, rg_joint_dense(c, part->joint),
                         (rg_body_places){c->position, c->orientation}, &look);
        sum += part->coefficient * rate_of(c, &look, &look.axis[part->axis]);
    }
    return sum;
}

rg_joint_state rg_joint_get_state(const rg_world *world, rg_joint_id joint) {
    const rg_world_content *c = &world->content;
    size_t i = dense_of(world, joint);
    const rg_joint_memory *memory = &rg_joint_memories(c)[i];
    rg_joint_look look;
    rg_joint_look_at(c, i, (rg_body_places){c->position, c->orientation}, &look);
    rg_joint_state state = {.broken = memory->broken != 0,
                            .point = look.point,
                            .force = memory->force,
                            .torque = memory->torque};
    for (size_t k = 0; k < look.axes; k++) {
        const double *impulse = memory->impulse + RG_JOINT_LOCKED + k * RG_JOINT_PARTS;
        double sum = 0;
        for (int part = 0; part < RG_JOINT_PARTS; part++)
            sum += impulse[part];
        state.coordinate[k] = look.axis[k].value;
        state.velocity[k] = c->joint[i].def.kind == RG_JOINT_TENDON
                                ? tendon_rate(c, &c->joint[i].def)
                                : rate_of(c, &look, &look.axis[k]);
        state.axis_force[k] = memory->step > 0 ? sum / memory->step : 0;
        state.motor_force[k] = memory->step > 0 ? impulse[RG_JOINT_MOTOR] / memory->step : 0;
    }
    return state;
}

double rg_joint_error(const rg_world *world, rg_joint_id joint) {
    const rg_world_content *c = &world->content;
    rg_joint_look look;
    rg_joint_look_at(c, dense_of(world, joint), (rg_body_places){c->position, c->orientation},
                     &look);
    double along = 0, about = 0;
    for (size_t k = 0; k < look.locked; k++) {
        double x = look.lock[k].value;
        *(look.lock[k].turns ? &about : &along) += x * x;
    }
    return sqrt(along) + sqrt(about);
}
