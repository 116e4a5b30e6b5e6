/* `rigor export`: recordings in other formats. */
#include "cli.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

const char cli_export_help[] =
    "Usage: rigor export RECORDING [--csv FILE] [--contacts-csv FILE]\n"
    "                    [--certificate-csv FILE]\n"
    "\n"
    "Writes a recording, finished or not, in another format: one of these, or several at\n"
    "once. FILE - is standard output.\n"
    "\n"
    "Options:\n"
    "      --csv FILE   one line for every frame and body: time, step, body, position,\n"
    "                   orientation (quaternion x y z w), velocity, angular velocity\n"
    "      --contacts-csv FILE\n"
    "                   one line for every frame and contact: time, step, bodies A and B,\n"
    "                   position, normal (from B to A), force on A, gap, friction, speed of\n"
    "                   slip, mode (separating, stick, slip, roll)\n"
    "      --certificate-csv FILE\n"
    "                   one line for every frame: time, step, the worst certificate, energy\n"
    "                   ledger and counts of the steps since the frame before, under the\n"
    "                   names of `rigor run --json`; empty where nothing was measured\n"
    "  -h, --help       this text\n"
    "\n"
    "Exit codes: 0 done, 2 usage, 3 the recording cannot be used, 4 FILE cannot be\n"
    "written.\n"
    "\n"
    "Examples:\n"
    "  rigor export racket.h5 --csv racket.csv\n"
    "  rigor export racket.h5 --csv - | head\n"
    "  rigor export dominoes.h5 --contacts-csv forces.csv --certificate-csv steps.csv\n";

/* Formats that later versions will have. */
static const char *const later_formats[] = {"html", "gltf", "obj", "json", "usd", "vtk", "blender"};

enum { OPTION_CSV, OPTION_CONTACTS, OPTION_CERTIFICATE, TABLE_COUNT, OPTION_HELP = TABLE_COUNT };

static int export_csv(const char *recording_path, const cli_option *options) {
    static rg_status (*const export_table[TABLE_COUNT])(
        rg_recording *, const char *, rg_error *) = {rg_recording_export_csv,
                                                     rg_recording_export_contacts_csv,
                                                     rg_recording_export_certificate_csv};
    rg_recording *recording;
    rg_error error = {0};
    rg_status status = rg_recording_open(recording_path, &recording, &error);
    if (status != RG_OK) {
        cli_complain("%s", error.text);
        return cli_exit_code(status);
    }
    for (int i = 0; i < TABLE_COUNT && status == RG_OK; i++)
        if (options[i].value)
            status = export_table[i](recording, options[i].value, &error);
    rg_recording_info info = rg_recording_get_info(recording);
    if (status != RG_OK)
        cli_complain("%s", error.text);
    else if (!info.finished)
        fprintf(stderr, "rigor: note: %s is not finished: %zu frames up to now\n", recording_path,
                info.frame_count);
    rg_recording_close(recording);
    return cli_exit_code(status);
}

/* Two tables into one file: the second would replace the first. */
static const char *find_twice(const cli_option *options) {
    for (int i = 0; i < TABLE_COUNT; i++)
        for (int j = 0; j < i; j++)
            if (options[i].value && options[j].value &&
                strcmp(options[i].value, options[j].value) == 0)
                return options[i].value;
    return NULL;
}

int cli_export(int count, const char **arguments) {
    cli_option options[] = {{"csv", 0, true, NULL},
                            {"contacts-csv", 0, true, NULL},
                            {"certificate-csv", 0, true, NULL},
                            {"help", 'h', false, NULL}};
    for (int i = 0; i < count; i++)
        for (size_t j = 0; j < sizeof later_formats / sizeof later_formats[0]; j++)
            if (strncmp(arguments[i], "--", 2) == 0 &&
                strcspn(arguments[i] + 2, "=") == strlen(later_formats[j]) &&
                strncmp(arguments[i] + 2, later_formats[j], strlen(later_formats[j])) == 0) {
                cli_complain("export: --%s is not in this version; --csv is", later_formats[j]);
                return EXIT_USAGE;
            }
    if (!cli_parse_options("export", options, sizeof options / sizeof options[0], arguments,
                           &count))
        return EXIT_USAGE;
    if (options[OPTION_HELP].value) {
        fputs(cli_export_help, stdout);
        return cli_flush();
    }
    if (count != 1 || !(options[OPTION_CSV].value || options[OPTION_CONTACTS].value ||
                        options[OPTION_CERTIFICATE].value)) {
        cli_complain(count == 1   ? "export: which format? --csv FILE"
                     : count == 0 ? "export: which RECORDING? see `rigor export --help`"
                                  : "export: one RECORDING at a time");
        return EXIT_USAGE;
    }
    const char *twice = find_twice(options);
    if (twice) {
        cli_complain("export: two tables into one file: %s", twice);
        return EXIT_USAGE;
    }
    signal(SIGXFSZ, SIG_IGN); /* a limit on sizes makes a write fail, it does not kill */
    return export_csv(arguments[0], options);
}
