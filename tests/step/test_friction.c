/* States of friction of the analytic method (step_analytic_friction.c): which there are, and what
 * takes a contact from one to another. Every cause is tried on every state: what it must bring
 * about, that it brings about nothing else, and that to say it twice is to say it once. */
#include "test_support.h"

#include "step/step_analytic.h"

static rg_analysis_contact contact_in(rg_friction state) {
    return (rg_analysis_contact){.friction = state,
                                 .direction = {1, 0, 0},
                                 .law = {.friction = 0.3, .static_friction = 0.5}};
}

/* What is asked about a state, each independent of the others as far as that makes sense. */
typedef struct answers {
    bool slips, at_limit, starts, stops;
} answers;

static answers ask(rg_friction state) {
    rg_analysis_contact c = contact_in(state);
    return (answers){rg_analysis_slips(&c), rg_analysis_at_limit(&c), rg_analysis_starts(&c),
                     state == RG_FRICTION_STOPS};
}

/* By words: what a cause does to a contact that slips, and to one that does not. */
static answers expect(answers was, rg_friction_cause cause) {
    const answers held = {false, false, false, false};
    switch (cause) {
    case RG_FRICTION_SLIDES:
        return (answers){.slips = true, .stops = was.stops};
    case RG_FRICTION_SLOWS:
        was.stops = was.slips;
        return was;
    case RG_FRICTION_GOES_ON:
        was.stops = false;
        return was;
    case RG_FRICTION_ENDS:
        return was.slips ? held : was;
    case RG_FRICTION_CREEPS:
        return was.slips ? (answers){.starts = true} : was;
    case RG_FRICTION_LETS_GO:
        was.starts |= !was.slips;
        return was;
    case RG_FRICTION_SETTLES:
        was.starts = false;
        return was;
    case RG_FRICTION_EXCEEDS:
        was.at_limit |= !was.slips;
        return was;
    default: /* RG_FRICTION_TURNS_BACK */
        was.at_limit = false;
        return was;
    }
}

static void every_cause_does_what_it_says(void **state) {
    (void)state;
    for (int s = 0; s < RG_FRICTION_STATES; s++)
        for (int cause = 0; cause < RG_FRICTION_CAUSES; cause++) {
            rg_friction next = rg_friction_after((rg_friction)s, (rg_friction_cause)cause);
            answers now = ask(next), right = expect(ask((rg_friction)s), (rg_friction_cause)cause);
            assert_int_equal(now.slips, right.slips);
            assert_int_equal(now.at_limit, right.at_limit);
            assert_int_equal(now.starts, right.starts);
            assert_int_equal(now.stops, right.stops);
            assert_int_equal(rg_friction_after(next, (rg_friction_cause)cause), next);
        }
}

/* Static friction of what sticks, dynamic friction of what slips or starts; it drops once. */
static void the_coefficient_follows_the_state(void **state) {
    (void)state;
    for (int s = 0; s < RG_FRICTION_STATES; s++) {
        rg_analysis_contact c = contact_in((rg_friction)s);
        bool sticks = s == RG_FRICTION_HELD || s == RG_FRICTION_AT_LIMIT;
        assert_true(rg_analysis_coefficient(&c) == (sticks ? 0.5 : 0.3));
        assert_int_equal(rg_analysis_friction_drops(&c), sticks);
        c.law.static_friction = 0.3;
        assert_false(rg_analysis_friction_drops(&c));
    }
}

/* The margin is 0 at the cone, but for what rounding may do. */
static void the_margin_ends_at_the_cone(void **state) {
    (void)state;
    rg_analysis_contact c = contact_in(RG_FRICTION_HELD);
    c.force[0] = 2;
    c.force[1] = 0.6;
    c.force[2] = 0.8;
    assert_true(fabs(rg_analysis_cone_margin(&c)) < 1e-10);
    c.force[0] = 4;
    assert_true(fabs(rg_analysis_cone_margin(&c) - 0.5) < 1e-10);
    c.force[0] = 1;
    assert_true(rg_analysis_cone_margin(&c) < -0.9);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_cause_does_what_it_says),
                                       cmocka_unit_test(the_coefficient_follows_the_state),
                                       cmocka_unit_test(the_margin_ends_at_the_cone)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
