/* Rest: bodies that rest do so to the last bit, and a step that can only repeat the one before is
 * not computed (step_rest.c). Worlds with and without that memory agree in every bit, whatever
 * happens to them. */
#include "joint_support.h"
#include "test_world_support.h"

#include "rigor/random.h"
#include "step/step_contacts.h"
#include "step/step_machinery.h"

#define STEP (1.0 / 240)

enum { BOXES = 12, LAST = BOXES - 1 };

typedef struct yard {
    rg_world *world;
    rg_body_id box[BOXES];
    rg_joint_id knee, weld; /* of figures */
    uint64_t repeated;      /* steps that were not computed */
} yard;

/* Two stacks of boxes on a floor, one of them tilted: frames that are not those of the axes. */
static yard make_yard(bool no_memory, int threads) {
    rg_world_def def = rg_world_def_default();
    def.no_memory = no_memory;
    def.threads = threads;
    double tilt = 0.1;
    def.gravity = (rg_vec3){9.81 * sin(tilt), 0, -9.81 * cos(tilt)};
    yard y = {.world = world_of(&def)};
    rg_body_def floor = rg_body_def_default();
    floor.motion = RG_MOTION_FIXED;
    floor.pose.position = (rg_vec3){0, 0, -0.5};
    add_shape(y.world, rg_shape_def_box(20, 20, 1), &floor);
    for (int i = 0; i < BOXES; i++) {
        rg_body_def box = rg_body_def_default();
        double angle = i < BOXES / 2 ? 0 : 0.3;
        box.pose.orientation = (rg_quat){.w = cos(angle), .z = sin(angle)};
        box.pose.position = (rg_vec3){i < BOXES / 2 ? 0 : 3, 0, 0.25 + 0.5 * (i % (BOXES / 2))};
        y.box[i] = add_shape(y.world, rg_shape_def_box(0.8, 0.6, 0.5), &box);
    }
    return y;
}

static void go(yard *y, int steps, double step) {
    for (int i = 0; i < steps; i++) {
        rg_step_info info = step_once(y->world, step);
        y->repeated += info.profile.step == 0;
    }
}

/* Something that a caller does between steps. */
typedef void disturbance(yard *y);

static void nothing(yard *y) {
    (void)y;
}
static void knock(yard *y) {
    assert_int_equal(rg_body_set_velocity(y->world, y->box[LAST], (rg_vec3){0.3, 0, 0}), RG_OK);
}
static void turn_gravity(yard *y) {
    assert_int_equal(rg_world_set_gravity(y->world, (rg_vec3){0, 0, -9}), RG_OK);
}
static void push_once(yard *y) {
    assert_int_equal(rg_body_apply_central_force(y->world, y->box[2], (rg_vec3){0, 5000, 0}),
                     RG_OK);
}
/* Friction holds it: forces change, and nothing else. */
static void lean_against(yard *y) {
    for (int i = 0; i < 10; i++) {
        assert_int_equal(rg_body_apply_central_force(y->world, y->box[2], (rg_vec3){0, 100, 0}),
                         RG_OK);
        go(y, 1, STEP);
    }
    go(y, 1, STEP);
}
static void take_away(yard *y) {
    if (y->box[0].index1 == 0)
        return; /* gone already */
    assert_int_equal(rg_world_remove_body(y->world, y->box[0]), RG_OK);
    y->box[0] = (rg_body_id){0};
}
static void put_aside(yard *y) {
    rg_pose pose = rg_body_pose(y->world, y->box[LAST]);
    pose.position.y += 0.01;
    assert_int_equal(rg_body_set_pose(y->world, y->box[LAST], pose), RG_OK);
}
static void other_length(yard *y) {
    go(y, 3, 0.5 * STEP);
}
static void there_and_back(yard *y) {
    rg_snapshot *snapshot;
    assert_int_equal(rg_snapshot_create(y->world, &snapshot), RG_OK);
    assert_int_equal(rg_body_set_velocity(y->world, y->box[2], (rg_vec3){0.3, 0, 0}), RG_OK);
    go(y, 20, STEP);
    assert_int_equal(rg_world_restore(y->world, snapshot), RG_OK);
    rg_snapshot_destroy(snapshot);
}

static void same_forces(const rg_world *x, const rg_world *y) {
    size_t count, other;
    const rg_contact_force *f = rg_world_contact_forces(x, &count);
    const rg_contact_force *g = rg_world_contact_forces(y, &other);
    assert_int_equal(count, other);
    assert_memory_equal(f, g, count * sizeof *f);
}

/* The same pairs touch, began to and no longer do. */
static void same_touches(const rg_world *x, const rg_world *y) {
    rg_collision_view a = rg_collision_get(rg_world_collision(x)),
                      b = rg_collision_get(rg_world_collision(y));
    assert_int_equal(a.touch_count, b.touch_count);
    assert_int_equal(a.ended_count, b.ended_count);
    for (size_t i = 0; i < a.touch_count; i++) {
        assert_int_equal(a.touches[i].collider_a.index1, b.touches[i].collider_a.index1);
        assert_int_equal(a.touches[i].collider_b.index1, b.touches[i].collider_b.index1);
        assert_int_equal(a.touches[i].touching, b.touches[i].touching);
        assert_int_equal(a.touches[i].began, b.touches[i].began);
    }
}

typedef yard maker(bool no_memory, int threads);

static void compare_memory(maker *make, int steps, disturbance *const *disturbances, size_t count) {
    for (size_t k = 0; k < count; k++) {
        yard with = make(false, 1 + (int)k % 2), without = make(true, 1);
        for (int part = 0; part < 3; part++) {
            go(&with, steps, STEP), go(&without, steps, STEP);
            same_forces(with.world, without.world);
            if (rg_world_state_hash(with.world) != rg_world_state_hash(without.world))
                fail_msg("disturbance %zu, part %d: another state", k, part);
            rg_step_info a = rg_world_summary(with.world), b = rg_world_summary(without.world);
            assert_memory_equal(&a.certificate, &b.certificate, sizeof a.certificate);
            assert_memory_equal(&a.energy, &b.energy, sizeof a.energy);
            assert_int_equal(a.solves, b.solves);
            disturbances[k](&with), disturbances[k](&without);
            same_forces(with.world, without.world);
        }
        assert_int_equal(without.repeated, 0);
        if (!(with.repeated > (uint64_t)steps))
            fail_msg("disturbance %zu: %d steps of %d were not computed", k, (int)with.repeated,
                     3 * steps);
        rg_world_destroy(with.world), rg_world_destroy(without.world);
    }
}

static void memory_changes_no_bit(void **state) {
    (void)state;
    disturbance *const disturbances[] = {nothing,   knock,        turn_gravity,
                                         push_once, lean_against, put_aside,
                                         take_away, other_length, there_and_back};
    compare_memory(make_yard, 60, disturbances, sizeof disturbances / sizeof *disturbances);
}

/* --- some rest while others move -------------------------------------------------------------- */

enum { STACKS = 9, MOVERS = 9 };

static rg_vec3 random_place(rg_random *random, double reach, double low, double high) {
    double x = rg_random_between(random, -reach, reach),
           y = rg_random_between(random, -reach, reach);
    return (rg_vec3){x, y, rg_random_between(random, low, high)};
}

/* Stacks on a floor, and what flies and rolls into them: balls that bounce, boxes, and thin rods
 * that turn so fast that their step is made in parts. */
static rg_world *make_alley(uint64_t seed, bool no_memory, int threads) {
    rg_random random = rg_random_make(seed);
    rg_world_def def = rg_world_def_default();
    def.no_memory = no_memory;
    def.threads = threads;
    rg_world *world = world_of(&def);
    rg_contact_law bouncy = rg_contact_law_default();
    bouncy.restitution = seed % 2 ? 0.6 : 0;
    rg_collider_def collider = rg_collider_def_default();
    assert_int_equal(rg_world_add_material(world, "bouncy", &bouncy, &collider.material, NULL),
                     RG_OK);
    rg_body_def floor = rg_body_def_default();
    floor.motion = RG_MOTION_FIXED;
    add_shape(world, rg_shape_def_halfspace((rg_vec3){0, 0, 1}, 0), &floor);
    for (int i = 0; i < STACKS; i++)
        for (int k = 0; k < 1 + i % 3; k++)
            add_box(world, NULL, (rg_vec3){0.3, 0.2, 0.4},
                    (rg_vec3){i % 3 - 1.0, i / 3 - 1.0, 0.2 + 0.4 * k});
    for (int i = 0; i < MOVERS; i++) {
        rg_body_def body = rg_body_def_default();
        body.pose.position = random_place(&random, 2.5, 0.3, 2);
        rg_vec3 aim = random_place(&random, 1, 0, 0.5);
        body.velocity = rg_scale(rg_random_between(&random, 1, 8),
                                 rg_normalised(rg_sub(aim, body.pose.position)));
        double spin = i % 3 == 2 ? 200 : 5;
        body.angular_velocity = random_place(&random, spin, -spin, spin);
        add_collider(world,
                     i % 3 == 0   ? rg_shape_def_sphere(0.1)
                     : i % 3 == 1 ? rg_shape_def_box(0.2, 0.2, 0.2)
                                  : rg_shape_def_box(0.6, 0.02, 0.02),
                     collider, &body);
    }
    return world;
}

static size_t resting_bodies(const rg_world *world) {
    const rg_islands_at_rest *resting = &((const rg_step_machinery *)world->machinery)->resting;
    size_t count = 0;
    for (size_t i = 0; resting->known && i < resting->bodies; i++)
        count += resting->leader1[i] > 0;
    return count;
}

static void islands_rest_beside_others(void **state) {
    (void)state;
    size_t rested = 0;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        rg_world *with = make_alley(seed, false, 1 + (int)(seed / 2 % 2)),
                 *without = make_alley(seed, true, 1);
        for (int i = 0; i < 300; i++) {
            rg_step_info a = step_once(with, STEP), b = step_once(without, STEP);
            same_forces(with, without);
            same_touches(with, without);
            if (rg_world_state_hash(with) != rg_world_state_hash(without))
                fail_msg("seed %d, step %d: another state", (int)seed, i);
            assert_memory_equal(&a.certificate, &b.certificate, sizeof a.certificate);
            assert_int_equal(a.contacts_max, b.contacts_max);
            assert_int_equal(a.passed_through, b.passed_through);
            rested += resting_bodies(with);
            assert_int_equal(resting_bodies(without), 0);
        }
        rg_world_destroy(with), rg_world_destroy(without);
    }
    assert_true(rested > 6 * 300);
}

/* Of an island whose first pass is rough the answer that is recalled is not: it is solved once. */
static void large_islands_are_recalled_once(void **state) {
    (void)state;
    rg_world *worlds[2];
    for (int k = 0; k < 2; k++) {
        rg_world_def def = rg_world_def_default();
        def.no_memory = k == 1;
        worlds[k] = world_of(&def);
        rg_body_def floor = rg_body_def_default();
        floor.motion = RG_MOTION_FIXED;
        add_shape(worlds[k], rg_shape_def_halfspace((rg_vec3){0, 0, 1}, 0), &floor);
        for (int i = 0; i < 120; i++)
            add_box(worlds[k], NULL, (rg_vec3){0.4, 0.2, 0.2},
                    (rg_vec3){0.41 * (i % 12) + 0.2 * (i / 12 % 2), 0, 0.1 + 0.2 * (i / 12)});
        add_box(worlds[k], NULL, (rg_vec3){0.2, 0.2, 0.2}, (rg_vec3){0, 5, 5}); /* it falls */
    }
    for (int i = 0; i < 6; i++) {
        rg_step_info a = step_once(worlds[0], STEP), b = step_once(worlds[1], STEP);
        same_forces(worlds[0], worlds[1]);
        assert_int_equal(a.solves, b.solves);
    }
    size_t count;
    rg_world_contact_forces(worlds[0], &count);
    assert_true(count > RG_STEP_SMALL && resting_bodies(worlds[0]) == 120);
    rg_world_destroy(worlds[0]), rg_world_destroy(worlds[1]);
}

/* A wall that stands, and a ball that rolls along its top: all of it is one island, and solved in
 * every step. */
static rg_world *make_wall_with_ball(rg_body_id *bricks, int threads) {
    rg_world_def def = rg_world_def_default();
    def.threads = threads;
    rg_world *world = world_of(&def);
    rg_body_def floor = rg_body_def_default();
    floor.motion = RG_MOTION_FIXED;
    add_shape(world, rg_shape_def_halfspace((rg_vec3){0, 0, 1}, 0), &floor);
    for (int i = 0; i < 120; i++)
        bricks[i] =
            add_box(world, NULL, (rg_vec3){0.4, 0.2, 0.2},
                    (rg_vec3){0.41 * (i % 12) + 0.2 * (i / 12 % 2), 0, 0.1 + 0.2 * (i / 12)});
    rg_body_def ball = rg_body_def_default();
    ball.pose.position = (rg_vec3){1, 0.01, 2.05};
    ball.velocity = (rg_vec3){0.5, 0, 0};
    ball.angular_velocity = (rg_vec3){0, 10, 0};
    add_shape(world, rg_shape_def_sphere(0.05), &ball);
    return world;
}

/* Below it nothing moves by more than rounding, though all of it is solved in every step. */
static void what_holds_stays_where_it_is(void **state) {
    (void)state;
    rg_body_id bricks[2][120];
    rg_world *worlds[2];
    for (int k = 0; k < 2; k++)
        worlds[k] = make_wall_with_ball(bricks[k], 1 + k);
    for (int i = 0; i < 30; i++)
        step_once(worlds[0], STEP), step_once(worlds[1], STEP);
    rg_vec3 before[120];
    for (int i = 0; i < 120; i++)
        before[i] = rg_body_pose(worlds[0], bricks[0][i]).position;
    for (int i = 0; i < 120; i++) {
        rg_step_info a = step_once(worlds[0], STEP), b = step_once(worlds[1], STEP);
        assert_int_equal(a.solver_failures, 0);
        assert_memory_equal(&a.certificate, &b.certificate, sizeof a.certificate);
        assert_true(rg_world_state_hash(worlds[0]) == rg_world_state_hash(worlds[1]));
    }
    for (int i = 0; i < 120; i++) {
        rg_vec3 after = rg_body_pose(worlds[0], bricks[0][i]).position;
        assert_true(rg_length(rg_sub(after, before[i])) < 1e-12);
    }
    size_t count;
    rg_world_contact_forces(worlds[0], &count);
    assert_true(count > RG_STEP_SMALL);
    rg_world_destroy(worlds[0]), rg_world_destroy(worlds[1]);
}

/* A tower on a floor in weak gravity, and far away a ball that comes over another floor, so fast
 * that all speeds are relative to its own while it is there. */
static rg_world *make_far_ball(bool no_memory) {
    rg_world_def def = rg_world_def_default();
    def.no_memory = no_memory;
    def.gravity = (rg_vec3){0, 0, -0.01};
    rg_world *world = world_of(&def);
    rg_body_def body = rg_body_def_default();
    body.motion = RG_MOTION_FIXED;
    for (int i = 0; i < 2; i++) {
        body.pose.position = (rg_vec3){0, 100 * i, -0.5};
        add_shape(world, rg_shape_def_box(10, 10, 1), &body);
    }
    for (int k = 0; k < 3; k++)
        add_box(world, NULL, (rg_vec3){0.5, 0.4, 0.4},
                (rg_vec3){0.013 * k, 0.01 * k, 0.2 + 0.4 * k});
    body = rg_body_def_default();
    body.pose.position = (rg_vec3){-6, 100, 0.1001};
    body.velocity = (rg_vec3){50, 0, -1e-3};
    add_shape(world, rg_shape_def_sphere(0.1), &body);
    return world;
}

/* Residuals are relative to the speeds of the world: who rests is judged by them anew. */
static void fast_bodies_change_what_is_rest(void **state) {
    (void)state;
    rg_world *with = make_far_ball(false), *without = make_far_ball(true);
    size_t rested = 0, ended = 0;
    for (int i = 0; i < 300; i++) {
        size_t before = i > 0 ? resting_bodies(with) : 0;
        rg_step_info a = step_once(with, 1e-3), b = step_once(without, 1e-3);
        same_forces(with, without);
        assert_int_equal(rg_world_state_hash(with), rg_world_state_hash(without));
        assert_memory_equal(&a.certificate, &b.certificate, sizeof a.certificate);
        rested += resting_bodies(with);
        ended += resting_bodies(with) < before;
    }
    assert_true(rested > 3 * 30 && ended > 0);
    rg_world_destroy(with), rg_world_destroy(without);
}

/* An island that rests is told like any other: touches, forces and solves; an edit ends it. */
static void what_rests_is_told(void **state) {
    (void)state;
    rg_world *world = make_alley(2, false, 1);
    size_t count, before;
    step_world(world, STEP, 3);
    rg_world_contact_forces(world, &before);
    for (int i = 0; i < 5; i++)
        step_once(world, STEP);
    rg_world_contact_forces(world, &count);
    assert_true(resting_bodies(world) > 0);
    assert_true(count >= 4 * STACKS && before >= 4 * STACKS);
    rg_collision_view view = rg_collision_get(rg_world_collision(world));
    size_t touching = 0;
    for (size_t k = 0; k < view.touch_count; k++)
        touching += view.touches[k].touching;
    assert_true(touching >= STACKS);
    assert_int_equal(rg_world_set_gravity(world, (rg_vec3){0, 0, -9}), RG_OK);
    step_once(world, STEP);
    assert_int_equal(resting_bodies(world), 0);
    rg_world_destroy(world);
}

/* --- joints ----------------------------------------------------------------------------------- */

/* A leg that stands by the motor of its ankle with a weight welded to it, beside its middle, and a
 * chain of three that hangs. */
static yard make_figure(bool no_memory, int threads) {
    rg_world_def def = rg_world_def_default();
    def.no_memory = no_memory;
    def.threads = threads;
    yard y = {.world = world_of(&def)};
    rg_body_def floor = rg_body_def_default();
    floor.motion = RG_MOTION_FIXED;
    add_shape(y.world, rg_shape_def_halfspace((rg_vec3){0, 0, 1}, 0), &floor);
    y.box[0] = add_box(y.world, NULL, (rg_vec3){0.4, 0.3, 0.1}, (rg_vec3){0, 0, 0.05});
    y.box[1] = add_box(y.world, NULL, (rg_vec3){0.1, 0.1, 0.4}, (rg_vec3){0, 0, 0.3});
    y.box[2] = add_box(y.world, NULL, (rg_vec3){0.2, 0.2, 0.2}, (rg_vec3){0.02, 0, 0.6});
    rg_joint_def hinge = between(RG_JOINT_HINGE, y.box[0], y.box[1]);
    hinge.axis[0].motor = RG_MOTOR_POSITION;
    hinge.axis[0].gain = 1e4, hinge.axis[0].gain_velocity = 400;
    y.knee = join(y.world, hinge, (rg_vec3){0, 0, 0.1}, y_axis);
    y.weld =
        join(y.world, between(RG_JOINT_FIXED, y.box[1], y.box[2]), (rg_vec3){0, 0, 0.5}, z_axis);
    for (int i = 3; i < 6; i++) {
        double z = 3 - 0.5 * (i - 3);
        y.box[i] = add_box(y.world, NULL, (rg_vec3){0.1, 0.1, 0.5}, (rg_vec3){2, 0, z - 0.25});
        rg_joint_def ball = between(RG_JOINT_BALL, i > 3 ? y.box[i - 1] : the_world, y.box[i]);
        join(y.world, ball, (rg_vec3){2, 0, z}, z_axis);
    }
    return y;
}

static void other_target(yard *y) {
    assert_int_equal(rg_joint_set_target(y->world, y->knee, 0, 0.02), RG_OK);
}
static void pull_weight(yard *y) {
    assert_int_equal(rg_body_apply_central_force(y->world, y->box[2], (rg_vec3){0, 500, 0}), RG_OK);
}
static void drop_weight(yard *y) {
    if (rg_joint_exists(y->world, y->weld))
        assert_int_equal(rg_world_remove_joint(y->world, y->weld), RG_OK);
}
static void break_weld(yard *y) {
    assert_int_equal(rg_joint_set_broken(y->world, y->weld, true), RG_OK);
}
static void push_for_a_time(yard *y) {
    rg_force_def push = rg_force_def_default(RG_FORCE_CONSTANT);
    rg_force_id force;
    push.body = y->box[2];
    push.of_time[RG_OF_TIME_FORCE] = "5*sin(40*t)";
    assert_int_equal(rg_world_add_force(y->world, &push, &force, NULL), RG_OK);
    uint64_t repeated = y->repeated;
    go(y, 30, STEP);
    assert_int_equal(y->repeated, repeated);
    assert_int_equal(rg_world_remove_force(y->world, force), RG_OK);
}
static void drive(yard *y) {
    rg_joint_axis axis = rg_joint_get_def(y->world, y->knee).axis[0], still = axis;
    axis.target_of_time = "0.01*sin(20*t)";
    assert_int_equal(rg_joint_set_axis(y->world, y->knee, 0, &axis, NULL), RG_OK);
    uint64_t repeated = y->repeated;
    go(y, 30, STEP);
    assert_int_equal(y->repeated, repeated);
    assert_int_equal(rg_joint_set_axis(y->world, y->knee, 0, &still, NULL), RG_OK);
}

/* What stands and hangs by joints rests like everything else, wakes, and rests again. */
static void joints_rest(void **state) {
    (void)state;
    disturbance *const disturbances[] = {nothing,     other_target, pull_weight,
                                         drop_weight, break_weld,   push_for_a_time,
                                         drive,       other_length, there_and_back};
    compare_memory(make_figure, 720, disturbances, sizeof disturbances / sizeof *disturbances);
}

/* At rest means that no bit of a pose or velocity changes, and the judge finds nothing but
 * rounding. */
static void rest_is_exact(void **state) {
    (void)state;
    yard y = make_yard(true, 1);
    go(&y, 30, STEP);
    rg_vec3 before[BOXES];
    for (int i = 0; i < BOXES; i++)
        before[i] = rg_body_pose(y.world, y.box[i]).position;
    go(&y, 480, STEP);
    for (int i = 0; i < BOXES; i++) {
        rg_vec3 after = rg_body_pose(y.world, y.box[i]).position;
        rg_vec3 v = rg_body_velocity(y.world, y.box[i]);
        assert_memory_equal(&before[i], &after, sizeof after);
        assert_true(v.x == 0 && v.y == 0 && v.z == 0);
    }
    rg_step_info summary = rg_world_summary(y.world);
    assert_true(summary.certificate.max_penetration < 1e-13);
    assert_true(summary.certificate.momentum_error < 1e-12);
    rg_world_destroy(y.world);
}

/* Events are those of a step that was computed: what goes on touching is told in every step. */
static void events_go_on(void **state) {
    (void)state;
    yard y = make_yard(false, 1);
    go(&y, 100, STEP);
    uint64_t repeated = y.repeated;
    for (int i = 0; i < 5; i++) {
        go(&y, 1, STEP);
        rg_collision_view view = rg_collision_get(rg_world_collision(y.world));
        size_t touching = 0;
        for (size_t k = 0; k < view.touch_count; k++) {
            touching += view.touches[k].touching;
            assert_false(view.touches[k].began);
        }
        assert_int_equal(touching, BOXES);
        size_t forces;
        rg_world_contact_forces(y.world, &forces);
        assert_int_equal(forces, 4 * BOXES);
    }
    assert_int_equal(y.repeated, repeated + 5);
    rg_world_destroy(y.world);
}

/* Pairs that stand still keep their points (contact_world.c). A clone has found none yet, and makes
 * the same step. */
static void clones_find_the_same(void **state) {
    (void)state;
    disturbance *const disturbances[] = {nothing,   knock,     push_once,   lean_against,
                                         put_aside, take_away, other_length};
    yard y = make_yard(true, 1);
    for (size_t k = 0; k < sizeof disturbances / sizeof *disturbances; k++) {
        for (int i = 0; i < 40; i++) {
            rg_world *clone;
            assert_int_equal(rg_world_clone(y.world, &clone), RG_OK);
            step_once(clone, STEP), step_once(y.world, STEP);
            assert_true(rg_world_state_hash(clone) == rg_world_state_hash(y.world));
            same_forces(clone, y.world);
            rg_world_destroy(clone);
        }
        disturbances[k](&y);
    }
    rg_world_destroy(y.world);
}

static rg_vec3 small_push(int step, int box, double size) {
    int k = (step + box) % 3;
    return (rg_vec3){k == 0 ? size : 0, k == 1 ? -size : 0, k == 2 ? size : 0};
}

/* Pushes of 1e-9 N that change in every step: the last forces stay as they are, no bit of the state
 * changes, and what was left out is a momentum of that size. */
static void small_pushes_move_nothing(void **state) {
    (void)state;
    yard y = make_yard(false, 1);
    go(&y, 30, STEP);
    uint64_t solved = rg_world_summary(y.world).solver_iterations;
    rg_vec3 first = rg_body_pose(y.world, y.box[LAST]).position;
    for (int i = 0; i < 60; i++) {
        for (int k = 0; k < BOXES; k++)
            assert_int_equal(rg_body_apply_central_force(y.world, y.box[k], small_push(i, k, 1e-9)),
                             RG_OK);
        go(&y, 1, STEP);
    }
    rg_vec3 last = rg_body_pose(y.world, y.box[LAST]).position;
    assert_memory_equal(&first, &last, sizeof last);
    assert_int_equal(rg_world_summary(y.world).solver_iterations, solved);
    assert_true(rg_world_summary(y.world).certificate.momentum_error < 1e-10);
    rg_world_destroy(y.world);
}

/* A body that nothing holds is moved by a push however small it is against its weight, down to what
 * RG_STEP_KEEP leaves out: here 1e-9 of it, along a floor without friction. */
static void pushes_without_friction_move(void **state) {
    (void)state;
    rg_world_def def = rg_world_def_default();
    rg_world *world = world_of(&def);
    rg_contact_law ice = {0};
    rg_collider_def collider = rg_collider_def_default();
    assert_int_equal(rg_world_add_material(world, "ice", &ice, &collider.material, NULL), RG_OK);
    rg_body_def floor = rg_body_def_default();
    floor.motion = RG_MOTION_FIXED;
    add_collider(world, rg_shape_def_halfspace((rg_vec3){0, 0, 1}, 0), collider, &floor);
    rg_body_def body = rg_body_def_default();
    body.pose.position = (rg_vec3){0, 0, 0.25};
    rg_body_id box = add_collider(world, rg_shape_def_box(0.5, 0.5, 0.5), collider, &body);
    double weight = 9.81 * rg_body_mass(world, box).mass;
    for (int i = 0; i < 60; i++)
        step_once(world, STEP);
    for (int i = 0; i < 60; i++) {
        rg_body_apply_central_force(world, box, (rg_vec3){1e-9 * weight, 0, 0});
        step_once(world, STEP);
    }
    double expected = 1e-9 * 9.81 * 60 * STEP;
    assert_true(fabs(rg_body_velocity(world, box).x - expected) < 1e-3 * expected);
    rg_world_destroy(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_changes_no_bit),
        cmocka_unit_test(islands_rest_beside_others),
        cmocka_unit_test(large_islands_are_recalled_once),
        cmocka_unit_test(what_holds_stays_where_it_is),
        cmocka_unit_test(fast_bodies_change_what_is_rest),
        cmocka_unit_test(what_rests_is_told),
        cmocka_unit_test(joints_rest),
        cmocka_unit_test(rest_is_exact),
        cmocka_unit_test(events_go_on),
        cmocka_unit_test(clones_find_the_same),
        cmocka_unit_test(small_pushes_move_nothing),
        cmocka_unit_test(pushes_without_friction_move),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
