/* `rigor strip`: a film strip, pictures of a run at chosen times in one SVG file. The viewer's page
 * draws them in a headless Chromium (cli_browser.c). A scene is run into a recording that has
 * frames at these times. */
#include "cli_export.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char cli_strip_help[] =
    "Usage: rigor strip SCENE|RECORDING [NAME=VALUE ...] --at LIST [OPTION ...]\n"
    "\n"
    "Pictures of a run at chosen times, side by side in one SVG file. A scene is run up to\n"
    "the last of them; NAME=VALUE sets its parameters.\n"
    "\n"
    "Options:\n"
    "      --at LIST        times, s, separated by commas: 0,0.5,1\n"
    "  -o, --out FILE       the strip (default: named after the scene or recording)\n"
    "      --columns N      pictures in a row (default: all, at most 4)\n"
    "      --size WxH       of a picture, in pixels (480x360)\n"
    "      --view V         from where: corner (default), x, -x, y, -y, z (above)\n"
    "      --hide LIST      leave out: contacts, edges, forces, grid, joints, shadows\n"
    "      --method NAME    step method instead of the scene's\n"
    "      --step S         seconds of a step instead of the scene's\n"
    "  -f, --overwrite      replace FILE if it exists\n"
    "  -h, --help           this text\n"
    "\n"
    "Exit codes: 0 done, 1 Chromium or the viewer's page is missing or fails, or the run\n"
    "cannot continue, 2 usage, 3 the scene or recording cannot be used, 4 FILE cannot be\n"
    "written.\n"
    "\n"
    "Examples:\n"
    "  rigor strip balance2 --at 0,2,3,5,6,12 --columns 3\n"
    "  rigor strip arch thickness=0.105 --at 0,0.5,0.8 --out arch.svg\n";

enum { AT, OUT, COLUMNS, SIZE, VIEW, HIDE, METHOD, STEP, OVERWRITE, HELP, OPTIONS };
enum {
    TIMES = 64,
    BETWEEN = 48, /* frames besides those of the pictures */
    CAPTION = 22, /* pixels under a picture */
    GAP = 8,      /* pixels between pictures */
    PATH_SIZE = 4096
};

typedef struct strip {
    const cli_option *options;
    const char *source;
    rg_scene_parameter parameters[64];
    char names[64][64];
    size_t parameter_count;
    double times[TIMES];
    size_t count, columns;
    double step; /* s; 0: the scene's */
    cli_film film;
    char out[PATH_SIZE];
} strip;

/* ---- the command line ---- */

static bool parse_times(strip *s, const char *text) {
    while (text) {
        char word[64];
        size_t length = strcspn(text, ",");
        snprintf(word, sizeof word, "%.*s", (int)(length < 63 ? length : 63), text);
        text = text[length] == ',' ? text + length + 1 : NULL;
        if (s->count == TIMES) {
            cli_complain("strip: --at: more than %d times", TIMES);
            return false;
        }
        double *time = &s->times[s->count];
        if (!cli_parse_number(word, time) || *time < 0 || (s->count > 0 && *time <= time[-1])) {
            cli_complain(
                "strip: --at: '%s': give times in seconds, 0 or more, in increasing order: 0,0.5,1",
                word);
            return false;
        }
        s->count++;
    }
    return true;
}

static bool parse_parameters(strip *s, int count, const char **arguments) {
    for (int i = 1; i < count; i++) {
        const char *equals = strchr(arguments[i], '=');
        size_t length = equals ? (size_t)(equals - arguments[i]) : 0;
        if (length == 0 || length >= sizeof s->names[0] || s->parameter_count == 64) {
            cli_complain("strip: '%s' is neither an option nor NAME=VALUE", arguments[i]);
            return false;
        }
        char *name = s->names[s->parameter_count];
        memcpy(name, arguments[i], length);
        name[length] = '\0';
        s->parameters[s->parameter_count++] = (rg_scene_parameter){name, equals + 1};
    }
    return true;
}

static bool parse(strip *s, int count, const char **arguments) {
    const cli_option *options = s->options;
    double columns;
    char rest;
    if (count == 0 || !options[AT].value) {
        cli_complain("strip: which SCENE or RECORDING, --at which times? see `rigor strip --help`");
        return false;
    }
    s->source = arguments[0];
    s->film = (cli_film){.rate = 1000,
                         .width = 480,
                         .height = 360,
                         .theme = "light",
                         .view = cli_film_view("strip", options[VIEW].value),
                         .hidden = cli_film_hidden("strip", options[HIDE].value)};
    if (!s->film.view || !s->film.hidden)
        return false;
    if (options[SIZE].value &&
        (sscanf(options[SIZE].value, "%5dx%5d%c", &s->film.width, &s->film.height, &rest) != 2 ||
         s->film.width < 16 || s->film.height < 16 || s->film.width > 4096 ||
         s->film.height > 4096)) {
        cli_complain("strip: --size: '%s' is not WIDTHxHEIGHT, each from 16 to 4096",
                     options[SIZE].value);
        return false;
    }
    if (!parse_times(s, options[AT].value) || !parse_parameters(s, count, arguments) ||
        !cli_positive_option("strip", &options[STEP], 0, &s->step) ||
        !cli_positive_option("strip", &options[COLUMNS], s->count < 4 ? (double)s->count : 4,
                             &columns))
        return false;
    s->columns = columns < (double)s->count ? (size_t)ceil(columns) : s->count;
    const char *slash = strrchr(s->source, '/'), *stem = slash ? slash + 1 : s->source;
    size_t length = strcspn(stem, ".");
    int size = options[OUT].value ? snprintf(s->out, PATH_SIZE, "%s", options[OUT].value)
                                  : snprintf(s->out, PATH_SIZE, "%.*s.svg", (int)length, stem);
    return size < PATH_SIZE;
}

/* ---- the run ---- */

static int finish(rg_status status, const rg_error *error) {
    if (status != RG_OK)
        cli_complain("%s", error->text);
    return cli_exit_code(status);
}

/* Steps up to each time in turn, with a frame there. The steps nearest to the times are taken, and
 * the times with them. Frames in between show the camera where things go: it follows what moves
 * little from one to the next, and leaves out what has flown off (view_scene.ts). */
static rg_status run_frames(strip *s, rg_scene *scene, rg_recorder *recorder, rg_error *error) {
    rg_world *world = rg_scene_world(scene);
    double step = rg_scene_step_size(scene);
    double between = fmax(1, round(s->times[s->count - 1] / step / BETWEEN));
    rg_status status = RG_OK;
    for (size_t i = 0; i < s->count && status == RG_OK; i++) {
        double steps = round(s->times[i] / step);
        while (status == RG_OK && (double)rg_world_step_count(world) < steps) {
            rg_step_info info;
            status = rg_world_step(world, step, &info, error);
            if (status == RG_OK)
                rg_recorder_step(recorder, &info);
            double made = (double)rg_world_step_count(world);
            if (status == RG_OK && made < steps && fmod(made, between) == 0)
                status = rg_recorder_frame(recorder, NULL, error);
        }
        if (status == RG_OK && steps > 0) /* the first frame is written by the recorder */
            status = rg_recorder_frame(recorder, NULL, error);
        s->times[i] = rg_world_time(world);
    }
    return status;
}

static int record(strip *s, const char *path) {
    rg_scene_options options = {.parameters = s->parameters,
                                .parameter_count = s->parameter_count,
                                .method = s->options[METHOD].value,
                                .step = s->step};
    rg_recorder_options recording = rg_recorder_options_default();
    rg_error error = {0};
    rg_scene *scene = NULL;
    rg_recorder *recorder = NULL;
    rg_status status = cli_create_scene(s->source, &options, "rigor: ", &scene, &error);
    if (status == RG_OK)
        status = rg_recorder_open(scene, path, &recording, &recorder, &error);
    if (status == RG_OK)
        status = run_frames(s, scene, recorder, &error);
    int code = finish(status, &error);
    if (recorder && (status = rg_recorder_close(recorder, true, &error)) != RG_OK &&
        code == EXIT_GOOD)
        code = finish(status, &error);
    rg_scene_destroy(scene);
    return code;
}

/* ---- the strip ---- */

static int draw(strip *s, cli_browser *browser, FILE *out) {
    size_t rows = (s->count + s->columns - 1) / s->columns;
    int width = s->film.width, height = s->film.height;
    int across = (int)s->columns * (width + GAP) - GAP;
    int down = (int)rows * (height + CAPTION + GAP) - GAP;
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
            "viewBox=\"0 0 %d %d\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n"
            "<g font-family=\"sans-serif\" font-size=\"14\" text-anchor=\"middle\">\n",
            across, down, across, down);
    for (size_t i = 0; i < s->count; i++) {
        char expression[160], exact[CLI_NUMBER_SIZE];
        size_t size;
        snprintf(expression, sizeof expression, "window.rigor.capture(%s, %d, %d)",
                 cli_exact(s->times[i], exact), width, height);
        const char *picture = cli_browser_evaluate(browser, expression, &size);
        if (!picture || strncmp(picture, "data:image/png;base64,", 22) != 0)
            return EXIT_FAILED;
        int x = (int)(i % s->columns) * (width + GAP);
        int y = (int)(i / s->columns) * (height + CAPTION + GAP);
        fprintf(out, "<image x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" href=\"", x, y, width,
                height);
        fwrite(picture, 1, size, out);
        fprintf(out, "\"/>\n<text x=\"%d\" y=\"%d\">t = %.4g s</text>\n", x + width / 2,
                y + height + CAPTION - 7, s->times[i]);
    }
    fputs("</g>\n</svg>\n", out);
    return EXIT_GOOD;
}

static int draw_recording(strip *s, cli_browser *browser, const char *path) {
    rg_recording *recording;
    rg_error error = {0};
    int code = finish(cli_open_recording(path, &recording, &error), &error);
    if (code != EXIT_GOOD)
        return code;
    FILE *out = NULL;
    code = cli_export_open_page(browser, recording, &s->film);
    if (code == EXIT_GOOD && !(out = fopen(s->out, "w")))
        code = EXIT_UNWRITABLE;
    if (code == EXIT_GOOD)
        code = draw(s, browser, out);
    bool written = !out || !ferror(out);
    if (out && (fclose(out) != 0 || !written) && code == EXIT_GOOD)
        code = EXIT_UNWRITABLE;
    if (code == EXIT_UNWRITABLE)
        cli_complain("strip: %s cannot be written", s->out);
    if (out && code != EXIT_GOOD)
        unlink(s->out);
    rg_recording_close(recording);
    return code;
}

int cli_strip(int count, const char **arguments) {
    cli_option options[OPTIONS] = {[AT] = {"at", 0, true, NULL},
                                   [OUT] = {"out", 'o', true, NULL},
                                   [COLUMNS] = {"columns", 0, true, NULL},
                                   [SIZE] = {"size", 0, true, NULL},
                                   [VIEW] = {"view", 0, true, NULL},
                                   [HIDE] = {"hide", 0, true, NULL},
                                   [METHOD] = {"method", 0, true, NULL},
                                   [STEP] = {"step", 0, true, NULL},
                                   [OVERWRITE] = {"overwrite", 'f', false, NULL},
                                   [HELP] = {"help", 'h', false, NULL}};
    static strip s;
    char chromium[CLI_PROGRAM_SIZE], path[PATH_SIZE];
    const char *page;
    size_t size;
    if (!cli_parse_options("strip", options, OPTIONS, arguments, &count))
        return EXIT_USAGE;
    if (options[HELP].value) {
        fputs(cli_strip_help, stdout);
        return cli_flush();
    }
    s.options = options;
    if (!parse(&s, count, arguments))
        return EXIT_USAGE;
    if (!cli_may_write("strip", s.out, &options[OVERWRITE]))
        return EXIT_UNWRITABLE;
    int code = cli_export_page(&page, &size);
    if (code == EXIT_GOOD && !cli_find_chromium(chromium))
        code = EXIT_FAILED;
    cli_browser *browser = code == EXIT_GOOD ? cli_browser_start(chromium) : NULL;
    if (code == EXIT_GOOD && !browser)
        code = EXIT_FAILED;
    if (code == EXIT_GOOD && cli_is_recording(s.source)) {
        code = draw_recording(&s, browser, s.source);
    } else if (code == EXIT_GOOD) {
        snprintf(path, sizeof path, "%s/strip.h5", cli_browser_directory(browser));
        code = record(&s, path);
        if (code == EXIT_GOOD)
            code = draw_recording(&s, browser, path);
    }
    cli_browser_stop(browser);
    if (cli_browser_signal())
        code = 128 + cli_browser_signal();
    return code;
}
