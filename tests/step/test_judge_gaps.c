/* The judge's own look at the motion of a step: the smallest gap between its ends, and what passed
 * through what. Shots and passes at random are compared with a brute-force sampling of the motion,
 * the method stepping is made to tunnel and must be found out. RIGOR_LONG=1 runs 10,000 shots
 * instead of some hundred. */
#include "step/step_judge_motion.h"
#include "test_world_support.h"

#include <stdio.h>
#include <stdlib.h>

#define STEP (1.0 / 240)

static int many(int few) {
    return getenv("RIGOR_LONG") ? 10000 : few;
}

static rg_world *weightless(bool discrete) {
    rg_world_def def = rg_world_def_default();
    def.gravity = (rg_vec3){0, 0, 0};
    def.settings.discrete_detection = discrete;
    return world_of(&def);
}

static rg_body_id add_fixed(rg_world *world, rg_shape_def shape, rg_vec3 position) {
    rg_body_def def = rg_body_def_default();
    def.motion = RG_MOTION_FIXED;
    def.pose.position = position;
    return add_shape(world, shape, &def);
}

/* --- what is known ---------------------------------------------------------------------------- */

/* A ball that flies through another one: the smallest gap is that of the time when the centres are
 * nearest. */
static void balls_in_closed_form(void **state) {
    (void)state;
    static const double aside[] = {0, 0.01, 0.1, 0.14, 0.1999999, 0.2000001, 0.201};
    for (size_t i = 0; i < sizeof aside / sizeof *aside; i++) {
        rg_world *world = weightless(true);
        add_fixed(world, rg_shape_def_sphere(0.1), (rg_vec3){0, 0, 0});
        rg_body_def def = rg_body_def_default();
        def.pose.position = (rg_vec3){-0.41, aside[i], 0};
        def.velocity = (rg_vec3){240, 0, 0};
        def.angular_velocity = (rg_vec3){3, 20, 100};
        add_shape(world, rg_shape_def_sphere(0.1), &def);
        rg_step_info info = step_once(world, STEP);
        double least = aside[i] - 0.2;
        assert_near(info.certificate.min_gap, least, 0.1 * fabs(least) + 1e-9);
        /* 60 degrees of the normal, and deeper than a radius. */
        assert_int_equal(info.passed_through, aside[i] < 0.1);
        rg_world_destroy(world);
    }
}

/* A ball over and through flat ground of triangles, with other balls far away: the smallest gap is
 * that over the triangle under it. */
static void ground_of_triangles(void **state) {
    (void)state;
    const rg_vec3 corners[] = {{-5, -5, 0}, {5, -5, 0}, {5, 5, 0}, {-5, 5, 0}};
    const uint32_t triangles[] = {0, 1, 2, 0, 2, 3};
    const double height[] = {0.103, 0.101, 0.099};
    for (int still_first = 0; still_first < 2; still_first++)
        for (int k = 0; k < 3; k++) {
            rg_world *world = weightless(true);
            if (still_first)
                add_fixed(world, rg_shape_def_sphere(0.1), (rg_vec3){50, 0, 50});
            rg_body_def def = rg_body_def_default();
            def.pose.position = (rg_vec3){-0.1, 0.3, height[k]};
            def.velocity = (rg_vec3){48, 0, 0};
            add_shape(world, rg_shape_def_sphere(0.1), &def);
            def.pose.position = (rg_vec3){2, 3, 0.5};
            def.velocity = (rg_vec3){0, 0, -240};
            if (k == 2)
                add_shape(world, rg_shape_def_sphere(0.1), &def);
            add_fixed(world, rg_shape_def_terrain(corners, 4, triangles, 2), (rg_vec3){0, 0, 0});
            rg_step_info info = step_once(world, STEP);
            assert_near(info.certificate.min_gap, k == 2 ? -0.6 : height[k] - 0.1, 1e-12);
            rg_world_destroy(world);
        }
}

/* Two rows of unit boxes along each axis, and one more box that is 3 mm from one of them along each
 * of the axes: whatever axis the search for pairs goes along, it finds the two. */
static void rows_along_every_axis(void **state) {
    (void)state;
    for (int axis = 0; axis < 3; axis++)
        for (int apart = 0; apart < 3; apart++) {
            rg_world *world = weightless(false);
            for (int i = 0; i <= 40; i++) {
                bool more = i == 40;
                double at[3] = {0};
                at[axis] = 3 * (more ? 9 : i / 2);
                at[(axis + 1) % 3] = more ? 0 : 4 * (i % 2);
                at[apart] += more ? 1.003 : 0;
                rg_body_def def = rg_body_def_default();
                def.pose.position = (rg_vec3){at[0], at[1], at[2]};
                add_shape(world, rg_shape_def_box(1, 1, 1), &def);
            }
            rg_step_info info = step_once(world, STEP);
            assert_near(info.certificate.min_gap, 0.003, 1e-12);
            rg_world_destroy(world);
        }
}

/* Boxes that are in each other, on the ground and beside each other, each pair by another depth, in
 * any order: the deepest one is told, whichever is looked at first, turned or not. */
static void deepest_of_many(void **state) {
    (void)state;
    for (int deepest = 0; deepest < 8; deepest++)
        for (int turned = 0; turned < 2; turned++) {
            rg_world_def world_def = rg_world_def_default();
            world_def.gravity = (rg_vec3){0, 0, 0};
            world_def.settings.gamma = 0; /* overlaps stay */
            rg_world *world = world_of(&world_def);
            for (int i = 0; i < 8; i++) {
                double depth = i == deepest ? 2e-3 : 1e-4 * (1 + i);
                rg_body_def def = rg_body_def_default();
                def.pose.position = (rg_vec3){4 * i, 0, 0};
                add_fixed(world, rg_shape_def_box(1, 1, 1), def.pose.position);
                def.pose.position.z = 1 - depth;
                def.velocity.x = 1e-9; /* not at rest */
                if (turned)
                    def.pose.orientation = rg_quat_of_rotation_vector((rg_vec3){0, 0, 0.1 * i});
                add_shape(world, rg_shape_def_box(1, 1, 1), &def);
            }
            rg_step_info info = step_once(world, STEP);
            assert_near(info.certificate.min_gap, -2e-3, 1e-9);
            rg_world_destroy(world);
        }
}

/* A rod of 1 m, of a square or round section, that turns within a step by half a turn, or by two
 * and a half: the post that stands at 0.3 m in its way is passed, one beyond its end is not. */
static void turning_rods(void **state) {
    (void)state;
    static const double turns[] = {0.25, 0.5, 2.5};
    for (int i = 0; i < 6; i++)
        for (int reached = 0; reached < 2; reached++) {
            bool round = i >= 3;
            rg_world *world = weightless(true);
            double angle = 0.3, at = reached ? 0.3 : 0.502;
            add_fixed(world, rg_shape_def_box(0.001, 0.001, 0.1),
                      (rg_vec3){at * cos(angle), at * sin(angle), 0});
            rg_body_def def = rg_body_def_default();
            def.angular_velocity = (rg_vec3){0, 0, turns[i % 3] * 2 * RG_PI / STEP};
            if (round) /* its axis is z */
                def.pose.orientation = (rg_quat){0, sqrt(0.5), 0, sqrt(0.5)};
            add_shape(world,
                      round ? rg_shape_def_cylinder(0.0005, 1) : rg_shape_def_box(1, 0.001, 0.001),
                      &def);
            rg_step_info info = step_once(world, STEP);
            if (reached)
                assert_true(info.certificate.min_gap < -0.0005);
            else
                assert_near(info.certificate.min_gap, 0.001, 4e-4);
            assert_int_equal(info.passed_through, reached ? 1 : 0);
            rg_world_destroy(world);
        }
}

/* Deep, and out again by the way it came; deep, and still there; slightly, and out on another side:
 * none of them has passed through. */
static void penetration_is_not_passing(void **state) {
    (void)state;
    static const struct {
        rg_vec3 from, velocity;
        double least;
        int passed;
    } cases[] = {
        {{0, 0, 0.06}, {0, 0, -0.02}, -0.015, 0},             /* into it: stays there */
        {{0, 0, 0.06}, {0, 0, -0.055}, -0.05, 0},             /* nearly to the middle */
        {{0, 0, 0.06}, {0, 0, -0.07}, -0.055, 1},             /* beyond it */
        {{0, 0, 0.06}, {0, 0, -0.2}, -0.055, 1},              /* out on the other side */
        {{0.0549, 0, 0.06}, {0.0002, 0, -0.02}, -4.95e-5, 0}, /* along the side */
        {{0.052, 0, 0.0555}, {0.01, 0, -0.01}, -0.00125, 0},  /* through the edge, not deep */
        {{0.03, 0, 0.061}, {0.04, 0, -0.04}, -0.0095, 1},     /* through the edge, deep */
        {{0.04, 0, 0.0551}, {0.04, 0, 0}, 0.0001, 0},         /* over it */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rg_world *world = weightless(true);
        add_fixed(world, rg_shape_def_box(0.1, 0.1, 0.1), (rg_vec3){0, 0, 0});
        rg_body_def def = rg_body_def_default();
        def.pose.position = cases[i].from;
        def.velocity = rg_scale(1 / STEP, cases[i].velocity);
        add_shape(world, rg_shape_def_box(0.01, 0.01, 0.01), &def);
        rg_step_info info = step_once(world, STEP);
        assert_near(info.certificate.min_gap, cases[i].least, 0.1 * fabs(cases[i].least));
        assert_int_equal(info.passed_through, cases[i].passed);
        rg_world_destroy(world);
    }
}

/* --- tunnelling ------------------------------------------------------------------------------- */

/* The pane of 1 mm and a tilted cube of 5 cm at 100 m/s. */
static void a_cube_and_a_pane(void **state) {
    (void)state;
    for (int discrete = 0; discrete < 2; discrete++) {
        rg_world *world = weightless(discrete);
        add_fixed(world, rg_shape_def_box(0.001, 4, 4), (rg_vec3){1, 0, 0});
        rg_body_def def = rg_body_def_default();
        def.pose.position = (rg_vec3){0.1, 0.1, 0.2};
        def.pose.orientation = rg_quat_of_rotation_vector((rg_vec3){0.3, 0.2, 0.1});
        def.velocity = (rg_vec3){100, 0, 0};
        rg_body_id cube = add_shape(world, rg_shape_def_box(0.05, 0.05, 0.05), &def);
        step_world(world, STEP, 8);
        rg_step_info summary = rg_world_summary(world);
        assert_int_equal(summary.passed_through, discrete);
        assert_int_equal(rg_body_pose(world, cube).position.x > 1, discrete);
        if (discrete)
            assert_true(summary.certificate.min_gap < -0.02);
        else
            assert_true(summary.certificate.min_gap > -1e-6);
        rg_world_destroy(world);
    }
}

/* 1 above the sheet, -1 below it, 0 beside it. */
static int side_of(const rg_world *world, rg_body_id die) {
    rg_vec3 p = rg_body_pose(world, die).position;
    return fabs(p.x) > 1.98 || fabs(p.y) > 1.98 ? 0 : p.z > 0 ? 1 : -1;
}

/* 40 dice on sheets: each one whose middle gets to the other side of the sheet is reported, in that
 * step. */
static void dice_and_sheets(void **state) {
    (void)state;
    static const double sheets[] = {0.002, 0.001, 0.001}, dice[] = {0.016, 0.016, 0.005};
    for (int discrete = 0; discrete < 2; discrete++)
        for (int s = 0; s < 3; s++) {
            rg_random random = rg_random_make(160 + (uint64_t)s);
            rg_world_def world_def = rg_world_def_default();
            world_def.settings.discrete_detection = discrete;
            rg_world *world = world_of(&world_def);
            add_fixed(world, rg_shape_def_box(4, 4, sheets[s]), (rg_vec3){0, 0, 0});
            rg_body_id body[40];
            int side[40];
            for (int i = 0; i < 40; i++) {
                rg_body_def def = rg_body_def_default();
                def.pose.position = (rg_vec3){-1.4 + 0.4 * (i % 8), -0.8 + 0.4 * (i / 8),
                                              rg_random_between(&random, 1, 2.2)};
                def.pose.orientation = rg_random_rotation(&random);
                def.velocity = (rg_vec3){0, 0, -rg_random_between(&random, 0, 4)};
                body[i] = add_shape(world, rg_shape_def_box(dice[s], dice[s], dice[s]), &def);
                side[i] = 1;
            }
            uint64_t through = 0;
            for (int k = 0; k < 180; k++) {
                uint64_t crossed = 0;
                rg_step_info info = step_once(world, STEP);
                for (int i = 0; i < 40; i++) {
                    int now = side_of(world, body[i]);
                    crossed += now * side[i] < 0;
                    side[i] = now;
                }
                assert_int_equal(info.passed_through, crossed);
                through += crossed;
            }
            rg_step_info summary = rg_world_summary(world);
            print_message("dice of %g m, sheet of %g m, %s: %d through, gap %.1e m\n", dice[s],
                          sheets[s], discrete ? "discrete" : "continuous", (int)through,
                          summary.certificate.min_gap);
            assert_int_equal(summary.passed_through, through);
            assert_true(discrete ? through > 0 : through == 0);
            rg_world_destroy(world);
        }
}

/* --- against brute force ---------------------------------------------------------------------- */

typedef struct shot {
    rg_shape_def shape[2];
    rg_pose pose; /* of the second one; the first is at the origin */
    rg_vec3 velocity, spin;
} shot;

static rg_shape_def thing(rg_random *random) {
    double a = rg_random_between(random, 0.01, 0.2), thin = 0.2 * pow(1e-3, rg_random_unit(random));
    switch ((int)(6 * rg_random_unit(random))) {
    case 0:
        return rg_shape_def_box(a, a, a);
    case 1:
        return rg_shape_def_box(2 * a, a, thin);
    case 2:
        return rg_shape_def_box(4 * a, thin, thin);
    case 3:
        return rg_shape_def_sphere(0.5 * a);
    case 4:
        return rg_shape_def_capsule(0.2 * a, a);
    default:
        return rg_shape_def_cylinder(0.5 * a, a);
    }
}

/* Half of them at the other body, half past it. */
static shot shot_of(rg_random *random) {
    shot s = {.velocity = {0, 0, 0}}; /* one draw a line: the same shots by every compiler */
    s.shape[0] = thing(random);
    s.shape[1] = thing(random);
    rg_vec3 direction = rg_random_direction(random);
    double way = rg_random_between(random, 0.1, 0.8);
    rg_vec3 aside = rg_random_direction(random);
    rg_vec3 middle = rg_scale(rg_random_between(random, 0, 0.25), aside);
    s.pose.position = rg_add_scaled(middle, -rg_random_unit(random) * way, direction);
    s.pose.orientation = rg_random_rotation(random);
    s.velocity = rg_scale(way / STEP, direction);
    rg_vec3 axis = rg_random_direction(random);
    double most = rg_random_unit(random) < 0.25 ? 2.5 : 0.5; /* rad in a step */
    s.spin = rg_scale(rg_random_between(random, 0, most) / STEP, axis);
    return s;
}

/* The signed gap at an instant, by other means: GJK, or the oracle for the depth of polyhedra; of
 * other shapes that overlap, minus infinity. */
static double true_gap(rg_shape *const shape[2], rg_pose pose) {
    rg_distance distance;
    rg_depth depth;
    rg_pose still = rg_pose_identity();
    assert_int_equal(rg_distance_between(shape[0], still, shape[1], pose, NULL, &distance), RG_OK);
    if (distance.distance > 0)
        return distance.distance;
    return rg_depth_between(shape[0], still, shape[1], pose, &depth) == RG_OK ? -depth.depth
                                                                              : -INFINITY;
}

/* rad/s that turns one orientation into another within a step, by less than half a turn. */
static rg_vec3 spin_between(rg_quat from, rg_quat to) {
    rg_quat q = rg_quat_multiply(to, rg_quat_conjugate(from));
    rg_vec3 v = {q.x, q.y, q.z};
    double sine = rg_length(v);
    if (!(sine > 0))
        return (rg_vec3){0, 0, 0};
    double angle = 2 * atan2(q.w < 0 ? -sine : sine, fabs(q.w));
    return rg_scale(angle / sine / STEP, v);
}

enum { INSTANTS = 2000 };
#define APART 0.02 /* m */

/* The smallest gap at 2,000 instants of straight motion. */
static double sampled_gap(const shot *s, rg_shape *const shape[2]) {
    double least = INFINITY;
    rg_linear_motion motion = {
        .start = s->pose, .velocity = s->velocity, .angular_velocity = s->spin};
    rg_path path = rg_path_linear(&motion);
    for (int i = 0; i <= INSTANTS; i++) {
        rg_pose pose;
        path.pose(path.user, STEP * i / INSTANTS, &pose);
        least = fmin(least, true_gap(shape, pose));
    }
    return least;
}

/* Whether shapes pass through each other, by the definition, at 2,000 instants: 1 or 0; -1 where
 * samples do not tell, with depths or angles close to the limits, or a shortest way that turns just
 * before they are deep: the judge looks at it up to a quarter of that depth earlier. */
static int sampled_passing(const shot *s, rg_shape *const shape[2], double stride) {
    double deep = fmin(rg_shape_inradius(shape[0]), rg_shape_inradius(shape[1]));
    double cosine, deepest = 0;
    rg_linear_motion motion = {
        .start = s->pose, .velocity = s->velocity, .angular_velocity = s->spin};
    rg_path path = rg_path_linear(&motion);
    rg_vec3 way = {0, 0, 0}, earlier = way;
    bool was_deep = false, close = false, passed = false;
    for (int i = 0; i <= INSTANTS; i++) {
        rg_pose pose;
        rg_depth d;
        path.pose(path.user, STEP * i / INSTANTS, &pose);
        if (rg_depth_between(shape[0], rg_pose_identity(), shape[1], pose, &d) != RG_OK)
            return -1;
        bool is_deep = d.depth > deep, last = i == INSTANTS;
        if (was_deep && (!is_deep || last)) {
            cosine = rg_dot(way, d.normal);
            passed |= cosine < 0.5;
            close |=
                fabs(cosine - 0.5) < 0.3 || (rg_dot(earlier, d.normal) < 0.5) != (cosine < 0.5);
        }
        deepest = fmax(deepest, d.depth);
        if (!is_deep)
            way = d.normal;
        if (d.depth < 0.75 * deep)
            earlier = d.normal;
        was_deep = is_deep;
    }
    close |= fabs(deepest - deep) < 0.1 * deep || stride > 0.1 * deep;
    return close ? -1 : passed;
}

/* The judge's gap is that of the sampling: not larger (up to its resolution), and smaller by no
 * more than the shapes come nearer between two samples, or, apart, than the ratio metric's gap is
 * below the distance. Nothing is said to be passed through that never overlapped. */
static void shots_against_brute_force(void **state) {
    (void)state;
    rg_random random = rg_random_make(2000);
    int shots = many(300), met = 0, passed = 0, seen = 0, compared = 0;
    for (int i = 0; i < shots; i++) {
        shot s = shot_of(&random);
        rg_shape *shape[2] = {shape_of(s.shape[0]), shape_of(s.shape[1])};
        while (!(true_gap(shape, s.pose) > APART)) /* so that no contact acts: back a little */
            s.pose.position = rg_add_scaled(s.pose.position, -0.1 * STEP, s.velocity);
        rg_world *world = weightless(true);
        add_fixed(world, s.shape[0], (rg_vec3){0, 0, 0});
        rg_body_def def = rg_body_def_default();
        def.pose = s.pose;
        def.velocity = s.velocity;
        def.angular_velocity = s.spin;
        rg_body_id body = add_shape(world, s.shape[1], &def);
        /* Bodies tumble: the motion that was made is taken from the poses. */
        rg_step_info info = step_once(world, STEP);
        rg_pose end = rg_body_pose(world, body);
        s.velocity = rg_scale(1 / STEP, rg_sub(end.position, s.pose.position));
        s.spin = spin_between(s.pose.orientation, end.orientation);
        double brute = sampled_gap(&s, shape), gap = info.certificate.min_gap;
        double size = fmin(rg_shape_circumradius(shape[0]), rg_shape_circumradius(shape[1]));
        double stride =
            STEP / INSTANTS *
            (rg_length(s.velocity) + rg_length(s.spin) * rg_shape_circumradius(shape[1]));
        double near = 0.01 * (rg_shape_circumradius(shape[0]) + rg_shape_circumradius(shape[1]));
        if (isnan(gap))
            assert_true(brute > near - stride);
        if (brute < near) {
            seen++;
            if (!(gap <= brute + 0.1 * fabs(brute) + 1e-9 * size + 1e-6 * size ||
                  brute == -INFINITY))
                fail_msg("shot %d: the judge has %g m, sampled %g m", i, gap, brute);
            if (isfinite(brute) && brute < 0 && !(gap >= brute - stride - 1e-9 * size))
                fail_msg("shot %d: the judge has %g m, sampled %g m, stride %g", i, gap, brute,
                         stride);
            if (brute > stride && !(gap > 0))
                fail_msg("shot %d: %g m between samples of %g m", i, gap, brute);
        }
        if (brute > stride)
            assert_int_equal(info.passed_through, 0);
        int verdict = sampled_passing(&s, shape, stride);
        compared += verdict >= 0;
        if (verdict >= 0 && verdict != (int)info.passed_through)
            fail_msg("shot %d: passed %d, sampled %d", i, (int)info.passed_through, verdict);
        met += brute <= 0;
        passed += info.passed_through > 0;
        rg_shape_release(shape[0]);
        rg_shape_release(shape[1]);
        rg_world_destroy(world);
    }
    print_message("%d shots: %d near, %d met, %d passed through, %d verdicts compared\n", shots,
                  seen, met, passed, compared);
    assert_true(met > shots / 5 && met < 9 * shots / 10 && passed > shots / 50);
}

/* Fast, and past an edge or a corner at 1 um: no gap below that, nothing passed. */
static void near_misses(void **state) {
    (void)state;
    rg_random random = rg_random_make(1);
    for (int i = 0; i < 100; i++) {
        rg_world *world = weightless(true);
        add_fixed(world, rg_shape_def_box(0.2, 0.2, 0.2), (rg_vec3){0, 0, 0});
        rg_body_def def = rg_body_def_default();
        double angle = rg_random_between(&random, 0, 1.5);
        double reach = 0.025 * (cos(angle) + sin(angle)); /* of a turned box of 5 cm */
        def.pose.position = (rg_vec3){-rg_random_between(&random, 0.1, 0.4), 0.1 + reach + 1e-6,
                                      rg_random_between(&random, -0.1, 0.1)};
        def.pose.orientation = rg_quat_of_rotation_vector((rg_vec3){0, 0, angle});
        def.velocity = (rg_vec3){rg_random_between(&random, 130, 300), 0, 0};
        add_shape(world, rg_shape_def_box(0.05, 0.05, 0.05), &def);
        rg_step_info info = step_once(world, STEP);
        if (!(info.certificate.min_gap >= 1e-6 - 1e-12))
            fail_msg("pass %d: gap %g m", i, info.certificate.min_gap);
        assert_int_equal(info.passed_through, 0);
        rg_world_destroy(world);
    }
}

/* Room for two pointers per body, each time as much as a chunk of the arena holds. */
static void tracks_without_memory(void **state) {
    (void)state;
    for (size_t blocks = 1; blocks <= 3; blocks++) {
        counting_allocator counter;
        rg_allocator allocator = counting_allocator_make(&counter);
        counter.fail_after = blocks;
        rg_arena arena = rg_arena_make(&allocator);
        rg_judge_tracks tracks;
        size_t bodies = 2048;
        rg_status status = rg_judge_tracks_make(&arena, bodies, &tracks);
        assert_int_equal(status, blocks < 2 ? RG_OUT_OF_MEMORY : RG_OK);
        if (status == RG_OK) {
            for (size_t i = 0; i < bodies; i++)
                assert_true(!tracks.first[i] && !tracks.last[i]);
            assert_true((rg_judge_tracks_add(&tracks, 7, 3) != NULL) == (blocks == 3));
            assert_int_equal(tracks.lost, blocks != 3);
        }
        rg_arena_free(&arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(balls_in_closed_form),
        cmocka_unit_test(ground_of_triangles),
        cmocka_unit_test(tracks_without_memory),
        cmocka_unit_test(rows_along_every_axis),
        cmocka_unit_test(deepest_of_many),
        cmocka_unit_test(turning_rods),
        cmocka_unit_test(penetration_is_not_passing),
        cmocka_unit_test(a_cube_and_a_pane),
        cmocka_unit_test(dice_and_sheets),
        cmocka_unit_test(shots_against_brute_force),
        cmocka_unit_test(near_misses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
