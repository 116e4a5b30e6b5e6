/* The command `rigor`: finds the command to run. */
#include "cli.h"
#include "cli_runner.h"
#include "cli_sweep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help_begin[] =
    "Usage: rigor COMMAND [ARGUMENT ...]\n"
    "\n"
    "Rigid bodies that do not pass through each other, with figures that prove it.\n"
    "\n"
    "Commands:\n";
static const char help_end[] =
    "  help       this text, or that of a command\n"
    "\n"
    "Options:\n"
    "      --version   print the version\n"
    "  -h, --help      this text; `rigor COMMAND --help` for each command\n"
    "\n"
    "Exit codes: 0 done, 1 a requirement or check failed, a problem was not solved or a run\n"
    "cannot continue, 2 usage, 3 a scene, recording or problem cannot be used, 4 output cannot\n"
    "be written, 128 + N stopped by signal N (a run that records can be resumed).\n"
    "\n"
    "Examples:\n"
    "  rigor scenes\n"
    "  rigor run dominoes --out dominoes.h5\n"
    "  rigor explain dominoes.h5\n";

const cli_command cli_commands[] = {
    {"run", "simulate a scene, or resume a recording", cli_run, cli_run_help},
    {"view", "look at a scene while it runs, or at recordings, in the browser", cli_view,
     cli_view_help},
    {"new", "write a first scene file, with comments", cli_new, cli_new_help},
    {"check", "read scenes and say what is wrong with them", cli_check, cli_check_help},
    {"convert", "write a robot (URDF, MJCF, SDF) as a scene file, or a scene as a robot",
     cli_convert, cli_convert_help},
    {"decompose", "cut a mesh into convex parts", cli_decompose, cli_decompose_help},
    {"scenes", "list the built-in scenes", cli_scenes, cli_scenes_help},
    {"explain", "say in words what happened in a recording", cli_explain, cli_explain_help},
    {"strip", "draw a run at chosen times, side by side", cli_strip, cli_strip_help},
    {"export", "write a recording in another format", cli_export, cli_export_help},
    {"distance", "distance or depth of two shapes, and their contact points", cli_distance,
     cli_distance_help},
    {"compare", "run a scene with several methods, solvers and steps, side by side", cli_compare,
     cli_compare_help},
    {"converge", "how errors shrink with the step: observed orders, table and plot", cli_converge,
     cli_converge_help},
    {"sweep", "run a scene many times with different parameters, into one table", cli_sweep,
     cli_sweep_help},
    {"plot", "plot columns of a table", cli_plot, cli_plot_help},
    {"solve", "solve contact problems from files and check the answers", cli_solve, cli_solve_help},
    {"bench", "measure speed on this machine", cli_bench, cli_bench_help},
    {"completion", "print the completion script of bash, zsh or fish", cli_completion,
     cli_completion_help}};
enum { COMMANDS = sizeof cli_commands / sizeof cli_commands[0] };
const size_t cli_command_count = COMMANDS;

static const cli_command *find(const char *name) {
    for (int i = 0; i < COMMANDS; i++)
        if (strcmp(cli_commands[i].name, name) == 0)
            return &cli_commands[i];
    return NULL;
}

static int complain_unknown(const char *name) {
    const char *names[COMMANDS + 1];
    for (int i = 0; i < COMMANDS; i++)
        names[i] = cli_commands[i].name;
    names[COMMANDS] = "help";
    const char *what = name[0] == '-' ? "option" : "command";
    const char *nearest = name[0] == '-' ? NULL : cli_nearest(name, names, COMMANDS + 1);
    if (cli_is_recording(name))
        cli_complain("unknown command '%s'; to look at a recording: rigor view %s", name, name);
    else if (cli_is_scene(name))
        cli_complain("unknown command '%s'; to run a scene: rigor run %s", name, name);
    else if (nearest)
        cli_complain("unknown %s '%s'; did you mean %s?", what, name, nearest);
    else
        cli_complain("unknown %s '%s'; see `rigor --help`", what, name);
    return EXIT_USAGE;
}

static void print_main_help(FILE *to) {
    fputs(help_begin, to);
    for (int i = 0; i < COMMANDS; i++)
        fprintf(to, "  %-10s %s\n", cli_commands[i].name, cli_commands[i].summary);
    fputs(help_end, to);
}

static int print_help(const char *name) {
    const cli_command *command = name ? find(name) : NULL;
    if (name && !command)
        return complain_unknown(name);
    if (command)
        fputs(command->help, stdout);
    else
        print_main_help(stdout);
    return cli_flush();
}

int main(int count, char **arguments) {
    /* Clp's BLAS is loaded with the first linear program; if it is OpenBLAS, its threads would have
     * nothing to do but to fail where there is little address space. */
    setenv("OPENBLAS_NUM_THREADS", "1", 0);
    if (count < 2) {
        print_main_help(stderr);
        return EXIT_USAGE;
    }
    const char *name = arguments[1];
    if (strcmp(name, "--version") == 0) {
        printf("rigor %s\n", rg_version_text());
        return cli_flush();
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        return print_help(NULL);
    if (strcmp(name, "help") == 0)
        return print_help(count > 2 ? arguments[2] : NULL);
    const cli_command *command = find(name);
    if (!command)
        return complain_unknown(name);
    return command->run(count - 2, (const char **)(arguments + 2));
}
