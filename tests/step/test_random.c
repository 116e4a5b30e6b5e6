/* Random scenes under the judge: boxes, hulls, spheres, capsules and cylinders
 * of 1 mm to 1 km and 1 mg to 1000 t, mixed, with any friction and restitution,
 * on a floor or in a box of half-spaces, some of them pulled, driven or without
 * weight. Nothing may become NaN, no energy may come from nowhere, every entry
 * of the ledger must add up, and neither threads nor a stop in between may
 * change a bit. RIGOR_LONG=1 runs all 200 scenes; RIGOR_SEED=n runs one, and
 * tells its figures. */
#include "test_world_support.h"

#include "rigor/contact_force.h"

#include <stdio.h>
#include <stdlib.h>

#define STEP 0x1.1111111111111p-8 /* 1/240 s */

enum { STEPS = 480, SCENES = 200, FEW_SCENES = 40, BODIES_MIN = 2, BODIES_MAX = 20, TRIES = 60 };

/* Relative to the energies and works in sight, the momenta in sight, and |g| h. */
#define CLOSURE 1e-9
/* Bodies at rest on which forces besides gravity act keep the impulses of the step before
 * (RG_STEP_KEEP); what that leaves out, at most 1e-10 of |g| h, counts here. Seen: 1.4e-12; without
 * it none is above 1e-12. */
#define MOMENTUM        2e-12
#define COMPLEMENTARITY 1e-8
/* Energies are sums of up to a few hundred products: rounding, relative to the sum of
 * magnitudes. */
#define ROUNDING 1e-12

/* At most one solve in so many may fail (4 of 365,600 in the long run; the short one has fewer, so
 * none may); its step is then exempt from COMPLEMENTARITY, which the certificate shows, and from
 * nothing else. */
enum { UNSOLVED = 90000 };

/* --- scenes ----------------------------------------------------------------------------------- */

typedef struct placed_ball { /* around a body */
    rg_vec3 centre;
    double radius;
} placed_ball;

typedef struct random_scene {
    rg_world *world;
    bool pulled; /* by forces besides gravity */
    size_t bodies;
    placed_ball balls[BODIES_MAX];
} random_scene;

static double log_between(rg_random *random, double low, double high) {
    return low * pow(high / low, rg_random_unit(random));
}

/* A shape of circumradius about `size` / 2. */
static rg_shape *random_shape(rg_random *random, double size) {
    double a = rg_random_between(random, 0.2, 0.5) * size;
    double b = rg_random_between(random, 0.2, 0.5) * size;
    double c = rg_random_between(random, 0.2, 0.5) * size;
    switch (rg_random_below(random, 6)) {
    case 0:
    case 1:
        return shape_of(rg_shape_def_box(a, b, c));
    case 2:
        return shape_of(rg_shape_def_sphere(a));
    case 3:
        return shape_of(rg_shape_def_capsule(0.5 * a, b));
    case 4:
        return shape_of(rg_shape_def_cylinder(0.5 * a, b));
    default: {
        rg_vec3 points[16];
        size_t count = 6 + (size_t)rg_random_below(random, 11);
        for (size_t i = 0; i < count; i++) {
            rg_vec3 p = rg_random_direction(random);
            points[i] = (rg_vec3){a * p.x, b * p.y, c * p.z};
        }
        return shape_of(rg_shape_def_hull(points, count));
    }
    }
}

static void add_half_space(rg_world *world, rg_vec3 normal, double offset, rg_material_id material,
                           const rg_prescription *driven) {
    rg_collider_def collider = rg_collider_def_default();
    collider.material = material;
    rg_body_def def = rg_body_def_default();
    def.motion = driven ? RG_MOTION_KINEMATIC : RG_MOTION_FIXED;
    if (driven)
        def.prescription = *driven;
    add_collider(world, rg_shape_def_halfspace(normal, offset), collider, &def);
}

/* Next to a body that is there already, or above the floor, and free of all
 * others. */
static rg_vec3 find_place(rg_random *random, const random_scene *scene, double radius) {
    double reach = 0;
    for (int k = 0;; k++) {
        rg_vec3 place = {0, 0, radius * (1 + rg_random_between(random, 0, 0.2))};
        if (scene->bodies > 0) {
            const placed_ball *at = &scene->balls[rg_random_below(random, scene->bodies)];
            double away = (at->radius + radius) * (1 + 1e-3 + 0.1 * rg_random_unit(random) + reach);
            place = rg_add_scaled(at->centre, away, rg_random_direction(random));
        }
        bool fits = place.z > radius;
        for (size_t i = 0; fits && i < scene->bodies; i++)
            fits =
                rg_length(rg_sub(place, scene->balls[i].centre)) > radius + scene->balls[i].radius;
        if (fits || k > 100 * TRIES)
            return place;
        if (k % TRIES == TRIES - 1)
            reach += 0.5;
    }
}

static rg_body_id add_random_body(rg_random *random, random_scene *scene, double size, double mass,
                                  rg_material_id material) {
    rg_shape *shape = random_shape(random, size);
    rg_collider_def collider = rg_collider_def_default();
    collider.shape = shape;
    collider.material = material;
    double centre = rg_length(rg_shape_centre(shape));
    double radius = rg_shape_circumradius(shape) + centre;
    rg_body_def def = rg_body_def_default();
    def.pose.position = find_place(random, scene, radius);
    def.pose.orientation = rg_random_rotation(random);
    double speed = sqrt(9.81 * radius); /* as after a fall by half its size */
    double fast = rg_random_below(random, 4) == 0 ? 5 : rg_random_unit(random);
    def.velocity = rg_scale(fast * speed, rg_random_direction(random));
    def.angular_velocity =
        rg_scale(rg_random_unit(random) * fmin(speed / radius, 60), rg_random_direction(random));
    def.total_mass = mass;
    def.colliders = &collider;
    def.collider_count = 1;
    rg_body_id body = body_of(scene->world, &def);
    rg_shape_release(shape);
    scene->balls[scene->bodies++] = (placed_ball){def.pose.position, radius};
    return body;
}

static void add_walls(rg_random *random, random_scene *scene, rg_material_id material, bool lid) {
    rg_vec3 low = scene->balls[0].centre, high = low;
    for (size_t i = 0; i < scene->bodies; i++) {
        double r = scene->balls[i].radius * rg_random_between(random, 1.01, 1.5);
        rg_vec3 c = scene->balls[i].centre;
        low = (rg_vec3){fmin(low.x, c.x - r), fmin(low.y, c.y - r), fmin(low.z, c.z - r)};
        high = (rg_vec3){fmax(high.x, c.x + r), fmax(high.y, c.y + r), fmax(high.z, c.z + r)};
    }
    add_half_space(scene->world, (rg_vec3){1, 0, 0}, low.x, material, NULL);
    add_half_space(scene->world, (rg_vec3){-1, 0, 0}, -high.x, material, NULL);
    add_half_space(scene->world, (rg_vec3){0, 1, 0}, low.y, material, NULL);
    add_half_space(scene->world, (rg_vec3){0, -1, 0}, -high.y, material, NULL);
    if (lid)
        add_half_space(scene->world, (rg_vec3){0, 0, -1}, -high.z, material, NULL);
}

/* Everything follows from the seed; threads do not count. */
static random_scene make_scene(uint64_t seed, int threads) {
    rg_random generator = rg_random_make(seed), *random = &generator;
    random_scene scene = {0};
    uint64_t kind = rg_random_below(random, 8);
    bool weightless = kind == 0, driven = kind == 1, walls = kind == 0 || kind >= 4;
    scene.pulled = kind == 2;
    rg_world_def def = rg_world_def_default();
    def.threads = threads;
    if (weightless)
        def.gravity = (rg_vec3){0, 0, 0};
    scene.world = world_of(&def);
    rg_material_id materials[4] = {0};
    for (int i = 1; i < 4; i++) {
        char name[16];
        snprintf(name, sizeof name, "m%d", i);
        double mu = rg_random_unit(random), more = rg_random_below(random, 2) ? 1 : 1.2;
        rg_contact_law law = {
            .static_friction = mu * more, .friction = mu, .restitution = rg_random_unit(random)};
        if (rg_random_below(random, 3) == 0)
            law.restitution = rg_random_below(random, 2) ? 1 : 0;
        if (rg_random_below(random, 5) == 0)
            law.static_friction = law.friction = 0;
        assert_int_equal(rg_world_add_material(scene.world, name, &law, &materials[i], NULL),
                         RG_OK);
    }
    /* One of three scenes goes over all sizes and masses, the others over one or
   * two decades. */
    bool all = rg_random_below(random, 3) == 0;
    double size_span = all ? 1e3 : 3, mass_span = all ? 1e6 : rg_random_below(random, 2) ? 2 : 30;
    double size = all ? 1 : log_between(random, 3e-3, 3e2);
    double mass = all ? 1 : log_between(random, 3e-5, 3e4);
    size_t count = BODIES_MIN + (size_t)rg_random_below(random, BODIES_MAX - BODIES_MIN + 1);
    rg_prescription swing = {.kind = RG_PRESCRIBED_OSCILLATION,
                             .amplitude = {0.1 * size, 0, 0.05 * size},
                             .frequency = 2};
    add_half_space(scene.world, (rg_vec3){0, 0, 1}, 0, materials[1], driven ? &swing : NULL);
    for (size_t i = 0; i < count; i++) {
        double s = log_between(random, size / size_span, size * size_span);
        double m = log_between(random, mass / mass_span, mass * mass_span);
        rg_body_id body =
            add_random_body(random, &scene, s, m, materials[rg_random_below(random, 4)]);
        if (!scene.pulled)
            continue;
        rg_force_def pull = rg_force_def_default(RG_FORCE_CONSTANT);
        rg_force_id force;
        pull.body = body;
        pull.force = rg_scale(5 * m, rg_random_direction(random));
        assert_int_equal(rg_world_add_force(scene.world, &pull, &force, NULL), RG_OK);
    }
    if (walls)
        add_walls(random, &scene, materials[1], weightless);
    return scene;
}

/* --- what must hold after every step
 * ------------------------------------------------------------- */

typedef struct figures {
    double closure, momentum, complementarity, gain, penetration;
} figures;

/* Kinetic energy of the dynamic bodies. */
static double kinetic_energy(const rg_world *world) {
    double sum = 0;
    for (size_t i = 0; i < rg_world_body_count(world); i++) {
        rg_body_id body = rg_world_body_at(world, i);
        if (rg_body_motion(world, body) == RG_MOTION_DYNAMIC)
            sum += 0.5 * (rg_dot(rg_body_momentum(world, body), rg_body_velocity(world, body)) +
                          rg_dot(rg_body_angular_momentum(world, body),
                                 rg_body_angular_velocity(world, body)));
    }
    return sum;
}

/* What contacts bring beyond what they may, joules. With W the inverse mass
 * seen at them and u = u_free + W P, twice their work is P.(u_free + u) = 2 P.u
 * - P'W P, and P.u is at most what the contacts that lie inside each other are
 * pushed out by. The ledger counts gravity along the whole step, u_before =
 * u_free - h g: there contacts do P.(u_before + u) / 2, which is P.(h g) / 2
 * less. Restitution starts from a solution without it, whose impulses are not
 * known here: it may bring what that one brings, no more than |P| |h g| / 2
 * unless there are push-outs. `size` gets what errors are relative to. */
static double contact_gain(const rg_world *world, const rg_energy_ledger *e, double *size) {
    size_t count;
    const rg_contact_force *forces = rg_world_contact_forces(world, &count);
    double push = 0, fall = 0, most = 0, speed = rg_length(rg_world_gravity(world)) * STEP;
    bool impact = false;
    for (size_t i = 0; i < count; i++) {
        const rg_contact_force *f = &forces[i];
        rg_vec3 given = rg_scale(STEP, rg_world_gravity(world));
        double a = rg_body_motion(world, f->body_a) == RG_MOTION_DYNAMIC;
        double b = rg_body_motion(world, f->body_b) == RG_MOTION_DYNAMIC;
        fall += 0.5 * (a - b) * rg_dot(f->impulse, given);
        push += fmax(0, -f->gap) / STEP * rg_dot(f->impulse, f->normal);
        most += 0.5 * speed * rg_length(f->impulse);
        impact |= f->impact != 0;
    }
    double brought = e->friction_work - e->impact_loss + e->stabilisation;
    /* `most`: what the solver's tolerance refers to. */
    *size += push + most + fabs(e->friction_work) + e->impact_loss + e->stabilisation;
    if (!impact)
        return brought - push + fall;
    return push > 0 ? 0 : brought - most;
}

static bool is_finite_world(const rg_world *world) {
    for (size_t i = 0; i < rg_world_body_count(world); i++) {
        rg_body_id body = rg_world_body_at(world, i);
        rg_quat q = rg_body_pose(world, body).orientation;
        if (!rg_is_finite(rg_body_pose(world, body).position) || !isfinite(q.w + q.x + q.y + q.z) ||
            !rg_is_finite(rg_body_velocity(world, body)) ||
            !rg_is_finite(rg_body_angular_velocity(world, body)))
            return false;
    }
    return true;
}

static int check_step(const random_scene *scene, uint64_t seed, const rg_step_info *info,
                      figures *worst) {
    const rg_certificate *c = &info->certificate;
    const rg_energy_ledger *e = &info->energy;
    const rg_world *world = scene->world;
    unsigned long long step = rg_world_step_count(world), id = seed;
    int wrong = 0;
    double size = kinetic_energy(world) + fabs(e->external_work) + fabs(e->prescribed_work) +
                  fabs(e->integration);
    double gain = contact_gain(world, e, &size);
    worst->closure = fmax(worst->closure, e->closure_rel);
    worst->momentum = fmax(worst->momentum, c->momentum_error);
    worst->penetration = fmax(worst->penetration, c->max_penetration);
    if (info->solves)
        worst->complementarity = fmax(worst->complementarity, c->complementarity);
    if (!scene->pulled && size > 0)
        worst->gain = fmax(worst->gain, gain / size);
#define MUST(condition, what, figure)                                                              \
    if (!(condition)) {                                                                            \
        print_error("seed %llu, step %llu: %s %.3g\n", id, step, what, (double)(figure));          \
        wrong++;                                                                                   \
    }
    MUST(is_finite_world(world), "not a number", 0)
    MUST(e->closure_rel <= CLOSURE, "closure", e->closure_rel)
    MUST(c->momentum_error <= MOMENTUM, "momentum error", c->momentum_error)
    MUST(!info->solves || info->solver_failures || c->complementarity <= COMPLEMENTARITY,
         "complementarity", c->complementarity)
    MUST(scene->pulled || gain <= (ROUNDING + COMPLEMENTARITY) * size, "energy out of contacts, J",
         gain)
#undef MUST
    return wrong;
}

/* --- runs
 * ----------------------------------------------------------------------------------------
 */

/* Steps the scene; one with trouble is told once. Returns how many steps had
 * any. */
static int run_scene(random_scene *scene, uint64_t seed, int steps, figures *worst) {
    int wrong = 0;
    for (int i = 0; i < steps; i++) {
        rg_step_info info;
        rg_error error;
        rg_status status = rg_world_step(scene->world, STEP, &info, &error);
        if (status) {
            print_error("seed %llu, step %d: %s\n", (unsigned long long)seed, i, error.text);
            return wrong + 1;
        }
        wrong += check_step(scene, seed, &info, worst) > 0;
        if (wrong >= 3)
            return wrong;
    }
    return wrong;
}

/* The whole run, as a user reads the ledger: energy grew by no more than the
 * entries that may bring some. (In a single step friction may be credited with
 * a little that gravity is debited with, where a body turns round within the
 * step.) */
static bool check_run(uint64_t seed, const rg_energy_ledger *e) {
    double brought = e->stabilisation + e->integration + e->external_work + e->prescribed_work;
    double excess = e->final - e->initial - brought;
    double size = fabs(e->initial) + fabs(e->final) + fabs(e->friction_work) + e->impact_loss +
                  e->stabilisation + fabs(e->integration) + fabs(e->external_work) +
                  fabs(e->prescribed_work);
    bool closes = e->closure_rel <= CLOSURE, bounded = excess <= CLOSURE * size;
    if (!closes)
        print_error("seed %llu: closure of the run %.3g\n", (unsigned long long)seed,
                    e->closure_rel);
    if (!bounded)
        print_error("seed %llu: %.3g J out of nothing\n", (unsigned long long)seed, excess);
    return closes && bounded;
}

static void tell(uint64_t seed, const random_scene *scene, const figures *f) {
    rg_step_info s = rg_world_summary(scene->world);
    print_message("seed %llu: %zu bodies, contacts %llu, solves %llu, fallbacks "
                  "%llu, closure %.1e, "
                  "momentum %.1e, complementarity %.1e, gain %.1e, penetration "
                  "%.1e m, %.3f ms a "
                  "step\n",
                  (unsigned long long)seed, scene->bodies, (unsigned long long)s.contacts_max,
                  (unsigned long long)s.solves, (unsigned long long)s.fallbacks, f->closure,
                  f->momentum, f->complementarity, f->gain, f->penetration,
                  1e3 * s.profile.step / fmax(1, (double)s.steps));
}

static void ledger_and_certificate_hold(void **state) {
    (void)state;
    const char *only = getenv("RIGOR_SEED");
    uint64_t first = only ? strtoull(only, NULL, 10) : 1;
    uint64_t scenes = only ? 1 : (uint64_t)test_cases(FEW_SCENES, SCENES);
    int bad = 0;
    uint64_t solves = 0, failures = 0;
    for (uint64_t seed = first; seed < first + scenes; seed++) {
        random_scene scene = make_scene(seed, 1);
        figures worst = {0};
        int wrong = run_scene(&scene, seed, STEPS, &worst);
        rg_step_info sum = rg_world_summary(scene.world);
        wrong += !check_run(seed, &sum.energy);
        bad += wrong > 0;
        solves += sum.solves;
        failures += sum.solver_failures;
        if (only || wrong || sum.solver_failures || getenv("RIGOR_TELL"))
            tell(seed, &scene, &worst);
        rg_world_destroy(scene.world);
    }
    assert_int_equal(bad, 0);
    print_message("%llu of %llu solves failed\n", (unsigned long long)failures,
                  (unsigned long long)solves);
    assert_true(failures <= solves / UNSOLVED);
}

/* The same with two threads, and with a stop in the middle: state written, and
 * read into a world that was made anew. */
static void threads_and_stops_change_nothing(void **state) {
    (void)state;
    uint64_t scenes = (uint64_t)test_cases(FEW_SCENES / 2, SCENES);
    enum { SHORT_RUN = 160, STOP_AT = 80 };
    for (uint64_t seed = 1; seed <= scenes; seed++) {
        random_scene one = make_scene(seed, 1), two = make_scene(seed, 2);
        step_world(one.world, STEP, STOP_AT);
        step_world(two.world, STEP, STOP_AT);
        assert_int_equal(rg_world_state_hash(one.world), rg_world_state_hash(two.world));
        size_t size;
        assert_int_equal(rg_world_save_state(one.world, NULL, 0, &size), RG_OK);
        void *bytes = malloc(size);
        assert_non_null(bytes);
        assert_int_equal(rg_world_save_state(one.world, bytes, size, &size), RG_OK);
        random_scene resumed = make_scene(seed, 1);
        assert_int_equal(rg_world_load_state(resumed.world, bytes, size, NULL), RG_OK);
        free(bytes);
        step_world(one.world, STEP, SHORT_RUN - STOP_AT);
        step_world(two.world, STEP, SHORT_RUN - STOP_AT);
        step_world(resumed.world, STEP, SHORT_RUN - STOP_AT);
        if (rg_world_state_hash(one.world) != rg_world_state_hash(two.world))
            fail_msg("seed %llu: two threads make a difference", (unsigned long long)seed);
        if (rg_world_state_hash(one.world) != rg_world_state_hash(resumed.world))
            fail_msg("seed %llu: a stop makes a difference", (unsigned long long)seed);
        rg_world_destroy(one.world);
        rg_world_destroy(two.world);
        rg_world_destroy(resumed.world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ledger_and_certificate_hold),
        cmocka_unit_test(threads_and_stops_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
