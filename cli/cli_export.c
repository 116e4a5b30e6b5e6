/* `rigor export`: recordings in other formats. */
#include "cli.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

const char cli_export_help[] =
    "Usage: rigor export RECORDING --csv FILE\n"
    "\n"
    "Writes a recording, finished or not, in another format. FILE - is standard output.\n"
    "\n"
    "Options:\n"
    "      --csv FILE   one line for every frame and body: time, step, body, position,\n"
    "                   orientation (quaternion x y z w), velocity, angular velocity\n"
    "  -h, --help       this text\n"
    "\n"
    "Exit codes: 0 done, 2 usage, 3 the recording cannot be used, 4 FILE cannot be\n"
    "written.\n"
    "\n"
    "Examples:\n"
    "  rigor export racket.h5 --csv racket.csv\n"
    "  rigor export racket.h5 --csv - | head\n";

/* Formats that later versions will have. */
static const char *const later_formats[] = {"html", "gltf", "obj", "json", "usd", "vtk", "blender"};

static int export_csv(const char *recording_path, const char *csv_path) {
    rg_recording *recording;
    rg_error error = {0};
    rg_status status = rg_recording_open(recording_path, &recording, &error);
    if (status != RG_OK) {
        cli_complain("%s", error.text);
        return cli_exit_code(status);
    }
    status = rg_recording_export_csv(recording, csv_path, &error);
    rg_recording_info info = rg_recording_get_info(recording);
    if (status != RG_OK)
        cli_complain("%s", error.text);
    else if (!info.finished)
        fprintf(stderr, "rigor: note: %s is not finished: %zu frames up to now\n", recording_path,
                info.frame_count);
    rg_recording_close(recording);
    return cli_exit_code(status);
}

int cli_export(int count, const char **arguments) {
    cli_option options[] = {{"csv", 0, true, NULL}, {"help", 'h', false, NULL}};
    for (int i = 0; i < count; i++)
        for (size_t j = 0; j < sizeof later_formats / sizeof later_formats[0]; j++)
            if (strncmp(arguments[i], "--", 2) == 0 &&
                strcspn(arguments[i] + 2, "=") == strlen(later_formats[j]) &&
                strncmp(arguments[i] + 2, later_formats[j], strlen(later_formats[j])) == 0) {
                cli_complain("export: --%s is not in this version; --csv is", later_formats[j]);
                return EXIT_USAGE;
            }
    if (!cli_parse_options("export", options, 2, arguments, &count))
        return EXIT_USAGE;
    if (options[1].value) {
        fputs(cli_export_help, stdout);
        return cli_flush();
    }
    if (count != 1 || !options[0].value) {
        cli_complain(count == 1   ? "export: which format? --csv FILE"
                     : count == 0 ? "export: which RECORDING? see `rigor export --help`"
                                  : "export: one RECORDING at a time");
        return EXIT_USAGE;
    }
    signal(SIGXFSZ, SIG_IGN); /* a limit on sizes makes a write fail, it does not kill */
    return export_csv(arguments[0], options[0].value);
}
