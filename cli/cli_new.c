/* `rigor new`: a first scene file to start from. */
#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const char cli_new_help[] =
    "Usage: rigor new NAME\n"
    "\n"
    "Writes NAME.yaml, a small scene with comments: a floor, a stack of bricks, a ball that\n"
    "is thrown at them, a pendulum. Change it, look at it with `rigor view NAME.yaml`.\n"
    "NAME - is standard output.\n"
    "\n"
    "Options:\n"
    "  -f, --overwrite  replace NAME.yaml if it exists\n"
    "  -h, --help       this text\n"
    "\n"
    "Exit codes: 0 done, 2 usage, 4 the file exists or cannot be written.\n"
    "\n"
    "Examples:\n"
    "  rigor new mine && rigor view mine.yaml\n"
    "  rigor new - | head\n";

static const char scene[] =
    "# A scene of rigor. Look at it:          rigor view FILE\n"
    "# Simulate and record it:                rigor run FILE --out run.h5\n"
    "# With other values of its parameters:   rigor run FILE bricks=8 speed=12\n"
    "#\n"
    "# Metres, kilograms, seconds, newtons; angles in radians unless a key says degrees; z is up.\n"
    "# What is left out has a default. `rigor check FILE` says what is wrong, line by line.\n"
    "rigor: 1\n"
    "\n"
    "gravity: [0, 0, -9.81]\n"
    "method: {name: stepping, step: 1/240}   # or analytic: event by event, exact impact times\n"
    "duration: 3\n"
    "record: {every: 1/60}                   # frames of a recording\n"
    "\n"
    "parameters:                             # set on the command line: NAME=VALUE\n"
    "  bricks: 5\n"
    "  speed: 8\n"
    "\n"
    "materials:                              # laws of contact; pairs of materials mix theirs\n"
    "  clay: {friction: 0.6}\n"
    "  rubber: {friction: 0.8, restitution: 0.5}\n"
    "\n"
    "shapes:                                 # named once, used as often as wanted\n"
    "  brick: {box: [0.24, 0.12, 0.08]}      # full edge lengths; also sphere, capsule, cylinder,\n"
    "                                        # cone, ellipsoid, hull, halfspace, compound, mesh\n"
    "\n"
    "bodies:\n"
    "  - {name: floor, shape: {halfspace: {normal: [0, 0, 1], offset: 0}}, motion: fixed}\n"
    "\n"
    "  # One entry for many bodies: i counts from 0, numbers may be small expressions.\n"
    "  - {name: \"brick{i}\", repeat: bricks, shape: brick, density: 1800, material: clay,\n"
    "     position: [0, 0, \"0.04 + 0.08*i\"], orientation: {axis: [0, 0, 1], degrees: \"8*i\"}}\n"
    "\n"
    "  - {name: ball, shape: {sphere: 0.06}, mass: 1, material: rubber,\n"
    "     position: [-1.5, 0, 0.4], velocity: [speed, 0, 1]}\n"
    "\n"
    "  - {name: post, shape: {box: [0.05, 0.05, 1]}, motion: fixed, position: [0.6, 0.5, 0.5]}\n"
    "  - {name: bob, shape: {sphere: 0.08}, mass: 2, position: [1.1, 0.4, 0.9]}\n"
    "\n"
    "joints:                                 # how bodies are connected (docs/joints.md)\n"
    "  - {kind: ball, name: string, bodies: [post, bob], point: [0.6, 0.4, 0.9]}\n"
    "  # A motor, of a slider or hinge:\n"
    "  # - {kind: slider, bodies: [world, bob], point: [1.1, 0.4, 0.9], axis: [0, 0, 1],\n"
    "  #    axes: {motor: {velocity: 0.1, max_force: 50}}}\n";

static int write_scene(int file, const char *path) {
    for (size_t done = 0; done < sizeof scene - 1;) {
        ssize_t part = write(file, scene + done, sizeof scene - 1 - done);
        if (part < 0 && errno == EINTR)
            continue;
        if (part < 0) {
            cli_complain("new: %s: %s", path, strerror(errno));
            return EXIT_UNWRITABLE;
        }
        done += (size_t)part;
    }
    return EXIT_GOOD;
}

int cli_new(int count, const char **arguments) {
    cli_option options[] = {{"overwrite", 'f', false, NULL}, {"help", 'h', false, NULL}};
    if (!cli_parse_options("new", options, 2, arguments, &count))
        return EXIT_USAGE;
    if (options[1].value) {
        fputs(cli_new_help, stdout);
        return cli_flush();
    }
    if (count != 1 || arguments[0][0] == '\0') {
        cli_complain("new: needs one NAME; see `rigor new --help`");
        return EXIT_USAGE;
    }
    if (strcmp(arguments[0], "-") == 0)
        return write_scene(STDOUT_FILENO, "standard output");
    char path[4096];
    size_t length = strlen(arguments[0]);
    bool named = length > 5 && strcmp(arguments[0] + length - 5, ".yaml") == 0;
    if (length + 6 > sizeof path) {
        cli_complain("new: the NAME is too long; choose a shorter one");
        return EXIT_USAGE;
    }
    snprintf(path, sizeof path, "%s%s", arguments[0], named ? "" : ".yaml");
    if (!cli_may_write("new", path, &options[0]))
        return EXIT_UNWRITABLE;
    int file =
        open(path, O_WRONLY | O_CREAT | O_CLOEXEC | (options[0].value ? O_TRUNC : O_EXCL), 0666);
    if (file < 0) {
        cli_complain("new: %s: %s", path, strerror(errno));
        return EXIT_UNWRITABLE;
    }
    int code = write_scene(file, path);
    if (close(file) != 0 && code == EXIT_GOOD) {
        cli_complain("new: %s: %s", path, strerror(errno));
        code = EXIT_UNWRITABLE;
    }
    if (code != EXIT_GOOD)
        return code;
    printf("wrote %s\n\n  rigor view %s\n  rigor run %s --out run.h5\n", path, path, path);
    return cli_flush();
}
