/* What a study asks of a run as it goes on: when to stop, times at which something happens, and
 * columns of the table that follow from others. All are expressions (base_expression) of
 *
 *   t, pi, the run's parameters that are numbers, NAME_x ... NAME_wz of the study's bodies,
 *   mean_x ... of the centres of all dynamic bodies, spread_x ...: their mean distance from it
 *
 * and, for columns, the scene's measures, the times, and columns before them.
 * Tested by tests/scene/test_study.c. */
#include "scene/scene_study.h"

#include "base/base_expression.h"
#include "base/base_math.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ALL_FIGURES = 6, NAME = 96 };

struct rg_study_watch {
    rg_allocator allocator;
    const rg_study *study;
    const rg_world *world;
    rg_variable *variables;
    char (*names)[NAME];    /* of the variables */
    size_t count, bodies;   /* variables now, and where those of bodies begin */
    bool asks_for_all;      /* an expression has mean_ or spread_ */
    double *times, *before; /* of each time: when it was, or NaN; the value at the last look */
};

static double *add(rg_study_watch *w, double value, const char *format, const char *first,
                   const char *second) {
    char *name = w->names[w->count];
    snprintf(name, NAME, format, first, second);
    for (char *c = name; *c; c++)
        if (!(*c >= '0' && *c <= '9') && !(*c >= 'a' && *c <= 'z') && !(*c >= 'A' && *c <= 'Z'))
            *c = '_';
    w->variables[w->count] = (rg_variable){name, value, false};
    return &w->variables[w->count++].value;
}

static void add_parameters(rg_study_watch *w, rg_study *study, uint64_t run,
                           rg_scene_parameter *parameters) {
    rg_study_parameters(study, run, parameters);
    for (size_t i = 0; i < study->info.parameter_count; i++) {
        double number;
        if (rg_parse_double(parameters[i].value, strlen(parameters[i].value), &number))
            add(w, number, "%s%s", parameters[i].name, "");
    }
}

/* Their values come with each look. */
static void add_names(rg_study_watch *w) {
    static const char *const axes[3] = {"x", "y", "z"};
    w->bodies = w->count;
    for (size_t b = 0; b < w->study->info.body_count; b++)
        for (size_t i = 0; i < RG_STUDY_BODY_FIGURES; i++)
            add(w, 0, "%s_%s", w->study->bodies[b], rg_study_body_figure_name(i));
    for (size_t i = 0; i < 3; i++)
        add(w, 0, "mean_%s%s", axes[i], "");
    for (size_t i = 0; i < 3; i++)
        add(w, 0, "spread_%s%s", axes[i], "");
}

const char *rg_study_body_figure_name(size_t figure) {
    static const char *const names[RG_STUDY_BODY_FIGURES] = {
        "x", "y", "z", "qx", "qy", "qz", "qw", "vx", "vy", "vz", "wx", "wy", "wz"};
    assert(figure < RG_STUDY_BODY_FIGURES);
    return names[figure];
}

void rg_study_body_figures(const rg_world *world, const char *name,
                           double values[RG_STUDY_BODY_FIGURES]) {
    rg_body_id body;
    bool found = rg_world_find_body(world, name, &body) == RG_OK;
    rg_pose pose = found ? rg_body_pose(world, body) : (rg_pose){0};
    rg_vec3 v = found ? rg_body_velocity(world, body) : (rg_vec3){0};
    rg_vec3 w = found ? rg_body_angular_velocity(world, body) : (rg_vec3){0};
    const rg_vec3 *p = &pose.position;
    const rg_quat *q = &pose.orientation;
    const double all[] = {p->x, p->y, p->z, q->x, q->y, q->z, q->w, v.x, v.y, v.z, w.x, w.y, w.z};
    for (size_t i = 0; i < RG_STUDY_BODY_FIGURES; i++)
        values[i] = found ? all[i] : NAN;
}

static void look_at_body(rg_study_watch *w, size_t b) {
    double values[RG_STUDY_BODY_FIGURES];
    rg_study_body_figures(w->world, w->study->bodies[b], values);
    for (size_t i = 0; i < RG_STUDY_BODY_FIGURES; i++)
        w->variables[w->bodies + RG_STUDY_BODY_FIGURES * b + i].value = values[i];
}

/* In the order of bodies, so that the sums have the same bits always. */
static void look_at_all(rg_study_watch *w) {
    rg_strided centres = rg_world_centre_positions(w->world);
    rg_variable *mean =
        w->variables + w->bodies + RG_STUDY_BODY_FIGURES * w->study->info.body_count;
    double sums[3] = {0}, spreads[3] = {0};
    size_t count = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t b = 0; b < centres.count; b++) {
            if (rg_body_motion(w->world, rg_world_body_at(w->world, b)) != RG_MOTION_DYNAMIC)
                continue;
            const double *x = centres.data + b * centres.stride;
            for (size_t i = 0; i < 3; i++)
                if (pass == 0)
                    sums[i] += x[i];
                else
                    spreads[i] += fabs(x[i] - mean[i].value);
            count += pass == 0;
        }
        for (size_t i = 0; i < 3 && count > 0; i++)
            mean[pass == 0 ? i : i + 3].value = (pass == 0 ? sums[i] : spreads[i]) / (double)count;
    }
}

static bool asks_for_all(const rg_study *study) {
    for (size_t i = 0; i < study->expression_count; i++)
        if (strstr(study->expressions[i].text, "mean_") ||
            strstr(study->expressions[i].text, "spread_"))
            return true;
    return study->stop_when &&
           (strstr(study->stop_when, "mean_") || strstr(study->stop_when, "spread_"));
}

static void update(rg_study_watch *w) {
    w->variables[0].value = rg_world_time(w->world);
    for (size_t b = 0; b < w->study->info.body_count; b++)
        look_at_body(w, b);
    if (w->asks_for_all)
        look_at_all(w);
}

/* RG_OK and NaN where the expression has no value: division by zero, a time that was not. */
static rg_status evaluate(const rg_study_watch *w, const char *what, const char *text,
                          double *value, rg_error *error) {
    rg_error own = {0};
    rg_status status =
        rg_expression_evaluate(text, strlen(text), w->variables, w->count, value, NULL, &own);
    if (status == RG_OK)
        return RG_OK;
    *value = NAN;
    return status == RG_NOT_FOUND || status == RG_SYNTAX
               ? rg_fail(error, status, "%s: \"%s\" %s", what, text, own.text)
               : RG_OK;
}

rg_status rg_study_watch_create(rg_study *study, uint64_t run, const rg_world *world,
                                rg_study_watch **watch, rg_error *error) {
    const rg_allocator *allocator = &study->allocator;
    rg_study_watch *w = rg_object_make(rg_study_watch, allocator);
    size_t parameters = study->info.parameter_count, expressions = study->expression_count;
    *watch = NULL;
    if (w) {
        w->study = study, w->world = world;
        w->asks_for_all = asks_for_all(study);
        size_t most = 2 + parameters + RG_STUDY_BODY_FIGURES * study->info.body_count +
                      ALL_FIGURES + expressions + RG_STUDY_MEASURES;
        w->variables = rg_allocate(allocator, most, sizeof *w->variables);
        w->names = rg_allocate(allocator, most, sizeof *w->names);
        w->times = rg_allocate(allocator, expressions, sizeof *w->times);
        w->before = rg_allocate(allocator, expressions, sizeof *w->before);
    }
    rg_scene_parameter *given = rg_allocate(allocator, parameters, sizeof *given);
    if (!w || !w->variables || !w->names || !w->times || !w->before || !given) {
        rg_release(allocator, given);
        rg_study_watch_destroy(w);
        return rg_fail(error, RG_OUT_OF_MEMORY, "no memory to watch a run");
    }
    add(w, 0, "t%s%s", "", "");
    add(w, RG_PI, "pi%s%s", "", "");
    add_parameters(w, study, run, given);
    add_names(w);
    rg_release(allocator, given);
    for (size_t i = 0; i < expressions; i++)
        w->times[i] = w->before[i] = NAN;
    *watch = w;
    bool stop;
    rg_status status = rg_study_watch_look(w, &stop, error);
    if (status != RG_OK) {
        rg_study_watch_destroy(w);
        *watch = NULL;
    }
    return status;
}

void rg_study_watch_destroy(rg_study_watch *watch) {
    if (!watch)
        return;
    rg_release_all(&watch->allocator, watch->variables, watch->names, watch->times, watch->before);
    rg_object_release(watch);
}

/* The time at which a value passed zero, linear between the two looks. */
static rg_status look_at_time(rg_study_watch *w, size_t i, double last, rg_error *error) {
    const rg_study_expression *e = &w->study->expressions[i];
    double value, now = w->variables[0].value;
    if (!e->is_time || !isnan(w->times[i]))
        return RG_OK;
    rg_status status = evaluate(w, e->name, e->text, &value, error);
    if (status == RG_OK && value > 0) {
        double before = w->before[i];
        w->times[i] = before <= 0 ? last + (now - last) * before / (before - value) : now;
    }
    w->before[i] = value;
    return status;
}

rg_status rg_study_watch_look(rg_study_watch *w, bool *stop, rg_error *error) {
    const rg_study *study = w->study;
    double last = w->variables[0].value, value = NAN;
    *stop = false;
    if (study->expression_count == 0 && !study->stop_when)
        return RG_OK;
    update(w);
    rg_status status = RG_OK;
    for (size_t i = 0; i < study->expression_count && status == RG_OK; i++)
        status = look_at_time(w, i, last, error);
    if (status == RG_OK && study->stop_when)
        status = evaluate(w, "stop.when", study->stop_when, &value, error);
    *stop = value > 0;
    return status;
}

rg_status rg_study_watch_figures(rg_study_watch *w, const rg_measure *measures, size_t count,
                                 rg_measure *figures, rg_error *error) {
    const rg_study *study = w->study;
    rg_status status = RG_OK;
    size_t known = w->count;
    update(w);
    for (size_t i = 0; i < count && i < RG_STUDY_MEASURES; i++)
        add(w, measures[i].value, "%s%s", measures[i].name, "");
    for (size_t i = 0; i < study->expression_count; i++) {
        const rg_study_expression *e = &study->expressions[i];
        double value = w->times[i];
        rg_status one = RG_OK;
        if (!e->is_time)
            one = evaluate(w, e->name, e->text, &value, status == RG_OK ? error : NULL);
        status = status == RG_OK ? one : status;
        figures[i] = (rg_measure){.name = e->name, .value = value};
        add(w, value, "%s%s", e->name, "");
    }
    w->count = known;
    return status;
}
