/* What a run reports at its end: laid out for people, or as one JSON object on one line. */
#include "cli.h"

#include "rigor/impact.h"
#include "rigor/solver.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MEASURES = 64 };

static double cpu_ms_per_step(const cli_report *report) {
    return report->steps_here ? 1e3 * report->cpu / (double)report->steps_here : NAN;
}

static bool is_analytic(const rg_world *world) {
    return strcmp(rg_method_name(rg_world_method(world)), "analytic") == 0;
}

/* The solver of the contact problems, where none was chosen the method's own. */
static const char *solver_name(const rg_world *world) {
    rg_method_settings settings = rg_world_settings(world);
    return settings.solver      ? rg_solver_name(settings.solver)
           : is_analytic(world) ? "dantzig"
                                : "auto";
}

static const char *law_name(const rg_world *world) {
    rg_method_settings settings = rg_world_settings(world);
    return rg_impact_law_name(settings.impact ? settings.impact : rg_impact_law_at(0));
}

/* The laws that materials and pairs name besides the scene's: "; materials: energetic, ..." */
static void print_other_laws(const rg_world *world) {
    rg_method_settings settings = rg_world_settings(world);
    const rg_impact_law *scene = settings.impact ? settings.impact : rg_impact_law_at(0);
    const char *before = "; materials: ";
    for (size_t k = 0; k < rg_impact_law_count(); k++) {
        const rg_impact_law *law = rg_impact_law_at(k);
        bool named = false;
        for (uint32_t i = 1; i <= rg_world_material_count(world); i++)
            named |= rg_world_material_law(world, (rg_material_id){i}).impact == law;
        for (size_t i = 0; i < rg_world_pair_count(world); i++) {
            rg_material_id a, b;
            rg_contact_law pair;
            rg_world_pair_at(world, i, &a, &b, &pair);
            named |= pair.impact == law;
        }
        if (!named || law == scene)
            continue;
        printf("%s%s", before, rg_impact_law_name(law));
        before = ", ";
    }
}

/* ---- for people ---- */

static void print_figure(const char *name, double value, const char *unit) {
    if (isnan(value))
        printf("    %-28s %14s\n", name, "-");
    else
        printf("    %-28s %14.6g %s\n", name, value, unit);
}

static void print_certificate(const rg_step_info *summary) {
    const rg_certificate *certificate = &summary->certificate;
    puts("\n  certificate                    worst of all steps");
    print_figure("smallest gap", certificate->min_gap, "m");
    print_figure("deepest penetration", certificate->max_penetration, "m");
    printf("    %-28s %14" PRIu64 " in all\n", "pairs passed through", summary->passed_through);
    print_figure("complementarity", certificate->complementarity, "");
    print_figure("cone violation", certificate->cone_violation, "");
    print_figure("joint error", certificate->joint_error, "m");
    print_figure("momentum error", certificate->momentum_error, "relative");
}

static void print_energy(const rg_energy_ledger *energy) {
    puts("\n  energy");
    print_figure("at the start", energy->initial, "J");
    print_figure("at the end", energy->final, "J");
    print_figure("lost in impacts", energy->impact_loss, "J");
    print_figure("work of friction", energy->friction_work, "J");
    print_figure("work of stabilisation", energy->stabilisation, "J");
    print_figure("error of integration", energy->integration, "J");
    print_figure("work of other forces", energy->external_work, "J");
    print_figure("work of moved bodies", energy->prescribed_work, "J");
    print_figure("closure", energy->closure_rel, "relative");
}

static void print_penalty(const rg_penalty_settings *p, const rg_step_info *summary) {
    printf("  %-16s dormand-prince to %.3g, %" PRIu64 " steps of its own, %" PRIu64
           " evaluations of forces\n",
           "integrator", p->tolerance, summary->substeps, summary->evaluations);
    printf("  %-16s springs ", "contacts");
    if (p->stiffness > 0)
        printf("of %.6g N/m", p->stiffness);
    else
        printf("that weight presses in by %.6g m", p->depth);
    printf(", by the %s%s\n", p->measure == RG_PENALTY_RATIO ? "ratio metric" : "depth",
           p->impulses ? "; collisions by impulses" : "");
}

static void print_method(rg_scene *scene, const rg_step_info *summary) {
    const rg_world *world = rg_scene_world(scene);
    rg_method_settings settings = rg_world_settings(world);
    printf("  %-16s %s, steps of %.6g s\n", "method", rg_method_name(rg_world_method(world)),
           rg_scene_step_size(scene));
    if (is_analytic(world)) {
        printf("  %-16s %s to %.3g, %" PRIu64 " steps of its own, %" PRIu64
               " evaluations of forces\n",
               "integrator", rg_integrator_name(settings.integrator), settings.tolerance,
               summary->substeps, summary->evaluations);
        printf("  %-16s %s by %s to %.3g, impacts %s", "contacts", "forces", solver_name(world),
               settings.solver_tolerance, law_name(world));
        print_other_laws(world);
        puts(settings.hand_over ? ", hands over to stepping" : "");
        return;
    }
    if (strcmp(rg_method_name(rg_world_method(world)), "penalty") == 0) {
        print_penalty(&settings.penalty, summary);
        return;
    }
    printf("  %-16s %s to %.3g, ", "solver", solver_name(world), settings.solver_tolerance);
    if (settings.friction_directions)
        printf("friction polygon of %d sides", settings.friction_directions);
    else
        fputs("exact friction cone", stdout);
    printf(", gamma %.6g%s\n", settings.gamma,
           settings.discrete_detection ? ", discrete detection" : "");
}

/* Bodies that meet without restitution lose energy too, but by the contact problem of the step. */
static void print_contacts(const rg_world *world, const rg_step_info *summary) {
    puts("\n  contacts");
    printf("    %-28s %14" PRIu64 "\n", "most at once", summary->contacts_max);
    printf("    %-28s %14" PRIu64 "\n", is_analytic(world) ? "impacts" : "impacts with restitution",
           summary->impacts);
    printf("    %-28s %14" PRIu64 "\n", "problems solved", summary->solves);
    printf("    %-28s %14" PRIu64 "\n", "iterations", summary->solver_iterations);
    printf("    %-28s %14" PRIu64 "\n", "solves by another solver", summary->fallbacks);
    printf("    %-28s %14" PRIu64 "\n", "solves that failed", summary->solver_failures);
}

static void print_measures(rg_scene *scene) {
    rg_measure measures[MEASURES];
    size_t count = rg_scene_measures(scene, measures, MEASURES);
    if (count > MEASURES)
        count = MEASURES;
    if (count == 0)
        return;
    puts("\n  measures");
    for (size_t i = 0; i < count; i++) {
        const rg_measure *measure = &measures[i];
        printf("    %-28s ", measure->name);
        if (isnan(measure->value))
            printf("%14s", "-");
        else if (measure->is_truth)
            printf("%14s", measure->value != 0 ? "yes" : "no");
        else
            printf("%14.6g", measure->value);
        if (measure->has_expected && measure->is_truth)
            printf("   expected %s", measure->expected != 0 ? "yes" : "no");
        else if (measure->has_expected)
            printf("   expected %.6g", measure->expected);
        putchar('\n');
    }
}

void cli_print_summary(const cli_report *report) {
    const rg_world *world = rg_scene_world(report->scene);
    const rg_step_info *summary = &report->summary;
    size_t bodies = rg_world_body_count(world), moving = 0;
    for (size_t i = 0; i < bodies; i++)
        moving += rg_body_motion(world, rg_world_body_at(world, i)) == RG_MOTION_DYNAMIC;
    printf("%s by rigor %s\n\n", rg_scene_name(report->scene), rg_version_text());
    print_method(report->scene, summary);
    printf("  %-16s %.6g s in %" PRIu64 " steps\n", "simulated", rg_world_time(world),
           rg_world_step_count(world));
    printf("  %-16s %zu, %zu of them dynamic\n", "bodies", bodies, moving);
    if (report->simulated_here > 0)
        printf("  %-16s %.3g s, %.3g× real time\n", "took", report->wall,
               report->simulated_here / report->wall);
    printf("  %-16s %.3g ms a step\n", "processor", cpu_ms_per_step(report));
    print_certificate(summary);
    print_energy(&summary->energy);
    print_contacts(world, summary);
    if (report->profile)
        cli_profile_print(world);
    if (report->heuristic)
        cli_heuristic_print(report->heuristic);
    if (report->events)
        cli_events_print(report->events);
    print_measures(report->scene);
    printf("\n  %-16s %016" PRIx64 "\n", "state hash", rg_world_state_hash(world));
    if (report->recording)
        printf("  %-16s %s\n", "recording", report->recording);
}

/* ---- for programs ---- */

static void print_member(const char *name, double value) {
    printf("\"%s\": ", name);
    cli_print_json_number(value);
}

static void print_json_measures(rg_scene *scene) {
    rg_measure measures[MEASURES];
    size_t count = rg_scene_measures(scene, measures, MEASURES);
    if (count > MEASURES)
        count = MEASURES;
    fputs("\"measures\": {", stdout);
    for (size_t i = 0; i < count; i++) {
        const rg_measure *measure = &measures[i];
        if (i > 0)
            fputs(", ", stdout);
        cli_print_json_text(measure->name);
        fputs(": ", stdout);
        cli_print_json_value(measure->value, measure->is_truth);
        if (measure->has_expected) {
            printf(", \"%s_expected\": ", measure->name);
            cli_print_json_value(measure->expected, measure->is_truth);
        }
    }
    putchar('}');
}

typedef struct json_member {
    const char *name;
    double value;
} json_member;

static void print_json_object(const char *name, const json_member *members, size_t count) {
    printf("\"%s\": {", name);
    for (size_t i = 0; i < count; i++) {
        fputs(i ? ", " : "", stdout);
        print_member(members[i].name, members[i].value);
    }
    fputs("}, ", stdout);
}

static void print_json_certificate(const rg_certificate *certificate) {
    const json_member members[] = {{"min_gap_m", certificate->min_gap},
                                   {"max_penetration_m", certificate->max_penetration},
                                   {"complementarity", certificate->complementarity},
                                   {"cone_violation", certificate->cone_violation},
                                   {"joint_error_m", certificate->joint_error},
                                   {"momentum_error_rel", certificate->momentum_error}};
    print_json_object("certificate", members, sizeof members / sizeof members[0]);
}

static void print_json_energy(const rg_energy_ledger *energy) {
    const json_member members[] = {{"initial_J", energy->initial},
                                   {"final_J", energy->final},
                                   {"impact_loss_J", energy->impact_loss},
                                   {"friction_work_J", energy->friction_work},
                                   {"stabilisation_J", energy->stabilisation},
                                   {"integration_J", energy->integration},
                                   {"external_J", energy->external_work},
                                   {"prescribed_J", energy->prescribed_work},
                                   {"closure_rel", energy->closure_rel}};
    print_json_object("energy", members, sizeof members / sizeof members[0]);
}

void cli_print_json(const cli_report *report) {
    const rg_world *world = rg_scene_world(report->scene);
    const rg_step_info *summary = &report->summary;
    fputs("{\"scene\": ", stdout);
    cli_print_json_text(rg_scene_name(report->scene));
    fputs(", \"method\": ", stdout);
    cli_print_json_text(rg_method_name(rg_world_method(world)));
    fputs(", \"solver\": ", stdout);
    cli_print_json_text(solver_name(world));
    fputs(", \"impact\": ", stdout);
    if (is_analytic(world))
        cli_print_json_text(law_name(world));
    else
        fputs("null", stdout);
    fputs(", \"integrator\": ", stdout);
    if (is_analytic(world))
        cli_print_json_text(rg_integrator_name(rg_world_settings(world).integrator));
    else
        fputs("null", stdout);
    printf(", \"steps\": %" PRIu64 ", ", rg_world_step_count(world));
    print_member("simulated_s", rg_world_time(world));
    fputs(", ", stdout);
    print_member("wall_s", report->wall);
    fputs(", ", stdout);
    print_member("cpu_ms_per_step", cpu_ms_per_step(report));
    fputs(", ", stdout);
    cli_profile_print_json(world);
    printf("\"bodies\": %zu, \"contacts_max\": %" PRIu64 ", ", rg_world_body_count(world),
           summary->contacts_max);
    print_json_certificate(&summary->certificate);
    print_json_energy(&summary->energy);
    printf("\"solves\": %" PRIu64 ", \"solver_iterations\": %" PRIu64 ", ", summary->solves,
           summary->solver_iterations);
    printf("\"substeps\": %" PRIu64 ", \"evaluations\": %" PRIu64 ", ", summary->substeps,
           summary->evaluations);
    printf("\"solver_failures\": %" PRIu64 ", \"fallbacks\": %" PRIu64 ", \"impacts\": %" PRIu64
           ", \"passed_through\": %" PRIu64 ", \"state_hash\": \"%016" PRIx64 "\", ",
           summary->solver_failures, summary->fallbacks, summary->impacts, summary->passed_through,
           rg_world_state_hash(world));
    if (report->heuristic)
        cli_heuristic_print_json(report->heuristic, summary->fallbacks);
    if (report->events)
        cli_events_print_json(report->events);
    print_json_measures(report->scene);
    puts("}");
}
