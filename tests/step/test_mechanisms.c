/* Random mechanisms: trees and loops of 2 to 20 bodies with all kinds of joints, limits, springs,
 * motors, friction, armatures and contacts, from fixed seeds. Joints stay closed, the ledger
 * closes, momenta balance, and the bits are the same on one and two threads and from a snapshot.
 * By both methods. Momentum is not looked at in steps where tension adds inertia
 * (step_joints_rows.c), which takes of it.
 * Jams of contacts between joined bodies may leave a solve above its tolerance: in few
 * mechanisms. */
#include "test_world_support.h"

#define STEP (1.0 / 240)
/* m; relative; relative. */
typedef struct bounds {
    double joint, closure, momentum;
    bool analytic;
} bounds;
static const bounds of_stepping = {1e-9, 1e-8, 1e-11, false},
                    of_analytic = {1e-12, 1e-8, 1e-11, true};
enum { BODIES_MOST = 20, STEPS = 48 };

static double between(rg_random *random, double low, double high) {
    return rg_random_between(random, low, high);
}

static rg_vec3 any_vector(rg_random *random, double size) {
    double x = between(random, -size, size);
    double y = between(random, -size, size);
    double z = between(random, -size, size);
    return rg_vec3_make(x, y, z);
}

/* One thing or another on an axis. */
static void fill_axis(rg_random *random, rg_joint_axis *a, bool angle) {
    uint64_t draw = rg_random_next(random);
    if (draw % 4 == 0)
        a->lower = -0.4, a->upper = 0.6;
    if (draw % 4 == 0 && draw >> 8 & 1)
        a->restitution = 0.5;
    draw >>= 16;
    if (draw % 4 == 0)
        a->stiffness = between(random, 1, 1e4), a->damping = between(random, 0, 10);
    draw >>= 8;
    if (draw % 5 == 0)
        a->friction = between(random, 0, 5);
    if (draw % 5 == 1)
        a->armature = between(random, 0, 2);
    draw >>= 8;
    if (draw % 4 == 0) {
        a->motor = RG_MOTOR_VELOCITY;
        a->target = between(random, -2, 2);
        a->max_force = angle ? 20 : 100;
    } else if (draw % 4 == 1) {
        a->motor = RG_MOTOR_POSITION;
        a->target = between(random, -0.3, 0.3);
        a->gain = 500, a->gain_velocity = 20, a->max_force = 200;
    }
}

static void add_joint(rg_world *world, rg_random *random, rg_body_id a, rg_body_id b,
                      rg_joint_kind kind) {
    rg_joint_def def = rg_joint_def_default(kind);
    rg_joint_id joint;
    def.body_a = a, def.body_b = b;
    rg_vec3 p = rg_body_pose(world, b).position;
    rg_vec3 q = a.index1 ? rg_body_pose(world, a).position : rg_vec3_make(p.x, p.y, p.z + 0.5);
    rg_vec3 axis = any_vector(random, 1);
    if (rg_world_is_planar(world))
        axis = kind == RG_JOINT_HINGE ? rg_vec3_make(0, 1, 0) : rg_vec3_make(axis.x, 0, 1);
    assert_int_equal(rg_joint_def_place(world, &def, rg_scale(0.5, rg_add(p, q)), axis), RG_OK);
    for (size_t k = 0; k < rg_joint_axis_count(kind) && kind != RG_JOINT_DISTANCE; k++)
        fill_axis(random, &def.axis[k], rg_joint_axis_is_angle(kind, k));
    if (kind == RG_JOINT_DISTANCE) {
        def.frame_a.position = a.index1 ? rg_vec3_make(0, 0, 0) : q;
        def.frame_b.position = rg_vec3_make(0, 0, 0);
        def.axis[0].upper = rg_length(rg_sub(p, q));
        def.axis[0].lower = rg_random_next(random) % 2 ? def.axis[0].upper : 0;
    }
    def.collide = rg_random_next(random) % 4 == 0;
    rg_error error;
    if (rg_world_add_joint(world, &def, &joint, &error))
        fail_msg("%s", error.text);
}

static rg_joint_kind any_kind(rg_random *random, bool planar) {
    static const rg_joint_kind plane[] = {RG_JOINT_HINGE, RG_JOINT_SLIDER, RG_JOINT_FIXED,
                                          RG_JOINT_DISTANCE};
    uint64_t draw = rg_random_next(random);
    return planar ? plane[draw % 4] : (rg_joint_kind)(draw % RG_JOINT_SURFACE);
}

/* Bodies 0.6 m apart on a grid, most of them above a floor that some reach. */
static rg_world *make_mechanism(uint64_t seed, int threads, const char *method) {
    rg_random random = rg_random_make(seed);
    rg_world_def def = rg_world_def_default();
    def.planar = seed % 4 == 3;
    def.threads = threads;
    def.method = rg_method_find(method);
    def.settings.hand_over = false;
    rg_world *world = world_of(&def);
    rg_body_def floor = rg_body_def_default();
    floor.motion = RG_MOTION_FIXED;
    add_shape(world, rg_shape_def_halfspace(rg_vec3_make(0, 0, 1), 0), &floor);
    size_t count = 2 + (size_t)(rg_random_next(&random) % (BODIES_MOST - 1));
    rg_body_id body[BODIES_MOST];
    for (size_t i = 0; i < count; i++) {
        rg_body_def b = rg_body_def_default();
        double x = 0.6 * (double)(i % 5), y = def.planar ? 0 : 0.6 * (double)(i / 5 % 2);
        b.pose.position = rg_vec3_make(x, y, 0.35 + 0.6 * (double)(i / (def.planar ? 5 : 10)));
        double edge = between(&random, 0.1, 0.4);
        body[i] = def.planar ? add_shape(world, rg_shape_def_disc(0.5 * edge), &b)
                             : add_shape(world, rg_shape_def_box(edge, 0.2, 0.3), &b);
        size_t other = (size_t)(rg_random_next(&random) % (i + 1));
        rg_body_id a = other == i ? (rg_body_id){0, 0} : body[other];
        add_joint(world, &random, a, body[i], any_kind(&random, def.planar));
    }
    if (seed % 2 == 0 && count > 3) { /* a loop, of a kind that leaves it mobile */
        rg_joint_kind kind = def.planar ? RG_JOINT_HINGE : RG_JOINT_BALL;
        add_joint(world, &random, body[1], body[count - 1], kind);
    }
    return world;
}

typedef struct worst {
    double joint, closure, momentum, residual;
    uint64_t failures, tense;
} worst;

/* May the forces of joints add inertia in the next step: is h^2 / 4 times the stiffness that they
 * give the turning of a body more than OWN of its smallest inertia? */
static bool is_tense(const rg_world *world) {
    const double own = 0.9;
    for (size_t i = 0; i < rg_world_body_count(world); i++) {
        rg_body_id body = rg_world_body_at(world, i);
        double sum = 0;
        if (rg_body_motion(world, body) != RG_MOTION_DYNAMIC)
            continue;
        rg_mat3 inertia = rg_body_mass(world, body).inertia;
        rg_vec3 m = rg_mass_principal_axes(&inertia).moments;
        double least = rg_world_is_planar(world) ? inertia.m[1][1] : fmin(m.x, fmin(m.y, m.z));
        for (size_t j = 0; j < rg_world_joint_count(world); j++) {
            rg_joint_id joint = rg_world_joint_at(world, j);
            rg_joint_def def = rg_joint_get_def(world, joint);
            rg_joint_state s = rg_joint_get_state(world, joint);
            if (def.body_a.index1 == body.index1 || def.body_b.index1 == body.index1)
                sum += rg_length(s.force) *
                       rg_length(rg_sub(s.point, rg_body_centre_pose(world, body).position));
        }
        if (0.25 * STEP * STEP * sum > own * least)
            return true;
    }
    return false;
}

static void note(worst *w, const rg_step_info *info, bool tense) {
    w->joint = fmax(w->joint, info->certificate.joint_error);
    w->closure = fmax(w->closure, info->energy.closure_rel);
    if (!tense)
        w->momentum = fmax(w->momentum, info->certificate.momentum_error);
    w->tense += tense;
    w->residual = fmax(w->residual, info->certificate.complementarity);
    w->failures += info->solver_failures;
}

static void random_mechanisms(void **state) {
    const bounds *most = *state;
    const char *method = most->analytic ? "analytic" : "stepping";
    worst all = {0};
    int failed = 0, unsolved = 0;
    int count = most->analytic ? test_cases(30, 200) : test_cases(100, 400);
    for (uint64_t seed = 1; seed <= (uint64_t)count; seed++) {
        worst w = {0};
        rg_world *one = make_mechanism(seed, 1, method), *two = make_mechanism(seed, 2, method);
        rg_snapshot *snapshot = NULL;
        for (int k = 0; k < STEPS; k++) {
            bool tense = !most->analytic && is_tense(one);
            rg_step_info info = step_once(one, STEP);
            step_once(two, STEP);
            note(&w, &info, tense);
            if (k == STEPS / 2)
                assert_int_equal(rg_snapshot_create(one, &snapshot), RG_OK);
        }
        uint64_t hash = rg_world_state_hash(one);
        assert_true(hash == rg_world_state_hash(two));
        assert_int_equal(rg_world_restore(two, snapshot), RG_OK);
        for (int k = STEPS / 2 + 1; k < STEPS; k++)
            step_once(two, STEP);
        assert_true(hash == rg_world_state_hash(two));
        rg_snapshot_destroy(snapshot);
        rg_world_destroy(one);
        rg_world_destroy(two);
        bool bad = !(w.joint <= most->joint) || !(w.closure <= most->closure) ||
                   !(w.momentum <= most->momentum);
        failed += bad;
        unsolved += w.failures > 0;
        if (bad || w.failures)
            print_message("seed %d: joint %.3g closure %.3g momentum %.3g failures %d (%.3g)\n",
                          (int)seed, w.joint, w.closure, w.momentum, (int)w.failures, w.residual);
        all.joint = fmax(all.joint, w.joint);
        all.closure = fmax(all.closure, w.closure);
        all.momentum = fmax(all.momentum, w.momentum);
        all.tense += w.tense;
    }
    print_message(
        "%s, %d mechanisms: joint error %.3g m, closure %.3g, momentum %.3g (without %d steps "
        "under tension), %d with a failed solve\n",
        method, count, all.joint, all.closure, all.momentum, (int)all.tense, unsolved);
    assert_int_equal(failed, 0);
    assert_true(unsolved <= 1 + count / 50);
    assert_true(all.tense <= (uint64_t)(count * STEPS) / 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(random_mechanisms, (void *)&of_stepping),
        cmocka_unit_test_prestate(random_mechanisms, (void *)&of_analytic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
