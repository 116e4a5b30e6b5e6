/* `rigor export`: recordings in other formats. */
#include "cli_export.h"

#include "page.h"
#include "rigor/view.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char cli_export_help[] =
    "Usage: rigor export RECORDING [--html FILE] [--gltf FILE] [--mp4 FILE] [--png DIR]\n"
    "                    [--usda FILE] [--csv FILE] [--contacts-csv FILE] [--events-csv FILE]\n"
    "                    [--impulses-csv FILE] [--joints-csv FILE] [--loads-csv FILE]\n"
    "                    [--certificate-csv FILE]\n"
    "       rigor export RECORDING RECORDING ... --html FILE\n"
    "       rigor export SCENE [NAME=VALUE ...] --html FILE --live\n"
    "\n"
    "Writes a recording, finished or not, in another format: one of these, or several at\n"
    "once. FILE - is standard output (not for --mp4).\n"
    "\n"
    "Formats:\n"
    "      --html FILE  the viewer with the recording inside: one page that opens from disk,\n"
    "                   without a network; several recordings to compare them\n"
    "      --live       with --html and a scene instead of a recording: the page has an\n"
    "                   editor for it and runs it by itself, in WebAssembly\n"
    "      --gltf FILE  binary glTF 2.0 (name it .glb): shapes and motion for Blender and\n"
    "                   other programs\n"
    "      --usda FILE  the same as USD text, for Omniverse and others\n"
    "      --mp4 FILE   a film, drawn by Chromium and encoded by ffmpeg\n"
    "      --png DIR    its pictures, frame-00001.png and so on\n"
    "      --csv FILE   one line for every frame and body: time, step, body, position,\n"
    "                   orientation (quaternion x y z w), velocity, angular velocity\n"
    "      --contacts-csv FILE\n"
    "                   one line for every frame and contact: time, step, bodies A and B,\n"
    "                   position, normal (from B to A), force on A, gap, friction, speed of\n"
    "                   slip, mode (separating, stick, slip, roll, sensor)\n"
    "      --events-csv FILE\n"
    "                   one line for every event of the run: time, step, kind,\n"
    "                   bodies A and B, number of contacts, value, coefficients, text\n"
    "      --impulses-csv FILE\n"
    "                   one line for every impact, round and contact: time, step, impact,\n"
    "                   round, bodies, position, normal (from B to A), impulse on A, velocity\n"
    "                   of A relative to B before and after, coefficients\n"
    "      --joints-csv FILE\n"
    "                   one line for every frame and joint: time, step, number, kind, bodies,\n"
    "                   broken; coordinates, velocities, forces and motor forces of its axes;\n"
    "                   point, force and torque on B; how far it is from being closed\n"
    "      --loads-csv FILE\n"
    "                   one line for every frame, force (besides gravity, contact and\n"
    "                   joints) and body: time, step, number, kind, body, point, force, torque\n"
    "      --certificate-csv FILE\n"
    "                   one line for every frame: time, step, the worst certificate, energy\n"
    "                   ledger and counts of the steps since the frame before, under the\n"
    "                   names of `rigor run --json`; empty where nothing was measured\n"
    "\n"
    "Options:\n"
    "      --fps N      pictures a second (30); in pages and glTF at most so many frames a\n"
    "                   second of what was recorded (pages 30, glTF all)\n"
    "      --size WxH   of pictures and films, in pixels (1280x720)\n"
    "      --from T     where pictures and films begin and end, s of simulated time (the\n"
    "      --to T       whole run)\n"
    "      --theme T    of them: light (default), dark\n"
    "      --view V     from where they are seen: corner (default), x, -x, y, -y,\n"
    "                   z (above)\n"
    "      --hide LIST  leave out of them: contacts, edges, forces, grid, joints, shadows\n"
    "  -f, --overwrite  replace files that exist, and pictures in DIR\n"
    "  -h, --help       this text\n"
    "\n"
    "Chromium and ffmpeg are looked for on the PATH, or named by the environment variables\n"
    "RIGOR_CHROMIUM and RIGOR_FFMPEG.\n"
    "\n"
    "Exit codes: 0 done, 1 Chromium, ffmpeg or the viewer's page is missing or fails, 2\n"
    "usage, 3 the recording cannot be used, 4 FILE cannot be written.\n"
    "\n"
    "Examples:\n"
    "  rigor export dominoes.h5 --html dominoes.html\n"
    "  rigor export lcp.h5 cone.h5 --html compare.html\n"
    "  rigor export pyramid base=8 --html play.html --live\n"
    "  rigor export dominoes.h5 --mp4 dominoes.mp4 --size 1920x1080 --from 0.5 --to 4\n"
    "  rigor export dominoes.h5 --contacts-csv forces.csv --certificate-csv steps.csv\n";

/* Formats that later versions will have. */
static const char *const later_formats[] = {"obj", "json", "vtk", "blender"};

enum {
    OPTION_CSV,
    OPTION_CONTACTS,
    OPTION_EVENTS,
    OPTION_IMPULSES,
    OPTION_JOINTS,
    OPTION_LOADS,
    OPTION_CERTIFICATE,
    TABLE_COUNT,
    OPTION_HTML = TABLE_COUNT,
    OPTION_GLTF,
    OPTION_USDA,
    OPTION_MP4,
    OPTION_PNG,
    FORMAT_COUNT,
    OPTION_RATE = FORMAT_COUNT,
    OPTION_SIZE,
    OPTION_FROM,
    OPTION_TO,
    OPTION_THEME,
    OPTION_VIEW,
    OPTION_HIDE,
    OPTION_LIVE,
    OPTION_OVERWRITE,
    OPTION_HELP,
    OPTION_COUNT
};

int cli_export_page(const char **page, size_t *size) {
    *page = rg_view_page(size);
    if (*page)
        return EXIT_GOOD;
    cli_complain("export: this command was built without the viewer's page; build it with "
                 "tools/page (needs Node 18 and npm), then build the command again");
    return EXIT_FAILED;
}

/* ---- the formats ---- */

static int finish(rg_status status, const rg_error *error) {
    if (status != RG_OK)
        cli_complain("%s", error->text);
    return cli_exit_code(status);
}

static int export_tables(rg_recording *recording, const cli_option *options) {
    static rg_status (*const export_table[TABLE_COUNT])(
        rg_recording *, const char *, rg_error *) = {rg_recording_export_csv,
                                                     rg_recording_export_contacts_csv,
                                                     rg_recording_export_events_csv,
                                                     rg_recording_export_impulses_csv,
                                                     rg_recording_export_joints_csv,
                                                     rg_recording_export_loads_csv,
                                                     rg_recording_export_certificate_csv};
    rg_error error = {0};
    rg_status status = RG_OK;
    for (int i = 0; i < TABLE_COUNT && status == RG_OK; i++)
        if (options[i].value)
            status = export_table[i](recording, options[i].value, &error);
    return finish(status, &error);
}

/* What a recording is called beside others: its file, without directory and ending. */
static void name_run(const char *path, char name[64]) {
    const char *slash = strrchr(path, '/'), *start = slash ? slash + 1 : path;
    const char *dot = strrchr(start, '.');
    int length = dot && dot > start ? (int)(dot - start) : (int)strlen(start);
    snprintf(name, 64, "%.*s", length < 60 ? length : 60, start);
}

static int export_html(rg_recording *const *recordings, const char **paths, int count,
                       const char *file, double rate) {
    rg_html_options options = {.frames_per_second = rate};
    int code = cli_export_page(&options.page, &options.page_size);
    if (code != EXIT_GOOD)
        return code;
    char(*texts)[64] = calloc((size_t)count, sizeof *texts);
    const char **names = calloc((size_t)count, sizeof *names);
    rg_error error = {.text = "no memory"};
    rg_status status = RG_OUT_OF_MEMORY;
    for (int i = 0; texts && names && count > 1 && i < count; i++) {
        name_run(paths[i], texts[i]);
        names[i] = texts[i];
    }
    if (texts && names)
        status = rg_view_export_html(recordings, names, (size_t)count, &options, file, &error);
    free(names);
    free(texts);
    return finish(status, &error);
}

static int export_one(rg_recording *recording, const char *path, const cli_option *options,
                      double rate, const cli_film *film) {
    rg_error error = {0};
    rg_gltf_options gltf = {.frames_per_second = rate};
    int code = export_tables(recording, options);
    if (code == EXIT_GOOD && options[OPTION_GLTF].value)
        code = finish(rg_view_export_gltf(recording, &gltf, options[OPTION_GLTF].value, &error),
                      &error);
    if (code == EXIT_GOOD && options[OPTION_USDA].value)
        code = finish(rg_view_export_usda(recording, &gltf, options[OPTION_USDA].value, &error),
                      &error);
    if (code == EXIT_GOOD && (film->film || film->directory))
        code = cli_export_film(recording, path, film);
    return code;
}

static int export_all(const char **paths, int count, const cli_option *options, double rate,
                      const cli_film *film) {
    rg_recording **recordings = calloc((size_t)count, sizeof(rg_recording *));
    rg_error error = {.text = "no memory"};
    rg_status status = recordings ? RG_OK : RG_OUT_OF_MEMORY;
    for (int i = 0; i < count && status == RG_OK; i++)
        status = cli_open_recording(paths[i], &recordings[i], &error);
    int code = finish(status, &error);
    if (code == EXIT_GOOD && options[OPTION_HTML].value)
        code = export_html(recordings, paths, count, options[OPTION_HTML].value, rate);
    if (code == EXIT_GOOD)
        code = export_one(recordings[0], paths[0], options, rate, film);
    for (int i = 0; recordings && i < count; i++) {
        if (!recordings[i])
            continue;
        rg_recording_info info = rg_recording_get_info(recordings[i]);
        if (code == EXIT_GOOD && !info.finished)
            fprintf(stderr, "rigor: note: %s is not finished: %zu frames up to now\n", paths[i],
                    info.frame_count);
        rg_recording_close(recordings[i]);
    }
    free(recordings);
    return code;
}

/* ---- the command line ---- */

/* Two outputs into one file: the second would replace the first. */
static const char *find_twice(const cli_option *options) {
    for (int i = 0; i < FORMAT_COUNT; i++)
        for (int j = 0; j < i; j++)
            if (options[i].value && options[j].value &&
                strcmp(options[i].value, options[j].value) == 0)
                return options[i].value;
    return NULL;
}

static bool parse_time(const cli_option *option, double *time) {
    *time = NAN;
    if (!option->value || cli_parse_number(option->value, time))
        return true;
    cli_complain("export: --%s: '%s' is not a number of seconds", option->name, option->value);
    return false;
}

static bool parse_film(const cli_option *options, double rate, cli_film *film) {
    enum { MOST_PIXELS = 8192 };
    const char *size = options[OPTION_SIZE].value, *theme = options[OPTION_THEME].value;
    char rest;
    *film = (cli_film){.directory = options[OPTION_PNG].value,
                       .film = options[OPTION_MP4].value,
                       .overwrite = options[OPTION_OVERWRITE].value != NULL,
                       .rate = rate > 0 ? rate : 30,
                       .width = 1280,
                       .height = 720,
                       .theme = theme ? theme : "light",
                       .view = cli_film_view("export", options[OPTION_VIEW].value),
                       .hidden = cli_film_hidden("export", options[OPTION_HIDE].value)};
    if (!film->view || !film->hidden)
        return false;
    if (size &&
        (sscanf(size, "%5dx%5d%c", &film->width, &film->height, &rest) != 2 || film->width < 16 ||
         film->height < 16 || film->width > MOST_PIXELS || film->height > MOST_PIXELS)) {
        cli_complain("export: --size: '%s' is not WIDTHxHEIGHT, each from 16 to %d", size,
                     MOST_PIXELS);
        return false;
    }
    if (strcmp(film->theme, "light") != 0 && strcmp(film->theme, "dark") != 0) {
        cli_complain("export: --theme: '%s' is neither light nor dark", theme);
        return false;
    }
    if (film->film && strcmp(film->film, "-") == 0) {
        cli_complain("export: --mp4 needs a file; films cannot go to standard output");
        return false;
    }
    return parse_time(&options[OPTION_FROM], &film->from) &&
           parse_time(&options[OPTION_TO], &film->to);
}

static bool is_later(const char *argument) {
    for (size_t i = 0; i < sizeof later_formats / sizeof later_formats[0]; i++)
        if (strncmp(argument, "--", 2) == 0 &&
            strcspn(argument + 2, "=") == strlen(later_formats[i]) &&
            strncmp(argument + 2, later_formats[i], strlen(later_formats[i])) == 0) {
            cli_complain("export: --%s is not in this version; --gltf, --html and --csv are",
                         later_formats[i]);
            return true;
        }
    return false;
}

/* What is asked for makes sense together. */
static bool check(const cli_option *options, int count) {
    bool any = false, only_html = true;
    for (int i = 0; i < FORMAT_COUNT; i++) {
        any = any || options[i].value;
        only_html = only_html && (i == OPTION_HTML || !options[i].value);
    }
    const char *twice = find_twice(options);
    bool live = options[OPTION_LIVE].value != NULL;
    if (count == 0)
        cli_complain("export: which %s? see `rigor export --help`", live ? "SCENE" : "RECORDING");
    else if (live && !(any && only_html))
        cli_complain("export: --live makes a page: --html FILE, and no other format");
    else if (live)
        return true;
    else if (!any)
        cli_complain("export: which format? --html FILE, --gltf FILE, --mp4 FILE, --csv FILE ...");
    else if (count > 1 && !only_html)
        cli_complain("export: one RECORDING at a time; only --html takes several");
    else if (twice)
        cli_complain("export: two exports into one file, %s; give each a FILE of its own", twice);
    else
        return true;
    return false;
}

/* That a recording is never replaced, not even with -f, is said where it is opened. */
static bool may_write_all(const cli_option *options, const char **sources, int count) {
    for (int i = 0; i < FORMAT_COUNT; i++) {
        bool is_source = false;
        for (int k = 0; k < count && options[i].value; k++)
            is_source |= cli_export_is_recording(options[i].value, sources[k]);
        if (!is_source && !cli_may_write("export", options[i].value, &options[OPTION_OVERWRITE]))
            return false;
    }
    return true;
}

int cli_export(int count, const char **arguments) {
    cli_option options[OPTION_COUNT] = {[OPTION_CSV] = {"csv", 0, true, NULL},
                                        [OPTION_CONTACTS] = {"contacts-csv", 0, true, NULL},
                                        [OPTION_EVENTS] = {"events-csv", 0, true, NULL},
                                        [OPTION_IMPULSES] = {"impulses-csv", 0, true, NULL},
                                        [OPTION_JOINTS] = {"joints-csv", 0, true, NULL},
                                        [OPTION_LOADS] = {"loads-csv", 0, true, NULL},
                                        [OPTION_CERTIFICATE] = {"certificate-csv", 0, true, NULL},
                                        [OPTION_HTML] = {"html", 0, true, NULL},
                                        [OPTION_GLTF] = {"gltf", 0, true, NULL},
                                        [OPTION_USDA] = {"usda", 0, true, NULL},
                                        [OPTION_MP4] = {"mp4", 0, true, NULL},
                                        [OPTION_PNG] = {"png", 0, true, NULL},
                                        [OPTION_RATE] = {"fps", 0, true, NULL},
                                        [OPTION_SIZE] = {"size", 0, true, NULL},
                                        [OPTION_FROM] = {"from", 0, true, NULL},
                                        [OPTION_TO] = {"to", 0, true, NULL},
                                        [OPTION_THEME] = {"theme", 0, true, NULL},
                                        [OPTION_VIEW] = {"view", 0, true, NULL},
                                        [OPTION_HIDE] = {"hide", 0, true, NULL},
                                        [OPTION_LIVE] = {"live", 0, false, NULL},
                                        [OPTION_OVERWRITE] = {"overwrite", 'f', false, NULL},
                                        [OPTION_HELP] = {"help", 'h', false, NULL}};
    double rate;
    cli_film film;
    for (int i = 0; i < count; i++)
        if (is_later(arguments[i]))
            return EXIT_USAGE;
    if (!cli_parse_options("export", options, OPTION_COUNT, arguments, &count))
        return EXIT_USAGE;
    if (options[OPTION_HELP].value) {
        fputs(cli_export_help, stdout);
        return cli_flush();
    }
    if (!check(options, count) || !cli_positive_option("export", &options[OPTION_RATE], 0, &rate) ||
        !parse_film(options, rate, &film))
        return EXIT_USAGE;
    if (!may_write_all(options, arguments, count))
        return EXIT_UNWRITABLE;
    if (options[OPTION_LIVE].value)
        return cli_export_live(arguments, count, options[OPTION_HTML].value);
    signal(SIGXFSZ, SIG_IGN); /* a limit on sizes makes a write fail, it does not kill */
    return export_all(arguments, count, options, rate, &film);
}
