/* `rigor scenes`: the built-in scenes. */
#include "cli.h"

#include <stdio.h>
#include <string.h>

const char cli_scenes_help[] =
    "Usage: rigor scenes [NAME | --gallery]\n"
    "\n"
    "Lists the built-in scenes with their parameters and defaults, or says all about one.\n"
    "\n"
    "Options:\n"
    "      --gallery what only exact contact can do: each at its limit, and just beyond it\n"
    "  -h, --help    this text\n"
    "\n"
    "Exit codes: 0 done, 2 usage, 3 there is no scene of that name.\n"
    "\n"
    "Examples:\n"
    "  rigor scenes\n"
    "  rigor scenes projectiles\n"
    "  rigor scenes --gallery\n";

/* What docs/gallery.md shows: at the limit, and beyond it. */
static const struct {
    const char *what, *within, *beyond;
} gallery[] = {
    {"a castle of cards of four storeys stands for a minute", "card-castle",
     "card-castle storeys=1 mu=0.1"},
    {"the thinnest semicircular arch: 0.1075 of the radius (Milankovitch, Heyman)", "arch",
     "arch thickness=0.105"},
    {"bricks over an edge: 1/2 + 1/4 + 1/6 + ... of their length", "overhang share=0.999999999",
     "overhang share=1.000001"},
    {"with counterweights, farther: the spinal limit (Paterson and Zwick)",
     "overhang stack=spinal bricks=16 share=0.999999999",
     "overhang stack=spinal bricks=16 share=1.000001"},
    {"a dry-stone wall holds back earth until it rocks, or slides", "dry-wall fluid=1115",
     "dry-wall fluid=1125"},
    {"Newton's cradle, by pairs and all at once", "cradle law=propagation",
     "cradle law=simultaneous"},
    {"a coin that wobbles at a known rate", "euler-disc", NULL},
    {"a chain of rings without joints", "ring-chain", NULL},
};

static void print_gallery(void) {
    for (size_t i = 0; i < sizeof gallery / sizeof *gallery; i++) {
        printf("%s%s\n  rigor run %s\n", i ? "\n" : "", gallery[i].what, gallery[i].within);
        if (gallery[i].beyond)
            printf("  rigor run %s\n", gallery[i].beyond);
    }
}

static void print_parameters_inline(const rg_builtin_info *info) {
    for (size_t i = 0; i < info->parameter_count; i++)
        printf(" %s=%s", info->parameters[i].name, info->parameters[i].default_value);
}

static void list_all(void) {
    enum { PARAMETERS_SIZE = 1024 };
    size_t widest = 0;
    for (size_t i = 0; i < rg_builtin_count(); i++) {
        size_t length = strlen(rg_builtin_at(i).name);
        if (length > widest)
            widest = length;
    }
    for (size_t i = 0; i < rg_builtin_count(); i++) {
        rg_builtin_info info = rg_builtin_at(i);
        int indent = printf("%-*s  ", (int)widest, info.name);
        cli_print_wrapped(info.summary, indent, indent);
        if (!info.parameter_count)
            continue;
        char text[PARAMETERS_SIZE] = "";
        size_t length = 0;
        for (size_t k = 0; k < info.parameter_count && length < sizeof text; k++)
            length += (size_t)snprintf(text + length, sizeof text - length, "%s=%s ",
                                       info.parameters[k].name, info.parameters[k].default_value);
        printf("%*s", indent, "");
        cli_print_wrapped(text, indent, indent);
    }
}

static void print_one(const rg_builtin_info *info) {
    printf("%s\n\n  ", info->name);
    cli_print_wrapped(info->summary, 2, 2);
    printf("\nRun it:\n\n  rigor run %s", info->name);
    print_parameters_inline(info);
    putchar('\n');
    if (info->parameter_count == 0)
        return;
    size_t widest = 0;
    for (size_t i = 0; i < info->parameter_count; i++) {
        size_t length =
            strlen(info->parameters[i].name) + strlen(info->parameters[i].default_value);
        if (length > widest)
            widest = length;
    }
    puts("\nParameters (with their defaults):\n");
    for (size_t i = 0; i < info->parameter_count; i++) {
        const rg_builtin_parameter *parameter = &info->parameters[i];
        int used = printf("  %s=%s", parameter->name, parameter->default_value);
        int indent = (int)widest + 5;
        char text[256];
        printf("%*s", indent - used, "");
        if (parameter->words)
            snprintf(text, sizeof text, "%s", parameter->summary);
        else
            snprintf(text, sizeof text, "%s (%g to %g)", parameter->summary, parameter->low,
                     parameter->high);
        cli_print_wrapped(text, indent, indent);
    }
}

int cli_scenes(int count, const char **arguments) {
    enum { MOST = 128 };
    cli_option options[] = {{"help", 'h', false, NULL}, {"gallery", 0, false, NULL}};
    if (!cli_parse_options("scenes", options, 2, arguments, &count))
        return EXIT_USAGE;
    if (options[0].value) {
        fputs(cli_scenes_help, stdout);
        return cli_flush();
    }
    if (options[1].value && count == 0) {
        print_gallery();
        return cli_flush();
    }
    if (count > 1 || options[1].value) {
        cli_complain("scenes: one NAME at a time; see `rigor scenes --help`");
        return EXIT_USAGE;
    }
    if (count == 0) {
        list_all();
        return cli_flush();
    }
    const char *names[MOST];
    size_t known = 0;
    for (size_t i = 0; i < rg_builtin_count() && known < MOST; i++) {
        rg_builtin_info info = rg_builtin_at(i);
        names[known++] = info.name;
        if (strcmp(info.name, arguments[0]) == 0) {
            print_one(&info);
            return cli_flush();
        }
    }
    const char *nearest = cli_nearest(arguments[0], names, known);
    if (nearest)
        cli_complain("scenes: there is no built-in scene '%s'; did you mean %s?", arguments[0],
                     nearest);
    else
        cli_complain("scenes: there is no built-in scene '%s'; `rigor scenes` lists them",
                     arguments[0]);
    return EXIT_BAD_INPUT;
}
