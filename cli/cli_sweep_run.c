/* One run of a sweep: the scene with the parameters of that run, to its end, as one line. */
#include "cli_sweep.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* s of simulated time that all bodies must be slower than the study's `rest`: a ball that turns at
 * the top of its flight stands still, too, but not for so long (its speed passes 1 m/s). */
#define REST_SPAN 0.25
enum { MEASURES = 64, PARAMETERS = 256 };

typedef struct text {
    char *line;
    size_t length;
} text;

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static void
add(text *t, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(t->line + t->length, CLI_SWEEP_LINE - t->length, format, arguments);
    va_end(arguments);
    if (length > 0 && (size_t)length < CLI_SWEEP_LINE - t->length)
        t->length += (size_t)length;
}

static void add_number(text *t, const char *name, double value) {
    char number[CLI_NUMBER_SIZE];
    add(t, "\t%s=%s", name, isnan(value) ? "" : cli_exact(value, number));
}

/* "\tstatus\tcause\tseconds": what the line of every run begins with. */
static void add_head(text *t, const char *status, const char *cause, double seconds) {
    char plain[512];
    size_t k = 0;
    for (; cause[k] && k < sizeof plain - 1; k++)
        plain[k] = (unsigned char)cause[k] < 32 ? ' ' : cause[k];
    plain[k] = '\0';
    add(t, "\t%s\t%s\t%.3f", status, plain, seconds);
}

size_t cli_sweep_lost(uint64_t run, const char *status, const char *cause, double seconds,
                      char line[CLI_SWEEP_LINE]) {
    text t = {line, 0};
    add(&t, "%" PRIu64, run);
    add_head(&t, status, cause, seconds);
    return t.length;
}

static bool all_slow(const rg_world *world, double limit) {
    for (size_t i = 0; i < rg_world_body_count(world); i++) {
        rg_body_id body = rg_world_body_at(world, i);
        rg_vec3 v = rg_body_velocity(world, body), w = rg_body_angular_velocity(world, body);
        if (rg_body_motion(world, body) == RG_MOTION_DYNAMIC &&
            (v.x * v.x + v.y * v.y + v.z * v.z > limit * limit ||
             w.x * w.x + w.y * w.y + w.z * w.z > limit * limit))
            return false;
    }
    return true;
}

static bool has_event(const rg_world *world, const char *kind) {
    size_t kept, count;
    const rg_step_event *events = rg_world_step_events(world, &kept, &count);
    for (size_t i = 0; kind && i < kept; i++)
        if (strcmp(rg_step_event_name((rg_step_event_kind)events[i].kind), kind) == 0)
            return true;
    return false;
}

/* Steps to the end or to what stops the run; how it ended, as a word. */
static const char *go(rg_scene *scene, const rg_study_info *info, rg_error *error) {
    rg_world *world = rg_scene_world(scene);
    double step = rg_scene_step_size(scene);
    double duration = info->duration > 0 ? info->duration : rg_scene_duration(scene);
    double slow = 0;
    for (double steps = floor(duration / step + 0.5); steps > 0; steps--) {
        rg_status status = rg_world_step(world, step, NULL, error);
        if (status != RG_OK)
            return status == RG_OUT_OF_MEMORY ? "out-of-memory" : "failed";
        rg_scene_observe(scene);
        if (has_event(world, info->stop_event))
            return "event";
        slow = info->rest_speed > 0 && all_slow(world, info->rest_speed) ? slow + step : 0;
        if (slow >= REST_SPAN)
            return "rest";
    }
    return "done";
}

static void add_body(text *t, const rg_world *world, const char *name) {
    static const char *const suffixes[] = {"x",  "y",  "z",  "qx", "qy", "qz", "qw",
                                           "vx", "vy", "vz", "wx", "wy", "wz"};
    enum { FIGURES = sizeof suffixes / sizeof suffixes[0] };
    double values[FIGURES];
    rg_body_id body;
    bool found = rg_world_find_body(world, name, &body) == RG_OK;
    for (int i = 0; i < FIGURES; i++)
        values[i] = NAN;
    if (found) {
        rg_pose pose = rg_body_pose(world, body);
        rg_vec3 v = rg_body_velocity(world, body), w = rg_body_angular_velocity(world, body);
        const double all[FIGURES] = {pose.position.x,
                                     pose.position.y,
                                     pose.position.z,
                                     pose.orientation.x,
                                     pose.orientation.y,
                                     pose.orientation.z,
                                     pose.orientation.w,
                                     v.x,
                                     v.y,
                                     v.z,
                                     w.x,
                                     w.y,
                                     w.z};
        memcpy(values, all, sizeof all);
    }
    for (int i = 0; i < FIGURES; i++) {
        char column[256];
        snprintf(column, sizeof column, "%s.%s", name, suffixes[i]);
        add_number(t, column, values[i]);
    }
}

static void add_figures(text *t, rg_scene *scene, const rg_study_info *info) {
    const rg_world *world = rg_scene_world(scene);
    rg_step_info summary = rg_world_summary(world);
    rg_measure measures[MEASURES];
    size_t count = rg_scene_measures(scene, measures, MEASURES);
    add_number(t, "steps", (double)rg_world_step_count(world));
    add_number(t, "time_s", rg_world_time(world));
    for (size_t i = 0; i < count && i < MEASURES; i++)
        add_number(t, measures[i].name, measures[i].value);
    for (size_t i = 0; i < info->body_count; i++)
        add_body(t, world, info->bodies[i]);
    const rg_certificate *c = &summary.certificate;
    add_number(t, "min_gap_m", c->min_gap);
    add_number(t, "max_penetration_m", c->max_penetration);
    add_number(t, "complementarity", c->complementarity);
    add_number(t, "joint_error_m", c->joint_error);
    add_number(t, "momentum_error_rel", c->momentum_error);
    add_number(t, "closure_rel", summary.energy.closure_rel);
    add_number(t, "solves", (double)summary.solves);
    add_number(t, "solver_iterations", (double)summary.solver_iterations);
    add_number(t, "solver_failures", (double)summary.solver_failures);
    add_number(t, "passed_through", (double)summary.passed_through);
    add(t, "\tstate_hash=%016" PRIx64, rg_world_state_hash(world));
}

size_t cli_sweep_run(rg_study *study, uint64_t run, char line[CLI_SWEEP_LINE]) {
    rg_study_info info = rg_study_get_info(study);
    rg_scene_parameter parameters[PARAMETERS];
    rg_error error = {0};
    rg_scene *scene = NULL;
    text t = {line, 0};
    double start = cli_clock();
    rg_study_parameters(study, run, parameters);
    rg_scene_options options = {.parameters = parameters,
                                .parameter_count = info.parameter_count,
                                .method = info.method,
                                .solver = info.solver,
                                .impact = info.impact,
                                .step = info.step,
                                .threads = 1};
    rg_status status = rg_scene_create(info.scene, &options, &scene, &error);
    const char *word = status == RG_OK              ? go(scene, &info, &error)
                       : status == RG_OUT_OF_MEMORY ? "out-of-memory"
                                                    : "refused";
    add(&t, "%" PRIu64, run);
    add_head(&t, word, error.text, cli_clock() - start);
    if (scene)
        add_figures(&t, scene, &info);
    rg_scene_destroy(scene);
    return t.length;
}
