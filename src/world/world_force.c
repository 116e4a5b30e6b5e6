/* Forces besides gravity and contact, evaluated at a time and state that an integrator proposes.
 * Tested by tests/step/test_forces.c. */
#include "world/world.h"

#include "base/base_text.h"
#include "rigor/version.h"

#include <assert.h>

rg_force_def rg_force_def_default(rg_force_kind kind) {
    return (rg_force_def){.api_version = RG_API_VERSION,
                          .kind = kind,
                          .start_time = -INFINITY,
                          .stop_time = INFINITY};
}

const char *rg_force_kind_name(rg_force_kind kind) {
    static const char *const names[] = {"constant", "spring",   "drag",   "field",
                                        "central",  "function", "applied"};
    return (size_t)kind < sizeof names / sizeof *names ? names[kind] : "unknown";
}

/* --- adding and removing -----------------------------------------------------------------------
 */

static rg_status check_numbers(const rg_force_def *def, rg_error *error) {
    const rg_vec3 vectors[] = {def->point,  def->other_point,  def->force,
                               def->torque, def->acceleration, def->centre};
    const double numbers[] = {def->strength,  def->linear,  def->quadratic,  def->angular,
                              def->stiffness, def->damping, def->rest_length};
    const char *what = "force: one of its numbers";
    rg_status status = rg_numbers_check(what, numbers, sizeof numbers / sizeof *numbers, error);
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors && !status; i++)
        status = rg_vector_check(what, vectors[i], error);
    if (status)
        return status;
    if (def->linear < 0 || def->quadratic < 0 || def->angular < 0)
        return rg_fail(error, RG_INVALID_ARGUMENT,
                       "drag: a negative coefficient would drive instead of slowing");
    if (def->stiffness < 0 || def->damping < 0 || def->rest_length < 0)
        return rg_fail(error, RG_INVALID_ARGUMENT,
                       "spring: stiffness, damping and rest length must not be negative");
    if (!(def->start_time < def->stop_time))
        return rg_fail(error, RG_INVALID_ARGUMENT,
                       "force: it starts at %g s, after its stop at %g s", def->start_time,
                       def->stop_time);
    return RG_OK;
}

static rg_status check_force(const rg_world *world, const rg_force_def *def, rg_error *error) {
    rg_status status = rg_check_version(def->api_version, "rg_force_def", error);
    if (status)
        return status;
    if (def->kind < RG_FORCE_CONSTANT || def->kind >= RG_FORCE_KIND_COUNT)
        return rg_fail(error, RG_INVALID_ARGUMENT, "force: there is no kind %d", (int)def->kind);
    if ((def->body.index1 && !rg_body_exists(world, def->body)) ||
        (def->other.index1 && !rg_body_exists(world, def->other)))
        return rg_fail(error, RG_INVALID_HANDLE, "force: it names a body that does not exist");
    if (def->kind == RG_FORCE_SPRING && !def->body.index1)
        return rg_fail(error, RG_INVALID_ARGUMENT, "spring: it needs a body");
    if (def->kind == RG_FORCE_SPRING && def->body.index1 == def->other.index1)
        return rg_fail(error, RG_INVALID_ARGUMENT, "spring: both ends are on one body");
    if (def->kind == RG_FORCE_FUNCTION && !def->function)
        return rg_fail(error, RG_INVALID_ARGUMENT, "force: the function is missing");
    for (size_t i = 0; i < RG_OF_TIME_COUNT && !status; i++) {
        double value;
        status = rg_of_time(def->of_time[i], world->content.time, &value, error);
    }
    return status ? status : check_numbers(def, error);
}

rg_status rg_world_add_force(rg_world *world, const rg_force_def *def, rg_force_id *force,
                             rg_error *error) {
    assert(world && def && force);
    *force = (rg_force_id){0, 0};
    rg_world_content *content = &world->content;
    rg_status status = check_force(world, def, error);
    if (status)
        return status;
    rg_handle handle;
    rg_force_def own = *def;
    status = rg_world_begin_edit(world);
    if (status)
        return rg_fail(error, status, "force: %s", rg_status_text(status));
    status = rg_force_own_texts(&own, &world->allocator);
    if (!status)
        status = rg_array_grow(&world->allocator, &content->force, &content->force_capacity,
                               content->forces.count + 1);
    if (!status)
        status = rg_handle_add(&content->forces, &world->allocator, &handle);
    if (status) {
        rg_force_free_texts(&own, &world->allocator);
        rg_world_cancel_edit(world);
        return rg_fail(error, status, "force: %s", rg_status_text(status));
    }
    content->force[content->forces.count - 1] = own;
    *force = (rg_force_id){handle.index1, handle.generation};
    return RG_OK;
}

static void remove_at(rg_world *world, rg_handle handle) {
    rg_world_content *content = &world->content;
    size_t hole, last;
    rg_force_free_texts(&content->force[rg_handle_index(&content->forces, handle)],
                        &world->allocator);
    rg_handle_remove(&content->forces, handle, &hole, &last);
    content->force[hole] = content->force[last];
}

rg_status rg_world_remove_force(rg_world *world, rg_force_id force) {
    bool exists = rg_handle_exists(&world->content.forces, RG_HANDLE(force));
    rg_status status = rg_world_begin_edit_of(world, exists);
    if (!status)
        remove_at(world, RG_HANDLE(force));
    return status;
}

void rg_forces_forget_body(rg_world *world, rg_body_id body) {
    rg_world_content *content = &world->content;
    for (size_t i = content->forces.count; i-- > 0;)
        if (content->force[i].body.index1 == body.index1 ||
            content->force[i].other.index1 == body.index1)
            remove_at(world, rg_handle_at(&content->forces, i));
}

size_t rg_world_force_count(const rg_world *world) {
    return world->content.forces.count;
}

rg_force_id rg_world_force_at(const rg_world *world, size_t index) {
    rg_handle handle = rg_handle_at(&world->content.forces, index);
    return (rg_force_id){handle.index1, handle.generation};
}

rg_force_def rg_force_get_def(const rg_world *world, rg_force_id force) {
    return world->content.force[rg_handle_index(&world->content.forces, RG_HANDLE(force))];
}

/* --- evaluation --------------------------------------------------------------------------------
 */

/* A point that moves with a body (or stands in the world) at a stage. */
typedef struct attached_point {
    rg_vec3 position, velocity, arm; /* arm: from the centre of mass */
    bool on_body;
    size_t body;
} attached_point;

static attached_point attach(const rg_world_content *content, const rg_force_context *context,
                             rg_body_id body, rg_vec3 point) {
    if (!body.index1)
        return (attached_point){.position = point};
    size_t i = rg_body_dense(content, body);
    rg_vec3 local = rg_pose_apply_inverse(content->record[i].local_centre, point);
    rg_vec3 arm = rg_rotate(context->orientation[i], local);
    return (attached_point){
        .position = rg_add(context->position[i], arm),
        .velocity = rg_add(context->velocity[i], rg_cross(context->angular_velocity[i], arm)),
        .arm = arm,
        .on_body = true,
        .body = i};
}

static void push(rg_force_context *context, const attached_point *point, rg_vec3 force) {
    if (!point->on_body)
        return;
    size_t i = point->body;
    context->force[i] = rg_add(context->force[i], force);
    context->torque[i] = rg_add(context->torque[i], rg_cross(point->arm, force));
}

static void add_spring(const rg_world_content *content, const rg_force_def *def,
                       rg_force_context *context) {
    attached_point a = attach(content, context, def->body, def->point);
    attached_point b = attach(content, context, def->other, def->other_point);
    rg_vec3 along = rg_sub(b.position, a.position);
    double length = rg_length(along);
    if (length == 0)
        return; /* no direction: with rest length 0 the force is 0 too */
    rg_vec3 u = rg_scale(1 / length, along);
    double rate = rg_dot(u, rg_sub(b.velocity, a.velocity));
    rg_vec3 pull = rg_scale(def->stiffness * (length - def->rest_length) + def->damping * rate, u);
    push(context, &a, pull);
    push(context, &b, rg_neg(pull));
}

static void add_to_one(const rg_world_content *content, const rg_force_def *def,
                       rg_force_context *context, size_t i) {
    double mass = content->dynamics[i].mass;
    rg_vec3 v = context->velocity[i];
    switch (def->kind) {
    case RG_FORCE_CONSTANT: {
        attached_point p = attach(content, context, rg_body_id_at(content, i), def->point);
        push(context, &p, def->force);
        context->torque[i] = rg_add(context->torque[i], def->torque);
        break;
    }
    case RG_FORCE_DRAG: {
        double k = def->linear + def->quadratic * rg_length(v);
        context->force[i] = rg_add_scaled(context->force[i], -k, v);
        context->torque[i] =
            rg_add_scaled(context->torque[i], -def->angular, context->angular_velocity[i]);
        break;
    }
    case RG_FORCE_FIELD:
        context->force[i] = rg_add_scaled(context->force[i], mass, def->acceleration);
        break;
    case RG_FORCE_CENTRAL: {
        rg_vec3 towards = rg_sub(def->centre, context->position[i]);
        double r = rg_length(towards);
        if (r > 0)
            context->force[i] =
                rg_add_scaled(context->force[i], mass * def->strength / (r * r * r), towards);
        break;
    }
    case RG_FORCE_SPRING:
    case RG_FORCE_FUNCTION:
    case RG_FORCE_KIND_COUNT:
        break;
    }
}

void rg_force_add(const rg_world_content *content, const rg_force_def *def,
                  rg_force_context *context) {
    if (def->kind == RG_FORCE_SPRING)
        add_spring(content, def, context);
    else if (def->kind == RG_FORCE_FUNCTION)
        def->function(def->user, context);
    else if (def->body.index1)
        add_to_one(content, def, context, rg_body_dense(content, def->body));
    else
        for (size_t i = 0; i < context->body_count; i++)
            if (content->dynamics[i].inverse_mass > 0)
                add_to_one(content, def, context, i);
}

bool rg_forces_any(const rg_world_content *content) {
    return content->forces.count > 0 || content->has_applied;
}

/* The share of a phase during which a force acts; at the middle of it for functions. */
static double share_of(const rg_force_def *def, double begin, double end) {
    double middle = begin + 0.5 * (end - begin);
    if (def->kind == RG_FORCE_FUNCTION)
        return middle >= def->start_time && middle < def->stop_time ? 1 : 0;
    double from = fmax(begin, def->start_time), to = fmin(end, def->stop_time);
    return from <= begin && to >= end ? 1 : from < to ? (to - from) / (end - begin) : 0;
}

/* All kinds are linear in their coefficients. */
static rg_force_def weakened(const rg_force_def *def, double share) {
    rg_force_def weak = *def;
    weak.force = rg_scale(share, def->force);
    weak.torque = rg_scale(share, def->torque);
    weak.acceleration = rg_scale(share, def->acceleration);
    weak.stiffness *= share;
    weak.damping *= share;
    weak.linear *= share;
    weak.quadratic *= share;
    weak.angular *= share;
    weak.strength *= share;
    return weak;
}

rg_force_context rg_forces_context(const rg_world *world, rg_vec3 *force, rg_vec3 *torque) {
    const rg_world_content *c = &world->content;
    return (rg_force_context){.world = world,
                              .time = c->time,
                              .body_count = c->bodies.count,
                              .position = c->position,
                              .orientation = c->orientation,
                              .velocity = c->velocity,
                              .angular_velocity = c->angular_velocity,
                              .force = force,
                              .torque = torque};
}

void rg_forces_evaluate(const rg_world *world, rg_force_context *context, double phase_begin,
                        double phase_end) {
    const rg_world_content *content = &world->content;
    if (content->has_applied)
        for (size_t i = 0; i < context->body_count; i++) {
            context->force[i] = rg_add(context->force[i], content->applied_force[i]);
            context->torque[i] = rg_add(context->torque[i], content->applied_torque[i]);
        }
    for (size_t k = 0; k < content->forces.count; k++) {
        double share = share_of(&content->force[k], phase_begin, phase_end);
        if (!(share > 0))
            continue;
        rg_force_def def = rg_force_at_time(&content->force[k], context->time);
        if (share < 1)
            def = weakened(&def, share);
        rg_force_add(content, &def, context);
    }
    if (content->planar)
        for (size_t i = 0; i < context->body_count; i++) {
            context->force[i].y = 0;
            context->torque[i].x = context->torque[i].z = 0;
        }
}

bool rg_forces_are_steady(const rg_world_content *content) {
    for (size_t k = 0; k < content->forces.count; k++) {
        const rg_force_def *def = &content->force[k];
        if (def->kind == RG_FORCE_FUNCTION || rg_force_varies(def) ||
            (def->kind == RG_FORCE_SPRING && def->other.index1 != 0))
            return false;
    }
    return true;
}

double rg_forces_next_break(const rg_world_content *content, double begin, double end) {
    double next = end;
    for (size_t k = 0; k < content->forces.count; k++) {
        const rg_force_def *def = &content->force[k];
        if (def->start_time > begin && def->start_time < next)
            next = def->start_time;
        if (def->stop_time > begin && def->stop_time < next)
            next = def->stop_time;
    }
    return next;
}
