/* Bodies on terrain: seams of flat triangles are not felt, slopes and ridges are what they are, and
 * large terrain costs no more than small. */
#include "test_world_support.h"

#include "base/base_trig.h"

#include <math.h>

#define G 9.81

typedef enum ground { PLANE, FIELD, MESH, PARTS } ground;

/* A height field of `cells` x `cells` over a square of `size` m. */
static rg_shape *field_of(size_t cells, double size, double (*height)(double x, double y)) {
    size_t n = cells + 1;
    double *heights = malloc(n * n * sizeof *heights), step = size / (double)cells;
    for (size_t i = 0; i < n * n; i++)
        heights[i] =
            height ? height((double)(i % n) * step - size / 2, (double)(i / n) * step - size / 2)
                   : 0;
    rg_heights def = {n, n, step, step, heights, 0};
    rg_shape *shape;
    rg_error error;
    if (rg_shape_create_heights(&def, NULL, &shape, &error))
        fail_msg("%s", error.text);
    free(heights);
    return shape;
}

/* A flat mesh with edges in all directions: rings of triangles about many points, moved about. */
static rg_shape *mesh_of(size_t cells, double size) {
    size_t n = cells + 1;
    rg_random random = rg_random_make(5);
    rg_vec3 *points = malloc(n * n * sizeof *points);
    uint32_t *triangles = malloc(6 * cells * cells * sizeof *triangles);
    double step = size / (double)cells;
    for (size_t i = 0; i < n * n; i++) {
        double x = rg_random_between(&random, -0.3, 0.3);
        double y = rg_random_between(&random, -0.3, 0.3);
        points[i] = (rg_vec3){((double)(i % n) + x) * step - size / 2,
                              ((double)(i / n) + y) * step - size / 2, 0};
    }
    for (size_t i = 0; i < cells * cells; i++) {
        uint32_t a = (uint32_t)(i / cells * n + i % cells), b = a + 1, c = a + (uint32_t)n,
                 d = c + 1;
        const uint32_t cut[2][6] = {{a, b, d, a, d, c}, {a, b, c, b, d, c}};
        memcpy(triangles + 6 * i, cut[i % 3 == 0], sizeof cut[0]);
    }
    rg_shape_def def = rg_shape_def_terrain(points, n * n, triangles, 2 * cells * cells);
    rg_shape *shape = shape_of(def);
    free(points);
    free(triangles);
    return shape;
}

/* A compound of flush boxes. */
static rg_shape *parts_of(size_t cells, double size) {
    double step = size / (double)cells;
    rg_shape *tile = shape_of(rg_shape_def_box(step, step, 0.5));
    rg_compound_part *parts = malloc(cells * cells * sizeof *parts);
    for (size_t i = 0; i < cells * cells; i++)
        parts[i] = (rg_compound_part){tile,
                                      {{((double)(i % cells) + 0.5) * step - size / 2,
                                        ((double)(i / cells) + 0.5) * step - size / 2, -0.25},
                                       {0, 0, 0, 1}},
                                      1};
    rg_shape *shape = shape_of(rg_shape_def_compound(parts, cells * cells));
    rg_shape_release(tile);
    free(parts);
    return shape;
}

static rg_world *world_on(rg_shape *shape, double friction) {
    rg_world_def def = rg_world_def_default();
    rg_world *world = world_of(&def);
    rg_contact_law law = {.friction = friction};
    assert_int_equal(rg_world_set_material_law(world, (rg_material_id){0}, &law, NULL), RG_OK);
    rg_collider_def collider = rg_collider_def_default();
    collider.shape = shape;
    rg_body_def floor = rg_body_def_default();
    floor.motion = RG_MOTION_FIXED;
    floor.colliders = &collider;
    floor.collider_count = 1;
    body_of(world, &floor);
    rg_shape_release(shape);
    return world;
}

static rg_world *world_of_ground(ground kind, double friction) {
    return world_on(kind == PLANE   ? shape_of(rg_shape_def_halfspace((rg_vec3){0, 0, 1}, 0))
                    : kind == FIELD ? field_of(33, 6.6, NULL)
                    : kind == MESH  ? mesh_of(31, 6.6)
                                    : parts_of(33, 6.6),
                    friction);
}

/* --- seams ------------------------------------------------------------------------------------ */

#define SPEED 2.3 /* m/s */

/* Boxes turn only without friction: with it, how many points share the weight decides how it
 * brakes, on a plane, too. At the beginning two sides of the box are over seams of the height field
 * and of the parts. */
static rg_body_id launch(rg_world *world, bool ball, bool turns, double angle) {
    rg_body_def def = rg_body_def_default();
    def.pose.position = (rg_vec3){-1.3, -1.9, ball ? 0.25 : 0.15};
    def.velocity = (rg_vec3){SPEED * rg_cos(angle), SPEED * rg_sin(angle), 0};
    if (!ball) {
        def.angular_velocity = (rg_vec3){0, 0, turns ? 1.5 : 0};
        return add_shape(world, rg_shape_def_box(0.5, 0.4, 0.3), &def);
    }
    return add_shape(world, rg_shape_def_sphere(0.25), &def);
}

/* Largest differences from the run on a plane. */
typedef struct crossing {
    double off, energy, sunk; /* m, relative, m */
} crossing;

static void cross(rg_world *plane, rg_world *tiles, rg_body_id a, rg_body_id b, crossing *worst) {
    for (int i = 0; i < 240; i++) {
        step_once(plane, 1.0 / 240);
        rg_step_info info = step_once(tiles, 1.0 / 240);
        rg_vec3 off = rg_sub(rg_body_pose(plane, a).position, rg_body_pose(tiles, b).position);
        double energy = rg_world_energy(plane);
        worst->off = fmax(worst->off, rg_length(off));
        worst->energy = fmax(worst->energy, fabs(energy - rg_world_energy(tiles)) / fabs(energy));
        worst->sunk = fmax(worst->sunk, info.certificate.max_penetration);
        assert_int_equal(info.passed_through, 0);
        assert_int_equal(info.solver_failures, 0);
    }
}

/* RIGOR_LONG=1 takes twenty angles from along the grid to across it instead of three. */
static void cross_all(const char *method, bool ball, ground kind, double friction) {
    int angles = test_is_long() ? 20 : 3;
    crossing worst = {0, 0, 0};
    for (int i = 0; i < angles; i++) {
        rg_world *plane = world_of_ground(PLANE, friction);
        rg_world *tiles = world_of_ground(kind, friction);
        assert_int_equal(rg_world_set_method(plane, rg_method_find(method), NULL, NULL), RG_OK);
        assert_int_equal(rg_world_set_method(tiles, rg_method_find(method), NULL, NULL), RG_OK);
        double angle = 0.5 * RG_PI * i / (angles - 1);
        rg_body_id a = launch(plane, ball, friction == 0, angle);
        rg_body_id b = launch(tiles, ball, friction == 0, angle);
        cross(plane, tiles, a, b, &worst);
        rg_world_destroy(plane);
        rg_world_destroy(tiles);
    }
    static const char *const name[] = {"plane", "height field", "mesh", "parts"};
    print_message("%s, %s on %s, friction %g: off %.2e m, energy %.2e, sunk %.2e m\n", method,
                  ball ? "ball" : "box", name[kind], friction, worst.off, worst.energy, worst.sunk);
    assert_true(worst.off < 1e-9);
    assert_true(worst.energy < 1e-9);
    assert_true(worst.sunk < 1e-9);
}

static void no_seam_is_felt(const char *method) {
    for (int ball = 0; ball < 2; ball++)
        for (int kind = FIELD; kind <= PARTS; kind++)
            for (int rough = 0; rough < 2; rough++)
                cross_all(method, ball, (ground)kind, rough ? 0.1 : 0);
}

static void stepping_feels_no_seams(void **state) {
    (void)state;
    no_seam_is_felt("stepping");
}

static void analytic_feels_no_seams(void **state) {
    (void)state;
    no_seam_is_felt("analytic");
}

/* A ball that bounces along a height field, on another triangle each time, comes to rest when it
 * does on a plane. */
static void bounces_end_on_triangles(void **state) {
    (void)state;
    rg_pose pose[2];
    uint64_t impacts[2];
    for (int i = 0; i < 2; i++) {
        rg_world *world = world_of_ground(i ? FIELD : PLANE, 0);
        rg_contact_law law = {.restitution = 0.5};
        assert_int_equal(rg_world_set_material_law(world, (rg_material_id){0}, &law, NULL), RG_OK);
        assert_int_equal(rg_world_set_method(world, rg_method_find("analytic"), NULL, NULL), RG_OK);
        rg_body_def def = rg_body_def_default();
        def.pose.position = (rg_vec3){-1.3, -1.9, 0.5};
        def.velocity = (rg_vec3){1.1, 1.7, 0};
        rg_body_id ball = add_shape(world, rg_shape_def_sphere(0.25), &def);
        step_world(world, 1.0 / 240, 240);
        pose[i] = rg_body_pose(world, ball);
        impacts[i] = rg_world_summary(world).impacts;
        assert_near(rg_body_velocity(world, ball).z, 0, 1e-9);
        rg_world_destroy(world);
    }
    assert_vector(pose[1].position, pose[0].position, 1e-9);
    assert_int_equal(impacts[1], impacts[0]);
}

/* --- shapes of ground ------------------------------------------------------------------------- */

static double slope_height(double x, double y) {
    (void)y;
    return -x * tan(0.3);
}

/* A box slides down a slope of many triangles as down one plane. */
static void slopes(void **state) {
    (void)state;
    rg_world *world = world_on(field_of(40, 8, slope_height), 0.1);
    rg_quat tilt = {0, sin(0.15), 0, cos(0.15)};
    rg_body_id box = add_box(world, "box", (rg_vec3){0.4, 0.4, 0.2}, (rg_vec3){0, 0, 0});
    rg_pose pose = {rg_rotate(tilt, (rg_vec3){-2, 0.013, 0.1}), tilt};
    rg_body_set_pose(world, box, pose);
    rg_vec3 start = pose.position;
    int steps = 180;
    step_world(world, 1.0 / 240, steps);
    double t = steps / 240.0, h = 1.0 / 240, a = G * (sin(0.3) - 0.1 * cos(0.3));
    double way = rg_length(rg_sub(rg_body_pose(world, box).position, start));
    assert_near(way, 0.5 * a * t * (t + h), 1e-8); /* of a step with new velocities */
    assert_true(rg_world_summary(world).certificate.max_penetration < 1e-9);
    rg_world_destroy(world);
}

static double bowl_height(double x, double y) {
    return 0.25 * (x * x + y * y);
}

/* A ball in a bowl stays in it and comes to rest in the middle. */
static void a_bowl_holds_a_ball(void **state) {
    (void)state;
    rg_world *world = world_on(field_of(40, 4, bowl_height), 0.5);
    rg_body_def def = rg_body_def_default();
    def.pose.position = (rg_vec3){1.2, 0.3, 0.8};
    rg_force_def drag = rg_force_def_default(RG_FORCE_DRAG);
    rg_force_id id;
    drag.linear = 20;
    drag.angular = 1;
    rg_body_id ball = add_shape(world, rg_shape_def_sphere(0.2), &def);
    assert_int_equal(rg_world_add_force(world, &drag, &id, NULL), RG_OK);
    step_world(world, 1.0 / 240, 240 * 12);
    rg_vec3 p = rg_body_pose(world, ball).position;
    assert_true(rg_length((rg_vec3){p.x, p.y, 0}) < 0.1);
    assert_int_equal(rg_world_summary(world).passed_through, 0);
    assert_true(rg_world_summary(world).certificate.max_penetration < 1e-5);
    rg_world_destroy(world);
}

/* Of two boxes across each other. */
static rg_shape_def crossed_boxes(rg_compound_part parts[2]) {
    rg_quat none = {0, 0, 0, 1};
    parts[0] =
        (rg_compound_part){shape_of(rg_shape_def_box(0.5, 0.15, 0.15)), {{0, 0, 0}, none}, 1};
    parts[1] =
        (rg_compound_part){shape_of(rg_shape_def_box(0.15, 0.5, 0.15)), {{0, 0, 0.15}, none}, 1};
    return rg_shape_def_compound(parts, 2);
}

/* Anything, anyhow, above the middle of the ground. */
static rg_body_id add_tumbler(rg_world *world, rg_random *random, int kind) {
    rg_body_def def = rg_body_def_default();
    double x = rg_random_between(random, -2, 2), y = rg_random_between(random, -2, 2);
    double vx = rg_random_between(random, -3, 3), vy = rg_random_between(random, -3, 3);
    double vz = rg_random_between(random, -4, 0), wx = rg_random_between(random, -8, 8);
    double wy = rg_random_between(random, -8, 8), wz = rg_random_between(random, -8, 8);
    def.pose = (rg_pose){{x, y, 0.9}, rg_random_rotation(random)};
    def.velocity = (rg_vec3){vx, vy, vz};
    def.angular_velocity = (rg_vec3){wx, wy, wz};
    rg_compound_part parts[2];
    rg_shape_def kinds[] = {rg_shape_def_box(0.5, 0.3, 0.2), rg_shape_def_capsule(0.1, 0.4),
                            rg_shape_def_sphere(0.2), rg_shape_def_cylinder(0.15, 0.3),
                            crossed_boxes(parts)};
    rg_body_id body = add_shape(world, kinds[kind], &def);
    for (int i = 0; i < 2; i++)
        rg_shape_release((rg_shape *)parts[i].shape);
    return body;
}

static double hilly(double x, double y) {
    return 0.3 * sin(1.7 * x) * cos(1.3 * y) + 0.05 * sin(7 * x + 3 * y);
}

/* Boxes, capsules and stones tumble over hills: nothing passes through. */
static void things_tumble_over_hills(void **state) {
    (void)state;
    rg_world *world = world_on(field_of(48, 8, hilly), 0.5);
    rg_random random = rg_random_make(3);
    for (int i = 0; i < 12; i++) {
        rg_body_def def = rg_body_def_default();
        double x = rg_random_between(&random, -2.5, 2.5);
        double y = rg_random_between(&random, -2.5, 2.5);
        def.pose.position = (rg_vec3){x, y, 1 + 0.3 * i};
        def.pose.orientation = rg_random_rotation(&random);
        def.velocity = (rg_vec3){x / 2, -y / 2, 0};
        rg_shape_def kinds[] = {rg_shape_def_box(0.5, 0.3, 0.2), rg_shape_def_capsule(0.1, 0.4),
                                rg_shape_def_sphere(0.2), rg_shape_def_cylinder(0.15, 0.3)};
        add_shape(world, kinds[i % 4], &def);
    }
    step_world(world, 1.0 / 240, test_is_long() ? 2400 : 480);
    rg_step_info sum = rg_world_summary(world);
    print_message("hills: deepest %.2e m, %llu failures\n", sum.certificate.max_penetration,
                  (unsigned long long)sum.solver_failures);
    assert_int_equal(sum.passed_through, 0);
    assert_true(sum.certificate.max_penetration < 2e-3);
    rg_world_destroy(world);
}

/* --- how fine the ground is cut --------------------------------------------------------------- */

/* How a ball rolls over hills for a second. */
typedef struct rolling {
    double contacts; /* a step, in the mean */
    size_t most;
    double sunk;
} rolling;

static rolling roll_over_hills(size_t cells) {
    rolling r = {0};
    rg_world *world = world_on(field_of(cells, 4, hilly), 0.5);
    rg_body_def def = rg_body_def_default();
    def.pose.position = (rg_vec3){-1.5, -0.4, hilly(-1.5, -0.4) + 0.32};
    def.velocity = (rg_vec3){1.5, 0.2, 0};
    add_shape(world, rg_shape_def_sphere(0.3), &def);
    int steps = 240;
    for (int i = 0; i < steps; i++) {
        rg_step_info info = step_once(world, 1.0 / 240);
        size_t count;
        rg_world_contact_forces(world, &count);
        r.contacts += (double)count / steps;
        r.most = count > r.most ? count : r.most;
        r.sunk = fmax(r.sunk, info.certificate.max_penetration);
        assert_int_equal(info.passed_through, 0);
        assert_int_equal(info.solver_failures, 0);
    }
    rg_world_destroy(world);
    return r;
}

/* Triangles that a ball cannot reach in a step, or only through others, have no contact: the same
 * ground cut 100 times finer has a few more, not 100 times as many. */
static void fine_ground_has_few_contacts(void **state) {
    (void)state;
    rolling coarse = roll_over_hills(14), fine = roll_over_hills(140);
    print_message("contacts of a ball: %.2f, at most %zu; on ground 100 times finer %.2f, %zu, "
                  "sunk %.2e m\n",
                  coarse.contacts, coarse.most, fine.contacts, fine.most, fine.sunk);
    assert_true(coarse.contacts < 2);
    assert_true(fine.contacts < 4);
    assert_true(fine.sunk < 1e-4);
}

/* A box that slides over flat ground has the corners of its face as contacts, however finely the
 * ground is cut. */
static void flat_ground_has_corners_as_contacts(void **state) {
    (void)state;
    for (size_t cells = 1; cells <= 200; cells = cells * 14 + 1) {
        rg_world *world = world_on(field_of(cells, 4, NULL), 0.1);
        rg_body_def def = rg_body_def_default();
        def.pose.position = (rg_vec3){-1.3, -1.2, 0.15};
        def.velocity = (rg_vec3){2, 1.7, 0};
        add_shape(world, rg_shape_def_box(0.5, 0.4, 0.3), &def);
        for (int i = 0; i < 240; i++) {
            size_t count;
            rg_step_info info = step_once(world, 1.0 / 240);
            rg_world_contact_forces(world, &count);
            assert_int_equal(count, 4);
            assert_int_equal(info.solver_failures, 0);
        }
        rg_world_destroy(world);
    }
}

/* Largest differences of a run on finely cut ground from one on coarse ground. */
typedef struct fineness {
    double off, gap;
    size_t most;
} fineness;

static rg_body_id throw_over(rg_world *world, rg_shape_def shape, double speed, double angle,
                             double spin) {
    rg_body_def def = rg_body_def_default();
    def.pose.position = (rg_vec3){0.4, 0.1, 0.151};
    def.pose.orientation = (rg_quat){0, 0, rg_sin(angle / 2), rg_cos(angle / 2)};
    def.velocity = (rg_vec3){speed, 0.1 * speed, -0.2};
    def.angular_velocity = (rg_vec3){0, 0, spin};
    return add_shape(world, shape, &def);
}

/* A flat table of two triangles and of thousands, without friction: a box, a cylinder and a prism
 * land, slide to its edge and over it. The gap that is told is the same, too. */
static void tables_are_the_same_however_finely_cut(void **state) {
    (void)state;
    rg_vec3 corners[12];
    for (int i = 0; i < 12; i++)
        corners[i] = (rg_vec3){0.25 * cos(i % 6 * RG_PI / 3), 0.25 * sin(i % 6 * RG_PI / 3),
                               i < 6 ? -0.15 : 0.15};
    rg_shape_def shapes[] = {rg_shape_def_box(0.5, 0.4, 0.3), rg_shape_def_cylinder(0.2, 0.3),
                             rg_shape_def_hull(corners, 12)};
    fineness worst = {0};
    for (int kind = 0; kind < 3; kind++)
        for (int turned = 0; turned < 3; turned++) {
            rg_world *world[2] = {world_on(field_of(1, 2, NULL), 0),
                                  world_on(field_of(57, 2, NULL), 0)};
            rg_body_id body[2];
            for (int k = 0; k < 2; k++)
                body[k] = throw_over(world[k], shapes[kind], 1.5, 0.3 * turned, 0.4 * turned);
            for (int i = 0; i < 90; i++) {
                size_t count;
                rg_step_info info[2] = {step_once(world[0], 1.0 / 240),
                                        step_once(world[1], 1.0 / 240)};
                rg_vec3 off = rg_sub(rg_body_pose(world[0], body[0]).position,
                                     rg_body_pose(world[1], body[1]).position);
                worst.off = fmax(worst.off, rg_length(off));
                rg_world_contact_forces(world[1], &count);
                worst.most = count > worst.most ? count : worst.most;
                if (isfinite(info[0].certificate.min_gap))
                    worst.gap = fmax(
                        worst.gap, fabs(info[0].certificate.min_gap - info[1].certificate.min_gap));
            }
            rg_world_destroy(world[0]);
            rg_world_destroy(world[1]);
        }
    print_message("tables: off %.2e m, gap %.2e m, at most %zu contacts\n", worst.off, worst.gap,
                  worst.most);
    assert_true(worst.off < 1e-9);
    assert_true(worst.gap < 1e-9);
}

/* A sheet is met from either side: balls thrown at it from above and from below stay on their
 * side. */
static void sheets_have_two_sides(void **state) {
    (void)state;
    rg_vec3 points[4] = {{-2, -2, 0}, {2, -2, 0}, {2, 2, 0}, {-2, 2, 0}};
    uint32_t triangles[6] = {0, 1, 2, 0, 2, 3};
    rg_shape_def def = rg_shape_def_terrain(points, 4, triangles, 2);
    def.thickness = 0.01;
    for (int side = -1; side <= 1; side += 2) {
        rg_world *world = world_on(shape_of(def), 0.5);
        rg_world_set_gravity(world, (rg_vec3){0, 0, 0});
        rg_body_def ball = rg_body_def_default();
        ball.pose.position = (rg_vec3){0.3, 0.1, side * 0.5};
        ball.velocity = (rg_vec3){0, 0, side * -40.0};
        rg_body_id id = add_shape(world, rg_shape_def_sphere(0.1), &ball);
        step_world(world, 1.0 / 240, 60);
        double z = rg_body_pose(world, id).position.z, surface = side > 0 ? 0 : -0.01;
        assert_true(side * (z - surface) >= 0.1 - 1e-9);
        assert_true(side * (z - surface) < 0.5);
        assert_int_equal(rg_world_summary(world).passed_through, 0);
        rg_world_destroy(world);
    }
}

/* --- questions, other methods ----------------------------------------------------------------- */

static void rays_meet_the_ground(void **state) {
    (void)state;
    rg_world *world = world_on(field_of(48, 8, hilly), 0.5);
    rg_random random = rg_random_make(9);
    for (int i = 0; i < test_cases(300, 3000); i++) {
        double x = rg_random_between(&random, -3.9, 3.9);
        double y = rg_random_between(&random, -3.9, 3.9);
        rg_world_hit hit;
        assert_true(
            rg_world_cast_ray(world, (rg_vec3){x, y, 5}, (rg_vec3){0, 0, -1}, 20, NULL, &hit));
        /* The height on the triangle that is there. */
        double step = 8.0 / 48, u = (x + 4) / step, v = (y + 4) / step;
        double c = floor(u), r = floor(v), fu = u - c, fv = v - r;
        double z00 = hilly(c * step - 4, r * step - 4),
               z10 = hilly((c + 1) * step - 4, r * step - 4);
        double z01 = hilly(c * step - 4, (r + 1) * step - 4);
        double z11 = hilly((c + 1) * step - 4, (r + 1) * step - 4);
        double z = fu > fv ? z00 + fu * (z10 - z00) + fv * (z11 - z10)
                           : z00 + fv * (z01 - z00) + fu * (z11 - z01);
        assert_near(hit.point.z, z, 1e-9);
    }
    rg_shape *ball = shape_of(rg_shape_def_sphere(0.1));
    size_t count;
    rg_collider_id found[4];
    assert_int_equal(rg_world_overlap(world, ball,
                                      (rg_pose){{0.3, 0.2, hilly(0.3, 0.2)}, {0, 0, 0, 1}}, NULL,
                                      found, 4, &count),
                     RG_OK);
    assert_int_equal(count, 1);
    assert_int_equal(rg_world_overlap(world, ball, (rg_pose){{0.3, 0.2, 1}, {0, 0, 0, 1}}, NULL,
                                      found, 4, &count),
                     RG_OK);
    assert_int_equal(count, 0);
    rg_shape_release(ball);
    rg_world_destroy(world);
}

static void only_fixed_bodies_have_terrain(void **state) {
    (void)state;
    rg_world *world = default_world();
    rg_collider_def collider = rg_collider_def_default();
    collider.shape = field_of(2, 1, NULL);
    rg_body_def def = rg_body_def_default();
    def.colliders = &collider;
    def.collider_count = 1;
    rg_body_id body;
    rg_error error;
    assert_int_equal(rg_world_add_body(world, &def, &body, &error), RG_INVALID_ARGUMENT);
    assert_non_null(strstr(error.text, "shape: a terrain does not move; its body must be fixed"));
    rg_shape_release(collider.shape);
    rg_world_destroy(world);
}

/* By the analytic method boxes, capsules, balls and compounds tumble over hills: over the whole of
 * every step nothing comes nearer than contact, and no energy is gained. */
static void events_on_hills(void **state) {
    (void)state;
    rg_random random = rg_random_make(4);
    double gap = INFINITY, gained = 0;
    for (int i = 0; i < test_cases(8, 200); i++) {
        rg_world *world = world_on(field_of(48, 8, hilly), i % 3 ? 0.5 : 0);
        rg_contact_law law = {.friction = i % 3 ? 0.5 : 0, .restitution = i % 2 ? 0.4 : 0};
        assert_int_equal(rg_world_set_material_law(world, (rg_material_id){0}, &law, NULL), RG_OK);
        assert_int_equal(rg_world_set_method(world, rg_method_find("analytic"), NULL, NULL), RG_OK);
        add_tumbler(world, &random, i % 5);
        double energy = rg_world_energy(world);
        for (int k = 0; k < 120; k++) {
            rg_step_info info = step_once(world, 1.0 / 240);
            gap = fmin(gap, info.certificate.min_gap);
            assert_int_equal(info.passed_through, 0);
            gained = fmax(gained, (rg_world_energy(world) - energy) / fabs(energy));
            energy = rg_world_energy(world);
        }
        rg_world_destroy(world);
    }
    print_message("events on hills: gap %.2e m, energy gained %.2e\n", gap, gained);
    assert_true(gap > -1e-9);
    assert_true(gained < 1e-8);
}

/* One step of the world from the fall to behind the first meeting, once more for each of many falls
 * of the same body: the meeting is found, and until the end nothing is nearer than contact. */
static void no_approach_is_late(void **state) {
    (void)state;
    rg_random random = rg_random_make(6);
    double gap = INFINITY;
    int met = 0, cases = test_cases(20, 200);
    for (int kind = 0; kind < 5; kind++) {
        rg_world *world = world_on(field_of(48, 8, hilly), 0.5);
        assert_int_equal(rg_world_set_method(world, rg_method_find("analytic"), NULL, NULL), RG_OK);
        rg_body_id body = add_tumbler(world, &random, kind);
        for (int i = 0; i < cases; i++) {
            double x = rg_random_between(&random, -3, 3), y = rg_random_between(&random, -3, 3);
            double vx = rg_random_between(&random, -9, 9), vy = rg_random_between(&random, -9, 9);
            double wx = rg_random_between(&random, -30, 30);
            double wy = rg_random_between(&random, -30, 30);
            rg_body_set_pose(world, body, (rg_pose){{x, y, 0.9}, rg_random_rotation(&random)});
            rg_body_set_velocity(world, body, (rg_vec3){vx, vy, -15});
            rg_body_set_angular_velocity(world, body, (rg_vec3){wx, wy, 3});
            rg_step_info info = step_once(world, 0.06);
            gap = fmin(gap, info.certificate.min_gap);
            met += info.impacts > 0;
            assert_int_equal(info.passed_through, 0);
        }
        rg_world_destroy(world);
    }
    print_message("approaches: %d of %d met, gap %.2e m\n", met, 5 * cases, gap);
    assert_true(gap > -1e-9);
    assert_true(met > 4 * cases);
}

static void springs_carry_on_terrain(void **state) {
    (void)state;
    for (int measure = 0; measure < 2; measure++) {
        rg_world *world = world_on(field_of(4, 2, NULL), 0.5);
        rg_method_settings settings = rg_method_settings_default();
        settings.penalty.measure = (rg_penalty_measure)measure;
        assert_int_equal(rg_world_set_method(world, rg_method_find("penalty"), &settings, NULL),
                         RG_OK);
        rg_body_def def = rg_body_def_default();
        def.pose.position = (rg_vec3){0.2, 0.1, 0.1};
        rg_body_id ball = add_shape(world, rg_shape_def_sphere(0.1), &def);
        step_world(world, 1.0 / 240, 240);
        assert_true(rg_body_pose(world, ball).position.z < 0.1);
        assert_true(rg_body_pose(world, ball).position.z > 0.095);
        rg_world_destroy(world);
    }
}

static void a_steady_step_makes_no_heap_call(void **state) {
    (void)state;
    counting_allocator counter;
    rg_world_def def = rg_world_def_default();
    def.allocator = counting_allocator_make(&counter);
    rg_world *world = world_of(&def);
    rg_collider_def collider = rg_collider_def_default();
    collider.shape = field_of(20, 4, hilly);
    rg_body_def floor = rg_body_def_default();
    floor.motion = RG_MOTION_FIXED;
    floor.colliders = &collider;
    floor.collider_count = 1;
    body_of(world, &floor);
    rg_shape_release(collider.shape);
    add_box(world, "box", (rg_vec3){0.5, 0.3, 0.2}, (rg_vec3){0.2, 0.3, 1});
    step_world(world, 1.0 / 240, 1200);
    size_t resizes = counter.resizes;
    step_world(world, 1.0 / 240, 50);
    assert_int_equal(counter.resizes, resizes);
    rg_world_destroy(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stepping_feels_no_seams),
        cmocka_unit_test(analytic_feels_no_seams),
        cmocka_unit_test(bounces_end_on_triangles),
        cmocka_unit_test(slopes),
        cmocka_unit_test(a_bowl_holds_a_ball),
        cmocka_unit_test(things_tumble_over_hills),
        cmocka_unit_test(fine_ground_has_few_contacts),
        cmocka_unit_test(flat_ground_has_corners_as_contacts),
        cmocka_unit_test(tables_are_the_same_however_finely_cut),
        cmocka_unit_test(sheets_have_two_sides),
        cmocka_unit_test(rays_meet_the_ground),
        cmocka_unit_test(only_fixed_bodies_have_terrain),
        cmocka_unit_test(events_on_hills),
        cmocka_unit_test(no_approach_is_late),
        cmocka_unit_test(springs_carry_on_terrain),
        cmocka_unit_test(a_steady_step_makes_no_heap_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
