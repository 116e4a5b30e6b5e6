/* One run of a sweep: the scene with the parameters of that run, to its end, as one line. */
#include "cli_sweep.h"

#include "rigor/batch.h"
#include "rigor/recording.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* s of simulated time that all bodies must be slower than the study's `rest`: a ball that turns at
 * the top of its flight stands still, too, but not for so long (its speed passes 1 m/s). */
#define REST_SPAN 0.25
enum { MEASURES = 64, PARAMETERS = 256, LINE = CLI_SWEEP_LINE - 1024 }; /* room for its head */

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
    int length = vsnprintf(t->line + t->length, LINE - t->length, format, arguments);
    va_end(arguments);
    if (length > 0 && (size_t)length < LINE - t->length)
        t->length += (size_t)length;
}

static void add_number(text *t, const char *name, double value) {
    char number[CLI_NUMBER_SIZE];
    add(t, "\t%s=%s", name, isnan(value) ? "" : cli_exact(value, number));
}

/* s: of the clock, of the processor, and what of the latter were steps; NaN: not known. */
typedef struct times {
    double clock, processor, steps;
} times;

/* "\tstatus\tcause\tseconds": what the line of every run begins with. */
static void add_head(text *t, const char *status, const char *cause, times spent) {
    char plain[512];
    size_t k = 0;
    for (; cause[k] && k < sizeof plain - 1; k++)
        plain[k] = (unsigned char)cause[k] < 32 ? ' ' : cause[k];
    plain[k] = '\0';
    add(t, "\t%s\t%s\t%.6f", status, plain, spent.clock);
    if (isnan(spent.processor))
        add(t, ",,");
    else
        add(t, ",%.6f,%.6f", spent.processor, spent.steps);
}

size_t cli_sweep_lost(uint64_t run, const char *status, const char *cause, double seconds,
                      char line[CLI_SWEEP_LINE]) {
    text t = {line, 0};
    add(&t, "%" PRIu64, run);
    add_head(&t, status, cause, (times){seconds, NAN, NAN});
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

typedef struct watch {
    rg_scene *scene;
    const rg_study_info *info;
    double step, slow;
    const char *word;      /* how it ended */
    rg_recorder *recorder; /* or null */
    uint64_t every;        /* steps of a frame */
    rg_study_watch *asked; /* what the study asks of it */
    rg_status status;
    rg_error *error;
} watch;

static void record_step(watch *w, rg_world *world, const rg_step_info *info) {
    if (!w->recorder || w->status != RG_OK)
        return;
    rg_recorder_step(w->recorder, info);
    if (rg_world_step_count(world) % w->every == 0)
        w->status = rg_recorder_frame(w->recorder, NULL, w->error);
}

/* After each step: what is measured, and what stops the run. */
static bool look(void *user, size_t index, rg_world *world, const rg_step_info *info) {
    watch *w = user;
    (void)index;
    rg_scene_observe(w->scene);
    record_step(w, world, info);
    bool stop = false;
    if (rg_study_watch_look(w->asked, &stop, w->error) != RG_OK || stop) {
        w->word = stop ? "condition" : "failed";
        return true;
    }
    if (has_event(world, w->info->stop_event)) {
        w->word = "event";
        return true;
    }
    bool slow = w->info->rest_speed > 0 && all_slow(world, w->info->rest_speed);
    w->slow = slow ? w->slow + w->step : 0;
    if (w->slow >= REST_SPAN)
        w->word = "rest";
    return w->slow >= REST_SPAN;
}

/* Steps to the end or to what stops the run; how it ended, as a word. */
static const char *go(watch *w) {
    rg_world *world = rg_scene_world(w->scene);
    rg_batch *batch;
    double duration = w->info->duration > 0 ? w->info->duration : rg_scene_duration(w->scene);
    w->step = rg_scene_step_size(w->scene), w->word = "done";
    rg_status status = rg_batch_of_worlds(&world, 1, 1, NULL, &batch, w->error);
    if (status == RG_OK) {
        double count = floor(duration / w->step + 0.5);
        rg_batch_steps steps = {.step = w->step,
                                .steps = count < 9e15 ? (size_t)count : SIZE_MAX,
                                .stop = look,
                                .user = w};
        status = rg_batch_step(batch, &steps, w->error);
        rg_batch_destroy(batch);
    }
    return status == RG_OK ? w->word : status == RG_OUT_OF_MEMORY ? "out-of-memory" : "failed";
}

static void add_body(text *t, const rg_world *world, const char *name) {
    double values[RG_STUDY_BODY_FIGURES];
    rg_study_body_figures(world, name, values);
    for (size_t i = 0; i < RG_STUDY_BODY_FIGURES; i++) {
        char column[256];
        snprintf(column, sizeof column, "%s.%s", name, rg_study_body_figure_name(i));
        add_number(t, column, values[i]);
    }
}

static void add_figures(text *t, rg_scene *scene, const rg_study_info *info,
                        rg_study_watch *asked) {
    const rg_world *world = rg_scene_world(scene);
    rg_measure *figures = calloc(info->figure_count + 1, sizeof *figures);
    rg_step_info summary = rg_world_summary(world);
    rg_measure measures[MEASURES];
    size_t count = rg_scene_measures(scene, measures, MEASURES);
    add_number(t, "steps", (double)rg_world_step_count(world));
    add_number(t, "time_s", rg_world_time(world));
    for (size_t i = 0; i < count && i < MEASURES; i++)
        add_number(t, measures[i].name, measures[i].value);
    if (figures && asked) /* what has no value in this run is empty */
        (void)rg_study_watch_figures(asked, measures, count < MEASURES ? count : MEASURES, figures,
                                     NULL);
    for (size_t i = 0; figures && asked && i < info->figure_count; i++)
        add_number(t, figures[i].name, figures[i].value);
    free(figures);
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

static rg_status create_scene(rg_study *study, uint64_t run, rg_scene **scene, rg_error *error) {
    rg_study_info info = rg_study_get_info(study);
    rg_scene_parameter parameters[PARAMETERS];
    rg_study_parameters(study, run, parameters);
    rg_scene_options options = {.parameters = parameters,
                                .parameter_count = info.parameter_count,
                                .method = info.method,
                                .solver = info.solver,
                                .impact = info.impact,
                                .step = info.step,
                                .threads = 1};
    return rg_scene_create(info.scene, &options, scene, error);
}

size_t cli_sweep_run(rg_study *study, uint64_t run, char line[CLI_SWEEP_LINE]) {
    rg_study_info info = rg_study_get_info(study);
    rg_error error = {0};
    watch w = {.info = &info, .error = &error};
    text t = {line, 0};
    double start = cli_clock(), begin = cli_processor_clock(), middle;
    rg_status status = create_scene(study, run, &w.scene, &error);
    if (status == RG_OK)
        status = rg_study_watch_create(study, run, rg_scene_world(w.scene), &w.asked, &error);
    middle = cli_processor_clock();
    const char *word = status == RG_OK              ? go(&w)
                       : status == RG_OUT_OF_MEMORY ? "out-of-memory"
                                                    : "refused";
    double steps = cli_processor_clock() - middle;
    static char found[CLI_SWEEP_LINE];
    text figures = {found, 0};
    if (w.scene)
        add_figures(&figures, w.scene, &info, w.asked);
    rg_study_watch_destroy(w.asked);
    rg_scene_destroy(w.scene);
    add(&t, "%" PRIu64, run);
    add_head(&t, word, error.text,
             (times){cli_clock() - start, cli_processor_clock() - begin, steps});
    memcpy(line + t.length, found, figures.length);
    return t.length + figures.length;
}

enum { FRAMES_A_SECOND = 60 }; /* of a recording; never more than there are steps */

rg_status cli_sweep_record_run(rg_study *study, uint64_t run, const char *path, uint64_t *hash,
                               rg_error *error) {
    rg_study_info info = rg_study_get_info(study);
    watch w = {.info = &info, .error = error};
    rg_recorder_options options = rg_recorder_options_default();
    rg_status status = create_scene(study, run, &w.scene, error);
    if (status == RG_OK)
        status = rg_study_watch_create(study, run, rg_scene_world(w.scene), &w.asked, error);
    if (status != RG_OK) {
        rg_scene_destroy(w.scene);
        return status;
    }
    double steps = floor(1 / (FRAMES_A_SECOND * rg_scene_step_size(w.scene)) + 0.5);
    w.every = steps > 1 ? (uint64_t)steps : 1;
    options.overwrite = true;
    options.duration = info.duration;
    status = rg_recorder_open(w.scene, path, &options, &w.recorder, error);
    if (status == RG_OK) {
        (void)go(&w); /* a run that fails is recorded up to there */
        *hash = rg_world_state_hash(rg_scene_world(w.scene));
        if (w.status == RG_OK && rg_world_step_count(rg_scene_world(w.scene)) % w.every != 0)
            w.status = rg_recorder_frame(w.recorder, NULL, error);
        status = rg_recorder_close(w.recorder, true, w.status == RG_OK ? error : NULL);
        status = w.status != RG_OK ? w.status : status;
    }
    rg_study_watch_destroy(w.asked);
    rg_scene_destroy(w.scene);
    return status;
}
