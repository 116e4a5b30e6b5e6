/* `rigor completion`: what a shell needs to complete commands, options, their values and the names
 * of built-in scenes. Options and their descriptions are read from the help texts, values from the
 * lists of the library: nothing is written down twice. */
#include "cli.h"

#include "rigor/impact.h"
#include "rigor/solver.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

const char cli_completion_help[] =
    "Usage: rigor completion bash|zsh|fish\n"
    "\n"
    "Prints a script with which the shell completes commands, options and their values, and\n"
    "the names of built-in scenes.\n"
    "\n"
    "Options:\n"
    "  -h, --help    this text\n"
    "\n"
    "Exit codes: 0 done, 2 usage.\n"
    "\n"
    "Examples:\n"
    "  rigor completion bash > ~/.local/share/bash-completion/completions/rigor\n"
    "  rigor completion zsh > ~/.zfunc/_rigor    (a directory of fpath)\n"
    "  rigor completion fish > ~/.config/fish/completions/rigor.fish\n";

/* ---- options, from a help text ---- */

typedef struct help_option {
    char name[32], text[128];
    char letter;
    bool takes_value;
} help_option;

/* The next option of a help text: a line that begins with two to six blanks, perhaps "-x, ", then
 * "--name". Its description is what follows two blanks or begins the next line, cut where that line
 * ends. */
static bool next_option(const char **help, help_option *option) {
    for (const char *line = *help; *line; line = strchr(line, '\n') + 1) {
        const char *p = line + strspn(line, " ");
        size_t indent = (size_t)(p - line);
        char letter = p[0] == '-' && isalpha((unsigned char)p[1]) && p[2] == ',' ? p[1] : '\0';
        p += letter ? 4 : 0;
        if (indent < 2 || indent > 6 || strncmp(p, "--", 2) != 0 || !isalpha((unsigned char)p[2]))
            continue;
        size_t length = 2 + strcspn(p + 2, " =[\n"), end = strcspn(p, "\n");
        *option = (help_option){.letter = letter,
                                .takes_value = p[length] == ' ' && p[length + 1] != ' '};
        snprintf(option->name, sizeof option->name, "%.*s", (int)length - 2, p + 2);
        const char *text = p + length;
        while (text < p + end && strncmp(text, "  ", 2) != 0)
            text++;
        if (text >= p + end)
            text = p + end + 1; /* a long one: its text is on the next line */
        text += strspn(text, " ");
        snprintf(option->text, sizeof option->text, "%.*s", (int)strcspn(text, "\n"), text);
        *help = p + end + 1;
        return true;
    }
    return false;
}

/* ---- values, from the lists of the library ---- */

static size_t count_integrators(void) {
    return 2;
}

static const char *method_at(size_t i) {
    return rg_method_name(rg_method_at(i));
}

static const char *solver_at(size_t i) {
    return rg_solver_name(rg_solver_at(i));
}

static const char *impact_at(size_t i) {
    return rg_impact_law_name(rg_impact_law_at(i));
}

static const char *integrator_at(size_t i) {
    return rg_integrator_name((rg_integrator)i);
}

static const struct values {
    const char *option;
    size_t (*count)(void);
    const char *(*at)(size_t index);
} values[] = {{"method", rg_method_count, method_at},
              {"solver", rg_solver_count, solver_at},
              {"impact", rg_impact_law_count, impact_at},
              {"integrator", count_integrators, integrator_at}};
enum { VALUES = sizeof values / sizeof values[0] };

static void print_values(const struct values *list) {
    for (size_t i = 0; i < list->count(); i++)
        printf("%s%s", i ? " " : "", list->at(i));
}

static const struct values *values_of(const char *option) {
    for (int i = 0; i < VALUES; i++)
        if (strcmp(values[i].option, option) == 0)
            return &values[i];
    return NULL;
}

static bool takes_scenes(const char *command) {
    static const char *const takers[] = {"run", "view", "check", "scenes", "compare", "converge"};
    for (size_t i = 0; i < sizeof takers / sizeof takers[0]; i++)
        if (strcmp(takers[i], command) == 0)
            return true;
    return false;
}

static void print_scenes(void) {
    for (size_t i = 0; i < rg_builtin_count(); i++)
        printf("%s%s", i ? " " : "", rg_builtin_at(i).name);
}

static void print_commands(void) {
    for (size_t i = 0; i < cli_command_count; i++)
        printf("%s ", cli_commands[i].name);
    fputs("help", stdout);
}

/* Within single quotes; a colon gets a backslash if it would end a name. */
static void print_quoted(const char *text, bool colons) {
    for (; *text; text++)
        if (*text == '\'')
            fputs("'\\''", stdout);
        else
            printf("%s%c", colons && *text == ':' ? "\\" : "", *text);
}

/* ---- the shells ---- */

static void print_bash(void) {
    puts("# Completion of rigor for bash. Made by `rigor completion bash`.\n"
         "_rigor() {\n"
         "    local current=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} words=\n"
         "    COMPREPLY=()\n"
         "    if [ \"$COMP_CWORD\" -eq 1 ]; then");
    fputs("        COMPREPLY=($(compgen -W '", stdout);
    print_commands();
    puts(" --help --version' -- \"$current\"))\n"
         "        return\n"
         "    fi\n"
         "    case ${COMP_WORDS[COMP_CWORD - 1]} in");
    for (int i = 0; i < VALUES; i++) {
        printf("    --%s) words='", values[i].option);
        print_values(&values[i]);
        puts("' ;;");
    }
    puts("    esac\n"
         "    if [ -n \"$words\" ]; then\n"
         "        COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
         "        return\n"
         "    fi\n"
         "    if [ \"${current#-}\" != \"$current\" ]; then\n"
         "        case $command in");
    for (size_t i = 0; i < cli_command_count; i++) {
        help_option option;
        printf("        %s) words='", cli_commands[i].name);
        for (const char *help = cli_commands[i].help; next_option(&help, &option);)
            printf("--%s ", option.name);
        puts("' ;;");
    }
    fputs("        esac\n"
          "        COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
          "        return\n"
          "    fi\n"
          "    case $command in\n"
          "    run | view | check | scenes | compare | converge) words='",
          stdout);
    print_scenes();
    fputs("' ;;\n"
          "    completion) words='bash zsh fish' ;;\n"
          "    help) words='",
          stdout);
    print_commands();
    puts("' ;;\n"
         "    esac\n"
         "    COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
         "    [ \"$command\" = help ] || COMPREPLY+=($(compgen -f -- \"$current\"))\n"
         "}\n"
         "complete -o filenames -F _rigor rigor");
}

static void print_zsh(void) {
    puts("#compdef rigor\n"
         "# Completion of rigor for zsh. Made by `rigor completion zsh`.\n"
         "_rigor() {\n"
         "    local -a commands options scenes\n"
         "    commands=(");
    for (size_t i = 0; i < cli_command_count; i++) {
        printf("        '%s:", cli_commands[i].name);
        print_quoted(cli_commands[i].summary, true);
        puts("'");
    }
    fputs("        'help:the help of a command'\n"
          "    )\n"
          "    scenes=(",
          stdout);
    print_scenes();
    puts(")\n"
         "    if (( CURRENT == 2 )); then\n"
         "        _describe command commands\n"
         "        return\n"
         "    fi\n"
         "    case $words[CURRENT-1] in");
    for (int i = 0; i < VALUES; i++) {
        printf("    --%s) compadd -- ", values[i].option);
        print_values(&values[i]);
        puts("; return ;;");
    }
    puts("    esac\n"
         "    case $words[2] in");
    for (size_t i = 0; i < cli_command_count; i++) {
        help_option option;
        printf("    %s)\n        options=(\n", cli_commands[i].name);
        for (const char *help = cli_commands[i].help; next_option(&help, &option);) {
            printf("            '--%s:", option.name);
            print_quoted(option.text, true);
            puts("'");
        }
        puts("        ) ;;");
    }
    puts("    help) _describe command commands; return ;;\n"
         "    esac\n"
         "    if [[ $PREFIX == -* ]]; then\n"
         "        _describe -o option options\n"
         "        return\n"
         "    fi\n"
         "    case $words[2] in\n"
         "    run | view | check | scenes | compare | converge) compadd -a scenes ;;\n"
         "    completion) compadd bash zsh fish ;;\n"
         "    esac\n"
         "    _files\n"
         "}\n"
         "if [ \"$funcstack[1]\" = _rigor ]; then\n"
         "    _rigor \"$@\"\n"
         "else\n"
         "    compdef _rigor rigor\n"
         "fi");
}

static void print_fish_command(const cli_command *command) {
    printf("complete -c rigor -n __fish_use_subcommand -f -a %s -d '", command->name);
    print_quoted(command->summary, false);
    puts("'");
    help_option option;
    for (const char *help = command->help; next_option(&help, &option);) {
        printf("complete -c rigor -n '__fish_seen_subcommand_from %s' -l %s ", command->name,
               option.name);
        if (option.letter)
            printf("-s %c ", option.letter);
        const struct values *list = values_of(option.name);
        if (list) {
            fputs("-x -a '", stdout);
            print_values(list);
            fputs("' ", stdout);
        } else if (option.takes_value) {
            fputs("-r ", stdout);
        }
        fputs("-d '", stdout);
        print_quoted(option.text, false);
        puts("'");
    }
    if (!takes_scenes(command->name))
        return;
    printf("complete -c rigor -n '__fish_seen_subcommand_from %s' -a '", command->name);
    print_scenes();
    puts("' -d 'built-in scene'");
}

static void print_fish(void) {
    puts("# Completion of rigor for fish. Made by `rigor completion fish`.");
    for (size_t i = 0; i < cli_command_count; i++)
        print_fish_command(&cli_commands[i]);
    fputs("complete -c rigor -n __fish_use_subcommand -f -a help -d 'the help of a command'\n"
          "complete -c rigor -n '__fish_seen_subcommand_from help' -f -a '",
          stdout);
    print_commands();
    puts("'\n"
         "complete -c rigor -n '__fish_seen_subcommand_from completion' -f -a 'bash zsh fish'");
}

int cli_completion(int count, const char **arguments) {
    cli_option options[] = {{"help", 'h', false, NULL}};
    if (!cli_parse_options("completion", options, 1, arguments, &count))
        return EXIT_USAGE;
    if (options[0].value) {
        fputs(cli_completion_help, stdout);
        return cli_flush();
    }
    static const struct {
        const char *name;
        void (*print)(void);
    } shells[] = {{"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}};
    for (size_t i = 0; count == 1 && i < sizeof shells / sizeof shells[0]; i++)
        if (strcmp(shells[i].name, arguments[0]) == 0) {
            shells[i].print();
            return cli_flush();
        }
    cli_complain("completion: needs one of bash, zsh and fish; see `rigor completion --help`");
    return EXIT_USAGE;
}
