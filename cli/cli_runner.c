/* Runs of one scene in several ways: what `rigor compare` and `rigor converge` share. */
#include "cli_runner.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the command line ---- */

bool cli_plan_parse(cli_plan *plan, int count, const char **arguments) {
    if (count == 0) {
        cli_complain("%s: which SCENE? `rigor scenes` lists the built-in ones", plan->command);
        return false;
    }
    plan->scene = arguments[0];
    plan->parameters = calloc((size_t)count, sizeof *plan->parameters);
    for (int i = 1; i < count && plan->parameters; i++) {
        const char *equals = strchr(arguments[i], '=');
        if (!equals || equals == arguments[i]) {
            cli_complain("%s: '%s' is neither an option nor NAME=VALUE", plan->command,
                         arguments[i]);
            return false;
        }
        size_t length = (size_t)(equals - arguments[i]);
        char *name = malloc(length + 1);
        if (!name)
            break;
        memcpy(name, arguments[i], length);
        name[length] = '\0';
        plan->parameters[plan->parameter_count++] = (rg_scene_parameter){name, equals + 1};
    }
    if (plan->parameters && plan->parameter_count == (size_t)count - 1)
        return true;
    cli_complain("%s: out of memory", plan->command);
    return false;
}

void cli_plan_free(cli_plan *plan) {
    for (size_t i = 0; i < plan->parameter_count; i++)
        free((char *)plan->parameters[i].name);
    free(plan->parameters);
}

bool cli_plan_numbers(cli_plan *plan, const cli_option *duration, const cli_option *threads) {
    enum { MOST_THREADS = 1024 };
    double number;
    if (!cli_positive_option(plan->command, duration, 0, &plan->duration) ||
        !cli_whole_option(plan->command, threads, MOST_THREADS, 0, &number))
        return false;
    plan->threads = (int)number;
    return true;
}

/* ---- lists ---- */

enum { WORD = 64 };

/* The next word of a list, or false at its end. *at is null behind the last one. */
static bool next_word(const char **at, char word[WORD]) {
    if (!*at)
        return false;
    size_t length = strcspn(*at, ",");
    snprintf(word, WORD, "%.*s", (int)(length < WORD - 1 ? length : WORD - 1), *at);
    *at = (*at)[length] == ',' ? *at + length + 1 : NULL;
    return true;
}

static bool has_room(const char *command, const cli_option *option, size_t count) {
    if (count < CLI_LIST)
        return true;
    cli_complain("%s: --%s: more than %d values; give a shorter list", command, option->name,
                 CLI_LIST);
    return false;
}

static size_t list_numbers(const char *command, const cli_option *option, const char *meaning,
                           bool (*allowed)(double), double values[CLI_LIST]) {
    size_t count = 0;
    char word[WORD];
    for (const char *at = option->value; next_word(&at, word);) {
        if (!has_room(command, option, count))
            return 0;
        if (!cli_parse_number(word, &values[count]) || !allowed(values[count])) {
            cli_complain("%s: --%s: '%s' is not %s", command, option->name, word, meaning);
            return 0;
        }
        count++;
    }
    return count;
}

static bool is_step(double value) {
    return value > 0;
}

static bool is_gamma(double value) {
    return value >= 0 && value <= 1;
}

size_t cli_list_steps(const char *command, const cli_option *option, double steps[CLI_LIST]) {
    return list_numbers(command, option, "a number above 0", is_step, steps);
}

size_t cli_list_gammas(const char *command, const cli_option *option, double gammas[CLI_LIST]) {
    return list_numbers(command, option, "a number from 0 to 1", is_gamma, gammas);
}

static size_t complain_unknown(const char *command, const cli_option *option, const char *what,
                               const char *word, const char *const *names, size_t count) {
    const char *nearest = cli_nearest(word, names, count);
    if (nearest) {
        cli_complain("%s: --%s: unknown %s '%s'; did you mean %s?", command, option->name, what,
                     word, nearest);
        return 0;
    }
    fprintf(stderr, "rigor: %s: --%s: unknown %s '%s'; known are", command, option->name, what,
            word);
    for (size_t i = 0; i < count; i++)
        fprintf(stderr, "%s %s", i ? "," : "", names[i]);
    fputc('\n', stderr);
    return 0;
}

size_t cli_list_methods(const char *command, const cli_option *option,
                        const char *methods[CLI_LIST]) {
    const char *names[CLI_LIST];
    size_t count = 0, known = rg_method_count() < CLI_LIST ? rg_method_count() : CLI_LIST;
    char word[WORD];
    for (size_t i = 0; i < known; i++)
        names[i] = rg_method_name(rg_method_at(i));
    for (const char *at = option->value; next_word(&at, word);) {
        const rg_method *method = rg_method_find(word);
        if (!has_room(command, option, count))
            return 0;
        if (!method)
            return complain_unknown(command, option, "method", word, names, known);
        methods[count++] = rg_method_name(method);
    }
    return count;
}

size_t cli_list_solvers(const char *command, const cli_option *option,
                        const rg_solver *solvers[CLI_LIST]) {
    const char *names[CLI_LIST];
    size_t count = 0, known = rg_solver_count() < CLI_LIST ? rg_solver_count() : CLI_LIST;
    char word[WORD];
    for (size_t i = 0; i < known; i++) {
        solvers[i] = rg_solver_at(i);
        names[i] = rg_solver_name(solvers[i]);
    }
    if (strcmp(option->value, "all") == 0)
        return known;
    for (const char *at = option->value; next_word(&at, word);) {
        const rg_solver *solver = rg_solver_find(word);
        if (!has_room(command, option, count))
            return 0;
        if (strcmp(word, "lp") == 0 && !solver) {
            cli_complain("%s: --%s: lp is for `rigor solve` and `rigor run` only", command,
                         option->name);
            return 0;
        }
        if (!solver)
            return complain_unknown(command, option, "solver", word, names, known);
        solvers[count++] = solver;
    }
    return count;
}

size_t cli_list_impacts(const char *command, const cli_option *option,
                        const rg_impact_law *laws[CLI_LIST]) {
    const char *names[CLI_LIST];
    size_t count = 0, known = rg_impact_law_count() < CLI_LIST ? rg_impact_law_count() : CLI_LIST;
    char word[WORD];
    for (size_t i = 0; i < known; i++) {
        laws[i] = rg_impact_law_at(i);
        names[i] = rg_impact_law_name(laws[i]);
    }
    if (strcmp(option->value, "all") == 0)
        return known;
    for (const char *at = option->value; next_word(&at, word);) {
        const rg_impact_law *law = rg_impact_law_find(word);
        if (!has_room(command, option, count))
            return 0;
        if (!law)
            return complain_unknown(command, option, "impact law", word, names, known);
        laws[count++] = law;
    }
    return count;
}

size_t cli_list_frictions(const char *command, const cli_option *option, int directions[CLI_LIST]) {
    static const char polygon[] = "polygon:";
    size_t count = 0;
    char word[WORD];
    for (const char *at = option->value; next_word(&at, word);) {
        double corners = 0;
        if (!has_room(command, option, count))
            return 0;
        if (strcmp(word, "cone") != 0 &&
            !(strncmp(word, polygon, sizeof polygon - 1) == 0 &&
              cli_parse_number(word + sizeof polygon - 1, &corners) && corners >= 4 &&
              corners <= RG_DIRECTIONS_MAX && fmod(corners, 2) == 0)) {
            cli_complain("%s: --%s: '%s' is neither cone nor polygon:K with K even, from 4 to %d",
                         command, option->name, word, RG_DIRECTIONS_MAX);
            return 0;
        }
        directions[count++] = (int)corners;
    }
    return count;
}

const char *cli_friction_name(int directions, char text[CLI_NUMBER_SIZE]) {
    if (directions)
        snprintf(text, CLI_NUMBER_SIZE, "polygon:%d", directions);
    else
        snprintf(text, CLI_NUMBER_SIZE, "cone");
    return text;
}

/* ---- one run ---- */

static int open_variant(const cli_plan *plan, const cli_variant *variant, rg_scene **scene) {
    rg_error error = {0};
    rg_scene_options options = {.parameters = plan->parameters,
                                .parameter_count = plan->parameter_count,
                                .method = variant->method,
                                .step = variant->step,
                                .threads = plan->threads};
    rg_status status = cli_create_scene(plan->scene, &options, "rigor: ", scene, &error);
    if (status == RG_OK) {
        rg_world *world = rg_scene_world(*scene);
        rg_method_settings settings = rg_world_settings(world);
        if (variant->solver)
            settings.solver = variant->solver;
        if (variant->impact)
            settings.impact = variant->impact;
        if (!isnan(variant->gamma))
            settings.gamma = variant->gamma;
        if (variant->directions >= 0)
            settings.friction_directions = variant->directions;
        status = rg_world_set_method(world, rg_world_method(world), &settings, &error);
    }
    if (status == RG_OK)
        return EXIT_GOOD;
    cli_complain("%s", error.text);
    rg_scene_destroy(*scene);
    *scene = NULL;
    return cli_exit_code(status);
}

static double top_speed(const rg_world *world) {
    rg_strided velocities = rg_world_velocities(world);
    double top = 0;
    for (size_t i = 0; i < velocities.count; i++) {
        const double *v = velocities.data + i * velocities.stride;
        top = fmax(top, sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]));
    }
    return top;
}

static void go(const cli_plan *plan, rg_scene *scene, uint64_t total, double step,
               cli_outcome *outcome) {
    rg_world *world = rg_scene_world(scene);
    rg_error error = {0};
    cli_progress progress = cli_progress_begin(0, total, plan->quiet);
    double start = cli_clock(), cpu = cli_processor_clock();
    rg_status status = RG_OK;
    for (uint64_t i = 0; i < total && status == RG_OK; i++) {
        status = rg_world_step(world, step, NULL, &error);
        if (status != RG_OK)
            break;
        rg_scene_observe(scene);
        outcome->top_speed = fmax(outcome->top_speed, top_speed(world));
        cli_progress_update(&progress, i + 1);
    }
    outcome->wall = cli_clock() - start, outcome->cpu = cli_processor_clock() - cpu;
    cli_progress_clear(&progress);
    outcome->done = status == RG_OK;
    if (status != RG_OK)
        snprintf(outcome->failure, sizeof outcome->failure, "at t = %.6g s: %s",
                 rg_world_time(world), error.text);
}

static bool collect(rg_scene *scene, cli_outcome *outcome) {
    const rg_world *world = rg_scene_world(scene);
    rg_measure measures[CLI_RUN_MEASURES];
    size_t count = rg_scene_measures(scene, measures, CLI_RUN_MEASURES);
    outcome->measure_count = count < CLI_RUN_MEASURES ? count : CLI_RUN_MEASURES;
    for (size_t i = 0; i < outcome->measure_count; i++) {
        cli_run_measure *measure = &outcome->measures[i];
        snprintf(measure->name, sizeof measure->name, "%s", measures[i].name);
        measure->value = measures[i].value;
        measure->expected = measures[i].expected;
        measure->is_truth = measures[i].is_truth;
        measure->has_expected = measures[i].has_expected;
    }
    outcome->summary = rg_world_summary(world);
    outcome->steps = rg_world_step_count(world);
    outcome->simulated = rg_world_time(world);
    outcome->state_hash = rg_world_state_hash(world);
    outcome->cpu_ms_per_step = outcome->steps ? 1e3 * outcome->cpu / (double)outcome->steps : NAN;
    rg_strided centres = rg_world_centre_positions(world);
    outcome->body_count = centres.count;
    outcome->centres = malloc((3 * centres.count + 1) * sizeof *outcome->centres);
    if (!outcome->centres)
        return false;
    for (size_t i = 0; i < centres.count; i++)
        memcpy(outcome->centres + 3 * i, centres.data + i * centres.stride,
               3 * sizeof *outcome->centres);
    return true;
}

int cli_run_variant(const cli_plan *plan, const cli_variant *variant, cli_outcome *outcome) {
    rg_scene *scene = NULL;
    *outcome = (cli_outcome){0};
    int code = open_variant(plan, variant, &scene);
    if (code != EXIT_GOOD)
        return code;
    rg_world *world = rg_scene_world(scene);
    rg_method_settings settings = rg_world_settings(world);
    double duration = plan->duration > 0 ? plan->duration : rg_scene_duration(scene);
    double total = fmax(1, round(duration / rg_scene_step_size(scene)));
    if (!(total < 0x1p53)) {
        cli_complain("%s: %g s in steps of %g s are more steps than can be counted; give larger "
                     "--steps or a shorter --duration",
                     rg_scene_name(scene), duration, rg_scene_step_size(scene));
        rg_scene_destroy(scene);
        return EXIT_BAD_INPUT;
    }
    outcome->method = rg_method_name(rg_world_method(world));
    bool analytic = strcmp(outcome->method, "analytic") == 0;
    const rg_solver *solver = settings.solver;
    if (!solver)
        solver = analytic ? rg_solver_find("dantzig") : rg_solver_at(0);
    bool springs = strcmp(outcome->method, "penalty") == 0;
    outcome->solver = springs ? "-" : rg_solver_name(solver);
    if (analytic)
        outcome->impact =
            rg_impact_law_name(settings.impact ? settings.impact : rg_impact_law_at(0));
    outcome->step = plan->exact_end ? duration / total : rg_scene_step_size(scene);
    outcome->gamma = settings.gamma;
    outcome->directions = settings.friction_directions;
    snprintf(outcome->scene, sizeof outcome->scene, "%s", rg_scene_name(scene));
    go(plan, scene, (uint64_t)total, outcome->step, outcome);
    bool kept = collect(scene, outcome);
    rg_scene_destroy(scene);
    if (kept)
        return EXIT_GOOD;
    cli_complain("%s: out of memory", plan->command);
    return EXIT_FAILED;
}

void cli_outcome_free(cli_outcome *outcome) {
    free(outcome->centres);
    outcome->centres = NULL;
}
