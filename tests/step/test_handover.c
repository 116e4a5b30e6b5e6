/* Steps that the analytic method cannot make, handed over to the stepping method: that they are its
 * steps to the last bit, are reported with their cause, leave nothing of the integrator's memory
 * behind, and that the analytic method goes on as soon as it can. Steps of which only a part is:
 * test_mixed.c. */
#include "test_world_support.h"

#include "step/step_analytic.h"

#include "rigor/contact_force.h"
#include "rigor/event.h"
#include "world/world.h"

#include <stdlib.h>
#include <string.h>

#define H    (1.0 / 240)
#define SIDE 0.2
#define DEEP 1e-4 /* m: the beginning's overlap of the box and the floor */

/* A box in the floor, a lid on it with a little air, and one that flies. */
static rg_world *make_world(const char *method, bool hand_over, rg_integrator integrator) {
    rg_world_def def = rg_world_def_default();
    def.method = rg_method_find(method);
    def.settings.hand_over = hand_over;
    def.settings.integrator = integrator;
    rg_world *world = world_of(&def);
    rg_shape *shape = shape_of(rg_shape_def_halfspace((rg_vec3){0, 0, 1}, 0));
    rg_collider_def collider = rg_collider_def_default();
    collider.shape = shape;
    rg_body_def floor = rg_body_def_default();
    floor.name = "floor";
    floor.motion = RG_MOTION_FIXED;
    floor.colliders = &collider;
    floor.collider_count = 1;
    body_of(world, &floor);
    rg_shape_release(shape);
    rg_vec3 size = {SIDE, SIDE, SIDE};
    add_box(world, "box", size, (rg_vec3){0, 0, SIDE / 2 - DEEP});
    add_box(world, "lid", size, (rg_vec3){0, 0, 3 * SIDE / 2 + 0.01});
    add_box(world, "far", (rg_vec3){1, 2, 3}, (rg_vec3){5, 0, 5});
    return world;
}

static const rg_step_event *handed_over(const rg_world *world, size_t *count) {
    size_t kept;
    const rg_step_event *events = rg_world_step_events(world, &kept, count);
    for (size_t i = 0; i < kept; i++)
        if (events[i].kind == RG_STEP_EVENT_HANDED_OVER)
            return &events[i];
    return NULL;
}

static void overlaps_are_refused_unless_allowed(void **state) {
    (void)state;
    assert_false(rg_method_settings_default().hand_over);
    rg_world *world = make_world("analytic", false, RG_INTEGRATOR_DORMAND_PRINCE);
    uint64_t before = rg_world_state_hash(world);
    rg_error error;
    assert_int_equal(rg_world_step(world, H, NULL, &error), RG_INVALID_ARGUMENT);
    assert_non_null(strstr(error.text, "\"floor\" and \"box\" overlap by 0.0001 m"));
    assert_true(rg_world_state_hash(world) == before);
    rg_world_destroy(world);
}

static void remove_body(rg_world *world, const char *name) {
    rg_body_id body;
    assert_int_equal(rg_world_find_body(world, name, &body), RG_OK);
    assert_int_equal(rg_world_remove_body(world, body), RG_OK);
}

/* If it is everybody's, the same bits, forces and ledger as of a world whose method is stepping. */
static void the_step_is_the_stepping_methods(void **state) {
    (void)state;
    rg_world *analytic = make_world("analytic", true, RG_INTEGRATOR_ADAMS);
    rg_world *stepping = make_world("stepping", false, RG_INTEGRATOR_ADAMS);
    for (int i = 0; i < 2; i++) {
        remove_body(i ? stepping : analytic, "lid");
        remove_body(i ? stepping : analytic, "far");
    }
    rg_step_info p, q;
    assert_int_equal(rg_world_step(analytic, H, &p, NULL), RG_OK);
    assert_int_equal(rg_world_step(stepping, H, &q, NULL), RG_OK);
    assert_true(rg_world_state_hash(analytic) == rg_world_state_hash(stepping));
    assert_int_equal(p.contacts_max, q.contacts_max);
    assert_true(p.energy.stabilisation == q.energy.stabilisation && q.energy.stabilisation > 0);
    assert_true(p.energy.closure_rel == q.energy.closure_rel && p.energy.closure_rel < 1e-10);
    size_t count[2];
    const rg_contact_force *f = rg_world_contact_forces(analytic, &count[0]);
    const rg_contact_force *g = rg_world_contact_forces(stepping, &count[1]);
    assert_true(count[0] == count[1] && count[0] >= 4);
    assert_memory_equal(f, g, count[0] * sizeof *f);
    rg_world_destroy(analytic);
    rg_world_destroy(stepping);
}

static void it_says_why_and_goes_on(void **state) {
    (void)state;
    rg_world *world = make_world("analytic", true, RG_INTEGRATOR_DORMAND_PRINCE);
    int steps = 0, last = -1;
    for (; steps < 240; steps++) {
        rg_step_info info;
        double begin = rg_world_time(world);
        assert_int_equal(rg_world_step(world, H, &info, NULL), RG_OK);
        assert_true(info.energy.closure_rel < 1e-8);
        assert_int_equal(info.solver_failures, 0);
        size_t count;
        const rg_step_event *e = handed_over(world, &count);
        if (!e) {
            assert_true(info.certificate.min_gap > 0); /* the analytic method's own promise */
            continue;
        }
        assert_int_equal(steps, last + 1); /* at the beginning, and never again */
        last = steps;
        assert_int_equal(count, 1); /* nothing of the step that was given up */
        assert_true(e->time == begin);
        assert_int_equal((int)e->value, RG_INVALID_ARGUMENT);
        char text[512];
        size_t length = rg_step_event_text(world, e, text, sizeof text);
        assert_true(length == strlen(text));
        assert_non_null(strstr(text, "the method stepping makes this step of \"box\": at t = "));
        assert_non_null(strstr(text, "overlap by"));
        assert_true(info.certificate.max_penetration < DEEP);
    }
    assert_in_range(last, 0, 10);
    assert_string_equal(rg_step_event_name(RG_STEP_EVENT_HANDED_OVER), "handed-over");
    rg_world_destroy(world);
}

/* An event that outlives its step still has the kind of its cause. */
static void an_old_event_keeps_its_kind_of_cause(void **state) {
    (void)state;
    rg_world *world = make_world("analytic", true, RG_INTEGRATOR_DORMAND_PRINCE);
    rg_step_event old = {
        .time = 17, .kind = RG_STEP_EVENT_HANDED_OVER, .value = (double)RG_ITERATION_LIMIT};
    char text[256];
    rg_step_event_text(world, &old, text, sizeof text);
    assert_string_equal(text,
                        "t = 17 s: the method stepping makes this step: no convergence within "
                        "the iteration limit");
    rg_world_destroy(world);
}

/* A body beside a centre of attraction that no integrator can follow it around. */
static rg_world *singular_world(const char *method) {
    rg_world_def def = rg_world_def_default();
    def.gravity = (rg_vec3){0, 0, 0};
    def.method = rg_method_find(method);
    def.settings.hand_over = true;
    def.settings.integrator = RG_INTEGRATOR_ADAMS;
    rg_world *world = world_of(&def);
    add_box(world, "box", (rg_vec3){SIDE, SIDE, SIDE}, (rg_vec3){0, 0, 1e-9});
    rg_force_def centre = rg_force_def_default(RG_FORCE_CENTRAL);
    centre.strength = 4;
    centre.start_time = 3.5 * H;
    rg_force_id force;
    assert_int_equal(rg_world_add_force(world, &centre, &force, NULL), RG_OK);
    return world;
}

/* Bodies that meet nothing are a group like others. What the multistep method has learnt before
 * does not survive the step of another method. */
static void flight_is_handed_over(void **state) {
    (void)state;
    rg_world *world = singular_world("analytic"), *stepping = singular_world("stepping");
    size_t count;
    step_world(world, H, 3);
    assert_null(handed_over(world, &count));
    assert_true(world->content.memory[RG_MEMORY_METHOD].size > 0);
    size_t size;
    assert_int_equal(rg_world_save_state(world, NULL, 0, &size), RG_OK);
    void *bytes = malloc(size);
    assert_int_equal(rg_world_save_state(world, bytes, size, &size), RG_OK);
    assert_int_equal(rg_world_load_state(stepping, bytes, size, NULL), RG_OK);
    free(bytes);
    step_world(world, H, 1);
    step_world(stepping, H, 1);
    const rg_step_event *e = handed_over(world, &count);
    assert_true(e && count == 1 && e->contacts == 1);
    assert_true((int)e->value == RG_ITERATION_LIMIT || (int)e->value == RG_STEP_TOO_SMALL);
    char text[512];
    (void)rg_step_event_text(world, e, text, sizeof text);
    assert_non_null(strstr(text, "the method stepping makes this step of \"box\": after t = "));
    /* Of the history of the one body nothing is left. */
    const rg_analysis_memory *memory = world->content.memory[RG_MEMORY_METHOD].data;
    const unsigned char *heads = (const unsigned char *)rg_analysis_known_of(memory);
    for (size_t i = 0;
         i < sizeof(rg_analysis_known) + 2 * sizeof(uint64_t) + sizeof(rg_adams_memory); i++)
        assert_int_equal(heads[i], 0);
    assert_true(rg_world_state_hash(world) == rg_world_state_hash(stepping));
    rg_world_destroy(world);
    rg_world_destroy(stepping);
}

/* A cause that names nobody is told with the bodies of the group. */
static void a_failure_says_where(void **state) {
    (void)state;
    for (int more = 0; more < 3; more++) {
        rg_world_def def = rg_world_def_default();
        def.method = rg_method_find("analytic");
        rg_world *world = world_of(&def);
        rg_vec3 size = {SIDE, SIDE, SIDE};
        add_box(world, "core", size, (rg_vec3){0, 0, 1e-9});
        rg_body_def floor = rg_body_def_default();
        floor.motion = RG_MOTION_FIXED;
        add_shape(world, rg_shape_def_halfspace((rg_vec3){0, 0, 1}, -SIDE), &floor);
        for (int i = 0; i < more; i++)
            add_box(world, i ? "third" : "second", size, (rg_vec3){3 + i, 0, 0});
        rg_force_def centre = rg_force_def_default(RG_FORCE_CENTRAL);
        centre.strength = 4;
        rg_force_id force;
        assert_int_equal(rg_world_add_force(world, &centre, &force, NULL), RG_OK);
        rg_error error = {0};
        assert_true(rg_world_step(world, H, NULL, &error) != RG_OK);
        static const char *const names[] = {"; the body is \"core\"",
                                            "; the bodies are \"core\" and \"second\"",
                                            "; the bodies are \"core\", \"second\" and 1 more"};
        assert_non_null(strstr(error.text, names[more]));
        assert_non_null(strstr(error.text, " t = "));
        rg_world_destroy(world);
    }
}

/* Copies and saved states in the middle of it go on with the same bits. */
static void copies_and_saved_states_go_on(void **state) {
    (void)state;
    uint64_t hash = 0;
    for (int way = 0; way < 3; way++) {
        rg_world *world = make_world("analytic", true, RG_INTEGRATOR_ADAMS);
        step_world(world, H, 1);
        if (way == 1)
            world = replace_by_clone(world);
        if (way == 2)
            world = carry_over(world, make_world("analytic", true, RG_INTEGRATOR_ADAMS));
        assert_true(rg_world_settings(world).hand_over);
        step_world(world, H, 30);
        hash = way == 0 ? rg_world_state_hash(world) : hash;
        assert_true(rg_world_state_hash(world) == hash);
        rg_world_destroy(world);
    }
}

/* If the other method cannot either, both say why; and nothing has changed. */
static void both_may_fail(void **state) {
    (void)state;
    rg_world *world = make_world("analytic", true, RG_INTEGRATOR_DORMAND_PRINCE);
    rg_body_id far;
    assert_int_equal(rg_world_find_body(world, "far", &far), RG_OK);
    assert_int_equal(rg_body_set_angular_velocity(world, far, (rg_vec3){1e7, 1e6, 0}), RG_OK);
    uint64_t before = rg_world_state_hash(world);
    rg_error error = {0};
    assert_int_equal(rg_world_step(world, 1, NULL, &error), RG_ITERATION_LIMIT);
    assert_non_null(strstr(error.text, "overlap by"));
    assert_non_null(strstr(error.text, "Handed over to the method stepping: body 3 \"far\" turns"));
    assert_true(rg_world_state_hash(world) == before);
    rg_world_destroy(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(overlaps_are_refused_unless_allowed),
                                       cmocka_unit_test(the_step_is_the_stepping_methods),
                                       cmocka_unit_test(it_says_why_and_goes_on),
                                       cmocka_unit_test(an_old_event_keeps_its_kind_of_cause),
                                       cmocka_unit_test(flight_is_handed_over),
                                       cmocka_unit_test(a_failure_says_where),
                                       cmocka_unit_test(copies_and_saved_states_go_on),
                                       cmocka_unit_test(both_may_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
