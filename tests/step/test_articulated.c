/* The articulated-body method against the equations that it solves, written down from the looks at
 * the joints: J dv = -rest, M dv = J' impulse. */
#include "joint_support.h"

#include "problem/problem_islands.h"
#include "rigor/contact_force.h"
#include "rigor/random.h"
#include "rigor/solver.h"
#include "step/step_joints.h"
#include "step/step_judge.h"
#include "world/world.h"

enum { BODIES_MOST = 12 };

static rg_body_id random_body(rg_world *world, rg_random *random, double decades) {
    rg_body_def body = rg_body_def_default();
    rg_collider_def collider = rg_collider_def_default();
    double size[3], volume = 1;
    for (int k = 0; k < 3; k++)
        volume *= size[k] = rg_random_between(random, 0.1, 0.5);
    body.pose.position = rg_scale(rg_random_between(random, 0, 2), rg_random_direction(random));
    body.pose.orientation = rg_random_rotation(random);
    collider.density = pow(10, rg_random_between(random, -decades, decades)) / volume;
    collider.mask = 0;
    return add_collider(world, rg_shape_def_box(size[0], size[1], size[2]), collider, &body);
}

/* A tree, or several; the first body hangs on the world, or on nothing. */
static rg_world *random_trees(rg_random *random, double decades) {
    static const rg_joint_kind kinds[] = {RG_JOINT_BALL, RG_JOINT_HINGE, RG_JOINT_UNIVERSAL,
                                          RG_JOINT_FIXED};
    rg_world *world = default_world();
    rg_body_id bodies[BODIES_MOST];
    int count = 2 + (int)rg_random_below(random, BODIES_MOST - 1);
    for (int i = 0; i < count; i++) {
        bodies[i] = random_body(world, random, decades);
        rg_body_id other = i == 0 || rg_random_below(random, 8) == 0
                               ? the_world
                               : bodies[rg_random_below(random, (uint32_t)i)];
        if (i == 0 && rg_random_below(random, 2))
            continue;
        bool swapped = rg_random_below(random, 2) != 0;
        rg_joint_def def = between(kinds[rg_random_below(random, 4)], swapped ? bodies[i] : other,
                                   swapped ? other : bodies[i]);
        rg_vec3 at = rg_scale(rg_random_between(random, 0, 2), rg_random_direction(random));
        join(world, def, at, rg_random_direction(random));
    }
    return world;
}

typedef struct motion {
    rg_vec3 velocity, spin;    /* dv */
    rg_vec3 momentum, angular; /* J' impulse */
    double size, turn;         /* of its terms */
} motion;

static motion *motion_of(motion *all, motion *none, uint32_t body) {
    return body == UINT32_MAX ? none : &all[body];
}

/* The worst of what is left of both equations, relative to the terms. */
static double residual_of(const rg_world_content *c, const rg_articulated *tree, const double *rest,
                          const double *impulse, const double *inertia) {
    motion all[BODIES_MOST], none;
    double worst = 0;
    size_t row = 0;
    memset(all, 0, sizeof all);
    memset(&none, 0, sizeof none);
    for (size_t i = 0; i < tree->count; i++) {
        all[tree->nodes[i].body].velocity = rg_articulated_velocity(&tree->nodes[i]);
        all[tree->nodes[i].body].spin = tree->nodes[i].spin;
    }
    for (size_t j = 0; j < c->joints.count; j++) {
        rg_joint_look look;
        rg_joint_look_at(c, j, (rg_body_places){c->position, c->orientation}, &look);
        for (size_t k = 0; k < look.locked; k++, row++) {
            double sum = rest[row], size = fabs(sum);
            for (int side = 0; side < 2; side++) {
                motion *m = motion_of(all, &none, look.body[side]);
                double sign = side ? 1 : -1;
                rg_vec3 d = look.lock[k].direction, arm = {0, 0, 0};
                if (look.body[side] != UINT32_MAX)
                    arm = rg_sub(look.point, c->position[look.body[side]]);
                rg_vec3 u =
                    look.lock[k].turns ? m->spin : rg_add(m->velocity, rg_cross(m->spin, arm));
                sum += sign * rg_dot(d, u);
                size += fabs(rg_dot(d, u));
                rg_vec3 push = rg_scale(sign * impulse[row], d);
                rg_vec3 torque = look.lock[k].turns ? push : rg_cross(arm, push);
                if (!look.lock[k].turns)
                    m->momentum = rg_add(m->momentum, push), m->size += rg_length(push);
                m->angular = rg_add(m->angular, torque), m->turn += rg_length(torque);
            }
            worst = fmax(worst, fabs(sum) / size);
        }
    }
    assert_int_equal(row, tree->rows);
    for (size_t i = 0; i < c->bodies.count; i++) {
        const rg_body_dynamics *d = &c->dynamics[i];
        rg_vec3 local = rg_rotate_back(c->orientation[i], all[i].spin);
        rg_vec3 turning = rg_rotate(c->orientation[i], rg_times(d->inertia, local));
        turning = rg_add_scaled(turning, inertia ? inertia[i] : 0, all[i].spin);
        rg_vec3 moving = rg_scale(d->mass, all[i].velocity);
        if (all[i].size + all[i].turn == 0)
            continue;
        worst = fmax(worst, rg_length(rg_sub(moving, all[i].momentum)) / all[i].size);
        worst =
            fmax(worst, rg_length(rg_sub(turning, all[i].angular)) / (all[i].turn + all[i].size));
    }
    return worst;
}

static rg_articulated *tree_of(rg_world *world, rg_joints_seen *seen) {
    *seen = (rg_joints_seen){.memory = rg_arena_make(&world->allocator)};
    assert_int_equal(rg_joints_seen_begin(seen, world), RG_OK);
    assert_int_equal(rg_joints_seen_loops(seen, &world->content), RG_OK);
    return &seen->tree;
}

/* Looks at all joints first. */
static bool place(rg_articulated *tree, const rg_world_content *c, rg_joints_seen *seen,
                  rg_body_places places, const double *inertia) {
    rg_joint_look own;
    for (size_t j = 0; j < c->joints.count; j++)
        rg_joint_look_again(seen, c, j, places, &own);
    return rg_articulated_place(tree, c, seen, places, inertia);
}

/* Masses within two decades, and within eight. Joints are metres away from boxes of 0.1 to 0.5 m;
 * of 20,000 trees the worst leave 1e-10 and 6e-8. */
static void trees_satisfy_their_equations(void **state) {
    (void)state;
    const double decades[] = {1, 4}, most[] = {1e-9, 1e-6};
    for (int kind = 0; kind < 2; kind++) {
        double worst = 0;
        for (int seed = 0; seed < test_cases(500, 20000); seed++) {
            rg_random random = rg_random_make((uint64_t)seed);
            rg_world *world = random_trees(&random, decades[kind]);
            const rg_world_content *c = &world->content;
            double rest[6 * BODIES_MOST], impulse[6 * BODIES_MOST], inertia[BODIES_MOST];
            rg_joints_seen seen;
            rg_articulated *tree = tree_of(world, &seen);
            bool added = seed % 2 != 0;
            if (c->joints.count > 0) {
                assert_true(rg_articulated_takes(tree, c, NULL));
                for (size_t i = 0; i < tree->rows; i++)
                    rest[i] = rg_random_between(&random, -1, 1);
                for (size_t i = 0; i < c->bodies.count; i++)
                    inertia[i] = rg_random_between(&random, 0, 1) * c->dynamics[i].inertia.x;
                assert_true(place(tree, c, &seen, (rg_body_places){c->position, c->orientation},
                                  added ? inertia : NULL));
                rg_articulated_solve(tree, rest, impulse);
                double left = residual_of(c, tree, rest, impulse, added ? inertia : NULL);
                if (!(left <= most[kind]))
                    fail_msg("seed %d: %.3g is left", seed, left);
                worst = fmax(worst, left);
            }
            rg_arena_free(&seen.memory);
            rg_world_destroy(world);
        }
        print_message("masses within %g decades: residual %.2g\n", 2 * decades[kind], worst);
    }
}

/* A factor is used again where everything is where it was, and nowhere else. */
static void factors_are_of_their_places(void **state) {
    (void)state;
    rg_random random = rg_random_make(3);
    rg_world *world = random_trees(&random, 1);
    const rg_world_content *c = &world->content;
    double rest[6 * BODIES_MOST], first[6 * BODIES_MOST], again[6 * BODIES_MOST];
    double inertia[BODIES_MOST] = {0};
    rg_vec3 moved[BODIES_MOST];
    rg_joints_seen seen;
    rg_articulated *tree = tree_of(world, &seen);
    rg_body_places here = {c->position, c->orientation}, there = {moved, c->orientation};
    assert_true(tree->count > 1);
    memcpy(moved, c->position, c->bodies.count * sizeof *moved);
    moved[tree->nodes[0].body].x += 1e-3;
    inertia[tree->nodes[1].body] = 1;
    for (size_t i = 0; i < tree->rows; i++)
        rest[i] = rg_random_between(&random, -1, 1);
    assert_true(place(tree, c, &seen, here, NULL));
    rg_articulated_solve(tree, rest, first);
    for (int way = 0; way < 2; way++) {
        assert_true(place(tree, c, &seen, way ? here : there, way ? inertia : NULL));
        rg_articulated_solve(tree, rest, again);
        assert_memory_not_equal(first, again, tree->rows * sizeof *first);
        assert_true(place(tree, c, &seen, here, NULL));
        rg_articulated_solve(tree, rest, again);
        assert_memory_equal(first, again, tree->rows * sizeof *first);
    }
    rg_arena_free(&seen.memory);
    rg_world_destroy(world);
}

/* Joints that do not hold a point, loops, and what is broken or does not move are for others. */
static void others_are_not_taken(void **state) {
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        rg_random random = rg_random_make(7);
        rg_world *world = default_world();
        rg_body_id a = random_body(world, &random, 1), b = random_body(world, &random, 1);
        join(world, between(kind == 0 ? RG_JOINT_SLIDER : RG_JOINT_BALL, the_world, a),
             rg_vec3_make(0, 0, 0), z_axis);
        join(world, between(RG_JOINT_BALL, a, b), rg_vec3_make(1, 0, 0), z_axis);
        if (kind == 1)
            join(world, between(RG_JOINT_BALL, the_world, b), rg_vec3_make(0, 1, 0), z_axis);
        rg_joints_seen seen;
        rg_articulated *tree = tree_of(world, &seen);
        uint8_t moved[2] = {1, kind != 2};
        if (kind == 3)
            rg_joint_memories(&world->content)[1].broken = 1;
        assert_int_equal(tree->count > 0, kind >= 2);
        assert_false(rg_articulated_takes(tree, &world->content, moved));
        rg_arena_free(&seen.memory);
        rg_world_destroy(world);
    }
}

/* The judge of impulses on locked rows (step_judge_rows.c) against that of contact problems, for
 * impulses that are no answer, and for the answer. */
static void the_judge_of_locked_rows(void **state) {
    (void)state;
    /* m/s: of 2,000 trees 1e-8 at most, where torques of a few N m s turn boxes of 0.1 m. */
    const double most = 1e-7;
    double worst = 0;
    for (int seed = 0; seed < test_cases(100, 2000); seed++) {
        rg_random random = rg_random_make((uint64_t)seed);
        rg_world *world = random_trees(&random, 1);
        const rg_world_content *c = &world->content;
        for (size_t i = 0; i < c->bodies.count; i++) {
            rg_body_id body = rg_world_body_at(world, i);
            rg_body_set_velocity(world, body, rg_random_direction(&random));
            rg_body_set_angular_velocity(world, body, rg_random_direction(&random));
        }
        rg_joints_seen seen;
        rg_articulated *tree = tree_of(world, &seen);
        rg_joints_input input = {.step = 0.01, .seen = &seen};
        rg_joint_set set;
        assert_int_equal(rg_joints_rows(c, &input, &seen.memory, &set), RG_OK);
        rg_judge_rows rows = {&set, c->velocity, c->angular_velocity, NULL, &seen};
        for (int answer = 0; answer < 2 && set.count > 0; answer++) {
            double rest[6 * BODIES_MOST];
            rg_islands islands;
            rg_problem problem;
            rg_residual residual;
            rg_row_set none = {.dimension = 3, .freedom = 6};
            rg_island_input given = {
                .velocity = c->velocity, .angular_velocity = c->angular_velocity, .joints = &set};
            rg_joint_rates(&set, c->position, c->velocity, c->angular_velocity, rest);
            for (size_t i = 0; i < set.count; i++) {
                set.impulse[i] = rg_random_between(&random, -1, 1);
                rest[i] = (rest[i] + set.rows[i].shift) / rg_joint_row_unit(&set.rows[i]);
            }
            assert_int_equal(set.count, tree->rows);
            if (answer) {
                assert_true(rg_articulated_place(
                    tree, c, &seen, (rg_body_places){c->position, c->orientation}, NULL));
                rg_articulated_solve(tree, rest, set.impulse);
                for (size_t i = 0; i < set.count; i++)
                    set.impulse[i] /= rg_joint_row_unit(&set.rows[i]);
            }
            double left = rg_judge_locked_rows(c, &rows, &seen.memory);
            rg_joint_set_fill(c, &set, c->position);
            assert_int_equal(rg_islands_together(&set, c->bodies.count, &seen.memory, &islands),
                             RG_OK);
            assert_int_equal(rg_island_problem(c, &none, &islands, &islands.islands[0], &given,
                                               &seen.memory, &problem),
                             RG_OK);
            problem.scale = 1;
            assert_int_equal(rg_judge(&problem, set.impulse, NULL, NULL, &residual, NULL), RG_OK);
            assert_true(left >= residual.natural);
            assert_true(left <= (1 + 1e-9) * residual.natural + most);
            assert_true(answer ? left <= most : left > 1e-4);
            worst = answer ? fmax(worst, left) : worst;
        }
        rg_arena_free(&seen.memory);
        rg_world_destroy(world);
    }
    print_message("what it says of answers, rounding included: %.2g m/s\n", worst);
}

typedef struct shown {
    size_t count, rows;
} shown;

static void count_rows(void *user, uint64_t step, size_t island, const rg_problem *problem) {
    shown *s = user;
    (void)step, (void)island;
    s->count++, s->rows += problem->contact.joints;
}

/* Looking at the problems of a mechanism changes no bit of its motion, and all are shown. */
static void observers_change_nothing(void **state) {
    (void)state;
    uint64_t hash[2];
    shown seen = {0, 0};
    size_t rows = 0, solves[2] = {0, 0};
    for (int observed = 0; observed < 2; observed++) {
        rg_random random = rg_random_make(3);
        rg_world *world = random_trees(&random, 1);
        if (observed)
            assert_int_equal(rg_world_observe_problems(world, count_rows, &seen), RG_OK);
        for (int k = 0; k < 50; k++)
            solves[observed] += step_once(world, 1.0 / 240).solves;
        rg_joints_seen looks;
        rows = tree_of(world, &looks)->rows;
        rg_arena_free(&looks.memory);
        hash[observed] = rg_world_state_hash(world);
        rg_world_destroy(world);
    }
    assert_true(hash[0] == hash[1]);
    assert_true(rows > 0 && solves[0] >= 50);
    assert_int_equal(solves[0], solves[1]);
    assert_int_equal(seen.count, solves[0]);
    assert_int_equal(seen.rows, 50 * rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trees_satisfy_their_equations),
        cmocka_unit_test(factors_are_of_their_places),
        cmocka_unit_test(others_are_not_taken),
        cmocka_unit_test(the_judge_of_locked_rows),
        cmocka_unit_test(observers_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
