/* Forces and joints of a scene file. Tested by tests/scene/test_writer.c. */
#include "scene/scene_writer.h"

#include "base/base_math.h"

/* ---- forces ---- */

static rg_status put_force_body(rg_writer *w, const char *key, rg_body_id body) {
    if (!body.index1)
        return RG_OK;
    rg_buffer_print(&w->out, ", %s: ", key);
    return rg_put_body_name(w, "a force acts on", body);
}

static void put_force_numbers(rg_writer *w, const rg_force_def *def) {
    switch (def->kind) {
    case RG_FORCE_CONSTANT:
        rg_put_named_vector(w, "point", def->point);
        rg_put_vector_of_time(w, "force", def->of_time + RG_OF_TIME_FORCE, def->force);
        if (!w->planar) {
            rg_put_vector_of_time(w, "torque", def->of_time + RG_OF_TIME_TORQUE, def->torque);
            break;
        }
        rg_put(w, ", torque: ");
        rg_put_of_time(w, def->of_time[RG_OF_TIME_TORQUE + 1], def->torque.y, -1);
        break;
    case RG_FORCE_SPRING:
        rg_put_named_vector(w, "point", def->point);
        rg_put_named_vector(w, "other_point", def->other_point);
        rg_put_named_number(w, "stiffness", def->stiffness);
        rg_put_named_number(w, "damping", def->damping);
        rg_put_named_number(w, "rest_length", def->rest_length);
        break;
    case RG_FORCE_DRAG:
        rg_put_named_number(w, "linear", def->linear);
        rg_put_named_number(w, "quadratic", def->quadratic);
        rg_put_named_number(w, "angular", def->angular);
        break;
    case RG_FORCE_FIELD:
        rg_put_vector_of_time(w, "acceleration", def->of_time + RG_OF_TIME_ACCELERATION,
                              def->acceleration);
        break;
    default:
        rg_put_named_vector(w, "centre", def->centre);
        rg_put_named_number(w, "strength", def->strength);
        break;
    }
}

rg_status rg_put_force(rg_writer *w, size_t index) {
    rg_force_def given = rg_force_get_def(w->world, rg_world_force_at(w->world, index));
    const rg_force_def *def = &given;
    double now = rg_world_time(w->world);
    if (def->kind == RG_FORCE_FUNCTION && w->shown) {
        rg_put(w, "  - {kind: constant, force: "); /* none: so that the others keep their numbers */
        rg_put(w, w->planar ? "[0, 0]}\n" : "[0, 0, 0]}\n");
        return RG_OK;
    }
    if (def->kind == RG_FORCE_FUNCTION)
        return rg_fail(w->error, RG_UNSUPPORTED,
                       "a force is a function of the program, which a file cannot hold; remove it");
    rg_buffer_print(&w->out, "  - {kind: %s", rg_force_kind_name(def->kind));
    rg_status status = put_force_body(w, "body", def->body);
    if (status == RG_OK)
        status = put_force_body(w, "other", def->other);
    put_force_numbers(w, def);
    if (isfinite(def->start_time))
        rg_put_named_number(w, "start", def->start_time - now);
    if (isfinite(def->stop_time))
        rg_put_named_number(w, "stop", def->stop_time - now);
    rg_put(w, "}\n");
    return status;
}

/* ---- joints ---- */

static rg_status put_joint_body(rg_writer *w, rg_body_id body) {
    if (!body.index1) {
        rg_put(w, "world");
        return RG_OK;
    }
    return rg_put_body_name(w, "a joint holds", body);
}

static void put_frame(rg_writer *w, const char *key, rg_pose frame) {
    rg_buffer_print(&w->out, ", %s: {position: ", key);
    rg_put_vector(w, frame.position);
    rg_put(w, ", orientation: ");
    rg_put_quat(w, frame.orientation);
    rg_put(w, "}");
}

static void put_motor(rg_writer *w, const rg_joint_axis *a, bool *first) {
    if (a->motor == RG_MOTOR_NONE)
        return;
    rg_put_key(w, first, "motor");
    rg_buffer_print(&w->out, "{%s: ", rg_motor_kind_name(a->motor));
    rg_put_of_time(w, a->target_of_time, a->target, 1);
    if (a->gain > 0)
        rg_put_named_number(w, "gain", a->gain);
    if (a->gain_velocity > 0)
        rg_put_named_number(w, "gain_velocity", a->gain_velocity);
    if (isfinite(a->max_force))
        rg_put_named_number(w, "max_force", a->max_force);
    rg_put(w, "}");
}

static void put_axis(rg_writer *w, const rg_joint_axis *a) {
    const struct {
        const char *key;
        double value;
        bool given;
    } numbers[] = {{"lower", a->lower, isfinite(a->lower)},
                   {"upper", a->upper, isfinite(a->upper)},
                   {"restitution", a->restitution, a->restitution > 0},
                   {"stiffness", a->stiffness, a->stiffness > 0},
                   {"damping", a->damping, a->damping > 0},
                   {"rest", a->rest, a->rest != 0},
                   {"friction", a->friction, a->friction > 0},
                   {"armature", a->armature, a->armature > 0}};
    bool first = true;
    rg_put(w, "{");
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (!numbers[i].given)
            continue;
        rg_put_key(w, &first, numbers[i].key);
        rg_put_number(w, numbers[i].value);
    }
    put_motor(w, a, &first);
    rg_put(w, "}");
}

static rg_status put_ends(rg_writer *w, const rg_joint_def *def) {
    rg_put(w, ", bodies: [");
    rg_status status = put_joint_body(w, def->body_a);
    rg_put(w, ", ");
    if (status == RG_OK)
        status = put_joint_body(w, def->body_b);
    rg_put(w, "]");
    return status;
}

static rg_status put_sum(rg_writer *w, const rg_joint_def *def) {
    rg_status status = RG_OK;
    for (size_t i = 0; i < def->part_count && status == RG_OK; i++) {
        const rg_tendon_part *part = &def->part[i];
        const char *name = rg_joint_get_def(w->world, part->joint).name;
        if (!name)
            return rg_fail(w->error, RG_INVALID_ARGUMENT,
                           "a joint that a tendon sums has no name; give it one to write it");
        rg_put(w, i ? ", {joint: " : ", sum: [{joint: ");
        status = rg_put_quoted(w, name);
        if (part->axis)
            rg_put_named_number(w, "axis", (double)part->axis);
        rg_put_named_number(w, "coefficient", part->coefficient);
        rg_put(w, "}");
    }
    rg_put(w, "]");
    return status;
}

/* Tendons come after all others, which they name. */
static rg_joint_id joint_in_order(const rg_world *world, size_t index) {
    for (int tendons = 0; tendons < 2; tendons++)
        for (size_t i = 0; i < rg_world_joint_count(world); i++) {
            rg_joint_id joint = rg_world_joint_at(world, i);
            bool is_tendon = rg_joint_get_def(world, joint).kind == RG_JOINT_TENDON;
            if (is_tendon == (tendons == 1) && index-- == 0)
                return joint;
        }
    return (rg_joint_id){0, 0};
}

rg_status rg_put_joint(rg_writer *w, size_t index) {
    rg_joint_id joint = joint_in_order(w->world, index);
    rg_joint_def def = rg_joint_get_def(w->world, joint);
    rg_buffer_print(&w->out, "  - {kind: %s", rg_joint_kind_name(def.kind));
    rg_status status = def.kind == RG_JOINT_TENDON ? put_sum(w, &def) : put_ends(w, &def);
    if (status == RG_OK && def.name) {
        rg_put(w, ", name: ");
        status = rg_put_quoted(w, def.name);
    }
    if (def.kind != RG_JOINT_TENDON) {
        put_frame(w, "frame_a", def.frame_a);
        put_frame(w, "frame_b", def.frame_b);
    }
    if (def.kind == RG_JOINT_GEAR || def.kind == RG_JOINT_RACK)
        rg_put_named_number(w, "ratio", def.ratio);
    if (def.kind == RG_JOINT_SURFACE) {
        rg_put(w, ", surface: {square: ");
        rg_put_vector(w, def.surface.square);
        rg_put_named_vector(w, "linear", def.surface.linear);
        rg_put_named_number(w, "constant", def.surface.constant);
        rg_put(w, "}");
    }
    if (def.collide)
        rg_put(w, ", collide: true");
    if (isfinite(def.break_force))
        rg_put_named_number(w, "break_force", def.break_force);
    if (isfinite(def.break_torque))
        rg_put_named_number(w, "break_torque", def.break_torque);
    if (rg_joint_get_state(w->world, joint).broken)
        rg_put(w, ", broken: true");
    for (size_t i = 0; i < rg_joint_axis_count(def.kind); i++) {
        rg_put(w, i ? ", " : ", axes: [");
        put_axis(w, &def.axis[i]);
    }
    rg_put(w, rg_joint_axis_count(def.kind) ? "]}\n" : "}\n");
    return status;
}
