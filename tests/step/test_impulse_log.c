/* Impulses of impacts, round by round: the series of Baraff 1989, Figure 12, and that by every law
 * their sum is what changed the momentum. */
#include "test_world_support.h"

#include "rigor/event.h"
#include "rigor/impact.h"

#include <math.h>

static rg_world *make_world(const char *law, double friction, double restitution) {
    rg_world_def def = rg_world_def_default();
    def.method = rg_method_find("analytic");
    def.gravity = (rg_vec3){0, 0, 0};
    def.settings.impact = rg_impact_law_find(law);
    rg_world *world = world_of(&def);
    rg_contact_law contact = {
        .static_friction = friction, .friction = friction, .restitution = restitution};
    assert_int_equal(rg_world_set_material_law(world, (rg_material_id){0}, &contact, NULL), RG_OK);
    return world;
}

static rg_body_id add_wall(rg_world *world) {
    rg_body_def def = rg_body_def_default();
    def.name = "wall";
    def.motion = RG_MOTION_FIXED;
    return add_shape(world, rg_shape_def_halfspace((rg_vec3){-1, 0, 0}, 0), &def);
}

static rg_body_id add_ball(rg_world *world, const char *name, double mass, double x, double v) {
    rg_body_def def = rg_body_def_default();
    def.name = name;
    def.pose.position.x = x;
    def.velocity.x = v;
    def.total_mass = mass;
    return add_shape(world, rg_shape_def_sphere(0.1), &def);
}

static bool is(rg_body_id a, rg_body_id b) {
    return a.index1 == b.index1 && a.generation == b.generation;
}

static void step(rg_world *world, double h) {
    rg_error error;
    if (rg_world_step(world, h, NULL, &error))
        fail_msg("%s", error.text);
}

/* Figure 12: a heavy ball (9 kg, 1 m/s) against a light one (1 kg) at a wall, without restitution.
 * Pair by pair, the two balls leave round 2 k - 1 at 0.9^k m/s, and the wall stops the light one in
 * round 2 k: both impulses are 0.9^k N s, until what is left is too slow to be an impact. */
static void test_rounds_of_propagation(void **state) {
    (void)state;
    rg_world *world = make_world("propagation", 0, 0);
    rg_body_id wall = add_wall(world);
    rg_body_id light = add_ball(world, "light", 1, -0.1, 0);
    rg_body_id heavy = add_ball(world, "heavy", 9, -0.3 - 0.5, 1);
    size_t kept, count;
    step(world, 0.4);
    (void)rg_world_step_impulses(world, &kept, &count);
    assert_int_equal(count, 0);
    step(world, 0.2);
    const rg_step_impulse *impulses = rg_world_step_impulses(world, &kept, &count);
    assert_int_equal(kept, count);
    assert_in_range(count, 100, 1000);
    double sum = 0, expected = 1, left = 1;
    for (size_t i = 0; i < count; i++) {
        const rg_step_impulse *p = &impulses[i];
        bool at_wall = is(p->body_a, wall) || is(p->body_b, wall);
        assert_true(is(p->body_a, light) || is(p->body_b, light));
        assert_true(at_wall || is(p->body_a, heavy) || is(p->body_b, heavy));
        assert_near(p->time, 0.5, 1e-9);
        assert_near(fabs(p->normal.x), 1, 1e-12);
        assert_near(p->position.x, at_wall ? 0 : -0.2, 1e-6);
        assert_true(p->restitution == 0 && p->friction == 0);
        double along = p->impulse.x * p->normal.x;
        assert_true(along > 0);
        sum += at_wall ? 0 : along;
        left *= at_wall ? 1 : 0.9;
        if (i >= 100)
            continue;
        assert_int_equal(p->impact, 1);
        assert_int_equal(p->round, i + 1);
        assert_true(at_wall == (i % 2 == 1));
        double approach = -p->before.x * p->normal.x;
        expected *= at_wall ? 1 : 0.9;
        assert_near(along, expected, 1e-12);
        assert_near(approach, at_wall ? expected : expected / 0.9, 1e-12);
        assert_near(p->after.x, 0, 1e-12);
    }
    assert_near(sum, 9 * (1 - left), 1e-9);
    assert_true(left < 1e-5);
    rg_world_destroy(world);
}

/* All at once it is one round: 9 N s at either contact. */
static void test_one_round_of_simultaneous(void **state) {
    (void)state;
    rg_world *world = make_world("simultaneous", 0, 0);
    add_wall(world);
    add_ball(world, "light", 1, -0.1, 0);
    add_ball(world, "heavy", 9, -0.3 - 0.5, 1);
    size_t kept, count;
    step(world, 0.6);
    const rg_step_impulse *impulses = rg_world_step_impulses(world, &kept, &count);
    assert_int_equal(count, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(impulses[i].round, 1);
        assert_near(impulses[i].impulse.x * impulses[i].normal.x, 9, 1e-9);
    }
    step(world, 0.1);
    (void)rg_world_step_impulses(world, &kept, &count);
    assert_int_equal(count, 0); /* those of the last step only */
    rg_world_destroy(world);
}

/* A spinning ball that grazes the wall and a second ball: by every law the impulses on a ball add
 * up to the change of its momentum, friction included. */
static void test_impulses_are_the_momentum(void **state) {
    (void)state;
    for (size_t law = 0; law < rg_impact_law_count(); law++) {
        rg_world *world = make_world(rg_impact_law_name(rg_impact_law_at(law)), 0.3, 0.5);
        add_wall(world);
        rg_body_id balls[] = {add_ball(world, "one", 1, -0.2, 1),
                              add_ball(world, "two", 2, -0.5, 2)};
        rg_vec3 before[2], change[2] = {{0, 0, 0}, {0, 0, 0}};
        assert_int_equal(rg_body_set_angular_velocity(world, balls[0], (rg_vec3){0, 7, -3}), RG_OK);
        for (int i = 0; i < 2; i++)
            before[i] = rg_body_velocity(world, balls[i]);
        size_t seen = 0;
        for (int k = 0; k < 10; k++) {
            size_t kept, count;
            step(world, 0.05);
            const rg_step_impulse *p = rg_world_step_impulses(world, &kept, &count);
            seen += count;
            for (size_t j = 0; j < count; j++)
                for (int i = 0; i < 2; i++) {
                    double sign = is(p[j].body_a, balls[i]) - is(p[j].body_b, balls[i]);
                    change[i].x += sign * p[j].impulse.x;
                    change[i].y += sign * p[j].impulse.y;
                    change[i].z += sign * p[j].impulse.z;
                }
        }
        assert_true(seen >= 2);
        for (int i = 0; i < 2; i++) {
            rg_vec3 after = rg_body_velocity(world, balls[i]);
            double mass = 1 + i;
            assert_near(change[i].x, mass * (after.x - before[i].x), 1e-9);
            assert_near(change[i].y, mass * (after.y - before[i].y), 1e-9);
            assert_near(change[i].z, mass * (after.z - before[i].z), 1e-9);
        }
        assert_true(fabs(change[0].y) + fabs(change[0].z) > 1e-3); /* there was friction */
        rg_world_destroy(world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rounds_of_propagation),
        cmocka_unit_test(test_one_round_of_simultaneous),
        cmocka_unit_test(test_impulses_are_the_momentum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
