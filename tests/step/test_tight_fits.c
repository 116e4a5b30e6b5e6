/* Bodies with hardly any room, and light bodies between heavy ones: a peg in a hole with a play of
 * 10 um and of 1 um, a plate between boxes. */
#include "test_world_support.h"

#define STEP      (1.0 / 240)
#define GRAVITY   9.81
#define TOLERANCE 1e-8 /* of solves */

/* --- a peg ------------------------------------------------------------------------------------ */

enum { DEPTH_STEPS = 240, OUT_STEPS = 360 };
#define WIDTH  0.1
#define HEIGHT 0.3

static void add_wall(rg_world *world, double x, double y, double wide, double deep) {
    rg_body_def def = rg_body_def_default();
    def.motion = RG_MOTION_FIXED;
    def.pose.position = (rg_vec3){x, y, 0.5 * HEIGHT};
    add_shape(world, rg_shape_def_box(wide, deep, HEIGHT), &def);
}

/* Four walls on a floor, and the peg with its lower end 1 cm inside. */
static rg_body_id add_peg(rg_world *world, double play, double angle, rg_vec3 velocity) {
    double half = 0.5 * (WIDTH + play), centre = half + 0.5 * WIDTH;
    add_wall(world, centre, 0, WIDTH, 1);
    add_wall(world, -centre, 0, WIDTH, 1);
    add_wall(world, 0, centre, 2 * half, WIDTH);
    add_wall(world, 0, -centre, 2 * half, WIDTH);
    rg_body_def def = rg_body_def_default();
    def.motion = RG_MOTION_FIXED;
    add_shape(world, rg_shape_def_halfspace((rg_vec3){0, 0, 1}, 0), &def);
    def = rg_body_def_default();
    def.pose.position = (rg_vec3){0, 0, 1.5 * HEIGHT - 0.01};
    def.pose.orientation = rg_quat_of_rotation_vector((rg_vec3){0, angle, 0});
    def.velocity = velocity;
    return add_shape(world, rg_shape_def_box(WIDTH, WIDTH, HEIGHT), &def);
}

typedef struct peg_figures {
    double depth, gain, closure, residual;
    uint64_t failures;
} peg_figures;

static void run(rg_world *world, int steps, peg_figures *f) {
    for (int i = 0; i < steps; i++) {
        double energy = rg_world_energy(world);
        rg_step_info info = step_once(world, STEP);
        f->depth = fmax(f->depth, info.certificate.max_penetration);
        f->gain = fmax(f->gain, rg_world_energy(world) - energy);
        f->closure = fmax(f->closure, info.energy.closure_rel);
        if (info.solves)
            f->residual = fmax(f->residual, info.certificate.complementarity);
        f->failures += info.solver_failures;
        /* What is not solved is told. */
        assert_true(!info.solves || info.certificate.complementarity <= TOLERANCE ||
                    info.solver_failures > 0);
    }
}

static void a_peg_goes_in_and_out(void **state) {
    (void)state;
    static const double plays[] = {1e-5, 1e-6};
    static const double frictions[] = {0, 0.3};
    for (int k = 0; k < 8; k++) {
        double play = plays[k % 2], mu = frictions[k / 2 % 2];
        rg_world *world = default_world();
        rg_contact_law law = {.static_friction = mu, .friction = mu};
        assert_int_equal(rg_world_set_material_law(world, (rg_material_id){1}, &law, NULL), RG_OK);
        /* Upright and pushed to the side, or as oblique as the hole lets it be. */
        rg_body_id peg = k < 4 ? add_peg(world, play, 0, (rg_vec3){0.1, 0.03, 0})
                               : add_peg(world, play, 2 * play, (rg_vec3){0.1, 0, 0});
        peg_figures f = {0};
        double energy = rg_world_energy(world);
        run(world, DEPTH_STEPS, &f);
        double bottom = rg_body_pose(world, peg).position.z;
        double lost = energy - rg_world_energy(world);
        rg_world_set_gravity(world, (rg_vec3){0, 0, GRAVITY});
        run(world, OUT_STEPS, &f);
        double top = rg_body_pose(world, peg).position.z;
        print_message(
            "peg, play %g um, mu %g, %s: in to %.2e m, out to %.2f m, lost %.2f of %.2f J, "
            "depth %.1e m, gain %.1e J, closure %.1e, residual %.1e, %d failures\n",
            1e6 * play, mu, k < 4 ? "upright" : "oblique", bottom - 0.5 * HEIGHT, top, lost, energy,
            f.depth, f.gain, f.closure, f.residual, (int)f.failures);
        assert_near(bottom, 0.5 * HEIGHT, 1e-9);
        assert_true(top > 2 * HEIGHT);
        assert_true(f.depth < 1e-6);
        assert_true(f.gain < 1e-10 * energy);
        assert_true(f.closure < 1e-11);
        assert_int_equal(f.failures, 0);
        assert_true(f.residual <= TOLERANCE);
        rg_world_destroy(world);
    }
}

/* --- a plate ---------------------------------------------------------------------------------- */

#define BOX 1000.0 /* kg */

typedef struct plate_scene {
    rg_world *world;
    rg_body_id plate, high;
} plate_scene;

static plate_scene plate_of(const char *method, double mass) {
    plate_scene s;
    rg_world_def settings = rg_world_def_default();
    settings.method = rg_method_find(method);
    s.world = world_of(&settings);
    rg_body_def def = rg_body_def_default();
    def.motion = RG_MOTION_FIXED;
    add_shape(s.world, rg_shape_def_halfspace((rg_vec3){0, 0, 1}, 0), &def);
    def = rg_body_def_default();
    def.total_mass = BOX;
    def.pose.position.z = 0.5;
    add_shape(s.world, rg_shape_def_box(1, 1, 1), &def);
    def.pose.position.z = 1.51;
    s.high = add_shape(s.world, rg_shape_def_box(1, 1, 1), &def);
    def.total_mass = mass;
    def.pose.position.z = 1.005;
    s.plate = add_shape(s.world, rg_shape_def_box(0.5, 0.5, 0.01), &def);
    return s;
}

typedef struct plate_figures {
    uint64_t failures;
    double residual, depth, moved;
} plate_figures;

static plate_figures run_plate(const char *method, double mass) {
    plate_scene s = plate_of(method, mass);
    plate_figures f = {0};
    for (int i = 0; i < 24; i++) {
        rg_step_info info = step_once(s.world, STEP);
        f.failures += info.solver_failures;
        f.residual = fmax(f.residual, info.certificate.complementarity);
        f.depth = fmax(f.depth, info.certificate.max_penetration);
    }
    f.moved = fmax(fabs(rg_body_pose(s.world, s.plate).position.z - 1.005),
                   fabs(rg_body_pose(s.world, s.high).position.z - 1.51));
    print_message("plate of %g kg, %s: residual %.1e, %d failures, moved %.1e m, depth %.1e m\n",
                  mass, method, f.residual, (int)f.failures, f.moved, f.depth);
    rg_world_destroy(s.world);
    return f;
}

static void a_light_plate_between_heavy_boxes(void **state) {
    (void)state;
    static const double masses[] = {0.1, 1e-3, 1e-5, 1e-6};
    for (int k = 0; k < 4; k++) {
        plate_figures f = run_plate("stepping", masses[k]);
        /* Forces have 16 digits: what the last one gives the plate, in units of |g| h. */
        double rounding = 2.2e-16 * BOX / masses[k];
        assert_true(f.residual <= fmax(TOLERANCE, 10 * rounding));
        assert_true((f.failures > 0) == (f.residual > TOLERANCE));
        assert_true(masses[k] < 1e-4 || f.failures == 0);
        assert_true(f.moved < 1e-9 && f.depth < 1e-9);
    }
}

/* Resting contacts keep half a shell: 2e-10 of the smaller body, three of them. */
static void a_light_plate_by_the_analytic_method(void **state) {
    (void)state;
    plate_figures f = run_plate("analytic", 0.1);
    assert_int_equal(f.failures, 0);
    assert_true(f.residual <= TOLERANCE);
    assert_true(f.moved < 1e-9 && f.depth == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_peg_goes_in_and_out),
        cmocka_unit_test(a_light_plate_between_heavy_boxes),
        cmocka_unit_test(a_light_plate_by_the_analytic_method),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
