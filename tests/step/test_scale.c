/* Lengths have no unit of their own: a world whose lengths and gravity are scaled by a power of two
 * does what the world itself does, by the analytic method to the last bit, by the stepping method
 * to what solves leave (they mix masses and moments of inertia, which scale differently). Dice,
 * capsules, balls and hulls fall on a thin sheet and on each other, with friction and restitution,
 * and two boxes lean on each other. A threshold in metres would show. */
#include "test_world_support.h"

#define STEP (1.0 / 240)
/* m, in the world that is not scaled: solves to 1e-8 over a second. A body that stands on an edge
 * and tips over makes more of it: in 2 of 80 runs rounding grew to 3e-5 and 5e-5 m. */
#define SOLVED 1e-9
enum { TIPPING = 40 }; /* at most one run in so many */
/* The same contacts are within reach, but for ties: at most one step in so many of the long run (10
 * of 19,200), and none of the short one. */
enum { TIES = 1600 };

enum { BODIES = 8 };

typedef struct scaled_world {
    rg_world *world;
    rg_body_id bodies[BODIES];
    int count;
} scaled_world;

static rg_shape_def random_shape(rg_random *random, int kind, double scale, rg_vec3 corners[10]) {
    double a = scale * rg_random_between(random, 0.05, 0.2);
    double b = scale * rg_random_between(random, 0.05, 0.2);
    double c = scale * rg_random_between(random, 0.01, 0.1);
    for (int i = 0; i < 10; i++)
        corners[i] = rg_scale(0.5 * a, rg_random_direction(random));
    switch (kind) {
    case 0:
        return rg_shape_def_box(a, b, c);
    case 1:
        return rg_shape_def_capsule(0.5 * c, b);
    case 2:
        return rg_shape_def_sphere(0.5 * a);
    default:
        return rg_shape_def_hull(corners, 10);
    }
}

static void add(scaled_world *s, rg_shape_def shape, const rg_body_def *def) {
    s->bodies[s->count++] = add_shape(s->world, shape, def);
}

static void add_falling(scaled_world *s, rg_random *random, double scale, bool analytic) {
    for (int i = 0; i < (analytic ? 3 : 6); i++) {
        rg_vec3 corners[10];
        rg_body_def def = rg_body_def_default();
        rg_shape_def shape = random_shape(random, i % 4, scale, corners);
        double x = rg_random_between(random, -0.05, 0.05);
        double y = rg_random_between(random, -0.05, 0.05);
        def.pose.position = rg_scale(scale, (rg_vec3){x, y, 0.2 + 0.25 * i});
        def.pose.orientation = rg_random_rotation(random);
        def.velocity = rg_scale(scale, rg_random_direction(random));
        def.angular_velocity = rg_scale(3, rg_random_direction(random));
        add(s, shape, &def);
    }
}

/* As dominoes do when they have fallen. */
static void add_leaning(scaled_world *s, double scale) {
    for (int i = 0; i < 2; i++) {
        rg_body_def def = rg_body_def_default();
        def.pose.position = rg_scale(scale, (rg_vec3){1 + 0.06 * i, 0, 0.11});
        def.pose.orientation = rg_quat_of_rotation_vector((rg_vec3){0, i ? -0.1 : 0.3, 0});
        add(s, rg_shape_def_box(scale * 0.03, scale * 0.1, scale * 0.2), &def);
    }
}

static scaled_world make_world(uint64_t seed, double scale, bool analytic) {
    scaled_world s = {0};
    rg_random random = rg_random_make(seed);
    rg_world_def def = rg_world_def_default();
    def.gravity = (rg_vec3){0, 0, -scale * 9.81};
    def.method = rg_method_find(analytic ? "analytic" : "stepping");
    s.world = world_of(&def);
    rg_contact_law law = {.static_friction = 0.4, .friction = 0.4};
    law.restitution = seed % 2 ? 0.5 : 0;
    assert_int_equal(rg_world_set_material_law(s.world, (rg_material_id){1}, &law, NULL), RG_OK);
    rg_body_def sheet = rg_body_def_default();
    sheet.motion = RG_MOTION_FIXED;
    sheet.pose.position.z = -0.5 * scale * 0.001;
    add_shape(s.world, rg_shape_def_box(4 * scale, 4 * scale, 0.001 * scale), &sheet);
    add_falling(&s, &random, scale, analytic);
    if (!analytic)
        add_leaning(&s, scale);
    return s;
}

/* m: by how much bodies are apart, in the world that is not scaled. */
static double difference(const scaled_world *one, const scaled_world *two, double scale) {
    double most = 0;
    for (int b = 0; b < one->count; b++) {
        rg_pose p = rg_body_pose(one->world, one->bodies[b]),
                q = rg_body_pose(two->world, two->bodies[b]);
        double d = rg_length(rg_sub(rg_scale(scale, p.position), q.position)) / scale;
        most = d <= most ? most : d;
    }
    return most;
}

static void run_scaled(bool analytic, int worlds, int steps, double allowed) {
    static const double scales[] = {0x1p-13, 0x1p13}; /* 1.2e-4, 8192 */
    double worst = 0;
    int tipped = 0, ties = 0;
    for (int i = 0; i < 2 * worlds; i++) {
        uint64_t seed = (uint64_t)(i / 2) + 1;
        double scale = scales[i % 2], most = 0;
        scaled_world one = make_world(seed, 1, analytic), two = make_world(seed, scale, analytic);
        for (int k = 0; k < steps && most <= allowed; k++) {
            rg_step_info info = step_once(one.world, STEP), other = step_once(two.world, STEP);
            ties += info.contacts_max != other.contacts_max;
            double d = difference(&one, &two, scale);
            most = d <= most ? most : d; /* not fmax, which hides what is no number */
            if (!(most <= allowed))
                print_message("%s, seed %d, scale %g, step %d: off by %g\n",
                              analytic ? "analytic" : "stepping", (int)seed, scale, k, most);
        }
        tipped += !(most <= allowed);
        worst = fmax(worst, most <= allowed ? most : 0);
        rg_world_destroy(one.world);
        rg_world_destroy(two.world);
    }
    print_message("%s: %.1e m, %d tipped, %d ties\n", analytic ? "analytic" : "stepping", worst,
                  tipped, ties);
    assert_true(tipped <= (analytic ? 0 : 2 * worlds / TIPPING));
    assert_true(ties <= (test_is_long() && !analytic ? 2 * worlds * steps / TIES : 0));
}

static void stepping_has_no_unit_of_length(void **state) {
    (void)state;
    run_scaled(false, test_cases(4, 40), 240, SOLVED);
}

static void analytic_has_no_unit_of_length(void **state) {
    (void)state;
    run_scaled(true, test_cases(2, 10), 60, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stepping_has_no_unit_of_length),
        cmocka_unit_test(analytic_has_no_unit_of_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
