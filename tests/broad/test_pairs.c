/* Both kinds, and the kind chosen by itself, against all with all: random motion, boxes that come
 * and go and jump, ties, infinite and empty boxes, filters. */
#include "broad_support.h"

enum { MOST = 512, KINDS = 3 };

/* The same boxes in every kind, and what must be found. */
typedef struct trial {
    rg_random random;
    rg_bounds bounds[MOST];
    rg_proxy_filter filters[MOST];
    bool alive[MOST], renewed[MOST];
    uint32_t count;
    rg_broad *broads[KINDS];
    pair_set before, now, begun, ended;
} trial;

static const char *const kind_names[KINDS] = {"sorted", "tree", "auto"};

static trial *trial_make(uint64_t seed) {
    trial *t = calloc(1, sizeof *t);
    assert_non_null(t);
    t->random = rg_random_make(seed);
    for (int k = 0; k < KINDS; k++)
        t->broads[k] = broad_of(rg_broad_kind_find(kind_names[k]), NULL);
    return t;
}

static void trial_free(trial *t) {
    for (int k = 0; k < KINDS; k++)
        rg_broad_destroy(t->broads[k]);
    free(t->before.pairs);
    free(t->now.pairs);
    free(t->begun.pairs);
    free(t->ended.pairs);
    free(t);
}

static void trial_add(trial *t, uint32_t id, rg_bounds bounds, rg_proxy_filter filter) {
    assert_true(id < MOST && !t->alive[id]);
    for (int k = 0; k < KINDS; k++)
        assert_int_equal(rg_broad_add(t->broads[k], id, &bounds, &filter), RG_OK);
    t->bounds[id] = bounds;
    t->filters[id] = filter;
    t->alive[id] = t->renewed[id] = true;
    t->count = id + 1 > t->count ? id + 1 : t->count;
}

static void trial_remove(trial *t, uint32_t id) {
    for (int k = 0; k < KINDS; k++)
        rg_broad_remove(t->broads[k], id);
    t->alive[id] = false;
}

static void trial_move(trial *t, uint32_t id, rg_bounds bounds) {
    for (int k = 0; k < KINDS; k++)
        assert_int_equal(rg_broad_set_bounds(t->broads[k], id, &bounds), RG_OK);
    t->bounds[id] = bounds;
}

static void trial_filter(trial *t, uint32_t id, rg_proxy_filter filter) {
    for (int k = 0; k < KINDS; k++)
        rg_broad_set_filter(t->broads[k], id, &filter);
    t->filters[id] = filter;
}

static bool in_set(const pair_set *set, rg_broad_pair pair) {
    size_t low = 0, high = set->count;
    uint64_t key = (uint64_t)pair.a << 32 | pair.b;
    while (low < high) {
        size_t middle = (low + high) / 2;
        uint64_t other = (uint64_t)set->pairs[middle].a << 32 | set->pairs[middle].b;
        if (other == key)
            return true;
        if (other < key)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

/* Updates every kind and compares everything. Returns the number of pairs. */
static size_t trial_check(trial *t) {
    pair_set old = t->before;
    t->before = t->now;
    t->now = old;
    brute_force(t->bounds, t->filters, t->alive, t->count, &t->now);
    t->begun.count = t->ended.count = 0;
    for (size_t i = 0; i < t->now.count; i++) {
        rg_broad_pair p = t->now.pairs[i];
        if (!in_set(&t->before, p) || t->renewed[p.a] || t->renewed[p.b])
            set_push(&t->begun, p);
    }
    for (size_t i = 0; i < t->before.count; i++) {
        rg_broad_pair p = t->before.pairs[i];
        if (!in_set(&t->now, p) || t->renewed[p.a] || t->renewed[p.b])
            set_push(&t->ended, p);
    }
    for (int k = 0; k < KINDS; k++) {
        rg_broad *broad = t->broads[k];
        assert_int_equal(rg_broad_update(broad), RG_OK);
        assert_same_pairs(rg_broad_pairs_all(broad), t->now.pairs, t->now.count, kind_names[k]);
        assert_same_pairs(rg_broad_pairs_begun(broad), t->begun.pairs, t->begun.count, "begun");
        assert_same_pairs(rg_broad_pairs_ended(broad), t->ended.pairs, t->ended.count, "ended");
        rg_broad_info info = rg_broad_get_info(broad);
        assert_int_equal(info.pairs, t->now.count);
        assert_int_equal(info.begun, t->begun.count);
        assert_int_equal(info.ended, t->ended.count);
    }
    memset(t->renewed, 0, sizeof t->renewed);
    return t->now.count;
}

/* --- motion ------------------------------------------------------------------------------------
 */

/* Boxes with velocities in a room, coherent; some come, go, jump. */
static void motion(uint64_t seed, uint32_t count, double half, double speed, double jumps,
                   double comings, int steps) {
    trial *t = trial_make(seed);
    rg_random *r = &t->random;
    rg_vec3 velocity[MOST];
    for (uint32_t i = 0; i < count; i++) {
        trial_add(t, i, random_box(r, 1, half), rg_proxy_filter_default(i));
        velocity[i] = random_vector(r, speed);
    }
    size_t pairs = 0;
    for (int step = 0; step < steps; step++) {
        pairs += trial_check(t);
        for (uint32_t i = 0; i < count; i++) {
            if (!t->alive[i]) {
                if (rg_random_unit(r) < 0.3)
                    trial_add(t, i, random_box(r, 1, half), rg_proxy_filter_default(i));
                continue;
            }
            if (rg_random_unit(r) < comings) {
                trial_remove(t, i);
                if (rg_random_unit(r) < 0.5) /* the slot is used again at once */
                    trial_add(t, i, random_box(r, 1, half), rg_proxy_filter_default(i));
                continue;
            }
            rg_bounds b = t->bounds[i];
            if (rg_random_unit(r) < jumps)
                b = random_box(r, 1, half);
            else
                shift_box(&b, velocity[i]);
            if (fabs(b.lower.x) > 1.5 || fabs(b.lower.y) > 1.5 || fabs(b.lower.z) > 1.5)
                velocity[i] = (rg_vec3){-velocity[i].x, -velocity[i].y, -velocity[i].z};
            trial_move(t, i, b);
        }
    }
    assert_true(pairs > 0);
    trial_free(t);
}

static void coherent_motion(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++)
        motion(seed, 60, 0.2, 0.01, 0, 0, 100);
    motion(21, 400, 0.1, 0.005, 0, 0, 100);
}

static void boxes_that_come_and_go(void **state) {
    (void)state;
    for (uint64_t seed = 31; seed <= 50; seed++)
        motion(seed, 60, 0.25, 0.01, 0, 0.05, 100);
    motion(51, 400, 0.1, 0.01, 0.01, 0.2, 40);
}

static void boxes_that_jump(void **state) {
    (void)state;
    for (uint64_t seed = 61; seed <= 80; seed++)
        motion(seed, 60, 0.25, 0.01, 0.05, 0.01, 60);
    motion(81, 400, 0.1, 0.01, 1, 0, 20); /* nothing is where it was */
    motion(82, 400, 0.1, 0.5, 0.2, 0.1, 20);
}

/* --- ties --------------------------------------------------------------------------------------
 */

/* Coordinates are whole numbers of a few: almost everything ties, touches or is empty. */
static void boxes_on_a_lattice(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        trial *t = trial_make(seed);
        rg_random *r = &t->random;
        for (int step = 0; step < 60; step++) {
            for (uint32_t i = 0; i < 40; i++) {
                rg_bounds b;
                double *e = (double *)&b;
                for (int k = 0; k < 3; k++) {
                    e[k] = (double)rg_random_below(r, 6) - 3;
                    e[3 + k] = e[k] + (double)rg_random_below(r, 3);
                    if (e[k] == 0 && rg_random_unit(r) < 0.5)
                        e[k] = -0.0;
                }
                if (t->alive[i] && rg_random_unit(r) < 0.05)
                    trial_remove(t, i);
                else if (!t->alive[i])
                    trial_add(t, i, b, rg_proxy_filter_default(i));
                else if (rg_random_unit(r) < 0.3)
                    trial_move(t, i, b);
            }
            trial_check(t);
        }
        trial_free(t);
    }
}

static void identical_boxes(void **state) {
    (void)state;
    trial *t = trial_make(1);
    for (uint32_t i = 0; i < 40; i++)
        trial_add(t, i, box_at(1, 2, 3, i % 2 ? 0.5 : 0), rg_proxy_filter_default(i));
    assert_int_equal(trial_check(t), 40 * 39 / 2);
    for (uint32_t i = 0; i < 40; i++)
        trial_move(t, i, box_at(-7, 2, 3, 0));
    assert_int_equal(trial_check(t), 40 * 39 / 2);
    assert_int_equal(rg_broad_pairs_begun(t->broads[0]).count, 0);
    for (uint32_t i = 0; i < 40; i++) /* a row of points, apart */
        trial_move(t, i, box_at(i, 0, 0, 0));
    assert_int_equal(trial_check(t), 0);
    assert_int_equal(rg_broad_pairs_ended(t->broads[1]).count, 40 * 39 / 2);
    for (uint32_t i = 0; i < 40; i++) /* a row of cubes that touch */
        trial_move(t, i, box_at(i, 0, 0, 0.5));
    assert_int_equal(trial_check(t), 39);
    trial_free(t);
}

static void touching_by_one_bit(void **state) {
    (void)state;
    trial *t = trial_make(1);
    trial_add(t, 0, box_at(0, 0, 0, 1), rg_proxy_filter_default(0));
    trial_add(t, 1, box_at(2, 0, 0, 1), rg_proxy_filter_default(1));
    assert_int_equal(trial_check(t), 1);
    rg_bounds apart = t->bounds[1];
    apart.lower.x = nextafter(1, 2);
    trial_move(t, 1, apart);
    assert_int_equal(trial_check(t), 0);
    apart.lower.x = 1;
    trial_move(t, 1, apart);
    assert_int_equal(trial_check(t), 1);
    trial_free(t);
}

/* --- sizes -------------------------------------------------------------------------------------
 */

static void infinite_boxes(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        trial *t = trial_make(seed);
        rg_random *r = &t->random;
        for (uint32_t i = 0; i < 80; i++)
            trial_add(t, i, random_box(r, 1, 0.2), rg_proxy_filter_default(i));
        for (int step = 0; step < 60; step++) {
            for (uint32_t i = 0; i < 80; i++) {
                rg_bounds b = t->bounds[i];
                double *e = (double *)&b;
                if (i < 6) { /* each side of some boxes is infinite now and then */
                    b = random_box(r, 1, 0.2);
                    for (int k = 0; k < 6; k++)
                        if (rg_random_unit(r) < 0.6)
                            e[k] = k < 3 ? -INFINITY : INFINITY;
                } else
                    shift_box(&b, random_vector(r, 0.02));
                trial_move(t, i, b);
            }
            trial_check(t);
        }
        rg_bounds all = {{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, INFINITY}};
        for (uint32_t i = 0; i < 80; i++)
            trial_move(t, i, all);
        assert_int_equal(trial_check(t), 80 * 79 / 2);
        for (uint32_t i = 0; i < 80; i++)
            trial_move(t, i, random_box(r, 1, 0.2));
        trial_check(t);
        trial_free(t);
    }
}

/* Extents from 1e-6 to 1 of the world, and positions over 300 orders. */
static void uneven_boxes(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        trial *t = trial_make(seed);
        rg_random *r = &t->random;
        for (uint32_t i = 0; i < 120; i++) {
            double half = pow(10, rg_random_between(r, -6, 0));
            trial_add(t, i, random_box(r, seed % 2 ? 1 : 1e-4, half), rg_proxy_filter_default(i));
        }
        for (int step = 0; step < 60; step++) {
            trial_check(t);
            for (uint32_t i = 0; i < 120; i++) {
                rg_bounds b = t->bounds[i];
                shift_box(&b, random_vector(r, seed % 2 ? 1e-3 : 1e-6));
                trial_move(t, i, b);
            }
        }
        for (uint32_t i = 0; i < 120; i++) {
            double scale = pow(10, rg_random_between(r, -150, 150));
            rg_bounds b = random_box(r, scale, 2 * scale);
            trial_move(t, i, b);
        }
        trial_check(t);
        rg_bounds largest = {{-1.7e308, -1.7e308, -1.7e308}, {1.7e308, 1.7e308, 1.7e308}};
        trial_move(t, 0, largest);
        trial_move(t, 1, largest);
        trial_check(t);
        trial_check(t);
        trial_free(t);
    }
}

/* --- filters -----------------------------------------------------------------------------------
 */

static void filters_change(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        trial *t = trial_make(seed);
        rg_random *r = &t->random;
        for (int step = 0; step < 60; step++) {
            for (uint32_t i = 0; i < 80; i++) {
                rg_proxy_filter f = {.category = UINT64_C(1) << rg_random_below(r, 3),
                                     .mask = rg_random_below(r, 8),
                                     .body = (uint32_t)rg_random_below(r, 50),
                                     .flags = (uint32_t)rg_random_below(r, 4)};
                if (!t->alive[i])
                    trial_add(t, i, random_box(r, 1, 0.5), f);
                else if (rg_random_unit(r) < 0.1)
                    trial_filter(t, i, f);
                else if (rg_random_unit(r) < 0.02)
                    trial_remove(t, i);
                else if (rg_random_unit(r) < 0.5) {
                    rg_bounds b = t->bounds[i];
                    shift_box(&b, random_vector(r, 0.02));
                    trial_move(t, i, b);
                }
            }
            trial_check(t);
        }
        trial_free(t);
    }
}

static void each_filter_by_itself(void **state) {
    (void)state;
    trial *t = trial_make(1);
    rg_proxy_filter plain = rg_proxy_filter_default(7), other = rg_proxy_filter_default(8);
    trial_add(t, 0, box_at(0, 0, 0, 1), plain);
    trial_add(t, 1, box_at(1, 0, 0, 1), other);
    assert_int_equal(trial_check(t), 1);
    other.body = 7; /* of one body */
    trial_filter(t, 1, other);
    assert_int_equal(trial_check(t), 0);
    other.body = 8;
    other.flags = RG_PROXY_FIXED;
    trial_filter(t, 1, other);
    assert_int_equal(trial_check(t), 1);
    plain.flags = RG_PROXY_FIXED | RG_PROXY_SENSOR; /* two that do not move */
    trial_filter(t, 0, plain);
    assert_int_equal(trial_check(t), 0);
    plain.flags = RG_PROXY_SENSOR;
    trial_filter(t, 0, plain);
    assert_int_equal(trial_check(t), 1);
    plain.mask = 2; /* one way only */
    trial_filter(t, 0, plain);
    assert_int_equal(trial_check(t), 0);
    other.category = 2;
    trial_filter(t, 1, other);
    assert_int_equal(trial_check(t), 1);
    other.mask = UINT64_C(1) << 63;
    trial_filter(t, 1, other);
    assert_int_equal(trial_check(t), 0);
    plain.category = UINT64_C(3) << 62;
    trial_filter(t, 0, plain);
    assert_int_equal(trial_check(t), 1);
    assert_int_equal(rg_broad_filter(t->broads[0], 0).mask, 2);
    trial_free(t);
}

/* A change of filter leaves the pairs that it does not concern alone. */
static void touching_keeps_pairs(void **state) {
    (void)state;
    trial *t = trial_make(1);
    for (uint32_t i = 0; i < 5; i++)
        trial_add(t, i, box_at(0, 0, 0, 1), rg_proxy_filter_default(i));
    assert_int_equal(trial_check(t), 10);
    rg_proxy_filter filter = t->filters[2];
    filter.body = 3;
    trial_filter(t, 2, filter);
    trial_check(t);
    for (int k = 0; k < KINDS; k++) {
        assert_int_equal(rg_broad_pairs_ended(t->broads[k]).count, 1);
        assert_int_equal(rg_broad_pairs_begun(t->broads[k]).count, 0);
    }
    trial_free(t);
}

typedef struct joint {
    uint32_t a, b;
    bool on;
    int calls;
} joint;

static bool is_jointed(void *user, uint32_t a, uint32_t b) {
    joint *j = user;
    j->calls++;
    assert_true(a < b);
    return j->on && a == j->a && b == j->b;
}

static void excluded_pairs(void **state) {
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        joint j = {2, 5, true, 0};
        rg_broad_def def = {rg_broad_kind_find(kind_names[k]), is_jointed, &j};
        rg_broad *broad;
        assert_int_equal(rg_broad_create(&def, NULL, &broad), RG_OK);
        for (uint32_t i = 0; i < 8; i++) {
            rg_bounds b = box_at(0.1 * i, 0, 0, 1);
            rg_proxy_filter f = rg_proxy_filter_default(i);
            assert_int_equal(rg_broad_add(broad, i, &b, &f), RG_OK);
        }
        assert_int_equal(rg_broad_update(broad), RG_OK);
        assert_int_equal(rg_broad_pairs_all(broad).count, 27);
        assert_true(j.calls >= 28);
        j.on = false;
        rg_broad_touch(broad, 5);
        assert_int_equal(rg_broad_update(broad), RG_OK);
        assert_int_equal(rg_broad_pairs_all(broad).count, 28);
        rg_broad_pairs begun = rg_broad_pairs_begun(broad);
        rg_broad_pair expected = {2, 5};
        assert_same_pairs(begun, &expected, 1, "begun");
        j.on = true;
        rg_broad_touch(broad, 2);
        assert_int_equal(rg_broad_update(broad), RG_OK);
        assert_same_pairs(rg_broad_pairs_ended(broad), &expected, 1, "ended");
        rg_broad_destroy(broad);
    }
}

/* --- interface ---------------------------------------------------------------------------------
 */

static void bad_input_changes_nothing(void **state) {
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        rg_broad *broad = broad_of(rg_broad_kind_find(kind_names[k]), NULL);
        rg_proxy_filter f = rg_proxy_filter_default(0);
        rg_bounds good = box_at(0, 0, 0, 1);
        assert_int_equal(rg_broad_add(broad, 3, &good, &f), RG_OK);
        assert_int_equal(rg_broad_add(broad, 3, &good, &f), RG_INVALID_ARGUMENT);
        assert_int_equal(rg_broad_add(broad, RG_PROXY_MOST, &good, &f), RG_INVALID_ARGUMENT);
        for (int i = 0; i < 6; i++) {
            rg_bounds bad = good;
            ((double *)&bad)[i] = NAN;
            assert_int_equal(rg_broad_add(broad, 0, &bad, &f), RG_INVALID_ARGUMENT);
            assert_int_equal(rg_broad_set_bounds(broad, 3, &bad), RG_INVALID_ARGUMENT);
            ((double *)&bad)[i] = i < 3 ? 2 : -2; /* turned around */
            assert_int_equal(rg_broad_add(broad, 0, &bad, &f), RG_INVALID_ARGUMENT);
            assert_int_equal(rg_broad_set_bounds(broad, 3, &bad), RG_INVALID_ARGUMENT);
            ((double *)&bad)[i % 3] = ((double *)&bad)[3 + i % 3] = i < 3 ? INFINITY : -INFINITY;
            assert_int_equal(rg_broad_set_bounds(broad, 3, &bad), RG_INVALID_ARGUMENT);
        }
        rg_bounds kept = rg_broad_bounds(broad, 3);
        assert_memory_equal(&kept, &good, sizeof good);
        assert_false(rg_broad_has(broad, 0));
        assert_false(rg_broad_has(broad, 1000000));
        assert_int_equal(rg_broad_update(broad), RG_OK);
        rg_broad_remove(broad, 3);
        assert_int_equal(rg_broad_update(broad), RG_OK);
        assert_int_equal(rg_broad_update(broad), RG_OK);
        assert_int_equal(rg_broad_get_info(broad).proxies, 0);
        rg_broad_destroy(broad);
    }
    rg_broad_destroy(NULL);
    assert_null(rg_broad_kind_find("grid"));
    assert_string_equal(rg_broad_kind_name(&rg_broad_tree), "tree");
}

/* Sparse ids, and the empty world. */
static void sparse_ids(void **state) {
    (void)state;
    trial *t = trial_make(1);
    trial_check(t);
    trial_add(t, 500, box_at(0, 0, 0, 1), rg_proxy_filter_default(1));
    trial_check(t);
    trial_add(t, 20, box_at(0, 0, 0, 1), rg_proxy_filter_default(2));
    trial_add(t, 300, box_at(0, 0, 1, 1), rg_proxy_filter_default(3));
    assert_int_equal(trial_check(t), 3);
    trial_remove(t, 500);
    assert_int_equal(trial_check(t), 1);
    trial_remove(t, 20);
    trial_remove(t, 300);
    assert_int_equal(trial_check(t), 0);
    assert_int_equal(trial_check(t), 0);
    trial_free(t);
}

static void the_choice(void **state) {
    (void)state;
    enum { N = 2000 };
    rg_bounds *bounds = calloc(N, sizeof *bounds);
    assert_non_null(bounds);
    for (int i = 0; i < N; i++)
        bounds[i] = box_at(i, 0, 0, 1);
    assert_ptr_equal(rg_broad_choose(bounds, 0), &rg_broad_sorted);
    assert_ptr_equal(rg_broad_choose(bounds, 200), &rg_broad_sorted);
    assert_ptr_equal(rg_broad_choose(bounds, N), &rg_broad_tree);
    bounds[3].lower.z = -INFINITY; /* a floor makes nothing uneven */
    assert_ptr_equal(rg_broad_choose(bounds, 200), &rg_broad_sorted);
    bounds[4] = box_at(0, 0, 0, 1000);
    assert_ptr_equal(rg_broad_choose(bounds, 200), &rg_broad_tree);
    bounds[4] = box_at(0, 0, 0, 1);
    /* By itself, and from one kind to the other without a pair lost or begun twice. */
    rg_broad *broad = broad_of(NULL, NULL);
    for (uint32_t i = 0; i < N; i++) {
        rg_proxy_filter f = rg_proxy_filter_default(i);
        assert_int_equal(rg_broad_add(broad, i, &bounds[i], &f), RG_OK);
        if (i == 100) {
            assert_int_equal(rg_broad_update(broad), RG_OK);
            assert_ptr_equal(rg_broad_get_kind(broad), &rg_broad_sorted);
        }
    }
    size_t before = rg_broad_pairs_all(broad).count;
    assert_int_equal(rg_broad_update(broad), RG_OK);
    assert_ptr_equal(rg_broad_get_kind(broad), &rg_broad_tree);
    assert_int_equal(rg_broad_pairs_ended(broad).count, 0);
    assert_int_equal(rg_broad_pairs_begun(broad).count, rg_broad_pairs_all(broad).count - before);
    for (uint32_t i = 100; i < N; i++)
        rg_broad_remove(broad, i);
    assert_int_equal(rg_broad_update(broad), RG_OK);
    assert_ptr_equal(rg_broad_get_kind(broad), &rg_broad_sorted);
    assert_int_equal(rg_broad_pairs_begun(broad).count, 0);
    rg_broad_destroy(broad);
    free(bounds);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coherent_motion),
        cmocka_unit_test(boxes_that_come_and_go),
        cmocka_unit_test(boxes_that_jump),
        cmocka_unit_test(boxes_on_a_lattice),
        cmocka_unit_test(identical_boxes),
        cmocka_unit_test(touching_by_one_bit),
        cmocka_unit_test(infinite_boxes),
        cmocka_unit_test(uneven_boxes),
        cmocka_unit_test(filters_change),
        cmocka_unit_test(each_filter_by_itself),
        cmocka_unit_test(touching_keeps_pairs),
        cmocka_unit_test(excluded_pairs),
        cmocka_unit_test(bad_input_changes_nothing),
        cmocka_unit_test(sparse_ids),
        cmocka_unit_test(the_choice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
