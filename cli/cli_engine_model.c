/* A world as other engines get it (cli_peer.h): bodies of one convex shape each, in frames of
 * centre of mass and principal axes. */
#include "cli_engine.h"

#include "rigor/math.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Null: there is the same in all engines. */
static const char *fill_shape(engine_body *body, const rg_shape *shape, rg_pose world_pose) {
    rg_shape_def def = rg_shape_get_def(shape);
    switch (def.kind) {
    case RG_SHAPE_HALFSPACE:
        body->shape = ENGINE_HALFSPACE;
        body->normal = rg_rotate(world_pose.orientation, def.normal);
        body->offset = def.offset + rg_dot(body->normal, world_pose.position);
        return NULL;
    case RG_SHAPE_BOX:
        body->shape = ENGINE_BOX, body->size = def.size;
        return NULL;
    case RG_SHAPE_SPHERE:
        body->shape = ENGINE_SPHERE, body->radius = def.radius;
        return NULL;
    case RG_SHAPE_HULL:
        body->shape = ENGINE_HULL, body->hull = rg_shape_polyhedron(shape);
        return NULL;
    default:
        return "a shape other than half-space, box, sphere and hull";
    }
}

static const char *fill_body(engine_body *body, const rg_world *world, rg_body_id id) {
    if (rg_body_motion(world, id) == RG_MOTION_KINEMATIC)
        return "kinematic bodies";
    if (rg_body_collider_count(world, id) != 1)
        return "bodies with several shapes, or none";
    rg_collider_def collider = rg_collider_get_def(world, rg_body_collider_at(world, id, 0));
    rg_pose local = rg_body_local_centre(world, id);
    *body = (engine_body){.pose = rg_body_centre_pose(world, id),
                          .velocity = rg_body_velocity(world, id),
                          .angular_velocity = rg_body_angular_velocity(world, id),
                          .material = collider.material.index1,
                          .shape_pose = rg_pose_compose(rg_pose_inverse(local), collider.pose)};
    if (rg_body_motion(world, id) == RG_MOTION_DYNAMIC) {
        rg_mass_properties mass = rg_body_mass(world, id);
        body->mass = mass.mass;
        body->inertia = rg_mass_principal_axes(&mass.inertia).moments;
        if (rg_body_gravity_scale(world, id) != 1)
            return "bodies with a gravity of their own";
    }
    return fill_shape(body, collider.shape, rg_pose_compose(body->pose, body->shape_pose));
}

static const char *fill_forces(engine_body *bodies, const rg_world *world) {
    for (size_t i = 0; i < rg_world_force_count(world); i++) {
        rg_force_def def = rg_force_get_def(world, rg_world_force_at(world, i));
        if (def.kind != RG_FORCE_CONSTANT || !def.body.index1 || rg_length(def.torque) > 0 ||
            isfinite(def.start_time) || isfinite(def.stop_time))
            return "forces that change";
        size_t at = rg_body_index(world, def.body);
        if (rg_length(rg_sub(def.point, rg_body_local_centre(world, def.body).position)) > 0)
            return "forces beside the centre of mass";
        bodies[at].force = rg_add(bodies[at].force, def.force);
    }
    return NULL;
}

/* An axis that nothing acts on. */
static bool is_bare(const rg_joint_axis *a) {
    return a->lower == -INFINITY && a->upper == INFINITY && a->stiffness == 0 && a->damping == 0 &&
           a->friction == 0 && a->armature == 0 && a->motor == RG_MOTOR_NONE;
}

static const char *fill_joint(engine_joint *joint, const rg_world *world, rg_joint_id id) {
    rg_joint_def def = rg_joint_get_def(world, id);
    bool hinge = def.kind == RG_JOINT_HINGE;
    if (def.kind != RG_JOINT_BALL && !hinge)
        return "joints other than balls and hinges";
    if (def.collide || (hinge && !is_bare(&def.axis[0])) || isfinite(def.break_force) ||
        isfinite(def.break_torque))
        return "joints with limits, springs, motors or friction, or that touch or break";
    *joint = (engine_joint){.kind = hinge ? ENGINE_HINGE : ENGINE_BALL};
    const rg_body_id body[2] = {def.body_a, def.body_b};
    for (int i = 0; i < 2; i++)
        joint->body[i] = body[i].index1 ? rg_body_index(world, body[i]) : SIZE_MAX;
    rg_pose frame = def.frame_b;
    if (def.body_b.index1)
        frame = rg_pose_compose(rg_body_pose(world, def.body_b), frame);
    joint->point = frame.position;
    joint->axis = rg_rotate(frame.orientation, rg_vec3_make(0, 0, 1));
    return NULL;
}

static const char *fill_laws(cli_engine_model *model, const rg_world *world) {
    size_t n = model->model.material_count;
    for (size_t i = 0; i < n * n; i++) {
        rg_material_id a = {(uint32_t)(i / n)}, b = {(uint32_t)(i % n)};
        rg_contact_law law = rg_world_pair_law(world, a, b);
        model->friction[i] = law.friction, model->restitution[i] = law.restitution;
        if (law.static_friction != law.friction)
            return "coefficients of friction for stick and slip";
    }
    return NULL;
}

bool cli_engine_model_make(cli_engine_model *model, const rg_world *world, double step,
                           char why[CLI_ENGINE_TEXT]) {
    size_t bodies = rg_world_body_count(world), materials = rg_world_material_count(world);
    size_t joints = rg_world_joint_count(world);
    *model = (cli_engine_model){.model = {.body_count = bodies,
                                          .joint_count = joints,
                                          .gravity = rg_world_gravity(world),
                                          .step = step,
                                          .material_count = materials}};
    model->bodies = calloc(bodies + 1, sizeof *model->bodies);
    model->joints = calloc(joints + 1, sizeof *model->joints);
    model->friction = calloc(materials * materials, sizeof(double));
    model->restitution = calloc(materials * materials, sizeof(double));
    const char *wrong = NULL;
    if (!model->bodies || !model->joints || !model->friction || !model->restitution)
        wrong = "more memory";
    else if (rg_world_is_planar(world))
        wrong = "a planar world";
    for (size_t i = 0; i < bodies && !wrong; i++)
        wrong = fill_body(&model->bodies[i], world, rg_world_body_at(world, i));
    for (size_t i = 0; i < joints && !wrong; i++)
        wrong = fill_joint(&model->joints[i], world, rg_world_joint_at(world, i));
    if (!wrong)
        wrong = fill_forces(model->bodies, world);
    if (!wrong)
        wrong = fill_laws(model, world);
    model->model.bodies = model->bodies, model->model.joints = model->joints;
    model->model.friction = model->friction, model->model.restitution = model->restitution;
    if (!wrong)
        return true;
    snprintf(why, CLI_ENGINE_TEXT, "the scene has %s", wrong);
    cli_engine_model_free(model);
    return false;
}

void cli_engine_model_free(cli_engine_model *model) {
    free(model->bodies), free(model->joints), free(model->friction), free(model->restitution);
    *model = (cli_engine_model){0};
}
