/* `rigor convert`: scenes and robot descriptions as scene files or robot descriptions. */
#include "cli.h"

#include "rigor/scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char cli_convert_help[] =
    "Usage: rigor convert IN OUT [NAME=VALUE ...] [OPTION ...]\n"
    "\n"
    "Reads a robot description (URDF, MJCF, SDF), a scene file or a built-in scene and writes\n"
    "it as a scene file with everything worked out: masses, frames, hulls as points; as URDF\n"
    "if OUT ends in .urdf, as SDF if in .sdf, as MJCF if in .xml or .mjcf. OUT - is standard\n"
    "output. Of a URDF, NAME=VALUE are base=free or base=fixed (what its root does; by itself,\n"
    "free if it, or what fixed joints hold to it, has a mass and it is not called world) and\n"
    "ground=Z (a floor at that height); of MJCF and SDF, ground=Z; of scenes, their parameters.\n"
    "\n"
    "What of a robot is not understood is refused, with line and column; so is what a robot\n"
    "description cannot hold of a scene, by name.\n"
    "\n"
    "Options:\n"
    "      --lenient      leave out what is not understood or cannot be held, and list it on\n"
    "                     standard error\n"
    "  -f, --overwrite    replace OUT if it exists\n"
    "  -h, --help         this text\n"
    "\n"
    "Exit codes: 0 done, 2 usage, 3 IN cannot be used, 4 OUT exists or cannot be written.\n"
    "\n"
    "Examples:\n"
    "  rigor convert robot.urdf robot.yaml base=fixed\n"
    "  rigor convert humanoid.xml - --lenient | head\n"
    "  rigor convert double-pendulum pendulum.xml\n";

void cli_print_left_out(const rg_scene *scene) {
    for (size_t i = 0; i < rg_scene_left_out_count(scene); i++)
        fprintf(stderr, "rigor: left out: %s\n", rg_scene_left_out_at(scene, i));
}

/* As the description that the ending says. */
static int write_robot(rg_scene *scene, const char *path, const rg_robot_options *options) {
    rg_error error = {0};
    char *text;
    size_t size, before = rg_scene_left_out_count(scene);
    rg_status status = rg_scene_write_robot(scene, options, NULL, &text, &size, &error);
    if (status != RG_OK) {
        cli_complain("%s", error.text);
        return status == RG_UNSUPPORTED ? EXIT_BAD_INPUT : cli_exit_code(status);
    }
    for (size_t i = before; i < rg_scene_left_out_count(scene); i++)
        fprintf(stderr, "rigor: left out: %s\n", rg_scene_left_out_at(scene, i));
    FILE *file = fopen(path, "wb");
    bool good = file && fwrite(text, 1, size, file) == size;
    good = file && fclose(file) == 0 && good;
    free(text);
    if (!good)
        cli_complain("%s: cannot be written", path);
    return good ? EXIT_GOOD : EXIT_UNWRITABLE;
}

static int write_out(const rg_scene *scene, const char *path) {
    rg_error error = {0};
    if (strcmp(path, "-") != 0) {
        rg_status status = rg_scene_write_file(scene, path, &error);
        if (status == RG_OK)
            return EXIT_GOOD;
        cli_complain("%s", error.text);
        return cli_exit_code(status);
    }
    char *text;
    size_t size;
    rg_status status = rg_scene_write_text(scene, NULL, &text, &size, &error);
    if (status != RG_OK) {
        cli_complain("%s", error.text);
        return cli_exit_code(status);
    }
    fwrite(text, 1, size, stdout);
    free(text);
    return cli_flush();
}

/* NAME=VALUE from the third argument on; names are cut off in copies. */
static bool read_parameters(int count, const char **arguments, rg_scene_parameter *parameters,
                            size_t *found) {
    for (int i = 2; i < count; i++) {
        const char *equals = strchr(arguments[i], '=');
        if (!equals || equals == arguments[i]) {
            cli_complain("convert: '%s' is not NAME=VALUE, such as ground=0", arguments[i]);
            return false;
        }
        size_t length = (size_t)(equals - arguments[i]);
        char *name = malloc(length + 1);
        if (!name) {
            cli_complain("convert: out of memory");
            return false;
        }
        memcpy(name, arguments[i], length);
        name[length] = 0;
        parameters[(*found)++] = (rg_scene_parameter){name, equals + 1};
    }
    return true;
}

static int convert(const char *in, const char *out, const rg_scene_options *options) {
    rg_scene *scene;
    rg_error error = {0};
    rg_status status = cli_create_scene(in, options, "rigor: ", &scene, &error);
    if (status != RG_OK) {
        cli_complain("%s", error.text);
        return cli_exit_code(status);
    }
    cli_print_left_out(scene);
    static const struct {
        const char *ending;
        rg_robot_format format;
    } endings[] = {{".urdf", RG_ROBOT_URDF},
                   {".sdf", RG_ROBOT_SDF},
                   {".xml", RG_ROBOT_MJCF},
                   {".mjcf", RG_ROBOT_MJCF}};
    size_t i = 0, count = sizeof endings / sizeof *endings;
    while (i < count && !cli_ends_with(out, endings[i].ending))
        i++;
    rg_robot_options robot = {endings[i < count ? i : 0].format, options->lenient};
    int code = i < count ? write_robot(scene, out, &robot) : write_out(scene, out);
    rg_scene_destroy(scene);
    return code;
}

int cli_convert(int count, const char **arguments) {
    cli_option options[] = {
        {"lenient", 0, false, NULL}, {"overwrite", 'f', false, NULL}, {"help", 'h', false, NULL}};
    if (!cli_parse_options("convert", options, 3, arguments, &count))
        return EXIT_USAGE;
    if (options[2].value) {
        fputs(cli_convert_help, stdout);
        return cli_flush();
    }
    if (count < 2) {
        cli_complain("convert: needs IN and OUT; see `rigor convert --help`");
        return EXIT_USAGE;
    }
    if (!cli_may_write("convert", arguments[1], &options[1]))
        return EXIT_UNWRITABLE;
    size_t found = 0;
    rg_scene_parameter *parameters = calloc((size_t)count, sizeof *parameters);
    int code = EXIT_USAGE;
    if (parameters && read_parameters(count, arguments, parameters, &found))
        code = convert(arguments[0], arguments[1],
                       &(rg_scene_options){.parameters = parameters,
                                           .parameter_count = found,
                                           .lenient = options[0].value != NULL});
    for (size_t i = 0; i < found; i++)
        free((char *)parameters[i].name);
    free(parameters);
    return code;
}
