/* Bodies: adding, removing, reading, changing.
 *
 * The user places the origin frame; the world keeps the centre-of-mass frame, whose axes are the
 * principal axes, so that inertia is three numbers. Bodies that forces do not move have both frames
 * in one: their mass plays no part.
 * Tested by tests/step/test_world.c. */
#include "world/world.h"

#include "base/base_text.h"
#include "rigor/version.h"
#include "shape/shape.h"

#include <assert.h>
#include <string.h>

/* An inertia this asymmetric, relative to its largest entry, is rounding. */
#define ASYMMETRY_MOST 1e-9

rg_collider_def rg_collider_def_default(void) {
    return (rg_collider_def){.api_version = RG_API_VERSION,
                             .pose = rg_pose_identity(),
                             .density = 1000,
                             .category = 1,
                             .mask = UINT64_MAX};
}

rg_body_def rg_body_def_default(void) {
    return (rg_body_def){.api_version = RG_API_VERSION,
                         .motion = RG_MOTION_DYNAMIC,
                         .pose = rg_pose_identity(),
                         .gravity_scale = 1};
}

rg_body_id rg_body_id_at(const rg_world_content *content, size_t index) {
    rg_handle handle = rg_handle_at(&content->bodies, index);
    return (rg_body_id){handle.index1, handle.generation};
}

void rg_body_momenta_from_velocities(rg_world_content *content, size_t i) {
    const rg_body_dynamics *d = &content->dynamics[i];
    if (d->inverse_mass == 0) {
        content->momentum[i] = content->angular_momentum[i] = (rg_vec3){0, 0, 0};
        return;
    }
    rg_quat q = content->orientation[i];
    content->momentum[i] = rg_scale(d->mass, content->velocity[i]);
    content->angular_momentum[i] =
        rg_rotate(q, rg_times(d->inertia, rg_rotate_back(q, content->angular_velocity[i])));
}

void rg_body_velocities_from_momenta(rg_world_content *content, size_t i) {
    const rg_body_dynamics *d = &content->dynamics[i];
    if (d->inverse_mass == 0)
        return;
    rg_quat q = content->orientation[i];
    content->velocity[i] = rg_scale(d->inverse_mass, content->momentum[i]);
    content->angular_velocity[i] =
        rg_rotate(q, rg_times(d->inverse_inertia, rg_rotate_back(q, content->angular_momentum[i])));
}

static rg_pose centre_pose(const rg_world_content *content, size_t i) {
    return (rg_pose){content->position[i], content->orientation[i]};
}

static bool is_identity(rg_pose p) {
    rg_quat q = p.orientation;
    return rg_is_zero(p.position) && q.w == 1 && q.x == 0 && q.y == 0 && q.z == 0;
}

rg_pose rg_body_origin_pose(const rg_world_content *content, size_t i) {
    const rg_body_record *record = &content->record[i];
    rg_pose centre = centre_pose(content, i);
    if (rg_pose_is_identity(&record->local_centre))
        return centre;
    if (memcmp(&centre, &record->placed_centre, sizeof centre) == 0)
        return record->placed_origin;
    if (is_identity(record->local_centre))
        return centre;
    return rg_pose_compose(centre, rg_pose_inverse(record->local_centre));
}

const rg_collider *rg_body_only_ball(const rg_world_content *content, size_t i) {
    const rg_body_record *record = &content->record[i];
    if (record->motion != RG_MOTION_DYNAMIC || !record->first_collider1)
        return NULL;
    const rg_collider *collider =
        &content->collider[content->colliders.slots[record->first_collider1 - 1].dense];
    return !collider->next1 && collider->shape->kind == RG_SHAPE_SPHERE &&
                   rg_is_zero(collider->pose.position) && rg_is_zero(record->local_centre.position)
               ? collider
               : NULL;
}

/* Puts the origin frame at `pose` (planar: its angle is content->angle[i] already). */
static void place(rg_world_content *content, size_t i, rg_pose pose) {
    rg_body_record *record = &content->record[i];
    rg_pose centre = rg_pose_compose(pose, record->local_centre);
    content->position[i] = centre.position;
    content->orientation[i] = centre.orientation;
    record->placed_origin = pose;
    record->placed_centre = centre;
}

/* The empty name is none. */
static bool has_name(const rg_body_def *def) {
    return def->name && def->name[0];
}

/* --- checks ------------------------------------------------------------------------------------
 */

/* A unit quaternion to rounding keeps its bits; one near it is normalised. */
static bool accept_quaternion(rg_quat *q) {
    double excess = fabs(rg_quat_norm_squared(*q) - 1);
    if (!rg_quat_is_finite(*q) || !(excess <= RG_QUATERNION_TOLERANCE))
        return false;
    *q = rg_quat_made_unit(*q);
    return true;
}

static rg_status check_planar_state(const rg_body_def *def, rg_error *error) {
    if (def->pose.position.y != 0 || def->velocity.y != 0)
        return rg_fail(error, RG_INVALID_ARGUMENT,
                       "position and velocity of a body in a planar world must have y = 0");
    if (def->angular_velocity.x != 0 || def->angular_velocity.z != 0)
        return rg_fail(error, RG_INVALID_ARGUMENT, "a body in a planar world turns about y only");
    return RG_OK;
}

static rg_status check_motion(const rg_world *world, const rg_body_def *def, rg_error *error) {
    bool moves = def->velocity.x != 0 || def->velocity.y != 0 || def->velocity.z != 0 ||
                 def->angular_velocity.x != 0 || def->angular_velocity.y != 0 ||
                 def->angular_velocity.z != 0;
    switch (def->motion) {
    case RG_MOTION_DYNAMIC:
        return RG_OK;
    case RG_MOTION_FIXED:
        return !moves ? RG_OK
                      : rg_fail(error, RG_INVALID_ARGUMENT,
                                "velocity: a fixed body does not move; make it kinematic or drop "
                                "the velocity");
    case RG_MOTION_KINEMATIC:
        if (moves && def->prescription.kind != RG_PRESCRIBED_VELOCITY)
            return rg_fail(error, RG_INVALID_ARGUMENT,
                           "velocity: the prescribed motion of this body gives its velocity");
        return rg_prescription_check(&def->prescription, world->content.planar, world->content.time,
                                     error);
    }
    return rg_fail(error, RG_INVALID_ARGUMENT, "motion: there is no kind %d", (int)def->motion);
}

static rg_status check_body_def(const rg_world *world, const rg_body_def *def, rg_error *error) {
    rg_status status = rg_check_version(def->api_version, "rg_body_def", error);
    if (status)
        return status;
    status = rg_vector_check("position", def->pose.position, error);
    if (!status)
        status = rg_numbers_check("angle", &def->angle, 1, error);
    if (!status)
        status = rg_vector_check("velocity", def->velocity, error);
    if (!status)
        status = rg_vector_check("angular_velocity", def->angular_velocity, error);
    if (!status)
        status = rg_numbers_check("gravity_scale", &def->gravity_scale, 1, error);
    if (status)
        return status;
    rg_quat q = def->pose.orientation;
    if (!world->content.planar && !accept_quaternion(&q))
        return rg_fail(error, RG_INVALID_ARGUMENT,
                       "orientation: (%g, %g, %g, %g) is not a unit quaternion", q.x, q.y, q.z,
                       q.w);
    rg_body_id other;
    if (has_name(def) && rg_names_find(&world->content, def->name, &other))
        return rg_fail(error, RG_DUPLICATE_NAME,
                       "name: there is a body \"%s\" already; names are unique", def->name);
    if (world->content.planar)
        status = check_planar_state(def, error);
    if (!status)
        status = check_motion(world, def, error);
    for (size_t i = 0; !status && i < def->collider_count; i++)
        status = rg_collider_check(world, &def->colliders[i], def->motion, error);
    return status;
}

/* --- mass --------------------------------------------------------------------------------------
 */

static rg_mass_properties scaled_to(rg_mass_properties mass, double total) {
    double s = total / mass.mass;
    mass.mass = total;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            mass.inertia.m[i][j] *= s;
    return mass;
}

/* Mass, place of its centre, and radii of gyration. */
static rg_status check_mass_range(const rg_mass_properties *mass, bool planar, rg_error *error) {
    const double least = 1 / RG_NUMBER_LARGEST;
    rg_status status = rg_vector_check("centre of mass", mass->centre, error);
    if (status)
        return status;
    if (!(mass->mass >= least && mass->mass <= RG_NUMBER_LARGEST))
        return rg_fail(error, RG_LIMIT_EXCEEDED, "mass: %g kg; must be between %g and %g",
                       mass->mass, least, RG_NUMBER_LARGEST);
    rg_vec3 m = planar ? rg_vec3_make(mass->inertia.m[1][1], 0, 0)
                       : rg_mass_principal_axes(&mass->inertia).moments;
    const double moments[3] = {m.x, m.y, m.z};
    for (int i = 0; i < (planar ? 1 : 3); i++) {
        double radius = sqrt(moments[i] / mass->mass);
        if (!(radius >= least && radius <= RG_NUMBER_LARGEST))
            return rg_fail(error, RG_LIMIT_EXCEEDED,
                           "inertia: a radius of gyration of %g m; must be between %g and %g",
                           radius, least, RG_NUMBER_LARGEST);
    }
    return RG_OK;
}

static rg_status check_dynamic_mass(const rg_mass_properties *mass, bool planar, rg_error *error) {
    if (mass->mass == 0)
        return rg_fail(error, RG_INVALID_SIZE,
                       "a dynamic body needs mass: give it a shape with a density, or a mass");
    rg_status status = rg_mass_check(mass, planar, error);
    return status ? status : check_mass_range(mass, planar, error);
}

/* Dynamics and local centre of mass that follow from motion and mass. */
static void derive_dynamics(const rg_world_content *content, const rg_body_record *record,
                            rg_body_dynamics *dynamics, rg_pose *local_centre) {
    const rg_mass_properties *mass = &record->mass;
    *local_centre = rg_pose_identity();
    dynamics->mass = mass->mass;
    dynamics->inverse_mass = 0;
    dynamics->inertia = dynamics->inverse_inertia = (rg_vec3){0, 0, 0};
    dynamics->gyration_radius = 0;
    if (record->motion != RG_MOTION_DYNAMIC)
        return;
    local_centre->position = mass->centre;
    dynamics->inverse_mass = 1 / mass->mass;
    if (content->planar) {
        double i = mass->inertia.m[1][1];
        dynamics->inertia = (rg_vec3){i, i, i};
        dynamics->inverse_inertia = (rg_vec3){0, 1 / i, 0};
    } else {
        rg_principal_axes principal = rg_mass_principal_axes(&mass->inertia);
        rg_vec3 m = principal.moments;
        local_centre->orientation = principal.axes;
        dynamics->inertia = m;
        dynamics->inverse_inertia = (rg_vec3){1 / m.x, 1 / m.y, 1 / m.z};
    }
    dynamics->gyration_radius = sqrt(rg_largest_entry(dynamics->inertia) / mass->mass);
}

/* What rounding left asymmetric would be seen differently by the dynamics and by the judge. A
 * matrix that is far from symmetric stays so, for the check to refuse. */
static void make_symmetric(rg_mat3 *inertia) {
    double largest = 0;
    for (int i = 0; i < 9; i++)
        largest = fmax(largest, fabs(inertia->m[i / 3][i % 3]));
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < i; j++) {
            double *lower = &inertia->m[i][j], *upper = &inertia->m[j][i];
            if (*lower != *upper && fabs(*lower - *upper) <= ASYMMETRY_MOST * largest)
                *lower = *upper = 0.5 * (*lower + *upper);
        }
}

static rg_status mass_of_def(const rg_world *world, const rg_body_def *def,
                             rg_mass_properties *mass, rg_error *error) {
    if (def->has_mass) {
        *mass = def->mass;
        make_symmetric(&mass->inertia);
    } else {
        rg_status status = rg_colliders_mass(def->colliders, def->collider_count, mass);
        if (status)
            return rg_fail(error, status, "mass: %s", rg_status_text(status));
        if (def->total_mass != 0) {
            if (!(isfinite(def->total_mass) && def->total_mass > 0))
                return rg_fail(error, RG_INVALID_SIZE, "mass: %g kg; a mass must be positive",
                               def->total_mass);
            if (mass->mass > 0)
                *mass = scaled_to(*mass, def->total_mass);
        }
    }
    if (def->motion != RG_MOTION_DYNAMIC && !def->has_mass)
        return RG_OK;
    return check_dynamic_mass(mass, world->content.planar, error);
}

static rg_status mass_of_attached(const rg_world_content *content, size_t i,
                                  rg_mass_properties *mass) {
    *mass = (rg_mass_properties){0};
    for (uint32_t slot1 = content->record[i].first_collider1; slot1;) {
        const rg_collider *c = &content->collider[content->colliders.slots[slot1 - 1].dense];
        rg_collider_def def = {
            .shape = c->shape, .pose = c->pose, .density = c->density, .sensor = c->sensor};
        rg_mass_properties one;
        rg_status status = rg_colliders_mass(&def, 1, &one);
        if (status)
            return status;
        *mass = mass->mass > 0 ? (one.mass > 0 ? rg_mass_add(*mass, one) : *mass) : one;
        slot1 = c->next1;
    }
    if (content->record[i].total_mass > 0 && mass->mass > 0)
        *mass = scaled_to(*mass, content->record[i].total_mass);
    return RG_OK;
}

rg_status rg_body_refresh_mass(rg_world *world, size_t i, rg_error *error) {
    rg_world_content *content = &world->content;
    rg_body_record *record = &content->record[i];
    if (record->mass_is_given)
        return RG_OK;
    rg_mass_properties mass;
    rg_status status = mass_of_attached(content, i, &mass);
    if (status)
        return rg_fail(error, status, "mass: %s", rg_status_text(status));
    if (record->motion == RG_MOTION_DYNAMIC)
        status = check_dynamic_mass(&mass, content->planar, error);
    if (status)
        return status;
    rg_pose origin = rg_body_origin_pose(content, i);
    rg_vec3 before = content->position[i];
    record->mass = mass;
    derive_dynamics(content, record, &content->dynamics[i], &record->local_centre);
    place(content, i, origin);
    rg_vec3 moved = rg_sub(content->position[i], before);
    content->velocity[i] =
        rg_add(content->velocity[i], rg_cross(content->angular_velocity[i], moved));
    rg_body_momenta_from_velocities(content, i);
    return RG_OK;
}

/* --- adding and removing -----------------------------------------------------------------------
 */

static rg_status grow_body_arrays(rg_world *world) {
    rg_world_content *content = &world->content;
    size_t needed = content->bodies.count + 1, capacity = content->body_capacity;
    if (needed <= capacity)
        return RG_OK;
#define X(type, name)                                                                              \
    capacity = content->body_capacity;                                                             \
    if (rg_array_grow(&world->allocator, &content->name, &capacity, needed))                       \
        return RG_OUT_OF_MEMORY;
    RG_BODY_ARRAYS(X)
#undef X
    content->body_capacity = capacity;
    return RG_OK;
}

static rg_status add_prescription(rg_world *world, size_t i, const rg_body_def *def) {
    rg_world_content *content = &world->content;
    rg_status status =
        rg_array_grow(&world->allocator, &content->prescriptions, &content->prescription_capacity,
                      content->prescription_count + 1);
    rg_prescription own = def->prescription;
    if (own.kind != RG_PRESCRIBED_OF_TIME)
        rg_prescription_free_texts(&own, NULL); /* the caller's, and of no use */
    if (!status)
        status = rg_prescription_own_texts(&own, &world->allocator);
    if (status)
        return status;
    content->prescriptions[content->prescription_count++] = (rg_prescription_entry){
        .prescription = own,
        .start = {content->record[i].placed_origin, def->velocity, def->angular_velocity},
        .start_angle = content->angle[i],
        .start_time = content->time,
        .fault = INFINITY};
    content->record[i].prescription1 = (uint32_t)content->prescription_count;
    return RG_OK;
}

static void put_motion(rg_world_content *content, size_t i, const rg_motion_state *state) {
    content->position[i] = state->position;
    content->orientation[i] = state->orientation;
    content->angle[i] = state->angle;
    content->velocity[i] = state->velocity;
    content->angular_velocity[i] = state->angular_velocity;
}

void rg_prescription_apply(rg_world_content *content, size_t i) {
    rg_motion_state state = rg_prescription_evaluate(content, i, content->time);
    put_motion(content, i, &state);
}

static void remove_prescription(rg_world *world, size_t i) {
    rg_world_content *content = &world->content;
    uint32_t index1 = content->record[i].prescription1;
    if (!index1)
        return;
    rg_prescription_free_texts(&content->prescriptions[index1 - 1].prescription, &world->allocator);
    size_t last1 = content->prescription_count--;
    content->record[i].prescription1 = 0;
    if (index1 == last1)
        return;
    content->prescriptions[index1 - 1] = content->prescriptions[last1 - 1];
    for (size_t k = 0; k < content->bodies.count; k++)
        if (content->record[k].prescription1 == last1)
            content->record[k].prescription1 = index1;
}

static void fill_body(rg_world_content *content, size_t i, const rg_body_def *def,
                      const rg_mass_properties *mass, char *name) {
    rg_vec3 zero = {0, 0, 0};
    content->record[i] = (rg_body_record){.name = name,
                                          .motion = def->motion,
                                          .mass_is_given = def->has_mass,
                                          .total_mass = def->total_mass,
                                          .mass = *mass,
                                          .user = def->user};
    content->dynamics[i] = (rg_body_dynamics){.gravity_scale = def->gravity_scale};
    derive_dynamics(content, &content->record[i], &content->dynamics[i],
                    &content->record[i].local_centre);
    rg_pose pose = def->pose;
    if (content->planar)
        pose.orientation = rg_quat_of_planar_angle(def->angle);
    else
        accept_quaternion(&pose.orientation);
    content->angle[i] = content->planar ? def->angle : 0;
    place(content, i, pose);
    /* A fixed body has been checked to have none; -0 passes the check and is not kept, for a scene
     * file does not write it. */
    bool fixed = def->motion == RG_MOTION_FIXED;
    content->velocity[i] = fixed ? zero : def->velocity;
    content->angular_velocity[i] = fixed ? zero : def->angular_velocity;
    content->applied_force[i] = content->applied_torque[i] = zero;
    content->acted_force[i] = content->acted_torque[i] = zero;
    rg_body_momenta_from_velocities(content, i);
}

static void drop_body(rg_world *world, rg_body_id body) {
    rg_world_content *content = &world->content;
    size_t i = rg_body_dense(content, body);
    while (content->record[i].first_collider1) {
        uint32_t slot1 = content->record[i].first_collider1;
        uint32_t generation = content->colliders.slots[slot1 - 1].generation;
        rg_collider_detach(world, (rg_collider_id){slot1, generation});
    }
    rg_forces_forget_body(world, body);
    rg_joints_forget_body(world, body);
    remove_prescription(world, i);
    rg_release(&world->allocator, content->record[i].name);
    size_t hole, last;
    rg_handle_remove(&content->bodies, RG_HANDLE(body), &hole, &last);
#define X(type, name) content->name[hole] = content->name[last];
    RG_BODY_ARRAYS(X)
#undef X
}

/* A product of large numbers that are finite each (mass and velocity), or a caller's function, may
 * leave the range. */
static bool is_finite_body(const rg_world_content *content, size_t i) {
    return rg_pose_is_finite(centre_pose(content, i)) && rg_is_finite(content->velocity[i]) &&
           rg_is_finite(content->angular_velocity[i]) && rg_is_finite(content->momentum[i]) &&
           rg_is_finite(content->angular_momentum[i]);
}

static rg_status check_body(const rg_world_content *content, size_t i, rg_error *error) {
    if (!is_finite_body(content, i))
        return RG_NOT_FINITE;
    rg_status status = rg_vector_check("position", content->position[i], error);
    if (!status)
        status = rg_vector_check("velocity", content->velocity[i], error);
    return status ? status
                  : rg_vector_check("angular_velocity", content->angular_velocity[i], error);
}

/* What can fail after the body has its place; on failure the caller drops the body again, and
 * *error says what went wrong if the status does not say it all. */
static rg_status finish_body(rg_world *world, rg_body_id body, const rg_body_def *def,
                             rg_error *error) {
    rg_world_content *content = &world->content;
    size_t i = rg_body_dense(content, body);
    rg_status status = RG_OK;
    if (def->motion == RG_MOTION_KINEMATIC) {
        rg_motion_state state;
        status = add_prescription(world, i, def);
        if (!status)
            status = rg_prescription_find(content, i, content->time, &state, error);
        if (!status)
            put_motion(content, i, &state);
    }
    if (!status)
        status = check_body(content, i, error);
    for (size_t k = 0; !status && k < def->collider_count; k++)
        status = rg_collider_attach(world, i, &def->colliders[k], &(rg_collider_id){0});
    if (!status && has_name(def))
        status = rg_names_add(world, body);
    return status;
}

rg_status rg_world_add_body(rg_world *world, const rg_body_def *def, rg_body_id *body,
                            rg_error *error) {
    assert(world && def && body);
    *body = (rg_body_id){0, 0};
    rg_mass_properties mass;
    rg_status status = check_body_def(world, def, error);
    if (!status)
        status = mass_of_def(world, def, &mass, error);
    if (status)
        return status;
    status = rg_world_begin_edit(world);
    if (status)
        return rg_fail(error, status, "%s", rg_status_text(status));
    rg_handle handle = {0, 0};
    char *name = has_name(def) ? rg_copy_text(&world->allocator, def->name) : NULL;
    if (has_name(def) && !name)
        status = RG_OUT_OF_MEMORY;
    if (!status)
        status = grow_body_arrays(world);
    if (!status)
        status = rg_handle_add(&world->content.bodies, &world->allocator, &handle);
    if (status) {
        rg_release(&world->allocator, name);
        rg_world_cancel_edit(world);
        return rg_fail(error, status, "body: %s", rg_status_text(status));
    }
    rg_body_id id = {handle.index1, handle.generation};
    fill_body(&world->content, world->content.bodies.count - 1, def, &mass, name);
    rg_error cause = {0};
    status = finish_body(world, id, def, &cause);
    if (status) {
        drop_body(world, id);
        rg_world_cancel_edit(world);
        return rg_fail(error, status, "body: %s",
                       cause.text[0] ? cause.text : rg_status_text(status));
    }
    *body = id;
    return RG_OK;
}

rg_status rg_world_remove_body(rg_world *world, rg_body_id body) {
    rg_status status = rg_world_begin_edit_of(world, rg_body_exists(world, body));
    if (status)
        return status;
    if (world->content.record[rg_body_dense(&world->content, body)].name)
        rg_names_remove(&world->content, body);
    drop_body(world, body);
    return RG_OK;
}

/* --- reading -----------------------------------------------------------------------------------
 */

bool rg_body_exists(const rg_world *world, rg_body_id body) {
    return rg_handle_exists(&world->content.bodies, RG_HANDLE(body));
}

size_t rg_world_body_count(const rg_world *world) {
    return world->content.bodies.count;
}

rg_body_id rg_world_body_at(const rg_world *world, size_t index) {
    return rg_body_id_at(&world->content, index);
}

size_t rg_body_index(const rg_world *world, rg_body_id body) {
    return rg_body_dense(&world->content, body);
}

rg_status rg_world_find_body(const rg_world *world, const char *name, rg_body_id *body) {
    return rg_names_find(&world->content, name, body) ? RG_OK : RG_NOT_FOUND;
}

const char *rg_body_name(const rg_world *world, rg_body_id body) {
    const char *name = world->content.record[rg_body_dense(&world->content, body)].name;
    return name ? name : "";
}

rg_motion rg_body_motion(const rg_world *world, rg_body_id body) {
    return world->content.record[rg_body_dense(&world->content, body)].motion;
}

rg_pose rg_body_pose(const rg_world *world, rg_body_id body) {
    return rg_body_origin_pose(&world->content, rg_body_dense(&world->content, body));
}

rg_pose rg_body_centre_pose(const rg_world *world, rg_body_id body) {
    return centre_pose(&world->content, rg_body_dense(&world->content, body));
}

rg_pose rg_body_local_centre(const rg_world *world, rg_body_id body) {
    return world->content.record[rg_body_dense(&world->content, body)].local_centre;
}

double rg_body_angle(const rg_world *world, rg_body_id body) {
    return world->content.angle[rg_body_dense(&world->content, body)];
}

double rg_body_spin(const rg_world *world, rg_body_id body) {
    return -world->content.angular_velocity[rg_body_dense(&world->content, body)].y;
}

rg_vec3 rg_body_velocity(const rg_world *world, rg_body_id body) {
    return world->content.velocity[rg_body_dense(&world->content, body)];
}

rg_vec3 rg_body_angular_velocity(const rg_world *world, rg_body_id body) {
    return world->content.angular_velocity[rg_body_dense(&world->content, body)];
}

rg_vec3 rg_body_momentum(const rg_world *world, rg_body_id body) {
    return world->content.momentum[rg_body_dense(&world->content, body)];
}

rg_vec3 rg_body_angular_momentum(const rg_world *world, rg_body_id body) {
    return world->content.angular_momentum[rg_body_dense(&world->content, body)];
}

rg_mass_properties rg_body_mass(const rg_world *world, rg_body_id body) {
    return world->content.record[rg_body_dense(&world->content, body)].mass;
}

double rg_body_gravity_scale(const rg_world *world, rg_body_id body) {
    return world->content.dynamics[rg_body_dense(&world->content, body)].gravity_scale;
}

static const rg_prescription_entry *prescription_of(const rg_world *world, rg_body_id body) {
    uint32_t index1 = world->content.record[rg_body_dense(&world->content, body)].prescription1;
    return index1 ? &world->content.prescriptions[index1 - 1] : NULL;
}

rg_prescription rg_body_prescription(const rg_world *world, rg_body_id body) {
    const rg_prescription_entry *entry = prescription_of(world, body);
    return entry ? entry->prescription : (rg_prescription){0};
}

rg_prescribed_state rg_body_prescription_start(const rg_world *world, rg_body_id body,
                                               double *time) {
    const rg_prescription_entry *entry = prescription_of(world, body);
    *time = entry ? entry->start_time : 0;
    return entry ? entry->start
                 : (rg_prescribed_state){rg_body_pose(world, body), {0, 0, 0}, {0, 0, 0}};
}

double rg_body_prescription_start_angle(const rg_world *world, rg_body_id body) {
    const rg_prescription_entry *entry = prescription_of(world, body);
    return entry ? entry->start_angle : rg_body_angle(world, body);
}

rg_body_state rg_body_get_state(const rg_world *world, rg_body_id body) {
    return (rg_body_state){rg_body_pose(world, body), rg_body_angle(world, body),
                           rg_body_velocity(world, body), rg_body_angular_velocity(world, body)};
}

void *rg_body_user(const rg_world *world, rg_body_id body) {
    return world->content.record[rg_body_dense(&world->content, body)].user;
}

/* --- changing ----------------------------------------------------------------------------------
 */

/* Index of a body that is about to be changed; `numbers`: what was found of those to be set. */
static rg_status begin_change(rg_world *world, rg_body_id body, rg_status numbers, size_t *i) {
    if (!rg_body_exists(world, body))
        return RG_INVALID_HANDLE;
    if (numbers)
        return numbers;
    *i = rg_body_dense(&world->content, body);
    return rg_world_begin_edit(world);
}

/* A kinematic body that is moved by hand goes on from there: with its velocity, or its swing in the
 * phase that it is in. */
static void restart_prescription(rg_world_content *content, size_t i, rg_pose pose) {
    uint32_t index1 = content->record[i].prescription1;
    if (!index1)
        return;
    rg_prescription_entry *entry = &content->prescriptions[index1 - 1];
    entry->start.velocity = content->velocity[i];
    entry->start.angular_velocity = content->angular_velocity[i];
    rg_prescription_move(entry, content->time, pose, content->angle[i]);
    rg_motion_state state;
    rg_prescription_find(content, i, content->time, &state, NULL); /* settle looks at it */
    put_motion(content, i, &state);
}

/* What a setter asks for; null: as it is. */
typedef struct requested_state {
    const rg_pose *pose;
    const double *angle;
    const rg_vec3 *velocity, *angular_velocity;
} requested_state;

static rg_status check_numbers(const requested_state *r) {
    rg_status status = r->pose ? rg_vector_check("position", r->pose->position, NULL) : RG_OK;
    if (!status && r->angle)
        status = rg_numbers_check("angle", r->angle, 1, NULL);
    if (!status && r->velocity)
        status = rg_vector_check("velocity", *r->velocity, NULL);
    if (!status && r->angular_velocity)
        status = rg_vector_check("angular_velocity", *r->angular_velocity, NULL);
    return status;
}

static bool is_same(rg_vec3 a, rg_vec3 b) {
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

/* Whether a body of its kind of motion can have the velocities that are asked for. */
static bool may_have_velocities(const rg_world_content *content, size_t i,
                                const requested_state *r) {
    const rg_body_record *record = &content->record[i];
    bool free = record->motion == RG_MOTION_DYNAMIC ||
                (record->prescription1 &&
                 content->prescriptions[record->prescription1 - 1].prescription.kind ==
                     RG_PRESCRIBED_VELOCITY);
    return free ||
           ((!r->velocity || is_same(*r->velocity, content->velocity[i])) &&
            (!r->angular_velocity || is_same(*r->angular_velocity, content->angular_velocity[i])));
}

static bool is_in_plane(const requested_state *r) {
    return (!r->pose || r->pose->position.y == 0) && (!r->velocity || r->velocity->y == 0) &&
           (!r->angular_velocity || (r->angular_velocity->x == 0 && r->angular_velocity->z == 0));
}

/* Only a function of the caller's knows where its body is. */
static bool is_moved_by_function(const rg_world_content *content, size_t i) {
    uint32_t index1 = content->record[i].prescription1;
    return index1 && content->prescriptions[index1 - 1].prescription.kind == RG_PRESCRIBED_FUNCTION;
}

static rg_status check_request(const rg_world_content *content, size_t i,
                               const requested_state *r) {
    rg_status status = check_numbers(r);
    if (status)
        return status;
    if (is_moved_by_function(content, i) || !may_have_velocities(content, i, r))
        return RG_INVALID_ARGUMENT;
    if (content->planar)
        return is_in_plane(r) ? RG_OK : RG_INVALID_ARGUMENT;
    rg_quat q = r->pose ? r->pose->orientation : rg_quat_identity();
    return accept_quaternion(&q) && !r->angle ? RG_OK : RG_INVALID_ARGUMENT;
}

/* Everything that a setter changes of a body. */
typedef struct kept_state {
    rg_pose centre, placed_origin, placed_centre;
    double angle;
    rg_vec3 velocity, angular_velocity, momentum, angular_momentum;
    rg_prescription_entry entry;
} kept_state;

static kept_state keep(const rg_world_content *content, size_t i) {
    const rg_body_record *record = &content->record[i];
    kept_state kept = {.centre = centre_pose(content, i),
                       .placed_origin = record->placed_origin,
                       .placed_centre = record->placed_centre,
                       .angle = content->angle[i],
                       .velocity = content->velocity[i],
                       .angular_velocity = content->angular_velocity[i],
                       .momentum = content->momentum[i],
                       .angular_momentum = content->angular_momentum[i]};
    if (record->prescription1)
        kept.entry = content->prescriptions[record->prescription1 - 1];
    return kept;
}

/* Keeps the new state of a body, or goes back to the old one if a number is beyond the range. */
static rg_status settle(rg_world *world, size_t i, const kept_state *old) {
    rg_world_content *content = &world->content;
    rg_body_record *record = &content->record[i];
    rg_status status = check_body(content, i, NULL);
    if (!status && record->prescription1) {
        const rg_prescription_entry *entry = &content->prescriptions[record->prescription1 - 1];
        status = rg_vector_check("position", entry->start.pose.position, NULL);
    }
    if (!status)
        return RG_OK;
    content->position[i] = old->centre.position;
    content->orientation[i] = old->centre.orientation;
    record->placed_origin = old->placed_origin;
    record->placed_centre = old->placed_centre;
    content->angle[i] = old->angle;
    content->velocity[i] = old->velocity;
    content->angular_velocity[i] = old->angular_velocity;
    content->momentum[i] = old->momentum;
    content->angular_momentum[i] = old->angular_momentum;
    if (record->prescription1)
        content->prescriptions[record->prescription1 - 1] = old->entry;
    rg_world_cancel_edit(world);
    return status;
}

static rg_status set_state(rg_world *world, rg_body_id body, const requested_state *r) {
    rg_world_content *content = &world->content;
    if (!rg_body_exists(world, body))
        return RG_INVALID_HANDLE;
    size_t i = rg_body_dense(content, body);
    rg_status status = check_request(content, i, r);
    if (!status)
        status = rg_world_begin_edit(world);
    if (status)
        return status;
    kept_state old = keep(content, i);
    rg_pose pose = r->pose ? *r->pose : rg_body_origin_pose(content, i);
    if (r->angle)
        content->angle[i] = *r->angle;
    if (content->planar && (r->pose || r->angle))
        pose.orientation = rg_quat_of_planar_angle(content->angle[i]);
    else if (r->pose)
        accept_quaternion(&pose.orientation);
    if (r->pose || r->angle)
        place(content, i, pose);
    if (r->velocity)
        content->velocity[i] = *r->velocity;
    if (r->angular_velocity)
        content->angular_velocity[i] = *r->angular_velocity;
    restart_prescription(content, i, pose);
    rg_body_momenta_from_velocities(content, i);
    return settle(world, i, &old);
}

rg_status rg_body_set_state(rg_world *world, rg_body_id body, const rg_body_state *state) {
    return set_state(world, body,
                     &(requested_state){&state->pose, world->content.planar ? &state->angle : NULL,
                                        &state->velocity, &state->angular_velocity});
}

rg_status rg_body_set_pose(rg_world *world, rg_body_id body, rg_pose pose) {
    return set_state(world, body, &(requested_state){.pose = &pose});
}

/* In space an angle is refused. */
rg_status rg_body_set_angle(rg_world *world, rg_body_id body, double angle) {
    return set_state(world, body, &(requested_state){.angle = &angle});
}

rg_status rg_body_set_velocity(rg_world *world, rg_body_id body, rg_vec3 velocity) {
    return set_state(world, body, &(requested_state){.velocity = &velocity});
}

rg_status rg_body_set_angular_velocity(rg_world *world, rg_body_id body, rg_vec3 angular_velocity) {
    return set_state(world, body, &(requested_state){.angular_velocity = &angular_velocity});
}

rg_status rg_body_set_gravity_scale(rg_world *world, rg_body_id body, double gravity_scale) {
    size_t i;
    rg_status numbers = rg_numbers_check("gravity_scale", &gravity_scale, 1, NULL);
    rg_status status = begin_change(world, body, numbers, &i);
    if (!status)
        world->content.dynamics[i].gravity_scale = gravity_scale;
    return status;
}

rg_status rg_body_set_user(rg_world *world, rg_body_id body, void *user) {
    if (!rg_body_exists(world, body))
        return RG_INVALID_HANDLE;
    world->content.record[rg_body_dense(&world->content, body)].user = user;
    return RG_OK;
}

/* Forces and impulses have a meaning for dynamic bodies only; the plane takes its part of them. */
static rg_status begin_load(rg_world *world, rg_body_id body, rg_vec3 *force, rg_vec3 *torque,
                            size_t *i) {
    bool finite = rg_is_finite(*force) && rg_is_finite(*torque);
    rg_status status = begin_change(world, body, finite ? RG_OK : RG_NOT_FINITE, i);
    if (!status && world->content.dynamics[*i].inverse_mass == 0) {
        rg_world_cancel_edit(world);
        status = RG_INVALID_ARGUMENT;
    }
    if (world->content.planar) {
        force->y = 0;
        torque->x = torque->z = 0;
    }
    return status;
}

static rg_status apply_load(rg_world *world, rg_body_id body, rg_vec3 force, rg_vec3 torque) {
    size_t i;
    rg_status status = begin_load(world, body, &force, &torque, &i);
    if (status)
        return status;
    rg_world_content *content = &world->content;
    force = rg_add(content->applied_force[i], force);
    torque = rg_add(content->applied_torque[i], torque);
    status = rg_vector_check("force", force, NULL);
    if (!status)
        status = rg_vector_check("torque", torque, NULL);
    if (status) {
        rg_world_cancel_edit(world);
        return status;
    }
    content->applied_force[i] = force;
    content->applied_torque[i] = torque;
    content->has_applied = true;
    return RG_OK;
}

/* Moment about the centre of mass of a force or impulse at a world point. */
static rg_vec3 moment_about_centre(const rg_world *world, rg_body_id body, rg_vec3 force,
                                   rg_vec3 point) {
    size_t i = rg_body_dense(&world->content, body);
    return rg_cross(rg_sub(point, world->content.position[i]), force);
}

rg_status rg_body_apply_force(rg_world *world, rg_body_id body, rg_vec3 force,
                              rg_vec3 world_point) {
    if (!rg_body_exists(world, body))
        return RG_INVALID_HANDLE;
    return apply_load(world, body, force, moment_about_centre(world, body, force, world_point));
}

rg_status rg_body_apply_central_force(rg_world *world, rg_body_id body, rg_vec3 force) {
    return apply_load(world, body, force, (rg_vec3){0, 0, 0});
}

rg_status rg_body_apply_torque(rg_world *world, rg_body_id body, rg_vec3 torque) {
    return apply_load(world, body, (rg_vec3){0, 0, 0}, torque);
}

rg_status rg_body_apply_impulse(rg_world *world, rg_body_id body, rg_vec3 impulse,
                                rg_vec3 world_point) {
    if (!rg_body_exists(world, body))
        return RG_INVALID_HANDLE;
    rg_vec3 moment = moment_about_centre(world, body, impulse, world_point);
    size_t i;
    rg_status status = begin_load(world, body, &impulse, &moment, &i);
    if (status)
        return status;
    rg_world_content *content = &world->content;
    kept_state old = keep(content, i);
    content->momentum[i] = rg_add(content->momentum[i], impulse);
    content->angular_momentum[i] = rg_add(content->angular_momentum[i], moment);
    rg_body_velocities_from_momenta(content, i);
    return settle(world, i, &old);
}
