/* --require: figures of the certificate and the energy ledger against limits, after every step and
 * for the run as a whole. */
#include "cli.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define REAL(name, member)                                                                         \
    { name, offsetof(rg_step_info, member), false }
#define COUNT(name, member)                                                                        \
    { name, offsetof(rg_step_info, member), true }
/* Named as in the JSON summary. */
static const struct figure {
    const char *name;
    size_t offset;
    bool is_count;
} figures[] = {
    REAL("min_gap_m", certificate.min_gap),
    REAL("max_penetration_m", certificate.max_penetration),
    REAL("complementarity", certificate.complementarity),
    REAL("cone_violation", certificate.cone_violation),
    REAL("joint_error_m", certificate.joint_error),
    REAL("momentum_error_rel", certificate.momentum_error),
    REAL("initial_J", energy.initial),
    REAL("final_J", energy.final),
    REAL("impact_loss_J", energy.impact_loss),
    REAL("friction_work_J", energy.friction_work),
    REAL("stabilisation_J", energy.stabilisation),
    REAL("integration_J", energy.integration),
    REAL("external_J", energy.external_work),
    REAL("prescribed_J", energy.prescribed_work),
    REAL("closure_rel", energy.closure_rel),
    COUNT("contacts_max", contacts_max),
    COUNT("solves", solves),
    COUNT("solver_iterations", solver_iterations),
    COUNT("substeps", substeps),
    COUNT("evaluations", evaluations),
    COUNT("solver_failures", solver_failures),
    COUNT("fallbacks", fallbacks),
    COUNT("impacts", impacts),
    COUNT("passed_through", passed_through),
};
enum { FIGURES = sizeof figures / sizeof figures[0] };

/* Longer ones first: "<=" begins with "<". */
static const char *const comparisons[] = {"<=", ">=", "<", ">"};
enum { COMPARISONS = sizeof comparisons / sizeof comparisons[0] };

static bool holds(int comparison, double value, double limit) {
    switch (comparison) {
    case 0:
        return value <= limit;
    case 1:
        return value >= limit;
    case 2:
        return value < limit;
    default:
        return value > limit;
    }
}

static double value_of(int figure, const rg_step_info *info) {
    const char *place = (const char *)info + figures[figure].offset;
    if (!figures[figure].is_count)
        return *(const double *)(const void *)place;
    return (double)*(const uint64_t *)(const void *)place;
}

static bool complain_figure(const char *name) {
    const char *names[FIGURES];
    for (int i = 0; i < FIGURES; i++)
        names[i] = figures[i].name;
    const char *nearest = cli_nearest(name, names, FIGURES);
    if (nearest) {
        cli_complain("run: --require: unknown figure '%s'; did you mean %s?", name, nearest);
        return false;
    }
    fprintf(stderr, "rigor: run: --require: unknown figure '%s'; known are", name);
    for (int i = 0; i < FIGURES; i++)
        fprintf(stderr, "%s %s", i ? "," : "", figures[i].name);
    fputc('\n', stderr);
    return false;
}

/* Length without the blanks at the end. */
static size_t trimmed(const char *text, size_t length) {
    while (length > 0 && text[length - 1] == ' ')
        length--;
    return length;
}

static bool parse_one(const char *text, cli_requirement *requirement) {
    *requirement = (cli_requirement){.figure = -1};
    snprintf(requirement->text, sizeof requirement->text, "%s", text);
    size_t length = strcspn(text, "<>=!");
    char name[CLI_REQUIREMENT_SIZE];
    snprintf(name, sizeof name, "%.*s", (int)trimmed(text, length), text);
    int comparison = 0;
    while (comparison < COMPARISONS &&
           strncmp(text + length, comparisons[comparison], strlen(comparisons[comparison])) != 0)
        comparison++;
    if (length == 0 || comparison == COMPARISONS) {
        cli_complain("run: --require: '%s' is not NAME<LIMIT (or <=, >, >=)", text);
        return false;
    }
    for (int i = 0; i < FIGURES; i++)
        if (strcmp(figures[i].name, name) == 0)
            requirement->figure = i;
    if (requirement->figure < 0)
        return complain_figure(name);
    requirement->comparison = comparison;
    const char *limit = text + length + strlen(comparisons[comparison]);
    limit += strspn(limit, " ");
    if (!cli_parse_number(limit, &requirement->limit)) {
        cli_complain("run: --require: '%s': the limit '%s' is not a number", text, limit);
        return false;
    }
    return true;
}

bool cli_parse_requirements(const char *text, cli_requirements *requirements) {
    while (*text) {
        text += strspn(text, " ");
        size_t length = strcspn(text, ","), kept = trimmed(text, length);
        char one[CLI_REQUIREMENT_SIZE];
        if (kept >= sizeof one) {
            cli_complain(
                "run: --require: '%.*s' is longer than %zu characters; NAME<LIMIT is shorter",
                (int)kept, text, sizeof one - 1);
            return false;
        }
        snprintf(one, sizeof one, "%.*s", (int)kept, text);
        if (requirements->count == CLI_REQUIREMENTS) {
            cli_complain("run: --require: more than %d requirements", CLI_REQUIREMENTS);
            return false;
        }
        if (!parse_one(one, &requirements->list[requirements->count]))
            return false;
        requirements->count++;
        text += length;
        if (*text == ',')
            text++;
    }
    if (requirements->count == 0)
        cli_complain("run: --require: is empty; an example is 'momentum_error_rel<1e-9'");
    return requirements->count > 0;
}

/* step 0: the run as a whole. */
static void check(cli_requirements *requirements, const rg_step_info *info, uint64_t step) {
    for (int i = 0; i < requirements->count; i++) {
        cli_requirement *requirement = &requirements->list[i];
        double value = value_of(requirement->figure, info);
        if (isnan(value))
            continue; /* nothing to measure breaks nothing, and is said at the end */
        requirement->measured = true;
        if (!requirements->broken && !holds(requirement->comparison, value, requirement->limit)) {
            requirements->broken = requirement;
            requirements->broken_step = step;
            requirements->broken_value = value;
        }
    }
}

void cli_check_step(cli_requirements *requirements, const rg_step_info *info, uint64_t step) {
    check(requirements, info, step);
}

void cli_check_run(cli_requirements *requirements, const rg_step_info *summary) {
    check(requirements, summary, 0);
}

int cli_report_requirements(const cli_requirements *requirements, bool quiet) {
    char value[CLI_NUMBER_SIZE];
    for (int i = 0; i < requirements->count && !quiet; i++)
        if (!requirements->list[i].measured)
            fprintf(stderr, "rigor: note: %s: there was nothing to measure, so nothing broke it\n",
                    requirements->list[i].text);
    if (!requirements->broken)
        return EXIT_GOOD;
    const cli_requirement *broken = requirements->broken;
    cli_exact(requirements->broken_value, value);
    if (requirements->broken_step)
        cli_complain("requirement %s broken at step %llu: %s = %s", broken->text,
                     (unsigned long long)requirements->broken_step, figures[broken->figure].name,
                     value);
    else
        cli_complain("requirement %s broken by the run as a whole: %s = %s", broken->text,
                     figures[broken->figure].name, value);
    return EXIT_FAILED;
}
