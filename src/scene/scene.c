/* Scenes: life, questions, and opening by name.
 * Tested by tests/scene/test_reader.c. */
#include "scene/scene_state.h"

#include "base/base_text.h"
#include "rigor/impact.h"
#include "rigor/solver.h"
#include "scene/scene_builtin.h"
#include "world/world.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

rg_scene *rg_scene_make(const rg_allocator *allocator, const char *name) {
    rg_scene *scene = rg_object_make(rg_scene, allocator);
    if (!scene)
        return NULL;
    scene->step = RG_DEFAULT_STEP;
    scene->duration = RG_DEFAULT_DURATION;
    scene->record_every = RG_DEFAULT_RECORD_EVERY;
    scene->name = rg_copy_text(allocator, name);
    if (!scene->name) {
        rg_scene_destroy(scene);
        return NULL;
    }
    return scene;
}

rg_status rg_scene_adopt(rg_world *world, const char *name, rg_scene **scene, rg_error *error) {
    assert(world && name && scene);
    *scene = rg_scene_make(&world->allocator, name);
    if (!*scene)
        return rg_fail(error, RG_OUT_OF_MEMORY, "no memory for a scene");
    (*scene)->world = world;
    return RG_OK;
}

void rg_scene_destroy(rg_scene *scene) {
    if (!scene)
        return;
    const rg_allocator *memory = &scene->allocator;
    rg_world_destroy(scene->world);
    for (size_t i = 0; i < scene->parameter_count; i++)
        rg_release_all(memory, (char *)scene->parameters[i].name,
                       (char *)scene->parameters[i].value);
    rg_release_list(memory, (void **)scene->left_out, scene->left_out_count);
    rg_release_all(memory, scene->name, scene->measuring, scene->parameters, scene->left_out);
    rg_object_release(scene);
}

const char *rg_scene_list_words(const char *const *words, size_t count, char *text, size_t size) {
    size_t length = 0;
    text[0] = 0;
    for (size_t i = 0; i < count && length < size; i++)
        length += (size_t)snprintf(text + length, size - length, "%s%s", i ? ", " : "", words[i]);
    return text;
}

const char *const rg_detection_names[2] = {"continuous", "discrete"};
const char *const rg_hand_over_names[2] = {"none", "stepping"};
const char *const rg_contradictions_names[2] = {"sum", "squares"};
const char *const rg_collisions_names[2] = {"springs", "impulses"};

enum { MOST_NAMES = 16 };

static rg_status apply_method(const char *name, rg_world_def *def, rg_error *error) {
    def->method = rg_method_find(name);
    if (def->method)
        return RG_OK;
    const char *names[MOST_NAMES];
    size_t count = rg_method_count() < MOST_NAMES ? rg_method_count() : MOST_NAMES;
    for (size_t i = 0; i < count; i++)
        names[i] = rg_method_name(rg_method_at(i));
    char list[200];
    return rg_fail(error, RG_NOT_FOUND, "there is no method \"%.100s\"; the methods are: %s", name,
                   rg_scene_list_words(names, count, list, sizeof list));
}

size_t rg_scene_solver_names(const char *names[RG_MAX_SOLVERS]) {
    size_t count = rg_solver_count() < RG_MAX_SOLVERS ? rg_solver_count() : RG_MAX_SOLVERS;
    for (size_t i = 0; i < count; i++)
        names[i] = rg_solver_name(rg_solver_at(i));
    return count;
}

size_t rg_scene_law_names(const char *names[RG_MAX_LAWS]) {
    size_t count = rg_impact_law_count() < RG_MAX_LAWS ? rg_impact_law_count() : RG_MAX_LAWS;
    for (size_t i = 0; i < count; i++)
        names[i] = rg_impact_law_name(rg_impact_law_at(i));
    return count;
}

static rg_status apply_impact(const char *name, rg_world_def *def, rg_error *error) {
    def->settings.impact = rg_impact_law_find(name);
    if (def->settings.impact)
        return RG_OK;
    const char *names[RG_MAX_LAWS];
    size_t count = rg_scene_law_names(names);
    char list[200];
    return rg_fail(error, RG_NOT_FOUND, "there is no impact law \"%.100s\"; the laws are: %s", name,
                   rg_scene_list_words(names, count, list, sizeof list));
}

static rg_status apply_solver(const char *name, rg_world_def *def, rg_error *error) {
    def->settings.solver = rg_solver_find(name);
    if (def->settings.solver)
        return RG_OK;
    const char *names[RG_MAX_SOLVERS];
    size_t count = rg_scene_solver_names(names);
    char list[200];
    rg_scene_list_words(names, count, list, sizeof list);
    if (strcmp(name, "lp") == 0)
        return rg_fail(error, RG_NOT_FOUND,
                       "the solver \"lp\" belongs to the library rigor-lp, which scenes do not "
                       "reach; the solvers of scenes are: %s",
                       list);
    return rg_fail(error, RG_NOT_FOUND, "there is no solver \"%.100s\"; the solvers are: %s", name,
                   list);
}

/* "cone" or "polygon:K"; whether K will do, the settings are asked later. */
static rg_status apply_friction(const char *text, rg_world_def *def, rg_error *error) {
    static const char prefix[] = "polygon:";
    double corners = 0;
    const char *number = text + sizeof prefix - 1;
    bool is_polygon = strncmp(text, prefix, sizeof prefix - 1) == 0;
    if (strcmp(text, "cone") == 0 ||
        (is_polygon && rg_parse_double(number, strlen(number), &corners) && corners >= 1 &&
         corners <= INT_MAX && floor(corners) == corners)) {
        def->settings.friction_directions = (int)corners;
        return RG_OK;
    }
    return rg_fail(error, RG_INVALID_ARGUMENT,
                   "friction: \"%.100s\" is neither cone nor polygon:K with a number K of corners",
                   text);
}

static rg_status apply_detection(const char *text, rg_world_def *def, rg_error *error) {
    for (size_t i = 0; i < 2; i++)
        if (strcmp(text, rg_detection_names[i]) == 0) {
            def->settings.discrete_detection = i == 1;
            return RG_OK;
        }
    return rg_fail(error, RG_INVALID_ARGUMENT,
                   "detection: \"%.100s\" is neither continuous nor discrete", text);
}

static rg_status apply_points(const char *text, rg_world_def *def, rg_error *error) {
    double most = 0;
    if (strcmp(text, RG_POINTS_ALL) == 0 ||
        (rg_parse_double(text, strlen(text), &most) && most >= 1 && most <= RG_POINTS_MOST &&
         floor(most) == most)) {
        def->collision.contacts.reduce_to = (uint32_t)most;
        return RG_OK;
    }
    return rg_fail(error, RG_INVALID_ARGUMENT,
                   "points: \"%.100s\" is neither all nor a number of contact points", text);
}

static rg_status apply_integrator(const char *text, rg_world_def *def, rg_error *error) {
    static const rg_integrator all[] = {RG_INTEGRATOR_DORMAND_PRINCE, RG_INTEGRATOR_ADAMS};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(text, rg_integrator_name(all[i])) == 0) {
            def->settings.integrator = all[i];
            return RG_OK;
        }
    return rg_fail(error, RG_INVALID_ARGUMENT,
                   "integrator: \"%.100s\" is neither dormand-prince nor adams", text);
}

static rg_status apply_root_finder(const char *text, rg_world_def *def, rg_error *error) {
    for (int i = 0; i < RG_ROOT_METHOD_COUNT; i++)
        if (strcmp(text, rg_root_method_name((rg_root_method)i)) == 0) {
            def->settings.root_finder = (rg_root_method)i;
            return RG_OK;
        }
    return rg_fail(error, RG_INVALID_ARGUMENT,
                   "root finder: \"%.100s\" is neither itp nor illinois nor bisection", text);
}

static rg_status check_step(double step, rg_error *error) {
    return isfinite(step) && step > 0
               ? RG_OK
               : rg_fail(error, RG_INVALID_SIZE, "a step must be positive, not %g; in seconds",
                         step);
}

rg_status rg_scene_apply_options(const rg_scene_options *options, rg_world_def *def, double *step,
                                 rg_error *error) {
    if (!options)
        return RG_OK;
    const struct {
        const char *text;
        rg_status (*apply)(const char *text, rg_world_def *def, rg_error *error);
    } given[] = {
        {options->method, apply_method},           {options->solver, apply_solver},
        {options->impact, apply_impact},           {options->integrator, apply_integrator},
        {options->root_finder, apply_root_finder}, {options->friction, apply_friction},
        {options->detection, apply_detection},     {options->points, apply_points},
    };
    rg_status status = RG_OK;
    for (size_t i = 0; i < sizeof given / sizeof *given && !status; i++)
        if (given[i].text)
            status = given[i].apply(given[i].text, def, error);
    if (status != RG_OK)
        return status;
    if (options->step != 0) {
        status = check_step(options->step, error);
        if (status != RG_OK)
            return status;
        *step = options->step;
    }
    if (options->solver_tolerance != 0)
        def->settings.solver_tolerance = options->solver_tolerance;
    if (options->gamma)
        def->settings.gamma = *options->gamma;
    if (options->threads != 0)
        def->threads = options->threads;
    def->no_memory = options->no_memory;
    return rg_settings_check(&def->settings, error);
}

rg_status rg_scene_create(const char *name_or_path, const rg_scene_options *options,
                          rg_scene **scene, rg_error *error) {
    assert(name_or_path && scene);
    *scene = NULL;
    if (rg_builtin_find(name_or_path))
        return rg_scene_create_builtin(name_or_path, options, scene, error);
    rg_error cause = {0};
    rg_status status = rg_scene_read_file(name_or_path, options, scene, &cause);
    /* A word that is no file was meant as the name of a built-in scene. */
    bool word = !strpbrk(name_or_path, "/.");
    if (status == RG_FILE_UNREADABLE && word)
        return rg_builtin_fail_unknown(name_or_path, error);
    if (status != RG_OK && error)
        *error = cause;
    return status;
}

rg_status rg_scene_leave_out(rg_scene *scene, const char *what) {
    if (rg_array_grow(&scene->allocator, &scene->left_out, &scene->left_out_capacity,
                      scene->left_out_count + 1))
        return RG_OUT_OF_MEMORY;
    char *copy = rg_copy_text(&scene->allocator, what);
    if (!copy)
        return RG_OUT_OF_MEMORY;
    scene->left_out[scene->left_out_count++] = copy;
    return RG_OK;
}

size_t rg_scene_left_out_count(const rg_scene *scene) {
    return scene->left_out_count;
}
const char *rg_scene_left_out_at(const rg_scene *scene, size_t index) {
    assert(index < scene->left_out_count);
    return scene->left_out[index];
}
rg_world *rg_scene_world(rg_scene *scene) {
    return scene->world;
}
const char *rg_scene_name(const rg_scene *scene) {
    return scene->name;
}
double rg_scene_step_size(const rg_scene *scene) {
    return scene->step;
}
rg_status rg_scene_set_step_size(rg_scene *scene, double step, rg_error *error) {
    rg_status status = check_step(step, error);
    if (status == RG_OK)
        scene->step = step;
    return status;
}
double rg_scene_duration(const rg_scene *scene) {
    return scene->duration;
}
double rg_scene_record_every(const rg_scene *scene) {
    return scene->record_every;
}

rg_scene_origin rg_scene_get_origin(const rg_scene *scene) {
    return (rg_scene_origin){scene->builtin ? scene->builtin->name : NULL, scene->parameters,
                             scene->parameter_count};
}

rg_status rg_scene_save_observations(const rg_scene *scene, void *buffer, size_t capacity,
                                     size_t *size) {
    *size = scene->measuring_size;
    if (!buffer || *size == 0)
        return RG_OK;
    if (*size > capacity)
        return RG_LIMIT_EXCEEDED;
    memcpy(buffer, scene->measuring, *size);
    return RG_OK;
}

rg_status rg_scene_load_observations(rg_scene *scene, const void *buffer, size_t size,
                                     rg_error *error) {
    if (size != scene->measuring_size)
        return rg_fail(error, RG_FILE_DAMAGED,
                       "%s: %zu bytes of observations, where the scene keeps %zu", scene->name,
                       size, scene->measuring_size);
    if (size > 0)
        memcpy(scene->measuring, buffer, size);
    return RG_OK;
}

void rg_scene_observe(rg_scene *scene) {
    if (scene->builtin && scene->builtin->observe)
        scene->builtin->observe(scene);
}

size_t rg_scene_measures(rg_scene *scene, rg_measure *measures, size_t capacity) {
    if (!scene->builtin || !scene->builtin->measure)
        return 0;
    rg_measure all[RG_MAX_MEASURES];
    size_t count = scene->builtin->measure(scene, all);
    for (size_t i = 0; i < count && i < capacity; i++)
        measures[i] = all[i];
    return count;
}
