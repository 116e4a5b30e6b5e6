/* Thin, long and flat bodies by both methods: cards, rods, sheets and needles with aspect ratios
 * up to 1,000 that fall, are shot at each other and lie on each other, in random scenes. No pair
 * passes through another, and the smallest gap at any time of a step, by the judge, is of second
 * order in the step: at least -C v^2 h^2, v the speed of the fastest point. 20 scenes, 5 of them by
 * the analytic method, too; RIGOR_LONG=1: 200 by both; RIGOR_SEED=n: one, with its figures. */
#include "test_world_support.h"

#include <stdio.h>
#include <stdlib.h>

#define STEP (1.0 / 240)
/* 1/m: of the gap, C. */
#define MOST_STEPPING 10.0
/* m: overlaps up to this are rounding. */
#define ROUNDING 1e-9

enum { FALLING, SHOT, STACKED };

typedef struct slender_scene {
    rg_world *world;
    uint64_t seed;
    int kind;
    rg_body_id bodies[16];
    double radius[16];
    int count;
    bool was_handed_over;
} slender_scene;

static rg_body_id add_fixed(rg_world *world, rg_shape_def shape, rg_vec3 position) {
    rg_body_def def = rg_body_def_default();
    def.motion = RG_MOTION_FIXED;
    def.pose.position = position;
    return add_shape(world, shape, &def);
}

/* Card, rod, sheet or needle, with its least extent along z if there is one. */
static rg_shape_def slender_shape(rg_random *random, double *thickness) {
    double a = rg_random_between(random, 0.05, 0.3);
    double thin = a / (10 * pow(100, rg_random_unit(random)));
    *thickness = thin;
    switch ((int)(4 * rg_random_unit(random))) {
    case 0:
        return rg_shape_def_box(a, 0.7 * a, thin);
    case 1:
        return rg_shape_def_box(a, thin, thin);
    case 2:
        return rg_shape_def_box(a, a, thin);
    default:
        return rg_shape_def_capsule(0.5 * thin, a);
    }
}

static void add_slender(slender_scene *s, rg_shape_def shape, const rg_body_def *def) {
    rg_shape *made = shape_of(shape);
    s->radius[s->count] = rg_shape_circumradius(made);
    rg_shape_release(made);
    s->bodies[s->count++] = add_shape(s->world, shape, def);
}

static void add_falling(slender_scene *s, rg_random *random) {
    double height = 0.25, thickness;
    for (int i = 0; i < 5; i++) {
        rg_body_def def = rg_body_def_default();
        rg_shape_def shape = slender_shape(random, &thickness);
        def.pose.position = (rg_vec3){rg_random_between(random, -0.05, 0.05),
                                      rg_random_between(random, -0.05, 0.05), height};
        def.pose.orientation = rg_random_rotation(random);
        def.angular_velocity = rg_scale(5, rg_random_direction(random));
        add_slender(s, shape, &def);
        height += 0.45;
    }
}

/* Across the way of those that are thrown there is one that stands or hangs in the air. */
static void add_shot(slender_scene *s, rg_random *random) {
    double thickness;
    for (int i = 0; i < 4; i++) {
        rg_body_def def = rg_body_def_default();
        rg_shape_def shape = slender_shape(random, &thickness);
        bool thrown = i % 2;
        def.pose.position = (rg_vec3){thrown ? -0.8 : 0, 0.02 * i, 0.4 + 0.45 * (i / 2)};
        def.pose.orientation = rg_random_rotation(random);
        if (thrown)
            def.velocity = (rg_vec3){pow(100, rg_random_unit(random)), 0, 1};
        add_slender(s, shape, &def);
    }
}

/* Flat on each other, turned about z, with hardly any gap. */
static void add_stacked(slender_scene *s, rg_random *random) {
    double top = 0, thickness;
    while (s->count < 6) {
        rg_body_def def = rg_body_def_default();
        rg_shape_def shape = slender_shape(random, &thickness);
        if (shape.kind != RG_SHAPE_BOX)
            continue;
        top += 1e-5;
        def.pose.position = (rg_vec3){0, 0, top + 0.5 * thickness};
        def.pose.orientation =
            rg_quat_of_rotation_vector((rg_vec3){0, 0, rg_random_between(random, 0, 6)});
        add_slender(s, shape, &def);
        top += thickness;
    }
}

static slender_scene slender_scene_of(uint64_t seed, bool analytic) {
    slender_scene s = {.seed = seed, .kind = (int)(seed % 3)};
    rg_random random = rg_random_make(seed);
    rg_world_def def = rg_world_def_default();
    def.method = rg_method_find(analytic ? "analytic" : "stepping");
    def.settings.hand_over = analytic; /* what it leaves to the other method is counted */
    s.world = world_of(&def);
    rg_contact_law law = {.friction = rg_random_between(&random, 0, 0.8)};
    assert_int_equal(rg_world_set_material_law(s.world, (rg_material_id){1}, &law, NULL), RG_OK);
    double sheet = 0.0005 * pow(20, rg_random_unit(&random));
    add_fixed(s.world, rg_shape_def_box(4, 4, sheet), (rg_vec3){0, 0, -0.5 * sheet});
    if (s.kind == FALLING)
        add_falling(&s, &random);
    else if (s.kind == SHOT)
        add_shot(&s, &random);
    else
        add_stacked(&s, &random);
    return s;
}

static double fastest(const slender_scene *s) {
    double most = 0;
    for (int i = 0; i < s->count; i++)
        most = fmax(most,
                    rg_length(rg_body_velocity(s->world, s->bodies[i])) +
                        s->radius[i] * rg_length(rg_body_angular_velocity(s->world, s->bodies[i])));
    return most;
}

typedef struct slender_result {
    double worst; /* 1/m: C */
    double gap;   /* m */
    uint64_t passed, steps;
    uint64_t handed_over; /* steps, by the analytic method */
} slender_result;

static bool is_handed_over(const rg_world *world) {
    size_t kept, count;
    const rg_step_event *events = rg_world_step_events(world, &kept, &count);
    for (size_t i = 0; i < kept; i++)
        if (events[i].kind == RG_STEP_EVENT_HANDED_OVER)
            return true;
    return false;
}

static void tell_passing(const slender_scene *s, const rg_step_info *info, bool analytic) {
    print_message("seed %d, %s: t = %.4f s: %d passed through, gap %.1e m\n", (int)s->seed,
                  analytic ? "analytic" : "stepping", info->time, (int)info->passed_through,
                  info->certificate.min_gap);
}

static slender_result run_slender(uint64_t seed, bool analytic, int steps) {
    slender_scene s = slender_scene_of(seed, analytic);
    slender_result r = {0};
    for (int k = 0; k < steps; k++) {
        double speed = fastest(&s);
        rg_step_info info = step_once(s.world, STEP);
        speed = fmax(speed, fastest(&s)) * STEP;
        r.passed += info.passed_through;
        r.steps++;
        bool handed_over = analytic && is_handed_over(s.world);
        r.handed_over += handed_over;
        s.was_handed_over |= handed_over; /* what it left is taken back later */
        if (info.passed_through)
            tell_passing(&s, &info, analytic);
        if (!(info.certificate.min_gap < -ROUNDING) || s.was_handed_over)
            continue;
        r.gap = fmin(r.gap, info.certificate.min_gap);
        r.worst = fmax(r.worst, -info.certificate.min_gap / (speed * speed));
    }
    rg_world_destroy(s.world);
    return r;
}

static void run_scenes(bool analytic, int scenes, int steps, double most) {
    slender_result all = {0};
    const char *name = analytic ? "analytic" : "stepping", *only = getenv("RIGOR_SEED");
    int first = only ? atoi(only) : 0;
    if (only)
        scenes = 1;
    for (int i = first; i < first + scenes; i++) {
        slender_result r = run_slender((uint64_t)i, analytic, steps);
        all.gap = fmin(all.gap, r.gap);
        all.worst = fmax(all.worst, r.worst);
        all.passed += r.passed;
        all.steps += r.steps;
        all.handed_over += r.handed_over;
    }
    print_message("%s: %d scenes, %d steps (%d handed over): passed through %d, gap %.1e m, C = "
                  "%.3g per m\n",
                  name, scenes, (int)all.steps, (int)all.handed_over, (int)all.passed, all.gap,
                  all.worst);
    assert_int_equal(all.passed, 0);
    assert_true(all.worst <= most);
}

static void slender_bodies_stepped(void **state) {
    (void)state;
    run_scenes(false, getenv("RIGOR_LONG") ? 200 : 20, 120, MOST_STEPPING);
}

static void slender_bodies_analytic(void **state) {
    (void)state;
    run_scenes(true, getenv("RIGOR_LONG") ? 200 : 5, 60, 0);
}

/* Thrown on a half-space in steps of 1/100 s: never deeper than half their inradius, and what a
 * part may add to that, although some of them turn by two radians within a step. */
static void slender_bodies_on_a_plane(void **state) {
    (void)state;
    rg_random random = rg_random_make(16);
    for (int k = 0; k < test_cases(12, 200); k++) {
        rg_world *world = default_world();
        add_fixed(world, rg_shape_def_halfspace((rg_vec3){0, 0, 1}, 0), (rg_vec3){0, 0, 0});
        double size = rg_random_between(&random, 0.05, 0.3);
        rg_shape_def shape = k % 2 ? rg_shape_def_cone(0.12 * size, size)
                                   : rg_shape_def_box(size, 0.1 * size, 0.05 * size);
        rg_body_def def = rg_body_def_default();
        def.pose.position.z = 1;
        def.pose.orientation = rg_random_rotation(&random);
        def.velocity = (rg_vec3){2, 0, -8};
        def.angular_velocity = rg_scale(10, rg_random_direction(&random));
        add_shape(world, shape, &def);
        rg_shape *made = shape_of(shape);
        double deepest = 0, inradius = rg_shape_inradius(made);
        for (int i = 0; i < 100; i++)
            deepest = fmax(deepest, -step_once(world, 0.01).certificate.min_gap);
        if (!(deepest <= 0.6 * inradius))
            fail_msg("case %d: %.3g of the inradius deep", k, deepest / inradius);
        rg_shape_release(made);
        rg_world_destroy(world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slender_bodies_on_a_plane),
        cmocka_unit_test(slender_bodies_stepped),
        cmocka_unit_test(slender_bodies_analytic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
