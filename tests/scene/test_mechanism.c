/* Built-in scenes of mechanisms that touch things (scene_builtin_mechanism.c): joints closed,
 * ledger closed, penetration and rise of energy no more than fixed steps leave, and what each of
 * them was made to show. */
#include "scene_measures.h"

static double value_of(rg_scene *scene, const char *name) {
    return find_measure(scene, name).value;
}

/* m: what a step of 1/240 s leaves of thin links and blocks that meet at metres per second. */
#define DEEPEST 0.003
/* Of the energy of a scene, in a step: rounding (step_stepping_energy.c). A mechanism with a motor
 * fluctuates to first order in the step. */
#define RISE        1e-12
#define RISE_DRIVEN 2e-5

static void joints_stay_closed(void **state) {
    (void)state;
    static const struct {
        const char *scene, *parameters;
        double duration;
        uint64_t left; /* problems whose overlaps no forces push out: left to the next steps */
    } cases[] = {{"chain-pivot", "", 2, 0},
                 {"chain-wrecks", "", 1.5, 1},
                 {"chain-blocks", "", 4, 0},
                 {"chain-blocks", "blocks=6", 2, 0},
                 {"struck-pendulum", "", 4, 0},
                 {"struck-pendulum", "restitution=0", 4, 0},
                 {"watt", "", 4, 0},
                 {"particle", "", 5, 0},
                 {"ragdoll", "", 2, 0},
                 {"rover", "", 3, 0},
                 {"humanoid", "", 3, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        scene_run run = {.scene = cases[i].scene,
                         .parameters = cases[i].parameters,
                         .duration = cases[i].duration};
        rg_scene *scene = finish_run(&run);
        rg_step_info sum = rg_world_summary(rg_scene_world(scene));
        double gap = value_of(scene, "joint_gap_m"), deep = value_of(scene, "penetration_m");
        double rise = value_of(scene, "energy_rise_rel");
        double most = strcmp(run.scene, "watt") == 0 ? RISE_DRIVEN : RISE;
        if (!(gap <= 1e-9 && !(deep > DEEPEST) && rise <= most && sum.energy.closure_rel <= 1e-8 &&
              sum.solver_failures <= cases[i].left))
            fail_msg("%s %s: gap %.3g, penetration %.3g, rise %.3g, closure %.3g, %d failures",
                     run.scene, run.parameters, gap, deep, rise, sum.energy.closure_rel,
                     (int)sum.solver_failures);
        rg_scene_destroy(scene);
    }
}

/* Figure 14c to f of Baraff 1989 by the analytic method: up to the first impacts, or all of it,
 * which takes millions of contact problems: one in a million may stay unsolved (1 of 1,861,066 of
 * chain-wrecks, while forty contacts rattle). */
static void chains_by_the_analytic_method(void **state) {
    (void)state;
    static const struct {
        const char *scene;
        double duration, in_a_long_run; /* s */
    } cases[] = {{"chain-pivot", 0.4, 4}, {"chain-wrecks", 0.5, 4}, {"chain-blocks", 0.8, 5}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        scene_run run = {.scene = cases[i].scene,
                         .method = "analytic",
                         .duration = test_is_long() ? cases[i].in_a_long_run : cases[i].duration};
        rg_scene *scene = finish_run(&run);
        rg_step_info sum = rg_world_summary(rg_scene_world(scene));
        double gap = value_of(scene, "joint_gap_m"), rise = value_of(scene, "energy_rise_rel");
        if (!(gap <= 1e-12 && sum.certificate.min_gap >= -1e-9 && sum.passed_through == 0 &&
              rise <= 1e-9 && sum.energy.closure_rel <= 1e-8 &&
              sum.solver_failures * 1000000 <= sum.solves))
            fail_msg("%s: joints %.3g, gap %.3g, rise %.3g, closure %.3g, %d failures", run.scene,
                     gap, sum.certificate.min_gap, rise, sum.energy.closure_rel,
                     (int)sum.solver_failures);
        rg_scene_destroy(scene);
    }
}

/* The equality and the two inequalities give the same motion. */
static void a_particle_both_ways(void **state) {
    (void)state;
    rg_vec3 place[2];
    for (int k = 0; k < 2; k++) {
        scene_run run = {
            .scene = "particle", .parameters = k ? "inequalities=1" : "", .duration = 2};
        rg_scene *scene = finish_run(&run);
        const rg_world *world = rg_scene_world(scene);
        place[k] = rg_body_pose(world, rg_world_body_at(world, 0)).position;
        rg_scene_destroy(scene);
    }
    assert_true(rg_length(rg_sub(place[0], place[1])) <= 1e-8);
}

static void what_they_show(void **state) {
    (void)state;
    rg_scene *scene = finish_run(&(scene_run){.scene = "humanoid"});
    assert_true(value_of(scene, "stands") == 1);
    rg_scene_destroy(scene);
    scene = finish_run(&(scene_run){.scene = "rover"}); /* up three steps and down again */
    assert_true(value_of(scene, "travelled_m") > 5);
    rg_scene_destroy(scene);
    scene = finish_run(&(scene_run){.scene = "watt", .duration = 4});
    assert_true(value_of(scene, "travel_m") > 0.3 && value_of(scene, "off_line_m") < 4e-3);
    rg_scene_destroy(scene);
    scene = finish_run(&(scene_run){.scene = "contradictory-welds"});
    assert_true(fabs(value_of(scene, "joint_gap_m") - 0.05) <= 1e-6);
    assert_true(fabs(value_of(scene, "height_m") - 2) <= 1e-6);
    rg_scene_destroy(scene);
}

/* m: along x, of all that is dynamic. */
static double centre_of_mass(const rg_world *world) {
    double mass = 0, sum = 0;
    for (size_t i = 0; i < rg_world_body_count(world); i++) {
        rg_body_id body = rg_world_body_at(world, i);
        if (rg_body_motion(world, body) != RG_MOTION_DYNAMIC)
            continue;
        mass += rg_body_mass(world, body).mass;
        sum += rg_body_mass(world, body).mass * rg_body_centre_pose(world, body).position.x;
    }
    return sum / mass;
}

/* Figure 14d: links of 0.25 m, two fifths of the chain to the left of the pivot: the middle of all
 * of it is a tenth of its length to the right, whatever the number of links. */
static void a_chain_hangs_to_the_right(void **state) {
    (void)state;
    static const struct {
        const char *parameters;
        double links;
    } cases[] = {{"", 24}, {"links=2", 2}, {"links=100", 100}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rg_scene *scene =
            build_run(&(scene_run){.scene = "chain-pivot", .parameters = cases[i].parameters});
        assert_near(centre_of_mass(rg_scene_world(scene)), 0.1 * 0.25 * cases[i].links, 1e-12);
        rg_scene_destroy(scene);
    }
}

/* Figure 14e and f: blocks meet the chain and each other without restitution. */
static void a_block_does_not_bounce(void **state) {
    (void)state;
    rg_scene *scene = build_run(&(scene_run){.scene = "chain-blocks"});
    const rg_world *world = rg_scene_world(scene);
    rg_contact_law law = rg_world_material_law(world, (rg_material_id){0});
    assert_true(law.restitution == 0 && law.friction == 0.3);
    rg_scene_destroy(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(joints_stay_closed),
                                       cmocka_unit_test(chains_by_the_analytic_method),
                                       cmocka_unit_test(a_particle_both_ways),
                                       cmocka_unit_test(what_they_show),
                                       cmocka_unit_test(a_chain_hangs_to_the_right),
                                       cmocka_unit_test(a_block_does_not_bounce)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
