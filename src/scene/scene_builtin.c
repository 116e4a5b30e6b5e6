/* The list of built-in scenes, and what they share: parameters checked against their ranges,
 * options applied, the world made. */
#include "scene/scene_builtin.h"

#include "base/base_expression.h"
#include "base/base_file.h"
#include "base/base_text.h"
#include "rigor/impact.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define TIGHT_TOLERANCE 1e-12
#define FINE_STEP       1e-3 /* s */

static const rg_builtin *const families[] = {
    rg_builtin_fall,     rg_builtin_stack,  rg_builtin_slide,  rg_builtin_papers,
    rg_builtin_free,     rg_builtin_impact, rg_builtin_bounce, rg_builtin_force,
    rg_builtin_friction, rg_builtin_spin,   rg_builtin_joint,  rg_builtin_mechanism,
    rg_builtin_gallery,  rg_builtin_shapes, rg_builtin_hit,    rg_builtin_drive,
    rg_builtin_teapot,
};
enum { FAMILY_COUNT = sizeof families / sizeof families[0], MOST_BUILTINS = 128 };

/* The index-th scene of all families; null behind the last one. */
static const rg_builtin *builtin_at(size_t index) {
    for (size_t f = 0; f < FAMILY_COUNT; f++)
        for (const rg_builtin *b = families[f]; b->name; b++)
            if (index-- == 0)
                return b;
    return NULL;
}

size_t rg_builtin_count(void) {
    size_t count = 0;
    while (builtin_at(count))
        count++;
    return count;
}

rg_builtin_info rg_builtin_at(size_t index) {
    const rg_builtin *b = builtin_at(index);
    assert(b);
    return (rg_builtin_info){b->name, b->summary, b->parameters, b->parameter_count};
}

const rg_builtin *rg_builtin_find(const char *name) {
    const rg_builtin *builtin = NULL;
    for (size_t i = 0; (builtin = builtin_at(i)) != NULL; i++)
        if (strcmp(builtin->name, name) == 0)
            break;
    return builtin;
}

/* Whether the name lacks no more than the ending of a scene file that is there. */
static bool lacks_ending(const char *name) {
    char path[1024];
    int length = snprintf(path, sizeof path, "%s.yaml", name);
    return length > 0 && (size_t)length < sizeof path && rg_file_is_there(path);
}

rg_status rg_builtin_fail_unknown(const char *name, rg_error *error) {
    const char *names[MOST_BUILTINS];
    size_t count = 0;
    if (lacks_ending(name))
        return rg_fail(error, RG_NOT_FOUND,
                       "%.200s: neither a built-in scene nor a file; did you mean \"%.200s.yaml\"?",
                       name, name);
    for (; count < MOST_BUILTINS && builtin_at(count); count++)
        names[count] = builtin_at(count)->name;
    const char *nearest = rg_nearest_word(name, names, count);
    /* The beginning of a name is near enough, too. */
    for (size_t i = 0; !nearest && strlen(name) > 2 && i < count; i++)
        if (strncmp(names[i], name, strlen(name)) == 0)
            nearest = names[i];
    char list[800];
    if (nearest)
        return rg_fail(error, RG_NOT_FOUND,
                       "%.200s: neither a built-in scene nor a file; did you mean \"%s\"?", name,
                       nearest);
    return rg_fail(error, RG_NOT_FOUND,
                   "%.200s: neither a built-in scene nor a file; the built-in scenes are: %s", name,
                   rg_scene_list_words(names, count, list, sizeof list));
}

static rg_status fail_no_parameter(const rg_builtin *builtin, const char *name, rg_error *error) {
    const char *names[RG_MAX_PARAMETERS];
    for (size_t i = 0; i < builtin->parameter_count; i++)
        names[i] = builtin->parameters[i].name;
    char list[200];
    return rg_fail(error, RG_NOT_FOUND,
                   "%s: there is no parameter \"%.200s\"; the parameters are: %s", builtin->name,
                   name, rg_scene_list_words(names, builtin->parameter_count, list, sizeof list));
}

static rg_status read_word(const rg_builtin *builtin, size_t index, const char *text, double *value,
                           rg_error *error) {
    const char *const *words = builtin->parameters[index].words;
    size_t count = 0;
    for (; words[count]; count++)
        if (strcmp(words[count], text) == 0) {
            *value = (double)count;
            return RG_OK;
        }
    char list[200];
    return rg_fail(error, RG_INVALID_ARGUMENT, "%s: parameter %s=%.200s: must be one of: %s",
                   builtin->name, builtin->parameters[index].name, text,
                   rg_scene_list_words(words, count, list, sizeof list));
}

static rg_status read_value(const rg_builtin *builtin, size_t index, const char *text,
                            double *value, rg_error *error) {
    const rg_builtin_parameter *parameter = &builtin->parameters[index];
    if (parameter->words)
        return read_word(builtin, index, text, value, error);
    rg_error cause = {0};
    rg_status status = rg_expression_evaluate(text, strlen(text), NULL, 0, value, NULL, &cause);
    if (status != RG_OK && status != RG_NOT_FOUND)
        return rg_fail(error, status, "%s: parameter %s=%.200s: %s", builtin->name, parameter->name,
                       text, cause.text);
    if (status == RG_NOT_FOUND || !(*value >= parameter->low && *value <= parameter->high) ||
        (parameter->whole && floor(*value) != *value)) {
        char low[RG_NUMBER_SIZE], high[RG_NUMBER_SIZE];
        return rg_fail(
            error, RG_INVALID_ARGUMENT, "%s: parameter %s=%.200s: must be a %snumber from %s to %s",
            builtin->name, parameter->name, text, parameter->whole ? "whole " : "",
            rg_format_double(parameter->low, low), rg_format_double(parameter->high, high));
    }
    return RG_OK;
}

static rg_status read_values(const rg_builtin *builtin, const rg_scene_options *options,
                             double values[RG_MAX_PARAMETERS], rg_error *error) {
    for (size_t i = 0; i < builtin->parameter_count; i++) {
        rg_status status =
            read_value(builtin, i, builtin->parameters[i].default_value, &values[i], error);
        if (status != RG_OK)
            return status;
    }
    for (size_t p = 0; options && p < options->parameter_count; p++) {
        const rg_scene_parameter *given = &options->parameters[p];
        size_t i = 0;
        while (i < builtin->parameter_count &&
               strcmp(given->name, builtin->parameters[i].name) != 0)
            i++;
        if (i == builtin->parameter_count)
            return fail_no_parameter(builtin, given->name, error);
        rg_status status = read_value(builtin, i, given->value, &values[i], error);
        if (status != RG_OK)
            return status;
    }
    return RG_OK;
}

/* What flags and parameters say of the world. */
static void prepare(const rg_builtin *builtin, const double *values, rg_world_def *def) {
    if (builtin->world & RG_ANALYTIC)
        def->method = rg_method_find("analytic");
    if (builtin->world & RG_PLANAR)
        def->planar = true;
    if (builtin->world & RG_WEIGHTLESS)
        def->gravity = (rg_vec3){0, 0, 0};
    if (builtin->world & RG_TIGHT)
        def->settings.tolerance = TIGHT_TOLERANCE;
    for (size_t i = 0; i < builtin->parameter_count; i++) {
        const rg_builtin_parameter *parameter = &builtin->parameters[i];
        if (strcmp(parameter->name, "seed") == 0)
            def->seed = (uint64_t)values[i];
        if (strcmp(parameter->name, "law") == 0)
            def->settings.impact = rg_impact_law_find(parameter->words[(size_t)values[i]]);
    }
}

/* Keeps the parameters as they were given, so that the scene can be built again. */
static rg_status keep_parameters(rg_scene *scene, const rg_scene_options *options) {
    size_t count = options ? options->parameter_count : 0;
    scene->parameters = rg_allocate_zeroed(&scene->allocator, count, sizeof *scene->parameters);
    if (!scene->parameters)
        return RG_OUT_OF_MEMORY;
    scene->parameter_count = count;
    for (size_t i = 0; i < count; i++) {
        rg_scene_parameter *kept = &scene->parameters[i];
        kept->name = rg_copy_text(&scene->allocator, options->parameters[i].name);
        kept->value = rg_copy_text(&scene->allocator, options->parameters[i].value);
        if (!kept->name || !kept->value)
            return RG_OUT_OF_MEMORY;
    }
    return RG_OK;
}

rg_status rg_scene_create_builtin(const char *name, const rg_scene_options *options,
                                  rg_scene **scene, rg_error *error) {
    assert(name && scene);
    *scene = NULL;
    const rg_builtin *builtin = rg_builtin_find(name);
    if (!builtin)
        return rg_builtin_fail_unknown(name, error);
    double values[RG_MAX_PARAMETERS];
    rg_status status = read_values(builtin, options, values, error);
    if (status != RG_OK)
        return status;
    rg_world_def def = rg_world_def_default();
    def.allocator = rg_allocator_or_default(options ? options->allocator : NULL);
    prepare(builtin, values, &def);
    double step = builtin->world & RG_FINE ? FINE_STEP : RG_DEFAULT_STEP;
    status = rg_scene_apply_options(options, &def, &step, error);
    if (status != RG_OK)
        return status;
    rg_scene *made = rg_scene_make(&def.allocator, name);
    if (!made)
        return rg_fail(error, RG_OUT_OF_MEMORY, "%s: not enough memory", name);
    made->builtin = builtin;
    made->step = step;
    if (builtin->duration > 0)
        made->duration = builtin->duration;
    status = keep_parameters(made, options);
    if (status == RG_OK && builtin->memory && !rg_builtin_remember(made, builtin->memory))
        status = RG_OUT_OF_MEMORY;
    if (status != RG_OK)
        rg_fail(error, status, "%s: not enough memory", name);
    if (status == RG_OK)
        status = rg_world_create(&def, &made->world, error);
    if (status == RG_OK)
        status = builtin->build(made, values, error);
    if (status != RG_OK) {
        rg_scene_destroy(made);
        return status;
    }
    *scene = made;
    return RG_OK;
}
