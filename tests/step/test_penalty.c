/* The penalty method: depth under weight, damping and restitution, friction, convergence as springs
 * get stiffer and what that costs, impulses, the ratio metric as measure, the ledger. */
#include "step/step_penalty.h"
#include "test_world_support.h"

#include <math.h>

#define G 9.81

typedef struct setup {
    double stiffness, tolerance, friction, restitution;
    rg_vec3 gravity;
    rg_penalty_measure measure;
    bool impulses, certify;
} setup;

static const setup usual = {
    .stiffness = 1e4, .tolerance = 1e-9, .gravity = {0, 0, -G}, .certify = true};

static rg_world *penalty_world(const setup *s) {
    rg_world_def def = rg_world_def_default();
    def.method = rg_method_find("penalty");
    def.gravity = s->gravity;
    def.certify = s->certify;
    def.settings.penalty.stiffness = s->stiffness;
    def.settings.penalty.tolerance = s->tolerance;
    def.settings.penalty.measure = s->measure;
    def.settings.penalty.impulses = s->impulses;
    rg_world *world = world_of(&def);
    rg_contact_law law = {.friction = s->friction, .restitution = s->restitution};
    assert_int_equal(rg_world_set_material_law(world, (rg_material_id){0}, &law, NULL), RG_OK);
    return world;
}

static void add_floor(rg_world *world) {
    rg_body_def def = rg_body_def_default();
    def.motion = RG_MOTION_FIXED;
    add_shape(world, rg_shape_def_halfspace((rg_vec3){0, 0, 1}, 0), &def);
}

static rg_body_id add_ball(rg_world *world, double radius, double mass, rg_vec3 position,
                           rg_vec3 velocity) {
    rg_body_def def = rg_body_def_default();
    rg_collider_def collider = rg_collider_def_default();
    collider.density = mass / (4.0 / 3 * 3.14159265358979323846 * radius * radius * radius);
    def.pose.position = position;
    def.velocity = velocity;
    return add_collider(world, rg_shape_def_sphere(radius), collider, &def);
}

static void weight_presses_springs_in(void **state) {
    (void)state;
    for (int heavy = 0; heavy < 2; heavy++) {
        double mass = heavy ? 20 : 2;
        rg_world *world = penalty_world(&usual);
        add_floor(world);
        rg_body_id ball = add_ball(world, 0.1, mass, (rg_vec3){0, 0, 0.1}, (rg_vec3){0, 0, 0});
        step_world(world, 1.0 / 60, 300);
        /* m g / k: the heavy one sinks deeper (Baraff 1989, figure 2). */
        double depth = 0.1 - rg_body_pose(world, ball).position.z;
        assert_near(depth, mass * G / usual.stiffness, 1e-9);
        rg_step_info sum = rg_world_summary(world);
        assert_near(rg_world_summary(world).certificate.max_penetration, depth, 0.6 * depth);
        assert_true(isnan(sum.certificate.complementarity)); /* there is no such problem */
        /* What springs store: minus their work; the rest of the fall is lost in dampers. */
        assert_near(sum.energy.stabilisation, -0.5 * usual.stiffness * depth * depth, 1e-6);
        assert_near(sum.energy.impact_loss, 0.5 * usual.stiffness * depth * depth, 1e-6);
        assert_true(sum.energy.closure_rel < 1e-7);
        assert_true(sum.certificate.momentum_error < 1e-12);
        size_t count;
        const rg_contact_force *forces = rg_world_contact_forces(world, &count);
        assert_int_equal(count, 1);
        assert_near(forces[0].normal_force, mass * G, 1e-4);
        rg_world_destroy(world);
    }
}

static void points_share_a_weight(void **state) {
    (void)state;
    rg_world *world = penalty_world(&usual);
    add_floor(world);
    rg_body_id box = add_box(world, "box", (rg_vec3){0.2, 0.2, 0.1}, (rg_vec3){0, 0, 0.05});
    step_world(world, 1.0 / 60, 300);
    double mass = rg_body_mass(world, box).mass;
    assert_near(0.05 - rg_body_pose(world, box).position.z, mass * G / (4 * usual.stiffness), 1e-9);
    rg_world_destroy(world);
}

static void a_wanted_depth_makes_the_stiffness(void **state) {
    (void)state;
    for (int heavy = 0; heavy < 2; heavy++) {
        setup s = usual;
        s.stiffness = 0;
        rg_world *world = penalty_world(&s);
        add_floor(world);
        rg_body_id ball =
            add_ball(world, 0.1, heavy ? 20 : 2, (rg_vec3){0, 0, 0.1}, (rg_vec3){0, 0, 0});
        step_world(world, 1.0 / 60, 120);
        assert_near(0.1 - rg_body_pose(world, ball).position.z, 1e-3, 1e-9);
        rg_world_destroy(world);
    }
}

static void materials_have_stiffness(void **state) {
    (void)state;
    rg_world *world = penalty_world(&usual);
    rg_contact_law law = {.stiffness = 3e4}, other = {.stiffness = 6e4};
    rg_material_id soft, hard;
    assert_int_equal(rg_world_add_material(world, "soft", &law, &soft, NULL), RG_OK);
    assert_int_equal(rg_world_add_material(world, "hard", &other, &hard, NULL), RG_OK);
    assert_near(rg_world_pair_law(world, soft, hard).stiffness, 2e4, 1e-9);
    assert_near(rg_world_pair_law(world, soft, (rg_material_id){0}).stiffness, 3e4, 1e-9);
    law.stiffness = -1;
    rg_error error;
    assert_int_equal(rg_world_add_material(world, "x", &law, &soft, &error), RG_INVALID_ARGUMENT);
    assert_string_equal(error.text, "stiffness: -1 N/m; it is 0 or between 1e-50 and 1e+50");
    rg_world_destroy(world);
}

/* e = exp(-2 acos(z) z / sqrt(1 - z^2)): the law, and a ball without weight that meets a wall. */
static void damping_gives_restitution(void **state) {
    (void)state;
    assert_true(rg_penalty_damping(1) == 0);
    assert_near(rg_penalty_damping(0), 1, 1e-15);
    for (double e = 0.2; e < 1; e += 0.1) {
        double z = rg_penalty_damping(e);
        assert_near(exp(-2 * acos(z) * z / sqrt(1 - z * z)), e, 1e-14);
        setup s = usual;
        s.gravity = (rg_vec3){0, 0, 0};
        s.restitution = e;
        s.tolerance = 1e-12;
        rg_world *world = penalty_world(&s);
        add_floor(world);
        rg_body_id ball = add_ball(world, 0.1, 2, (rg_vec3){0, 0, 0.15}, (rg_vec3){0, 0, -1});
        step_world(world, 0.01, 60);
        assert_near(rg_body_velocity(world, ball).z, e, 1e-7);
        rg_step_info sum = rg_world_summary(world);
        /* Springs give back what they stored. Where a point comes free both add up to no force and
         * steps are long: how the work is shared is known less well than its sum. */
        assert_near(sum.energy.impact_loss, 1 - e * e, 1e-3);
        assert_near(sum.energy.stabilisation, 0, 1e-3);
        assert_true(sum.energy.closure_rel < 1e-7);
        rg_world_destroy(world);
    }
}

static void friction_is_coulombs_above_creep(void **state) {
    (void)state;
    setup s = usual;
    s.friction = 0.4;
    rg_world *world = penalty_world(&s);
    add_floor(world);
    rg_body_id box = add_box(world, "box", (rg_vec3){0.2, 0.2, 0.02}, (rg_vec3){0, 0, 0.01});
    double depth = rg_body_mass(world, box).mass * G / (4 * s.stiffness);
    rg_body_set_pose(world, box, (rg_pose){{0, 0, 0.01 - depth}, {0, 0, 0, 1}});
    rg_body_set_velocity(world, box, (rg_vec3){3, 0, 0});
    step_world(world, 0.01, 60);
    /* v - mu g t while it slides; it stops after v^2 / (2 mu g). */
    assert_near(rg_body_velocity(world, box).x, 3 - 0.4 * G * 0.6, 2e-3);
    step_world(world, 0.01, 60);
    double stop = rg_body_pose(world, box).position.x;
    assert_near(stop, 1.146789, 3e-3);
    assert_true(rg_body_velocity(world, box).x < 1e-5);
    assert_near(rg_world_summary(world).energy.friction_work,
                -0.5 * rg_body_mass(world, box).mass * 9, 1e-2);
    assert_true(rg_world_summary(world).energy.closure_rel < 1e-6);
    rg_world_destroy(world);
}

/* A slope that is too gentle to slide on: the box creeps, by the share of `slip` that its friction
 * has to be. */
static void nothing_sticks(void **state) {
    (void)state;
    setup s = usual;
    s.friction = 0.5;
    s.gravity = (rg_vec3){G * sin(0.2), 0, -G * cos(0.2)};
    rg_world *world = penalty_world(&s);
    add_floor(world);
    rg_body_id box = add_box(world, "box", (rg_vec3){0.2, 0.2, 0.02}, (rg_vec3){0, 0, 0.01});
    step_world(world, 0.01, 200);
    assert_near(rg_body_velocity(world, box).x, 1e-3 * tan(0.2) / 0.5, 1e-7);
    rg_world_destroy(world);
}

/* --- stiffer springs: nearer to the constraint, and dearer ----------------------------------- */

static double slope(const double *x, const double *y, int n) {
    double sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (int i = 0; i < n; i++) {
        double a = log(x[i]), b = log(y[i]);
        sx += a, sy += b, sxx += a * a, sxy += a * b;
    }
    return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

static void pull_to_the_middle(void *user, rg_force_context *context) {
    const double *strength = user;
    for (size_t i = 0; i < context->body_count; i++) {
        rg_vec3 x = context->position[i];
        double r = rg_length(x);
        if (r > 0)
            context->force[i] = rg_add_scaled(context->force[i], -*strength / r, x);
    }
}

/* A small ball on a fixed one, held to it by a force towards its middle: as on a wire, it goes
 * round on a circle (the equality case of Baraff 1994, section 4.2; Rubin and Ungar 1957). Started
 * on the surface along it, the motion with springs comes to that of the constraint as they get
 * stiffer, with an error as 1 / k. */
static void converges_to_the_constraint(void **state) {
    (void)state;
    enum { CASES = 4 };
    double k[CASES], error[CASES], steps[CASES], pull = 30;
    for (int i = 0; i < CASES; i++) {
        setup s = usual;
        s.gravity = (rg_vec3){0, 0, 0};
        s.stiffness = k[i] = 1e5 * pow(10, i);
        s.tolerance = 1e-7;
        s.certify = false;
        rg_world *world = penalty_world(&s);
        rg_body_def fixed = rg_body_def_default();
        fixed.motion = RG_MOTION_FIXED;
        add_shape(world, rg_shape_def_sphere(0.9), &fixed);
        rg_body_id ball = add_ball(world, 0.1, 1, (rg_vec3){1, 0, 0}, (rg_vec3){0, 2, 0});
        rg_force_def force = rg_force_def_default(RG_FORCE_FUNCTION);
        rg_force_id id;
        force.function = pull_to_the_middle;
        force.user = &pull;
        assert_int_equal(rg_world_add_force(world, &force, &id, NULL), RG_OK);
        rg_step_info info;
        double worst = 0;
        steps[i] = 0;
        for (int n = 1; n <= 10; n++) {
            info = step_once(world, 0.1);
            steps[i] += (double)info.substeps;
            double angle = 2 * 0.1 * n; /* v t / R */
            rg_vec3 there = {cos(angle), sin(angle), 0};
            worst = fmax(worst, rg_length(rg_sub(rg_body_pose(world, ball).position, there)));
        }
        error[i] = worst;
        print_message("k %.0e N/m: error %.3e m, %.0f steps\n", k[i], error[i], steps[i]);
        rg_world_destroy(world);
    }
    assert_near(slope(k, error, CASES), -1, 0.1);
    /* Less than 0.5: the stiffer, the smaller what is integrated. */
    assert_near(slope(k, steps, CASES), 0.4, 0.05);
    assert_true(error[CASES - 1] < 2e-6);
}

/* A ball at rest, for which only stability limits the steps: as many as the square root of k. */
static void steps_grow_with_stiffness(void **state) {
    (void)state;
    enum { CASES = 4 };
    double k[CASES], steps[CASES], depth[CASES];
    for (int i = 0; i < CASES; i++) {
        setup s = usual;
        s.stiffness = k[i] = 1e5 * pow(10, i);
        s.tolerance = 1e-6;
        s.certify = false;
        rg_world *world = penalty_world(&s);
        add_floor(world);
        rg_body_id ball = add_ball(world, 0.1, 1, (rg_vec3){0, 0, 0.1}, (rg_vec3){0, 0, 0});
        steps[i] = (double)step_once(world, 2).substeps;
        depth[i] = 0.1 - rg_body_pose(world, ball).position.z;
        print_message("k %.0e N/m: depth %.3e m, %.0f steps\n", k[i], depth[i], steps[i]);
        rg_world_destroy(world);
    }
    assert_near(slope(k, steps, CASES), 0.5, 0.02);
    assert_near(slope(k, depth, CASES), -1, 1e-3);
}

/* --- impulses for collisions ------------------------------------------------------------------ */

static void impulses_stop_what_meets_fast(void **state) {
    (void)state;
    setup s = usual;
    s.impulses = true;
    s.restitution = 0.5;
    rg_world *world = penalty_world(&s);
    add_floor(world);
    rg_body_id ball = add_ball(world, 0.1, 2, (rg_vec3){0, 0, 1.1}, (rg_vec3){0, 0, 0});
    double fall = sqrt(2 / G), v = sqrt(2 * G), deepest = 0;
    int steps = (int)((fall + v / (2 * G)) * 1000);
    for (int i = 0; i < steps; i++)
        deepest = fmax(deepest, step_once(world, 1e-3).certificate.max_penetration);
    /* At the top of the first bounce: a quarter of the height. */
    assert_near(rg_body_pose(world, ball).position.z, 0.1 + 0.25, 1e-5);
    assert_true(deepest < 1e-9);
    rg_step_info sum = rg_world_summary(world);
    assert_int_equal(sum.impacts, 1);
    assert_near(sum.energy.impact_loss, 2 * G * 0.75, 1e-6);
    assert_true(sum.energy.closure_rel < 1e-8);
    assert_true(sum.certificate.momentum_error < 1e-12);
    /* And at rest it is held by its spring. */
    step_world(world, 0.01, 500);
    assert_near(0.1 - rg_body_pose(world, ball).position.z, 2 * G / s.stiffness, 1e-8);
    rg_world_destroy(world);
}

/* Four corners at once, one after the other: no energy comes from nowhere. */
static void impulses_at_several_points(void **state) {
    (void)state;
    setup s = usual;
    s.impulses = true;
    s.friction = 0.5;
    rg_world *world = penalty_world(&s);
    add_floor(world);
    rg_body_id box = add_box(world, "box", (rg_vec3){0.2, 0.2, 0.1}, (rg_vec3){0, 0, 0.55});
    rg_body_set_velocity(world, box, (rg_vec3){1, 0.3, 0});
    rg_body_set_angular_velocity(world, box, (rg_vec3){0, 3, 1});
    double energy = rg_world_energy(world);
    for (int i = 0; i < 1500; i++) {
        step_once(world, 1e-3);
        double now = rg_world_energy(world);
        assert_true(now < energy + 0.05); /* springs give back what they store */
        energy = fmin(energy, now);
    }
    assert_true(rg_world_summary(world).energy.closure_rel < 1e-5);
    assert_true(rg_length(rg_body_velocity(world, box)) < 1e-3);
    rg_world_destroy(world);
}

/* --- the ratio metric as measure -------------------------------------------------------------- */

/* A ball on a fixed box: k l^2 |rho| h / (n.d)^2 = m g, with n.d = h - depth. */
static void ratio_metric_as_measure(void **state) {
    (void)state;
    setup s = usual;
    s.measure = RG_PENALTY_RATIO;
    s.stiffness = 2e3;
    rg_world *world = penalty_world(&s);
    rg_body_def fixed = rg_body_def_default();
    fixed.motion = RG_MOTION_FIXED;
    fixed.pose.position.z = -0.2;
    add_shape(world, rg_shape_def_box(1, 1, 0.4), &fixed);
    rg_body_id ball = add_ball(world, 0.1, 2, (rg_vec3){0, 0, 0.1}, (rg_vec3){0, 0, 0});
    step_world(world, 1.0 / 60, 300);
    double h = 0.3, apart = 0.2 + rg_body_pose(world, ball).position.z, l = 0.1 + 0.2;
    double depth = h - apart;
    assert_true(depth > 1e-3);
    assert_near(s.stiffness * l * l * depth / apart * h / (apart * apart), 2 * G, 1e-4);
    /* Deeper than by distance where the sum of the inradii is h: the ratio grows faster. */
    assert_true(depth < 2 * G / s.stiffness);
    assert_true(rg_world_summary(world).energy.closure_rel < 1e-7);
    rg_world_destroy(world);
}

/* Two cubes that turn and meet corner to face, without damping: the spring's energy comes back,
 * because its force is the gradient of what it stores. */
static void springs_are_conservative(void **state) {
    (void)state;
    for (int measure = 0; measure < 2; measure++) {
        setup s = usual;
        s.measure = (rg_penalty_measure)measure;
        s.gravity = (rg_vec3){0, 0, 0};
        s.restitution = 1;
        s.tolerance = 1e-10;
        rg_world *world = penalty_world(&s);
        add_box(world, "still", (rg_vec3){1, 1, 1}, (rg_vec3){0, 0, 0});
        rg_body_id box = add_box(world, "box", (rg_vec3){0.3, 0.3, 0.3}, (rg_vec3){0.1, 0.2, 1});
        rg_pose pose = {{0.1, 0.2, 1}, {0.45854, 0.22987, 0.09994, 0.85264}};
        pose.orientation = rg_quat_normalised(pose.orientation);
        rg_body_set_pose(world, box, pose);
        rg_body_set_velocity(world, box, (rg_vec3){0, 0, -0.5});
        double before = rg_world_energy(world);
        step_world(world, 0.01, 110);
        assert_true(rg_body_velocity(world, box).z > 0.05); /* it has come back */
        rg_step_info sum = rg_world_summary(world);
        assert_near(sum.energy.stabilisation / before, 0, 1e-7);
        assert_near(rg_world_energy(world) / before, 1, 1e-7);
        rg_world_destroy(world);
    }
}

/* --- bits, refusals --------------------------------------------------------------------------- */

static rg_world *busy_world(bool certify, bool impulses) {
    setup s = usual;
    s.friction = 0.5;
    s.certify = certify;
    s.impulses = impulses;
    s.tolerance = 1e-6;
    rg_world *world = penalty_world(&s);
    add_floor(world);
    for (int i = 0; i < 4; i++)
        add_box(world, NULL, (rg_vec3){0.2, 0.2, 0.1}, (rg_vec3){0.03 * i, 0, 0.06 + 0.12 * i});
    return world;
}

static void the_judge_changes_no_bit(void **state) {
    (void)state;
    for (int impulses = 0; impulses < 2; impulses++) {
        rg_world *judged = busy_world(true, impulses), *free = busy_world(false, impulses);
        step_world(judged, 1.0 / 240, 60);
        step_world(free, 1.0 / 240, 60);
        assert_true(rg_world_state_hash(judged) == rg_world_state_hash(free));
        /* Nor does a copy, or going on from a saved state. */
        judged = carry_over(judged, busy_world(true, impulses));
        free = replace_by_clone(free);
        step_world(judged, 1.0 / 240, 30);
        step_world(free, 1.0 / 240, 30);
        assert_true(rg_world_state_hash(judged) == rg_world_state_hash(free));
        rg_world_destroy(judged);
        rg_world_destroy(free);
    }
}

static void what_fails_changes_nothing(void **state) {
    (void)state;
    setup s = usual;
    s.stiffness = 0;
    s.gravity = (rg_vec3){0, 0, 0};
    rg_world *world = penalty_world(&s);
    add_floor(world);
    add_ball(world, 0.1, 2, (rg_vec3){0, 0, 0.0999}, (rg_vec3){0, 0, -1});
    uint64_t hash = rg_world_state_hash(world);
    rg_error error;
    assert_int_equal(rg_world_step(world, 0.01, NULL, &error), RG_INVALID_ARGUMENT);
    assert_string_equal(error.text,
                        "penalty: without gravity no stiffness follows from a depth; give the "
                        "material or the method a stiffness in N/m");
    assert_true(rg_world_state_hash(world) == hash);
    rg_world_destroy(world);
}

/* An ellipsoid that turns at 1e7 rad/s over a floor: some 70,000 steps of the integrator in one of
 * 1/240 s. */
static void work_has_a_limit(void **state) {
    (void)state;
    rg_world *world = penalty_world(&usual);
    add_floor(world);
    rg_body_def def = rg_body_def_default();
    def.pose.position = (rg_vec3){0, 0, 0.25};
    def.angular_velocity = (rg_vec3){1e7, 0, 1e6};
    add_shape(world, rg_shape_def_ellipsoid(0.3, 0.2, 0.1), &def);
    uint64_t hash = rg_world_state_hash(world);
    rg_error error;
    assert_int_equal(rg_world_step(world, 1.0 / 240, NULL, &error), RG_ITERATION_LIMIT);
    assert_non_null(strstr(error.text, "the integrator has taken 20000 steps in this one; springs "
                                       "are too stiff, or bodies turn too fast"));
    assert_true(rg_world_state_hash(world) == hash);
    rg_world_destroy(world);
}

static void bad_settings_are_refused(void **state) {
    (void)state;
    static const struct {
        rg_penalty_settings settings;
        const char *text;
    } cases[] = {{{-1, 1e-3, 1e-3, 1e-6, RG_PENALTY_DISTANCE, false},
                  "penalty stiffness: -1 N/m; give a number between 1e-50 and 1e+50, or 0 for one "
                  "that follows "
                  "from the depth"},
                 {{0, 0, 1e-3, 1e-6, RG_PENALTY_DISTANCE, false},
                  "penalty depth: 0 m; give a number between 1e-50 and 1e+50"},
                 {{0, 1e51, 1e-3, 1e-6, RG_PENALTY_DISTANCE, false},
                  "penalty depth: 1e+51 m; give a number between 1e-50 and 1e+50"},
                 {{0, 1e-3, -2, 1e-6, RG_PENALTY_DISTANCE, false},
                  "penalty slip: -2 m/s; give a number between 1e-50 and 1e+50"},
                 {{0, 1e-3, 1e-3, 1, RG_PENALTY_DISTANCE, false},
                  "penalty tolerance: 1 is outside 1e-15 ... 0.01"},
                 {{0, 1e-3, 1e-3, 1e-6, (rg_penalty_measure)7, false},
                  "penalty measure: there is no value 7"}};
    rg_world *world = penalty_world(&usual);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        rg_method_settings settings = rg_method_settings_default();
        rg_error error;
        settings.penalty = cases[i].settings;
        assert_int_equal(rg_world_set_method(world, NULL, &settings, &error), RG_INVALID_ARGUMENT);
        assert_string_equal(error.text, cases[i].text);
    }
    rg_world_destroy(world);
}

static void a_steady_step_makes_no_heap_call(void **state) {
    (void)state;
    counting_allocator counter;
    rg_world_def def = rg_world_def_default();
    def.method = rg_method_find("penalty");
    def.allocator = counting_allocator_make(&counter);
    rg_world *world = world_of(&def);
    add_floor(world);
    for (int i = 0; i < 3; i++)
        add_box(world, NULL, (rg_vec3){0.2, 0.2, 0.1}, (rg_vec3){0, 0, 0.05 + 0.1 * i});
    step_world(world, 1.0 / 240, 100);
    size_t resizes = counter.resizes;
    step_world(world, 1.0 / 240, 50);
    assert_int_equal(counter.resizes, resizes);
    rg_world_destroy(world);
}

/* A plane world is the same method. */
static void planar(void **state) {
    (void)state;
    rg_world_def def = rg_world_def_default();
    def.method = rg_method_find("penalty");
    def.planar = true;
    def.settings.penalty.stiffness = 1e4;
    def.settings.penalty.tolerance = 1e-9;
    rg_world *world = world_of(&def);
    add_floor(world);
    rg_body_def body = rg_body_def_default();
    body.pose.position = (rg_vec3){0, 0, 0.1};
    rg_body_id disc = add_shape(world, rg_shape_def_disc(0.1), &body);
    step_world(world, 1.0 / 60, 300);
    double mass = rg_body_mass(world, disc).mass;
    assert_near(0.1 - rg_body_pose(world, disc).position.z, mass * G / 1e4, 1e-8);
    rg_world_destroy(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weight_presses_springs_in),
        cmocka_unit_test(points_share_a_weight),
        cmocka_unit_test(a_wanted_depth_makes_the_stiffness),
        cmocka_unit_test(materials_have_stiffness),
        cmocka_unit_test(damping_gives_restitution),
        cmocka_unit_test(friction_is_coulombs_above_creep),
        cmocka_unit_test(nothing_sticks),
        cmocka_unit_test(converges_to_the_constraint),
        cmocka_unit_test(steps_grow_with_stiffness),
        cmocka_unit_test(impulses_stop_what_meets_fast),
        cmocka_unit_test(impulses_at_several_points),
        cmocka_unit_test(ratio_metric_as_measure),
        cmocka_unit_test(springs_are_conservative),
        cmocka_unit_test(the_judge_changes_no_bit),
        cmocka_unit_test(what_fails_changes_nothing),
        cmocka_unit_test(work_has_a_limit),
        cmocka_unit_test(bad_settings_are_refused),
        cmocka_unit_test(a_steady_step_makes_no_heap_call),
        cmocka_unit_test(planar),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
