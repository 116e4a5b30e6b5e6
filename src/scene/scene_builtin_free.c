/* Built-in scenes of free flight, each beside its closed form.
 *
 * spinning-top: a torque-free symmetric top. Its axis goes round the angular momentum L on a cone
 * at the constant rate |L| / I1 (Landau, Lifshitz, Mechanics, section 33).
 *
 * tennis-racket: a torque-free asymmetric top, spun about its intermediate axis, which it leaves
 * and comes back to the other way round. With I1 < I2 < I3, energy E and L^2 > 2 E I2 (the other
 * case by exchanging 1 and 3) the component omega2 is proportional to sn(n t, k) with n^2 = (I3 -
 * I2)(L^2 - 2 E I1) / (I1 I2 I3), k^2 = (I2 - I1)(2 E I3 - L^2) / ((I3 - I2)(L^2 - 2 E I1)) (ibid.,
 * section 37), so that it changes sign every 2 K(k) / n seconds, K by the arithmetic-geometric
 * mean. The changes are found between observations by Hermite interpolation with the derivative
 * that Euler's equations give, which is exact to the fourth order of the step.
 *
 * projectiles: bodies of many shapes thrown up at random. Their centres follow the parabola
 * x0 + v0 t + g t^2 / 2; without other forces the stepping method is exact for it, so that what is
 * measured against the continuous parabola is rounding.
 * Tested by tests/scene/test_builtin.c. */
#include "scene/scene_builtin.h"

#include "base/base_math.h"
#include "base/base_text.h"
#include "base/base_trig.h"

#include <string.h>

/* ---- what the scenes share ---- */

/* Energy and angular momentum about the centre of one body, as they were and how far they went. */
typedef struct drift {
    double energy, energy_drift;
    rg_vec3 momentum;
    double momentum_drift;
} drift;

static drift drift_begin(rg_world *world, rg_body_id body) {
    return (drift){.energy = rg_world_energy(world),
                   .momentum = rg_body_angular_momentum(world, body)};
}

static void drift_observe(drift *d, rg_world *world, rg_body_id body) {
    double energy = fabs(rg_world_energy(world) - d->energy) / d->energy;
    rg_vec3 change = rg_sub(rg_body_angular_momentum(world, body), d->momentum);
    double momentum = rg_length(change) / rg_length(d->momentum);
    d->energy_drift = fmax(d->energy_drift, energy);
    d->momentum_drift = fmax(d->momentum_drift, momentum);
}

/* ---- spinning-top ---- */

enum { TOP_SPIN, TOP_WOBBLE };
static const rg_builtin_parameter top_parameters[] = {
    {"spin", "20", "rad/s about the axis of symmetry", 0.01, 200, false, NULL},
    {"wobble", "3", "rad/s about an axis across it", 0, 200, false, NULL},
};

typedef struct top_state {
    rg_body_id body;
    drift drift;
    rg_vec3 axis;      /* of symmetry, at the start */
    double axis_error; /* rad */
} top_state;

static rg_vec3 symmetry_axis(const rg_world *world, rg_body_id body) {
    return rg_rotate(rg_body_pose(world, body).orientation, rg_vec3_make(0, 0, 1));
}

static rg_status build_top(rg_scene *scene, const double *values, rg_error *error) {
    top_state *state = scene->measuring;
    rg_shape_def cone = rg_shape_def_cone(0.25, 0.4);
    rg_body_def def = rg_body_def_default();
    def.name = "top";
    def.pose.position = rg_vec3_make(0, 0, 1);
    /* On its tip, leaning by 20 degrees. */
    def.pose.orientation = rg_quat_of_rotation_vector(rg_vec3_make(RG_PI - RG_PI / 9, 0, 0));
    def.angular_velocity =
        rg_rotate(def.pose.orientation, rg_vec3_make(values[TOP_WOBBLE], 0, values[TOP_SPIN]));
    rg_status status = rg_builtin_add(scene, &cone, 1000, &def, &state->body, error);
    if (status != RG_OK)
        return status;
    state->drift = drift_begin(scene->world, state->body);
    state->axis = symmetry_axis(scene->world, state->body);
    return RG_OK;
}

static void observe_top(rg_scene *scene) {
    top_state *state = scene->measuring;
    const rg_world *world = scene->world;
    drift_observe(&state->drift, scene->world, state->body);
    double across = rg_body_mass(world, state->body).inertia.m[0][0];
    double angle = rg_length(state->drift.momentum) / across * rg_world_time(world);
    rg_vec3 turn = rg_scale(angle, rg_normalised(state->drift.momentum));
    rg_vec3 expected = rg_rotate(rg_quat_of_rotation_vector(turn), state->axis);
    rg_vec3 axis = symmetry_axis(world, state->body);
    double error = rg_atan2(rg_length(rg_cross(axis, expected)), rg_dot(axis, expected));
    state->axis_error = fmax(state->axis_error, error);
}

static size_t measure_top(rg_scene *scene, rg_measure measures[RG_MAX_MEASURES]) {
    const top_state *state = scene->measuring;
    size_t n = 0;
    measures[n++] = rg_measure_beside("energy_drift_rel", state->drift.energy_drift, 0);
    measures[n++] = rg_measure_beside("angular_momentum_drift_rel", state->drift.momentum_drift, 0);
    measures[n++] = rg_measure_beside("axis_error_rad", state->axis_error, 0);
    return n;
}

/* ---- tennis-racket ---- */

enum { RACKET_SPIN, RACKET_NUDGE };
static const rg_builtin_parameter racket_parameters[] = {
    {"spin", "8", "rad/s about the intermediate axis", 0.1, 200, false, NULL},
    {"nudge", "0.01", "rad/s about each of the others, at the start", 1e-6, 100, false, NULL},
};

typedef struct racket_state {
    rg_body_id body;
    drift drift;
    double time, spin, rate; /* of the last observation: omega2 and its derivative */
    uint64_t flips;
    double first_flip, last_flip; /* s */
} racket_state;

/* Head, flat across y, and handle along z: about z the inertia is smallest, about y largest, and
 * the x axis is the one between. */
static rg_status add_racket(rg_scene *scene, const rg_body_def *def, rg_body_id *body,
                            rg_error *error) {
    rg_shape_def head_def = rg_shape_def_ellipsoid(0.13, 0.02, 0.17);
    rg_shape_def handle_def = rg_shape_def_box(0.03, 0.03, 0.34);
    rg_shape *head = NULL, *handle = NULL;
    rg_status status = rg_shape_create(&head_def, &scene->allocator, &head, error);
    if (status == RG_OK)
        status = rg_shape_create(&handle_def, &scene->allocator, &handle, error);
    if (status == RG_OK) {
        rg_compound_part parts[2] = {{head, rg_pose_identity(), 1},
                                     {handle, rg_pose_identity(), 1}};
        parts[0].pose.position.z = 0.17;
        parts[1].pose.position.z = -0.17;
        rg_shape_def racket = rg_shape_def_compound(parts, 2);
        status = rg_builtin_add(scene, &racket, 1000, def, body, error);
    }
    rg_shape_release(head);
    rg_shape_release(handle);
    return status;
}

/* omega2, and by Euler's equation I2 omega2' = (I3 - I1) omega3 omega1 its derivative. In body axes
 * 1 is z, 2 is x, 3 is y. */
static void intermediate_spin(const rg_world *world, rg_body_id body, double *spin, double *rate) {
    rg_vec3 w = rg_rotate_back(rg_body_pose(world, body).orientation,
                               rg_body_angular_velocity(world, body));
    rg_mat3 i = rg_body_mass(world, body).inertia;
    *spin = w.x;
    *rate = (i.m[1][1] - i.m[2][2]) / i.m[0][0] * w.y * w.z;
}

static rg_status build_racket(rg_scene *scene, const double *values, rg_error *error) {
    racket_state *state = scene->measuring;
    rg_body_def def = rg_body_def_default();
    def.name = "racket";
    def.pose.position = rg_vec3_make(0, 0, 1);
    def.total_mass = 0.3;
    def.angular_velocity =
        rg_vec3_make(values[RACKET_SPIN], values[RACKET_NUDGE], values[RACKET_NUDGE]);
    rg_status status = add_racket(scene, &def, &state->body, error);
    if (status != RG_OK)
        return status;
    state->drift = drift_begin(scene->world, state->body);
    intermediate_spin(scene->world, state->body, &state->spin, &state->rate);
    return RG_OK;
}

/* The zero in [0, h] of the cubic with values a, b and slopes c, d at the ends, a and b of opposite
 * signs: bisection, to the last bit. */
static double hermite_zero(double h, double a, double c, double b, double d) {
    double low = 0, high = 1;
    for (int i = 0; i < 60; i++) {
        double t = 0.5 * (low + high), s = 1 - t;
        double value =
            s * s * ((1 + 2 * t) * a + t * h * c) + t * t * ((1 + 2 * s) * b - s * h * d);
        if ((value < 0) == (a < 0))
            low = t;
        else
            high = t;
    }
    return low * h;
}

static void observe_racket(rg_scene *scene) {
    racket_state *state = scene->measuring;
    double time = rg_world_time(scene->world), spin, rate;
    drift_observe(&state->drift, scene->world, state->body);
    intermediate_spin(scene->world, state->body, &spin, &rate);
    if ((spin < 0) != (state->spin < 0)) {
        double zero =
            state->time + hermite_zero(time - state->time, state->spin, state->rate, spin, rate);
        state->last_flip = zero;
        if (state->flips++ == 0)
            state->first_flip = zero;
    }
    state->time = time;
    state->spin = spin;
    state->rate = rate;
}

/* K(k) = pi / (2 AGM(1, k')), k' = sqrt(1 - k^2). */
static double complete_elliptic(double k_squared) {
    double a = 1, b = sqrt(1 - k_squared);
    for (int i = 0; i < 40 && fabs(a - b) > 1e-16 * a; i++) {
        double mean = 0.5 * (a + b);
        b = sqrt(a * b);
        a = mean;
    }
    return RG_PI / (a + b);
}

/* Seconds between two sign changes of omega2, from the energy and momentum of the start. */
static double flip_period(rg_scene *scene) {
    const racket_state *state = scene->measuring;
    rg_mat3 i = rg_body_mass(scene->world, state->body).inertia;
    double i1 = i.m[2][2], i2 = i.m[0][0], i3 = i.m[1][1];
    double twice_energy = 2 * state->drift.energy;
    double l2 = rg_length_squared(state->drift.momentum);
    if (l2 < twice_energy * i2) {
        double swap = i1;
        i1 = i3;
        i3 = swap;
    }
    double low = l2 - twice_energy * i1, high = twice_energy * i3 - l2;
    double n = sqrt((i3 - i2) * low / (i1 * i2 * i3));
    double k_squared = (i2 - i1) * high / ((i3 - i2) * low);
    return 2 * complete_elliptic(k_squared) / n;
}

static size_t measure_racket(rg_scene *scene, rg_measure measures[RG_MAX_MEASURES]) {
    const racket_state *state = scene->measuring;
    size_t n = 0;
    measures[n++] = rg_measure_beside("energy_drift_rel", state->drift.energy_drift, 0);
    measures[n++] = rg_measure_beside("angular_momentum_drift_rel", state->drift.momentum_drift, 0);
    measures[n++] = rg_measure_of("flips", (double)state->flips);
    if (state->flips > 1)
        measures[n++] = rg_measure_beside(
            "flip_period_s", (state->last_flip - state->first_flip) / (double)(state->flips - 1),
            flip_period(scene));
    return n;
}

/* ---- projectiles ---- */

static const rg_builtin_parameter projectile_parameters[] = {
    {"count", "1000", "number of bodies", 1, 10000000, true, NULL},
    RG_PARAMETER_SEED,
};

enum { PROJECTILE_SHAPES = 32, HULL_POINTS = 20 };

/* Start of each centre, and the energy: what the closed form needs. */
typedef struct projectile_start {
    rg_vec3 position, velocity;
} projectile_start;
typedef struct projectile_state {
    double energy;
    size_t count;
    projectile_start start[];
} projectile_state;

static rg_status make_hull(rg_random *random, double size, const rg_allocator *allocator,
                           rg_shape **shape, rg_error *error) {
    rg_vec3 points[HULL_POINTS];
    for (int i = 0; i < HULL_POINTS; i++)
        points[i] = rg_scale(size, rg_random_direction(random));
    rg_shape_def def = rg_shape_def_hull(points, HULL_POINTS);
    return rg_shape_create(&def, allocator, shape, error);
}

/* One of seven kinds in turn, of a random size between 0.1 and 0.5 m. */
static rg_status make_projectile_shape(size_t index, rg_random *random,
                                       const rg_allocator *allocator, rg_shape **shape,
                                       rg_error *error) {
    double a = rg_random_between(random, 0.1, 0.5), b = rg_random_between(random, 0.1, 0.5),
           c = rg_random_between(random, 0.1, 0.5);
    rg_shape_def def;
    switch (index % 7) {
    case 0:
        def = rg_shape_def_box(a, b, c);
        break;
    case 1:
        def = rg_shape_def_sphere(0.5 * a);
        break;
    case 2:
        def = rg_shape_def_capsule(0.3 * a, b);
        break;
    case 3:
        def = rg_shape_def_cylinder(0.5 * a, b);
        break;
    case 4:
        def = rg_shape_def_cone(0.5 * a, b);
        break;
    case 5:
        def = rg_shape_def_ellipsoid(0.5 * a, 0.5 * b, 0.5 * c);
        break;
    default:
        return make_hull(random, 0.5 * a, allocator, shape, error);
    }
    return rg_shape_create(&def, allocator, shape, error);
}

static rg_status throw_projectile(rg_scene *scene, rg_random *random, rg_shape *const *shapes,
                                  projectile_start *start, rg_error *error) {
    rg_collider_def collider = rg_collider_def_default();
    collider.shape = shapes[rg_random_below(random, PROJECTILE_SHAPES)];
    collider.mask = 0; /* they fly through each other: the parabola is what is measured */
    rg_body_def def = rg_body_def_default();
    /* One draw per statement: C leaves the order of arguments to the compiler. */
    def.pose.position.x = rg_random_between(random, -50, 50);
    def.pose.position.y = rg_random_between(random, -50, 50);
    def.pose.orientation = rg_random_rotation(random);
    def.velocity.x = rg_random_between(random, -5, 5);
    def.velocity.y = rg_random_between(random, -5, 5);
    def.velocity.z = rg_random_between(random, 20, 50);
    double spin = rg_random_between(random, 0, 10);
    def.angular_velocity = rg_scale(spin, rg_random_direction(random));
    def.colliders = &collider;
    def.collider_count = 1;
    rg_body_id body;
    rg_status status = rg_world_add_body(scene->world, &def, &body, error);
    if (status == RG_OK)
        *start = (projectile_start){rg_body_centre_pose(scene->world, body).position, def.velocity};
    return status;
}

static rg_status build_projectiles(rg_scene *scene, const double *values, rg_error *error) {
    size_t count = (size_t)values[0], made = 0;
    projectile_state *state =
        rg_builtin_remember(scene, sizeof *state + count * sizeof state->start[0]);
    if (!state)
        return rg_builtin_fail_memory(scene, error);
    state->count = count;
    /* A generator of its own: the world's stays as the seed left it. */
    rg_random random = rg_random_make(rg_world_seed(scene->world));
    rg_shape *shapes[PROJECTILE_SHAPES] = {0};
    rg_status status = RG_OK;
    for (; made < PROJECTILE_SHAPES && status == RG_OK; made++)
        status = make_projectile_shape(made, &random, &scene->allocator, &shapes[made], error);
    for (size_t i = 0; i < count && status == RG_OK; i++)
        status = throw_projectile(scene, &random, shapes, &state->start[i], error);
    for (size_t i = 0; i < made; i++)
        rg_shape_release(shapes[i]);
    state->energy = rg_world_energy(scene->world);
    return status;
}

static size_t measure_projectiles(rg_scene *scene, rg_measure measures[RG_MAX_MEASURES]) {
    const projectile_state *state = scene->measuring;
    double t = rg_world_time(scene->world), worst = 0;
    rg_strided positions = rg_world_centre_positions(scene->world);
    rg_vec3 fall = rg_scale(0.5 * t * t, rg_world_gravity(scene->world));
    for (size_t i = 0; i < state->count && i < positions.count; i++) {
        const double *p = positions.data + i * positions.stride;
        rg_vec3 expected =
            rg_add(rg_add_scaled(state->start[i].position, t, state->start[i].velocity), fall);
        worst = fmax(worst, rg_length(rg_sub(rg_vec3_make(p[0], p[1], p[2]), expected)));
    }
    double drift_rel = fabs(rg_world_energy(scene->world) - state->energy) / state->energy;
    size_t n = 0;
    measures[n++] = rg_measure_beside("position_error_m", worst, 0);
    measures[n++] = rg_measure_beside("energy_drift_rel", drift_rel, 0);
    return n;
}

/* ---- the list ---- */

const rg_builtin rg_builtin_free[] = {
    {"spinning-top", "a symmetric top without gravity: its axis circles the angular momentum",
     RG_PARAMETERS(top_parameters), RG_ANALYTIC | RG_WEIGHTLESS | RG_TIGHT, 0, sizeof(top_state),
     build_top, observe_top, measure_top},
    {"tennis-racket",
     "a racket spun about its intermediate axis without gravity: it flips over and over",
     RG_PARAMETERS(racket_parameters), RG_ANALYTIC | RG_WEIGHTLESS | RG_TIGHT, 0,
     sizeof(racket_state), build_racket, observe_racket, measure_racket},
    {"projectiles", "bodies of many shapes thrown up at random: parabolas to the last bits",
     RG_PARAMETERS(projectile_parameters), 0, 0, 0, build_projectiles, NULL, measure_projectiles},
    {0},
};
