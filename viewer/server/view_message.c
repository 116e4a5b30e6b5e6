/* Messages of a page: see view_message.h. Every key must be known and every number finite and
 * within a range that makes sense, so that what comes after this can rely on it. */
#include "view_message.h"

#include "view_json.h"

#include "rigor/joint.h"
#include "rigor/solver.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct context {
    const view_json *json;
    const view_json_value *object;
    char *problem;
} context;

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static bool
fail(char *problem, const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsnprintf(problem, VIEW_PROBLEM_SIZE, format, list);
    va_end(list);
    for (char *c = problem; *c; c++) /* names in it come from outside */
        if (*c < 0x20 || *c > 0x7e)
            *c = '?';
    return false;
}

static const view_json_value *member(const context *c, const char *key) {
    const view_json_value *value = view_json_member(c->json, c->object, key);
    if (!value)
        fail(c->problem, "\"%s\" is missing", key);
    return value;
}

static bool in_range(const context *c, const char *key, const view_json_value *value, double least,
                     double most, double *number) {
    if (value->type != VIEW_JSON_NUMBER)
        return fail(c->problem, "\"%s\" must be a number", key);
    if (!(value->number >= least && value->number <= most))
        return fail(c->problem, "\"%s\" must be from %g to %g", key, least, most);
    *number = value->number;
    return true;
}

static bool read_number(const context *c, const char *key, double least, double most,
                        double *number) {
    const view_json_value *value = member(c, key);
    return value && in_range(c, key, value, least, most, number);
}

static bool read_whole(const context *c, const char *key, double least, double most,
                       uint32_t *whole) {
    double number = 0;
    if (!read_number(c, key, least, most, &number))
        return false;
    if (number != floor(number))
        return fail(c->problem, "\"%s\" must be a whole number", key);
    *whole = (uint32_t)number;
    return true;
}

static bool read_vector(const context *c, const char *key, rg_vec3 *vector) {
    const view_json_value *value = member(c, key);
    if (!value)
        return false;
    if (value->type != VIEW_JSON_ARRAY || value->count != 3)
        return fail(c->problem, "\"%s\" must be a list of 3 numbers", key);
    double *const parts[] = {&vector->x, &vector->y, &vector->z};
    for (int i = 0; i < 3; i++) /* value + 1 + i: numbers have nothing inside */
        if (!in_range(c, key, value + 1 + i, -VIEW_MESSAGE_LENGTH, VIEW_MESSAGE_LENGTH, parts[i]))
            return false;
    return true;
}

static bool read_name(const context *c, const char *key, const char **name) {
    const view_json_value *value = member(c, key);
    if (!value)
        return false;
    if (value->type != VIEW_JSON_STRING)
        return fail(c->problem, "\"%s\" must be a string", key);
    *name = value->text;
    return true;
}

/* ---- what goes with each type ---- */

static bool read_nothing(const context *c, view_message *message) {
    (void)c;
    (void)message;
    return true;
}

static bool read_step_by(const context *c, view_message *message) {
    return read_whole(c, "count", 1, VIEW_MESSAGE_STEPS, &message->count);
}

static bool read_speed(const context *c, view_message *message) {
    return read_number(c, "value", 1 / VIEW_MESSAGE_SPEED, VIEW_MESSAGE_SPEED, &message->speed);
}

static bool read_set(const context *c, view_message *message) {
    const view_json_value *friction = view_json_member(c->json, c->object, "friction");
    const char *name = "";
    if (view_json_member(c->json, c->object, "method")) {
        if (!read_name(c, "method", &name))
            return false;
        message->method = rg_method_find(name);
        if (!message->method)
            return fail(c->problem, "there is no method \"%s\"", name);
    }
    if (view_json_member(c->json, c->object, "solver")) {
        if (!read_name(c, "solver", &name))
            return false;
        message->solver = rg_solver_find(name);
        if (!message->solver)
            return fail(c->problem, "there is no solver \"%s\"", name);
    }
    message->has_step = view_json_member(c->json, c->object, "step") != NULL;
    if (message->has_step &&
        !read_number(c, "step", 1e-6 * VIEW_MESSAGE_STEP, VIEW_MESSAGE_STEP, &message->step))
        return false;
    message->has_friction = friction != NULL;
    message->friction_of_scene = friction && friction->type == VIEW_JSON_NULL;
    if (friction && !message->friction_of_scene &&
        !in_range(c, "friction", friction, 0, 1e3, &message->friction))
        return false;
    message->has_gravity = view_json_member(c->json, c->object, "gravity") != NULL;
    return !message->has_gravity || read_vector(c, "gravity", &message->gravity);
}

static bool read_grab(const context *c, view_message *message) {
    return read_whole(c, "body", 0, 0xffffffff, &message->body) &&
           read_vector(c, "point", &message->point) && read_vector(c, "target", &message->target);
}

static bool read_drag(const context *c, view_message *message) {
    return read_vector(c, "target", &message->target);
}

static bool read_throw(const context *c, view_message *message) {
    return read_vector(c, "from", &message->from) &&
           read_vector(c, "velocity", &message->velocity) &&
           read_number(c, "size", 1 / VIEW_MESSAGE_SIZE, VIEW_MESSAGE_SIZE, &message->size);
}

static bool read_motor(const context *c, view_message *message) {
    const view_json_value *target = member(c, "target");
    if (!target || !read_whole(c, "joint", 0, 0xffffffff, &message->joint) ||
        !read_whole(c, "axis", 0, RG_JOINT_AXES_MOST - 1, &message->axis))
        return false;
    message->target_of_scene = target->type == VIEW_JSON_NULL;
    return message->target_of_scene || in_range(c, "target", target, -VIEW_MESSAGE_LENGTH,
                                                VIEW_MESSAGE_LENGTH, &message->motor_target);
}

enum { KEYS = 5 };

static const struct type {
    const char *name;
    view_message_kind kind;
    bool (*read)(const context *c, view_message *message);
    const char *keys[KEYS];
} types[] = {
    {"play", VIEW_MESSAGE_PLAY, read_nothing, {0}},
    {"pause", VIEW_MESSAGE_PAUSE, read_nothing, {0}},
    {"reset", VIEW_MESSAGE_RESET, read_nothing, {0}},
    {"release", VIEW_MESSAGE_RELEASE, read_nothing, {0}},
    {"step", VIEW_MESSAGE_STEP_BY, read_step_by, {"count"}},
    {"speed", VIEW_MESSAGE_SET_SPEED, read_speed, {"value"}},
    {"set", VIEW_MESSAGE_SET, read_set, {"method", "solver", "step", "friction", "gravity"}},
    {"grab", VIEW_MESSAGE_GRAB, read_grab, {"body", "point", "target"}},
    {"drag", VIEW_MESSAGE_DRAG, read_drag, {"target"}},
    {"throw", VIEW_MESSAGE_THROW, read_throw, {"from", "velocity", "size"}},
    {"motor", VIEW_MESSAGE_MOTOR, read_motor, {"joint", "axis", "target"}},
};

static const struct type *find_type(const char *name) {
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strcmp(types[i].name, name) == 0)
            return &types[i];
    return NULL;
}

static bool is_known(const struct type *type, const char *key) {
    if (strcmp(key, "type") == 0)
        return true;
    for (int i = 0; i < KEYS && type->keys[i]; i++)
        if (strcmp(key, type->keys[i]) == 0)
            return true;
    return false;
}

bool view_message_read(const char *text, size_t size, view_message *message,
                       char problem[VIEW_PROBLEM_SIZE]) {
    view_json json;
    context c = {&json, json.values, problem};
    const char *name = "";
    *message = (view_message){0};
    problem[0] = '\0';
    if (size > VIEW_MESSAGE_BYTES)
        return fail(problem, "a message of more than %d bytes", VIEW_MESSAGE_BYTES);
    if (!view_json_read(text, size, &json))
        return fail(problem, "the message is not valid JSON: %s at byte %zu", json.problem,
                    json.where);
    if (json.values[0].type != VIEW_JSON_OBJECT)
        return fail(problem, "the message is not an object");
    if (!read_name(&c, "type", &name))
        return false;
    const struct type *type = find_type(name);
    if (!type)
        return fail(problem, "there is no message of the type \"%s\"", name);
    for (size_t i = 1; i < json.values[0].end; i = json.values[i].end)
        if (!is_known(type, json.values[i].key))
            return fail(problem, "\"%s\" has no \"%s\"", type->name, json.values[i].key);
    message->kind = type->kind;
    return type->read(&c, message);
}
