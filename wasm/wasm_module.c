/* What a WebAssembly module of the library exports, for npm/rigor.mjs.
 *
 * Scenes from text or built in, steps, the state as plain arrays, and a live run as the viewer's
 * page speaks with one (docs/view-format.md, Live), carried out turn by turn by the host instead of
 * by a thread. Texts go in as pointers to bytes that end with a zero byte. What comes out is valid
 * until the next call. A failure is a null pointer or a status that is not 0; rigor_error_text and
 * its companions say more. Tested by wasm/tests/test_node.mjs. */
#include "wasm_module.h"

#include "view_json.h"
#include "view_live.h"

#include "rigor/body.h"
#include "rigor/scene.h"
#include "rigor/version.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PARAMETERS = 32, ERROR_BYTES = 6 * VIEW_OUTBOX_PROBLEM_SIZE + 64 };

static rg_error last;

/* A failure that came without words gets those of its status. */
static rg_status noted(rg_status status) {
    last.status = status;
    if (status != RG_OK && last.text[0] == '\0')
        strncpy(last.text, rg_status_text(status), sizeof last.text - 1);
    return status;
}

int rigor_error_status(void) {
    return (int)last.status;
}

const char *rigor_error_name(void) {
    return rg_status_name(last.status);
}

const char *rigor_error_text(void) {
    return last.text;
}

int rigor_error_line(void) {
    return last.line;
}

int rigor_error_column(void) {
    return last.column;
}

const char *rigor_version(void) {
    return rg_version_text();
}

/* ---- scenes ---- */

/* An option of `rigor run` by its name there; false: there is none. */
static bool read_option(const char *name, const char *value, rg_scene_options *options) {
    const struct {
        const char *name;
        const char **place;
    } texts[] = {{"--method", &options->method},         {"--solver", &options->solver},
                 {"--friction", &options->friction},     {"--impact", &options->impact},
                 {"--integrator", &options->integrator}, {"--root-finder", &options->root_finder},
                 {"--points", &options->points}};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (strcmp(name, texts[i].name) == 0) {
            *texts[i].place = value;
            return true;
        }
    return false;
}

/* `words` is "name", "value", "name", "value" and so on, each with its zero byte. */
static rg_status read_words(const char *words, size_t count, rg_scene_parameter *parameters,
                            rg_scene_options *options) {
    for (size_t i = 0; i < count; i++) {
        const char *name = words, *value = words + strlen(words) + 1;
        words = value + strlen(value) + 1;
        if (read_option(name, value, options))
            continue;
        if (options->parameter_count == MOST_PARAMETERS) {
            snprintf(last.text, sizeof last.text, "there are more than %d parameters",
                     MOST_PARAMETERS);
            return RG_LIMIT_EXCEEDED;
        }
        parameters[options->parameter_count++] = (rg_scene_parameter){name, value};
    }
    return RG_OK;
}

rg_scene *rigor_scene_open(const char *name, const char *text, size_t size, const char *words,
                           size_t count) {
    rg_scene_parameter parameters[MOST_PARAMETERS];
    rg_scene_options options = {.parameters = parameters};
    rg_scene *scene = NULL;
    last = (rg_error){0};
    if (noted(read_words(words, count, parameters, &options)) != RG_OK)
        return NULL;
    noted(text ? rg_scene_read_text(text, size, name, NULL, &options, &scene, &last)
               : rg_scene_create(name, &options, &scene, &last));
    return scene;
}

void rigor_scene_close(rg_scene *scene) {
    rg_scene_destroy(scene);
}

const char *rigor_scene_name(const rg_scene *scene) {
    return rg_scene_name(scene);
}

double rigor_scene_step_size(const rg_scene *scene) {
    return rg_scene_step_size(scene);
}

double rigor_scene_duration(const rg_scene *scene) {
    return rg_scene_duration(scene);
}

/* The scene as a file; null: it cannot be one. The caller frees it. */
char *rigor_scene_text(const rg_scene *scene) {
    char *text = NULL;
    size_t size;
    last = (rg_error){0};
    return noted(rg_scene_write_text(scene, NULL, &text, &size, &last)) == RG_OK ? text : NULL;
}

int rigor_scene_step(rg_scene *scene, double step, double count) {
    rg_world *world = rg_scene_world(scene);
    rg_status status = RG_OK;
    last = (rg_error){0};
    for (double i = 0; i < count && status == RG_OK; i++) {
        status = rg_world_step(world, step, NULL, &last);
        rg_scene_observe(scene);
    }
    return (int)noted(status);
}

double rigor_scene_time(rg_scene *scene) {
    return rg_world_time(rg_scene_world(scene));
}

double rigor_scene_energy(rg_scene *scene) {
    return rg_world_energy(rg_scene_world(scene));
}

uint64_t rigor_scene_hash(rg_scene *scene) {
    return rg_world_state_hash(rg_scene_world(scene));
}

size_t rigor_scene_body_count(rg_scene *scene) {
    return rg_world_body_count(rg_scene_world(scene));
}

const char *rigor_scene_body_name(rg_scene *scene, size_t index) {
    rg_world *world = rg_scene_world(scene);
    return rg_body_name(world, rg_world_body_at(world, index));
}

/* Origin and orientation of every body: x y z, x y z w. */
void rigor_scene_poses(rg_scene *scene, double *values) {
    rg_world *world = rg_scene_world(scene);
    for (size_t i = 0; i < rg_world_body_count(world); i++, values += 7) {
        rg_pose pose = rg_body_pose(world, rg_world_body_at(world, i));
        memcpy(values, &pose.position, 3 * sizeof *values);
        memcpy(values + 3, &pose.orientation, 4 * sizeof *values);
    }
}

/* Of the origins, and angular: x y z, x y z. */
void rigor_scene_velocities(rg_scene *scene, double *values) {
    rg_world *world = rg_scene_world(scene);
    for (size_t i = 0; i < rg_world_body_count(world); i++, values += 6) {
        rg_body_id body = rg_world_body_at(world, i);
        rg_vec3 linear = rg_body_velocity(world, body);
        rg_vec3 angular = rg_body_angular_velocity(world, body);
        memcpy(values, &linear, 3 * sizeof *values);
        memcpy(values + 3, &angular, 3 * sizeof *values);
    }
}

/* Since the beginning: the worst penetration (m), complementarity and momentum error, and whether
 * every step was solved and nothing has passed through anything. */
void rigor_scene_certificate(rg_scene *scene, double values[5]) {
    rg_step_info sums = rg_world_summary(rg_scene_world(scene));
    values[0] = sums.certificate.max_penetration;
    values[1] = sums.certificate.complementarity;
    values[2] = sums.certificate.momentum_error;
    values[3] = (double)sums.solver_failures;
    values[4] = (double)sums.passed_through;
}

size_t rigor_builtin_count(void) {
    return rg_builtin_count();
}

const char *rigor_builtin_name(size_t index) {
    return rg_builtin_at(index).name;
}

const char *rigor_builtin_summary(size_t index) {
    return rg_builtin_at(index).summary;
}

/* ---- live runs ---- */

struct rigor_live {
    view_live *run;
    view_outbox *box;
    view_parcel parcel; /* what was taken out last; its manifest and frame are released with it */
    char text[ERROR_BYTES];
};

rigor_live *rigor_live_open(rg_scene *scene, bool paused) {
    view_live_options options = {.paused = paused, .by_turns = true};
    rigor_live *live = calloc(1, sizeof *live);
    last = (rg_error){0};
    if (!live) {
        noted(RG_OUT_OF_MEMORY);
        return NULL;
    }
    if (noted(view_live_create(scene, &options, &live->run, &last)) == RG_OK)
        live->box = view_live_join(live->run);
    if (!live->box) {
        view_live_destroy(live->run);
        free(live);
        return NULL;
    }
    return live;
}

static void let_go(rigor_live *live) {
    view_bytes_release(live->parcel.manifest);
    view_bytes_release(live->parcel.frame);
    live->parcel = (view_parcel){0};
}

void rigor_live_close(rigor_live *live) {
    let_go(live);
    view_live_leave(live->run, live->box);
    view_outbox_destroy(live->box);
    view_live_destroy(live->run);
    free(live);
}

void rigor_live_post(rigor_live *live, const char *text, size_t size) {
    view_message message;
    char problem[VIEW_PROBLEM_SIZE];
    if (view_message_read(text, size, &message, problem))
        view_live_post(live->run, live->box, &message);
    else
        view_outbox_problem(live->box, problem);
}

double rigor_live_turn(rigor_live *live) {
    return view_live_turn(live->run);
}

uint64_t rigor_live_hash(rigor_live *live) {
    return rg_world_state_hash(rg_scene_world(view_live_scene(live->run)));
}

double rigor_live_steps(rigor_live *live) {
    return (double)rg_world_step_count(rg_scene_world(view_live_scene(live->run)));
}

bool rigor_live_take(rigor_live *live) {
    let_go(live);
    return view_outbox_take(live->box, 0, &live->parcel);
}

const char *rigor_live_problem(rigor_live *live, size_t index) {
    if (index >= live->parcel.problem_count)
        return NULL;
    view_text text = {.bytes = live->text, .capacity = sizeof live->text};
    view_text_put(&text, "{\"type\":\"error\",\"text\":");
    view_text_put_string(&text, live->parcel.problems[index]);
    view_text_put(&text, "}");
    return live->text;
}

const char *rigor_live_state(rigor_live *live) {
    if (!live->parcel.state)
        return NULL;
    size_t size = view_live_state(live->run, live->parcel.dropped, live->text);
    live->text[size] = '\0';
    return live->text;
}

static const unsigned char *part(view_bytes *bytes, size_t *size) {
    *size = bytes ? view_bytes_size(bytes) : 0;
    return bytes ? view_bytes_data(bytes) : NULL;
}

const unsigned char *rigor_live_manifest(rigor_live *live, size_t *size) {
    return part(live->parcel.manifest, size);
}

const unsigned char *rigor_live_frame(rigor_live *live, size_t *size) {
    return part(live->parcel.frame, size);
}
