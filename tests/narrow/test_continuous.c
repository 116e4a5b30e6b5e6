/* First times of contact: closed forms, bullets and panes, spinning plates and rods, bounds. */
#include "test_support.h"

#include "base/base_math.h"
#include "rigor/proximity.h"
#include "rigor/random.h"

static rg_shape *shape_of(rg_shape_def def) {
    rg_shape *shape;
    rg_error error;
    if (rg_shape_create(&def, NULL, &shape, &error))
        fail_msg("%s", error.text);
    return shape;
}

static rg_pose at(double x, double y, double z) {
    return (rg_pose){{x, y, z}, {0, 0, 0, 1}};
}

static double gap_of(const rg_shape *a, const rg_path *pa, const rg_shape *b, const rg_path *pb,
                     double time) {
    rg_pose p, q;
    pa->pose(pa->user, time, &p);
    pb->pose(pb->user, time, &q);
    rg_growth growth;
    assert_int_equal(rg_growth_between(a, p, b, q, NULL, &growth), RG_OK);
    return growth.gap;
}

/* A falling body as the integrator would hand it over: z = 1 + r - g t^2 / 2 in Bernstein form. */
static rg_polynomial_motion falling(double height, double duration, int degree) {
    rg_polynomial_motion m = {
        .begin = 0, .step = duration, .degree = degree, .shape_pose = at(0, 0, 0)};
    double drop = -0.5 * 9.81 * duration * duration;
    for (int i = 0; i <= degree; i++) {
        /* Coefficients of u^2 in degree d: i (i - 1) / (d (d - 1)). */
        m.position[i] = (rg_vec3){0, 0, height + drop * i * (i - 1) / (degree * (degree - 1.0))};
        m.orientation[i] = (rg_quat){0, 0, 0, 1};
    }
    return m;
}

/* A ball from 1 m reaches the floor at sqrt(2 h / g) = 0.4515236 s. */
static void ball_from_one_metre(void **state) {
    (void)state;
    rg_shape *floor = shape_of(rg_shape_def_halfspace((rg_vec3){0, 0, 1}, 0));
    rg_shape *bodies[] = {shape_of(rg_shape_def_sphere(0.1)),
                          shape_of(rg_shape_def_box(0.2, 0.2, 0.2))};
    rg_linear_motion rest = {.start = at(0, 0, 0)};
    rg_path still = rg_path_linear(&rest);
    uint32_t evaluations[3];
    int degrees[] = {4, 2, 9, RG_PATH_DEGREE_MAX};
    for (int b = 0; b < 8; b++)
        for (int root = 0; root < 3; root++) {
            rg_polynomial_motion motion = falling(1.1, 1, degrees[b / 2]);
            rg_path path = rg_path_polynomial(&motion);
            rg_first_contact_settings settings = rg_first_contact_settings_default(1e-10);
            settings.root = (rg_root_method)root;
            rg_first_contact impact;
            assert_int_equal(rg_first_contact_between((rg_moving_shape){floor, &still},
                                                      (rg_moving_shape){bodies[b % 2], &path}, 0, 1,
                                                      &settings, &impact),
                             RG_OK);
            assert_int_equal(impact.result, RG_FIRST_CONTACT_HIT);
            assert_near(impact.time, 0.4515236, 5e-8);
            assert_true(impact.time <= sqrt(2 / 9.81));
            assert_true(impact.growth.gap > 0 && impact.growth.gap <= 1e-10);
            assert_near(impact.growth.normal.z, 1, 1e-14);
            evaluations[root] = impact.root_evaluations;
        }
    print_message("root evaluations: ITP %u, Illinois %u, bisection %u\n", evaluations[0],
                  evaluations[1], evaluations[2]);
    assert_true(evaluations[RG_ROOT_ILLINOIS] < evaluations[RG_ROOT_BISECTION]);
    rg_shape_release(floor);
    rg_shape_release(bodies[0]);
    rg_shape_release(bodies[1]);
}

/* A flying, spinning body and a target. */
typedef struct trial {
    rg_shape *bullet, *pane;
    rg_linear_motion bullet_motion, pane_motion;
} trial;

static rg_shape *random_projectile(rg_random *random, int kind) {
    if (kind == 0) { /* a stone */
        rg_vec3 points[12];
        for (int i = 0; i < 12; i++)
            points[i] = rg_scale(0.005, rg_random_direction(random));
        return shape_of(rg_shape_def_hull(points, 12));
    }
    if (kind == 1)
        return shape_of(rg_shape_def_box(0.3, 0.004, 0.004)); /* a rod */
    return shape_of(rg_shape_def_box(0.2, 0.15, 0.002));      /* a plate */
}

static trial random_trial(rg_random *random, int kind) {
    trial t = {.bullet = random_projectile(random, kind),
               .pane = shape_of(rg_shape_def_box(1, 1, 0.004))};
    rg_vec3 aim = {rg_random_between(random, -0.3, 0.3), rg_random_between(random, -0.3, 0.3), 0};
    rg_vec3 direction = rg_normalised(
        (rg_vec3){rg_random_between(random, -0.4, 0.4), rg_random_between(random, -0.4, 0.4), -1});
    double speed = 1000;
    t.bullet_motion = (rg_linear_motion){
        .start = {rg_add_scaled(aim, -rg_random_between(random, 0.5, 3.5), direction),
                  rg_random_rotation(random)},
        .velocity = rg_scale(speed, direction),
        .angular_velocity =
            rg_scale(kind ? rg_random_between(random, 0, 3000) : 0, rg_random_direction(random))};
    t.pane_motion = (rg_linear_motion){
        .start = at(0, 0, 0),
        .angular_velocity = {0, 0, kind ? rg_random_between(random, -20, 20) : 0}};
    return t;
}

/* The pane's thickness is a thousandth of what the bullet flies in a step of 4 ms. */
static void bullets_do_not_pass_panes(void **state) {
    (void)state;
    int trials = test_cases(10000, 100000);
    rg_random random = rg_random_make(5);
    int missed_by_discrete = 0;
    uint64_t advances = 0, evaluations = 0;
    uint32_t most = 0;
    for (int i = 0; i < trials; i++) {
        trial t = random_trial(&random, i % 3);
        rg_path bullet = rg_path_linear(&t.bullet_motion), pane = rg_path_linear(&t.pane_motion);
        double end = 0.004, tolerance = 1e-9;
        rg_first_contact_settings settings = rg_first_contact_settings_default(tolerance);
        rg_first_contact impact;
        assert_int_equal(rg_first_contact_between((rg_moving_shape){t.pane, &pane},
                                                  (rg_moving_shape){t.bullet, &bullet}, 0, end,
                                                  &settings, &impact),
                         RG_OK);
        assert_int_equal(impact.result, RG_FIRST_CONTACT_HIT);
        assert_true(impact.growth.gap > 0 && impact.growth.gap <= tolerance);
        if (gap_of(t.pane, &pane, t.bullet, &bullet, 0) > 0 &&
            gap_of(t.pane, &pane, t.bullet, &bullet, end) > 0)
            missed_by_discrete++;
        /* Never late: free at every earlier moment that is looked at, densely so before the end. */
        for (int k = 1; k < 40; k++) {
            double share = k < 20 ? k / 20.0 : 1 - pow(0.5, k - 18);
            assert_true(gap_of(t.pane, &pane, t.bullet, &bullet, share * impact.time) > 0);
        }
        /* And not early: it goes on into the pane. */
        assert_true(gap_of(t.pane, &pane, t.bullet, &bullet, impact.time + 1e-9) < tolerance);
        advances += impact.advances;
        evaluations += impact.evaluations;
        most = impact.advances > most ? impact.advances : most;
        rg_shape_release(t.bullet);
        rg_shape_release(t.pane);
    }
    print_message("%d trials: discrete detection misses %d; %.1f advances (at most %u), %.1f "
                  "evaluations each\n",
                  trials, missed_by_discrete, (double)advances / trials, most,
                  (double)evaluations / trials);
    assert_true(missed_by_discrete > trials * 9 / 10);
}

static void near_misses_are_certified(void **state) {
    (void)state;
    rg_random random = rg_random_make(6);
    int hits = 0, misses = 0;
    for (int i = 0; i < 600; i++) {
        trial t = random_trial(&random, i % 3);
        /* Past the edge of the pane, near it. */
        t.bullet_motion.start.position.x += rg_random_between(&random, 0.3, 0.9);
        rg_path bullet = rg_path_linear(&t.bullet_motion), pane = rg_path_linear(&t.pane_motion);
        double end = 0.004;
        rg_first_contact_settings settings = rg_first_contact_settings_default(1e-8);
        rg_first_contact impact;
        assert_int_equal(rg_first_contact_between((rg_moving_shape){t.pane, &pane},
                                                  (rg_moving_shape){t.bullet, &bullet}, 0, end,
                                                  &settings, &impact),
                         RG_OK);
        if (impact.result == RG_FIRST_CONTACT_NONE) {
            misses++;
            for (int k = 0; k <= 400; k++)
                assert_true(gap_of(t.pane, &pane, t.bullet, &bullet, end * k / 400) > 0);
        } else {
            hits++;
            assert_int_equal(impact.result, RG_FIRST_CONTACT_HIT);
            for (int k = 0; k <= 400; k++)
                assert_true(gap_of(t.pane, &pane, t.bullet, &bullet, impact.time * k / 400) > 0);
        }
        rg_shape_release(t.bullet);
        rg_shape_release(t.pane);
    }
    print_message("%d hits, %d misses\n", hits, misses);
    assert_true(hits > 50 && misses > 50);
}

/* Spinning so fast that the tips outrun the approach: no proof by monotony, the safe advance has to
 * do it alone, and does. */
static void slow_whirls_are_caught(void **state) {
    (void)state;
    rg_random random = rg_random_make(8);
    uint64_t advances = 0;
    int trials = 200;
    for (int i = 0; i < trials; i++) {
        trial t = random_trial(&random, 1 + i % 2);
        t.bullet_motion.velocity = rg_scale(0.02, t.bullet_motion.velocity);
        t.bullet_motion.start.position = rg_scale(0.3, t.bullet_motion.start.position);
        rg_path bullet = rg_path_linear(&t.bullet_motion), pane = rg_path_linear(&t.pane_motion);
        rg_first_contact_settings settings = rg_first_contact_settings_default(1e-8);
        rg_first_contact impact;
        assert_int_equal(rg_first_contact_between((rg_moving_shape){t.pane, &pane},
                                                  (rg_moving_shape){t.bullet, &bullet}, 0, 0.2,
                                                  &settings, &impact),
                         RG_OK);
        assert_true(impact.result == RG_FIRST_CONTACT_HIT ||
                    impact.result == RG_FIRST_CONTACT_TOUCHING);
        for (int k = 0; k < 500 && impact.result == RG_FIRST_CONTACT_HIT; k++)
            assert_true(gap_of(t.pane, &pane, t.bullet, &bullet, impact.time * k / 500) > 0);
        advances += impact.advances;
        rg_shape_release(t.bullet);
        rg_shape_release(t.pane);
    }
    print_message("%.0f advances each\n", (double)advances / trials);
}

static void touching_and_parting(void **state) {
    (void)state;
    rg_shape *cube = shape_of(rg_shape_def_box(1, 1, 1));
    rg_linear_motion a = {.start = at(0, 0, 0)}, b = {.start = at(0, 0, 1), .velocity = {0, 0, 1}};
    rg_path pa = rg_path_linear(&a), pb = rg_path_linear(&b);
    rg_first_contact_settings settings = rg_first_contact_settings_default(1e-9);
    rg_first_contact impact;
    assert_int_equal(rg_first_contact_between((rg_moving_shape){cube, &pa},
                                              (rg_moving_shape){cube, &pb}, 0, 1, &settings,
                                              &impact),
                     RG_OK);
    assert_int_equal(impact.result, RG_FIRST_CONTACT_TOUCHING);
    b.start = at(0, 0, 1.1);
    assert_int_equal(rg_first_contact_between((rg_moving_shape){cube, &pa},
                                              (rg_moving_shape){cube, &pb}, 0, 1, &settings,
                                              &impact),
                     RG_OK);
    assert_int_equal(impact.result, RG_FIRST_CONTACT_NONE);
    /* Gliding past at a small distance: nothing, and cheaply so. */
    b.velocity = (rg_vec3){50, 0, 0};
    b.start = at(-20, 0, 1.0001);
    assert_int_equal(rg_first_contact_between((rg_moving_shape){cube, &pa},
                                              (rg_moving_shape){cube, &pb}, 0, 1, &settings,
                                              &impact),
                     RG_OK);
    assert_int_equal(impact.result, RG_FIRST_CONTACT_NONE);
    assert_true(impact.advances < 100);
    /* Out of advances: early, never late. */
    b.velocity = (rg_vec3){0, 0, -1};
    b.angular_velocity = (rg_vec3){30, 0, 0};
    b.start = at(0, 0, 3);
    settings.advance_limit = 2;
    assert_int_equal(rg_first_contact_between((rg_moving_shape){cube, &pa},
                                              (rg_moving_shape){cube, &pb}, 0, 5, &settings,
                                              &impact),
                     RG_OK);
    assert_int_equal(impact.result, RG_FIRST_CONTACT_LIMIT);
    assert_true(impact.time > 0 && impact.time < 2 && impact.growth.gap > 0);
    settings.tolerance = 0;
    assert_int_equal(rg_first_contact_between((rg_moving_shape){cube, &pa},
                                              (rg_moving_shape){cube, &pb}, 0, 5, &settings,
                                              &impact),
                     RG_INVALID_ARGUMENT);
    rg_shape_release(cube);
}

static rg_quat perturbed(rg_random *random, rg_quat q) {
    rg_vec3 u = rg_scale(0.2, rg_random_direction(random));
    return (rg_quat){q.x + u.x, q.y + u.y, q.z + u.z, q.w};
}

/* The bounds of a polynomial path hold at sampled times; tighter stretches give tighter bounds. */
static void polynomial_bounds_hold(void **state) {
    (void)state;
    rg_random random = rg_random_make(9);
    for (int trial_number = 0; trial_number < 200; trial_number++) {
        rg_polynomial_motion m = {.begin = 1,
                                  .step = 0.5,
                                  .degree = 1 + trial_number % RG_PATH_DEGREE_MAX,
                                  .shape_pose = at(0.3, -0.2, 0.1)};
        rg_quat q = rg_random_rotation(&random);
        for (int i = 0; i <= m.degree; i++) {
            m.position[i] = rg_random_direction(&random);
            m.orientation[i] = perturbed(&random, q);
        }
        rg_path path = rg_path_polynomial(&m);
        rg_vec3 n = rg_random_direction(&random);
        double begin = rg_random_between(&random, 1, 1.4),
               end = rg_random_between(&random, begin, 1.5);
        double least, most, spin, h = 1e-6;
        path.bound(path.user, begin, end, n, &least, &most, &spin);
        double swing = path.axis_bound(path.user, begin, end, n);
        for (int k = 0; k <= 20; k++) {
            double t = begin + (end - begin) * k / 20;
            rg_pose p0, p1;
            path.pose(path.user, t - h, &p0);
            path.pose(path.user, t + h, &p1);
            rg_vec3 v = rg_scale(0.5 / h, rg_sub(rg_pose_apply(p1, path.reference),
                                                 rg_pose_apply(p0, path.reference)));
            assert_true(rg_dot(n, v) >= least - 1e-6 && rg_dot(n, v) <= most + 1e-6);
            rg_quat turn = rg_quat_multiply(p1.orientation, rg_quat_conjugate(p0.orientation));
            double rate = rg_length((rg_vec3){turn.x, turn.y, turn.z}) / h;
            assert_true(rate <= spin + 1e-6);
            rg_vec3 moved = rg_sub(rg_rotate(p1.orientation, n), rg_rotate(p0.orientation, n));
            assert_true(0.5 / h * rg_length(moved) <= swing + 1e-6);
        }
    }
}

/* A polynomial motion of a body that falls, or stays, and turns by up to about half a radian. */
static rg_polynomial_motion tumble(rg_random *random, double height, double fall, int degree) {
    rg_polynomial_motion m = {.begin = 2, .step = 0.1, .degree = degree};
    rg_quat q = rg_random_rotation(random);
    rg_vec3 turn = rg_scale(rg_random_between(random, 0, 0.3), rg_random_direction(random));
    m.shape_pose =
        (rg_pose){rg_scale(0.1, rg_random_direction(random)), rg_random_rotation(random)};
    for (int i = 0; i <= degree; i++) {
        rg_vec3 u = rg_scale(0.01, rg_random_direction(random));
        u = rg_add_scaled(u, (double)i / degree, turn);
        double x = 0.1 * i / degree, lift = rg_random_between(random, -0.02, 0.02);
        m.position[i] = (rg_vec3){x, -0.5 * x, height - fall * i / degree + lift};
        m.orientation[i] = (rg_quat){q.x + u.x, q.y + u.y, q.z + u.z, q.w};
    }
    return m;
}

/* Hulls that tumble on or past a half-space and a box along polynomials: no sample before the time
 * that is found, or in the whole stretch, is nearer than contact; the answer is within the
 * tolerance. */
static void tumbling_is_never_late(void **state) {
    (void)state;
    static const rg_vec3 stone[] = {{0.3, 0, 0},          {-0.25, 0.05, 0.1}, {0, 0.3, -0.05},
                                    {0.05, -0.28, 0.08},  {0, 0.06, 0.24},    {0.1, 0, -0.22},
                                    {-0.15, -0.15, -0.15}};
    rg_random random = rg_random_make(21);
    rg_shape *grounds[] = {shape_of(rg_shape_def_halfspace((rg_vec3){0, 0, 1}, 0)),
                           shape_of(rg_shape_def_box(3, 3, 2))};
    rg_linear_motion rest[] = {{.start = at(0, 0, 0)}, {.start = at(0, 0, -1)}};
    rg_shape *bodies[] = {shape_of(rg_shape_def_box(0.4, 0.3, 0.2)),
                          shape_of(rg_shape_def_hull(stone, 7))};
    int hits = 0, misses = 0, cases = test_cases(400, 20000);
    for (int i = 0; i < cases; i++) {
        double height = rg_random_between(&random, 0.3, 0.6);
        double fall = rg_random_between(&random, 0, 0.3);
        rg_polynomial_motion m = tumble(&random, height, fall, 2 + i % 7);
        rg_path still = rg_path_linear(&rest[i % 2]), path = rg_path_polynomial(&m);
        rg_moving_shape ground = {grounds[i % 2], &still}, body = {bodies[i / 2 % 2], &path};
        rg_first_contact_settings settings = rg_first_contact_settings_default(1e-9);
        rg_first_contact found;
        assert_int_equal(rg_first_contact_between(ground, body, 2, 2.1, &settings, &found), RG_OK);
        if (found.result == RG_FIRST_CONTACT_TOUCHING)
            continue;
        bool hit = found.result == RG_FIRST_CONTACT_HIT;
        assert_true(hit || found.result == RG_FIRST_CONTACT_NONE);
        for (int k = 0; k <= 200; k++) {
            rg_pose pose;
            rg_growth growth;
            path.pose(path.user, 2 + (found.time - 2) * k / 200, &pose);
            assert_int_equal(
                rg_growth_between(ground.shape, rest[i % 2].start, body.shape, pose, NULL, &growth),
                RG_OK);
            assert_true(growth.gap > 0);
            assert_true(!(hit && k == 200) || growth.gap <= 1e-9);
        }
        hits += hit;
        misses += !hit;
    }
    print_message("tumbling: %d meet, %d do not\n", hits, misses);
    assert_true(hits > cases / 8 && misses > cases / 8);
    for (int i = 0; i < 2; i++) {
        rg_shape_release(grounds[i]);
        rg_shape_release(bodies[i]);
    }
}

/* A stone that has touched the ground at a corner and turns away from it: the search takes few
 * advances, although the gap is small for as fast as it turns. */
static void turning_away_is_seen(void **state) {
    (void)state;
    rg_shape *ground = shape_of(rg_shape_def_halfspace((rg_vec3){0, 0, 1}, 0));
    rg_shape *cube = shape_of(rg_shape_def_box(0.2, 0.2, 0.2));
    rg_linear_motion rest = {.start = at(0, 0, 0)};
    rg_path still = rg_path_linear(&rest);
    rg_quat tilt = rg_quat_of_rotation_vector((rg_vec3){0.3, 0.2, 0});
    double lowest = INFINITY;
    for (int i = 0; i < 8; i++) {
        rg_vec3 corner = {i & 1 ? 0.1 : -0.1, i & 2 ? 0.1 : -0.1, i & 4 ? 0.1 : -0.1};
        lowest = fmin(lowest, rg_rotate(tilt, corner).z);
    }
    /* It spins about the vertical through its centre, and rises by 1 mm/s. */
    rg_polynomial_motion m = {.step = 0.01, .degree = 4, .shape_pose = at(0, 0, 0)};
    for (int i = 0; i <= 4; i++) {
        rg_quat turn = rg_quat_of_rotation_vector((rg_vec3){0, 0, 0.02 * i});
        m.position[i] = (rg_vec3){0, 0, 2e-9 - lowest + 1e-5 * i / 4};
        m.orientation[i] = rg_quat_multiply(turn, tilt);
    }
    rg_path path = rg_path_polynomial(&m);
    rg_first_contact_settings settings = rg_first_contact_settings_default(1e-9);
    rg_first_contact found;
    assert_int_equal(rg_first_contact_between((rg_moving_shape){ground, &still},
                                              (rg_moving_shape){cube, &path}, 0, 0.01, &settings,
                                              &found),
                     RG_OK);
    print_message("turning away: result %d, %u advances\n", (int)found.result,
                  (unsigned)found.advances);
    assert_int_equal(found.result, RG_FIRST_CONTACT_NONE);
    assert_true(found.advances <= 100);
    rg_shape_release(cube);
    rg_shape_release(ground);
}

/* A capsule, a cylinder and a cone that spin about their own axes, and a ball about any, meet a
 * plate when those that do not spin do, and the search takes as many advances, few. */
static void spinning_about_an_axis_moves_nothing(void **state) {
    (void)state;
    rg_shape *plate = shape_of(rg_shape_def_box(4, 4, 0.1));
    rg_shape *bodies[] = {
        shape_of(rg_shape_def_capsule(0.0005, 0.1)), shape_of(rg_shape_def_cylinder(0.0005, 0.1)),
        shape_of(rg_shape_def_cone(0.0005, 0.1)), shape_of(rg_shape_def_sphere(0.05))};
    rg_linear_motion rest = {.start = at(0, 0, -0.05)};
    rg_path still = rg_path_linear(&rest);
    for (int b = 0; b < 4; b++) {
        rg_first_contact impact[2];
        for (int k = 0; k < 2; k++) {
            rg_linear_motion motion = {.start = at(0, 0, 0.1), .velocity = {0, 0, -1}};
            motion.start.orientation = rg_quat_of_rotation_vector((rg_vec3){1.2, 0, 0});
            motion.angular_velocity =
                rg_rotate(motion.start.orientation, (rg_vec3){0, 0, k ? 7e4 : 0});
            rg_path path = rg_path_linear(&motion);
            rg_first_contact_settings settings = rg_first_contact_settings_default(1e-9);
            assert_int_equal(rg_first_contact_between((rg_moving_shape){plate, &still},
                                                      (rg_moving_shape){bodies[b], &path}, 0, 1,
                                                      &settings, &impact[k]),
                             RG_OK);
            assert_int_equal(impact[k].result, RG_FIRST_CONTACT_HIT);
        }
        assert_near(impact[1].time, impact[0].time, 2e-9);
        assert_true(impact[1].advances <= 20);
        rg_shape_release(bodies[b]);
    }
    rg_shape_release(plate);
}

/* Bernstein coefficients of t^3 c[3] + t^2 c[2] + t c[1] + c[0] over [0, T]. */
static void bernstein(const double c[4], double T, double out[4]) {
    double a1 = c[1] * T, a2 = c[2] * T * T, a3 = c[3] * T * T * T;
    out[0] = c[0];
    out[1] = c[0] + a1 / 3;
    out[2] = c[0] + 2 * a1 / 3 + a2 / 3;
    out[3] = c[0] + a1 + a2 + a3;
}

/* A ball that dips into the floor, comes out of it and falls for good: its height is
 * (a - t) (b - t) (c - t), and the first contact is at a, whichever of both is named first. */
static void the_first_of_three_roots(void **state) {
    (void)state;
    rg_shape *floor = shape_of(rg_shape_def_halfspace((rg_vec3){0, 0, 1}, 0));
    rg_shape *ball = shape_of(rg_shape_def_sphere(0.1));
    rg_linear_motion rest = {.start = at(0, 0, 0)};
    rg_path still = rg_path_linear(&rest);
    rg_random random = rg_random_make(31);
    for (int i = 0; i < 300; i++) {
        double a = i ? rg_random_between(&random, 0.5, 1) : 1;
        double b = a + (i ? rg_random_between(&random, 0.02, 0.3) : 0.1);
        double c = b + (i ? rg_random_between(&random, 0.1, 1) : 0.9);
        double T = c + (i ? rg_random_between(&random, 0.1, 0.5) : 0.2), height[4];
        bernstein((double[]){a * b * c, -(a * b + b * c + c * a), a + b + c, -1}, T, height);
        rg_polynomial_motion m = {.begin = 0, .step = T, .degree = 3, .shape_pose = at(0, 0, 0)};
        for (int k = 0; k < 4; k++) {
            m.position[k] = (rg_vec3){0, 0, 0.1 + height[k]};
            m.orientation[k] = (rg_quat){0, 0, 0, 1};
        }
        rg_path path = rg_path_polynomial(&m);
        rg_moving_shape body = {ball, &path}, ground = {floor, &still};
        rg_first_contact_settings settings = rg_first_contact_settings_default(1e-10);
        for (int order = 0; order < 2; order++) {
            rg_first_contact found;
            assert_int_equal(rg_first_contact_between(order ? ground : body, order ? body : ground,
                                                      0, T, &settings, &found),
                             RG_OK);
            assert_int_equal(found.result, RG_FIRST_CONTACT_HIT);
            assert_true(found.time < a && found.time > a - 1e-7);
        }
    }
    rg_shape_release(floor);
    rg_shape_release(ball);
}

/* The tip of a spike that is thin and long, and nothing of it on the other side of its origin,
 * cuts through a ball on a straight way that begins and ends beside it: the tip is at (d, y, 0)
 * and meets the ball where d^2 + y^2 = r^2. */
static void a_spike_cuts_a_corner(void **state) {
    (void)state;
    static const rg_vec3 corners[] = {{0, 0, 0}, {1, 0.1, -0.1}, {1, -0.1, -0.1}, {1, 0, 0.1}};
    rg_shape *ball = shape_of(rg_shape_def_sphere(0.3));
    for (int order = 0; order < 2; order++)
        for (int side = 0; side < 2; side++)
            for (int shift = 0; shift < 3; shift++) {
                double d = 0.22, way = side ? -1 : 1, origin = 0.5 * shift;
                /* its frame's origin: at the tip, in the middle, at the other end */
                rg_vec3 moved[4];
                for (int k = 0; k < 4; k++)
                    moved[k] = rg_sub(corners[k], (rg_vec3){origin, 0, 0});
                rg_shape *thorn = shape_of(rg_shape_def_hull(moved, 4));
                rg_linear_motion rest = {.start = at(0, 0, 0)};
                rg_linear_motion fly = {.start = at(d + origin, -0.21 * way, 0),
                                        .velocity = {0, way, 0}};
                rg_path still = rg_path_linear(&rest), path = rg_path_linear(&fly);
                rg_moving_shape one = {ball, &still}, two = {thorn, &path};
                rg_first_contact_settings settings = rg_first_contact_settings_default(1e-9);
                rg_first_contact found;
                assert_int_equal(rg_first_contact_between(order ? two : one, order ? one : two, 0,
                                                          0.42, &settings, &found),
                                 RG_OK);
                assert_int_equal(found.result, RG_FIRST_CONTACT_HIT);
                assert_near(found.time, 0.21 - sqrt(0.09 - d * d), 1e-8);
                rg_shape_release(thorn);
            }
    rg_shape_release(ball);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ball_from_one_metre),
        cmocka_unit_test(bullets_do_not_pass_panes),
        cmocka_unit_test(near_misses_are_certified),
        cmocka_unit_test(slow_whirls_are_caught),
        cmocka_unit_test(touching_and_parting),
        cmocka_unit_test(polynomial_bounds_hold),
        cmocka_unit_test(tumbling_is_never_late),
        cmocka_unit_test(turning_away_is_seen),
        cmocka_unit_test(spinning_about_an_axis_moves_nothing),
        cmocka_unit_test(the_first_of_three_roots),
        cmocka_unit_test(a_spike_cuts_a_corner),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
