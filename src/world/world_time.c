/* Forces and targets of motors as functions of time, and the texts that forces and joints own.
 *
 * A function of time is the text of an expression of t (base_expression.h). It is evaluated where
 * it is needed, with the same bits everywhere; a text that has no value at some time, such as 1/t
 * at 0, is refused when it is given, or fails the step (rg_world_check_times).
 * Tested by tests/step/test_time.c. */
#include "base/base_expression.h"
#include "base/base_text.h"
#include "world/world.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Where the texts are that something owns. */
enum { TEXTS_MOST = 16 };
typedef struct text_list {
    const char **at[TEXTS_MOST];
    size_t count;
} text_list;

static void add(text_list *list, const char **of_time, size_t count) {
    assert(list->count + count <= TEXTS_MOST);
    for (size_t k = 0; k < count; k++)
        list->at[list->count++] = &of_time[k];
}

static text_list texts_of_force(rg_force_def *def) {
    text_list list = {.count = 0};
    add(&list, def->of_time, RG_OF_TIME_COUNT);
    return list;
}

static text_list texts_of_joint(rg_joint_def *def) {
    text_list list = {.count = 0};
    add(&list, &def->name, 1);
    for (size_t k = 0; k < RG_JOINT_AXES_MOST; k++)
        add(&list, &def->axis[k].target_of_time, 1);
    return list;
}

static text_list texts_of_prescription(rg_prescription *def) {
    text_list list = {.count = 0};
    add(&list, def->of_time, RG_PRESCRIBED_TEXTS);
    return list;
}

static rg_status own(text_list list, const rg_allocator *allocator) {
    for (size_t k = 0; k < list.count; k++) {
        if (!*list.at[k])
            continue;
        *list.at[k] = rg_copy_text(allocator, *list.at[k]);
        if (*list.at[k])
            continue;
        for (size_t i = 0; i < list.count; i++) {
            if (i < k)
                rg_release(allocator, (char *)*list.at[i]);
            *list.at[i] = NULL;
        }
        return RG_OUT_OF_MEMORY;
    }
    return RG_OK;
}

static void leave(text_list list, const rg_allocator *allocator) {
    for (size_t k = 0; k < list.count; k++) {
        if (allocator)
            rg_release(allocator, (char *)*list.at[k]);
        *list.at[k] = NULL;
    }
}

rg_status rg_force_own_texts(rg_force_def *def, const rg_allocator *allocator) {
    return own(texts_of_force(def), allocator);
}

rg_status rg_joint_own_texts(rg_joint_def *def, const rg_allocator *allocator) {
    return own(texts_of_joint(def), allocator);
}

rg_status rg_prescription_own_texts(rg_prescription *def, const rg_allocator *allocator) {
    return own(texts_of_prescription(def), allocator);
}

void rg_prescription_free_texts(rg_prescription *def, const rg_allocator *allocator) {
    leave(texts_of_prescription(def), allocator);
}

void rg_force_free_texts(rg_force_def *def, const rg_allocator *allocator) {
    leave(texts_of_force(def), allocator);
}

void rg_joint_free_texts(rg_joint_def *def, const rg_allocator *allocator) {
    leave(texts_of_joint(def), allocator);
}

void rg_force_disown_texts(rg_force_def *def) {
    rg_force_free_texts(def, NULL);
}

void rg_joint_disown_texts(rg_joint_def *def) {
    rg_joint_free_texts(def, NULL);
}

/* --- values ----------------------------------------------------------------------------------- */

rg_status rg_of_time(const char *text, double time, double *value, rg_error *error) {
    rg_variable t = {.name = "t", .value = time};
    *value = 0;
    if (!text)
        return RG_OK;
    rg_error cause = {0};
    rg_status status =
        rg_expression_evaluate(text, strlen(text), &t, 1, value, NULL, error ? &cause : NULL);
    return status ? rg_fail(error, status, "\"%.80s\" at t = %g: %s", text, time, cause.text)
                  : RG_OK;
}

static double number_at(const char *text, double time, double number) {
    double value;
    if (!text)
        return number;
    return rg_of_time(text, time, &value, NULL) ? NAN : value;
}

bool rg_force_varies(const rg_force_def *def) {
    for (size_t k = 0; k < RG_OF_TIME_COUNT; k++)
        if (def->of_time[k])
            return true;
    return false;
}

static rg_vec3 vector_at(const char *const *texts, double time, rg_vec3 v) {
    return rg_vec3_make(number_at(texts[0], time, v.x), number_at(texts[1], time, v.y),
                        number_at(texts[2], time, v.z));
}

rg_force_def rg_force_at_time(const rg_force_def *def, double time) {
    rg_force_def now = *def;
    if (!rg_force_varies(def))
        return now;
    now.force = vector_at(def->of_time + RG_OF_TIME_FORCE, time, def->force);
    now.torque = vector_at(def->of_time + RG_OF_TIME_TORQUE, time, def->torque);
    now.acceleration = vector_at(def->of_time + RG_OF_TIME_ACCELERATION, time, def->acceleration);
    return now;
}

double rg_joint_target(const rg_world_content *content, size_t joint, size_t axis, double time) {
    const rg_joint_axis *a = &content->joint[joint].def.axis[axis];
    return number_at(a->target_of_time, time, a->target);
}

bool rg_joints_vary(const rg_world_content *content) {
    for (size_t i = 0; i < content->joints.count; i++)
        for (size_t k = 0; k < RG_JOINT_AXES_MOST; k++)
            if (content->joint[i].def.axis[k].target_of_time)
                return true;
    return false;
}

rg_status rg_world_check_times(const rg_world *world, double time, rg_error *error) {
    const rg_world_content *c = &world->content;
    rg_error cause = {0};
    double value;
    for (size_t i = 0; i < c->forces.count; i++)
        for (size_t k = 0; k < RG_OF_TIME_COUNT; k++) {
            rg_status status = rg_of_time(c->force[i].of_time[k], time, &value, &cause);
            if (status)
                return rg_fail(error, status, "force %zu: %.200s", i, cause.text);
        }
    for (size_t i = 0; i < c->joints.count; i++)
        for (size_t k = 0; k < RG_JOINT_AXES_MOST; k++) {
            const rg_joint_def *def = &c->joint[i].def;
            rg_status status = rg_of_time(def->axis[k].target_of_time, time, &value, &cause);
            if (status)
                return rg_fail(error, status, "joint %zu \"%s\": its target %.200s", i,
                               def->name ? def->name : "", cause.text);
        }
    for (size_t i = 0; c->prescription_count && i < c->bodies.count; i++) {
        uint32_t index1 = c->record[i].prescription1;
        rg_status status = index1 ? rg_prescription_check_time(
                                        &c->prescriptions[index1 - 1].prescription, time, &cause)
                                  : RG_OK;
        if (status)
            return rg_fail(error, status, "body %zu \"%s\": %.300s", i,
                           c->record[i].name ? c->record[i].name : "", cause.text);
    }
    return RG_OK;
}
