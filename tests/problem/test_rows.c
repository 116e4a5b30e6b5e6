/* Rows from contact points: the normal row is the gradient of the gap, forces balance, tangents are
 * tangents, prescribed motion counts. Islands: who belongs together. */
#include "test_world_support.h"

#include "problem/problem_islands.h"
#include "world/world.h"

#include <string.h>

static rg_collision *watch(rg_world *world) {
    rg_collision_def def = rg_collision_def_default();
    rg_collision *collision;
    assert_int_equal(rg_collision_create(&def, NULL, &collision, NULL), RG_OK);
    assert_int_equal(rg_collision_update(collision, world, 0, NULL), RG_OK);
    return collision;
}

static rg_body_id add_floor(rg_world *world) {
    rg_body_def def = rg_body_def_default();
    def.motion = RG_MOTION_FIXED;
    return add_shape(world, rg_shape_def_halfspace((rg_vec3){0, 0, 1}, 0), &def);
}

static void tangents_are_tangents(void **state) {
    (void)state;
    rg_random random = rg_random_make(3);
    for (int i = 0; i < 10000; i++) {
        rg_vec3 n = rg_random_direction(&random), t1, t2;
        if (i < 6)
            n = (rg_vec3){i == 0   ? 1
                          : i == 1 ? -1
                                   : 0,
                          i == 2   ? 1
                          : i == 3 ? -1
                                   : 0,
                          i == 4   ? 1
                          : i == 5 ? -1
                                   : 0};
        rg_contact_tangents(n, false, &t1, &t2);
        assert_near(rg_dot(n, t1), 0, 1e-14); /* a tenth of x is left of it at worst */
        assert_near(rg_dot(n, t2), 0, 1e-15);
        assert_near(rg_dot(t1, t2), 0, 1e-15);
        assert_near(rg_length(t1), 1, 1e-15);
        assert_near(rg_length(t2), 1, 1e-15);
        assert_near(rg_dot(rg_cross(n, t1), t2), 1, 1e-15);
        n = rg_normalised((rg_vec3){n.x, 0, n.z + 1e-3});
        rg_contact_tangents(n, true, &t1, &t2);
        assert_near(rg_dot(n, t1), 0, 1e-15);
        assert_true(t1.y == 0);
    }
}

/* The normal row times a small motion is the change of the gap of that point's feature. */
static void the_normal_row_is_the_gradient_of_the_gap(void **state) {
    (void)state;
    rg_random random = rg_random_make(17);
    size_t compared = 0;
    for (int trial = 0; trial < 300; trial++) {
        rg_world *world = default_world();
        add_box(world, "b", (rg_vec3){2, 2, 1}, (rg_vec3){0, 0, -0.5});
        rg_body_id a = add_box(world, "a", (rg_vec3){1, 1, 1},
                               (rg_vec3){0.3, 0.1, 0.5 + 1e-4 * rg_random_unit(&random)});
        rg_pose pose = rg_body_pose(world, a);
        pose.orientation = rg_quat_of_rotation_vector(
            (rg_vec3){rg_random_between(&random, -2e-4, 2e-4),
                      rg_random_between(&random, -2e-4, 2e-4), rg_random_between(&random, -3, 3)});
        rg_body_set_pose(world, a, pose);
        rg_collision *collision = watch(world);
        rg_collision_view view = rg_collision_get(collision);
        rg_row_set set;
        rg_arena arena = rg_arena_make(NULL);
        assert_int_equal(rg_rows_build(world, &view, 0.01, NULL, NULL, &arena, &set), RG_OK);
        assert_true(set.count >= 1);
        /* Move A a little and look again: points are matched by their features. */
        rg_vec3 v[2] = {{0, 0, 0}, rg_scale(1e-7, rg_random_direction(&random))};
        rg_vec3 w[2] = {{0, 0, 0}, rg_scale(1e-7, rg_random_direction(&random))};
        double predicted[64];
        uint64_t ids[64];
        size_t count = set.count;
        assert_true(count <= 64);
        for (size_t i = 0; i < count; i++) {
            double u[3];
            rg_row_velocity(&set, i, v, w, u);
            predicted[i] = set.rows[i].gap + u[0];
            ids[i] = view.points[set.rows[i].point].id;
            assert_true(set.rows[i].moves_a && set.rows[i].moves_b);
        }
        pose = rg_body_pose(world, a);
        pose.position = rg_add(pose.position, v[1]);
        pose.orientation = rg_quat_normalised(
            rg_quat_multiply(rg_quat_of_rotation_vector(w[1]), pose.orientation));
        rg_body_set_pose(world, a, pose);
        assert_int_equal(rg_collision_update(collision, world, 0, NULL), RG_OK);
        view = rg_collision_get(collision);
        for (size_t i = 0; i < count; i++)
            for (size_t k = 0; k < view.point_count; k++)
                if (view.points[k].id == ids[i]) {
                    /* Corners of the overlap that are no vertex of A slide along its face, which is
                     * tilted by up to 3e-4. */
                    bool vertex = view.points[k].feature.kind == RG_FEATURES_FACE_VERTEX;
                    assert_near(view.points[k].gap, predicted[i], vertex ? 1e-13 : 1e-10);
                    compared += vertex;
                }
        rg_arena_free(&arena);
        rg_collision_destroy(collision);
        rg_world_destroy(world);
    }
    assert_true(compared > 300);
}

/* What a row does to one body it does to the other, about any point: momentum is conserved. */
static void forces_balance(void **state) {
    (void)state;
    rg_world *world = default_world();
    add_box(world, "b", (rg_vec3){1, 1, 1}, (rg_vec3){0.1, 0.2, 0});
    add_box(world, "a", (rg_vec3){1, 1, 1}, (rg_vec3){0.3, -0.1, 1});
    rg_collision *collision = watch(world);
    rg_collision_view view = rg_collision_get(collision);
    rg_row_set set;
    rg_arena arena = rg_arena_make(NULL);
    assert_int_equal(rg_rows_build(world, &view, 0.01, NULL, NULL, &arena, &set), RG_OK);
    assert_int_equal(set.count, 4);
    for (size_t i = 0; i < set.count; i++)
        for (size_t row = 0; row < 3; row++) {
            const double *a = rg_row_jacobian(&set, i, 0, row),
                         *b = rg_row_jacobian(&set, i, 1, row);
            rg_vec3 xa = world->content.position[set.rows[i].body_a];
            rg_vec3 xb = world->content.position[set.rows[i].body_b];
            rg_vec3 fa = {a[0], a[1], a[2]}, fb = {b[0], b[1], b[2]};
            rg_vec3 ma = rg_add((rg_vec3){a[3], a[4], a[5]}, rg_cross(xa, fa));
            rg_vec3 mb = rg_add((rg_vec3){b[3], b[4], b[5]}, rg_cross(xb, fb));
            assert_vector(rg_add(fa, fb), (rg_vec3){0, 0, 0}, 1e-16);
            assert_vector(rg_add(ma, mb), (rg_vec3){0, 0, 0}, 1e-15);
        }
    double components[3] = {3, -1, 2}, back[3];
    rg_vec3 force = rg_row_force(&set, 0, components);
    rg_row_components(&set, 0, force, back);
    for (int k = 0; k < 3; k++)
        assert_near(back[k], components[k], 1e-15);
    rg_arena_free(&arena);
    rg_collision_destroy(collision);
    rg_world_destroy(world);
}

static void compare_links(const rg_row_set *set) {
    for (size_t i = 0; i < set->count; i++) {
        const rg_contact_row *row = &set->rows[i];
        assert_int_equal(set->links[i].body[0], row->moves_a ? row->body_a : RG_NO_BLOCK);
        assert_int_equal(set->links[i].body[1], row->moves_b ? row->body_b : RG_NO_BLOCK);
        assert_int_equal(set->links[i].touch, row->touch);
    }
}

/* Links say what their rows do, also after some have gone; a set knows which laws it has. */
static void links_are_those_of_the_rows(void **state) {
    (void)state;
    for (int law = 0; law < 3; law++) {
        rg_world *world = default_world();
        rg_material_id material = {0};
        rg_contact_law own = rg_contact_law_default();
        own.restitution = law == 1 ? 0.5 : 0;
        own.torsional_friction = law == 2 ? 0.01 : 0;
        assert_int_equal(rg_world_set_material_law(world, material, &own, NULL), RG_OK);
        add_floor(world);
        for (int i = 0; i < 200; i++) /* more than one chunk */
            add_box(world, NULL, (rg_vec3){1, 1, 1}, (rg_vec3){2.0 * i, 0, 0.5});
        add_box(world, "top", (rg_vec3){1, 1, 1}, (rg_vec3){0, 0, 1.5});
        rg_collision *collision = watch(world);
        rg_collision_view view = rg_collision_get(collision);
        rg_row_set set;
        rg_arena arena = rg_arena_make(NULL);
        assert_int_equal(rg_rows_build(world, &view, 0.01, NULL, NULL, &arena, &set), RG_OK);
        assert_int_equal(set.count, 804);
        assert_true(set.bounces == (law == 1));
        assert_true(set.twists == (law == 2));
        compare_links(&set);
        uint8_t keep[804];
        for (size_t i = 0; i < 804; i++)
            keep[i] = i % 3 == 0;
        rg_rows_keep(&set, keep);
        assert_int_equal(set.count, 268);
        compare_links(&set);
        rg_arena_free(&arena);
        rg_collision_destroy(collision);
        rg_world_destroy(world);
    }
}

/* Two stacks and a lone box on one floor are three islands; a box in the air is in none. */
static void islands_are_joined_by_dynamic_bodies_only(void **state) {
    (void)state;
    rg_world *world = default_world();
    add_floor(world);
    rg_vec3 unit = {1, 1, 1};
    add_box(world, "a1", unit, (rg_vec3){0, 0, 0.5});
    add_box(world, "b1", unit, (rg_vec3){5, 0, 0.5});
    add_box(world, "a2", unit, (rg_vec3){0, 0, 1.5});
    add_box(world, "air", unit, (rg_vec3){20, 0, 9});
    add_box(world, "b2", unit, (rg_vec3){5, 0, 1.5});
    add_box(world, "c", unit, (rg_vec3){10, 0, 0.5});
    rg_collision *collision = watch(world);
    rg_collision_view view = rg_collision_get(collision);
    rg_row_set set;
    rg_islands islands;
    rg_arena arena = rg_arena_make(NULL);
    assert_int_equal(rg_rows_build(world, &view, 0.01, NULL, NULL, &arena, &set), RG_OK);
    assert_int_equal(set.count, 20);
    assert_int_equal(rg_islands_find(&set, &(rg_joint_set){0}, 7, &arena, &islands), RG_OK);
    assert_int_equal(islands.count, 3);
    size_t sizes[3] = {8, 8, 4}, bodies[3] = {2, 2, 1}, first[3] = {1, 2, 6};
    for (size_t i = 0; i < 3; i++) {
        const rg_island *island = &islands.islands[i];
        assert_int_equal(island->contact_count, sizes[i]);
        assert_int_equal(island->body_count, bodies[i]);
        assert_int_equal(islands.bodies[island->first_body], first[i]);
        for (size_t k = 0; k < island->contact_count; k++) {
            const rg_contact_row *row = &set.rows[islands.contacts[island->first_contact + k]];
            uint32_t body = row->moves_a ? row->body_a : row->body_b;
            assert_int_equal(islands.bodies[island->first_body + islands.place[body]], body);
        }
    }
    assert_int_equal(islands.place[4], UINT32_MAX);
    assert_int_equal(islands.body_count, 5);
    rg_arena_free(&arena);
    rg_collision_destroy(collision);
    rg_world_destroy(world);
}

/* The problem of a box at rest: known mass matrix, known free velocities, weight carried by W. */
static void a_box_at_rest_is_a_known_problem(void **state) {
    (void)state;
    rg_world *world = default_world();
    add_floor(world);
    add_box(world, "a", (rg_vec3){1, 2, 4}, (rg_vec3){0, 0, 2});
    rg_collision *collision = watch(world);
    rg_collision_view view = rg_collision_get(collision);
    rg_row_set set;
    rg_islands islands;
    rg_arena arena = rg_arena_make(NULL);
    assert_int_equal(rg_rows_build(world, &view, 0.01, NULL, NULL, &arena, &set), RG_OK);
    assert_int_equal(rg_islands_find(&set, &(rg_joint_set){0}, 2, &arena, &islands), RG_OK);
    rg_vec3 v[2] = {{0, 0, 0}, {0, 0, -0.0981}}, w[2] = {{0, 0, 0}, {0, 0, 0}};
    double shift[12] = {0}, mu[4] = {0.5, 0.5, 0.5, 0.5};
    rg_problem problem;
    assert_int_equal(
        rg_island_problem(
            &world->content, &set, &islands, &islands.islands[0],
            &(rg_island_input){.velocity = v, .angular_velocity = w, .shift = shift, .mu = mu},
            &arena, &problem),
        RG_OK);
    assert_int_equal(rg_problem_check(&problem, NULL), RG_OK);
    assert_int_equal(rg_problem_rows(&problem), 12);
    const double *mass = problem.contact.global.mass;
    assert_near(mass[0], 8000, 1e-9);
    assert_near(mass[21], 8000.0 / 12 * (4 + 16), 1e-8);
    assert_near(mass[28], 8000.0 / 12 * (1 + 16), 1e-8);
    assert_near(mass[35], 8000.0 / 12 * (1 + 4), 1e-8);
    assert_near(rg_problem_scale(&problem), 0.0981, 1e-16);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(problem.contact.global.contact_blocks[2 * i + 1] == RG_NO_BLOCK ||
                             problem.contact.global.contact_blocks[2 * i] == RG_NO_BLOCK,
                         1);
        assert_near(problem.contact.mu[i], 0.5, 0);
    }
    /* Contacts that follow each other are read where they were written, others are copied. */
    assert_ptr_equal(problem.contact.global.contact_jacobian, set.jacobian);
    assert_ptr_equal(problem.contact.q, shift);
    uint32_t list[2] = {1, 3};
    rg_island some = islands.islands[0];
    islands.contacts = list;
    some.first_contact = 0, some.contact_count = 2;
    for (int i = 0; i < 12; i++)
        shift[i] = i;
    mu[3] = 0.25;
    assert_int_equal(
        rg_island_problem(
            &world->content, &set, &islands, &some,
            &(rg_island_input){.velocity = v, .angular_velocity = w, .shift = shift, .mu = mu},
            &arena, &problem),
        RG_OK);
    for (size_t k = 0; k < 2; k++) {
        assert_memory_equal(problem.contact.global.contact_jacobian + k * 36,
                            set.jacobian + list[k] * 36, 36 * sizeof(double));
        assert_memory_equal(problem.contact.q + 3 * k, shift + 3 * list[k], 3 * sizeof(double));
        assert_true(problem.contact.mu[k] == mu[list[k]]);
    }
    rg_arena_free(&arena);
    rg_collision_destroy(collision);
    rg_world_destroy(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tangents_are_tangents),
        cmocka_unit_test(the_normal_row_is_the_gradient_of_the_gap),
        cmocka_unit_test(forces_balance),
        cmocka_unit_test(links_are_those_of_the_rows),
        cmocka_unit_test(islands_are_joined_by_dynamic_bodies_only),
        cmocka_unit_test(a_box_at_rest_is_a_known_problem),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
