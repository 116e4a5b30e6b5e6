/* Bodies that overlap at the start leave by the shortest way and are not thrown: dice, cards, rods
 * and round things at rest, 0.1 to 5 mm deep in sheets of 0.1 to 10 mm, or in each other.
 * RIGOR_LONG=1 runs 2,000 instead of 100. */
#include "base/base_trig.h"
#include "step/step_contacts.h"
#include "test_world_support.h"

#include "rigor/proximity.h"

#define STEP    (1.0 / 240)
#define GRAVITY 9.81 /* m/s^2 */

/* Two shapes, the first one a fixed sheet as a rule. */
typedef struct pair {
    rg_world *world;
    rg_body_id body[2];
    rg_shape *shape[2];
    rg_depth depth; /* at the start */
    double size;    /* m: smaller circumradius */
} pair;

static double scale_between(rg_random *random, double low, double high) {
    return low * rg_exp(rg_random_between(random, 0, rg_log(high / low)));
}

static rg_shape *random_shape(rg_random *random) {
    rg_vec3 points[12];
    switch (rg_random_below(random, 7)) {
    case 0:
        return shape_of(rg_shape_def_box(0.016, 0.016, 0.016));
    case 1:
        return shape_of(rg_shape_def_box(0.09, 0.06, scale_between(random, 1e-4, 5e-3)));
    case 2:
        return shape_of(rg_shape_def_box(1, 0.01, 0.01));
    case 3:
        return shape_of(rg_shape_def_capsule(0.005, 0.2));
    case 4:
        return shape_of(rg_shape_def_cylinder(0.02, 0.05));
    case 5:
        return shape_of(rg_shape_def_sphere(0.01));
    default:
        for (int i = 0; i < 12; i++)
            points[i] = rg_times(rg_random_direction(random), rg_vec3_make(0.02, 0.03, 0.01));
        return shape_of(rg_shape_def_hull(points, 12));
    }
}

static rg_shape *random_planar_shape(rg_random *random) {
    double x = 0.01, z = rg_random_below(random, 2) ? 0.01 : scale_between(random, 1e-4, 5e-3);
    const rg_vec3 corners[4] = {{-x, 0, -z}, {x, 0, -z}, {x, 0, z}, {-x, 0, z}};
    return shape_of(rg_random_below(random, 3) ? rg_shape_def_polygon(corners, 4)
                                               : rg_shape_def_disc(x));
}

static rg_shape *sheet_of(double thickness, bool planar) {
    double z = thickness / 2;
    const rg_vec3 corners[4] = {{-2, 0, -z}, {2, 0, -z}, {2, 0, z}, {-2, 0, z}};
    return shape_of(planar ? rg_shape_def_polygon(corners, 4) : rg_shape_def_box(4, 4, thickness));
}

static rg_body_id add_at(rg_world *world, rg_shape *shape, rg_pose pose, rg_motion motion) {
    rg_collider_def collider = rg_collider_def_default();
    rg_body_def def = rg_body_def_default();
    collider.shape = shape;
    def.motion = motion;
    def.pose = pose;
    if (rg_shape_is_planar(shape))
        def.angle = 2 * rg_atan2(-pose.orientation.y, pose.orientation.w);
    def.colliders = &collider;
    def.collider_count = 1;
    return body_of(world, &def);
}

static void begin(pair *p, rg_pose pose[2], rg_motion first, bool planar, double gravity) {
    rg_world_def def = rg_world_def_default();
    def.gravity = (rg_vec3){0, 0, -gravity};
    def.planar = planar;
    p->world = world_of(&def);
    p->body[0] = add_at(p->world, p->shape[0], pose[0], first);
    p->body[1] = add_at(p->world, p->shape[1], pose[1], RG_MOTION_DYNAMIC);
    p->size = fmin(rg_shape_circumradius(p->shape[0]), rg_shape_circumradius(p->shape[1]));
}

/* A body at rest whose lowest point is some millimetres below the upper face of a sheet; the
 * shortest way out may be through it. */
static pair in_a_sheet(rg_random *random, bool planar, double gravity) {
    double thickness = scale_between(random, 1e-4, 1e-2);
    pair p = {.shape = {sheet_of(thickness, planar), NULL}};
    rg_pose pose[2] = {rg_pose_identity(), rg_pose_identity()};
    do {
        rg_shape_release(p.shape[1]);
        p.shape[1] = planar ? random_planar_shape(random) : random_shape(random);
        rg_quat turn = planar ? rg_quat_of_planar_angle(rg_random_between(random, -3, 3))
                              : rg_random_rotation(random);
        pose[1].orientation = rg_random_below(random, 2) ? turn : (rg_quat){0, 0, 0, 1};
        rg_vec3 down = rg_rotate_back(pose[1].orientation, (rg_vec3){0, 0, -1});
        double low = -rg_dot(down, rg_shape_support(p.shape[1], down, NULL));
        pose[1].position = (rg_vec3){rg_random_between(random, -1.4, 1.4),
                                     planar ? 0 : rg_random_between(random, -1.4, 1.4),
                                     thickness / 2 - scale_between(random, 1e-4, 5e-3) - low};
        if (rg_random_below(random, 2)) /* the other way up, from below */
            pose[1] = (rg_pose){rg_neg(pose[1].position),
                                rg_quat_multiply((rg_quat){0, 1, 0, 0}, pose[1].orientation)};
        assert_int_equal(rg_depth_between(p.shape[0], pose[0], p.shape[1], pose[1], &p.depth),
                         RG_OK);
    } while (p.depth.depth < 1e-5);
    begin(&p, pose, RG_MOTION_FIXED, planar, gravity);
    return p;
}

/* Two moving bodies, no deeper than 5 mm in each other. */
static pair in_each_other(rg_random *random) {
    pair p = {0};
    rg_pose pose[2] = {rg_pose_identity(), rg_pose_identity()};
    do {
        for (int i = 0; i < 2; i++) {
            rg_shape_release(p.shape[i]);
            p.shape[i] = random_shape(random);
            if (rg_random_below(random, 2))
                pose[i].orientation = rg_random_rotation(random);
        }
        double reach = rg_shape_circumradius(p.shape[0]) + rg_shape_circumradius(p.shape[1]);
        pose[1].position =
            rg_scale(reach * rg_random_between(random, 0, 1), rg_random_direction(random));
        assert_int_equal(rg_depth_between(p.shape[0], pose[0], p.shape[1], pose[1], &p.depth),
                         RG_OK);
    } while (p.depth.depth < 1e-5 || p.depth.depth > 5e-3);
    begin(&p, pose, RG_MOTION_DYNAMIC, false, 0);
    return p;
}

static rg_vec3 from_first_to_second(const pair *p) {
    rg_vec3 c[2];
    for (int i = 0; i < 2; i++)
        c[i] = rg_pose_apply(rg_body_pose(p->world, p->body[i]), rg_shape_centre(p->shape[i]));
    return rg_sub(c[1], c[0]);
}

static double depth_of(const pair *p) {
    rg_depth depth;
    assert_int_equal(rg_depth_between(p->shape[0], rg_body_pose(p->world, p->body[0]), p->shape[1],
                                      rg_body_pose(p->world, p->body[1]), &depth),
                     RG_OK);
    return depth.depth;
}

static void end(pair *p) {
    for (int i = 0; i < 2; i++)
        rg_shape_release(p->shape[i]);
    rg_world_destroy(p->world);
}

/* One second without gravity: out by the shortest way, with no more energy than the bodies would
 * have at the speed of the depth in RG_STEP_PUSH_TIME, all of it in the ledger. Returns the largest
 * relative speed of the centres over that one. */
static double leave(pair *p) {
    double most = p->depth.depth / RG_STEP_PUSH_TIME, fastest = 0, given = 0, closure = 0;
    double mass = 0;
    rg_vec3 start = from_first_to_second(p);
    for (int i = 0; i < 2; i++)
        if (rg_body_motion(p->world, p->body[i]) == RG_MOTION_DYNAMIC)
            mass += rg_body_mass(p->world, p->body[i]).mass;
    for (int k = 0; k < 240; k++) {
        rg_step_info info = step_once(p->world, STEP);
        rg_vec3 relative =
            rg_sub(rg_body_velocity(p->world, p->body[1]), rg_body_velocity(p->world, p->body[0]));
        fastest = fmax(fastest, rg_length(relative) / most);
        given += info.energy.stabilisation;
        closure += fabs(info.energy.closure);
    }
    /* a body that turns while it touches leaves the tangents of its step a little */
    assert_true(depth_of(p) <= 1e-5 * p->size);
    assert_true(rg_dot(rg_sub(from_first_to_second(p), start), p->depth.normal) > 0);
    assert_true(given <= 0.5 * mass * most * most * (1 + 1e-9));
    assert_true(closure <= 1e-9 * given);
    return fastest;
}

static void out_of_sheets(void **state) {
    (void)state;
    rg_random random = rg_random_make(3);
    int count = test_cases(100, 2000);
    double fastest = 0;
    for (int i = 0; i < count; i++) {
        pair p = in_a_sheet(&random, i % 5 == 4, 0);
        fastest = fmax(fastest, leave(&p));
        end(&p);
    }
    print_message("%d bodies in sheets: at most %.6f of the bound\n", count, fastest);
    assert_true(fastest <= 1 + 1e-9);
}

static void out_of_each_other(void **state) {
    (void)state;
    rg_random random = rg_random_make(5);
    int count = test_cases(100, 2000);
    double fastest = 0;
    for (int i = 0; i < count; i++) {
        pair p = in_each_other(&random);
        fastest = fmax(fastest, leave(&p));
        end(&p);
    }
    print_message("%d bodies in each other: at most %.6f of the bound\n", count, fastest);
    assert_true(fastest <= 2); /* what turns may be pushed once more */
}

/* A die of 16 mm, 5 mm deep in a sheet of 2 mm, 10 cm from its end: the ratio metric would send it
 * out there. The certificate has the least depth, too. */
static void a_die_in_a_sheet(void **state) {
    (void)state;
    pair p = {.shape = {sheet_of(0.002, false), shape_of(rg_shape_def_box(0.016, 0.016, 0.016))}};
    rg_pose pose[2] = {rg_pose_identity(), {{1.9, 0.3, 0.004}, {0, 0, 0, 1}}};
    begin(&p, pose, RG_MOTION_FIXED, false, GRAVITY);
    for (int k = 0; k < 480; k++) {
        rg_step_info info = step_once(p.world, STEP);
        assert_true(info.certificate.max_penetration <= 0.005 + 1e-9);
        assert_true(rg_length(rg_body_velocity(p.world, p.body[1])) <= 0.16);
    }
    assert_vector(rg_body_pose(p.world, p.body[1]).position, rg_vec3_make(1.9, 0.3, 0.009), 1e-9);
    end(&p);
}

/* Against gravity: as long as they overlap, no faster than what rises by a quarter of the depth,
 * and what gravity adds; two seconds later still on that side of the sheet. */
static void out_against_gravity(void **state) {
    (void)state;
    rg_random random = rg_random_make(4);
    int count = test_cases(100, 2000), below = 0;
    double fastest = 0;
    for (int i = 0; i < count; i++) {
        pair p = in_a_sheet(&random, i % 5 == 4, GRAVITY);
        double most = sqrt(RG_STEP_PUSH_RISE * GRAVITY * p.depth.depth);
        bool out = false;
        for (int k = 1; k <= 480; k++) {
            step_once(p.world, STEP);
            double speed = rg_length(rg_body_velocity(p.world, p.body[1]));
            out = out || depth_of(&p) <= 0;
            if (!out)
                fastest = fmax(fastest, (speed - GRAVITY * STEP * k) / most);
        }
        assert_true(depth_of(&p) <= 1e-6 * p.size);
        assert_true(from_first_to_second(&p).z * p.depth.normal.z > 0);
        below += p.depth.normal.z < 0;
        end(&p);
    }
    print_message("%d bodies, %d of them out below: at most %.6f of the bound\n", count, below,
                  fastest);
    assert_true(fastest <= 1 + 1e-9 && below > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(out_of_sheets),
        cmocka_unit_test(out_of_each_other),
        cmocka_unit_test(a_die_in_a_sheet),
        cmocka_unit_test(out_against_gravity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
