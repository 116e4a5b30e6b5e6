/* What the parts of `rigor export` share: cli_export.c (command line, tables, pages, glTF),
 * cli_export_live.c (pages that run a scene), cli_export_film.c (pictures and films) and
 * cli_browser.c (the browser that draws them). */
#ifndef RIGOR_CLI_EXPORT_H
#define RIGOR_CLI_EXPORT_H

#include "cli.h"

#include <stddef.h>

/* What a picture or a film is to be like. */
typedef struct cli_film {
    const char *directory; /* of numbered pictures; null: none */
    const char *film;      /* a file; null: none */
    bool overwrite;        /* pictures that are in the directory */
    double rate;           /* frames a second */
    int width, height;     /* pixels */
    double from, to;       /* s of simulated time; NaN: the run's */
    const char *theme;     /* "light", "dark" */
    const char *view;      /* from where: as cli_film_view returns it */
    const char *hidden;    /* what is left out: as cli_film_hidden returns it */
} cli_film;

/* Whether a file is the recording or its journal, by whatever name: no export takes their place. */
bool cli_export_is_recording(const char *path, const char *recording);
/* The words of --view and --hide. Null, with a complaint of the command: not one of them. */
#define CLI_FILM_VIEWS  "corner, x, -x, y, -y, z (above)"
#define CLI_FILM_HIDDEN "contacts, edges, forces, grid, joints, shadows"
const char *cli_film_view(const char *command, const char *text);
const char *cli_film_hidden(const char *command, const char *list);

/* Complains and returns an exit code of its own if the page was not built. */
int cli_export_page(const char **page, size_t *size);
/* A page that runs the scene arguments[0] with the parameters after it. An exit code. */
int cli_export_live(const char **arguments, int count, const char *file);
/* Draws one recording. EXIT_GOOD, or complains. */
int cli_export_film(rg_recording *recording, const char *recording_path, const cli_film *film);

/* ---- cli_browser.c ---- */

typedef struct cli_browser cli_browser;

/* A headless Chromium, driven through a pair of pipes, in a directory of its own that goes with it.
 * Null with a complaint if it does not start. */
cli_browser *cli_browser_start(const char *program);
void cli_browser_stop(cli_browser *browser); /* null is allowed */
/* The temporary directory: files for it. */
const char *cli_browser_directory(const cli_browser *browser);
/* Opens a file in a window of that size; false with a complaint. */
bool cli_browser_open(cli_browser *browser, const char *path, int width, int height,
                      bool prefers_dark);
/* What an expression (awaited if it is a promise) comes to, if that is a text; until the next call.
 * Null with a complaint: an exception, no answer in time, stopped by a signal. */
const char *cli_browser_evaluate(cli_browser *browser, const char *expression, size_t *size);
/* The viewer's page with a recording, in the browser's directory, opened and ready: exit codes. Of
 * the film its rate, size, theme, view and hidden things matter. */
int cli_export_open_page(cli_browser *browser, rg_recording *recording, const cli_film *film);
/* The signal that was caught since the browser was started; 0: none. */
int cli_browser_signal(void);

enum { CLI_PROGRAM_SIZE = 1024 };
/* The files of Chromium and ffmpeg: from the environment variable, or the first that is on the
 * PATH. False with a complaint: there is none. */
bool cli_find_chromium(char path[CLI_PROGRAM_SIZE]);
bool cli_find_ffmpeg(char path[CLI_PROGRAM_SIZE]);

#endif
