/* What the poses of any engine are worth: they are put into a world of rigor's, and the same narrow
 * phase, the same energy and the same measures of the scene judge all of them. */
#include "cli_engine.h"

#include "rigor/math.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LATE_SHARE 0.8 /* of the run: from there on the speed of creep is taken */

rg_status cli_engine_open(const char *text, rg_scene **scene, rg_error *error) {
    return cli_engine_open_in(text, NULL, scene, error);
}

rg_status cli_engine_open_in(const char *text, const rg_allocator *allocator, rg_scene **scene,
                             rg_error *error) {
    enum { MOST = 16 };
    char copy[CLI_ENGINE_TEXT], *rest;
    rg_scene_parameter parameters[MOST];
    rg_scene_options options = {.parameters = parameters, .allocator = allocator};
    snprintf(copy, sizeof copy, "%s", text);
    char *name = strtok_r(copy, " ", &rest), *word;
    while ((word = strtok_r(NULL, " ", &rest)) && options.parameter_count < MOST) {
        char *equals = strchr(word, '=');
        if (equals)
            *equals = '\0';
        parameters[options.parameter_count++] =
            (rg_scene_parameter){word, equals ? equals + 1 : ""};
    }
    return rg_scene_create(name ? name : "", &options, scene, error);
}

bool cli_engine_judge_begin(cli_engine_judge *this, const char *scene, rg_error *error) {
    *this = (cli_engine_judge){.late_time = NAN, .joint_error = NAN, .energy_least = INFINITY};
    if (cli_engine_open(scene, &this->scene, error) != RG_OK)
        return false;
    const rg_world *world = rg_scene_world(this->scene);
    size_t count = rg_world_body_count(world);
    rg_collision_def def = rg_collision_def_default();
    this->states = calloc(count + 1, sizeof *this->states);
    this->late = calloc(count + 1, sizeof *this->late);
    if (!this->states || !this->late ||
        rg_collision_create(&def, NULL, &this->collision, error) != RG_OK) {
        snprintf(error->text, sizeof error->text, "no memory");
        return false;
    }
    this->forced = rg_world_force_count(world) > 0;
    for (size_t i = 0; i < count; i++) {
        rg_body_id body = rg_world_body_at(world, i);
        this->states[i] =
            (engine_state){rg_body_centre_pose(world, body), rg_body_velocity(world, body),
                           rg_body_angular_velocity(world, body)};
    }
    return true;
}

void cli_engine_judge_end(cli_engine_judge *this) {
    rg_collision_destroy(this->collision);
    free(this->states), free(this->late);
    rg_scene_destroy(this->scene);
    *this = (cli_engine_judge){0};
}

/* False if they are no poses. */
static bool take(cli_engine_judge *this, const engine_state *states, double time) {
    rg_world *world = rg_scene_world(this->scene);
    if (rg_world_set_time(world, time) != RG_OK)
        return false;
    for (size_t i = 0; i < rg_world_body_count(world); i++) {
        rg_body_id body = rg_world_body_at(world, i);
        if (rg_body_motion(world, body) != RG_MOTION_DYNAMIC)
            continue;
        rg_pose pose = states[i].pose, local = rg_body_local_centre(world, body);
        double length =
            sqrt(pose.orientation.x * pose.orientation.x + pose.orientation.y * pose.orientation.y +
                 pose.orientation.z * pose.orientation.z + pose.orientation.w * pose.orientation.w);
        if (!rg_pose_is_finite(pose) || !(length > 0))
            return false;
        pose.orientation = rg_quat_normalised(pose.orientation);
        pose = rg_pose_compose(pose, rg_pose_inverse(local));
        pose.orientation = rg_quat_normalised(pose.orientation);
        rg_body_state state = {.pose = pose,
                               .velocity = states[i].velocity,
                               .angular_velocity = states[i].angular_velocity};
        if (rg_body_set_state(world, body, &state) != RG_OK)
            return false;
    }
    return true;
}

/* Of a pair: along the separating plane of the narrow phase; of polyhedra that overlap deeply the
 * least way out, which can be shorter. */
static double depth_of(const rg_world *world, const rg_touch *touch, double least) {
    double depth = fmax(0, -touch->gap);
    rg_collider_def a = rg_collider_get_def(world, touch->collider_a);
    rg_collider_def b = rg_collider_get_def(world, touch->collider_b);
    if (depth <= least || !rg_shape_polyhedron(a.shape) || !rg_shape_polyhedron(b.shape))
        return depth;
    rg_depth exact;
    rg_pose pose_a = rg_pose_compose(rg_body_pose(world, touch->body_a), a.pose);
    rg_pose pose_b = rg_pose_compose(rg_body_pose(world, touch->body_b), b.pose);
    if (rg_depth_between(b.shape, pose_b, a.shape, pose_a, &exact) != RG_OK)
        return depth;
    return fmin(depth, fmax(0, exact.depth));
}

static double deepest(const cli_engine_judge *this) {
    const rg_world *world = rg_scene_world(this->scene);
    rg_collision_view view = rg_collision_get(this->collision);
    double depth = 0;
    for (size_t i = 0; i < view.touch_count; i++)
        if (!view.touches[i].sensor)
            depth = fmax(depth, depth_of(world, &view.touches[i], depth));
    return depth;
}

/* The largest distance of a dynamic body's centre from a place. */
static double farthest(const cli_engine_judge *this, const engine_state *states, bool from_late) {
    const rg_world *world = rg_scene_world(this->scene);
    double far = 0;
    for (size_t i = 0; i < rg_world_body_count(world); i++) {
        rg_vec3 from = from_late ? this->late[i] : this->states[i].pose.position;
        if (rg_body_motion(world, rg_world_body_at(world, i)) == RG_MOTION_DYNAMIC)
            far = fmax(far, rg_length(rg_sub(states[i].pose.position, from)));
    }
    return far;
}

static void look_at_joints(cli_engine_judge *this) {
    const rg_world *world = rg_scene_world(this->scene);
    for (size_t i = 0; i < rg_world_joint_count(world); i++)
        this->joint_error =
            fmax(this->joint_error, rg_joint_error(world, rg_world_joint_at(world, i)));
}

static void look_at_motion(cli_engine_judge *this, const engine_state *states, double duration) {
    size_t count = rg_world_body_count(rg_scene_world(this->scene));
    this->drift = farthest(this, states, false);
    if (!isnan(this->late_time)) {
        this->creep = farthest(this, states, true) / (this->time - this->late_time);
    } else if (this->time >= LATE_SHARE * duration) {
        for (size_t i = 0; i < count; i++)
            this->late[i] = states[i].pose.position;
        this->late_time = this->time;
    }
}

void cli_engine_judge_look(cli_engine_judge *this, const engine_state *states, double time,
                           double duration) {
    if (this->broken)
        return;
    rg_world *world = rg_scene_world(this->scene);
    this->time = time;
    if (!take(this, states, time) ||
        rg_collision_update(this->collision, world, 0, NULL) != RG_OK) {
        this->broken = true;
        this->deepest = this->last_depth = this->drift = this->creep = this->energy_rise = INFINITY;
        this->joint_error = isnan(this->joint_error) ? NAN : INFINITY;
        return;
    }
    if (time > 0)
        rg_scene_observe(this->scene);
    double energy = rg_world_energy(world);
    this->last_depth = deepest(this);
    this->deepest = fmax(this->deepest, this->last_depth);
    this->energy_scale = fmax(this->energy_scale, fabs(energy));
    this->energy_least = fmin(this->energy_least, energy);
    this->energy_rise = fmax(this->energy_rise, energy - this->energy_least);
    look_at_joints(this);
    look_at_motion(this, states, duration);
}
