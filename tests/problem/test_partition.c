/* Islands of links, of problems in both forms, and the problem of one island. */
#include "test_support.h"

#include "base/base_memory.h"
#include "problem/problem_partition.h"
#include "problem/problem_split.h"

#define NONE RG_NO_BLOCK

static rg_arena open_arena(void) {
    rg_allocator allocator = rg_allocator_default();
    return rg_arena_make(&allocator);
}

static void assert_members(const rg_partition *p, size_t island, size_t count,
                           const uint32_t *expected) {
    assert_int_equal(p->first[island + 1] - p->first[island], count);
    assert_memory_equal(p->member + p->first[island], expected, count * sizeof *expected);
}

/* Blocks 0-1-2 are a chain, though its middle link comes last; 3 and 4 stand alone; the fourth
 * link acts on nothing. */
static void links_that_share_blocks(void **state) {
    (void)state;
    static const uint32_t blocks[] = {2, NONE, 4, NONE, 0, 1, NONE, NONE, 3, 3, 1, 2};
    rg_arena arena = open_arena();
    rg_partition p;
    assert_int_equal(rg_partition_links(blocks, 6, 5, &arena, &p), RG_OK);
    assert_int_equal(p.count, 4);
    assert_members(&p, 0, 3, (const uint32_t[]){0, 2, 5});
    assert_members(&p, 1, 1, (const uint32_t[]){1});
    assert_members(&p, 2, 1, (const uint32_t[]){3});
    assert_members(&p, 3, 1, (const uint32_t[]){4});
    for (uint32_t k = 0; k < 6; k++)
        assert_int_equal(p.island[k], k == 1 ? 1 : k == 3 ? 2 : k == 4 ? 3 : 0);
    assert_int_equal(rg_partition_links(NULL, 0, 0, &arena, &p), RG_OK);
    assert_int_equal(p.count, 0);
    rg_arena_free(&arena);
}

/* Points of a pair follow each other, links that act on nothing are no pair, and a later link may
 * join what came before. */
static void links_that_repeat(void **state) {
    (void)state;
    static const uint32_t blocks[] = {0,    1, 0,    1, NONE, NONE, NONE, NONE,
                                      NONE, 2, NONE, 2, 1,    0,    2,    1};
    rg_arena arena = open_arena();
    rg_partition p;
    assert_int_equal(rg_partition_links(blocks, 8, 3, &arena, &p), RG_OK);
    assert_int_equal(p.count, 3);
    assert_members(&p, 0, 6, (const uint32_t[]){0, 1, 4, 5, 6, 7});
    assert_members(&p, 1, 1, (const uint32_t[]){2});
    assert_members(&p, 2, 1, (const uint32_t[]){3});
    rg_arena_free(&arena);
}

/* Contacts 0 and 2 are coupled, 1 and the joint are. The zero that is stored couples nothing. */
static void entries_that_couple(void **state) {
    (void)state;
    static const double dense[] = {2, 0, 1, 0, 0, 3, 0, 1, 1, 0, 2, 0, 0, 1, 0, 4};
    static const size_t starts[] = {0, 3, 5, 7, 9};
    static const uint32_t columns[] = {0, 1, 2, 1, 3, 0, 2, 1, 3};
    static const double values[] = {2, 0, 1, 3, 1, 1, 2, 1, 4};
    static const double q[] = {-1, -2, -3, -4};
    rg_arena arena = open_arena();
    for (int sparse = 0; sparse < 2; sparse++) {
        rg_problem whole = {.kind = RG_PROBLEM_CONTACT};
        whole.contact = (rg_contact_problem){.dimension = 1, .contacts = 3, .joints = 1, .q = q};
        whole.contact.w = (rg_matrix){.rows = 4, .columns = 4};
        if (sparse)
            whole.contact.w.starts = starts, whole.contact.w.indices = columns,
            whole.contact.w.values = values;
        else
            whole.contact.w.dense = dense;
        rg_split split;
        rg_problem part;
        assert_int_equal(rg_split_find(&split, &arena, &whole), RG_OK);
        assert_int_equal(split.islands.count, 2);
        assert_members(&split.islands, 0, 2, (const uint32_t[]){0, 2});
        assert_members(&split.islands, 1, 2, (const uint32_t[]){1, 3});
        assert_int_equal(rg_split_make(&split, &arena, 1, &part), RG_OK);
        assert_true(part.connected && part.scale == 4);
        assert_int_equal(part.contact.contacts, 1);
        assert_int_equal(part.contact.joints, 1);
        assert_true(part.contact.q[0] == -2 && part.contact.q[1] == -4);
        const rg_matrix *w = &part.contact.w;
        static const double expected[] = {3, 1, 1, 4};
        assert_memory_equal(sparse ? w->values : w->dense, expected, sizeof expected);
        double whole_force[4] = {0}, part_force[2] = {5, 6};
        rg_split_scatter(&split, 1, part_force, whole_force);
        assert_true(whole_force[1] == 5 && whole_force[3] == 6 && whole_force[0] == 0);
    }
    rg_arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(links_that_share_blocks),
        cmocka_unit_test(links_that_repeat),
        cmocka_unit_test(entries_that_couple),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
