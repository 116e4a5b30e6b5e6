/* A body that slides or rolls over flush neighbours moves as on one slab, by either method: slabs,
 * tiles and parts of a compound, at twenty angles, in space and in the plane, with and without
 * friction. What it is compared with is the same run on one slab. A step of 1 um upwards is
 * felt, one downwards is no obstacle. RIGOR_LONG=1 takes all twenty angles instead of four. */
#include "test_world_support.h"

#include "base/base_trig.h"
#include "rigor/event.h"

#include <stdio.h>
#include <stdlib.h>

#define STEP     (1.0 / 240)
#define GRAVITY  9.81
#define TILE     0.1
#define DURATION 0.5
#define SPEED    2.0

enum { ANGLES = 20 };

typedef enum ground { ONE_SLAB, TWO_SLABS, TILES, COMPOUND } ground;
typedef enum shape { BOX, BALL, CAPSULE, HULL, SHAPES } shape;

typedef struct crossing {
    const char *method;
    bool planar;
    ground ground;
    shape shape;
    double angle, friction; /* of the direction of motion against the grid */
    bool rolls;
    double raised; /* m: tiles beyond x = 0.55 */
    double start;  /* m: farther along x */
} crossing;

typedef struct outcome {
    rg_pose pose;
    rg_vec3 velocity, spin;
    double energy;                 /* J */
    double stabilisation, closure; /* J, added up; worst */
    uint64_t events, impacts, evaluations;
} outcome;

static rg_world *make_world(const crossing *c) {
    rg_world_def def = rg_world_def_default();
    def.planar = c->planar;
    def.gravity = (rg_vec3){0, 0, -GRAVITY};
    def.method = rg_method_find(c->method);
    def.settings.solver_tolerance = 1e-11; /* what a solve leaves adds up over steps */
    rg_world *world = world_of(&def);
    rg_contact_law law = {.static_friction = c->friction, .friction = c->friction};
    assert_int_equal(rg_world_set_material_law(world, (rg_material_id){0}, &law, NULL), RG_OK);
    return world;
}

/* A block whose top is at z = `top`. */
static rg_shape_def block(bool planar, double x, double y, rg_vec3 corners[4]) {
    if (!planar)
        return rg_shape_def_box(x, y, TILE);
    corners[0] = (rg_vec3){-x / 2, 0, -TILE / 2};
    corners[1] = (rg_vec3){x / 2, 0, -TILE / 2};
    corners[2] = (rg_vec3){x / 2, 0, TILE / 2};
    corners[3] = (rg_vec3){-x / 2, 0, TILE / 2};
    return rg_shape_def_polygon(corners, 4);
}

static void add_block(rg_world *world, const crossing *c, rg_vec3 size, rg_vec3 middle) {
    rg_vec3 corners[4];
    rg_body_def def = rg_body_def_default();
    def.motion = RG_MOTION_FIXED;
    def.pose.position = middle;
    add_shape(world, block(c->planar, size.x, size.y, corners), &def);
}

/* Whether a tile is near the path. */
static bool is_near(const crossing *c, rg_vec3 tile) {
    double along = tile.x * rg_cos(c->angle) + tile.y * rg_sin(c->angle);
    double across = tile.y * rg_cos(c->angle) - tile.x * rg_sin(c->angle);
    return fabs(across) < 0.3 && along > -0.3 && along < SPEED * DURATION + 0.3;
}

static void add_tiles(rg_world *world, const crossing *c) {
    enum { MOST = 1024 };
    static rg_compound_part parts[MOST];
    rg_vec3 corners[4];
    rg_shape *tile = shape_of(block(c->planar, TILE, TILE, corners));
    size_t count = 0;
    for (int i = -4; i < 16; i++)
        for (int k = c->planar ? 0 : -4; k < (c->planar ? 1 : 16); k++) {
            rg_vec3 at = {TILE * i, TILE * k, -TILE / 2};
            if (!is_near(c, at))
                continue;
            if (at.x > 0.55)
                at.z += c->raised;
            if (c->ground == COMPOUND)
                parts[count++] = (rg_compound_part){tile, {at, {0, 0, 0, 1}}, 1};
            else
                add_block(world, c, (rg_vec3){TILE, TILE, 0}, at);
        }
    if (c->ground == COMPOUND) {
        rg_body_def def = rg_body_def_default();
        def.motion = RG_MOTION_FIXED;
        add_shape(world, rg_shape_def_compound(parts, count), &def);
    }
    rg_shape_release(tile);
}

static void add_ground(rg_world *world, const crossing *c) {
    if (c->ground == ONE_SLAB) {
        add_block(world, c, (rg_vec3){4, 4, 0}, (rg_vec3){0, 0, -TILE / 2});
    } else if (c->ground == TWO_SLABS) {
        add_block(world, c, (rg_vec3){4, 4, 0}, (rg_vec3){-1.5, 0, -TILE / 2});
        add_block(world, c, (rg_vec3){4, 4, 0}, (rg_vec3){2.5, 0, -TILE / 2});
    } else {
        add_tiles(world, c);
    }
}

static const rg_vec3 wedge[] = {
    {-0.07, -0.05, -0.04}, {0.07, -0.05, -0.04}, {0, 0.08, -0.04}, {0, 0, 0.06}};
static const rg_vec3 triangle[] = {{-0.07, 0, -0.04}, {0.07, 0, -0.04}, {0, 0, 0.06}};

static rg_shape_def mover(const crossing *c, rg_vec3 corners[4], double *height) {
    *height = 0.075;
    switch (c->shape) {
    case BOX:
        if (!c->planar)
            return rg_shape_def_box(0.15, 0.15, 0.15);
        for (int i = 0; i < 4; i++)
            corners[i] = (rg_vec3){i % 3 ? 0.075 : -0.075, 0, i < 2 ? -0.075 : 0.075};
        return rg_shape_def_polygon(corners, 4);
    case BALL:
        return c->planar ? rg_shape_def_disc(0.075) : rg_shape_def_sphere(0.075);
    case CAPSULE:
        *height = 0.05;
        return rg_shape_def_capsule(0.05, 0.1);
    default:
        *height = 0.04;
        return c->planar ? rg_shape_def_polygon(triangle, 3) : rg_shape_def_hull(wedge, 4);
    }
}

static rg_body_id add_mover(rg_world *world, const crossing *c) {
    rg_vec3 corners[4];
    double height;
    rg_shape_def shape_def = mover(c, corners, &height);
    rg_body_def def = rg_body_def_default();
    def.pose.position = (rg_vec3){0.013 + c->start, c->planar ? 0 : 0.017, height};
    rg_vec3 ahead = {rg_cos(c->angle), rg_sin(c->angle), 0};
    if (c->shape == CAPSULE) {
        /* lying: across its way if it rolls, along it if friction acts (else it would turn, and how
         * friction is shared along it would be open), else along a diagonal of the grid */
        rg_quat down = rg_quat_of_rotation_vector((rg_vec3){-1.5707963267948966, 0, 0});
        double turn = c->rolls          ? c->angle
                      : c->friction > 0 ? c->angle - 1.5707963267948966
                                        : 0.78539816339744831;
        def.pose.orientation =
            rg_quat_multiply(rg_quat_of_rotation_vector((rg_vec3){0, 0, turn}), down);
    }
    def.velocity = rg_scale(SPEED, ahead);
    if (c->rolls)
        def.angular_velocity = rg_scale(SPEED / height, (rg_vec3){-ahead.y, ahead.x, 0});
    return add_shape(world, shape_def, &def);
}

static outcome run(const crossing *c) {
    rg_world *world = make_world(c);
    add_ground(world, c);
    rg_body_id body = add_mover(world, c);
    outcome o = {.closure = 0};
    int steps = (int)(DURATION / STEP);
    for (int i = 0; i < steps; i++) {
        rg_step_info info = step_once(world, STEP);
        size_t kept, count = 0;
        rg_world_step_events(world, &kept, &count);
        o.events += count;
        o.impacts += info.impacts;
        o.evaluations += info.evaluations;
        o.stabilisation += fabs(info.energy.stabilisation);
        o.closure = fmax(o.closure, info.energy.closure_rel);
        assert_int_equal(info.solver_failures, 0);
    }
    o.pose = rg_body_pose(world, body);
    o.velocity = rg_body_velocity(world, body);
    o.spin = rg_body_angular_velocity(world, body);
    o.energy = rg_world_energy(world);
    rg_world_destroy(world);
    return o;
}

static double difference(const outcome *a, const outcome *b) {
    double d = rg_largest_entry(rg_sub(a->velocity, b->velocity));
    d = fmax(d, rg_largest_entry(rg_sub(a->pose.position, b->pose.position)));
    d = fmax(d, fabs(a->energy - b->energy) / a->energy);
    return fmax(d, 0.1 * rg_largest_entry(rg_sub(a->spin, b->spin)));
}

/* --- as on one slab --------------------------------------------------------------------------- */

static const char *const ground_name[] = {"one slab", "two slabs", "tiles", "compound"};
static const char *const shape_name[] = {"box", "ball", "capsule", "hull"};

/* m, m/s: how far two runs may differ; events in a crossing of ten tiles. */
#define AS_ONE 1e-9
enum { EVENTS_MOST = 600 };

/* All angles of one family; returns the worst difference. */
static double worst_of(crossing c) {
    double worst = 0;
    uint64_t events = 0, evaluations = 0;
    int angles = c.planar ? 1 : ANGLES;
    int stride = getenv("RIGOR_LONG") ? 1 : 6; /* 0, 6, 12, 18: along the grid and across it */
    for (int i = 0; i < angles; i += stride) {
        c.angle = angles > 1 ? i * 1.5707963267948966 / (angles - 1) : 0;
        crossing plain = c;
        plain.ground = ONE_SLAB;
        outcome expected = run(&plain), found = run(&c);
        double d = difference(&expected, &found);
        if (d > AS_ONE)
            print_message("    angle %d: %.1e, %lu impacts\n", i, d, (unsigned long)found.impacts);
        worst = fmax(worst, d);
        events = found.events > events ? found.events : events;
        evaluations = found.evaluations > evaluations ? found.evaluations : evaluations;
    }
    print_message("%s, %s, %s on %s, mu %g%s: %.1e, %lu events, %lu evaluations at most\n",
                  c.method, c.planar ? "plane" : "space", shape_name[c.shape],
                  ground_name[c.ground], c.friction, c.rolls ? ", rolling" : "", worst,
                  (unsigned long)events, (unsigned long)evaluations);
    return worst > AS_ONE ? worst : events > EVENTS_MOST ? INFINITY : 0;
}

static void no_seam_is_felt(const char *method, bool planar, double friction, bool rolls) {
    double worst = 0;
    for (int g = TWO_SLABS; g <= COMPOUND; g++)
        for (int s = 0; s < SHAPES; s++) {
            crossing c = {.method = method,
                          .planar = planar,
                          .ground = (ground)g,
                          .shape = (shape)s,
                          .friction = friction,
                          .rolls = rolls};
            if ((rolls && s != BALL && s != CAPSULE) || (planar && s == CAPSULE))
                continue;
            worst = fmax(worst, worst_of(c));
        }
    assert_true(worst == 0);
}

#define SEAM_TEST(name, method, planar, friction, rolls)                                           \
    static void name(void **state) {                                                               \
        (void)state;                                                                               \
        no_seam_is_felt(method, planar, friction, rolls);                                          \
    }
SEAM_TEST(analytic_slides, "analytic", false, 0, false)
SEAM_TEST(analytic_slides_with_friction, "analytic", false, 0.1, false)
SEAM_TEST(analytic_rolls, "analytic", false, 0.5, true)
SEAM_TEST(analytic_slides_in_the_plane, "analytic", true, 0, false)
SEAM_TEST(analytic_slides_in_the_plane_with_friction, "analytic", true, 0.1, false)
SEAM_TEST(analytic_rolls_in_the_plane, "analytic", true, 0.5, true)
SEAM_TEST(stepping_slides, "stepping", false, 0, false)
SEAM_TEST(stepping_slides_in_the_plane, "stepping", true, 0, false)
SEAM_TEST(stepping_slides_with_friction, "stepping", false, 0.1, false)
SEAM_TEST(stepping_rolls, "stepping", false, 0.5, true)
SEAM_TEST(stepping_slides_in_the_plane_with_friction, "stepping", true, 0.1, false)
SEAM_TEST(stepping_rolls_in_the_plane, "stepping", true, 0.5, true)

/* --- real steps ------------------------------------------------------------------------------- */

/* A box and a hull are stopped by 1 um upwards. Downwards they go on, wherever they are when a step
 * begins: what falling by 1 um gives is at most sqrt(2 g 1 um) = 4.4 mm/s in any direction, and
 * stabilisation gives less than a millionth of the energy. */
static void cross_a_step(crossing c, bool analytic) {
    bool up = c.raised > 0;
    int phases = up ? 1 : analytic ? 2 : 8;
    for (int i = 0; i < phases; i++) {
        c.start = i * SPEED * STEP / phases;
        outcome o = run(&c);
        print_message("%s, %s, %s, 1 um %s: %.6f m/s, stabilisation %.1e J, %lu events\n", c.method,
                      c.planar ? "plane" : "space", shape_name[c.shape], up ? "up" : "down",
                      o.velocity.x, o.stabilisation, (unsigned long)o.events);
        assert_true(o.events < EVENTS_MOST);
        if (up)
            assert_true(o.velocity.x < 0.95 * SPEED);
        else
            assert_near(o.velocity.x, SPEED, 4.5e-3);
        if (analytic || !up)
            assert_true(o.stabilisation < 1e-6 * o.energy);
    }
}

static void real_steps(void **state) {
    (void)state;
    for (int i = 0; i < 16; i++) {
        bool analytic = i < 8;
        crossing c = {.method = analytic ? "analytic" : "stepping",
                      .planar = i & 4,
                      .ground = TILES,
                      .shape = i & 2 ? HULL : BOX,
                      .raised = i & 1 ? 1e-6 : -1e-6};
        cross_a_step(c, analytic);
    }
}

/* --- from rest -------------------------------------------------------------------------------- */

/* A box that covers one tile exactly slides from rest, without friction, in a field that leans by 2
 * m/s^2 along x: no speed says which plane separates it from the next tile. */
static void begins_to_slide(const char *method, bool planar) {
    crossing c = {.method = method, .planar = planar, .ground = TILES};
    rg_world *world = make_world(&c);
    rg_world_set_gravity(world, (rg_vec3){2, 0, -GRAVITY});
    add_tiles(world, &c);
    rg_body_def def = rg_body_def_default();
    def.pose.position = (rg_vec3){0, 0, TILE / 2};
    rg_vec3 corners[4];
    rg_body_id body = add_shape(world, block(planar, TILE, TILE, corners), &def);
    int steps = (int)(DURATION / STEP);
    step_world(world, STEP, steps);
    double time = steps * STEP;
    print_message("%s, %s, from rest: %.12f m/s after %g s\n", method, planar ? "plane" : "space",
                  rg_body_velocity(world, body).x, time);
    assert_vector(rg_body_velocity(world, body), (rg_vec3){2 * time, 0, 0}, AS_ONE);
    rg_world_destroy(world);
}

static void from_rest(void **state) {
    (void)state;
    begins_to_slide("analytic", false);
    begins_to_slide("analytic", true);
    begins_to_slide("stepping", false);
    begins_to_slide("stepping", true);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(analytic_slides),
        cmocka_unit_test(analytic_slides_with_friction),
        cmocka_unit_test(analytic_rolls),
        cmocka_unit_test(analytic_slides_in_the_plane),
        cmocka_unit_test(analytic_slides_in_the_plane_with_friction),
        cmocka_unit_test(analytic_rolls_in_the_plane),
        cmocka_unit_test(stepping_slides),
        cmocka_unit_test(stepping_slides_in_the_plane),
        cmocka_unit_test(stepping_slides_with_friction),
        cmocka_unit_test(stepping_rolls),
        cmocka_unit_test(stepping_slides_in_the_plane_with_friction),
        cmocka_unit_test(stepping_rolls_in_the_plane),
        cmocka_unit_test(real_steps),
        cmocka_unit_test(from_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
