/* Options on the command line: --name value, --name=value, -x, and -- after which nothing is one.
 */
#include "cli.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static cli_option *find(cli_option *options, size_t count, const char *name, size_t length,
                        char letter) {
    for (size_t i = 0; i < count; i++)
        if (letter
                ? options[i].letter == letter
                : strlen(options[i].name) == length && strncmp(options[i].name, name, length) == 0)
            return &options[i];
    return NULL;
}

static void complain_unknown(const char *command, const cli_option *options, size_t count,
                             const char *argument) {
    enum { MOST = 32 };
    const char *names[MOST];
    char word[64];
    size_t known = 0, length = strcspn(argument + 2, "=");
    snprintf(word, sizeof word, "%.*s", (int)(length < 60 ? length : 60), argument + 2);
    for (size_t i = 0; i < count && known < MOST; i++)
        names[known++] = options[i].name;
    const char *nearest = cli_nearest(word, names, known);
    if (nearest)
        cli_complain("%s: unknown option --%s; did you mean --%s?", command, word, nearest);
    else
        cli_complain("%s: unknown option --%s; see `rigor %s --help`", command, word, command);
}

/* One option at arguments[*at]; moves *at past the value if that is an argument of its own. */
static bool parse_one(const char *command, cli_option *options, size_t option_count,
                      const char **arguments, int count, int *at) {
    const char *argument = arguments[*at];
    bool is_long = argument[1] == '-';
    const char *name = argument + 2, *equals = is_long ? strchr(name, '=') : NULL;
    size_t length = equals ? (size_t)(equals - name) : strlen(name);
    if (!is_long && argument[2] != '\0') {
        cli_complain("%s: %s: one-letter options stand alone; write them apart, as in -q -f",
                     command, argument);
        return false;
    }
    cli_option *option =
        find(options, option_count, name, is_long ? length : 0, is_long ? '\0' : argument[1]);
    if (!option) {
        if (is_long)
            complain_unknown(command, options, option_count, argument);
        else
            cli_complain("%s: unknown option %s; see `rigor %s --help`", command, argument,
                         command);
        return false;
    }
    if (option->value && option->takes_value) {
        cli_complain("%s: --%s is given twice; give it once", command, option->name);
        return false;
    }
    if (!option->takes_value) {
        if (equals) {
            cli_complain("%s: --%s takes no value; write the option alone", command, option->name);
            return false;
        }
        option->value = "";
    } else if (equals) {
        option->value = equals + 1;
    } else if (*at + 1 < count) {
        option->value = arguments[++*at];
    } else {
        cli_complain("%s: --%s needs a value; see `rigor %s --help`", command, option->name,
                     command);
        return false;
    }
    return true;
}

bool cli_parse_options(const char *command, cli_option *options, size_t option_count,
                       const char **arguments, int *count) {
    int kept = 0;
    bool only_others = false;
    for (int i = 0; i < *count; i++) {
        const char *argument = arguments[i];
        if (only_others || argument[0] != '-' || argument[1] == '\0')
            arguments[kept++] = argument; /* "-" alone is standard output */
        else if (strcmp(argument, "--") == 0)
            only_others = true;
        else if (!parse_one(command, options, option_count, arguments, *count, &i))
            return false;
    }
    *count = kept;
    return true;
}

bool cli_whole_option(const char *command, const cli_option *option, double most, double fallback,
                      double *value) {
    *value = fallback;
    if (!option->value || (cli_parse_number(option->value, value) && *value >= 1 &&
                           *value <= most && *value == floor(*value)))
        return true;
    cli_complain("%s: --%s: '%s' is not a whole number from 1 to %.0f", command, option->name,
                 option->value, most);
    return false;
}

bool cli_positive_option(const char *command, const cli_option *option, double fallback,
                         double *value) {
    *value = fallback;
    if (!option->value)
        return true;
    if (cli_parse_number(option->value, value) && *value > 0)
        return true;
    cli_complain("%s: --%s: '%s' is not a number above 0, such as 0.5 or 1/240", command,
                 option->name, option->value);
    return false;
}
