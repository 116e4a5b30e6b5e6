/* Built-in scenes run to their end, and their measures held against what they expect. */
#ifndef RIGOR_TEST_SCENE_MEASURES_H
#define RIGOR_TEST_SCENE_MEASURES_H

#include "both_integrators.h"
#include "test_scene_support.h"

#include <math.h>
#include <stdio.h>

enum { MEASURES_MOST = 16, PARAMETERS_MOST = 8 };

/* "count=5 moving=2"; `method` and `law` may be null, `step` 0: the scene's own; `integrator` null:
 * the test's. */
typedef struct scene_run {
    const char *scene, *parameters, *method, *law, *integrator;
    double step, duration;
} scene_run;

static inline rg_scene *build_run(const scene_run *run) {
    char text[256];
    rg_scene_parameter given[PARAMETERS_MOST];
    size_t count = 0;
    snprintf(text, sizeof text, "%s", run->parameters ? run->parameters : "");
    for (char *word = strtok(text, " "); word; word = strtok(NULL, " ")) {
        char *equals = strchr(word, '=');
        assert_true(equals && count < PARAMETERS_MOST);
        *equals = '\0';
        given[count++] = (rg_scene_parameter){word, equals + 1};
    }
    rg_scene_options options = {.parameters = given,
                                .parameter_count = count,
                                .method = run->method,
                                .impact = run->law,
                                .integrator = run->integrator ? run->integrator
                                              : test_integrator == RG_INTEGRATOR_ADAMS ? "adams"
                                                                                       : NULL,
                                .step = run->step};
    rg_scene *scene;
    rg_error error = {0};
    if (rg_scene_create_builtin(run->scene, &options, &scene, &error))
        fail_msg("%s", error.text);
    return scene;
}

static inline rg_scene *finish_run(const scene_run *run) {
    rg_scene *scene = build_run(run);
    run_scene(scene, run->duration > 0 ? run->duration : rg_scene_duration(scene));
    return scene;
}

static inline rg_measure find_measure(rg_scene *scene, const char *name) {
    rg_measure measures[MEASURES_MOST];
    size_t count = rg_scene_measures(scene, measures, MEASURES_MOST);
    for (size_t i = 0; i < count && i < MEASURES_MOST; i++)
        if (strcmp(measures[i].name, name) == 0)
            return measures[i];
    fail_msg("%s has no measure %s", rg_scene_name(scene), name);
    return (rg_measure){0};
}

/* Every measure that expects something, to a relative (around 0: absolute) tolerance; how many
 * there are. */
static inline size_t measures_hold(rg_scene *scene, double tolerance) {
    rg_measure measures[MEASURES_MOST];
    size_t count = rg_scene_measures(scene, measures, MEASURES_MOST), held = 0;
    for (size_t i = 0; i < count && i < MEASURES_MOST; i++) {
        const rg_measure *m = &measures[i];
        if (!m->has_expected)
            continue;
        double scale = m->expected != 0 ? fabs(m->expected) : 1;
        if (!(fabs(m->value - m->expected) <= (m->is_truth ? 0 : tolerance * scale)))
            fail_msg("%s: %s is %.15g, not %.15g", rg_scene_name(scene), m->name, m->value,
                     m->expected);
        held++;
    }
    return held;
}

/* Runs it; all that it expects holds, nothing penetrates by more than rounding, and the ledger
 * closes. */
static inline void run_holds(const scene_run *run, double tolerance) {
    rg_scene *scene = finish_run(run);
    rg_step_info summary = rg_world_summary(rg_scene_world(scene));
    assert_true(measures_hold(scene, tolerance) > 0);
    assert_true(summary.certificate.max_penetration <= 1e-12);
    assert_true(summary.energy.closure_rel <= 1e-8);
    rg_scene_destroy(scene);
}

/* One measure against a number that was worked out elsewhere. */
static inline void run_gives(const scene_run *run, const char *measure, double value,
                             double tolerance) {
    rg_scene *scene = finish_run(run);
    double scale = value != 0 ? fabs(value) : 1;
    assert_near(find_measure(scene, measure).value, value, tolerance * scale);
    rg_scene_destroy(scene);
}

/* Writes it and reads it back: the same state, and the same after some steps. */
static inline void survives_a_file(const scene_run *run) {
    rg_scene *scene = build_run(run), *again;
    char *text;
    size_t size;
    rg_error error = {0};
    if (rg_scene_write_text(scene, NULL, &text, &size, &error))
        fail_msg("%s: %s", run->scene, error.text);
    if (rg_scene_read_text(text, size, "written.yaml", ".", NULL, &again, &error))
        fail_msg("%s: %s", run->scene, error.text);
    rg_world *a = rg_scene_world(scene), *b = rg_scene_world(again);
    assert_ptr_equal(rg_world_method(a), rg_world_method(b));
    assert_ptr_equal(rg_world_settings(a).impact, rg_world_settings(b).impact);
    assert_true(rg_world_state_hash(a) == rg_world_state_hash(b));
    double step = rg_scene_step_size(scene);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(rg_world_step(a, step, NULL, &error), RG_OK);
        assert_int_equal(rg_world_step(b, step, NULL, &error), RG_OK);
    }
    assert_true(rg_world_state_hash(a) == rg_world_state_hash(b));
    free(text);
    rg_scene_destroy(scene);
    rg_scene_destroy(again);
}

#endif
