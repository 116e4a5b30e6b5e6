/* Disjoint sets against a search through the graph, and numbers that do not depend on the order of
 * joins. */
#include "test_support.h"

#include "base/base_sets.h"
#include "rigor/random.h"

enum { MEMBERS = 200, JOINS = 150 };

/* Labels by repeated relaxation: the smallest member that can be reached. */
static void relax(uint32_t (*joins)[2], uint32_t *label) {
    for (uint32_t i = 0; i < MEMBERS; i++)
        label[i] = i;
    for (bool changed = true; changed;) {
        changed = false;
        for (int k = 0; k < JOINS; k++) {
            uint32_t *a = &label[joins[k][0]], *b = &label[joins[k][1]];
            uint32_t low = *a < *b ? *a : *b;
            changed |= *a != low || *b != low;
            *a = *b = low;
        }
    }
}

static void roots_are_the_smallest_members(void **state) {
    (void)state;
    rg_random random = rg_random_make(5);
    uint32_t joins[JOINS][2], label[MEMBERS], parent[MEMBERS], number[MEMBERS];
    for (int k = 0; k < JOINS; k++)
        for (int side = 0; side < 2; side++)
            joins[k][side] = (uint32_t)rg_random_below(&random, MEMBERS);
    relax(joins, label);
    for (int backward = 0; backward < 2; backward++) {
        rg_sets_start(parent, MEMBERS);
        for (int k = 0; k < JOINS; k++) {
            uint32_t *join = joins[backward ? JOINS - 1 - k : k];
            rg_sets_join(parent, join[backward], join[!backward]);
        }
        size_t count = rg_sets_number(parent, MEMBERS, number), expected = 0;
        for (uint32_t i = 0; i < MEMBERS; i++) {
            assert_int_equal(rg_sets_root(parent, i), label[i]);
            expected += label[i] == i;
            assert_int_equal(number[i], label[i] == i ? expected - 1 : number[label[i]]);
        }
        assert_int_equal(count, expected);
    }
}

static void no_members_no_sets(void **state) {
    (void)state;
    uint32_t none = 7;
    rg_sets_start(&none, 0);
    assert_int_equal(rg_sets_number(&none, 0, &none), 0);
    assert_int_equal(none, 7);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(roots_are_the_smallest_members),
        cmocka_unit_test(no_members_no_sets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
