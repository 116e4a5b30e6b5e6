/* Snapshots, clones and saved states: the same bits afterwards, whatever happened in between. */
#include "test_world_support.h"

#include <stdlib.h>
#include <string.h>

static rg_world *mixed(int method) {
    rg_world_def def = rg_world_def_default();
    def.method = rg_method_find(method < 1 ? "stepping" : "analytic");
    def.settings.integrator = method < 2 ? RG_INTEGRATOR_DORMAND_PRINCE : RG_INTEGRATOR_ADAMS;
    rg_world *world = world_of(&def);
    fill_mixed_world(world, 20);
    return world;
}

static void restore_goes_on_with_the_same_bits(void **state) {
    (void)state;
    for (int method = 0; method < 3; method++) {
        rg_world *world = mixed(method);
        step_world(world, 0.01, 7);
        rg_snapshot *snapshot;
        assert_int_equal(rg_snapshot_create(world, &snapshot), RG_OK);
        uint64_t then = rg_world_state_hash(world);
        double number = rg_random_unit(rg_world_random(world));
        step_world(world, 0.01, 20);
        uint64_t later = rg_world_state_hash(world);
        /* Wreck it: bodies go and come, gravity turns. */
        rg_world_remove_body(world, rg_world_body_at(world, 3));
        add_box(world, "late", (rg_vec3){1, 1, 1}, (rg_vec3){9, 9, 9});
        rg_world_set_gravity(world, (rg_vec3){5, 5, 5});
        step_world(world, 0.03, 5);
        for (int again = 0; again < 2; again++) {
            assert_int_equal(rg_world_restore(world, snapshot), RG_OK);
            assert_true(rg_world_state_hash(world) == then);
            assert_true(rg_random_unit(rg_world_random(world)) == number);
            rg_body_id body;
            assert_int_equal(rg_world_find_body(world, "late", &body), RG_NOT_FOUND);
            assert_int_equal(rg_world_find_body(world, "shaker", &body), RG_OK);
            step_world(world, 0.01, 20);
            assert_true(rg_world_state_hash(world) == later);
        }
        rg_snapshot_destroy(snapshot);
        rg_world_destroy(world);
    }
}

static rg_force_id add_weight(rg_world *world, rg_body_id body) {
    rg_force_def def = rg_force_def_default(RG_FORCE_CONSTANT);
    rg_force_id force;
    def.body = body;
    assert_int_equal(rg_world_add_force(world, &def, &force, NULL), RG_OK);
    return force;
}

static rg_joint_id add_hinge(rg_world *world, rg_body_id body) {
    rg_joint_def def = rg_joint_def_default(RG_JOINT_HINGE);
    rg_joint_id joint;
    def.body_b = body;
    assert_int_equal(rg_world_add_joint(world, &def, &joint, NULL), RG_OK);
    return joint;
}

/* Colliders, forces and joints that were made after a snapshot. */
static void old_handles_of_all_kinds_stay_dead(void **state) {
    (void)state;
    rg_world *world = mixed(0);
    rg_body_id body = rg_world_body_at(world, 0);
    rg_collider_def def = rg_collider_get_def(world, rg_body_collider_at(world, body, 0));
    rg_snapshot *snapshot;
    assert_int_equal(rg_snapshot_create(world, &snapshot), RG_OK);
    rg_collider_id collider[2];
    rg_force_id force[2];
    rg_joint_id joint[2];
    for (int i = 0; i < 2; i++) {
        assert_int_equal(rg_world_add_collider(world, body, &def, &collider[i], NULL), RG_OK);
        force[i] = add_weight(world, body);
        joint[i] = add_hinge(world, body);
        if (i == 0)
            assert_int_equal(rg_world_restore(world, snapshot), RG_OK);
    }
    assert_int_equal(rg_world_remove_collider(world, collider[0]), RG_INVALID_HANDLE);
    assert_int_equal(rg_world_remove_force(world, force[0]), RG_INVALID_HANDLE);
    assert_int_equal(rg_world_remove_joint(world, joint[0]), RG_INVALID_HANDLE);
    assert_int_equal(rg_world_remove_collider(world, collider[1]), RG_OK);
    assert_int_equal(rg_world_remove_force(world, force[1]), RG_OK);
    assert_int_equal(rg_world_remove_joint(world, joint[1]), RG_OK);
    assert_int_equal(joint[0].index1, joint[1].index1); /* slots as before, for the same order */
    rg_snapshot_destroy(snapshot);
    rg_world_destroy(world);
}

/* A handle that was made after the snapshot must not come to life again with another body. */
static void old_handles_stay_dead_after_a_restore(void **state) {
    (void)state;
    rg_world *world = mixed(0);
    rg_body_id kept = rg_world_body_at(world, 0);
    rg_snapshot *snapshot;
    assert_int_equal(rg_snapshot_create(world, &snapshot), RG_OK);
    rg_body_id late[3], again[3];
    for (int i = 0; i < 3; i++)
        late[i] = add_box(world, NULL, (rg_vec3){1, 1, 1}, (rg_vec3){9, 9, i});
    assert_int_equal(rg_world_remove_body(world, kept), RG_OK);
    assert_int_equal(rg_world_restore(world, snapshot), RG_OK);
    assert_true(rg_body_exists(world, kept));
    for (int i = 0; i < 3; i++) {
        assert_false(rg_body_exists(world, late[i]));
        again[i] = add_box(world, NULL, (rg_vec3){1, 1, 1}, (rg_vec3){9, 9, i});
        assert_int_equal(again[i].index1, late[i].index1); /* slots as before, for the same order */
        assert_false(rg_body_exists(world, late[i]));
    }
    rg_snapshot_destroy(snapshot);
    rg_world_destroy(world);
}

static void a_clone_is_a_world_of_its_own(void **state) {
    (void)state;
    for (int method = 0; method < 3; method++) {
        rg_world *world = mixed(method), *clone;
        step_world(world, 0.01, 7);
        assert_int_equal(rg_world_clone(world, &clone), RG_OK);
        step_world(world, 0.01, 20);
        uint64_t later = rg_world_state_hash(world);
        rg_world_destroy(world);
        assert_true(rg_world_state_hash(clone) != later);
        step_world(clone, 0.01, 20);
        assert_true(rg_world_state_hash(clone) == later);
        rg_world_destroy(clone);
    }
}

static void *save(const rg_world *world, size_t *size) {
    assert_int_equal(rg_world_save_state(world, NULL, 0, size), RG_OK);
    void *bytes = malloc(*size);
    size_t written;
    assert_int_equal(rg_world_save_state(world, bytes, *size, &written), RG_OK);
    assert_int_equal(written, *size);
    assert_int_equal(rg_world_save_state(world, bytes, *size - 1, &written), RG_LIMIT_EXCEEDED);
    assert_int_equal(rg_world_save_state(world, bytes, *size, &written), RG_OK);
    return bytes;
}

static void a_saved_state_goes_on_in_a_fresh_world(void **state) {
    (void)state;
    for (int method = 0; method < 3; method++) {
        rg_world *world = mixed(method);
        step_world(world, 0.01, 7);
        size_t size;
        void *bytes = save(world, &size);
        step_world(world, 0.01, 20);
        rg_world *fresh = mixed(method);
        rg_error error;
        if (rg_world_load_state(fresh, bytes, size, &error))
            fail_msg("%s", error.text);
        step_world(fresh, 0.01, 20);
        assert_true(rg_world_state_hash(fresh) == rg_world_state_hash(world));
        assert_int_equal(rg_world_step_count(fresh), 27);
        assert_int_equal(rg_world_summary(fresh).substeps, rg_world_summary(world).substeps);
        free(bytes);
        rg_world_destroy(world);
        rg_world_destroy(fresh);
    }
}

/* Truncated anywhere, or with any byte of its headers wrong: refused, and the world is untouched.
 */
static void damaged_states_are_refused(void **state) {
    (void)state;
    rg_world *world = mixed(2);
    step_world(world, 0.01, 3);
    size_t size;
    char *bytes = save(world, &size);
    uint64_t before = rg_world_state_hash(world);
    for (size_t length = 0; length + 16 < size; length += length < 400 ? 1 : 97) {
        char *cut = malloc(length + 1);
        memcpy(cut, bytes, length);
        assert_int_not_equal(rg_world_load_state(world, cut, length, NULL), RG_OK);
        assert_true(rg_world_state_hash(world) == before);
        free(cut);
    }
    for (size_t i = 0; i < 32; i++) {
        if (i >= 20 && i < 24)
            continue; /* reserved bytes */
        bytes[i] ^= 0x55;
        assert_int_not_equal(rg_world_load_state(world, bytes, size, NULL), RG_OK);
        bytes[i] ^= 0x55;
    }
    rg_error error;
    rg_world *other = default_world();
    assert_int_equal(rg_world_load_state(other, bytes, size, &error), RG_FILE_DAMAGED);
    assert_non_null(strstr(error.text, "does not fit a world of 0 bodies"));
    rg_world_destroy(other);
    free(bytes);
    rg_world_destroy(world);
}

/* Unknown sections: small tags are skipped, capital ones refused, as the layout promises. */
static void later_sections_are_skipped_or_refused(void **state) {
    (void)state;
    rg_world *world = mixed(0);
    size_t size;
    char *bytes = save(world, &size);
    for (int capital = 0; capital < 2; capital++) {
        char *extended = calloc(1, size + 24);
        memcpy(extended, bytes, 16);
        memcpy(extended + 16, capital ? "Xtra" : "xtra", 4);
        extended[24] = 8;
        memcpy(extended + 40, bytes + 16, size - 16);
        assert_int_equal(rg_world_load_state(world, extended, size + 24, NULL),
                         capital ? RG_UNSUPPORTED : RG_OK);
        free(extended);
    }
    free(bytes);
    rg_world_destroy(world);
}

static void a_saved_state_knows_where_prescribed_motions_start(void **state) {
    (void)state;
    rg_world *world[2];
    for (int k = 0; k < 2; k++) {
        world[k] = default_world();
        for (int i = 0; i < 3; i++) {
            rg_body_def def = rg_body_def_default();
            def.motion = RG_MOTION_KINEMATIC;
            def.velocity.x = i;
            def.angular_velocity.z = 1;
            body_of(world[k], &def);
        }
    }
    step_world(world[0], 0.1, 10);
    rg_body_id middle = rg_world_body_at(world[0], 1);
    assert_int_equal(rg_body_set_velocity(world[0], middle, (rg_vec3){0, 5, 0}), RG_OK);
    rg_pose pose = {{7, 8, 9}, {0, 0, 0, 1}};
    assert_int_equal(rg_body_set_pose(world[0], rg_world_body_at(world[0], 2), pose), RG_OK);
    size_t size;
    char *bytes = save(world[0], &size);
    assert_int_equal(rg_world_load_state(world[1], bytes, size, NULL), RG_OK);
    for (int k = 0; k < 2; k++)
        step_world(world[k], 0.1, 1);
    assert_vector(rg_body_pose(world[1], middle).position, (rg_vec3){1, 0.5, 0}, 1e-14);
    assert_true(rg_world_state_hash(world[0]) == rg_world_state_hash(world[1]));
    free(bytes);
    rg_world_destroy(world[0]);
    rg_world_destroy(world[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(restore_goes_on_with_the_same_bits),
        cmocka_unit_test(old_handles_stay_dead_after_a_restore),
        cmocka_unit_test(old_handles_of_all_kinds_stay_dead),
        cmocka_unit_test(a_clone_is_a_world_of_its_own),
        cmocka_unit_test(a_saved_state_goes_on_in_a_fresh_world),
        cmocka_unit_test(damaged_states_are_refused),
        cmocka_unit_test(later_sections_are_skipped_or_refused),
        cmocka_unit_test(a_saved_state_knows_where_prescribed_motions_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
