/* `rigor solve`: its table for people, its lines of JSON. */
#include "cli_solve.h"

#include <stdio.h>
#include <string.h>

static void print_seconds(double seconds) {
    double ms = 1e3 * seconds;
    printf("  %*.*f ms", 12, ms < 10 ? 4 : ms < 1000 ? 2 : 0, ms);
}

void cli_solve_print_head(const char *path, const rg_problem_file_info *info,
                          const rg_problem *problem) {
    const rg_contact_problem *p = &problem->contact;
    printf("%s: %s", path, rg_problem_format_name(info->format));
    if (problem->kind == RG_PROBLEM_LINEAR) {
        printf(", %zu rows", problem->linear.size);
    } else {
        printf(", %dD, %zu contacts", p->dimension, p->contacts);
        if (p->joints)
            printf(", %zu joint rows", p->joints);
        if (info->freedom)
            printf(", %zu degrees of freedom%s", info->freedom,
                   info->condensed ? " (eliminated)" : "");
        if (!p->mu)
            printf(", no friction");
        else if (p->directions)
            printf(", polygon of %d corners", p->directions);
    }
    if (info->title[0])
        printf("; %.*s", (int)strcspn(info->title, "\r\n"), info->title);
    printf("\n");
}

void cli_solve_print_table_head(void) {
    printf("  %-15s %-13s %10s %12s  %15s\n", "solver", "status", "residual", "iterations", "time");
}

void cli_solve_print_reference(const rg_problem_file_info *info, double judged) {
    printf("  %-15s %-13s %10.2e", "(in the file)", "known", judged);
    if (info->reference_residual >= 0)
        printf("   said to be %.2e", info->reference_residual);
    printf("\n");
}

void cli_solve_print_row(const char *name, const rg_solve_info *info) {
    printf("  %-15s %-13s", name, rg_solve_outcome_name(info->outcome));
    if (info->outcome == RG_SOLVE_UNSUITABLE) {
        printf("\n");
        return;
    }
    printf(" %10.2e %12llu", info->residual.natural, (unsigned long long)info->iterations);
    print_seconds(info->seconds);
    if (info->attempts > 1 && info->solver)
        printf("  by %s, attempt %u", rg_solver_name(info->solver), info->attempts);
    printf("\n");
    if (info->text[0])
        printf("    %s\n", info->text);
}

void cli_solve_json_number(const char *key, double value) {
    printf(", \"%s\": ", key);
    cli_print_json_number(value);
}

void cli_solve_json_head(const char *path, const rg_problem_file_info *info,
                         const rg_problem *problem) {
    const rg_contact_problem *p = &problem->contact;
    bool linear = problem->kind == RG_PROBLEM_LINEAR;
    printf("{\"file\": ");
    cli_print_json_text(path);
    printf(", \"format\": \"%s\", \"kind\": \"%s\", \"rows\": %zu",
           rg_problem_format_name(info->format), linear ? "linear" : "contact",
           rg_problem_rows(problem));
    if (!linear)
        printf(", \"dimension\": %d, \"contacts\": %zu, \"joints\": %zu, \"form\": \"%s\", "
               "\"condensed\": %s, \"freedom\": %zu, \"friction\": %s, \"directions\": %d",
               p->dimension, p->contacts, p->joints, p->form == RG_FORM_LOCAL ? "local" : "global",
               info->condensed ? "true" : "false", info->freedom, p->mu ? "true" : "false",
               p->directions);
    cli_solve_json_number("scale", rg_problem_scale(problem));
    if (info->title[0]) {
        printf(", \"title\": ");
        cli_print_json_text(info->title);
    }
}

static void json_attempts(const rg_solve_info *info) {
    printf(", \"attempts\": [");
    for (uint32_t i = 0; i < info->attempts && i < RG_SOLVE_CHAIN_MAX; i++) {
        const rg_solve_attempt *a = &info->chain[i];
        printf("%s{\"solver\": \"%s\", \"status\": \"%s\", \"iterations\": %llu", i ? ", " : "",
               a->solver ? rg_solver_name(a->solver) : "", rg_solve_outcome_name(a->outcome),
               (unsigned long long)a->iterations);
        cli_solve_json_number("residual", a->residual);
        cli_solve_json_number("seconds", a->seconds);
        printf("}");
    }
    printf("]");
}

void cli_solve_json_row(const char *name, const rg_solve_info *info, bool first) {
    printf("%s{\"solver\": \"%s\", \"status\": \"%s\"", first ? "" : ", ", name,
           rg_solve_outcome_name(info->outcome));
    cli_solve_json_number("residual", info->residual.natural);
    cli_solve_json_number("feasibility", info->residual.feasibility);
    cli_solve_json_number("force", info->residual.force);
    cli_solve_json_number("complementarity", info->residual.complementarity);
    cli_solve_json_number("dissipation", info->residual.dissipation);
    printf(", \"worst\": %zu, \"iterations\": %llu, \"factorisations\": %llu", info->residual.worst,
           (unsigned long long)info->iterations, (unsigned long long)info->factorisations);
    cli_solve_json_number("seconds", info->seconds);
    json_attempts(info);
    printf(", \"text\": ");
    cli_print_json_text(info->text);
    printf("}");
}

void cli_solve_print_end(const cli_solving *s) {
    if (s->json) {
        printf("{\"solved\": %zu, \"unsolved\": %zu, \"unreadable\": %zu", s->solved, s->unsolved,
               s->unread);
        cli_solve_json_number("tolerance", s->settings.tolerance);
        printf("}\n");
    } else if (s->solver_count && s->solved + s->unsolved + s->unread > 1) {
        printf("%zu solved to %.0e, %zu not solved", s->solved, s->settings.tolerance, s->unsolved);
        if (s->unread)
            printf(", %zu cannot be used", s->unread);
        printf("\n");
    }
}
