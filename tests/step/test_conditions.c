/* The conditions that Baraff 1989, section 5, and Giang 2003 put to contacts: impacts move nothing,
 * each of the four cases of a contact point is treated in its own way, forces are continuous
 * between events, the matrix of the contact problem is positive semidefinite, each pair of bodies
 * that meets at a point has a contact of its own; and answers in the friction cone do not depend on
 * the tangents (Baraff 1994). */
#include "test_world_support.h"

#include "base/base_trig.h"
#include "problem/problem_islands.h"
#include "rigor/contact_force.h"
#include "rigor/event.h"
#include "solve/solve.h"
#include "world/world.h"

#define G 9.81

static rg_world *make_world(const char *method, bool planar, double friction, double restitution) {
    rg_world_def def = rg_world_def_default();
    def.planar = planar;
    def.method = rg_method_find(method);
    rg_world *world = world_of(&def);
    rg_contact_law law = {.friction = friction, .restitution = restitution};
    assert_int_equal(rg_world_set_material_law(world, (rg_material_id){0}, &law, NULL), RG_OK);
    rg_body_def floor = rg_body_def_default();
    floor.motion = RG_MOTION_FIXED;
    add_shape(world, rg_shape_def_halfspace((rg_vec3){0, 0, 1}, 0), &floor);
    return world;
}

static size_t count_events(const rg_world *world, rg_step_event_kind kind) {
    size_t kept, count, found = 0;
    const rg_step_event *events = rg_world_step_events(world, &kept, &count);
    for (size_t i = 0; i < kept; i++)
        found += events[i].kind == (uint32_t)kind;
    return found;
}

/* A ball strikes the floor at the beginning of ever shorter steps: its velocity jumps by 1.5 m/s in
 * all of them, its position changes by no more than the time at its speeds allows. */
static void an_impact_moves_nothing(void **state) {
    (void)state;
    for (double h = 1e-2; h > 1e-9; h /= 10) {
        rg_world *world = make_world("analytic", false, 0, 0.5);
        rg_body_def def = rg_body_def_default();
        def.pose.position.z = 0.1;
        def.velocity.z = -1;
        rg_body_id ball = add_shape(world, rg_shape_def_sphere(0.1), &def);
        step_world(world, h, 1);
        assert_int_equal(count_events(world, RG_STEP_EVENT_IMPACT), 1);
        assert_near(rg_body_velocity(world, ball).z, 0.5 - G * h, 1e-12);
        assert_near(rg_body_pose(world, ball).position.z, 0.1 + 0.5 * h - G * h * h / 2, 1e-14);
        rg_world_destroy(world);
    }
}

/* Figure 6: a ball on the floor that approaches is an impact, one that parts feels nothing, one
 * that does neither is carried; one that overlaps is no state to go on from. */
static void four_cases_of_a_contact_point(void **state) {
    (void)state;
    enum { OVERLAPS, APPROACHES, PARTS, STAYS, CASES };
    for (int k = 0; k < CASES; k++) {
        rg_world *world = make_world("analytic", false, 0, 0);
        rg_body_def def = rg_body_def_default();
        def.pose.position.z = k == OVERLAPS ? 0.09 : 0.1;
        def.velocity.z = k == APPROACHES ? -1 : k == PARTS ? 1 : 0;
        rg_body_id ball = add_shape(world, rg_shape_def_sphere(0.1), &def);
        rg_error error;
        rg_status status = rg_world_step(world, 1e-3, NULL, &error);
        assert_int_equal(status == RG_OK, k != OVERLAPS);
        if (status == RG_OK) {
            rg_vec3 force = {0, 0, 0};
            rg_body_contact_force(world, ball, &force, NULL);
            double weight = rg_body_mass(world, ball).mass * G;
            assert_int_equal(count_events(world, RG_STEP_EVENT_IMPACT), k == APPROACHES);
            assert_near(force.z / weight, k == PARTS ? 0 : 1, 1e-12);
            assert_near(rg_body_velocity(world, ball).z, k == PARTS ? 1 - G * 1e-3 : 0, 1e-12);
        }
        rg_world_destroy(world);
    }
}

/* The largest change of the force between the ends of two steps, while a rod that leans slides down
 * with its lower end on a smooth floor. */
static double largest_jump(double h, double duration) {
    rg_world *world = make_world("analytic", true, 0, 0);
    double lean = RG_PI / 3, half = 0.5, thin = 0.01;
    rg_vec3 corners[4] = {{-half, 0, -thin}, {half, 0, -thin}, {half, 0, thin}, {-half, 0, thin}};
    rg_body_def def = rg_body_def_default();
    def.angle = lean;
    def.pose.position.z = half * rg_sin(lean) + thin * rg_cos(lean);
    rg_body_id rod = add_shape(world, rg_shape_def_polygon(corners, 4), &def);
    double last = NAN, jump = 0, least = INFINITY, most = 0;
    while (rg_world_time(world) < duration - h / 2) {
        step_world(world, h, 1);
        assert_int_equal(count_events(world, RG_STEP_EVENT_BREAK), 0);
        rg_vec3 force = {0, 0, 0};
        rg_body_contact_force(world, rod, &force, NULL);
        jump = fmax(jump, fabs(force.z - last)); /* fmax leaves the first NaN out */
        last = force.z;
        least = fmin(least, last), most = fmax(most, last);
    }
    assert_true(least > 0 && most > 1.05 * least); /* it changes, and is there all the time */
    rg_world_destroy(world);
    return jump / most;
}

static void forces_are_continuous_between_events(void **state) {
    (void)state;
    double coarse = largest_jump(0.01, 0.3), fine = largest_jump(0.001, 0.3);
    assert_true(coarse < 0.2);
    assert_near(fine / coarse, 0.1, 0.02);
}

/* Cholesky's factorisation of A + shift: whether all pivots are positive. */
static bool is_positive(double *a, size_t n, double shift) {
    for (size_t k = 0; k < n; k++) {
        double pivot = a[k * n + k] + shift;
        for (size_t j = 0; j < k; j++)
            pivot -= a[k * n + j] * a[k * n + j];
        if (!(pivot > 0))
            return false;
        a[k * n + k] = sqrt(pivot);
        for (size_t i = k + 1; i < n; i++) {
            for (size_t j = 0; j < k; j++)
                a[i * n + k] -= a[i * n + j] * a[k * n + j];
            a[i * n + k] /= a[k * n + k];
        }
    }
    return true;
}

static size_t check_matrices(const rg_world *world, rg_solve_context *context) {
    rg_collision_view view = rg_collision_get(rg_world_collision(world));
    const rg_world_content *content = &world->content;
    rg_arena arena = rg_arena_make(NULL);
    rg_row_set set;
    rg_islands islands;
    assert_int_equal(rg_rows_build(world, &view, 0.01, NULL, NULL, &arena, &set), RG_OK);
    assert_int_equal(
        rg_islands_find(&set, &(rg_joint_set){0}, rg_world_body_count(world), &arena, &islands),
        RG_OK);
    double *none = calloc(3 * set.count + 1, sizeof *none);
    size_t largest = 0;
    for (size_t i = 0; i < islands.count; i++) {
        rg_problem problem;
        rg_island_input input = {.velocity = content->velocity,
                                 .angular_velocity = content->angular_velocity,
                                 .shift = none,
                                 .mu = none};
        assert_int_equal(rg_island_problem(content, &set, &islands, &islands.islands[i], &input,
                                           &arena, &problem),
                         RG_OK);
        rg_conversion conversion;
        assert_int_equal(rg_convert(context, &problem, RG_CONVERT_CONDENSE, &conversion, NULL),
                         RG_OK);
        size_t n = rg_problem_rows(&conversion.problem);
        const double *matrix = conversion.problem.contact.w.dense;
        double norm = 0, *copy = malloc(n * n * sizeof *copy);
        for (size_t k = 0; k < n * n; k++) {
            copy[k] = matrix[k];
            norm = fmax(norm, fabs(matrix[k]));
        }
        for (size_t k = 0; k < n * n; k++)
            assert_near(matrix[k], matrix[k % n * n + k / n], 1e-14 * norm);
        assert_true(is_positive(copy, n, 1e-12 * (double)n * norm));
        free(copy);
        largest = n > largest ? n : largest;
    }
    free(none);
    rg_arena_free(&arena);
    return largest;
}

/* Heaps of boxes on their way down: the smallest eigenvalue of A is at least -1e-12 n |A|. */
static void the_matrix_is_positive_semidefinite(void **state) {
    (void)state;
    rg_solve_context *context;
    assert_int_equal(rg_solve_context_create(NULL, &context), RG_OK);
    size_t largest = 0;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        rg_random random = rg_random_make(seed);
        rg_world *world = make_world("stepping", false, 0.5, 0);
        for (int i = 0; i < 12; i++) {
            double size = rg_random_between(&random, 0.1, 0.5);
            double x = rg_random_between(&random, -0.3, 0.3);
            double y = rg_random_between(&random, -0.3, 0.3);
            add_box(world, NULL, (rg_vec3){size, 0.3, 0.2}, (rg_vec3){x, y, 0.15 + 0.25 * i});
        }
        for (int i = 0; i < 12; i++) {
            step_world(world, 1.0 / 60, 5);
            size_t n = check_matrices(world, context);
            largest = n > largest ? n : largest;
        }
        rg_world_destroy(world);
    }
    assert_true(largest >= 60);
    rg_solve_context_destroy(context);
}

/* Two boxes side by side on a third meet in one point of the plane: three pairs, three contacts. */
static void three_bodies_at_a_point(void **state) {
    (void)state;
    rg_world_def def = rg_world_def_default();
    def.planar = true;
    rg_world *world = world_of(&def);
    rg_vec3 square[4] = {{-0.5, 0, -0.5}, {0.5, 0, -0.5}, {0.5, 0, 0.5}, {-0.5, 0, 0.5}};
    for (int i = 0; i < 3; i++) {
        rg_body_def body = rg_body_def_default();
        body.motion = i == 0 ? RG_MOTION_FIXED : RG_MOTION_DYNAMIC;
        body.pose.position = (rg_vec3){i == 0 ? 0 : i == 1 ? -0.5 : 0.5, 0, i == 0 ? -0.5 : 0.5};
        add_shape(world, rg_shape_def_polygon(square, 4), &body);
    }
    step_world(world, 1e-3, 1);
    rg_collision_view view = rg_collision_get(rg_world_collision(world));
    size_t found = 0;
    for (size_t i = 0; i < view.point_count; i++)
        found += rg_length(view.points[i].position) < 1e-5; /* fallen by g h^2 at most */
    assert_int_equal(found, 3);
    rg_world_destroy(world);
}

/* Gravity that points aside, turned about the vertical by any angle against the tangents: in the
 * cone a block lets go at the same slope and slides as fast, to rounding. */
static void the_cone_has_no_tangents(void **state) {
    (void)state;
    double mu = 0.3, first = NAN;
    for (int k = 0; k < 12; k++) {
        double yaw = 0.123 + k * RG_PI / 7;
        rg_vec3 fall = {rg_cos(yaw), rg_sin(yaw), 0};
        rg_world *world = make_world("stepping", false, mu, 0);
        rg_vec3 gravity = rg_add(rg_scale(4, fall), (rg_vec3){0, 0, -9});
        assert_int_equal(rg_world_set_gravity(world, gravity), RG_OK);
        rg_body_id box = add_box(world, NULL, (rg_vec3){1, 1, 0.1}, (rg_vec3){0, 0, 0.05});
        step_world(world, 0.01, 50);
        rg_vec3 v = rg_body_velocity(world, box);
        if (k == 0)
            first = rg_dot(v, fall);
        assert_near(rg_dot(v, fall), (4 - mu * 9) * 0.5, 1e-9);
        assert_near(rg_dot(v, fall), first, 1e-9);
        assert_near(rg_length(v), rg_dot(v, fall), 1e-9);
        rg_world_destroy(world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_impact_moves_nothing),
        cmocka_unit_test(four_cases_of_a_contact_point),
        cmocka_unit_test(forces_are_continuous_between_events),
        cmocka_unit_test(the_matrix_is_positive_semidefinite),
        cmocka_unit_test(three_bodies_at_a_point),
        cmocka_unit_test(the_cone_has_no_tangents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
