/* Loads (world_load.c): what each kind of force does to a body, at the state that it is in; that
 * their sum with gravity is the acceleration that the next step makes; what was applied during a
 * step, until the next one; times; functions, which may look but not change. */
#include "test_world_support.h"

static rg_body_id ball(rg_world *world, double mass, rg_vec3 position) {
    rg_body_def def = rg_body_def_default();
    def.has_mass = true;
    def.mass =
        (rg_mass_properties){.mass = mass, .inertia = rg_mat3_diagonal((rg_vec3){0.5, 0.5, 0.5})};
    def.pose.position = position;
    return body_of(world, &def);
}

static void add(rg_world *world, rg_force_def def) {
    rg_force_id force;
    rg_error error;
    if (rg_world_add_force(world, &def, &force, &error))
        fail_msg("%s", error.text);
}

static const rg_load *loads_of(rg_world *world, size_t expected) {
    const rg_load *loads;
    size_t count;
    assert_int_equal(rg_world_find_loads(world, &loads, &count), RG_OK);
    assert_int_equal(count, expected);
    return loads;
}

static rg_world *world_with(const char *method) {
    static counting_allocator counter;
    rg_world_def def = rg_world_def_default();
    def.allocator = counting_allocator_make(&counter); /* nothing is left of a world */
    def.method = rg_method_find(method);
    return world_of(&def);
}

/* A bob of 1 kg on a spring of 100 N/m that is stretched by 0.72 m: 72 N up, 9.81 N down. */
static void springs_pull_at_both_ends(void **state) {
    (void)state;
    rg_world *world = world_with("stepping");
    rg_body_id bob = ball(world, 1, (rg_vec3){0, 0, 1}), top = ball(world, 5, (rg_vec3){0, 0, 3});
    rg_force_def spring = rg_force_def_default(RG_FORCE_SPRING);
    spring.body = bob;
    spring.other = top;
    spring.point = (rg_vec3){0, 0, 0.28};
    spring.stiffness = 100;
    spring.rest_length = 1;
    add(world, spring);
    const rg_load *load = loads_of(world, 2);
    assert_true(load[0].body.index1 == bob.index1 && load[1].body.index1 == top.index1);
    assert_int_equal(load[0].kind, RG_FORCE_SPRING);
    assert_vector(load[0].point, (rg_vec3){0, 0, 1.28}, 1e-15);
    assert_vector(load[0].vector, (rg_vec3){0, 0, 72}, 1e-12);
    assert_vector(load[1].point, (rg_vec3){0, 0, 3}, 0);
    assert_vector(load[1].vector, (rg_vec3){0, 0, -72}, 1e-12);
    assert_vector(load[0].torque, (rg_vec3){0, 0, 0}, 0);
    step_world(world, 1e-3, 1);
    assert_vector(rg_body_velocity(world, bob), (rg_vec3){0, 0, 1e-3 * (72 - 9.81)}, 1e-15);
    rg_world_destroy(world);
}

static void every_kind_has_its_load(void **state) {
    (void)state;
    rg_world *world = world_with("stepping");
    rg_body_id a = ball(world, 2, (rg_vec3){3, 0, 4});
    rg_body_set_velocity(world, a, (rg_vec3){0, 2, 0});
    rg_body_set_angular_velocity(world, a, (rg_vec3){0, 0, 5});
    rg_force_def constant = rg_force_def_default(RG_FORCE_CONSTANT);
    constant.body = a;
    constant.point = (rg_vec3){1, 0, 0};
    constant.force = (rg_vec3){0, 0, 7};
    constant.torque = (rg_vec3){0, 1, 0};
    rg_force_def drag = rg_force_def_default(RG_FORCE_DRAG);
    drag.linear = 3;
    drag.angular = 0.2;
    rg_force_def field = rg_force_def_default(RG_FORCE_FIELD);
    field.acceleration = (rg_vec3){1, 0, 0};
    rg_force_def central = rg_force_def_default(RG_FORCE_CENTRAL);
    central.strength = 50;
    rg_force_def later = constant;
    later.start_time = 1;
    add(world, constant);
    add(world, drag);
    add(world, field);
    add(world, central);
    add(world, later);
    const rg_load *load = loads_of(world, 4);
    assert_vector(load[0].point, (rg_vec3){4, 0, 4}, 0);
    assert_vector(load[0].vector, (rg_vec3){0, 0, 7}, 0);
    assert_vector(load[0].torque, (rg_vec3){0, 1, 0}, 0);
    assert_vector(load[1].vector, (rg_vec3){0, -6, 0}, 1e-15);
    assert_vector(load[1].torque, (rg_vec3){0, 0, -1}, 1e-15);
    assert_vector(load[2].vector, (rg_vec3){2, 0, 0}, 0);
    assert_vector(load[3].vector, (rg_vec3){-2.4, 0, -3.2}, 1e-14); /* 2 kg 50 / 25 */
    rg_world_destroy(world);
}

/* Applied by a program for one step: told after it, and gone after the next. */
static void applied_forces_are_told_once(void **state) {
    (void)state;
    rg_world *world = world_with("stepping");
    rg_body_id a = ball(world, 2, (rg_vec3){0, 0, 0});
    ball(world, 3, (rg_vec3){9, 0, 0});
    rg_body_apply_force(world, a, (rg_vec3){0, 0, 30}, (rg_vec3){1, 0, 0});
    loads_of(world, 0);
    step_world(world, 1e-3, 1);
    const rg_load *load = loads_of(world, 1);
    assert_int_equal(load->kind, RG_FORCE_KIND_COUNT);
    assert_int_equal(load->force.index1, 0);
    assert_true(load->body.index1 == a.index1);
    assert_vector(load->vector, (rg_vec3){0, 0, 30}, 0);
    assert_vector(load->torque, (rg_vec3){0, -30, 0}, 0);
    step_world(world, 1e-3, 1);
    loads_of(world, 0);
    rg_world_destroy(world);
}

/* They are of the step that was made: not of bodies that came after it, and of no loaded state. */
static void applied_forces_are_of_their_step(void **state) {
    (void)state;
    rg_world *world = world_with("stepping");
    size_t size;
    rg_error error;
    for (int i = 0; i < 40; i++)
        ball(world, 2, (rg_vec3){9.0 * i, 0, 0});
    assert_int_equal(rg_world_save_state(world, NULL, 0, &size), RG_OK);
    char *saved = malloc(size);
    assert_int_equal(rg_world_save_state(world, saved, size, &size), RG_OK);
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < 40; i++)
            rg_body_apply_force(world, rg_world_body_at(world, i), (rg_vec3){0, 0, 30},
                                (rg_vec3){0, 0, 0});
        step_world(world, 1e-3, 1);
        loads_of(world, 40);
        if (pass == 0) {
            assert_int_equal(rg_world_load_state(world, saved, size, &error), RG_OK);
            loads_of(world, 0);
        }
    }
    rg_world_remove_body(world, rg_world_body_at(world, 39));
    ball(world, 3, (rg_vec3){0, 9, 0});
    loads_of(world, 39);
    free(saved);
    rg_world_destroy(world);
}

typedef struct meddler {
    rg_world *world;
    rg_body_id body;
    rg_status change, look;
} meddler;

/* The state of a world whose pushed body is gone, in a world that never had one: nobody to tell,
 * and no memory to copy. Undefined behaviour is for the sanitizers to see. */
static void who_was_pushed_may_be_gone(void **state) {
    (void)state;
    rg_world *world = world_with("stepping"), *other = world_with("stepping");
    rg_body_id a = ball(world, 2, (rg_vec3){0, 0, 0});
    assert_int_equal(rg_body_apply_central_force(world, a, (rg_vec3){0, 0, 30}), RG_OK);
    assert_int_equal(rg_world_remove_body(world, a), RG_OK);
    size_t size;
    assert_int_equal(rg_world_save_state(world, NULL, 0, &size), RG_OK);
    void *bytes = malloc(size);
    assert_int_equal(rg_world_save_state(world, bytes, size, &size), RG_OK);
    rg_error error;
    if (rg_world_load_state(other, bytes, size, &error))
        fail_msg("%s", error.text);
    step_world(other, 1e-3, 1);
    loads_of(other, 0);
    free(bytes);
    rg_world_destroy(world);
    rg_world_destroy(other);
}

static void push(void *user, rg_force_context *context) {
    meddler *m = user;
    const rg_load *loads;
    size_t count;
    m->change = rg_body_set_velocity(m->world, m->body, (rg_vec3){1, 1, 1});
    m->look = rg_world_find_loads(m->world, &loads, &count);
    context->force[0].x += 4 * context->velocity[0].z;
    context->torque[0].y += 1;
}

static void functions_are_called_and_cannot_change_anything(void **state) {
    (void)state;
    rg_world *world = world_with("analytic");
    meddler m = {.world = world, .body = ball(world, 2, (rg_vec3){0, 0, 0})};
    rg_body_set_velocity(world, m.body, (rg_vec3){0, 0, 3});
    rg_force_def def = rg_force_def_default(RG_FORCE_FUNCTION);
    def.function = push;
    def.user = &m;
    add(world, def);
    const rg_load *load = loads_of(world, 1);
    assert_int_equal(load->kind, RG_FORCE_FUNCTION);
    assert_vector(load->vector, (rg_vec3){12, 0, 0}, 0);
    assert_vector(load->torque, (rg_vec3){0, 1, 0}, 0);
    assert_int_equal(m.change, RG_BUSY);
    assert_int_equal(m.look, RG_BUSY);
    assert_int_equal(rg_body_set_velocity(world, m.body, (rg_vec3){0, 0, 0}), RG_OK);
    rg_world_destroy(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(springs_pull_at_both_ends),
        cmocka_unit_test(every_kind_has_its_load),
        cmocka_unit_test(applied_forces_are_told_once),
        cmocka_unit_test(applied_forces_are_of_their_step),
        cmocka_unit_test(who_was_pushed_may_be_gone),
        cmocka_unit_test(functions_are_called_and_cannot_change_anything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
