/* Joints of a world (world_joint.c) and where they are (world_joint_motion.c): directions against
 * differences of the values, what is refused and how, lists of bodies, copies. */
#include "test_world_support.h"

#include "world/world.h"

static rg_quat any_turn(rg_random *random) {
    double x = rg_random_between(random, -1, 1);
    double y = rg_random_between(random, -1, 1);
    double z = rg_random_between(random, -1, 1);
    double w = rg_random_between(random, -1, 1);
    return rg_quat_normalised(rg_quat_make(x, y, z, w));
}

static rg_vec3 any_vector(rg_random *random) {
    double x = rg_random_between(random, -1, 1);
    double y = rg_random_between(random, -1, 1);
    double z = rg_random_between(random, -1, 1);
    return rg_vec3_make(x, y, z);
}

static rg_body_id any_body(rg_world *world, rg_random *random) {
    rg_body_def def = rg_body_def_default();
    def.pose.position = any_vector(random);
    def.pose.orientation = any_turn(random);
    rg_collider_def collider = rg_collider_def_default();
    collider.pose.position = any_vector(random); /* centre of mass and origin differ */
    return add_collider(world, rg_shape_def_box(0.3, 0.4, 0.6), collider, &def);
}

/* Places after a time t at constant velocity and angular velocity. */
static void advance(const rg_world_content *c, double t, rg_vec3 *position, rg_quat *orientation) {
    for (size_t i = 0; i < c->bodies.count; i++) {
        rg_vec3 w = c->angular_velocity[i];
        double rate = rg_length(w), half = 0.5 * rate * t;
        rg_vec3 v = rg_scale(rate > 0 ? sin(half) / rate : 0, w);
        position[i] = rg_add_scaled(c->position[i], t, c->velocity[i]);
        orientation[i] =
            rg_quat_multiply(rg_quat_make(v.x, v.y, v.z, cos(half)), c->orientation[i]);
    }
}

static double rate_of(const rg_world_content *c, const rg_joint_look *look,
                      const rg_joint_direction *d) {
    double sum = 0;
    for (int side = 0; side < 2; side++) {
        uint32_t body = look->body[side];
        if (body == UINT32_MAX)
            continue;
        rg_vec3 w = c->angular_velocity[body],
                v = rg_add(c->velocity[body], rg_cross(w, rg_sub(look->point, c->position[body])));
        sum += (side == 0 ? -1 : 1) * rg_dot(d->direction, d->turns ? w : v);
    }
    return sum;
}

static void compare(const rg_world_content *c, rg_joint_kind kind) {
    const double h = 1e-4;
    rg_joint_look look, before, after;
    rg_vec3 p[2][2];
    rg_quat q[2][2];
    rg_joint_look_at(c, 0, (rg_body_places){c->position, c->orientation}, &look);
    advance(c, -h, p[0], q[0]);
    advance(c, h, p[1], q[1]);
    rg_joint_look_at(c, 0, (rg_body_places){p[0], q[0]}, &before);
    rg_joint_look_at(c, 0, (rg_body_places){p[1], q[1]}, &after);
    assert_int_equal(look.axes, rg_joint_axis_count(kind));
    for (size_t k = 0; k < look.locked; k++) {
        double rate = (after.lock[k].value - before.lock[k].value) / (2 * h);
        assert_true(fabs(rate - rate_of(c, &look, &look.lock[k])) <= 1e-6);
    }
    for (size_t k = 0; k < look.axes; k++) {
        double rate = (after.axis[k].value - before.axis[k].value) / (2 * h);
        assert_int_equal(look.axis[k].turns, rg_joint_axis_is_angle(kind, k));
        assert_true(fabs(rate - rate_of(c, &look, &look.axis[k])) <= 1e-6);
    }
}

/* A quadric through B's point. */
static void choose_surface(const rg_world *world, rg_random *random, rg_joint_def *def) {
    rg_vec3 b = rg_pose_apply(rg_body_pose(world, def->body_b), def->frame_b.position);
    rg_pose a = rg_pose_compose(rg_body_pose(world, def->body_a), def->frame_a);
    rg_vec3 y = rg_pose_apply_inverse(a, b), square = rg_scale(0.2, any_vector(random));
    rg_vec3 linear = rg_normalised(any_vector(random));
    def->surface = (rg_quadric){square, linear, 0};
    def->surface.constant = -rg_dot(rg_times(square, y), y) - rg_dot(linear, y);
    def->axis[0].lower = def->axis[0].upper = 0;
}

/* Locked distances are right anywhere; locked turns and angles where the joint is closed. */
static void directions_are_derivatives(void **state) {
    (void)state;
    static const size_t locked[RG_JOINT_KIND_COUNT] = {3, 5, 5, 4, 4, 3, 6, 0, 0, 1, 1, 0};
    for (int kind = 0; kind < RG_JOINT_TENDON; kind++) /* which has no direction */
        for (uint64_t seed = 1; seed <= 20; seed++) {
            rg_random random = rg_random_make(seed);
            rg_world *world = default_world();
            rg_joint_def def = rg_joint_def_default((rg_joint_kind)kind);
            def.body_a = any_body(world, &random);
            def.body_b = any_body(world, &random);
            rg_vec3 point = any_vector(&random), axis = any_vector(&random);
            assert_int_equal(rg_joint_def_place(world, &def, point, axis), RG_OK);
            def.frame_b.position = rg_add(def.frame_b.position, any_vector(&random));
            rg_quat about = rg_quat_identity(); /* free turns of the kind */
            bool turns =
                kind == RG_JOINT_BALL || kind == RG_JOINT_DISTANCE || kind == RG_JOINT_SURFACE;
            bool gears = kind == RG_JOINT_GEAR || kind == RG_JOINT_RACK;
            if (turns)
                about = any_turn(&random);
            else if (kind == RG_JOINT_HINGE || kind == RG_JOINT_CYLINDRICAL ||
                     kind == RG_JOINT_PLANAR || gears)
                about = rg_quat_make(0, 0, sin(0.6), cos(0.6));
            else if (kind == RG_JOINT_UNIVERSAL)
                about = rg_quat_multiply(rg_quat_make(sin(0.3), 0, 0, cos(0.3)),
                                         rg_quat_make(0, sin(-0.2), 0, cos(0.2)));
            def.frame_b.orientation = rg_quat_multiply(def.frame_b.orientation, about);
            def.ratio = seed % 2 ? 0.1 * (double)seed : -1.5 - 0.1 * (double)seed;
            if (kind == RG_JOINT_SURFACE)
                choose_surface(world, &random, &def);
            rg_joint_id joint;
            assert_int_equal(rg_world_add_joint(world, &def, &joint, NULL), RG_OK);
            assert_int_equal(rg_body_set_velocity(world, def.body_a, any_vector(&random)), RG_OK);
            assert_int_equal(rg_body_set_velocity(world, def.body_b, any_vector(&random)), RG_OK);
            rg_vec3 spin = any_vector(&random);
            rg_vec3 other = turns ? any_vector(&random) : spin;
            if (gears) /* they turn about their axis */
                other = rg_add_scaled(spin, 1.5, rg_normalised(axis));
            assert_int_equal(rg_body_set_angular_velocity(world, def.body_a, spin), RG_OK);
            assert_int_equal(rg_body_set_angular_velocity(world, def.body_b, other), RG_OK);
            rg_joint_look look;
            const rg_world_content *c = &world->content;
            rg_joint_look_at(c, 0, (rg_body_places){c->position, c->orientation}, &look);
            assert_int_equal(look.locked, locked[kind]);
            compare(c, (rg_joint_kind)kind);
            /* Turns against each other, about which the joint is locked or not. */
            other = rg_add(spin, any_vector(&random));
            assert_int_equal(rg_body_set_angular_velocity(world, def.body_b, other), RG_OK);
            if (kind != RG_JOINT_SLIDER && kind != RG_JOINT_FIXED && !gears)
                compare(c, (rg_joint_kind)kind);
            rg_world_destroy(world);
        }
}

static void coordinates_by_hand(void **state) {
    (void)state;
    rg_world *world = default_world();
    rg_body_id box = add_box(world, "box", rg_vec3_make(1, 1, 1), rg_vec3_make(0, 0, 2));
    rg_joint_def def = rg_joint_def_default(RG_JOINT_HINGE);
    def.body_b = box;
    def.name = "hinge";
    assert_int_equal(rg_joint_def_place(world, &def, rg_vec3_make(0, 0, 2), rg_vec3_make(0, 3, 0)),
                     RG_OK);
    rg_joint_id joint, found;
    assert_int_equal(rg_world_add_joint(world, &def, &joint, NULL), RG_OK);
    assert_int_equal(rg_world_find_joint(world, "hinge", &found), RG_OK);
    assert_int_equal(found.index1, joint.index1);
    assert_int_equal(rg_world_find_joint(world, "other", &found), RG_NOT_FOUND);
    assert_true(rg_joint_error(world, joint) <= 1e-15);
    rg_pose pose = rg_body_pose(world, box);
    for (int k = 1; k <= 8; k++) { /* turns are counted by what the memory says */
        pose.orientation = rg_quat_make(0, sin(0.5 * k), 0, cos(0.5 * k));
        assert_int_equal(rg_body_set_pose(world, box, pose), RG_OK);
        rg_joint_memories(&world->content)[0].coordinate[0] = k - 0.5;
        assert_true(fabs(rg_joint_get_state(world, joint).coordinate[0] - k) <= 1e-12);
    }
    pose.position.x = 0.03;
    assert_int_equal(rg_body_set_pose(world, box, pose), RG_OK);
    assert_true(fabs(rg_joint_error(world, joint) - 0.03) <= 1e-12);
    rg_world_destroy(world);
}

static void check_refused(rg_world *world, const rg_joint_def *def, rg_status status,
                          const char *text) {
    rg_joint_id joint;
    rg_error error;
    size_t before = rg_world_joint_count(world);
    assert_int_equal(rg_world_add_joint(world, def, &joint, &error), status);
    assert_string_equal(error.text, text);
    assert_int_equal(rg_world_joint_count(world), before);
}

static void bad_joints_are_refused(void **state) {
    (void)state;
    rg_world *world = default_world();
    rg_joint_def good = rg_joint_def_default(RG_JOINT_HINGE), def;
    good.body_a = add_box(world, "a", rg_vec3_make(1, 1, 1), rg_vec3_make(0, 0, 0));
    good.body_b = add_box(world, "b", rg_vec3_make(1, 1, 1), rg_vec3_make(2, 0, 0));
    rg_joint_id joint;
    assert_int_equal(rg_joint_def_place(world, &good, rg_vec3_make(1, 0, 0), rg_vec3_make(0, 0, 0)),
                     RG_INVALID_ARGUMENT); /* no axis */
    def = good, def.kind = RG_JOINT_KIND_COUNT;
    check_refused(world, &def, RG_INVALID_ARGUMENT, "joint: there is no kind 12");
    def = good, def.body_a = def.body_b;
    check_refused(world, &def, RG_INVALID_ARGUMENT, "joint: it joins a body with itself");
    def = good, def.body_a = def.body_b = (rg_body_id){0, 0};
    check_refused(world, &def, RG_INVALID_ARGUMENT,
                  "joint: it joins the world with itself; give at least one body");
    def = good, def.body_a.generation += 7;
    check_refused(world, &def, RG_INVALID_HANDLE, "joint: it names a body that does not exist");
    def = good, def.axis[0].lower = 1, def.axis[0].upper = -1;
    check_refused(world, &def, RG_INVALID_ARGUMENT,
                  "joint, axis 0: limits 1 to -1; the lower one must not exceed the upper");
    def = good, def.axis[0].gain = NAN;
    check_refused(world, &def, RG_NOT_FINITE, "joint, axis 0: one of its numbers: not finite");
    def = good, def.axis[0].stiffness = -1;
    check_refused(world, &def, RG_INVALID_ARGUMENT,
                  "joint, axis 0: a negative stiffness or damping would drive instead of holding");
    def = good, def.axis[0].motor = RG_MOTOR_POSITION;
    check_refused(world, &def, RG_INVALID_ARGUMENT, "joint, axis 0: a position motor without gain");
    def = good, def.axis[1].friction = 1;
    check_refused(world, &def, RG_INVALID_ARGUMENT, "joint, axis 1: a hinge joint has 1 axes");
    def = good, def.frame_a.orientation.w = 3;
    check_refused(world, &def, RG_INVALID_ARGUMENT,
                  "joint: the orientation of frame A is not a unit quaternion");
    def = good, def.break_force = 0;
    check_refused(world, &def, RG_INVALID_ARGUMENT,
                  "joint: it breaks at 0 N and inf N m; both must be positive");
    def = good, def.name = "x";
    assert_int_equal(rg_world_add_joint(world, &def, &joint, NULL), RG_OK);
    check_refused(world, &def, RG_DUPLICATE_NAME, "joint: the name \"x\" is taken");
    rg_world_destroy(world);
    rg_world_def plane = rg_world_def_default();
    plane.planar = true;
    world = world_of(&plane);
    rg_body_def body = rg_body_def_default();
    def = rg_joint_def_default(RG_JOINT_BALL);
    def.body_b = add_shape(world, rg_shape_def_disc(0.5), &body);
    check_refused(world, &def, RG_INVALID_ARGUMENT,
                  "joint: a planar world has no ball joints, but hinge, slider, fixed, "
                  "distance, surface, gear, rack and tendon");
    def.kind = RG_JOINT_HINGE;
    check_refused(world, &def, RG_INVALID_ARGUMENT,
                  "joint: the axis of a hinge of a planar world is y");
    rg_world_destroy(world);
}

/* Bodies know who they are joined with, whatever is removed in whichever order. */
static void lists_stay_right(void **state) {
    (void)state;
    enum { BODIES = 8, ROUNDS = 400, MOST = 64 };
    rg_world *world = default_world();
    rg_body_id body[BODIES];
    rg_random random = rg_random_make(5);
    for (int i = 0; i < BODIES; i++)
        body[i] = add_box(world, NULL, rg_vec3_make(1, 1, 1), rg_vec3_make(2 * i, 0, 0));
    for (int round = 0; round < ROUNDS; round++) {
        size_t count = rg_world_joint_count(world);
        uint64_t draw = rg_random_next(&random);
        if (draw % 3 == 0 && count) {
            rg_joint_id joint = rg_world_joint_at(world, (size_t)(draw >> 8) % count);
            assert_int_equal(rg_world_remove_joint(world, joint), RG_OK);
            assert_false(rg_joint_exists(world, joint));
        } else if (draw % 31 == 1) {
            size_t i = (size_t)(draw >> 8) % BODIES;
            assert_int_equal(rg_world_remove_body(world, body[i]), RG_OK);
            body[i] = add_box(world, NULL, rg_vec3_make(1, 1, 1), rg_vec3_make(0, 0, 0));
        } else if (count < MOST) {
            size_t i = (size_t)(draw >> 8) % BODIES, k = (size_t)(draw >> 16) % BODIES;
            rg_joint_def def = rg_joint_def_default(RG_JOINT_BALL);
            def.body_a = body[i];
            def.body_b = i == k ? (rg_body_id){0, 0} : body[k];
            def.collide = (draw >> 24) % 4 == 0;
            rg_joint_id joint;
            assert_int_equal(rg_world_add_joint(world, &def, &joint, NULL), RG_OK);
        }
        for (size_t i = 0; i < BODIES; i++)
            for (size_t k = 0; k < BODIES; k++) {
                bool expected = false;
                for (size_t j = 0; j < rg_world_joint_count(world); j++) {
                    rg_joint_def def = rg_joint_get_def(world, rg_world_joint_at(world, j));
                    bool one =
                        def.body_a.index1 == body[i].index1 && def.body_b.index1 == body[k].index1;
                    bool two =
                        def.body_b.index1 == body[i].index1 && def.body_a.index1 == body[k].index1;
                    expected = expected || (!def.collide && (one || two));
                }
                assert_int_equal(rg_joints_part(&world->content, rg_body_index(world, body[i]),
                                                rg_body_index(world, body[k])),
                                 expected && i != k);
            }
    }
    rg_world_destroy(world);
}

static void copies_have_joints(void **state) {
    (void)state;
    rg_world *world = default_world(), *clone;
    rg_joint_def def = rg_joint_def_default(RG_JOINT_SLIDER);
    def.body_b = add_box(world, "b", rg_vec3_make(1, 1, 1), rg_vec3_make(2, 0, 0));
    def.name = "rail";
    def.axis[0].upper = 3;
    rg_joint_id joint, found;
    assert_int_equal(rg_world_add_joint(world, &def, &joint, NULL), RG_OK);
    rg_snapshot *snapshot;
    assert_int_equal(rg_snapshot_create(world, &snapshot), RG_OK);
    assert_int_equal(rg_world_clone(world, &clone), RG_OK);
    assert_int_equal(rg_joint_set_target(world, joint, 0, 5), RG_OK);
    assert_int_equal(rg_world_remove_joint(world, joint), RG_OK);
    assert_int_equal(rg_joint_set_target(world, joint, 0, 5), RG_INVALID_HANDLE);
    assert_int_equal(rg_world_restore(world, snapshot), RG_OK);
    rg_snapshot_destroy(snapshot);
    for (int k = 0; k < 2; k++) {
        rg_world *w = k ? clone : world;
        assert_int_equal(rg_world_joint_count(w), 1);
        assert_int_equal(rg_world_find_joint(w, "rail", &found), RG_OK);
        assert_true(rg_joint_get_def(w, found).axis[0].upper == 3);
        assert_true(rg_joint_get_def(w, found).axis[0].target == 0);
    }
    rg_world_destroy(clone);
    rg_world_destroy(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(directions_are_derivatives), cmocka_unit_test(coordinates_by_hand),
        cmocka_unit_test(bad_joints_are_refused),     cmocka_unit_test(lists_stay_right),
        cmocka_unit_test(copies_have_joints),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
