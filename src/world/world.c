/* Making and ending worlds, their settings, and views of their state.
 * Tested by tests/step/test_world.c. */
#include "world/world.h"

#include "base/base_hash.h"
#include "base/base_text.h"
#include "rigor/version.h"

#include <assert.h>

/* Range of the integrators' relative tolerance: below, rounding is all that is left; above, it is
 * no tolerance. */
#define TOLERANCE_MIN 1e-15
#define TOLERANCE_MAX 1e-2
/* Of the contact solvers: what double precision gives on well-behaved problems. */
#define SOLVER_TOLERANCE_MIN 1e-14

rg_method_settings rg_method_settings_default(void) {
    return (rg_method_settings){.tolerance = 1e-9,
                                .integrator = RG_INTEGRATOR_DORMAND_PRINCE,
                                .gamma = 1,
                                .solver_tolerance = 1e-8,
                                .contradictions = RG_NORM_TWO,
                                .penalty = {.depth = 1e-3, .slip = 1e-3, .tolerance = 1e-6}};
}

const char *rg_integrator_name(rg_integrator integrator) {
    switch (integrator) {
    case RG_INTEGRATOR_DORMAND_PRINCE:
        return "dormand-prince";
    case RG_INTEGRATOR_ADAMS:
        return "adams";
    }
    return "unknown";
}

const char *rg_root_method_name(rg_root_method finder) {
    static const char *const names[RG_ROOT_METHOD_COUNT] = {"itp", "illinois", "bisection"};
    return (unsigned)finder < RG_ROOT_METHOD_COUNT ? names[finder] : "unknown";
}

const char *rg_penalty_measure_name(rg_penalty_measure measure) {
    static const char *const names[] = {"distance", "ratio"};
    return (unsigned)measure < 2 ? names[measure] : "unknown";
}

rg_world_def rg_world_def_default(void) {
    return (rg_world_def){.api_version = RG_API_VERSION,
                          .gravity = {0, 0, -9.81},
                          .settings = rg_method_settings_default(),
                          .seed = 1,
                          .threads = 1,
                          .certify = true,
                          .collision = rg_collision_def_default(),
                          .allocator = rg_allocator_default()};
}

rg_status rg_numbers_check(const char *what, const double *numbers, size_t count, rg_error *error) {
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(numbers[i]))
            return rg_fail(error, RG_NOT_FINITE, "%s: not finite", what);
        if (fabs(numbers[i]) > RG_NUMBER_LARGEST)
            return rg_fail(error, RG_LIMIT_EXCEEDED, "%s: %g; numbers must be at most %g", what,
                           numbers[i], RG_NUMBER_LARGEST);
    }
    return RG_OK;
}

rg_status rg_vector_check(const char *what, rg_vec3 v, rg_error *error) {
    return rg_numbers_check(what, (const double[]){v.x, v.y, v.z}, 3, error);
}

/* Of what is divided by, too. */
static bool is_positive(double x) {
    return x >= 1 / RG_NUMBER_LARGEST && x <= RG_NUMBER_LARGEST;
}

static rg_status check_penalty(const rg_penalty_settings *p, rg_error *error) {
    const double least = 1 / RG_NUMBER_LARGEST, most = RG_NUMBER_LARGEST;
    if (p->stiffness != 0 && !is_positive(p->stiffness))
        return rg_fail(error, RG_INVALID_ARGUMENT,
                       "penalty stiffness: %g N/m; give a number between %g and %g, or 0 for one "
                       "that follows from the depth",
                       p->stiffness, least, most);
    if (!is_positive(p->depth))
        return rg_fail(error, RG_INVALID_ARGUMENT,
                       "penalty depth: %g m; give a number between %g and %g", p->depth, least,
                       most);
    if (!is_positive(p->slip))
        return rg_fail(error, RG_INVALID_ARGUMENT,
                       "penalty slip: %g m/s; give a number between %g and %g", p->slip, least,
                       most);
    if (!(p->tolerance >= TOLERANCE_MIN && p->tolerance <= TOLERANCE_MAX))
        return rg_fail(error, RG_INVALID_ARGUMENT, "penalty tolerance: %g is outside %g ... %g",
                       p->tolerance, TOLERANCE_MIN, TOLERANCE_MAX);
    if (p->measure != RG_PENALTY_DISTANCE && p->measure != RG_PENALTY_RATIO)
        return rg_fail(error, RG_INVALID_ARGUMENT, "penalty measure: there is no value %d",
                       (int)p->measure);
    return RG_OK;
}

rg_status rg_settings_check(const rg_method_settings *settings, rg_error *error) {
    if (settings->tolerance == 0 && settings->solver_tolerance == 0)
        return rg_fail(error, RG_INVALID_ARGUMENT,
                       "rg_method_settings: all tolerances are 0; use rg_method_settings_default() "
                       "and change what differs");
    if (!(settings->tolerance >= TOLERANCE_MIN && settings->tolerance <= TOLERANCE_MAX))
        return rg_fail(error, RG_INVALID_ARGUMENT, "tolerance: %g is outside %g ... %g",
                       settings->tolerance, TOLERANCE_MIN, TOLERANCE_MAX);
    if (settings->integrator != RG_INTEGRATOR_DORMAND_PRINCE &&
        settings->integrator != RG_INTEGRATOR_ADAMS)
        return rg_fail(error, RG_INVALID_ARGUMENT, "integrator: there is no value %d",
                       (int)settings->integrator);
    if ((unsigned)settings->root_finder >= RG_ROOT_METHOD_COUNT)
        return rg_fail(error, RG_INVALID_ARGUMENT, "root finder: there is no value %d",
                       (int)settings->root_finder);
    if (!(settings->gamma >= 0 && settings->gamma <= 1))
        return rg_fail(error, RG_INVALID_ARGUMENT, "gamma: %g is outside 0 ... 1", settings->gamma);
    if (!(settings->solver_tolerance >= SOLVER_TOLERANCE_MIN &&
          settings->solver_tolerance <= TOLERANCE_MAX))
        return rg_fail(error, RG_INVALID_ARGUMENT, "solver tolerance: %g is outside %g ... %g",
                       settings->solver_tolerance, SOLVER_TOLERANCE_MIN, TOLERANCE_MAX);
    if (settings->policy != RG_POLICY_SMALLEST_FORCE && settings->policy != RG_POLICY_LARGEST_FORCE)
        return rg_fail(error, RG_INVALID_ARGUMENT, "policy: there is no value %d",
                       (int)settings->policy);
    int corners = settings->friction_directions;
    if (corners != 0 && (corners < 4 || corners > 256 || corners % 2 != 0))
        return rg_fail(error, RG_INVALID_ARGUMENT,
                       "friction: a polygon of %d corners; an even number from 4 to 256 is "
                       "possible, or 0 for the exact cone",
                       corners);
    return check_penalty(&settings->penalty, error);
}

static rg_status check_gravity(bool planar, rg_vec3 gravity, rg_error *error) {
    rg_status status = rg_vector_check("gravity", gravity, error);
    if (status)
        return status;
    if (planar && gravity.y != 0)
        return rg_fail(error, RG_INVALID_ARGUMENT,
                       "gravity: a planar world has no y; its plane is x-z");
    return RG_OK;
}

static rg_status check_def(const rg_world_def *def, rg_error *error) {
    rg_status status = rg_check_version(def->api_version, "rg_world_def", error);
    if (status)
        return status;
    if (def->threads < 1)
        return rg_fail(error, RG_INVALID_ARGUMENT, "threads: %d; there must be at least 1",
                       def->threads);
    status = check_gravity(def->planar, def->gravity, error);
    if (!status)
        status = rg_collision_def_check(&def->collision, error);
    return status ? status : rg_settings_check(&def->settings, error);
}

rg_status rg_world_create(const rg_world_def *def, rg_world **world, rg_error *error) {
    assert(def && world);
    *world = NULL;
    rg_status status = check_def(def, error);
    if (status)
        return status;
    rg_world *w = rg_object_make(rg_world, &def->allocator);
    if (!w)
        return rg_fail(error, RG_OUT_OF_MEMORY, "no memory for a world");
    w->scratch = rg_arena_make(&w->allocator);
    w->threads = def->threads;
    w->certify = def->certify;
    w->no_memory = def->no_memory;
    w->collision = def->collision;
    w->before_step = def->before_step;
    w->after_step = def->after_step;
    w->callback_user = def->callback_user;
    w->content.planar = def->planar;
    w->content.gravity = def->gravity;
    w->content.method = def->method;
    w->content.settings = def->settings;
    w->content.seed = def->seed;
    w->content.random = rg_random_make(def->seed);
    rg_contact_law law = rg_contact_law_default();
    status = rg_world_add_material(w, "default", &law, &(rg_material_id){0}, error);
    if (!status && def->threads > 1) {
        status = rg_pool_create(def->threads, &w->allocator, &w->pool);
        if (status)
            rg_fail(error, status, "threads: %s", rg_status_text(status));
    }
    if (status) {
        rg_world_destroy(w);
        return status;
    }
    *world = w;
    return RG_OK;
}

void rg_content_free(rg_world_content *content, const rg_allocator *allocator) {
    for (size_t i = 0; i < content->material_count; i++)
        rg_release(allocator, content->materials[i].name);
    for (size_t i = 0; i < content->bodies.count; i++)
        rg_release(allocator, content->record[i].name);
    for (size_t i = 0; i < content->colliders.count; i++)
        rg_shape_release(content->collider[i].shape);
    for (size_t i = 0; i < content->joints.count; i++)
        rg_joint_free_texts(&content->joint[i].def, allocator);
    for (size_t i = 0; i < content->forces.count; i++)
        rg_force_free_texts(&content->force[i], allocator);
    for (size_t i = 0; i < content->prescription_count; i++)
        rg_prescription_free_texts(&content->prescriptions[i].prescription, allocator);
    for (int i = 0; i < RG_MEMORY_KIND_COUNT; i++)
        rg_release(allocator, content->memory[i].data);
#define X(type, name) rg_release(allocator, content->name);
    RG_BODY_ARRAYS(X)
#undef X
    rg_release_all(allocator, content->materials, content->pairs, content->name_table,
                   content->prescriptions, content->collider, content->force, content->joint);
    rg_handle_pool_free(&content->bodies, allocator);
    rg_handle_pool_free(&content->colliders, allocator);
    rg_handle_pool_free(&content->forces, allocator);
    rg_handle_pool_free(&content->joints, allocator);
    *content = (rg_world_content){0};
}

void rg_world_destroy(rg_world *world) {
    if (!world)
        return;
    if (world->free_machinery)
        world->free_machinery(world->machinery);
    rg_pool_destroy(world->pool);
    rg_arena_free(&world->scratch);
    rg_loads_free(world);
    rg_content_free(&world->content, &world->allocator);
    rg_object_release(world);
}

rg_status rg_world_begin_edit(rg_world *world) {
    if (world->busy)
        return RG_BUSY;
    world->content.edits++;
    world->revision++;
    return RG_OK;
}

rg_status rg_world_begin_edit_of(rg_world *world, bool exists) {
    return exists ? rg_world_begin_edit(world) : RG_INVALID_HANDLE;
}

void rg_world_cancel_edit(rg_world *world) {
    world->content.edits--;
}

/* Kahan's compensated sum: 2400 steps of 1/240 s end at 10 s, not beside it. */
void rg_content_advance_time(rg_world_content *content, double step) {
    double addend = step - content->time_carry;
    double sum = content->time + addend;
    content->time_carry = (sum - content->time) - addend;
    content->time = sum;
}

void rg_world_interrupt(rg_world *world) {
    atomic_store_explicit(&world->stop, true, memory_order_relaxed);
}

double rg_world_time(const rg_world *world) {
    return world->content.time;
}

rg_status rg_world_set_time(rg_world *world, double time) {
    if (!isfinite(time))
        return RG_NOT_FINITE;
    rg_world_content *c = &world->content;
    for (size_t i = 0; i < c->bodies.count; i++) {
        if (!c->record[i].prescription1)
            continue;
        rg_motion_state state;
        rg_status found = rg_prescription_find(c, i, time, &state, NULL);
        if (found)
            return found;
    }
    rg_status status = rg_world_begin_edit(world);
    if (status)
        return status;
    c->time = time, c->time_carry = 0;
    for (size_t i = 0; i < c->bodies.count; i++)
        if (c->record[i].prescription1)
            rg_prescription_apply(c, i);
    return RG_OK;
}

uint64_t rg_world_step_count(const rg_world *world) {
    return world->content.step_count;
}

bool rg_world_is_planar(const rg_world *world) {
    return world->content.planar;
}

int rg_world_degrees_of_freedom(const rg_world *world) {
    return world->content.planar ? 3 : 6;
}

rg_vec3 rg_world_gravity(const rg_world *world) {
    return world->content.gravity;
}

rg_status rg_world_set_gravity(rg_world *world, rg_vec3 gravity) {
    rg_status status = check_gravity(world->content.planar, gravity, NULL);
    if (!status)
        status = rg_world_begin_edit(world);
    if (!status)
        world->content.gravity = gravity;
    return status;
}

rg_method_settings rg_world_settings(const rg_world *world) {
    return world->content.settings;
}

rg_status rg_world_set_threads(rg_world *world, int threads) {
    if (threads < 1)
        return RG_INVALID_ARGUMENT;
    if (world->busy)
        return RG_BUSY;
    rg_pool *pool = NULL;
    if (threads > 1) {
        rg_status status = rg_pool_create(threads, &world->allocator, &pool);
        if (status)
            return status;
    }
    rg_pool_destroy(world->pool);
    world->pool = pool;
    world->threads = threads;
    return RG_OK;
}

uint64_t rg_world_seed(const rg_world *world) {
    return world->content.seed;
}

rg_random *rg_world_random(rg_world *world) {
    return &world->content.random;
}

static rg_strided view(const void *data, size_t count, size_t stride) {
    return (rg_strided){data, count, stride};
}

rg_strided rg_world_centre_positions(const rg_world *world) {
    return view(world->content.position, world->content.bodies.count, 3);
}

rg_strided rg_world_centre_orientations(const rg_world *world) {
    return view(world->content.orientation, world->content.bodies.count, 4);
}

rg_strided rg_world_velocities(const rg_world *world) {
    return view(world->content.velocity, world->content.bodies.count, 3);
}

rg_strided rg_world_angular_velocities(const rg_world *world) {
    return view(world->content.angular_velocity, world->content.bodies.count, 3);
}

static uint64_t hash_vectors(uint64_t hash, const rg_vec3 *vectors, size_t count) {
    return rg_hash_doubles(hash, (const double *)vectors, 3 * count);
}

uint64_t rg_world_state_hash(const rg_world *world) {
    const rg_world_content *c = &world->content;
    size_t n = c->bodies.count;
    uint64_t hash = rg_hash_doubles(rg_hash_begin(), &c->time, 1);
    hash = rg_hash_u64(hash, n);
    hash = hash_vectors(hash, c->position, n);
    hash = rg_hash_doubles(hash, (const double *)c->orientation, 4 * n);
    hash = rg_hash_doubles(hash, c->angle, n);
    hash = hash_vectors(hash, c->velocity, n);
    hash = hash_vectors(hash, c->angular_velocity, n);
    hash = hash_vectors(hash, c->momentum, n);
    return hash_vectors(hash, c->angular_momentum, n);
}
