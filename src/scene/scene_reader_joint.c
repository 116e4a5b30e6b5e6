/* Joints of scene files: a point and an axis in the world, or a frame on each body.
 * Tested by tests/scene/test_writer.c and test_broken.c. */
#include "scene/scene_reader.h"

#include "base/base_math.h"

#include <string.h>

/* m and rad: farther apart the points or axes of a joint are a mistake of the scene. */
#define APART 1e-6

typedef struct copy {
    const rg_repeat *repeat;
    const uint64_t *index;
} copy;

static rg_status read_number_key(rg_reader *reader, const rg_place *place, double *value) {
    return rg_given(place) ? rg_read_number(reader, place, value) : RG_OK;
}

static rg_status read_vector_key(rg_reader *reader, const rg_place *place, rg_vec3 *value) {
    return rg_given(place) ? rg_read_vector(reader, place, value) : RG_OK;
}

/* --- axes ------------------------------------------------------------------------------------- */

static rg_status read_motor(rg_reader *reader, const rg_place *place, size_t slot,
                            rg_joint_axis *axis) {
    rg_place v[RG_MAX_KEYS];
    rg_status status = rg_read_keys(reader, place, &rg_keys_joint_motor, v);
    if (status != RG_OK)
        return status;
    bool by_velocity = rg_given(&v[JOINT_MOTOR_VELOCITY]),
         by_position = rg_given(&v[JOINT_MOTOR_POSITION]);
    if (by_velocity == by_position)
        return rg_place_fail(reader, place, RG_INVALID_ARGUMENT,
                             "a motor needs a velocity or a position, and not both");
    if (by_position && !rg_given(&v[JOINT_MOTOR_GAIN]))
        return rg_place_fail(reader, place, RG_NOT_FOUND,
                             "a position motor needs a gain, in N/m or N m/rad; write gain: 1000");
    axis->motor = by_velocity ? RG_MOTOR_VELOCITY : RG_MOTOR_POSITION;
    status = rg_read_number_of_time(reader,
                                    &v[by_velocity ? JOINT_MOTOR_VELOCITY : JOINT_MOTOR_POSITION],
                                    slot, &axis->target, &axis->target_of_time);
    if (status == RG_OK)
        status = rg_read_coefficient(reader, &v[JOINT_MOTOR_GAIN], "a gain", &axis->gain);
    if (status == RG_OK)
        status = rg_read_coefficient(reader, &v[JOINT_MOTOR_GAIN_VELOCITY], "a gain",
                                     &axis->gain_velocity);
    if (status == RG_OK)
        status = rg_read_coefficient(reader, &v[JOINT_MOTOR_MAX_FORCE], "a largest force",
                                     &axis->max_force);
    return status;
}

static rg_status read_axis(rg_reader *reader, const rg_place *place, size_t slot,
                           rg_joint_axis *axis) {
    rg_place v[RG_MAX_KEYS];
    rg_status status = rg_read_keys(reader, place, &rg_keys_joint_axis, v);
    if (status == RG_OK)
        status = read_number_key(reader, &v[JOINT_AXIS_LOWER], &axis->lower);
    if (status == RG_OK)
        status = read_number_key(reader, &v[JOINT_AXIS_UPPER], &axis->upper);
    if (status == RG_OK && axis->lower > axis->upper)
        return rg_place_fail(reader, &v[JOINT_AXIS_UPPER], RG_INVALID_ARGUMENT,
                             "the upper limit is below the lower one; exchange them");
    const rg_number_key sizes[] = {{JOINT_AXIS_RESTITUTION, "a restitution", &axis->restitution},
                                   {JOINT_AXIS_STIFFNESS, "a stiffness", &axis->stiffness},
                                   {JOINT_AXIS_DAMPING, "a damping", &axis->damping},
                                   {JOINT_AXIS_FRICTION, "a friction", &axis->friction},
                                   {JOINT_AXIS_ARMATURE, "an armature", &axis->armature}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && status == RG_OK; i++)
        status = rg_read_coefficient(reader, &v[sizes[i].key], sizes[i].what, sizes[i].value);
    if (status == RG_OK && axis->restitution > 1)
        return rg_place_fail(reader, &v[JOINT_AXIS_RESTITUTION], RG_INVALID_ARGUMENT,
                             "a restitution is at most 1");
    if (status == RG_OK)
        status = read_number_key(reader, &v[JOINT_AXIS_REST], &axis->rest);
    if (status == RG_OK && rg_given(&v[JOINT_AXIS_MOTOR]))
        status = read_motor(reader, &v[JOINT_AXIS_MOTOR], slot, axis);
    return status;
}

/* One mapping for the first axis, or a list. */
static rg_status read_axes(rg_reader *reader, const rg_place *place, rg_joint_def *def) {
    size_t most = rg_joint_axis_count(def->kind),
           count = rg_is_list(place) ? rg_list_size(place) : 1;
    if (count > most)
        return rg_place_fail(reader, place, RG_INVALID_ARGUMENT, "%zu axes; a %s joint has %zu",
                             count, rg_joint_kind_name(def->kind), most);
    if (!rg_is_list(place))
        return read_axis(reader, place, 0, &def->axis[0]);
    rg_status status = RG_OK;
    for (size_t i = 0; i < count && rg_recover(reader, &status); i++) {
        rg_place one = rg_list_at(reader, place, i);
        status = read_axis(reader, &one, i, &def->axis[i]);
    }
    return status;
}

/* --- bodies and frames ------------------------------------------------------------------------ */

static rg_status read_end(rg_reader *reader, const rg_place *place, const copy *c,
                          rg_body_id *body) {
    const char *name;
    rg_status status = rg_read_text(reader, place, &name);
    if (status != RG_OK || strcmp(name, "world") == 0)
        return status;
    return rg_read_body_name(reader, place, c->repeat, c->index, body);
}

static rg_status read_bodies(rg_reader *reader, const rg_place *entry, const rg_place *place,
                             const copy *c, rg_joint_def *def) {
    if (!rg_given(place))
        return rg_place_fail(reader, entry, RG_NOT_FOUND,
                             "a joint needs two bodies; write bodies: [door, world]");
    rg_status status = rg_require_list(reader, place, "two names, such as [door, world]");
    if (status != RG_OK)
        return status;
    if (rg_list_size(place) != 2)
        return rg_place_fail(reader, place, RG_INVALID_ARGUMENT,
                             "%zu name%s; a joint has two bodies, such as [door, world]",
                             rg_list_size(place), rg_list_size(place) == 1 ? "" : "s");
    rg_place one = rg_list_at(reader, place, 0), other = rg_list_at(reader, place, 1);
    size_t failures = reader->mistakes.failures;
    status = read_end(reader, &one, c, &def->body_a);
    if (rg_recover(reader, &status))
        status = read_end(reader, &other, c, &def->body_b);
    if (status == RG_OK && failures == reader->mistakes.failures &&
        def->body_a.index1 == def->body_b.index1)
        return rg_place_fail(reader, place, RG_INVALID_ARGUMENT,
                             def->body_a.index1
                                 ? "a joint of a body with itself; name another body, or world"
                                 : "a joint of the world with itself; name at least one body");
    return status;
}

static rg_status read_frame(rg_reader *reader, const rg_place *place, rg_pose *frame) {
    rg_place v[RG_MAX_KEYS];
    rg_status status = rg_read_keys(reader, place, &rg_keys_joint_frame, v);
    if (status == RG_OK)
        status = read_vector_key(reader, &v[JOINT_FRAME_POSITION], &frame->position);
    if (status == RG_OK && rg_given(&v[JOINT_FRAME_ORIENTATION]))
        status = rg_read_orientation(reader, &v[JOINT_FRAME_ORIENTATION], &frame->orientation);
    return status;
}

static rg_status read_frames(rg_reader *reader, const rg_place *entry, const rg_place *v,
                             rg_joint_def *def) {
    bool frames = rg_given(&v[JOINT_FRAME_A]) || rg_given(&v[JOINT_FRAME_B]);
    if (frames && rg_given(&v[JOINT_POINT]))
        return rg_place_fail(reader, &v[JOINT_POINT], RG_INVALID_ARGUMENT,
                             "the joint has frames of its bodies too; keep the point or frame_a "
                             "and frame_b");
    if (!frames && !rg_given(&v[JOINT_POINT]))
        return rg_place_fail(reader, entry, RG_NOT_FOUND,
                             "a joint needs its place; write point: [x, y, z], in the world, or "
                             "frames on its bodies (frame_a, frame_b)");
    rg_status status = RG_OK;
    if (frames) {
        if (rg_given(&v[JOINT_FRAME_A]))
            status = read_frame(reader, &v[JOINT_FRAME_A], &def->frame_a);
        if (status == RG_OK && rg_given(&v[JOINT_FRAME_B]))
            status = read_frame(reader, &v[JOINT_FRAME_B], &def->frame_b);
        return status;
    }
    rg_vec3 point = {0, 0, 0}, axis = {0, 0, 1};
    status = rg_read_vector(reader, &v[JOINT_POINT], &point);
    if (status == RG_OK && rg_given(&v[JOINT_AXIS]))
        status = rg_read_vector(reader, &v[JOINT_AXIS], &axis);
    if (status != RG_OK)
        return status;
    if (!(rg_length(axis) > 0))
        return rg_place_fail(reader, &v[JOINT_AXIS], RG_INVALID_ARGUMENT,
                             "an axis of length 0 has no direction; write for example [0, 0, 1]");
    if (reader->planar &&
        (def->kind == RG_JOINT_HINGE || def->kind == RG_JOINT_GEAR || def->kind == RG_JOINT_RACK)) {
        if (rg_given(&v[JOINT_AXIS]))
            return rg_place_fail(reader, &v[JOINT_AXIS], RG_INVALID_ARGUMENT,
                                 "the hinges of a planar scene turn in its plane; remove the axis");
        axis = rg_vec3_make(0, 1, 0);
    }
    return rg_joint_def_place(reader->world, def, point, axis);
}

/* --- tendons ---------------------------------------------------------------------------------- */

static rg_status read_part(rg_reader *reader, const rg_place *place, const copy *c,
                           rg_tendon_part *part) {
    rg_place v[RG_MAX_KEYS];
    const char *written, *name;
    double axis = 0;
    rg_status status = rg_read_keys(reader, place, &rg_keys_joint_sum, v);
    if (status != RG_OK)
        return status;
    if (!rg_given(&v[JOINT_SUM_JOINT]) || !rg_given(&v[JOINT_SUM_COEFFICIENT]))
        return rg_place_fail(reader, place, RG_NOT_FOUND,
                             "needs a joint and a coefficient, such as {joint: knee, "
                             "coefficient: 0.02}");
    status = rg_read_text(reader, &v[JOINT_SUM_JOINT], &written);
    if (status == RG_OK)
        status = rg_expand_name(reader, &v[JOINT_SUM_JOINT], written, c->repeat, c->index, &name);
    if (status == RG_OK && rg_world_find_joint(reader->world, name, &part->joint) != RG_OK)
        return rg_place_fail(reader, &v[JOINT_SUM_JOINT], RG_NOT_FOUND,
                             "there is no joint \"%.100s\" before the tendon", name);
    if (status == RG_OK)
        status = rg_read_number(reader, &v[JOINT_SUM_COEFFICIENT], &part->coefficient);
    if (status == RG_OK)
        status = read_number_key(reader, &v[JOINT_SUM_AXIS], &axis);
    if (status == RG_OK && !(axis >= 0 && axis < RG_JOINT_AXES_MOST && axis == floor(axis)))
        return rg_place_fail(reader, &v[JOINT_SUM_AXIS], RG_INVALID_ARGUMENT,
                             "axes are counted 0, 1, 2");
    part->axis = (size_t)axis;
    return status;
}

/* What a tendon sums; it has nothing else that says where it is. */
static rg_status read_sum(rg_reader *reader, const rg_place *entry, const rg_place *v,
                          const copy *c, rg_joint_def *def) {
    static const int others[] = {JOINT_BODIES,  JOINT_POINT,       JOINT_AXIS,
                                 JOINT_FRAME_A, JOINT_FRAME_B,     JOINT_COLLIDE,
                                 JOINT_RATIO,   JOINT_BREAK_FORCE, JOINT_BREAK_TORQUE};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (rg_given(&v[others[i]]))
            return rg_place_fail(reader, &v[others[i]], RG_INVALID_ARGUMENT,
                                 "a tendon has a sum of axes of other joints instead; remove it");
    if (!rg_given(&v[JOINT_SUM]))
        return rg_place_fail(reader, entry, RG_NOT_FOUND,
                             "a tendon needs a sum, such as sum: [{joint: knee, coefficient: "
                             "0.02}, {joint: hip, coefficient: 0.03}]");
    rg_status status = rg_require_list(reader, &v[JOINT_SUM], "joints with coefficients");
    if (status != RG_OK)
        return status;
    def->part_count = rg_list_size(&v[JOINT_SUM]);
    if (def->part_count == 0 || def->part_count > RG_TENDON_PARTS_MOST)
        return rg_place_fail(reader, &v[JOINT_SUM], RG_INVALID_ARGUMENT,
                             "%zu joints; a tendon has 1 to %d", def->part_count,
                             RG_TENDON_PARTS_MOST);
    for (size_t i = 0; i < def->part_count && rg_recover(reader, &status); i++) {
        rg_place one = rg_list_at(reader, &v[JOINT_SUM], i);
        status = read_part(reader, &one, c, &def->part[i]);
    }
    return status;
}

/* --- one joint -------------------------------------------------------------------------------- */

static rg_status read_kind(rg_reader *reader, const rg_place *entry, const rg_place *place,
                           size_t *kind) {
    const char *names[RG_JOINT_KIND_COUNT];
    for (int i = 0; i < RG_JOINT_KIND_COUNT; i++)
        names[i] = rg_joint_kind_name((rg_joint_kind)i);
    if (!rg_given(place))
        return rg_place_fail(reader, entry, RG_NOT_FOUND,
                             "needs a kind: ball, hinge, slider, universal, cylindrical, planar, "
                             "fixed, distance, surface, gear, rack or tendon");
    return rg_read_choice(reader, place, names, RG_JOINT_KIND_COUNT, kind);
}

static rg_status read_surface(rg_reader *reader, const rg_place *place, rg_quadric *surface) {
    rg_place v[RG_MAX_KEYS];
    rg_status status = rg_read_keys(reader, place, &rg_keys_joint_surface, v);
    if (status == RG_OK)
        status = read_vector_key(reader, &v[JOINT_SURFACE_SQUARE], &surface->square);
    if (status == RG_OK)
        status = read_vector_key(reader, &v[JOINT_SURFACE_LINEAR], &surface->linear);
    if (status == RG_OK)
        status = read_number_key(reader, &v[JOINT_SURFACE_CONSTANT], &surface->constant);
    return status;
}

/* What some kinds need, and others do not have. */
static rg_status read_special(rg_reader *reader, const rg_place *entry, const rg_place *v,
                              rg_joint_def *def) {
    bool surface = def->kind == RG_JOINT_SURFACE;
    bool gears = def->kind == RG_JOINT_GEAR || def->kind == RG_JOINT_RACK;
    const char *name = rg_joint_kind_name(def->kind);
    if (rg_given(&v[JOINT_SURFACE]) && !surface)
        return rg_place_fail(reader, &v[JOINT_SURFACE], RG_INVALID_ARGUMENT,
                             "a %s joint has no surface; the kind surface has", name);
    if (rg_given(&v[JOINT_SUM]) && def->kind != RG_JOINT_TENDON)
        return rg_place_fail(reader, &v[JOINT_SUM], RG_INVALID_ARGUMENT,
                             "a %s joint sums no others; the kind tendon does", name);
    if (rg_given(&v[JOINT_RATIO]) && !gears)
        return rg_place_fail(reader, &v[JOINT_RATIO], RG_INVALID_ARGUMENT,
                             "a %s joint has no ratio; the kinds gear and rack have", name);
    if (surface && !rg_given(&v[JOINT_SURFACE]))
        return rg_place_fail(reader, entry, RG_NOT_FOUND,
                             "needs a surface, such as {square: [1, 1, 1], constant: -1} for a "
                             "sphere of radius 1");
    if (gears && !rg_given(&v[JOINT_RATIO]))
        return rg_place_fail(reader, entry, RG_NOT_FOUND, "needs a ratio: %s",
                             def->kind == RG_JOINT_GEAR
                                 ? "turns of the first body for one of the second"
                                 : "m of the second body per rad of the first");
    if (surface)
        return read_surface(reader, &v[JOINT_SURFACE], &def->surface);
    return gears ? rg_read_number(reader, &v[JOINT_RATIO], &def->ratio) : RG_OK;
}

static rg_status read_rest(rg_reader *reader, const rg_place *entry, const rg_place *v,
                           rg_joint_def *def, bool *broken) {
    rg_status status = read_special(reader, entry, v, def);
    if (rg_recover(reader, &status) && rg_given(&v[JOINT_AXES]))
        status = read_axes(reader, &v[JOINT_AXES], def);
    if (rg_recover(reader, &status) && rg_given(&v[JOINT_COLLIDE]))
        status = rg_read_truth(reader, &v[JOINT_COLLIDE], &def->collide);
    if (rg_recover(reader, &status) && rg_given(&v[JOINT_BREAK_FORCE]))
        status =
            rg_read_positive(reader, &v[JOINT_BREAK_FORCE], "a break force", &def->break_force);
    if (rg_recover(reader, &status) && rg_given(&v[JOINT_BREAK_TORQUE]))
        status =
            rg_read_positive(reader, &v[JOINT_BREAK_TORQUE], "a break torque", &def->break_torque);
    if (rg_recover(reader, &status) && rg_given(&v[JOINT_BROKEN]))
        status = rg_read_truth(reader, &v[JOINT_BROKEN], broken);
    return status;
}

static rg_status add_joint(rg_reader *reader, const rg_place *entry, const rg_joint_def *def,
                           bool broken) {
    rg_joint_id joint;
    rg_error cause = {0};
    rg_status status = rg_world_add_joint(reader->world, def, &joint, &cause);
    if (status != RG_OK)
        return rg_place_wrap(reader, entry, status, &cause);
    if (broken)
        return rg_joint_set_broken(reader->world, joint, true);
    double apart = rg_joint_error(reader->world, joint);
    if (apart > APART && !(reader->options && reader->options->loose))
        return rg_place_fail(reader, entry, RG_INVALID_ARGUMENT,
                             "the frames of the joint are %.3g (m and rad) apart along what it "
                             "locks; move the bodies or the frames together, or let `rigor "
                             "check SCENE --assemble FILE` do it",
                             apart);
    return RG_OK;
}

static rg_status read_copy(rg_reader *reader, const rg_place *entry, const rg_repeat *repeat,
                           const uint64_t index[3]) {
    size_t kind = 0;
    bool broken = false;
    const char *written = NULL;
    rg_place v[RG_MAX_KEYS];
    copy c = {repeat, index};
    rg_status status =
        rg_require_mapping(reader, entry, "a joint such as {kind: ball, bodies: [a, b], ...}");
    if (status != RG_OK)
        return status;
    size_t failures = reader->mistakes.failures;
    status = rg_read_keys(reader, entry, &rg_keys_joint, v);
    if (rg_recover(reader, &status))
        status = read_kind(reader, entry, &v[JOINT_KIND], &kind);
    if (status != RG_OK)
        return status;
    rg_joint_def def = rg_joint_def_default((rg_joint_kind)kind);
    if (kind == RG_JOINT_TENDON) {
        status = read_sum(reader, entry, v, &c, &def);
    } else {
        status = read_bodies(reader, entry, &v[JOINT_BODIES], &c, &def);
        if (rg_recover(reader, &status))
            status = read_frames(reader, entry, v, &def);
    }
    if (rg_recover(reader, &status))
        status = read_rest(reader, entry, v, &def, &broken);
    if (rg_recover(reader, &status) && rg_given(&v[JOINT_NAME])) {
        status = rg_read_text(reader, &v[JOINT_NAME], &written);
        if (status == RG_OK)
            status = rg_expand_name(reader, &v[JOINT_NAME], written, repeat, index, &def.name);
    }
    return rg_recover(reader, &status) && failures == reader->mistakes.failures
               ? add_joint(reader, entry, &def, broken)
               : status;
}

rg_status rg_read_joints(rg_reader *reader, const rg_place *place) {
    return rg_for_each_copy(reader, place, "joints", read_copy, NULL);
}
